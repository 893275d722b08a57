/* Two sparse tensors, place by place: SparseAdd and its gradient, SparseSparseMaximum, SparseSparseMinimum. Both stand in order,
 * so one walk along both meets every place once. */
#include <math.h>

#include "op/gradient.h"
#include "op/sparse/sparse.h"
#include "rows.h"

#define NUMBERS                                                                                                              \
    "float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, " \
    "complex128, half, "                                                                                                     \
    "uint32, uint64"
#define REALS "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64"

/* Which of both has the next place: -1 the first alone, 1 the second alone, 0 both. */
static int next_of(const tw__sparse *a, int64_t i, const tw__sparse *b, int64_t k)
{
    if (i == a->count || k == b->count)
        return i == a->count ? 1 : -1;
    return tw__sparse_compare(a->indices + i * a->rank, b->indices + k * b->rank, a->rank);
}

static tw_status read_both(tw__kernel *kernel, tw__sparse *a, tw__sparse *b)
{
    TW_TRY(tw__sparse_read(kernel, 0, 1, 2, a));
    TW_TRY(tw__sparse_read(kernel, 3, 4, 5, b));
    if (a->rank != b->rank)
        return tw__fail(TW_INVALID_ARGUMENT, "Ranks of input tensors must match, but saw ranks: %d and %d", a->rank, b->rank);
    for (int i = 0; i < a->rank; i++) {
        if (a->shape[i] != b->shape[i])
            return tw__fail(TW_INVALID_ARGUMENT, "Operands' shapes do not match: got %lld and %lld for dimension %d",
                            (long long)a->shape[i], (long long)b->shape[i], i);
    }
    return TW_OK;
}

static double magnitude(const tw_tensor *values, int64_t at)
{
    if (values->dtype == TW_COMPLEX64)
        return hypotf(((const float *)values->data)[2 * at], ((const float *)values->data)[2 * at + 1]);
    if (values->dtype == TW_COMPLEX128)
        return hypot(((const double *)values->data)[2 * at], ((const double *)values->data)[2 * at + 1]);
    return fabs(tw_tensor_double_at(values, at));
}

/* The values at all places of both, one after the other; `indices` gets the places. Sums of both that are smaller than `least`
 * are left out. */
static tw_status merge(const tw__sparse *a, const tw__sparse *b, tw__combination kind, bool with_zero, double least,
                       tw_tensor *indices, tw_tensor *values, int64_t *count)
{
    char zero[16] = { 0 };
    int64_t i = 0, k = 0, to = 0;
    tw_dtype dtype = values->dtype;
    while (i < a->count || k < b->count) {
        int which = next_of(a, i, b, k);
        const tw__sparse *from = which <= 0 ? a : b;
        int64_t at = which <= 0 ? i : k;
        memcpy((int64_t *)indices->data + to * a->rank, from->indices + at * a->rank, (size_t)a->rank * sizeof(int64_t));
        char *place = tw__element_at(values, to++);
        TW_TRY(tw__copy_elements(dtype, place, tw__element_at(from->values, at), 1));
        if (which == 0)
            TW_TRY(tw__combine_elements(kind, dtype, place, tw__element_at(b->values, k), 1));
        else if (with_zero)
            TW_TRY(tw__combine_elements(kind, dtype, place, zero, 1));
        if (which == 0 && least > 0 && magnitude(values, to - 1) < least)
            to--;
        i += which <= 0;
        k += which >= 0;
    }
    *count = to;
    return TW_OK;
}

static tw_status add_shape(tw__inference *inference)
{
    TW_TRY(tw__sparse_infer(inference, 0, 1, 2));
    TW_TRY(tw__sparse_infer(inference, 3, 4, 5));
    int64_t rank = inference->shapes[2]->rank == 1 ? inference->shapes[2]->dims[0] : -1;
    inference->out_shapes[0] = TW_SHAPE(-1, rank);
    inference->out_shapes[1] = TW_SHAPE(-1);
    if (inference->output_count > 2)
        inference->out_shapes[2] = TW_SHAPE(rank);
    return TW_OK;
}

static tw_status give(tw__kernel *kernel, const tw_tensor *indices, const tw_tensor *values, int64_t count, int rank)
{
    tw_tensor *out_indices = tw__output(kernel, 0, &TW_SHAPE(count, rank)), *out_values = tw__output(kernel, 1, &TW_SHAPE(count));
    if (!out_indices || !out_values)
        return tw__error_status();
    memcpy(out_indices->data, indices->data, (size_t)(count * rank) * sizeof(int64_t));
    return tw__copy_elements(values->dtype, out_values->data, values->data, count);
}

static tw_status combine(tw__kernel *kernel, tw__combination kind, bool with_zero, double least)
{
    tw__sparse a, b;
    int64_t count;
    TW_TRY(read_both(kernel, &a, &b));
    tw_auto tw_tensor *indices = tw__tensor_empty(TW_INT64, &TW_SHAPE(a.count + b.count, a.rank));
    tw_auto tw_tensor *values = indices ? tw__tensor_empty(kernel->inputs[1]->dtype, &TW_SHAPE(a.count + b.count)) : NULL;
    if (!values)
        return tw__error_status();
    TW_TRY(merge(&a, &b, kind, with_zero, least, indices, values, &count));
    TW_TRY(give(kernel, indices, values, count, a.rank));
    if (kernel->output_count < 3)
        return TW_OK;
    tw_tensor *shape = tw__output(kernel, 2, &TW_SHAPE(a.rank));
    if (!shape)
        return tw__error_status();
    memcpy(shape->data, a.shape, (size_t)a.rank * sizeof(int64_t));
    return TW_OK;
}

static tw_status add_compute(tw__kernel *kernel)
{
    if (kernel->inputs[6]->count != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "The magnitude threshold must be a scalar: got shape %s",
                        tw__shape_text(&kernel->inputs[6]->shape));
    return combine(kernel, TW__COMBINE_ADD, false, tw_tensor_double_at(kernel->inputs[6], 0));
}

static tw_status add_gradient(tw__gradient *g)
{
    tw_tensor *made[2] = { NULL, NULL };
    int count = 2;
    if (!g->output_grads[1])
        return TW_OK;
    TW_TRY(tw__apply(&tw__op_SparseAddGrad, TW_IN(g->output_grads[1], g->inputs[0], g->inputs[3], g->outputs[0]), 4, NULL, 0,
                     made, &count));
    tw__grad_set(g, 1, made[0]);
    tw__grad_set(g, 4, made[1]);
    return TW_OK;
}

TW_OP(SparseAdd,
      .inputs = "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64, thresh: Treal",
      .outputs = "sum_indices: int64, sum_values: T, sum_shape: int64", .attrs = "T: {" NUMBERS "}, Treal: {" REALS "}",
      .shape = add_shape, .compute = add_compute, .gradient = add_gradient,
      .doc = "The sum of two sparse tensors, without values smaller than a limit.");

static tw_status add_grad_shape(tw__inference *inference)
{
    for (int i = 0; i < 2; i++)
        inference->out_shapes[i] = TW_SHAPE(inference->shapes[1 + i]->rank == 2 ? inference->shapes[1 + i]->dims[0] : -1);
    return TW_OK;
}

static tw_status add_grad_compute(tw__kernel *kernel)
{
    const tw_tensor *dy = kernel->inputs[0], *sum = kernel->inputs[3];
    for (int which = 0; which < 2; which++) {
        const tw_tensor *own = kernel->inputs[1 + which];
        if (own->shape.rank != 2 || sum->shape.rank != 2 || own->shape.dims[1] != sum->shape.dims[1] ||
            dy->count != sum->shape.dims[0])
            return tw__fail(TW_INVALID_ARGUMENT, "the indices %s and %s and the gradient %s do not fit together",
                            tw__shape_text(&own->shape), tw__shape_text(&sum->shape), tw__shape_text(&dy->shape));
        int64_t count = own->shape.dims[0], k = 0;
        int rank = (int)own->shape.dims[1];
        tw_tensor *out = tw__output(kernel, which, &TW_SHAPE(count));
        if (!out)
            return tw__error_status();
        memset(out->data, 0, (size_t)count * tw__element_size(out->dtype));
        for (int64_t i = 0; i < count; i++) {
            int order = 1;
            while (k < dy->count && (order = tw__sparse_compare((const int64_t *)own->data + i * rank,
                                                                (const int64_t *)sum->data + k * rank, rank)) > 0)
                k++;
            if (k < dy->count && order == 0)
                TW_TRY(tw__copy_elements(out->dtype, tw__element_at(out, i), tw__element_at(dy, k), 1));
        }
    }
    return TW_OK;
}

TW_OP(SparseAddGrad, .inputs = "backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64",
      .outputs = "a_val_grad: T, b_val_grad: T", .attrs = "T: {" NUMBERS "}", .shape = add_grad_shape,
      .compute = add_grad_compute, .doc = "The gradient of SparseAdd.");

static tw_status maximum_compute(tw__kernel *kernel)
{
    return combine(kernel, TW__COMBINE_MAX, true, 0);
}

static tw_status minimum_compute(tw__kernel *kernel)
{
    return combine(kernel, TW__COMBINE_MIN, true, 0);
}

TW_OP(SparseSparseMaximum, .no_gradient = true,
      .inputs = "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64",
      .outputs = "output_indices: int64, output_values: T", .attrs = "T: {" REALS "}", .shape = add_shape,
      .compute = maximum_compute, .doc = "The greater of two sparse tensors' elements, at the places of both.");

TW_OP(SparseSparseMinimum, .no_gradient = true,
      .inputs = "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, b_shape: int64",
      .outputs = "output_indices: int64, output_values: T", .attrs = "T: {" NUMBERS "}", .shape = add_shape,
      .compute = minimum_compute, .doc = "The smaller of two sparse tensors' elements, at the places of both.");
