/* Casts between all numeric dtypes, as TensorFlow's on x86: a float that an integer can't hold gives the smallest 32- or 64-bit
 * integer, of which the narrower types take the low bits. Complex numbers lose their imaginary part. Half and bfloat16 go through
 * float. */
#include "kernel/kernel.h"
#include "kernel/simd.h"

enum { GRAIN = 32768, TILE = 512 };

typedef void cast_loop(const void *x, void *y, int64_t count);

/* ---- one value ---- */

static inline int32_t to_int32_from_double(double a)
{
    return a > -2147483649.0 && a < 2147483648.0 ? (int32_t)a : INT32_MIN;
}

static inline int32_t to_int32_from_float(float a)
{
    return a >= -2147483648.0f && a < 2147483648.0f ? (int32_t)a : INT32_MIN;
}

static inline int64_t to_int64(double a)
{
    return a >= -0x1p63 && a < 0x1p63 ? (int64_t)a : INT64_MIN;
}

static inline uint64_t to_uint64(double a)
{
    return a >= 0x1p63 && a < 0x1p64 ? (uint64_t)a : (uint64_t)to_int64(a);
}

#define TO_INT32(a) _Generic((a), float : to_int32_from_float, default : to_int32_from_double)(a)

/* ---- loops: C(from, from_type, to, to_type, expression) ---- */

#define LOOP(from, from_type, to, to_type, clones, expression)                 \
    static clones void from##_to_##to(const void *xs, void *ys, int64_t count) \
    {                                                                          \
        const from_type *x = xs;                                               \
        to_type *y = ys;                                                       \
        TW_INDEPENDENT                                                         \
        for (int64_t i = 0; i < count; i++) {                                  \
            from_type a = x[i];                                                \
            y[i] = (to_type)(expression);                                      \
        }                                                                      \
    }

/* Float and double have their vectors where they are cast often; what concerns complex numbers and 16 bits is small. */
#define FROM_REAL(from, from_type, part, often, seldom)                         \
    LOOP(from, from_type, int8, int8_t, seldom, TO_INT32(part(a)))              \
    LOOP(from, from_type, int16, int16_t, seldom, TO_INT32(part(a)))            \
    LOOP(from, from_type, int32, int32_t, often, TO_INT32(part(a)))             \
    LOOP(from, from_type, int64, int64_t, seldom, to_int64((double)part(a)))    \
    LOOP(from, from_type, uint8, uint8_t, often, TO_INT32(part(a)))             \
    LOOP(from, from_type, uint16, uint16_t, seldom, TO_INT32(part(a)))          \
    LOOP(from, from_type, uint32, uint32_t, seldom, to_int64((double)part(a)))  \
    LOOP(from, from_type, uint64, uint64_t, seldom, to_uint64((double)part(a))) \
    LOOP(from, from_type, bool, uint8_t, seldom, part(a) != 0)                  \
    LOOP(from, from_type, float, float, TW_CLONES, part(a))                     \
    LOOP(from, from_type, double, double, TW_CLONES, part(a))

#define FROM_INTEGER(from, from_type, often)                     \
    LOOP(from, from_type, int8, int8_t, often, a)                \
    LOOP(from, from_type, int16, int16_t, TW_SMALL, a)           \
    LOOP(from, from_type, int32, int32_t, often, a)              \
    LOOP(from, from_type, int64, int64_t, often, a)              \
    LOOP(from, from_type, bool, uint8_t, often, a != 0)          \
    LOOP(from, from_type, float, float, TW_CLONES, a)            \
    LOOP(from, from_type, double, double, often, a)              \
    LOOP(from, from_type, complex64, float complex, TW_SMALL, a) \
    LOOP(from, from_type, complex128, double complex, TW_SMALL, a)

#define SELF(a) a
FROM_REAL(float, float, SELF, TW_CLONES, )
LOOP(float, float, complex64, float complex, , a)
LOOP(float, float, complex128, double complex, , a)
FROM_REAL(double, double, SELF, TW_CLONES, )
LOOP(double, double, complex64, float complex, , a)
LOOP(double, double, complex128, double complex, , a)
FROM_REAL(complex64, float complex, crealf, TW_SMALL, TW_SMALL)
LOOP(complex64, float complex, complex128, double complex, , a)
FROM_REAL(complex128, double complex, creal, TW_SMALL, TW_SMALL)
LOOP(complex128, double complex, complex64, float complex, , a)
FROM_INTEGER(int8, int8_t, )
FROM_INTEGER(int16, int16_t, TW_SMALL)
FROM_INTEGER(int32, int32_t, )
FROM_INTEGER(int64, int64_t, )
FROM_INTEGER(uint8, uint8_t, )
FROM_INTEGER(uint16, uint16_t, TW_SMALL)
FROM_INTEGER(uint32, uint32_t, TW_SMALL)
FROM_INTEGER(uint64, uint64_t, TW_SMALL)

/* Integers of one width have the same low bits, signed or not. */
#define REAL_ROW(from)                                                                                                        \
    {                                                                                                                         \
        [TW_INT8] = from##_to_int8, [TW_INT16] = from##_to_int16, [TW_INT32] = from##_to_int32, [TW_INT64] = from##_to_int64, \
        [TW_UINT8] = from##_to_uint8, [TW_UINT16] = from##_to_uint16, [TW_UINT32] = from##_to_uint32,                         \
        [TW_UINT64] = from##_to_uint64, [TW_BOOL] = from##_to_bool, [TW_FLOAT32] = from##_to_float,                           \
        [TW_FLOAT64] = from##_to_double, [TW_COMPLEX64] = from##_to_complex64, [TW_COMPLEX128] = from##_to_complex128         \
    }
#define INTEGER_ROW(from)                                                                                                     \
    {                                                                                                                         \
        [TW_INT8] = from##_to_int8, [TW_INT16] = from##_to_int16, [TW_INT32] = from##_to_int32, [TW_INT64] = from##_to_int64, \
        [TW_UINT8] = from##_to_int8, [TW_UINT16] = from##_to_int16, [TW_UINT32] = from##_to_int32,                            \
        [TW_UINT64] = from##_to_int64, [TW_BOOL] = from##_to_bool, [TW_FLOAT32] = from##_to_float,                            \
        [TW_FLOAT64] = from##_to_double, [TW_COMPLEX64] = from##_to_complex64, [TW_COMPLEX128] = from##_to_complex128         \
    }
#define complex64_to_complex64 NULL
#define complex128_to_complex128 NULL

static cast_loop *const loops[TW_DTYPE_LIMIT][TW_DTYPE_LIMIT] = {
    [TW_FLOAT32] = REAL_ROW(float),         [TW_FLOAT64] = REAL_ROW(double),   [TW_COMPLEX64] = REAL_ROW(complex64),
    [TW_COMPLEX128] = REAL_ROW(complex128), [TW_INT8] = INTEGER_ROW(int8),     [TW_INT16] = INTEGER_ROW(int16),
    [TW_INT32] = INTEGER_ROW(int32),        [TW_INT64] = INTEGER_ROW(int64),   [TW_UINT8] = INTEGER_ROW(uint8),
    [TW_UINT16] = INTEGER_ROW(uint16),      [TW_UINT32] = INTEGER_ROW(uint32), [TW_UINT64] = INTEGER_ROW(uint64),
    [TW_BOOL] = INTEGER_ROW(uint8),
};

/* ---- truncation: bits that the narrower float has no place for are cleared ---- */

static void clear_float_bits(float *values, int64_t count, int bits)
{
    for (int64_t i = 0; i < count; i++) {
        uint32_t word;
        memcpy(&word, values + i, sizeof word);
        word &= ~(((uint32_t)1 << bits) - 1);
        memcpy(values + i, &word, sizeof word);
    }
}

static void clear_double_bits(const double *values, double *to, int64_t count, int bits)
{
    for (int64_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, values + i, sizeof word);
        word &= ~(((uint64_t)1 << bits) - 1);
        memcpy(to + i, &word, sizeof word);
    }
}

/* ---- driver ---- */

static bool is_small_float(tw_dtype dtype)
{
    return dtype == TW_FLOAT16 || dtype == TW_BFLOAT16;
}

static tw_dtype computed(tw_dtype dtype)
{
    return is_small_float(dtype) ? TW_FLOAT32 : dtype;
}

bool tw__cast_has(tw_dtype from, tw_dtype to)
{
    return from == to || (tw__dtype_is_valid(from) && tw__dtype_is_valid(to) &&
                          (computed(from) == computed(to) || loops[computed(from)][computed(to)]));
}

typedef struct cast_run {
    tw_dtype from, to;
    const char *x;
    char *y;
    bool truncate;
} cast_run;

/* By way of float tiles: one side is a small float, or bits are to be cleared. */
static void run_tiles(const cast_run *r, int64_t begin, int64_t end)
{
    _Alignas(64) float values[TILE];
    _Alignas(64) double doubles[TILE];
    size_t size = tw__element_size(r->from), out_size = tw__element_size(r->to);
    int mantissa = r->to == TW_FLOAT16 ? 10 : r->to == TW_BFLOAT16 ? 7 : 23;
    for (int64_t i = begin; i < end; i += TILE) {
        int64_t n = end - i < TILE ? end - i : TILE;
        const char *x = r->x + (size_t)i * size;
        char *y = r->y + (size_t)i * out_size;
        if (is_small_float(r->from)) {
            tw__small_float_read(r->from, x, values, n);
        } else if (r->from == TW_FLOAT32) {
            memcpy(values, x, (size_t)n * sizeof *values);
        } else if (r->truncate && r->from == TW_FLOAT64) {
            clear_double_bits((const double *)(const void *)x, doubles, n, 52 - mantissa);
            double_to_float(doubles, values, n);
        } else {
            loops[r->from][TW_FLOAT32](x, values, n);
        }
        if (r->truncate && r->from == TW_FLOAT32 && mantissa < 23)
            clear_float_bits(values, n, 23 - mantissa);
        if (is_small_float(r->to))
            tw__small_float_write(r->to, values, y, n);
        else if (r->to == TW_FLOAT32)
            memcpy(y, values, (size_t)n * sizeof *values);
        else
            loops[TW_FLOAT32][r->to](values, y, n);
    }
}

static void run(void *context, int64_t begin, int64_t end)
{
    const cast_run *r = context;
    size_t size = tw__element_size(r->from);
    if (r->from == r->to)
        memcpy(r->y + (size_t)begin * size, r->x + (size_t)begin * size, (size_t)(end - begin) * size);
    else if (is_small_float(r->from) || is_small_float(r->to) || (r->truncate && r->from == TW_FLOAT64 && r->to == TW_FLOAT32))
        run_tiles(r, begin, end);
    else
        loops[r->from][r->to](r->x + (size_t)begin * size, r->y + (size_t)begin * tw__element_size(r->to), end - begin);
}

void tw__cast_run(tw_dtype from, tw_dtype to, const void *x, void *y, int64_t count, bool truncate)
{
    cast_run r = { from, to, x, y, truncate };
    if (count > 0)
        tw__parallel(count, GRAIN, run, &r);
}
