/* The two cross-entropies of logits. Both give the loss per row and, as second output, its derivative by the logits, which the
 * gradient then only has to scale; a gradient that comes to the second output (a derivative of second order) goes through
 * softmax. */
#include "kernel/kernel.h"
#include "kernel/nn.h"
#include "op/calls.h"
#include "op/nn/cross_entropy.h"
#include "op/wording.h"
#include "rows.h"

/* x with one more dimension at `axis`. */
static tw_tensor *expand(tw_tensor *x, int32_t axis)
{
    return TW_CALL(ExpandDims, x, (int)axis);
}

/* grad [rows] * matrix [rows, columns], plus what the gradient of the second output adds. */
static tw_tensor *logits_gradient(tw__gradient *gradient)
{
    tw_tensor *loss_grad = gradient->output_grads[0], *second = gradient->output_grads[1];
    tw_tensor *first = NULL;
    if (loss_grad) {
        tw_auto tw_tensor *column = expand(loss_grad, -1);
        if (!(first = TW_CALL(Mul, column, gradient->outputs[1])))
            return NULL;
    }
    if (!second)
        return first;
    /* (second - sum(second * softmax)) * softmax */
    tw_auto tw_tensor *held = first; /* released at the end */
    (void)held;
    tw_auto tw_tensor *softmax = TW_CALL(Softmax, gradient->inputs[0]);
    tw_auto tw_tensor *row = expand(second, 1);
    tw_auto tw_tensor *column = softmax ? expand(softmax, 2) : NULL;
    tw_auto tw_tensor *product = TW_CALL(BatchMatMulV2, row, column);
    tw_auto tw_tensor *sum = TW_CALL(Squeeze, product, TW_A_INTS("squeeze_dims", (const int64_t[]){ 1 }, 1));
    tw_auto tw_tensor *difference = TW_CALL(Sub, second, sum);
    tw_auto tw_tensor *added = TW_CALL(Mul, difference, softmax);
    return first ? TW_CALL(AddV2, first, added) : tw_retain(added);
}

/* ---- one class per row ---- */

static tw_status sparse_shape(tw__inference *inference)
{
    const tw_shape *logits = inference->shapes[0], *labels = inference->shapes[1];
    if (logits->rank >= 0 && logits->rank != 2)
        return tw__fail(TW_INVALID_ARGUMENT, "logits must be 2-D, but got shape %s", tw__shape_text(logits));
    if (labels->rank >= 0 && labels->rank != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "labels must be 1-D, but got shape %s", tw__shape_text(labels));
    int64_t rows = logits->rank < 0 ? -1 : logits->dims[0], columns = logits->rank < 0 ? -1 : logits->dims[1];
    int64_t label_rows = labels->rank < 0 ? -1 : labels->dims[0];
    if (rows >= 0 && label_rows >= 0 && rows != label_rows)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "logits and labels must have the same first dimension, got logits shape %s and labels shape %s",
                        tw__shape_text(logits), tw__shape_text(labels));
    if (columns == 0)
        return tw__fail(TW_INVALID_ARGUMENT, "Must have at least one class, but got logits shape %s", tw__shape_text(logits));
    if (rows < 0)
        rows = label_rows;
    inference->out_shapes[0] = TW_SHAPE(rows);
    inference->out_shapes[1] = TW_SHAPE(rows, columns);
    return TW_OK;
}

static int64_t label_at(const tw_tensor *labels, int64_t index)
{
    return labels->dtype == TW_INT32 ? ((const int32_t *)labels->data)[index] : ((const int64_t *)labels->data)[index];
}

static tw_status bad_label(tw__kernel *kernel, int64_t label, int64_t columns)
{
    const tw_tensor *labels = kernel->inputs[1];
    tw__text text = { 0 };
    for (int64_t i = 0; i < labels->count; i++)
        tw__text_format(&text, "%s%lld", i ? " " : "", (long long)label_at(labels, i));
    tw__owned char *list = tw__text_take(&text);
    tw__fail(TW_INVALID_ARGUMENT,
             "Received a label value of %lld which is outside the valid range of [0, %lld).  Label values: %s", (long long)label,
             (long long)columns, list ? list : "");
    return TW_INVALID_ARGUMENT;
}

static tw_status sparse(tw__kernel *kernel, const tw__row_factors *factors)
{
    const tw_tensor *logits = kernel->inputs[0], *labels = kernel->inputs[1];
    int64_t rows = logits->shape.dims[0], columns = logits->shape.dims[1];
    for (int64_t i = rows; i-- > 0;) { /* TensorFlow names the last one */
        int64_t label = label_at(labels, i);
        if (label < 0 || label >= columns)
            return bad_label(kernel, label, columns);
    }
    return tw__sparse_cross_entropy(logits->dtype, logits->data, labels->dtype, labels->data, kernel->outputs[0]->data,
                                    kernel->outputs[1]->data, rows, columns, factors);
}

static tw_status sparse_compute(tw__kernel *kernel)
{
    return sparse(kernel, NULL);
}

static tw_status sparse_gradient(tw__gradient *gradient)
{
    gradient->input_grads[0] = logits_gradient(gradient);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(SparseSoftmaxCrossEntropyWithLogits, .inputs = "features: T, labels: Tlabels", .outputs = "loss: T, backprop: T",
      .attrs = "T: {half, bfloat16, float, double}, Tlabels: {int32, int64} = int64", .shape = sparse_shape,
      .compute = sparse_compute, .gradient = sparse_gradient, .elements = 1u << 1,
      .doc = "The cross-entropy of softmax(features) where each row's class is given by its number.");

/* ---- probabilities ---- */

static tw_status dense_shape(tw__inference *inference)
{
    const tw_shape *logits = inference->shapes[0], *labels = inference->shapes[1];
    tw_shape both;
    if (!tw__shape_broadcast(logits, labels, &both))
        return tw__fail(TW_INVALID_ARGUMENT, "logits and labels must be broadcastable: logits_size=%s labels_size=%s",
                        tw__shape_text(logits), tw__shape_text(labels));
    if (both.rank >= 0 && both.rank != 2)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "logits and labels must be either 2-dimensional, or broadcasted to be 2-dimensional, got %s and %s",
                        tw__shape_text(logits), tw__shape_text(labels));
    inference->out_shapes[0] = TW_SHAPE(both.rank < 0 ? -1 : both.dims[0]);
    inference->out_shapes[1] = both.rank < 0 ? TW_SHAPE(-1, -1) : both;
    return TW_OK;
}

/* The tensor itself, or one of the whole shape that repeats it. A new reference. */
static tw_tensor *whole(tw_tensor *tensor, const tw_shape *shape)
{
    if (tw__shape_equal(&tensor->shape, shape))
        return tw_retain(tensor);
    tw_tensor *out = tw__tensor_empty(tensor->dtype, shape);
    if (!out)
        return NULL;
    tw__broadcast plan;
    tw__broadcast_plan(&plan, shape, (const tw_shape *[]){ &tensor->shape }, 1);
    size_t size = tw__element_size(tensor->dtype);
    int64_t row_size = plan.dims[plan.rank - 1];
    for (int64_t row = 0; out->count && row < plan.rows; row++) {
        const char *from = (const char *)tensor->data + (size_t)tw__broadcast_offset(&plan, 0, row) * size;
        char *to = (char *)out->data + (size_t)(row * row_size) * size;
        for (int64_t j = 0; j < row_size; j++)
            memcpy(to + (size_t)j * size, from + (size_t)(j * plan.strides[0][plan.rank - 1]) * size, size);
    }
    return out;
}

static tw_status dense(tw__kernel *kernel, const tw__row_factors *factors)
{
    const tw_shape *shape = &kernel->outputs[1]->shape;
    tw_auto tw_tensor *logits = whole(kernel->inputs[0], shape);
    tw_auto tw_tensor *labels = whole(kernel->inputs[1], shape);
    if (!logits || !labels)
        return tw__error_status();
    if (shape->dims[1] == 0) {
        memset(kernel->outputs[0]->data, 0, (size_t)kernel->outputs[0]->count * tw__element_size(logits->dtype));
        return TW_OK;
    }
    return tw__cross_entropy(logits->dtype, logits->data, labels->data, kernel->outputs[0]->data, kernel->outputs[1]->data,
                             shape->dims[0], shape->dims[1], factors);
}

static tw_status dense_compute(tw__kernel *kernel)
{
    return dense(kernel, NULL);
}

static tw_status dense_gradient(tw__gradient *gradient)
{
    if (gradient->wanted[0] && !(gradient->input_grads[0] = logits_gradient(gradient)))
        return tw__error_status();
    if (!gradient->wanted[1] || !gradient->output_grads[0])
        return TW_OK;
    tw_auto tw_tensor *log_softmax = TW_CALL(LogSoftmax, gradient->inputs[0]);
    tw_auto tw_tensor *minus = TW_CALL(Neg, log_softmax);
    tw_auto tw_tensor *column = expand(gradient->output_grads[0], -1);
    gradient->input_grads[1] = TW_CALL(Mul, column, minus);
    return gradient->input_grads[1] ? TW_OK : tw__error_status();
}

TW_OP(SoftmaxCrossEntropyWithLogits, .inputs = "features: T, labels: T", .outputs = "loss: T, backprop: T",
      .attrs = "T: {half, bfloat16, float, double}", .shape = dense_shape, .compute = dense_compute, .gradient = dense_gradient,
      .words = tw__words_binary, .doc = "The cross-entropy of softmax(features) with probabilities.");

tw_status tw__cross_entropy_scaled(tw__kernel *kernel, const tw_tensor *factors)
{
    tw__row_factors rows = { factors->data, factors->count == 1 };
    return kernel->op == &tw__op_SparseSoftmaxCrossEntropyWithLogits ? sparse(kernel, &rows) : dense(kernel, &rows);
}
