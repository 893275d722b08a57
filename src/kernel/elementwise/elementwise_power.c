/* Functions of two values that cost more than arithmetic: powers, logarithms with a factor, angles. */
#include "kernel/elementwise/loops.h"

/* By squaring, wrapping around. Negative exponents were ruled out before; 0 stands for them. */
static inline uint64_t power_of_integer(uint64_t base, int64_t exponent)
{
    uint64_t result = exponent < 0 ? 0 : 1;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result *= base;
        base *= base;
    }
    return result;
}

TW_REALS(TW_BINARY_LOOP, power, pow(a, b))
TW_INTEGERS(TW_BINARY_LOOP, power, power_of_integer((uint64_t)a, (int64_t)b))
TW_COMPLEXES(TW_BINARY_LOOP, power, pow(a, b))
const tw__binary tw__binary_power = { .loops = { TW_REAL_LOOPS(power), TW_INTEGER_LOOPS(power), TW_COMPLEX_LOOPS(power) },
                                      .slow = true };

TW_REALS(TW_BINARY_LOOP, xlogy, a == 0 ? (element)0 : a * log(b))
TW_COMPLEXES(TW_BINARY_LOOP, xlogy, a == 0 ? (element)0 : a * log(b))
const tw__binary tw__binary_xlogy = { .loops = { TW_REAL_LOOPS(xlogy), TW_COMPLEX_LOOPS(xlogy) }, .slow = true };

TW_REALS(TW_BINARY_LOOP, xlog1py, a == 0 ? (element)0 : a * log1p(b))
TW_COMPLEXES(TW_BINARY_LOOP, xlog1py, a == 0 ? (element)0 : a * log(1 + b))
const tw__binary tw__binary_xlog1py = { .loops = { TW_REAL_LOOPS(xlog1py), TW_COMPLEX_LOOPS(xlog1py) }, .slow = true };

TW_REALS(TW_BINARY_LOOP, atan2, atan2(a, b))
const tw__binary tw__binary_atan2 = { .loops = { TW_REAL_LOOPS(atan2) }, .slow = true };

TW_BINARY_LOOP(next_after, float, float, float, float, , nextafterf(a, b))
TW_BINARY_LOOP(next_after, double, double, double, double, , nextafter(a, b))
const tw__binary tw__binary_next_after = { .loops = { TW_REAL_LOOPS(next_after) }, .slow = true };
