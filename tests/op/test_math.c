/* Arithmetic ops from C: gradients through broadcasts, every allocation failing in turn, no growth over many calls. */
#include "test.h"

#include "eager/tape.h"
#include "op/calls.h"
#include "rows.h"

static tw_tensor *filled(tw_shape shape, float first)
{
    tw_tensor *tensor = tw_tensor_new(TW_FLOAT32, shape, NULL);
    for (int64_t i = 0; tensor && i < tensor->count; i++)
        ((float *)tensor->data)[i] = first + (float)i * 0.25f;
    return tensor;
}

static void answers_and_errors(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = filled(TW_SHAPE(2, 3), 1);
    tw_auto tw_tensor *y = filled(TW_SHAPE(3), 2);
    tw_auto tw_tensor *z = tw_multiply(x, y);
    assert_non_null(z);
    assert_true(((float *)z->data)[5] == 2.25f * 2.5f);
    tw_auto tw_tensor *wrong = filled(TW_SHAPE(4), 1);
    assert_null(tw_add(x, wrong));
    expect_error(TW_INVALID_ARGUMENT, "Incompatible shapes: [2,3] vs. [4]");
    tw_auto tw_tensor *zero = tw_tensor_int(0);
    tw_auto tw_tensor *one = tw_tensor_int(1);
    assert_null(tw_math_floordiv(one, zero));
    expect_error(TW_INVALID_ARGUMENT, "Integer division by zero");
    assert_null(tw_add(x, NULL));
    expect_error(TW_INVALID_ARGUMENT, "NULL");
    tw_auto tw_tensor *half = tw_divide(one, one);
    assert_int_equal(half->dtype, TW_FLOAT64);
}

/* sum over everything of (x * y + x) / sqrt(y), with x [2,3], y [3]. */
static tw_status expression(void)
{
    tw_status status = TW_INTERNAL;
    tw_tensor *x = filled(TW_SHAPE(20, 3), 1), *y = x ? filled(TW_SHAPE(3), 2) : NULL, *results[2] = { NULL, NULL };
    tw_tape *tape = y ? tw_tape_start() : NULL;
    if (tape && tw__tape_watch(tape, x) == TW_OK && tw__tape_watch(tape, y) == TW_OK) {
        tw_tensor *product = TW_CALL(Mul, x, y);
        tw_tensor *sum = product ? TW_CALL(AddV2, product, x) : NULL;
        tw_tensor *root = sum ? TW_CALL(Sqrt, y) : NULL;
        tw_tensor *out = root ? TW_CALL(RealDiv, sum, root) : NULL;
        if (out)
            status = tw__tape_gradient(tape, &out, NULL, 1, (tw_tensor *[]){ x, y }, 2, results);
        tw_release(product);
        tw_release(sum);
        tw_release(root);
        tw_release(out);
    }
    if (tape)
        tw__tape_stop(tape);
    if (status == TW_OK) {
        assert_true(tw__shape_equal(&results[0]->shape, &x->shape));
        assert_true(tw__shape_equal(&results[1]->shape, &y->shape));
    }
    tw_release(results[0]);
    tw_release(results[1]);
    tw_release(x);
    tw_release(y);
    tw_release(tape);
    return status;
}

static void gradients_have_the_inputs_shapes(void **state)
{
    (void)state;
    assert_int_equal(expression(), TW_OK);
    expect_no_error();
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (long n = 1; n < 400; n++) {
        tw__buffer_trim();
        tw__alloc_fail_at(n);
        tw_status status = expression();
        tw__alloc_fail_at(0);
        if (status != TW_OK) {
            assert_int_equal(tw_error_code(), TW_RESOURCE_EXHAUSTED);
            tw_clear_error();
        }
    }
    assert_int_equal(expression(), TW_OK);
}

static void nothing_grows(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = filled(TW_SHAPE(100), 1);
    tw_auto tw_tensor *y = filled(TW_SCALAR, 2);
    long before = 0;
    for (int i = 0; i < 2000; i++) {
        if (i == 100)
            before = tw__alloc_count();
        tw_auto tw_tensor *sum = TW_CALL(AddV2, x, y);
        tw_auto tw_tensor *tanh = TW_CALL(Tanh, sum);
        assert_non_null(tanh);
    }
    assert_true(tw__alloc_count() == before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_and_errors),
        cmocka_unit_test(gradients_have_the_inputs_shapes),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(nothing_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
