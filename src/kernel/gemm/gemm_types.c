/* Products of the dtypes other than float32: rows of b added up, scaled by elements of a, which vectorises for every type. A
 * matrix whose rows are not contiguous, or that must be conjugated, is first copied to one that is; half and bfloat16 go through
 * the float product. */
#include "base/pause.h"
#include "kernel/gemm/gemm.h"
#include "kernel/simd.h"

enum { STRIP = 512, DEPTH = 64, WORK_PER_CHUNK = 1 << 17 };

typedef struct job {
    int64_t n, k;
    const void *a, *b; /* [m, k] and [k, n], contiguous */
    void *c;
    tw__stopper *stopper;
} job;

/* Integers are multiplied as unsigned ones: they wrap around. */
#define PRODUCT(name, type)                                                                         \
    static TW_CLONES void name(void *context, int64_t begin, int64_t end)                           \
    {                                                                                               \
        const job *of = context;                                                                    \
        int64_t n = of->n, k = of->k;                                                               \
        const type *a = of->a, *b = of->b;                                                          \
        type *c = of->c;                                                                            \
        memset(c + begin * n, 0, (size_t)((end - begin) * n) * sizeof *c);                          \
        for (int64_t strip = 0; strip < n; strip += STRIP) {                                        \
            int64_t width = n - strip < STRIP ? n - strip : STRIP;                                  \
            for (int64_t depth = 0; depth < k && !tw__stopper_asked(of->stopper); depth += DEPTH) { \
                int64_t depth_end = k - depth < DEPTH ? k : depth + DEPTH;                          \
                for (int64_t i = begin; i < end; i++) {                                             \
                    type *restrict to = c + i * n + strip;                                          \
                    for (int64_t p = depth; p < depth_end; p++) {                                   \
                        type x = a[i * k + p];                                                      \
                        const type *from = b + p * n + strip;                                       \
                        for (int64_t j = 0; j < width; j++)                                         \
                            to[j] = (type)(to[j] + x * from[j]);                                    \
                    }                                                                               \
                }                                                                                   \
            }                                                                                       \
        }                                                                                           \
    }

typedef _Complex float complex_float;
typedef _Complex double complex_double;
PRODUCT(product_8, uint8_t)
PRODUCT(product_32, uint32_t)
PRODUCT(product_64, uint64_t)
PRODUCT(product_double, double)
PRODUCT(product_complex_float, complex_float)
PRODUCT(product_complex_double, complex_double)

/* Of 16 bits the C rules would multiply as int, which can overflow. */
static TW_CLONES void product_16(void *context, int64_t begin, int64_t end)
{
    const job *of = context;
    const uint16_t *a = of->a, *b = of->b;
    uint16_t *c = of->c;
    memset(c + begin * of->n, 0, (size_t)((end - begin) * of->n) * sizeof *c);
    for (int64_t i = begin; i < end && !tw__stopper_asked(of->stopper); i++) {
        for (int64_t p = 0; p < of->k; p++) {
            uint32_t x = a[i * of->k + p];
            for (int64_t j = 0; j < of->n; j++)
                c[i * of->n + j] = (uint16_t)(c[i * of->n + j] + x * b[p * of->n + j]);
        }
    }
}

#define COPY(type)                                                                                     \
    for (int64_t i = 0; i < rows; i++) {                                                               \
        for (int64_t j = 0; j < columns; j++)                                                          \
            ((type *)to)[i * columns + j] = ((const type *)from.data)[i * from.row + j * from.column]; \
    }

static void copy_matrix(tw_dtype dtype, void *to, tw__matrix from, int64_t rows, int64_t columns)
{
    switch (tw__element_size(dtype)) {
    case 1:
        COPY(uint8_t)
        break;
    case 2:
        COPY(uint16_t)
        break;
    case 4:
        COPY(uint32_t)
        break;
    case 8:
        COPY(uint64_t)
        break;
    default:
        COPY(complex_double)
    }
    if (from.conjugate && dtype == TW_COMPLEX64) {
        for (int64_t i = 0; i < rows * columns; i++)
            ((complex_float *)to)[i] = conj(((complex_float *)to)[i]);
    } else if (from.conjugate && dtype == TW_COMPLEX128) {
        for (int64_t i = 0; i < rows * columns; i++)
            ((complex_double *)to)[i] = conj(((complex_double *)to)[i]);
    }
}

static tw_status product_of_halves(tw_dtype dtype, int64_t m, int64_t n, int64_t k, tw__matrix a, tw__matrix b, uint16_t *c)
{
    float (*widen)(uint16_t) = dtype == TW_FLOAT16 ? tw__half_to_float : tw__bfloat16_to_float;
    uint16_t (*narrow)(float) = dtype == TW_FLOAT16 ? tw__float_to_half : tw__float_to_bfloat16;
    tw__owned float *wide = tw__alloc((size_t)(m * k + k * n + m * n) * sizeof *wide);
    if (!wide)
        return tw__error_status();
    float *wide_b = wide + m * k, *wide_c = wide_b + k * n;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t p = 0; p < k; p++)
            wide[i * k + p] = widen(((const uint16_t *)a.data)[i * a.row + p * a.column]);
    }
    for (int64_t p = 0; p < k; p++) {
        for (int64_t j = 0; j < n; j++)
            wide_b[p * n + j] = widen(((const uint16_t *)b.data)[p * b.row + j * b.column]);
    }
    TW_TRY(tw__gemm_float(m, n, k, wide, k, 1, wide_b, n, 1, wide_c, n));
    for (int64_t i = 0; i < m * n; i++)
        c[i] = narrow(wide_c[i]);
    return TW_OK;
}

static void (*product_of(tw_dtype dtype))(void *, int64_t, int64_t)
{
    switch (dtype) {
    case TW_FLOAT64:
        return product_double;
    case TW_COMPLEX64:
        return product_complex_float;
    case TW_COMPLEX128:
        return product_complex_double;
    case TW_INT8:
    case TW_UINT8:
        return product_8;
    case TW_INT16:
    case TW_UINT16:
        return product_16;
    case TW_INT32:
    case TW_UINT32:
        return product_32;
    case TW_INT64:
    case TW_UINT64:
        return product_64;
    default:
        return NULL;
    }
}

tw_status tw__gemm(tw_dtype dtype, int64_t m, int64_t n, int64_t k, tw__matrix a, tw__matrix b, void *c)
{
    if (dtype == TW_FLOAT32)
        return tw__gemm_float(m, n, k, a.data, a.row, a.column, b.data, b.row, b.column, c, n);
    if (m <= 0 || n <= 0)
        return TW_OK;
    if (dtype == TW_FLOAT16 || dtype == TW_BFLOAT16)
        return product_of_halves(dtype, m, n, k, a, b, c);
    void (*body)(void *, int64_t, int64_t) = product_of(dtype);
    if (!body)
        return tw__fail(TW_UNIMPLEMENTED, "no matrix product of %s", tw_dtype_name(dtype));
    size_t size = tw__element_size(dtype);
    void *own_a = NULL, *own_b = NULL;
    tw_status status = TW_OK;
    if (a.column != 1 || a.row != k || a.conjugate) {
        if (!(own_a = tw__alloc((size_t)(m * k) * size)))
            status = tw__error_status();
        else
            copy_matrix(dtype, own_a, a, m, k);
    }
    bool done = status == TW_OK && dtype == TW_FLOAT64 && tw__gemm_double(m, n, k, own_a ? own_a : a.data, b, c, &status);
    if (!done && status == TW_OK && (b.column != 1 || b.row != n || b.conjugate)) {
        if (!(own_b = tw__alloc((size_t)(k * n) * size)))
            status = tw__error_status();
        else
            copy_matrix(dtype, own_b, b, k, n);
    }
    if (!done && status == TW_OK) {
        tw__stopper stopper;
        tw__stopper_begin(&stopper);
        job of = { n, k, own_a ? own_a : a.data, own_b ? own_b : b.data, c, &stopper };
        int64_t row_work = n * k > 0 ? n * k : 1, grain = WORK_PER_CHUNK / row_work + 1;
        if (m <= grain)
            body(&of, 0, m);
        else
            tw__parallel(m, grain, body, &of);
        status = tw__stopper_status(&stopper);
    }
    tw__free(own_a);
    tw__free(own_b);
    return status;
}

tw_status tw__gemm_then(tw_dtype dtype, int64_t m, int64_t n, int64_t k, tw__matrix a, tw__matrix b, void *c,
                        const tw__epilogue *then)
{
    if (dtype == TW_FLOAT32)
        return tw__gemm_float_then(m, n, k, a.data, a.row, a.column, b.data, b.row, b.column, c, n, then);
    TW_TRY(tw__gemm(dtype, m, n, k, a, b, c));
    if (then)
        tw__epilogue_run(then, dtype, c, m, n);
    return TW_OK;
}
