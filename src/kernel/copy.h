/* Copying elements of any dtype between arrays with strides: the body of transposing, slicing, broadcasting, tiling, padding,
 * joining. */
#ifndef TW_COPY_H
#define TW_COPY_H

#include "tensor/tensor.h"

#define TW__WALK_RANK (2 * TW_MAX_RANK)

/* A nest of loops, outermost first. Strides are in elements and may be zero or negative. */
typedef struct tw__walk {
    int rank;
    int64_t dims[TW__WALK_RANK], to[TW__WALK_RANK], from[TW__WALK_RANK];
} tw__walk;

void tw__walk_add(tw__walk *walk, int64_t dim, int64_t to, int64_t from);
/* The strides of an array in C order. */
void tw__strides(const tw_shape *shape, int64_t *strides);
/* Copies element by element. Strings are duplicated and objects retained: their places in `to` must be cleared ones of a new
 * tensor. `to` may be written in any order and by several threads: places must differ. */
tw_status tw__copy_walk(tw_dtype dtype, void *to, const void *from, const tw__walk *walk);
/* `count` elements, contiguous. */
tw_status tw__copy_elements(tw_dtype dtype, void *to, const void *from, int64_t count);
/* `count` times the one element. */
tw_status tw__fill_elements(tw_dtype dtype, void *to, const void *element, int64_t count);

/* to[i] = to[i] ∘ from[i] for numbers (copy_combine.c). Integers go round at their size. */
typedef enum tw__combination {
    TW__COMBINE_ADD,
    TW__COMBINE_SUB,
    TW__COMBINE_MAX,
    TW__COMBINE_MIN,
    TW__COMBINE_MUL
} tw__combination;
tw_status tw__combine_elements(tw__combination kind, tw_dtype dtype, void *to, const void *from, int64_t count);

/* case_(dtype, element, what is calculated in, load, store) of the real numbers, where sums of integers go round at their size.
 */
#define TW_SAME(x) (x)
#define TW_CASES_OF_REALS(case_)                                                                                                \
    case_(TW_FLOAT32, float, float, TW_SAME, TW_SAME) case_(TW_FLOAT64, double, double, TW_SAME, TW_SAME)                       \
        case_(TW_FLOAT16, uint16_t, float, tw__half_to_float, tw__float_to_half)                                                \
            case_(TW_BFLOAT16, uint16_t, float, tw__bfloat16_to_float, tw__float_to_bfloat16)                                   \
                case_(TW_INT8, int8_t, uint32_t, TW_SAME, TW_SAME) case_(TW_UINT8, uint8_t, uint32_t, TW_SAME, TW_SAME)         \
                    case_(TW_INT16, int16_t, uint32_t, TW_SAME, TW_SAME) case_(TW_UINT16, uint16_t, uint32_t, TW_SAME, TW_SAME) \
                        case_(TW_INT32, int32_t, uint32_t, TW_SAME, TW_SAME)                                                    \
                            case_(TW_UINT32, uint32_t, uint32_t, TW_SAME, TW_SAME)                                              \
                                case_(TW_INT64, int64_t, uint64_t, TW_SAME, TW_SAME)                                            \
                                    case_(TW_UINT64, uint64_t, uint64_t, TW_SAME, TW_SAME)

#endif
