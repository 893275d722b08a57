/* Operators: see operators.h. Arguments are complete here, so the rows' bodies are called as they are. */
#include "api/operators.h"
#include "rows.h"

#define TWO(id, first, second)                                                    \
    static tw_tensor *call_##id(tw_tensor *a, tw_tensor *b)                       \
    {                                                                             \
        return tw__impl_##id(&(const tw_##id##_args){ .first = a, .second = b }); \
    }
#define ONE(id, first)                                               \
    static tw_tensor *call_##id(tw_tensor *a, tw_tensor *b)          \
    {                                                                \
        (void)b;                                                     \
        return tw__impl_##id(&(const tw_##id##_args){ .first = a }); \
    }
/* For bool another function than for integers. */
#define EITHER(name, of_bool, of_integers)                                            \
    static tw_tensor *call_##name(tw_tensor *a, tw_tensor *b)                         \
    {                                                                                 \
        return a->dtype == TW_BOOL ? call_##of_bool(a, b) : call_##of_integers(a, b); \
    }
TWO(add, x, y)
TWO(subtract, x, y)
TWO(multiply, x, y)
TWO(truediv, x, y)
TWO(math_floordiv, x, y)
TWO(math_floormod, x, y)
TWO(pow, x, y)
TWO(matmul, a, b)
TWO(logical_and, x, y)
TWO(logical_or, x, y)
TWO(math_logical_xor, x, y)
TWO(bitwise_bitwise_and, x, y)
TWO(bitwise_bitwise_or, x, y)
TWO(bitwise_bitwise_xor, x, y)
TWO(less, x, y)
TWO(less_equal, x, y)
TWO(greater, x, y)
TWO(greater_equal, x, y)
ONE(negative, x)
ONE(logical_not, x)
ONE(bitwise_invert, x)
ONE(abs, x)
EITHER(and, logical_and, bitwise_bitwise_and)
EITHER(or, logical_or, bitwise_bitwise_or)
EITHER(xor, math_logical_xor, bitwise_bitwise_xor)
EITHER(invert, logical_not, bitwise_invert)

/* tf.equal refuses shapes that do not fit; `==` does not. */
static tw_tensor *loose(const tw_op *op, tw_tensor *a, tw_tensor *b)
{
    return tw__call(op, TW_IN(a, b), 2, TW_WITH(TW_A_BOOL("incompatible_shape_error", false)), 1);
}

static tw_tensor *call_equal(tw_tensor *a, tw_tensor *b)
{
    return loose(&tw__op_Equal, a, b);
}

static tw_tensor *call_not_equal(tw_tensor *a, tw_tensor *b)
{
    return loose(&tw__op_NotEqual, a, b);
}

tw_tensor *tw__operate(tw__operator which, tw_tensor *a, tw_tensor *b)
{
    static tw_tensor *(*const calls[TW_OPERATORS])(tw_tensor *, tw_tensor *) = {
        [TW_OPERATOR_ADD] = call_add,
        [TW_OPERATOR_SUBTRACT] = call_subtract,
        [TW_OPERATOR_MULTIPLY] = call_multiply,
        [TW_OPERATOR_DIVIDE] = call_truediv,
        [TW_OPERATOR_FLOOR_DIVIDE] = call_math_floordiv,
        [TW_OPERATOR_REMAINDER] = call_math_floormod,
        [TW_OPERATOR_POWER] = call_pow,
        [TW_OPERATOR_MATRIX] = call_matmul,
        [TW_OPERATOR_AND] = call_and,
        [TW_OPERATOR_OR] = call_or,
        [TW_OPERATOR_XOR] = call_xor,
        [TW_OPERATOR_LESS] = call_less,
        [TW_OPERATOR_LESS_EQUAL] = call_less_equal,
        [TW_OPERATOR_GREATER] = call_greater,
        [TW_OPERATOR_GREATER_EQUAL] = call_greater_equal,
        [TW_OPERATOR_EQUAL] = call_equal,
        [TW_OPERATOR_NOT_EQUAL] = call_not_equal,
        [TW_OPERATOR_NEGATIVE] = call_negative,
        [TW_OPERATOR_INVERT] = call_invert,
        [TW_OPERATOR_ABSOLUTE] = call_abs,
    };
    return calls[which](a, b);
}
