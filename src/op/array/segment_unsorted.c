/* UnsortedSegmentSum, UnsortedSegmentMax, UnsortedSegmentMin, UnsortedSegmentProd: rows combined by segment; rows with negative
 * ids belong nowhere. */
#include <float.h>

#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

#define REALS "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64"
#define NUMBERS                                                                                                              \
    "float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16, " \
    "complex128, half, uint32, uint64"

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
    TW_TEMPS(t);
    tw_tensor *more = TW_TEMP(Sub, TW_TEMP(Rank, data), TW_TEMP(Rank, ids));
    tw_tensor *ones = TW_TEMP(Fill, TW_TEMP(Reshape, more, tw__temp_ints(t, (const int64_t[]){ 1 }, 1, TW_INT32)), 1);
    return TW_CALL(ConcatV2, TW_TEMP(Shape, ids), ones, 0);
}

/* Each row gets its segment's gradient; rows with negative ids get zeros. */
static tw_status unsorted_gradient(tw__gradient *gradient)
{
    tw_tensor *data = gradient->inputs[0], *ids = gradient->inputs[1], *dy = gradient->output_grads[0];
    if (!dy || !gradient->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *zero = tw_tensor_int(0), *none = TW_CALL(ZerosLike, ids);
    tw_auto tw_tensor *inside = TW_CALL(Maximum, ids, none);
    tw_auto tw_tensor *rows = TW_CALL(GatherV2, dy, inside, zero);
    tw_auto tw_tensor *counts = rows ? TW_CALL(GreaterEqual, ids, none) : NULL;
    if (!counts)
        return tw__error_status();
    tw_shape wide = { .rank = data->shape.rank };
    for (int i = 0; i < wide.rank; i++)
        wide.dims[i] = i < ids->shape.rank ? ids->shape.dims[i] : 1;
    bool known = tw__shape_known(&ids->shape) && wide.rank >= 0;
    tw_auto tw_tensor *shape = known ? tw__tensor_of_shape(&wide, TW_INT64) : tw__ids_shape_later(data, ids);
    tw_auto tw_tensor *mask = TW_CALL(Reshape, counts, shape);
    tw_auto tw_tensor *zeros = mask ? TW_CALL(ZerosLike, rows) : NULL;
    gradient->input_grads[0] = TW_CALL(SelectV2, mask, rows, zeros);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(
    UnsortedSegmentSum, .inputs = "data: T, segment_ids: Tindices, num_segments: Tnumsegments", .outputs = "output: T",
    .attrs = "T: {" REALS ", complex64, complex128}, Tindices: {int16, int32, int64}, Tnumsegments: {int32, int64} = int32",
    .shape = unsorted_shape, .compute = unsorted_compute, .gradient = unsorted_gradient,
    .function =
        "math.unsorted_segment_sum|compat.v1.unsorted_segment_sum(data: tensor, segment_ids: tensor<int32>, num_segments: tensor<int32>, "
        "name: str = None) -> tensor",
    .doc = "Sums of the rows of each segment.\n"
           "data: the rows\n"
           "segment_ids: for each row the number of its segment, in any order; rows with a negative one do not count\n"
           "example: tf.math.unsorted_segment_sum([1, 2, 3], [1, 0, 1], 2).numpy().tolist()  # [2, 4]");

/* ---- the others ---- */

/* What segments without rows have: the least or greatest number of the dtype, or one. */
static tw_status first_value(tw_dtype dtype, tw__combination kind, void *place)
{
    bool most = kind == TW__COMBINE_MIN, one = kind == TW__COMBINE_MUL;
    size_t size = tw__element_size(dtype);
    memset(place, 0, 16);
    if (tw__dtype_is_integer(dtype)) {
        bool is_signed = dtype == TW_INT8 || dtype == TW_INT16 || dtype == TW_INT32 || dtype == TW_INT64;
        uint64_t high = is_signed   ? (UINT64_C(1) << (8 * size - 1)) - 1
                        : size == 8 ? UINT64_MAX
                                    : (UINT64_C(1) << (8 * size)) - 1;
        uint64_t bits = one ? 1 : most ? high : is_signed ? high + 1 : 0;
        memcpy(place, &bits, size); /* the low bytes */
        return TW_OK;
    }
    double value = one ? 1 : most ? DBL_MAX : -DBL_MAX;
    switch (dtype) {
    case TW_FLOAT64:
        *(double *)place = value;
        return TW_OK;
    case TW_FLOAT32:
        *(float *)place = one ? 1 : most ? FLT_MAX : -FLT_MAX;
        return TW_OK;
    case TW_FLOAT16:
        *(uint16_t *)place = tw__float_to_half(one ? 1 : most ? 65504 : -65504);
        return TW_OK;
    case TW_BFLOAT16:
        *(uint16_t *)place = one ? tw__float_to_bfloat16(1) : most ? 0x7f7f : 0xff7f;
        return TW_OK;
    case TW_COMPLEX64:
        *(float *)place = 1;
        return TW_OK;
    case TW_COMPLEX128:
        *(double *)place = 1;
        return TW_OK;
    default:
        return tw__fail(TW_UNIMPLEMENTED, "segments of dtype %s are not supported", tw_dtype_name(dtype));
    }
}

static tw_status combine(tw__kernel *kernel, tw__combination kind)
{
    const tw_tensor *data = kernel->inputs[0], *ids = kernel->inputs[1];
    tw_tensor *out = kernel->outputs[0];
    int64_t segments = out->shape.dims[0], inner = 1;
    size_t size = tw__element_size(out->dtype);
    _Alignas(16) char first[16];
    for (int i = 1; i < out->shape.rank; i++)
        inner *= out->shape.dims[i];
    TW_TRY(first_value(out->dtype, kind, first));
    TW_TRY(tw__fill_elements(out->dtype, out->data, first, out->count));
    for (int64_t i = 0; i < ids->count; i++) {
        int64_t id = tw_tensor_int_at(ids, i);
        if (id < 0)
            continue;
        if (id >= segments)
            return tw__fail(TW_INVALID_ARGUMENT, "segment_ids[%lld] = %lld is out of range [0, %lld)", (long long)i,
                            (long long)id, (long long)segments);
        TW_TRY(tw__combine_elements(kind, out->dtype, (char *)out->data + (size_t)(id * inner) * size,
                                    (const char *)data->data + (size_t)(i * inner) * size, inner));
    }
    return TW_OK;
}

static tw_status max_compute(tw__kernel *kernel)
{
    return combine(kernel, TW__COMBINE_MAX);
}

static tw_status min_compute(tw__kernel *kernel)
{
    return combine(kernel, TW__COMBINE_MIN);
}

static tw_status product_compute(tw__kernel *kernel)
{
    return combine(kernel, TW__COMBINE_MUL);
}

/* ---- gradients ---- */

/* What the segment of each row has; anything for negative ids. */
static tw_tensor *at_rows(tw_tensor *segments, tw_tensor *ids)
{
    tw_auto tw_tensor *zero = tw_tensor_int(0), *none = segments ? TW_CALL(ZerosLike, ids) : NULL,
                      *inside = TW_CALL(Maximum, ids, none);
    return TW_CALL(GatherV2, segments, inside, zero);
}

/* x where the row belongs to a segment, else zero; takes x. */
static tw_tensor *only_inside(tw_tensor *x, tw_tensor *ids)
{
    tw_auto tw_tensor *given = x, *none = given ? TW_CALL(ZerosLike, ids) : NULL, *inside = TW_CALL(GreaterEqual, ids, none);
    tw_auto tw_tensor *zeros = inside ? TW_CALL(ZerosLike, given) : NULL, *shape = zeros ? tw__ids_shape_later(given, ids) : NULL;
    tw_auto tw_tensor *mask = TW_CALL(Reshape, inside, shape);
    return TW_CALL(SelectV2, mask, given, zeros);
}

/* Shared among the rows that have the segment's value. */
static tw_status extreme_gradient(tw__gradient *g)
{
    tw_tensor *data = g->inputs[0], *ids = g->inputs[1];
    if (!g->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *found = at_rows(g->outputs[0], ids), *same = TW_CALL(Equal, data, found);
    tw_auto tw_tensor *numbers = TW_CALL(Cast, same, TW_A_TYPE("DstT", data->dtype));
    tw_auto tw_tensor *counts = TW_CALL(UnsortedSegmentSum, numbers, ids, g->inputs[2]);
    tw_auto tw_tensor *shares = TW_CALL(RealDiv, g->output_grads[0], counts), *rows = shares ? at_rows(shares, ids) : NULL;
    tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, rows);
    tw_tensor *chosen = TW_CALL(SelectV2, same, rows, zeros);
    g->input_grads[0] = only_inside(chosen, ids);
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

/* The product of the others: the whole by the element; where the element is zero, the product of those that are not, unless there
 * are two zeros. */
static tw_status product_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *data = g->inputs[0], *ids = g->inputs[1], *count = g->inputs[2], *dy = g->output_grads[0];
    if (!g->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, data), *ones = zeros ? TW_CALL(OnesLike, data) : NULL;
    tw_auto tw_tensor *is_zero = ones ? TW_CALL(Equal, data, zeros) : NULL;
    tw_auto tw_tensor *numbers = TW_CALL(Cast, is_zero, TW_A_TYPE("DstT", TW_INT32));
    tw_auto tw_tensor *zero_counts = TW_CALL(UnsortedSegmentSum, numbers, ids, count);
    tw_auto tw_tensor *one = tw_tensor_int(1), *many = TW_CALL(Greater, zero_counts, one);
    tw_auto tw_tensor *no_gradient = many ? TW_CALL(ZerosLike, dy) : NULL;
    tw_auto tw_tensor *used = TW_CALL(SelectV2, many, no_gradient, dy);
    tw_auto tw_tensor *others = used ? TW_CALL(SelectV2, is_zero, ones, data) : NULL;
    tw_auto tw_tensor *products = TW_CALL(UnsortedSegmentProd, others, ids, count);
    tw_auto tw_tensor *whole = products ? at_rows(g->outputs[0], ids) : NULL, *without = whole ? at_rows(products, ids) : NULL;
    tw_auto tw_tensor *divided = without ? TW_CALL(RealDiv, whole, others) : NULL;
    tw_auto tw_tensor *partial = TW_CALL(SelectV2, is_zero, without, divided);
    tw_tensor *rows = TW_CALL(Mul, tw__temp(t, at_rows(used, ids)), partial);
    g->input_grads[0] = only_inside(rows, ids);
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

#define ROW \
    .inputs = "data: T, segment_ids: Tindices, num_segments: Tnumsegments", .outputs = "output: T", .shape = unsorted_shape
#define IDS "Tindices: {int32, int64}, Tnumsegments: {int32, int64} = int32"

TW_OP(
    UnsortedSegmentMax, ROW, .attrs = "T: {" REALS "}, " IDS, .compute = max_compute, .gradient = extreme_gradient,
    .function =
        "math.unsorted_segment_max|compat.v1.unsorted_segment_max(data: tensor, segment_ids: tensor<int32>, num_segments: tensor<int32>, "
        "name: str = None) -> tensor",
    .doc = "The greatest of the rows of each segment, element by element.\n"
           "data: the rows\n"
           "segment_ids: for each row the number of its segment, in any order; rows with a negative one do not count");

TW_OP(
    UnsortedSegmentMin, ROW, .attrs = "T: {" REALS "}, " IDS, .compute = min_compute, .gradient = extreme_gradient,
    .function =
        "math.unsorted_segment_min|compat.v1.unsorted_segment_min(data: tensor, segment_ids: tensor<int32>, num_segments: tensor<int32>, "
        "name: str = None) -> tensor",
    .doc = "The least of the rows of each segment, element by element.\n"
           "data: the rows\n"
           "segment_ids: for each row the number of its segment, in any order; rows with a negative one do not count");

TW_OP(
    UnsortedSegmentProd, ROW, .attrs = "T: {" NUMBERS "}, " IDS, .compute = product_compute, .gradient = product_gradient,
    .function =
        "math.unsorted_segment_prod|compat.v1.unsorted_segment_prod(data: tensor, segment_ids: tensor<int32>, num_segments: tensor<int32>, "
        "name: str = None) -> tensor",
    .doc = "The products of the rows of each segment.\n"
           "data: the rows\n"
           "segment_ids: for each row the number of its segment, in any order; rows with a negative one do not count");
