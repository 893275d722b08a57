/* BiasAdd: one number per channel. The channels are the last dimension (NHWC) or the second (NCHW). */
#include "kernel/kernel.h"
#include "kernel/reduce/reduce.h"
#include "op/calls.h"
#include "op/wording.h"
#include "rows.h"

#define NUMBERS                                                                                                          \
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, " \
    "uint16, complex128, half, uint32, uint64}"
#define FORMAT ", data_format: {'NHWC', 'NCHW'} = 'NHWC'"

enum { DATA_FORMAT = 1 }; /* the attr's place */

/* NCHW only means something else from three dimensions on. */
static int channel_axis(const tw_shape *shape, const tw_attr *attrs)
{
    return attrs[DATA_FORMAT].s.data[1] == 'C' && shape->rank > 2 ? 1 : shape->rank - 1;
}

static tw_status bias_shape(tw__inference *inference)
{
    const tw_shape *value = inference->shapes[0], *bias = inference->shapes[1];
    if (value->rank >= 0 && value->rank < 2)
        return tw__fail(TW_INVALID_ARGUMENT, "Input tensor must be at least 2D: %s", tw__shape_text(value));
    if (bias->rank >= 0 && bias->rank != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Biases must be 1D: %s", tw__shape_text(bias));
    inference->out_shapes[0] = *value;
    if (value->rank < 0 || bias->rank < 0)
        return TW_OK;
    int axis = channel_axis(value, inference->attrs);
    if (value->dims[axis] >= 0 && bias->dims[0] >= 0 && value->dims[axis] != bias->dims[0])
        return tw__fail(TW_INVALID_ARGUMENT, "Must provide as many biases as the %s dimension of the input tensor: %s vs. %s",
                        axis == value->rank - 1 ? "last" : "channel", tw__shape_text(bias), tw__shape_text(value));
    return TW_OK;
}

static tw_status bias_compute(tw__kernel *kernel)
{
    const tw_tensor *value = kernel->inputs[0], *bias = kernel->inputs[1];
    if (!tw__binary_has(&tw__binary_add, value->dtype))
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "dtype %s", tw_dtype_name(value->dtype));
    tw_shape shape = bias->shape; /* with ones behind, so that it lies on the channels */
    for (int i = channel_axis(&value->shape, kernel->attrs) + 1; i < value->shape.rank; i++)
        shape.dims[shape.rank++] = 1;
    tw__binary_run(&tw__binary_add, value->dtype, value->data, &value->shape, bias->data, &shape, kernel->outputs[0]->data,
                   &value->shape);
    return TW_OK;
}

static tw_tensor *with_format(const tw_op *op, tw__gradient *gradient, tw_tensor *const *inputs, int count)
{
    tw_attr format = TW_A_STRING("data_format", gradient->attrs[DATA_FORMAT].s.data[1] == 'C' ? "NCHW" : "NHWC");
    return tw__call(op, inputs, count, &format, 1);
}

static tw_status bias_gradient(tw__gradient *gradient)
{
    tw_tensor *grad = gradient->output_grads[0];
    if (gradient->wanted[0])
        gradient->input_grads[0] = tw_retain(grad);
    if (gradient->wanted[1] && !(gradient->input_grads[1] = with_format(&tw__op_BiasAddGrad, gradient, &grad, 1)))
        return tw__error_status();
    return TW_OK;
}

static bool bias_add_words(tw__wording *w)
{
    const tw_shape *in = w->in->shapes[0], *bias = w->in->shapes[1];
    if (bias->rank >= 0 && bias->rank != 1)
        return tw__say_rank(w, 1, bias->rank);
    tw_string format = TW_ATTR(w->in, "data_format")->s;
    if (in->rank < 2 || bias->rank < 0)
        return tw__say_rank_at_least(w, in, 2);
    int64_t depth = in->dims[format.size > 1 && format.data[1] == 'C' ? 1 : in->rank - 1];
    return tw__sizes_differ(depth, bias->dims[0]) && tw__say_dims(w, depth, bias->dims[0]);
}

TW_OP(BiasAdd, .inputs = "value: T, bias: T", .outputs = "output: T", .attrs = NUMBERS FORMAT, .shape = bias_shape,
      .compute = bias_compute, .gradient = bias_gradient, .words = bias_add_words, .scope = TW_SCOPE_ALWAYS,
      .doc = "value + bias, the bias being a number per channel.");

static tw_status bias_grad_shape(tw__inference *inference)
{
    const tw_shape *shape = inference->shapes[0];
    if (shape->rank >= 0 && shape->rank < 2)
        return tw__fail(TW_INVALID_ARGUMENT, "Input tensor must be at least 2D: %s", tw__shape_text(shape));
    inference->out_shapes[0] = TW_SHAPE(shape->rank < 0 ? -1 : shape->dims[channel_axis(shape, inference->attrs)]);
    return TW_OK;
}

static tw_status bias_grad_compute(tw__kernel *kernel)
{
    const tw_tensor *grad = kernel->inputs[0];
    unsigned axes = ((1u << grad->shape.rank) - 1) & ~(1u << channel_axis(&grad->shape, kernel->attrs));
    return tw__reduce(TW__REDUCE_SUM, grad->dtype, grad->data, &grad->shape, axes, kernel->outputs[0]->data);
}

/* A gradient per channel goes to every place of the channel. */
static tw_status bias_grad_gradient(tw__gradient *gradient)
{
    tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, gradient->inputs[0]);
    gradient->input_grads[0] = with_format(&tw__op_BiasAdd, gradient, TW_IN(zeros, gradient->output_grads[0]), 2);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(BiasAddGrad, .inputs = "out_backprop: T", .outputs = "output: T", .attrs = NUMBERS FORMAT, .shape = bias_grad_shape,
      .compute = bias_grad_compute, .gradient = bias_grad_gradient, .doc = "The sum per channel.");
