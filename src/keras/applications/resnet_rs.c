/* ResNetRS: ResNet's blocks with gates, a deeper beginning, and a shortcut by pooling. */
#include "keras/applications/application.h"

typedef struct plan {
    int times[4], picture; /* picture: the size that the weights of ImageNet are for */
    double rate, dropout;
} plan;

static tw_keras_tensor *conv(tw__network *n, tw_keras_tensor *x, int64_t filters, int64_t size, int64_t stride, const char *name)
{
    if (stride > 1) {
        int64_t before = (size - 1) / 2, after = size - 1 - before;
        x = tw__network_put(n, x, tw_layers_zero_padding2d(TW_INTS(before, after, before, after)));
    }
    return tw__network_conv(n, x, (tw__conv){ filters, (int)size, .stride = stride, .valid = stride > 1 }, name);
}

static tw_keras_tensor *stem(tw__network *n, tw_keras_tensor *x)
{
    static const struct {
        int filters, stride;
    } convs[4] = { { 32, 2 }, { 32, 1 }, { 64, 1 }, { 64, 2 } };
    long long uid = (long long)tw_backend_get_uid(.prefix = "stem_");
    for (int i = 0; i < 4; i++) {
        x = conv(n, x, convs[i].filters, 3, convs[i].stride, TW_NAMED("stem_%lld_stem_conv_%d", uid, i + 1));
        x = tw__network_normalized(n, x, TW_NAMED("stem_%lld_stem_batch_norm_%d", uid, i + 1));
        x = tw__network_act(n, x, "relu", TW_NAMED("stem_%lld_stem_act_%d", uid, i + 1));
    }
    return x;
}

static tw_keras_tensor *block(tw__network *n, tw_keras_tensor *x, int64_t filters, int64_t stride, bool first, double rate,
                              const char *name)
{
    tw_keras_tensor *shortcut = x;
    if (first) {
        if (stride == 2)
            shortcut = tw__network_put(n, x,
                                       tw_layers_average_pooling2d(TW_INTS(2, 2), .strides = TW_INTS(2, 2), .padding = "same",
                                                                   .name = TW_NAMED("%s_projection_pooling", name)));
        shortcut = conv(n, shortcut, 4 * filters, 1, 1, TW_NAMED("%s_projection_conv", name));
        shortcut = tw__network_normalized(n, shortcut, TW_NAMED("%s_projection_batch_norm", name));
    }
    for (int i = 1; i <= 3; i++) {
        x = conv(n, x, i < 3 ? filters : 4 * filters, i == 2 ? 3 : 1, i == 2 ? stride : 1, TW_NAMED("%s_conv_%d", name, i));
        x = tw__network_normalized(n, x, TW_NAMED("%s%sbatch_norm_%d", name, i == 1 ? "" : "_", i));
        if (i < 3)
            x = tw__network_act(n, x, "relu", TW_NAMED("%s_act_%d", name, i));
    }
    x = tw__network_excited(n, x, filters, "relu", TW_NAMED("%s_se_", name));
    if (rate > 0)
        x = tw__network_put(n, x,
                            tw_layers_dropout(rate, .noise_shape = TW_SHAPE(-1, 1, 1, 1), .name = TW_NAMED("%s_drop", name)));
    x = tw__network_join(n, (tw_keras_tensor *[]){ x, shortcut }, 2, tw_layers_add());
    return tw__network_act(n, x, "relu", TW_NAMED("%s_output_act", name));
}

static tw_keras_tensor *resnet(tw__network *n, tw_keras_tensor *x)
{
    const plan *p = n->row->plan;
    n->kernel = "fan_out";
    n->momentum = 0;
    n->epsilon = 1e-5;
    if (n->args->include_preprocessing) {
        bool colours = tw__network_channels(x) == 3;
        x = tw__network_rescaled(n, x, 1 / 255.0, 0, NULL);
        if (colours)
            x = tw__network_standard(n, x, 1, false, NULL);
    }
    x = stem(n, x);
    for (int i = 0; i < 4; i++) {
        double rate = p->rate * (i + 2) / 5;
        for (int k = 0; k < p->times[i]; k++)
            x = block(n, x, 64 << i, i && !k ? 2 : 1, !k, rate, TW_NAMED("BlockGroup%d__block_%d_", i + 2, k));
    }
    if (!n->args->include_top)
        return tw__network_pooled(n, x, true);
    x = tw__network_put(n, x, tw_layers_global_average_pooling2d(.name = "avg_pool"));
    x = tw__network_put(n, x, tw_layers_dropout(p->dropout, .name = "top_dropout"));
    return tw__network_put(n, x,
                           tw_layers_dense(n->args->classes, .activation = n->args->classifier_activation,
                                           .name = "predictions"));
}

#define ARGUMENTS "include_top weights classes input_shape input_tensor pooling classifier_activation include_preprocessing"
#define ROW(layers, picture_, rate_, dropout_, ...)                                                                             \
    {                                                                                                                           \
        "ResNetRS" #layers, "resnet_rs", "resnet-rs-" #layers, ARGUMENTS, "resnet-rs-" #layers "-i" #picture_ "%s.h5", 224, 32, \
            &(const plan){ { __VA_ARGS__ }, picture_, rate_, dropout_ }, resnet, NULL, NULL                                     \
    }
const tw__application tw__applications_resnet_rs[] = {
    ROW(50, 160, 0, 0.25, 3, 4, 6, 3),      ROW(101, 192, 0, 0.25, 3, 4, 23, 3),
    ROW(152, 256, 0, 0.25, 3, 8, 36, 3),    ROW(200, 256, 0.1, 0.25, 3, 24, 36, 3),
    ROW(270, 256, 0.1, 0.25, 4, 29, 53, 4), ROW(350, 320, 0.1, 0.4, 4, 36, 72, 4),
    ROW(420, 320, 0.1, 0.4, 4, 44, 87, 4),  { 0 },
};
