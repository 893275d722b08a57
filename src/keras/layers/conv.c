/* keras.layers.Conv1D, Conv2D, DepthwiseConv1D and DepthwiseConv2D: activation(convolution(inputs, kernel) + bias).
 *
 * Inputs of more dimensions than a batch of images are a larger batch. */
#include "keras/layers/conv.h"
#include "op/calls.h"

static bool is_depthwise(const tw__conv *layer)
{
    return ((const tw__conv_methods *)tw__methods(layer))->depthwise;
}

static const char *kernel_name(const tw__conv *layer)
{
    return is_depthwise(layer) ? "depthwise_kernel" : "kernel";
}

static tw_status check_together(const tw__conv *layer)
{
    bool strided = false, dilated = false;
    for (int i = 0; i < tw__conv_axes(layer); i++) {
        strided |= layer->stride[i] > 1;
        dilated |= layer->dilation[i] > 1;
    }
    if (strided && dilated)
        return tw__fail(TW_VALUE_ERROR,
                        tw__conv_axes(layer) == 2
                            ? "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                              "strides=(%lld, %lld) and dilation_rate=(%lld, %lld)"
                            : "`strides > 1` not supported in conjunction with `dilation_rate > 1`.",
                        (long long)layer->stride[0], (long long)layer->stride[1], (long long)layer->dilation[0],
                        (long long)layer->dilation[1]);
    return TW_OK;
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
    TW_TRY(tw__conv_settle(layer, tw__conv_axes(layer) == 1));
    if (layer->layer.built && !is_depthwise(layer)) /* as in Keras */
        layer->channels_first = first;
    if (is_depthwise(layer)) {
        tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_layers_depthwise_conv2d,
                         &own);
        layer->settings.filters = own.depth_multiplier;
    }
    TW_TRY(check_counts(is_depthwise(layer) ? "depth_multiplier" : "filters", layer->settings.filters, layer->settings.groups));
    return check_together(layer);
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

static tw_tensor *convolve(tw__conv *layer, tw_tensor *images, tw_tensor *kernel, bool channels_first)
{
    int rows = channels_first ? 2 : 1, first = rows + 2 - tw__conv_axes(layer);
    int64_t strides[4] = { 1, 1, 1, 1 }, dilations[4] = { 1, 1, 1, 1 }, before[8] = { 0 };
    for (int i = 0; i < tw__conv_axes(layer); i++) {
        strides[first + i] = layer->stride[i];
        dilations[first + i] = layer->dilation[i];
    }
    tw_attr attrs[] = { TW_A_INTS("strides", strides, 4), TW_A_INTS("dilations", dilations, 4),
                        TW_A_STRING("padding", layer->padding[0] == 's'   ? "SAME"
                                               : layer->padding[0] == 'v' ? "VALID"
                                                                          : "EXPLICIT"),
                        TW_A_STRING("data_format", channels_first ? "NCHW" : "NHWC"), TW_A_INTS("explicit_paddings", before, 8) };
    bool causal = layer->padding[0] == 'c';
    if (causal && is_depthwise(layer)) {
        tw__fail(TW_UNIMPLEMENTED, "%s \"%s\": causal padding is not supported", tw_class_name(layer), layer->layer.name);
        return NULL;
    }
    before[2 * first] = causal ? (layer->size[0] - 1) * layer->dilation[0] : 0;
    if (is_depthwise(layer)) { /* the op takes equal strides only */
        bool equal = tw__conv_axes(layer) == 1 || layer->stride[0] == layer->stride[1];
        if (tw__conv_axes(layer) == 1) { /* of the one row, too */
            strides[first - 1] = layer->stride[0];
            dilations[first - 1] = layer->dilation[0];
        }
        if (!equal)
            tw__fail(TW_UNIMPLEMENTED, "DepthwiseConv2D \"%s\": strides=(%lld, %lld), expected equal ones", layer->layer.name,
                     (long long)layer->stride[0], (long long)layer->stride[1]);
        return equal ? tw__call(&tw__op_DepthwiseConv2dNative, TW_IN(images, kernel), 2, attrs, 4) : NULL;
    }
    return tw__call(&tw__op_Conv2D, TW_IN(images, kernel), 2, attrs, causal ? 5 : 4);
}

/* The image [batch, rows, columns, channels] of any input, and the kernel that goes with it. */
static tw_tensor *run(tw__conv *layer, tw_tensor *input, tw_tensor *kernel)
{
    tw_auto tw_tensor *flat = tw__layer_flatten_batch(input, tw__conv_axes(layer) + 1);
    if (!flat || !kernel)
        return NULL;
    if (is_depthwise(layer) && tw__conv_turns(layer)) {
        tw_auto tw_tensor *turned = tw__conv_turned(tw_retain(flat), false);
        return tw__conv_turned(turned ? convolve(layer, turned, kernel, false) : NULL, true);
    }
    if (tw__conv_axes(layer) == 2)
        return convolve(layer, flat, kernel, layer->channels_first);
    int row = layer->channels_first ? 2 : 1;
    tw_shape image = flat->shape,
             filter = { .rank = 4, .dims = { 1, kernel->shape.dims[0], kernel->shape.dims[1], kernel->shape.dims[2] } };
    for (int i = image.rank++; i > row; i--)
        image.dims[i] = image.dims[i - 1];
    image.dims[row] = 1;
    int unknown = 0;
    for (int i = 0; i < flat->shape.rank; i++)
        unknown += flat->shape.dims[i] < 0;
    bool loose = unknown > 1; /* a reshape can't have two sizes that are not known */
    tw_auto tw_tensor *axis = loose ? tw_tensor_int(row) : NULL;
    tw_auto tw_tensor *images = !loose ? tw__reshape(flat, &image) : axis ? TW_CALL(ExpandDims, flat, axis) : NULL;
    tw_auto tw_tensor *filters = tw__reshape(kernel, &filter);
    tw_auto tw_tensor *output = images && filters ? convolve(layer, images, filters, layer->channels_first) : NULL;
    if (!output)
        return NULL;
    if (loose)
        return TW_CALL(Squeeze, output, TW_A_INTS("squeeze_dims", (const int64_t[]){ row }, 1));
    tw_shape shape = output->shape;
    for (int i = row; i < 3; i++)
        shape.dims[i] = shape.dims[i + 1];
    shape.rank = 3;
    return tw__reshape(output, &shape);
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
        output->dims[first + i] =
            tw__layer_places(input->dims[first + i], layer->size[i], layer->stride[i], layer->dilation[i], layer->padding);
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
                              depthwise_conv1d_methods = METHODS(1, true), depthwise_conv2d_methods = METHODS(2, true);

TW_CLASS(layers_conv2d,
         "keras.layers.Conv2D|keras.layers.Convolution2D(filters: int, kernel_size: ints, strides: ints = (1, 1), "
         "padding: str = valid, "
         "data_format: str = None, dilation_rate: ints = (1, 1), groups: int = 1, activation: named<activation> = None, "
         "use_bias: bool = True, "
         "kernel_initializer: named<initializer> = glorot_uniform, bias_initializer: named<initializer> = zeros, "
         "kernel_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "
         "activity_regularizer: named<regularizer> = None, kernel_constraint: named<constraint> = None, "
         "bias_constraint: named<constraint> = None, **layer) -> layer",
         TW_CONV_CLASS, .settle = conv_settle, .methods = &conv2d_methods,
         .doc = "A convolution of images with a kernel [rows, columns, channels, filters].");

TW_CLASS(
    layers_conv1d,
    "keras.layers.Conv1D|keras.layers.Convolution1D(filters: int, kernel_size: ints, strides: ints = 1, padding: str = valid, "
    "data_format: str = channels_last, dilation_rate: ints = 1, groups: int = 1, activation: named<activation> = None, "
    "use_bias: bool = True, "
    "kernel_initializer: named<initializer> = glorot_uniform, bias_initializer: named<initializer> = zeros, "
    "kernel_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "
    "activity_regularizer: named<regularizer> = None, kernel_constraint: named<constraint> = None, "
    "bias_constraint: named<constraint> = None, **layer) -> layer",
    TW_CONV_CLASS, .settle = conv_settle, .methods = &conv1d_methods,
    .doc = "A convolution of sequences with a kernel [steps, channels, filters].");

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
