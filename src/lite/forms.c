/* Operators with weights: convolutions, products, pools. TFLite keeps filters as [out, height, width, in]. */
#include "eager/eager.h"
#include "lite/lite.h"
#include "rows.h"

/* Filters are constants as a rule: what is done to them is done once, while tracing. */
tw_tensor *tw__lite_rearranged(tw__temps *t, tw_tensor *filter, const int64_t *order, int rank)
{
    bool constant = filter && !filter->node;
    tw__outside outside;
    if (constant)
        outside = tw__outside_begin();
    tw_tensor *made = TW_TEMP(Transpose, filter, tw__temp_ints(t, order, rank, TW_INT32));
    if (constant)
        tw__outside_end(outside);
    return made;
}

tw_status tw__lite_need_rank(const tw__lite_call *c, int input, int rank)
{
    int got = c->in[input]->shape.rank;
    return got < 0 || got == rank ? TW_OK
                                  : tw__fail(TW_INVALID_ARGUMENT, "input %d has %d dimensions, expected %d", input, got, rank);
}

static tw_tensor *biased(tw__lite_call *c, tw_tensor *x, int input)
{
    tw__temps *t = c->t;
    return input < c->count && c->in[input] ? TW_TEMP(AddV2, x, c->in[input]) : x;
}

/* Strides or dilations: fields of the width and the height. */
typedef struct window {
    int64_t sizes[4];
} window;

static tw_status read_window(const tw__lite_call *c, int width, int height, int64_t otherwise, window *w)
{
    *w = (window){ { 1, tw__flat_int(&c->options, height, 4, otherwise), tw__flat_int(&c->options, width, 4, otherwise), 1 } };
    if (w->sizes[1] < 1 || w->sizes[2] < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "a stride, dilation or window is %lld by %lld", (long long)w->sizes[1],
                        (long long)w->sizes[2]);
    return TW_OK;
}

static const char *padding_of(const tw__lite_call *c)
{
    return tw__flat_int(&c->options, 0, 1, TW_LITE_SAME) == TW_LITE_SAME ? "SAME" : "VALID";
}

tw_status tw__lite_conv(tw__lite_call *c)
{
    tw__temps *t = c->t;
    window strides, dilations;
    TW_TRY(tw__lite_need_rank(c, 0, 4));
    TW_TRY(tw__lite_need_rank(c, 1, 4));
    TW_TRY(read_window(c, 1, 2, 0, &strides));
    TW_TRY(read_window(c, 4, 5, 1, &dilations));
    tw_tensor *filter = tw__lite_rearranged(t, c->in[1], (int64_t[]){ 1, 2, 3, 0 }, 4);
    tw_tensor *y = TW_TEMP(Conv2D, c->in[0], filter, TW_A_INTS("strides", strides.sizes, 4),
                           TW_A_INTS("dilations", dilations.sizes, 4), TW_A_STRING("padding", padding_of(c)));
    return tw__lite_activated(c, biased(c, y, 2), 3);
}

tw_status tw__lite_depthwise(tw__lite_call *c)
{
    tw__temps *t = c->t;
    window strides, dilations;
    TW_TRY(tw__lite_need_rank(c, 0, 4));
    TW_TRY(tw__lite_need_rank(c, 1, 4));
    TW_TRY(read_window(c, 1, 2, 0, &strides));
    TW_TRY(read_window(c, 5, 6, 1, &dilations));
    const int64_t *filter_dims = c->in[1]->shape.dims;
    int64_t channels = c->in[0]->shape.rank == 4 ? c->in[0]->shape.dims[3] : -1;
    if (channels < 1 || c->in[1]->shape.rank != 4 || filter_dims[3] % channels)
        return tw__lite_refuse("a filter of shape %s does not fit %lld channels", tw__shape_text(&c->in[1]->shape),
                               (long long)channels);
    /* [1, height, width, channels * multiplier] */
    int64_t dims[] = { filter_dims[1], filter_dims[2], channels, filter_dims[3] / channels };
    tw_tensor *filter = tw__temp_reshape(t, c->in[1], dims, 4);
    tw_tensor *y = TW_TEMP(DepthwiseConv2dNative, c->in[0], filter, TW_A_INTS("strides", strides.sizes, 4),
                           TW_A_INTS("dilations", dilations.sizes, 4), TW_A_STRING("padding", padding_of(c)));
    return tw__lite_activated(c, biased(c, y, 2), 4);
}

tw_status tw__lite_conv_transpose(tw__lite_call *c)
{
    tw__temps *t = c->t;
    window strides;
    TW_TRY(tw__lite_need_rank(c, 1, 4));
    TW_TRY(tw__lite_need_rank(c, 2, 4));
    TW_TRY(read_window(c, 1, 2, 0, &strides));
    tw_tensor *filter = tw__lite_rearranged(t, c->in[1], (int64_t[]){ 1, 2, 0, 3 }, 4);
    tw_tensor *y = TW_TEMP(Conv2DBackpropInput, c->in[0], filter, c->in[2], TW_A_INTS("strides", strides.sizes, 4),
                           TW_A_STRING("padding", padding_of(c)));
    return tw__lite_activated(c, biased(c, y, 3), 3);
}

tw_status tw__lite_conv3d(tw__lite_call *c)
{
    tw__temps *t = c->t;
    int64_t strides[5] = { 1, 0, 0, 0, 1 }, dilations[5] = { 1, 0, 0, 0, 1 };
    static const int fields[] = { 1, 3, 2, 5, 7, 6 }; /* depth, height, width */
    for (int i = 0; i < 3; i++) {
        strides[i + 1] = tw__flat_int(&c->options, fields[i], 4, 0);
        dilations[i + 1] = tw__flat_int(&c->options, fields[i + 3], 4, 1);
        if (strides[i + 1] < 1 || dilations[i + 1] < 1)
            return tw__fail(TW_INVALID_ARGUMENT, "a stride or dilation is less than 1");
    }
    TW_TRY(tw__lite_need_rank(c, 0, 5));
    TW_TRY(tw__lite_need_rank(c, 1, 5));
    tw_tensor *y = TW_TEMP(Conv3D, c->in[0], c->in[1], TW_A_INTS("strides", strides, 5), TW_A_INTS("dilations", dilations, 5),
                           TW_A_STRING("padding", padding_of(c)));
    return tw__lite_activated(c, biased(c, y, 2), 4);
}

tw_status tw__lite_pool(tw__lite_call *c)
{
    tw__temps *t = c->t;
    window strides, sizes;
    TW_TRY(tw__lite_need_rank(c, 0, 4));
    TW_TRY(read_window(c, 1, 2, 0, &strides));
    TW_TRY(read_window(c, 3, 4, 0, &sizes));
    const tw_op *op = c->builtin->name[0] == 'M' ? &tw__op_MaxPool : &tw__op_AvgPool;
    tw_tensor *y = TW_TEMP_OP(op, c->in[0], TW_A_INTS("ksize", sizes.sizes, 4), TW_A_INTS("strides", strides.sizes, 4),
                              TW_A_STRING("padding", padding_of(c)));
    return tw__lite_activated(c, y, 5);
}

/* input [..., n] by weights [units, n]. */
tw_status tw__lite_dense(tw__lite_call *c)
{
    tw__temps *t = c->t;
    enum { ACTIVATION, FORMAT, KEEPS_DIMS };
    if (tw__flat_int(&c->options, FORMAT, 1, 0))
        return tw__lite_refuse("shuffled weights are not supported");
    TW_TRY(tw__lite_need_rank(c, 1, 2));
    const tw_shape *weights = &c->in[1]->shape, *x = &c->in[0]->shape;
    if (weights->rank != 2 || weights->dims[1] < 1 || x->rank < 1)
        return tw__lite_refuse("an input of shape %s and weights of shape %s are not supported", tw__shape_text(x),
                               tw__shape_text(weights));
    tw_tensor *flat = c->in[0];
    if (x->rank != 2 || (x->dims[1] >= 0 && x->dims[1] != weights->dims[1]))
        flat = tw__temp_reshape(t, flat, (int64_t[]){ -1, weights->dims[1] }, 2);
    tw_tensor *y = biased(c, TW_TEMP(MatMul, flat, c->in[1], TW_A_BOOL("transpose_b", true)), 2);
    if (tw__flat_int(&c->options, KEEPS_DIMS, 1, 0) && x->rank != 2) {
        tw_tensor *head = tw__temp_slice(t, tw__temp_shape(t, c->in[0], TW_INT32), TW_NO_INT, -1);
        tw_tensor *units = tw__temp_ints(t, weights->dims, 1, TW_INT32);
        tw_tensor *shape = head && units ? tw__temp_concat(t, TW_IN(head, units), 2, 0) : NULL;
        y = TW_TEMP(Reshape, y, shape);
    }
    return tw__lite_activated(c, y, ACTIVATION);
}

tw_status tw__lite_batch_matmul(tw__lite_call *c)
{
    tw__temps *t = c->t;
    return tw__lite_give(c,
                         TW_TEMP(BatchMatMulV2, c->in[0], c->in[1], TW_A_BOOL("adj_x", tw__flat_int(&c->options, 0, 1, 0) != 0),
                                 TW_A_BOOL("adj_y", tw__flat_int(&c->options, 1, 1, 0) != 0)));
}

tw_status tw__lite_embedding(tw__lite_call *c)
{
    return tw__lite_give(c, tw__temp_gather(c->t, c->in[1], c->in[0], 0));
}
