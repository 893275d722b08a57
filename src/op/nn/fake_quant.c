/* FakeQuantWithMinMaxArgs, …Vars and …VarsPerChannel: floats rounded to what num_bits can tell apart between min and max, and
 * their gradients, which pass where a value lies between the two. */
#include <math.h>

#include "op/gradient.h"
#include "op/nn/wide.h"
#include "rows.h"

/* The range moved so that 0 is one of the steps. */
typedef struct range {
    float low, high, scale;
    bool empty; /* 0 to 0 */
} range;

static range nudged(float min, float max, float first, float last)
{
    range r = { .empty = min == 0 && max == 0, .scale = (max - min) / (last - first) };
    float zero = first - min / r.scale;
    zero = zero < first ? first : zero > last ? last : roundf(zero);
    r.low = (first - zero) * r.scale;
    r.high = (last - zero) * r.scale;
    return r;
}

static float rounded(const range *r, float x)
{
    if (r->empty)
        return 0;
    float inverse = 1.0f / r->scale, zero = floorf(-r->low * inverse + 0.5f);
    float clamped = x > r->high ? r->high : x;
    clamped = clamped < r->low ? r->low : clamped;
    return floorf((clamped - r->low) * inverse - zero + 0.5f) * r->scale;
}

/* ---- kinds of the ops ---- */

static bool is_gradient(const tw_op *op)
{
    return op == &tw__op_FakeQuantWithMinMaxArgsGradient || op == &tw__op_FakeQuantWithMinMaxVarsGradient ||
           op == &tw__op_FakeQuantWithMinMaxVarsPerChannelGradient;
}

static bool is_args(const tw_op *op)
{
    return op == &tw__op_FakeQuantWithMinMaxArgs || op == &tw__op_FakeQuantWithMinMaxArgsGradient;
}

static bool by_channel(const tw_op *op)
{
    return op == &tw__op_FakeQuantWithMinMaxVarsPerChannel || op == &tw__op_FakeQuantWithMinMaxVarsPerChannelGradient;
}

static tw_status fake_shape(tw__inference *inference)
{
    const tw_op *op = inference->op;
    int64_t bits = TW_ATTR(inference, "num_bits")->i;
    int data = is_gradient(op) ? 1 : 0;
    const tw_shape *x = inference->shapes[data];
    if (bits < 2 || bits > 16)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "num_bits must be between 2 and 16, inclusive");
    if (is_args(op) && !(TW_ATTR(inference, "min")->f < TW_ATTR(inference, "max")->f))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "min has to be smaller than max, was: %g >= %g",
                          TW_ATTR(inference, "min")->f, TW_ATTR(inference, "max")->f);
    if (data && !tw__shape_compatible(inference->shapes[0], x))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "gradient and input must be the same size");
    inference->out_shapes[0] = *x;
    if (is_args(op))
        return TW_OK;
    int rank = by_channel(op) ? 1 : 0;
    if (rank)
        TW_TRY(tw__need_rank_at_least(inference, data, 1));
    for (int i = 1; i < 3; i++) {
        const tw_shape *limit = inference->shapes[data + i];
        TW_TRY(tw__need_rank(inference, data + i, rank));
        if (rank && limit->rank == 1 && x->rank > 0 && limit->dims[0] >= 0 && x->dims[x->rank - 1] >= 0 &&
            limit->dims[0] != x->dims[x->rank - 1])
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "%s has incorrect size, expected %lld was %lld",
                              i == 1 ? "min" : "max", (long long)x->dims[x->rank - 1], (long long)limit->dims[0]);
        if (data)
            inference->out_shapes[i] = rank ? *limit : (tw_shape){ .rank = 0 };
    }
    return TW_OK;
}

static tw_status fake_compute(tw__kernel *kernel)
{
    const tw_op *op = kernel->op;
    int data = is_gradient(op) ? 1 : 0;
    const tw_tensor *input = kernel->inputs[data];
    const float *x = input->data, *g = kernel->inputs[0]->data;
    float *out = kernel->outputs[0]->data, first = TW_ATTR(kernel, "narrow_range")->b ? 1 : 0,
          last = (float)((1 << TW_ATTR(kernel, "num_bits")->i) - 1);
    int64_t channels = by_channel(op) ? kernel->inputs[data + 1]->count : 1;
    tw__owned range *ranges = tw__alloc_array((size_t)channels + 1, sizeof *ranges);
    tw__owned double *sums = tw__wide_new(2 * channels);
    if (!ranges || !sums)
        return tw__error_status();
    for (int64_t c = 0; c < channels; c++)
        ranges[c] = is_args(op) ? nudged((float)TW_ATTR(kernel, "min")->f, (float)TW_ATTR(kernel, "max")->f, first, last)
                                : nudged(((const float *)kernel->inputs[data + 1]->data)[c],
                                         ((const float *)kernel->inputs[data + 2]->data)[c], first, last);
    for (int64_t i = 0; i < input->count; i++) {
        const range *r = &ranges[i % channels];
        if (!data) {
            out[i] = rounded(r, x[i]);
            continue;
        }
        bool under = !r->empty && x[i] < r->low, above = !r->empty && x[i] > r->high;
        out[i] = under || above ? 0 : g[i];
        sums[i % channels] += under ? g[i] : 0;
        sums[channels + i % channels] += above ? g[i] : 0;
    }
    for (int i = 1; data && i < kernel->output_count; i++)
        tw__wide_write(kernel->outputs[i], sums + (i - 1) * channels);
    return TW_OK;
}

static tw_status fake_gradient(tw__gradient *g)
{
    tw_attr attrs[] = { *TW_ATTR(g, "num_bits"), *TW_ATTR(g, "narrow_range") };
    if (is_args(g->op)) {
        if (g->wanted[0])
            tw__grad_set(g, 0,
                         TW_CALL(FakeQuantWithMinMaxArgsGradient, g->output_grads[0], g->inputs[0], *TW_ATTR(g, "min"),
                                 *TW_ATTR(g, "max"), attrs[0], attrs[1]));
        return tw__grad_status(g);
    }
    const tw_op *back =
        by_channel(g->op) ? &tw__op_FakeQuantWithMinMaxVarsPerChannelGradient : &tw__op_FakeQuantWithMinMaxVarsGradient;
    tw_tensor *made[3];
    int count = 3;
    TW_TRY(tw__apply(back, TW_IN(g->output_grads[0], g->inputs[0], g->inputs[1], g->inputs[2]), 4, attrs, 2, made, &count));
    for (int i = 0; i < 3; i++) {
        if (g->wanted[i])
            g->input_grads[i] = made[i];
        else
            tw_release(made[i]);
    }
    return TW_OK;
}

#define BITS "num_bits: int = 8, narrow_range: bool = false"
#define LIMITS "min: float = -6.0, max: float = 6.0, "
#define ROW .shape = fake_shape, .compute = fake_compute
#define BACK "backprops_wrt_input: float, backprop_wrt_min: float, backprop_wrt_max: float"

TW_OP(
    FakeQuantWithMinMaxArgs, ROW, .inputs = "inputs: float", .outputs = "outputs: float", .attrs = LIMITS BITS,
    .gradient = fake_gradient,
    .function =
        "quantization.fake_quant_with_min_max_args|compat.v1.fake_quant_with_min_max_args(inputs: tensor<float32>, min: float = -6, max: float = 6, "
        "num_bits: int = 8, narrow_range: bool = False, name: str = None) -> tensor",
    .doc = "Floats rounded to the steps between min and max.\n"
           "inputs: the numbers to round\n"
           "min: the lower end of the range\n"
           "max: the upper end of the range");
TW_OP(
    FakeQuantWithMinMaxArgsGradient, ROW, .inputs = "gradients: float, inputs: float", .outputs = "backprops: float",
    .attrs = LIMITS BITS, .no_gradient = true,
    .function =
        "quantization.fake_quant_with_min_max_args_gradient|compat.v1.fake_quant_with_min_max_args_gradient(gradients: tensor<float32>, inputs: tensor<float32>, "
        "min: float = -6, max: float = 6, num_bits: int = 8, narrow_range: bool = False, name: str = None) -> tensor",
    .doc = "The gradient of FakeQuantWithMinMaxArgs.\n"
           "gradients: the gradient by the result\n"
           "inputs: the numbers that were rounded\n"
           "min: the lower end of the range\n"
           "max: the upper end of the range");
TW_OP(
    FakeQuantWithMinMaxVars, ROW, .inputs = "inputs: float, min: float, max: float", .outputs = "outputs: float", .attrs = BITS,
    .gradient = fake_gradient,
    .function =
        "quantization.fake_quant_with_min_max_vars|compat.v1.fake_quant_with_min_max_vars(inputs: tensor<float32>, min: tensor<float32>, max: tensor<float32>, "
        "num_bits: int = 8, narrow_range: bool = False, name: str = None) -> tensor",
    .doc = "Floats rounded to the steps between min and max.\n"
           "inputs: the numbers to round\n"
           "min: the lower end of the range\n"
           "max: the upper end of the range");
TW_OP(FakeQuantWithMinMaxVarsGradient, ROW, .inputs = "gradients: float, inputs: float, min: float, max: float", .outputs = BACK,
      .attrs = BITS, .no_gradient = true, .doc = "The gradient of FakeQuantWithMinMaxVars.");
TW_OP(
    FakeQuantWithMinMaxVarsPerChannel, ROW, .inputs = "inputs: float, min: float, max: float", .outputs = "outputs: float",
    .attrs = BITS, .gradient = fake_gradient,
    .function =
        "quantization.fake_quant_with_min_max_vars_per_channel|compat.v1.fake_quant_with_min_max_vars_per_channel(inputs: tensor<float32>, min: tensor<float32>, "
        "max: tensor<float32>, num_bits: int = 8, narrow_range: bool = False, name: str = None) -> tensor",
    .doc = "Floats rounded to the steps between min and max of their channel.\n"
           "inputs: the numbers to round; the last dimension is that of the channels\n"
           "min: the lower end of each channel's range\n"
           "max: the upper end of each channel's range");
TW_OP(FakeQuantWithMinMaxVarsPerChannelGradient, ROW, .inputs = "gradients: float, inputs: float, min: float, max: float",
      .outputs = BACK, .attrs = BITS, .no_gradient = true, .doc = "The gradient of FakeQuantWithMinMaxVarsPerChannel.");
