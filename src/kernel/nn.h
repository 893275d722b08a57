/* Inner loops of neural networks: activations and softmax with its losses. */
#ifndef TW_NN_H
#define TW_NN_H

#include "kernel/kernel.h"

/* ---- activations (activation.c); most are loops that the rows of their ops declare ---- */
/* x > 0 ? x : alpha x, and its gradient. */
void tw__leaky_relu(tw_dtype dtype, double alpha, const void *x, void *y, int64_t count);
void tw__leaky_relu_grad(tw_dtype dtype, double alpha, const void *gradients, const void *features, void *y, int64_t count);

/* ---- softmax (softmax.c), of half, bfloat16, float and double ---- */
/* out [rows, columns] = softmax of each row, or its logarithm. */
tw_status tw__softmax(tw_dtype dtype, const void *logits, void *out, int64_t rows, int64_t columns, bool logarithm);
/* What rows of a derivative are multiplied by, right when they are made: numbers of its dtype, one per row or one for all. float
 * and double only. */
typedef struct tw__row_factors {
    const void *data;
    bool single;
} tw__row_factors;
/* loss [rows] and its derivative by the logits, `backprop` [rows, columns], times `factors` unless that is NULL. Labels are
 * probabilities [rows, columns]. */
tw_status tw__cross_entropy(tw_dtype dtype, const void *logits, const void *labels, void *loss, void *backprop, int64_t rows,
                            int64_t columns, const tw__row_factors *factors);
/* The same with one right class per row; the labels are known to lie in range. */
tw_status tw__sparse_cross_entropy(tw_dtype dtype, const void *logits, tw_dtype label_dtype, const void *labels, void *loss,
                                   void *backprop, int64_t rows, int64_t columns, const tw__row_factors *factors);

#endif
