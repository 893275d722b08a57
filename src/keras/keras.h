/* Keras from the inside: layers, models, optimizers, losses, metrics, initializers. */
#ifndef TW_KERAS_H
#define TW_KERAS_H

#include "eager/eager.h"
#include "rows.h"

/* ---- layers ---- */
/* training: 1 true, 0 false, -1 not said */
typedef struct tw__layer_methods {
    tw_status (*build)(tw_layer *self, const tw_shape *input_shape);     /* makes the weights; NULL: none */
    tw_tensor *(*call)(tw_layer *self, tw_tensor *input, int training);  /* NULL: the class can only be subclassed */
} tw__layer_methods;

struct tw_layer {
    tw_trackable trackable;
    char *name;
    tw_dtype dtype;                      /* of the variables */
    bool trainable, built;
    /* Set by an embedding language whose subclass gives its own `call`: every call from C goes there, building included. */
    tw_tensor *(*foreign_call)(tw_layer *self, tw_tensor *input, int training);
};

/* Calls the layer: casts float inputs to its dtype, builds it on the first call, and keeps a name scope while it does. */
tw_tensor *tw__layer_call(tw_layer *layer, tw_tensor *input, int training);
/* The three steps of that, for embedding languages: begin (scope), build, end. */
tw_status tw__layer_begin(tw_layer *layer);
tw_status tw__layer_build(tw_layer *layer, const tw_shape *input_shape);
void tw__layer_end(tw_layer *layer);
/* "Dense" -> "dense", the next time "dense_1"; for the caller to free. */
char *tw__layer_auto_name(const char *class_name);
/* A new variable named scope/name, tracked as `name`; borrowed. NULL initializer: glorot_uniform for floats. */
tw_variable *tw__layer_add_weight(tw_layer *layer, const char *name, const tw_shape *shape, tw_dtype dtype, tw_named initializer,
                                  bool trainable);
/* All variables below a trackable (its own, those of layers, lists and dicts), each once, in Keras's order: trainable first. */
typedef enum tw__which { TW_ALL_VARIABLES, TW_TRAINABLE_VARIABLES, TW_NON_TRAINABLE_VARIABLES } tw__which;
tw_status tw__collect_variables(tw_trackable *root, tw__which which, tw_variable ***variables, int64_t *count);

#endif
