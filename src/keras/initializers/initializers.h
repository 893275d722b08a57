/* Initializers: objects that make the first values of variables.
 *
 * They have no state but a seed: the same object gives the same values at each call. One without a seed draws it at first use
 * from Keras's own generator, which keras.utils.set_random_seed starts; before that, from the embedding language's (Python's
 * random module), or in a C program from the operating system. */
#ifndef TW_INITIALIZERS_H
#define TW_INITIALIZERS_H

#include "rows.h"
#include "tensor/tensor.h"

typedef struct tw__initializer_methods {
    tw_tensor *(*make)(tw_initializer *self, const tw_shape *shape, tw_dtype dtype);
} tw__initializer_methods;

struct tw_initializer {
    tw_object object;
    int64_t seed;
    bool seeded; /* seed is set */
    /* Set by an embedding language whose subclass gives its own `__call__`. */
    tw_tensor *(*foreign_make)(tw_initializer *self, const tw_shape *shape, tw_dtype dtype);
};

/* The values, a new reference. A dtype of none means float32. */
tw_tensor *tw__initializer_make(tw_initializer *initializer, const tw_shape *shape, tw_dtype dtype);
/* By name ("glorot_uniform", "GlorotUniform") a new object with its defaults, or the object itself; a new reference. */
/* The same again without what it has drawn: an object of its own for an object, else what is named. Borrowed names, new objects.
 */
tw_named tw__initializer_again(tw_named named, tw_initializer **made);
tw_initializer *tw__initializer_get(tw_named named);
tw_status tw__initializer_check(tw_named named); /* NULL is fine */

struct tw_callable;
tw_initializer *tw__initializer_of_function(struct tw_callable *function); /* (function.c) */
const void *tw__initializer_function(const void *object); /* the function of such an initializer, borrowed; else NULL */

/* ---- Keras's seeds (seed.c) ---- */
tw_status tw__keras_seed_next(int64_t *seed); /* 1 … 10**9 */

/* ---- for the classes ---- */
/* Numbers of inputs and outputs of one unit: the last two dimensions, times the rest (a convolution's window). */
void tw__initializer_fans(const tw_shape *shape, double *in, double *out);
/* The object's seed; a given one, or drawn now and kept. */
tw_status tw__initializer_seed(tw_initializer *initializer, int64_t *seed);
/* Tensors of values that are a function of the seed. */
tw_tensor *tw__initial_uniform(tw_initializer *self, const tw_shape *shape, tw_dtype dtype, double low, double high);
tw_tensor *tw__initial_normal(tw_initializer *self, const tw_shape *shape, tw_dtype dtype, double mean, double deviation,
                              bool truncated);

#endif
