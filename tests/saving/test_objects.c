/* Saved objects against TensorFlow's own files: read into objects of the same names, and written again byte for byte. */
#include "saving/objects.h"

static void round_trip(const char *name)
{
    char golden[256], own[256];
    snprintf(golden, sizeof golden, TW_TEST_DATA "/golden/%s", name);
    snprintf(own, sizeof own, "%s/%s", test_directory, strrchr(name, '/') + 1);
    tw_auto tw_checkpoint *checkpoint = objects_like(golden);
    tw_auto tw_load_status *restored = tw_checkpoint_read(checkpoint, golden);
    expect_no_error();
    tw_release(tw_load_status_assert_consumed(restored));
    expect_no_error();
    free(tw_checkpoint_write(checkpoint, own));
    expect_no_error();
    expect_same_files(golden, own, ".index");
    expect_same_files(golden, own, ".data-00000-of-00001");
}

static void files_are_tensorflows(void **state)
{
    (void)state;
    round_trip("saving/plain");
    round_trip("saving/model");
    round_trip("saving/sequential");
    round_trip("checkpoint/mlp");
    round_trip("training/narrow-1");
}

/* The objects of `plain` in tests/golden/saving.py, made by hand. */
static void made_by_hand(void **state)
{
    (void)state;
    tw_auto tw_variable *shared = vector((float[]){ 1, 2, 3 }, 3, "shared");
    tw_auto tw_tensor *matrix_value = tw_tensor_new(TW_INT32, TW_SHAPE(2, 2), (int32_t[]){ 1, 2, 3, 4 });
    tw_auto tw_variable *matrix = tw__variable_new(matrix_value, "matrix", true, NULL);
    tw_auto tw_checkpoint *inner = tw_checkpoint_new({ "x", matrix }, { "again", shared });
    tw_auto tw_tensor *one_value = tw_tensor_int(1), *two_value = tw_tensor_double(2.5), *flag_value = tw_tensor_bool(true),
                      *words_value = tw_tensor_string("text", 4), *step_value = tw_tensor_int64(7);
    tw_auto tw_variable *one = tw__variable_new(one_value, "one", true, NULL),
                        *two = tw__variable_new(two_value, "two", true, NULL),
                        *flag = tw__variable_new(flag_value, "flag", true, NULL),
                        *words = tw__variable_new(words_value, "words", true, NULL),
                        *step = tw__variable_new(step_value, "step", true, NULL), *odd = scalar(0.5f, "odd");
    tw_auto tw_trackable *items = tw__container_new(), *second = tw__container_new(), *third = tw__container_new(),
                         *mapping = tw__container_new();
    tw__container_append(second, two);
    tw__container_append(items, one);
    tw__container_append(items, second);
    tw__container_append(items, third);
    tw__track(mapping, "b", flag);
    tw__track(mapping, "a", words);
    tw__track(mapping, "a.b/c", odd);
    tw_auto tw_checkpoint *empty = tw_checkpoint();
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "shared", shared }, { "inner", inner }, { "items", items },
                                                          { "mapping", mapping }, { "empty", empty }, { "step", step });
    char *path = tw_checkpoint_save(checkpoint, in_directory("hand/plain"));
    expect_no_error();
    assert_string_equal(path, in_directory("hand/plain-1"));
    expect_same_files(GOLDEN("plain"), path, ".index");
    expect_same_files(GOLDEN("plain"), path, ".data-00000-of-00001");
    free(path);
    expect_listing(in_directory("hand"), "checkpoint plain-1.data-00000-of-00001 plain-1.index");
    size_t size;
    char *text = file_bytes(in_directory("hand/checkpoint"), "", &size);
    assert_string_equal(text, "model_checkpoint_path: \"plain-1\"\nall_model_checkpoint_paths: \"plain-1\"\n");
    tw__free(text);
}

static void with_a_root(void **state)
{
    (void)state;
    tw_auto tw_trackable *module = tw__container_new(), *parts = tw__container_new();
    tw_auto tw_variable *weight = vector((float[]){ 1, 2 }, 2, "weight"), *part = scalar(3, "part"), *extra = scalar(4, "extra"),
                        *apart = scalar(5, "apart");
    tw__track(module, "weight", weight);
    tw__container_append(parts, part);
    tw__track(module, "parts", parts);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint(module, TW_PAIRS({ "extra", extra }, { "apart", apart }));
    free(tw_checkpoint_save(checkpoint, in_directory("rooted")));
    char *path = tw_checkpoint_save(checkpoint, in_directory("rooted"));
    expect_no_error();
    expect_same_files(GOLDEN("rooted"), path, ".index");
    expect_same_files(GOLDEN("rooted"), path, ".data-00000-of-00001");
    free(path);

    tw_auto tw_trackable *other = tw__container_new(), *other_parts = tw__container_new();
    tw_auto tw_variable *other_weight = vector((float[]){ 0, 0 }, 2, "weight"), *other_part = scalar(0, "part"),
                        *other_extra = scalar(0, "e"), *other_apart = scalar(0, "a");
    tw__track(other, "weight", other_weight);
    tw__container_append(other_parts, other_part);
    tw__track(other, "parts", other_parts);
    tw_auto tw_checkpoint *target = tw_checkpoint(other, TW_PAIRS({ "extra", other_extra }, { "apart", other_apart }));
    tw_auto tw_load_status *status = tw_checkpoint_restore(target, GOLDEN("rooted"));
    tw_release(tw_load_status_assert_consumed(status));
    expect_no_error();
    assert_true(value_of(other_weight) == 1 && value_of(other_part) == 3 && value_of(other_extra) == 4 &&
                value_of(other_apart) == 5);
    tw_auto tw_variable *counter = tw_checkpoint_save_counter(target);
    assert_true(value_of(counter) == 2);

    tw_auto tw_variable *third = scalar(1, "x");
    assert_null(tw_checkpoint(other, TW_PAIRS({ "weight", third })));
    expect_error(TW_VALUE_ERROR, "Cannot create a Checkpoint with keyword argument weight if root.weight already exists.");
}

static void cycles_and_depth(void **state)
{
    (void)state;
    tw_auto tw_checkpoint *root = tw_checkpoint();
    tw_trackable *last = &root->trackable;
    for (int i = 0; i < 3000; i++) {
        tw_trackable *next = tw__container_new();
        tw__track(last, "n", next);
        tw_release(next);
        last = next;
    }
    tw_auto tw_variable *leaf = scalar(1, "leaf");
    tw__track(last, "leaf", leaf);
    tw__track(last, "up", &root->trackable);
    free(tw_checkpoint_write(root, in_directory("deep")));
    expect_no_error();
    tw_auto tw_tensor *zero = tw_tensor_float(0);
    tw__resource_assign(leaf->resource, zero);
    tw_auto tw_load_status *status = tw_checkpoint_read(root, in_directory("deep"));
    tw_release(tw_load_status_assert_consumed(status));
    expect_no_error();
    assert_true(value_of(leaf) == 1);
    tw__untrack(last, "up");
}

static void bad_arguments(void **state)
{
    (void)state;
    tw_auto tw_tensor *tensor = tw_tensor_int(3);
    assert_null(tw_checkpoint_new({ "a", tensor }));
    expect_error(TW_INVALID_ARGUMENT, "tw_checkpoint: the argument `kwargs` holds a Tensor as `a`, expected a Trackable");
    assert_null(tw_checkpoint_new({ "a", NULL }));
    expect_error(TW_INVALID_ARGUMENT, "tw_checkpoint: the argument `kwargs` holds NULL as `a`, expected a Trackable");
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint();
    assert_null(tw_checkpoint_save(checkpoint, "/proc/none/ckpt"));
    expect_error(TW_NOT_FOUND, "/proc/none");
    assert_null(tw_checkpoint_save(NULL, "x"));
    expect_error(TW_INVALID_ARGUMENT, "self");
}

static void relative_paths(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        { "/a/b/c", "/a/b", "c" },    { "/a/b", "/a/b", "." },       { "/a/b", "/a/b/c/d", "../.." },
        { "/a/bc", "/a/b", "../bc" }, { "/a/./b//../x", "/a", "x" }, { "x/y-1", "x", "y-1" },
        { "y-1", "", "y-1" },         { "/", "/a", ".." },           { "/a", "/", "a" },
        { "/../a", "/", "a" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *found = tw__path_relative(cases[i][0], cases[i][1]);
        assert_string_equal(found, cases[i][2]);
        tw__free(found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_tensorflows), cmocka_unit_test(made_by_hand),  cmocka_unit_test(with_a_root),
        cmocka_unit_test(cycles_and_depth),      cmocka_unit_test(bad_arguments), cmocka_unit_test(relative_paths),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
