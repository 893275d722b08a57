/* The classes tf.RaggedTensor and tf.RaggedTensorSpec: parts, shapes, row partitions; see ragged.h. */
#include "api/ragged/ragged.h"
#include "op/calls.h"
#include "rows.h"

/* ---- the class ---- */

static void ragged_destroy(void *self)
{
    tw_ragged_tensor *ragged = self;
    tw_release(ragged->values);
    tw_release(ragged->splits);
}

static int ragged_parts(void *self, tw_tensor **parts)
{
    const tw_ragged_tensor *ragged = self;
    int count = 1;
    parts[0] = tw__flat_values(ragged);
    for (; tw__is_ragged(ragged) && count < TW_RAGGED_PARTS; ragged = ragged->values)
        parts[count++] = ragged->splits;
    return count;
}

static tw_type_spec *ragged_spec(void *self)
{
    const tw_ragged_tensor *ragged = self;
    tw_shape shape = tw__value_shape(ragged);
    return (tw_type_spec *)tw_ragged_tensor_spec(.shape = shape, .dtype = tw__value_dtype(ragged),
                                                 .ragged_rank = tw__ragged_rank(ragged),
                                                 .row_splits_dtype = ragged->splits->dtype);
}

static void *ragged_with_values(void *self, tw_tensor *values)
{
    TW_TEMPS(t);
    return tw__keep(t, tw__temp_with_flat(t, self, values));
}

static const tw__composite_methods ragged_methods = { ragged_parts, ragged_spec, ragged_with_values };

static tw_status ragged_init(__attribute__((unused)) void *self, __attribute__((unused)) const void *given)
{
    return tw__fail(TW_VALUE_ERROR, "RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
                                    "RaggedTensor.from_row_lengths())");
}

TW_CLASS(ragged_tensor, "RaggedTensor(values: value = None, row_splits: value = None)", .parent = &tw__composite_class,
         .size = sizeof(tw_ragged_tensor), .init = ragged_init, .destroy = ragged_destroy, .methods = &ragged_methods,
         .drop_config = true,
         .doc = "A tensor whose rows have different lengths.\n"
                "values: the values of all rows, one behind the other\n"
                "row_splits: where rows begin and the last one ends: [0, …, length]");

bool tw__is_ragged(const void *value)
{
    return value && ((const tw_object *)value)->class == &tw__class_ragged_tensor;
}

tw_ragged_tensor *tw__ragged_new(void *values, tw_tensor *splits, int64_t uniform)
{
    if (!values || !splits)
        return NULL;
    if (tw__ragged_rank(values) + 2 > TW_RAGGED_PARTS) {
        tw__fail(TW_UNIMPLEMENTED, "RaggedTensor: more than %d ragged dimensions are not supported", TW_RAGGED_PARTS - 1);
        return NULL;
    }
    if (splits->dtype != TW_INT32 && splits->dtype != TW_INT64) {
        tw__fail(TW_VALUE_ERROR, "Row partitions of a RaggedTensor must have dtype int32 or int64, got %s",
                 tw_dtype_name(splits->dtype));
        return NULL;
    }
    tw_ragged_tensor *ragged = tw__object_new(&tw__class_ragged_tensor);
    if (ragged) {
        ragged->values = tw_retain(values);
        ragged->splits = tw_retain(splits);
        ragged->uniform = uniform;
    }
    return ragged;
}

tw_ragged_tensor *tw__temp_ragged(tw__temps *t, void *values, tw_tensor *splits, int64_t uniform)
{
    return tw__temp(t, tw__ragged_new(values, splits, uniform));
}

int tw__ragged_rank(const void *value)
{
    int rank = 0;
    for (; tw__is_ragged(value); rank++)
        value = ((const tw_ragged_tensor *)value)->values;
    return rank;
}

tw_tensor *tw__flat_values(const void *value)
{
    while (tw__is_ragged(value))
        value = ((const tw_ragged_tensor *)value)->values;
    return (tw_tensor *)value;
}

tw_dtype tw__value_dtype(const void *value)
{
    return tw__flat_values(value)->dtype;
}

tw_shape tw__value_shape(const void *value)
{
    if (!tw__is_ragged(value))
        return ((const tw_tensor *)value)->shape;
    const tw_ragged_tensor *ragged = value;
    tw_shape inner = tw__value_shape(ragged->values), shape = TW_UNKNOWN_SHAPE;
    if (inner.rank < 1 || inner.rank == TW_MAX_RANK)
        return shape;
    shape.rank = inner.rank + 1;
    shape.dims[0] = ragged->splits->shape.rank == 1 && ragged->splits->shape.dims[0] > 0 ? ragged->splits->shape.dims[0] - 1 : -1;
    shape.dims[1] = ragged->uniform;
    for (int i = 1; i < inner.rank; i++)
        shape.dims[i + 1] = inner.dims[i];
    return shape;
}

tw_ragged_tensor *tw__temp_with_values(tw__temps *t, const tw_ragged_tensor *like, void *values)
{
    return tw__temp_ragged(t, values, like->splits, like->uniform);
}

void *tw__temp_with_flat(tw__temps *t, void *like, void *flat)
{
    if (!tw__is_ragged(like) || !flat)
        return flat;
    const tw_ragged_tensor *ragged = like;
    void *inner = tw__temp_with_flat(t, ragged->values, flat);
    return inner ? tw__temp_with_values(t, ragged, inner) : NULL;
}

/* ---- row partitions ---- */

tw_tensor *tw__splits_lengths(tw__temps *t, tw_tensor *splits)
{
    return TW_TEMP(Sub, tw__temp_slice(t, splits, 1, TW_NO_INT), tw__temp_slice(t, splits, TW_NO_INT, -1));
}

/* Where each of the places goes among sorted numbers. */
static tw_tensor *bound(tw__temps *t, const tw_op *op, tw_tensor *sorted, tw_tensor *places)
{
    tw_dtype dtype = places ? places->dtype : TW_INT64;
    tw_tensor *zero = tw__temp_int(t, 0, TW_INT32), *rows = TW_TEMP(ExpandDims, sorted, zero),
              *row = TW_TEMP(ExpandDims, places, zero);
    tw_tensor *found = tw__temp(t, tw__call(op, TW_IN(rows, row), 2, TW_WITH(TW_A_TYPE("out_type", TW_INT64)), 1));
    found = TW_TEMP(Squeeze, found, TW_A_INTS("squeeze_dims", (const int64_t[]){ 0 }, 1));
    return tw__temp_cast(t, found, dtype);
}

tw_tensor *tw__splits_rowids(tw__temps *t, tw_tensor *splits)
{
    tw_tensor *places = tw__temp_range(t, tw__temp_at(t, splits, -1));
    return TW_TEMP(Sub, bound(t, &tw__op_UpperBound, splits, places), tw__temp_int(t, 1, splits->dtype));
}

tw_tensor *tw__splits_of_lengths(tw__temps *t, tw_tensor *lengths)
{
    if (!lengths)
        return NULL;
    tw_tensor *sums = TW_TEMP(Cumsum, lengths, tw__temp_int(t, 0, TW_INT32));
    return tw__temp_concat(t, TW_IN(tw__temp_ints(t, (const int64_t[]){ 0 }, 1, lengths->dtype), sums), 2, 0);
}

tw_tensor *tw__splits_of_rowids(tw__temps *t, tw_tensor *rowids, tw_tensor *rows)
{
    if (!rowids)
        return NULL;
    tw_dtype dtype = rowids->dtype;
    tw_tensor *one = tw__temp_int(t, 1, dtype);
    if (!rows) {
        tw_tensor *all = tw__temp_concat(t, TW_IN(rowids, tw__temp_ints(t, (const int64_t[]){ -1 }, 1, dtype)), 2, 0);
        rows = TW_TEMP(AddV2, TW_TEMP(Max, all, tw__temp_int(t, 0, TW_INT32)), one);
    }
    return bound(t, &tw__op_LowerBound, rowids, tw__temp_range(t, TW_TEMP(AddV2, tw__temp_cast(t, rows, dtype), one)));
}

tw_tensor *tw__splits_uniform(tw__temps *t, tw_tensor *rows, tw_tensor *length)
{
    return TW_TEMP(Mul, tw__temp_range(t, TW_TEMP(AddV2, rows, tw__temp_int(t, 1, rows ? rows->dtype : TW_INT64))), length);
}

tw_tensor *tw__splits_rows(tw__temps *t, tw_tensor *splits)
{
    tw_dtype dtype = splits->dtype;
    return TW_TEMP(Sub, tw__temp_at(t, tw__temp_shape(t, splits, dtype), 0), tw__temp_int(t, 1, dtype));
}

tw_tensor *tw__value_rows(tw__temps *t, void *value, tw_dtype dtype)
{
    if (!value)
        return NULL;
    if (tw__is_ragged(value))
        return tw__temp_cast(t, tw__splits_rows(t, ((tw_ragged_tensor *)value)->splits), dtype);
    const tw_tensor *tensor = value;
    if (tensor->shape.rank > 0 && tensor->shape.dims[0] >= 0)
        return tw__temp_int(t, tensor->shape.dims[0], dtype);
    return tw__temp_at(t, tw__temp_shape(t, value, dtype), 0);
}

void *tw__value_given(tw__temps *t, const tw_value *given, tw_dtype hint, const char *what)
{
    if (given->kind == TW_VALUE_OBJECT && tw__is_ragged(given->object))
        return given->object;
    return tw__temp(t, tw__value_tensor(given, hint, what));
}

tw_value tw__value_result(tw__temps *t, void *value)
{
    void *kept = tw__keep(t, value);
    return kept && tw__is_ragged(kept) ? tw__value_of_object(kept) : tw__value_of_tensor(kept);
}

/* ---- what they are ---- */

TW_PROPERTY(ragged_tensor_values, "RaggedTensor.values(self: ragged_tensor) -> value",
            "The rows one after the other, without their limits.")
{
    void *values = tw_retain(args->self->values);
    return tw__is_ragged(values) ? tw__value_of_object(values) : tw__value_of_tensor(values);
}

TW_PROPERTY(ragged_tensor_row_splits, "RaggedTensor.row_splits(self: ragged_tensor) -> tensor",
            "Where rows begin, and where the last one ends.")
{
    return tw_retain(args->self->splits);
}

TW_PROPERTY(ragged_tensor_flat_values, "RaggedTensor.flat_values(self: ragged_tensor) -> tensor",
            "The values of the innermost ragged dimension.")
{
    return tw_retain(tw__flat_values(args->self));
}

/* What a function gives for each ragged dimension, the outermost first, as a tuple. */
static tw_value each_level(const tw_ragged_tensor *ragged, tw_tensor *(*function)(tw__temps *t, tw_tensor *splits))
{
    tw_value list = { .kind = TW_VALUE_TUPLE, .list = { tw__alloc_array(TW_RAGGED_PARTS, sizeof(tw_value)), 0 } };
    TW_TEMPS(t);
    for (; list.list.items && tw__is_ragged(ragged); ragged = ragged->values) {
        tw_tensor *made = function ? function(t, ragged->splits) : ragged->splits;
        if (!made) {
            tw_value_free(&list);
            break;
        }
        list.list.items[list.list.count++] = tw__value_of_tensor(tw_retain(made));
    }
    return list;
}

TW_PROPERTY(ragged_tensor_nested_row_splits, "RaggedTensor.nested_row_splits(self: ragged_tensor) -> value",
            "The row splits of every ragged dimension.")
{
    return each_level(args->self, NULL);
}

TW_METHOD(ragged_tensor_nested_row_lengths, "RaggedTensor.nested_row_lengths(self: ragged_tensor, name: str = None) -> value",
          "The lengths of the rows of every ragged dimension.")
{
    return each_level(args->self, tw__splits_lengths);
}

TW_METHOD(ragged_tensor_nested_value_rowids, "RaggedTensor.nested_value_rowids(self: ragged_tensor, name: str = None) -> value",
          "The row of each value of every ragged dimension.")
{
    return each_level(args->self, tw__splits_rowids);
}

TW_PROPERTY(ragged_tensor_uniform_row_length, "RaggedTensor.uniform_row_length(self: ragged_tensor) -> tensor",
            "The length of every row, if it is known to be one.")
{
    TW_TEMPS(t);
    return args->self->uniform < 0 ? NULL : tw__keep(t, tw__temp_int(t, args->self->uniform, args->self->splits->dtype));
}

TW_PROPERTY(ragged_tensor_ragged_rank, "RaggedTensor.ragged_rank(self: ragged_tensor) -> int", "How many dimensions are ragged.")
{
    return tw__ragged_rank(args->self);
}

TW_PROPERTY(ragged_tensor_dtype, "RaggedTensor.dtype(self: ragged_tensor) -> dtype", "The dtype of the values.")
{
    return tw__value_dtype(args->self);
}

TW_PROPERTY(ragged_tensor_shape, "RaggedTensor.shape(self: ragged_tensor) -> shape", "The shape as far as it is one.")
{
    return tw__value_shape(args->self);
}

TW_METHOD(ragged_tensor_get_shape, "RaggedTensor.get_shape(self: ragged_tensor) -> shape", "The shape as far as it is one.")
{
    return tw__value_shape(args->self);
}

TW_PROPERTY(ragged_tensor_type_spec, "RaggedTensor._type_spec(self: ragged_tensor) -> type_spec", "The type of the value.")
{
    return ragged_spec(args->self);
}

TW_METHOD(ragged_tensor_consumers, "RaggedTensor.consumers(self: ragged_tensor) -> tensors",
          "Operations that use it: of a value that was made at once, none.")
{
    return (tw_tensors){ tw__alloc_array(1, sizeof(tw_tensor *)), 0 };
}

TW_METHOD(ragged_tensor_hash, "RaggedTensor.__hash__(self: ragged_tensor) -> int", "Refused.")
{
    tw__fail(TW_TYPE_ERROR, "RaggedTensor is unhashable.");
    return 0;
}

TW_METHOD(ragged_tensor_truth, "RaggedTensor.__bool__(self: ragged_tensor) -> bool", "Refused.")
{
    tw__fail(TW_TYPE_ERROR, "RaggedTensor may not be used as a boolean.");
    return false;
}

TW_METHOD(ragged_tensor_repr, "RaggedTensor.__repr__|RaggedTensor.__str__(self: ragged_tensor) -> str",
          "The rows; in a graph, the tensors.")
{
    tw__text text = { 0 };
    tw__ragged_text(&text, args->self);
    return tw__text_take(&text);
}

TW_METHOD(ragged_tensor_nrows, "RaggedTensor.nrows(self: ragged_tensor, out_type: dtype = None, name: str = None) -> tensor",
          "How many rows there are.")
{
    TW_TEMPS(t);
    tw_dtype dtype = args->out_type == TW_DTYPE_NONE ? args->self->splits->dtype : args->out_type;
    return tw__keep(t, tw__temp_cast(t, tw__splits_rows(t, args->self->splits), dtype));
}

TW_METHOD(ragged_tensor_row_starts, "RaggedTensor.row_starts(self: ragged_tensor, name: str = None) -> tensor",
          "Where rows begin.")
{
    TW_TEMPS(t);
    return tw__keep(t, tw__temp_slice(t, args->self->splits, TW_NO_INT, -1));
}

TW_METHOD(ragged_tensor_row_limits, "RaggedTensor.row_limits(self: ragged_tensor, name: str = None) -> tensor", "Where rows end.")
{
    TW_TEMPS(t);
    return tw__keep(t, tw__temp_slice(t, args->self->splits, 1, TW_NO_INT));
}

TW_METHOD(ragged_tensor_value_rowids, "RaggedTensor.value_rowids(self: ragged_tensor, name: str = None) -> tensor",
          "The row of each value.")
{
    TW_TEMPS(t);
    return tw__keep(t, tw__splits_rowids(t, args->self->splits));
}
