/* Recurrent layers, masks and regularizers from C; the numbers are TensorFlow's. */
#define TW_TEST_SCOPES
#include "keras/golden.h"

#include "keras/keras.h"

static tw_initializer *half, *quarter;

static int start(void **state)
{
    (void)state;
    tw_auto tw_tensor *a = tw_tensor_float(0.5), *b = tw_tensor_float(0.25);
    half = tw_initializers_constant(.value = a);
    quarter = tw_initializers_constant(.value = b);
    return half && quarter ? 0 : 1;
}

static int finish(void **state)
{
    (void)state;
    tw_release(half);
    tw_release(quarter);
    return 0;
}

static void expect_values(tw_tensor *tensor, int64_t count, const float *expected)
{
    expect_no_error();
    assert_int_equal(tensor->count, count);
    for (int64_t i = 0; i < count; i++)
        assert_float_equal(((float *)tensor->data)[i], expected[i], 1e-5);
    tw_release(tensor);
}

static void sequences(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1, 3, 1), (float[]){ 1, 2, 3 });
    tw_auto tw_layer *lstm =
        tw_layers_lstm(2, .kernel_initializer = half, .recurrent_initializer = quarter, .return_sequences = true);
    tw_auto tw_layer *gru =
        tw_layers_gru(2, .kernel_initializer = half, .recurrent_initializer = quarter, .return_sequences = true);
    tw_auto tw_layer *simple =
        tw_layers_simple_rnn(2, .kernel_initializer = half, .recurrent_initializer = quarter, .return_sequences = true);
    expect_values(tw_layer_call(lstm, x), 6, (float[]){ 0.17426974, 0.17426974, 0.51722497, 0.51722497, 0.7867524, 0.7867524 });
    expect_values(tw_layer_call(gru, x), 6, (float[]){ 0.17446801, 0.17446801, 0.3290781, 0.3290781, 0.42427802, 0.42427802 });
    expect_values(tw_layer_call(simple, x), 6,
                  (float[]){ 0.46211717, 0.46211717, 0.84288615, 0.84288615, 0.95803595, 0.95803595 });
}

static void both_ways(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1, 3, 1), (float[]){ 1, 2, 3 });
    tw_auto tw_layer *layer =
        tw_layers_bidirectional(tw_layers_gru(1, .kernel_initializer = half, .recurrent_initializer = quarter));
    expect_values(tw_layer_call(layer, x), 2, (float[]){ 0.43068674, 0.3878472 });
}

static void masked(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_new(TW_INT32, TW_SHAPE(1, 4), (int32_t[]){ 1, 2, 0, 0 });
    tw_auto tw_model *model =
        tw_model_sequential(tw_layers_embedding(4, 2, .mask_zero = true, .embeddings_initializer = half),
                            tw_layers_lstm(2, .kernel_initializer = half, .recurrent_initializer = quarter));
    expect_values(tw_model_call(model, x), 2, (float[]){ 0.3350098, 0.3350098 });
}

static void penalties(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 4), (float[]){ 1, 1, 1, 1, 1, 1, 1, 1 });
    tw_auto tw_layer *dense =
        tw_layers_dense(3, .kernel_initializer = "ones", .kernel_regularizer = "l2", .activity_regularizer = "l1");
    tw_release(tw_layer_call(dense, x));
    tw_tensors losses = tw_layer_losses(dense);
    expect_no_error();
    assert_int_equal(losses.count, 2);
    assert_float_equal(*(float *)losses.items[0]->data, 0.12, 1e-6);
    assert_float_equal(*(float *)losses.items[1]->data, 0.12, 1e-6);
    tw_tensors_free(&losses);
}

static void mistakes(void **state)
{
    (void)state;
    assert_null(tw_layers_lstm(-1));
    tw_clear_error();
    assert_null(tw_layers_dense(2, .kernel_regularizer = "l7"));
    tw_clear_error();
    tw_auto tw_layer *lstm = tw_layers_lstm(2);
    tw_auto tw_tensor *flat = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2), NULL);
    assert_null(tw_layer_call(lstm, flat));
    tw_clear_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sequences), cmocka_unit_test(both_ways), cmocka_unit_test(masked),
                                        cmocka_unit_test(penalties), cmocka_unit_test(mistakes) };
    return cmocka_run_group_tests(tests, start, finish);
}
