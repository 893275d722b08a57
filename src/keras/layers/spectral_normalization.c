/* keras.layers.SpectralNormalization: a layer around another one; while training it divides the inner kernel by its largest
 * singular value, which a few steps of power iteration find. The kernel is a weight of both, as in Keras. */
#include "keras/layers/layers.h"
#include "op/array/array.h"
#include "op/calls.h"

static tw_layer *inner_of(const tw_layer *self)
{
    return ((const tw_layers_spectral_normalization_args *)tw_object_config(self))->layer;
}

static tw_status spectral_settle(void *self, const void *given)
{
    (void)self;
    const tw_layers_spectral_normalization_args *args = given;
    return args->power_iterations > 0
               ? TW_OK
               : tw__fail(TW_VALUE_ERROR, "`power_iterations` should be greater than zero. Received: `power_iterations=%lld`",
                          (long long)args->power_iterations);
}

static tw_status spectral_build(tw_layer *self, const tw_shape *input)
{
    tw_layer *inner = inner_of(self);
    TW_TRY(tw__layer_build(inner, input));
    tw__layer_built_for(inner, (tw_value){ .kind = TW_VALUE_NONE }); /* as in Keras, whose configs show it */
    tw_trackable *kernel = tw__tracked(&inner->trackable, "kernel");
    if (!tw__is(kernel, &tw__class_variable))
        kernel = tw__tracked(&inner->trackable, "embeddings");
    if (!tw__is(kernel, &tw__class_variable))
        return tw__fail(TW_VALUE_ERROR, "%s object has no attribute 'kernel' nor 'embeddings'", tw_class_name(inner));
    const tw_shape *shape = &((tw_variable *)kernel)->resource->shape;
    if (shape->rank < 1)
        return tw__fail(TW_VALUE_ERROR, "SpectralNormalization \"%s\": the kernel is a scalar", self->name);
    TW_TRY(tw__track(&self->trackable, "kernel", kernel));
    tw_auto void *normal = tw_initializers_truncated_normal(.stddev = 0.02);
    TW_NEED(normal);
    TW_NEED(tw__layer_add_weight(self, "vector_u", &TW_SHAPE(1, shape->dims[shape->rank - 1]),
                                 ((tw_variable *)kernel)->resource->dtype, normal, false));
    return TW_OK;
}

/* x / |x| of all its elements. */
static tw_tensor *unit(tw__temps *t, tw_tensor *x)
{
    if (!x)
        return NULL;
    tw_tensor *sum = TW_TEMP(Sum, TW_TEMP(Square, x), tw__temp(t, tw__all_axes(x)));
    return TW_TEMP(Mul, x, TW_TEMP(Rsqrt, TW_TEMP(Maximum, sum, 1e-12)));
}

static tw_status assign(tw_variable *variable, tw_tensor *value)
{
    TW_NEED(value);
    return tw__apply(&tw__op_AssignVariableOp, TW_IN(variable->handle, value), 2, NULL, 0, NULL, &(int){ 0 });
}

/* A kernel of zeros stays as it is, and so does the vector: both are chosen, not branched over, so that graphs need no branch. */
static tw_status normalize(tw_layer *self, int64_t iterations)
{
    TW_TEMPS(t);
    tw_variable *kernel = tw__layer_variable(self, "kernel"), *vector = tw__layer_variable(self, "vector_u");
    if (!kernel || !vector)
        return tw__error_status();
    tw_tensor *old = tw__temp(t, tw__variable_read(kernel)), *first = tw__temp(t, tw__variable_read(vector)), *u = first,
              *v = NULL;
    TW_NEED(old);
    tw_shape flat = TW_SHAPE(-1, old->shape.dims[old->shape.rank - 1]);
    tw_tensor *weights = tw__temp(t, tw__reshape(old, &flat)), *other = TW_TEMP(NotEqual, weights, 0.0);
    TW_NEED(other);
    tw_tensor *any = TW_TEMP(Any, other, tw__temp(t, tw__all_axes(other)));
    for (int64_t i = 0; i < iterations; i++) {
        TW_NEED(v = unit(t, TW_TEMP(MatMul, u, weights, TW_A_BOOL("transpose_b", true))));
        TW_NEED(u = unit(t, TW_TEMP(MatMul, v, weights)));
    }
    tw_tensor *sigma = TW_TEMP(MatMul, TW_TEMP(MatMul, v, weights), u, TW_A_BOOL("transpose_b", true));
    tw_tensor *scaled = TW_TEMP(RealDiv, old, TW_TEMP(SelectV2, any, sigma, TW_TEMP(OnesLike, sigma)));
    TW_NEED(scaled);
    TW_TRY(assign(vector, TW_TEMP(SelectV2, any, u, first)));
    return assign(kernel, tw__temp(t, tw__reshape(scaled, &old->shape)));
}

static tw_tensor *spectral_call(tw_layer *self, tw_tensor *input, int training)
{
    const tw_layers_spectral_normalization_args *args = tw_object_config(self);
    if (training == 1 && normalize(self, args->power_iterations) != TW_OK)
        return NULL;
    return tw__layer_call(args->layer, input, training);
}

static tw_status spectral_shape(tw_layer *self, const tw_shape *input, tw_shape *output)
{
    return tw__layer_output_shape(inner_of(self), input, output);
}

static void spectral_config(tw_layer *self, tw__dict *dict)
{
    tw__dict_put(dict, "layer", tw__serialize(inner_of(self), "keras.layers"));
}

static const tw__layer_methods spectral_methods = { .build = spectral_build,
                                                    .call = spectral_call,
                                                    .output_shape = spectral_shape,
                                                    .config = spectral_config,
                                                    .own_config = " layer " };

TW_CLASS(layers_spectral_normalization,
         "keras.layers.SpectralNormalization(layer: layer, power_iterations: int = 1, **layer) -> layer",
         .parent = &tw__class_layers_wrapper, .size = sizeof(tw__wrapper), .settle = spectral_settle,
         .methods = &spectral_methods,
         .doc = "A layer whose kernel is divided by its largest singular value while training.\n"
                "power_iterations: how many steps of the power iteration find the singular value at each call");
