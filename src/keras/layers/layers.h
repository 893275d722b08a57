/* What the files of layers share: arguments as Keras takes them, and their checks. */
#ifndef TW_LAYERS_H
#define TW_LAYERS_H

#include "keras/keras.h"

/* ---- arguments (arguments.c) ---- */
/* One number for all `count` axes or one for each. "The `kernel_size` argument must be a tuple of 2 integers. Received: …" */
tw_status tw__layer_sizes(const char *name, tw_ints given, int count, bool zero_allowed, int64_t *sizes);
/* "valid", "same" or "causal" in any case; a new text in `out`, which has room for 8. */
tw_status tw__layer_padding(const char *given, bool causal_allowed, char *out);
/* None is channels_last. */
tw_status tw__layer_channels_first(const char *data_format, bool *first);
/* Names of arguments with what was given for them; UNIMPLEMENTED for the first that is not NULL. */
typedef struct tw__unsupported {
    const char *name;
    tw_named given;
} tw__unsupported;
tw_status tw__layer_refuse(const tw_layer *layer, const tw__unsupported *arguments, int count);
/* The axes of a normalization, which are settled once it is built for inputs of a rank. */
tw_status tw__layer_take_axes(const tw_layer *layer, tw_ints given, int64_t *axes, int *count, int rank);
/* Between 0 and 1. */
tw_status tw__layer_check_rate(double rate);
/* "expected ndim=4, found ndim=3"; an unknown rank passes. */
tw_status tw__layer_need_rank(const tw_layer *layer, const tw_shape *shape, int rank);
/* The value of the layer's variable of that name, read through dispatch. NULL if there is none. */
tw_tensor *tw__layer_read(tw_layer *layer, const char *name);
tw_variable *tw__layer_variable(tw_layer *layer, const char *name); /* borrowed */
tw_value tw__sizes_value(const int64_t *sizes, int count);          /* a tuple */
/* The places of a window along one axis, as the ops count them: -1 if the input's size is not known. */
int64_t tw__layer_places(int64_t in, int64_t size, int64_t stride, int64_t dilation, const char *padding);
/* `x` with all dimensions before its last `keep` made one; *whole is x's shape. A new reference. */
tw_tensor *tw__layer_flatten_batch(tw_tensor *x, int keep);
/* The channels moved from the second place to the last, or back to it. Takes x; NULL gives NULL. */
tw_tensor *tw__channels_moved(tw_tensor *x, bool to_first);
/* ---- ragged and sparse tensors (composites.c) ---- */
/* The call of a layer with one in the place of its tensor; None with the error set. */
tw_value tw__layer_call_composite(tw_layer *layer, void *composite, int training);
/* The same of a recurrent layer, whose other arguments stand behind: a ragged tensor as a dense one with a mask. */
tw_value tw__layer_call_ragged(tw_layer *layer, const tw_value *given, int count, int training);
void *tw__composite_cast(void *composite, tw_dtype dtype); /* with values of that dtype; a new reference */
/* ---- layers around layers (wrappers.c) ---- */
typedef struct tw__wrapper {
    tw_layer layer;
    tw_layer *inner; /* borrowed: the child "layer", or of the arguments */
    char merge;      /* of Bidirectional: 'c'oncat, 's'um, 'a've, 'm'ul, 0: none */
} tw__wrapper;
/* ---- calls with several values (values.c) ---- */
int tw__layer_argument(const char *arguments, const char *name); /* its place among them; -1 */
int tw__layer_argument_count(const char *arguments);
tw_tensor *tw__value_first_tensor(const tw_value *value); /* borrowed; NULL: there is none */
/* A list (tuple) of tensors, which are taken; None if one is NULL. */
tw_value tw__values_list(tw_tensor *const *tensors, int count, bool tuple);

/* Arguments of layers with a kernel and a bias. */
#define TW_KERNEL_AND_BIAS                                                                           \
    "kernel_initializer: named<initializer> = glorot_uniform, "                                      \
    "bias_initializer: named<initializer> = zeros, kernel_regularizer: named<regularizer> = None, "  \
    "bias_regularizer: named<regularizer> = None, activity_regularizer: named<regularizer> = None, " \
    "kernel_constraint: named<constraint> = None, bias_constraint: named<constraint> = None"

#endif
