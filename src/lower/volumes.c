/* Lowerings of convolutions and pooling of volumes [batch, depth, height, width, channels], and of LRN. */
#include "lower/words.h"

typedef struct volume {
    int64_t window[5], strides[5], dilation[5]; /* 1 for batches and channels */
    int64_t low[5], high[5];                    /* of the padding */
} volume;

/* Windows over an image of that shape. `filter`: the window's sizes; NULL: the attr ksize. */
static bool read_volume(tw__lowering *l, const tw_shape *image, const int64_t *filter, volume *v)
{
    const tw_attr *steps = TW_ATTR(l, "strides"), *sizes = filter ? NULL : TW_ATTR(l, "ksize"),
                  *spread = filter ? TW_ATTR(l, "dilations") : NULL;
    bool same = TW_ATTR(l, "padding")->s.data[0] == 'S';
    *v = (volume){ .window = { 1, 1, 1, 1, 1 }, .strides = { 1, 1, 1, 1, 1 }, .dilation = { 1, 1, 1, 1, 1 } };
    if (image->rank != 5 || steps->count != 5 || (sizes && (sizes->count != 5 || sizes->ints[0] != 1 || sizes->ints[4] != 1)) ||
        TW_ATTR(l, "data_format")->s.data[1] == 'C' || !tw__dtype_is_float(l->outputs[0].dtype))
        return false;
    for (int i = 1; i < 4; i++) {
        v->window[i] = sizes ? sizes->ints[i] : filter[i - 1];
        v->strides[i] = steps->ints[i];
        v->dilation[i] = spread && spread->count == 5 ? spread->ints[i] : 1;
        int64_t in = image->dims[i], out = (in + v->strides[i] - 1) / v->strides[i];
        int64_t reach = (v->window[i] - 1) * v->dilation[i] + 1, edges = (out - 1) * v->strides[i] + reach - in;
        v->low[i] = same && edges > 0 ? edges / 2 : 0;
        v->high[i] = same && edges > 0 ? edges - edges / 2 : 0;
    }
    return true;
}

static void add_three(tw__text *text, const char *name, const int64_t *values)
{
    tw__text_format(text, "%s = [", name);
    tw__hlo_ints(text, values + 1, 3);
    tw__text_add(text, "]");
}

static tw__hlo convolve(tw__lowering *l, const char *labels, tw__hlo a, tw__hlo b, const volume *v, const tw_shape *shape,
                        int64_t groups, int64_t batch_groups)
{
    tw__text window = { 0 };
    tw__hlo out = { .dtype = a.dtype, .shape = *shape }, result = { .id = -1 };
    add_three(&window, "stride", v->strides);
    tw__text_add(&window, ", pad = [");
    for (int i = 1; i < 4; i++)
        tw__text_format(&window, "%s[%lld, %lld]", i > 1 ? ", " : "", (long long)v->low[i], (long long)v->high[i]);
    tw__text_add(&window, "], ");
    add_three(&window, "rhs_dilate", v->dilation);
    if (!window.failed && a.id >= 0 && b.id >= 0)
        result = tw__hlo_line(
            l, a.dtype, shape,
            "stablehlo.convolution(%%%d, %%%d) dim_numbers = %s, window = {%s} {batch_group_count = %lld : i64, "
            "feature_group_count = %lld : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} "
            ": (%s, %s) -> %s",
            a.id, b.id, labels, window.data, (long long)batch_groups, (long long)groups, tw__hlo_type_text(a),
            tw__hlo_type_text(b), tw__hlo_type_text(out));
    tw__text_free(&window);
    return result;
}

static bool convolution(tw__lowering *l)
{
    volume v;
    return Y.shape.rank == 5 && X.shape.rank == 5 && read_volume(l, &X.shape, Y.shape.dims, &v) && Y.shape.dims[3] > 0 &&
           X.shape.dims[4] % Y.shape.dims[3] == 0 &&
           GIVE(convolve(l, "[b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f]", X, Y, &v, &l->outputs[0].shape,
                         X.shape.dims[4] / Y.shape.dims[3], 1));
}

/* (sizes, filter, dy): the filter turned around, over the gradient that is spread by the strides. */
static bool input_gradient(tw__lowering *l)
{
    volume v;
    tw__hlo filter = Y, dy = l->inputs[2];
    const tw_shape *image = &l->outputs[0].shape;
    if (filter.shape.rank != 5 || !read_volume(l, image, filter.shape.dims, &v) || image->dims[4] != filter.shape.dims[3])
        return false;
    int64_t low[5] = { 0 }, high[5] = { 0 }, between[5] = { 0 };
    for (int i = 1; i < 4; i++) {
        int64_t reach = (v.window[i] - 1) * v.dilation[i] + 1;
        low[i] = reach - 1 - v.low[i];
        high[i] = image->dims[i] - ((dy.shape.dims[i] - 1) * v.strides[i] + 1) + v.low[i];
        between[i] = v.strides[i] - 1;
        v.strides[i] = 1;
        v.low[i] = v.high[i] = 0;
    }
    tw__hlo wide = tw__hlo_pad(l, dy, NUMBER(dy.dtype, 0), low, high, between);
    return GIVE(
        convolve(l, "[b, 0, 1, 2, f]x[0, 1, 2, o, i]->[b, 0, 1, 2, f]", wide, tw__hlo_reverse(l, filter, 7), &v, image, 1, 1));
}

/* (x, sizes, dy): the input over the gradient, batches and channels exchanged. */
static bool filter_gradient(tw__lowering *l)
{
    volume v;
    tw__hlo dy = l->inputs[2];
    const tw_shape *filter = &l->outputs[0].shape;
    if (filter->rank != 5 || !read_volume(l, &X.shape, filter->dims, &v) || X.shape.dims[4] != filter->dims[3])
        return false;
    for (int i = 1; i < 4; i++) {
        int64_t stride = v.strides[i];
        v.high[i] = (v.window[i] - 1) * v.dilation[i] + (dy.shape.dims[i] - 1) * stride + 1 - X.shape.dims[i] - v.low[i];
        v.strides[i] = v.dilation[i];
        v.dilation[i] = stride;
    }
    return GIVE(convolve(l, "[f, 0, 1, 2, b]x[i, 0, 1, 2, o]->[0, 1, 2, b, f]", X, dy, &v, filter, 1, 1));
}

/* ---- pooling ---- */

static void pads_of(const volume *v, int64_t *pads)
{
    for (int i = 0; i < 5; i++)
        pads[2 * i] = v->low[i], pads[2 * i + 1] = v->high[i];
}

static tw__hlo pooled(tw__lowering *l, const char *name, tw__hlo x, const volume *v, const tw_shape *shape)
{
    int64_t pads[10];
    pads_of(v, pads);
    return tw__hlo_window(l, name, x, v->window, v->strides, NULL, pads, shape);
}

/* How many elements of the image each window sees. */
static tw__hlo seen(tw__lowering *l, const volume *v, tw_dtype dtype, const tw_shape *image, const tw_shape *places)
{
    return pooled(l, "add", tw__hlo_constant(l, dtype, image, 1), v, places);
}

static bool max_pool(tw__lowering *l)
{
    volume v;
    return read_volume(l, &X.shape, NULL, &v) && GIVE(pooled(l, "maximum", X, &v, &l->outputs[0].shape));
}

static bool mean_pool(tw__lowering *l)
{
    volume v;
    const tw_shape *places = &l->outputs[0].shape;
    return read_volume(l, &X.shape, NULL, &v) &&
           GIVE(BINARY("divide", pooled(l, "add", X, &v, places), seen(l, &v, X.dtype, &X.shape, places)));
}

static bool mean_pool_gradient(tw__lowering *l) /* (sizes, dy) */
{
    volume v;
    const tw_shape *image = &l->outputs[0].shape;
    int64_t ones[5] = { 1, 1, 1, 1, 1 }, pads[10] = { 0 };
    if (!read_volume(l, image, NULL, &v))
        return false;
    for (int i = 1; i < 4; i++) {
        pads[2 * i] = v.window[i] - 1 - v.low[i];
        pads[2 * i + 1] = image->dims[i] + v.low[i] - ((Y.shape.dims[i] - 1) * v.strides[i] + 1);
    }
    tw__hlo shares = BINARY("divide", Y, seen(l, &v, Y.dtype, image, &Y.shape));
    return GIVE(tw__hlo_window(l, "add", shares, v.window, ones, v.strides, pads, image));
}

/* What windows give to the elements at one place in them: those that equal the window's result. */
static tw__hlo given_at(tw__lowering *l, tw__hlo wide, const volume *v, const int64_t *place)
{
    int64_t end[5], high[5], between[5];
    tw__hlo y = Y, dy = l->inputs[2], zero = NUMBER(dy.dtype, 0);
    for (int i = 0; i < 5; i++) {
        int64_t reach = (y.shape.dims[i] - 1) * v->strides[i] + 1;
        end[i] = place[i] + reach;
        high[i] = wide.shape.dims[i] - end[i];
        between[i] = v->strides[i] - 1;
    }
    tw__hlo equal = COMPARE("EQ", tw__hlo_slice(l, wide, place, end, v->strides), y);
    return tw__hlo_pad(l, SELECT(equal, dy, zero), zero, place, high, between);
}

/* (x, y, dy): a window's gradient goes to each of its greatest values. */
static bool max_pool_gradient(tw__lowering *l)
{
    enum { MOST = 125 };
    volume v;
    int64_t end[5];
    if (!read_volume(l, &X.shape, NULL, &v) || X.dtype != l->inputs[2].dtype || v.window[1] * v.window[2] * v.window[3] > MOST)
        return false;
    tw__hlo wide = tw__hlo_pad(l, X, tw__hlo_infinity(l, X.dtype, true), v.low, v.high, NULL), sum = tw__hlo_fill(l, wide, 0);
    for (int64_t at = 0; at < v.window[1] * v.window[2] * v.window[3]; at++) {
        int64_t place[5] = { 0, at / (v.window[2] * v.window[3]), at / v.window[3] % v.window[2], at % v.window[3], 0 };
        sum = BINARY("add", sum, given_at(l, wide, &v, place));
    }
    for (int i = 0; i < 5; i++)
        end[i] = v.low[i] + X.shape.dims[i];
    return GIVE(tw__hlo_slice(l, sum, v.low, end, NULL));
}

/* ---- LRN ---- */

/* bias + alpha * the sum of squares of neighbours among the channels. */
static tw__hlo neighbours(tw__lowering *l, tw__hlo x, bool squared)
{
    int64_t radius = TW_ATTR(l, "depth_radius")->i, channels = x.shape.dims[3], ones[4] = { 1, 1, 1, 1 };
    radius = radius < channels ? radius : channels;
    int64_t window[4] = { 1, 1, 1, 2 * radius + 1 }, pads[8] = { 0, 0, 0, 0, 0, 0, radius, radius };
    return tw__hlo_window(l, "add", squared ? BINARY("multiply", x, x) : x, window, ones, NULL, pads, &x.shape);
}

static tw__hlo norm_of(tw__lowering *l, tw__hlo x)
{
    tw__hlo sum = BINARY("multiply", neighbours(l, x, true), tw__hlo_fill(l, x, TW_ATTR(l, "alpha")->f));
    return BINARY("add", sum, tw__hlo_fill(l, x, TW_ATTR(l, "bias")->f));
}

static bool lrn(tw__lowering *l)
{
    tw__hlo norm = norm_of(l, X);
    return X.dtype == TW_FLOAT32 && GIVE(BINARY("multiply", X, BINARY("power", norm, FILL(-TW_ATTR(l, "beta")->f))));
}

static bool lrn_gradient(tw__lowering *l) /* (dy, x, y) */
{
    tw__hlo norm = norm_of(l, Y);
    double alpha = TW_ATTR(l, "alpha")->f, beta = TW_ATTR(l, "beta")->f;
    tw__hlo pull = neighbours(l, BINARY("divide", BINARY("multiply", X, l->inputs[2]), norm), false);
    tw__hlo back = BINARY("multiply", BINARY("multiply", Y, pull), FILL(-2 * alpha * beta));
    return X.dtype == TW_FLOAT32 && GIVE(BINARY("add", BINARY("multiply", X, BINARY("power", norm, FILL(-beta))), back));
}

const tw__lower_row tw__lower_volumes[] = {
    { "Conv3D", convolution, NULL },
    { "Conv3DBackpropInputV2", input_gradient, NULL },
    { "Conv3DBackpropFilterV2", filter_gradient, NULL },
    { "MaxPool3D", max_pool, NULL },
    { "MaxPool3DGrad", max_pool_gradient, NULL },
    { "AvgPool3D", mean_pool, NULL },
    { "AvgPool3DGrad", mean_pool_gradient, NULL },
    { "LRN", lrn, NULL },
    { "LRNGrad", lrn_gradient, NULL },
    { NULL, NULL, NULL },
};
