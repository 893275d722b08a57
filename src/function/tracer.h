/* The traces of one function, C's or an embedding language's: which trace serves a call, when a new one is made, what its body
 * may do about variables, and when there are too many of them. */
#ifndef TW_TRACER_H
#define TW_TRACER_H

#include "function/cache.h"

typedef struct tw__tracer {
    char *name;            /* in messages */
    char **argument_names; /* likewise; NULL: they are numbered */
    int argument_count;
    tw__call_cache *cache;
    void *(*retain)(void *value);
    void (*drop)(void *value);
    const void *code; /* what calls and traces are counted by, for warnings: functions of one code share the count */
    void (*code_held)(const void *code, bool held); /* told when the count begins and ceases to hold the code; or NULL */
    bool widens; /* a second shape makes a trace for both: dimensions that differ are unknown in it */
    bool was_traced;
    const void *spare; /* traced again without variables at the first call, and not called since; not counted as long */
    _Atomic int64_t traces, calls;
    _Atomic uint32_t lock; /* tw__hold_take: of the cache */
} tw__tracer;

/* Values in the cache are references that `retain` and `drop` count. Names are copied; argument_names may be NULL. */
tw_status tw__tracer_start(tw__tracer *tracer, const char *name, const char *const *argument_names, int argument_count,
                           const void *code, void *(*retain)(void *value), void (*drop)(void *value));
void tw__tracer_end(tw__tracer *tracer);
/* The value for such a call, a new reference; NULL, without an error: it has to be traced. */
void *tw__tracer_find(tw__tracer *tracer, const tw__call_key *key);
/* Makes a value, between tw__tracing_begin and tw__tracing_end: `make` gets the shapes to trace for, as many as the key has
 * specs, gives a reference or NULL, and says if the value is good for this one call only. It runs twice if it made variables: the
 * first function that is traced may make them, what is kept must not. `called`: the value serves a call, and is called next. If
 * variables that were made wait for it (their first values depend on arguments) that first value is the one, while the second is
 * kept. */
typedef void *(*tw__trace_maker)(void *context, const tw_shape *shapes, bool *once);
/* `called`: for a call. Traces that are asked for by themselves (get_concrete_function) are not retracing: no warning counts
 * them. */
void *tw__tracer_trace(tw__tracer *tracer, const tw__call_key *key, bool called, tw__trace_maker make, void *context);
/* An object that calls were told apart by has ended. */
void tw__tracer_forget(tw__tracer *tracer, const void *identity);
/* How many traces there were. Of the two at a first call that makes variables, TensorFlow makes the second at the second call,
 * unless they wait for their values: likewise here. */
int64_t tw__tracer_count(const tw__tracer *tracer);

/* Traces are made one at a time, in the whole process: bodies may call each other. A thread that traces may begin again. */
bool tw__tracing_try(void); /* false: another thread traces */
void tw__tracing_begin(void);
void tw__tracing_end(void);
void tw__tracing_hand(pthread_t to); /* tw__deep_hand of this lock and of that of graphs */

#endif
