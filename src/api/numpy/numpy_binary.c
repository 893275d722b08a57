/* tf.experimental.numpy: functions of two tensors, element by element, and operators of tensors that promote dtypes. */
#include "api/numpy/numpy.h"

#include "api/api.h"
#include "function/control.h"
#include "rows.h"

/* What an operation is of numbers, and what it is of truths: another op, or the same of another dtype. */
typedef struct operation {
    const tw_op *of_numbers, *of_truths;
    tw_dtype truths_as;
} operation;
static const operation add = { &tw__op_AddV2, &tw__op_LogicalOr, 0 }, subtract = { &tw__op_Sub, NULL, 0 },
                       multiply = { &tw__op_Mul, &tw__op_LogicalAnd, 0 }, floor_divide = { &tw__op_FloorDiv, NULL, TW_INT8 },
                       modulo = { &tw__op_FloorMod, NULL, TW_INT8 }, maximum = { &tw__op_Maximum, &tw__op_LogicalOr, 0 },
                       minimum = { &tw__op_Minimum, &tw__op_LogicalAnd, 0 }, power = { &tw__op_Pow, NULL, 0 },
                       arctan2 = { &tw__op_Atan2, NULL, 0 }, next_after = { &tw__op_NextAfter, NULL, 0 },
                       bits_and = { &tw__op_BitwiseAnd, &tw__op_LogicalAnd, 0 },
                       bits_or = { &tw__op_BitwiseOr, &tw__op_LogicalOr, 0 },
                       bits_xor = { &tw__op_BitwiseXor, &tw__op_NotEqual, 0 }, equal = { &tw__op_Equal, NULL, 0 },
                       not_equal = { &tw__op_NotEqual, NULL, 0 }, less = { &tw__op_Less, NULL, TW_INT32 },
                       less_equal = { &tw__op_LessEqual, NULL, TW_INT32 }, greater = { &tw__op_Greater, NULL, TW_INT32 },
                       greater_equal = { &tw__op_GreaterEqual, NULL, TW_INT32 };

static tw_tensor *run(tw__temps *t, const operation *what, tw_tensor **x)
{
    const tw_op *op = what->of_numbers;
    if (x[0]->dtype == TW_BOOL && what->of_truths)
        op = what->of_truths;
    if (x[0]->dtype == TW_BOOL && what->truths_as != TW_DTYPE_NONE) {
        x[0] = tw__temp_cast(t, x[0], what->truths_as);
        x[1] = tw__temp_cast(t, x[1], what->truths_as);
    }
    return TW_CALL_OP(op, x[0], x[1]);
}

static tw_tensor *binary(const operation *what, tw_tensor *x1, tw_tensor *x2)
{
    TW_TEMPS(t);
    tw_tensor *x[] = { x1, x2 };
    return tw__numpy_promote(t, x, 2) == TW_OK ? run(t, what, x) : NULL;
}

static tw_tensor *divide(tw_tensor *x1, tw_tensor *x2)
{
    TW_TEMPS(t);
    tw_tensor *x[] = { x1, x2 };
    if (tw__numpy_promote(t, x, 2) != TW_OK)
        return NULL;
    if (x[0]->dtype == TW_BOOL) {
        x[0] = tw__numpy_floating(t, x[0]);
        x[1] = tw__numpy_floating(t, x[1]);
    }
    return x[0] && x[1] ? tw__true_divide(x[0], x[1]) : NULL;
}

static const operation *const operators[TW_OPERATORS] = {
    [TW_OPERATOR_ADD] = &add,           [TW_OPERATOR_SUBTRACT] = &subtract,
    [TW_OPERATOR_MULTIPLY] = &multiply, [TW_OPERATOR_FLOOR_DIVIDE] = &floor_divide,
    [TW_OPERATOR_REMAINDER] = &modulo,  [TW_OPERATOR_POWER] = &power,
    [TW_OPERATOR_LESS] = &less,         [TW_OPERATOR_LESS_EQUAL] = &less_equal,
    [TW_OPERATOR_GREATER] = &greater,   [TW_OPERATOR_GREATER_EQUAL] = &greater_equal,
};

bool tw__numpy_operates(tw__operator which)
{
    return operators[which] || which == TW_OPERATOR_DIVIDE || which == TW_OPERATOR_MATRIX;
}

tw_tensor *tw__numpy_operate(tw__operator which, tw_tensor *a, tw_tensor *b)
{
    if (which == TW_OPERATOR_DIVIDE)
        return divide(a, b);
    if (which == TW_OPERATOR_MATRIX)
        return tw_numpy_matmul(a, b);
    return a->dtype == b->dtype ? tw__operate(which, a, b) : binary(operators[which], a, b);
}

TW_API(numpy_add, "experimental.numpy.add(x1: tensor<common>, x2: tensor<common>) -> tensor", "x1 + x2; of truths: or.")
{
    return binary(&add, args->x1, args->x2);
}
TW_API(numpy_subtract, "experimental.numpy.subtract(x1: tensor<common>, x2: tensor<common>) -> tensor", "x1 - x2.")
{
    return binary(&subtract, args->x1, args->x2);
}
TW_API(numpy_multiply, "experimental.numpy.multiply(x1: tensor<common>, x2: tensor<common>) -> tensor",
       "x1 * x2; of truths: and.")
{
    return binary(&multiply, args->x1, args->x2);
}
TW_API(numpy_divide, "experimental.numpy.divide|experimental.numpy.true_divide(x1: tensor<common>, x2: tensor<common>) -> tensor",
       "x1 / x2; whole numbers become floats.")
{
    return divide(args->x1, args->x2);
}
TW_API(numpy_floor_divide, "experimental.numpy.floor_divide(x1: tensor<common>, x2: tensor<common>) -> tensor",
       "x1 / x2, rounded down.")
{
    return binary(&floor_divide, args->x1, args->x2);
}
TW_API(numpy_mod, "experimental.numpy.mod|experimental.numpy.remainder(x1: tensor<common>, x2: tensor<common>) -> tensor",
       "What is left of x1 beside multiples of x2.")
{
    return binary(&modulo, args->x1, args->x2);
}
TW_API(numpy_divmod, "experimental.numpy.divmod(x1: tensor<common>, x2: tensor<common>) -> value",
       "The quotient, rounded down, and the remainder.")
{
    tw_tensor *quotient = binary(&floor_divide, args->x1, args->x2);
    return tw__numpy_pair(quotient, quotient ? binary(&modulo, args->x1, args->x2) : NULL);
}
TW_API(numpy_maximum, "experimental.numpy.maximum(x1: tensor<common>, x2: tensor<common>) -> tensor", "The greater of both.")
{
    return binary(&maximum, args->x1, args->x2);
}
TW_API(numpy_minimum, "experimental.numpy.minimum(x1: tensor<common>, x2: tensor<common>) -> tensor", "The lesser of both.")
{
    return binary(&minimum, args->x1, args->x2);
}
TW_API(numpy_power, "experimental.numpy.power|experimental.numpy.float_power(x1: tensor<common>, x2: tensor<common>) -> tensor",
       "x1 to the power of x2.")
{
    return binary(&power, args->x1, args->x2);
}
TW_API(numpy_arctan2, "experimental.numpy.arctan2(x1: tensor<common>, x2: tensor<common>) -> tensor", "The angle of (x2, x1).")
{
    return binary(&arctan2, args->x1, args->x2);
}
TW_API(numpy_nextafter, "experimental.numpy.nextafter(x1: tensor<common>, x2: tensor<common>) -> tensor",
       "The next number after x1 towards x2.")
{
    return binary(&next_after, args->x1, args->x2);
}
TW_API(numpy_bitwise_and, "experimental.numpy.bitwise_and(x1: tensor<common>, x2: tensor<common>) -> tensor", "x1 & x2.")
{
    return binary(&bits_and, args->x1, args->x2);
}
TW_API(numpy_bitwise_or, "experimental.numpy.bitwise_or(x1: tensor<common>, x2: tensor<common>) -> tensor", "x1 | x2.")
{
    return binary(&bits_or, args->x1, args->x2);
}
TW_API(numpy_bitwise_xor, "experimental.numpy.bitwise_xor(x1: tensor<common>, x2: tensor<common>) -> tensor", "x1 ^ x2.")
{
    return binary(&bits_xor, args->x1, args->x2);
}
TW_API(numpy_equal, "experimental.numpy.equal(x1: tensor<common>, x2: tensor<common>) -> tensor", "x1 == x2.")
{
    return binary(&equal, args->x1, args->x2);
}
TW_API(numpy_not_equal, "experimental.numpy.not_equal(x1: tensor<common>, x2: tensor<common>) -> tensor", "x1 != x2.")
{
    return binary(&not_equal, args->x1, args->x2);
}
TW_API(numpy_less, "experimental.numpy.less(x1: tensor<common>, x2: tensor<common>) -> tensor", "x1 < x2.")
{
    return binary(&less, args->x1, args->x2);
}
TW_API(numpy_less_equal, "experimental.numpy.less_equal(x1: tensor<common>, x2: tensor<common>) -> tensor", "x1 <= x2.")
{
    return binary(&less_equal, args->x1, args->x2);
}
TW_API(numpy_greater, "experimental.numpy.greater(x1: tensor<common>, x2: tensor<common>) -> tensor", "x1 > x2.")
{
    return binary(&greater, args->x1, args->x2);
}
TW_API(numpy_greater_equal, "experimental.numpy.greater_equal(x1: tensor<common>, x2: tensor<common>) -> tensor", "x1 >= x2.")
{
    return binary(&greater_equal, args->x1, args->x2);
}

/* ---- of truths ---- */

static tw_tensor *logical(const operation *what, tw_tensor *x1, tw_tensor *x2)
{
    TW_TEMPS(t);
    tw_tensor *x[] = { tw__temp_cast(t, x1, TW_BOOL), tw__temp_cast(t, x2, TW_BOOL) };
    return x[0] && x[1] ? run(t, what, x) : NULL;
}

TW_API(numpy_logical_and, "experimental.numpy.logical_and(x1: tensor<array>, x2: tensor<array>) -> tensor",
       "Whether neither is zero.")
{
    return logical(&bits_and, args->x1, args->x2);
}
TW_API(numpy_logical_or, "experimental.numpy.logical_or(x1: tensor<array>, x2: tensor<array>) -> tensor",
       "Whether one is not zero.")
{
    return logical(&bits_or, args->x1, args->x2);
}
TW_API(numpy_logical_xor, "experimental.numpy.logical_xor(x1: tensor<array>, x2: tensor<array>) -> tensor",
       "Whether exactly one is zero.")
{
    return logical(&bits_xor, args->x1, args->x2);
}

/* ---- of several ops ---- */

TW_API(numpy_clip, "experimental.numpy.clip(a: tensor<common>, a_min: tensor<common>?, a_max: tensor<common>?) -> tensor",
       "The values, none less than a_min or greater than a_max; None: no limit.\n"
       "a_min: the least value\n"
       "a_max: the greatest value")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->a, args->a_min, args->a_max };
    if (!x[1] && !x[2])
        return TW_NUMPY_VALUE_ERROR("Not more than one of `a_min` and `a_max` may be `None`.");
    if (!x[1] || !x[2])
        return binary(x[1] ? &maximum : &minimum, x[0], x[1] ? x[1] : x[2]);
    if (tw__numpy_promote(t, x, 3) != TW_OK)
        return NULL;
    return TW_CALL(Maximum, TW_TEMP(Minimum, x[0], x[2]), x[1]); /* a_min holds where they contradict each other */
}

TW_API(numpy_heaviside, "experimental.numpy.heaviside(x1: tensor<common>, x2: tensor<common>) -> tensor",
       "0 below zero, 1 above, x2 at zero.")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->x1, args->x2 };
    if (tw__numpy_promote(t, x, 2) != TW_OK)
        return NULL;
    tw_tensor *made = TW_TEMP(SelectV2, TW_TEMP(Less, x[0], 0.0), TW_TEMP(ZerosLike, x[1]),
                              TW_TEMP(SelectV2, TW_TEMP(Greater, x[0], 0.0), TW_TEMP(OnesLike, x[1]), x[1]));
    made = tw__numpy_floating(t, made);
    return made ? tw_retain(made) : NULL;
}

TW_API(numpy_hypot, "experimental.numpy.hypot(x1: tensor<common>, x2: tensor<common>) -> tensor",
       "The root of the sum of the squares.")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->x1, args->x2 };
    if (tw__numpy_promote(t, x, 2) != TW_OK)
        return NULL;
    return TW_CALL(Sqrt, tw__numpy_floating(t, TW_TEMP(AddV2, TW_TEMP(Square, x[0]), TW_TEMP(Square, x[1]))));
}

/* max(a, b) + log(1 + base^-|a - b|) * factor. */
static tw_tensor *log_add(tw_tensor *x1, tw_tensor *x2, double log_base)
{
    TW_TEMPS(t);
    tw_tensor *x[] = { x1, x2 };
    if (tw__numpy_promote(t, x, 2) != TW_OK)
        return NULL;
    tw_tensor *a = tw__numpy_floating(t, x[0]), *b = tw__numpy_floating(t, x[1]), *delta = TW_TEMP(Sub, a, b);
    tw_tensor *distance = TW_TEMP(Neg, TW_TEMP(Abs, delta));
    if (!distance)
        return NULL;
    tw_tensor *rest =
        log_base == 1 ? TW_TEMP(Exp, distance) : TW_TEMP(Pow, (tw_tensor *)tw__temp(t, tw__grad_constant(2, distance)), distance);
    rest = TW_TEMP(Log1p, rest);
    if (log_base != 1)
        rest = TW_TEMP(Mul, rest, 1 / log_base);
    return TW_CALL(SelectV2, TW_TEMP(IsNan, delta), TW_TEMP(AddV2, a, b), TW_TEMP(AddV2, TW_TEMP(Maximum, a, b), rest));
}

TW_API(numpy_logaddexp, "experimental.numpy.logaddexp(x1: tensor<common>, x2: tensor<common>) -> tensor",
       "log(exp(x1) + exp(x2)).")
{
    return log_add(args->x1, args->x2, 1);
}
TW_API(numpy_logaddexp2, "experimental.numpy.logaddexp2(x1: tensor<common>, x2: tensor<common>) -> tensor",
       "log2(2**x1 + 2**x2).")
{
    return log_add(args->x1, args->x2, 0.69314718055994530942);
}

/* ---- divisors ---- */

static tw_status going_on(void *context, tw_tensor *const *values, int count, tw_tensor ***outputs, int *output_count);
static tw_status euclid(void *context, tw_tensor *const *values, int count, tw_tensor ***outputs, int *output_count);

/* Both of the common shape; NULL where they are not whole numbers. */
static tw_tensor *divisor_of(tw__temps *t, tw_tensor **x, const char *name)
{
    if (tw__numpy_promote(t, x, 2) != TW_OK)
        return NULL;
    if (!tw__numpy_whole(x[0]->dtype))
        return TW_NUMPY_VALUE_ERROR("Arguments to %s must be integers.", name);
    tw_tensor *shape = TW_TEMP(BroadcastArgs, tw__temp_shape(t, x[0], TW_INT32), tw__temp_shape(t, x[1], TW_INT32)), *last[2];
    tw_tensor *first = TW_TEMP(BroadcastTo, TW_TEMP(Abs, x[0]), shape), *second = TW_TEMP(BroadcastTo, TW_TEMP(Abs, x[1]), shape);
    if (!first || !second)
        return NULL;
    tw__loop loop = { .cond = going_on, .body = euclid, .values = TW_IN(first, second), .count = 2 };
    if (tw__while(&loop, last) != TW_OK)
        return NULL;
    tw_release(last[1]);
    return tw__temp(t, last[0]);
}

/* Takes both; second may be NULL. */
static tw_status give(tw_tensor ***outputs, int *output_count, tw_tensor *first, tw_tensor *second)
{
    tw_tensor **list = first ? tw__alloc_array(2, sizeof *list) : NULL;
    if (!list) {
        tw_release(first);
        tw_release(second);
        return tw_error_code();
    }
    list[0] = first, list[1] = second;
    *outputs = list;
    *output_count = second ? 2 : 1;
    return TW_OK;
}

static tw_status going_on(void *context, tw_tensor *const *values, int count, tw_tensor ***outputs, int *output_count)
{
    TW_TEMPS(t);
    (void)context, (void)count;
    tw_tensor *more = TW_TEMP(NotEqual, values[1], 0.0);
    return give(outputs, output_count, more ? tw__reduce_axes(&tw__op_Any, more, (tw_ints){ 0 }, false) : NULL, NULL);
}

static tw_status euclid(void *context, tw_tensor *const *values, int count, tw_tensor ***outputs, int *output_count)
{
    TW_TEMPS(t);
    (void)context, (void)count;
    tw_tensor *a = values[0], *b = values[1], *over = TW_TEMP(Equal, b, 0.0);
    tw_tensor *rest = TW_TEMP(FloorMod, a, TW_TEMP(SelectV2, over, TW_TEMP(OnesLike, b), b));
    tw_tensor *first = TW_CALL(SelectV2, over, a, b),
              *second = first ? TW_CALL(SelectV2, over, TW_TEMP(ZerosLike, b), rest) : NULL;
    if (!second)
        tw_release(first);
    return second ? give(outputs, output_count, first, second) : tw_error_code();
}

TW_API(numpy_gcd, "experimental.numpy.gcd(x1: tensor<common>, x2: tensor<common>) -> tensor", "The greatest common divisor.")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->x1, args->x2 }, *divisor = divisor_of(t, x, "gcd");
    return divisor ? tw_retain(divisor) : NULL;
}

TW_API(numpy_lcm, "experimental.numpy.lcm(x1: tensor<common>, x2: tensor<common>) -> tensor", "The least common multiple.")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->x1, args->x2 }, *divisor = divisor_of(t, x, "lcm");
    tw_tensor *zero = TW_TEMP(Equal, divisor, 0.0), *safe = TW_TEMP(SelectV2, zero, TW_TEMP(OnesLike, divisor), divisor);
    return TW_CALL(SelectV2, zero, TW_TEMP(ZerosLike, divisor), TW_TEMP(Abs, TW_TEMP(Mul, TW_TEMP(FloorDiv, x[0], safe), x[1])));
}

/* ---- whether they are the same ---- */

static tw_tensor *close(tw__temps *t, tw_tensor *a, tw_tensor *b, double rtol, double atol, bool equal_nan)
{
    tw_tensor *x[] = { a, b };
    if (tw__numpy_promote(t, x, 2) != TW_OK)
        return NULL;
    if (x[0]->dtype == TW_BOOL)
        return TW_TEMP(Equal, x[0], x[1]);
    for (int i = 0; i < 2; i++)
        x[i] = tw__numpy_floating(t, x[i]);
    tw_tensor *difference = TW_TEMP(Sub, x[0], x[1]);
    if (!difference)
        return NULL;
    tw_tensor *size = tw__temp(t, tw_abs(x[1]));
    tw_tensor *near = TW_TEMP(LessEqual, (tw_tensor *)tw__temp(t, tw_abs(difference)),
                              TW_TEMP(AddV2, (tw_tensor *)tw__temp(t, tw__grad_constant(atol, size)), TW_TEMP(Mul, size, rtol)));
    if (!equal_nan || !near)
        return near;
    return TW_TEMP(LogicalOr, near,
                   TW_TEMP(LogicalAnd, (tw_tensor *)tw__temp(t, tw_numpy_isnan(x[0])),
                           (tw_tensor *)tw__temp(t, tw_numpy_isnan(x[1]))));
}

TW_API(
    numpy_isclose,
    "experimental.numpy.isclose(a: tensor<common>, b: tensor<common>, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> tensor",
    "Whether |a - b| <= atol + rtol * |b|.\n"
    "equal_nan: True: NaN is close to NaN")
{
    TW_TEMPS(t);
    tw_tensor *near = close(t, args->a, args->b, args->rtol, args->atol, args->equal_nan);
    return near ? tw_retain(near) : NULL;
}

TW_API(
    numpy_allclose,
    "experimental.numpy.allclose(a: tensor<common>, b: tensor<common>, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> tensor",
    "Whether all elements are close.\n"
    "equal_nan: True: NaN is close to NaN")
{
    TW_TEMPS(t);
    tw_tensor *near = close(t, args->a, args->b, args->rtol, args->atol, args->equal_nan);
    return tw__reduce_axes(&tw__op_All, near, (tw_ints){ 0 }, false);
}

TW_API(numpy_array_equal, "experimental.numpy.array_equal(a1: tensor<common>, a2: tensor<common>) -> tensor",
       "Whether shapes and elements are the same.\n"
       "a1: an array\n"
       "a2: another one")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->a1, args->a2 };
    if (tw__numpy_promote(t, x, 2) != TW_OK)
        return NULL;
    if (!tw__shape_compatible(&x[0]->shape, &x[1]->shape))
        return tw_tensor_bool(false);
    tw_tensor *same = TW_TEMP(Equal, x[0], x[1], TW_A_BOOL("incompatible_shape_error", false));
    same = TW_TEMP(All, tw__numpy_flat(t, same), 0); /* shapes that do not fit give one truth, whatever their rank is */
    if (!same || (tw__shape_known(&x[0]->shape) && tw__shape_known(&x[1]->shape)))
        return same ? tw_retain(same) : NULL;
    tw_tensor *sizes = TW_TEMP(Equal, tw__temp_shape(t, x[0], TW_INT32), tw__temp_shape(t, x[1], TW_INT32),
                               TW_A_BOOL("incompatible_shape_error", false));
    tw_tensor *fit = TW_TEMP(All, tw__numpy_flat(t, sizes), 0);
    return TW_CALL(LogicalAnd, fit, same);
}
