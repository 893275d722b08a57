/* The writer of sorted string tables, the format of `.index` files.
 *
 *     file   = data blocks, an empty metaindex block, the index block, the footer
 *     stored = content, type byte 0, masked CRC-32C of content and type byte
 *     content = entries, the offsets of the restarts (32 bits each), their count
 *     entry  = varint shared, unshared, value size; the unshared bytes of the key; the value
 *     footer = handles (varint offset, size) of metaindex and index block, zeros up to byte 40, the magic number
 *
 * `shared` is what the key has in common with the one before; a restart, where it is 0, comes every 16 entries and at each
 * entry of the index block. The index block has one entry for each data block: a short key that is not less than its last and
 * less than the next block's first, and the handle. */
#include "codec/codec.h"
#include "format/format.h"
#include "format/table/table.h"

typedef struct block_builder {
    tw__text content;
    tw__text last_key;
    uint32_t *restarts;
    size_t restart_count, restart_capacity;
    int interval, since_restart;
} block_builder;

struct tw__table_writer {
    tw__file_writer *file;
    block_builder data, index;
    bool pending; /* a data block was written whose index entry waits for the next key */
    uint64_t pending_offset, pending_size;
    bool any;
};

static size_t common_prefix(const tw__text *a, const uint8_t *b, size_t b_size)
{
    size_t limit = a->size < b_size ? a->size : b_size, shared = 0;
    while (shared < limit && (uint8_t)a->data[shared] == b[shared])
        shared++;
    return shared;
}

static tw_status block_add(block_builder *block, const void *key, size_t key_size, const void *value, size_t value_size)
{
    size_t shared = 0;
    if (block->restart_count == 0 || block->since_restart == block->interval) {
        TW_TRY(TW_GROW(block->restarts, block->restart_capacity, block->restart_count + 1));
        block->restarts[block->restart_count++] = (uint32_t)block->content.size;
        block->since_restart = 0;
    } else {
        shared = common_prefix(&block->last_key, key, key_size);
    }
    block->since_restart++;
    tw__varint_add(&block->content, shared);
    tw__varint_add(&block->content, key_size - shared);
    tw__varint_add(&block->content, value_size);
    tw__text_bytes(&block->content, (const char *)key + shared, key_size - shared);
    tw__text_bytes(&block->content, value, value_size);
    tw__text_clear(&block->last_key);
    tw__text_bytes(&block->last_key, key, key_size);
    if (block->content.failed || block->last_key.failed)
        return TW_RESOURCE_EXHAUSTED;
    return TW_OK;
}

static size_t block_size(const block_builder *block)
{
    return block->content.size + 4 * block->restart_count + 4;
}

/* Ends the block's content, stores it and makes the block empty. */
static tw_status block_store(tw__table_writer *writer, block_builder *block, uint64_t *offset, uint64_t *size)
{
    uint8_t bytes[4];
    for (size_t i = 0; i < block->restart_count; i++) {
        tw__put32(bytes, block->restarts[i]);
        tw__text_bytes(&block->content, bytes, 4);
    }
    if (block->restart_count == 0) { /* an empty block has a restart all the same */
        tw__put32(bytes, 0);
        tw__text_bytes(&block->content, bytes, 4);
    }
    tw__put32(bytes, block->restart_count ? (uint32_t)block->restart_count : 1);
    tw__text_bytes(&block->content, bytes, 4);
    *offset = (uint64_t)tw__file_position(writer->file);
    *size = block->content.size;
    tw__text_bytes(&block->content, "", 1);
    if (block->content.failed)
        return TW_RESOURCE_EXHAUSTED;
    tw__put32(bytes, tw__crc32c_mask(tw__crc32c(block->content.data, block->content.size)));
    TW_TRY(tw__file_write(writer->file, block->content.data, block->content.size));
    TW_TRY(tw__file_write(writer->file, bytes, 4));
    tw__text_clear(&block->content);
    block->restart_count = 0;
    return TW_OK;
}

/* The index entry of the block written last. `next` is the first key behind it, NULL at the end of the table. */
static tw_status add_index_entry(tw__table_writer *writer, const uint8_t *next, size_t next_size)
{
    if (!writer->pending)
        return TW_OK;
    writer->pending = false;
    tw__text *key = &writer->data.last_key;
    uint8_t *last = (uint8_t *)key->data;
    if (next) {
        size_t shared = common_prefix(key, next, next_size);
        if (shared < key->size && shared < next_size && last[shared] < 0xff && last[shared] + 1 < next[shared]) {
            last[shared]++;
            key->size = shared + 1;
        }
    } else {
        for (size_t i = 0; i < key->size; i++) {
            if (last[i] != 0xff) {
                last[i]++;
                key->size = i + 1;
                break;
            }
        }
    }
    uint8_t handle[2 * TW_VARINT_MAX];
    size_t size = tw__varint_put(handle, writer->pending_offset);
    size += tw__varint_put(handle + size, writer->pending_size);
    return block_add(&writer->index, key->data, key->size, handle, size);
}

static tw_status store_data_block(tw__table_writer *writer)
{
    TW_TRY(block_store(writer, &writer->data, &writer->pending_offset, &writer->pending_size));
    writer->pending = true;
    return TW_OK;
}

tw__table_writer *tw__table_create(tw__file_writer *file)
{
    tw__table_writer *writer = tw__alloc_zero(sizeof *writer);
    if (writer) {
        writer->file = file;
        writer->data.interval = TABLE_RESTART_INTERVAL;
        writer->index.interval = 1;
    }
    return writer;
}

tw_status tw__table_add(tw__table_writer *writer, const void *key, size_t key_size, const void *value, size_t value_size)
{
    const tw__text *last = &writer->data.last_key;
    if (writer->any && tw__table_compare(last->data, last->size, key, key_size) >= 0)
        return tw__fail(TW_INTERNAL, "table: a key of %zu bytes is not greater than the one before it", key_size);
    writer->any = true;
    TW_TRY(add_index_entry(writer, key, key_size));
    TW_TRY(block_add(&writer->data, key, key_size, value, value_size));
    return block_size(&writer->data) >= TABLE_BLOCK_SIZE ? store_data_block(writer) : TW_OK;
}

static tw_status finish(tw__table_writer *writer)
{
    uint64_t meta_offset, meta_size, index_offset, index_size;
    if (writer->data.restart_count > 0)
        TW_TRY(store_data_block(writer));
    block_builder meta = { .interval = 1 };
    tw_status status = block_store(writer, &meta, &meta_offset, &meta_size);
    tw__text_free(&meta.content);
    TW_TRY(status);
    TW_TRY(add_index_entry(writer, NULL, 0));
    TW_TRY(block_store(writer, &writer->index, &index_offset, &index_size));
    uint8_t footer[TABLE_FOOTER_SIZE] = { 0 };
    size_t size = tw__varint_put(footer, meta_offset);
    size += tw__varint_put(footer + size, meta_size);
    size += tw__varint_put(footer + size, index_offset);
    tw__varint_put(footer + size, index_size);
    tw__put64(footer + TABLE_FOOTER_SIZE - 8, TABLE_MAGIC);
    return tw__file_write(writer->file, footer, sizeof footer);
}

tw_status tw__table_finish(tw__table_writer *writer)
{
    tw_status status = finish(writer);
    tw__table_abandon(writer);
    return status;
}

static void block_free(block_builder *block)
{
    tw__text_free(&block->content);
    tw__text_free(&block->last_key);
    tw__free(block->restarts);
}

void tw__table_abandon(tw__table_writer *writer)
{
    if (!writer)
        return;
    block_free(&writer->data);
    block_free(&writer->index);
    tw__free(writer);
}
