/* tf.experimental.numpy from C: dtypes are promoted, results are those of the rows. */
#include <thalweg/api.h>

#include "rows.h"
#include "tensor/tensor.h"
#include "test.h"

static void add_promotes(void **state)
{
    (void)state;
    tw_auto tw_tensor *a = tw_tensor_new(TW_INT32, TW_SHAPE(2), (const int32_t[]){ 1, 2 });
    tw_auto tw_tensor *b = tw_tensor_float(0.5f), *sum = tw_numpy_add(a, b);
    assert_non_null(sum);
    assert_int_equal(sum->dtype, TW_FLOAT64);
    assert_true(tw_tensor_double_at(sum, 0) == 1.5 && tw_tensor_double_at(sum, 1) == 2.5);
}

static void results_of_several_kinds(void **state)
{
    (void)state;
    tw_auto tw_tensor *a = tw_tensor_new(TW_UINT8, TW_SHAPE(2, 2), (const uint8_t[]){ 200, 100, 3, 0 });
    tw_auto tw_tensor *sum = tw_numpy_sum(a, .axis = TW_INTS(0)), *mean = tw_numpy_mean(a);
    assert_non_null(sum);
    assert_int_equal(sum->dtype, TW_UINT64);
    assert_int_equal(tw_tensor_int_at(sum, 0), 203);
    assert_true(mean && tw_tensor_double_at(mean, 0) == 75.75);
    tw_value parts = tw_numpy_divmod(a, sum);
    assert_int_equal(parts.kind, TW_VALUE_TUPLE);
    tw_value_free(&parts);
    tw_tensors places = tw_numpy_nonzero(a);
    assert_int_equal(places.count, 2);
    tw_tensors_free(&places);
    tw_auto tw_tensor *x = tw_tensor_int(12), *y = tw_tensor_new(TW_INT64, TW_SHAPE(2), (const int64_t[]){ 18, -8 });
    tw_auto tw_tensor *divisor = tw_numpy_gcd(x, y);
    assert_non_null(divisor);
    assert_true(tw_tensor_int_at(divisor, 0) == 6 && tw_tensor_int_at(divisor, 1) == 4);
}

static void what_does_not_fit_is_an_error(void **state)
{
    (void)state;
    tw_auto tw_tensor *half = tw_tensor_new(TW_FLOAT16, TW_SCALAR, NULL), *brain = tw_tensor_new(TW_BFLOAT16, TW_SCALAR, NULL);
    assert_null(tw_numpy_add(half, brain));
    assert_int_equal(tw_error_code(), TW_TYPE_ERROR);
    tw_clear_error();
    assert_null(tw_numpy_tril(half));
    assert_int_equal(tw_error_code(), TW_VALUE_ERROR);
    tw_clear_error();
    assert_null(tw_numpy_clip(half, NULL, NULL));
    assert_int_equal(tw_error_code(), TW_VALUE_ERROR);
    tw_clear_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(add_promotes), cmocka_unit_test(results_of_several_kinds),
                                        cmocka_unit_test(what_does_not_fit_is_an_error) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
