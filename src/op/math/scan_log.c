/* CumulativeLogsumexp: logarithms of running sums of exponentials, along an axis. */
#include <float.h>
#include <math.h>

#include "kernel/kernel.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

static tw_status scan_shape(tw__inference *inference)
{
    int axis, rank = inference->shapes[0]->rank;
    const tw_tensor *given = inference->values[1];
    if (given && given->shape.rank != 0)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "ScanOp: axis must be a scalar, not %s", tw__shape_text(&given->shape));
    if (given && rank >= 0 && !tw__axis_normal(tw_tensor_int_at(given, 0), rank, &axis))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "ScanOp: Expected scan axis in the range [%d, %d), but got %lld", -rank,
                          rank, (long long)tw_tensor_int_at(given, 0));
    return tw_shape_same(inference);
}

/* The least number of a dtype, for the logarithm of zero. */
static double least_of(tw_dtype dtype)
{
    return dtype == TW_FLOAT64   ? -DBL_MAX
           : dtype == TW_FLOAT32 ? (double)-FLT_MAX
           : dtype == TW_FLOAT16 ? -65504
                                 : -3.3895313892515355e38;
}

static double add_exponentials(double a, double b)
{
    double greater = a > b ? a : b, less = a > b ? b : a;
    if (isnan(a) || isnan(b))
        return a + b;
    return isinf(greater) ? greater : greater + log1p(exp(less - greater));
}

static tw_status scan_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    int axis;
    if (!tw__axis_normal(tw_tensor_int_at(kernel->inputs[1], 0), in->shape.rank, &axis))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "ScanOp: Expected scan axis in the range [%d, %d), but got %lld",
                          -in->shape.rank, in->shape.rank, (long long)tw_tensor_int_at(kernel->inputs[1], 0));
    bool exclusive = TW_ATTR(kernel, "exclusive")->b, reverse = TW_ATTR(kernel, "reverse")->b;
    int64_t size = in->shape.dims[axis], inner = 1, outer = 1;
    for (int i = 0; i < in->shape.rank; i++) {
        if (i != axis)
            *(i < axis ? &outer : &inner) *= in->shape.dims[i];
    }
    size_t element = tw__element_size(out->dtype);
    for (int64_t column = 0; column < outer * inner; column++) {
        double total = -INFINITY; /* the logarithm of an empty sum */
        for (int64_t k = 0; k < size; k++) {
            int64_t at = (column / inner * size + (reverse ? size - 1 - k : k)) * inner + column % inner;
            double after = add_exponentials(total, tw_tensor_double_at(in, at));
            tw__cast_run(TW_FLOAT64, out->dtype, exclusive ? &total : &after, (char *)out->data + (size_t)at * element, 1, false);
            total = after;
        }
    }
    return TW_OK;
}

/* dy, with numbers too small to matter in place of zeros: so the logarithm has its slope there, for derivatives of the gradient.
 */
static tw_tensor *without_zeros(tw__temps *t, tw_tensor *dy)
{
    double small = dy->dtype == TW_FLOAT64 ? 1e-300 : dy->dtype == TW_FLOAT16 ? 0 : 1e-37;
    tw_tensor *zeros = TW_TEMP(Sub, TW_TEMP(OnesLike, dy), tw__temp(t, tw__grad_not_zero(dy)));
    return TW_TEMP(AddV2, dy, TW_TEMP(Mul, zeros, small));
}

/* The sum, over the results that x is part of, of dy exp(x - y): for positive and negative dy by logarithms. */
static tw_status scan_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *x = g->inputs[0], *y = g->outputs[0], *dy = g->output_grads[0], *parts[2];
    if (!dy || !g->wanted[0])
        return TW_OK;
    tw_attr exclusive = TW_A_BOOL("exclusive", TW_ATTR(g, "exclusive")->b),
            reverse = TW_A_BOOL("reverse", !TW_ATTR(g, "reverse")->b);
    tw_tensor *least = TW_TEMP(Mul, TW_TEMP(OnesLike, dy), least_of(dy->dtype));
    for (int i = 0; i < 2; i++) {
        tw_tensor *part = i ? TW_TEMP(Neg, dy) : without_zeros(t, dy), *some = TW_TEMP(Greater, part, 0.0);
        tw_tensor *safe = TW_TEMP(SelectV2, some, part, TW_TEMP(OnesLike, part));
        tw_tensor *logs = TW_TEMP(SelectV2, some, TW_TEMP(Log, safe), least);
        tw_tensor *sums = TW_TEMP(CumulativeLogsumexp, TW_TEMP(Sub, logs, y), g->inputs[1], exclusive, reverse);
        parts[i] = TW_TEMP(Exp, TW_TEMP(AddV2, sums, x));
    }
    g->input_grads[0] = TW_CALL(Sub, parts[0], parts[1]);
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(CumulativeLogsumexp, .inputs = "x: T, axis: Tidx", .outputs = "out: T",
      .attrs = "exclusive: bool = false, reverse: bool = false, T: {bfloat16, half, float, double}, Tidx: {int32, int64} = int32",
      .shape = scan_shape, .compute = scan_compute, .gradient = scan_gradient,
      .doc = "Logarithms of running sums of exponentials along an axis.");
