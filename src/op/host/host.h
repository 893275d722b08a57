/* Ops that reach outside of the graph: printing, and functions of the embedding language. */
#ifndef TW_HOST_H
#define TW_HOST_H

#include "op/op.h"

/* Calls the embedding language's function `token` with the inputs; gives exactly `output_count` new tensors. `arrays`: the function sees
 * arrays, not tensors. NULL: there is no such language. */
extern tw_status (*tw__host_call_hook)(const char *token, bool arrays, tw_tensor *const *inputs, int input_count, tw_tensor **outputs,
                                       int output_count);

#endif
