/* What ran while a trace was on, for TensorBoard: the steps of plans (exec/), ops that ran at once and parts that the program
 * named, written as the old profiler's file
 *
 *     DIRECTORY/plugins/profile/<time>/local.trace   a Trace
 *
 * and beside it an event file without events, by which TensorBoard finds the directory. */
#include <time.h>

#include <thalweg/profile.h>

#include "codec/message.h"
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

static void write_trace(tw__text *text)
{
    static const char host[] = "/host:CPU";
    size_t devices = tw__open_Trace_devices(text);
    tw__put_Trace_devices_key(text, DEVICE);
    size_t device = tw__open_Trace_devices_value(text);
    tw__put_Trace_Device_name(text, host, sizeof host - 1);
    tw__put_Trace_Device_device_id(text, DEVICE);
    for (uint32_t i = 1; i <= thread_count && i <= THREADS_LIMIT; i++) {
        char name[40];
        int size = snprintf(name, sizeof name, "thread %u", i);
        size_t entry = tw__open_Trace_Device_resources(text);
        tw__put_Trace_Device_resources_key(text, i);
        size_t resource = tw__open_Trace_Device_resources_value(text);
        tw__put_Trace_Resource_name(text, name, (size_t)size);
        tw__put_Trace_Resource_resource_id(text, i);
        tw__close(text, resource);
        tw__close(text, entry);
    }
    tw__close(text, device);
    tw__close(text, devices);
    int64_t first = event_count ? events[0].start : 0; /* what began first may have ended last */
    for (size_t i = 1; i < event_count; i++)
        first = events[i].start < first ? events[i].start : first;
    for (size_t i = 0; i < event_count; i++) {
        size_t start = tw__open_Trace_trace_events(text);
        tw__put_Trace_TraceEvent_device_id(text, DEVICE);
        tw__put_Trace_TraceEvent_resource_id(text, events[i].thread);
        tw__put_Trace_TraceEvent_name(text, events[i].name, strlen(events[i].name));
        tw__put_Trace_TraceEvent_timestamp_ps(text, (events[i].start - first) * 1000);
        tw__put_Trace_TraceEvent_duration_ps(text, events[i].duration * 1000);
        tw__close(text, start);
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
       "From now on the steps of functions are noted, for files under a directory.\n"
       "logdir: the folder of the files")
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

TW_API(profiler_stop, "profiler.experimental.stop(save: bool = True)",
       "Ends the profiler, and writes what it noted.\n"
       "save: False: drop what was noted")
{
    tw__owned char *directory = profile_directory;
    profile_directory = NULL;
    if (!directory)
        return tw__fail(TW_UNAVAILABLE, "Cannot export profiling results. No profiler is running.");
    tw_status status = tw_summary_profile_end(.outdir = !args->save ? NULL : directory);
    return status;
}
