/* Loops of adam.h; several threads when there is much. */
#include "kernel/adam.h"

#include "kernel/simd.h"

enum { GRAIN = 16384 };

#define LOOPS(name, element, root)                                                                                                       \
    TW_CLONES static void name(element *restrict w, element *restrict m, element *restrict v, const element *restrict g, int64_t n,     \
                               element alpha, element rest_1, element rest_2, element epsilon)                                          \
    {                                                                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                                                                \
            m[i] += (g[i] - m[i]) * rest_1;                                                                                              \
            v[i] += (g[i] * g[i] - v[i]) * rest_2;                                                                                       \
            w[i] -= m[i] * alpha / (root(v[i]) + epsilon);                                                                               \
        }                                                                                                                                \
    }                                                                                                                                    \
    TW_CLONES static void name##_largest(element *restrict w, element *restrict m, element *restrict v, element *restrict largest,      \
                                         const element *restrict g, int64_t n, element alpha, element rest_1, element rest_2,           \
                                         element epsilon)                                                                                \
    {                                                                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                                                                \
            m[i] += (g[i] - m[i]) * rest_1;                                                                                              \
            v[i] += (g[i] * g[i] - v[i]) * rest_2;                                                                                       \
            largest[i] = largest[i] > v[i] ? largest[i] : v[i];                                                                          \
            w[i] -= m[i] * alpha / (root(largest[i]) + epsilon);                                                                         \
        }                                                                                                                                \
    }
LOOPS(step_float, float, __builtin_sqrtf)
LOOPS(step_double, double, __builtin_sqrt)

typedef struct run {
    tw_dtype dtype;
    char *weight, *first, *second, *largest;
    const char *gradient;
    const tw__adam *numbers;
} run;

static void run_part(void *context, int64_t begin, int64_t end)
{
    const run *r = context;
    const tw__adam *k = r->numbers;
    size_t offset = (size_t)begin * tw_dtype_size(r->dtype);
    void *w = r->weight + offset, *m = r->first + offset, *v = r->second + offset, *largest = r->largest ? r->largest + offset : NULL;
    const void *g = r->gradient + offset;
    int64_t n = end - begin;
    if (r->dtype == TW_FLOAT32 && !largest)
        step_float(w, m, v, g, n, (float)k->alpha, (float)k->rest_1, (float)k->rest_2, (float)k->epsilon);
    else if (r->dtype == TW_FLOAT32)
        step_float_largest(w, m, v, largest, g, n, (float)k->alpha, (float)k->rest_1, (float)k->rest_2, (float)k->epsilon);
    else if (!largest)
        step_double(w, m, v, g, n, k->alpha, k->rest_1, k->rest_2, k->epsilon);
    else
        step_double_largest(w, m, v, largest, g, n, k->alpha, k->rest_1, k->rest_2, k->epsilon);
}

void tw__adam_step(tw_dtype dtype, void *weight, void *first, void *second, void *largest, const void *gradient, int64_t count,
                   const tw__adam *numbers)
{
    run r = { dtype, weight, first, second, largest, gradient, numbers };
    if (count <= GRAIN)
        run_part(&r, 0, count);
    else
        tw__parallel(count, GRAIN, run_part, &r);
}
