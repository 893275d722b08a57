/* ResNet50V2, ResNet101V2, ResNet152V2: normalization and activation stand before the convolutions. */
#include "keras/applications/application.h"

static tw_keras_tensor *activated(tw__network *n, tw_keras_tensor *x, const char *name)
{
    x = tw__network_put(n, x,
                        tw_layers_batch_normalization(.axis = TW_INTS(3), .epsilon = 1.001e-5, .name = TW_NAMED("%s_bn", name)));
    return tw__network_put(n, x, tw_layers_activation("relu", .name = TW_NAMED("%s_relu", name)));
}

static tw_keras_tensor *block(tw__network *n, tw_keras_tensor *x, int64_t filters, int64_t stride, bool first, const char *name)
{
    tw_keras_tensor *before = activated(n, x, TW_NAMED("%s_preact", name)), *shortcut = x;
    if (first)
        shortcut = tw__network_put(n, before,
                                   tw_layers_conv2d(4 * filters, TW_INTS(1, 1), .strides = TW_INTS(stride, stride),
                                                    .name = TW_NAMED("%s_0_conv", name)));
    else if (stride > 1)
        shortcut = tw__network_put(n, x, tw_layers_max_pooling2d(TW_INTS(1, 1), .strides = TW_INTS(stride, stride)));
    x = tw__network_put(n, before,
                        tw_layers_conv2d(filters, TW_INTS(1, 1), .use_bias = false, .name = TW_NAMED("%s_1_conv", name)));
    x = activated(n, x, TW_NAMED("%s_1", name));
    x = tw__network_put(n, x, tw_layers_zero_padding2d(TW_INTS(1, 1, 1, 1), .name = TW_NAMED("%s_2_pad", name)));
    x = tw__network_put(n, x,
                        tw_layers_conv2d(filters, TW_INTS(3, 3), .strides = TW_INTS(stride, stride), .use_bias = false,
                                         .name = TW_NAMED("%s_2_conv", name)));
    x = activated(n, x, TW_NAMED("%s_2", name));
    x = tw__network_put(n, x, tw_layers_conv2d(4 * filters, TW_INTS(1, 1), .name = TW_NAMED("%s_3_conv", name)));
    return tw__network_join(n, (tw_keras_tensor *[]){ shortcut, x }, 2, tw_layers_add(.name = TW_NAMED("%s_out", name)));
}

typedef struct plan {
    int blocks[4]; /* of each stack; the last block of all stacks but the last one halves the size */
} plan;

static tw_keras_tensor *resnet(tw__network *n, tw_keras_tensor *x)
{
    const plan *p = n->row->plan;
    x = tw__network_put(n, x, tw_layers_zero_padding2d(TW_INTS(3, 3, 3, 3), .name = "conv1_pad"));
    x = tw__network_put(n, x, tw_layers_conv2d(64, TW_INTS(7, 7), .strides = TW_INTS(2, 2), .name = "conv1_conv"));
    x = tw__network_put(n, x, tw_layers_zero_padding2d(TW_INTS(1, 1, 1, 1), .name = "pool1_pad"));
    x = tw__network_put(n, x, tw_layers_max_pooling2d(TW_INTS(3, 3), .strides = TW_INTS(2, 2), .name = "pool1_pool"));
    for (int stack = 0; stack < 4; stack++) {
        for (int i = 0; i < p->blocks[stack]; i++) {
            bool last = i == p->blocks[stack] - 1 && stack < 3;
            x = block(n, x, 64 << stack, last ? 2 : 1, i == 0, TW_NAMED("conv%d_block%d", stack + 2, i + 1));
        }
    }
    return tw__network_top(n, activated(n, x, "post"), "avg_pool", true);
}

#define ROW(layers, ...)                                                                                                        \
    {                                                                                                                           \
        "ResNet" #layers "V2", "resnet_v2", "resnet" #layers "v2", TW_APPLICATION_USUAL,                                        \
            "resnet" #layers "v2_weights_tf_dim_ordering_tf_kernels%s.h5", 224, 32, &(const plan){ __VA_ARGS__ }, resnet, NULL, \
            NULL                                                                                                                \
    }
const tw__application tw__applications_resnet_v2[] = {
    ROW(50, { 3, 4, 6, 3 }),
    ROW(101, { 3, 4, 23, 3 }),
    ROW(152, { 3, 8, 36, 3 }),
    { 0 },
};
