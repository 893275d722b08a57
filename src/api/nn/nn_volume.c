/* tf.nn: convolutions and pooling of volumes [batch, planes, rows, columns, channels]. Volumes whose channels come first are
 * turned around for the ops, and their results back. */
#include "api/nn/nn.h"
#include "api/nn/window.h"
#include "op/calls.h"
#include "rows.h"

static const int64_t to_last[] = { 0, 2, 3, 4, 1 }, to_first[] = { 0, 4, 1, 2, 3 };

static tw_tensor *turn(tw__temps *t, tw_tensor *x, const int64_t *order)
{
    return x ? TW_TEMP(Transpose, x, tw__temp_ints(t, order, 5, TW_INT32)) : NULL;
}

/* The window of channels that come first as that of channels that come last. */
static void window_to_last(tw__nn_window *w)
{
    tw__nn_window first = *w;
    for (int i = 0; i < 5; i++) {
        w->strides[i] = first.strides[to_last[i]];
        w->others[i] = first.others[to_last[i]];
    }
    w->format = "NDHWC";
}

/* The op with inputs whose first one, or with `gradient` the third one, is a batch of volumes. */
static tw_tensor *run(const tw_op *op, tw_tensor *const *given, int count, tw__nn_window w, const char *others)
{
    TW_TEMPS(t);
    tw_attr attrs[8];
    tw_tensor *inputs[3] = { NULL, NULL, NULL };
    for (int i = 0; i < count; i++)
        inputs[i] = given[i];
    if (!w.channels_first)
        return tw__call(op, inputs, count, attrs, tw__nn_window_attrs(&w, others, attrs));
    window_to_last(&w);
    if (count == 3) {
        inputs[0] = tw__temp_gather(t, inputs[0], tw__temp_ints(t, to_last, 5, TW_INT32), 0);
        inputs[2] = turn(t, inputs[2], to_last);
    } else {
        inputs[0] = turn(t, inputs[0], to_last);
    }
    if (!inputs[0] || !inputs[count - 1])
        return NULL;
    tw_tensor *made = tw__temp(t, tw__call(op, inputs, count, attrs, tw__nn_window_attrs(&w, others, attrs)));
    return made ? TW_CALL(Transpose, made, tw__temp_ints(t, to_first, 5, TW_INT32)) : NULL;
}

TW_API(
    nn_conv3d,
    "nn.conv3d(input: tensor<T>, filters: tensor<T>, strides: ints, padding: value, data_format: str = NDHWC, "
    "dilations: ints = None, name: str = None) -> tensor",
    "A convolution of volumes [batch, planes, rows, columns, channels] with filters [planes, rows, columns, channels, outputs].")
{
    tw__nn_window w;
    if (tw__nn_window_read(&w, 3, args->data_format, (tw__nn_given){ args->strides, "strides" },
                           (tw__nn_given){ args->dilations, "dilations" }, &args->padding) != TW_OK)
        return NULL;
    return run(&tw__op_Conv3D, TW_IN(args->input, args->filters), 2, w, "dilations");
}

TW_API(
    nn_conv3d_transpose,
    "nn.conv3d_transpose(input: tensor<T>, filters: tensor<T>, output_shape: tensor<int32>, strides: ints, "
    "padding: value = None shown SAME, data_format: str = NDHWC, dilations: ints = None, name: str = None) -> tensor",
    "The gradient of a convolution of volumes as a function of its own; filters are [planes, rows, columns, outputs, channels].\n"
    "output_shape: the shape of the result: all five dimensions\n"
    "filters: the filter: window sizes, then output and input channels")
{
    tw__nn_window w;
    static const tw_value same = { .kind = TW_VALUE_STR, .s = { "SAME", 4 } };
    if (tw__nn_window_read(&w, 3, args->data_format, (tw__nn_given){ args->strides, "strides" },
                           (tw__nn_given){ args->dilations, "dilations" },
                           args->padding.kind == TW_VALUE_NONE ? &same : &args->padding) != TW_OK)
        return NULL;
    return run(&tw__op_Conv3DBackpropInputV2, TW_IN(args->output_shape, args->filters, args->input), 3, w, "dilations");
}

tw_tensor *tw__nn_pool_volumes(const tw_op *op, tw_tensor *input, tw_ints sizes, tw_ints strides, const tw_value *padding,
                               const char *format)
{
    tw__nn_window w;
    if (tw__nn_window_read(&w, 3, format, (tw__nn_given){ strides, "strides" }, (tw__nn_given){ sizes, "ksize" }, padding) !=
        TW_OK)
        return NULL;
    return run(op, TW_IN(input), 1, w, "ksize");
}

TW_API(nn_max_pool3d,
       "nn.max_pool3d(input: tensor, ksize: ints, strides: ints, padding: value, data_format: str = NDHWC, "
       "name: str = None) -> tensor",
       "The greatest value of each window of volumes.")
{
    return tw__nn_pool_volumes(&tw__op_MaxPool3D, args->input, args->ksize, args->strides, &args->padding, args->data_format);
}

TW_API(nn_avg_pool3d,
       "nn.avg_pool3d(input: tensor, ksize: ints, strides: ints, padding: value, data_format: str = NDHWC, "
       "name: str = None) -> tensor",
       "The mean of each window of volumes.")
{
    return tw__nn_pool_volumes(&tw__op_AvgPool3D, args->input, args->ksize, args->strides, &args->padding, args->data_format);
}
