/* Layers whose state is worked out from data before training: PreprocessingLayer, and what its classes supply.
 *
 * A class below tw__class_layers_preprocessing begins its struct with tw__preprocessing and its `methods` with
 * tw__preprocessing_methods. `adapt` goes through the data: reset (of a layer that is built), then for each batch build (once)
 * and update, then finalize. Loading weights calls finalize, too. */
#ifndef TW_PREPROCESSING_H
#define TW_PREPROCESSING_H

#include "keras/layers/layers.h"

typedef struct tw__preprocessing {
    tw_layer layer;
    bool adapted;
} tw__preprocessing;

typedef struct tw__preprocessing_methods {
    tw__layer_methods layer;
    /* One batch: a tensor, a ragged or sparse one, or a structure of such; the layer is built. NULL: it can't be adapted. */
    tw_status (*update)(tw_layer *self, const tw_value *batch);
    tw_status (*finalize)(tw_layer *self); /* what calls need follows from the state; NULL: nothing does */
    tw_status (*reset)(tw_layer *self);    /* as before the first batch; NULL: there is no state */
    /* Instead of the layer's build, for data that need not be a tensor; NULL: the shape of the batch is enough. */
    tw_status (*build_for)(tw_layer *self, const tw_value *batch);
} tw__preprocessing_methods;

/* Calls finalize of every such layer at or below the trackable: its weights were loaded or set. */
tw_status tw__preprocessing_finalize_all(tw_trackable *root);

#endif
