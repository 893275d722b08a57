/* keras.backend: convolutions, pooling and sizes of images and volumes, in Keras's words. Channels that come first are moved
 * behind, and back. */
#include "keras/keras.h"
#include "op/array/array.h"
#include "op/calls.h"

/* ---- Keras's words ---- */

/* Whether channels come first; NULL: last. */
static tw_status read_format(const char *format, const char *words, bool *first)
{
    *first = format && strcmp(format, "channels_first") == 0;
    if (!format || *first || strcmp(format, "channels_last") == 0)
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR, "%s%s", words, format);
}

static const char *read_padding(const char *padding)
{
    if (strcmp(padding, "same") == 0)
        return "SAME";
    if (strcmp(padding, "valid") == 0)
        return "VALID";
    tw__fail(TW_VALUE_ERROR, "Invalid padding: %s", padding);
    return NULL;
}

static tw_value as_value(const char *text)
{
    return (tw_value){ .kind = TW_VALUE_STR, .s = { text, strlen(text) } };
}

/* The channels behind the other axes, or, `back`, from there to the second place. */
static tw_tensor *turned(tw__temps *t, tw_tensor *x, bool first, bool back)
{
    int64_t axes[TW_MAX_RANK];
    int rank = x ? x->shape.rank : 0;
    if (!first || rank < 3)
        return x;
    for (int i = 0; i < rank; i++)
        axes[i] = i == 0 ? 0 : back ? (i == 1 ? rank - 1 : i - 1) : (i == rank - 1 ? 1 : i + 1);
    return TW_TEMP(Transpose, x, tw__temp_ints(t, axes, rank, TW_INT32));
}

/* ---- convolutions ---- */

static tw_tensor *convolved(tw_tensor *x, tw_tensor *kernel, tw_ints strides, const char *padding, const char *format,
                            tw_ints dilations)
{
    TW_TEMPS(t);
    bool first;
    const char *pad = read_padding(padding);
    if (!pad || read_format(format, "Unknown data_format: ", &first) != TW_OK)
        return NULL;
    tw_tensor *images = turned(t, x, first, false);
    tw_tensor *made =
        images
            ? tw__temp(t, tw_nn_convolution(images, kernel, .strides = strides, .padding = as_value(pad), .dilations = dilations))
            : NULL;
    return tw__keep(t, turned(t, made, first, true));
}

TW_API(
    backend_conv1d,
    "keras.backend.conv1d(x: tensor, kernel: tensor, strides: ints = 1, padding: str = valid, data_format: str = None, "
    "dilation_rate: ints = 1) -> tensor",
    "A convolution of sequences.\n"
    "padding: `valid`: windows stay inside of the input; `same`: zeros are added so that every position has a window; `causal`: they are added at the front alone, so that steps see nothing that follows them\n"
    "kernel: the filter, [width, input channels, output channels]")
{
    TW_TEMPS(t);
    tw_tensor *x = args->x;
    const char *padding = args->padding;
    if (strcmp(padding, "causal") == 0) {
        int64_t before = args->dilation_rate.items[0] * (args->kernel->shape.dims[0] - 1), edges[6] = { 0, 0, before, 0, 0, 0 };
        tw_tensor *pads = tw__temp_ints(t, edges, 6, TW_INT32);
        x = TW_TEMP(Pad, x, pads ? tw__temp_reshape(t, pads, (int64_t[]){ 3, 2 }, 2) : NULL);
        padding = "valid";
    }
    return x ? convolved(x, args->kernel, args->strides, padding, args->data_format, args->dilation_rate) : NULL;
}

TW_API(backend_conv2d,
       "keras.backend.conv2d(x: tensor, kernel: tensor, strides: ints = (1, 1), padding: str = valid, data_format: str = None, "
       "dilation_rate: ints = (1, 1)) -> tensor",
       "A convolution of images.\n"
       "kernel: the filter, [height, width, input channels, output channels]")
{
    return convolved(args->x, args->kernel, args->strides, args->padding, args->data_format, args->dilation_rate);
}

TW_API(
    backend_conv3d,
    "keras.backend.conv3d(x: tensor, kernel: tensor, strides: ints = (1, 1, 1), padding: str = valid, data_format: str = None, "
    "dilation_rate: ints = (1, 1, 1)) -> tensor",
    "A convolution of volumes.\n"
    "kernel: the filter, [depth, height, width, input channels, output channels]")
{
    return convolved(args->x, args->kernel, args->strides, args->padding, args->data_format, args->dilation_rate);
}

/* A convolution by channel, and, if there is a kernel for that, one of the channels. */
static tw_tensor *by_channel(tw_tensor *x, tw_tensor *kernel, tw_tensor *pointwise, tw_ints strides, const char *padding,
                             const char *format, tw_ints dilations)
{
    TW_TEMPS(t);
    bool first;
    const char *pad = read_padding(padding);
    if (!pad || read_format(format, "Unknown data_format: ", &first) != TW_OK)
        return NULL;
    int64_t rows = strides.count ? strides.items[0] : 1, columns = strides.count ? strides.items[strides.count - 1] : 1;
    tw_ints all = TW_INTS(1, rows, columns, 1);
    tw_tensor *images = turned(t, x, first, false), *made = NULL;
    if (images && pointwise)
        made = tw_nn_separable_conv2d(images, kernel, pointwise, all, as_value(pad), .dilations = dilations);
    else if (images)
        made = tw_nn_depthwise_conv2d(images, kernel, all, as_value(pad), .dilations = dilations);
    return tw__keep(t, turned(t, tw__temp(t, made), first, true));
}

TW_API(backend_separable_conv2d,
       "keras.backend.separable_conv2d(x: tensor, depthwise_kernel: tensor, pointwise_kernel: tensor, strides: ints = (1, 1), "
       "padding: str = valid, data_format: str = None, dilation_rate: ints = (1, 1)) -> tensor",
       "A convolution by channel, and one of the channels.")
{
    return by_channel(args->x, args->depthwise_kernel, args->pointwise_kernel, args->strides, args->padding, args->data_format,
                      args->dilation_rate);
}

TW_API(backend_depthwise_conv2d,
       "keras.backend.depthwise_conv2d(x: tensor, depthwise_kernel: tensor, strides: ints = (1, 1), padding: str = valid, "
       "data_format: str = None, dilation_rate: ints = (1, 1)) -> tensor",
       "A convolution of each channel of images by its own kernels.")
{
    return by_channel(args->x, args->depthwise_kernel, NULL, args->strides, args->padding, args->data_format,
                      args->dilation_rate);
}

/* The sizes of the result of a transposed convolution; None, as the first, is the number of images. */
static tw_tensor *sizes_of(tw__temps *t, tw_tensor *images, const tw_value *given, bool first)
{
    if (given->kind == TW_VALUE_TENSOR)
        return given->tensor;
    const tw_value *items = given->list.items;
    if ((given->kind != TW_VALUE_LIST && given->kind != TW_VALUE_TUPLE) || given->list.count != 4) {
        tw__fail(TW_VALUE_ERROR, "conv2d_transpose: output_shape must be a tensor or 4 numbers");
        return NULL;
    }
    tw_tensor *sizes[4];
    for (int i = 0; i < 4; i++) {
        const tw_value *item = &items[!first || i == 0 ? i : i == 3 ? 1 : i + 1];
        sizes[i] = item->kind == TW_VALUE_INT         ? tw__temp_int(t, item->i, TW_INT32)
                   : item->kind == TW_VALUE_TENSOR    ? tw__temp_cast(t, item->tensor, TW_INT32)
                   : i || item->kind != TW_VALUE_NONE ? NULL
                                                      : tw__temp_at(t, tw__temp_shape(t, images, TW_INT32), 0);
        if (!sizes[i] && tw_error_code() == TW_OK)
            tw__fail(TW_TYPE_ERROR, "conv2d_transpose: output_shape must be numbers");
        if (!sizes[i])
            return NULL;
    }
    return TW_TEMP(Pack, sizes[0], sizes[1], sizes[2], sizes[3]);
}

TW_API(backend_conv2d_transpose,
       "keras.backend.conv2d_transpose(x: tensor, kernel: tensor, output_shape: value, strides: ints = (1, 1), "
       "padding: str = valid, data_format: str = None, dilation_rate: ints = (1, 1)) -> tensor",
       "The way back of a convolution of images.\n"
       "kernel: the filter, [height, width, output channels, input channels]\n"
       "output_shape: the shape of the result with the batch's dimension")
{
    TW_TEMPS(t);
    bool first;
    const char *pad = read_padding(args->padding);
    if (!pad || read_format(args->data_format, "Unknown data_format: ", &first) != TW_OK)
        return NULL;
    for (int64_t i = 0; i < args->dilation_rate.count; i++) {
        if (args->dilation_rate.items[i] != 1) {
            tw__fail(TW_UNIMPLEMENTED, "keras.backend.conv2d_transpose: dilation_rate is not supported, expected (1, 1)");
            return NULL;
        }
    }
    tw_tensor *images = turned(t, args->x, first, false);
    tw_tensor *sizes = images ? sizes_of(t, images, &args->output_shape, first) : NULL;
    tw_tensor *made =
        sizes ? tw__temp(t, tw_nn_conv2d_transpose(images, args->kernel, sizes, args->strides, as_value(pad))) : NULL;
    return tw__keep(t, turned(t, made, first, true));
}

/* ---- windows, each with weights of its own ---- */

/* The windows of images as rows, [places, images, size of a window]. */
static tw_tensor *windows_of(tw__temps *t, tw_tensor *x, tw_ints size, tw_ints strides, tw_ints places, int64_t features,
                             bool first)
{
    int64_t count = 1, rank = size.count + 2;
    for (int64_t i = 0; i < places.count; i++)
        count *= places.items[i];
    tw_tensor **rows = tw__temp_memory(t, tw__alloc_array((size_t)count + 1, sizeof *rows));
    for (int64_t n = 0; rows && n < count; n++) {
        int64_t begin[TW_MAX_RANK] = { 0 }, sizes[TW_MAX_RANK], rest = n;
        sizes[0] = sizes[rank - 1] = -1;
        for (int64_t i = size.count - 1; i >= 0; i--) {
            begin[i + 1] = rest % places.items[i] * strides.items[i];
            sizes[i + 1] = size.items[i];
            rest /= places.items[i];
        }
        tw_tensor *window = TW_TEMP(Slice, x, tw__temp_ints(t, begin, rank, TW_INT32), tw__temp_ints(t, sizes, rank, TW_INT32));
        window = turned(t, window, first, true);
        rows[n] = window ? tw__temp_reshape(t, window, (int64_t[]){ 1, -1, features }, 3) : NULL;
        if (!rows[n])
            return NULL;
    }
    return rows && count ? tw__temp_concat(t, rows, (int)count, 0) : NULL;
}

static tw_tensor *local(tw_tensor *x, tw_tensor *kernel, tw_ints size, tw_ints strides, tw_ints places, const char *format)
{
    TW_TEMPS(t);
    bool first;
    int64_t axes = places.count, dims[TW_MAX_RANK], order[TW_MAX_RANK];
    if (read_format(format, "Unknown data_format: ", &first) != TW_OK)
        return NULL;
    if (size.count != axes || strides.count != axes || x->shape.rank != axes + 2 || kernel->shape.rank != 3) {
        tw__fail(TW_VALUE_ERROR, "local_conv%lldd: the sizes do not fit inputs of rank %d and a kernel of rank %d",
                 (long long)axes, x->shape.rank, kernel->shape.rank);
        return NULL;
    }
    tw_tensor *images = turned(t, x, first, false);
    tw_tensor *rows = images ? windows_of(t, images, size, strides, places, kernel->shape.dims[1], first) : NULL;
    for (int64_t i = 0; i < axes; i++) {
        dims[i] = places.items[i];
        order[i + 1] = i;
    }
    dims[axes] = -1;
    dims[axes + 1] = kernel->shape.dims[2];
    order[0] = axes;
    order[axes + 1] = axes + 1;
    tw_tensor *products = rows ? TW_TEMP(BatchMatMulV2, rows, kernel) : NULL;
    products = products ? tw__temp_reshape(t, products, dims, (int)axes + 2) : NULL;
    return tw__keep(t, turned(t, TW_TEMP(Transpose, products, tw__temp_ints(t, order, axes + 2, TW_INT32)), first, true));
}

TW_API(backend_local_conv1d,
       "keras.backend.local_conv1d(inputs: tensor, kernel: tensor, kernel_size: ints, strides: ints, data_format: str = None) -> "
       "tensor",
       "A convolution of sequences whose weights differ from place to place.\n"
       "kernel: the weights, [places, width * input channels, output channels]")
{
    int64_t places = args->kernel->shape.rank > 0 ? args->kernel->shape.dims[0] : 0;
    return local(args->inputs, args->kernel, args->kernel_size, args->strides, TW_INTS(places), args->data_format);
}

TW_API(backend_local_conv2d,
       "keras.backend.local_conv2d(inputs: tensor, kernel: tensor, kernel_size: ints, strides: ints, output_shape: ints, "
       "data_format: str = None) -> tensor",
       "A convolution of images whose weights differ from place to place.\n"
       "kernel: the weights, [places, height * width * input channels, output channels]\n"
       "output_shape: the height and width of the result")
{
    return local(args->inputs, args->kernel, args->kernel_size, args->strides, args->output_shape, args->data_format);
}

/* ---- pooling ---- */

static tw_tensor *pooled(tw_tensor *x, tw_ints size, tw_ints strides, const char *padding, const char *format, const char *mode)
{
    TW_TEMPS(t);
    bool first, max = strcmp(mode, "max") == 0;
    if (!max && strcmp(mode, "avg") != 0) {
        tw__fail(TW_VALUE_ERROR, "Invalid pooling mode: %s", mode);
        return NULL;
    }
    const char *pad = read_padding(padding);
    if (!pad || read_format(format, "Unknown data_format: ", &first) != TW_OK)
        return NULL;
    tw_tensor *images = turned(t, x, first, false);
    tw_tensor *made =
        images ? tw__temp(t, tw_nn_pool(images, size, max ? "MAX" : "AVG", .strides = strides, .padding = pad)) : NULL;
    return tw__keep(t, turned(t, made, first, true));
}

TW_API(backend_pool2d,
       "keras.backend.pool2d(x: tensor, pool_size: ints, strides: ints = (1, 1), padding: str = valid, data_format: str = None, "
       "pool_mode: str = max) -> tensor",
       "The largest or the mean of each window of images.")
{
    if (args->pool_size.count == 2 && args->strides.count == 2)
        return pooled(args->x, args->pool_size, args->strides, args->padding, args->data_format, args->pool_mode);
    tw__fail(TW_VALUE_ERROR, "`%s` must be a tuple of 2 integers.", args->pool_size.count != 2 ? "pool_size" : "strides");
    return NULL;
}

TW_API(
    backend_pool3d,
    "keras.backend.pool3d(x: tensor, pool_size: ints, strides: ints = (1, 1, 1), padding: str = valid, data_format: str = None, "
    "pool_mode: str = max) -> tensor",
    "The largest or the mean of each window of volumes.")
{
    return pooled(args->x, args->pool_size, args->strides, args->padding, args->data_format, args->pool_mode);
}

/* ---- sizes ---- */

TW_API(backend_resize_images,
       "keras.backend.resize_images(x: tensor, height_factor: int, width_factor: int, data_format: str, "
       "interpolation: str = nearest) -> tensor",
       "Images made larger by whole factors.\n"
       "height_factor: the factor of the height\n"
       "width_factor: the factor of the width\n"
       "interpolation: how pixels between the given ones are computed, such as `nearest` and `bilinear`")
{
    static const char *const known[] = { "area",     "bicubic",  "bilinear",      "gaussian",
                                         "lanczos3", "lanczos5", "mitchellcubic", "nearest" };
    TW_TEMPS(t);
    bool first, good = false;
    if (read_format(args->data_format, "Invalid `data_format` argument: ", &first) != TW_OK)
        return NULL;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        good |= strcmp(args->interpolation, known[i]) == 0;
    if (!good) {
        tw__fail(TW_VALUE_ERROR,
                 "`interpolation` argument should be one of: \"area\", \"bicubic\", \"bilinear\", \"gaussian\", \"lanczos3\", "
                 "\"lanczos5\", \"mitchellcubic\", \"nearest\". Received: \"%s\".",
                 args->interpolation);
        return NULL;
    }
    tw_tensor *images = turned(t, args->x, first, false), *shape = images ? tw__temp_shape(t, images, TW_INT32) : NULL;
    tw_tensor *size = shape ? TW_TEMP(Mul, tw__temp_slice(t, shape, 1, 3),
                                      tw__temp_ints(t, (int64_t[]){ args->height_factor, args->width_factor }, 2, TW_INT32))
                            : NULL;
    tw_tensor *made = size ? tw__temp(t, tw_image_resize(images, size, .method = args->interpolation)) : NULL;
    return tw__keep(t, turned(t, made, first, true));
}

TW_API(
    backend_resize_volumes,
    "keras.backend.resize_volumes(x: tensor, depth_factor: int, height_factor: int, width_factor: int, data_format: str) -> tensor",
    "Volumes whose elements are repeated.\n"
    "depth_factor: how often each element is repeated along the depth\n"
    "height_factor: how often it is repeated along the height\n"
    "width_factor: how often it is repeated along the width")
{
    TW_TEMPS(t);
    bool first;
    const int64_t factors[] = { args->depth_factor, args->height_factor, args->width_factor };
    if (read_format(args->data_format, "Invalid data_format: ", &first) != TW_OK)
        return NULL;
    tw_tensor *x = args->x;
    for (int i = 0; x && i < 3; i++) {
        tw_tensor *factor = tw__temp_int(t, factors[i], TW_INT32);
        x = factor ? tw__temp(t, tw_repeat(x, factor, .axis = i + (first ? 2 : 1))) : NULL;
    }
    return tw__keep(t, x);
}
