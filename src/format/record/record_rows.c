/* Records for users: a writer (tf.io.TFRecordWriter) and reading one by one, for those who iterate over files. */
#include "format/record/record.h"
#include "rows.h"

static tw_status find_compression(const char *name, tw__compression *compression)
{
    if (tw__compression_find(name, compression))
        return TW_OK;
    return tw__fail(TW_VALUE_ERROR, "Not a valid compression_type: \"%s\"", name);
}

/* ---- writing ---- */

struct tw_record_file {
    tw_object object;
    tw__record_writer *records; /* NULL: closed */
};

static void file_destroy(void *self)
{
    struct tw_record_file *file = self;
    if (!file->records)
        return;
    tw__saved_error saved = tw__error_take();
    (void)tw__record_finish(file->records); /* nobody is left who could be told */
    tw_clear_error();
    tw__error_restore(saved);
}

static void choose(int *option, int64_t given)
{
    if (given != TW_NO_INT)
        *option = (int)given;
}

static tw_status file_init(void *self, const void *given)
{
    struct tw_record_file *file = self;
    const tw_record_file_args *args = given;
    tw__compression compression;
    TW_TRY(find_compression(args->compression_type, &compression));
    tw__deflate_options options = tw__deflate_options_default(compression);
    choose(&options.level, args->compression_level);
    choose(&options.window_bits, args->window_bits);
    choose(&options.method, args->compression_method);
    choose(&options.mem_level, args->mem_level);
    choose(&options.strategy, args->compression_strategy);
    choose(&options.flush_mode, args->flush_mode);
    tw__owned char *path = tw__strdup(args->path);
    TW_NEED(path);
    for (size_t size = strlen(path); size > 1 && path[size - 1] == '/'; size--) /* as TensorFlow takes "name.tfrecords/" */
        path[size - 1] = '\0';
    file->records = tw__record_create_packed(path, &options);
    return file->records ? TW_OK : tw__error_status();
}

TW_CLASS(
    record_file,
    "io._TFRecordWriter(path: str, compression_type: str = None, flush_mode: int = None, window_bits: int = None, "
    "compression_level: int = None, compression_method: int = None, mem_level: int = None, compression_strategy: int = None)",
    .size = sizeof(struct tw_record_file), .init = file_init, .destroy = file_destroy, .drop_config = true,
    .doc = "Writes records to a TFRecord file.");

static tw_status need_open(const struct tw_record_file *file)
{
    return file->records ? TW_OK : tw__fail(TW_FAILED_PRECONDITION, "Writer is closed.");
}

TW_METHOD(record_file_write, "io._TFRecordWriter.write(self: record_file, record: value)", "Adds a record: bytes.")
{
    const tw_value *record = &args->record;
    TW_TRY(need_open(args->self));
    tw_string bytes = record->s;
    if (record->kind == TW_VALUE_TENSOR && record->tensor->dtype == TW_STRING && record->tensor->count == 1 &&
        record->tensor->data)
        bytes = tw_tensor_string_at(record->tensor, 0);
    else if (record->kind != TW_VALUE_BYTES && record->kind != TW_VALUE_STR)
        return tw__fail(TW_TYPE_ERROR, "write(): incompatible function arguments: record must be bytes");
    TW_TRY(tw__record_add(args->self->records, bytes.data ? bytes.data : "", bytes.size));
    return tw__record_relieve(args->self->records);
}

TW_METHOD(record_file_flush, "io._TFRecordWriter.flush(self: record_file)", "Hands to the system what was written.")
{
    TW_TRY(need_open(args->self));
    return tw__record_flush(args->self->records);
}

TW_METHOD(record_file_close, "io._TFRecordWriter.close(self: record_file)", "Writes what waits and closes the file.")
{
    tw__record_writer *records = args->self->records;
    args->self->records = NULL;
    return records ? tw__record_finish(records) : TW_OK;
}

/* ---- reading ---- */

struct tw_record_iterator {
    tw_object object;
    tw__record_reader reader;
};

static void iterator_destroy(void *self)
{
    tw__record_close(&((tw_record_iterator *)self)->reader);
}

static tw_status iterator_init(void *self, const void *given)
{
    const tw_record_iterator_args *args = given;
    tw__compression compression;
    TW_TRY(find_compression(args->compression_type, &compression));
    return tw__record_open_packed(&((tw_record_iterator *)self)->reader, args->path, compression);
}

TW_CLASS(record_iterator, "compat.v1.io._RecordIterator(path: str, compression_type: str = None)",
         .size = sizeof(tw_record_iterator), .init = iterator_init, .destroy = iterator_destroy, .drop_config = true,
         .doc = "The records of a TFRecord file, in order.");

TW_METHOD(record_iterator_read, "compat.v1.io._RecordIterator._read(self: record_iterator, may_grow: bool = False) -> value",
          "The next record; None at the end, also amid a header if the file may grow.")
{
    tw__record_reader *reader = &args->self->reader;
    if (!tw__record_next(reader)) {
        if (reader->status == TW_OK && !args->may_grow)
            (void)tw__record_check_end(reader);
        reader->status = TW_OK; /* damage is an error each time it is met */
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    char *copy = tw__strndup((const char *)reader->data, reader->size);
    return copy ? (tw_value){ .kind = TW_VALUE_BYTES, .s = { copy, reader->size } } : (tw_value){ .kind = TW_VALUE_NONE };
}
