/* Convolutions of every channel by itself: rows only, the work is that of conv.c. */
#include "op/nn/conv.h"
#include "op/wording.h"
#include "rows.h"

#define ATTRS "T: {half, bfloat16, float, double}, " TW_CONV_ATTRS("")

TW_OP(DepthwiseConv2dNative, .inputs = "input: T, filter: T", .outputs = "output: T", .attrs = ATTRS, .shape = tw__conv_shape,
      .compute = tw__conv_compute, .gradient = tw__conv_gradient, .words = tw__words_convolution,
      .graph_shape = tw__window_in_graph, .scope = TW_SCOPE_ALWAYS,
      .doc = "A convolution of every channel with filters of its own.");

TW_OP(
    DepthwiseConv2dNativeBackpropInput, .inputs = "input_sizes: int32, filter: T, out_backprop: T", .outputs = "output: T",
    .attrs = ATTRS, .shape = tw__conv_input_shape, .compute = tw__conv_input_compute, .gradient = tw__conv_input_gradient,
    .function =
        "nn.depthwise_conv2d_backprop_input|compat.v1.nn.depthwise_conv2d_native_backprop_input(input_sizes: tensor<int32>, filter: tensor<T>, "
        "out_backprop: tensor<T>, strides: ints, padding: str, data_format: str = NHWC, "
        "dilations: ints = (1, 1, 1, 1), name: str = None) -> tensor",
    .doc = "The gradient of DepthwiseConv2dNative by its input.\n"
           "input_sizes: the shape of the input\n"
           "filter: the filters, [rows, columns, channels, multiplier]\n"
           "out_backprop: the gradient by the convolution's result");

TW_OP(
    DepthwiseConv2dNativeBackpropFilter, .inputs = "input: T, filter_sizes: int32, out_backprop: T", .outputs = "output: T",
    .attrs = ATTRS, .shape = tw__conv_filter_shape, .compute = tw__conv_filter_compute, .gradient = tw__conv_filter_gradient,
    .function =
        "nn.depthwise_conv2d_backprop_filter|compat.v1.nn.depthwise_conv2d_native_backprop_filter(input: tensor<T>, filter_sizes: tensor<int32>, "
        "out_backprop: tensor<T>, strides: ints, padding: str, data_format: str = NHWC, "
        "dilations: ints = (1, 1, 1, 1), name: str = None) -> tensor",
    .doc = "The gradient of DepthwiseConv2dNative by its filter.\n"
           "filter_sizes: the shape of the filter\n"
           "out_backprop: the gradient by the convolution's result");
