/* Traces by what their calls have in common; see cache.h. A hash table with chains over entries that stand in a list by their
 * last use. */
#include <stdlib.h>

#include "function/cache.h"

enum { BUCKETS = 256 };

typedef struct entry {
    struct entry *chain;         /* of the same bucket */
    struct entry *newer, *older; /* by last use */
    uint64_t hash;
    int64_t number;   /* in the order of making */
    tw__call_key key; /* its arrays are the entry's own */
    tw_shape *shapes; /* of the specs */
    bool open;        /* a spec leaves something open */
    void *value;
} entry;

struct tw__call_cache {
    entry *buckets[BUCKETS];
    entry *newest, *oldest;
    int count, limit, open_count;
    int64_t made;
};

tw__call_cache *tw__call_cache_new(int limit)
{
    tw__call_cache *cache = tw__alloc_zero(sizeof *cache);
    if (!cache)
        return NULL;
    cache->limit = limit;
    return cache;
}

/* Gives the value, which is the caller's now. */
static void *entry_free(entry *e)
{
    void *value = e->value;
    tw__free((void *)e->key.fixed);
    tw__free((void *)e->key.specs);
    tw__free((void *)e->key.identities);
    tw__free((void *)e->key.marks);
    tw__free(e->shapes);
    tw__free(e);
    return value;
}

void tw__call_cache_free(tw__call_cache *cache, void (*drop)(void *value))
{
    while (cache && cache->newest) {
        entry *e = cache->newest;
        cache->newest = e->older;
        drop(entry_free(e));
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
        const tw_shape *shape = key->specs[i].shape;
        uint64_t word = (uint64_t)key->specs[i].dtype * 64 + (uint64_t)(shape->rank + 1);
        for (int d = 0; d < shape->rank; d++)
            word = (word + (uint64_t)shape->dims[d] + 1) * 0x9e3779b97f4a7c15u;
        hash = (hash ^ word ^ (word >> 29)) * 1099511628211u;
    }
    return hash;
}

/* Keys are short, as a rule: a word at a time. */
static inline bool same_fixed(const tw__call_key *a, const tw__call_key *b)
{
    if (a->spec_count != b->spec_count || a->fixed_size != b->fixed_size)
        return false;
    size_t at = 0;
    for (; at + sizeof(uint64_t) <= a->fixed_size; at += sizeof(uint64_t)) {
        uint64_t x, y;
        memcpy(&x, a->fixed + at, sizeof x);
        memcpy(&y, b->fixed + at, sizeof y);
        if (x != y)
            return false;
    }
    for (; at < a->fixed_size; at++) {
        if (a->fixed[at] != b->fixed[at])
            return false;
    }
    return true;
}

static bool same_shape(const tw_shape *a, const tw_shape *b)
{
    bool same = a->rank == b->rank;
    for (int d = 0; same && d < a->rank; d++)
        same = a->dims[d] == b->dims[d];
    return same;
}

static bool is_same(const tw__call_key *a, const tw__call_key *b)
{
    bool same = same_fixed(a, b);
    for (int i = 0; same && i < b->spec_count; i++)
        same = a->specs[i].dtype == b->specs[i].dtype && same_shape(a->specs[i].shape, b->specs[i].shape);
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
    bool fits = e->open && same_fixed(&e->key, key);
    for (int i = 0; fits && i < key->spec_count; i++)
        fits = e->key.specs[i].dtype == key->specs[i].dtype && covers(e->key.specs[i].shape, key->specs[i].shape);
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

static void *remove_entry(tw__call_cache *cache, entry *e)
{
    entry **at = &cache->buckets[e->hash % BUCKETS];
    while (*at != e)
        at = &(*at)->chain;
    *at = e->chain;
    unlink_entry(cache, e);
    cache->count--;
    cache->open_count -= e->open;
    return entry_free(e);
}

void *tw__call_cache_find(tw__call_cache *cache, const tw__call_key *key)
{
    if (!cache)
        return NULL;
    entry *found = cache->newest && is_same(&cache->newest->key, key) ? cache->newest : NULL;
    if (!found && cache->count) {
        uint64_t hash = hash_of(key);
        for (entry *e = cache->buckets[hash % BUCKETS]; e && !found; e = e->chain)
            found = e->hash == hash && is_same(&e->key, key) ? e : NULL;
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

static const void *copy(const void *data, size_t size)
{
    void *made = tw__alloc(size + 1);
    if (made && size)
        memcpy(made, data, size);
    return made;
}

static tw_status copy_key(entry *e, const tw__call_key *key)
{
    size_t specs = (size_t)key->spec_count;
    e->key = *key;
    e->key.fixed = copy(key->fixed, key->fixed_size);
    e->key.specs = copy(key->specs, specs * sizeof *key->specs);
    e->key.identities = copy(key->identities, (size_t)key->identity_count * sizeof *key->identities);
    e->key.marks = copy(key->marks, (size_t)key->mark_count * sizeof *key->marks);
    e->shapes = tw__alloc_array(specs + 1, sizeof *e->shapes);
    TW_NEED(e->key.fixed && e->key.specs && e->key.identities && e->key.marks && e->shapes);
    for (size_t i = 0; i < specs; i++) {
        e->shapes[i] = *key->specs[i].shape;
        ((tw__call_spec *)e->key.specs)[i].shape = &e->shapes[i];
        e->open |= !tw__shape_known(&e->shapes[i]);
    }
    return TW_OK;
}

tw_status tw__call_cache_put(tw__call_cache *cache, const tw__call_key *key, void *value, void **evicted)
{
    *evicted = NULL;
    entry *e = tw__alloc_zero(sizeof *e);
    if (!e || copy_key(e, key) != TW_OK) {
        if (e)
            entry_free(e);
        *evicted = value;
        return TW_RESOURCE_EXHAUSTED;
    }
    e->value = value;
    e->hash = hash_of(key);
    e->number = cache->made++;
    e->chain = cache->buckets[e->hash % BUCKETS];
    cache->buckets[e->hash % BUCKETS] = e;
    link_newest(cache, e);
    cache->count++;
    cache->open_count += e->open;
    if (cache->count > cache->limit)
        *evicted = remove_entry(cache, cache->oldest);
    return TW_OK;
}

void *tw__call_cache_forget(tw__call_cache *cache, const void *identity)
{
    for (entry *e = cache->newest; e; e = e->older) {
        for (int i = 0; i < e->key.identity_count; i++) {
            if (e->key.identities[i] == identity)
                return remove_entry(cache, e);
        }
    }
    return NULL;
}

void tw__call_cache_widen(const tw__call_cache *cache, const tw__call_key *key, tw_shape *shapes)
{
    for (const entry *e = cache->newest; e; e = e->older) {
        bool alike = same_fixed(&e->key, key);
        for (int i = 0; alike && i < key->spec_count; i++)
            alike = e->key.specs[i].dtype == key->specs[i].dtype;
        for (int i = 0; alike && i < key->spec_count; i++) {
            tw_shape *s = &shapes[i];
            const tw_shape *other = e->key.specs[i].shape;
            if (s->rank != other->rank)
                s->rank = -1;
            for (int d = 0; d < s->rank; d++)
                s->dims[d] = s->dims[d] == other->dims[d] ? s->dims[d] : -1;
        }
    }
}

static bool same_argument(const tw__call_key *a, const tw__call_key *b, int argument)
{
    bool last_a = argument + 1 == a->mark_count, last_b = argument + 1 == b->mark_count;
    size_t from_a = a->marks[argument].fixed, from_b = b->marks[argument].fixed;
    size_t size_a = (last_a ? a->fixed_size : a->marks[argument + 1].fixed) - from_a;
    size_t size_b = (last_b ? b->fixed_size : b->marks[argument + 1].fixed) - from_b;
    int spec_a = (int)a->marks[argument].spec, end_a = last_a ? a->spec_count : (int)a->marks[argument + 1].spec;
    int spec_b = (int)b->marks[argument].spec, end_b = last_b ? b->spec_count : (int)b->marks[argument + 1].spec;
    bool same = size_a == size_b && end_a - spec_a == end_b - spec_b && memcmp(a->fixed + from_a, b->fixed + from_b, size_a) == 0;
    for (int i = 0; same && i < end_a - spec_a; i++)
        same = a->specs[spec_a + i].dtype == b->specs[spec_b + i].dtype &&
               covers(a->specs[spec_a + i].shape, b->specs[spec_b + i].shape);
    return same;
}

bool tw__call_cache_changed(const tw__call_cache *cache, const tw__call_key *key, int argument)
{
    const tw__call_key *last = cache->newest ? &cache->newest->key : NULL;
    if (!last || argument >= key->mark_count)
        return false;
    return argument >= last->mark_count || !same_argument(last, key, argument);
}

void tw__call_cache_each(const tw__call_cache *cache, void (*visit)(void *context, void *value), void *context)
{
    for (const entry *e = cache->newest; e; e = e->older)
        visit(context, e->value);
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
    tw__owned entry **entries = tw__alloc_array((size_t)cache->count + 1, sizeof *entries);
    TW_NEED(entries);
    int count = 0;
    for (entry *e = cache->newest; e; e = e->older)
        entries[count++] = e;
    qsort(entries, (size_t)count, sizeof *entries, by_number);
    for (int i = 0; i < count; i++)
        values[i] = entries[i]->value;
    return TW_OK;
}
