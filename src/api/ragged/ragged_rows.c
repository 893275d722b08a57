/* RaggedTensor: lengths of rows, the shape that holds all of them, dimensions made one; tf.ragged.row_splits_to_segment_ids and
 * its inverse. */
#include "api/ragged/ragged.h"
#include "op/calls.h"
#include "rows.h"

static void *lengths_along(tw__temps *t, tw_ragged_tensor *ragged, int64_t axis)
{
    if (axis == 1)
        return tw__splits_lengths(t, ragged->splits);
    if (tw__is_ragged(ragged->values))
        return tw__temp_with_values(t, ragged, lengths_along(t, ragged->values, axis - 1));
    /* A uniform dimension: its size for every row of the one above. */
    tw_dtype dtype = ragged->splits->dtype;
    tw_tensor *shape = tw__temp_shape(t, ragged->values, dtype), *size = tw__temp_at(t, shape, axis - 1);
    return tw__temp_with_values(t, ragged, TW_TEMP(Fill, tw__temp_slice(t, shape, TW_NO_INT, axis - 1), size));
}

TW_METHOD(ragged_tensor_row_lengths, "RaggedTensor.row_lengths(self: ragged_tensor, axis: int = 1, name: str = None) -> value",
          "The lengths of the rows of a dimension.")
{
    TW_TEMPS(t);
    tw_shape shape = tw__value_shape(args->self);
    int64_t axis = args->axis < 0 && shape.rank > 0 ? args->axis + shape.rank : args->axis;
    if (axis < 0 || (shape.rank > 0 && axis >= shape.rank)) {
        tw__fail(TW_VALUE_ERROR, "axis=%lld out of bounds: expected %d<=axis<%d", (long long)args->axis, -shape.rank, shape.rank);
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    return tw__value_result(t, axis == 0 ? (void *)tw__splits_rows(t, args->self->splits) : lengths_along(t, args->self, axis));
}

static tw_tensor *bounding(tw__temps *t, void *value, tw_dtype dtype)
{
    if (!tw__is_ragged(value))
        return tw__temp_shape(t, value, dtype);
    tw_ragged_tensor *ragged = value;
    tw_tensor *zero = tw__temp_ints(t, (const int64_t[]){ 0 }, 1, dtype), *inner = bounding(t, ragged->values, dtype);
    tw_tensor *lengths = tw__temp_concat(t, TW_IN(tw__splits_lengths(t, ragged->splits), zero), 2, 0);
    tw_tensor *widest = TW_TEMP(Max, lengths, tw__temp_int(t, 0, TW_INT32), TW_A_BOOL("keep_dims", true));
    tw_tensor *rows = tw__temp_reshape(t, tw__splits_rows(t, ragged->splits), (const int64_t[]){ 1 }, 1);
    return tw__temp_concat(t, TW_IN(rows, widest, tw__temp_slice(t, inner, 1, TW_NO_INT)), 3, 0);
}

TW_METHOD(
    ragged_tensor_bounding_shape,
    "RaggedTensor.bounding_shape(self: ragged_tensor, axis: value = None, name: str = None, out_type: dtype = None) -> tensor",
    "The smallest shape that all rows fit into.")
{
    TW_TEMPS(t);
    tw_dtype dtype = args->self->splits->dtype;
    tw_tensor *whole = bounding(t, args->self, dtype);
    if (args->axis.kind != TW_VALUE_NONE && whole)
        whole = tw__temp_gather(t, whole, tw__temp(t, tw__value_tensor(&args->axis, TW_INT32, "axis")), 0);
    return tw__keep(t, tw__temp_cast(t, whole, args->out_type == TW_DTYPE_NONE ? dtype : args->out_type));
}

/* ---- dimensions made one ---- */

/* The first inner + 1 dimensions. */
static void *merge_first(tw__temps *t, void *value, int64_t inner)
{
    while (value && inner > 0 && tw__is_ragged(value)) {
        value = ((tw_ragged_tensor *)value)->values;
        inner--;
    }
    if (!value || inner == 0)
        return value;
    tw_tensor *rest = tw__temp_slice(t, tw__temp_shape(t, value, TW_INT64), inner + 1, TW_NO_INT);
    return TW_TEMP(Reshape, value, tw__temp_concat(t, TW_IN(tw__temp_ints(t, (const int64_t[]){ -1 }, 1, TW_INT64), rest), 2, 0));
}

static void *merge(tw__temps *t, tw_ragged_tensor *ragged, int64_t outer, int64_t inner)
{
    if (outer == inner)
        return ragged;
    if (outer == 0)
        return merge_first(t, ragged, inner);
    if (outer > 1) {
        if (tw__is_ragged(ragged->values))
            return tw__temp_with_values(t, ragged, merge(t, ragged->values, outer - 1, inner - 1));
        tw_tensor *shape = tw__temp_shape(t, ragged->values, TW_INT64);
        tw_tensor *sizes = tw__temp_concat(t,
                                           TW_IN(tw__temp_slice(t, shape, TW_NO_INT, outer - 1),
                                                 tw__temp_ints(t, (const int64_t[]){ -1 }, 1, TW_INT64),
                                                 tw__temp_slice(t, shape, inner, TW_NO_INT)),
                                           3, 0);
        return tw__temp_with_values(t, ragged, TW_TEMP(Reshape, ragged->values, sizes));
    }
    if (tw__is_ragged(ragged->values)) { /* rows of rows: the inner splits where outer rows begin */
        tw_ragged_tensor *below = merge(t, ragged->values, 1, inner - 1);
        return below ? tw__temp_ragged(t, below->values, tw__temp_gather(t, below->splits, ragged->splits, 0), -1) : NULL;
    }
    tw_dtype dtype = ragged->splits->dtype;
    tw_tensor *flat = merge_first(t, ragged->values, inner - 1);
    tw_tensor *width =
        TW_TEMP(Prod, tw__temp_slice(t, tw__temp_shape(t, ragged->values, dtype), 1, inner), tw__temp_int(t, 0, TW_INT32));
    return tw__temp_ragged(t, flat, TW_TEMP(Mul, ragged->splits, width), -1);
}

TW_METHOD(ragged_tensor_merge_dims, "RaggedTensor.merge_dims(self: ragged_tensor, outer_axis: int, inner_axis: int) -> value",
          "The dimensions from one to another made one.\n"
          "outer_axis: the first dimension\n"
          "inner_axis: the last dimension\n"
          "example: tf.ragged.constant([[[1], [2, 3]], [[4]]]).merge_dims(1, 2).to_list()  # [[1, 2, 3], [4]]")
{
    TW_TEMPS(t);
    int rank = tw__value_shape(args->self).rank;
    int64_t outer = args->outer_axis < 0 ? args->outer_axis + rank : args->outer_axis,
            inner = args->inner_axis < 0 ? args->inner_axis + rank : args->inner_axis;
    if (rank < 0)
        tw__fail(TW_UNIMPLEMENTED, "RaggedTensor.merge_dims: the rank must be known");
    else if (outer < 0 || outer >= rank || inner < 0 || inner >= rank)
        tw__fail(TW_VALUE_ERROR, "%s=%lld out of bounds: expected %d<=axis<%d",
                 outer < 0 || outer >= rank ? "outer_axis" : "inner_axis",
                 (long long)(outer < 0 || outer >= rank ? args->outer_axis : args->inner_axis), -rank, rank);
    else if (outer > inner)
        tw__fail(TW_VALUE_ERROR, "Expected outer_axis (%lld) to be less than or equal to inner_axis (%lld)",
                 (long long)args->outer_axis, (long long)args->inner_axis);
    return tw__value_result(t, tw_error_code() == TW_OK ? merge(t, args->self, outer, inner) : NULL);
}

/* ---- segments ---- */

TW_API(ragged_row_splits_to_segment_ids,
       "ragged.row_splits_to_segment_ids(splits: tensor<int64>, name: str = None, out_type: dtype = None) -> tensor",
       "The row of each value, by where rows begin.\n"
       "splits: where rows begin and the last one ends: [0, …, length]\n"
       "out_type: the dtype of the result; None: that of `splits`\n"
       "example: tf.ragged.row_splits_to_segment_ids([0, 2, 3]).numpy().tolist()  # [0, 0, 1]")
{
    TW_TEMPS(t);
    if (args->splits->dtype != TW_INT32 && args->splits->dtype != TW_INT64) {
        tw__fail(TW_VALUE_ERROR, "splits must have dtype int32 or int64");
        return NULL;
    }
    tw_tensor *ids = tw__splits_rowids(t, args->splits);
    return tw__keep(t, tw__temp_cast(t, ids, args->out_type == TW_DTYPE_NONE ? args->splits->dtype : args->out_type));
}

TW_API(
    ragged_segment_ids_to_row_splits,
    "ragged.segment_ids_to_row_splits(segment_ids: tensor<int64>, num_segments: tensor<int64> = None, out_type: dtype = None, name: str = None) -> tensor",
    "Where rows begin, by the row of each value.")
{
    TW_TEMPS(t);
    if (args->segment_ids->dtype != TW_INT32 && args->segment_ids->dtype != TW_INT64) {
        tw__fail(TW_VALUE_ERROR, "segment_ids must have dtype int32 or int64");
        return NULL;
    }
    tw_tensor *splits = tw__splits_of_rowids(t, args->segment_ids, args->num_segments);
    return tw__keep(t, tw__temp_cast(t, splits, args->out_type == TW_DTYPE_NONE ? args->segment_ids->dtype : args->out_type));
}
