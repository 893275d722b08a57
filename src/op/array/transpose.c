/* Transpose, InvertPermutation, ReverseV2: the same elements in another order. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "op/wording.h"
#include "rows.h"

static tw_status read_permutation(const tw_tensor *perm, int rank, int *order)
{
    bool seen[TW_MAX_RANK] = { false };
    if (perm->shape.rank != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "perm must be rank 1, got shape %s", tw__shape_text(&perm->shape));
    if (perm->count != rank)
        return tw__fail(TW_INVALID_ARGUMENT, "transpose expects a vector of size %d. But input(1) is a vector of size %lld", rank,
                        (long long)perm->count);
    for (int i = 0; i < rank; i++) {
        int64_t axis = tw_tensor_int_at(perm, i);
        if (axis < 0 || axis >= rank)
            return tw__fail(TW_INVALID_ARGUMENT, "%lld is out of range [0 .. %d)", (long long)axis, rank);
        seen[axis] = true;
        order[i] = (int)axis;
    }
    for (int i = 0; i < rank; i++) {
        if (!seen[i])
            return tw__fail(TW_INVALID_ARGUMENT, "%d is missing from the permutation perm", i);
    }
    return TW_OK;
}

tw_shape tw__shape_of_rank(const tw_shape *list)
{
    tw_shape shape = { .rank = list->rank >= 1 && list->dims[0] <= TW_MAX_RANK ? (int)list->dims[0] : -1 };
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = -1;
    return shape;
}

static tw_status transpose_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    tw_shape *out = &inference->out_shapes[0];
    int order[TW_MAX_RANK];
    if (in->rank < 0) {
        *out = tw__shape_of_rank(inference->shapes[1]);
        return TW_OK;
    }
    if (inference->values[1]) {
        TW_TRY(read_permutation(inference->values[1], in->rank, order));
        for (int i = 0; i < in->rank; i++)
            out->dims[i] = in->dims[order[i]];
    } else {
        for (int i = 0; i < in->rank; i++)
            out->dims[i] = -1;
    }
    out->rank = in->rank;
    return TW_OK;
}

static tw_status transpose_compute(tw__kernel *kernel)
{
    tw_tensor *in = kernel->inputs[0];
    int order[TW_MAX_RANK], last = -1;
    TW_TRY(read_permutation(kernel->inputs[1], in->shape.rank, order));
    tw_shape shape = { .rank = in->shape.rank };
    bool moves = false;
    for (int i = 0; i < shape.rank; i++) {
        shape.dims[i] = in->shape.dims[order[i]];
        if (shape.dims[i] != 1) {
            moves |= order[i] < last;
            last = order[i];
        }
    }
    if (!moves || in->count == 0)
        return tw__output_take(kernel, 0, tw__tensor_view(in, &shape));
    tw_tensor *out = tw__output(kernel, 0, &shape);
    if (!out)
        return tw__error_status();
    int64_t from[TW_MAX_RANK], to[TW_MAX_RANK];
    tw__walk walk = { 0 };
    tw__strides(&in->shape, from);
    tw__strides(&shape, to);
    for (int i = 0; i < shape.rank; i++)
        tw__walk_add(&walk, shape.dims[i], to[i], from[order[i]]);
    return tw__copy_walk(out->dtype, out->data, in->data, &walk);
}

static tw_status transpose_gradient(tw__gradient *gradient)
{
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    tw_auto tw_tensor *back = TW_CALL(InvertPermutation, gradient->inputs[1]);
    gradient->input_grads[0] = TW_CALL(Transpose, gradient->output_grads[0], back);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

static bool transpose_words(tw__wording *w)
{
    const tw_shape *shape = w->in->shapes[0], *perm = w->in->shapes[1];
    if (shape->rank >= 0 && perm->rank == 1 && tw__sizes_differ(shape->rank, perm->dims[0])) {
        tw__text_format(&w->text, "Dimension must be %d but is %lld", shape->rank, (long long)perm->dims[0]);
        return true;
    }
    w->values = 2;
    tw_shape order;
    for (int i = 0; shape->rank >= 0 && tw__wording_vector(w, 1, &order) && i < order.rank; i++) {
        if (order.dims[i] >= shape->rank || order.dims[i] < -shape->rank) {
            tw__text_format(&w->text, "perm dim %lld is out of range of input rank %d", (long long)order.dims[i], shape->rank);
            return true;
        }
    }
    return false;
}

/* Whether the axes stay in their order, those of one element aside; also if the order is not known. */
static bool transpose_shows(const tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    const tw_tensor *order = inference->values[1];
    if (!order || !tw__shape_known(in) || order->count != in->rank)
        return true;
    for (int64_t i = 0, last = -1; i < order->count; i++) {
        int64_t axis = tw_tensor_int_at(order, i);
        axis += axis < 0 ? in->rank : 0;
        if (axis < 0 || axis >= in->rank || in->dims[axis] == 0)
            return true;
        if (in->dims[axis] == 1)
            continue;
        if (axis < last)
            return false;
        last = axis;
    }
    return true;
}

TW_OP(Transpose, .inputs = "x: T, perm: Tperm", .outputs = "y: T", .attrs = "T: type, Tperm: {int32, int64} = int32",
      .shape = transpose_shape, .compute = transpose_compute, .gradient = transpose_gradient, .makes_outputs = true,
      .words = transpose_words, .node_name = "transpose", .scope = TW_SCOPE_ALWAYS, .shows_input = transpose_shows,
      .doc = "Dimension i of the result is dimension perm[i] of x.");

/* ---- InvertPermutation ---- */

static tw_status invert_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 1));
    inference->out_shapes[0] = inference->shapes[0]->rank == 1 ? *inference->shapes[0] : TW_SHAPE(-1);
    return TW_OK;
}

static tw_status invert_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    int64_t n = in->count;
    size_t size = tw__element_size(out->dtype);
    memset(out->data, 0xff, (size_t)n * size);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = tw_tensor_int_at(in, i);
        if (at < 0 || at >= n)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%lld is not between 0 and %lld", (long long)at, (long long)n);
        if (tw_tensor_int_at(out, at) != -1)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%lld is duplicated in the input.", (long long)at);
        if (out->dtype == TW_INT64)
            ((int64_t *)out->data)[at] = i;
        else
            ((int32_t *)out->data)[at] = (int32_t)i;
    }
    return TW_OK;
}

TW_OP(InvertPermutation, .inputs = "x: T", .outputs = "y: T", .attrs = "T: {int32, int64} = int32", .shape = invert_shape,
      .compute = invert_compute,
      .function = "math.invert_permutation|compat.v1.invert_permutation(x: tensor<int32>, name: str = None) -> tensor",
      .doc = "The permutation y with y[x[i]] = i.");

/* ---- ReverseV2 ---- */

static tw_status reversed_axes(const tw_tensor *axes, int rank, unsigned *reversed)
{
    *reversed = 0;
    for (int64_t i = 0; i < axes->count; i++) {
        int64_t given = tw_tensor_int_at(axes, i);
        int axis;
        if (!tw__axis_normal(given, rank, &axis))
            return tw__fail(TW_INVALID_ARGUMENT, "'axis'[%lld] = %lld is out of valid range [0, %d", (long long)i,
                            (long long)given, rank - 1);
        if (*reversed >> axis & 1)
            return tw__fail(TW_INVALID_ARGUMENT, "axis %d specified more than once.", axis);
        *reversed |= 1u << axis;
    }
    return TW_OK;
}

static tw_status reverse_shape(tw__inference *inference)
{
    unsigned reversed;
    TW_TRY(tw__need_rank(inference, 1, 1));
    if (inference->values[1] && inference->shapes[0]->rank >= 0)
        TW_TRY(reversed_axes(inference->values[1], inference->shapes[0]->rank, &reversed));
    return tw_shape_same(inference);
}

static tw_status reverse_compute(tw__kernel *kernel)
{
    const tw_tensor *in = kernel->inputs[0];
    tw_tensor *out = kernel->outputs[0];
    unsigned reversed;
    TW_TRY(reversed_axes(kernel->inputs[1], in->shape.rank, &reversed));
    if (in->count == 0)
        return TW_OK;
    int64_t strides[TW_MAX_RANK], first = 0;
    tw__walk walk = { 0 };
    tw__strides(&in->shape, strides);
    for (int i = 0; i < in->shape.rank; i++) {
        bool turn = reversed >> i & 1;
        first += turn ? (in->shape.dims[i] - 1) * strides[i] : 0;
        tw__walk_add(&walk, in->shape.dims[i], strides[i], turn ? -strides[i] : strides[i]);
    }
    return tw__copy_walk(out->dtype, out->data, (const char *)in->data + (size_t)first * tw__element_size(in->dtype), &walk);
}

static tw_status reverse_gradient(tw__gradient *gradient)
{
    if (!gradient->output_grads[0] || !gradient->wanted[0])
        return TW_OK;
    gradient->input_grads[0] = TW_CALL(ReverseV2, gradient->output_grads[0], gradient->inputs[1]);
    return gradient->input_grads[0] ? TW_OK : tw__error_status();
}

static bool reverse_words(tw__wording *w)
{
    w->values = 2;
    return false;
}

TW_OP(
    ReverseV2, .inputs = "tensor: T, axis: Tidx", .outputs = "output: T",
    .attrs =
        "Tidx: {int32, int64} = int32, T: {uint8, int8, uint16, int16, int32, uint32, int64, uint64, bool, bfloat16, half, float, "
        "double, complex64, complex128, string}",
    .shape = reverse_shape, .compute = reverse_compute, .gradient = reverse_gradient, .words = reverse_words,
    .doc = "Turns axes round.");
