/* What kernels keep from run to run: random streams. They belong to a plan that a program runs, or to an iteration through a
 * dataset, which begins anew with each iteration. A node has one for each way from there to it: a function that is called twice
 * has two. */
#ifndef TW_STREAMS_H
#define TW_STREAMS_H

#include "op/op.h"

typedef struct tw__stream_set {
    tw_object object;
    struct tw__stream *items;
    size_t count, capacity;
    _Atomic uint32_t lock; /* tw__hold_take: while a kernel uses one of them */
    bool of_iteration;     /* through a dataset: datasets below it use them, too */
} tw__stream_set;

tw__stream_set *tw__streams_new(void);

/* The state of the kernel at the end of that path; empty at first. NULL: an error. The lock is held. */
void **tw__stream_of(tw__stream_set *streams, const tw_op *op, uint64_t path);

/* Those of what this thread runs, and the way to the step that runs. NULL: it runs none. Who sets them puts back what was there.
 */
extern _Thread_local tw__stream_set *tw__streams_now;
extern _Thread_local uint64_t tw__streams_path;

#endif
