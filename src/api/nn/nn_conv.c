/* tf.nn: convolutions and pooling as users name them. A stride, a dilation or a window may be one number for both axes, one per
 * axis, or one per dimension; convolutions of sequences are those of images with one row. */
#include "api/array/array.h"
#include "api/nn/nn.h"
#include "op/calls.h"
#include "rows.h"

enum { DIMENSIONS = 4 };

typedef struct format {
    const char *name; /* of the images: NHWC or NCHW */
    bool channels_first;
} format;

/* "NWC", "NHWC", "NC…"; NULL is channels last. */
static tw_status read_format(const char *text, const char *last, const char *first, format *out)
{
    *out = (format){ "NHWC", false };
    if (!text || strcmp(text, last) == 0)
        return TW_OK;
    if (strcmp(text, first) != 0)
        return tw__fail(TW_VALUE_ERROR, "`data_format` must be '%s' or '%s'. Received: data_format=%s", last, first, text);
    *out = (format){ "NCHW", true };
    return TW_OK;
}

/* One number per dimension of an image, from what was given for the `axes` last spatial axes. */
static tw_status read_window(tw_ints given, const char *name, int axes, const format *f, int64_t *out)
{
    int first = f->channels_first ? 2 : 1;
    for (int i = 0; i < DIMENSIONS; i++)
        out[i] = 1;
    if (!given.given)
        return TW_OK;
    if (given.count != 1 && given.count != axes && given.count != axes + 2)
        return tw__fail(TW_VALUE_ERROR, "%s should be of length 1, %d or %d. Received: %s of length %lld", name, axes, axes + 2,
                        name, (long long)given.count);
    if (given.count == axes + 2) {
        int channels = f->channels_first ? 1 : axes + 1;
        out[0] = given.items[0];
        out[f->channels_first ? 1 : 3] = given.items[channels];
    }
    for (int i = 0; i < axes; i++) {
        int64_t from = given.count == 1 ? 0 : given.count == axes ? i : i + first;
        out[first + (2 - axes) + i] = given.items[from];
    }
    return TW_OK;
}

/* "SAME", "VALID", or [[0, 0], [top, bottom], [left, right], [0, 0]]. */
typedef struct padding {
    const char *name;
    char text[16];
    int64_t explicit[2 * DIMENSIONS];
    int count;
} padding;

static tw_status read_padding(const tw_value *given, padding *out)
{
    *out = (padding){ .name = "EXPLICIT" };
    if (given->kind == TW_VALUE_STR && given->s.size < sizeof out->text) {
        memcpy(out->text, given->s.data, given->s.size);
        out->name = out->text;
        return TW_OK;
    }
    bool good = (given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE) && given->list.count == DIMENSIONS;
    for (int i = 0; good && i < DIMENSIONS; i++) {
        const tw_value *pair = &given->list.items[i];
        good = (pair->kind == TW_VALUE_LIST || pair->kind == TW_VALUE_TUPLE) && pair->list.count == 2;
        for (int k = 0; good && k < 2; k++) {
            good = pair->list.items[k].kind == TW_VALUE_INT;
            out->explicit[out->count++] = pair->list.items[k].i;
        }
    }
    if (!good)
        return tw__fail(TW_VALUE_ERROR,
                        "`padding` must be 'SAME', 'VALID' or a list of %d pairs of integers, one for each dimension",
                        DIMENSIONS);
    return TW_OK;
}

typedef struct window_args {
    format format;
    int64_t strides[DIMENSIONS], others[DIMENSIONS]; /* others: dilations, or the window's sizes */
    padding padding;
} window_args;

static int window_attrs(const window_args *w, const char *others, tw_attr *attrs)
{
    int count = 0;
    attrs[count++] = TW_A_INTS("strides", w->strides, DIMENSIONS);
    attrs[count++] = TW_A_INTS(others, w->others, DIMENSIONS);
    attrs[count++] = TW_A_STRING("padding", w->padding.name);
    attrs[count++] = TW_A_STRING("data_format", w->format.name);
    if (w->padding.count)
        attrs[count++] = TW_A_INTS("explicit_paddings", w->padding.explicit, w->padding.count);
    return count;
}

/* ---- convolutions ---- */

TW_API(nn_conv2d,
       "nn.conv2d(input: tensor<T>, filters: tensor<T>, strides: ints, padding: value, data_format: str = NHWC, "
       "dilations: ints = None, "
       "name: str = None) -> tensor",
       "A convolution of images [batch, rows, columns, channels] with filters [rows, columns, channels, outputs].")
{
    window_args w;
    tw_attr attrs[8];
    if (read_format(args->data_format, "NHWC", "NCHW", &w.format) != TW_OK ||
        read_window(args->strides, "strides", 2, &w.format, w.strides) != TW_OK ||
        read_window(args->dilations, "dilations", 2, &w.format, w.others) != TW_OK ||
        read_padding(&args->padding, &w.padding) != TW_OK)
        return NULL;
    return tw__call(&tw__op_Conv2D, TW_IN(args->input, args->filters), 2, attrs, window_attrs(&w, "dilations", attrs));
}

TW_API(
    nn_depthwise_conv2d,
    "nn.depthwise_conv2d|compat.v1.nn.depthwise_conv2d_native(input: tensor<T>, filter: tensor<T>, strides: ints, padding: value, data_format: str = None, "
    "dilations: ints = None, name: str = None) -> tensor",
    "A convolution of every channel with filters of its own [rows, columns, channels, multiplier].")
{
    window_args w;
    tw_attr attrs[8];
    if (read_format(args->data_format, "NHWC", "NCHW", &w.format) != TW_OK ||
        read_window(args->strides, "strides", 2, &w.format, w.strides) != TW_OK ||
        read_window(args->dilations, "dilations", 2, &w.format, w.others) != TW_OK ||
        read_padding(&args->padding, &w.padding) != TW_OK)
        return NULL;
    return tw__call(&tw__op_DepthwiseConv2dNative, TW_IN(args->input, args->filter), 2, attrs,
                    window_attrs(&w, "dilations", attrs));
}

TW_API(nn_conv2d_transpose,
       "nn.conv2d_transpose(input: tensor<T>, filters: tensor<T>, output_shape: tensor<int32>, strides: ints, "
       "padding: value = None, "
       "data_format: str = NHWC, dilations: ints = None, name: str = None) -> tensor",
       "The gradient of a convolution as a function of its own; filters are [rows, columns, outputs, channels].")
{
    window_args w;
    tw_attr attrs[8];
    static const tw_value same = { .kind = TW_VALUE_STR, .s = { "SAME", 4 } };
    const tw_value *padding_given = args->padding.kind == TW_VALUE_NONE ? &same : &args->padding;
    if (read_format(args->data_format, "NHWC", "NCHW", &w.format) != TW_OK ||
        read_window(args->strides, "strides", 2, &w.format, w.strides) != TW_OK ||
        read_window(args->dilations, "dilations", 2, &w.format, w.others) != TW_OK ||
        read_padding(padding_given, &w.padding) != TW_OK)
        return NULL;
    return tw__call(&tw__op_Conv2DBackpropInput, TW_IN(args->output_shape, args->filters, args->input), 3, attrs,
                    window_attrs(&w, "dilations", attrs));
}

static tw_tensor *squeeze_axis(tw_tensor *x, int64_t axis)
{
    return TW_CALL(Squeeze, x, TW_A_INTS("squeeze_dims", &axis, 1));
}

TW_API(nn_conv1d,
       "nn.conv1d(input: tensor<T>, filters: tensor<T>, stride: ints, padding: str, data_format: str = NWC, "
       "dilations: ints = None, "
       "name: str = None) -> tensor",
       "A convolution of sequences [batch, steps, channels] with filters [steps, channels, outputs].")
{
    window_args w;
    tw_attr attrs[8];
    tw_value text = { .kind = TW_VALUE_STR, .s = { args->padding, strlen(args->padding) } };
    if (read_format(args->data_format, "NWC", "NCW", &w.format) != TW_OK ||
        read_window(args->stride, "stride", 1, &w.format, w.strides) != TW_OK ||
        read_window(args->dilations, "dilations", 1, &w.format, w.others) != TW_OK || read_padding(&text, &w.padding) != TW_OK)
        return NULL;
    int64_t axis = w.format.channels_first ? 2 : 1;
    tw_auto tw_tensor *images = tw__call_axis(&tw__op_ExpandDims, args->input, axis, NULL, 0);
    tw_auto tw_tensor *filters = tw__call_axis(&tw__op_ExpandDims, args->filters, 0, NULL, 0);
    tw_auto tw_tensor *result = tw__call(&tw__op_Conv2D, TW_IN(images, filters), 2, attrs, window_attrs(&w, "dilations", attrs));
    return squeeze_axis(result, axis);
}

/* ---- pooling ---- */

static tw_tensor *pool(const tw_op *op, tw_tensor *input, tw_ints sizes, tw_ints strides, const tw_value *given, const char *text,
                       int axes)
{
    window_args w;
    tw_attr attrs[8];
    if (read_format(text, axes == 1 ? "NWC" : "NHWC", axes == 1 ? "NCW" : "NCHW", &w.format) != TW_OK ||
        read_window(sizes, "ksize", axes, &w.format, w.others) != TW_OK ||
        read_window(strides, "strides", axes, &w.format, w.strides) != TW_OK || read_padding(given, &w.padding) != TW_OK)
        return NULL;
    int count = window_attrs(&w, "ksize", attrs);
    if (axes == 2)
        return tw__call(op, TW_IN(input), 1, attrs, count);
    int64_t axis = w.format.channels_first ? 2 : 1;
    tw_auto tw_tensor *images = tw__call_axis(&tw__op_ExpandDims, input, axis, NULL, 0);
    tw_auto tw_tensor *result = tw__call(op, TW_IN(images), 1, attrs, count);
    return squeeze_axis(result, axis);
}

/* By the rank of the input: sequences or images. */
static tw_tensor *pool_any(const tw_op *op, tw_tensor *input, tw_ints sizes, tw_ints strides, const tw_value *given,
                           const char *text)
{
    int rank = input->shape.rank;
    if (rank != 3 && rank != 4) {
        tw__fail(rank == 5 ? TW_UNIMPLEMENTED : TW_VALUE_ERROR,
                 "`input.shape.rank` must be 3, 4 or 5%s. Received: input.shape of rank %d.",
                 rank == 5 ? "; 5 is not supported here" : "", rank);
        return NULL;
    }
    return pool(op, input, sizes, strides, given, text, rank - 2);
}

TW_API(
    nn_max_pool2d,
    "nn.max_pool2d|compat.v1.nn.max_pool_v2(input: tensor, ksize: ints, strides: ints, padding: value, data_format: str = NHWC, "
    "name: str = None) -> tensor",
    "The greatest value of each window of images.")
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
       "The greatest value of each window of sequences or images.")
{
    return pool_any(&tw__op_MaxPool, args->input, args->ksize, args->strides, &args->padding, args->data_format);
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
       "The mean of each window of sequences or images.")
{
    return pool_any(&tw__op_AvgPool, args->input, args->ksize, args->strides, &args->padding, args->data_format);
}
