/* FractionalMaxPool and FractionalAvgPool: windows whose sizes vary by one, drawn at random, and their gradients. */
#include <math.h>

#include "op/gradient.h"
#include "op/nn/conv_window.h"
#include "op/nn/wide.h"
#include "op/random/random.h"
#include "rows.h"

/* ---- where windows begin ---- */

/* Sizes of `out` windows over `in` elements, in a random order. */
static void random_sizes(tw__words *words, int64_t in, int64_t out, int64_t *sizes)
{
    for (int64_t i = 0; i < out; i++)
        sizes[i] = in / out + (i < in % out);
    for (int64_t i = 0; i + 1 < out; i++) {
        int64_t other = i + (int64_t)(tw__words_next(words) % (uint32_t)(out - i)), size = sizes[i];
        sizes[i] = sizes[other];
        sizes[other] = size;
    }
}

/* Ends at ceil(alpha * (i + u)) for one random u. */
static void even_sizes(tw__words *words, int64_t in, int64_t out, int64_t *sizes)
{
    double alpha = (double)in / (double)out;
    int64_t k = in / out, before = 1;
    double first = (double)(k + 2) / alpha - 1, second = (double)(in + 1 - k) / alpha - (double)(out - 1);
    double u = tw__words_uniform(words) * (first < second ? first : second);
    for (int64_t i = 0; i < out; i++) {
        int64_t next = i + 1 == out ? in + 1 : (int64_t)ceil(alpha * ((double)(i + 1) + u));
        sizes[i] = next - before;
        before = next;
    }
}

static void sequence(tw__philox *philox, bool pseudo, int64_t in, int64_t out, int64_t *begins)
{
    tw__words words = tw__words_of(*philox);
    begins[0] = 0;
    tw__philox_skip(philox, pseudo ? 1 : (uint64_t)(out + 3) / 4);
    (pseudo ? even_sizes : random_sizes)(&words, in, out, begins + 1);
    for (int64_t i = 0; i < out && in % out == 0; i++)
        begins[1 + i] = in / out;
    for (int64_t i = 0; i < out; i++)
        begins[1 + i] += begins[i];
}

/* ---- windows ---- */

typedef struct fractional {
    int64_t batch, channels, in[2], out[2];
    const int64_t *begins[2];
    bool overlapping, mean;
} fractional;

static int64_t end_of(const fractional *f, int axis, int64_t at)
{
    int64_t end = f->begins[axis][at + 1] + f->overlapping;
    return end < f->in[axis] ? end : f->in[axis];
}

/* Forward: y of x. Back: x's gradient in `back`, from y's in `y`. Gives false if the greatest values are not those of `out`. */
static bool pool(const fractional *f, const double *x, double *y, double *back, const double *out)
{
    int64_t at = 0, best = 0;
    for (int64_t b = 0; b < f->batch; b++) {
        for (int64_t i = 0; i < f->out[0] * f->out[1] * f->channels; i++, at++) {
            int64_t row = i / f->channels / f->out[1], column = i / f->channels % f->out[1], count = 0;
            double sum = 0;
            int64_t rows = end_of(f, 0, row), columns = end_of(f, 1, column);
            for (int pass = 0; pass < 1 + (back && f->mean); pass++) {
                for (int64_t r = f->begins[0][row]; r < rows; r++) {
                    for (int64_t c = f->begins[1][column]; c < columns; c++) {
                        int64_t place = ((b * f->in[0] + r) * f->in[1] + c) * f->channels + i % f->channels;
                        if (pass)
                            back[place] += y[at] / (double)count;
                        else if (!f->mean && (!count || x[place] > x[best]))
                            best = place;
                        else if (f->mean && x)
                            sum += x[place];
                        count += !pass;
                    }
                }
            }
            if (!back)
                y[at] = !f->mean ? x[best] : sum / (double)count;
            else if (!f->mean && count)
                back[best] += y[at];
            if (out && count && x[best] != out[at])
                return false;
        }
    }
    return true;
}

/* ---- forward ---- */

static tw_status fraction_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    const tw_attr *ratio = TW_ATTR(inference, "pooling_ratio");
    tw_shape out = TW_SHAPE(-1, -1, -1, -1);
    if (in->rank >= 0 && in->rank != 4)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "tensor_in must be 4-dimensional");
    if (ratio->count != 4)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "pooling_ratio field must specify 4 dimensions");
    if (ratio->floats[0] != 1 || ratio->floats[3] != 1)
        return TW_OP_FAIL(inference, TW_UNIMPLEMENTED,
                          "Fractional pooling is not yet supported on the batch or channel dimension.");
    for (int i = 0; i < 4; i++) {
        double r = ratio->floats[i];
        if (!(r >= 1) || r > INT32_MAX)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "pooling_ratio cannot be smaller than 1, got: %g", r);
        if (in->rank != 4 || in->dims[i] < 0)
            continue;
        if ((double)in->dims[i] < r)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                              "Pooling ratio is higher than input dimension size for dimension %d. "
                              "Input dim size: %lld pooling ratio: %g",
                              i, (long long)in->dims[i], r);
        out.dims[i] = i % 3 ? (int64_t)floor((double)in->dims[i] / (double)(float)r) : in->dims[i];
    }
    inference->out_shapes[0] = out;
    for (int i = 0; i < 2; i++)
        inference->out_shapes[1 + i] = TW_SHAPE(out.dims[1 + i] < 0 ? -1 : out.dims[1 + i] + 1);
    return TW_OK;
}

static tw_status fraction_compute(tw__kernel *kernel)
{
    const tw_shape *in = &kernel->inputs[0]->shape, *out = &kernel->outputs[0]->shape;
    int64_t seed = TW_ATTR(kernel, "seed")->i, seed2 = TW_ATTR(kernel, "seed2")->i;
    if (!TW_ATTR(kernel, "deterministic")->b && (seed || seed2))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Both seed and seed2 should be 0 if deterministic is false.");
    if (seed == 0 && seed2 == 0) {
        seed = (int64_t)tw__random_entropy();
        seed2 = (int64_t)tw__random_entropy();
    }
    tw__philox philox = tw__philox_seeded(seed, seed2);
    fractional f = { .batch = in->dims[0],
                     .channels = in->dims[3],
                     .in = { in->dims[1], in->dims[2] },
                     .out = { out->dims[1], out->dims[2] },
                     .overlapping = TW_ATTR(kernel, "overlapping")->b,
                     .mean = kernel->op == &tw__op_FractionalAvgPool };
    for (int i = 0; i < 2; i++) {
        int64_t *begins = kernel->outputs[1 + i]->data;
        if (f.in[i] > INT32_MAX)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the input is too large");
        sequence(&philox, TW_ATTR(kernel, "pseudo_random")->b, f.in[i], f.out[i], begins);
        f.begins[i] = begins;
    }
    tw__owned double *x = tw__wide_read(kernel->inputs[0]), *y = tw__wide_new(kernel->outputs[0]->count);
    if (!x || !y)
        return tw__error_status();
    pool(&f, x, y, NULL, NULL);
    tw__wide_write(kernel->outputs[0], y);
    return TW_OK;
}

/* ---- gradients ---- */

static tw_status read_back(tw__kernel *kernel, fractional *f, const tw_shape *in, const tw_tensor *grad, int first)
{
    *f = (fractional){ .overlapping = TW_ATTR(kernel, "overlapping")->b, .mean = kernel->op == &tw__op_FractionalAvgPoolGrad };
    if (in->rank != 4 || grad->shape.rank != 4 || in->dims[0] != grad->shape.dims[0] || in->dims[3] != grad->shape.dims[3])
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "out_backprop is %s, expected one of windows of an input %s",
                          tw__shape_text(&grad->shape), tw__shape_text(in));
    f->batch = in->dims[0];
    f->channels = in->dims[3];
    for (int i = 0; i < 2; i++) {
        const tw_tensor *begins = kernel->inputs[first + i];
        const int64_t *at = f->begins[i] = begins->data;
        f->in[i] = in->dims[1 + i];
        f->out[i] = grad->shape.dims[1 + i];
        if (begins->shape.rank != 1 || begins->count != f->out[i] + 1)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "a pooling sequence has shape %s, expected [%lld]",
                              tw__shape_text(&begins->shape), (long long)f->out[i] + 1);
        for (int64_t k = 0; k <= f->out[i]; k++) {
            if (at[k] < (k ? at[k - 1] : 0) || at[k] > f->in[i])
                return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                                  "a pooling sequence has %lld at %lld, which is out of order or range", (long long)at[k],
                                  (long long)k);
        }
    }
    return TW_OK;
}

static tw_status back_shape(tw__inference *inference)
{
    if (inference->op == &tw__op_FractionalMaxPoolGrad) {
        TW_TRY(tw__need_rank(inference, 0, 4));
        inference->out_shapes[0] = *inference->shapes[0];
        return TW_OK;
    }
    inference->out_shapes[0] = TW_SHAPE(-1, -1, -1, -1);
    if (!inference->values[0])
        return TW_OK;
    if (inference->values[0]->count != 4)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "original input tensor shape must be 1-dimensional and 4 elements");
    TW_TRY(tw__tensor_read_ints(inference->values[0], "orig_input_tensor_shape", inference->out_shapes[0].dims, 4));
    return tw__window_check_count(inference->op, &inference->out_shapes[0]);
}

static tw_status back_compute(tw__kernel *kernel)
{
    fractional f;
    bool mean = kernel->op == &tw__op_FractionalAvgPoolGrad;
    const tw_tensor *grad = kernel->inputs[mean ? 1 : 2];
    tw_shape shape = kernel->inputs[0]->shape;
    if (mean) {
        shape = TW_SHAPE(0, 0, 0, 0);
        if (kernel->inputs[0]->count != 4)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "original input tensor shape must be 1-dimensional and 4 elements");
        TW_TRY(tw__tensor_read_ints(kernel->inputs[0], "orig_input_tensor_shape", shape.dims, 4));
        TW_TRY(tw__window_check_count(kernel->op, &shape));
    }
    TW_TRY(read_back(kernel, &f, &shape, grad, mean ? 2 : 3));
    tw_tensor *out = tw__output(kernel, 0, &shape);
    tw__owned double *x = out && !mean ? tw__wide_read(kernel->inputs[0]) : NULL, *y = out ? tw__wide_read(grad) : NULL,
                     *back = out ? tw__wide_new(out->count) : NULL,
                     *greatest = out && !mean ? tw__wide_read(kernel->inputs[1]) : NULL;
    if (!out || (!mean && (!x || !greatest)) || !y || !back)
        return tw__error_status();
    if (!mean && !tw__shape_equal(&kernel->inputs[1]->shape, &grad->shape))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "orig_output is %s, expected the shape of out_backprop, %s",
                          tw__shape_text(&kernel->inputs[1]->shape), tw__shape_text(&grad->shape));
    if (!pool(&f, x, y, back, greatest))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "tensor_out_dup is not the same as tensor_out");
    tw__wide_write(out, back);
    return TW_OK;
}

static tw_status fraction_gradient(tw__gradient *g)
{
    tw_attr overlapping = *TW_ATTR(g, "overlapping");
    if (!g->wanted[0] || !g->output_grads[0])
        return TW_OK;
    if (g->op == &tw__op_FractionalMaxPool) {
        tw__grad_set(g, 0,
                     TW_CALL(FractionalMaxPoolGrad, g->inputs[0], g->outputs[0], g->output_grads[0], g->outputs[1], g->outputs[2],
                             overlapping));
    } else {
        TW_TEMPS(t);
        tw__grad_set(g, 0,
                     TW_CALL(FractionalAvgPoolGrad, tw__temp_shape(t, g->inputs[0], TW_INT64), g->output_grads[0], g->outputs[1],
                             g->outputs[2], overlapping));
    }
    return tw__grad_status(g);
}

#define FRACTION_ROW                                                                                         \
    .inputs = "value: T", .outputs = "output: T, row_pooling_sequence: int64, col_pooling_sequence: int64",  \
    .attrs = "pooling_ratio: list(float) >= 4, pseudo_random: bool = false, overlapping: bool = false, "     \
             "deterministic: bool = false, seed: int = 0, seed2: int = 0, T: {float, double, int32, int64}", \
    .shape = fraction_shape, .compute = fraction_compute, .gradient = fraction_gradient, .stateful = true
#define BACK_ROW(inputs_)                                                                                                 \
    .inputs = inputs_ "row_pooling_sequence: int64, col_pooling_sequence: int64", .outputs = "output: T",                 \
    .attrs = "overlapping: bool = false, T: {float, double, int32, int64}", .shape = back_shape, .compute = back_compute, \
    .no_gradient = true

TW_OP(FractionalMaxPool, FRACTION_ROW, .doc = "The greatest value of windows whose sizes vary at random.");
TW_OP(FractionalAvgPool, FRACTION_ROW, .doc = "The mean of windows whose sizes vary at random.");
TW_OP(FractionalMaxPoolGrad, BACK_ROW("orig_input: T, orig_output: T, out_backprop: T, "),
      .doc = "The gradient of FractionalMaxPool.");
TW_OP(FractionalAvgPoolGrad, BACK_ROW("orig_input_tensor_shape: int64, out_backprop: T, "),
      .doc = "The gradient of FractionalAvgPool.");
