/* RaggedTensor.from_…: ragged tensors of values and a row partition. Partitions are checked where their values are known. */
#include "api/ragged/ragged.h"
#include "op/calls.h"
#include "rows.h"

static const tw_value nothing = { .kind = TW_VALUE_NONE };

/* A row partition: int64 unless it comes as an array or a tensor of another dtype. */
static tw_tensor *partition(tw__temps *t, const tw_value *given, const char *name, int rank)
{
    tw_tensor *made = tw__temp(t, tw__value_tensor(given, TW_INT64, name));
    if (!made)
        return NULL;
    if (made->shape.rank >= 0 && made->shape.rank != rank) {
        char *shape = tw__shape_tuple(&made->shape);
        tw__fail(TW_VALUE_ERROR, "Shape %s must have rank %d", shape ? shape : "", rank);
        tw__free(shape);
        return NULL;
    }
    if (made->dtype == TW_FLOAT32 && made->count == 0 && made->data)
        return tw__temp_cast(t, made, TW_INT64); /* an empty list */
    if (made->dtype != TW_INT32 && made->dtype != TW_INT64) {
        tw__fail(TW_VALUE_ERROR, "%s must have dtype int32 or int64", name);
        return NULL;
    }
    return made;
}

static void *values_of(tw__temps *t, const tw_value *given)
{
    return tw__value_given(t, given, TW_DTYPE_NONE, "RaggedTensor: values");
}

/* ---- checks ---- */

static bool not_equal(const char *where, int64_t x, int64_t y)
{
    tw__fail(TW_INVALID_ARGUMENT,
             "%s\nCondition x == y did not hold.\nFirst 1 elements of x:\n[%lld]\nFirst 1 elements of y:\n[%lld]", where,
             (long long)x, (long long)y);
    return false;
}

/* Whether numbers (or their differences) are not negative. */
static bool not_negative(const char *where, const tw_tensor *x, bool differences)
{
    int64_t count = x->count - differences;
    bool good = true;
    for (int64_t i = 0; good && i < count; i++)
        good = tw_tensor_int_at(x, i + differences) - (differences ? tw_tensor_int_at(x, i) : 0) >= 0;
    if (good)
        return true;
    tw__auto(tw__text_free) tw__text list = { 0 };
    for (int64_t i = 0; i < count; i++)
        tw__text_format(&list, "%s'%lld'", i ? ", " : "",
                        (long long)(tw_tensor_int_at(x, i + differences) - (differences ? tw_tensor_int_at(x, i) : 0)));
    tw__fail(TW_INVALID_ARGUMENT, "%s\nCondition x >= 0 did not hold element-wise:\nx (shape=(%lld,) dtype=%s) = \n[%s]", where,
             (long long)count, tw_dtype_name(x->dtype), list.data ? list.data : "");
    return false;
}

/* The number of values that the splits end with is the one there is. */
static bool ends_right(const tw_tensor *splits, const void *values)
{
    tw_shape shape = tw__value_shape(values);
    if (!splits->data || splits->count < 1 || shape.rank < 1 || shape.dims[0] < 0)
        return true;
    int64_t last = tw_tensor_int_at(splits, splits->count - 1);
    return last == shape.dims[0] ||
           not_equal("Arguments to _from_row_partition do not form a valid RaggedTensor", last, shape.dims[0]);
}

static bool splits_right(const tw_tensor *splits)
{
    if (!splits->data)
        return true;
    if (splits->count < 1) {
        tw__fail(TW_VALUE_ERROR, "row_splits tensor may not be empty.");
        return false;
    }
    int64_t first = tw_tensor_int_at(splits, 0);
    if (first != 0)
        return not_equal("Arguments to from_row_splits do not form a valid RaggedTensor:zero", first, 0);
    return not_negative("Arguments to from_row_splits do not form a valid RaggedTensor:monotonic.  ", splits, true);
}

static void *need_rows(void *values)
{
    if (values && tw__value_shape(values).rank == 0) {
        tw__fail(TW_VALUE_ERROR, "Shape () must have rank at least 1");
        return NULL;
    }
    return values;
}

/* The end of the makers below. */
static void *finish(tw__temps *t, void *values, tw_tensor *splits, int64_t uniform, bool validate)
{
    if (!need_rows(values) || !splits || (validate && !ends_right(splits, values)))
        return NULL;
    return tw__temp_ragged(t, values, splits, uniform);
}

/* ---- one dimension ---- */

static void *from_splits(tw__temps *t, void *values, const tw_value *given, bool validate)
{
    tw_tensor *splits = values ? partition(t, given, "row_splits", 1) : NULL;
    return splits && (!validate || splits_right(splits)) ? finish(t, values, splits, -1, validate) : NULL;
}

static void *from_lengths(tw__temps *t, void *values, const tw_value *given, bool validate)
{
    tw_tensor *lengths = values ? partition(t, given, "row_lengths", 1) : NULL;
    if (!lengths || (validate && lengths->data &&
                     !not_negative("Arguments to from_row_lengths do not form a valid RowPartition.  ", lengths, false)))
        return NULL;
    return finish(t, values, tw__splits_of_lengths(t, lengths), -1, validate);
}

static void *from_rowids(tw__temps *t, void *values, const tw_value *given, const tw_value *count, bool validate)
{
    tw_tensor *rowids = values ? partition(t, given, "value_rowids", 1) : NULL;
    tw_tensor *rows = rowids && count->kind != TW_VALUE_NONE ? partition(t, count, "nrows", 0) : NULL;
    if (!rowids || (count->kind != TW_VALUE_NONE && !rows))
        return NULL;
    if (rows && rows->data && tw_tensor_int_at(rows, 0) < 0) {
        tw__fail(TW_VALUE_ERROR, "Expected nrows >= 0; got %lld", (long long)tw_tensor_int_at(rows, 0));
        return NULL;
    }
    if (validate && rowids->data) {
        tw_shape shape = tw__value_shape(values);
        if (shape.rank > 0 && shape.dims[0] >= 0 && shape.dims[0] != rowids->count) {
            not_equal("Arguments to _from_row_partition do not form a valid RaggedTensor", rowids->count, shape.dims[0]);
            return NULL;
        }
        if (!not_negative("Arguments to from_value_rowids do not form a valid RowPartition.  ", rowids, true))
            return NULL;
        int64_t last = rowids->count ? tw_tensor_int_at(rowids, rowids->count - 1) : -1;
        if (rowids->count && tw_tensor_int_at(rowids, 0) < 0) {
            not_negative("Arguments to from_value_rowids do not form a valid RowPartition.  ", rowids, false);
            return NULL;
        }
        if (rows && rows->data && last >= tw_tensor_int_at(rows, 0)) {
            tw__fail(TW_INVALID_ARGUMENT,
                     "Arguments to from_value_rowids do not form a valid RowPartition: row %lld is not below nrows=%lld",
                     (long long)last, (long long)tw_tensor_int_at(rows, 0));
            return NULL;
        }
    }
    return finish(t, values, tw__splits_of_rowids(t, rowids, rows), -1, false);
}

TW_API(ragged_tensor_from_row_splits,
       "RaggedTensor.from_row_splits(values: value, row_splits: value, name: str = None, validate: bool = True) -> ragged_tensor",
       "Row i is values[row_splits[i]:row_splits[i + 1]].\n"
       "row_splits: where rows begin and the last one ends: [0, …, length]\n"
       "example: tf.RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 2, 3]).to_list()  # [[1, 2], [], [3]]")
{
    TW_TEMPS(t);
    return tw__keep(t, from_splits(t, values_of(t, &args->values), &args->row_splits, args->validate));
}

TW_API(
    ragged_tensor_from_row_lengths,
    "RaggedTensor.from_row_lengths(values: value, row_lengths: value, name: str = None, validate: bool = True) -> ragged_tensor",
    "Rows of these lengths.\n"
    "row_lengths: the length of each row\n"
    "example: tf.RaggedTensor.from_row_lengths([1, 2, 3], [2, 0, 1]).to_list()  # [[1, 2], [], [3]]")
{
    TW_TEMPS(t);
    return tw__keep(t, from_lengths(t, values_of(t, &args->values), &args->row_lengths, args->validate));
}

TW_API(
    ragged_tensor_from_value_rowids,
    "RaggedTensor.from_value_rowids(values: value, value_rowids: value, nrows: value = None, name: str = None, validate: bool = True) -> ragged_tensor",
    "Each value in the row that stands beside it; rows are in order.\n"
    "value_rowids: for each value the number of its row, in rising order\n"
    "nrows: how many rows there are; None: up to the last one with values\n"
    "example: tf.RaggedTensor.from_value_rowids([1, 2, 3], [0, 0, 2]).to_list()  # [[1, 2], [], [3]]")
{
    TW_TEMPS(t);
    return tw__keep(t, from_rowids(t, values_of(t, &args->values), &args->value_rowids, &args->nrows, args->validate));
}

TW_API(ragged_tensor_from_row_starts,
       "RaggedTensor.from_row_starts(values: value, row_starts: value, name: str = None, validate: bool = True) -> ragged_tensor",
       "Rows that begin at these places.\n"
       "row_starts: where each row begins")
{
    TW_TEMPS(t);
    void *values = values_of(t, &args->values);
    tw_tensor *starts = values ? partition(t, &args->row_starts, "row_starts", 1) : NULL;
    tw_tensor *count = starts ? tw__temp_reshape(t, tw__value_rows(t, values, starts->dtype), (const int64_t[]){ 1 }, 1) : NULL;
    tw_tensor *splits = count ? tw__temp_concat(t, TW_IN(starts, count), 2, 0) : NULL;
    if (splits && args->validate && !splits_right(splits))
        splits = NULL;
    return tw__keep(t, finish(t, values, splits, -1, false));
}

TW_API(ragged_tensor_from_row_limits,
       "RaggedTensor.from_row_limits(values: value, row_limits: value, name: str = None, validate: bool = True) -> ragged_tensor",
       "Rows that end before these places.\n"
       "row_limits: where each row ends; the place itself does not belong to it")
{
    TW_TEMPS(t);
    void *values = values_of(t, &args->values);
    tw_tensor *limits = values ? partition(t, &args->row_limits, "row_limits", 1) : NULL;
    tw_tensor *zero = limits ? tw__temp_ints(t, (const int64_t[]){ 0 }, 1, limits->dtype) : NULL;
    tw_tensor *splits = zero ? tw__temp_concat(t, TW_IN(zero, limits), 2, 0) : NULL;
    if (splits && args->validate && !splits_right(splits))
        splits = NULL;
    return tw__keep(t, finish(t, values, splits, -1, args->validate));
}

TW_API(
    ragged_tensor_from_uniform_row_length,
    "RaggedTensor.from_uniform_row_length(values: value, uniform_row_length: value, nrows: value = None, validate: bool = True, name: str = None) -> "
    "ragged_tensor",
    "Rows that all have one length.\n"
    "uniform_row_length: the length of each row\n"
    "nrows: how many rows there are; it must be given where the length is 0")
{
    TW_TEMPS(t);
    void *values = need_rows(values_of(t, &args->values)), *made = NULL;
    tw_tensor *length = values ? partition(t, &args->uniform_row_length, "uniform_row_length", 0) : NULL;
    tw_tensor *rows = length && args->nrows.kind != TW_VALUE_NONE ? partition(t, &args->nrows, "nrows", 0) : NULL;
    if (!length || (args->nrows.kind != TW_VALUE_NONE && !rows))
        return NULL;
    int64_t known = length->data ? tw_tensor_int_at(length, 0) : -1;
    tw_tensor *count = tw__value_rows(t, values, length->dtype);
    if (length->data && known < 0)
        tw__fail(TW_VALUE_ERROR, "uniform_row_length must be greater than or equal to zero.");
    else if (known == 0 && !rows)
        rows = tw__temp_int(t, 0, length->dtype);
    else if (!rows)
        rows = TW_TEMP(FloorDiv, count, length);
    rows = tw__temp_cast(t, rows, length->dtype);
    if (rows && count && rows->data && count->data && known >= 0 && args->validate &&
        tw_tensor_int_at(rows, 0) * known != tw_tensor_int_at(count, 0))
        tw__fail(TW_VALUE_ERROR, "uniform_row_length=%lld times nrows=%lld must equal nvals=%lld", (long long)known,
                 (long long)tw_tensor_int_at(rows, 0), (long long)tw_tensor_int_at(count, 0));
    else if (rows && tw_error_code() == TW_OK)
        made = finish(t, values, tw__splits_uniform(t, rows, length), known, false);
    return tw__keep(t, made);
}

/* ---- several dimensions ---- */

typedef void *(*maker)(tw__temps *t, void *values, const tw_value *given, bool validate);

static bool is_list(const tw_value *value, const char *name)
{
    if (value->kind == TW_VALUE_LIST || value->kind == TW_VALUE_TUPLE)
        return true;
    tw__fail(TW_TYPE_ERROR, "Argument `%s` must be a list of Tensors.", name);
    return false;
}

static void *nested(const tw_value *flat, const tw_value *levels, bool validate, maker make, const char *name)
{
    TW_TEMPS(t);
    void *value = is_list(levels, name) ? values_of(t, flat) : NULL;
    for (int64_t i = levels->list.count - 1; value && i >= 0; i--)
        value = make(t, value, &levels->list.items[i], validate);
    return tw__keep(t, value);
}

TW_API(
    ragged_tensor_from_nested_row_splits,
    "RaggedTensor.from_nested_row_splits(flat_values: value, nested_row_splits: value, name: str = None, validate: bool = True) -> value",
    "Ragged in several dimensions, the outermost first.\n"
    "nested_row_splits: the row splits of each ragged dimension")
{
    void *made = nested(&args->flat_values, &args->nested_row_splits, args->validate, from_splits, "nested_row_splits");
    return tw__is_ragged(made) ? tw__value_of_object(made) : tw__value_of_tensor(made);
}

TW_API(
    ragged_tensor_from_nested_row_lengths,
    "RaggedTensor.from_nested_row_lengths(flat_values: value, nested_row_lengths: value, name: str = None, validate: bool = True) -> value",
    "Ragged in several dimensions, the outermost first.\n"
    "nested_row_lengths: the row lengths of each ragged dimension")
{
    void *made = nested(&args->flat_values, &args->nested_row_lengths, args->validate, from_lengths, "nested_row_lengths");
    return tw__is_ragged(made) ? tw__value_of_object(made) : tw__value_of_tensor(made);
}

TW_API(
    ragged_tensor_from_nested_value_rowids,
    "RaggedTensor.from_nested_value_rowids(flat_values: value, nested_value_rowids: value, nested_nrows: value = None, name: str = None, "
    "validate: bool = True) -> value",
    "Ragged in several dimensions, the outermost first.\n"
    "nested_value_rowids: the row numbers of each ragged dimension\n"
    "nested_nrows: the numbers of rows of each ragged dimension; None: up to the last ones with values")
{
    TW_TEMPS(t);
    const tw_value *ids = &args->nested_value_rowids, *counts = &args->nested_nrows;
    void *value = is_list(ids, "nested_value_rowids") ? values_of(t, &args->flat_values) : NULL;
    if (value && counts->kind != TW_VALUE_NONE && (!is_list(counts, "nested_nrows") || counts->list.count != ids->list.count)) {
        tw__fail(TW_VALUE_ERROR, "Argument `nested_nrows` must have the same length as argument `nested_value_rowids`.");
        value = NULL;
    }
    for (int64_t i = ids->list.count - 1; value && i >= 0; i--)
        value = from_rowids(t, value, &ids->list.items[i], counts->kind == TW_VALUE_NONE ? &nothing : &counts->list.items[i],
                            args->validate);
    return tw__value_result(t, value);
}

/* ---- others of the same rows ---- */

TW_METHOD(ragged_tensor_with_values, "RaggedTensor.with_values(self: ragged_tensor, new_values: value) -> ragged_tensor",
          "The same rows of other values.\n"
          "new_values: as many values as there are now")
{
    TW_TEMPS(t);
    void *values = need_rows(values_of(t, &args->new_values));
    tw_shape old = tw__value_shape(args->self->values), given = values ? tw__value_shape(values) : old;
    if (old.rank > 0 && given.rank > 0 && old.dims[0] >= 0 && given.dims[0] >= 0 && old.dims[0] != given.dims[0]) {
        tw__fail(TW_VALUE_ERROR, "Dimensions %lld and %lld are not compatible", (long long)given.dims[0], (long long)old.dims[0]);
        values = NULL;
    }
    return tw__keep(t, values ? tw__temp_with_values(t, args->self, values) : NULL);
}

TW_METHOD(ragged_tensor_with_flat_values,
          "RaggedTensor.with_flat_values(self: ragged_tensor, new_values: value) -> ragged_tensor",
          "The same rows of other values of the innermost dimension.\n"
          "new_values: as many values as there are now")
{
    TW_TEMPS(t);
    void *values = need_rows(values_of(t, &args->new_values));
    tw_shape old = tw__flat_values(args->self)->shape, given = values ? tw__value_shape(values) : old;
    if (old.rank > 0 && given.rank > 0 && old.dims[0] >= 0 && given.dims[0] >= 0 && old.dims[0] != given.dims[0]) {
        tw__fail(TW_VALUE_ERROR, "Dimensions %lld and %lld are not compatible", (long long)given.dims[0], (long long)old.dims[0]);
        values = NULL;
    }
    return tw__keep(t, values ? tw__temp_with_flat(t, args->self, values) : NULL);
}

static void *with_splits_dtype(tw__temps *t, void *value, tw_dtype dtype)
{
    if (!tw__is_ragged(value))
        return value;
    const tw_ragged_tensor *ragged = value;
    return tw__temp_ragged(t, with_splits_dtype(t, ragged->values, dtype), tw__temp_cast(t, ragged->splits, dtype),
                           ragged->uniform);
}

TW_METHOD(ragged_tensor_with_row_splits_dtype,
          "RaggedTensor.with_row_splits_dtype(self: ragged_tensor, dtype: dtype) -> ragged_tensor",
          "The same with row splits of another dtype.")
{
    TW_TEMPS(t);
    if (args->dtype != TW_INT32 && args->dtype != TW_INT64) {
        tw__fail(TW_VALUE_ERROR, "Argument `row_splits` dtype must be int32 or int64. Received dtype=%s.",
                 tw_dtype_name(args->dtype));
        return NULL;
    }
    return tw__keep(t, with_splits_dtype(t, args->self, args->dtype));
}
