/* keras.layers.InputLayer: where a model's input comes in; it says shape and dtype. Named input_1, input_2, … unless told
 * otherwise. */
#include "api/ragged/ragged.h"
#include "api/sparse/sparse.h"
#include "api/tensor_spec.h"
#include "keras/models/functional.h"

static tw_status input_init(void *self, const void *given)
{
    tw_layer *layer = self;
    const tw_layers_input_layer_args *args = given;
    if (args->sparse && args->ragged)
        return tw__fail(TW_VALUE_ERROR, "Cannot set both sparse and ragged to True in a Keras input.");
    if (args->input_tensor || args->type_spec.kind != TW_VALUE_NONE)
        return tw__fail(TW_UNIMPLEMENTED, "InputLayer: `input_tensor` and `type_spec` are arguments of Input");
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

/* As Keras does: every dimension whose size is not given is ragged, up to the last of them. */
static int ragged_rank_of(const tw_shape *shape)
{
    int rank = 1;
    for (int i = 1; i < shape->rank; i++)
        rank = shape->dims[i] < 0 ? i : rank;
    return rank;
}

struct tw_type_spec *tw__input_spec_of(tw_layer *layer)
{
    const tw_layers_input_layer_args *args = tw_object_config(layer);
    const tw_shape *shape = &layer->batch_input_shape;
    if (args->sparse)
        return (struct tw_type_spec *)tw__sparse_spec_new(shape, layer->dtype);
    if (!args->ragged)
        return NULL;
    return (struct tw_type_spec *)tw__ragged_spec_new(shape, layer->dtype, ragged_rank_of(shape), TW_INT64);
}

bool tw__input_of_spec(void *spec, tw_layers_input_layer_args *args)
{
    if (tw__is(spec, &tw__class_tensor_spec)) {
        args->batch_input_shape = ((tw_tensor_spec *)spec)->shape;
        args->dtype = ((tw_tensor_spec *)spec)->dtype;
    } else if (tw__is(spec, &tw__class_ragged_tensor_spec)) {
        const struct tw_ragged_tensor_spec *ragged = spec;
        args->batch_input_shape = ragged->shape;
        args->dtype = ragged->dtype;
        args->ragged = true;
        if (ragged->ragged_rank != ragged_rank_of(&ragged->shape)) {
            tw__fail(TW_UNIMPLEMENTED, "Input: a type_spec whose ragged rank is not that of its last unknown dimension");
            return false;
        }
    } else if (tw__is(spec, &tw__class_sparse_tensor_spec)) {
        args->batch_input_shape = ((struct tw_sparse_tensor_spec *)spec)->shape;
        args->dtype = ((struct tw_sparse_tensor_spec *)spec)->dtype;
        args->sparse = true;
    } else {
        tw__fail(TW_VALUE_ERROR, "Input: type_spec must be a TensorSpec, RaggedTensorSpec or SparseTensorSpec");
        return false;
    }
    return true;
}

static tw_value input_config(tw_layer *self)
{
    const tw_layers_input_layer_args *args = tw_object_config(self);
    tw__dict dict = { 0 };
    tw__dict_put(&dict, "batch_input_shape", tw__shape_value(&self->batch_input_shape));
    tw__dict_put_str(&dict, "dtype", tw_dtype_name(self->dtype));
    tw__dict_put(&dict, "sparse", (tw_value){ .kind = TW_VALUE_BOOL, .b = args->sparse });
    tw__dict_put(&dict, "ragged", (tw_value){ .kind = TW_VALUE_BOOL, .b = args->ragged });
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
    "keras.layers.InputLayer(input_shape: shape = None, batch_size: int = None, dtype: dtype = None, input_tensor: tensor = None since 0.2, "
    "sparse: bool = False shown None, name: str = None, ragged: bool = False shown None, type_spec: value<spec> = None since 0.2, *, "
    "batch_input_shape: shape = None) -> layer",
    .parent = &tw__class_layer, .size = sizeof(tw_layer), .init = input_init, .methods = &input_methods,
    .doc = "The place where a model's input comes in.\n"
           "sparse: True: the input is a sparse tensor\n"
           "input_tensor: must be None: `tf.keras.Input(tensor=…)` takes one\n"
           "type_spec: must be None: `tf.keras.Input(type_spec=…)` takes one\n"
           "ragged: True: the input is a ragged tensor");
