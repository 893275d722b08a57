/* TensorFlow 1's initializers: objects that make the first values of variables by ops, so that a graph draws them anew in every
 * session.
 *
 * They serve wherever Keras's initializers do; what differs are the arguments, a dtype of their own, and that random values come
 * from the stateful ops and their seeds. */
#include <math.h>

#include "eager/eager.h"
#include "keras/initializers/initializers.h"
#include "v1/v1.h"

enum { LARGE = 1000 }; /* elements */

typedef struct v1_initializer {
    tw_initializer initializer;
    tw_dtype dtype;
} v1_initializer;

struct tw_v1_initializer {
    v1_initializer own;
};

TW_CLASS(v1_initializer, "compat.v1._Initializer() -> initializer", .parent = &tw__class_initializer,
         .size = sizeof(v1_initializer), .doc = "The base of TensorFlow 1's initializers.");

TW_METHOD(
    v1_initializer_call,
    "compat.v1._Initializer.__call__(self: v1_initializer, shape: shape, dtype: dtype = None, partition_info: value = None) -> tensor",
    "Values of that shape; of the initializer's own dtype unless one is given.")
{
    v1_initializer *self = (v1_initializer *)args->self;
    if (args->partition_info.kind != TW_VALUE_NONE) {
        tw__fail(TW_UNIMPLEMENTED, "%s: partitioned variables are not supported", tw_class_name(self));
        return NULL;
    }
    return tw__initializer_make(&self->initializer, &args->shape, args->dtype == TW_DTYPE_NONE ? self->dtype : args->dtype);
}

/* ---- what the makers share ---- */

static tw_tensor *dims_of(const tw_shape *shape)
{
    int32_t dims[TW_MAX_RANK];
    if (!tw__shape_known(shape)) {
        tw__fail(TW_VALUE_ERROR, "an initializer needs a complete shape, got %s", tw__shape_text(shape));
        return NULL;
    }
    for (int i = 0; i < shape->rank; i++) {
        if (shape->dims[i] > INT32_MAX) {
            tw__fail(TW_UNIMPLEMENTED, "a variable of shape %s", tw__shape_text(shape));
            return NULL;
        }
        dims[i] = (int32_t)shape->dims[i];
    }
    return tw_tensor_new(TW_INT32, TW_SHAPE(shape->rank), dims);
}

static tw_tensor *number_of(tw_dtype dtype, double number)
{
    tw__outside outside = tw__outside_begin(); /* a constant, not a cast in the graph */
    tw_tensor *wide = tw_tensor_double(number);
    tw_tensor *narrow = wide ? tw_cast(wide, dtype) : NULL;
    tw_release(wide);
    tw__outside_end(outside);
    return narrow;
}

static int64_t seed_of(const tw_initializer *self)
{
    return self->seeded ? self->seed : TW_NO_INT;
}

static tw_tensor *uniform(tw_initializer *self, const tw_shape *shape, tw_dtype dtype, double low, double high)
{
    tw_auto tw_tensor *dims = dims_of(shape);
    tw_auto tw_tensor *from = number_of(dtype, low), *to = number_of(dtype, high);
    return dims && from && to ? tw_random_uniform(dims, .minval = from, .maxval = to, .dtype = dtype, .seed = seed_of(self))
                              : NULL;
}

static tw_tensor *normal(tw_initializer *self, const tw_shape *shape, tw_dtype dtype, double mean, double deviation,
                         bool truncated)
{
    tw_auto tw_tensor *dims = dims_of(shape), *center = number_of(dtype, mean), *spread = number_of(dtype, deviation);
    if (!dims || !center || !spread)
        return NULL;
    return truncated ? tw_random_truncated_normal(dims, .mean = center, .stddev = spread, .dtype = dtype, .seed = seed_of(self))
                     : tw_random_normal(dims, .mean = center, .stddev = spread, .dtype = dtype, .seed = seed_of(self));
}

static tw_status setup(void *self, int64_t seed, tw_dtype dtype)
{
    v1_initializer *initializer = self;
    initializer->dtype = dtype;
    initializer->initializer.seeded = seed != TW_NO_INT;
    initializer->initializer.seed = seed;
    return TW_OK;
}

#define INITIALIZER(name) \
    .parent = &tw__class_v1_initializer, .size = sizeof(v1_initializer), .init = name##_init, .methods = &name##_methods
#define SEEDED(name)                                            \
    static tw_status name##_init(void *self, const void *given) \
    {                                                           \
        const tw_v1_##name##_initializer_args *args = given;    \
        return setup(self, args->seed, args->dtype);            \
    }

/* ---- constants ---- */

static tw_status zeros_init(void *self, const void *given)
{
    return setup(self, TW_NO_INT, ((const tw_v1_zeros_initializer_args *)given)->dtype);
}

/* Few values stand in the graph as they are, under that name; many are filled in by it. */
static tw_tensor *filled(const tw_shape *shape, tw_dtype dtype, bool ones)
{
    tw_auto tw_tensor *dims = dims_of(shape);
    int64_t count = 0;
    if (!dims || tw__shape_count(shape, &count) != TW_OK)
        return NULL;
    if (!tw__tracing || count >= LARGE)
        return ones ? tw_ones(dims, .dtype = dtype) : tw_zeros(dims, .dtype = dtype);
    tw__outside outside = tw__outside_begin();
    tw_auto tw_tensor *value = ones ? tw_ones(dims, .dtype = dtype) : tw_zeros(dims, .dtype = dtype);
    tw__outside_end(outside);
    tw__owned char *name = value ? tw__format("%s%s", tw__scope(), ones ? "ones" : "zeros") : NULL;
    return name ? tw__v1_constant(value, name) : NULL;
}

static tw_tensor *zeros_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    (void)self;
    return filled(shape, dtype, false);
}
static const tw__initializer_methods zeros_methods = { zeros_make };

TW_CLASS(v1_zeros_initializer,
         "compat.v1.zeros_initializer|compat.v1.initializers.zeros(dtype: dtype = float32) -> v1_initializer", INITIALIZER(zeros),
         .doc = "Zeros.");

static tw_status ones_init(void *self, const void *given)
{
    return setup(self, TW_NO_INT, ((const tw_v1_ones_initializer_args *)given)->dtype);
}

static tw_tensor *ones_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    (void)self;
    return filled(shape, dtype, true);
}
static const tw__initializer_methods ones_methods = { ones_make };

TW_CLASS(v1_ones_initializer, "compat.v1.ones_initializer|compat.v1.initializers.ones(dtype: dtype = float32) -> v1_initializer",
         INITIALIZER(ones), .doc = "Ones.");

static tw_status constant_init(void *self, const void *given)
{
    return setup(self, TW_NO_INT, ((const tw_v1_constant_initializer_args *)given)->dtype);
}

/* As tf.constant(value, dtype, shape), but that fewer values are filled up with the last. */
static tw_tensor *constant_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    const tw_v1_constant_initializer_args *args = self->object.config;
    tw_auto tw_tensor *given = args->value ? tw_retain(args->value) : tw_tensor_int(0);
    tw_auto tw_tensor *value = given ? given->dtype == dtype ? tw_retain(given) : tw_cast(given, dtype) : NULL;
    tw_auto tw_tensor *dims = value ? dims_of(shape) : NULL;
    int64_t count = 0;
    if (!dims || tw__shape_count(shape, &count) != TW_OK)
        return NULL;
    if (args->verify_shape && !tw__shape_equal(&value->shape, shape)) {
        tw__fail(TW_TYPE_ERROR, "Expected Tensor's shape: %s, got %s.", tw__shape_text(shape), tw__shape_text(&value->shape));
        return NULL;
    }
    if (value->count == 1 && count != 1) {
        tw_auto tw_tensor *none = tw_tensor_new(TW_INT32, TW_SHAPE(0), NULL), *scalar = none ? tw_reshape(value, none) : NULL;
        return scalar ? tw_fill(dims, scalar) : NULL;
    }
    if (value->count != count) {
        tw__fail(TW_TYPE_ERROR,
                 "Eager execution of tf.constant with unsupported shape. Tensor %s elements are given for shape %s",
                 tw__shape_text(&value->shape), tw__shape_text(shape));
        return NULL;
    }
    return tw_reshape(value, dims);
}
static const tw__initializer_methods constant_methods = { constant_make };

TW_CLASS(
    v1_constant_initializer,
    "compat.v1.constant_initializer|compat.v1.initializers.constant(value: tensor = None, dtype: dtype = float32, verify_shape: bool = False) "
    "-> v1_initializer",
    INITIALIZER(constant),
    .doc = "A value that is given.\n"
           "value: a number, or an array that fills the shape; None: 0\n"
           "verify_shape: True: the shape of the value must be the one that is wanted");

/* ---- random values ---- */

SEEDED(random_uniform)

static tw_tensor *random_uniform_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    const tw_v1_random_uniform_initializer_args *args = self->object.config;
    if (tw__dtype_is_integer(dtype) && isnan(args->maxval)) {
        tw__fail(TW_VALUE_ERROR, "Must specify maxval for integer dtype %s", tw_dtype_name(dtype));
        return NULL;
    }
    return uniform(self, shape, dtype, args->minval, isnan(args->maxval) ? 1 : args->maxval);
}
static const tw__initializer_methods random_uniform_methods = { random_uniform_make };

TW_CLASS(
    v1_random_uniform_initializer,
    "compat.v1.random_uniform_initializer|compat.v1.initializers.random_uniform(minval: float = 0.0, maxval: float = None, seed: int = None, "
    "dtype: dtype = float32) -> v1_initializer",
    INITIALIZER(random_uniform), .doc = "Values from [minval, maxval), all equally likely.");

SEEDED(random_normal)

static tw_tensor *random_normal_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    const tw_v1_random_normal_initializer_args *args = self->object.config;
    return normal(self, shape, dtype, args->mean, args->stddev, false);
}
static const tw__initializer_methods random_normal_methods = { random_normal_make };

TW_CLASS(
    v1_random_normal_initializer,
    "compat.v1.random_normal_initializer|compat.v1.initializers.random_normal(mean: float = 0.0, stddev: float = 1.0, seed: int = None, "
    "dtype: dtype = float32) -> v1_initializer",
    INITIALIZER(random_normal), .doc = "Normal values.");

SEEDED(truncated_normal)

static tw_tensor *truncated_normal_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    const tw_v1_truncated_normal_initializer_args *args = self->object.config;
    return normal(self, shape, dtype, args->mean, args->stddev, true);
}
static const tw__initializer_methods truncated_normal_methods = { truncated_normal_make };

TW_CLASS(
    v1_truncated_normal_initializer,
    "compat.v1.truncated_normal_initializer|compat.v1.initializers.truncated_normal(mean: float = 0.0, stddev: float = 1.0, seed: int = None, "
    "dtype: dtype = float32) -> v1_initializer",
    INITIALIZER(truncated_normal), .doc = "Normal values, those farther than two standard deviations from the mean drawn again.");

/* ---- scaled by the size of the layer ---- */

static tw_tensor *scaled(tw_initializer *self, const tw_shape *shape, tw_dtype dtype, double scale, const char *mode,
                         const char *distribution)
{
    double in, out;
    tw__initializer_fans(tw__v1_slice ? &tw__v1_slice->whole : shape, &in, &out);
    if (!tw__dtype_is_float(dtype)) {
        tw__fail(TW_VALUE_ERROR, "Argument `dtype` expected to be floating point. Received: <dtype: '%s'>.",
                 tw_dtype_name(dtype));
        return NULL;
    }
    double fan = strcmp(mode, "fan_in") == 0 ? in : strcmp(mode, "fan_out") == 0 ? out : (in + out) / 2;
    double variance = scale / (fan > 1 ? fan : 1);
    if (strcmp(distribution, "uniform") == 0)
        return uniform(self, shape, dtype, -sqrt(3 * variance), sqrt(3 * variance));
    if (strcmp(distribution, "untruncated_normal") == 0)
        return normal(self, shape, dtype, 0, sqrt(variance), false);
    return normal(self, shape, dtype, 0, sqrt(variance) / .87962566103423978,
                  true); /* what cutting off takes from the deviation */
}

static tw_status variance_scaling_init(void *self, const void *given)
{
    const tw_v1_variance_scaling_initializer_args *args = given;
    if (!(args->scale > 0))
        return tw__fail(TW_VALUE_ERROR, "Argument `scale` must be a positive float. Received: %g", args->scale);
    return setup(self, args->seed, args->dtype);
}

static tw_tensor *variance_scaling_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    const tw_v1_variance_scaling_initializer_args *args = self->object.config;
    return scaled(self, shape, dtype, args->scale, args->mode, args->distribution);
}
static const tw__initializer_methods variance_scaling_methods = { variance_scaling_make };

TW_CLASS(
    v1_variance_scaling_initializer,
    "compat.v1.variance_scaling_initializer|compat.v1.initializers.variance_scaling(scale: float = 1.0, "
    "mode: str {fan_in, fan_out, fan_avg} = fan_in, "
    "distribution: str {normal, uniform, truncated_normal, untruncated_normal} = truncated_normal, seed: int = None, dtype: dtype = float32) "
    "-> v1_initializer",
    INITIALIZER(variance_scaling),
    .doc = "Values whose variance is scale divided by the number of inputs, of outputs, or their mean.\n"
           "scale: the factor of the variance\n"
           "mode: what the variance is divided by: the number of inputs, of outputs, or the mean of both\n"
           "distribution: the distribution of the values; `normal` is `truncated_normal`");

#define SCALED(name, scale, mode, distribution)                                                \
    SEEDED(name)                                                                               \
    static tw_tensor *name##_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype) \
    {                                                                                          \
        return scaled(self, shape, dtype, scale, mode, distribution);                          \
    }                                                                                          \
    static const tw__initializer_methods name##_methods = { name##_make };

SCALED(glorot_uniform, 1, "fan_avg", "uniform")
TW_CLASS(
    v1_glorot_uniform_initializer,
    "compat.v1.glorot_uniform_initializer|compat.v1.initializers.glorot_uniform(seed: int = None, dtype: dtype = float32) -> v1_initializer",
    INITIALIZER(glorot_uniform), .doc = "Uniform in [-l, l), l = sqrt(6 / (inputs + outputs)).");

SCALED(glorot_normal, 1, "fan_avg", "truncated_normal")
TW_CLASS(
    v1_glorot_normal_initializer,
    "compat.v1.glorot_normal_initializer|compat.v1.initializers.glorot_normal(seed: int = None, dtype: dtype = float32) -> v1_initializer",
    INITIALIZER(glorot_normal), .doc = "Truncated normal with the variance 2 / (inputs + outputs).");

SCALED(he_uniform, 2, "fan_in", "uniform")
TW_CLASS(v1_he_uniform_initializer,
         "compat.v1.initializers.he_uniform(seed: int = None, dtype: dtype = float32) -> v1_initializer", INITIALIZER(he_uniform),
         .doc = "Uniform in [-l, l), l = sqrt(6 / inputs).");

SCALED(he_normal, 2, "fan_in", "truncated_normal")
TW_CLASS(v1_he_normal_initializer, "compat.v1.initializers.he_normal(seed: int = None, dtype: dtype = float32) -> v1_initializer",
         INITIALIZER(he_normal), .doc = "Truncated normal with the variance 2 / inputs.");

SCALED(lecun_uniform, 1, "fan_in", "uniform")
TW_CLASS(v1_lecun_uniform_initializer,
         "compat.v1.initializers.lecun_uniform(seed: int = None, dtype: dtype = float32) -> v1_initializer",
         INITIALIZER(lecun_uniform), .doc = "Uniform in [-l, l), l = sqrt(3 / inputs).");

SCALED(lecun_normal, 1, "fan_in", "truncated_normal")
TW_CLASS(v1_lecun_normal_initializer,
         "compat.v1.initializers.lecun_normal(seed: int = None, dtype: dtype = float32) -> v1_initializer",
         INITIALIZER(lecun_normal), .doc = "Truncated normal with the variance 1 / inputs.");
