/* MobileNetV2: blocks that widen, convolve by channel and narrow again, with a shortcut between the narrow ends. */
#include "keras/applications/application.h"

/* The nearest multiple of 8, not more than a tenth below. */
static int64_t rounded(double width)
{
    int64_t near = (int64_t)(width + 4) / 8 * 8;
    near = near < 8 ? 8 : near;
    return (double)near < 0.9 * width ? near + 8 : near;
}

static tw_keras_tensor *normalized(tw__network *n, tw_keras_tensor *x, const char *name)
{
    return tw__network_put(n, x,
                           tw_layers_batch_normalization(.axis = TW_INTS(3), .epsilon = 1e-3, .momentum = 0.999, .name = name));
}

static tw_keras_tensor *relu(tw__network *n, tw_keras_tensor *x, const char *name)
{
    return tw__network_put(n, x, tw_layers_re_lu(.max_value = 6, .name = name));
}

/* What keeps the halves of even and of odd sizes where Keras has them. */
static tw_keras_tensor *padded(tw__network *n, tw_keras_tensor *x, const char *name)
{
    tw_shape shape = x ? tw_keras_tensor_shape(x) : TW_SCALAR;
    int64_t before[2] = { 0, 0 };
    for (int i = 0; x && i < 2; i++)
        before[i] = shape.dims[1] >= 0 && shape.dims[1 + i] % 2;
    return tw__network_put(n, x, tw_layers_zero_padding2d(TW_INTS(before[0], 1, before[1], 1), .name = name));
}

static tw_keras_tensor *block(tw__network *n, tw_keras_tensor *x, int64_t filters, int64_t stride, int64_t expansion, int number)
{
    tw_keras_tensor *shortcut = x;
    int64_t channels = tw__network_channels(x), narrow = rounded((double)(int64_t)((double)filters * n->args->alpha));
    const char *name = number ? TW_NAMED("block_%d_", number) : "expanded_conv_";
    if (number) {
        x = tw__network_put(n, x,
                            tw_layers_conv2d(expansion * channels, TW_INTS(1, 1), .padding = "same", .use_bias = false,
                                             .name = TW_NAMED("%sexpand", name)));
        x = relu(n, normalized(n, x, TW_NAMED("%sexpand_BN", name)), TW_NAMED("%sexpand_relu", name));
    }
    if (stride == 2)
        x = padded(n, x, TW_NAMED("%spad", name));
    x = tw__network_put(n, x,
                        tw_layers_depthwise_conv2d(TW_INTS(3, 3), .strides = TW_INTS(stride, stride), .use_bias = false,
                                                   .padding = stride == 1 ? "same" : "valid",
                                                   .name = TW_NAMED("%sdepthwise", name)));
    x = relu(n, normalized(n, x, TW_NAMED("%sdepthwise_BN", name)), TW_NAMED("%sdepthwise_relu", name));
    x = tw__network_put(n, x,
                        tw_layers_conv2d(narrow, TW_INTS(1, 1), .padding = "same", .use_bias = false,
                                         .name = TW_NAMED("%sproject", name)));
    x = normalized(n, x, TW_NAMED("%sproject_BN", name));
    if (channels != narrow || stride != 1)
        return x;
    return tw__network_join(n, (tw_keras_tensor *[]){ shortcut, x }, 2, tw_layers_add(.name = TW_NAMED("%sadd", name)));
}

static tw_keras_tensor *mobilenet(tw__network *n, tw_keras_tensor *x)
{
    static const struct {
        int filters, stride, expansion, times;
    } stages[] = { { 16, 1, 1, 1 }, { 24, 2, 6, 2 },  { 32, 2, 6, 3 }, { 64, 2, 6, 4 },
                   { 96, 1, 6, 3 }, { 160, 2, 6, 3 }, { 320, 1, 6, 1 } };
    double alpha = n->args->alpha;
    x = tw__network_put(n, x,
                        tw_layers_conv2d(rounded(32 * alpha), TW_INTS(3, 3), .strides = TW_INTS(2, 2), .padding = "same",
                                         .use_bias = false, .name = "Conv1"));
    x = relu(n, normalized(n, x, "bn_Conv1"), "Conv1_relu");
    int number = 0;
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        for (int k = 0; k < stages[i].times; k++)
            x = block(n, x, stages[i].filters, k == 0 ? stages[i].stride : 1, stages[i].expansion, number++);
    }
    x = tw__network_put(n, x,
                        tw_layers_conv2d(alpha > 1 ? rounded(1280 * alpha) : 1280, TW_INTS(1, 1), .use_bias = false,
                                         .name = "Conv_1"));
    x = relu(n, normalized(n, x, "Conv_1_bn"), "out_relu");
    return tw__network_top(n, x, NULL, false);
}

static bool known_size(int64_t rows)
{
    return rows == 96 || rows == 128 || rows == 160 || rows == 192 || rows == 224;
}

static tw_status check(tw__network *n, const tw_shape *shape)
{
    static const double widths[] = { 0.35, 0.5, 0.75, 1, 1.3, 1.4 };
    tw_keras_tensor *given = n->args->input_tensor;
    if (given && n->args->input_shape.rank >= 0 && tw_keras_tensor_shape(given).dims[2] != shape->dims[1]) {
        tw_shape found = tw_keras_tensor_shape(given);
        tw__owned char *input = tw__shape_tuple(&found), *asked = tw__shape_tuple(shape);
        return tw__fail(TW_VALUE_ERROR,
                        "input_tensor.shape[2] must equal input_shape[1]; Received `input_tensor.shape=%s`, `input_shape=%s`",
                        input ? input : "", asked ? asked : "");
    }
    if (!n->args->weights || strcmp(n->args->weights, "imagenet") != 0)
        return TW_OK;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        if (n->args->alpha == widths[i])
            return TW_OK;
    }
    return tw__fail(
        TW_VALUE_ERROR,
        "If imagenet weights are being loaded, alpha must be one of `0.35`, `0.50`, `0.75`, `1.0`, `1.3` or `1.4` only; "
        "Received `alpha=%g`",
        n->args->alpha);
}

static void named(const tw__network *n, const tw_shape *shape, char *name, char *file, size_t size)
{
    double alpha = n->args->alpha;
    long long rows = (long long)shape->dims[0];
    if (rows < 0)
        snprintf(name, size, "mobilenetv2_%0.2f_None", alpha);
    else
        snprintf(name, size, "mobilenetv2_%0.2f_%lld", alpha, rows);
    bool known = shape->dims[0] == shape->dims[1] && known_size(rows);
    snprintf(file, size,
             alpha == (int)alpha ? "mobilenet_v2_weights_tf_dim_ordering_tf_kernels_%.1f_%lld%s.h5"
                                 : "mobilenet_v2_weights_tf_dim_ordering_tf_kernels_%g_%lld%s.h5",
             alpha, known ? rows : 224, n->args->include_top ? "" : "_no_top");
}

const tw__application tw__applications_mobilenet_v2[] = {
    { "MobileNetV2", "mobilenet_v2", NULL,
      "input_shape alpha include_top weights input_tensor pooling classes classifier_activation **", NULL, 224, 32, NULL,
      mobilenet, check, named },
    { 0 },
};
