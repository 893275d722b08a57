/* Event files: what TensorBoard shows. See events.c for the format. */
#ifndef TW_EVENTS_H
#define TW_EVENTS_H

#include "format/format.h"

/* What an Event is about: the number of its field. */
enum {
    TW_EVENT_FILE_VERSION = 3,
    TW_EVENT_GRAPH_DEF = 4,
    TW_EVENT_SUMMARY = 5,
    TW_EVENT_LOG_MESSAGE = 6,
    TW_EVENT_SESSION_LOG = 7,
    TW_EVENT_RUN_METADATA = 8,
    TW_EVENT_META_GRAPH = 9,
};

/* Several threads may use one writer. The directory is made at once, the file with the first event or by tw__events_start. */
typedef struct tw__event_writer tw__event_writer;
tw__event_writer *tw__events_new(const char *directory, const char *suffix, int64_t max_queue, double flush_seconds);
tw_status tw__events_start(tw__event_writer *writer);
tw_status tw__events_add(tw__event_writer *writer, const void *event, size_t size); /* a serialized Event */
tw_status tw__events_add_what(tw__event_writer *writer, int64_t step, uint32_t what, const void *data,
                              size_t size); /* of this moment */
tw_status tw__events_flush(tw__event_writer *writer);
tw_status tw__events_close(tw__event_writer *writer); /* the file; another event begins another one */
void tw__events_free(tw__event_writer *writer);       /* NULL is fine */

/* Appends an Event. wall_time NaN: now; what 0: nothing but time and step. */
void tw__event_write(tw__text *text, double wall_time, int64_t step, uint32_t what, const void *data, size_t size);

#endif
