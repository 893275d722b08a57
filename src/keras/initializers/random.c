/* Initializers of random values: RandomUniform, RandomNormal, TruncatedNormal, and those scaled by the number of inputs and
 * outputs (VarianceScaling, Glorot, He, Lecun). */
#include <math.h>

#include "keras/initializers/initializers.h"
#include "op/calls.h"

/* Every class here has the argument `seed`. */
static tw_status take_seed(void *self, int64_t seed)
{
    tw_initializer *initializer = self;
    initializer->seeded = seed != TW_NO_INT;
    initializer->seed = seed;
    return TW_OK;
}

#define INIT(name)                                                                    \
    static tw_status name##_init(void *self, const void *given)                       \
    {                                                                                 \
        return take_seed(self, ((const tw_initializers_##name##_args *)given)->seed); \
    }
INIT(random_uniform)
INIT(random_normal)
INIT(truncated_normal)
INIT(glorot_uniform)
INIT(glorot_normal)
INIT(he_uniform)
INIT(he_normal)
INIT(lecun_uniform)
INIT(lecun_normal)

static tw_tensor *random_uniform_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    const tw_initializers_random_uniform_args *args = self->object.config;
    return tw__initial_uniform(self, shape, dtype, args->minval, args->maxval);
}
static const tw__initializer_methods random_uniform_methods = { random_uniform_make };

TW_CLASS(
    initializers_random_uniform,
    "keras.initializers.RandomUniform|keras.initializers.random_uniform|initializers.RandomUniform|initializers.random_uniform"
    "(minval: float = -0.05, maxval: float = 0.05, seed: int = None) -> initializer",
    .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .init = random_uniform_init,
    .methods = &random_uniform_methods, .doc = "Values from [minval, maxval), all equally likely.");

static tw_tensor *random_normal_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    const tw_initializers_random_normal_args *args = self->object.config;
    return tw__initial_normal(self, shape, dtype, args->mean, args->stddev, false);
}
static const tw__initializer_methods random_normal_methods = { random_normal_make };

TW_CLASS(initializers_random_normal,
         "keras.initializers.RandomNormal|keras.initializers.random_normal|initializers.RandomNormal|initializers.random_normal"
         "(mean: float = 0.0, stddev: float = 0.05, seed: int = None) -> initializer",
         .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .init = random_normal_init,
         .methods = &random_normal_methods, .doc = "Normal values.");

/* ---- tf.random_uniform_initializer and tf.random_normal_initializer: without a seed each call draws as tf.random does ---- */

static tw_status drawn_uniform_init(void *self, const void *given)
{
    return take_seed(self, ((const tw_random_uniform_initializer_args *)given)->seed);
}

static tw_tensor *drawn_uniform_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    const tw_random_uniform_initializer_args *args = self->object.config;
    if (!tw__dtype_is_float(dtype) && !tw__dtype_is_integer(dtype)) {
        tw__fail(TW_VALUE_ERROR, "Argument `dtype` expected to be numeric or boolean. Received <dtype: '%s'>.",
                 tw_dtype_name(dtype));
        return NULL;
    }
    if (self->seeded)
        return tw__initial_uniform(self, shape, dtype, args->minval, args->maxval);
    TW_TEMPS(t);
    tw_tensor *dims = tw__temp_ints(t, shape->dims, shape->rank, TW_INT32);
    tw_tensor *low = tw__temp_cast(t, tw__temp_float(t, TW_FLOAT64, args->minval), dtype),
              *high = tw__temp_cast(t, tw__temp_float(t, TW_FLOAT64, args->maxval), dtype);
    return dims && low && high ? tw_random_uniform(dims, .minval = low, .maxval = high, .dtype = dtype) : NULL;
}
static const tw__initializer_methods drawn_uniform_methods = { drawn_uniform_make };

TW_CLASS(
    random_uniform_initializer,
    "_initializers.RandomUniform|random_uniform_initializer(minval: float = -0.05, maxval: float = 0.05, seed: int = None) -> initializer",
    .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .init = drawn_uniform_init,
    .methods = &drawn_uniform_methods, .doc = "Values from [minval, maxval), other ones at each call unless there is a seed.");

static tw_status drawn_normal_init(void *self, const void *given)
{
    return take_seed(self, ((const tw_random_normal_initializer_args *)given)->seed);
}

static tw_tensor *drawn_normal_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    const tw_random_normal_initializer_args *args = self->object.config;
    if (!tw__dtype_is_float(dtype)) {
        tw__fail(TW_VALUE_ERROR, "Argument `dtype` is expected to be floating point. Received: <dtype: '%s'>.",
                 tw_dtype_name(dtype));
        return NULL;
    }
    if (self->seeded)
        return tw__initial_normal(self, shape, dtype, args->mean, args->stddev, false);
    TW_TEMPS(t);
    tw_tensor *dims = tw__temp_ints(t, shape->dims, shape->rank, TW_INT32);
    tw_tensor *mean = tw__temp_cast(t, tw__temp_float(t, TW_FLOAT64, args->mean), dtype),
              *deviation = tw__temp_cast(t, tw__temp_float(t, TW_FLOAT64, args->stddev), dtype);
    return dims && mean && deviation ? tw_random_normal(dims, .mean = mean, .stddev = deviation, .dtype = dtype) : NULL;
}
static const tw__initializer_methods drawn_normal_methods = { drawn_normal_make };

TW_CLASS(
    random_normal_initializer,
    "_initializers.RandomNormal|random_normal_initializer(mean: float = 0.0, stddev: float = 0.05, seed: int = None) -> initializer",
    .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .init = drawn_normal_init, .methods = &drawn_normal_methods,
    .doc = "Normal values, other ones at each call unless there is a seed.");

static tw_tensor *truncated_normal_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    const tw_initializers_truncated_normal_args *args = self->object.config;
    return tw__initial_normal(self, shape, dtype, args->mean, args->stddev, true);
}
static const tw__initializer_methods truncated_normal_methods = { truncated_normal_make };

TW_CLASS(
    initializers_truncated_normal,
    "keras.initializers.TruncatedNormal|keras.initializers.truncated_normal|initializers.TruncatedNormal|initializers.truncated_normal"
    "(mean: float = 0.0, stddev: float = 0.05, seed: int = None) -> initializer",
    .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .init = truncated_normal_init,
    .methods = &truncated_normal_methods,
    .doc = "Normal values, those farther than two standard deviations from the mean drawn again.");

/* ---- scaled by the size of the layer ---- */

void tw__initializer_fans(const tw_shape *shape, double *in, double *out)
{
    double window = 1;
    *in = *out = 1;
    for (int i = 0; i < shape->rank - 2; i++)
        window *= (double)shape->dims[i];
    if (shape->rank == 1)
        *in = *out = (double)shape->dims[0];
    if (shape->rank >= 2) {
        *in = (double)shape->dims[shape->rank - 2] * window;
        *out = (double)shape->dims[shape->rank - 1] * window;
    }
}

typedef enum spread { UNIFORM, NORMAL, TRUNCATED_NORMAL } spread;

static tw_tensor *scaled(tw_initializer *self, const tw_shape *shape, tw_dtype dtype, double factor, char mode,
                         spread distribution)
{
    double in, out;
    tw__initializer_fans(shape, &in, &out);
    double fan = mode == 'i' ? in : mode == 'o' ? out : (in + out) / 2;
    if (!tw__dtype_is_float(dtype)) {
        tw__fail(TW_VALUE_ERROR, "%s: Expected floating point type, got <dtype: '%s'>.", tw_class_name(self),
                 tw_dtype_name(dtype));
        return NULL;
    }
    double variance = factor / (fan > 1 ? fan : 1);
    if (distribution == UNIFORM) {
        double limit = sqrt(3.0 * variance);
        return tw__initial_uniform(self, shape, dtype, -limit, limit);
    }
    /* A truncated normal is narrower than the normal it is cut from. */
    double deviation = distribution == NORMAL ? sqrt(variance) : sqrt(variance) / .87962566103423978;
    return tw__initial_normal(self, shape, dtype, 0, deviation, distribution == TRUNCATED_NORMAL);
}

static tw_status variance_scaling_init(void *self, const void *given)
{
    const tw_initializers_variance_scaling_args *args = given;
    if (!(args->scale > 0))
        return tw__fail(TW_VALUE_ERROR, "`scale` must be positive float. Received: scale=%g.", args->scale);
    return take_seed(self, args->seed);
}

static tw_tensor *variance_scaling_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    const tw_initializers_variance_scaling_args *args = self->object.config;
    spread distribution = *args->distribution == 'n'                   ? TRUNCATED_NORMAL
                          : *args->distribution == 't'                 ? TRUNCATED_NORMAL
                          : strcmp(args->distribution, "uniform") == 0 ? UNIFORM
                                                                       : NORMAL;
    return scaled(self, shape, dtype, args->scale, args->mode[4], distribution);
}
static const tw__initializer_methods variance_scaling_methods = { variance_scaling_make };

TW_CLASS(
    initializers_variance_scaling,
    "keras.initializers.VarianceScaling|keras.initializers.variance_scaling|initializers.VarianceScaling|initializers.variance_scaling"
    "(scale: float = 1.0, mode: str {fan_in, fan_out, fan_avg} = fan_in, "
    "distribution: str {truncated_normal, untruncated_normal, uniform, normal} = truncated_normal, seed: int = None) -> initializer",
    .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .init = variance_scaling_init,
    .methods = &variance_scaling_methods,
    .doc = "Values whose variance is scale divided by the number of inputs, of outputs, or their mean.\n"
           "scale: the factor of the variance\n"
           "mode: what the variance is divided by: the number of inputs, of outputs, or the mean of both\n"
           "distribution: the distribution of the values; `normal` is `truncated_normal`");

#define MAKE(name, factor, mode, distribution)                                                 \
    static tw_tensor *name##_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype) \
    {                                                                                          \
        return scaled(self, shape, dtype, factor, mode, distribution);                         \
    }                                                                                          \
    static const tw__initializer_methods name##_methods = { name##_make };
MAKE(glorot_uniform, 1, 'a', UNIFORM)
MAKE(glorot_normal, 1, 'a', TRUNCATED_NORMAL)
MAKE(he_uniform, 2, 'i', UNIFORM)
MAKE(he_normal, 2, 'i', TRUNCATED_NORMAL)
MAKE(lecun_uniform, 1, 'i', UNIFORM)
MAKE(lecun_normal, 1, 'i', TRUNCATED_NORMAL)

TW_CLASS(
    initializers_glorot_uniform,
    "keras.initializers.GlorotUniform|keras.initializers.glorot_uniform|initializers.GlorotUniform|initializers.glorot_uniform"
    "(seed: int = None) -> initializer",
    .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .init = glorot_uniform_init,
    .methods = &glorot_uniform_methods, .doc = "Uniform in [-l, l), l = sqrt(6 / (inputs + outputs)).");

TW_CLASS(initializers_glorot_normal,
         "keras.initializers.GlorotNormal|keras.initializers.glorot_normal|initializers.GlorotNormal|initializers.glorot_normal"
         "(seed: int = None) -> initializer",
         .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .init = glorot_normal_init,
         .methods = &glorot_normal_methods, .doc = "Truncated normal of variance 2 / (inputs + outputs).");

TW_CLASS(initializers_he_uniform,
         "keras.initializers.HeUniform|keras.initializers.he_uniform|initializers.HeUniform|initializers.he_uniform"
         "(seed: int = None) -> initializer",
         .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .init = he_uniform_init,
         .methods = &he_uniform_methods, .doc = "Uniform in [-l, l), l = sqrt(6 / inputs).");

TW_CLASS(
    initializers_he_normal,
    "keras.initializers.HeNormal|keras.initializers.he_normal|initializers.HeNormal|initializers.he_normal(seed: int = None) -> initializer",
    .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .init = he_normal_init, .methods = &he_normal_methods,
    .doc = "Truncated normal of variance 2 / inputs.");

TW_CLASS(initializers_lecun_uniform,
         "keras.initializers.LecunUniform|keras.initializers.lecun_uniform|initializers.LecunUniform|initializers.lecun_uniform"
         "(seed: int = None) -> initializer",
         .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .init = lecun_uniform_init,
         .methods = &lecun_uniform_methods, .doc = "Uniform in [-l, l), l = sqrt(3 / inputs).");

TW_CLASS(initializers_lecun_normal,
         "keras.initializers.LecunNormal|keras.initializers.lecun_normal|initializers.LecunNormal|initializers.lecun_normal"
         "(seed: int = None) -> initializer",
         .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .init = lecun_normal_init,
         .methods = &lecun_normal_methods, .doc = "Truncated normal of variance 1 / inputs.");
