/* Ops that reach outside of the graph: printing, and functions of the embedding language. */
#ifndef TW_HOST_H
#define TW_HOST_H

#include "op/op.h"

/* A C function that these ops call; gives exactly `output_count` new tensors. */
typedef tw_status (*tw__host_body)(void *user, tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count);
typedef struct tw__host_function tw__host_function;

/* ---- functions by token (registry.c) ---- */
/* A new function, held once; its token is the prefix and a number. `body` NULL: it is one of the embedding language's, known by
 * `user`. When nobody holds it any more, `end` is called with `user`; also if registering fails. */
tw__host_function *tw__host_register(const char *prefix, tw__host_body body, void *user, void (*end)(void *user));
tw__host_function *tw__host_hold(const char *token, size_t size); /* NULL: there is none of that token */
void tw__host_drop(tw__host_function *function);                  /* NULL is nothing */
const char *tw__host_token(const tw__host_function *function);
tw_status tw__host_run(const tw__host_function *function, bool arrays, tw_tensor *const *inputs, int input_count,
                       tw_tensor **outputs, int output_count);

/* What a node of these ops holds; NULL for nodes of others, and if its token names nothing. */
tw__host_function *tw__host_of(const tw_op *op, const tw_attr *attrs);

#endif
