/* compat.v1.summary.FileWriter: an event file that a program adds events to. What Python makes of messages and graphs comes here
 * as bytes. */
#include "format/record/events.h"
#include "rows.h"

struct tw_v1_file_writer {
    tw_object object;
    tw__event_writer *events;
    char *directory;
    bool closed;
};

static void writer_destroy(void *self)
{
    tw_v1_file_writer *writer = self;
    tw__events_free(writer->events);
    tw__free(writer->directory);
}

static tw_status writer_init(void *self, const void *given)
{
    const tw_v1_file_writer_args *args = given;
    tw_v1_file_writer *writer = self;
    writer->directory = tw__strdup(args->logdir);
    writer->events =
        writer->directory ? tw__events_new(args->logdir, args->filename_suffix, args->max_queue, args->flush_secs) : NULL;
    return writer->events ? TW_OK : tw__error_status();
}

TW_CLASS(
    v1_file_writer,
    "compat.v1.summary._FileWriter(logdir: str, max_queue: int > 0 = 10, flush_secs: float = 120, filename_suffix: str = None)",
    .size = sizeof(tw_v1_file_writer), .init = writer_init, .destroy = writer_destroy, .drop_config = true,
    .doc = "Writes events for TensorBoard into a file of a directory.");

static tw_status add(tw_v1_file_writer *writer, int64_t step, uint32_t what, const tw_value *data)
{
    if (data->kind != TW_VALUE_BYTES)
        return tw__fail(TW_TYPE_ERROR, "FileWriter: a serialized message (bytes) was expected");
    if (writer->closed)
        return TW_OK;
    if (!what)
        return tw__events_add(writer->events, data->s.data, data->s.size);
    return tw__events_add_what(writer->events, step == TW_NO_INT ? 0 : step, what, data->s.data, data->s.size);
}

TW_METHOD(v1_file_writer_add_event, "compat.v1.summary._FileWriter._add_event(self: v1_file_writer, event: value)",
          "Adds a serialized Event.")
{
    return add(args->self, 0, 0, &args->event);
}

TW_METHOD(v1_file_writer_add_summary,
          "compat.v1.summary._FileWriter._add_summary(self: v1_file_writer, summary: value, global_step: int = None)",
          "Adds a serialized Summary.")
{
    return add(args->self, args->global_step, TW_EVENT_SUMMARY, &args->summary);
}

TW_METHOD(v1_file_writer_add_graph_def,
          "compat.v1.summary._FileWriter._add_graph_def(self: v1_file_writer, graph_def: value, global_step: int = None)",
          "Adds a serialized GraphDef.")
{
    return add(args->self, args->global_step, TW_EVENT_GRAPH_DEF, &args->graph_def);
}

TW_METHOD(v1_file_writer_add_meta_graph,
          "compat.v1.summary._FileWriter._add_meta_graph(self: v1_file_writer, meta_graph_def: value, global_step: int = None)",
          "Adds a serialized MetaGraphDef.")
{
    return add(args->self, args->global_step, TW_EVENT_META_GRAPH, &args->meta_graph_def);
}

TW_METHOD(v1_file_writer_add_session_log,
          "compat.v1.summary._FileWriter._add_session_log(self: v1_file_writer, session_log: value, global_step: int = None)",
          "Adds a serialized SessionLog.")
{
    return add(args->self, args->global_step, TW_EVENT_SESSION_LOG, &args->session_log);
}

TW_METHOD(
    v1_file_writer_add_run_metadata,
    "compat.v1.summary._FileWriter._add_run_metadata(self: v1_file_writer, tagged_run_metadata: value, global_step: int = None)",
    "Adds a serialized TaggedRunMetadata.")
{
    return add(args->self, args->global_step, TW_EVENT_RUN_METADATA, &args->tagged_run_metadata);
}

TW_METHOD(v1_file_writer_flush, "compat.v1.summary._FileWriter.flush(self: v1_file_writer)", "Writes what waits.")
{
    return tw__events_flush(args->self->events);
}

TW_METHOD(v1_file_writer_close, "compat.v1.summary._FileWriter.close(self: v1_file_writer)",
          "Writes what waits and closes the file.")
{
    args->self->closed = true;
    return tw__events_close(args->self->events);
}

TW_METHOD(v1_file_writer_reopen, "compat.v1.summary._FileWriter.reopen(self: v1_file_writer)",
          "Goes on in a new file after close().")
{
    args->self->closed = false;
    return TW_OK;
}

TW_PROPERTY(v1_file_writer_closed, "compat.v1.summary._FileWriter._closed(self: v1_file_writer) -> bool",
            "Whether close() was called.")
{
    return args->self->closed;
}

TW_METHOD(v1_file_writer_get_logdir, "compat.v1.summary._FileWriter.get_logdir(self: v1_file_writer) -> str", "The directory.")
{
    return tw__strdup(args->self->directory);
}
