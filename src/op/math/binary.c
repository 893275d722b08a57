/* Arithmetic of two tensors with broadcasting. Kernels are those of kernel/elementwise; every gradient is written in ops. */
#include "kernel/kernel.h"
#include "op/gradient.h"
#include "op/partial.h"
#include "rows.h"

tw_status tw__binary_by(tw__kernel *kernel, const tw__binary *operation)
{
    const tw_tensor *x = kernel->inputs[0], *y = kernel->inputs[1];
    tw_tensor *z = kernel->outputs[0];
    if (__builtin_expect(!tw__binary_has(operation, x->dtype), 0))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(x->dtype));
    if (x->count == 1 && y->count == 1) {
        tw__binary_row(operation, x->dtype, x->data, y->data, z->data, 1, TW_ROW_BOTH);
        return TW_OK;
    }
    tw__binary_run(operation, x->dtype, x->data, &x->shape, y->data, &y->shape, z->data, &z->shape);
    return TW_OK;
}

tw_status tw__binary_compute(tw__kernel *kernel)
{
    return tw__binary_by(kernel, kernel->op->binary);
}

/* Zero is all bits clear in every integer dtype: the widths are enough to tell. */
static bool has_zero(const tw_tensor *y)
{
    bool zero = false;
    int64_t n = y->count;
    switch (tw__element_size(y->dtype)) {
    case 1:
        return memchr(y->data, 0, (size_t)n) != NULL;
    case 2:
        for (int64_t i = 0; i < n; i++)
            zero |= ((const uint16_t *)y->data)[i] == 0;
        return zero;
    case 4:
        for (int64_t i = 0; i < n; i++)
            zero |= ((const uint32_t *)y->data)[i] == 0;
        return zero;
    default:
        for (int64_t i = 0; i < n; i++)
            zero |= ((const uint64_t *)y->data)[i] == 0;
        return zero;
    }
}

/* Integers can't be divided by zero: the divisors are looked through first. */
static tw_status division_compute(tw__kernel *kernel, const tw__binary *operation)
{
    const tw_tensor *y = kernel->inputs[1];
    if (tw__dtype_is_integer(y->dtype) && kernel->outputs[0]->count && has_zero(y))
        return tw__fail(TW_INVALID_ARGUMENT, "Integer division by zero");
    return tw__binary_by(kernel, operation);
}

static tw_status power_compute(tw__kernel *kernel)
{
    const tw_tensor *y = kernel->inputs[1];
    if (tw__dtype_is_integer(y->dtype) && kernel->outputs[0]->count) {
        for (int64_t i = 0; i < y->count; i++) {
            if (tw_tensor_int_at(y, i) < 0)
                return tw__fail(TW_INVALID_ARGUMENT, "Integers to negative integer powers are not allowed");
        }
    }
    return tw__binary_by(kernel, &tw__binary_power);
}

#define DIVISION(name)                                       \
    static tw_status name##_compute(tw__kernel *kernel)      \
    {                                                        \
        return division_compute(kernel, &tw__binary_##name); \
    }
DIVISION(divide)
DIVISION(floor_modulo)
DIVISION(modulo)

/* The quotient, then the whole number. Half and bfloat16 are rounded in between, as TensorFlow's are: 2047 / 2.001 is 1023
 * before. */
static tw_status whole_quotient(tw__kernel *kernel, const tw__unary *whole)
{
    tw_tensor *z = kernel->outputs[0];
    TW_TRY(tw__binary_by(kernel, &tw__binary_divide));
    tw__unary_run(whole, z->dtype, z->data, z->data, z->count);
    return TW_OK;
}

static tw_status floor_divide_compute(tw__kernel *kernel)
{
    tw_dtype dtype = kernel->inputs[0]->dtype;
    return dtype == TW_FLOAT16 || dtype == TW_BFLOAT16 ? whole_quotient(kernel, &tw__unary_floor)
                                                       : division_compute(kernel, &tw__binary_floor_divide);
}

static tw_status truncate_divide_compute(tw__kernel *kernel)
{
    tw_dtype dtype = kernel->inputs[0]->dtype;
    if (tw__dtype_is_complex(dtype))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(dtype));
    return tw__dtype_is_float(dtype) ? whole_quotient(kernel, &tw__unary_truncate) : division_compute(kernel, &tw__binary_divide);
}

/* RealDiv has no integers among its kernels, TensorFlow neither. */
static tw_status real_divide_compute(tw__kernel *kernel)
{
    if (tw__dtype_is_integer(kernel->inputs[0]->dtype))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(kernel->inputs[0]->dtype));
    return divide_compute(kernel);
}

#define ROW .inputs = "x: T, y: T", .outputs = "z: T", .shape = tw_shape_broadcast
#define REALS_ "bfloat16, half, float, double"
#define INTEGERS_ "uint8, int8, uint16, int16, int32, uint32, uint64, int64"
#define COMPLEXES_ "complex64, complex128"
#define ALL_NUMBERS "T: {" REALS_ ", " INTEGERS_ ", " COMPLEXES_ "}"
#define REALS_AND_COMPLEXES "T: {" REALS_ ", " COMPLEXES_ "}"

/* ---- sums ---- */

static tw_status add_gradient(tw__gradient *g)
{
    tw__grad_set(g, 0, tw_retain(g->output_grads[0]));
    tw__grad_set(g, 1, tw_retain(g->output_grads[0]));
    return tw__grad_status(g);
}

static tw_status subtract_gradient(tw__gradient *g)
{
    tw__grad_set(g, 0, tw_retain(g->output_grads[0]));
    if (g->wanted[1])
        tw__grad_set(g, 1, TW_CALL(Neg, g->output_grads[0]));
    return tw__grad_status(g);
}

static tw_status add_strings(tw__kernel *kernel)
{
    const tw_tensor *x = kernel->inputs[0], *y = kernel->inputs[1];
    tw_tensor *z = kernel->outputs[0];
    tw__broadcast plan;
    tw__broadcast_plan(&plan, &z->shape, (const tw_shape *const[]){ &x->shape, &y->shape }, 2);
    int64_t length = plan.dims[plan.rank - 1];
    tw__auto(tw__text_free) tw__text text = { 0 };
    for (int64_t i = 0; i < z->count; i++) {
        int64_t row = i / length, k = i % length;
        tw_string a = tw_tensor_string_at(x, tw__broadcast_offset(&plan, 0, row) + k * plan.strides[0][plan.rank - 1]);
        tw_string b = tw_tensor_string_at(y, tw__broadcast_offset(&plan, 1, row) + k * plan.strides[1][plan.rank - 1]);
        tw__text_clear(&text);
        tw__text_bytes(&text, a.data, a.size);
        tw__text_bytes(&text, b.data, b.size);
        TW_TRY(text.failed ? tw__error_status() : tw__string_set(z, i, text.data, text.size));
    }
    return TW_OK;
}

static tw_status add_or_join_compute(tw__kernel *kernel)
{
    return kernel->inputs[0]->dtype == TW_STRING ? add_strings(kernel) : tw__binary_by(kernel, &tw__binary_add);
}

TW_OP(Add, ROW, .attrs = "T: {" REALS_ ", uint8, int8, int16, int32, int64, " COMPLEXES_ ", string}",
      .compute = add_or_join_compute, .gradient = add_gradient, .doc = "x + y, element by element; strings are joined.");

static int64_t add_sizes(int64_t a, int64_t b)
{
    int64_t result;
    return __builtin_add_overflow(a, b, &result) || result > INT32_MAX ? -1 : result;
}

static bool add_partial(const tw__partial_call *call, tw_shape *elements)
{
    return tw__partial_pairs(call, elements, add_sizes);
}

TW_OP(AddV2, ROW, .attrs = ALL_NUMBERS, .compute = tw__binary_compute, .binary = &tw__binary_add, .gradient = add_gradient,
      .node_name = "add", .scope = TW_SCOPE_ALWAYS, .partial = add_partial, .doc = "x + y, element by element.");

static int64_t sub_sizes(int64_t a, int64_t b)
{
    return a >= b ? a - b : -1;
}

static bool sub_partial(const tw__partial_call *call, tw_shape *elements)
{
    return tw__partial_pairs(call, elements, sub_sizes);
}

TW_OP(Sub, ROW, .attrs = ALL_NUMBERS, .compute = tw__binary_compute, .binary = &tw__binary_subtract,
      .gradient = subtract_gradient, .node_name = "sub", .scope = TW_SCOPE_OPERATOR, .neutral_right = 1 + 0,
      .partial = sub_partial,
      .function = "subtract|math.subtract(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "x - y, element by element.");

/* ---- products ---- */

static tw_status multiply_gradient(tw__gradient *g)
{
    tw_tensor *dz = g->output_grads[0];
    for (int i = 0; i < 2; i++) {
        if (g->wanted[i]) {
            tw_tensor *other = tw__grad_conj(g->inputs[1 - i]);
            tw__grad_set(g, i, TW_CALL(Mul, dz, other));
            tw_release(other);
        }
    }
    return tw__grad_status(g);
}

static int64_t mul_sizes(int64_t a, int64_t b)
{
    int64_t result;
    return __builtin_mul_overflow(a, b, &result) || result > INT32_MAX ? -1 : result;
}

static bool mul_partial(const tw__partial_call *call, tw_shape *elements)
{
    return tw__partial_pairs(call, elements, mul_sizes);
}

TW_OP(Mul, ROW, .attrs = ALL_NUMBERS, .compute = tw__binary_compute, .binary = &tw__binary_multiply,
      .gradient = multiply_gradient, .node_name = "mul", .scope = TW_SCOPE_OPERATOR, .neutral_right = 1 + 1, .commutes = true,
      .partial = mul_partial, .functions_in_gradient = true,
      .function = "multiply|math.multiply(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "x * y, element by element.");

static tw_status multiply_no_nan_gradient(tw__gradient *g)
{
    if (g->wanted[0])
        tw__grad_set(g, 0, TW_CALL(MulNoNan, g->output_grads[0], g->inputs[1]));
    if (g->wanted[1])
        tw__grad_set(g, 1, TW_CALL(MulNoNan, g->inputs[0], g->output_grads[0]));
    return tw__grad_status(g);
}

TW_OP(MulNoNan, ROW, .attrs = REALS_AND_COMPLEXES, .compute = tw__binary_compute, .binary = &tw__binary_multiply_no_nan,
      .gradient = multiply_no_nan_gradient,
      .function = "math.multiply_no_nan(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "x * y, and zero where y is zero even if x is infinite or not a number.");

/* ---- quotients ---- */

/* dx = dz / y, dy = dz * ((-x / y) / y), by the division op that the row itself is. */
static tw_status quotient_gradient(tw__gradient *g, const tw_op *division)
{
    tw_tensor *dz = g->output_grads[0];
    tw_tensor *x = g->wanted[1] ? tw__grad_conj(g->inputs[0]) : NULL, *y = tw__grad_conj(g->inputs[1]);
    if (g->wanted[0])
        tw__grad_set(g, 0, tw__call(division, TW_IN(dz, y), 2, NULL, 0));
    if (g->wanted[1]) {
        tw_auto tw_tensor *negative = TW_CALL(Neg, x);
        tw_auto tw_tensor *once = tw__call(division, TW_IN(negative, y), 2, NULL, 0);
        tw_auto tw_tensor *twice = tw__call(division, TW_IN(once, y), 2, NULL, 0);
        tw__grad_set(g, 1, TW_CALL(Mul, dz, twice));
    }
    tw_release(x);
    tw_release(y);
    return tw__grad_status(g);
}

static tw_status divide_gradient(tw__gradient *g)
{
    return quotient_gradient(g, &tw__op_Div);
}

static tw_status real_divide_gradient(tw__gradient *g)
{
    return quotient_gradient(g, &tw__op_RealDiv);
}

static tw_status divide_no_nan_gradient(tw__gradient *g)
{
    return quotient_gradient(g, &tw__op_DivNoNan);
}

TW_OP(Div, ROW, .attrs = ALL_NUMBERS, .compute = divide_compute, .gradient = divide_gradient,
      .doc = "x / y, element by element; integers are rounded towards zero.");

TW_OP(RealDiv, ROW, .attrs = ALL_NUMBERS, .compute = real_divide_compute, .binary = &tw__binary_divide,
      .gradient = real_divide_gradient, .node_name = "truediv", .scope = TW_SCOPE_OPERATOR, .neutral_right = 1 + 1,
      .function = "realdiv(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "x / y of real or complex numbers.");

TW_OP(DivNoNan, ROW, .attrs = REALS_AND_COMPLEXES, .compute = tw__binary_compute, .binary = &tw__binary_divide_no_nan,
      .gradient = divide_no_nan_gradient, .scope = TW_SCOPE_ALWAYS, .doc = "x / y, and zero where y is zero.");

TW_OP(TruncateDiv, ROW, .attrs = ALL_NUMBERS, .compute = truncate_divide_compute,
      .function = "truncatediv(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "x / y of integers, rounded towards zero.");

static int64_t floor_div_sizes(int64_t a, int64_t b)
{
    return b ? a / b : -1;
}

static bool floor_div_partial(const tw__partial_call *call, tw_shape *elements)
{
    return tw__partial_pairs(call, elements, floor_div_sizes);
}

TW_OP(
    FloorDiv, ROW, .attrs = ALL_NUMBERS, .compute = floor_divide_compute, .node_name = "floordiv", .scope = TW_SCOPE_OPERATOR,
    .partial = floor_div_partial,
    .function =
        "math.floordiv|compat.v1.floor_div|compat.v1.floordiv(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
    .doc = "x / y rounded down, element by element.");

static tw_status floor_modulo_gradient(tw__gradient *g)
{
    tw_tensor *dz = g->output_grads[0];
    tw__grad_set(g, 0, tw_retain(dz));
    if (g->wanted[1]) {
        tw_auto tw_tensor *quotient = TW_CALL(FloorDiv, g->inputs[0], g->inputs[1]);
        tw_auto tw_tensor *negative = TW_CALL(Neg, quotient);
        tw__grad_set(g, 1, TW_CALL(Mul, dz, negative));
    }
    return tw__grad_status(g);
}

TW_OP(
    FloorMod, ROW, .attrs = "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64, " REALS_ "}",
    .compute = floor_modulo_compute, .gradient = floor_modulo_gradient, .node_name = "mod", .scope = TW_SCOPE_OPERATOR,
    .function =
        "math.floormod|math.mod|compat.v1.floormod|compat.v1.mod(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
    .doc = "The remainder of division rounded down: it has the sign of y.");

TW_OP(Mod, ROW, .attrs = "T: {int32, int64, half, bfloat16, float, double}", .compute = modulo_compute, .no_gradient = true,
      .doc = "The remainder of division rounded towards zero: it has the sign of x.");

TW_OP(TruncateMod, ROW, .attrs = "T: {int32, int64, " REALS_ "}", .compute = modulo_compute, .no_gradient = true,
      .function = "truncatemod(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "The remainder of division rounded towards zero: it has the sign of x.");

/* ---- the larger and the smaller ---- */

/* The gradient goes to the input that was taken; to x where both are equal. */
static tw_status choice_gradient(tw__gradient *g, const tw_op *comparison)
{
    tw_tensor *dz = g->output_grads[0];
    tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, dz);
    tw_auto tw_tensor *first = tw__call(comparison, TW_IN(g->inputs[0], g->inputs[1]), 2, NULL, 0);
    if (g->wanted[0])
        tw__grad_set(g, 0, TW_CALL(SelectV2, first, dz, zeros));
    if (g->wanted[1])
        tw__grad_set(g, 1, TW_CALL(SelectV2, first, zeros, dz));
    return tw__grad_status(g);
}

static tw_status maximum_gradient(tw__gradient *g)
{
    return choice_gradient(g, &tw__op_GreaterEqual);
}

static tw_status minimum_gradient(tw__gradient *g)
{
    return choice_gradient(g, &tw__op_LessEqual);
}

#define ORDERED "T: {" REALS_ ", int8, uint8, int16, uint16, int32, uint32, int64, uint64}"
static int64_t maximum_sizes(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool maximum_partial(const tw__partial_call *call, tw_shape *elements)
{
    return tw__partial_pairs(call, elements, maximum_sizes);
}

TW_OP(Maximum, ROW, .attrs = ORDERED, .compute = tw__binary_compute, .binary = &tw__binary_maximum, .gradient = maximum_gradient,
      .partial = maximum_partial,
      .function = "maximum|math.maximum(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "The larger of x and y, element by element.");

static int64_t minimum_sizes(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool minimum_partial(const tw__partial_call *call, tw_shape *elements)
{
    return tw__partial_pairs(call, elements, minimum_sizes);
}

TW_OP(Minimum, ROW, .attrs = ORDERED, .compute = tw__binary_compute, .binary = &tw__binary_minimum, .gradient = minimum_gradient,
      .partial = minimum_partial,
      .function = "minimum|math.minimum(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "The smaller of x and y, element by element.");

static tw_status squared_difference_gradient(tw__gradient *g)
{
    tw_tensor *dz = g->output_grads[0];
    tw_auto tw_tensor *twice = TW_CALL(Mul, 2.0, dz);
    tw_auto tw_tensor *difference = TW_CALL(Sub, g->inputs[0], g->inputs[1]);
    tw_auto tw_tensor *dx = TW_CALL(Mul, twice, difference);
    tw__grad_set(g, 0, tw_retain(dx));
    if (g->wanted[1])
        tw__grad_set(g, 1, TW_CALL(Neg, dx));
    return tw__grad_status(g);
}

TW_OP(
    SquaredDifference, ROW, .attrs = "T: {" REALS_ ", int32, int64, " COMPLEXES_ "}", .compute = tw__binary_compute,
    .binary = &tw__binary_squared_difference, .gradient = squared_difference_gradient,
    .function =
        "math.squared_difference|compat.v1.squared_difference(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
    .doc = "(x - y) * (x - y), element by element.");

/* ---- powers, logarithms, angles ---- */

static tw_status power_gradient(tw__gradient *g)
{
    tw_tensor *dz = g->output_grads[0];
    tw_auto tw_tensor *x = tw__grad_conj(g->inputs[0]);
    tw_auto tw_tensor *y = tw__grad_conj(g->inputs[1]);
    if (g->wanted[0]) { /* dz * y * x^(y-1) */
        tw_auto tw_tensor *one = y ? tw__grad_constant(1, y) : NULL;
        tw_auto tw_tensor *less = TW_CALL(Sub, y, one);
        tw_auto tw_tensor *power = TW_CALL(Pow, x, less);
        tw_auto tw_tensor *factor = TW_CALL(Mul, dz, y);
        tw__grad_set(g, 0, TW_CALL(Mul, factor, power));
    }
    if (g->wanted[1]) { /* dz * z * log(x), and zero where x has no logarithm */
        tw_auto tw_tensor *z = tw__grad_conj(g->outputs[0]);
        tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, x);
        bool complex = x && tw__dtype_is_complex(x->dtype);
        tw_auto tw_tensor *mask = complex ? TW_CALL(NotEqual, x, zeros) : TW_CALL(Greater, x, zeros);
        tw_auto tw_tensor *ones = TW_CALL(OnesLike, x);
        tw_auto tw_tensor *safe = TW_CALL(SelectV2, mask, x, ones);
        tw_auto tw_tensor *logarithm = TW_CALL(Log, safe);
        tw_auto tw_tensor *masked = TW_CALL(SelectV2, mask, logarithm, zeros);
        tw_auto tw_tensor *factor = TW_CALL(Mul, dz, z);
        tw__grad_set(g, 1, TW_CALL(Mul, factor, masked));
    }
    return tw__grad_status(g);
}

TW_OP(Pow, ROW, .attrs = "T: {" REALS_ ", int8, int16, int32, int64, " COMPLEXES_ "}", .compute = power_compute,
      .gradient = power_gradient, .node_name = "pow", .scope = TW_SCOPE_ALWAYS,
      .function = "pow|math.pow(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "x to the power of y, element by element.");

static tw_status xdivy_gradient(tw__gradient *g)
{
    tw_tensor *dz = g->output_grads[0], *x = g->inputs[0], *y = g->inputs[1];
    if (g->wanted[0]) { /* 1/y where x is not zero */
        tw_auto tw_tensor *mask = tw__grad_not_zero(x);
        tw_auto tw_tensor *part = TW_CALL(Xdivy, mask, y);
        tw__grad_set(g, 0, TW_CALL(Mul, part, dz));
    }
    if (g->wanted[1]) { /* -x / y^2 */
        tw_auto tw_tensor *negative = TW_CALL(Neg, x);
        tw_auto tw_tensor *square = TW_CALL(Square, y);
        tw_auto tw_tensor *part = TW_CALL(Xdivy, negative, square);
        tw__grad_set(g, 1, TW_CALL(Mul, part, dz));
    }
    return tw__grad_status(g);
}

TW_OP(Xdivy, ROW, .attrs = REALS_AND_COMPLEXES, .compute = tw__binary_compute, .binary = &tw__binary_xdivy,
      .gradient = xdivy_gradient, .function = "math.xdivy(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "x / y, and zero where x is zero.");

static tw_status xlog_gradient(tw__gradient *g, const tw_op *same, bool plus_one)
{
    tw_tensor *dz = g->output_grads[0], *x = g->inputs[0], *y = g->inputs[1];
    if (g->wanted[0]) { /* log(y) where x is not zero */
        tw_auto tw_tensor *mask = tw__grad_not_zero(x);
        tw_auto tw_tensor *part = tw__call(same, TW_IN(mask, y), 2, NULL, 0);
        tw__grad_set(g, 0, TW_CALL(Mul, part, dz));
    }
    if (g->wanted[1]) { /* x / y */
        tw_auto tw_tensor *one = plus_one ? tw__grad_constant(1, y) : NULL;
        tw_auto tw_tensor *divisor = plus_one ? TW_CALL(AddV2, y, one) : tw_retain(y);
        tw_auto tw_tensor *part = TW_CALL(Xdivy, x, divisor);
        tw__grad_set(g, 1, TW_CALL(Mul, part, dz));
    }
    return tw__grad_status(g);
}

static tw_status xlogy_gradient(tw__gradient *g)
{
    return xlog_gradient(g, &tw__op_Xlogy, false);
}

static tw_status xlog1py_gradient(tw__gradient *g)
{
    return xlog_gradient(g, &tw__op_Xlog1py, true);
}

TW_OP(Xlogy, ROW, .attrs = REALS_AND_COMPLEXES, .compute = tw__binary_compute, .binary = &tw__binary_xlogy,
      .gradient = xlogy_gradient, .function = "math.xlogy(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "x * log(y), and zero where x is zero.");

TW_OP(Xlog1py, ROW, .attrs = REALS_AND_COMPLEXES, .compute = tw__binary_compute, .binary = &tw__binary_xlog1py,
      .gradient = xlog1py_gradient,
      .function = "math.xlog1py(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "x * log(1 + y), and zero where x is zero.");

static tw_status atan2_gradient(tw__gradient *g)
{
    tw_tensor *dz = g->output_grads[0], *y = g->inputs[0], *x = g->inputs[1];
    tw_auto tw_tensor *xx = TW_CALL(Square, x);
    tw_auto tw_tensor *yy = TW_CALL(Square, y);
    tw_auto tw_tensor *sum = TW_CALL(AddV2, xx, yy);
    tw_auto tw_tensor *inverse = TW_CALL(RealDiv, dz, sum);
    if (g->wanted[0])
        tw__grad_set(g, 0, TW_CALL(Mul, x, inverse));
    if (g->wanted[1]) {
        tw_auto tw_tensor *negative = TW_CALL(Neg, y);
        tw__grad_set(g, 1, TW_CALL(Mul, negative, inverse));
    }
    return tw__grad_status(g);
}

TW_OP(Atan2, .inputs = "y: T, x: T", .outputs = "z: T", .attrs = "T: {" REALS_ "}", .shape = tw_shape_broadcast,
      .compute = tw__binary_compute, .binary = &tw__binary_atan2, .gradient = atan2_gradient,
      .function = "atan2|math.atan2(y: tensor<T>|ragged, x: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "The angle of the point (x, y), from -pi to pi.");

/* It goes with x1. */
static tw_status next_after_gradient(tw__gradient *g)
{
    if (g->wanted[0])
        tw__grad_set(g, 0, tw_retain(g->output_grads[0]));
    if (g->wanted[1])
        tw__grad_set(g, 1, TW_CALL(ZerosLike, g->inputs[1]));
    return tw__grad_status(g);
}

TW_OP(NextAfter, .inputs = "x1: T, x2: T", .outputs = "output: T", .attrs = "T: {double, float} = float",
      .shape = tw_shape_broadcast, .compute = tw__binary_compute, .binary = &tw__binary_next_after,
      .gradient = next_after_gradient, .function = "math.nextafter(x1: tensor<T>, x2: tensor<T>, name: str = None) -> tensor",
      .doc = "The number next to x1 in the direction of x2.\n"
             "x1: floats\n"
             "x2: floats whose shape can be broadcast with that of `x1`");
