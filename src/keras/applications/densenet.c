/* DenseNet121, DenseNet169, DenseNet201: every convolution sees all that came before it in its block. */
#include "keras/applications/application.h"

static tw_keras_tensor *activated(tw__network *n, tw_keras_tensor *x, const char *normalization, const char *activation)
{
    x = tw__network_put(n, x, tw_layers_batch_normalization(.axis = TW_INTS(3), .epsilon = 1.001e-5, .name = normalization));
    return tw__network_put(n, x, tw_layers_activation("relu", .name = activation));
}

static tw_keras_tensor *convolution(tw__network *n, tw_keras_tensor *all, const char *name)
{
    const int64_t growth = 32;
    tw_keras_tensor *x = activated(n, all, TW_NAMED("%s_0_bn", name), TW_NAMED("%s_0_relu", name));
    x = tw__network_put(n, x,
                        tw_layers_conv2d(4 * growth, TW_INTS(1, 1), .use_bias = false, .name = TW_NAMED("%s_1_conv", name)));
    x = activated(n, x, TW_NAMED("%s_1_bn", name), TW_NAMED("%s_1_relu", name));
    x = tw__network_put(n, x,
                        tw_layers_conv2d(growth, TW_INTS(3, 3), .padding = "same", .use_bias = false,
                                         .name = TW_NAMED("%s_2_conv", name)));
    return tw__network_join(n, (tw_keras_tensor *[]){ all, x }, 2,
                            tw_layers_concatenate(.axis = 3, .name = TW_NAMED("%s_concat", name)));
}

/* Half the channels, half the size. */
static tw_keras_tensor *transition(tw__network *n, tw_keras_tensor *x, int number)
{
    x = activated(n, x, TW_NAMED("pool%d_bn", number), TW_NAMED("pool%d_relu", number));
    x = tw__network_put(n, x,
                        tw_layers_conv2d(tw__network_channels(x) / 2, TW_INTS(1, 1), .use_bias = false,
                                         .name = TW_NAMED("pool%d_conv", number)));
    return tw__network_put(n, x,
                           tw_layers_average_pooling2d(TW_INTS(2, 2), .strides = TW_INTS(2, 2),
                                                       .name = TW_NAMED("pool%d_pool", number)));
}

typedef struct plan {
    int convolutions[4]; /* of each block */
} plan;

static tw_keras_tensor *densenet(tw__network *n, tw_keras_tensor *x)
{
    const plan *p = n->row->plan;
    x = tw__network_put(n, x, tw_layers_zero_padding2d(TW_INTS(3, 3, 3, 3)));
    x = tw__network_put(n, x,
                        tw_layers_conv2d(64, TW_INTS(7, 7), .strides = TW_INTS(2, 2), .use_bias = false, .name = "conv1/conv"));
    x = activated(n, x, "conv1/bn", "conv1/relu");
    x = tw__network_put(n, x, tw_layers_zero_padding2d(TW_INTS(1, 1, 1, 1)));
    x = tw__network_put(n, x, tw_layers_max_pooling2d(TW_INTS(3, 3), .strides = TW_INTS(2, 2), .name = "pool1"));
    for (int block = 0; block < 4; block++) {
        for (int i = 0; i < p->convolutions[block]; i++)
            x = convolution(n, x, TW_NAMED("conv%d_block%d", block + 2, i + 1));
        if (block < 3)
            x = transition(n, x, block + 2);
    }
    return tw__network_top(n, activated(n, x, "bn", "relu"), "avg_pool", true);
}

#define ROW(layers, ...)                                                                                                    \
    {                                                                                                                       \
        "DenseNet" #layers, "densenet", "densenet" #layers, TW_APPLICATION_USUAL,                                           \
            "densenet" #layers "_weights_tf_dim_ordering_tf_kernels%s.h5", 224, 32, &(const plan){ __VA_ARGS__ }, densenet, \
            NULL, NULL                                                                                                      \
    }
const tw__application tw__applications_densenet[] = {
    ROW(121, { 6, 12, 24, 16 }),
    ROW(169, { 6, 12, 32, 32 }),
    ROW(201, { 6, 12, 48, 32 }),
    { 0 },
};
