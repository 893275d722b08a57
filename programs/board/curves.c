/* Precision-recall curves and custom charts, by TensorBoard's routes.
 *
 *     pr_curves/tags, pr_curves/pr_curves?tag&run…, custom_scalars/layout, custom_scalars/scalars?run&tag=PATTERN */
#include <stdlib.h>
#include <string.h>

#include "board.h"

enum { POINTS_LIMIT = 100000, RUNS_LIMIT = 1000, CHARTS_LIMIT = 1000 };

/* ---- precision and recall ---- */

static void put_row(FILE *out, const char *name, const tw_tensor *tensor, int64_t row, int64_t columns, int64_t count, bool whole)
{
    fprintf(out, ",\"%s\":[", name);
    for (int64_t i = 0; i < count; i++) {
        double value = tw_tensor_double_at(tensor, row * columns + i);
        fputs(i ? "," : "", out);
        if (whole)
            fprintf(out, "%.0f", value < 0 ? -(double)(int64_t)-value : (double)(int64_t)value);
        else
            board_put_number(out, value);
    }
    fputc(']', out);
}

static void put_curve(FILE *out, const board_place *place, const tw_tensor *tensor)
{
    static const char *const names[] = { "true_positives",  "false_positives", "true_negatives",
                                         "false_negatives", "precision",       "recall" };
    int64_t columns = tw_tensor_dim(tensor, 1), count = columns;
    while (count > 1 && tw_tensor_double_at(tensor, count - 1) < 1 && tw_tensor_double_at(tensor, columns + count - 1) < 1)
        count--;
    fputs("{\"wall_time\":", out);
    board_put_number(out, place->wall_time);
    fprintf(out, ",\"step\":%lld", (long long)place->step);
    for (int64_t i = 0; i < 6; i++)
        put_row(out, names[i], tensor, i, columns, count, i < 4);
    fputs(",\"thresholds\":[", out);
    for (int64_t i = 0; i < count; i++) {
        fputs(i ? "," : "", out);
        board_put_number(out, i + 1 == columns && columns > 1 ? 1 : (double)i * (1.0 / (double)(columns > 1 ? columns - 1 : 1)));
    }
    fputs("]}", out);
}

static void put_curves(board *b, const board_request *request, board_answer *answer)
{
    char run_name[BOARD_NAME_LIMIT], tag_name[BOARD_NAME_LIMIT];
    FILE *out = answer->body;
    bool named = board_parameter(request->query, "tag", 0, tag_name, sizeof tag_name),
         some = board_parameter(request->query, "run", 0, run_name, sizeof run_name);
    for (size_t i = 0; named && some && i < RUNS_LIMIT && board_parameter(request->query, "run", i, run_name, sizeof run_name);
         i++)
        named = board_find_tag(board_find_run(b, run_name), tag_name, "pr_curves") != NULL;
    if (!named || !some) {
        board_refused(answer, 400, "No PR curves could be found for this run and tag");
        return;
    }
    fputc('{', out);
    for (size_t i = 0; i < RUNS_LIMIT && board_parameter(request->query, "run", i, run_name, sizeof run_name); i++) {
        const board_run *run = board_find_run(b, run_name);
        const board_tag *tag = board_find_tag(run, tag_name, "pr_curves");
        bool first = true;
        fputs(i ? "," : "", out);
        board_put_string(out, run_name);
        fputs(":[", out);
        for (size_t k = 0; k < tag->place_count; k++) {
            board_value value;
            tw_tensor *tensor = board_fetch(b, run, &tag->places[k], &value) ? board_tensor(&value) : NULL;
            if (tensor && tw_tensor_dtype(tensor) != TW_STRING && tw_tensor_rank(tensor) == 2 && tw_tensor_dim(tensor, 0) == 6 &&
                tw_tensor_dim(tensor, 1) > 0 && tw_tensor_dim(tensor, 1) < POINTS_LIMIT) {
                fputs(first ? "" : ",", out);
                first = false;
                put_curve(out, &tag->places[k], tensor);
            }
            board_value_free(&value);
        }
        fputc(']', out);
    }
    fputc('}', out);
}

static void put_tags(board *b, const board_request *request, board_answer *answer)
{
    (void)request;
    board_put_tags(b, "pr_curves", false, answer->body);
}

/* ---- custom charts ---- */

static void put_field(FILE *out, const board_field *message, uint32_t number)
{
    board_field field = { 0 };
    board_get_field(message->data, message->size, number, &field);
    board_put_text(out, field.data, field.data ? field.size : 0);
}

/* Chart {1 title, 2 MultilineChartContent {1 tag…}, 3 MarginChartContent {1 Series {1 value, 2 lower, 3 upper}…}} */
static void put_chart(FILE *out, const board_field *chart)
{
    board_field content, part;
    bool first = true;
    fputs("{\"title\":", out);
    put_field(out, chart, 1);
    if (board_get_field(chart->data, chart->size, 2, &content) && content.data) {
        fputs(",\"multiline\":{\"tag\":[", out);
        for (const uint8_t *at = content.data; board_next_field(&at, content.data + content.size, &part);) {
            if (part.number == 1 && part.data) {
                fputs(first ? "" : ",", out);
                first = false;
                board_put_text(out, part.data, part.size);
            }
        }
        fputs("]}", out);
    } else if (board_get_field(chart->data, chart->size, 3, &content) && content.data) {
        fputs(",\"margin\":{\"series\":[", out);
        for (const uint8_t *at = content.data; board_next_field(&at, content.data + content.size, &part);) {
            if (part.number == 1 && part.data) {
                fputs(first ? "{\"value\":" : ",{\"value\":", out);
                first = false;
                put_field(out, &part, 1);
                fputs(",\"lower\":", out);
                put_field(out, &part, 2);
                fputs(",\"upper\":", out);
                put_field(out, &part, 3);
                fputc('}', out);
            }
        }
        fputs("]}", out);
    }
    fputc('}', out);
}

/* Layout {1 version, 2 Category {1 title, 2 chart…, 3 closed}…} */
static void put_categories(FILE *out, const board_field *layout, bool *first)
{
    board_field category, part;
    for (const uint8_t *at = layout->data; board_next_field(&at, layout->data + layout->size, &category);) {
        if (category.number != 2 || !category.data)
            continue;
        bool begin = true;
        fputs(*first ? "{\"title\":" : ",{\"title\":", out);
        *first = false;
        put_field(out, &category, 1);
        fputs(",\"chart\":[", out);
        int count = 0;
        for (const uint8_t *p = category.data;
             count < CHARTS_LIMIT && board_next_field(&p, category.data + category.size, &part);) {
            if (part.number == 2 && part.data) {
                fputs(begin ? "" : ",", out);
                begin = false;
                count++;
                put_chart(out, &part);
            }
        }
        bool closed = board_get_field(category.data, category.size, 3, &part) && part.value;
        fprintf(out, "],\"closed\":%s}", closed ? "true" : "false");
    }
}

static void put_layout(board *b, const board_request *request, board_answer *answer)
{
    bool some = false, first = true;
    (void)request;
    for (size_t i = 0; i < b->run_count; i++) {
        const board_tag *tag = board_find_tag(&b->runs[i], "custom_scalars__config__", "custom_scalars");
        board_value value = { 0 };
        board_field text;
        if (tag && tag->place_count && board_fetch(b, &b->runs[i], &tag->places[tag->place_count - 1], &value) &&
            board_string(&value, 0, &text)) {
            fputs(some ? "" : "{\"version\":0,\"category\":[", answer->body);
            some = true;
            put_categories(answer->body, &text, &first);
        }
        board_value_free(&value);
    }
    fputs(some ? "]}" : "{}", answer->body);
}

static void put_matching(board *b, const board_request *request, board_answer *answer)
{
    char run_name[BOARD_NAME_LIMIT], pattern[BOARD_NAME_LIMIT];
    FILE *out = answer->body;
    board_parameter(request->query, "run", 0, run_name, sizeof run_name);
    if (!board_parameter(request->query, "tag", 0, pattern, sizeof pattern) || !*pattern || board_matches(pattern, "") < 0) {
        fputs("{\"regex_valid\":false,\"tag_to_events\":{}}", out);
        return;
    }
    const board_run *run = board_find_run(b, run_name);
    bool first = true;
    fputs("{\"regex_valid\":true,\"tag_to_events\":{", out);
    for (size_t i = 0; run && i < run->tag_count; i++) {
        const board_tag *tag = &run->tags[i];
        if (!board_is(tag, "scalars") || board_matches(pattern, tag->name) <= 0)
            continue;
        fputs(first ? "" : ",", out);
        first = false;
        board_put_string(out, tag->name);
        fputc(':', out);
        board_put_points(tag, out);
    }
    fputs("}}", out);
}

const board_route board_curve_routes[] = {
    { "pr_curves", "tags", put_tags, NULL },
    { "pr_curves", "pr_curves", put_curves, NULL },
    { "custom_scalars", "layout", put_layout, NULL },
    { "custom_scalars", "scalars", put_matching, NULL },
    { 0 },
};
