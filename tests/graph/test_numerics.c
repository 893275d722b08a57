/* tf.debugging.enable_check_numerics from C: at once, in functions, and off again. */
#include <thalweg/thalweg.h>

#include "test.h"

static tw_tensors logarithm(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_tensor *y = tw_math_log(in.items[0]);
    return tw_give(tw_multiply(y, y));
}

static void at_once(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(0);
    assert_int_equal(tw_debugging_enable_check_numerics(), TW_OK);
    assert_null(tw_math_log(x));
    expect_error(TW_INVALID_ARGUMENT,
                 "\n\n!!! Detected Infinity or NaN in output 0 of eagerly-executing op \"Log\" (# of outputs: 1) !!!\n"
                 "  dtype: <dtype: 'float32'>\n  shape: ()\n  # of -Inf elements: 1\n\n"
                 "  Input tensor: tf.Tensor(0.0, shape=(), dtype=float32)\n\n : Tensor had -Inf values");
    assert_int_equal(tw_debugging_disable_check_numerics(), TW_OK);
    tw_auto tw_tensor *y = tw_math_log(x);
    assert_non_null(y);
    expect_no_error();
}

static void in_a_function(void **state)
{
    (void)state;
    tw_auto tw_tensor *zero = tw_tensor_float(0), *one = tw_tensor_float(1);
    tw_debugging_enable_check_numerics();
    tw_auto tw_function *f = tw_function_new(logarithm, NULL, .name = "logarithm");
    tw_auto tw_tensor *good = tw_function_value(f, TW_TENSORS(one));
    assert_non_null(good);
    assert_null(tw_function_value(f, TW_TENSORS(zero)));
    expect_error(
        TW_INVALID_ARGUMENT,
        "in output 0 of graph op \"Log\" (# of outputs: 1) !!!\n  dtype: <dtype: 'float32'>\n  shape: ()\n\n  Input tensor: Tensor(\"");
    tw_debugging_disable_check_numerics();
    assert_null(tw_function_value(f, TW_TENSORS(zero))); /* what was traced stays checked */
    expect_error(TW_INVALID_ARGUMENT, "graph op \"Log\"");
    tw_auto tw_function *plain = tw_function_new(logarithm, NULL, .name = "plain");
    tw_auto tw_tensor *infinite = tw_function_value(plain, TW_TENSORS(zero));
    assert_non_null(infinite);
    tw_debugging_enable_check_numerics();
    assert_null(tw_function_value(plain, TW_TENSORS(zero))); /* traced before: what the call gives is checked */
    expect_error(TW_INVALID_ARGUMENT, "eagerly-executing op \"");
    tw_debugging_disable_check_numerics();
}

static void in_a_loaded_graph(void **state)
{
    (void)state;
    tw_debugging_enable_check_numerics();
    tw_auto tw_graph *graph = tw_graph();
    tw_graph_enter(graph);
    tw_auto tw_tensor *x = tw_placeholder(TW_FLOAT32, .shape = TW_SHAPE(-1)), *y = tw_math_log(x);
    tw_graph_exit(graph);
    tw_auto tw_session *session = tw_session(.graph = graph);
    float bad[] = { 0 };
    tw_auto tw_tensor *value = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1), bad);
    tw_tensors results = tw_session_run(session, TW_OBJECTS(y), .feeds = TW_TENSORS(x), .values = TW_TENSORS(value));
    assert_null(results.items);
    expect_error(TW_INVALID_ARGUMENT, "graph op \"Log\"");
    tw_debugging_disable_check_numerics();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(at_once), cmocka_unit_test(in_a_function),
                                        cmocka_unit_test(in_a_loaded_graph) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
