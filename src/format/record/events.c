/* Event files, as TensorBoard reads them: records (record.c), each an Event.
 *
 *     Event  1 wall_time double, 2 step, and one of: 3 file_version, 4 graph_def, 5 summary, 6 log_message, 7 session_log,
 *            8 tagged_run_metadata, 9 meta_graph_def; 10 source_metadata {1 writer}
 *
 * The file is DIRECTORY/events.out.tfevents.<seconds>.<host name><suffix>, made with the first event, whose head is an Event with
 * the file's version. A name that is taken is not written over: the seconds are counted up. Events wait in memory until there are
 * `max_queue` of them or `flush_seconds` have passed when one is added, until a flush, or until the process exits. */
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "codec/message.h"
#include "format/record/events.h"

enum { NAME_ATTEMPTS = 1000 };

struct tw__event_writer {
    char *directory, *suffix;
    tw__record_writer *records; /* NULL: the file is not made yet */
    int64_t max_queue, queued;
    double flush_seconds, flush_time; /* when the next flush is due */
    uint32_t generation;              /* of the process that the waiting events belong to */
    tw__event_writer *next, *previous;
};

static tw__lock lock = TW__LOCK; /* of every writer: events are few, and a forked child must find it free */
static tw__event_writer *all;    /* writers, for the end of the process */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A forked child has its parent's waiting events, which the parent will write. */
static void part_from_parent(tw__event_writer *writer)
{
    uint32_t generation = atomic_load(&tw__process_generation);
    if (writer->generation == generation)
        return;
    writer->generation = generation;
    tw__record_abandon(writer->records);
    writer->records = NULL;
    writer->queued = 0;
}

static void flush_all(void)
{
    tw__lock_take(&lock);
    for (tw__event_writer *writer = all; writer; writer = writer->next) {
        part_from_parent(writer);
        if (writer->records)
            (void)tw__record_flush(writer->records);
    }
    tw__lock_give(&lock);
}

static void enlist(tw__event_writer *writer)
{
    static bool registered;
    tw__lock_prepare();
    tw__lock_take(&lock);
    if (!registered)
        registered = atexit(flush_all) == 0;
    writer->next = all;
    if (all)
        all->previous = writer;
    all = writer;
    tw__lock_give(&lock);
}

static void delist(tw__event_writer *writer)
{
    tw__lock_take(&lock);
    if (writer->previous)
        writer->previous->next = writer->next;
    else if (all == writer)
        all = writer->next;
    if (writer->next)
        writer->next->previous = writer->previous;
    tw__lock_give(&lock);
}

tw__event_writer *tw__events_new(const char *directory, const char *suffix, int64_t max_queue, double flush_seconds)
{
    tw__event_writer *writer = tw__alloc_zero(sizeof *writer);
    if (!writer)
        return NULL;
    writer->directory = tw__strdup(directory);
    writer->suffix = tw__strdup(suffix ? suffix : "");
    if (!writer->directory || !writer->suffix || tw__make_directories(directory) != TW_OK) {
        tw__free(writer->directory);
        tw__free(writer->suffix);
        tw__free(writer);
        return NULL;
    }
    writer->max_queue = max_queue;
    writer->flush_seconds = flush_seconds;
    writer->flush_time = now() + flush_seconds;
    enlist(writer);
    writer->generation = atomic_load(&tw__process_generation);
    return writer;
}

/* ---- events ---- */

void tw__event_write(tw__text *text, double wall_time, int64_t step, uint32_t what, const void *data, size_t size)
{
    tw__put_Event_wall_time(text, isnan(wall_time) ? now() : wall_time);
    if (step)
        tw__put_Event_step(text, step);
    if (what)
        tw__proto_add_bytes(text, what, data, size);
}

static tw_status add_version(tw__record_writer *records, int64_t seconds)
{
    static const char version[] = "brain.Event:2", origin[] = "tensorflow.core.util.events_writer";
    tw__auto(tw__text_free) tw__text event = { 0 };
    tw__event_write(&event, (double)seconds, 0, TW_EVENT_FILE_VERSION, version, sizeof version - 1);
    size_t metadata = tw__open_Event_source_metadata(&event);
    tw__put_SourceMetadata_writer(&event, origin, sizeof origin - 1);
    tw__close(&event, metadata);
    tw_status status = event.failed ? TW_RESOURCE_EXHAUSTED : tw__record_add(records, event.data, event.size);
    return status;
}

static tw_status open_file(tw__event_writer *writer)
{
    char host[256] = "";
    int64_t seconds = (int64_t)now();
    if (gethostname(host, sizeof host - 1) != 0 || !*host)
        strcpy(host, "localhost");
    for (int attempt = 0; !writer->records; attempt++) {
        char *name = tw__format("events.out.tfevents.%010lld.%s%s", (long long)seconds + attempt, host, writer->suffix);
        char *path = name ? tw__path_join(writer->directory, name) : NULL;
        tw__record_writer *records = path ? tw__record_create(path, true) : NULL;
        tw__free(name);
        tw__free(path);
        if (!records) {
            if (tw_error_code() != TW_ALREADY_EXISTS || attempt == NAME_ATTEMPTS)
                return tw__error_status();
            tw_clear_error();
            continue;
        }
        if (add_version(records, seconds) != TW_OK) {
            tw__record_abandon(records);
            return tw__error_status();
        }
        writer->records = records;
    }
    return TW_OK;
}

static tw_status flush(tw__event_writer *writer)
{
    writer->flush_time = now() + writer->flush_seconds;
    writer->queued = 0;
    return writer->records ? tw__record_flush(writer->records) : TW_OK;
}

tw_status tw__events_start(tw__event_writer *writer)
{
    tw__lock_take(&lock);
    part_from_parent(writer);
    tw_status status = writer->records ? TW_OK : open_file(writer);
    if (status == TW_OK)
        status = flush(writer);
    tw__lock_give(&lock);
    return status;
}

tw_status tw__events_add(tw__event_writer *writer, const void *event, size_t size)
{
    tw__lock_take(&lock);
    part_from_parent(writer);
    tw_status status = writer->records ? TW_OK : open_file(writer);
    if (status == TW_OK)
        status = tw__record_add(writer->records, event, size);
    if (status == TW_OK && (++writer->queued >= writer->max_queue || now() >= writer->flush_time))
        status = flush(writer);
    tw__lock_give(&lock);
    return status;
}

tw_status tw__events_add_what(tw__event_writer *writer, int64_t step, uint32_t what, const void *data, size_t size)
{
    tw__auto(tw__text_free) tw__text event = { 0 };
    tw__event_write(&event, NAN, step, what, data, size);
    tw_status status = event.failed ? TW_RESOURCE_EXHAUSTED : tw__events_add(writer, event.data, event.size);
    return status;
}

tw_status tw__events_flush(tw__event_writer *writer)
{
    tw__lock_take(&lock);
    part_from_parent(writer);
    tw_status status = flush(writer);
    tw__lock_give(&lock);
    return status;
}

tw_status tw__events_close(tw__event_writer *writer)
{
    tw__lock_take(&lock);
    part_from_parent(writer);
    tw_status status = writer->records ? tw__record_finish(writer->records) : TW_OK;
    writer->records = NULL;
    writer->queued = 0;
    tw__lock_give(&lock);
    return status;
}

void tw__events_free(tw__event_writer *writer)
{
    if (!writer)
        return;
    delist(writer);
    (void)tw__events_close(writer);
    tw__free(writer->directory);
    tw__free(writer->suffix);
    tw__free(writer);
}
