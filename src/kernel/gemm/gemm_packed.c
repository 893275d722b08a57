/* Products with one matrix that is packed once and used many times, as by the steps of a recurrent layer.
 *
 * Packed: panels of up to three vectors of columns, each [k, width of the panel], one behind the other; the last one is filled
 * up. */
#include "kernel/gemm/gemm.h"

enum { SLICE = 256 }; /* of k: what a strip of rows reads of a panel in one go stays near */

static int64_t vectors_of(const tw__gemm_kernels *kernels, int64_t n)
{
    return (n + kernels->lanes - 1) / kernels->lanes;
}

static int most_vectors(const tw__gemm_kernels *kernels)
{
    return kernels->rows[3] ? 3 : 2;
}

size_t tw__gemm_packed_size(int64_t k, int64_t n)
{
    const tw__gemm_kernels *kernels = tw__gemm_best();
    return (size_t)(vectors_of(kernels, n) * kernels->lanes * k);
}

void tw__gemm_pack_matrix(int64_t k, int64_t n, const float *b, int64_t b_row, int64_t b_column, float *packed)
{
    const tw__gemm_kernels *kernels = tw__gemm_best();
    int64_t vectors = vectors_of(kernels, n), most = most_vectors(kernels);
    for (int64_t first = 0; first < vectors; first += most) {
        int64_t count = vectors - first < most ? vectors - first : most, width = count * kernels->lanes,
                column = first * kernels->lanes;
        int64_t columns = n - column < width ? n - column : width;
        tw__gemm_pack(packed, width, b + column * b_column, b_row, b_column, k, columns);
        packed += k * width;
    }
}

void tw__gemm_add_packed(int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row, const float *packed, float *c,
                         int64_t c_row)
{
    const tw__gemm_kernels *kernels = tw__gemm_best();
    int64_t vectors = vectors_of(kernels, n), most = most_vectors(kernels);
    for (int64_t first = 0; first < vectors; first += most) {
        int count = (int)(vectors - first < most ? vectors - first : most);
        int64_t width = count * kernels->lanes, column = first * kernels->lanes;
        int64_t columns = n - column < width ? n - column : width;
        int lanes = (int)(columns - (count - 1) * kernels->lanes);
        int64_t strips = (m + kernels->rows[count] - 1) / kernels->rows[count];
        for (int64_t depth = 0; depth < k; depth += SLICE) {
            int64_t deep = k - depth < SLICE ? k - depth : SLICE;
            for (int64_t i = 0; i < strips; i++) {
                int64_t row = m * i / strips, rows = m * (i + 1) / strips - row;
                kernels->tiles[count][rows](deep, a + row * a_row + depth, a_row, 1, packed + depth * width, width,
                                            c + row * c_row + column, c_row, lanes, true);
            }
        }
        packed += k * width;
    }
}
