/* What follows a product or a convolution in the same step: a number added to each column (channel), then a function of each
 * element.
 *
 * The bits are those of the separate ops: the finished sum plus the bias, rounded once, then the function. relu and relu6 are
 * applied while a piece of the result is still in the cache; other functions run over the whole result afterwards, because the
 * vector forms of libm's functions may round differently at the end of an array than inside it.
 *
 * tw__gemm_then, tw__gemm_float_then (gemm.h) and tw__conv_then (conv.h) take one. */
#ifndef TW_EPILOGUE_H
#define TW_EPILOGUE_H

#include "kernel/kernel.h"

typedef struct tw__epilogue {
    const void *bias;            /* as many as there are columns, of the result's dtype; NULL: none */
    const tw__unary *activation; /* that keeps the dtype, such as &tw__unary_relu; NULL: none */
} tw__epilogue;

/* In place, over out [rows, columns]; spreads over threads. */
void tw__epilogue_run(const tw__epilogue *then, tw_dtype dtype, void *out, int64_t rows, int64_t columns);

/* For kernels of float32: the part that may be applied to any piece of the result, and what is left for the whole (true:
 * something is). */
void tw__epilogue_piece(const tw__epilogue *then, float *out, int64_t rows, int64_t columns, int64_t row_stride,
                        int64_t first_column);
bool tw__epilogue_rest(const tw__epilogue *then);

#endif
