/* The ops that look into tables and change them. */
#include "op/table/table.h"
#include "rows.h"

/* The shape of keys that belong to rows of `row`: what stands before it. */
static tw_status outer_shape(const tw_shape *whole, const tw_shape *row, const char *what, tw_shape *outer)
{
    bool fits = whole->rank >= row->rank;
    for (int i = 0; fits && i < row->rank; i++)
        fits = whole->dims[whole->rank - row->rank + i] == row->dims[i];
    if (!fits)
        return tw__fail(TW_INVALID_ARGUMENT, "%s of shape %s do not end in the table's shape %s", what, tw__shape_text(whole),
                        tw__shape_text(row));
    *outer = (tw_shape){ .rank = whole->rank - row->rank };
    memcpy(outer->dims, whole->dims, (size_t)outer->rank * sizeof *outer->dims);
    return TW_OK;
}

static tw_status append(const tw_op *op, const tw_shape *outer, const tw_shape *row, tw_shape *whole)
{
    if (outer->rank + row->rank > TW_MAX_RANK)
        return tw__fail(TW_UNIMPLEMENTED, "%s: rank %d, at most %d are supported", op->name, outer->rank + row->rank,
                        TW_MAX_RANK);
    *whole = *outer;
    memcpy(whole->dims + outer->rank, row->dims, (size_t)row->rank * sizeof *row->dims);
    whole->rank += row->rank;
    return TW_OK;
}

static tw_status check_types(const tw__lookup_table *table, const tw_tensor *keys, const tw_tensor *values)
{
    if (keys->dtype != table->key_dtype)
        return tw__fail(TW_INVALID_ARGUMENT, "Key must be type %s but got %s", tw__dtype_text(table->key_dtype),
                        tw__dtype_text(keys->dtype));
    if (values && values->dtype != table->value_dtype)
        return tw__fail(TW_INVALID_ARGUMENT, "Expected value type %s but got %s", tw__dtype_text(table->value_dtype),
                        tw__dtype_text(values->dtype));
    return TW_OK;
}

/* ---- LookupTableFindV2 ---- */

static tw_status find_shape(tw__inference *inference)
{
    const tw_shape *keys = inference->shapes[1], *otherwise = inference->shapes[2];
    if (otherwise->rank == 0 && keys->rank >= 0) /* of a table whose keys are scalars; others tell when they run */
        inference->out_shapes[0] = *keys;
    return TW_OK;
}

static tw_status copy_row(tw_tensor *to, int64_t at, const tw_tensor *row, int64_t size, int64_t from)
{
    if (to->dtype != TW_STRING) {
        size_t bytes = (size_t)size * tw__element_size(to->dtype);
        memcpy((char *)to->data + (size_t)at * bytes, (const char *)row->data + (size_t)from * bytes, bytes);
        return TW_OK;
    }
    for (int64_t i = 0; i < size; i++) {
        tw_string s = tw_tensor_string_at(row, from * size + i);
        TW_TRY(tw__string_set(to, at * size + i, s.data ? s.data : "", s.size));
    }
    return TW_OK;
}

static size_t place_of(const tw__lookup_table *table, const tw_tensor *keys, int64_t index, int64_t size)
{
    if (keys->dtype == TW_STRING) {
        tw_string s = tw_tensor_string_at(keys, index);
        return (size_t)(uintptr_t)tw__map_get(&table->places, s.data ? s.data : "", s.size);
    }
    size_t bytes = (size_t)size * tw__element_size(keys->dtype);
    return (size_t)(uintptr_t)tw__map_get(&table->places, (const char *)keys->data + (size_t)index * bytes, bytes);
}

static tw_status find_all(tw__kernel *kernel, tw__lookup_table *table)
{
    const tw_tensor *keys = kernel->inputs[1], *otherwise = kernel->inputs[2];
    tw_shape outer, whole;
    int64_t key_size, value_size, count;
    if (!table->filled)
        return tw__fail(TW_FAILED_PRECONDITION, "Table not initialized.");
    TW_TRY(check_types(table, keys, otherwise));
    TW_TRY(outer_shape(&keys->shape, &table->key_shape, "keys", &outer));
    TW_TRY(append(kernel->op, &outer, &table->value_shape, &whole));
    TW_TRY(tw__shape_count(&table->key_shape, &key_size));
    TW_TRY(tw__shape_count(&table->value_shape, &value_size));
    TW_TRY(tw__shape_count(&outer, &count));
    TW_TRY(tw__table_check_keys(table, keys));
    bool each = tw__shape_equal(&otherwise->shape, &whole) && whole.rank > table->value_shape.rank; /* a default for every key */
    if (!each && !tw__shape_equal(&otherwise->shape, &table->value_shape))
        return tw__fail(TW_INVALID_ARGUMENT, "Expected shape %s or %s for default value, got %s",
                        tw__shape_text(&table->value_shape), tw__shape_text(&whole), tw__shape_text(&otherwise->shape));
    tw_tensor *out = tw__output(kernel, 0, &whole);
    if (!out)
        return tw__error_status();
    for (int64_t i = 0; i < count; i++) {
        size_t place = place_of(table, keys, i, key_size);
        TW_TRY(copy_row(out, i, place ? table->values[place - 1] : otherwise, value_size, place || !each ? 0 : i));
    }
    return TW_OK;
}

/* The buckets of a dense table, a row each. */
static tw_status import_buckets(tw__kernel *kernel, tw__lookup_table *table)
{
    const tw_tensor *keys = kernel->inputs[1], *values = kernel->inputs[2];
    int64_t key_size, value_size, count = keys->shape.rank ? keys->shape.dims[0] : 0;
    TW_TRY(tw__shape_count(&table->key_shape, &key_size));
    TW_TRY(tw__shape_count(&table->value_shape, &value_size));
    if (!keys->shape.rank || !values->shape.rank || values->shape.dims[0] != count || keys->count != count * key_size ||
        values->count != count * value_size)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "Expected %lld elements of a key and %lld of a value in each row, got keys of shape %s and values of "
                        "shape %s",
                        (long long)key_size, (long long)value_size, tw__shape_text(&keys->shape), tw__shape_text(&values->shape));
    tw__table_clear(table);
    if (count > table->buckets && (count & (count - 1)) == 0)
        table->buckets = count;
    return tw__table_insert(table, keys, values, true);
}

static tw_status insert_all(tw__kernel *kernel, tw__lookup_table *table, bool anew)
{
    const tw_tensor *keys = kernel->inputs[1], *values = kernel->inputs[2];
    tw_shape outer, whole;
    if (table->fixed)
        return tw__fail(TW_UNIMPLEMENTED, "%s: the table is filled once, by its initializer", kernel->op->name);
    TW_TRY(check_types(table, keys, values));
    if (anew && table->empty_key)
        return import_buckets(kernel, table);
    TW_TRY(outer_shape(&keys->shape, &table->key_shape, "keys", &outer));
    TW_TRY(append(kernel->op, &outer, &table->value_shape, &whole));
    if (!tw__shape_equal(&whole, &values->shape))
        return tw__fail(TW_INVALID_ARGUMENT, "Expected shape %s for value, got %s", tw__shape_text(&whole),
                        tw__shape_text(&values->shape));
    if (anew)
        tw__table_clear(table);
    return tw__table_insert(table, keys, values, anew);
}

static tw_status remove_all(tw__kernel *kernel, tw__lookup_table *table)
{
    const tw_tensor *keys = kernel->inputs[1];
    tw_shape outer;
    int64_t size, count;
    if (table->fixed)
        return tw__fail(TW_UNIMPLEMENTED, "%s: the table is filled once, by its initializer", kernel->op->name);
    TW_TRY(check_types(table, keys, NULL));
    TW_TRY(outer_shape(&keys->shape, &table->key_shape, "keys", &outer));
    TW_TRY(tw__shape_count(&table->key_shape, &size));
    TW_TRY(tw__shape_count(&outer, &count));
    TW_TRY(tw__table_check_keys(table, keys));
    for (int64_t i = 0; i < count; i++) {
        size_t place = place_of(table, keys, i, size);
        if (place && table->keys[place - 1]) {
            tw_release(table->keys[place - 1]);
            tw_release(table->values[place - 1]);
            table->keys[place - 1] = table->values[place - 1] = NULL;
        }
    }
    size_t kept = 0;
    tw__map_free(&table->places, NULL);
    table->places = (tw__map){ 0 };
    tw_status status = TW_OK;
    for (size_t i = 0; i < table->count; i++) {
        if (!table->keys[i])
            continue;
        table->keys[kept] = table->keys[i];
        table->values[kept++] = table->values[i];
        tw_string s = table->key_dtype == TW_STRING
                          ? tw_tensor_string_at(table->keys[kept - 1], 0)
                          : (tw_string){ table->keys[kept - 1]->data, (size_t)size * tw__element_size(table->key_dtype) };
        if (status == TW_OK)
            status = tw__map_put(&table->places, s.data ? s.data : "", s.size, (void *)(uintptr_t)kept);
    }
    table->count = kept;
    return status;
}

/* Rows of a dense table stand in their buckets, those of others one after the other. */
static tw_status export_rows(const tw__lookup_table *table, tw_tensor *keys, tw_tensor *values, int64_t rows)
{
    int64_t key_size = rows ? keys->count / rows : 0, value_size = rows ? values->count / rows : 0;
    int64_t *buckets = table->empty_key ? tw__table_buckets(table) : NULL;
    if (table->empty_key && !buckets)
        return TW_RESOURCE_EXHAUSTED;
    tw_status status = TW_OK;
    if (buckets && values->dtype != TW_STRING)
        memset(values->data, 0, (size_t)values->count * tw__element_size(values->dtype));
    for (int64_t i = 0; status == TW_OK && i < rows; i++) {
        int64_t row = buckets ? buckets[i] - 1 : i;
        status = copy_row(keys, i, row < 0 ? table->empty_key : table->keys[row], key_size, 0);
        if (status == TW_OK && row >= 0)
            status = copy_row(values, i, table->values[row], value_size, 0);
    }
    tw__free(buckets);
    return status;
}

static tw_status export_all(tw__kernel *kernel, tw__lookup_table *table)
{
    tw_shape keys, values, outer = TW_SHAPE(table->empty_key ? table->buckets : (int64_t)table->count);
    if (kernel->out_dtypes[0] != table->key_dtype || kernel->out_dtypes[1] != table->value_dtype)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: the table is of %s to %s, not of %s to %s", kernel->op->name,
                        tw_dtype_name(table->key_dtype), tw_dtype_name(table->value_dtype), tw_dtype_name(kernel->out_dtypes[0]),
                        tw_dtype_name(kernel->out_dtypes[1]));
    if (table->empty_key) { /* a row of elements each */
        keys = values = TW_SHAPE(table->buckets, 1);
        TW_TRY(tw__shape_count(&table->key_shape, &keys.dims[1]));
        TW_TRY(tw__shape_count(&table->value_shape, &values.dims[1]));
    } else {
        TW_TRY(append(kernel->op, &outer, &table->key_shape, &keys));
        TW_TRY(append(kernel->op, &outer, &table->value_shape, &values));
    }
    tw_tensor *first = tw__output(kernel, 0, &keys), *second = tw__output(kernel, 1, &values);
    return first && second ? export_rows(table, first, second, outer.dims[0]) : tw__error_status();
}

static tw_status size_of(tw__kernel *kernel, tw__lookup_table *table)
{
    tw_tensor *out = tw__output(kernel, 0, &TW_SCALAR);
    if (!out)
        return tw__error_status();
    *(int64_t *)out->data = (int64_t)table->count;
    return TW_OK;
}

/* Any of these under the table's lock. */
static tw_status locked_compute(tw__kernel *kernel)
{
    const tw_op *op = kernel->op;
    tw__lookup_table *table = tw__table_of(kernel);
    if (!table)
        return tw__error_status();
    if (table->fixed && op == &tw__op_LookupTableImportV2) { /* an initializer, too */
        if (!tw__shape_equal(&kernel->inputs[1]->shape, &kernel->inputs[2]->shape))
            return tw__fail(TW_INVALID_ARGUMENT, "Expected shape %s for value, got %s", tw__shape_text(&kernel->inputs[1]->shape),
                            tw__shape_text(&kernel->inputs[2]->shape));
        return tw__table_fill(table, kernel->inputs[1], kernel->inputs[2]);
    }
    tw__hold_take(&table->lock);
    tw_status status = op == &tw__op_LookupTableFindV2     ? find_all(kernel, table)
                       : op == &tw__op_LookupTableInsertV2 ? insert_all(kernel, table, false)
                       : op == &tw__op_LookupTableImportV2 ? insert_all(kernel, table, true)
                       : op == &tw__op_LookupTableRemoveV2 ? remove_all(kernel, table)
                       : op == &tw__op_LookupTableExportV2 ? export_all(kernel, table)
                                                           : size_of(kernel, table);
    tw__hold_give(&table->lock);
    return status;
}

#define LOOKUP_ROW(shape_) .shape = shape_, .compute = locked_compute, .stateful = true, .makes_outputs = true

TW_OP(LookupTableFindV2, .inputs = "table_handle: resource, keys: Tin, default_value: Tout", .outputs = "values: Tout",
      .attrs = "Tin: type, Tout: type", LOOKUP_ROW(find_shape),
      .doc = "The values of keys; those that the table has not have the default.");
TW_OP(LookupTableInsertV2, .inputs = "table_handle: resource, keys: Tin, values: Tout", .attrs = "Tin: type, Tout: type",
      LOOKUP_ROW(tw_shape_none), .doc = "Gives keys values.");
TW_OP(LookupTableImportV2, .inputs = "table_handle: resource, keys: Tin, values: Tout", .attrs = "Tin: type, Tout: type",
      LOOKUP_ROW(tw_shape_none), .doc = "Makes a table have these keys and no others.");
TW_OP(LookupTableRemoveV2, .inputs = "table_handle: resource, keys: Tin", .attrs = "Tin: type", LOOKUP_ROW(tw_shape_none),
      .doc = "Takes keys out of a table.");
TW_OP(LookupTableExportV2, .inputs = "table_handle: resource", .outputs = "keys: Tkeys, values: Tvalues",
      .attrs = "Tkeys: type, Tvalues: type", LOOKUP_ROW(tw_shape_unknown), .doc = "All keys of a table and their values.");
TW_OP(LookupTableSizeV2, .inputs = "table_handle: resource", .outputs = "size: int64", LOOKUP_ROW(tw_shape_scalar),
      .doc = "How many keys a table has.");
