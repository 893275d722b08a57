/* keras.layers.Layer: the class that all layers and models begin with, and what happens when one is called.
 *
 *     call:  scope "name/" -> input cast and checked -> first time: build (weights) -> the class's call
 *
 * A subclass of an embedding language sets foreign_call, and then goes through the same steps itself. */
#include <thalweg/keras.h>

#include "function/tracer.h"
#include "graph/graph.h"
#include "keras/constraints/constraints.h"
#include "keras/initializers/initializers.h"
#include "keras/keras.h"
#include "keras/layers/allowance.h"
#include "keras/models/functional.h"
#include "keras/regularizers/regularizers.h"
#include "op/calls.h"

static tw_status layer_init(void *self, const void *given)
{
    tw_layer *layer = self;
    const tw_layer_args *args = given;
    layer->name = args->name ? tw__strdup(args->name) : tw__layer_auto_name(layer->trackable.object.class->name);
    if (!layer->name)
        return tw__error_status();
    bool told = args->dtype || tw__is(layer, &tw__class_layers_input_layer);
    tw_dtype policy = told ? args->dtype : tw__global_policy();
    if (!policy && tw__floatx() != TW_FLOAT32) /* of an InputLayer */
        policy = tw__floatx();
    layer->dtype = tw__policy_is_mixed(policy) || !policy ? TW_FLOAT32 : policy;
    layer->compute_dtype = tw__is(layer, &tw__class_metric) ? layer->dtype : tw__policy_compute(policy);
    layer->trainable = args->trainable;
    layer->last_axis = -1;
    if (!tw__is(layer, &tw__class_metric)) { /* whose methods are others */
        const tw__layer_methods *methods = tw__methods(layer);
        layer->supports_masking = methods->supports_masking;
        layer->minimum_rank = methods->minimum_rank;
    }
    layer->keeps_dtype = !args->autocast;
    layer->batch_input_shape = args->batch_input_shape;
    layer->dynamic = args->dynamic;
    if (args->batch_input_shape.rank < 0 && (args->input_shape.rank >= 0 || args->input_dim != TW_NO_INT)) {
        tw_shape *shape = &layer->batch_input_shape;
        if (args->input_shape.rank >= TW_MAX_RANK)
            return tw__fail(TW_INVALID_ARGUMENT, "Layer %s: input_shape has rank %d, expected at most %d", layer->name,
                            args->input_shape.rank, TW_MAX_RANK - 1);
        *shape = TW_SHAPE(args->batch_size == TW_NO_INT ? -1 : args->batch_size, args->input_dim);
        if (args->input_shape.rank >= 0) {
            shape->rank = args->input_shape.rank + 1;
            memcpy(&shape->dims[1], args->input_shape.dims, (size_t)args->input_shape.rank * sizeof shape->dims[0]);
        }
    }
    return TW_OK;
}

/* Names of initializers, regularizers, constraints and activations that are wrong are told here, not at the first call. */
static tw_status layer_settle(void *self, const void *given)
{
    (void)given;
    const tw_signature *signature = tw_class_signature(tw_class_of(self));
    const char *config = tw_object_config(self);
    static const struct {
        const char *word;
        tw_status (*check)(tw_named named);
    } kinds[] = { { "initializer", tw__initializer_check },
                  { "regularizer", tw__regularizer_check },
                  { "constraint", tw__constraint_check } };
    for (int i = 0; i < signature->field_count; i++) {
        const tw_field *field = &signature->fields[i];
        if (field->kind != TW_KIND_NAMED || !field->word)
            continue;
        tw_named *place = (tw_named *)(uintptr_t)(config + field->offset);
        if (strcmp(field->word, "activation") == 0)
            TW_TRY(tw__activation_settle(place));
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            if (strcmp(field->word, kinds[k].word) == 0)
                TW_TRY(kinds[k].check(*place));
        }
    }
    return tw__layer_find_activity_regularizer(self);
}

static void layer_visit(void *self, tw__visitor visitor, void *context)
{
    tw_layer *layer = self;
    tw__layer_losses_visit(layer, visitor, context);
    tw__layer_metrics_visit(layer, visitor, context);
    for (size_t i = 0; i < layer->extra_count; i++)
        visitor(context, &layer->extra[i]->trackable.object);
    tw__layer_nodes_visit(layer, visitor, context);
}

static void layer_clear(void *self)
{
    tw_layer *layer = self;
    tw__layer_losses_free(layer);
    tw__layer_metrics_free(layer);
    size_t count = layer->extra_count;
    tw_variable **extra = layer->extra;
    layer->extra = NULL;
    layer->extra_count = layer->extra_capacity = 0;
    for (size_t i = 0; i < count; i++)
        tw_release(extra[i]);
    tw__free(extra);
    tw_value_free(&layer->build_shape);
    tw_value_free(&layer->input_spec);
    tw__layer_nodes_free(layer);
}

static void layer_destroy(void *self)
{
    layer_clear(self);
}

static tw_tensor *identity_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)self, (void)training;
    return tw_retain(input);
}

static const tw__layer_methods layer_methods = { .call = identity_call };

TW_CLASS(
    layer,
    "keras.layers.Layer(trainable: bool = True, name: str = None, dtype: dtype<policy> = None, dynamic: bool = False, input_shape: shape = None, "
    "input_dim: int = None, batch_size: int = None, batch_input_shape: shape = None, weights: tensors = None, "
    "activity_regularizer: named<regularizer> = None since 0.2, autocast: bool = True since 0.2)",
    .parent = &tw__class_module, .size = sizeof(tw_layer), .init = layer_init, .settle = layer_settle, .destroy = layer_destroy,
    .visit = layer_visit, .clear = layer_clear, .methods = &layer_methods,
    .doc = "Weights and a function of tensors that uses them; the base of all layers.");

/* ---- calling ---- */

enum { DEEPEST = 256 };
static _Thread_local int call_depth;             /* calls of layers inside each other */
static _Thread_local uint8_t computing[DEEPEST]; /* what each of them computes in */

tw_status tw__layer_begin(tw_layer *layer)
{
    if (call_depth == DEEPEST)
        return tw__fail(TW_RESOURCE_EXHAUSTED, "Layer %s: more than %d calls of layers inside each other", layer->name, DEEPEST);
    if (call_depth == 0)
        tw__layer_clear_losses(layer);
    TW_TRY(tw__scope_open(layer->name, layer->at_root && !tw__in_lasting()));
    tw__autocast = layer->compute_dtype;
    computing[call_depth++] = (uint8_t)tw__autocast;
    return TW_OK;
}

void tw__layer_end(tw_layer *layer)
{
    (void)layer;
    call_depth--;
    tw__autocast = call_depth ? (tw_dtype)computing[call_depth - 1] : TW_DTYPE_NONE;
    tw__scope_pop();
}

_Thread_local bool tw__layer_any_batch;

/* A shape as an error tells it. */
static char *told_shape(const tw_shape *shape)
{
    tw_shape shown = *shape;
    if (tw__layer_any_batch && shown.rank > 0)
        shown.dims[0] = -1;
    return tw__shape_tuple(&shown);
}

tw_status tw__layer_wrong_shape(const tw_layer *layer, size_t at, const tw_shape *expected, const tw_shape *found)
{
    char *wanted = tw__shape_tuple(expected), *given = told_shape(found);
    tw__fail_because(TW_REASON_INPUTS, TW_VALUE_ERROR,
                     "Input %zu of layer \"%s\" is incompatible with the layer: expected shape=%s, found shape=%s", at,
                     layer->name, wanted ? wanted : "", given ? given : "");
    tw__free(wanted);
    tw__free(given);
    return tw__error_status();
}

static tw_status check_input(const tw_layer *layer, const tw_shape *shape)
{
    const char *expected = NULL;
    if (layer->input_spec.kind != TW_VALUE_NONE) /* what a program set comes before the class's own */
        return tw__input_spec_check(layer, &layer->input_spec, shape);
    if (shape->rank >= 0 && shape->rank < layer->minimum_rank)
        expected = "rank";
    else if (layer->last_axis >= 0 && shape->rank > 0 && shape->dims[shape->rank - 1] >= 0 &&
             shape->dims[shape->rank - 1] != layer->last_axis)
        expected = "axis";
    if (!expected)
        return TW_OK;
    tw__owned char *text = told_shape(shape);
    if (*expected == 'r')
        tw__fail_because(TW_REASON_INPUTS, TW_VALUE_ERROR,
                         "Input 0 of layer \"%s\" is incompatible with the layer: expected min_ndim=%d, found ndim=%d. "
                         "Full shape received: %s",
                         layer->name, layer->minimum_rank, shape->rank, text ? text : "");
    else
        tw__fail_because(
            TW_REASON_INPUTS, TW_VALUE_ERROR,
            "Input 0 of layer \"%s\" is incompatible with the layer: expected axis -1 of input shape to have value %lld, "
            "but received input with shape %s",
            layer->name, (long long)layer->last_axis, text ? text : "");
    return tw__error_status();
}

tw_tensor *tw__layer_input(tw_layer *layer, tw_tensor *input)
{
    if (check_input(layer, &input->shape) != TW_OK)
        return NULL;
    const tw__layer_methods *methods = tw__methods(layer);
    if (input->dtype == layer->compute_dtype || methods->any_dtype || layer->keeps_dtype || !tw__dtype_is_float(input->dtype) ||
        !tw__dtype_is_float(layer->compute_dtype))
        return tw_retain(input);
    tw_attr target = TW_A_TYPE("DstT", layer->compute_dtype);
    return TW_CALL(Cast, input, target);
}

static tw_status build(tw_layer *layer, const tw_shape *input_shape)
{
    const tw__layer_methods *methods = tw__methods(layer);
    if (methods->build)
        TW_TRY(methods->build(layer, input_shape));
    tw__layer_built_for(layer, tw__shape_value(input_shape));
    TW_TRY(tw__layer_take_weights(layer));
    layer->built = true;
    return TW_OK;
}

tw_status tw__layer_take_weights(tw_layer *layer)
{
    const tw_signature *signature = tw_class_signature(tw_class_of(layer));
    const void *config = tw_object_config(layer);
    tw_layer_args made = { 0 };
    if (!signature || !config || tw__is(layer, &tw__class_model))
        return TW_OK;
    tw__args_project(signature, config, &tw__signature_layer, &made);
    if (!made.weights.count)
        return TW_OK;
    tw__outside outside = tw__root_begin();
    tw_status status = tw__impl_layer_set_weights(&(tw_layer_set_weights_args){ .self = layer, .weights = made.weights });
    tw__outside_end(outside);
    return status;
}

tw_status tw__layer_build(tw_layer *layer, const tw_shape *input_shape)
{
    if (layer->built)
        return TW_OK;
    tw__tracing_begin();
    tw_status status = layer->built ? TW_OK : build(layer, input_shape); /* another thread may have built it meanwhile */
    tw__tracing_end();
    return status;
}

void tw__layer_built_for(tw_layer *layer, tw_value shapes)
{
    tw_value_free(&layer->build_shape);
    layer->build_shape = shapes;
}

tw_tensor *tw__layer_call(tw_layer *layer, tw_tensor *input, int training)
{
    if (!layer || !input) {
        tw__fail(TW_INVALID_ARGUMENT, "calling a layer: the %s is NULL", layer ? "input" : "layer");
        return NULL;
    }
    if (training < 0)
        training = tw__learning_phase();
    if (layer->foreign_call)
        return layer->foreign_call(layer, input, training);
    const tw__layer_methods *methods = tw__methods(layer);
    if (methods->call_values) {
        tw_value given = { .kind = TW_VALUE_TENSOR, .tensor = input };
        tw_value result = tw__layer_call_values(layer, &given, 1, training);
        if (result.kind == TW_VALUE_TENSOR)
            return result.tensor;
        if (result.kind != TW_VALUE_NONE)
            tw__fail(TW_VALUE_ERROR, "%s \"%s\" gives several tensors where one is expected", tw_class_name(layer), layer->name);
        tw_value_free(&result);
        return NULL;
    }
    if (!methods->call) {
        tw__fail(TW_NOT_IMPLEMENTED_ERROR, "a %s can't be called with one input", tw_class_name(layer));
        return NULL;
    }
    tw_tensor *ready = tw__layer_input(layer, input), *output = NULL;
    if (!ready)
        return NULL;
    tw__model_called(layer, &TW_LEAF(ready));
    if (tw__layer_begin(layer) == TW_OK) {
        if (tw__layer_build(layer, &ready->shape) == TW_OK)
            output = methods->call(layer, ready, training);
        if (!output && layer->built)
            tw__layer_explain(layer, NULL, &(tw_value){ .kind = TW_VALUE_TENSOR, .tensor = ready }, 1);
        if (output && tw__layer_finish(layer, input, tw__mask_of(input), output) != TW_OK) {
            tw_release(output);
            output = NULL;
        }
        tw__layer_end(layer);
    }
    tw_release(ready);
    return output;
}

/* Runs the layer on zeros, with 1 for every dimension that is not known. */
tw_status tw__layer_run_on_zeros(tw_layer *layer, const tw_shape *input_shape, tw_shape *output_shape)
{
    tw_shape shape = *input_shape;
    if (shape.rank < 0)
        return tw__fail(TW_VALUE_ERROR, "layer \"%s\" can't be built: the rank of its input is not known", layer->name);
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = shape.dims[i] < 0 ? 1 : shape.dims[i];
    TW_TRY(tw__weights_check_input(layer->name, &shape));
    tw__outside outside = tw__root_begin();
    tw_tensor *zeros = tw_tensor_new(layer->compute_dtype, shape, NULL);
    tw_auto tw_tensor *output = zeros ? tw__layer_call(layer, zeros, 0) : NULL;
    tw__outside_end(outside);
    tw_release(zeros);
    if (!output)
        return tw__error_status();
    *output_shape = output->shape;
    if (output_shape->rank > 0 && input_shape->rank > 0 && input_shape->dims[0] < 0)
        output_shape->dims[0] = -1;
    return TW_OK;
}

tw_status tw__layer_output_shape(tw_layer *layer, const tw_shape *input_shape, tw_shape *output_shape)
{
    const tw__layer_methods *methods = tw__methods(layer);
    bool known = !layer->foreign_call && (methods->output_shape || !tw__is(layer, &tw__class_model));
    if (!known)
        return tw__layer_run_on_zeros(layer, input_shape, output_shape);
    TW_TRY(check_input(layer, input_shape));
    TW_TRY(tw__layer_begin(layer));
    tw_status status = tw__layer_build(layer, input_shape);
    tw__layer_end(layer);
    TW_TRY(status);
    if (methods->output_shape && input_shape->rank >= 0) /* of an unknown rank nothing is known */
        return methods->output_shape(layer, input_shape, output_shape);
    *output_shape = *input_shape;
    return TW_OK;
}

/* ---- weights ---- */

static tw_status keep(tw_layer *layer, void *variable)
{
    for (size_t i = 0; i < layer->extra_count; i++) {
        if (layer->extra[i] == variable)
            return TW_OK;
    }
    TW_TRY(TW_GROW(layer->extra, layer->extra_capacity, layer->extra_count + 1));
    layer->extra[layer->extra_count++] = tw_retain(variable);
    return TW_OK;
}

/* Tracks the variable. One that had the name stays a weight of the layer, and the order of all is kept. */
static tw_status track_weight(tw_layer *layer, const char *name, tw_variable *variable)
{
    tw_trackable *old = tw__tracked(&layer->trackable, name);
    bool replaced = old && tw__is(old, &tw__class_variable);
    for (size_t i = 0; (replaced || layer->extra_count) && i < layer->trackable.child_count; i++) {
        tw_object *child = layer->trackable.children[i].object;
        if (tw__is(child, &tw__class_variable))
            TW_TRY(keep(layer, child));
    }
    TW_TRY(tw__track(&layer->trackable, name, variable));
    return layer->extra_count ? keep(layer, variable) : TW_OK;
}

/* What the layer's arguments name for a weight: kernel_constraint for kernel, depthwise_constraint for depthwise_kernel;
 * "_regularizer" alike. */
static tw_named named_for(const tw_layer *layer, const char *name, const char *suffix)
{
    const tw_signature *signature = tw_class_signature(tw_class_of(layer));
    const void *config = tw_object_config(layer);
    for (int i = 0; signature && config && i < signature->field_count; i++) {
        const tw_field *field = &signature->fields[i];
        size_t size = strlen(field->name);
        if (field->kind != TW_KIND_NAMED || !tw__ends_with(field->name, suffix))
            continue;
        tw_named named = *(const tw_named *)((const char *)config + field->offset);
        size -= strlen(suffix);
        if (named && strncmp(name, field->name, size) == 0 && (!name[size] || strcmp(name + size, "_kernel") == 0))
            return named;
    }
    return NULL;
}

static tw_status constrain(tw_layer *layer, const char *name, tw_variable *variable)
{
    tw_named constraint = named_for(layer, name, "_constraint"), regularizer = named_for(layer, name, "_regularizer");
    if (constraint && !(variable->constraint = tw__constraint_get(constraint)))
        return tw__error_status();
    return regularizer ? tw__layer_regularize(layer, variable, regularizer) : TW_OK;
}

tw_variable *tw__layer_add_weight(tw_layer *layer, const char *name, const tw_shape *shape, tw_dtype dtype, tw_named initializer,
                                  bool trainable)
{
    if (!dtype)
        dtype = layer->dtype;
    if (!name)
        name = "Variable";
    tw_shape whole = shape->rank < 0 ? TW_SCALAR : *shape;
    if (!tw__shape_known(&whole)) {
        tw__fail(TW_VALUE_ERROR, "layer \"%s\", add_weight: the shape %s of `%s` is not complete", layer->name,
                 tw__shape_text(&whole), name);
        return NULL;
    }
    if (tw__weights_take(layer->name, name, &whole) != TW_OK)
        return NULL;
    if (layer->make_weight) {
        tw_auto tw_variable *made = layer->make_weight(layer, name, &whole, dtype, trainable);
        return made && track_weight(layer, name, made) == TW_OK ? made : NULL;
    }
    if (!initializer)
        initializer = tw__dtype_is_float(dtype) ? "glorot_uniform" : "zeros";
    tw__outside outside = tw__root_begin();
    tw_initializer *maker = tw__initializer_get(initializer);
    char *full = maker ? tw__format("%s%s", tw__variable_scope(), name) : NULL;
    tw__part part = full ? tw__first_value_begin(full) : (tw__part){ 0 };
    tw_tensor *value = full ? tw__initializer_make(maker, &whole, dtype) : NULL;
    bool made = tw__first_value_end(&part) == TW_OK && value;
    tw__outside_end(outside);
    tw_variable *variable = made ? tw__variable_new(value, full, trainable, &whole) : NULL;
    tw__free(full);
    tw_release(value);
    tw_release(maker);
    if (!variable)
        return NULL;
    if (tw__is(layer, &tw__class_metric)) { /* each replica counts for itself */
        variable->synchronization = TW_SYNCHRONIZE_ON_READ;
        variable->aggregation = TW_AGGREGATE_SUM;
    }
    variable->autocasts = layer->compute_dtype != layer->dtype && tw__dtype_is_float(dtype);
    tw_status status = constrain(layer, name, variable);
    if (status == TW_OK)
        status = track_weight(layer, name, variable);
    tw_release(variable);
    return status == TW_OK ? variable : NULL;
}

tw_status tw__layer_add_part(tw_layer *layer, const char *name, const tw_shape *shape)
{
    return tw__layer_add_weight(layer, name, shape, layer->dtype, named_for(layer, name, "_initializer"), true)
               ? TW_OK
               : tw__error_status();
}

TW_METHOD(layer_own_call, "keras.layers.Layer.call(self: layer, inputs: tensor, training: value = None) -> tensor",
          "What the layer computes, without what a call of it does besides.\n"
          "inputs: a tensor, or several in a list, tuple or dict\n"
          "training: whether the layer trains; None: as the call around it says")
{
    const tw_value *training = &args->training;
    int said = training->kind == TW_VALUE_BOOL ? training->b : training->kind == TW_VALUE_INT ? training->i != 0 : -1;
    const tw__layer_methods *methods = tw__methods(args->self);
    if (check_input(args->self, &args->inputs->shape) != TW_OK ||
        (!args->self->built && tw__layer_build(args->self, &args->inputs->shape) != TW_OK))
        return NULL;
    if (methods->call_values) {
        tw_value given[8] = { { .kind = TW_VALUE_TENSOR, .tensor = args->inputs } },
                 result = methods->call_values(args->self, given, said);
        if (result.kind == TW_VALUE_TENSOR)
            return result.tensor;
        if (result.kind != TW_VALUE_NONE)
            tw__fail(TW_NOT_IMPLEMENTED_ERROR, "a %s gives several tensors: call the layer itself", tw_class_name(args->self));
        tw_value_free(&result);
        return NULL;
    }
    if (!methods->call)
        tw__fail(TW_NOT_IMPLEMENTED_ERROR, "a %s can't be called with one input", tw_class_name(args->self));
    return methods->call ? methods->call(args->self, args->inputs, said) : NULL;
}

tw_tensor *tw_layer_call(tw_layer *layer, tw_tensor *input)
{
    bool good = tw__check(layer, &tw__class_layer, "tw_layer_call") && tw__check(input, &tw__tensor_class, "tw_layer_call");
    return good ? tw__layer_call(layer, input, -1) : NULL;
}
