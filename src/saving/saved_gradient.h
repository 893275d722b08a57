/* The gradients that users define, of all functions that are saved (saved_gradient.c). */
#ifndef TW_SAVED_GRADIENT_H
#define TW_SAVED_GRADIENT_H

#include "op/slices.h"
#include "saving/saved_model.h"

typedef struct tw__saved_gradient {
    tw__written_gradient written;
    tw_trackable **objects;   /* per capture: the variable or constant that it is; a reference, or NULL: a value of a function */
    tw_value inputs, outputs; /* as in saved_concrete */
} tw__saved_gradient;

struct tw__saved_gradients {
    tw__saved_gradient *items;
    size_t count, capacity;
    tw__function **functions; /* that were looked through; references */
    size_t function_count, function_capacity;
    tw__pointer_map seen; /* functions and nodes */
    /* The object that a captured tensor is; borrowed, or NULL with an error. */
    tw_trackable *(*object_of)(void *context, const tw__function *function, tw_tensor *capture, int index);
    void *context;
};

/* Those of a function and of all that it calls. */
tw_status tw__saved_gradients_add(tw__saved_gradients *all, tw__function *function);
void tw__saved_gradients_free(tw__saved_gradients *all);

#endif
