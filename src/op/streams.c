/* States of kernels that belong to an iteration through a dataset; see streams.h. */
#include "op/streams.h"

struct tw__stream {
    const void *node;
    const tw_op *op;
    void *state;
};

_Thread_local tw__streams *tw__streams_now;

void **tw__stream_of(tw__streams *streams, const tw_op *op, const void *node)
{
    size_t i = 0;
    while (i < streams->count && streams->items[i].node != node)
        i++;
    if (i == streams->count) {
        if (TW_GROW(streams->items, streams->capacity, i + 1) != TW_OK)
            return NULL;
        streams->items[streams->count++] = (struct tw__stream){ .node = node, .op = op };
    }
    return &streams->items[i].state;
}

static void destroy(void *self)
{
    tw__streams *streams = self;
    for (size_t i = 0; i < streams->count; i++) {
        if (streams->items[i].state)
            streams->items[i].op->free_state(streams->items[i].state);
    }
    tw__free(streams->items);
}

static const tw_class streams_class = { .name = "Streams", .size = sizeof(tw__streams), .destroy = destroy };

tw__streams *tw__streams_new(void)
{
    return tw__object_new(&streams_class);
}
