/* Comparisons and logic: two values in, a bool out. */
#include "kernel/loops.h"

#define REALS(name, e)                                               \
    TW_BINARY_LOOP(name, float, float, float, bool, TW_CLONES, e)    \
    TW_BINARY_LOOP(name, double, double, double, bool, TW_CLONES, e)
#define INTEGERS(name, e)                                        \
    TW_BINARY_LOOP(name, int8, int8_t, int8_t, bool, , e)        \
    TW_BINARY_LOOP(name, int16, int16_t, int16_t, bool, , e)     \
    TW_BINARY_LOOP(name, int32, int32_t, int32_t, bool, , e)     \
    TW_BINARY_LOOP(name, int64, int64_t, int64_t, bool, , e)     \
    TW_BINARY_LOOP(name, uint8, uint8_t, uint8_t, bool, , e)     \
    TW_BINARY_LOOP(name, uint16, uint16_t, uint16_t, bool, , e)  \
    TW_BINARY_LOOP(name, uint32, uint32_t, uint32_t, bool, , e)  \
    TW_BINARY_LOOP(name, uint64, uint64_t, uint64_t, bool, , e)
#define COMPLEXES(name, e)                                                      \
    TW_BINARY_LOOP(name, complex64, float complex, float complex, bool, , e)    \
    TW_BINARY_LOOP(name, complex128, double complex, double complex, bool, , e)

REALS(equal, a == b)
INTEGERS(equal, a == b)
COMPLEXES(equal, a == b)
REALS(not_equal, a != b)
INTEGERS(not_equal, a != b)
COMPLEXES(not_equal, a != b)
/* Quantized numbers compare as the integers they are kept as. */
#define EQUALITY(name)                                                                                              \
    TW_REAL_LOOPS(name), TW_INTEGER_LOOPS(name), TW_COMPLEX_LOOPS(name), [TW_BOOL] = name##_uint8,                  \
        [TW_QINT8] = name##_int8, [TW_QUINT8] = name##_uint8, [TW_QINT16] = name##_int16, [TW_QUINT16] = name##_uint16, \
        [TW_QINT32] = name##_int32
const tw__binary tw__binary_equal = { .loops = { EQUALITY(equal) }, .gives_bool = true };
const tw__binary tw__binary_not_equal = { .loops = { EQUALITY(not_equal) }, .gives_bool = true };

#define ORDER(name, e)                                                                                     \
    REALS(name, e)                                                                                         \
    INTEGERS(name, e)                                                                                      \
    const tw__binary tw__binary_##name = { .loops = { TW_REAL_LOOPS(name), TW_INTEGER_LOOPS(name) }, .gives_bool = true };
ORDER(less, a < b)
ORDER(less_equal, a <= b)
ORDER(greater, a > b)
ORDER(greater_equal, a >= b)

TW_BINARY_LOOP(logical_and, bool, uint8_t, uint8_t, bool, , a & b)
TW_BINARY_LOOP(logical_or, bool, uint8_t, uint8_t, bool, , a | b)
const tw__binary tw__binary_logical_and = { .loops = { [TW_BOOL] = logical_and_bool }, .gives_bool = true };
const tw__binary tw__binary_logical_or = { .loops = { [TW_BOOL] = logical_or_bool }, .gives_bool = true };
