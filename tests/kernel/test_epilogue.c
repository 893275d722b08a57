/* A product or a convolution with bias and activation gives the bits of the separate steps, in every size and path, for every
 * dtype. */
#include "test.h"

#include <stdlib.h>

#include "kernel/conv/conv.h"
#include "kernel/gemm/gemm.h"
#include "kernel/nn.h"
#include "rows.h"

static const tw__unary *const activations[] = { NULL, &tw__unary_relu, &tw__unary_relu6, &tw__unary_tanh, &tw__unary_sigmoid };
enum { ACTIVATIONS = sizeof activations / sizeof *activations };

static float *numbers(int64_t count, unsigned *seed)
{
    float *x = tw__alloc((size_t)count * sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)(rand_r(seed) % 2001 - 1000) / 500;
    return x;
}

/* As the ops BiasAdd and the activation's would run. */
static void separately(tw_dtype dtype, void *c, const void *bias, const tw__unary *activation, int64_t rows, int64_t columns)
{
    tw_shape whole = { 2, { rows, columns } }, one = { 1, { columns } };
    if (bias)
        tw__binary_run(&tw__binary_add, dtype, c, &whole, bias, &one, c, &whole);
    if (activation)
        tw__unary_run(activation, dtype, c, c, rows * columns);
}

static void check_product(int64_t m, int64_t n, int64_t k, bool transpose_b)
{
    unsigned seed = (unsigned)(m + n + k);
    float *a = numbers(m * k + 1, &seed), *b = numbers(k * n + 1, &seed), *bias = numbers(n, &seed);
    float *c = numbers(m * n, &seed), *expected = numbers(m * n, &seed);
    int64_t b_row = transpose_b ? 1 : n, b_column = transpose_b ? k : 1;
    for (int i = 0; i < 2 * ACTIVATIONS; i++) {
        tw__epilogue then = { i % 2 ? bias : NULL, activations[i / 2] };
        assert_int_equal(tw__gemm_float(m, n, k, a, k, 1, b, b_row, b_column, expected, n), TW_OK);
        separately(TW_FLOAT32, expected, then.bias, then.activation, m, n);
        assert_int_equal(tw__gemm_then(TW_FLOAT32, m, n, k, (tw__matrix){ a, k, 1, false },
                                       (tw__matrix){ b, b_row, b_column, false }, c, &then),
                         TW_OK);
        assert_memory_equal(c, expected, (size_t)(m * n) * sizeof *c);
    }
    tw__free(a);
    tw__free(b);
    tw__free(bias);
    tw__free(c);
    tw__free(expected);
}

static void products(void **state)
{
    (void)state;
    static const int64_t sizes[][3] = { { 1, 1, 1 },      { 5, 7, 0 },      { 3, 65, 40 },     { 12, 16, 9 },    { 50, 10, 100 },
                                        { 50, 100, 784 }, { 97, 131, 401 }, { 300, 500, 900 }, { 1030, 49, 385 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_product(sizes[i][0], sizes[i][1], sizes[i][2], false);
        check_product(sizes[i][0], sizes[i][1], sizes[i][2], true);
    }
}

static void other_dtypes(void **state)
{
    (void)state;
    double a[6] = { 1, -2, 3, -4, 5, -6 }, b[12] = { 1, 2, 3, 4, -5, 6, -7, 8, 9, -1, -2, -3 }, bias[4] = { 1, -50, 0.5, 2 },
           c[8], expected[8];
    tw__matrix x = { a, 3, 1, false }, y = { b, 4, 1, false };
    tw__epilogue then = { bias, &tw__unary_relu };
    assert_int_equal(tw__gemm_then(TW_FLOAT64, 2, 4, 3, x, y, c, &then), TW_OK);
    assert_int_equal(tw__gemm(TW_FLOAT64, 2, 4, 3, x, y, expected), TW_OK);
    separately(TW_FLOAT64, expected, bias, &tw__unary_relu, 2, 4);
    assert_memory_equal(c, expected, sizeof c);
    uint16_t halves[12], half_bias[4], got[8], wanted[8];
    for (int i = 0; i < 12; i++)
        halves[i] = tw__float_to_half((float)b[i]);
    for (int i = 0; i < 4; i++)
        half_bias[i] = tw__float_to_half((float)bias[i]);
    tw__matrix u = { halves, 3, 1, false }, v = { halves, 4, 1, false };
    then = (tw__epilogue){ half_bias, &tw__unary_tanh };
    assert_int_equal(tw__gemm_then(TW_FLOAT16, 2, 4, 3, u, v, got, &then), TW_OK);
    assert_int_equal(tw__gemm(TW_FLOAT16, 2, 4, 3, u, v, wanted), TW_OK);
    separately(TW_FLOAT16, wanted, half_bias, &tw__unary_tanh, 2, 4);
    assert_memory_equal(got, wanted, sizeof got);
}

static void convolutions(void **state)
{
    (void)state;
    static const tw__conv sizes[] = {
        { 3, 4, 5, 1, 4, { 6, 7 }, { 6, 7 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
        { 50, 1, 32, 1, 1, { 28, 28 }, { 28, 28 }, { 5, 5 }, { 1, 1 }, { 1, 1 }, { 2, 2 }, { 2, 2 } },
        { 7, 16, 24, 1, 16, { 14, 14 }, { 14, 14 }, { 5, 5 }, { 1, 1 }, { 1, 1 }, { 2, 2 }, { 2, 2 } },
        { 1, 32, 32, 32, 1, { 20, 20 }, { 10, 10 }, { 3, 3 }, { 2, 2 }, { 1, 1 }, { 0, 0 }, { 1, 1 } },
        { 1, 24, 48, 1, 24, { 40, 40 }, { 40, 40 }, { 3, 3 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 } },
    };
    unsigned seed = 5;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const tw__conv *c = &sizes[s];
        int64_t outputs = tw__conv_output_count(c), channels = c->out_channels;
        float *x = numbers(tw__conv_input_count(c), &seed), *w = numbers(tw__conv_filter_count(c), &seed),
              *bias = numbers(channels, &seed);
        float *got = numbers(outputs, &seed), *expected = numbers(outputs, &seed);
        for (int i = 0; i < 2 * ACTIVATIONS; i++) {
            tw__epilogue then = { i % 2 ? bias : NULL, activations[i / 2] };
            assert_int_equal(tw__conv_run(TW_CONV_OUTPUT, TW_FLOAT32, c, x, w, expected), TW_OK);
            separately(TW_FLOAT32, expected, then.bias, then.activation, outputs / channels, channels);
            assert_int_equal(tw__conv_then(TW_FLOAT32, c, x, w, got, &then), TW_OK);
            assert_memory_equal(got, expected, (size_t)outputs * sizeof *got);
        }
        tw__free(x);
        tw__free(w);
        tw__free(bias);
        tw__free(got);
        tw__free(expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(products), cmocka_unit_test(other_dtypes),
                                        cmocka_unit_test(convolutions) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
