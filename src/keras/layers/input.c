/* keras.layers.InputLayer: where a model's input comes in; it says shape and dtype. Named input_1, input_2, … unless told
 * otherwise. */
#include "keras/models/functional.h"

static tw_status input_init(void *self, const void *given)
{
    tw_layer *layer = self;
    const tw_layers_input_layer_args *args = given;
    if (args->sparse || args->ragged)
        return tw__fail(TW_UNIMPLEMENTED, "InputLayer: the argument `%s` is not supported", args->sparse ? "sparse" : "ragged");
    if (!args->name) {
        char *name = tw__format("input_%lld", (long long)tw_backend_get_uid(.prefix = "input"));
        if (!name)
            return TW_RESOURCE_EXHAUSTED;
        tw__free(layer->name);
        layer->name = name;
    }
    if (layer->batch_input_shape.rank < 0)
        layer->batch_input_shape = (tw_shape){ .rank = 1, .dims = { args->batch_size == TW_NO_INT ? -1 : args->batch_size } };
    layer->built = true;
    tw_auto tw_keras_tensor *tensor = tw__input_tensor(layer);
    if (!tensor)
        return tw__error_status();
    return TW_OK;
}

static tw_value input_config(tw_layer *self)
{
    tw__dict dict = { 0 };
    tw__dict_put(&dict, "batch_input_shape", tw__shape_value(&self->batch_input_shape));
    tw__dict_put_str(&dict, "dtype", tw_dtype_name(self->dtype));
    tw__dict_put(&dict, "sparse", (tw_value){ .kind = TW_VALUE_BOOL, .b = false });
    tw__dict_put(&dict, "ragged", (tw_value){ .kind = TW_VALUE_BOOL, .b = false });
    tw__dict_put_str(&dict, "name", self->name);
    return tw__dict_take(&dict);
}

static tw_tensor *input_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)self, (void)training;
    return tw_retain(input);
}

static const tw__layer_methods input_methods = { .call = input_call, .whole_config = input_config, .any_dtype = true };

TW_CLASS(
    layers_input_layer,
    "keras.layers.InputLayer(input_shape: shape = None, batch_size: int = None, dtype: dtype = None, sparse: bool = False, name: str = None, "
    "ragged: bool = False, batch_input_shape: shape = None) -> layer",
    .parent = &tw__class_layer, .size = sizeof(tw_layer), .init = input_init, .methods = &input_methods,
    .doc = "The place where a model's input comes in.");
