/* compile, fit and evaluate from C: a line is learnt, callbacks are told, the history is kept. */
#define TW_TEST_SCOPES
#include "test.h"

#include <math.h>

#include <thalweg/distribute.h>
#include <thalweg/keras.h>

static tw_status count(void *state, tw_model *model, tw_event event, int64_t index, const tw_value *logs)
{
    int *counts = state;
    counts[event]++;
    if (event == TW_EPOCH_END && index == 3)
        tw_model_stop_training(model);
    if (event == TW_EPOCH_END)
        assert_true(isfinite(tw_log_value(logs, "loss")));
    return TW_OK;
}

static void test_line(void **state)
{
    (void)state;
    float points[40], values[40];
    for (int i = 0; i < 40; i++) {
        points[i] = (float)i / 40;
        values[i] = 2 * points[i] + 1;
    }
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(40, 1), points),
                      *y = tw_tensor_new(TW_FLOAT32, TW_SHAPE(40, 1), values);
    tw_auto tw_model *model = tw_model_sequential(tw_layers_dense(1, .input_shape = TW_SHAPE(1)));
    int counts[TW_PREDICT_BATCH_END + 1] = { 0 };
    assert_int_equal(tw_model_compile(model, .optimizer = tw_optimizers_sgd(.learning_rate = 0.1), .loss = "mse",
                                      .metrics = TW_NAMES("mae")),
                     TW_OK);
    tw_auto tw_callback *history =
        tw_model_fit(model, x, y, .epochs = 9, .batch_size = 10, .verbose = 0, .validation_split = 0.25,
                     .callbacks = TW_OBJECTS(tw_callback_new(count, counts)));
    expect_no_error();
    assert_int_equal(counts[TW_EPOCH_END], 4);
    assert_int_equal(counts[TW_TRAIN_BATCH_END], 12);
    assert_int_equal(counts[TW_TEST_END], 4);
    assert_true(tw_history_value(history, "loss", -1) < tw_history_value(history, "loss", 0));
    assert_true(isfinite(tw_history_value(history, "val_mae", 3)));
    assert_true(isnan(tw_history_value(history, "val_mae", 4)));
    tw_value logs = tw_model_evaluate(model, x, y, .verbose = 0);
    assert_true(tw_log_value(&logs, "mae") > 0);
    tw_value_free(&logs);
    logs = tw_model_train_on_batch(model, x, y);
    assert_true(tw_log_value(&logs, "loss") > 0);
    tw_value_free(&logs);
    expect_no_error();
}

/* The loss after some epochs of training a line, in the replicas of a strategy or without. */
static double loss_of(tw_strategy *strategy, tw_tensor *x, tw_tensor *y)
{
    if (strategy)
        assert_int_equal(tw_strategy_enter(strategy), TW_OK);
    tw_auto tw_model *model = tw_model_sequential(tw_layers_dense(1, .kernel_initializer = "ones"));
    assert_int_equal(tw_model_compile(model, .optimizer = tw_optimizers_sgd(.learning_rate = 0.1), .loss = "mse"), TW_OK);
    if (strategy)
        assert_int_equal(tw_strategy_exit(strategy), TW_OK);
    tw_auto tw_callback *history = tw_model_fit(model, x, y, .epochs = 3, .batch_size = 4, .verbose = 0, .shuffle = false);
    expect_no_error();
    tw_auto tw_tensor *whole = tw_model_predict(model, x, .batch_size = 5);
    assert_int_equal(tw_tensor_count(whole), 10);
    return tw_history_value(history, "loss", -1);
}

static void test_replicas(void **state)
{
    (void)state;
    float points[10], values[10];
    for (int i = 0; i < 10; i++) {
        points[i] = (float)i / 10;
        values[i] = 3 * points[i] - 1;
    }
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(10, 1), points),
                      *y = tw_tensor_new(TW_FLOAT32, TW_SHAPE(10, 1), values);
    tw_auto tw_tensor *a = tw_tensor_string("CPU:0", 5), *b = tw_tensor_string("CPU:1", 5), *names = tw_stack(TW_TENSORS(a, b));
    tw_auto tw_strategy *strategy = (tw_strategy *)tw_mirrored_strategy(.devices = names);
    assert_float_equal(loss_of(strategy, x, y), loss_of(NULL, x, y), 1e-6); /* 4, 4 and 2 rows are halved */
}

/* Two inputs and two outputs, from a dataset of a tuple and a dict: labels belong to the outputs of their names. */
static void test_several(void **state)
{
    (void)state;
    float points[40], twice[40], thrice[40];
    for (int i = 0; i < 40; i++) {
        points[i] = (float)i / 40;
        twice[i] = 2 * points[i];
        thrice[i] = 3 * points[i];
    }
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(40, 1), points),
                      *y = tw_tensor_new(TW_FLOAT32, TW_SHAPE(40, 1), twice),
                      *z = tw_tensor_new(TW_FLOAT32, TW_SHAPE(40, 1), thrice);
    tw_auto tw_keras_tensor *a = tw_input(.shape = TW_SHAPE(1), .name = "a"), *b = tw_input(.shape = TW_SHAPE(1), .name = "b");
    tw_auto tw_keras_tensor *sum = tw_connect_all(tw_layers_add(), TW_OBJECTS(a, b));
    tw_auto tw_keras_tensor *second = tw_connect(tw_layers_dense(1, .name = "twice", .kernel_initializer = "zeros"), sum),
                            *first = tw_connect(tw_layers_dense(1, .name = "thrice", .kernel_initializer = "zeros"), sum);
    tw_auto tw_model *model = tw_model_connect(TW_OBJECTS(b, a), TW_OBJECTS(second, first), NULL);
    assert_int_equal(tw_model_compile(model, .optimizer = tw_optimizers_sgd(.learning_rate = 0.1), .loss = "mse"), TW_OK);
    tw_auto tw_dataset *data =
        tw_dataset_batch(tw_dataset_rows_of_structure(
                             TW_TUPLE(TW_DICT(TW_TEXT("a"), TW_LEAF(x), TW_TEXT("b"), TW_LEAF(x)),
                                      TW_DICT(TW_TEXT("thrice"), TW_LEAF(z), TW_TEXT("twice"), TW_LEAF(y)))),
                         10);
    expect_no_error();
    tw_auto tw_callback *history = tw_model_fit(model, data, .epochs = 60, .verbose = 0, .validation_data = data);
    expect_no_error();
    assert_true(tw_history_value(history, "loss", -1) < 0.01);
    assert_true(tw_history_value(history, "twice_loss", 0) < tw_history_value(history, "thrice_loss", 0));
    assert_true(isfinite(tw_history_value(history, "val_twice_loss", -1)));
    tw_value logs = tw_model_evaluate(model, data, .verbose = 0);
    expect_no_error();
    assert_true(tw_log_value(&logs, "thrice_loss") < 0.01);
    tw_value_free(&logs);
    tw_auto tw_dataset *wrong =
        tw_dataset_batch(tw_dataset_rows_of_structure(TW_TUPLE(TW_LEAF(x), TW_DICT(TW_TEXT("once"), TW_LEAF(y)))), 10);
    assert_null(tw_model_fit(model, wrong, .verbose = 0));
    tw_clear_error();
    /* The same with arrays: dicts in any order, weights for one of the outputs. */
    tw_value inputs = TW_DICT(TW_TEXT("b"), TW_LEAF(x), TW_TEXT("a"), TW_LEAF(x)),
             labels = TW_DICT(TW_TEXT("twice"), TW_LEAF(y), TW_TEXT("thrice"), TW_LEAF(z));
    tw_auto tw_tensor *ones = tw_ones_like(y);
    tw_auto tw_callback *again = tw_model_fit_values(model, inputs, labels, TW_DICT(TW_TEXT("twice"), TW_LEAF(ones)), .epochs = 2,
                                                     .verbose = 0, .validation_x = inputs, .validation_y = labels);
    expect_no_error();
    assert_true(tw_history_value(again, "val_thrice_loss", -1) < 0.01);
    tw_value outputs = tw_model_predict_values(model, inputs, .verbose = 0);
    expect_no_error();
    assert_int_equal(outputs.kind, TW_VALUE_LIST);
    assert_true(fabs(tw_tensor_double_at(outputs.list.items[0].tensor, 39) - twice[39]) < 0.2);
    assert_true(fabs(tw_tensor_double_at(outputs.list.items[1].tensor, 39) - thrice[39]) < 0.2);
    tw_value_free(&outputs);
    assert_null(tw_model_fit_values(model, inputs, TW_DICT(TW_TEXT("once"), TW_LEAF(y)), .verbose = 0));
    expect_error(TW_VALUE_ERROR,
                 "do not correspond to any Model output: dict_keys(['once']). Valid mode output names: ['twice', 'thrice'].");
    assert_null(tw_model_fit_values(model, (tw_value){ .kind = TW_VALUE_NONE }, .verbose = 0));
    expect_error(TW_VALUE_ERROR, "fit: there is no x");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_line), cmocka_unit_test(test_replicas),
                                        cmocka_unit_test(test_several) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
