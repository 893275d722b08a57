/* Categorical columns: ids of words or integers, by a vocabulary, a hash or as they are. */
#include "keras/features/features.h"

static tw_status check_kind(const char *key, const char *what, tw_dtype dtype)
{
    if (dtype == TW_STRING || tw__dtype_is_integer(dtype))
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR, "column_name: %s %s must be string or integer. dtype: <dtype: '%s'>.", key, what,
                    tw_dtype_name(dtype));
}

/* The feature as a sparse tensor of words or integers, as the column is told. */
static tw_sparse_tensor *words_of(tw__features *f, const char *key, tw_dtype dtype)
{
    tw_sparse_tensor *given = tw__feature_sparse(f, key);
    if (!given)
        return NULL;
    tw_dtype found = given->values->dtype;
    if (tw__dtype_is_integer(dtype) != tw__dtype_is_integer(found)) {
        tw__fail(TW_VALUE_ERROR,
                 "Column dtype and SparseTensors dtype must be compatible. key: %s, column dtype: <dtype: '%s'>, tensor dtype: "
                 "<dtype: '%s'>",
                 key, tw_dtype_name(dtype), tw_dtype_name(found));
        return NULL;
    }
    return check_kind(key, "input_tensor", found) == TW_OK ? given : NULL;
}

static const char *key_of(const tw_feature_column *self)
{
    const tw_signature *signature = tw_class_signature(tw_class_of(self)); /* `key` is the first argument of all of them */
    return *(const char *const *)((const char *)tw_object_config(self) + signature->fields[0].offset);
}

static char *key_name(const tw_feature_column *self)
{
    return tw__strdup(key_of(self));
}

static tw_value key_parents(const tw_feature_column *self)
{
    return tw__column_key_parent(key_of(self));
}

/* ---- hash buckets ---- */

static tw_status hashed_settle(void *self, const void *given)
{
    (void)self;
    const tw_feature_hashed_column_args *args = given;
    if (args->hash_bucket_size == TW_NO_INT)
        return tw__fail(TW_VALUE_ERROR, "hash_bucket_size must be set. key: %s", args->key);
    if (args->hash_bucket_size < 1)
        return tw__fail(TW_VALUE_ERROR, "hash_bucket_size must be at least 1. hash_bucket_size: %lld, key: %s",
                        (long long)args->hash_bucket_size, args->key);
    return check_kind(args->key, "dtype", args->dtype);
}

static tw_status hashed_spec(const tw_feature_column *self, tw__dict *dict)
{
    const tw_feature_hashed_column_args *args = tw_object_config(self);
    return tw__column_spec_put(dict, args->key, "sparse", NULL, args->dtype, NULL);
}

static int64_t hashed_buckets(const tw_feature_column *self)
{
    return ((const tw_feature_hashed_column_args *)tw_object_config(self))->hash_bucket_size;
}

static bool hashed_ids(const tw_feature_column *self, tw__features *f, tw__feature_ids *out)
{
    tw__temps *t = f->t;
    const tw_feature_hashed_column_args *args = tw_object_config(self);
    tw_sparse_tensor *words = words_of(f, args->key, args->dtype);
    tw_tensor *texts = words ? words->values : NULL;
    if (texts && texts->dtype != TW_STRING)
        texts = TW_TEMP(AsString, texts);
    tw_tensor *ids = texts ? TW_TEMP(StringToHashBucketFast, texts, TW_A_INT("num_buckets", args->hash_bucket_size)) : NULL;
    *out = (tw__feature_ids){ ids ? tw__with_values(f, words, ids) : NULL, NULL };
    return out->ids != NULL;
}

static const tw__column_methods hashed_methods = {
    .name = key_name, .spec = hashed_spec, .parents = key_parents, .buckets = hashed_buckets, .ids = hashed_ids
};

TW_CLASS(feature_hashed_column,
         "feature_column._columns.HashedCategoricalColumn|feature_column.categorical_column_with_hash_bucket(key: str, "
         "hash_bucket_size: int?, dtype: dtype = string) -> feature_column",
         .parent = &tw__class_feature_column, .size = sizeof(tw_feature_column), .settle = hashed_settle,
         .methods = &hashed_methods,
         .doc = "Ids of words or integers by their hash.\n"
                "hash_bucket_size: how many ids there are\n"
                "dtype: the dtype of the feature, string or integer");

/* ---- integers as they are ---- */

static tw_status identity_settle(void *self, const void *given)
{
    (void)self;
    const tw_feature_identity_column_args *args = given;
    if (args->num_buckets < 1)
        return tw__fail(TW_VALUE_ERROR, "num_buckets %lld < 1, column_name %s", (long long)args->num_buckets, args->key);
    if (args->default_value != TW_NO_INT && (args->default_value < 0 || args->default_value >= args->num_buckets))
        return tw__fail(TW_VALUE_ERROR, "default_value %lld not in range [0, %lld), column_name %s",
                        (long long)args->default_value, (long long)args->num_buckets, args->key);
    return TW_OK;
}

static tw_status identity_spec(const tw_feature_column *self, tw__dict *dict)
{
    return tw__column_spec_put(dict, key_of(self), "sparse", NULL, TW_INT64, NULL);
}

static int64_t identity_buckets(const tw_feature_column *self)
{
    return ((const tw_feature_identity_column_args *)tw_object_config(self))->num_buckets;
}

static bool identity_ids(const tw_feature_column *self, tw__features *f, tw__feature_ids *out)
{
    tw__temps *t = f->t;
    const tw_feature_identity_column_args *args = tw_object_config(self);
    tw_sparse_tensor *given = tw__feature_sparse(f, args->key);
    if (given && !tw__dtype_is_integer(given->values->dtype)) {
        tw__fail(TW_VALUE_ERROR, "Invalid input, not integer. key: %s dtype: <dtype: '%s'>", args->key,
                 tw_dtype_name(given->values->dtype));
        given = NULL;
    }
    tw_tensor *ids = given ? tw__temp_cast(t, given->values, TW_INT64) : NULL;
    if (ids && args->default_value != TW_NO_INT) {
        tw_tensor *low = TW_TEMP(Less, ids, tw__temp_int(t, 0, TW_INT64));
        tw_tensor *high = TW_TEMP(GreaterEqual, ids, tw__temp_int(t, args->num_buckets, TW_INT64));
        ids = TW_TEMP(SelectV2, TW_TEMP(LogicalOr, low, high), tw__temp_int(t, args->default_value, TW_INT64), ids);
    }
    *out = (tw__feature_ids){ ids ? tw__with_values(f, given, ids) : NULL, NULL };
    return out->ids != NULL;
}

static const tw__column_methods identity_methods = { .name = key_name,
                                                     .spec = identity_spec,
                                                     .parents = key_parents,
                                                     .buckets = identity_buckets,
                                                     .ids = identity_ids,
                                                     .renamed = { "num_buckets", "number_buckets" } };

TW_CLASS(feature_identity_column,
         "feature_column._columns.IdentityCategoricalColumn|feature_column.categorical_column_with_identity(key: str, "
         "num_buckets: int, default_value: int = None) -> feature_column",
         .parent = &tw__class_feature_column, .size = sizeof(tw_feature_column), .settle = identity_settle,
         .methods = &identity_methods,
         .doc = "Integers that are ids themselves.\n"
                "num_buckets: the bound above all ids\n"
                "default_value: the id of integers outside; None: they are an error");

/* ---- vocabularies ---- */

typedef struct vocabulary {
    tw_feature_column column;
    tw_dtype dtype;
    int64_t size;
    tw_tensor *words; /* of a list; NULL: a file */
} vocabulary;

static void vocabulary_destroy(void *self)
{
    vocabulary *column = self;
    tw_release(column->words);
}

static tw_status check_spare(const char *key, int64_t spare, int64_t otherwise, int64_t none)
{
    if (spare < 0)
        return tw__fail(TW_VALUE_ERROR, "Invalid num_oov_buckets %lld in %s.", (long long)spare, key);
    if (spare && otherwise != none)
        return tw__fail(TW_VALUE_ERROR, "Can't specify both num_oov_buckets and default_value in %s.", key);
    return TW_OK;
}

/* Whether a word occurs twice. */
static tw_status find_twice(const tw_tensor *words, bool *twice)
{
    tw__map seen = { 0 };
    tw_status status = TW_OK;
    *twice = false;
    for (int64_t i = 0; i < words->count && status == TW_OK && !*twice; i++) {
        int64_t number = words->dtype == TW_STRING ? 0 : tw_tensor_int_at(words, i);
        tw_string word =
            words->dtype == TW_STRING ? tw_tensor_string_at(words, i) : (tw_string){ (const char *)&number, sizeof number };
        *twice = tw__map_has(&seen, word.data ? word.data : "", word.size);
        status = *twice ? TW_OK : tw__map_put(&seen, word.data ? word.data : "", word.size, (void *)(uintptr_t)1);
    }
    tw__map_end(&seen);
    return status;
}

static tw_tensor *known_tensor(const tw_value *given)
{
    tw__outside outside = tw__root_begin();
    tw_tensor *made = tw__value_tensor(given, TW_INT64, "vocabulary_list");
    tw_tensor *whole = made && tw__dtype_is_integer(made->dtype) ? tw__cast(made, TW_INT64) : tw_retain(made);
    tw_release(made);
    tw__outside_end(outside);
    return whole;
}

static tw_status list_init(void *self, const void *given)
{
    const tw_feature_vocabulary_list_column_args *args = given;
    vocabulary *column = self;
    bool list = args->vocabulary_list.kind == TW_VALUE_LIST || args->vocabulary_list.kind == TW_VALUE_TUPLE;
    tw__text text = { 0 };
    tw__column_value_text(&text, &args->vocabulary_list);
    tw__owned char *shown = tw__text_take(&text);
    if (args->vocabulary_list.kind == TW_VALUE_NONE || (list && !args->vocabulary_list.list.count))
        return tw__fail(TW_VALUE_ERROR, "vocabulary_list %s must be non-empty, column_name: %s", list ? "[]" : "None", args->key);
    TW_NEED(column->words = known_tensor(&args->vocabulary_list));
    if (column->words->shape.rank != 1 || column->words->node)
        return tw__fail(TW_VALUE_ERROR, "vocabulary_list must be a list of words or integers, column_name: %s", args->key);
    TW_TRY(check_kind(args->key, "vocabulary", column->words->dtype == TW_FLOAT32 ? TW_FLOAT64 : column->words->dtype));
    bool twice;
    TW_TRY(find_twice(column->words, &twice));
    if (twice)
        return tw__fail(TW_VALUE_ERROR, "Duplicate keys in vocabulary_list %s, column_name: %s", shown ? shown : "", args->key);
    TW_TRY(check_spare(args->key, args->num_oov_buckets, args->default_value, -1));
    tw_dtype found = column->words->dtype;
    column->dtype = args->dtype ? args->dtype : found;
    TW_TRY(check_kind(args->key, "dtype", column->dtype));
    if (tw__dtype_is_integer(column->dtype) != tw__dtype_is_integer(found))
        return tw__fail(TW_VALUE_ERROR, "dtype <dtype: '%s'> and vocabulary dtype <dtype: '%s'> do not match, column_name: %s",
                        tw_dtype_name(column->dtype), tw_dtype_name(found), args->key);
    column->size = column->words->count;
    return TW_OK;
}

static bool list_value(const tw_feature_column *self, const char *name, tw_value *value)
{
    const vocabulary *column = (const vocabulary *)self;
    if (strcmp(name, "dtype") == 0) {
        *value = (tw_value){ .kind = TW_VALUE_DTYPE, .dtype = column->dtype };
        return true;
    }
    if (strcmp(name, "vocabulary_list") != 0)
        return false;
    const tw_tensor *words = column->words;
    tw_value *items = tw__alloc_array((size_t)words->count + 1, sizeof *items);
    for (int64_t i = 0; items && i < words->count; i++) {
        tw_string word = words->dtype == TW_STRING ? tw_tensor_string_at(words, i) : (tw_string){ NULL, 0 };
        tw__owned char *text = words->dtype == TW_STRING ? tw__strndup(word.data ? word.data : "", word.size) : NULL;
        items[i] = words->dtype == TW_STRING ? tw__value_str(text ? text : "")
                                             : (tw_value){ .kind = TW_VALUE_INT, .i = tw_tensor_int_at(words, i) };
    }
    *value = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, items ? words->count : 0 } };
    return true;
}

static tw_status vocabulary_spec(const tw_feature_column *self, tw__dict *dict)
{
    return tw__column_spec_put(dict, key_of(self), "sparse", NULL, ((const vocabulary *)self)->dtype, NULL);
}

static int64_t spare_buckets(const tw_feature_column *self)
{
    if (tw__is(self, &tw__class_feature_vocabulary_list_column))
        return ((const tw_feature_vocabulary_list_column_args *)tw_object_config(self))->num_oov_buckets;
    return ((const tw_feature_vocabulary_file_column_args *)tw_object_config(self))->num_oov_buckets;
}

static int64_t default_id(const tw_feature_column *self)
{
    if (tw__is(self, &tw__class_feature_vocabulary_list_column))
        return ((const tw_feature_vocabulary_list_column_args *)tw_object_config(self))->default_value;
    int64_t given = ((const tw_feature_vocabulary_file_column_args *)tw_object_config(self))->default_value;
    return given == TW_NO_INT ? -1 : given;
}

static int64_t vocabulary_buckets(const tw_feature_column *self)
{
    int64_t all;
    return __builtin_add_overflow(((const vocabulary *)self)->size, spare_buckets(self), &all) ? INT64_MAX : all;
}

/* What fills the table: the words, or the lines of the file. */
static struct tw_table_initializer *table_words(const vocabulary *column)
{
    tw_dtype key = tw__dtype_is_integer(column->dtype) ? TW_INT64 : TW_STRING;
    if (!column->words) {
        const tw_feature_vocabulary_file_column_args *args = tw_object_config(column);
        tw_lookup_text_file_initializer_args how = {
            .filename = { .kind = TW_VALUE_STR, .s = { args->vocabulary_file, strlen(args->vocabulary_file) } },
            .key_dtype = key,
            .key_index = -2,
            .value_dtype = TW_INT64,
            .value_index = -1,
            .vocab_size = column->size
        };
        return tw_class_make(&tw__class_lookup_text_file_initializer, &how);
    }
    tw__owned int64_t *numbers = tw__alloc_array((size_t)column->size, sizeof *numbers);
    for (int64_t i = 0; numbers && i < column->size; i++)
        numbers[i] = i;
    tw_auto tw_tensor *ids = numbers ? tw_tensor_new(TW_INT64, TW_SHAPE(column->size), numbers) : NULL;
    if (!ids)
        return NULL;
    tw_lookup_key_value_initializer_args how = {
        .keys = TW_LEAF(column->words), .values = TW_LEAF(ids), .key_dtype = key, .value_dtype = TW_INT64
    };
    return tw_class_make(&tw__class_lookup_key_value_initializer, &how);
}

static tw_status vocabulary_build(const tw_feature_column *self, tw__features_layer *layer)
{
    const vocabulary *column = (const vocabulary *)self;
    tw_auto struct tw_table_initializer *words = table_words(column);
    TW_NEED(words);
    int64_t spare = spare_buckets(self);
    tw_lookup_static_vocabulary_table_args more = { .initializer = { .kind = TW_VALUE_OBJECT, .object = words },
                                                    .num_oov_buckets = spare,
                                                    .lookup_key_dtype = words->key_dtype };
    tw_lookup_static_hash_table_args plain = { .initializer = words,
                                               .default_value = { .kind = TW_VALUE_INT, .i = default_id(self) } };
    tw_auto struct tw_lookup_table *table = spare ? tw_class_make(&tw__class_lookup_static_vocabulary_table, &more)
                                                  : tw_class_make(&tw__class_lookup_static_hash_table, &plain);
    tw__owned char *name = table ? tw__format("%s_lookup", key_of(self)) : NULL;
    return name ? tw__feature_state_add(layer, self, name, table) : tw__error_status();
}

static bool vocabulary_ids(const tw_feature_column *self, tw__features *f, tw__feature_ids *out)
{
    tw__temps *t = f->t;
    const vocabulary *column = (const vocabulary *)self;
    struct tw_lookup_table *table = tw__feature_state(f->layer, self);
    tw_sparse_tensor *words = table ? words_of(f, key_of(self), column->dtype) : NULL;
    tw_tensor *keys = words ? words->values : NULL;
    if (keys && keys->dtype != TW_STRING)
        keys = tw__temp_cast(t, keys, TW_INT64);
    tw_value found = { .kind = TW_VALUE_NONE };
    if (keys)
        found = tw_lookup_table_lookup(table, TW_LEAF(keys));
    tw_tensor *ids = found.kind == TW_VALUE_TENSOR ? tw__temp(t, found.tensor) : NULL;
    *out = (tw__feature_ids){ ids ? tw__with_values(f, words, ids) : NULL, NULL };
    return out->ids != NULL;
}

static const tw__column_methods list_methods = { .name = key_name,
                                                 .spec = vocabulary_spec,
                                                 .parents = key_parents,
                                                 .own_value = list_value,
                                                 .build = vocabulary_build,
                                                 .buckets = vocabulary_buckets,
                                                 .ids = vocabulary_ids };

TW_CLASS(feature_vocabulary_list_column,
         "feature_column._columns.VocabularyListCategoricalColumn|feature_column.categorical_column_with_vocabulary_list(key: "
         "str, vocabulary_list: value, dtype: dtype = None, default_value: int = -1, num_oov_buckets: int = 0) -> feature_column",
         .parent = &tw__class_feature_column, .size = sizeof(vocabulary), .init = list_init, .destroy = vocabulary_destroy,
         .methods = &list_methods, .fixed = " vocabulary_list dtype ",
         .doc = "The places of words or integers in a list.\n"
                "vocabulary_list: the words or integers, in their order\n"
                "dtype: the dtype of the feature; None: that of the list\n"
                "default_value: the id of words that are not in the list\n"
                "num_oov_buckets: how many further ids there are for such words, by their hash");

static tw_status count_lines(const char *path, int64_t *count)
{
    size_t size = 0;
    tw__owned char *text = tw__file_read_all(path, SIZE_MAX / 2, &size);
    *count = 0;
    for (size_t i = 0; text && i < size; i++)
        *count += text[i] == '\n' || i + 1 == size;
    return text ? TW_OK : tw__error_status();
}

static tw_status file_init(void *self, const void *given)
{
    const tw_feature_vocabulary_file_column_args *args = given;
    vocabulary *column = self;
    if (!args->vocabulary_file || !*args->vocabulary_file)
        return tw__fail(TW_VALUE_ERROR, "Missing vocabulary_file in %s.", args->key);
    if (args->file_format && strcmp(args->file_format, "tfrecord_gzip") == 0)
        return tw__fail(TW_UNIMPLEMENTED,
                        "categorical_column_with_vocabulary_file: file_format='tfrecord_gzip' is not supported");
    if (args->file_format)
        return tw__fail(TW_VALUE_ERROR, "Unrecognized file format: %s", args->file_format);
    column->size = args->vocabulary_size;
    if (args->vocabulary_size == TW_NO_INT) {
        tw_status status = count_lines(args->vocabulary_file, &column->size);
        tw_clear_error();
        if (status != TW_OK)
            return tw__fail(TW_VALUE_ERROR, "vocabulary_file in %s does not exist.", args->key);
    }
    if (column->size < 1)
        return tw__fail(TW_VALUE_ERROR, "Invalid vocabulary_size in %s.", args->key);
    TW_TRY(check_spare(args->key, args->num_oov_buckets, args->default_value, TW_NO_INT));
    column->dtype = args->dtype;
    return check_kind(args->key, "dtype", args->dtype);
}

static bool file_value(const tw_feature_column *self, const char *name, tw_value *value)
{
    if (strcmp(name, "vocabulary_size") == 0)
        *value = (tw_value){ .kind = TW_VALUE_INT, .i = ((const vocabulary *)self)->size };
    else if (strcmp(name, "default_value") == 0)
        *value = (tw_value){ .kind = TW_VALUE_INT, .i = default_id(self) };
    else
        return false;
    return true;
}

static const tw__column_methods file_methods = { .name = key_name,
                                                 .spec = vocabulary_spec,
                                                 .parents = key_parents,
                                                 .own_value = file_value,
                                                 .build = vocabulary_build,
                                                 .buckets = vocabulary_buckets,
                                                 .ids = vocabulary_ids };

TW_CLASS(feature_vocabulary_file_column,
         "feature_column._columns.VocabularyFileCategoricalColumn|feature_column.categorical_column_with_vocabulary_file(key: "
         "str, vocabulary_file: str, vocabulary_size: int = None, dtype: dtype = string, default_value: int = None, "
         "num_oov_buckets: int = 0, file_format: str = None) -> feature_column",
         .parent = &tw__class_feature_column, .size = sizeof(vocabulary), .init = file_init, .destroy = vocabulary_destroy,
         .methods = &file_methods, .fixed = " vocabulary_file vocabulary_size dtype ",
         .doc = "The places of words or integers among the lines of a file.\n"
                "vocabulary_file: the path of a file with one word per line\n"
                "vocabulary_size: how many of its lines count; None: all\n"
                "dtype: the dtype of the feature, string or integer\n"
                "default_value: the id of words that are not in the file; None: -1\n"
                "num_oov_buckets: how many further ids there are for such words, by their hash\n"
                "file_format: must be None: one word per line");
