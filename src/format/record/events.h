/* Event files: what TensorBoard shows. See events.c for the format. */
#ifndef TW_EVENTS_H
#define TW_EVENTS_H

#include "codec/message.h"
#include "format/format.h"

/* What an Event is about: the number of its field. */
enum {
    TW_EVENT_FILE_VERSION = TW_Event_file_version,
    TW_EVENT_GRAPH_DEF = TW_Event_graph_def,
    TW_EVENT_SUMMARY = TW_Event_summary,
    TW_EVENT_LOG_MESSAGE = TW_Event_log_message,
    TW_EVENT_SESSION_LOG = TW_Event_session_log,
    TW_EVENT_RUN_METADATA = TW_Event_tagged_run_metadata,
    TW_EVENT_META_GRAPH = TW_Event_meta_graph_def,
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
