/* Ops that become operators by more than a row. */
#include "eager/eager.h"
#include "lite/convert.h"
#include "rows.h"

static tw_status done(const void *made)
{
    return made ? TW_OK : tw__error_status();
}

/* The value goes on. */
static tw_status forward(tw__lite_lowering *l)
{
    l->out[0] = (tw__lite_known){ tw_retain(l->in[0].constant), l->in[0].tensor };
    return TW_OK;
}

/* The same op under a newer name. */
static tw_status plain(tw__lite_lowering *l, const char *name)
{
    int x = tw__lite_tensor_of(l, 0), y = l->count > 1 ? tw__lite_tensor_of(l, 1) : -1;
    return done(l->count > 1 ? TW_EMIT(l, name, tw__lite_result(l, 0), x, y) : TW_EMIT(l, name, tw__lite_result(l, 0), x));
}

static tw_status lower_add(tw__lite_lowering *l)
{
    return plain(l, "ADD");
}

static bool channels_last(const tw__lite_lowering *l)
{
    const tw_attr *format = tw__lite_attr(l, "data_format");
    return format->s.size == 4 && memcmp(format->s.data, "NHWC", 4) == 0;
}

static tw_status lower_bias(tw__lite_lowering *l)
{
    return channels_last(l) ? plain(l, "ADD") : tw__lite_cannot(l, "data_format is not NHWC");
}

/* ---- products ---- */

static int transposed(tw__lite_lowering *l, tw_tensor *constant, const int64_t *order, int rank)
{
    return tw__lite_constant_of(l, tw__lite_rearranged(l->t, constant, order, rank));
}

static tw_status lower_matmul(tw__lite_lowering *l)
{
    bool ta = tw__lite_attr(l, "transpose_a")->b, tb = tw__lite_attr(l, "transpose_b")->b;
    tw_tensor *weights = l->in[1].constant;
    tw_dtype dtype = l->node->out_dtypes[0];
    if (!weights || ta || dtype != TW_FLOAT32) {
        tw__lite_made_operator *made =
            TW_EMIT(l, "BATCH_MATMUL", tw__lite_result(l, 0), tw__lite_tensor_of(l, 0), tw__lite_tensor_of(l, 1));
        TW_NEED(made);
        tw__lite_set_field(made, 0, 'b', ta);
        tw__lite_set_field(made, 1, 'b', tb);
        return TW_OK;
    }
    int w = tb ? tw__lite_tensor_of(l, 1) : transposed(l, weights, (int64_t[]){ 1, 0 }, 2);
    return done(TW_EMIT(l, "FULLY_CONNECTED", tw__lite_result(l, 0), tw__lite_tensor_of(l, 0), w, -1));
}

static tw_status lower_batch_matmul(tw__lite_lowering *l)
{
    tw__lite_made_operator *made =
        TW_EMIT(l, "BATCH_MATMUL", tw__lite_result(l, 0), tw__lite_tensor_of(l, 0), tw__lite_tensor_of(l, 1));
    TW_NEED(made);
    tw__lite_set_field(made, 0, 'b', tw__lite_attr(l, "adj_x")->b);
    tw__lite_set_field(made, 1, 'b', tw__lite_attr(l, "adj_y")->b);
    return TW_OK;
}

/* ---- windows ---- */

typedef struct window {
    bool same;
    int64_t strides[2], dilations[2], sizes[2]; /* height, width */
} window;

static tw_status read_window(tw__lite_lowering *l, window *w)
{
    const tw_attr *padding = tw__lite_attr(l, "padding"), *strides = tw__lite_attr(l, "strides");
    if (!channels_last(l))
        return tw__lite_cannot(l, "data_format is not NHWC");
    w->same = padding->s.size == 4 && memcmp(padding->s.data, "SAME", 4) == 0;
    if (!w->same && !(padding->s.size == 5 && memcmp(padding->s.data, "VALID", 5) == 0))
        return tw__lite_cannot(l, "explicit padding is not supported");
    memcpy(w->strides, strides->ints + 1, sizeof w->strides);
    return strides->ints[0] == 1 && strides->ints[3] == 1 ? TW_OK : tw__lite_cannot(l, "strides of batches or channels");
}

static void put_window(tw__lite_made_operator *made, const window *w)
{
    tw__lite_set_field(made, 0, 'b', w->same ? TW_LITE_SAME : TW_LITE_VALID);
    tw__lite_set_field(made, 1, 'i', (double)w->strides[1]);
    tw__lite_set_field(made, 2, 'i', (double)w->strides[0]);
}

static tw_status lower_conv(tw__lite_lowering *l)
{
    window w;
    TW_TRY(read_window(l, &w));
    bool depthwise = l->node->op->name[0] == 'D';
    const int64_t *dilations = tw__lite_attr(l, "dilations")->ints;
    tw_tensor *filter = l->in[1].constant;
    if (!filter)
        return tw__lite_cannot(l, "its filter is not constant");
    int64_t channels = filter->shape.dims[2] * filter->shape.dims[3];
    tw_tensor *flat =
        depthwise ? tw__temp_reshape(l->t, filter, (int64_t[]){ 1, filter->shape.dims[0], filter->shape.dims[1], channels }, 4)
                  : NULL;
    int weights = depthwise ? tw__lite_constant_of(l, flat) : transposed(l, filter, (int64_t[]){ 3, 0, 1, 2 }, 4);
    tw_auto tw_tensor *zeros = tw_tensor_new(filter->dtype, TW_SHAPE(depthwise ? channels : filter->shape.dims[3]), NULL);
    tw__lite_made_operator *made = TW_EMIT(l, depthwise ? "DEPTHWISE_CONV_2D" : "CONV_2D", tw__lite_result(l, 0),
                                           tw__lite_tensor_of(l, 0), weights, tw__lite_constant_of(l, zeros));
    TW_NEED(made);
    put_window(made, &w);
    if (depthwise)
        tw__lite_set_field(made, 3, 'i', (double)filter->shape.dims[3]);
    tw__lite_set_field(made, depthwise ? 5 : 4, 'i', (double)dilations[2]);
    tw__lite_set_field(made, depthwise ? 6 : 5, 'i', (double)dilations[1]);
    return TW_OK;
}

static tw_status lower_conv_transpose(tw__lite_lowering *l)
{
    window w;
    TW_TRY(read_window(l, &w));
    const int64_t *dilations = tw__lite_attr(l, "dilations")->ints;
    if (!l->in[1].constant || dilations[1] != 1 || dilations[2] != 1)
        return tw__lite_cannot(l, "its filter is not constant, or dilated");
    int weights = transposed(l, l->in[1].constant, (int64_t[]){ 2, 0, 1, 3 }, 4);
    tw__lite_made_operator *made =
        TW_EMIT(l, "TRANSPOSE_CONV", tw__lite_result(l, 0), tw__lite_tensor_of(l, 0), weights, tw__lite_tensor_of(l, 2));
    TW_NEED(made);
    put_window(made, &w);
    return TW_OK;
}

static tw_status lower_pool(tw__lite_lowering *l)
{
    window w;
    TW_TRY(read_window(l, &w));
    const int64_t *sizes = tw__lite_attr(l, "ksize")->ints;
    tw__lite_made_operator *made = TW_EMIT(l, l->node->op->name[0] == 'M' ? "MAX_POOL_2D" : "AVERAGE_POOL_2D",
                                           tw__lite_result(l, 0), tw__lite_tensor_of(l, 0));
    TW_NEED(made);
    put_window(made, &w);
    tw__lite_set_field(made, 3, 'i', (double)sizes[2]);
    tw__lite_set_field(made, 4, 'i', (double)sizes[1]);
    return TW_OK;
}

static tw_status lower_conv3d(tw__lite_lowering *l)
{
    const tw_attr *padding = tw__lite_attr(l, "padding"), *format = tw__lite_attr(l, "data_format");
    const int64_t *strides = tw__lite_attr(l, "strides")->ints, *dilations = tw__lite_attr(l, "dilations")->ints;
    static const int places[] = { 1, 3, 2 }; /* of depth, height, width among the fields */
    if (format->s.data[1] != 'D')
        return tw__lite_cannot(l, "data_format is not NDHWC");
    tw__lite_made_operator *made =
        TW_EMIT(l, "CONV_3D", tw__lite_result(l, 0), tw__lite_tensor_of(l, 0), tw__lite_tensor_of(l, 1));
    TW_NEED(made);
    tw__lite_set_field(made, 0, 'b', padding->s.data[0] == 'S' ? TW_LITE_SAME : TW_LITE_VALID);
    for (int i = 0; i < 3; i++) {
        tw__lite_set_field(made, places[i], 'i', (double)strides[i + 1]);
        tw__lite_set_field(made, places[i] + 4, 'i', (double)dilations[i + 1]);
    }
    return TW_OK;
}

/* With constant statistics it is a product and a sum. */
static tw_status lower_batch_norm(tw__lite_lowering *l)
{
    tw__temps *t = l->t;
    if (!channels_last(l) || tw__lite_attr(l, "is_training")->b)
        return tw__lite_cannot(l, "it is not NHWC, or is_training");
    for (int i = 1; i < 5; i++) {
        if (!l->in[i].constant)
            return tw__lite_cannot(l, "its statistics are not constant");
    }
    tw_tensor *variance = TW_TEMP(AddV2, l->in[4].constant, (double)tw__lite_attr(l, "epsilon")->f);
    tw_tensor *scale = TW_TEMP(Mul, l->in[1].constant, TW_TEMP(Rsqrt, variance));
    tw_tensor *offset = TW_TEMP(Sub, l->in[2].constant, TW_TEMP(Mul, l->in[3].constant, scale));
    TW_NEED(scale && offset);
    int scaled = tw__lite_between(l, TW_FLOAT32, &l->node->out_shapes[0]);
    TW_NEED(TW_EMIT(l, "MUL", scaled, tw__lite_tensor_of(l, 0), tw__lite_constant_of(l, scale)));
    return done(TW_EMIT(l, "ADD", tw__lite_result(l, 0), scaled, tw__lite_constant_of(l, offset)));
}

/* ---- arrays ---- */

static tw_status lower_concat(tw__lite_lowering *l)
{
    int inputs[64], count = l->count - 1;
    tw_tensor *axis = l->in[count].constant;
    int64_t at;
    if (!axis || count > 64)
        return tw__lite_cannot(l, "the axis is not constant, or there are too many values");
    TW_TRY(tw__tensor_read_ints(axis, "axis", &at, 1));
    for (int i = 0; i < count; i++)
        inputs[i] = tw__lite_tensor_of(l, i);
    tw__lite_made_operator *made = tw__lite_emit(l, "CONCATENATION", inputs, count, (const int[]){ tw__lite_result(l, 0) }, 1);
    TW_NEED(made);
    tw__lite_set_field(made, 0, 'i', (double)at);
    return TW_OK;
}

static tw_status lower_gather(tw__lite_lowering *l)
{
    bool resource = l->node->op->name[0] == 'R';
    int64_t axis = 0;
    int params = -1;
    if (resource) {
        tw_tensor *table = !l->in[0].constant ? NULL
                                              : tw__temp(l->t, tw__call(&tw__op_ReadVariableOp, TW_IN(l->in[0].constant), 1,
                                                                        TW_WITH(TW_A_TYPE("dtype", l->node->out_dtypes[0])), 1));
        TW_NEED(table);
        params = tw__lite_constant_of(l, table);
    } else {
        if (!l->in[2].constant)
            return tw__lite_cannot(l, "the axis is not constant");
        TW_TRY(tw__tensor_read_ints(l->in[2].constant, "axis", &axis, 1));
        params = tw__lite_tensor_of(l, 0);
    }
    tw__lite_made_operator *made = TW_EMIT(l, "GATHER", tw__lite_result(l, 0), params, tw__lite_tensor_of(l, 1));
    TW_NEED(made);
    tw__lite_set_field(made, 0, 'i', (double)axis);
    tw__lite_set_field(made, 1, 'i', (double)tw__lite_attr(l, "batch_dims")->i);
    return TW_OK;
}

static tw_status lower_reshape(tw__lite_lowering *l)
{
    tw__temps *t = l->t;
    tw_tensor *shape = l->in[1].constant;
    int numbers;
    if (shape)
        numbers = tw__lite_constant_of(l, tw__temp_cast(t, shape, TW_INT32));
    else
        numbers = tw__lite_tensor_of(l, 1);
    tw__lite_made_operator *made = TW_EMIT(l, "RESHAPE", tw__lite_result(l, 0), tw__lite_tensor_of(l, 0), numbers);
    return done(made);
}

static tw_status lower_squeeze(tw__lite_lowering *l)
{
    const tw_attr *dims = tw__lite_attr(l, "squeeze_dims");
    tw__lite_made_operator *made = TW_EMIT(l, "SQUEEZE", tw__lite_result(l, 0), tw__lite_tensor_of(l, 0));
    TW_NEED(made);
    made->listed = true;
    made->dim_count = dims->count < TW_MAX_RANK ? dims->count : TW_MAX_RANK;
    for (int i = 0; i < made->dim_count; i++)
        made->dims[i] = (int32_t)dims->ints[i];
    return TW_OK;
}

static tw_status lower_cast(tw__lite_lowering *l)
{
    int x = tw__lite_tensor_of(l, 0);
    TW_NEED(x >= 0);
    tw_dtype from = l->made->tensors[x].dtype, to = l->node->out_dtypes[0];
    if (from == to)
        return forward(l);
    tw__lite_made_operator *made = TW_EMIT(l, "CAST", tw__lite_result(l, 0), x);
    TW_NEED(made);
    tw__lite_set_field(made, 0, 't', tw__lite_type(from));
    tw__lite_set_field(made, 1, 't', tw__lite_type(to));
    return TW_OK;
}

static tw_status lower_shape(tw__lite_lowering *l)
{
    const tw_shape *shape = tw__lite_shape_of(l, 0);
    tw_dtype dtype = l->node->out_dtypes[0];
    if (tw__shape_known(shape)) {
        l->out[0].constant = tw__tensor_of_shape(shape, dtype);
        return done(l->out[0].constant);
    }
    tw__lite_made_operator *made = TW_EMIT(l, "SHAPE", tw__lite_result(l, 0), tw__lite_tensor_of(l, 0));
    TW_NEED(made);
    tw__lite_set_field(made, 0, 't', tw__lite_type(dtype));
    return TW_OK;
}

static tw_status lower_mirror_pad(tw__lite_lowering *l)
{
    tw__lite_made_operator *made =
        TW_EMIT(l, "MIRROR_PAD", tw__lite_result(l, 0), tw__lite_tensor_of(l, 0), tw__lite_tensor_of(l, 1));
    TW_NEED(made);
    tw__lite_set_field(made, 0, 'b', tw__lite_attr(l, "mode")->s.data[0] == 'S');
    return TW_OK;
}

/* ---- functions of numbers ---- */

static tw_status lower_softmax(tw__lite_lowering *l)
{
    tw__lite_made_operator *made = TW_EMIT(l, "SOFTMAX", tw__lite_result(l, 0), tw__lite_tensor_of(l, 0));
    TW_NEED(made);
    tw__lite_set_field(made, 0, 'f', 1);
    return TW_OK;
}

/* An operator of one input; the number of its result, or -1. */
static int step(tw__lite_lowering *l, const char *name, int x, int y)
{
    int made = tw__lite_between(l, l->node->out_dtypes[0], &l->node->out_shapes[0]);
    return (y < 0 ? TW_EMIT(l, name, made, x) : TW_EMIT(l, name, made, x, y)) ? made : -1;
}

/* log(1 + exp(x)) as max(x, 0) + log(1 + exp(-|x|)), which does not overflow. */
static tw_status lower_softplus(tw__lite_lowering *l)
{
    int x = tw__lite_tensor_of(l, 0), one = tw__lite_float_of(l, 1);
    int small = step(l, "EXP", step(l, "NEG", step(l, "ABS", x, -1), -1), -1);
    int log = step(l, "LOG", step(l, "ADD", small, one), -1);
    return done(TW_EMIT(l, "ADD", tw__lite_result(l, 0), step(l, "RELU", x, -1), log));
}

static tw_status lower_softsign(tw__lite_lowering *l)
{
    int x = tw__lite_tensor_of(l, 0);
    return done(TW_EMIT(l, "DIV", tw__lite_result(l, 0), x, step(l, "ADD", step(l, "ABS", x, -1), tw__lite_float_of(l, 1))));
}

/* scale * (relu(x) + alpha * (exp(min(x, 0)) - 1)) */
static tw_status lower_selu(tw__lite_lowering *l)
{
    enum { UNUSED = -1 };
    const double scale = 1.0507009873554805, alpha = 1.6732632423543772;
    int x = tw__lite_tensor_of(l, 0);
    int low = step(l, "SUB", step(l, "EXP", step(l, "MINIMUM", x, tw__lite_float_of(l, 0)), UNUSED), tw__lite_float_of(l, 1));
    int sum = step(l, "ADD", step(l, "MUL", step(l, "RELU", x, UNUSED), tw__lite_float_of(l, scale)),
                   step(l, "MUL", low, tw__lite_float_of(l, scale * alpha)));
    l->out[0].tensor = sum;
    return sum >= 0 ? TW_OK : tw__error_status();
}

/* There is no such operator, but GELU(y) = y / 2 * (1 + erf(y / sqrt(2))); not at 0. */
static tw_status lower_erf(tw__lite_lowering *l)
{
    int x = tw__lite_tensor_of(l, 0), y = step(l, "MUL", step(l, "ABS", x, -1), tw__lite_float_of(l, 1.4142135623730951));
    y = step(l, "MAXIMUM", y, tw__lite_float_of(l, 1e-20));
    int half = step(l, "DIV", step(l, "GELU", y, -1), y);
    int size = step(l, "SUB", step(l, "ADD", half, half), tw__lite_float_of(l, 1));
    return done(TW_EMIT(l, "MUL", tw__lite_result(l, 0), size, step(l, "SIGN", x, -1)));
}

static tw_status lower_reciprocal(tw__lite_lowering *l)
{
    return done(TW_EMIT(l, "DIV", tw__lite_result(l, 0), tw__lite_float_of(l, 1), tw__lite_tensor_of(l, 0)));
}

static tw_status lower_divide(tw__lite_lowering *l)
{
    return plain(l, "DIV");
}

static tw_status lower_log1p(tw__lite_lowering *l)
{
    return done(TW_EMIT(l, "LOG", tw__lite_result(l, 0), step(l, "ADD", tw__lite_tensor_of(l, 0), tw__lite_float_of(l, 1))));
}

/* Bounds of two sides. */
static tw_status lower_clip(tw__lite_lowering *l)
{
    int below = step(l, "MINIMUM", tw__lite_tensor_of(l, 0), tw__lite_tensor_of(l, 2));
    return done(TW_EMIT(l, "MAXIMUM", tw__lite_result(l, 0), below, tw__lite_tensor_of(l, 1)));
}

tw__lite_form tw__lite_form_of(const char *op)
{
    static const struct {
        const char *op;
        tw__lite_form form;
    } forms[] = { { "Identity", forward },
                  { "StopGradient", forward },
                  { "PreventGradient", forward },
                  { "CheckNumerics", forward },
                  { "Snapshot", forward },
                  { "EnsureShape", forward },
                  { "Add", lower_add },
                  { "BiasAdd", lower_bias },
                  { "MatMul", lower_matmul },
                  { "BatchMatMul", lower_batch_matmul },
                  { "BatchMatMulV2", lower_batch_matmul },
                  { "Conv2D", lower_conv },
                  { "DepthwiseConv2dNative", lower_conv },
                  { "Conv2DBackpropInput", lower_conv_transpose },
                  { "MaxPool", lower_pool },
                  { "AvgPool", lower_pool },
                  { "FusedBatchNormV3", lower_batch_norm },
                  { "ConcatV2", lower_concat },
                  { "GatherV2", lower_gather },
                  { "ResourceGather", lower_gather },
                  { "Reshape", lower_reshape },
                  { "Squeeze", lower_squeeze },
                  { "Cast", lower_cast },
                  { "Shape", lower_shape },
                  { "MirrorPad", lower_mirror_pad },
                  { "Softmax", lower_softmax },
                  { "Softplus", lower_softplus },
                  { "Softsign", lower_softsign },
                  { "Selu", lower_selu },
                  { "Reciprocal", lower_reciprocal },
                  { "Inv", lower_reciprocal },
                  { "Div", lower_divide },
                  { "Log1p", lower_log1p },
                  { "ClipByValue", lower_clip },
                  { "Erf", lower_erf },
                  { "Conv3D", lower_conv3d },
                  { "Einsum", tw__lite_lower_einsum },
                  { "BlockLSTMV2", tw__lite_lower_lstm } };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(forms[i].op, op) == 0)
            return forms[i].form;
    }
    return NULL;
}
