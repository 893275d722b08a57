/* CheckpointManager, the state file and the readers, with a clock of their own. */
#include "saving/objects.h"
#include "keras/callable.h"

static double now = 1000;

static double fake_clock(void)
{
    return now;
}

static void save(tw_checkpoint_manager *manager, const char *expected)
{
    char *path = tw_checkpoint_manager_save(manager);
    expect_no_error();
    assert_string_equal(path, expected);
    free(path);
}

static void expect_text(char *text, const char *expected)
{
    expect_no_error();
    if (!expected)
        assert_null(text);
    else
        assert_string_equal(text, expected);
    free(text);
}

static void expect_checkpoints(tw_checkpoint_manager *manager, const char *directory, const char *names)
{
    tw_value list = tw_checkpoint_manager_checkpoints(manager);
    char text[1024] = "";
    for (int64_t i = 0; i < list.list.count; i++) {
        assert_memory_equal(list.list.items[i].s.data, directory, strlen(directory));
        strcat(text, i ? " " : "");
        strcat(text, list.list.items[i].s.data + strlen(directory) + 1);
    }
    tw_value_free(&list);
    assert_string_equal(text, names);
}

static void expect_state(const char *directory, const char *expected)
{
    size_t size;
    char *text = file_bytes(directory, "/checkpoint", &size);
    assert_string_equal(text, expected);
    tw__free(text);
}

static void keeps_the_newest(void **state)
{
    (void)state;
    now = 1000;
    char *directory = in_directory("newest");
    tw_auto tw_variable *v = scalar(1, NULL);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "v", v });
    tw_auto tw_checkpoint_manager *manager = tw_checkpoint_manager(checkpoint, directory, 2);
    expect_text(tw_checkpoint_manager_latest_checkpoint(manager), NULL);
    expect_text(tw_checkpoint_manager_restore_or_initialize(manager), NULL);
    expect_text(tw_checkpoint_manager_directory(manager), directory);
    char path[256];
    for (int i = 1; i <= 3; i++) {
        snprintf(path, sizeof path, "%s/ckpt-%d", directory, i);
        now += 0.5;
        save(manager, path);
    }
    expect_text(tw_checkpoint_manager_latest_checkpoint(manager), path);
    expect_checkpoints(manager, directory, "ckpt-2 ckpt-3");
    expect_listing(directory, "checkpoint ckpt-2.data-00000-of-00001 ckpt-2.index ckpt-3.data-00000-of-00001 ckpt-3.index");
    expect_state(
        directory,
        "model_checkpoint_path: \"ckpt-3\"\nall_model_checkpoint_paths: \"ckpt-2\"\nall_model_checkpoint_paths: \"ckpt-3\"\n"
        "all_model_checkpoint_timestamps: 1001.0\nall_model_checkpoint_timestamps: 1001.5\nlast_preserved_timestamp: 999.0\n");
    expect_text(tw_train_latest_checkpoint(directory), path);

    /* What others wrote is not touched; numbers may be given. */
    free(tw_checkpoint_write(checkpoint, in_directory("newest/ckpt-77")));
    free(tw_checkpoint_write(checkpoint, in_directory("newest/other")));
    tw_auto tw_tensor *seven = tw_tensor_int(7);
    free(tw_checkpoint_manager_save(manager, .checkpoint_number = { .kind = TW_VALUE_INT, .i = 99 }));
    free(tw_checkpoint_manager_save(manager, .checkpoint_number = { .kind = TW_VALUE_TENSOR, .tensor = seven }));
    expect_no_error();
    expect_checkpoints(manager, directory, "ckpt-99 ckpt-7");
    assert_null(tw_checkpoint_manager_save(manager, .checkpoint_number = { .kind = TW_VALUE_STR, .s = { "x", 1 } }));
    expect_error(TW_TYPE_ERROR, "checkpoint_number");
    expect_listing(directory, "checkpoint ckpt-7.data-00000-of-00001 ckpt-7.index ckpt-77.data-00000-of-00001 ckpt-77.index "
                              "ckpt-99.data-00000-of-00001 ckpt-99.index other.data-00000-of-00001 other.index");

    /* Another process goes on with the list. */
    tw_auto tw_checkpoint_manager *next = tw_checkpoint_manager(checkpoint, directory, 2);
    expect_checkpoints(next, directory, "ckpt-99 ckpt-7");
    snprintf(path, sizeof path, "%s/ckpt-7", directory);
    expect_text(tw_checkpoint_manager_restore_or_initialize(next), path);
    snprintf(path, sizeof path, "%s/ckpt-6", directory);
    save(next, path);
    expect_checkpoints(next, directory, "ckpt-7 ckpt-6");
    tw_auto tw_variable *counter = tw_checkpoint_save_counter(checkpoint);
    assert_true(value_of(counter) == 6);

    /* Overwriting one moves it to the end. */
    free(tw_checkpoint_manager_save(next, .checkpoint_number = { .kind = TW_VALUE_INT, .i = 7 }));
    expect_checkpoints(next, directory, "ckpt-6 ckpt-7");
}

static void keeps_one_every_hour(void **state)
{
    (void)state;
    now = 100000;
    char *directory = in_directory("hours");
    tw_auto tw_variable *v = scalar(1, NULL);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "v", v });
    tw_checkpoint_manager *manager =
        tw_checkpoint_manager(checkpoint, directory, 1, .keep_checkpoint_every_n_hours = 1, .checkpoint_name = "m");
    for (int i = 0; i < 6; i++) {
        now += 1200;
        free(tw_checkpoint_manager_save(manager));
    }
    expect_no_error();
    /* 101200 … 107200: the first that is an hour older than 99999 is number 3 (103600); the next an hour later is number 6, the
     * newest. */
    expect_listing(directory, "checkpoint m-3.data-00000-of-00001 m-3.index m-6.data-00000-of-00001 m-6.index");
    tw_release(manager);
    manager = tw_checkpoint_manager(checkpoint, directory, 1, .keep_checkpoint_every_n_hours = 1, .checkpoint_name = "m");
    now += 1200;
    free(tw_checkpoint_manager_save(manager));
    expect_listing(
        directory,
        "checkpoint m-3.data-00000-of-00001 m-3.index m-6.data-00000-of-00001 m-6.index m-7.data-00000-of-00001 m-7.index");
    expect_state(
        directory,
        "model_checkpoint_path: \"m-7\"\nall_model_checkpoint_paths: \"m-7\"\nall_model_checkpoint_timestamps: 108400.0\n"
        "last_preserved_timestamp: 107200.0\n");
    tw_release(manager);
}

static void keeps_all(void **state)
{
    (void)state;
    char *directory = in_directory("all");
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint();
    tw_auto tw_checkpoint_manager *manager = tw_checkpoint_manager(checkpoint, directory, TW_NO_INT);
    for (int i = 0; i < 4; i++)
        free(tw_checkpoint_manager_save(manager));
    expect_checkpoints(manager, directory, "ckpt-1 ckpt-2 ckpt-3 ckpt-4");
}

static void intervals(void **state)
{
    (void)state;
    char *directory = in_directory("interval"), path[256];
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint();
    tw_auto tw_tensor *zero = tw_tensor_int64(0), *three = tw_tensor_int64(3), *eight = tw_tensor_int64(8);
    tw_auto tw_variable *step = tw__variable_new(zero, "step", false, NULL);
    tw_auto tw_checkpoint_manager *manager =
        tw_checkpoint_manager(checkpoint, directory, 3, .step_counter = step, .checkpoint_interval = 5);
    snprintf(path, sizeof path, "%s/ckpt-1", directory);
    save(manager, path);
    expect_text(tw_checkpoint_manager_save(manager), NULL);
    tw__resource_assign(step->resource, three);
    expect_text(tw_checkpoint_manager_save(manager), NULL);
    snprintf(path, sizeof path, "%s/ckpt-2", directory);
    expect_text(tw_checkpoint_manager_save(manager, .check_interval = false), path);
    tw__resource_assign(step->resource, eight);
    snprintf(path, sizeof path, "%s/ckpt-3", directory);
    save(manager, path);
    tw_value interval = tw_checkpoint_manager_checkpoint_interval(manager);
    assert_true(interval.kind == TW_VALUE_INT && interval.i == 5);
}

static int initialized;

static tw_tensor *initialize(tw_callable *self, tw_tensor *input)
{
    assert_null(input);
    assert_string_equal(self->name, "initialize");
    initialized++;
    return NULL;
}

static void init_function(void **state)
{
    (void)state;
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint();
    tw_auto tw_callable *function = tw__callable_new("initialize", initialize, NULL, NULL);
    tw_auto tw_checkpoint_manager *manager = tw_checkpoint_manager(checkpoint, in_directory("init"), 3, .init_fn = function);
    expect_text(tw_checkpoint_manager_restore_or_initialize(manager), NULL);
    assert_int_equal(initialized, 1);
    free(tw_checkpoint_manager_save(manager));
    expect_text(tw_checkpoint_manager_restore_or_initialize(manager), in_directory("init/ckpt-1"));
    assert_int_equal(initialized, 1);
}

static void bad_arguments(void **state)
{
    (void)state;
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint();
    assert_null(tw_checkpoint_manager(checkpoint, "x", 0));
    expect_error(TW_VALUE_ERROR, "Expected a positive integer or `None` for `max_to_keep`, got 0.");
    assert_null(tw_checkpoint_manager(checkpoint, "x", 2, .checkpoint_interval = 3));
    expect_error(TW_VALUE_ERROR, "`step_counter` should be passed if `checkpoint_interval` is not None.");
    assert_null(tw_checkpoint_options(.enable_async = true));
    expect_error(TW_UNIMPLEMENTED, "asynchronously");
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void odd_states(void)
{
    char *directory = in_directory("state");
    assert_int_equal(tw__make_directories(directory), TW_OK);
    expect_text(tw_train_latest_checkpoint(directory), NULL);
    expect_text(tw_train_latest_checkpoint("/nowhere"), NULL);
    assert_null(tw_train_get_checkpoint_state(directory));
    expect_no_error();
    write_file(in_directory("state/checkpoint"), "model_checkpoint_path: \"gone-1\"\n");
    expect_text(tw_train_latest_checkpoint(directory), NULL);
    write_file(in_directory("state/checkpoint"), "model_checkpoint_pa");
    expect_text(tw_train_latest_checkpoint(directory), NULL);
    write_file(in_directory("state/checkpoint"), "");
    assert_null(tw_train_latest_checkpoint(directory));
    expect_error(TW_VALUE_ERROR, "Invalid checkpoint state loaded from");
}

static void state_files(void **state)
{
    (void)state;
    char *text = captured(odd_states);
    assert_non_null(strstr(text, "ERROR:tensorflow:Couldn't match files for checkpoint "));
    assert_non_null(strstr(text, "/state/gone-1\nWARNING:tensorflow:"));
    assert_non_null(strstr(text, "/state/checkpoint: Checkpoint ignored\n"));
    free(text);

    tw_auto tw_checkpoint *checkpoint = tw_checkpoint();
    now = 2000;
    tw_auto tw_checkpoint_manager *manager = tw_checkpoint_manager(checkpoint, in_directory("said"), 2);
    free(tw_checkpoint_manager_save(manager));
    tw_auto tw_checkpoint_state *said = tw_train_get_checkpoint_state(in_directory("said"));
    expect_no_error();
    expect_text(tw_checkpoint_state_model_checkpoint_path(said), in_directory("said/ckpt-1"));
    tw_value paths = tw_checkpoint_state_all_model_checkpoint_paths(said),
             times = tw_checkpoint_state_all_model_checkpoint_timestamps(said);
    assert_int_equal(paths.list.count, 1);
    assert_true(times.list.count == 1 && times.list.items[0].f == 2000);
    assert_true(tw_checkpoint_state_last_preserved_timestamp(said) == 1999);
    tw_value_free(&paths);
    tw_value_free(&times);
}

static void readers(void **state)
{
    (void)state;
    tw_auto tw_variable *v = vector((float[]){ 1, 2 }, 2, NULL);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "v", v });
    free(tw_checkpoint_save(checkpoint, in_directory("read/ckpt")));
    tw_auto tw_checkpoint_reader *reader = tw_train_load_checkpoint(in_directory("read"));
    expect_no_error();
    assert_true(tw_checkpoint_reader_has_tensor(reader, "v/.ATTRIBUTES/VARIABLE_VALUE"));
    assert_false(tw_checkpoint_reader_has_tensor(reader, "w"));
    tw_value text = tw_checkpoint_reader_debug_string(reader);
    assert_string_equal(text.s.data,
                        "_CHECKPOINTABLE_OBJECT_GRAPH (DT_STRING) []\nsave_counter/.ATTRIBUTES/VARIABLE_VALUE (DT_INT64) []\n"
                        "v/.ATTRIBUTES/VARIABLE_VALUE (DT_FLOAT) [2]\n");
    tw_value_free(&text);
    tw_value shapes = tw_checkpoint_reader_get_variable_to_shape_map(reader),
             dtypes = tw_checkpoint_reader_get_variable_to_dtype_map(reader),
             list = tw_train_list_variables(in_directory("read/ckpt-1"));
    expect_no_error();
    assert_true(shapes.kind == TW_VALUE_DICT && shapes.list.count == 6 && shapes.list.items[5].list.items[0].i == 2);
    assert_true(dtypes.list.items[5].dtype == TW_FLOAT32);
    assert_true(list.list.count == 3 && list.list.items[2].kind == TW_VALUE_TUPLE);
    assert_string_equal(list.list.items[2].list.items[0].s.data, "v/.ATTRIBUTES/VARIABLE_VALUE");
    tw_value_free(&shapes);
    tw_value_free(&dtypes);
    tw_value_free(&list);
    tw_auto tw_tensor *tensor = tw_train_load_variable(in_directory("read"), "v/.ATTRIBUTES/VARIABLE_VALUE:0");
    assert_true(tw_tensor_double_at(tensor, 1) == 2);
    assert_null(tw_checkpoint_reader_get_tensor(reader, "zz"));
    expect_error(TW_NOT_FOUND, "Key zz not found in checkpoint");
    assert_null(tw_train_load_checkpoint("/nowhere/x"));
    expect_error(TW_NOT_FOUND, "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for /nowhere/x");
    assert_int_equal(tw__make_directories(in_directory("bare")), TW_OK);
    assert_null(tw_train_load_checkpoint(in_directory("bare")));
    expect_error(TW_VALUE_ERROR, "Couldn't find 'checkpoint' file or checkpoints in given directory");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_newest), cmocka_unit_test(keeps_one_every_hour),
        cmocka_unit_test(keeps_all),        cmocka_unit_test(intervals),
        cmocka_unit_test(init_function),    cmocka_unit_test(bad_arguments),
        cmocka_unit_test(state_files),      cmocka_unit_test(readers),
    };
    tw__saving_clock = fake_clock;
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
