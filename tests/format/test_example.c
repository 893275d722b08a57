/* Examples from C: tensors to bytes and back, the bytes that protobuf's own writer makes, errors, lack of memory. */
#include "test.h"

#include "rows.h"
#include "tensor/tensor.h"

static tw_tensor *strings(const char *a, const char *b)
{
    return tw_tensor_new(TW_STRING, TW_SHAPE(2), (tw_string[]){ { a, strlen(a) }, { b, strlen(b) } });
}

static void writes_protobufs_bytes(void **state)
{
    (void)state;
    tw_auto tw_tensor *b = strings("xy", ""), *e = tw_tensor_new(TW_FLOAT32, TW_SHAPE(0), NULL);
    tw_auto tw_tensor *f = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), (float[]){ 1.5f, -2 });
    tw_auto tw_tensor *i = tw_tensor_new(TW_INT32, TW_SHAPE(2), (int32_t[]){ 3, -1 });
    tw_auto tw_tensor *bytes = tw_io_serialize_example(TW_PAIRS({ "i", i }, { "f", f }, { "e", e }, { "b", b }));
    expect_no_error();
    static const char expected[] =
        "\x0a\x41\x0a\x0d\x0a\x01"
        "b\x12\x08\x0a\x06\x0a\x02xy\x0a\x00\x0a\x07\x0a\x01"
        "e\x12\x02\x12\x00\x0a\x11\x0a\x01"
        "f\x12\x0c\x12\x0a\x0a\x08\x00\x00\xc0\x3f\x00\x00\x00\xc0\x0a\x14\x0a\x01i\x12\x0f\x1a\x0d\x0a\x0b\x03"
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
    tw_string s = tw_tensor_string_at(bytes, 0);
    assert_int_equal(s.size, sizeof expected - 1);
    assert_memory_equal(s.data, expected, s.size);

    tw_auto tw_example_feature *want_b = tw_example_feature("b", TW_STRING, .shape = TW_SHAPE(2, 1)),
                               *want_i = tw_example_feature("i", TW_INT64, .kind = "sparse");
    tw_auto tw_tensor *seven = tw_tensor_float(7);
    tw_auto tw_example_feature *want_q = tw_example_feature("q", TW_FLOAT32, .default_value = seven);
    tw_tensors parts = tw_io_parse_example(bytes, TW_OBJECTS(want_b, want_i, want_q));
    expect_no_error();
    assert_int_equal(parts.count, 5);
    assert_int_equal(tw_tensor_rank(parts.items[0]), 2);
    assert_memory_equal(tw_tensor_string_at(parts.items[0], 0).data, "xy", 2);
    assert_int_equal(tw_tensor_int_at(parts.items[2], 1), -1);
    assert_int_equal(tw_tensor_int_at(parts.items[3], 0), 2);
    assert_true(tw_tensor_double_at(parts.items[4], 0) == 7);
    tw_tensors_free(&parts);

    tw_auto tw_example_feature *missing = tw_example_feature("z", TW_INT64);
    parts = tw_io_parse_example(bytes, TW_OBJECTS(missing));
    assert_int_equal(parts.count, 0);
    expect_error(TW_INVALID_ARGUMENT, "Feature: z (data type: int64) is required but could not be found.");
    tw_auto tw_tensor *complex = tw_tensor_new(TW_COMPLEX64, TW_SCALAR, NULL);
    assert_null(tw_io_serialize_example(TW_PAIRS({ "c", complex })));
    expect_error(TW_TYPE_ERROR, "feature c");

    for (long n = 1; n < 60; n++) {
        tw__alloc_fail_at(n);
        tw_tensor *again = tw_io_serialize_example(TW_PAIRS({ "f", f }, { "b", b }));
        parts = again ? tw_io_parse_example(again, TW_OBJECTS(want_b)) : (tw_tensors){ 0 };
        tw__alloc_fail_at(0);
        assert_true(parts.count == 1 || tw_error_code() == TW_RESOURCE_EXHAUSTED);
        tw_clear_error();
        tw_tensors_free(&parts);
        tw_release(again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(writes_protobufs_bytes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
