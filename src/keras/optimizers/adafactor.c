/* Adafactor: Adam's second moments as means over rows and columns. */
#include "keras/optimizers/step.h"

enum { ROWS, COLUMNS, SQUARES };

/* A mean over the last or the last but one dimension beside a matrix; beside others an integer that nothing uses, as in Keras. */
static tw_status add_mean(tw_optimizer *optimizer, int kind, int64_t index, tw_trackable *list)
{
    TW_TEMPS(t);
    const tw__resource *resource = optimizer->trained[index]->resource;
    tw_shape shape = resource->shape;
    bool factored = shape.rank >= 2;
    if (factored && kind == COLUMNS)
        shape.dims[shape.rank - 2] = shape.dims[shape.rank - 1];
    shape.rank = factored ? shape.rank - 1 : 0;
    tw_tensor *value = tw__temp(t, tw_tensor_new(factored ? resource->dtype : TW_INT32, shape, NULL));
    char *name =
        tw__temp_memory(t, tw__format("%s%s/%s", tw__variable_scope(), factored && kind == COLUMNS ? "c" : "r", resource->name));
    tw_variable *made = value && name ? tw__temp(t, tw__variable_new(value, name, !factored, NULL)) : NULL;
    TW_NEED(made);
    optimizer->slots[kind][index] = made;
    if (factored)
        TW_TRY(tw__container_append(optimizer->all, made));
    return tw__container_append(list, made);
}

static tw_status adafactor_build(tw_optimizer *optimizer)
{
    static const char *const names[] = { "_r", "_c", "_v" };
    TW_TEMPS(t);
    tw_trackable *lists[3];
    for (int k = 0; k < 3; k++) {
        lists[k] = tw__temp(t, tw__container_new());
        optimizer->slots[k] = tw__alloc_array((size_t)optimizer->trained_count + 1, sizeof(tw_variable *));
        if (!lists[k] || !optimizer->slots[k])
            return tw__error_status();
        TW_TRY(tw__track(&optimizer->trackable, names[k], lists[k]));
    }
    for (int64_t i = 0; i < optimizer->trained_count; i++) {
        TW_TRY(add_mean(optimizer, ROWS, i, lists[ROWS]));
        TW_TRY(add_mean(optimizer, COLUMNS, i, lists[COLUMNS]));
        TW_TRY(tw__optimizer_add_slot(optimizer, &(tw__slot_kind){ "_v", "v", 0 }, i, lists[SQUARES],
                                      &optimizer->slots[SQUARES][i]));
    }
    return TW_OK;
}

static tw_tensor *mean_over(tw__temps *t, tw_tensor *x, int axis, bool keep)
{
    return TW_TEMP(Mean, x, axis, TW_A_BOOL("keep_dims", keep));
}

static tw_tensor *root_mean_square(tw__temps *t, tw_tensor *x)
{
    tw_tensor *square = TW_TEMP(Square, x);
    return square ? TW_TEMP(Sqrt, tw__temp(t, tw_reduce_mean(square))) : NULL;
}

/* a x + (1 - a) y, left to t */
static tw_tensor *mixed(tw__temps *t, tw_tensor *a, tw_tensor *x, tw_tensor *y)
{
    return TW_TEMP(AddV2, TW_TEMP(Mul, a, x), TW_TEMP(Mul, TW_TEMP(Sub, 1.0, a), y));
}

static tw_status set(tw_variable *variable, tw_tensor *value)
{
    TW_NEED(value);
    return tw__traced_assign(&tw__op_AssignVariableOp, variable, value);
}

/* The mean of squares: of a matrix the product of its rows' and columns'. */
static tw_status update_squares(tw__temps *t, tw_variable *const slots[3], tw_tensor *beta, tw_tensor *square)
{
    tw_variable *r = slots[ROWS], *c = slots[COLUMNS], *v = slots[SQUARES];
    if (square->shape.rank < 2)
        return set(v, mixed(t, beta, V(v), square));
    TW_TRY(set(r, mixed(t, beta, V(r), mean_over(t, square, -1, false))));
    TW_TRY(set(c, mixed(t, beta, V(c), mean_over(t, square, -2, false))));
    tw_tensor *rows = TW_TEMP(RealDiv, V(r), mean_over(t, V(r), -1, true));
    return set(v, TW_TEMP(Mul, TW_TEMP(ExpandDims, rows, -1), TW_TEMP(ExpandDims, V(c), -2)));
}

static tw_status adafactor_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    const tw_optimizers_adafactor_args *self = tw_object_config(optimizer);
    tw_variable *const slots[] = { optimizer->slots[ROWS][index], optimizer->slots[COLUMNS][index],
                                   optimizer->slots[SQUARES][index] };
    tw_tensor *time = tw__step_time(t, optimizer, gradient->dtype, 1);
    tw_tensor *rate = RATE, *usual = TW_TEMP(Rsqrt, time);
    if (self->relative_step && !optimizer->schedule)
        rate = TW_TEMP(Minimum, rate, usual);
    tw_tensor *size = TW_TEMP(Maximum, N(self->epsilon_2), root_mean_square(t, V(variable)));
    tw_tensor *alpha = TW_TEMP(Mul, size, TW_TEMP(Minimum, rate, usual));
    tw_tensor *square = TW_TEMP(AddV2, TW_TEMP(Square, gradient), self->epsilon_1);
    tw_tensor *beta = TW_TEMP(Sub, 1.0, TW_TEMP(Pow, time, self->beta_2_decay));
    if (!alpha || !square || !beta)
        return tw__error_status();
    TW_TRY(update_squares(t, slots, beta, square));
    tw_tensor *change = TW_TEMP(Mul, gradient, TW_TEMP(Rsqrt, V(slots[SQUARES])));
    tw_tensor *limit = change ? TW_TEMP(RealDiv, root_mean_square(t, change), self->clip_threshold) : NULL;
    change = TW_TEMP(RealDiv, change, TW_TEMP(Maximum, N(1), limit));
    ADD(variable, Mul, TW_TEMP(Neg, alpha), change);
    return TW_OK;
}

static const tw__optimizer_methods adafactor_methods = { .build = adafactor_build,
                                                         .update = adafactor_step,
                                                         .trace = adafactor_step };

TW_CLASS(optimizers_adafactor,
         "keras.optimizers.Adafactor|keras.optimizers.experimental.Adafactor(learning_rate: number = 0.001, "
         "beta_2_decay: float = -0.8, epsilon_1: float = 1e-30, epsilon_2: float = 0.001, clip_threshold: float = 1.0, "
         "relative_step: bool = True, " TW_OPTIMIZER_ARGUMENTS ", name: str = Adafactor) -> optimizer",
         .parent = &tw__class_optimizer, .size = sizeof(tw_optimizer), .methods = &adafactor_methods,
         .doc = "Adam's steps with less memory: squares are kept as means over rows and columns.\n"
                "beta_2_decay: the exponent, below 0, by which the mean of squares forgets less with every step\n"
                "epsilon_1: a small number that is added to squares of gradients\n"
                "epsilon_2: the least size of a variable that its steps go by\n"
                "clip_threshold: the bound of a change's root mean square; greater ones are scaled down\n"
                "relative_step: True: a learning rate that is a number is at most 1 / sqrt(step)");
