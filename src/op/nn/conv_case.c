/* What a convolution op's attrs and shapes say: checks with TensorFlow's messages, and the description that kernels take. A
 * depthwise filter [rows, columns, channels, multiplier] becomes one of as many groups as there are channels. */
#include "op/nn/conv.h"
#include "op/array/array.h"

#define FAIL(code, format, ...) TW_WINDOW_FAIL(of->op, code, format, ##__VA_ARGS__)

static const char *label(const tw__conv_case *of)
{
    static const char *const names[][2] = {
        { "Conv2DBackpropInput", "Conv2DCustomBackpropInput" },
        { "Conv2DBackpropFilter", "Conv2DCustomBackpropFilter" },
        { "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2DBackpropInput" },
        { "DepthwiseConv2dNativeBackpropFilter", "DepthwiseConv2DBackpropFilter" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(of->op->name, names[i][0]) == 0)
            return names[i][1];
    }
    return NULL;
}

tw_status tw__conv_read(tw__conv_case *of, const tw_op *op, const tw_attr *attrs)
{
    *of = (tw__conv_case){ .op = op, .depthwise = tw__starts_with(op->name, "Depthwise") };
    of->label = label(of);
    const tw_attr *strides = tw__attr_find(op, attrs, "strides"), *dilations = tw__attr_find(op, attrs, "dilations");
    TW_TRY(tw__window_padding(op, attrs, &of->window));
    int rows = of->window.channels_first ? 2 : 1, channels = of->window.channels_first ? 1 : 3;
    if (strides->count != 4)
        return FAIL(TW_INVALID_ARGUMENT, "Sliding window strides field must specify 4 dimensions");
    if (dilations->count != 4)
        return FAIL(TW_INVALID_ARGUMENT, "Sliding window dilations field must specify 4 dimensions");
    if (strides->ints[0] != 1 || strides->ints[channels] != 1)
        return FAIL(of->depthwise ? TW_INVALID_ARGUMENT : TW_UNIMPLEMENTED,
                    "Current implementation does not yet support strides in the batch and depth dimensions.");
    if (dilations->ints[0] != 1 || dilations->ints[channels] != 1)
        return FAIL(TW_UNIMPLEMENTED, "Current implementation does not yet support dilations in the batch and depth dimensions.");
    for (int i = 0; i < 2; i++) {
        int64_t stride = strides->ints[rows + i], dilation = dilations->ints[rows + i];
        if (of->depthwise && strides->ints[rows] != strides->ints[rows + 1])
            return FAIL(TW_INVALID_ARGUMENT,
                        "Current implementation only supports equal length strides in the row and column dimensions.");
        if (of->depthwise && stride <= 0)
            return FAIL(TW_INVALID_ARGUMENT, "Stride must be > 0, but got %lld", (long long)stride);
        if (stride <= 0 || stride > INT32_MAX)
            return FAIL(TW_INVALID_ARGUMENT, "Row and column strides should be larger than 0.");
        if (dilation <= 0 || dilation > INT32_MAX)
            return FAIL(TW_INVALID_ARGUMENT, "Dilated rates should be larger than 0.");
        of->window.stride[i] = stride;
        of->window.dilation[i] = dilation;
    }
    if (!of->window.channels_first)
        return TW_OK;
    if (of->depthwise)
        return FAIL(TW_UNIMPLEMENTED, "Depthwise convolution on CPU is only supported for NHWC format");
    if (of->label)
        return FAIL(TW_INVALID_ARGUMENT, "%sOp only supports NHWC.", of->label);
    return FAIL(TW_UNIMPLEMENTED,
                "The Conv2D op currently only supports the NHWC tensor format on the CPU. The op was given the format: NCHW");
}

static tw_status check_ranks(const tw__conv_case *of, const tw_shape *input, const tw_shape *filter, const tw_shape *gradient)
{
    bool input_bad = input->rank >= 0 && input->rank != 4, filter_bad = filter->rank >= 0 && filter->rank != 4;
    if (of->label) {
        const char *what = input_bad                                    ? "input"
                           : filter_bad                                 ? "filter"
                           : gradient->rank >= 0 && gradient->rank != 4 ? "out_backprop"
                                                                        : NULL;
        return what ? FAIL(TW_INVALID_ARGUMENT, "%s: %s must be 4-dimensional", of->label, what) : TW_OK;
    }
    const char *prefix = of->depthwise ? "" : "convolution ";
    if (input_bad)
        return FAIL(TW_INVALID_ARGUMENT, "%sinput must be 4-dimensional%s%s", prefix, of->depthwise ? "" : ": ",
                    tw__shape_text(input));
    if (filter_bad)
        return FAIL(TW_INVALID_ARGUMENT, "%sfilter must be 4-dimensional: %s", prefix, tw__shape_text(filter));
    return TW_OK;
}

/* Channels and groups. -1: not known. */
static tw_status fit_channels(tw__conv_case *of, int64_t in, const int64_t *filter)
{
    int64_t depth = filter[2];
    tw__conv *c = &of->conv;
    c->in_channels = in;
    c->out_channels = filter[3];
    c->groups = 1;
    c->depth = of->depthwise ? 1 : depth;
    if (of->depthwise) {
        if (in >= 0 && depth >= 0 && in != depth) {
            if (of->label)
                return FAIL(TW_INVALID_ARGUMENT, "%s: input and filter must have the same in_depth", of->label);
            return FAIL(TW_INVALID_ARGUMENT, "input and filter must have the same depth: %lld vs %lld", (long long)in,
                        (long long)depth);
        }
        in = in >= 0 ? in : depth;
        c->in_channels = c->groups = in;
        if (in < 0 || filter[3] < 0)
            c->out_channels = -1;
        else if (__builtin_mul_overflow(in, filter[3], &c->out_channels))
            return FAIL(TW_INVALID_ARGUMENT, "the filter's depth %lld and multiplier %lld are too large", (long long)in,
                        (long long)filter[3]);
        return TW_OK;
    }
    if (depth == 0)
        return FAIL(TW_INVALID_ARGUMENT, "filter depth must be stricly positive, got 0");
    if (in < 0 || depth < 0)
        return TW_OK;
    if (in % depth != 0) {
        if (of->label)
            return FAIL(TW_INVALID_ARGUMENT, "%s: input depth must be evenly divisible by filter depth", of->label);
        return FAIL(TW_INVALID_ARGUMENT, "input depth must be evenly divisible by filter depth: %lld vs %lld", (long long)in,
                    (long long)depth);
    }
    c->groups = in / depth;
    if (c->groups > 0 && filter[3] >= 0 && filter[3] % c->groups != 0)
        return FAIL(TW_INVALID_ARGUMENT, "output depth must be evenly divisible by number of groups: %lld vs %lld",
                    (long long)filter[3], (long long)c->groups);
    return TW_OK;
}

static tw_status fit_gradient(const tw__conv_case *of, const tw_shape *gradient)
{
    if (gradient->rank < 0)
        return TW_OK;
    for (int i = 0; i < 4; i++) {
        int64_t got = gradient->dims[i], expected = of->output.dims[i];
        if (got < 0 || expected < 0 || got == expected)
            continue;
        if (i == 0 && of->depthwise)
            return FAIL(TW_INVALID_ARGUMENT, "%s: input and out_backprop must have the same batch size", of->label);
        if (i == 0)
            return FAIL(TW_INVALID_ARGUMENT,
                        "%s: input and out_backprop must have the same batch size. Input batch: %lld, outbackprop batch: "
                        "%lld, batch_dim: 0",
                        of->label, (long long)expected, (long long)got);
        if (i == 3)
            return FAIL(TW_INVALID_ARGUMENT, "%s: %s", of->label,
                        of->depthwise ? "depth_multiplier * in_depth not equal to out_depth"
                                      : "filter and out_backprop must have the same out_depth");
        if (of->depthwise)
            return FAIL(TW_INVALID_ARGUMENT,
                        "%s: Number of %s of out_backprop doesn't match computed: actual = %lld, computed = %lld", of->label,
                        i == 1 ? "rows" : "cols", (long long)got, (long long)expected);
        return FAIL(TW_INVALID_ARGUMENT,
                    "%s: Size of out_backprop doesn't match computed: actual = %lld, computed = %lld spatial_dim: %d "
                    "input: %lld filter: %lld output: %lld stride: %lld dilation: %lld",
                    of->label, (long long)got, (long long)expected, i, (long long)of->conv.in[i - 1],
                    (long long)of->conv.filter[i - 1], (long long)got, (long long)of->window.stride[i - 1],
                    (long long)of->window.dilation[i - 1]);
    }
    return TW_OK;
}

tw_status tw__conv_fit(tw__conv_case *of, const tw_shape *input, const tw_shape *filter, const tw_shape *gradient)
{
    static const tw_shape unknown = { .rank = 4, .dims = { -1, -1, -1, -1 } };
    TW_TRY(check_ranks(of, input, filter, gradient));
    if (input->rank < 0)
        input = &unknown;
    if (filter->rank < 0)
        filter = &unknown;
    tw__conv *c = &of->conv;
    TW_TRY(fit_channels(of, input->dims[3], filter->dims));
    c->batch = input->dims[0];
    of->output = TW_SHAPE(c->batch, -1, -1, c->out_channels);
    for (int i = 0; i < 2; i++) {
        c->in[i] = input->dims[1 + i];
        c->filter[i] = filter->dims[i];
        c->stride[i] = of->window.stride[i];
        c->dilation[i] = of->window.dilation[i];
        if (c->filter[i] == 0)
            return FAIL(TW_INVALID_ARGUMENT, "filter must not have zero elements (i.e. all dimensions must be non-zero)");
        TW_TRY(tw__window_places(of->op, &of->window, i, c->in[i], c->filter[i], &c->out[i], &c->before[i], &c->after[i]));
        of->output.dims[1 + i] = c->out[i];
    }
    TW_TRY(tw__window_check_count(of->op, &of->output));
    return gradient ? fit_gradient(of, gradient) : TW_OK;
}

tw_status tw__conv_sizes(const tw__conv_case *of, const tw_tensor *sizes, const char *what, tw_shape *shape)
{
    *shape = TW_SHAPE(-1, -1, -1, -1);
    if (!sizes)
        return TW_OK;
    if (sizes->shape.rank != 1)
        return FAIL(TW_INVALID_ARGUMENT, "%s: %s input must be 1-dim, not %d", of->label, what, sizes->shape.rank);
    if (sizes->count > TW_MAX_RANK)
        return FAIL(TW_INVALID_ARGUMENT, "%s: %s must be 4-dimensional", of->label, what);
    shape->rank = (int32_t)sizes->count;
    TW_TRY(tw__tensor_read_ints(sizes, what, shape->dims, TW_MAX_RANK));
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] < 0)
            return FAIL(TW_INVALID_ARGUMENT, "Dimension %lld must be >= 0", (long long)shape->dims[i]);
    }
    return tw__window_check_count(of->op, shape);
}
