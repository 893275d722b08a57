/* Models and weights in HDF5 files, from C: those that tests/golden/h5.py made with TensorFlow, and our own. */
#define TW_TEST_SCOPES
#include "keras/golden.h"

#include "format/hdf5/hdf5.h"
#include "keras/saving/h5.h"
#include "scratch.h"

#define GOLDEN TW_TEST_DATA "/golden/h5/"

static tw_model *small_model(void)
{
    return tw_model_sequential(tw_layers_dense(3, .input_shape = TW_SHAPE(4), .activation = "relu"), tw_layers_dense(2));
}

static tw_tensor *rows(int64_t count, int64_t columns)
{
    tw_tensor *tensor = tw_tensor_new(TW_FLOAT32, TW_SHAPE(count, columns), NULL);
    for (int64_t i = 0; i < tensor->count; i++)
        ((float *)tensor->data)[i] = (float)(i % 7) / 7;
    return tensor;
}

static void expect_same_outputs(tw_model *a, tw_model *b, tw_tensor *x)
{
    tw_auto tw_tensor *first = tw_model_call(a, x), *second = tw_model_call(b, x);
    expect_no_error();
    assert_int_equal(tw_tensor_bytes(first), tw_tensor_bytes(second));
    assert_memory_equal(tw_tensor_data(first), tw_tensor_data(second), tw_tensor_bytes(first));
}

static void weights_round_trip(void **state)
{
    (void)state;
    const char *path = in_scratch("weights.h5");
    tw_auto tw_model *model = small_model(), *other = small_model();
    tw_auto tw_tensor *x = rows(5, 4);
    assert_int_equal(tw_model_save_weights(model, path), TW_OK);
    tw_auto tw_load_status *status = tw_model_load_weights(other, path);
    expect_no_error();
    assert_null(status);
    expect_same_outputs(model, other, x);
    tw_model_load_weights(other, in_scratch("none.h5"));
    expect_error(TW_OS_ERROR, "none.h5");
}

static void models_round_trip(void **state)
{
    (void)state;
    const char *path = in_scratch("model.h5");
    tw_auto tw_model *model = small_model();
    tw_auto tw_tensor *x = rows(5, 4);
    assert_int_equal(tw_model_save(model, path), TW_OK);
    tw_auto tw_model *other = tw_load_model(path, .compile = false);
    expect_no_error();
    expect_same_outputs(model, other, x);
    assert_null(tw_load_model(in_scratch("none.h5")));
    expect_error(TW_OS_ERROR, "No file or directory found");
    assert_int_equal(tw_model_save(model, in_scratch("model"), .save_format = "odd"), TW_VALUE_ERROR);
    expect_error(TW_VALUE_ERROR, "Unknown `save_format`");
}

static void models_of_tensorflow(void **state)
{
    (void)state;
    tw_auto tw_model *model = tw_load_model(GOLDEN "model.h5");
    expect_no_error();
    assert_string_equal(tw_class_name(model), "Sequential");
    tw_auto tw_model *again = NULL;
    assert_int_equal(tw_model_save(model, in_scratch("again.h5")), TW_OK); /* with its optimizer's state */
    again = tw_load_model(in_scratch("again.h5"));
    expect_no_error();
    tw__hdf5 *first = tw__hdf5_open(GOLDEN "model.h5"), *second = tw__hdf5_open(in_scratch("again.h5"));
    static const char *const arrays[][2] = {
        /* outside of apply_gradients the slots' names have no scope, as in TensorFlow */
        { "optimizer_weights/iteration:0", "optimizer_weights/iteration:0" },
        { "optimizer_weights/Adam/v/d/kernel:0", "optimizer_weights/v/d/kernel:0" },
        { "model_weights/b/b/gamma:0", "model_weights/b/b/gamma:0" },
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        tw_auto tw_tensor *a = tw__hdf5_value(first, tw__hdf5_find(first->root, arrays[i][0]));
        tw_auto tw_tensor *b = tw__hdf5_value(second, tw__hdf5_find(second->root, arrays[i][1]));
        assert_int_equal(tw_tensor_bytes(a), tw_tensor_bytes(b));
        assert_memory_equal(tw_tensor_data(a), tw_tensor_data(b), tw_tensor_bytes(a));
    }
    tw__hdf5_close(first);
    tw__hdf5_close(second);
}

/* A functional model in another, as old versions named them; its call 0 is the one that made it. */
static void models_of_old_versions(void **state)
{
    (void)state;
#define INPUT(name)                                                                                               \
    "{\"name\": \"" name                                                                                          \
    "\", \"class_name\": \"InputLayer\", \"config\": {\"batch_input_shape\": [null, 4], \"dtype\": \"float32\", " \
    "\"sparse\": false, \"name\": \"" name "\"}, \"inbound_nodes\": []}"
#define ENDS(first, last, call) "\"input_layers\": [[\"" first "\", 0, 0]], \"output_layers\": [[\"" last "\", " call ", 0]]"
    static const char config[] = "{\"class_name\": \"Model\", \"config\": {\"name\": \"outer\", \"layers\": [" INPUT(
        "i") ", {\"name\": \"inner\", \"class_name\": \"Model\", "
             "\"config\": {\"name\": \"inner\", \"layers\": [" INPUT(
                 "k") ", {\"name\": \"d\", \"class_name\": \"Dense\", \"config\": {\"name\": \"d\", "
                      "\"units\": 2}, \"inbound_nodes\": [[[\"k\", 0, 0, {}]]]}], " ENDS(
                          "k", "d", "0") "}, \"inbound_nodes\": [[[\"i\", 0, 0, {}]]]}], " ENDS("i", "inner", "1") "}}";
    const char *path = in_scratch("old.h5");
    tw__hdf5_node *root = tw__hdf5_tree(), *weights = tw__hdf5_group(root, "model_weights"),
                  *inner = tw__hdf5_group(weights, "inner");
    tw_auto tw_tensor *kernel = rows(4, 2), *bias = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), NULL), *x = rows(3, 4);
    assert_int_equal(tw__hdf5_set_text(root, "model_config", config, false), TW_OK);
    assert_int_equal(tw__hdf5_set_texts(weights, "layer_names", (const char *[]){ "inner" }, 1), TW_OK);
    assert_int_equal(tw__hdf5_set_texts(inner, "weight_names", (const char *[]){ "d/kernel:0", "d/bias:0" }, 2), TW_OK);
    assert_int_equal(tw__hdf5_put(inner, "d/kernel:0", kernel), TW_OK);
    assert_int_equal(tw__hdf5_put(inner, "d/bias:0", bias), TW_OK);
    assert_int_equal(tw__hdf5_write(root, path), TW_OK);
    tw__hdf5_free(root);
    tw_auto tw_model *model = tw_load_model(path);
    expect_no_error();
    assert_string_equal(tw_class_name(model), "Functional");
    tw_auto tw_tensor *expected = tw_matmul(x, kernel), *got = tw_model_call(model, x);
    expect_no_error();
    for (int i = 0; i < 6; i++)
        assert_true(tw_tensor_double_at(expected, i) == tw_tensor_double_at(got, i));
}

/* A trained model as .keras file, SavedModel and HDF5 file: loaded, it gives the same and is compiled as it was. */
static void trained_models(void **state)
{
    (void)state;
    static const char *const names[] = { "trained.keras", "trained", "trained.h5" };
    tw_auto tw_tensor *x = rows(6, 4), *y = rows(6, 2);
    tw_auto tw_model *model =
        tw_model_sequential(tw_layers_dense(3, .input_shape = TW_SHAPE(4)), tw_layers_batch_normalization(), tw_layers_dense(2));
    assert_int_equal(tw_model_compile(model, .optimizer = "adam", .loss = "mse", .metrics = TW_NAMES("mae")), TW_OK);
    tw_release(tw_model_fit(model, x, y, .epochs = 2, .verbose = 0));
    tw_value expected = tw_model_evaluate(model, x, y, .verbose = 0);
    expect_no_error();
    for (int i = 0; i < 3; i++) {
        const char *path = in_scratch(names[i]);
        assert_int_equal(tw_model_save(model, path), TW_OK);
        tw_auto tw_model *loaded = tw_load_model(path);
        expect_no_error();
        tw_value got = tw_model_evaluate(loaded, x, y, .verbose = 0);
        expect_no_error();
        assert_true(tw_log_value(&got, "loss") == tw_log_value(&expected, "loss") &&
                    tw_log_value(&got, "mae") == tw_log_value(&expected, "mae"));
        tw_value_free(&got);
    }
    tw_value_free(&expected);
}

/* Configs that are no JSON, or say nonsense. */
static void refuses_nonsense(void **state)
{
    (void)state;
    static const char *const configs[] = {
        "",
        "{",
        "[]",
        "{}",
        "3",
        "{\"class_name\": 3}",
        "{\"class_name\": \"Sequential\"}",
        "{\"class_name\": \"Sequential\", \"config\": {\"layers\": [3]}}",
        "{\"class_name\": \"Dense\", \"config\": {\"units\": 2}}",
        "{\"class_name\": \"Sequential\", \"config\": {\"layers\": [{\"class_name\": \"Nothing\", \"config\": {}}]}}"
    };
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        const char *path = in_scratch("odd.h5");
        tw__hdf5_node *root = tw__hdf5_tree();
        tw__hdf5_group(root, "model_weights");
        assert_int_equal(tw__hdf5_set_text(root, "model_config", configs[i], false), TW_OK);
        assert_int_equal(tw__hdf5_write(root, path), TW_OK);
        tw__hdf5_free(root);
        assert_null(tw_load_model(path));
        assert_int_not_equal(tw_error_code(), TW_OK);
        tw_clear_error();
    }
}

/* A config that names code is refused, with a sentence about code. */
static void code_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *function, *type, *words;
    } cases[] = {
        { "[\"4wE=\", null, null]", "lambda", "arbitrary code execution" },
        { "{\"class_name\": \"__lambda__\", \"config\": {\"value\": [\"4wE=\", null, null]}}", "lambda", "safe_mode=False" },
        { "\"eval\"", "function", "'eval' cannot be deserialized" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[600];
        snprintf(
            json, sizeof json,
            "{\"class_name\": \"Sequential\", \"config\": {\"name\": \"s\", \"layers\": [{\"class_name\": \"Lambda\", \"config\": "
            "{\"name\": \"l\", \"function\": %s, \"function_type\": \"%s\", \"module\": \"builtins\"}}]}}",
            cases[i].function, cases[i].type);
        assert_null(tw_model_from_json(json));
        expect_error(TW_VALUE_ERROR, cases[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_round_trip),     cmocka_unit_test(models_round_trip), cmocka_unit_test(models_of_tensorflow),
        cmocka_unit_test(models_of_old_versions), cmocka_unit_test(trained_models),    cmocka_unit_test(refuses_nonsense),
        cmocka_unit_test(code_is_refused),
    };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
