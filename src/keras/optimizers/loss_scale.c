/* keras.mixed_precision.LossScaleOptimizer: an optimizer around another one, for computations in float16, whose small gradients
 * would be rounded to zero. The loss is multiplied by a scale and the gradients divided by it. The scale halves when a gradient
 * is not finite, and that step is left out; it doubles after so many good steps.
 *
 * The step counter, the learning rate and the variables are the inner optimizer's. */
#include <math.h>

#include <thalweg/function.h>

#include "distribute/distribute.h"
#include "eager/tape.h"
#include "keras/optimizers/optimizers.h"
#include "op/calls.h"
#include "op/slices.h"

typedef struct loss_scale {
    tw_optimizer optimizer;
    tw_optimizer *inner;             /* a reference */
    tw_variable *scale, *good_steps; /* references; NULL: the scale is fixed */
    double initial;
    int64_t growth_steps;
} loss_scale;

tw_optimizer *tw__optimizer_inner(tw_optimizer *optimizer)
{
    return tw__is(optimizer, &tw__class_loss_scale_optimizer) ? ((loss_scale *)optimizer)->inner : optimizer;
}

/* ---- construction ---- */

static tw_variable *state_variable(tw_trackable *state, tw_tensor *value, const char *name)
{
    tw_auto tw_tensor *first = value;
    tw_variable *variable = first ? tw__variable_new(first, name, false, NULL) : NULL;
    if (variable && tw__track(state, name, variable) == TW_OK)
        return variable;
    tw_release(variable);
    return NULL;
}

static tw_status make_state(loss_scale *self)
{
    tw_auto tw_trackable *state = tw__object_new(&tw__trackable_class);
    TW_NEED(state);
    self->scale = state_variable(state, tw_tensor_float((float)self->initial), "current_loss_scale");
    self->good_steps = self->scale ? state_variable(state, tw_tensor_int64(0), "good_steps") : NULL;
    TW_NEED(self->good_steps);
    return tw__track(&self->optimizer.trackable, "loss_scale", state);
}

/* What checkpoints call the inner optimizer's is this one's, too. */
static tw_status take_children(loss_scale *self)
{
    const tw_trackable *inner = &self->inner->trackable;
    for (size_t i = 0; i < inner->child_count; i++) {
        if (!tw__tracked(&self->optimizer.trackable, inner->children[i].name))
            TW_TRY(tw__track(&self->optimizer.trackable, inner->children[i].name, inner->children[i].object));
    }
    return TW_OK;
}

static tw_status loss_scale_init(void *object, const void *given)
{
    loss_scale *self = object;
    const tw_loss_scale_optimizer_args *args = given;
    tw_optimizer *inner = args->inner_optimizer, *own = &self->optimizer;
    bool dynamic = args->dynamic, has_scale = !isnan(args->initial_scale), has_steps = args->dynamic_growth_steps != TW_NO_INT;
    if (tw__is(inner, &tw__class_loss_scale_optimizer))
        return tw__fail(TW_TYPE_ERROR, "LossScaleOptimizer cannot wrap another LossScaleOptimizer, but got: a %s",
                        tw_class_name(inner));
    if (!dynamic && !has_scale)
        return tw__fail(TW_VALUE_ERROR, "\"initial_scale\" must be specified if \"dynamic\" is False");
    if (!dynamic && has_steps)
        return tw__fail(TW_VALUE_ERROR, "\"dynamic_growth_steps\" must be None if \"dynamic\" is False, but got: %lld",
                        (long long)args->dynamic_growth_steps);
    self->inner = tw_retain(inner);
    self->initial = has_scale ? args->initial_scale : 32768;
    self->growth_steps = has_steps ? args->dynamic_growth_steps : 2000;
    own->iterations = tw_retain(inner->iterations);
    own->rate = tw_retain(inner->rate);
    own->all = tw_retain(inner->all);
    TW_TRY(take_children(self));
    return dynamic ? make_state(self) : TW_OK;
}

static void loss_scale_visit(void *object, tw__visitor visitor, void *context)
{
    loss_scale *self = object;
    void *held[] = { self->inner, self->scale, self->good_steps };
    for (size_t i = 0; i < sizeof held / sizeof *held; i++) {
        if (held[i])
            visitor(context, held[i]);
    }
}

static void loss_scale_clear(void *object)
{
    loss_scale *self = object;
    tw__set(&self->inner, NULL);
    tw__set(&self->scale, NULL);
    tw__set(&self->good_steps, NULL);
}

/* ---- what it answers ---- */

static tw_tensor *scale_now(loss_scale *self)
{
    return self->scale ? tw__variable_read(self->scale) : tw_tensor_float((float)self->initial);
}

TW_PROPERTY(loss_scale_optimizer_loss_scale,
            "keras.mixed_precision.LossScaleOptimizerV3.loss_scale(self: loss_scale_optimizer) -> tensor",
            "What the loss is multiplied by.")
{
    return scale_now((loss_scale *)args->self);
}

TW_PROPERTY(loss_scale_optimizer_dynamic,
            "keras.mixed_precision.LossScaleOptimizerV3.dynamic(self: loss_scale_optimizer) -> bool",
            "Whether the scale follows the gradients.")
{
    return ((loss_scale *)args->self)->scale != NULL;
}

TW_PROPERTY(loss_scale_optimizer_initial_scale,
            "keras.mixed_precision.LossScaleOptimizerV3.initial_scale(self: loss_scale_optimizer) -> float", "The first scale.")
{
    return ((loss_scale *)args->self)->initial;
}

TW_PROPERTY(loss_scale_optimizer_growth_steps,
            "keras.mixed_precision.LossScaleOptimizerV3.dynamic_growth_steps(self: loss_scale_optimizer) -> value",
            "Good steps after which the scale doubles; None of a fixed scale.")
{
    const loss_scale *self = (const loss_scale *)args->self;
    return self->scale ? (tw_value){ .kind = TW_VALUE_INT, .i = self->growth_steps } : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_PROPERTY(loss_scale_optimizer_dynamic_counter,
            "keras.mixed_precision.LossScaleOptimizerV3.dynamic_counter(self: loss_scale_optimizer) -> value",
            "The variable that counts good steps since the scale changed; None of a fixed scale.")
{
    const loss_scale *self = (const loss_scale *)args->self;
    return self->scale ? (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(self->good_steps) }
                       : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_PROPERTY(loss_scale_optimizer_inner_optimizer,
            "keras.mixed_precision.LossScaleOptimizerV3.inner_optimizer(self: loss_scale_optimizer) -> optimizer",
            "The optimizer that is wrapped.")
{
    return tw_retain(((loss_scale *)args->self)->inner);
}

static tw_value loss_scale_config(const tw_optimizer *optimizer)
{
    const loss_scale *self = (const loss_scale *)optimizer;
    tw__dict dict = { 0 };
    tw_value none = { .kind = TW_VALUE_NONE };
    tw__dict_put(&dict, "inner_optimizer", tw__serialize(self->inner, "keras.optimizers"));
    tw__dict_put(&dict, "dynamic", (tw_value){ .kind = TW_VALUE_BOOL, .b = self->scale != NULL });
    tw__dict_put(&dict, "initial_scale", (tw_value){ .kind = TW_VALUE_FLOAT, .f = self->initial });
    tw__dict_put(&dict, "dynamic_growth_steps", self->scale ? (tw_value){ .kind = TW_VALUE_INT, .i = self->growth_steps } : none);
    return tw__dict_take(&dict);
}

/* ---- losses and gradients ---- */

TW_METHOD(loss_scale_optimizer_scaled_loss,
          "keras.mixed_precision.LossScaleOptimizerV3._get_scaled_loss(self: loss_scale_optimizer, loss: tensor) -> tensor",
          "The loss times the scale.")
{
    TW_TEMPS(t);
    return TW_CALL(Mul, args->loss, tw__temp_cast(t, tw__temp(t, scale_now((loss_scale *)args->self)), args->loss->dtype));
}

static tw_tensor *unscaled(tw__temps *t, tw_tensor *gradient, tw_tensor *scale)
{
    const struct tw_indexed_slices *slices = tw__slices_of(gradient);
    tw_tensor *values = slices ? slices->values : gradient;
    tw_tensor *factor = tw__temp_cast(t, TW_TEMP(Reciprocal, scale), values->dtype);
    tw_tensor *result = TW_TEMP(Mul, values, factor);
    return slices && result ? tw__slices_make(result, slices->indices, slices->dense_shape) : tw_retain(result);
}

TW_METHOD(
    loss_scale_optimizer_unscaled,
    "keras.mixed_precision.LossScaleOptimizerV3._get_unscaled_gradients(self: loss_scale_optimizer, grads: tensors?) -> tensors",
    "The gradients of a scaled loss, divided by the scale. NULLs stay.")
{
    TW_TEMPS(t);
    tw_tensors made = { tw__alloc_array((size_t)args->grads.count + 1, sizeof *made.items), args->grads.count };
    tw_tensor *scale = made.items ? tw__temp(t, scale_now((loss_scale *)args->self)) : NULL;
    bool good = scale != NULL;
    for (int64_t i = 0; good && i < made.count; i++) {
        if (args->grads.items[i])
            good = (made.items[i] = unscaled(t, args->grads.items[i], scale)) != NULL;
    }
    if (!good)
        tw_tensors_free(&made);
    return good ? made : (tw_tensors){ 0 };
}

tw_tensors tw__optimizer_gradients(tw_optimizer *optimizer, tw_tape *tape, tw_tensor *loss, tw_objects variables)
{
    bool scales = tw__is(optimizer, &tw__class_loss_scale_optimizer);
    tw_auto tw_tensor *target = NULL;
    if (scales) {
        bool recording = tape->recording;
        tw__tape_start(tape);
        target = tw__impl_loss_scale_optimizer_scaled_loss(
            &(tw_loss_scale_optimizer_scaled_loss_args){ .self = (tw_loss_scale_optimizer *)optimizer, .loss = loss });
        if (!recording)
            tw__tape_stop(tape);
        if (!target)
            return (tw_tensors){ 0 };
    }
    tw_tensors gradients = tw__tape_gradient_of(&(tw_tape_gradient_args){
        .self = tape, .target = TW_OBJECTS(target ? target : loss), .sources = variables, .unconnected_gradients = "none" });
    if (!scales || !gradients.items)
        return gradients;
    tw_tensors divided = tw__impl_loss_scale_optimizer_unscaled(
        &(tw_loss_scale_optimizer_unscaled_args){ .self = (tw_loss_scale_optimizer *)optimizer, .grads = gradients });
    tw_tensors_free(&gradients);
    return divided;
}

/* ---- applying ---- */

typedef struct step {
    loss_scale *self;
    const tw_optimizer_apply_gradients_args *args;
} step;

static tw_status set(tw_variable *variable, tw_tensor *value)
{
    TW_NEED(value);
    return tw__traced_assign(&tw__op_AssignVariableOp, variable, value);
}

/* After a good step: the counter, and the doubled scale where it is due and finite. */
static tw_status grow(loss_scale *self)
{
    TW_TEMPS(t);
    tw_tensor *scale = tw__temp(t, tw__variable_read(self->scale)), *count = tw__temp(t, tw__variable_read(self->good_steps));
    tw_tensor *next = TW_TEMP(AddV2, count, 1.0), *twice = TW_TEMP(Mul, scale, 2.0);
    tw_tensor *due = TW_TEMP(GreaterEqual, next, (double)self->growth_steps);
    tw_tensor *doubles = TW_TEMP(LogicalAnd, due, TW_TEMP(IsFinite, twice));
    TW_TRY(set(self->scale, TW_TEMP(SelectV2, doubles, twice, scale)));
    return set(self->good_steps, TW_TEMP(SelectV2, due, TW_TEMP(Sub, next, next), next));
}

static tw_status shrink(loss_scale *self)
{
    TW_TEMPS(t);
    tw_tensor *scale = tw__temp(t, tw__variable_read(self->scale)), *count = tw__temp(t, tw__variable_read(self->good_steps));
    TW_TRY(set(self->scale, TW_TEMP(Maximum, TW_TEMP(Mul, scale, 0.5), 1.0)));
    TW_TRY(set(self->good_steps, TW_TEMP(Sub, count, count)));
    return tw__traced_assign(&tw__op_AssignAddVariableOp, self->inner->iterations, self->inner->one);
}

static tw_status apply_good(const step *s)
{
    tw_optimizer_apply_gradients_args inner = *s->args;
    inner.self = s->self->inner;
    tw_auto tw_variable *count = tw__impl_optimizer_apply_gradients(&inner);
    TW_NEED(count);
    return s->self->scale ? grow(s->self) : TW_OK;
}

static tw_tensors done(tw_status status)
{
    tw_tensors list = { status == TW_OK ? tw__alloc_array(1, sizeof *list.items) : NULL, 0 };
    if (list.items && (list.items[0] = tw_tensor_int64(0)))
        list.count = 1;
    return list;
}

static tw_tensors good_body(void *user, tw_tensors none)
{
    (void)none;
    return done(apply_good(user));
}

static tw_tensors bad_body(void *user, tw_tensors none)
{
    (void)none;
    return done(shrink(((const step *)user)->self));
}

/* Whether all gradients are finite, left to t. */
static tw_tensor *all_finite(tw__temps *t, const tw_tensors *gradients)
{
    tw_tensor *all = NULL;
    for (int64_t i = 0; i < gradients->count; i++) {
        if (!gradients->items[i])
            continue;
        const struct tw_indexed_slices *slices = tw__slices_of(gradients->items[i]);
        tw_tensor *values = slices ? slices->values : gradients->items[i];
        tw_tensor *finite = TW_TEMP(IsFinite, values);
        tw_tensor *whole = finite ? tw__temp(t, tw_reduce_all(finite)) : NULL;
        if (!whole)
            return NULL;
        all = all ? TW_TEMP(LogicalAnd, all, whole) : whole;
    }
    return all ? all : tw__temp(t, tw_tensor_bool(true));
}

static tw_variable *loss_scale_apply(const tw_optimizer_apply_gradients_args *args)
{
    TW_TEMPS(t);
    loss_scale *self = (loss_scale *)args->self;
    step s = { self, args };
    if (tw__replica >= 0 && tw__replicas > 1) {
        tw__fail(TW_UNIMPLEMENTED, "LossScaleOptimizer: replicas of a strategy are not supported");
        return NULL;
    }
    bool any = false;
    for (int64_t i = 0; i < args->gradients.count; i++)
        any |= args->gradients.items[i] != NULL;
    if (!self->scale || !any || !args->variables.count)
        return apply_good(&s) == TW_OK && take_children(self) == TW_OK ? tw_retain(self->inner->iterations) : NULL;
    /* Variables are made outside of the branches. */
    if (tw__optimizer_build(self->inner, &args->variables) != TW_OK || take_children(self) != TW_OK)
        return NULL;
    tw_tensor *finite = all_finite(t, &args->gradients);
    tw_status status = finite ? TW_OK : tw__error_status();
    if (status == TW_OK && !finite->node) {
        status = tw_tensor_int_at(finite, 0) ? apply_good(&s) : shrink(self);
    } else if (status == TW_OK) {
        tw_tensors results = tw_cond(finite, good_body, bad_body, &s);
        status = results.items ? TW_OK : tw__error_status();
        tw_tensors_free(&results);
    }
    return status == TW_OK ? tw_retain(self->inner->iterations) : NULL;
}

static tw_status loss_scale_build(const tw_optimizer_build_args *args)
{
    loss_scale *self = (loss_scale *)args->self;
    TW_TRY(tw__optimizer_build(self->inner, &args->var_list));
    return take_children(self);
}

static const tw__optimizer_methods loss_scale_methods = { .build_other = loss_scale_build,
                                                          .apply_other = loss_scale_apply,
                                                          .config_other = loss_scale_config };

TW_CLASS(loss_scale_optimizer,
         "keras.mixed_precision.LossScaleOptimizerV3|keras.mixed_precision.LossScaleOptimizer(inner_optimizer: optimizer, "
         "dynamic: bool = True, initial_scale: float = None, dynamic_growth_steps: int = None) -> optimizer",
         .parent = &tw__class_optimizer, .size = sizeof(loss_scale), .init = loss_scale_init, .methods = &loss_scale_methods,
         .visit = loss_scale_visit, .clear = loss_scale_clear, .destroy = loss_scale_clear,
         .doc = "An optimizer that scales the loss, for computations in float16.\n"
                "inner_optimizer: the optimizer that takes the steps\n"
                "dynamic: True: the scale follows the gradients; False: it is `initial_scale` all the time\n"
                "initial_scale: the first scale; None: 32768\n"
                "dynamic_growth_steps: the number of good steps after which the scale doubles; None: 2000");

tw_optimizer *tw__optimizer_for(const tw_layer *model, tw_optimizer *optimizer)
{
    if (!optimizer || tw__layer_policy(model) != TW_MIXED_FLOAT16 || tw__is(optimizer, &tw__class_loss_scale_optimizer))
        return optimizer;
    tw_loss_scale_optimizer_args args;
    tw_args_default(&tw__signature_loss_scale_optimizer, &args);
    args.inner_optimizer = optimizer;
    tw_optimizer *made = tw_class_make(&tw__class_loss_scale_optimizer, &args);
    tw_release(optimizer);
    return made;
}
