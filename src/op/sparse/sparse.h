/* Shared by the ops on sparse tensors. Such a tensor comes as three inputs: indices (a matrix of int64, a row for each value),
 * values (a vector) and the shape of the whole (a vector of int64). */
#ifndef TW_OP_SPARSE_H
#define TW_OP_SPARSE_H

#include "kernel/copy.h"
#include "op/gradient.h"
#include "op/op.h"

typedef struct tw__sparse {
    const int64_t *indices; /* count rows of `rank` */
    const int64_t *shape;
    const tw_tensor *values; /* NULL where there are none */
    int64_t count;
    int rank;
} tw__sparse;

/* The sparse tensor in three inputs of a kernel; INVALID_ARGUMENT if they do not fit together or an index lies outside. values <
 * 0: there are none. */
tw_status tw__sparse_read(tw__kernel *kernel, int indices, int values, int shape, tw__sparse *sparse);
/* INVALID_ARGUMENT if a row lies outside of the shape. */
tw_status tw__sparse_check(const tw__sparse *sparse);
/* INVALID_ARGUMENT unless the rows stand in order and none comes twice. */
tw_status tw__sparse_need_order(const tw__sparse *sparse);
int tw__sparse_compare(const int64_t *a, const int64_t *b, int rank);
/* The places 0 … count - 1 in the order of their rows; equal ones keep theirs. For tw__free. */
int64_t *tw__sparse_order(const int64_t *indices, int64_t count, int rank);
/* The shape as a tw_shape; UNIMPLEMENTED above TW_MAX_RANK, INVALID_ARGUMENT for sizes below zero. */
tw_status tw__sparse_shape(const tw_op *op, const tw__sparse *sparse, tw_shape *shape);
/* Shape functions: the three inputs from `first` on are a sparse tensor. */
tw_status tw__sparse_infer(tw__inference *inference, int indices, int values, int shape);
/* The element `at` of an array. */
static inline char *tw__element_at(const tw_tensor *tensor, int64_t at)
{
    return (char *)tensor->data + (size_t)at * tw__element_size(tensor->dtype);
}

/* The gradient of filling empty rows, by the op for it. (fill.c) */
tw_status tw__fill_rows_gradient(tw__gradient *g, const tw_op *op);

#endif
