/* Where the rows of a dense table stand in TensorFlow's memory. Its checkpoints hold these buckets as they are, and who reads one
 * looks for a key from its hash on, by steps of 1, 2, 3 … buckets. */
#include "op/table/table.h"
#include "op/text/text.h"

static uint64_t hash_element(const tw_tensor *key, int64_t index)
{
    if (key->dtype == TW_STRING)
        return tw__murmur64(tw_tensor_string_at(key, index));
    if (key->dtype == TW_INT32)
        return (uint64_t)(int64_t)((const int32_t *)key->data)[index];
    size_t size = tw__element_size(key->dtype);
    uint64_t bits = 0;
    memcpy(&bits, (const char *)key->data + (size_t)index * size, size < sizeof bits ? size : sizeof bits);
    return bits;
}

static uint64_t hash_key(const tw_tensor *key)
{
    if (key->count == 1)
        return hash_element(key, 0);
    uint64_t hash = 0;
    for (int64_t i = 0; i < key->count; i++)
        hash ^= hash_element(key, i) + UINT64_C(0x9e3779b97f4a7800) + (hash << 10) + (hash >> 4);
    return hash;
}

int64_t *tw__table_buckets(const tw__lookup_table *table)
{
    int64_t *buckets = tw__alloc_array((size_t)table->buckets, sizeof *buckets);
    uint64_t mask = (uint64_t)table->buckets - 1;
    for (size_t i = 0; buckets && i < table->count; i++) {
        uint64_t at = hash_key(table->keys[i]) & mask;
        for (uint64_t step = 1; buckets[at]; step++)
            at = (at + step) & mask;
        buckets[at] = (int64_t)i + 1;
    }
    return buckets;
}
