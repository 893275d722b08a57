/* What fills a table once: tensors, or the lines of a text file. Of a file, keys and values may each be the whole line (-2), its
 * number (-1) or a column. */
#include <errno.h>
#include <stdlib.h>

#include "op/guard.h"
#include "op/table/table.h"
#include "rows.h"

enum { WHOLE_LINE = -2, LINE_NUMBER = -1 };

static tw_status tensors_compute(tw__kernel *kernel)
{
    tw__lookup_table *table = tw__table_of(kernel);
    const tw_tensor *keys = kernel->inputs[1], *values = kernel->inputs[2];
    if (!table)
        return tw__error_status();
    if (keys->shape.rank != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "Keys must be a vector, but received shape %s", tw__shape_text(&keys->shape));
    if (!tw__shape_equal(&keys->shape, &values->shape))
        return tw__fail(TW_INVALID_ARGUMENT, "keys and values do not have the same shape: %s and %s",
                        tw__shape_text(&keys->shape), tw__shape_text(&values->shape));
    return tw__table_fill(table, keys, values);
}

TW_OP(InitializeTableV2, .inputs = "table_handle: resource, keys: Tkey, values: Tval", .attrs = "Tkey: type, Tval: type",
      .shape = tw_shape_none, .compute = tensors_compute, .stateful = true, .doc = "Fills a table with keys and values.");

/* ---- text files ---- */

typedef struct text_file {
    const tw_op *op;
    char *path, *data;
    size_t size;
    int64_t offset, limit; /* the number of the first line; lines at most, -1: all */
    char delimiter;
} text_file;

/* The next line, without its end; false: there is none. */
static bool next_line(const text_file *file, size_t *at, tw_string *line)
{
    if (*at >= file->size)
        return false;
    const char *start = file->data + *at, *end = memchr(start, '\n', file->size - *at);
    *line = (tw_string){ start, end ? (size_t)(end - start) : file->size - *at };
    *at += line->size + 1;
    if (line->size && line->data[line->size - 1] == '\r')
        line->size--;
    return true;
}

static tw_status column_of(const text_file *file, tw_string line, int64_t number, int64_t wanted, tw_string *field)
{
    tw_string rest = line;
    for (int64_t i = 0;; i++) {
        const char *end = memchr(rest.data, file->delimiter, rest.size);
        tw_string here = { rest.data, end ? (size_t)(end - rest.data) : rest.size };
        if (i == wanted) {
            *field = here;
            return TW_OK;
        }
        if (!end)
            return tw__fail(TW_INVALID_ARGUMENT,
                            "Invalid number of columns in %s line %lld (%.*s) : expected at least %lld got %lld", file->path,
                            (long long)number, (int)(line.size < 200 ? line.size : 200), line.data, (long long)wanted + 1,
                            (long long)i + 1);
        rest = (tw_string){ end + 1, rest.size - here.size - 1 };
    }
}

static tw_status parse_number(tw_string field, int64_t number, tw_tensor *to, int64_t at)
{
    char text[64], *end = text;
    double real = 0;
    long long whole = 0;
    if (field.size && field.size < sizeof text) {
        memcpy(text, field.data, field.size);
        text[field.size] = 0;
        errno = 0;
        if (to->dtype == TW_INT32 || to->dtype == TW_INT64)
            whole = strtoll(text, &end, 10);
        else
            real = strtod(text, &end);
    }
    bool fits = errno == 0 && (to->dtype != TW_INT32 || (whole >= INT32_MIN && whole <= INT32_MAX));
    if (end == text || *end || !fits)
        return tw__fail(TW_INVALID_ARGUMENT, "Field %.*s in line %lld is not a valid %s.",
                        (int)(field.size < 100 ? field.size : 100), field.data, (long long)number, tw__dtype_text(to->dtype));
    if (to->dtype == TW_INT32)
        ((int32_t *)to->data)[at] = (int32_t)whole;
    else if (to->dtype == TW_INT64)
        ((int64_t *)to->data)[at] = whole;
    else if (to->dtype == TW_FLOAT32)
        ((float *)to->data)[at] = (float)real;
    else
        ((double *)to->data)[at] = real;
    return TW_OK;
}

static tw_status parse(const text_file *file, tw_string line, int64_t number, int64_t index, tw_tensor *to, int64_t at)
{
    if (index == LINE_NUMBER) {
        ((int64_t *)to->data)[at] = at + file->offset;
        return TW_OK;
    }
    tw_string field = line;
    if (index >= 0)
        TW_TRY(column_of(file, line, number, index, &field));
    return to->dtype == TW_STRING ? tw__string_set(to, at, field.data, field.size) : parse_number(field, number, to, at);
}

static tw_status check_index(int64_t index, tw_dtype dtype, const char *what)
{
    bool known = dtype == TW_STRING || dtype == TW_INT32 || dtype == TW_INT64 || dtype == TW_FLOAT32 || dtype == TW_FLOAT64;
    if (index == WHOLE_LINE && dtype != TW_STRING)
        return tw__fail(TW_INVALID_ARGUMENT, "%s index for whole line requires string type, but received %s", what,
                        tw__dtype_text(dtype));
    if (index == LINE_NUMBER && dtype != TW_INT64)
        return tw__fail(TW_INVALID_ARGUMENT, "%s index for line number requires int64 type, but received %s", what,
                        tw__dtype_text(dtype));
    if (!known)
        return tw__fail(TW_UNIMPLEMENTED, "%s of dtype %s in a text file", what, tw__dtype_text(dtype));
    return TW_OK;
}

static tw_status fill(const text_file *file, tw__lookup_table *table, int64_t key_index, int64_t value_index)
{
    tw_string line;
    int64_t lines = 0;
    for (size_t at = 0; next_line(file, &at, &line);)
        lines++;
    int64_t count = lines;
    if (file->limit >= 0 && count < file->limit)
        return tw__fail(TW_INVALID_ARGUMENT, "Invalid vocab_size in %s: expected %lld but got %lld", file->path,
                        (long long)file->limit, (long long)count);
    count = file->limit >= 0 ? file->limit : count;
    tw_auto tw_tensor *keys = tw__tensor_empty(table->key_dtype, &TW_SHAPE(count));
    tw_auto tw_tensor *values = tw__tensor_empty(table->value_dtype, &TW_SHAPE(count));
    TW_NEED(keys && values);
    size_t at = 0;
    for (int64_t number = 0; number < count && next_line(file, &at, &line); number++) {
        TW_TRY(parse(file, line, number, key_index, keys, number));
        TW_TRY(parse(file, line, number, value_index, values, number));
    }
    return tw__table_fill(table, keys, values);
}

static tw_status file_compute(tw__kernel *kernel)
{
    tw__lookup_table *table = tw__table_of(kernel);
    const tw_tensor *name = kernel->inputs[1];
    tw_string delimiter = TW_ATTR(kernel, "delimiter")->s;
    int64_t key_index = TW_ATTR(kernel, "key_index")->i, value_index = TW_ATTR(kernel, "value_index")->i;
    text_file file = { .op = kernel->op, .offset = TW_ATTR(kernel, "offset")->i, .limit = TW_ATTR(kernel, "vocab_size")->i };
    if (!table)
        return tw__error_status();
    if (name->count != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "filename should be a single string, but got %s", tw__shape_text(&name->shape));
    if (delimiter.size != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "delimiter should be only 1 char");
    TW_TRY(check_index(key_index, table->key_dtype, "Key"));
    TW_TRY(check_index(value_index, table->value_dtype, "Value"));
    file.delimiter = delimiter.data[0];
    tw_string path = tw_tensor_string_at(name, 0);
    file.path = tw__strndup(path.data ? path.data : "", path.size);
    file.data = file.path ? tw__file_read_all(file.path, SIZE_MAX, &file.size) : NULL;
    tw_status status = file.data ? fill(&file, table, key_index, value_index) : tw__error_status();
    tw__free(file.data);
    tw__free(file.path);
    return status;
}

TW_OP(InitializeTableFromTextFileV2, .inputs = "table_handle: resource, filename: string",
      .attrs =
          "key_index: int >= -2, value_index: int >= -2, vocab_size: int >= -1 = -1, delimiter: string = '\t', offset: int = 0",
      .shape = tw_shape_none, .compute = file_compute, .stateful = true, .touches = TW_READS_FILES, .paths = "filename",
      .doc = "Fills a table with the lines of a text file.");
