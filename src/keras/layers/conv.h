/* Layers of convolution, from the inside: Conv1D/2D and DepthwiseConv1D/2D (conv.c), SeparableConv1D/2D (conv_separable.c),
 * Conv1DTranspose/Conv2DTranspose (conv_transpose.c). A sequence is an image of one row.
 *
 * With the channels first, DepthwiseConv2D and Conv2DTranspose turn their images around, as Keras does on a processor. The ops of
 * the others refuse that format there, as TensorFlow's do. */
#ifndef TW_CONV_H
#define TW_CONV_H

#include "keras/layers/layers.h"

typedef struct tw__conv {
    tw_layer layer;
    int axes; /* 2: images, 1: sequences */
    bool depthwise, has_bias, channels_first;
    char padding[8];
    int64_t filters, groups; /* filters: of a depthwise layer, the multiplier */
    int64_t multiplier;      /* of a separable layer */
    int64_t size[2], stride[2], dilation[2];
    int64_t output_padding[2]; /* of a transposed layer; [0] -1: none */
    tw__activation activation;
    tw_named initializers[3]; /* of the kernels and the bias; of its arguments */
} tw__conv;

/* The arguments that the classes have in common. What is NULL a class does not have. */
typedef struct tw__conv_options {
    tw_ints size, strides, dilation;
    const char *padding, *data_format;
    tw_named activation, initializers[3], regularizers[4], constraints[3];
    bool use_bias, causal; /* causal: such a padding may be asked for */
} tw__conv_options;

/* `axes` and what is counted are set before. */
tw_status tw__conv_init(tw__conv *layer, const tw__conv_options *options);
tw_status tw__conv_check_positive(const char *name, int64_t value);
void tw__conv_visit(void *self, tw__visitor visitor, void *context);
void tw__conv_clear(void *self);
void tw__conv_config(tw_layer *self, tw__dict *dict); /* what all of them tell */
/* The size of the channels' dimension, which must be known; else the error says to whom inputs were given, or not (NULL). */
tw_status tw__conv_channels(const tw__conv *layer, const tw_shape *input, const char *name, int64_t *channels);
/* The places of the first dimension that the kernel moves along, and of the channels. */
static inline int tw__conv_first(const tw__conv *layer, int rank)
{
    return layer->channels_first ? rank - layer->axes : rank - layer->axes - 1;
}
static inline int tw__conv_channel_axis(const tw__conv *layer, int rank)
{
    return layer->channels_first ? rank - layer->axes - 1 : rank - 1;
}
/* Whether the images are to be turned before the op, and their dimensions put into another order: the channels last, or first
 * again. Takes the tensor; NULL gives NULL. */
static inline bool tw__conv_turns(const tw__conv *layer)
{
    return layer->channels_first && layer->axes == 2;
}
tw_tensor *tw__conv_turned(tw_tensor *images, bool channels_first);
static inline const char *tw__conv_format(const tw__conv *layer)
{
    return layer->channels_first ? "NCHW" : "NHWC";
}
/* A kernel's weight [size…, in, out]; size NULL: ones. */
tw_status tw__conv_add_kernel(tw__conv *layer, const char *name, const int64_t *size, int64_t in, int64_t out,
                              tw_named initializer);
tw_status tw__conv_add_bias(tw__conv *layer, int64_t size);
/* A kernel that was read as one of images; takes it. */
tw_tensor *tw__conv_of_images(const tw__conv *layer, tw_tensor *kernel);
/* Sequences as images, and back (which takes them). */
tw_tensor *tw__conv_images(const tw__conv *layer, tw_tensor *input);
tw_tensor *tw__conv_sequences(const tw__conv *layer, tw_tensor *images);
/* With the bias; takes it. NULL gives NULL. */
tw_tensor *tw__conv_biased(tw__conv *layer, tw_tensor *output);
tw_tensor *tw__conv_activated(tw__conv *layer, tw_tensor *output); /* takes it, too */

#define TW_CONV_CLASS                                                                                         \
    .parent = &tw__class_layer, .size = sizeof(tw__conv), .destroy = tw__conv_clear, .visit = tw__conv_visit, \
    .clear = tw__conv_clear

#endif
