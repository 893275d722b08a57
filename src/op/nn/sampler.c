/* Candidate samplers: classes drawn from a distribution over [0, range_max), with how often each is expected to come, and
 * ComputeAccidentalHits. The numbers are TensorFlow's for the same seeds: words of Philox, taken one by one. */
#include <math.h>
#include <stdlib.h>

#include "base/pause.h"
#include "op/guard.h"
#include "op/nn/sampler.h"
#include "op/random/random.h"
#include "rows.h"

/* ---- numbers below a limit, all equally likely ---- */

static uint64_t next_of(tw__words *words, bool wide)
{
    uint64_t low = tw__words_next(words);
    return wide ? low | (uint64_t)tw__words_next(words) << 32 : low;
}

static uint64_t below(tw__words *words, uint64_t limit, bool wide)
{
    if ((limit & (limit - 1)) == 0)
        return next_of(words, wide) & (limit - 1);
    uint64_t rest = (wide ? UINT64_MAX : UINT32_MAX) % limit + 1, value;
    do {
        value = next_of(words, wide);
    } while (value < rest); /* these would favour small numbers */
    return value % limit;
}

/* ---- distributions ---- */

/* What lives as long as this use of the op. */
typedef struct sampler {
    tw__philox philox;
    int64_t range;
    tw__fixed_sampler fixed; /* of FixedUnigram */
    int64_t leaves;          /* of learned unigrams: sums of weights, the children of i at 2i and 2i + 1 */
    int32_t *sums;
} sampler;

static void sampler_free(void *state)
{
    sampler *s = state;
    if (s) {
        tw__fixed_sampler_end(&s->fixed);
        tw__free(s->sums);
        tw__free(s);
    }
}

static bool is_learned(const tw_op *op)
{
    return op == &tw__op_LearnedUnigramCandidateSampler || op == &tw__op_ThreadUnsafeUnigramCandidateSampler;
}

static tw_status learned_begin(tw__kernel *kernel, sampler *s)
{
    s->leaves = 1;
    while (s->leaves < s->range)
        s->leaves *= 2;
    if (s->range > (int64_t)1 << 26 || !(s->sums = tw__alloc_array((size_t)(2 * s->leaves), sizeof *s->sums)))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "range_max is %lld, too large for learned unigrams", (long long)s->range);
    for (int64_t i = 0; i < s->leaves; i++)
        s->sums[s->leaves + i] = i < s->range;
    for (int64_t i = s->leaves - 1; i >= 1; i--)
        s->sums[i] = s->sums[2 * i] + s->sums[2 * i + 1];
    return TW_OK;
}

static void learn(sampler *s, const int64_t *classes, int64_t count)
{
    for (int64_t k = 0; k < count && s->sums[1] < INT32_MAX; k++) {
        for (int64_t i = s->leaves + classes[k]; i >= 1; i /= 2)
            s->sums[i]++;
    }
}

static int64_t draw(const tw_op *op, sampler *s, tw__words *words)
{
    if (op == &tw__op_UniformCandidateSampler)
        return (int64_t)below(words, (uint64_t)s->range, true);
    if (op == &tw__op_LogUniformCandidateSampler) {
        double value = exp(tw__words_uniform(words) * log1p((double)s->range));
        return ((int64_t)value - 1) % s->range;
    }
    if (op == &tw__op_FixedUnigramCandidateSampler) {
        float chance = tw__word_float(tw__words_next(words));
        int64_t at = (int64_t)below(words, (uint64_t)s->fixed.count, false);
        return chance < s->fixed.chances[at] ? at : s->fixed.others[at];
    }
    int32_t weight = (int32_t)below(words, (uint32_t)s->sums[1], false);
    int64_t at = 1;
    while (at < s->leaves) {
        at *= 2;
        if (weight >= s->sums[at])
            weight -= s->sums[at++];
    }
    return at - s->leaves;
}

static float probability(const tw_op *op, const sampler *s, int64_t value)
{
    if (op == &tw__op_UniformCandidateSampler)
        return (float)(1.0 / (double)s->range);
    if (op == &tw__op_LogUniformCandidateSampler)
        return (float)(log(((double)value + 2.0) / ((double)value + 1.0)) / log1p((double)s->range));
    if (op == &tw__op_FixedUnigramCandidateSampler)
        return s->fixed.weights[value] / s->fixed.total;
    return (float)s->sums[s->leaves + value] / (float)s->sums[1];
}

static float expected(float chance, int64_t samples, int64_t tries)
{
    return tries == samples ? chance * (float)samples : -expm1f((float)tries * log1pf(-chance));
}

/* ---- the kernel ---- */

typedef struct drawn {
    int64_t value, place;
} drawn;

/* An open hash table of the classes that were drawn. */
typedef struct seen {
    int64_t *slots, mask;
} seen;

static bool insert(seen *set, int64_t value)
{
    int64_t at = (int64_t)((uint64_t)value * 0x9E3779B97F4A7C15u >> 20) & set->mask;
    for (; set->slots[at] >= 0; at = (at + 1) & set->mask) {
        if (set->slots[at] == value)
            return false;
    }
    set->slots[at] = value;
    return true;
}

static tw_status draw_all(tw__kernel *kernel, sampler *s, int64_t *values, int64_t count, bool unique, int64_t *tries)
{
    tw__words words = tw__words_of(s->philox);
    tw__philox_skip(&s->philox, (2048 * (uint64_t)count + 3) / 4);
    *tries = count;
    if (!unique) {
        for (int64_t i = 0; i < count; i++)
            values[i] = draw(kernel->op, s, &words);
        return TW_OK;
    }
    seen set = { .mask = 15 };
    while (set.mask < 2 * count)
        set.mask = 2 * set.mask + 1;
    tw__owned int64_t *slots = set.slots = tw__alloc_array((size_t)set.mask + 1, sizeof *slots);
    if (!slots)
        return tw__error_status();
    memset(slots, -1, (size_t)(set.mask + 1) * sizeof *slots);
    int64_t made = 0;
    for (*tries = 0; made < count; ++*tries) {
        if (*tries == INT32_MAX - 1)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "too few classes have a chance: %lld different ones are wanted",
                              (long long)count);
        TW_TRY(tw__pause());
        int64_t value = draw(kernel->op, s, &words);
        if (insert(&set, value))
            values[made++] = value;
    }
    return TW_OK;
}

static tw_status sampler_begin(tw__kernel *kernel, sampler **made)
{
    if ((*made = *kernel->state))
        return TW_OK;
    bool all = kernel->op == &tw__op_AllCandidateSampler;
    sampler *s = tw__alloc(sizeof *s);
    if (!s)
        return tw__error_status();
    *s = (sampler){ .range = TW_ATTR(kernel, all ? "num_sampled" : "range_max")->i };
    int64_t seed = TW_ATTR(kernel, "seed")->i, seed2 = TW_ATTR(kernel, "seed2")->i;
    bool chance = seed == 0 && seed2 == 0;
    s->philox =
        chance ? tw__philox_seeded((int64_t)tw__random_entropy(), (int64_t)tw__random_entropy()) : tw__philox_seeded(seed, seed2);
    tw_status status = is_learned(kernel->op)                               ? learned_begin(kernel, s)
                       : kernel->op == &tw__op_FixedUnigramCandidateSampler ? tw__fixed_sampler_begin(kernel, &s->fixed)
                                                                            : TW_OK;
    if (status == TW_OK && s->fixed.weights && s->fixed.count != s->range)
        status = TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "range_max is %lld, got weights of %lld classes", (long long)s->range,
                            (long long)s->fixed.count);
    if (status != TW_OK) {
        sampler_free(s);
        return status;
    }
    *kernel->state = *made = s;
    return TW_OK;
}

static tw_status sampler_compute(tw__kernel *kernel)
{
    sampler *s;
    const tw_tensor *classes = kernel->inputs[0];
    int64_t count = TW_ATTR(kernel, "num_sampled")->i, tries = count;
    bool unique = TW_ATTR(kernel, "unique")->b, all = kernel->op == &tw__op_AllCandidateSampler;
    int64_t *values = kernel->outputs[0]->data;
    const int64_t *labels = classes->data;
    float *of_true = kernel->outputs[1]->data, *of_drawn = kernel->outputs[2]->data;
    TW_TRY(sampler_begin(kernel, &s));
    if (unique && count > s->range)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Sampler's range is too small.");
    for (int64_t i = 0; i < classes->count; i++) {
        if (labels[i] < 0 || labels[i] >= s->range)
            return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "`true_candidate` out of range [0, %lld), received %lld",
                              (long long)s->range, (long long)labels[i]);
    }
    if (all) {
        for (int64_t i = 0; i < count; i++) {
            values[i] = i;
            of_drawn[i] = 1;
        }
        for (int64_t i = 0; i < classes->count; i++)
            of_true[i] = 1;
        return TW_OK;
    }
    TW_TRY(draw_all(kernel, s, values, count, unique, &tries));
    for (int64_t i = 0; i < count; i++)
        of_drawn[i] = expected(probability(kernel->op, s, values[i]), count, tries);
    for (int64_t i = 0; i < classes->count; i++)
        of_true[i] = expected(probability(kernel->op, s, labels[i]), count, tries);
    if (is_learned(kernel->op))
        learn(s, labels, classes->count);
    return TW_OK;
}

static tw_status sampler_shape(tw__inference *inference)
{
    const tw_shape *classes = inference->shapes[0];
    int64_t count = TW_ATTR(inference, "num_sampled")->i, wanted = TW_ATTR(inference, "num_true")->i;
    if (classes->rank >= 0 && classes->rank != 2)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "true_classes must be a matrix");
    if (classes->rank == 2 && classes->dims[1] >= 0 && classes->dims[1] != wanted)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "true_classes must have num_true columns, expected: %lld was: %lld",
                          (long long)classes->dims[1], (long long)wanted);
    inference->out_shapes[0] = inference->out_shapes[2] = TW_SHAPE(count);
    inference->out_shapes[1] = TW_SHAPE(classes->rank == 2 ? classes->dims[0] : -1, wanted);
    return TW_OK;
}

#define COUNTS "num_true: int >= 1, num_sampled: int >= 1, unique: bool, "
#define RANGE "range_max: int >= 1, "
#define SEEDS "seed: int = 0, seed2: int = 0"
#define SAMPLER_ROW                                                                                                            \
    .inputs = "true_classes: int64",                                                                                           \
    .outputs = "sampled_candidates: int64, true_expected_count: float, sampled_expected_count: float", .shape = sampler_shape, \
    .compute = sampler_compute, .stateful = true, .free_state = sampler_free

TW_OP(UniformCandidateSampler, SAMPLER_ROW, .attrs = COUNTS RANGE SEEDS, .doc = "Classes, all equally likely.");
TW_OP(LogUniformCandidateSampler, SAMPLER_ROW, .attrs = COUNTS RANGE SEEDS,
      .doc = "Classes in the order of how often they occur: the chances fall as those of words do.");
TW_OP(LearnedUnigramCandidateSampler, SAMPLER_ROW, .attrs = COUNTS RANGE SEEDS,
      .doc = "Classes as often as they have been true ones so far.");
TW_OP(ThreadUnsafeUnigramCandidateSampler, SAMPLER_ROW, .attrs = COUNTS RANGE SEEDS,
      .doc = "Classes as often as they have been true ones so far.");
TW_OP(AllCandidateSampler, SAMPLER_ROW, .attrs = COUNTS SEEDS, .doc = "All classes.");
TW_OP(FixedUnigramCandidateSampler, SAMPLER_ROW,
      .attrs = COUNTS RANGE
      "vocab_file: string = '', distortion: float = 1.0, num_reserved_ids: int = 0, num_shards: int >= 1 = 1, "
      "shard: int >= 0 = 0, unigrams: list(float) = [], " SEEDS,
      .touches = TW_READS_FILES, .paths = "vocab_file", .doc = "Classes by weights that are given, or stand in a file.");

/* ---- ComputeAccidentalHits ---- */

static tw_status hits_shape(tw__inference *inference)
{
    TW_TRY(tw__need_rank(inference, 0, 2));
    TW_TRY(tw__need_rank(inference, 1, 1));
    const tw_shape *classes = inference->shapes[0];
    int64_t wanted = TW_ATTR(inference, "num_true")->i;
    if (classes->rank == 2 && classes->dims[1] >= 0 && classes->dims[1] != wanted)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "true_candidates must have %lld columns, got shape %s",
                          (long long)wanted, tw__shape_text(classes));
    for (int i = 0; i < 3; i++)
        inference->out_shapes[i] = TW_SHAPE(-1);
    return TW_OK;
}

static int by_value(const void *a, const void *b)
{
    const drawn *x = a, *y = b;
    return x->value != y->value ? (x->value > y->value) - (x->value < y->value) : (x->place > y->place) - (x->place < y->place);
}

/* The last place of a class among the sorted ones; -1: it was not drawn. */
static int64_t place_of(const drawn *sorted, int64_t count, int64_t value)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (sorted[middle].value <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low && sorted[low - 1].value == value ? sorted[low - 1].place : -1;
}

static tw_status hits_compute(tw__kernel *kernel)
{
    const tw_tensor *classes = kernel->inputs[0], *candidates = kernel->inputs[1];
    const int64_t *labels = classes->data, *sampled = candidates->data;
    int64_t columns = classes->shape.dims[1], found = 0;
    tw__owned drawn *sorted = tw__alloc_array((size_t)candidates->count + 1, sizeof *sorted);
    if (!sorted)
        return tw__error_status();
    for (int64_t i = 0; i < candidates->count; i++)
        sorted[i] = (drawn){ sampled[i], i };
    qsort(sorted, (size_t)candidates->count, sizeof *sorted, by_value);
    for (int64_t i = 0; i < classes->count; i++)
        found += place_of(sorted, candidates->count, labels[i]) >= 0;
    tw_shape shape = TW_SHAPE(found);
    for (int i = 0; i < 3; i++) {
        if (!tw__output(kernel, i, &shape))
            return tw__error_status();
    }
    int32_t *rows = kernel->outputs[0]->data;
    int64_t *ids = kernel->outputs[1]->data, at = 0;
    float *weights = kernel->outputs[2]->data;
    for (int64_t i = 0; i < classes->count; i++) {
        int64_t place = place_of(sorted, candidates->count, labels[i]);
        if (place < 0)
            continue;
        rows[at] = (int32_t)(i / columns);
        ids[at] = place;
        weights[at++] = -3.402823466e+38f;
    }
    return TW_OK;
}

TW_OP(ComputeAccidentalHits, .inputs = "true_classes: int64, sampled_candidates: int64",
      .outputs = "indices: int32, ids: int64, weights: float", .attrs = "num_true: int, " SEEDS, .shape = hits_shape,
      .compute = hits_compute,
      .doc = "Where true classes are among those that were drawn: the row, the place, and a weight that rules it out.");
