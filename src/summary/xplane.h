/* What ran while a profile was on, and the file that tells TensorBoard of it. */
#ifndef TW_XPLANE_H
#define TW_XPLANE_H

#include "base/base.h"

/* Something that ran in a thread; an op is called "node:Op". A name may end in "#key=value,...#": what is known besides. */
typedef struct tw__ran {
    char *name;
    int64_t start, duration; /* in nanoseconds */
    uint32_t thread;
} tw__ran;

/* How much memory the process had. */
typedef struct tw__memory_sample {
    int64_t time, bytes;
} tw__memory_sample;

typedef struct tw__profile {
    tw__ran *events;
    size_t event_count, event_capacity;
    tw__memory_sample *samples;
    size_t sample_count, sample_capacity;
    int64_t start; /* when it began */
} tw__profile;

/* Appends an XSpace of one host. Puts the events in order. */
tw_status tw__xspace_write(tw__text *text, tw__profile *profile, const char *host);

#endif
