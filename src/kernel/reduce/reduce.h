/* Reductions of arrays in C order over any set of axes. */
#ifndef TW_REDUCE_H
#define TW_REDUCE_H

#include "tensor/tensor.h"

typedef enum tw__reduction {
    TW__REDUCE_SUM,
    TW__REDUCE_MEAN,
    TW__REDUCE_PROD,
    TW__REDUCE_MAX,  /* of bool: any */
    TW__REDUCE_MIN,  /* of bool: all */
    TW__REDUCE_NORM, /* square root of the sum of squares of magnitudes */
} tw__reduction;

/* Reduces the axes whose bits are set. `out` has room for the product of the others. */
tw_status tw__reduce(tw__reduction kind, tw_dtype dtype, const void *data, const tw_shape *shape, unsigned axes, void *out);

/* The same of elements that are made as they are wanted, each once, and never lie in memory all together. Same bits. */
typedef struct tw__reduce_source {
    /* Elements at, at + 1, … of the array: where they lie, which is `room` unless they are kept elsewhere. From several threads
     * at once. */
    const void *(*make)(void *context, int64_t at, int64_t count, void *room);
    void *context;
    int64_t grain; /* elements that are worth a thread */
} tw__reduce_source;
tw_status tw__reduce_made(tw__reduction kind, tw_dtype dtype, const tw__reduce_source *source, const tw_shape *shape,
                          unsigned axes, void *out);

/* ---- what reduce.c and the tables of loops (reduce_loops.c) share ---- */
/* Rows are taken in blocks of this many elements, each in as many chains: results of blocks can be made apart and added up in
 * order. */
enum { TW_REDUCE_BLOCK = 4096, TW_REDUCE_LANES = 32 };

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
