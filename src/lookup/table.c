/* tf.lookup's tables. */
#include "eager/eager.h"
#include "graph/graph.h"
#include "lookup/lookup.h"
#include "op/table/table.h"
#include "rows.h"

static void table_destroy(void *self)
{
    struct tw_lookup_table *table = self;
    tw_release(table->handle);
    tw_release(table->otherwise);
    tw_release(table->initializer);
    tw_release(table->empty_key);
    tw_release(table->deleted_key);
    tw__free(table->name);
    tw__free(table->shared);
}

TW_CLASS(lookup_table, "lookup._Table()", .parent = &tw__trackable_class, .size = sizeof(struct tw_lookup_table),
         .destroy = table_destroy, .drop_config = true, .doc = "A table from keys to values.");

/* ---- making ---- */

tw_tensor *tw__lookup_create(const struct tw_lookup_table *table)
{
    tw_attr attrs[6];
    int count = 0;
    bool sized = table->value_shape.rank > 0;
    const tw_op *op = table->empty_key ? &tw__op_MutableDenseHashTableV2
                      : table->fixed   ? &tw__op_HashTableV2
                      : sized          ? &tw__op_MutableHashTableOfTensorsV2
                                       : &tw__op_MutableHashTableV2;
    attrs[count++] = (tw_attr)TW_A_TYPE("key_dtype", table->key_dtype);
    attrs[count++] = (tw_attr)TW_A_TYPE("value_dtype", table->value_dtype);
    attrs[count++] = (tw_attr)TW_A_STRING("shared_name", table->shared);
    if (table->empty_key || (sized && !table->fixed))
        attrs[count++] = (tw_attr)TW_A_SHAPE("value_shape", &table->value_shape);
    if (table->empty_key && table->buckets != TW_NO_INT)
        attrs[count++] = (tw_attr)TW_A_INT("initial_num_buckets", table->buckets);
    bool before = tw__kernel_state_once;
    tw__kernel_state_once = true; /* each table is one of its own */
    tw_tensor *handle = tw__call(op, TW_IN(table->empty_key, table->deleted_key), table->empty_key ? 2 : 0, attrs, count);
    tw__kernel_state_once = before;
    return handle;
}

static tw_status name_shared(struct tw_lookup_table *table)
{
    static _Atomic uint64_t number;
    tw__free(table->shared);
    table->shared = tw__format("table_%llu", (unsigned long long)++number);
    return table->shared ? TW_OK : TW_RESOURCE_EXHAUSTED;
}

/* Makes the table behind the object, and fills it; outside of functions that are traced. */
static tw_status make(struct tw_lookup_table *table, const char *name)
{
    if (name && !(table->name = tw__strdup(name)))
        return TW_RESOURCE_EXHAUSTED;
    TW_TRY(name_shared(table));
    table->fixed = table->initializer != NULL;
    table->value_shape = table->otherwise->shape;
    tw__outside outside = tw__root_begin();
    table->handle = tw__lookup_create(table);
    tw_status status = table->handle ? TW_OK : tw__error_status();
    if (status == TW_OK && table->initializer)
        status = tw__lookup_fill(table->initializer, table->handle);
    tw__outside_end(outside);
    return status;
}

static tw_status take_initializer(struct tw_lookup_table *table, struct tw_table_initializer *initializer)
{
    table->initializer = tw_retain(initializer);
    table->key_dtype = initializer->key_dtype;
    table->value_dtype = initializer->value_dtype;
    return tw__track(&table->trackable, "_initializer", initializer);
}

static tw_status static_init(void *self, const void *given)
{
    const tw_lookup_static_hash_table_args *args = given;
    struct tw_lookup_table *table = self;
    TW_TRY(take_initializer(table, args->initializer));
    table->otherwise = tw__lookup_tensor(&args->default_value, table->value_dtype, "default_value", true);
    return table->otherwise ? make(table, args->name) : tw__error_status();
}

TW_CLASS(
    lookup_static_hash_table,
    "lookup.StaticHashTable(initializer: table_initializer, default_value: value, name: str = None, experimental_is_anonymous: bool = False)",
    .parent = &tw__class_lookup_table, .size = sizeof(struct tw_lookup_table), .init = static_init, .drop_config = true,
    .doc = "A table that its initializer fills once. Keys that it has not have the default.\n"
           "initializer: what gives the keys and values\n"
           "example: table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(['a', 'b'], [1, 2]), -1)\n"
           "example: table.lookup(tf.constant(['b', 'c'])).numpy().tolist()  # [2, -1]");

static tw_status vocabulary_init(void *self, const void *given)
{
    const tw_lookup_static_vocabulary_table_args *args = given;
    struct tw_lookup_table *table = self;
    if (args->num_oov_buckets <= 0)
        return tw__fail(TW_VALUE_ERROR, "`num_oov_buckets` must be > 0; use StaticHashTable.");
    table->spare = args->num_oov_buckets;
    table->key_dtype = TW_STRING;
    table->value_dtype = TW_INT64;
    struct tw_table_initializer *initializer = args->initializer.kind == TW_VALUE_OBJECT ? args->initializer.object : NULL;
    if (args->initializer.kind != TW_VALUE_NONE && !tw__is(initializer, &tw__class_table_initializer))
        return tw__fail(TW_TYPE_ERROR, "StaticVocabularyTable: the argument `initializer` must be an initializer or None");
    if (initializer)
        TW_TRY(take_initializer(table, initializer));
    table->asked_dtype = args->lookup_key_dtype ? args->lookup_key_dtype : table->key_dtype;
    if (table->value_dtype != TW_INT64)
        return tw__fail(TW_TYPE_ERROR, "Invalid `value_dtype`, expected <dtype: 'int64'> but got <dtype: '%s'>.",
                        tw_dtype_name(table->value_dtype));
    if (initializer && table->key_dtype != TW_INT64 && table->key_dtype != TW_STRING)
        return tw__fail(TW_TYPE_ERROR, "Invalid `key_dtype`, expected one of (tf.int64, tf.string), but got <dtype: '%s'>.",
                        tw_dtype_name(table->key_dtype));
    bool integer = tw__dtype_is_integer(table->asked_dtype);
    if (initializer && integer != (table->key_dtype == TW_INT64))
        return tw__fail(TW_TYPE_ERROR, "Invalid `key_dtype`, expected %s but got <dtype: '%s'>.", integer ? "integer" : "string",
                        tw_dtype_name(table->key_dtype));
    if (!initializer)
        return TW_OK;
    tw_value none = { .kind = TW_VALUE_INT, .i = -1 };
    table->otherwise = tw__lookup_tensor(&none, TW_INT64, "default_value", true);
    return table->otherwise ? make(table, args->name) : tw__error_status();
}

TW_CLASS(
    lookup_static_vocabulary_table,
    "lookup.StaticVocabularyTable(initializer: value, num_oov_buckets: int, lookup_key_dtype: dtype = None, name: str = None, "
    "experimental_is_anonymous: bool = False)",
    .parent = &tw__class_lookup_table, .size = sizeof(struct tw_lookup_table), .init = vocabulary_init, .drop_config = true,
    .doc = "Numbers for keys; those that the vocabulary has not get one of further buckets, by their hash.\n"
           "num_oov_buckets: how many further numbers there are for keys that the vocabulary has not\n"
           "lookup_key_dtype: the dtype of the keys that are looked up; None: that of the initializer\n"
           "initializer: what gives the keys and values");

static tw_status mutable_init(void *self, const void *given)
{
    const tw_lookup_mutable_hash_table_args *args = given;
    struct tw_lookup_table *table = self;
    table->key_dtype = args->key_dtype;
    table->value_dtype = args->value_dtype;
    table->saved = true; /* whatever `checkpoint` says, which is for the Savers of TensorFlow 1's graphs */
    table->otherwise = tw__lookup_tensor(&args->default_value, table->value_dtype, "default_value", true);
    if (table->otherwise && table->otherwise->shape.rank > 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Default value must be a vector, got shape %s",
                        tw__shape_text(&table->otherwise->shape));
    return table->otherwise ? make(table, args->name) : tw__error_status();
}

TW_CLASS(
    lookup_mutable_hash_table,
    "lookup.experimental.MutableHashTable(key_dtype: dtype, value_dtype: dtype, default_value: value, name: str = MutableHashTable, "
    "checkpoint: bool = True, experimental_is_anonymous: bool = False)",
    .parent = &tw__class_lookup_table, .size = sizeof(struct tw_lookup_table), .init = mutable_init, .drop_config = true,
    .doc = "A table that programs fill and change.\n"
           "checkpoint: True: checkpoints hold the content\n"
           "example: table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)\n"
           "example: table.insert(['a'], [1])\n"
           "example: table.lookup(['a', 'b']).numpy().tolist()  # [1, -1]");

static tw_status dense_init(void *self, const void *given)
{
    const tw_lookup_dense_hash_table_args *args = given;
    struct tw_lookup_table *table = self;
    table->key_dtype = args->key_dtype;
    table->value_dtype = args->value_dtype;
    table->saved = true; /* whatever `checkpoint` says, which is for the Savers of TensorFlow 1's graphs */
    table->buckets = args->initial_num_buckets;
    table->otherwise = tw__lookup_tensor(&args->default_value, table->value_dtype, "default_value", true);
    table->empty_key = table->otherwise ? tw__lookup_tensor(&args->empty_key, table->key_dtype, "empty_key", true) : NULL;
    table->deleted_key = table->empty_key ? tw__lookup_tensor(&args->deleted_key, table->key_dtype, "deleted_key", true) : NULL;
    return table->deleted_key ? make(table, args->name) : tw__error_status();
}

TW_CLASS(
    lookup_dense_hash_table,
    "lookup.experimental.DenseHashTable(key_dtype: dtype, value_dtype: dtype, default_value: value, empty_key: value, deleted_key: value, "
    "initial_num_buckets: int = None, name: str = MutableDenseHashTable, checkpoint: bool = True, experimental_is_anonymous: bool = False)",
    .parent = &tw__class_lookup_table, .size = sizeof(struct tw_lookup_table), .init = dense_init, .drop_config = true,
    .doc = "A table that programs fill and change, in one piece of memory. Two keys can't be used: they mark buckets that are "
           "empty, and that were.\n"
           "empty_key: the key that marks a bucket that is empty\n"
           "deleted_key: the key that marks a bucket whose key was removed\n"
           "initial_num_buckets: how many buckets there are at first\n"
           "checkpoint: True: checkpoints hold the content");

/* ---- out of files ---- */

struct tw_lookup_table *tw__lookup_loaded(void)
{
    return tw__object_new(&tw__class_lookup_table);
}

tw_status tw__lookup_adopt(struct tw_lookup_table *table, tw_tensor *handle)
{
    tw_object *object = handle->dtype == TW_RESOURCE && !handle->node ? tw__tensor_object(handle) : NULL;
    if (tw__is(object, &tw__lookup_table_class)) {
        const tw__lookup_table *own = (const tw__lookup_table *)object;
        table->key_dtype = own->key_dtype;
        table->value_dtype = own->value_dtype;
        table->value_shape = own->value_shape;
        table->fixed = own->fixed;
        table->saved = !own->fixed;
        table->buckets = own->buckets;
        table->empty_key = tw_retain(own->empty_key);
        table->deleted_key = tw_retain(own->deleted_key);
        TW_TRY(name_shared(table));
    }
    table->handle = tw_retain(handle);
    return TW_OK;
}

bool tw__lookup_is(const struct tw_lookup_table *table, const tw_tensor *capture)
{
    return table->handle && !table->handle->node && capture->dtype == TW_RESOURCE && !capture->node && capture->count == 1 &&
           tw__tensor_object(capture) == tw__tensor_object(table->handle);
}

bool tw__lookup_saves(const void *object)
{
    const struct tw_lookup_table *table = object;
    return tw__is(object, &tw__class_lookup_table) && table->saved && table->handle && !table->handle->node;
}

/* ---- facts ---- */

TW_PROPERTY(lookup_table_key_dtype, "lookup._Table.key_dtype(self: lookup_table) -> dtype", "The keys' dtype.")
{
    return args->self->spare ? args->self->asked_dtype : args->self->key_dtype;
}

TW_PROPERTY(lookup_table_value_dtype, "lookup._Table.value_dtype(self: lookup_table) -> dtype", "The values' dtype.")
{
    return args->self->value_dtype;
}

TW_PROPERTY(lookup_table_name, "lookup._Table.name(self: lookup_table) -> value", "The name of its node in a graph; else None.")
{
    const tw_tensor *handle = args->self->handle;
    return handle && handle->node ? tw__value_str(handle->node->name) : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_PROPERTY(lookup_table_resource_handle, "lookup._Table.resource_handle(self: lookup_table) -> tensor",
            "The tensor that stands for it; None of a vocabulary of nothing but buckets.")
{
    return tw_retain(args->self->handle);
}

TW_PROPERTY(lookup_table_default_value, "lookup._Table.default_value(self: lookup_table) -> tensor",
            "What keys have that the table has not.")
{
    return tw_retain(args->self->otherwise);
}
