/* TensorList ops on single items: making lists, pushing, popping, setting, getting, lengths. */
#include "op/list/list.h"
#include "rows.h"

enum { COUNT_LIMIT = 1 << 28 };

static tw_status make_list(tw__kernel *kernel, bool reserve)
{
    tw_shape shape;
    int64_t number;
    TW_TRY(tw__list_shape_from(kernel->op, kernel->inputs[0], &shape));
    TW_TRY(tw__list_scalar(kernel->op, kernel->inputs[1], reserve ? "num_elements" : "max_num_elements", &number));
    if (reserve && (number < 0 || number > COUNT_LIMIT))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "The num_elements to reserve must be a non negative number, but got %lld",
                          (long long)number);
    tw__list *list = tw__list_new(TW_ATTR(kernel, "element_dtype")->type, &shape, reserve ? number : 0);
    if (list && !reserve)
        list->limit = number;
    return tw__list_output(kernel, 0, list);
}

static tw_status empty_compute(tw__kernel *kernel)
{
    return make_list(kernel, false);
}

static tw_status reserve_compute(tw__kernel *kernel)
{
    return make_list(kernel, true);
}

static tw_status check_item(tw__kernel *kernel, const tw__list *list, const tw_tensor *item)
{
    TW_TRY(tw__list_check_dtype(list, item->dtype));
    if (!tw__shape_compatible(&list->shape, &item->shape))
        return tw__fail(TW_INVALID_ARGUMENT,
                        "Tried to %s a tensor with incompatible shape to a list. Op element shape: %s list shape: %s",
                        kernel->input_count == 2 ? "append" : "set", tw__shape_text(&item->shape), tw__shape_text(&list->shape));
    return TW_OK;
}

static tw_status push_compute(tw__kernel *kernel)
{
    tw__list *list = tw__list_of(kernel->op, kernel->inputs[0]);
    if (!list)
        return TW_INVALID_ARGUMENT;
    TW_TRY(check_item(kernel, list, kernel->inputs[1]));
    if (list->limit >= 0 && list->count >= list->limit)
        return tw__fail(TW_INVALID_ARGUMENT, "Tried to push item into a full list list size: %lld max_num_elements: %lld",
                        (long long)list->count, (long long)list->limit);
    return tw__list_output(kernel, 0, tw__list_with(list, list->count, kernel->inputs[1]));
}

/* Item i of a list as an output of that op: itself, or zeros. */
static tw_status give_item(tw__kernel *kernel, int output, tw__list *list, int64_t index, const tw_tensor *shape_tensor)
{
    TW_TRY(tw__list_check_dtype(list, TW_ATTR(kernel, "element_dtype")->type));
    tw_tensor *item = tw__list_get(list, index);
    if (item) {
        tw_tensor *view = tw__tensor_view(item, &item->shape); /* tapes tell tensors apart by address */
        tw_release(item);
        return tw__output_take(kernel, output, view);
    }
    tw_shape given, shape;
    TW_TRY(tw__list_shape_from(kernel->op, shape_tensor, &given));
    TW_TRY(tw__list_item_shape(list, &given, &shape));
    if (!tw__shape_known(&shape))
        return tw__fail(
            TW_INVALID_ARGUMENT,
            "Trying to read an uninitialized tensor but element_shape is not fully defined: %s and no list element is set.",
            tw__shape_text(&shape));
    return tw__output_take(kernel, output, tw__list_zeros(list->dtype, &shape));
}

static tw_status pop_compute(tw__kernel *kernel)
{
    tw__list *list = tw__list_of(kernel->op, kernel->inputs[0]);
    if (!list)
        return TW_INVALID_ARGUMENT;
    if (list->count == 0)
        return tw__fail(TW_INVALID_ARGUMENT, "Trying to pop from an empty list.");
    TW_TRY(give_item(kernel, 1, list, list->count - 1, kernel->inputs[1]));
    return tw__list_output(kernel, 0, tw__list_resized(list, list->count - 1));
}

static tw_status set_compute(tw__kernel *kernel)
{
    tw__list *list = tw__list_of(kernel->op, kernel->inputs[0]);
    int64_t index;
    if (!list)
        return TW_INVALID_ARGUMENT;
    TW_TRY(tw__list_scalar(kernel->op, kernel->inputs[1], "index", &index));
    TW_TRY(check_item(kernel, list, kernel->inputs[2]));
    bool resize = TW_ATTR(kernel, "resize_if_index_out_of_bounds")->b;
    if (index < 0 || index >= (resize ? COUNT_LIMIT : list->count))
        return tw__fail(TW_INVALID_ARGUMENT, "Trying to modify element %lld in a list with %lld elements.", (long long)index,
                        (long long)list->count);
    return tw__list_output(kernel, 0, tw__list_with(list, index, kernel->inputs[2]));
}

static tw_status get_compute(tw__kernel *kernel)
{
    tw__list *list = tw__list_of(kernel->op, kernel->inputs[0]);
    int64_t index;
    if (!list)
        return TW_INVALID_ARGUMENT;
    TW_TRY(tw__list_scalar(kernel->op, kernel->inputs[1], "index", &index));
    if (index < 0 || index >= list->count)
        return tw__fail(TW_INVALID_ARGUMENT, "Trying to access element %lld in a list with %lld elements.", (long long)index,
                        (long long)list->count);
    return give_item(kernel, 0, list, index, kernel->inputs[2]);
}

static tw_status give_int(tw__kernel *kernel, int64_t value)
{
    return tw__output_take(kernel, 0, tw_tensor_int((int32_t)value));
}

static tw_status length_compute(tw__kernel *kernel)
{
    tw__list *list = tw__list_of(kernel->op, kernel->inputs[0]);
    return list ? give_int(kernel, list->count) : TW_INVALID_ARGUMENT;
}

static tw_status resize_compute(tw__kernel *kernel)
{
    tw__list *list = tw__list_of(kernel->op, kernel->inputs[0]);
    int64_t size;
    if (!list)
        return TW_INVALID_ARGUMENT;
    TW_TRY(tw__list_scalar(kernel->op, kernel->inputs[1], "size", &size));
    if (size < 0 || size > COUNT_LIMIT)
        return tw__fail(TW_INVALID_ARGUMENT, "TensorListSlice expects size to be non-negative. Got: %lld", (long long)size);
    return tw__list_output(kernel, 0, tw__list_resized(list, size));
}

static tw_status element_shape_compute(tw__kernel *kernel)
{
    tw__list *list = tw__list_of(kernel->op, kernel->inputs[0]);
    if (!list)
        return TW_INVALID_ARGUMENT;
    tw_dtype dtype = TW_ATTR(kernel, "shape_type")->type;
    if (list->shape.rank >= 0)
        return tw__output_take(kernel, 0, tw__tensor_of_shape(&list->shape, dtype));
    return tw__output_take(kernel, 0, dtype == TW_INT64 ? tw_tensor_int64(-1) : tw_tensor_int(-1));
}

static tw_status element_shape_shape(tw__inference *inference)
{
    inference->out_shapes[0] = TW_UNKNOWN_SHAPE;
    return TW_OK;
}

/* Output `out` is an item, whose shape input `from` tells if it is known. */
static tw_status item_shape(tw__inference *inference, int out, int from)
{
    if (inference->values[from])
        TW_TRY(tw__list_shape_from(inference->op, inference->values[from], &inference->out_shapes[out]));
    return TW_OK;
}

static tw_status get_shape(tw__inference *inference)
{
    return item_shape(inference, 0, 2);
}

static tw_status pop_shape(tw__inference *inference)
{
    inference->out_shapes[0] = TW_SCALAR;
    return item_shape(inference, 1, 1);
}

TW_OP(EmptyTensorList, .inputs = "element_shape: shape_type, max_num_elements: int32", .outputs = "handle: variant",
      .attrs = "element_dtype: type, shape_type: {int32, int64}", .shape = tw_shape_scalar, .compute = empty_compute,
      .makes_outputs = true, .doc = "An empty list of tensors.");

TW_OP(TensorListReserve, .inputs = "element_shape: shape_type, num_elements: int32", .outputs = "handle: variant",
      .attrs = "element_dtype: type, shape_type: {int32, int64}", .shape = tw_shape_scalar, .compute = reserve_compute,
      .makes_outputs = true, .doc = "A list of tensors that are not set yet.");

TW_OP(TensorListPushBack, .inputs = "input_handle: variant, tensor: element_dtype", .outputs = "output_handle: variant",
      .attrs = "element_dtype: type", .shape = tw_shape_scalar, .compute = push_compute, .gradient = tw__list_push_gradient,
      .makes_outputs = true, .doc = "The list with one more tensor at its end.");

TW_OP(TensorListPopBack, .inputs = "input_handle: variant, element_shape: int32",
      .outputs = "output_handle: variant, tensor: element_dtype", .attrs = "element_dtype: type", .shape = pop_shape,
      .compute = pop_compute, .gradient = tw__list_pop_gradient, .makes_outputs = true,
      .doc = "The list without its last tensor, and that tensor.");

TW_OP(TensorListSetItem, .inputs = "input_handle: variant, index: int32, item: element_dtype",
      .outputs = "output_handle: variant", .attrs = "element_dtype: type, resize_if_index_out_of_bounds: bool = false",
      .shape = tw_shape_scalar, .compute = set_compute, .gradient = tw__list_set_gradient, .makes_outputs = true,
      .doc = "The list with another tensor at an index.");

TW_OP(TensorListGetItem, .inputs = "input_handle: variant, index: int32, element_shape: int32", .outputs = "item: element_dtype",
      .attrs = "element_dtype: type", .shape = get_shape, .compute = get_compute, .gradient = tw__list_get_gradient,
      .makes_outputs = true, .doc = "The tensor at an index; zeros if none was set.");

TW_OP(TensorListLength, .inputs = "input_handle: variant", .outputs = "length: int32", .shape = tw_shape_scalar,
      .compute = length_compute, .makes_outputs = true, .doc = "How many tensors the list has.");

TW_OP(TensorListResize, .inputs = "input_handle: variant, size: int32", .outputs = "output_handle: variant",
      .shape = tw_shape_scalar, .compute = resize_compute, .gradient = tw__list_resize_gradient, .makes_outputs = true,
      .doc = "The list with that many tensors.");

TW_OP(TensorListElementShape, .inputs = "input_handle: variant", .outputs = "element_shape: shape_type",
      .attrs = "shape_type: {int32, int64}", .shape = element_shape_shape, .compute = element_shape_compute,
      .makes_outputs = true, .doc = "The shape that the list's tensors have, as far as the list says it.");
