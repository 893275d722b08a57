/* Shared by the ops on ragged tensors: row splits, in which row i of a level goes from splits[i] to splits[i + 1] of the next
 * one. */
#ifndef TW_OP_RAGGED_H
#define TW_OP_RAGGED_H

#include "kernel/copy.h"
#include "op/op.h"

#define TW_RAGGED_LEVELS 16

typedef struct tw__levels {
    int count;
    int64_t *splits[TW_RAGGED_LEVELS]; /* for tw__levels_free */
    int64_t rows[TW_RAGGED_LEVELS];
} tw__levels;

/* Splits of int32 or int64 as int64; INVALID_ARGUMENT unless they begin with 0, do not decrease, and each level ends where the
 * next one does
 * (`values`: the rows below the last one). `levels` must be freed in any case. */
tw_status tw__levels_read(const tw_op *op, tw_tensor *const *splits, int count, int64_t values, tw__levels *levels);
/* Checks what is there already. */
tw_status tw__levels_check(const tw__levels *levels, int64_t values);
void tw__levels_free(tw__levels *levels);
/* A vector of splits of that dtype into an output. */
tw_status tw__splits_give(tw__kernel *kernel, int output, const int64_t *splits, int64_t count);
int64_t tw__row_elements(const tw_shape *shape); /* the product of all dimensions but the first */

/* ---- ragged tensors in variants (variant.c) ---- */
bool tw__is_ragged_variant(const tw_object *object);
/* Row splits, outermost first, then the values: how many; borrowed. */
int tw__ragged_variant_parts(const tw_object *object, tw_tensor *parts[TW_RAGGED_LEVELS + 1]);
tw_object *tw__ragged_variant_of(tw_tensor *const *parts, int count);

#endif
