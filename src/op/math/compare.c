/* Comparisons, logic and bits of two tensors. None has a gradient. */
#include "kernel/kernel.h"
#include "op/gradient.h"
#include "op/wording.h"
#include "rows.h"

/* ---- equality: of strings too; shapes that don't go together may count as "not equal" ---- */

static tw_status equality_shape(tw__inference *inference)
{
    const tw_shape *x = inference->shapes[0], *y = inference->shapes[1];
    tw_shape *out = &inference->out_shapes[0];
    bool strict = TW_ATTR(inference, "incompatible_shape_error")->b;
    if (tw__shape_broadcast(x, y, out)) {
        for (int i = 1; !strict && i <= x->rank && i <= y->rank;
             i++) { /* whether they fit is seen when it runs: if not, the result is a scalar */
            int64_t a = x->dims[x->rank - i], b = y->dims[y->rank - i];
            if ((a < 0 && b > 1) || (b < 0 && a > 1))
                *out = TW_UNKNOWN_SHAPE;
        }
        return TW_OK;
    }
    if (strict)
        return tw_shape_broadcast(inference);
    inference->out_shapes[0] = TW_SCALAR;
    return TW_OK;
}

static void compare_strings(tw__kernel *kernel, bool wanted)
{
    const tw_tensor *x = kernel->inputs[0], *y = kernel->inputs[1];
    tw_tensor *z = kernel->outputs[0];
    tw__broadcast plan;
    tw__broadcast_plan(&plan, &z->shape, (const tw_shape *const[]){ &x->shape, &y->shape }, 2);
    int last = plan.rank - 1;
    int64_t length = plan.dims[last];
    for (int64_t i = 0; i < z->count; i++) {
        int64_t row = i / length, k = i % length;
        tw_string a = tw_tensor_string_at(x, tw__broadcast_offset(&plan, 0, row) + k * plan.strides[0][last]);
        tw_string b = tw_tensor_string_at(y, tw__broadcast_offset(&plan, 1, row) + k * plan.strides[1][last]);
        bool equal = a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
        ((bool *)z->data)[i] = equal == wanted;
    }
}

static tw_status equality_compute(tw__kernel *kernel, const tw__binary *operation, bool wanted)
{
    const tw_tensor *x = kernel->inputs[0], *y = kernel->inputs[1];
    tw_shape shape;
    if (!tw__shape_broadcast(&x->shape, &y->shape, &shape))
        *(bool *)kernel->outputs[0]->data = !wanted;
    else if (x->dtype == TW_STRING)
        compare_strings(kernel, wanted);
    else
        return tw__binary_by(kernel, operation);
    return TW_OK;
}

static tw_status equal_compute(tw__kernel *kernel)
{
    return equality_compute(kernel, &tw__binary_equal, true);
}

static tw_status not_equal_compute(tw__kernel *kernel)
{
    return equality_compute(kernel, &tw__binary_not_equal, false);
}

#define EQUALITY                                                           \
    .inputs = "x: T, y: T", .outputs = "z: bool", .shape = equality_shape, \
    .attrs = "T: type, incompatible_shape_error: bool = true"
TW_OP(Equal, EQUALITY, .compute = equal_compute, .words = tw__words_binary, .static_value = true,
      .function = "equal|math.equal(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "Whether x and y are equal, element by element.");
TW_OP(NotEqual, EQUALITY, .compute = not_equal_compute, .words = tw__words_binary, .static_value = true,
      .function = "not_equal|math.not_equal(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "Whether x and y differ, element by element.");

#define ORDER                                                                  \
    .inputs = "x: T, y: T", .outputs = "z: bool", .shape = tw_shape_broadcast, \
    .attrs = "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
TW_OP(Less, ORDER, .compute = tw__binary_compute, .binary = &tw__binary_less,
      .function = "less|math.less(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "x < y, element by element.");
TW_OP(LessEqual, ORDER, .compute = tw__binary_compute, .binary = &tw__binary_less_equal,
      .function = "less_equal|math.less_equal(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "x <= y, element by element.");
TW_OP(Greater, ORDER, .compute = tw__binary_compute, .binary = &tw__binary_greater,
      .function = "greater|math.greater(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "x > y, element by element.");
TW_OP(GreaterEqual, ORDER, .compute = tw__binary_compute, .binary = &tw__binary_greater_equal,
      .function = "greater_equal|math.greater_equal(x: tensor<T>|ragged, y: tensor<T>|ragged, "
                  "name: str = None) -> tensor",
      .doc = "x >= y, element by element.");

#define LOGIC .inputs = "x: bool, y: bool", .outputs = "z: bool", .shape = tw_shape_broadcast
TW_OP(LogicalAnd, LOGIC, .compute = tw__binary_compute, .binary = &tw__binary_logical_and,
      .function = "logical_and|math.logical_and(x: tensor<bool>|ragged, y: tensor<bool>|ragged, "
                  "name: str = None) -> tensor",
      .doc = "Whether x and y are both true.");
TW_OP(LogicalOr, LOGIC, .compute = tw__binary_compute, .binary = &tw__binary_logical_or,
      .function = "logical_or|math.logical_or(x: tensor<bool>|ragged, y: tensor<bool>|ragged, "
                  "name: str = None) -> tensor",
      .doc = "Whether one of x and y is true.");

#define BITS                                                                \
    .inputs = "x: T, y: T", .outputs = "z: T", .shape = tw_shape_broadcast, \
    .attrs = "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}"
TW_OP(BitwiseAnd, BITS, .compute = tw__binary_compute, .binary = &tw__binary_bitwise_and,
      .function = "bitwise.bitwise_and(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "The bits that are set in both x and y.");
TW_OP(BitwiseOr, BITS, .compute = tw__binary_compute, .binary = &tw__binary_bitwise_or,
      .function = "bitwise.bitwise_or(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "The bits that are set in x or y.");
TW_OP(BitwiseXor, BITS, .compute = tw__binary_compute, .binary = &tw__binary_bitwise_xor,
      .function = "bitwise.bitwise_xor(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "The bits that are set in one of x and y.");
TW_OP(LeftShift, BITS, .compute = tw__binary_compute, .binary = &tw__binary_left_shift,
      .function = "bitwise.left_shift(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "The bits of x moved left by y.");
TW_OP(RightShift, BITS, .compute = tw__binary_compute, .binary = &tw__binary_right_shift,
      .function = "bitwise.right_shift(x: tensor<T>|ragged, y: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "The bits of x moved right by y.");

/* ---- nearly equal ---- */

static tw_status approximate_shape(tw__inference *inference)
{
    const tw_shape *a = inference->shapes[0], *b = inference->shapes[1];
    if (!tw__shape_compatible(a, b))
        return tw__fail(TW_INVALID_ARGUMENT, "x and y must be of the same shape. x shape: %s. y shape: %s", tw__shape_text(a),
                        tw__shape_text(b));
    inference->out_shapes[0] = tw__shape_known(a) ? *a : *b;
    return TW_OK;
}

static double distance(const tw_tensor *x, const tw_tensor *y, int64_t i)
{
    switch (x->dtype) {
    case TW_COMPLEX64: {
        const float *a = (const float *)x->data + 2 * i, *b = (const float *)y->data + 2 * i;
        return __builtin_hypotf(a[0] - b[0], a[1] - b[1]);
    }
    case TW_COMPLEX128: {
        const double *a = (const double *)x->data + 2 * i, *b = (const double *)y->data + 2 * i;
        return __builtin_hypot(a[0] - b[0], a[1] - b[1]);
    }
    case TW_FLOAT32:
        return __builtin_fabsf(((const float *)x->data)[i] - ((const float *)y->data)[i]);
    default:
        return __builtin_fabs(tw_tensor_double_at(x, i) - tw_tensor_double_at(y, i));
    }
}

static tw_status approximate_compute(tw__kernel *kernel)
{
    const tw_tensor *x = kernel->inputs[0], *y = kernel->inputs[1];
    float tolerance = (float)TW_ATTR(kernel, "tolerance")->f;
    tw_dtype d = x->dtype;
    if (!tw__dtype_is_float(d) && !tw__dtype_is_integer(d) && !tw__dtype_is_complex(d))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(d));
    /* Integers are compared with the tolerance as an integer of theirs. */
    double limit = tw__dtype_is_integer(d) ? (double)(int64_t)tolerance : (double)tolerance;
    for (int64_t i = 0; i < x->count; i++)
        ((bool *)kernel->outputs[0]->data)[i] = distance(x, y, i) < limit;
    return TW_OK;
}

TW_OP(
    ApproximateEqual, .inputs = "x: T, y: T", .outputs = "z: bool",
    .attrs =
        "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, "
        "complex128, half, uint32, uint64}, tolerance: float = 0.00001",
    .shape = approximate_shape, .compute = approximate_compute, .doc = "Whether abs(x - y) < tolerance, element by element.");
