/* QuantizeAndDequantize: numbers rounded to what integers of num_bits can tell apart; and the gradient of its fourth form. */
#include <math.h>

#include "op/array/array.h"
#include "op/gradient.h"
#include "op/nn/wide.h"
#include "rows.h"

typedef struct scale {
    double low, high, factor, inverse;
} scale;

/* Float arithmetic where the tensor is one of floats: what lies half way rounds as TensorFlow's does. */
static double as(bool single, double x)
{
    return single ? (double)(float)x : x;
}

/* The range widened on one side, so that 0 is one of the steps. */
static scale scale_of(bool single, double low, double high, int64_t bits, bool is_signed, bool narrow)
{
    double least = !is_signed ? 0 : (double)(narrow - ((int64_t)1 << (bits - 1)));
    double most = (double)(is_signed ? ((int64_t)1 << (bits - 1)) - 1 : ((int64_t)1 << bits) - 1);
    double huge = single ? 3.402823466e+38 : 1.7976931348623157e308;
    double by_low = least * low > 0 ? as(single, least / low) : huge, by_high = most * high > 0 ? as(single, most / high) : huge;
    scale s = { low, high, by_high, as(single, high / most) };
    if (by_low < by_high) {
        s.factor = by_low;
        s.inverse = as(single, low / least);
        s.high = as(single, most * s.inverse);
    } else {
        s.low = as(single, least * s.inverse);
    }
    return s;
}

/* ---- ranges by slices along an axis ---- */

typedef struct slices {
    int64_t count, inner; /* slice of element i: i / inner % count */
} slices;

static tw_status read_slices(const tw_op *op, const tw_attr *attrs, const tw_shape *shape, slices *s)
{
    int64_t axis = tw__attr_find(op, attrs, "axis")->i;
    *s = (slices){ 1, 1 };
    if (axis < -1)
        return tw__fail_op(op->name, TW_INVALID_ARGUMENT, "axis should be at least -1, got %lld", (long long)axis);
    if (shape->rank < 0 && axis >= 0)
        s->count = -1;
    if (shape->rank < 0 || axis == -1)
        return TW_OK;
    if (axis >= shape->rank)
        return tw__fail_op(op->name, TW_INVALID_ARGUMENT, "Axis should be less than the number of dimensions: %lld, got shape %s",
                           (long long)axis, tw__shape_text(shape));
    s->count = shape->dims[axis];
    for (int i = (int)axis + 1; i < shape->rank; i++)
        s->inner *= shape->dims[i] >= 0 ? shape->dims[i] : 1;
    return TW_OK;
}

static tw_status both_shape(tw__inference *inference)
{
    slices s;
    bool back = inference->op == &tw__op_QuantizeAndDequantizeV4Grad;
    const tw_shape *x = inference->shapes[back ? 1 : 0];
    TW_TRY(read_slices(inference->op, inference->attrs, x, &s));
    inference->out_shapes[0] = *x;
    if (back && !tw__shape_compatible(inference->shapes[0], x))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "gradient and input must be the same size");
    for (int i = 1; i < 3; i++) {
        const tw_shape *limit = inference->shapes[i + back];
        if (limit->rank > 1 || (limit->rank == 1 && limit->dims[0] >= 0 && s.count >= 0 && limit->dims[0] != s.count))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                              "%s has shape %s, expected one number, or one for each of %lld slices",
                              i == 1 ? "input_min" : "input_max", tw__shape_text(limit), (long long)s.count);
        if (back)
            inference->out_shapes[i] = *limit;
    }
    return TW_OK;
}

/* ---- forward ---- */

static tw_status read_bits(const tw__kernel *kernel, int64_t *bits)
{
    bool is_signed = TW_ATTR(kernel, "signed_input")->b;
    if (kernel->op == &tw__op_QuantizeAndDequantizeV3) {
        if (kernel->inputs[3]->count != 1)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "num_bits must have one element");
        *bits = *(const int32_t *)kernel->inputs[3]->data;
    } else {
        *bits = TW_ATTR(kernel, "num_bits")->i;
    }
    if (*bits <= 0 || *bits >= (is_signed ? 62 : 63))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "num_bits is out of range: %lld with signed_input_ %d", (long long)*bits,
                          is_signed);
    return TW_OK;
}

/* The ranges of all slices: as given, or the least and greatest values. */
static tw_status read_ranges(const tw__kernel *kernel, const slices *s, const double *x, double *low, double *high)
{
    if (!TW_ATTR(kernel, "range_given")->b) {
        for (int64_t i = 0; i < kernel->inputs[0]->count; i++) {
            int64_t at = i / s->inner % s->count;
            low[at] = x[i] < low[at] ? x[i] : low[at];
            high[at] = x[i] > high[at] ? x[i] : high[at];
        }
        return TW_OK;
    }
    tw__owned double *lows = tw__wide_read(kernel->inputs[1]), *highs = tw__wide_read(kernel->inputs[2]);
    if (!lows || !highs)
        return tw__error_status();
    for (int64_t i = 0; i < s->count; i++) {
        low[i] = lows[kernel->inputs[1]->count > 1 ? i : 0];
        high[i] = highs[kernel->inputs[2]->count > 1 ? i : 0];
        if (low[i] > high[i])
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Invalid range: input_min %g > input_max %g", low[i], high[i]);
    }
    return TW_OK;
}

static tw_status both_compute(tw__kernel *kernel)
{
    const tw_tensor *input = kernel->inputs[0];
    bool single = input->dtype != TW_FLOAT64, given = TW_ATTR(kernel, "range_given")->b, half_up = false,
         narrow = TW_ATTR(kernel, "narrow_range")->b;
    int64_t bits = 0;
    slices s;
    TW_TRY(read_bits(kernel, &bits));
    TW_TRY(read_slices(kernel->op, kernel->attrs, &input->shape, &s));
    if (kernel->op != &tw__op_QuantizeAndDequantizeV3)
        half_up = strncmp(TW_ATTR(kernel, "round_mode")->s.data, "HALF_UP", 7) == 0;
    tw__owned double *x = tw__wide_read(input), *low = tw__wide_new(s.count), *high = tw__wide_new(s.count);
    tw__owned scale *scales = tw__alloc_array((size_t)s.count + 1, sizeof *scales);
    if (!x || !low || !high || !scales)
        return tw__error_status();
    for (int64_t i = 0; i < s.count && !given; i++) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
    }
    TW_TRY(read_ranges(kernel, &s, x, low, high));
    for (int64_t i = 0; i < s.count; i++)
        scales[i] = scale_of(single, low[i], high[i], bits, TW_ATTR(kernel, "signed_input")->b, narrow);
    for (int64_t i = 0; i < input->count; i++) {
        const scale *r = &scales[i / s.inner % s.count];
        double value = x[i];
        if (given)
            value = value > r->high ? r->high : value < r->low ? r->low : value;
        value = as(single, value * r->factor);
        value = half_up ? floor(as(single, value + 0.5)) : rint(value);
        x[i] = as(single, value * r->inverse);
    }
    tw__wide_write(kernel->outputs[0], x);
    return TW_OK;
}

/* ---- gradients ---- */

/* As in TensorFlow, min and max get zeros. */
static tw_status back_compute(tw__kernel *kernel)
{
    const tw_tensor *input = kernel->inputs[1];
    slices s;
    TW_TRY(read_slices(kernel->op, kernel->attrs, &input->shape, &s));
    tw__owned double *g = tw__wide_read(kernel->inputs[0]), *x = tw__wide_read(input), *low = tw__wide_read(kernel->inputs[2]),
                     *high = tw__wide_read(kernel->inputs[3]), *none = tw__wide_new(kernel->inputs[2]->count);
    if (!g || !x || !low || !high || !none)
        return tw__error_status();
    if (kernel->inputs[2]->count != kernel->inputs[3]->count || kernel->inputs[2]->count == 0)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "input_min and input_max must have the same number of elements, at least 1");
    for (int64_t i = 0; i < input->count; i++) {
        int64_t at = kernel->inputs[2]->count > 1 ? i / s.inner % s.count : 0;
        if (x[i] < low[at] || x[i] > high[at])
            g[i] = 0;
    }
    tw__wide_write(kernel->outputs[0], g);
    tw__wide_write(kernel->outputs[1], none);
    tw__wide_write(kernel->outputs[2], none);
    return TW_OK;
}

static tw_status through(tw__gradient *g)
{
    if (g->wanted[0])
        g->input_grads[0] = tw_retain(g->output_grads[0]);
    return TW_OK;
}

static tw_status v4_gradient(tw__gradient *g)
{
    tw_tensor *made[3];
    int count = 3;
    TW_TRY(tw__apply(&tw__op_QuantizeAndDequantizeV4Grad, TW_IN(g->output_grads[0], g->inputs[0], g->inputs[1], g->inputs[2]), 4,
                     TW_ATTR(g, "axis"), 1, made, &count));
    for (int i = 0; i < 3; i++) {
        if (g->wanted[i])
            g->input_grads[i] = made[i];
        else
            tw_release(made[i]);
    }
    return TW_OK;
}

#define FLOATS "T: {bfloat16, half, float, double}"
#define SIGNED "signed_input: bool = true, "
#define BITS "num_bits: int = 8, "
#define V2_ATTRS                                                                                                    \
    SIGNED BITS "range_given: bool = false, " FLOATS ", round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN', " \
                "narrow_range: bool = false, axis: int = -1"
#define V2_INPUTS .inputs = "input: T, input_min: T, input_max: T"
#define ROW .outputs = "output: T", .shape = both_shape, .compute = both_compute

TW_OP(QuantizeAndDequantizeV2, ROW, V2_INPUTS, .attrs = V2_ATTRS, .gradient = through,
      .doc = "Numbers rounded to what integers of num_bits can tell apart.");
TW_OP(QuantizeAndDequantizeV3, ROW, .inputs = "input: T, input_min: T, input_max: T, num_bits: int32",
      .attrs = SIGNED "range_given: bool = true, " FLOATS ", narrow_range: bool = false, axis: int = -1", .gradient = through,
      .doc = "Numbers rounded to what integers of num_bits, an input, can tell apart.");
TW_OP(QuantizeAndDequantizeV4, ROW, V2_INPUTS, .attrs = V2_ATTRS, .gradient = v4_gradient,
      .doc = "Numbers rounded to what integers of num_bits can tell apart; the gradient passes between min and max.");
TW_OP(QuantizeAndDequantizeV4Grad, .inputs = "gradients: T, input: T, input_min: T, input_max: T",
      .outputs = "input_backprop: T, input_min_backprop: T, input_max_backprop: T", .attrs = FLOATS ", axis: int = -1",
      .shape = both_shape, .compute = back_compute, .no_gradient = true, .doc = "The gradient of QuantizeAndDequantizeV4.");
