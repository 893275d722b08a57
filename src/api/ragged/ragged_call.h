/* Functions of tensors, called with ragged and sparse tensors: what the front ends ask when such a value stands where a tensor
 * was expected. */
#ifndef TW_API_RAGGED_CALL_H
#define TW_API_RAGGED_CALL_H

#include "api/ragged/ragged.h"

/* Calls the row with values in the place of tensors: `values` has one place for each field, NULL where the argument struct says
 * everything; for a list of tensors `lists` has the members, tensors and others. */
typedef struct tw__mixed {
    void *const *values;     /* per field; borrowed */
    const tw_objects *lists; /* per field; count 0: as the struct says */
} tw__mixed;
/* Whether the function takes such values at all. */
bool tw__takes_composite(const tw_signature *row, const void *composite);
tw_status tw__call_composite(const tw_signature *row, const void *args, const tw__mixed *mixed, tw_value *result);

void *tw__ragged_reduce(tw__temps *t, const char *id, void *value, tw_ints axis, bool keepdims);
void *tw__ragged_reduce_join(tw__temps *t, void *value, tw_ints axis, bool keepdims, const char *separator);
void *tw__ragged_softmax(tw__temps *t, void *value, int64_t axis);
void *tw__value_expand(tw__temps *t, void *value, int64_t axis); /* a dimension of size one more; axis >= 0 */

#endif
