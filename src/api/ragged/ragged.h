/* tf.RaggedTensor from the inside: rows of different lengths as one tensor of all values and the places where rows begin (row
 * splits, int32 or int64). Row i is values[splits[i] … splits[i + 1]]. The values may be ragged in turn.
 *
 * "A value" below is a tensor or a ragged tensor, both objects; tw__is_ragged tells them apart. */
#ifndef TW_API_RAGGED_H
#define TW_API_RAGGED_H

#include "api/composite.h"
#include "op/calls.h"

struct tw_ragged_tensor {
    tw_object object;
    void *values; /* a value */
    tw_tensor *splits;
    int64_t uniform; /* the length of every row, if the dimension is uniform; else -1 */
};

struct tw_ragged_tensor_spec {
    struct tw_type_spec spec;
    tw_shape shape;
    tw_dtype dtype, splits_dtype;
    int ragged_rank;
};

struct tw_ragged_tensor_spec *tw__ragged_spec_new(const tw_shape *shape, tw_dtype dtype, int ragged_rank, tw_dtype splits_dtype);

bool tw__is_ragged(const void *value);
/* Retains both; NULL (an error is set) gives NULL. Nothing is checked. */
struct tw_ragged_tensor *tw__ragged_new(void *values, tw_tensor *splits, int64_t uniform);
struct tw_ragged_tensor *tw__temp_ragged(tw__temps *t, void *values, tw_tensor *splits, int64_t uniform);
int tw__ragged_rank(const void *value);        /* 0: a tensor */
tw_tensor *tw__flat_values(const void *value); /* borrowed */
tw_shape tw__value_shape(const void *value);   /* as far as it is known */
tw_dtype tw__value_dtype(const void *value);
/* The same rows with other values (of the next level; of the last one). New references, kept by the temps. */
struct tw_ragged_tensor *tw__temp_with_values(tw__temps *t, const struct tw_ragged_tensor *like, void *values);
void *tw__temp_with_flat(tw__temps *t, void *like, void *flat);
/* A row partition. */
tw_tensor *tw__splits_lengths(tw__temps *t, tw_tensor *splits);
tw_tensor *tw__splits_rowids(tw__temps *t, tw_tensor *splits); /* the row of each value */
tw_tensor *tw__splits_of_lengths(tw__temps *t, tw_tensor *lengths);
tw_tensor *tw__splits_of_rowids(tw__temps *t, tw_tensor *rowids, tw_tensor *rows); /* rows: a scalar or NULL */
tw_tensor *tw__splits_uniform(tw__temps *t, tw_tensor *rows, tw_tensor *length);   /* 0, length, 2 · length … */
tw_tensor *tw__splits_rows(tw__temps *t, tw_tensor *splits);                       /* how many rows; a scalar */
/* How long the first dimension of a value is, as a scalar of that dtype. */
tw_tensor *tw__value_rows(tw__temps *t, void *value, tw_dtype dtype);
/* An argument as a value: ragged tensors as they are, anything else as a tensor. Kept by the temps. */
void *tw__value_given(tw__temps *t, const tw_value *given, tw_dtype hint, const char *what);
/* The end of a function: the value as its result. */
tw_value tw__value_result(tw__temps *t, void *value);
/* A tensor as a ragged one whose first dimensions are uniform. */
struct tw_ragged_tensor *tw__ragged_of_tensor(tw__temps *t, tw_tensor *tensor, int ragged_rank, tw_dtype splits_dtype);
/* Rows as far as `ranges` say: row i has the values begins[i] … ends[i] by steps. */
struct tw_ragged_tensor *tw__ragged_of_ranges(tw__temps *t, void *values, tw_tensor *begins, tw_tensor *ends, tw_tensor *step);
/* Rows by index, of a tensor or a ragged tensor; the indices may be ragged too. */
void *tw__value_gather(tw__temps *t, void *params, void *indices);
/* value[begin:end] of the first dimension, with scalars. */
void *tw__value_between(tw__temps *t, void *value, tw_tensor *begin, tw_tensor *end);
/* Values that stand side by side: joined along an axis; stacked along a new one. */
void *tw__values_concat(tw__temps *t, void *const *values, int64_t count, int64_t axis);
void *tw__values_stack(tw__temps *t, void *const *values, int64_t count, int64_t axis);
/* Brings both to the same rows, so that their flat values go together. False: an error. */
bool tw__values_match(tw__temps *t, void **x, void **y);
void tw__ragged_text(tw__text *text, const struct tw_ragged_tensor *ragged);
tw_tensor *tw__ragged_to_tensor(tw__temps *t, struct tw_ragged_tensor *ragged, tw_tensor *default_value, const tw_shape *shape);

/* tf.math.bincount of a tensor, a ragged or a sparse one (array/array_bincount.c); weights: NULL, or of the same kind. */
typedef struct tw__bins {
    int64_t least, most, axis; /* TW_NO_INT: not said */
    tw_dtype dtype;            /* of the counts, where there are no weights */
    bool binary;
} tw__bins;
tw_tensor *tw__bincount(tw__temps *t, void *value, void *weights, const tw__bins *bins); /* a new reference */

#endif
