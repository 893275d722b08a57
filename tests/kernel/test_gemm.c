/* Float products of every instruction set that the machine has, over sizes around the tiles' edges, against plain sums in double;
 * the result must not depend on the number of threads. */
#include "test.h"

#include <stdlib.h>

#include "kernel/gemm/gemm.h"

static float *numbers(int64_t count, unsigned *seed)
{
    float *x = tw__alloc((size_t)count * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)(rand_r(seed) % 2001 - 1000) / 1000;
    return x;
}

static void check(int64_t m, int64_t n, int64_t k, bool transpose_a, bool transpose_b)
{
    unsigned seed = (unsigned)(m * 7919 + n * 31 + k);
    float *a = numbers(m * k, &seed), *b = numbers(k * n, &seed), *c = numbers(m * n + 1, &seed), *one = numbers(m * n, &seed);
    int64_t a_row = transpose_a ? 1 : k, a_column = transpose_a ? m : 1, b_row = transpose_b ? 1 : n,
            b_column = transpose_b ? k : 1;
    float guard = c[m * n];
    assert_int_equal(tw__gemm_float(m, n, k, a, a_row, a_column, b, b_row, b_column, c, n), TW_OK);
    assert_true(c[m * n] == guard);
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t p = 0; p < k; p++)
                sum += (double)a[i * a_row + p * a_column] * (double)b[p * b_row + j * b_column];
            assert_true(fabs(sum - (double)c[i * n + j]) < 1e-6 * (double)(k + 1));
        }
    }
    int threads = tw__thread_count();
    for (int other = 1; other <= (k >= 256 ? 5 : 1); other += 2) {
        tw__thread_count_set(other);
        assert_int_equal(tw__gemm_float(m, n, k, a, a_row, a_column, b, b_row, b_column, one, n), TW_OK);
        assert_memory_equal(one, c, (size_t)(m * n) * sizeof *c);
    }
    tw__thread_count_set(threads);
    tw__free(a);
    tw__free(b);
    tw__free(c);
    tw__free(one);
}

static void sizes(void **state)
{
    (void)state;
    static const int64_t edges[] = { 1, 2, 4, 5, 8, 11, 12, 13, 16, 17, 25, 33, 47, 49 };
    enum { COUNT = sizeof edges / sizeof *edges };
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < COUNT; j++) {
            for (int turn = 0; turn < 4; turn++)
                check(edges[i], edges[j], edges[(i + 3 * j) % COUNT], turn & 1, turn & 2);
        }
    }
}

static void large(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = { { 50, 100, 784 },  { 784, 100, 50 }, { 200, 400, 500 }, { 61, 700, 390 },
                                         { 3, 1000, 1000 }, { 500, 9, 900 },  { 50, 100, 787 },  { 256, 40, 512 },
                                         { 5, 300, 1025 },  { 12, 1, 90000 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int turn = 0; turn < 4; turn++)
            check(shapes[i][0], shapes[i][1], shapes[i][2], turn & 1, turn & 2);
    }
}

/* So large that the library is asked, if it is there: up to two threads the bits are then the same. A few elements are checked.
 */
static void very_large(void **state)
{
    (void)state;
    enum { M = 2050, N = 1030, K = 1027 };
    unsigned seed = 9;
    float *a = numbers(M * K, &seed), *b = numbers(K * N, &seed), *c = numbers(M * N, &seed), *one = numbers(M * N, &seed);
    int threads = tw__thread_count();
    for (int turn = 0; turn < 4; turn++) {
        int64_t a_row = turn & 1 ? 1 : K, a_column = turn & 1 ? M : 1, b_row = turn & 2 ? 1 : N, b_column = turn & 2 ? K : 1;
        tw__thread_count_set(1);
        assert_int_equal(tw__gemm_float(M, N, K, a, a_row, a_column, b, b_row, b_column, one, N), TW_OK);
        tw__thread_count_set(2);
        assert_int_equal(tw__gemm_float(M, N, K, a, a_row, a_column, b, b_row, b_column, c, N), TW_OK);
        assert_memory_equal(one, c, (size_t)M * N * sizeof *c);
        for (int i = 0; i < M * N; i += 9973) {
            double sum = 0;
            for (int64_t p = 0; p < K; p++)
                sum += (double)a[i / N * a_row + p * a_column] * (double)b[p * b_row + i % N * b_column];
            assert_true(fabs(sum - (double)c[i]) < 1e-6 * K);
        }
    }
    tw__thread_count_set(threads);
    tw__free(a);
    tw__free(b);
    tw__free(c);
    tw__free(one);
}

static void tiles(void **state)
{
    (void)state;
    const tw__gemm_kernels *sets[3] = { &tw__gemm_plain };
    int count = 1;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        sets[count++] = &tw__gemm_avx2;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl"))
        sets[count++] = &tw__gemm_avx512;
#endif
    unsigned seed = 5;
    enum { DEEP = 9, WIDE = 64 };
    float *a = numbers(TW_GEMM_ROWS * DEEP, &seed), *b = numbers(DEEP * WIDE, &seed);
    for (int s = 0; s < count; s++) {
        for (int vectors = 1; vectors <= TW_GEMM_VECTORS; vectors++) {
            for (int rows = 1; rows <= sets[s]->rows[vectors]; rows++) {
                for (int lanes = 1; lanes <= sets[s]->lanes; lanes++) {
                    float c[TW_GEMM_ROWS * WIDE];
                    for (int i = 0; i < TW_GEMM_ROWS * WIDE; i++)
                        c[i] = 1;
                    int columns = (vectors - 1) * sets[s]->lanes + lanes;
                    bool add = rows & 1;
                    tw__gemm_tile *tile = lanes * 2 <= sets[s]->lanes ? sets[s]->narrow[vectors][rows] : NULL;
                    if (!tile)
                        tile = sets[s]->tiles[vectors][rows];
                    tile(DEEP, a, DEEP, 1, b, WIDE, c, WIDE, lanes, add);
                    for (int i = 0; i < TW_GEMM_ROWS; i++) {
                        for (int j = 0; j < WIDE; j++) {
                            double sum = i < rows && j < columns ? add : 1;
                            for (int p = 0; i < rows && j < columns && p < DEEP; p++)
                                sum += (double)a[i * DEEP + p] * (double)b[p * WIDE + j];
                            assert_true(fabs(sum - (double)c[i * WIDE + j]) < 1e-5);
                        }
                    }
                }
            }
        }
    }
    tw__free(a);
    tw__free(b);
}

static void failing_memory(void **state)
{
    (void)state;
    unsigned seed = 1;
    float *a = numbers(64 * 64, &seed), *b = numbers(64 * 64, &seed), *c = numbers(64 * 64, &seed);
    tw__buffer_trim();
    tw__alloc_fail_at(1);
    tw_status status = tw__gemm_float(64, 64, 64, a, 64, 1, b, 1, 64, c, 64);
    tw__alloc_fail_at(0);
    if (status != TW_OK) /* unless the memory came from a cache */
        expect_error(TW_RESOURCE_EXHAUSTED, "");
    tw__alloc_fail_at(1);
    assert_int_not_equal(tw__gemm(TW_FLOAT64, 4, 4, 4, (tw__matrix){ a, 1, 4, false }, (tw__matrix){ b, 4, 1, false }, c), TW_OK);
    tw__alloc_fail_at(0);
    expect_error(TW_RESOURCE_EXHAUSTED, "");
    tw__free(a);
    tw__free(b);
    tw__free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles),      cmocka_unit_test(sizes),          cmocka_unit_test(large),
        cmocka_unit_test(very_large), cmocka_unit_test(failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
