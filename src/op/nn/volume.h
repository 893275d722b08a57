/* Shared by the rows of convolutions (volume.c) and pooling (volume_pool.c) of volumes. */
#ifndef TW_OP_VOLUME_H
#define TW_OP_VOLUME_H

#include "kernel/conv/volume.h"
#include "op/nn/conv_window.h"

typedef struct tw__volume_case {
    const tw_op *op;
    char padding;
    tw_shape output;   /* as the input and the window say; dimensions may be unknown */
    tw__volume volume; /* complete if all dimensions are known */
} tw__volume_case;

/* Reads and checks padding, data_format, strides and, where the op has them, dilations. */
tw_status tw__volume_read(tw__volume_case *of, const tw_op *op, const tw_attr *attrs);
/* The places of the window of volume.filter over an input of that shape, into `output` and `volume`. */
tw_status tw__volume_places(tw__volume_case *of, const tw_shape *input);
/* The shape that five integers say; unknown if `sizes` is NULL. */
tw_status tw__volume_sizes(const tw_op *op, const tw_tensor *sizes, const char *what, tw_shape *shape);
tw_status tw__volume_need_rank(const tw_op *op, const tw_shape *shape, const char *what);
/* The op with the attrs of the one that is derived that it has, too, but types. */
tw_tensor *tw__volume_call(const tw__gradient *g, const tw_op *op, tw_tensor *const *inputs, int count);

#endif
