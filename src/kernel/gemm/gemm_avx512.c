/* Float tiles in AVX-512: 24 sums of 16 floats. */
#include "kernel/gemm/gemm.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512vl,fma")))
#define V __m512
#define LANES 16
#define ZERO _mm512_setzero_ps()
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define SOME(lanes) ((__mmask16)((1u << (lanes)) - 1))
#define LOAD_SOME(p, lanes) _mm512_maskz_loadu_ps(SOME(lanes), p)
#define STORE_SOME(p, v, lanes) _mm512_mask_storeu_ps(p, SOME(lanes), v)
#define SPREAD(x) _mm512_set1_ps(x)
#define MULTIPLY_ADD(x, y, sum) _mm512_fmadd_ps(x, y, sum)
#define ADD(x, y) _mm512_add_ps(x, y)
/* clang-format off */
#define TILES \
    TILE(1, 1) TILE(1, 2) TILE(1, 3) TILE(1, 4) TILE(1, 5) TILE(1, 6) TILE(1, 7) TILE(1, 8) TILE(1, 9) TILE(1, 10) \
    TILE(1, 11) TILE(1, 12) TILE(2, 1) TILE(2, 2) TILE(2, 3) TILE(2, 4) TILE(2, 5) TILE(2, 6) TILE(2, 7) TILE(2, 8) \
    TILE(2, 9) TILE(2, 10) TILE(2, 11) TILE(2, 12) TILE(3, 1) TILE(3, 2) TILE(3, 3) TILE(3, 4) TILE(3, 5) TILE(3, 6) \
    TILE(3, 7) TILE(3, 8)
/* clang-format on */
#include "kernel/gemm/gemm_tile.h"

#define NARROW
#define HALF __m256
#define HALF_ZERO _mm256_setzero_ps()
#define HALF_LOAD_SOME(p, lanes) _mm256_maskz_loadu_ps((__mmask8)SOME(lanes), p)
#define HALF_STORE_SOME(p, v, lanes) _mm256_mask_storeu_ps(p, (__mmask8)SOME(lanes), v)
#define HALF_MULTIPLY_ADD(x, y, sum) _mm256_fmadd_ps(x, y, sum)
#define HALF_ADD(x, y) _mm256_add_ps(x, y)
#define HALF_OF(v) _mm512_castps512_ps256(v)
#undef TILES
/* clang-format off */
#define TILES \
    TILE(2, 1) TILE(2, 2) TILE(2, 3) TILE(2, 4) TILE(2, 5) TILE(2, 6) TILE(2, 7) TILE(2, 8) TILE(2, 9) TILE(2, 10) \
    TILE(2, 11) TILE(2, 12) TILE(3, 1) TILE(3, 2) TILE(3, 3) TILE(3, 4) TILE(3, 5) TILE(3, 6) TILE(3, 7) TILE(3, 8)
/* clang-format on */
#include "kernel/gemm/gemm_tile.h"

const tw__gemm_kernels tw__gemm_avx512 = {
    .lanes = LANES,
    .dots = dots,
    .rows = { 0, 12, 12, 8 },
    .tiles = {
        [1] = { NULL, tile_1x1, tile_1x2, tile_1x3, tile_1x4, tile_1x5, tile_1x6, tile_1x7, tile_1x8, tile_1x9, tile_1x10, tile_1x11,
                tile_1x12 },
        [2] = { NULL, tile_2x1, tile_2x2, tile_2x3, tile_2x4, tile_2x5, tile_2x6, tile_2x7, tile_2x8, tile_2x9, tile_2x10, tile_2x11,
                tile_2x12 },
        [3] = { NULL, tile_3x1, tile_3x2, tile_3x3, tile_3x4, tile_3x5, tile_3x6, tile_3x7, tile_3x8 },
    },
    .narrow = {
        [2] = { NULL, narrow_2x1, narrow_2x2, narrow_2x3, narrow_2x4, narrow_2x5, narrow_2x6, narrow_2x7, narrow_2x8, narrow_2x9,
                narrow_2x10, narrow_2x11, narrow_2x12 },
        [3] = { NULL, narrow_3x1, narrow_3x2, narrow_3x3, narrow_3x4, narrow_3x5, narrow_3x6, narrow_3x7, narrow_3x8 },
    },
};
#endif
