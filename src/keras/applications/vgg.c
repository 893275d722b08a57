/* VGG16 and VGG19: blocks of convolutions of 3 x 3, each with a maximum behind it. */
#include "keras/applications/application.h"

typedef struct plan {
    int convolutions[5]; /* of each block */
} plan;

static tw_keras_tensor *vgg(tw__network *n, tw_keras_tensor *x)
{
    const plan *p = n->row->plan;
    for (int block = 0; block < 5; block++) {
        int64_t filters = block < 3 ? 64 << block : 512;
        for (int i = 0; i < p->convolutions[block]; i++)
            x = tw__network_put(n, x,
                                tw_layers_conv2d(filters, TW_INTS(3, 3), .activation = "relu", .padding = "same",
                                                 .name = TW_NAMED("block%d_conv%d", block + 1, i + 1)));
        x = tw__network_put(n, x,
                            tw_layers_max_pooling2d(TW_INTS(2, 2), .strides = TW_INTS(2, 2),
                                                    .name = TW_NAMED("block%d_pool", block + 1)));
    }
    if (!n->args->include_top)
        return tw__network_pooled(n, x, false);
    x = tw__network_put(n, x, tw_layers_flatten(.name = "flatten"));
    x = tw__network_put(n, x, tw_layers_dense(4096, .activation = "relu", .name = "fc1"));
    x = tw__network_put(n, x, tw_layers_dense(4096, .activation = "relu", .name = "fc2"));
    return tw__network_put(n, x,
                           tw_layers_dense(n->args->classes, .activation = n->args->classifier_activation,
                                           .name = "predictions"));
}

const tw__application tw__applications_vgg[] = {
    { "VGG16", "vgg16", "vgg16", TW_APPLICATION_USUAL, "vgg16_weights_tf_dim_ordering_tf_kernels%s.h5", 224, 32,
      &(const plan){ { 2, 2, 3, 3, 3 } }, vgg, NULL, NULL },
    { "VGG19", "vgg19", "vgg19", TW_APPLICATION_USUAL, "vgg19_weights_tf_dim_ordering_tf_kernels%s.h5", 224, 32,
      &(const plan){ { 2, 2, 4, 4, 4 } }, vgg, NULL, NULL },
    { 0 }
};
