/* FixedUnigramCandidateSampler's weights, from the attrs or a file, and the table by which classes are drawn. */
#include <math.h>
#include <stdlib.h>

#include "op/nn/sampler.h"

void tw__fixed_sampler_end(tw__fixed_sampler *s)
{
    tw__free(s->weights);
    tw__free(s->chances);
    tw__free(s->others);
    *s = (tw__fixed_sampler){ 0 };
}

/* The weight of the next class, if that belongs to this shard. */
static void put(tw__fixed_sampler *s, const tw__kernel *kernel, int64_t word, float weight)
{
    if (word % TW_ATTR(kernel, "num_shards")->i != TW_ATTR(kernel, "shard")->i)
        return;
    weight = powf(weight, (float)TW_ATTR(kernel, "distortion")->f);
    s->total += weight;
    s->weights[s->count++] = weight;
}

static tw_status read_lines(tw__kernel *kernel, tw__fixed_sampler *s, char *text, int64_t reserved)
{
    int64_t word = reserved;
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        char *last = strrchr(line, ','), *end;
        last = last ? last + 1 : line;
        float weight = strtof(last, &end);
        while (*end == ' ' || *end == '\r' || *end == '\t')
            end++;
        if (end == last || *end)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Wrong vocabulary format at line: %s", line);
        put(s, kernel, word++, weight);
    }
    return TW_OK;
}

static int64_t count_lines(const char *text)
{
    int64_t lines = 1;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* Pairs classes that have more than an equal share with those that have less. */
static tw_status pair(tw__fixed_sampler *s)
{
    int64_t n = s->count, high = 0, low = 0;
    tw__owned double *share = tw__alloc_array((size_t)n, sizeof *share);
    tw__owned int32_t *above = tw__alloc_array((size_t)n, sizeof *above), *under = tw__alloc_array((size_t)n, sizeof *under);
    s->chances = tw__alloc_array((size_t)n, sizeof *s->chances);
    s->others = tw__alloc_array((size_t)n, sizeof *s->others);
    if (!share || !above || !under || !s->chances || !s->others)
        return tw__error_status();
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += s->weights[i];
    for (int64_t i = 0; i < n; i++) {
        s->others[i] = (int32_t)i;
        share[i] = (double)(s->weights[i] * (float)n) / sum;
        if (share[i] < 1)
            under[low++] = (int32_t)i;
        else
            above[high++] = (int32_t)i;
    }
    while (high && low) {
        int32_t l = under[--low], h = above[--high];
        s->others[l] = h;
        share[h] -= 1 - share[l];
        if (share[h] < 1)
            under[low++] = h;
        else
            above[high++] = h;
    }
    for (int64_t i = 0; i < n; i++)
        s->chances[i] = (float)share[i];
    while (high) /* what rounding left over */
        s->chances[above[--high]] = 1;
    while (low)
        s->chances[under[--low]] = 1;
    return TW_OK;
}

tw_status tw__fixed_sampler_begin(tw__kernel *kernel, tw__fixed_sampler *s)
{
    const tw_attr *unigrams = TW_ATTR(kernel, "unigrams");
    tw_string file = TW_ATTR(kernel, "vocab_file")->s;
    int64_t reserved = TW_ATTR(kernel, "num_reserved_ids")->i;
    tw__owned char *text = NULL;
    if ((file.size == 0) == (unigrams->count == 0))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT,
                          file.size ? "Must not provide both vocab_file and unigrams."
                                    : "Must provide either vocab_file or unigrams.");
    if (TW_ATTR(kernel, "shard")->i >= TW_ATTR(kernel, "num_shards")->i)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "shard must be less than num_shards");
    if (reserved < 0 || reserved > INT32_MAX)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "num_reserved_ids is %lld", (long long)reserved);
    if (file.size) {
        size_t size;
        tw__owned char *path = tw__strndup(file.data, file.size);
        if (!path || !(text = tw__file_read_all(path, (size_t)1 << 31, &size)))
            return tw__error_status();
    }
    int64_t most = reserved + (text ? count_lines(text) : unigrams->count);
    if (most > INT32_MAX || !(s->weights = tw__alloc_array((size_t)most, sizeof *s->weights)))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%lld classes are too many", (long long)most);
    for (; s->count < reserved; s->count++)
        s->weights[s->count] = 0;
    for (int i = 0; !text && i < unigrams->count; i++)
        put(s, kernel, reserved + i, (float)unigrams->floats[i]);
    if (text)
        TW_TRY(read_lines(kernel, s, text, reserved));
    if (!(s->total > 0) || !isfinite(s->total))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the weights must have a positive, finite sum");
    return pair(s);
}
