/* Indexing as Python writes it: t[1, 2:5, ..., None, ::-1]. */
#ifndef TW_INDEX_H
#define TW_INDEX_H

#include "op/op.h"

typedef struct tw__index_item {
    enum {
        TW__INDEX_INT,      /* begin: takes the dimension away */
        TW__INDEX_SLICE,    /* begin:end:step, each of which may be missing */
        TW__INDEX_ELLIPSIS,
        TW__INDEX_NEW_AXIS,
        TW__INDEX_TENSOR    /* a scalar integer tensor: as an int */
    } kind;
    bool has_begin, has_end, has_step;
    int64_t begin, end, step;
    tw_tensor *tensor; /* borrowed */
} tw__index_item;

/* Composed of StridedSlice, so it is differentiable. NULL on failure. */
TW_API_FUNCTION tw_tensor *tw__index(tw_tensor *tensor, const tw__index_item *items, int count);

#endif
