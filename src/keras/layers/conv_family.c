/* What the layers of convolution share; see conv.h. */
#include "keras/layers/conv.h"

#include "keras/constraints/constraints.h"
#include "keras/regularizers/regularizers.h"
#include "op/calls.h"

tw_status tw__conv_check_positive(const char *name, int64_t value)
{
    return value > 0 ? TW_OK
                     : tw__fail(TW_VALUE_ERROR,
                                "Invalid value for argument `%s`. Expected a strictly positive value. Received %s=%lld.", name,
                                name, (long long)value);
}

tw_status tw__conv_init(tw__conv *layer, const tw__conv_options *o)
{
    for (int i = 0; i < 4; i++)
        TW_TRY(tw__regularizer_check(o->regularizers[i]));
    for (int i = 0; i < 3; i++) {
        TW_TRY(tw__constraint_check(o->constraints[i]));
        TW_TRY(tw__layer_check_initializer(o->initializers[i]));
        layer->initializers[i] = o->initializers[i];
    }
    TW_TRY(tw__layer_sizes("kernel_size", o->size, layer->axes, false, layer->size));
    TW_TRY(tw__layer_sizes("strides", o->strides, layer->axes, true, layer->stride));
    TW_TRY(tw__layer_sizes("dilation_rate", o->dilation, layer->axes, false, layer->dilation));
    TW_TRY(tw__layer_padding(o->padding, o->causal, layer->padding));
    TW_TRY(tw__layer_channels_first(o->data_format, &layer->channels_first));
    for (int i = 0; i < layer->axes; i++) {
        if (layer->stride[i] == 0)
            return tw__fail(TW_VALUE_ERROR,
                            layer->axes == 2 ? "The argument `strides` cannot contains 0(s). Received: (%lld, %lld)"
                                             : "The argument `strides` cannot contains 0(s). Received: (%lld,)",
                            (long long)layer->stride[0], (long long)layer->stride[1]);
    }
    layer->has_bias = o->use_bias;
    layer->output_padding[0] = -1;
    layer->layer.minimum_rank = layer->axes + 2;
    return tw__activation_find(&layer->activation, o->activation);
}

void tw__conv_visit(void *self, tw__visitor visitor, void *context)
{
    tw__conv *layer = self;
    if (layer->activation.object)
        visitor(context, layer->activation.object);
}

void tw__conv_clear(void *self)
{
    tw__activation_free(&((tw__conv *)self)->activation);
}

void tw__conv_config(tw_layer *self, tw__dict *dict)
{
    tw__conv *layer = (tw__conv *)self;
    tw__dict_put(dict, "kernel_size", tw__sizes_value(layer->size, layer->axes));
    tw__dict_put(dict, "strides", tw__sizes_value(layer->stride, layer->axes));
    tw__dict_put(dict, "dilation_rate", tw__sizes_value(layer->dilation, layer->axes));
    tw__dict_put_str(dict, "padding", layer->padding);
    tw__dict_put_str(dict, "data_format", layer->channels_first ? "channels_first" : "channels_last");
}

/* ---- weights ---- */

tw_status tw__conv_channels(const tw__conv *layer, const tw_shape *input, const char *name, int64_t *channels)
{
    int rank = input->rank;
    *channels = rank < layer->axes + 1 ? -1 : input->dims[tw__conv_channel_axis(layer, rank)];
    if (*channels >= 0)
        return TW_OK;
    char *text = tw__shape_tuple(input);
    tw__fail(TW_VALUE_ERROR,
             "The channel dimension of the inputs%s%s%s should be defined. The input_shape received is %s, where axis %d "
             "(0-based) is the channel dimension, which found to be `None`.",
             name ? " to `" : "", name ? name : "", name ? "`" : "", text ? text : "",
             layer->channels_first ? -1 - layer->axes : -1);
    tw__free(text);
    return tw__error_status();
}

tw_status tw__conv_add_kernel(tw__conv *layer, const char *name, const int64_t *size, int64_t in, int64_t out,
                              tw_named initializer)
{
    tw_shape shape = { .rank = layer->axes + 2 };
    for (int i = 0; i < layer->axes; i++)
        shape.dims[i] = size ? size[i] : 1;
    shape.dims[layer->axes] = in;
    shape.dims[layer->axes + 1] = out;
    tw_layer *base = &layer->layer;
    return tw__layer_add_weight(base, name, &shape, base->dtype, initializer, true) ? TW_OK : tw__error_status();
}

tw_status tw__conv_add_bias(tw__conv *layer, int64_t size)
{
    tw_layer *base = &layer->layer;
    return !layer->has_bias || tw__layer_add_weight(base, "bias", &TW_SHAPE(size), base->dtype, layer->initializers[2], true)
               ? TW_OK
               : tw__error_status();
}

/* ---- calling ---- */

tw_tensor *tw__conv_of_images(const tw__conv *layer, tw_tensor *kernel)
{
    tw_auto tw_tensor *taken = kernel;
    if (!kernel || layer->axes == 2)
        return tw_retain(kernel);
    tw_shape shape = { .rank = 4, .dims = { 1, kernel->shape.dims[0], kernel->shape.dims[1], kernel->shape.dims[2] } };
    return tw__reshape(kernel, &shape);
}

tw_tensor *tw__conv_images(const tw__conv *layer, tw_tensor *input)
{
    return layer->axes == 2 ? tw_retain(input)
                            : TW_G2(ExpandDims, tw_retain(input), tw_tensor_int(layer->channels_first ? 2 : 1));
}

tw_tensor *tw__conv_sequences(const tw__conv *layer, tw_tensor *images)
{
    tw_auto tw_tensor *taken = images;
    if (!images || layer->axes == 2)
        return tw_retain(images);
    const int64_t row = layer->channels_first ? 2 : 1;
    return TW_CALL(Squeeze, images, TW_A_INTS("squeeze_dims", &row, 1));
}

tw_tensor *tw__conv_turned(tw_tensor *images, bool channels_first)
{
    static const int32_t last[] = { 0, 2, 3, 1 }, first[] = { 0, 3, 1, 2 };
    return TW_G2(Transpose, images, tw_tensor_new(TW_INT32, TW_SHAPE(4), channels_first ? first : last));
}

tw_tensor *tw__conv_biased(tw__conv *layer, tw_tensor *output)
{
    tw_auto tw_tensor *taken = output, *bias = output && layer->has_bias ? tw__layer_read(&layer->layer, "bias") : NULL;
    if (!output || !layer->has_bias)
        return tw_retain(output);
    return bias ? TW_CALL(BiasAdd, output, bias, TW_A_STRING("data_format", tw__conv_format(layer))) : NULL;
}

tw_tensor *tw__conv_activated(tw__conv *layer, tw_tensor *output)
{
    tw_auto tw_tensor *taken = output;
    return output ? tw__activation_call(&layer->activation, output) : NULL;
}
