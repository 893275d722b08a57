/* The reader of sorted string tables; table_writer.c draws the format.
 *
 * The file is held in memory. A block is checked against its checksum when the walk comes to it and decompressed if it is
 * a snappy block. Blocks must lie one behind the other and keys must ascend, so a walk ends in time linear in the file. */
#include "codec/codec.h"
#include "format/format.h"
#include "format/table/table.h"

#define FILE_LIMIT ((size_t)1 << 36)

static bool read_handle(const uint8_t **at, const uint8_t *end, uint64_t *offset, uint64_t *size)
{
    size_t used = tw__varint_get(*at, (size_t)(end - *at), offset);
    if (used == 0)
        return false;
    *at += used;
    used = tw__varint_get(*at, (size_t)(end - *at), size);
    *at += used;
    return used > 0;
}

tw_status tw__table_open(tw__table *table, const char *path)
{
    *table = (tw__table){ 0 };
    table->path = tw__strdup(path);
    TW_NEED(table->path);
    table->data = (uint8_t *)tw__file_read_all(path, FILE_LIMIT, &table->size);
    tw_status status = TW_OK;
    if (!table->data) {
        status = tw__error_status();
    } else if (table->size < TABLE_FOOTER_SIZE) {
        status = tw__fail(TW_DATA_LOSS, "%s: file is too short to be an sstable", path);
    } else {
        const uint8_t *footer = table->data + table->size - TABLE_FOOTER_SIZE, *at = footer;
        uint64_t meta_offset, meta_size;
        if (tw__get64(footer + TABLE_FOOTER_SIZE - 8) != TABLE_MAGIC)
            status = tw__fail(TW_DATA_LOSS, "%s: not an sstable (bad magic number)", path);
        else if (!read_handle(&at, footer + TABLE_FOOTER_SIZE - 8, &meta_offset, &meta_size) ||
                 !read_handle(&at, footer + TABLE_FOOTER_SIZE - 8, &table->index_offset, &table->index_size))
            status = tw__fail(TW_DATA_LOSS, "%s: bad block handle in the footer", path);
    }
    if (status != TW_OK)
        tw__table_close(table);
    return status;
}

void tw__table_close(tw__table *table)
{
    tw__free(table->data);
    tw__free(table->path);
    *table = (tw__table){ 0 };
}

static void block_close(tw__table_block *block)
{
    tw__free(block->owned);
    *block = (tw__table_block){ 0 };
}

static tw_status block_open(const tw__table *table, uint64_t offset, uint64_t size, tw__table_block *block)
{
    uint64_t limit = table->size - TABLE_FOOTER_SIZE;
    block_close(block);
    if (offset > limit || size > limit - offset || limit - offset - size < TABLE_TRAILER_SIZE)
        return tw__fail(TW_DATA_LOSS, "%s: truncated block read: a block of %llu bytes at %llu is not in the file", table->path,
                        (unsigned long long)size, (unsigned long long)offset);
    const uint8_t *stored = table->data + offset;
    if (tw__crc32c_unmask(tw__get32(stored + size + 1)) != tw__crc32c(stored, size + 1))
        return tw__fail(TW_DATA_LOSS, "%s: block checksum mismatch", table->path);
    size_t plain = size;
    if (stored[size] == 0) {
        block->data = stored;
    } else if (stored[size] == 1) {
        if (!tw__snappy_size(stored, size, &plain))
            return tw__fail(TW_DATA_LOSS, "%s: corrupted compressed block contents", table->path);
        TW_NEED(block->owned = tw__alloc(plain));
        if (!tw__snappy_decode(stored, size, block->owned, plain))
            return tw__fail(TW_DATA_LOSS, "%s: corrupted compressed block contents", table->path);
        block->data = block->owned;
    } else {
        return tw__fail(TW_DATA_LOSS, "%s: bad block type %d", table->path, stored[size]);
    }
    if (plain < 4 || tw__get32(block->data + plain - 4) > (plain - 4) / 4)
        return tw__fail(TW_DATA_LOSS, "%s: bad block contents", table->path);
    block->entries_end = plain - 4 - 4 * (size_t)tw__get32(block->data + plain - 4);
    return TW_OK;
}

/* Steps to the next entry; *more is false at the block's end. The key is built up in `key`. */
static tw_status block_next(const tw__table *table, tw__table_block *block, tw__text *key, const uint8_t **value,
                            size_t *value_size, bool *more)
{
    *more = block->at < block->entries_end;
    if (!*more)
        return TW_OK;
    uint64_t numbers[3]; /* shared, unshared, value size */
    for (int i = 0; i < 3; i++) {
        size_t used = tw__varint_get(block->data + block->at, block->entries_end - block->at, &numbers[i]);
        if (used == 0)
            return tw__fail(TW_DATA_LOSS, "%s: bad entry in block", table->path);
        block->at += used;
    }
    size_t left = block->entries_end - block->at;
    if (numbers[0] > key->size || numbers[1] > left || numbers[2] > left - numbers[1])
        return tw__fail(TW_DATA_LOSS, "%s: bad entry in block", table->path);
    key->size = numbers[0];
    tw__text_bytes(key, block->data + block->at, numbers[1]);
    if (key->failed)
        return TW_RESOURCE_EXHAUSTED;
    *value = block->data + block->at + numbers[1];
    *value_size = numbers[2];
    block->at += numbers[1] + numbers[2];
    return TW_OK;
}

void tw__table_begin(tw__table_cursor *cursor, const tw__table *table)
{
    *cursor = (tw__table_cursor){ .table = table };
    cursor->status = block_open(table, table->index_offset, table->index_size, &cursor->index);
}

static tw_status next_block(tw__table_cursor *cursor, bool *more)
{
    const uint8_t *value = NULL;
    size_t value_size = 0;
    TW_TRY(block_next(cursor->table, &cursor->index, &cursor->index_key, &value, &value_size, more));
    if (!*more)
        return TW_OK;
    uint64_t offset, size;
    if (!read_handle(&value, value + value_size, &offset, &size) || offset < cursor->blocks_end)
        return tw__fail(TW_DATA_LOSS, "%s: bad block handle in the index block", cursor->table->path);
    TW_TRY(block_open(cursor->table, offset, size, &cursor->block));
    cursor->blocks_end = offset + size + TABLE_TRAILER_SIZE;
    return TW_OK;
}

static tw_status step(tw__table_cursor *cursor, bool *more)
{
    tw__text_clear(&cursor->previous);
    tw__text_bytes(&cursor->previous, cursor->key.data, cursor->key.size);
    if (cursor->previous.failed)
        return TW_RESOURCE_EXHAUSTED;
    for (;;) {
        TW_TRY(block_next(cursor->table, &cursor->block, &cursor->key, &cursor->value, &cursor->value_size, more));
        if (*more)
            break;
        TW_TRY(next_block(cursor, more));
        if (!*more)
            return TW_OK;
        tw__text_clear(&cursor->key);
    }
    if (cursor->started &&
        tw__table_compare(cursor->previous.data, cursor->previous.size, cursor->key.data, cursor->key.size) >= 0)
        return tw__fail(TW_DATA_LOSS, "%s: keys are not in ascending order", cursor->table->path);
    cursor->started = true;
    return TW_OK;
}

bool tw__table_next(tw__table_cursor *cursor)
{
    bool more = false;
    if (cursor->status == TW_OK)
        cursor->status = step(cursor, &more);
    return cursor->status == TW_OK && more;
}

bool tw__table_seek(tw__table_cursor *cursor, const void *key, size_t key_size)
{
    while (tw__table_next(cursor)) {
        if (tw__table_compare(cursor->key.data, cursor->key.size, key, key_size) >= 0)
            return true;
    }
    return false;
}

void tw__table_end(tw__table_cursor *cursor)
{
    block_close(&cursor->index);
    block_close(&cursor->block);
    tw__text_free(&cursor->index_key);
    tw__text_free(&cursor->key);
    tw__text_free(&cursor->previous);
}
