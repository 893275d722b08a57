/* Profiles: events on lanes, from the traces that thalweg writes and from TensorFlow's xplane.pb.
 *
 *     profile/runs               [file, …]
 *     profile/data?run           {"lanes": [name, …], "events": [[lane, name, start, duration], …], "total": n}, in microseconds
 *
 *     Trace   4 event { 2 thread, 3 name, 9 start, 10 duration in picoseconds }
 *     XSpace  1 XPlane { 2 name, 3 XLine { 1 id, 2 name, 3 timestamp_ns, 4 XEvent { 1 metadata_id, 2 offset_ps, 3 duration_ps },
 * 11 display_name }, 4 event_metadata { 1 key, 2 { 2 name, 4 display_name } } } */
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

/* Names of a plane's events by their number. */
static board_field *names_of(const board_field *plane)
{
    board_field entry, value, name, *names = calloc(NAMES_LIMIT, sizeof *names);
    for (const uint8_t *at = plane->data; names && board_next_field(&at, plane->data + plane->size, &entry);) {
        board_field key = { 0 };
        if (entry.number != 4 || !entry.data || !board_get_field(entry.data, entry.size, 2, &value) || !value.data)
            continue;
        board_get_field(entry.data, entry.size, 1, &key);
        if (key.value < NAMES_LIMIT &&
            (board_get_field(value.data, value.size, 4, &name) || board_get_field(value.data, value.size, 2, &name)) && name.data)
            names[key.value] = name;
    }
    return names;
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
        put_event(p, lane, called, line_start(line) - p->start + (double)values[2] / 1e6, (double)values[3] / 1e6);
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
            board_field name = { 0 }, *names = pass ? names_of(&plane) : NULL;
            board_get_field(plane.data, plane.size, 2, &name);
            for (const uint8_t *q = plane.data; board_next_field(&q, plane.data + plane.size, &line);) {
                if (line.number != 3 || !line.data)
                    continue;
                if (!pass && line_start(&line) > 0 && line_start(&line) < p->start)
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

static void put_data(board *b, const board_request *request, board_answer *answer)
{
    char asked[BOARD_NAME_LIMIT], path[2 * BOARD_NAME_LIMIT];
    bool known = false;
    board_parameter(request->query, "run", 0, asked, sizeof asked);
    for (size_t i = 0; i < b->profile_count; i++)
        known |= strcmp(b->profiles[i], asked) == 0;
    size_t size = 0, length = strlen(asked);
    uint8_t *data = known && snprintf(path, sizeof path, "%s/%s", b->directory, asked) < (int)sizeof path
                        ? board_read_whole(b, path, &size)
                        : NULL;
    profile *p = data ? calloc(1, sizeof *p) : NULL;
    if (p)
        p->names_out = open_memstream(&p->names, &p->names_size);
    if (!p || !p->names_out) {
        board_refused(answer, 404, "there is no such profile");
    } else {
        p->out = answer->body;
        fputs("{\"events\":[", p->out);
        if (length > 3 && strcmp(asked + length - 3, ".pb") == 0)
            put_space(p, data, size);
        else
            put_trace(p, data, size);
        fclose(p->names_out);
        fprintf(p->out, "],\"total\":%zu,\"lanes\":[%s]}", p->total, p->names ? p->names : "");
        free(p->names);
    }
    free(p);
    free(data);
}

const board_route board_profile_routes[] = {
    { "profile", "runs", put_runs, NULL },
    { "profile", "data", put_data, NULL },
    { 0 },
};
