/* Roll: elements moved along axes, those that leave at one end come in at the other. EnsureShape: the input, if it has the shape
 * it should have. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "op/wording.h"
#include "rows.h"

static tw_status roll_shape(tw__inference *inference)
{
    const tw_shape *shift = inference->shapes[1], *axis = inference->shapes[2];
    if (inference->shapes[0]->rank == 0)
        return tw__fail(TW_INVALID_ARGUMENT, "input must be 1-D or higher");
    if (shift->rank > 1)
        return tw__fail(TW_INVALID_ARGUMENT, "shift must be a scalar or a 1-D vector. Found: %s", tw__shape_text(shift));
    if (axis->rank > 1)
        return tw__fail(TW_INVALID_ARGUMENT, "axis must be a scalar or a 1-D vector. Found: %s", tw__shape_text(axis));
    if (tw__shape_known(shift) && tw__shape_known(axis) && !tw__shape_equal(shift, axis))
        return tw__fail(TW_INVALID_ARGUMENT, "shift and axis must have the same size");
    return tw_shape_same(inference);
}

static tw_status roll_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0], *shift = kernel->inputs[1], *axes = kernel->inputs[2];
    tw_tensor *out = kernel->outputs[0];
    int rank = in->shape.rank, axis;
    int64_t moved[TW_MAX_RANK] = { 0 }, strides[TW_MAX_RANK];
    for (int64_t i = 0; i < axes->count; i++) {
        if (!tw__axis_normal(tw_tensor_int_at(axes, i), rank, &axis))
            return tw__fail(TW_INVALID_ARGUMENT, "axis %lld is out of range", (long long)tw_tensor_int_at(axes, i));
        int64_t size = in->shape.dims[axis];
        if (size > 0) {
            int64_t step = tw_tensor_int_at(shift, i) % size;
            moved[axis] = (moved[axis] + (step < 0 ? step + size : step)) % size;
        }
    }
    if (in->count == 0)
        return TW_OK;
    size_t bytes = tw__element_size(in->dtype);
    tw__strides(&in->shape, strides);
    /* Every axis is cut in two, and each of the 2^rank boxes copied to its place. */
    for (unsigned box = 0; box < 1u << rank; box++) {
        tw__walk walk = { 0 };
        int64_t from = 0, to = 0;
        bool empty = false;
        for (int i = 0; i < rank; i++) {
            bool wraps = box >> i & 1;
            int64_t size = wraps ? moved[i] : in->shape.dims[i] - moved[i];
            empty |= size == 0;
            from += wraps ? (in->shape.dims[i] - moved[i]) * strides[i] : 0;
            to += wraps ? 0 : moved[i] * strides[i];
            tw__walk_add(&walk, size, strides[i], strides[i]);
        }
        if (!empty)
            TW_TRY(tw__copy_walk(in->dtype, (char *)out->data + (size_t)to * bytes, (const char *)in->data + (size_t)from * bytes,
                                 &walk));
    }
    return TW_OK;
}

static tw_status roll_gradient(tw__gradient *g)
{
    if (!g->output_grads[0] || !g->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *back = TW_CALL(Neg, g->inputs[1]);
    g->input_grads[0] = TW_CALL(Roll, g->output_grads[0], back, g->inputs[2]);
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(Roll, .inputs = "input: T, shift: Tshift, axis: Taxis", .outputs = "output: T",
      .attrs = "T: type, Tshift: {int32, int64}, Taxis: {int32, int64}", .shape = roll_shape, .compute = roll_compute,
      .gradient = roll_gradient,
      .function = "roll(input: tensor, shift: tensor<int32>, axis: tensor<int32>, name: str = None) -> tensor",
      .doc = "Elements moved along axes; those that leave at one end come in at the other.\n"
             "input: a tensor\n"
             "shift: by how many places elements move, for each dimension of `axis`; negative ones move to the front\n"
             "axis: the dimensions to move along\n"
             "example: tf.roll([1, 2, 3, 4], 1, 0).numpy().tolist()  # [4, 1, 2, 3]");

/* ---- EnsureShape ---- */

static tw_status ensure_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0], *wanted = TW_ATTR(inference, "shape")->shape;
    tw_shape *out = &inference->out_shapes[0];
    if (!tw__shape_compatible(in, wanted))
        return tw__fail(TW_INVALID_ARGUMENT, "Shape of tensor input %s is not compatible with expected shape %s.",
                        tw__shape_text(in), tw__shape_text(wanted));
    *out = in->rank >= 0 ? *in : *wanted;
    for (int i = 0; i < out->rank && wanted->rank >= 0; i++)
        out->dims[i] = out->dims[i] >= 0 ? out->dims[i] : wanted->dims[i];
    return TW_OK;
}

static tw_status ensure_compute(tw__kernel *kernel)
{
    tw_tensor *in = kernel->inputs[0];
    const tw_shape *wanted = TW_ATTR(kernel, "shape")->shape;
    if (!tw__shape_compatible(&in->shape, wanted))
        return tw__fail(TW_INVALID_ARGUMENT, "Shape of tensor input %s is not compatible with expected shape %s.",
                        tw__shape_text(&in->shape), tw__shape_text(wanted));
    return tw__output_take(kernel, 0, tw_retain(in));
}

static tw_status ensure_gradient(tw__gradient *g)
{
    g->input_grads[0] = tw_retain(g->output_grads[0]);
    return TW_OK;
}

static bool ensure_shape_words(tw__wording *w)
{
    return tw__say_merge(w, TW_ATTR(w->in, "shape")->shape, w->in->shapes[0]);
}

TW_OP(EnsureShape, .inputs = "input: T", .outputs = "output: T", .attrs = "shape: shape, T: type", .shape = ensure_shape,
      .compute = ensure_compute, .gradient = ensure_gradient, .makes_outputs = true, .words = ensure_shape_words,
      .function = "ensure_shape(x: tensor, shape: shape, name: str = None) -> tensor",
      .doc = "x, if its shape is the one given; else an error.\n"
             "shape: the shape that is expected; None in it for lengths that may be any");
