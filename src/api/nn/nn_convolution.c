/* tf.nn: convolutions and pooling of any number of axes, separable and dilated ones, composed of those of sequences, images and
 * volumes. */
#include "api/array/array.h"
#include "api/nn/nn.h"
#include "api/nn/window.h"
#include "op/calls.h"
#include "rows.h"

static bool above_one(tw_ints numbers)
{
    bool above = false;
    for (int64_t i = 0; numbers.given && i < numbers.count; i++)
        above |= numbers.items[i] > 1;
    return above;
}

static const tw_ints one = { .items = (const int64_t[]){ 1 }, .count = 1, .given = true };

/* tf.nn.convN of an input with one batch dimension. */
static tw_tensor *convolve(int axes, tw_tensor *input, tw_tensor *filters, tw_ints strides, const tw_value *padding,
                           const char *format, tw_ints dilations)
{
    char text[16] = "";
    static const tw_value valid = { .kind = TW_VALUE_STR, .s = { "VALID", 5 } };
    if (!strides.given)
        strides = one;
    if (padding->kind == TW_VALUE_NONE)
        padding = &valid;
    if (axes == 3)
        return tw_nn_conv3d(input, filters, strides, *padding, .data_format = format, .dilations = dilations);
    if (axes == 2)
        return tw_nn_conv2d(input, filters, strides, *padding, .data_format = format, .dilations = dilations);
    if (padding->kind != TW_VALUE_STR || padding->s.size >= sizeof text) {
        tw__fail(TW_VALUE_ERROR, "convolution: `padding` must be 'SAME' or 'VALID' for sequences");
        return NULL;
    }
    memcpy(text, padding->s.data, padding->s.size);
    return tw_nn_conv1d(input, filters, strides, text, .data_format = format, .dilations = dilations);
}

TW_API(
    nn_convolution,
    "nn.convolution(input: tensor<T>, filters: tensor<T>, strides: ints = None, padding: value = None shown VALID, data_format: str = None, "
    "dilations: ints = None, name: str = None) -> tensor",
    "A convolution over one, two or three axes, as the filters have; the input may have several batch dimensions.")
{
    TW_TEMPS(t);
    tw_tensor *input = args->input, *filters = args->filters;
    int axes = (filters->shape.rank >= 0 ? filters->shape.rank : input->shape.rank) - 2, rank = input->shape.rank;
    if (axes < 1 || axes > 3) {
        tw__fail(TW_VALUE_ERROR, "`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims=%d.", axes);
        return NULL;
    }
    if (above_one(args->strides) && above_one(args->dilations)) {
        tw__fail(TW_VALUE_ERROR, "`strides > 1` not supported in conjunction with `dilations > 1`");
        return NULL;
    }
    if (rank >= 0 && rank < axes + 2) {
        tw__fail(TW_VALUE_ERROR, "convolution: an input of rank %d, expected at least %d for filters of rank %d", rank, axes + 2,
                 axes + 2);
        return NULL;
    }
    if (rank < 0 || rank == axes + 2)
        return convolve(axes, input, filters, args->strides, &args->padding, args->data_format, args->dilations);
    int64_t outer = rank - axes - 1, all = -1;
    tw_tensor *sizes = tw__temp_shape(t, input, TW_INT32), *flat = tw__temp_ints(t, &all, 1, TW_INT32);
    tw_tensor *shape = tw__temp_concat(t, (tw_tensor *[]){ flat, tw__temp_slice(t, sizes, outer, TW_NO_INT) }, 2, 0);
    tw_tensor *images = TW_TEMP(Reshape, input, shape);
    tw_tensor *made =
        tw__temp(t, images ? convolve(axes, images, filters, args->strides, &args->padding, args->data_format, args->dilations)
                           : NULL);
    tw_tensor *inner = made ? tw__temp_slice(t, tw__temp_shape(t, made, TW_INT32), 1, TW_NO_INT) : NULL;
    return TW_CALL(Reshape, made, tw__temp_concat(t, (tw_tensor *[]){ tw__temp_slice(t, sizes, 0, outer), inner }, 2, 0));
}

TW_API(nn_atrous_conv2d,
       "nn.atrous_conv2d(value: tensor<T>, filters: tensor<T>, rate: int, padding: value, name: str = None) -> tensor",
       "A convolution of images whose filters have rate - 1 holes between their elements.\n"
       "rate: the distance between the elements of a window")
{
    if (args->rate < 1) {
        tw__fail(TW_VALUE_ERROR, "atrous_conv2d: `rate` must be at least 1, got %lld", (long long)args->rate);
        return NULL;
    }
    return tw_nn_conv2d(args->value, args->filters, one, args->padding,
                        .dilations = { .items = &args->rate, .count = 1, .given = true });
}

/* ---- transposed ---- */

TW_API(nn_atrous_conv2d_transpose,
       "nn.atrous_conv2d_transpose(value: tensor<T>, filters: tensor<T>, output_shape: tensor<int32>, rate: int, padding: value, "
       "name: str = None) -> tensor",
       "The gradient of atrous_conv2d as a function of its own; filters are [rows, columns, outputs, channels].\n"
       "output_shape: the shape of the result: all four dimensions\n"
       "rate: the distance between the elements of a window\n"
       "filters: the filter: window sizes, then output and input channels")
{
    if (args->rate < 1) {
        tw__fail(TW_VALUE_ERROR, "`rate` cannot be less than one");
        return NULL;
    }
    return tw_nn_conv2d_transpose(args->value, args->filters, args->output_shape, one, .padding = args->padding,
                                  .dilations = { .items = &args->rate, .count = 1, .given = true });
}

TW_API(nn_conv1d_transpose,
       "nn.conv1d_transpose(input: tensor<T>, filters: tensor<T>, output_shape: tensor<int32>, strides: ints, "
       "padding: str = SAME, data_format: str = NWC, dilations: ints = None, name: str = None) -> tensor",
       "The gradient of a convolution of sequences as a function of its own; filters are [steps, outputs, channels].\n"
       "output_shape: the shape of the result: all three dimensions\n"
       "filters: the filter: window sizes, then output and input channels")
{
    TW_TEMPS(t);
    tw__nn_window w;
    tw_attr attrs[8];
    tw_value text = { .kind = TW_VALUE_STR, .s = { args->padding, strlen(args->padding) } };
    if (tw__nn_window_read(&w, 1, args->data_format, (tw__nn_given){ args->strides, "strides" },
                           (tw__nn_given){ args->dilations, "dilations" }, &text) != TW_OK)
        return NULL;
    int64_t axis = w.channels_first ? 2 : 1, row = 1;
    tw_tensor *images = TW_TEMP(ExpandDims, args->input, (int)axis), *filters = TW_TEMP(ExpandDims, args->filters, 0);
    tw_tensor *parts[] = { tw__temp_slice(t, args->output_shape, 0, axis), tw__temp_ints(t, &row, 1, args->output_shape->dtype),
                           tw__temp_slice(t, args->output_shape, axis, TW_NO_INT) };
    tw_tensor *shape = tw__temp_concat(t, parts, 3, 0);
    tw_tensor *made = images && filters && shape
                          ? tw__temp(t, tw__call(&tw__op_Conv2DBackpropInput, TW_IN(shape, filters, images), 3, attrs,
                                                 tw__nn_window_attrs(&w, "dilations", attrs)))
                          : NULL;
    return TW_CALL(Squeeze, made, TW_A_INTS("squeeze_dims", &axis, 1));
}

TW_API(nn_conv_transpose,
       "nn.conv_transpose(input: tensor<T>, filters: tensor<T>, output_shape: tensor<int32>, strides: ints, "
       "padding: str = SAME, data_format: str = None, dilations: ints = None, name: str = None) -> tensor",
       "The gradient of a convolution over one, two or three axes as a function of its own.\n"
       "output_shape: the shape of the result, with batch and channels\n"
       "filters: the filter: window sizes, then output and input channels")
{
    const tw_shape *sizes = &args->output_shape->shape;
    int64_t count = sizes->rank == 1 ? sizes->dims[0] : -1;
    tw_value padding = { .kind = TW_VALUE_STR, .s = { args->padding, strlen(args->padding) } };
    if (count == 3)
        return tw_nn_conv1d_transpose(args->input, args->filters, args->output_shape, args->strides, .padding = args->padding,
                                      .data_format = args->data_format, .dilations = args->dilations);
    if (count == 4)
        return tw_nn_conv2d_transpose(args->input, args->filters, args->output_shape, args->strides, .padding = padding,
                                      .data_format = args->data_format, .dilations = args->dilations);
    if (count == 5)
        return tw_nn_conv3d_transpose(args->input, args->filters, args->output_shape, args->strides, .padding = padding,
                                      .data_format = args->data_format, .dilations = args->dilations);
    tw__fail(TW_VALUE_ERROR, "`output_shape` must be of length 3, 4 or 5. Received: output_shape of length %lld.",
             (long long)count);
    return NULL;
}

/* ---- separable ---- */

TW_API(nn_separable_conv2d,
       "nn.separable_conv2d(input: tensor<T>, depthwise_filter: tensor<T>, pointwise_filter: tensor<T>, strides: ints, "
       "padding: value, data_format: str = None, dilations: ints = None, name: str = None) -> tensor",
       "A convolution of every channel with filters of its own, then one across channels with filters of one pixel.\n"
       "depthwise_filter: the filters within channels, [rows, columns, channels, multiplier]\n"
       "pointwise_filter: the filter across channels, [1, 1, channels * multiplier, outputs]")
{
    const tw_shape *deep = &args->depthwise_filter->shape, *point = &args->pointwise_filter->shape;
    if (point->rank >= 0 && point->rank != 4) {
        tw__fail(TW_VALUE_ERROR, "Shape %s must have rank 4", tw__shape_text(point));
        return NULL;
    }
    for (int i = 0; i < 2 && point->rank == 4; i++) {
        if (point->dims[i] >= 0 && point->dims[i] != 1) {
            tw__fail(TW_VALUE_ERROR, "Dimension %lld must be 1: pointwise_filter has the shape %s", (long long)point->dims[i],
                     tw__shape_text(point));
            return NULL;
        }
    }
    if (deep->rank == 4 && point->rank == 4 && deep->dims[2] >= 0 && deep->dims[3] >= 0 && point->dims[2] >= 0 &&
        (deep->dims[3] == 0 ? point->dims[2] != 0
                            : point->dims[2] % deep->dims[3] != 0 || point->dims[2] / deep->dims[3] != deep->dims[2])) {
        tw__fail(TW_VALUE_ERROR, "separable_conv2d: pointwise_filter %s does not fit depthwise_filter %s", tw__shape_text(point),
                 tw__shape_text(deep));
        return NULL;
    }
    tw_auto tw_tensor *middle = tw_nn_depthwise_conv2d(args->input, args->depthwise_filter, args->strides, args->padding,
                                                       .data_format = args->data_format, .dilations = args->dilations);
    return middle ? tw_nn_conv2d(middle, args->pointwise_filter, one, TW_TEXT("VALID"), .data_format = args->data_format) : NULL;
}

/* ---- pooling ---- */

static tw_tensor *pool_of(bool mean, int axes, tw_tensor *x, tw_ints window, tw_ints strides, tw_value padding,
                          const char *format)
{
    if (!strides.given)
        strides = one;
    if (axes == 3)
        return mean ? tw_nn_avg_pool3d(x, window, strides, padding, .data_format = format)
                    : tw_nn_max_pool3d(x, window, strides, padding, .data_format = format);
    if (axes == 2)
        return mean ? tw_nn_avg_pool2d(x, window, strides, padding, .data_format = format)
                    : tw_nn_max_pool2d(x, window, strides, padding, .data_format = format);
    return mean ? tw_nn_avg_pool1d(x, window, strides, padding, .data_format = format)
                : tw_nn_max_pool1d(x, window, strides, padding, .data_format = format);
}

/* With holes: the pixels that one window sees lie in one of several smaller images. */
static tw_tensor *pool_with_holes(bool mean, int axes, tw_tensor *x, tw_ints window, tw_ints dilations)
{
    TW_TEMPS(t);
    int64_t rates[3];
    for (int i = 0; i < axes; i++) {
        rates[i] = dilations.items[dilations.count == 1 ? 0 : i];
        if (rates[i] < 1 || rates[i] > INT32_MAX) {
            tw__fail(TW_VALUE_ERROR, "pool: `dilations` must be positive, got %lld", (long long)rates[i]);
            return NULL;
        }
    }
    tw_tensor *block = tw__temp_ints(t, rates, axes, TW_INT32);
    tw_tensor *sizes = tw__temp_slice(t, tw__temp_shape(t, x, TW_INT32), 1, 1 + axes);
    tw_tensor *extra = TW_TEMP(FloorMod, TW_TEMP(Sub, block, TW_TEMP(FloorMod, sizes, block)), block);
    tw_tensor *columns[2] = { NULL, extra ? TW_TEMP(ExpandDims, extra, 1) : NULL };
    columns[0] = columns[1] ? TW_TEMP(ZerosLike, columns[1]) : NULL;
    tw_tensor *ends = columns[0] ? tw__temp_concat(t, columns, 2, 1) : NULL;
    tw_tensor *small = TW_TEMP(SpaceToBatchND, x, block, ends);
    tw_tensor *made = tw__temp(t, small ? pool_of(mean, axes, small, window, one, TW_TEXT("VALID"), NULL) : NULL);
    return TW_CALL(BatchToSpaceND, made, block, ends);
}

TW_API(nn_pool,
       "nn.pool(input: tensor, window_shape: ints, pooling_type: str, strides: ints = None, padding: str = VALID, "
       "data_format: str = None, dilations: ints = None, name: str = None) -> tensor",
       "The greatest value (MAX) or the mean (AVG) of each window over one, two or three axes.\n"
       "window_shape: the size of windows along each spatial dimension\n"
       "pooling_type: `MAX` or `AVG`")
{
    int rank = args->input->shape.rank, axes = rank >= 0 ? rank - 2 : (int)args->window_shape.count;
    bool mean = strcmp(args->pooling_type, "AVG") == 0;
    if (axes < 1 || axes > 3 || (args->window_shape.count != axes && args->window_shape.count != 1)) {
        tw__fail(TW_VALUE_ERROR, "pool: `window_shape` of length %lld for an input of rank %d",
                 (long long)args->window_shape.count, rank);
        return NULL;
    }
    if (!mean && strcmp(args->pooling_type, "MAX") != 0) {
        tw__fail(TW_VALUE_ERROR, "%d-D %s pooling is not supported.", axes, args->pooling_type);
        return NULL;
    }
    tw_value padding = { .kind = TW_VALUE_STR, .s = { args->padding, strlen(args->padding) } };
    if (!above_one(args->dilations))
        return pool_of(mean, axes, args->input, args->window_shape, args->strides, padding, args->data_format);
    if (above_one(args->strides)) {
        tw__fail(TW_VALUE_ERROR, "strides > 1 not supported in conjunction with dilation_rate > 1");
        return NULL;
    }
    if (args->data_format && args->data_format[0] == 'N' && args->data_format[1] == 'C') {
        tw__fail(TW_UNIMPLEMENTED, "pool: dilations of inputs whose channels come first are not supported");
        return NULL;
    }
    if (strcmp(args->padding, "VALID") != 0) {
        tw__fail(TW_VALUE_ERROR, "pooling with '%s' padding is not implemented for `dilation_rate` > 1. Received: padding=%s",
                 args->padding, args->padding);
        return NULL;
    }
    if (args->dilations.count != axes && args->dilations.count != 1) {
        tw__fail(TW_VALUE_ERROR, "pool: `dilations` must have length 1 or %d, got %lld", axes, (long long)args->dilations.count);
        return NULL;
    }
    return pool_with_holes(mean, axes, args->input, args->window_shape, args->dilations);
}
