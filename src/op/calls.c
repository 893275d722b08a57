/* Calls that take their inputs, scalars and casts; see calls.h. */
#include "op/calls.h"

#include "kernel/kernel.h"
#include "op/array/array.h"
#include "rows.h"

tw_tensor *tw__grad_call_1(const tw_op *op, tw_tensor *x)
{
    tw_tensor *result = x ? tw__call(op, &x, 1, NULL, 0) : NULL;
    tw_release(x);
    return result;
}

tw_tensor *tw__grad_call_2(const tw_op *op, tw_tensor *x, tw_tensor *y)
{
    tw_tensor *result = x && y ? tw__call(op, TW_IN(x, y), 2, NULL, 0) : NULL;
    tw_release(x);
    tw_release(y);
    return result;
}

tw_tensor *tw__grad_call_3(const tw_op *op, tw_tensor *x, tw_tensor *y, tw_tensor *z)
{
    tw_tensor *result = x && y && z ? tw__call(op, TW_IN(x, y, z), 3, NULL, 0) : NULL;
    tw_release(x);
    tw_release(y);
    tw_release(z);
    return result;
}

tw_tensor *tw__grad_call_number(const tw_op *op, double number, tw_tensor *y)
{
    return y ? tw__grad_call_2(op, tw__grad_constant(number, y), y) : NULL;
}

tw_tensor *tw__cast(tw_tensor *tensor, tw_dtype dtype)
{
    if (!tensor || tensor->dtype == dtype)
        return tw_retain(tensor);
    tw_attr target = TW_A_TYPE("DstT", dtype);
    return tw__call(&tw__op_Cast, &tensor, 1, &target, 1);
}

void tw__scalar_set(tw_tensor *scalar, double value)
{
    if (scalar->dtype == TW_FLOAT32) /* the usual one */
        *(float *)scalar->data = (float)value;
    else if (tw__cast_has(TW_FLOAT64, scalar->dtype))
        tw__cast_run(TW_FLOAT64, scalar->dtype, &value, scalar->data, 1, false);
}

tw_tensor *tw__float_scalar(tw_dtype dtype, double value)
{
    if (!tw__dtype_is_float(dtype)) {
        tw__fail(TW_TYPE_ERROR, "values of dtype %s, expected floats", tw_dtype_name(dtype));
        return NULL;
    }
    tw_tensor *scalar = tw_tensor_new(dtype, TW_SCALAR, NULL);
    if (scalar)
        tw__scalar_set(scalar, value);
    return scalar;
}

tw_tensor *tw__count_scalar(tw_tensor *tensor, tw_dtype dtype)
{
    if (!tensor || tensor->count >= 0)
        return !tensor ? NULL : tw__float_scalar(dtype, (double)tensor->count);
    tw_auto tw_tensor *size = TW_UNARY(Size, tensor);
    return tw__cast(size, dtype);
}

tw_tensor *tw__reduce_axis(const tw_op *op, tw_tensor *tensor, int64_t axis, bool keep_dims)
{
    if (!tensor)
        return NULL;
    tw_tensor *indices = axis == TW_NO_INT ? tw__all_axes(tensor) : tw__ints_tensor(&axis, 1, TW_INT32);
    tw_attr keep = TW_A_BOOL("keep_dims", keep_dims);
    tw_tensor *output = tw__call(op, TW_IN(tensor, indices), 2, &keep, 1);
    tw_release(indices);
    return output;
}

tw_tensor *tw__grad_constant(double value, const tw_tensor *like)
{
    if (!like)
        return NULL;
    tw_tensor *scalar = tw__tensor_empty(like->dtype, &TW_SCALAR);
    if (scalar && !tw__cast_has(TW_FLOAT64, like->dtype)) {
        tw__fail(TW_INVALID_ARGUMENT, "a number is needed, got a tensor of dtype %s", tw_dtype_name(like->dtype));
        tw_release(scalar);
        return NULL;
    }
    if (scalar)
        tw__cast_run(TW_FLOAT64, like->dtype, &value, scalar->data, 1, false);
    return scalar;
}
