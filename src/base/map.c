/* A map from byte strings to pointers that keeps insertion order: entries in an array, an open-addressing table of
 * indices beside it. There is no removal; nothing needs one. */
#include "base/base.h"

static uint64_t hash_bytes(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash ^ (hash >> 29);
}

/* The table slot where the key is, or the empty one where it would go. */
static size_t find(const tw__map *map, const void *key, size_t key_size)
{
    size_t slot = hash_bytes(key, key_size) & (map->table_size - 1);
    while (map->table[slot]) {
        const tw__map_entry *entry = &map->entries[map->table[slot] - 1];
        if (entry->key_size == key_size && memcmp(entry->key, key, key_size) == 0)
            break;
        slot = (slot + 1) & (map->table_size - 1);
    }
    return slot;
}

static tw_status enlarge(tw__map *map)
{
    size_t size = map->table_size ? map->table_size * 2 : 16;
    uint32_t *table = tw__alloc_array(size, sizeof *table);
    if (!table)
        return TW_RESOURCE_EXHAUSTED;
    tw__free(map->table);
    map->table = table;
    map->table_size = size;
    for (size_t i = 0; i < map->count; i++)
        map->table[find(map, map->entries[i].key, map->entries[i].key_size)] = (uint32_t)i + 1;
    return TW_OK;
}

tw_status tw__map_put(tw__map *map, const void *key, size_t key_size, void *value)
{
    if ((map->count + 1) * 2 > map->table_size)
        TW_TRY(enlarge(map));
    size_t slot = find(map, key, key_size);
    if (map->table[slot]) {
        map->entries[map->table[slot] - 1].value = value;
        return TW_OK;
    }
    TW_TRY(TW_GROW(map->entries, map->capacity, map->count + 1));
    char *copy = tw__strndup(key, key_size);
    if (!copy)
        return TW_RESOURCE_EXHAUSTED;
    map->entries[map->count] = (tw__map_entry){ copy, key_size, value };
    map->table[slot] = (uint32_t)++map->count;
    return TW_OK;
}

static const tw__map_entry *lookup(const tw__map *map, const void *key, size_t key_size)
{
    if (!map->table_size)
        return NULL;
    uint32_t index = map->table[find(map, key, key_size)];
    return index ? &map->entries[index - 1] : NULL;
}

void *tw__map_get(const tw__map *map, const void *key, size_t key_size)
{
    const tw__map_entry *entry = lookup(map, key, key_size);
    return entry ? entry->value : NULL;
}

bool tw__map_has(const tw__map *map, const void *key, size_t key_size)
{
    return lookup(map, key, key_size) != NULL;
}

void tw__map_free(tw__map *map, void (*free_value)(void *))
{
    for (size_t i = 0; i < map->count; i++) {
        tw__free(map->entries[i].key);
        if (free_value)
            free_value(map->entries[i].value);
    }
    tw__free(map->entries);
    tw__free(map->table);
    *map = (tw__map){ 0 };
}
