/* A profile as TensorFlow's profiler writes it: an XSpace with one plane, a line per thread, and on them the events. Names of
 * events and of what is known of them stand in tables of the plane, by number. */
#include "summary/xplane.h"

#include <stdlib.h>

#include "codec/message.h"

typedef struct plane {
    tw__text *text;
    tw__map events, stats; /* names -> numbers from 1 on, as pointers */
    tw_status status;
} plane;

/* The number of a name. 0: no memory. */
static int64_t number_of(plane *p, tw__map *all, const char *name, size_t size)
{
    uintptr_t number = (uintptr_t)tw__map_get(all, name, size);
    if (!number && p->status == TW_OK) {
        number = all->count + 1;
        p->status = tw__map_put(all, name, size, (void *)number);
    }
    return (int64_t)number;
}

static void put_number(plane *p, const char *name, size_t size, int64_t value)
{
    int64_t number = number_of(p, &p->stats, name, size);
    size_t stat = tw__open_XEvent_stats(p->text);
    tw__put_XStat_metadata_id(p->text, number);
    tw__put_XStat_int64_value(p->text, value);
    tw__close(p->text, stat);
}

static void put_text(plane *p, const char *name, size_t size, const char *value, size_t value_size)
{
    int64_t number = number_of(p, &p->stats, name, size);
    size_t stat = tw__open_XEvent_stats(p->text);
    tw__put_XStat_metadata_id(p->text, number);
    tw__put_XStat_str_value(p->text, value, value_size);
    tw__close(p->text, stat);
}

/* "key=value,key=value#" */
static void put_known(plane *p, const char *known)
{
    while (*known && *known != '#') {
        size_t size = strcspn(known, ",#");
        const char *equal = memchr(known, '=', size);
        if (equal) {
            char *end;
            size_t left = size - (size_t)(equal + 1 - known);
            int64_t value = strtoll(equal + 1, &end, 10);
            if (left && end == equal + 1 + left)
                put_number(p, known, (size_t)(equal - known), value);
            else
                put_text(p, known, (size_t)(equal - known), equal + 1, left);
        }
        known += size + (known[size] == ',');
    }
}

static size_t plain_size(const tw__ran *event)
{
    size_t size = strlen(event->name);
    const char *known = size && event->name[size - 1] == '#' ? strchr(event->name, '#') : NULL;
    return known && known < event->name + size - 1 ? (size_t)(known - event->name) : size;
}

static void put_event(plane *p, const tw__ran *event, int64_t first)
{
    size_t size = plain_size(event);
    int64_t number = number_of(p, &p->events, event->name, size);
    size_t place = tw__open_XLine_events(p->text);
    tw__put_XEvent_metadata_id(p->text, number);
    tw__put_XEvent_offset_ps(p->text, (event->start - first) * 1000);
    tw__put_XEvent_duration_ps(p->text, event->duration * 1000);
    if (event->name[size])
        put_known(p, event->name + size + 1);
    tw__close(p->text, place);
}

static int by_thread(const void *a, const void *b)
{
    const tw__ran *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->duration < y->duration) - (x->duration > y->duration); /* what holds others comes before them */
}

static size_t open_line(plane *p, int64_t id, const char *name)
{
    size_t line = tw__open_XPlane_lines(p->text);
    tw__put_XLine_id(p->text, id);
    tw__put_XLine_name(p->text, name, strlen(name));
    return line;
}

static void put_threads(plane *p, const tw__profile *profile)
{
    for (size_t i = 0; i < profile->event_count;) {
        char name[40];
        uint32_t thread = profile->events[i].thread;
        snprintf(name, sizeof name, "thread %u", (unsigned)thread);
        size_t line = open_line(p, thread, name);
        for (; i < profile->event_count && profile->events[i].thread == thread; i++)
            put_event(p, &profile->events[i], profile->start);
        tw__close(p->text, line);
    }
}

/* As the allocators of accelerators tell of themselves. */
static void put_memory(plane *p, const tw__profile *profile)
{
    static const char allocation[] = "MemoryAllocation", allocator[] = "allocator_name", host[] = "host";
    static const char *const stats[] = { "bytes_allocated", "peak_bytes_in_use", "bytes_reserved",
                                         "bytes_available", "requested_bytes",   "allocation_bytes" };
    int64_t most = 0, before = 0;
    size_t line = profile->sample_count ? open_line(p, 0, "memory") : 0;
    for (size_t i = 0; i < profile->sample_count; i++) {
        const tw__memory_sample *sample = &profile->samples[i];
        most = sample->bytes > most ? sample->bytes : most;
        int64_t grown = sample->bytes - before, values[] = { sample->bytes, most, 0, 0, grown, grown };
        before = sample->bytes;
        int64_t number = number_of(p, &p->events, allocation, sizeof allocation - 1);
        size_t event = tw__open_XLine_events(p->text);
        tw__put_XEvent_metadata_id(p->text, number);
        tw__put_XEvent_offset_ps(p->text, (sample->time - profile->start) * 1000);
        for (size_t k = 0; k < sizeof stats / sizeof *stats; k++)
            put_number(p, stats[k], strlen(stats[k]), values[k]);
        put_text(p, allocator, sizeof allocator - 1, host, sizeof host - 1);
        tw__close(p->text, event);
    }
    if (line)
        tw__close(p->text, line);
}

static void put_event_name(plane *p, const char *name, size_t size, int64_t number)
{
    const char *op = memrchr(name, ':', size);
    size_t entry = tw__open_XPlane_event_metadata(p->text);
    tw__put_XPlane_event_metadata_key(p->text, number);
    size_t value = tw__open_XPlane_event_metadata_value(p->text);
    tw__put_XEventMetadata_id(p->text, number);
    tw__put_XEventMetadata_name(p->text, name, size);
    if (op && op > name && op[-1] != ':')
        tw__put_XEventMetadata_display_name(p->text, op + 1, size - (size_t)(op + 1 - name));
    tw__close(p->text, value);
    tw__close(p->text, entry);
}

static void put_stat_name(plane *p, const char *name, size_t size, int64_t number)
{
    size_t entry = tw__open_XPlane_stat_metadata(p->text);
    tw__put_XPlane_stat_metadata_key(p->text, number);
    size_t value = tw__open_XPlane_stat_metadata_value(p->text);
    tw__put_XStatMetadata_id(p->text, number);
    tw__put_XStatMetadata_name(p->text, name, size);
    tw__close(p->text, value);
    tw__close(p->text, entry);
}

static void put_names(plane *p, const tw__map *all, void (*put)(plane *p, const char *name, size_t size, int64_t number))
{
    for (size_t i = 0; i < all->count; i++)
        put(p, all->entries[i].key, all->entries[i].key_size, (int64_t)i + 1);
}

tw_status tw__xspace_write(tw__text *text, tw__profile *profile, const char *host)
{
    static const char name[] = "/host:CPU";
    plane p = { .text = text };
    if (profile->event_count)
        qsort(profile->events, profile->event_count, sizeof *profile->events, by_thread);
    size_t whole = tw__open_XSpace_planes(text);
    tw__put_XPlane_name(text, name, sizeof name - 1);
    put_threads(&p, profile);
    put_memory(&p, profile);
    put_names(&p, &p.events, put_event_name);
    put_names(&p, &p.stats, put_stat_name);
    tw__close(text, whole);
    tw__put_XSpace_hostnames(text, host, strlen(host));
    tw__map_end(&p.events);
    tw__map_end(&p.stats);
    return p.status != TW_OK ? p.status : text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}
