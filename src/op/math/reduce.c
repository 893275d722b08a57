/* Reductions over axes: Sum, Mean, Prod, Max, Min, Any, All, EuclideanNorm. The loops are in kernel/reduce/reduce.c; gradients in
 * reduce_gradient.c. Axes may be negative, a scalar or a list, and each may be named only once. */
#include "op/math/reduce.h"

#include "kernel/reduce/reduce.h"
#include "op/partial.h"
#include "op/wording.h"
#include "rows.h"

tw_status tw__reduced_axes(const tw_tensor *indices, int rank, unsigned *axes)
{
    *axes = 0;
    for (int64_t i = 0; i < indices->count; i++) {
        int64_t given = tw_tensor_int_at(indices, i);
        int axis;
        if (!tw__axis_normal(given, rank, &axis))
            return tw__fail(TW_INVALID_ARGUMENT, "Invalid reduction dimension (%lld for input with %d dimension(s)",
                            (long long)given, rank);
        if (*axes >> axis & 1)
            return tw__fail(TW_INVALID_ARGUMENT, "Invalid reduction arguments: Axes contains duplicate dimension: %d", axis);
        *axes |= 1u << axis;
    }
    return TW_OK;
}

void tw__reduced_shape(const tw_shape *shape, unsigned axes, bool keep_dims, tw_shape *out)
{
    tw_shape result = { .rank = 0 };
    for (int i = 0; i < shape->rank; i++) {
        if (!(axes >> i & 1))
            result.dims[result.rank++] = shape->dims[i];
        else if (keep_dims)
            result.dims[result.rank++] = 1;
    }
    *out = result;
}

static tw_status reduce_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    bool keep = TW_ATTR(inference, "keep_dims")->b;
    unsigned axes;
    if (in->rank < 0)
        return TW_OK;
    if (inference->values[1]) {
        TW_TRY(tw__reduced_axes(inference->values[1], in->rank, &axes));
        tw__reduced_shape(in, axes, keep, &inference->out_shapes[0]);
    } else if (keep) {
        inference->out_shapes[0].rank = in->rank;
        for (int i = 0; i < in->rank; i++)
            inference->out_shapes[0].dims[i] = -1;
    }
    return TW_OK;
}

static tw_status reduce(tw__kernel *kernel, tw__reduction kind)
{
    const tw_tensor *in = kernel->inputs[0];
    unsigned axes;
    TW_TRY(tw__reduced_axes(kernel->inputs[1], in->shape.rank, &axes));
    return tw__reduce(kind, in->dtype, in->data, &in->shape, axes, kernel->outputs[0]->data);
}

static tw_status sum_compute(tw__kernel *kernel)
{
    return reduce(kernel, TW__REDUCE_SUM);
}

static tw_status mean_compute(tw__kernel *kernel)
{
    if (kernel->inputs[0]->count || !tw__dtype_is_complex(kernel->inputs[0]->dtype))
        return reduce(kernel, TW__REDUCE_MEAN);
    memset(kernel->outputs[0]->data, 0,
           (size_t)kernel->outputs[0]->count *
               tw__element_size(kernel->outputs[0]->dtype)); /* as TensorFlow; the mean of no real numbers is NaN */
    return TW_OK;
}

static tw_status prod_compute(tw__kernel *kernel)
{
    return reduce(kernel, TW__REDUCE_PROD);
}

static tw_status max_compute(tw__kernel *kernel)
{
    return reduce(kernel, TW__REDUCE_MAX);
}

static tw_status min_compute(tw__kernel *kernel)
{
    return reduce(kernel, TW__REDUCE_MIN);
}

/* The least of no bytes is 255, which is no truth value. */
static tw_status all_compute(tw__kernel *kernel)
{
    if (kernel->inputs[0]->count)
        return reduce(kernel, TW__REDUCE_MIN);
    memset(kernel->outputs[0]->data, true, (size_t)kernel->outputs[0]->count);
    return TW_OK;
}

static tw_status norm_compute(tw__kernel *kernel)
{
    return reduce(kernel, TW__REDUCE_NORM);
}

#define NUMBERS "float, double, int32, uint8, int16, int8, complex64, int64, bfloat16, uint16, complex128, half, uint32, uint64"
#define ORDERED "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64"

static bool reduction_words(tw__wording *w)
{
    const tw_tensor *axes = w->in->values[1];
    int rank = w->in->shapes[0]->rank;
    w->values = 2;
    for (int64_t i = 0; axes && axes->data && rank >= 0 && i < axes->count; i++) {
        int64_t axis = axes->dtype == TW_INT32 ? ((const int32_t *)axes->data)[i] : ((const int64_t *)axes->data)[i];
        if (axis < -rank || axis >= rank) {
            tw__text_format(&w->text, "Invalid reduction dimension %lld for input with %d dimensions.", (long long)axis, rank);
            return true;
        }
    }
    return false;
}

TW_OP(Sum, .inputs = "input: T, reduction_indices: Tidx", .outputs = "output: T",
      .attrs = "keep_dims: bool = false, T: {" NUMBERS "}, Tidx: {int32, int64} = int32", .shape = reduce_shape,
      .compute = sum_compute, .gradient = tw__sum_gradient, .words = reduction_words, .doc = "The sum over axes.");

TW_OP(Mean, .inputs = "input: T, reduction_indices: Tidx", .outputs = "output: T",
      .attrs = "keep_dims: bool = false, T: {" NUMBERS "}, Tidx: {int32, int64} = int32", .shape = reduce_shape,
      .compute = mean_compute, .gradient = tw__mean_gradient, .words = reduction_words, .doc = "The mean over axes.");

static bool prod_partial(const tw__partial_call *call, tw_shape *elements)
{
    tw_shape factors;
    if (!call->scalar || !call->vector(call, 0, &factors))
        return false;
    *elements = TW_SHAPE(tw__partial_product(&factors));
    return true;
}

TW_OP(Prod, .inputs = "input: T, reduction_indices: Tidx", .outputs = "output: T",
      .attrs = "keep_dims: bool = false, T: {" NUMBERS "}, Tidx: {int32, int64} = int32", .shape = reduce_shape,
      .compute = prod_compute, .gradient = tw__prod_gradient, .words = reduction_words, .partial = prod_partial,
      .doc = "The product over axes.");

TW_OP(Max, .inputs = "input: T, reduction_indices: Tidx", .outputs = "output: T",
      .attrs = "keep_dims: bool = false, T: {" ORDERED "}, Tidx: {int32, int64} = int32", .shape = reduce_shape,
      .compute = max_compute, .gradient = tw__extremum_gradient, .words = reduction_words,
      .doc = "The greatest element over axes.");

TW_OP(Min, .inputs = "input: T, reduction_indices: Tidx", .outputs = "output: T",
      .attrs = "keep_dims: bool = false, T: {" ORDERED "}, Tidx: {int32, int64} = int32", .shape = reduce_shape,
      .compute = min_compute, .gradient = tw__extremum_gradient, .words = reduction_words, .doc = "The least element over axes.");

TW_OP(Any, .inputs = "input: bool, reduction_indices: Tidx", .outputs = "output: bool",
      .attrs = "keep_dims: bool = false, Tidx: {int32, int64} = int32", .shape = reduce_shape, .compute = max_compute,
      .words = reduction_words, .doc = "Whether one element over axes is true.");

TW_OP(All, .inputs = "input: bool, reduction_indices: Tidx", .outputs = "output: bool",
      .attrs = "keep_dims: bool = false, Tidx: {int32, int64} = int32", .shape = reduce_shape, .compute = all_compute,
      .words = reduction_words, .doc = "Whether all elements over axes are true.");

TW_OP(EuclideanNorm, .inputs = "input: T, reduction_indices: Tidx", .outputs = "output: T",
      .attrs = "keep_dims: bool = false, T: {" NUMBERS "}, Tidx: {int32, int64} = int32", .shape = reduce_shape,
      .compute = norm_compute, .gradient = tw__norm_gradient, .doc = "The square root of the sum of squares over axes.");
