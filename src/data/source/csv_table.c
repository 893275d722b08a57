/* data.experimental.make_csv_dataset: batches of columns, as dicts, of files that csv_probe.c has looked at. */
#include <strings.h>

#include "api/composite.h"
#include "data/compose.h"
#include "data/source/csv_table.h"
#include "op/calls.h"
#include "rows.h"

static void table_end(tw__csv_table *self)
{
    tw_release(self->files);
    tw_value_free(&self->names);
    tw__free(self->columns);
    tw__element_tensors_free(self->defaults, (int)self->count);
}

/* ---- the dataset ---- */

static tw_status records_of(void *user, const tw_value *arguments, __attribute__((unused)) int count, tw_value *result)
{
    const tw__csv_table *self = user;
    const tw_dataset_make_csv_args *args = self->args;
    TW_TEMPS(t);
    bool all = args->select_columns.kind == TW_VALUE_NONE;
    tw_dataset_csv_args csv =
        TW_ARGS(dataset_csv, .filenames = tw__temp_reshape(t, arguments[0].tensor, (int64_t[]){ -1 }, 1),
                .record_defaults = { self->defaults, self->count }, .compression_type = args->compression_type,
                .header = args->header, .field_delim = args->field_delim, .use_quote_delim = args->use_quote_delim,
                .na_value = args->na_value, .select_cols = { all ? NULL : self->columns, all ? 0 : self->count });
    struct tw_dataset *records = csv.filenames ? tw__temp(t, tw_class_make(&tw__class_dataset_csv, &csv)) : NULL;
    if (records && args->ignore_errors) {
        tw_dataset_ignore_errors_args ignore = TW_ARGS(dataset_ignore_errors, .self = records);
        records = tw__temp(t, tw_class_make(&tw__class_dataset_ignore_errors, &ignore));
    }
    TW_NEED(records);
    *result = (tw_value){ .kind = TW_VALUE_OBJECT, .object = tw_retain(records) };
    return TW_OK;
}

/* The columns that are features as a dict in the order of their names; a front end's keeps the order of the columns. */
static tw_status features_of(const tw__csv_table *self, const tw_value *columns, int64_t label, tw_value *features)
{
    *features = (tw_value){ .kind = TW_VALUE_DICT };
    features->list.items = tw__alloc_array(2 * (size_t)self->count + 1, sizeof *features->list.items);
    TW_NEED(features->list.items);
    for (int64_t i = 0; i < self->count; i++) {
        if (i == label)
            continue;
        tw_value name = tw__value_str(tw__csv_name(self, self->columns[i]));
        TW_NEED(name.kind == TW_VALUE_STR ? features : NULL);
        features->list.items[features->list.count++] = name;
        features->list.items[features->list.count++] =
            (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(columns->list.items[i].tensor) };
    }
    tw_auto tw_object *form = tw__language.ordered_form ? tw__language.ordered_form(features) : NULL;
    TW_NEED(form || !tw__language.ordered_form ? features : NULL);
    TW_TRY(tw__structure_settle(features));
    features->list.form = tw_retain(form);
    return TW_OK;
}

static tw_status as_features(void *user, const tw_value *arguments, __attribute__((unused)) int count, tw_value *result)
{
    const tw__csv_table *self = user;
    int64_t label = -1;
    for (int64_t i = 0; self->args->label_name && i < self->count; i++)
        label = strcmp(tw__csv_name(self, self->columns[i]), self->args->label_name) == 0 ? i : label;
    if (label < 0)
        return features_of(self, &arguments[0], label, result);
    tw_value *pair = tw__alloc_array(2, sizeof *pair);
    TW_NEED(pair);
    *result = (tw_value){ .kind = TW_VALUE_TUPLE, .list = { .items = pair, .count = 1 } };
    TW_TRY(features_of(self, &arguments[0], label, &pair[0]));
    pair[1] = (tw_value){ .kind = TW_VALUE_TENSOR, .tensor = tw_retain(arguments[0].list.items[label].tensor) };
    result->list.count = 2;
    return TW_OK;
}

static struct tw_dataset *shuffled(tw__temps *t, struct tw_dataset *input, double buffer, const tw_dataset_make_csv_args *args)
{
    tw_dataset_shuffle_args shuffle = TW_ARGS(dataset_shuffle, .self = input, .buffer_size = buffer, .seed = args->shuffle_seed);
    return input && args->shuffle ? tw__temp(t, tw_class_make(&tw__class_dataset_shuffle, &shuffle)) : input;
}

/* The records of all files. */
static struct tw_dataset *read_files(tw__temps *t, tw__csv_table *self)
{
    const tw_dataset_make_csv_args *args = self->args;
    struct tw_dataset *names =
        tw__temp(t, tw_class_make(&tw__class_dataset_from_tensor_slices,
                                  &(tw_dataset_from_tensor_slices_args){ .tensors = { &self->files, 1 } }));
    names = shuffled(t, names, (double)self->files->count, args);
    void *function = tw__temp(t, tw__data_function_of(records_of, self));
    tw_dataset_interleave_args interleave = TW_ARGS(dataset_interleave, .self = names, .map_func = function);
    if (args->num_parallel_reads == TW_AUTOTUNE) {
        interleave.num_parallel_calls = TW_AUTOTUNE;
        interleave.deterministic = !args->sloppy;
    } else {
        interleave.cycle_length = args->num_parallel_reads == TW_NO_INT ? 1 : (double)args->num_parallel_reads;
    }
    return names && function ? tw__temp(t, tw_class_make(&tw__class_dataset_interleave, &interleave)) : NULL;
}

static struct tw_dataset *make(tw__csv_table *self)
{
    const tw_dataset_make_csv_args *args = self->args;
    TW_TEMPS(t);
    struct tw_dataset *made = shuffled(t, read_files(t, self), (double)args->shuffle_buffer_size, args);
    if (made && args->num_epochs != 1) {
        tw_dataset_repeat_args repeat = TW_ARGS(dataset_repeat, .self = made);
        if (args->num_epochs != TW_NO_INT)
            repeat.count = (double)args->num_epochs;
        made = tw__temp(t, tw_class_make(&tw__class_dataset_repeat, &repeat));
    }
    tw_dataset_batch_args batch =
        TW_ARGS(dataset_batch, .self = made, .batch_size = args->batch_size, .batch_size_object = args->batch_size_object,
                .drop_remainder = args->num_epochs == TW_NO_INT);
    made = made ? tw__temp(t, tw_class_make(&tw__class_dataset_batch, &batch)) : NULL;
    made = tw__temp(t, tw__data_mapped(made, as_features, self, NULL));
    tw_dataset_prefetch_args ahead = TW_ARGS(dataset_prefetch, .self = made, .buffer_size = TW_AUTOTUNE);
    if (args->prefetch_buffer_size != TW_NO_INT)
        ahead.buffer_size = (double)args->prefetch_buffer_size;
    return made ? tw_class_make(&tw__class_dataset_prefetch, &ahead) : NULL;
}

/* ---- arguments ---- */

static const char *text_of(const tw_value *value)
{
    bool text = value->kind == TW_VALUE_STR || value->kind == TW_VALUE_BYTES;
    return text && value->s.data ? value->s.data : "";
}

static void pattern_text(const tw_value *given, tw__text *text)
{
    bool list = given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE;
    tw__text_add(text, list ? "[" : text_of(given));
    for (int64_t i = 0; list && i < given->list.count; i++)
        tw__text_format(text, "%s'%s'", i ? ", " : "", text_of(&given->list.items[i]));
    tw__text_add(text, list ? "]" : "");
}

static tw_status find_files(tw__csv_table *self)
{
    const tw_value *given = &self->args->file_pattern;
    if ((given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE) && !given->list.count)
        return tw__fail(TW_VALUE_ERROR, "Argument `file_pattern` should not be empty.");
    tw_auto tw_tensor *pattern = tw__value_tensor(given, TW_DTYPE_NONE, "file_pattern");
    TW_NEED(pattern);
    if (pattern->dtype != TW_STRING || pattern->node)
        return tw__fail(TW_TYPE_ERROR, "make_csv_dataset: `file_pattern` must be a text or a list of texts");
    self->files = TW_CALL(MatchingFiles, pattern);
    TW_NEED(self->files);
    if (self->files->count)
        return TW_OK;
    tw__auto(tw__text_free) tw__text text = { 0 };
    pattern_text(given, &text);
    return tw__fail(TW_VALUE_ERROR, "No files match `file_pattern` %s.", text.data ? text.data : "");
}

static tw_status check_label(const tw__csv_table *self)
{
    const char *label = self->args->label_name;
    for (int64_t i = 0; label && i < self->count; i++) {
        if (strcmp(tw__csv_name(self, self->columns[i]), label) == 0)
            return TW_OK;
    }
    if (!label)
        return TW_OK;
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw__csv_names_text(self, true, &text);
    return tw__fail(TW_VALUE_ERROR, "`label_name` provided must be one of the columns: [%s]. Received: %s.",
                    text.data ? text.data : "", label);
}

static tw_status check_arguments(tw__csv_table *self)
{
    const tw_dataset_make_csv_args *args = self->args;
    const char *delimiter = args->field_delim ? args->field_delim : ",", *encoding = args->encoding ? args->encoding : "utf-8";
    const char *compression = args->compression_type ? args->compression_type : "";
    if (strlen(delimiter) != 1)
        return tw__fail(TW_TYPE_ERROR, "make_csv_dataset: `field_delim` must be a character, got '%s'", delimiter);
    if (strcasecmp(encoding, "utf-8") != 0 && strcasecmp(encoding, "utf8") != 0 && strcasecmp(encoding, "ascii") != 0)
        return tw__fail(TW_NOT_IMPLEMENTED_ERROR, "make_csv_dataset: encoding='%s' is not supported, expected 'utf-8'", encoding);
    self->delimiter = delimiter[0];
    tw_auto tw_tensor *name = tw_tensor_string(compression, strlen(compression));
    return name ? tw__compression_of(name, &self->compression) : tw__error_status();
}

TW_API(
    dataset_make_csv,
    "data.experimental.make_csv_dataset(file_pattern: value, batch_size: number, column_names: value = None, column_defaults: value = "
    "None, label_name: str = None, select_columns: value = None, field_delim: str = None shown ',', use_quote_delim: bool = True, na_value: str = None shown '', "
    "header: bool = True, num_epochs: int = None, shuffle: bool = True, shuffle_buffer_size: int = 10000, shuffle_seed: int = "
    "None, prefetch_buffer_size: int = None, num_parallel_reads: int = None, sloppy: bool = False, num_rows_for_inference: int? = 100, "
    "compression_type: str = None, ignore_errors: bool = False, encoding: str = utf-8) -> dataset",
    "Batches of columns of comma-separated values, as dicts, with a label if one is named.\n"
    "file_pattern: a pattern, or a list of patterns, of the files' paths\n"
    "column_names: the names of the columns; None: the first line of the files\n"
    "column_defaults: for each column that is read a dtype or a default; None: the first rows tell the dtypes\n"
    "label_name: the column that becomes the label: elements are (features, label) then\n"
    "select_columns: the names or numbers of the columns to read; None: all\n"
    "field_delim: the character between two fields; None: a comma\n"
    "use_quote_delim: True: fields may stand in double quotes\n"
    "na_value: a text that counts as an empty field; None: none\n"
    "header: True: the first line of each file has the names\n"
    "num_epochs: how often the files are read; None: without end, and then without a last batch that is too small\n"
    "shuffle: True: records come in an order that chance gives\n"
    "shuffle_buffer_size: how many records are held to draw from\n"
    "shuffle_seed: an integer that fixes the order; None: it differs\n"
    "prefetch_buffer_size: how many batches are made ahead; None: as many as help\n"
    "num_parallel_reads: how many files are read in turns; `tf.data.AUTOTUNE`: side by side; None: 1\n"
    "sloppy: True: with `tf.data.AUTOTUNE` the order may differ where that is faster\n"
    "num_rows_for_inference: how many rows tell the dtypes; None: all\n"
    "ignore_errors: True: leave out records that cannot be read\n"
    "encoding: `utf-8`; others are not supported")
{
    tw__auto(table_end) tw__csv_table self = { .args = args };
    tw_status status = check_arguments(&self);
    if (status == TW_OK)
        status = find_files(&self);
    if (status == TW_OK)
        status = tw__csv_names(&self);
    if (status == TW_OK)
        status = tw__csv_columns(&self);
    if (status == TW_OK)
        status = tw__csv_defaults(&self);
    if (status == TW_OK)
        status = check_label(&self);
    return status == TW_OK ? make(&self) : NULL;
}
