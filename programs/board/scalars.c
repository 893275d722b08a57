/* Curves: TensorBoard's routes of scalars, and the page's own.
 *
 *     scalars/tags, scalars/scalars?run&tag[&format=csv], scalars/scalars_multirun (POST tag&runs…)     TensorBoard's
 *     scalars/series?tag&runs=0,3,…&since=G&from&to&most   numbers, 8 bytes each, little endian. For each run: its number, the
 * kind (0 points, 1 buckets), how many rows, how many points there are in all, the generation; then rows. A point: time, step,
 * value. A bucket: first and last step, first and last time, first, last, lowest, highest value, mean, number of points. A run
 * that did not change since G is left out; of points, only new ones are sent if `have` says how many are there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"

enum { MOST = 4000, RUNS_LIMIT = 4096 };

/* ---- TensorBoard's routes ---- */

size_t board_point_count(const board_tag *tag)
{
    const board_bucket *last = tag->bucket_count ? &tag->buckets[tag->bucket_count - 1] : NULL;
    return tag->buckets ? tag->bucket_count + (last && last->finite + last->others > 1) : tag->count;
}

board_point board_point_at(const board_tag *tag, size_t index)
{
    if (!tag->buckets)
        return tag->points[index];
    if (index >= tag->bucket_count)
        return tag->last;
    const board_bucket *bucket = &tag->buckets[index];
    return (board_point){ bucket->first_time, bucket->first_step, bucket->first };
}

void board_put_points(const board_tag *tag, FILE *out)
{
    fputc('[', out);
    for (size_t i = 0; i < board_point_count(tag); i++) {
        board_point point = board_point_at(tag, i);
        fputs(i ? ",[" : "[", out);
        board_put_number(out, point.wall_time);
        fprintf(out, ",%lld,", (long long)point.step);
        board_put_number(out, point.value);
        fputc(']', out);
    }
    fputc(']', out);
}

static void put_tags(board *b, const board_request *request, board_answer *answer)
{
    (void)request;
    board_put_tags(b, "scalars", false, answer->body);
}

/* The shortest decimal that means the number, as Python prints it. */
static void put_short(FILE *out, double value)
{
    char text[40];
    if (!isfinite(value)) {
        fputs(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf", out);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    if (fabs(value) < 1e16 && fabs(value) >= 1e-4 && strchr(text, 'e'))
        snprintf(text, sizeof text, "%.0f", value);
    fputs(text, out);
    fputs(strpbrk(text, ".e") ? "" : ".0", out);
}

static void put_table(const board_tag *tag, FILE *out)
{
    fputs("Wall time,Step,Value\r\n", out);
    for (size_t i = 0; i < board_point_count(tag); i++) {
        board_point point = board_point_at(tag, i);
        put_short(out, point.wall_time);
        fprintf(out, ",%lld,", (long long)point.step);
        put_short(out, point.value);
        fputs("\r\n", out);
    }
}

static void put_scalars(board *b, const board_request *request, board_answer *answer)
{
    const board_run *run;
    const board_tag *tag;
    char format[16];
    if (!board_asked(b, request, "scalars", 404, answer, &run, &tag))
        return;
    board_parameter(request->query, "format", 0, format, sizeof format);
    if (strcmp(format, "csv") == 0) {
        answer->type = "text/csv; charset=utf-8";
        put_table(tag, answer->body);
    } else {
        board_put_points(tag, answer->body);
    }
}

static void put_multirun(board *b, const board_request *request, board_answer *answer)
{
    char name[BOARD_NAME_LIMIT], tag_name[BOARD_NAME_LIMIT];
    bool first = true;
    if (!request->post) {
        board_refused(answer, 405, "POST is expected");
        return;
    }
    if (!board_parameter(request->body, "tag", 0, tag_name, sizeof tag_name) ||
        board_parameter(request->body, "tag", 1, name, sizeof name)) {
        board_refused(answer, 400, "tag must be specified exactly once");
        return;
    }
    board_parameter(request->body, "tag", 0, tag_name, sizeof tag_name);
    fputc('{', answer->body);
    for (size_t i = 0; i < RUNS_LIMIT && board_parameter(request->body, "runs", i, name, sizeof name); i++) {
        const board_tag *tag = board_find_tag(board_find_run(b, name), tag_name, "scalars");
        if (!tag)
            continue;
        fputs(first ? "" : ",", answer->body);
        first = false;
        board_put_string(answer->body, name);
        fputc(':', answer->body);
        board_put_points(tag, answer->body);
    }
    fputc('}', answer->body);
}

/* ---- the page's route ---- */

static void put_doubles(FILE *out, const double *values, size_t count)
{
    fwrite(values, sizeof *values, count, out);
}

static void put_bucket(FILE *out, const board_bucket *bucket)
{
    double n = (double)bucket->finite;
    double row[] = { (double)bucket->first_step,
                     (double)bucket->last_step,
                     bucket->first_time,
                     bucket->last_time,
                     bucket->first,
                     bucket->last,
                     bucket->low,
                     bucket->high,
                     n > 0 ? bucket->sum / n : NAN,
                     n + (double)bucket->others };
    put_doubles(out, row, sizeof row / sizeof *row);
}

static void put_head(FILE *out, size_t run, int kind, size_t rows, const board_tag *tag)
{
    double head[] = { (double)run, kind, (double)rows, (double)tag->seen, (double)tag->changed };
    put_doubles(out, head, sizeof head / sizeof *head);
}

typedef struct closer {
    FILE *out;
    uint64_t each, rows; /* points of a bucket; rows that were written */
    board_bucket bucket;
} closer;

static void take_point(void *context, const board_point *point)
{
    closer *c = context;
    if (c->each <= 1) {
        double row[] = { point->wall_time, (double)point->step, point->value };
        put_doubles(c->out, row, 3);
        c->rows++;
        return;
    }
    board_bucket next = board_bucket_of(point, 0, 0);
    if (c->bucket.finite + c->bucket.others == 0)
        c->bucket = next;
    else
        board_bucket_add(&c->bucket, &next);
    if (c->bucket.finite + c->bucket.others == c->each) {
        put_bucket(c->out, &c->bucket);
        c->bucket = (board_bucket){ 0 };
        c->rows++;
    }
}

/* The part of a long curve between two steps, from its file; false: its buckets are good enough, or it is too long. */
static bool put_close(const board *b, size_t number, const board_tag *tag, double from, double to, FILE *out)
{
    size_t first = tag->bucket_count, end = 0;
    uint64_t points = 0;
    for (size_t i = 0; i < tag->bucket_count; i++) {
        const board_bucket *bucket = &tag->buckets[i];
        double low = (double)(bucket->first_step < bucket->last_step ? bucket->first_step : bucket->last_step);
        double high = (double)(bucket->first_step < bucket->last_step ? bucket->last_step : bucket->first_step);
        if (high < from || low > to)
            continue;
        first = i < first ? i : first;
        end = i + 1;
    }
    first -= first > 0 && first < tag->bucket_count;
    end += end && end < tag->bucket_count;
    for (size_t i = first; i < end; i++)
        points += tag->buckets[i].finite + tag->buckets[i].others;
    if (first >= end || end - first > MOST / 4)
        return false;
    char *memory = NULL;
    size_t size = 0;
    closer c = { .out = open_memstream(&memory, &size), .each = points <= MOST ? 1 : (points + MOST - 1) / MOST };
    bool good = c.out && board_scan(b, &b->runs[number], tag, first, end, take_point, &c);
    if (good && c.bucket.finite + c.bucket.others) {
        put_bucket(c.out, &c.bucket);
        c.rows++;
    }
    if (c.out)
        fclose(c.out);
    if (good) {
        put_head(out, number, c.each > 1, c.rows, tag);
        fwrite(memory, 1, size, out);
    }
    free(memory);
    return good;
}

static void put_run(const board *b, size_t number, const board_tag *tag, const board_request *request, uint64_t have, FILE *out)
{
    double from = board_parameter_number(request->query, "from", -INFINITY),
           to = board_parameter_number(request->query, "to", INFINITY);
    if (!tag->buckets) {
        size_t first = have <= tag->count ? have : 0;
        put_head(out, number, 0, tag->count - first, tag);
        for (size_t i = first; i < tag->count; i++) {
            double row[] = { tag->points[i].wall_time, (double)tag->points[i].step, tag->points[i].value };
            put_doubles(out, row, 3);
        }
        return;
    }
    if ((isfinite(from) || isfinite(to)) && put_close(b, number, tag, from, to, out))
        return;
    put_head(out, number, 1, tag->bucket_count, tag);
    for (size_t i = 0; i < tag->bucket_count; i++)
        put_bucket(out, &tag->buckets[i]);
}

/* runs=NUMBER[:HAVE],… */
static void put_series(board *b, const board_request *request, board_answer *answer)
{
    char name[BOARD_NAME_LIMIT], *runs = malloc(BOARD_REQUEST_LIMIT);
    if (runs && board_parameter(request->query, "tag", 0, name, sizeof name) &&
        board_parameter(request->query, "runs", 0, runs, BOARD_REQUEST_LIMIT)) {
        for (char *at = runs; *at;) {
            char *end = at;
            uint64_t number = strtoull(at, &end, 10), have = 0;
            if (*end == ':')
                have = strtoull(end + 1, &end, 10);
            const board_tag *tag = number < b->run_count ? board_find_tag(&b->runs[number], name, "scalars") : NULL;
            if (tag)
                put_run(b, number, tag, request, have, answer->body);
            if (*end != ',')
                break;
            at = end + 1;
        }
    }
    free(runs);
}

const board_route board_scalar_routes[] = {
    { "scalars", "tags", put_tags, NULL },
    { "scalars", "scalars", put_scalars, NULL },
    { "scalars", "scalars_multirun", put_multirun, NULL },
    { "scalars", "series", put_series, "application/octet-stream" },
    { 0 },
};
