/* What every layer and model answers: its name, state, weights. */
#include "keras/constraints/constraints.h"
#include "keras/keras.h"
#include "keras/layers/preprocessing/preprocessing.h"
#include "keras/regularizers/regularizers.h"
#include "op/calls.h"

static tw_objects retain_all(tw_status status, void **items, int64_t count)
{
    if (status != TW_OK)
        return (tw_objects){ 0 };
    for (int64_t i = 0; i < count; i++)
        tw_retain(items[i]);
    return (tw_objects){ items, count };
}

static tw_objects variables_of(tw_layer *layer, tw__which which)
{
    if (tw__is(layer, &tw__class_sequential) && !layer->built) {
        tw__fail(TW_VALUE_ERROR,
                 "Weights for model '%s' have not yet been created. Weights are created when the model is first called on "
                 "inputs or `build()` is called with an `input_shape`.",
                 layer->name);
        return (tw_objects){ 0 };
    }
    tw_variable **variables;
    int64_t count;
    tw_status status = tw__collect_variables(&layer->trackable, which, &variables, &count);
    return retain_all(status, (void **)variables, count);
}

TW_PROPERTY(layer_variables, "keras.layers.Layer.variables|keras.layers.Layer.weights(self: layer) -> list<variable>",
            "All variables, each once.")
{
    return variables_of(args->self, TW_ALL_VARIABLES);
}

TW_PROPERTY(layer_trainable_variables,
            "keras.layers.Layer.trainable_variables|keras.layers.Layer.trainable_weights(self: layer) -> list<variable>",
            "The variables that training changes.")
{
    return variables_of(args->self, TW_TRAINABLE_VARIABLES);
}

TW_PROPERTY(layer_non_trainable_variables,
            "keras.layers.Layer.non_trainable_variables|keras.layers.Layer.non_trainable_weights(self: layer) -> list<variable>",
            "The variables that training leaves alone.")
{
    return variables_of(args->self, TW_NON_TRAINABLE_VARIABLES);
}

TW_PROPERTY(layer_name, "keras.layers.Layer.name(self: layer) -> str", "The name, as it stands in front of the variables' names.")
{
    return tw__strdup(args->self->name);
}

TW_METHOD(layer_set_name, "keras.layers.Layer._set_name(self: layer, value: str)",
          "Renames the layer; variables keep their names.")
{
    char *name = tw__strdup(args->value);
    if (!name)
        return TW_RESOURCE_EXHAUSTED;
    tw__free(args->self->name);
    args->self->name = name;
    return TW_OK;
}

TW_METHOD(layer_name_scope, "keras.layers.Layer.name_scope(self: layer) -> str", "The beginning of its variables' names.")
{
    return tw__format("%s/", args->self->name);
}

TW_PROPERTY(layer_built, "keras.layers.Layer.built(self: layer) -> bool", "Whether the weights have been made.")
{
    return args->self->built;
}

TW_METHOD(layer_set_built, "keras.layers.Layer._set_built(self: layer, value: bool)", "Says whether the weights have been made.")
{
    args->self->built = args->value;
    return TW_OK;
}

TW_METHOD(layer_build_shape, "keras.layers.Layer._build_shape(self: layer) -> value", "The shape that it was built for, or None.")
{
    return tw__value_copy(&args->self->build_shape);
}

TW_PROPERTY(layer_trainable, "keras.layers.Layer.trainable(self: layer) -> bool", "Whether training may change the variables.")
{
    return args->self->trainable;
}

TW_METHOD(layer_set_trainable, "keras.layers.Layer._set_trainable(self: layer, value: bool)",
          "Freezes or frees the layer and all layers below it.")
{
    tw_layer **layers;
    int64_t count;
    TW_TRY(tw__collect_layers(&args->self->trackable, true, &layers, &count));
    args->self->trainable = args->value;
    for (int64_t i = 0; i < count; i++)
        layers[i]->trainable = args->value;
    tw__free(layers);
    return TW_OK;
}

TW_PROPERTY(layer_dtype,
            "keras.layers.Layer.dtype|keras.layers.Layer.variable_dtype|keras.layers.Layer._dtype(self: layer) -> str",
            "The dtype of the variables, by name.")
{
    return tw__strdup(tw_dtype_name(args->self->dtype));
}

TW_PROPERTY(model_layers, "keras.Model.layers(self: layer) -> list<layer>", "The layers directly below.")
{
    tw_layer **layers;
    int64_t count;
    tw_status status = tw__collect_layers(&args->self->trackable, false, &layers, &count);
    return retain_all(status, (void **)layers, count);
}

TW_METHOD(layer_build, "keras.layers.Layer.build(self: layer, input_shape: shape)", "Makes the weights for inputs of that shape.")
{
    tw_layer *layer = args->self;
    if (layer->built)
        return TW_OK;
    return tw__layer_build(layer, &args->input_shape);
}

TW_METHOD(layer_compute_output_shape, "keras.layers.Layer.compute_output_shape(self: layer, input_shape: shape) -> shape",
          "The shape of the output for inputs of that shape.")
{
    tw_shape shape;
    return tw__layer_output_shape(args->self, &args->input_shape, &shape) == TW_OK ? shape : TW_UNKNOWN_SHAPE;
}

/* As Variable's; how the copies of replicas are kept. */
#define COPIES                                                                \
    "synchronization: str {AUTO, NONE, ON_WRITE, ON_READ} = AUTO since 0.2, " \
    "aggregation: str {NONE, SUM, MEAN, ONLY_FIRST_REPLICA} = NONE since 0.2"

TW_METHOD(
    layer_add_weight,
    "keras.layers.Layer.add_weight|keras.layers.Layer.add_variable(self: layer, name: str = None, shape: shape = None, dtype: dtype = None, "
    "initializer: named<initializer> = None, regularizer: named<regularizer> = None, trainable: bool = True shown None, "
    "constraint: named<constraint> = None, use_resource: bool = True shown None since 0.2, " COPIES
    ", *, experimental_autocast: bool = True since 0.2) -> variable",
    "Makes a variable and tracks it under its name.\n"
    "name: the name of the variable\n"
    "shape: the shape of the variable\n"
    "dtype: the dtype of the variable; None: that of the layer's weights\n"
    "trainable: whether training changes the variable; None: True, unless `synchronization` is ON_READ\n"
    "use_resource: kept for old programs; variables are always resources\n"
    "experimental_autocast: False: reading the variable does not cast it to the layer's compute dtype")
{
    if (tw__regularizer_check(args->regularizer) != TW_OK)
        return NULL;
    if (tw__constraint_check(args->constraint) != TW_OK)
        return NULL;
    bool apart = args->synchronization && strcmp(args->synchronization, "ON_READ") == 0;
    bool trainable = args->trainable && !apart && !tw__is(args->self, &tw__class_metric);
    tw_variable *variable = tw__layer_add_weight(args->self, args->name, &args->shape, args->dtype, args->initializer, trainable);
    if (variable && !tw__is(args->self, &tw__class_metric))
        tw__variable_keep_copies(variable, args->synchronization, args->aggregation);
    if (variable && !args->experimental_autocast)
        variable->autocasts = false;
    if (variable && args->constraint) {
        tw_auto tw_callable *constraint = tw__constraint_get(args->constraint);
        tw__set(&variable->constraint, constraint);
    }
    if (variable && args->regularizer && tw__layer_regularize(args->self, variable, args->regularizer) != TW_OK)
        return NULL;
    return tw_retain(variable);
}

TW_METHOD(metric_make_weight,
          "keras.metrics.Metric.add_weight(self: metric, name: str, shape: shape = (), "
          "aggregation: str {NONE, SUM, MEAN, ONLY_FIRST_REPLICA} = SUM, "
          "synchronization: str {AUTO, NONE, ON_WRITE, ON_READ} = ON_READ, initializer: named<initializer> = None, "
          "dtype: dtype = None) -> variable",
          "Makes a variable of a metric, which training does not change.\n"
          "name: the name of the variable\n"
          "shape: the shape of the variable\n"
          "dtype: the dtype of the variable; None: that of the metric")
{
    tw_layer *layer = (tw_layer *)args->self;
    tw_variable *variable = tw__layer_add_weight(layer, args->name, &args->shape, args->dtype, args->initializer, false);
    if (variable)
        tw__variable_keep_copies(variable, args->synchronization, args->aggregation);
    return tw_retain(variable);
}

TW_METHOD(layer_count_params, "keras.layers.Layer.count_params(self: layer) -> int", "The number of values in all variables.")
{
    tw_layer *layer = args->self;
    if (!layer->built) {
        tw__fail(TW_VALUE_ERROR,
                 "You tried to call `count_params` on layer %s, but the layer isn't built. You can build it manually via: "
                 "`%s.build(batch_input_shape)`.",
                 layer->name, layer->name);
        return 0;
    }
    tw_variable **variables;
    int64_t count, total = 0;
    if (tw__collect_variables(&layer->trackable, TW_ALL_VARIABLES, &variables, &count) != TW_OK)
        return 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t size;
        if (tw__shape_count(&variables[i]->resource->shape, &size) == TW_OK)
            total += size;
    }
    tw__free(variables);
    return total;
}

TW_METHOD(layer_get_weights, "keras.layers.Layer.get_weights(self: layer) -> tensors<numpy>", "The values of all variables.")
{
    tw_objects variables = variables_of(args->self, TW_ALL_VARIABLES);
    tw_tensors values = { tw__alloc_array((size_t)variables.count + 1, sizeof(tw_tensor *)), variables.count };
    bool good = values.items != NULL && tw_error_code() == TW_OK;
    for (int64_t i = 0; good && i < values.count; i++)
        good = (values.items[i] = tw__variable_value(variables.items[i])) != NULL;
    tw_objects_free(&variables);
    if (!good)
        tw_tensors_free(&values);
    return values;
}

static tw_status set_weight(tw_layer *layer, tw_variable *variable, tw_tensor *value)
{
    tw__resource *resource = variable->resource;
    if (!tw__shape_compatible(&resource->shape, &value->shape)) {
        char *own = tw__shape_tuple(&resource->shape), *given = tw__shape_tuple(&value->shape);
        tw_status status = tw__fail(TW_VALUE_ERROR, "Layer %s weight shape %s is not compatible with provided weight shape %s.",
                                    layer->name, own ? own : "", given ? given : "");
        tw__free(own);
        tw__free(given);
        return status;
    }
    tw_attr target = TW_A_TYPE("DstT", resource->dtype);
    tw_auto tw_tensor *cast = value->dtype == resource->dtype ? tw_retain(value) : TW_CALL(Cast, value, target);
    tw_status status = cast ? tw__variable_set(variable, cast) : tw__error_status();
    return status;
}

TW_METHOD(layer_set_weights, "keras.layers.Layer.set_weights(self: layer, weights: tensors)",
          "Sets the values of all variables.\n"
          "weights: the values, as a list of arrays in the order of `weights`")
{
    tw_layer *layer = args->self;
    tw__auto(tw_objects_free) tw_objects variables = variables_of(layer, TW_ALL_VARIABLES);
    tw_status status = tw_error_code();
    if (status == TW_OK && variables.count != args->weights.count)
        status =
            tw__fail(TW_VALUE_ERROR,
                     "You called `set_weights(weights)` on layer \"%s\" with a weight list of length %lld, but the layer was "
                     "expecting %lld weights.",
                     layer->name, (long long)args->weights.count, (long long)variables.count);
    for (int64_t i = 0; status == TW_OK && i < variables.count; i++)
        status = set_weight(layer, variables.items[i], args->weights.items[i]);
    return status == TW_OK ? tw__preprocessing_finalize_all(&layer->trackable) : status;
}
