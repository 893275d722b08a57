/* Comparisons, logic and bits of two tensors. None has a gradient. */
#include "kernel/kernel.h"
#include "op/gradient.h"
#include "op/wording.h"
#include "rows.h"

#define COMPUTE(name)                                          \
    static tw_status name##_compute(tw__kernel *kernel)        \
    {                                                          \
        return tw__binary_compute(kernel, &tw__binary_##name); \
    }
COMPUTE(less)
COMPUTE(less_equal)
COMPUTE(greater)
COMPUTE(greater_equal)
COMPUTE(logical_and)
COMPUTE(logical_or)
COMPUTE(bitwise_and)
COMPUTE(bitwise_or)
COMPUTE(bitwise_xor)
COMPUTE(left_shift)
COMPUTE(right_shift)

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
        return tw__binary_compute(kernel, operation);
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
      .doc = "Whether x and y are equal, element by element.");
TW_OP(NotEqual, EQUALITY, .compute = not_equal_compute, .words = tw__words_binary, .static_value = true,
      .doc = "Whether x and y differ, element by element.");

#define ORDER                                                                  \
    .inputs = "x: T, y: T", .outputs = "z: bool", .shape = tw_shape_broadcast, \
    .attrs = "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
TW_OP(Less, ORDER, .compute = less_compute, .doc = "x < y, element by element.");
TW_OP(LessEqual, ORDER, .compute = less_equal_compute, .doc = "x <= y, element by element.");
TW_OP(Greater, ORDER, .compute = greater_compute, .doc = "x > y, element by element.");
TW_OP(GreaterEqual, ORDER, .compute = greater_equal_compute, .doc = "x >= y, element by element.");

#define LOGIC .inputs = "x: bool, y: bool", .outputs = "z: bool", .shape = tw_shape_broadcast
TW_OP(LogicalAnd, LOGIC, .compute = logical_and_compute, .doc = "Whether x and y are both true.");
TW_OP(LogicalOr, LOGIC, .compute = logical_or_compute, .doc = "Whether one of x and y is true.");

#define BITS                                                                \
    .inputs = "x: T, y: T", .outputs = "z: T", .shape = tw_shape_broadcast, \
    .attrs = "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}"
TW_OP(BitwiseAnd, BITS, .compute = bitwise_and_compute, .doc = "The bits that are set in both x and y.");
TW_OP(BitwiseOr, BITS, .compute = bitwise_or_compute, .doc = "The bits that are set in x or y.");
TW_OP(BitwiseXor, BITS, .compute = bitwise_xor_compute, .doc = "The bits that are set in one of x and y.");
TW_OP(LeftShift, BITS, .compute = left_shift_compute, .doc = "The bits of x moved left by y.");
TW_OP(RightShift, BITS, .compute = right_shift_compute,
      .doc = "The bits of x moved right by y; of signed numbers the sign stays.");

/* ---- nearly equal ---- */

static tw_status approximate_shape(tw__inference *inference)
{
    const tw_shape *a = inference->shapes[0], *b = inference->shapes[1];
    if (!tw__shape_compatible(a, b))
        return tw__fail(TW_INVALID_ARGUMENT, "x and y must be of the same shape. x shape: %s. y shape: %s [Op:%s]",
                        tw__shape_text(a), tw__shape_text(b), inference->op->name);
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
