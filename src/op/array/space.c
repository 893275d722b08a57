/* SpaceToBatchND, BatchToSpaceND and their first forms: every block_shape-th element of the padded dimensions behind the batch
 * becomes an element of a batch of its own, and back. Position s of the space and position i of block number o belong together
 * where s = i * block + o - border. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

typedef struct blocks {
    int count; /* dimensions that are cut */
    int64_t size[TW_MAX_RANK];
    int64_t border[TW_MAX_RANK][2];
    bool known; /* sizes and borders */
    int64_t product;
} blocks;

static bool to_batch(const tw_op *op)
{
    return op == &tw__op_SpaceToBatchND || op == &tw__op_SpaceToBatch;
}

static tw_status check_blocks(blocks *b)
{
    b->product = 1;
    for (int i = 0; i < b->count; i++) {
        if (b->size[i] < 1)
            return tw__fail(TW_INVALID_ARGUMENT, "All values in block_shape must be positive, got value, %lld at index %d.",
                            (long long)b->size[i], i);
        if (__builtin_mul_overflow(b->product, b->size[i], &b->product))
            return tw__fail(TW_INVALID_ARGUMENT, "the product of block_shape is too large");
    }
    return TW_OK;
}

static tw_status read_borders(const tw_op *op, const tw_tensor *borders, blocks *b)
{
    const char *name = to_batch(op) ? "paddings" : "crops";
    if (borders->shape.rank != 2 || borders->shape.dims[0] != b->count || borders->shape.dims[1] != 2)
        return tw__fail(TW_INVALID_ARGUMENT, "%s should have shape [%d, 2] instead of %s", name, b->count,
                        tw__shape_text(&borders->shape));
    for (int i = 0; i < 2 * b->count; i++) {
        int64_t border = tw_tensor_int_at(borders, i);
        if (border < 0 || border > INT64_MAX / 4)
            return tw__fail(TW_INVALID_ARGUMENT, "%s must be non-negative", name);
        b->border[i / 2][i % 2] = border;
    }
    b->known = true;
    return TW_OK;
}

/* What the inputs, whose values may be NULL, say; the old forms have their one size as an attr. */
static tw_status read_blocks(const tw_op *op, const tw_attr *attrs, const tw_shape *sizes_shape, const tw_tensor *sizes,
                             const tw_tensor *borders, blocks *b)
{
    *b = (blocks){ .count = -1, .product = -1 };
    if (!sizes_shape) {
        int64_t size = tw__attr_find(op, attrs, "block_size")->i;
        b->count = 2;
        b->size[0] = b->size[1] = size;
        TW_TRY(check_blocks(b));
    } else {
        if (sizes_shape->rank >= 0 && sizes_shape->rank != 1)
            return tw__fail(TW_INVALID_ARGUMENT, "block_shape rank should be 1, got %s", tw__shape_text(sizes_shape));
        if (sizes_shape->rank == 1 && sizes_shape->dims[0] >= 0)
            b->count = sizes_shape->dims[0] < TW_MAX_RANK ? (int)sizes_shape->dims[0] : TW_MAX_RANK;
        for (int i = 0; sizes && i < b->count; i++)
            b->size[i] = tw_tensor_int_at(sizes, i);
        if (!sizes)
            return TW_OK;
        TW_TRY(check_blocks(b));
    }
    return borders ? read_borders(op, borders, b) : TW_OK;
}

static tw_status fit_dim(const tw_op *op, const blocks *b, int i, int64_t in, int64_t *out)
{
    int64_t border = b->border[i][0] + b->border[i][1];
    if (to_batch(op)) {
        if (in + border < in || (in + border) % b->size[i])
            return tw__fail(TW_INVALID_ARGUMENT, "padded_shape[%d]=%lld is not divisible by block_shape[%d]=%lld", i,
                            (long long)(in + border), i, (long long)b->size[i]);
        *out = (in + border) / b->size[i];
        return TW_OK;
    }
    if (__builtin_mul_overflow(in, b->size[i], out) || *out < border)
        return tw__fail(TW_INVALID_ARGUMENT, "cropped_shape[%d]=%lld must be non-negative", i, (long long)(*out - border));
    *out -= border;
    return TW_OK;
}

static tw_status blocks_shape(tw__inference *inference, const blocks *b)
{
    const tw_op *op = inference->op;
    const tw_shape *in = inference->shapes[0];
    tw_shape *out = &inference->out_shapes[0];
    if (in->rank < 0)
        return TW_OK;
    if (b->count >= 0 && in->rank < b->count + 1)
        return tw__fail(TW_INVALID_ARGUMENT, "input rank should be >= %d instead of %d", b->count + 1, in->rank);
    *out = *in;
    for (int i = 0; i < in->rank && (b->count < 0 || i <= b->count); i++)
        out->dims[i] = -1;
    if (b->product >= 0 && in->dims[0] >= 0) {
        if (to_batch(op) ? __builtin_mul_overflow(in->dims[0], b->product, &out->dims[0]) : in->dims[0] % b->product != 0)
            return tw__fail(TW_INVALID_ARGUMENT, "Input batch dimension (%lld) is not divisible by product of block sizes (%lld)",
                            (long long)in->dims[0], (long long)b->product);
        if (!to_batch(op))
            out->dims[0] = in->dims[0] / b->product;
    }
    for (int i = 0; b->known && i < b->count; i++) {
        if (in->dims[1 + i] >= 0)
            TW_TRY(fit_dim(op, b, i, in->dims[1 + i], &out->dims[1 + i]));
    }
    return TW_OK;
}

static tw_status nd_shape(tw__inference *inference)
{
    blocks b;
    TW_TRY(read_blocks(inference->op, inference->attrs, inference->shapes[1], inference->values[1], inference->values[2], &b));
    return blocks_shape(inference, &b);
}

static tw_status old_shape(tw__inference *inference)
{
    blocks b;
    TW_TRY(tw__need_rank(inference, 0, 4));
    TW_TRY(read_blocks(inference->op, inference->attrs, NULL, NULL, inference->values[1], &b));
    return blocks_shape(inference, &b);
}

/* ---- the elements ---- */

/* Along one dimension: the positions [first, end) of block number `o` that lie inside of a space of `size`. */
static void inside(int64_t block, int64_t border, int64_t o, int64_t size, int64_t places, int64_t *first, int64_t *end)
{
    int64_t shift = border - o; /* i * block >= shift, i * block < size + shift */
    *first = shift <= 0 ? 0 : (shift + block - 1) / block;
    *end = size + shift <= 0 ? 0 : (size + shift + block - 1) / block;
    *end = *end < places ? *end : places;
}

static tw_status move(tw__kernel *kernel, const blocks *b)
{
    bool batch = to_batch(kernel->op);
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    const tw_tensor *space = batch ? in : out, *parts = batch ? out : in;
    int64_t space_strides[TW_MAX_RANK], part_strides[TW_MAX_RANK];
    size_t bytes = tw__element_size(in->dtype);
    if (in->dtype == TW_STRING || in->dtype == TW_VARIANT || in->dtype == TW_RESOURCE)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "no kernel for dtype %s", tw_dtype_name(in->dtype));
    memset(out->data, 0, (size_t)out->count * bytes);
    if (!in->count || !out->count)
        return TW_OK;
    tw__strides(&space->shape, space_strides);
    tw__strides(&parts->shape, part_strides);
    for (int64_t block = 0; block < b->product; block++) {
        tw__walk walk = { 0 };
        int64_t at_space = 0, at_part = block * space->shape.dims[0] * part_strides[0], rest = block, first[TW_MAX_RANK],
                end[TW_MAX_RANK];
        bool empty = false;
        tw__walk_add(&walk, space->shape.dims[0], batch ? part_strides[0] : space_strides[0],
                     batch ? space_strides[0] : part_strides[0]);
        for (int i = b->count - 1; i >= 0; i--) {
            int64_t o = rest % b->size[i];
            rest /= b->size[i];
            inside(b->size[i], b->border[i][0], o, space->shape.dims[1 + i], parts->shape.dims[1 + i], &first[i], &end[i]);
            empty |= end[i] <= first[i];
            at_space += (first[i] * b->size[i] + o - b->border[i][0]) * space_strides[1 + i];
            at_part += first[i] * part_strides[1 + i];
        }
        if (empty)
            continue;
        for (int i = 0; i + 1 < in->shape.rank; i++) {
            int64_t in_space = space_strides[1 + i] * (i < b->count ? b->size[i] : 1), in_part = part_strides[1 + i];
            tw__walk_add(&walk, i < b->count ? end[i] - first[i] : in->shape.dims[1 + i], batch ? in_part : in_space,
                         batch ? in_space : in_part);
        }
        char *to = (char *)out->data + (size_t)(batch ? at_part : at_space) * bytes;
        TW_TRY(tw__copy_walk(in->dtype, to, (const char *)in->data + (size_t)(batch ? at_space : at_part) * bytes, &walk));
    }
    return TW_OK;
}

static tw_status nd_compute(tw__kernel *kernel)
{
    blocks b;
    TW_TRY(read_blocks(kernel->op, kernel->attrs, &kernel->inputs[1]->shape, kernel->inputs[1], kernel->inputs[2], &b));
    return move(kernel, &b);
}

static tw_status old_compute(tw__kernel *kernel)
{
    blocks b;
    TW_TRY(read_blocks(kernel->op, kernel->attrs, NULL, NULL, kernel->inputs[1], &b));
    return move(kernel, &b);
}

static tw_status nd_gradient(tw__gradient *g)
{
    const tw_op *back = to_batch(g->op) ? &tw__op_BatchToSpaceND : &tw__op_SpaceToBatchND;
    if (g->wanted[0] && g->output_grads[0])
        tw__grad_set(g, 0, tw__call(back, TW_IN(g->output_grads[0], g->inputs[1], g->inputs[2]), 3, NULL, 0));
    return tw__grad_status(g);
}

static tw_status old_gradient(tw__gradient *g)
{
    const tw_op *back = to_batch(g->op) ? &tw__op_BatchToSpace : &tw__op_SpaceToBatch;
    tw_attr size = *TW_ATTR(g, "block_size");
    if (g->wanted[0] && g->output_grads[0])
        tw__grad_set(g, 0, tw__call(back, TW_IN(g->output_grads[0], g->inputs[1]), 2, &size, 1));
    return tw__grad_status(g);
}

TW_OP(SpaceToBatchND, .inputs = "input: T, block_shape: Tblock_shape, paddings: Tpaddings", .outputs = "output: T",
      .attrs = "T: type, Tblock_shape: {int32, int64} = int32, Tpaddings: {int32, int64} = int32", .shape = nd_shape,
      .compute = nd_compute, .gradient = nd_gradient,
      .doc = "Blocks of the padded dimensions behind the first become parts of the batch.");

TW_OP(BatchToSpaceND, .inputs = "input: T, block_shape: Tblock_shape, crops: Tcrops", .outputs = "output: T",
      .attrs = "T: type, Tblock_shape: {int32, int64} = int32, Tcrops: {int32, int64} = int32", .shape = nd_shape,
      .compute = nd_compute, .gradient = nd_gradient,
      .doc = "Parts of the batch become blocks of the dimensions behind it, which are then cropped.");

TW_OP(SpaceToBatch, .inputs = "input: T, paddings: Tpaddings", .outputs = "output: T",
      .attrs = "T: type, Tpaddings: {int32, int64} = int32, block_size: int >= 2", .shape = old_shape, .compute = old_compute,
      .gradient = old_gradient, .doc = "SpaceToBatchND of images, by blocks of one size.");

TW_OP(BatchToSpace, .inputs = "input: T, crops: Tidx", .outputs = "output: T",
      .attrs = "T: type, block_size: int >= 2, Tidx: {int32, int64} = int32", .shape = old_shape, .compute = old_compute,
      .gradient = old_gradient, .doc = "BatchToSpaceND of images, by blocks of one size.");
