/* tf.nn: convolutions and pooling of sequences and images as users name them; convolutions of sequences are those of images with
 * one row. */
#include "api/array/array.h"
#include "api/nn/nn.h"
#include "api/nn/window.h"
#include "op/calls.h"
#include "rows.h"

/* ---- convolutions ---- */

TW_API(
    nn_conv2d,
    "nn.conv2d(input: tensor<T>, filters: tensor<T>, strides: ints, padding: value, data_format: str = NHWC, "
    "dilations: ints = None, "
    "name: str = None) -> tensor",
    "A convolution of images [batch, rows, columns, channels] with filters [rows, columns, channels, outputs].\n"
    "returns: images [batch, rows, columns, outputs], or as `data_format` says\n"
    "example: tf.nn.conv2d(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), 1, 'VALID').numpy().ravel().tolist()  # [4.0, 4.0, 4.0, 4.0]")
{
    tw__nn_window w;
    tw_attr attrs[8];
    if (tw__nn_window_read(&w, 2, args->data_format, (tw__nn_given){ args->strides, "strides" },
                           (tw__nn_given){ args->dilations, "dilations" }, &args->padding) != TW_OK)
        return NULL;
    return tw__call(&tw__op_Conv2D, TW_IN(args->input, args->filters), 2, attrs, tw__nn_window_attrs(&w, "dilations", attrs));
}

TW_API(
    nn_depthwise_conv2d,
    "nn.depthwise_conv2d|compat.v1.nn.depthwise_conv2d_native(input: tensor<T>, filter: tensor<T>, strides: ints, padding: value, data_format: str = None, "
    "dilations: ints = None, name: str = None) -> tensor",
    "A convolution of every channel with filters of its own [rows, columns, channels, multiplier].\n"
    "filter: the filters, [rows, columns, channels, multiplier]\n"
    "returns: images whose channels are those of the input times the multiplier")
{
    tw__nn_window w;
    tw_attr attrs[8];
    if (tw__nn_window_read(&w, 2, args->data_format, (tw__nn_given){ args->strides, "strides" },
                           (tw__nn_given){ args->dilations, "dilations" }, &args->padding) != TW_OK)
        return NULL;
    return tw__call(&tw__op_DepthwiseConv2dNative, TW_IN(args->input, args->filter), 2, attrs,
                    tw__nn_window_attrs(&w, "dilations", attrs));
}

TW_API(nn_conv2d_transpose,
       "nn.conv2d_transpose(input: tensor<T>, filters: tensor<T>, output_shape: tensor<int32>, strides: ints, "
       "padding: value = None shown SAME, "
       "data_format: str = NHWC, dilations: ints = None, name: str = None) -> tensor",
       "The gradient of a convolution as a function of its own; filters are [rows, columns, outputs, channels].\n"
       "output_shape: the shape of the result: all four dimensions\n"
       "filters: the filter: window sizes, then output and input channels")
{
    tw__nn_window w;
    tw_attr attrs[8];
    static const tw_value same = { .kind = TW_VALUE_STR, .s = { "SAME", 4 } };
    const tw_value *padding_given = args->padding.kind == TW_VALUE_NONE ? &same : &args->padding;
    if (tw__nn_window_read(&w, 2, args->data_format, (tw__nn_given){ args->strides, "strides" },
                           (tw__nn_given){ args->dilations, "dilations" }, padding_given) != TW_OK)
        return NULL;
    return tw__call(&tw__op_Conv2DBackpropInput, TW_IN(args->output_shape, args->filters, args->input), 3, attrs,
                    tw__nn_window_attrs(&w, "dilations", attrs));
}

static tw_tensor *squeeze_axis(tw_tensor *x, int64_t axis)
{
    return TW_CALL(Squeeze, x, TW_A_INTS("squeeze_dims", &axis, 1));
}

TW_API(nn_conv1d,
       "nn.conv1d(input: tensor<T>, filters: tensor<T>, stride: ints, padding: str, data_format: str = NWC, "
       "dilations: ints = None, "
       "name: str = None) -> tensor",
       "A convolution of sequences [batch, steps, channels] with filters [steps, channels, outputs].\n"
       "stride: by how many steps windows move\n"
       "example: tf.nn.conv1d([[[1.0], [2.0], [3.0]]], [[[1.0]], [[1.0]]], 1, 'VALID').numpy().tolist()  # [[[3.0], [5.0]]]")
{
    tw__nn_window w;
    tw_attr attrs[8];
    tw_value text = { .kind = TW_VALUE_STR, .s = { args->padding, strlen(args->padding) } };
    if (tw__nn_window_read(&w, 1, args->data_format, (tw__nn_given){ args->stride, "stride" },
                           (tw__nn_given){ args->dilations, "dilations" }, &text) != TW_OK)
        return NULL;
    int64_t axis = w.channels_first ? 2 : 1;
    tw_auto tw_tensor *images = tw__call_axis(&tw__op_ExpandDims, args->input, axis, NULL, 0);
    tw_auto tw_tensor *filters = tw__call_axis(&tw__op_ExpandDims, args->filters, 0, NULL, 0);
    tw_auto tw_tensor *result =
        tw__call(&tw__op_Conv2D, TW_IN(images, filters), 2, attrs, tw__nn_window_attrs(&w, "dilations", attrs));
    return squeeze_axis(result, axis);
}

/* ---- pooling ---- */

static tw_tensor *pool(const tw_op *op, tw_tensor *input, tw_ints sizes, tw_ints strides, const tw_value *given, const char *text,
                       int axes)
{
    tw__nn_window w;
    tw_attr attrs[8];
    if (tw__nn_window_read(&w, axes, text, (tw__nn_given){ strides, "strides" }, (tw__nn_given){ sizes, "ksize" }, given) !=
        TW_OK)
        return NULL;
    int count = tw__nn_window_attrs(&w, "ksize", attrs);
    if (axes == 2)
        return tw__call(op, TW_IN(input), 1, attrs, count);
    int64_t axis = w.channels_first ? 2 : 1;
    tw_auto tw_tensor *images = tw__call_axis(&tw__op_ExpandDims, input, axis, NULL, 0);
    tw_auto tw_tensor *result = tw__call(op, TW_IN(images), 1, attrs, count);
    return squeeze_axis(result, axis);
}

/* By the rank of the input: sequences, images or volumes. */
static tw_tensor *pool_any(const tw_op *op, const tw_op *volumes, tw_tensor *input, tw_ints sizes, tw_ints strides,
                           const tw_value *given, const char *text)
{
    int rank = input->shape.rank;
    if (rank >= 3 && rank <= 4)
        return pool(op, input, sizes, strides, given, text, rank - 2);
    if (rank == 5)
        return tw__nn_pool_volumes(volumes, input, sizes, strides, given, text);
    tw__fail(TW_VALUE_ERROR, "`input.shape.rank` must be 3, 4 or 5. Received: input.shape of rank %d.", rank);
    return NULL;
}

TW_API(
    nn_max_pool2d,
    "nn.max_pool2d|compat.v1.nn.max_pool_v2(input: tensor, ksize: ints, strides: ints, padding: value, data_format: str = NHWC, "
    "name: str = None) -> tensor",
    "The greatest value of each window of images.\n"
    "example: tf.nn.max_pool2d(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), 2, 2, 'VALID').numpy().ravel().tolist()  # [5.0, 7.0, 13.0, 15.0]")
{
    return pool(&tw__op_MaxPool, args->input, args->ksize, args->strides, &args->padding, args->data_format, 2);
}

TW_API(nn_max_pool1d,
       "nn.max_pool1d(input: tensor, ksize: ints, strides: ints, padding: value, data_format: str = NWC, "
       "name: str = None) -> tensor",
       "The greatest value of each window of sequences.")
{
    return pool(&tw__op_MaxPool, args->input, args->ksize, args->strides, &args->padding, args->data_format, 1);
}

TW_API(nn_max_pool,
       "nn.max_pool(input: tensor, ksize: ints, strides: ints, padding: value, data_format: str = None, "
       "name: str = None) -> tensor",
       "The greatest value of each window of sequences, images or volumes.")
{
    return pool_any(&tw__op_MaxPool, &tw__op_MaxPool3D, args->input, args->ksize, args->strides, &args->padding,
                    args->data_format);
}

TW_API(
    nn_avg_pool2d,
    "nn.avg_pool2d|compat.v1.nn.avg_pool_v2(input: tensor, ksize: ints, strides: ints, padding: value, data_format: str = NHWC, "
    "name: str = None) -> tensor",
    "The mean of each window of images.")
{
    return pool(&tw__op_AvgPool, args->input, args->ksize, args->strides, &args->padding, args->data_format, 2);
}

TW_API(nn_avg_pool1d,
       "nn.avg_pool1d(input: tensor, ksize: ints, strides: ints, padding: value, data_format: str = NWC, "
       "name: str = None) -> tensor",
       "The mean of each window of sequences.")
{
    return pool(&tw__op_AvgPool, args->input, args->ksize, args->strides, &args->padding, args->data_format, 1);
}

TW_API(nn_avg_pool,
       "nn.avg_pool(input: tensor, ksize: ints, strides: ints, padding: value, data_format: str = None, "
       "name: str = None) -> tensor",
       "The mean of each window of sequences, images or volumes.")
{
    return pool_any(&tw__op_AvgPool, &tw__op_AvgPool3D, args->input, args->ksize, args->strides, &args->padding,
                    args->data_format);
}
