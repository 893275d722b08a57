/* What functions of loaded models may not do: every op that names files or calls the program says so in its row; from C a model
 * reads no foreign file unless it is trusted. */
#include <stdio.h>

#include "objects.h"

#include "op/guard.h"

static bool names_files(const char *name)
{
    static const char *const names[] = { "filename",
                                         "filenames",
                                         "path",
                                         "prefix",
                                         "logdir",
                                         "directory",
                                         "file_pattern",
                                         "checkpoint_prefix",
                                         "file_name",
                                         "descriptor_source",
                                         "token",
                                         "file_prefix",
                                         "destination_prefix" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return true;
    }
    return false;
}

/* A row with such an argument that only computes with the text. */
static bool only_computes(const char *op)
{
    return strcmp(op, "ShardedFilename") == 0;
}

static void test_rows(void **state)
{
    (void)state;
    int touching = 0;
    for (int i = 0; i < tw__op_count(); i++) {
        const tw_op *op = tw__op_at(i);
        const tw__op_signature *signature = tw__op_signature_of(op);
        bool named = false, found = !op->paths;
        assert_non_null(signature);
        assert_null(op->plain);
        for (int k = 0; k < signature->input_count; k++) {
            named |= signature->inputs[k].dtype == TW_STRING && names_files(signature->inputs[k].name);
            found |= op->paths && strcmp(op->paths, signature->inputs[k].name) == 0;
        }
        for (int k = 0; k < signature->attr_count; k++) {
            named |= signature->attrs[k].kind == TW_ATTR_STRING && names_files(signature->attrs[k].name);
            found |= op->paths && strcmp(op->paths, signature->attrs[k].name) == 0;
        }
        if (named && !op->touches && !only_computes(op->name))
            fail_msg("%s names files, or a function of the program, but its row says nothing by `touches`", op->name);
        if (!found)
            fail_msg("%s: `paths` is '%s', which is no argument of it", op->name, op->paths);
        if (!op->touches) {
            assert_ptr_equal(tw__op_guarded(op), op);
            continue;
        }
        touching++;
        const tw_op *twin = tw__op_guarded(op);
        assert_non_null(twin);
        assert_ptr_equal(twin->plain, op);
        assert_ptr_equal(tw__op_guarded(op), twin);
        assert_ptr_equal(tw__op_guarded(twin), twin);
        assert_string_equal(twin->name, op->name);
        assert_int_equal(tw__op_signature_of(twin)->attr_count, signature->attr_count + 1);
        assert_ptr_equal(tw__op_find(op->name), op);
    }
    assert_true(touching >= 15);
}

static tw_tensors reading(void *user, tw_tensors in)
{
    (void)user;
    return tw_give(tw_io_read_file(in.items[0]));
}

static void test_models(void **state)
{
    (void)state;
    tw_auto tw_variable *variable = scalar(1, "v");
    tw_auto tw_checkpoint *root = tw_checkpoint_new({ "v", variable });
    tw_auto tw_function *function = tw_function_new(reading, NULL, .name = "reading");
    static const tw_spec inputs[] = { { TW_STRING, { 0, { 0 } } } };
    tw_export export = { "read", function, inputs, 1, (const char *const[]){ "path" }, (const char *const[]){ "bytes" }, NULL };
    assert_int_equal(tw_saved_model_save(root, in_directory("guarded"), &export, 1), TW_OK);
    char own[600], foreign[600];
    snprintf(own, sizeof own, "%s/saved_model.pb", in_directory("guarded"));
    snprintf(foreign, sizeof foreign, "%s", in_directory("foreign"));
    FILE *file = fopen(foreign, "w");
    assert_non_null(file);
    fputs("secret", file);
    fclose(file);
    for (int trusted = 0; trusted < 2; trusted++) {
        tw_saved_object *model = tw_saved_model_load(in_directory("guarded"), .trusted = trusted);
        tw_auto tw_saved_concrete *read = tw_saved_model_signature(model, "read");
        tw_auto tw_tensor *path = tw_tensor_string(own, strlen(own)), *other = tw_tensor_string(foreign, strlen(foreign));
        tw_auto tw_tensor *bytes = tw_signature_value(read, TW_NAMED_TENSORS({ "path", path }), "bytes");
        assert_non_null(bytes);
        tw_auto tw_tensor *secret = tw_signature_value(read, TW_NAMED_TENSORS({ "path", other }), "bytes");
        if (trusted)
            assert_non_null(secret);
        else
            expect_error(TW_PERMISSION_DENIED, ".trusted = true");
        tw_saved_model_close(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_rows), cmocka_unit_test(test_models) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
