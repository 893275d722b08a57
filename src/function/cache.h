/* Calls of one function, told apart: which calls share a trace, and how many traces are kept.
 *
 * A key is a flat list of parts (key.c writes it): what is the same in calls that share a trace. A tensor is a part by its dtype
 * and shape, a number or text by its value, an object by its identity, a variable by its dtype, shape and which other variables
 * of the call are the same one; a structure is a part that says how many members follow. Shapes stand apart from the rest,
 * because a trace may serve several. */
#ifndef TW_CACHE_H
#define TW_CACHE_H

#include "tensor/tensor.h"

typedef struct tw__call_spec {
    tw_dtype dtype;
    const tw_shape *shape;
} tw__call_spec;

/* Where the parts of an argument begin. */
typedef struct tw__call_mark {
    uint32_t fixed, spec;
} tw__call_mark;

typedef struct tw__call_key {
    const unsigned char *fixed; /* the parts, but for the tensors' dtypes and shapes */
    size_t fixed_size;
    const tw__call_spec *specs; /* those */
    int spec_count;
    const void *const *identities; /* the objects that are told by identity */
    int identity_count;
    const tw__call_mark *marks; /* per argument; may be none */
    int mark_count;
} tw__call_key;

/* Traces by key; the least recently used goes when there are more than `limit`. A cache does not lock, and it drops nothing
 * itself: what goes is given to the caller. */
typedef struct tw__call_cache tw__call_cache;
tw__call_cache *tw__call_cache_new(int limit);
void tw__call_cache_free(tw__call_cache *cache, void (*drop)(void *value));
/* The value for such a call, borrowed: of the same key, or of one whose specs leave open what the call's say. NULL if there is
 * none. */
void *tw__call_cache_find(tw__call_cache *cache, const tw__call_key *key);
/* Takes the value. *evicted is what had to go (the value itself after a failure), or NULL. */
tw_status tw__call_cache_put(tw__call_cache *cache, const tw__call_key *key, void *value, void **evicted);
/* An object ends: removes one of the entries that know it, and gives its value; NULL when none is left. */
void *tw__call_cache_forget(tw__call_cache *cache, const void *identity);
/* Makes `shapes` (those of the key to begin with) so wide that they serve the cache's keys that are otherwise the same as well.
 */
void tw__call_cache_widen(const tw__call_cache *cache, const tw__call_key *key, tw_shape *shapes);
/* Whether this argument is not what it was in the call before. */
bool tw__call_cache_changed(const tw__call_cache *cache, const tw__call_key *key, int argument);
void tw__call_cache_each(const tw__call_cache *cache, void (*visit)(void *context, void *value), void *context);
int tw__call_cache_count(const tw__call_cache *cache);
/* The values, borrowed, in the order in which they were put; `values` has room for all. */
tw_status tw__call_cache_list(const tw__call_cache *cache, void **values);

/* ---- writing keys (key.c) ---- */
/* Begin with tw__key_begin, end with tw__key_free; the key is good as long as `status` is TW_OK and until the next part. Room for
 * usual calls is in the writer itself. Shapes that are told are borrowed. */
typedef struct tw__key_writer {
    unsigned char *bytes;
    tw__call_spec *specs;
    const void **identities, **variables;
    tw__call_mark *marks;
    size_t size, capacity, specs_capacity, identities_capacity, variables_capacity, marks_capacity;
    int spec_count, identity_count, variable_count, mark_count;
    tw_status status;
    unsigned char few_bytes[192];
    tw__call_spec few_specs[16];
    const void *few_identities[4], *few_variables[4];
    tw__call_mark few_marks[16];
} tw__key_writer;
void tw__key_begin(tw__key_writer *writer);
void tw__key_free(tw__key_writer *writer);
tw__call_key tw__key_of(const tw__key_writer *writer);
void tw__key_argument(tw__key_writer *writer); /* the next one begins */
void tw__key_tensor(tw__key_writer *writer, tw_dtype dtype, const tw_shape *shape);
void tw__key_none(tw__key_writer *writer);
/* Numbers are equal as Python's are: 1, 1.0 and True are one. Every NaN is equal to every other. */
void tw__key_int(tw__key_writer *writer, int64_t value);
void tw__key_float(tw__key_writer *writer, double value);
void tw__key_complex(tw__key_writer *writer, double real, double imaginary);
void tw__key_text(tw__key_writer *writer, char kind, const void *data,
                  size_t size); /* `kind` is a letter that tells kinds of texts apart */
/* An object by its identity; tw__call_cache_forget when it ends. */
void tw__key_object(tw__key_writer *writer, const void *object);
/* A structure whose members follow; `type` stands for its kind and must live as long as the trace. */
void tw__key_open(tw__key_writer *writer, const void *type, int64_t count);
/* A variable, told by `identity`. Gives its number among the call's: the one after the last if it was not there yet. */
int tw__key_variable(tw__key_writer *writer, const void *identity, tw_dtype dtype, const tw_shape *shape, bool trainable);

#endif
