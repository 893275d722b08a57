/* tf.math.bincount: how often each number occurs in a tensor, a sparse or a ragged one. */
#include "api/ragged/ragged.h"
#include "api/sparse/sparse.h"
#include "rows.h"

/* One more than the greatest number, between the two lengths where they are given; none of no numbers. */
static tw_tensor *bin_count(tw__temps *t, tw_tensor *numbers, int64_t least, int64_t most)
{
    tw_dtype dtype = numbers ? numbers->dtype : TW_INT32;
    if (least != TW_NO_INT && least == most && least >= 0) /* whatever the numbers are */
        return tw__temp_int(t, least, dtype);
    tw_tensor *size = TW_TEMP(AddV2, TW_TEMP(Max, numbers, 0), tw__temp_int(t, 1, dtype));
    size = TW_TEMP(Maximum, size, tw__temp_int(t, least != TW_NO_INT && least > 0 ? least : 0, dtype));
    return most != TW_NO_INT ? TW_TEMP(Minimum, size, tw__temp_int(t, most, dtype)) : size;
}

tw_tensor *tw__bincount(tw__temps *t, void *value, void *weights, const tw__bins *bins)
{
    bool sparse = tw__is(value, &tw__class_sparse_tensor), ragged = tw__is_ragged(value), rows = bins->axis == -1;
    tw_tensor *values = sparse ? ((tw_sparse_tensor *)value)->values : ragged ? tw__flat_values(value) : value;
    tw_tensor *all = weights && tw__is(weights, &tw__class_sparse_tensor) ? ((tw_sparse_tensor *)weights)->values
                     : weights && tw__is_ragged(weights)                  ? tw__flat_values(weights)
                                                                          : weights;
    if (bins->axis != TW_NO_INT && bins->axis != 0 && !rows) {
        tw__fail(TW_VALUE_ERROR, "Unsupported value for argument axis=%lld. Only 0 and -1 are currently supported.",
                 (long long)bins->axis);
        return NULL;
    }
    if (weights && bins->binary) {
        tw__fail(TW_VALUE_ERROR, "Arguments `binary_output` and `weights` are mutually exclusive. Please specify only one.");
        return NULL;
    }
    if (ragged && rows && tw__ragged_rank(value) > 1) {
        tw__fail(TW_VALUE_ERROR, "bincount: of the rows of a ragged tensor whose values are ragged");
        return NULL;
    }
    if (values && !tw__dtype_is_integer(values->dtype))
        values = tw__temp_cast(t, values, TW_INT32);
    if (!values || (values->dtype != TW_INT32 && values->dtype != TW_INT64)) {
        if (values)
            tw__fail(TW_TYPE_ERROR, "tf.math.bincount: arr must be int32 or int64, got %s", tw_dtype_name(values->dtype));
        return NULL;
    }
    tw_tensor *flat = values->shape.rank == 1 ? values : tw__temp_reshape(t, values, &(int64_t){ -1 }, 1);
    tw_tensor *size = bin_count(t, flat, bins->least, bins->most);
    tw_tensor *given = all ? all : tw__temp(t, tw_tensor_new(bins->dtype, TW_SHAPE(0), NULL));
    tw_attr binary = TW_A_BOOL("binary_output", bins->binary);
    if (rows && sparse) {
        const tw_sparse_tensor *s = value;
        return TW_CALL(SparseBincount, s->indices, values, s->dense_shape, size, given, binary);
    }
    if (rows && ragged) {
        tw_tensor *splits = tw__temp_cast(t, ((tw_ragged_tensor *)value)->splits, TW_INT64);
        return TW_CALL(RaggedBincount, splits, values, size, given, binary);
    }
    if (!rows && all && all->shape.rank != 1)
        given = tw__temp_reshape(t, all, &(int64_t){ -1 }, 1);
    return TW_CALL(DenseBincount, rows ? values : flat, size, given, binary);
}

TW_API(
    math_bincount,
    "math.bincount|compat.v1.bincount(arr: tensor, weights: tensor = None, minlength: int = None, maxlength: int = None, dtype: dtype = int32, "
    "name: str = None, axis: int = None, binary_output: bool = False) -> tensor",
    "How often (or with what weight) each number occurs; with axis -1 per row.\n"
    "arr: integers from 0 on\n"
    "weights: what each of them counts; None: 1\n"
    "minlength: how long the result is at least\n"
    "maxlength: how long it is at most; greater integers do not count\n"
    "dtype: the dtype of the result where no weights are given\n"
    "axis: -1: count in each row; 0 or None: in the whole tensor\n"
    "binary_output: True: 1 for what occurs, whatever its number\n"
    "example: tf.math.bincount([1, 1, 3]).numpy().tolist()  # [0, 2, 0, 1]")
{
    TW_TEMPS(t);
    tw__bins bins = { args->minlength, args->maxlength, args->axis, args->dtype, args->binary_output };
    return tw__bincount(t, args->arr, args->weights, &bins);
}
