/* What runs while a profile is on: the steps of plans (exec/), ops that ran at once, iterators, parts that the program named, and
 * how much memory the process has; written for TensorBoard as
 *
 *     DIRECTORY/plugins/profile/<time>/<host>.xplane.pb */
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <thalweg/profile.h>

#include "exec/exec.h"
#include "rows.h"
#include "summary/summary.h"
#include "summary/xplane.h"

enum { EVENTS_LIMIT = 1 << 20, SAMPLES_LIMIT = 1 << 16, SAMPLE_EVERY = 1000000 /* nanoseconds */ };

static tw__lock lock = TW__LOCK;
static tw__profile noted;
static uint32_t thread_count;
static bool running;

/* The bytes of the process that are in memory; 0: unknown. */
static int64_t resident_bytes(void)
{
    char text[100];
    long long all, resident = 0;
    int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t size = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    if (file >= 0)
        close(file);
    text[size > 0 ? size : 0] = 0;
    return sscanf(text, "%lld %lld", &all, &resident) == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

static void add_sample(int64_t time)
{
    const tw__memory_sample *last = noted.sample_count ? &noted.samples[noted.sample_count - 1] : NULL;
    if ((last && time - last->time < SAMPLE_EVERY) || noted.sample_count == SAMPLES_LIMIT ||
        TW_GROW(noted.samples, noted.sample_capacity, noted.sample_count + 1) != TW_OK)
        return;
    int64_t bytes = resident_bytes();
    if (bytes)
        noted.samples[noted.sample_count++] = (tw__memory_sample){ time, bytes };
}

/* Takes the name. */
static void add_event(char *name, int64_t start, int64_t duration)
{
    static _Thread_local uint32_t own;
    tw__lock_take(&lock);
    if (!own)
        own = ++thread_count;
    if (name && running && start >= noted.start && noted.event_count < EVENTS_LIMIT &&
        TW_GROW(noted.events, noted.event_capacity, noted.event_count + 1) == TW_OK) {
        noted.events[noted.event_count++] = (tw__ran){ name, start, duration, own };
        name = NULL;
        add_sample(start + duration);
    }
    tw__lock_give(&lock);
    tw__free(name);
}

static void note(void *user, const tw_step_event *step)
{
    (void)user;
    const char *name = step->name ? step->name : "";
    add_event(step->op ? tw__format("%s:%s", name, step->op) : tw__strdup(name), step->start, step->duration);
}

static void forget(void)
{
    for (size_t i = 0; i < noted.event_count; i++)
        tw__free(noted.events[i].name);
    tw__free(noted.events);
    tw__free(noted.samples);
    noted = (tw__profile){ 0 };
}

TW_API(summary_profile_begin, "summary._profile_begin()", "From now on the steps of functions are noted.")
{
    tw__lock_take(&lock);
    forget();
    running = true;
    noted.start = tw__step_clock();
    add_sample(noted.start);
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

static tw_status write_file(const char *directory, const char *host, const tw__text *text)
{
    char when[40];
    time_t now = time(NULL);
    struct tm parts;
    localtime_r(&now, &parts);
    strftime(when, sizeof when, "%Y_%m_%d_%H_%M_%S", &parts);
    tw__owned char *folder = tw__format("%s/plugins/profile/%s", directory, when), *name = tw__format("%s.xplane.pb", host),
                   *path = folder && name ? tw__path_join(folder, name) : NULL;
    tw_status status = path ? tw__make_directories(folder) : TW_RESOURCE_EXHAUSTED;
    tw__file_writer *file = status == TW_OK ? tw__file_create(path) : NULL;
    if (status == TW_OK)
        status = file ? tw__file_write(file, text->data, text->size) : tw__error_status();
    if (status == TW_OK)
        return tw__file_commit(file);
    tw__file_abandon(file);
    return status;
}

TW_API(summary_profile_end, "summary._profile_end(outdir: str = None)",
       "Ends the noting, and writes what was noted under a directory, if one is named.")
{
    char host[256] = "";
    tw_set_step_hook(NULL, NULL);
    tw__set_op_hook(NULL);
    if (gethostname(host, sizeof host - 1) != 0 || !*host)
        strcpy(host, "localhost");
    tw__auto(tw__text_free) tw__text text = { 0 };
    tw__lock_take(&lock);
    running = false;
    tw_status status = args->outdir ? tw__xspace_write(&text, &noted, host) : TW_OK;
    forget();
    tw__lock_give(&lock);
    return status == TW_OK && args->outdir ? write_file(args->outdir, host, &text) : status;
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
