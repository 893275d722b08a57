/* What kernels keep from run to run (random streams), where it is not the plan's own: each iteration through a dataset begins the
 * streams of the functions that its steps call anew, as TensorFlow does. */
#ifndef TW_STREAMS_H
#define TW_STREAMS_H

#include "op/op.h"

typedef struct tw__streams {
    tw_object object;
    struct tw__stream *items;
    size_t count, capacity;
    _Atomic uint32_t lock; /* tw__hold_take: while a kernel uses one of them */
} tw__streams;

tw__streams *tw__streams_new(void);

/* The state of the kernel of a node; empty at first. NULL: an error. The lock is held. */
void **tw__stream_of(tw__streams *streams, const tw_op *op, const void *node);

/* What plans use that this thread runs; NULL: their own. Who sets it puts back what was there. */
extern _Thread_local tw__streams *tw__streams_now;

#endif
