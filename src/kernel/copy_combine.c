/* Adding (subtracting, …) one array onto another: the inner loop of scattering and of segment sums. */
#include <complex.h>

#include "kernel/copy.h"

/* Loops of one dtype: `work` is what is calculated in, load and store go between it and an element. */
#define COMBINE(element, work, load, store)                                 \
    do {                                                                    \
        element *restrict t = to;                                           \
        const element *restrict f = from;                                   \
        switch (kind) {                                                     \
        case TW__COMBINE_ADD:                                               \
            for (int64_t i = 0; i < count; i++)                             \
                t[i] = (element)store((work)load(t[i]) + (work)load(f[i])); \
            return TW_OK;                                                   \
        case TW__COMBINE_SUB:                                               \
            for (int64_t i = 0; i < count; i++)                             \
                t[i] = (element)store((work)load(t[i]) - (work)load(f[i])); \
            return TW_OK;                                                   \
        case TW__COMBINE_MUL:                                               \
            for (int64_t i = 0; i < count; i++)                             \
                t[i] = (element)store((work)load(t[i]) * (work)load(f[i])); \
            return TW_OK;                                                   \
        default:                                                            \
            break;                                                          \
        }                                                                   \
    } while (0)

#define ORDER(element, load)                                  \
    do {                                                      \
        element *restrict t = to;                             \
        const element *restrict f = from;                     \
        if (kind == TW__COMBINE_MAX) {                        \
            for (int64_t i = 0; i < count; i++)               \
                t[i] = load(t[i]) < load(f[i]) ? f[i] : t[i]; \
        } else {                                              \
            for (int64_t i = 0; i < count; i++)               \
                t[i] = load(t[i]) > load(f[i]) ? f[i] : t[i]; \
        }                                                     \
        return TW_OK;                                         \
    } while (0)

tw_status tw__combine_elements(tw__combination kind, tw_dtype dtype, void *to, const void *from, int64_t count)
{
    bool arithmetic = kind != TW__COMBINE_MAX && kind != TW__COMBINE_MIN;
    switch (dtype) {
#define CASE(name, element, work, load, store)   \
    case name:                                   \
        if (arithmetic)                          \
            COMBINE(element, work, load, store); \
        else                                     \
            ORDER(element, load);                \
        break;
        TW_CASES_OF_REALS(CASE)
#undef CASE
    case TW_COMPLEX64:
        if (arithmetic)
            COMBINE(float complex, float complex, TW_SAME, TW_SAME);
        break;
    case TW_COMPLEX128:
        if (arithmetic)
            COMBINE(double complex, double complex, TW_SAME, TW_SAME);
        break;
    default:
        break;
    }
    return tw__fail(TW_UNIMPLEMENTED, "elements of dtype %s can't be added or compared", tw_dtype_name(dtype));
}
