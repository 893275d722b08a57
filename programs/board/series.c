/* Scalars, histograms and pictures together, by TensorBoard's routes of its time series page.
 *
 *     timeseries/tags, timeseries/timeSeries?requests=JSON (or POST), timeseries/imageData?imageId */
#include <stdlib.h>
#include <string.h>

#include "board.h"

enum { REQUESTS_LIMIT = 1000 };

/* ---- tags ---- */

static int by_name(const void *a, const void *z)
{
    return strcmp(*(const char *const *)a, *(const char *const *)z);
}

static void put_run_tags(const board_run *run, const char *plugin, FILE *out)
{
    const char **names = malloc((run->tag_count + 1) * sizeof *names);
    size_t count = 0;
    for (size_t i = 0; names && i < run->tag_count; i++) {
        if (board_is(&run->tags[i], plugin))
            names[count++] = run->tags[i].name;
    }
    if (names)
        qsort(names, count, sizeof *names, by_name);
    fputc('[', out);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        board_put_string(out, names[i]);
    }
    fputc(']', out);
    free(names);
}

static bool has_tags(const board_run *run, const char *plugin)
{
    for (size_t i = 0; i < run->tag_count; i++) {
        if (board_is(&run->tags[i], plugin))
            return true;
    }
    return false;
}

/* The first description of a tag; where runs differ in it, TensorBoard joins them under headings. */
static void put_description(const board *b, size_t first_run, const board_tag *tag, FILE *out)
{
    char *memory = NULL;
    size_t size = 0;
    FILE *text = open_memstream(&memory, &size);
    bool differs = false;
    for (size_t i = first_run; i < b->run_count; i++) {
        const board_tag *other = board_find_tag(&b->runs[i], tag->name, tag->plugin);
        differs |= other && *other->description && strcmp(other->description, tag->description) != 0;
    }
    if (text && differs) {
        fputs("# Multiple descriptions\n", text);
        for (size_t i = first_run; i < b->run_count; i++) {
            const board_tag *other = board_find_tag(&b->runs[i], tag->name, tag->plugin);
            if (other && *other->description)
                fprintf(text, "## For run: %s\n%s\n", b->runs[i].name, other->description);
        }
    } else if (text) {
        fputs(tag->description, text);
    }
    if (text)
        fclose(text);
    board_put_markdown_string(out, memory ? memory : "", memory ? size : 0);
    free(memory);
}

/* Whether an earlier run tells of this tag already. */
static bool told_before(const board *b, size_t run, const board_tag *tag, bool described)
{
    for (size_t i = 0; i < run; i++) {
        const board_tag *other = board_find_tag(&b->runs[i], tag->name, tag->plugin);
        if (other && (!described || *other->description))
            return true;
    }
    return false;
}

static void put_descriptions(const board *b, const char *plugin, FILE *out)
{
    bool first = true;
    fputs("\"tagDescriptions\":{", out);
    for (size_t i = 0; i < b->run_count; i++) {
        for (size_t k = 0; k < b->runs[i].tag_count; k++) {
            const board_tag *tag = &b->runs[i].tags[k];
            if (!board_is(tag, plugin) || !*tag->description || told_before(b, i, tag, true))
                continue;
            fputs(first ? "" : ",", out);
            first = false;
            board_put_string(out, tag->name);
            fputc(':', out);
            put_description(b, i, tag, out);
        }
    }
    fputc('}', out);
}

static void put_basic(const board *b, const char *plugin, FILE *out)
{
    bool first = true;
    fprintf(out, "\"%s\":{\"runTagInfo\":{", plugin);
    for (size_t i = 0; i < b->run_count; i++) {
        if (!has_tags(&b->runs[i], plugin))
            continue;
        fputs(first ? "" : ",", out);
        first = false;
        board_put_string(out, b->runs[i].name);
        fputc(':', out);
        put_run_tags(&b->runs[i], plugin, out);
    }
    fputs("},", out);
    put_descriptions(b, plugin, out);
    fputc('}', out);
}

static void put_sampled(const board *b, FILE *out)
{
    bool first = true;
    fputs("\"images\":{", out);
    put_descriptions(b, "images", out);
    fputs(",\"tagRunSampledInfo\":{", out);
    for (size_t i = 0; i < b->run_count; i++) {
        for (size_t k = 0; k < b->runs[i].tag_count; k++) {
            const board_tag *tag = &b->runs[i].tags[k];
            if (!board_is(tag, "images") || told_before(b, i, tag, false))
                continue;
            bool begin = true;
            fputs(first ? "" : ",", out);
            first = false;
            board_put_string(out, tag->name);
            fputs(":{", out);
            for (size_t n = i; n < b->run_count; n++) {
                const board_tag *other = board_find_tag(&b->runs[n], tag->name, "images");
                if (!other)
                    continue;
                fputs(begin ? "" : ",", out);
                begin = false;
                board_put_string(out, b->runs[n].name);
                fprintf(out, ":{\"maxSamplesPerStep\":%lld}", (long long)other->samples - 2);
            }
            fputc('}', out);
        }
    }
    fputs("}}", out);
}

static void put_tags(board *b, const board_request *request, board_answer *answer)
{
    (void)request;
    fputc('{', answer->body);
    put_basic(b, "scalars", answer->body);
    fputc(',', answer->body);
    put_basic(b, "histograms", answer->body);
    fputc(',', answer->body);
    put_sampled(b, answer->body);
    fputc('}', answer->body);
}

/* ---- data ---- */

static void put_start(FILE *out, double wall_time, int64_t step, bool first)
{
    fputs(first ? "{\"wallTime\":" : ",{\"wallTime\":", out);
    board_put_number(out, wall_time);
    fprintf(out, ",\"step\":%lld,", (long long)step);
}

static void put_run_series(const board *b, const board_run *run, const board_tag *tag, int64_t sample, FILE *out)
{
    bool first = true;
    fputc('[', out);
    for (size_t i = 0; board_is(tag, "scalars") && i < board_point_count(tag); i++) {
        board_point point = board_point_at(tag, i);
        put_start(out, point.wall_time, point.step, i == 0);
        fputs("\"value\":", out);
        board_put_number(out, point.value);
        fputc('}', out);
    }
    for (size_t i = 0; i < tag->place_count; i++) {
        board_value value;
        bool picture = board_is(tag, "images");
        if (board_fetch(b, run, &tag->places[i], &value) && (!picture || board_strings(&value) > sample + 2)) {
            put_start(out, tag->places[i].wall_time, tag->places[i].step, first);
            first = false;
            fputs(picture ? "\"imageId\":\"" : "\"bins\":", out);
            if (picture)
                board_put_blob_key(out, "images", run->name, tag->name, tag->places[i].step, sample + 2);
            else
                board_put_bins(out, &value, true);
            fputs(picture ? "\"}" : "}", out);
        }
        board_value_free(&value);
    }
    fputc(']', out);
}

static void put_one(const board *b, const char *json, FILE *out)
{
    char plugin[32] = "", tag_name[BOARD_NAME_LIMIT] = "", run_name[BOARD_NAME_LIMIT] = "";
    double sample = 0;
    bool has_plugin = board_json_string(board_json_member(json, "plugin"), plugin, sizeof plugin);
    bool has_tag = board_json_string(board_json_member(json, "tag"), tag_name, sizeof tag_name);
    bool has_run = board_json_string(board_json_member(json, "run"), run_name, sizeof run_name);
    bool has_sample = board_json_number(board_json_member(json, "sample"), &sample) && sample >= 0 && sample < 1e9;
    bool number = strcmp(plugin, "scalars") == 0, histogram = strcmp(plugin, "histograms") == 0,
         picture = strcmp(plugin, "images") == 0, first = true;
    fputs("{\"plugin\":", out);
    has_plugin ? board_put_string(out, plugin) : (void)fputs("null", out);
    fputs(",\"tag\":", out);
    has_tag ? board_put_string(out, tag_name) : (void)fputs("null", out);
    if (has_run) {
        fputs(",\"run\":", out);
        board_put_string(out, run_name);
    }
    if (has_sample)
        fprintf(out, ",\"sample\":%.0f", sample);
    const char *error = !has_tag                             ? "Missing tag"
                        : !number && !histogram && !picture  ? "Invalid plugin"
                        : (histogram || picture) && !has_run ? "Missing run"
                        : picture && !has_sample             ? "Missing sample"
                                                             : NULL;
    if (error) {
        fprintf(out, ",\"error\":\"%s\"}", error);
        return;
    }
    fputs(",\"runToSeries\":{", out);
    for (size_t i = 0; i < b->run_count; i++) {
        const board_tag *tag = board_find_tag(&b->runs[i], tag_name, plugin);
        if (!tag || (*run_name && strcmp(run_name, b->runs[i].name) != 0))
            continue;
        fputs(first ? "" : ",", out);
        first = false;
        board_put_string(out, b->runs[i].name);
        fputc(':', out);
        put_run_series(b, &b->runs[i], tag, (int64_t)sample, out);
    }
    fputs("}}", out);
}

static void put_series(board *b, const board_request *request, board_answer *answer)
{
    char *json = malloc(BOARD_BODY_LIMIT);
    bool good = json && board_parameter(request->post ? request->body : request->query, "requests", 0, json, BOARD_BODY_LIMIT) &&
                board_json_valid(json);
    if (good) {
        fputc('[', answer->body);
        const char *element;
        for (size_t i = 0; i < REQUESTS_LIMIT && (element = board_json_element(json, i)); i++) {
            fputs(i ? "," : "", answer->body);
            put_one(b, element, answer->body);
        }
        fputc(']', answer->body);
    } else {
        board_refused(answer, 400, "the field 'requests' is missing, or no JSON");
    }
    free(json);
}

static void put_image(board *b, const board_request *request, board_answer *answer)
{
    char key[2 * BOARD_NAME_LIMIT];
    if (board_parameter(request->query, "imageId", 0, key, sizeof key) && *key)
        board_put_blob(b, key, answer, false);
    else
        board_refused(answer, 400, "Missing 'imageId' field");
}

const board_route board_series_routes[] = {
    { "timeseries", "tags", put_tags, NULL },
    { "timeseries", "timeSeries", put_series, NULL },
    { "timeseries", "imageData", put_image, NULL },
    { 0 },
};
