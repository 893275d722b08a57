/* keras.layers.Conv1DTranspose, Conv2DTranspose and Conv3DTranspose: the gradient of a convolution by its input. The kernel is
 * [size…, filters, channels]. */
#include "keras/layers/conv.h"
#include "op/array/array.h"
#include "op/calls.h"

static tw_status transposed_settle(void *self, const void *given)
{
    (void)given;
    tw__conv *layer = self;
    tw_layers_conv2d_transpose_args own;
    tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_layers_conv2d_transpose, &own);
    TW_TRY(tw__conv_check_positive("filters", own.filters));
    TW_TRY(tw__conv_settle(layer, false));
    TW_TRY(tw__conv_check_together(layer));
    if (!own.output_padding.given)
        return TW_OK;
    TW_TRY(tw__layer_sizes("output_padding", own.output_padding, tw__conv_axes(layer), true, layer->output_padding));
    for (int i = 0; i < tw__conv_axes(layer); i++) {
        if (layer->output_padding[i] >= layer->stride[i])
            return tw__fail(TW_VALUE_ERROR,
                            "Strides must be greater than output padding. Received strides=%lld, output_padding=%lld.",
                            (long long)layer->stride[i], (long long)layer->output_padding[i]);
    }
    return TW_OK;
}

static tw_status transposed_build(tw_layer *self, const tw_shape *input)
{
    tw__conv *layer = (tw__conv *)self;
    int64_t channels = 0;
    TW_TRY(tw__layer_need_rank(self, input, tw__conv_axes(layer) + 2));
    TW_TRY(tw__conv_channels(layer, input, tw_class_name(self), &channels));
    TW_TRY(tw__conv_add_kernel(layer, "kernel", layer->size, layer->settings.filters, channels));
    TW_TRY(tw__conv_add_bias(layer, layer->settings.filters));
    if (!layer->channels_first)
        self->last_axis = channels;
    return TW_OK;
}

/* What a length that is multiplied by the stride is longer by. Volumes are not dilated, as in Keras. */
static int64_t longer_by(const tw__conv *layer, int i)
{
    int64_t dilation = tw__conv_axes(layer) == 3 ? 1 : layer->dilation[i], stride = layer->stride[i];
    int64_t whole = (layer->size[i] - 1) * dilation + 1;
    bool same = layer->padding[0] == 's';
    if (layer->output_padding[0] >= 0)
        return whole - stride - (same ? whole / 2 * 2 : 0) + layer->output_padding[i];
    return same || whole < stride ? 0 : whole - stride;
}

static int64_t length_of(const tw__conv *layer, int64_t in, int i)
{
    int64_t length;
    if (in < 0 || __builtin_mul_overflow(in, layer->stride[i], &length) ||
        __builtin_add_overflow(length, longer_by(layer, i), &length))
        return -1;
    return length;
}

/* The shape of the output, and as a tensor: computed where the input's is not known. Left to t. */
static tw_tensor *sizes_of(tw__temps *t, const tw__conv *layer, tw_tensor *images, tw_shape *shape)
{
    int rank = images->shape.rank, first = rank - 1 - tw__conv_axes(layer);
    int64_t factors[5] = { 1, 1, 1, 1, 1 }, more[5] = { 0 };
    *shape = images->shape;
    for (int i = 0; i < tw__conv_axes(layer); i++) {
        shape->dims[first + i] = length_of(layer, images->shape.dims[first + i], i);
        factors[first + i] = layer->stride[i];
        more[first + i] = longer_by(layer, i);
    }
    shape->dims[rank - 1] = more[rank - 1] = layer->settings.filters;
    factors[rank - 1] = 0;
    if (tw__shape_known(shape))
        return tw__temp_ints(t, shape->dims, rank, TW_INT32);
    tw_tensor *sizes = TW_TEMP(Mul, tw__temp_shape(t, images, TW_INT32), tw__temp_ints(t, factors, rank, TW_INT32));
    return TW_TEMP(AddV2, sizes, tw__temp_ints(t, more, rank, TW_INT32));
}

static tw_tensor *convolve(tw__conv *layer, tw_tensor *images)
{
    TW_TEMPS(t);
    tw_shape shape;
    int axes = tw__conv_axes(layer), rank = images->shape.rank, first = rank - 1 - axes;
    int64_t strides[5] = { 1, 1, 1, 1, 1 }, dilations[5] = { 1, 1, 1, 1, 1 };
    for (int i = 0; i < axes; i++) {
        strides[first + i] = layer->stride[i];
        dilations[first + i] = axes == 3 ? 1 : layer->dilation[i];
    }
    tw_tensor *kernel = tw__temp(t, tw__conv_of_images(layer, tw__layer_read(&layer->layer, "kernel")));
    tw_tensor *sizes = sizes_of(t, layer, images, &shape);
    tw_attr attrs[] = { TW_A_INTS("strides", strides, rank), TW_A_INTS("dilations", dilations, rank),
                        TW_A_STRING("padding", layer->padding[0] == 's' ? "SAME" : "VALID") };
    const tw_op *op = axes == 3 ? &tw__op_Conv3DBackpropInputV2 : &tw__op_Conv2DBackpropInput;
    tw_tensor *made = sizes && kernel ? tw__temp(t, tw__call(op, TW_IN(sizes, kernel, images), 3, attrs, 3)) : NULL;
    if (!made || tw__shape_equal(&made->shape, &shape))
        return tw__keep(t, made);
    int unknown = 0;
    for (int i = 0; i < rank; i++)
        unknown += shape.dims[i] < 0;
    return unknown < 2 ? tw__reshape(made, &shape) : TW_CALL(EnsureShape, made, TW_A_SHAPE("shape", &shape));
}

static void transposed_config(tw_layer *self, tw__dict *dict)
{
    const tw__conv *layer = (tw__conv *)self;
    tw__conv_config(self, dict);
    tw__dict_put(dict, "groups", (tw_value){ .kind = TW_VALUE_INT, .i = 1 });
    tw__dict_put(dict, "output_padding",
                 layer->output_padding[0] < 0 ? (tw_value){ .kind = TW_VALUE_NONE }
                                              : tw__sizes_value(layer->output_padding, tw__conv_axes(layer)));
}

#define METHODS(axes_)                                                                                       \
    {                                                                                                        \
        .layer = { .minimum_rank = axes_ + 2,                                                                \
                   .build = transposed_build,                                                                \
                   .call = tw__conv_output,                                                                  \
                   .output_shape = tw__conv_output_shape,                                                    \
                   .config = transposed_config,                                                              \
                   .own_config = " kernel_size strides dilation_rate padding data_format output_padding " }, \
        .axes = axes_, .convolve = convolve, .length = length_of                                             \
    }
static const tw__conv_methods conv1d_transpose_methods = METHODS(1), conv2d_transpose_methods = METHODS(2),
                              conv3d_transpose_methods = METHODS(3);

TW_CLASS(layers_conv1d_transpose,
         "keras.layers.Conv1DTranspose|keras.layers.Convolution1DTranspose(filters: int, kernel_size: ints, "
         "strides: ints = 1, padding: str = valid, output_padding: ints = None, data_format: str = None, "
         "dilation_rate: ints = 1, activation: named<activation> = None, use_bias: bool = True, " TW_KERNEL_AND_BIAS
         ", **layer) -> layer",
         TW_CONV_CLASS, .settle = transposed_settle, .methods = &conv1d_transpose_methods,
         .doc = "The opposite of a convolution's change of shape.");

TW_CLASS(layers_conv2d_transpose,
         "keras.layers.Conv2DTranspose|keras.layers.Convolution2DTranspose(filters: int, kernel_size: ints, "
         "strides: ints = (1, 1), padding: str = valid, output_padding: ints = None, data_format: str = None, "
         "dilation_rate: ints = (1, 1), activation: named<activation> = None, use_bias: bool = True, " TW_KERNEL_AND_BIAS
         ", **layer) -> layer",
         TW_CONV_CLASS, .settle = transposed_settle, .methods = &conv2d_transpose_methods,
         .doc = "The opposite of a convolution's change of shape.");

TW_CLASS(layers_conv3d_transpose,
         "keras.layers.Conv3DTranspose|keras.layers.Convolution3DTranspose(filters: int, kernel_size: ints, "
         "strides: ints = (1, 1, 1), padding: str = valid, output_padding: ints = None, data_format: str = None, "
         "dilation_rate: ints = (1, 1, 1), activation: named<activation> = None, use_bias: bool = True, " TW_KERNEL_AND_BIAS
         ", **layer) -> layer",
         TW_CONV_CLASS, .settle = transposed_settle, .methods = &conv3d_transpose_methods,
         .doc = "The opposite of a convolution's change of shape, of volumes.");
