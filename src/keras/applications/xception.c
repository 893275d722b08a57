/* Xception: separable convolutions beside shortcuts. */
#include "keras/applications/application.h"

static tw_keras_tensor *normalized(tw__network *n, tw_keras_tensor *x, const char *name)
{
    return tw__network_put(n, x, tw_layers_batch_normalization(.axis = TW_INTS(3), .name = name));
}

static tw_keras_tensor *relu(tw__network *n, tw_keras_tensor *x, int block, const char *part)
{
    return tw__network_put(n, x, tw_layers_activation("relu", .name = TW_NAMED("block%d_%s_act", block, part)));
}

static tw_keras_tensor *separable(tw__network *n, tw_keras_tensor *x, int64_t filters, int block, const char *part)
{
    x = tw__network_put(n, x,
                        tw_layers_separable_conv2d(filters, TW_INTS(3, 3), .padding = "same", .use_bias = false,
                                                   .name = TW_NAMED("block%d_%s", block, part)));
    return normalized(n, x, TW_NAMED("block%d_%s_bn", block, part));
}

/* Two convolutions and a maximum that halves the size, beside a strided convolution. */
static tw_keras_tensor *halving(tw__network *n, tw_keras_tensor *x, int64_t first, int64_t second, int block)
{
    tw_keras_tensor *shortcut =
        tw__network_put(n, x,
                        tw_layers_conv2d(second, TW_INTS(1, 1), .strides = TW_INTS(2, 2), .padding = "same", .use_bias = false));
    shortcut = normalized(n, shortcut, NULL);
    if (block > 2)
        x = relu(n, x, block, "sepconv1");
    x = relu(n, separable(n, x, first, block, "sepconv1"), block, "sepconv2");
    x = separable(n, x, second, block, "sepconv2");
    x = tw__network_put(n, x,
                        tw_layers_max_pooling2d(TW_INTS(3, 3), .strides = TW_INTS(2, 2), .padding = "same",
                                                .name = TW_NAMED("block%d_pool", block)));
    return tw__network_join(n, (tw_keras_tensor *[]){ x, shortcut }, 2, tw_layers_add());
}

static tw_keras_tensor *xception(tw__network *n, tw_keras_tensor *x)
{
    x = tw__network_put(n, x,
                        tw_layers_conv2d(32, TW_INTS(3, 3), .strides = TW_INTS(2, 2), .use_bias = false, .name = "block1_conv1"));
    x = relu(n, normalized(n, x, "block1_conv1_bn"), 1, "conv1");
    x = tw__network_put(n, x, tw_layers_conv2d(64, TW_INTS(3, 3), .use_bias = false, .name = "block1_conv2"));
    x = relu(n, normalized(n, x, "block1_conv2_bn"), 1, "conv2");
    x = halving(n, x, 128, 128, 2);
    x = halving(n, x, 256, 256, 3);
    x = halving(n, x, 728, 728, 4);
    for (int block = 5; block < 13; block++) {
        tw_keras_tensor *shortcut = x;
        for (int i = 1; i <= 3; i++) {
            const char *part = TW_NAMED("sepconv%d", i);
            x = separable(n, relu(n, x, block, part), 728, block, part);
        }
        x = tw__network_join(n, (tw_keras_tensor *[]){ x, shortcut }, 2, tw_layers_add());
    }
    x = halving(n, x, 728, 1024, 13);
    x = relu(n, separable(n, x, 1536, 14, "sepconv1"), 14, "sepconv1");
    x = relu(n, separable(n, x, 2048, 14, "sepconv2"), 14, "sepconv2");
    return tw__network_top(n, x, "avg_pool", false);
}

const tw__application tw__applications_xception[] = {
    { "Xception", "xception", "xception", TW_APPLICATION_USUAL, "xception_weights_tf_dim_ordering_tf_kernels%s.h5", 299, 71, NULL,
      xception, NULL, NULL },
    { 0 },
};
