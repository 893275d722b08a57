/* Selection between two values by a condition, with broadcasting of all three. */
#include "kernel/kernel.h"
#include "kernel/simd.h"

enum { GRAIN = 32768 };

typedef struct sixteen {
    uint64_t low, high;
} sixteen;

/* Rows: strides are 0 or 1. */
typedef void select_loop(const bool *condition, int64_t cs, const void *x, int64_t xs, const void *y, int64_t ys, void *z,
                         int64_t count);

/* The condition is read as a byte: of a bool the compiler makes no vectors. */
#define LOOP(name, type)                                                                                                  \
    static TW_CLONES void name(const bool *condition, int64_t cs, const void *xp, int64_t xs, const void *yp, int64_t ys, \
                               void *zp, int64_t count)                                                                   \
    {                                                                                                                     \
        const uint8_t *c = (const uint8_t *)condition;                                                                    \
        const type *x = xp, *y = yp;                                                                                      \
        type *z = zp;                                                                                                     \
        if (cs && xs && ys) {                                                                                             \
            TW_INDEPENDENT                                                                                                \
            for (int64_t i = 0; i < count; i++) {                                                                         \
                type a = x[i], b = y[i];                                                                                  \
                z[i] = c[i] ? a : b;                                                                                      \
            }                                                                                                             \
        } else if (cs && xs) {                                                                                            \
            type b = y[0];                                                                                                \
            TW_INDEPENDENT                                                                                                \
            for (int64_t i = 0; i < count; i++) {                                                                         \
                type a = x[i];                                                                                            \
                z[i] = c[i] ? a : b;                                                                                      \
            }                                                                                                             \
        } else if (cs && ys) {                                                                                            \
            type a = x[0];                                                                                                \
            TW_INDEPENDENT                                                                                                \
            for (int64_t i = 0; i < count; i++) {                                                                         \
                type b = y[i];                                                                                            \
                z[i] = c[i] ? a : b;                                                                                      \
            }                                                                                                             \
        } else {                                                                                                          \
            for (int64_t i = 0; i < count; i++)                                                                           \
                z[i] = c[i * cs] ? x[i * xs] : y[i * ys];                                                                 \
        }                                                                                                                 \
    }
LOOP(select_1, uint8_t)
LOOP(select_2, uint16_t)
LOOP(select_4, uint32_t)
LOOP(select_8, uint64_t)
LOOP(select_16, sixteen)

typedef struct select_run {
    select_loop *loop;
    size_t size;
    const bool *condition;
    const char *x, *y;
    char *z;
    tw__broadcast plan;
} select_run;

static void run_rows(void *context, int64_t begin, int64_t end)
{
    const select_run *r = context;
    const tw__broadcast *plan = &r->plan;
    int last = plan->rank - 1;
    int64_t length = plan->dims[last];
    for (int64_t i = begin; i < end; i++)
        r->loop(r->condition + tw__broadcast_offset(plan, 0, i), plan->strides[0][last],
                r->x + (size_t)tw__broadcast_offset(plan, 1, i) * r->size, plan->strides[1][last],
                r->y + (size_t)tw__broadcast_offset(plan, 2, i) * r->size, plan->strides[2][last],
                r->z + (size_t)(i * length) * r->size, length);
}

/* A single row, split among threads. */
static void run_flat(void *context, int64_t begin, int64_t end)
{
    const select_run *r = context;
    int64_t cs = r->plan.strides[0][0], xs = r->plan.strides[1][0], ys = r->plan.strides[2][0];
    r->loop(r->condition + begin * cs, cs, r->x + (size_t)(begin * xs) * r->size, xs, r->y + (size_t)(begin * ys) * r->size, ys,
            r->z + (size_t)begin * r->size, end - begin);
}

void tw__select_run(size_t element_size, const bool *condition, const tw_shape *condition_shape, const void *x,
                    const tw_shape *x_shape, const void *y, const tw_shape *y_shape, void *z, const tw_shape *z_shape)
{
    select_run r = { .size = element_size, .condition = condition, .x = x, .y = y, .z = z };
    r.loop = element_size == 1   ? select_1
             : element_size == 2 ? select_2
             : element_size == 4 ? select_4
             : element_size == 8 ? select_8
                                 : select_16;
    for (int i = 0; i < z_shape->rank; i++) {
        if (z_shape->dims[i] == 0)
            return;
    }
    tw__broadcast_plan(&r.plan, z_shape, (const tw_shape *const[]){ condition_shape, x_shape, y_shape }, 3);
    if (r.plan.rank == 1)
        tw__parallel(r.plan.dims[0], GRAIN, run_flat, &r);
    else
        tw__parallel(r.plan.rows, GRAIN / r.plan.dims[r.plan.rank - 1] + 1, run_rows, &r);
}
