/* Functions, branches and loops of the public header: values, captures, traces per kind of arguments, signatures, gradients,
 * errors; what a call costs. */
#include "test.h"

#include <time.h>

#include <thalweg/thalweg.h>

static tw_tensors square_plus(void *user, tw_tensors in)
{
    tw_auto tw_tensor *square = tw_multiply(in.items[0], in.items[0]);
    tw_auto tw_tensor *value = tw_variable_read(user);
    return tw_give(tw_add(square, value));
}

static tw_variable *variable(float value)
{
    tw_auto tw_tensor *initial = tw_tensor_float(value);
    return tw_variable(initial);
}

static void values(void **state)
{
    (void)state;
    tw_auto tw_variable *v = variable(10);
    tw_auto tw_function *f = tw_function_new(square_plus, v);
    tw_auto tw_tensor *x = tw_tensor_float(3), *row = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), (float[]){ 1, 2 });
    for (int i = 0; i < 3; i++) {
        tw_auto tw_tensor *y = tw_function_value(f, TW_TENSORS(x)), *z = tw_function_value(f, TW_TENSORS(row));
        expect_no_error();
        assert_float_equal(tw_tensor_double_at(y, 0), 19, 0);
        assert_float_equal(tw_tensor_double_at(z, 1), 14, 0);
    }
    assert_int_equal(tw_function_traces(f), 2);
    tw_release(tw_variable_assign(v, x));
    tw_auto tw_tensor *y = tw_function_value(f, TW_TENSORS(x)); /* variables are read at every call */
    assert_float_equal(tw_tensor_double_at(y, 0), 12, 0);
    assert_int_equal(tw_function_traces(f), 2);
}

static void gradients(void **state)
{
    (void)state;
    tw_auto tw_variable *v = variable(10);
    tw_auto tw_function *f = tw_function_new(square_plus, v, .name = "square_plus");
    tw_auto tw_tensor *x = tw_tensor_float(3);
    tw_auto tw_tape *tape = tw_tape_start();
    tw_tape_watch(tape, TW_OBJECTS(x));
    tw_auto tw_tensor *y = tw_function_value(f, TW_TENSORS(x)), *z = tw_function_value(f, TW_TENSORS(y));
    tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(z), TW_OBJECTS(x, v));
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(g.items[0], 0), 4 * 3 * 19, 1e-3);
    assert_float_equal(tw_tensor_double_at(g.items[1], 0), 2 * 19 + 1, 1e-3);
    tw_tensors_free(&g);
}

/* *user is made at the first call: twice the argument, which only the call has. */
static tw_tensors remember(void *user, tw_tensors in)
{
    tw_variable **v = user;
    if (!*v) {
        tw_auto tw_tensor *initial = tw_add(in.items[0], in.items[0]);
        *v = tw_retain(tw_variable(initial));
    }
    tw_auto tw_tensor *value = *v ? tw_variable_read(*v) : NULL;
    return tw_give(tw_add(value, in.items[0]));
}

static void first_values_of_arguments(void **state)
{
    (void)state;
    tw_auto tw_variable *v = NULL, *none = NULL;
    tw_auto tw_function *f = tw_function_new(remember, &v);
    for (int i = 0; i < 3; i++) {
        tw_auto tw_tensor *x = tw_tensor_float((float)i + 3), *y = tw_function_value(f, TW_TENSORS(x));
        expect_no_error();
        assert_float_equal(tw_tensor_double_at(y, 0), 9 + i, 0);
    }
    assert_int_equal(tw_function_traces(f), 2);
    assert_null(tw_function_new(remember, &none, .signature = TW_SPECS({ TW_FLOAT32, TW_SCALAR }))); /* there is no call */
    expect_error(TW_VALUE_ERROR, "Unable to lift tensor");
}

static tw_tensors twice_and_sum(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_tensor *two = tw_tensor_float(2);
    return tw_give(tw_multiply(in.items[0], two), tw_reduce_sum(in.items[0]));
}

static void signatures(void **state)
{
    (void)state;
    tw_auto tw_function *f = tw_function_new(twice_and_sum, NULL, .signature = TW_SPECS({ TW_FLOAT32, TW_SHAPE(-1, 2) }),
                                             .argument_names = (const char *const[]){ "rows" });
    expect_no_error();
    assert_int_equal(tw_function_traces(f), 1);
    for (int rows = 1; rows < 5; rows++) {
        tw_auto tw_tensor *zeros = tw_tensor_new(TW_FLOAT32, TW_SHAPE(rows, 2), NULL), *ones = tw_ones_like(zeros);
        tw_tensor *out[2] = { NULL, NULL };
        int count = 2;
        assert_int_equal(tw_function_call(f, TW_TENSORS(ones), out, &count), TW_OK);
        assert_int_equal(count, 2);
        assert_int_equal(tw_tensor_dim(out[0], 0), rows);
        assert_float_equal(tw_tensor_double_at(out[1], 0), 2 * rows, 0);
        tw_release(out[0]);
        tw_release(out[1]);
    }
    assert_int_equal(tw_function_traces(f), 1);
    tw_auto tw_tensor *wrong = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 3), NULL),
                      *other = tw_tensor_new(TW_INT32, TW_SHAPE(2, 2), NULL);
    tw_tensor *out[2];
    int count = 2;
    assert_int_not_equal(tw_function_call(f, TW_TENSORS(wrong), out, &count), TW_OK);
    expect_error(TW_INVALID_ARGUMENT, "argument 0 of function");
    assert_int_not_equal(tw_function_call(f, TW_TENSORS(other), out, &count), TW_OK);
    expect_error(TW_INVALID_ARGUMENT, "argument 0 of function");
    assert_int_not_equal(tw_function_call(f, TW_TENSORS(wrong, wrong), out, &count), TW_OK);
    expect_error(TW_INVALID_ARGUMENT, "takes 1 arguments, got 2");
    count = 1;
    tw_auto tw_tensor *good = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1, 2), NULL);
    assert_int_not_equal(tw_function_call(f, TW_TENSORS(good), out, &count), TW_OK);
    expect_error(TW_INVALID_ARGUMENT, "there is room for 1");
    assert_null(tw_function_new(twice_and_sum, NULL, .signature = TW_SPECS({ TW_DTYPE_NONE, TW_SHAPE(2) })));
    expect_error(TW_INVALID_ARGUMENT, "element 0 of the signature");
}

static void widening(void **state)
{
    (void)state;
    tw_auto tw_function *f = tw_function_new(twice_and_sum, NULL, .reduce_retracing = true);
    for (int rows = 1; rows < 20; rows++) {
        tw_auto tw_tensor *zeros = tw_tensor_new(TW_FLOAT32, TW_SHAPE(rows, 2), NULL);
        tw_tensor *out[2];
        int count = 2;
        assert_int_equal(tw_function_call(f, TW_TENSORS(zeros), out, &count), TW_OK);
        assert_int_equal(tw_tensor_dim(out[0], 0), rows);
        tw_release(out[0]);
        tw_release(out[1]);
    }
    assert_int_equal(tw_function_traces(f), 2);
}

static tw_tensors nothing(void *user, tw_tensors in)
{
    (void)in;
    tw_auto tw_tensor *one = tw_tensor_float(1);
    tw_release(tw_variable_assign_add(user, one));
    return TW_GIVE_NOTHING;
}

static tw_tensors fails(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_tensor *vector = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3), NULL);
    return tw_give(in.items[0], tw_matmul(in.items[0], vector));
}

static tw_tensors gives_up(void *user, tw_tensors in)
{
    (void)user;
    (void)in;
    return TW_GIVE_FAILURE;
}

static void errors(void **state)
{
    (void)state;
    tw_auto tw_variable *v = variable(0);
    tw_auto tw_function *effect = tw_function_new(nothing, v);
    tw_tensor *out[2];
    for (int i = 0; i < 4; i++) {
        int count = 2;
        assert_int_equal(tw_function_call(effect, (tw_tensors){ 0 }, out, &count), TW_OK);
        assert_int_equal(count, 0);
    }
    tw_auto tw_tensor *value = tw_variable_read(v);
    assert_float_equal(tw_tensor_double_at(value, 0), 4, 0);
    assert_null(tw_function_value(effect, (tw_tensors){ 0 }));
    expect_error(TW_INVALID_ARGUMENT, "gives no tensor");

    tw_auto tw_tensor *x = tw_tensor_float(1);
    tw_auto tw_function *bad = tw_function_new(fails, NULL), *silent = tw_function_new(gives_up, NULL, .name = "silent");
    assert_null(tw_function_value(bad, TW_TENSORS(x)));
    assert_int_not_equal(tw_error_code(), TW_OK);
    tw_clear_error();
    assert_null(tw_function_value(silent, TW_TENSORS(x)));
    expect_error(TW_INVALID_ARGUMENT, "silent: the body gave up");
    assert_null(tw_function_value(silent, TW_TENSORS(NULL)));
    expect_error(TW_INVALID_ARGUMENT, "silent: tensor 0: a tensor was expected, got NULL");
    assert_null(tw_function_new(NULL, NULL));
    expect_error(TW_INVALID_ARGUMENT, "body is NULL");
}

typedef struct recursion {
    tw_function *self;
    int depth;
} recursion;

static tw_tensors endless(void *user, tw_tensors in)
{
    recursion *r = user;
    r->depth++;
    tw_auto tw_tensor *longer = tw_concat(TW_TENSORS(in.items[0], in.items[0]), 0);
    return tw_give(tw_function_value(r->self, TW_TENSORS(longer)));
}

static void recursion_ends(void **state)
{
    (void)state;
    recursion r = { 0 };
    tw_auto tw_function *f = r.self = tw_function_new(endless, &r);
    tw_auto tw_tensor *zero = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1), NULL);
    assert_null(tw_function_value(f, TW_TENSORS(zero)));
    assert_int_not_equal(tw_error_code(), TW_OK);
    tw_clear_error();
    assert_true(r.depth < 200);
}

static tw_tensors add(void *user, tw_tensors in)
{
    (void)user;
    return tw_give(tw_add(in.items[0], in.items[1]));
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Nothing is allocated in the steady state; the time is told (the goal is 0.3 µs). */
static void cost_of_a_call(void **state)
{
    (void)state;
    tw_auto tw_function *f = tw_function_new(add, NULL);
    tw_auto tw_tensor *x = tw_tensor_float(1), *y = tw_tensor_float(2);
    for (int i = 0; i < 100; i++)
        tw_release(tw_function_value(f, TW_TENSORS(x, y)));
    long before = tw__alloc_count();
    double best = 1, begin;
    for (int round = 0; round < 20; round++) {
        begin = seconds();
        for (int i = 0; i < 2000; i++)
            tw_release(tw_function_value(f, TW_TENSORS(x, y)));
        double took = (seconds() - begin) / 2000;
        best = took < best ? took : best;
    }
    expect_no_error();
    assert_int_equal(tw__alloc_count(), before);
    print_message("a call of one add: %.3f us\n", best * 1e6);
    assert_true(best < 50e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),         cmocka_unit_test(gradients),
        cmocka_unit_test(signatures),     cmocka_unit_test(widening),
        cmocka_unit_test(errors),         cmocka_unit_test(recursion_ends),
        cmocka_unit_test(cost_of_a_call), cmocka_unit_test(first_values_of_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
