/* From events to points.
 *
 *     Event          1 wall_time, 2 step, 4 graph_def, 5 Summary, 8 TaggedRunMetadata { 1 tag, 2 run_metadata }, 9 meta_graph_def
 *     Summary        1 Value { 1 tag, 2 simple_value, 4 image, 5 histo, 6 audio, 8 tensor, 9 SummaryMetadata }
 *     SummaryMetadata  1 PluginData { 1 plugin_name, 2 content }, 2 display_name, 3 summary_description
 *     Image          1 height, 2 width, 4 encoded; Audio 4 encoded
 *     HistogramProto 1 min, 2 max, 6 bucket_limit, 7 bucket
 *     TensorProto    1 dtype, 4 tensor_content, 5 float_val, 6 double_val, 8 string_val
 *
 * Old-style values (simple_value, image, histo, audio) are shown under the plugin that took their place. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board.h"

enum { FLOAT = 1, DOUBLE = 2, STRING = 7, SCAN_LIMIT = 256 << 20 };

typedef struct value {
    board_field tag, tensor, image, audio, histo, metadata;
    bool has_number;
    double number;
} value;

static value read_value(const board_field *message)
{
    value v = { 0 };
    board_field field;
    for (const uint8_t *at = message->data; board_next_field(&at, message->data + message->size, &field);) {
        board_field *parts[] = {
            [1] = &v.tag, [4] = &v.image, [5] = &v.histo, [6] = &v.audio, [8] = &v.tensor, [9] = &v.metadata
        };
        if (field.number == 2 && !field.data) {
            v.has_number = true;
            v.number = board_as_float(field.value);
        } else if (field.number < 10 && parts[field.number] && field.data) {
            *parts[field.number] = field;
        }
    }
    return v;
}

static board_value body_of(const value *v)
{
    return v->tensor.data  ? (board_value){ .kind = BOARD_TENSOR, .body = v->tensor }
           : v->image.data ? (board_value){ .kind = BOARD_IMAGE, .body = v->image }
           : v->audio.data ? (board_value){ .kind = BOARD_AUDIO, .body = v->audio }
           : v->histo.data ? (board_value){ .kind = BOARD_HISTO, .body = v->histo }
                           : (board_value){ 0 };
}

/* The number that a TensorProto holds; false: it holds none. */
static bool number_of(const board_field *tensor, double *out)
{
    const uint8_t *at = tensor->data, *end = at + tensor->size;
    board_field field;
    uint64_t dtype = 0;
    bool found = false;
    while (board_next_field(&at, end, &field)) {
        size_t bytes = dtype == FLOAT ? 4 : 8;
        if (field.number == 1)
            dtype = field.value;
        else if ((field.number == 4 || field.number == (dtype == FLOAT ? 5 : 6)) && (dtype == FLOAT || dtype == DOUBLE) &&
                 (!field.data || field.size >= bytes)) {
            uint64_t bits = field.value;
            for (size_t i = field.data ? bytes : 0; i-- > 0;)
                bits = bits << 8 | field.data[i];
            *out = dtype == FLOAT ? board_as_float(bits) : board_as_double(bits);
            found = true;
        }
    }
    if (found)
        return true;
    board_value v = { .kind = BOARD_TENSOR, .body = *tensor };
    tw_tensor *whole = dtype != STRING ? board_tensor(&v) : NULL;
    found = whole && tw_tensor_count(whole) == 1;
    if (found)
        *out = tw_tensor_double_at(whole, 0);
    tw_clear_error();
    board_value_free(&v);
    return found;
}

/* ---- tags ---- */

static bool fill_tag(board_tag *tag, const value *v)
{
    board_field plugin = { 0 }, name = { 0 }, content = { 0 }, title = { 0 }, description = { 0 };
    if (board_get_field(v->metadata.data, v->metadata.size, 1, &plugin)) {
        board_get_field(plugin.data, plugin.size, 1, &name);
        board_get_field(plugin.data, plugin.size, 2, &content);
    }
    board_get_field(v->metadata.data, v->metadata.size, 2, &title);
    board_get_field(v->metadata.data, v->metadata.size, 3, &description);
    const char *old = v->has_number   ? "scalars"
                      : v->image.data ? "images"
                      : v->audio.data ? "audio"
                      : v->histo.data ? "histograms"
                                      : NULL;
    if (old) {
        name = (board_field){ .data = (const uint8_t *)old, .size = strlen(old) };
        if (!title.size)
            title = v->tag;
    }
    size_t length = name.size ? strnlen((const char *)name.data, name.size) : 0;
    tag->plugin = board_copy(name.data, length);
    tag->title = board_copy(title.data, title.size);
    tag->description = board_copy(description.data, description.size);
    tag->content = (uint8_t *)board_copy(content.data, content.size);
    tag->content_size = content.size;
    return tag->plugin && tag->title && tag->description && tag->content;
}

static board_tag *tag_of(board_run *run, const value *v)
{
    bool made = false;
    board_tag *tag = board_tag_for(run, (const char *)v->tag.data, v->tag.size, &made);
    return tag && (!made || fill_tag(tag, v)) ? tag : NULL;
}

/* A tag that stands for a part of the run itself. */
static board_tag *part_tag(board_run *run, const char *name, size_t size, const char *plugin)
{
    value v = { .tag = { .data = (const uint8_t *)name, .size = size } };
    board_tag *tag = tag_of(run, &v);
    if (tag && !*tag->plugin) {
        free(tag->plugin);
        tag->plugin = board_copy(plugin, strlen(plugin));
    }
    return tag && tag->plugin ? tag : NULL;
}

static bool add_value(board *b, board_run *run, const board_field *message, board_place place)
{
    value v = read_value(message);
    board_value body = body_of(&v);
    if (!v.tag.size || (!v.has_number && body.kind == BOARD_NOTHING && !v.metadata.size))
        return true;
    board_tag *tag = tag_of(run, &v);
    if (!tag)
        return false;
    if (board_is(tag, "scalars")) {
        board_point point = { place.wall_time, place.step, v.number };
        if (!v.has_number && (body.kind != BOARD_TENSOR || !number_of(&v.tensor, &point.value)))
            return true;
        return board_add_point(b, tag, point, place.file, place.offset);
    }
    if (body.kind == BOARD_NOTHING)
        return true;
    int64_t samples = board_strings(&body);
    tag->samples = samples > tag->samples ? samples : tag->samples;
    return board_add_place(b, tag, place);
}

bool board_add_event(board *b, board_run *run, uint32_t file, int64_t offset, const uint8_t *data, size_t size)
{
    board_field field, part, graph = { 0 }, summary = { 0 }, traced = { 0 }, meta = { 0 };
    board_place place = { .offset = offset, .file = file };
    for (const uint8_t *at = data; board_next_field(&at, data + size, &field);) {
        if (field.number == 1 && !field.data)
            place.wall_time = board_as_double(field.value);
        else if (field.number == 2 && !field.data)
            place.step = (int64_t)field.value;
        else if (field.data && (field.number == 4 || field.number == 5 || field.number == 8 || field.number == 9))
            *(field.number == 4 ? &graph : field.number == 5 ? &summary : field.number == 8 ? &traced : &meta) = field;
    }
    if (place.wall_time < run->first_time)
        run->first_time = place.wall_time;
    bool good = true;
    for (const uint8_t *at = summary.data; good && board_next_field(&at, summary.data + summary.size, &part);) {
        if (part.number == 1 && part.data) {
            good = add_value(b, run, &part, place);
            place.value++;
        }
    }
    if (graph.data || meta.data) {
        board_tag *tag = part_tag(run, "__run_graph__", 13, "graphs");
        place.value = graph.data ? BOARD_GRAPH : BOARD_META_GRAPH;
        good = good && tag && (!board_is(tag, "graphs") || board_add_place(b, tag, place));
    }
    if (traced.data && board_get_field(traced.data, traced.size, 1, &part) && part.size) {
        board_tag *tag = part_tag(run, (const char *)part.data, part.size, "graph_tagged_run_metadata");
        place.value = BOARD_RUN_METADATA;
        good = good && tag && (!board_is(tag, "graph_tagged_run_metadata") || board_add_place(b, tag, place));
    }
    return good;
}

/* ---- reading again ---- */

/* The record at an offset, for free(). */
static uint8_t *record_at(const board *b, const board_run *run, uint32_t file, int64_t offset, size_t *size)
{
    int handle = file < run->file_count ? board_open(b, run->files[file].path) : -1;
    if (handle < 0)
        return NULL;
    tw_records *records = tw_records_open(run->files[file].path, offset);
    const void *data;
    uint8_t *copy = records && tw_records_next(records, &data, size) ? (uint8_t *)board_copy(data, *size) : NULL;
    close(handle);
    tw_records_close(records);
    tw_clear_error();
    return copy;
}

bool board_fetch(const board *b, const board_run *run, const board_place *place, board_value *out)
{
    size_t size = 0;
    uint8_t *memory = record_at(b, run, place->file, place->offset, &size);
    board_field part, inner;
    uint32_t number = 0;
    *out = (board_value){ 0 };
    if (!memory)
        return false;
    uint32_t wanted = place->value == BOARD_GRAPH          ? 4
                      : place->value == BOARD_META_GRAPH   ? 9
                      : place->value == BOARD_RUN_METADATA ? 8
                                                           : 5;
    if (board_get_field(memory, size, wanted, &part) && part.data) {
        if (place->value == BOARD_GRAPH)
            *out = (board_value){ .kind = BOARD_BYTES, .body = part };
        else if (wanted != 5 && board_get_field(part.data, part.size, 2, &inner) && inner.data)
            *out = (board_value){ .kind = BOARD_BYTES, .body = inner };
        for (const uint8_t *at = part.data; wanted == 5 && board_next_field(&at, part.data + part.size, &inner);) {
            if (inner.number == 1 && inner.data && number++ == place->value) {
                value v = read_value(&inner);
                *out = body_of(&v);
            }
        }
    }
    out->memory = memory;
    if (out->kind == BOARD_NOTHING)
        board_value_free(out);
    return out->kind != BOARD_NOTHING;
}

void board_value_free(board_value *v)
{
    free(v->memory);
    tw_release(v->tensor);
    v->memory = NULL;
    v->tensor = NULL;
}

tw_tensor *board_tensor(board_value *v)
{
    if (!v->tensor && v->kind == BOARD_TENSOR) {
        tw_event_value event = { .tensor = { (const char *)v->body.data, v->body.size } };
        v->tensor = tw_event_tensor(&event);
        tw_clear_error();
    }
    return v->tensor;
}

bool board_string(const board_value *v, int64_t index, board_field *out)
{
    const uint8_t *at = v->body.data, *end = at + v->body.size;
    if (v->kind == BOARD_TENSOR || v->kind == BOARD_BYTES) {
        if (v->kind == BOARD_BYTES) {
            *out = v->body;
            return index == 0;
        }
        while (board_next_field(&at, end, out)) {
            if (out->number == 8 && out->data && index-- == 0)
                return true;
        }
        return false;
    }
    bool last = (v->kind == BOARD_IMAGE && index == 2) || (v->kind == BOARD_AUDIO && index == 0);
    return last && board_get_field(at, v->body.size, 4, out) && out->data;
}

int64_t board_strings(const board_value *v)
{
    board_field unused;
    int64_t count = 0;
    if (v->kind != BOARD_TENSOR)
        return v->kind == BOARD_IMAGE ? 3 : v->kind == BOARD_AUDIO ? 2 : 0;
    for (const uint8_t *at = v->body.data; board_next_field(&at, v->body.data + v->body.size, &unused);)
        count += unused.number == 8 && unused.data;
    return count;
}

/* ---- looking closely ---- */

typedef struct scan {
    const board_tag *tag;
    uint64_t number, first, end; /* the number of the next point; which ones are wanted */
    void (*each)(void *context, const board_point *point);
    void *context;
} scan;

static void scan_event(scan *s, const uint8_t *data, size_t size)
{
    board_field field, part, summary = { 0 };
    board_point point = { 0 };
    for (const uint8_t *at = data; board_next_field(&at, data + size, &field);) {
        if (field.number == 1 && !field.data)
            point.wall_time = board_as_double(field.value);
        else if (field.number == 2 && !field.data)
            point.step = (int64_t)field.value;
        else if (field.number == 5 && field.data)
            summary = field;
    }
    size_t length = strlen(s->tag->name);
    for (const uint8_t *at = summary.data; board_next_field(&at, summary.data + summary.size, &part);) {
        if (part.number != 1 || !part.data)
            continue;
        value v = read_value(&part);
        if (v.tag.size != length || memcmp(v.tag.data, s->tag->name, length) != 0)
            continue;
        point.value = v.number;
        if (!v.has_number && (!v.tensor.data || !number_of(&v.tensor, &point.value)))
            continue;
        if (s->number >= s->first && s->number < s->end)
            s->each(s->context, &point);
        s->number++;
    }
}

bool board_scan(const board *b, const board_run *run, const board_tag *tag, size_t from, size_t to,
                void (*each)(void *context, const board_point *point), void *context)
{
    const board_bucket *first = &tag->buckets[from], *after = to < tag->bucket_count ? &tag->buckets[to] : NULL;
    bool known = first->offset > 0 || first->file > 0;
    scan s = { .tag = tag, .first = from * tag->stride, .end = to * tag->stride, .each = each, .context = context };
    s.number = known ? s.first : 0;
    int64_t bytes = 0;
    for (uint32_t file = first->file; file < run->file_count; file++) {
        int64_t start = file == first->file ? first->offset : 0;
        int64_t end = after && after->offset && after->file == file ? after->offset : run->files[file].place;
        bytes += end - start;
        if (bytes > SCAN_LIMIT)
            return false;
        if (after && after->offset && after->file == file)
            break;
    }
    for (uint32_t file = first->file; file < run->file_count && s.number < s.end; file++) {
        int handle = board_open(b, run->files[file].path);
        tw_records *records =
            handle >= 0 ? tw_records_open(run->files[file].path, file == first->file ? first->offset : 0) : NULL;
        const void *data;
        size_t size;
        while (records && s.number < s.end && tw_records_offset(records) < run->files[file].place) {
            if (tw_records_next(records, &data, &size))
                scan_event(&s, data, size);
            else if (tw_error_code() != TW_DATA_LOSS || tw_records_skip_damage(records) <= 0)
                break;
            tw_clear_error();
        }
        tw_clear_error();
        tw_records_close(records);
        if (handle >= 0)
            close(handle);
    }
    return true;
}
