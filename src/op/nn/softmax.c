/* Softmax and LogSoftmax along the last dimension. */
#include "kernel/nn.h"
#include "op/calls.h"
#include "rows.h"

static tw_status softmax_shape(tw__inference *inference)
{
    if (inference->shapes[0]->rank == 0)
        return tw__fail(TW_INVALID_ARGUMENT, "logits must have >= 1 dimension, got []");
    return tw_shape_same(inference);
}

static tw_status compute(tw__kernel *kernel, bool logarithm)
{
    const tw_tensor *logits = kernel->inputs[0];
    int64_t columns = logits->shape.dims[logits->shape.rank - 1];
    if (logits->count == 0)
        return TW_OK;
    return tw__softmax(logits->dtype, logits->data, kernel->outputs[0]->data, logits->count / columns, columns, logarithm);
}

static tw_status softmax_compute(tw__kernel *kernel)
{
    return compute(kernel, false);
}

static tw_status log_softmax_compute(tw__kernel *kernel)
{
    return compute(kernel, true);
}

/* The sum along the last dimension, which stays as a 1. */
static tw_tensor *sum_rows(tw_tensor *x)
{
    int32_t last = -1;
    tw_auto tw_tensor *axis = tw_tensor_new(TW_INT32, TW_SHAPE(1), &last);
    return TW_CALL(Sum, x, axis, TW_A_BOOL("keep_dims", true));
}

/* (grad - sum(grad * y)) * y */
static tw_status softmax_gradient(tw__gradient *gradient)
{
    tw_tensor *y = gradient->outputs[0], *grad = gradient->output_grads[0];
    tw_auto tw_tensor *product = TW_CALL(Mul, grad, y);
    tw_auto tw_tensor *sum = product ? sum_rows(product) : NULL;
    tw_auto tw_tensor *difference = TW_CALL(Sub, grad, sum);
    gradient->input_grads[0] = TW_CALL(Mul, difference, y);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

/* grad - sum(grad) * exp(y) */
static tw_status log_softmax_gradient(tw__gradient *gradient)
{
    tw_tensor *grad = gradient->output_grads[0];
    tw_auto tw_tensor *softmax = TW_CALL(Exp, gradient->outputs[0]);
    tw_auto tw_tensor *sum = sum_rows(grad);
    tw_auto tw_tensor *product = TW_CALL(Mul, sum, softmax);
    gradient->input_grads[0] = TW_CALL(Sub, grad, product);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(Softmax, .inputs = "logits: T", .outputs = "softmax: T", .attrs = "T: {half, bfloat16, float, double}",
      .shape = softmax_shape, .compute = softmax_compute, .gradient = softmax_gradient, .keeps_logits = true,
      .doc = "exp(logits) / sum(exp(logits)) along the last dimension.");

TW_OP(LogSoftmax, .inputs = "logits: T", .outputs = "logsoftmax: T", .attrs = "T: {half, bfloat16, float, double}",
      .shape = softmax_shape, .compute = log_softmax_compute, .gradient = log_softmax_gradient,
      .doc = "logits - log(sum(exp(logits))) along the last dimension.");
