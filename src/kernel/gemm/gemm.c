/* The float product: splits [m, n] over threads, cuts each part into tiles, packs what would be slow to read in place.
 *
 * The order of loops, outermost first:
 *     slices of k (DEEP)  ->  blocks of columns (so that a packed block of b stays in the L2 cache)
 *         ->  tiles' rows (packed a: in L1)  ->  panels of up to 3 vectors of columns  ->  one tile in registers
 * b is packed when its columns are not contiguous, or when it is large and many rows of a will read it; a when it is large. A
 * packed panel is [slice of k, panel width], a packed strip of a is [slice of k, rows].
 *
 * A few rows times a matrix that is not packed, as layers make them of a small batch, is the sum of two products, one for each
 * half of k: so a thread reads the part of b alone that it changes when an optimizer's step follows, and the other thread's
 * writes do not cost a transfer between caches (a step of Adam on [784, 100] with a batch of 50: forward and update 135
 * microseconds, 101 then).
 *
 * Measured against oneDNN's dnnl_sgemm on AVX-512 (Zen 4, one thread, GFLOPS): 50x100x784 100 / 95, 784x100x50 98 / 92, 128 cubed
 * 111 / 113, 1024 cubed 102 / 110 (two threads 197 / 201), 32 cubed 100 / 75, 13x17x5 24 / 7. So no library is loaded for
 * products, but for very large ones: 2048 cubed 212 / 220 on two threads. */
#include "base/pause.h"
#include "kernel/conv/conv.h"
#include "kernel/gemm/gemm.h"
#include "kernel/isa.h"
#include "kernel/simd.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    DEEP = 256, /* of k, in one go, when packed */
    DEEP_UNPACKED = 4096,
    TALL = 1024,               /* rows of a that are packed together */
    WIDE = 336,                /* columns of a packed block: a multiple of 48 and 24 */
    MANY_ROWS = 48,            /* from here on packing a large b pays */
    LARGE = 1 << 17,           /* elements: 512 KB, half of a usual L2 */
    WORK_PER_THREAD = 1 << 19, /* multiplications that are worth a second thread */
    BIG = 1024,                /* n and k, and half of m: from here on the library is 3% (AVX-512) to 15% (AVX2) faster */
    BLOCK = 512,  /* rows that it gets at once, and BIG columns; not by the threads: its order of additions goes by these sizes */
    FEW_ROWS = 3, /* of a, up to which packing a transposed b costs more than it brings */
    HALVED_FROM = 512, /* k, from which unpacked products are two halves */
    HALVED_ROWS = 256, /* of a, up to which they are */
};

typedef struct product {
    const tw__gemm_kernels *kernels;
    int64_t m, n, k;
    const float *a, *b;
    int64_t a_row, a_column, b_row, b_column;
    float *c;
    int64_t c_row;
    bool pack_a, pack_b;
    int64_t deep, wide, tall, strip; /* of a block: its part of k, columns, rows; rows of a packed strip of a */
    int64_t packed_b;                /* floats of a packed block of b */
    int64_t row_parts, column_parts; /* the grid of parts that threads take */
    float *second;                   /* [m, n]: the second half of k, or NULL: its parts follow those of the first */
    float *scratch;
    size_t scratch_each;      /* floats */
    const tw__epilogue *then; /* or NULL */
    bool failed;              /* the library did */
    tw__stopper *stopper;
} product;

const tw__gemm_kernels *tw__gemm_best(void)
{
    static const tw__gemm_kernels *chosen;
    const tw__gemm_kernels *kernels = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (!kernels) {
        kernels = &tw__gemm_plain;
#if defined(__x86_64__)
        if (tw__isa_used() == TW_ISA_AVX512)
            kernels = &tw__gemm_avx512;
        else if (tw__isa_used() == TW_ISA_AVX2)
            kernels = &tw__gemm_avx2;
#endif
        __atomic_store_n(&chosen, kernels, __ATOMIC_RELAXED);
    }
    return kernels;
}

static int64_t ceil_divide(int64_t x, int64_t y)
{
    return (x + y - 1) / y;
}

/* Where part i of `parts` nearly equal parts of `total` begins. */
static int64_t part_begin(int64_t total, int64_t parts, int64_t i)
{
    return total / parts * i + (total % parts < i ? total % parts : i);
}

static int most_vectors(const tw__gemm_kernels *kernels)
{
    return kernels->rows[3] ? 3 : 2;
}

void tw__gemm_pack(float *to, int64_t width, const float *from, int64_t row, int64_t column, int64_t deep, int64_t columns)
{
    if (column == 1) {
        for (int64_t p = 0; p < deep; p++) {
            for (int64_t j = 0; j < columns; j += 16) /* the hardware does not see such strides coming */
                __builtin_prefetch(from + (p + 16 < deep ? p + 16 : p) * row + j);
            memcpy(to + p * width, from + p * row, (size_t)columns * sizeof *to);
        }
        return;
    }
    int64_t j = 0;
#if defined(__x86_64__)
    for (; row == 1 && j + 4 <= columns; j += 4) {
        const float *at = from + j * column;
        int64_t p = 0;
        for (; p + 4 <= deep; p += 4) {
            __m128 r0 = _mm_loadu_ps(at + p), r1 = _mm_loadu_ps(at + column + p), r2 = _mm_loadu_ps(at + 2 * column + p),
                   r3 = _mm_loadu_ps(at + 3 * column + p);
            _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
            float *out = to + p * width + j;
            _mm_storeu_ps(out, r0);
            _mm_storeu_ps(out + width, r1);
            _mm_storeu_ps(out + 2 * width, r2);
            _mm_storeu_ps(out + 3 * width, r3);
        }
        for (; p < deep; p++) {
            for (int64_t i = 0; i < 4; i++)
                to[p * width + j + i] = at[i * column + p];
        }
    }
#endif
    for (; j < columns; j++) {
        for (int64_t p = 0; p < deep; p++)
            to[p * width + j] = from[p * row + j * column];
    }
}

static inline tw__gemm_tile *tile_of(const tw__gemm_kernels *kernels, int vectors, int lanes, int64_t rows)
{
    tw__gemm_tile *narrow = lanes * 2 <= kernels->lanes ? kernels->narrow[vectors][rows] : NULL;
    return narrow ? narrow : kernels->tiles[vectors][rows];
}

/* The rows [row, row_end) of one panel of columns. `b` is the panel: its rows are `b_row` apart. */
typedef struct panel {
    const float *b;
    int64_t b_row;
    int64_t column; /* of c */
    int vectors, lanes;
} panel;

static void run_panel(const product *p, const panel *of, const float *a, int64_t a_row, int64_t a_column, int64_t row,
                      int64_t rows, int64_t deep, bool add)
{
    int64_t parts = ceil_divide(rows, p->kernels->rows[of->vectors]);
    for (int64_t i = 0; i < parts; i++) {
        int64_t first = part_begin(rows, parts, i), count = part_begin(rows, parts, i + 1) - first;
        tile_of(p->kernels, of->vectors, of->lanes, count)(deep, a + first * a_row, a_row, a_column, of->b, of->b_row,
                                                           p->c + (row + first) * p->c_row + of->column, p->c_row, of->lanes,
                                                           add);
    }
}

/* A finished piece of c. */
static void finish(const product *p, int64_t row, int64_t rows, int64_t column, int64_t columns)
{
    if (p->then)
        tw__epilogue_piece(p->then, p->c + row * p->c_row + column, rows, columns, p->c_row, column);
}

/* Packs rows [row, row + rows) of a, strip after strip: [deep, rows of the strip] each. */
static void pack_rows(const product *p, int64_t row, int64_t rows, int64_t depth, int64_t deep, float *to)
{
    int64_t strips = ceil_divide(rows, p->strip);
    for (int64_t i = 0; i < strips; i++) {
        int64_t first = part_begin(rows, strips, i), count = part_begin(rows, strips, i + 1) - first;
        tw__gemm_pack(to + first * deep, count, p->a + (row + first) * p->a_row + depth * p->a_column, p->a_column, p->a_row,
                      deep, count);
    }
}

/* Rows of b to their places in the panels: whole rows of the block, which memory gives faster than pieces of many rows. */
static TW_CLONES void copy_panels(const panel *panels, int count, int lanes, const float *b, int64_t b_row, int64_t deep,
                                  int64_t width)
{
    for (int64_t p = 0; p < deep; p++, b += b_row) {
        const float *ahead = b + (p + 4 < deep ? 4 : 0) * b_row;
        for (int64_t j = 0; j < width; j += 16)
            __builtin_prefetch(ahead + j);
        const float *from = b;
        for (int i = 0; i < count; i++) {
            int columns = (panels[i].vectors - 1) * lanes + panels[i].lanes;
            float *to = (float *)(uintptr_t)panels[i].b + p * panels[i].b_row;
            TW_INDEPENDENT
            for (int j = 0; j < columns; j++)
                to[j] = from[j];
            from += columns;
        }
    }
}

/* Panels of the columns [column, column + width). Packs them if that is wanted; returns their number. */
static int make_panels(const product *p, int64_t column, int64_t width, int64_t depth, int64_t deep, float *packed, panel *panels)
{
    int lanes = p->kernels->lanes;
    int64_t vectors = ceil_divide(width, lanes), count = ceil_divide(vectors, most_vectors(p->kernels));
    for (int64_t i = 0; i < count; i++) {
        int64_t first = part_begin(vectors, count, i), end = part_begin(vectors, count, i + 1);
        int64_t columns = (end * lanes < width ? end * lanes : width) - first * lanes;
        panel *at = &panels[i];
        at->vectors = (int)(end - first);
        at->lanes = (int)(columns - (end - first - 1) * lanes);
        at->column = column + first * lanes;
        at->b = p->b + depth * p->b_row + at->column * p->b_column;
        at->b_row = p->b_row;
        if (!p->pack_b)
            continue;
        at->b_row = (end - first) * lanes;
        if (p->b_column != 1)
            tw__gemm_pack(packed, at->b_row, at->b, p->b_row, p->b_column, deep, columns);
        at->b = packed;
        packed += deep * at->b_row;
    }
    if (p->pack_b && p->b_column == 1)
        copy_panels(panels, (int)count, lanes, p->b + depth * p->b_row + column, p->b_row, deep, width);
    return (int)count;
}

/* One block of columns [column, column + width) of the rows [row, row_end), for one slice of k. `strips`: the packed rows of a,
 * or NULL. */
static void run_block(const product *p, int64_t row, int64_t row_end, int64_t column, int64_t width, int64_t depth, int64_t deep,
                      float *packed, const float *strips)
{
    panel panels[WIDE / 4];
    bool add = depth > 0, last = depth + deep == p->k;
    int count = make_panels(p, column, width, depth, deep, packed, panels);
    if (!strips) {
        const float *a = p->a + row * p->a_row + depth * p->a_column;
        for (int i = 0; i < count; i++) {
            run_panel(p, &panels[i], a, p->a_row, p->a_column, row, row_end - row, deep, add);
            if (last)
                finish(p, row, row_end - row, panels[i].column, (panels[i].vectors - 1) * p->kernels->lanes + panels[i].lanes);
        }
        return;
    }
    int64_t rows = row_end - row, strip_count = ceil_divide(rows, p->strip);
    for (int64_t s = 0; s < strip_count; s++) {
        int64_t first = part_begin(rows, strip_count, s), height = part_begin(rows, strip_count, s + 1) - first;
        for (int i = 0; i < count; i++)
            tile_of(p->kernels, panels[i].vectors, panels[i].lanes,
                    height)(deep, strips + first * deep, 1, height, panels[i].b, panels[i].b_row,
                            p->c + (row + first) * p->c_row + panels[i].column, p->c_row, panels[i].lanes, add);
        if (last)
            finish(p, row + first, height, column, width);
    }
}

static void run_parts(void *context, int64_t begin, int64_t end)
{
    const product *p = context;
    for (int64_t part = begin; part < end; part++) {
        int64_t i = part / p->column_parts, j = part % p->column_parts;
        int64_t row = part_begin(p->m, p->row_parts, i), row_end = part_begin(p->m, p->row_parts, i + 1);
        int64_t unit = p->kernels->lanes, units = ceil_divide(p->n, unit);
        int64_t column = part_begin(units, p->column_parts, j) * unit,
                column_end = part_begin(units, p->column_parts, j + 1) * unit;
        if (column_end > p->n)
            column_end = p->n;
        float *packed = p->scratch ? p->scratch + (size_t)part * p->scratch_each : NULL;
        float *strips = p->pack_a ? packed + p->packed_b : NULL;
        for (int64_t depth = 0; depth < p->k; depth += p->deep) {
            int64_t deep = p->k - depth < p->deep ? p->k - depth : p->deep;
            for (int64_t top = row; top < row_end; top += p->tall) {
                int64_t bottom = row_end - top < p->tall ? row_end : top + p->tall;
                if (strips)
                    pack_rows(p, top, bottom - top, depth, deep, strips);
                for (int64_t at = column; at < column_end && !tw__stopper_asked(p->stopper); at += p->wide)
                    run_block(p, top, bottom, at, column_end - at < p->wide ? column_end - at : p->wide, depth, deep, packed,
                              strips);
            }
        }
    }
}

/* ---- both halves of k at once ---- */

static void run_halves(void *context, int64_t begin, int64_t end)
{
    const product *p = context;
    for (int64_t part = begin; part < end; part++) {
        int64_t half = part / p->row_parts, i = part % p->row_parts;
        int64_t row = part_begin(p->m, p->row_parts, i), row_end = part_begin(p->m, p->row_parts, i + 1);
        product mine = *p;
        mine.then = NULL;
        if (half) {
            mine.c = p->second;
            mine.c_row = p->n;
            mine.a += p->deep * p->a_column;
            mine.b += p->deep * p->b_row;
        }
        int64_t deep = half ? p->k - p->deep : p->deep;
        for (int64_t at = 0; at < p->n; at += p->wide)
            run_block(&mine, row, row_end, at, p->n - at < p->wide ? p->n - at : p->wide, 0, deep, NULL, NULL);
    }
}

static TW_CLONES void add_rows(float *to, int64_t to_row, const float *from, int64_t rows, int64_t columns)
{
    for (int64_t i = 0; i < rows; i++, to += to_row, from += columns) {
        TW_INDEPENDENT
        for (int64_t j = 0; j < columns; j++)
            to[j] += from[j];
    }
}

static tw_status multiply_halves(product *p, int64_t row_parts)
{
    tw__buffer *buffer = tw__buffer_new((size_t)(p->m * p->n) * sizeof(float));
    if (!buffer)
        return tw__error_status();
    p->second = buffer->data;
    p->row_parts = row_parts;
    tw__parallel(2 * row_parts, 1, run_halves, p);
    add_rows(p->c, p->c_row, p->second, p->m, p->n);
    finish(p, 0, p->m, 0, p->n);
    tw__buffer_release(buffer);
    return TW_OK;
}

/* ---- few rows times a transposed matrix: dot products of contiguous rows ---- */

/* Columns in fours. */
static void run_dots(void *context, int64_t begin, int64_t end)
{
    const product *p = context;
    for (int64_t four = begin; four < end; four++) {
        int64_t column = 4 * four;
        int columns = p->n - column < 4 ? (int)(p->n - column) : 4;
        for (int64_t i = 0; i < p->m; i++)
            p->kernels->dots(p->k, p->a + i * p->a_row, p->b + column * p->b_column, p->b_column, columns,
                             p->c + i * p->c_row + column);
        finish(p, 0, p->m, column, columns);
    }
}

/* A grid of about `parts` parts, cut where the pieces stay the squarest. */
static void choose_grid(product *p, int64_t parts)
{
    int64_t units = ceil_divide(p->n, p->kernels->lanes), row_units = ceil_divide(p->m, 4);
    p->row_parts = p->column_parts = 1;
    while (p->row_parts * p->column_parts < parts) {
        bool rows = p->m / p->row_parts >= p->n / p->column_parts / 4;
        if (rows && p->row_parts * 2 <= row_units)
            p->row_parts *= 2;
        else if (p->column_parts * 2 <= units)
            p->column_parts *= 2;
        else if (p->row_parts * 2 <= row_units)
            p->row_parts *= 2;
        else
            break;
    }
}

/* ---- very large products: the library's, a block in each thread ---- */

static void run_library(void *context, int64_t begin, int64_t end)
{
    product *p = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t across = i % p->column_parts, down = i / p->column_parts;
        int64_t row = part_begin(p->m, p->row_parts, down), rows = part_begin(p->m, p->row_parts, down + 1) - row;
        int64_t column = part_begin(p->n, p->column_parts, across),
                columns = part_begin(p->n, p->column_parts, across + 1) - column;
        if (tw__stopper_asked(p->stopper))
            return;
        if (!tw__gemm_onednn(rows, columns, p->k, p->a + row * p->a_row, p->a_row, p->a_column, p->b + column * p->b_column,
                             p->b_row, p->b_column, p->c + row * p->c_row + column, p->c_row))
            __atomic_store_n(&p->failed, true, __ATOMIC_RELAXED);
        else
            finish(p, row, rows, column, columns);
    }
}

/* All but the functions that need the whole result. */
static tw_status multiply(product p)
{
    const tw__gemm_kernels *kernels = p.kernels;
    int64_t m = p.m, n = p.n, k = p.k, a_column = p.a_column, b_row = p.b_row, b_column = p.b_column;
    if (k <= 0) {
        for (int64_t i = 0; i < m; i++)
            memset(p.c + i * p.c_row, 0, (size_t)n * sizeof *p.c);
        finish(&p, 0, m, 0, n);
        return TW_OK;
    }
    if (b_column == 1 && n <= kernels->lanes && m <= kernels->rows[1]) { /* a single tile */
        kernels->tiles[1][m](k, p.a, p.a_row, a_column, p.b, b_row, p.c, p.c_row, (int)n, false);
        finish(&p, 0, m, 0, n);
        return TW_OK;
    }
    if (b_row == 1 && b_column != 1 && a_column == 1 && m <= FEW_ROWS && k >= kernels->lanes) {
        int64_t fours = ceil_divide(n, 4), grain = WORK_PER_THREAD / (4 * m * k) + 1;
        if (fours <= grain)
            run_dots(&p, 0, fours);
        else
            tw__parallel(fours, grain, run_dots, &p);
        return TW_OK;
    }
    if (n >= BIG && k >= BIG && m >= 2 * BIG && tw__gemm_onednn_has(p.a_row, a_column, b_row, b_column)) {
        p.row_parts = m / BLOCK;
        p.column_parts = n / BIG;
        tw__parallel(p.row_parts * p.column_parts, 1, run_library, &p);
        if (!p.failed)
            return tw__stopper_status(p.stopper);
        p.row_parts = p.column_parts = 1;
    }
    p.pack_b = b_column != 1 || (m >= MANY_ROWS && (double)n * (double)k >= LARGE);
    p.pack_a = m >= MANY_ROWS && n >= MANY_ROWS && (double)m * (double)k >= LARGE && (double)n * (double)k >= LARGE;
    p.deep = p.pack_b || p.pack_a ? DEEP : DEEP_UNPACKED;
    if (p.deep > k)
        p.deep = k;
    bool halved = !p.pack_a && !p.pack_b && k >= HALVED_FROM && m <= HALVED_ROWS;
    if (halved)
        p.deep = ((k + 7) / 8 + 1) / 2 * 8; /* in eights, as an optimizer's step is cut (adam.c) */
    p.wide = n < WIDE ? n : WIDE;
    p.tall = p.pack_a ? TALL : m;
    p.strip = kernels->rows[most_vectors(kernels)];
    double work = (double)m * (double)n * (double)k;
    if (work >= 2.0 * WORK_PER_THREAD) {
        int threads = tw__thread_count();
        double most = work / WORK_PER_THREAD;
        int64_t wanted = most < threads ? (int64_t)most : threads;
        if (threads > 1 && halved)
            return multiply_halves(&p, wanted < 4 ? 1 : wanted / 2 < (m + 3) / 4 ? wanted / 2 : (m + 3) / 4);
        if (threads > 1)
            choose_grid(&p, wanted);
    }
    int64_t parts = p.row_parts * p.column_parts;
    tw__buffer *buffer = NULL;
    if (p.pack_a || p.pack_b) {
        int lanes = kernels->lanes;
        p.packed_b = p.pack_b ? p.deep * ceil_divide(p.wide, lanes) * lanes : 0;
        p.scratch_each = (size_t)(p.packed_b + (p.pack_a ? p.deep * (p.tall < m ? p.tall : m) : 0));
        p.scratch_each = (p.scratch_each + 15) & ~(size_t)15;
        buffer = tw__buffer_new((size_t)parts * p.scratch_each * sizeof(float));
        if (!buffer)
            return tw__error_status();
        p.scratch = buffer->data;
    }
    if (parts == 1)
        run_parts(&p, 0, 1);
    else
        tw__parallel(parts, 1, run_parts, &p);
    if (buffer)
        tw__buffer_release(buffer);
    return tw__stopper_status(p.stopper);
}

tw_status tw__gemm_float_then(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row, int64_t a_column, const float *b,
                              int64_t b_row, int64_t b_column, float *c, int64_t c_row, const tw__epilogue *then)
{
    if (m <= 0 || n <= 0)
        return TW_OK;
    tw__stopper stopper;
    tw__stopper_begin(&stopper);
    product p = { .stopper = &stopper,
                  .kernels = tw__gemm_best(),
                  .m = m,
                  .n = n,
                  .k = k,
                  .a = a,
                  .b = b,
                  .a_row = a_row,
                  .a_column = a_column,
                  .b_row = b_row,
                  .b_column = b_column,
                  .c = c,
                  .c_row = c_row,
                  .row_parts = 1,
                  .column_parts = 1,
                  .then = then };
    TW_TRY(multiply(p));
    if (then && tw__epilogue_rest(then))
        tw__unary_run(then->activation, TW_FLOAT32, c, c, m * n);
    return TW_OK;
}

tw_status tw__gemm_float(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row, int64_t a_column, const float *b,
                         int64_t b_row, int64_t b_column, float *c, int64_t c_row)
{
    return tw__gemm_float_then(m, n, k, a, a_row, a_column, b, b_row, b_column, c, c_row, NULL);
}
