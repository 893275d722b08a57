/* Summaries as ops: a scalar string tensor that holds a serialized Summary, for FileWriter.add_summary.
 *
 *     Summary        1 repeated Value {1 tag, 2 simple_value float, 5 histo HistogramProto}
 *     HistogramProto 1 min, 2 max, 3 num, 4 sum, 5 sum_squares (doubles), 6 bucket_limit, 7 bucket (packed doubles)
 *
 * A histogram's limits are ±1e-12 · 1.1^k below 1e20, 0 and the largest doubles; runs of empty buckets are written as one. */
#include <float.h>
#include <math.h>

#include "codec/message.h"
#include "op/op.h"
#include "rows.h"

#define REAL_TYPES "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"

/* Gives the text as the output. */
static tw_status finish(tw__kernel *kernel, tw__text *text, tw_status status)
{
    if (status == TW_OK && text->failed)
        status = TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK)
        status = tw__string_set(kernel->outputs[0], 0, text->data ? text->data : "", text->size);
    tw__text_free(text);
    return status;
}

/* ---- scalars ---- */

static void add_scalar(tw__text *text, tw_string tag, float value)
{
    size_t start = tw__open_Summary_value(text);
    tw__put_Summary_Value_tag(text, tag.data ? tag.data : "", tag.size);
    tw__put_Summary_Value_simple_value(text, value);
    tw__close(text, start);
}

static tw_status scalar_compute(tw__kernel *kernel)
{
    const tw_tensor *tags = kernel->inputs[0], *values = kernel->inputs[1];
    if (!tw__shape_equal(&tags->shape, &values->shape) && !(tags->shape.rank == 0 && values->shape.rank == 0))
        return tw__fail(TW_INVALID_ARGUMENT, "tags and values are not the same shape: %s != %s", tw__shape_text(&tags->shape),
                        tw__shape_text(&values->shape));
    tw__text text = { 0 };
    for (int64_t i = 0; i < tags->count; i++)
        add_scalar(&text, tw_tensor_string_at(tags, i), (float)tw_tensor_double_at(values, i));
    return finish(kernel, &text, TW_OK);
}

TW_OP(ScalarSummary, .inputs = "tags: string, values: T", .outputs = "summary: string", .attrs = "T: " REAL_TYPES,
      .shape = tw_shape_scalar, .compute = scalar_compute, .doc = "A Summary of scalars.");

/* ---- histograms ---- */

enum { LIMITS_MAXIMUM = 2 * 800 + 3 };

typedef struct histogram {
    double limits[LIMITS_MAXIMUM], buckets[LIMITS_MAXIMUM];
    int count;
    double minimum, maximum, number, sum, squares;
} histogram;

static void set_limits(histogram *h)
{
    double positive[LIMITS_MAXIMUM / 2];
    int count = 0;
    for (double v = 1e-12; v < 1e20; v *= 1.1)
        positive[count++] = v;
    positive[count++] = DBL_MAX;
    for (int i = count; i-- > 0;)
        h->limits[h->count++] = -positive[i];
    h->limits[h->count++] = 0;
    for (int i = 0; i < count; i++)
        h->limits[h->count++] = positive[i];
    h->minimum = DBL_MAX;
    h->maximum = -DBL_MAX;
}

static void count_value(histogram *h, double value)
{
    int low = 0, high = h->count - 1; /* the first limit above the value */
    while (low < high) {
        int middle = (low + high) / 2;
        if (h->limits[middle] > value)
            high = middle;
        else
            low = middle + 1;
    }
    h->buckets[low]++;
    h->minimum = fmin(h->minimum, value);
    h->maximum = fmax(h->maximum, value);
    h->number++;
    h->sum += value;
    h->squares += value * value;
}

static void add_double(tw__text *text, void (*put)(tw__text *text, double value), double value)
{
    if (tw__bits_of_double(value))
        put(text, value);
}

static void write_histogram(tw__text *text, const histogram *h)
{
    tw__text limits = { 0 }, buckets = { 0 };
    for (int i = 0; i < h->count;) {
        double limit = h->limits[i], count = h->buckets[i++];
        for (; count <= 0 && i < h->count && h->buckets[i] <= 0; i++)
            limit = h->limits[i];
        uint8_t bytes[16];
        tw__put64(bytes, tw__bits_of_double(limit));
        tw__put64(bytes + 8, tw__bits_of_double(count));
        tw__text_bytes(&limits, bytes, 8);
        tw__text_bytes(&buckets, bytes + 8, 8);
    }
    add_double(text, tw__put_HistogramProto_min, h->minimum);
    add_double(text, tw__put_HistogramProto_max, h->maximum);
    add_double(text, tw__put_HistogramProto_num, h->number);
    add_double(text, tw__put_HistogramProto_sum, h->sum);
    add_double(text, tw__put_HistogramProto_sum_squares, h->squares);
    tw__put_HistogramProto_bucket_limit(text, limits.data, limits.size);
    tw__put_HistogramProto_bucket(text, buckets.data, buckets.size);
    text->failed |= limits.failed || buckets.failed;
    tw__text_free(&limits);
    tw__text_free(&buckets);
}

static tw_status count_values(const tw_tensor *values, tw_string tag, histogram *h)
{
    set_limits(h);
    for (int64_t i = 0; i < values->count; i++) {
        double value = tw_tensor_double_at(values, i);
        if (!isfinite(value))
            return tw__fail(TW_INVALID_ARGUMENT, "%s for: %.*s",
                            isnan(value) ? "Nan in summary histogram" : "Infinity in Histogram",
                            (int)(tag.size < 200 ? tag.size : 200), tag.data ? tag.data : "");
        count_value(h, value);
    }
    return TW_OK;
}

static tw_status histogram_compute(tw__kernel *kernel)
{
    if (kernel->inputs[0]->count != 1)
        return tw__fail(TW_INVALID_ARGUMENT, "tags must be scalar");
    tw_string tag = tw_tensor_string_at(kernel->inputs[0], 0);
    tw__owned histogram *h = tw__alloc_zero(sizeof *h);
    if (!h)
        return TW_RESOURCE_EXHAUSTED;
    tw__text text = { 0 };
    tw_status status = count_values(kernel->inputs[1], tag, h);
    if (status == TW_OK) {
        size_t value = tw__open_Summary_value(&text);
        tw__put_Summary_Value_tag(&text, tag.data ? tag.data : "", tag.size);
        size_t histo = tw__open_Summary_Value_histo(&text);
        write_histogram(&text, h);
        tw__close(&text, histo);
        tw__close(&text, value);
    }
    return finish(kernel, &text, status);
}

TW_OP(HistogramSummary, .inputs = "tag: string, values: T", .outputs = "summary: string", .attrs = "T: " REAL_TYPES " = float",
      .shape = tw_shape_scalar, .compute = histogram_compute, .doc = "A Summary of how values are distributed.");

/* ---- several in one ---- */

/* Adds the values of one Summary; their tags must be new. */
static tw_status merge(tw__kernel *kernel, tw__text *text, tw__map *tags, tw_string summary)
{
    tw__Summary from;
    tw__Summary_Value value;
    bool good = tw__read_Summary(summary, &from);
    for (tw_string bytes; good && tw__next_bytes(&from.value, &bytes);) {
        good = tw__read_Summary_Value(bytes, &value);
        tw_string tag = good ? value.tag : (tw_string){ "", 0 };
        if (tag.size && tw__map_has(tags, tag.data, tag.size))
            return tw__fail(TW_INVALID_ARGUMENT, "Duplicate tag %.*s found in summary inputs",
                            (int)(tag.size < 200 ? tag.size : 200), tag.data);
        if (tag.size)
            TW_TRY(tw__map_put(tags, tag.data, tag.size, kernel));
        tw__put_Summary_value(text, bytes.data, bytes.size);
    }
    return !good ? tw__fail(TW_INVALID_ARGUMENT, "Could not parse one of the summary inputs") : TW_OK;
}

static tw_status merge_compute(tw__kernel *kernel)
{
    tw__text text = { 0 };
    tw__map tags = { 0 };
    tw_status status = TW_OK;
    for (int i = 0; status == TW_OK && i < kernel->input_count; i++) {
        for (int64_t k = 0; status == TW_OK && k < kernel->inputs[i]->count; k++)
            status = merge(kernel, &text, &tags, tw_tensor_string_at(kernel->inputs[i], k));
    }
    tw__map_free(&tags, NULL);
    return finish(kernel, &text, status);
}

TW_OP(MergeSummary, .inputs = "inputs: N * string", .outputs = "summary: string", .attrs = "N: int >= 1",
      .shape = tw_shape_scalar, .compute = merge_compute, .doc = "The values of several Summaries in one.");
