/* Opening a tensor bundle: its index, and the files of its shards. bundle_writer.c draws the format.
 *
 * Opening reads the whole index and opens the shards, then looks whether the index is still the same file: so it gets the two
 * halves of one bundle even while another process puts a new one in its place. */
#include <sys/stat.h>

#include "codec/message.h"
#include "format/bundle/bundle.h"
#include "format/table/table.h"

#define HELD_SHARDS 64       /* files kept open; a bundle of more opens the others for each read */
#define REFERENCE_DTYPES 100 /* what is added to the number of a reference's dtype */

static tw_status malformed(const tw__bundle_reader *reader, const char *key)
{
    return tw__fail(TW_DATA_LOSS, "Unable to read file (%s.index): the entry of \"%s\" is malformed", reader->prefix, key);
}

static tw_status read_header(tw__bundle_reader *reader, const void *data, size_t size)
{
    tw__BundleHeaderProto header;
    tw__VersionDef version;
    tw_string bytes = { data, size };
    tw__owned char *merged = NULL;
    if (!tw__message_merge(&tw__type_BundleHeaderProto, &bytes, &merged))
        return tw__error_status();
    if (!tw__read_BundleHeaderProto(bytes, &header) || !tw__read_VersionDef(header.version, &version) || header.num_shards < 0 ||
        header.endianness < 0 || header.endianness > 1)
        return tw__fail(TW_DATA_LOSS, "Unable to read file (%s.index): the header is malformed", reader->prefix);
    if (version.min_consumer > 1)
        return tw__fail(TW_UNIMPLEMENTED, "%s.index: the file needs a reader of version %d, this is version 1", reader->prefix,
                        (int)version.min_consumer);
    reader->big_endian = header.endianness == 1;
    reader->shard_count = header.num_shards;
    return TW_OK;
}

/* The rank is -1 if there are more dimensions than tensors have. */
static bool read_shape(tw_string bytes, tw_shape *shape)
{
    tw__TensorShapeProto from;
    if (!tw__read_TensorShapeProto(bytes, &from) || from.unknown_rank)
        return false;
    for (TW_EACH(TensorShapeProto_Dim, dim, from.dim)) {
        if (dim.size < 0)
            return false;
        if (shape->rank == TW_MAX_RANK)
            shape->rank = -1;
        if (shape->rank >= 0)
            shape->dims[shape->rank++] = dim.size;
    }
    return !from.dim.failed;
}

static tw_status read_entry(tw__bundle_reader *reader, tw__bundle_entry *entry, const void *data, size_t size)
{
    tw__BundleEntryProto from;
    tw_string bytes = { data, size };
    tw__owned char *merged = NULL;
    if (!tw__message_merge(&tw__type_BundleEntryProto, &bytes, &merged))
        return tw__error_status();
    if (!tw__read_BundleEntryProto(bytes, &from) || !read_shape(from.shape, &entry->shape) || from.offset < 0 || from.size < 0 ||
        from.shard_id < 0 || from.shard_id >= reader->shard_count)
        return malformed(reader, entry->key);
    entry->dtype = (tw_dtype)(from.dtype >= 0 && from.dtype < 2 * REFERENCE_DTYPES ? from.dtype % REFERENCE_DTYPES : 0);
    entry->shard = from.shard_id;
    entry->offset = from.offset;
    entry->size = from.size;
    entry->crc = from.crc32c;
    if (!from.slices.count)
        return TW_OK;
    entry->slices_size = (size_t)(from.slices.end - from.slices.at);
    entry->slices = tw__alloc(entry->slices_size);
    if (!entry->slices)
        return TW_RESOURCE_EXHAUSTED;
    memcpy(entry->slices, from.slices.at, entry->slices_size);
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
    tw__owned char *path = tw__bundle_shard_path(reader->prefix, number, reader->shard_count);
    tw_status status = path ? tw__file_open(file, path) : TW_RESOURCE_EXHAUSTED;
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
    tw__owned char *path = reader->prefix ? tw__format("%s.index", prefix) : NULL;
    if (!path || load(reader, path) != TW_OK) {
        tw__bundle_close(reader);
        reader = NULL;
    }
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
