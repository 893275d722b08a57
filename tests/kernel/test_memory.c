/* Kernels that move or order elements, at sizes where they take their special ways: transpositions by lines, copies and
 * elementwise loops that write past the caches, rows ordered by digits or by a heap. */
#include "test.h"

#include <stdlib.h>

#include "kernel/copy.h"
#include "kernel/kernel.h"
#include "kernel/reduce/order.h"
#include "rows.h"

static void transposes(void **state)
{
    (void)state;
    static const int64_t sizes[][2] = {
        { 1, 9 }, { 16, 16 }, { 17, 65 }, { 64, 64 }, { 130, 47 }, { 2112, 1024 }, { 1500, 1501 }
    };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t rows = sizes[s][0], columns = sizes[s][1];
        tw_auto tw_tensor *from = tw_tensor_new(TW_INT32, TW_SHAPE(rows, columns), NULL);
        tw_auto tw_tensor *to = tw_tensor_new(TW_INT32, TW_SHAPE(columns, rows), NULL);
        for (int64_t i = 0; i < from->count; i++)
            ((int32_t *)from->data)[i] = (int32_t)i;
        tw__walk walk = { 0 };
        tw__walk_add(&walk, columns, rows, 1);
        tw__walk_add(&walk, rows, 1, columns);
        assert_int_equal(tw__copy_walk(TW_INT32, to->data, from->data, &walk), TW_OK);
        for (int64_t r = 0; r < rows; r++) {
            for (int64_t c = 0; c < columns; c++)
                assert_true(((int32_t *)to->data)[c * rows + r] == (int32_t)(r * columns + c));
        }
    }
}

/* The same bits with any number of threads, with and without writing past the caches; the last tile is not whole. */
static void elementwise(void **state)
{
    (void)state;
    enum { COUNT = (2 << 20) + 1234 };
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(COUNT), NULL),
                      *y = tw_tensor_new(TW_FLOAT32, TW_SHAPE(COUNT), NULL);
    tw_auto tw_tensor *many = tw_tensor_new(TW_FLOAT32, TW_SHAPE(COUNT), NULL),
                      *one = tw_tensor_new(TW_FLOAT32, TW_SHAPE(COUNT), NULL);
    float *a = x->data, *b = y->data, *z = many->data, *w = one->data;
    for (int i = 0; i < COUNT; i++) {
        a[i] = (float)(i % 1001) / 300 - 1;
        b[i] = (float)(i % 777) / 100;
    }
    int threads = tw__thread_count();
    tw_shape shape = { 1, { COUNT } };
    tw__thread_count_set(3);
    tw__unary_run(&tw__unary_tanh, TW_FLOAT32, a, z, COUNT);
    tw__thread_count_set(1);
    tw__unary_run(&tw__unary_tanh, TW_FLOAT32, a, w, COUNT);
    assert_memory_equal(z, w, COUNT * sizeof *z);
    tw__unary_run(&tw__unary_tanh, TW_FLOAT32, a, w, 5000); /* a small one: not streamed; all but its last vector */
    assert_memory_equal(z, w, 4992 * sizeof *z);
    tw__thread_count_set(3);
    tw__binary_run(&tw__binary_power, TW_FLOAT32, b, &shape, a, &shape, z, &shape);
    tw__thread_count_set(1);
    tw__binary_run(&tw__binary_power, TW_FLOAT32, b, &shape, a, &shape, w, &shape);
    assert_memory_equal(z, w, COUNT * sizeof *z);
    tw__thread_count_set(threads);
    tw__binary_run(&tw__binary_add, TW_FLOAT32, a, &shape, b, &shape, a, &shape); /* in place */
    for (int i = 0; i < COUNT; i++)
        assert_true(a[i] == ((float)(i % 1001) / 300 - 1) + b[i]);
    tw_shape matrix = { 2, { COUNT / 64, 64 } }, row = { 1, { 64 } };
    tw__binary_run(&tw__binary_subtract, TW_FLOAT32, a, &matrix, b, &row, z, &matrix);
    for (int i = 0; i < COUNT / 64 * 64; i++)
        assert_true(z[i] == a[i] - b[i % 64]);
}

static int falling(const void *a, const void *b)
{
    const double *x = a, *y = b;
    bool x_nan = x[0] != x[0], y_nan = y[0] != y[0];
    if (x_nan != y_nan)
        return x_nan ? 1 : -1;
    if (!x_nan && x[0] != y[0])
        return x[0] > y[0] ? -1 : 1;
    return x[1] < y[1] ? -1 : 1;
}

static void order(void **state)
{
    (void)state;
    enum { ROWS = 4, MOST = 3000 };
    static const int64_t widths[] = { 1, 5, 48, 49, 500, MOST };
    unsigned seed = 3;
    float *data = tw__alloc(ROWS * MOST * sizeof *data);
    uint32_t *places = tw__alloc(ROWS * MOST * sizeof *places);
    double(*expected)[2] = tw__alloc(MOST * sizeof *expected);
    for (size_t n = 0; n < sizeof widths / sizeof *widths; n++) {
        int64_t columns = widths[n];
        for (int64_t i = 0; i < ROWS * columns; i++)
            data[i] = i % 97 == 5   ? NAN
                      : i % 31 == 7 ? -0.0f
                      : i % 31 == 8 ? 0.0f
                      : i % 89 == 3 ? -INFINITY
                                    : (float)(rand_r(&seed) % 401 - 200) / 7;
        for (int64_t keep = 1; keep <= columns; keep = keep * 4 > columns && keep < columns ? columns : keep * 4) {
            assert_int_equal(tw__order_rows(TW_FLOAT32, data, ROWS, columns, keep, places), TW_OK);
            for (int64_t r = 0; r < ROWS; r++) {
                for (int64_t i = 0; i < columns; i++) {
                    expected[i][0] = (double)data[r * columns + i];
                    expected[i][1] = (double)i;
                }
                qsort(expected, (size_t)columns, sizeof *expected, falling);
                for (int64_t i = 0; i < keep; i++)
                    assert_int_equal(places[r * keep + i], (int64_t)expected[i][1]);
            }
        }
    }
    int32_t whole[] = { 5, INT32_MIN, 5, INT32_MAX, -1, 0 };
    assert_int_equal(tw__order_rows(TW_INT32, whole, 1, 6, 6, places), TW_OK);
    assert_memory_equal(places, ((uint32_t[]){ 3, 0, 2, 5, 4, 1 }), 6 * sizeof *places);
    assert_false(tw__order_has(TW_INT64, 10));
    tw__free(data);
    tw__free(places);
    tw__free(expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(transposes), cmocka_unit_test(elementwise), cmocka_unit_test(order) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
