/* Runs, tags and their points.
 *
 * A curve keeps its points while they are few. Then it keeps buckets of as many consecutive points each, with their exact
 * minimum, maximum, sum and ends; when these become too many, neighbours are joined. So a curve of any length has at least half
 * of `bucket_limit` buckets and nothing of it is lost; what lies inside of a bucket is read from the file when somebody looks
 * closely. When all curves together need too much memory, the limit is halved for all. Everything else (pictures, histograms, …)
 * is only a place in a file. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"

enum { POINTS_LIMIT = 4096, BUCKETS_LIMIT = 4000, BUCKETS_LEAST = 64, PLACES_LIMIT = 1024 };
static const size_t MEMORY_LIMIT = (size_t)160 << 20;

bool board_grow(void **items, size_t *capacity, size_t count, size_t size)
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

char *board_copy(const void *data, size_t size)
{
    char *text = malloc(size + 1);
    if (text && size)
        memcpy(text, data, size);
    if (text)
        text[size] = 0;
    return text;
}

/* A name: bytes that are no text are told by their numbers, so that it can be asked for. */
static char *copy_name(const char *bytes, size_t size)
{
    const uint8_t *data = (const uint8_t *)bytes;
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
    free(tag->points);
    free(tag->buckets);
    free(tag->places);
    free(tag->name);
    free(tag->plugin);
    free(tag->title);
    free(tag->description);
    free(tag->content);
}

void board_free(board *b)
{
    for (size_t i = 0; i < b->run_count; i++) {
        board_run *run = &b->runs[i];
        for (size_t k = 0; k < run->file_count; k++)
            free(run->files[k].path);
        for (size_t k = 0; k < run->tag_count; k++)
            tag_free(&run->tags[k]);
        free(run->files);
        free(run->tags);
        free(run->index);
        free(run->name);
    }
    for (size_t i = 0; i < b->profile_count; i++)
        free(b->profiles[i]);
    free(b->runs);
    free(b->profiles);
    b->runs = NULL;
    b->profiles = NULL;
    b->run_count = b->profile_count = b->run_capacity = b->profile_capacity = 0;
}

/* ---- runs and tags ---- */

board_run *board_find_run(const board *b, const char *name)
{
    for (size_t i = 0; i < b->run_count; i++) {
        if (strcmp(b->runs[i].name, name) == 0)
            return &b->runs[i];
    }
    return NULL;
}

board_run *board_run_for(board *b, const char *name)
{
    char *shown = copy_name(name, strlen(name));
    board_run *run = shown ? board_find_run(b, shown) : NULL;
    if (run || !shown || !BOARD_GROW(b->runs, b->run_capacity, b->run_count)) {
        free(shown);
        return run;
    }
    run = &b->runs[b->run_count++];
    *run = (board_run){ .name = shown, .first_time = INFINITY };
    return run;
}

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 14695981039346656037u;
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 1099511628211u;
    return hash ^ hash >> 29;
}

/* The place of a name in the index, or the free one where it belongs. */
static uint32_t *slot_of(const board_run *run, const char *name)
{
    size_t at = hash_of(name) & (run->index_size - 1);
    while (run->index[at] && strcmp(run->tags[run->index[at] - 1].name, name) != 0)
        at = (at + 1) & (run->index_size - 1);
    return &run->index[at];
}

static bool grow_index(board_run *run)
{
    if (2 * (run->tag_count + 1) <= run->index_size)
        return true;
    size_t size = run->index_size ? 4 * run->index_size : 64;
    uint32_t *made = calloc(size, sizeof *made);
    if (!made)
        return false;
    free(run->index);
    run->index = made;
    run->index_size = size;
    for (size_t i = 0; i < run->tag_count; i++)
        *slot_of(run, run->tags[i].name) = (uint32_t)i + 1;
    return true;
}

bool board_is(const board_tag *tag, const char *plugin)
{
    return strcmp(tag->plugin, plugin) == 0;
}

const board_tag *board_find_tag(const board_run *run, const char *name, const char *plugin)
{
    uint32_t number = run && run->index_size ? *slot_of(run, name) : 0;
    const board_tag *tag = number ? &run->tags[number - 1] : NULL;
    return tag && (!plugin || board_is(tag, plugin)) ? tag : NULL;
}

board_tag *board_tag_for(board_run *run, const char *name, size_t size, bool *made)
{
    *made = false;
    for (int i = 0; i < 2 && run->tag_count; i++) { /* the one behind the last one, or that one again */
        size_t next = (run->hint + 1 - (size_t)i) % run->tag_count;
        board_tag *tag = &run->tags[next];
        if (tag->name_size == size && memcmp(tag->name, name, size) == 0) {
            run->hint = next;
            return tag;
        }
    }
    char *shown = copy_name(name, size);
    if (!shown || !grow_index(run) || !BOARD_GROW(run->tags, run->tag_capacity, run->tag_count)) {
        free(shown);
        return NULL;
    }
    uint32_t *slot = slot_of(run, shown);
    if (*slot) {
        free(shown);
        run->hint = *slot - 1;
        return &run->tags[*slot - 1];
    }
    *slot = (uint32_t)++run->tag_count;
    *made = true;
    run->hint = *slot - 1;
    run->tags[*slot - 1] = (board_tag){ .name = shown, .name_size = strlen(shown), .stride = 1 };
    return &run->tags[*slot - 1];
}

/* ---- curves ---- */

board_bucket board_bucket_of(const board_point *point, uint32_t file, int64_t offset)
{
    bool finite = isfinite(point->value);
    return (board_bucket){ .first_step = point->step,
                           .last_step = point->step,
                           .first_time = point->wall_time,
                           .last_time = point->wall_time,
                           .first = point->value,
                           .last = point->value,
                           .low = finite ? point->value : INFINITY,
                           .high = finite ? point->value : -INFINITY,
                           .sum = finite ? point->value : 0,
                           .finite = finite,
                           .others = !finite,
                           .offset = offset,
                           .file = file };
}

void board_bucket_add(board_bucket *bucket, const board_bucket *next)
{
    bucket->last_step = next->last_step;
    bucket->last_time = next->last_time;
    bucket->last = next->last;
    bucket->low = next->low < bucket->low ? next->low : bucket->low;
    bucket->high = next->high > bucket->high ? next->high : bucket->high;
    bucket->sum += next->sum;
    bucket->finite += next->finite;
    bucket->others += next->others;
}

static void join_neighbours(board_tag *tag)
{
    size_t kept = 0;
    tag->stride *= 2;
    for (size_t i = 0; i < tag->bucket_count; i += 2) {
        board_bucket joined = tag->buckets[i];
        if (i + 1 < tag->bucket_count)
            board_bucket_add(&joined, &tag->buckets[i + 1]);
        tag->buckets[kept++] = joined;
    }
    tag->bucket_count = kept;
}

/* From points to buckets of one each. Where their records are is not known: they are looked for from the first file's beginning.
 */
static bool begin_buckets(board *b, board_tag *tag)
{
    board_bucket *made = malloc((tag->count + 1) * sizeof *made);
    if (!made)
        return false;
    for (size_t i = 0; i < tag->count; i++)
        made[i] = board_bucket_of(&tag->points[i], 0, 0);
    tag->buckets = made;
    tag->bucket_count = tag->count;
    tag->bucket_capacity = tag->count + 1;
    b->memory -= tag->capacity * sizeof *tag->points;
    b->memory += tag->bucket_capacity * sizeof *made;
    free(tag->points);
    tag->points = NULL;
    tag->count = tag->capacity = 0;
    return true;
}

static void fit(board *b, board_tag *tag, size_t limit)
{
    while (tag->bucket_count > limit)
        join_neighbours(tag);
    if (tag->bucket_capacity > limit + 1) {
        board_bucket *less = realloc(tag->buckets, (limit + 1) * sizeof *less);
        if (less) {
            b->memory -= (tag->bucket_capacity - limit - 1) * sizeof *less;
            tag->buckets = less;
            tag->bucket_capacity = limit + 1;
        }
    }
}

/* Halves the limit for all curves. */
static void save_memory(board *b)
{
    b->bucket_limit /= 2;
    for (size_t i = 0; i < b->run_count; i++) {
        for (size_t k = 0; k < b->runs[i].tag_count; k++) {
            board_tag *tag = &b->runs[i].tags[k];
            if (tag->count > 2 * b->bucket_limit)
                (void)begin_buckets(b, tag);
            if (tag->buckets)
                fit(b, tag, b->bucket_limit);
        }
    }
}

static bool add_bucket(board *b, board_tag *tag, board_bucket made)
{
    board_bucket *last = tag->bucket_count ? &tag->buckets[tag->bucket_count - 1] : NULL;
    if (last && last->finite + last->others < tag->stride) {
        board_bucket_add(last, &made);
        return true;
    }
    if (tag->bucket_count >= b->bucket_limit)
        join_neighbours(tag);
    last = &tag->buckets[tag->bucket_count - 1];
    if (last->finite + last->others < tag->stride) {
        board_bucket_add(last, &made);
        return true;
    }
    size_t before = tag->bucket_capacity;
    if (!BOARD_GROW(tag->buckets, tag->bucket_capacity, tag->bucket_count))
        return false;
    b->memory += (tag->bucket_capacity - before) * sizeof made;
    tag->buckets[tag->bucket_count++] = made;
    return true;
}

bool board_add_point(board *b, board_tag *tag, board_point point, uint32_t file, int64_t offset)
{
    b->bucket_limit = b->bucket_limit ? b->bucket_limit : BUCKETS_LIMIT;
    size_t limit = 2 * b->bucket_limit < POINTS_LIMIT ? 2 * b->bucket_limit : POINTS_LIMIT;
    tag->seen++;
    tag->last = point;
    tag->changed = b->generation + 1;
    if (!tag->buckets && tag->count >= limit) {
        if (!begin_buckets(b, tag))
            return false;
        fit(b, tag, b->bucket_limit);
    }
    if (tag->buckets) {
        if (!add_bucket(b, tag, board_bucket_of(&point, file, offset)))
            return false;
    } else {
        size_t before = tag->capacity;
        if (!BOARD_GROW(tag->points, tag->capacity, tag->count))
            return false;
        b->memory += (tag->capacity - before) * sizeof point;
        tag->points[tag->count++] = point;
    }
    if (b->memory > MEMORY_LIMIT && b->bucket_limit > BUCKETS_LEAST)
        save_memory(b);
    return true;
}

/* ---- what is no curve ---- */

bool board_add_place(board *b, board_tag *tag, board_place place)
{
    tag->changed = b->generation + 1;
    if (tag->loose)
        tag->place_count--;
    if (tag->seen % tag->stride == 0 && tag->place_count + 1 >= PLACES_LIMIT) {
        size_t kept = 0;
        tag->stride *= 2;
        for (size_t i = 0; i < tag->place_count; i += 2)
            tag->places[kept++] = tag->places[i];
        tag->place_count = kept;
    }
    tag->loose = tag->seen++ % tag->stride != 0;
    size_t before = tag->place_capacity;
    if (!BOARD_GROW(tag->places, tag->place_capacity, tag->place_count)) {
        tag->loose = false;
        return false;
    }
    b->memory += (tag->place_capacity - before) * sizeof place;
    tag->places[tag->place_count++] = place;
    return true;
}
