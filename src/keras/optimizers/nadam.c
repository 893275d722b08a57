/* Nadam: Adam with Nesterov's momentum, whose factors change with time. */
#include "keras/callbacks/callbacks.h"
#include "keras/optimizers/step.h"

typedef struct nadam {
    tw_optimizer optimizer;
    double pace; /* how fast the momentum comes near beta_1: that of the former class (`decay`, 0.004); 0: today's, which is 1 */
    tw_variable *product; /* of the momentum's factors so far; a reference */
    int64_t counter;      /* how often it was computed, and 1: Keras's _u_product_counter, which counts traces of functions too */
    uint64_t round;       /* the step that it was computed for; the former class does so once for all variables */
} nadam;

static void nadam_visit(void *self, tw__visitor visitor, void *context)
{
    if (((nadam *)self)->product)
        visitor(context, &((nadam *)self)->product->trackable.object);
}

static void nadam_clear(void *self)
{
    tw__set(&((nadam *)self)->product, NULL);
}

static tw_status nadam_build(tw_optimizer *optimizer)
{
    static const tw__slot_kind kinds[] = { { "_momentums", "m", 0 }, { "_velocities", "v", 0 } };
    nadam *self = (nadam *)optimizer;
    tw_auto tw_tensor *one = tw__float_scalar(optimizer->trained_count ? optimizer->trained[0]->resource->dtype : TW_FLOAT32, 1);
    self->product = one ? tw__variable_new(one, "Variable", true, NULL) : NULL;
    self->counter = 1;
    if (self->product && self->pace != 0)
        TW_TRY(tw__container_append(optimizer->all, self->product));
    TW_TRY(tw__optimizer_add_slots(optimizer, 0, 2, kinds));
    return self->product ? tw__track(&optimizer->trackable, "_u_product", self->product) : tw__error_status();
}

tw_variable *tw__nadam_product(tw_optimizer *optimizer)
{
    return tw__is(optimizer, &tw__class_optimizers_nadam) ? ((nadam *)optimizer)->product : NULL;
}

/* Keras 2.0 to 2.3 call it schedule_decay. */
static tw_status nadam_take_config(tw_optimizer *optimizer, const tw_value *config)
{
    const tw_value *pace = tw__value_get(config, "schedule_decay");
    if (!pace)
        pace = tw__value_get(config, "decay");
    if (pace && !tw__value_number(pace, &((nadam *)optimizer)->pace))
        return tw__fail(TW_VALUE_ERROR, "Nadam: `decay` in a config must be a number");
    return TW_OK;
}

/* The former class's config has `decay`, and nothing of what it does not know: without `is_legacy_optimizer` it is TensorFlow's
 * former class, too. */
static void nadam_add_config(const tw_optimizer *optimizer, tw__dict *config)
{
    static const char *const today[] = { "weight_decay", "clipnorm", "global_clipnorm", "clipvalue", "ema_overwrite_frequency" };
    if (((const nadam *)optimizer)->pace == 0)
        return;
    tw_value all = tw__dict_take(config);
    const tw_value *averages = tw__value_get(&all, "use_ema");
    if (averages && averages->kind == TW_VALUE_BOOL && !averages->b) {
        tw__value_drop(&all, "use_ema");
        tw__value_drop(&all, "ema_momentum");
    }
    tw__value_drop(&all, "jit_compile");
    tw__value_drop(&all, "is_legacy_optimizer");
    for (size_t i = 0; i < sizeof today / sizeof *today; i++) {
        const tw_value *set = tw__value_get(&all, today[i]);
        if (set && set->kind == TW_VALUE_NONE)
            tw__value_drop(&all, today[i]);
    }
    for (int64_t i = 0; i + 1 < all.list.count; i += 2) {
        tw__dict_put(config, all.list.items[i].s.data, all.list.items[i + 1]);
        all.list.items[i + 1] = (tw_value){ .kind = TW_VALUE_NONE };
    }
    tw_value_free(&all);
    tw__dict_put(config, "decay", (tw_value){ .kind = TW_VALUE_FLOAT, .f = ((const nadam *)optimizer)->pace });
}

bool tw__optimizer_is_former(const tw_optimizer *optimizer)
{
    return tw__is(optimizer, &tw__class_optimizers_nadam) && ((const nadam *)optimizer)->pace != 0;
}

/* beta_1 (1 - 0.96^(pace time) / 2), of a time so many steps ahead; left to t. */
static tw_tensor *momentum_at(tw__temps *t, nadam *self, int ahead, tw_dtype dtype)
{
    tw_tensor *time = tw__step_time(t, &self->optimizer, dtype, ahead);
    if (self->pace != 0)
        time = TW_TEMP(Mul, self->pace, time);
    tw_tensor *half = TW_TEMP(Mul, 0.5, TW_TEMP(Pow, 0.96, time));
    return TW_TEMP(Mul, ((const tw_optimizers_nadam_args *)tw_object_config(self))->beta_1, TW_TEMP(Sub, 1.0, half));
}

/* The product of all factors up to now, left to t; the first variable of a step brings it forward. */
static tw_tensor *product_now(tw__temps *t, nadam *self, tw_tensor *factor)
{
    tw_optimizer *optimizer = &self->optimizer;
    int64_t counter = self->counter;
    bool once = self->pace != 0;
    if (once ? self->round == optimizer->round : !tw__tracing && counter == tw__optimizer_step(optimizer) + 2)
        return V(self->product);
    self->counter++;
    self->round = optimizer->round;
    tw_tensor *next = TW_TEMP(Mul, V(self->product), factor);
    if (tw__tracing && !once) {
        tw_tensor *done = TW_TEMP(Equal, counter, TW_TEMP(AddV2, V(optimizer->iterations), (int64_t)2));
        next = TW_TEMP(SelectV2, done, V(self->product), next);
    }
    return tw__traced_assign(&tw__op_AssignVariableOp, self->product, next) == TW_OK ? next : NULL;
}

static tw_status nadam_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    nadam *self = (nadam *)optimizer;
    const tw_optimizers_nadam_args *args = tw_object_config(self);
    tw_dtype dtype = gradient->dtype;
    tw_variable *m = optimizer->slots[0][index], *v = optimizer->slots[1][index];
    if (self->product->resource->dtype != dtype)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: variables of several dtypes (%s and %s) are not supported", optimizer->name,
                        tw_dtype_name(self->product->resource->dtype), tw_dtype_name(dtype));
    tw_tensor *now = momentum_at(t, self, 1, dtype), *later = momentum_at(t, self, 2, dtype);
    tw_tensor *product = now && later ? product_now(t, self, now) : NULL;
    TW_NEED(product);
    ADD(m, Mul, TW_TEMP(Sub, gradient, V(m)), TW_TEMP(Sub, N(1), N(args->beta_1)));
    ADD(v, Mul, TW_TEMP(Sub, TW_TEMP(Square, gradient), V(v)), TW_TEMP(Sub, N(1), N(args->beta_2)));
    tw_tensor *old = TW_TEMP(RealDiv, TW_TEMP(Mul, later, V(m)), TW_TEMP(Sub, 1.0, TW_TEMP(Mul, product, later)));
    tw_tensor *fresh = TW_TEMP(RealDiv, TW_TEMP(Mul, TW_TEMP(Sub, 1.0, now), gradient), TW_TEMP(Sub, 1.0, product));
    tw_tensor *power = TW_TEMP(Pow, args->beta_2, tw__step_time(t, optimizer, dtype, 1));
    tw_tensor *size = TW_TEMP(Sqrt, TW_TEMP(RealDiv, V(v), TW_TEMP(Sub, 1.0, power)));
    SUBTRACT(variable, RealDiv, TW_TEMP(Mul, TW_TEMP(AddV2, old, fresh), RATE), TW_TEMP(AddV2, size, args->epsilon));
    return TW_OK;
}

static const tw__optimizer_methods nadam_methods = { .build = nadam_build,
                                                     .update = nadam_step,
                                                     .trace = nadam_step,
                                                     .take_config = nadam_take_config,
                                                     .add_config = nadam_add_config,
                                                     .former = { "decay", "schedule_decay" } };

TW_CLASS(optimizers_nadam,
         "keras.optimizers.Nadam|keras.optimizers.experimental.Nadam(learning_rate: number = 0.001, beta_1: float = 0.9, "
         "beta_2: float = 0.999, epsilon: float = 1e-07, " TW_OPTIMIZER_ARGUMENTS ", name: str = Nadam) -> optimizer",
         .parent = &tw__class_optimizer, .size = sizeof(nadam), .methods = &nadam_methods, .destroy = nadam_clear,
         .visit = nadam_visit, .clear = nadam_clear, .doc = "Adam with Nesterov's momentum.");
