/* Records behind damage. A head is eight bytes of length and their checksum, so that a place where a record begins is told from
 * any other but once in four thousand million; of a record with a good head and a bad content the end is known. */
#include <stdlib.h>

#include <thalweg/records.h>

#include "codec/codec.h"
#include "format/record/record.h"

enum { HEAD = 12, TAIL = 4 };

static bool good_head(const tw__record_reader *reader, uint64_t *size)
{
    const uint8_t *head = reader->memory + reader->begin;
    if (reader->end - reader->begin < HEAD || tw__crc32c_unmask(tw__get32(head + 8)) != tw__crc32c(head, 8))
        return false;
    *size = tw__get64(head);
    return *size <= INT64_MAX - HEAD - TAIL;
}

bool tw__record_cut_off(const tw__record_reader *reader)
{
    uint64_t size = 0;
    return good_head(reader, &size) && reader->end - reader->begin < size + HEAD + TAIL;
}

tw_status tw__record_check_end(const tw__record_reader *reader)
{
    const char *setting = getenv("THALWEG_TORN_RECORDS");
    if (reader->end == reader->begin || (setting && strcmp(setting, "ignore") == 0))
        return TW_OK;
    return tw__fail(
        TW_DATA_LOSS,
        "%s: truncated record at %lld' failed with %zu bytes that are no whole header (THALWEG_TORN_RECORDS=ignore takes them for "
        "the end of the file)",
        reader->file.path, (long long)reader->offset, reader->end - reader->begin);
}

static void pass_over(tw__record_reader *reader, size_t count)
{
    reader->begin += count;
    reader->offset += (int64_t)count;
}

tw_status tw__record_resync(tw__record_reader *reader, int64_t *skipped)
{
    int64_t start = reader->offset;
    uint64_t size = 0;
    reader->status = TW_OK;
    TW_TRY(tw__record_fill(reader, HEAD));
    bool whole = good_head(reader, &size) && !tw__record_cut_off(reader);
    if (reader->end > reader->begin)
        pass_over(reader, whole ? (size_t)size + HEAD + TAIL : 1);
    for (;;) {
        TW_TRY(tw__record_fill(reader, HEAD));
        if (reader->end - reader->begin < HEAD || good_head(reader, &size))
            break;
        pass_over(reader, 1);
    }
    *skipped = reader->offset - start;
    return TW_OK;
}

/* ---- for programs ---- */

struct tw_records {
    tw_object object;
    tw__record_reader reader;
};

static void records_destroy(void *self)
{
    tw__record_close(&((tw_records *)self)->reader);
}

static const tw_class records_class = { .name = "Records", .size = sizeof(tw_records), .destroy = records_destroy };

tw_records *tw_records_open(const char *path, int64_t offset)
{
    if (!path || offset < 0) {
        tw__fail(TW_INVALID_ARGUMENT, "tw_records_open: %s", path ? "the offset is negative" : "the path is NULL");
        return NULL;
    }
    tw_records *records = tw__object_new(&records_class);
    if (!records)
        return NULL;
    if (tw__record_open(&records->reader, path) == TW_OK && tw__record_seek(&records->reader, offset) == TW_OK)
        return records;
    tw_records_close(records);
    return NULL;
}

void tw_records_close(tw_records *records)
{
    if (records && tw__check(records, &records_class, "tw_records_close"))
        tw_release(records);
}

static bool is_given(const tw_records *records, const char *function)
{
    return tw__check(records, &records_class, function);
}

bool tw_records_next(tw_records *records, const void **data, size_t *size)
{
    if (!is_given(records, "tw_records_next"))
        return false;
    if (!data || !size) {
        tw__fail(TW_INVALID_ARGUMENT, "tw_records_next: data or size is NULL");
        return false;
    }
    records->reader.status = TW_OK; /* damage is an error each time it is met */
    if (!tw__record_next(&records->reader))
        return false;
    *data = records->reader.data;
    *size = records->reader.size;
    return true;
}

int64_t tw_records_offset(const tw_records *records)
{
    return is_given(records, "tw_records_offset") ? records->reader.offset : -1;
}

bool tw_records_cut_off(const tw_records *records)
{
    return is_given(records, "tw_records_cut_off") && tw__record_cut_off(&records->reader);
}

int64_t tw_records_skip_damage(tw_records *records)
{
    int64_t skipped = 0;
    return is_given(records, "tw_records_skip_damage") && tw__record_resync(&records->reader, &skipped) == TW_OK ? skipped : -1;
}
