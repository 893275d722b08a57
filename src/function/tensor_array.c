/* tf.TensorArray: making arrays, single elements, and what an array is in loops; see tensor_array.h. The texts of errors are
 * TensorFlow's, which differ between its two forms, too. */
#include "function/tensor_array.h"
#include "op/calls.h"
#include "op/list/list.h"
#include "rows.h"

enum { COUNT_LIMIT = 1 << 28 };

static const tw_class shape_class = { .name = "TensorArrayShape", .size = sizeof(tw__array_shape) };

static void drop_places(tw_tensor_array *array)
{
    for (int64_t i = 0; i < array->count; i++)
        tw_release(array->places[i].tensor);
    array->count = 0;
}

static void array_destroy(void *self)
{
    tw_tensor_array *array = self;
    drop_places(array);
    tw__free(array->places);
    tw_release(array->element);
    tw_release(array->flow);
    tw_release(array->size);
}

/* ---- the table ---- */

bool tw__array_at_once(const tw_tensor_array *array)
{
    return !array->flow && !tw__tracing;
}

static tw_status grow(tw_tensor_array *array, int64_t count)
{
    if (count > COUNT_LIMIT)
        return tw__fail(TW_RESOURCE_EXHAUSTED, "TensorArray: %lld elements, at most %d are possible", (long long)count,
                        COUNT_LIMIT);
    if (count <= array->count)
        return TW_OK;
    TW_TRY(TW_GROW(array->places, array->capacity, (size_t)count));
    memset(array->places + array->count, 0, (size_t)(count - array->count) * sizeof *array->places);
    array->count = count;
    return TW_OK;
}

tw_status tw__array_replace(tw_tensor_array *array, tw_tensor **tensors, int64_t count)
{
    drop_places(array);
    tw_status status = grow(array, count);
    for (int64_t i = 0; i < count; i++) {
        if (status == TW_OK)
            array->places[i].tensor = tensors[i];
        else
            tw_release(tensors[i]);
    }
    return status;
}

static tw_status fail_of_shapes(tw_status code, const char *format, const tw_shape *a, const tw_shape *b)
{
    tw__owned char *x = tw__shape_tuple(a);
    tw__owned char *y = tw__shape_tuple(b);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    tw_status status = tw__fail(code, format, x ? x : "", y ? y : "");
#pragma GCC diagnostic pop
    return status;
}

static tw_status merge(tw_tensor_array *array, const tw_shape *shape, const char *format)
{
    tw_shape merged;
    if (!tw__list_merge_shapes(&array->element->shape, shape, &merged))
        return fail_of_shapes(TW_VALUE_ERROR, format, shape, &array->element->shape);
    if (array->infers)
        array->element->shape = merged;
    return TW_OK;
}

tw_status tw__array_check_shape(tw_tensor_array *array, const tw_shape *shape)
{
    return merge(array, shape, "Inconsistent shapes: saw %s but expected %s ");
}

tw_status tw__array_set(tw_tensor_array *array, int64_t index, tw_tensor *value)
{
    if (index < 0)
        return tw__fail(TW_OUT_OF_RANGE, "Writing to negative indices (index %lld) is not allowed.", (long long)index);
    if (index >= array->count) {
        if (!array->dynamic)
            return tw__fail(TW_OUT_OF_RANGE, "Tried to write to index %lld but array is not resizeable and size is: %lld ",
                            (long long)index, (long long)array->count);
        TW_TRY(grow(array, index + 1));
    }
    if (value->dtype != array->dtype)
        return tw__fail(TW_INVALID_ARGUMENT, "TensorArray dtype is %s but Op is trying to write dtype %s ",
                        tw_dtype_name(array->dtype), tw_dtype_name(value->dtype));
    if (!tw__shape_equal(&value->shape, &array->element->shape))
        TW_TRY(merge(array, &value->shape, "Incompatible shape for value (%s), expected (%s)"));
    tw__set(&array->places[index].tensor, value);
    return TW_OK;
}

tw_tensor *tw__array_item(tw_tensor_array *array, int64_t index)
{
    tw__array_place *place = &array->places[index];
    const tw_shape *shape = &array->element->shape;
    if (!place->tensor && !tw__shape_known(shape)) {
        fail_of_shapes(TW_VALUE_ERROR, "Cannot convert a partially known TensorShape %s to a Tensor.", shape, shape);
        return NULL;
    }
    if (!place->tensor)
        place->tensor = tw__list_zeros(array->dtype, shape);
    return tw_retain(place->tensor);
}

static tw_status read_index(const tw_tensor *index, int64_t *number)
{
    if (!index->node && index->shape.rank == 0)
        return tw__tensor_read_ints(index, "index", number, 1);
    return tw__fail(TW_TYPE_ERROR, "TensorArray: the index must be a scalar whose value is known, got shape %s",
                    tw__shape_text(&index->shape));
}

static tw_tensor *read_at_once(tw_tensor_array *array, const tw_tensor *index)
{
    int64_t i;
    if (read_index(index, &i) != TW_OK)
        return NULL;
    if (i < 0) {
        tw__fail(TW_OUT_OF_RANGE, "Reading from negative indices (index %lld) is not allowed.", (long long)i);
        return NULL;
    }
    if (i >= array->count) {
        tw__fail(TW_OUT_OF_RANGE, "Tried to read from index %lld but array size is: %lld ", (long long)i,
                 (long long)array->count);
        return NULL;
    }
    if (!array->places[i].tensor && array->places[i].was_read) {
        tw__fail(
            TW_INVALID_ARGUMENT,
            "Could not read index %lld twice because it was cleared after a previous read (perhaps try setting clear_after_read = false?)",
            (long long)i);
        return NULL;
    }
    tw_tensor *item = tw__array_item(array, i);
    if (item && array->clears) {
        tw__set(&array->places[i].tensor, NULL);
        array->places[i].was_read = true;
    }
    return item;
}

/* ---- the list ---- */

tw_tensor *tw__array_shape_tensor(const tw__part *part, const tw_shape *shape)
{
    if (shape->rank < 0)
        return tw_tensor_int(-1);
    tw_auto tw_tensor *dims = tw__tensor_of_shape(shape, TW_INT32);
    return shape->rank ? tw_retain(dims) : tw__part_constant(part, dims, "Const");
}

tw_shape tw__array_row_shape(const tw_tensor *rows)
{
    tw_shape row = rows->shape;
    if (row.rank > 0) {
        row.rank--;
        memmove(row.dims, row.dims + 1, (size_t)row.rank * sizeof *row.dims);
    }
    return row;
}

static tw_tensor *reserve(tw_tensor_array *array, tw_tensor *size, const char *name)
{
    tw__part part = tw__part_begin(name, "TensorArrayV2");
    tw_auto tw_tensor *shape = tw__array_shape_tensor(&part, &array->element->shape);
    tw_tensor *list =
        shape ? tw__part_call(&part, "", &tw__op_TensorListReserve, TW_IN(shape, size), 2, TW_ARRAY_DTYPE(array), 1) : NULL;
    return tw__part_result(&part, list);
}

tw_tensor *tw__array_list(tw_tensor_array *array)
{
    if (array->flow)
        return tw_retain(array->flow);
    tw_auto tw_tensor *size = tw_tensor_int((int32_t)array->count);
    tw_tensor *list = size ? reserve(array, size, NULL) : NULL;
    for (int64_t i = 0; list && i < array->count; i++) {
        if (!array->places[i].tensor)
            continue;
        tw_auto tw_tensor *index = tw_tensor_int((int32_t)i), *before = list;
        list = tw__call(&tw__op_TensorListSetItem, TW_IN(before, index, array->places[i].tensor), 3, TW_ARRAY_DTYPE(array), 1);
    }
    return list;
}

tw_tensor *tw__array_flow(tw_tensor_array *array)
{
    return tw__array_at_once(array) ? tw__tensor_of_object(TW_VARIANT, array) : tw__array_list(array);
}

tw_tensor_array *tw__array_with(tw_tensor_array *like, tw_tensor *flow)
{
    if (!flow)
        return NULL;
    tw_object *held = flow->node ? NULL : tw__tensor_object(flow);
    if (held && tw__is(held, &tw__class_tensor_array))
        return tw_retain(held);
    tw_tensor_array *array = tw__object_new(&tw__class_tensor_array);
    if (!array)
        return NULL;
    array->dtype = like->dtype;
    array->dynamic = like->dynamic;
    array->infers = like->infers;
    array->clears = like->clears;
    array->element = tw_retain(like->element);
    array->flow = tw_retain(flow);
    array->size = tw_retain(like->size);
    return array;
}

/* ---- making ---- */

static tw_status start_list(tw_tensor_array *array, const tw_tensor_array_args *args)
{
    bool variant = args->flow && args->flow->dtype == TW_VARIANT;
    if (args->handle.kind != TW_VALUE_NONE)
        return tw__fail(TW_ASSERTION_ERROR, "TensorArray: handle is given; only a flow makes an array of another one");
    if (args->flow && !variant)
        return tw__fail(TW_TYPE_ERROR, "Expected `flow` to be a variant tensor, but received `<dtype: '%s'>` instead.",
                        tw_dtype_name(args->flow->dtype));
    if (!args->flow && !args->size)
        return tw__fail(TW_VALUE_ERROR, "Argument `size` must be provided if argument `flow` is not provided.");
    if (args->flow && args->size)
        return tw__fail(TW_VALUE_ERROR, "Cannot provide both `flow` and `size` arguments at the same time.");
    if (args->flow && args->element_shape.rank >= 0)
        return tw__fail(TW_VALUE_ERROR, "Cannot provide both `flow` and `element_shape` argumentsat the same time.");
    array->size = tw_retain(args->size);
    array->flow = args->flow ? tw_retain(args->flow) : reserve(array, args->size, args->name);
    return array->flow ? TW_OK : tw__error_status();
}

static tw_status start_table(tw_tensor_array *array, const tw_tensor_array_args *args)
{
    int64_t size = 0;
    if (args->handle.kind != TW_VALUE_NONE)
        return tw__fail(TW_VALUE_ERROR, "TensorArray handles are not supported when eager execution is enabled.");
    if (!args->size)
        return tw__fail(TW_VALUE_ERROR, "Size must be declared for TensorArrays when eager execution is enabled.");
    if (args->size->shape.rank != 0)
        return tw__fail(TW_TYPE_ERROR, "TensorArray: size must be an integer, got shape %s", tw__shape_text(&args->size->shape));
    TW_TRY(tw__tensor_read_ints(args->size, "size", &size, 1));
    return grow(array, size);
}

static tw_status array_init(void *self, const void *given)
{
    const tw_tensor_array_args *args = given;
    tw_tensor_array *array = self;
    array->dtype = args->dtype;
    array->dynamic = args->dynamic_size;
    array->infers = args->infer_shape;
    array->clears = args->clear_after_read == TW_NO_INT || args->clear_after_read;
    array->element = tw__object_new(&shape_class);
    TW_NEED(array->element);
    array->element->shape = args->element_shape;
    bool list = tw__tracing || (args->flow && args->flow->dtype == TW_VARIANT);
    return list ? start_list(array, args) : start_table(array, args);
}

TW_CLASS(
    tensor_array,
    "TensorArray(dtype: dtype, size: tensor<int32> = None, dynamic_size: bool = False shown None, clear_after_read: int = None, tensor_array_name: str = None, "
    "handle: value = None, flow: tensor = None, infer_shape: bool = True, element_shape: shape = None, "
    "colocate_with_first_write_call: bool = True, name: str = None) -> tensor_array",
    .size = sizeof(tw_tensor_array), .init = array_init, .destroy = array_destroy, .drop_config = true,
    .doc =
        "Tensors by index, for loops. The result of a write is the array that has it: in graphs the array before the write stays as it was. "
        "clear_after_read and colocate_with_first_write_call, and the names of TensorFlow 1's arrays, mean nothing in graphs.\n"
        "dtype: the dtype of the elements\n"
        "size: how many elements there are at first\n"
        "dynamic_size: True: writing beyond the end makes the array longer\n"
        "clear_after_read: outside of graphs: False: an element can be read several times\n"
        "tensor_array_name: kept for old programs; it changes nothing\n"
        "handle: must be None\n"
        "flow: a list (a variant tensor) whose elements the array has, in graphs; in place of `size`\n"
        "infer_shape: True: all elements must have the shape of the first\n"
        "element_shape: the shape of the elements; None: any\n"
        "colocate_with_first_write_call: kept for old programs; it changes nothing\n"
        "example: array = tf.TensorArray(tf.int32, 2).write(0, 5).write(1, 6)\n"
        "example: array.stack().numpy().tolist()  # [5, 6]");

tw_tensor_array *tw__array_new(tw_dtype dtype, tw_tensor *size, const tw_shape *shape, bool infers)
{
    tw_tensor_array_args args;
    tw_args_default(&tw__signature_tensor_array, &args);
    args.dtype = dtype;
    args.size = size;
    args.infer_shape = infers;
    args.element_shape = shape ? *shape : TW_UNKNOWN_SHAPE;
    return tw_class_make(&tw__class_tensor_array, &args);
}

/* ---- single elements ---- */

/* Nodes of graphs take numbers of one dtype only. */
static bool is_index(const tw_tensor *index, const tw_op *op, const char *input)
{
    if (index->dtype == TW_INT32 || !tw__tracing)
        return true;
    tw__fail(TW_TYPE_ERROR, "Input '%s' of '%s' Op has type %s that does not match expected type of int32.", input, op->name,
             tw_dtype_name(index->dtype));
    return false;
}

/* What an op's node is called: as the caller says, which is also the scope's name. */
static const char *inner_name(const char *name, const char *usual)
{
    return name && *name ? name : usual;
}

tw_tensor *tw__array_read(tw_tensor_array *array, tw_tensor *index, const char *name)
{
    if (tw__array_at_once(array))
        return read_at_once(array, index);
    if (!is_index(index, &tw__op_TensorListGetItem, "index"))
        return NULL;
    tw__part part = tw__part_begin(name, "TensorArrayV2Read");
    tw_auto tw_tensor *list = tw__array_list(array), *shape = list ? tw__array_shape_tensor(&part, &array->element->shape) : NULL;
    tw_tensor *item = shape ? tw__part_call(&part, inner_name(name, "TensorListGetItem"), &tw__op_TensorListGetItem,
                                            TW_IN(list, index, shape), 3, TW_ARRAY_DTYPE(array), 1)
                            : NULL;
    return tw__part_result(&part, item);
}

tw_tensor_array *tw__array_write(tw_tensor_array *array, tw_tensor *index, tw_tensor *value, const char *name)
{
    if (tw__array_at_once(array)) {
        int64_t number;
        if (read_index(index, &number) != TW_OK || tw__array_set(array, number, value) != TW_OK)
            return NULL;
        return tw_retain(array);
    }
    if (!is_index(index, &tw__op_TensorListSetItem, "index"))
        return NULL;
    tw__part part = tw__part_begin(name, "TensorArrayV2Write");
    tw_auto tw_tensor *list = tw__array_list(array), *item = list ? tw__part_constant(&part, value, "value") : NULL;
    tw_tensor *flow = NULL;
    if (item && tw__array_check_shape(array, &item->shape) == TW_OK)
        flow = tw__part_call(&part, inner_name(name, "TensorListSetItem"), &tw__op_TensorListSetItem, TW_IN(list, index, item), 3,
                             TW_WITH(TW_A_BOOL("resize_if_index_out_of_bounds", array->dynamic)), 1);
    tw_auto tw_tensor *whole = tw__part_result(&part, flow);
    return tw__array_with(array, whole);
}

TW_METHOD(tensor_array_read, "TensorArray.read(self: tensor_array, index: tensor<int32>, name: str = None) -> tensor",
          "The value at the index.\n"
          "index: which element")
{
    return tw__array_read(args->self, args->index, args->name);
}

TW_METHOD(tensor_array_write,
          "TensorArray.write(self: tensor_array, index: tensor<int32>, value: tensor<own>, name: str = None) -> tensor_array",
          "The array with a value at the index.\n"
          "index: which element\n"
          "value: the new element\n"
          "returns: the array to use from now on")
{
    return tw__array_write(args->self, args->index, args->value, args->name);
}

TW_METHOD(tensor_array_size, "TensorArray.size(self: tensor_array, name: str = None) -> tensor", "How many elements it has.")
{
    tw_tensor_array *array = args->self;
    if (tw__array_at_once(array))
        return tw_tensor_int((int32_t)array->count);
    if (!array->dynamic && array->size)
        return tw__tracing ? tw__graph_import(tw__tracing, array->size) : tw_retain(array->size);
    tw__part part = tw__part_plain();
    tw_auto tw_tensor *list = tw__array_list(array);
    return tw__part_result(&part, tw__part_call(&part, inner_name(args->name, "TensorListLength"), &tw__op_TensorListLength,
                                                TW_IN(list), 1, NULL, 0));
}

TW_METHOD(tensor_array_identity, "TensorArray.identity(self: tensor_array) -> tensor_array", "The array with the same elements.")
{
    if (tw__array_at_once(args->self))
        return tw_retain(args->self);
    tw_auto tw_tensor *list = tw__array_list(args->self), *flow = list ? TW_CALL(Identity, list) : NULL;
    return tw__array_with(args->self, flow);
}

TW_METHOD(tensor_array_close, "TensorArray.close(self: tensor_array, name: str = None)",
          "Outside of graphs: gives up all elements.")
{
    if (tw__array_at_once(args->self))
        drop_places(args->self);
    return TW_OK;
}

TW_METHOD(tensor_array_grad,
          "TensorArray.grad(self: tensor_array, source: str, flow: tensor = None, name: str = None) -> tensor_array",
          "TensorFlow 1's; there is none.\n"
          "source: a name\n"
          "flow: a tensor\n"
          "raises: NotImplementedError: always")
{
    tw__fail(
        TW_NOT_IMPLEMENTED_ERROR,
        tw__array_at_once(args->self)
            ? "TensorArray.grad is not supported when executing eagerly; eager's gradient implementation does not use/need this "
              "function to compute gradients of operations that use TensorArrays."
            : "");
    return NULL;
}

/* ---- what it is ---- */

TW_PROPERTY(tensor_array_dtype, "TensorArray.dtype(self: tensor_array) -> dtype", "The elements' dtype.")
{
    return args->self->dtype;
}

TW_PROPERTY(tensor_array_dynamic_size, "TensorArray.dynamic_size(self: tensor_array) -> bool",
            "Whether a write may make it larger.")
{
    return args->self->dynamic;
}

TW_PROPERTY(tensor_array_element_shape, "TensorArray.element_shape(self: tensor_array) -> shape",
            "What is known of the elements' shape.")
{
    return args->self->element->shape;
}

TW_PROPERTY(tensor_array_infer_shape, "TensorArray._infer_shape(self: tensor_array) -> bool",
            "Whether it learns the elements' shape from what is written.")
{
    return args->self->infers;
}

TW_PROPERTY(tensor_array_handle, "TensorArray.handle(self: tensor_array) -> tensor", "None: TensorFlow 1's.")
{
    return NULL;
}

TW_PROPERTY(tensor_array_flow, "TensorArray.flow(self: tensor_array) -> tensor",
            "In graphs the list that it is; outside of them it says nothing.")
{
    return args->self->flow ? tw_retain(args->self->flow) : tw_tensor_int(0);
}

TW_METHOD(tensor_array_to_loop, "TensorArray._to_loop(self: tensor_array) -> tensor",
          "The array as one tensor, which loops and branches carry; tw_tensor_array_from_loop gives the array again.")
{
    return tw__array_flow(args->self);
}

TW_METHOD(tensor_array_from_loop, "TensorArray._from_loop(self: tensor_array, flow: tensor) -> tensor_array",
          "The array that such a tensor is: one like this.")
{
    return tw__array_with(args->self, args->flow);
}

TW_METHOD(tensor_array_in_graph, "TensorArray._in_graph(self: tensor_array) -> bool", "Whether it is a list of a graph.")
{
    return args->self->flow != NULL;
}
