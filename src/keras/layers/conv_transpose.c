/* keras.layers.Conv1DTranspose and Conv2DTranspose: the gradient of a convolution by its input. The kernel is [size…, filters,
 * channels]. */
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

static int64_t length_of(const tw__conv *layer, int64_t in, int i)
{
    if (in < 0)
        return -1;
    int64_t whole = (layer->size[i] - 1) * layer->dilation[i] + 1, stride = layer->stride[i];
    bool same = layer->padding[0] == 's';
    if (layer->output_padding[0] >= 0)
        return (in - 1) * stride + whole - (same ? whole / 2 * 2 : 0) + layer->output_padding[i];
    return same ? in * stride : in * stride + (whole > stride ? whole - stride : 0);
}

/* The sizes as a tensor; that of the batch may not be known. */
static tw_tensor *sizes_tensor(const int64_t sizes[4], tw_tensor *images)
{
    TW_TEMPS(t);
    if (sizes[0] >= 0)
        return tw__ints_tensor(sizes, 4, TW_INT32);
    tw_tensor *batch = tw__temp_slice(t, tw__temp_shape(t, images, TW_INT32), 0, 1);
    return TW_CALL(ConcatV2, batch, tw__temp_ints(t, sizes + 1, 3, TW_INT32), 0);
}

static tw_tensor *convolve(tw__conv *layer, tw_tensor *images, bool channels_first)
{
    int first = (channels_first ? 2 : 1) + 2 - tw__conv_axes(layer);
    tw_shape shape = { .rank = 4, .dims = { images->shape.dims[0], 1, 1, 1 } };
    int64_t strides[4] = { 1, 1, 1, 1 }, dilations[4] = { 1, 1, 1, 1 }, *sizes = shape.dims;
    sizes[channels_first ? 1 : 3] = layer->settings.filters;
    for (int i = 0; i < tw__conv_axes(layer); i++) {
        strides[first + i] = layer->stride[i];
        dilations[first + i] = layer->dilation[i];
        sizes[first + i] = length_of(layer, images->shape.dims[first + i], i);
        if (sizes[first + i] < 0) {
            tw__fail(TW_UNIMPLEMENTED, "%s \"%s\": the size of the input is not known, its shape is %s", tw_class_name(layer),
                     layer->layer.name, tw__shape_text(&images->shape));
            return NULL;
        }
    }
    tw_auto tw_tensor *kernel = tw__conv_of_images(layer, tw__layer_read(&layer->layer, "kernel"));
    tw_auto tw_tensor *whole = sizes_tensor(sizes, images);
    tw_attr attrs[] = { TW_A_INTS("strides", strides, 4), TW_A_INTS("dilations", dilations, 4),
                        TW_A_STRING("padding", layer->padding[0] == 's' ? "SAME" : "VALID"),
                        TW_A_STRING("data_format", channels_first ? "NCHW" : "NHWC") };
    tw_auto tw_tensor *made =
        whole && kernel ? tw__call(&tw__op_Conv2DBackpropInput, TW_IN(whole, kernel, images), 3, attrs, 4) : NULL;
    return made && sizes[0] < 0 ? tw__reshape(made, &shape) : tw_retain(made);
}

static tw_tensor *transposed_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    tw__conv *layer = (tw__conv *)self;
    if (tw__layer_need_rank(self, &input->shape, tw__conv_axes(layer) + 2) != TW_OK)
        return NULL;
    bool turns = tw__conv_turns(layer);
    tw_auto tw_tensor *images = turns ? tw__conv_turned(tw_retain(input), false) : tw__conv_images(layer, input);
    tw_tensor *made = images ? convolve(layer, images, layer->channels_first && !turns) : NULL;
    tw_tensor *output = tw__conv_biased(layer, turns ? tw__conv_turned(made, true) : made);
    return tw__conv_activated(layer, tw__conv_sequences(layer, output));
}

static tw_status transposed_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    const tw__conv *layer = (tw__conv *)self;
    TW_TRY(tw__layer_need_rank(self, input, tw__conv_axes(layer) + 2));
    *output = *input;
    for (int i = 0, first = tw__conv_first(layer, input->rank); i < tw__conv_axes(layer); i++)
        output->dims[first + i] = length_of(layer, input->dims[first + i], i);
    output->dims[tw__conv_channel_axis(layer, input->rank)] = layer->settings.filters;
    return TW_OK;
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
                   .call = transposed_call,                                                                  \
                   .output_shape = transposed_shape,                                                         \
                   .config = transposed_config,                                                              \
                   .own_config = " kernel_size strides dilation_rate padding data_format output_padding " }, \
        .axes = axes_                                                                                        \
    }
static const tw__conv_methods conv1d_transpose_methods = METHODS(1), conv2d_transpose_methods = METHODS(2);

TW_CLASS(
    layers_conv1d_transpose,
    "keras.layers.Conv1DTranspose|keras.layers.Convolution1DTranspose(filters: int, kernel_size: ints, strides: ints = 1, padding: str = valid, "
    "output_padding: ints = None, data_format: str = None, dilation_rate: ints = 1, activation: named<activation> = None, use_bias: bool = True, "
    "kernel_initializer: named<initializer> = glorot_uniform, bias_initializer: named<initializer> = zeros, "
    "kernel_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "
    "activity_regularizer: named<regularizer> = None, kernel_constraint: named<constraint> = None, "
    "bias_constraint: named<constraint> = None, **layer) -> layer",
    TW_CONV_CLASS, .settle = transposed_settle, .methods = &conv1d_transpose_methods,
    .doc = "The opposite of a convolution's change of shape.");

TW_CLASS(
    layers_conv2d_transpose,
    "keras.layers.Conv2DTranspose|keras.layers.Convolution2DTranspose(filters: int, kernel_size: ints, strides: ints = (1, 1), padding: str = valid, "
    "output_padding: ints = None, data_format: str = None, dilation_rate: ints = (1, 1), activation: named<activation> = None, use_bias: bool = True, "
    "kernel_initializer: named<initializer> = glorot_uniform, bias_initializer: named<initializer> = zeros, "
    "kernel_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "
    "activity_regularizer: named<regularizer> = None, kernel_constraint: named<constraint> = None, "
    "bias_constraint: named<constraint> = None, **layer) -> layer",
    TW_CONV_CLASS, .settle = transposed_settle, .methods = &conv2d_transpose_methods,
    .doc = "The opposite of a convolution's change of shape.");
