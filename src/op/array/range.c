/* Numbers in a row: Range and LinSpace. */
#include <math.h>

#include "op/array/array.h"
#include "rows.h"

/* How many numbers there are, checked. */
static tw_status range_count(tw_tensor *const *values, int64_t *count)
{
    tw_dtype dtype = values[0]->dtype;
    static const char *const names[] = { "start", "limit", "delta" };
    for (int i = 0; i < 3; i++) {
        if (values[i]->count != 1)
            return tw__fail(TW_INVALID_ARGUMENT, "%s must be a scalar, not shape %s", names[i],
                            tw__shape_text(&values[i]->shape));
    }
    if (tw__dtype_is_integer(dtype)) {
        int64_t start = tw_tensor_int_at(values[0], 0), limit = tw_tensor_int_at(values[1], 0),
                delta = tw_tensor_int_at(values[2], 0);
        if (delta == 0)
            return tw__fail(TW_INVALID_ARGUMENT, "Requires delta != 0: 0");
        if (delta > 0 ? start > limit : start < limit)
            return tw__fail(TW_INVALID_ARGUMENT, "Requires start %s limit when delta %s 0: %lld/%lld",
                            delta > 0 ? "<=" : ">=", delta > 0 ? ">" : "<", (long long)start, (long long)limit);
        uint64_t distance = delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
        uint64_t step = delta > 0 ? (uint64_t)delta : -(uint64_t)delta, steps = distance / step + (distance % step != 0);
        if (steps > INT64_MAX)
            return tw__fail(TW_INVALID_ARGUMENT, "Requires ((limit - start) / delta) <= 9223372036854775807");
        *count = (int64_t)steps;
        return TW_OK;
    }
    double start = tw_tensor_double_at(values[0], 0), limit = tw_tensor_double_at(values[1], 0),
           delta = tw_tensor_double_at(values[2], 0);
    if (delta == 0)
        return tw__fail(TW_INVALID_ARGUMENT, "Requires delta != 0: 0");
    if (!(delta > 0 ? start <= limit : start >= limit))
        return tw__fail(TW_INVALID_ARGUMENT, "Requires start %s limit when delta %s 0: %g/%g",
                        delta > 0 ? "<=" : ">=", delta > 0 ? ">" : "<", start, limit);
    /* In the dtype's own arithmetic: float32's quotient may round up where double's does not. */
    double steps = dtype == TW_FLOAT64   ? ceil(fabs((limit - start) / delta))
                   : dtype == TW_FLOAT32 ? ceilf(fabsf(((float)limit - (float)start) / (float)delta))
                   : dtype == TW_FLOAT16
                       ? ceilf(fabsf(tw__half_to_float(tw__float_to_half(
                             tw__half_to_float(tw__float_to_half((float)limit - (float)start)) / (float)delta))))
                       : ceilf(fabsf(tw__bfloat16_to_float(tw__float_to_bfloat16(
                             tw__bfloat16_to_float(tw__float_to_bfloat16((float)limit - (float)start)) / (float)delta))));
    if (!(steps < 9.2e18))
        return tw__fail(TW_INVALID_ARGUMENT, "Requires ((limit - start) / delta) <= 9223372036854775807");
    *count = (int64_t)steps;
    return TW_OK;
}

static tw_status range_shape(tw__inference *inference)
{
    int64_t count = -1;
    if (inference->values[0] && inference->values[1] && inference->values[2])
        TW_TRY(range_count(inference->values, &count));
    inference->out_shapes[0] = TW_SHAPE(count);
    return TW_OK;
}

#define FILL_FLOATS(type, work, load, store)                                                \
    do {                                                                                    \
        work value = load(*(const type *)kernel->inputs[0]->data);                          \
        work delta = load(*(const type *)kernel->inputs[2]->data);                          \
        for (int64_t i = 0; i < out->count; i++) {                                          \
            ((type *)out->data)[i] = store(value);                                          \
            value = load(((type *)out->data)[i]) + delta; /* adds up, as TensorFlow does */ \
        }                                                                                   \
    } while (0)
#define SAME(x) (x)

static tw_status range_compute(tw__kernel *kernel)
{
    tw_tensor *out = kernel->outputs[0];
    switch (out->dtype) {
    case TW_FLOAT32:
        FILL_FLOATS(float, float, SAME, SAME);
        return TW_OK;
    case TW_FLOAT64:
        FILL_FLOATS(double, double, SAME, SAME);
        return TW_OK;
    case TW_FLOAT16:
        FILL_FLOATS(uint16_t, float, tw__half_to_float, tw__float_to_half);
        return TW_OK;
    case TW_BFLOAT16:
        FILL_FLOATS(uint16_t, float, tw__bfloat16_to_float, tw__float_to_bfloat16);
        return TW_OK;
    default:
        break;
    }
    uint64_t value = (uint64_t)tw_tensor_int_at(kernel->inputs[0], 0), delta = (uint64_t)tw_tensor_int_at(kernel->inputs[2], 0);
#define FILL_WHOLE(type)                                                              \
    do {                                                                              \
        type first = (type)value, step = (type)delta;                                 \
        for (int64_t i = 0; i < out->count; i++)                                      \
            ((type *)out->data)[i] = (type)(first + (type)i * step); /* goes round */ \
    } while (0)
    switch (tw__element_size(out->dtype)) {
    case 1:
        for (int64_t i = 0; i < out->count; i++, value += delta)
            ((uint8_t *)out->data)[i] = (uint8_t)value;
        break;
    case 2:
        for (int64_t i = 0; i < out->count; i++, value += delta)
            ((uint16_t *)out->data)[i] = (uint16_t)value;
        break;
    case 4:
        FILL_WHOLE(uint32_t);
        break;
    default:
        FILL_WHOLE(uint64_t);
    }
    return TW_OK;
}

TW_OP(Range, .inputs = "start: Tidx, limit: Tidx, delta: Tidx", .outputs = "output: Tidx",
      .attrs = "Tidx: {bfloat16, half, float, double, int8, int16, int32, int64, uint16, uint32} = int32", .shape = range_shape,
      .compute = range_compute, .node_name = "range", .static_value = true, .doc = "start, start + delta, … before limit.");

/* ---- LinSpace ---- */

static tw_status linear_shape(tw__inference *inference)
{
    static const char *const names[] = { "start", "stop", "num" };
    int64_t count = -1;
    for (int i = 0; i < 3; i++) {
        if (inference->shapes[i]->rank > 0)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "%s must be a scalar, not shape %s", names[i],
                              tw__shape_text(inference->shapes[i]));
    }
    if (inference->values[2]) {
        count = tw_tensor_int_at(inference->values[2], 0);
        if (count <= 0)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Requires num > 0: %lld", (long long)count);
    }
    inference->out_shapes[0] = TW_SHAPE(count);
    return TW_OK;
}

#define FILL_LINE(type, work, load, store)                                                                              \
    do {                                                                                                                \
        work start = load(*(const type *)kernel->inputs[0]->data), stop = load(*(const type *)kernel->inputs[1]->data); \
        work step = n > 1 ? (stop - start) / (work)(n - 1) : 0;                                                         \
        for (int64_t i = 0; i < n; i++)                                                                                 \
            ((type *)out->data)[i] = i && i == n - 1 ? store(stop) : store(start + step * (work)i);                     \
    } while (0)

static tw_status linear_compute(tw__kernel *kernel)
{
    tw_tensor *out = kernel->outputs[0];
    int64_t n = out->count;
    if (out->dtype == TW_FLOAT32)
        FILL_LINE(float, float, SAME, SAME);
    else if (out->dtype == TW_FLOAT64)
        FILL_LINE(double, double, SAME, SAME);
    else if (out->dtype == TW_FLOAT16)
        FILL_LINE(uint16_t, float, tw__half_to_float, tw__float_to_half);
    else
        FILL_LINE(uint16_t, float, tw__bfloat16_to_float, tw__float_to_bfloat16);
    return TW_OK;
}

TW_OP(LinSpace, .inputs = "start: T, stop: T, num: Tidx", .outputs = "output: T",
      .attrs = "T: {bfloat16, half, float, double}, Tidx: {int32, int64} = int32", .shape = linear_shape,
      .compute = linear_compute, .doc = "num numbers from start to stop at equal distances.");
