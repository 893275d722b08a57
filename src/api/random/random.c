/* tf.random: seeds and the random functions with state. An op is seeded by (global seed, op seed); one without a
 * seed of its own draws it from a generator that set_seed restarts, which is Python's (MT19937). */
#include <stdatomic.h>
#include <stdlib.h>
#include <strings.h>

#include "api/random/random.h"
#include "eager/eager.h"
#include "graph/graph.h"
#include "op/calls.h"
#include "rows.h"

static tw__lock lock = TW__LOCK;
static bool global_set;
static int64_t global_seed;
static tw__mersenne eager_generator;

/* As Python's seed % (2**31 - 1). */
static int64_t reduce(int64_t seed)
{
    int64_t rest = seed % INT32_MAX;
    return rest < 0 ? rest + INT32_MAX : rest;
}

void tw__set_global_seed(int64_t seed)
{
    tw__lock_take(&lock);
    global_set = seed != TW_NO_INT;
    global_seed = seed;
    if (global_set)
        tw__mersenne_seed(&eager_generator, seed);
    tw__lock_give(&lock);
    tw__kernel_states_clear();
}

enum { DEFAULT_GLOBAL_SEED = 87654321 };

/* In a graph that a program builds, and in functions traced there: by that graph's seed; an op without a seed by its number among
 * such ops. */
static tw__seeds graph_seeds(const tw__graph *root, int64_t op_seed)
{
    tw__seeds seeds = { 0 };
    if (root->seeded || op_seed != TW_NO_INT) {
        seeds.seed = root->seeded ? reduce(root->seed) : DEFAULT_GLOBAL_SEED;
        seeds.seed2 = reduce(op_seed == TW_NO_INT ? tw__tracing->random_ops++ : op_seed);
        if (seeds.seed == 0 && seeds.seed2 == 0)
            seeds.seed2 = INT32_MAX;
    }
    return seeds;
}

static _Atomic int determinism = -1; /* not asked yet */

bool tw__op_determinism(void)
{
    if (determinism < 0) {
        const char *text = getenv("TF_DETERMINISTIC_OPS");
        int none = -1;
        atomic_compare_exchange_strong(&determinism, &none,
                                       text && *text && strcmp(text, "0") != 0 && strcasecmp(text, "false") != 0);
    }
    return determinism;
}

TW_API(config_enable_op_determinism, "config.experimental.enable_op_determinism()",
       "From now on random operations that have no seed are refused. Others give the same numbers in every run anyway.")
{
    determinism = 1;
    return TW_OK;
}

TW_API(config_set_op_determinism, "config.experimental._set_op_determinism(enabled: bool)", "Turns it on or off.")
{
    determinism = args->enabled;
    return TW_OK;
}

TW_API(config_op_determinism, "config.experimental._op_determinism() -> bool", "Whether it is on.")
{
    return tw__op_determinism();
}

tw__seeds tw__seed_pair(int64_t op_seed)
{
    tw__seeds seeds = { 0 };
    const tw__graph *root = tw__graph_root(tw__tracing);
    if (op_seed == TW_NO_INT && !(root ? root->seeded : global_set) && tw__op_determinism()) {
        tw__fail(TW_RUNTIME_ERROR,
                 "Random ops require a seed to be set when determinism is enabled. Please set a seed before running "
                 "the op, e.g. by calling tf.random.set_seed(1).");
        return (tw__seeds){ .refused = true };
    }
    if (root)
        return graph_seeds(root, op_seed);
    tw__lock_take(&lock);
    if (global_set) {
        bool counted = tw__tracing && op_seed == TW_NO_INT; /* a node without a seed is known by its number in the graph */
        seeds.drawn = !counted && op_seed == TW_NO_INT;
        seeds.seed = reduce(global_seed);
        seeds.seed2 = reduce(counted       ? tw__tracing->random_ops++
                             : seeds.drawn ? tw__mersenne_between(&eager_generator, 0, INT32_MAX)
                                           : op_seed);
    } else if (op_seed != TW_NO_INT) {
        seeds.seed = DEFAULT_GLOBAL_SEED;
        seeds.seed2 = reduce(op_seed);
    }
    /* (0, 0) would ask for a seed of the operating system's. */
    if ((global_set || op_seed != TW_NO_INT) && seeds.seed == 0 && seeds.seed2 == 0)
        seeds.seed2 = INT32_MAX;
    tw__lock_give(&lock);
    return seeds;
}

tw_tensor *tw__random_call(const tw_op *op, tw_tensor *const *inputs, int input_count, tw__seeds seeds, const tw_attr *attrs,
                           int attr_count)
{
    if (seeds.refused)
        return NULL;
    tw_attr all[4] = { TW_A_INT("seed", seeds.seed), TW_A_INT("seed2", seeds.seed2) };
    for (int i = 0; i < attr_count; i++)
        all[2 + i] = attrs[i];
    tw__kernel_state_once = seeds.drawn;
    tw_tensor *output = tw__call(op, inputs, input_count, all, 2 + attr_count);
    tw__kernel_state_once = false;
    return output;
}

tw_tensor *tw__random_uniform(tw_tensor *dims, tw_dtype dtype, tw__seeds seeds)
{
    tw_attr type = TW_A_TYPE("dtype", dtype);
    return tw__random_call(&tw__op_RandomUniform, TW_IN(dims), 1, seeds, &type, 1);
}

TW_API(
    random_set_seed, "random.set_seed(seed: int?) -> none",
    "Sets the global seed: every random op that follows is a function of it, of its own seed, and of those before it. None: there "
    "is none, as in the beginning.")
{
    tw__set_global_seed(args->seed);
    return TW_OK;
}

/* values * scale + shift, where each may be missing (NULL). Takes values. */
static tw_tensor *scaled(tw_tensor *values, tw_tensor *scale, tw_tensor *shift)
{
    if (values && scale) {
        tw_tensor *product = TW_CALL(Mul, values, scale);
        tw_release(values);
        values = product;
    }
    if (values && shift) {
        tw_tensor *sum = TW_CALL(AddV2, values, shift);
        tw_release(values);
        values = sum;
    }
    return values;
}

/* values * (high - low) + low, where low may be missing (0) and high too (1). Takes values. */
static tw_tensor *between(tw_tensor *values, tw_tensor *low, tw_tensor *high)
{
    if (!low)
        return scaled(values, high, NULL);
    tw_auto tw_tensor *one = high ? tw_retain(high) : TW_CALL(OnesLike, low);
    tw_auto tw_tensor *range = TW_CALL(Sub, one, low);
    if (!range) {
        tw_release(values);
        return NULL;
    }
    return scaled(values, range, low);
}

static tw_status check_float(const char *function, tw_dtype dtype)
{
    if (tw__dtype_is_float(dtype))
        return TW_OK;
    return tw__fail(TW_TYPE_ERROR, "%s: dtype must be a floating point type, got %s", function, tw_dtype_name(dtype));
}

static tw_status check_uniform(tw_dtype dtype, bool stateless)
{
    if (tw__dtype_is_float(dtype) || dtype == TW_INT32 || dtype == TW_INT64)
        return TW_OK;
    if (stateless && (dtype == TW_UINT32 || dtype == TW_UINT64))
        return TW_OK;
    return tw__fail(
        TW_VALUE_ERROR,
        "Argument `dtype` got invalid value <dtype: '%s'>. Accepted dtypes are (tf.float16, tf.bfloat16, tf.float32, tf.float64, "
        "tf.int32, tf.int64%s).",
        tw_dtype_name(dtype), stateless ? ", tf.uint32, tf.uint64" : "");
}

static tw_tensor *zero_of(tw_dtype dtype)
{
    return tw_tensor_new(dtype, TW_SCALAR, NULL);
}

/* ---- the same in lasting graphs, with every node that TensorFlow makes ---- */

static tw_tensor *number_of(tw_dtype dtype, int number)
{
    tw__outside outside = tw__outside_begin();
    tw_tensor *value = TW_CALL(Cast, (int)number, TW_A_TYPE("DstT", dtype));
    tw__outside_end(outside);
    return value;
}

/* A constant in the scope: the value that was given, or the number. */
static tw_tensor *limit_of(const tw__part *part, tw_tensor *given, tw_dtype dtype, int number, const char *name)
{
    tw_auto tw_tensor *value = given ? tw_retain(given) : number_of(dtype, number);
    return tw__part_constant(part, value, name);
}

/* values * (high - low) + low, the sum under the scope's name. Takes values. */
static tw_tensor *stretched(const tw__part *part, tw_tensor *values, tw_tensor *low, tw_tensor *high)
{
    tw_auto tw_tensor *own = values;
    tw_auto tw_tensor *range = values ? TW_CALL(Sub, high, low) : NULL;
    tw_auto tw_tensor *product = TW_CALL(Mul, values, range);
    return product ? tw__part_call(part, "", &tw__op_AddV2, TW_IN(product, low), 2, NULL, 0) : NULL;
}

/* values * deviation + mean, likewise. Takes values. */
static tw_tensor *shifted(const tw__part *part, tw_tensor *values, tw_tensor *mean, tw_tensor *deviation)
{
    tw_auto tw_tensor *own = values;
    tw_auto tw_tensor *product = TW_CALL(Mul, values, deviation);
    return product ? tw__part_call(part, "", &tw__op_AddV2, TW_IN(product, mean), 2, NULL, 0) : NULL;
}

static bool is_number(const tw_tensor *given, int number)
{
    return !given || (!given->node && given->count == 1 && tw_tensor_double_at(given, 0) == number);
}

static tw_tensor *uniform_in_graph(const tw_random_uniform_args *args)
{
    tw__part part = tw__part_begin(args->name, "random_uniform");
    bool integer = tw__dtype_is_integer(args->dtype), from_zero = is_number(args->minval, 0), to_one = is_number(args->maxval, 1);
    bool limits = integer || !from_zero || !to_one;
    tw_auto tw_tensor *shape = tw__part_constant(&part, args->shape, "shape");
    tw_auto tw_tensor *low = limits ? limit_of(&part, args->minval, args->dtype, 0, "min") : NULL;
    tw_auto tw_tensor *high = limits ? limit_of(&part, args->maxval, args->dtype, 1, "max") : NULL;
    tw_tensor *values = NULL;
    tw__seeds seeds = tw__seed_pair(args->seed);
    tw_attr attrs[] = { TW_A_INT("seed", seeds.seed), TW_A_INT("seed2", seeds.seed2), TW_A_TYPE("dtype", args->dtype) };
    if (!shape || (limits && (!low || !high)))
        return tw__part_result(&part, NULL);
    if (integer)
        return tw__part_result(&part, tw__part_call(&part, "", &tw__op_RandomUniformInt, TW_IN(shape, low, high), 3, attrs, 2));
    values = tw__call(&tw__op_RandomUniform, TW_IN(shape), 1, attrs, 3);
    if (!from_zero)
        return tw__part_result(&part, stretched(&part, values, low, high));
    if (!limits || !values)
        return tw__part_result(&part, values);
    tw_tensor *product = tw__part_call(&part, "Mul", &tw__op_Mul, TW_IN(values, high), 2, NULL, 0);
    tw_release(values);
    return tw__part_result(&part, product);
}

static tw_tensor *normal_in_graph(const tw_op *op, tw_tensor *dims, tw_tensor *mean, tw_tensor *deviation, tw_dtype dtype,
                                  int64_t seed, const char *name, const char *usual)
{
    tw__part part = tw__part_begin(name, usual);
    tw_auto tw_tensor *shape = tw__part_constant(&part, dims, "shape");
    tw_auto tw_tensor *middle = limit_of(&part, mean, dtype, 0, "mean");
    tw_auto tw_tensor *spread = limit_of(&part, deviation, dtype, 1, "stddev");
    tw__seeds seeds = tw__seed_pair(seed);
    tw_attr type = TW_A_TYPE("dtype", dtype);
    tw_tensor *values = shape && middle && spread ? tw__random_call(op, TW_IN(shape), 1, seeds, &type, 1) : NULL;
    return tw__part_result(&part, values ? shifted(&part, values, middle, spread) : NULL);
}

TW_API(
    random_uniform,
    "random.uniform|compat.v1.random_uniform(shape: tensor<int32>, minval: tensor<dtype> = None shown 0, maxval: tensor<dtype> = None, dtype: dtype = float32, "
    "seed: int = None, name: str = None) -> tensor",
    "Values from [minval, maxval), all equally likely; minval is 0 and maxval 1 if not given. Integers need a maxval.")
{
    if (check_uniform(args->dtype, false) != TW_OK)
        return NULL;
    if (tw__dtype_is_integer(args->dtype) && !args->maxval) {
        tw__fail(TW_VALUE_ERROR, "Must specify maxval for integer dtype tf.%s", tw_dtype_name(args->dtype));
        return NULL;
    }
    if (tw__in_graph())
        return uniform_in_graph(args);
    if (tw__dtype_is_integer(args->dtype)) {
        tw_auto tw_tensor *low = args->minval ? tw_retain(args->minval) : zero_of(args->dtype);
        return low ? tw__random_call(&tw__op_RandomUniformInt, TW_IN(args->shape, low, args->maxval), 3,
                                     tw__seed_pair(args->seed), NULL, 0)
                   : NULL;
    }
    tw_attr type = TW_A_TYPE("dtype", args->dtype);
    tw_tensor *values = tw__random_call(&tw__op_RandomUniform, TW_IN(args->shape), 1, tw__seed_pair(args->seed), &type, 1);
    return between(values, args->minval, args->maxval);
}

TW_API(
    random_normal,
    "random.normal|compat.v1.random_normal(shape: tensor<int32>, mean: tensor<dtype> = None shown 0.0, stddev: tensor<dtype> = None shown 1.0, dtype: dtype = float32, "
    "seed: int = None, name: str = None) -> tensor",
    "Normal values; the mean is 0 and the standard deviation 1 if not given.")
{
    if (check_float("random.normal", args->dtype) != TW_OK)
        return NULL;
    if (tw__in_graph())
        return normal_in_graph(&tw__op_RandomStandardNormal, args->shape, args->mean, args->stddev, args->dtype, args->seed,
                               args->name, "random_normal");
    tw_attr type = TW_A_TYPE("dtype", args->dtype);
    return scaled(tw__random_call(&tw__op_RandomStandardNormal, TW_IN(args->shape), 1, tw__seed_pair(args->seed), &type, 1),
                  args->stddev, args->mean);
}

TW_API(
    random_truncated_normal,
    "random.truncated_normal|compat.v1.truncated_normal(shape: tensor<int32>, mean: tensor<dtype> = None shown 0.0, stddev: tensor<dtype> = None shown 1.0, dtype: dtype = float32, "
    "seed: int = None, name: str = None) -> tensor",
    "Normal values, those farther than two standard deviations from the mean drawn again.")
{
    if (check_float("random.truncated_normal", args->dtype) != TW_OK)
        return NULL;
    if (tw__in_graph())
        return normal_in_graph(&tw__op_TruncatedNormal, args->shape, args->mean, args->stddev, args->dtype, args->seed,
                               args->name, "truncated_normal");
    tw_attr type = TW_A_TYPE("dtype", args->dtype);
    return scaled(tw__random_call(&tw__op_TruncatedNormal, TW_IN(args->shape), 1, tw__seed_pair(args->seed), &type, 1),
                  args->stddev, args->mean);
}

TW_API(random_shuffle, "random.shuffle|compat.v1.random_shuffle(value: tensor, seed: int = None, name: str = None) -> tensor",
       "The rows along the first dimension in random order.\n"
       "value: a tensor")
{
    return tw__random_call(&tw__op_RandomShuffle, TW_IN(args->value), 1, tw__seed_pair(args->seed), NULL, 0);
}

TW_API(
    random_categorical,
    "random.categorical(logits: tensor, num_samples: tensor<int32>, dtype: dtype = None, seed: int = None, name: str = None) -> tensor",
    "Classes drawn with the probabilities softmax(logits): [rows, num_samples] for logits [rows, classes].\n"
    "num_samples: how many classes are drawn for each row")
{
    tw__part part = tw__part_begin(args->name, "categorical");
    tw_attr type = TW_A_TYPE("output_dtype", args->dtype == TW_DTYPE_NONE ? TW_INT64 : args->dtype);
    return tw__part_result(&part, tw__random_call(&tw__op_Multinomial, TW_IN(args->logits, args->num_samples), 2,
                                                  tw__seed_pair(args->seed), &type, 1));
}

/* ---- without state ---- */

/* In a lasting graph: shape and limits (or mean and deviation) as constants, the op, and its values scaled. */
static tw_tensor *stateless(const tw_op *op, tw_tensor *shape, tw_tensor *seed, const tw_value *alg, tw_dtype dtype,
                            tw_tensor *low, tw_tensor *high);

static tw_tensor *stateless_in_graph(const tw_op *op, bool uniform, tw_tensor *dims, tw_tensor *seed, const tw_value *alg,
                                     tw_dtype dtype, tw_tensor *first, tw_tensor *second, const char *name, const char *usual)
{
    tw__part part = tw__part_begin(name, usual);
    tw_auto tw_tensor *shape = tw__part_constant(&part, dims, "shape");
    tw_auto tw_tensor *one = limit_of(&part, first, dtype, 0, uniform ? "min" : "mean");
    tw_auto tw_tensor *other = limit_of(&part, second, dtype, 1, uniform ? "max" : "stddev");
    tw_tensor *values = shape && one && other ? stateless(op, shape, seed, alg, dtype, NULL, NULL) : NULL;
    return tw__part_result(&part, !values   ? NULL
                                  : uniform ? stretched(&part, values, one, other)
                                            : shifted(&part, values, one, other));
}

/* Runs a V2 op on the stream of the seed. inputs[0] is the shape; up to two more follow those of the stream. */
static tw_tensor *stateless(const tw_op *op, tw_tensor *shape, tw_tensor *seed, const tw_value *alg, tw_dtype dtype,
                            tw_tensor *low, tw_tensor *high)
{
    int64_t algorithm = tw__random_algorithm(alg);
    if (!algorithm)
        return NULL;
    if (algorithm == 2) {
        tw__fail(TW_UNIMPLEMENTED, "%s: the ThreeFry algorithm is not supported; expected philox or auto_select", op->name);
        return NULL;
    }
    tw_tensor *stream[2] = { NULL, NULL };
    int count = 2;
    if (tw__apply(&tw__op_StatelessRandomGetKeyCounter, &seed, 1, NULL, 0, stream, &count) != TW_OK)
        return NULL;
    tw_auto tw_tensor *number = tw_tensor_int(1);
    tw_attr type = TW_A_TYPE("dtype", dtype);
    tw_tensor *inputs[6] = { shape, stream[0], stream[1], number, low, high };
    tw_tensor *values = tw__call(op, inputs, low ? 6 : 4, &type, 1);
    tw_release(stream[0]);
    tw_release(stream[1]);
    return values;
}

TW_API(
    random_stateless_uniform,
    "random.stateless_uniform(shape: tensor<int32>, seed: tensor<int32>, minval: tensor<dtype> = None shown 0, maxval: tensor<dtype> = None, "
    "dtype: dtype = float32, name: str = None, alg: value = None shown auto_select) -> tensor",
    "Values from [minval, maxval) that are a function of the seed, two integers. Integers without limits come from the whole range.")
{
    if (check_uniform(args->dtype, true) != TW_OK)
        return NULL;
    if (!tw__dtype_is_integer(args->dtype) && tw__in_graph())
        return stateless_in_graph(&tw__op_StatelessRandomUniformV2, true, args->shape, args->seed, &args->alg, args->dtype,
                                  args->minval, args->maxval, args->name, "stateless_random_uniform");
    if (!tw__dtype_is_integer(args->dtype))
        return between(stateless(&tw__op_StatelessRandomUniformV2, args->shape, args->seed, &args->alg, args->dtype, NULL, NULL),
                       args->minval, args->maxval);
    if (!args->maxval) {
        if (!args->minval)
            return stateless(&tw__op_StatelessRandomUniformFullIntV2, args->shape, args->seed, &args->alg, args->dtype, NULL,
                             NULL);
        tw__fail(TW_VALUE_ERROR,
                 "For integer `dtype` argument <dtype: '%s'>, argument `minval` and `maxval` must be both None or not None. Got "
                 "`minval`=%lld and `maxval`=None.",
                 tw_dtype_name(args->dtype), (long long)(args->minval->count ? tw_tensor_int_at(args->minval, 0) : 0));
        return NULL;
    }
    tw_auto tw_tensor *low = args->minval ? tw_retain(args->minval) : zero_of(args->dtype);
    return low ? stateless(&tw__op_StatelessRandomUniformIntV2, args->shape, args->seed, &args->alg, args->dtype, low,
                           args->maxval)
               : NULL;
}

TW_API(
    random_stateless_normal,
    "random.stateless_normal(shape: tensor<int32>, seed: tensor<int32>, mean: tensor<dtype> = None shown 0.0, stddev: tensor<dtype> = None shown 1.0, "
    "dtype: dtype = float32, name: str = None, alg: value = None shown auto_select) -> tensor",
    "Normal values that are a function of the seed, two integers.")
{
    if (check_float("random.stateless_normal", args->dtype) != TW_OK)
        return NULL;
    if (tw__in_graph())
        return stateless_in_graph(&tw__op_StatelessRandomNormalV2, false, args->shape, args->seed, &args->alg, args->dtype,
                                  args->mean, args->stddev, args->name, "stateless_random_normal");
    return scaled(stateless(&tw__op_StatelessRandomNormalV2, args->shape, args->seed, &args->alg, args->dtype, NULL, NULL),
                  args->stddev, args->mean);
}

TW_API(
    random_stateless_truncated_normal,
    "random.stateless_truncated_normal(shape: tensor<int32>, seed: tensor<int32>, mean: tensor<dtype> = None shown 0.0, "
    "stddev: tensor<dtype> = None shown 1.0, dtype: dtype = float32, name: str = None, alg: value = None shown auto_select) -> tensor",
    "Normal values within two standard deviations of the mean that are a function of the seed, two integers.")
{
    if (check_float("random.stateless_truncated_normal", args->dtype) != TW_OK)
        return NULL;
    if (tw__in_graph())
        return stateless_in_graph(&tw__op_StatelessTruncatedNormalV2, false, args->shape, args->seed, &args->alg, args->dtype,
                                  args->mean, args->stddev, args->name, "stateless_truncated_normal");
    return scaled(stateless(&tw__op_StatelessTruncatedNormalV2, args->shape, args->seed, &args->alg, args->dtype, NULL, NULL),
                  args->stddev, args->mean);
}

TW_API(random_stateless_categorical,
       "random.stateless_categorical(logits: tensor, num_samples: tensor<int32>, seed: tensor<int32>, dtype: dtype = int64, "
       "name: str = None) -> tensor",
       "Classes drawn with the probabilities softmax(logits); a function of the seed, two integers.\n"
       "num_samples: how many classes are drawn for each row")
{
    return TW_CALL(StatelessMultinomial, args->logits, args->num_samples, args->seed, TW_A_TYPE("output_dtype", args->dtype));
}
