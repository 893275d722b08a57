/* tf.SparseTensor from the inside: values[i] stands at indices[i] of a tensor of dense_shape, everything else is zero. Indices
 * are a matrix of int64, a row for each value; most functions need the rows in lexicographic order. */
#ifndef TW_API_SPARSE_H
#define TW_API_SPARSE_H

#include "api/composite.h"

struct tw_sparse_tensor {
    tw_object object;
    tw_tensor *indices, *values, *dense_shape;
    tw_shape shape; /* as far as it is known */
};

struct tw_sparse_tensor_spec {
    struct tw_type_spec spec;
    tw_shape shape;
    tw_dtype dtype;
};

struct tw_sparse_tensor_spec *tw__sparse_spec_new(const tw_shape *shape, tw_dtype dtype);

/* Retains the three; NULL among them (an error is set) gives NULL. Ranks and sizes are checked. */
struct tw_sparse_tensor *tw__sparse_new(tw_tensor *indices, tw_tensor *values, tw_tensor *dense_shape);
/* The three outputs of an op as a sparse tensor; they are taken. */
struct tw_sparse_tensor *tw__sparse_of_outputs(tw_tensor **outputs);
/* The sparse tensor that an argument is; TypeError (and NULL) for anything else. Borrowed. */
struct tw_sparse_tensor *tw__sparse_given(const tw_value *value);

#endif
