/* What ran while a trace was on, for TensorBoard: the steps of plans (exec/), ops that ran at once and parts that the program
 * named, written as the old profiler's file
 *
 *     DIRECTORY/plugins/profile/<time>/local.trace   Trace {1 devices {key, Device {1 name, 2 id, 3 resources {key, {1 name, 2
 * id}}}}, 4 event {1 device, 2 resource, 3 name, 9 start, 10 duration in picoseconds}}
 *
 * and beside it an event file without events, by which TensorBoard finds the directory. */
#include <time.h>

#include <thalweg/profile.h>

#include "codec/codec.h"
#include "exec/exec.h"
#include "rows.h"
#include "summary/summary.h"

enum { EVENTS_LIMIT = 1 << 20, THREADS_LIMIT = 64, DEVICE = 1 };

typedef struct event {
    char *name;
    int64_t start, duration;
    uint32_t thread;
} event;

static tw__lock lock = TW__LOCK;
static event *events;
static size_t event_count, event_capacity;
static uint32_t thread_count;
static bool running;

/* Takes the name. */
static void add_event(char *name, int64_t start, int64_t duration)
{
    static _Thread_local uint32_t own;
    tw__lock_take(&lock);
    if (!own)
        own = ++thread_count;
    if (name && running && event_count < EVENTS_LIMIT && TW_GROW(events, event_capacity, event_count + 1) == TW_OK) {
        events[event_count++] = (event){ name, start, duration, own };
        name = NULL;
    }
    tw__lock_give(&lock);
    tw__free(name);
}

static void note(void *user, const tw_step_event *step)
{
    (void)user;
    add_event(tw__format("%s:%s", step->name ? step->name : "", step->op ? step->op : ""), step->start, step->duration);
}

static void forget(void)
{
    for (size_t i = 0; i < event_count; i++)
        tw__free(events[i].name);
    tw__free(events);
    events = NULL;
    event_count = event_capacity = 0;
}

TW_API(summary_profile_begin, "summary._profile_begin()", "From now on the steps of functions are noted.")
{
    tw__lock_take(&lock);
    forget();
    running = true;
    tw__lock_give(&lock);
    tw_set_step_hook(note, NULL);
    tw__set_op_hook(note);
    return TW_OK;
}

TW_API(summary_profile_clock, "summary._profile_clock() -> int", "The time that profiles know, in nanoseconds.")
{
    return tw__step_clock();
}

TW_API(summary_profile_note, "summary._profile_note(name: str, start: int)",
       "A part of the program that began then and ends now.")
{
    char *name = tw__strdup(args->name);
    if (!name)
        return TW_RESOURCE_EXHAUSTED;
    add_event(name, args->start, tw__step_clock() - args->start);
    return TW_OK;
}

static void add_nested(tw__text *text, uint32_t number, tw__text *inner)
{
    tw__proto_add_bytes(text, number, inner->data ? inner->data : "", inner->size);
    text->failed |= inner->failed;
    tw__text_free(inner);
}

static void add_named(tw__text *text, uint32_t number, uint32_t key, const char *name, tw__text *more)
{
    tw__text entry = { 0 }, value = { 0 };
    tw__proto_add_bytes(&value, 1, name, strlen(name));
    tw__proto_add_varint(&value, 2, key);
    if (more) {
        tw__text_bytes(&value, more->data ? more->data : "", more->size);
        value.failed |= more->failed;
        tw__text_free(more);
    }
    tw__proto_add_varint(&entry, 1, key);
    add_nested(&entry, 2, &value);
    add_nested(text, number, &entry);
}

static void write_trace(tw__text *text)
{
    tw__text resources = { 0 };
    for (uint32_t i = 1; i <= thread_count && i <= THREADS_LIMIT; i++) {
        char name[40];
        snprintf(name, sizeof name, "thread %u", i);
        add_named(&resources, 3, i, name, NULL);
    }
    add_named(text, 1, DEVICE, "/host:CPU", &resources);
    int64_t first = event_count ? events[0].start : 0; /* what began first may have ended last */
    for (size_t i = 1; i < event_count; i++)
        first = events[i].start < first ? events[i].start : first;
    for (size_t i = 0; i < event_count; i++) {
        tw__text made = { 0 };
        tw__proto_add_varint(&made, 1, DEVICE);
        tw__proto_add_varint(&made, 2, events[i].thread);
        tw__proto_add_bytes(&made, 3, events[i].name, strlen(events[i].name));
        tw__proto_add_varint(&made, 9, (uint64_t)(events[i].start - first) * 1000);
        tw__proto_add_varint(&made, 10, (uint64_t)events[i].duration * 1000);
        add_nested(text, 4, &made);
    }
}

static tw_status write_file(const char *directory, const tw__text *trace)
{
    char when[40];
    time_t now = time(NULL);
    struct tm parts;
    localtime_r(&now, &parts);
    strftime(when, sizeof when, "%Y-%m-%d_%H-%M-%S", &parts);
    char *folder = tw__format("%s/plugins/profile/%s", directory, when),
         *path = folder ? tw__path_join(folder, "local.trace") : NULL;
    tw_status status = path ? tw__make_directories(folder) : TW_RESOURCE_EXHAUSTED;
    tw__file_writer *file = status == TW_OK ? tw__file_create(path) : NULL;
    if (status == TW_OK)
        status = file ? tw__file_write(file, trace->data, trace->size) : tw__error_status();
    if (status == TW_OK)
        status = tw__file_commit(file);
    else
        tw__file_abandon(file);
    tw__free(folder);
    tw__free(path);
    return status;
}

TW_API(summary_profile_end, "summary._profile_end(outdir: str = None)",
       "Ends the noting, and writes what was noted under a directory, if one is named.")
{
    tw_set_step_hook(NULL, NULL);
    tw__set_op_hook(NULL);
    tw__text trace = { 0 };
    tw__lock_take(&lock);
    running = false;
    if (args->outdir)
        write_trace(&trace);
    forget();
    tw__lock_give(&lock);
    tw_status status = trace.failed ? TW_RESOURCE_EXHAUSTED : args->outdir ? write_file(args->outdir, &trace) : TW_OK;
    tw__text_free(&trace);
    if (status != TW_OK || !args->outdir)
        return status;
    tw__event_writer *empty = tw__events_new(args->outdir, ".profile-empty", 10, 120);
    status = empty ? tw__events_start(empty) : tw__error_status();
    tw__events_free(empty);
    return status;
}

/* ---- tf.profiler ---- */

static char *profile_directory; /* of the profiler that runs; or NULL */

TW_API(profiler_start, "profiler.experimental.start(logdir: str, options: value = None)",
       "From now on the steps of functions are noted, for files under a directory.")
{
    tw__lock_take(&lock);
    bool busy = running;
    tw__lock_give(&lock);
    if (busy)
        return tw__fail(TW_ALREADY_EXISTS, "Another profiler is running.");
    tw__free(profile_directory);
    profile_directory = tw__strdup(args->logdir ? args->logdir : "");
    return profile_directory ? tw_summary_profile_begin() : tw__error_status();
}

TW_API(profiler_stop, "profiler.experimental.stop(save: bool = True)", "Ends the profiler, and writes what it noted.")
{
    char *directory = profile_directory;
    profile_directory = NULL;
    if (!directory)
        return tw__fail(TW_UNAVAILABLE, "Cannot export profiling results. No profiler is running.");
    tw_status status = tw_summary_profile_end(.outdir = !args->save ? NULL : directory);
    tw__free(directory);
    return status;
}
