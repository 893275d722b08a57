/* Cutting a tensor along an axis: Split into equal parts, SplitV into given ones. Parts that lie together share the input's
 * memory. */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/wording.h"
#include "rows.h"

static tw_status split_axis(const tw_op *op, const tw_tensor *dim, int rank, int *axis)
{
    int64_t given;
    TW_TRY(tw__scalar_value(op, dim, "split_dim", &given));
    if (!tw__axis_normal(given, rank, axis))
        return tw__fail(TW_INVALID_ARGUMENT, "-input rank(-%d) <= split_dim < input rank (%d), but got %lld", rank, rank,
                        (long long)given);
    return TW_OK;
}

static tw_status check_even(int64_t size, int axis, int64_t parts)
{
    if (size >= 0 && size % parts)
        return tw__fail(
            TW_INVALID_ARGUMENT,
            "Number of ways to split should evenly divide the split dimension, but got split_dim %d (size = %lld) and "
            "num_split %lld",
            axis, (long long)size, (long long)parts);
    return TW_OK;
}

static tw_status split_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[1];
    int64_t parts = inference->output_count;
    int axis;
    if (in->rank < 0 || !inference->values[0])
        return TW_OK;
    TW_TRY(split_axis(inference->op, inference->values[0], in->rank, &axis));
    TW_TRY(check_even(in->dims[axis], axis, parts));
    for (int i = 0; i < parts; i++) {
        inference->out_shapes[i] = *in;
        inference->out_shapes[i].dims[axis] = in->dims[axis] < 0 ? -1 : in->dims[axis] / parts;
    }
    return TW_OK;
}

/* Part `index`: the places [at, at + size) of the axis. */
static tw_status give_part(tw__kernel *kernel, tw_tensor *in, int index, int axis, int64_t at, int64_t size)
{
    tw_shape shape = in->shape;
    int64_t outer = 1, inner = 1;
    shape.dims[axis] = size;
    for (int i = 0; i < shape.rank; i++) {
        if (i < axis)
            outer *= shape.dims[i];
        else if (i > axis)
            inner *= shape.dims[i];
    }
    if (outer == 1)
        return tw__output_take(kernel, index, tw__tensor_slice_view(in, &shape, at * inner));
    tw_tensor *out = tw__output(kernel, index, &shape);
    if (!out)
        return tw__error_status();
    tw__walk walk = { 0 };
    tw__walk_add(&walk, outer, size * inner, in->shape.dims[axis] * inner);
    tw__walk_add(&walk, size * inner, 1, 1);
    return tw__copy_walk(out->dtype, out->data, (const char *)in->data + (size_t)(at * inner) * tw__element_size(in->dtype),
                         &walk);
}

static tw_status split_compute(tw__kernel *kernel)
{
    tw_tensor *in = kernel->inputs[1];
    int axis;
    TW_TRY(split_axis(kernel->op, kernel->inputs[0], in->shape.rank, &axis));
    TW_TRY(check_even(in->shape.dims[axis], axis, kernel->output_count));
    int64_t size = in->shape.dims[axis] / kernel->output_count;
    for (int i = 0; i < kernel->output_count; i++)
        TW_TRY(give_part(kernel, in, i, axis, i * size, size));
    return TW_OK;
}

/* The parts' gradients joined along the axis that input `dim` says, as the gradient of input `value`. */
static tw_status join(tw__gradient *gradient, int dim, int value)
{
    int count = gradient->output_count;
    if (!gradient->wanted[value])
        return TW_OK;
    tw__owned tw_tensor **parts = tw__alloc_array((size_t)count + 1, sizeof *parts);
    if (!parts)
        return tw__error_status();
    if (tw__join_gradients(gradient, parts) == TW_OK) {
        parts[count] = gradient->inputs[dim];
        gradient->input_grads[value] = count == 1 ? tw_retain(parts[0]) : tw__call(&tw__op_ConcatV2, parts, count + 1, NULL, 0);
    }
    for (int i = 0; i < count; i++)
        tw_release(parts[i]);
    return gradient->input_grads[value] ? TW_OK : tw__error_status();
}

static tw_status split_gradient(tw__gradient *gradient)
{
    return join(gradient, 0, 1);
}

/* The size of the axis that a split is along. */
static bool split_size(tw__wording *w, int value, int axis_input, int64_t *size)
{
    int64_t axis;
    const tw_shape *shape = w->in->shapes[value];
    if (shape->rank < 0 || !tw__wording_number(w, axis_input, &axis) || axis < -shape->rank || axis >= shape->rank)
        return false;
    *size = shape->dims[axis < 0 ? axis + shape->rank : axis];
    return true;
}

static bool split_words(tw__wording *w)
{
    int64_t size;
    w->values = 1;
    if (!split_size(w, 1, 0, &size))
        return false;
    tw__text_format(
        &w->text,
        "Dimension size must be evenly divisible by %lld but is %lld\n\tNumber of ways to split should evenly divide the split "
        "dimension",
        (long long)w->in->output_count, (long long)size);
    return true;
}

TW_OP(Split, .inputs = "split_dim: int32, value: T", .outputs = "output: num_split * T", .attrs = "num_split: int >= 1, T: type",
      .shape = split_shape, .compute = split_compute, .gradient = split_gradient, .makes_outputs = true, .words = split_words,
      .node_name = "split", .static_value = true, .doc = "Cuts a tensor into equal parts.");

/* ---- SplitV ---- */

/* The size of part i after the one -1 has been worked out; sizes are read where they stand. */
static tw_status check_sizes(const tw_tensor *sizes, int64_t whole, int64_t parts, int64_t *rest)
{
    int64_t sum = 0;
    bool open = false;
    if (sizes->shape.rank != 1 || sizes->count != parts)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "size of the split_tensor must be 1-D and have the same elements as outputs got %d -D and %lld elements",
                        sizes->shape.rank, (long long)sizes->count);
    for (int64_t i = 0; i < parts; i++) {
        int64_t size = tw_tensor_int_at(sizes, i);
        if (size == -1) {
            if (open)
                return tw__fail(TW_INVALID_ARGUMENT, "There can only be one -1 in the input.");
            open = true;
        } else if (size < 0) {
            return tw__fail(TW_INVALID_ARGUMENT, "Split size at index %lld must be >= 0. Got: %lld", (long long)i,
                            (long long)size);
        } else if (__builtin_add_overflow(sum, size, &sum)) {
            return tw__fail(TW_INVALID_ARGUMENT, "the split sizes are too large");
        }
    }
    if (open ? sum > whole : sum != whole)
        return tw__fail(
            TW_INVALID_ARGUMENT,
            "Determined shape must either match input shape along split_dim exactly if fully specified, or be less than the "
            "size of the input along split_dim if not fully specified.  Got: %lld",
            (long long)sum);
    *rest = whole - sum;
    return TW_OK;
}

static tw_status split_v_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    const tw_tensor *sizes = inference->values[1];
    int axis;
    int64_t rest;
    if (in->rank < 0 || !inference->values[2])
        return TW_OK;
    TW_TRY(split_axis(inference->op, inference->values[2], in->rank, &axis));
    if (sizes && in->dims[axis] >= 0)
        TW_TRY(check_sizes(sizes, in->dims[axis], inference->output_count, &rest));
    for (int i = 0; i < inference->output_count; i++) {
        inference->out_shapes[i] = *in;
        int64_t size = sizes && i < sizes->count ? tw_tensor_int_at(sizes, i) : -1;
        inference->out_shapes[i].dims[axis] = size >= 0 ? size : sizes && in->dims[axis] >= 0 ? rest : -1;
    }
    return TW_OK;
}

static tw_status split_v_compute(tw__kernel *kernel)
{
    tw_tensor *in = kernel->inputs[0];
    int axis;
    int64_t at = 0, rest;
    TW_TRY(split_axis(kernel->op, kernel->inputs[2], in->shape.rank, &axis));
    TW_TRY(check_sizes(kernel->inputs[1], in->shape.dims[axis], kernel->output_count, &rest));
    for (int i = 0; i < kernel->output_count; i++) {
        int64_t size = tw_tensor_int_at(kernel->inputs[1], i);
        size = size == -1 ? rest : size;
        TW_TRY(give_part(kernel, in, i, axis, at, size));
        at += size;
    }
    return TW_OK;
}

static tw_status split_v_gradient(tw__gradient *gradient)
{
    return join(gradient, 2, 0);
}

static bool split_v_words(tw__wording *w)
{
    int64_t size;
    tw_shape sizes;
    w->values = 2 | 4;
    if (!split_size(w, 0, 2, &size) || !tw__wording_vector(w, 1, &sizes))
        return false;
    tw__text_format(&w->text, "can't split axis of size %lld into pieces of size %s", (long long)size, tw__shape_text(&sizes));
    return true;
}

TW_OP(SplitV, .inputs = "value: T, size_splits: Tlen, split_dim: int32", .outputs = "output: num_split * T",
      .attrs = "num_split: int >= 1, T: type, Tlen: {int8, int32, int64} = int64", .shape = split_v_shape,
      .compute = split_v_compute, .gradient = split_v_gradient, .makes_outputs = true, .words = split_v_words,
      .node_name = "split", .doc = "Cuts a tensor into parts of given sizes.");
