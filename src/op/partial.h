/* What is known of an integer vector in a graph although its value is not: Fill([batch, 4]) has a second dimension of 4.
 *
 * A row that shapes are usually made of names a function for it (`.partial`). It reads its inputs through the call, which
 * graph/partial.c makes of a node. A scalar counts as a vector of one; sizes that are not known are -1. */
#ifndef TW_PARTIAL_H
#define TW_PARTIAL_H

#include "op/op.h"

typedef struct tw__partial_call {
    const tw_op *op;
    const tw_attr *attrs;
    int input_count, output; /* which output is asked for */
    bool scalar;             /* it is one number */
    const tw_shape *(*shape)(const struct tw__partial_call *call, int input);
    const tw_tensor *(*constant)(const struct tw__partial_call *call, int input);       /* NULL: it is none */
    bool (*vector)(const struct tw__partial_call *call, int input, tw_shape *elements); /* false: nothing is known */
} tw__partial_call;

/* The number in a scalar input; -1 if it is not known. */
int64_t tw__partial_number(const tw__partial_call *call, int input);
/* The product of the sizes; -1 if one is not known. */
int64_t tw__partial_product(const tw_shape *shape);
/* For ops of two: `combine` gets two sizes of at least 0, and gives -1 where it has no answer. */
bool tw__partial_pairs(const tw__partial_call *call, tw_shape *elements, int64_t (*combine)(int64_t a, int64_t b));

#endif
