/* MobileNetV3: blocks that widen, convolve by channel, gate and narrow again, with hard forms of swish and sigmoid. */
#include "keras/applications/application.h"

typedef struct stage {
    double expansion;
    short filters;
    bool five, hard; /* wide kernels; hard swish, unless it shall be minimal */
    char stride;
    bool gate;
} stage;

typedef struct plan {
    const stage *stages;
    int count;
    int64_t last;
    const char *type;
} plan;

static const stage small[] = {
    { 1, 16, 0, 0, 2, 1 }, { 72.0 / 16, 24, 0, 0, 2, 0 }, { 88.0 / 24, 24, 0, 0, 1, 0 }, { 4, 40, 1, 1, 2, 1 },
    { 6, 40, 1, 1, 1, 1 }, { 6, 40, 1, 1, 1, 1 },         { 3, 48, 1, 1, 1, 1 },         { 3, 48, 1, 1, 1, 1 },
    { 6, 96, 1, 1, 2, 1 }, { 6, 96, 1, 1, 1, 1 },         { 6, 96, 1, 1, 1, 1 },
};
static const stage large[] = {
    { 1, 16, 0, 0, 1, 0 },  { 4, 24, 0, 0, 2, 0 },  { 3, 24, 0, 0, 1, 0 },   { 3, 40, 1, 0, 2, 1 },   { 3, 40, 1, 0, 1, 1 },
    { 3, 40, 1, 0, 1, 1 },  { 6, 80, 0, 1, 2, 0 },  { 2.5, 80, 0, 1, 1, 0 }, { 2.3, 80, 0, 1, 1, 0 }, { 2.3, 80, 0, 1, 1, 0 },
    { 6, 112, 0, 1, 1, 1 }, { 6, 112, 0, 1, 1, 1 }, { 6, 160, 1, 1, 2, 1 },  { 6, 160, 1, 1, 1, 1 },  { 6, 160, 1, 1, 1, 1 },
};

static int64_t rounded(double width)
{
    return tw__network_rounded(width, 8, true);
}

static tw_keras_tensor *relu(tw__network *n, tw_keras_tensor *x, const char *name)
{
    return tw__network_put(n, x, tw_layers_re_lu(.name = name));
}

static tw_keras_tensor *hard_sigmoid(tw__network *n, tw_keras_tensor *x)
{
    x = tw__network_number(n, "__operators__.add", x, 3);
    x = tw__network_put(n, x, tw_layers_re_lu(.max_value = 6));
    return tw__network_number(n, "math.multiply", x, 1 / 6.0);
}

static tw_keras_tensor *activated(tw__network *n, tw_keras_tensor *x, bool hard)
{
    if (!hard || n->args->minimalistic)
        return relu(n, x, NULL);
    tw_layer *product = tw_layers_multiply(.name = NULL); /* named before the parts of the gate, as in Keras */
    tw_keras_tensor *gate = hard_sigmoid(n, x);
    return tw__network_join(n, (tw_keras_tensor *[]){ x, gate }, 2, product);
}

static tw_keras_tensor *unit(tw__network *n, tw_keras_tensor *x, tw__conv how, const char *name)
{
    return tw__network_normalized(n, tw__network_conv(n, x, how, name), TW_NAMED("%s/BatchNorm", name));
}

static tw_keras_tensor *gated(tw__network *n, tw_keras_tensor *x, int64_t channels, const char *name)
{
    tw_keras_tensor *gate =
        tw__network_put(n, x,
                        tw_layers_global_average_pooling2d(.keepdims = true, .name = TW_NAMED("%ssqueeze_excite/AvgPool", name)));
    gate = tw__network_conv(n, gate, (tw__conv){ rounded((double)channels * 0.25), 1, .bias = true },
                            TW_NAMED("%ssqueeze_excite/Conv", name));
    gate = relu(n, gate, TW_NAMED("%ssqueeze_excite/Relu", name));
    gate = tw__network_conv(n, gate, (tw__conv){ channels, 1, .bias = true }, TW_NAMED("%ssqueeze_excite/Conv_1", name));
    gate = hard_sigmoid(n, gate);
    return tw__network_join(n, (tw_keras_tensor *[]){ x, gate }, 2,
                            tw_layers_multiply(.name = TW_NAMED("%ssqueeze_excite/Mul", name)));
}

static tw_keras_tensor *block(tw__network *n, tw_keras_tensor *x, const stage *s, int number)
{
    tw_keras_tensor *shortcut = x;
    const char *name = number ? TW_NAMED("expanded_conv_%d/", number) : "expanded_conv/";
    int64_t channels = tw__network_channels(x), filters = rounded(s->filters * n->args->alpha);
    int64_t wide = rounded((double)channels * s->expansion);
    int size = s->five && !n->args->minimalistic ? 5 : 3;
    if (number)
        x = activated(n, unit(n, x, (tw__conv){ wide, 1, .stride = 1 }, TW_NAMED("%sexpand", name)), s->hard);
    if (s->stride == 2)
        x = tw__network_padded(n, x, size, TW_NAMED("%sdepthwise/pad", name));
    x = unit(n, x, (tw__conv){ 0, size, .stride = s->stride, .valid = s->stride == 2 }, TW_NAMED("%sdepthwise", name));
    x = activated(n, x, s->hard);
    if (s->gate && !n->args->minimalistic)
        x = gated(n, x, wide, name);
    x = unit(n, x, (tw__conv){ filters, 1, .stride = 1 }, TW_NAMED("%sproject", name));
    if (s->stride != 1 || channels != filters)
        return x;
    return tw__network_join(n, (tw_keras_tensor *[]){ shortcut, x }, 2, tw_layers_add(.name = TW_NAMED("%sAdd", name)));
}

static tw_keras_tensor *mobilenet(tw__network *n, tw_keras_tensor *x)
{
    const plan *p = n->row->plan;
    n->momentum = 0.999;
    n->epsilon = 1e-3;
    if (n->args->include_preprocessing)
        x = tw__network_rescaled(n, x, 1 / 127.5, -1, NULL);
    x = activated(n, unit(n, x, (tw__conv){ 16, 3, .stride = 2 }, "Conv"), true);
    for (int i = 0; i < p->count; i++)
        x = block(n, x, &p->stages[i], i);
    int64_t wide = rounded((double)tw__network_channels(x) * 6);
    x = activated(n, unit(n, x, (tw__conv){ wide, 1, .stride = 1 }, "Conv_1"), true);
    if (!n->args->include_top)
        return tw__network_pooled(n, x, true);
    x = tw__network_put(n, x, tw_layers_global_average_pooling2d(.keepdims = true));
    int64_t last = n->args->alpha > 1 ? rounded((double)p->last * n->args->alpha) : p->last;
    x = activated(n, tw__network_conv(n, x, (tw__conv){ last, 1, .bias = true }, "Conv_2"), true);
    if (n->args->dropout_rate > 0)
        x = tw__network_put(n, x, tw_layers_dropout(n->args->dropout_rate));
    x = tw__network_conv(n, x, (tw__conv){ n->args->classes, 1, .bias = true }, "Logits");
    x = tw__network_put(n, x, tw_layers_flatten());
    return tw__network_put(n, x,
                           tw_layers_activation(n->args->classifier_activation ? n->args->classifier_activation : "linear",
                                                .name = "Predictions"));
}

static tw_status check(tw__network *n, const tw_shape *shape)
{
    tw_keras_tensor *given = n->args->input_tensor;
    double alpha = n->args->alpha;
    if (given && n->args->input_shape.rank >= 0 && tw_keras_tensor_shape(given).dims[2] != shape->dims[1]) {
        tw_shape found = tw_keras_tensor_shape(given);
        tw__owned char *input = tw__shape_tuple(&found), *asked = tw__shape_tuple(shape);
        return tw__fail(TW_VALUE_ERROR,
                        "input_shape[1] must equal backend.int_shape(input_tensor)[2].  Received input_shape=%s, "
                        "backend.int_shape(input_tensor)=%s",
                        asked ? asked : "", input ? input : "");
    }
    bool is_imagenet = n->args->weights && strcmp(n->args->weights, "imagenet") == 0;
    if (is_imagenet && alpha != 1 && (n->args->minimalistic || alpha != 0.75))
        return tw__fail(
            TW_VALUE_ERROR,
            "If imagenet weights are being loaded, alpha can be one of `0.75`, `1.0` for non minimalistic or `1.0` for "
            "minimalistic only.");
    return TW_OK;
}

static void named(const tw__network *n, const tw_shape *shape, char *name, char *file, size_t size)
{
    const char *type = ((const plan *)n->row->plan)->type;
    (void)shape;
    snprintf(name, size, "MobilenetV3%s", type);
    snprintf(file, size, "weights_mobilenet_v3_%s%s_224_%s_float%s.h5", type, n->args->minimalistic ? "_minimalistic" : "",
             n->args->alpha == 1 ? "1.0" : "0.75", n->args->include_top ? "" : "_no_top_v2");
}

#define ARGUMENTS                                                                                   \
    "input_shape alpha minimalistic include_top weights input_tensor classes pooling dropout_rate " \
    "classifier_activation include_preprocessing"
const tw__application tw__applications_mobilenet_v3[] = {
    { "MobileNetV3Small", "mobilenet_v3-", NULL, ARGUMENTS, NULL, -1, 32, &(const plan){ small, 11, 1024, "small" }, mobilenet,
      check, named },
    { "MobileNetV3Large", "mobilenet_v3-", NULL, ARGUMENTS, NULL, -1, 32, &(const plan){ large, 15, 1280, "large" }, mobilenet,
      check, named },
    { 0 },
};
