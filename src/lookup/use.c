/* Looking into tables and changing them. */
#include "api/composite.h"
#include "op/calls.h"
#include "eager/eager.h"
#include "lookup/lookup.h"
#include "rows.h"
#include "session/session.h"

static tw_status check(const struct tw_lookup_table *table, const char *what)
{
    return table->handle ? TW_OK : tw__fail(TW_VALUE_ERROR, "%s: the vocabulary has no table, only buckets", what);
}

/* The node that a call of the graph that is built by a session has added, as what programs run; NULL elsewhere. */
static struct tw_operation *added(tw_status status, size_t since)
{
    int count = 0;
    tw__graph *graph = status == TW_OK && tw__tracing && tw__tracing->lasting ? tw__tracing : NULL;
    tw__owned tw__node **nodes = graph ? tw__effects_since(graph, since, &count) : NULL;
    return nodes && count ? tw__operation_of(nodes[count - 1]) : NULL;
}

static size_t nodes_now(void)
{
    return tw__tracing ? tw__tracing->node_count : 0;
}

tw_tensor *tw__lookup_tensor(const tw_value *value, tw_dtype dtype, const char *what, bool outside)
{
    tw__outside scope = outside ? tw__root_begin() : (tw__outside){ .graph = NULL };
    tw_tensor *tensor = tw__value_tensor(value, dtype, what);
    if (outside)
        tw__outside_end(scope);
    if (!tensor || dtype == TW_DTYPE_NONE || tensor->dtype == dtype)
        return tensor;
    tw__fail(TW_TYPE_ERROR, "Dtype of argument `%s` must be <dtype: '%s'>, received: <dtype: '%s'>", what, tw_dtype_name(dtype),
             tw_dtype_name(tensor->dtype));
    tw_release(tensor);
    return NULL;
}

/* ---- looking ---- */

static tw_tensor *find(const struct tw_lookup_table *table, tw_tensor *keys, tw_tensor *otherwise)
{
    if (!otherwise)
        return TW_CALL(LookupTableFindV2, table->handle, keys, table->otherwise);
    return TW_CALL(LookupTableFindV2, table->handle, keys, otherwise);
}

/* Numbers of a vocabulary: what it has not goes by its hash into the buckets behind it. */
static tw_tensor *find_number(const struct tw_lookup_table *table, tw_tensor *keys)
{
    TW_TEMPS(t);
    bool integer = table->initializer && table->key_dtype == TW_INT64 && keys->dtype != TW_INT64;
    tw_tensor *own = integer ? tw__temp_cast(t, keys, TW_INT64) : keys;
    tw_tensor *texts = own && own->dtype != TW_STRING ? tw__temp(t, TW_CALL(AsString, own)) : own;
    tw_attr buckets = TW_A_INT("num_buckets", table->spare);
    tw_tensor *spare = texts ? tw__temp(t, TW_CALL(StringToHashBucketFast, texts, buckets)) : NULL;
    if (!spare || !table->handle)
        return tw__keep(t, spare);
    tw_tensor *found = tw__temp(t, find(table, own, NULL));
    tw_tensor *size = found ? tw__temp(t, TW_CALL(LookupTableSizeV2, table->handle)) : NULL;
    tw_tensor *moved = size ? tw__temp(t, TW_CALL(AddV2, spare, size)) : NULL;
    tw_tensor *known = moved ? tw__temp(t, TW_CALL(NotEqual, found, table->otherwise)) : NULL;
    return tw__keep(t, known ? tw__temp(t, TW_CALL(SelectV2, known, found, moved)) : NULL);
}

static tw_tensor *look(const struct tw_lookup_table *table, tw_tensor *keys, tw_tensor *otherwise)
{
    if (!table->otherwise && !otherwise && !table->spare) {
        tw__fail(TW_ATTRIBUTE_ERROR, "a table of a SavedModel has no default: it is looked up by the model's functions");
        return NULL;
    }
    return table->spare ? find_number(table, keys) : find(table, keys, otherwise);
}

static tw_value lookup(const struct tw_lookup_table *table, const tw_value *keys, const tw_value *defaults)
{
    tw_value none = { .kind = TW_VALUE_NONE };
    tw_dtype dtype = table->spare ? table->asked_dtype : table->key_dtype;
    tw_auto tw_tensor *otherwise = defaults && defaults->kind != TW_VALUE_NONE
                                       ? tw__lookup_tensor(defaults, table->value_dtype, "dynamic_default_values", false)
                                       : NULL;
    if (tw_error_code() != TW_OK)
        return none;
    if (keys->kind != TW_VALUE_OBJECT || !tw__is_composite(keys->object)) {
        tw_auto tw_tensor *given = tw__lookup_tensor(keys, dtype, "keys", false);
        return given ? tw__value_of_tensor(look(table, given, otherwise)) : none;
    }
    tw_tensor *parts[TW_COMPOSITE_PARTS];
    tw_object *places = keys->object;
    int count = tw__composite_parts(places, parts);
    bool sparse = tw__is(places, &tw__class_sparse_tensor);
    if (!sparse && !tw__is(places, &tw__class_ragged_tensor)) {
        tw__fail(TW_TYPE_ERROR, "lookup: `keys` must be a tensor, a sparse or a ragged one, got a %s", places->class->name);
        return none;
    }
    tw_tensor *flat = parts[sparse && count > 1 ? 1 : 0];
    if (flat->dtype != dtype) {
        tw__fail(TW_TYPE_ERROR, "Dtype of argument `keys` must be <dtype: '%s'>, received: <dtype: '%s'>", tw_dtype_name(dtype),
                 tw_dtype_name(flat->dtype));
        return none;
    }
    tw_auto tw_tensor *found = look(table, flat, otherwise);
    return found ? tw__value_of_object(((const tw__composite_methods *)places->class->methods)->with_values(places, found))
                 : none;
}

TW_METHOD(lookup_table_lookup, "lookup._Table.lookup(self: lookup_table, keys: value, name: str = None) -> value",
          "The values of keys: of a tensor, or of each element of a sparse or ragged one.")
{
    return lookup(args->self, &args->keys, NULL);
}

TW_METHOD(lookup_table_get, "lookup._Table.__getitem__(self: lookup_table, keys: value) -> value", "The same as lookup.")
{
    return lookup(args->self, &args->keys, NULL);
}

TW_METHOD(
    lookup_mutable_hash_table_lookup,
    "lookup.experimental.MutableHashTable.lookup(self: lookup_mutable_hash_table, keys: value, dynamic_default_values: value = None, "
    "name: str = None) -> value",
    "The values of keys. dynamic_default_values: for each key what it has if the table has it not.\n"
    "dynamic_default_values: a value for each key, in place of `default_value`; None: that one")
{
    return lookup((struct tw_lookup_table *)args->self, &args->keys, &args->dynamic_default_values);
}

TW_METHOD(lookup_table_size, "lookup._Table.size(self: lookup_table, name: str = None) -> tensor",
          "How many keys the table has; of a vocabulary with the further buckets.")
{
    struct tw_lookup_table *table = args->self;
    tw_value more = { .kind = TW_VALUE_INT, .i = table->spare };
    tw_auto tw_tensor *spare = tw__value_tensor(&more, TW_INT64, "num_oov_buckets");
    if (!spare || !table->handle)
        return tw_retain(spare);
    tw_tensor *size = TW_CALL(LookupTableSizeV2, table->handle);
    if (!size || !table->spare)
        return size;
    tw_auto tw_tensor *own = size;
    return TW_CALL(AddV2, own, spare);
}

tw_status tw__lookup_export(const struct tw_lookup_table *table, tw_tensor *handle, tw_tensor *out[2])
{
    tw_attr attrs[] = { TW_A_TYPE("Tkeys", table->key_dtype), TW_A_TYPE("Tvalues", table->value_dtype) };
    int count = 2;
    return tw__apply(&tw__op_LookupTableExportV2, &handle, 1, attrs, 2, out, &count);
}

tw_status tw__lookup_import(const struct tw_lookup_table *table, tw_tensor *handle, tw_tensor *keys, tw_tensor *values)
{
    int none = 0;
    tw_attr attrs[] = { TW_A_TYPE("Tin", table->key_dtype), TW_A_TYPE("Tout", table->value_dtype) };
    return tw__apply(&tw__op_LookupTableImportV2, TW_IN(handle, keys, values), 3, attrs, 2, NULL, &none);
}

TW_METHOD(lookup_table_export, "lookup._Table.export(self: lookup_table, name: str = None) -> value",
          "(keys, values): all that the table has. Of a dense one all buckets, also empty ones.")
{
    tw_value none = { .kind = TW_VALUE_NONE };
    tw_tensor *both[2] = { NULL, NULL };
    tw_value *items = check(args->self, "export") == TW_OK ? tw__alloc_array(2, sizeof *items) : NULL;
    if (!items || tw__lookup_export(args->self, args->self->handle, both) != TW_OK) {
        tw__free(items);
        return none;
    }
    items[0] = tw__value_of_tensor(both[0]);
    items[1] = tw__value_of_tensor(both[1]);
    return (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, 2 } };
}

/* ---- changing ---- */

static struct tw_operation *change(const struct tw_lookup_table *table, const tw_op *op, const tw_value *keys,
                                   const tw_value *values)
{
    int none = 0;
    size_t since = nodes_now();
    tw_auto tw_tensor *given = tw__lookup_tensor(keys, table->key_dtype, "keys", false);
    tw_auto tw_tensor *new = given &&values ? tw__lookup_tensor(values, table->value_dtype, "values", false) : NULL;
    if (!given || (values && !new))
        return NULL;
    tw_status status = tw__apply(op, TW_IN(table->handle, given, new), values ? 3 : 2, NULL, 0, NULL, &none);
    return added(status, since);
}

TW_METHOD(
    lookup_mutable_hash_table_insert,
    "lookup.experimental.MutableHashTable.insert(self: lookup_mutable_hash_table, keys: value, values: value, name: str = None) -> operation",
    "Gives keys values.")
{
    return change((struct tw_lookup_table *)args->self, &tw__op_LookupTableInsertV2, &args->keys, &args->values);
}

TW_METHOD(
    lookup_mutable_hash_table_remove,
    "lookup.experimental.MutableHashTable.remove(self: lookup_mutable_hash_table, keys: value, name: str = None) -> operation",
    "Takes keys out of the table; those that it has not are no error.")
{
    return change((struct tw_lookup_table *)args->self, &tw__op_LookupTableRemoveV2, &args->keys, NULL);
}

TW_METHOD(
    lookup_dense_hash_table_insert,
    "lookup.experimental.DenseHashTable.insert(self: lookup_dense_hash_table, keys: value, values: value, name: str = None) -> operation",
    "Gives keys values.")
{
    return change((struct tw_lookup_table *)args->self, &tw__op_LookupTableInsertV2, &args->keys, &args->values);
}

TW_METHOD(
    lookup_dense_hash_table_insert_or_assign,
    "lookup.experimental.DenseHashTable.insert_or_assign(self: lookup_dense_hash_table, keys: value, values: value, name: str = None) -> operation",
    "Gives keys values.")
{
    return change((struct tw_lookup_table *)args->self, &tw__op_LookupTableInsertV2, &args->keys, &args->values);
}

TW_METHOD(lookup_dense_hash_table_remove,
          "lookup.experimental.DenseHashTable.remove(self: lookup_dense_hash_table, keys: value, name: str = None) -> operation",
          "Takes keys out of the table; those that it has not are no error.")
{
    return change((struct tw_lookup_table *)args->self, &tw__op_LookupTableRemoveV2, &args->keys, NULL);
}

TW_METHOD(lookup_dense_hash_table_erase,
          "lookup.experimental.DenseHashTable.erase(self: lookup_dense_hash_table, keys: value, name: str = None) -> operation",
          "Takes keys out of the table; those that it has not are no error.")
{
    return change((struct tw_lookup_table *)args->self, &tw__op_LookupTableRemoveV2, &args->keys, NULL);
}
