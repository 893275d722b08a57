/* Conv2D and its gradients as ops, which are each other's gradients. */
#include "op/nn/conv.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/wording.h"
#include "rows.h"

/* ---- shapes ---- */

tw_status tw__conv_shape(tw__inference *inference)
{
    tw__conv_case of;
    TW_TRY(tw__conv_read(&of, inference->op, inference->attrs));
    TW_TRY(tw__conv_fit(&of, inference->shapes[0], inference->shapes[1], NULL));
    inference->out_shapes[0] = of.output;
    return TW_OK;
}

/* Two sizes are the rows and columns alone. */
static tw_status input_shape(const tw__conv_case *of, const tw_tensor *sizes, const tw_shape *filter, const tw_shape *gradient,
                             tw_shape *shape)
{
    TW_TRY(tw__conv_sizes(of, sizes, "input_sizes", shape));
    if (of->depthwise || shape->rank == 4)
        return TW_OK;
    if (shape->rank != 2)
        return TW_WINDOW_FAIL(of->op, TW_INVALID_ARGUMENT,
                              "Conv2DBackpropInput requires input_sizes to contain 4 values or 2 values, but got: %d",
                              shape->rank);
    *shape = TW_SHAPE(gradient->rank == 4 ? gradient->dims[0] : -1, shape->dims[0], shape->dims[1],
                      filter->rank == 4 ? filter->dims[2] : -1);
    return tw__window_check_count(of->op, shape);
}

tw_status tw__conv_input_shape(tw__inference *inference)
{
    tw__conv_case of;
    const tw_shape *filter = inference->shapes[1], *gradient = inference->shapes[2];
    tw_shape *shape = &inference->out_shapes[0];
    TW_TRY(tw__conv_read(&of, inference->op, inference->attrs));
    TW_TRY(input_shape(&of, inference->values[0], filter, gradient, shape));
    TW_TRY(tw__conv_fit(&of, shape, filter, gradient));
    if (gradient->rank == 4 && shape->dims[0] < 0)
        shape->dims[0] = gradient->dims[0];
    return TW_OK;
}

tw_status tw__conv_filter_shape(tw__inference *inference)
{
    tw__conv_case of;
    const tw_shape *input = inference->shapes[0], *gradient = inference->shapes[2];
    TW_TRY(tw__conv_read(&of, inference->op, inference->attrs));
    TW_TRY(tw__conv_sizes(&of, inference->values[1], "filter_sizes", &inference->out_shapes[0]));
    return tw__conv_fit(&of, input, &inference->out_shapes[0], gradient);
}

/* ---- kernels ---- */

tw_status tw__conv_compute(tw__kernel *kernel)
{
    tw__conv_case of;
    const tw_tensor *input = kernel->inputs[0], *filter = kernel->inputs[1];
    TW_TRY(tw__conv_read(&of, kernel->op, kernel->attrs));
    TW_TRY(tw__conv_fit(&of, &input->shape, &filter->shape, NULL));
    return tw__conv_run(TW_CONV_OUTPUT, input->dtype, &of.conv, input->data, filter->data, kernel->outputs[0]->data);
}

tw_status tw__conv_input_compute(tw__kernel *kernel)
{
    tw__conv_case of;
    tw_shape shape;
    const tw_tensor *filter = kernel->inputs[1], *gradient = kernel->inputs[2];
    TW_TRY(tw__conv_read(&of, kernel->op, kernel->attrs));
    TW_TRY(input_shape(&of, kernel->inputs[0], &filter->shape, &gradient->shape, &shape));
    TW_TRY(tw__conv_fit(&of, &shape, &filter->shape, &gradient->shape));
    tw_tensor *output = tw__output(kernel, 0, &shape);
    return output ? tw__conv_run(TW_CONV_INPUT, filter->dtype, &of.conv, filter->data, gradient->data, output->data)
                  : tw__error_status();
}

tw_status tw__conv_filter_compute(tw__kernel *kernel)
{
    tw__conv_case of;
    tw_shape shape;
    const tw_tensor *input = kernel->inputs[0], *gradient = kernel->inputs[2];
    TW_TRY(tw__conv_read(&of, kernel->op, kernel->attrs));
    TW_TRY(tw__conv_sizes(&of, kernel->inputs[1], "filter_sizes", &shape));
    TW_TRY(tw__conv_fit(&of, &input->shape, &shape, &gradient->shape));
    tw_tensor *output = tw__output(kernel, 0, &shape);
    return output ? tw__conv_run(TW_CONV_FILTER, input->dtype, &of.conv, input->data, gradient->data, output->data)
                  : tw__error_status();
}

/* ---- gradients ---- */

/* One of the family's three ops (0: output, 1: input, 2: filter) with the attrs of the one that is derived. */
static tw_tensor *call(const tw__gradient *g, int which, tw_tensor *const *inputs, int count)
{
    static const tw_op *const plain[] = { &tw__op_Conv2D, &tw__op_Conv2DBackpropInput, &tw__op_Conv2DBackpropFilter };
    static const tw_op *const depthwise[] = { &tw__op_DepthwiseConv2dNative, &tw__op_DepthwiseConv2dNativeBackpropInput,
                                              &tw__op_DepthwiseConv2dNativeBackpropFilter };
    tw_attr attrs[TW_MAX_ATTRS];
    int attr_count = 0;
    const tw__op_signature *signature = tw__op_signature_of(g->op);
    for (int i = 0; signature && i < signature->attr_count; i++) {
        if (signature->attrs[i].kind != TW_ATTR_TYPE)
            attrs[attr_count++] = g->attrs[i];
    }
    return tw__call((tw__starts_with(g->op->name, "Depthwise") ? depthwise : plain)[which], inputs, count, attrs, attr_count);
}

static tw_tensor *by_input(const tw__gradient *g, tw_tensor *input, tw_tensor *filter, tw_tensor *gradient)
{
    tw_auto tw_tensor *sizes = tw__shape_as_tensor(input, TW_INT32);
    return call(g, 1, TW_IN(sizes, filter, gradient), 3);
}

static tw_tensor *by_filter(const tw__gradient *g, tw_tensor *input, tw_tensor *filter, tw_tensor *gradient)
{
    tw_auto tw_tensor *sizes = tw__shape_as_tensor(filter, TW_INT32);
    return call(g, 2, TW_IN(input, sizes, gradient), 3);
}

tw_status tw__conv_gradient(tw__gradient *g)
{
    tw_tensor *input = g->inputs[0], *filter = g->inputs[1], *gradient = g->output_grads[0];
    if (g->wanted[0])
        tw__grad_set(g, 0, by_input(g, input, filter, gradient));
    if (g->wanted[1])
        tw__grad_set(g, 1, by_filter(g, input, filter, gradient));
    return tw__grad_status(g);
}

tw_status tw__conv_input_gradient(tw__gradient *g)
{
    tw_tensor *filter = g->inputs[1], *gradient = g->inputs[2], *incoming = g->output_grads[0];
    if (g->wanted[1] && !(g->input_grads[1] = by_filter(g, incoming, filter, gradient)))
        return tw__error_status();
    if (g->wanted[2] && !(g->input_grads[2] = call(g, 0, TW_IN(incoming, filter), 2)))
        return tw__error_status();
    return TW_OK;
}

tw_status tw__conv_filter_gradient(tw__gradient *g)
{
    tw_tensor *input = g->inputs[0], *gradient = g->inputs[2], *incoming = g->output_grads[0];
    if (g->wanted[0] && !(g->input_grads[0] = by_input(g, input, incoming, gradient)))
        return tw__error_status();
    if (g->wanted[2] && !(g->input_grads[2] = call(g, 0, TW_IN(input, incoming), 2)))
        return tw__error_status();
    return TW_OK;
}

/* ---- rows ---- */

#define ATTRS TW_CONV_ATTRS("use_cudnn_on_gpu: bool = true, ")

bool tw__words_convolution(tw__wording *w)
{
    const tw_shape *in = w->in->shapes[0], *filter = w->in->shapes[1];
    for (int i = 0; i < 2; i++) {
        if (w->in->shapes[i]->rank >= 0 && w->in->shapes[i]->rank != 4)
            return tw__say_rank(w, 4, w->in->shapes[i]->rank);
    }
    if (in->rank < 0 || filter->rank < 0 || w->in->op != &tw__op_Conv2D)
        return false;
    tw_string format = TW_ATTR(w->in, "data_format")->s;
    int64_t depth = in->dims[format.size && format.data[1] == 'C' ? 1 : 3];
    if (depth < 0 || filter->dims[2] <= 0 || depth % filter->dims[2] == 0)
        return false;
    tw__text_format(&w->text, "Depth of input (%lld) is not a multiple of input depth of filter (%lld)", (long long)depth,
                    (long long)filter->dims[2]);
    return true;
}

TW_OP(Conv2D, .inputs = "input: T, filter: T", .outputs = "output: T",
      .attrs = "T: {half, bfloat16, float, double, int32}, " ATTRS, .shape = tw__conv_shape, .compute = tw__conv_compute,
      .gradient = tw__conv_gradient, .words = tw__words_convolution, .graph_shape = tw__window_in_graph,
      .doc = "The sums of products of the filter with each window of the images.");

TW_OP(Conv2DBackpropInput, .inputs = "input_sizes: int32, filter: T, out_backprop: T", .outputs = "output: T",
      .attrs = "T: {half, bfloat16, float, double, int32}, " ATTRS, .shape = tw__conv_input_shape,
      .compute = tw__conv_input_compute, .gradient = tw__conv_input_gradient,
      .function = "compat.v1.nn.conv2d_backprop_input(input_sizes: tensor<int32>, filter: tensor<T>, out_backprop: tensor<T>, "
                  "strides: ints, padding: str, use_cudnn_on_gpu: bool = True, data_format: str = NHWC, "
                  "dilations: ints = (1, 1, 1, 1), name: str = None) -> tensor",
      .doc = "The gradient of Conv2D by its input; also a transposed convolution.\n"
             "input_sizes: the shape of the input\n"
             "filter: the filter, [rows, columns, channels, outputs]\n"
             "out_backprop: the gradient by the convolution's result\n"
             "use_cudnn_on_gpu: kept for old programs; it changes nothing");

TW_OP(Conv2DBackpropFilter, .inputs = "input: T, filter_sizes: int32, out_backprop: T", .outputs = "output: T",
      .attrs = "T: {half, bfloat16, float, double}, " ATTRS, .shape = tw__conv_filter_shape, .compute = tw__conv_filter_compute,
      .gradient = tw__conv_filter_gradient,
      .function = "compat.v1.nn.conv2d_backprop_filter(input: tensor<T>, filter_sizes: tensor<int32>, out_backprop: tensor<T>, "
                  "strides: ints, padding: str, use_cudnn_on_gpu: bool = True, data_format: str = NHWC, "
                  "dilations: ints = (1, 1, 1, 1), name: str = None) -> tensor",
      .doc = "The gradient of Conv2D by its filter.\n"
             "filter_sizes: the shape of the filter\n"
             "out_backprop: the gradient by the convolution's result\n"
             "use_cudnn_on_gpu: kept for old programs; it changes nothing");
