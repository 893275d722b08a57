/* Joining tensors along an axis that is there (ConcatV2, ConcatOffset) or a new one (Pack), and taking them apart again (Unpack).
 */
#include "base/pause.h"
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "op/partial.h"
#include "op/wording.h"
#include "rows.h"

/* ---- ConcatV2 ---- */

/* The joined shape of `count` shapes; *axis in [0, rank) on return. */
static tw_status joined_shape(const tw_shape *const *shapes, int count, int64_t given, int *axis, tw_shape *out)
{
    const tw_shape *known = NULL; /* the first of known rank */
    for (int i = 0; i < count; i++) {
        if (!known && shapes[i]->rank >= 0)
            known = shapes[i];
        if (known && shapes[i]->rank >= 0 && shapes[i]->rank != known->rank)
            return tw__fail(TW_INVALID_ARGUMENT,
                            "ConcatOp : Ranks of all input tensors should match: shape[0] = %s vs. shape[%d] = %s",
                            tw__shape_text(known), i, tw__shape_text(shapes[i]));
    }
    if (!known)
        return TW_OK;
    if (known->rank == 0)
        return tw__fail(TW_INVALID_ARGUMENT, "ConcatOp : Can't concatenate scalars (use tf.stack instead)");
    if (!tw__axis_normal(given, known->rank, axis))
        return tw__fail(TW_INVALID_ARGUMENT, "ConcatOp : Expected concatenating dimensions in the range [%d, %d), but got %lld",
                        -known->rank, known->rank, (long long)given);
    tw_shape result = *known;
    result.dims[*axis] = 0;
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < known->rank; k++) {
            int64_t dim = shapes[i]->rank < 0 ? -1 : shapes[i]->dims[k];
            if (k == *axis) {
                if (dim < 0 || result.dims[k] < 0)
                    result.dims[k] = -1;
                else if (__builtin_add_overflow(result.dims[k], dim, &result.dims[k]))
                    return tw__fail(TW_INVALID_ARGUMENT, "ConcatOp : the result is too large");
            } else if (result.dims[k] < 0) {
                result.dims[k] = dim;
            } else if (dim >= 0 && dim != result.dims[k]) {
                return tw__fail(TW_INVALID_ARGUMENT,
                                "ConcatOp : Dimension %d in both shapes must be equal: shape[0] = %s vs. shape[%d] = %s", k,
                                tw__shape_text(shapes[0]), i, tw__shape_text(shapes[i]));
            }
        }
    }
    *out = result;
    return TW_OK;
}

static tw_status concat_shape(tw__inference *inference)
{
    int count = inference->input_count - 1, axis;
    int64_t given;
    if (!inference->values[count])
        return TW_OK;
    TW_TRY(tw__scalar_value(inference->op, inference->values[count], "axis", &given));
    return joined_shape(inference->shapes, count, given, &axis, &inference->out_shapes[0]);
}

/* Puts `in` into `out` at place `at` of the axis. */
static tw_status put_part(tw_tensor *out, const tw_tensor *in, int axis, int64_t at)
{
    int64_t outer = 1, inner = 1;
    for (int i = 0; i < out->shape.rank; i++) {
        if (i < axis)
            outer *= out->shape.dims[i];
        else if (i > axis)
            inner *= out->shape.dims[i];
    }
    int64_t part = in->shape.dims[axis] * inner, whole = out->shape.dims[axis] * inner;
    tw__walk walk = { 0 };
    tw__walk_add(&walk, outer, whole, part);
    tw__walk_add(&walk, part, 1, 1);
    return tw__copy_walk(out->dtype, (char *)out->data + (size_t)(at * inner) * tw__element_size(out->dtype), in->data, &walk);
}

static tw_status concat_compute(tw__kernel *kernel)
{
    tw_tensor *out = kernel->outputs[0];
    int count = kernel->input_count - 1, axis;
    int64_t at = 0;
    tw__axis_normal(tw_tensor_int_at(kernel->inputs[count], 0), out->shape.rank, &axis);
    for (int i = 0; i < count; i++) {
        const tw_tensor *in = kernel->inputs[i];
        TW_TRY(put_part(out, in, axis, at));
        at += in->shape.dims[axis];
    }
    return TW_OK;
}

/* Where the parts begin, by ops: ConcatOffset takes an int32 axis and int32 shapes. */
static tw_status concat_gradient_later(tw__gradient *gradient, tw_tensor *dy, int count)
{
    tw__held tw_tensor **inputs = tw__held_new((size_t)count + 1), **offsets = tw__held_new((size_t)count);
    tw_tensor *given = gradient->inputs[count];
    TW_NEED(inputs && offsets);
    int offset_count = count;
    TW_NEED(inputs[0] = TW_CALL(Cast, given, TW_A_TYPE("DstT", TW_INT32)));
    for (int i = 0; i < count; i++) {
        TW_NEED(inputs[i + 1] = tw__shape_as_tensor(gradient->inputs[i], TW_INT32));
    }
    TW_TRY(tw__apply(&tw__op_ConcatOffset, inputs, count + 1, NULL, 0, offsets, &offset_count));
    for (int i = 0; i < count; i++) {
        if (gradient->wanted[i])
            TW_NEED(gradient->input_grads[i] = TW_CALL(Slice, dy, offsets[i], inputs[i + 1]));
    }
    return TW_OK;
}

static tw_status concat_gradient(tw__gradient *gradient)
{
    tw_tensor *dy = gradient->output_grads[0];
    int count = gradient->input_count - 1, rank, axis;
    if (!dy)
        return TW_OK;
    bool known = gradient->inputs[count]->data != NULL;
    for (int i = 0; known && i < count; i++)
        known = tw__shape_known(&gradient->inputs[i]->shape);
    if (!known)
        return concat_gradient_later(gradient, dy, count);
    rank = dy->shape.rank;
    tw__axis_normal(tw_tensor_int_at(gradient->inputs[count], 0), rank, &axis);
    int64_t begin[TW_MAX_RANK] = { 0 };
    for (int i = 0; i < count; i++) {
        const tw_shape *shape = &gradient->inputs[i]->shape;
        if (gradient->wanted[i]) {
            tw_tensor *first = tw__ints_tensor(begin, rank, TW_INT64), *size = tw__tensor_of_shape(shape, TW_INT64);
            gradient->input_grads[i] = TW_CALL(Slice, dy, first, size);
            tw_release(first);
            tw_release(size);
            if (!gradient->input_grads[i])
                return tw__error_status();
        }
        begin[axis] += shape->dims[axis];
    }
    return TW_OK;
}

static bool concat_words(tw__wording *w)
{
    int last = w->in->input_count - 1, rank = -1;
    int64_t axis;
    for (int i = 0; i < last; i++) {
        int own = w->in->shapes[i]->rank;
        if (own >= 0 && rank >= 0 && own != rank)
            return tw__say_rank(w, rank, own);
        rank = rank < 0 ? own : rank;
    }
    w->values = 1u << (last < 31 ? last : 31);
    if (last < 1 || rank < 0 || !tw__wording_number(w, last, &axis))
        return false;
    if (tw__say_rank_at_least(w, w->in->shapes[0], tw__ranks_of_axis(axis)))
        return true;
    int at = (int)(axis < 0 ? axis + rank : axis);
    for (int i = 1; i < last; i++) {
        tw_shape a = tw__shape_part(w->in->shapes[0], 0, at), b = tw__shape_part(w->in->shapes[i], 0, at);
        tw_shape c = tw__shape_part(w->in->shapes[0], at + 1, rank), d = tw__shape_part(w->in->shapes[i], at + 1, rank);
        if (w->in->shapes[i]->rank == rank && (tw__say_merge(w, &a, &b) || tw__say_merge(w, &c, &d)))
            return true;
    }
    return false;
}

static bool concat_partial(const tw__partial_call *call, tw_shape *elements)
{
    elements->rank = 0;
    for (int i = 0; i + 1 < call->input_count; i++) {
        tw_shape part;
        if (!call->vector(call, i, &part) || elements->rank + part.rank > TW_MAX_RANK)
            return false;
        memcpy(elements->dims + elements->rank, part.dims, (size_t)part.rank * sizeof *part.dims);
        elements->rank += part.rank;
    }
    return true;
}

TW_OP(ConcatV2, .inputs = "values: N * T, axis: Tidx", .outputs = "output: T",
      .attrs = "N: int >= 2, T: type, Tidx: {int32, int64} = int32", .shape = concat_shape, .compute = concat_compute,
      .gradient = concat_gradient, .words = concat_words, .node_name = "concat", .static_value = true, .partial = concat_partial,
      .doc = "Joins tensors along an axis.");

/* ---- ConcatOffset ---- */

static tw_status offset_shape(tw__inference *inference)
{
    for (int i = 0; i < inference->output_count; i++) {
        TW_TRY(tw__need_rank(inference, i + 1, 1));
        inference->out_shapes[i] = inference->shapes[i + 1]->rank == 1 ? *inference->shapes[i + 1] : TW_SHAPE(-1);
    }
    return TW_OK;
}

static tw_status offset_compute(tw__kernel *kernel)
{
    const tw_tensor *first = kernel->inputs[1];
    int64_t given, at = 0;
    int axis;
    TW_TRY(tw__scalar_value(kernel->op, kernel->inputs[0], "concat_dim", &given));
    if (first->count > TW_MAX_RANK || !tw__axis_normal(given, (int)first->count, &axis))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Concat dim is out of range: %lld vs. %lld", (long long)given,
                          (long long)first->count);
    for (int i = 0; i < kernel->output_count; i++) {
        const tw_tensor *shape = kernel->inputs[i + 1];
        if (shape->count != first->count)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "input %d should contain %lld elements, but got %lld", i,
                              (long long)first->count, (long long)shape->count);
        for (int k = 0; k < shape->count; k++) {
            if (k != axis && tw_tensor_int_at(shape, k) != tw_tensor_int_at(first, k))
                return TW_OP_FAIL(
                    kernel, TW_INVALID_ARGUMENT,
                    "All dimensions except %d must match. Input %d has %lld in dimension %d and doesn't match input 0 with "
                    "%lld.",
                    axis, i, (long long)tw_tensor_int_at(shape, k), k, (long long)tw_tensor_int_at(first, k));
            if (shape->dtype == TW_INT64)
                ((int64_t *)kernel->outputs[i]->data)[k] = k == axis ? at : 0;
            else
                ((int32_t *)kernel->outputs[i]->data)[k] = k == axis ? (int32_t)at : 0;
        }
        at += tw_tensor_int_at(shape, axis);
    }
    return TW_OK;
}

TW_OP(ConcatOffset, .inputs = "concat_dim: int32, shape: N * shape_type", .outputs = "offset: N * shape_type",
      .attrs = "N: int >= 2, shape_type: {int32, int64} = int32", .shape = offset_shape, .compute = offset_compute,
      .doc = "Where each part of a concatenation begins.");

/* ---- Pack ---- */

static tw_status pack_shape(tw__inference *inference)
{
    const tw_shape *first = inference->shapes[0];
    int64_t given = TW_ATTR(inference, "axis")->i;
    int axis;
    for (int i = 1; i < inference->input_count; i++) {
        if (!tw__shape_compatible(first, inference->shapes[i]))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                              "Shapes of all inputs must match: values[0].shape = %s != values[%d].shape = %s",
                              tw__shape_text(first), i, tw__shape_text(inference->shapes[i]));
        if (first->rank < 0)
            first = inference->shapes[i];
    }
    if (first->rank < 0)
        return TW_OK;
    if (!tw__axis_normal(given, first->rank + 1, &axis))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "axis = %lld not in [%d, %d)", (long long)given, -first->rank - 1,
                          first->rank + 1);
    if (first->rank == TW_MAX_RANK)
        return TW_OP_FAIL(inference, TW_UNIMPLEMENTED, "rank %d, at most %d are supported", first->rank + 1, TW_MAX_RANK);
    tw_shape *out = &inference->out_shapes[0];
    out->rank = first->rank + 1;
    for (int i = 0; i < out->rank; i++)
        out->dims[i] = i == axis ? inference->input_count : first->dims[i < axis ? i : i - 1];
    return TW_OK;
}

/* The elements before and behind the axis. */
static void around(const tw_shape *shape, int axis, int64_t *outer, int64_t *inner)
{
    *outer = *inner = 1;
    for (int i = 0; i < shape->rank; i++) {
        if (i < axis)
            *outer *= shape->dims[i];
        else if (i > axis)
            *inner *= shape->dims[i];
    }
}

static tw_status pack_compute(tw__kernel *kernel)
{
    tw_tensor *out = kernel->outputs[0];
    int axis;
    int64_t outer, inner, count = kernel->input_count;
    tw__axis_normal(TW_ATTR(kernel, "axis")->i, out->shape.rank, &axis);
    around(&out->shape, axis, &outer, &inner);
    for (int64_t i = 0; i < count; i++) {
        tw__walk walk = { 0 };
        tw__walk_add(&walk, outer, count * inner, inner);
        tw__walk_add(&walk, inner, 1, 1);
        TW_TRY(tw__copy_walk(out->dtype, (char *)out->data + (size_t)(i * inner) * tw__element_size(out->dtype),
                             kernel->inputs[i]->data, &walk));
    }
    return TW_OK;
}

static tw_status pack_gradient(tw__gradient *gradient)
{
    int count = gradient->input_count;
    if (!gradient->output_grads[0])
        return TW_OK;
    return tw__apply(&tw__op_Unpack, TW_IN(gradient->output_grads[0]), 1,
                     TW_WITH(TW_A_INT("num", count), TW_A_INT("axis", TW_ATTR(gradient, "axis")->i)), 2, gradient->input_grads,
                     &count);
}

static bool pack_words(tw__wording *w)
{
    for (int i = 1; i < w->in->input_count; i++) {
        if (tw__say_merge(w, w->in->shapes[0], w->in->shapes[i])) {
            tw__text_format(&w->text, "\n\tFrom merging shape %d with other shapes.", i - 1);
            return true;
        }
    }
    return false;
}

static bool pack_partial(const tw__partial_call *call, tw_shape *elements)
{
    if (call->input_count > TW_MAX_RANK || call->shape(call, 0)->rank != 0)
        return false;
    elements->rank = call->input_count;
    for (int i = 0; i < call->input_count; i++)
        elements->dims[i] = tw__partial_number(call, i);
    return true;
}

TW_OP(Pack, .inputs = "values: N * T", .outputs = "output: T", .attrs = "N: int >= 1, T: type, axis: int = 0",
      .shape = pack_shape, .compute = pack_compute, .gradient = pack_gradient, .words = pack_words, .node_name = "stack",
      .scope = TW_SCOPE_ALWAYS, .static_value = true, .partial = pack_partial,
      .function = "stack(values: tensors<T>, axis: int = 0, name: str = stack) -> tensor",
      .doc = "Stacks tensors along a new axis.\n"
             "values: tensors of one shape and dtype\n"
             "axis: where the new dimension stands in the result; negative ones count from the end\n"
             "example: tf.stack([[1, 2], [3, 4]], axis=1).numpy().tolist()  # [[1, 3], [2, 4]]");

/* ---- Unpack ---- */

static tw_status unpack_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    int64_t given = TW_ATTR(inference, "axis")->i, num = TW_ATTR(inference, "num")->i;
    int axis;
    if (in->rank < 0)
        return TW_OK;
    if (!tw__axis_normal(given, in->rank, &axis))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "axis = %lld not in [%d, %d)", (long long)given, -in->rank, in->rank);
    if (in->dims[axis] >= 0 && in->dims[axis] != num)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Input shape axis %d must equal %lld, got shape %s", axis,
                          (long long)num, tw__shape_text(in));
    for (int64_t i = 0; i < inference->output_count; i++) {
        tw_shape *out = &inference->out_shapes[i];
        out->rank = in->rank - 1;
        for (int k = 0; k < out->rank; k++)
            out->dims[k] = in->dims[k < axis ? k : k + 1];
    }
    return TW_OK;
}

enum { PAUSE_PARTS = 4096 }; /* so many are quickly made */

static tw_status unpack_compute(tw__kernel *kernel)
{
    tw_tensor *in = kernel->inputs[0];
    int axis;
    int64_t outer, inner;
    tw__axis_normal(TW_ATTR(kernel, "axis")->i, in->shape.rank, &axis);
    around(&in->shape, axis, &outer, &inner);
    tw_shape shape = { .rank = in->shape.rank - 1 };
    for (int k = 0; k < shape.rank; k++)
        shape.dims[k] = in->shape.dims[k < axis ? k : k + 1];
    for (int64_t i = 0; i < kernel->output_count; i++) {
        if (i % PAUSE_PARTS == PAUSE_PARTS - 1)
            TW_TRY(tw__pause());
        if (outer == 1) {
            TW_TRY(tw__output_take(kernel, (int)i, tw__tensor_slice_view(in, &shape, i * inner)));
            continue;
        }
        tw_tensor *out = tw__output(kernel, (int)i, &shape);
        if (!out)
            return tw__error_status();
        tw__walk walk = { 0 };
        tw__walk_add(&walk, outer, inner, kernel->output_count * inner);
        tw__walk_add(&walk, inner, 1, 1);
        TW_TRY(tw__copy_walk(out->dtype, out->data, (const char *)in->data + (size_t)(i * inner) * tw__element_size(in->dtype),
                             &walk));
    }
    return TW_OK;
}

/* Outputs that nothing came back through count as zeros. */
tw_status tw__join_gradients(tw__gradient *gradient, tw_tensor **parts)
{
    for (int i = 0; i < gradient->output_count; i++) {
        parts[i] = gradient->output_grads[i] ? tw_retain(gradient->output_grads[i]) : TW_CALL(ZerosLike, gradient->outputs[i]);
        if (!parts[i])
            return tw__error_status();
    }
    return TW_OK;
}

static tw_status unpack_gradient(tw__gradient *gradient)
{
    if (gradient->output_count == 0)
        return TW_OK;
    tw__owned tw_tensor **parts = tw__alloc_array((size_t)gradient->output_count, sizeof *parts);
    if (!parts)
        return tw__error_status();
    if (tw__join_gradients(gradient, parts) == TW_OK)
        gradient->input_grads[0] =
            tw__call(&tw__op_Pack, parts, gradient->output_count, TW_WITH(TW_A_INT("axis", TW_ATTR(gradient, "axis")->i)), 1);
    for (int i = 0; i < gradient->output_count; i++)
        tw_release(parts[i]);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

static bool unpack_words(tw__wording *w)
{
    const tw_shape *shape = w->in->shapes[0];
    int64_t axis = TW_ATTR(w->in, "axis")->i, num = TW_ATTR(w->in, "num")->i;
    axis += axis < 0 ? shape->rank : 0;
    if (shape->rank < 0 || axis < 0 || axis >= shape->rank || !tw__sizes_differ(num, shape->dims[axis]))
        return false;
    tw__text_format(&w->text, "Dimension must be %lld but is %lld", (long long)num, (long long)shape->dims[axis]);
    return true;
}

TW_OP(Unpack, .inputs = "value: T", .outputs = "output: num * T", .attrs = "num: int >= 0, T: type, axis: int = 0",
      .shape = unpack_shape, .compute = unpack_compute, .gradient = unpack_gradient, .makes_outputs = true, .words = unpack_words,
      .node_name = "unstack", .static_value = true, .doc = "Takes a tensor apart along an axis.");
