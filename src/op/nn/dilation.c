/* Dilation2D: the greatest sum of a filter [rows, columns, channels] with each window of images, and its gradients. */
#include <math.h>

#include "op/gradient.h"
#include "op/nn/conv_window.h"
#include "op/nn/wide.h"
#include "rows.h"

typedef struct dilation {
    int64_t batch, channels, in[2], out[2], filter[2], stride[2], rate[2], before[2];
    tw_shape output;
} dilation;

static int64_t dim(const tw_shape *shape, int rank, int i)
{
    return shape->rank == rank ? shape->dims[i] : -1;
}

static tw_status fit(dilation *d, const tw_op *op, const tw_attr *attrs, const tw_shape *input, const tw_shape *filter)
{
    const tw_attr *strides = tw__attr_find(op, attrs, "strides"), *rates = tw__attr_find(op, attrs, "rates");
    tw__window w = { .padding = tw__attr_find(op, attrs, "padding")->s.data[0] };
    if (input->rank >= 0 && input->rank != 4)
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "input must be 4-dimensional, got %s", tw__shape_text(input));
    if (filter->rank >= 0 && filter->rank != 3)
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "filter must be 3-dimensional: %s", tw__shape_text(filter));
    if (strides->count != 4 || rates->count != 4)
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Sliding window stride and rates must specify 4 dimensions");
    if (strides->ints[0] != 1 || strides->ints[3] != 1 || rates->ints[0] != 1 || rates->ints[3] != 1)
        return TW_WINDOW_FAIL(op, TW_UNIMPLEMENTED, "Stride and rates are only supported across spatial dimensions.");
    *d = (dilation){ .batch = dim(input, 4, 0), .channels = dim(input, 4, 3) };
    int64_t channels = dim(filter, 3, 2), after;
    if (channels >= 0 && d->channels >= 0 && channels != d->channels)
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "input and filter must have the same depth: %lld vs %lld",
                              (long long)d->channels, (long long)channels);
    d->output = TW_SHAPE(d->batch, -1, -1, d->channels >= 0 ? d->channels : channels);
    for (int i = 0; i < 2; i++) {
        d->stride[i] = w.stride[i] = strides->ints[1 + i];
        d->rate[i] = w.dilation[i] = rates->ints[1 + i];
        if (d->stride[i] <= 0 || d->stride[i] > INT32_MAX || d->rate[i] <= 0 || d->rate[i] > INT32_MAX)
            return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Stride and rates must be positive");
        d->in[i] = dim(input, 4, 1 + i);
        d->filter[i] = dim(filter, 3, i);
        TW_TRY(tw__window_places(op, &w, i, d->in[i], d->filter[i], &d->out[i], &d->before[i], &after));
        d->output.dims[1 + i] = d->out[i];
    }
    return tw__window_check_count(op, &d->output);
}

/* The first place of the greatest sum of one window: where in the input and in the filter. */
static double greatest(const dilation *d, const double *x, const double *f, const int64_t at[4], int64_t *in_place,
                       int64_t *filter_place)
{
    double most = -INFINITY;
    *in_place = *filter_place = -1;
    for (int64_t i = 0; i < d->filter[0]; i++) {
        int64_t row = at[1] * d->stride[0] + i * d->rate[0] - d->before[0];
        if (row < 0 || row >= d->in[0])
            continue;
        for (int64_t k = 0; k < d->filter[1]; k++) {
            int64_t column = at[2] * d->stride[1] + k * d->rate[1] - d->before[1];
            if (column < 0 || column >= d->in[1])
                continue;
            int64_t place = ((at[0] * d->in[0] + row) * d->in[1] + column) * d->channels + at[3];
            int64_t of_filter = (i * d->filter[1] + k) * d->channels + at[3];
            double sum = x[place] + f[of_filter];
            if (sum > most || *in_place < 0) {
                most = sum;
                *in_place = place;
                *filter_place = of_filter;
            }
        }
    }
    return most;
}

enum { FORWARD, BY_INPUT, BY_FILTER };

static int kind_of(const tw_op *op)
{
    return op == &tw__op_Dilation2D ? FORWARD : op == &tw__op_Dilation2DBackpropInput ? BY_INPUT : BY_FILTER;
}

static tw_status dilation_shape(tw__inference *inference)
{
    dilation d;
    int kind = kind_of(inference->op);
    TW_TRY(fit(&d, inference->op, inference->attrs, inference->shapes[0], inference->shapes[1]));
    if (kind != FORWARD && !tw__shape_compatible(inference->shapes[2], &d.output))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "out_backprop has incompatible size: expected %s, got %s",
                          tw__shape_text(&d.output), tw__shape_text(inference->shapes[2]));
    inference->out_shapes[0] = kind == FORWARD ? d.output : *inference->shapes[kind == BY_INPUT ? 0 : 1];
    return TW_OK;
}

static tw_status dilation_compute(tw__kernel *kernel)
{
    dilation d;
    int kind = kind_of(kernel->op);
    TW_TRY(fit(&d, kernel->op, kernel->attrs, &kernel->inputs[0]->shape, &kernel->inputs[1]->shape));
    tw__owned double *x = tw__wide_read(kernel->inputs[0]), *f = tw__wide_read(kernel->inputs[1]),
                     *g = kind == FORWARD ? NULL : tw__wide_read(kernel->inputs[2]),
                     *out = tw__wide_new(kernel->outputs[0]->count);
    if (!x || !f || !out || (kind != FORWARD && !g))
        return tw__error_status();
    int64_t count, at[4] = { 0 }, place, of_filter;
    TW_TRY(tw__shape_count(&d.output, &count));
    for (int64_t i = 0; i < count; i++) {
        double most = greatest(&d, x, f, at, &place, &of_filter);
        if (kind == FORWARD)
            out[i] = most;
        else if (place >= 0)
            out[kind == BY_INPUT ? place : of_filter] += g[i];
        for (int k = 3; k >= 0 && ++at[k] == d.output.dims[k]; k--)
            at[k] = 0;
    }
    tw__wide_write(kernel->outputs[0], out);
    return TW_OK;
}

static tw_status dilation_gradient(tw__gradient *g)
{
    tw_attr attrs[] = { *TW_ATTR(g, "strides"), *TW_ATTR(g, "rates"), *TW_ATTR(g, "padding") };
    const tw_op *back[] = { &tw__op_Dilation2DBackpropInput, &tw__op_Dilation2DBackpropFilter };
    for (int i = 0; i < 2; i++) {
        if (g->wanted[i])
            tw__grad_set(g, i, tw__call(back[i], TW_IN(g->inputs[0], g->inputs[1], g->output_grads[0]), 3, attrs, 3));
    }
    return tw__grad_status(g);
}

#define DILATION_ATTRS                                                                                                        \
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}, strides: list(int) >= 4, " \
    "rates: list(int) >= 4, padding: {'SAME', 'VALID'}"
#define DILATION_BACK                                                                                   \
    .inputs = "input: T, filter: T, out_backprop: T", .attrs = DILATION_ATTRS, .shape = dilation_shape, \
    .compute = dilation_compute, .no_gradient = true

TW_OP(Dilation2D, .inputs = "input: T, filter: T", .outputs = "output: T", .attrs = DILATION_ATTRS, .shape = dilation_shape,
      .compute = dilation_compute, .gradient = dilation_gradient,
      .doc = "The greatest sum of the filter with each window of the images.");
TW_OP(Dilation2DBackpropInput, DILATION_BACK, .outputs = "in_backprop: T", .doc = "The gradient of Dilation2D by its input.");
TW_OP(Dilation2DBackpropFilter, DILATION_BACK, .outputs = "filter_backprop: T",
      .doc = "The gradient of Dilation2D by its filter.");
