/* Optimizers' steps, variables and children, and schedules, against TensorFlow's. */
#define TW_TEST_SCOPES
#include "keras/golden.h"

#include "keras/optimizers/optimizers.h"

/* Six steps on two variables with the script's gradients; everything is compared. */
static void steps(const char *name, tw_optimizer *optimizer)
{
    char key[96];
    expect_no_error();
    tw_auto tw_tensor *first_a = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2), (float[]){ 1, -2, .5f, 3 });
    tw_auto tw_tensor *first_b = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3), (float[]){ .1f, -.1f, 4 });
    tw_auto tw_variable *a = tw_variable(first_a, .name = "a"), *b = tw_variable(first_b, .name = "b");
    for (int i = 0; i < 6; i++) {
        float x = (float)(i + 1);
        tw_auto tw_tensor *ga = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2), (float[]){ .1f * x, -.2f * x, 3 * x, 0 });
        tw_auto tw_tensor *gb = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3), (float[]){ 1 / x, -1e-3f / x, 20 / x });
        tw_release(tw_optimizer_apply_gradients(optimizer, TW_TENSORS(ga, gb), TW_OBJECTS(a, b)));
        expect_no_error();
    }
    snprintf(key, sizeof key, "%s.a", name);
    golden_expect(key, a->resource->value, 2e-6);
    snprintf(key, sizeof key, "%s.b", name);
    golden_expect(key, b->resource->value, 2e-6);
    tw_objects variables = tw_optimizer_variables(optimizer);
    for (int64_t i = 0; i < variables.count; i++) {
        snprintf(key, sizeof key, "%s.%lld", name, (long long)i);
        golden_expect(key, ((tw_variable *)variables.items[i])->resource->value, 2e-6);
    }
    tw_objects_free(&variables);
    snprintf(key, sizeof key, "%s.rate", name);
    golden_expect(key, optimizer->rate->resource->value, 1e-6);
    tw_release(optimizer);
}

static void trajectories(void **state)
{
    (void)state;
    steps("adam", tw_optimizers_adam());
    steps("adam.fast", tw_optimizers_adam(.1, .beta_1 = .8, .beta_2 = .9, .epsilon = 1e-3));
    steps("adam.amsgrad", tw_optimizers_adam(.learning_rate = .1, .amsgrad = true));
    steps("adam.clipnorm", tw_optimizers_adam(.learning_rate = .1, .clipnorm = 1));
    steps("adam.clipvalue", tw_optimizers_adam(.learning_rate = .1, .clipvalue = .5));
    steps("adam.global", tw_optimizers_adam(.learning_rate = .1, .global_clipnorm = 2));
    steps("adam.decay", tw_optimizers_adam(.learning_rate = .1, .weight_decay = .01));
    steps("adam.schedule", tw_optimizers_adam(.learning_rate_object = tw_schedules_exponential_decay(.1, 3, .5)));
    steps("sgd", tw_optimizers_sgd());
    steps("sgd.momentum", tw_optimizers_sgd(.learning_rate = .1, .momentum = .9));
    steps("sgd.nesterov", tw_optimizers_sgd(.learning_rate = .1, .momentum = .9, .nesterov = true));
}

static void schedule(const char *name, tw_schedule *made)
{
    static const int64_t at[] = { 0, 1, 2, 3, 5, 9, 10, 11, 25, 1000 };
    double values[10];
    char key[96];
    expect_no_error();
    for (int i = 0; i < 10; i++) {
        tw_auto tw_tensor *step = tw_tensor_int64(at[i]);
        tw_auto tw_tensor *rate = tw_schedule_call(made, step);
        values[i] = tw_tensor_double_at(rate, 0);
        assert_true(values[i] == tw__schedule_rate(made, at[i]));
    }
    snprintf(key, sizeof key, "schedule.%s", name);
    golden_expect_values(key, values, 10, 1e-7);
    tw_release(made);
}

static void schedules(void **state)
{
    (void)state;
    schedule("exponential", tw_schedules_exponential_decay(.1, 10, .9));
    schedule("exponential.stairs", tw_schedules_exponential_decay(.1, 10, .9, .staircase = true));
    tw_auto tw_tensor *boundaries = tw_tensor_new(TW_INT32, TW_SHAPE(2), (int[]){ 2, 5 });
    tw_auto tw_tensor *values = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3), (float[]){ 1, .5f, .1f });
    schedule("piecewise", tw_schedules_piecewise_constant_decay(boundaries, values));
    schedule("polynomial", tw_schedules_polynomial_decay(.1, 10, .01, .power = 2));
    schedule("polynomial.cycle", tw_schedules_polynomial_decay(.1, 10, .01, .cycle = true));
    schedule("cosine", tw_schedules_cosine_decay(.1, 10, .alpha = .1));
    schedule("cosine.warm", tw_schedules_cosine_decay(0, 10, .warmup_target = .3, .warmup_steps = 4));
    schedule("inverse", tw_schedules_inverse_time_decay(.1, 10, .5));
    schedule("inverse.stairs", tw_schedules_inverse_time_decay(.1, 10, .5, .staircase = true));
    assert_null(tw_schedules_piecewise_constant_decay(values, values));
    expect_error(TW_VALUE_ERROR, "The length of boundaries should be 1 less than the length of values");
}

static void expect_children(const tw_trackable *object, const char *expected)
{
    tw__text text = { 0 };
    for (size_t i = 0; i < object->child_count; i++)
        tw__text_format(&text, "%s%s", i ? " " : "", object->children[i].name);
    assert_string_equal(text.data ? text.data : "", expected);
    tw__text_free(&text);
}

static void expect_names(tw_optimizer *optimizer, const char *expected)
{
    tw__text text = { 0 };
    tw_objects variables = tw_optimizer_variables(optimizer);
    for (int64_t i = 0; i < variables.count; i++)
        tw__text_format(&text, "%s%s", i ? " " : "", ((tw_variable *)variables.items[i])->name);
    assert_string_equal(text.data, expected);
    tw__text_free(&text);
    tw_objects_free(&variables);
}

static void names_and_children(void **state)
{
    (void)state;
    tw_auto tw_tensor *zero = tw_tensor_float(0), *one = tw_tensor_float(1);
    tw_auto tw_variable *v = tw_variable(zero, .name = "dense/kernel"), *w = tw_variable(zero, .name = "w");
    tw_auto tw_optimizer *adam = tw_optimizers_adam(.amsgrad = true);
    expect_names(adam, "iteration:0");
    expect_children(&adam->trackable, "_variables _iterations _learning_rate");
    assert_string_equal(adam->rate->name, "learning_rate:0");
    tw_release(tw_optimizer_apply_gradients(adam, TW_TENSORS(one, one), TW_OBJECTS(v, w)));
    expect_names(
        adam,
        "iteration:0 Adam/m/dense/kernel:0 Adam/v/dense/kernel:0 Adam/m/w:0 Adam/v/w:0 Adam/vhat/dense/kernel:0 Adam/vhat/w:0");
    expect_children(&adam->trackable, "_variables _iterations _learning_rate _index_dict _momentums _velocities _velocity_hats");

    tw_auto tw_optimizer *sgd = tw_optimizers_sgd(.name = "xx");
    assert_int_equal(tw_optimizer_build(sgd, TW_OBJECTS(v)), TW_OK);
    expect_names(sgd, "iteration:0 m/dense/kernel:0");
    expect_children(&sgd->trackable, "_variables _iterations _learning_rate _index_dict momentums");
    tw_auto tw_optimizer *scheduled = tw_optimizers_sgd(.learning_rate_object = tw_schedules_exponential_decay(.1, 10, .9));
    expect_children(&scheduled->trackable, "_variables _iterations _current_learning_rate");
    assert_string_equal(scheduled->rate->name, "current_learning_rate:0");
    assert_int_not_equal(tw_optimizer_set_learning_rate(scheduled, .5), TW_OK);
    expect_error(TW_TYPE_ERROR, "hence its learning rate is not settable");
    assert_int_equal(tw_optimizer_set_learning_rate(adam, .5), TW_OK);
    assert_true(tw__optimizer_rate(adam) == .5);
}

static void failures(void **state)
{
    (void)state;
    tw_auto tw_tensor *zero = tw_tensor_float(0), *one = tw_tensor_float(1), *wide = tw_tensor_double(1);
    tw_auto tw_tensor *two = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), NULL);
    tw_auto tw_variable *v = tw_variable(zero, .name = "v"), *w = tw_variable(zero, .name = "w");
    tw_auto tw_optimizer *adam = tw_optimizers_adam();
    assert_null(tw_optimizer_apply_gradients(adam, TW_TENSORS(NULL), TW_OBJECTS(v)));
    expect_error(TW_VALUE_ERROR, "No gradients provided for any variable: (['v:0'],).");
    tw_auto tw_variable *step = tw_optimizer_apply_gradients(adam, TW_TENSORS(one), TW_OBJECTS(v));
    assert_ptr_equal(step, adam->iterations);
    assert_null(tw_optimizer_apply_gradients(adam, TW_TENSORS(one), TW_OBJECTS(w)));
    expect_error(TW_KEY_ERROR, "The optimizer cannot recognize variable w:0.");
    assert_null(tw_optimizer_apply_gradients(adam, TW_TENSORS(wide), TW_OBJECTS(v)));
    expect_error(TW_INVALID_ARGUMENT, "its gradient float64");
    assert_null(tw_optimizer_apply_gradients(adam, TW_TENSORS(two), TW_OBJECTS(v)));
    expect_error(TW_INVALID_ARGUMENT, "[2]");
    assert_null(tw_optimizer_apply_gradients(adam, TW_TENSORS(one, one), TW_OBJECTS(v)));
    expect_error(TW_INVALID_ARGUMENT, "2 gradients for 1 variables");
    assert_null(tw_optimizers_adam(.clipnorm = 1, .global_clipnorm = 2));
    expect_error(TW_VALUE_ERROR, "At most one of `clipnorm` and `global_clipnorm` can be set.");
    assert_null(tw_optimizers_sgd(.momentum = 2));
    expect_error(TW_VALUE_ERROR, "`momentum` must be between [0, 1].");
    tw_auto tw_optimizer *base = tw_optimizer("base");
    assert_null(tw_optimizer_apply_gradients(base, TW_TENSORS(one), TW_OBJECTS(v)));
    tw_clear_error();
}

static void minimizes(void **state)
{
    (void)state;
    tw_auto tw_tensor *three = tw_tensor_float(3);
    tw_auto tw_variable *v = tw_variable(three, .name = "v");
    tw_auto tw_optimizer *sgd = tw_optimizers_sgd(.learning_rate = .25);
    for (int i = 0; i < 20; i++) {
        tw_auto tw_tape *tape = tw_tape();
        tw_release(tw_tape_enter(tape));
        tw_auto tw_tensor *value = tw_variable_read(v);
        tw_auto tw_tensor *loss = tw_op_call("Square", TW_TENSORS(value), NULL, 0);
        tw_tape_exit(tape);
        tw_release(tw_optimizer_minimize(sgd, loss, TW_OBJECTS(v), tape));
    }
    expect_no_error();
    assert_true(fabs(tw_tensor_double_at(v->resource->value, 0)) < 1e-5);
    assert_int_equal(tw__optimizer_step(sgd), 20);
    /* a step of a built optimizer takes no memory of its own */
    tw_auto tw_tensor *one = tw_tensor_float(1);
    long before = tw__alloc_count();
    for (int i = 0; i < 100; i++)
        tw_release(tw_optimizer_apply_gradients(sgd, TW_TENSORS(one), TW_OBJECTS(v)));
    assert_int_equal(tw__alloc_count(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(trajectories), cmocka_unit_test(schedules),
                                        cmocka_unit_test(names_and_children), cmocka_unit_test(failures),
                                        cmocka_unit_test(minimizes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
