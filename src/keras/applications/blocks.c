/* What the layers of several families have in common: convolutions with the family's initializer, normalization with its numbers,
 * padding in front of strides, gates by squeezing and exciting, and operators on Keras tensors. */
#include "keras/applications/application.h"
#include "keras/models/functional.h"

/* "fan_out" stands for numbers spread by the outputs. A new reference, or borrowed text. */
static tw_named initializer(tw__network *n)
{
    if (strcmp(n->kernel, "fan_out") != 0)
        return n->kernel;
    return tw__temp(n->t, tw_initializers_variance_scaling(.scale = 2, .mode = "fan_out", .distribution = "truncated_normal"));
}

tw_keras_tensor *tw__network_conv(tw__network *n, tw_keras_tensor *x, tw__conv how, const char *name)
{
    tw_named kernel = initializer(n);
    int64_t stride = how.stride ? how.stride : 1, columns = how.columns ? how.columns : how.rows;
    if (!kernel)
        return NULL;
    if (!how.filters)
        return tw__network_put(n, x,
                               tw_layers_depthwise_conv2d(TW_INTS(how.rows, columns), .strides = TW_INTS(stride, stride),
                                                          .padding = how.valid ? "valid" : "same", .use_bias = how.bias,
                                                          .depthwise_initializer = kernel, .name = name));
    return tw__network_put(n, x,
                           tw_layers_conv2d(how.filters, TW_INTS(how.rows, columns), .strides = TW_INTS(stride, stride),
                                            .padding = how.valid ? "valid" : "same", .use_bias = how.bias,
                                            .groups = how.groups ? how.groups : 1, .activation = how.activation,
                                            .kernel_initializer = kernel, .name = name));
}

tw_keras_tensor *tw__network_normalized(tw__network *n, tw_keras_tensor *x, const char *name)
{
    return tw__network_put(n, x,
                           tw_layers_batch_normalization(.axis = TW_INTS(3), .momentum = n->momentum, .epsilon = n->epsilon,
                                                         .name = name));
}

tw_keras_tensor *tw__network_act(tw__network *n, tw_keras_tensor *x, const char *activation, const char *name)
{
    return tw__network_put(n, x, tw_layers_activation(activation, .name = name));
}

tw_keras_tensor *tw__network_rescaled(tw__network *n, tw_keras_tensor *x, double scale, double offset, const char *name)
{
    return tw__network_put(n, x, tw_layers_rescaling(scale, .offset = offset, .name = name));
}

tw_keras_tensor *tw__network_padded(tw__network *n, tw_keras_tensor *x, int64_t size, const char *name)
{
    tw_shape shape = x ? tw_keras_tensor_shape(x) : TW_SCALAR;
    int64_t half = size / 2, before[2] = { half - 1, half - 1 };
    for (int i = 0; x && i < 2; i++)
        before[i] += shape.dims[1] >= 0 && shape.dims[1 + i] % 2;
    return tw__network_put(n, x, tw_layers_zero_padding2d(TW_INTS(before[0], half, before[1], half), .name = name));
}

tw_keras_tensor *tw__network_standard(tw__network *n, tw_keras_tensor *x, double unit, bool last, const char *name)
{
    double values[6];
    static const double means[3] = { 0.485, 0.456, 0.406 }, deviations[3] = { 0.229, 0.224, 0.225 };
    for (int i = 0; i < 3; i++) {
        values[i] = means[i] * unit;
        values[3 + i] = (deviations[i] * unit) * (deviations[i] * unit);
    }
    tw_value items[6];
    for (int i = 0; i < 6; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_FLOAT, .f = values[i] };
    return tw__network_put(n, x,
                           tw_layers_normalization(.axis = TW_INTS(last ? -1 : 3),
                                                   .mean = { .kind = TW_VALUE_LIST, .list = { items, 3 } },
                                                   .variance = { .kind = TW_VALUE_LIST, .list = { items + 3, 3 } },
                                                   .name = name));
}

tw_keras_tensor *tw__network_excited(tw__network *n, tw_keras_tensor *x, int64_t narrow, const char *activation, const char *name)
{
    int64_t channels = tw__network_channels(x);
    tw_keras_tensor *gate = tw__network_put(n, x, tw_layers_global_average_pooling2d(.name = TW_NAMED("%sse_squeeze", name)));
    gate = tw__network_put(n, gate, tw_layers_reshape(TW_INTS(1, 1, channels), .name = TW_NAMED("%sse_reshape", name)));
    gate =
        tw__network_conv(n, gate, (tw__conv){ narrow, 1, .bias = true, .activation = activation }, TW_NAMED("%sse_reduce", name));
    gate = tw__network_conv(n, gate, (tw__conv){ channels, 1, .bias = true, .activation = "sigmoid" },
                            TW_NAMED("%sse_expand", name));
    return tw__network_join(n, (tw_keras_tensor *[]){ x, gate }, 2, tw_layers_multiply(.name = TW_NAMED("%sse_excite", name)));
}

tw_keras_tensor *tw__network_skip(tw__network *n, tw_keras_tensor *x, tw_keras_tensor *shortcut, double rate, const char *name)
{
    if (rate > 0)
        x = tw__network_put(n, x,
                            tw_layers_dropout(rate, .noise_shape = TW_SHAPE(-1, 1, 1, 1), .name = TW_NAMED("%sdrop", name)));
    return tw__network_join(n, (tw_keras_tensor *[]){ x, shortcut }, 2, tw_layers_add(.name = TW_NAMED("%sadd", name)));
}

/* ---- operators ---- */

static tw_keras_tensor *operate(tw__network *n, const char *path, tw_keras_tensor *x, tw_value other, bool named)
{
    if (!x)
        return NULL;
    tw_value first = { .kind = TW_VALUE_OBJECT, .object = x };
    tw_value keys[4] = {
        { .kind = TW_VALUE_STR, .s = { "y", 1 } }, other, { .kind = TW_VALUE_STR, .s = { "name", 4 } }, { .kind = TW_VALUE_NONE }
    };
    tw_value result = tw_call_keras_op(path, ((tw_value){ .kind = TW_VALUE_TUPLE, .list = { &first, 1 } }),
                                       .named = { .kind = TW_VALUE_DICT, .list = { keys, named ? 4 : 2 } });
    tw_keras_tensor *made = result.kind == TW_VALUE_OBJECT ? tw__temp(n->t, tw_retain(result.object)) : NULL;
    tw_value_free(&result);
    return made;
}

tw_keras_tensor *tw__network_operator(tw__network *n, const char *path, tw_keras_tensor *x, tw_keras_tensor *other, bool named)
{
    return other ? operate(n, path, x, (tw_value){ .kind = TW_VALUE_OBJECT, .object = other }, named) : NULL;
}

tw_keras_tensor *tw__network_number(tw__network *n, const char *path, tw_keras_tensor *x, double number)
{
    return operate(n, path, x, (tw_value){ .kind = TW_VALUE_FLOAT, .f = number }, true);
}

tw_keras_tensor *tw__network_numbers(tw__network *n, const char *path, tw_keras_tensor *x, const double *numbers, int64_t count)
{
    tw_value items[8];
    for (int64_t i = 0; i < count && i < 8; i++)
        items[i] = (tw_value){ .kind = TW_VALUE_FLOAT, .f = numbers[i] };
    return operate(n, path, x, (tw_value){ .kind = TW_VALUE_LIST, .list = { items, count } }, true);
}

int64_t tw__network_rounded(double width, int64_t divisor, bool near)
{
    int64_t found = (int64_t)(width + (double)divisor / 2) / divisor * divisor;
    found = found < divisor ? divisor : found;
    return near && (double)found < 0.9 * width ? found + divisor : found;
}
