/* QuantizeV2 and Dequantize: floats of a range as small integers, and back. */
#include <math.h>

#include "op/nn/wide.h"
#include "rows.h"

/* What a dtype can hold. */
typedef struct steps {
    double least, most;
    bool is_signed;
} steps;

static steps steps_of(tw_dtype dtype)
{
    switch (dtype) {
    case TW_QINT8:
        return (steps){ INT8_MIN, INT8_MAX, true };
    case TW_QUINT8:
        return (steps){ 0, UINT8_MAX, false };
    case TW_QINT16:
        return (steps){ INT16_MIN, INT16_MAX, true };
    case TW_QUINT16:
        return (steps){ 0, UINT16_MAX, false };
    default:
        return (steps){ INT32_MIN, INT32_MAX, true };
    }
}

static tw_dtype plain(tw_dtype dtype)
{
    return dtype == TW_QINT8     ? TW_INT8
           : dtype == TW_QUINT8  ? TW_UINT8
           : dtype == TW_QINT16  ? TW_INT16
           : dtype == TW_QUINT16 ? TW_UINT16
                                 : TW_INT32;
}

static char mode_of(const tw__kernel *kernel)
{
    tw_string mode = TW_ATTR(kernel, "mode")->s;
    return mode.data[0] == 'S' ? 'S' : mode.data[4] == 'C' ? 'C' : 'F'; /* SCALED, MIN_COMBINED, MIN_FIRST */
}

/* ---- ranges along an axis ---- */

typedef struct slices {
    int64_t count, inner;
} slices;

static tw_status read_slices(const tw_op *op, const tw_attr *attrs, const tw_shape *shape, slices *s)
{
    int64_t axis = tw__attr_find(op, attrs, "axis")->i;
    *s = (slices){ 1, 1 };
    if (axis < -1)
        return tw__fail_op(op->name, TW_INVALID_ARGUMENT, "axis should be at least -1, got %lld", (long long)axis);
    if (axis >= 0 && shape->rank < 0)
        s->count = -1;
    if (axis == -1 || shape->rank < 0)
        return TW_OK;
    if (axis >= shape->rank)
        return tw__fail_op(op->name, TW_INVALID_ARGUMENT, "Axis must be less than input dimension(%d), got %lld", shape->rank,
                           (long long)axis);
    s->count = shape->dims[axis];
    for (int i = (int)axis + 1; i < shape->rank; i++)
        s->inner *= shape->dims[i] < 0 ? 1 : shape->dims[i];
    return TW_OK;
}

static tw_status quantized_shape(tw__inference *inference)
{
    slices s;
    TW_TRY(read_slices(inference->op, inference->attrs, inference->shapes[0], &s));
    bool one = TW_ATTR(inference, "axis")->i == -1;
    for (int i = 1; i < 3; i++) {
        const tw_shape *range = inference->shapes[i];
        int64_t count = range->rank == 0 ? 1 : range->rank == 1 ? range->dims[0] : -1;
        if (range->rank > 1 || (range->rank >= 0 && count >= 0 && s.count >= 0 && count != s.count))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "%s has shape %s, expected %lld elements",
                              i == 1 ? "min_range" : "max_range", tw__shape_text(range), (long long)s.count);
        if (inference->output_count == 3)
            inference->out_shapes[i] = one ? TW_SCALAR : TW_SHAPE(s.count);
    }
    inference->out_shapes[0] = *inference->shapes[0];
    return TW_OK;
}

/* ---- QuantizeV2 ---- */

/* The range that is used: 0 lies in it, and it is not too narrow. */
static tw_status widen(tw__kernel *kernel, float *low, float *high)
{
    float least = (float)TW_ATTR(kernel, "ensure_minimum_range")->f, min = *low, max = *high;
    if (min > max)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "input_max_range must be larger than input_min_range.");
    float epsilon = fmaxf(1.0f, fmaxf(fabsf(min), fabsf(max))) * least;
    *low = fminf(0.0f, min);
    *high = fmaxf(0.0f, fmaxf(max, *low + epsilon));
    return TW_OK;
}

typedef struct quantizer {
    steps steps;
    char mode;
    bool half_even;
    float low, high, factor, shift;
} quantizer;

static void prepare(tw__kernel *kernel, quantizer *q)
{
    double span = q->steps.most - q->steps.least;
    if (q->mode == 'S') {
        float least = (float)(q->steps.least + TW_ATTR(kernel, "narrow_range")->b), most = (float)q->steps.most;
        float by_low = least * q->low > 0 ? least / q->low : 3.402823466e+38f,
              by_high = most * q->high > 0 ? most / q->high : 3.402823466e+38f;
        q->factor = by_low < by_high ? by_low : by_high;
        q->low = least / q->factor;
        q->high = most / q->factor;
    } else if (q->mode == 'C') {
        q->factor = (float)(span / (double)(q->high - q->low));
        q->shift = q->steps.is_signed ? (float)((span + 1) / 2) : 0;
    } else {
        q->factor = q->high == q->low ? 0 : (float)(span / (double)(q->high - q->low));
        q->shift = roundf(q->low * q->factor) - (float)q->steps.least;
    }
}

static double quantize(const quantizer *q, float x)
{
    if (q->mode == 'F') {
        double value = (double)(roundf(x * q->factor) - q->shift);
        return value < q->steps.least ? q->steps.least : value > q->steps.most ? q->steps.most : value;
    }
    float clamped = fmaxf(q->low, fminf(q->high, x));
    if (q->mode == 'S')
        return q->half_even ? rintf(clamped * q->factor) : roundf(clamped * q->factor);
    float scaled = (clamped - q->low) * q->factor;
    return q->steps.is_signed ? roundf(scaled - q->shift) : floorf(scaled + 0.5f);
}

static tw_status quantize_compute(tw__kernel *kernel)
{
    const tw_tensor *input = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    slices s;
    TW_TRY(read_slices(kernel->op, kernel->attrs, &input->shape, &s));
    quantizer base = { .steps = steps_of(out->dtype),
                       .mode = mode_of(kernel),
                       .half_even = TW_ATTR(kernel, "round_mode")->s.data[5] == 'T' };
    if (base.half_even && base.mode != 'S')
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Round mode HALF_TO_EVEN only supported for mode SCALED");
    tw__owned quantizer *of = tw__alloc_array((size_t)s.count + 1, sizeof *of);
    tw__owned double *values = tw__wide_new(input->count);
    if (!of || !values)
        return tw__error_status();
    for (int64_t i = 0; i < s.count; i++) {
        of[i] = base;
        of[i].low = ((const float *)kernel->inputs[1]->data)[i];
        of[i].high = ((const float *)kernel->inputs[2]->data)[i];
        TW_TRY(widen(kernel, &of[i].low, &of[i].high));
        prepare(kernel, &of[i]);
        ((float *)kernel->outputs[1]->data)[i] = of[i].low;
        ((float *)kernel->outputs[2]->data)[i] = of[i].high;
    }
    for (int64_t i = 0; i < input->count; i++) {
        double value = quantize(&of[i / s.inner % s.count], ((const float *)input->data)[i]);
        values[i] = value != value || value < base.steps.least ? base.steps.least
                    : value > base.steps.most                  ? base.steps.most
                                                               : value;
    }
    if (input->count)
        tw__cast_run(TW_FLOAT64, plain(out->dtype), values, out->data, input->count, false);
    return TW_OK;
}

#define QUANTIZED "T: {qint8, quint8, qint32, qint16, quint16}"
#define MODES ", mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED', "

TW_OP(QuantizeV2, .no_gradient = true, .inputs = "input: float, min_range: float, max_range: float",
      .outputs = "output: T, output_min: float, output_max: float",
      .attrs = QUANTIZED MODES "round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO', "
                               "narrow_range: bool = false, axis: int = -1, ensure_minimum_range: float = 0.01",
      .shape = quantized_shape, .compute = quantize_compute,
      .doc = "Floats of a range as small integers, and the range they stand for.");

/* ---- Dequantize ---- */

static float dequantize(const steps *s, char mode, bool narrow, float low, float high, float x)
{
    double span = s->most - s->least;
    if (mode == 'S') {
        float by_high = high / (float)s->most;
        return x * (s->is_signed ? fmaxf(low / (float)(s->least + narrow), by_high) : by_high);
    }
    if (mode == 'C')
        return (x + (s->is_signed ? (float)((span + 1) / 2) : 0)) * (float)((double)(high - low) / span) + low;
    float scale = (float)((double)(high - low) / span);
    return (x - (float)s->least) * scale + (high == low ? low : roundf(low / scale) * scale);
}

static tw_status dequantize_compute(tw__kernel *kernel)
{
    const tw_tensor *input = kernel->inputs[0];
    slices s;
    TW_TRY(read_slices(kernel->op, kernel->attrs, &input->shape, &s));
    steps of = steps_of(input->dtype);
    tw__owned double *values = tw__wide_new(input->count);
    if (!values)
        return tw__error_status();
    if (input->count)
        tw__cast_run(plain(input->dtype), TW_FLOAT64, input->data, values, input->count, false);
    for (int64_t i = 0; i < input->count; i++) {
        int64_t at = i / s.inner % s.count;
        values[i] =
            dequantize(&of, mode_of(kernel), TW_ATTR(kernel, "narrow_range")->b, ((const float *)kernel->inputs[1]->data)[at],
                       ((const float *)kernel->inputs[2]->data)[at], (float)values[i]);
    }
    tw__wide_write(kernel->outputs[0], values);
    return TW_OK;
}

TW_OP(Dequantize, .no_gradient = true, .inputs = "input: T, min_range: float, max_range: float", .outputs = "output: dtype",
      .attrs = QUANTIZED MODES "narrow_range: bool = false, axis: int = -1, dtype: {bfloat16, float} = float",
      .shape = quantized_shape, .compute = dequantize_compute,
      .doc = "Small integers as the floats of a range that they stand for.");
