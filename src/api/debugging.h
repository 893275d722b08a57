/* What the checks of tf.debugging share. */
#ifndef TW_API_DEBUGGING_H
#define TW_API_DEBUGGING_H

#include "api/api.h"
#include "spec/spec.h"

/* "message.  ", or nothing. */
void tw__check_lead(tw__text *text, const char *message);
/* Fails with the text, which is freed. */
tw_value tw__check_refuse(tw_status code, tw__text *text);
/* What a check gives that held: None, or an operation that does nothing. */
tw_value tw__check_passed(void);
/* An Assert: an operation in a graph. */
tw_value tw__check_assert(tw_tensor *condition, tw_tensor *const *data, int64_t count, int64_t summarize);

#endif
