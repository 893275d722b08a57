/* Traces by what their calls have in common; see cache.h. A hash table with chains over entries that stand in a list by their last use. */
#include <stdlib.h>

#include "function/cache.h"

enum { BUCKETS = 256 };

typedef struct entry {
    struct entry *chain;          /* of the same bucket */
    struct entry *newer, *older;  /* by last use */
    uint64_t hash;
    int64_t number;               /* in the order of making */
    void *fixed;
    size_t fixed_size;
    tw_spec *specs;
    int spec_count;
    bool open;                    /* a spec leaves something open */
    void *value;
} entry;

struct tw__call_cache {
    entry *buckets[BUCKETS];
    entry *newest, *oldest;
    int count, limit, open_count;
    int64_t made;
    void (*drop)(void *value);
};

tw__call_cache *tw__call_cache_new(int limit, void (*drop)(void *value))
{
    tw__call_cache *cache = tw__alloc_zero(sizeof *cache);
    if (!cache)
        return NULL;
    cache->limit = limit;
    cache->drop = drop;
    return cache;
}

static void entry_free(tw__call_cache *cache, entry *e)
{
    if (e->value)
        cache->drop(e->value);
    tw__free(e->fixed);
    tw__free(e->specs);
    tw__free(e);
}

void tw__call_cache_free(tw__call_cache *cache)
{
    while (cache && cache->newest) {
        entry *e = cache->newest;
        cache->newest = e->older;
        entry_free(cache, e);
    }
    tw__free(cache);
}

/* ---- keys ---- */

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

static uint64_t hash_of(const tw__call_key *key)
{
    uint64_t hash = mix(14695981039346656037u, key->fixed, key->fixed_size);
    for (int i = 0; i < key->spec_count; i++) {
        const tw_spec *s = &key->specs[i];
        uint64_t word = (uint64_t)s->dtype * 64 + (uint64_t)(s->shape.rank + 1);
        for (int d = 0; d < s->shape.rank; d++)
            word = (word + (uint64_t)s->shape.dims[d] + 1) * 0x9e3779b97f4a7c15u;
        hash = (hash ^ word ^ (word >> 29)) * 1099511628211u;
    }
    return hash;
}

static bool same_fixed(const entry *e, const tw__call_key *key)
{
    return e->spec_count == key->spec_count && e->fixed_size == key->fixed_size &&
           (!key->fixed_size || memcmp(e->fixed, key->fixed, key->fixed_size) == 0);
}

static bool same_shape(const tw_shape *a, const tw_shape *b)
{
    return a->rank == b->rank && (a->rank <= 0 || memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0);
}

static bool is_same(const entry *e, const tw__call_key *key)
{
    bool same = same_fixed(e, key);
    for (int i = 0; same && i < key->spec_count; i++)
        same = e->specs[i].dtype == key->specs[i].dtype && same_shape(&e->specs[i].shape, &key->specs[i].shape);
    return same;
}

static bool covers(const tw_shape *open, const tw_shape *shape)
{
    if (open->rank < 0)
        return true;
    bool fits = open->rank == shape->rank;
    for (int d = 0; fits && d < open->rank; d++)
        fits = open->dims[d] < 0 || open->dims[d] == shape->dims[d];
    return fits;
}

static bool serves(const entry *e, const tw__call_key *key)
{
    bool fits = e->open && same_fixed(e, key);
    for (int i = 0; fits && i < key->spec_count; i++)
        fits = e->specs[i].dtype == key->specs[i].dtype && covers(&e->specs[i].shape, &key->specs[i].shape);
    return fits;
}

/* ---- the list by last use ---- */

static void unlink_entry(tw__call_cache *cache, entry *e)
{
    *(e->newer ? &e->newer->older : &cache->newest) = e->older;
    *(e->older ? &e->older->newer : &cache->oldest) = e->newer;
    e->newer = e->older = NULL;
}

static void link_newest(tw__call_cache *cache, entry *e)
{
    e->older = cache->newest;
    *(cache->newest ? &cache->newest->newer : &cache->oldest) = e;
    cache->newest = e;
}

static void remove_entry(tw__call_cache *cache, entry *e)
{
    entry **at = &cache->buckets[e->hash % BUCKETS];
    while (*at != e)
        at = &(*at)->chain;
    *at = e->chain;
    unlink_entry(cache, e);
    cache->count--;
    cache->open_count -= e->open;
    entry_free(cache, e);
}

void *tw__call_cache_find(tw__call_cache *cache, const tw__call_key *key)
{
    entry *found = cache->newest && is_same(cache->newest, key) ? cache->newest : NULL;
    if (!found && cache->count) {
        uint64_t hash = hash_of(key);
        for (entry *e = cache->buckets[hash % BUCKETS]; e && !found; e = e->chain)
            found = e->hash == hash && is_same(e, key) ? e : NULL;
    }
    for (entry *e = cache->newest; e && cache->open_count && !found; e = e->older)
        found = serves(e, key) ? e : NULL;
    if (!found)
        return NULL;
    if (found != cache->newest) {
        unlink_entry(cache, found);
        link_newest(cache, found);
    }
    return found->value;
}

tw_status tw__call_cache_put(tw__call_cache *cache, const tw__call_key *key, void *value)
{
    entry *e = tw__alloc_zero(sizeof *e);
    if (!e) {
        cache->drop(value);
        return TW_RESOURCE_EXHAUSTED;
    }
    e->value = value;
    e->fixed = tw__alloc(key->fixed_size);
    e->specs = tw__alloc_array((size_t)key->spec_count + 1, sizeof *e->specs);
    if (!e->fixed || !e->specs) {
        entry_free(cache, e);
        return TW_RESOURCE_EXHAUSTED;
    }
    if (key->fixed_size)
        memcpy(e->fixed, key->fixed, key->fixed_size);
    for (int i = 0; i < key->spec_count; i++) {
        e->specs[i] = (tw_spec){ .dtype = key->specs[i].dtype, .shape = key->specs[i].shape };
        e->open |= !tw__shape_known(&e->specs[i].shape);
    }
    e->fixed_size = key->fixed_size;
    e->spec_count = key->spec_count;
    e->hash = hash_of(key);
    e->number = cache->made++;
    e->chain = cache->buckets[e->hash % BUCKETS];
    cache->buckets[e->hash % BUCKETS] = e;
    link_newest(cache, e);
    cache->count++;
    cache->open_count += e->open;
    while (cache->count > cache->limit)
        remove_entry(cache, cache->oldest);
    return TW_OK;
}

void tw__call_cache_widen(const tw__call_cache *cache, const tw__call_key *key, tw_spec *specs)
{
    for (const entry *e = cache->newest; e; e = e->older) {
        bool alike = same_fixed(e, key);
        for (int i = 0; alike && i < key->spec_count; i++)
            alike = e->specs[i].dtype == specs[i].dtype;
        for (int i = 0; alike && i < key->spec_count; i++) {
            tw_shape *s = &specs[i].shape;
            const tw_shape *other = &e->specs[i].shape;
            if (s->rank != other->rank)
                s->rank = -1;
            for (int d = 0; d < s->rank; d++)
                s->dims[d] = s->dims[d] == other->dims[d] ? s->dims[d] : -1;
        }
    }
}

int tw__call_cache_count(const tw__call_cache *cache)
{
    return cache->count;
}

static int by_number(const void *a, const void *b)
{
    int64_t x = (*(entry *const *)a)->number, y = (*(entry *const *)b)->number;
    return (x > y) - (x < y);
}

tw_status tw__call_cache_list(const tw__call_cache *cache, void **values)
{
    entry **entries = tw__alloc_array((size_t)cache->count + 1, sizeof *entries);
    if (!entries)
        return TW_RESOURCE_EXHAUSTED;
    int count = 0;
    for (entry *e = cache->newest; e; e = e->older)
        entries[count++] = e;
    qsort(entries, (size_t)count, sizeof *entries, by_number);
    for (int i = 0; i < count; i++)
        values[i] = entries[i]->value;
    tw__free(entries);
    return TW_OK;
}

/* ---- too many traces ---- */

enum { WINDOW = 10, MANY = 5, WARNINGS = 2, KEPT = sizeof ((tw__retraces *)0)->since / sizeof(int64_t) };

void tw__retraces_called(tw__retraces *r, int64_t count)
{
    if (!count)
        return;
    if (!r->count)
        r->since[r->count++] = 0;
    r->since[r->count - 1] += count;
    r->calls += count;
}

bool tw__retraces_traced(tw__retraces *r, int *traces, int64_t *calls)
{
    if (r->count == KEPT) {
        memmove(r->since, r->since + 1, (KEPT - 1) * sizeof *r->since);
        r->count--;
    }
    r->since[r->count++] = 1;
    r->calls = 0;
    for (int i = 0; i < r->count; i++)
        r->calls += r->since[i];
    int past = 0;
    while (past < r->count && r->calls - r->since[past] > WINDOW)
        r->calls -= r->since[past++];
    memmove(r->since, r->since + past, (size_t)(r->count - past) * sizeof *r->since);
    r->count -= past;
    *traces = r->count;
    *calls = r->calls;
    if (r->warnings >= WARNINGS || r->count < MANY)
        return false;
    r->warnings++;
    return true;
}
