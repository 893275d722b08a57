/* EfficientNet, its second version too: blocks that widen, convolve by channel, gate and narrow again; networks differ in how
 * wide and how deep the same stages are. */
#include <math.h>

#include "keras/applications/application.h"

typedef struct stage {
    short fused, size, times, narrow, wide, expansion, gate, stride; /* fused: one convolution in the place of two; gate: in % */
} stage;

typedef struct plan {
    double width, depth, dropout;
    const stage *stages; /* NULL: the first version's */
    int count;
} plan;

static const stage first[] = {
    { 0, 3, 1, 32, 16, 1, 25, 1 },   { 0, 3, 2, 16, 24, 6, 25, 2 },  { 0, 5, 2, 24, 40, 6, 25, 2 },
    { 0, 3, 3, 40, 80, 6, 25, 2 },   { 0, 5, 3, 80, 112, 6, 25, 1 }, { 0, 5, 4, 112, 192, 6, 25, 2 },
    { 0, 3, 1, 192, 320, 6, 25, 1 },
};
static const stage basic[] = {
    { 1, 3, 1, 32, 16, 1, 0, 1 },  { 1, 3, 2, 16, 32, 4, 0, 2 },   { 1, 3, 2, 32, 48, 4, 0, 2 },
    { 0, 3, 3, 48, 96, 4, 25, 2 }, { 0, 3, 5, 96, 112, 6, 25, 1 }, { 0, 3, 8, 112, 192, 6, 25, 2 },
};
static const stage small[] = {
    { 1, 3, 2, 24, 24, 1, 0, 1 },   { 1, 3, 4, 24, 48, 4, 0, 2 },    { 1, 3, 4, 48, 64, 4, 0, 2 },
    { 0, 3, 6, 64, 128, 4, 25, 2 }, { 0, 3, 9, 128, 160, 6, 25, 1 }, { 0, 3, 15, 160, 256, 6, 25, 2 },
};
static const stage medium[] = {
    { 1, 3, 3, 24, 24, 1, 0, 1 },    { 1, 3, 5, 24, 48, 4, 0, 2 },     { 1, 3, 5, 48, 80, 4, 0, 2 },
    { 0, 3, 7, 80, 160, 4, 25, 2 },  { 0, 3, 14, 160, 176, 6, 25, 1 }, { 0, 3, 18, 176, 304, 6, 25, 2 },
    { 0, 3, 5, 304, 512, 6, 25, 1 },
};
static const stage large[] = {
    { 1, 3, 4, 32, 32, 1, 0, 1 },    { 1, 3, 7, 32, 64, 4, 0, 2 },     { 1, 3, 7, 64, 96, 4, 0, 2 },
    { 0, 3, 10, 96, 192, 4, 25, 2 }, { 0, 3, 19, 192, 224, 6, 25, 1 }, { 0, 3, 25, 224, 384, 6, 25, 2 },
    { 0, 3, 7, 384, 640, 6, 25, 1 },
};

/* A convolution, its normalization and an activation, if one is named. */
static tw_keras_tensor *unit(tw__network *n, tw_keras_tensor *x, tw__conv how, const char *name, const char *conv,
                             const char *part, bool act)
{
    x = tw__network_conv(n, x, how, TW_NAMED("%s%s", name, conv));
    x = tw__network_normalized(n, x, TW_NAMED("%s%sbn", name, part));
    return act ? tw__network_act(n, x, "swish", TW_NAMED("%s%sactivation", name, part)) : x;
}

static tw_keras_tensor *block(tw__network *n, tw_keras_tensor *x, const stage *s, int64_t narrow, int64_t wide, int64_t stride,
                              double rate, const char *name)
{
    bool second = ((const plan *)n->row->plan)->stages, expands = s->expansion != 1, fused = s->fused;
    tw_keras_tensor *shortcut = x;
    if (expands)
        x = unit(n, x, (tw__conv){ narrow * s->expansion, fused ? s->size : 1, .stride = fused ? stride : 1 }, name,
                 "expand_conv", "expand_", true);
    if (!fused) {
        bool pads = stride == 2 && !second;
        if (pads)
            x = tw__network_padded(n, x, s->size, TW_NAMED("%sdwconv_pad", name));
        x = unit(n, x, (tw__conv){ 0, s->size, .stride = stride, .valid = pads }, name, second ? "dwconv2" : "dwconv", "", true);
    }
    if (s->gate) {
        int64_t gate = narrow * s->gate / 100;
        x = tw__network_excited(n, x, gate > 1 ? gate : 1, "swish", name);
    }
    bool last_wide = fused && !expands; /* then the last convolution does it all */
    x = unit(n, x, (tw__conv){ wide, last_wide ? s->size : 1, .stride = last_wide ? stride : 1 }, name, "project_conv",
             "project_", last_wide);
    return stride == 1 && narrow == wide ? tw__network_skip(n, x, shortcut, rate, name) : x;
}

static tw_keras_tensor *prepared(tw__network *n, tw_keras_tensor *x)
{
    const plan *p = n->row->plan;
    if (!p->stages) {
        x = tw__network_rescaled(n, x, 1 / 255.0, 0, NULL);
        x = tw__network_put(n, x, tw_layers_normalization(.axis = TW_INTS(3)));
        if (n->args->weights && strcmp(n->args->weights, "imagenet") == 0)
            x = tw__network_numbers(n, "math.multiply", x, (const double[]){ 1 / sqrt(0.229), 1 / sqrt(0.224), 1 / sqrt(0.225) },
                                    3);
        return tw__network_padded(n, x, 3, "stem_conv_pad");
    }
    if (!n->args->include_preprocessing)
        return x;
    if (p->stages != basic || tw__network_channels(x) != 3)
        return tw__network_rescaled(n, x, 1 / 128.0, -1, NULL);
    return tw__network_standard(n, tw__network_rescaled(n, x, 1 / 255.0, 0, NULL), 1, false, NULL);
}

static tw_keras_tensor *top(tw__network *n, tw_keras_tensor *x, double dropout, bool second)
{
    if (!n->args->include_top)
        return tw__network_pooled(n, x, true);
    tw_initializer *kernel =
        tw__temp(n->t, tw_initializers_variance_scaling(.scale = 1 / 3.0, .mode = "fan_out", .distribution = "uniform"));
    tw_initializer *bias = second ? tw__temp(n->t, tw_initializers_constant()) : NULL;
    if (!kernel || (second && !bias))
        return NULL;
    x = tw__network_put(n, x, tw_layers_global_average_pooling2d(.name = "avg_pool"));
    x = tw__network_put(n, x, tw_layers_dropout(dropout, .name = "top_dropout"));
    return tw__network_put(n, x,
                           tw_layers_dense(n->args->classes, .activation = n->args->classifier_activation,
                                           .kernel_initializer = kernel, .bias_initializer = second ? (tw_named)bias : "zeros",
                                           .name = "predictions"));
}

static tw_keras_tensor *efficientnet(tw__network *n, tw_keras_tensor *x)
{
    const plan *p = n->row->plan;
    bool second = p->stages;
    const stage *stages = second ? p->stages : first;
    int total = 0, done = 0;
    n->kernel = "fan_out";
    n->momentum = second ? 0.9 : 0.99;
    n->epsilon = 1e-3;
    for (int i = 0; i < p->count; i++)
        total += second ? stages[i].times : (int)ceil(p->depth * stages[i].times);
#define WIDTH(filters) tw__network_rounded((double)(filters)*p->width, 8, !second)
    x = unit(n, prepared(n, x), (tw__conv){ WIDTH(stages[0].narrow), 3, .stride = 2, .valid = !second }, "stem_", "conv", "",
             true);
    for (int i = 0; i < p->count; i++) {
        int64_t narrow = WIDTH(stages[i].narrow), wide = WIDTH(stages[i].wide);
        int times = (int)ceil(p->depth * stages[i].times);
        for (int k = 0; k < times; k++, done++)
            x = block(n, x, &stages[i], k ? wide : narrow, wide, k ? 1 : stages[i].stride,
                      n->args->drop_connect_rate * done / total, TW_NAMED("block%d%c_", i + 1, 'a' + k));
    }
    x = unit(n, x, (tw__conv){ WIDTH(1280), 1, .stride = 1 }, "top_", "conv", "", true);
    return top(n, x, p->dropout, second);
}

#define B(number, width_, depth_, size_, dropout_)                                                                              \
    {                                                                                                                           \
        "EfficientNetB" #number, "efficientnet", "efficientnetb" #number, TW_APPLICATION_USUAL " **drop_connect_rate",          \
            "efficientnetb" #number "%s.h5", size_, 32, &(const plan){ width_, depth_, dropout_, NULL, 7 }, efficientnet, NULL, \
            NULL                                                                                                                \
    }
const tw__application tw__applications_efficientnet[] = {
    B(0, 1, 1, 224, 0.2),     B(1, 1, 1.1, 240, 0.2),   B(2, 1.1, 1.2, 260, 0.3),
    B(3, 1.2, 1.4, 300, 0.3), B(4, 1.4, 1.8, 380, 0.4), B(5, 1.6, 2.2, 456, 0.4),
    B(6, 1.8, 2.6, 528, 0.5), B(7, 2, 3.1, 600, 0.5),   { 0 },
};

#define V2(name_, file_, width_, depth_, size_, stages_)                                                                   \
    {                                                                                                                      \
        "EfficientNetV2" name_, "efficientnet_v2", "efficientnetv2-" file_, TW_APPLICATION_USUAL " include_preprocessing", \
            "efficientnetv2-" file_ "%s.h5", size_, 32,                                                                    \
            &(const plan){ width_, depth_, 0.2, stages_, sizeof stages_ / sizeof *stages_ }, efficientnet, NULL, NULL      \
    }
const tw__application tw__applications_efficientnet_v2[] = {
    V2("B0", "b0", 1, 1, 224, basic),     V2("B1", "b1", 1, 1.1, 240, basic),
    V2("B2", "b2", 1.1, 1.2, 260, basic), V2("B3", "b3", 1.2, 1.4, 300, basic),
    V2("S", "s", 1, 1, 384, small),       V2("M", "m", 1, 1, 480, medium),
    V2("L", "l", 1, 1, 480, large),       { 0 },
};
