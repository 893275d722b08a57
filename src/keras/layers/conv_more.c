/* keras.layers.SeparableConv1D/2D (every channel for itself, then all together) and Conv1DTranspose/Conv2DTranspose (the gradient
 * of a convolution).
 *
 * A sequence is an image of one row. Kernels: depthwise [size…, channels, multiplier], pointwise [1…, channels * multiplier,
 * filters]; of a transposed one [size…, filters, channels]. */
#include "keras/constraints/constraints.h"
#include "keras/layers/layers.h"
#include "keras/regularizers/regularizers.h"
#include "op/array/array.h"
#include "op/gradient.h"

typedef struct conv_more {
    tw_layer layer;
    int axes;
    bool transposed, has_bias, channels_first;
    char padding[8];
    int64_t filters, multiplier;
    int64_t size[2], stride[2], dilation[2], output_padding[2]; /* output_padding[0] -1: none */
    tw__activation activation;
    tw_named initializers[3]; /* of the kernels and the bias; of its arguments */
} conv_more;

typedef struct options {
    tw_ints size, strides, dilation, output_padding;
    const char *padding, *data_format;
    tw_named activation, initializers[3], regularizers[4], constraints[3];
    bool no_bias;
} options;

static tw_status init(conv_more *layer, int axes, int64_t filters, int64_t multiplier, const options *o)
{
    layer->axes = axes;
    layer->filters = filters;
    layer->multiplier = multiplier;
    layer->has_bias = !o->no_bias;
    layer->layer.minimum_rank = axes + 2;
    if (filters <= 0 || multiplier <= 0)
        return tw__fail(TW_VALUE_ERROR, "Invalid value for argument `%s`. Expected a strictly positive value. Received %s=%lld.",
                        filters <= 0 ? "filters" : "depth_multiplier", filters <= 0 ? "filters" : "depth_multiplier",
                        (long long)(filters <= 0 ? filters : multiplier));
    for (int i = 0; i < 4; i++)
        TW_TRY(tw__regularizer_check(o->regularizers[i]));
    for (int i = 0; i < 3; i++) {
        TW_TRY(tw__constraint_check(o->constraints[i]));
        TW_TRY(tw__layer_check_initializer(o->initializers[i]));
        layer->initializers[i] = o->initializers[i];
    }
    TW_TRY(tw__layer_sizes("kernel_size", o->size, axes, false, layer->size));
    TW_TRY(tw__layer_sizes("strides", o->strides, axes, false, layer->stride));
    TW_TRY(tw__layer_sizes("dilation_rate", o->dilation, axes, false, layer->dilation));
    TW_TRY(tw__layer_padding(o->padding, axes == 1 && !layer->transposed, layer->padding));
    TW_TRY(tw__layer_channels_first(o->data_format, &layer->channels_first));
    layer->output_padding[0] = -1;
    if (o->output_padding.given)
        TW_TRY(tw__layer_sizes("output_padding", o->output_padding, axes, true, layer->output_padding));
    for (int i = 0; i < axes; i++) {
        if (o->output_padding.given && layer->output_padding[i] >= layer->stride[i])
            return tw__fail(TW_VALUE_ERROR,
                            "Strides must be greater than output padding. Received strides=%lld, output_padding=%lld.",
                            (long long)layer->stride[i], (long long)layer->output_padding[i]);
    }
    if (layer->channels_first)
        return tw__fail(TW_UNIMPLEMENTED, "%s \"%s\": data_format='channels_first' is not supported", tw_class_name(layer),
                        layer->layer.name);
    if (!layer->transposed && axes == 2 && layer->stride[0] != layer->stride[1])
        return tw__fail(TW_UNIMPLEMENTED, "%s \"%s\": strides=(%lld, %lld), expected equal ones", tw_class_name(layer),
                        layer->layer.name, (long long)layer->stride[0], (long long)layer->stride[1]);
    return tw__activation_find(&layer->activation, o->activation);
}

static void more_visit(void *self, tw__visitor visitor, void *context)
{
    conv_more *layer = self;
    if (layer->activation.object)
        visitor(context, layer->activation.object);
}

static void more_clear(void *self)
{
    tw__activation_free(&((conv_more *)self)->activation);
}

/* ---- weights ---- */

static tw_variable *add_kernel(conv_more *layer, const char *name, const int64_t *size, int64_t in, int64_t out,
                               tw_named initializer)
{
    tw_shape shape = { .rank = layer->axes + 2 };
    for (int i = 0; i < layer->axes; i++)
        shape.dims[i] = size ? size[i] : 1;
    shape.dims[layer->axes] = in;
    shape.dims[layer->axes + 1] = out;
    return tw__layer_add_weight(&layer->layer, name, &shape, layer->layer.dtype, initializer, true);
}

static tw_status more_build(tw_layer *self, const tw_shape *input)
{
    conv_more *layer = (conv_more *)self;
    TW_TRY(tw__layer_need_rank(self, input, layer->axes + 2));
    int64_t channels = input->rank > 0 ? input->dims[input->rank - 1] : -1, inner;
    if (channels < 0)
        return tw__fail(TW_VALUE_ERROR,
                        "The channel dimension of the inputs should be defined. Found `None`. Full input shape received: %s",
                        tw__shape_text(input));
    if (__builtin_mul_overflow(channels, layer->multiplier, &inner))
        return tw__fail(TW_VALUE_ERROR, "%s: depth_multiplier is too large", tw_class_name(self));
    bool made = layer->transposed
                    ? add_kernel(layer, "kernel", layer->size, layer->filters, channels, layer->initializers[0]) != NULL
                    : add_kernel(layer, "depthwise_kernel", layer->size, channels, layer->multiplier, layer->initializers[0]) &&
                          add_kernel(layer, "pointwise_kernel", NULL, inner, layer->filters, layer->initializers[1]);
    tw_shape bias = TW_SHAPE(layer->filters);
    if (!made || (layer->has_bias && !tw__layer_add_weight(self, "bias", &bias, self->dtype, layer->initializers[2], true)))
        return tw__error_status();
    self->last_axis = channels;
    return TW_OK;
}

/* ---- calling ---- */

/* The kernel as one of images; takes it. */
static tw_tensor *of_images(const conv_more *layer, tw_tensor *kernel)
{
    tw_auto tw_tensor *taken = kernel;
    if (!kernel || layer->axes == 2)
        return tw_retain(kernel);
    tw_shape shape = { .rank = 4, .dims = { 1, kernel->shape.dims[0], kernel->shape.dims[1], kernel->shape.dims[2] } };
    return tw__reshape(kernel, &shape);
}

static tw_tensor *separable(conv_more *layer, tw_tensor *images)
{
    int64_t strides[4] = { 1, layer->stride[0], layer->axes == 2 ? layer->stride[1] : layer->stride[0], 1 };
    int64_t dilations[4] = { 1, layer->dilation[0], layer->axes == 2 ? layer->dilation[1] : layer->dilation[0], 1 },
            ones[4] = { 1, 1, 1, 1 };
    tw_auto tw_tensor *x = tw_retain(images);
    if (layer->padding[0] == 'c') {
        int32_t amounts[8] = { [4] = (int32_t)((layer->size[0] - 1) * layer->dilation[0]) };
        tw_auto tw_tensor *paddings = tw_tensor_new(TW_INT32, TW_SHAPE(4, 2), amounts);
        tw_release(x);
        x = paddings ? TW_BINARY(Pad, images, paddings) : NULL;
    }
    tw_attr attrs[] = { TW_A_INTS("strides", strides, 4), TW_A_INTS("dilations", dilations, 4),
                        TW_A_STRING("padding", layer->padding[0] == 's' ? "SAME" : "VALID") };
    tw_auto tw_tensor *depthwise = of_images(layer, tw__layer_read(&layer->layer, "depthwise_kernel"));
    tw_auto tw_tensor *pointwise = of_images(layer, tw__layer_read(&layer->layer, "pointwise_kernel"));
    tw_auto tw_tensor *apart = x && depthwise ? tw__call(&tw__op_DepthwiseConv2dNative, TW_IN(x, depthwise), 2, attrs, 3) : NULL;
    tw_attr plain[] = { TW_A_INTS("strides", ones, 4), TW_A_STRING("padding", "VALID") };
    return apart && pointwise ? tw__call(&tw__op_Conv2D, TW_IN(apart, pointwise), 2, plain, 2) : NULL;
}

static int64_t transposed_length(const conv_more *layer, int64_t in, int i)
{
    if (in < 0)
        return -1;
    int64_t whole = (layer->size[i] - 1) * layer->dilation[i] + 1, stride = layer->stride[i];
    bool same = layer->padding[0] == 's';
    if (layer->output_padding[0] >= 0)
        return (in - 1) * stride + whole - (same ? whole / 2 * 2 : 0) + layer->output_padding[i];
    return same ? in * stride : in * stride + (whole > stride ? whole - stride : 0);
}

static tw_tensor *transposed(conv_more *layer, tw_tensor *images)
{
    int first = layer->axes == 2 ? 1 : 2;
    int64_t strides[4] = { 1, 1, 1, 1 }, dilations[4] = { 1, 1, 1, 1 },
            sizes[4] = { images->shape.dims[0], 1, 1, layer->filters };
    for (int i = 0; i < layer->axes; i++) {
        strides[first + i] = layer->stride[i];
        dilations[first + i] = layer->dilation[i];
        sizes[first + i] = transposed_length(layer, images->shape.dims[first + i], i);
        if (sizes[first + i] < 0) {
            tw__fail(TW_UNIMPLEMENTED, "%s \"%s\": the size of the input is not known, its shape is %s", tw_class_name(layer),
                     layer->layer.name, tw__shape_text(&images->shape));
            return NULL;
        }
    }
    tw_auto tw_tensor *kernel = of_images(layer, tw__layer_read(&layer->layer, "kernel")), *whole = NULL;
    if (sizes[0] >= 0) {
        whole = tw__ints_tensor(sizes, 4, TW_INT32);
    } else {
        tw_auto tw_tensor *batch = TW_G3(Slice, TW_UNARY(Shape, images), tw__ints_tensor((int64_t[]){ 0 }, 1, TW_INT32),
                                         tw__ints_tensor((int64_t[]){ 1 }, 1, TW_INT32));
        tw_auto tw_tensor *rest = tw__ints_tensor(sizes + 1, 3, TW_INT32), *axis = tw_tensor_int(0);
        whole = batch && rest && axis ? tw__call(&tw__op_ConcatV2, TW_IN(batch, rest, axis), 3, NULL, 0) : NULL;
    }
    tw_attr attrs[] = { TW_A_INTS("strides", strides, 4), TW_A_INTS("dilations", dilations, 4),
                        TW_A_STRING("padding", layer->padding[0] == 's' ? "SAME" : "VALID") };
    tw_auto tw_tensor *made =
        whole && kernel ? tw__call(&tw__op_Conv2DBackpropInput, TW_IN(whole, kernel, images), 3, attrs, 3) : NULL;
    tw_shape shape = { .rank = 4 };
    memcpy(shape.dims, sizes, sizeof sizes);
    return made && sizes[0] < 0 ? tw__reshape(made, &shape) : tw_retain(made);
}

static tw_tensor *more_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    conv_more *layer = (conv_more *)self;
    if (tw__layer_need_rank(self, &input->shape, layer->axes + 2) != TW_OK)
        return NULL;
    tw_auto tw_tensor *row = tw_tensor_int(1);
    tw_auto tw_tensor *images = layer->axes == 2 ? tw_retain(input) : row ? TW_BINARY(ExpandDims, input, row) : NULL;
    tw_tensor *output = !images ? NULL : layer->transposed ? transposed(layer, images) : separable(layer, images);
    if (output && layer->has_bias)
        output = TW_G2(BiasAdd, output, tw__layer_read(self, "bias"));
    if (output && layer->axes == 1) {
        tw_auto tw_tensor *one = output;
        output = tw__call(&tw__op_Squeeze, TW_IN(one), 1, TW_WITH(TW_A_INTS("squeeze_dims", ((int64_t[]){ 1 }), 1)), 1);
    }
    tw_tensor *result = output ? tw__activation_call(&layer->activation, output) : NULL;
    tw_release(output);
    return result;
}

static tw_status more_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    conv_more *layer = (conv_more *)self;
    TW_TRY(tw__layer_need_rank(self, input, layer->axes + 2));
    *output = *input;
    for (int i = 0; i < layer->axes; i++)
        output->dims[1 + i] = layer->transposed ? transposed_length(layer, input->dims[1 + i], i)
                                                : tw__layer_places(input->dims[1 + i], layer->size[i], layer->stride[i],
                                                                   layer->dilation[i], layer->padding);
    output->dims[layer->axes + 1] = layer->filters;
    return TW_OK;
}

static void more_config(tw_layer *self, tw__dict *dict)
{
    conv_more *layer = (conv_more *)self;
    tw__dict_put(dict, "kernel_size", tw__sizes_value(layer->size, layer->axes));
    tw__dict_put(dict, "strides", tw__sizes_value(layer->stride, layer->axes));
    tw__dict_put(dict, "dilation_rate", tw__sizes_value(layer->dilation, layer->axes));
    tw__dict_put_str(dict, "padding", layer->padding);
    tw__dict_put_str(dict, "data_format", "channels_last");
    if (!layer->transposed)
        return;
    tw__dict_put(dict, "groups", (tw_value){ .kind = TW_VALUE_INT, .i = 1 });
    tw__dict_put(dict, "output_padding",
                 layer->output_padding[0] < 0 ? (tw_value){ .kind = TW_VALUE_NONE }
                                              : tw__sizes_value(layer->output_padding, layer->axes));
}

static const tw__layer_methods more_methods = { .build = more_build,
                                                .call = more_call,
                                                .output_shape = more_shape,
                                                .config = more_config,
                                                .own_config =
                                                    " kernel_size strides dilation_rate padding data_format output_padding " };
#define CLASS                                                                                                               \
    .parent = &tw__class_layer, .size = sizeof(conv_more), .destroy = more_clear, .visit = more_visit, .clear = more_clear, \
    .methods = &more_methods

/* As in Keras these layers take and tell the settings of a single kernel, which they do not have. */
static tw_status check_unused(const tw_layer *layer, int64_t groups, tw_named initializer, tw_named regularizer,
                              tw_named constraint)
{
    if (groups != 1)
        return tw__fail(TW_UNIMPLEMENTED, "%s \"%s\": groups=%lld is not supported, expected 1", tw_class_name(layer),
                        layer->name, (long long)groups);
    TW_TRY(tw__layer_check_initializer(initializer));
    TW_TRY(tw__regularizer_check(regularizer));
    return tw__constraint_check(constraint);
}

#define SEPARABLE(id, axes)                                                                                                    \
    static tw_status id##_init(void *self, const void *given)                                                                  \
    {                                                                                                                          \
        const tw_layers_##id##_args *args = given;                                                                             \
        TW_TRY(check_unused(self, args->groups, args->kernel_initializer, args->kernel_regularizer, args->kernel_constraint)); \
        return init(self, axes, args->filters, args->depth_multiplier,                                                         \
                    &(options){ args->kernel_size,                                                                             \
                                args->strides,                                                                                 \
                                args->dilation_rate,                                                                           \
                                { 0 },                                                                                         \
                                args->padding,                                                                                 \
                                args->data_format,                                                                             \
                                args->activation,                                                                              \
                                { args->depthwise_initializer, args->pointwise_initializer, args->bias_initializer },          \
                                { args->depthwise_regularizer, args->pointwise_regularizer, args->bias_regularizer,            \
                                  args->activity_regularizer },                                                                \
                                { args->depthwise_constraint, args->pointwise_constraint, args->bias_constraint },             \
                                args->no_bias });                                                                              \
    }
SEPARABLE(separable_conv1d, 1)
SEPARABLE(separable_conv2d, 2)

#define TRANSPOSED(id, axes)                                                                                            \
    static tw_status id##_init(void *self, const void *given)                                                           \
    {                                                                                                                   \
        const tw_layers_##id##_args *args = given;                                                                      \
        ((conv_more *)self)->transposed = true;                                                                         \
        return init(self, axes, args->filters, 1,                                                                       \
                    &(options){ args->kernel_size,                                                                      \
                                args->strides,                                                                          \
                                args->dilation_rate,                                                                    \
                                args->output_padding,                                                                   \
                                args->padding,                                                                          \
                                args->data_format,                                                                      \
                                args->activation,                                                                       \
                                { args->kernel_initializer, NULL, args->bias_initializer },                             \
                                { args->kernel_regularizer, NULL, args->bias_regularizer, args->activity_regularizer }, \
                                { args->kernel_constraint, NULL, args->bias_constraint },                               \
                                args->no_bias });                                                                       \
    }
TRANSPOSED(conv1d_transpose, 1)
TRANSPOSED(conv2d_transpose, 2)

TW_CLASS(
    layers_separable_conv1d,
    "keras.layers.SeparableConv1D|keras.layers.SeparableConvolution1D(filters: int, kernel_size: ints, strides: ints = 1, padding: str = valid, "
    "data_format: str = None, dilation_rate: ints = 1, depth_multiplier: int = 1, activation: named<activation> = None, use_bias: bool = True, "
    "depthwise_initializer: named<initializer> = glorot_uniform, pointwise_initializer: named<initializer> = glorot_uniform, "
    "bias_initializer: named<initializer> = zeros, depthwise_regularizer: named<regularizer> = None, "
    "pointwise_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "
    "activity_regularizer: named<regularizer> = None, depthwise_constraint: named<constraint> = None, "
    "pointwise_constraint: named<constraint> = None, bias_constraint: named<constraint> = None, groups: int = 1, "
    "kernel_initializer: named<initializer> = glorot_uniform, kernel_regularizer: named<regularizer> = None, "
    "kernel_constraint: named<constraint> = None, **layer) -> layer",
    CLASS, .init = separable_conv1d_init, .doc = "A convolution of every channel for itself, then one that mixes the channels.");

TW_CLASS(
    layers_conv1d_transpose,
    "keras.layers.Conv1DTranspose|keras.layers.Convolution1DTranspose(filters: int, kernel_size: ints, strides: ints = 1, padding: str = valid, "
    "output_padding: ints = None, data_format: str = None, dilation_rate: ints = 1, activation: named<activation> = None, use_bias: bool = True, "
    "kernel_initializer: named<initializer> = glorot_uniform, bias_initializer: named<initializer> = zeros, "
    "kernel_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "
    "activity_regularizer: named<regularizer> = None, kernel_constraint: named<constraint> = None, "
    "bias_constraint: named<constraint> = None, **layer) -> layer",
    CLASS, .init = conv1d_transpose_init, .doc = "The opposite of a convolution's change of shape.");

TW_CLASS(
    layers_separable_conv2d,
    "keras.layers.SeparableConv2D|keras.layers.SeparableConvolution2D(filters: int, kernel_size: ints, strides: ints = (1, 1), padding: str = valid, "
    "data_format: str = None, dilation_rate: ints = (1, 1), depth_multiplier: int = 1, activation: named<activation> = None, use_bias: bool = True, "
    "depthwise_initializer: named<initializer> = glorot_uniform, pointwise_initializer: named<initializer> = glorot_uniform, "
    "bias_initializer: named<initializer> = zeros, depthwise_regularizer: named<regularizer> = None, "
    "pointwise_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "
    "activity_regularizer: named<regularizer> = None, depthwise_constraint: named<constraint> = None, "
    "pointwise_constraint: named<constraint> = None, bias_constraint: named<constraint> = None, groups: int = 1, "
    "kernel_initializer: named<initializer> = glorot_uniform, kernel_regularizer: named<regularizer> = None, "
    "kernel_constraint: named<constraint> = None, **layer) -> layer",
    CLASS, .init = separable_conv2d_init, .doc = "A convolution of every channel for itself, then one that mixes the channels.");

TW_CLASS(
    layers_conv2d_transpose,
    "keras.layers.Conv2DTranspose|keras.layers.Convolution2DTranspose(filters: int, kernel_size: ints, strides: ints = (1, 1), padding: str = valid, "
    "output_padding: ints = None, data_format: str = None, dilation_rate: ints = (1, 1), activation: named<activation> = None, use_bias: bool = True, "
    "kernel_initializer: named<initializer> = glorot_uniform, bias_initializer: named<initializer> = zeros, "
    "kernel_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "
    "activity_regularizer: named<regularizer> = None, kernel_constraint: named<constraint> = None, "
    "bias_constraint: named<constraint> = None, **layer) -> layer",
    CLASS, .init = conv2d_transpose_init, .doc = "The opposite of a convolution's change of shape.");
