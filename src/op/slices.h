/* Gradients of which only some rows are there: values[i] belongs to row indices[i] of a tensor of dense_shape; rows may come
 * twice.
 *
 * Such a gradient travels like any other, as a tensor: one of dtype variant that holds the slices. It is made dense before an
 * op's gradient function sees it, unless that one only hands it through (eager/tape.c, tw__gradient_call). */
#ifndef TW_SLICES_H
#define TW_SLICES_H

#include "op/op.h"

struct tw_indexed_slices {
    tw_object object;
    tw_tensor *values, *indices, *dense_shape; /* dense_shape may be NULL where users made it */
};

/* The slices as an object; retains the three. */
struct tw_indexed_slices *tw__indexed_slices_new(tw_tensor *values, tw_tensor *indices, tw_tensor *dense_shape);
/* The same wrapped as a gradient; a new reference. */
tw_tensor *tw__slices_wrap(struct tw_indexed_slices *slices);
tw_tensor *tw__slices_make(tw_tensor *values, tw_tensor *indices, tw_tensor *dense_shape);
/* The slices that a gradient is; NULL (and no error) if it is an ordinary tensor. Borrowed. */
struct tw_indexed_slices *tw__slices_of(const tw_tensor *gradient);
/* The gradient as an ordinary tensor; a new reference. */
tw_tensor *tw__slices_dense(tw_tensor *gradient);
tw_tensor *tw__indexed_slices_dense(const struct tw_indexed_slices *slices);
/* The sum of two gradients, of which one at least is slices. */
tw_tensor *tw__slices_add(tw_tensor *a, tw_tensor *b);

#endif
