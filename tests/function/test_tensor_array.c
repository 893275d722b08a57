/* TensorArrays from C: as tables outside of graphs, as lists in functions, in loops of both; their gradients and errors. */
#include <thalweg/thalweg.h>

#include "test.h"

static tw_tensor *vector(float a, float b)
{
    return tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), (float[]){ a, b });
}

static tw_tensor_array *new_array(int32_t size, bool dynamic)
{
    tw_auto tw_tensor *count = tw_tensor_int(size);
    return tw_tensor_array(TW_FLOAT32, count, .dynamic_size = dynamic, .clear_after_read = 0);
}

static void need_values(const tw_tensor *tensor, const double *values, int64_t count)
{
    assert_non_null(tensor);
    assert_int_equal(tw_tensor_count(tensor), count);
    for (int64_t i = 0; i < count; i++)
        assert_true(tw_tensor_double_at(tensor, i) == values[i]);
}

/* The array with a value; takes the one before. */
static tw_tensor_array *put(tw_tensor_array *array, int32_t index, tw_tensor *value)
{
    tw_auto tw_tensor *number = tw_tensor_int(index);
    tw_tensor_array *next = tw_tensor_array_write(array, number, value);
    tw_release(array);
    return next;
}

static void test_table(__attribute__((unused)) void **state)
{
    tw_auto tw_tensor *x = vector(1, 2), *y = vector(3, 4), *one = tw_tensor_int(1);
    tw_auto tw_tensor_array *array = put(put(new_array(1, true), 0, x), 1, y);
    assert_non_null(array);
    tw_auto tw_tensor *read = tw_tensor_array_read(array, one), *rows = tw_tensor_array_stack(array),
                      *joined = tw_tensor_array_concat(array);
    tw_auto tw_tensor *size = tw_tensor_array_size(array);
    need_values(read, (double[]){ 3, 4 }, 2);
    need_values(rows, (double[]){ 1, 2, 3, 4 }, 4);
    need_values(joined, (double[]){ 1, 2, 3, 4 }, 4);
    assert_int_equal(tw_tensor_rank(rows), 2);
    assert_int_equal(tw_tensor_int_at(size, 0), 2);
    assert_int_equal(tw_tensor_array_dtype(array), TW_FLOAT32);
    tw_shape shape = tw_tensor_array_element_shape(array);
    assert_int_equal(shape.rank, 1);
    assert_int_equal(shape.dims[0], 2);
    assert_int_equal(tw_error_code(), TW_OK);
}

static void test_whole(__attribute__((unused)) void **state)
{
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3), (float[]){ 1, 2, 3 }),
                      *places = tw_tensor_new(TW_INT32, TW_SHAPE(2), (int32_t[]){ 2, 0 });
    tw_auto tw_tensor_array *array = new_array(3, false), *filled = tw_tensor_array_unstack(array, x);
    assert_ptr_equal(array, filled);
    tw_auto tw_tensor *some = tw_tensor_array_gather(filled, places);
    need_values(some, (double[]){ 3, 1 }, 2);
    tw_auto tw_tensor_array *other = new_array(3, false), *scattered = tw_tensor_array_scatter(other, places, some);
    tw_auto tw_tensor *rows = tw_tensor_array_stack(scattered);
    need_values(rows, (double[]){ 1, 0, 3 }, 3);
    tw_auto tw_tensor *lengths = tw_tensor_new(TW_INT32, TW_SHAPE(2), (int32_t[]){ 1, 2 }), *one = tw_tensor_int(1);
    tw_auto tw_tensor_array *third = new_array(2, false), *split = tw_tensor_array_split(third, x, lengths);
    tw_auto tw_tensor *piece = tw_tensor_array_read(split, one);
    need_values(piece, (double[]){ 2, 3 }, 2);
}

/* An array of 100,000 elements takes no longer per write than a small one would. */
static void test_many(__attribute__((unused)) void **state)
{
    enum { MANY = 100000 };
    tw_auto tw_tensor *x = tw_tensor_float(2);
    tw_tensor_array *array = new_array(0, true);
    for (int32_t i = 0; i < MANY; i++)
        array = put(array, i, x);
    tw_auto tw_tensor_array *whole = array;
    tw_auto tw_tensor *rows = tw_tensor_array_stack(whole);
    assert_int_equal(tw_tensor_count(rows), MANY);
    assert_true(tw_tensor_double_at(rows, MANY - 1) == 2);
}

static void need_error(const void *result, tw_status code, const char *text)
{
    assert_null(result);
    expect_error(code, text);
}

static void test_errors(__attribute__((unused)) void **state)
{
    tw_auto tw_tensor *x = vector(1, 2), *y = tw_tensor_float(1), *number = tw_tensor_int(5), *zero = tw_tensor_int(0),
                      *below = tw_tensor_int(-1);
    tw_auto tw_tensor_array *array = new_array(2, false);
    need_error(tw_tensor_array_write(array, number, x), TW_OUT_OF_RANGE,
               "Tried to write to index 5 but array is not resizeable and size is: 2 ");
    need_error(tw_tensor_array_read(array, number), TW_OUT_OF_RANGE, "Tried to read from index 5 but array size is: 2 ");
    need_error(tw_tensor_array_read(array, below), TW_OUT_OF_RANGE, "Reading from negative indices (index -1) is not allowed.");
    need_error(tw_tensor_array_write(array, zero, number), TW_INVALID_ARGUMENT,
               "TensorArray dtype is float32 but Op is trying to write dtype int32 ");
    need_error(tw_tensor_array_stack(array), TW_VALUE_ERROR,
               "Cannot convert a partially known TensorShape <unknown> to a Tensor.");
    tw_release(tw_tensor_array_write(array, zero, x));
    need_error(tw_tensor_array_write(array, zero, y), TW_VALUE_ERROR, "Incompatible shape for value (()), expected ((2,))");
    need_error(tw_tensor_array(TW_FLOAT32), TW_VALUE_ERROR,
               "Size must be declared for TensorArrays when eager execution is enabled.");
    tw_auto tw_tensor *two = tw_tensor_int(2);
    tw_auto tw_tensor_array *clearing = tw_tensor_array(TW_FLOAT32, two);
    tw_release(tw_tensor_array_write(clearing, zero, y));
    tw_release(tw_tensor_array_read(clearing, zero));
    need_error(
        tw_tensor_array_read(clearing, zero), TW_INVALID_ARGUMENT,
        "Could not read index 0 twice because it was cleared after a previous read (perhaps try setting clear_after_read = false?)");
}

/* ---- loops ---- */

typedef struct squares {
    tw_tensor_array *array;
    tw_tensor *x;
} squares;

static tw_tensors before_four(__attribute__((unused)) void *user, tw_tensors in)
{
    tw_auto tw_tensor *four = tw_tensor_int(4);
    return tw_give(tw_less(in.items[0], four));
}

static tw_tensors write_square(void *user, tw_tensors in)
{
    const squares *s = user;
    tw_auto tw_tensor_array *array = tw_tensor_array_from_loop(s->array, in.items[1]);
    tw_auto tw_tensor *number = tw_cast(in.items[0], TW_FLOAT32), *product = tw_multiply(number, s->x),
                      *square = tw_multiply(product, number);
    tw_auto tw_tensor_array *next = tw_tensor_array_write(array, in.items[0], square);
    tw_auto tw_tensor *one = tw_tensor_int(1);
    return tw_give(tw_add(in.items[0], one), tw_tensor_array_to_loop(next));
}

/* The sum of x * i * i for i below four: one program, at once and in a function. */
static tw_tensors sum_of_squares(__attribute__((unused)) void *user, tw_tensors in)
{
    tw_auto tw_tensor_array *array = new_array(4, false);
    squares s = { array, in.items[0] };
    tw_auto tw_tensor *zero = tw_tensor_int(0), *flow = tw_tensor_array_to_loop(array);
    tw_tensors last = tw_while(before_four, write_square, &s, TW_TENSORS(zero, flow));
    tw_auto tw_tensor_array *written = last.count == 2 ? tw_tensor_array_from_loop(array, last.items[1]) : NULL;
    tw_auto tw_tensor *rows = tw_tensor_array_stack(written);
    tw_tensors_free(&last);
    return tw_give(tw_reduce_sum(rows));
}

static void test_loops(__attribute__((unused)) void **state)
{
    tw_auto tw_function *traced = tw_function_new(sum_of_squares, NULL);
    for (int which = 0; which < 2; which++) {
        tw_auto tw_tensor *x = tw_tensor_float(3);
        tw_auto tw_tape *tape = tw_tape_start();
        tw_tape_watch(tape, TW_OBJECTS(x));
        tw_tensors sums = { 0 };
        tw_auto tw_tensor *value = NULL;
        if (which) {
            value = tw_function_value(traced, TW_TENSORS(x));
        } else {
            sums = sum_of_squares(NULL, TW_TENSORS(x));
            value = sums.count == 1 ? tw_retain(sums.items[0]) : NULL;
        }
        tw_tensors_free(&sums);
        need_values(value, (double[]){ 42 }, 1);
        tw_tensors found = tw_tape_gradient(tape, TW_OBJECTS(value), TW_OBJECTS(x));
        assert_int_equal(found.count, 1);
        need_values(found.items[0], (double[]){ 14 }, 1);
        tw_tensors_free(&found);
    }
    assert_int_equal(tw_error_code(), TW_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),  cmocka_unit_test(test_whole), cmocka_unit_test(test_many),
        cmocka_unit_test(test_errors), cmocka_unit_test(test_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
