/* What the ops that parse Examples share (example.c). */
#ifndef TW_OP_IO_EXAMPLE_H
#define TW_OP_IO_EXAMPLE_H

#include "format/record/example.h"
#include "op/op.h"

/* How an op calls the attrs of a group of features. Sparse features come first, then dense and ragged ones, in inputs 2, 3, 4 and
 * in the outputs. */
typedef struct tw__example_attrs {
    const char *count, *sparse, *dense, *ragged, *splits, *shapes;
} tw__example_attrs;
tw_status tw__example_shape(tw__inference *inference, const tw__example_attrs *names,
                            int *next); /* *next: the first output that is left */
/* Parses the Examples in input 0 into the first outputs; the defaults of dense features begin at an input. */
tw_status tw__example_parse(tw__kernel *kernel, const tw__example_attrs *names, int defaults);

#endif
