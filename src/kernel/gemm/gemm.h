/* Matrix products. Matrices are given by a pointer and two strides counted in elements, so a transposed matrix is one with its
 * strides exchanged; the result is row-major and packed as `c_row` says.
 *
 * Each element of the result is one sum over k in a fixed order that depends on the sizes alone, not on the number of threads;
 * but for products of [2048 or more, 1024 or more] by as deep ones, which oneDNN (where it is there) computes if no thread would
 * be left without a band of 1024 rows. Among such numbers of threads the bits are the same, and among the others. */
#ifndef TW_GEMM_H
#define TW_GEMM_H

#include "kernel/gemm/epilogue.h"

typedef struct tw__matrix {
    const void *data;
    int64_t row, column; /* strides */
    bool conjugate;      /* of complex numbers */
} tw__matrix;

/* c = a · b for float32, vectorised: [m, k] · [k, n]. Spreads over threads when that pays. */
tw_status tw__gemm_float(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row, int64_t a_column, const float *b,
                         int64_t b_row, int64_t b_column, float *c, int64_t c_row);
/* The same, and then the epilogue (NULL: none). c_row is n if the epilogue has an activation. */
tw_status tw__gemm_float_then(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row, int64_t a_column, const float *b,
                              int64_t b_row, int64_t b_column, float *c, int64_t c_row, const tw__epilogue *then);

/* c[m, n] = a[m, k] b for doubles, a and c contiguous, by tiles in registers (gemm_double.c). False: not on this machine or for
 * so small a product. */
bool tw__gemm_double(int64_t m, int64_t n, int64_t k, const double *a, tw__matrix b, double *c, tw_status *status);
/* The same for every numeric dtype; half and bfloat16 sum in float. UNIMPLEMENTED for what can't be multiplied. */
tw_status tw__gemm(tw_dtype dtype, int64_t m, int64_t n, int64_t k, tw__matrix a, tw__matrix b, void *c);
tw_status tw__gemm_then(tw_dtype dtype, int64_t m, int64_t n, int64_t k, tw__matrix a, tw__matrix b, void *c,
                        const tw__epilogue *then);

/* ---- a matrix that many products use (gemm_packed.c) ---- */
/* b [k, n] by its strides, as the tiles read it; `packed` has room for tw__gemm_packed_size floats. */
size_t tw__gemm_packed_size(int64_t k, int64_t n);
void tw__gemm_pack_matrix(int64_t k, int64_t n, const float *b, int64_t b_row, int64_t b_column, float *packed);
/* c [m, n] += a [m, k] · b, in the calling thread; rows of a and c are contiguous. */
void tw__gemm_add_packed(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row, const float *packed, float *c,
                         int64_t c_row);

/* ---- the instruction sets (gemm_avx512.c, gemm_avx2.c, gemm_plain.c) ---- */
/* One tile of the result: `rows` x (`vectors` - 1 full vectors and `lanes` of the last). b's columns are contiguous. */
typedef void tw__gemm_tile(int64_t k, const float *a, int64_t a_row, int64_t a_column, const float *b, int64_t b_row, float *c,
                           int64_t c_row, int lanes, bool add);
enum { TW_GEMM_VECTORS = 3, TW_GEMM_ROWS = 12 };
typedef struct tw__gemm_kernels {
    int lanes;                                                                                    /* floats in a vector */
    void (*dots)(int64_t k, const float *x, const float *y, int64_t y_row, int rows, float *out); /* x · rows of y, up to 4 */
    int rows[TW_GEMM_VECTORS + 1];                                /* most rows of a tile, by its number of vectors */
    tw__gemm_tile *tiles[TW_GEMM_VECTORS + 1][TW_GEMM_ROWS + 1];  /* by vectors, then rows */
    tw__gemm_tile *narrow[TW_GEMM_VECTORS + 1][TW_GEMM_ROWS + 1]; /* the same for a last vector at most half full; NULL: none */
} tw__gemm_kernels;
extern const tw__gemm_kernels tw__gemm_plain;
#if defined(__x86_64__)
extern const tw__gemm_kernels tw__gemm_avx2, tw__gemm_avx512;
#endif
const tw__gemm_kernels *tw__gemm_best(void); /* for this machine */
/* to[p * width + j] = from[p * row + j * column] for p < deep, j < columns. */
void tw__gemm_pack(float *to, int64_t width, const float *from, int64_t row, int64_t column, int64_t deep, int64_t columns);

#endif
