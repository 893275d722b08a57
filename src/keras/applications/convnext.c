/* ConvNeXt: blocks of a wide convolution by channel and two dense layers, scaled by weights of their own, beside a shortcut. */
#include <thalweg/keras.h>

#include "keras/applications/application.h"
#include "keras/layers/layers.h"
#include "op/calls.h"

/* ---- the layer that scales ---- */

static tw_status scale_build(tw_layer *self, const tw_shape *input_shape)
{
    const tw_layers_layer_scale_args *args = tw_object_config(self);
    (void)input_shape;
    tw_auto tw_tensor *number = tw_tensor_double(args->init_values);
    tw_auto tw_initializer *initial = number ? tw_initializers_constant(number) : NULL;
    TW_NEED(initial);
    return tw__layer_add_weight(self, "gamma", &TW_SHAPE(args->projection_dim), self->dtype, initial, true) ? TW_OK
                                                                                                            : tw__error_status();
}

static tw_tensor *scale_call(tw_layer *self, tw_tensor *input, int training)
{
    TW_TEMPS(t);
    (void)training;
    return TW_CALL(Mul, tw__temp_cast(t, input, self->compute_dtype), tw__temp(t, tw__layer_read(self, "gamma")));
}

static const tw__layer_methods scale_methods = { .build = scale_build, .call = scale_call };

TW_CLASS(layers_layer_scale,
         "keras.src.applications.convnext.LayerScale(init_values: float, projection_dim: int, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(tw_layer), .methods = &scale_methods,
         .doc = "Its input times a weight for each channel, which begin with one small number.\n"
                "init_values: the first value of all weights\n"
                "projection_dim: how many channels there are");

/* ---- the network ---- */

typedef struct plan {
    int depths[4], width;
} plan;

static tw_keras_tensor *put_normal(tw__network *n, tw_keras_tensor *x, const char *name)
{
    return tw__network_put(n, x, tw_layers_layer_normalization(.epsilon = 1e-6, .name = name));
}

/* A convolution that makes pictures smaller, with a normalization before or after it, as a model of its own. */
static tw_layer *smaller(tw__network *n, int64_t filters, int number)
{
    TW_TEMPS(t);
    const char *name = n->name;
    int64_t size = number < 0 ? 4 : 2;
    tw_layer *normal =
        tw__temp(t, tw_layers_layer_normalization(.epsilon = 1e-6,
                                                  .name = number < 0 ? TW_NAMED("%s_stem_layernorm", name)
                                                                     : TW_NAMED("%s_downsampling_layernorm_%d", name, number)));
    tw_layer *conv = tw__temp(t, tw_layers_conv2d(filters, TW_INTS(size, size), .strides = TW_INTS(size, size),
                                                  .name = number < 0 ? TW_NAMED("%s_stem_conv", name)
                                                                     : TW_NAMED("%s_downsampling_conv_%d", name, number)));
    if (!normal || !conv)
        return NULL;
    return (tw_layer *)tw_sequential(number < 0 ? TW_OBJECTS(conv, normal) : TW_OBJECTS(normal, conv),
                                     .name = number < 0 ? TW_NAMED("%s_stem", name)
                                                        : TW_NAMED("%s_downsampling_block_%d", name, number));
}

static tw_keras_tensor *block(tw__network *n, tw_keras_tensor *x, int64_t width, const char *name)
{
    tw_keras_tensor *shortcut = x;
    x = tw__network_conv(n, x, (tw__conv){ width, 7, .groups = width, .bias = true }, TW_NAMED("%s_depthwise_conv", name));
    x = put_normal(n, x, TW_NAMED("%s_layernorm", name));
    x = tw__network_put(n, x, tw_layers_dense(4 * width, .name = TW_NAMED("%s_pointwise_conv_1", name)));
    x = tw__network_act(n, x, "gelu", TW_NAMED("%s_gelu", name));
    x = tw__network_put(n, x, tw_layers_dense(width, .name = TW_NAMED("%s_pointwise_conv_2", name)));
    x = tw__network_put(n, x, tw_layers_layer_scale(1e-6, width, .name = TW_NAMED("%s_layer_scale", name)));
    x = tw__network_act(n, x, "linear", TW_NAMED("%s_identity", name));
    return tw__network_operator(n, "__operators__.add", shortcut, x, true);
}

static tw_keras_tensor *convnext(tw__network *n, tw_keras_tensor *x)
{
    const plan *p = n->row->plan;
    tw_layer *steps[4];
    x = tw__network_source(n, x);
    if (n->args->include_preprocessing && tw__network_channels(x) == 3)
        x = tw__network_standard(n, x, 255, true, TW_NAMED("%s_prestem_normalization", n->name));
    for (int i = 0; i < 4; i++)
        steps[i] = tw__temp(n->t, smaller(n, (int64_t)p->width << i, i - 1));
    for (int i = 0; i < 4; i++) {
        x = tw__network_put(n, x, tw_retain(steps[i]));
        for (int k = 0; k < p->depths[i]; k++)
            x = block(n, x, (int64_t)p->width << i, TW_NAMED("%s_stage_%d_block_%d", n->name, i, k));
    }
    if (!n->args->include_top)
        return put_normal(n, tw__network_pooled(n, x, false), NULL);
    x = tw__network_put(n, x, tw_layers_global_average_pooling2d(.name = TW_NAMED("%s_head_gap", n->name)));
    x = put_normal(n, x, TW_NAMED("%s_head_layernorm", n->name));
    return tw__network_put(n, x,
                           tw_layers_dense(n->args->classes, .activation = n->args->classifier_activation,
                                           .name = TW_NAMED("%s_head_dense", n->name)));
}

#define ARGUMENTS \
    "model_name include_top include_preprocessing weights input_tensor input_shape pooling classes classifier_activation"
#define ROW(name_, small_, third_, width_)                                                                \
    {                                                                                                     \
        "ConvNeXt" name_, "convnext", "convnext_" small_, ARGUMENTS, "convnext_" small_ "%s.h5", 224, 32, \
            &(const plan){ { 3, 3, third_, 3 }, width_ }, convnext, NULL, NULL                            \
    }
const tw__application tw__applications_convnext[] = {
    ROW("Tiny", "tiny", 9, 96),     ROW("Small", "small", 27, 96),    ROW("Base", "base", 27, 128),
    ROW("Large", "large", 27, 192), ROW("XLarge", "xlarge", 27, 256), { 0 },
};
