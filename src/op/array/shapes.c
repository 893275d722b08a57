/* What rows of array ops share. See array.h. */
#include "op/array/array.h"
#include "op/calls.h"
#include "rows.h"

bool tw__axis_normal(int64_t axis, int rank, int *normal)
{
    if (axis < -rank || axis >= rank)
        return false;
    *normal = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

tw_status tw__shape_of_values(const tw_op *op, const tw_tensor *values, const char *what, bool unknown_allowed, tw_shape *shape)
{
    if (values->shape.rank > 1)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: %s must be 1-D, not %s", op->name, what, tw__shape_text(&values->shape));
    if (values->count > TW_MAX_RANK)
        return tw__fail(TW_UNIMPLEMENTED, "%s: %s asks for rank %lld, at most %d are supported", op->name, what,
                        (long long)values->count, TW_MAX_RANK);
    int64_t dims[TW_MAX_RANK];
    TW_TRY(tw__tensor_read_ints(values, what, dims, TW_MAX_RANK));
    shape->rank = (int32_t)values->count;
    for (int i = 0; i < shape->rank; i++) {
        if (dims[i] < (unknown_allowed ? -1 : 0))
            return tw__fail(TW_INVALID_ARGUMENT, "%s: Dimension %lld must be >= 0 (%s is %s)", op->name, (long long)dims[i], what,
                            tw__shape_text(&(tw_shape){
                                shape->rank, { dims[0], dims[1], dims[2], dims[3], dims[4], dims[5], dims[6], dims[7] } }));
        shape->dims[i] = dims[i];
    }
    return TW_OK;
}

tw_status tw__shape_input(tw__inference *inference, int input, const char *what)
{
    tw_shape *out = &inference->out_shapes[0];
    if (inference->values[input])
        return tw__shape_of_values(inference->op, inference->values[input], what, false, out);
    if (!tw__partial_input(inference, input, out))
        *out = TW_UNKNOWN_SHAPE;
    return TW_OK;
}

tw_status tw__scalar_value(const tw_op *op, const tw_tensor *value, const char *what, int64_t *number)
{
    if (value->count != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: %s must be a scalar, not shape %s", op->name, what,
                        tw__shape_text(&value->shape));
    return tw__tensor_read_ints(value, what, number, 1);
}

tw_tensor *tw__shape_as_tensor(tw_tensor *tensor, tw_dtype dtype)
{
    if (tw__shape_known(&tensor->shape))
        return tw__tensor_of_shape(&tensor->shape, dtype);
    return TW_CALL(Shape, tensor, TW_A_TYPE("out_type", dtype));
}

tw_tensor *tw__sizes_later(tw_tensor *x, int64_t begin, int64_t end)
{
    tw_auto tw_tensor *shape = tw__shape_as_tensor(x, TW_INT64), *from = tw__ints_tensor(&begin, 1, TW_INT32),
                      *to = tw__ints_tensor(&end, 1, TW_INT32);
    tw_auto tw_tensor *step = tw__ints_tensor(&(int64_t){ 1 }, 1, TW_INT32);
    tw_attr to_the_last[] = { TW_A_INT("end_mask", 1) };
    return tw__call(&tw__op_StridedSlice, TW_IN(shape, from, to, step), 4, to_the_last, end == 0 ? 1 : 0);
}

tw_tensor *tw__sizes_product(tw_tensor *shape, int64_t from, int64_t to)
{
    if (!shape)
        return NULL;
    tw_auto tw_tensor *begin = tw__ints_tensor(&from, 1, shape->dtype),
                      *size = tw__ints_tensor(&(int64_t){ to < 0 ? -1 : to - from }, 1, shape->dtype);
    tw_auto tw_tensor *axis = tw__ints_tensor(&(int64_t){ 0 }, 1, TW_INT32);
    tw_auto tw_tensor *sizes = begin && size && axis ? TW_CALL(Slice, shape, begin, size) : NULL;
    return TW_CALL(Prod, sizes, axis, TW_A_BOOL("keep_dims", true));
}

tw_tensor *tw__reshape_to(tw_tensor *x, tw_tensor *const *sizes, int count)
{
    tw_tensor *inputs[TW_MAX_RANK + 1];
    bool whole = x != NULL;
    for (int i = 0; i < count; i++) {
        inputs[i] = sizes[i];
        whole &= sizes[i] != NULL;
    }
    tw_auto tw_tensor *axis = tw_tensor_int(0);
    inputs[count] = axis;
    tw_auto tw_tensor *shape = !whole || !axis ? NULL
                               : count == 1    ? tw_retain(sizes[0])
                                               : tw__call(&tw__op_ConcatV2, inputs, count + 1, NULL, 0);
    tw_tensor *result = TW_CALL(Reshape, x, shape);
    tw_release(x);
    return result;
}

tw_tensor *tw__ints_tensor(const int64_t *values, int64_t count, tw_dtype dtype)
{
    if (dtype != TW_INT32 && dtype != TW_INT64) {
        tw__fail(TW_INVALID_ARGUMENT, "sizes and positions are int32 or int64, not %s", tw_dtype_name(dtype));
        return NULL;
    }
    tw_tensor *tensor = tw__tensor_empty(dtype, &TW_SHAPE(count));
    for (int64_t i = 0; tensor && i < count; i++) {
        if (dtype == TW_INT64)
            ((int64_t *)tensor->data)[i] = values[i];
        else
            ((int32_t *)tensor->data)[i] = (int32_t)values[i];
    }
    return tensor;
}

tw_tensor *tw__all_axes(tw_tensor *tensor)
{
    int64_t all[TW_MAX_RANK];
    for (int i = 0; i < tensor->shape.rank; i++)
        all[i] = i;
    if (tensor->shape.rank >= 0)
        return tw__ints_tensor(all, tensor->shape.rank, TW_INT32);
    tw_auto tw_tensor *rank = TW_CALL(Rank, tensor);
    return TW_CALL(Range, 0, rank, 1);
}

tw_tensor *tw__reshape_like(tw_tensor *x, tw_tensor *like)
{
    if (!x || (tw__shape_known(&x->shape) && tw__shape_equal(&x->shape, &like->shape)))
        return x;
    tw_auto tw_tensor *shape = tw__shape_as_tensor(like, TW_INT32);
    tw_tensor *result = TW_CALL(Reshape, x, shape);
    tw_release(x);
    return result;
}
