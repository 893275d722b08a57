/* Writing slices by index: ScatterNd (into zeros), TensorScatterUpdate, Add, Sub, Max, Min (into a copy of a tensor). */
#include "kernel/copy.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "op/wording.h"
#include "rows.h"

/* indices [rows…, depth], updates [rows…, inner…], target [.., inner…] with `depth` leading dimensions. */
static tw_status check_shapes(const tw_shape *indices, const tw_shape *updates, const tw_shape *target)
{
    if (indices->rank < 0 || updates->rank < 0 || target->rank < 0)
        return TW_OK;
    if (indices->rank < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Indices shape must have rank at least one. Found:%s", tw__shape_text(indices));
    if (updates->rank < 1 && indices->rank > 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Updates shape must have rank at least one. Found:%s", tw__shape_text(updates));
    int64_t depth = indices->dims[indices->rank - 1];
    int rows = indices->rank - 1;
    if (depth < 0)
        return TW_OK;
    for (int i = 0; i < rows; i++) {
        if (i >= updates->rank || (updates->dims[i] >= 0 && indices->dims[i] >= 0 && updates->dims[i] != indices->dims[i]))
            return tw__fail(TW_INVALID_ARGUMENT,
                            "Dimensions [0,%d) of indices[shape=%s] must match dimensions [0,%d) of updates[shape=%s]", rows,
                            tw__shape_text(indices), rows, tw__shape_text(updates));
    }
    bool match = depth <= target->rank && updates->rank - rows == target->rank - depth;
    for (int i = 0; match && i < updates->rank - rows; i++) {
        int64_t a = updates->dims[rows + i], b = target->dims[depth + i];
        match = a < 0 || b < 0 || a == b;
    }
    if (!match)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "Inner dimensions of output shape must match inner dimensions of updates shape. Output: %s updates: %s",
                        tw__shape_text(target), tw__shape_text(updates));
    return TW_OK;
}

tw_status tw__scatter_nd(tw_tensor *out, const tw_tensor *indices, const tw_tensor *updates, bool update, tw__combination kind)
{
    int64_t depth = indices->shape.dims[indices->shape.rank - 1], rows = 1, inner = 1;
    for (int i = 0; i + 1 < indices->shape.rank; i++)
        rows *= indices->shape.dims[i];
    for (int i = (int)depth; i < out->shape.rank; i++)
        inner *= out->shape.dims[i];
    size_t size = tw__element_size(out->dtype);
    if (updates->count == 0 && rows * inner == 0 && out->count == 0)
        return TW_OK;
    for (int64_t r = 0; r < rows; r++) {
        int64_t offset;
        TW_TRY(tw__nd_offset(indices, r, &out->shape, "shape", &offset));
        char *to = (char *)out->data + (size_t)offset * size;
        const char *from = (const char *)updates->data + (size_t)(r * inner) * size;
        if (!update) {
            TW_TRY(tw__combine_elements(kind, out->dtype, to, from, inner));
        } else if (out->dtype == TW_STRING) {
            for (int64_t k = 0; k < inner; k++) {
                const tw_string *string = (const tw_string *)from + k;
                TW_TRY(tw__string_set(out, offset + k, string->data, string->size));
            }
        } else {
            TW_TRY(tw__copy_elements(out->dtype, to, from, inner));
        }
    }
    return TW_OK;
}

static tw_status give_gathered(tw__gradient *gradient, int input, int indices)
{
    if (gradient->wanted[input])
        gradient->input_grads[input] = TW_CALL(GatherNd, gradient->output_grads[0], gradient->inputs[indices]);
    return !gradient->wanted[input] || gradient->input_grads[input] ? TW_OK : tw__error_status();
}

/* ---- ScatterNd ---- */

static tw_status scatter_shape(tw__inference *inference)
{
    tw_shape *out = &inference->out_shapes[0];
    if (inference->values[2])
        TW_TRY(tw__shape_of_values(inference->op, inference->values[2], "shape", false, out));
    return check_shapes(inference->shapes[0], inference->shapes[1], out);
}

static tw_status scatter_compute(tw__kernel *kernel)
{
    tw_tensor *out = kernel->outputs[0];
    if (out->dtype == TW_STRING || out->dtype == TW_BOOL) {
        if (out->dtype == TW_BOOL)
            memset(out->data, 0, (size_t)out->count);
        return tw__scatter_nd(out, kernel->inputs[0], kernel->inputs[1], true, TW__COMBINE_ADD);
    }
    memset(out->data, 0, (size_t)out->count * tw__element_size(out->dtype));
    return tw__scatter_nd(out, kernel->inputs[0], kernel->inputs[1], false, TW__COMBINE_ADD);
}

static tw_status scatter_gradient(tw__gradient *gradient)
{
    return gradient->output_grads[0] ? give_gathered(gradient, 1, 0) : TW_OK;
}

static bool scatter_nd_words(tw__wording *w)
{
    const tw_shape *indices = w->in->shapes[0], *updates = w->in->shapes[1];
    if (indices->rank < 1 || updates->rank < indices->rank - 1)
        return false;
    tw_shape a = tw__shape_part(indices, 0, indices->rank - 1), b = tw__shape_part(updates, 0, indices->rank - 1);
    size_t before = w->text.size;
    tw__text_format(&w->text, "Dimensions [0,%d) of indices[shape=%s] = ", a.rank, tw__shape_text(indices));
    tw__text_format(&w->text, "%s must match dimensions [0,%d) of updates[shape=%s] = ", tw__shape_text(&a), a.rank,
                    tw__shape_text(updates));
    tw__text_format(&w->text, "%s: ", tw__shape_text(&b));
    if (tw__say_merge(w, &a, &b))
        return true;
    w->text.size = before;
    return false;
}

TW_OP(ScatterNd, .inputs = "indices: Tindices, updates: T, shape: Tindices", .outputs = "output: T",
      .attrs = "T: type, Tindices: {int16, int32, int64}", .shape = scatter_shape, .compute = scatter_compute,
      .gradient = scatter_gradient, .words = scatter_nd_words,
      .function = "scatter_nd(indices: tensor<I>, updates: tensor, shape: tensor<I>, name: str = None) -> tensor",
      .doc = "Adds slices into zeros, by index.\n"
             "indices: the last dimension holds an index for each leading dimension of the result\n"
             "updates: the slices, one for each index; those of equal indices are added up\n"
             "shape: the shape of the result\n"
             "example: tf.scatter_nd([[1], [3]], [9, 8], [4]).numpy().tolist()  # [0, 9, 0, 8]");

/* ---- TensorScatter… ---- */

static tw_status tensor_shape(tw__inference *inference)
{
    inference->out_shapes[0] = *inference->shapes[0];
    return check_shapes(inference->shapes[1], inference->shapes[2], inference->shapes[0]);
}

static tw_status into_copy(tw__kernel *kernel, bool update, tw__combination kind)
{
    tw_tensor *out = kernel->outputs[0];
    TW_TRY(tw__copy_elements(out->dtype, out->data, kernel->inputs[0]->data, out->count));
    return tw__scatter_nd(out, kernel->inputs[1], kernel->inputs[2], update, kind);
}

static tw_status update_compute(tw__kernel *kernel)
{
    return into_copy(kernel, true, TW__COMBINE_ADD);
}

static tw_status add_compute(tw__kernel *kernel)
{
    return into_copy(kernel, false, TW__COMBINE_ADD);
}

static tw_status sub_compute(tw__kernel *kernel)
{
    return into_copy(kernel, false, TW__COMBINE_SUB);
}

static tw_status update_gradient(tw__gradient *gradient)
{
    tw_tensor *dy = gradient->output_grads[0];
    if (!dy)
        return TW_OK;
    if (gradient->wanted[0]) { /* what was written over has no part in the result */
        tw_tensor *zeros = TW_CALL(ZerosLike, gradient->inputs[2]);
        gradient->input_grads[0] = TW_CALL(TensorScatterUpdate, dy, gradient->inputs[1], zeros);
        tw_release(zeros);
        if (!gradient->input_grads[0])
            return tw__error_status();
    }
    return give_gathered(gradient, 2, 1);
}

static tw_status add_gradient(tw__gradient *gradient)
{
    if (!gradient->output_grads[0])
        return TW_OK;
    if (gradient->wanted[0])
        gradient->input_grads[0] = tw_retain(gradient->output_grads[0]);
    return give_gathered(gradient, 2, 1);
}

static tw_status sub_gradient(tw__gradient *gradient)
{
    TW_TRY(add_gradient(gradient));
    if (gradient->input_grads[2]) {
        tw_tensor *minus = TW_CALL(Neg, gradient->input_grads[2]);
        tw_release(gradient->input_grads[2]);
        gradient->input_grads[2] = minus;
        return minus ? TW_OK : tw__error_status();
    }
    return TW_OK;
}

TW_OP(
    TensorScatterUpdate, .inputs = "tensor: T, indices: Tindices, updates: T", .outputs = "output: T",
    .attrs = "T: type, Tindices: {int16, int32, int64, uint16}", .shape = tensor_shape, .compute = update_compute,
    .gradient = update_gradient,
    .function =
        "tensor_scatter_nd_update|compat.v1.tensor_scatter_update(tensor: tensor<T>, indices: tensor<int32>, updates: tensor<T>, "
        "name: str = None) -> tensor",
    .doc = "Writes slices over those of a tensor, by index.\n"
           "tensor: the tensor; it is left as it is\n"
           "indices: the last dimension holds an index for each leading dimension of `tensor`\n"
           "updates: the slices, one for each index\n"
           "returns: a new tensor of the same shape\n"
           "example: tf.tensor_scatter_nd_update([1, 2, 3], [[0], [2]], [10, 30]).numpy().tolist()  # [10, 2, 30]");

TW_OP(TensorScatterAdd, .inputs = "tensor: T, indices: Tindices, updates: T", .outputs = "output: T",
      .attrs = "T: type, Tindices: {int32, int64}", .shape = tensor_shape, .compute = add_compute, .gradient = add_gradient,
      .function =
          "tensor_scatter_nd_add|compat.v1.tensor_scatter_add(tensor: tensor<T>, indices: tensor<int32>, updates: tensor<T>, "
          "name: str = None) -> tensor",
      .doc = "Adds slices to those of a tensor, by index.\n"
             "tensor: the tensor; it is left as it is\n"
             "indices: the last dimension holds an index for each leading dimension of `tensor`\n"
             "updates: the slices, one for each index\n"
             "returns: a new tensor of the same shape\n"
             "example: tf.tensor_scatter_nd_add([1, 2, 3], [[0], [2]], [10, 30]).numpy().tolist()  # [11, 2, 33]");

TW_OP(TensorScatterSub, .inputs = "tensor: T, indices: Tindices, updates: T", .outputs = "output: T",
      .attrs = "T: type, Tindices: {int32, int64}", .shape = tensor_shape, .compute = sub_compute, .gradient = sub_gradient,
      .function =
          "tensor_scatter_nd_sub|compat.v1.tensor_scatter_sub(tensor: tensor<T>, indices: tensor<int32>, updates: tensor<T>, "
          "name: str = None) -> tensor",
      .doc = "Subtracts slices from those of a tensor, by index.\n"
             "tensor: the tensor; it is left as it is\n"
             "indices: the last dimension holds an index for each leading dimension of `tensor`\n"
             "updates: the slices, one for each index\n"
             "returns: a new tensor of the same shape");

/* ---- the greater or the smaller ---- */

static tw_status max_compute(tw__kernel *kernel)
{
    return into_copy(kernel, false, TW__COMBINE_MAX);
}

static tw_status min_compute(tw__kernel *kernel)
{
    return into_copy(kernel, false, TW__COMBINE_MIN);
}

/* Those that give the result share its gradient. */
static tw_status extreme_gradient(tw__gradient *gradient)
{
    TW_TEMPS(t);
    tw_tensor *x = gradient->inputs[0], *indices = gradient->inputs[1], *updates = gradient->inputs[2],
              *out = gradient->outputs[0], *dy = gradient->output_grads[0];
    if (!dy)
        return TW_OK;
    tw_tensor *from_x = tw__temp_cast(t, TW_TEMP(Equal, x, out), x->dtype);
    tw_tensor *from_updates = tw__temp_cast(t, TW_TEMP(Equal, updates, TW_TEMP(GatherNd, out, indices)), x->dtype);
    tw_tensor *shape = tw__temp_shape(t, x, indices->dtype);
    tw_tensor *shares = TW_TEMP(AddV2, from_x, TW_TEMP(ScatterNd, indices, from_updates, shape));
    tw_tensor *part = TW_TEMP(RealDiv, dy, shares);
    if (gradient->wanted[0])
        gradient->input_grads[0] = TW_CALL(RealDiv, TW_TEMP(Mul, dy, from_x), shares);
    if (gradient->wanted[2])
        gradient->input_grads[2] = TW_CALL(Mul, TW_TEMP(GatherNd, part, indices), from_updates);
    bool made = (gradient->input_grads[0] || !gradient->wanted[0]) && (gradient->input_grads[2] || !gradient->wanted[2]);
    return made ? TW_OK : tw__error_status();
}

TW_OP(TensorScatterMax, .inputs = "tensor: T, indices: Tindices, updates: T", .outputs = "output: T",
      .attrs = "T: type, Tindices: {int32, int64}", .shape = tensor_shape, .compute = max_compute, .gradient = extreme_gradient,
      .function = "tensor_scatter_nd_max(tensor: tensor<T>, indices: tensor<int32>, updates: "
                  "tensor<T>, name: str = None) -> tensor",
      .doc = "The greater of slices of a tensor and others, by index.\n"
             "tensor: the tensor; it is left as it is\n"
             "indices: the last dimension holds an index for each leading dimension of `tensor`\n"
             "updates: the slices, one for each index\n"
             "returns: a new tensor of the same shape");

TW_OP(TensorScatterMin, .inputs = "tensor: T, indices: Tindices, updates: T", .outputs = "output: T",
      .attrs = "T: type, Tindices: {int32, int64}", .shape = tensor_shape, .compute = min_compute, .gradient = extreme_gradient,
      .function = "tensor_scatter_nd_min(tensor: tensor<T>, indices: tensor<int32>, updates: "
                  "tensor<T>, name: str = None) -> tensor",
      .doc = "The smaller of slices of a tensor and others, by index.\n"
             "tensor: the tensor; it is left as it is\n"
             "indices: the last dimension holds an index for each leading dimension of `tensor`\n"
             "updates: the slices, one for each index\n"
             "returns: a new tensor of the same shape");
