/* A map from pointers to integers: open addressing, no removal. The tape asks it once per input of every recorded op. */
#include "base/base.h"

static size_t find(const tw__pointer_map *map, const void *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15u;
    size_t slot = (hash >> 32) & (map->size - 1);
    while (map->keys[slot] && map->keys[slot] != key)
        slot = (slot + 1) & (map->size - 1);
    return slot;
}

static tw_status enlarge(tw__pointer_map *map)
{
    tw__pointer_map bigger = { .size = map->size ? map->size * 2 : 32 };
    bigger.keys = tw__alloc_array(bigger.size, sizeof *bigger.keys);
    bigger.values = tw__alloc_array(bigger.size, sizeof *bigger.values);
    if (!bigger.keys || !bigger.values) {
        tw__free(bigger.keys);
        tw__free(bigger.values);
        return TW_RESOURCE_EXHAUSTED;
    }
    for (size_t i = 0; i < map->size; i++) {
        if (map->keys[i]) {
            size_t slot = find(&bigger, map->keys[i]);
            bigger.keys[slot] = map->keys[i];
            bigger.values[slot] = map->values[i];
        }
    }
    bigger.count = map->count;
    tw__free(map->keys);
    tw__free(map->values);
    *map = bigger;
    return TW_OK;
}

tw_status tw__pointer_map_put(tw__pointer_map *map, const void *key, int64_t value)
{
    if ((map->count + 1) * 2 > map->size)
        TW_TRY(enlarge(map));
    size_t slot = find(map, key);
    if (!map->keys[slot]) {
        map->keys[slot] = key;
        map->count++;
    }
    map->values[slot] = value;
    return TW_OK;
}

int64_t tw__pointer_map_get(const tw__pointer_map *map, const void *key, int64_t otherwise)
{
    if (!map->count)
        return otherwise;
    size_t slot = find(map, key);
    return map->keys[slot] ? map->values[slot] : otherwise;
}

void tw__pointer_map_clear(tw__pointer_map *map)
{
    if (map->count)
        memset(map->keys, 0, map->size * sizeof *map->keys);
    map->count = 0;
}

void tw__pointer_map_free(tw__pointer_map *map)
{
    tw__free(map->keys);
    tw__free(map->values);
    *map = (tw__pointer_map){ 0 };
}
