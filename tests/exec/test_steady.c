/* The steady state of traced functions, through the public calls: a training step allocates nothing, steps are reported, plans
 * are printed, a loop of tiny steps is cheap. */
#include <thalweg.h>

#define TW_TEST_SCOPES
#include "test.h"

#include "function/function.h"

typedef struct network {
    tw_model *model;
    tw_optimizer *optimizer;
} network;

static tw_tensors train_step(void *user, tw_tensors in)
{
    network *n = user;
    tw_auto tw_tape *tape = tw_tape_start();
    tw_auto tw_tensor *logits = tw_model_call(n->model, in.items[0]);
    tw_auto tw_tensor *losses = tw_sparse_categorical_crossentropy(in.items[1], logits, .from_logits = true);
    tw_tensor *loss = tw_reduce_mean(losses);
    tw_objects variables = tw_layer_variables(n->model);
    tw_tensors gradients = tw_tape_gradient(tape, TW_OBJECTS(loss), variables);
    tw_release(tw_optimizer_apply_gradients(n->optimizer, gradients, variables));
    tw_tensors_free(&gradients);
    tw_objects_free(&variables);
    return tw_give(loss);
}

typedef struct seen {
    int count, adam;
    int64_t bytes, duration;
    const char *last;
} seen;

static void look(void *user, const tw_step_event *event)
{
    seen *s = user;
    assert_non_null(event->name);
    assert_true(event->start > 0 && event->duration >= 0 && event->bytes >= 0);
    s->count++;
    s->adam += strcmp(event->op, "Adam") == 0;
    s->bytes += event->bytes;
    s->duration += event->duration;
}

static void training(void **state)
{
    (void)state;
    tw_auto tw_model *model = tw_model_sequential(tw_layers_dense(100, .activation = "relu"), tw_layers_dense(10));
    tw_auto tw_optimizer *optimizer = tw_optimizers_adam(.learning_rate = 0.001);
    network n = { model, optimizer };
    static float pixels[50 * 784];
    static int32_t digits[50];
    for (int i = 0; i < 50 * 784; i++)
        pixels[i] = (float)(i % 17) * 0.05f;
    for (int i = 0; i < 50; i++)
        digits[i] = i % 10;
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(50, 784), pixels),
                      *y = tw_tensor_new(TW_INT32, TW_SHAPE(50), digits);
    tw_release(tw_model_call(model, x));
    tw_auto tw_function *known = tw_function_new(train_step, &n, .name = "train_step");
    const tw_specs partial = TW_SPECS({ TW_FLOAT32, TW_SHAPE(-1, 784) }, { TW_INT32, TW_SHAPE(-1) });
    tw_auto tw_function *open = tw_function_new(train_step, &n, .name = "open_step", .signature = partial);
    expect_no_error();
    for (int which = 0; which < 2; which++) {
        tw_function *f = which ? open : known;
        for (int i = 0; i < 5; i++)
            tw_release(tw_function_value(f, TW_TENSORS(x, y)));
        long before = tw__alloc_count();
        for (int i = 0; i < 1000; i++)
            tw_release(tw_function_value(f, TW_TENSORS(x, y)));
        expect_no_error();
        assert_int_equal(tw__alloc_count() - before, 0);
    }
    seen s = { 0 };
    tw_set_step_hook(look, &s);
    tw_release(tw_function_value(open, TW_TENSORS(x, y)));
    tw_set_step_hook(NULL, NULL);
    int count = s.count;
    tw_release(tw_function_value(open, TW_TENSORS(x, y)));
    assert_int_equal(s.count, count);
    assert_in_range(count, 10, 40);
    assert_int_equal(s.adam, 1);
    assert_true(s.bytes > 784 * 100 * 4 && s.duration > 0);
    char *text = tw_function_plan(open, TW_TENSORS(x, y));
    assert_non_null(text);
    assert_non_null(strstr(text, "plan of open_step: "));
    assert_non_null(strstr(text, "float32 [50,784]"));
    assert_non_null(strstr(text, "Adam"));
    assert_non_null(strstr(text, "MatMul BiasAdd Relu"));
    assert_non_null(strstr(text, " bytes at 0"));
    free(text);
}

/* ---- a loop ---- */

static tw_tensors below(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_tensor *end = tw_tensor_int(100000);
    return tw_give(tw_less(in.items[0], end));
}

static tw_tensors count_up(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_tensor *one = tw_tensor_int(1), *half = tw_tensor_float(0.5f);
    tw_auto tw_tensor *small = tw_multiply(in.items[1], half);
    return tw_give(tw_add(in.items[0], one), tw_add(small, half));
}

static tw_tensors looping(void *user, tw_tensors in)
{
    tw_auto tw_tensor *zero = tw_tensor_int(0);
    tw_tensors out = tw_while(below, count_up, user, TW_TENSORS(zero, in.items[0]));
    tw_tensors given = out.count == 2 ? tw_give(out.items[1]) : TW_GIVE_FAILURE;
    tw_tensors_free(&out);
    return given;
}

static void loop(void **state)
{
    (void)state;
    tw_auto tw_function *f = tw_function_new(looping, NULL);
    tw_auto tw_tensor *x = tw_tensor_float(3);
    tw_auto tw_tensor *first = tw_function_value(f, TW_TENSORS(x));
    expect_no_error();
    tw_release(tw_function_value(f, TW_TENSORS(x)));
    long before = tw__alloc_count();
    tw_auto tw_tensor *again = tw_function_value(f, TW_TENSORS(x));
    assert_int_equal(tw__alloc_count() - before, 0);
    assert_float_equal(tw_tensor_double_at(again, 0), 1, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(training), cmocka_unit_test(loop) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
