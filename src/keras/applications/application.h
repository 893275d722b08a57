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
} tw__network;

struct tw__application {
    const char *name;       /* "ResNet50" */
    const char *modules;    /* of keras.applications that have it: "resnet resnet50" */
    const char *model_name; /* "resnet50"; NULL: `named` says it */
    const char *arguments;  /* Python's, in their order; "**" at the end: others by name */
    const char *file;       /* with ImageNet's weights, in Keras's cache; %s: "_notop" or nothing. NULL: `named` says it */
    int size, least;        /* of pictures: the usual, and the smallest that is taken */
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

/* ---- the families ---- */
extern const tw__application tw__applications_vgg[], tw__applications_resnet[], tw__applications_resnet_v2[],
    tw__applications_mobilenet[], tw__applications_mobilenet_v2[], tw__applications_inception_v3[], tw__applications_xception[],
    tw__applications_densenet[];

#endif
