/* Noise while training: GaussianNoise, GaussianDropout, AlphaDropout, SpatialDropout1D/2D/3D. Otherwise inputs pass. */
#include <math.h>

#include "api/nn/nn.h"
#include "api/random/random.h"
#include "keras/layers/layers.h"
#include "op/calls.h"

typedef struct noise {
    tw_layer layer;
    int64_t seed; /* of the next call; TW_NO_INT: none was given */
} noise;

static tw_status noise_init(void *self, const void *given)
{
    (void)given;
    tw_layers_dropout_args own; /* by name */
    tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_layers_dropout, &own);
    ((noise *)self)->seed = own.seed;
    return TW_OK;
}

static tw_status noise_settle(void *self, const void *given)
{
    (void)given;
    tw_layers_spatial_dropout2d_args own;
    bool first;
    tw__args_project(tw_class_signature(tw_class_of(self)), tw_object_config(self), &tw__signature_layers_spatial_dropout2d,
                     &own);
    TW_TRY(tw__layer_channels_first(own.data_format, &first));
    return tw__layer_check_rate(own.rate);
}

/* Every call has numbers of its own. */
static void count_call(tw_layer *self)
{
    noise *layer = (noise *)self;
    if (layer->seed != TW_NO_INT)
        layer->seed++;
}

/* Random values in the input's shape: normal ones, or uniform ones in [0, 1). */
static tw_tensor *draw(tw_layer *self, const tw_op *op, tw_tensor *shape, tw_dtype dtype)
{
    tw__seeds seeds = tw__seed_pair(((noise *)self)->seed);
    count_call(self);
    tw_attr type = TW_A_TYPE("dtype", dtype);
    return tw__random_call(op, TW_IN(shape), 1, seeds, &type, 1);
}

static tw_tensor *normal_like(tw__temps *t, tw_layer *self, tw_tensor *input, double mean, double deviation)
{
    tw_tensor *shape = TW_TEMP(Shape, input);
    tw_tensor *values = shape ? tw__temp(t, draw(self, &tw__op_RandomStandardNormal, shape, input->dtype)) : NULL;
    return TW_TEMP(AddV2, mean, TW_TEMP(Mul, deviation, values));
}

/* ---- GaussianNoise ---- */

static tw_tensor *gaussian_noise_call(tw_layer *self, tw_tensor *input, int training)
{
    TW_TEMPS(t);
    const tw_layers_gaussian_noise_args *args = tw_object_config(self);
    return training == 1 ? TW_CALL(AddV2, input, normal_like(t, self, input, 0, args->stddev)) : tw_retain(input);
}

static const tw__layer_methods gaussian_noise_methods = {
    .arguments = "inputs training", .supports_masking = true, .call = gaussian_noise_call, .count_call = count_call
};

TW_CLASS(layers_gaussian_noise, "keras.layers.GaussianNoise(stddev: float, seed: int = None, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(noise), .init = noise_init, .settle = noise_settle,
         .methods = &gaussian_noise_methods, .doc = "While training, adds normal noise.");

/* ---- GaussianDropout ---- */

static tw_tensor *gaussian_dropout_call(tw_layer *self, tw_tensor *input, int training)
{
    const tw_layers_gaussian_dropout_args *args = tw_object_config(self);
    if (training != 1 || args->rate <= 0 || args->rate >= 1)
        return tw_retain(input);
    TW_TEMPS(t);
    return TW_CALL(Mul, input, normal_like(t, self, input, 1, sqrt(args->rate / (1 - args->rate))));
}

static const tw__layer_methods gaussian_dropout_methods = {
    .arguments = "inputs training", .supports_masking = true, .call = gaussian_dropout_call, .count_call = count_call
};

TW_CLASS(layers_gaussian_dropout, "keras.layers.GaussianDropout(rate: float, seed: int = None, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(noise), .init = noise_init, .settle = noise_settle,
         .methods = &gaussian_dropout_methods,
         .doc = "While training, multiplies by normal values around 1.\n"
                "rate: the strength of the noise: its standard deviation is sqrt(rate / (1 - rate))");

/* ---- AlphaDropout ---- */

/* Dropped elements become selu's lower limit; then scale and offset bring mean and variance back. */
static tw_tensor *alpha_dropout_call(tw_layer *self, tw_tensor *input, int training)
{
    const tw_layers_alpha_dropout_args *args = tw_object_config(self);
    double rate = args->rate, lowest = -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946;
    if (training != 1 || rate <= 0 || rate >= 1)
        return tw_retain(input);
    double scale = 1 / sqrt((1 - rate) * (1 + rate * lowest * lowest)), offset = -scale * lowest * rate;
    TW_TEMPS(t);
    tw_tensor *shape = tw__temp(t, tw__noise_dims(input, &args->noise_shape));
    tw_tensor *values = tw__temp(t, draw(self, &tw__op_RandomUniform, shape, input->dtype));
    tw_tensor *low = tw__temp(t, tw__grad_constant(lowest, input));
    tw_tensor *chosen = TW_TEMP(SelectV2, TW_TEMP(GreaterEqual, values, rate), input, low);
    return TW_CALL(AddV2, offset, TW_TEMP(Mul, scale, chosen));
}

static const tw__layer_methods alpha_dropout_methods = { .arguments = "inputs training",
                                                         .supports_masking = true,
                                                         .call = alpha_dropout_call,
                                                         .count_call = count_call,
                                                         .own_config = " noise_shape " };

TW_CLASS(layers_alpha_dropout,
         "keras.layers.AlphaDropout(rate: float, noise_shape: shape = None, seed: int = None, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(noise), .init = noise_init, .settle = noise_settle,
         .methods = &alpha_dropout_methods, .doc = "Dropout that keeps the mean and the variance of selu's outputs.");

/* ---- SpatialDropout ---- */

static tw_tensor *drop_channels(tw_layer *self, tw_tensor *input, double rate, int axes, bool channels_first, int training)
{
    if (tw__layer_need_rank(self, &input->shape, axes + 2) != TW_OK)
        return NULL;
    if (training != 1)
        return tw_retain(input);
    tw_shape shape = input->shape;
    for (int i = 0; i < axes; i++)
        shape.dims[(channels_first ? 2 : 1) + i] = 1;
    int64_t seed = ((noise *)self)->seed;
    count_call(self);
    return tw__dropout(input, rate, &shape, seed, NULL);
}

static tw_tensor *spatial1d_call(tw_layer *self, tw_tensor *input, int training)
{
    const tw_layers_spatial_dropout1d_args *args = tw_object_config(self);
    return drop_channels(self, input, args->rate, 1, false, training);
}

static const tw__layer_methods spatial1d_methods = {
    .arguments = "inputs training", .supports_masking = true, .call = spatial1d_call, .count_call = count_call
};

TW_CLASS(layers_spatial_dropout1d,
         "keras.layers.SpatialDropout1D(rate: float, *, noise_shape: shape = None, seed: int = None, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(noise), .init = noise_init, .settle = noise_settle,
         .methods = &spatial1d_methods, .doc = "Dropout of whole channels of sequences.");

static tw_tensor *spatial_call(tw_layer *self, tw_tensor *input, int training)
{
    const tw_layers_spatial_dropout2d_args *args = tw_object_config(self); /* SpatialDropout3D has the same */
    bool first;
    return tw__layer_channels_first(args->data_format, &first) == TW_OK
               ? drop_channels(self, input, args->rate, tw__is(self, &tw__class_layers_spatial_dropout3d) ? 3 : 2, first,
                               training)
               : NULL;
}

static const tw__layer_methods spatial_methods = { .arguments = "inputs training",
                                                   .supports_masking = true,
                                                   .call = spatial_call,
                                                   .count_call = count_call,
                                                   .own_config = " data_format " };

TW_CLASS(
    layers_spatial_dropout2d,
    "keras.layers.SpatialDropout2D(rate: float, data_format: str = None, *, noise_shape: shape = None, seed: int = None, **layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(noise), .init = noise_init, .settle = noise_settle, .methods = &spatial_methods,
    .doc = "Dropout of whole channels of images.");

TW_CLASS(
    layers_spatial_dropout3d,
    "keras.layers.SpatialDropout3D(rate: float, data_format: str = None, *, noise_shape: shape = None, seed: int = None, **layer) -> layer",
    .parent = &tw__class_layer, .size = sizeof(noise), .init = noise_init, .settle = noise_settle, .methods = &spatial_methods,
    .doc = "Dropout of whole channels of volumes.");
