/* Losses, their gradients and metrics against TensorFlow's values. */
#define TW_TEST_SCOPES
#include "keras/golden.h"

#include "keras/keras.h"
#include "keras/losses/losses.h"

static tw_tensor *labels, *one_hot, *weights;

static int setup(void **state)
{
    (void)state;
    labels = tw_tensor_new(TW_INT32, TW_SHAPE(4), golden_labels);
    one_hot = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4, 3), golden_one_hot);
    weights = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4), golden_weights);
    return !labels || !one_hot || !weights;
}

static int teardown(void **state)
{
    (void)state;
    tw_release(labels);
    tw_release(one_hot);
    tw_release(weights);
    return 0;
}

typedef tw_tensor *(*loss_function)(tw_tensor *p);

/* The loss of the script's probabilities or logits, and the gradient of its sum. */
static void compare(const char *name, loss_function function, const float *input)
{
    char key[96];
    tw_auto tw_tensor *p = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4, 3), input);
    tw_auto tw_tape *tape = tw_tape();
    tw_release(tw_tape_enter(tape));
    tw_tape_watch(tape, TW_OBJECTS(p));
    tw_auto tw_tensor *value = function(p);
    tw_tape_exit(tape);
    golden_expect(name, value, 1e-5);
    tw_tensors gradient = tw_tape_gradient(tape, TW_OBJECTS(value), TW_OBJECTS(p));
    expect_no_error();
    snprintf(key, sizeof key, "%s.gradient", name);
    golden_expect(key, gradient.items[0], 1e-5);
    tw_tensors_free(&gradient);
}

static tw_tensor *sparse(tw_tensor *p)
{
    return tw_sparse_categorical_crossentropy(labels, p);
}

static tw_tensor *sparse_logits(tw_tensor *p)
{
    return tw_sparse_categorical_crossentropy(labels, p, .from_logits = true);
}

static tw_tensor *activated(tw_tensor *p, const char *name)
{
    return tw__activate(name, p);
}

static tw_tensor *sparse_softmax(tw_tensor *p)
{
    tw_auto tw_tensor *y = activated(p, "softmax");
    return sparse(y);
}

static tw_tensor *sparse_nn_softmax(tw_tensor *p)
{
    tw_auto tw_tensor *y = activated(p, "nn.softmax");
    return sparse(y);
}

static tw_tensor *sparse_column(tw_tensor *p)
{
    tw_auto tw_tensor *column = tw__reshape(labels, &TW_SHAPE(4, 1));
    return tw_sparse_categorical_crossentropy(column, p);
}

static tw_tensor *sparse_ignore(tw_tensor *p)
{
    return tw_sparse_categorical_crossentropy(labels, p, .ignore_class = 0);
}

static tw_tensor *sparse_axis(tw_tensor *p)
{
    tw_auto tw_tensor *deep = tw__reshape(p, &TW_SHAPE(1, 4, 3));
    tw_auto tw_tensor *three = tw_tensor_new(TW_INT64, TW_SHAPE(1, 3), (int64_t[]){ 0, 1, 2 });
    return tw_sparse_categorical_crossentropy(three, deep, .axis = 1);
}

static tw_tensor *sparse_rank3(tw_tensor *p)
{
    tw_auto tw_tensor *deep = tw__reshape(p, &TW_SHAPE(2, 2, 3));
    tw_auto tw_tensor *square = tw__reshape(labels, &TW_SHAPE(2, 2));
    return tw_sparse_categorical_crossentropy(square, deep);
}

static tw_tensor *categorical(tw_tensor *p)
{
    return tw_categorical_crossentropy(one_hot, p);
}

static tw_tensor *categorical_smooth(tw_tensor *p)
{
    return tw_categorical_crossentropy(one_hot, p, .label_smoothing = .1);
}

static tw_tensor *categorical_logits(tw_tensor *p)
{
    return tw_categorical_crossentropy(one_hot, p, .from_logits = true);
}

static tw_tensor *binary(tw_tensor *p)
{
    return tw_binary_crossentropy(one_hot, p);
}

static tw_tensor *binary_smooth(tw_tensor *p)
{
    return tw_binary_crossentropy(one_hot, p, .label_smoothing = .1);
}

static tw_tensor *binary_logits(tw_tensor *p)
{
    return tw_binary_crossentropy(one_hot, p, .from_logits = true);
}

static tw_tensor *binary_sigmoid(tw_tensor *p)
{
    tw_auto tw_tensor *y = activated(p, "sigmoid");
    return tw_binary_crossentropy(one_hot, y);
}

static tw_tensor *squared(tw_tensor *p)
{
    return tw_mean_squared_error(one_hot, p);
}

static void functions(void **state)
{
    (void)state;
    compare("sparse", sparse, golden_p);
    compare("sparse.logits", sparse_logits, golden_x);
    compare("sparse.softmax", sparse_softmax, golden_x);
    compare("sparse.nn_softmax", sparse_nn_softmax, golden_x);
    compare("sparse.column", sparse_column, golden_p);
    compare("sparse.ignore", sparse_ignore, golden_p);
    compare("sparse.axis", sparse_axis, golden_p);
    compare("sparse.rank3", sparse_rank3, golden_p);
    compare("categorical", categorical, golden_p);
    compare("categorical.smooth", categorical_smooth, golden_p);
    compare("categorical.logits", categorical_logits, golden_x);
    compare("binary", binary, golden_p);
    compare("binary.smooth", binary_smooth, golden_p);
    compare("binary.logits", binary_logits, golden_x);
    compare("binary.sigmoid", binary_sigmoid, golden_x);
    compare("squared", squared, golden_x);
}

static tw_loss *present;
static tw_tensor *present_labels, *present_weights;

static tw_tensor *by_class(tw_tensor *p)
{
    return tw_loss_call(present, present_labels, p, .sample_weight = present_weights);
}

static void compare_class(const char *name, tw_loss *loss, tw_tensor *y_true, tw_tensor *sample_weight, const float *input)
{
    expect_no_error();
    present = loss;
    present_labels = y_true;
    present_weights = sample_weight;
    compare(name, by_class, input);
    tw_release(loss);
}

static void classes(void **state)
{
    (void)state;
    static const char *const reductions[] = { "auto", "sum", "none", "sum_over_batch_size" };
    for (size_t i = 0; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "class.sparse.%s", reductions[i]);
        compare_class(name, tw_losses_sparse_categorical_crossentropy(.reduction = reductions[i]), labels, NULL, golden_p);
        snprintf(name, sizeof name, "class.sparse.weighted.%s", reductions[i]);
        compare_class(name, tw_losses_sparse_categorical_crossentropy(.from_logits = true, .reduction = reductions[i]), labels,
                      weights, golden_x);
    }
    tw_auto tw_tensor *column = tw__reshape(weights, &TW_SHAPE(4, 1));
    compare_class("class.squared", tw_losses_mean_squared_error(), one_hot, column, golden_x);
    compare_class("class.categorical", tw_losses_categorical_crossentropy(.label_smoothing = .2), one_hot, NULL, golden_p);
    compare_class("class.binary", tw_losses_binary_crossentropy(.from_logits = true), one_hot, NULL, golden_x);
    assert_null(tw_losses_mean_squared_error(.reduction = "foo"));
    expect_error(TW_VALUE_ERROR, "Invalid Reduction Key: foo.");
    tw_auto tw_tensor *p = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1, 3), golden_p),
                      *twelve = tw_tensor_new(TW_INT32, TW_SHAPE(1), (int[]){ 12 });
    assert_null(tw_sparse_categorical_crossentropy(twelve, p));
    expect_error(TW_INVALID_ARGUMENT, "Received a label value of 12 which is outside the valid range of [0, 3)");
    assert_null(tw_categorical_crossentropy(twelve, p));
    expect_error(TW_VALUE_ERROR, "incompatible");
    assert_null(tw_sparse_categorical_crossentropy(twelve, p, .axis = 5));
    expect_error(TW_VALUE_ERROR, "axis=5");
}

static void expect_metric(const char *name, tw_metric *metric)
{
    tw_tensors values = tw_layer_get_weights((tw_layer *)metric);
    expect_no_error();
    tw_auto tw_tensor *result = tw_metric_result(metric);
    double all[3] = { tw_tensor_double_at(values.items[0], 0), tw_tensor_double_at(values.items[1], 0),
                      tw_tensor_double_at(result, 0) };
    golden_expect_values(name, all, 3, 1e-6);
    tw_tensors_free(&values);
    tw_metric_reset_state(metric);
    tw_auto tw_tensor *empty = tw_metric_result(metric);
    assert_true(tw_tensor_double_at(empty, 0) == 0);
    tw_release(metric);
}

static void metrics(void **state)
{
    (void)state;
    tw_auto tw_tensor *p = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4, 3), golden_p),
                      *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4, 3), golden_x);
    tw_auto tw_tensor *column = tw__reshape(labels, &TW_SHAPE(4, 1));
    tw_auto tw_tensor *three = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3), (float[]){ 1, 2, 6 }), *ten = tw_tensor_float(10);
    tw_auto tw_tensor *three_weights = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3), (float[]){ 1, 0, 2 });
    tw_auto tw_tensor *square = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2), (float[]){ 1, 3, 5, 7 });
    tw_auto tw_tensor *two_weights = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), (float[]){ 1, 3 });

    tw_metric *mean = tw_metrics_mean();
    tw_mean_update_state(mean, three);
    tw_release(tw_mean_call(mean, ten));
    expect_metric("metric.mean", mean);
    mean = tw_metrics_mean();
    tw_mean_update_state(mean, three, .sample_weight = three_weights);
    tw_mean_update_state(mean, square, .sample_weight = two_weights);
    expect_metric("metric.mean.weighted", mean);
    tw_metric *sparse_metric = tw_metrics_sparse_categorical_accuracy();
    tw_metric_update(sparse_metric, labels, p);
    tw_metric_update(sparse_metric, column, x);
    char *name = tw_layer_name((tw_layer *)sparse_metric);
    assert_string_equal(name, "sparse_categorical_accuracy");
    free(name);
    expect_metric("metric.sparse", sparse_metric);
    sparse_metric = tw_metrics_sparse_categorical_accuracy();
    tw_metric_update(sparse_metric, labels, p, .sample_weight = weights);
    expect_metric("metric.sparse.weighted", sparse_metric);
    tw_metric *categorical_metric = tw_metrics_categorical_accuracy();
    tw_metric_update(categorical_metric, one_hot, p);
    expect_metric("metric.categorical", categorical_metric);
    tw_auto tw_tensor *a = tw_tensor_new(TW_INT32, TW_SHAPE(3), (int[]){ 1, 2, 3 }),
                      *b = tw_tensor_new(TW_INT32, TW_SHAPE(3), (int[]){ 1, 0, 3 });
    tw_auto tw_tensor *c = tw_tensor_new(TW_INT32, TW_SHAPE(2, 1), (int[]){ 1, 2 }),
                      *d = tw_tensor_new(TW_INT32, TW_SHAPE(2, 1), (int[]){ 1, 3 });
    tw_metric *accuracy = tw_metrics_accuracy();
    tw_metric_update(accuracy, a, b);
    tw_metric_update(accuracy, c, d);
    expect_metric("metric.accuracy", accuracy);
    tw_auto tw_metric *base = tw_metric();
    assert_null(tw_metric_result(base));
    expect_error(TW_NOT_IMPLEMENTED_ERROR, "must be implemented");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(functions), cmocka_unit_test(classes), cmocka_unit_test(metrics) };
    return cmocka_run_group_tests(tests, setup, teardown);
}
