/* Running sums and products along an axis: Cumsum, Cumprod. */
#include <complex.h>

#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "rows.h"

static tw_status scan_axis(const tw_tensor *axis, int rank, int *normal)
{
    if (axis->shape.rank != 0)
        return tw__fail(TW_INVALID_ARGUMENT, "ScanOp: axis must be a scalar, not %s", tw__shape_text(&axis->shape));
    int64_t given = tw_tensor_int_at(axis, 0);
    if (!tw__axis_normal(given, rank, normal))
        return tw__fail(TW_INVALID_ARGUMENT, "ScanOp: Expected scan axis in the range [%d, %d), but got %lld", -rank, rank,
                        (long long)given);
    return TW_OK;
}

static tw_status scan_shape(tw__inference *inference)
{
    int axis;
    if (inference->values[1] && inference->shapes[0]->rank >= 0)
        TW_TRY(scan_axis(inference->values[1], inference->shapes[0]->rank, &axis));
    return tw_shape_same(inference);
}

typedef struct scan {
    int64_t outer, size, inner;
    bool exclusive, reverse, product;
    tw_dtype dtype;
    const void *in;
    void *out;
} scan;

enum { COLUMNS = 64, TASK_ELEMENTS = 1 << 15 }; /* neighbours that go along together */

#define PLUS(a, b) ((a) + (b))
#define TIMES(a, b) ((a) * (b))

/* The columns [first, first + count) of one block of [size, inner]. */
#define SCAN(element, work, load, store, start, combine)                  \
    if (count == 1) {                                                     \
        const element *x = (const element *)s->in + at;                   \
        element *y = (element *)s->out + at;                              \
        work total = start;                                               \
        for (int64_t k = 0; k < s->size; k++, x += step, y += step) {     \
            work value = (work)load(*x);                                  \
            if (s->exclusive)                                             \
                *y = (element)store(total);                               \
            total = combine(total, value);                                \
            if (!s->exclusive)                                            \
                *y = (element)store(total);                               \
        }                                                                 \
    } else {                                                              \
        const element *x = (const element *)s->in + at;                   \
        element *y = (element *)s->out + at;                              \
        work totals[COLUMNS];                                             \
        for (int64_t j = 0; j < count; j++)                               \
            totals[j] = start;                                            \
        for (int64_t k = 0; k < s->size; k++, x += step, y += step) {     \
            for (int64_t j = 0; j < count; j++) {                         \
                work before = totals[j];                                  \
                totals[j] = combine(before, (work)load(x[j]));            \
                y[j] = (element)store(s->exclusive ? before : totals[j]); \
            }                                                             \
        }                                                                 \
    }

/* Item i of all: block i / pieces, and COLUMNS columns of it. */
static void run_scan(void *context, int64_t begin, int64_t end)
{
    const scan *s = context;
    int64_t pieces = (s->inner + COLUMNS - 1) / COLUMNS, step = s->reverse ? -s->inner : s->inner;
    for (int64_t item = begin; item < end; item++) {
        int64_t first = item % pieces * COLUMNS, count = s->inner - first < COLUMNS ? s->inner - first : COLUMNS;
        int64_t at = item / pieces * s->size * s->inner + (s->reverse ? (s->size - 1) * s->inner : 0) + first;
        switch (s->dtype) {
#define CASE(name, element, work, load, store)         \
    case name:                                         \
        if (s->product) {                              \
            SCAN(element, work, load, store, 1, TIMES) \
        } else {                                       \
            SCAN(element, work, load, store, 0, PLUS)  \
        }                                              \
        break;
            TW_CASES_OF_REALS(CASE)
            CASE(TW_COMPLEX64, float complex, float complex, TW_SAME, TW_SAME)
            CASE(TW_COMPLEX128, double complex, double complex, TW_SAME, TW_SAME)
#undef CASE
        default:
            break;
        }
    }
}

static tw_status scan_compute(tw__kernel *kernel, bool product)
{
    const tw_tensor *in = kernel->inputs[0];
    scan s = { 1,       1,         1,        TW_ATTR(kernel, "exclusive")->b, TW_ATTR(kernel, "reverse")->b,
               product, in->dtype, in->data, kernel->outputs[0]->data };
    int axis;
    TW_TRY(scan_axis(kernel->inputs[1], in->shape.rank, &axis));
    if (!tw__dtype_is_integer(in->dtype) && !tw__dtype_is_float(in->dtype) && !tw__dtype_is_complex(in->dtype))
        return tw__fail(TW_UNIMPLEMENTED, "a running sum or product of dtype %s", tw_dtype_name(in->dtype));
    for (int i = 0; i < in->shape.rank; i++)
        *(i < axis ? &s.outer : i == axis ? &s.size : &s.inner) *= in->shape.dims[i];
    if (in->count) {
        int64_t items = s.outer * ((s.inner + COLUMNS - 1) / COLUMNS);
        tw__parallel(items, TASK_ELEMENTS / (in->count / items) + 1, run_scan, &s);
    }
    return TW_OK;
}

static tw_status sum_compute(tw__kernel *kernel)
{
    return scan_compute(kernel, false);
}

static tw_status product_compute(tw__kernel *kernel)
{
    return scan_compute(kernel, true);
}

static tw_tensor *running(const tw_op *op, const tw__gradient *gradient, tw_tensor *x, bool reverse)
{
    return tw__call(op, TW_IN(x, gradient->inputs[1]), 2,
                    TW_WITH(TW_A_BOOL("exclusive", TW_ATTR(gradient, "exclusive")->b), TW_A_BOOL("reverse", reverse)), 2);
}

static tw_status sum_gradient(tw__gradient *gradient)
{
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    gradient->input_grads[0] = running(&tw__op_Cumsum, gradient, gradient->output_grads[0], !TW_ATTR(gradient, "reverse")->b);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

static tw_status product_gradient(tw__gradient *gradient)
{
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *weighted = TW_CALL(Mul, gradient->outputs[0], gradient->output_grads[0]);
    tw_auto tw_tensor *sum = weighted ? running(&tw__op_Cumsum, gradient, weighted, !TW_ATTR(gradient, "reverse")->b) : NULL;
    gradient->input_grads[0] = TW_CALL(DivNoNan, sum, gradient->inputs[0]);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

#define NUMBERS "float, double, int32, uint8, int16, int8, complex64, int64, bfloat16, uint16, complex128, half, uint32, uint64"

TW_OP(Cumsum, .inputs = "x: T, axis: Tidx", .outputs = "out: T",
      .attrs = "exclusive: bool = false, reverse: bool = false, T: {" NUMBERS "}, Tidx: {int32, int64} = int32",
      .shape = scan_shape, .compute = sum_compute, .gradient = sum_gradient, .scope = TW_SCOPE_ALWAYS,
      .doc = "Running sums along an axis.");

TW_OP(Cumprod, .inputs = "x: T, axis: Tidx", .outputs = "out: T",
      .attrs = "exclusive: bool = false, reverse: bool = false, T: {" NUMBERS "}, Tidx: {int32, int64} = int32",
      .shape = scan_shape, .compute = product_compute, .gradient = product_gradient, .scope = TW_SCOPE_ALWAYS,
      .doc = "Running products along an axis.");
