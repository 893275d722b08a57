/* Readers of TensorFlow 1: they take names of files out of a queue and give what the files hold, one record after the other, each
 * with a key that says where it stood. A reader is behind a resource handle, as a queue is; in a graph it is the state of its
 * node. */
#include "base/pause.h"
#include "codec/message.h"
#include "format/stream.h"
#include "op/guard.h"
#include "op/queue/queue.h"
#include "rows.h"

typedef struct reader reader;
typedef struct reader_kind {
    const char *name;
    tw_status (*begin)(reader *r);                            /* opens r->work */
    tw_status (*next)(reader *r, tw__text *key, bool *ended); /* the key and r->record; or it ended */
    void (*end)(reader *r);
    bool whole; /* a file is one record, and the reader tells where it stands */
} reader_kind;

struct reader {
    tw_object object;
    const reader_kind *kind;
    pthread_mutex_t lock;
    bool ready, open; /* the lock is made; a file is being read */
    char *work;       /* the file's name */
    int64_t started, finished, produced;
    int64_t line, skipped; /* lines of the file so far, and of its head; or its records */
    tw__compression compression;
    int64_t header, size, footer, hop; /* of pieces */
    tw__stream stream;
    tw__record_reader records;
    tw__text record; /* and, of pieces, what was read ahead */
};

static void reader_stop(reader *r)
{
    if (r->open && r->kind->end)
        r->kind->end(r);
    r->open = false;
}

static void reader_destroy(void *self)
{
    reader *r = self;
    reader_stop(r);
    tw__free(r->work);
    tw__text_free(&r->record);
    if (r->ready)
        pthread_mutex_destroy(&r->lock);
}

static const tw_class reader_class = { .name = "Reader", .size = sizeof(reader), .destroy = reader_destroy };

/* ---- lines ---- */

static void stream_end(reader *r)
{
    tw__stream_close(&r->stream);
}

/* A line without its end; carriage returns before it are left out. */
static tw_status read_line(reader *r, bool *ended)
{
    int byte = tw__stream_byte(&r->stream);
    *ended = byte == -1;
    tw__text_clear(&r->record);
    for (; byte >= 0 && byte != '\n'; byte = tw__stream_byte(&r->stream)) {
        if (byte != '\r')
            tw__text_bytes(&r->record, &(char){ (char)byte }, 1);
    }
    r->line += !*ended;
    return byte == -2 || r->record.failed ? tw__error_status() : TW_OK;
}

static tw_status lines_begin(reader *r)
{
    bool ended = false;
    TW_TRY(tw__stream_open(&r->stream, r->work, TW_COMPRESSION_NONE));
    r->line = 0;
    tw_status status = TW_OK;
    while (status == TW_OK && !ended && r->line < r->skipped)
        status = read_line(r, &ended);
    if (status != TW_OK)
        stream_end(r);
    return status;
}

static tw_status lines_next(reader *r, tw__text *key, bool *ended)
{
    TW_TRY(read_line(r, ended));
    tw__text_format(key, "%s:%lld", r->work, (long long)r->line);
    return TW_OK;
}

/* ---- records ---- */

static tw_status records_begin(reader *r)
{
    return tw__path_exists(r->work) ? tw__record_open_packed(&r->records, r->work, r->compression) : tw__stream_missing(r->work);
}

static tw_status records_next(reader *r, tw__text *key, bool *ended)
{
    tw__text_format(key, "%s:%lld", r->work, (long long)r->records.offset);
    *ended = !tw__record_next(&r->records);
    if (*ended)
        return r->records.status == TW_OK ? tw__record_check_end(&r->records) : r->records.status;
    tw__text_clear(&r->record);
    tw__text_bytes(&r->record, (const char *)r->records.data, r->records.size);
    return r->record.failed ? tw__error_status() : TW_OK;
}

static void records_end(reader *r)
{
    tw__record_close(&r->records);
}

/* ---- pieces of a fixed length ---- */

static tw_status pieces_begin(reader *r)
{
    size_t got;
    TW_TRY(tw__stream_open(&r->stream, r->work, r->compression));
    tw__text_clear(&r->record);
    r->line = 0;
    tw_status status = tw__stream_read(&r->stream, NULL, (size_t)r->header, &got);
    if (status != TW_OK)
        stream_end(r);
    return status;
}

static tw_status pieces_next(reader *r, tw__text *key, bool *ended)
{
    int64_t drop = r->line ? r->hop : 0, kept = (int64_t)r->record.size; /* of the piece before this one */
    size_t got;
    if (drop < kept) {
        memmove(r->record.data, r->record.data + drop, (size_t)(kept - drop));
        r->record.size = (size_t)(kept - drop);
    } else {
        tw__text_clear(&r->record);
        TW_TRY(tw__stream_read(&r->stream, NULL, (size_t)(drop - kept), &got));
    }
    char block[4096];
    for (size_t all = (size_t)(r->size + r->footer); r->record.size < all;) {
        size_t part = all - r->record.size < sizeof block ? all - r->record.size : sizeof block;
        TW_TRY(tw__stream_read(&r->stream, block, part, &got));
        tw__text_bytes(&r->record, block, got);
        if (r->record.failed)
            return tw__error_status();
        *ended = got < part;
        if (*ended)
            return TW_OK;
    }
    tw__text_format(key, "%s:%lld", r->work, (long long)r->line++);
    return TW_OK;
}

/* ---- files, and names alone ---- */

static tw_status whole_next(reader *r, tw__text *key, bool *ended)
{
    *ended = r->line++ > 0;
    if (*ended)
        return TW_OK;
    size_t size = strlen(r->work);
    tw__owned char *contents = tw__path_exists(r->work) ? tw__file_read_all(r->work, SIZE_MAX / 4, &size) : NULL;
    if (!contents)
        return tw__path_exists(r->work) ? tw__error_status() : tw__stream_missing(r->work);
    tw__text_clear(&r->record);
    tw__text_bytes(&r->record, contents, size);
    tw__text_add(key, r->work);
    return r->record.failed ? tw__error_status() : TW_OK;
}

static tw_status name_next(reader *r, tw__text *key, bool *ended)
{
    *ended = r->line++ > 0;
    tw__text_clear(&r->record);
    tw__text_add(&r->record, r->work);
    tw__text_add(key, r->work);
    return r->record.failed ? tw__error_status() : TW_OK;
}

static tw_status plain_begin(reader *r)
{
    r->line = 0;
    return TW_OK;
}

static const reader_kind line_kind = { "TextLineReader", lines_begin, lines_next, stream_end, false },
                         record_kind = { "TFRecordReader", records_begin, records_next, records_end, false },
                         piece_kind = { "FixedLengthRecordReader", pieces_begin, pieces_next, stream_end, false },
                         file_kind = { "WholeFileReader", plain_begin, whole_next, NULL, true },
                         name_kind = { "IdentityReader", plain_begin, name_next, NULL, true };

/* ---- making ---- */

static tw_status take_compression(tw__kernel *kernel, reader *r, const char *attr)
{
    tw_string name = TW_ATTR(kernel, attr)->s;
    tw__owned char *text = tw__strndup(name.data ? name.data : "", name.size);
    TW_NEED(text);
    if (tw__compression_find(text, &r->compression))
        return TW_OK;
    return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the attr %s must be '', 'ZLIB' or 'GZIP', got '%s'", attr, text);
}

static tw_status take_pieces(tw__kernel *kernel, reader *r)
{
    r->header = TW_ATTR(kernel, "header_bytes")->i;
    r->size = TW_ATTR(kernel, "record_bytes")->i;
    r->footer = TW_ATTR(kernel, "footer_bytes")->i;
    r->hop = TW_ATTR(kernel, "hop_bytes")->i;
    const int64_t most = INT64_C(1) << 40, given[] = { r->header, r->footer, r->hop, r->size - 1 };
    static const char *const words[] = { "header_bytes must be >= 0", "footer_bytes must be >= 0", "hop_bytes must be >= 0",
                                         "record_bytes must be > 0" };
    for (int i = 0; i < 4; i++) {
        if (given[i] < 0 || given[i] > most)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%s, got %lld", words[i], (long long)given[i] + (i == 3));
    }
    r->hop = r->hop ? r->hop : r->size;
    return take_compression(kernel, r, "encoding");
}

static reader *make(tw__kernel *kernel)
{
    reader *r = tw__object_new(&reader_class);
    if (!r)
        return NULL;
    const tw_op *op = tw__op_find(kernel->op->name); /* a guarded op is a copy */
    r->kind = op == &tw__op_TextLineReaderV2            ? &line_kind
              : op == &tw__op_TFRecordReaderV2          ? &record_kind
              : op == &tw__op_FixedLengthRecordReaderV2 ? &piece_kind
              : op == &tw__op_WholeFileReaderV2         ? &file_kind
                                                        : &name_kind;
    pthread_mutex_init(&r->lock, NULL);
    r->ready = true;
    tw_status status = TW_OK;
    if (r->kind == &line_kind)
        r->skipped = TW_ATTR(kernel, "skip_header_lines")->i;
    if (r->skipped < 0)
        status = TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "skip_header_lines must be >= 0 not %lld", (long long)r->skipped);
    if (r->kind == &record_kind)
        status = take_compression(kernel, r, "compression_type");
    if (r->kind == &piece_kind)
        status = take_pieces(kernel, r);
    if (status == TW_OK)
        return r;
    tw_release(r);
    return NULL;
}

static void reader_release(void *state)
{
    tw_release(state);
}

static tw_status make_compute(tw__kernel *kernel)
{
    tw_auto reader *r = kernel->state && *kernel->state ? tw_retain(*kernel->state) : make(kernel);
    TW_NEED(r);
    if (kernel->state && !*kernel->state)
        *kernel->state = tw_retain(r);
    tw_tensor *handle = tw__tensor_of_object(TW_RESOURCE, r);
    return handle ? tw__output_take(kernel, 0, handle) : tw__error_status();
}

#define READER(attrs_, ...)                                                                                          \
    .outputs = "reader_handle: resource", .attrs = attrs_ "container: string = '', shared_name: string = ''",        \
    .shape = tw_shape_scalar, .compute = make_compute, .stateful = true, .makes_outputs = true, .no_gradient = true, \
    .free_state = reader_release, __VA_ARGS__
TW_OP(TextLineReaderV2, READER("skip_header_lines: int = 0, ", .touches = TW_READS_FILES, .doc = "Reads the lines of files."));
TW_OP(WholeFileReaderV2, READER("", .touches = TW_READS_FILES, .doc = "Reads files as they are."));
TW_OP(IdentityReaderV2, READER("", .doc = "Gives the names themselves."));
TW_OP(TFRecordReaderV2, .outputs = "reader_handle: resource",
      .attrs = "container: string = '', shared_name: string = '', compression_type: string = ''", .shape = tw_shape_scalar,
      .compute = make_compute, .stateful = true, .makes_outputs = true, .no_gradient = true, .free_state = reader_release,
      .touches = TW_READS_FILES, .doc = "Reads the records of TFRecord files.");
TW_OP(FixedLengthRecordReaderV2, .outputs = "reader_handle: resource",
      .attrs = "header_bytes: int = 0, record_bytes: int, footer_bytes: int = 0, hop_bytes: int = 0, container: string = '', "
               "shared_name: string = '', encoding: string = ''",
      .shape = tw_shape_scalar, .compute = make_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
      .free_state = reader_release, .touches = TW_READS_FILES, .doc = "Reads pieces of a fixed length.");

/* ---- reading ---- */

static reader *reader_of(const tw__kernel *kernel)
{
    tw_object *object = tw__tensor_object(kernel->inputs[0]);
    if (tw__is(object, &reader_class))
        return (reader *)object;
    TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the argument reader_handle is no reader");
    return NULL;
}

/* The next file of the queue is opened; the reader's lock is held, as in TensorFlow. */
static tw_status begin_work(const tw__kernel *kernel, reader *r, tw__queue *queue)
{
    tw_tensor **element = NULL;
    int64_t taken;
    TW_TRY(tw__queue_take(queue, 1, false, &element, &taken));
    bool one = element[0]->count == 1;
    tw_string name = one ? tw_tensor_string_at(element[0], 0) : (tw_string){ 0 };
    char *work = tw__strndup(name.data ? name.data : "", name.size);
    tw__queue_element_free(element, queue->width);
    TW_NEED(work);
    tw__free(r->work);
    r->work = work;
    if (!one)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Expected to dequeue a one-element string tensor");
    r->started++;
    tw_status status = r->kind->begin(r);
    r->open = status == TW_OK;
    r->finished += status != TW_OK;
    return status;
}

/* Up to `most` records: their keys and values in `rows`, two texts each. Ends with a file of which there were some. */
static tw_status read_rows(const tw__kernel *kernel, reader *r, tw__queue *queue, int64_t most, tw__text (**rows)[2],
                           size_t *count)
{
    size_t capacity = 0;
    while ((int64_t)*count < most) {
        if (!r->open)
            TW_TRY(begin_work(kernel, r, queue));
        TW_TRY(TW_GROW(*rows, capacity, *count + 1));
        tw__text *row = (*rows)[*count];
        row[0] = row[1] = (tw__text){ 0 };
        bool ended = false;
        tw_status status = r->kind->next(r, &row[0], &ended);
        if (status == TW_OK && !ended)
            tw__text_bytes(&row[1], r->record.data, r->kind == &piece_kind ? (size_t)r->size : r->record.size);
        (*count)++;
        if (status == TW_OK && !ended && (row[0].failed || row[1].failed))
            status = tw__error_status();
        if (status == TW_OK && !ended) {
            r->produced++;
            ended = r->kind->whole;
        } else {
            tw__text_free(&row[0]);
            (*count)--;
        }
        if (ended || status != TW_OK) {
            reader_stop(r);
            r->finished = r->started;
        }
        TW_TRY(status);
        if (ended && *count)
            break;
    }
    return TW_OK;
}

static tw_status read_compute(tw__kernel *kernel)
{
    reader *r = reader_of(kernel);
    tw__queue *queue = r ? tw__queue_of(kernel, 1) : NULL;
    if (!queue)
        return tw__error_status();
    bool several = kernel->input_count == 3;
    if (queue->width != 1 || queue->dtypes[0] != TW_STRING)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          queue->width != 1 ? "Expected single component queue" : "Expected queue with single string component");
    int64_t most = several ? tw_tensor_int_at(kernel->inputs[2], 0) : 1;
    if (most < 1)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "num_records must be positive, got %lld", (long long)most);
    tw__text(*rows)[2] = NULL;
    size_t count = 0;
    tw__mutex_take(&r->lock);
    tw_status status = read_rows(kernel, r, queue, most, &rows, &count);
    pthread_mutex_unlock(&r->lock);
    tw_shape shape = several ? TW_SHAPE((int64_t)count) : TW_SCALAR;
    for (int part = 0; part < 2 && status == TW_OK; part++) {
        tw_tensor *out = tw__output(kernel, part, &shape);
        status = out ? TW_OK : tw__error_status();
        for (size_t i = 0; i < count && status == TW_OK; i++)
            status = tw__string_set(out, (int64_t)i, rows[i][part].data ? rows[i][part].data : "", rows[i][part].size);
    }
    for (size_t i = 0; i < count; i++) {
        tw__text_free(&rows[i][0]);
        tw__text_free(&rows[i][1]);
    }
    tw__free(rows);
    return status;
}

static tw_status rows_shape(tw__inference *inference)
{
    inference->out_shapes[0] = inference->out_shapes[1] = TW_SHAPE(-1);
    return tw__need_rank(inference, 2, 0);
}

#define HANDLE "reader_handle: resource"
#define USES .stateful = true, .no_gradient = true
TW_OP(ReaderReadV2, .inputs = HANDLE ", queue_handle: resource", .outputs = "key: string, value: string",
      .shape = tw_shape_scalar, .compute = read_compute, USES,
      .doc = "The next record, and where it stood; of the next file in the queue if one is over.");
TW_OP(ReaderReadUpToV2, .inputs = HANDLE ", queue_handle: resource, num_records: int64",
      .outputs = "keys: string, values: string", .shape = rows_shape, .compute = read_compute, USES, .makes_outputs = true,
      .doc = "The next records: as many, or fewer at the end of a file.");

/* ---- the rest ---- */

static tw_status count_compute(tw__kernel *kernel)
{
    reader *r = reader_of(kernel);
    if (!r)
        return tw__error_status();
    tw__mutex_take(&r->lock);
    *(int64_t *)kernel->outputs[0]->data = kernel->op == &tw__op_ReaderNumRecordsProducedV2 ? r->produced : r->finished;
    pthread_mutex_unlock(&r->lock);
    return TW_OK;
}

static void set_state(reader *r, int64_t started, int64_t finished, int64_t produced)
{
    tw__mutex_take(&r->lock);
    reader_stop(r);
    r->started = started;
    r->finished = finished;
    r->produced = produced;
    pthread_mutex_unlock(&r->lock);
}

static tw_status reset_compute(tw__kernel *kernel)
{
    reader *r = reader_of(kernel);
    if (!r)
        return tw__error_status();
    set_state(r, 0, 0, 0);
    return TW_OK;
}

static tw_status serialize_compute(tw__kernel *kernel)
{
    reader *r = reader_of(kernel);
    if (!r)
        return tw__error_status();
    if (!r->kind->whole)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "Reader SerializeState");
    tw__auto(tw__text_free) tw__text state = { 0 };
    tw__mutex_take(&r->lock);
    if (r->started)
        tw__put_ReaderBaseState_work_started(&state, r->started);
    if (r->finished)
        tw__put_ReaderBaseState_work_finished(&state, r->finished);
    if (r->produced)
        tw__put_ReaderBaseState_num_records_produced(&state, r->produced);
    if (r->work && *r->work)
        tw__put_ReaderBaseState_current_work(&state, r->work, strlen(r->work));
    pthread_mutex_unlock(&r->lock);
    return state.failed ? tw__error_status() : tw__string_set(kernel->outputs[0], 0, state.data ? state.data : "", state.size);
}

static tw_status restore_compute(tw__kernel *kernel)
{
    reader *r = reader_of(kernel);
    if (!r)
        return tw__error_status();
    if (!r->kind->whole)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "Reader RestoreState");
    tw_string state = tw_tensor_string_at(kernel->inputs[1], 0);
    tw__ReaderBaseState view;
    if (!tw__read_ReaderBaseState(state, &view) || view.work_started < 0 || view.work_finished < 0 ||
        view.num_records_produced < 0 || view.work_started < view.work_finished)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Could not parse state for %s: %.*s", r->kind->name, (int)state.size,
                          state.data ? state.data : "");
    set_state(r, view.work_started, view.work_finished, view.num_records_produced);
    return TW_OK;
}

static tw_status restore_shape(tw__inference *inference)
{
    return tw__need_rank(inference, 1, 0);
}

TW_OP(ReaderNumRecordsProducedV2, .inputs = HANDLE, .outputs = "records_produced: int64", .shape = tw_shape_scalar,
      .compute = count_compute, USES, .doc = "How many records the reader gave.");
TW_OP(ReaderNumWorkUnitsCompletedV2, .inputs = HANDLE, .outputs = "units_completed: int64", .shape = tw_shape_scalar,
      .compute = count_compute, USES, .doc = "How many files the reader is through with.");
TW_OP(ReaderResetV2, .inputs = HANDLE, .shape = tw_shape_none, .compute = reset_compute, USES,
      .doc = "The reader begins anew, with the next file.");
TW_OP(ReaderSerializeStateV2, .inputs = HANDLE, .outputs = "state: string", .shape = tw_shape_scalar,
      .compute = serialize_compute, USES, .doc = "Where the reader stands, as bytes.");
TW_OP(ReaderRestoreStateV2, .inputs = HANDLE ", state: string", .shape = restore_shape, .compute = restore_compute, USES,
      .doc = "Goes back to where a reader stood.");
