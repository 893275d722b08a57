/* What the layers of convolution share; see conv.h. */
#include "keras/layers/conv.h"

#include "op/calls.h"

tw_status tw__conv_check_positive(const char *name, int64_t value)
{
    return value > 0 ? TW_OK
                     : tw__fail(TW_VALUE_ERROR,
                                "Invalid value for argument `%s`. Expected a strictly positive value. Received %s=%lld.", name,
                                name, (long long)value);
}

char *tw__conv_tuple(const int64_t *sizes, int count)
{
    tw_shape shape = { .rank = count };
    memcpy(shape.dims, sizes, (size_t)count * sizeof *sizes);
    return tw__shape_tuple(&shape);
}

tw_status tw__conv_settle(tw__conv *layer, bool causal)
{
    tw_layers_conv2d_args *o = &layer->settings;
    tw__args_project(tw_class_signature(tw_class_of(layer)), tw_object_config(layer), &tw__signature_layers_conv2d, o);
    int axes = tw__conv_axes(layer);
    TW_TRY(tw__layer_sizes("kernel_size", o->kernel_size, axes, false, layer->size));
    TW_TRY(tw__layer_sizes("strides", o->strides, axes, true, layer->stride));
    TW_TRY(tw__layer_sizes("dilation_rate", o->dilation_rate, axes, false, layer->dilation));
    TW_TRY(tw__layer_padding(o->padding, causal, layer->padding));
    TW_TRY(tw__layer_channels_first(o->data_format, &layer->channels_first));
    for (int i = 0; i < axes; i++) {
        tw__owned char *text = layer->stride[i] == 0 ? tw__conv_tuple(layer->stride, axes) : NULL;
        if (layer->stride[i] == 0)
            return tw__fail(TW_VALUE_ERROR, "The argument `strides` cannot contains 0(s). Received: %s", text ? text : "");
    }
    layer->output_padding[0] = -1;
    return TW_OK;
}

tw_status tw__conv_check_together(const tw__conv *layer)
{
    bool strided = false, dilated = false;
    int axes = tw__conv_axes(layer);
    for (int i = 0; i < axes; i++) {
        strided |= layer->stride[i] > 1;
        dilated |= layer->dilation[i] > 1;
    }
    if (!strided || !dilated)
        return TW_OK;
    tw__owned char *strides = tw__conv_tuple(layer->stride, axes), *dilations = tw__conv_tuple(layer->dilation, axes);
    return tw__fail(
        TW_VALUE_ERROR,
        "`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: strides=%s and dilation_rate=%s",
        strides ? strides : "", dilations ? dilations : "");
}

void tw__conv_config(tw_layer *self, tw__dict *dict)
{
    tw__conv *layer = (tw__conv *)self;
    tw__dict_put(dict, "kernel_size", tw__sizes_value(layer->size, tw__conv_axes(layer)));
    tw__dict_put(dict, "strides", tw__sizes_value(layer->stride, tw__conv_axes(layer)));
    if (!tw__is(self, &tw__class_layers_conv3d_transpose)) /* which is not dilated, as in Keras */
        tw__dict_put(dict, "dilation_rate", tw__sizes_value(layer->dilation, tw__conv_axes(layer)));
    tw__dict_put_str(dict, "padding", layer->padding);
    tw__dict_put_str(dict, "data_format", layer->settings.data_format ? layer->settings.data_format : "channels_last");
}

/* ---- weights ---- */

tw_status tw__conv_channels(const tw__conv *layer, const tw_shape *input, const char *name, int64_t *channels)
{
    int rank = input->rank;
    *channels = rank < tw__conv_axes(layer) + 1 ? -1 : input->dims[tw__conv_channel_axis(layer, rank)];
    if (*channels >= 0)
        return TW_OK;
    tw__owned char *text = tw__shape_tuple(input);
    return tw__fail(TW_VALUE_ERROR,
                    "The channel dimension of the inputs%s%s%s should be defined. The input_shape received is %s, where axis %d "
                    "(0-based) is the channel dimension, which found to be `None`.",
                    name ? " to `" : "", name ? name : "", name ? "`" : "", text ? text : "",
                    layer->channels_first ? -1 - tw__conv_axes(layer) : -1);
}

tw_status tw__conv_add_kernel(tw__conv *layer, const char *name, const int64_t *size, int64_t in, int64_t out)
{
    int axes = tw__conv_axes(layer);
    tw_shape shape = { .rank = axes + 2 };
    for (int i = 0; i < axes; i++)
        shape.dims[i] = size ? size[i] : 1;
    shape.dims[axes] = in;
    shape.dims[axes + 1] = out;
    return tw__layer_add_part(&layer->layer, name, &shape);
}

tw_status tw__conv_add_bias(tw__conv *layer, int64_t size)
{
    return layer->settings.use_bias ? tw__layer_add_part(&layer->layer, "bias", &TW_SHAPE(size)) : TW_OK;
}

/* ---- calling ---- */

tw_tensor *tw__conv_of_images(const tw__conv *layer, tw_tensor *kernel)
{
    tw_auto tw_tensor *taken = kernel;
    if (!kernel || tw__conv_axes(layer) != 1)
        return tw_retain(kernel);
    tw_shape shape = { .rank = 4, .dims = { 1, kernel->shape.dims[0], kernel->shape.dims[1], kernel->shape.dims[2] } };
    return tw__reshape(kernel, &shape);
}

tw_tensor *tw__conv_images(const tw__conv *layer, tw_tensor *input)
{
    return tw__conv_axes(layer) != 1 ? tw_retain(input) : TW_CALL(ExpandDims, input, 1);
}

tw_tensor *tw__conv_sequences(const tw__conv *layer, tw_tensor *images)
{
    tw_auto tw_tensor *taken = images;
    if (!images || tw__conv_axes(layer) != 1)
        return tw_retain(images);
    const int64_t row = 1;
    return TW_CALL(Squeeze, images, TW_A_INTS("squeeze_dims", &row, 1));
}

tw_tensor *tw__conv_turned(const tw__conv *layer, tw_tensor *images, bool channels_first)
{
    return layer->channels_first ? tw__channels_moved(images, channels_first) : images;
}

tw_tensor *tw__conv_apart(tw_tensor *images, tw_tensor *kernel, const tw_attr *attrs, bool equal)
{
    if (equal)
        return tw__call(&tw__op_DepthwiseConv2dNative, TW_IN(images, kernel), 2, attrs, 3);
    const int64_t *dims = kernel->shape.dims;
    tw_auto tw_tensor *grouped = tw__reshape(kernel, &TW_SHAPE(dims[0], dims[1], 1, dims[2] * dims[3]));
    return grouped ? tw__call(&tw__op_Conv2D, TW_IN(images, grouped), 2, attrs, 3) : NULL;
}

tw_tensor *tw__conv_biased(tw__conv *layer, tw_tensor *output)
{
    tw_auto tw_tensor *taken = output, *bias = output && layer->settings.use_bias ? tw__layer_read(&layer->layer, "bias") : NULL;
    if (!output || !layer->settings.use_bias)
        return tw_retain(output);
    return bias ? TW_CALL(BiasAdd, output, bias, TW_A_STRING("data_format", tw__conv_format(layer))) : NULL;
}

tw_tensor *tw__conv_activated(tw__conv *layer, tw_tensor *output)
{
    tw_auto tw_tensor *taken = output;
    return tw__activate(layer->settings.activation, output);
}

int64_t tw__conv_length(const tw__conv *layer, int64_t in, int i)
{
    return tw__layer_places(in, layer->size[i], layer->stride[i], layer->dilation[i], layer->padding);
}

tw_tensor *tw__conv_output(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    tw__conv *layer = (tw__conv *)self;
    if (tw__layer_need_rank(self, &input->shape, tw__conv_axes(layer) + 2) != TW_OK)
        return NULL;
    tw_auto tw_tensor *turned = tw__conv_turned(layer, tw_retain(input), false);
    tw_auto tw_tensor *images = turned ? tw__conv_images(layer, turned) : NULL;
    tw_tensor *output = tw__conv_sequences(layer, images ? tw__conv_methods_of(layer)->convolve(layer, images) : NULL);
    return tw__conv_activated(layer, tw__conv_biased(layer, tw__conv_turned(layer, output, true)));
}

tw_status tw__conv_output_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    const tw__conv *layer = (tw__conv *)self;
    TW_TRY(tw__layer_need_rank(self, input, tw__conv_axes(layer) + 2));
    *output = *input;
    for (int i = 0, first = tw__conv_first(layer, input->rank); i < tw__conv_axes(layer); i++)
        output->dims[first + i] = tw__conv_methods_of(layer)->length(layer, input->dims[first + i], i);
    output->dims[tw__conv_channel_axis(layer, input->rank)] = layer->settings.filters;
    return TW_OK;
}
