/* Records one behind the other, each with checksums: TensorFlow's TFRecord, in which event files are written too.
 *
 *     length (8 bytes), masked crc32c of those 8 bytes (4), the record, masked crc32c of the record (4); little endian
 *
 * A writer appends to a file that readers may look at meanwhile. It is written to at every flush and not before; what a failed write left
 * behind is cut off, so that the file always ends at the end of a record. A reader tells damage from the end of the file: a piece too short to
 * be a head is the end (somebody is writing), everything else that does not fit is DATA_LOSS. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/codec.h"
#include "format/format.h"

enum { HEAD = 12, TAIL = 4 };

struct tw__record_writer {
    char *path;
    int descriptor;
    int64_t end; /* of what is in the file */
    tw__text waiting;
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
        tw__fail_errno(errno, "could not create", path);
        break;
    }
    tw__record_abandon(writer);
    return NULL;
}

void tw__record_abandon(tw__record_writer *writer)
{
    if (!writer)
        return;
    if (writer->descriptor >= 0)
        close(writer->descriptor);
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

tw_status tw__record_flush(tw__record_writer *writer)
{
    const char *at = writer->waiting.data;
    size_t left = writer->waiting.size;
    while (left > 0) {
        int64_t done = pwrite(writer->descriptor, at, left < (1u << 30) ? left : (1u << 30), writer->end + (at - writer->waiting.data));
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            int number = done < 0 ? errno : ENOSPC;
            /* The records wait for the next flush; half of one may not stay. */
            int cut = ftruncate(writer->descriptor, writer->end);
            return tw__fail_errno(number, cut == 0 ? "could not write" : "could not write, and the file ends amid a record:", writer->path);
        }
        at += done;
        left -= (size_t)done;
    }
    writer->end += (int64_t)writer->waiting.size;
    tw__text_clear(&writer->waiting);
    return TW_OK;
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
    tw_status status = tw__record_flush(writer);
    if (close(writer->descriptor) != 0 && status == TW_OK && errno != EINTR)
        status = tw__fail_errno(errno, "could not write", writer->path);
    writer->descriptor = -1;
    tw__record_abandon(writer);
    return status;
}

/* ---- reading ---- */

tw_status tw__record_open(tw__record_reader *reader, const char *path)
{
    *reader = (tw__record_reader){ 0 };
    return tw__file_open(&reader->file, path);
}

void tw__record_close(tw__record_reader *reader)
{
    tw__file_close(&reader->file);
    tw__free(reader->memory);
    reader->memory = NULL;
}

static tw_status corrupted(const tw__record_reader *reader, int64_t offset)
{
    return tw__fail(TW_DATA_LOSS, "%s: corrupted record at %lld%s", reader->file.path, (long long)offset,
                    offset == 0 ? " (Is this even a TFRecord file?)" : "");
}

static tw_status next(tw__record_reader *reader)
{
    uint8_t head[HEAD];
    TW_TRY(tw__file_read_at(&reader->file, reader->offset, head, HEAD));
    if (tw__crc32c_unmask(tw__get32(head + 8)) != tw__crc32c(head, 8))
        return corrupted(reader, reader->offset);
    uint64_t size = tw__get64(head), left = (uint64_t)(reader->file.size - reader->offset) - HEAD;
    if (left < TAIL || size > left - TAIL)
        return tw__fail(TW_DATA_LOSS, "%s: truncated record at %lld: %llu bytes are announced, %llu are there", reader->file.path,
                        (long long)reader->offset, (unsigned long long)size, (unsigned long long)left);
    size_t need = (size_t)size + TAIL;
    TW_TRY(tw__grow(&reader->memory, &reader->capacity, need, 1));
    TW_TRY(tw__file_read_at(&reader->file, reader->offset + HEAD, reader->memory, need));
    if (tw__crc32c_unmask(tw__get32(reader->memory + size)) != tw__crc32c(reader->memory, (size_t)size))
        return corrupted(reader, reader->offset + HEAD);
    reader->data = reader->memory;
    reader->size = (size_t)size;
    reader->offset += HEAD + (int64_t)need;
    return TW_OK;
}

bool tw__record_next(tw__record_reader *reader)
{
    if (reader->status != TW_OK)
        return false;
    if (reader->file.size - reader->offset < HEAD) { /* a file that is being written to may have grown */
        struct stat status;
        if (fstat(reader->file.descriptor, &status) == 0 && status.st_size > reader->file.size)
            reader->file.size = status.st_size;
    }
    if (reader->file.size - reader->offset < HEAD)
        return false;
    reader->status = next(reader);
    return reader->status == TW_OK;
}
