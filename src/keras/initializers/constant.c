/* Initializers without random numbers: Zeros, Ones, Constant, Identity. */
#include <math.h>

#include "graph/graph.h"
#include "kernel/kernel.h"
#include "keras/initializers/initializers.h"
#include "op/calls.h"

static bool is_number(tw_dtype dtype)
{
    return tw__dtype_is_float(dtype) || tw__dtype_is_integer(dtype) || tw__dtype_is_complex(dtype) || dtype == TW_BOOL;
}

/* All elements equal to the number. */
static tw_tensor *filled(tw_initializer *self, const tw_shape *shape, tw_dtype dtype, double number)
{
    if (!is_number(dtype) || !tw__cast_has(TW_FLOAT64, dtype)) {
        tw__fail(TW_VALUE_ERROR, "%s: Expected numeric or boolean dtype, got <dtype: '%s'>.", tw_class_name(self),
                 tw_dtype_name(dtype));
        return NULL;
    }
    tw_tensor *values = tw__tensor_empty(dtype, shape);
    if (!values)
        return NULL;
    char element[16];
    size_t size = tw__element_size(dtype);
    tw__cast_run(TW_FLOAT64, dtype, &number, element, 1, false);
    for (int64_t i = 0; i < values->count; i++)
        memcpy((char *)values->data + (size_t)i * size, element, size);
    return values;
}

/* In a lasting graph they are what tf.zeros and tf.ones make there. */
static tw_tensor *zeros_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    tw_auto tw_tensor *dims = tw__in_graph() && is_number(dtype) ? tw__tensor_of_shape(shape, TW_INT32) : NULL;
    return dims ? tw_zeros(dims, .dtype = dtype) : filled(self, shape, dtype, 0);
}
static const tw__initializer_methods zeros_methods = { zeros_make };

TW_CLASS(
    initializers_zeros,
    "keras.initializers.Zeros|keras.initializers.zeros|initializers.Zeros|initializers.zeros|zeros_initializer() -> initializer",
    .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .methods = &zeros_methods, .doc = "Zeros.");

static tw_tensor *ones_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    tw_auto tw_tensor *dims = tw__in_graph() && is_number(dtype) ? tw__tensor_of_shape(shape, TW_INT32) : NULL;
    return dims ? tw_ones(dims, .dtype = dtype) : filled(self, shape, dtype, 1);
}
static const tw__initializer_methods ones_methods = { ones_make };

TW_CLASS(initializers_ones,
         "keras.initializers.Ones|keras.initializers.ones|initializers.Ones|initializers.ones|ones_initializer() -> initializer",
         .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .methods = &ones_methods, .doc = "Ones.");

/* ---- Constant ---- */

static bool has_fractions(const tw_tensor *value)
{
    bool any = false;
    for (int64_t i = 0; tw__dtype_is_float(value->dtype) && !any && i < value->count; i++)
        any = tw_tensor_double_at(value, i) != rint(tw_tensor_double_at(value, i));
    return any;
}

static tw_tensor *of_tensor(tw_initializer *self, const tw_tensor *value, const tw_shape *shape, tw_dtype dtype)
{
    const void *elements = tw__tensor_values(value, "Constant");
    if (!elements)
        return NULL;
    if (!tw__dtype_is_float(dtype) && !tw__dtype_is_complex(dtype) && has_fractions(value)) {
        tw__fail(TW_TYPE_ERROR, "Constant: a value with fractions can't give dtype %s", tw_dtype_name(dtype));
        return NULL;
    }
    if (value->count == 1 && is_number(value->dtype) && !tw__dtype_is_complex(value->dtype))
        return filled(self, shape, dtype, tw_tensor_double_at(value, 0));
    tw_tensor *values = is_number(value->dtype) && tw__cast_has(value->dtype, dtype) ? tw__tensor_empty(dtype, shape) : NULL;
    if (values && values->count == value->count) {
        tw__cast_run(value->dtype, dtype, elements, values->data, value->count, false);
        return values;
    }
    tw__fail(TW_TYPE_ERROR, "Constant: a value of dtype %s and shape %s can't give dtype %s and shape %s",
             tw_dtype_name(value->dtype), tw__shape_text(&value->shape), tw_dtype_name(dtype), tw__shape_text(shape));
    tw_release(values);
    return NULL;
}

static tw_status constant_settle(void *self, __attribute__((unused)) const void *given)
{
    tw_initializers_constant_args *config = ((tw_object *)self)->config;
    if (!config->value)
        config->value = tw_tensor_double(0);
    return config->value ? TW_OK : tw__error_status();
}

static tw_tensor *constant_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    tw_tensor *values = of_tensor(self, ((const tw_initializers_constant_args *)self->object.config)->value, shape, dtype);
    if (!values || !tw__in_graph())
        return values;
    tw_auto tw_tensor *own = values;
    return tw__graph_constant(tw__tracing, own, NULL);
}
static const tw__initializer_methods constant_methods = { constant_make };

TW_CLASS(
    initializers_constant,
    "keras.initializers.Constant|keras.initializers.constant|initializers.Constant|initializers.constant|constant_initializer"
    "(value: tensor<float64> = None shown 0) -> initializer",
    .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .settle = constant_settle, .methods = &constant_methods,
    .doc = "A number in all places, or a list of them; 0 if none is given.\n"
           "value: a number, or an array that fills the shape; None: 0\n"
           "example: tf.keras.initializers.Constant(2.0)([2]).numpy().tolist()  # [2.0, 2.0]");

/* ---- Identity ---- */

static tw_tensor *identity_make(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    if (!tw__dtype_is_float(dtype)) {
        tw__fail(TW_VALUE_ERROR, "Expected floating point type, got <dtype: '%s'>.", tw_dtype_name(dtype));
        return NULL;
    }
    if (shape->rank != 2) {
        tw__fail(TW_VALUE_ERROR, "Identity matrix initializer can only be used for 2D matrices. Received: shape=%s of rank %d.",
                 tw__shape_text(shape), shape->rank);
        return NULL;
    }
    double gain = ((const tw_initializers_identity_args *)self->object.config)->gain;
    if (tw__in_graph()) {
        tw_auto tw_tensor *factor = tw__float_scalar(dtype, gain),
                          *ones = tw_eye((int)shape->dims[0], .num_columns = shape->dims[1], .dtype = dtype);
        return factor && ones ? TW_CALL(Mul, factor, ones) : NULL;
    }
    tw_tensor *values = filled(self, shape, dtype, 0);
    size_t size = tw__element_size(dtype);
    for (int64_t i = 0; values && i < shape->dims[0] && i < shape->dims[1]; i++)
        tw__cast_run(TW_FLOAT64, dtype, &gain, (char *)values->data + (size_t)(i * shape->dims[1] + i) * size, 1, false);
    return values;
}
static const tw__initializer_methods identity_methods = { identity_make };

TW_CLASS(initializers_identity,
         "keras.initializers.Identity|keras.initializers.identity|keras.initializers.IdentityInitializer|initializers.Identity|"
         "initializers.identity(gain: float = 1.0) -> initializer",
         .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .methods = &identity_methods,
         .doc = "gain times the identity matrix.");
