/* Reading records (record.c has the layout), as they are or compressed.
 *
 * Bytes are read ahead into one block of memory, at most a quarter of a megabyte or one record, which grows only as bytes are
 * really there. A reader tells damage from the end of the file: a piece too short to be a head is the end (somebody is writing),
 * everything else that does not fit is DATA_LOSS. Nothing of a record that could not be read is passed over, so that one who
 * follows a growing file can try again. */
#include <sys/stat.h>

#include "codec/codec.h"
#include "format/record/record.h"

enum { HEAD = 12, TAIL = 4, AHEAD = 1 << 18 };

tw_status tw__record_open_packed(tw__record_reader *reader, const char *path, tw__compression compression)
{
    *reader = (tw__record_reader){ 0 };
    TW_TRY(tw__file_open(&reader->file, path));
    if (compression == TW_COMPRESSION_NONE)
        return TW_OK;
    reader->inflater = tw__inflater_new(compression);
    if (reader->inflater)
        return TW_OK;
    tw__record_close(reader);
    return tw__error_status();
}

tw_status tw__record_open(tw__record_reader *reader, const char *path)
{
    return tw__record_open_packed(reader, path, TW_COMPRESSION_NONE);
}

void tw__record_close(tw__record_reader *reader)
{
    tw__file_close(&reader->file);
    tw__inflater_free(reader->inflater);
    tw__free(reader->memory);
    reader->inflater = NULL;
    reader->memory = NULL;
}

static tw_status fetch(tw__record_reader *reader, void *out, size_t room, size_t *got)
{
    if (reader->place >= reader->file.size) { /* a file that is being written to may have grown */
        struct stat status;
        if (fstat(reader->file.descriptor, &status) == 0 && status.st_size > reader->file.size)
            reader->file.size = status.st_size;
    }
    if (reader->inflater)
        return tw__inflater_read(reader->inflater, &reader->file, &reader->place, out, room, got);
    int64_t left = reader->file.size - reader->place;
    *got = left < (int64_t)room ? (left > 0 ? (size_t)left : 0) : room;
    TW_TRY(tw__file_read_at(&reader->file, reader->place, out, *got));
    reader->place += (int64_t)*got;
    return TW_OK;
}

tw_status tw__record_fill(tw__record_reader *reader, uint64_t need)
{
    while (reader->end - reader->begin < need) {
        size_t have = reader->end - reader->begin, room = have * 2 > AHEAD ? have * 2 : AHEAD, got;
        if (reader->begin && have)
            memmove(reader->memory, reader->memory + reader->begin, have);
        reader->begin = 0;
        reader->end = have;
        if (room > need && need > AHEAD)
            room = (size_t)need;
        if (!reader->inflater &&
            reader->file.size - reader->place < (int64_t)(room - have)) /* a small file needs no large block */
            room = have + (size_t)(reader->file.size > reader->place ? reader->file.size - reader->place : 0) + HEAD;
        if (room > reader->capacity)
            TW_TRY(tw__grow(&reader->memory, &reader->capacity, room, 1));
        TW_TRY(fetch(reader, reader->memory + have, reader->capacity - have, &got));
        if (got == 0)
            break;
        reader->end += got;
    }
    return TW_OK;
}

static tw_status corrupted(const tw__record_reader *reader, int64_t offset)
{
    return tw__fail(TW_DATA_LOSS, "%s: corrupted record at %lld%s", reader->file.path, (long long)offset,
                    offset == 0 ? " (Is this even a TFRecord file?)" : "");
}

static tw_status read_record(tw__record_reader *reader)
{
    const uint8_t *head = reader->memory + reader->begin;
    if (tw__crc32c_unmask(tw__get32(head + 8)) != tw__crc32c(head, 8))
        return corrupted(reader, reader->offset);
    uint64_t size = tw__get64(head);
    if (size <= INT64_MAX - HEAD - TAIL)
        TW_TRY(tw__record_fill(reader, size + HEAD + TAIL));
    if (size > INT64_MAX - HEAD - TAIL || reader->end - reader->begin < size + HEAD + TAIL)
        return tw__fail(TW_DATA_LOSS, "%s: truncated record at %lld' failed with %s", reader->file.path,
                        (long long)reader->offset, reader->inflater ? "EOF reached" : "Read less bytes than requested");
    const uint8_t *data = reader->memory + reader->begin + HEAD;
    if (tw__crc32c_unmask(tw__get32(data + size)) != tw__crc32c(data, (size_t)size))
        return corrupted(reader, reader->offset + HEAD);
    reader->data = data;
    reader->size = (size_t)size;
    reader->offset += HEAD + (int64_t)size + TAIL;
    reader->begin += HEAD + (size_t)size + TAIL;
    return TW_OK;
}

bool tw__record_next(tw__record_reader *reader)
{
    if (reader->status != TW_OK)
        return false;
    reader->status = tw__record_fill(reader, HEAD);
    if (reader->status != TW_OK || reader->end - reader->begin < HEAD)
        return false;
    reader->status = read_record(reader);
    return reader->status == TW_OK;
}

tw_status tw__record_seek(tw__record_reader *reader, int64_t offset)
{
    if (!reader->inflater && offset >= 0 && offset <= reader->file.size) {
        reader->begin = reader->end = 0;
        reader->place = reader->offset = offset;
        return TW_OK;
    }
    while (reader->offset < offset && tw__record_next(reader))
        ;
    if (reader->offset == offset)
        return TW_OK;
    return reader->status != TW_OK ? reader->status
                                   : tw__fail(TW_DATA_LOSS, "%s: there is no record at %lld, where reading is to go on",
                                              reader->file.path, (long long)offset);
}
