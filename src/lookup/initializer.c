/* What fills tables: keys with values, or the lines of a text file. */
#include "lookup/lookup.h"
#include "rows.h"

static void initializer_destroy(void *self)
{
    struct tw_table_initializer *initializer = self;
    tw_release(initializer->keys);
    tw_release(initializer->values);
    tw_release(initializer->file);
    tw__free(initializer->delimiter);
}

TW_CLASS(table_initializer, "lookup._Initializer()", .parent = &tw__trackable_class, .size = sizeof(struct tw_table_initializer),
         .destroy = initializer_destroy, .drop_config = true, .doc = "What fills a table.");

static tw_status key_value_init(void *self, const void *given)
{
    const tw_lookup_key_value_initializer_args *args = given;
    struct tw_table_initializer *initializer = self;
    initializer->keys = tw__lookup_tensor(&args->keys, args->key_dtype, "keys", true);
    initializer->values = initializer->keys ? tw__lookup_tensor(&args->values, args->value_dtype, "values", true) : NULL;
    TW_NEED(initializer->values);
    initializer->key_dtype = initializer->keys->dtype;
    initializer->value_dtype = initializer->values->dtype;
    return TW_OK;
}

TW_CLASS(
    lookup_key_value_initializer,
    "lookup.KeyValueTensorInitializer(keys: value, values: value, key_dtype: dtype = None, value_dtype: dtype = None, name: str = None)",
    .parent = &tw__class_table_initializer, .size = sizeof(struct tw_table_initializer), .init = key_value_init,
    .drop_config = true, .doc = "Gives a table keys with values.");

/* The file as an object that is saved with the table. */
static tw_saved_constant *file_of(const tw_value *name)
{
    if (name->kind == TW_VALUE_OBJECT && tw__is(name->object, &tw__class_saved_constant))
        return tw_retain(name->object);
    if (name->kind == TW_VALUE_TENSOR && name->tensor->dtype == TW_STRING && name->tensor->count == 1 && !name->tensor->node) {
        tw_string s = tw_tensor_string_at(name->tensor, 0);
        tw__owned char *path = tw__strndup(s.data ? s.data : "", s.size);
        tw_saved_constant *file = path ? tw__saved_constant_new(NULL, path) : NULL;
        return file;
    }
    bool text = name->kind == TW_VALUE_STR || name->kind == TW_VALUE_BYTES;
    if (text && name->s.size)
        return tw__saved_constant_new(NULL, name->s.data);
    if (text)
        tw__fail(TW_VALUE_ERROR, "`filename` argument required for tf.lookup.TextFileInitializer");
    else
        tw__fail(TW_TYPE_ERROR, "TextFileInitializer: the argument `filename` must be a path whose text is known");
    return NULL;
}

static tw_status check_index(const char *which, int64_t index, tw_dtype dtype)
{
    if (index < -2)
        return tw__fail(TW_VALUE_ERROR, "`%s_index` should be >= -2, received: %lld.", which, (long long)index);
    if (index == -1 && dtype != TW_INT64)
        return tw__fail(TW_VALUE_ERROR, "`%s_dtype` must be int64 for `%s_index` -1, received: <dtype: '%s'>", which, which,
                        tw_dtype_name(dtype));
    bool number = dtype == TW_INT32 || dtype == TW_INT64 || dtype == TW_FLOAT32 || dtype == TW_FLOAT64;
    if (index == -2 && !number && dtype != TW_STRING)
        return tw__fail(TW_VALUE_ERROR, "`%s_dtype` must be either integer or string for `%s_index` -2, received: <dtype: '%s'>",
                        which, which, tw_dtype_name(dtype));
    return TW_OK;
}

static tw_status text_file_init(void *self, const void *given)
{
    const tw_lookup_text_file_initializer_args *args = given;
    struct tw_table_initializer *initializer = self;
    TW_TRY(check_index("key", args->key_index, args->key_dtype));
    TW_TRY(check_index("value", args->value_index, args->value_dtype));
    if (args->vocab_size != TW_NO_INT && args->vocab_size <= 0)
        return tw__fail(TW_VALUE_ERROR, "`vocab_size` should be > 0, received: %lld", (long long)args->vocab_size);
    initializer->key_dtype = args->key_dtype;
    initializer->value_dtype = args->value_dtype;
    initializer->key_index = args->key_index;
    initializer->value_index = args->value_index;
    initializer->lines = args->vocab_size == TW_NO_INT ? -1 : args->vocab_size;
    initializer->first = args->value_index_offset;
    initializer->delimiter = tw__strdup(args->delimiter ? args->delimiter : "\t");
    initializer->file = initializer->delimiter ? file_of(&args->filename) : NULL;
    return initializer->file ? tw__track(&initializer->trackable, "_filename", initializer->file) : tw__error_status();
}

TW_CLASS(
    lookup_text_file_initializer,
    "lookup.TextFileInitializer(filename: value, key_dtype: dtype, key_index: int, value_dtype: dtype, value_index: int, vocab_size: int = None, "
    "delimiter: str = None shown '\\t', name: str = None, value_index_offset: int = 0)",
    .parent = &tw__class_table_initializer, .size = sizeof(struct tw_table_initializer), .init = text_file_init,
    .drop_config = true,
    .doc =
        "Gives a table a key with a value for each line of a text file. An index is that of a column, TextFileIndex.WHOLE_LINE "
        "or TextFileIndex.LINE_NUMBER.\n"
        "key_index: the column of the keys, `WHOLE_LINE` or `LINE_NUMBER`\n"
        "value_index: the column of the values, `WHOLE_LINE` or `LINE_NUMBER`\n"
        "vocab_size: how many lines there are; None: all of the file\n"
        "delimiter: what separates columns; None: a tab\n"
        "value_index_offset: what is added to numbers of lines");

TW_PROPERTY(table_initializer_key_dtype, "lookup._Initializer.key_dtype(self: table_initializer) -> dtype", "The keys' dtype.")
{
    return args->self->key_dtype;
}

TW_PROPERTY(table_initializer_value_dtype, "lookup._Initializer.value_dtype(self: table_initializer) -> dtype",
            "The values' dtype.")
{
    return args->self->value_dtype;
}

tw_status tw__lookup_fill(const struct tw_table_initializer *initializer, tw_tensor *handle)
{
    int outputs = 0;
    if (!initializer->file)
        return tw__apply(&tw__op_LookupTableImportV2, TW_IN(handle, initializer->keys, initializer->values), 3, NULL, 0, NULL,
                         &outputs);
    tw_attr attrs[] = { TW_A_INT("key_index", initializer->key_index), TW_A_INT("value_index", initializer->value_index),
                        TW_A_INT("vocab_size", initializer->lines), TW_A_STRING("delimiter", initializer->delimiter),
                        TW_A_INT("offset", initializer->first) };
    return tw__apply(&tw__op_InitializeTableFromTextFileV2, TW_IN(handle, initializer->file->value), 2, attrs, 5, NULL, &outputs);
}
