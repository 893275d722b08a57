/* Pieces of tf.nn that Keras uses too. */
#ifndef TW_API_NN_H
#define TW_API_NN_H

#include "base/temps.h"
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

/* ---- tables of embeddings (nn_lookup.c, nn_sparse_lookup.c) ---- */
struct tw_sparse_tensor;
/* The rows that ids name, in a list `t`. max_norm NaN: as they are. */
tw_tensor *tw__lookup(tw__temps *t, tw_tensor *table, tw_tensor *ids, double max_norm);
tw_tensor *tw__lookup_parts(tw__temps *t, tw_tensor *const *parts, int count, tw_tensor *ids, bool modulo, double max_norm);
/* One table, or a list of its parts; the array is for tw__free, the tensors are the list's. */
tw_tensor **tw__lookup_tables(tw__temps *t, const tw_value *params, const char *what, int *count);
tw_tensor *tw__lookup_sparse(const tw_value *params, const struct tw_sparse_tensor *ids, const struct tw_sparse_tensor *weights,
                             const char *combiner, double max_norm, bool modulo);
struct tw_nn_safe_embedding_lookup_sparse_args;
tw_tensor *tw__lookup_safely(const struct tw_nn_safe_embedding_lookup_sparse_args *args, bool modulo);

#endif
