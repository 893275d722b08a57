/* Optimizers with steps of the program's own: classes of an embedding language below Optimizer (build, update_step) and below
 * legacy.Optimizer (_create_slots, _resource_apply_dense); and what such classes are written with: variables, a learning rate.
 *
 * The base does the rest for them as for the library's classes: clipping, decay, averages, the counter, replicas, files. */
#include <string.h>

#include "base/language.h"
#include "eager/eager.h"
#include "graph/graph.h"
#include "keras/initializers/initializers.h"
#include "keras/optimizers/optimizers.h"
#include "op/calls.h"
#include "op/slices.h"

/* ---- methods of the program ---- */

bool tw__optimizer_overrides(const tw_optimizer *optimizer, const char *method)
{
    return optimizer->trackable.object.peer && tw__language.overrides && tw__language.overrides(optimizer, method);
}

bool tw__optimizer_has_own_step(const tw_optimizer *optimizer)
{
    static const char *const names[] = { "_resource_apply_dense", "_resource_apply_sparse" };
    return tw__optimizer_is_legacy(optimizer)
               ? tw__optimizer_overrides(optimizer, names[0]) || tw__optimizer_overrides(optimizer, names[1])
               : tw__optimizer_overrides(optimizer, "update_step");
}

static tw_value list_of(const tw_objects *objects)
{
    tw_value list = { .kind = TW_VALUE_LIST, .list = { tw__alloc_array((size_t)objects->count + 1, sizeof(tw_value)), 0 } };
    for (int64_t i = 0; list.list.items && i < objects->count; i++)
        list.list.items[list.list.count++] = (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(objects->items[i]) };
    return list;
}

static tw_status call(tw_optimizer *optimizer, const char *method, tw_value *items, int count)
{
    bool own;
    tw_value tuple = { .kind = TW_VALUE_TUPLE, .list = { items, count } };
    return tw__language.method(optimizer, method, &tuple, NULL, NULL, &own);
}

tw_status tw__optimizer_build(tw_optimizer *optimizer, const tw_objects *variables)
{
    bool legacy = tw__optimizer_is_legacy(optimizer);
    const char *method = legacy ? "_create_slots" : "build";
    tw_optimizer_build_args args = { .self = optimizer, .var_list = *variables };
    bool own = tw__optimizer_overrides(optimizer, method);
    if (legacy || !own)
        TW_TRY(tw__impl_optimizer_build(&args));
    if (!own)
        return TW_OK;
    tw__outside outside = tw__outside_begin();
    tw_value list = list_of(variables);
    tw_status status = list.list.items ? call(optimizer, legacy ? "_create_all_weights" : method, &list, 1) : tw__error_status();
    tw_value_free(&list);
    tw__outside_end(outside);
    return status;
}

tw_status tw__optimizer_prepare(tw_optimizer *optimizer, const tw_objects *variables)
{
    if (!optimizer->own_step || !tw__optimizer_is_legacy(optimizer))
        return TW_OK;
    tw_value list = list_of(variables);
    tw_status status = list.list.items ? call(optimizer, "_prepare_own", &list, 1) : tw__error_status();
    tw_value_free(&list);
    return status;
}

tw_status tw__optimizer_own_step(tw_optimizer *optimizer, tw_variable *variable, tw_tensor *gradient)
{
    struct tw_indexed_slices *slices = tw__slices_of(gradient);
    tw_value items[] = { { .kind = TW_VALUE_TENSOR, .tensor = gradient }, { .kind = TW_VALUE_OBJECT, .object = variable } };
    if (slices)
        items[0] = (tw_value){ .kind = TW_VALUE_OBJECT, .object = slices };
    return call(optimizer, tw__optimizer_is_legacy(optimizer) ? "_apply_own" : "update_step", items, 2);
}

tw_status tw__optimizer_own_minimize(tw_optimizer *optimizer, struct tw_tape *tape, tw_tensor *loss, const tw_objects *variables,
                                     bool *own)
{
    static const char *const methods[] = { "minimize", "compute_gradients", "_compute_gradients", "apply_gradients" };
    *own = false;
    for (size_t i = 0; !*own && optimizer->trackable.object.peer && i < sizeof methods / sizeof *methods; i++)
        *own = tw__optimizer_overrides(optimizer, methods[i]);
    if (!*own)
        return TW_OK;
    tw_value items[] = { { .kind = TW_VALUE_TENSOR, .tensor = loss },
                         list_of(variables),
                         { .kind = TW_VALUE_OBJECT, .object = tape } };
    tw_status status = items[1].list.items ? call(optimizer, "_minimize_loss", items, 3) : tw__error_status();
    tw_value_free(&items[1]);
    return status;
}

/* ---- the library's step, for classes that change what comes before or behind it ---- */

static tw_status library_step(tw_optimizer *optimizer, tw_tensor *gradient, tw_variable *variable)
{
    tw_status status = tw__optimizer_update(optimizer, -1, variable, gradient);
    tw__traced_end(optimizer);
    return status;
}

TW_METHOD(optimizer_update_step, "keras.optimizers.Optimizer.update_step(self: optimizer, gradient: value, variable: variable)",
          "Changes one variable by its gradient: what a class of the program's own has in its place.\n"
          "gradient: the gradient: a tensor, or `tf.IndexedSlices`\n"
          "variable: the variable")
{
    const tw_value *gradient = &args->gradient;
    if (gradient->kind == TW_VALUE_TENSOR)
        return library_step(args->self, gradient->tensor, args->variable);
    if (gradient->kind != TW_VALUE_OBJECT || !tw__is(gradient->object, &tw__class_indexed_slices))
        return tw__fail(TW_TYPE_ERROR, "%s, update_step: the gradient is no tensor", args->self->name);
    tw_auto tw_tensor *wrapped = tw__slices_wrap((struct tw_indexed_slices *)gradient->object);
    return wrapped ? library_step(args->self, wrapped, args->variable) : tw__error_status();
}

TW_METHOD(legacy_optimizer_resource_apply_dense,
          "keras.optimizers.legacy.Optimizer._resource_apply_dense(self: optimizer, grad: tensor, handle: variable, "
          "apply_state: value = None)",
          "Changes one variable by its gradient: what a class of the program's own has in its place.")
{
    return library_step(args->self, args->grad, args->handle);
}

TW_METHOD(legacy_optimizer_resource_apply_sparse,
          "keras.optimizers.legacy.Optimizer._resource_apply_sparse(self: optimizer, grad: tensor, handle: variable, "
          "indices: tensor, apply_state: value = None)",
          "The same by some rows of the gradient.")
{
    tw_auto tw_tensor *slices = tw__slices_make(args->grad, args->indices, NULL);
    return slices ? library_step(args->self, slices, args->handle) : tw__error_status();
}

TW_METHOD(legacy_optimizer_create_slots,
          "keras.optimizers.legacy.Optimizer._create_slots(self: optimizer, var_list: list<variable>)",
          "Makes what the optimizer keeps for variables; a class of the program's own calls add_slot.")
{
    return tw__impl_optimizer_build(&(tw_optimizer_build_args){ .self = args->self, .var_list = args->var_list });
}

/* ---- variables ---- */

static tw_variable *add(tw_optimizer *optimizer, tw_tensor *value, const char *name)
{
    TW_TEMPS(t);
    char *full = tw__temp_memory(t, tw__format("%s%s", tw__variable_scope(), name));
    tw_variable *made = value && full ? tw__variable_new(value, full, false, NULL) : NULL;
    if (made && optimizer->all && tw__container_append(optimizer->all, made) != TW_OK) {
        tw_release(made);
        return NULL;
    }
    return made;
}

static tw_tensor *zeros_of(const tw_shape *shape, tw_dtype dtype)
{
    TW_TEMPS(t);
    tw_tensor *zero = tw__temp(t, tw_tensor_new(dtype, TW_SCALAR, NULL));
    tw_tensor *dims = tw__temp(t, tw__tensor_of_shape(shape, TW_INT32));
    return zero && dims ? TW_CALL(Fill, dims, zero) : NULL;
}

static tw_tensor *initial_of(tw_named named, tw_shape shape, tw_dtype dtype)
{
    tw_auto tw_initializer *initializer = tw__initializer_get(named);
    if (shape.rank < 0)
        shape = (tw_shape){ 0 };
    return initializer ? tw__initializer_make(initializer, &shape, dtype) : NULL;
}

TW_METHOD(optimizer_add_variable,
          "keras.optimizers.Optimizer.add_variable(self: optimizer, shape: shape, dtype: dtype = None, "
          "initializer: named<initializer> = zeros, name: str = None) -> variable",
          "A variable that the optimizer keeps; no dtype means float32.\n"
          "shape: the shape of the variable\n"
          "dtype: the dtype of the variable; None: float32\n"
          "name: the name of the variable")
{
    tw__outside outside = tw__outside_begin();
    tw_auto tw_tensor *value = initial_of(args->initializer, args->shape, args->dtype ? args->dtype : TW_FLOAT32);
    tw_variable *made = value ? add(args->self, value, args->name ? args->name : "Variable") : NULL;
    tw__outside_end(outside);
    return made;
}

TW_METHOD(optimizer_add_variable_from_reference,
          "keras.optimizers.Optimizer.add_variable_from_reference(self: optimizer, model_variable: variable, variable_name: str, "
          "shape: shape = None, initial_value: tensor = None) -> variable",
          "A variable that the optimizer keeps beside one of the model's: of its dtype, and of its shape if none is given; zeros "
          "unless there is a value.\n"
          "model_variable: the variable of the model\n"
          "variable_name: what the name of the new variable begins with\n"
          "shape: its shape; None: that of the model's variable\n"
          "initial_value: its first value; None: zeros")
{
    TW_TEMPS(t);
    const tw__resource *resource = tw__variable_itself(args->model_variable)->resource;
    tw__outside outside = tw__outside_begin();
    tw_tensor *value =
        tw__temp(t, args->initial_value ? tw__cast(args->initial_value, resource->dtype)
                                        : zeros_of(args->shape.rank < 0 ? &resource->shape : &args->shape, resource->dtype));
    char *name = tw__temp_memory(t, tw__format("%s/%s", args->variable_name, resource->name));
    tw_variable *made = value && name ? add(args->self, value, name) : NULL;
    tw__outside_end(outside);
    return made;
}

TW_METHOD(legacy_optimizer_add_weight,
          "keras.optimizers.legacy.Optimizer._add_weight(self: optimizer, name: str, initializer: named<initializer> = zeros, "
          "shape: shape = None, dtype: dtype = None, trainable: bool = False) -> variable",
          "A variable that the optimizer keeps, which is a child of that name, but none of its weights.")
{
    if (!args->name) {
        tw__fail(TW_TYPE_ERROR, "add_weight: name is None, expected a str");
        return NULL;
    }
    TW_TEMPS(t);
    tw__outside outside = tw__outside_begin();
    tw_tensor *value = tw__temp(t, initial_of(args->initializer, args->shape, args->dtype ? args->dtype : TW_FLOAT32));
    char *name = tw__temp_memory(t, tw__format("%s/%s", args->self->name, args->name));
    tw_variable *made = value && name ? tw__variable_new(value, name, args->trainable, NULL) : NULL;
    tw__outside_end(outside);
    if (made && tw__track(&args->self->trackable, args->name, made) != TW_OK) {
        tw_release(made);
        return NULL;
    }
    return made;
}

TW_METHOD(legacy_optimizer_add_slot,
          "keras.optimizers.legacy.Optimizer.add_slot(self: optimizer, var: variable, slot_name: str, "
          "initializer: named<initializer> = zeros, shape: shape = None) -> variable",
          "What the optimizer keeps for a variable under that name; made if it is not there yet.\n"
          "var: the variable\n"
          "slot_name: the name of what is kept\n"
          "initializer: what makes its first values\n"
          "shape: its shape; None: that of the variable")
{
    TW_TEMPS(t);
    tw_optimizer *optimizer = args->self;
    tw_variable *variable = tw__variable_itself(args->var);
    const tw__resource *resource = variable->resource;
    tw_trackable *known = tw__tracked_slot(&optimizer->trackable, variable, args->slot_name, strlen(args->slot_name));
    if (known)
        return tw_retain((tw_variable *)known);
    tw__outside outside = tw__outside_begin();
    tw_tensor *value =
        tw__temp(t, initial_of(args->initializer, args->shape.rank < 0 ? resource->shape : args->shape, resource->dtype));
    char *name = tw__temp_memory(t, tw__format("%s/%s/%s", optimizer->name, resource->name, args->slot_name));
    tw_variable *slot = value && name ? tw__temp(t, tw__variable_new(value, name, false, NULL)) : NULL;
    tw__outside_end(outside);
    if (!slot || tw__container_append(optimizer->all, slot) != TW_OK ||
        tw__track_slot(&optimizer->trackable, variable, args->slot_name, slot) != TW_OK)
        return NULL;
    return tw_retain(slot);
}

/* ---- learning rate, places, decay ---- */

TW_METHOD(optimizer_make_rate, "keras.optimizers.Optimizer._make_rate(self: optimizer, learning_rate: number)",
          "Gives an optimizer of the program's own its learning rate: a number or a schedule.")
{
    if (args->learning_rate_object && tw__is(args->learning_rate_object, &tw__class_variable)) {
        tw__set(&args->self->rate, args->learning_rate_object);
        return TW_OK;
    }
    tw__set(&args->self->rate, NULL);
    tw__set(&args->self->schedule, NULL);
    return tw__optimizer_make_rate(args->self, args->learning_rate, args->learning_rate_object);
}

TW_METHOD(optimizer_is_built, "keras.optimizers.Optimizer._is_built(self: optimizer) -> bool", "Whether its variables were made.")
{
    return args->self->built;
}

TW_METHOD(optimizer_set_is_built, "keras.optimizers.Optimizer._set_is_built(self: optimizer, value: bool)",
          "Says that its variables were made.")
{
    args->self->built = args->value;
    return TW_OK;
}

TW_METHOD(optimizer_trained, "keras.optimizers.Optimizer._trained(self: optimizer) -> list<variable>",
          "The variables that build() was given.")
{
    int64_t count = args->self->trained_count;
    void **items = tw__alloc_array((size_t)count + 1, sizeof *items);
    for (int64_t i = 0; items && i < count; i++)
        items[i] = tw_retain(args->self->trained[i]);
    return (tw_objects){ items, items ? count : 0 };
}

TW_METHOD(optimizer_exclude_from_weight_decay,
          "keras.optimizers.Optimizer.exclude_from_weight_decay(self: optimizer, var_list: list<variable> = None, "
          "var_names: value = None)",
          "Says before build() which variables weight_decay leaves alone: these, and those with one of the expressions in their "
          "names.\n"
          "var_list: variables that keep their weights\n"
          "var_names: regular expressions; a variable whose name has one of them in it keeps its weights")
{
    tw_optimizer *optimizer = args->self;
    if (optimizer->built)
        return tw__fail(TW_VALUE_ERROR, "`exclude_from_weight_decay()` can only be configued before the optimizer is built.");
    bool list = args->var_names.kind == TW_VALUE_LIST || args->var_names.kind == TW_VALUE_TUPLE;
    for (int64_t i = 0; list && i < args->var_names.list.count; i++)
        list = args->var_names.list.items[i].kind == TW_VALUE_STR;
    if (!list && args->var_names.kind != TW_VALUE_NONE)
        return tw__fail(TW_TYPE_ERROR, "%s, exclude_from_weight_decay: var_names must be a list of strings", optimizer->name);
    tw_value_free(&optimizer->undecayed_names);
    optimizer->undecayed_names = tw__value_copy(&args->var_names);
    tw__set(&optimizer->undecayed, NULL);
    optimizer->undecayed = tw__container_new();
    TW_NEED(optimizer->undecayed);
    for (int64_t i = 0; i < args->var_list.count; i++)
        TW_TRY(tw__container_append(optimizer->undecayed, tw__variable_itself(args->var_list.items[i])));
    return TW_OK;
}

/* Whether the expression is found in the name: 1, 0, or -1 after a failure. */
static int found(const char *expression, const char *name)
{
    TW_TEMPS(t);
    char *whole = tw__temp_memory(t, tw__format(".*(?:%s).*", expression));
    tw__outside outside = tw__outside_begin();
    tw_tensor *text = tw__temp(t, tw_tensor_string(name, strlen(name))),
              *pattern = whole ? tw__temp(t, tw_tensor_string(whole, strlen(whole))) : NULL;
    tw_tensor *match = text && pattern ? tw__temp(t, tw_strings_regex_full_match(text, pattern)) : NULL;
    tw__outside_end(outside);
    return match ? tw_tensor_int_at(match, 0) != 0 : -1;
}

int tw__optimizer_decays(const tw_optimizer *optimizer, tw_variable *variable)
{
    const tw_trackable *list = optimizer->undecayed;
    const tw_value *names = &optimizer->undecayed_names;
    for (size_t i = 0; list && i < list->child_count; i++) {
        if ((const void *)list->children[i].object == tw__variable_itself(variable))
            return 0;
    }
    for (int64_t i = 0; names->kind != TW_VALUE_NONE && i < names->list.count; i++) {
        int in_name = found(names->list.items[i].s.data, variable->name);
        if (in_name)
            return in_name < 0 ? -1 : 0;
    }
    return 1;
}
