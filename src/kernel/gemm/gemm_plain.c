/* Float tiles in plain C, for any processor: the compiler's vectors of four floats. */
#include "kernel/gemm/gemm.h"

typedef float four __attribute__((vector_size(16)));

static inline four load(const float *p)
{
    four v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline four load_some(const float *p, int lanes)
{
    if (lanes == 4)
        return load(p);
    four v = { 0 };
    for (int i = 0; i < lanes; i++)
        v[i] = p[i];
    return v;
}

static inline void store_some(float *p, four v, int lanes)
{
    memcpy(p, &v, (size_t)lanes * sizeof *p);
}

#define TARGET
#define V four
#define LANES 4
#define ZERO ((four){ 0 })
#define LOAD(p) load(p)
#define STORE(p, v) store_some(p, v, 4)
#define LOAD_SOME(p, lanes) load_some(p, lanes)
#define STORE_SOME(p, v, lanes) store_some(p, v, lanes)
#define SPREAD(x) ((four){ x, x, x, x })
#define MULTIPLY_ADD(x, y, sum) ((x) * (y) + (sum))
#define ADD(x, y) ((x) + (y))
#define TILES TILE(1, 1) TILE(1, 2) TILE(1, 3) TILE(1, 4) TILE(2, 1) TILE(2, 2) TILE(2, 3) TILE(2, 4)
#include "kernel/gemm/gemm_tile.h"

/* Three vectors would not fit into 16 registers: the planner goes by rows[3] == 0. */
const tw__gemm_kernels tw__gemm_plain = {
    .lanes = LANES,
    .dots = dots,
    .rows = { 0, 4, 4, 0 },
    .tiles = { [1] = { NULL, tile_1x1, tile_1x2, tile_1x3, tile_1x4 }, [2] = { NULL, tile_2x1, tile_2x2, tile_2x3, tile_2x4 } },
};
