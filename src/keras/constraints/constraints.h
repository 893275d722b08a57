/* Constraints: what optimizers send a variable's value through after each change. A constraint is a callable of one tensor. */
#ifndef TW_CONSTRAINTS_H
#define TW_CONSTRAINTS_H

#include "keras/callable.h"
#include "rows.h"

typedef struct tw__constraint_methods {
    tw_tensor *(*apply)(tw_constraint *self, tw_tensor *value); /* a new reference */
} tw__constraint_methods;

struct tw_constraint {
    tw_callable callable; /* its call goes to the class's methods, or to an embedding language's subclass */
};

/* By name ("max_norm", "MaxNorm") a new object with its defaults, or the object or function itself; a new reference. */
tw_callable *tw__constraint_get(tw_named named);
/* A wrong name is told at construction, not at the first call. */
tw_status tw__constraint_check(tw_named named);

#endif
