/* The base class of initializers, finding them by name, and the values that most of them are made of. */
#include <math.h>

#include "graph/graph.h"
#include "kernel/kernel.h"
#include "kernel/random/random.h"
#include "keras/callable.h"
#include "keras/initializers/initializers.h"
#include "keras/keras.h"
#include "keras/own.h"

TW_CLASS(initializer, "keras.initializers.Initializer|initializers.Initializer() -> initializer", .size = sizeof(tw_initializer),
         .doc = "Base class: makes the first value of a variable.");

TW_METHOD(initializer_call,
          "keras.initializers.Initializer.__call__(self: initializer, shape: shape, dtype: dtype = None) -> tensor",
          "Values of that shape and dtype.\n"
          "dtype: the dtype of the values; None: as `keras.backend.floatx()` says")
{
    return tw__initializer_make(args->self, &args->shape, args->dtype);
}

TW_METHOD(initializer_get_config, "keras.initializers.Initializer.get_config(self: initializer) -> value",
          "The arguments it was made with, as a dict.")
{
    return tw__plain_config(args->self);
}

tw_tensor *tw__initializer_make(tw_initializer *initializer, const tw_shape *shape, tw_dtype dtype)
{
    const tw__initializer_methods *methods = tw__methods(initializer);
    if (dtype == TW_DTYPE_NONE)
        dtype = tw__floatx();
    if (initializer->foreign_make)
        return initializer->foreign_make(initializer, shape, dtype);
    if (!methods) {
        tw__fail(TW_NOT_IMPLEMENTED_ERROR, "Initializer subclasses must implement the `__call__()` method.");
        return NULL;
    }
    if (!tw__shape_known(shape)) {
        tw__fail(TW_VALUE_ERROR, "%s: the shape must be fully known, got %s", tw_class_name(initializer), tw__shape_text(shape));
        return NULL;
    }
    return methods->make(initializer, shape, dtype);
}

tw_status tw__initializer_seed(tw_initializer *initializer, int64_t *seed)
{
    if (!initializer->seeded) {
        TW_TRY(tw__keras_seed_next(&initializer->seed));
        initializer->seeded = true;
    }
    *seed = initializer->seed;
    return TW_OK;
}

/* ---- by name ---- */

static const struct {
    const char *name, *class_id;
} other_names[] = {
    { "zero", "initializers_zeros" },
    { "one", "initializers_ones" },
    { "uniform", "initializers_random_uniform" },
    { "normal", "initializers_random_normal" },
};

static const tw_class *class_of_name(const char *name)
{
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++) {
        if (strcmp(name, other_names[i].name) == 0)
            return tw_class_find(other_names[i].class_id);
    }
    char path[96];
    snprintf(path, sizeof path, "keras.initializers.%s", name);
    const tw_signature *signature = tw_signature_find(path);
    return signature && signature->class_row != &tw__class_initializer ? signature->class_row : NULL;
}

tw_initializer *tw__initializer_get(tw_named named)
{
    if (tw__named_is_object(named)) {
        if (tw__is(named, &tw__class_initializer))
            return tw_retain(named);
        if (tw__is_callable(named))
            return tw__initializer_of_function((tw_callable *)(uintptr_t)named);
        tw__fail(TW_VALUE_ERROR, "Could not interpret initializer identifier: an object of class %s", tw_class_name(named));
        return NULL;
    }
    const tw_class *class = named ? class_of_name(named) : NULL;
    if (!class) {
        tw__fail_because(
            TW_REASON_UNKNOWN_NAME, TW_VALUE_ERROR,
            "Unknown initializer: '%s'. Please ensure you are using a `keras.utils.custom_object_scope` and that this "
            "object is included in the scope.",
            named ? (const char *)named : "None");
        return NULL;
    }
    return tw__class_make_default(class);
}

tw_named tw__initializer_again(tw_named named, tw_initializer **made)
{
    *made = NULL;
    if (!tw__named_is_object(named) || !tw__is(named, &tw__class_initializer) || tw__is_own(named))
        return named;
    const tw_class *class = tw_class_of(named);
    const tw_initializer *given = named;
    bool plain = !given->foreign_make && tw_class_signature(class) && tw_object_config(named);
    tw__auto(tw_value_free) tw_value config =
        plain ? (tw_value){ .kind = TW_VALUE_NONE } : tw__serialize(named, "keras.initializers");
    *made = plain                          ? tw_class_make(class, tw_object_config(named))
            : config.kind != TW_VALUE_NONE ? tw__deserialize(&config, "initializer")
                                           : NULL;
    return *made;
}

tw_status tw__initializer_check(tw_named named)
{
    tw_auto tw_initializer *found = named ? tw__initializer_get(named) : NULL;
    return found || !named ? TW_OK : tw__error_status();
}

TW_API(initializers_get, "keras.initializers.get|initializers.get(identifier: named<initializer>) -> initializer",
       "The initializer of that name, or the object itself.\n"
       "identifier: a name, a dict that describes one, or an initializer")
{
    return tw__initializer_get(args->identifier);
}

/* ---- values ---- */

/* One number as an element of the dtype, in `element`. */
static void number_as(tw_dtype dtype, double number, void *element)
{
    tw__cast_run(TW_FLOAT64, dtype, &number, element, 1, false);
}

static tw_tensor *filled(tw_initializer *self, const tw_shape *shape, tw_dtype dtype, tw__distribution distribution, uint64_t low,
                         uint64_t range)
{
    int64_t seed;
    if (tw__initializer_seed(self, &seed) != TW_OK)
        return NULL;
    tw_tensor *values = tw__tensor_empty(dtype, shape);
    if (values)
        tw__random_fill(distribution, dtype, tw__philox_stateless(seed, 0), values->data, values->count, low, range);
    return values;
}

/* values * factor + term, each step rounded to the dtype. */
static void scale(tw_tensor *values, const void *factor, const void *term)
{
    tw__binary_row(&tw__binary_multiply, values->dtype, values->data, factor, values->data, values->count, TW_ROW_Y_SCALAR);
    tw__binary_row(&tw__binary_add, values->dtype, values->data, term, values->data, values->count, TW_ROW_Y_SCALAR);
}

/* The two integers that the stateless ops take. */
static tw_tensor *seed_pair(tw_initializer *self)
{
    int64_t seed;
    if (tw__initializer_seed(self, &seed) != TW_OK)
        return NULL;
    return seed <= INT32_MAX && seed >= INT32_MIN ? tw_tensor_new(TW_INT32, TW_SHAPE(2), (int32_t[]){ (int32_t)seed, 0 })
                                                  : tw_tensor_new(TW_INT64, TW_SHAPE(2), (int64_t[]){ seed, 0 });
}

static tw_tensor *number_of(tw_dtype dtype, double number)
{
    tw_tensor *value = tw__tensor_empty(dtype, &TW_SCALAR);
    if (value)
        number_as(dtype, number, value->data);
    return value;
}

/* In a lasting graph the values are made by nodes, whenever a session asks for them. */
static tw_tensor *in_graph(tw_initializer *self, const tw_shape *shape, tw_dtype dtype, double first, double second,
                           tw__distribution distribution)
{
    tw_auto tw_tensor *dims = tw__tensor_of_shape(shape, TW_INT32), *seed = dims ? seed_pair(self) : NULL;
    tw_auto tw_tensor *one = seed ? number_of(dtype, first) : NULL, *other = one ? number_of(dtype, second) : NULL;
    if (!other)
        return NULL;
    if (distribution == TW__UNIFORM)
        return tw_random_stateless_uniform(dims, seed, .minval = one, .maxval = other, .dtype = dtype);
    return distribution == TW__NORMAL
               ? tw_random_stateless_normal(dims, seed, .mean = one, .stddev = other, .dtype = dtype)
               : tw_random_stateless_truncated_normal(dims, seed, .mean = one, .stddev = other, .dtype = dtype);
}

tw_tensor *tw__initial_uniform(tw_initializer *self, const tw_shape *shape, tw_dtype dtype, double low, double high)
{
    if (dtype == TW_INT32 || dtype == TW_INT64 || dtype == TW_UINT32 || dtype == TW_UINT64) {
        if (low != floor(low) || high != floor(high)) {
            tw__fail(TW_TYPE_ERROR, "%s: Cannot convert %g to EagerTensor of dtype %s", tw_class_name(self),
                     low != floor(low) ? low : high, tw_dtype_name(dtype));
            return NULL;
        }
        if (!(low < high) || !(low > -9.2e18) || !(high < 1.8e19)) {
            tw__fail(TW_INVALID_ARGUMENT, "%s: Need minval < maxval, got %g >= %g", tw_class_name(self), low, high);
            return NULL;
        }
        return filled(self, shape, dtype, TW__BELOW, low < 0 ? (uint64_t)(int64_t)low : (uint64_t)low,
                      (high < 0 ? (uint64_t)(int64_t)high : (uint64_t)high) - (low < 0 ? (uint64_t)(int64_t)low : (uint64_t)low));
    }
    if (!tw__dtype_is_float(dtype)) {
        tw__fail(TW_VALUE_ERROR, "%s: Expected float or integer dtype, got <dtype: '%s'>.", tw_class_name(self),
                 tw_dtype_name(dtype));
        return NULL;
    }
    if (tw__in_graph())
        return in_graph(self, shape, dtype, low, high, TW__UNIFORM);
    tw_tensor *values = filled(self, shape, dtype, TW__UNIFORM, 0, 0);
    if (!values)
        return NULL;
    double bottom, top, range; /* room for an element of any float dtype */
    number_as(dtype, low, &bottom);
    number_as(dtype, high, &top);
    tw__binary_row(&tw__binary_subtract, dtype, &top, &bottom, &range, 1, TW_ROW_BOTH);
    scale(values, &range, &bottom);
    return values;
}

tw_tensor *tw__initial_normal(tw_initializer *self, const tw_shape *shape, tw_dtype dtype, double mean, double deviation,
                              bool truncated)
{
    if (!tw__dtype_is_float(dtype)) {
        tw__fail(TW_VALUE_ERROR, "%s: Expected floating point type, got <dtype: '%s'>.", tw_class_name(self),
                 tw_dtype_name(dtype));
        return NULL;
    }
    if (tw__in_graph())
        return in_graph(self, shape, dtype, mean, deviation, truncated ? TW__TRUNCATED_NORMAL : TW__NORMAL);
    tw_tensor *values = filled(self, shape, dtype, truncated ? TW__TRUNCATED_NORMAL : TW__NORMAL, 0, 0);
    if (!values)
        return NULL;
    double factor, term;
    number_as(dtype, deviation, &factor);
    number_as(dtype, mean, &term);
    scale(values, &factor, &term);
    return values;
}
