/* Layers of convolution, from the inside: Conv1D/2D/3D and DepthwiseConv1D/2D (conv.c), SeparableConv1D/2D (conv_separable.c),
 * Conv1DTranspose/2D/3D (conv_transpose.c). A sequence is an image of one row; volumes have ops of their own.
 *
 * Inputs whose channels come first are turned around before the op, and its output back: ops refuse that format on a processor.
 */
#ifndef TW_CONV_H
#define TW_CONV_H

#include "keras/layers/layers.h"

typedef struct tw__conv {
    tw_layer layer;
    tw_layers_conv2d_args settings; /* by name; what a class does not have is as in Conv2D. filters: of a depthwise layer, the
                                       multiplier */
    bool channels_first;
    char padding[8];
    int64_t multiplier; /* of a separable layer */
    int64_t size[3], stride[3], dilation[3];
    int64_t output_padding[3]; /* of a transposed layer; [0] -1: none */
} tw__conv;

/* What a class of the family is. */
typedef struct tw__conv_methods {
    tw__layer_methods layer;
    int axes; /* 1: sequences, 2: images, 3: volumes */
    bool depthwise;
    /* Of separable and transposed ones: images with their channels last, and what a length becomes along axis i. */
    tw_tensor *(*convolve)(tw__conv *layer, tw_tensor *images);
    int64_t (*length)(const tw__conv *layer, int64_t in, int i);
} tw__conv_methods;

static inline const tw__conv_methods *tw__conv_methods_of(const tw__conv *layer)
{
    return tw__methods(layer);
}
static inline int tw__conv_axes(const tw__conv *layer)
{
    return tw__conv_methods_of(layer)->axes;
}

/* Reads the settings that all of them have; causal: such a padding may be asked for. */
tw_status tw__conv_settle(tw__conv *layer, bool causal);
char *tw__conv_tuple(const int64_t *sizes, int count); /* "(2, 2)" */
tw_status tw__conv_check_positive(const char *name, int64_t value);
tw_status tw__conv_check_together(const tw__conv *layer); /* strides and dilations exclude each other */
void tw__conv_config(tw_layer *self, tw__dict *dict);     /* what all of them tell */
/* The size of the channels' dimension, which must be known; else the error says to whom inputs were given, or not (NULL). */
tw_status tw__conv_channels(const tw__conv *layer, const tw_shape *input, const char *name, int64_t *channels);
/* The places of the first dimension that the kernel moves along, and of the channels. */
static inline int tw__conv_first(const tw__conv *layer, int rank)
{
    return layer->channels_first ? rank - tw__conv_axes(layer) : rank - tw__conv_axes(layer) - 1;
}
static inline int tw__conv_channel_axis(const tw__conv *layer, int rank)
{
    return layer->channels_first ? rank - tw__conv_axes(layer) - 1 : rank - 1;
}
/* The dimensions in another order where the channels come first: those last, or first again. Takes the tensor; NULL gives NULL.
 */
tw_tensor *tw__conv_turned(const tw__conv *layer, tw_tensor *images, bool channels_first);
static inline const char *tw__conv_format(const tw__conv *layer)
{
    return layer->channels_first ? "NCHW" : "NHWC";
}
/* A kernel's weight [size…, in, out]; size NULL: ones. */
tw_status tw__conv_add_kernel(tw__conv *layer, const char *name, const int64_t *size, int64_t in, int64_t out);
tw_status tw__conv_add_bias(tw__conv *layer, int64_t size);
/* A kernel that was read as one of images; takes it. */
tw_tensor *tw__conv_of_images(const tw__conv *layer, tw_tensor *kernel);
/* Sequences, their channels last, as images, and back (which takes them). */
tw_tensor *tw__conv_images(const tw__conv *layer, tw_tensor *input);
tw_tensor *tw__conv_sequences(const tw__conv *layer, tw_tensor *images);
/* Every channel for itself; `attrs` are strides, dilations and padding. The op takes equal strides only: others are a
 * convolution with a group for each channel. */
tw_tensor *tw__conv_apart(tw_tensor *images, tw_tensor *kernel, const tw_attr *attrs, bool equal);
/* What a kernel that moves along axis i makes of a length. */
int64_t tw__conv_length(const tw__conv *layer, int64_t in, int i);
/* call and output_shape by the methods convolve and length. */
tw_tensor *tw__conv_output(tw_layer *self, tw_tensor *input, int training);
tw_status tw__conv_output_shape(tw_layer *self, const tw_shape *input, tw_shape *output);
/* With the bias; takes it. NULL gives NULL. */
tw_tensor *tw__conv_biased(tw__conv *layer, tw_tensor *output);
tw_tensor *tw__conv_activated(tw__conv *layer, tw_tensor *output); /* takes it, too */

#define TW_CONV_CLASS .parent = &tw__class_layer, .size = sizeof(tw__conv)

#endif
