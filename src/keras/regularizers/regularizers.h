/* Regularizers: penalties of weights and outputs, which are added to the loss. A regularizer is a callable of one tensor. */
#ifndef TW_REGULARIZERS_H
#define TW_REGULARIZERS_H

#include "keras/callable.h"
#include "rows.h"

typedef struct tw__regularizer_methods {
    tw_tensor *(*apply)(tw_regularizer *self, tw_tensor *value); /* a scalar, a new reference */
} tw__regularizer_methods;

struct tw_regularizer {
    tw_callable callable; /* its call goes to the class's methods, or to an embedding language's subclass */
};

/* By name ("l2", "L1L2") a new object with its defaults, or the object or function itself; a new reference. */
tw_callable *tw__regularizer_get(tw_named named);
/* A wrong name is told at construction, not at the first call. */
tw_status tw__regularizer_check(tw_named named);

#endif
