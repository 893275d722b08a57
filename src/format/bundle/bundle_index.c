/* Opening a tensor bundle: its index, and the files of its shards. bundle_writer.c draws the format.
 *
 * Opening reads the whole index and opens the shards, then looks whether the index is still the same file: so it gets the two
 * halves of one bundle even while another process puts a new one in its place. */
#include <sys/stat.h>

#include "codec/codec.h"
#include "format/bundle/bundle.h"
#include "format/table/table.h"

#define HELD_SHARDS 64       /* files kept open; a bundle of more opens the others for each read */
#define REFERENCE_DTYPES 100 /* what is added to the number of a reference's dtype */

static tw_status malformed(const tw__bundle_reader *reader, const char *key)
{
    return tw__fail(TW_DATA_LOSS, "Unable to read file (%s.index): the entry of \"%s\" is malformed", reader->prefix, key);
}

static tw_status read_header(tw__bundle_reader *reader, const uint8_t *data, size_t size)
{
    tw__proto proto = tw__proto_read(data, size);
    tw__proto_field field;
    int64_t shards = 0, min_consumer = 0;
    while (tw__proto_next(&proto, &field)) {
        if (field.number == 1 && field.wire == TW_WIRE_VARINT) {
            shards = (int64_t)field.value;
        } else if (field.number == 2 && field.wire == TW_WIRE_VARINT) {
            if (field.value > 1)
                proto.failed = true;
            reader->big_endian = field.value == 1;
        } else if (field.number == 3 && field.wire == TW_WIRE_BYTES) {
            tw__proto version = tw__proto_nested(&field);
            while (tw__proto_next(&version, &field)) {
                if (field.number == 2 && field.wire == TW_WIRE_VARINT)
                    min_consumer = (int32_t)field.value;
            }
            proto.failed |= version.failed;
        }
    }
    if (proto.failed || shards < 0 || shards > INT32_MAX)
        return tw__fail(TW_DATA_LOSS, "Unable to read file (%s.index): the header is malformed", reader->prefix);
    if (min_consumer > 1)
        return tw__fail(TW_UNIMPLEMENTED, "%s.index: the file needs a reader of version %lld, this is version 1", reader->prefix,
                        (long long)min_consumer);
    reader->shard_count = (int32_t)shards;
    return TW_OK;
}

static bool read_dim(tw__proto_field *field, int64_t *size)
{
    tw__proto dim = tw__proto_nested(field);
    *size = 0;
    while (tw__proto_next(&dim, field)) {
        if (field->number == 1 && field->wire == TW_WIRE_VARINT)
            *size = (int64_t)field->value;
    }
    return !dim.failed && *size >= 0;
}

static bool read_shape(const tw__proto_field *shape_field, tw_shape *shape)
{
    tw__proto proto = tw__proto_nested(shape_field);
    tw__proto_field field;
    while (tw__proto_next(&proto, &field)) {
        int64_t size;
        if (field.number == 3 && field.wire == TW_WIRE_VARINT && field.value)
            return false; /* an unknown rank */
        if (field.number != 2 || field.wire != TW_WIRE_BYTES)
            continue;
        if (!read_dim(&field, &size))
            return false;
        if (shape->rank == TW_MAX_RANK)
            shape->rank = -1;
        if (shape->rank >= 0)
            shape->dims[shape->rank++] = size;
    }
    return !proto.failed;
}

static tw_status read_entry(tw__bundle_reader *reader, tw__bundle_entry *entry, const uint8_t *data, size_t size)
{
    tw__proto proto = tw__proto_read(data, size);
    tw__proto_field field;
    tw__text slices = { 0 };
    int64_t shard_number = 0;
    bool good = true;
    while (good && tw__proto_next(&proto, &field)) {
        if (field.number == 1 && field.wire == TW_WIRE_VARINT)
            entry->dtype = (tw_dtype)(field.value < 2 * REFERENCE_DTYPES ? field.value % REFERENCE_DTYPES : 0);
        else if (field.number == 2 && field.wire == TW_WIRE_BYTES)
            good = read_shape(&field, &entry->shape);
        else if (field.number == 3 && field.wire == TW_WIRE_VARINT)
            shard_number = (int64_t)field.value;
        else if (field.number == 4 && field.wire == TW_WIRE_VARINT)
            entry->offset = (int64_t)field.value;
        else if (field.number == 5 && field.wire == TW_WIRE_VARINT)
            entry->size = (int64_t)field.value;
        else if (field.number == 6 && field.wire == TW_WIRE_FIXED32)
            entry->crc = (uint32_t)field.value;
        else if (field.number == 7 && field.wire == TW_WIRE_BYTES)
            tw__proto_add_bytes(&slices, 7, field.data, field.size);
    }
    bool any = slices.size > 0;
    if (any) {
        entry->slices_size = slices.size;
        entry->slices = (uint8_t *)tw__text_take(&slices);
    } else {
        tw__text_free(&slices);
    }
    if (any && !entry->slices)
        return TW_RESOURCE_EXHAUSTED;
    if (!good || proto.failed || entry->offset < 0 || entry->size < 0 || shard_number < 0 || shard_number >= reader->shard_count)
        return malformed(reader, entry->key);
    entry->shard = (int32_t)shard_number;
    return TW_OK;
}

static tw_status add_entry(tw__bundle_reader *reader, const tw__table_cursor *cursor)
{
    TW_TRY(TW_GROW(reader->entries, reader->capacity, reader->count + 1));
    tw__bundle_entry *entry = &reader->entries[reader->count];
    *entry = (tw__bundle_entry){ .key_size = cursor->key.size };
    if (!(entry->key = tw__strndup(cursor->key.data, cursor->key.size)))
        return TW_RESOURCE_EXHAUSTED;
    reader->count++;
    if (entry->key[0] == 0)
        reader->first = reader->count;
    return read_entry(reader, entry, cursor->value, cursor->value_size);
}

static tw_status read_table(tw__bundle_reader *reader, const tw__table *table)
{
    tw__table_cursor cursor;
    tw_status status = TW_OK;
    tw__table_begin(&cursor, table);
    if (!tw__table_next(&cursor)) {
        status = cursor.status;
        if (status == TW_OK)
            status = tw__fail(TW_DATA_LOSS, "%s: the table is empty", table->path);
    } else if (cursor.key.size != 0) {
        status = tw__fail(TW_DATA_LOSS, "%s: there is no header entry", table->path);
    }
    if (status != TW_OK)
        tw__error_prefix(
            "Unable to read file (%s.index). Perhaps the file is corrupt or was produced by a newer version of TensorFlow "
            "with format changes (failed to seek to header entry): ",
            reader->prefix);
    else
        status = read_header(reader, cursor.value, cursor.value_size);
    while (status == TW_OK && tw__table_next(&cursor))
        status = add_entry(reader, &cursor);
    if (status == TW_OK)
        status = cursor.status;
    tw__table_end(&cursor);
    return status;
}

/* ---- opening ---- */

static void forget(tw__bundle_reader *reader)
{
    for (size_t i = 0; i < reader->count; i++) {
        tw__free(reader->entries[i].key);
        tw__free(reader->entries[i].slices);
    }
    for (size_t i = 0; i < reader->held; i++)
        tw__file_close(&reader->shards[i].file);
    reader->count = reader->first = reader->held = 0;
}

void tw__bundle_close(tw__bundle_reader *reader)
{
    if (!reader)
        return;
    forget(reader);
    tw__free(reader->entries);
    tw__free(reader->shards);
    tw__free(reader->prefix);
    tw__free(reader);
}

static const tw__file_reader *held_shard(const tw__bundle_reader *reader, int32_t number)
{
    for (size_t i = 0; i < reader->held; i++) {
        if (reader->shards[i].number == number)
            return &reader->shards[i].file;
    }
    return NULL;
}

static tw_status open_shard(const tw__bundle_reader *reader, int32_t number, tw__file_reader *file)
{
    *file = (tw__file_reader){ .descriptor = -1 };
    char *path = tw__bundle_shard_path(reader->prefix, number, reader->shard_count);
    tw_status status = path ? tw__file_open(file, path) : TW_RESOURCE_EXHAUSTED;
    tw__free(path);
    return status;
}

/* Opens the shards that entries name. One that can't be opened now is tried again, and its error told, when it is needed. */
static tw_status hold_shards(tw__bundle_reader *reader)
{
    for (size_t i = 0; i < reader->count && reader->held < HELD_SHARDS; i++) {
        int32_t number = reader->entries[i].shard;
        if (held_shard(reader, number))
            continue;
        TW_TRY(TW_GROW(reader->shards, reader->held_capacity, reader->held + 1));
        tw__bundle_shard *place = &reader->shards[reader->held++];
        place->number = number;
        tw__saved_error before = tw__error_take();
        if (open_shard(reader, number, &place->file) != TW_OK)
            tw_clear_error();
        tw__error_restore(before);
    }
    return TW_OK;
}

static tw_status load(tw__bundle_reader *reader, const char *path)
{
    struct stat before, after;
    for (int attempt = 0;; attempt++) {
        tw__table table;
        if (stat(path, &before) != 0)
            return tw__fail(TW_NOT_FOUND, "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for %s",
                            reader->prefix);
        TW_TRY(tw__table_open(&table, path));
        tw_status status = read_table(reader, &table);
        tw__table_close(&table);
        TW_TRY(status);
        TW_TRY(hold_shards(reader));
        bool same = stat(path, &after) == 0 && before.st_ino == after.st_ino && before.st_dev == after.st_dev &&
                    before.st_size == after.st_size && before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
                    before.st_mtim.tv_nsec == after.st_mtim.tv_nsec;
        if (same || attempt == 20)
            return TW_OK;
        forget(reader);
    }
}

tw__bundle_reader *tw__bundle_open(const char *prefix)
{
    tw__bundle_reader *reader = tw__alloc_zero(sizeof *reader);
    if (!reader)
        return NULL;
    reader->prefix = tw__strdup(prefix);
    char *path = reader->prefix ? tw__format("%s.index", prefix) : NULL;
    if (!path || load(reader, path) != TW_OK) {
        tw__bundle_close(reader);
        reader = NULL;
    }
    tw__free(path);
    return reader;
}

int tw__bundle_shards(const char *prefix)
{
    tw__saved_error before = tw__error_take();
    tw__bundle_reader reader = { .prefix = (char *)prefix };
    tw__table table;
    int shards = -1;
    char *path = tw__format("%s.index", prefix);
    if (path && tw__table_open(&table, path) == TW_OK) {
        tw__table_cursor cursor;
        tw__table_begin(&cursor, &table);
        if (tw__table_next(&cursor) && cursor.key.size == 0 && read_header(&reader, cursor.value, cursor.value_size) == TW_OK)
            shards = reader.shard_count;
        tw__table_end(&cursor);
        tw__table_close(&table);
    } else if (path && tw_error_code() == TW_NOT_FOUND) {
        shards = 0;
    }
    tw__free(path);
    tw_clear_error();
    tw__error_restore(before);
    return shards;
}

int64_t tw__bundle_count(const tw__bundle_reader *reader)
{
    return (int64_t)(reader->count - reader->first);
}

const tw__bundle_entry *tw__bundle_entry_at(const tw__bundle_reader *reader, int64_t index)
{
    return index >= 0 && index < tw__bundle_count(reader) ? &reader->entries[reader->first + (size_t)index] : NULL;
}

const tw__bundle_entry *tw__bundle_find_bytes(const tw__bundle_reader *reader, const void *key, size_t key_size)
{
    size_t low = 0, high = reader->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const tw__bundle_entry *entry = &reader->entries[middle];
        int order = tw__table_compare(entry->key, entry->key_size, key, key_size);
        if (order == 0)
            return entry;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const tw__bundle_entry *tw__bundle_find(const tw__bundle_reader *reader, const char *key)
{
    return tw__bundle_find_bytes(reader, key, strlen(key));
}

tw_status tw__bundle_find_shard(tw__bundle_reader *reader, const tw__bundle_entry *entry, tw__file_reader *own,
                                const tw__file_reader **file)
{
    *own = (tw__file_reader){ .descriptor = -1 };
    *file = held_shard(reader, entry->shard);
    if (!*file || !(*file)->path) {
        TW_TRY(open_shard(reader, entry->shard, own));
        *file = own;
    }
    if (entry->offset > (*file)->size || entry->size > (*file)->size - entry->offset) {
        tw__fail(TW_DATA_LOSS,
                 "TensorBundle at %s shard %d (%lld bytes): the file is too short for \"%s\", %lld bytes at offset %lld",
                 reader->prefix, (int)entry->shard, (long long)(*file)->size, entry->key, (long long)entry->size,
                 (long long)entry->offset);
        tw__file_close(own);
        return TW_DATA_LOSS;
    }
    return TW_OK;
}
