/* InceptionV3: towers of convolutions side by side, joined along the channels. */
#include "keras/applications/application.h"

/* A convolution with normalization and activation; names are Keras's numbered ones. */
static tw_keras_tensor *conv(tw__network *n, tw_keras_tensor *x, int64_t filters, int64_t rows, int64_t columns, int64_t stride,
                             const char *padding)
{
    x = tw__network_put(n, x,
                        tw_layers_conv2d(filters, TW_INTS(rows, columns), .strides = TW_INTS(stride, stride), .padding = padding,
                                         .use_bias = false));
    x = tw__network_put(n, x, tw_layers_batch_normalization(.axis = TW_INTS(3), .scale = false));
    return tw__network_put(n, x, tw_layers_activation("relu"));
}

static tw_keras_tensor *same(tw__network *n, tw_keras_tensor *x, int64_t filters, int64_t rows, int64_t columns)
{
    return conv(n, x, filters, rows, columns, 1, "same");
}

static tw_keras_tensor *average(tw__network *n, tw_keras_tensor *x)
{
    return tw__network_put(n, x, tw_layers_average_pooling2d(TW_INTS(3, 3), .strides = TW_INTS(1, 1), .padding = "same"));
}

static tw_keras_tensor *maximum(tw__network *n, tw_keras_tensor *x)
{
    return tw__network_put(n, x, tw_layers_max_pooling2d(TW_INTS(3, 3), .strides = TW_INTS(2, 2)));
}

#define JOIN(name_, ...)                                                                              \
    tw__network_join(n, (tw_keras_tensor *[]){ __VA_ARGS__ },                                         \
                     (int)(sizeof((tw_keras_tensor *[]){ __VA_ARGS__ }) / sizeof(tw_keras_tensor *)), \
                     tw_layers_concatenate(.axis = 3, .name = name_))

static tw_keras_tensor *mixed_fives(tw__network *n, tw_keras_tensor *x, int64_t last, const char *name)
{
    tw_keras_tensor *ones = same(n, x, 64, 1, 1);
    tw_keras_tensor *fives = same(n, same(n, x, 48, 1, 1), 64, 5, 5);
    tw_keras_tensor *threes = same(n, same(n, same(n, x, 64, 1, 1), 96, 3, 3), 96, 3, 3);
    tw_keras_tensor *pool = same(n, average(n, x), last, 1, 1);
    return JOIN(name, ones, fives, threes, pool);
}

static tw_keras_tensor *mixed_sevens(tw__network *n, tw_keras_tensor *x, int64_t width, const char *name)
{
    tw_keras_tensor *ones = same(n, x, 192, 1, 1);
    tw_keras_tensor *once = same(n, same(n, same(n, x, width, 1, 1), width, 1, 7), 192, 7, 1);
    tw_keras_tensor *twice = same(n, same(n, same(n, x, width, 1, 1), width, 7, 1), width, 1, 7);
    twice = same(n, same(n, twice, width, 7, 1), 192, 1, 7);
    tw_keras_tensor *pool = same(n, average(n, x), 192, 1, 1);
    return JOIN(name, ones, once, twice, pool);
}

static tw_keras_tensor *mixed_split(tw__network *n, tw_keras_tensor *x, const char *inner, const char *name)
{
    tw_keras_tensor *ones = same(n, x, 320, 1, 1);
    tw_keras_tensor *once = same(n, x, 384, 1, 1);
    tw_keras_tensor *wide = same(n, once, 384, 1, 3), *high = same(n, once, 384, 3, 1);
    once = JOIN(inner, wide, high);
    tw_keras_tensor *twice = same(n, same(n, x, 448, 1, 1), 384, 3, 3);
    wide = same(n, twice, 384, 1, 3);
    high = same(n, twice, 384, 3, 1);
    twice = JOIN(NULL, wide, high);
    tw_keras_tensor *pool = same(n, average(n, x), 192, 1, 1);
    return JOIN(name, ones, once, twice, pool);
}

static tw_keras_tensor *inception(tw__network *n, tw_keras_tensor *x)
{
    x = conv(n, x, 32, 3, 3, 2, "valid");
    x = same(n, conv(n, x, 32, 3, 3, 1, "valid"), 64, 3, 3);
    x = conv(n, maximum(n, x), 80, 1, 1, 1, "valid");
    x = maximum(n, conv(n, x, 192, 3, 3, 1, "valid"));
    x = mixed_fives(n, x, 32, "mixed0");
    x = mixed_fives(n, x, 64, "mixed1");
    x = mixed_fives(n, x, 64, "mixed2");
    tw_keras_tensor *once = conv(n, x, 384, 3, 3, 2, "valid");
    tw_keras_tensor *twice = conv(n, same(n, same(n, x, 64, 1, 1), 96, 3, 3), 96, 3, 3, 2, "valid");
    x = JOIN("mixed3", once, twice, maximum(n, x));
    x = mixed_sevens(n, x, 128, "mixed4");
    x = mixed_sevens(n, x, 160, "mixed5");
    x = mixed_sevens(n, x, 160, "mixed6");
    x = mixed_sevens(n, x, 192, "mixed7");
    once = conv(n, same(n, x, 192, 1, 1), 320, 3, 3, 2, "valid");
    twice = same(n, same(n, same(n, x, 192, 1, 1), 192, 1, 7), 192, 7, 1);
    twice = conv(n, twice, 192, 3, 3, 2, "valid");
    x = JOIN("mixed8", once, twice, maximum(n, x));
    x = mixed_split(n, x, "mixed9_0", "mixed9");
    x = mixed_split(n, x, "mixed9_1", "mixed10");
    return tw__network_top(n, x, "avg_pool", false);
}

const tw__application tw__applications_inception_v3[] = {
    { "InceptionV3", "inception_v3", "inception_v3", TW_APPLICATION_USUAL, "inception_v3_weights_tf_dim_ordering_tf_kernels%s.h5",
      299, 75, NULL, inception, NULL, NULL },
    { 0 },
};
