/* The base of optimizers: learning rate, step counter, slots, and what applying gradients does around a class's own update.
 *
 *     apply: rate of the step -> build (first time) -> clip -> weight decay -> update per variable -> iterations + 1
 *
 * Once built, a step allocates nothing here: scalars for the ops live in the optimizer. */
#include <math.h>

#include "distribute/distribute.h"
#include "eager/tape.h"
#include "op/slices.h"
#include "graph/graph.h"
#include "kernel/copy.h"
#include "kernel/kernel.h"
#include "keras/optimizers/optimizers.h"
#include "op/calls.h"

/* ---- construction ---- */

static tw_variable *new_scalar(tw_tensor *value, const char *name)
{
    TW_TEMPS(t);
    char *full = tw__temp(t, value) ? tw__temp_memory(t, tw__format("%s%s", tw__variable_scope(), name)) : NULL;
    tw_variable *variable = full ? tw__variable_new(value, full, false, NULL) : NULL;
    if (variable)
        variable->aggregation = TW_AGGREGATE_ONLY_FIRST;
    return variable;
}

tw_status tw__optimizer_make_rate(tw_optimizer *optimizer, double number, void *object)
{
    if (object && !tw__is(object, &tw__class_schedule))
        return tw__fail(TW_TYPE_ERROR, "%s: the argument `learning_rate` is a %s, expected a number or a LearningRateSchedule",
                        optimizer->name, tw_class_name(object));
    optimizer->schedule = tw_retain(object);
    if (object) {
        tw__outside outside = tw__outside_begin();
        number = tw__schedule_rate(object, 0);
        tw__outside_end(outside);
    }
    if (object && isnan(number) && tw_error_code() != TW_OK)
        return tw__error_status();
    const char *name = object ? "current_learning_rate" : "learning_rate";
    bool legacy = tw__optimizer_is_legacy(optimizer);
    TW_TRY(legacy ? tw__scope_push(optimizer->name) : TW_OK);
    optimizer->rate = new_scalar(tw_tensor_float((float)number), name);
    if (legacy)
        tw__scope_pop();
    TW_NEED(optimizer->rate);
    if (legacy)
        return object ? TW_OK : tw__track(&optimizer->trackable, name, optimizer->rate);
    return tw__track(&optimizer->trackable, object ? "_current_learning_rate" : "_learning_rate", optimizer->rate);
}

static tw_status optimizer_init(void *self, const void *given)
{
    tw_optimizer *optimizer = self;
    const tw_optimizer_args *args = given;
    if (!isnan(args->clipnorm) && !isnan(args->global_clipnorm)) {
        tw__text text = { 0 };
        tw__text_add(&text, "At most one of `clipnorm` and `global_clipnorm` can be set. Received: clipnorm=");
        tw__print_float(&text, args->clipnorm, TW_FLOAT64);
        tw__text_add(&text, ", global_clipnorm=");
        tw__print_float(&text, args->global_clipnorm, TW_FLOAT64);
        tw_status status = tw__fail(TW_VALUE_ERROR, "%s.", text.data ? text.data : "");
        tw__text_free(&text);
        return status;
    }
    optimizer->name = tw__strdup(args->name ? args->name : tw_class_name(self));
    const tw__optimizer_methods *methods = tw__methods(optimizer);
    if (methods && methods->apply_other) /* the rest is another's */
        return optimizer->name ? TW_OK : tw__error_status();
    bool legacy = tw__optimizer_is_legacy(optimizer);
    optimizer->all = tw__container_new();
    TW_TRY(legacy ? tw__scope_push(optimizer->name) : TW_OK);
    optimizer->iterations = new_scalar(tw_tensor_int64(0), legacy ? "iter" : "iteration");
    if (legacy)
        tw__scope_pop();
    optimizer->one = tw_tensor_int64(1);
    if (!optimizer->name || !optimizer->all || !optimizer->iterations || !optimizer->one)
        return tw__error_status();
    if (!legacy)
        TW_TRY(tw__track(&optimizer->trackable, "_variables", optimizer->all));
    TW_TRY(tw__container_append(optimizer->all, optimizer->iterations));
    TW_TRY(tw__track(&optimizer->trackable, legacy ? "iter" : "_iterations", optimizer->iterations));
    if (tw_class_of(self) == &tw__class_optimizer || tw_class_of(self) == &tw__class_optimizers_legacy_optimizer)
        return TW_OK;
    tw_optimizers_sgd_args own; /* by name */
    tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_optimizers_sgd, &own);
    TW_TRY(legacy ? tw__legacy_init(optimizer) : TW_OK);
    return tw__optimizer_make_rate(optimizer, own.learning_rate, own.learning_rate_object);
}

static tw_status optimizer_settle(void *self, const void *given)
{
    const tw_optimizer_args *args = given;
    ((tw_optimizer *)self)->settings = *args;
    if (args->use_ema && (args->ema_momentum < 0 || args->ema_momentum > 1))
        return tw__fail(TW_VALUE_ERROR, "`ema_momentum` must be in the range [0, 1]. Received: ema_momentum=%g",
                        args->ema_momentum);
    if (args->use_ema && args->ema_overwrite_frequency != TW_NO_INT && args->ema_overwrite_frequency < 1)
        return tw__fail(TW_VALUE_ERROR,
                        "`ema_overwrite_frequency` must be an integer > 1 or None. Received: ema_overwrite_frequency=%lld",
                        (long long)args->ema_overwrite_frequency);
    return TW_OK;
}

static void optimizer_visit(void *self, tw__visitor visitor, void *context)
{
    tw_optimizer *optimizer = self;
    void *held[] = { optimizer->iterations, optimizer->rate, optimizer->schedule, optimizer->all, optimizer->undecayed };
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        if (held[i])
            visitor(context, held[i]);
    }
    for (int64_t i = 0; i < optimizer->trained_count; i++)
        visitor(context, &optimizer->trained[i]->trackable.object);
}

static void optimizer_clear(void *self)
{
    tw_optimizer *optimizer = self;
    int64_t count = optimizer->trained_count;
    tw_variable **trained = optimizer->trained;
    optimizer->built = false;
    optimizer->trained = NULL;
    optimizer->trained_count = 0;
    tw__pointer_map_free(&optimizer->places);
    for (int64_t i = 0; i < count; i++)
        tw_release(trained[i]);
    tw__free(trained);
    for (int i = 0; i <= TW_AVERAGES; i++) {
        tw__free(optimizer->slots[i]);
        optimizer->slots[i] = NULL;
    }
    tw__set(&optimizer->schedule, NULL);
    tw__set(&optimizer->all, NULL);
    tw__set(&optimizer->undecayed, NULL);
}

static void optimizer_destroy(void *self)
{
    tw_optimizer *optimizer = self;
    optimizer_clear(self);
    tw_release(optimizer->iterations);
    tw_release(optimizer->rate);
    tw_release(optimizer->one);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < TW_MAX_SCALARS; k++)
            tw_release(optimizer->scalars[i].values[k]);
    }
    tw_value_free(&optimizer->undecayed_names);
    tw__free(optimizer->name);
}

TW_CLASS(
    optimizer,
    "keras.optimizers.Optimizer|keras.optimizers.experimental.Optimizer(name: str, weight_decay: float = None shown 0, " TW_OPTIMIZER_REST
    ")",
    .parent = &tw__trackable_class, .size = sizeof(tw_optimizer), .init = optimizer_init, .settle = optimizer_settle,
    .refused = " use_ema ", .fixed = " name jit_compile ", .destroy = optimizer_destroy, .visit = optimizer_visit,
    .clear = optimizer_clear, .doc = "The base of optimizers.");

/* ---- scalars ---- */

double tw__optimizer_rate(const tw_optimizer *optimizer)
{
    tw_auto tw_tensor *rate = tw__resource_read(optimizer->rate->resource);
    return tw_tensor_double_at(rate, 0);
}

int64_t tw__optimizer_step(const tw_optimizer *optimizer)
{
    tw_auto tw_tensor *step = tw__resource_read(optimizer->iterations->resource);
    return tw_tensor_int_at(step, 0);
}

tw__scalars *tw__optimizer_scalars(tw_optimizer *optimizer, tw_dtype dtype, int count, bool *fresh)
{
    for (int i = 0; i < 4; i++) {
        tw__scalars *set = &optimizer->scalars[i];
        if (set->dtype && set->dtype != dtype)
            continue;
        for (int k = 0; k < count; k++) {
            if (!set->values[k] && !(set->values[k] = tw_tensor_new(dtype, TW_SCALAR, NULL)))
                return NULL;
        }
        *fresh = !set->dtype || set->round != optimizer->round;
        set->dtype = dtype;
        set->round = optimizer->round;
        return set;
    }
    tw__fail(TW_TYPE_ERROR, "%s: variables of dtype %s beside four other float dtypes", optimizer->name, tw_dtype_name(dtype));
    return NULL;
}

/* ---- building ---- */

tw_status tw__optimizer_add_empty_list(tw_optimizer *optimizer, const char *name)
{
    tw_auto tw_trackable *list = tw__container_new();
    TW_NEED(list);
    return tw__track(&optimizer->trackable, name, list);
}

static tw_status fill(tw_tensor *tensor, double value)
{
    if (!tw__cast_has(TW_FLOAT64, tensor->dtype))
        return tw__fail(TW_TYPE_ERROR, "Cannot convert %g to a slot variable of dtype %s", value, tw_dtype_name(tensor->dtype));
    tw_auto tw_tensor *number = tw__grad_constant(value, tensor);
    TW_NEED(number);
    return tw__fill_elements(tensor->dtype, tensor->data, number->data, tensor->count);
}

tw_status tw__optimizer_need_slots(const tw_optimizer *optimizer, int kind, const char *list)
{
    return optimizer->slots[kind]
               ? TW_OK
               : tw__fail(TW_ATTRIBUTE_ERROR, "'%s' object has no attribute '%s'", tw_class_name(optimizer), list);
}

/* A slot beside one variable, in the list of its kind and in that of all. */
tw_status tw__optimizer_add_slot(tw_optimizer *optimizer, const tw__slot_kind *kind, int64_t index, tw_trackable *list,
                                 tw_variable **slot)
{
    TW_TEMPS(t);
    const tw__resource *resource = optimizer->trained[index]->resource;
    tw_tensor *value = tw__temp(t, tw_tensor_new(resource->dtype, resource->shape, NULL));
    char *name = tw__temp_memory(t, tw__format("%s%s/%s", tw__variable_scope(), kind->prefix, resource->name));
    if (!value || !name)
        return tw__error_status();
    if (isnan(kind->initial)) /* what the variable has */
        value = tw__temp(t, tw__resource_read(optimizer->trained[index]->resource));
    else if (kind->initial != 0)
        TW_TRY(fill(value, kind->initial));
    TW_NEED(value);
    *slot = tw__temp(t, tw__variable_new(value, name, false, NULL));
    TW_NEED(*slot);
    TW_TRY(tw__container_append(optimizer->all, *slot));
    return tw__container_append(list, *slot);
}

tw_status tw__optimizer_add_slots(tw_optimizer *optimizer, int first, int count, const tw__slot_kind *kinds)
{
    TW_TEMPS(t);
    tw_trackable *lists[TW_MAX_SLOTS];
    for (int k = 0; k < count; k++) {
        lists[k] = tw__temp(t, tw__container_new());
        optimizer->slots[first + k] = tw__alloc_array((size_t)optimizer->trained_count + 1, sizeof(tw_variable *));
        if (!lists[k] || !optimizer->slots[first + k])
            return tw__error_status();
        TW_TRY(tw__track(&optimizer->trackable, kinds[k].list, lists[k]));
    }
    for (int64_t i = 0; i < optimizer->trained_count; i++) {
        for (int k = 0; k < count; k++)
            TW_TRY(tw__optimizer_add_slot(optimizer, &kinds[k], i, lists[k], &optimizer->slots[first + k][i]));
    }
    return TW_OK;
}

/* The variables and their places; a class of the program's own may be built again, and knows others then. */
static tw_status take_variables(tw_optimizer *optimizer, const tw_objects *variables)
{
    tw_variable **before = optimizer->trained;
    int64_t count = optimizer->trained_count;
    optimizer->trained = tw__alloc_array((size_t)variables->count + 1, sizeof(tw_variable *));
    optimizer->trained_count = 0;
    tw__pointer_map_free(&optimizer->places);
    for (int64_t i = 0; i < count; i++)
        tw_release(before[i]);
    tw__free(before);
    TW_NEED(optimizer->trained);
    for (int64_t i = 0; i < variables->count; i++) {
        tw_variable *variable = tw__variable_itself(variables->items[i]);
        TW_TRY(tw__pointer_map_put(&optimizer->places, variable, i));
        optimizer->trained[i] = tw_retain(variable);
        optimizer->trained_count = i + 1;
    }
    return TW_OK;
}

static tw_status build(tw_optimizer *optimizer, const tw_objects *variables)
{
    const tw__optimizer_methods *methods = tw__methods(optimizer);
    if (tw__optimizer_is_legacy(optimizer))
        return tw__legacy_build(optimizer, variables);
    if (optimizer->built)
        return TW_OK;
    if (!optimizer->all)
        return tw__fail(TW_NOT_IMPLEMENTED_ERROR, "optimizer %s: the class %s has no update of its own", optimizer->name,
                        tw_class_name(optimizer));
    TW_TRY(take_variables(optimizer, variables));
    TW_TRY(tw__optimizer_add_empty_list(optimizer, "_index_dict"));
    if (optimizer->settings.use_ema) {
        tw__free(optimizer->slots[TW_AVERAGES]);
        optimizer->slots[TW_AVERAGES] = NULL;
        TW_TRY(tw__optimizer_add_slots(optimizer, TW_AVERAGES, 1,
                                       &(tw__slot_kind){ "_model_variables_moving_average", "average", NAN }));
    }
    if (!methods) /* the rest is the program's */
        return TW_OK;
    TW_TRY(methods->build(optimizer));
    optimizer->built = true;
    return TW_OK;
}

TW_METHOD(optimizer_build, "keras.optimizers.Optimizer.build(self: optimizer, var_list: list<variable>)",
          "Makes the optimizer's variables for those that it will train.\n"
          "var_list: the variables")
{
    const tw__optimizer_methods *methods = tw__methods(args->self);
    if (methods && methods->build_other)
        return methods->build_other(args);
    return build(args->self, &args->var_list);
}

/* ---- applying ---- */

tw_status tw__gradient_replace(tw_tensor **gradient, tw_tensor *value)
{
    TW_NEED(value);
    tw_release(*gradient);
    *gradient = value;
    return TW_OK;
}

tw_status tw__optimizer_update(tw_optimizer *optimizer, int64_t position, tw_variable *variable, tw_tensor *gradient)
{
    const tw__optimizer_methods *methods = tw__methods(optimizer);
    const tw_variable *itself = tw__variable_itself(variable);
    bool same = position >= 0 && position < optimizer->trained_count && optimizer->trained[position] == itself;
    int64_t index = same ? position : tw__pointer_map_get(&optimizer->places, itself, -1);
    if (index < 0)
        return tw__fail(
            TW_KEY_ERROR,
            "The optimizer cannot recognize variable %s. This usually means you are trying to call the optimizer to "
            "update different parts of the model separately. Please call `optimizer.build(variables)` with the full list of trainable "
            "variables before the training loop or use legacy optimizer `tf.keras.optimizers.legacy.%s.",
            variable->name, tw_class_name(optimizer));
    if (optimizer->own_step && position >= 0)
        return tw__optimizer_own_step(optimizer, variable, gradient);
    if (!methods)
        return tw__fail(TW_NOT_IMPLEMENTED_ERROR, "optimizer %s: its class has no %s of its own", optimizer->name,
                        tw__optimizer_is_legacy(optimizer) ? "_resource_apply_dense" : "update_step");
    const struct tw_indexed_slices *slices = tw__slices_of(gradient);
    tw_tensor *values = slices ? slices->values : gradient;
    if (!tw__dtype_is_float(variable->resource->dtype) || values->dtype != variable->resource->dtype)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: variable %s is %s and its gradient %s, expected two floats of one dtype",
                        optimizer->name, variable->name, tw_dtype_name(variable->resource->dtype), tw_dtype_name(values->dtype));
    tw_auto tw_tensor *dense = slices && !methods->rows ? tw__slices_dense(gradient) : NULL;
    if (slices && methods->rows)
        return methods->rows(optimizer, index, variable, slices->indices, values);
    if (slices && !(gradient = dense))
        return tw__error_status();
    if (!tw__shape_compatible(&variable->resource->shape, &gradient->shape))
        return tw__fail(TW_INVALID_ARGUMENT, "%s: variable %s has shape %s and its gradient %s", optimizer->name, variable->name,
                        tw__shape_text(&variable->resource->shape), tw__shape_text(&gradient->shape));
    if (!tw__tracing)
        return methods->update(optimizer, index, variable, gradient);
    if (!methods->trace)
        return tw__fail(TW_UNIMPLEMENTED, "%s: %s can't apply gradients inside a function", optimizer->name,
                        tw_class_name(optimizer));
    return methods->trace(optimizer, index, variable, gradient);
}

static tw_status follow_schedule(tw_optimizer *optimizer)
{
    if (tw__tracing)
        return tw__traced_schedule(optimizer);
    if (!optimizer->schedule)
        return TW_OK;
    double number = tw__schedule_rate(optimizer->schedule, tw__optimizer_step(optimizer));
    if (isnan(number))
        TW_TRY(tw_error_code());
    void *data;
    TW_TRY(tw__resource_lock(optimizer->rate->resource, &data));
    *(float *)data = (float)number;
    tw__resource_unlock(optimizer->rate->resource);
    return TW_OK;
}

static tw_status count_step(tw_optimizer *optimizer)
{
    return tw__traced_assign(&tw__op_AssignAddVariableOp, optimizer->iterations, optimizer->one);
}

static tw_status no_gradients(const tw_objects *variables)
{
    tw__auto(tw__text_free) tw__text names = { 0 };
    for (int64_t i = 0; i < variables->count; i++)
        tw__text_format(&names, "%s'%s'", i ? ", " : "", ((tw_variable *)variables->items[i])->name);
    tw_status status = tw__fail(TW_VALUE_ERROR, "No gradients provided for any variable: ([%s],).", names.data ? names.data : "");
    return status;
}

/* Gradients that are clipped are copies of the list; else the caller's are used as they are. */
static tw_status apply(tw_optimizer *optimizer, tw_tensor **gradients, const tw_objects *variables)
{
    optimizer->round++;
    TW_TRY(tw__optimizer_prepare(optimizer, variables));
    for (int64_t i = 0; !isnan(optimizer->settings.weight_decay) && i < variables->count; i++) {
        int decays = gradients[i] ? tw__optimizer_decays(optimizer, variables->items[i]) : 0;
        if (decays < 0)
            return tw__error_status();
        if (decays)
            TW_TRY(tw__tracing ? tw__traced_decay(optimizer, variables->items[i])
                               : tw__optimizer_decay(optimizer, variables->items[i]));
    }
    for (int64_t i = 0; i < variables->count; i++) {
        if (gradients[i])
            TW_TRY(tw__optimizer_update(optimizer, i, variables->items[i], gradients[i]));
    }
    TW_TRY(tw__optimizer_average(optimizer, gradients, variables));
    TW_TRY(count_step(optimizer));
    for (int64_t i = 0; i < variables->count; i++) {
        if (gradients[i])
            TW_TRY(tw__variable_constrain(variables->items[i]));
    }
    return TW_OK;
}

/* The same for gradients that are clipped, or slices of rows: they are clipped as they are, rows that come twice are summed then.
 */
static tw_status apply_prepared(tw_optimizer *optimizer, tw_tensor *const *gradients, const tw_objects *variables, bool clips)
{
    TW_TEMPS(t);
    const tw__optimizer_methods *methods = tw__methods(optimizer);
    bool by_rows = optimizer->own_step || (methods && methods->rows);
    bool sums = by_rows && !(optimizer->own_step && tw__optimizer_is_legacy(optimizer)); /* which has a method for that */
    tw_tensors own = { tw__alloc_array((size_t)variables->count, sizeof *own.items), variables->count };
    TW_NEED(tw__temp_by(t, own.items ? &own : NULL, (void (*)(void *))tw_tensors_free));
    for (int64_t i = 0; i < own.count; i++) {
        const struct tw_indexed_slices *slices = gradients[i] ? tw__slices_of(gradients[i]) : NULL;
        own.items[i] = tw_retain(slices ? slices->values : gradients[i]);
    }
    if (clips)
        TW_TRY((tw__tracing ? tw__traced_clip : tw__optimizer_clip)(optimizer, own.items, own.count));
    for (int64_t i = 0; i < own.count; i++) {
        const struct tw_indexed_slices *slices = gradients[i] ? tw__slices_of(gradients[i]) : NULL;
        if (!slices)
            continue;
        tw_tensor *rows = tw__temp(t, sums ? tw__slices_summed(slices, own.items[i])
                                           : tw__slices_make(own.items[i], slices->indices, slices->dense_shape));
        TW_NEED(rows);
        TW_TRY(tw__gradient_replace(&own.items[i], by_rows ? tw_retain(rows) : tw__slices_dense(rows)));
    }
    return apply(optimizer, own.items, variables);
}

static tw_variable *apply_all(tw_optimizer *optimizer, tw_tensors gradients, const tw_objects *variables, const char *name)
{
    bool any = false, sliced = false;
    if (gradients.count != variables->count) {
        tw__fail(TW_INVALID_ARGUMENT, "%s, apply_gradients: %lld gradients for %lld variables", optimizer->name,
                 (long long)gradients.count, (long long)variables->count);
        return NULL;
    }
    for (int64_t i = 0; i < variables->count; i++) {
        any |= gradients.items[i] != NULL;
        sliced |= gradients.items[i] && tw__slices_of(gradients.items[i]);
        if (!tw__is(variables->items[i], &tw__class_variable)) {
            tw__fail(TW_TYPE_ERROR, "%s, apply_gradients: item %lld is a %s, expected a variable", optimizer->name, (long long)i,
                     tw_class_name(variables->items[i]));
            return NULL;
        }
    }
    optimizer->own_step = tw__optimizer_has_own_step(optimizer);
    if (!optimizer->rate && !isnan(optimizer->settings.weight_decay)) {
        tw__optimizer_no_rate();
        return NULL;
    }
    if (follow_schedule(optimizer) != TW_OK)
        return NULL;
    if (!variables->count)
        return tw_retain(optimizer->iterations);
    if (!optimizer->built || tw__optimizer_is_legacy(optimizer)) { /* which may meet others later */
        if (tw__scope_push(name ? name : optimizer->name) != TW_OK)
            return NULL;
        tw_status status = tw__optimizer_build(optimizer, variables);
        tw__scope_pop();
        if (status != TW_OK)
            return NULL;
    }
    bool clips = tw__optimizer_clips(optimizer);
    tw_status status = !any              ? no_gradients(variables)
                       : clips || sliced ? apply_prepared(optimizer, gradients.items, variables, clips)
                                         : apply(optimizer, gradients.items, variables);
    tw__traced_end(optimizer);
    return status == TW_OK ? tw_retain(optimizer->iterations) : NULL;
}

/* Gradients are summed over the replicas; then each changes its own copies. Nothing of this replica may be under way when others
 * have their turn. */
static tw_variable *apply_in_replica(tw_optimizer *optimizer, tw_tensors gradients, const tw_objects *variables, const char *name)
{
    bool inside = optimizer->iterations->mirror != NULL;
    for (int64_t i = 0; inside && i < variables->count; i++)
        inside = !tw__is(variables->items[i], &tw__class_variable) || ((tw_variable *)variables->items[i])->mirror;
    if (!inside) {
        tw__fail(TW_VALUE_ERROR,
                 "%s: the optimizer, or a variable, was made outside of the scope of the strategy whose replicas use it",
                 optimizer->name);
        return NULL;
    }
    tw_tensors sums = { tw__alloc_array((size_t)gradients.count + 1, sizeof *sums.items), gradients.count };
    if (!sums.items)
        return NULL;
    tw_variable *step = NULL;
    if (tw_replica_all_reduce(false, gradients.items, (int)gradients.count, sums.items) == TW_OK)
        step = apply_all(optimizer, sums, variables, name);
    tw_tensors_free(&sums);
    return step;
}

/* Outside of replicas: one copy of everything after the other. */
static tw_variable *apply_to_copies(tw_optimizer *optimizer, tw_tensors gradients, const tw_objects *variables, const char *name)
{
    const tw__mirror *mirror = optimizer->iterations->mirror;
    tw_variable *step = NULL;
    for (int i = 0; i < mirror->count; i++) {
        tw_release(step);
        tw__mirrors_turn(mirror->strategy, i);
        step = apply_all(optimizer, gradients, variables, name);
        if (!step)
            break;
    }
    tw__mirrors_turn(mirror->strategy, 0);
    return step;
}

TW_METHOD(optimizer_apply_gradients,
          "keras.optimizers.Optimizer._apply_gradients(self: optimizer, gradients: tensors?, variables: list<variable>, "
          "name: str = None) -> variable",
          "Changes each variable by its gradient; one without a gradient (NULL) stays. Gives the step counter.")
{
    const tw__optimizer_methods *methods = tw__methods(args->self);
    if (methods && methods->apply_other)
        return methods->apply_other(args);
    const tw_variable *first =
        args->variables.count && tw__is(args->variables.items[0], &tw__class_variable) ? args->variables.items[0] : NULL;
    const tw__mirror *own = args->self->iterations->mirror;
    bool copies = own && own->count > 1 && first && first->mirror && first->mirror->strategy == own->strategy;
    return (tw__replica >= 0 && tw__replicas > 1 ? apply_in_replica
            : tw__replica < 0 && copies          ? apply_to_copies
                                                 : apply_all)(args->self, args->gradients, &args->variables, args->name);
}

TW_METHOD(optimizer_minimize,
          "keras.optimizers.Optimizer._minimize(self: optimizer, loss: tensor, var_list: list<variable>, tape: tape) -> variable",
          "Takes the gradients of a loss from its tape and applies them.")
{
    tw_tensors gradients = tw__optimizer_gradients(args->self, args->tape, args->loss, args->var_list);
    if (!gradients.items)
        return NULL;
    tw_variable *step = tw_optimizer_apply_gradients(args->self, gradients, args->var_list);
    tw_tensors_free(&gradients);
    return step;
}
