/* BlockLSTMV2 and its gradient: an LSTM over a whole sequence [time, batch, size]. Float only; no peepholes, no clipping. The
 * gradient is that of the values: TensorFlow 2.15 takes the gates in another order for the derivatives by x and h_prev. */
#include "kernel/lstm.h"

#include "op/gradient.h"
#include "rows.h"

enum { LENGTH, X, CELL, HIDDEN, WEIGHTS, PEEP_I, PEEP_F, PEEP_O, BIAS, INPUTS, OUTPUTS = 7 };

static tw_status check(const tw__kernel *kernel, tw__lstm *s)
{
    tw_tensor *const *in = kernel->inputs;
    const tw_shape *x = &in[X]->shape;
    if (in[X]->dtype != TW_FLOAT32)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "T is %s, only float is supported", tw_dtype_name(in[X]->dtype));
    if (TW_ATTR(kernel, "use_peephole")->b)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "use_peephole is true: peepholes are not supported");
    int64_t units = in[CELL]->shape.rank == 2 ? in[CELL]->shape.dims[1] : -1, length = *(const int64_t *)in[LENGTH]->data;
    if (x->rank != 3 || in[CELL]->shape.rank != 2 || in[CELL]->shape.dims[0] != x->dims[1] ||
        !tw__shape_equal(&in[HIDDEN]->shape, &in[CELL]->shape))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "x is %s, cs_prev and h_prev must be [batch, cell_size]",
                          tw__shape_text(x));
    if (in[WEIGHTS]->shape.rank != 2 || in[WEIGHTS]->shape.dims[0] != x->dims[2] + units ||
        in[WEIGHTS]->shape.dims[1] != 4 * units)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "w is %s, expected [%lld, %lld]", tw__shape_text(&in[WEIGHTS]->shape),
                          (long long)(x->dims[2] + units), (long long)(4 * units));
    if (in[BIAS]->shape.rank != 1 || in[BIAS]->shape.dims[0] != 4 * units)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "b is %s, expected [%lld]", tw__shape_text(&in[BIAS]->shape),
                          (long long)(4 * units));
    if (length != x->dims[0])
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "seq_len_max is %lld, only the whole length %lld is supported",
                          (long long)length, (long long)x->dims[0]);
    *s = (tw__lstm){ .steps = x->dims[0],
                     .batch = x->dims[1],
                     .size = x->dims[2],
                     .units = units,
                     .x = in[X]->data,
                     .first_cell = in[CELL]->data,
                     .first = in[HIDDEN]->data,
                     .weights = in[WEIGHTS]->data,
                     .bias = in[BIAS]->data };
    return TW_OK;
}

static void set_values(tw__lstm *s, tw_tensor *const *values)
{
    float **places[OUTPUTS] = { &s->input, &s->cell, &s->forget, &s->output, &s->candidate, &s->cell_tanh, &s->hidden };
    for (int i = 0; i < OUTPUTS; i++)
        *places[i] = values[i]->data;
}

static tw_status block_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, LENGTH, 0));
    TW_TRY(tw__need_rank(inference, X, 3));
    TW_TRY(tw__need_rank(inference, BIAS, 1));
    const tw_shape *x = inference->shapes[X], *bias = inference->shapes[BIAS];
    int64_t wide = bias->rank == 1 ? bias->dims[0] : -1;
    for (int i = 0; i < OUTPUTS; i++)
        inference->out_shapes[i] =
            x->rank < 0 ? TW_SHAPE(-1, -1, wide < 0 ? -1 : wide / 4) : TW_SHAPE(x->dims[0], x->dims[1], wide < 0 ? -1 : wide / 4);
    return TW_OK;
}

static tw_status block_compute(tw__kernel *kernel)
{
    tw__lstm s;
    TW_TRY(check(kernel, &s));
    if (TW_ATTR(kernel, "cell_clip")->f > 0)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "cell_clip is positive: clipping is not supported");
    set_values(&s, kernel->outputs);
    return tw__lstm_forward(&s);
}

static tw_status block_gradient(tw__gradient *g)
{
    tw_tensor *in[INPUTS + OUTPUTS + 2], *out[8] = { 0 };
    memcpy(in, g->inputs, INPUTS * sizeof *in);
    memcpy(in + INPUTS, g->outputs, OUTPUTS * sizeof *in);
    tw_auto tw_tensor *by_cell = g->output_grads[1] ? tw_retain(g->output_grads[1]) : TW_CALL(ZerosLike, g->outputs[1]);
    tw_auto tw_tensor *by_hidden = g->output_grads[6] ? tw_retain(g->output_grads[6]) : TW_CALL(ZerosLike, g->outputs[6]);
    in[INPUTS + OUTPUTS] = by_cell;
    in[INPUTS + OUTPUTS + 1] = by_hidden;
    if (!by_cell || !by_hidden)
        return tw__error_status();
    int count = 8;
    tw_attr peephole = TW_A_BOOL("use_peephole", TW_ATTR(g, "use_peephole")->b);
    TW_TRY(tw__apply(&tw__op_BlockLSTMGradV2, in, INPUTS + OUTPUTS + 2, &peephole, 1, out, &count));
    for (int i = 0; i < 8; i++)
        tw__grad_set(g, i + 1, out[i]);
    return TW_OK;
}

TW_OP(BlockLSTMV2, .inputs = "seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T",
      .outputs = "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T",
      .attrs = "cell_clip: float = 0, use_peephole: bool = false, T: {half, float}", .shape = block_shape,
      .compute = block_compute, .gradient = block_gradient,
      .doc = "An LSTM over a whole sequence: all gates and values of all steps.");

static tw_status grad_shape(tw__inference *inference)
{
    for (int i = 0; i < 8; i++)
        inference->out_shapes[i] = *inference->shapes[i + 1];
    return TW_OK;
}

static tw_status grad_compute(tw__kernel *kernel)
{
    tw__lstm s;
    TW_TRY(check(kernel, &s));
    tw_tensor *const *in = kernel->inputs;
    for (int i = INPUTS; i < INPUTS + OUTPUTS + 2; i++) {
        if (!tw__shape_equal(&in[i]->shape, &in[INPUTS]->shape) || in[i]->count != s.steps * s.batch * s.units)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "input %d is %s, expected [%lld, %lld, %lld]", i,
                              tw__shape_text(&in[i]->shape), (long long)s.steps, (long long)s.batch, (long long)s.units);
    }
    set_values(&s, in + INPUTS);
    for (int i = 4; i < 7; i++)
        memset(kernel->outputs[i]->data, 0, (size_t)kernel->outputs[i]->count * sizeof(float));
    tw__lstm_derivatives to = { .cell = in[INPUTS + OUTPUTS]->data,
                                .hidden = in[INPUTS + OUTPUTS + 1]->data,
                                .x = kernel->outputs[0]->data,
                                .first_cell = kernel->outputs[1]->data,
                                .first = kernel->outputs[2]->data,
                                .weights = kernel->outputs[3]->data,
                                .bias = kernel->outputs[7]->data };
    return tw__lstm_backward(&s, &to);
}

TW_OP(
    BlockLSTMGradV2,
    .inputs =
        "seq_len_max: int64, x: T, cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T, i: T, cs: T, f: T, o: T, ci: T, co: T, h: T, "
        "cs_grad: T, h_grad: T",
    .outputs = "x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, wco_grad: T, b_grad: T",
    .attrs = "use_peephole: bool, T: {half, float}", .shape = grad_shape, .compute = grad_compute, .no_gradient = true,
    .doc = "The gradient of BlockLSTMV2 by its inputs, from those by cs and h.");
