/* Reductions of arrays in C order over any set of axes. */
#ifndef TW_REDUCE_H
#define TW_REDUCE_H

#include "tensor/tensor.h"

typedef enum tw__reduction {
    TW__REDUCE_SUM,
    TW__REDUCE_MEAN,
    TW__REDUCE_PROD,
    TW__REDUCE_MAX, /* of bool: any */
    TW__REDUCE_MIN, /* of bool: all */
    TW__REDUCE_NORM, /* square root of the sum of squares of magnitudes */
} tw__reduction;

/* Reduces the axes whose bits are set. `out` has room for the product of the others. */
tw_status tw__reduce(tw__reduction kind, tw_dtype dtype, const void *data, const tw_shape *shape, unsigned axes, void *out);

/* ---- what reduce.c and the tables of loops (reduce_loops.c) share ---- */
/* Loops over one dtype and reduction. An accumulator may be wider than an element. */
typedef struct tw__reducer {
    size_t element, accumulator; /* bytes */
    void (*start)(void *accumulators, int64_t count);
    /* accumulators[r] takes in the `size` elements of row r; rows are `stride` elements apart */
    void (*rows)(void *accumulators, const void *data, int64_t rows, int64_t stride, int64_t size);
    /* accumulators[j] takes in element j of each row */
    void (*columns)(void *accumulators, const void *data, int64_t rows, int64_t stride, int64_t size);
    void (*merge)(void *accumulators, const void *others, int64_t count);
    /* `reduced` elements went into each accumulator */
    void (*finish)(void *out, const void *accumulators, int64_t count, int64_t reduced);
} tw__reducer;
const tw__reducer *tw__reducer_find(tw__reduction kind, tw_dtype dtype); /* NULL: there is none */

#endif
