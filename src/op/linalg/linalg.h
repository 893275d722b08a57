/* Decompositions and solutions of small dense matrices, shared by the rows of linear algebra.
 *
 * Everything is computed in double (or complex double) on matrices in C order, whatever the tensors' dtype is: `tw__matrix_each`
 * widens the inputs, hands out matrix after matrix of the batch, and narrows the outputs. The numeric bodies are written once
 * (matrix_body.h) and compiled for real and for complex elements. */
#ifndef TW_LINALG_H
#define TW_LINALG_H

#include "base/pause.h"
#include "base/temps.h"
#include "op/gradient.h"
#include "op/op.h"

/* The numeric bodies, for one kind of elements. A function that needs room gets `work`, as many elements as it says. */
typedef struct tw__matrices {
    size_t element; /* bytes of one */
    /* a (n x n) becomes L below the diagonal (its own is 1) and U; row i of the product is row order[i] of a. False: a pivot is
     * zero. */
    bool (*lu)(void *a, int64_t n, int64_t *order, int *sign);
    /* b (n x k) becomes the solution of a x = b, or of a^H x = b; work: n k. */
    void (*lu_solve)(const void *lu, const int64_t *order, int64_t n, void *b, int64_t k, bool adjoint, void *work);
    /* The product of U's diagonal and the sign of the permutation as a sign (or phase) and the logarithm of its absolute value.
     */
    void (*lu_determinant)(const void *lu, int64_t n, int sign, void *phase, double *log);
    /* The lower factor of a, zeros above it; work: n. False: a is not positive definite. */
    bool (*cholesky)(void *a, int64_t n, void *work);
    void (*triangular_solve)(const void *a, int64_t n, bool lower, bool adjoint, void *b, int64_t k);
    /* a (m x n) becomes R; q (m x columns) gets that many columns of Q; work: 2 (m + n) + min(m, n). */
    void (*qr)(void *a, int64_t m, int64_t n, void *q, int64_t columns, void *work);
    /* Eigenvalues, ascending, and vectors (columns of v) of a Hermitian matrix whose lower triangle counts; work: 3 n. False: no
     * convergence. */
    bool (*eigh)(void *a, int64_t n, double *values, void *vectors, void *work);
    /* Singular values, descending; u (m x u_columns) and v (n x v_columns) may be NULL. False: no memory. */
    bool (*svd)(const void *a, int64_t m, int64_t n, double *values, void *u, int64_t u_columns, void *v, int64_t v_columns);
} tw__matrices;
extern const tw__matrices tw__real_matrices, tw__complex_matrices;

/* ---- stopping (batches.c) ---- */
/* The stopper of the kernel that the thread computes a matrix for, or NULL. Loops over rows ask whether it shall stop, and leave
 * the rest undone. */
extern _Thread_local tw__stopper *tw__matrix_stopper;
static inline bool tw__matrix_stopped(void)
{
    return tw__matrix_stopper && tw__stopper_asked(tw__matrix_stopper);
}

/* ---- batches (batches.c) ---- */
enum { TW_MATRIX_TENSORS = 3 };
typedef struct tw__matrix_job {
    const tw__matrices *of;
    const tw_op *op;
    const tw_attr *attrs;
    const tw_tensor *inputs[TW_MATRIX_TENSORS]; /* widened */
    tw_tensor *outputs[TW_MATRIX_TENSORS];      /* wide; the last two dimensions are a matrix's */
    int64_t rows, columns;                      /* of input 0 */
    /* One matrix of the batch, number `index`. A message if it fails, else NULL. */
    const char *(*run)(struct tw__matrix_job *job, int64_t index);
    int64_t matrices;
    _Atomic(const char *) failure;
    tw__stopper stopper;
} tw__matrix_job;
extern const char tw__matrix_no_memory[];
/* Runs `run` over the batch that input 0's leading dimensions are. Inputs of integer dtype stay as they are. */
tw_status tw__matrix_each(tw__kernel *kernel, const char *(*run)(tw__matrix_job *job, int64_t index));
/* The index-th block of `size` elements. */
void *tw__matrix_at(const tw_tensor *tensor, int64_t index, int64_t size);
/* The same tensor as another dtype, a new reference; it may be the tensor itself. */
tw_tensor *tw__kernel_cast(const tw_op *op, tw_tensor *tensor, tw_dtype dtype);

/* ---- shapes ---- */
tw_status tw__matrix_need(const tw__inference *inference, int input, bool square);
/* The shape of square matrices: a side tells the other. */
void tw__matrix_square(const tw_shape *in, tw_shape *out);
/* Leading dimensions of `in` with the dimensions a, b (-2: none) behind them. */
void tw__matrix_shape(const tw_shape *in, int64_t a, int64_t b, tw_shape *out);
int64_t tw__matrix_dim(const tw_shape *shape, int from_end); /* -1 if it is not known */

/* ---- compositions, left to t; NULL gives NULL (gradients.c) ---- */
tw_tensor *tw__mm(tw__temps *t, tw_tensor *a, tw_tensor *b, bool adjoint_a, bool adjoint_b);
tw_tensor *tw__adjoint(tw__temps *t, tw_tensor *a);
tw_tensor *tw__diag(tw__temps *t, tw_tensor *diagonal);
tw_tensor *tw__diag_part(tw__temps *t, tw_tensor *a);
tw_tensor *tw__set_diag(tw__temps *t, tw_tensor *a, tw_tensor *diagonal);
tw_tensor *tw__band(tw__temps *t, tw_tensor *a, int64_t lower, int64_t upper);
tw_tensor *tw__triangular(tw__temps *t, tw_tensor *a, tw_tensor *b, bool lower, bool adjoint);
tw_tensor *tw__solve(tw__temps *t, tw_tensor *a, tw_tensor *b, bool adjoint);
tw_tensor *tw__by_cholesky(tw__temps *t, tw_tensor *factor, tw_tensor *b); /* x of factor factor^H x = b */
tw_tensor *tw__eye_like(tw__temps *t, tw_tensor *a);                       /* identities of its shape */

#endif
