/* Errors: what is known of one, and the message that is composed of it. */
#include "test.h"

static void expect_message(const char *whole)
{
    assert_string_equal(tw_error_message(), whole);
    tw_clear_error();
}

static void ops(void **state)
{
    (void)state;
    tw__fail(TW_INVALID_ARGUMENT, "%d is too %s", 7, "large");
    tw__error_at_op("Split");
    tw__error_at_op("Outer"); /* the innermost is told */
    expect_message("7 is too large [Op:Split]");
    tw__fail_op("TopKV2", TW_INVALID_ARGUMENT, "Need k");
    tw__error_call_name("");
    expect_message("Need k [Op:TopKV2] name: ");
    tw__fail(TW_TYPE_ERROR, "of Python"); /* such have no op */
    tw__error_at_op("Split");
    expect_message("of Python");
    tw__error_at_op("Split"); /* there is no error */
    expect_no_error();
}

static void nodes(void **state)
{
    (void)state;
    tw__fail(TW_OUT_OF_RANGE, "the end");
    tw__error_at_node("Next", NULL);
    tw__error_at_node("while", NULL);
    tw__error_at_op("Function");
    assert_string_equal(tw_error_message(), "the end\n\t [[{{node while/Next}}]]");
    tw__error_in_function("__inference_f_1", "  File \"a.py\", line 1\n\n");
    expect_message("Graph execution error:\n\nDetected at node while/Next defined at (most recent call last):\n  File \"a.py\", "
                   "line 1\n\nthe end\n\t [[{{node while/Next}}]] [Op:__inference_f_1]");
    tw__fail(TW_VALUE_ERROR, "of Python");
    tw__error_at_node("a", NULL);
    expect_message("node a: of Python");
}

static void names(void **state)
{
    (void)state;
    static const size_t gaps[] = { 9, 12 };
    tw__fail_unnamed(TW_VALUE_ERROR, "for node '' (/y)", gaps, 0);
    tw__error_fill("mul");
    expect_message("for node '' (/y)");
    tw__fail_unnamed(TW_VALUE_ERROR, "for node  = (/y)", gaps, 2);
    tw__error_fill("mul");
    tw__error_fill("again");
    expect_message("for node mul = mul(/y)");
}

static void around(void **state)
{
    (void)state;
    tw__fail_op("Cast", TW_UNIMPLEMENTED, "no");
    tw__error_prefix("layer: ");
    assert_string_equal(tw_error_message(), "layer: no [Op:Cast]");
    tw__error_wrap("Exception: ", "\nArguments");
    tw__error_at_op("Call");
    tw__saved_error saved = tw__error_take();
    expect_no_error();
    assert_string_equal(tw__error_message_of(&saved), "Exception: layer: no [Op:Cast]\nArguments [Op:Call]");
    tw__error_restore(saved);
    expect_message("Exception: layer: no [Op:Cast]\nArguments [Op:Call]");
    tw__fail(TW_INTERNAL, "dropped");
    saved = tw__error_take();
    tw__error_drop(&saved);
    assert_int_equal(saved.code, TW_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(ops), cmocka_unit_test(nodes), cmocka_unit_test(names),
                                        cmocka_unit_test(around) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
