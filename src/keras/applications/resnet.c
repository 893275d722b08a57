/* ResNet50, ResNet101, ResNet152: stacks of blocks of three convolutions beside a shortcut. */
#include "keras/applications/application.h"

static tw_keras_tensor *normalized(tw__network *n, tw_keras_tensor *x, const char *name)
{
    return tw__network_put(n, x, tw_layers_batch_normalization(.axis = TW_INTS(3), .epsilon = 1.001e-5, .name = name));
}

static tw_keras_tensor *relu(tw__network *n, tw_keras_tensor *x, const char *name)
{
    return tw__network_put(n, x, tw_layers_activation("relu", .name = name));
}

static tw_keras_tensor *block(tw__network *n, tw_keras_tensor *x, int64_t filters, int64_t stride, bool first, const char *name)
{
    tw_keras_tensor *shortcut = x;
    if (first) {
        shortcut = tw__network_put(n, x,
                                   tw_layers_conv2d(4 * filters, TW_INTS(1, 1), .strides = TW_INTS(stride, stride),
                                                    .name = TW_NAMED("%s_0_conv", name)));
        shortcut = normalized(n, shortcut, TW_NAMED("%s_0_bn", name));
    }
    x = tw__network_put(n, x,
                        tw_layers_conv2d(filters, TW_INTS(1, 1), .strides = TW_INTS(stride, stride),
                                         .name = TW_NAMED("%s_1_conv", name)));
    x = relu(n, normalized(n, x, TW_NAMED("%s_1_bn", name)), TW_NAMED("%s_1_relu", name));
    x = tw__network_put(n, x, tw_layers_conv2d(filters, TW_INTS(3, 3), .padding = "same", .name = TW_NAMED("%s_2_conv", name)));
    x = relu(n, normalized(n, x, TW_NAMED("%s_2_bn", name)), TW_NAMED("%s_2_relu", name));
    x = tw__network_put(n, x, tw_layers_conv2d(4 * filters, TW_INTS(1, 1), .name = TW_NAMED("%s_3_conv", name)));
    x = normalized(n, x, TW_NAMED("%s_3_bn", name));
    x = tw__network_join(n, (tw_keras_tensor *[]){ shortcut, x }, 2, tw_layers_add(.name = TW_NAMED("%s_add", name)));
    return relu(n, x, TW_NAMED("%s_out", name));
}

typedef struct plan {
    int blocks[4]; /* of each stack */
} plan;

static tw_keras_tensor *resnet(tw__network *n, tw_keras_tensor *x)
{
    const plan *p = n->row->plan;
    x = tw__network_put(n, x, tw_layers_zero_padding2d(TW_INTS(3, 3, 3, 3), .name = "conv1_pad"));
    x = tw__network_put(n, x, tw_layers_conv2d(64, TW_INTS(7, 7), .strides = TW_INTS(2, 2), .name = "conv1_conv"));
    x = relu(n, normalized(n, x, "conv1_bn"), "conv1_relu");
    x = tw__network_put(n, x, tw_layers_zero_padding2d(TW_INTS(1, 1, 1, 1), .name = "pool1_pad"));
    x = tw__network_put(n, x, tw_layers_max_pooling2d(TW_INTS(3, 3), .strides = TW_INTS(2, 2), .name = "pool1_pool"));
    for (int stack = 0; stack < 4; stack++) {
        for (int i = 0; i < p->blocks[stack]; i++)
            x = block(n, x, 64 << stack, i == 0 && stack > 0 ? 2 : 1, i == 0, TW_NAMED("conv%d_block%d", stack + 2, i + 1));
    }
    return tw__network_top(n, x, "avg_pool", true);
}

#define ROW(layers, modules, ...)                                                                                             \
    {                                                                                                                         \
        "ResNet" #layers, modules, "resnet" #layers, "include_top weights input_tensor input_shape pooling classes **",       \
            "resnet" #layers "_weights_tf_dim_ordering_tf_kernels%s.h5", 224, 32, &(const plan){ __VA_ARGS__ }, resnet, NULL, \
            NULL                                                                                                              \
    }
const tw__application tw__applications_resnet[] = {
    ROW(50, "resnet50 resnet", { 3, 4, 6, 3 }),
    ROW(101, "resnet", { 3, 4, 23, 3 }),
    ROW(152, "resnet", { 3, 8, 36, 3 }),
    { 0 },
};
