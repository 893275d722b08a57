/* The bodies of elementwise loops: one macro for two inputs, one for one, instantiated per operation and dtype.
 * An expression sees the values a (and b), the type `element`, and `wide`, the unsigned type in which integers may overflow. */
#ifndef TW_LOOPS_H
#define TW_LOOPS_H

#include "kernel/kernel.h"
#include "kernel/simd.h"

#define TW_BINARY_LOOP(name, suffix, type, wide_type, result, clones, expression)                            \
    static clones void name##_##suffix(const void *xs, const void *ys, void *zs, int64_t count, tw__row row) \
    {                                                                                                        \
        typedef type element __attribute__((unused));                                                        \
        typedef wide_type wide __attribute__((unused));                                                      \
        const type *x = xs, *y = ys;                                                                         \
        result *z = zs;                                                                                      \
        if (row == TW_ROW_BOTH) {                                                                            \
            TW_INDEPENDENT                                                                                   \
            for (int64_t i = 0; i < count; i++) {                                                            \
                type a = x[i], b = y[i];                                                                     \
                z[i] = (result)(expression);                                                                 \
            }                                                                                                \
        } else if (row == TW_ROW_X_SCALAR) {                                                                 \
            type a = x[0];                                                                                   \
            TW_INDEPENDENT                                                                                   \
            for (int64_t i = 0; i < count; i++) {                                                            \
                type b = y[i];                                                                               \
                z[i] = (result)(expression);                                                                 \
            }                                                                                                \
        } else {                                                                                             \
            type b = y[0];                                                                                   \
            TW_INDEPENDENT                                                                                   \
            for (int64_t i = 0; i < count; i++) {                                                            \
                type a = x[i];                                                                               \
                z[i] = (result)(expression);                                                                 \
            }                                                                                                \
        }                                                                                                    \
    }

#define TW_UNARY_LOOP(name, suffix, type, wide_type, result, clones, expression) \
    static clones void name##_##suffix(const void *xs, void *ys, int64_t count)  \
    {                                                                            \
        typedef type element __attribute__((unused));                            \
        typedef wide_type wide __attribute__((unused));                          \
        const type *x = xs;                                                      \
        result *y = ys;                                                          \
        TW_INDEPENDENT                                                           \
        for (int64_t i = 0; i < count; i++) {                                    \
            type a = x[i];                                                       \
            y[i] = (result)(expression);                                         \
        }                                                                        \
    }

/* Dtype lists: L(…) once for each, with the loop's result type as the elements'. Dtypes that programs seldom compute with have
 * small loops. */
#define TW_REALS(L, name, e)                          \
    L(name, float, float, float, float, TW_CLONES, e) \
    L(name, double, double, double, double, TW_CLONES, e)
#define TW_SIGNED(L, name, e)                               \
    L(name, int8, int8_t, uint32_t, int8_t, , e)            \
    L(name, int16, int16_t, uint32_t, int16_t, TW_SMALL, e) \
    L(name, int32, int32_t, uint32_t, int32_t, , e)         \
    L(name, int64, int64_t, uint64_t, int64_t, , e)
#define TW_UNSIGNED(L, name, e)                                \
    L(name, uint8, uint8_t, uint32_t, uint8_t, , e)            \
    L(name, uint16, uint16_t, uint32_t, uint16_t, TW_SMALL, e) \
    L(name, uint32, uint32_t, uint32_t, uint32_t, TW_SMALL, e) \
    L(name, uint64, uint64_t, uint64_t, uint64_t, TW_SMALL, e)
#define TW_INTEGERS(L, name, e) TW_SIGNED(L, name, e) TW_UNSIGNED(L, name, e)
#define TW_COMPLEXES(L, name, e)                                                 \
    L(name, complex64, float complex, float complex, float complex, TW_SMALL, e) \
    L(name, complex128, double complex, double complex, double complex, TW_SMALL, e)

/* The same as entries of a table of loops. */
#define TW_REAL_LOOPS(name) [TW_FLOAT32] = name##_float, [TW_FLOAT64] = name##_double
#define TW_SIGNED_LOOPS(name) \
    [TW_INT8] = name##_int8, [TW_INT16] = name##_int16, [TW_INT32] = name##_int32, [TW_INT64] = name##_int64
#define TW_UNSIGNED_LOOPS(name) \
    [TW_UINT8] = name##_uint8, [TW_UINT16] = name##_uint16, [TW_UINT32] = name##_uint32, [TW_UINT64] = name##_uint64
#define TW_INTEGER_LOOPS(name) TW_SIGNED_LOOPS(name), TW_UNSIGNED_LOOPS(name)
/* The signed loops for both: where only the bits count, an integer's sign does not. */
#define TW_BITS_LOOPS(name)                                                                                  \
    TW_SIGNED_LOOPS(name), [TW_UINT8] = name##_int8, [TW_UINT16] = name##_int16, [TW_UINT32] = name##_int32, \
                           [TW_UINT64] = name##_int64
#define TW_COMPLEX_LOOPS(name) [TW_COMPLEX64] = name##_complex64, [TW_COMPLEX128] = name##_complex128

#endif
