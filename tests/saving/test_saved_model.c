/* SavedModels from C: one that TensorFlow wrote is served, ours goes there and back, damaged ones are refused with the file's
 * name and field. */
#include <sys/stat.h>

#include "objects.h"

#include "saving/saved_model.h"

#define MODULE TW_TEST_DATA "/golden/saved_model/module"

static void test_serve(void **state)
{
    (void)state;
    tw_saved_object *model = tw_saved_model_load(MODULE);
    expect_no_error();
    assert_null(tw_saved_model_signature(model, "other"));
    expect_error(TW_NOT_FOUND, "has no signature 'other'; it has: 'serving_default'");
    tw_auto tw_saved_concrete *serve = tw_saved_model_signature(model, "serving_default");
    assert_non_null(serve);
    assert_string_equal(tw_signature_input(serve, 0), "x");
    assert_string_equal(tw_signature_output(serve, 0), "output_0");
    assert_null(tw_signature_output(serve, 1));
    tw_spec input = tw_signature_input_spec(serve, 0);
    assert_int_equal(input.dtype, TW_FLOAT32);
    assert_int_equal(input.shape.dims[0], -1);
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2), (float[]){ 1, 1, 0, 2 });
    tw_auto tw_tensor *y = tw_signature_value(serve, TW_NAMED_TENSORS({ "x", x }), "output_0");
    expect_no_error();
    static const double expected[] = { 4.5, 5.5, 6.5, 7.5 };
    for (int i = 0; i < 4; i++)
        assert_true(tw_tensor_double_at(y, i) == expected[i]);
    tw_auto tw_variable *steps = tw_saved_model_variable(model, "steps");
    assert_true(value_of(steps) == 2);
    assert_null(tw_signature_value(serve, TW_NAMED_TENSORS({ "z", x }), "output_0"));
    expect_error(TW_NOT_FOUND, "there is no input 'z'; the signature has: 'x'");
    assert_null(tw_signature_value(serve, TW_NAMED_TENSORS({ "x", x }), "other"));
    expect_error(TW_NOT_FOUND, "no output 'other'; the signature has: 'output_0'");
    tw_auto tw_tensor *integers = tw_tensor_new(TW_INT32, TW_SHAPE(2, 2), NULL);
    assert_null(tw_signature_value(serve, TW_NAMED_TENSORS({ "x", integers }), "output_0"));
    assert_int_not_equal(tw_error_code(), TW_OK);
    tw_clear_error();
    tw_saved_model_close(model);
}

static tw_tensors scale(void *user, tw_tensors in)
{
    tw_auto tw_tensor *factor = tw_variable_read(user);
    return tw_give(tw_multiply(in.items[0], factor), tw_add(in.items[0], in.items[1]));
}

static void test_round_trip(void **state)
{
    (void)state;
    tw_auto tw_variable *factor = scalar(3, "factor");
    tw_auto tw_checkpoint *root = tw_checkpoint_new({ "factor", factor });
    tw_auto tw_function *function = tw_function_new(scale, factor, .name = "scale");
    static const tw_spec inputs[] = { { TW_FLOAT32, { 1, { -1 } } }, { TW_FLOAT32, { 1, { -1 } } } };
    tw_export export = { "both", function, inputs, 2, (const char *const[]){ "z", "a" }, (const char *const[]){ "times", "plus" },
                         NULL };
    for (int i = 0; i < 2; i++) { /* the second time over the first one */
        assert_int_equal(tw_saved_model_save(root, in_directory("model"), &export, 1), TW_OK);
        expect_no_error();
    }
    tw_saved_object *model = tw_saved_model_load(in_directory("model"));
    expect_no_error();
    tw_auto tw_saved_concrete *both = tw_saved_model_signature(model, "both");
    tw_auto tw_tensor *z = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), (float[]){ 1, 2 }),
                      *a = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), (float[]){ 10, 20 });
    tw_auto tw_tensor *times = tw_signature_value(both, TW_NAMED_TENSORS({ "z", z }, { "a", a }), "times");
    expect_no_error();
    tw_auto tw_tensor *plus = tw_signature_value(both, TW_NAMED_TENSORS({ "a", a }, { "z", z }), "plus");
    expect_no_error();
    assert_true(tw_tensor_double_at(times, 1) == 6 && tw_tensor_double_at(plus, 1) == 22);
    char *text = tw_saved_model_text(in_directory("model"));
    assert_non_null(text);
    assert_non_null(strstr(text, "  both (tensorflow/serving/predict)\n    input a: float32"));
    free(text);
    tw_saved_model_close(model);
    tw_auto tw_variable *apart = scalar(1, "apart");
    tw_auto tw_function *other = tw_function_new(scale, apart, .name = "apart");
    export.function = other;
    assert_int_not_equal(tw_saved_model_save(root, in_directory("apart"), &export, 1), TW_OK);
    expect_error(TW_ASSERTION_ERROR, "references an 'untracked' resource");
    assert_false(tw__path_exists(in_directory("apart")));
}

/* Copies the golden directory, with saved_model.pb as given. */
static char *damaged_copy(const char *name, const void *data, size_t size)
{
    char command[512], *directory = in_directory(name);
    snprintf(command, sizeof command, "rm -rf %s; cp -r %s %s", directory, MODULE, directory);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "%s/saved_model.pb", directory);
    FILE *file = fopen(command, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
    return directory;
}

static void test_damage(void **state)
{
    (void)state;
    size_t size;
    char *bytes = tw__file_read_all(MODULE "/saved_model.pb", 1 << 20, &size);
    assert_non_null(bytes);
    for (size_t cut = 1; cut < size; cut += 1501) {
        char *directory = damaged_copy("cut", bytes, cut);
        assert_null(tw_saved_model_load(directory));
        assert_non_null(strstr(tw_error_message(), "cut/saved_model.pb: "));
        tw_clear_error();
    }
    bytes[1] = 9;
    assert_null(tw_saved_model_load(damaged_copy("version", bytes, size)));
    expect_error(TW_INVALID_ARGUMENT, "saved_model_schema_version is 9; versions up to 1 are known");
    bytes[1] = 1;
    char *directory = damaged_copy("variables", bytes, size), path[256];
    snprintf(path, sizeof path, "%s/variables/variables.index", directory);
    assert_int_equal(remove(path), 0);
    assert_null(tw_saved_model_load(directory));
    assert_non_null(strstr(tw_error_message(), "variables/variables"));
    tw_clear_error();
    assert_null(tw_saved_model_load(in_directory("nothing")));
    expect_error(TW_OS_ERROR, "SavedModel file does not exist at: ");
    tw__free(bytes);
}

/* A save that fails leaves what was there, and nothing else. */
static void test_failed_save(void **state)
{
    (void)state;
    tw_auto tw_variable *value = scalar(1, "value");
    tw_auto tw_checkpoint *root = tw_checkpoint_new({ "value", value });
    assert_int_equal(tw_saved_model_save(root, in_directory("kept"), NULL, 0), TW_OK);
    tw_auto tw_tensor *two = tw_tensor_float(2);
    assert_int_equal(tw__resource_assign(value->resource, two), TW_OK);
    int failures = 0;
    for (long step = 1; step < 100; step++) {
        tw__file_fail_at(step);
        tw_status status = tw_saved_model_save(root, in_directory("kept"), NULL, 0);
        tw__file_fail_at(0);
        tw_clear_error();
        if (status == TW_OK)
            break;
        failures++;
        tw_saved_object *model = tw_saved_model_load(in_directory("kept"));
        expect_no_error();
        tw_auto tw_variable *kept = tw_saved_model_variable(model, "value");
        assert_true(value_of(kept) == 1);
        tw_saved_model_close(model);
    }
    assert_true(failures > 3);
    tw_saved_object *model = tw_saved_model_load(in_directory("kept"));
    tw_auto tw_variable *kept = tw_saved_model_variable(model, "value");
    assert_true(value_of(kept) == 2);
    tw_saved_model_close(model);
    DIR *list = opendir(test_directory);
    for (struct dirent *entry; (entry = readdir(list));)
        assert_null(strstr(entry->d_name, ".tmp-"));
    closedir(list);
}

/* Every allocation fails once: an error, and nothing is left behind. */
static void test_memory(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2), (float[]){ 1, 1, 0, 2 });
    bool done = false;
    for (long n = 1; !done && n < 20000; n++) {
        tw__alloc_fail_at(n);
        tw_saved_object *model = tw_saved_model_load(MODULE);
        tw_saved_concrete *serve = model ? tw_saved_model_signature(model, "serving_default") : NULL;
        tw_tensor *y = serve ? tw_signature_value(serve, TW_NAMED_TENSORS({ "x", x }), "output_0") : NULL;
        done = y != NULL;
        tw__alloc_fail_at(0);
        assert_true(done || tw_error_code() == TW_RESOURCE_EXHAUSTED);
        tw_clear_error();
        tw_release(y);
        tw_release(serve);
        tw_saved_model_close(model);
    }
    assert_true(done);
    tw_auto tw_variable *factor = scalar(3, "factor");
    tw_auto tw_checkpoint *root = tw_checkpoint_new({ "factor", factor });
    tw_auto tw_function *function = tw_function_new(scale, factor, .name = "scale");
    static const tw_spec inputs[] = { { TW_FLOAT32, { 1, { -1 } } }, { TW_FLOAT32, { 1, { -1 } } } };
    tw_export export = { "both", function, inputs, 2, (const char *const[]){ "z", "a" }, NULL, NULL };
    done = false;
    for (long n = 1; !done && n < 20000; n += 3) {
        tw__alloc_fail_at(n);
        tw_status status = tw_saved_model_save(root, in_directory("memory"), &export, 1);
        tw__alloc_fail_at(0);
        done = status == TW_OK;
        assert_true(done || tw_error_code() == TW_RESOURCE_EXHAUSTED);
        tw_clear_error();
    }
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serve),       cmocka_unit_test(test_round_trip), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_failed_save), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
