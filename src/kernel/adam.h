/* Keras's step of Adam as one pass over memory. The op ResourceApplyAdam rounds 1 - beta to the dtype before it is used; Keras has it exactly,
 * and after some hundred steps that shows. */
#ifndef TW_ADAM_H
#define TW_ADAM_H

#include "tensor/tensor.h"

typedef struct tw__adam {
    double alpha;                   /* rate · sqrt(1 - beta_2^t) / (1 - beta_1^t) */
    double rest_1, rest_2, epsilon; /* 1 - beta_1, 1 - beta_2 */
} tw__adam;

/* weight, first and second moment are changed; `largest` (amsgrad) may be NULL. float32 or float64. */
void tw__adam_step(tw_dtype dtype, void *weight, void *first, void *second, void *largest, const void *gradient, int64_t count,
                   const tw__adam *numbers);

#endif
