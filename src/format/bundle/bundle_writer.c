/* The writer of tensor bundles: the tensors of a checkpoint, in one shard.
 *
 *     P.data-00000-of-00001   the bytes of the tensors, one behind the other, in the order of adding
 *     P.index                 a table: "" -> header, key -> dtype, shape, shard, offset, size, masked checksum
 *
 * A string tensor is stored as its lengths (varints), a masked checksum of the lengths (each taken as 32 bits, or 64 from 2^32
 * on), and the bytes; its own checksum runs over those same numbers, the checksum's four bytes and the bytes. How both files come
 * into place without a moment at which neither the old nor the new pair can be read is in bundle_commit.c. */
#include <stdlib.h>

#include "codec/message.h"
#include "format/array/tensor_message.h"
#include "format/bundle/bundle.h"
#include "format/table/table.h"

#define CHUNK ((size_t)1 << 20) /* checksummed, then written while still in the cache */

typedef struct added {
    char *key;
    size_t key_size;
    tw_dtype dtype;
    tw_shape shape;
    int64_t offset, size;
    uint32_t crc;   /* not masked */
    bool divided;   /* its parts have entries of their own, */
    tw__text parts; /* and are listed here */
} added;

struct tw__bundle_writer {
    char *prefix;
    tw__file_writer *data;
    added *entries;
    size_t count, capacity;
    tw__map keys;
    tw_status status; /* of the first failure: nothing is committed after one */
};

tw__bundle_writer *tw__bundle_create(const char *prefix)
{
    if (!*tw__path_name(prefix)) {
        tw__fail(TW_INVALID_ARGUMENT, "checkpoint: the prefix \"%s\" names no file", prefix);
        return NULL;
    }
    tw__bundle_writer *writer = tw__alloc_zero(sizeof *writer);
    if (!writer)
        return NULL;
    char *directory = tw__path_directory(prefix), *path = tw__bundle_shard_path(prefix, 0, 1);
    writer->prefix = tw__strdup(prefix);
    if (directory && path && writer->prefix && tw__make_directories(directory) == TW_OK)
        writer->data = tw__file_create(path);
    tw__free(directory);
    tw__free(path);
    if (!writer->data) {
        tw__bundle_abandon(writer);
        return NULL;
    }
    return writer;
}

void tw__bundle_abandon(tw__bundle_writer *writer)
{
    if (!writer)
        return;
    tw__file_abandon(writer->data);
    for (size_t i = 0; i < writer->count; i++) {
        tw__free(writer->entries[i].key);
        tw__text_free(&writer->entries[i].parts);
    }
    tw__free(writer->entries);
    tw__map_free(&writer->keys, NULL);
    tw__free(writer->prefix);
    tw__free(writer);
}

static tw_status write_plain(tw__file_writer *file, const void *data, size_t size, uint32_t *crc)
{
    const char *at = data;
    if (size > CHUNK)
        tw__file_reserve(file, size);
    while (size > 0) {
        size_t now = size < CHUNK + CHUNK / 2 ? size : CHUNK;
        *crc = tw__crc32c_extend(*crc, at, now);
        TW_TRY(tw__file_write(file, at, now));
        at += now;
        size -= now;
    }
    return TW_OK;
}

static tw_status write_strings(tw__file_writer *file, const tw_string *strings, int64_t count, uint32_t *crc)
{
    uint8_t bytes[TW_VARINT_MAX];
    for (int64_t i = 0; i < count; i++) {
        uint64_t size = strings[i].size;
        tw__put64(bytes, size);
        *crc = tw__crc32c_extend(*crc, bytes, size > UINT32_MAX ? 8 : 4);
        TW_TRY(tw__file_write(file, bytes, tw__varint_put(bytes, size)));
    }
    tw__put32(bytes, tw__crc32c_mask(*crc));
    *crc = tw__crc32c_extend(*crc, bytes, 4);
    TW_TRY(tw__file_write(file, bytes, 4));
    for (int64_t i = 0; i < count; i++)
        TW_TRY(write_plain(file, strings[i].data, strings[i].size, crc));
    return TW_OK;
}

/* A new entry; NULL: an error. */
static added *new_entry(tw__bundle_writer *writer, const char *key, size_t size, tw_dtype dtype, const tw_shape *shape)
{
    added entry = { .dtype = dtype, .shape = *shape, .offset = tw__file_position(writer->data), .key_size = size };
    if (TW_GROW(writer->entries, writer->capacity, writer->count + 1) != TW_OK || !(entry.key = tw__strndup(key, size)))
        return NULL;
    writer->entries[writer->count++] = entry;
    return tw__map_put(&writer->keys, key, size, (void *)(uintptr_t)writer->count) == TW_OK ? &writer->entries[writer->count - 1]
                                                                                            : NULL;
}

static tw_status add(tw__bundle_writer *writer, const char *key, size_t size, const tw_tensor *tensor)
{
    if (!size)
        return tw__fail(TW_INVALID_ARGUMENT, "%s: a tensor's key must not be empty", writer->prefix);
    if (tensor->dtype == TW_RESOURCE || tensor->dtype == TW_VARIANT)
        return tw__fail(TW_UNIMPLEMENTED, "%s: tensor \"%s\" of dtype %s can't be stored in a checkpoint", writer->prefix, key,
                        tw_dtype_name(tensor->dtype));
    if (tw__map_has(&writer->keys, key, size))
        return tw__fail(TW_INVALID_ARGUMENT, "%s: Adding duplicate key: %s", writer->prefix, *key ? key : "a part of a tensor");
    added *stored = new_entry(writer, key, size, tensor->dtype, &tensor->shape);
    if (!stored)
        return TW_RESOURCE_EXHAUSTED;
    if (tensor->dtype == TW_STRING)
        TW_TRY(write_strings(writer->data, tensor->data, tensor->count, &stored->crc));
    else
        TW_TRY(write_plain(writer->data, tensor->data, (size_t)tensor->count * tw__element_size(tensor->dtype), &stored->crc));
    stored->size = tw__file_position(writer->data) - stored->offset;
    return TW_OK;
}

/* Lists the part in the tensor's entry: TensorSliceProto { 1 extent { 1 start, 2 length } }. */
static tw_status list_part(tw__bundle_writer *writer, const char *name, const tw_tensor *tensor, const tw__slice *slice)
{
    size_t place = (size_t)(uintptr_t)tw__map_get(&writer->keys, name, strlen(name));
    added *whole = place ? &writer->entries[place - 1] : new_entry(writer, name, strlen(name), tensor->dtype, &slice->whole);
    if (!whole)
        return TW_RESOURCE_EXHAUSTED;
    if (place && (!whole->divided || whole->dtype != tensor->dtype || !tw__shape_equal(&whole->shape, &slice->whole)))
        return tw__fail(TW_INVALID_ARGUMENT, "%s: the parts of tensor \"%s\" are of different tensors", writer->prefix, name);
    whole->divided = true;
    whole->offset = 0;
    tw__text *text = &whole->parts;
    size_t part = tw__open_BundleEntryProto_slices(text);
    for (int i = 0; i < slice->whole.rank; i++) {
        size_t extent = tw__open_TensorSliceProto_extent(text);
        if (slice->length[i] >= 0 && slice->start[i])
            tw__put_TensorSliceProto_Extent_start(text, slice->start[i]);
        if (slice->length[i] >= 0)
            tw__put_TensorSliceProto_Extent_length(text, slice->length[i]);
        tw__close(text, extent);
    }
    tw__close(text, part);
    return text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

static tw_status add_slice(tw__bundle_writer *writer, const char *name, const tw_tensor *tensor, const tw__slice *slice)
{
    if (!tw__shape_equal(&tensor->shape, &slice->part))
        return tw__fail(TW_INVALID_ARGUMENT,
                        "%s: Slice in shape_and_slice specification does not match the shape of the tensor "
                        "to save: %s, tensor: %s, of \"%s\"",
                        writer->prefix, tw__shape_text(&slice->part), tw__shape_text(&tensor->shape), name);
    TW_TRY(list_part(writer, name, tensor, slice));
    tw__auto(tw__text_free) tw__text key = { 0 };
    tw__slice_key(&key, name, strlen(name), slice);
    tw_status status = key.failed ? TW_RESOURCE_EXHAUSTED : add(writer, key.data, key.size, tensor);
    return status;
}

tw_status tw__bundle_add_slice(tw__bundle_writer *writer, const char *name, const tw_tensor *tensor, const tw__slice *slice)
{
    TW_TRY(writer->status);
    return writer->status = add_slice(writer, name, tensor, slice);
}

tw_status tw__bundle_add(tw__bundle_writer *writer, const char *key, const tw_tensor *tensor)
{
    TW_TRY(writer->status);
    return writer->status = tensor ? add(writer, key, strlen(key), tensor) : tw__error_status();
}

static int compare_keys(const void *a, const void *b)
{
    const added *first = a, *second = b;
    return tw__table_compare(first->key, first->key_size, second->key, second->key_size);
}

/* A field is left out when it is 0, but the shape is always there. */
static void add_entry_proto(tw__text *text, const added *entry)
{
    tw__put_BundleEntryProto_dtype(text, entry->dtype);
    tw__shape_message_write_known(text, TW_BundleEntryProto_shape, &entry->shape);
    if (entry->offset)
        tw__put_BundleEntryProto_offset(text, entry->offset);
    if (entry->size)
        tw__put_BundleEntryProto_size(text, (int64_t)entry->size);
    if (!entry->divided)
        tw__put_BundleEntryProto_crc32c(text, tw__crc32c_mask(entry->crc));
    tw__text_bytes(text, entry->parts.data ? entry->parts.data : "", entry->parts.size);
}

static tw_status write_table(tw__bundle_writer *writer, tw__table_writer *table, int shards)
{
    tw__auto(tw__text_free) tw__text value = { 0 };
    tw__put_BundleHeaderProto_num_shards(&value, shards);
    size_t version = tw__open_BundleHeaderProto_version(&value);
    tw__put_VersionDef_producer(&value, 1);
    tw__close(&value, version);
    TW_TRY(value.failed ? TW_RESOURCE_EXHAUSTED : tw__table_add(table, "", 0, value.data, value.size));
    for (size_t i = 0; i < writer->count; i++) {
        const added *entry = &writer->entries[i];
        tw__text_clear(&value);
        add_entry_proto(&value, entry);
        TW_TRY(value.failed ? TW_RESOURCE_EXHAUSTED : tw__table_add(table, entry->key, entry->key_size, value.data, value.size));
    }
    return TW_OK;
}

static tw__file_writer *make_index(void *context, int shards)
{
    tw__bundle_writer *writer = context;
    char *path = tw__format("%s.index", writer->prefix);
    tw__file_writer *file = path ? tw__file_create(path) : NULL;
    tw__table_writer *table = file ? tw__table_create(file) : NULL;
    tw__free(path);
    if (table && write_table(writer, table, shards) != TW_OK) {
        tw__table_abandon(table);
        table = NULL;
    }
    if (!table || tw__table_finish(table) != TW_OK || tw__file_seal(file) != TW_OK) {
        tw__file_abandon(file);
        return NULL;
    }
    return file;
}

tw_status tw__bundle_finish(tw__bundle_writer *writer)
{
    tw_status status = writer->status;
    if (status == TW_OK) {
        if (writer->count > 0)
            qsort(writer->entries, writer->count, sizeof *writer->entries, compare_keys);
        tw__file_writer *data = writer->data;
        writer->data = NULL;
        status = tw__bundle_commit(writer->prefix, data, make_index, writer);
    }
    tw__bundle_abandon(writer);
    return status;
}

tw_status tw__bundle_finish_as(tw__bundle_writer *writer, const char *prefix)
{
    char *copy = tw__strdup(prefix);
    if (!copy) {
        tw__bundle_abandon(writer);
        return tw__error_status();
    }
    tw__free(writer->prefix);
    writer->prefix = copy;
    return tw__bundle_finish(writer);
}
