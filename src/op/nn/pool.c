/* MaxPool, AvgPool and their gradients as ops. A window over the channels (MaxPool alone has it) divides them into runs. */
#include "kernel/pool/pool.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/nn/conv_window.h"
#include "op/wording.h"
#include "rows.h"

typedef struct pooling {
    const tw_op *op;
    const char *name; /* "MaxPooling", as errors have it */
    tw__window window;
    int64_t size[2];
    int64_t depth; /* of the window over channels: 1 unless it is over them alone */
    tw__pool pool; /* complete if all dimensions are known */
    tw_shape output;
} pooling;

#define FAIL(code, format, ...) TW_WINDOW_FAIL(p->op, code, format, ##__VA_ARGS__)

/* ---- attrs and shapes ---- */

static tw_status read_depth(pooling *p, const tw_attr *ksize, const tw_attr *strides, int channels, bool gradient)
{
    p->depth = ksize->ints[channels];
    if (p->depth == 1 && strides->ints[channels] == 1)
        return TW_OK;
    bool mean = p->name[0] == 'A';
    if (gradient)
        return FAIL(TW_UNIMPLEMENTED, "%s is not yet supported on the depth dimension.", p->name);
    if (p->size[0] != 1 || p->size[1] != 1)
        return FAIL(TW_UNIMPLEMENTED, "MaxPooling supports exactly one of pooling across depth or pooling across width/height.");
    if (p->depth != strides->ints[channels])
        return FAIL(TW_UNIMPLEMENTED, "Depthwise max pooling requires the depth window to equal the depth stride");
    if (mean)
        return FAIL(TW_UNIMPLEMENTED, "Non-spatial pooling is not yet supported. Volunteers? :)");
    p->window.stride[0] = p->window.stride[1] = 1; /* as TensorFlow has it */
    return TW_OK;
}

static tw_status read_attrs(pooling *p, const tw_op *op, const tw_attr *attrs, const char *name, bool gradient)
{
    *p = (pooling){ .op = op, .name = name, .window.dilation = { 1, 1 } };
    const tw_attr *ksize = tw__attr_find(op, attrs, "ksize"), *strides = tw__attr_find(op, attrs, "strides");
    TW_TRY(tw__window_padding(op, attrs, &p->window));
    if (p->window.channels_first)
        return FAIL(TW_INVALID_ARGUMENT, "Default %sOp only supports NHWC on device type CPU", name);
    if (ksize->count != 4)
        return FAIL(TW_INVALID_ARGUMENT, "Sliding window ksize field must specify 4 dimensions");
    if (strides->count != 4)
        return FAIL(TW_INVALID_ARGUMENT, "Sliding window stride field must specify 4 dimensions");
    for (int i = 0; i < 4; i++) {
        if ((ksize->ints[i] <= 0 || ksize->ints[i] > INT32_MAX) && name[0] == 'A')
            return FAIL(TW_INVALID_ARGUMENT, "ksize must be a postive int32 value, got:%lld", (long long)ksize->ints[i]);
        if (ksize->ints[i] <= 0 || ksize->ints[i] > INT32_MAX)
            return FAIL(TW_INVALID_ARGUMENT, "Sliding window ksize for dimension %d was zero.", i);
        if (strides->ints[i] <= 0 || strides->ints[i] > INT32_MAX)
            return FAIL(TW_INVALID_ARGUMENT, "Stride must be > 0, but got %lld", (long long)strides->ints[i]);
    }
    if (ksize->ints[0] != 1 || strides->ints[0] != 1)
        return FAIL(TW_UNIMPLEMENTED, "Pooling is not yet supported on the batch dimension.");
    static const char *const sides[2][2] = { { "Top", "Bottom" }, { "Left", "Right" } };
    for (int i = 0; i < 2; i++) {
        p->size[i] = ksize->ints[1 + i];
        p->window.stride[i] = strides->ints[1 + i];
        for (int side = 0; side < 2 && p->window.padding == 'E'; side++) {
            int64_t padding = side ? p->window.after[i] : p->window.before[i];
            if (padding >= p->size[i])
                return FAIL(TW_INVALID_ARGUMENT, "%s padding %lld needs to be smaller than the window size %lld", sides[i][side],
                            (long long)padding, (long long)p->size[i]);
        }
    }
    return read_depth(p, ksize, strides, 3, gradient);
}

/* What the input's shape, of rank 4 or unknown, makes of it. */
static tw_status fit(pooling *p, const tw_shape *input)
{
    static const tw_shape unknown = { .rank = 4, .dims = { -1, -1, -1, -1 } };
    if (input->rank < 0)
        input = &unknown;
    tw__pool *k = &p->pool;
    int64_t channels = input->dims[3], after;
    if (channels >= 0 && channels % p->depth != 0)
        return FAIL(TW_UNIMPLEMENTED, "Depthwise max pooling requires the depth window to evenly divide the input depth");
    k->batch = input->dims[0];
    k->channels = channels;
    p->output = TW_SHAPE(k->batch, -1, -1, channels < 0 ? -1 : channels / p->depth);
    for (int i = 0; i < 2; i++) {
        k->in[i] = input->dims[1 + i];
        k->window[i] = p->size[i];
        k->stride[i] = p->window.stride[i];
        TW_TRY(tw__window_places(p->op, &p->window, i, k->in[i], k->window[i], &k->out[i], &k->before[i], &after));
        p->output.dims[1 + i] = k->out[i];
    }
    return tw__window_check_count(p->op, &p->output);
}

static tw_status check_shape(const pooling *p, const char *what, const tw_shape *expected, const tw_shape *got)
{
    if (!tw__shape_compatible(expected, got))
        return FAIL(TW_INVALID_ARGUMENT, "Expected %s shape to be %s, but got %s", what, tw__shape_text(expected),
                    tw__shape_text(got));
    return TW_OK;
}

/* ---- forward ---- */

static tw_status forward_fit(pooling *p, const tw_op *op, const tw_attr *attrs, const tw_shape *input)
{
    TW_TRY(read_attrs(p, op, attrs, op == &tw__op_AvgPool ? "AvgPooling" : "MaxPooling", false));
    if (input->rank >= 0 && input->rank != 4)
        return FAIL(TW_INVALID_ARGUMENT, "tensor_in_shape must have 2 spatial dimensions. %d 0", input->rank);
    return fit(p, input);
}

static tw_status forward_shape(tw__inference *inference)
{
    pooling p;
    TW_TRY(forward_fit(&p, inference->op, inference->attrs, inference->shapes[0]));
    inference->out_shapes[0] = p.output;
    return TW_OK;
}

static tw_status max_compute(tw__kernel *kernel)
{
    pooling p;
    const tw_tensor *input = kernel->inputs[0];
    tw_tensor *output = kernel->outputs[0];
    TW_TRY(forward_fit(&p, kernel->op, kernel->attrs, &input->shape));
    if (p.depth > 1) /* runs of channels are the windows of an image of one channel */
        p.pool = (tw__pool){ .batch = 1,
                             .channels = 1,
                             .in = { 1, input->count },
                             .out = { 1, output->count },
                             .window = { 1, p.depth },
                             .stride = { 1, p.depth } };
    return tw__max_pool(input->dtype, &p.pool, input->data, output->data);
}

static tw_status mean_compute(tw__kernel *kernel)
{
    pooling p;
    const tw_tensor *input = kernel->inputs[0];
    TW_TRY(forward_fit(&p, kernel->op, kernel->attrs, &input->shape));
    return tw__mean_pool(input->dtype, &p.pool, input->data, kernel->outputs[0]->data);
}

/* The attrs of the op that is derived, without its type. */
static tw_tensor *call(const tw__gradient *g, const tw_op *op, tw_tensor *const *inputs, int count)
{
    tw_attr attrs[TW_MAX_ATTRS];
    int attr_count = 0;
    const tw__op_signature *signature = tw__op_signature_of(g->op);
    for (int i = 0; signature && i < signature->attr_count; i++) {
        bool padding = strcmp(signature->attrs[i].name, "explicit_paddings") == 0;
        if (signature->attrs[i].kind != TW_ATTR_TYPE && !(padding && g->attrs[i].count == 0))
            attrs[attr_count++] = g->attrs[i];
    }
    return tw__call(op, inputs, count, attrs, attr_count);
}

static tw_status give(tw__gradient *g, int input, tw_tensor *gradient)
{
    g->input_grads[input] = gradient;
    return gradient ? TW_OK : tw__error_status();
}

static tw_status max_gradient(tw__gradient *g)
{
    return give(g, 0, call(g, &tw__op_MaxPoolGrad, TW_IN(g->inputs[0], g->outputs[0], g->output_grads[0]), 3));
}

static tw_status mean_gradient(tw__gradient *g)
{
    tw_auto tw_tensor *sizes = tw__shape_as_tensor(g->inputs[0], TW_INT32);
    return give(g, 0, call(g, &tw__op_AvgPoolGrad, TW_IN(sizes, g->output_grads[0]), 2));
}

#define WINDOW(paddings) "ksize: list(int) >= 4, strides: list(int) >= 4, padding: {'SAME', 'VALID'" paddings

static bool pooling_words(tw__wording *w)
{
    const tw_shape *shape = w->in->shapes[0];
    return shape->rank >= 0 && shape->rank != 4 && tw__say_rank(w, 4, shape->rank);
}

TW_OP(MaxPool, .inputs = "input: T", .outputs = "output: T",
      .attrs = "T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = float, " WINDOW(
          ", 'EXPLICIT'}, explicit_paddings: list(int) = []") ", data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'",
      .shape = forward_shape, .compute = max_compute, .gradient = max_gradient, .words = pooling_words,
      .graph_shape = tw__window_in_graph, .scope = TW_SCOPE_ALWAYS, .doc = "The greatest value of each window.");

TW_OP(AvgPool, .inputs = "value: T", .outputs = "output: T",
      .attrs = WINDOW("}") ", data_format: {'NHWC', 'NCHW'} = 'NHWC', T: {half, bfloat16, float, double}", .shape = forward_shape,
      .compute = mean_compute, .gradient = mean_gradient, .words = pooling_words, .graph_shape = tw__window_in_graph,
      .scope = TW_SCOPE_ALWAYS, .doc = "The mean of each window; padding does not count.");

/* ---- the gradients of MaxPool ---- */

static tw_status max_grad_fit(pooling *p, const tw_op *op, const tw_attr *attrs, const tw_shape *input, const tw_shape *output,
                              const tw_shape *gradient)
{
    static const char *const parts[] = { "tensor_in", "tensor_out", "out_backprop" };
    const tw_shape *shapes[] = { input, output, gradient };
    bool second = op == &tw__op_MaxPoolGradGrad;
    TW_TRY(read_attrs(p, op, attrs, second ? "MaxPoolingGradGrad" : "MaxPoolingGrad", true));
    for (int i = 0; i < 3; i++) {
        if (shapes[i]->rank >= 0 && shapes[i]->rank != 4)
            return FAIL(TW_INVALID_ARGUMENT, "%s must be 4-dimensional", parts[i]);
    }
    TW_TRY(fit(p, input));
    TW_TRY(check_shape(p, "orig_output", &p->output, output));
    return check_shape(p, "grad", second ? input : &p->output, gradient);
}

static tw_status max_grad_shape(tw__inference *inference)
{
    pooling p;
    const tw_shape *const *shapes = inference->shapes;
    TW_TRY(max_grad_fit(&p, inference->op, inference->attrs, shapes[0], shapes[1], shapes[2]));
    inference->out_shapes[0] = inference->op == &tw__op_MaxPoolGrad ? *shapes[0] : p.output;
    return TW_OK;
}

static tw_status max_grad_compute(tw__kernel *kernel)
{
    pooling p;
    const tw_tensor *input = kernel->inputs[0], *output = kernel->inputs[1], *gradient = kernel->inputs[2];
    TW_TRY(max_grad_fit(&p, kernel->op, kernel->attrs, &input->shape, &output->shape, &gradient->shape));
    void *result = kernel->outputs[0]->data;
    if (kernel->op == &tw__op_MaxPoolGrad)
        return tw__max_pool_grad(input->dtype, &p.pool, input->data, output->data, gradient->data, result);
    return tw__max_pool_grad_grad(input->dtype, &p.pool, input->data, output->data, gradient->data, result);
}

/* Linear in the gradients, flat in the values. */
static tw_status max_grad_gradient(tw__gradient *g)
{
    for (int i = 0; i < 2; i++) {
        if (g->wanted[i])
            TW_TRY(give(g, i, TW_CALL(ZerosLike, g->inputs[i])));
    }
    if (!g->wanted[2])
        return TW_OK;
    const tw_op *other = g->op == &tw__op_MaxPoolGrad ? &tw__op_MaxPoolGradGrad : &tw__op_MaxPoolGrad;
    return give(g, 2, call(g, other, TW_IN(g->inputs[0], g->inputs[1], g->output_grads[0]), 3));
}

#define NUMBERS "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"

TW_OP(MaxPoolGrad, .inputs = "orig_input: T, orig_output: T, grad: T", .outputs = "output: T",
      .attrs = WINDOW(", 'EXPLICIT'}, explicit_paddings: list(int) = []") ", data_format: {'NHWC', 'NCHW'} = 'NHWC', T: " NUMBERS
                                                                          " = float",
      .shape = max_grad_shape, .compute = max_grad_compute, .gradient = max_grad_gradient,
      .doc = "The gradient of MaxPool: a window's goes to the first of its greatest values.");

TW_OP(MaxPoolGradGrad, .inputs = "orig_input: T, orig_output: T, grad: T", .outputs = "output: T",
      .attrs = WINDOW("}") ", data_format: {'NHWC', 'NCHW'} = 'NHWC', T: " NUMBERS, .shape = max_grad_shape,
      .compute = max_grad_compute, .gradient = max_grad_gradient,
      .doc = "The gradient of MaxPoolGrad: the values of grad that MaxPool chose.");

/* ---- the gradient of AvgPool ---- */

static tw_status mean_grad_fit(pooling *p, const tw_op *op, const tw_attr *attrs, const tw_tensor *sizes,
                               const tw_shape *gradient, tw_shape *shape)
{
    *shape = TW_SHAPE(-1, -1, -1, -1);
    TW_TRY(read_attrs(p, op, attrs, "AvgPoolingGrad", true));
    if (sizes) {
        if (sizes->shape.rank != 1 || sizes->count != 4)
            return FAIL(TW_INVALID_ARGUMENT, "out_backprop must be 1-dimensional and 4 elements");
        TW_TRY(tw__tensor_read_ints(sizes, "orig_input_shape", shape->dims, 4));
        for (int i = 0; i < 4; i++) {
            if (shape->dims[i] < 0)
                return FAIL(TW_INVALID_ARGUMENT, "Expected a non-negative size, got %lld", (long long)shape->dims[i]);
        }
        TW_TRY(tw__window_check_count(op, shape));
    }
    if (gradient->rank >= 0 && gradient->rank != 4)
        return FAIL(TW_INVALID_ARGUMENT, "out_backprop must be 4-dimensional");
    TW_TRY(fit(p, shape));
    return check_shape(p, "grad", &p->output, gradient);
}

static tw_status mean_grad_shape(tw__inference *inference)
{
    pooling p;
    return mean_grad_fit(&p, inference->op, inference->attrs, inference->values[0], inference->shapes[1],
                         &inference->out_shapes[0]);
}

static tw_status mean_grad_compute(tw__kernel *kernel)
{
    pooling p;
    tw_shape shape;
    const tw_tensor *gradient = kernel->inputs[1];
    TW_TRY(mean_grad_fit(&p, kernel->op, kernel->attrs, kernel->inputs[0], &gradient->shape, &shape));
    tw_tensor *output = tw__output(kernel, 0, &shape);
    return output ? tw__mean_pool_grad(gradient->dtype, &p.pool, gradient->data, output->data) : tw__error_status();
}

static tw_status mean_grad_gradient(tw__gradient *g)
{
    return g->wanted[1] ? give(g, 1, call(g, &tw__op_AvgPool, TW_IN(g->output_grads[0]), 1)) : TW_OK;
}

TW_OP(AvgPoolGrad, .inputs = "orig_input_shape: int32, grad: T", .outputs = "output: T",
      .attrs = WINDOW("}") ", data_format: {'NHWC', 'NCHW'} = 'NHWC', T: {half, bfloat16, float, double}",
      .shape = mean_grad_shape, .compute = mean_grad_compute, .gradient = mean_grad_gradient, .doc = "The gradient of AvgPool.");
