/* Keras objects in checkpoints: TensorFlow's own files of a model with its optimizer are restored before anything is built,
 * everything finds its place, and saving gives the same bytes again. */
#include "saving/objects.h"

static tw_layer *flatten, *dense1, *dense2;

static tw_tensor *mlp_call(tw_model *self, tw_tensor *input, int training, void *unused)
{
    (void)self;
    (void)training;
    (void)unused;
    tw_auto tw_tensor *flat = tw_layer_call(flatten, input);
    tw_auto tw_tensor *hidden = tw_layer_call(dense1, flat);
    return tw_layer_call(dense2, hidden);
}

/* One step with gradients of zero: builds the model and the optimizer's variables. */
static void step(tw_model *model, tw_optimizer *optimizer)
{
    tw_auto tw_tensor *input = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2, 2), NULL);
    tw_release(tw_model_call(model, input));
    expect_no_error();
    tw_objects variables = tw_layer_trainable_variables(model);
    assert_int_equal(variables.count, 4);
    tw_tensor *gradients[4];
    for (int i = 0; i < 4; i++)
        gradients[i] = tw_tensor_new(TW_FLOAT32, ((tw_variable *)variables.items[i])->resource->shape, NULL);
    tw_release(tw_optimizer_apply_gradients(optimizer, (tw_tensors){ gradients, 4 }, variables));
    for (int i = 0; i < 4; i++)
        tw_release(gradients[i]);
    tw_objects_free(&variables);
    expect_no_error();
}

static void check(const char *name, tw_model *model, tw_optimizer *optimizer)
{
    char golden[256];
    snprintf(golden, sizeof golden, TW_TEST_DATA "/golden/saving/%s", name);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "model", model }, { "optimizer", optimizer });
    tw_auto tw_load_status *early = tw_checkpoint_read(checkpoint, golden);
    expect_no_error();
    step(model, optimizer);
    tw_release(tw_load_status_assert_consumed(early));
    expect_no_error();
    tw_auto tw_variable *iterations = tw_optimizer_iterations(optimizer);
    assert_true(value_of(iterations) == 2); /* the file's one and this one */

    tw_auto tw_load_status *status = tw_checkpoint_read(checkpoint, golden);
    tw_release(tw_load_status_assert_consumed(status));
    expect_no_error();
    char *path = tw_checkpoint_write(checkpoint, in_directory(name));
    expect_no_error();
    expect_same_files(golden, path, ".index");
    expect_same_files(golden, path, ".data-00000-of-00001");
    free(path);
}

static void subclassed_with_adam(void **state)
{
    (void)state;
    tw_scoped();
    tw_auto tw_model *model = tw_model_new(mlp_call, NULL, .name = "mlp");
    flatten = tw_track(model, "flatten", tw_layers_flatten());
    dense1 = tw_track(model, "dense1", tw_layers_dense(3, .activation = "relu", .name = "dense"));
    dense2 = tw_track(model, "dense2", tw_layers_dense(2, .name = "dense_1"));
    tw_auto tw_optimizer *optimizer = tw_optimizers_adam(0.1);
    check("model", model, optimizer);
}

static void sequential_with_sgd(void **state)
{
    (void)state;
    tw_scoped();
    tw_auto tw_model *model = tw_sequential(TW_OBJECTS(tw_layers_flatten(), tw_layers_dense(3, .name = "dense_2"),
                                                       tw_layers_dense(2, .name = "dense_3")),
                                            .name = "sequential");
    tw_auto tw_optimizer *optimizer = tw_optimizers_sgd(0.1, .momentum = 0.9);
    check("sequential", model, optimizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(subclassed_with_adam), cmocka_unit_test(sequential_with_sgd) };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
