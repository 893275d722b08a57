/* MaxPoolWithArgmax and its gradient, which tell where the greatest values stand; MaxPoolV2 and its gradients, whose windows are
 * inputs. */
#include "kernel/pool/pool.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/nn/conv_window.h"
#include "op/nn/wide.h"
#include "rows.h"

/* What a window [1, rows, columns, 1] makes of an input. */
static tw_status fit(tw__pool *p, const tw_op *op, char padding, const int64_t *ksize, const int64_t *strides,
                     const tw_shape *input, tw_shape *output)
{
    tw__window w = { .padding = padding, .dilation = { 1, 1 } };
    int64_t after;
    if (input->rank >= 0 && input->rank != 4)
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "tensor_in must be 4-dimensional");
    if (ksize[0] != 1 || strides[0] != 1 || ksize[3] != 1 || strides[3] != 1)
        return TW_WINDOW_FAIL(op, TW_UNIMPLEMENTED, "Pooling is not yet supported on the batch or the depth dimension.");
    *p = (tw__pool){ .batch = input->rank == 4 ? input->dims[0] : -1, .channels = input->rank == 4 ? input->dims[3] : -1 };
    *output = TW_SHAPE(p->batch, -1, -1, p->channels);
    for (int i = 0; i < 2; i++) {
        p->window[i] = ksize[1 + i];
        p->stride[i] = w.stride[i] = strides[1 + i];
        if (p->window[i] <= 0 || p->window[i] > INT32_MAX)
            return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Sliding window ksize for dimension %d was zero.", 1 + i);
        if (p->stride[i] <= 0 || p->stride[i] > INT32_MAX)
            return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Sliding window stride for dimension %d was zero.", 1 + i);
        p->in[i] = input->rank == 4 ? input->dims[1 + i] : -1;
        TW_TRY(tw__window_places(op, &w, i, p->in[i], p->window[i], &p->out[i], &p->before[i], &after));
        output->dims[1 + i] = p->out[i];
    }
    return tw__window_check_count(op, output);
}

static tw_status fit_attrs(tw__pool *p, const tw_op *op, const tw_attr *attrs, const tw_shape *input, tw_shape *output)
{
    const tw_attr *ksize = tw__attr_find(op, attrs, "ksize"), *strides = tw__attr_find(op, attrs, "strides");
    if (ksize->count != 4 || strides->count != 4)
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Sliding window ksize and strides must specify 4 dimensions");
    return fit(p, op, tw__attr_find(op, attrs, "padding")->s.data[0], ksize->ints, strides->ints, input, output);
}

/* ---- MaxPoolWithArgmax ---- */

static tw_status argmax_shape(tw__inference *inference)
{
    tw__pool p;
    TW_TRY(fit_attrs(&p, inference->op, inference->attrs, inference->shapes[0], &inference->out_shapes[0]));
    inference->out_shapes[1] = inference->out_shapes[0];
    return TW_OK;
}

/* The place of the first greatest value of a window, counted in the whole batch. */
static int64_t greatest(const tw__pool *p, const double *x, int64_t b, int64_t row, int64_t column, int64_t channel)
{
    int64_t best = -1, begin[2] = { row * p->stride[0] - p->before[0], column * p->stride[1] - p->before[1] };
    for (int64_t i = 0; i < p->window[0]; i++) {
        for (int64_t k = 0; k < p->window[1]; k++) {
            int64_t r = begin[0] + i, c = begin[1] + k;
            if (r < 0 || r >= p->in[0] || c < 0 || c >= p->in[1])
                continue;
            int64_t at = ((b * p->in[0] + r) * p->in[1] + c) * p->channels + channel;
            if (best < 0 || x[at] > x[best])
                best = at;
        }
    }
    return best;
}

static tw_status argmax_compute(tw__kernel *kernel)
{
    tw__pool p;
    tw_shape shape;
    const tw_tensor *input = kernel->inputs[0];
    TW_TRY(fit_attrs(&p, kernel->op, kernel->attrs, &input->shape, &shape));
    bool whole = TW_ATTR(kernel, "include_batch_in_index")->b, wide = kernel->outputs[1]->dtype == TW_INT64;
    tw__owned double *x = tw__wide_read(input), *y = tw__wide_new(kernel->outputs[0]->count);
    if (!x || !y)
        return tw__error_status();
    int64_t image = p.in[0] * p.in[1] * p.channels, at = 0;
    for (int64_t b = 0; b < p.batch; b++) {
        for (int64_t i = 0; i < p.out[0] * p.out[1] * p.channels; i++, at++) {
            int64_t place = greatest(&p, x, b, i / p.channels / p.out[1], i / p.channels % p.out[1], i % p.channels);
            y[at] = place < 0 ? 0 : x[place];
            place = place < 0 ? 0 : whole ? place : place - b * image;
            if (wide)
                ((int64_t *)kernel->outputs[1]->data)[at] = place;
            else
                ((int32_t *)kernel->outputs[1]->data)[at] = (int32_t)place;
        }
    }
    tw__wide_write(kernel->outputs[0], y);
    return TW_OK;
}

static tw_status argmax_grad_shape(tw__inference *inference)
{
    tw__pool p;
    tw_shape shape;
    TW_TRY(fit_attrs(&p, inference->op, inference->attrs, inference->shapes[0], &shape));
    for (int i = 1; i < 3; i++) {
        if (!tw__shape_compatible(inference->shapes[i], &shape))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Expected %s shape to be %s, but got %s",
                              i == 1 ? "grad" : "argmax", tw__shape_text(&shape), tw__shape_text(inference->shapes[i]));
    }
    inference->out_shapes[0] = *inference->shapes[0];
    return TW_OK;
}

static tw_status argmax_grad_compute(tw__kernel *kernel)
{
    const tw_tensor *input = kernel->inputs[0], *grad = kernel->inputs[1], *argmax = kernel->inputs[2];
    bool whole = TW_ATTR(kernel, "include_batch_in_index")->b, wide = argmax->dtype == TW_INT64;
    tw__owned double *g = tw__wide_read(grad), *out = tw__wide_new(input->count);
    if (!g || !out)
        return tw__error_status();
    int64_t batch = input->shape.dims[0], image = batch ? input->count / batch : 0, windows = batch ? grad->count / batch : 0;
    for (int64_t i = 0; i < grad->count; i++) {
        int64_t place = wide ? ((const int64_t *)argmax->data)[i] : ((const int32_t *)argmax->data)[i];
        int64_t most = whole ? input->count : image;
        if (place < 0 || place >= most)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Invalid input argmax index: %lld, expected one below %lld",
                              (long long)place, (long long)most);
        out[whole ? place : place + i / windows * image] += g[i];
    }
    tw__wide_write(kernel->outputs[0], out);
    return TW_OK;
}

static tw_status argmax_gradient(tw__gradient *g)
{
    tw_attr attrs[] = { *TW_ATTR(g, "ksize"), *TW_ATTR(g, "strides"), *TW_ATTR(g, "padding"),
                        *TW_ATTR(g, "include_batch_in_index") };
    if (g->wanted[0] && g->output_grads[0])
        tw__grad_set(g, 0,
                     tw__call(&tw__op_MaxPoolGradWithArgmax, TW_IN(g->inputs[0], g->output_grads[0], g->outputs[1]), 3, attrs,
                              4));
    return tw__grad_status(g);
}

#define REALS "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
#define WINDOW "ksize: list(int) >= 4, strides: list(int) >= 4, "

TW_OP(MaxPoolWithArgmax, .inputs = "input: T", .outputs = "output: T, argmax: Targmax",
      .attrs = WINDOW "Targmax: {int32, int64} = int64, padding: {'SAME', 'VALID'}, include_batch_in_index: bool = false, " REALS,
      .shape = argmax_shape, .compute = argmax_compute, .gradient = argmax_gradient,
      .doc = "The greatest value of each window, and where it stands in its image, or in the batch.");

TW_OP(MaxPoolGradWithArgmax, .inputs = "input: T, grad: T, argmax: Targmax", .outputs = "output: T",
      .attrs = WINDOW "padding: {'SAME', 'VALID'}, include_batch_in_index: bool = false, Targmax: {int32, int64}, " REALS,
      .shape = argmax_grad_shape, .compute = argmax_grad_compute, .no_gradient = true,
      .doc = "The gradient of MaxPoolWithArgmax.");

/* ---- MaxPoolV2 ---- */

/* The window's sizes and strides are the last two inputs. False: they are not known yet. */
static tw_status read_inputs(const tw_op *op, tw_tensor *ksize, tw_tensor *strides, int64_t *numbers, bool *known)
{
    tw_tensor *given[] = { ksize, strides };
    *known = ksize && strides;
    for (int i = 0; *known && i < 2; i++) {
        if (given[i]->count != 4)
            return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Sliding window %s field must specify 4 dimensions",
                                  i ? "strides" : "ksize");
        TW_TRY(tw__tensor_read_ints(given[i], i ? "strides" : "ksize", numbers + 4 * i, 4));
    }
    return TW_OK;
}

static tw_status v2_fit(tw__pool *p, const tw_op *op, const tw_attr *attrs, const int64_t *numbers, const tw_shape *input,
                        tw_shape *output)
{
    if (tw__attr_find(op, attrs, "data_format")->s.data[1] == 'C')
        return TW_WINDOW_FAIL(op, TW_INVALID_ARGUMENT, "Default MaxPoolingOp only supports NHWC on device type CPU");
    return fit(p, op, tw__attr_find(op, attrs, "padding")->s.data[0], numbers, numbers + 4, input, output);
}

static tw_status v2_shape(tw__inference *inference)
{
    tw__pool p;
    int64_t numbers[8];
    bool known, forward = inference->op == &tw__op_MaxPoolV2, back = inference->op == &tw__op_MaxPoolGradGradV2;
    int at = inference->input_count - 2;
    tw_shape output = TW_SHAPE(-1, -1, -1, -1);
    TW_TRY(read_inputs(inference->op, inference->values[at], inference->values[at + 1], numbers, &known));
    if (known)
        TW_TRY(v2_fit(&p, inference->op, inference->attrs, numbers, inference->shapes[0], &output));
    if (!forward && known &&
        (!tw__shape_compatible(inference->shapes[1], &output) ||
         !tw__shape_compatible(inference->shapes[2], back ? inference->shapes[0] : &output)))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "orig_output is %s and grad %s, expected windows %s of an input %s",
                          tw__shape_text(inference->shapes[1]), tw__shape_text(inference->shapes[2]), tw__shape_text(&output),
                          tw__shape_text(inference->shapes[0]));
    inference->out_shapes[0] = forward || back ? output : *inference->shapes[0];
    return TW_OK;
}

static tw_status v2_compute(tw__kernel *kernel)
{
    tw__pool p;
    tw_shape shape;
    int64_t numbers[8];
    bool known;
    tw_tensor *const *in = kernel->inputs;
    int at = kernel->input_count - 2;
    TW_TRY(read_inputs(kernel->op, in[at], in[at + 1], numbers, &known));
    TW_TRY(v2_fit(&p, kernel->op, kernel->attrs, numbers, &in[0]->shape, &shape));
    tw_tensor *out = tw__output(kernel, 0, kernel->op == &tw__op_MaxPoolGradV2 ? &in[0]->shape : &shape);
    if (!out)
        return tw__error_status();
    if (kernel->op == &tw__op_MaxPoolV2)
        return tw__max_pool(in[0]->dtype, &p, in[0]->data, out->data);
    return (kernel->op == &tw__op_MaxPoolGradV2 ? tw__max_pool_grad : tw__max_pool_grad_grad)(in[0]->dtype, &p, in[0]->data,
                                                                                              in[1]->data, in[2]->data,
                                                                                              out->data);
}

static tw_status v2_gradient(tw__gradient *g)
{
    tw_attr attrs[] = { *TW_ATTR(g, "padding"), *TW_ATTR(g, "data_format") };
    if (g->op == &tw__op_MaxPoolV2) {
        if (g->wanted[0])
            g->input_grads[0] =
                tw__call(&tw__op_MaxPoolGradV2,
                         TW_IN(g->inputs[0], g->outputs[0], g->output_grads[0], g->inputs[1], g->inputs[2]), 5, attrs, 2);
        return !g->wanted[0] || g->input_grads[0] ? TW_OK : tw__error_status();
    }
    for (int i = 0; i < 3; i++) {
        if (!g->wanted[i])
            continue;
        g->input_grads[i] =
            i < 2 ? TW_CALL(ZerosLike, g->inputs[i])
                  : tw__call(&tw__op_MaxPoolGradGradV2,
                             TW_IN(g->inputs[0], g->inputs[1], g->output_grads[0], g->inputs[3], g->inputs[4]), 5, attrs, 2);
        if (!g->input_grads[i])
            return tw__error_status();
    }
    return TW_OK;
}

#define V2_ROW .shape = v2_shape, .compute = v2_compute
#define V2_ATTRS "padding: {'SAME', 'VALID'}, data_format: {'NHWC', 'NCHW'} = 'NHWC', "

TW_OP(MaxPoolV2, V2_ROW, .gradient = v2_gradient, .inputs = "input: T, ksize: int32, strides: int32", .outputs = "output: T",
      .attrs = "T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = float, "
               "padding: {'SAME', 'VALID'}, data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'",
      .doc = "MaxPool whose window is an input.");
TW_OP(MaxPoolGradV2, V2_ROW, .gradient = v2_gradient,
      .inputs = "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32", .outputs = "output: T",
      .attrs = V2_ATTRS REALS " = float", .doc = "The gradient of MaxPoolV2.");
TW_OP(MaxPoolGradGradV2, V2_ROW, .no_gradient = true,
      .inputs = "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32", .outputs = "output: T",
      .attrs = V2_ATTRS REALS, .doc = "The gradient of MaxPoolGradV2.");
