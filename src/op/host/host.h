/* Ops that reach outside of the graph: printing, and functions of the embedding language. */
#ifndef TW_HOST_H
#define TW_HOST_H

#include "op/op.h"

/* Calls the embedding language's function `token` with the inputs; gives exactly `output_count` new tensors. `arrays`: the function sees
 * arrays, not tensors. NULL: there is no such language. */
extern tw_status (*tw__host_call_hook)(const char *token, bool arrays, tw_tensor *const *inputs, int input_count, tw_tensor **outputs,
                                       int output_count);

/* A C function that these ops call: its token, for tw__free, is good as long as the process runs. Gives exactly `output_count` new tensors. */
typedef tw_status (*tw__host_body)(void *user, tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count);
char *tw__host_register(tw__host_body body, void *user);

#endif
