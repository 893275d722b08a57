/* Constraints and regularizers: callables of one tensor whose classes have names. */
#include "keras/callable.h"

#include "keras/keras.h"

tw_status tw__callable_init(tw_callable *self, tw_tensor *(*call)(tw_callable *self, tw_tensor *input))
{
    self->call = call;
    self->name = tw__strdup(tw_class_name(self));
    return self->name ? TW_OK : tw__error_status();
}

tw_callable *tw__callable_get(tw_named named, const char *kind, const tw__callable_name *names, size_t count)
{
    if (tw__named_is_object(named)) {
        if (tw__is_callable(named))
            return tw_retain(named);
        tw__fail(TW_VALUE_ERROR, "Could not interpret %s identifier: an object of class %s",
                 strcmp(kind, "constraint") == 0 ? "constraint function" : kind, tw_class_name(named));
        return NULL;
    }
    for (size_t i = 0; named && i < count; i++) {
        if (strcmp(named, names[i].name) == 0)
            return tw__class_make_default(tw_class_find(names[i].class_id));
    }
    tw__fail_because(
        TW_REASON_UNKNOWN_NAME, TW_VALUE_ERROR,
        "Unknown %s: '%s'. Please ensure you are using a `keras.utils.custom_object_scope` and that this object is included in "
        "the scope. See https://www.tensorflow.org/guide/keras/save_and_serialize#registering_the_custom_object for details.",
        kind, named ? (const char *)named : "None");
    return NULL;
}
