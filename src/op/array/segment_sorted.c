/* SegmentSum, SegmentMax, SegmentMin, SegmentProd, SegmentMean: rows combined by segment; the ids do not decrease. */
#include "kernel/copy.h"
#include "kernel/kernel.h"
#include "kernel/reduce/reduce.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

#define REALS "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64"
#define NUMBERS "float, double, int32, uint8, int16, int8, complex64, int64, bfloat16, uint16, complex128, half, uint32, uint64"

/* ---- what all check ---- */

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

static tw_tensor *rows_of(tw_tensor *x, tw_tensor *ids)
{
    return TW_CALL(GatherV2, x, ids, 0);
}

/* ---- SegmentSum ---- */

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

static tw_status sum_compute(tw__kernel *kernel)
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

static tw_status sum_gradient(tw__gradient *gradient)
{
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    gradient->input_grads[0] = rows_of(gradient->output_grads[0], gradient->inputs[1]);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(SegmentSum, .inputs = "data: T, segment_ids: Tindices", .outputs = "output: T",
      .attrs = "T: {" NUMBERS "}, Tindices: {int32, int64}", .shape = tw__sorted_segment_shape, .compute = sum_compute,
      .gradient = sum_gradient,
      .function = "math.segment_sum|compat.v1.segment_sum(data: tensor, segment_ids: tensor<int32>, name: str = None) -> tensor",
      .doc = "Sums of the rows of each segment; the ids do not decrease.\n"
             "data: the rows\n"
             "example: tf.math.segment_sum([1, 2, 3], [0, 0, 1]).numpy().tolist()  # [3, 3]");

/* ---- the others ---- */

static tw__combination kind_of(const tw_op *op)
{
    if (op == &tw__op_SegmentProd)
        return TW__COMBINE_MUL;
    return op == &tw__op_SegmentMean ? TW__COMBINE_ADD : op == &tw__op_SegmentMax ? TW__COMBINE_MAX : TW__COMBINE_MIN;
}

static tw_status sorted_compute(tw__kernel *kernel)
{
    const tw_tensor *data = kernel->inputs[0], *ids = kernel->inputs[1];
    tw_tensor *out;
    int64_t inner;
    TW_TRY(tw__sorted_segments(kernel, &out, &inner));
    size_t size = tw__element_size(out->dtype);
    double empty[2] = { 0 };
    if (kernel->op == &tw__op_SegmentProd)
        tw__cast_run(TW_FLOAT64, out->dtype, (const double[]){ 1 }, empty, 1, false);
    TW_TRY(tw__fill_elements(out->dtype, out->data, empty, out->count));
    for (int64_t i = 0, first = 0; i < ids->count; i++) {
        int64_t id = id_at(ids, i);
        char *to = (char *)out->data + (size_t)(id * inner) * size;
        const char *from = (const char *)data->data + (size_t)(i * inner) * size;
        bool begins = i == 0 || id_at(ids, i - 1) != id, ends = i + 1 == ids->count || id_at(ids, i + 1) != id;
        first = begins ? i : first;
        TW_TRY(begins ? tw__copy_elements(out->dtype, to, from, inner)
                      : tw__combine_elements(kind_of(kernel->op), out->dtype, to, from, inner));
        if (kernel->op == &tw__op_SegmentMean && ends && i > first) {
            double number[2] = { (double)(i - first + 1) }, narrow[2];
            tw__cast_run(TW_FLOAT64, out->dtype, number, narrow, 1, false);
            tw__binary_row(&tw__binary_divide, out->dtype, to, narrow, to, inner, TW_ROW_Y_SCALAR);
        }
    }
    return TW_OK;
}

/* ---- gradients ---- */

/* The number of rows that reached the segment's value share its gradient. */
static tw_status extreme_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *data = g->inputs[0], *ids = g->inputs[1], *dy = g->output_grads[0];
    if (!dy || !g->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *reached = TW_CALL(Equal, data, tw__temp(t, rows_of(g->outputs[0], ids)));
    tw_auto tw_tensor *ones = TW_CALL(Cast, reached, TW_A_TYPE("DstT", data->dtype));
    tw_auto tw_tensor *shared = TW_CALL(RealDiv, dy, TW_TEMP(SegmentSum, ones, ids));
    tw__grad_set(g, 0, TW_CALL(SelectV2, reached, tw__temp(t, rows_of(shared, ids)), TW_TEMP(ZerosLike, data)));
    return tw__grad_status(g);
}

static tw_status mean_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *data = g->inputs[0], *ids = g->inputs[1];
    if (!g->output_grads[0] || !g->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *number = TW_CALL(SegmentSum, TW_TEMP(OnesLike, data), ids);
    tw_auto tw_tensor *one = number ? tw__grad_constant(1, number) : NULL;
    tw_auto tw_tensor *shared = TW_CALL(RealDiv, g->output_grads[0], TW_TEMP(Maximum, number, one));
    tw__grad_set(g, 0, rows_of(shared, ids));
    return tw__grad_status(g);
}

/* The product of the other rows: by division, but where the row is zero. */
static tw_status product_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *data = g->inputs[0], *ids = g->inputs[1], *dy = g->output_grads[0];
    if (!dy || !g->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *none = tw__grad_constant(0, data), *zero = TW_CALL(Equal, data, none);
    tw_auto tw_tensor *ones = TW_CALL(Cast, zero, TW_A_TYPE("DstT", TW_INT32));
    tw_auto tw_tensor *filled = TW_CALL(SelectV2, zero, TW_TEMP(OnesLike, data), data);
    if (!ones || !filled)
        return tw__error_status();
    tw_auto tw_tensor *zeros = TW_CALL(SegmentSum, ones, ids), *rest = TW_CALL(SegmentProd, filled, ids);
    tw_auto tw_tensor *kept = TW_CALL(SelectV2, TW_TEMP(Greater, zeros, 1), TW_TEMP(ZerosLike, dy), dy);
    tw_tensor *others = TW_TEMP(SelectV2, zero, tw__temp(t, rows_of(rest, ids)),
                                TW_TEMP(RealDiv, tw__temp(t, rows_of(g->outputs[0], ids)), data));
    tw__grad_set(g, 0, TW_CALL(Mul, tw__temp(t, rows_of(kept, ids)), others));
    return tw__grad_status(g);
}

#define SORTED                                                                                             \
    .inputs = "data: T, segment_ids: Tindices", .outputs = "output: T", .shape = tw__sorted_segment_shape, \
    .compute = sorted_compute
#define IDS "Tindices: {int32, int64}"

TW_OP(SegmentMax, SORTED, .attrs = "T: {" REALS "}, " IDS, .gradient = extreme_gradient,
      .function = "math.segment_max|compat.v1.segment_max(data: tensor, segment_ids: tensor<int32>, "
                  "name: str = None) -> tensor",
      .doc = "The greatest of the rows of each segment; the ids do not decrease.\n"
             "data: the rows");
TW_OP(SegmentMin, SORTED, .attrs = "T: {" REALS "}, " IDS, .gradient = extreme_gradient,
      .function = "math.segment_min|compat.v1.segment_min(data: tensor, segment_ids: tensor<int32>, "
                  "name: str = None) -> tensor",
      .doc = "The least of the rows of each segment; the ids do not decrease.\n"
             "data: the rows");
TW_OP(SegmentProd, SORTED, .attrs = "T: {" NUMBERS "}, " IDS, .gradient = product_gradient,
      .function = "math.segment_prod|compat.v1.segment_prod(data: tensor, segment_ids: tensor<int32>, "
                  "name: str = None) -> tensor",
      .doc = "Products of the rows of each segment; the ids do not decrease.\n"
             "data: the rows");
TW_OP(SegmentMean, SORTED, .attrs = "T: {" NUMBERS "}, " IDS, .gradient = mean_gradient,
      .function = "math.segment_mean|compat.v1.segment_mean(data: tensor, segment_ids: tensor<int32>, "
                  "name: str = None) -> tensor",
      .doc = "Means of the rows of each segment; the ids do not decrease.\n"
             "data: the rows");
