/* Bytes, messages and comma-separated values as tensors, from C; also when memory runs out. */
#include <thalweg/thalweg.h>

#include "test.h"

static void bytes_are_numbers(void **state)
{
    (void)state;
    tw_auto tw_tensor *bytes = tw_tensor_string("\1\2\3\4", 4), *six = tw_tensor_int(6);
    tw_auto tw_tensor *little = tw_io_decode_raw(bytes, TW_INT16),
                      *big = tw_io_decode_raw(bytes, TW_INT16, .little_endian = false);
    tw_auto tw_tensor *longer = tw_io_decode_raw(bytes, TW_UINT8, .fixed_length = six);
    expect_no_error();
    assert_int_equal(tw_tensor_int_at(little, 1), 1027);
    assert_int_equal(tw_tensor_int_at(big, 0), 258);
    assert_int_equal(tw_tensor_count(longer), 6);
    assert_int_equal(tw_tensor_int_at(longer, 3), 4);
    assert_int_equal(tw_tensor_int_at(longer, 5), 0);
    assert_null(tw_io_decode_raw(bytes, TW_INT64));
    expect_error(TW_INVALID_ARGUMENT, "has length 4 that is not a multiple of 8, the size of int64");
}

static void messages_are_tensors(void **state)
{
    (void)state;
    tw_auto tw_tensor *numbers = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 1), (float[]){ 1.5f, -2 });
    tw_auto tw_tensor *message = tw_io_serialize_tensor(numbers);
    tw_auto tw_tensor *again = tw_io_parse_tensor(message, TW_FLOAT32);
    expect_no_error();
    assert_int_equal(tw_tensor_rank(again), 2);
    assert_true(tw_tensor_double_at(again, 1) == -2);
    assert_null(tw_io_parse_tensor(message, TW_INT32));
    expect_error(TW_INVALID_ARGUMENT, "Type mismatch between parsed tensor (float) and dtype (int32)");
    /* a message of few bytes that claims very many elements */
    tw_auto tw_tensor *huge = tw_tensor_string("\x08\x01\x12\x08\x12\x06\x08\x80\x80\x80\x80\x20", 12);
    assert_null(tw_io_parse_tensor(huge, TW_FLOAT32));
    expect_error(TW_RESOURCE_EXHAUSTED, "more than the file can hold");
}

static tw_tensors columns(tw_tensor *record)
{
    tw_auto tw_tensor *number = tw_tensor_int(7), *text = tw_tensor_string("none", 4);
    return tw_io_decode_csv(record, TW_TENSORS(number, text));
}

static void records_are_columns(void **state)
{
    (void)state;
    tw_auto tw_tensor *record = tw_tensor_string(",\"a,b\"", 6), *bad = tw_tensor_string("x,y", 3);
    tw_tensors parts = columns(record);
    expect_no_error();
    assert_int_equal(parts.count, 2);
    assert_int_equal(tw_tensor_int_at(parts.items[0], 0), 7);
    assert_memory_equal(tw_tensor_string_at(parts.items[1], 0).data, "a,b", 3);
    tw_tensors_free(&parts);
    assert_int_equal(columns(bad).count, 0);
    expect_error(TW_INVALID_ARGUMENT, "Field 0 in record 0 is not a valid int32: x");
}

static void memory_may_run_out(void **state)
{
    (void)state;
    tw_auto tw_tensor *record = tw_tensor_string("1,\"a,b\"", 7);
    for (long n = 1; n < 40; n++) {
        tw__alloc_fail_at(n);
        tw_tensors parts = columns(record);
        tw_tensor *message = parts.count ? tw_io_serialize_tensor(parts.items[0]) : NULL;
        tw_tensor *again = message ? tw_io_parse_tensor(message, TW_INT32) : NULL;
        tw__alloc_fail_at(0);
        assert_true(again || tw_error_code() == TW_RESOURCE_EXHAUSTED);
        tw_clear_error();
        tw_tensors_free(&parts);
        tw_release(message);
        tw_release(again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(bytes_are_numbers), cmocka_unit_test(messages_are_tensors),
                                        cmocka_unit_test(records_are_columns), cmocka_unit_test(memory_may_run_out) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
