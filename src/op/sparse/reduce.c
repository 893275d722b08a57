/* Reductions of sparse tensors: SparseReduceSum, SparseReduceMax (their results dense or sparse), SparseSoftmax. */
#include <math.h>

#include "op/array/array.h"
#include "op/gradient.h"
#include "op/sparse/sparse.h"
#include "rows.h"

typedef struct reduction {
    tw__sparse s;
    bool reduced[TW_MAX_RANK], keep;
    tw_shape whole; /* the input's shape with ones where it is reduced */
    tw_shape out;   /* the same, without these unless they are kept */
} reduction;

static tw_status plan(tw__kernel *kernel, reduction *r)
{
    TW_TRY(tw__sparse_read(kernel, 0, 1, 2, &r->s));
    TW_TRY(tw__sparse_shape(kernel->op, &r->s, &r->whole));
    const tw_tensor *axes = kernel->inputs[3];
    r->keep = TW_ATTR(kernel, "keep_dims")->b;
    for (int64_t i = 0; i < axes->count; i++) {
        int axis;
        int64_t given = tw_tensor_int_at(axes, i);
        if (!tw__axis_normal(given, r->s.rank, &axis))
            return tw__fail(TW_INVALID_ARGUMENT, "Invalid reduction dimension %lld, for input with %d dimensions.",
                            (long long)given, r->s.rank);
        r->reduced[axis] = true;
    }
    for (int i = 0; i < r->s.rank; i++) {
        if (r->reduced[i])
            r->whole.dims[i] = 1;
        if (!r->reduced[i] || r->keep)
            r->out.dims[r->out.rank++] = r->whole.dims[i];
    }
    return TW_OK;
}

static tw_status dense_shape(tw__inference *inference)
{
    TW_TRY(tw__sparse_infer(inference, 0, 1, 2));
    const tw_tensor *sizes = inference->values[2], *axes = inference->values[3];
    if (!sizes || !axes || sizes->count > TW_MAX_RANK)
        return TW_OK;
    bool reduced[TW_MAX_RANK] = { false }, keep = TW_ATTR(inference, "keep_dims")->b;
    for (int64_t i = 0; i < axes->count; i++) {
        int axis;
        if (!tw__axis_normal(tw_tensor_int_at(axes, i), (int)sizes->count, &axis))
            return TW_OK; /* refused when it runs */
        reduced[axis] = true;
    }
    tw_shape out = { .rank = 0 };
    for (int i = 0; i < sizes->count; i++) {
        if (!reduced[i] || keep)
            out.dims[out.rank++] = reduced[i] ? 1 : tw_tensor_int_at(sizes, i);
    }
    inference->out_shapes[0] = out;
    return TW_OK;
}

static tw__combination kind_of(const tw_op *op)
{
    return op == &tw__op_SparseReduceSum || op == &tw__op_SparseReduceSumSparse ? TW__COMBINE_ADD : TW__COMBINE_MAX;
}

static tw_status dense_compute(tw__kernel *kernel)
{
    reduction r = { 0 };
    TW_TRY(plan(kernel, &r));
    tw_tensor *out = tw__output(kernel, 0, &r.out);
    tw__owned bool *seen = out ? tw__alloc_zero((size_t)out->count + 1) : NULL;
    if (!seen)
        return tw__error_status();
    memset(out->data, 0, (size_t)out->count * tw__element_size(out->dtype));
    for (int64_t i = 0; i < r.s.count; i++) {
        int64_t at = 0;
        for (int k = 0; k < r.s.rank; k++)
            at = at * r.whole.dims[k] + (r.reduced[k] ? 0 : r.s.indices[i * r.s.rank + k]);
        const void *element = tw__element_at(r.s.values, i);
        TW_TRY(seen[at] ? tw__combine_elements(kind_of(kernel->op), out->dtype, tw__element_at(out, at), element, 1)
                        : tw__copy_elements(out->dtype, tw__element_at(out, at), element, 1));
        seen[at] = true;
    }
    return TW_OK;
}

/* What the sum was divided among: the gradient at the place that each value went to. */
static tw_status sum_gradient(tw__gradient *g)
{
    if (!g->wanted[1])
        return TW_OK;
    tw_tensor *indices = g->inputs[0], *sizes = g->inputs[2];
    tw_auto tw_tensor *rank = TW_CALL(Size, sizes), *axes = TW_CALL(FloorMod, g->inputs[3], rank);
    tw_auto tw_tensor *once = TW_CALL(OnesLike, axes), *none = tw_tensor_int(0);
    tw_auto tw_tensor *hits = TW_CALL(UnsortedSegmentSum, once, axes, rank);
    tw_auto tw_tensor *mask = TW_CALL(Greater, hits, none), *ones = mask ? TW_CALL(OnesLike, sizes) : NULL;
    tw_auto tw_tensor *kept = TW_CALL(SelectV2, mask, ones, sizes);
    tw_auto tw_tensor *dy = TW_CALL(Reshape, g->output_grads[0], kept);
    tw_auto tw_tensor *zeros = dy ? TW_CALL(ZerosLike, indices) : NULL;
    tw_auto tw_tensor *places = TW_CALL(SelectV2, mask, zeros, indices);
    tw__grad_set(g, 1, TW_CALL(GatherNd, dy, places));
    return g->input_grads[1] ? TW_OK : tw__error_status();
}

#define NUMBERS                                                                                                              \
    "float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, " \
    "complex128, half, "                                                                                                     \
    "uint32, uint64"
#define REALS "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64"
#define INPUTS .inputs = "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32"

TW_OP(SparseReduceSum, INPUTS, .outputs = "output: T", .attrs = "keep_dims: bool = false, T: {" NUMBERS "}", .shape = dense_shape,
      .compute = dense_compute, .gradient = sum_gradient, .doc = "The sums of a sparse tensor over dimensions.");

TW_OP(SparseReduceMax, .no_gradient = true, INPUTS, .outputs = "output: T", .attrs = "keep_dims: bool = false, T: {" REALS "}",
      .shape = dense_shape, .compute = dense_compute,
      .doc = "The greatest values of a sparse tensor over dimensions; zero where there are none.");

/* ---- sparse results ---- */

static tw_status sparse_shape(tw__inference *inference)
{
    TW_TRY(tw__sparse_infer(inference, 0, 1, 2));
    inference->out_shapes[0] = TW_SHAPE(-1, -1);
    inference->out_shapes[1] = TW_SHAPE(-1);
    inference->out_shapes[2] = TW_SHAPE(-1);
    return TW_OK;
}

static tw_status sparse_compute(tw__kernel *kernel)
{
    reduction r = { 0 };
    TW_TRY(plan(kernel, &r));
    int rank = r.out.rank;
    tw_auto tw_tensor *rows = tw__tensor_empty(TW_INT64, &TW_SHAPE(r.s.count, rank));
    if (!rows)
        return tw__error_status();
    int64_t *row = rows->data, groups = 0;
    for (int64_t i = 0; i < r.s.count; i++) {
        for (int k = 0; k < r.s.rank; k++) {
            if (!r.reduced[k] || r.keep)
                *row++ = r.reduced[k] ? 0 : r.s.indices[i * r.s.rank + k];
        }
    }
    row = rows->data;
    tw__owned int64_t *order = tw__sparse_order(row, r.s.count, rank);
    for (int64_t i = 0; order && i < r.s.count; i++)
        groups += i == 0 || tw__sparse_compare(row + order[i - 1] * rank, row + order[i] * rank, rank) != 0;
    tw_tensor *indices = order ? tw__output(kernel, 0, &TW_SHAPE(groups, rank)) : NULL;
    tw_tensor *values = indices ? tw__output(kernel, 1, &TW_SHAPE(groups)) : NULL,
              *shape = values ? tw__output(kernel, 2, &TW_SHAPE(rank)) : NULL;
    TW_NEED(shape);
    int64_t at = -1;
    for (int64_t i = 0; i < r.s.count; i++) {
        const void *element = tw__element_at(r.s.values, order[i]);
        bool fresh = i == 0 || tw__sparse_compare(row + order[i - 1] * rank, row + order[i] * rank, rank) != 0;
        at += fresh;
        if (fresh)
            memcpy((int64_t *)indices->data + at * rank, row + order[i] * rank, (size_t)rank * sizeof(int64_t));
        TW_TRY(fresh ? tw__copy_elements(values->dtype, tw__element_at(values, at), element, 1)
                     : tw__combine_elements(kind_of(kernel->op), values->dtype, tw__element_at(values, at), element, 1));
    }
    for (int k = 0; k < rank; k++)
        ((int64_t *)shape->data)[k] = r.out.dims[k];
    return TW_OK;
}

TW_OP(SparseReduceSumSparse, .no_gradient = true, INPUTS,
      .outputs = "output_indices: int64, output_values: T, output_shape: int64",
      .attrs = "keep_dims: bool = false, T: {" NUMBERS "}", .shape = sparse_shape, .compute = sparse_compute,
      .doc = "The sums of a sparse tensor over dimensions, as a sparse tensor.");

TW_OP(SparseReduceMaxSparse, .no_gradient = true, INPUTS,
      .outputs = "output_indices: int64, output_values: T, output_shape: int64",
      .attrs = "keep_dims: bool = false, T: {" REALS "}", .shape = sparse_shape, .compute = sparse_compute,
      .doc = "The greatest values of a sparse tensor over dimensions, as a sparse tensor.");

/* ---- SparseSoftmax: over the values of each row of the last dimension ---- */

static tw_status softmax_shape(tw__inference *inference)
{
    TW_TRY(tw__sparse_infer(inference, 0, 1, 2));
    inference->out_shapes[0] = *inference->shapes[1];
    return TW_OK;
}

static void store(tw_tensor *out, int64_t at, double value)
{
    if (out->dtype == TW_FLOAT64)
        ((double *)out->data)[at] = value;
    else if (out->dtype == TW_FLOAT32)
        ((float *)out->data)[at] = (float)value;
    else
        ((uint16_t *)out->data)[at] = tw__float_to_half((float)value);
}

static tw_status softmax_compute(tw__kernel *kernel)
{
    tw__sparse s;
    TW_TRY(tw__sparse_read(kernel, 0, 1, 2, &s));
    if (s.rank < 2)
        return tw__fail(TW_INVALID_ARGUMENT, "Input should have rank >= 2, but got: %d", s.rank);
    TW_TRY(tw__sparse_need_order(&s));
    tw_tensor *out = tw__output(kernel, 0, &TW_SHAPE(s.count));
    if (!out)
        return tw__error_status();
    for (int64_t begin = 0, end; begin < s.count; begin = end) {
        double most = tw_tensor_double_at(s.values, begin), sum = 0;
        for (end = begin;
             end < s.count && tw__sparse_compare(s.indices + begin * s.rank, s.indices + end * s.rank, s.rank - 1) == 0; end++)
            most = fmax(most, tw_tensor_double_at(s.values, end));
        for (int64_t i = begin; i < end; i++)
            sum += exp(tw_tensor_double_at(s.values, i) - most);
        for (int64_t i = begin; i < end; i++)
            store(out, i, exp(tw_tensor_double_at(s.values, i) - most) / sum);
    }
    return TW_OK;
}

static tw_status softmax_gradient(tw__gradient *g)
{
    if (!g->wanted[1])
        return TW_OK;
    tw_auto tw_tensor *shares = TW_CALL(Mul, g->outputs[0], g->output_grads[0]),
                      *last = tw__ints_tensor((const int64_t[]){ -1 }, 1, TW_INT32);
    tw_auto tw_tensor *sums = TW_CALL(SparseReduceSum, g->inputs[0], shares, g->inputs[2], last, TW_A_BOOL("keep_dims", true));
    tw_auto tw_tensor *less = TW_CALL(Neg, sums);
    tw_auto tw_tensor *rest = TW_CALL(SparseDenseCwiseAdd, g->inputs[0], g->output_grads[0], g->inputs[2], less);
    tw__grad_set(g, 1, TW_CALL(Mul, rest, g->outputs[0]));
    return g->input_grads[1] ? TW_OK : tw__error_status();
}

TW_OP(SparseSoftmax, .inputs = "sp_indices: int64, sp_values: T, sp_shape: int64", .outputs = "output: T",
      .attrs = "T: {half, float, double}", .shape = softmax_shape, .compute = softmax_compute, .gradient = softmax_gradient,
      .doc = "Softmax over the values of each row.");
