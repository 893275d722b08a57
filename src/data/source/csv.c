/* Comma-separated values: CSVDatasetV2. A record ends at a line's end outside of quotes; a field in quotes may hold delimiters,
 * line ends and, doubled, quotes. A field that is empty, or says the na_value, has its default; one without a default is
 * required. */
#include "format/stream.h"
#include "data/state.h"
#include "op/guard.h"
#include "rows.h"

typedef struct csv_dataset {
    tw__dataset base;
    tw_tensor *names;
    tw__compression compression;
    bool header, quotes;
    char delimiter;
    char *na_value;
    int64_t *columns; /* that are wanted, ascending; NULL: all */
    int64_t column_count;
    bool excludes;        /* `columns` are not wanted */
    tw_tensor **defaults; /* of no element: required */
} csv_dataset;

typedef struct csv_cursor {
    tw__cursor base;
    int64_t file;
    bool open;
    tw__stream stream;
    tw__text field;
} csv_cursor;

static void csv_destroy(void *pointer)
{
    csv_dataset *self = pointer;
    tw_release(self->names);
    tw__free(self->na_value);
    tw__free(self->columns);
    for (int i = 0; self->defaults && i < self->base.count; i++)
        tw_release(self->defaults[i]);
    tw__free(self->defaults);
}

static void csv_stop(tw__cursor *cursor)
{
    csv_cursor *c = (csv_cursor *)cursor;
    if (c->open)
        tw__stream_close(&c->stream);
    tw__text_free(&c->field);
}

/* Whether a column is wanted. */
static bool wanted(const csv_dataset *self, int64_t column)
{
    if (!self->columns)
        return true;
    for (int64_t i = 0; i < self->column_count; i++) {
        if (self->columns[i] == column)
            return !self->excludes;
    }
    return self->excludes;
}

/* Line ends are \n, \r and \r\n. */
static void end_line(csv_cursor *c, int byte)
{
    if (byte == '\r' && tw__stream_fill(&c->stream) == TW_OK && c->stream.begin < c->stream.end &&
        c->stream.memory[c->stream.begin] == '\n')
        c->stream.begin++;
}

typedef enum field_end { FIELD_MORE, FIELD_LAST, FIELD_FAILED } field_end;

static field_end after_field(csv_cursor *c, const csv_dataset *self, int byte)
{
    if (byte == self->delimiter)
        return FIELD_MORE;
    end_line(c, byte);
    return FIELD_LAST;
}

static bool ends_field(const csv_dataset *self, int byte)
{
    return byte == -1 || byte == '\n' || byte == '\r' || byte == self->delimiter;
}

static field_end read_quoted(csv_cursor *c, const csv_dataset *self)
{
    for (;;) {
        int byte = tw__stream_byte(&c->stream);
        if (byte == '"') {
            byte = tw__stream_byte(&c->stream);
            if (ends_field(self, byte))
                return after_field(c, self, byte);
            if (byte != '"' && byte >= 0) { /* a quote that neither ends the field nor is doubled: part of it */
                char both[2] = { '"', (char)byte };
                tw__text_bytes(&c->field, both, 2);
                continue;
            }
        }
        if (byte == -1)
            tw__fail(TW_INVALID_ARGUMENT, "Reached end of file without closing quoted field in record");
        if (byte < 0)
            return FIELD_FAILED;
        char one = (char)byte;
        tw__text_bytes(&c->field, &one, 1);
    }
}

static field_end read_plain(csv_cursor *c, const csv_dataset *self, int byte)
{
    bool quote_inside = false;
    for (; !ends_field(self, byte) && byte >= 0; byte = tw__stream_byte(&c->stream)) {
        char one = (char)byte;
        quote_inside |= self->quotes && byte == '"';
        tw__text_bytes(&c->field, &one, 1);
    }
    if (byte == -2)
        return FIELD_FAILED;
    field_end end = after_field(c, self, byte);
    if (!quote_inside)
        return end;
    if (end == FIELD_MORE) { /* the next call begins at the next record */
        int rest = tw__stream_byte(&c->stream);
        while (rest >= 0 && rest != '\n')
            rest = tw__stream_byte(&c->stream);
    }
    tw__fail(TW_INVALID_ARGUMENT, "Unquoted fields cannot have quotes inside");
    return FIELD_FAILED;
}

static field_end read_field(csv_cursor *c, const csv_dataset *self)
{
    tw__text_clear(&c->field);
    int byte = tw__stream_byte(&c->stream);
    if (byte == -2)
        return FIELD_FAILED;
    field_end end = self->quotes && byte == '"' ? read_quoted(c, self) : read_plain(c, self, byte);
    if (c->field.failed)
        return FIELD_FAILED;
    tw__text_add(&c->field, ""); /* a zero byte behind it */
    return end;
}

/* ---- values ---- */

static tw_tensor *not_valid(const csv_dataset *self, int column, const char *text)
{
    tw__fail(TW_INVALID_ARGUMENT, "Field %d in record is not a valid %s: %s", column, tw__dtype_text(self->base.dtypes[column]),
             text);
    return NULL;
}

static tw_tensor *value_of(const csv_dataset *self, int column, const tw__text *field)
{
    const char *text = field->data ? field->data : "";
    if (field->size == 0 || strcmp(text, self->na_value) == 0) {
        tw_tensor *value = self->defaults[column];
        if (value->count == 1)
            return tw__tensor_view(value, &TW_SCALAR);
        tw__fail(TW_INVALID_ARGUMENT, "Field %d is required but missing in record!", column);
        return NULL;
    }
    tw_dtype dtype = self->base.dtypes[column];
    if (dtype == TW_STRING)
        return tw_tensor_string(text, field->size);
    union {
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
    } value;
    if (!tw__csv_number(text, dtype, &value))
        return not_valid(self, column, text);
    return tw_tensor_new(dtype, TW_SCALAR, &value);
}

/* What is left of a record after an error is passed over. */
static void skip_record(csv_cursor *c, const csv_dataset *self)
{
    tw__saved_error kept = tw__error_take();
    while (read_field(c, self) == FIELD_MORE)
        ;
    tw_clear_error();
    tw__error_restore(kept);
}

static tw_status read_record(csv_cursor *c, const csv_dataset *self, tw_tensor **element)
{
    int made = 0, count = self->base.count;
    tw_status status = TW_OK;
    field_end end = FIELD_MORE;
    for (int64_t column = 0; status == TW_OK && end == FIELD_MORE; column++) {
        end = read_field(c, self);
        if (end == FIELD_FAILED) {
            status = tw__error_status();
        } else if (wanted(self, column)) {
            if (made == count) {
                if (!self->columns)
                    status = tw__fail(TW_INVALID_ARGUMENT, "Expect %d fields but have more in record", count);
            } else {
                element[made] = value_of(self, made, &c->field);
                status = element[made] ? TW_OK : tw__error_status();
                made += status == TW_OK;
            }
        }
    }
    if (status == TW_OK && made < count)
        status = tw__fail(TW_INVALID_ARGUMENT, "Expect %d fields but have %d in record", count, made);
    if (status == TW_OK)
        return TW_OK;
    tw__element_end(element, made);
    if (end == FIELD_MORE)
        skip_record(c, self);
    return status;
}

static tw_status open_file(csv_cursor *c, const csv_dataset *self)
{
    tw_string name = tw_tensor_string_at(self->names, c->file);
    tw__owned char *path = tw__strndup(name.data, name.size);
    tw_status status = path ? tw__stream_open(&c->stream, path, self->compression) : tw__error_status();
    c->open = status == TW_OK;
    if (status == TW_OK && self->header) {
        status = tw__stream_fill(&c->stream);
        if (status == TW_OK && c->stream.begin == c->stream.end)
            status = tw__fail(TW_INVALID_ARGUMENT, "Can't read header of file");
        int byte = 0;
        while (status == TW_OK && byte >= 0 && byte != '\n' && byte != '\r')
            byte = tw__stream_byte(&c->stream);
        end_line(c, byte);
    }
    if (status != TW_OK) {
        if (c->open)
            tw__stream_close(&c->stream);
        c->open = false;
        c->file++;
    }
    return status;
}

static tw_status csv_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    csv_cursor *c = (csv_cursor *)cursor;
    const csv_dataset *self = (const csv_dataset *)cursor->dataset;
    for (;;) {
        *end = c->file >= self->names->count;
        if (*end)
            return TW_OK;
        if (!c->open)
            TW_TRY(open_file(c, self));
        TW_TRY(tw__stream_fill(&c->stream));
        if (c->stream.begin < c->stream.end)
            return read_record(c, self, element);
        tw__stream_close(&c->stream);
        c->open = false;
        c->file++;
    }
}

static void csv_state(tw__cursor *cursor, tw__state *state)
{
    csv_cursor *c = (csv_cursor *)cursor;
    const csv_dataset *self = (const csv_dataset *)cursor->dataset;
    bool open = c->open;
    int64_t at = open ? tw__stream_at(&c->stream) : 0;
    tw__state_same(state, "number of files", self->names->count);
    tw__state_same(state, "compression", self->compression);
    tw__state_int(state, "file", &c->file);
    tw__state_bool(state, "open", &open);
    tw__state_int(state, "at", &at);
    if (state->saving || !tw__state_good(state) || !open)
        return;
    if (c->file < 0 || c->file >= self->names->count) {
        tw__state_fail(state, TW_DATA_LOSS, "file %lld of %lld", (long long)c->file, (long long)self->names->count);
        return;
    }
    state->status = open_file(c, self);
    if (tw__state_good(state))
        state->status = tw__stream_seek(&c->stream, at);
}

static const tw__dataset_kind csv_kind = {
    .class = TW_DATASET_CLASS("CSVDataset", csv_dataset, csv_destroy),
    .cursor_size = sizeof(csv_cursor),
    .next = csv_next,
    .stop = csv_stop,
    .state = csv_state,
};

enum { NAMES, COMPRESSION, BUFFER, HEADER, DELIMITER, QUOTES, NA_VALUE, SELECT, DEFAULTS };

static tw_status read_columns(tw__kernel *kernel, csv_dataset *self)
{
    const tw_tensor *select = kernel->inputs[SELECT], *exclude = kernel->inputs[kernel->input_count - 1];
    const tw_tensor *chosen = exclude->count ? exclude : select;
    if (select->count && exclude->count)
        return tw__fail(TW_INVALID_ARGUMENT, "Either select_cols or exclude_cols should be empty");
    self->excludes = exclude->count > 0;
    self->column_count = chosen->count;
    if (!chosen->count)
        return TW_OK;
    self->columns = tw__alloc_array((size_t)chosen->count, sizeof *self->columns);
    TW_NEED(self->columns);
    for (int64_t i = 0; i < chosen->count; i++) {
        self->columns[i] = tw_tensor_int_at(chosen, i);
        if (self->columns[i] < 0 || (i && self->columns[i] <= self->columns[i - 1]))
            return tw__fail(TW_INVALID_ARGUMENT, "%s should be %s indices", self->excludes ? "exclude_cols" : "select_cols",
                            self->columns[i] < 0 ? "non-negative" : "strictly increasing");
    }
    return TW_OK;
}

static tw_status read_settings(tw__kernel *kernel, csv_dataset *self)
{
    TW_TRY(tw__compression_of(kernel->inputs[COMPRESSION], &self->compression));
    tw_string delimiter = tw_tensor_string_at(kernel->inputs[DELIMITER], 0),
              na_value = tw_tensor_string_at(kernel->inputs[NA_VALUE], 0);
    if (delimiter.size != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "field_delim should be only 1 char");
    self->delimiter = delimiter.data[0];
    self->header = *(const bool *)kernel->inputs[HEADER]->data;
    self->quotes = *(const bool *)kernel->inputs[QUOTES]->data;
    self->names = tw_retain(kernel->inputs[NAMES]);
    self->na_value = tw__strndup(na_value.data, na_value.size);
    self->defaults = tw__alloc_array((size_t)self->base.count + 1, sizeof *self->defaults);
    TW_NEED(self->na_value && self->defaults);
    for (int i = 0; i < self->base.count; i++) {
        tw_tensor *value = kernel->inputs[DEFAULTS + i];
        if (value->count > 1)
            return tw__fail(TW_INVALID_ARGUMENT, "There should only be 1 default per field but field %d has %lld", i,
                            (long long)value->count);
        self->defaults[i] = tw_retain(value);
        tw_dtype dtype = self->base.dtypes[i];
        if (dtype != TW_STRING && dtype != TW_INT32 && dtype != TW_INT64 && dtype != TW_FLOAT32 && dtype != TW_FLOAT64)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "a field of dtype %s", tw_dtype_name(dtype));
    }
    return read_columns(kernel, self);
}

static tw_status csv_compute(tw__kernel *kernel)
{
    csv_dataset *self = tw__dataset_make(kernel, &csv_kind, false);
    if (self && read_settings(kernel, self) != TW_OK) {
        tw_release(self);
        return tw__error_status();
    }
    return tw__dataset_give(kernel, self);
}

TW_OP(
    CSVDatasetV2,
    .inputs =
        "filenames: string, compression_type: string, buffer_size: int64, header: bool, field_delim: string, use_quote_delim: bool, na_value: "
        "string, select_cols: int64, record_defaults: output_types, exclude_cols: int64",
    .attrs = "output_types: list({float, double, int32, int64, string}) >= 1, output_shapes: list(shape) >= 1", TW_DATASET_OP,
    .shape = tw_shape_scalar, .compute = csv_compute, .stateful = true, .touches = TW_READS_FILES, .paths = "filenames",
    .doc = "The records of files of comma-separated values.");

static tw_tensor *ints_of(tw_ints ints)
{
    return tw_tensor_new(TW_INT64, TW_SHAPE(ints.count), ints.count ? ints.items : NULL);
}

static tw_status csv_init(void *self, const void *arguments)
{
    const tw_dataset_csv_args *args = arguments;
    int count = (int)args->record_defaults.count, all = DEFAULTS + count + 1;
    tw__held tw_tensor **inputs = tw__held_new((size_t)all);
    tw__owned tw_spec *specs = tw__alloc_array((size_t)count + 1, sizeof *specs);
    TW_NEED(inputs && specs);
    const char *compression = args->compression_type ? args->compression_type : "",
               *na_value = args->na_value ? args->na_value : "";
    inputs[NAMES] = tw_retain(args->filenames);
    inputs[COMPRESSION] = tw_tensor_string(compression, strlen(compression));
    inputs[BUFFER] = tw__data_number(args->buffer_size, args->buffer_size_object, "buffer_size");
    inputs[HEADER] = tw_tensor_bool(args->header);
    inputs[DELIMITER] =
        args->field_delim ? tw_tensor_string(args->field_delim, strlen(args->field_delim)) : tw_tensor_string(",", 1);
    inputs[QUOTES] = tw_tensor_bool(args->use_quote_delim);
    inputs[NA_VALUE] = tw_tensor_string(na_value, strlen(na_value));
    inputs[SELECT] = ints_of(args->select_cols);
    inputs[all - 1] = ints_of(args->exclude_cols);
    for (int i = 0; i < count; i++) {
        inputs[DEFAULTS + i] = tw_retain(args->record_defaults.items[i]);
        specs[i] = (tw_spec){ args->record_defaults.items[i]->dtype, TW_SCALAR };
    }
    for (int i = 0; i < all; i++)
        TW_NEED(inputs[i]);
    TW_TRY(tw__dataset_apply(self, &tw__op_CSVDatasetV2, inputs, all, NULL, 0, specs, count));
    if (count == 1)
        /* a tuple of one, too */
        TW_TRY(tw__dataset_wrap(self));
    return TW_OK;
}

TW_CLASS(
    dataset_csv,
    "data.CsvDatasetV2(filenames: tensor<string>, record_defaults: tensors, compression_type: str = None, buffer_size: number = 4194304, header: "
    "bool = False, field_delim: str = None, use_quote_delim: bool = True, na_value: str = None, select_cols: ints = None, exclude_cols: ints = "
    "None) -> dataset",
    TW_STEP(csv_init),
    .doc =
        "The records of files of comma-separated values: one component per column, of the dtype of its default. A default without elements says "
        "that the field is required.\n"
        "record_defaults: for each column a dtype, or a tensor with its default; one without elements: the field is required\n"
        "buffer_size: how many bytes are read at once\n"
        "header: True: the first line of each file is no record\n"
        "field_delim: the character between two fields; None: a comma\n"
        "use_quote_delim: True: fields may stand in double quotes\n"
        "na_value: a text that counts as an empty field; None: none\n"
        "select_cols: the numbers of the columns to read, in their order; None: all\n"
        "exclude_cols: the numbers of the columns to leave out; not together with `select_cols`");
