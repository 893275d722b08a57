/* Sparse tensors arranged anew: SparseReorder, SparseReshape, SparseSlice, SparseConcat, SparseSplit. */
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/sparse/sparse.h"
#include "rows.h"

/* ---- SparseReorder ---- */

static tw_status reorder_shape(tw__inference *inference)
{
    TW_TRY(tw__sparse_infer(inference, 0, 1, 2));
    inference->out_shapes[0] = *inference->shapes[0];
    inference->out_shapes[1] = *inference->shapes[1];
    return TW_OK;
}

static tw_status reorder_compute(tw__kernel *kernel)
{
    tw__sparse s;
    TW_TRY(tw__sparse_read(kernel, 0, 1, 2, &s));
    tw_tensor *indices = tw__output(kernel, 0, &kernel->inputs[0]->shape),
              *values = tw__output(kernel, 1, &kernel->inputs[1]->shape);
    tw__owned int64_t *order = indices && values ? tw__sparse_order(s.indices, s.count, s.rank) : NULL;
    if (!order)
        return tw__error_status();
    for (int64_t i = 0; i < s.count; i++) {
        memcpy((int64_t *)indices->data + i * s.rank, s.indices + order[i] * s.rank, (size_t)s.rank * sizeof(int64_t));
        TW_TRY(tw__copy_elements(values->dtype, tw__element_at(values, i), tw__element_at(s.values, order[i]), 1));
    }
    return TW_OK;
}

/* Numbers 0, 1 … beside the rows, brought into order with them, say where each gradient comes from. */
static tw_status reorder_gradient(tw__gradient *g)
{
    if (!g->wanted[1] || !g->output_grads[1])
        return TW_OK;
    tw_auto tw_tensor *count = TW_CALL(Size, g->inputs[1]), *zero = tw_tensor_int(0), *one = tw_tensor_int(1);
    tw_auto tw_tensor *numbers = TW_CALL(Range, zero, count, one);
    tw_tensor *made[2] = { NULL, NULL };
    int outputs = 2;
    if (!numbers ||
        tw__apply(&tw__op_SparseReorder, TW_IN(g->inputs[0], numbers, g->inputs[2]), 3, NULL, 0, made, &outputs) != TW_OK)
        return tw__error_status();
    tw_auto tw_tensor *places = TW_CALL(InvertPermutation, made[1]);
    tw_release(made[0]);
    tw_release(made[1]);
    tw__grad_set(g, 1, TW_CALL(GatherV2, g->output_grads[1], places, zero));
    return g->input_grads[1] ? TW_OK : tw__error_status();
}

TW_OP(SparseReorder, .inputs = "input_indices: int64, input_values: T, input_shape: int64",
      .outputs = "output_indices: int64, output_values: T", .attrs = "T: type", .shape = reorder_shape,
      .compute = reorder_compute, .gradient = reorder_gradient, .doc = "The values in the order of their places.");

/* ---- SparseReshape ---- */

static tw_status reshape_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 2));
    TW_TRY(tw__need_rank(inference, 1, 1));
    TW_TRY(tw__need_rank(inference, 2, 1));
    int64_t rank = inference->shapes[2]->rank == 1 ? inference->shapes[2]->dims[0] : -1;
    inference->out_shapes[0] = TW_SHAPE(inference->shapes[0]->rank == 2 ? inference->shapes[0]->dims[0] : -1, rank);
    inference->out_shapes[1] = TW_SHAPE(rank);
    return TW_OK;
}

static tw_status reshape_compute(tw__kernel *kernel)
{
    tw__sparse s;
    TW_TRY(tw__sparse_read(kernel, 0, -1, 1, &s));
    const tw_tensor *wanted = kernel->inputs[2];
    int64_t count = wanted->count, whole = 1, known = 1, open = -1;
    for (int i = 0; i < s.rank; i++) {
        if (__builtin_mul_overflow(whole, s.shape[i], &whole))
            return tw__fail(TW_INVALID_ARGUMENT, "%s: the input has too many elements", kernel->op->name);
    }
    tw_tensor *indices = tw__output(kernel, 0, &TW_SHAPE(s.count, count)), *shape = tw__output(kernel, 1, &TW_SHAPE(count));
    if (!indices || !shape)
        return tw__error_status();
    int64_t *sizes = shape->data;
    for (int64_t i = 0; i < count; i++) {
        sizes[i] = ((const int64_t *)wanted->data)[i];
        if (sizes[i] == -1 && open >= 0)
            return tw__fail(TW_INVALID_ARGUMENT, "only one output dimension may be -1, not both %lld and %lld", (long long)open,
                            (long long)i);
        if (sizes[i] == -1)
            open = i;
        else if (sizes[i] < 0 || __builtin_mul_overflow(known, sizes[i], &known))
            return tw__fail(TW_INVALID_ARGUMENT, "size %lld must be non-negative, not %lld", (long long)i, (long long)sizes[i]);
    }
    if (open >= 0) {
        if (known == 0)
            return tw__fail(
                TW_INVALID_ARGUMENT,
                "reshape cannot infer the missing input size for an empty tensor unless all specified input sizes are "
                "non-zero");
        sizes[open] = whole / known;
        if (sizes[open] * known != whole)
            return tw__fail(
                TW_INVALID_ARGUMENT,
                "Input to reshape is a SparseTensor with %lld dense values, but the requested shape requires a multiple of "
                "%lld.",
                (long long)whole, (long long)known);
        known = whole;
    }
    if (known != whole)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "Input to reshape is a tensor with %lld dense values, but the requested shape has %lld.",
                        (long long)whole, (long long)known);
    for (int64_t i = 0; i < s.count; i++) {
        int64_t at = 0;
        for (int k = 0; k < s.rank; k++)
            at = at * s.shape[k] + s.indices[i * s.rank + k];
        for (int64_t k = count - 1; k >= 0; k--) {
            ((int64_t *)indices->data)[i * count + k] = at % sizes[k];
            at /= sizes[k];
        }
    }
    return TW_OK;
}

TW_OP(SparseReshape, .inputs = "input_indices: int64, input_shape: int64, new_shape: int64",
      .outputs = "output_indices: int64, output_shape: int64", .attrs = "", .shape = reshape_shape, .compute = reshape_compute,
      .doc = "The places of values under another shape.");

/* ---- SparseSlice ---- */

static tw_status slice_shape(tw__inference *inference)
{
    TW_TRY(tw__sparse_infer(inference, 0, 1, 2));
    int64_t rank = inference->shapes[0]->rank == 2 ? inference->shapes[0]->dims[1] : -1;
    inference->out_shapes[0] = TW_SHAPE(-1, rank);
    inference->out_shapes[1] = TW_SHAPE(-1);
    inference->out_shapes[2] = TW_SHAPE(rank);
    return TW_OK;
}

/* How far a place lies behind the start; at most the largest integer. */
static int64_t distance(int64_t place, int64_t start)
{
    int64_t steps;
    return __builtin_sub_overflow(place, start, &steps) ? INT64_MAX : steps;
}

static bool is_inside(const tw__sparse *s, int64_t i, const int64_t *start, const int64_t *size)
{
    for (int k = 0; k < s->rank; k++) {
        int64_t at = s->indices[i * s->rank + k];
        if (at < start[k] || distance(at, start[k]) >= size[k])
            return false;
    }
    return true;
}

static tw_status slice_compute(tw__kernel *kernel)
{
    tw__sparse s;
    TW_TRY(tw__sparse_read(kernel, 0, 1, 2, &s));
    const tw_tensor *starts = kernel->inputs[3], *sizes = kernel->inputs[4];
    if (starts->count != s.rank || sizes->count != s.rank || starts->shape.rank != 1 || sizes->shape.rank != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected start and size to be vectors of length %d but got shapes %s and %s",
                        s.rank, tw__shape_text(&starts->shape), tw__shape_text(&sizes->shape));
    const int64_t *start = starts->data, *size = sizes->data;
    int64_t count = 0;
    for (int64_t i = 0; i < s.count; i++)
        count += is_inside(&s, i, start, size);
    tw_tensor *indices = tw__output(kernel, 0, &TW_SHAPE(count, s.rank)), *values = tw__output(kernel, 1, &TW_SHAPE(count)),
              *shape = tw__output(kernel, 2, &TW_SHAPE(s.rank));
    if (!indices || !values || !shape)
        return tw__error_status();
    for (int64_t i = 0, to = 0; i < s.count; i++) {
        if (!is_inside(&s, i, start, size))
            continue;
        for (int k = 0; k < s.rank; k++)
            ((int64_t *)indices->data)[to * s.rank + k] = distance(s.indices[i * s.rank + k], start[k]);
        TW_TRY(tw__copy_elements(values->dtype, tw__element_at(values, to++), tw__element_at(s.values, i), 1));
    }
    for (int k = 0; k < s.rank; k++) {
        int64_t left = start[k] < s.shape[k] ? distance(s.shape[k], start[k]) : 0;
        ((int64_t *)shape->data)[k] = size[k] < 0 ? 0 : size[k] < left ? size[k] : left;
    }
    return TW_OK;
}

static tw_status slice_gradient(tw__gradient *g)
{
    if (g->wanted[1] && g->output_grads[1]) {
        tw__grad_set(g, 1, TW_CALL(SparseSliceGrad, g->output_grads[1], g->inputs[0], g->inputs[3], g->outputs[0]));
        return g->input_grads[1] ? TW_OK : tw__error_status();
    }
    return TW_OK;
}

TW_OP(SparseSlice, .inputs = "indices: int64, values: T, shape: int64, start: int64, size: int64",
      .outputs = "output_indices: int64, output_values: T, output_shape: int64", .attrs = "T: type", .shape = slice_shape,
      .compute = slice_compute, .gradient = slice_gradient, .doc = "The values inside of a box.");

static tw_status slice_grad_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 1, 2));
    inference->out_shapes[0] = TW_SHAPE(inference->shapes[1]->rank == 2 ? inference->shapes[1]->dims[0] : -1);
    return TW_OK;
}

static tw_status slice_grad_compute(tw__kernel *kernel)
{
    const tw_tensor *dy = kernel->inputs[0], *from = kernel->inputs[1], *starts = kernel->inputs[2], *to = kernel->inputs[3];
    if (from->shape.rank != 2 || to->shape.rank != 2 || dy->shape.rank != 1 || from->shape.dims[1] != to->shape.dims[1] ||
        starts->count != from->shape.dims[1] || dy->count != to->shape.dims[0])
        return tw__fail(TW_INVALID_ARGUMENT, "the indices %s and %s, the start and the gradient %s do not fit together",
                        tw__shape_text(&from->shape), tw__shape_text(&to->shape), tw__shape_text(&dy->shape));
    int64_t count = from->shape.dims[0], rank = from->shape.dims[1], next = 0;
    tw_tensor *out = tw__output(kernel, 0, &TW_SHAPE(count));
    if (!out)
        return tw__error_status();
    memset(out->data, 0, (size_t)count * tw__element_size(out->dtype));
    const int64_t *start = starts->data, *a = from->data, *b = to->data;
    for (int64_t i = 0; i < count && next < to->shape.dims[0]; i++) {
        bool same = true;
        for (int64_t k = 0, place; same && k < rank; k++)
            same = !__builtin_add_overflow(b[next * rank + k], start[k], &place) && a[i * rank + k] == place;
        if (same)
            TW_TRY(tw__copy_elements(out->dtype, tw__element_at(out, i), tw__element_at(dy, next++), 1));
    }
    return next == to->shape.dims[0] ? TW_OK
                                     : tw__fail(TW_INVALID_ARGUMENT, "Elements of backprop_val_grad aren't all propagated.");
}

TW_OP(SparseSliceGrad, .no_gradient = true,
      .inputs = "backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64", .outputs = "val_grad: T",
      .attrs = "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, "
               "quint16, uint16, complex128, "
               "half, uint32, uint64}",
      .shape = slice_grad_shape, .compute = slice_grad_compute, .doc = "The gradient of SparseSlice: zeros outside of the box.");

/* ---- SparseConcat ---- */

static tw_status concat_shape(tw__inference *inference)
{
    int count = inference->input_count / 3;
    int64_t rank = -1, rows = 0;
    for (int i = 0; i < count; i++) {
        TW_TRY(tw__sparse_infer(inference, i, count + i, 2 * count + i));
        const tw_shape *indices = inference->shapes[i];
        rank = indices->rank == 2 && indices->dims[1] >= 0 ? indices->dims[1] : rank;
        rows = rows >= 0 && indices->rank == 2 && indices->dims[0] >= 0 ? rows + indices->dims[0] : -1;
    }
    inference->out_shapes[0] = TW_SHAPE(rows, rank);
    inference->out_shapes[1] = TW_SHAPE(rows);
    inference->out_shapes[2] = TW_SHAPE(rank);
    return TW_OK;
}

static tw_status concat_compute(tw__kernel *kernel)
{
    int count = kernel->input_count / 3;
    tw__sparse first, s;
    TW_TRY(tw__sparse_read(kernel, 0, count, 2 * count, &first));
    int64_t given = TW_ATTR(kernel, "concat_dim")->i, total = 0, rank = first.rank;
    int axis;
    if (!tw__axis_normal(given, first.rank, &axis))
        return tw__fail(TW_INVALID_ARGUMENT, "Concat dimension must be in range [%d, %d), got %lld", -first.rank, first.rank,
                        (long long)given);
    for (int i = 0; i < count; i++) {
        TW_TRY(tw__sparse_read(kernel, i, count + i, 2 * count + i, &s));
        if (s.rank != rank)
            return tw__fail(TW_INVALID_ARGUMENT, "Ranks of all input tensors must match: expected %lld but got %d at position %d",
                            (long long)rank, s.rank, i);
        for (int k = 0; k < rank; k++) {
            if (k != axis && s.shape[k] != first.shape[k])
                return tw__fail(TW_INVALID_ARGUMENT,
                                "Input shapes must match: expected %lld for dimension %d but got %lld at position %d",
                                (long long)first.shape[k], k, (long long)s.shape[k], i);
        }
        total += s.count;
    }
    tw_tensor *out_indices = tw__output(kernel, 0, &TW_SHAPE(total, rank)), *out_values = tw__output(kernel, 1, &TW_SHAPE(total)),
              *shape = tw__output(kernel, 2, &TW_SHAPE(rank));
    tw_auto tw_tensor *joined = out_indices && out_values && shape ? tw__tensor_empty(TW_INT64, &TW_SHAPE(total, rank)) : NULL;
    const tw_tensor **sources = joined ? tw__alloc_array((size_t)total + 1, sizeof *sources) : NULL;
    int64_t *places = sources ? tw__alloc_array((size_t)total + 1, sizeof *places) : NULL, *order = NULL, at = 0, offset = 0;
    tw_status status = places ? TW_OK : tw__error_status();
    for (int i = 0; status == TW_OK && i < count; i++) {
        status = tw__sparse_read(kernel, i, count + i, 2 * count + i, &s);
        for (int64_t k = 0; status == TW_OK && k < s.count; k++, at++) {
            memcpy((int64_t *)joined->data + at * rank, s.indices + k * rank, (size_t)rank * sizeof(int64_t));
            ((int64_t *)joined->data)[at * rank + axis] += offset;
            sources[at] = s.values;
            places[at] = k;
        }
        offset += s.shape[axis];
    }
    if (status == TW_OK && !(order = tw__sparse_order(joined->data, total, (int)rank)))
        status = tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < total; i++) {
        memcpy((int64_t *)out_indices->data + i * rank, (int64_t *)joined->data + order[i] * rank,
               (size_t)rank * sizeof(int64_t));
        status = tw__copy_elements(out_values->dtype, tw__element_at(out_values, i),
                                   tw__element_at(sources[order[i]], places[order[i]]), 1);
    }
    for (int k = 0; status == TW_OK && k < rank; k++)
        ((int64_t *)shape->data)[k] = k == axis ? offset : first.shape[k];
    tw__free(sources);
    tw__free(places);
    tw__free(order);
    return status;
}

TW_OP(SparseConcat, .inputs = "indices: N * int64, values: N * T, shapes: N * int64",
      .outputs = "output_indices: int64, output_values: T, output_shape: int64", .attrs = "concat_dim: int, N: int >= 2, T: type",
      .shape = concat_shape, .compute = concat_compute, .doc = "Sparse tensors joined along a dimension.");

/* ---- SparseSplit ---- */

static tw_status split_shape(tw__inference *inference)
{
    TW_TRY(tw__sparse_infer(inference, 1, 2, 3));
    int64_t rank = inference->shapes[1]->rank == 2 ? inference->shapes[1]->dims[1] : -1;
    int count = inference->output_count / 3;
    for (int i = 0; i < count; i++) {
        inference->out_shapes[i] = TW_SHAPE(-1, rank);
        inference->out_shapes[count + i] = TW_SHAPE(-1);
        inference->out_shapes[2 * count + i] = TW_SHAPE(rank);
    }
    return TW_OK;
}

/* The first pieces are one larger where the size does not divide. */
static tw_status split_compute(tw__kernel *kernel)
{
    tw__sparse s;
    int64_t pieces = kernel->output_count / 3, given;
    int axis;
    TW_TRY(tw__sparse_read(kernel, 1, 2, 3, &s));
    TW_TRY(tw__scalar_value(kernel->op, kernel->inputs[0], "split_dim", &given));
    if (!tw__axis_normal(given, s.rank, &axis))
        return tw__fail(TW_INVALID_ARGUMENT, "Input split_dim should be between 0 and rank (%d), got %lld", s.rank,
                        (long long)given);
    if (pieces > s.shape[axis])
        return tw__fail(TW_INVALID_ARGUMENT,
                        "Input num_split should be between 1 and the splitting dimension size (%lld), got %lld",
                        (long long)s.shape[axis], (long long)pieces);
    int64_t size = s.shape[axis] / pieces, larger = s.shape[axis] % pieces, begin = 0;
    for (int64_t p = 0; p < pieces; p++) {
        int64_t width = size + (p < larger), count = 0, to = 0;
        for (int64_t i = 0; i < s.count; i++)
            count += s.indices[i * s.rank + axis] >= begin && s.indices[i * s.rank + axis] < begin + width;
        tw_tensor *indices = tw__output(kernel, (int)p, &TW_SHAPE(count, s.rank)),
                  *values = tw__output(kernel, (int)(pieces + p), &TW_SHAPE(count)),
                  *shape = tw__output(kernel, (int)(2 * pieces + p), &TW_SHAPE(s.rank));
        if (!indices || !values || !shape)
            return tw__error_status();
        for (int64_t i = 0; i < s.count; i++) {
            int64_t place = s.indices[i * s.rank + axis];
            if (place < begin || place >= begin + width)
                continue;
            memcpy((int64_t *)indices->data + to * s.rank, s.indices + i * s.rank, (size_t)s.rank * sizeof(int64_t));
            ((int64_t *)indices->data)[to * s.rank + axis] -= begin;
            TW_TRY(tw__copy_elements(values->dtype, tw__element_at(values, to++), tw__element_at(s.values, i), 1));
        }
        memcpy(shape->data, s.shape, (size_t)s.rank * sizeof(int64_t));
        ((int64_t *)shape->data)[axis] = width;
        begin += width;
    }
    return TW_OK;
}

TW_OP(SparseSplit, .no_gradient = true, .inputs = "split_dim: int64, indices: int64, values: T, shape: int64",
      .outputs = "output_indices: num_split * int64, output_values: num_split * T, output_shape: num_split * int64",
      .attrs = "num_split: int >= 1, T: type", .shape = split_shape, .compute = split_compute,
      .doc = "A sparse tensor cut along a dimension.");
