/* tf.TensorArray: many elements at once: stacking and unstacking, gathering and scattering, concatenating and splitting. */
#include "function/tensor_array.h"
#include "op/calls.h"
#include "op/list/list.h"
#include "rows.h"

/* ---- out of the array ---- */

/* The elements at these places of a table (NULL: all, in order); an array from tw__alloc of new references. */
static tw_tensor **items_of(tw_tensor_array *array, const int64_t *places, int64_t count)
{
    tw_tensor **items = tw__alloc_array((size_t)count + 1, sizeof *items);
    for (int64_t i = 0; items && i < count; i++) {
        items[i] = tw__array_item(array, places ? places[i] : i);
        if (items[i])
            continue;
        tw_tensors_free(&(tw_tensors){ items, i });
        return NULL;
    }
    return items;
}

static tw_tensor *pack(tw_tensor **items, int64_t count)
{
    tw_tensor *packed = items ? tw__call(&tw__op_Pack, items, (int)count, NULL, 0) : NULL;
    if (items)
        tw_tensors_free(&(tw_tensors){ items, count });
    return packed;
}

static tw_tensor *stack_at_once(tw_tensor_array *array)
{
    if (array->count)
        return pack(items_of(array, NULL, array->count), array->count);
    tw_shape shape = TW_SHAPE(0);
    if (tw__shape_known(&array->element->shape) && array->element->shape.rank < TW_MAX_RANK) {
        shape.rank += array->element->shape.rank;
        memcpy(shape.dims + 1, array->element->shape.dims, (size_t)array->element->shape.rank * sizeof *shape.dims);
    }
    return tw__list_zeros(array->dtype, &shape);
}

/* How many elements a list is known to have; -1: it is not known. */
static int64_t known_size(const tw_tensor_array *array)
{
    const tw_tensor *size = array->dynamic ? NULL : array->size;
    if (size && size->node)
        size = size->symbolic_value;
    int64_t count = -1;
    return size && size->count == 1 && tw__tensor_read_ints(size, "size", &count, 1) == TW_OK ? count : -1;
}

tw_tensor *tw__array_stack(tw_tensor_array *array, const char *name)
{
    if (tw__array_at_once(array))
        return stack_at_once(array);
    tw__part part = tw__part_begin(name, "TensorArrayV2Stack");
    tw_auto tw_tensor *list = tw__array_list(array), *shape = list ? tw__array_shape_tensor(&part, &array->element->shape) : NULL;
    tw_tensor *rows =
        shape ? tw__part_call(&part, "TensorListStack", &tw__op_TensorListStack, TW_IN(list, shape), 2,
                              TW_WITH(TW_A_TYPE("element_dtype", array->dtype), TW_A_INT("num_elements", known_size(array))), 2)
              : NULL;
    return tw__part_result(&part, rows);
}

static int64_t *read_vector(const tw_tensor *tensor, const char *what)
{
    int64_t *values = tw__alloc_array((size_t)tensor->count + 1, sizeof *values);
    if (!values)
        return NULL;
    if (tensor->node)
        tw__fail(TW_TYPE_ERROR, "TensorArray: the values of %s are not known", what);
    else if (tw__tensor_read_ints(tensor, what, values, tensor->count) == TW_OK)
        return values;
    tw__free(values);
    return NULL;
}

static tw_tensor *gather_at_once(tw_tensor_array *array, const tw_tensor *indices)
{
    tw__owned int64_t *places = read_vector(indices, "indices");
    if (!places)
        return NULL;
    for (int64_t i = 0; i < indices->count; i++) {
        places[i] += places[i] < 0 ? array->count : 0;
        if (places[i] < 0 || places[i] >= array->count) {
            tw__fail(TW_INDEX_ERROR, "list index out of range");
            return NULL;
        }
    }
    return pack(items_of(array, places, indices->count), indices->count);
}

tw_tensor *tw__array_concat(tw_tensor_array *array, const char *name)
{
    if (!tw__array_at_once(array)) {
        tw__part part = tw__part_plain();
        tw_shape element = array->element->shape;
        if (element.rank >= 0) {
            element.rank = element.rank ? element.rank : 1;
            element.dims[0] = -1;
        }
        tw_auto tw_tensor *list = tw__array_list(array), *shape = list ? tw__array_shape_tensor(&part, &element) : NULL;
        tw_auto tw_tensor *none = shape ? tw_tensor_new(TW_INT64, TW_SHAPE(0), NULL) : NULL;
        tw_auto tw_tensor *leading = none ? tw__part_constant(&part, none, "Const") : NULL;
        tw_tensor *outputs[2] = { NULL, NULL };
        int count = 2;
        if (leading && tw__part_apply(&part, name && *name ? name : "TensorListConcatV2", &tw__op_TensorListConcatV2,
                                      TW_IN(list, shape, leading), 3, TW_ARRAY_DTYPE(array), 1, outputs, &count) != TW_OK)
            outputs[0] = outputs[1] = NULL;
        tw_release(outputs[1]);
        return tw__part_result(&part, outputs[0]);
    }
    int64_t count = array->count;
    if (!count) {
        tw__fail_op("ConcatV2", TW_INVALID_ARGUMENT, "TensorArray: there is nothing to concatenate");
        return NULL;
    }
    tw_tensor **items = items_of(array, NULL, count), *whole = NULL;
    for (int64_t i = 0; items && i < count; i++) {
        if (items[i]->shape.rank == 0) {
            tw__fail(TW_INVALID_ARGUMENT, "Concat saw a scalar shape at index %lld but requires at least vectors.", (long long)i);
            tw_tensors_free(&(tw_tensors){ items, count });
            return NULL;
        }
    }
    if (items && (items[count] = tw_tensor_int(0)))
        whole = count == 1 ? TW_CALL(Identity, items[0]) : tw__call(&tw__op_ConcatV2, items, (int)count + 1, NULL, 0);
    if (items)
        tw_tensors_free(&(tw_tensors){ items, count + 1 });
    return whole;
}

TW_METHOD(tensor_array_stack, "TensorArray.stack(self: tensor_array, name: str = None) -> tensor",
          "All values, one above the other.")
{
    return tw__array_stack(args->self, args->name);
}

TW_METHOD(tensor_array_gather, "TensorArray.gather(self: tensor_array, indices: tensor<int32>, name: str = None) -> tensor",
          "The values at the indices, one above the other.")
{
    tw_tensor_array *array = args->self;
    if (tw__array_at_once(array))
        return gather_at_once(array, args->indices);
    tw__part part = tw__part_plain();
    tw_auto tw_tensor *list = tw__array_list(array), *shape = list ? tw__array_shape_tensor(&part, &array->element->shape) : NULL;
    tw_tensor *rows =
        shape ? tw__part_call(&part, args->name && *args->name ? args->name : "TensorListGather", &tw__op_TensorListGather,
                              TW_IN(list, args->indices, shape), 3, TW_ARRAY_DTYPE(array), 1)
              : NULL;
    return tw__part_result(&part, rows);
}

TW_METHOD(tensor_array_concat, "TensorArray.concat(self: tensor_array, name: str = None) -> tensor",
          "All values, one behind the other.")
{
    return tw__array_concat(args->self, args->name);
}

/* ---- into the array ---- */

/* The rows of a tensor, an array from tw__alloc of new references. */
static tw_tensor **rows_of(tw_tensor *value, int64_t *count)
{
    if (value->shape.rank == 0) {
        tw__fail(TW_VALUE_ERROR, "Argument `axis` = 0 not in range [0, 0)");
        return NULL;
    }
    *count = value->shape.dims[0];
    if (*count > INT32_MAX / 2) {
        tw__fail(TW_RESOURCE_EXHAUSTED, "TensorArray: %lld rows", (long long)*count);
        return NULL;
    }
    tw_tensor **rows = tw__alloc_array((size_t)*count + 1, sizeof *rows);
    int made = (int)*count;
    if (rows && *count && tw__apply(&tw__op_Unpack, &value, 1, TW_WITH(TW_A_INT("num", *count)), 1, rows, &made) != TW_OK) {
        tw__free(rows);
        return NULL;
    }
    return rows;
}

static tw_tensor_array *unstack_at_once(tw_tensor_array *array, tw_tensor *value)
{
    int64_t count = 0;
    tw_tensor **rows = rows_of(value, &count);
    if (!rows)
        return NULL;
    tw_status status = TW_OK;
    if (count > array->count && !array->dynamic) {
        status = tw__fail(TW_VALUE_ERROR, "Cannot unstack %lld tensors into a TensorArray of static size %lld ", (long long)count,
                          (long long)array->count);
        tw_tensors_free(&(tw_tensors){ rows, count });
        return NULL;
    }
    status = tw__array_replace(array, rows, count);
    tw__free(rows);
    return status == TW_OK ? tw_retain(array) : NULL;
}

tw_tensor_array *tw__array_unstack(tw_tensor_array *array, tw_tensor *value, const char *name)
{
    if (tw__array_at_once(array))
        return unstack_at_once(array, value);
    tw__part part = tw__part_begin(name, "TensorArrayUnstack");
    tw_auto tw_tensor *rows = tw__part_constant(&part, value, "value");
    tw_shape row = rows ? tw__array_row_shape(rows) : TW_SCALAR;
    tw_tensor *flow = NULL;
    if (rows && tw__array_check_shape(array, &row) == TW_OK) {
        tw_auto tw_tensor *shape = tw__array_shape_tensor(&part, &row);
        flow = shape ? tw__part_call(&part, "TensorListFromTensor", &tw__op_TensorListFromTensor, TW_IN(rows, shape), 2, NULL, 0)
                     : NULL;
    }
    tw_auto tw_tensor *whole = tw__part_result(&part, flow);
    return tw__array_with(array, whole);
}

TW_METHOD(tensor_array_unstack, "TensorArray.unstack(self: tensor_array, value: tensor<own>, name: str = None) -> tensor_array",
          "The array with the rows of a tensor as its values.\n"
          "value: a tensor whose rows are the elements")
{
    return tw__array_unstack(args->self, args->value, args->name);
}

static tw_tensor_array *scatter_at_once(tw_tensor_array *array, const tw_tensor *indices, tw_tensor *value)
{
    int64_t count = 0;
    tw__owned int64_t *places = read_vector(indices, "indices");
    tw_tensor **rows = places ? rows_of(value, &count) : NULL;
    tw_status status = rows ? TW_OK : tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < count && i < indices->count; i++)
        status = tw__array_set(array, places[i], rows[i]);
    if (rows)
        tw_tensors_free(&(tw_tensors){ rows, count });
    return status == TW_OK ? tw_retain(array) : NULL;
}

TW_METHOD(tensor_array_scatter,
          "TensorArray.scatter(self: tensor_array, indices: tensor<int32>, value: tensor<own>, name: str = None) -> tensor_array",
          "The array with the rows of a tensor at the indices.\n"
          "indices: for each row where it goes\n"
          "value: a tensor whose rows are the elements")
{
    tw_tensor_array *array = args->self;
    if (tw__array_at_once(array))
        return scatter_at_once(array, args->indices, args->value);
    tw__part part = tw__part_begin(args->name, "TensorArrayScatter");
    tw_auto tw_tensor *list = tw__array_list(array), *rows = list ? tw__part_constant(&part, args->value, "value") : NULL;
    tw_shape row = rows ? tw__array_row_shape(rows) : TW_SCALAR;
    tw_tensor *flow = NULL;
    if (rows && tw__array_check_shape(array, &row) == TW_OK)
        flow = tw__part_call(&part, "TensorListScatterIntoExistingList", &tw__op_TensorListScatterIntoExistingList,
                             TW_IN(list, rows, args->indices), 3, NULL, 0);
    tw_auto tw_tensor *whole = tw__part_result(&part, flow);
    return tw__array_with(array, whole);
}

/* "[2, 3]", as Python prints a list of dimensions. */
static char *dims_text(const tw_shape *shape)
{
    tw__text text = { 0 };
    tw__text_add(&text, "[");
    for (int i = 0; i < shape->rank; i++)
        tw__text_format(&text, i ? ", %lld" : "%lld", (long long)shape->dims[i]);
    tw__text_add(&text, "]");
    return tw__text_take(&text);
}

static tw_status check_lengths(const tw_tensor_array *array, const tw_tensor *value, const tw_tensor *lengths,
                               const int64_t *counts)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < lengths->count; i++)
        sum += counts[i] >= 0 && counts[i] < INT64_MAX / 2 - sum ? counts[i] : 0;
    const tw_shape *wrong = lengths->shape.rank != 1 ? &lengths->shape : &value->shape;
    tw__owned char *shape = dims_text(wrong);
    TW_NEED(shape);
    if (lengths->shape.rank != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected lengths to be a vector, received shape: %s ", shape);
    if (value->shape.rank == 0)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected value to be at least a vector, but received shape: %s ", shape);
    if (sum != value->shape.dims[0])
        return tw__fail(
            TW_INVALID_ARGUMENT,
            "Expected sum of lengths to be equal to values.shape[0], but sum of lengths is %lld and value's shape is: %s ",
            (long long)sum, shape);
    if (!array->dynamic && lengths->count != array->count)
        return tw__fail(
            TW_INVALID_ARGUMENT,
            "TensorArray's size is not equal to the size of lengths (%lld vs. %lld), and the TensorArray is not marked as dynamically "
            "resizeable.",
            (long long)array->count, (long long)lengths->count);
    return TW_OK;
}

static tw_tensor_array *split_at_once(tw_tensor_array *array, tw_tensor *value, tw_tensor *lengths)
{
    tw__owned int64_t *counts = read_vector(lengths, "lengths");
    int64_t count = lengths->count;
    if (!counts)
        return NULL;
    if (check_lengths(array, value, lengths, counts) != TW_OK)
        return NULL;
    tw__owned tw_tensor **pieces = tw__alloc_array((size_t)count + 1, sizeof *pieces);
    tw_auto tw_tensor *axis = tw_tensor_int(0);
    int made = (int)count;
    if (!(pieces && axis))
        return NULL;
    if (count)
        if (tw__apply(&tw__op_SplitV, TW_IN(value, lengths, axis), 3, TW_WITH(TW_A_INT("num_split", count)), 1, pieces, &made) !=
            TW_OK)
            return NULL;
    return tw__array_replace(array, pieces, count) == TW_OK ? tw_retain(array) : NULL;
}

/* Pieces of one length tell the elements' shape. */
static tw_status learn_of_lengths(tw_tensor_array *array, const tw_tensor *value, const tw_tensor *lengths)
{
    const tw_tensor *known = lengths->node ? lengths->symbolic_value : lengths;
    if (!known || value->shape.rank < 0 || known->shape.rank != 1 || !known->count)
        return TW_OK;
    tw_shape piece = value->shape;
    piece.rank = piece.rank ? piece.rank : 1;
    piece.dims[0] = tw_tensor_int_at(known, 0);
    for (int64_t i = 1; i < known->count; i++) {
        if (tw_tensor_int_at(known, i) != piece.dims[0])
            return TW_OK;
    }
    return tw__array_check_shape(array, &piece);
}

TW_METHOD(tensor_array_split,
          "TensorArray.split(self: tensor_array, value: tensor<own>, lengths: tensor, name: str = None) -> tensor_array",
          "The array with pieces of a tensor, of so many rows each, as its values.\n"
          "value: the tensor to cut along its first dimension\n"
          "lengths: how many rows each element has")
{
    tw_tensor_array *array = args->self;
    if (tw__array_at_once(array))
        return split_at_once(array, args->value, args->lengths);
    tw__part part = tw__part_begin(args->name, "TensorArraySplit");
    tw_auto tw_tensor *value = tw__part_constant(&part, args->value, "value");
    tw_auto tw_tensor *lengths = NULL;
    tw_tensor *flow = NULL;
    if (value && args->lengths->dtype == TW_INT64)
        lengths = tw_retain(args->lengths);
    else if (value)
        lengths = tw__part_call(&part, "Cast", &tw__op_Cast, TW_IN(args->lengths), 1, TW_WITH(TW_A_TYPE("DstT", TW_INT64)), 1);
    if (lengths && (!tw__tracing || learn_of_lengths(array, value, args->lengths) == TW_OK)) {
        tw_auto tw_tensor *shape = tw__array_shape_tensor(&part, &array->element->shape);
        flow = shape ? tw__part_call(&part, args->name && *args->name ? args->name : "TensorListSplit", &tw__op_TensorListSplit,
                                     TW_IN(value, shape, lengths), 3, NULL, 0)
                     : NULL;
    }
    tw_auto tw_tensor *whole = tw__part_result(&part, flow);
    return tw__array_with(array, whole);
}
