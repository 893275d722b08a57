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
tw_callable *tw__callable_new(const char *name, tw_tensor *(*call)(tw_callable *self, tw_tensor *input),
                              void (*end)(tw_callable *self), void *state);

/* Classes of callables that have names: constraints, regularizers. */
typedef struct tw__callable_name {
    const char *name, *class_id;
} tw__callable_name;
/* The object or function itself, or a new object of the class of that name with its defaults; `kind` is "constraint". A new
 * reference. */
tw_callable *tw__callable_get(tw_named named, const char *kind, const tw__callable_name *names, size_t count);
/* The name of an object of such a class, and what calls it. */
tw_status tw__callable_init(tw_callable *self, tw_tensor *(*call)(tw_callable *self, tw_tensor *input));

#endif
