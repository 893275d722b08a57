/* Random ops without state: the same seed gives the same values. The older ones take the seed itself, the V2 ones the key and
 * counter that StatelessRandomGetKeyCounter makes of it; both give the same values. */
#include "op/random/random.h"
#include "rows.h"

enum { PHILOX = 1, AUTO_SELECT = 3 };

/* ---- seeds ---- */

tw_status tw__random_check_seed(const tw__inference *inference, int input)
{
    const tw_shape *seed = inference->shapes[input];
    if (!tw__shape_compatible(seed, &TW_SHAPE(2)))
        return tw__fail(TW_INVALID_ARGUMENT, "seed must have shape [2], not %s", tw__shape_text(seed));
    return TW_OK;
}

static int64_t seed_at(const tw_tensor *seed, int index)
{
    switch (seed->dtype) {
    case TW_INT32:
        return ((const int32_t *)seed->data)[index];
    case TW_UINT32:
        return ((const uint32_t *)seed->data)[index];
    default:
        return ((const int64_t *)seed->data)[index];
    }
}

tw__philox tw__philox_of_seed(const tw_tensor *seed)
{
    return tw__philox_stateless(seed_at(seed, 0), seed_at(seed, 1));
}

static tw_status key_counter_shape(tw__inference *inference)
{
    TW_TRY(tw__random_check_seed(inference, 0));
    inference->out_shapes[0] = TW_SHAPE(1);
    inference->out_shapes[1] = TW_SHAPE(2);
    if (inference->output_count == 3)
        inference->out_shapes[2] = TW_SCALAR;
    return TW_OK;
}

static tw_status key_counter_compute(tw__kernel *kernel)
{
    tw__philox philox = tw__philox_of_seed(kernel->inputs[0]);
    uint64_t *counter = kernel->outputs[1]->data;
    *(uint64_t *)kernel->outputs[0]->data = philox.key[0] | (uint64_t)philox.key[1] << 32;
    counter[0] = philox.counter[0] | (uint64_t)philox.counter[1] << 32;
    counter[1] = philox.counter[2] | (uint64_t)philox.counter[3] << 32;
    if (kernel->output_count == 3)
        *(int32_t *)kernel->outputs[2]->data = PHILOX;
    return TW_OK;
}

TW_OP(StatelessRandomGetKeyCounter, .inputs = "seed: Tseed", .outputs = "key: uint64, counter: uint64",
      .attrs = "Tseed: {int32, int64} = int64", .shape = key_counter_shape, .compute = key_counter_compute,
      .doc = "The key and counter that a seed stands for.");

TW_OP(StatelessRandomGetKeyCounterAlg, .inputs = "seed: Tseed", .outputs = "key: uint64, counter: uint64, alg: int32",
      .attrs = "Tseed: {int32, int64} = int64", .shape = key_counter_shape, .compute = key_counter_compute,
      .doc = "The key and counter that a seed stands for, and the number of the algorithm.");

static tw_status alg_compute(tw__kernel *kernel)
{
    *(int32_t *)kernel->outputs[0]->data = PHILOX;
    return TW_OK;
}

TW_OP(StatelessRandomGetAlg, .outputs = "alg: int32", .shape = tw_shape_scalar, .compute = alg_compute, .stateful = true,
      .doc = "The number of the algorithm that is used: 1, Philox.");

/* ---- with a seed: inputs shape, seed ---- */

static tw_status seed_shape(tw__inference *inference)
{
    TW_TRY(tw__random_check_seed(inference, 1));
    return tw__random_shape(inference);
}

/* ---- with key, counter and algorithm: inputs shape, key, counter, alg ---- */

static tw_status check_stream(const tw__inference *inference)
{
    const tw_shape *key = inference->shapes[1], *counter = inference->shapes[2], *alg = inference->shapes[3];
    if (!tw__shape_compatible(key, &TW_SHAPE(1)))
        return tw__fail(TW_INVALID_ARGUMENT, "key must have shape [1], not %s. (Note that batched keys are not supported yet.)",
                        tw__shape_text(key));
    if (counter->rank >= 0 && (counter->rank != 1 || (counter->dims[0] >= 0 && counter->dims[0] < 2)))
        return tw__fail(
            TW_INVALID_ARGUMENT,
            "counter must be a vector with length at least 2; got shape: %s. (Note that batched counters are not supported yet.)",
            tw__shape_text(counter));
    if (alg->rank > 0)
        return tw__fail(TW_INVALID_ARGUMENT, "input 3 (0-based) must have shape [], not %s", tw__shape_text(alg));
    return TW_OK;
}

tw_status tw__random_key_shape(tw__inference *inference)
{
    TW_TRY(check_stream(inference));
    return tw__random_shape(inference);
}

tw_status tw__philox_of_key(tw__kernel *kernel, tw__philox *philox)
{
    int32_t alg = *(const int32_t *)kernel->inputs[3]->data;
    if (alg != PHILOX && alg != AUTO_SELECT)
        return tw__fail(TW_INVALID_ARGUMENT, "Unsupported algorithm id: %d", alg);
    uint64_t key = *(const uint64_t *)kernel->inputs[1]->data;
    const uint64_t *counter = kernel->inputs[2]->data;
    *philox = (tw__philox){ { (uint32_t)key, (uint32_t)(key >> 32) },
                            { (uint32_t)counter[0], (uint32_t)(counter[0] >> 32), (uint32_t)counter[1],
                              (uint32_t)(counter[1] >> 32) } };
    return TW_OK;
}

/* Both computes of one distribution. */
#define FILL(name, distribution)                                                               \
    static tw_status name##_compute(tw__kernel *kernel)                                        \
    {                                                                                          \
        return tw__random_output(kernel, distribution, tw__philox_of_seed(kernel->inputs[1])); \
    }                                                                                          \
    static tw_status name##_v2_compute(tw__kernel *kernel)                                     \
    {                                                                                          \
        tw__philox philox;                                                                     \
        TW_TRY(tw__philox_of_key(kernel, &philox));                                            \
        return tw__random_output(kernel, distribution, philox);                                \
    }
FILL(uniform, TW__UNIFORM)
FILL(normal, TW__NORMAL)
FILL(truncated, TW__TRUNCATED_NORMAL)
FILL(full_range, TW__FULL_RANGE)

static tw_status integers_compute(tw__kernel *kernel)
{
    return tw__random_integers(kernel, 2, tw__philox_of_seed(kernel->inputs[1]));
}

static tw_status integers_v2_compute(tw__kernel *kernel)
{
    tw__philox philox;
    TW_TRY(tw__philox_of_key(kernel, &philox));
    return tw__random_integers(kernel, 4, philox);
}

#define SEED_INPUTS "shape: T, seed: Tseed"
#define SEED_ATTRS "dtype: {half, bfloat16, float, double} = float, T: {int32, int64} = int32, Tseed: {int32, int64} = int64"
#define KEY_INPUTS "shape: Tshape, key: uint64, counter: uint64, alg: int32"
#define KEY_ATTRS "dtype: {half, bfloat16, float, double} = float, Tshape: {int32, int64} = int32"

TW_OP(StatelessRandomUniform, .inputs = SEED_INPUTS, .outputs = "output: dtype", .attrs = SEED_ATTRS, .shape = seed_shape,
      .compute = uniform_compute, .doc = "Values from [0, 1), all equally likely.");

TW_OP(StatelessRandomNormal, .inputs = SEED_INPUTS, .outputs = "output: dtype", .attrs = SEED_ATTRS, .shape = seed_shape,
      .compute = normal_compute, .doc = "Normal values with mean 0 and standard deviation 1.");

TW_OP(StatelessTruncatedNormal, .inputs = SEED_INPUTS, .outputs = "output: dtype", .attrs = SEED_ATTRS, .shape = seed_shape,
      .compute = truncated_compute, .doc = "Normal values, those 2 or farther from 0 drawn again.");

TW_OP(StatelessRandomUniformInt, .inputs = SEED_INPUTS ", minval: dtype, maxval: dtype", .outputs = "output: dtype",
      .attrs = "dtype: {int32, int64}, T: {int32, int64}, Tseed: {int32, int64} = int64", .shape = seed_shape,
      .compute = integers_compute, .doc = "Integers from [minval, maxval).");

TW_OP(
    StatelessRandomUniformFullInt, .inputs = SEED_INPUTS, .outputs = "output: dtype",
    .attrs =
        "dtype: {int32, int64, uint32, uint64} = uint64, T: {int32, int64} = int32, Tseed: {int32, int64, uint32, uint64} = int64",
    .shape = seed_shape, .compute = full_range_compute, .doc = "Integers from the whole range of the dtype.");

TW_OP(StatelessRandomUniformV2, .inputs = KEY_INPUTS, .outputs = "output: dtype", .attrs = KEY_ATTRS,
      .shape = tw__random_key_shape, .compute = uniform_v2_compute, .doc = "Values from [0, 1), all equally likely.");

TW_OP(StatelessRandomNormalV2, .inputs = KEY_INPUTS, .outputs = "output: dtype", .attrs = KEY_ATTRS,
      .shape = tw__random_key_shape, .compute = normal_v2_compute, .doc = "Normal values with mean 0 and standard deviation 1.");

TW_OP(StatelessTruncatedNormalV2, .inputs = KEY_INPUTS, .outputs = "output: dtype", .attrs = KEY_ATTRS,
      .shape = tw__random_key_shape, .compute = truncated_v2_compute,
      .doc = "Normal values, those 2 or farther from 0 drawn again.");

TW_OP(StatelessRandomUniformIntV2, .inputs = KEY_INPUTS ", minval: dtype, maxval: dtype", .outputs = "output: dtype",
      .attrs = "dtype: {int32, int64, uint32, uint64}, Tshape: {int32, int64} = int32", .shape = tw__random_key_shape,
      .compute = integers_v2_compute, .doc = "Integers from [minval, maxval).");

TW_OP(StatelessRandomUniformFullIntV2, .inputs = KEY_INPUTS, .outputs = "output: dtype",
      .attrs = "dtype: {int32, int64, uint32, uint64} = uint64, Tshape: {int32, int64} = int32", .shape = tw__random_key_shape,
      .compute = full_range_v2_compute, .doc = "Integers from the whole range of the dtype.");

/* ---- classes ---- */

static tw_status multinomial_shape(tw__inference *inference)
{
    TW_TRY(tw__random_check_seed(inference, 2));
    return tw__multinomial_shape(inference);
}

static tw_status multinomial_compute(tw__kernel *kernel)
{
    return tw__multinomial(kernel, tw__philox_of_seed(kernel->inputs[2]));
}

TW_OP(StatelessMultinomial, .inputs = "logits: T, num_samples: int32, seed: Tseed", .outputs = "output: output_dtype",
      .attrs = "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}, "
               "Tseed: {int32, int64} = int64, output_dtype: {int32, int64} = int64",
      .shape = multinomial_shape, .compute = multinomial_compute, .doc = "Classes drawn with the probabilities softmax(logits).");

/* ---- rows in random order: inputs value, key, counter, alg ---- */

static tw_status shuffle_shape(tw__inference *inference)
{
    TW_TRY(check_stream(inference));
    inference->out_shapes[0] = *inference->shapes[0];
    return TW_OK;
}

static tw_status shuffle_compute(tw__kernel *kernel)
{
    tw__philox philox;
    TW_TRY(tw__philox_of_key(kernel, &philox));
    return tw__random_shuffle(kernel, philox);
}

TW_OP(StatelessShuffle, .no_gradient = true, .inputs = "value: T, key: uint64, counter: uint64, alg: int32",
      .outputs = "output: T", .attrs = "T: type", .shape = shuffle_shape, .compute = shuffle_compute, .makes_outputs = true,
      .doc = "The rows along the first dimension in random order.");
