/* Variables, constraints, streams of random numbers and einsum from C; failing allocations leave nothing behind. */
#define TW_TEST_SCOPES
#include "test.h"

#include "eager/eager.h"
#include "rows.h"

static tw_tensor *floats(tw_shape shape, const float *values)
{
    return tw_tensor_new(TW_FLOAT32, shape, values);
}

static void parts_by_index(void **state)
{
    (void)state;
    tw_auto tw_tensor *zeros = floats(TW_SHAPE(2, 2), NULL);
    tw_auto tw_variable *v = tw_variable(zeros);
    tw_auto tw_tensor *indices = tw_tensor_new(TW_INT32, TW_SHAPE(2, 2), (const int32_t[]){ 0, 1, 1, 0 });
    tw_auto tw_tensor *updates = floats(TW_SHAPE(2), (const float[]){ 3, 4 });
    tw_release(tw_variable_scatter_nd_add(v, indices, updates));
    tw_release(tw_variable_scatter_nd_add(v, indices, updates));
    tw_auto tw_tensor *value = tw_variable_read(v);
    expect_no_error();
    assert_memory_equal(tw_tensor_data(value), ((float[]){ 0, 6, 8, 0 }), 4 * sizeof(float));
    tw_auto tw_tensor *far = tw_tensor_new(TW_INT32, TW_SHAPE(1, 2), (const int32_t[]){ 0, 5 });
    tw_auto tw_tensor *one = floats(TW_SHAPE(1), (const float[]){ 1 });
    assert_null(tw_variable_scatter_nd_update(v, far, one));
    expect_error(TW_INVALID_ARGUMENT, "indices[0] = [0, 5] does not index into shape [2,2]");
}

static void any_shape(void **state)
{
    (void)state;
    tw_auto tw_tensor *two = floats(TW_SHAPE(2), NULL), *three = floats(TW_SHAPE(3), NULL);
    tw_auto tw_variable *v = tw_variable(two);
    assert_null(tw_variable_assign(v, three));
    expect_error(TW_VALUE_ERROR, "Shape mismatch");
    assert_int_equal(tw_variable_allow_any_shape(v), TW_OK);
    tw_release(tw_variable_assign(v, three));
    expect_no_error();
}

static void constraints(void **state)
{
    (void)state;
    tw_auto tw_tensor *start = floats(TW_SHAPE(2), (const float[]){ 3, 4 }),
                      *gradient = floats(TW_SHAPE(2), (const float[]){ -3, -4 });
    tw_auto tw_variable *v = tw_variable(start, .constraint = (tw_callable *)tw_constraints_max_norm(.max_value = 5));
    tw_auto tw_optimizer *sgd = tw_optimizers_sgd(.learning_rate = 1);
    tw_release(tw_optimizer_apply_gradients(sgd, TW_TENSORS(gradient), TW_OBJECTS(v)));
    expect_no_error();
    tw_auto tw_tensor *value = tw_variable_read(v);
    assert_float_equal(tw_tensor_double_at(value, 0), 3, 1e-5);
    assert_float_equal(tw_tensor_double_at(value, 1), 4, 1e-5);
}

static void streams(void **state)
{
    (void)state;
    tw_auto tw_tensor *words = tw_tensor_new(TW_INT64, TW_SHAPE(3), (const int64_t[]){ 7, 0, 0 });
    tw_auto tw_generator *generator = tw_generator(.state = words, .alg = 1), *copy = tw_generator(.copy_from = generator);
    tw_auto tw_tensor *shape = tw_tensor_new(TW_INT32, TW_SHAPE(1), (const int32_t[]){ 3 });
    tw_auto tw_tensor *a = tw_generator_normal(generator, shape), *b = tw_generator_normal(generator, shape),
                      *c = tw_generator_normal(copy, shape);
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(a, 0), -1.3240396, 1e-7);
    assert_float_equal(tw_tensor_double_at(b, 0), -1.2344412, 1e-7);
    assert_memory_equal(tw_tensor_data(a), tw_tensor_data(c), tw_tensor_bytes(a));
    assert_null(tw_generator(.state = words));
    expect_error(TW_ASSERTION_ERROR, "state and alg");
    tw_tensors parts = tw_generator_split_states(generator, .count = 2);
    assert_int_equal(parts.count, 2);
    tw_tensors_free(&parts);
}

static tw_tensor *products(tw_tensor *a, tw_tensor *b)
{
    return tw_einsum("...ij,...jk,kl->...il", TW_TENSORS(a, b, b));
}

static void sums_of_products(void **state)
{
    (void)state;
    tw_auto tw_tensor *a = floats(TW_SHAPE(2, 1, 2), (const float[]){ 1, 2, 3, 4 }),
                      *b = floats(TW_SHAPE(2, 2), (const float[]){ 1, 1, 0, 1 });
    tw_auto tw_tensor *c = products(a, b);
    expect_no_error();
    assert_memory_equal(tw_tensor_data(c), ((float[]){ 1, 4, 3, 10 }), 4 * sizeof(float));
    int failures = 0;
    for (int n = 1; n < 200; n++) {
        tw__alloc_fail_at(n);
        tw_tensor *made = products(a, b);
        tw__alloc_fail_at(0);
        tw_release(made);
        if (tw_error_code() == TW_OK)
            break;
        expect_error(TW_RESOURCE_EXHAUSTED, "out of memory");
        failures++;
    }
    assert_true(failures > 3 && failures < 199);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_by_index), cmocka_unit_test(any_shape),        cmocka_unit_test(constraints),
        cmocka_unit_test(streams),        cmocka_unit_test(sums_of_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
