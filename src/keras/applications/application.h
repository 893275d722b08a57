/* keras.applications: well-known networks, each family in a file of its own.
 *
 * A row of a family's table is one network: its name, where Python has it, its sizes, and the function that puts its layers
 * together. Names of layers and their order are Keras's, so that files with weights fit. application.c has what all share: the
 * input, the classifier, weights. */
#ifndef TW_APPLICATION_H
#define TW_APPLICATION_H

#include "base/temps.h"
#include "keras/keras.h"
#include "rows.h"

typedef struct tw__application tw__application;

/* A network while it is built. What is made on the way is in the list of temporaries. */
typedef struct tw__network {
    tw__temps *t;
    const tw__application *row;
    const tw_applications_model_args *args;
    const char *name; /* the model's */
    /* What the family's convolutions and normalizations have; it sets them first. */
    const char *kernel; /* the initializer; "fan_out": numbers spread by the outputs */
    double momentum, epsilon;
} tw__network;

struct tw__application {
    const char *name;    /* "ResNet50" */
    const char *modules; /* of keras.applications that have it: "resnet resnet50"; "name-": has it not, but what belongs to it */
    const char *model_name; /* "resnet50"; NULL: `named` says it */
    const char *arguments;  /* Python's, in their order; "**" at the end: others by name, which may follow */
    const char *file;       /* with ImageNet's weights, in Keras's cache; %s: "_notop" or nothing. NULL: `named` says it */
    int size, least;        /* of pictures: the usual (-1: any), and the smallest that is taken */
    const void *plan;       /* what `build` reads */
    tw_keras_tensor *(*build)(tw__network *n, tw_keras_tensor *x); /* with the top, if it is wanted. NULL: an error */
    tw_status (*check)(tw__network *n, const tw_shape *shape);     /* of its own arguments; may be NULL */
    void (*named)(const tw__network *n, const tw_shape *shape, char *name, char *file, size_t size);
};

/* The usual arguments in Python's order. */
#define TW_APPLICATION_USUAL "include_top weights input_tensor input_shape pooling classes classifier_activation"

/* ---- putting layers together ---- */
/* Connects a new layer, whose reference it takes, to what is there. NULL, after a failure, passes through. */
tw_keras_tensor *tw__network_put(tw__network *n, tw_keras_tensor *x, tw_layer *layer);
tw_keras_tensor *tw__network_join(tw__network *n, tw_keras_tensor *const *inputs, int count, tw_layer *layer);
/* A name in a buffer that lives as long as the block: TW_NAMED("conv%d_bn", 1). */
#define TW_NAMED(...) tw__network_name((char[96]){ 0 }, 96, __VA_ARGS__)
const char *tw__network_name(char *buffer, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The usual end: global average, classifier "predictions"; without the top the pooling that is asked for. */
tw_keras_tensor *tw__network_top(tw__network *n, tw_keras_tensor *x, const char *average_name, bool named);
/* Without a top; `named`: the layer is called avg_pool or max_pool. */
tw_keras_tensor *tw__network_pooled(tw__network *n, tw_keras_tensor *x, bool named);
int64_t tw__network_channels(const tw_keras_tensor *x);

/* The input that a tensor comes from: some networks begin there. */
tw_keras_tensor *tw__network_source(tw__network *n, tw_keras_tensor *x);

/* ---- parts of several families (blocks.c) ---- */
typedef struct tw__conv {
    int64_t filters;        /* 0: one for each channel */
    int rows, columns;      /* of the kernel; columns 0: as many */
    int64_t stride, groups; /* 0: 1 */
    bool valid, bias;
    const char *activation;
} tw__conv;
tw_keras_tensor *tw__network_conv(tw__network *n, tw_keras_tensor *x, tw__conv how, const char *name);
tw_keras_tensor *tw__network_normalized(tw__network *n, tw_keras_tensor *x, const char *name);
tw_keras_tensor *tw__network_act(tw__network *n, tw_keras_tensor *x, const char *activation, const char *name);
tw_keras_tensor *tw__network_rescaled(tw__network *n, tw_keras_tensor *x, double scale, double offset, const char *name);
/* Around the means of ImageNet's colours, by their deviations, in units of 1 or 255. */
tw_keras_tensor *tw__network_standard(tw__network *n, tw_keras_tensor *x, double unit, bool last, const char *name);
/* Zeros in front of a convolution of a size with stride 2, so that even and odd pictures have their halves where Keras has them.
 */
tw_keras_tensor *tw__network_padded(tw__network *n, tw_keras_tensor *x, int64_t size, const char *name);
/* Channels times gates that follow from their means. */
tw_keras_tensor *tw__network_excited(tw__network *n, tw_keras_tensor *x, int64_t narrow, const char *activation,
                                     const char *name);
/* x, which is left out now and then while training, and the shortcut. */
tw_keras_tensor *tw__network_skip(tw__network *n, tw_keras_tensor *x, tw_keras_tensor *shortcut, double rate, const char *name);
/* A function of the library, by its path, of a tensor and another or a number; named: its argument `name` stands in the config.
 */
tw_keras_tensor *tw__network_operator(tw__network *n, const char *path, tw_keras_tensor *x, tw_keras_tensor *other, bool named);
tw_keras_tensor *tw__network_number(tw__network *n, const char *path, tw_keras_tensor *x, double number);
tw_keras_tensor *tw__network_numbers(tw__network *n, const char *path, tw_keras_tensor *x, const double *numbers, int64_t count);
/* A number of channels as a multiple; near: not more than a tenth below. */
int64_t tw__network_rounded(double width, int64_t divisor, bool near);

/* ---- the families ---- */
extern const tw__application tw__applications_vgg[], tw__applications_resnet[], tw__applications_resnet_v2[],
    tw__applications_mobilenet[], tw__applications_mobilenet_v2[], tw__applications_inception_v3[], tw__applications_xception[],
    tw__applications_densenet[], tw__applications_efficientnet[], tw__applications_efficientnet_v2[],
    tw__applications_mobilenet_v3[], tw__applications_nasnet[], tw__applications_inception_resnet_v2[],
    tw__applications_convnext[], tw__applications_regnet[], tw__applications_resnet_rs[];

#endif
