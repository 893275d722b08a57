/* The cross-entropies of logits, for the planner. */
#ifndef TW_OP_CROSS_ENTROPY_H
#define TW_OP_CROSS_ENTROPY_H

#include "op/op.h"

/* SparseSoftmaxCrossEntropyWithLogits or SoftmaxCrossEntropyWithLogits of float or double, whose second output is multiplied by
 * the factors: one per row, or one. */
tw_status tw__cross_entropy_scaled(tw__kernel *kernel, const tw_tensor *factors);

#endif
