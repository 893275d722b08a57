/* Linear algebra and segments from C: answers, errors, and every allocation failing in turn. */
#include <math.h>

#include "test.h"

#include "rows.h"

static const double numbers[] = { 4, 1, 2, 1, 3, 0, 2, 0, 5 };

static void systems(void **state)
{
    (void)state;
    tw_auto tw_tensor *a = tw_tensor_new(TW_FLOAT64, TW_SHAPE(3, 3), numbers),
                      *b = tw_tensor_new(TW_FLOAT64, TW_SHAPE(3, 1), numbers);
    tw_auto tw_tensor *x = tw_linalg_solve(a, b), *back = x ? tw_matmul(a, x) : NULL;
    assert_non_null(back);
    for (int64_t i = 0; i < 3; i++)
        assert_true(fabs(tw_tensor_double_at(back, i) - numbers[i]) < 1e-12);
    tw_auto tw_tensor *determinant = tw_linalg_det(a);
    assert_true(fabs(tw_tensor_double_at(determinant, 0) - 43) < 1e-12);
    tw_auto tw_tensor *zeros = tw_tensor_new(TW_FLOAT64, TW_SHAPE(2, 2), NULL);
    assert_null(tw_linalg_inv(zeros));
    expect_error(TW_INVALID_ARGUMENT, "Input is not invertible.");
    assert_null(tw_linalg_cholesky(b));
    expect_error(TW_INVALID_ARGUMENT, "Input matrix must be square.");
}

static void segments(void **state)
{
    (void)state;
    tw_auto tw_tensor *rows = tw_tensor_new(TW_FLOAT64, TW_SHAPE(4), numbers),
                      *ids = tw_tensor_new(TW_INT32, TW_SHAPE(4), (const int32_t[]){ 0, 0, 2, 2 });
    tw_auto tw_tensor *greatest = tw_math_segment_max(rows, ids), *mean = tw_math_segment_mean(rows, ids);
    assert_true(tw_tensor_double_at(greatest, 0) == 4 && tw_tensor_double_at(greatest, 1) == 0 &&
                tw_tensor_double_at(greatest, 2) == 2);
    assert_true(tw_tensor_double_at(mean, 2) == 1.5);
}

static void allocations_fail(void **state)
{
    (void)state;
    tw_auto tw_tensor *a = tw_tensor_new(TW_FLOAT64, TW_SHAPE(3, 3), numbers);
    bool done = false;
    for (long n = 1; !done && n < 200; n++) {
        tw__alloc_fail_at(n);
        tw_tensor *inverse = tw_linalg_inv(a);
        tw_tensors qr = inverse ? tw_linalg_qr(a) : (tw_tensors){ 0 };
        tw_value svd = qr.items ? tw_linalg_svd(a) : (tw_value){ .kind = TW_VALUE_NONE };
        tw__alloc_fail_at(0);
        done = svd.kind == TW_VALUE_TUPLE;
        tw_release(inverse);
        if (qr.items)
            tw_tensors_free(&qr);
        tw_value_free(&svd);
        tw_clear_error();
    }
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(systems), cmocka_unit_test(segments),
                                        cmocka_unit_test(allocations_fail) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
