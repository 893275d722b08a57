/* What ran, and when: the steps of a session's run, for RunMetadata. Uses the one step hook of the process, for one thread at a
 * time. */
#include <pthread.h>
#include <thalweg/profile.h>
#include <time.h>

#include "rows.h"
#include "session/session.h"

typedef struct event {
    char *name, *op;
    int64_t start, duration, bytes;
} event;

static tw__lock lock = TW__LOCK;
static bool tracing;
static pthread_t owner;
static event *events;
static size_t count, capacity;

static void note(void *user, const tw_step_event *step)
{
    (void)user;
    if (!pthread_equal(owner, pthread_self()))
        return;
    tw__lock_take(&lock);
    event made = { tw__strdup(step->name), tw__strdup(step->op), step->start, step->duration, step->bytes };
    if (made.name && made.op && TW_GROW(events, capacity, count + 1) == TW_OK) {
        events[count++] = made;
    } else { /* the run goes on without it */
        tw_clear_error();
        tw__free(made.name);
        tw__free(made.op);
    }
    tw__lock_give(&lock);
}

static void forget(void)
{
    for (size_t i = 0; i < count; i++) {
        tw__free(events[i].name);
        tw__free(events[i].op);
    }
    tw__free(events);
    events = NULL;
    count = capacity = 0;
}

TW_API(trace_begin, "compat.v1._trace_begin() -> bool",
       "From now on the steps that the thread runs are noted; false: another thread's are.")
{
    tw__lock_take(&lock);
    bool free_now = !tracing;
    if (free_now) {
        tracing = true;
        owner = pthread_self();
        forget();
    }
    tw__lock_give(&lock);
    if (free_now)
        tw_set_step_hook(note, NULL);
    return free_now;
}

/* From the monotonic clock to the time of day. */
static int64_t clock_offset(void)
{
    struct timespec real, steady;
    clock_gettime(CLOCK_REALTIME, &real);
    clock_gettime(CLOCK_MONOTONIC, &steady);
    return (real.tv_sec - steady.tv_sec) * 1000000000ll + real.tv_nsec - steady.tv_nsec;
}

TW_API(trace_end, "compat.v1._trace_end() -> value",
       "Ends what trace_begin began: a list of [name, op, start in nanoseconds since 1970, duration in nanoseconds, bytes].")
{
    tw_set_step_hook(NULL, NULL);
    int64_t offset = clock_offset();
    tw__lock_take(&lock);
    tw_value list = { .kind = TW_VALUE_LIST };
    list.list.items = tw__alloc_array(count + 1, sizeof *list.list.items);
    for (size_t i = 0; list.list.items && i < count; i++) {
        tw_value *row = &list.list.items[i];
        *row = (tw_value){ .kind = TW_VALUE_LIST };
        row->list.items = tw__alloc_array(5, sizeof *row->list.items);
        if (!row->list.items)
            break;
        list.list.count++;
        row->list.count = 5;
        row->list.items[0] = tw__value_str(events[i].name);
        row->list.items[1] = tw__value_str(events[i].op);
        row->list.items[2] = (tw_value){ .kind = TW_VALUE_INT, .i = events[i].start + offset };
        row->list.items[3] = (tw_value){ .kind = TW_VALUE_INT, .i = events[i].duration };
        row->list.items[4] = (tw_value){ .kind = TW_VALUE_INT, .i = events[i].bytes };
    }
    forget();
    tracing = false;
    tw__lock_give(&lock);
    return list;
}
