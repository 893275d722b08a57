/* keras.layers.experimental.RandomFourierFeatures: cos(inputs @ kernel / scale + bias), with a kernel and a bias that are drawn
 * once. The layer after it then learns what a kernel machine would. */
#include <math.h>

#include "api/random/random.h"
#include "keras/constraints/constraints.h"
#include "keras/initializers/initializers.h"
#include "keras/layers/layers.h"
#include "op/calls.h"

typedef tw_layers_random_fourier_features_args arguments;

static bool is_named(tw_named named, const char *name)
{
    if (!named || tw__named_is_object(named))
        return false;
    const char *text = named;
    for (; *text && *name && (*text | 32) == *name; text++)
        name++;
    return !*text && !*name;
}

static tw_status features_settle(void *self, const void *given)
{
    (void)self;
    const arguments *args = given;
    if (args->output_dim <= 0)
        return tw__fail(TW_VALUE_ERROR, "`output_dim` should be a positive integer. Received: %lld", (long long)args->output_dim);
    if (!isnan(args->scale) && args->scale <= 0)
        return tw__fail(TW_VALUE_ERROR, "When provided, `scale` should be a positive float. Received: %.*f",
                        args->scale == floor(args->scale) ? 1 : 6, args->scale);
    tw_named named = args->kernel_initializer;
    if (!named || tw__named_is_object(named) || is_named(named, "gaussian") || is_named(named, "laplacian"))
        return tw__initializer_check(tw__named_is_object(named) ? named : NULL);
    return tw__fail(TW_VALUE_ERROR, "Unsupported `kernel_initializer`: %s Expected one of: ['gaussian', 'laplacian']",
                    (const char *)named);
}

/* Numbers of Cauchy's distribution: the tangent of uniform angles. */
static tw_tensor *cauchy(tw_initializer *self, const tw_shape *shape, tw_dtype dtype)
{
    (void)self;
    TW_TEMPS(t);
    tw_tensor *dims = tw__temp_ints(t, shape->dims, shape->rank, TW_INT32);
    tw_attr type = TW_A_TYPE("dtype", dtype);
    tw_tensor *drawn =
        dims ? tw__temp(t, tw__random_call(&tw__op_RandomUniform, TW_IN(dims), 1, tw__seed_pair(TW_NO_INT), &type, 1)) : NULL;
    return TW_CALL(Tan, TW_TEMP(Mul, TW_TEMP(Sub, drawn, 0.5), acos(-1.0)));
}

static const tw__initializer_methods cauchy_methods = { cauchy };
static const tw_class cauchy_class = {
    .name = "Cauchy", .parent = &tw__class_initializer, .size = sizeof(tw_initializer), .methods = &cauchy_methods
};

/* A new reference. */
static void *kernel_maker(tw_named named)
{
    if (is_named(named, "laplacian"))
        return tw__object_new(&cauchy_class);
    if (is_named(named, "gaussian"))
        return tw_initializers_random_normal(.stddev = 1.0);
    return tw__initializer_get(named ? named : "glorot_uniform");
}

static tw_status features_build(tw_layer *self, const tw_shape *input)
{
    arguments *args = (arguments *)(uintptr_t)tw_object_config(self);
    tw__owned char *text = tw__shape_tuple(input);
    if (input->rank != 2)
        return tw__fail(
            TW_VALUE_ERROR,
            "The rank of the input tensor should be 2. Received input with rank %d instead. Full input shape received: %s",
            input->rank, text ? text : "");
    if (input->dims[1] < 0)
        return tw__fail(TW_VALUE_ERROR,
                        "The last dimension of the input tensor should be defined. Found `None`. Full input shape received: %s",
                        text ? text : "");
    self->last_axis = input->dims[1];
    if (isnan(args->scale)) /* from now on the config tells it, as Keras's does */
        args->scale = is_named(args->kernel_initializer, "gaussian") ? sqrt((double)input->dims[1] / 2) : 1;
    tw_auto void *kernel = kernel_maker(args->kernel_initializer);
    tw_auto void *bias = tw_initializers_random_uniform(.minval = 0, .maxval = 2 * acos(-1.0));
    tw_auto tw_tensor *scale = tw__float_scalar(TW_FLOAT32, args->scale);
    tw_auto void *constant = scale ? tw_initializers_constant(.value = scale) : NULL;
    if (!kernel || !bias || !constant)
        return tw__error_status();
    TW_NEED(
        tw__layer_add_weight(self, "unscaled_kernel", &TW_SHAPE(input->dims[1], args->output_dim), TW_FLOAT32, kernel, false));
    TW_NEED(tw__layer_add_weight(self, "bias", &TW_SHAPE(args->output_dim), TW_FLOAT32, bias, false));
    tw_variable *factor = tw__layer_add_weight(self, "kernel_scale", &TW_SHAPE(1), TW_FLOAT32, constant, true);
    TW_NEED(factor);
    TW_NEED(factor->constraint = tw__constraint_get("non_neg"));
    return TW_OK;
}

static tw_tensor *features_call(tw_layer *self, tw_tensor *input, int training)
{
    (void)training;
    TW_TEMPS(t);
    tw_tensor *x = tw__temp_cast(t, input, TW_FLOAT32), *scale = tw__temp(t, tw__layer_read(self, "kernel_scale"));
    tw_tensor *unscaled = tw__temp(t, tw__layer_read(self, "unscaled_kernel")), *bias = tw__temp(t, tw__layer_read(self, "bias"));
    tw_tensor *kernel = TW_TEMP(Mul, TW_TEMP(RealDiv, 1.0, scale), unscaled);
    return TW_CALL(Cos, TW_TEMP(BiasAdd, TW_TEMP(MatMul, x, kernel), bias));
}

static tw_status features_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    if (input->rank != 2)
        return tw__fail(TW_VALUE_ERROR, "RandomFourierFeatures \"%s\": the input's shape is %s, expected two dimensions",
                        self->name, tw__shape_text(input));
    *output = TW_SHAPE(input->dims[0], ((const arguments *)tw_object_config(self))->output_dim);
    return TW_OK;
}

static void features_config(tw_layer *self, tw__dict *dict)
{
    tw_named named = ((const arguments *)tw_object_config(self))->kernel_initializer;
    tw__dict_put(dict, "kernel_initializer",
                 tw__named_is_object(named) ? tw__serialize(named, "keras.initializers")
                                            : tw__value_str(named ? named : "gaussian"));
}

static const tw__layer_methods features_methods = { .build = features_build,
                                                    .call = features_call,
                                                    .output_shape = features_shape,
                                                    .config = features_config,
                                                    .own_config = " kernel_initializer " };

TW_CLASS(
    layers_random_fourier_features,
    "keras.layers.experimental.RandomFourierFeatures(output_dim: int, kernel_initializer: named<random_features> = gaussian, "
    "scale: float = None, trainable: bool = False, name: str = None, *, dtype: dtype<policy> = None, dynamic: bool = False, "
    "input_shape: shape = None, input_dim: int = None, batch_size: int = None, batch_input_shape: shape = None, "
    "weights: tensors = None) -> layer",
    .parent = &tw__class_layer, .size = sizeof(tw_layer), .settle = features_settle, .methods = &features_methods,
    .doc = "Maps inputs to features whose products approximate a kernel of Gauss or Laplace.\n"
           "output_dim: how many features come out\n"
           "kernel_initializer: the kernel: `gaussian` or `laplacian`, or an initializer of the matrix\n"
           "scale: the width of the kernel, above 0; None: the square root of half the inputs' length for `gaussian`, else 1\n"
           "trainable: whether training changes the scale");
