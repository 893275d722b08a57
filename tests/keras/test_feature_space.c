/* From C: a FeatureSpace that learns from a dataset of dicts and encodes features as one tensor. */
#include "test.h"

#include "rows.h"
#include "thalweg/literal.h"

static tw_value floats(float a, float b)
{
    return TW_LEAF(tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), (float[]){ a, b }));
}

static void encodes(void **state)
{
    (void)state;
    tw_value age = floats(1, 3), size = floats(4, 5);
    tw_auto tw_tensor *word = tw_tensor_strings((const char *const[]){ "a", "b", NULL });
    tw_value data = TW_DICT(TW_TEXT("age"), age, TW_TEXT("size"), size, TW_TEXT("word"), TW_LEAF(word));
    tw_auto tw_feature_space *space = tw_feature_space(TW_DICT(TW_TEXT("word"), TW_TEXT("string_categorical"), TW_TEXT("age"),
                                                               TW_TEXT("float_normalized"), TW_TEXT("size"), TW_TEXT("float")));
    assert_non_null(space);
    tw_value early = tw_feature_space_encode(space, data);
    assert_int_equal(early.kind, TW_VALUE_NONE);
    expect_error(TW_VALUE_ERROR, "You need to call `.adapt(dataset)`");
    tw_auto tw_dataset *rows = tw_dataset_rows_of_structure(data);
    assert_non_null(rows);
    assert_int_equal(tw_feature_space_adapt(space, rows), TW_OK);
    tw_value made = tw_feature_space_encode(space, data);
    expect_no_error();
    assert_int_equal(made.kind, TW_VALUE_TENSOR);
    assert_int_equal(made.tensor->shape.dims[1],
                     1 + 1 + 3); /* in the order of the names; the words "a" and "b", and unknown ones */
    assert_true(tw_tensor_double_at(made.tensor, 0) == -1 && tw_tensor_double_at(made.tensor, 5) == 1);
    assert_true(tw_tensor_double_at(made.tensor, 1) == 4 && tw_tensor_double_at(made.tensor, 6) == 5);
    assert_true(tw_tensor_double_at(made.tensor, 2) == 0);
    tw_value_free(&made);
    tw_release(age.tensor);
    tw_release(size.tensor);
}

static void refuses(void **state)
{
    (void)state;
    assert_null(tw_feature_space(TW_DICT(TW_TEXT("x"), TW_TEXT("floats"))));
    expect_error(TW_VALUE_ERROR, "Invalid feature type: floats");
    assert_null(tw_feature_space(TW_DICT(TW_TEXT("x"), TW_TEXT("float")), .output_mode = "list"));
    expect_error(TW_VALUE_ERROR, "Expected one of {'dict', 'concat'}. Received: output_mode=list");
    assert_null(tw_feature_space(TW_DICT(TW_TEXT("x"), TW_TEXT("float")), .crosses = TW_TUPLE(TW_TUPLE(TW_TEXT("y")))));
    expect_error(TW_VALUE_ERROR, "Received unknown features: y");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(encodes), cmocka_unit_test(refuses) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
