/* Functions that an embedding language gives, as activations for example: making them. */
#ifndef TW_CALLABLE_H
#define TW_CALLABLE_H

#include "spec/callable.h"

extern const tw_class tw__callable_class;
static inline bool tw__is_callable(tw_named named)
{
    return tw__named_is_object(named) && tw__is(named, &tw__callable_class);
}
/* One reference; the name is copied. If it fails, `end` is not called. */
tw_callable *tw__callable_new(const char *name, tw_tensor *(*call)(tw_callable *self, tw_tensor *input), void (*end)(tw_callable *self),
                              void *state);

#endif
