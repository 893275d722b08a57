/* Records one behind the other, each with checksums: TensorFlow's TFRecord, in which event files are written too.
 *
 *     length (8 bytes), masked crc32c of those 8 bytes (4), the record, masked crc32c of the record (4); little endian
 *
 * A writer appends to a file that readers may look at meanwhile. It is written to at every flush and not before; what a failed
 * write left behind is cut off, so that the file always ends at the end of a record. All records together may be compressed as
 * one stream (record_zlib.c). The reader is in record_reader.c. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include "codec/codec.h"
#include "format/record/record.h"

enum { HEAD = 12, TAIL = 4, MUCH = 1 << 18 };

struct tw__record_writer {
    char *path;
    int descriptor;
    int64_t end; /* of what is in the file */
    tw__text waiting;
    tw__deflater *deflater; /* NULL: the file is not compressed */
    int flush_mode;
    tw__text packed; /* what became of records, not in the file yet */
};

tw__record_writer *tw__record_create(const char *path, bool exclusive)
{
    tw__record_writer *writer = tw__alloc_zero(sizeof *writer);
    if (!writer)
        return NULL;
    writer->path = tw__strdup(path);
    writer->descriptor = -1;
    while (writer->path) {
        writer->descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (exclusive ? O_EXCL : O_TRUNC), 0666);
        if (writer->descriptor >= 0)
            return writer;
        if (errno == EINTR)
            continue;
        tw__fail_errno(errno, NULL, path);
        break;
    }
    tw__record_abandon(writer);
    return NULL;
}

tw__record_writer *tw__record_create_packed(const char *path, const tw__deflate_options *options)
{
    tw__record_writer *writer = tw__record_create(path, false);
    if (!writer || options->compression == TW_COMPRESSION_NONE)
        return writer;
    writer->flush_mode = options->flush_mode;
    writer->deflater = tw__deflater_new(options, writer->path);
    if (writer->deflater)
        return writer;
    tw__record_abandon(writer);
    return NULL;
}

void tw__record_abandon(tw__record_writer *writer)
{
    if (!writer)
        return;
    if (writer->descriptor >= 0)
        close(writer->descriptor);
    tw__deflater_free(writer->deflater);
    tw__text_free(&writer->packed);
    tw__text_free(&writer->waiting);
    tw__free(writer->path);
    tw__free(writer);
}

tw_status tw__record_add(tw__record_writer *writer, const void *data, size_t size)
{
    uint8_t head[HEAD], tail[TAIL];
    size_t before = writer->waiting.size;
    tw__put64(head, size);
    tw__put32(head + 8, tw__crc32c_mask(tw__crc32c(head, 8)));
    tw__put32(tail, tw__crc32c_mask(tw__crc32c(data, size)));
    tw__text_bytes(&writer->waiting, head, HEAD);
    tw__text_bytes(&writer->waiting, data, size);
    tw__text_bytes(&writer->waiting, tail, TAIL);
    if (!writer->waiting.failed)
        return TW_OK;
    writer->waiting.failed = false; /* the records before it stay good */
    writer->waiting.size = before;
    return TW_RESOURCE_EXHAUSTED;
}

/* Puts the text into the file, and clears it. */
static tw_status write_out(tw__record_writer *writer, tw__text *text)
{
    const char *at = text->data;
    size_t left = text->size;
    while (left > 0) {
        int64_t done = pwrite(writer->descriptor, at, left < (1u << 30) ? left : (1u << 30), writer->end + (at - text->data));
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            int number = done < 0 ? errno : ENOSPC;
            /* The records wait for the next flush; half of one may not stay. */
            int cut = ftruncate(writer->descriptor, writer->end);
            return tw__fail_errno(number, cut == 0 ? "could not write" : "could not write, and the file ends amid a record:",
                                  writer->path);
        }
        at += done;
        left -= (size_t)done;
    }
    writer->end += (int64_t)text->size;
    tw__text_clear(text);
    return TW_OK;
}

static tw_status pack(tw__record_writer *writer, int flush)
{
    tw_status status = tw__deflater_add(writer->deflater, writer->waiting.data, writer->waiting.size, flush, &writer->packed);
    tw__text_clear(&writer->waiting);
    return status;
}

tw_status tw__record_flush(tw__record_writer *writer)
{
    if (!writer->deflater)
        return write_out(writer, &writer->waiting);
    TW_TRY(pack(writer, Z_PARTIAL_FLUSH));
    return write_out(writer, &writer->packed);
}

tw_status tw__record_relieve(tw__record_writer *writer)
{
    if (writer->waiting.size < MUCH)
        return TW_OK;
    if (!writer->deflater)
        return write_out(writer, &writer->waiting);
    TW_TRY(pack(writer, writer->flush_mode));
    return writer->packed.size < MUCH ? TW_OK : write_out(writer, &writer->packed);
}

size_t tw__record_waiting(const tw__record_writer *writer)
{
    return writer->waiting.size;
}

const char *tw__record_path(const tw__record_writer *writer)
{
    return writer->path;
}

tw_status tw__record_finish(tw__record_writer *writer)
{
    tw_status status = writer->deflater ? pack(writer, Z_FINISH) : TW_OK;
    if (status == TW_OK)
        status = write_out(writer, writer->deflater ? &writer->packed : &writer->waiting);
    if (close(writer->descriptor) != 0 && status == TW_OK && errno != EINTR)
        status = tw__fail_errno(errno, "could not write", writer->path);
    writer->descriptor = -1;
    tw__record_abandon(writer);
    return status;
}
