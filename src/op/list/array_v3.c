/* TensorArrays and stacks of TensorFlow 1: resources that ops change.
 *
 * An array is a list (list.h) that writes replace; `flow`, a number that nobody reads, orders the ops. A gradient's array belongs
 * to the array it is of, one per source, and adds up what is written twice. */
#include "op/list/list.h"
#include "rows.h"

enum { COUNT_LIMIT = 1 << 28 };

typedef struct array_v3 {
    tw_object object;
    tw__list *list;
    tw_shape shape; /* of every item; may be partial */
    bool grows, clears, adds, closed, same;
    bool *cleared; /* by item: it was read */
    size_t cleared_capacity;
    struct array_v3 **gradients; /* references */
    char **sources;
    size_t gradient_count, gradient_capacity, source_capacity;
} array_v3;

static void array_destroy(void *self)
{
    array_v3 *array = self;
    tw_release(array->list);
    tw__free(array->cleared);
    for (size_t i = 0; i < array->gradient_count; i++) {
        tw_release(array->gradients[i]);
        tw__free(array->sources[i]);
    }
    tw__free(array->gradients);
    tw__free(array->sources);
}

static const tw_class array_class = { .name = "TensorArrayV3", .size = sizeof(array_v3), .destroy = array_destroy };

static array_v3 *array_of(const tw__kernel *kernel)
{
    tw_object *object = tw__tensor_object(kernel->inputs[0]);
    if (!tw__is(object, &array_class)) {
        TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the argument handle is no TensorArray");
        return NULL;
    }
    array_v3 *array = (array_v3 *)object;
    if (array->closed) {
        TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "TensorArray has already been closed.");
        return NULL;
    }
    return array;
}

static tw_status give_flow(tw__kernel *kernel, int output)
{
    return tw__output_take(kernel, output, tw_tensor_float(0));
}

static tw_status resize(array_v3 *array, int64_t count)
{
    int64_t old = array->list->count;
    TW_TRY(TW_GROW(array->cleared, array->cleared_capacity, (size_t)count + 1));
    for (int64_t i = old; i < count; i++)
        array->cleared[i] = false;
    tw__list *list = tw__list_resized(array->list, count);
    if (!list)
        return tw__error_status();
    tw_release(array->list);
    array->list = list;
    return TW_OK;
}

static array_v3 *array_new(tw_dtype dtype, const tw_shape *shape, int64_t count)
{
    array_v3 *array = tw__object_new(&array_class);
    if (!array)
        return NULL;
    array->shape = *shape;
    array->list = tw__list_new(dtype, &TW_UNKNOWN_SHAPE, 0);
    if (array->list && resize(array, count) == TW_OK)
        return array;
    tw_release(array);
    return NULL;
}

static tw_status give_array(tw__kernel *kernel, array_v3 *array)
{
    tw_tensor *handle = tw__tensor_of_object(TW_RESOURCE, array);
    TW_TRY(handle ? tw__output_take(kernel, 0, handle) : tw__error_status());
    return give_flow(kernel, 1);
}

static tw_status array_compute(tw__kernel *kernel)
{
    int64_t count;
    TW_TRY(tw__list_scalar(kernel->op, kernel->inputs[0], "size", &count));
    if (count < 0 || count > COUNT_LIMIT)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Size should be >= 0, got %lld.", (long long)count);
    tw_auto array_v3 *array = array_new(TW_ATTR(kernel, "dtype")->type, TW_ATTR(kernel, "element_shape")->shape, count);
    if (!array)
        return tw__error_status();
    array->grows = TW_ATTR(kernel, "dynamic_size")->b;
    array->clears = TW_ATTR(kernel, "clear_after_read")->b;
    array->same = TW_ATTR(kernel, "identical_element_shapes")->b;
    tw_status status = give_array(kernel, array);
    return status;
}

static tw_status write_item(const tw__kernel *kernel, array_v3 *array, int64_t index, tw_tensor *value)
{
    if (value->dtype != array->list->dtype)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "TensorArray dtype is %s but Op is trying to write dtype %s.",
                          tw__dtype_text(array->list->dtype), tw__dtype_text(value->dtype));
    if (!tw__shape_compatible(&array->shape, &value->shape))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "Could not write to TensorArray index %lld because the value shape is %s which is incompatible "
                          "with the TensorArray's inferred element shape: %s (consider setting infer_shape=False).",
                          (long long)index, tw__shape_text(&value->shape), tw__shape_text(&array->shape));
    if (index < 0 || index >= (array->grows ? COUNT_LIMIT : array->list->count))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "Tried to write to index %lld but array is not resizeable and size is: %lld", (long long)index,
                          (long long)array->list->count);
    if (index >= array->list->count)
        TW_TRY(resize(array, index + 1));
    tw_auto tw_tensor *old = tw__list_get(array->list, index), *sum = NULL;
    if (old && !array->adds)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "Could not write to TensorArray index %lld because it has already been written to.", (long long)index);
    if (old && !(sum = tw__list_sum(kernel->op, old, value)))
        return tw__error_status();
    if (array->same)
        array->shape = value->shape;
    tw__list *list = tw__list_with(array->list, index, sum ? sum : value);
    if (!list)
        return tw__error_status();
    tw_release(array->list);
    array->list = list;
    return TW_OK;
}

static tw_status write_compute(tw__kernel *kernel)
{
    array_v3 *array = array_of(kernel);
    int64_t index;
    if (!array)
        return TW_INVALID_ARGUMENT;
    TW_TRY(tw__list_scalar(kernel->op, kernel->inputs[1], "index", &index));
    TW_TRY(write_item(kernel, array, index, kernel->inputs[2]));
    return give_flow(kernel, 0);
}

/* Item i: itself, or zeros in an array of gradients. A new reference. */
static tw_tensor *read_item(const tw__kernel *kernel, array_v3 *array, int64_t index)
{
    if (index < 0 || index >= array->list->count) {
        TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Tried to read from index %lld but array size is: %lld", (long long)index,
                   (long long)array->list->count);
        return NULL;
    }
    if (array->cleared[index]) {
        TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                   "Could not read index %lld twice because it was cleared after a previous read (perhaps try setting "
                   "clear_after_read = false?)",
                   (long long)index);
        return NULL;
    }
    tw_tensor *item = tw__list_get(array->list, index);
    tw_shape shape = array->shape;
    for (int64_t i = 0; !item && !tw__shape_known(&shape) && i < array->list->count; i++) {
        tw_auto tw_tensor *other = tw__list_get(array->list, i);
        if (other && array->adds)
            shape = other->shape;
    }
    if (!item && tw__shape_known(&shape))
        item = tw__list_zeros(array->list->dtype, &shape);
    else if (!item)
        TW_OP_FAIL(
            kernel, TW_INVALID_ARGUMENT,
            "Could not read from TensorArray index %lld.  Furthermore, the element shape is not fully defined: %s.  It is "
            "possible you are working with a resizeable TensorArray and stop_gradients is not allowing the gradients to be written.  If you set the "
            "full element_shape property on the forward TensorArray, the proper all-zeros tensor will be returned instead of incurring this error.",
            (long long)index, tw__shape_text(&shape));
    array->cleared[index] = item && array->clears;
    return item;
}

static tw_status read_compute(tw__kernel *kernel)
{
    array_v3 *array = array_of(kernel);
    int64_t index;
    if (!array)
        return TW_INVALID_ARGUMENT;
    TW_TRY(tw__list_scalar(kernel->op, kernel->inputs[1], "index", &index));
    TW_TRY(tw__list_check_dtype(array->list, TW_ATTR(kernel, "dtype")->type));
    tw_tensor *item = read_item(kernel, array, index);
    return item ? tw__output_take(kernel, 0, item) : tw__error_status();
}

/* ---- several items ---- */

static tw_status gather_compute(tw__kernel *kernel)
{
    array_v3 *array = array_of(kernel);
    const tw_tensor *indices = kernel->inputs[1];
    if (!array)
        return TW_INVALID_ARGUMENT;
    TW_TRY(tw__list_check_dtype(array->list, TW_ATTR(kernel, "dtype")->type));
    tw_shape shape = *TW_ATTR(kernel, "element_shape")->shape;
    tw_tensor *output = NULL;
    if (indices->count == 0) {
        if (!tw__shape_known(&shape) && !tw__shape_known(&array->shape))
            return TW_OP_FAIL(
                kernel, TW_UNIMPLEMENTED,
                "TensorArray has size zero, but element shape %s is not fully defined. Currently only static shapes "
                "are supported when packing zero-size TensorArrays.",
                tw__shape_text(&shape));
        shape = tw__shape_known(&shape) ? shape : array->shape;
    }
    for (int64_t i = 0; i < indices->count || !output; i++) {
        tw_auto tw_tensor *item = i < indices->count ? read_item(kernel, array, tw_tensor_int_at(indices, i)) : NULL;
        if (i < indices->count && !item)
            return tw__error_status();
        if (!output) {
            tw_shape element = item ? item->shape : shape, whole = { .rank = element.rank + 1 };
            if (whole.rank > TW_MAX_RANK)
                return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "items of shape %s", tw__shape_text(&element));
            whole.dims[0] = indices->count;
            for (int k = 0; k < element.rank; k++)
                whole.dims[k + 1] = element.dims[k];
            shape = element;
            if (!(output = tw__output(kernel, 0, &whole)))
                return tw__error_status();
        }
        if (item && !tw__shape_equal(&item->shape, &shape))
            return tw__list_unequal(&shape, &item->shape);
        if (item)
            TW_TRY(tw__list_copy_elements(output, i * item->count, item, 0, item->count));
    }
    return TW_OK;
}

/* Rows `first` to `first + count` of a tensor. */
static tw_tensor *rows_of(const tw_tensor *value, int64_t first, int64_t count, bool one)
{
    tw_shape shape = { .rank = value->shape.rank - (one ? 1 : 0) };
    int64_t row = value->shape.dims[0] ? value->count / value->shape.dims[0] : 0;
    for (int i = 0; i < shape.rank; i++)
        shape.dims[i] = one ? value->shape.dims[i + 1] : i ? value->shape.dims[i] : count;
    tw_tensor *rows = tw__tensor_empty(value->dtype, &shape);
    if (rows && tw__list_copy_elements(rows, 0, value, first * row, count * row) != TW_OK) {
        tw_release(rows);
        return NULL;
    }
    return rows;
}

static tw_status scatter_compute(tw__kernel *kernel)
{
    array_v3 *array = array_of(kernel);
    const tw_tensor *indices = kernel->inputs[1], *value = kernel->inputs[2];
    if (!array)
        return TW_INVALID_ARGUMENT;
    if (indices->shape.rank != 1 || value->shape.rank < 1 || value->shape.dims[0] != indices->count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Expected len(indices) == values.shape[0], but saw: %lld vs. %s",
                          (long long)indices->count, tw__shape_text(&value->shape));
    for (int64_t i = 0; i < indices->count; i++) {
        tw_auto tw_tensor *row = rows_of(value, i, 1, true);
        TW_TRY(row ? write_item(kernel, array, tw_tensor_int_at(indices, i), row) : tw__error_status());
    }
    return give_flow(kernel, 0);
}

static tw_status split_compute(tw__kernel *kernel)
{
    array_v3 *array = array_of(kernel);
    const tw_tensor *value = kernel->inputs[1], *lengths = kernel->inputs[2];
    if (!array)
        return TW_INVALID_ARGUMENT;
    int64_t total = 0, at = 0;
    for (int64_t i = 0; i < lengths->count; i++) {
        int64_t length = tw_tensor_int_at(lengths, i);
        if (length < 0 || length > COUNT_LIMIT)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "lengths[%lld] is %lld", (long long)i, (long long)length);
        total += length;
    }
    if (value->shape.rank < 1 || total != value->shape.dims[0])
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is %lld and value's shape "
                          "is: %s ",
                          (long long)total, tw__shape_text(&value->shape));
    if (!array->grows && lengths->count != array->list->count)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          "TensorArray's size is not equal to the size of lengths (%lld vs. %lld), and the TensorArray is not "
                          "marked as dynamically resizeable",
                          (long long)array->list->count, (long long)lengths->count);
    for (int64_t i = 0; i < lengths->count; i++) {
        int64_t length = tw_tensor_int_at(lengths, i);
        tw_auto tw_tensor *rows = rows_of(value, at, length, false);
        TW_TRY(rows ? write_item(kernel, array, i, rows) : tw__error_status());
        at += length;
    }
    return give_flow(kernel, 0);
}

static tw_status concat_items(tw__kernel *kernel, tw_tensor **items, int64_t count)
{
    tw_shape shape = TW_SCALAR;
    tw_tensor *lengths = tw__output(kernel, 1, &(tw_shape){ .rank = 1, .dims = { count } });
    if (!lengths)
        return tw__error_status();
    for (int64_t i = 0; i < count; i++) {
        if (items[i]->shape.rank < 1)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                              "Concat saw a scalar shape at index %lld but requires at least vectors.", (long long)i);
        ((int64_t *)lengths->data)[i] = items[i]->shape.dims[0];
        if (i == 0) {
            shape = items[0]->shape;
            continue;
        }
        tw_shape rest = items[i]->shape;
        rest.dims[0] = shape.dims[0];
        if (!tw__shape_equal(&rest, &shape))
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                              "TensorArray has inconsistent shapes.  Index 0 has shape: %s but index %lld has shape: %s",
                              tw__shape_text(&items[0]->shape), (long long)i, tw__shape_text(&items[i]->shape));
        shape.dims[0] += items[i]->shape.dims[0];
    }
    int64_t at = 0;
    tw_tensor *output = tw__output(kernel, 0, &shape);
    for (int64_t i = 0; output && i < count; i++) {
        TW_TRY(tw__list_copy_elements(output, at, items[i], 0, items[i]->count));
        at += items[i]->count;
    }
    return output ? TW_OK : tw__error_status();
}

static tw_status concat_compute(tw__kernel *kernel)
{
    array_v3 *array = array_of(kernel);
    if (!array)
        return TW_INVALID_ARGUMENT;
    TW_TRY(tw__list_check_dtype(array->list, TW_ATTR(kernel, "dtype")->type));
    int64_t count = array->list->count;
    if (count == 0)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "the TensorArray is empty");
    tw__held tw_tensor **items = tw__held_new((size_t)count);
    TW_NEED(items);
    for (int64_t i = 0; i < count; i++)
        TW_NEED(items[i] = read_item(kernel, array, i));
    return concat_items(kernel, items, count);
}

/* ---- the rest ---- */

static tw_status size_compute(tw__kernel *kernel)
{
    array_v3 *array = array_of(kernel);
    return array ? tw__output_take(kernel, 0, tw_tensor_int((int32_t)array->list->count)) : TW_INVALID_ARGUMENT;
}

static tw_status close_compute(tw__kernel *kernel)
{
    array_v3 *array = array_of(kernel);
    if (!array)
        return TW_INVALID_ARGUMENT;
    array->closed = true;
    return TW_OK;
}

static tw_status gradient_compute(tw__kernel *kernel)
{
    array_v3 *array = array_of(kernel);
    tw_string source = TW_ATTR(kernel, "source")->s;
    if (!array)
        return TW_INVALID_ARGUMENT;
    for (size_t i = 0; i < array->gradient_count; i++) {
        if (strlen(array->sources[i]) == source.size &&
            memcmp(array->sources[i], source.size ? source.data : "", source.size) == 0)
            return give_array(kernel, array->gradients[i]);
    }
    TW_TRY(TW_GROW(array->gradients, array->gradient_capacity, array->gradient_count + 1));
    TW_TRY(TW_GROW(array->sources, array->source_capacity, array->gradient_count + 1));
    char *name = tw__strndup(source.size ? source.data : "", source.size);
    array_v3 *made = name ? array_new(array->list->dtype, &array->shape, array->list->count) : NULL;
    if (!made) {
        tw__free(name);
        return tw__error_status();
    }
    made->adds = true;
    array->sources[array->gradient_count] = name;
    array->gradients[array->gradient_count++] = made;
    array->grows = false;
    return give_array(kernel, made);
}

static tw_status array_shape(tw__inference *inference)
{
    inference->out_shapes[0] = inference->out_shapes[1] = TW_SCALAR;
    return TW_OK;
}

static tw_status element_shape(tw__inference *inference)
{
    inference->out_shapes[0] = TW_UNKNOWN_SHAPE;
    return TW_OK;
}

static tw_status gather_shape(tw__inference *inference)
{
    const tw_shape *element = TW_ATTR(inference, "element_shape")->shape;
    tw_shape *out = &inference->out_shapes[0];
    if (element->rank < 0 || element->rank >= TW_MAX_RANK)
        return TW_OK;
    *out = (tw_shape){ .rank = element->rank + 1 };
    out->dims[0] = inference->shapes[1]->rank == 1 ? inference->shapes[1]->dims[0] : -1;
    for (int i = 0; i < element->rank; i++)
        out->dims[i + 1] = element->dims[i];
    return TW_OK;
}

TW_OP(TensorArrayV3, .inputs = "size: int32", .outputs = "handle: resource, flow: float",
      .attrs = "dtype: type, element_shape: shape = unknown, dynamic_size: bool = false, clear_after_read: bool = true, "
               "identical_element_shapes: bool = false, tensor_array_name: string = ''",
      .shape = array_shape, .compute = array_compute, .stateful = true, .makes_outputs = true,
      .doc = "An array of tensors that ops write and read.");

TW_OP(TensorArrayGradV3, .inputs = "handle: resource, flow_in: float", .outputs = "grad_handle: resource, flow_out: float",
      .attrs = "source: string", .shape = array_shape, .compute = gradient_compute, .stateful = true, .makes_outputs = true,
      .doc = "The array of gradients that belongs to an array.");

TW_OP(TensorArrayWriteV3, .inputs = "handle: resource, index: int32, value: T, flow_in: float", .outputs = "flow_out: float",
      .attrs = "T: type", .shape = tw_shape_scalar, .compute = write_compute, .stateful = true, .makes_outputs = true,
      .doc = "Writes an item of an array.");

TW_OP(TensorArrayReadV3, .inputs = "handle: resource, index: int32, flow_in: float", .outputs = "value: dtype",
      .attrs = "dtype: type", .shape = element_shape, .compute = read_compute, .stateful = true, .makes_outputs = true,
      .doc = "Reads an item of an array.");

TW_OP(TensorArrayGatherV3, .inputs = "handle: resource, indices: int32, flow_in: float", .outputs = "value: dtype",
      .attrs = "dtype: type, element_shape: shape = unknown", .shape = gather_shape, .compute = gather_compute, .stateful = true,
      .makes_outputs = true, .doc = "Stacks items of an array.");

TW_OP(TensorArrayScatterV3, .inputs = "handle: resource, indices: int32, value: T, flow_in: float", .outputs = "flow_out: float",
      .attrs = "T: type", .shape = tw_shape_scalar, .compute = scatter_compute, .stateful = true, .makes_outputs = true,
      .doc = "Writes rows into items of an array.");

TW_OP(TensorArrayConcatV3, .inputs = "handle: resource, flow_in: float", .outputs = "value: dtype, lengths: int64",
      .attrs = "dtype: type, element_shape_except0: shape = unknown", .shape = tw_shape_unknown, .compute = concat_compute,
      .stateful = true, .makes_outputs = true, .doc = "Joins the items of an array along their rows.");

TW_OP(TensorArraySplitV3, .inputs = "handle: resource, value: T, lengths: int64, flow_in: float", .outputs = "flow_out: float",
      .attrs = "T: type", .shape = tw_shape_scalar, .compute = split_compute, .stateful = true, .makes_outputs = true,
      .doc = "Divides rows among the items of an array.");

TW_OP(TensorArraySizeV3, .inputs = "handle: resource, flow_in: float", .outputs = "size: int32", .shape = tw_shape_scalar,
      .compute = size_compute, .stateful = true, .makes_outputs = true, .doc = "How many items an array has.");

TW_OP(TensorArrayCloseV3, .inputs = "handle: resource", .shape = tw_shape_none, .compute = close_compute, .stateful = true,
      .doc = "Ends an array.");
