/* Tensors, shapes, dtypes, buffers. */
#include "test.h"

#include "tensor/tensor.h"

static void dtypes(void **state)
{
    (void)state;
    for (int i = 1; i < TW_DTYPE_LIMIT; i++)
        assert_int_equal(tw_dtype_from_name(tw_dtype_name((tw_dtype)i)), i);
    assert_int_equal(tw_dtype_from_name("no"), TW_DTYPE_NONE);
    assert_int_equal(tw_dtype_from_name(NULL), TW_DTYPE_NONE);
    assert_int_equal(tw_dtype_size(TW_COMPLEX128), 16);
    for (uint32_t bits = 0; bits < 65536; bits++) { /* every half and bfloat16 survives the way there and back */
        float half = tw__half_to_float((uint16_t)bits), brain = tw__bfloat16_to_float((uint16_t)bits);
        if (!isnan(half))
            assert_int_equal(tw__float_to_half(half), bits);
        if (!isnan(brain))
            assert_int_equal(tw__float_to_bfloat16(brain), bits);
    }
    assert_int_equal(tw__float_to_half(65520.0f), 0x7c00); /* rounds up to infinity */
    assert_int_equal(tw__float_to_half(65519.0f), 0x7bff);
    assert_int_equal(tw__float_to_half(1.0f + 0x1p-11f), 0x3c00); /* ties to even */
    assert_int_equal(tw__float_to_half(1.0f + 3 * 0x1p-11f), 0x3c02);
    assert_int_equal(tw__float_to_half(0x1p-25f), 0);
    assert_int_equal(tw__float_to_half(0x1.8p-25f), 1);
}

static void shapes(void **state)
{
    (void)state;
    int64_t count;
    tw_shape out;
    assert_int_equal(tw__shape_count(&TW_SHAPE(2, 3, 4), &count), TW_OK);
    assert_int_equal(count, 24);
    assert_int_equal(tw__shape_count(&TW_SHAPE(1LL << 40, 0, 1LL << 40), &count), TW_OK);
    assert_int_equal(count, 0);
    assert_int_not_equal(tw__shape_count(&TW_SHAPE(1LL << 40, 1LL << 40), &count), TW_OK);
    expect_error(TW_INVALID_ARGUMENT, "[1099511627776,1099511627776]");
    assert_int_not_equal(tw__shape_count(&TW_SHAPE(2, -1), &count), TW_OK);
    expect_error(TW_INVALID_ARGUMENT, "[2,?]");
    assert_true(tw__shape_broadcast(&TW_SHAPE(2, 1, 3), &TW_SHAPE(4, 1), &out));
    assert_true(tw__shape_equal(&out, &TW_SHAPE(2, 4, 3)));
    assert_true(tw__shape_broadcast(&TW_SHAPE(-1, 3), &TW_SHAPE(5, 1), &out));
    assert_true(tw__shape_equal(&out, &TW_SHAPE(5, 3)));
    assert_false(tw__shape_broadcast(&TW_SHAPE(2), &TW_SHAPE(3), &out));
    assert_true(tw__shape_compatible(&TW_SHAPE(-1, 3), &TW_SHAPE(2, 3)));
    assert_false(tw__shape_compatible(&TW_SHAPE(-1, 3), &TW_SHAPE(2, 4)));
    const struct {
        tw_shape shape;
        const char *text;
    } tuples[] = {
        { TW_SCALAR, "()" }, { TW_SHAPE(4), "(4,)" }, { TW_SHAPE(-1, 3), "(None, 3)" }, { TW_UNKNOWN_SHAPE, "<unknown>" }
    };
    for (size_t i = 0; i < sizeof tuples / sizeof *tuples; i++) {
        char *text = tw__shape_tuple(&tuples[i].shape);
        assert_string_equal(text, tuples[i].text);
        tw__free(text);
    }
}

static void views_share(void **state)
{
    (void)state;
    float values[100];
    for (int i = 0; i < 100; i++)
        values[i] = (float)i;
    tw_tensor *t = tw_tensor_new(TW_FLOAT32, TW_SHAPE(10, 10), values);
    assert_int_equal((uintptr_t)tw_tensor_data(t) % 64, 0);
    assert_true(tw__tensor_is_exclusive(t));
    tw_tensor *row = tw__tensor_slice_view(t, &TW_SHAPE(10), 30);
    assert_ptr_equal(tw_tensor_data(row), (const float *)tw_tensor_data(t) + 30);
    assert_false(tw__tensor_is_exclusive(t));
    tw_release(t);
    assert_float_equal(tw_tensor_double_at(row, 9), 39, 0);
    assert_true(tw__tensor_is_exclusive(row));
    tw_release(row);
    tw_tensor *small = tw_tensor_float(2.5f), *flat = tw__tensor_view(small, &TW_SHAPE(1));
    assert_float_equal(tw_tensor_double_at(flat, 0), 2.5, 0);
    assert_null(tw__tensor_view(flat, &TW_SHAPE(2)));
    expect_error(TW_INTERNAL, "a view of 2");
    tw_release(small);
    tw_release(flat);
}

static void strings(void **state)
{
    (void)state;
    tw_string values[8] = { { "a", 1 }, { "", 0 }, { "b\0c", 3 } };
    tw_tensor *t = tw_tensor_new(TW_STRING, TW_SHAPE(8), values), *copy = tw__tensor_copy(t);
    tw_tensor *view = tw__tensor_view(t, &TW_SHAPE(2, 4)), *part = tw__tensor_slice_view(t, &TW_SHAPE(2), 2);
    tw_release(t);
    assert_int_equal(tw_tensor_string_at(view, 2).size, 3);
    assert_memory_equal(tw_tensor_string_at(copy, 2).data, "b\0c", 3);
    assert_memory_equal(tw_tensor_string_at(part, 0).data, "b\0c", 3);
    assert_int_equal(tw_tensor_string_at(view, 7).size, 0);
    tw_tensor_string_at(view, 8);
    expect_error(TW_OUT_OF_RANGE, "element 8");
    tw_tensor_double_at(view, 0);
    expect_error(TW_INVALID_ARGUMENT, "dtype string");
    tw_release(view);
    tw_release(copy);
    tw_release(part);
}

static int freed;

static void free_mine(void *context)
{
    freed += context == &freed;
}

static void borrowed(void **state)
{
    (void)state;
    static int32_t mine[] = { 1, 2, 3, 4 };
    tw_tensor *t = tw_tensor_borrow(TW_INT32, TW_SHAPE(2, 2), mine, free_mine, &freed);
    tw_tensor *view = tw__tensor_view(t, &TW_SHAPE(4));
    assert_false(tw__tensor_is_exclusive(t));
    tw_release(t);
    assert_int_equal(freed, 0);
    assert_int_equal(tw_tensor_int_at(view, 3), 4);
    assert_false(tw__tensor_is_exclusive(view)); /* never: the memory is foreign */
    tw_release(view);
    assert_int_equal(freed, 1);
    assert_null(tw_tensor_borrow(TW_INT32, TW_SHAPE(-3), mine, free_mine, &freed));
    expect_error(TW_INVALID_ARGUMENT, "Dimension 0");
    assert_int_equal(freed, 2);
}

static void too_large(void **state)
{
    (void)state;
    assert_null(tw_tensor_new(TW_FLOAT64, TW_SHAPE(1LL << 61), NULL));
    expect_error(TW_RESOURCE_EXHAUSTED, "float64");
    assert_null(tw_tensor_new(TW_FLOAT64, TW_SHAPE(1LL << 42), NULL)); /* more than the machine has: the system is not asked */
    expect_error(TW_RESOURCE_EXHAUSTED, "35184372088832");
    assert_null(tw_tensor_new((tw_dtype)99, TW_SCALAR, NULL));
    expect_error(TW_INVALID_ARGUMENT, "99");
    assert_int_equal(tw_tensor_rank(NULL), -1);
    expect_error(TW_INVALID_ARGUMENT, "NULL");
}

static void steady_state_allocates_nothing(void **state)
{
    (void)state;
    long before = 0;
    for (int i = 0; i < 1000; i++) {
        if (i == 10)
            before = tw__alloc_count();
        tw_tensor *a = tw_tensor_new(TW_FLOAT32, TW_SHAPE(50, 784), NULL),
                  *b = tw_tensor_new(TW_FLOAT32, TW_SHAPE(784, 100), NULL);
        tw_tensor *c = tw_tensor_float(1);
        tw_release(a);
        tw_release(b);
        tw_release(c);
    }
    assert_int_equal(tw__alloc_count(), before);
    tw__buffer_trim();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dtypes),
        cmocka_unit_test(shapes),
        cmocka_unit_test(views_share),
        cmocka_unit_test(strings),
        cmocka_unit_test(borrowed),
        cmocka_unit_test(too_large),
        cmocka_unit_test(steady_state_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
