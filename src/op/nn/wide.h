/* Elements of any real dtype as doubles, and back, for kernels that are not worth loops of every dtype. */
#ifndef TW_OP_WIDE_H
#define TW_OP_WIDE_H

#include "kernel/kernel.h"

/* A copy, to be freed; NULL and an error if there is no memory. */
static inline double *tw__wide_read(const tw_tensor *x)
{
    double *values = tw__alloc_array((size_t)(x->count ? x->count : 1), sizeof *values);
    if (values && x->count)
        tw__cast_run(x->dtype, TW_FLOAT64, x->data, values, x->count, false);
    return values;
}

/* Zeros. */
static inline double *tw__wide_new(int64_t count)
{
    double *values = tw__alloc_array((size_t)(count ? count : 1), sizeof *values);
    if (values)
        memset(values, 0, (size_t)count * sizeof *values);
    return values;
}

static inline void tw__wide_write(tw_tensor *x, const double *values)
{
    if (x->count)
        tw__cast_run(TW_FLOAT64, x->dtype, values, x->data, x->count, false);
}

#endif
