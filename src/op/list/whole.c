/* TensorList ops that take a list apart or put it together: stacks, rows of a tensor, concatenations. */
#include "op/list/list.h"
#include "rows.h"

enum { COUNT_LIMIT = 1 << 28 };

/* Room for one more dimension in front. */
static tw_status in_front(const tw_op *op, const tw_shape *item, int64_t count, tw_shape *out)
{
    if (item->rank < 0) {
        *out = TW_UNKNOWN_SHAPE;
        return TW_OK;
    }
    if (item->rank >= TW_MAX_RANK)
        return tw__fail(TW_UNIMPLEMENTED, "%s: more than %d dimensions", op->name, TW_MAX_RANK);
    out->rank = item->rank + 1;
    out->dims[0] = count;
    memcpy(out->dims + 1, item->dims, (size_t)item->rank * sizeof *item->dims);
    return TW_OK;
}

static tw_shape behind_first(const tw_shape *shape)
{
    tw_shape rest = TW_UNKNOWN_SHAPE;
    if (shape->rank < 1)
        return rest;
    rest.rank = shape->rank - 1;
    memcpy(rest.dims, shape->dims + 1, (size_t)rest.rank * sizeof *rest.dims);
    return rest;
}

/* Items (all, or those of `indices`) stacked; places without a tensor are zeros. */
static tw_status stack(tw__kernel *kernel, tw__list *list, const int32_t *indices, int64_t count)
{
    tw_shape given, item_shape, shape;
    TW_TRY(tw__list_check_dtype(list, TW_ATTR(kernel, "element_dtype")->type));
    TW_TRY(tw__list_shape_from(kernel->op, kernel->inputs[kernel->input_count - 1], &given));
    TW_TRY(tw__list_item_shape(list, &given, &item_shape));
    if (!tw__shape_known(&item_shape)) {
        const char *what = indices       ? "gather uninitialized tensors from a list with"
                           : list->count ? "stack list which only contains uninitialized tensors and has a"
                                         : "stack elements of an empty list with";
        return tw__fail(TW_INVALID_ARGUMENT, "Tried to %s non-fully-defined element_shape: %s", what,
                        tw__shape_text(&item_shape));
    }
    TW_TRY(in_front(kernel->op, &item_shape, count, &shape));
    tw_auto tw_tensor *out = tw__list_zeros(list->dtype, &shape);
    TW_NEED(out);
    int64_t size = count ? out->count / count : 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t index = indices ? indices[i] : i;
        if (index < 0 || index >= list->count)
            return tw__fail(TW_INVALID_ARGUMENT, "Index %lld out o range; list only has %lld elements.", (long long)index,
                            (long long)list->count);
        tw_auto tw_tensor *item = tw__list_get(list, index);
        if (item)
            TW_TRY(tw__list_copy_elements(out, i * size, item, 0, size));
    }
    return tw__output_take(kernel, 0, TW_TAKE(out));
}

static tw_status stack_compute(tw__kernel *kernel)
{
    tw__list *list = tw__list_of(kernel->op, kernel->inputs[0]);
    if (!list)
        return TW_INVALID_ARGUMENT;
    int64_t expected = TW_ATTR(kernel, "num_elements")->i;
    if (expected >= 0 && expected != list->count)
        return tw__fail(TW_INVALID_ARGUMENT, "Operation expected a list with %lld elements but got a list with %lld elements.",
                        (long long)expected, (long long)list->count);
    return stack(kernel, list, NULL, list->count);
}

static tw_status gather_compute(tw__kernel *kernel)
{
    tw__list *list = tw__list_of(kernel->op, kernel->inputs[0]);
    return list ? stack(kernel, list, kernel->inputs[1]->data, kernel->inputs[1]->count) : TW_INVALID_ARGUMENT;
}

/* Row i of a tensor as a tensor of its own. */
static tw_tensor *row_of(tw_tensor *tensor, int64_t row)
{
    tw_shape shape = behind_first(&tensor->shape);
    int64_t size;
    return tw__shape_count(&shape, &size) == TW_OK ? tw__tensor_slice_view(tensor, &shape, row * size) : NULL;
}

/* The rows of a tensor at `indices` (NULL: in order) of a list, which is taken and given as the output. */
static tw_status scatter(tw__kernel *kernel, tw__list *list, tw_tensor *tensor, const int32_t *indices)
{
    for (int64_t i = 0; list && i < tensor->shape.dims[0]; i++) {
        tw_tensor *row = row_of(tensor, i);
        int64_t index = indices ? indices[i] : i;
        tw__list *next = NULL;
        if (index < 0 || index >= COUNT_LIMIT)
            tw__fail(TW_INVALID_ARGUMENT, "Indices in %s must all be non-negative, got %lld", kernel->op->name, (long long)index);
        else if (row)
            next = tw__list_with(list, index, row);
        tw_release(row);
        tw_release(list);
        list = next;
    }
    return list ? tw__list_output(kernel, 0, list) : tw__error_status();
}

static tw_status need_rows(const tw_tensor *tensor, const tw_tensor *indices)
{
    if (tensor->shape.rank < 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Tensor must be at least a vector, but saw shape: %s",
                        tw__shape_text(&tensor->shape));
    if (indices && indices->shape.rank != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected indices to be a vector, but received shape: %s",
                        tw__shape_text(&indices->shape));
    if (indices && indices->count != tensor->shape.dims[0])
        return tw__fail(TW_INVALID_ARGUMENT, "Expected len(indices) == tensor.shape[0], but saw: %lld vs. %lld",
                        (long long)indices->count, (long long)tensor->shape.dims[0]);
    return TW_OK;
}

static tw_status new_list_shape(tw__kernel *kernel, const tw_tensor *shape_tensor, const tw_shape *row, tw_shape *shape)
{
    TW_TRY(tw__list_shape_from(kernel->op, shape_tensor, shape));
    if (!tw__shape_compatible(shape, row))
        return tw__fail(TW_INVALID_ARGUMENT, "Specified a list with shape %s from a tensor with shape %s", tw__shape_text(shape),
                        tw__shape_text(row));
    return TW_OK;
}

static tw_status from_tensor_compute(tw__kernel *kernel)
{
    tw_tensor *tensor = kernel->inputs[0];
    tw_shape shape;
    TW_TRY(need_rows(tensor, NULL));
    tw_shape row = behind_first(&tensor->shape);
    TW_TRY(new_list_shape(kernel, kernel->inputs[1], &row, &shape));
    return scatter(kernel, tw__list_new(tensor->dtype, &shape, tensor->shape.dims[0]), tensor, NULL);
}

static tw_status scatter_compute(tw__kernel *kernel)
{
    tw_tensor *tensor = kernel->inputs[0], *indices = kernel->inputs[1];
    tw_shape shape;
    int64_t count;
    TW_TRY(need_rows(tensor, indices));
    tw_shape row = behind_first(&tensor->shape);
    TW_TRY(new_list_shape(kernel, kernel->inputs[2], &row, &shape));
    TW_TRY(tw__list_scalar(kernel->op, kernel->inputs[3], "num_elements", &count));
    if (count < -1 || count > COUNT_LIMIT)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "expects num_elements >= -1, found: %lld", (long long)count);
    for (int64_t i = 0; count >= 0 && i < indices->count; i++) {
        if (((int32_t *)indices->data)[i] >= count)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Trying to scatter at index %d in list with size %lld",
                              ((int32_t *)indices->data)[i], (long long)count);
    }
    return scatter(kernel, tw__list_new(tensor->dtype, &shape, count < 0 ? 0 : count), tensor, indices->data);
}

static tw_status scatter_into_compute(tw__kernel *kernel)
{
    tw__list *list = tw__list_of(kernel->op, kernel->inputs[0]);
    if (!list)
        return TW_INVALID_ARGUMENT;
    TW_TRY(need_rows(kernel->inputs[1], kernel->inputs[2]));
    TW_TRY(tw__list_check_dtype(list, kernel->inputs[1]->dtype));
    return scatter(kernel, tw_retain(list), kernel->inputs[1], kernel->inputs[2]->data);
}

/* ---- concatenating and splitting ---- */

static tw_status concat_compute(tw__kernel *kernel)
{
    tw__list *list = tw__list_of(kernel->op, kernel->inputs[0]);
    if (!list)
        return TW_INVALID_ARGUMENT;
    TW_TRY(tw__list_check_dtype(list, TW_ATTR(kernel, "element_dtype")->type));
    const tw_tensor *leading = kernel->inputs[2];
    tw_shape given, rest, total;
    TW_TRY(tw__list_shape_from(kernel->op, kernel->inputs[1], &given));
    if (!tw__list_merge_shapes(&given, &list->shape, &given))
        return tw__list_unequal(&given, &list->shape);
    rest = behind_first(&given);
    tw_auto tw_tensor *lengths = tw__tensor_empty(TW_INT64, &TW_SHAPE(list->count));
    TW_NEED(lengths);
    int64_t rows = 0, at = 0;
    for (int64_t i = 0; i < list->count; i++) {
        tw_auto tw_tensor *item = tw__list_get(list, i);
        int64_t length = item                 ? (item->shape.rank > 0 ? item->shape.dims[0] : -1)
                         : i < leading->count ? ((int64_t *)leading->data)[i]
                                              : (given.rank > 0 ? given.dims[0] : -1);
        if (length < 0)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                              "Concat requires elements to be at least vectors, found scalars or nothing instead: element %lld",
                              (long long)i);
        tw_shape own = item ? behind_first(&item->shape) : rest;
        if (!tw__list_merge_shapes(&rest, &own, &rest))
            return tw__list_unequal(&rest, &own);
        ((int64_t *)lengths->data)[i] = length;
        rows += length;
    }
    if (!tw__shape_known(&rest))
        return tw__fail(
            TW_INVALID_ARGUMENT,
            "All except the first dimension must be fully defined when concating an empty tensor list. element_shape: %s",
            tw__shape_text(&given));
    TW_TRY(in_front(kernel->op, &rest, rows, &total));
    tw_auto tw_tensor *out = tw__list_zeros(list->dtype, &total);
    TW_NEED(out);
    for (int64_t i = 0; i < list->count; i++) {
        tw_auto tw_tensor *item = tw__list_get(list, i);
        int64_t count = rows ? out->count / rows * ((int64_t *)lengths->data)[i] : 0;
        if (item)
            TW_TRY(tw__list_copy_elements(out, at, item, 0, count));
        at += count;
    }
    TW_TRY(tw__output_take(kernel, 0, TW_TAKE(out)));
    return tw__output_take(kernel, 1, TW_TAKE(lengths));
}

static tw_status split_compute(tw__kernel *kernel)
{
    tw_tensor *tensor = kernel->inputs[0], *lengths = kernel->inputs[2];
    tw_shape shape;
    TW_TRY(need_rows(tensor, NULL));
    TW_TRY(tw__list_shape_from(kernel->op, kernel->inputs[1], &shape));
    const int64_t *counts = lengths->data;
    int64_t sum = 0;
    for (int64_t i = 0; i < lengths->count; i++) {
        if (counts[i] < 0 || counts[i] > tensor->shape.dims[0] - sum)
            return tw__fail(TW_INVALID_ARGUMENT, "Attempting to slice [%lld, %lld] from tensor with length %lld", (long long)sum,
                            (long long)(sum + counts[i]), (long long)tensor->shape.dims[0]);
        sum += counts[i];
    }
    if (sum != tensor->shape.dims[0])
        return tw__fail(TW_INVALID_ARGUMENT, "Unused values in tensor. Length of tensor: %lld Values used: %lld",
                        (long long)tensor->shape.dims[0], (long long)sum);
    tw__list *list = tw__list_new(tensor->dtype, &shape, lengths->count);
    int64_t row = tensor->shape.dims[0] ? tensor->count / tensor->shape.dims[0] : 0, at = 0;
    for (int64_t i = 0; list && i < lengths->count; i++) {
        tw_shape part = tensor->shape;
        part.dims[0] = counts[i];
        tw_tensor *piece = tw__tensor_slice_view(tensor, &part, at * row);
        tw__list *next = piece ? tw__list_with(list, i, piece) : NULL;
        tw_release(piece);
        tw_release(list);
        list = next;
        at += counts[i];
    }
    return list ? tw__list_output(kernel, 0, list) : tw__error_status();
}

/* ---- shapes ---- */

static tw_status rows_shape(tw__inference *inference, int64_t count)
{
    int last = inference->input_count - 1;
    tw_shape item = TW_UNKNOWN_SHAPE;
    if (inference->values[last])
        TW_TRY(tw__list_shape_from(inference->op, inference->values[last], &item));
    return in_front(inference->op, &item, count, &inference->out_shapes[0]);
}

static tw_status stack_shape(tw__inference *inference)
{
    return rows_shape(inference, TW_ATTR(inference, "num_elements")->i);
}

static tw_status gather_shape(tw__inference *inference)
{
    return rows_shape(inference, inference->shapes[1]->rank == 1 ? inference->shapes[1]->dims[0] : -1);
}

static tw_status concat_shape(tw__inference *inference)
{
    inference->out_shapes[1] = (tw_shape){ .rank = 1, .dims = { -1 } };
    if (!inference->values[1])
        return TW_OK;
    TW_TRY(tw__list_shape_from(inference->op, inference->values[1], &inference->out_shapes[0]));
    if (inference->out_shapes[0].rank > 0)
        inference->out_shapes[0].dims[0] = -1;
    return TW_OK;
}

static tw_status split_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank_at_least(inference, 0, 1));
    TW_TRY(tw__need_rank(inference, 2, 1));
    return tw_shape_scalar(inference);
}

TW_OP(TensorListStack, .inputs = "input_handle: variant, element_shape: int32", .outputs = "tensor: element_dtype",
      .attrs = "element_dtype: type, num_elements: int = -1", .shape = stack_shape, .compute = stack_compute,
      .gradient = tw__list_stack_gradient, .makes_outputs = true, .doc = "The list's tensors one above the other.");

TW_OP(TensorListFromTensor, .inputs = "tensor: element_dtype, element_shape: shape_type", .outputs = "output_handle: variant",
      .attrs = "element_dtype: type, shape_type: {int32, int64}", .shape = tw_shape_scalar, .compute = from_tensor_compute,
      .gradient = tw__list_from_tensor_gradient, .makes_outputs = true, .doc = "The rows of a tensor as a list.");

TW_OP(TensorListGather, .inputs = "input_handle: variant, indices: int32, element_shape: int32",
      .outputs = "values: element_dtype", .attrs = "element_dtype: type", .shape = gather_shape, .compute = gather_compute,
      .gradient = tw__list_gather_gradient, .makes_outputs = true,
      .doc = "The list's tensors at those indices, one above the other.");

TW_OP(TensorListScatterV2, .inputs = "tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32",
      .outputs = "output_handle: variant", .attrs = "element_dtype: type, shape_type: {int32, int64}", .shape = tw_shape_scalar,
      .compute = scatter_compute, .gradient = tw__list_scatter_gradient, .makes_outputs = true,
      .doc = "A list with the rows of a tensor at those indices.");

TW_OP(TensorListScatterIntoExistingList, .inputs = "input_handle: variant, tensor: element_dtype, indices: int32",
      .outputs = "output_handle: variant", .attrs = "element_dtype: type", .shape = tw_shape_scalar,
      .compute = scatter_into_compute, .gradient = tw__list_scatter_into_gradient, .makes_outputs = true,
      .doc = "The list with the rows of a tensor at those indices.");

TW_OP(TensorListConcatV2, .inputs = "input_handle: variant, element_shape: shape_type, leading_dims: int64",
      .outputs = "tensor: element_dtype, lengths: int64", .attrs = "element_dtype: type, shape_type: {int32, int64}",
      .shape = concat_shape, .compute = concat_compute, .gradient = tw__list_concat_gradient, .makes_outputs = true,
      .doc = "The list's tensors one behind the other, and how many rows each has.");

TW_OP(TensorListSplit, .inputs = "tensor: element_dtype, element_shape: shape_type, lengths: int64",
      .outputs = "output_handle: variant", .attrs = "element_dtype: type, shape_type: {int32, int64}", .shape = split_shape,
      .compute = split_compute, .gradient = tw__list_split_gradient, .makes_outputs = true,
      .doc = "A list of pieces of a tensor with that many rows each.");
