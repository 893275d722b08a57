/* Layers that change images by chance, from the inside. Each has a generator of its own, made of the seed when the
 * layer is built; it is no weight. Without a word about `training` they change images, as in Keras. */
#ifndef TW_RANDOM_LAYERS_H
#define TW_RANDOM_LAYERS_H

#include "api/image/image.h"
#include "keras/layers/layers.h"

typedef struct tw__random_layer {
    tw_layer layer;
    struct tw_generator *generator; /* a reference; NULL before the build */
} tw__random_layer;

/* Two numbers that bound what is drawn. */
typedef struct tw__bounds {
    double low, high;
} tw__bounds;

/* What the rows of their classes have in common. */
#define TW_RANDOM_LAYER .parent = &tw__class_layer, .size = sizeof(tw__random_layer), .destroy = tw__random_layer_destroy
void tw__random_layer_destroy(void *self);
tw__random_layer *tw__random_layer_of(tw_layer *layer); /* NULL: it is none */
tw_status tw__random_layer_build(tw_layer *self, const tw_shape *input);
/* Numbers from [low, high) of float32; a new reference. */
tw_tensor *tw__random_layer_draw(tw_layer *self, tw_tensor *shape, tw__bounds bounds);
tw_tensor *tw__random_layer_seed(tw_layer *self);             /* two integers for stateless functions */
tw_tensor *tw__random_layer_integers(tw_layer *self);         /* two of int32, not negative */
void tw__random_layer_config(tw_layer *self, tw__dict *dict); /* puts the arguments of any kind that `own_config` names */
/* (low, high), or x for (-x, x). */
tw_status tw__random_bounds(const char *name, const tw_value *given, tw__bounds *bounds);
/* "0.2" or "(0.1, 0.3)", as Python writes it; for tw__free. */
char *tw__random_text(const tw_value *given);
tw_status tw__image_layer_check_method(const char *interpolation); /* one of tf.image.resize's, in any case */
char *tw__image_layer_method(const char *interpolation);           /* in lower case; for tw__free */
/* keras.utils's smart_resize to a size that is known. */
tw_tensor *tw__smart_resize(tw_tensor *images, int64_t height, int64_t width, const char *method);
/* A part of that size that begins where `start` says, if the images are not smaller and `training` is not 0; else the whole,
 * resized to it. */
typedef tw_status (*tw__crop_start)(tw_layer *self, tw_tensor *rest_height, tw_tensor *rest_width, tw_tensor **top,
                                    tw_tensor **left);
tw_tensor *tw__crop_or_resize(tw_layer *self, tw_tensor *images, int64_t height, int64_t width, tw__crop_start start,
                              bool training);
/* images' shape with another height and width (-1: not known); images have rank 3 or 4. */
tw_status tw__image_layer_shape(const tw_layer *self, const tw_shape *input, int64_t height, int64_t width, tw_shape *output);

#endif
