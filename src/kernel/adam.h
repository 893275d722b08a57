/* Keras's step of Adam as one pass over memory. The op ResourceApplyAdam rounds 1 - beta to the dtype before it is used; Keras
 * has it exactly, and after some hundred steps that shows. */
#ifndef TW_ADAM_H
#define TW_ADAM_H

#include "kernel/gemm/gemm.h"

typedef struct tw__adam {
    double alpha;                   /* rate · sqrt(1 - beta_2^t) / (1 - beta_1^t) */
    double rest_1, rest_2, epsilon; /* 1 - beta_1, 1 - beta_2 */
} tw__adam;

/* weight, first and second moment are changed; `largest` (amsgrad) may be NULL. float32 or float64. */
void tw__adam_step(tw_dtype dtype, void *weight, void *first, void *second, void *largest, const void *gradient, int64_t count,
                   const tw__adam *numbers);

/* The same for float32 with a gradient that is the product a · b, [rows, depth] · [depth, columns], and never lies in memory as a
 * whole: pieces of it are computed and used while they are in the cache. The bits are those of the product on its own followed by
 * tw__adam_step; that holds where tw__adam_takes_product says so: each element of the product is one sum over the whole depth. */
bool tw__adam_takes_product(int64_t rows, int64_t columns, int64_t depth, bool transpose_b);
tw_status tw__adam_step_product(float *weight, float *first, float *second, int64_t rows, int64_t columns, int64_t depth,
                                tw__matrix a, tw__matrix b, const tw__adam *numbers);

#endif
