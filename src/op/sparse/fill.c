/* SparseFillEmptyRows: every row of a matrix gets a value, and its gradient. */
#include "op/gradient.h"
#include "op/sparse/sparse.h"
#include "rows.h"

static tw_status fill_shape(tw__inference *inference)
{
    TW_TRY(tw__sparse_infer(inference, 0, 1, 2));
    TW_TRY(tw__need_rank(inference, 3, 0));
    const tw_tensor *sizes = inference->values[2];
    int64_t rank = inference->shapes[0]->rank == 2 ? inference->shapes[0]->dims[1] : -1;
    inference->out_shapes[0] = TW_SHAPE(-1, rank);
    inference->out_shapes[1] = TW_SHAPE(-1);
    inference->out_shapes[2] = TW_SHAPE(sizes && sizes->count ? tw_tensor_int_at(sizes, 0) : -1);
    inference->out_shapes[3] = TW_SHAPE(inference->shapes[0]->rank == 2 ? inference->shapes[0]->dims[0] : -1);
    return TW_OK;
}

static tw_status fill_compute(tw__kernel *kernel)
{
    const tw_tensor *other = kernel->inputs[3];
    tw__sparse s;
    TW_TRY(tw__sparse_read(kernel, 0, 1, 2, &s));
    if (s.rank < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Dense shape cannot be empty.");
    int64_t rows = s.shape[0], total = s.count;
    tw_tensor *empty = tw__output(kernel, 2, &TW_SHAPE(rows)), *map = tw__output(kernel, 3, &TW_SHAPE(s.count));
    tw__owned int64_t *next = empty && map ? tw__alloc_array((size_t)rows + 1, sizeof *next) : NULL;
    if (!next)
        return tw__error_status();
    for (int64_t i = 0; i < s.count; i++)
        next[s.indices[i * s.rank] + 1]++;
    for (int64_t r = 0; r < rows; r++) { /* where the row begins in the result */
        bool none = next[r + 1] == 0;
        ((bool *)empty->data)[r] = none;
        total += none;
        next[r + 1] += next[r] + none;
    }
    tw_tensor *indices = tw__output(kernel, 0, &TW_SHAPE(total, s.rank)), *values = tw__output(kernel, 1, &TW_SHAPE(total));
    TW_NEED(indices && values);
    for (int64_t r = 0; r < rows; r++) {
        if (!((bool *)empty->data)[r])
            continue;
        int64_t *row = (int64_t *)indices->data + next[r] * s.rank;
        memset(row, 0, (size_t)s.rank * sizeof *row);
        row[0] = r;
        TW_TRY(tw__copy_elements(values->dtype, tw__element_at(values, next[r]), other->data, 1));
    }
    for (int64_t i = 0; i < s.count; i++) {
        int64_t at = next[s.indices[i * s.rank]]++;
        ((int64_t *)map->data)[i] = at;
        memcpy((int64_t *)indices->data + at * s.rank, s.indices + i * s.rank, (size_t)s.rank * sizeof(int64_t));
        TW_TRY(tw__copy_elements(values->dtype, tw__element_at(values, at), tw__element_at(s.values, i), 1));
    }
    return TW_OK;
}

tw_status tw__fill_rows_gradient(tw__gradient *g, const tw_op *op)
{
    tw_tensor *made[2] = { NULL, NULL };
    int count = 2;
    if (!g->output_grads[1])
        return TW_OK;
    TW_TRY(tw__apply(op, TW_IN(g->outputs[3], g->output_grads[1]), 2, NULL, 0, made, &count));
    tw__grad_set(g, 1, made[0]);
    tw__grad_set(g, 3, made[1]);
    return TW_OK;
}

static tw_status fill_gradient(tw__gradient *g)
{
    return tw__fill_rows_gradient(g, &tw__op_SparseFillEmptyRowsGrad);
}

TW_OP(SparseFillEmptyRows, .inputs = "indices: int64, values: T, dense_shape: int64, default_value: T",
      .outputs = "output_indices: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
      .attrs = "T: type", .shape = fill_shape, .compute = fill_compute, .gradient = fill_gradient,
      .doc = "A sparse tensor in which every row has a value: one that is given, where there is none.");

static tw_status fill_grad_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 1));
    TW_TRY(tw__need_rank(inference, 1, 1));
    inference->out_shapes[0] = *inference->shapes[0];
    inference->out_shapes[1] = TW_SCALAR;
    return TW_OK;
}

static tw_status fill_grad_compute(tw__kernel *kernel)
{
    const tw_tensor *map = kernel->inputs[0], *dy = kernel->inputs[1];
    tw_tensor *values = tw__output(kernel, 0, &map->shape), *other = tw__output(kernel, 1, &TW_SCALAR);
    if (!values || !other)
        return tw__error_status();
    tw__owned bool *used = tw__alloc_zero((size_t)dy->count + 1);
    TW_NEED(used);
    for (int64_t i = 0; i < map->count; i++) {
        int64_t at = ((const int64_t *)map->data)[i];
        if (at < 0 || at >= dy->count) {
            return tw__fail(TW_INVALID_ARGUMENT, "Elements in reverse index must be in [0, %lld) but got %lld",
                            (long long)dy->count, (long long)at);
        }
        used[at] = true;
        TW_TRY(tw__copy_elements(values->dtype, tw__element_at(values, i), tw__element_at(dy, at), 1));
    }
    memset(other->data, 0, tw__element_size(other->dtype));
    for (int64_t i = 0; i < dy->count; i++) {
        if (!used[i])
            TW_TRY(tw__combine_elements(TW__COMBINE_ADD, other->dtype, other->data, tw__element_at(dy, i), 1));
    }
    return TW_OK;
}

TW_OP(SparseFillEmptyRowsGrad, .no_gradient = true, .inputs = "reverse_index_map: int64, grad_values: T",
      .outputs = "d_values: T, d_default_value: T", .attrs = "T: type", .shape = fill_grad_shape, .compute = fill_grad_compute,
      .doc = "The gradient of SparseFillEmptyRows.");
