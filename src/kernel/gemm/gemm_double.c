/* Products of double matrices: b is packed once into panels of a few vectors' width, threads take blocks of rows, and a tile of
 * the result lies in registers while it runs over a part of the depth. The order of additions does not depend on the number of
 * threads. */
#include "base/pause.h"
#include "kernel/gemm/gemm.h"
#include "kernel/isa.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

enum { DEPTH = 256, VECTORS = 3, MOST_ROWS = 8, MOST_WIDTH = 24, BLOCK_ROWS = 48 };

/* out = (rows of a) x (a panel of b), `rows` of a at a time. */
typedef void tile_function(int64_t k, const double *const *a, const double *b, double *out);

#define TILE(name, features, vector, lanes, rows, zero, load, store, spread, multiply_add)                                 \
    __attribute__((target(features))) static void name(int64_t k, const double *const *a, const double *b, double *out)    \
    {                                                                                                                      \
        vector sum[rows][VECTORS];                                                                                         \
        _Pragma("GCC unroll 8") for (int i = 0; i < rows; i++)                                                             \
        {                                                                                                                  \
            _Pragma("GCC unroll 3") for (int j = 0; j < VECTORS; j++) sum[i][j] = zero();                                  \
        }                                                                                                                  \
        for (int64_t p = 0; p < k; p++, b += VECTORS * lanes) {                                                            \
            vector line[VECTORS];                                                                                          \
            _Pragma("GCC unroll 3") for (int j = 0; j < VECTORS; j++) line[j] = load(b + j * lanes);                       \
            _Pragma("GCC unroll 8") for (int i = 0; i < rows; i++)                                                         \
            {                                                                                                              \
                vector x = spread(a[i][p]);                                                                                \
                _Pragma("GCC unroll 3") for (int j = 0; j < VECTORS; j++) sum[i][j] = multiply_add(x, line[j], sum[i][j]); \
            }                                                                                                              \
        }                                                                                                                  \
        _Pragma("GCC unroll 8") for (int i = 0; i < rows; i++)                                                             \
        {                                                                                                                  \
            _Pragma("GCC unroll 3") for (int j = 0; j < VECTORS; j++) store(out + (i * VECTORS + j) * lanes, sum[i][j]);   \
        }                                                                                                                  \
    }
TILE(tile_avx512, "avx512f,fma", __m512d, 8, 8, _mm512_setzero_pd, _mm512_loadu_pd, _mm512_storeu_pd, _mm512_set1_pd,
     _mm512_fmadd_pd)
TILE(tile_avx2, "avx2,fma", __m256d, 4, 4, _mm256_setzero_pd, _mm256_loadu_pd, _mm256_storeu_pd, _mm256_set1_pd, _mm256_fmadd_pd)

typedef struct job {
    int64_t m, n, k;
    const double *a, *packed; /* a: [m, k], contiguous; packed: [panels, k, width] */
    double *c;
    tile_function *tile;
    int rows, width;
    tw__stopper *stopper;
} job;

static void add_tile(const job *of, const double *tile, int64_t row, int rows, int64_t column, bool first)
{
    int64_t columns = of->n - column < of->width ? of->n - column : of->width;
    for (int i = 0; i < rows; i++) {
        double *to = of->c + (row + i) * of->n + column;
        const double *from = tile + i * of->width;
        for (int64_t j = 0; j < columns; j++)
            to[j] = first ? from[j] : to[j] + from[j];
    }
}

static void run_blocks(void *context, int64_t begin, int64_t end)
{
    const job *of = context;
    int64_t last_row = end * BLOCK_ROWS < of->m ? end * BLOCK_ROWS : of->m;
    for (int64_t block = begin * BLOCK_ROWS; block < last_row; block += BLOCK_ROWS) {
        int64_t block_end = block + BLOCK_ROWS < last_row ? block + BLOCK_ROWS : last_row;
        for (int64_t depth = 0; depth < of->k && !tw__stopper_asked(of->stopper); depth += DEPTH) {
            int64_t part = of->k - depth < DEPTH ? of->k - depth : DEPTH;
            for (int64_t column = 0; column < of->n; column += of->width) {
                const double *panel = of->packed + column * of->k + depth * of->width;
                for (int64_t row = block; row < block_end; row += of->rows) {
                    int rows = block_end - row < of->rows ? (int)(block_end - row) : of->rows;
                    const double *a[MOST_ROWS];
                    double tile[MOST_ROWS * MOST_WIDTH];
                    for (int i = 0; i < of->rows; i++) /* what stands for rows that are not there is thrown away */
                        a[i] = of->a + (row + (i < rows ? i : 0)) * of->k + depth;
                    of->tile(part, a, panel, tile);
                    add_tile(of, tile, row, rows, column, depth == 0);
                }
            }
        }
    }
}

static void pack_panels(const job *of, tw__matrix b, double *packed)
{
    const double *from = b.data;
    for (int64_t column = 0; column < of->n; column += of->width) {
        int64_t columns = of->n - column < of->width ? of->n - column : of->width;
        for (int64_t p = 0; p < of->k; p++, packed += of->width) {
            const double *line = from + p * b.row + column * b.column;
            for (int64_t j = 0; j < of->width; j++)
                packed[j] = j < columns ? line[j * b.column] : 0;
        }
    }
}

bool tw__gemm_double(int64_t m, int64_t n, int64_t k, const double *a, tw__matrix b, double *c, tw_status *status)
{
    bool wide = tw__isa_used() == TW_ISA_AVX512;
    if (tw__isa_used() == TW_ISA_PLAIN || m < 4 || n < 8 || k < 8 || m * n < 4096 / k)
        return false;
    tw__stopper stopper;
    tw__stopper_begin(&stopper);
    job of = { m, n, k, a, NULL, c, wide ? tile_avx512 : tile_avx2, wide ? 8 : 4, wide ? 24 : 12, &stopper };
    int64_t panels = (n + of.width - 1) / of.width, blocks = (m + BLOCK_ROWS - 1) / BLOCK_ROWS;
    double *packed = tw__alloc((size_t)(panels * of.width) * (size_t)k * sizeof *packed);
    *status = packed ? TW_OK : tw__error_status();
    if (!packed)
        return true;
    pack_panels(&of, b, packed);
    of.packed = packed;
    if (blocks == 1 || m * n * k < (1 << 18))
        run_blocks(&of, 0, blocks);
    else
        tw__parallel(blocks, 1, run_blocks, &of);
    tw__free(packed);
    *status = tw__stopper_status(&stopper);
    return true;
}
#else
bool tw__gemm_double(int64_t m, int64_t n, int64_t k, const double *a, tw__matrix b, double *c, tw_status *status)
{
    (void)m, (void)n, (void)k, (void)a, (void)b, (void)c, (void)status;
    return false;
}
#endif
