/* Shared by the rows of array ops (and those of reductions): axes, shapes given as tensors, constants for gradients. */
#ifndef TW_ARRAY_H
#define TW_ARRAY_H

#include "kernel/copy.h"
#include "op/op.h"

/* Brings an axis in [-rank, rank) to [0, rank). False: it lies outside (no error is set). */
bool tw__axis_normal(int64_t axis, int rank, int *normal);
/* The shape that a vector (or scalar, taken for a vector of one) of integers says. -1 passes if `unknown_allowed`. */
tw_status tw__shape_of_values(const tw_op *op, const tw_tensor *values, const char *what, bool unknown_allowed, tw_shape *shape);
/* In inference: output 0 has the shape that an input says, as far as that is known. */
tw_status tw__shape_input(tw__inference *inference, int input, const char *what);
/* The single integer in a tensor; INVALID_ARGUMENT names `what`. */
tw_status tw__scalar_value(const tw_op *op, const tw_tensor *value, const char *what, int64_t *number);
/* The shape of a tensor as a tensor: a constant if it is known, else through the op Shape. */
tw_tensor *tw__shape_as_tensor(tw_tensor *tensor, tw_dtype dtype);
/* The sizes shape[begin:end] (end 0: to the last) of what has no known shape yet, of int64. */
tw_tensor *tw__sizes_later(tw_tensor *x, int64_t begin, int64_t end);
/* For gradients of what has no known shape yet: the product of shape[from:to] as a vector of one (to < 0: of all the rest), and
 * x, which is taken, under the shape that such vectors make side by side. NULL gives NULL. */
tw_tensor *tw__sizes_product(tw_tensor *shape, int64_t from, int64_t to);
tw_tensor *tw__reshape_to(tw_tensor *x, tw_tensor *const *sizes, int count);
tw_tensor *tw__ints_tensor(const int64_t *values, int64_t count, tw_dtype dtype); /* a vector of int32 or int64 */
tw_shape tw__shape_of_rank(const tw_shape *list); /* of nothing but a rank, which is the length of that list */
tw_tensor *tw__all_axes(tw_tensor *tensor);       /* 0, 1 … rank - 1 as int32; by ops where the rank is not known yet */
/* Gives x the shape of `like`. Takes x (which may be NULL). */
tw_tensor *tw__reshape_like(tw_tensor *x, tw_tensor *like);
/* The gradients of all outputs, zeros where there is none, as new references in `parts`. */
tw_status tw__join_gradients(tw__gradient *gradient, tw_tensor **parts);
/* Output 0 is the box of `in` that begins at `first`, has the dimensions `processed` and goes by `steps`, under the shape `final`
 * of as many elements: a view where they lie together. */
tw_status tw__give_box(tw__kernel *kernel, tw_tensor *in, const tw_shape *processed, const int64_t *first, const int64_t *steps,
                       const tw_shape *final);
/* Where the slice of an array begins that row `row` of `indices` (its last dimension) names; INVALID_ARGUMENT if outside. */
tw_status tw__nd_offset(const tw_tensor *indices, int64_t row, const tw_shape *shape, const char *what, int64_t *offset);
/* Writes the slices of `updates` into `out` where the rows of `indices` say; shapes are checked before. update: the last one
 * written stays; else they are combined. */
tw_status tw__scatter_nd(tw_tensor *out, const tw_tensor *indices, const tw_tensor *updates, bool update, tw__combination kind);

/* The shape of segment ids, with ones for the further dimensions of the data, by ops. */
tw_tensor *tw__ids_shape_later(tw_tensor *data, tw_tensor *ids);
tw_status tw__sorted_segment_shape(tw__inference *inference); /* of SegmentSum and its kin (segment_sorted.c) */
/* Their ids checked, the output made, and how many elements a row has. */
tw_status tw__sorted_segments(tw__kernel *kernel, tw_tensor **out, int64_t *inner);

/* Of MatrixDiagV3, MatrixDiagPartV3 and MatrixSetDiagV3, for their older forms (diagonal.c, diagonal_old.c). */
tw_status tw__matrix_diag_shape(tw__inference *inference);
tw_status tw__matrix_diag_compute(tw__kernel *kernel);
tw_status tw__matrix_diag_part_shape(tw__inference *inference);
tw_status tw__matrix_diag_part_compute(tw__kernel *kernel);
tw_status tw__matrix_set_diag_shape(tw__inference *inference);
tw_status tw__matrix_set_diag_compute(tw__kernel *kernel);

#endif
