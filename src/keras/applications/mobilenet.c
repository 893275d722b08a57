/* MobileNet: convolutions by channel, each followed by one of 1 x 1. `alpha` widens or narrows it. */
#include "keras/applications/application.h"

static tw_keras_tensor *activated(tw__network *n, tw_keras_tensor *x, const char *name)
{
    x = tw__network_put(n, x, tw_layers_batch_normalization(.axis = TW_INTS(3), .name = TW_NAMED("%s_bn", name)));
    return tw__network_put(n, x, tw_layers_re_lu(.max_value = 6, .name = TW_NAMED("%s_relu", name)));
}

static tw_keras_tensor *block(tw__network *n, tw_keras_tensor *x, int64_t filters, bool halves, int number)
{
    if (halves)
        x = tw__network_put(n, x, tw_layers_zero_padding2d(TW_INTS(0, 1, 0, 1), .name = TW_NAMED("conv_pad_%d", number)));
    const int64_t stride = halves ? 2 : 1;
    const char *by_channel = TW_NAMED("conv_dw_%d", number), *across = TW_NAMED("conv_pw_%d", number);
    x = tw__network_put(n, x,
                        tw_layers_depthwise_conv2d(TW_INTS(3, 3), .padding = halves ? "valid" : "same",
                                                   .depth_multiplier = n->args->depth_multiplier,
                                                   .strides = TW_INTS(stride, stride), .use_bias = false, .name = by_channel));
    x = activated(n, x, by_channel);
    x = tw__network_put(n, x,
                        tw_layers_conv2d((int64_t)((double)filters * n->args->alpha), TW_INTS(1, 1), .padding = "same",
                                         .use_bias = false, .name = across));
    return activated(n, x, across);
}

static tw_keras_tensor *mobilenet(tw__network *n, tw_keras_tensor *x)
{
    static const struct {
        int filters;
        bool halves;
    } blocks[] = { { 64, false },  { 128, true },  { 128, false }, { 256, true },  { 256, false }, { 512, true },  { 512, false },
                   { 512, false }, { 512, false }, { 512, false }, { 512, false }, { 1024, true }, { 1024, false } };
    x = tw__network_put(n, x,
                        tw_layers_conv2d((int64_t)(32 * n->args->alpha), TW_INTS(3, 3), .padding = "same", .use_bias = false,
                                         .strides = TW_INTS(2, 2), .name = "conv1"));
    x = activated(n, x, "conv1");
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        x = block(n, x, blocks[i].filters, blocks[i].halves, (int)i + 1);
    if (!n->args->include_top)
        return tw__network_pooled(n, x, false);
    x = tw__network_put(n, x, tw_layers_global_average_pooling2d(.keepdims = true));
    x = tw__network_put(n, x, tw_layers_dropout(n->args->dropout, .name = "dropout"));
    x = tw__network_put(n, x, tw_layers_conv2d(n->args->classes, TW_INTS(1, 1), .padding = "same", .name = "conv_preds"));
    x = tw__network_put(n, x, tw_layers_reshape(TW_INTS(n->args->classes), .name = "reshape_2"));
    return tw__network_put(n, x,
                           tw_layers_activation(n->args->classifier_activation ? n->args->classifier_activation : "linear",
                                                .name = "predictions"));
}

static tw_status check(tw__network *n, const tw_shape *shape)
{
    double alpha = n->args->alpha;
    (void)shape;
    if (!n->args->weights || strcmp(n->args->weights, "imagenet") != 0)
        return TW_OK;
    if (n->args->depth_multiplier != 1)
        return tw__fail(TW_VALUE_ERROR,
                        "If imagenet weights are being loaded, depth multiplier must be 1.  Received depth_multiplier=%lld",
                        (long long)n->args->depth_multiplier);
    if (alpha != 0.25 && alpha != 0.5 && alpha != 0.75 && alpha != 1)
        return tw__fail(
            TW_VALUE_ERROR,
            "If imagenet weights are being loaded, alpha can be one of`0.25`, `0.50`, `0.75` or `1.0` only.  Received "
            "alpha=%g",
            alpha);
    return TW_OK;
}

static void named(const tw__network *n, const tw_shape *shape, char *name, char *file, size_t size)
{
    double alpha = n->args->alpha;
    long long rows = (long long)shape->dims[0];
    const char *width = alpha == 1 ? "1_0" : alpha == 0.75 ? "7_5" : alpha == 0.5 ? "5_0" : "2_5";
    if (rows < 0)
        snprintf(name, size, "mobilenet_%0.2f_None", alpha);
    else
        snprintf(name, size, "mobilenet_%0.2f_%lld", alpha, rows);
    bool known = shape->dims[0] == shape->dims[1] && (rows == 128 || rows == 160 || rows == 192 || rows == 224);
    snprintf(file, size, "mobilenet_%s_%lld_tf%s.h5", width, known ? rows : 224, n->args->include_top ? "" : "_no_top");
}

const tw__application tw__applications_mobilenet[] = {
    { "MobileNet", "mobilenet", NULL,
      "input_shape alpha depth_multiplier dropout include_top weights input_tensor pooling classes classifier_activation **",
      NULL, 224, 32, NULL, mobilenet, check, named },
    { 0 },
};
