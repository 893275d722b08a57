/* What the generated tables (rows.c) need to turn results into values. */
#ifndef TW_INVOKE_H
#define TW_INVOKE_H

#include "spec/spec.h"

/* The status of a call that returned NULL: an error, or, if none is set, the result None. */
tw_status tw__null_status(tw_value *result);
tw_status tw__value_of_tensors(tw_tensors tensors, tw_value *result); /* takes them */
tw_status tw__value_of_objects(tw_objects objects, tw_value *result); /* takes them */
tw_status tw__value_of_text(char *text, tw_value *result);            /* takes it; NULL without an error is None */
tw_status tw__value_of_shape(tw_shape shape, tw_value *result);

#endif
