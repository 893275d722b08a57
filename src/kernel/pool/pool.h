/* Pooling of images [batch, rows, columns, channels]: the maximum or the mean of windows. */
#ifndef TW_POOL_H
#define TW_POOL_H

#include "tensor/tensor.h"

/* Pairs are rows, columns. Windows are cut at the image's edge; padding counts for nothing. */
typedef struct tw__pool {
    int64_t batch, channels;
    int64_t in[2], out[2], window[2], stride[2], before[2];
} tw__pool;

/* Any real dtype. */
tw_status tw__max_pool(tw_dtype dtype, const tw__pool *pool, const void *input, void *output);
/* A window's gradient goes to the first of its elements that equals the output. */
tw_status tw__max_pool_grad(tw_dtype dtype, const tw__pool *pool, const void *input, const void *output, const void *gradient,
                            void *result);
/* The way back: result [as the output] takes the gradient [as the input] of the element that was chosen. */
tw_status tw__max_pool_grad_grad(tw_dtype dtype, const tw__pool *pool, const void *input, const void *output,
                                 const void *gradient, void *result);
/* Floats. */
tw_status tw__mean_pool(tw_dtype dtype, const tw__pool *pool, const void *input, void *output);
tw_status tw__mean_pool_grad(tw_dtype dtype, const tw__pool *pool, const void *gradient, void *result);

/* ---- the loops (pool_loops.c): windows in the rows [begin, end) of outputs, counted over the whole batch ---- */
typedef struct tw__pool_job {
    const tw__pool *pool;
    const void *input, *output, *gradient;
    void *result;
    bool apart; /* windows share no element: gradients are stored, not added */
} tw__pool_job;
typedef void tw__pool_loop(const tw__pool_job *job, int64_t begin, int64_t end);
typedef struct tw__pool_loops {
    tw__pool_loop *max, *max_grad, *max_grad_grad, *mean, *mean_grad;
} tw__pool_loops;
extern const tw__pool_loops tw__pool_table[TW_DTYPE_LIMIT];

#endif
