/* Mixed precision from C: policies of layers, the global one, and an optimizer that scales the loss. */
#define TW_TEST_SCOPES
#include "test.h"

#include <math.h>

#include <thalweg.h>

static tw_tensor *rows(void)
{
    return tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 3), (float[]){ 1, 2, 3, 4, 5, 6 });
}

static void layers_compute_in_16_bits(void **state)
{
    (void)state;
    tw_scoped();
    const struct {
        tw_dtype policy, computes;
    } all[] = { { TW_MIXED_FLOAT16, TW_FLOAT16 }, { TW_MIXED_BFLOAT16, TW_BFLOAT16 }, { TW_FLOAT64, TW_FLOAT64 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tw_layer *dense = tw_layers_dense(2, .dtype = all[i].policy, .kernel_initializer = "ones");
        tw_tape *tape = tw_tape_start();
        tw_tensor *y = tw_layer_call(dense, rows());
        tw_tensor *loss = tw_reduce_sum(tw_cast(y, TW_FLOAT32));
        assert_int_equal(tw_tensor_dtype(y), all[i].computes);
        assert_true(tw_tensor_double_at(tw_cast(y, TW_FLOAT32), 0) == 6);
        tw_objects weights = tw_layer_trainable_variables(dense);
        tw_tensors gradients = tw_tape_gradient(tape, TW_OBJECTS(loss), weights);
        assert_int_equal(gradients.count, 2);
        assert_int_equal(tw_tensor_dtype(gradients.items[0]), all[i].policy == TW_FLOAT64 ? TW_FLOAT64 : TW_FLOAT32);
    }
    expect_no_error();
}

static void global_policy(void **state)
{
    (void)state;
    tw_scoped();
    tw_keras_set_global_policy(TW_TEXT("mixed_bfloat16"));
    assert_int_equal(tw_tensor_dtype(tw_layer_call(tw_layers_dense(2), rows())), TW_BFLOAT16);
    tw_keras_set_global_policy(TW_TEXT("float32"));
    assert_int_equal(tw_tensor_dtype(tw_layer_call(tw_layers_dense(2), rows())), TW_FLOAT32);
    expect_no_error();
    assert_int_equal(tw_keras_set_global_policy(TW_TEXT("int32")), TW_VALUE_ERROR);
    tw_clear_error();
    assert_null(tw_layers_dense(2, .dtype = (tw_dtype)300));
    assert_null(tw_cast(rows(), TW_MIXED_FLOAT16)); /* no dtype of tensors */
    tw_clear_error();
}

static void scaled_steps(void **state)
{
    (void)state;
    tw_scoped();
    tw_variable *v = tw_variable(tw_tensor_float(1));
    tw_optimizer *optimizer = tw_loss_scale_optimizer(tw_optimizers_sgd(.learning_rate = 0.5), .initial_scale = 8);
    const struct {
        float gradient;
        double value, scale;
    } steps[] = { { 1, 0.5, 8 }, { INFINITY, 0.5, 4 }, { 1, 0, 4 } };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        tw_optimizer_apply_gradients(optimizer, TW_TENSORS(tw_tensor_float(steps[i].gradient)), TW_OBJECTS(v));
        assert_true(tw_tensor_double_at(tw_variable_read(v), 0) == steps[i].value);
        assert_true(tw_tensor_double_at(tw_loss_scale_optimizer_loss_scale((tw_loss_scale_optimizer *)optimizer), 0) ==
                    steps[i].scale);
    }
    expect_no_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(layers_compute_in_16_bits), cmocka_unit_test(global_policy),
                                        cmocka_unit_test(scaled_steps) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
