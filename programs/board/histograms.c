/* Histograms and distributions, by TensorBoard's routes: histograms/tags, histograms/histograms?run&tag, distributions alike. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"

enum { BINS_LIMIT = 1 << 20 };
static const double POINTS[] = {
    0, 668, 1587, 3085, 5000, 6915, 8413, 9332, 10000
}; /* of 10000: the quantiles of a distribution */

typedef struct bins {
    double *values; /* left, right, count of each */
    size_t count;
} bins;

/* Numbers of a repeated field of doubles, packed or not. */
static size_t doubles_of(const board_field *message, uint32_t number, double *out, size_t room)
{
    board_field field;
    size_t count = 0;
    for (const uint8_t *at = message->data; board_next_field(&at, message->data + message->size, &field);) {
        if (field.number != number)
            continue;
        if (!field.data && count < room)
            out[count++] = board_as_double(field.value);
        for (size_t i = 0; field.data && i + 8 <= field.size && count < room; i += 8)
            memcpy(&out[count++], field.data + i, 8);
    }
    return count;
}

static double number_at(const board_field *message, uint32_t number)
{
    board_field field;
    return board_get_field(message->data, message->size, number, &field) && !field.data ? board_as_double(field.value) : 0;
}

/* A HistogramProto {1 min, 2 max, 6 bucket_limit, 7 bucket}: empty buckets at the ends are left out, and the outer limits are the
 * real ones. */
static bins old_bins(const board_field *message)
{
    size_t room = message->size / 8 + 1;
    double *limits = calloc(room, sizeof *limits), *counts = calloc(room, sizeof *counts), *out = calloc(3 * room, sizeof *out);
    size_t count = 0, start = 0;
    if (limits && counts && out) {
        size_t limit_count = doubles_of(message, 6, limits, room);
        count = doubles_of(message, 7, counts, room);
        count = count < limit_count ? count : limit_count;
    }
    while (start < count && !(counts[start] > 0))
        start++;
    while (count > start && !(counts[count - 1] > 0))
        count--;
    for (size_t i = start; i < count; i++) {
        double *bin = out + 3 * (i - start);
        bin[0] = (double)(float)(i == start ? number_at(message, 1) : limits[i - 1]);
        bin[1] = (double)(float)(i + 1 == count ? number_at(message, 2) : limits[i]);
        bin[2] = (double)(float)counts[i];
    }
    free(limits);
    free(counts);
    return (bins){ out, count - start };
}

static bins bins_of(board_value *value)
{
    if (value->kind == BOARD_HISTO)
        return old_bins(&value->body);
    tw_tensor *tensor = board_tensor(value);
    int64_t count = tensor && tw_tensor_dtype(tensor) != TW_STRING ? tw_tensor_count(tensor) / 3 : 0;
    double *out = count > 0 && count < BINS_LIMIT ? malloc((size_t)count * 3 * sizeof *out) : NULL;
    for (int64_t i = 0; out && i < 3 * count; i++)
        out[i] = tw_tensor_double_at(tensor, i);
    tw_clear_error();
    return (bins){ out, out ? (size_t)count : 0 };
}

void board_put_bins(FILE *out, board_value *value, bool named)
{
    static const char *const names[] = { "{\"min\":", ",\"max\":", ",\"count\":" };
    bins b = bins_of(value);
    fputc('[', out);
    for (size_t i = 0; i < b.count; i++) {
        fputs(i ? "," : "", out);
        for (int k = 0; k < 3; k++) {
            fputs(named ? names[k] : k ? "," : "[", out);
            board_put_number(out, b.values[3 * i + (size_t)k]);
        }
        fputs(named ? "}" : "]", out);
    }
    fputc(']', out);
    free(b.values);
}

/* The value below which so many of 10000 lie: linear inside of a bin. `at` is where the search begins, and ended. */
static double quantile(const bins *b, double point, double total)
{
    double before = 0, low = b->values[0], high = b->values[3 * b->count - 2];
    for (size_t i = 0; i < b->count; i++) {
        double weight = b->values[3 * i + 2] * 10000 / (total ? total : 1), sum = before + weight;
        if (sum > point && sum != before) {
            double left = i == 0 || before == 0 ? low : b->values[3 * i - 2] > low ? b->values[3 * i - 2] : low;
            double right = b->values[3 * i + 1] < high ? b->values[3 * i + 1] : high;
            return left + (point - before) * (right - left) / (sum - before);
        }
        before = sum;
    }
    return high;
}

static void put_distribution(FILE *out, board_value *value)
{
    bins b = bins_of(value);
    double total = 0;
    for (size_t i = 0; i < b.count; i++)
        total += b.values[3 * i + 2];
    fputc('[', out);
    for (size_t i = 0; i < sizeof POINTS / sizeof *POINTS; i++) {
        fprintf(out, i ? ",[%.0f," : "[%.0f,", POINTS[i]);
        board_put_number(out, b.count ? quantile(&b, POINTS[i], total) : 0);
        fputc(']', out);
    }
    fputc(']', out);
    free(b.values);
}

static void put_all(board *b, const board_request *request, board_answer *answer, void (*put)(FILE *out, board_value *value))
{
    const board_run *run;
    const board_tag *tag;
    FILE *out = answer->body;
    bool first = true;
    if (!board_asked(b, request, "histograms", 404, answer, &run, &tag))
        return;
    fputc('[', out);
    for (size_t i = 0; i < tag->place_count; i++) {
        board_value value;
        if (!board_fetch(b, run, &tag->places[i], &value))
            continue;
        fputs(first ? "[" : ",[", out);
        first = false;
        board_put_number(out, tag->places[i].wall_time);
        fprintf(out, ",%lld,", (long long)tag->places[i].step);
        put(out, &value);
        fputc(']', out);
        board_value_free(&value);
    }
    fputc(']', out);
}

static void put_plain_bins(FILE *out, board_value *value)
{
    board_put_bins(out, value, false);
}

static void put_tags(board *b, const board_request *request, board_answer *answer)
{
    (void)request;
    board_put_tags(b, "histograms", false, answer->body);
}

static void put_histograms(board *b, const board_request *request, board_answer *answer)
{
    put_all(b, request, answer, put_plain_bins);
}

static void put_distributions(board *b, const board_request *request, board_answer *answer)
{
    put_all(b, request, answer, put_distribution);
}

const board_route board_histogram_routes[] = {
    { "histograms", "tags", put_tags, NULL },
    { "histograms", "histograms", put_histograms, NULL },
    { "distributions", "tags", put_tags, NULL },
    { "distributions", "distributions", put_distributions, NULL },
    { 0 },
};
