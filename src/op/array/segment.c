/* Sums of rows by segment (UnsortedSegmentSum, SegmentSum) and rows put into order by index (DynamicStitch). */
#include "kernel/copy.h"
#include "kernel/reduce.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

#define NUMBERS "float, double, int32, uint8, int16, int8, complex64, int64, bfloat16, uint16, complex128, half, uint32, uint64"

/* ---- UnsortedSegmentSum ---- */

static tw_status unsorted_shape(tw__inference *inference)
{
    const tw_shape *data = inference->shapes[0], *ids = inference->shapes[1];
    int64_t segments = -1;
    if (inference->values[2]) {
        TW_TRY(tw__scalar_value(inference->op, inference->values[2], "num_segments", &segments));
        if (segments < 0)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Input num_segments == %lld must not be negative.",
                              (long long)segments);
    }
    if (data->rank < 0 || ids->rank < 0)
        return TW_OK;
    bool starts = ids->rank <= data->rank;
    for (int i = 0; starts && i < ids->rank; i++)
        starts = data->dims[i] < 0 || ids->dims[i] < 0 || data->dims[i] == ids->dims[i];
    if (!starts)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "data.shape = %s does not start with segment_ids.shape = %s",
                          tw__shape_text(data), tw__shape_text(ids));
    if (data->rank - ids->rank + 1 > TW_MAX_RANK)
        return TW_OP_FAIL(inference, TW_UNIMPLEMENTED, "the result would have more than %d dimensions", TW_MAX_RANK);
    tw_shape *out = &inference->out_shapes[0];
    out->rank = data->rank - ids->rank + 1;
    out->dims[0] = segments;
    for (int i = 1; i < out->rank; i++)
        out->dims[i] = data->dims[ids->rank + i - 1];
    return TW_OK;
}

static tw_status unsorted_compute(tw__kernel *kernel)
{
    const tw_tensor *data = kernel->inputs[0], *ids = kernel->inputs[1];
    tw_tensor *out = kernel->outputs[0];
    int64_t segments = out->shape.dims[0], inner = 1;
    size_t size = tw__element_size(out->dtype);
    for (int i = 1; i < out->shape.rank; i++)
        inner *= out->shape.dims[i];
    memset(out->data, 0, (size_t)out->count * size);
    for (int64_t i = 0; i < ids->count; i++) {
        int64_t id = tw_tensor_int_at(ids, i);
        if (id < 0)
            continue; /* a row with a negative id belongs nowhere */
        if (id >= segments)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "segment_ids[%lld] = %lld is out of range [0, %lld)", (long long)i,
                              (long long)id, (long long)segments);
        TW_TRY(tw__combine_elements(TW__COMBINE_ADD, out->dtype, (char *)out->data + (size_t)(id * inner) * size,
                                    (const char *)data->data + (size_t)(i * inner) * size, inner));
    }
    return TW_OK;
}

tw_tensor *tw__ids_shape_later(tw_tensor *data, tw_tensor *ids)
{
    tw_tensor *more = TW_G2(Sub, TW_UNARY(Rank, data), TW_UNARY(Rank, ids));
    tw_tensor *ones = TW_G2(Fill, TW_G2(Reshape, more, tw__ints_tensor((const int64_t[]){ 1 }, 1, TW_INT32)), tw_tensor_int(1));
    return TW_G3(ConcatV2, TW_UNARY(Shape, ids), ones, tw_tensor_int(0));
}

/* Each row gets its segment's gradient; rows with negative ids get zeros. */
static tw_status unsorted_gradient(tw__gradient *gradient)
{
    tw_tensor *data = gradient->inputs[0], *ids = gradient->inputs[1], *dy = gradient->output_grads[0];
    if (!dy || !gradient->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *zero = tw_tensor_int(0), *none = TW_UNARY(ZerosLike, ids);
    tw_auto tw_tensor *inside = TW_BINARY(Maximum, ids, none);
    tw_auto tw_tensor *rows = tw__call(&tw__op_GatherV2, TW_IN(dy, inside, zero), 3, NULL, 0);
    tw_auto tw_tensor *counts = rows ? TW_BINARY(GreaterEqual, ids, none) : NULL;
    if (!counts)
        return tw__error_status();
    tw_shape wide = { .rank = data->shape.rank };
    for (int i = 0; i < wide.rank; i++)
        wide.dims[i] = i < ids->shape.rank ? ids->shape.dims[i] : 1;
    bool known = tw__shape_known(&ids->shape) && wide.rank >= 0;
    tw_auto tw_tensor *shape = known ? tw__tensor_of_shape(&wide, TW_INT64) : tw__ids_shape_later(data, ids);
    tw_auto tw_tensor *mask = shape ? TW_BINARY(Reshape, counts, shape) : NULL;
    tw_auto tw_tensor *zeros = mask ? TW_UNARY(ZerosLike, rows) : NULL;
    gradient->input_grads[0] = zeros ? tw__call(&tw__op_SelectV2, TW_IN(mask, rows, zeros), 3, NULL, 0) : NULL;
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(UnsortedSegmentSum, .inputs = "data: T, segment_ids: Tindices, num_segments: Tnumsegments", .outputs = "output: T",
      .attrs = "T: {" NUMBERS "}, Tindices: {int16, int32, int64}, Tnumsegments: {int32, int64} = int32", .shape = unsorted_shape,
      .compute = unsorted_compute, .gradient = unsorted_gradient,
      .function = "math.unsorted_segment_sum(data: tensor, segment_ids: tensor<int32>, num_segments: tensor<int32>, "
                  "name: str = None) -> tensor",
      .doc = "Sums of the rows of each segment.");

/* ---- SegmentSum ---- */

tw_status tw__sorted_segment_shape(tw__inference *inference)
{
    const tw_shape *data = inference->shapes[0], *ids = inference->shapes[1];
    TW_TRY(tw__need_rank(inference, 1, 1));
    TW_TRY(tw__need_rank_at_least(inference, 0, 1));
    if (data->rank < 0)
        return TW_OK;
    if (ids->rank == 1 && ids->dims[0] >= 0 && data->dims[0] >= 0 && ids->dims[0] != data->dims[0])
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "segment_ids should be the same size as dimension 0 of input.");
    inference->out_shapes[0] = *data;
    inference->out_shapes[0].dims[0] = -1;
    return TW_OK;
}

static inline int64_t id_at(const tw_tensor *ids, int64_t i)
{
    return ids->dtype == TW_INT32 ? ((const int32_t *)ids->data)[i] : ((const int64_t *)ids->data)[i];
}

/* Of single numbers: those of a segment stand together. */
static void sum_runs(const tw__reducer *sum, const tw_tensor *data, const tw_tensor *ids, tw_tensor *out)
{
    size_t size = tw__element_size(out->dtype);
    for (int64_t begin = 0, end; begin < ids->count; begin = end) {
        int64_t id = id_at(ids, begin);
        for (end = begin + 1; end < ids->count && id_at(ids, end) == id;)
            end++;
        _Alignas(16) char total[16];
        sum->start(total, 1);
        sum->rows(total, (const char *)data->data + (size_t)begin * size, 1, 0, end - begin);
        sum->finish((char *)out->data + (size_t)id * size, total, 1, end - begin);
    }
}

tw_status tw__sorted_segments(tw__kernel *kernel, tw_tensor **out, int64_t *inner)
{
    const tw_tensor *ids = kernel->inputs[1];
    int64_t last = -1;
    for (int64_t i = 0; i < ids->count; i++) {
        int64_t id = id_at(ids, i);
        if (id < 0)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "segment ids must be >= 0: Segment id %lld out of range",
                              (long long)id);
        if (id == INT64_MAX) /* one more would be the number of rows */
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Expected a non-negative size: Segment id %lld out of range",
                              (long long)id);
        if (id < last)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "segment ids are not increasing");
        last = id;
    }
    tw_shape shape = kernel->inputs[0]->shape;
    shape.dims[0] = last + 1;
    *out = tw__output(kernel, 0, &shape);
    *inner = 1;
    for (int i = 1; i < shape.rank; i++)
        *inner *= shape.dims[i];
    return *out ? TW_OK : tw__error_status();
}

static tw_status sorted_compute(tw__kernel *kernel)
{
    const tw_tensor *data = kernel->inputs[0], *ids = kernel->inputs[1];
    tw_tensor *out;
    int64_t inner;
    TW_TRY(tw__sorted_segments(kernel, &out, &inner));
    size_t size = tw__element_size(out->dtype);
    memset(out->data, 0, (size_t)out->count * size);
    const tw__reducer *sum = tw__reducer_find(TW__REDUCE_SUM, out->dtype);
    if (inner == 1 && sum) {
        sum_runs(sum, data, ids, out);
        return TW_OK;
    }
    for (int64_t i = 0; i < ids->count; i++)
        TW_TRY(tw__combine_elements(TW__COMBINE_ADD, out->dtype, (char *)out->data + (size_t)(id_at(ids, i) * inner) * size,
                                    (const char *)data->data + (size_t)(i * inner) * size, inner));
    return TW_OK;
}

static tw_tensor *gather(tw_tensor *rows, tw_tensor *indices)
{
    tw_auto tw_tensor *zero = tw_tensor_int(0);
    return tw__call(&tw__op_GatherV2, TW_IN(rows, indices, zero), 3, NULL, 0);
}

static tw_status sorted_gradient(tw__gradient *gradient)
{
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    gradient->input_grads[0] = gather(gradient->output_grads[0], gradient->inputs[1]);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(SegmentSum, .inputs = "data: T, segment_ids: Tindices", .outputs = "output: T",
      .attrs = "T: {" NUMBERS "}, Tindices: {int32, int64}", .shape = tw__sorted_segment_shape, .compute = sorted_compute,
      .gradient = sorted_gradient,
      .function = "math.segment_sum(data: tensor, segment_ids: tensor<int32>, name: str = None) -> tensor",
      .doc = "Sums of the rows of each segment; the ids do not decrease.");

/* ---- DynamicStitch ---- */

static tw_status stitch_shape(tw__inference *inference)
{
    int parts = inference->input_count / 2;
    tw_shape inner = TW_UNKNOWN_SHAPE;
    for (int i = 0; i < parts; i++) {
        const tw_shape *ids = inference->shapes[i], *data = inference->shapes[parts + i];
        if (ids->rank < 0 || data->rank < 0)
            continue;
        bool starts = ids->rank <= data->rank;
        for (int k = 0; starts && k < ids->rank; k++)
            starts = ids->dims[k] < 0 || data->dims[k] < 0 || ids->dims[k] == data->dims[k];
        if (!starts)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "data[%d].shape = %s does not start with indices[%d].shape = %s", i,
                              tw__shape_text(data), i, tw__shape_text(ids));
        tw_shape rest = { .rank = data->rank - ids->rank };
        for (int k = 0; k < rest.rank; k++)
            rest.dims[k] = data->dims[ids->rank + k];
        if (!tw__shape_compatible(&inner, &rest))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                              "Need data[0].shape[%d:] = data[%d].shape[%d:], got data[0].shape = %s, data[%d].shape = %s",
                              inference->shapes[0]->rank, i, ids->rank, tw__shape_text(inference->shapes[parts]), i,
                              tw__shape_text(data));
        inner = inner.rank < 0 ? rest : inner;
    }
    if (inner.rank < 0)
        return TW_OK;
    if (inner.rank == TW_MAX_RANK)
        return TW_OP_FAIL(inference, TW_UNIMPLEMENTED, "the result would have more than %d dimensions", TW_MAX_RANK);
    tw_shape *out = &inference->out_shapes[0];
    out->rank = inner.rank + 1;
    out->dims[0] = -1;
    for (int i = 0; i < inner.rank; i++)
        out->dims[i + 1] = inner.dims[i];
    return TW_OK;
}

static tw_status stitch_compute(tw__kernel *kernel)
{
    int parts = kernel->input_count / 2;
    int64_t last = -1, inner = 1;
    for (int i = 0; i < parts; i++) {
        const tw_tensor *ids = kernel->inputs[i];
        for (int64_t k = 0; k < ids->count; k++) {
            int64_t id = tw_tensor_int_at(ids, k);
            if (id < 0)
                return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "indices[%lld] is out of range", (long long)k);
            last = id > last ? id : last;
        }
    }
    const tw_shape *ids = &kernel->inputs[0]->shape, *data = &kernel->inputs[parts]->shape;
    tw_shape shape = { .rank = data->rank - ids->rank + 1, .dims = { last + 1 } };
    for (int i = 1; i < shape.rank; i++)
        inner *= shape.dims[i] = data->dims[ids->rank + i - 1];
    tw_tensor *out = tw__output(kernel, 0, &shape);
    if (!out)
        return tw__error_status();
    size_t size = tw__element_size(out->dtype);
    if (out->dtype != TW_STRING)
        memset(out->data, 0, (size_t)out->count * size);
    for (int i = 0; i < parts; i++) {
        for (int64_t k = 0; k < kernel->inputs[i]->count; k++) {
            int64_t at = tw_tensor_int_at(kernel->inputs[i], k) * inner;
            const char *from = (const char *)kernel->inputs[parts + i]->data + (size_t)(k * inner) * size;
            for (int64_t j = 0; out->dtype == TW_STRING && j < inner; j++)
                TW_TRY(tw__string_set(out, at + j, ((const tw_string *)from)[j].data, ((const tw_string *)from)[j].size));
            if (out->dtype != TW_STRING)
                TW_TRY(tw__copy_elements(out->dtype, (char *)out->data + (size_t)at * size, from, inner));
        }
    }
    return TW_OK;
}

static tw_status stitch_gradient(tw__gradient *gradient)
{
    int parts = gradient->input_count / 2;
    for (int i = 0; gradient->output_grads[0] && i < parts; i++) {
        if (gradient->wanted[parts + i] &&
            !(gradient->input_grads[parts + i] = gather(gradient->output_grads[0], gradient->inputs[i])))
            return tw__error_status();
    }
    return TW_OK;
}

TW_OP(DynamicStitch, .inputs = "indices: N * int32, data: N * T", .outputs = "merged: T", .attrs = "N: int >= 1, T: type",
      .shape = stitch_shape, .compute = stitch_compute, .gradient = stitch_gradient,
      .doc = "Rows of several tensors in one, each where its index says; a later one wins.");
