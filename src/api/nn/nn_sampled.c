/* tf.random's and tf.nn's candidate samplers, and the losses that compare true classes with drawn ones. */
#include "api/api.h"
#include "api/array/array.h"
#include "api/composite.h"
#include "api/nn/nn.h"
#include "api/random/random.h"
#include "eager/eager.h"
#include "op/calls.h"
#include "rows.h"

/* The sampler with seeds that follow from the op's seed. */
static tw_tensors sample(const tw_op *op, tw_tensor *classes, int64_t seed, const tw_attr *attrs, int count)
{
    tw__seeds seeds = tw__seed_pair(seed);
    if (seeds.refused)
        return (tw_tensors){ 0 };
    tw_attr all[TW_MAX_ATTRS] = { TW_A_INT("seed", seeds.seed), TW_A_INT("seed2", seeds.seed2) };
    for (int i = 0; i < count; i++)
        all[2 + i] = attrs[i];
    tw__kernel_state_once = seeds.drawn;
    tw_tensors made = tw__call_many(op, TW_IN(classes), 1, all, 2 + count, 3);
    tw__kernel_state_once = false;
    return made;
}

#define SAMPLE(op_)                                                                                  \
    sample(&tw__op_##op_, args->true_classes, args->seed,                                            \
           TW_WITH(TW_A_INT("num_true", args->num_true), TW_A_INT("num_sampled", args->num_sampled), \
                   TW_A_BOOL("unique", args->unique), TW_A_INT("range_max", args->range_max)),       \
           4)
TW_API(
    random_uniform_candidate_sampler,
    "random.uniform_candidate_sampler|compat.v1.nn.uniform_candidate_sampler(true_classes: tensor<int64>, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = None, name: str = None) -> tensors<UniformCandidateSampler>",
    "Classes, all equally likely, with how often the true ones and these are expected.")
{
    return SAMPLE(UniformCandidateSampler);
}

TW_API(
    random_log_uniform_candidate_sampler,
    "random.log_uniform_candidate_sampler|compat.v1.nn.log_uniform_candidate_sampler(true_classes: tensor<int64>, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = None, name: str = None) -> tensors<LogUniformCandidateSampler>",
    "Classes whose chances fall as those of words do, with how often the true ones and these are expected.")
{
    return SAMPLE(LogUniformCandidateSampler);
}

TW_API(
    random_learned_unigram_candidate_sampler,
    "random.learned_unigram_candidate_sampler|nn.learned_unigram_candidate_sampler(true_classes: tensor<int64>, num_true: int, num_sampled: int, unique: bool, range_max: int, seed: int = None, name: str = None) -> tensors<LearnedUnigramCandidateSampler>",
    "Classes as often as they have been true ones so far, with how often the true ones and these are expected.")
{
    return SAMPLE(LearnedUnigramCandidateSampler);
}

TW_API(
    random_all_candidate_sampler,
    "random.all_candidate_sampler|nn.all_candidate_sampler(true_classes: tensor<int64>, num_true: int, num_sampled: int, unique: bool, seed: int = None, name: str = None) -> tensors<AllCandidateSampler>",
    "All classes, each expected once.")
{
    return sample(&tw__op_AllCandidateSampler, args->true_classes, args->seed,
                  TW_WITH(TW_A_INT("num_true", args->num_true), TW_A_INT("num_sampled", args->num_sampled),
                          TW_A_BOOL("unique", args->unique)),
                  3);
}

TW_API(
    random_fixed_unigram_candidate_sampler,
    "random.fixed_unigram_candidate_sampler|nn.fixed_unigram_candidate_sampler(true_classes: tensor<int64>, num_true: int, num_sampled: int, unique: bool, "
    "range_max: int, vocab_file: str = '', distortion: float = 1.0, num_reserved_ids: int = 0, num_shards: int = 1, "
    "shard: int = 0, unigrams: value = None shown (), seed: int = None, name: str = None) -> tensors<FixedUnigramCandidateSampler>",
    "Classes by weights that are given, or stand in a file, with how often the true ones and these are expected.\n"
    "vocab_file: a file with a line for each class whose last column, behind a comma, is its weight\n"
    "distortion: the power that weights are raised to; 0: all classes are equally likely\n"
    "num_reserved_ids: how many ids at the front are never drawn\n"
    "num_shards: how many parts the classes are split into\n"
    "shard: the part that this call draws from\n"
    "unigrams: the weights of the classes, in place of the file\n"
    "returns: the drawn classes, the expected counts of the true ones, and those of the drawn ones")
{
    const tw_value *given = &args->unigrams;
    bool list = given->kind == TW_VALUE_LIST || given->kind == TW_VALUE_TUPLE;
    int64_t count = list ? given->list.count : 0;
    tw__owned double *weights = tw__alloc_array((size_t)count + 1, sizeof *weights);
    for (int64_t i = 0; weights && i < count; i++) {
        const tw_value *item = &given->list.items[i];
        if (item->kind != TW_VALUE_INT && item->kind != TW_VALUE_FLOAT) {
            tw__fail(TW_TYPE_ERROR, "fixed_unigram_candidate_sampler: `unigrams` must be a list of numbers");
            return (tw_tensors){ 0 };
        }
        weights[i] = item->kind == TW_VALUE_INT ? (double)item->i : item->f;
    }
    if (!weights || (!list && given->kind != TW_VALUE_NONE)) {
        if (weights)
            tw__fail(TW_TYPE_ERROR, "fixed_unigram_candidate_sampler: `unigrams` must be a list of numbers");
        return (tw_tensors){ 0 };
    }
    tw_attr attrs[] = { TW_A_INT("num_true", args->num_true),
                        TW_A_INT("num_sampled", args->num_sampled),
                        TW_A_BOOL("unique", args->unique),
                        TW_A_INT("range_max", args->range_max),
                        TW_A_STRING("vocab_file", args->vocab_file ? args->vocab_file : ""),
                        TW_A_FLOAT("distortion", args->distortion),
                        TW_A_INT("num_reserved_ids", args->num_reserved_ids),
                        TW_A_INT("num_shards", args->num_shards),
                        TW_A_INT("shard", args->shard),
                        { .name = "unigrams", .kind = TW_ATTR_FLOATS, .count = (int32_t)count, .floats = weights } };
    return sample(&tw__op_FixedUnigramCandidateSampler, args->true_classes, args->seed, attrs, 10);
}

TW_API(nn_compute_accidental_hits,
       "nn.compute_accidental_hits(true_classes: tensor<int64>, sampled_candidates: tensor<int64>, num_true: int, "
       "seed: int = None, name: str = None) -> tensors",
       "Where true classes are among those that were drawn: rows, places, and weights that rule them out.\n"
       "sampled_candidates: the classes that were drawn\n"
       "returns: rows, places among the drawn classes, and weights")
{
    tw__seeds seeds = tw__seed_pair(args->seed);
    if (seeds.refused)
        return (tw_tensors){ 0 };
    return tw__call_many(&tw__op_ComputeAccidentalHits, TW_IN(args->true_classes, args->sampled_candidates), 2,
                         TW_WITH(TW_A_INT("num_true", args->num_true), TW_A_INT("seed", seeds.seed),
                                 TW_A_INT("seed2", seeds.seed2)),
                         3, 3);
}

/* ---- losses ---- */

typedef struct sampled {
    tw_tensor *weights, *biases, *labels, *inputs;
    int64_t num_sampled, num_classes, num_true, seed;
    const tw_value *given; /* sampled_values */
    bool no_hits;
} sampled;

/* The classes that were drawn and how often each is expected: as given, or by the log-uniform distribution. */
static tw_status candidates(tw__temps *t, const sampled *s, tw_tensor *labels, tw_tensor **made)
{
    if (s->given->kind == TW_VALUE_NONE) {
        tw_tensors drawn =
            tw_random_log_uniform_candidate_sampler(labels, s->num_true, s->num_sampled, true, s->num_classes, .seed = s->seed);
        for (int64_t i = 0; i < 3; i++)
            made[i] = drawn.items ? tw__temp(t, drawn.items[i]) : NULL;
        tw__free(drawn.items);
    } else {
        bool list = s->given->kind == TW_VALUE_LIST || s->given->kind == TW_VALUE_TUPLE;
        if (!list || s->given->list.count != 3)
            return tw__fail(TW_VALUE_ERROR,
                            "`sampled_values` must be a tuple of three tensors: the classes that were drawn, and how "
                            "often the true ones and these are expected");
        for (int i = 0; i < 3; i++)
            made[i] = tw__temp(t, tw__value_tensor(&s->given->list.items[i], TW_DTYPE_NONE, "sampled_values"));
    }
    for (int i = 0; i < 3; i++)
        made[i] = made[i] ? TW_TEMP(StopGradient, made[i]) : NULL;
    made[0] = tw__temp_cast(t, made[0], TW_INT64);
    return made[0] && made[1] && made[2] ? TW_OK : tw__error_status();
}

/* Weights that rule out drawn classes which are true ones. */
static tw_tensor *without_hits(tw__temps *t, const sampled *s, tw_tensor *labels, tw_tensor *drawn, tw_tensor *logits)
{
    tw_tensor *hits[3];
    if (TW_TEMP_ALL(hits, ComputeAccidentalHits, labels, drawn, TW_A_INT("num_true", s->num_true)) != TW_OK)
        return NULL;
    tw_tensor *places[] = { TW_TEMP(ExpandDims, hits[0], 1), TW_TEMP(ExpandDims, tw__temp_cast(t, hits[1], TW_INT32), 1) };
    tw_tensor *sizes[] = { tw__temp_slice(t, tw__temp_shape(t, labels, TW_INT32), 0, 1),
                           tw__temp_ints(t, &s->num_sampled, 1, TW_INT32) };
    tw_tensor *pairs = places[0] && places[1] ? tw__temp_concat(t, places, 2, 1) : NULL,
              *shape = sizes[0] && sizes[1] ? tw__temp_concat(t, sizes, 2, 0) : NULL;
    tw_tensor *ruled = tw__temp_cast(t, hits[2], logits->dtype), *zero = tw__temp_float(t, logits->dtype, 0);
    return TW_TEMP(AddV2, logits, TW_TEMP(SparseToDense, pairs, shape, ruled, zero, TW_A_BOOL("validate_indices", false)));
}

/* Logits of the true classes and of the drawn ones, side by side, and the labels that go with them. */
static tw_status sampled_logits(tw__temps *t, const sampled *s, tw_tensor **logits, tw_tensor **targets)
{
    tw_tensor *drawn[3], *inputs = s->inputs, *labels = tw__temp_cast(t, s->labels, TW_INT64);
    int64_t minus = -1;
    if (!labels)
        return tw__error_status();
    if (s->num_true < 1)
        return tw__fail(TW_VALUE_ERROR, "`num_true` must be at least 1, got %lld", (long long)s->num_true);
    tw_tensor *flat = TW_TEMP(Reshape, labels, tw__temp_ints(t, &minus, 1, TW_INT32));
    TW_TRY(candidates(t, s, labels, drawn));
    tw_tensor *ids = flat ? tw__temp_concat(t, (tw_tensor *[]){ flat, drawn[0] }, 2, 0) : NULL;
    tw_tensor *rows = ids ? tw__temp_cast(t, tw__temp_gather(t, s->weights, ids, 0), inputs->dtype) : NULL;
    tw_tensor *biases = ids ? tw__temp_cast(t, tw__temp_gather(t, s->biases, ids, 0), inputs->dtype) : NULL;
    tw_tensor *count = flat ? tw__temp_shape(t, flat, TW_INT32) : NULL;
    tw_tensor *zero = tw__temp_ints(t, (const int64_t[]){ 0 }, 1, TW_INT32), *all = tw__temp_ints(t, &minus, 1, TW_INT32);
    tw_tensor *whole = tw__temp_ints(t, (const int64_t[]){ -1, -1 }, 2, TW_INT32),
              *start = tw__temp_ints(t, (const int64_t[]){ 0, 0 }, 2, TW_INT32);
    if (!rows || !biases || !count || !zero || !all || !whole || !start)
        return tw__error_status();
    tw_tensor *true_rows = TW_TEMP(Slice, rows, start, tw__temp_concat(t, (tw_tensor *[]){ count, all }, 2, 0));
    tw_tensor *drawn_rows = TW_TEMP(Slice, rows, tw__temp_concat(t, (tw_tensor *[]){ count, zero }, 2, 0), whole);
    tw_tensor *of_drawn = TW_TEMP(MatMul, inputs, drawn_rows, TW_A_BOOL("transpose_b", true));
    int64_t lead[] = { -1, s->num_true };
    tw_tensor *columns = tw__temp_ints(t, lead, 2, TW_INT32);
    tw_tensor *width = true_rows ? tw__temp_slice(t, tw__temp_shape(t, true_rows, TW_INT32), 1, 2) : NULL;
    tw_tensor *deep = width ? TW_TEMP(Reshape, true_rows, tw__temp_concat(t, (tw_tensor *[]){ columns, width }, 2, 0)) : NULL;
    tw_tensor *dots = TW_TEMP(Sum, TW_TEMP(Mul, TW_TEMP(ExpandDims, inputs, 1), deep), 2);
    tw_tensor *of_true = TW_TEMP(AddV2, dots, TW_TEMP(Reshape, TW_TEMP(Slice, biases, zero, count), columns));
    of_drawn = TW_TEMP(AddV2, of_drawn, TW_TEMP(Slice, biases, count, all));
    if (of_drawn && s->no_hits)
        of_drawn = without_hits(t, s, labels, drawn[0], of_drawn);
    tw_tensor *often = tw__temp_cast(t, drawn[1], inputs->dtype), *seldom = tw__temp_cast(t, drawn[2], inputs->dtype);
    of_true = TW_TEMP(Sub, of_true, TW_TEMP(Log, often));
    of_drawn = TW_TEMP(Sub, of_drawn, TW_TEMP(Log, seldom));
    if (!of_true || !of_drawn)
        return tw__error_status();
    tw_tensor *ones = TW_TEMP(RealDiv, TW_TEMP(OnesLike, of_true), (double)s->num_true);
    *logits = tw__temp_concat(t, (tw_tensor *[]){ of_true, of_drawn }, 2, 1);
    *targets = tw__temp_concat(t, (tw_tensor *[]){ ones, TW_TEMP(ZerosLike, of_drawn) }, 2, 1);
    return *logits && *targets ? TW_OK : tw__error_status();
}

TW_API(
    nn_nce_loss,
    "nn.nce_loss(weights: tensor, biases: tensor, labels: tensor<int64>, inputs: tensor, num_sampled: int, num_classes: int, "
    "num_true: int = 1, sampled_values: value = None, remove_accidental_hits: bool = False, name: str = None shown nce_loss) -> tensor",
    "The loss of noise-contrastive estimation: true classes against classes that were drawn.\n"
    "sampled_values: the drawn classes and the expected counts of true and drawn ones, as a candidate sampler gives them; None: they are drawn here\n"
    "remove_accidental_hits: True: drawn classes that are true ones of the sample do not count\n"
    "returns: a loss for each sample\n"
    "inputs: the vectors of the samples, [batch, dimension]")
{
    TW_TEMPS(t);
    tw_tensor *logits, *targets;
    sampled s = { args->weights,     args->biases,   args->labels, args->inputs,          args->num_sampled,
                  args->num_classes, args->num_true, TW_NO_INT,    &args->sampled_values, args->remove_accidental_hits };
    if (sampled_logits(t, &s, &logits, &targets) != TW_OK)
        return NULL;
    tw_tensor *losses = tw__temp(t, tw__sigmoid_cross_entropy_of(targets, logits));
    return TW_CALL(Sum, losses, 1);
}

TW_API(
    nn_sampled_softmax_loss,
    "nn.sampled_softmax_loss(weights: tensor, biases: tensor, labels: tensor<int64>, inputs: tensor, num_sampled: int, "
    "num_classes: int, num_true: int = 1, sampled_values: value = None, remove_accidental_hits: bool = True, seed: int = None, "
    "name: str = None shown sampled_softmax_loss) -> tensor",
    "The softmax loss over true classes and classes that were drawn, in place of all.\n"
    "sampled_values: the drawn classes and the expected counts of true and drawn ones, as a candidate sampler gives them; None: they are drawn here\n"
    "remove_accidental_hits: True: drawn classes that are true ones of the sample do not count\n"
    "returns: a loss for each sample\n"
    "inputs: the vectors of the samples, [batch, dimension]")
{
    TW_TEMPS(t);
    tw_tensor *logits, *targets;
    sampled s = { args->weights,     args->biases,   args->labels, args->inputs,          args->num_sampled,
                  args->num_classes, args->num_true, args->seed,   &args->sampled_values, args->remove_accidental_hits };
    if (sampled_logits(t, &s, &logits, &targets) != TW_OK)
        return NULL;
    return tw__cross_entropy_of(TW_TEMP(StopGradient, targets), logits, -1);
}
