/* keras.layers.Conv1D, Conv2D, Conv3D, DepthwiseConv1D and DepthwiseConv2D: activation(convolution(inputs, kernel) + bias).
 *
 * Inputs of more dimensions than a batch of images are a larger batch. */
#include "keras/layers/conv.h"
#include "op/calls.h"

static bool is_depthwise(const tw__conv *layer)
{
    return tw__conv_methods_of(layer)->depthwise;
}

static const char *kernel_name(const tw__conv *layer)
{
    return is_depthwise(layer) ? "depthwise_kernel" : "kernel";
}

static tw_status check_counts(const char *name, int64_t filters, int64_t groups)
{
    TW_TRY(tw__conv_check_positive(name, filters));
    if (groups <= 0)
        return tw__fail(TW_VALUE_ERROR, "The argument `groups` must be positive. Received: groups=%lld", (long long)groups);
    if (filters % groups != 0)
        return tw__fail(TW_VALUE_ERROR,
                        "The number of filters must be evenly divisible by the number of groups. Received: groups=%lld, "
                        "filters=%lld",
                        (long long)groups, (long long)filters);
    return TW_OK;
}

static tw_status conv_settle(void *self, const void *given)
{
    (void)given;
    tw__conv *layer = self;
    tw_layers_depthwise_conv2d_args own;
    bool first = layer->channels_first;
    TW_TRY(tw__conv_settle(layer, tw__conv_axes(layer) == 1 && !is_depthwise(layer)));
    if (layer->layer.built && !is_depthwise(layer)) /* as in Keras */
        layer->channels_first = first;
    if (is_depthwise(layer)) {
        tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_layers_depthwise_conv2d,
                         &own);
        layer->settings.filters = own.depth_multiplier;
    }
    TW_TRY(check_counts(is_depthwise(layer) ? "depth_multiplier" : "filters", layer->settings.filters, layer->settings.groups));
    return tw__conv_check_together(layer);
}

/* ---- weights ---- */

/* The first input must be large enough for the kernel. */
static tw_status check_room(const tw__conv *layer, const tw_shape *input)
{
    int first = tw__conv_first(layer, input->rank);
    for (int i = 0; i < tw__conv_axes(layer) && layer->padding[0] == 'v'; i++) {
        int64_t in = input->dims[first + i], whole = (layer->size[i] - 1) * layer->dilation[i] + 1;
        if (in < 0 || in + layer->stride[i] - whole >= 0)
            continue;
        return tw__fail(
            TW_VALUE_ERROR,
            "One of the dimensions in the output is <= 0 due to downsampling in %s. Consider increasing the input "
            "size. Received input shape %s which would produce output shape with a zero or negative value in a dimension.",
            layer->layer.name, tw__shape_text(input));
    }
    return TW_OK;
}

static tw_status build(tw_layer *self, const tw_shape *input)
{
    tw__conv *layer = (tw__conv *)self;
    int64_t channels = 0, outputs = layer->settings.filters;
    TW_TRY(tw__conv_channels(layer, input, is_depthwise(layer) ? "DepthwiseConv" : NULL, &channels));
    if (channels % layer->settings.groups != 0) {
        char *text = tw__shape_tuple(input);
        tw__fail(TW_VALUE_ERROR,
                 "The number of input channels must be evenly divisible by the number of groups. Received groups=%lld, but "
                 "the input has %lld channels (full input shape is %s).",
                 (long long)layer->settings.groups, (long long)channels, text ? text : "");
        tw__free(text);
        return tw__error_status();
    }
    if (is_depthwise(layer) && __builtin_mul_overflow(channels, layer->settings.filters, &outputs))
        return tw__fail(TW_VALUE_ERROR, "%s: depth_multiplier=%lld is too large", tw_class_name(self),
                        (long long)layer->settings.filters);
    TW_TRY(
        tw__conv_add_kernel(layer, kernel_name(layer), layer->size, channels / layer->settings.groups, layer->settings.filters));
    TW_TRY(tw__conv_add_bias(layer, outputs));
    if (!layer->channels_first)
        self->last_axis = channels;
    return check_room(layer, input);
}

/* ---- calling ---- */

static tw_tensor *convolve_volumes(tw__conv *layer, tw_tensor *volumes, tw_tensor *kernel)
{
    int64_t strides[5] = { 1, layer->stride[0], layer->stride[1], layer->stride[2], 1 };
    int64_t dilations[5] = { 1, layer->dilation[0], layer->dilation[1], layer->dilation[2], 1 };
    return TW_CALL(Conv3D, volumes, kernel, TW_A_INTS("strides", strides, 5), TW_A_INTS("dilations", dilations, 5),
                   TW_A_STRING("padding", layer->padding[0] == 's' ? "SAME" : "VALID"));
}

static tw_tensor *convolve(tw__conv *layer, tw_tensor *images, tw_tensor *kernel)
{
    int first = 3 - tw__conv_axes(layer);
    int64_t strides[4] = { 1, 1, 1, 1 }, dilations[4] = { 1, 1, 1, 1 }, before[8] = { 0 };
    for (int i = 0; i < tw__conv_axes(layer); i++) {
        strides[first + i] = layer->stride[i];
        dilations[first + i] = layer->dilation[i];
    }
    tw_attr attrs[] = { TW_A_INTS("strides", strides, 4), TW_A_INTS("dilations", dilations, 4),
                        TW_A_STRING("padding", layer->padding[0] == 's'   ? "SAME"
                                               : layer->padding[0] == 'v' ? "VALID"
                                                                          : "EXPLICIT"),
                        TW_A_INTS("explicit_paddings", before, 8) };
    bool causal = layer->padding[0] == 'c';
    before[2 * first] = causal ? (layer->size[0] - 1) * layer->dilation[0] : 0;
    if (!is_depthwise(layer))
        return tw__call(&tw__op_Conv2D, TW_IN(images, kernel), 2, attrs, causal ? 4 : 3);
    if (first == 2) { /* of the one row, too */
        strides[1] = layer->stride[0];
        dilations[1] = layer->dilation[0];
    }
    return tw__conv_apart(images, kernel, attrs, strides[1] == strides[2]);
}

/* Sequences as images of one row. */
static tw_tensor *convolve_sequences(tw__conv *layer, tw_tensor *steps, tw_tensor *kernel)
{
    const int64_t *dims = steps->shape.dims, row = 1;
    tw_shape image = TW_SHAPE(dims[0], 1, dims[1], dims[2]);
    bool loose = (dims[0] < 0) + (dims[1] < 0) + (dims[2] < 0) > 1; /* a reshape can't have two sizes that are not known */
    tw_auto tw_tensor *images = loose ? TW_CALL(ExpandDims, steps, 1) : tw__reshape(steps, &image);
    tw_auto tw_tensor *filters = tw__conv_of_images(layer, tw_retain(kernel));
    tw_auto tw_tensor *output = images && filters ? convolve(layer, images, filters) : NULL;
    if (!output || loose)
        return output ? TW_CALL(Squeeze, output, TW_A_INTS("squeeze_dims", &row, 1)) : NULL;
    return tw__reshape(output, &TW_SHAPE(output->shape.dims[0], output->shape.dims[2], output->shape.dims[3]));
}

static tw_tensor *run(tw__conv *layer, tw_tensor *input, tw_tensor *kernel)
{
    int axes = tw__conv_axes(layer);
    tw_auto tw_tensor *flat = tw__conv_turned(layer, tw__layer_flatten_batch(input, axes + 1), false);
    if (!flat || !kernel)
        return NULL;
    return tw__conv_turned(layer,
                           axes == 1   ? convolve_sequences(layer, flat, kernel)
                           : axes == 2 ? convolve(layer, flat, kernel)
                                       : convolve_volumes(layer, flat, kernel),
                           true);
}

static tw_tensor *conv_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    tw__conv *layer = (tw__conv *)self;
    tw_auto tw_tensor *kernel = tw__layer_read(self, kernel_name(layer));
    tw_tensor *output = tw__conv_biased(layer, run(layer, input, kernel));
    int extra = input->shape.rank - tw__conv_axes(layer) - 2;
    if (output && extra > 0) { /* the dimensions of the batch again */
        tw_shape shape = input->shape;
        for (int i = 0; i < tw__conv_axes(layer) + 1; i++)
            shape.dims[1 + extra + i] = output->shape.dims[1 + i];
        tw_tensor *whole = tw__reshape(output, &shape);
        tw_release(output);
        output = whole;
    }
    return tw__conv_activated(layer, output);
}

static tw_status conv_output_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    tw__conv *layer = (tw__conv *)self;
    int first = tw__conv_first(layer, input->rank), channels = tw__conv_channel_axis(layer, input->rank);
    *output = *input;
    for (int i = 0; i < tw__conv_axes(layer); i++)
        output->dims[first + i] = tw__conv_length(layer, input->dims[first + i], i);
    output->dims[channels] = is_depthwise(layer) ? input->dims[channels] * layer->settings.filters : layer->settings.filters;
    return TW_OK;
}

static void conv_config(tw_layer *self, tw__dict *dict)
{
    tw__conv_config(self, dict);
    if (is_depthwise((tw__conv *)self))
        tw__dict_put(dict, "groups", (tw_value){ .kind = TW_VALUE_INT, .i = 1 });
}

#define METHODS(axes_, depthwise_)                                                            \
    {                                                                                         \
        .layer = { .minimum_rank = axes_ + 2,                                                 \
                   .build = build,                                                            \
                   .call = conv_call,                                                         \
                   .output_shape = conv_output_shape,                                         \
                   .config = conv_config,                                                     \
                   .own_config = " kernel_size strides padding data_format dilation_rate " }, \
        .axes = axes_, .depthwise = depthwise_                                                \
    }
static const tw__conv_methods conv1d_methods = METHODS(1, false), conv2d_methods = METHODS(2, false),
                              conv3d_methods = METHODS(3, false), depthwise_conv1d_methods = METHODS(1, true),
                              depthwise_conv2d_methods = METHODS(2, true);

TW_CLASS(layers_conv2d,
         "keras.layers.Conv2D|keras.layers.Convolution2D(filters: int, kernel_size: ints, strides: ints = (1, 1), "
         "padding: str = valid, data_format: str = None, dilation_rate: ints = (1, 1), groups: int = 1, "
         "activation: named<activation> = None, use_bias: bool = True, " TW_KERNEL_AND_BIAS ", **layer) -> layer",
         TW_CONV_CLASS, .settle = conv_settle, .methods = &conv2d_methods,
         .doc = "A convolution of images with a kernel [rows, columns, channels, filters].\n"
                "example: tf.keras.layers.Conv2D(8, 3)(tf.ones([1, 10, 10, 3])).shape  # TensorShape([1, 8, 8, 8])");

TW_CLASS(layers_conv1d,
         "keras.layers.Conv1D|keras.layers.Convolution1D(filters: int, kernel_size: ints, strides: ints = 1, "
         "padding: str = valid, data_format: str = channels_last, dilation_rate: ints = 1, groups: int = 1, "
         "activation: named<activation> = None, use_bias: bool = True, " TW_KERNEL_AND_BIAS ", **layer) -> layer",
         TW_CONV_CLASS, .settle = conv_settle, .methods = &conv1d_methods,
         .doc = "A convolution of sequences with a kernel [steps, channels, filters].");

TW_CLASS(layers_conv3d,
         "keras.layers.Conv3D|keras.layers.Convolution3D(filters: int, kernel_size: ints, strides: ints = (1, 1, 1), "
         "padding: str = valid, data_format: str = None, dilation_rate: ints = (1, 1, 1), groups: int = 1, "
         "activation: named<activation> = None, use_bias: bool = True, " TW_KERNEL_AND_BIAS ", **layer) -> layer",
         TW_CONV_CLASS, .settle = conv_settle, .methods = &conv3d_methods,
         .doc = "A convolution of volumes with a kernel [depth, rows, columns, channels, filters].");

TW_CLASS(layers_depthwise_conv1d,
         "keras.layers.DepthwiseConv1D(kernel_size: ints, strides: ints = 1, padding: str = valid, depth_multiplier: int = 1, "
         "data_format: str = None, dilation_rate: ints = 1, activation: named<activation> = None, use_bias: bool = True, "
         "depthwise_initializer: named<initializer> = glorot_uniform, bias_initializer: named<initializer> = zeros, "
         "depthwise_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "
         "activity_regularizer: named<regularizer> = None, depthwise_constraint: named<constraint> = None, "
         "bias_constraint: named<constraint> = None, **layer) -> layer",
         TW_CONV_CLASS, .settle = conv_settle, .methods = &depthwise_conv1d_methods,
         .doc = "A convolution of every channel of a sequence with kernels of its own.");

TW_CLASS(
    layers_depthwise_conv2d,
    "keras.layers.DepthwiseConv2D(kernel_size: ints, strides: ints = (1, 1), padding: str = valid, depth_multiplier: int = 1, "
    "data_format: str = None, dilation_rate: ints = (1, 1), activation: named<activation> = None, use_bias: bool = True, "
    "depthwise_initializer: named<initializer> = glorot_uniform, bias_initializer: named<initializer> = zeros, "
    "depthwise_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "
    "activity_regularizer: named<regularizer> = None, depthwise_constraint: named<constraint> = None, "
    "bias_constraint: named<constraint> = None, **layer) -> layer",
    TW_CONV_CLASS, .settle = conv_settle, .methods = &depthwise_conv2d_methods,
    .doc = "A convolution of every channel with kernels of its own.");
