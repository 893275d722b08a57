/* What make_csv_dataset finds out about its files before it reads them: header lines say what columns are called, the first
 * records what dtypes they have. */
#include <math.h>
#include <stdlib.h>

#include "api/composite.h"
#include "data/source/csv_table.h"
#include "format/stream.h"
#include "op/calls.h"
#include "rows.h"

static char *file_at(const tw__csv_table *self, int64_t i)
{
    tw_string name = tw_tensor_string_at(self->files, i);
    return tw__strndup(name.data, name.size);
}

/* ---- records as lists of texts ---- */

/* A field ends at the delimiter, a line's end or the file's end, which is given. Quotes count at its beginning only. */
static int read_text(const tw__csv_table *self, tw__stream *stream, int byte, tw__text *field)
{
    bool quoted = self->args->use_quote_delim && byte == '"';
    if (quoted)
        byte = tw__stream_byte(stream);
    while (byte >= 0 && (quoted || (byte != self->delimiter && byte != '\n' && byte != '\r'))) {
        if (quoted && byte == '"' && (byte = tw__stream_byte(stream)) != '"') {
            quoted = false;
            continue;
        }
        tw__text_bytes(field, &(char){ (char)byte }, 1);
        byte = tw__stream_byte(stream);
    }
    return byte;
}

static tw_status add_field(tw_value *row, size_t *room, tw__text *field)
{
    if ((size_t)row->list.count == *room) {
        tw_value *more = tw__realloc(row->list.items, (*room = 2 * *room + 8) * sizeof *more);
        TW_NEED(more);
        row->list.items = more;
    }
    tw__text_add(field, "");
    size_t size = field->size;
    char *text = field->failed ? NULL : tw__strndup(field->data ? field->data : "", size);
    tw__text_clear(field);
    TW_NEED(text);
    row->list.items[row->list.count++] = (tw_value){ .kind = TW_VALUE_STR, .s = { text, size } };
    return TW_OK;
}

/* The next record; None at the end. An empty line is a record without fields. */
static tw_status read_row(const tw__csv_table *self, tw__stream *stream, tw_value *row)
{
    tw__auto(tw__text_free) tw__text field = { 0 };
    size_t room = 0;
    *row = (tw_value){ .kind = TW_VALUE_NONE };
    int byte = tw__stream_byte(stream);
    if (byte == -1)
        return TW_OK;
    row->kind = TW_VALUE_LIST;
    bool empty = byte == '\n' || byte == '\r';
    while (byte != -2 && !empty) {
        byte = read_text(self, stream, byte, &field);
        TW_TRY(add_field(row, &room, &field));
        if (byte != self->delimiter)
            break;
        byte = tw__stream_byte(stream);
    }
    if (byte == '\r' && tw__stream_fill(stream) == TW_OK && stream->begin < stream->end && stream->memory[stream->begin] == '\n')
        stream->begin++;
    return byte == -2 ? tw__error_status() : TW_OK;
}

/* ---- the columns' names ---- */

static tw_status read_header(const tw__csv_table *self, int64_t file, tw_value *row)
{
    tw__owned char *path = file_at(self, file);
    tw__stream stream;
    TW_NEED(path);
    TW_TRY(tw__stream_open(&stream, path, self->compression));
    tw_status status = read_row(self, &stream, row);
    tw__stream_close(&stream);
    if (status == TW_OK && row->kind == TW_VALUE_NONE)
        status = tw__fail(TW_VALUE_ERROR, "Failed when reading the header line of %s. Is it an empty file?", path);
    return status;
}

static bool same_text(const tw_value *one, const tw_value *other)
{
    return one->s.size == other->s.size && memcmp(one->s.data, other->s.data, one->s.size) == 0;
}

static bool same_row(const tw_value *one, const tw_value *other)
{
    bool same = one->list.count == other->list.count;
    for (int64_t i = 0; same && i < one->list.count; i++)
        same = same_text(&one->list.items[i], &other->list.items[i]);
    return same;
}

static tw_status names_of_headers(tw__csv_table *self)
{
    if (!self->args->header)
        return tw__fail(TW_VALUE_ERROR, "Expected `column_names` or `header` arguments. Neither is provided.");
    TW_TRY(read_header(self, 0, &self->names));
    for (int64_t i = 1; i < self->files->count; i++) {
        tw__auto(tw_value_free) tw_value other = { .kind = TW_VALUE_NONE };
        TW_TRY(read_header(self, i, &other));
        if (!same_row(&self->names, &other)) {
            tw__owned char *path = file_at(self, i);
            return tw__fail(
                TW_VALUE_ERROR,
                "All input CSV files should have the same column names in the header row. File %s has different column names.",
                path ? path : "");
        }
    }
    return TW_OK;
}

tw_status tw__csv_names(tw__csv_table *self)
{
    const tw_value *given = &self->args->column_names;
    if (given->kind == TW_VALUE_NONE) {
        TW_TRY(names_of_headers(self));
    } else {
        bool good = given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE;
        for (int64_t i = 0; good && i < given->list.count; i++)
            good = given->list.items[i].kind == TW_VALUE_STR && given->list.items[i].s.data;
        if (!good)
            return tw__fail(TW_TYPE_ERROR, "make_csv_dataset: `column_names` must be a list of texts");
        self->names = tw__value_copy(given);
        if (self->names.kind == TW_VALUE_NONE)
            return tw__error_status();
    }
    for (int64_t i = 0; i < self->names.list.count; i++) {
        for (int64_t k = 0; k < i; k++) {
            if (same_text(&self->names.list.items[i], &self->names.list.items[k]))
                return tw__fail(TW_VALUE_ERROR,
                                "Either `column_names` argument or CSV header row contains duplicate column names: {'%s'}.",
                                tw__csv_name(self, i));
        }
    }
    return TW_OK;
}

/* ---- the wanted columns ---- */

void tw__csv_names_text(const tw__csv_table *self, bool wanted, tw__text *text)
{
    int64_t count = wanted ? self->count : self->names.list.count;
    for (int64_t i = 0; i < count; i++)
        tw__text_format(text, "%s'%s'", i ? ", " : "", tw__csv_name(self, wanted ? self->columns[i] : i));
}

/* The number of a column that is told by number or name; -1: an error. */
static int64_t column_of(const tw__csv_table *self, const tw_value *given)
{
    int64_t all = self->names.list.count;
    if (given->kind == TW_VALUE_INT && given->i >= 0 && given->i < all)
        return given->i;
    if (given->kind == TW_VALUE_INT) {
        tw__fail(TW_VALUE_ERROR,
                 "Column index %lld specified in `select_columns` should be > 0  and <= %lld, which is the number of columns.",
                 (long long)given->i, (long long)all);
        return -1;
    }
    for (int64_t i = 0; given->kind == TW_VALUE_STR && i < all; i++) {
        if (same_text(&self->names.list.items[i], given))
            return i;
    }
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw__csv_names_text(self, false, &text);
    tw__fail(TW_VALUE_ERROR, "Column %s specified in `select_columns` must be of one of the columns: dict_keys([%s]).",
             given->kind == TW_VALUE_STR && given->s.data ? given->s.data : "", text.data ? text.data : "");
    return -1;
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

tw_status tw__csv_columns(tw__csv_table *self)
{
    const tw_value *given = &self->args->select_columns;
    bool all = given->kind == TW_VALUE_NONE;
    if (!all && given->kind != TW_VALUE_LIST && given->kind != TW_VALUE_TUPLE)
        return tw__fail(TW_TYPE_ERROR, "make_csv_dataset: `select_columns` must be a list of numbers and names");
    int64_t count = all ? self->names.list.count : given->list.count;
    self->columns = tw__alloc_array((size_t)count + 1, sizeof *self->columns);
    TW_NEED(self->columns);
    for (int64_t i = 0; i < count; i++) {
        self->columns[i] = all ? i : column_of(self, &given->list.items[i]);
        if (self->columns[i] < 0)
            return tw__error_status();
    }
    qsort(self->columns, (size_t)count, sizeof *self->columns, compare_numbers);
    for (int64_t i = 1; i < count; i++) {
        if (self->columns[i] == self->columns[i - 1])
            return tw__fail(TW_VALUE_ERROR, "The `select_columns` argument contains duplicate columns: set().");
    }
    self->defaults = tw__alloc_zero(((size_t)count + 1) * sizeof *self->defaults);
    TW_NEED(self->defaults);
    self->count = count;
    return TW_OK;
}

/* ---- defaults ---- */

static bool is_dtype(const char *text, tw_dtype dtype)
{
    union {
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
    } value;
    bool hex = strpbrk(text, "xX") != NULL; /* what C takes for a number, and Python does not */
    if (dtype == TW_STRING)
        return true;
    if (hex || !tw__csv_number(text, dtype, &value))
        return false;
    return dtype == TW_FLOAT32 ? value.f32 < INFINITY : dtype == TW_FLOAT64 ? value.f64 < (double)INFINITY : true;
}

/* The narrowest dtype that the text has, not narrower than the one before; an empty text tells nothing. */
static tw_dtype narrowest(const tw__csv_table *self, const char *text, tw_dtype before)
{
    static const tw_dtype order[] = { TW_INT32, TW_INT64, TW_FLOAT32, TW_FLOAT64, TW_STRING };
    const char *missing = self->args->na_value ? self->args->na_value : "";
    int at = 0;
    if (!*text || strcmp(text, missing) == 0)
        return before;
    while (before != TW_DTYPE_NONE && order[at] != before)
        at++;
    while (!is_dtype(text, order[at]))
        at++;
    return order[at];
}

static tw_status look_at_file(const tw__csv_table *self, int64_t file, int64_t *seen, tw_dtype *dtypes)
{
    tw__owned char *path = file_at(self, file);
    tw__stream stream;
    TW_NEED(path);
    TW_TRY(tw__stream_open(&stream, path, self->compression));
    tw_status status = TW_OK;
    int64_t limit = self->args->num_rows_for_inference;
    bool skips = self->args->header;
    for (int64_t number = 1; status == TW_OK; number++) {
        tw__auto(tw_value_free) tw_value row = { .kind = TW_VALUE_NONE };
        if (!skips && limit != TW_NO_INT && *seen >= limit)
            break;
        status = read_row(self, &stream, &row);
        if (status != TW_OK || row.kind == TW_VALUE_NONE)
            break;
        if (skips) {
            skips = false;
            continue;
        }
        if (row.list.count != self->names.list.count)
            status = tw__fail(TW_VALUE_ERROR, "Problem inferring types: CSV row %lld has %lld number of fields. Expected: %lld.",
                              (long long)number, (long long)row.list.count, (long long)self->names.list.count);
        for (int64_t i = 0; status == TW_OK && i < self->count; i++)
            dtypes[i] = narrowest(self, row.list.items[self->columns[i]].s.data, dtypes[i]);
        ++*seen;
    }
    tw__stream_close(&stream);
    return status;
}

static tw_status infer_defaults(tw__csv_table *self)
{
    tw__owned tw_dtype *dtypes = tw__alloc_array((size_t)self->count + 1, sizeof *dtypes);
    int64_t seen = 0;
    TW_NEED(dtypes);
    for (int64_t i = 0; i < self->count; i++)
        dtypes[i] = TW_DTYPE_NONE;
    for (int64_t i = 0; i < self->files->count; i++)
        TW_TRY(look_at_file(self, i, &seen, dtypes));
    for (int64_t i = 0; i < self->count; i++) {
        tw_dtype dtype = dtypes[i] == TW_DTYPE_NONE ? TW_STRING : dtypes[i];
        TW_TEMPS(t);
        tw_tensor *zeros = tw__temp_zeros(t, tw__temp_ints(t, (int64_t[]){ 1 }, 1, TW_INT32), dtype);
        TW_NEED(zeros);
        self->defaults[i] = tw_retain(zeros);
    }
    return TW_OK;
}

tw_status tw__csv_defaults(tw__csv_table *self)
{
    const tw_value *given = &self->args->column_defaults;
    if (given->kind == TW_VALUE_NONE)
        return infer_defaults(self);
    if (given->kind != TW_VALUE_LIST && given->kind != TW_VALUE_TUPLE)
        return tw__fail(TW_TYPE_ERROR, "make_csv_dataset: `column_defaults` must be a list");
    if (given->list.count != self->count)
        return tw__fail(TW_VALUE_ERROR,
                        "If specified, `column_defaults` and `select_columns` must have the same length: `column_defaults` has "
                        "length %lld, `select_columns` has length %lld.",
                        (long long)given->list.count, (long long)self->count);
    for (int64_t i = 0; i < self->count; i++) {
        const tw_value *item = &given->list.items[i];
        if (item->kind == TW_VALUE_DTYPE) {
            self->defaults[i] = tw_tensor_new(item->dtype, TW_SHAPE(0), NULL);
        } else {
            TW_TEMPS(t);
            tw_tensor *value = tw__temp(t, tw__value_tensor(item, TW_DTYPE_NONE, "column_defaults"));
            self->defaults[i] = tw_retain(value ? tw__temp_reshape(t, value, (int64_t[]){ -1 }, 1) : NULL);
        }
        TW_NEED(self->defaults[i]);
    }
    return TW_OK;
}
