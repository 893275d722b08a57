/* Shared by the functions on arrays. */
#ifndef TW_API_ARRAY_H
#define TW_API_ARRAY_H

#include "api/api.h"
#include "op/array/array.h"

/* op(x, axis) with the axis as a scalar of int32. */
tw_tensor *tw__call_axis(const tw_op *op, tw_tensor *x, int64_t axis, const tw_attr *attrs, int attr_count);
tw_tensor *tw__axis_size_later(tw_tensor *x, int axis); /* the size of an axis as a number of the graph (array_series.c) */
/* t, scaled down where the root of the sum of its squares is above the limit. */
tw_tensor *tw__clip_by_squares(tw_tensor *t, tw_tensor *limit, tw_tensor *sum);
/* A reduction over the axes, all if none are given. NULL gives NULL. */
tw_tensor *tw__reduce_axes(const tw_op *op, tw_tensor *x, tw_ints axis, bool keepdims);
/* All outputs of an op as a list. */
tw_tensors tw__call_many(const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *attrs, int attr_count,
                         int64_t outputs);

#endif
