/* Functions of two tensors as users name them: tf.add, tf.math.floormod, tf.less, … */
#include "api/api.h"
#include "rows.h"

TW_API(add, "add|math.add(x: tensor<first>, y: tensor<first>, name: str = None) -> tensor", "x + y, element by element.")
{
    return args->x->dtype == TW_STRING ? TW_BINARY(Add, args->x, args->y) : TW_BINARY(AddV2, args->x, args->y);
}

TW_API(subtract, "subtract|math.subtract(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor", "x - y, element by element.")
{
    return TW_BINARY(Sub, args->x, args->y);
}

TW_API(multiply, "multiply|math.multiply(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor", "x * y, element by element.")
{
    return TW_BINARY(Mul, args->x, args->y);
}

TW_API(pow, "pow|math.pow(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor", "x to the power of y, element by element.")
{
    return TW_BINARY(Pow, args->x, args->y);
}

TW_API(maximum, "maximum|math.maximum(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "The larger of x and y, element by element.")
{
    return TW_BINARY(Maximum, args->x, args->y);
}

TW_API(minimum, "minimum|math.minimum(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "The smaller of x and y, element by element.")
{
    return TW_BINARY(Minimum, args->x, args->y);
}

TW_API(less, "less|math.less(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor", "x < y, element by element.")
{
    return TW_BINARY(Less, args->x, args->y);
}

TW_API(less_equal, "less_equal|math.less_equal(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "x <= y, element by element.")
{
    return TW_BINARY(LessEqual, args->x, args->y);
}

TW_API(greater, "greater|math.greater(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor", "x > y, element by element.")
{
    return TW_BINARY(Greater, args->x, args->y);
}

TW_API(greater_equal, "greater_equal|math.greater_equal(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "x >= y, element by element.")
{
    return TW_BINARY(GreaterEqual, args->x, args->y);
}

TW_API(equal, "equal|math.equal(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "Whether x and y are equal, element by element.")
{
    return TW_BINARY(Equal, args->x, args->y);
}

TW_API(not_equal, "not_equal|math.not_equal(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "Whether x and y differ, element by element.")
{
    return TW_BINARY(NotEqual, args->x, args->y);
}

TW_API(logical_and, "logical_and|math.logical_and(x: tensor<bool>, y: tensor<bool>, name: str = None) -> tensor",
       "Whether x and y are both true.")
{
    return TW_BINARY(LogicalAnd, args->x, args->y);
}

TW_API(logical_or, "logical_or|math.logical_or(x: tensor<bool>, y: tensor<bool>, name: str = None) -> tensor",
       "Whether one of x and y is true.")
{
    return TW_BINARY(LogicalOr, args->x, args->y);
}

TW_API(atan2, "atan2|math.atan2(y: tensor<T>, x: tensor<T>, name: str = None) -> tensor",
       "The angle of the point (x, y), from -pi to pi.")
{
    return TW_BINARY(Atan2, args->y, args->x);
}

TW_API(math_floordiv, "math.floordiv(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "x / y rounded down, element by element.")
{
    return TW_BINARY(FloorDiv, args->x, args->y);
}

TW_API(math_divide_no_nan, "math.divide_no_nan(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "x / y, and zero where y is zero.")
{
    return TW_BINARY(DivNoNan, args->x, args->y);
}

TW_API(math_multiply_no_nan, "math.multiply_no_nan(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "x * y, and zero where y is zero even if x is infinite or not a number.")
{
    return TW_BINARY(MulNoNan, args->x, args->y);
}

TW_API(math_squared_difference, "math.squared_difference(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "(x - y) * (x - y), element by element.")
{
    return TW_BINARY(SquaredDifference, args->x, args->y);
}

TW_API(math_xdivy, "math.xdivy(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor", "x / y, and zero where x is zero.")
{
    return TW_BINARY(Xdivy, args->x, args->y);
}

TW_API(math_xlogy, "math.xlogy(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor", "x * log(y), and zero where x is zero.")
{
    return TW_BINARY(Xlogy, args->x, args->y);
}

TW_API(math_xlog1py, "math.xlog1py(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "x * log(1 + y), and zero where x is zero.")
{
    return TW_BINARY(Xlog1py, args->x, args->y);
}

TW_API(math_floormod, "math.floormod|math.mod(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "The remainder of division rounded down: it has the sign of y.")
{
    return TW_BINARY(FloorMod, args->x, args->y);
}

TW_API(math_nextafter, "math.nextafter(x1: tensor<T>, x2: tensor<T>, name: str = None) -> tensor",
       "The number next to x1 in the direction of x2.")
{
    return TW_BINARY(NextAfter, args->x1, args->x2);
}

TW_API(realdiv, "realdiv(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor", "x / y of real or complex numbers.")
{
    return TW_BINARY(RealDiv, args->x, args->y);
}

TW_API(truncatediv, "truncatediv(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "x / y of integers, rounded towards zero.")
{
    return TW_BINARY(TruncateDiv, args->x, args->y);
}

TW_API(truncatemod, "truncatemod(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "The remainder of division rounded towards zero: it has the sign of x.")
{
    return TW_BINARY(TruncateMod, args->x, args->y);
}

TW_API(bitwise_bitwise_and, "bitwise.bitwise_and(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "The bits that are set in both x and y.")
{
    return TW_BINARY(BitwiseAnd, args->x, args->y);
}

TW_API(bitwise_bitwise_or, "bitwise.bitwise_or(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "The bits that are set in x or y.")
{
    return TW_BINARY(BitwiseOr, args->x, args->y);
}

TW_API(bitwise_bitwise_xor, "bitwise.bitwise_xor(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "The bits that are set in one of x and y.")
{
    return TW_BINARY(BitwiseXor, args->x, args->y);
}

TW_API(bitwise_left_shift, "bitwise.left_shift(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "The bits of x moved left by y.")
{
    return TW_BINARY(LeftShift, args->x, args->y);
}

TW_API(bitwise_right_shift, "bitwise.right_shift(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "The bits of x moved right by y.")
{
    return TW_BINARY(RightShift, args->x, args->y);
}

TW_API(math_logical_xor, "math.logical_xor(x: tensor<bool>, y: tensor<bool>, name: str = 'LogicalXor') -> tensor",
       "Whether exactly one of x and y is true.")
{
    tw_auto tw_tensor *either = TW_BINARY(LogicalOr, args->x, args->y);
    tw_auto tw_tensor *both = either ? TW_BINARY(LogicalAnd, args->x, args->y) : NULL;
    tw_auto tw_tensor *not_both = both ? TW_UNARY(LogicalNot, both) : NULL;
    return not_both ? TW_BINARY(LogicalAnd, either, not_both) : NULL;
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
    tw_attr type = TW_A_TYPE("DstT", to);
    return tw__call(&tw__op_Cast, &x, 1, &type, 1);
}

tw_tensor *tw__true_divide(tw_tensor *x, tw_tensor *y)
{
    if (x->dtype != y->dtype) {
        tw__fail(TW_TYPE_ERROR, "`x` and `y` must have the same dtype, got tf.%s != tf.%s", tw_dtype_name(x->dtype),
                 tw_dtype_name(y->dtype));
        return NULL;
    }
    tw_auto tw_tensor *a = as_float(x);
    tw_auto tw_tensor *b = a ? as_float(y) : NULL;
    return b ? TW_BINARY(RealDiv, a, b) : NULL;
}

TW_API(divide, "divide|math.divide(x: tensor<hint>, y: tensor<hint>, name: str = None) -> tensor",
       "x / y, element by element; integers become floats.")
{
    return tw__true_divide(args->x, args->y);
}

TW_API(truediv, "truediv|math.truediv(x: tensor<T>, y: tensor<T>, name: str = None) -> tensor",
       "x / y, element by element; integers become floats.")
{
    return tw__true_divide(args->x, args->y);
}

TW_API(scalar_mul, "scalar_mul|math.scalar_mul(scalar: tensor<T>, x: tensor<T>, name: str = None) -> tensor",
       "A number times a tensor.")
{
    if (args->scalar->shape.rank != 0) {
        tw__fail(TW_VALUE_ERROR, "The input scalar must be a 0-D value. Received shape %s.",
                 tw__shape_text(&args->scalar->shape));
        return NULL;
    }
    return TW_BINARY(Mul, args->scalar, args->x);
}
