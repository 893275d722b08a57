/* Comparisons and logic: two values in, a bool out. */
#include "kernel/elementwise/loops.h"

#define REALS(name, e)                                            \
    TW_BINARY_LOOP(name, float, float, float, bool, TW_CLONES, e) \
    TW_BINARY_LOOP(name, double, double, double, bool, TW_CLONES, e)
#define SIGNED(name, e)                                              \
    TW_BINARY_LOOP(name, int8, int8_t, int8_t, bool, , e)            \
    TW_BINARY_LOOP(name, int16, int16_t, int16_t, bool, TW_SMALL, e) \
    TW_BINARY_LOOP(name, int32, int32_t, int32_t, bool, , e)         \
    TW_BINARY_LOOP(name, int64, int64_t, int64_t, bool, , e)
#define UNSIGNED(name, e)                                               \
    TW_BINARY_LOOP(name, uint8, uint8_t, uint8_t, bool, , e)            \
    TW_BINARY_LOOP(name, uint16, uint16_t, uint16_t, bool, TW_SMALL, e) \
    TW_BINARY_LOOP(name, uint32, uint32_t, uint32_t, bool, TW_SMALL, e) \
    TW_BINARY_LOOP(name, uint64, uint64_t, uint64_t, bool, TW_SMALL, e)
#define COMPLEXES(name, e)                                                           \
    TW_BINARY_LOOP(name, complex64, float complex, float complex, bool, TW_SMALL, e) \
    TW_BINARY_LOOP(name, complex128, double complex, double complex, bool, TW_SMALL, e)

REALS(equal, a == b)
SIGNED(equal, a == b)
COMPLEXES(equal, a == b)
REALS(not_equal, a != b)
SIGNED(not_equal, a != b)
COMPLEXES(not_equal, a != b)
/* Quantized numbers compare as the integers they are kept as. */
#define EQUALITY(name)                                                                                        \
    TW_REAL_LOOPS(name), TW_BITS_LOOPS(name),                                                                 \
        TW_COMPLEX_LOOPS(name), [TW_BOOL] = name##_int8, [TW_QINT8] = name##_int8, [TW_QUINT8] = name##_int8, \
                                [TW_QINT16] = name##_int16, [TW_QUINT16] = name##_int16, [TW_QINT32] = name##_int32
const tw__binary tw__binary_equal = { .loops = { EQUALITY(equal) }, .gives_bool = true };
const tw__binary tw__binary_not_equal = { .loops = { EQUALITY(not_equal) }, .gives_bool = true };

/* a > b is b < a: the loops of one with their inputs changed over. */
#define REVERSED(name, other, suffix)                                                                                           \
    static TW_SMALL void other##_##suffix(const void *x, const void *y, void *z, int64_t count, tw__row row)                    \
    {                                                                                                                           \
        name##_##suffix(y, x, z, count, row == TW_ROW_BOTH ? row : row == TW_ROW_X_SCALAR ? TW_ROW_Y_SCALAR : TW_ROW_X_SCALAR); \
    }
#define ORDER(name, other, e)                                                                                              \
    REALS(name, e)                                                                                                         \
    SIGNED(name, e)                                                                                                        \
    UNSIGNED(name, e)                                                                                                      \
    REVERSED(name, other, float)                                                                                           \
    REVERSED(name, other, double)                                                                                          \
    REVERSED(name, other, int8)                                                                                            \
    REVERSED(name, other, int16)                                                                                           \
    REVERSED(name, other, int32)                                                                                           \
    REVERSED(name, other, int64)                                                                                           \
    REVERSED(name, other, uint8)                                                                                           \
    REVERSED(name, other, uint16)                                                                                          \
    REVERSED(name, other, uint32)                                                                                          \
    REVERSED(name, other, uint64)                                                                                          \
    const tw__binary tw__binary_##name = { .loops = { TW_REAL_LOOPS(name), TW_INTEGER_LOOPS(name) }, .gives_bool = true }; \
    const tw__binary tw__binary_##other = { .loops = { TW_REAL_LOOPS(other), TW_INTEGER_LOOPS(other) }, .gives_bool = true };
ORDER(less, greater, a < b)
ORDER(less_equal, greater_equal, a <= b)

TW_BINARY_LOOP(logical_and, bool, uint8_t, uint8_t, bool, , a &b)
TW_BINARY_LOOP(logical_or, bool, uint8_t, uint8_t, bool, , a | b)
const tw__binary tw__binary_logical_and = { .loops = { [TW_BOOL] = logical_and_bool }, .gives_bool = true };
const tw__binary tw__binary_logical_or = { .loops = { [TW_BOOL] = logical_or_bool }, .gives_bool = true };
