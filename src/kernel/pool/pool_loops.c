/* The loops of pooling, for every real dtype: see pool_body.h. */
#include <float.h>

#include "kernel/pool/pool.h"
#include "kernel/simd.h"

enum { BLOCK = 256, MOST_TAPS = 16 }; /* channels; elements of a window */

/* A window, cut at the image's edge: rows [y, y_end) and columns [x, x_end). */
typedef struct window {
    int64_t y, y_end, x, x_end;
} window;

static inline window window_at(const tw__pool *p, int64_t row, int64_t column)
{
    window w = { row * p->stride[0] - p->before[0], 0, column * p->stride[1] - p->before[1], 0 };
    w.y_end = w.y + p->window[0] < p->in[0] ? w.y + p->window[0] : p->in[0];
    w.x_end = w.x + p->window[1] < p->in[1] ? w.x + p->window[1] : p->in[1];
    w.y = w.y < 0 ? 0 : w.y;
    w.x = w.x < 0 ? 0 : w.x;
    return w;
}

#define MEANS
#define SPEED TW_CLONES
#define type float
#define lowest (-FLT_MAX)
#define NAME(loop) loop##_float
#include "kernel/pool/pool_body.h"
#undef type
#undef NAME
#undef lowest
#define type double
#define lowest (-DBL_MAX)
#define NAME(loop) loop##_double
#include "kernel/pool/pool_body.h"
#undef type
#undef NAME
#undef lowest
#undef MEANS
#undef SPEED

#define SPEED TW_SMALL
#define type int32_t
#define lowest INT32_MIN
#define NAME(loop) loop##_int32
#include "kernel/pool/pool_body.h"
#undef type
#undef NAME
#undef lowest
#define type int64_t
#define lowest INT64_MIN
#define NAME(loop) loop##_int64
#include "kernel/pool/pool_body.h"
#undef type
#undef NAME
#undef lowest
#define type int8_t
#define lowest INT8_MIN
#define NAME(loop) loop##_int8
#include "kernel/pool/pool_body.h"
#undef type
#undef NAME
#undef lowest
#define type int16_t
#define lowest INT16_MIN
#define NAME(loop) loop##_int16
#include "kernel/pool/pool_body.h"
#undef type
#undef NAME
#undef lowest
#define lowest 0
#define type uint8_t
#define NAME(loop) loop##_uint8
#include "kernel/pool/pool_body.h"
#undef type
#undef NAME
#define type uint16_t
#define NAME(loop) loop##_uint16
#include "kernel/pool/pool_body.h"
#undef type
#undef NAME
#define type uint32_t
#define NAME(loop) loop##_uint32
#include "kernel/pool/pool_body.h"
#undef type
#undef NAME
#define type uint64_t
#define NAME(loop) loop##_uint64
#include "kernel/pool/pool_body.h"
#undef type
#undef NAME
#undef lowest

#define LOOPS(suffix)                                                                               \
    {                                                                                               \
        .max = max_##suffix, .max_grad = max_grad_##suffix, .max_grad_grad = max_grad_grad_##suffix \
    }
#define FLOAT_LOOPS(suffix)                                                                                                 \
    {                                                                                                                       \
        .max = max_##suffix, .max_grad = max_grad_##suffix, .max_grad_grad = max_grad_grad_##suffix, .mean = mean_##suffix, \
        .mean_grad = mean_grad_##suffix                                                                                     \
    }
const tw__pool_loops tw__pool_table[TW_DTYPE_LIMIT] = {
    [TW_FLOAT32] = FLOAT_LOOPS(float), [TW_FLOAT64] = FLOAT_LOOPS(double), [TW_INT8] = LOOPS(int8),   [TW_INT16] = LOOPS(int16),
    [TW_INT32] = LOOPS(int32),         [TW_INT64] = LOOPS(int64),          [TW_UINT8] = LOOPS(uint8), [TW_UINT16] = LOOPS(uint16),
    [TW_UINT32] = LOOPS(uint32),       [TW_UINT64] = LOOPS(uint64),
};
