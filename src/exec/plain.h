/* The calls that a joined step stands for, kept so that they can still be made one by one: for the rare run in which the joined
 * form does not apply (shapes or dtypes that were not known, one variable in two places). */
#ifndef TW_EXEC_PLAIN_H
#define TW_EXEC_PLAIN_H

#include "exec/internal.h"

typedef struct tw__plain tw__plain;

/* Of the steps with these numbers, rising; each is a call of an op as it stands in the graph, with at most one output. `inputs`
 * are the joined step's. NULL and an error if there is no memory. */
tw__plain *tw__plain_new(const tw__plan *plan, const int *steps, int count, const int32_t *inputs, int input_count);
void tw__plain_free(tw__plain *plain);
/* Makes the calls, in order. *result, if it is asked for, is what the last one gave: a new reference. */
tw_status tw__plain_run(const tw__plain *plain, tw_tensor *const *inputs, tw_tensor **result);

#endif
