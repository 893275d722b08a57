/* Event files as `thalweg tensorboard` reads them, while they may still grow.
 *
 *     TensorProto  1 dtype, 4 tensor_content, 5 float_val, 6 double_val, 8 string_val
 *
 * A record that is cut off is tried again at the next reading; one that is damaged is passed over and counted. Of a tag with very
 * many points every second, fourth, … is kept, so that the whole curve is equally dense, and the last one. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thalweg.h>

#include "board.h"

enum { NUMBERS_LIMIT = 4096, TENSORS_LIMIT = 64, DEPTH = 12, FLOAT = 1, DOUBLE = 2 };

/* ---- protocol buffers ---- */

static bool varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

static uint64_t little(const uint8_t *data, int size)
{
    uint64_t value = 0;
    for (int i = size - 1; i >= 0; i--)
        value = value << 8 | data[i];
    return value;
}

bool board_next_field(const uint8_t **at, const uint8_t *end, board_field *field)
{
    uint64_t tag, size;
    *field = (board_field){ 0 };
    if (*at >= end || !varint(at, end, &tag))
        return false;
    field->number = (uint32_t)(tag >> 3);
    int wire = (int)(tag & 7);
    if (wire == 0)
        return varint(at, end, &field->value);
    if (wire == 2) {
        if (!varint(at, end, &size) || size > (uint64_t)(end - *at))
            return false;
        field->data = *at;
        field->size = size;
        *at += size;
        return true;
    }
    int bytes = wire == 1 ? 8 : 4;
    if ((wire != 1 && wire != 5) || end - *at < bytes)
        return false;
    field->value = little(*at, bytes);
    *at += bytes;
    return true;
}

static double as_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool board_string(const board_point *point, int64_t index, board_field *out)
{
    const uint8_t *at = point->bytes, *end = at + point->size;
    while (at && board_next_field(&at, end, out)) {
        if (out->number == 8 && out->data && index-- == 0)
            return true;
    }
    return false;
}

size_t board_doubles(const board_point *point, const uint8_t **data)
{
    const uint8_t *at = point->bytes, *end = at + point->size;
    board_field field;
    uint64_t dtype = 0;
    size_t count = 0;
    while (at && board_next_field(&at, end, &field)) {
        if (field.number == 1)
            dtype = field.value;
        if ((field.number == 4 || field.number == 6) && field.data) {
            *data = field.data;
            count = field.size / 8;
        }
    }
    return dtype == DOUBLE ? count : 0;
}

/* The number that a TensorProto holds; false: it holds none. */
static bool number_of(const board_field *tensor, double *value)
{
    const uint8_t *at = tensor->data, *end = at + tensor->size;
    board_field field;
    uint64_t dtype = 0;
    bool found = false;
    while (board_next_field(&at, end, &field)) {
        if (field.number == 1)
            dtype = field.value;
        else if ((field.number == 4 || field.number == 5) && dtype == FLOAT && (!field.data || field.size >= 4)) {
            *value = as_float(field.data ? (uint32_t)little(field.data, 4) : (uint32_t)field.value);
            found = true;
        } else if ((field.number == 4 || field.number == 6) && dtype == DOUBLE && (!field.data || field.size >= 8)) {
            *value = as_double(field.data ? little(field.data, 8) : field.value);
            found = true;
        }
    }
    return found;
}

/* ---- what is known ---- */

static bool grow(void **items, size_t *capacity, size_t count, size_t size)
{
    if (count < *capacity)
        return true;
    size_t room = *capacity ? 2 * *capacity : 8;
    void *more = realloc(*items, room * size);
    if (!more)
        return false;
    *items = more;
    *capacity = room;
    return true;
}
#define GROW(list, capacity, count) grow((void **)&(list), &(capacity), (count), sizeof *(list))

static char *copy_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text && size)
        memcpy(text, data, size);
    if (text)
        text[size] = 0;
    return text;
}

/* A name: bytes that are no text are told by their numbers, so that it can be asked for. */
static char *copy_name(const uint8_t *data, size_t size)
{
    char *text = malloc(4 * size + 1);
    size_t out = 0;
    for (size_t i = 0; text && i < size;) {
        size_t part = data[i] ? board_utf8(data + i, size - i) : 0;
        if (part)
            memcpy(text + out, data + i, part);
        out += part ? part : (size_t)sprintf(text + out, "\\x%02x", data[i]);
        i += part ? part : 1;
    }
    if (text)
        text[out] = 0;
    return text;
}

static void tag_free(board_tag *tag)
{
    for (size_t i = 0; i < tag->count; i++)
        free(tag->points[i].bytes);
    free(tag->points);
    free(tag->name);
    free(tag->plugin);
    free(tag->description);
}

static void run_free(board_run *run)
{
    for (size_t i = 0; i < run->file_count; i++)
        free(run->files[i].path);
    for (size_t i = 0; i < run->tag_count; i++)
        tag_free(&run->tags[i]);
    free(run->files);
    free(run->tags);
    free(run->graph);
    free(run->name);
}

void board_free(board *b)
{
    for (size_t i = 0; i < b->run_count; i++)
        run_free(&b->runs[i]);
    for (size_t i = 0; i < b->profile_count; i++)
        free(b->profiles[i]);
    free(b->runs);
    free(b->profiles);
    b->runs = NULL;
    b->profiles = NULL;
    b->run_count = b->profile_count = b->run_capacity = b->profile_capacity = 0;
}

const board_run *board_find_run(const board *b, const char *name)
{
    for (size_t i = 0; i < b->run_count; i++) {
        if (strcmp(b->runs[i].name, name) == 0)
            return &b->runs[i];
    }
    return NULL;
}

const board_tag *board_find_tag(const board_run *run, const char *name, const char *plugin)
{
    for (size_t i = 0; run && i < run->tag_count; i++) {
        if (strcmp(run->tags[i].name, name) == 0 && strcmp(run->tags[i].plugin, plugin) == 0)
            return &run->tags[i];
    }
    return NULL;
}

/* Keeps the points whose number the stride divides. */
static void thin_out(board_tag *tag)
{
    size_t kept = 0;
    tag->stride *= 2;
    for (size_t i = 0; i < tag->count; i++) {
        if (i % 2 == 0)
            tag->points[kept++] = tag->points[i];
        else
            free(tag->points[i].bytes);
    }
    tag->count = kept;
}

static bool add_point(board_tag *tag, board_point point)
{
    size_t limit = point.bytes ? TENSORS_LIMIT : NUMBERS_LIMIT;
    if (tag->loose)
        free(tag->points[--tag->count].bytes);
    tag->stride = tag->stride ? tag->stride : 1;
    if (tag->seen % tag->stride == 0 && tag->count + 1 >= limit)
        thin_out(tag);
    tag->loose = tag->seen++ % tag->stride != 0;
    if (!GROW(tag->points, tag->capacity, tag->count)) {
        free(point.bytes);
        tag->loose = false;
        return false;
    }
    tag->points[tag->count++] = point;
    return true;
}

/* ---- events ---- */

static board_tag *tag_for(board_run *run, const tw_event_value *v)
{
    char *name = copy_name((const uint8_t *)v->tag, v->tag_size);
    for (size_t i = 0; name && i < run->tag_count; i++) {
        if (strcmp(run->tags[i].name, name) == 0) {
            free(name);
            return &run->tags[i];
        }
    }
    if (!name || !GROW(run->tags, run->tag_capacity, run->tag_count)) {
        free(name);
        return NULL;
    }
    board_tag *tag = &run->tags[run->tag_count];
    *tag = (board_tag){ .name = name,
                        .description = copy_text((const uint8_t *)v->description, strlen(v->description)),
                        .plugin = v->plugin_size ? copy_name((const uint8_t *)v->plugin, v->plugin_size)
                                                 : copy_text((const uint8_t *)"scalars", v->has_number ? 7 : 0) };
    if (!tag->name || !tag->plugin || !tag->description) {
        tag_free(tag);
        return NULL;
    }
    run->tag_count++;
    return tag;
}

static bool add_graph(board_run *run, const tw_event_value *v)
{
    free(run->graph);
    run->graph = (uint8_t *)copy_text((const uint8_t *)v->graph.data, v->graph.size);
    run->graph_size = run->graph ? v->graph.size : 0;
    return true;
}

static bool add_value(board_run *run, const tw_event_value *v)
{
    if (!v->tag)
        return add_graph(run, v);
    if (!v->tag_size || (!v->tensor.size && !v->has_number))
        return true;
    board_tag *tag = tag_for(run, v);
    if (!tag)
        return false;
    board_field tensor = { .data = (const uint8_t *)v->tensor.data, .size = v->tensor.size };
    board_point point = { .wall_time = v->wall_time, .step = v->step, .value = v->number };
    if (strcmp(tag->plugin, "scalars") != 0) {
        point.bytes = (uint8_t *)copy_text(tensor.data, tensor.size);
        point.size = tensor.size;
        if (!point.bytes)
            return false;
    } else if (!v->has_number && !number_of(&tensor, &point.value)) {
        return true;
    }
    return add_point(tag, point);
}

/* ---- files ---- */

/* Whether `path` is the directory, or below it. */
static bool is_below(const char *directory, const char *path)
{
    size_t size = strlen(directory);
    return strncmp(directory, path, size) == 0 && (path[size] == '/' || !path[size] || (size && directory[size - 1] == '/'));
}

/* Whether no symbolic link leads from the directory to a place outside of it. */
static bool stays_inside(const board *b, const char *path)
{
    char *root = b->follows ? NULL : realpath(b->directory, NULL), *real = b->follows ? NULL : realpath(path, NULL);
    bool inside = b->follows || (root && real && is_below(root, real));
    free(root);
    free(real);
    return inside;
}

int board_open(const board *b, const char *path)
{
    struct stat about;
    int handle = stays_inside(b, path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
    if (handle >= 0 && (fstat(handle, &about) != 0 || !S_ISREG(about.st_mode))) {
        close(handle);
        handle = -1;
    }
    return handle;
}

/* The record that could not be read is damaged: goes on behind it. */
static bool pass_damage(board_file *file, tw_records *records)
{
    int64_t place = tw_records_offset(records), skipped = tw_records_skip_damage(records);
    if (skipped <= 0)
        return false;
    if (file->searching != place) {
        file->damages++;
        fprintf(stderr, "thalweg: %s is damaged at byte %lld; reading goes on at byte %lld\n", file->path, (long long)place,
                (long long)(place + skipped));
    }
    file->lost += skipped;
    file->searching = place + skipped;
    return true;
}

static bool read_file(const board *b, board_run *run, board_file *file)
{
    int handle = board_open(b, file->path); /* it may be gone, or another file by now */
    struct stat about = { 0 };
    bool grown = handle >= 0 && fstat(handle, &about) == 0 && about.st_size > file->place, good = true;
    if (handle >= 0)
        close(handle);
    tw_events *events = grown ? tw_events_open(file->path, file->place) : NULL;
    tw_records *records = events ? tw_events_records(events) : NULL;
    tw_event_value value;
    while (good && records) {
        if (tw_events_next(events, &value)) {
            good = add_value(run, &value);
            continue;
        }
        bool damaged = tw_error_code() == TW_DATA_LOSS && !tw_records_cut_off(records);
        tw_clear_error();
        if (!damaged || !pass_damage(file, records))
            break;
    }
    if (records)
        file->place = tw_records_offset(records);
    tw_clear_error();
    tw_events_close(events);
    return good;
}

static board_run *run_for(board *b, const char *name)
{
    char *shown = copy_name((const uint8_t *)name, strlen(name));
    board_run *run = shown ? (board_run *)board_find_run(b, shown) : NULL;
    free(shown);
    if (run || !shown)
        return run;
    if (!GROW(b->runs, b->run_capacity, b->run_count))
        return NULL;
    run = &b->runs[b->run_count];
    *run = (board_run){ .name = copy_name((const uint8_t *)name, strlen(name)) };
    if (!run->name)
        return NULL;
    b->run_count++;
    return run;
}

static bool note_file(board *b, const char *folder, const char *path)
{
    board_run *run = run_for(b, *folder ? folder : ".");
    for (size_t i = 0; run && i < run->file_count; i++) {
        if (strcmp(run->files[i].path, path) == 0)
            return true;
    }
    if (!run || !GROW(run->files, run->file_capacity, run->file_count))
        return false;
    char *copy = copy_text((const uint8_t *)path, strlen(path));
    if (copy)
        run->files[run->file_count++] = (board_file){ .path = copy, .searching = -1 };
    return copy != NULL;
}

static bool note_profile(board *b, const char *path)
{
    for (size_t i = 0; i < b->profile_count; i++) {
        if (strcmp(b->profiles[i], path) == 0)
            return true;
    }
    if (!GROW(b->profiles, b->profile_capacity, b->profile_count))
        return false;
    char *copy = copy_text((const uint8_t *)path, strlen(path));
    if (copy)
        b->profiles[b->profile_count++] = copy;
    return copy != NULL;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool ends_in(const char *text, const char *end)
{
    size_t size = strlen(text), part = strlen(end);
    return size >= part && strcmp(text + size - part, end) == 0;
}

static bool walk(board *b, const char *folder, int depth)
{
    char place[4096], path[4096], below[4096];
    struct dirent **entries;
    if (snprintf(place, sizeof place, "%s%s%s", b->directory, *folder ? "/" : "", folder) >= (int)sizeof place || depth > DEPTH)
        return true;
    int count = scandir(place, &entries, NULL, by_name);
    bool good = true;
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        struct stat about;
        bool fits = snprintf(path, sizeof path, "%s/%s", place, name) < (int)sizeof path &&
                    snprintf(below, sizeof below, "%s%s%s", folder, *folder ? "/" : "", name) < (int)sizeof below;
        if (good && fits && name[0] != '.' && stays_inside(b, path) && stat(path, &about) == 0) {
            if (S_ISDIR(about.st_mode))
                good = walk(b, below, depth + 1);
            else if (S_ISREG(about.st_mode) && strstr(name, "tfevents") && !ends_in(name, ".profile-empty"))
                good = note_file(b, folder, path);
            else if (S_ISREG(about.st_mode) && ends_in(name, ".trace"))
                good = note_profile(b, below);
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return good;
}

bool board_refresh(board *b)
{
    bool good = walk(b, "", 0);
    for (size_t i = 0; good && i < b->run_count; i++) {
        for (size_t k = 0; good && k < b->runs[i].file_count; k++)
            good = read_file(b, &b->runs[i], &b->runs[i].files[k]);
    }
    return good;
}
