/* What `thalweg tensorboard` answers: the page, and the data behind it as JSON, under TensorBoard's own addresses where it has
 * such.
 *
 *     /data/runs                                  [run, …]
 *     /data/environment                           {"version", "data_location", "damaged": where files are damaged}
 *     /data/plugin/PLUGIN/tags                    {run: {tag: {"displayName", "description"}}}, of scalars, histograms, images,
 * audio, text /data/plugin/scalars/scalars?run&tag        [[wall_time, step, value], …]
 *     /data/plugin/histograms/histograms?run&tag  [[wall_time, step, [[left, right, count], …]], …]
 *     /data/plugin/images/images?run&tag          [{"wall_time", "step", "samples"}, …]; audio alike
 *     /data/plugin/images/individualImage?run&tag&index&sample   the picture; audio/individualAudio the sound
 *     /data/plugin/text/text?run&tag              [{"wall_time", "step", "text"}, …]
 *     /data/plugin/graphs/runs, …/graph?run       [[name, op, [input, …]], …]
 *     /data/plugin/profile/runs, …/data?run       [[thread, name, start, duration], …], in microseconds */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <thalweg.h>

#include "board.h"

enum { NAME_LIMIT = 1024, STRINGS_LIMIT = 4096, NODES_LIMIT = 20000, EVENTS_LIMIT = 20000 };

/* ---- the query ---- */

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The value of a key, decoded; "" if it is not there. */
static void parameter(const char *query, const char *key, char *out, size_t room)
{
    size_t size = strlen(key), at = 0;
    *out = 0;
    while (query && *query) {
        if (strncmp(query, key, size) == 0 && query[size] == '=') {
            for (const char *p = query + size + 1; *p && *p != '&' && at + 1 < room; p++) {
                if (*p == '%' && digit(p[1]) >= 0 && digit(p[2]) >= 0) {
                    out[at++] = (char)(digit(p[1]) * 16 + digit(p[2]));
                    p += 2;
                } else {
                    out[at++] = *p == '+' ? ' ' : *p;
                }
            }
            out[at] = 0;
            return;
        }
        query = strchr(query, '&');
        query = query ? query + 1 : NULL;
    }
}

static const board_tag *asked_tag(const board *b, const char *query, const char *plugin)
{
    char run[NAME_LIMIT], tag[NAME_LIMIT];
    parameter(query, "run", run, sizeof run);
    parameter(query, "tag", tag, sizeof tag);
    return board_find_tag(board_find_run(b, run), tag, plugin);
}

/* ---- summaries ---- */

static void put_tags(const board *b, const char *plugin, FILE *out)
{
    fputc('{', out);
    for (size_t i = 0; i < b->run_count; i++) {
        const board_run *run = &b->runs[i];
        bool first = true;
        fputs(i ? "," : "", out);
        board_put_string(out, run->name);
        fputs(":{", out);
        for (size_t k = 0; k < run->tag_count; k++) {
            const board_tag *tag = &run->tags[k];
            if (strcmp(tag->plugin, plugin) != 0)
                continue;
            fputs(first ? "" : ",", out);
            first = false;
            board_put_string(out, tag->name);
            fputs(":{\"displayName\":", out);
            board_put_string(out, tag->name);
            fputs(",\"description\":", out);
            board_put_string(out, tag->description);
            fputc('}', out);
        }
        fputc('}', out);
    }
    fputc('}', out);
}

static int64_t samples_of(const board_point *point, int first, int each)
{
    board_field unused;
    int64_t count = 0;
    while (count < STRINGS_LIMIT && board_string(point, first + count * each, &unused))
        count++;
    return count;
}

static void put_buckets(FILE *out, const board_point *point)
{
    const uint8_t *data = NULL;
    size_t count = board_doubles(point, &data) / 3;
    fputc('[', out);
    for (size_t i = 0; i < count; i++) {
        double bucket[3];
        memcpy(bucket, data + i * sizeof bucket, sizeof bucket);
        fputs(i ? ",[" : "[", out);
        for (int k = 0; k < 3; k++) {
            fputs(k ? "," : "", out);
            board_put_number(out, bucket[k]);
        }
        fputc(']', out);
    }
    fputc(']', out);
}

static void put_texts(FILE *out, const board_point *point)
{
    board_field text;
    fputc('"', out);
    for (int64_t i = 0; i < STRINGS_LIMIT && board_string(point, i, &text); i++) {
        char *memory = NULL;
        size_t size = 0;
        FILE *inner = open_memstream(&memory, &size);
        if (!inner)
            break;
        board_put_text(inner, text.data, text.size);
        fclose(inner);
        fputs(i ? "\\n" : "", out);
        fwrite(memory + 1, 1, size - 2, out); /* without its quotes */
        free(memory);
    }
    fputc('"', out);
}

static void put_points(const board_tag *tag, FILE *out)
{
    bool numbers = strcmp(tag->plugin, "scalars") == 0, histograms = strcmp(tag->plugin, "histograms") == 0;
    fputc('[', out);
    for (size_t i = 0; i < tag->count; i++) {
        const board_point *point = &tag->points[i];
        fputs(i ? "," : "", out);
        fputs(numbers || histograms ? "[" : "{\"wall_time\":", out);
        board_put_number(out, point->wall_time);
        fprintf(out, numbers || histograms ? ",%lld," : ",\"step\":%lld,", (long long)point->step);
        if (numbers) {
            board_put_number(out, point->value);
        } else if (histograms) {
            put_buckets(out, point);
        } else if (strcmp(tag->plugin, "text") == 0) {
            fputs("\"text\":", out);
            put_texts(out, point);
        } else {
            bool sound = strcmp(tag->plugin, "audio") == 0;
            fprintf(out, "\"samples\":%lld", (long long)samples_of(point, sound ? 0 : 2, sound ? 2 : 1));
        }
        fputs(numbers || histograms ? "]" : "}", out);
    }
    fputc(']', out);
}

static const char *type_of(const board_field *bytes)
{
    return bytes->size > 3 && memcmp(bytes->data, "\x89PNG", 4) == 0    ? "image/png"
           : bytes->size > 3 && memcmp(bytes->data, "GIF8", 4) == 0     ? "image/gif"
           : bytes->size > 3 && memcmp(bytes->data, "RIFF", 4) == 0     ? "audio/wav"
           : bytes->size > 2 && memcmp(bytes->data, "\xff\xd8", 2) == 0 ? "image/jpeg"
                                                                        : "application/octet-stream";
}

static void put_sample(const board *b, const char *query, const char *plugin, board_answer *answer)
{
    char text[32];
    parameter(query, "index", text, sizeof text);
    long index = strtol(text, NULL, 10);
    parameter(query, "sample", text, sizeof text);
    long sample = strtol(text, NULL, 10);
    const board_tag *tag = asked_tag(b, query, plugin);
    board_field bytes;
    bool sound = strcmp(plugin, "audio") == 0;
    if (!tag || index < 0 || (size_t)index >= tag->count || sample < 0 ||
        !board_string(&tag->points[index], sound ? 2 * sample : sample + 2, &bytes))
        return;
    answer->type = type_of(&bytes);
    fwrite(bytes.data, 1, bytes.size, answer->body);
}

/* ---- graphs ---- */

static void put_nodes(const uint8_t *at, const uint8_t *end, FILE *out, int *count)
{
    board_field node, part;
    while (*count < NODES_LIMIT && board_next_field(&at, end, &node)) {
        if (node.number != 1 || !node.data)
            continue;
        const uint8_t *p = node.data, *last = p + node.size;
        board_field name = { 0 }, op = { 0 };
        while (board_next_field(&p, last, &part)) {
            name = part.number == 1 && part.data ? part : name;
            op = part.number == 2 && part.data ? part : op;
        }
        fputs((*count)++ ? ",[" : "[", out);
        board_put_text(out, name.data, name.size);
        fputc(',', out);
        board_put_text(out, op.data, op.size);
        fputs(",[", out);
        int inputs = 0;
        for (p = node.data; board_next_field(&p, last, &part);) {
            if (part.number != 3 || !part.data)
                continue;
            fputs(inputs++ ? "," : "", out);
            board_put_text(out, part.data, part.size);
        }
        fputs("]]", out);
    }
}

/* A GraphDef's nodes and those of its functions {2 library {1 function {3 node}}}. */
static void put_graph(const uint8_t *data, size_t size, FILE *out, int *count)
{
    put_nodes(data, data + size, out, count);
}

/* RunMetadata of a trace {3 partition_graphs}, in the only string of its tensor. */
static void put_traced(const board_run *run, FILE *out, int *count)
{
    for (size_t i = 0; i < run->tag_count; i++) {
        const board_tag *tag = &run->tags[i];
        board_field metadata, part;
        if (strncmp(tag->plugin, "graph_run_metadata", 18) != 0 || !tag->count ||
            !board_string(&tag->points[tag->count - 1], 0, &metadata))
            continue;
        const uint8_t *at = metadata.data, *end = at + metadata.size;
        while (board_next_field(&at, end, &part)) {
            if (part.number == 3 && part.data)
                put_graph(part.data, part.size, out, count);
        }
    }
}

static bool has_graph(const board_run *run)
{
    bool found = run->graph != NULL;
    for (size_t i = 0; i < run->tag_count; i++)
        found |= strncmp(run->tags[i].plugin, "graph_run_metadata", 18) == 0;
    return found;
}

/* ---- profiles ---- */

/* Trace {4 event {2 thread, 3 name, 9 start, 10 duration in picoseconds}} */
static void put_profile(const board *b, const char *query, FILE *out)
{
    char asked[NAME_LIMIT], path[8192];
    parameter(query, "run", asked, sizeof asked);
    bool known = false;
    for (size_t i = 0; i < b->profile_count; i++)
        known |= strcmp(b->profiles[i], asked) == 0;
    int handle = known && snprintf(path, sizeof path, "%s/%s", b->directory, asked) < (int)sizeof path ? board_open(b, path) : -1;
    FILE *file = handle >= 0 ? fdopen(handle, "rb") : NULL;
    if (handle >= 0 && !file)
        close(handle);
    uint8_t *data = NULL;
    size_t size = 0, room = 0;
    while (file && !feof(file) && !ferror(file)) {
        if (size == room) {
            uint8_t *more = realloc(data, room = room ? 2 * room : 1 << 16);
            if (!more)
                break;
            data = more;
        }
        size += fread(data + size, 1, room - size, file);
    }
    if (file)
        fclose(file);
    const uint8_t *at = data, *end = data + size;
    board_field event, part;
    int count = 0;
    fputc('[', out);
    while (at && count < EVENTS_LIMIT && board_next_field(&at, end, &event)) {
        if (event.number != 4 || !event.data)
            continue;
        const uint8_t *p = event.data, *last = p + event.size;
        uint64_t thread = 0, start = 0, duration = 0;
        board_field name = { 0 };
        while (board_next_field(&p, last, &part)) {
            thread = part.number == 2 ? part.value : thread;
            start = part.number == 9 ? part.value : start;
            duration = part.number == 10 ? part.value : duration;
            name = part.number == 3 && part.data ? part : name;
        }
        fprintf(out, "%s[%llu,", count++ ? "," : "", (unsigned long long)thread);
        board_put_text(out, name.data, name.size);
        fprintf(out, ",%.3f,%.3f]", (double)start / 1e6, (double)duration / 1e6);
    }
    fputc(']', out);
    free(data);
}

/* ---- requests ---- */

static void put_names(const board *b, FILE *out, bool (*wanted)(const board_run *run))
{
    bool first = true;
    fputc('[', out);
    for (size_t i = 0; i < b->run_count; i++) {
        if (wanted && !wanted(&b->runs[i]))
            continue;
        fputs(first ? "" : ",", out);
        first = false;
        board_put_string(out, b->runs[i].name);
    }
    fputc(']', out);
}

static void plugin_data(const board *b, const char *plugin, const char *what, const char *query, board_answer *answer)
{
    static const char *const kinds[] = { "scalars", "histograms", "images", "audio", "text", NULL };
    for (int i = 0; kinds[i]; i++) {
        if (strcmp(plugin, kinds[i]) != 0)
            continue;
        const board_tag *tag = asked_tag(b, query, plugin);
        if (strcmp(what, "tags") == 0) {
            answer->type = "application/json";
            put_tags(b, plugin, answer->body);
        } else if (strcmp(what, plugin) == 0 && tag) {
            answer->type = "application/json";
            put_points(tag, answer->body);
        } else if (strcmp(what, "individualImage") == 0 || strcmp(what, "individualAudio") == 0) {
            put_sample(b, query, plugin, answer);
        }
        return;
    }
    char run[NAME_LIMIT];
    parameter(query, "run", run, sizeof run);
    const board_run *found = board_find_run(b, run);
    answer->type = "application/json";
    if (strcmp(plugin, "graphs") == 0 && strcmp(what, "runs") == 0) {
        put_names(b, answer->body, has_graph);
    } else if (strcmp(plugin, "graphs") == 0 && strcmp(what, "graph") == 0 && found) {
        int count = 0;
        fputc('[', answer->body);
        if (found->graph)
            put_graph(found->graph, found->graph_size, answer->body, &count);
        put_traced(found, answer->body, &count);
        fputc(']', answer->body);
    } else if (strcmp(plugin, "profile") == 0 && strcmp(what, "runs") == 0) {
        fputc('[', answer->body);
        for (size_t i = 0; i < b->profile_count; i++) {
            fputs(i ? "," : "", answer->body);
            board_put_string(answer->body, b->profiles[i]);
        }
        fputc(']', answer->body);
    } else if (strcmp(plugin, "profile") == 0 && strcmp(what, "data") == 0) {
        put_profile(b, query, answer->body);
    } else {
        answer->type = NULL;
    }
}

/* Where files are damaged: [{"run", "file", "places", "bytes"}, …] */
static void put_damages(const board *b, FILE *out)
{
    bool first = true;
    fputc('[', out);
    for (size_t i = 0; i < b->run_count; i++) {
        for (size_t k = 0; k < b->runs[i].file_count; k++) {
            const board_file *file = &b->runs[i].files[k];
            const char *name = strrchr(file->path, '/');
            if (!file->damages)
                continue;
            fputs(first ? "{\"run\":" : ",{\"run\":", out);
            first = false;
            board_put_string(out, b->runs[i].name);
            fputs(",\"file\":", out);
            board_put_string(out, name ? name + 1 : file->path);
            fprintf(out, ",\"places\":%lld,\"bytes\":%lld}", (long long)file->damages, (long long)file->lost);
        }
    }
    fputc(']', out);
}

bool board_needs_files(const char *path)
{
    return strncmp(path, "/data/", 6) == 0;
}

static bool put_page(const char *path, board_answer *answer)
{
    static const struct {
        const char *path, *type, *text;
    } parts[] = {
        { "/", "text/html; charset=utf-8", board_page },
        { "/index.html", "text/html; charset=utf-8", board_page },
        { "/board.js", "text/javascript; charset=utf-8", board_script },
        { "/board.css", "text/css; charset=utf-8", board_style },
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(path, parts[i].path) != 0)
            continue;
        answer->type = parts[i].type;
        fputs(parts[i].text, answer->body);
        return true;
    }
    return false;
}

void board_respond(board *b, const char *path, const char *query, board_answer *answer)
{
    char plugin[32] = "", what[32] = "";
    answer->type = NULL;
    if (put_page(path, answer))
        return;
    if (strcmp(path, "/data/environment") == 0) {
        answer->type = "application/json";
        fprintf(answer->body, "{\"version\":\"thalweg %s\",\"data_location\":", tw_version());
        board_put_string(answer->body, b->directory);
        fputs(",\"damaged\":", answer->body);
        put_damages(b, answer->body);
        fputc('}', answer->body);
    } else if (strcmp(path, "/data/runs") == 0) {
        answer->type = "application/json";
        put_names(b, answer->body, NULL);
    } else if (sscanf(path, "/data/plugin/%31[a-z]/%31[a-zA-Z]", plugin, what) == 2) {
        plugin_data(b, plugin, what, query, answer);
    }
}
