/* What a layer answers about itself beside its weights and nodes: signatures, configs of its building, what Keras once kept
 * (updates), and its own variables, for files. */
#include "api/tensor_spec.h"
#include "keras/callable.h"
#include "keras/layers/recurrent.h"
#include "keras/models/functional.h"

TW_METHOD(layer_compute_output_signature,
          "keras.layers.Layer.compute_output_signature(self: layer, input_signature: tensor_spec) -> tensor_spec",
          "The spec of the output for that of the input.\n"
          "input_signature: the `tf.TensorSpec` of the input")
{
    tw_shape output;
    if (tw__layer_output_shape(args->self, &args->input_signature->shape, &output) != TW_OK)
        return NULL;
    return tw__tensor_spec_new(args->self->compute_dtype, &output, NULL);
}

TW_METHOD(layer_add_update, "keras.layers.Layer.add_update(self: layer, updates: value)",
          "Calls what is a function; assignments have happened already.\n"
          "updates: functions without arguments, which are called, or assignments")
{
    const tw_value *value = &args->updates;
    tw_value one = *value, list = { .kind = TW_VALUE_LIST, .list = { &one, 1 } };
    const tw_value *all = value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE ? value : &list;
    for (int64_t i = 0; i < all->list.count; i++) {
        const tw_value *update = &all->list.items[i];
        if (update->kind != TW_VALUE_OBJECT || !tw__is(update->object, &tw__callable_class) ||
            ((tw_object *)update->object)->class != &tw__callable_class) /* a constraint, say, wants a tensor */
            continue;
        tw_callable *function = update->object;
        tw_auto tw_tensor *result = function->call(function, NULL);
        if (!result && tw_error_code() != TW_OK)
            return tw__error_status();
    }
    return TW_OK;
}

TW_PROPERTY(layer_updates, "keras.layers.Layer.updates(self: layer) -> list<layer>", "Nothing: updates happen by themselves.")
{
    (void)args;
    return (tw_objects){ 0 };
}

static bool says_dynamic(const tw_layer *layer)
{
    return layer->dynamic;
}

static bool says_stateful(const tw_layer *layer)
{
    return layer->stateful || tw__is(layer, &tw__class_metric) ||
           (tw__is(layer, &tw__class_layers_rnn) && ((const tw__rnn *)layer)->settings.stateful);
}

/* Whether the layer, or one of those in it, says so. */
static bool any_says(tw_layer *layer, bool deep, bool (*says)(const tw_layer *layer))
{
    tw_layer **layers;
    int64_t count;
    bool found = says(layer);
    if (found || tw__collect_layers(&layer->trackable, deep, &layers, &count) != TW_OK)
        return found;
    for (int64_t i = 0; i < count; i++)
        found |= says(layers[i]);
    tw__free(layers);
    return found;
}

bool tw__layer_is_dynamic(tw_layer *layer)
{
    return any_says(layer, true, says_dynamic);
}

TW_PROPERTY(layer_stateful, "keras.layers.Layer.stateful(self: layer) -> bool",
            "Whether it keeps states from batch to batch; of a model, whether a layer in it does.")
{
    return tw__is(args->self, &tw__class_model) ? any_says(args->self, false, says_stateful) : says_stateful(args->self);
}

TW_METHOD(layer_set_stateful, "keras.layers.Layer._set_stateful(self: layer, value: bool)", "Says that it keeps states, or not.")
{
    const tw_field *field;
    if (tw__object_setting(args->self, "stateful", &field) != TW_SETTING) {
        args->self->stateful = args->value;
        return TW_OK;
    }
    tw__owned char *settings = tw__alloc_zero(tw_class_signature(tw_class_of(args->self))->args_size);
    TW_NEED(settings);
    *(bool *)(settings + field->offset) = args->value;
    return tw__object_change(args->self, field, settings);
}

TW_PROPERTY(layer_dynamic, "keras.layers.Layer.dynamic(self: layer) -> bool",
            "Whether it, or a layer in it, can only run eagerly.")
{
    return tw__layer_is_dynamic(args->self);
}

TW_METHOD(layer_finalize_state, "keras.layers.Layer.finalize_state(self: layer)",
          "Does nothing; preprocessing layers override it.")
{
    (void)args;
    return TW_OK;
}

TW_METHOD(layer_get_build_config, "keras.layers.Layer.get_build_config(self: layer) -> value",
          "The shape that it was built for by a call: {\"input_shape\": …}, or None.")
{
    tw__dict dict = { 0 };
    if (args->self->build_shape.kind == TW_VALUE_NONE)
        return (tw_value){ .kind = TW_VALUE_NONE };
    tw__dict_put(&dict, "input_shape", tw__value_copy(&args->self->build_shape));
    return tw__dict_take(&dict);
}

TW_METHOD(layer_build_from_config, "keras.layers.Layer.build_from_config(self: layer, config: value)",
          "Makes the weights for the `input_shape` of such a dict.\n"
          "config: a dict as `get_build_config` gives it, with `input_shape`")
{
    const tw_value *said = args->config.kind == TW_VALUE_DICT ? tw__value_get(&args->config, "input_shape") : NULL;
    tw_shape shape;
    if (!said || said->kind == TW_VALUE_NONE)
        return TW_OK;
    TW_TRY(tw__shape_of_value(said, &shape));
    if (shape.rank < 0)
        return tw__fail(TW_VALUE_ERROR, "build_from_config: the `input_shape` of layer \"%s\" is no shape", args->self->name);
    return tw__layer_build(args->self, &shape);
}
