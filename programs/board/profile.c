/* Profiles: events on lanes, from the traces that thalweg writes and from TensorFlow's xplane.pb.
 *
 *     profile/runs               [file, …]
 *     profile/data?run           {"lanes": [name, …], "events": [[lane, name, start, duration], …], "total": n,
 *                                 "steps": [[lane, name, number, start, duration], …], "memory": [[time, bytes, most], …]}, in
 * microseconds profile/nodes?run          {node of a graph: microseconds, …}
 *
 *     Trace   4 event { 2 thread, 3 name, 9 start, 10 duration in picoseconds }
 *     XSpace  1 XPlane { 2 name, 3 XLine { 1 id, 2 name, 3 timestamp_ns, 4 XEvent { 1 metadata_id, 2 offset_ps, 3 duration_ps },
 * 11 display_name }, 4 event_metadata { 1 key, 2 { 2 name, 4 display_name } }, 5 stat_metadata { 1 key, 2 { 2 name } } }
 *             an XEvent's 4 XStat { 1 metadata_id, 3 uint64, 4 int64 } */
#include <stdlib.h>
#include <string.h>

#include "board.h"

enum { EVENTS_LIMIT = 200000, LANES_LIMIT = 1024, NAMES_LIMIT = 1 << 16 };

typedef struct profile {
    FILE *out;
    size_t count, total;
    uint64_t lanes[LANES_LIMIT]; /* threads of a trace */
    size_t lane_count;
    char *names;
    size_t names_size;
    FILE *names_out;
    double start; /* of the first event, in microseconds */
    struct part {
        char *text;
        size_t size, count;
        FILE *out;
    } steps, memory;
    uint64_t step_stat, bytes_stat, most_stat; /* what the plane calls step_num, bytes_allocated, peak_bytes_in_use; 0: nothing */
} profile;

static void put_event(profile *p, size_t lane, const board_field *name, double start, double duration)
{
    if (p->total++ >= EVENTS_LIMIT)
        return;
    fprintf(p->out, p->count++ ? ",[%zu," : "[%zu,", lane);
    board_put_text(p->out, name->data, name->size);
    fprintf(p->out, ",%.3f,%.3f]", start, duration);
}

static void name_lane(profile *p, const void *text, size_t size)
{
    fputs(p->lane_count ? "," : "", p->names_out);
    board_put_text(p->names_out, text, size);
}

/* ---- traces ---- */

static size_t lane_of(profile *p, uint64_t thread)
{
    for (size_t i = 0; i < p->lane_count; i++) {
        if (p->lanes[i] == thread)
            return i;
    }
    if (p->lane_count == LANES_LIMIT)
        return LANES_LIMIT - 1;
    char text[40];
    name_lane(p, text, (size_t)snprintf(text, sizeof text, "thread %llu", (unsigned long long)thread));
    p->lanes[p->lane_count] = thread;
    return p->lane_count++;
}

static void put_trace(profile *p, const uint8_t *data, size_t size)
{
    board_field event, part;
    for (const uint8_t *at = data; board_next_field(&at, data + size, &event);) {
        if (event.number != 4 || !event.data)
            continue;
        const uint8_t *q = event.data, *last = q + event.size;
        uint64_t thread = 0, start = 0, duration = 0;
        board_field name = { 0 };
        while (board_next_field(&q, last, &part)) {
            thread = part.number == 2 ? part.value : thread;
            start = part.number == 9 ? part.value : start;
            duration = part.number == 10 ? part.value : duration;
            name = part.number == 3 && part.data ? part : name;
        }
        put_event(p, lane_of(p, thread), &name, (double)start / 1e6, (double)duration / 1e6);
    }
}

/* ---- xplane.pb ---- */

/* Names of a plane's events by their number; `whole`: "node:Op" where there is a shorter one. */
static board_field *names_of(const board_field *plane, bool whole)
{
    board_field entry, value, name, *names = calloc(NAMES_LIMIT, sizeof *names);
    for (const uint8_t *at = plane->data; names && board_next_field(&at, plane->data + plane->size, &entry);) {
        board_field key = { 0 };
        if (entry.number != 4 || !entry.data || !board_get_field(entry.data, entry.size, 2, &value) || !value.data)
            continue;
        board_get_field(entry.data, entry.size, 1, &key);
        if (key.value < NAMES_LIMIT &&
            ((!whole && board_get_field(value.data, value.size, 4, &name)) ||
             board_get_field(value.data, value.size, 2, &name)) &&
            name.data)
            names[key.value] = name;
    }
    return names;
}

static bool is(const board_field *text, const char *word)
{
    return text->data && text->size == strlen(word) && memcmp(text->data, word, text->size) == 0;
}

static void find_stats(profile *p, const board_field *plane)
{
    board_field entry, value, name;
    p->step_stat = p->bytes_stat = p->most_stat = 0;
    for (const uint8_t *at = plane->data; board_next_field(&at, plane->data + plane->size, &entry);) {
        board_field key = { 0 };
        if (entry.number != 5 || !entry.data || !board_get_field(entry.data, entry.size, 2, &value) || !value.data ||
            !board_get_field(value.data, value.size, 2, &name))
            continue;
        board_get_field(entry.data, entry.size, 1, &key);
        p->step_stat = is(&name, "step_num") ? key.value : p->step_stat;
        p->bytes_stat = is(&name, "bytes_allocated") ? key.value : p->bytes_stat;
        p->most_stat = is(&name, "peak_bytes_in_use") ? key.value : p->most_stat;
    }
}

/* The number that an event tells under this name; false: none. */
static bool stat_of(const board_field *event, uint64_t wanted, double *out)
{
    board_field stat, id = { 0 }, value;
    bool found = false;
    for (const uint8_t *at = event->data; wanted && board_next_field(&at, event->data + event->size, &stat);) {
        if (stat.number != 4 || !stat.data || !board_get_field(stat.data, stat.size, 1, &id) || id.value != wanted)
            continue;
        found = board_get_field(stat.data, stat.size, 4, &value) || board_get_field(stat.data, stat.size, 3, &value);
        *out = found ? (double)(int64_t)value.value : 0;
    }
    return found;
}

/* What an event says besides its name. False: it is no event of the timeline. */
static bool put_more(profile *p, size_t lane, const board_field *event, const board_field *name, double start, double duration)
{
    double number, most = 0;
    if (is(name, "MemoryAllocation") || is(name, "MemoryDeallocation")) {
        if (stat_of(event, p->bytes_stat, &number) && p->memory.count < EVENTS_LIMIT) {
            stat_of(event, p->most_stat, &most);
            fprintf(p->memory.out, "%s[%.3f,%.0f,%.0f]", p->memory.count++ ? "," : "", start, number, most);
        }
        return false;
    }
    if (stat_of(event, p->step_stat, &number) && p->steps.count < EVENTS_LIMIT) {
        fprintf(p->steps.out, p->steps.count++ ? ",[%zu," : "[%zu,", lane);
        board_put_text(p->steps.out, name->data, name->size);
        fprintf(p->steps.out, ",%.0f,%.3f,%.3f]", number, start, duration);
    }
    return true;
}

static double line_start(const board_field *line)
{
    board_field start = { 0 };
    board_get_field(line->data, line->size, 3, &start);
    return (double)start.value / 1e3;
}

static void put_line(profile *p, const board_field *plane_name, const board_field *line, const board_field *names)
{
    board_field event, part, name = { 0 };
    char label[256];
    if (p->lane_count == LANES_LIMIT)
        return;
    if (!board_get_field(line->data, line->size, 11, &name))
        board_get_field(line->data, line->size, 2, &name);
    int size = snprintf(label, sizeof label, "%.*s %.*s", (int)(plane_name->size < 100 ? plane_name->size : 100),
                        (const char *)plane_name->data, (int)(name.size < 100 ? name.size : 100), (const char *)name.data);
    name_lane(p, label, (size_t)size < sizeof label ? (size_t)size : sizeof label - 1);
    size_t lane = p->lane_count++;
    for (const uint8_t *at = line->data; board_next_field(&at, line->data + line->size, &event);) {
        uint64_t values[4] = { 0 };
        if (event.number != 4 || !event.data)
            continue;
        for (const uint8_t *q = event.data; board_next_field(&q, event.data + event.size, &part);) {
            if (part.number < 4 && !part.data)
                values[part.number] = part.value;
        }
        board_field unknown = { .data = (const uint8_t *)"?", .size = 1 };
        const board_field *called = values[1] < NAMES_LIMIT && names[values[1]].data ? &names[values[1]] : &unknown;
        double start = line_start(line) - p->start + (double)values[2] / 1e6, duration = (double)values[3] / 1e6;
        if (put_more(p, lane, &event, called, start, duration))
            put_event(p, lane, called, start, duration);
    }
}

static void put_space(profile *p, const uint8_t *data, size_t size)
{
    board_field plane, line;
    p->start = 1e300;
    for (int pass = 0; pass < 2; pass++) { /* when it begins, and what happens */
        for (const uint8_t *at = data; board_next_field(&at, data + size, &plane);) {
            if (plane.number != 1 || !plane.data)
                continue;
            board_field name = { 0 }, *names = pass ? names_of(&plane, false) : NULL;
            board_get_field(plane.data, plane.size, 2, &name);
            find_stats(p, &plane);
            for (const uint8_t *q = plane.data; board_next_field(&q, plane.data + plane.size, &line);) {
                if (line.number != 3 || !line.data)
                    continue;
                if (!pass && line_start(&line) < p->start)
                    p->start = line_start(&line);
                else if (names)
                    put_line(p, &name, &line, names);
            }
            free(names);
        }
    }
}

/* ---- routes ---- */

static void put_runs(board *b, const board_request *request, board_answer *answer)
{
    (void)request;
    fputc('[', answer->body);
    for (size_t i = 0; i < b->profile_count; i++) {
        fputs(i ? "," : "", answer->body);
        board_put_string(answer->body, b->profiles[i]);
    }
    fputc(']', answer->body);
}

/* The profile that a request names, whole, for free(); NULL and a refusal: there is none. */
static uint8_t *asked_profile(const board *b, const board_request *request, board_answer *answer, size_t *size, bool *space)
{
    char asked[BOARD_NAME_LIMIT], path[2 * BOARD_NAME_LIMIT];
    bool known = false;
    board_parameter(request->query, "run", 0, asked, sizeof asked);
    for (size_t i = 0; i < b->profile_count; i++)
        known |= strcmp(b->profiles[i], asked) == 0;
    size_t length = strlen(asked);
    *space = length > 3 && strcmp(asked + length - 3, ".pb") == 0;
    uint8_t *data = known && snprintf(path, sizeof path, "%s/%s", b->directory, asked) < (int)sizeof path
                        ? board_read_whole(b, path, size)
                        : NULL;
    if (!data)
        board_refused(answer, 404, "there is no such profile");
    return data;
}

static void put_whole(profile *p, const uint8_t *data, size_t size, bool space)
{
    fputs("{\"events\":[", p->out);
    if (space)
        put_space(p, data, size);
    else
        put_trace(p, data, size);
    fclose(p->names_out);
    fclose(p->steps.out);
    fclose(p->memory.out);
    fprintf(p->out, "],\"total\":%zu,\"lanes\":[%s],\"steps\":[%s],\"memory\":[%s]}", p->total, p->names ? p->names : "",
            p->steps.text ? p->steps.text : "", p->memory.text ? p->memory.text : "");
    free(p->names);
    free(p->steps.text);
    free(p->memory.text);
}

static void put_data(board *b, const board_request *request, board_answer *answer)
{
    size_t size = 0;
    bool space;
    uint8_t *data = asked_profile(b, request, answer, &size, &space);
    profile *p = data ? calloc(1, sizeof *p) : NULL;
    if (p) {
        p->out = answer->body;
        p->names_out = open_memstream(&p->names, &p->names_size);
        p->steps.out = p->names_out ? open_memstream(&p->steps.text, &p->steps.size) : NULL;
        p->memory.out = p->steps.out ? open_memstream(&p->memory.text, &p->memory.size) : NULL;
    }
    if (p && p->memory.out)
        put_whole(p, data, size, space);
    else if (data)
        board_refused(answer, 500, "there is no memory");
    free(p);
    free(data);
}

/* The time of each op of a plane, by its node. */
static void put_plane_nodes(const board_field *plane, FILE *out, size_t *count)
{
    board_field line, event, part, *names = names_of(plane, true);
    uint64_t *sums = calloc(NAMES_LIMIT, sizeof *sums);
    for (const uint8_t *at = plane->data; names && sums && board_next_field(&at, plane->data + plane->size, &line);) {
        for (const uint8_t *q = line.data;
             line.number == 3 && line.data && board_next_field(&q, line.data + line.size, &event);) {
            uint64_t id = 0, duration = 0;
            for (const uint8_t *e = event.data;
                 event.number == 4 && event.data && board_next_field(&e, event.data + event.size, &part);) {
                id = part.number == 1 ? part.value : id;
                duration = part.number == 3 ? part.value : duration;
            }
            if (event.number == 4 && id < NAMES_LIMIT)
                sums[id] += duration;
        }
    }
    for (size_t i = 0; names && sums && i < NAMES_LIMIT; i++) {
        const uint8_t *end = names[i].data && sums[i] ? memrchr(names[i].data, ':', names[i].size) : NULL;
        if (!end || end == names[i].data || end[-1] == ':')
            continue;
        fputs((*count)++ ? "," : "", out);
        board_put_text(out, names[i].data, (size_t)(end - names[i].data));
        fprintf(out, ":%.3f", (double)sums[i] / 1e6);
    }
    free(names);
    free(sums);
}

static void put_nodes(board *b, const board_request *request, board_answer *answer)
{
    size_t size = 0, count = 0;
    bool space;
    board_field plane;
    uint8_t *data = asked_profile(b, request, answer, &size, &space);
    if (!data)
        return;
    fputc('{', answer->body);
    for (const uint8_t *at = data; space && board_next_field(&at, data + size, &plane);) {
        if (plane.number == 1 && plane.data)
            put_plane_nodes(&plane, answer->body, &count);
    }
    fputc('}', answer->body);
    free(data);
}

const board_route board_profile_routes[] = {
    { "profile", "runs", put_runs, NULL },
    { "profile", "data", put_data, NULL },
    { "profile", "nodes", put_nodes, NULL },
    { 0 },
};
