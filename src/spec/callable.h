/* A function that an embedding language gives: of one tensor (an activation), or of nothing (a manager's init_fn). */
#ifndef TW_SPEC_CALLABLE_H
#define TW_SPEC_CALLABLE_H

#include "tensor/tensor.h"

struct tw_value;
typedef struct tw_callable tw_callable;

struct tw_callable {
    tw_object object;
    /* A new reference; NULL: the error is set. Without an input it is called without arguments, and gives NULL also where it
     * worked. */
    tw_tensor *(*call)(tw_callable *self, tw_tensor *input);
    /* The same of a value of any kind, a ragged tensor for example; or NULL. */
    tw_status (*call_value)(tw_callable *self, const struct tw_value *input, struct tw_value *result);
    /* The same with arguments by name as well (a dict, or NULL); a name that begins with `*` is given only if the function takes
     * it. The text "*" in place of the dict: the input is a tuple of all arguments by position. */
    tw_status (*call_named)(tw_callable *self, const struct tw_value *input, const struct tw_value *named,
                            struct tw_value *result);
    void (*end)(tw_callable *self); /* lets go of `state`; or NULL */
    void *state;
    char *name; /* as it stands in configs */
};

#endif
