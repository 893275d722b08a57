/* Tapes and variables from C: first and second derivatives, persistent and nested tapes, unconnected sources, steady memory,
 * failing allocations. */
#include "test.h"

#include "eager/eager.h"
#include "rows.h"

static double item(tw_tensor *t)
{
    double value = tw_tensor_double_at(t, 0);
    tw_release(t);
    return value;
}

static void one_derivative(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(3);
    tw_auto tw_tape *tape = tw_tape_start();
    assert_int_equal(tw_tape_watch(tape, TW_OBJECTS(x)), TW_OK);
    tw_auto tw_tensor *y = tw_multiply(x, x);
    tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(y), TW_OBJECTS(x));
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(g.items[0], 0), 6, 0);
    tw_tensors_free(&g);
    g = tw_tape_gradient(tape, TW_OBJECTS(y), TW_OBJECTS(x));
    expect_error(TW_RUNTIME_ERROR, "non-persistent GradientTape");
    tw_tensors_free(&g);
}

static void second_derivative(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(3);
    tw_auto tw_tape *outer = tw_tape_start();
    tw_tape_watch(outer, TW_OBJECTS(x));
    tw_auto tw_tape *inner = tw_tape_start();
    tw_tape_watch(inner, TW_OBJECTS(x));
    tw_auto tw_tensor *square = tw_multiply(x, x);
    tw_auto tw_tensor *cube = tw_multiply(square, x);
    tw_tensors first = tw_tape_gradient(inner, TW_OBJECTS(cube), TW_OBJECTS(x));
    assert_float_equal(tw_tensor_double_at(first.items[0], 0), 27, 0);
    tw_tensors second = tw_tape_gradient(outer, TW_OBJECTS(first.items[0]), TW_OBJECTS(x));
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(second.items[0], 0), 18, 0);
    tw_tensors_free(&first);
    tw_tensors_free(&second);
}

static void persistent_and_unconnected(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(2);
    tw_auto tw_tensor *z = tw_tensor_float(5);
    tw_auto tw_tape *tape = tw_tape_start(.persistent = true);
    tw_tape_watch(tape, TW_OBJECTS(x, z));
    tw_auto tw_tensor *y = tw_exp(x);
    tw_tape_exit(tape);
    tw_auto tw_tensor *unseen = tw_exp(y);
    for (int i = 0; i < 3; i++) {
        tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(y), TW_OBJECTS(x, z));
        assert_float_equal(tw_tensor_double_at(g.items[0], 0), exp(2), 1e-5);
        assert_null(g.items[1]);
        tw_tensors_free(&g);
    }
    tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(y), TW_OBJECTS(z), .unconnected_gradients = "zero");
    assert_float_equal(tw_tensor_double_at(g.items[0], 0), 0, 0);
    tw_tensors_free(&g);
    g = tw_tape_gradient(tape, TW_OBJECTS(unseen), TW_OBJECTS(x));
    assert_null(g.items[0]);
    tw_tensors_free(&g);
    /* y by itself is one */
    g = tw_tape_gradient(tape, TW_OBJECTS(y), TW_OBJECTS(y));
    assert_float_equal(tw_tensor_double_at(g.items[0], 0), 1, 0);
    tw_tensors_free(&g);
    expect_no_error();
}

static tw_variable *make_variable(float value, bool trainable)
{
    tw_auto tw_tensor *initial = tw_tensor_float(value);
    return tw_variable(initial, .trainable = trainable);
}

static void variables_are_watched(void **state)
{
    (void)state;
    tw_auto tw_variable *v = make_variable(4, true);
    tw_auto tw_variable *still = make_variable(4, false);
    tw_auto tw_tape *tape = tw_tape_start();
    tw_auto tw_tensor *a = tw_variable_read(v);
    tw_auto tw_tensor *b = tw_variable_read(still);
    tw_auto tw_tensor *y = tw_multiply(a, a);
    tw_auto tw_tensor *z = tw_multiply(y, b);
    tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(z), TW_OBJECTS(v, still));
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(g.items[0], 0), 32, 0);
    assert_null(g.items[1]);
    tw_tensors_free(&g);

    tw_auto tw_tensor *two = tw_tensor_float(2);
    tw_release(tw_variable_assign_sub(v, two));
    assert_float_equal(item(tw_variable_read(v)), 2, 0);
    assert_float_equal(tw_tensor_double_at(a, 0), 4, 0); /* what was read before does not change */
    tw_auto tw_tensor *wrong = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), NULL);
    assert_null(tw_variable_assign(v, wrong));
    expect_error(TW_VALUE_ERROR, "Shape mismatch");
    tw_auto tw_tensor *whole = tw_tensor_int(1);
    assert_null(tw_variable_assign(v, whole));
    expect_error(TW_INVALID_ARGUMENT, "expected to be a float tensor but is a int32 tensor");
}

static float train(tw_variable *w, tw_tensor *x, int steps)
{
    tw_auto tw_tensor *rate = tw_tensor_float(0.01f);
    float last = 0;
    for (int i = 0; i < steps; i++) {
        tw_auto tw_tape *tape = tw_tape_start();
        tw_auto tw_tensor *value = tw_variable_read(w);
        tw_auto tw_tensor *product = tw_matmul(x, value);
        tw_auto tw_tensor *square = tw_square(product);
        tw_auto tw_tensor *loss = tw_reduce_mean(square);
        tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(loss), TW_OBJECTS(w));
        if (g.count && g.items[0]) {
            tw_auto tw_tensor *change = tw_multiply(rate, g.items[0]);
            tw_release(tw_variable_assign_sub(w, change));
        }
        last = loss ? (float)tw_tensor_double_at(loss, 0) : -1;
        tw_tensors_free(&g);
    }
    return last;
}

static void training_keeps_its_memory(void **state)
{
    (void)state;
    float ones[64 * 64];
    for (int i = 0; i < 64 * 64; i++)
        ones[i] = (float)(i % 7) * 0.01f;
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(64, 64), ones);
    tw_auto tw_variable *w = tw_variable(x);
    float first = train(w, x, 1);
    train(w, x, 10);
    long before = tw__alloc_count();
    float last = train(w, x, 200);
    expect_no_error();
    /* What is left: the tape object and the list of results, small and freed at once. */
    assert_true((tw__alloc_count() - before) / 200 <= 8);
    assert_true(last < first);
}

static void failing_allocations(void **state)
{
    (void)state;
    float some[64 * 4] = { 1, 2, 3 };
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4, 64), some);
    tw_auto tw_tensor *start = tw_tensor_new(TW_FLOAT32, TW_SHAPE(64, 4), some);
    int failures = 0;
    for (int n = 1; n < 400; n++) {
        tw_auto tw_variable *w = tw_variable(start);
        tw__buffer_trim();
        tw__alloc_fail_at(n);
        train(w, x, 1);
        tw__alloc_fail_at(0);
        if (tw_error_code() == TW_OK)
            break;
        expect_error(TW_RESOURCE_EXHAUSTED, "out of memory");
        failures++;
    }
    assert_true(failures > 3 && failures < 399);
    tw_auto tw_variable *w = tw_variable(start);
    train(w, x, 3);
    expect_no_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_derivative),
        cmocka_unit_test(second_derivative),
        cmocka_unit_test(persistent_and_unconnected),
        cmocka_unit_test(variables_are_watched),
        cmocka_unit_test(training_keeps_its_memory),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
