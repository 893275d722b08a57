/* Rows picked by index and summed by segment: SparseSegmentSum, -Mean, -SqrtN, with or without a number of segments, and their
 * gradients. */
#include <math.h>

#include "op/array/array.h"
#include "op/gradient.h"
#include "op/sparse/sparse.h"
#include "rows.h"

typedef enum scaling { SUM, MEAN, SQUARE_ROOT } scaling;

static double factor(scaling how, int64_t count)
{
    return how == SUM ? 1 : how == MEAN ? 1.0 / (double)count : 1.0 / sqrt((double)count);
}

static void scale(tw_dtype dtype, void *row, int64_t count, double by)
{
    for (int64_t i = 0; by != 1 && i < count; i++) {
        if (dtype == TW_FLOAT32)
            ((float *)row)[i] *= (float)by;
        else if (dtype == TW_FLOAT64)
            ((double *)row)[i] *= by;
        else if (dtype == TW_FLOAT16)
            ((uint16_t *)row)[i] = tw__float_to_half(tw__half_to_float(((uint16_t *)row)[i]) * (float)by);
        else if (dtype == TW_BFLOAT16)
            ((uint16_t *)row)[i] = tw__float_to_bfloat16(tw__bfloat16_to_float(((uint16_t *)row)[i]) * (float)by);
    }
}

static tw_status segment_shape(tw__inference *inference)
{
    const tw_shape *data = inference->shapes[0];
    TW_TRY(tw__need_rank_at_least(inference, 0, 1));
    TW_TRY(tw__need_rank(inference, 1, 1));
    TW_TRY(tw__need_rank(inference, 2, 1));
    if (data->rank < 0)
        return TW_OK;
    inference->out_shapes[0] = *data;
    inference->out_shapes[0].dims[0] = -1;
    if (inference->input_count > 3 && inference->values[3])
        TW_TRY(tw__scalar_value(inference->op, inference->values[3], "num_segments", &inference->out_shapes[0].dims[0]));
    return TW_OK;
}

/* Checks ids and indices; `rows` is the number of segments. */
static tw_status check(const tw_tensor *indices, const tw_tensor *ids, int64_t limit, int64_t *rows)
{
    int64_t last = -1;
    if (indices->count != ids->count)
        return tw__fail(TW_INVALID_ARGUMENT, "segment_ids and indices should have same size.");
    for (int64_t i = 0; i < ids->count; i++) {
        int64_t id = tw_tensor_int_at(ids, i), index = tw_tensor_int_at(indices, i);
        if (id < 0)
            return tw__fail(TW_INVALID_ARGUMENT, "segment ids must be >= 0");
        if (id == INT64_MAX)
            return tw__fail(TW_INVALID_ARGUMENT, "segment id %lld is too large", (long long)id);
        if (id < last)
            return tw__fail(TW_INVALID_ARGUMENT, "segment ids are not increasing");
        if (index < 0 || index >= limit)
            return tw__fail(TW_INVALID_ARGUMENT, "Bad: indices[%lld] == %lld out of range [0, %lld)", (long long)i,
                            (long long)index, (long long)limit);
        last = id;
    }
    *rows = last + 1;
    return TW_OK;
}

static int64_t row_size(const tw_shape *shape)
{
    int64_t size = 1;
    for (int i = 1; i < shape->rank; i++)
        size *= shape->dims[i];
    return size;
}

static tw_status segment(tw__kernel *kernel, scaling how)
{
    const tw_tensor *data = kernel->inputs[0], *indices = kernel->inputs[1], *ids = kernel->inputs[2];
    int64_t rows, inner = row_size(&data->shape);
    TW_TRY(check(indices, ids, data->shape.dims[0], &rows));
    if (kernel->input_count > 3) {
        int64_t wanted;
        TW_TRY(tw__scalar_value(kernel->op, kernel->inputs[3], "num_segments", &wanted));
        if (wanted < rows)
            return tw__fail(TW_INVALID_ARGUMENT, "segment ids must be < num_segments");
        rows = wanted;
    }
    tw_shape shape = data->shape;
    shape.dims[0] = rows;
    tw_tensor *out = tw__output(kernel, 0, &shape);
    if (!out)
        return tw__error_status();
    memset(out->data, 0, (size_t)out->count * tw__element_size(out->dtype));
    for (int64_t begin = 0, end; begin < ids->count; begin = end) {
        int64_t id = tw_tensor_int_at(ids, begin);
        char *to = tw__element_at(out, id * inner);
        for (end = begin; end < ids->count && tw_tensor_int_at(ids, end) == id; end++)
            TW_TRY(tw__combine_elements(TW__COMBINE_ADD, out->dtype, to,
                                        tw__element_at(data, tw_tensor_int_at(indices, end) * inner), inner));
        scale(out->dtype, to, inner, factor(how, end - begin));
    }
    return TW_OK;
}

static tw_status sum_compute(tw__kernel *kernel)
{
    return segment(kernel, SUM);
}

static tw_status mean_compute(tw__kernel *kernel)
{
    return segment(kernel, MEAN);
}

static tw_status root_compute(tw__kernel *kernel)
{
    return segment(kernel, SQUARE_ROOT);
}

/* ---- gradients ---- */

static tw_status gradient_by(tw__gradient *g, const tw_op *op)
{
    if (!g->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *shape = tw__shape_as_tensor(g->inputs[0], TW_INT32), *zero = tw_tensor_int(0);
    tw_auto tw_tensor *rows = TW_CALL(GatherV2, shape, zero, zero);
    tw__grad_set(g, 0, tw__call(op, TW_IN(g->output_grads[0], g->inputs[1], g->inputs[2], rows), 4, NULL, 0));
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

static tw_status sum_gradient(tw__gradient *g)
{
    return gradient_by(g, &tw__op_SparseSegmentSumGrad);
}

static tw_status mean_gradient(tw__gradient *g)
{
    return gradient_by(g, &tw__op_SparseSegmentMeanGrad);
}

static tw_status root_gradient(tw__gradient *g)
{
    return gradient_by(g, &tw__op_SparseSegmentSqrtNGrad);
}

#define REALS "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64"
#define FLOATS "bfloat16, half, float, double"
#define ROW .inputs = "data: T, indices: Tidx, segment_ids: Tsegmentids", .outputs = "output: T", .shape = segment_shape
#define ROW_COUNTED                                                                                                   \
    .inputs = "data: T, indices: Tidx, segment_ids: Tsegmentids, num_segments: Tnumsegments", .outputs = "output: T", \
    .shape = segment_shape
#define KINDS "Tidx: {int32, int64} = int32, Tsegmentids: {int32, int64} = int32, sparse_gradient: bool = false"
#define KINDS_COUNTED                                                                                                            \
    "Tidx: {int32, int64} = int32, Tnumsegments: {int32, int64} = int32, Tsegmentids: {int32, int64} = int32, sparse_gradient: " \
    "bool = false"

TW_OP(SparseSegmentSum, ROW, .attrs = "T: {" REALS "}, " KINDS, .compute = sum_compute, .gradient = sum_gradient,
      .doc = "Sums of rows that are picked by index, by segment.");

TW_OP(SparseSegmentSumWithNumSegments, ROW_COUNTED, .attrs = "T: {" REALS "}, " KINDS_COUNTED, .compute = sum_compute,
      .gradient = sum_gradient, .doc = "Sums of rows that are picked by index, for a number of segments.");

TW_OP(SparseSegmentMean, ROW, .attrs = "T: {" FLOATS "}, " KINDS, .compute = mean_compute, .gradient = mean_gradient,
      .doc = "Means of rows that are picked by index, by segment.");

TW_OP(SparseSegmentMeanWithNumSegments, ROW_COUNTED, .attrs = "T: {" FLOATS "}, " KINDS_COUNTED, .compute = mean_compute,
      .gradient = mean_gradient, .doc = "Means of rows that are picked by index, for a number of segments.");

TW_OP(SparseSegmentSqrtN, ROW, .attrs = "T: {" FLOATS "}, " KINDS, .compute = root_compute, .gradient = root_gradient,
      .doc = "Sums of rows that are picked by index, by segment, divided by the square root of their number.");

TW_OP(SparseSegmentSqrtNWithNumSegments, ROW_COUNTED, .attrs = "T: {" FLOATS "}, " KINDS_COUNTED, .compute = root_compute,
      .gradient = root_gradient,
      .doc = "Sums of rows that are picked by index, for a number of segments, divided by the square root of their number.");

static tw_status grad_shape(tw__inference *inference)
{
    const tw_shape *dy = inference->shapes[0];
    TW_TRY(tw__need_rank_at_least(inference, 0, 1));
    TW_TRY(tw__need_rank(inference, 1, 1));
    TW_TRY(tw__need_rank(inference, 2, 1));
    if (dy->rank < 0)
        return TW_OK;
    inference->out_shapes[0] = *dy;
    inference->out_shapes[0].dims[0] = -1;
    if (inference->output_count == 2)
        inference->out_shapes[1] = TW_SHAPE(-1);
    else if (inference->values[3])
        TW_TRY(tw__scalar_value(inference->op, inference->values[3], "output_dim0", &inference->out_shapes[0].dims[0]));
    return TW_OK;
}

/* Of the second form: the indices once each, in order, which are the rows of its output. */
static tw_tensor *used_rows(tw__kernel *kernel, const tw_tensor *indices, int64_t limit)
{
    tw__owned bool *used = tw__alloc_zero((size_t)limit + 1);
    int64_t count = 0, at = 0;
    if (!used)
        return NULL;
    for (int64_t i = 0; i < indices->count; i++) {
        bool *one = &used[tw_tensor_int_at(indices, i)];
        count += !*one;
        *one = true;
    }
    tw_tensor *rows = tw__output(kernel, 1, &TW_SHAPE(count));
    for (int64_t i = 0; rows && i < limit; i++) {
        if (used[i] && rows->dtype == TW_INT64)
            ((int64_t *)rows->data)[at++] = i;
        else if (used[i])
            ((int32_t *)rows->data)[at++] = (int32_t)i;
    }
    return rows;
}

/* The row of the output for an index. */
static int64_t row_of(const tw_tensor *rows, int64_t index)
{
    int64_t low = 0, high = rows ? rows->count - 1 : -1;
    if (!rows)
        return index;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (tw_tensor_int_at(rows, middle) < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static tw_status grad(tw__kernel *kernel, scaling how)
{
    const tw_tensor *dy = kernel->inputs[0], *indices = kernel->inputs[1], *ids = kernel->inputs[2], *rows = NULL;
    int64_t limit, segments, inner = row_size(&dy->shape);
    TW_TRY(tw__scalar_value(kernel->op, kernel->inputs[3], "output_dim0", &limit));
    TW_TRY(check(indices, ids, limit, &segments));
    if (segments > dy->shape.dims[0])
        return tw__fail(TW_INVALID_ARGUMENT, "Invalid number of segments: %lld for a gradient of %lld rows", (long long)segments,
                        (long long)dy->shape.dims[0]);
    if (kernel->output_count == 2)
        TW_NEED(rows = used_rows(kernel, indices, limit));
    tw_shape shape = dy->shape;
    shape.dims[0] = rows ? rows->count : limit;
    tw_tensor *out = tw__output(kernel, 0, &shape);
    tw_auto tw_tensor *row = out ? tw__tensor_empty(dy->dtype, &TW_SHAPE(inner)) : NULL;
    if (!row)
        return tw__error_status();
    memset(out->data, 0, (size_t)out->count * tw__element_size(out->dtype));
    for (int64_t begin = 0, end; begin < ids->count; begin = end) {
        int64_t id = tw_tensor_int_at(ids, begin);
        for (end = begin; end < ids->count && tw_tensor_int_at(ids, end) == id;)
            end++;
        TW_TRY(tw__copy_elements(row->dtype, row->data, tw__element_at(dy, id * inner), inner));
        scale(row->dtype, row->data, inner, factor(how, end - begin));
        for (int64_t i = begin; i < end; i++) {
            int64_t to = row_of(rows, tw_tensor_int_at(indices, i));
            TW_TRY(tw__combine_elements(TW__COMBINE_ADD, out->dtype, tw__element_at(out, to * inner), row->data, inner));
        }
    }
    return TW_OK;
}

static tw_status sum_grad_compute(tw__kernel *kernel)
{
    return grad(kernel, SUM);
}

static tw_status mean_grad_compute(tw__kernel *kernel)
{
    return grad(kernel, MEAN);
}

static tw_status root_grad_compute(tw__kernel *kernel)
{
    return grad(kernel, SQUARE_ROOT);
}

#define ROW_GRAD                                                                                              \
    .inputs = "grad: T, indices: Tidx, segment_ids: Tsegmentids, output_dim0: int32", .outputs = "output: T", \
    .attrs = "T: {" FLOATS "}, Tidx: {int32, int64} = int32, Tsegmentids: {int32, int64} = int32", .shape = grad_shape

TW_OP(SparseSegmentSumGrad, .no_gradient = true, ROW_GRAD, .compute = sum_grad_compute,
      .doc = "The gradient of SparseSegmentSum.");

TW_OP(SparseSegmentMeanGrad, .no_gradient = true, ROW_GRAD, .compute = mean_grad_compute,
      .doc = "The gradient of SparseSegmentMean.");

TW_OP(SparseSegmentSqrtNGrad, .no_gradient = true, ROW_GRAD, .compute = root_grad_compute,
      .doc = "The gradient of SparseSegmentSqrtN.");

#define ROW_GRAD_V2                                                                         \
    .inputs = "grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: int32", \
    .outputs = "output: T, sorted_unique_indices: Tidx",                                    \
    .attrs = "T: {" FLOATS "}, Tidx: {int32, int64} = int32, Tsegmentids: {int32, int64} = int32", .shape = grad_shape
TW_OP(SparseSegmentSumGradV2, .no_gradient = true, ROW_GRAD_V2, .compute = sum_grad_compute,
      .doc = "The gradient of SparseSegmentSum: the rows that it has, and which they are.");
TW_OP(SparseSegmentMeanGradV2, .no_gradient = true, ROW_GRAD_V2, .compute = mean_grad_compute,
      .doc = "The gradient of SparseSegmentMean: the rows that it has, and which they are.");
TW_OP(SparseSegmentSqrtNGradV2, .no_gradient = true, ROW_GRAD_V2, .compute = root_grad_compute,
      .doc = "The gradient of SparseSegmentSqrtN: the rows that it has, and which they are.");
