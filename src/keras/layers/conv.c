/* keras.layers.Conv2D, Conv1D and DepthwiseConv2D: activation(convolution(inputs, kernel) + bias).
 *
 * A sequence is an image of one row. Inputs of more dimensions than a batch of images are a larger batch. */
#include "keras/constraints/constraints.h"
#include "keras/layers/layers.h"
#include "keras/regularizers/regularizers.h"

typedef struct conv {
    tw_layer layer;
    int axes; /* 2: images, 1: sequences */
    bool depthwise, has_bias, channels_first;
    char padding[8];
    int64_t filters, groups; /* filters: of a depthwise layer, the multiplier */
    int64_t size[2], stride[2], dilation[2];
    tw__activation activation;
} conv;

/* The arguments that the three classes have in common. */
typedef struct options {
    tw_ints size, strides, dilation;
    const char *padding, *data_format;
    tw_named activation, kernel_initializer, bias_initializer;
    bool no_bias;
    tw_named regularizers[3];
    tw_named kernel_constraint, bias_constraint;
} options;

static const char *kernel_name(const conv *layer)
{
    return layer->depthwise ? "depthwise_kernel" : "kernel";
}

static tw_status check_together(const conv *layer)
{
    bool strided = false, dilated = false;
    for (int i = 0; i < layer->axes; i++) {
        strided |= layer->stride[i] > 1;
        dilated |= layer->dilation[i] > 1;
        if (layer->stride[i] == 0)
            return tw__fail(TW_VALUE_ERROR,
                            layer->axes == 2 ? "The argument `strides` cannot contains 0(s). Received: (%lld, %lld)"
                                             : "The argument `strides` cannot contains 0(s). Received: (%lld,)",
                            (long long)layer->stride[0], (long long)layer->stride[1]);
    }
    if (strided && dilated)
        return tw__fail(TW_VALUE_ERROR,
                        layer->axes == 2 ? "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                                           "strides=(%lld, %lld) and dilation_rate=(%lld, %lld)"
                                         : "`strides > 1` not supported in conjunction with `dilation_rate > 1`.",
                        (long long)layer->stride[0], (long long)layer->stride[1], (long long)layer->dilation[0],
                        (long long)layer->dilation[1]);
    return TW_OK;
}

static tw_status init(conv *layer, const options *o)
{
    for (int i = 0; i < 3; i++)
        TW_TRY(tw__regularizer_check(o->regularizers[i]));
    TW_TRY(tw__constraint_check(o->kernel_constraint));
    TW_TRY(tw__constraint_check(o->bias_constraint));
    if (layer->filters <= 0)
        return tw__fail(TW_VALUE_ERROR, "Invalid value for argument `%s`. Expected a strictly positive value. Received %s=%lld.",
                        layer->depthwise ? "depth_multiplier" : "filters", layer->depthwise ? "depth_multiplier" : "filters",
                        (long long)layer->filters);
    if (layer->groups <= 0)
        return tw__fail(TW_VALUE_ERROR, "The argument `groups` must be positive. Received: groups=%lld",
                        (long long)layer->groups);
    if (layer->filters % layer->groups != 0)
        return tw__fail(TW_VALUE_ERROR,
                        "The number of filters must be evenly divisible by the number of groups. Received: groups=%lld, "
                        "filters=%lld",
                        (long long)layer->groups, (long long)layer->filters);
    TW_TRY(tw__layer_sizes("kernel_size", o->size, layer->axes, false, layer->size));
    TW_TRY(tw__layer_sizes("strides", o->strides, layer->axes, true, layer->stride));
    TW_TRY(tw__layer_sizes("dilation_rate", o->dilation, layer->axes, false, layer->dilation));
    TW_TRY(tw__layer_padding(o->padding, layer->axes == 1, layer->padding));
    TW_TRY(tw__layer_channels_first(o->data_format, &layer->channels_first));
    TW_TRY(check_together(layer));
    TW_TRY(tw__layer_check_initializer(o->kernel_initializer));
    TW_TRY(tw__layer_check_initializer(o->bias_initializer));
    layer->has_bias = !o->no_bias;
    layer->layer.minimum_rank = layer->axes + 2;
    return tw__activation_find(&layer->activation, o->activation);
}

static void conv_visit(void *self, tw__visitor visitor, void *context)
{
    conv *layer = self;
    if (layer->activation.object)
        visitor(context, layer->activation.object);
}

static void conv_clear(void *self)
{
    tw__activation_free(&((conv *)self)->activation);
}

/* ---- weights ---- */

/* The first input must be large enough for the kernel. */
static tw_status check_room(const conv *layer, const tw_shape *input)
{
    int first = layer->channels_first ? input->rank - layer->axes : input->rank - layer->axes - 1;
    for (int i = 0; i < layer->axes && layer->padding[0] == 'v'; i++) {
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

static tw_status build(conv *layer, const tw_shape *input, tw_named kernel_initializer, tw_named bias_initializer)
{
    int axes = layer->axes, rank = input->rank;
    int64_t channels = rank < axes + 1 ? -1 : input->dims[layer->channels_first ? rank - 1 - axes : rank - 1];
    if (channels < 0) {
        char *text = tw__shape_tuple(input);
        tw__fail(TW_VALUE_ERROR,
                 "The channel dimension of the inputs should be defined. The input_shape received is %s, where axis %d "
                 "(0-based) is the channel dimension, which found to be `None`.",
                 text ? text : "", layer->channels_first ? -1 - axes : -1);
        tw__free(text);
        return tw__error_status();
    }
    if (channels % layer->groups != 0) {
        char *text = tw__shape_tuple(input);
        tw__fail(TW_VALUE_ERROR,
                 "The number of input channels must be evenly divisible by the number of groups. Received groups=%lld, but "
                 "the input has %lld channels (full input shape is %s).",
                 (long long)layer->groups, (long long)channels, text ? text : "");
        tw__free(text);
        return tw__error_status();
    }
    tw_shape kernel = { .rank = axes + 2 }, bias = TW_SHAPE(layer->filters);
    memcpy(kernel.dims, layer->size, (size_t)axes * sizeof *kernel.dims);
    kernel.dims[axes] = layer->depthwise ? channels : channels / layer->groups;
    kernel.dims[axes + 1] = layer->filters;
    if (layer->depthwise && __builtin_mul_overflow(channels, layer->filters, &bias.dims[0]))
        return tw__fail(TW_VALUE_ERROR, "DepthwiseConv2D: depth_multiplier=%lld is too large", (long long)layer->filters);
    tw_layer *base = &layer->layer;
    if (!tw__layer_add_weight(base, kernel_name(layer), &kernel, base->dtype, kernel_initializer, true))
        return tw__error_status();
    if (layer->has_bias && !tw__layer_add_weight(base, "bias", &bias, base->dtype, bias_initializer, true))
        return tw__error_status();
    if (!layer->channels_first)
        base->last_axis = channels;
    return check_room(layer, input);
}

/* ---- calling ---- */

static tw_tensor *convolve(conv *layer, tw_tensor *images, tw_tensor *kernel)
{
    int rows = layer->channels_first ? 2 : 1, first = rows + 2 - layer->axes;
    int64_t strides[4] = { 1, 1, 1, 1 }, dilations[4] = { 1, 1, 1, 1 }, before[8] = { 0 };
    for (int i = 0; i < layer->axes; i++) {
        strides[first + i] = layer->stride[i];
        dilations[first + i] = layer->dilation[i];
    }
    tw_attr attrs[] = { TW_A_INTS("strides", strides, 4), TW_A_INTS("dilations", dilations, 4),
                        TW_A_STRING("padding", layer->padding[0] == 's'   ? "SAME"
                                               : layer->padding[0] == 'v' ? "VALID"
                                                                          : "EXPLICIT"),
                        TW_A_STRING("data_format", layer->channels_first ? "NCHW" : "NHWC"),
                        TW_A_INTS("explicit_paddings", before, 8) };
    bool causal = layer->padding[0] == 'c';
    if (causal && layer->depthwise) {
        tw__fail(TW_UNIMPLEMENTED, "%s \"%s\": causal padding is not supported", tw_class_name(layer), layer->layer.name);
        return NULL;
    }
    before[2 * first] = causal ? (layer->size[0] - 1) * layer->dilation[0] : 0;
    if (layer->depthwise) { /* the op takes equal strides only */
        bool equal = layer->axes == 1 || layer->stride[0] == layer->stride[1];
        if (layer->axes == 1) { /* of the one row, too */
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
static tw_tensor *run(conv *layer, tw_tensor *input, tw_tensor *kernel)
{
    tw_auto tw_tensor *flat = tw__layer_flatten_batch(input, layer->axes + 1);
    if (!flat || !kernel)
        return NULL;
    if (layer->axes == 2)
        return convolve(layer, flat, kernel);
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
    tw_auto tw_tensor *images = !loose ? tw__reshape(flat, &image) : axis ? TW_BINARY(ExpandDims, flat, axis) : NULL;
    tw_auto tw_tensor *filters = tw__reshape(kernel, &filter);
    tw_auto tw_tensor *output = images && filters ? convolve(layer, images, filters) : NULL;
    if (!output)
        return NULL;
    if (loose)
        return tw__call(&tw__op_Squeeze, TW_IN(output), 1, TW_WITH(TW_A_INTS("squeeze_dims", (const int64_t[]){ row }, 1)), 1);
    tw_shape shape = output->shape;
    for (int i = row; i < 3; i++)
        shape.dims[i] = shape.dims[i + 1];
    shape.rank = 3;
    return tw__reshape(output, &shape);
}

static tw_tensor *conv_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    conv *layer = (conv *)self;
    tw_auto tw_tensor *kernel = tw__layer_read(self, kernel_name(layer));
    tw_tensor *output = run(layer, input, kernel);
    if (output && layer->has_bias) {
        tw_auto tw_tensor *bias = tw__layer_read(self, "bias");
        tw_attr format = TW_A_STRING("data_format", layer->channels_first ? "NCHW" : "NHWC");
        tw_tensor *sum = bias ? tw__call(&tw__op_BiasAdd, TW_IN(output, bias), 2, &format, 1) : NULL;
        tw_release(output);
        output = sum;
    }
    int extra = input->shape.rank - layer->axes - 2;
    if (output && extra > 0) { /* the dimensions of the batch again */
        tw_shape shape = input->shape;
        for (int i = 0; i < layer->axes + 1; i++)
            shape.dims[1 + extra + i] = output->shape.dims[1 + i];
        tw_tensor *whole = tw__reshape(output, &shape);
        tw_release(output);
        output = whole;
    }
    tw_tensor *result = output ? tw__activation_call(&layer->activation, output) : NULL;
    tw_release(output);
    return result;
}

static tw_status conv_output_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    conv *layer = (conv *)self;
    int rank = input->rank, first = layer->channels_first ? rank - layer->axes : rank - layer->axes - 1;
    int channels = layer->channels_first ? first - 1 : rank - 1;
    *output = *input;
    for (int i = 0; i < layer->axes; i++)
        output->dims[first + i] =
            tw__layer_places(input->dims[first + i], layer->size[i], layer->stride[i], layer->dilation[i], layer->padding);
    output->dims[channels] = layer->depthwise ? input->dims[channels] * layer->filters : layer->filters;
    return TW_OK;
}

static void conv_config(tw_layer *self, tw__dict *dict)
{
    conv *layer = (conv *)self;
    tw__dict_put(dict, "kernel_size", tw__sizes_value(layer->size, layer->axes));
    tw__dict_put(dict, "strides", tw__sizes_value(layer->stride, layer->axes));
    tw__dict_put(dict, "dilation_rate", tw__sizes_value(layer->dilation, layer->axes));
    tw__dict_put_str(dict, "padding", layer->padding);
    tw__dict_put_str(dict, "data_format", layer->channels_first ? "channels_first" : "channels_last");
    if (layer->depthwise)
        tw__dict_put(dict, "groups", (tw_value){ .kind = TW_VALUE_INT, .i = 1 });
}

#define METHODS(build_function)                                                                               \
    {                                                                                                         \
        .build = build_function, .call = conv_call, .output_shape = conv_output_shape, .config = conv_config, \
        .own_config = " kernel_size strides padding data_format dilation_rate "                               \
    }
#define CLASS .parent = &tw__class_layer, .size = sizeof(conv), .destroy = conv_clear, .visit = conv_visit, .clear = conv_clear
#define OPTIONS(args, prefix)                                                                                                  \
    {                                                                                                                          \
        (args)->kernel_size, (args)->strides, (args)->dilation_rate, (args)->padding, (args)->data_format, (args)->activation, \
            (args)->prefix##_initializer, (args)->bias_initializer, (args)->no_bias,                                           \
            { (args)->prefix##_regularizer, (args)->bias_regularizer, (args)->activity_regularizer },                          \
            (args)->prefix##_constraint, (args)->bias_constraint                                                               \
    }

/* ---- Conv2D ---- */

static tw_status conv2d_init(void *self, const void *given)
{
    conv *layer = self;
    const tw_layers_conv2d_args *args = given;
    layer->axes = 2;
    layer->filters = args->filters;
    layer->groups = args->groups;
    return init(layer, &(options)OPTIONS(args, kernel));
}

static tw_status conv2d_build(tw_layer *self, const tw_shape *input_shape)
{
    const tw_layers_conv2d_args *args = tw_object_config(self);
    return build((conv *)self, input_shape, args ? args->kernel_initializer : NULL, args ? args->bias_initializer : "zeros");
}

static const tw__layer_methods conv2d_methods = METHODS(conv2d_build);

TW_CLASS(layers_conv2d,
         "keras.layers.Conv2D|keras.layers.Convolution2D(filters: int, kernel_size: ints, strides: ints = (1, 1), "
         "padding: str = valid, "
         "data_format: str = None, dilation_rate: ints = (1, 1), groups: int = 1, activation: named<activation> = None, "
         "use_bias: bool = True, "
         "kernel_initializer: named<initializer> = glorot_uniform, bias_initializer: named<initializer> = zeros, "
         "kernel_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "
         "activity_regularizer: named<regularizer> = None, kernel_constraint: named<constraint> = None, "
         "bias_constraint: named<constraint> = None, **layer) -> layer",
         CLASS, .init = conv2d_init, .methods = &conv2d_methods,
         .doc = "A convolution of images with a kernel [rows, columns, channels, filters].");

/* ---- Conv1D ---- */

static tw_status conv1d_init(void *self, const void *given)
{
    conv *layer = self;
    const tw_layers_conv1d_args *args = given;
    layer->axes = 1;
    layer->filters = args->filters;
    layer->groups = args->groups;
    return init(layer, &(options)OPTIONS(args, kernel));
}

static tw_status conv1d_build(tw_layer *self, const tw_shape *input_shape)
{
    const tw_layers_conv1d_args *args = tw_object_config(self);
    return build((conv *)self, input_shape, args ? args->kernel_initializer : NULL, args ? args->bias_initializer : "zeros");
}

static const tw__layer_methods conv1d_methods = METHODS(conv1d_build);

TW_CLASS(
    layers_conv1d,
    "keras.layers.Conv1D|keras.layers.Convolution1D(filters: int, kernel_size: ints, strides: ints = 1, padding: str = valid, "
    "data_format: str = channels_last, dilation_rate: ints = 1, groups: int = 1, activation: named<activation> = None, "
    "use_bias: bool = True, "
    "kernel_initializer: named<initializer> = glorot_uniform, bias_initializer: named<initializer> = zeros, "
    "kernel_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "
    "activity_regularizer: named<regularizer> = None, kernel_constraint: named<constraint> = None, "
    "bias_constraint: named<constraint> = None, **layer) -> layer",
    CLASS, .init = conv1d_init, .methods = &conv1d_methods,
    .doc = "A convolution of sequences with a kernel [steps, channels, filters].");

/* ---- DepthwiseConv2D ---- */

static tw_status depthwise_init(void *self, const void *given)
{
    conv *layer = self;
    const tw_layers_depthwise_conv2d_args *args = given;
    layer->axes = 2;
    layer->depthwise = true;
    layer->filters = args->depth_multiplier;
    layer->groups = 1;
    return init(layer, &(options)OPTIONS(args, depthwise));
}

static tw_status depthwise_build(tw_layer *self, const tw_shape *input_shape)
{
    const tw_layers_depthwise_conv2d_args *args = tw_object_config(self);
    return build((conv *)self, input_shape, args ? args->depthwise_initializer : NULL, args ? args->bias_initializer : "zeros");
}

static const tw__layer_methods depthwise_methods = METHODS(depthwise_build);

static tw_status depthwise1d_init(void *self, const void *given)
{
    conv *layer = self;
    const tw_layers_depthwise_conv1d_args *args = given;
    layer->axes = 1;
    layer->depthwise = true;
    layer->filters = args->depth_multiplier;
    layer->groups = 1;
    return init(layer, &(options)OPTIONS(args, depthwise));
}

static tw_status depthwise1d_build(tw_layer *self, const tw_shape *input_shape)
{
    const tw_layers_depthwise_conv1d_args *args = tw_object_config(self);
    return build((conv *)self, input_shape, args ? args->depthwise_initializer : NULL, args ? args->bias_initializer : "zeros");
}

static const tw__layer_methods depthwise1d_methods = METHODS(depthwise1d_build);

TW_CLASS(layers_depthwise_conv1d,
         "keras.layers.DepthwiseConv1D(kernel_size: ints, strides: ints = 1, padding: str = valid, depth_multiplier: int = 1, "
         "data_format: str = None, dilation_rate: ints = 1, activation: named<activation> = None, use_bias: bool = True, "
         "depthwise_initializer: named<initializer> = glorot_uniform, bias_initializer: named<initializer> = zeros, "
         "depthwise_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "
         "activity_regularizer: named<regularizer> = None, depthwise_constraint: named<constraint> = None, "
         "bias_constraint: named<constraint> = None, **layer) -> layer",
         CLASS, .init = depthwise1d_init, .methods = &depthwise1d_methods,
         .doc = "A convolution of every channel of a sequence with kernels of its own.");

TW_CLASS(
    layers_depthwise_conv2d,
    "keras.layers.DepthwiseConv2D(kernel_size: ints, strides: ints = (1, 1), padding: str = valid, depth_multiplier: int = 1, "
    "data_format: str = None, dilation_rate: ints = (1, 1), activation: named<activation> = None, use_bias: bool = True, "
    "depthwise_initializer: named<initializer> = glorot_uniform, bias_initializer: named<initializer> = zeros, "
    "depthwise_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "
    "activity_regularizer: named<regularizer> = None, depthwise_constraint: named<constraint> = None, "
    "bias_constraint: named<constraint> = None, **layer) -> layer",
    CLASS, .init = depthwise_init, .methods = &depthwise_methods,
    .doc = "A convolution of every channel with kernels of its own.");
