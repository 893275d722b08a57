/* RegNet: four stages of blocks of grouped convolutions beside a shortcut; those of the second kind have gates. */
#include "keras/applications/application.h"

typedef struct plan {
    short depths[4], widths[4], group;
    bool gates;
} plan;

static tw_keras_tensor *relu(tw__network *n, tw_keras_tensor *x, const char *name)
{
    return tw__network_put(n, x, tw_layers_re_lu(.name = name));
}

static tw_keras_tensor *unit(tw__network *n, tw_keras_tensor *x, tw__conv how, const char *name, const char *conv,
                             const char *normal)
{
    x = tw__network_conv(n, x, how, TW_NAMED("%s%s", name, conv));
    return tw__network_normalized(n, x, TW_NAMED("%s%s", name, normal));
}

static tw_keras_tensor *gated(tw__network *n, tw_keras_tensor *x, int64_t narrow, const char *name)
{
    tw_keras_tensor *gate =
        tw__network_put(n, x,
                        tw_layers_global_average_pooling2d(.keepdims = true,
                                                           .name = TW_NAMED("%s_squeeze_and_excite_gap", name)));
    gate = tw__network_conv(n, gate, (tw__conv){ narrow, 1, .bias = true, .valid = true, .activation = "relu" },
                            TW_NAMED("%s_squeeze_and_excite_squeeze", name));
    gate =
        tw__network_conv(n, gate, (tw__conv){ tw__network_channels(x), 1, .bias = true, .valid = true, .activation = "sigmoid" },
                         TW_NAMED("%s_squeeze_and_excite_excite", name));
    return tw__network_operator(n, "math.multiply", gate, x, false);
}

static tw_keras_tensor *block(tw__network *n, tw_keras_tensor *x, const plan *p, int64_t width, int stride, const char *name)
{
    tw_keras_tensor *shortcut = x;
    int64_t channels = tw__network_channels(x);
    if (stride != 1)
        shortcut = unit(n, x, (tw__conv){ width, 1, .stride = stride, .valid = true }, name, "_skip_1x1", "_skip_bn");
    x = unit(n, x, (tw__conv){ width, 1, .valid = true }, name, "_conv_1x1_1", "_conv_1x1_1_bn");
    x = relu(n, x, TW_NAMED("%s_conv_1x1_1_relu", name));
    x = unit(n, x, (tw__conv){ width, 3, .stride = stride, .groups = width / p->group }, name, "_conv_3x3", "_conv_3x3_bn");
    x = relu(n, x, TW_NAMED("%s_conv_3x3_relu", name));
    if (p->gates)
        x = gated(n, x, channels / 4, name);
    x = unit(n, x, (tw__conv){ width, 1, .valid = true }, name, "_conv_1x1_2", "_conv_1x1_2_bn");
    tw_layer *last = tw_layers_re_lu(.name = TW_NAMED("%s_exit_relu", name));
    return tw__network_put(n, tw__network_operator(n, "__operators__.add", x, shortcut, true), last);
}

static tw_keras_tensor *regnet(tw__network *n, tw_keras_tensor *x)
{
    const plan *p = n->row->plan;
    n->kernel = "he_normal";
    n->momentum = 0.9;
    n->epsilon = 1e-5;
    x = tw__network_source(n, x);
    if (n->args->include_preprocessing)
        x = tw__network_rescaled(n, x, 1 / 255.0, 0, TW_NAMED("%s_prestem_rescaling", n->name));
    x = unit(n, x, (tw__conv){ 32, 3, .stride = 2 }, n->name, "_stem_conv", "_stem_bn");
    x = relu(n, x, TW_NAMED("%s_stem_relu", n->name));
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < p->depths[i]; k++)
            x = block(n, x, p, p->widths[i], k ? 1 : 2, TW_NAMED("%s_Stage_%d_%cBlock_%d", n->name, i, p->gates ? 'Y' : 'X', k));
    }
    if (!n->args->include_top)
        return tw__network_pooled(n, x, false);
    long long uid = (long long)tw_backend_get_uid(.prefix = "head");
    x = tw__network_put(n, x, tw_layers_global_average_pooling2d(.name = TW_NAMED("%lld_head_gap", uid)));
    return tw__network_put(n, x, tw_layers_dense(n->args->classes, .name = TW_NAMED("%lldhead_dense", uid)));
}

#define ARGUMENTS \
    "model_name include_top include_preprocessing weights input_tensor input_shape pooling classes classifier_activation"
#define ROW(kind, small, gates_, number, a, b, c, d, e, f, g, h, group_)                                          \
    {                                                                                                             \
        "RegNet" kind number, "regnet", "regnet" small number, ARGUMENTS, "regnet" small number "%s.h5", 224, 32, \
            &(const plan){ { a, b, c, d }, { e, f, g, h }, group_, gates_ }, regnet, NULL, NULL                   \
    }
#define X(...) ROW("X", "x", false, __VA_ARGS__)
#define Y(...) ROW("Y", "y", true, __VA_ARGS__)
const tw__application tw__applications_regnet[] = {
    X("002", 1, 1, 4, 7, 24, 56, 152, 368, 8),
    X("004", 1, 2, 7, 12, 32, 64, 160, 384, 16),
    X("006", 1, 3, 5, 7, 48, 96, 240, 528, 24),
    X("008", 1, 3, 7, 5, 64, 128, 288, 672, 16),
    X("016", 2, 4, 10, 2, 72, 168, 408, 912, 24),
    X("032", 2, 6, 15, 2, 96, 192, 432, 1008, 48),
    X("040", 2, 5, 14, 2, 80, 240, 560, 1360, 40),
    X("064", 2, 4, 10, 1, 168, 392, 784, 1624, 56),
    X("080", 2, 5, 15, 1, 80, 240, 720, 1920, 120),
    X("120", 2, 5, 11, 1, 224, 448, 896, 2240, 112),
    X("160", 2, 6, 13, 1, 256, 512, 896, 2048, 128),
    X("320", 2, 7, 13, 1, 336, 672, 1344, 2520, 168),
    Y("002", 1, 1, 4, 7, 24, 56, 152, 368, 8),
    Y("004", 1, 3, 6, 6, 48, 104, 208, 440, 8),
    Y("006", 1, 3, 7, 4, 48, 112, 256, 608, 16),
    Y("008", 1, 3, 8, 2, 64, 128, 320, 768, 16),
    Y("016", 2, 6, 17, 2, 48, 120, 336, 888, 24),
    Y("032", 2, 5, 13, 1, 72, 216, 576, 1512, 24),
    Y("040", 2, 6, 12, 2, 128, 192, 512, 1088, 64),
    Y("064", 2, 7, 14, 2, 144, 288, 576, 1296, 72),
    Y("080", 2, 4, 10, 1, 168, 448, 896, 2016, 56),
    Y("120", 2, 5, 11, 1, 224, 448, 896, 2240, 112),
    Y("160", 2, 4, 11, 1, 224, 448, 1232, 3024, 112),
    Y("320", 2, 5, 12, 1, 232, 696, 1392, 3712, 232),
    { 0 },
};
