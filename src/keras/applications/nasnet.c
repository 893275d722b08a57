/* NASNet: cells that a search found, of separable convolutions and poolings of the two results before. */
#include "keras/applications/application.h"

typedef struct plan {
    int64_t filters; /* of the last cells, all parts together */
    int blocks, stem;
    bool skips; /* a cell behind a reduction sees the one before it */
} plan;

/* A cell while it is built: what all of its layers are named after. */
typedef struct cell {
    tw__network *n;
    const char *kind, *id; /* "normal" or "reduction" */
    int64_t filters;
} cell;

#define NAME(what) TW_NAMED("%s_" what "_%s", c->kind, c->id)

static tw_keras_tensor *relu(tw__network *n, tw_keras_tensor *x, const char *name)
{
    return tw__network_act(n, x, "relu", name);
}

static tw_keras_tensor *separable(cell *c, tw_keras_tensor *x, int64_t size, int64_t stride, const char *place)
{
    tw__network *n = c->n;
    for (int i = 1; i <= 2; i++) {
        x = relu(n, x, NULL);
        bool pads = i == 1 && stride == 2;
        if (pads)
            x = tw__network_padded(n, x, size, TW_NAMED("separable_conv_1_pad_%s_%s_%s", c->kind, place, c->id));
        int64_t step = i == 1 ? stride : 1;
        x = tw__network_put(n, x,
                            tw_layers_separable_conv2d(c->filters, TW_INTS(size, size), .strides = TW_INTS(step, step),
                                                       .padding = pads ? "valid" : "same", .use_bias = false,
                                                       .kernel_initializer = "he_normal",
                                                       .name = TW_NAMED("separable_conv_%d_%s_%s_%s", i, c->kind, place, c->id)));
        x = tw__network_normalized(n, x, TW_NAMED("separable_conv_%d_bn_%s_%s_%s", i, c->kind, place, c->id));
    }
    return x;
}

static tw_keras_tensor *pooled(cell *c, tw_keras_tensor *x, bool largest, int64_t size, int64_t stride, const char *name)
{
    const char *padding = stride == 1 ? "same" : "valid";
    return tw__network_put(c->n, x,
                           largest ? tw_layers_max_pooling2d(TW_INTS(size, size), .strides = TW_INTS(stride, stride),
                                                             .padding = padding, .name = name)
                                   : tw_layers_average_pooling2d(TW_INTS(size, size), .strides = TW_INTS(stride, stride),
                                                                 .padding = padding, .name = name));
}

static tw_keras_tensor *sum(cell *c, tw_keras_tensor *x, tw_keras_tensor *y, const char *name)
{
    return tw__network_join(c->n, (tw_keras_tensor *[]){ x, y }, 2, tw_layers_add(.name = name));
}

/* The result before the last, with the size and the channels of the last. */
static tw_keras_tensor *adjusted(cell *c, tw_keras_tensor *before, tw_keras_tensor *x)
{
    tw__network *n = c->n;
    if (!before || !x)
        return x;
    if (tw_keras_tensor_shape(before).dims[2] != tw_keras_tensor_shape(x).dims[2]) {
        before = relu(n, before, TW_NAMED("adjust_relu_1_%s", c->id));
        tw_keras_tensor *even = pooled(c, before, false, 1, 2, TW_NAMED("adjust_avg_pool_1_%s", c->id));
        even = tw__network_conv(n, even, (tw__conv){ c->filters / 2, 1, .stride = 1 }, TW_NAMED("adjust_conv_1_%s", c->id));
        tw_keras_tensor *odd = tw__network_put(n, before, tw_layers_zero_padding2d(TW_INTS(0, 1, 0, 1)));
        odd = tw__network_put(n, odd, tw_layers_cropping2d(TW_INTS(1, 0, 1, 0)));
        odd = pooled(c, odd, false, 1, 2, TW_NAMED("adjust_avg_pool_2_%s", c->id));
        odd = tw__network_conv(n, odd, (tw__conv){ c->filters / 2, 1, .stride = 1 }, TW_NAMED("adjust_conv_2_%s", c->id));
        before = tw__network_join(n, (tw_keras_tensor *[]){ even, odd }, 2, tw_layers_concatenate(.axis = -1));
    } else if (tw__network_channels(before) != c->filters) {
        before = tw__network_conv(n, relu(n, before, NULL), (tw__conv){ c->filters, 1, .stride = 1 },
                                  TW_NAMED("adjust_conv_projection_%s", c->id));
    } else {
        return before;
    }
    return tw__network_normalized(n, before, TW_NAMED("adjust_bn_%s", c->id));
}

static tw_keras_tensor *squeezed(cell *c, tw_keras_tensor *x)
{
    x = tw__network_conv(c->n, relu(c->n, x, NULL), (tw__conv){ c->filters, 1, .stride = 1 }, NAME("conv_1"));
    return tw__network_normalized(c->n, x, NAME("bn_1"));
}

static tw_keras_tensor *normal(cell *c, tw_keras_tensor *x, tw_keras_tensor *before)
{
    tw_keras_tensor *p = adjusted(c, before, x), *h = squeezed(c, x), *left = separable(c, h, 5, 1, "left1");
    tw_keras_tensor *parts[6] = { p, sum(c, left, separable(c, p, 3, 1, "right1"), NAME("add_1")) };
    left = separable(c, p, 5, 1, "left2");
    parts[2] = sum(c, left, separable(c, p, 3, 1, "right2"), NAME("add_2"));
    parts[3] = sum(c, pooled(c, h, false, 3, 1, NAME("left3")), p, NAME("add_3"));
    left = pooled(c, p, false, 3, 1, NAME("left4"));
    parts[4] = sum(c, left, pooled(c, p, false, 3, 1, NAME("right4")), NAME("add_4"));
    parts[5] = sum(c, separable(c, h, 3, 1, "left5"), h, NAME("add_5"));
    return tw__network_join(c->n, parts, 6, tw_layers_concatenate(.axis = -1, .name = NAME("concat")));
}

static tw_keras_tensor *reduction(cell *c, tw_keras_tensor *x, tw_keras_tensor *before)
{
    tw_keras_tensor *p = adjusted(c, before, x), *h = squeezed(c, x);
    tw_keras_tensor *padded = tw__network_padded(c->n, h, 3, NAME("pad_1")), *left = separable(c, h, 5, 2, "left1");
    tw_keras_tensor *first = sum(c, left, separable(c, p, 7, 2, "right1"), NAME("add_1")), *parts[4];
    left = pooled(c, padded, true, 3, 2, NAME("left2"));
    parts[0] = sum(c, left, separable(c, p, 7, 2, "right2"), NAME("add_2"));
    left = pooled(c, padded, false, 3, 2, NAME("left3"));
    parts[1] = sum(c, left, separable(c, p, 5, 2, "right3"), NAME("add3"));
    left = pooled(c, first, false, 3, 1, NAME("left4"));
    parts[2] = sum(c, parts[0], left, NULL);
    left = separable(c, first, 3, 1, "left4");
    parts[3] = sum(c, left, pooled(c, padded, true, 3, 2, NAME("right5")), NAME("add4"));
    return tw__network_join(c->n, parts, 4, tw_layers_concatenate(.axis = -1, .name = NAME("concat")));
}

static tw_keras_tensor *nasnet(tw__network *n, tw_keras_tensor *x)
{
    const plan *p = n->row->plan;
    int64_t filters = p->filters / 24;
    n->kernel = "he_normal";
    n->momentum = 0.9997;
    n->epsilon = 1e-3;
    x = tw__network_conv(n, x, (tw__conv){ p->stem, 3, .stride = 2, .valid = true }, "stem_conv1");
    x = tw__network_normalized(n, x, "stem_bn1");
    tw_keras_tensor *before = NULL, *last;
    for (int i = 1; i <= 2; i++, before = last) {
        last = x;
        x = reduction(&(cell){ n, "reduction", TW_NAMED("stem_%d", i), i == 1 ? filters / 4 : filters / 2 }, x, before);
    }
    for (int level = 0; level < 3; level++, filters *= 2) {
        if (level > 0) {
            last = x;
            x = reduction(&(cell){ n, "reduction", TW_NAMED("reduce_%d", level * p->blocks), filters }, x, before);
            before = p->skips ? before : last;
        }
        for (int i = 0; i < p->blocks; i++, before = last) {
            last = x;
            x = normal(&(cell){ n, "normal", TW_NAMED("%d", level * p->blocks + i + (level > 0)), filters }, x, before);
        }
    }
    return tw__network_top(n, relu(n, x, NULL), NULL, false);
}

#define ARGUMENTS "input_shape include_top weights input_tensor pooling classes classifier_activation"
static void named(const tw__network *n, const tw_shape *shape, char *name, char *file, size_t size)
{
    (void)shape;
    snprintf(name, size, "NASNet");
    snprintf(file, size, "nasnet_%s%s.h5", n->row->size == 224 ? "mobile" : "large", n->args->include_top ? "" : "_no_top");
}

const tw__application tw__applications_nasnet[] = {
    { "NASNetMobile", "nasnet", NULL, ARGUMENTS, NULL, 224, 32, &(const plan){ 1056, 4, 32, false }, nasnet, NULL, named },
    { "NASNetLarge", "nasnet", NULL, ARGUMENTS, NULL, 331, 32, &(const plan){ 4032, 6, 96, true }, nasnet, NULL, named },
    { 0 },
};
