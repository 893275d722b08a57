/* Tables as objects, and the ops that make them; see table.h.
 *
 * In a graph the table is the state of its node, so a session keeps it from run to run, and functions that were made of one
 * session share it. Outside of graphs every call makes one. */
#include "op/table/table.h"
#include "rows.h"

static void table_destroy(void *self)
{
    tw__lookup_table *table = self;
    tw__table_clear(table);
    tw__free(table->keys);
    tw__free(table->values);
    tw_release(table->empty_key);
    tw_release(table->deleted_key);
}

const tw_class tw__lookup_table_class = { .name = "LookupTable", .size = sizeof(tw__lookup_table), .destroy = table_destroy };

void tw__table_clear(tw__lookup_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        tw_release(table->keys[i]);
        tw_release(table->values[i]);
    }
    table->count = 0;
    tw__map_free(&table->places, NULL);
    table->places = (tw__map){ 0 };
}

tw__lookup_table *tw__table_of(const tw__kernel *kernel)
{
    tw_object *object = tw__tensor_object(kernel->inputs[0]);
    if (tw__is(object, &tw__lookup_table_class))
        return (tw__lookup_table *)object;
    TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the argument table_handle is no table");
    return NULL;
}

/* Row `index` of a tensor of such rows, as a tensor of its own. */
static tw_tensor *row_of(const tw_tensor *rows, int64_t index, const tw_shape *shape)
{
    tw_tensor *row = tw__tensor_empty(rows->dtype, shape);
    if (!row)
        return NULL;
    if (rows->dtype != TW_STRING) {
        size_t bytes = (size_t)row->count * tw__element_size(rows->dtype);
        memcpy(row->data, (const char *)rows->data + (size_t)index * bytes, bytes);
        return row;
    }
    for (int64_t i = 0; i < row->count; i++) {
        tw_string s = tw_tensor_string_at(rows, index * row->count + i);
        if (tw__string_set(row, i, s.data ? s.data : "", s.size) != TW_OK) {
            tw_release(row);
            return NULL;
        }
    }
    return row;
}

static bool same(const tw_tensor *a, const tw_tensor *b)
{
    if (a->dtype != TW_STRING)
        return memcmp(a->data, b->data, (size_t)a->count * tw__element_size(a->dtype)) == 0;
    for (int64_t i = 0; i < a->count; i++) {
        tw_string x = tw_tensor_string_at(a, i), y = tw_tensor_string_at(b, i);
        if (x.size != y.size || (x.size && memcmp(x.data, y.data, x.size) != 0))
            return false;
    }
    return true;
}

/* The bytes that a key is found by. */
static tw_string bytes_of(const tw_tensor *keys, int64_t index, int64_t size)
{
    if (keys->dtype == TW_STRING) {
        tw_string s = tw_tensor_string_at(keys, index);
        return (tw_string){ s.data ? s.data : "", s.size };
    }
    size_t bytes = (size_t)size * tw__element_size(keys->dtype);
    return (tw_string){ (const char *)keys->data + (size_t)index * bytes, bytes };
}

/* Which of the two that a dense table keeps for itself the key is; NULL: none. */
static const char *reserved(const tw__lookup_table *table, const tw_tensor *keys, int64_t index)
{
    const tw_tensor *refused[] = { table->empty_key, table->deleted_key };
    for (int i = 0; i < 2 && refused[i]; i++) {
        tw_tensor *key = row_of(keys, index, &refused[i]->shape);
        bool equal = key && same(refused[i], key);
        tw_release(key);
        if (equal)
            return i ? "deleted_key" : "empty_key";
    }
    return NULL;
}

tw_status tw__table_check_keys(const tw__lookup_table *table, const tw_tensor *keys)
{
    int64_t size = table->empty_key ? table->empty_key->count : 0;
    for (int64_t i = 0; size && i < keys->count / size; i++) {
        const char *which = reserved(table, keys, i);
        if (which)
            return tw__fail(TW_INVALID_ARGUMENT, "Using the %s as a table key is not allowed", which);
    }
    return TW_OK;
}

static tw_status differs(const tw_tensor *key, const tw_tensor *old, const tw_tensor *new)
{
    tw__auto(tw__text_free) tw__text text = { 0 };
    const tw_tensor *parts[] = { key, old, new };
    const char *const words[] = { "Key ", " has ", " and trying to add value " };
    for (int i = 0; i < 3; i++) {
        tw__text_add(&text, words[i]);
        if (parts[i]->dtype == TW_STRING) {
            tw_string s = tw_tensor_string_at(parts[i], 0);
            tw__text_bytes(&text, s.data ? s.data : "", s.size < 100 ? s.size : 100);
        } else if (tw__print_elements(&text, parts[i], " ", 0) != TW_OK) {
            text.failed = true;
        }
    }
    tw_status status = tw__fail(TW_FAILED_PRECONDITION, "HashTable has different value for same key. %.*s", (int)text.size,
                                text.data ? text.data : "");
    return status;
}

static tw_status put(tw__lookup_table *table, tw_tensor *key, tw_tensor *value)
{
    tw_string bytes = bytes_of(key, 0, key->count);
    size_t place = (size_t)(uintptr_t)tw__map_get(&table->places, bytes.data, bytes.size);
    if (place && table->fixed)
        return same(table->values[place - 1], value) ? TW_OK : differs(key, table->values[place - 1], value);
    if (place) {
        tw_release(table->values[place - 1]);
        table->values[place - 1] = tw_retain(value);
        return TW_OK;
    }
    TW_TRY(TW_GROW(table->keys, table->key_capacity, table->count + 1));
    TW_TRY(TW_GROW(table->values, table->value_capacity, table->count + 1));
    TW_TRY(tw__map_put(&table->places, bytes.data, bytes.size, (void *)(uintptr_t)(table->count + 1)));
    table->keys[table->count] = tw_retain(key);
    table->values[table->count++] = tw_retain(value);
    return TW_OK;
}

tw_status tw__table_insert(tw__lookup_table *table, const tw_tensor *keys, const tw_tensor *values, bool import)
{
    int64_t size, count;
    TW_TRY(tw__shape_count(&table->key_shape, &size));
    count = size ? keys->count / size : 0;
    if (!import)
        TW_TRY(tw__table_check_keys(table, keys));
    while (table->empty_key && (double)(table->count + (import ? 0 : (size_t)count)) > (double)table->buckets * table->load)
        table->buckets *= 2;
    for (int64_t i = 0; i < count; i++) {
        if (import && reserved(table, keys, i))
            continue;
        tw_tensor *key = row_of(keys, i, &table->key_shape), *value = key ? row_of(values, i, &table->value_shape) : NULL;
        tw_status status = value ? put(table, key, value) : tw__error_status();
        tw_release(key);
        tw_release(value);
        TW_TRY(status);
    }
    return TW_OK;
}

static bool has_all(const tw__lookup_table *table, const tw_tensor *keys, const tw_tensor *values)
{
    for (int64_t i = 0; i < keys->count; i++) {
        tw_string bytes = bytes_of(keys, i, 1);
        size_t place = (size_t)(uintptr_t)tw__map_get(&table->places, bytes.data, bytes.size);
        tw_tensor *value = place ? row_of(values, i, &table->value_shape) : NULL;
        bool equal = value && same(value, table->values[place - 1]);
        tw_release(value);
        if (!equal)
            return false;
    }
    return true;
}

void tw__table_unfill(const tw_tensor *handle)
{
    void *object = tw__tensor_object(handle);
    if (!tw__is(object, &tw__lookup_table_class))
        return;
    tw__lookup_table *table = object;
    tw__hold_take(&table->lock);
    tw__table_clear(table);
    table->filled = false;
    tw__hold_give(&table->lock);
}

tw_status tw__table_fill(tw__lookup_table *table, const tw_tensor *keys, const tw_tensor *values)
{
    if (keys->dtype != table->key_dtype || values->dtype != table->value_dtype)
        return tw__fail(TW_INVALID_ARGUMENT, "Key and value types don't match the table's: %s to %s, expected %s to %s",
                        tw_dtype_name(keys->dtype), tw_dtype_name(values->dtype), tw_dtype_name(table->key_dtype),
                        tw_dtype_name(table->value_dtype));
    tw__hold_take(&table->lock);
    tw_status status = TW_OK;
    if (table->filled && !has_all(table, keys, values)) {
        status = tw__fail(TW_FAILED_PRECONDITION, "Table was already initialized with different data.");
    } else if (!table->filled) {
        status = tw__table_insert(table, keys, values, false);
        table->filled = status == TW_OK;
        if (status != TW_OK)
            tw__table_clear(table);
    }
    tw__hold_give(&table->lock);
    return status;
}

/* ---- the ops that make tables ---- */

static void release_state(void *state)
{
    tw_release(state);
}

static tw_status make_dense(tw__kernel *kernel, tw__lookup_table *table)
{
    const tw_tensor *empty = kernel->inputs[0], *deleted = kernel->inputs[1];
    table->buckets = TW_ATTR(kernel, "initial_num_buckets")->i;
    table->load = TW_ATTR(kernel, "max_load_factor")->f;
    if (!tw__shape_equal(&empty->shape, &deleted->shape))
        return tw__fail(TW_INVALID_ARGUMENT, "Empty and deleted keys must have same shape, got shapes: %s and %s",
                        tw__shape_text(&empty->shape), tw__shape_text(&deleted->shape));
    if (same(empty, deleted))
        return tw__fail(TW_INVALID_ARGUMENT, "Empty and deleted keys cannot be equal");
    if (table->buckets < 4 || table->buckets > INT64_C(1) << 40 || (table->buckets & (table->buckets - 1)))
        return tw__fail(TW_INVALID_ARGUMENT, "initial_num_buckets must be at least 4 and a power of 2, got: %lld",
                        (long long)table->buckets);
    if (!(table->load > 0 && table->load < 1))
        return tw__fail(TW_INVALID_ARGUMENT, "max_load_factor must be between 0 and 1, got: %g", table->load);
    table->key_shape = empty->shape;
    table->empty_key = tw_retain(kernel->inputs[0]);
    table->deleted_key = tw_retain(kernel->inputs[1]);
    return TW_OK;
}

static tw__lookup_table *make(tw__kernel *kernel)
{
    const tw_op *op = kernel->op;
    tw__lookup_table *table = tw__object_new(&tw__lookup_table_class);
    if (!table)
        return NULL;
    table->key_dtype = TW_ATTR(kernel, "key_dtype")->type;
    table->value_dtype = TW_ATTR(kernel, "value_dtype")->type;
    table->fixed = op == &tw__op_HashTableV2 || op == &tw__op_AnonymousHashTable;
    table->filled = !table->fixed;
    const tw_attr *shape = TW_ATTR(kernel, "value_shape");
    table->value_shape = shape->kind == TW_ATTR_SHAPE && shape->shape->rank >= 0 ? *shape->shape : TW_SCALAR;
    table->key_shape = TW_SCALAR;
    if (kernel->input_count && make_dense(kernel, table) != TW_OK) {
        tw_release(table);
        return NULL;
    }
    return table;
}

static tw_status table_compute(tw__kernel *kernel)
{
    tw_auto tw__lookup_table *table = kernel->state && *kernel->state ? tw_retain(*kernel->state) : make(kernel);
    if (!table)
        return tw__error_status();
    if (kernel->state && !*kernel->state)
        *kernel->state = tw_retain(table);
    tw_tensor *handle = tw__tensor_of_object(TW_RESOURCE, table);
    return handle ? tw__output_take(kernel, 0, handle) : tw__error_status();
}

static tw_status anonymous_compute(tw__kernel *kernel)
{
    tw_auto tw__lookup_table *table = make(kernel);
    tw_tensor *handle = table ? tw__tensor_of_object(TW_RESOURCE, table) : NULL;
    return handle ? tw__output_take(kernel, 0, handle) : tw__error_status();
}

#define TABLE_ROW(compute_)                                                                                                      \
    .outputs = "table_handle: resource", .shape = tw_shape_scalar, .compute = compute_, .stateful = true, .makes_outputs = true, \
    .no_gradient = true
#define SHARED \
    "container: string = '', shared_name: string = '', use_node_name_sharing: bool = false, key_dtype: type, value_dtype: type"

TW_OP(HashTableV2, .attrs = SHARED, TABLE_ROW(table_compute), .free_state = release_state, .doc = "A table that is filled once.");
TW_OP(MutableHashTableV2, .attrs = SHARED, TABLE_ROW(table_compute), .free_state = release_state,
      .doc = "A table that may change.");
TW_OP(MutableHashTableOfTensorsV2, .attrs = SHARED ", value_shape: shape = []", TABLE_ROW(table_compute),
      .free_state = release_state, .doc = "A table that may change, whose values are tensors of one shape.");
TW_OP(MutableDenseHashTableV2, .inputs = "empty_key: key_dtype, deleted_key: key_dtype",
      .attrs = SHARED ", value_shape: shape = [], initial_num_buckets: int = 131072, max_load_factor: float = 0.8",
      TABLE_ROW(table_compute), .free_state = release_state, .doc = "A table that may change, with two keys that can't be used.");
TW_OP(AnonymousHashTable, .attrs = "key_dtype: type, value_dtype: type", TABLE_ROW(anonymous_compute),
      .doc = "A new table that is filled once.");
TW_OP(AnonymousMutableHashTable, .attrs = "key_dtype: type, value_dtype: type", TABLE_ROW(anonymous_compute),
      .doc = "A new table that may change.");
