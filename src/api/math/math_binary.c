/* Functions of two tensors that are more than one op: divisions, tf.add of strings, … Those that are an op stand in its row. */
#include "api/api.h"
#include "op/calls.h"
#include "rows.h"

TW_API(add, "add|math.add(x: tensor<first>|ragged, y: tensor<first>|ragged, name: str = None) -> tensor",
       "x + y, element by element.")
{
    return args->x->dtype == TW_STRING ? TW_CALL(Add, args->x, args->y) : TW_CALL(AddV2, args->x, args->y);
}

TW_API(
    math_logical_xor,
    "math.logical_xor|compat.v1.logical_xor(x: tensor<bool>|ragged, y: tensor<bool>|ragged, name: str = 'LogicalXor') -> tensor",
    "Whether exactly one of x and y is true.")
{
    tw_auto tw_tensor *either = TW_CALL(LogicalOr, args->x, args->y);
    tw_auto tw_tensor *both = either ? TW_CALL(LogicalAnd, args->x, args->y) : NULL;
    tw_auto tw_tensor *not_both = TW_CALL(LogicalNot, both);
    return TW_CALL(LogicalAnd, either, not_both);
}

/* ---- division of integers gives floats ---- */

static tw_tensor *as_float(tw_tensor *x)
{
    tw_dtype to = TW_FLOAT64;
    switch (x->dtype) {
    case TW_INT8:
    case TW_UINT8:
    case TW_INT16:
    case TW_UINT16:
        to = TW_FLOAT32;
        break;
    case TW_INT32:
    case TW_UINT32:
    case TW_INT64:
    case TW_UINT64:
        break;
    default:
        return tw_retain(x);
    }
    return TW_CALL(Cast, x, TW_A_TYPE("DstT", to));
}

static tw_tensor *quotient(const tw_op *op, tw_tensor *x, tw_tensor *y)
{
    if (x->dtype != y->dtype) {
        tw__fail(TW_TYPE_ERROR, "`x` and `y` must have the same dtype, got tf.%s != tf.%s.", tw_dtype_name(x->dtype),
                 tw_dtype_name(y->dtype));
        return NULL;
    }
    tw_auto tw_tensor *a = as_float(x);
    tw_auto tw_tensor *b = a ? as_float(y) : NULL;
    return b ? tw__call(op, TW_IN(a, b), 2, NULL, 0) : NULL;
}

tw_tensor *tw__true_divide(tw_tensor *x, tw_tensor *y)
{
    return quotient(&tw__op_RealDiv, x, y);
}

TW_API(math_divide_no_nan,
       "math.divide_no_nan|compat.v1.div_no_nan(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
       "x / y, and zero where y is zero; integers become floats.")
{
    return quotient(&tw__op_DivNoNan, args->x, args->y);
}

TW_API(divide, "divide|math.divide(x: tensor<hint>|ragged, y: tensor<hint>|ragged, name: str = None) -> tensor",
       "x / y, element by element; integers become floats.")
{
    return tw__true_divide(args->x, args->y);
}

TW_API(truediv, "truediv|math.truediv(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
       "x / y, element by element; integers become floats.")
{
    return tw__true_divide(args->x, args->y);
}

TW_API(scalar_mul, "scalar_mul|math.scalar_mul(scalar: tensor<x>|ragged, x: tensor|ragged, name: str = None) -> tensor",
       "A number times a tensor.\n"
       "scalar: a single number\n"
       "example: tf.scalar_mul(3, tf.constant([1, 2])).numpy().tolist()  # [3, 6]")
{
    if (args->scalar->shape.rank != 0) {
        tw__fail(TW_VALUE_ERROR, "The input scalar must be a 0-D value. Received shape %s.",
                 tw__shape_text(&args->scalar->shape));
        return NULL;
    }
    return TW_CALL(Mul, args->scalar, args->x);
}
