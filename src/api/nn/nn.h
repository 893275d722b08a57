/* Pieces of tf.nn that Keras uses too. */
#ifndef TW_API_NN_H
#define TW_API_NN_H

#include "op/op.h"
#include "spec/spec.h"

tw_tensor *tw__silu(tw_tensor *x, double beta);
tw_tensor *tw__gelu(tw_tensor *x, bool approximate);
/* x with its last dimension exchanged with `axis`, which lies in [0, rank). */
tw_tensor *tw__swap_with_last(tw_tensor *x, int64_t axis);
/* Softmax or LogSoftmax along any axis. */
tw_tensor *tw__softmax_along(const tw_op *op, tw_tensor *logits, int64_t axis);
/* A noise shape of NULL or unknown rank: the input's. A seed of TW_NO_INT: none. */
/* The shape of noise for x as a tensor; None stands for the input's dimension, which may not be known yet. */
tw_tensor *tw__noise_dims(tw_tensor *x, const tw_shape *noise_shape);
tw_tensor *tw__dropout(tw_tensor *x, double rate, const tw_shape *noise_shape, int64_t seed, const char *name);
/* tf.nn.sparse_softmax_cross_entropy_with_logits and softmax_cross_entropy_with_logits. */
tw_tensor *tw__sparse_cross_entropy_of(tw_tensor *labels, tw_tensor *logits);
tw_tensor *tw__cross_entropy_of(tw_tensor *labels, tw_tensor *logits, int64_t axis);
tw_tensor *tw__sigmoid_cross_entropy_of(tw_tensor *labels, tw_tensor *logits);
/* tf.nn.moments: two new references. */
tw_status tw__moments(tw_tensor *x, tw_ints axes, bool keepdims, tw_tensor **mean, tw_tensor **variance);
/* The same with a weight for every element, which spreads over x; 0 where all weights are 0. */
tw_status tw__weighted_moments(tw_tensor *x, tw_ints axes, tw_tensor *weights, bool keepdims, tw_tensor **mean,
                               tw_tensor **variance);
/* tf.nn.batch_normalization; offset and scale may be NULL. */
tw_tensor *tw__normalize(tw_tensor *x, tw_tensor *mean, tw_tensor *variance, tw_tensor *offset, tw_tensor *scale, double epsilon);

/* MaxPool3D or AvgPool3D with arguments as users give them (nn_volume.c). */
tw_tensor *tw__nn_pool_volumes(const tw_op *op, tw_tensor *input, tw_ints sizes, tw_ints strides, const tw_value *padding,
                               const char *format);

#endif
