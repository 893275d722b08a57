/* Loops of adam.h; several threads when there is much. */
#include <stdatomic.h>

#include "kernel/adam.h"

#include "kernel/simd.h"

enum {
    GRAIN = 4096,
    PIECE = 16384,   /* elements of a product's piece, most: 64 KB */
    STAYS = 1 << 18, /* elements up to which a variable and its moments stay in the threads' own caches from step to step: each
                        thread takes the same part every time */
    WIDEST = 2048,   /* columns of a piece, most: at least 8 rows, as many as a tile of the product has */
    DEEPEST = 384,   /* up to here gemm sums in one go, whatever the other sizes */
    PRODUCT_FROM = 8192, /* elements */
};

#define LOOPS(name, element, root)                                                                                       \
    TW_CLONES static void name(element *restrict w, element *restrict m, element *restrict v, const element *restrict g, \
                               int64_t n, element alpha, element rest_1, element rest_2, element epsilon)                \
    {                                                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                                                \
            m[i] += (g[i] - m[i]) * rest_1;                                                                              \
            v[i] += (g[i] * g[i] - v[i]) * rest_2;                                                                       \
            w[i] -= m[i] * alpha / (root(v[i]) + epsilon);                                                               \
        }                                                                                                                \
    }                                                                                                                    \
    TW_CLONES static void name##_largest(element *restrict w, element *restrict m, element *restrict v,                  \
                                         element *restrict largest, const element *restrict g, int64_t n, element alpha, \
                                         element rest_1, element rest_2, element epsilon)                                \
    {                                                                                                                    \
        for (int64_t i = 0; i < n; i++) {                                                                                \
            m[i] += (g[i] - m[i]) * rest_1;                                                                              \
            v[i] += (g[i] * g[i] - v[i]) * rest_2;                                                                       \
            largest[i] = largest[i] > v[i] ? largest[i] : v[i];                                                          \
            w[i] -= m[i] * alpha / (root(largest[i]) + epsilon);                                                         \
        }                                                                                                                \
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
    void *w = r->weight + offset, *m = r->first + offset, *v = r->second + offset,
         *largest = r->largest ? r->largest + offset : NULL;
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
    else if (count <= STAYS)
        tw__parallel(count, count / tw__thread_count() + 1, run_part, &r);
    else
        tw__parallel(count, GRAIN, run_part, &r);
}

/* ---- a gradient that is a product ---- */

typedef struct product_run {
    float *weight, *first, *second;
    int64_t rows, columns, depth, piece_rows, piece_columns, parts;
    tw__matrix a, b;
    const tw__adam *numbers;
    _Atomic int status;
} product_run;

static void run_rows(product_run *r, int64_t begin, int64_t end)
{
    const tw__adam *k = r->numbers;
    _Alignas(64) float piece[PIECE];
    for (int64_t row = begin; row < end; row += r->piece_rows) {
        int64_t rows = end - row < r->piece_rows ? end - row : r->piece_rows;
        for (int64_t column = 0; column < r->columns; column += r->piece_columns) {
            int64_t columns = r->columns - column < r->piece_columns ? r->columns - column : r->piece_columns;
            const float *a = (const float *)r->a.data + row * r->a.row, *b = (const float *)r->b.data + column * r->b.column;
            tw_status status =
                tw__gemm_float(rows, columns, r->depth, a, r->a.row, r->a.column, b, r->b.row, r->b.column, piece, columns);
            if (status != TW_OK) {
                atomic_store(&r->status, (int)status);
                return;
            }
            bool whole = columns == r->columns; /* rows lie one behind the other: one run over them all */
            int64_t count = whole ? rows * columns : columns;
            for (int64_t i = 0; i < (whole ? 1 : rows); i++) {
                int64_t at = (row + i) * r->columns + column;
                step_float(r->weight + at, r->first + at, r->second + at, piece + i * columns, count, (float)k->alpha,
                           (float)k->rest_1, (float)k->rest_2, (float)k->epsilon);
            }
        }
    }
}

static void run_strips(void *context, int64_t begin, int64_t end)
{
    product_run *r = context;
    run_rows(r, begin * r->piece_rows, end * r->piece_rows < r->rows ? end * r->piece_rows : r->rows);
}

/* Rows in eights, so that every part but the last has whole tiles. */
static void run_parts(void *context, int64_t begin, int64_t end)
{
    product_run *r = context;
    int64_t eights = (r->rows + 7) / 8;
    for (int64_t part = begin; part < end; part++) {
        int64_t row = eights * part / r->parts * 8, row_end = eights * (part + 1) / r->parts * 8;
        run_rows(r, row, row_end < r->rows ? row_end : r->rows);
    }
}

bool tw__adam_takes_product(int64_t rows, int64_t columns, int64_t depth, bool transpose_b)
{
    return !transpose_b && depth >= 1 && depth <= DEEPEST && rows >= 16 && columns >= 16 && rows * columns >= PRODUCT_FROM &&
           rows * depth + depth * columns <= rows * columns;
}

tw_status tw__adam_step_product(float *weight, float *first, float *second, int64_t rows, int64_t columns, int64_t depth,
                                tw__matrix a, tw__matrix b, const tw__adam *numbers)
{
    product_run r = { weight, first, second, rows, columns, depth, .a = a, .b = b, .numbers = numbers, .status = TW_OK };
    r.piece_columns = columns < WIDEST ? columns : WIDEST;
    r.piece_rows = PIECE / r.piece_columns / 8 * 8;
    r.parts = rows * columns * depth < GRAIN * 64 ? 1 : rows * columns <= STAYS ? tw__thread_count() : 0;
    int64_t strips = (rows + r.piece_rows - 1) / r.piece_rows;
    if (r.parts == 1)
        run_rows(&r, 0, rows);
    else if (r.parts)
        tw__parallel(r.parts, 1, run_parts, &r);
    else
        tw__parallel(strips, 1, run_strips, &r);
    tw_status status = (tw_status)atomic_load(&r.status);
    return status == TW_OK ? TW_OK : tw__fail(status, "Adam: the gradient, a product, failed");
}
