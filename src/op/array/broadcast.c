/* BroadcastTo and BroadcastArgs. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/wording.h"
#include "rows.h"

static tw_status broadcast_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    tw_shape *out = &inference->out_shapes[0];
    TW_TRY(tw__shape_input(inference, 1, "shape"));
    if (!inference->values[1])
        return TW_OK;
    if (in->rank > out->rank)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Rank of input (%d) must be no greater than rank of output shape (%d).",
                          in->rank, out->rank);
    for (int i = 0; i < in->rank; i++) {
        int64_t dim = in->dims[i], target = out->dims[i + out->rank - in->rank];
        if (dim >= 0 && dim != 1 && dim != target)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Incompatible shapes: %s vs. %s", tw__shape_text(in),
                              tw__shape_text(out));
    }
    return TW_OK;
}

static tw_status broadcast_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    int64_t from[TW_MAX_RANK], to[TW_MAX_RANK];
    int lead = out->shape.rank - in->shape.rank;
    tw__walk walk = { 0 };
    tw__strides(&in->shape, from);
    tw__strides(&out->shape, to);
    for (int i = 0; i < out->shape.rank; i++)
        tw__walk_add(&walk, out->shape.dims[i], to[i], i < lead || in->shape.dims[i - lead] == 1 ? 0 : from[i - lead]);
    return tw__copy_walk(out->dtype, out->data, in->data, &walk);
}

static tw_status broadcast_gradient(tw__gradient *gradient)
{
    tw_tensor *dy = gradient->output_grads[0], *x = gradient->inputs[0];
    if (!dy || !gradient->wanted[0])
        return TW_OK;
    if (!tw__shape_known(&dy->shape) || !tw__shape_known(&x->shape)) {
        gradient->input_grads[0] = tw__grad_unbroadcast(tw_retain(dy), x);
        return gradient->input_grads[0] ? TW_OK : tw__error_status();
    }
    int64_t axes[TW_MAX_RANK];
    int count = 0, lead = dy->shape.rank - x->shape.rank;
    for (int i = 0; i < dy->shape.rank; i++) {
        if (i < lead || (x->shape.dims[i - lead] == 1 && dy->shape.dims[i] != 1))
            axes[count++] = i;
    }
    tw_tensor *summed = tw_retain(dy);
    if (count) {
        tw_tensor *indices = tw__ints_tensor(axes, count, TW_INT32);
        tw_release(summed);
        summed = TW_CALL(Sum, dy, indices);
        tw_release(indices);
    }
    gradient->input_grads[0] = tw__reshape_like(summed, x);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

static bool broadcast_to_words(tw__wording *w)
{
    tw_shape to;
    const tw_shape *from = w->in->shapes[0];
    w->partials = 2;
    if (from->rank < 0 || !tw__wording_vector(w, 1, &to))
        return false;
    if (from->rank > to.rank)
        return tw__say_rank_at_least(w, &to, from->rank);
    for (int i = 1; i <= from->rank; i++) {
        int64_t have = from->dims[from->rank - i], wanted = to.dims[to.rank - i];
        if (have != 1 && tw__sizes_differ(have, wanted))
            return tw__say_dims(w, have, wanted);
    }
    return false;
}

TW_OP(BroadcastTo, .inputs = "input: T, shape: Tidx", .outputs = "output: T", .attrs = "T: type, Tidx: {int32, int64} = int32",
      .shape = broadcast_shape, .compute = broadcast_compute, .gradient = broadcast_gradient, .words = broadcast_to_words,
      .function = "broadcast_to(input: tensor, shape: tensor<int32>, name: str = None) -> tensor",
      .doc = "Repeats dimensions of one until the tensor has the given shape.\n"
             "input: a tensor\n"
             "raises: InvalidArgumentError: the tensor can't be broadcast to that shape\n"
             "example: tf.broadcast_to([1, 2], [2, 2]).numpy().tolist()  # [[1, 2], [1, 2]]");

static tw_status args_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 1));
    TW_TRY(tw__need_rank(inference, 1, 1));
    int64_t a = inference->shapes[0]->rank == 1 ? inference->shapes[0]->dims[0] : -1;
    int64_t b = inference->shapes[1]->rank == 1 ? inference->shapes[1]->dims[0] : -1;
    inference->out_shapes[0] = TW_SHAPE(a < 0 || b < 0 ? -1 : a > b ? a : b);
    return TW_OK;
}

static tw_status args_compute(tw__kernel *kernel)
{
    tw_shape a, b, out;
    TW_TRY(tw__shape_of_values(kernel->op, kernel->inputs[0], "s0", false, &a));
    TW_TRY(tw__shape_of_values(kernel->op, kernel->inputs[1], "s1", false, &b));
    if (!tw__shape_broadcast(&a, &b, &out))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Incompatible shapes: %s vs. %s", tw__shape_text(&a), tw__shape_text(&b));
    for (int i = 0; i < out.rank; i++) {
        if (kernel->outputs[0]->dtype == TW_INT64)
            ((int64_t *)kernel->outputs[0]->data)[i] = out.dims[i];
        else
            ((int32_t *)kernel->outputs[0]->data)[i] = (int32_t)out.dims[i];
    }
    return TW_OK;
}

TW_OP(BroadcastArgs, .inputs = "s0: T, s1: T", .outputs = "r0: T", .attrs = "T: {int32, int64} = int32", .shape = args_shape,
      .compute = args_compute, .function = "broadcast_dynamic_shape(shape_x: tensor<I>, shape_y: tensor<I>) -> tensor",
      .doc = "The shape that two shapes broadcast to.\n"
             "shape_x: a shape, as a vector of integers\n"
             "shape_y: another one\n"
             "example: tf.broadcast_dynamic_shape([3, 1], [1, 4]).numpy().tolist()  # [3, 4]");
