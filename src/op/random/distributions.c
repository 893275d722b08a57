/* Gamma, Poisson, binomial and bounded normal values: distributions whose parameters are tensors, drawn by rejection.
 *
 * The output is [samples, batches], a batch for each set of parameters (which are broadcast against each other). Value number
 * batch * samples + sample has a part of the stream for itself, so that it does not matter how often the others were rejected;
 * only the bounded normal goes on with the stream from value to value. Algorithms and order of draws are TensorFlow's. */
#include <math.h>

#include "op/array/array.h"
#include "op/calls.h"
#include "op/gradient.h"
#include "op/random/random.h"
#include "rows.h"

enum { MOST_PARAMETERS = 4, RESERVED = 256, RESERVED_FEW = 42, MOST_TRIES = 1000 };

/* Uniform values, two of a group, the second first. */
typedef struct uniforms {
    tw__philox philox;
    double values[2];
    int left;
} uniforms;

static double uniform(uniforms *u)
{
    if (!u->left) {
        tw__philox_uniforms(&u->philox, u->values);
        u->left = 2;
    }
    return u->values[--u->left];
}

/* ---- one value ---- */

/* Marsaglia and Tsang: a cube of a normal value, accepted by a uniform one. */
static double gamma_value(uniforms *u, double alpha)
{
    if (alpha == 1)
        return -log1p(-uniform(u));
    double d = alpha + (alpha < 1 ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / sqrt(d), normals[2];
    for (int left = 0;;) {
        if (!left) {
            tw__philox_normals(&u->philox, normals);
            left = 2;
        }
        double x = normals[--left], v = 1 + c * x;
        if (v <= 0)
            continue;
        v = v * v * v;
        double chance = uniform(u);
        if (chance < 1 - 0.0331 * (x * x) * (x * x) || log(chance) < 0.5 * x * x + d * (1 - v + log(v)))
            return alpha < 1 ? d * v * pow(uniform(u), 1 / alpha) : d * v;
        if (isnan(alpha))
            return alpha;
    }
}

/* Knuth's product of uniform values below 10, else Hormann's transformed rejection. */
static double poisson_value(uniforms *u, double rate, double most)
{
    if (isnan(rate) || (isinf(rate) && rate > 0))
        return rate;
    if (rate < 10) {
        double limit = exp(-rate), product = 1, count = 0;
        while ((product *= uniform(u)) > limit)
            count++;
        return count;
    }
    double log_rate = log(rate), b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b, inverse = 1.1239 + 1.1328 / (b - 3.4);
    if (rate > most * 2)
        return most; /* what could be accepted would not fit */
    for (;;) {
        double x = uniform(u) - 0.5, v = uniform(u), shifted = 0.5 - fabs(x);
        double k = floor((2 * a / shifted + b) * x + rate + 0.43);
        if (k > most)
            continue;
        if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2))
            return k;
        if (k < 0 || (shifted < 0.013 && v > shifted))
            continue;
        int sign;
        if (log(v * inverse / (a / (shifted * shifted) + b)) <= -rate + k * log_rate - lgamma_r(k + 1, &sign))
            return k;
    }
}

/* How far Stirling's formula for log(k!) is off. */
static double stirling_rest(double k)
{
    static const double rests[] = { 0.0810614667953272,  0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
                                    0.0166446911898211,  0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
                                    0.00925546218271273, 0.00833056343336287 };
    if (k <= 9)
        return rests[(int)k];
    double square = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

/* Hormann's transformed rejection, for many successes. */
static double binomial_many(uniforms *u, double count, double chance)
{
    double deviation = sqrt(count * chance * (1 - chance)), b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * chance;
    double c = count * chance + 0.5, box = 0.92 - 4.2 / b, r = chance / (1 - chance), alpha = (2.83 + 5.1 / b) * deviation;
    double m = floor((count + 1) * chance);
    for (;;) {
        double x = uniform(u), v = uniform(u);
        x -= 0.5;
        double shifted = 0.5 - fabs(x), k = floor((2 * a / shifted + b) * x + c);
        if (shifted >= 0.07 && v <= box)
            return k;
        if (k < 0 || k > count)
            continue;
        v = log(v * alpha / (a / (shifted * shifted) + b));
        double bound = (m + 0.5) * log((m + 1) / (r * (count - m + 1))) + (count + 1) * log((count - m + 1) / (count - k + 1)) +
                       (k + 0.5) * log(r * (count - k + 1) / (k + 1)) + stirling_rest(m) + stirling_rest(count - m) -
                       stirling_rest(k) - stirling_rest(count - k);
        if (v <= bound)
            return k;
    }
}

/* The trials between successes are geometric values. */
static double binomial_few(uniforms *u, double count, double chance)
{
    double trials = 0, successes = 0;
    for (;; successes++) {
        trials += ceil(log(uniform(u)) / log1p(-chance));
        if (trials > count)
            return successes;
    }
}

/* `single`: parameters are floats, whose arithmetic decides which way is taken. */
static double binomial_value(tw__philox philox, int64_t index, double count, double chance, bool single)
{
    if (isnan(chance) || isnan(count))
        return NAN;
    if (count <= 0 || chance <= 0)
        return 0;
    if (chance >= 1)
        return count;
    bool turned = chance > 0.5;
    double less = !turned ? chance : single ? (double)(1 - (float)chance) : 1 - chance;
    bool many = (single ? (double)((float)count * (float)less) : count * less) >= 10;
    tw__philox_skip(&philox, (uint64_t)index * (many ? RESERVED : RESERVED_FEW));
    uniforms u = { .philox = philox };
    double value = many ? binomial_many(&u, count, less) : binomial_few(&u, count, less);
    return turned ? count - value : value;
}

/* ---- parameters and outputs ---- */

typedef struct parameters {
    const tw_tensor *tensors[MOST_PARAMETERS];
    int count;
    tw_shape shape; /* that they have together */
    int64_t batches, samples;
} parameters;

/* What all inputs from `first` on are broadcast to. */
static tw_status join_shapes(const tw__inference *inference, int first, tw_shape *joined)
{
    *joined = TW_SCALAR;
    for (int i = first; i < inference->input_count; i++) {
        tw_shape wider;
        if (inference->shapes[i]->rank < 0 || joined->rank < 0) {
            *joined = TW_UNKNOWN_SHAPE;
            continue;
        }
        if (!tw__shape_broadcast(joined, inference->shapes[i], &wider))
            return tw__fail(TW_INVALID_ARGUMENT, "%s must have compatible batch dimensions: %s vs. %s",
                            inference->input_count - first == 2 ? "counts and probs" : "parameters", tw__shape_text(joined),
                            tw__shape_text(inference->shapes[i]));
        *joined = wider;
    }
    return TW_OK;
}

/* The output's shape is given, and ends with the parameters'. */
static tw_status check_end(const tw__inference *inference, int first)
{
    tw_shape joined;
    const tw_shape *out = &inference->out_shapes[0];
    TW_TRY(join_shapes(inference, first, &joined));
    if (out->rank < 0 || joined.rank < 0)
        return TW_OK;
    for (int i = 0; i < joined.rank; i++) {
        int64_t dim = i < out->rank ? out->dims[out->rank - 1 - i] : 0, own = joined.dims[joined.rank - 1 - i];
        if (i >= out->rank || (dim >= 0 && own >= 0 && dim != own))
            return tw__fail(TW_INVALID_ARGUMENT, "Shape passed in must end with broadcasted shape.");
    }
    return TW_OK;
}

static tw_status seed_shape(tw__inference *inference)
{
    TW_TRY(tw__random_check_seed(inference, 1));
    TW_TRY(tw__random_shape(inference));
    return check_end(inference, 2);
}

static tw_status key_shape(tw__inference *inference)
{
    TW_TRY(tw__random_key_shape(inference));
    return check_end(inference, 4);
}

/* The given shape, and the parameter's behind it. */
static tw_status appended_shape(tw__inference *inference)
{
    TW_TRY(tw__random_shape(inference));
    tw_shape *out = &inference->out_shapes[0];
    const tw_shape *own = inference->shapes[1];
    if (out->rank < 0 || own->rank < 0) {
        *out = TW_UNKNOWN_SHAPE;
        return TW_OK;
    }
    if (out->rank + own->rank > TW_MAX_RANK)
        return tw__fail(TW_UNIMPLEMENTED, "an output of more than %d dimensions", TW_MAX_RANK);
    for (int i = 0; i < own->rank; i++)
        out->dims[out->rank++] = own->dims[i];
    return TW_OK;
}

static void parameters_read(tw__kernel *kernel, int first, parameters *p)
{
    const tw_tensor *out = kernel->outputs[0];
    *p = (parameters){ .count = kernel->input_count - first, .shape = TW_SCALAR, .batches = 1 };
    for (int i = 0; i < p->count; i++) {
        tw_shape wider = p->shape;
        p->tensors[i] = kernel->inputs[first + i];
        tw__shape_broadcast(&p->shape, &p->tensors[i]->shape, &wider);
        p->shape = wider;
    }
    for (int i = 0; i < p->shape.rank; i++)
        p->batches *= p->shape.dims[i];
    p->samples = p->batches ? out->count / p->batches : 0;
}

static double parameter(const parameters *p, int which, int64_t batch)
{
    const tw_tensor *tensor = p->tensors[which];
    return tw_tensor_double_at(tensor, tw__broadcast_index(&tensor->shape, &p->shape, batch));
}

static void put(tw_tensor *out, int64_t at, double value)
{
    switch (out->dtype) {
    case TW_FLOAT32:
        ((float *)out->data)[at] = (float)value;
        break;
    case TW_FLOAT64:
        ((double *)out->data)[at] = value;
        break;
    case TW_FLOAT16:
        ((uint16_t *)out->data)[at] = tw__float_to_half((float)value);
        break;
    case TW_INT32:
        ((int32_t *)out->data)[at] = value >= INT32_MAX ? INT32_MAX : isnan(value) ? INT32_MIN : (int32_t)value;
        break;
    default:
        ((int64_t *)out->data)[at] = value >= 0x1p63 ? INT64_MAX : isnan(value) ? INT64_MIN : (int64_t)value;
    }
}

static double greatest(tw_dtype dtype)
{
    return dtype == TW_INT32     ? INT32_MAX
           : dtype == TW_INT64   ? 0x1p63
           : dtype == TW_FLOAT16 ? 65504
           : dtype == TW_FLOAT32 ? 0x1.fffffep127
                                 : 0x1.fffffffffffffp1023;
}

typedef enum kind { GAMMA, POISSON, BINOMIAL } kind;

typedef struct job {
    kind kind;
    parameters parameters;
    tw__philox philox;
    tw_tensor *out;
} job;

static void fill_part(void *context, int64_t begin, int64_t end)
{
    const job *j = context;
    const parameters *p = &j->parameters;
    for (int64_t index = begin; index < end; index++) {
        int64_t batch = index / p->samples, sample = index % p->samples;
        uniforms u = { .philox = j->philox };
        tw__philox_skip(&u.philox, (uint64_t)index * RESERVED);
        double first = parameter(p, 0, batch);
        double value = j->kind == GAMMA ? gamma_value(&u, first)
                       : j->kind == POISSON
                           ? poisson_value(&u, first, greatest(j->out->dtype))
                           : binomial_value(j->philox, index, first, parameter(p, 1, batch), p->tensors[0]->dtype == TW_FLOAT32);
        put(j->out, sample * p->batches + batch, value);
    }
}

static tw_status fill(tw__kernel *kernel, kind which, int first, tw__philox philox)
{
    job j = { .kind = which, .philox = philox, .out = kernel->outputs[0] };
    parameters_read(kernel, first, &j.parameters);
    if (j.out->count)
        tw__parallel(j.out->count, 256, fill_part, &j);
    return TW_OK;
}

/* ---- gamma, Poisson, binomial ---- */

#define STATEFUL(name, which)                                                                    \
    static tw_status name##_compute(tw__kernel *kernel)                                          \
    {                                                                                            \
        tw__philox philox;                                                                       \
        TW_TRY(tw__random_draw(kernel, (uint64_t)kernel->outputs[0]->count *RESERVED, &philox)); \
        return fill(kernel, which, 1, philox);                                                   \
    }
#define STATELESS(name, which)                                                \
    static tw_status name##_seed_compute(tw__kernel *kernel)                  \
    {                                                                         \
        return fill(kernel, which, 2, tw__philox_of_seed(kernel->inputs[1])); \
    }
STATEFUL(gamma, GAMMA)
STATEFUL(poisson, POISSON)
STATELESS(gamma, GAMMA)
STATELESS(poisson, POISSON)
STATELESS(binomial, BINOMIAL)

static tw_status gamma_key_compute(tw__kernel *kernel)
{
    tw__philox philox;
    TW_TRY(tw__philox_of_key(kernel, &philox));
    return fill(kernel, GAMMA, 4, philox);
}

/* A sample moves with alpha, which is the last input. */
static tw_status gamma_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    int last = g->input_count - 1;
    tw_tensor *alpha = g->inputs[last], *slope = g->wanted[last] ? TW_TEMP(RandomGammaGrad, alpha, g->outputs[0]) : NULL;
    if (!g->wanted[last])
        return TW_OK;
    tw__grad_set(g, last, tw__grad_unbroadcast(TW_CALL(Mul, g->output_grads[0], slope), alpha));
    return tw__grad_status(g);
}

#define NUMBERS "{half, float, double, int32, int64}"

TW_OP(RandomGamma, .inputs = "shape: S, alpha: T", .outputs = "output: T",
      .attrs = "seed: int = 0, seed2: int = 0, S: {int32, int64}, T: {half, float, double}", .shape = appended_shape,
      .compute = gamma_compute, .stateful = true, .gradient = gamma_gradient, .free_state = tw__free,
      .doc = "Values of the gamma distribution with the shapes alpha, and the rate 1.");

TW_OP(StatelessRandomGammaV2, .inputs = "shape: T, seed: Tseed, alpha: dtype", .outputs = "output: dtype",
      .attrs = "dtype: {half, float, double}, T: {int32, int64}, Tseed: {int32, int64} = int64", .shape = seed_shape,
      .compute = gamma_seed_compute, .gradient = gamma_gradient,
      .doc = "Values of the gamma distribution with the shapes alpha, and the rate 1.");

TW_OP(StatelessRandomGammaV3, .inputs = "shape: shape_dtype, key: uint64, counter: uint64, alg: int32, alpha: dtype",
      .outputs = "output: dtype", .attrs = "dtype: {half, float, double}, shape_dtype: {int32, int64} = int32",
      .shape = key_shape, .compute = gamma_key_compute, .gradient = gamma_gradient,
      .doc = "Values of the gamma distribution with the shapes alpha, and the rate 1.");

TW_OP(RandomPoissonV2, .no_gradient = true, .inputs = "shape: S, rate: R", .outputs = "output: dtype",
      .attrs = "seed: int = 0, seed2: int = 0, S: {int32, int64}, R: " NUMBERS " = double, dtype: " NUMBERS " = int64",
      .shape = appended_shape, .compute = poisson_compute, .stateful = true, .free_state = tw__free,
      .doc = "Values of the Poisson distribution with a rate.");

TW_OP(StatelessRandomPoisson, .inputs = "shape: T, seed: Tseed, lam: Rtype", .outputs = "output: dtype",
      .attrs = "Rtype: " NUMBERS ", dtype: " NUMBERS ", T: {int32, int64}, Tseed: {int32, int64} = int64", .shape = seed_shape,
      .compute = poisson_seed_compute,
      .function = "random.stateless_poisson(shape: tensor<int32>, seed: tensor<int32>, lam: tensor<float32>, "
                  "dtype: dtype = int32, name: str = None) -> tensor",
      .doc =
          "Values of the Poisson distribution that are a function of the seed, two integers; shape ends with that of the rates.\n"
          "lam: the rates");

TW_OP(StatelessRandomBinomial, .inputs = "shape: S, seed: Tseed, counts: T, probs: T", .outputs = "output: dtype",
      .attrs = "S: {int32, int64}, Tseed: {int32, int64} = int64, T: " NUMBERS " = double, dtype: " NUMBERS " = int64",
      .shape = seed_shape, .compute = binomial_seed_compute, .doc = "Numbers of successes in trials.");

static tw_status stream_shape(tw__inference *inference)
{
    const tw_tensor *value = inference->values[2];
    TW_TRY(tw__need_rank(inference, 1, 0));
    TW_TRY(tw__need_rank(inference, 2, 1));
    if (value)
        TW_TRY(tw__shape_of_values(inference->op, value, "shape", false, &inference->out_shapes[0]));
    return check_end(inference, 3);
}

static tw_status stream_compute(tw__kernel *kernel)
{
    parameters p;
    tw__philox philox;
    parameters_read(kernel, 3, &p);
    uint64_t skip = (uint64_t)p.batches * 200 * ((uint64_t)p.samples + 3) / 4;
    TW_TRY(tw__generator_draw(kernel, *(const int64_t *)kernel->inputs[1]->data, skip, &philox, NULL));
    return fill(kernel, BINOMIAL, 3, philox);
}

TW_OP(StatefulRandomBinomial, .no_gradient = true,
      .inputs = "resource: resource, algorithm: int64, shape: S, counts: T, probs: T", .outputs = "output: dtype",
      .attrs = "S: {int32, int64}, T: " NUMBERS " = double, dtype: " NUMBERS " = int64", .shape = stream_shape,
      .compute = stream_compute, .stateful = true, .doc = "Numbers of successes in trials, of a stream in a variable.");

/* ---- normal values between bounds ---- */

typedef struct bounds {
    double mean, deviation, low, high; /* low and high in deviations from the mean */
} bounds;

/* A group of the stream: four floats or two doubles. */
static int draw_group(tw__philox *philox, bool single, tw__distribution distribution, double values[4])
{
    if (!single) {
        if (distribution == TW__NORMAL)
            tw__philox_normals(philox, values);
        else
            tw__philox_uniforms(philox, values);
        return 2;
    }
    float floats[4];
    tw__random_fill(distribution, TW_FLOAT32, *philox, floats, 4, 0, 0);
    tw__philox_skip(philox, 1);
    for (int i = 0; i < 4; i++)
        values[i] = floats[i];
    return 4;
}

#define AS(x) (single ? (double)(float)(x) : (x))

/* Proposals of one group for values in deviations: `accepted` says which are taken; gives their number. */
static int propose(tw__philox *philox, bool single, const bounds *b, double values[4], bool accepted[4])
{
    double low = b->low, high = b->high, root = AS(sqrt(AS(AS(low * low) + 4))), range = AS(high - low), random[4], chance[4];
    if ((low < -1.3f && high >= 0) || (high > 1.3f && low <= 0)) {
        int size = draw_group(philox, single, TW__NORMAL, values);
        for (int i = 0; i < size; i++)
            accepted[i] = values[i] >= low && values[i] <= high;
        return size;
    }
    double exponent = AS(0.5 + AS(AS(low * AS(low - root)) / 4));
    double cutoff = AS(AS(2 * (single ? (double)expf((float)exponent) : exp(exponent))) / AS(low + root));
    int size = draw_group(philox, single, TW__UNIFORM, random);
    if (range < cutoff) {
        double plus = low < 0 ? 0 : AS(low * low);
        draw_group(philox, single, TW__UNIFORM, chance);
        for (int i = 0; i < size; i++) {
            values[i] = AS(AS(random[i] * range) + low);
            double g = AS(AS(plus - AS(values[i] * values[i])) / 2);
            accepted[i] = chance[i] <= (single ? (double)expf((float)g) : exp(g));
        }
        return size;
    }
    double alpha = AS(AS(low + root) / 2);
    for (int i = 0; i < size / 2; i++) {
        double r = random[2 * i], z = AS(AS(-(single ? (double)logf((float)r) : log(r)) / alpha) + low);
        double x = low < alpha ? AS(alpha - z) : AS(low - alpha), g = AS(AS(-x * x) / 2);
        values[i] = z;
        accepted[i] = random[2 * i + 1] <= (single ? (double)expf((float)g) : exp(g)) && z < high;
    }
    return size / 2;
}

static tw_status bounded_batch(tw__kernel *kernel, const parameters *p, int64_t batch, tw__philox *philox, bool single)
{
    tw_tensor *out = kernel->outputs[0];
    double mean = parameter(p, 0, batch), deviation = parameter(p, 1, batch), low = parameter(p, 2, batch),
           high = parameter(p, 3, batch);
    if (!(deviation > 0 && low < high && (isfinite(low) || isfinite(high))))
        return tw__fail(TW_INVALID_ARGUMENT, "Invalid parameters");
    if ((isinf(low) && low < 0) || high < mean) { /* mirrored, so that the lower bound is the one that matters */
        double kept = low;
        low = high;
        high = kept;
        deviation = -deviation;
    }
    bounds b = { mean, deviation, AS(AS(low - mean) / deviation), AS(AS(high - mean) / deviation) };
    int tries = 0;
    for (int64_t sample = 0; sample < p->samples;) {
        double values[4];
        bool accepted[4];
        int size = propose(philox, single, &b, values, accepted);
        for (int i = 0; i < size && sample < p->samples; i++) {
            if (accepted[i]) {
                put(out, sample++ * p->batches + batch, AS(AS(values[i] * deviation) + mean));
                tries = 0;
            } else if (++tries >= MOST_TRIES) {
                return tw__fail(TW_INVALID_ARGUMENT, "TruncatedNormal rejection sampler failed to accept a sample.");
            }
        }
    }
    return TW_OK;
}

static tw_status bounded_compute(tw__kernel *kernel)
{
    parameters p;
    parameters_read(kernel, 2, &p);
    tw__philox philox = tw__philox_of_seed(kernel->inputs[1]);
    tw_dtype dtype = kernel->outputs[0]->dtype;
    if (dtype != TW_FLOAT32 && dtype != TW_FLOAT64)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "dtype %s; float32 and float64 are supported", tw_dtype_name(dtype));
    for (int64_t batch = 0; p.samples && batch < p.batches; batch++)
        TW_TRY(bounded_batch(kernel, &p, batch, &philox, dtype == TW_FLOAT32));
    return TW_OK;
}

TW_OP(StatelessParameterizedTruncatedNormal, .no_gradient = true,
      .inputs = "shape: S, seed: Tseed, means: dtype, stddevs: dtype, minvals: dtype, maxvals: dtype", .outputs = "output: dtype",
      .attrs = "S: {int32, int64}, Tseed: {int32, int64} = int64, dtype: {half, float, double}", .shape = seed_shape,
      .compute = bounded_compute, .doc = "Normal values between bounds.");
