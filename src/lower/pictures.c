/* Lowerings of convolutions, pooling and batch normalization of images whose channels come last. */
#include "lower/words.h"

/* ---- convolutions ---- */

typedef struct geometry {
    const char *labels; /* of the operands and the result */
    int64_t stride[2], dilation[2], low[2], high[2], spread[2];
    int64_t groups, batch_groups;
} geometry;

static tw__hlo convolve(tw__lowering *l, tw__hlo a, tw__hlo b, const geometry *g, const tw_shape *shape)
{
    tw__hlo out = { .dtype = a.dtype, .shape = *shape };
    return a.id < 0 || b.id < 0
               ? (tw__hlo){ .id = -1 }
               : tw__hlo_line(
                     l, a.dtype, shape,
                     "stablehlo.convolution(%%%d, %%%d) dim_numbers = %s, window = {stride = [%lld, %lld], pad = [[%lld, %lld], "
                     "[%lld, %lld]], lhs_dilate = [%lld, %lld], rhs_dilate = [%lld, %lld]} {batch_group_count = %lld : i64, "
                     "feature_group_count = %lld : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} "
                     ": (%s, %s) -> %s",
                     a.id, b.id, g->labels, (long long)g->stride[0], (long long)g->stride[1], (long long)g->low[0],
                     (long long)g->high[0], (long long)g->low[1], (long long)g->high[1], (long long)g->spread[0],
                     (long long)g->spread[1], (long long)g->dilation[0], (long long)g->dilation[1], (long long)g->batch_groups,
                     (long long)g->groups, tw__hlo_type_text(a), tw__hlo_type_text(b), tw__hlo_type_text(out));
}

static bool read_case(tw__lowering *l, tw__conv_case *of, const tw_shape *input, const tw_shape *filter, const tw_shape *gradient)
{
    if (tw__conv_read(of, l->op, l->attrs) != TW_OK || tw__conv_fit(of, input, filter, gradient) != TW_OK) {
        tw_clear_error();
        return false;
    }
    return !of->window.channels_first && tw__hlo_dtype(l->outputs[0].dtype) && tw__dtype_is_float(l->outputs[0].dtype);
}

/* A depthwise filter [h, w, c, m] as one of c groups: [h, w, 1, c * m]. */
static tw__hlo grouped(tw__lowering *l, const tw__conv_case *of, tw__hlo filter)
{
    const tw__conv *c = &of->conv;
    return of->depthwise ? tw__hlo_reshape(l, filter, &TW_SHAPE(c->filter[0], c->filter[1], 1, c->out_channels)) : filter;
}

static bool convolution(tw__lowering *l)
{
    tw__conv_case of;
    if (!read_case(l, &of, &l->inputs[0].shape, &l->inputs[1].shape, NULL))
        return false;
    const tw__conv *c = &of.conv;
    geometry g = { "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]",
                   { c->stride[0], c->stride[1] },
                   { c->dilation[0], c->dilation[1] },
                   { c->before[0], c->before[1] },
                   { c->after[0], c->after[1] },
                   { 1, 1 },
                   c->groups,
                   1 };
    return GIVE(convolve(l, l->inputs[0], grouped(l, &of, l->inputs[1]), &g, &l->outputs[0].shape));
}

/* By the input: the filter turned around, over the gradient that is spread by the strides. `filter` is [h, w, o, i] of one group.
 */
static bool input_gradient(tw__lowering *l)
{
    tw__conv_case of;
    tw__hlo filter = l->inputs[1], dy = l->inputs[2];
    if (!read_case(l, &of, &l->outputs[0].shape, &filter.shape, &dy.shape))
        return false;
    const tw__conv *c = &of.conv;
    if (c->groups > 1 && !of.depthwise)
        return false;
    geometry g = { "[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]",
                   { 1, 1 },
                   { c->dilation[0], c->dilation[1] },
                   { 0 },
                   { 0 },
                   { 1, 1 },
                   c->groups,
                   1 };
    int64_t low[4] = { 0 }, high[4] = { 0 }, between[4] = { 0 };
    for (int i = 0; i < 2; i++) {
        int64_t reach = (c->filter[i] - 1) * c->dilation[i] + 1;
        low[i + 1] = reach - 1 - c->before[i];
        high[i + 1] = c->in[i] - ((c->out[i] - 1) * c->stride[i] + 1) + c->before[i];
        between[i + 1] = c->stride[i] - 1;
    }
    /* Written with an own padding and a reversed filter: windows that are reversed themselves are slow on processors. */
    tw__hlo wide = tw__hlo_pad(l, dy, tw__hlo_constant(l, dy.dtype, &TW_SCALAR, 0), low, high, between);
    if (of.depthwise) {
        filter = tw__hlo_transpose(l, filter, (int[]){ 0, 1, 3, 2 });
        g.labels = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]";
    }
    return GIVE(convolve(l, wide, tw__hlo_reverse(l, filter, 3), &g, &l->outputs[0].shape));
}

/* By the filter: the input over the gradient, batches and channels exchanged. */
static bool filter_gradient(tw__lowering *l)
{
    tw__conv_case of;
    tw__hlo x = l->inputs[0], dy = l->inputs[2];
    if (!read_case(l, &of, &x.shape, &l->outputs[0].shape, &dy.shape))
        return false;
    const tw__conv *c = &of.conv;
    geometry g = { "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]",
                   { c->dilation[0], c->dilation[1] },
                   { c->stride[0], c->stride[1] },
                   { c->before[0], c->before[1] },
                   { 0 },
                   { 1, 1 },
                   1,
                   c->groups };
    for (int i = 0; i < 2; i++)
        g.high[i] = (c->filter[i] - 1) * c->dilation[i] + (c->out[i] - 1) * c->stride[i] + 1 - c->in[i] - c->before[i];
    tw_shape shape = TW_SHAPE(c->filter[0], c->filter[1], c->in_channels / c->groups, c->out_channels);
    return GIVE(convolve(l, x, dy, &g, &shape));
}

/* ---- pooling ---- */

typedef struct pool {
    int64_t window[4], strides[4], pads[8];
} pool;

/* Sizes and strides: attrs, or the last two inputs of later versions. */
static bool read_window(tw__lowering *l, pool *p)
{
    int count, same;
    if (l->argument)
        return tw__lower_ints(l, l->input_count - 2, p->window, 4, &count) && count == 4 &&
               tw__lower_ints(l, l->input_count - 1, p->strides, 4, &same) && same == 4;
    const tw_attr *sizes = TW_ATTR(l, "ksize"), *steps = TW_ATTR(l, "strides");
    if (sizes->count != 4 || steps->count != 4)
        return false;
    memcpy(p->window, sizes->ints, sizeof p->window);
    memcpy(p->strides, steps->ints, sizeof p->strides);
    return true;
}

static bool read_pool(tw__lowering *l, const tw_shape *image, pool *p)
{
    tw__window window = { .stride = { 1, 1 }, .dilation = { 1, 1 } };
    *p = (pool){ .window = { 1, 1, 1, 1 }, .strides = { 1, 1, 1, 1 } };
    if (image->rank != 4 || !read_window(l, p) || tw__window_padding(l->op, l->attrs, &window) != TW_OK ||
        window.channels_first || window.padding == 'E') {
        tw_clear_error();
        return false;
    }
    if (p->window[3] != 1 || p->strides[3] != 1 || p->window[0] != 1 || p->strides[0] != 1)
        return false;
    for (int i = 0; i < 2; i++) {
        int64_t places;
        window.stride[i] = p->strides[i + 1];
        if (tw__window_places(l->op, &window, i, image->dims[i + 1], p->window[i + 1], &places, &p->pads[2 * i + 2],
                              &p->pads[2 * i + 3]) != TW_OK) {
            tw_clear_error();
            return false;
        }
    }
    return tw__dtype_is_float(l->outputs[0].dtype);
}

static bool max_pool(tw__lowering *l)
{
    pool p;
    return read_pool(l, &l->inputs[0].shape, &p) &&
           GIVE(tw__hlo_window(l, "maximum", l->inputs[0], p.window, p.strides, NULL, p.pads, &l->outputs[0].shape));
}

/* How many elements of the image each window sees. */
static tw__hlo seen(tw__lowering *l, const pool *p, tw_dtype dtype, const tw_shape *image, const tw_shape *places)
{
    return tw__hlo_window(l, "add", tw__hlo_constant(l, dtype, image, 1), p->window, p->strides, NULL, p->pads, places);
}

static bool mean_pool(tw__lowering *l)
{
    pool p;
    tw__hlo x = l->inputs[0];
    const tw_shape *places = &l->outputs[0].shape;
    if (!read_pool(l, &x.shape, &p))
        return false;
    tw__hlo sum = tw__hlo_window(l, "add", x, p.window, p.strides, NULL, p.pads, places);
    return GIVE(tw__hlo_binary(l, "divide", sum, seen(l, &p, x.dtype, &x.shape, places)));
}

static bool mean_pool_gradient(tw__lowering *l)
{
    pool p;
    tw__hlo dy = l->inputs[1];
    const tw_shape *image = &l->outputs[0].shape;
    int64_t ones[4] = { 1, 1, 1, 1 }, pads[8] = { 0 };
    if (!read_pool(l, image, &p))
        return false;
    for (int i = 1; i < 3; i++) {
        pads[2 * i] = p.window[i] - 1 - p.pads[2 * i];
        pads[2 * i + 1] = image->dims[i] + p.pads[2 * i] - ((dy.shape.dims[i] - 1) * p.strides[i] + 1);
    }
    tw__hlo shares = tw__hlo_binary(l, "divide", dy, seen(l, &p, dy.dtype, image, &dy.shape));
    return GIVE(tw__hlo_window(l, "add", shares, p.window, ones, p.strides, pads, image));
}

static bool max_pool_gradient(tw__lowering *l)
{
    pool p;
    return read_pool(l, &X.shape, &p) && GIVE(tw__hlo_select_and_scatter(l, X, l->inputs[2], p.window, p.strides, p.pads));
}

/* ---- batch normalization ---- */

/* A value per channel as wide as the images. */
static tw__hlo wide(tw__lowering *l, tw__hlo x, const tw_shape *shape)
{
    return tw__hlo_broadcast_in(l, x, shape, (int[]){ shape->rank - 1 });
}

static tw__hlo channel_mean(tw__lowering *l, tw__hlo x, double count)
{
    tw__hlo sum = tw__hlo_reduce(l, "add", x, (1u << (x.shape.rank - 1)) - 1);
    return BINARY("multiply", sum, tw__hlo_fill(l, sum, 1 / count));
}

static double per_channel(const tw_shape *shape)
{
    double count = 1;
    for (int i = 0; i + 1 < shape->rank; i++)
        count *= (double)shape->dims[i];
    return count;
}

/* Channels last, statistics of float32. */
static bool plain_images(tw__lowering *l, tw__hlo x, tw__hlo scale)
{
    return scale.dtype == TW_FLOAT32 && TW_ATTR(l, "data_format")->s.data[1] != 'C' && x.shape.rank >= 4 &&
           TW_ATTR(l, "data_format")->s.data[x.shape.rank - 1] == 'C' && per_channel(&x.shape) > 0;
}

/* (x - mean) / sqrt(variance + epsilon) */
static tw__hlo normalized(tw__lowering *l, tw__hlo x, tw__hlo mean, tw__hlo variance)
{
    tw__hlo scale = tw__hlo_unary(l, "rsqrt", BINARY("add", variance, tw__hlo_fill(l, variance, TW_ATTR(l, "epsilon")->f)));
    return BINARY("multiply", BINARY("subtract", x, wide(l, mean, &x.shape)), wide(l, scale, &x.shape));
}

/* What was, and what is new by a share. */
static tw__hlo mixed(tw__lowering *l, tw__hlo before, tw__hlo now, double share)
{
    if (share == 1)
        return now;
    return BINARY("add", BINARY("multiply", before, tw__hlo_fill(l, now, 1 - share)),
                  BINARY("multiply", now, tw__hlo_fill(l, now, share)));
}

/* FusedBatchNormV3(x, scale, offset, mean, variance). */
static bool batch_norm(tw__lowering *l)
{
    tw__hlo x = l->inputs[0], mean = l->inputs[3], variance = l->inputs[4], told = variance, told_mean = mean;
    bool training = TW_ATTR(l, "is_training")->b;
    double count = per_channel(&x.shape), factor = (float)TW_ATTR(l, "exponential_avg_factor")->f;
    if (!plain_images(l, x, l->inputs[1]) || (factor != 1 && training && mean.shape.dims[0] != x.shape.dims[x.shape.rank - 1]))
        return false;
    tw_dtype dtype = x.dtype;
    x = tw__hlo_convert(l, x, TW_FLOAT32);
    if (training) {
        mean = channel_mean(l, x, count);
        tw__hlo centered = BINARY("subtract", x, wide(l, mean, &x.shape));
        variance = channel_mean(l, BINARY("multiply", centered, centered), count);
        told_mean = mixed(l, told_mean, mean, factor);
        told =
            mixed(l, told, BINARY("multiply", variance, tw__hlo_fill(l, variance, count > 1 ? count / (count - 1) : 1)), factor);
    }
    tw__hlo y = BINARY("multiply", normalized(l, x, mean, variance), wide(l, l->inputs[1], &x.shape));
    return GIVE(tw__hlo_convert(l, BINARY("add", y, wide(l, l->inputs[2], &x.shape)), dtype)) &&
           tw__lower_give(l, 1, told_mean) && tw__lower_give(l, 2, told) && tw__lower_give(l, 3, mean) &&
           tw__lower_give(l, 4, variance) && tw__lower_give(l, 5, tw__hlo_constant(l, TW_FLOAT32, &l->outputs[5].shape, 0));
}

/* FusedBatchNormGradV3(dy, x, scale, mean, variance, …). */
static bool batch_norm_gradient(tw__lowering *l)
{
    tw__hlo dy = l->inputs[0], x = l->inputs[1], variance = l->inputs[4];
    unsigned all = (1u << (x.shape.rank - 1)) - 1;
    double count = per_channel(&x.shape);
    if (!plain_images(l, x, l->inputs[2]))
        return false;
    tw_dtype dtype = x.dtype;
    x = tw__hlo_convert(l, x, TW_FLOAT32);
    dy = tw__hlo_convert(l, dy, TW_FLOAT32);
    tw__hlo xn = normalized(l, x, l->inputs[3], variance), dx = dy;
    tw__hlo dscale = tw__hlo_reduce(l, "add", BINARY("multiply", dy, xn), all), doffset = tw__hlo_reduce(l, "add", dy, all);
    tw__hlo inverse = UNARY("rsqrt", BINARY("add", variance, tw__hlo_fill(l, variance, TW_ATTR(l, "epsilon")->f)));
    if (TW_ATTR(l, "is_training")->b) {
        tw__hlo shares = tw__hlo_fill(l, dscale, 1 / count);
        tw__hlo center = wide(l, BINARY("multiply", doffset, shares), &x.shape),
                turn = wide(l, BINARY("multiply", dscale, shares), &x.shape);
        dx = BINARY("subtract", BINARY("subtract", dy, center), BINARY("multiply", xn, turn));
    }
    dx = BINARY("multiply", dx, wide(l, BINARY("multiply", l->inputs[2], inverse), &x.shape));
    for (int k = 3; k < 5; k++) {
        if (!tw__lower_give(l, k, tw__hlo_constant(l, TW_FLOAT32, &l->outputs[k].shape, 0)))
            return false;
    }
    return GIVE(tw__hlo_convert(l, dx, dtype)) && tw__lower_give(l, 1, dscale) && tw__lower_give(l, 2, doffset);
}

const tw__lower_row tw__lower_pictures[] = {
    { "Conv2D", convolution, NULL },
    { "Conv2DBackpropInput", input_gradient, NULL },
    { "Conv2DBackpropFilter", filter_gradient, NULL },
    { "DepthwiseConv2dNative", convolution, NULL },
    { "DepthwiseConv2dNativeBackpropInput", input_gradient, NULL },
    { "DepthwiseConv2dNativeBackpropFilter", filter_gradient, NULL },
    { "MaxPool", max_pool, NULL },
    { "MaxPoolGrad", max_pool_gradient, NULL },
    { "MaxPoolV2", max_pool, "V2" },
    { "MaxPoolGradV2", max_pool_gradient, "V2" },
    { "AvgPool", mean_pool, NULL },
    { "AvgPoolGrad", mean_pool_gradient, NULL },
    { "FusedBatchNormV3", batch_norm, NULL },
    { "FusedBatchNormGradV3", batch_norm_gradient, NULL },
    { NULL, NULL, NULL },
};
