/* FusedBatchNormV3 and its gradient. Kernels work on rows of channels: NCHW is transposed first and back. Half and bfloat16 run
 * as float.
 *
 * Outputs beside y: the mean and the unbiased variance (mixed with the given ones by exponential_avg_factor), and for the
 * gradient the mean and the biased variance of the batch. Not training: all of them are the given mean and variance. */
#include "kernel/batch_norm.h"
#include "kernel/copy.h"
#include "kernel/kernel.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/nn/conv_window.h"
#include "rows.h"

#define FAIL(context, code, format, ...) TW_WINDOW_FAIL((context)->op, code, format, ##__VA_ARGS__)

/* ---- shapes ---- */

static int channel_axis(const tw_op *op, const tw_attr *attrs, const tw_shape *shape)
{
    return tw__attr_find(op, attrs, "data_format")->s.data[1] == 'C' ? 1 : shape->rank - 1;
}

static tw_status check_input(const tw__inference *inference, const tw_shape *x, int64_t *channels)
{
    *channels = -1;
    if (x->rank >= 0 && x->rank != 4 && x->rank != 5)
        return FAIL(inference, TW_INVALID_ARGUMENT, "input must be 4 or 5-dimensional%s", tw__shape_text(x));
    if (x->rank >= 0)
        *channels = x->dims[channel_axis(inference->op, inference->attrs, x)];
    return TW_OK;
}

/* `when` stands before the message. */
static tw_status check_vector(const tw__inference *inference, int input, const char *name, int64_t channels, const char *when)
{
    const tw_shape *shape = inference->shapes[input];
    if (shape->rank >= 0 && shape->rank != 1)
        return FAIL(inference, TW_INVALID_ARGUMENT, "%s must be 1-dimensional%s", name, tw__shape_text(shape));
    if (shape->rank == 1 && shape->dims[0] >= 0 && channels >= 0 && shape->dims[0] != channels)
        return FAIL(inference, TW_INVALID_ARGUMENT,
                    "%s%s must have the same number of elements as the channels of x, got %lld and %lld", when, name,
                    (long long)shape->dims[0], (long long)channels);
    return TW_OK;
}

static tw_status norm_shape(tw__inference *inference)
{
    static const char *const names[] = { "x", "scale", "offset", "mean", "variance" };
    int64_t channels;
    TW_TRY(check_input(inference, inference->shapes[0], &channels));
    bool training = TW_ATTR(inference, "is_training")->b, mixes = TW_ATTR(inference, "exponential_avg_factor")->f != 1;
    for (int i = 1; i < 5; i++) {
        bool any_size = i > 2 && training && !mixes;
        const char *when = i <= 2 ? "" : training ? "When exponential_avg_factor != 1, " : "When is_training=false, ";
        TW_TRY(check_vector(inference, i, names[i], any_size ? -1 : channels, when));
    }
    inference->out_shapes[0] = *inference->shapes[0];
    for (int i = 1; i < 5; i++)
        inference->out_shapes[i] = TW_SHAPE(channels);
    inference->out_shapes[5] = TW_SCALAR;
    return TW_OK;
}

static tw_status grad_shape(tw__inference *inference)
{
    static const char *const names[] = { "y_backprop", "x", "scale", "reserve_space_1", "reserve_space_2" };
    const tw_shape *gradient = inference->shapes[0], *x = inference->shapes[1];
    int64_t channels;
    TW_TRY(check_input(inference, gradient, &channels));
    TW_TRY(check_input(inference, x, &channels));
    if (!tw__shape_compatible(x, gradient))
        return FAIL(inference, TW_INVALID_ARGUMENT,
                    "x and y_backprop must have same shape, but x has shape %s and y_backprop has shape %s", tw__shape_text(x),
                    tw__shape_text(gradient));
    for (int i = 2; i < 5; i++)
        TW_TRY(check_vector(inference, i, names[i], channels, ""));
    if (!TW_ATTR(inference, "is_training")->b && TW_ATTR(inference, "data_format")->s.data[1] == 'C')
        return FAIL(inference, TW_INVALID_ARGUMENT,
                    "The implementation of FusedBatchNormGrad with is_training=False only support NHWC tensor format for now.");
    inference->out_shapes[0] = tw__shape_known(x) ? *x : *gradient;
    inference->out_shapes[1] = inference->out_shapes[2] = TW_SHAPE(channels);
    inference->out_shapes[3] = inference->out_shapes[4] = TW_SHAPE(0);
    return TW_OK;
}

/* ---- rows of floats ---- */

/* A tensor of any layout and float dtype as rows of floats, and back. */
typedef struct rows {
    int64_t rows, channels;
    int64_t outer, inner; /* NCHW: rows = outer * inner */
    bool channels_first;
} rows;

static rows rows_of(const tw_op *op, const tw_attr *attrs, const tw_shape *shape)
{
    int axis = channel_axis(op, attrs, shape);
    rows r = { .channels = shape->dims[axis], .outer = 1, .inner = 1, .channels_first = axis != shape->rank - 1 };
    for (int i = 0; i < axis; i++)
        r.outer *= shape->dims[i];
    for (int i = axis + 1; i < shape->rank; i++)
        r.inner *= shape->dims[i];
    r.rows = r.outer * r.inner;
    return r;
}

/* Exchanges channels and inner dimensions of floats. */
static tw_status transpose(const rows *r, const float *from, float *to, bool back)
{
    tw__walk walk = { 0 };
    int64_t channels = r->channels, inner = r->inner, image = channels * inner;
    tw__walk_add(&walk, r->outer, image, image);
    tw__walk_add(&walk, inner, back ? 1 : channels, back ? channels : 1);
    tw__walk_add(&walk, channels, back ? inner : 1, back ? 1 : inner);
    return tw__copy_walk(TW_FLOAT32, to, from, &walk);
}

static bool is_direct(const rows *r, tw_dtype dtype)
{
    return dtype == TW_FLOAT32 && !r->channels_first;
}

/* *data becomes the elements as rows of floats: the tensor's own memory, or that of a new buffer. */
static tw_status as_rows(const rows *r, const tw_tensor *x, const float **data, tw__buffer **buffer)
{
    *data = x->data;
    if (is_direct(r, x->dtype))
        return TW_OK;
    bool narrow = x->dtype != TW_FLOAT32;
    *buffer = tw__buffer_new((size_t)x->count * sizeof(float) * (narrow && r->channels_first ? 2 : 1));
    if (!*buffer)
        return tw__error_status();
    float *first = (*buffer)->data, *second = first;
    if (narrow) {
        tw__small_float_read(x->dtype, x->data, first, x->count);
        *data = first;
        second = first + x->count;
    }
    if (r->channels_first) {
        TW_TRY(transpose(r, *data, second, false));
        *data = second;
    }
    return TW_OK;
}

static tw_status from_rows(const rows *r, float *from, tw_tensor *x)
{
    if (x->dtype == TW_FLOAT32)
        return r->channels_first ? transpose(r, from, x->data, true) : TW_OK;
    tw__buffer *buffer = NULL;
    float *data = from;
    if (r->channels_first) {
        buffer = tw__buffer_new((size_t)x->count * sizeof(float));
        if (!buffer)
            return tw__error_status();
        data = buffer->data;
    }
    tw_status status = buffer ? transpose(r, from, data, true) : TW_OK;
    if (status == TW_OK)
        tw__small_float_write(x->dtype, data, x->data, x->count);
    if (buffer)
        tw__buffer_release(buffer);
    return status;
}

static void release(tw__buffer **buffer)
{
    if (*buffer)
        tw__buffer_release(*buffer);
}

/* Room for a result that can't be made in place. */
static tw_status room(const rows *r, tw_tensor *out, float **data, tw__buffer **buffer)
{
    *data = out->data;
    if (is_direct(r, out->dtype))
        return TW_OK;
    *buffer = tw__buffer_new((size_t)out->count * sizeof(float));
    if (!*buffer)
        return tw__error_status();
    *data = (*buffer)->data;
    return TW_OK;
}

/* ---- kernels ---- */

/* The running statistics: given * (1 - factor) + batch * factor. */
static void mix(tw__kernel *kernel, const float *mean, const float *variance, int64_t count, int64_t channels)
{
    float factor = (float)TW_ATTR(kernel, "exponential_avg_factor")->f;
    const float *old_mean = kernel->inputs[3]->data, *old_variance = kernel->inputs[4]->data;
    float *new_mean = kernel->outputs[1]->data, *new_variance = kernel->outputs[2]->data;
    float unbiased = (float)count / (float)(count > 1 ? count - 1 : 1);
    for (int64_t c = 0; c < channels; c++) {
        new_mean[c] = factor == 1 ? mean[c] : (1 - factor) * old_mean[c] + factor * mean[c];
        new_variance[c] =
            factor == 1 ? variance[c] * unbiased : (1 - factor) * old_variance[c] + factor * (variance[c] * unbiased);
    }
}

static tw_status norm_run(tw__kernel *kernel, const rows *r, const float *x, float *y)
{
    bool training = TW_ATTR(kernel, "is_training")->b;
    float epsilon = (float)TW_ATTR(kernel, "epsilon")->f;
    float *mean = kernel->outputs[3]->data, *variance = kernel->outputs[4]->data;
    size_t bytes = (size_t)r->channels * sizeof(float);
    memset(kernel->outputs[5]->data, 0, sizeof(float));
    if (training && r->rows == 0) {
        memset(mean, 0, bytes);
        memset(variance, 0, bytes);
        for (int64_t c = 0; c < r->channels; c++)
            ((float *)kernel->outputs[1]->data)[c] = ((float *)kernel->outputs[2]->data)[c] = __builtin_nanf("");
        return TW_OK;
    }
    if (training) {
        TW_TRY(tw__batch_moments(x, r->rows, r->channels, mean, variance));
        mix(kernel, mean, variance, r->rows, r->channels);
    } else {
        for (int i = 0; i < 2; i++) {
            memcpy(kernel->outputs[1 + i]->data, kernel->inputs[3 + i]->data, bytes);
            memcpy(kernel->outputs[3 + i]->data, kernel->inputs[3 + i]->data, bytes);
        }
    }
    return tw__batch_normalize(x, r->rows, r->channels, kernel->inputs[1]->data, kernel->inputs[2]->data, mean, variance, epsilon,
                               y);
}

static tw_status norm_compute(tw__kernel *kernel)
{
    const tw_tensor *x = kernel->inputs[0];
    if (kernel->inputs[1]->dtype != TW_FLOAT32)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "U is %s, expected float32", tw_dtype_name(kernel->inputs[1]->dtype));
    rows r = rows_of(kernel->op, kernel->attrs, &x->shape);
    tw__auto(release) tw__buffer *in = NULL, *out = NULL;
    const float *data;
    float *y;
    TW_TRY(as_rows(&r, x, &data, &in));
    TW_TRY(room(&r, kernel->outputs[0], &y, &out));
    TW_TRY(norm_run(kernel, &r, data, y));
    return from_rows(&r, y, kernel->outputs[0]);
}

static tw_status grad_compute(tw__kernel *kernel)
{
    rows r = rows_of(kernel->op, kernel->attrs, &kernel->inputs[1]->shape);
    tw__auto(release) tw__buffer *first = NULL, *second = NULL, *third = NULL;
    const float *gradient, *x;
    float *result;
    TW_TRY(as_rows(&r, kernel->inputs[0], &gradient, &first));
    TW_TRY(as_rows(&r, kernel->inputs[1], &x, &second));
    TW_TRY(room(&r, kernel->outputs[0], &result, &third));
    TW_TRY(tw__batch_norm_grad(gradient, x, r.rows, r.channels, kernel->inputs[2]->data, kernel->inputs[3]->data,
                               kernel->inputs[4]->data, (float)TW_ATTR(kernel, "epsilon")->f, TW_ATTR(kernel, "is_training")->b,
                               result, kernel->outputs[1]->data, kernel->outputs[2]->data));
    return from_rows(&r, result, kernel->outputs[0]);
}

/* ---- the gradient ---- */

/* Moves the channels last, or back to the second place. */
static tw_tensor *move_channels(tw_tensor *x, bool back)
{
    int64_t order[TW_MAX_RANK] = { 0 };
    int rank = x->shape.rank;
    for (int i = 1; i < rank; i++)
        order[i] = back ? (i == 1 ? rank - 1 : i - 1) : (i == rank - 1 ? 1 : i + 1);
    tw_auto tw_tensor *permutation = tw__ints_tensor(order, rank, TW_INT32);
    return TW_CALL(Transpose, x, permutation);
}

/* Only y's gradient counts, as in TensorFlow. Not training, the mean and variance are constants of the op, and the gradient's op
 * wants the channels last. */
static tw_status norm_gradient(tw__gradient *g)
{
    tw_tensor *outputs[5];
    if (!g->output_grads[0])
        return TW_OK;
    bool training = TW_ATTR(g, "is_training")->b, moves = !training && TW_ATTR(g, "data_format")->s.data[1] == 'C';
    tw_auto tw_tensor *given = moves ? move_channels(g->output_grads[0], false) : tw_retain(g->output_grads[0]);
    tw_auto tw_tensor *x = moves ? move_channels(g->inputs[0], false) : tw_retain(g->inputs[0]);
    if (!given || !x)
        return tw__error_status();
    tw_attr format = TW_A_STRING("data_format", x->shape.rank == 5 ? "NDHWC" : "NHWC");
    tw_attr attrs[] = { *TW_ATTR(g, "epsilon"), *TW_ATTR(g, "is_training"), moves ? format : *TW_ATTR(g, "data_format") };
    tw_tensor *mean = training ? g->outputs[3] : g->inputs[3], *variance = training ? g->outputs[4] : g->inputs[4];
    int count = 5;
    TW_TRY(tw__apply(&tw__op_FusedBatchNormGradV3, TW_IN(given, x, g->inputs[1], mean, variance, g->outputs[5]), 6, attrs, 3,
                     outputs, &count));
    if (moves && g->wanted[0]) {
        tw_tensor *back = move_channels(outputs[0], true);
        tw_release(outputs[0]);
        outputs[0] = back;
    }
    for (int i = 0; i < 5; i++) {
        if (i < 3 && g->wanted[i])
            g->input_grads[i] = outputs[i];
        else
            tw_release(outputs[i]);
    }
    return g->wanted[0] && !g->input_grads[0] ? tw__error_status() : TW_OK;
}

#define FORMAT ", data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC', is_training: bool = true"

TW_OP(FusedBatchNormV3, .inputs = "x: T, scale: U, offset: U, mean: U, variance: U",
      .outputs = "y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U",
      .attrs = "T: {half, bfloat16, float}, U: {bfloat16, float}, epsilon: float = 0.0001, "
               "exponential_avg_factor: float = 1" FORMAT,
      .shape = norm_shape, .compute = norm_compute, .gradient = norm_gradient,
      .doc = "(x - mean) / sqrt(variance + epsilon) * scale + offset per channel; training, both are the batch's own.");

/* ---- the gradient of the gradient ----
 *
 * Per channel, with r = 1 / sqrt(variance + epsilon), h = (x - mean) * r, G the gradient of x_backprop, s that of scale_backprop,
 * o that of offset_backprop, and bars for means over the channel: of dy      scale r (G - Ḡ - h A) + s h + o                  A =
 * mean of G h, B = mean of dy h of scale   r S                                              S = sum of G (dy - mean dy - h B) of
 * x       -scale r² (h S / n + B (G - Ḡ - h A) + A (dy - mean dy - h B)) + s r (dy - mean dy - h B) With given statistics the
 * terms with means are gone. */

static tw_tensor *over_channel(const tw_op *op, tw_tensor *x, int channel) /* takes x; keeps the dimensions */
{
    int64_t axes[TW_MAX_RANK];
    int count = 0;
    for (int i = 0; x && i < x->shape.rank; i++) {
        if (i != channel)
            axes[count++] = i;
    }
    tw_auto tw_tensor *along = x ? tw__ints_tensor(axes, count, TW_INT32) : NULL;
    tw_tensor *result = along ? tw__call(op, TW_IN(x, along), 2, TW_WITH(TW_A_BOOL("keep_dims", true)), 1) : NULL;
    tw_release(x);
    return result;
}

/* A value per channel, of the rank of x, so that it is broadcast. */
static tw_tensor *per_channel(tw_tensor *value, int rank, int channel)
{
    int64_t dims[TW_MAX_RANK];
    for (int i = 0; i < rank; i++)
        dims[i] = i == channel ? -1 : 1;
    tw_auto tw_tensor *shape = tw__ints_tensor(dims, rank, TW_INT32);
    return TW_CALL(Reshape, value, shape);
}

static tw_tensor *as_vector(tw_tensor *value) /* takes it */
{
    TW_TEMPS(t);
    tw_tensor *all = tw__ints_tensor((const int64_t[]){ -1 }, 1, TW_INT32);
    return TW_CALL(Reshape, tw__temp(t, value), tw__temp(t, all));
}

static tw_tensor *as_float(tw_tensor *value)
{
    return value->dtype == TW_FLOAT32 ? tw_retain(value) : TW_CALL(Cast, value, TW_A_TYPE("DstT", TW_FLOAT32));
}

/* v - mean(v) - h mean(v h) in training, v itself otherwise; *product is mean(v h). */
static tw_tensor *centred(tw_tensor *v, tw_tensor *h, int channel, bool training, tw_tensor **product)
{
    TW_TEMPS(t);
    if (!training)
        return tw_retain(v);
    *product = over_channel(&tw__op_Mean, TW_CALL(Mul, v, h), channel);
    tw_tensor *without = TW_TEMP(Sub, v, tw__temp(t, over_channel(&tw__op_Mean, tw_retain(v), channel)));
    return TW_CALL(Sub, without, TW_TEMP(Mul, h, *product));
}

static tw_status grad_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    bool training = TW_ATTR(g, "is_training")->b;
    int rank = g->inputs[1]->shape.rank, channel = rank < 0 ? -1 : channel_axis(g->op, g->attrs, &g->inputs[1]->shape);
    if (rank < 0)
        return TW_OP_FAIL(g, TW_UNIMPLEMENTED, "the gradient of inputs whose rank is not known while tracing");
    tw_dtype dtype = g->inputs[1]->dtype;
    tw_auto tw_tensor *dy = as_float(g->inputs[0]), *x = as_float(g->inputs[1]);
    tw_auto tw_tensor *scale = per_channel(g->inputs[2], rank, channel);
    tw_auto tw_tensor *mean = !dy || !x  ? NULL
                              : training ? over_channel(&tw__op_Mean, tw_retain(x), channel)
                                         : per_channel(g->inputs[3], rank, channel);
    tw_auto tw_tensor *off = TW_CALL(Sub, x, mean);
    tw_auto tw_tensor *variance = !off       ? NULL
                                  : training ? over_channel(&tw__op_Mean, TW_CALL(Square, off), channel)
                                             : per_channel(g->inputs[4], rank, channel);
    tw_auto tw_tensor *r = TW_CALL(Rsqrt, TW_TEMP(AddV2, variance, (double)(TW_ATTR(g, "epsilon")->f)));
    tw_auto tw_tensor *h = TW_CALL(Mul, off, r), *scaled = TW_CALL(Mul, scale, r);
    tw_auto tw_tensor *G = !h ? NULL : g->output_grads[0] ? as_float(g->output_grads[0]) : TW_CALL(ZerosLike, x);
    tw_auto tw_tensor *s = !h                   ? NULL
                           : g->output_grads[1] ? per_channel(g->output_grads[1], rank, channel)
                                                : TW_CALL(ZerosLike, r);
    tw_auto tw_tensor *o = !h                   ? NULL
                           : g->output_grads[2] ? per_channel(g->output_grads[2], rank, channel)
                                                : TW_CALL(ZerosLike, r);
    if (!scaled || !G || !s || !o)
        return tw__error_status();
    tw_auto tw_tensor *A = NULL, *B = NULL;
    tw_auto tw_tensor *G_off = centred(G, h, channel, training, &A),
                      *dy_off = G_off ? centred(dy, h, channel, training, &B) : NULL;
    tw_auto tw_tensor *S = dy_off ? over_channel(&tw__op_Sum, TW_CALL(Mul, G, dy_off), channel) : NULL;
    if (!S)
        return tw__error_status();
    tw_tensor *made[3] = { NULL, NULL, NULL };
    if (g->wanted[0])
        made[0] = TW_CALL(AddV2, TW_TEMP(AddV2, TW_TEMP(Mul, scaled, G_off), TW_TEMP(Mul, s, h)), o);
    if (g->wanted[1]) {
        made[1] = TW_CALL(Mul, TW_TEMP(Mul, s, r), dy_off);
        if (training) {
            tw_tensor *share = TW_TEMP(Mul, h, tw__temp(t, over_channel(&tw__op_Mean, TW_CALL(Mul, G, dy_off), channel)));
            tw_tensor *both = TW_TEMP(AddV2, TW_TEMP(Mul, B, G_off), TW_TEMP(Mul, A, dy_off));
            made[1] = TW_CALL(Sub, tw__temp(t, made[1]), TW_TEMP(Mul, TW_TEMP(Mul, scaled, r), TW_TEMP(AddV2, share, both)));
        }
    }
    if (g->wanted[2])
        made[2] = as_vector(TW_CALL(Mul, r, S));
    for (int i = 0; i < 3; i++) {
        if (i < 2 && made[i] && dtype != TW_FLOAT32) {
            tw_tensor *narrow = TW_CALL(Cast, made[i], TW_A_TYPE("DstT", dtype));
            tw_release(made[i]);
            made[i] = narrow;
        }
        g->input_grads[i] = made[i];
    }
    for (int i = 0; i < 3; i++) {
        if (g->wanted[i] && !g->input_grads[i])
            return tw__error_status();
    }
    return TW_OK;
}

TW_OP(FusedBatchNormGradV3,
      .inputs = "y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U",
      .outputs = "x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, reserve_space_5: U",
      .attrs = "T: {half, bfloat16, float}, U: {float}, epsilon: float = 0.0001" FORMAT, .shape = grad_shape,
      .compute = grad_compute, .gradient = grad_gradient, .doc = "The gradient of FusedBatchNormV3.");
