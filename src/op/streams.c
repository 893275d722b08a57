/* Random streams of kernels; see streams.h. */
#include "op/streams.h"

struct tw__stream {
    uint64_t path;
    const tw_op *op;
    void *state;
};

_Thread_local tw__stream_set *tw__streams_now;
_Thread_local uint64_t tw__streams_path;

void **tw__stream_of(tw__stream_set *streams, const tw_op *op, uint64_t path)
{
    size_t i = 0;
    while (i < streams->count && (streams->items[i].path != path || streams->items[i].op != op))
        i++;
    if (i == streams->count) {
        if (TW_GROW(streams->items, streams->capacity, i + 1) != TW_OK)
            return NULL;
        streams->items[streams->count++] = (struct tw__stream){ .path = path, .op = op };
    }
    return &streams->items[i].state;
}

static void destroy(void *self)
{
    tw__stream_set *streams = self;
    for (size_t i = 0; i < streams->count; i++) {
        if (streams->items[i].state)
            streams->items[i].op->free_state(streams->items[i].state);
    }
    tw__free(streams->items);
}

static const tw_class streams_class = { .name = "Streams", .size = sizeof(tw__stream_set), .destroy = destroy };

tw__stream_set *tw__streams_new(void)
{
    return tw__object_new(&streams_class);
}
