/* The table of reduction loops: reduce_dtype.h once per dtype. Integers sum and multiply modulo their size, as TensorFlow's do; a
 * mean of integers is taken in 64 bits and cut towards zero; half and bfloat16 run in float; a NaN wins every maximum and
 * minimum. */
#include "kernel/reduce/reduce.h"
#include "kernel/simd.h"

/* The one that is not a number, else the greater or lesser: two choices, each of which the compiler turns into a vector's. */
#define EXTREMES(type)                                \
    static inline type greater_##type(type a, type b) \
    {                                                 \
        type greater = b > a ? b : a;                 \
        return b != b ? b : greater;                  \
    }                                                 \
    static inline type less_##type(type a, type b)    \
    {                                                 \
        type less = b < a ? b : a;                    \
        return b != b ? b : less;                     \
    }
EXTREMES(float)
EXTREMES(double)

#define DTYPE float
#define ELEMENT_TYPE float
#define WORK float
#define SQUARES float
#define ORDER float
#define VALUE(e) (e)
#define RESULT(a) (a)
#define MEAN(a, n) ((a) / (float)(n))
#define ROOT(a) sqrtf(a)
#define SQUARE(e) ((e) * (e))
#define VECTORS TW_CLONES
#define HELPERS
#define ORDERED
#define LOWEST ((float)-INFINITY)
#define HIGHEST ((float)INFINITY)
#define RANK(e) (e)
#define UNRANK(a) (a)
#define GREATER(a, b) greater_float(a, b)
#define LESS(a, b) less_float(a, b)
#include "kernel/reduce/reduce_dtype.h"

#define DTYPE double
#define ELEMENT_TYPE double
#define WORK double
#define SQUARES double
#define ORDER double
#define VALUE(e) (e)
#define RESULT(a) (a)
#define MEAN(a, n) ((a) / (double)(n))
#define ROOT(a) sqrt(a)
#define SQUARE(e) ((e) * (e))
#define VECTORS TW_CLONES
#define HELPERS
#define ORDERED
#define LOWEST ((double)-INFINITY)
#define HIGHEST ((double)INFINITY)
#define RANK(e) (e)
#define UNRANK(a) (a)
#define GREATER(a, b) greater_double(a, b)
#define LESS(a, b) less_double(a, b)
#include "kernel/reduce/reduce_dtype.h"

#define DTYPE half
#define ELEMENT_TYPE uint16_t
#define WORK float
#define SQUARES float
#define ORDER float
#define VALUE(e) tw__half_to_float(e)
#define RESULT(a) tw__float_to_half(a)
#define MEAN(a, n) tw__float_to_half((a) / (float)(n))
#define ROOT(a) tw__float_to_half(sqrtf(a))
#define SQUARE(e) (tw__half_to_float(e) * tw__half_to_float(e))
#define VECTORS TW_SMALL
#define HELPERS TW_SMALL
#define ORDERED
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#define RANK(e) tw__half_to_float(e)
#define UNRANK(a) tw__float_to_half(a)
#define GREATER(a, b) greater_float(a, b)
#define LESS(a, b) less_float(a, b)
#include "kernel/reduce/reduce_dtype.h"

#define DTYPE bfloat16
#define ELEMENT_TYPE uint16_t
#define WORK float
#define SQUARES float
#define ORDER float
#define VALUE(e) tw__bfloat16_to_float(e)
#define RESULT(a) tw__float_to_bfloat16(a)
#define MEAN(a, n) tw__float_to_bfloat16((a) / (float)(n))
#define ROOT(a) tw__float_to_bfloat16(sqrtf(a))
#define SQUARE(e) (tw__bfloat16_to_float(e) * tw__bfloat16_to_float(e))
#define VECTORS TW_SMALL
#define HELPERS TW_SMALL
#define ORDERED
#define LOWEST (-INFINITY)
#define HIGHEST INFINITY
#define RANK(e) tw__bfloat16_to_float(e)
#define UNRANK(a) tw__float_to_bfloat16(a)
#define GREATER(a, b) greater_float(a, b)
#define LESS(a, b) less_float(a, b)
#include "kernel/reduce/reduce_dtype.h"

#define DTYPE int8
#define ELEMENT_TYPE int8_t
#define WORK uint32_t
#define MEAN_WORK uint64_t
#define SQUARES uint32_t
#define ORDER int8_t
#define VALUE(e) ((uint32_t)(e))
#define RESULT(a) ((int8_t)(a))
#define MEAN(a, n) ((n) ? (int8_t)((int64_t)(a) / (int64_t)(n)) : 0)
#define ROOT(a) ((int8_t)sqrt((double)(a)))
#define SQUARE(e) ((uint32_t)(e) * (uint32_t)(e))
#define VECTORS TW_SMALL
#define HELPERS TW_SMALL
#define ORDERED
#define LOWEST INT8_MIN
#define HIGHEST INT8_MAX
#define RANK(e) (e)
#define UNRANK(a) (a)
#define GREATER(a, b) ((b) > (a) ? (b) : (a))
#define LESS(a, b) ((b) < (a) ? (b) : (a))
#include "kernel/reduce/reduce_dtype.h"

#define DTYPE uint8
#define ELEMENT_TYPE uint8_t
#define WORK uint32_t
#define MEAN_WORK uint64_t
#define SQUARES uint32_t
#define ORDER uint8_t
#define VALUE(e) ((uint32_t)(e))
#define RESULT(a) ((uint8_t)(a))
#define MEAN(a, n) ((n) ? (uint8_t)((uint64_t)(a) / (uint64_t)(n)) : 0)
#define ROOT(a) ((uint8_t)sqrt((double)(a)))
#define SQUARE(e) ((uint32_t)(e) * (uint32_t)(e))
#define VECTORS TW_SMALL
#define HELPERS TW_SMALL
#define ORDER_VECTORS /* any and all are theirs */
#define ORDERED
#define LOWEST 0
#define HIGHEST UINT8_MAX
#define RANK(e) (e)
#define UNRANK(a) (a)
#define GREATER(a, b) ((b) > (a) ? (b) : (a))
#define LESS(a, b) ((b) < (a) ? (b) : (a))
#include "kernel/reduce/reduce_dtype.h"

#define DTYPE int16
#define ELEMENT_TYPE int16_t
#define WORK uint32_t
#define MEAN_WORK uint64_t
#define SQUARES uint32_t
#define ORDER int16_t
#define VALUE(e) ((uint32_t)(e))
#define RESULT(a) ((int16_t)(a))
#define MEAN(a, n) ((n) ? (int16_t)((int64_t)(a) / (int64_t)(n)) : 0)
#define ROOT(a) ((int16_t)sqrt((double)(a)))
#define SQUARE(e) ((uint32_t)(e) * (uint32_t)(e))
#define VECTORS TW_SMALL
#define HELPERS TW_SMALL
#define ORDERED
#define LOWEST INT16_MIN
#define HIGHEST INT16_MAX
#define RANK(e) (e)
#define UNRANK(a) (a)
#define GREATER(a, b) ((b) > (a) ? (b) : (a))
#define LESS(a, b) ((b) < (a) ? (b) : (a))
#include "kernel/reduce/reduce_dtype.h"

#define DTYPE uint16
#define ELEMENT_TYPE uint16_t
#define WORK uint32_t
#define MEAN_WORK uint64_t
#define SQUARES uint32_t
#define ORDER uint16_t
#define VALUE(e) ((uint32_t)(e))
#define RESULT(a) ((uint16_t)(a))
#define MEAN(a, n) ((n) ? (uint16_t)((uint64_t)(a) / (uint64_t)(n)) : 0)
#define ROOT(a) ((uint16_t)sqrt((double)(a)))
#define SQUARE(e) ((uint32_t)(e) * (uint32_t)(e))
#define VECTORS TW_SMALL
#define HELPERS TW_SMALL
#define ORDERED
#define LOWEST 0
#define HIGHEST UINT16_MAX
#define RANK(e) (e)
#define UNRANK(a) (a)
#define GREATER(a, b) ((b) > (a) ? (b) : (a))
#define LESS(a, b) ((b) < (a) ? (b) : (a))
#include "kernel/reduce/reduce_dtype.h"

#define DTYPE int32
#define ELEMENT_TYPE int32_t
#define WORK uint32_t
#define MEAN_WORK uint64_t
#define SQUARES uint32_t
#define ORDER int32_t
#define VALUE(e) ((uint32_t)(e))
#define RESULT(a) ((int32_t)(a))
#define MEAN(a, n) ((n) ? (int32_t)((int64_t)(a) / (int64_t)(n)) : 0)
#define ROOT(a) ((int32_t)sqrt((double)(a)))
#define SQUARE(e) ((uint32_t)(e) * (uint32_t)(e))
#define VECTORS
#define RARELY TW_SMALL
#define HELPERS
#define ORDERED
#define LOWEST INT32_MIN
#define HIGHEST INT32_MAX
#define RANK(e) (e)
#define UNRANK(a) (a)
#define GREATER(a, b) ((b) > (a) ? (b) : (a))
#define LESS(a, b) ((b) < (a) ? (b) : (a))
#include "kernel/reduce/reduce_dtype.h"

#define DTYPE uint32
#define ELEMENT_TYPE uint32_t
#define WORK uint32_t
#define MEAN_WORK uint64_t
#define SQUARES uint32_t
#define ORDER uint32_t
#define VALUE(e) ((uint32_t)(e))
#define RESULT(a) ((uint32_t)(a))
#define MEAN(a, n) ((n) ? (uint32_t)((uint64_t)(a) / (uint64_t)(n)) : 0)
#define ROOT(a) ((uint32_t)sqrt((double)(a)))
#define SQUARE(e) ((uint32_t)(e) * (uint32_t)(e))
#define VECTORS TW_SMALL
#define HELPERS TW_SMALL
#define ORDERED
#define LOWEST 0
#define HIGHEST UINT32_MAX
#define RANK(e) (e)
#define UNRANK(a) (a)
#define GREATER(a, b) ((b) > (a) ? (b) : (a))
#define LESS(a, b) ((b) < (a) ? (b) : (a))
#include "kernel/reduce/reduce_dtype.h"

#define DTYPE int64
#define ELEMENT_TYPE int64_t
#define WORK uint64_t
#define SQUARES uint64_t
#define ORDER int64_t
#define VALUE(e) ((uint64_t)(e))
#define RESULT(a) ((int64_t)(a))
#define MEAN(a, n) ((n) ? (int64_t)((int64_t)(a) / (int64_t)(n)) : 0)
#define ROOT(a) ((int64_t)sqrt((double)(a)))
#define SQUARE(e) ((uint64_t)(e) * (uint64_t)(e))
#define VECTORS
#define RARELY TW_SMALL
#define HELPERS
#define ORDERED
#define LOWEST INT64_MIN
#define HIGHEST INT64_MAX
#define RANK(e) (e)
#define UNRANK(a) (a)
#define GREATER(a, b) ((b) > (a) ? (b) : (a))
#define LESS(a, b) ((b) < (a) ? (b) : (a))
#include "kernel/reduce/reduce_dtype.h"

#define DTYPE uint64
#define ELEMENT_TYPE uint64_t
#define WORK uint64_t
#define SQUARES uint64_t
#define ORDER uint64_t
#define VALUE(e) ((uint64_t)(e))
#define RESULT(a) ((uint64_t)(a))
#define MEAN(a, n) ((n) ? (uint64_t)((uint64_t)(a) / (uint64_t)(n)) : 0)
#define ROOT(a) ((uint64_t)sqrt((double)(a)))
#define SQUARE(e) ((uint64_t)(e) * (uint64_t)(e))
#define VECTORS TW_SMALL
#define HELPERS TW_SMALL
#define ORDERED
#define LOWEST 0
#define HIGHEST UINT64_MAX
#define RANK(e) (e)
#define UNRANK(a) (a)
#define GREATER(a, b) ((b) > (a) ? (b) : (a))
#define LESS(a, b) ((b) < (a) ? (b) : (a))
#include "kernel/reduce/reduce_dtype.h"

#define DTYPE complex64
#define ELEMENT_TYPE float complex
#define WORK float complex
#define SQUARES float
#define VALUE(e) (e)
#define RESULT(a) (a)
#define MEAN(a, n) ((a) / (float)(n))
#define ROOT(a) sqrtf(a)
#define SQUARE(e) (crealf(e) * crealf(e) + cimagf(e) * cimagf(e))
#define VECTORS TW_SMALL
#define HELPERS TW_SMALL
#include "kernel/reduce/reduce_dtype.h"

#define DTYPE complex128
#define ELEMENT_TYPE double complex
#define WORK double complex
#define SQUARES double
#define VALUE(e) (e)
#define RESULT(a) (a)
#define MEAN(a, n) ((a) / (double)(n))
#define ROOT(a) sqrt(a)
#define SQUARE(e) (creal(e) * creal(e) + cimag(e) * cimag(e))
#define VECTORS TW_SMALL
#define HELPERS TW_SMALL
#include "kernel/reduce/reduce_dtype.h"

const tw__reducer *tw__reducer_find(tw__reduction kind, tw_dtype dtype)
{
    static const tw__reducer *const *const table[TW_DTYPE_LIMIT] = {
        [TW_FLOAT32] = reducers_of_float,       [TW_FLOAT64] = reducers_of_double,
        [TW_FLOAT16] = reducers_of_half,        [TW_BFLOAT16] = reducers_of_bfloat16,
        [TW_INT8] = reducers_of_int8,           [TW_UINT8] = reducers_of_uint8,
        [TW_INT16] = reducers_of_int16,         [TW_UINT16] = reducers_of_uint16,
        [TW_INT32] = reducers_of_int32,         [TW_UINT32] = reducers_of_uint32,
        [TW_INT64] = reducers_of_int64,         [TW_UINT64] = reducers_of_uint64,
        [TW_COMPLEX64] = reducers_of_complex64, [TW_COMPLEX128] = reducers_of_complex128,
        [TW_BOOL] = reducers_of_uint8,
    };
    bool ordered = kind == TW__REDUCE_MAX || kind == TW__REDUCE_MIN;
    if ((unsigned)dtype >= TW_DTYPE_LIMIT || !table[dtype] || (ordered && tw__dtype_is_complex(dtype)) ||
        (!ordered && dtype == TW_BOOL))
        return NULL;
    return table[dtype][kind];
}
