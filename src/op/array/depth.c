/* DepthToSpace, SpaceToDepth: channels become blocks of pixels, and back. Only with the channels last, as TensorFlow's kernels
 * for the processor. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

static tw_status read_block(const tw_op *op, const tw_attr *attrs, int64_t *block)
{
    tw_string format = tw__attr_find(op, attrs, "data_format")->s;
    *block = tw__attr_find(op, attrs, "block_size")->i;
    if (format.size != 4 || memcmp(format.data, "NHWC", 4) != 0)
        return tw__fail(TW_INVALID_ARGUMENT, "Only NHWC data_format supported on CPU. Got %.*s", (int)format.size, format.data);
    if (*block > INT32_MAX / 2)
        return tw__fail(TW_INVALID_ARGUMENT, "block_size %lld is too large", (long long)*block);
    return TW_OK;
}

static tw_status divided(const char *what, int64_t size, int64_t by, int64_t *result)
{
    *result = size < 0 ? -1 : size / by;
    if (size >= 0 && size % by)
        return tw__fail(TW_INVALID_ARGUMENT, "%s dimension %lld should be divisible by: %lld", what, (long long)size,
                        (long long)by);
    return TW_OK;
}

static tw_status times(int64_t size, int64_t by, int64_t *result)
{
    *result = -1;
    if (size >= 0 && __builtin_mul_overflow(size, by, result))
        return tw__fail(TW_INVALID_ARGUMENT, "the output is too large");
    return TW_OK;
}

static tw_status depth_shape(tw__inference *inference)
{
    const tw_op *op = inference->op;
    const tw_shape *in = inference->shapes[0];
    tw_shape *out = &inference->out_shapes[0];
    int64_t block;
    TW_TRY(read_block(op, inference->attrs, &block));
    TW_TRY(tw__need_rank(inference, 0, 4));
    *out = TW_SHAPE(-1, -1, -1, -1);
    if (in->rank < 0)
        return TW_OK;
    out->dims[0] = in->dims[0];
    if (op == &tw__op_DepthToSpace) {
        TW_TRY(divided("Input depth", in->dims[3], block * block, &out->dims[3]));
        TW_TRY(times(in->dims[1], block, &out->dims[1]));
        return times(in->dims[2], block, &out->dims[2]);
    }
    TW_TRY(divided("Image height", in->dims[1], block, &out->dims[1]));
    TW_TRY(divided("Image width", in->dims[2], block, &out->dims[2]));
    return times(in->dims[3], block * block, &out->dims[3]);
}

static tw_status depth_compute(tw__kernel *kernel)
{
    bool to_space = kernel->op == &tw__op_DepthToSpace;
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    int64_t block;
    TW_TRY(read_block(kernel->op, kernel->attrs, &block));
    if (in->dtype == TW_VARIANT || in->dtype == TW_RESOURCE)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(in->dtype));
    if (!in->count)
        return TW_OK;
    /* rows, columns and channels of the side with the pixels as blocks of channels */
    const tw_shape *deep = to_space ? &in->shape : &out->shape, *wide = to_space ? &out->shape : &in->shape;
    int64_t channels = wide->dims[3], row = wide->dims[2] * channels;
    int64_t dims[6] = { deep->dims[0], deep->dims[1], block, deep->dims[2], block, channels };
    int64_t in_deep[6] = {
        deep->dims[1] * deep->dims[2] * deep->dims[3], deep->dims[2] * deep->dims[3], block * channels, deep->dims[3], channels, 1
    };
    int64_t in_wide[6] = { wide->dims[1] * row, block * row, row, block * channels, channels, 1 };
    tw__walk walk = { 0 };
    for (int i = 0; i < 6; i++)
        tw__walk_add(&walk, dims[i], to_space ? in_wide[i] : in_deep[i], to_space ? in_deep[i] : in_wide[i]);
    return tw__copy_walk(in->dtype, out->data, in->data, &walk);
}

static tw_status depth_gradient(tw__gradient *g)
{
    const tw_op *back = g->op == &tw__op_DepthToSpace ? &tw__op_SpaceToDepth : &tw__op_DepthToSpace;
    if (g->wanted[0] && g->output_grads[0])
        tw__grad_set(g, 0,
                     tw__call(back, TW_IN(g->output_grads[0]), 1, TW_WITH(*TW_ATTR(g, "block_size"), *TW_ATTR(g, "data_format")),
                              2));
    return tw__grad_status(g);
}

#define DEPTH_ROW                                                                                                          \
    .inputs = "input: T", .outputs = "output: T",                                                                          \
    .attrs = "T: type, block_size: int >= 2, data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'", .shape = depth_shape, \
    .compute = depth_compute, .gradient = depth_gradient

TW_OP(DepthToSpace, DEPTH_ROW,
      .function = "nn.depth_to_space(input: tensor, block_size: int, data_format: str = NHWC, name: str = None) -> tensor",
      .doc = "Channels become blocks of pixels.");
TW_OP(SpaceToDepth, DEPTH_ROW,
      .function = "nn.space_to_depth(input: tensor, block_size: int, data_format: str = NHWC, name: str = None) -> tensor",
      .doc = "Blocks of pixels become channels.\n"
             "example: tf.nn.space_to_depth(tf.ones([1, 4, 4, 1]), 2).shape  # TensorShape([1, 2, 2, 4])");
