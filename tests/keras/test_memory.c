/* Loops in C do not grow memory: ops, tapes, training steps, predict, checkpoints, models that come and go, errors.
 *
 * AddressSanitizer keeps freed memory back, so with it only its own report of leaks at the end counts. */
#define TW_TEST_SCOPES
#include "test.h"

#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#include <thalweg.h>

#include "scratch.h"

enum { SLACK = 1 << 20 };

static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        fail();
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static void call_scoped(void (*body)(void))
{
    tw_scoped();
    body();
}

static void expect_steady(void (*body)(void), int times)
{
    for (int i = 0; i < times / 2; i++)
        call_scoped(body);
    expect_no_error();
    malloc_trim(0);
    long before = resident();
    for (int i = 0; i < times; i++)
        call_scoped(body);
    expect_no_error();
    malloc_trim(0);
    assert_true(TW_SANITIZED || resident() - before < SLACK);
}

/* ---- ops and tapes ---- */

static void call_ops(void)
{
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(8, 8), NULL);
    tw_auto tw_tensor *y = tw_matmul(x, x);
    tw_auto tw_tensor *z = tw_concat(TW_TENSORS(x, y), .axis = 1);
    tw_auto tw_tensor *sum = tw_reduce_sum(z, .axis = TW_INTS(0));
    tw_auto tw_tensor *softmax = tw_nn_softmax(sum);
    char *text = tw_tensor_str(softmax);
    assert_non_null(text);
    free(text);
}

static void call_tapes(void)
{
    tw_auto tw_tensor *x = tw_tensor_float(3);
    tw_auto tw_variable *v = tw_variable(x);
    tw_auto tw_tape *outer = tw_tape_start(.persistent = true);
    tw_auto tw_tape *inner = tw_tape_start();
    tw_auto tw_tensor *value = tw_variable_read(v);
    tw_auto tw_tensor *y = tw_multiply(value, value);
    tw_tensors first = tw_tape_gradient(inner, TW_OBJECTS(y), TW_OBJECTS(v));
    tw_tensors second = tw_tape_gradient(outer, TW_OBJECTS(first.items[0]), TW_OBJECTS(v));
    assert_float_equal(tw_tensor_double_at(second.items[0], 0), 2, 0);
    tw_tensors_free(&first);
    tw_tensors_free(&second);
}

static void fail_ops(void)
{
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 3), NULL);
    assert_null(tw_matmul(x, x));
    expect_error(TW_INVALID_ARGUMENT, "Matrix size-incompatible");
    assert_null(tw_tensor_new(TW_FLOAT32, TW_SHAPE((int64_t)1 << 40, (int64_t)1 << 40), NULL));
    assert_int_not_equal(tw_error_code(), TW_OK);
    tw_clear_error();
    assert_null(tw_layers_dense(-1));
    assert_int_not_equal(tw_error_code(), TW_OK);
    tw_clear_error();
}

static void steady_ops(void **state)
{
    (void)state;
    expect_steady(call_ops, 4000);
    expect_steady(call_tapes, 4000);
    expect_steady(fail_ops, 4000);
}

/* ---- models ---- */

static tw_model *make_model(void)
{
    return tw_model_sequential(tw_layers_flatten(), tw_layers_dense(16, .activation = "relu"),
                               tw_layers_dense(10, .activation = "softmax"));
}

static tw_model *model;
static tw_optimizer *optimizer;

static void train_step(void)
{
    static const int32_t classes[] = { 1, 2, 3, 4 };
    tw_auto tw_tensor *shape = tw_tensor_new(TW_INT32, TW_SHAPE(3), (int32_t[]){ 4, 5, 5 });
    tw_auto tw_tensor *x = tw_random_normal(shape), *y = tw_tensor_new(TW_INT32, TW_SHAPE(4), classes);
    tw_auto tw_tape *tape = tw_tape_start();
    tw_auto tw_tensor *y_pred = tw_model_call_training(model, x);
    tw_auto tw_tensor *losses = tw_sparse_categorical_crossentropy(y, y_pred);
    tw_auto tw_tensor *loss = tw_reduce_mean(losses);
    tw_objects variables = tw_layer_trainable_variables(model);
    tw_tensors gradients = tw_tape_gradient(tape, TW_OBJECTS(loss), variables);
    tw_release(tw_optimizer_apply_gradients(optimizer, gradients, variables));
    tw_tensors_free(&gradients);
    tw_objects_free(&variables);
}

static void predict(void)
{
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(7, 5, 5), NULL);
    tw_auto tw_tensor *y = tw_model_predict(model, x, .batch_size = 3, .verbose = { .kind = TW_VALUE_INT, .i = 0 });
    assert_non_null(y);
}

static void save_and_restore(void)
{
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "model", model }, { "optimizer", optimizer });
    char *path = tw_checkpoint_write(checkpoint, in_scratch("ckpt"));
    tw_auto tw_load_status *status = tw_checkpoint_read(checkpoint, path);
    tw_release(tw_load_status_assert_consumed(status));
    tw_auto tw_model *other = make_model(); /* its weights are made after the restore */
    tw_auto tw_checkpoint *late = tw_checkpoint_new({ "model", other });
    tw_auto tw_load_status *late_status = tw_checkpoint_read(late, path);
    tw_release(tw_load_status_expect_partial(late_status));
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1, 5, 5), NULL);
    tw_auto tw_tensor *y = tw_model_call(other, x);
    assert_non_null(y);
    free(path);
}

static void come_and_go(void)
{
    tw_model *kept = model;
    tw_optimizer *kept_optimizer = optimizer;
    model = make_model();
    optimizer = tw_optimizers_adam();
    train_step();
    tw_release(model);
    tw_release(optimizer);
    model = kept;
    optimizer = kept_optimizer;
}

static void steady_models(void **state)
{
    (void)state;
    model = make_model();
    optimizer = tw_optimizers_adam();
    expect_steady(train_step, 3000);
    expect_steady(predict, 1000);
    expect_steady(save_and_restore, 60);
    expect_steady(come_and_go, 300);
    tw_release(model);
    tw_release(optimizer);
}

/* ---- layers that are called on what comes of them ---- */

static void on_its_own_output(void)
{
    tw_auto tw_keras_tensor *x = tw_input(.shape = TW_SHAPE(4));
    tw_auto tw_layer *layer = tw_layers_dense(4);
    tw_auto tw_keras_tensor *a = tw_connect(layer, x), *b = tw_connect(layer, a), *c = tw_connect(layer, b);
    assert_non_null(c);
}

static void in_a_ring(void) /* the last reference is one to a tensor in the middle */
{
    tw_auto tw_keras_tensor *x = tw_input(.shape = TW_SHAPE(4));
    tw_layer *first = tw_layers_dense(4), *second = tw_layers_dense(4);
    tw_keras_tensor *a = tw_connect(first, x), *b = tw_connect(second, a), *c = tw_connect(first, b);
    tw_release(c);
    tw_release(a);
    tw_release(b);
}

static void in_a_model(void) /* which works while it is held, whatever else went */
{
    tw_auto tw_model *twice = NULL;
    {
        tw_auto tw_keras_tensor *x = tw_input(.shape = TW_SHAPE(4));
        tw_auto tw_layer *layer = tw_layers_dense(4);
        tw_auto tw_keras_tensor *a = tw_connect(layer, x), *b = tw_connect(tw_layers_elu(), a), *c = tw_connect(layer, b);
        twice = tw_model_connect(TW_OBJECTS(x), TW_OBJECTS(c), NULL);
    }
    tw_auto tw_tensor *input = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 4), NULL), *output = tw_model_call(twice, input);
    assert_non_null(output);
    tw_auto tw_keras_tensor *x = tw_input(.shape = TW_SHAPE(4));
    tw_auto tw_keras_tensor *y = tw_connect(twice, x), *z = tw_connect(twice, y);
    assert_non_null(z);
}

static void circles_end(void **state)
{
    (void)state;
    static void (*const bodies[])(void) = { on_its_own_output, in_a_ring, in_a_model };
    enum { TIMES = 200, ROUNDS = 4, ALLOWED = 100 }; /* bytes a circle: one that stays has a layer in it, of thousands */
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        bool steady = false;
        for (int round = 0; round < ROUNDS && !steady; round++) { /* a leak is in all of them; a table that grew is in one */
            size_t before = mallinfo2().uordblks;
            for (int n = 0; n < TIMES; n++)
                call_scoped(bodies[i]);
            expect_no_error();
            steady = mallinfo2().uordblks < before + TIMES * ALLOWED;
        }
        assert_true(TW_SANITIZED || steady);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(steady_ops), cmocka_unit_test(steady_models),
                                        cmocka_unit_test(circles_end) };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
