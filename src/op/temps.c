/* Small compositions that leave what they make to a list of temporaries; see calls.h. */
#include "op/array/array.h"
#include "op/calls.h"
#include "rows.h"

tw_tensor *tw__temp_int(tw__temps *t, int64_t value, tw_dtype dtype)
{
    return tw__temp(t, dtype == TW_INT32 ? tw_tensor_int((int32_t)value) : tw_tensor_int64(value));
}

tw_tensor *tw__temp_ints(tw__temps *t, const int64_t *values, int64_t count, tw_dtype dtype)
{
    return tw__temp(t, tw__ints_tensor(values, count, dtype));
}

tw_tensor *tw__temp_float(tw__temps *t, tw_dtype dtype, double value)
{
    return tw__temp(t, tw__float_scalar(dtype, value));
}

tw_tensor *tw__temp_cast(tw__temps *t, tw_tensor *x, tw_dtype dtype)
{
    return !x || x->dtype == dtype ? x : TW_TEMP(Cast, x, TW_A_TYPE("DstT", dtype));
}

tw_tensor *tw__temp_shape(tw__temps *t, tw_tensor *x, tw_dtype dtype)
{
    return x ? tw__temp(t, tw__shape_as_tensor(x, dtype)) : NULL;
}

tw_tensor *tw__temp_at(tw__temps *t, tw_tensor *vector, int64_t index)
{
    tw_tensor *begin = tw__temp_ints(t, &index, 1, TW_INT32),
              *end = tw__temp_ints(t, (const int64_t[]){ index + 1 }, 1, TW_INT32);
    tw_tensor *step = tw__temp_ints(t, (const int64_t[]){ 1 }, 1, TW_INT32);
    return TW_TEMP(StridedSlice, vector, begin, end, step, TW_A_INT("shrink_axis_mask", 1));
}

tw_tensor *tw__temp_slice(tw__temps *t, tw_tensor *x, int64_t begin, int64_t end)
{
    bool from = begin == TW_NO_INT, to = end == TW_NO_INT;
    tw_tensor *first = tw__temp_ints(t, (const int64_t[]){ from ? 0 : begin }, 1, TW_INT32);
    tw_tensor *last = tw__temp_ints(t, (const int64_t[]){ to ? 0 : end }, 1, TW_INT32);
    tw_tensor *step = tw__temp_ints(t, (const int64_t[]){ 1 }, 1, TW_INT32);
    return TW_TEMP(StridedSlice, x, first, last, step, TW_A_INT("begin_mask", from), TW_A_INT("end_mask", to));
}

tw_tensor *tw__temp_concat(tw__temps *t, tw_tensor *const *parts, int count, int64_t axis)
{
    if (count == 1)
        return parts[0];
    tw_tensor **inputs = tw__alloc_array((size_t)count + 1, sizeof *inputs), *joined = NULL;
    if (inputs) {
        memcpy(inputs, parts, (size_t)count * sizeof *inputs);
        inputs[count] = tw__temp_int(t, axis, TW_INT32);
        joined = tw__temp(t, tw__call(&tw__op_ConcatV2, inputs, count + 1, TW_WITH(TW_A_INT("N", count)), 1));
    }
    tw__free(inputs);
    return joined;
}

tw_tensor *tw__temp_gather(tw__temps *t, tw_tensor *params, tw_tensor *indices, int64_t axis)
{
    return TW_TEMP(GatherV2, params, indices, tw__temp_int(t, axis, TW_INT32));
}

tw_tensor *tw__temp_column(tw__temps *t, tw_tensor *matrix, int64_t index)
{
    tw_tensor *begin = tw__temp_ints(t, (const int64_t[]){ 0, index }, 2, TW_INT32);
    tw_tensor *end = tw__temp_ints(t, (const int64_t[]){ 0, index + 1 }, 2, TW_INT32);
    tw_tensor *step = tw__temp_ints(t, (const int64_t[]){ 1, 1 }, 2, TW_INT32);
    return TW_TEMP(StridedSlice, matrix, begin, end, step, TW_A_INT("begin_mask", 1), TW_A_INT("end_mask", 1),
                   TW_A_INT("shrink_axis_mask", 2));
}

tw_tensor *tw__temp_reshape(tw__temps *t, tw_tensor *x, const int64_t *dims, int rank)
{
    return TW_TEMP(Reshape, x, tw__temp_ints(t, dims, rank, TW_INT64));
}

tw_tensor *tw__temp_range(tw__temps *t, tw_tensor *limit)
{
    tw_dtype dtype = limit ? limit->dtype : TW_INT32;
    return TW_TEMP(Range, tw__temp_int(t, 0, dtype), limit, tw__temp_int(t, 1, dtype));
}

tw_tensor *tw__temp_zeros(tw__temps *t, tw_tensor *sizes, tw_dtype dtype)
{
    return TW_TEMP(Fill, sizes, tw__temp(t, tw_tensor_new(dtype, TW_SCALAR, NULL)));
}
