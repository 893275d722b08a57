/* How many elements the weights of a model that is read from a file may have: as many as the file holds. A config of a few bytes
 * may name any size; so what it asks for is compared with the file before memory is taken. Outside of loading there is no such
 * limit. */
#ifndef TW_KERAS_ALLOWANCE_H
#define TW_KERAS_ALLOWANCE_H

#include "tensor/tensor.h"

#define TW_NO_ALLOWANCE (-1)

/* The thread's allowance from now on; gives the one before, to be set again. */
int64_t tw__weights_allow(int64_t elements);
/* Takes a weight of that shape from it; an error that names the weight if the file can't hold it. */
tw_status tw__weights_take(const char *layer, const char *weight, const tw_shape *shape);
/* Whether a model may be built for inputs of that shape; their elements are not taken. */
tw_status tw__weights_check_input(const char *layer, const tw_shape *shape);

#endif
