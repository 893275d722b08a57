/* keras.layers.Flatten, Reshape, Activation, ReLU and Softmax: layers without weights. */
#include "api/nn/nn.h"
#include "keras/layers/layers.h"
#include "op/array/array.h"
#include "op/calls.h"

/* ---- Flatten ---- */

static tw_status flatten_output_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    (void)self;
    if (input->rank < 1) {
        *output = TW_SHAPE(-1, -1);
        return TW_OK;
    }
    *output = TW_SHAPE(input->dims[0], 1);
    for (int i = 1; i < input->rank; i++) {
        if (input->dims[i] < 0 || output->dims[1] < 0)
            output->dims[1] = -1;
        else if (__builtin_mul_overflow(output->dims[1], input->dims[i], &output->dims[1]))
            return tw__fail(TW_INVALID_ARGUMENT, "Flatten: the shape %s is too large", tw__shape_text(input));
    }
    return TW_OK;
}

tw_tensor *tw__reshape(tw_tensor *input, const tw_shape *shape)
{
    tw_auto tw_tensor *dims = tw__tensor_of_shape(shape, TW_INT32);
    return TW_CALL(Reshape, input, dims);
}

/* The first dimension of `like` and then these (-1: what is left). */
static tw_tensor *reshape_batch(tw_tensor *input, const int64_t *dims, int count)
{
    TW_TEMPS(t);
    tw_tensor *batch = tw__temp_slice(t, tw__temp_shape(t, input, TW_INT32), 0, 1);
    return TW_CALL(Reshape, input, TW_TEMP(ConcatV2, batch, tw__temp_ints(t, dims, count, TW_INT32), 0));
}

static int unknown_dims(const tw_shape *shape)
{
    int unknown = 0;
    for (int i = 0; i < shape->rank; i++)
        unknown += shape->dims[i] < 0;
    return unknown;
}

tw_tensor *tw__reshape_leading(tw_tensor *input, tw_tensor *like, int64_t last)
{
    TW_TEMPS(t);
    tw_shape shape = like->shape;
    if (last >= 0)
        shape.dims[shape.rank - 1] = last;
    else
        shape.rank--;
    if (unknown_dims(&shape) <= 1)
        return tw__reshape(input, &shape);
    tw_tensor *leading = tw__temp_slice(t, tw__temp_shape(t, like, TW_INT32), 0, like->shape.rank - 1);
    if (last >= 0)
        leading = TW_TEMP(ConcatV2, leading, tw__temp_ints(t, &last, 1, TW_INT32), 0);
    return TW_CALL(Reshape, input, leading);
}

typedef struct flatten {
    tw_layer layer;
    bool channels_first; /* as in Keras it is not read again */
} flatten;

static tw_status flatten_init(void *self, const void *given)
{
    const char *format = ((const tw_layers_flatten_args *)given)->data_format;
    ((flatten *)self)->channels_first = format && strcmp(format, "channels_first") == 0;
    return TW_OK;
}

static tw_tensor *flatten_call(tw_layer *self, tw_tensor *input, int training)
{
    TW_TEMPS(t);
    (void)training;
    tw_shape shape;
    if (flatten_output_shape(self, &input->shape, &shape) != TW_OK)
        return NULL;
    if (((flatten *)self)->channels_first && input->shape.rank > 2) { /* the channels go last */
        int64_t order[TW_MAX_RANK] = { 0 };
        for (int i = 1; i < input->shape.rank; i++)
            order[i] = i + 1 < input->shape.rank ? i + 1 : 1;
        input = TW_TEMP(Transpose, input, tw__temp_ints(t, order, input->shape.rank, TW_INT32));
        if (!input)
            return NULL;
    }
    return unknown_dims(&shape) < 2 ? tw__reshape(input, &shape) : reshape_batch(input, &shape.dims[1], 1);
}

static const tw__layer_methods flatten_methods = { .minimum_rank = 1,
                                                   .call = flatten_call,
                                                   .output_shape = flatten_output_shape };

TW_CLASS(layers_flatten,
         "keras.layers.Flatten(data_format: str {channels_last, channels_first} = channels_last, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(flatten), .init = flatten_init, .methods = &flatten_methods,
         .doc = "All axes but the first become one.\n"
                "example: tf.keras.layers.Flatten()(tf.ones([2, 3, 4])).shape  # TensorShape([2, 12])");

/* ---- Reshape ---- */

static tw_status reshape_output_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    const tw_layers_reshape_args *args = tw_object_config(self);
    int64_t count = args ? args->target_shape.count : 0, known = 1, size = 1;
    int unknown = -1;
    if (input->rank < 1 || count >= TW_MAX_RANK)
        return tw__fail(TW_VALUE_ERROR, "Reshape \"%s\": input shape %s, target of rank %lld", self->name, tw__shape_text(input),
                        (long long)count);
    *output = (tw_shape){ .rank = (int32_t)count + 1, .dims = { input->dims[0] } };
    for (int i = 0; i < count; i++) {
        int64_t dim = args->target_shape.items[i];
        output->dims[i + 1] = dim;
        if (dim < -1 || (dim == -1 && unknown >= 0) || (dim >= 0 && __builtin_mul_overflow(known, dim, &known)))
            return tw__fail(
                TW_VALUE_ERROR,
                "There must be at most one unknown dimension (-1) in target_shape. Reshape \"%s\", dimension %d: %lld",
                self->name, i, (long long)dim);
        if (dim == -1)
            unknown = i + 1;
    }
    for (int i = 1; i < input->rank; i++) {
        if (input->dims[i] < 0)
            return TW_OK;
        size *= input->dims[i];
    }
    if (unknown >= 0 ? known == 0 || size % known != 0 : size != known)
        return tw__fail(TW_VALUE_ERROR, "total size of new array must be unchanged, input_shape = %s, target of %lld values",
                        tw__shape_text(input), (long long)known);
    if (unknown >= 0)
        output->dims[unknown] = size / known;
    return TW_OK;
}

static tw_tensor *reshape_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    tw_shape shape;
    if (reshape_output_shape(self, &input->shape, &shape) != TW_OK)
        return NULL;
    return unknown_dims(&shape) < 2 ? tw__reshape(input, &shape) : reshape_batch(input, &shape.dims[1], shape.rank - 1);
}

static const tw__layer_methods reshape_methods = { .call = reshape_call, .output_shape = reshape_output_shape };

TW_CLASS(layers_reshape, "keras.layers.Reshape(target_shape: ints, **layer) -> layer", .parent = &tw__class_layer,
         .size = sizeof(tw_layer), .methods = &reshape_methods,
         .doc = "Gives every example another shape.\n"
                "target_shape: the shape of an example without the batch; one dimension may be -1 and follows from the others\n"
                "example: tf.keras.layers.Reshape((3, -1))(tf.ones([2, 6])).shape  # TensorShape([2, 3, 2])");

/* ---- Activation ---- */

static tw_tensor *activation_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    return tw__activate(((const tw_layers_activation_args *)tw_object_config(self))->activation, input);
}

static const tw__layer_methods activation_methods = { .supports_masking = true, .call = activation_call, .flat = true };

TW_CLASS(layers_activation, "keras.layers.Activation(activation: named<activation>?, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(tw_layer), .methods = &activation_methods,
         .doc = "Applies a function to its input.");

/* ---- Softmax ---- */

/* Where the mask is false, the input is moved far down. */
static tw_value softmax_call(tw_layer *self, const tw_value *given, int training)
{
    TW_TEMPS(t);
    (void)training;
    const tw_layers_softmax_args *args = tw_object_config(self);
    tw_tensor *input = tw__value_first_tensor(&given[0]), *mask = tw__value_first_tensor(&given[1]);
    tw_tensor *x = input;
    if (input && mask) {
        tw_tensor *hidden = TW_TEMP(Sub, 1.0, TW_TEMP(Cast, mask, TW_A_TYPE("DstT", input->dtype)));
        x = TW_TEMP(AddV2, input, TW_TEMP(Mul, input->dtype == TW_FLOAT16 ? -65504.0 : -1e9, hidden));
    }
    if (!x)
        return (tw_value){ .kind = TW_VALUE_NONE };
    int64_t axis = args ? args->axis : -1, rank = x->shape.rank;
    if (axis == -1 || axis == rank - 1)
        return tw__tensor_value(TW_CALL(Softmax, x));
    if (rank < 0 || axis < -rank || axis >= rank) {
        tw__fail(TW_VALUE_ERROR, "Softmax \"%s\": axis=%lld, the input's shape is %s", self->name, (long long)axis,
                 tw__shape_text(&x->shape));
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    return tw__tensor_value(tw__softmax_along(&tw__op_Softmax, x, axis < 0 ? axis + rank : axis));
}

static const tw__layer_methods softmax_methods = { .supports_masking = true,
                                                   .arguments = "inputs mask",
                                                   .call_values = softmax_call };

TW_CLASS(layers_softmax, "keras.layers.Softmax(axis: int = -1, **layer) -> layer", .parent = &tw__class_layer,
         .size = sizeof(tw_layer), .methods = &softmax_methods, .doc = "exp(x) / sum(exp(x)) along an axis.");
