/* Tensors of JSON text: shapes, dtypes, and what is refused. */
#include <stdlib.h>
#include <string.h>

#include "test.h"

#include <thalweg.h>

static tw_tensor *tensor_of(const char *json, tw_dtype dtype)
{
    tw_value value;
    tw_clear_error();
    tw_tensor *made = tw_value_from_json(json, strlen(json), &value) == TW_OK ? tw_value_tensor(&value, dtype) : NULL;
    tw_value_free(&value);
    return made;
}

static void test_values(void **state)
{
    static const struct {
        const char *json;
        tw_dtype dtype;
        const char *text;
    } cases[] = {
        { "[[1, 2.5], [3, 4]]", 0, "tf.Tensor(\n[[1.  2.5]\n [3.  4. ]], shape=(2, 2), dtype=float32)" },
        { "[1, 2]", 0, "tf.Tensor([1 2], shape=(2,), dtype=int32)" },
        { "7", TW_INT64, "tf.Tensor(7, shape=(), dtype=int64)" },
        { "[9007199254740993]", TW_INT64, "tf.Tensor([9007199254740993], shape=(1,), dtype=int64)" },
        { "[255, 0]", TW_UINT8, "tf.Tensor([255   0], shape=(2,), dtype=uint8)" },
        { "[true, false]", 0, "tf.Tensor([ True False], shape=(2,), dtype=bool)" },
        { "[\"a\", \"bc\"]", 0, "tf.Tensor([b'a' b'bc'], shape=(2,), dtype=string)" },
        { "[{\"b64\": \"AP8=\"}, {\"b64\": \"_-8\"}]", TW_STRING,
          "tf.Tensor([b'\\x00\\xff' b'\\xff\\xef'], shape=(2,), dtype=string)" },
        { "[\"NaN\", 1, \"-Infinity\"]", TW_FLOAT64, "tf.Tensor([ nan   1. -inf], shape=(3,), dtype=float64)" },
        { "[[], []]", TW_FLOAT32, "tf.Tensor([], shape=(2, 0), dtype=float32)" },
        { "[]", TW_STRING, "tf.Tensor([], shape=(0,), dtype=string)" },
        { "[1, 2]", TW_COMPLEX64, "tf.Tensor([1.+0.j 2.+0.j], shape=(2,), dtype=complex64)" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tw_auto tw_tensor *made = tensor_of(cases[i].json, cases[i].dtype);
        char *text = made ? tw_tensor_str(made) : NULL;
        assert_non_null(text);
        assert_string_equal(text, cases[i].text);
        free(text);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *json;
        tw_dtype dtype;
        const char *text;
    } cases[] = {
        { "[[1, 2], [3]]", 0, "non-rectangular" },
        { "[1, [2]]", 0, "mixed types" },
        { "[[1], 2]", 0, "mixed types" },
        { "[1, \"a\"]", 0, "mixed types" },
        { "[1, null]", 0, "can't become a tensor" },
        { "[{\"b64\": \"?\"}]", 0, "not base64" },
        { "[{\"other\": \"x\"}]", 0, "can't become a tensor" },
        { "[256]", TW_UINT8, "256 is out of the range of uint8" },
        { "[-1]", TW_UINT64, "-1 is out of the range of uint64" },
        { "[1.5]", TW_INT32, "int32 is expected, got float32" },
        { "[1]", TW_BOOL, "bool is expected, got int32" },
        { "[true]", TW_FLOAT32, "float32 is expected, got bool" },
        { "[\"x\"]", TW_FLOAT32, "float32 is expected, got string" },
        { "[1]", TW_STRING, "string is expected, got int32" },
        { "[[[[[[[[[1]]]]]]]]]", 0, "deeper than 8 levels" },
        { "[1", 0, "" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(tensor_of(cases[i].json, cases[i].dtype));
        assert_non_null(strstr(tw_error_message(), cases[i].text));
    }
    tw_clear_error();
    tw_value value;
    assert_null(tw_value_tensor(NULL, TW_FLOAT32));
    assert_int_equal(tw_value_from_json(NULL, 0, &value), TW_INVALID_ARGUMENT);
    assert_int_equal(tw_value_from_json("1", 1, NULL), TW_INVALID_ARGUMENT);
    tw_clear_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_values), cmocka_unit_test(test_refused) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
