/* What a layer answers about itself beside its weights and nodes: signatures, configs of its building, what Keras once kept
 * (updates), and its own variables, for files. */
#include "api/tensor_spec.h"
#include "keras/callable.h"
#include "keras/layers/layers.h"
#include "keras/models/functional.h"

TW_METHOD(layer_compute_output_signature,
          "keras.layers.Layer.compute_output_signature(self: layer, input_signature: tensor_spec) -> tensor_spec",
          "The spec of the output for that of the input.")
{
    tw_shape output;
    if (tw__layer_output_shape(args->self, &args->input_signature->shape, &output) != TW_OK)
        return NULL;
    return tw__tensor_spec_new(args->self->compute_dtype, &output, NULL);
}

TW_METHOD(layer_add_update, "keras.layers.Layer.add_update(self: layer, updates: value)",
          "Calls what is a function; assignments have happened already.")
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

TW_PROPERTY(layer_dynamic, "keras.layers.Layer.dynamic(self: layer) -> bool", "Whether it can only run eagerly: never here.")
{
    (void)args;
    return false;
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
          "Makes the weights for the `input_shape` of such a dict.")
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
