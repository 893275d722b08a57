/* tf.summary: writers as resources, the thread's default writer, step and condition. */
#ifndef TW_SUMMARY_H
#define TW_SUMMARY_H

#include "format/record/events.h"
#include "op/op.h"
#include "spec/spec.h"

/* What the ops see as a scalar resource. */
typedef struct tw__summary_resource {
    tw_object object;
    tw__event_writer *events; /* NULL: no file was created for it */
    bool closed;
} tw__summary_resource;
extern const tw_class tw__summary_resource_class;
/* Makes the directory and the file with its first event, unless it has one. flush_millis and max_queue as given. */
tw_status tw__summary_create(tw__summary_resource *resource, const char *directory, int64_t max_queue, int64_t flush_millis,
                             const char *suffix);

/* What is recorded: a tag, a tensor that `prepare` makes of the data (a new reference) when it is to be written, and metadata. */
typedef struct tw__summary_job {
    const char *name;
    tw_tensor *data, *step, *extra;
    tw_tensor *(*prepare)(const struct tw__summary_job *job); /* NULL: the data as they are */
    int64_t number;                                           /* max_outputs, buckets */
    const char *plugin, *description;
    tw_string content;  /* for the plugin */
    tw_string metadata; /* a whole SummaryMetadata, if there is no plugin */
    bool whole_tag;     /* the name is the tag: no scope in front of it */
    char *tag;          /* while it is recorded: what the summary is called */
    const tw_op *op;    /* WriteSummary, or another of (writer, step, tensor) */
} tw__summary_job;
/* A scalar bool: whether it was written. NULL on failure. */
tw_tensor *tw__summary_record(tw__summary_job *job);

#endif
