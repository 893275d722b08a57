/* tf.debugging's checks from C: what they say. */
#include <thalweg/thalweg.h>

#include "test.h"

static void holds(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(1), *y = tw_tensor_float(2), *rank = tw_tensor_int(0);
    tw_value given = tw_debugging_assert_less(x, y);
    assert_int_equal(given.kind, TW_VALUE_NONE);
    tw_debugging_assert_positive(x);
    tw_debugging_assert_rank(x, rank);
    tw_debugging_assert_type(x, TW_FLOAT32);
    expect_no_error();
}

static void fails(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(1), *y = tw_tensor_float(2), *rank = tw_tensor_int(1);
    tw_debugging_assert_equal(x, y, .message = "said");
    expect_error(TW_INVALID_ARGUMENT, "said\nCondition x == y did not hold.\n");
    tw_debugging_assert_negative(x);
    expect_error(TW_INVALID_ARGUMENT, "Condition x < 0 did not hold element-wise:\nx (shape=() dtype=float32) = \n['1.0']");
    tw_debugging_assert_rank(x, rank);
    expect_error(TW_VALUE_ERROR, "must have rank 1.  Received rank 0, shape ()");
    tw_debugging_assert_integer(x);
    expect_error(TW_TYPE_ERROR, "Expected \"x\" to be integer type.");
    tw_auto tw_tensor *no = tw_less(y, x);
    tw_debugging_assert(no, TW_TENSORS(x, y));
    expect_error(TW_INVALID_ARGUMENT, "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: 1.0\n2.0");
}

static tw_tensors checked(void *user, tw_tensors in)
{
    (void)user;
    tw_value operation = tw_debugging_assert_positive(in.items[0], .message = "in a graph");
    assert_int_equal(operation.kind, TW_VALUE_OBJECT);
    tw_value_free(&operation);
    return tw_give(tw_add(in.items[0], in.items[0]));
}

static void in_a_function(void **state)
{
    (void)state;
    tw_auto tw_function *f = tw_function_new(checked, NULL, .name = "checked");
    tw_auto tw_tensor *x = tw_tensor_float(1), *z = tw_tensor_float(-1), *y = tw_function_value(f, TW_TENSORS(x));
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(y, 0), 2, 0);
    assert_null(tw_function_value(f, TW_TENSORS(z)));
    expect_error(TW_INVALID_ARGUMENT, "in a graph");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(holds), cmocka_unit_test(fails), cmocka_unit_test(in_a_function) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
