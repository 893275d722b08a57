/* InceptionResNetV2: towers of convolutions side by side whose scaled sum is added to what they came from. */
#include "keras/applications/application.h"
#include "op/calls.h"

/* ---- the layer that adds them ---- */

static tw_value scaled_values(tw_layer *self, const tw_value *given, int training)
{
    TW_TEMPS(t);
    (void)training;
    const tw_value *list = &given[0];
    bool pair = (list->kind == TW_VALUE_LIST || list->kind == TW_VALUE_TUPLE) && list->list.count >= 2 &&
                list->list.items[0].kind == TW_VALUE_TENSOR && list->list.items[1].kind == TW_VALUE_TENSOR;
    if (!pair) {
        tw__fail(TW_VALUE_ERROR, "CustomScaleLayer \"%s\": two tensors are expected", self->name);
        return (tw_value){ .kind = TW_VALUE_NONE };
    }
    double scale = ((const tw_layers_custom_scale_args *)tw_object_config(self))->scale;
    return tw__tensor_value(TW_CALL(AddV2, list->list.items[0].tensor, TW_TEMP(Mul, list->list.items[1].tensor, scale)));
}

static const tw__layer_methods scaled_methods = { .arguments = "inputs", .call_values = scaled_values };

TW_CLASS(layers_custom_scale, "keras.src.applications.inception_resnet_v2.CustomScaleLayer(scale: float, **layer) -> layer",
         .parent = &tw__class_layer, .size = sizeof(tw_layer), .methods = &scaled_methods,
         .doc = "The first of two inputs and the second times a number.\n"
                "scale: the number that the second input is multiplied with");

/* ---- the network ---- */

/* A convolution with normalization and activation; without a name they have Keras's numbered ones. */
static tw_keras_tensor *conv(tw__network *n, tw_keras_tensor *x, int64_t filters, int rows, int columns, int stride, bool valid,
                             const char *name)
{
    x = tw__network_conv(n, x, (tw__conv){ filters, rows, columns, .stride = stride, .valid = valid }, name);
    x = tw__network_put(n, x,
                        tw_layers_batch_normalization(.axis = TW_INTS(3), .scale = false,
                                                      .name = name ? TW_NAMED("%s_bn", name) : NULL));
    return tw__network_act(n, x, "relu", name ? TW_NAMED("%s_ac", name) : NULL);
}

static tw_keras_tensor *same(tw__network *n, tw_keras_tensor *x, int64_t filters, int rows, int columns)
{
    return conv(n, x, filters, rows, columns, 1, false, NULL);
}

static tw_keras_tensor *halved(tw__network *n, tw_keras_tensor *x, int64_t filters)
{
    return conv(n, x, filters, 3, 3, 2, true, NULL);
}

static tw_keras_tensor *maximum(tw__network *n, tw_keras_tensor *x)
{
    return tw__network_put(n, x, tw_layers_max_pooling2d(TW_INTS(3, 3), .strides = TW_INTS(2, 2)));
}

static tw_keras_tensor *joined(tw__network *n, tw_keras_tensor *const *parts, int count, const char *name)
{
    return tw__network_join(n, parts, count, tw_layers_concatenate(.axis = 3, .name = name));
}

static tw_keras_tensor *block(tw__network *n, tw_keras_tensor *x, double scale, int kind, int number, bool act)
{
    tw_keras_tensor *parts[3];
    int count = 2;
    parts[0] = same(n, x, kind == 35 ? 32 : 192, 1, 1);
    if (kind == 35) {
        parts[1] = same(n, same(n, x, 32, 1, 1), 32, 3, 3);
        parts[count++] = same(n, same(n, same(n, x, 32, 1, 1), 48, 3, 3), 64, 3, 3);
    } else if (kind == 17) {
        parts[1] = same(n, same(n, same(n, x, 128, 1, 1), 160, 1, 7), 192, 7, 1);
    } else {
        parts[1] = same(n, same(n, same(n, x, 192, 1, 1), 224, 1, 3), 256, 3, 1);
    }
    const char *name = TW_NAMED("block%d_%d", kind, number);
    tw_keras_tensor *mixed = joined(n, parts, count, TW_NAMED("%s_mixed", name));
    mixed = tw__network_conv(n, mixed, (tw__conv){ tw__network_channels(x), 1, .bias = true }, TW_NAMED("%s_conv", name));
    x = tw__network_join(n, (tw_keras_tensor *[]){ x, mixed }, 2, tw_layers_custom_scale(scale));
    return act ? tw__network_act(n, x, "relu", TW_NAMED("%s_ac", name)) : x;
}

static tw_keras_tensor *network(tw__network *n, tw_keras_tensor *x)
{
    tw_keras_tensor *parts[4];
    x = conv(n, conv(n, x, 32, 3, 3, 2, true, NULL), 32, 3, 3, 1, true, NULL);
    x = conv(n, maximum(n, same(n, x, 64, 3, 3)), 80, 1, 1, 1, true, NULL);
    x = maximum(n, conv(n, x, 192, 3, 3, 1, true, NULL));
    parts[0] = same(n, x, 96, 1, 1);
    parts[1] = same(n, same(n, x, 48, 1, 1), 64, 5, 5);
    parts[2] = same(n, same(n, same(n, x, 64, 1, 1), 96, 3, 3), 96, 3, 3);
    parts[3] = tw__network_put(n, x, tw_layers_average_pooling2d(TW_INTS(3, 3), .strides = TW_INTS(1, 1), .padding = "same"));
    parts[3] = same(n, parts[3], 64, 1, 1);
    x = joined(n, parts, 4, "mixed_5b");
    for (int i = 1; i <= 10; i++)
        x = block(n, x, 0.17, 35, i, true);
    parts[0] = halved(n, x, 384);
    parts[1] = halved(n, same(n, same(n, x, 256, 1, 1), 256, 3, 3), 384);
    parts[2] = maximum(n, x);
    x = joined(n, parts, 3, "mixed_6a");
    for (int i = 1; i <= 20; i++)
        x = block(n, x, 0.1, 17, i, true);
    parts[0] = halved(n, same(n, x, 256, 1, 1), 384);
    parts[1] = halved(n, same(n, x, 256, 1, 1), 288);
    parts[2] = halved(n, same(n, same(n, x, 256, 1, 1), 288, 3, 3), 320);
    parts[3] = maximum(n, x);
    x = joined(n, parts, 4, "mixed_7a");
    for (int i = 1; i <= 10; i++)
        x = block(n, x, i < 10 ? 0.2 : 1, 8, i, i < 10);
    x = conv(n, x, 1536, 1, 1, 1, false, "conv_7b");
    return tw__network_top(n, x, "avg_pool", false);
}

const tw__application tw__applications_inception_resnet_v2[] = {
    { "InceptionResNetV2", "inception_resnet_v2", "inception_resnet_v2", TW_APPLICATION_USUAL " **",
      "inception_resnet_v2_weights_tf_dim_ordering_tf_kernels%s.h5", 299, 75, NULL, network, NULL, NULL },
    { 0 },
};
