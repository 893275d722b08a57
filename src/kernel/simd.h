/* How hot loops are compiled: clones per instruction set chosen at start, loops without dependences, and libm's functions
 * with their vector forms (libmvec) where the compiler knows them. Include it instead of <math.h>; the functions are
 * type-generic. */
#ifndef TW_SIMD_H
#define TW_SIMD_H

#include <complex.h>
#include <math.h>
#include <stdint.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define TW_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TW_CLONES
#endif

/* Loops that are seldom run are kept short: unrolled vectors of all of them would be half a megabyte. */
#if defined(__GNUC__) && !defined(__clang__)
#define TW_SMALL __attribute__((optimize("Os")))
#else
#define TW_SMALL
#endif

/* The loop's turns don't depend on each other: an output is one of the inputs' memory exactly, or none of it. */
#if defined(__clang__)
#define TW_INDEPENDENT /* clang finds out at run time */
#else
#define TW_INDEPENDENT _Pragma("GCC ivdep")
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
#define TW_VECTOR_1(name)                                             \
    extern __attribute__((simd("notinbranch"))) float name##f(float); \
    extern __attribute__((simd("notinbranch"))) double name(double);
#define TW_VECTOR_2(name)                                                    \
    extern __attribute__((simd("notinbranch"))) float name##f(float, float); \
    extern __attribute__((simd("notinbranch"))) double name(double, double);
TW_VECTOR_1(exp)
TW_VECTOR_1(expm1)
TW_VECTOR_1(log)
TW_VECTOR_1(log1p)
TW_VECTOR_1(sin)
TW_VECTOR_1(cos)
TW_VECTOR_1(tan)
TW_VECTOR_1(asin)
TW_VECTOR_1(acos)
TW_VECTOR_1(atan)
TW_VECTOR_1(sinh)
TW_VECTOR_1(cosh)
TW_VECTOR_1(asinh)
TW_VECTOR_1(acosh)
TW_VECTOR_1(atanh)
TW_VECTOR_1(tanh)
TW_VECTOR_1(erf)
TW_VECTOR_1(erfc)
TW_VECTOR_2(pow)
TW_VECTOR_2(atan2)
#endif
#endif

#include <tgmath.h>
#undef I

#endif
