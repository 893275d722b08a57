/* Functional models from C: Keras tensors, shared layers, several inputs and outputs, summaries, configs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <thalweg/thalweg.h>

static tw_tensor *matrix(int64_t rows, int64_t columns, float first)
{
    float values[64];
    for (int64_t i = 0; i < rows * columns; i++)
        values[i] = first + (float)i;
    return tw_tensor_new(TW_FLOAT32, TW_SHAPE(rows, columns), values);
}

static void test_line(void **state)
{
    (void)state;
    tw_scoped();
    tw_auto tw_keras_tensor *x = tw_input(.shape = TW_SHAPE(4));
    tw_auto tw_keras_tensor *h = tw_connect(tw_layers_dense(3, .activation = "relu"), x);
    tw_auto tw_keras_tensor *y = tw_connect(tw_layers_dense(1), h);
    tw_auto tw_model *model = tw_model_connect(TW_OBJECTS(x), TW_OBJECTS(y), "line");
    assert_non_null(model);
    tw_auto tw_tensor *input = matrix(2, 4, 0);
    tw_auto tw_tensor *output = tw_model_call(model, input);
    assert_non_null(output);
    assert_int_equal(tw_tensor_shape(output).dims[0], 2);
    assert_int_equal(tw_tensor_shape(output).dims[1], 1);
    char *text = tw_model_summary_text(model);
    assert_non_null(text);
    assert_non_null(strstr(text, "Model: \"line\""));
    assert_non_null(strstr(text, "Total params: 19 (76.00 Byte)"));
    free(text);
    char *json = tw_model_to_json(model);
    assert_non_null(json);
    tw_auto tw_layer *again = tw_model_from_json(json);
    assert_non_null(again);
    char *second = tw_model_to_json(again);
    assert_string_equal(json, second);
    free(json);
    free(second);
    assert_int_equal(tw_error_code(), TW_OK);
}

/* Two inputs through one layer, two outputs. */
static void test_shared(void **state)
{
    (void)state;
    tw_scoped();
    tw_auto tw_keras_tensor *a = tw_input(.shape = TW_SHAPE(3), .name = "a"), *b = tw_input(.shape = TW_SHAPE(3), .name = "b");
    tw_layer *shared = tw_layers_dense(2, .kernel_initializer = "ones");
    tw_auto tw_keras_tensor *left = tw_connect(shared, a), *right = tw_connect(shared, b);
    tw_auto tw_keras_tensor *sum = tw_connect_all(tw_layers_add(), TW_OBJECTS(left, right));
    tw_auto tw_keras_tensor *both = tw_connect_all(tw_layers_concatenate(), TW_OBJECTS(left, right));
    tw_auto tw_model *model = tw_model_connect(TW_OBJECTS(a, b), TW_OBJECTS(sum, both), NULL);
    assert_non_null(model);
    tw_auto tw_tensor *x = matrix(1, 3, 1), *z = matrix(1, 3, 4);
    tw_tensors outputs = tw_model_call_all(model, (tw_tensors){ (tw_tensor *[]){ x, z }, 2 }, false);
    assert_int_equal(outputs.count, 2);
    assert_true(tw_tensor_double_at(outputs.items[0], 0) == 21.0);
    assert_true(tw_tensor_double_at(outputs.items[1], 0) == 6.0 && tw_tensor_double_at(outputs.items[1], 2) == 15.0);
    tw_tensors_free(&outputs);
    tw_objects variables = tw_layer_trainable_variables(model);
    assert_int_equal(variables.count, 2);
    tw_objects_free(&variables);
}

/* A well-known network, without its classifier. */
static void test_application(void **state)
{
    (void)state;
    tw_scoped();
    tw_layer *model = tw_applications_model("MobileNetV2", .alpha = 0.35, .include_top = false,
                                            .input_shape = TW_SHAPE(32, 32, 3), .pooling = "avg");
    assert_non_null(model);
    tw_tensor *output = tw_model_call(model, tw_zeros(TW_IS(2, 32, 32, 3)));
    assert_non_null(output);
    assert_int_equal(tw_tensor_shape(output).dims[1], 1280);
    assert_null(tw_applications_model("NoNet"));
    assert_int_equal(tw_error_code(), TW_VALUE_ERROR);
    tw_clear_error();
}

static void test_mistakes(void **state)
{
    (void)state;
    tw_scoped();
    tw_auto tw_keras_tensor *a = tw_input(.shape = TW_SHAPE(3)), *b = tw_input(.shape = TW_SHAPE(3));
    tw_auto tw_keras_tensor *sum = tw_connect_all(tw_layers_add(), TW_OBJECTS(a, b));
    assert_null(tw_model_connect(TW_OBJECTS(a), TW_OBJECTS(sum), NULL));
    assert_int_equal(tw_error_code(), TW_VALUE_ERROR);
    assert_non_null(strstr(tw_error_message(), "Graph disconnected"));
    tw_clear_error();
    assert_null(tw_connect(NULL, a));
    tw_clear_error();
    assert_null(tw_input());
    tw_clear_error();
    assert_null(tw_model_connect(TW_OBJECTS(a, a), TW_OBJECTS(a), NULL));
    tw_clear_error();
    tw_auto tw_model *model = tw_model_connect(TW_OBJECTS(a, b), TW_OBJECTS(sum), NULL);
    tw_auto tw_tensor *x = matrix(1, 3, 1);
    assert_null(tw_model_call(model, x));
    tw_clear_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_line), cmocka_unit_test(test_shared),
                                        cmocka_unit_test(test_application), cmocka_unit_test(test_mistakes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
