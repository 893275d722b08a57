/* Functions of SavedModels that are no signatures: saved as attributes, found by name, called by what fits. */
#include <thalweg/thalweg.h>

#include "test.h"
#include "trial.h"

static tw_tensors scale(void *factor, tw_tensors in)
{
    return tw_give(tw_multiply(in.items[0], tw_variable_read(factor)));
}

static tw_tensors set(void *factor, tw_tensors in)
{
    return tw_give(tw_variable_read(tw_variable_assign(factor, in.items[0])));
}

static tw_tensors both(void *factor, tw_tensors in)
{
    (void)factor;
    return tw_give(tw_reduce_max(in.items[0]), tw_reduce_min(in.items[0]));
}

static const tw_spec vector = { TW_FLOAT32, { 1, { -1 } } }, number = { TW_FLOAT32, { 0, { 0 } } };

static tw_module *scaler(tw_variable **factor)
{
    tw_module *module = tw_module(.name = "scaler");
    *factor = tw_track(module, "factor", tw_variable(TW_F(2)));
    return module;
}

static void saved_and_called(void **state)
{
    (void)state;
    tw_scoped();
    tw_variable *factor;
    tw_module *module = scaler(&factor);
    const char *const x[] = { "x" }, *const names[] = { "largest", "smallest" };
    tw_export exports[] = {
        { "serve", tw_function_new(scale, factor, .signature = { &vector, 1 }), &vector, 1, x, NULL, "scale" },
        { NULL, tw_function_new(set, factor, .signature = { &number, 1 }), &number, 1, x, NULL, "set" },
        { NULL, tw_function_new(both, factor, .signature = { &vector, 1 }), &vector, 1, x, names, "both" },
    };
    assert_int_equal(tw_saved_model_save(module, "saved", exports, 3), TW_OK);
    tw_saved_object *loaded = tw_saved_model_load("saved");
    expect_no_error();
    tw_value signatures = tw_saved_model_signatures(loaded);
    assert_int_equal(signatures.list.count, 1);
    assert_string_equal(signatures.list.items[0].s.data, "serve");
    tw_saved_function *scales = tw_saved_model_function(loaded, "scale"), *sets = tw_saved_model_function(loaded, "set");
    tw_tensor *y = tw_saved_function_value(scales, TW_TENSORS(TW_FS(1, 2, 3)));
    expect_no_error();
    assert_true(tw_tensor_double_at(y, 2) == 6);
    assert_true(tw_tensor_double_at(tw_saved_function_value(sets, TW_TENSORS(TW_F(5))), 0) == 5);
    assert_true(tw_tensor_double_at(tw_saved_function_value(scales, TW_TENSORS(TW_FS(1))), 0) == 5);
    assert_true(tw_tensor_double_at(tw_variable_read(factor), 0) == 2); /* the loaded one has its own */
    tw_tensors ends = tw_saved_function_call(tw_saved_model_function(loaded, "both"), TW_TENSORS(TW_FS(4, 7)));
    assert_int_equal(ends.count, 2);
    assert_true(tw_tensor_double_at(ends.items[0], 0) == 7);
    assert_true(tw_tensor_double_at(ends.items[1], 0) == 4);
    expect_no_error();
    assert_null(tw_saved_model_function(loaded, "none"));
    expect_error(TW_NOT_FOUND, "no function 'none'; it has: ");
    assert_null(tw_saved_function_value(scales, TW_TENSORS(TW_I(1))));
    expect_error(TW_INVALID_ARGUMENT, "none of the function's 1 traces");
    tw_saved_model_close(loaded);
}

static void refused(void **state)
{
    (void)state;
    tw_scoped();
    tw_variable *factor;
    tw_module *module = scaler(&factor);
    const char *const names[] = { "smallest", "largest" };
    tw_export unsorted = { NULL, tw_function_new(both, factor, .signature = { &vector, 1 }), &vector, 1, NULL, names, "both" };
    assert_true(tw_saved_model_save(module, "refused", &unsorted, 1) != TW_OK);
    expect_error(TW_INVALID_ARGUMENT, "not in the alphabet's order");
    tw_export empty = { .attribute = "nothing" };
    assert_true(tw_saved_model_save(module, "refused", &empty, 1) != TW_OK);
    expect_error(TW_INVALID_ARGUMENT, "attribute 'nothing' has no function");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(saved_and_called), cmocka_unit_test(refused) };
    trial_enter();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    trial_leave();
    return failed;
}
