/* keras.layers.SeparableConv1D and SeparableConv2D: every channel for itself, then all together.
 *
 * Kernels: depthwise [size…, channels, multiplier], pointwise [1…, channels * multiplier, filters]. */
#include "keras/layers/conv.h"
#include "op/calls.h"

static tw_status separable_settle(void *self, const void *given)
{
    (void)given;
    tw__conv *layer = self;
    tw_layers_separable_conv2d_args own;
    tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_layers_separable_conv2d, &own);
    if (own.groups != 1) /* as in Keras these layers take and tell the settings of a single kernel, which they do not have */
        return tw__fail(TW_UNIMPLEMENTED, "%s \"%s\": groups=%lld is not supported, expected 1", tw_class_name(layer),
                        layer->layer.name, (long long)own.groups);
    TW_TRY(tw__conv_check_positive("filters", own.filters));
    TW_TRY(tw__conv_check_positive("depth_multiplier", layer->multiplier = own.depth_multiplier));
    TW_TRY(tw__conv_settle(layer, tw__conv_axes(layer) == 1));
    return tw__conv_check_together(layer);
}

static tw_status separable_build(tw_layer *self, const tw_shape *input)
{
    tw__conv *layer = (tw__conv *)self;
    int64_t channels = 0, inner;
    TW_TRY(tw__layer_need_rank(self, input, tw__conv_axes(layer) + 2));
    TW_TRY(tw__conv_channels(layer, input, NULL, &channels));
    if (__builtin_mul_overflow(channels, layer->multiplier, &inner))
        return tw__fail(TW_VALUE_ERROR, "%s: depth_multiplier is too large", tw_class_name(self));
    TW_TRY(tw__conv_add_kernel(layer, "depthwise_kernel", layer->size, channels, layer->multiplier));
    TW_TRY(tw__conv_add_kernel(layer, "pointwise_kernel", NULL, inner, layer->settings.filters));
    TW_TRY(tw__conv_add_bias(layer, layer->settings.filters));
    if (!layer->channels_first)
        self->last_axis = channels;
    return TW_OK;
}

static tw_tensor *convolve(tw__conv *layer, tw_tensor *images)
{
    const int rows = 1, last = tw__conv_axes(layer) - 1;
    int64_t strides[4] = { 1, 1, 1, 1 }, dilations[4] = { 1, 1, 1, 1 }, ones[4] = { 1, 1, 1, 1 };
    for (int i = 0; i < 2; i++) { /* of sequences the one row moves as the columns do */
        strides[rows + i] = layer->stride[i < last ? i : last];
        dilations[rows + i] = layer->dilation[i < last ? i : last];
    }
    tw_auto tw_tensor *x = tw_retain(images);
    if (layer->padding[0] == 'c') {
        int32_t amounts[8] = { 0 };
        amounts[2 * (rows + 1)] = (int32_t)((layer->size[0] - 1) * layer->dilation[0]);
        tw_auto tw_tensor *paddings = tw_tensor_new(TW_INT32, TW_SHAPE(4, 2), amounts);
        tw_release(x);
        x = TW_CALL(Pad, images, paddings);
    }
    tw_attr attrs[] = { TW_A_INTS("strides", strides, 4), TW_A_INTS("dilations", dilations, 4),
                        TW_A_STRING("padding", layer->padding[0] == 's' ? "SAME" : "VALID") };
    tw_auto tw_tensor *depthwise = tw__conv_of_images(layer, tw__layer_read(&layer->layer, "depthwise_kernel"));
    tw_auto tw_tensor *pointwise = tw__conv_of_images(layer, tw__layer_read(&layer->layer, "pointwise_kernel"));
    tw_auto tw_tensor *apart = x && depthwise ? tw__conv_apart(x, depthwise, attrs, strides[1] == strides[2]) : NULL;
    tw_attr plain[] = { TW_A_INTS("strides", ones, 4), TW_A_STRING("padding", "VALID") };
    return apart && pointwise ? tw__call(&tw__op_Conv2D, TW_IN(apart, pointwise), 2, plain, 2) : NULL;
}

#define METHODS(axes_)                                                                                       \
    {                                                                                                        \
        .layer = { .minimum_rank = axes_ + 2,                                                                \
                   .build = separable_build,                                                                 \
                   .call = tw__conv_output,                                                                  \
                   .output_shape = tw__conv_output_shape,                                                    \
                   .config = tw__conv_config,                                                                \
                   .own_config = " kernel_size strides dilation_rate padding data_format output_padding " }, \
        .axes = axes_, .convolve = convolve, .length = tw__conv_length                                       \
    }
static const tw__conv_methods separable_conv1d_methods = METHODS(1), separable_conv2d_methods = METHODS(2);

/* What both classes take. */
#define SEPARABLE_WEIGHTS                                                                               \
    "depth_multiplier: int = 1, activation: named<activation> = None, use_bias: bool = True, "          \
    "depthwise_initializer: named<initializer> = glorot_uniform, "                                      \
    "pointwise_initializer: named<initializer> = glorot_uniform, "                                      \
    "bias_initializer: named<initializer> = zeros, depthwise_regularizer: named<regularizer> = None, "  \
    "pointwise_regularizer: named<regularizer> = None, bias_regularizer: named<regularizer> = None, "   \
    "activity_regularizer: named<regularizer> = None, depthwise_constraint: named<constraint> = None, " \
    "pointwise_constraint: named<constraint> = None, bias_constraint: named<constraint> = None, "       \
    "*, groups: int = 1, kernel_initializer: named<initializer> = glorot_uniform, "                     \
    "kernel_regularizer: named<regularizer> = None, kernel_constraint: named<constraint> = None"

TW_CLASS(layers_separable_conv1d,
         "keras.layers.SeparableConv1D|keras.layers.SeparableConvolution1D(filters: int, kernel_size: ints, "
         "strides: ints = 1, padding: str = valid, data_format: str = None, dilation_rate: ints = 1, " SEPARABLE_WEIGHTS
         ", **layer) -> layer",
         TW_CONV_CLASS, .settle = separable_settle, .methods = &separable_conv1d_methods,
         .doc = "A convolution of every channel for itself, then one that mixes the channels.");

TW_CLASS(layers_separable_conv2d,
         "keras.layers.SeparableConv2D|keras.layers.SeparableConvolution2D(filters: int, kernel_size: ints, "
         "strides: ints = (1, 1), padding: str = valid, data_format: str = None, dilation_rate: ints = (1, 1), " SEPARABLE_WEIGHTS
         ", **layer) -> layer",
         TW_CONV_CLASS, .settle = separable_settle, .methods = &separable_conv2d_methods,
         .doc = "A convolution of every channel for itself, then one that mixes the channels.");
