/* Datasets of what files hold: lines (TextLineDataset), records (TFRecordDataset), pieces of a fixed length
 * (FixedLengthRecordDatasetV2). The files are read one after the other; an element is one string. */
#include "format/stream.h"
#include "base/temps.h"
#include "data/state.h"
#include "op/guard.h"
#include "rows.h"

enum { HEAD = 12 }; /* of a record */

typedef struct files_dataset {
    tw__dataset base;
    tw_tensor *names;
    tw__compression compression;
    int64_t header, record, footer; /* of pieces */
} files_dataset;

typedef struct files_cursor {
    tw__cursor base;
    int64_t file;
    bool open;
    tw__stream stream;
    tw__record_reader records;
    int64_t left; /* of pieces: bytes before the footer; -1: not known, the file is compressed */
    tw__text line;
} files_cursor;

static void files_destroy(void *self)
{
    tw_release(((files_dataset *)self)->names);
}

/* The path of file number `file`, for tw__free. */
static char *path_of(const files_dataset *self, int64_t file)
{
    tw_string name = tw_tensor_string_at(self->names, file);
    return tw__strndup(name.data, name.size);
}

static tw_status open_stream(files_cursor *c, const files_dataset *self)
{
    tw__owned char *path = path_of(self, c->file);
    tw_status status = path ? tw__stream_open(&c->stream, path, self->compression) : tw__error_status();
    c->file += status != TW_OK; /* the next call goes on behind it */
    c->open = status == TW_OK;
    return status;
}

static void close_file(files_cursor *c)
{
    if (c->open)
        tw__stream_close(&c->stream);
    c->open = false;
    c->file++;
}

static void lines_stop(tw__cursor *cursor)
{
    files_cursor *c = (files_cursor *)cursor;
    if (c->open)
        tw__stream_close(&c->stream);
    tw__text_free(&c->line);
}

/* A line without its end; carriage returns are left out. False: there is none, or an error. */
static bool read_line(files_cursor *c, tw_status *status)
{
    tw__text_clear(&c->line);
    bool any = false;
    for (;;) {
        *status = tw__stream_fill(&c->stream);
        if (*status != TW_OK)
            return false;
        size_t size = c->stream.end - c->stream.begin;
        if (!size)
            return any;
        any = true;
        const char *data = (const char *)c->stream.memory + c->stream.begin, *end = memchr(data, '\n', size);
        size_t part = end ? (size_t)(end - data) : size;
        for (size_t at = 0; at < part;) {
            const char *skip = memchr(data + at, '\r', part - at);
            size_t run = skip ? (size_t)(skip - data) - at : part - at;
            tw__text_bytes(&c->line, data + at, run);
            at += run + (skip != NULL);
        }
        c->stream.begin += part + (end != NULL);
        if (c->line.failed)
            *status = tw__error_status();
        if (end || *status != TW_OK)
            return *status == TW_OK;
    }
}

static tw_status lines_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    files_cursor *c = (files_cursor *)cursor;
    const files_dataset *self = (const files_dataset *)cursor->dataset;
    for (;;) {
        *end = c->file >= self->names->count;
        if (*end)
            return TW_OK;
        if (!c->open)
            TW_TRY(open_stream(c, self));
        tw_status status;
        if (read_line(c, &status)) {
            element[0] = tw_tensor_string(c->line.data ? c->line.data : "", c->line.size);
            return element[0] ? TW_OK : tw__error_status();
        }
        close_file(c);
        TW_TRY(status);
    }
}

/* ---- records ---- */

static void records_stop(tw__cursor *cursor)
{
    files_cursor *c = (files_cursor *)cursor;
    if (c->open)
        tw__record_close(&c->records);
}

static tw_status open_records(files_cursor *c, const files_dataset *self)
{
    tw__owned char *path = path_of(self, c->file);
    tw_status opened = !path                    ? tw__error_status()
                       : !tw__path_exists(path) ? tw__stream_missing(path)
                                                : tw__record_open_packed(&c->records, path, self->compression);
    c->file += opened != TW_OK;
    c->open = opened == TW_OK;
    return opened;
}

/* After damage: the next call goes on at the next good head of the file. False: there is none. */
static bool goes_on_behind(files_cursor *c)
{
    tw__saved_error kept = tw__error_take();
    int64_t skipped;
    bool found = !tw__record_cut_off(&c->records) && tw__record_resync(&c->records, &skipped) == TW_OK &&
                 c->records.end - c->records.begin >= HEAD;
    tw_clear_error();
    tw__error_restore(kept);
    return found;
}

static tw_status records_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    files_cursor *c = (files_cursor *)cursor;
    const files_dataset *self = (const files_dataset *)cursor->dataset;
    for (;;) {
        *end = c->file >= self->names->count;
        if (*end)
            return TW_OK;
        if (!c->open)
            TW_TRY(open_records(c, self));
        if (tw__record_next(&c->records)) {
            element[0] = tw_tensor_string((const char *)c->records.data, c->records.size);
            return element[0] ? TW_OK : tw__error_status();
        }
        tw_status status = c->records.status;
        if (status == TW_OK)
            status = tw__record_check_end(&c->records);
        if (status == TW_OK || !goes_on_behind(c)) {
            tw__record_close(&c->records);
            c->open = false;
            c->file++;
        }
        TW_TRY(status);
    }
}

/* ---- pieces ---- */

static tw_status open_pieces(files_cursor *c, const files_dataset *self)
{
    TW_TRY(open_stream(c, self));
    size_t got = 0;
    int64_t body = c->stream.file.size - self->header - self->footer;
    if (self->compression == TW_COMPRESSION_NONE && (body < 0 || body % self->record)) {
        tw_status status = tw__fail(
            TW_INVALID_ARGUMENT,
            "Excluding the header (%lld bytes) and footer (%lld bytes), input file \"%s\" has body length %lld bytes, which is "
            "not an exact multiple of the record length (%lld bytes).",
            (long long)self->header, (long long)self->footer, c->stream.file.path, (long long)body, (long long)self->record);
        close_file(c);
        return status;
    }
    c->left = self->compression == TW_COMPRESSION_NONE ? body : -1;
    tw__text_clear(&c->line);
    tw_status status = tw__stream_read(&c->stream, NULL, (size_t)self->header, &got);
    if (status != TW_OK)
        close_file(c);
    return status;
}

/* The next record: `ahead` bytes behind it are the footer if no more come. */
static tw_status read_piece(files_cursor *c, const files_dataset *self, bool *got_it)
{
    size_t want = (size_t)self->record, got = 0;
    *got_it = false;
    if (c->left == 0)
        return TW_OK;
    size_t keep = c->left < 0 ? (size_t)self->footer : 0, have = c->line.size;
    if (have > want) { /* what was read ahead of the record before */
        memmove(c->line.data, c->line.data + want, have - want);
        c->line.size = have - want;
    } else {
        tw__text_clear(&c->line);
    }
    char block[4096];
    while (c->line.size < want + keep) {
        size_t part = want + keep - c->line.size < sizeof block ? want + keep - c->line.size : sizeof block;
        TW_TRY(tw__stream_read(&c->stream, block, part, &got));
        tw__text_bytes(&c->line, block, got);
        if (c->line.failed)
            return tw__error_status();
        if (got < part)
            break;
    }
    *got_it = c->line.size == want + keep;
    if (c->left > 0)
        c->left -= self->record;
    return TW_OK;
}

static tw_status pieces_next(tw__cursor *cursor, tw_tensor **element, bool *end)
{
    files_cursor *c = (files_cursor *)cursor;
    const files_dataset *self = (const files_dataset *)cursor->dataset;
    for (;;) {
        *end = c->file >= self->names->count;
        if (*end)
            return TW_OK;
        if (!c->open)
            TW_TRY(open_pieces(c, self));
        bool got = false;
        tw_status status = read_piece(c, self, &got);
        if (status == TW_OK && got) {
            element[0] = tw_tensor_string(c->line.data, (size_t)self->record);
            return element[0] ? TW_OK : tw__error_status();
        }
        close_file(c);
        TW_TRY(status);
    }
}

/* ---- where they stand ---- */

/* Which file, and whether it is open. The files' names may have changed, not their number. */
static void file_state(tw__cursor *cursor, tw__state *state)
{
    files_cursor *c = (files_cursor *)cursor;
    const files_dataset *self = (const files_dataset *)cursor->dataset;
    tw__state_same(state, "number of files", self->names->count);
    tw__state_same(state, "compression", self->compression);
    tw__state_int(state, "file", &c->file);
    if (tw__state_good(state) && (c->file < 0 || c->file > self->names->count))
        tw__state_fail(state, TW_DATA_LOSS, "file %lld of %lld", (long long)c->file, (long long)self->names->count);
}

static void stream_state(tw__cursor *cursor, tw__state *state)
{
    files_cursor *c = (files_cursor *)cursor;
    bool open = c->open;
    file_state(cursor, state);
    tw__state_bool(state, "open", &open);
    int64_t at = c->open ? tw__stream_at(&c->stream) : 0;
    if (open)
        tw__state_int(state, "at", &at);
    if (open && !state->saving && tw__state_good(state)) {
        state->status = open_stream(c, (const files_dataset *)cursor->dataset);
        if (tw__state_good(state))
            state->status = tw__stream_seek(&c->stream, at);
    }
}

static void records_state(tw__cursor *cursor, tw__state *state)
{
    files_cursor *c = (files_cursor *)cursor;
    bool open = c->open;
    file_state(cursor, state);
    tw__state_bool(state, "open", &open);
    int64_t at = c->open ? c->records.offset : 0;
    if (open)
        tw__state_int(state, "at", &at);
    if (open && !state->saving && tw__state_good(state)) {
        state->status = open_records(c, (const files_dataset *)cursor->dataset);
        if (tw__state_good(state))
            state->status = tw__record_seek(&c->records, at);
    }
}

static void pieces_state(tw__cursor *cursor, tw__state *state)
{
    files_cursor *c = (files_cursor *)cursor;
    const files_dataset *self = (const files_dataset *)cursor->dataset;
    tw__state_same(state, "record_bytes", self->record);
    tw__state_same(state, "header_bytes", self->header);
    tw__state_same(state, "footer_bytes", self->footer);
    stream_state(cursor, state);
    tw__state_int(state, "left", &c->left);
    tw__state_text(state, "ahead", &c->line);
}

/* ---- kernels ---- */

#define FILES_KIND(name_, next_, stop_, state_)                                                                             \
    {                                                                                                                       \
        .class = TW_DATASET_CLASS(name_, files_dataset, files_destroy), .cursor_size = sizeof(files_cursor), .next = next_, \
        .stop = stop_, .state = state_                                                                                      \
    }
static const tw__dataset_kind lines_kind = FILES_KIND("TextLineDataset", lines_next, lines_stop, stream_state);
static const tw__dataset_kind records_kind = FILES_KIND("TFRecordDataset", records_next, records_stop, records_state);
static const tw__dataset_kind pieces_kind = FILES_KIND("FixedLengthRecordDataset", pieces_next, lines_stop, pieces_state);

static files_dataset *make_files(tw__kernel *kernel, const tw__dataset_kind *kind, int compression)
{
    tw__compression found;
    if (tw__compression_of(kernel->inputs[compression], &found) != TW_OK)
        return NULL;
    files_dataset *self = tw__dataset_make(kernel, kind, false);
    if (!self)
        return NULL;
    self->names = tw_retain(kernel->inputs[0]);
    self->compression = found;
    return self;
}

static tw_status lines_compute(tw__kernel *kernel)
{
    return tw__dataset_give(kernel, make_files(kernel, &lines_kind, 1));
}

static tw_status records_compute(tw__kernel *kernel)
{
    return tw__dataset_give(kernel, make_files(kernel, &records_kind, 1));
}

static tw_status pieces_compute(tw__kernel *kernel)
{
    int64_t sizes[3];
    for (int i = 0; i < 3; i++)
        sizes[i] = tw_tensor_int_at(kernel->inputs[1 + i], 0);
    if (sizes[0] < 0 || sizes[2] < 0 || sizes[1] < 1)
        return tw__fail(TW_INVALID_ARGUMENT,
                        sizes[1] < 1 ? "`record_bytes` must be > 0" : "`header_bytes` and `footer_bytes` must be >= 0");
    files_dataset *self = make_files(kernel, &pieces_kind, 5);
    if (self) {
        self->header = sizes[0];
        self->record = sizes[1];
        self->footer = sizes[2];
    }
    return tw__dataset_give(kernel, self);
}

static tw_status files_shape(tw__inference *inference)
{
    const tw_shape *names = inference->shapes[0];
    if (names->rank > 1)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "filenames must be a scalar or a vector, got %s",
                          tw__shape_text(names));
    for (int i = 1; i < inference->input_count; i++)
        TW_TRY(tw__need_rank(inference, i, 0));
    return tw_shape_scalar(inference);
}

TW_OP(TextLineDataset, .inputs = "filenames: string, compression_type: string, buffer_size: int64",
      .attrs = "metadata: string = ''", TW_DATASET_OP, .shape = files_shape, .compute = lines_compute, .stateful = true,
      .touches = TW_READS_FILES, .paths = "filenames", .doc = "The lines of files.");

TW_OP(TFRecordDataset, .inputs = "filenames: string, compression_type: string, buffer_size: int64",
      .attrs = "metadata: string = ''", TW_DATASET_OP, .shape = files_shape, .compute = records_compute, .stateful = true,
      .touches = TW_READS_FILES, .paths = "filenames", .doc = "The records of TFRecord files.");

TW_OP(
    FixedLengthRecordDatasetV2,
    .inputs =
        "filenames: string, header_bytes: int64, record_bytes: int64, footer_bytes: int64, buffer_size: int64, compression_type: string",
    .attrs = "metadata: string = ''", TW_DATASET_OP, .shape = files_shape, .compute = pieces_compute, .stateful = true,
    .touches = TW_READS_FILES, .paths = "filenames", .doc = "Pieces of a fixed length of files.");

/* ---- classes ---- */

/* The inputs behind the file names are taken. */
static tw_status apply_files(struct tw_dataset *self, const tw_op *op, tw_tensor *names, tw_tensor *const *rest, int count)
{
    TW_TEMPS(t);
    tw_tensor *inputs[8] = { names };
    bool good = true;
    for (int i = 0; i < count; i++)
        good &= (inputs[1 + i] = tw__temp(t, rest[i])) != NULL;
    TW_NEED(good);
    if (names->dtype != TW_STRING)
        return tw__fail(TW_TYPE_ERROR, "The `filenames` argument must contain `tf.string` elements. Got `tf.%s` elements.",
                        tw_dtype_name(names->dtype));
    return tw__dataset_apply(self, op, inputs, count + 1, NULL, 0, &(tw_spec){ TW_STRING, TW_SCALAR }, 1);
}

static tw_tensor *text_of(const char *text)
{
    return tw_tensor_string(text ? text : "", text ? strlen(text) : 0);
}

/* Both classes of files without further settings. */
#define WHOLE_FILES(args, op)                                                                       \
    apply_files(self, op, args->filenames,                                                          \
                TW_IN(text_of(args->compression_type),                                              \
                      tw__data_number(args->buffer_size, args->buffer_size_object, "buffer_size")), \
                2)

static tw_status lines_init(void *self, const void *arguments)
{
    const tw_dataset_text_line_args *args = arguments;
    return WHOLE_FILES(args, &tw__op_TextLineDataset);
}

TW_CLASS(
    dataset_text_line,
    "data.TextLineDatasetV2(filenames: tensor<string>, compression_type: str = None, buffer_size: number = 262144) -> dataset",
    TW_STEP(lines_init),
    .doc = "The lines of text files, one file after the other.\n"
           "buffer_size: how many bytes are read at once");

static tw_status records_init(void *self, const void *arguments)
{
    const tw_dataset_tf_record_args *args = arguments;
    return WHOLE_FILES(args, &tw__op_TFRecordDataset);
}

TW_CLASS(
    dataset_tf_record,
    "data.TFRecordDatasetV2(filenames: tensor<string>, compression_type: str = None, buffer_size: number = 262144) -> dataset",
    TW_STEP(records_init),
    .doc = "The records of TFRecord files, one file after the other.\n"
           "buffer_size: how many bytes are read at once");

static tw_status pieces_init(void *self, const void *arguments)
{
    const tw_dataset_fixed_length_record_args *args = arguments;
    return apply_files(self, &tw__op_FixedLengthRecordDatasetV2, args->filenames,
                       TW_IN(tw__data_number(args->header_bytes, args->header_bytes_object, "header_bytes"),
                             tw__data_number(args->record_bytes, args->record_bytes_object, "record_bytes"),
                             tw__data_number(args->footer_bytes, args->footer_bytes_object, "footer_bytes"),
                             tw__data_number(args->buffer_size, args->buffer_size_object, "buffer_size"),
                             text_of(args->compression_type)),
                       5);
}

TW_CLASS(
    dataset_fixed_length_record,
    "data.FixedLengthRecordDatasetV2(filenames: tensor<string>, record_bytes: number, header_bytes: number = 0, footer_bytes: number = 0, "
    "buffer_size: number = 262144, compression_type: str = None) -> dataset",
    TW_STEP(pieces_init),
    .doc = "Pieces of a fixed length of files, between a header and a footer.\n"
           "record_bytes: how many bytes a record has\n"
           "header_bytes: how many bytes at the beginning of each file are left out\n"
           "footer_bytes: how many bytes at the end of each file are left out\n"
           "buffer_size: how many bytes are read at once");
