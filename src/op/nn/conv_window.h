/* What convolution and pooling ops share: the attrs of a sliding window, and how many places it has on an image. */
#ifndef TW_CONV_WINDOW_H
#define TW_CONV_WINDOW_H

#include "op/op.h"

/* Pairs are rows, columns. */
typedef struct tw__window {
    int64_t stride[2], dilation[2];
    char padding;                /* 'S'AME, 'V'ALID, 'E'XPLICIT */
    bool channels_first;         /* NCHW */
    int64_t before[2], after[2]; /* of EXPLICIT, as given */
} tw__window;

#define TW_WINDOW_FAIL(op_, code, format, ...) tw__fail_op((op_)->name, (code), format, ##__VA_ARGS__)

/* Reads padding, explicit_paddings (if the op has it) and data_format. */
tw_status tw__window_padding(const tw_op *op, const tw_attr *attrs, tw__window *window);
/* The number of places along one axis, and the padding that it takes. A size of -1 (not known) gives -1 places. */
tw_status tw__window_places(const tw_op *op, const tw__window *window, int axis, int64_t in, int64_t size, int64_t *places,
                            int64_t *before, int64_t *after);
/* The product of the dimensions must fit: a check before anything is allocated. */
tw_status tw__window_check_count(const tw_op *op, const tw_shape *shape);

/* A window that is greater than what it slides over gives nothing when it runs; a graph refuses it. */
tw_status tw__window_in_graph(const tw__inference *inference);

#endif
