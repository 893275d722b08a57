/* Sparse and ragged tensors from C: making them, functions of them, their text, and what is refused. */
#include <thalweg/api.h>

#include "api/ragged/ragged_call.h"
#include "rows.h"
#include "test.h"

#define OF_TENSOR(t) ((tw_value){ .kind = TW_VALUE_TENSOR, .tensor = (t) })
#define OF_OBJECT(o) ((tw_value){ .kind = TW_VALUE_OBJECT, .object = (o) })

static tw_ragged_tensor *three_rows(void)
{
    tw_auto tw_tensor *values = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4), (const float[]){ 1, 2, 3, 4 });
    tw_auto tw_tensor *splits = tw_tensor_new(TW_INT64, TW_SHAPE(4), (const int64_t[]){ 0, 2, 2, 4 });
    return tw_ragged_tensor_from_row_splits(OF_TENSOR(values), OF_TENSOR(splits));
}

static void expect_text(char *text, const char *expected)
{
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static void test_ragged(void **state)
{
    (void)state;
    tw_auto tw_ragged_tensor *rows = three_rows();
    assert_non_null(rows);
    expect_text(tw_ragged_tensor_repr(rows), "<tf.RaggedTensor [[1.0, 2.0], [], [3.0, 4.0]]>");
    tw_auto tw_tensor *dense = tw_ragged_tensor_to_tensor(rows);
    assert_non_null(dense);
    assert_int_equal(tw_tensor_dim(dense, 0), 3);
    assert_int_equal(tw_tensor_dim(dense, 1), 2);
    assert_true(tw_tensor_double_at(dense, 4) == 3 && tw_tensor_double_at(dense, 2) == 0);
    tw_value sum = tw_ragged_tensor_operate(rows, "math.add", OF_OBJECT(rows));
    assert_int_equal(sum.kind, TW_VALUE_OBJECT);
    expect_text(tw_ragged_tensor_repr(sum.object), "<tf.RaggedTensor [[2.0, 4.0], [], [6.0, 8.0]]>");
    tw_value_free(&sum);
    tw_value list = tw_ragged_tensor_to_list(rows);
    expect_text(tw_value_json(&list), "[[1.0, 2.0], [], [3.0, 4.0]]");
    tw_value_free(&list);
}

/* A value goes into its tensors and comes back out of them. */
static void test_parts(void **state)
{
    (void)state;
    tw_auto tw_ragged_tensor *rows = three_rows();
    tw_tensor *parts[TW_COMPOSITE_PARTS];
    assert_int_equal(tw__composite_parts(rows, parts), 2);
    tw_auto tw_type_spec *spec = tw__composite_spec(rows);
    expect_text(tw__spec_text(spec), "RaggedTensorSpec(TensorShape([3, None]), tf.float32, 1, tf.int64)");
    tw_auto tw_ragged_tensor *again = tw__spec_pack(spec, parts, 2);
    expect_text(tw_ragged_tensor_repr(again), "<tf.RaggedTensor [[1.0, 2.0], [], [3.0, 4.0]]>");
    assert_null(tw__spec_pack(spec, parts, 1));
    assert_int_equal(tw_error_code(), TW_VALUE_ERROR);
    tw_clear_error();
}

static void test_sparse(void **state)
{
    (void)state;
    tw_auto tw_tensor *dense = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2), (const float[]){ 0, 5, 7, 0 });
    tw_auto tw_sparse_tensor *sparse = tw_sparse_from_dense(dense);
    assert_non_null(sparse);
    tw_auto tw_tensor *values = tw_sparse_tensor_values(sparse);
    assert_int_equal(tw_tensor_count(values), 2);
    tw_value total = tw_sparse_reduce_sum(sparse);
    assert_int_equal(total.kind, TW_VALUE_TENSOR);
    assert_true(tw_tensor_double_at(total.tensor, 0) == 12);
    tw_value_free(&total);
    tw_auto tw_tensor *product = tw_sparse_sparse_dense_matmul(OF_OBJECT(sparse), OF_TENSOR(dense));
    assert_non_null(product);
    assert_true(tw_tensor_double_at(product, 0) == 35);
    tw_auto tw_tensor *back = tw_sparse_to_dense(sparse);
    assert_true(tw_tensor_double_at(back, 1) == 5);
}

static void test_refused(void **state)
{
    (void)state;
    tw_auto tw_tensor *values = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4), NULL);
    tw_auto tw_tensor *splits = tw_tensor_new(TW_INT64, TW_SHAPE(3), (const int64_t[]){ 0, 3, 2 });
    assert_null(tw_ragged_tensor_from_row_splits(OF_TENSOR(values), OF_TENSOR(splits)));
    assert_int_equal(tw_error_code(), TW_INVALID_ARGUMENT);
    tw_clear_error();
    /* Splits that nobody checked are not followed. */
    tw_auto tw_ragged_tensor *odd = tw_ragged_tensor_from_row_splits(OF_TENSOR(values), OF_TENSOR(splits), .validate = false);
    assert_non_null(odd);
    assert_null(tw_ragged_tensor_to_tensor(odd));
    tw_clear_error();
    char *text = tw_ragged_tensor_repr(odd);
    assert_non_null(strstr(text, "tf.RaggedTensor(values="));
    free(text);
}

/* Characters and ngrams: a vector of one string, rows of several. */
static void test_characters(void **state)
{
    (void)state;
    tw_auto tw_tensor *one = tw_tensor_string("h\xc3\xa9", 3), *both = tw_strings_join(TW_TENSORS(one, one), .separator = " ");
    tw_value codes = tw_strings_unicode_decode(OF_TENSOR(both), "UTF-8");
    assert_int_equal(codes.kind, TW_VALUE_TENSOR);
    assert_int_equal(tw_tensor_count(codes.tensor), 5);
    assert_int_equal((int)tw_tensor_double_at(codes.tensor, 1), 0xe9);
    tw_value back = tw_strings_unicode_encode(codes, "UTF-8");
    char *given = tw_tensor_repr(both), *again = tw_tensor_repr(back.tensor);
    assert_string_equal(given, again);
    free(given);
    free(again);
    tw_value words = tw_strings_split(OF_TENSOR(both));
    tw_value pair = tw_strings_unicode_split_with_offsets(words, "UTF-8");
    assert_int_equal(pair.kind, TW_VALUE_TUPLE);
    assert_int_equal(pair.list.count, 2);
    char *text = tw_ragged_tensor_repr(pair.list.items[1].object);
    assert_string_equal(text, "<tf.RaggedTensor [[0, 1],\n [0, 1]]>");
    free(text);
    tw_value joined = tw_strings_ngrams(words, TW_INTS(2), .separator = "+");
    assert_int_equal(joined.kind, TW_VALUE_TENSOR);
    assert_int_equal(tw_tensor_count(joined.tensor), 1);
    tw_value none = tw_strings_ngrams(words, TW_INTS(0));
    assert_int_equal(none.kind, TW_VALUE_NONE);
    assert_int_equal(tw_status_kind(tw_error_code()), TW_INVALID_ARGUMENT);
    tw_clear_error();
    tw_value *all[] = { &codes, &back, &words, &pair, &joined };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tw_value_free(all[i]);
}

/* Every allocation may fail: an error, and nothing is lost. */
static void test_memory(void **state)
{
    (void)state;
    for (long n = 1; n < 400; n++) {
        tw__alloc_fail_at(n);
        tw_ragged_tensor *rows = three_rows();
        tw_value sum = rows ? tw_ragged_tensor_operate(rows, "math.add", OF_OBJECT(rows)) : (tw_value){ .kind = TW_VALUE_NONE };
        bool made = sum.kind == TW_VALUE_OBJECT;
        tw_value_free(&sum);
        tw_release(rows);
        tw__alloc_fail_at(0);
        assert_true(made || tw_error_code() != TW_OK);
        tw_clear_error();
        if (made)
            return;
    }
    fail_msg("it never worked");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_ragged),     cmocka_unit_test(test_parts),
                                        cmocka_unit_test(test_sparse),     cmocka_unit_test(test_refused),
                                        cmocka_unit_test(test_characters), cmocka_unit_test(test_memory) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
