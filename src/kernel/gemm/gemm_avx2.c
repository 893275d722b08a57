/* Float tiles in AVX2 with FMA: 12 sums of 8 floats. */
#include "kernel/gemm/gemm.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma")))

/* The first `lanes` words of eight are all ones. */
static inline __attribute__((always_inline)) TARGET __m256i some(int lanes)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

#define V __m256
#define LANES 8
#define ZERO _mm256_setzero_ps()
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define LOAD_SOME(p, lanes) _mm256_maskload_ps(p, some(lanes))
#define STORE_SOME(p, v, lanes) _mm256_maskstore_ps(p, some(lanes), v)
#define SPREAD(x) _mm256_set1_ps(x)
#define MULTIPLY_ADD(x, y, sum) _mm256_fmadd_ps(x, y, sum)
#define ADD(x, y) _mm256_add_ps(x, y)
/* clang-format off */
#define TILES \
    TILE(1, 1) TILE(1, 2) TILE(1, 3) TILE(1, 4) TILE(1, 5) TILE(1, 6) TILE(1, 7) TILE(1, 8) TILE(2, 1) \
    TILE(2, 2) TILE(2, 3) TILE(2, 4) TILE(2, 5) TILE(2, 6) TILE(3, 1) TILE(3, 2) TILE(3, 3) TILE(3, 4)
/* clang-format on */
#include "kernel/gemm/gemm_tile.h"

const tw__gemm_kernels tw__gemm_avx2 = {
    .lanes = LANES,
    .dots = dots,
    .rows = { 0, 8, 6, 4 },
    .tiles = {
        [1] = { NULL, tile_1x1, tile_1x2, tile_1x3, tile_1x4, tile_1x5, tile_1x6, tile_1x7, tile_1x8 },
        [2] = { NULL, tile_2x1, tile_2x2, tile_2x3, tile_2x4, tile_2x5, tile_2x6 },
        [3] = { NULL, tile_3x1, tile_3x2, tile_3x3, tile_3x4 },
    },
};
#endif
