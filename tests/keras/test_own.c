/* Parts of a C program's own in Keras: they train, are refused by configs, and let go of what they were given. */
#include "test.h"

#include <math.h>

#include <thalweg.h>

#include "scratch.h"

static int ended;

static void count_end(void *state)
{
    assert_string_equal(state, "state");
    ended++;
}

static tw_tensor *twice(void *state, tw_tensor *x)
{
    (void)state;
    return tw_add(x, x);
}

static tw_tensor *penalty(void *state, tw_tensor *x)
{
    (void)state;
    tw_auto tw_tensor *square = tw_square(x);
    return tw_reduce_sum(square);
}

static tw_tensor *fixed_rate(void *state, tw_tensor *step)
{
    (void)state;
    tw_auto tw_tensor *zero = tw_multiply(step, step), *none = tw_subtract(zero, zero), *rate = tw_tensor_float(0.125f);
    return tw_add(none, rate);
}

static tw_tensor *threes(void *state, tw_shape shape, tw_dtype dtype)
{
    (void)state;
    tw_auto tw_tensor *value = tw_tensor_int(3), *wide = tw_cast(value, dtype);
    int32_t dims[TW_MAX_RANK];
    for (int i = 0; i < shape.rank; i++)
        dims[i] = (int32_t)shape.dims[i];
    tw_auto tw_tensor *size = tw_tensor_new(TW_INT32, TW_SHAPE(shape.rank), dims);
    return tw_fill(size, wide);
}

static tw_tensor *absolute(void *state, tw_tensor *y_true, tw_tensor *y_pred)
{
    (void)state;
    tw_auto tw_tensor *difference = tw_subtract(y_true, y_pred), *distance = tw_abs(difference);
    return tw_reduce_mean(distance, .axis = TW_INTS(-1));
}

static void use_functions(void)
{
    tw_scoped();
    tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1, 2), (float[]){ 1, 2 });
    tw_layer *dense = tw_layers_dense(1, .activation = tw_callable_new(twice, "state", .name = "twice", .end = count_end),
                                      .kernel_regularizer = tw_regularizer_new(penalty, "state", .end = count_end),
                                      .kernel_constraint = tw_constraint_new(twice, "state", .end = count_end),
                                      .kernel_initializer = tw_initializer_new(threes, "state", .end = count_end));
    tw_tensor *y = tw_layer_call(dense, x);
    expect_no_error();
    assert_true(tw_tensor_double_at(y, 0) == 2 * (3 + 6));
    tw_tensors losses = tw_layer_losses(dense);
    assert_int_equal(losses.count, 1);
    assert_true(tw_tensor_double_at(losses.items[0], 0) == 18);
    tw_value config = tw_layer_get_config(dense);
    assert_int_equal(config.kind, TW_VALUE_NONE);
    expect_error(TW_NOT_IMPLEMENTED_ERROR, "calls a function of the program");
    assert_int_equal(ended, 0);
}

static void test_functions(void **state)
{
    (void)state;
    ended = 0;
    use_functions();
    assert_int_equal(ended, 4);
    assert_null(tw_callable_new(NULL, NULL));
    expect_error(TW_INVALID_ARGUMENT, "tw_callable_new");
    assert_null(tw_loss_new(NULL, NULL));
    expect_error(TW_INVALID_ARGUMENT, "tw_loss_new");
}

static void test_schedule(void **state)
{
    (void)state;
    tw_scoped();
    tw_auto tw_optimizer *sgd = tw_optimizers_sgd(.learning_rate_object = tw_schedule_new(fixed_rate, NULL));
    tw_auto tw_tensor *start = tw_tensor_float(1), *slope = tw_tensor_float(4);
    tw_auto tw_variable *w = tw_variable(start);
    tw_release(tw_optimizer_apply_gradients(sgd, TW_TENSORS(slope), TW_OBJECTS(w)));
    expect_no_error();
    tw_auto tw_tensor *now = tw_variable_read(w);
    assert_true(tw_tensor_double_at(now, 0) == 0.5);
}

/* ---- a metric with a variable ---- */

static tw_status keep_largest(tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight, void *state)
{
    tw_variable *const *largest = state;
    (void)self, (void)sample_weight;
    tw_auto tw_tensor *difference = tw_subtract(y_true, y_pred), *distance = tw_abs(difference);
    tw_auto tw_tensor *found = tw_reduce_max(distance), *before = tw_variable_read(*largest);
    tw_auto tw_tensor *after = tw_maximum(found, before);
    tw_release(tw_variable_assign(*largest, after));
    return tw_error_code();
}

static tw_tensor *tell_largest(tw_metric *self, void *state)
{
    (void)self;
    return tw_variable_read(*(tw_variable *const *)state);
}

static void line(tw_tensor **x, tw_tensor **y)
{
    float points[20], values[20];
    for (int i = 0; i < 20; i++)
        values[i] = 2 * (points[i] = (float)i / 10) + 1;
    *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(20, 1), points);
    *y = tw_tensor_new(TW_FLOAT32, TW_SHAPE(20, 1), values);
}

static void test_compiled(void **state)
{
    (void)state;
    tw_scoped();
    tw_auto tw_tensor *x = NULL, *y = NULL;
    line(&x, &y);
    tw_variable *largest = NULL;
    tw_metric *metric = tw_metric_new(keep_largest, tell_largest, &largest, .name = "largest");
    largest = tw_metric_add_weight(metric, "value", TW_SCALAR);
    tw_auto tw_model *model = tw_model_sequential(tw_layers_dense(1, .kernel_initializer = "ones", .input_shape = TW_SHAPE(1)));
    assert_int_equal(tw_model_compile(model, .optimizer = "sgd", .loss = tw_loss_new(absolute, NULL, .name = "far"),
                                      .metrics = TW_OBJECTS(metric, tw_metric_mean_new(absolute, NULL, .name = "distance"))),
                     TW_OK);
    tw_value logs = tw_model_evaluate(model, x, y);
    expect_no_error();
    assert_true(fabs(tw_log_value(&logs, "loss") - 1.95) < 1e-5);
    assert_true(fabs(tw_log_value(&logs, "distance") - 1.95) < 1e-5);
    assert_true(fabs(tw_log_value(&logs, "largest") - 2.9) < 1e-5);
    tw_value_free(&logs);
    tw_auto tw_callback *history = tw_model_fit(model, x, y, .epochs = 30);
    expect_no_error();
    assert_true(tw_history_value(history, "loss", -1) < 1.5);
    assert_true(tw_model_save(model, in_scratch("own.h5")) != TW_OK);
    expect_error(TW_NOT_IMPLEMENTED_ERROR, "calls a function of the program");
}

/* ---- layers and models ---- */

typedef struct scale {
    tw_variable *factor;
    int builds;
} scale;

static tw_status scale_build(tw_layer *self, tw_shape shape, void *state)
{
    scale *s = state;
    s->builds++;
    s->factor = tw_layer_weight(self, "factor", TW_SHAPE(shape.dims[shape.rank - 1]), .initializer = "ones");
    return s->factor ? TW_OK : tw_error_code();
}

static tw_tensor *scale_call(tw_layer *self, tw_tensor *input, int training, void *state)
{
    (void)self, (void)training;
    tw_auto tw_tensor *factor = tw_variable_read(((scale *)state)->factor);
    return tw_multiply(input, factor);
}

static tw_tensors both_ways(tw_layer *self, tw_tensors in, int training, void *state)
{
    (void)self, (void)training, (void)state;
    return tw_give(tw_add(in.items[0], in.items[1]), tw_subtract(in.items[0], in.items[1]));
}

static void test_layers(void **state)
{
    (void)state;
    tw_scoped();
    scale s = { 0 };
    tw_auto tw_tensor *x = NULL, *y = NULL;
    line(&x, &y);
    tw_auto tw_model *model = tw_model_sequential(tw_layer_new(scale_call, &s, .build = scale_build), tw_layers_dense(1));
    tw_model_compile(model, .optimizer = tw_optimizers_sgd(.learning_rate = 0.1), .loss = "mse");
    tw_auto tw_callback *history = tw_model_fit(model, x, y, .epochs = 40);
    expect_no_error();
    assert_int_equal(s.builds, 1);
    assert_true(tw_history_value(history, "loss", -1) < 0.2);
    tw_objects variables = tw_layer_variables(model);
    assert_int_equal(variables.count, 3);
    tw_objects_free(&variables);
    assert_true(tw_model_save(model, in_scratch("own.keras")) != TW_OK);
    expect_error(TW_NOT_IMPLEMENTED_ERROR, "OwnLayer \"own_layer\" calls a function of the program");
    tw_auto tw_layer *pair = tw_layer_new_all(both_ways, NULL, .name = "pair");
    tw_tensors out = tw_model_call_all(pair, TW_TENSORS(y, x), false);
    expect_no_error();
    assert_int_equal(out.count, 2);
    assert_true(fabs(tw_tensor_double_at(out.items[1], 10) - 2) < 1e-6);
    tw_tensors_free(&out);
    out = tw_model_call_all(model, TW_TENSORS(y, x), false);
    assert_null(out.items);
    assert_true(tw_error_code() != TW_OK);
    tw_clear_error();
}

/* A functional model of a layer of the program's own. */
static void test_connected(void **state)
{
    (void)state;
    tw_scoped();
    scale s = { 0 };
    tw_auto tw_keras_tensor *a = tw_input(.shape = TW_SHAPE(2)), *b = tw_input(.shape = TW_SHAPE(2));
    tw_auto tw_keras_tensor *scaled = tw_connect(tw_layer_new(scale_call, &s, .build = scale_build), a);
    tw_auto tw_keras_tensor *sum = tw_connect_all(tw_layers_add(), TW_OBJECTS(scaled, b));
    tw_auto tw_model *model = tw_model_connect(TW_OBJECTS(a, b), TW_OBJECTS(sum, scaled), "sums");
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1, 2), (float[]){ 1, 2 });
    tw_tensors out = tw_model_call_all(model, TW_TENSORS(x, x), false);
    expect_no_error();
    assert_int_equal(out.count, 2);
    assert_true(tw_tensor_double_at(out.items[0], 1) == 4);
    assert_true(tw_tensor_double_at(out.items[1], 1) == 2);
    tw_tensors_free(&out);
}

typedef struct halving {
    tw_layer *dense;
    int steps;
} halving;

static tw_tensors halving_call(tw_layer *self, tw_tensors in, int training, void *state)
{
    (void)self, (void)training;
    tw_tensor *whole = tw_layer_call(((halving *)state)->dense, in.items[0]);
    tw_auto tw_tensor *two = tw_tensor_float(2);
    return tw_give(whole, tw_divide(whole, two));
}

static tw_status halving_step(tw_model *self, tw_batch batch, tw_step_results *results, void *state)
{
    ((halving *)state)->steps++;
    tw_auto tw_tape *tape = tw_tape_start();
    tw_tensors out = tw_model_call_all(self, batch.x, true);
    tw_auto tw_tensor *losses = tw_mean_squared_error(batch.y.items[0], out.count ? out.items[0] : NULL),
                      *loss = tw_reduce_mean(losses);
    tw_objects variables = tw_layer_trainable_variables(self);
    tw_tensors gradients = tw_tape_gradient(tape, TW_OBJECTS(loss), variables);
    tw_release(tw_optimizer_apply_gradients(tw_model_optimizer(self), gradients, variables));
    tw_tensors_free(&gradients);
    tw_tensors_free(&out);
    tw_objects_free(&variables);
    return tw_step_give(results, "mine", loss);
}

static tw_status no_step(tw_model *self, tw_batch batch, tw_step_results *results, void *state)
{
    (void)self, (void)batch, (void)results, (void)state;
    return TW_OK;
}

static void test_steps(void **state)
{
    (void)state;
    tw_scoped();
    halving h = { 0 };
    tw_auto tw_tensor *x = NULL, *y = NULL;
    line(&x, &y);
    tw_auto tw_model *model = tw_model_new_all(halving_call, &h, .name = "halving");
    h.dense = tw_track(model, "dense", tw_layers_dense(1));
    tw_model_compile(model, .optimizer = tw_optimizers_sgd(.learning_rate = 0.1), .loss = "mse");
    tw_auto tw_callback *usual = tw_model_fit(model, x, y);
    expect_no_error();
    assert_true(isfinite(tw_history_value(usual, "output_2_loss", 0)));
    assert_int_equal(tw_model_set_steps(model, halving_step, NULL, NULL), TW_OK);
    tw_auto tw_callback *history = tw_model_fit(model, x, y, .epochs = 20);
    expect_no_error();
    assert_true(h.steps <= 2 && h.steps > 0); /* traced */
    assert_true(tw_history_value(history, "mine", -1) < 0.5);
    assert_true(isnan(tw_history_value(history, "loss", -1)));
    tw_model_set_steps(model, no_step, NULL, NULL);
    assert_null(tw_model_fit(model, x, y));
    expect_error(TW_VALUE_ERROR, "gave nothing");
    assert_true(tw_model_set_steps(NULL, NULL, NULL, NULL) != TW_OK);
    tw_clear_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions), cmocka_unit_test(test_schedule),  cmocka_unit_test(test_compiled),
        cmocka_unit_test(test_layers),    cmocka_unit_test(test_connected), cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
