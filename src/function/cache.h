/* Calls of one function, told apart: which calls share a trace, how many traces are kept, and when there are too many of them. */
#ifndef TW_CACHE_H
#define TW_CACHE_H

#include <thalweg/function.h>

#include "tensor/tensor.h"

/* What is the same in calls that share a trace: the tensors' specs and `fixed`, bytes for everything else (an embedding
 * language's structures and plain values). */
typedef struct tw__call_key {
    const void *fixed;
    size_t fixed_size;
    const tw_spec *specs;
    int spec_count;
} tw__call_key;

/* Traces by key; the least recently used goes when there are more than `limit`. Values are taken, and given to `drop` in the end. A cache does
 * not lock. */
typedef struct tw__call_cache tw__call_cache;
tw__call_cache *tw__call_cache_new(int limit, void (*drop)(void *value));
void tw__call_cache_free(tw__call_cache *cache);
/* The value for such a call, borrowed: of the same key, or of one whose specs leave open what the call's say. NULL if there is none. */
void *tw__call_cache_find(tw__call_cache *cache, const tw__call_key *key);
/* Takes the value, also when it fails. */
tw_status tw__call_cache_put(tw__call_cache *cache, const tw__call_key *key, void *value);
/* Makes `specs` (those of the key to begin with) so wide that they serve the cache's keys of the same `fixed` and dtypes as well. */
void tw__call_cache_widen(const tw__call_cache *cache, const tw__call_key *key, tw_spec *specs);
int tw__call_cache_count(const tw__call_cache *cache);
/* The values, borrowed, in the order in which they were put; `values` has room for all. */
tw_status tw__call_cache_list(const tw__call_cache *cache, void **values);

/* Calls and traces of one piece of code. A trace among few calls is worth a warning, which comes at most twice. */
typedef struct tw__retraces {
    int64_t calls, since[16]; /* calls since each of the last traces, that trace's own among them */
    int count, warnings;
} tw__retraces;
void tw__retraces_called(tw__retraces *retraces, int64_t count);
/* A call that traced. True: `*traces` of the last `*calls` calls did, and it's time to say so. */
bool tw__retraces_traced(tw__retraces *retraces, int *traces, int64_t *calls);

#endif
