/* Datasets of tuples and dicts from C: elements as values, in their structure through every step; damaged structures are refused.
 */
#define TW_TEST_SCOPES
#include <thalweg/thalweg.h>

#include "data/data.h"
#include "rows.h"
#include "test.h"

static tw_tensor *numbers(void)
{
    return tw_tensor_new(TW_FLOAT32, TW_SHAPE(4, 2), (float[]){ 1, 2, 3, 4, 5, 6, 7, 8 });
}

static tw_tensor *labels(void)
{
    return tw_tensor_new(TW_INT32, TW_SHAPE(4), (int32_t[]){ 10, 20, 30, 40 });
}

static tw_dataset *features(void)
{
    tw_auto tw_tensor *x = numbers(), *y = labels();
    return tw_dataset_rows_of_structure(TW_TUPLE(TW_DICT(TW_TEXT("pixels"), TW_LEAF(x), TW_TEXT("id"), TW_LEAF(y)), TW_LEAF(y)));
}

static void expect_spec(tw_dataset *dataset, const char *expected)
{
    expect_no_error();
    assert_non_null(dataset);
    tw_value spec = tw_dataset_element_spec(dataset);
    char *text = tw__element_text(&spec);
    assert_string_equal(text, expected);
    tw__free(text);
    tw_value_free(&spec);
}

static void dicts_and_tuples(void **state)
{
    (void)state;
    tw_auto tw_dataset *batches = tw_dataset_batch(tw_dataset_shuffle(features(), 1), 3);
    expect_spec(batches, "({'id': TensorSpec(shape=(None,), dtype=tf.int32, name=None), 'pixels': TensorSpec(shape=(None, 2), "
                         "dtype=tf.float32, name=None)}, TensorSpec(shape=(None,), dtype=tf.int32, name=None))");
    tw_auto tw_iterator *iterator = tw_iterator(.dataset = batches);
    int64_t rows[] = { 3, 1 };
    for (int i = 0; i < 2; i++) {
        tw_value element = tw_iterator_element(iterator);
        expect_no_error();
        const tw_value *dict = tw_value_at(&element, 0), *label = tw_value_at(&element, 1);
        const tw_value *pixels = tw_value_get(dict, "pixels"), *id = tw_value_get(dict, "id");
        assert_non_null(pixels);
        assert_non_null(id);
        assert_null(tw_value_get(dict, "other"));
        assert_null(tw_value_at(&element, 2));
        assert_int_equal(tw_tensor_dim(pixels->tensor, 0), rows[i]);
        assert_int_equal(tw_tensor_int_at(id->tensor, 0), tw_tensor_int_at(label->tensor, 0));
        tw_value_free(&element);
    }
    tw_value end = tw_iterator_element(iterator);
    expect_no_error();
    assert_int_equal(end.kind, TW_VALUE_NONE);
}

/* A function gets the flat tensors: those of a dict in the order of its keys. */
static tw_tensors pixels_and_label(void *user, tw_tensors in)
{
    (void)user;
    return tw_give(in.items[1], in.items[2]);
}

static tw_tensors sum_of_both(void *user, tw_tensors in)
{
    (void)user; /* count, sum; x, y */
    tw_auto tw_tensor *one = tw_tensor_int64(1);
    tw_auto tw_tensor *y = tw_cast(in.items[3], TW_INT64);
    return tw_give(tw_add(in.items[0], one), tw_add(in.items[1], y));
}

static void functions_and_states(void **state)
{
    (void)state;
    tw_auto tw_dataset *mapped = tw_dataset_map(features(), tw_function_new(pixels_and_label, NULL));
    expect_spec(mapped, "(TensorSpec(shape=(2,), dtype=tf.float32, name=None), TensorSpec(shape=(), dtype=tf.int32, name=None))");
    tw_auto tw_dataset *parallel = tw_dataset_map(features(), tw_function_new(pixels_and_label, NULL), 2);
    assert_string_equal(tw_class_name(parallel), "_ParallelMapDataset");
    tw_auto tw_tensor *zero = tw_tensor_int64(0);
    tw_auto tw_function *f = tw_function_new(sum_of_both, NULL);
    tw_value sums = tw_dataset_reduce(mapped, TW_TUPLE(TW_LEAF(zero), TW_LEAF(zero)), f);
    expect_no_error();
    assert_int_equal(tw_tensor_int_at(tw_value_at(&sums, 0)->tensor, 0), 4);
    assert_int_equal(tw_tensor_int_at(tw_value_at(&sums, 1)->tensor, 0), 100);
    tw_value_free(&sums);
}

static void several_datasets(void **state)
{
    (void)state;
    tw_auto tw_dataset *first = features(), *second = tw_dataset_range(0, 9);
    tw_value one = { .kind = TW_VALUE_OBJECT, .object = first }, other = { .kind = TW_VALUE_OBJECT, .object = second };
    tw_auto tw_dataset *zipped = tw_dataset_zip_structure(TW_DICT(TW_TEXT("a"), other, TW_TEXT("b"), one));
    expect_no_error();
    tw_auto tw_iterator *iterator = tw_iterator(.dataset = zipped);
    tw_value element = tw_iterator_element(iterator);
    expect_no_error();
    assert_int_equal(tw_tensor_int_at(tw_value_get(&element, "a")->tensor, 0), 0);
    assert_int_equal(tw_tensor_int_at(tw_value_at(tw_value_get(&element, "b"), 1)->tensor, 0), 10);
    tw_value_free(&element);
    assert_null(tw_dataset_concatenate(first, second));
    expect_error(TW_TYPE_ERROR, "Incompatible dataset elements");
    tw_auto tw_dataset *windows = tw_dataset_window(second, 3);
    expect_spec(windows, "DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))");
    tw_auto tw_iterator *groups = tw_iterator(.dataset = windows);
    tw_value group = tw_iterator_element(groups);
    expect_no_error();
    assert_int_equal(group.kind, TW_VALUE_OBJECT);
    assert_true(tw_is(group.object, &tw__class_dataset));
    tw_value_free(&group);
}

static tw_tensors as_many(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_tensor *one = tw_tensor_int64(1);
    tw_auto tw_tensor *size = tw_reshape(in.items[0], one);
    return tw_give(tw_fill(size, in.items[0]), in.items[0]);
}

static void filled_up(void **state)
{
    (void)state;
    tw_auto tw_dataset *padded =
        tw_dataset_padded_batch(tw_dataset_map(tw_dataset_range(1, 4), tw_function_new(as_many, NULL)), 3);
    expect_no_error();
    tw_auto tw_iterator *iterator = tw_iterator(.dataset = padded);
    tw_value element = tw_iterator_element(iterator);
    expect_no_error();
    const tw_tensor *rows = tw_value_at(&element, 0)->tensor;
    assert_int_equal(tw_tensor_dim(rows, 1), 3);
    int64_t expected[] = { 1, 0, 0, 2, 2, 0, 3, 3, 3 };
    for (int i = 0; i < 9; i++)
        assert_int_equal(tw_tensor_int_at(rows, i), expected[i]);
    tw_value_free(&element);
    assert_null(tw_dataset_padded_batch(features(), 2, .padded_shapes = TW_TUPLE(TW_TEXT("no shape"), TW_TEXT("none"))));
    expect_error(TW_TYPE_ERROR, "not nested like the elements");
}

static void numbered(void **state)
{
    (void)state;
    tw_auto tw_dataset *own = features(), *counted = tw_dataset_enumerate(own, .start = 5);
    expect_no_error();
    tw_auto tw_iterator *iterator = tw_iterator(.dataset = counted);
    tw_value element = tw_iterator_element(iterator);
    assert_int_equal(tw_tensor_int_at(tw_value_at(&element, 0)->tensor, 0), 5);
    assert_int_equal(tw_value_at(&element, 1)->kind, TW_VALUE_TUPLE);
    tw_value_free(&element);
    tw_auto tw_tensor *pattern = tw_tensor_string("/nowhere/at/all*", 16);
    assert_null(tw_dataset_list_files(pattern));
    expect_error(TW_INVALID_ARGUMENT, "No files matched pattern: /nowhere/at/all*");
}

static void mistakes(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = numbers();
    assert_null(tw_dataset_rows_of_structure(TW_DICT(TW_LEAF(x), TW_LEAF(x))));
    expect_error(TW_TYPE_ERROR, "must be a text or an integer");
    assert_null(tw_dataset_rows_of_structure(TW_TUPLE(TW_TEXT("text"))));
    expect_error(TW_TYPE_ERROR, "only tensors have rows");
    tw_value nothing = { .kind = TW_VALUE_NONE };
    assert_null(tw_dataset_rows_of_structure(nothing));
    expect_error(TW_VALUE_ERROR, "should not be empty");
    tw_auto tw_dataset *dataset = tw_dataset_range(0, 3);
    tw_auto tw_tensor_spec *spec = tw_tensor_spec(TW_SCALAR, TW_INT64);
    tw_value leaf = { .kind = TW_VALUE_OBJECT, .object = spec };
    assert_null(tw_dataset_set_structure(dataset, TW_TUPLE(leaf, leaf)));
    expect_error(TW_INVALID_ARGUMENT, "a structure of 2 tensors for elements of 1");
}

static int64_t next_number(tw_iterator *iterator)
{
    tw_value element = tw_iterator_element(iterator);
    int64_t number = element.kind == TW_VALUE_TENSOR ? tw_tensor_int_at(element.tensor, 0) : -1;
    tw_value_free(&element);
    return number;
}

static void chosen_and_sampled(void **state)
{
    (void)state;
    tw_auto tw_dataset *low = tw_dataset_range(0, 50), *high = tw_dataset_range(100, 150), *choice = tw_dataset_range(0, 2);
    tw_value numbers_of = { .kind = TW_VALUE_OBJECT, .object = choice }, pairs = { .kind = TW_VALUE_OBJECT, .object = low };
    tw_auto tw_dataset *chosen = tw_dataset_choose_from(TW_OBJECTS(low, high), numbers_of);
    tw_auto tw_iterator *two = tw_iterator(.dataset = chosen);
    expect_no_error();
    assert_int_equal(next_number(two), 0);
    assert_int_equal(next_number(two), 100);
    assert_int_equal(next_number(two), -1);
    tw_auto tw_tensor *weights = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), (float[]){ 0.2f, 0.8f }),
                      *one = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), (float[]){ 0, 1 }), *counts = labels();
    tw_auto tw_dataset *sampled = tw_dataset_sample_from(TW_OBJECTS(low, high), TW_LEAF(weights), .seed = 7);
    tw_auto tw_iterator *some = tw_iterator(.dataset = sampled);
    expect_no_error();
    int above = 0;
    for (int i = 0; i < 40; i++)
        above += next_number(some) >= 100;
    assert_in_range(above, 20, 39);
    tw_auto tw_dataset *rest = tw_dataset_sample_from(TW_OBJECTS(low, high), TW_LEAF(one), .seed = 7);
    tw_auto tw_iterator *only = tw_iterator(.dataset = rest);
    for (int i = 0; i < 10; i++)
        assert_int_equal(next_number(only), 100 + i);
    /* Weights that a dataset gives. */
    tw_auto tw_dataset *always = tw_dataset_repeat(tw_dataset_from_structure(TW_LEAF(one)));
    tw_value by = { .kind = TW_VALUE_OBJECT, .object = always };
    tw_auto tw_dataset *weighed = tw_dataset_sample_from(TW_OBJECTS(low, high), by, .seed = 7);
    tw_auto tw_iterator *third = tw_iterator(.dataset = weighed);
    expect_no_error();
    assert_int_equal(next_number(third), 100);
    assert_null(tw_dataset_sample_from(TW_OBJECTS(low, high), TW_LEAF(counts)));
    expect_error(TW_VALUE_ERROR, "but got `len(weights)=4` vs. `len(datasets)=2`.");
    assert_null(tw_dataset_choose_from(TW_OBJECTS(low, high), TW_LEAF(one)));
    expect_error(TW_TYPE_ERROR, "`choice_dataset` should be a `tf.data.Dataset`");
    assert_non_null(tw_dataset_choose_from(TW_OBJECTS(low), pairs));
    tw_auto tw_dataset *mixed = features();
    assert_null(tw_dataset_choose_from(TW_OBJECTS(low, mixed), numbers_of));
    expect_error(TW_TYPE_ERROR, "must have compatible element specs");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(dicts_and_tuples),  cmocka_unit_test(functions_and_states),
                                        cmocka_unit_test(several_datasets),  cmocka_unit_test(filled_up),
                                        cmocka_unit_test(numbered),          cmocka_unit_test(mistakes),
                                        cmocka_unit_test(chosen_and_sampled) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
