/* tf.random: gamma, Poisson, binomial and bounded normal values, and shuffling without state. */
#include <float.h>

#include "api/random/random.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "rows.h"

/* alpha brought to the shape that it has with beta, which may be missing. */
static tw_tensor *with_shape_of(tw_tensor *alpha, tw_tensor *beta)
{
    if (!beta || tw__shape_equal(&alpha->shape, &beta->shape))
        return tw_retain(alpha);
    tw_auto tw_tensor *x = TW_CALL(Shape, alpha), *y = TW_CALL(Shape, beta);
    tw_auto tw_tensor *both = TW_CALL(BroadcastArgs, x, y);
    return TW_CALL(BroadcastTo, alpha, both);
}

/* values / beta, but at least the smallest normal number. Takes values. */
static tw_tensor *scaled(tw_tensor *values, tw_tensor *beta, tw_dtype dtype)
{
    tw_auto tw_tensor *own = values;
    double least = dtype == TW_FLOAT64 ? DBL_MIN : dtype == TW_FLOAT32 ? (double)FLT_MIN : 0x1p-14;
    tw_auto tw_tensor *tiny = own ? tw__grad_constant(least, own) : NULL;
    if (!tiny)
        return NULL;
    tw_auto tw_tensor *quotient = beta ? TW_CALL(RealDiv, own, beta) : tw_retain(own);
    return TW_CALL(Maximum, tiny, quotient);
}

TW_API(
    random_gamma,
    "random.gamma|compat.v1.random_gamma(shape: tensor<int32>, alpha: tensor<dtype>, beta: tensor<dtype> = None, dtype: dtype = float32, seed: int = None, "
    "name: str = None) -> tensor",
    "Values of the gamma distribution, shape of them for each alpha and rate beta.\n"
    "alpha: the distribution's shape, above 0\n"
    "beta: its rate, above 0; None: 1\n"
    "shape: how many values are drawn for each set of parameters, as a shape; the shape of these follows")
{
    tw_auto tw_tensor *alpha = with_shape_of(args->alpha, args->beta);
    return alpha ? scaled(tw__random_call(&tw__op_RandomGamma, TW_IN(args->shape, alpha), 2, tw__seed_pair(args->seed), NULL, 0),
                          args->beta, args->dtype)
                 : NULL;
}

TW_API(
    random_poisson,
    "random.poisson|compat.v1.random_poisson(shape: tensor<int32>, lam: tensor<float32>, dtype: dtype = float32, seed: int = None, name: str = None) -> tensor",
    "Values of the Poisson distribution, shape of them for each rate.\n"
    "lam: the rates\n"
    "shape: how many values are drawn for each set of parameters, as a shape; the shape of these follows")
{
    tw_attr type = TW_A_TYPE("dtype", args->dtype);
    return tw__random_call(&tw__op_RandomPoissonV2, TW_IN(args->shape, args->lam), 2, tw__seed_pair(args->seed), &type, 1);
}

/* The key and counter of a seed. */
static tw_status stream_of(tw_tensor *seed, tw_tensor *stream[2])
{
    int count = 2;
    return tw__apply(&tw__op_StatelessRandomGetKeyCounter, &seed, 1, NULL, 0, stream, &count);
}

TW_API(random_stateless_gamma,
       "random.stateless_gamma(shape: tensor<int32>, seed: tensor<int32>, alpha: tensor<dtype>, beta: tensor<dtype> = None, "
       "dtype: dtype = float32, name: str = None) -> tensor",
       "Values of the gamma distribution that are a function of the seed, two integers; shape ends with that of alpha and beta.\n"
       "alpha: the distribution's shape, above 0\n"
       "beta: its rate, above 0; None: 1")
{
    tw_auto tw_tensor *alpha = with_shape_of(args->alpha, args->beta), *number = tw_tensor_int(1);
    tw_tensor *stream[2] = { NULL, NULL };
    if (!alpha || !number || stream_of(args->seed, stream) != TW_OK)
        return NULL;
    tw_tensor *values = TW_CALL(StatelessRandomGammaV3, args->shape, stream[0], stream[1], number, alpha);
    tw_release(stream[0]);
    tw_release(stream[1]);
    return scaled(values, args->beta, args->dtype);
}

TW_API(random_stateless_binomial,
       "random.stateless_binomial(shape: tensor<int32>, seed: tensor<int32>, counts: tensor<float32>, probs: tensor<float32>, "
       "output_dtype: dtype = int32, name: str = None) -> tensor",
       "Numbers of successes in trials that are a function of the seed, two integers; shape ends with that of counts and probs.\n"
       "counts: the number of trials\n"
       "probs: the probability of success\n"
       "output_dtype: the dtype of the result")
{
    return TW_CALL(StatelessRandomBinomial, args->shape, args->seed, args->counts, args->probs,
                   TW_A_TYPE("dtype", args->output_dtype));
}

static tw_tensor *number_or(tw_tensor *given, double value, tw_dtype dtype)
{
    return given ? tw_retain(given) : tw__grad_constant(value, &(tw_tensor){ .dtype = dtype });
}

TW_API(
    random_stateless_parameterized_truncated_normal,
    "random.stateless_parameterized_truncated_normal(shape: tensor<int32>, seed: tensor<int32>, means: tensor<T> = None shown 0.0, "
    "stddevs: tensor<T> = None shown 1.0, minvals: tensor<T> = None shown -2.0, maxvals: tensor<T> = None shown 2.0, name: str = None) -> tensor",
    "Normal values between bounds (-2 and 2 unless they are given) that are a function of the seed, two integers.\n"
    "means: the means; None: 0\n"
    "stddevs: the standard deviations; None: 1\n"
    "minvals: the lower bounds\n"
    "maxvals: the upper bounds")
{
    tw_dtype dtype = args->means     ? args->means->dtype
                     : args->stddevs ? args->stddevs->dtype
                     : args->minvals ? args->minvals->dtype
                     : args->maxvals ? args->maxvals->dtype
                                     : TW_FLOAT32;
    tw_auto tw_tensor *means = number_or(args->means, 0, dtype), *deviations = number_or(args->stddevs, 1, dtype);
    tw_auto tw_tensor *low = number_or(args->minvals, -2, dtype), *high = number_or(args->maxvals, 2, dtype);
    return TW_CALL(StatelessParameterizedTruncatedNormal, args->shape, args->seed, means, deviations, low, high);
}

TW_API(
    random_stateless_shuffle,
    "random.experimental.stateless_shuffle(value: tensor, seed: tensor<int32>, alg: value = None shown auto_select, name: str = None) -> tensor",
    "The rows along the first dimension in an order that is a function of the seed, two integers.")
{
    tw_auto tw_tensor *number = tw_tensor_int((int32_t)tw__random_algorithm(&args->alg));
    tw_tensor *stream[2] = { NULL, NULL };
    if (!number || !*(const int32_t *)number->data || stream_of(args->seed, stream) != TW_OK)
        return NULL;
    tw_tensor *values = TW_CALL(StatelessShuffle, args->value, stream[0], stream[1], number);
    tw_release(stream[0]);
    tw_release(stream[1]);
    return values;
}
