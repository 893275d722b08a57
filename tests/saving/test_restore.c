/* Restoring: what comes later, what does not match, and what the status objects say. The messages are TensorFlow's. */
#include "saving/objects.h"

#define WARNING_1                                                                                                                             \
    "WARNING:tensorflow:Detecting that an object or model or tf.train.Checkpoint is being deleted with unrestored values. See the following " \
    "logs for the specific values in question. To silence these warnings, use `status.expect_partial()`. See "                                \
    "https://www.tensorflow.org/api_docs/python/tf/train/Checkpoint#restorefor details about the status object returned by the restore "      \
    "function.\n"
#define WARNING_2 "WARNING:tensorflow:Value in checkpoint could not be found in the restored object: "

/* Checkpoint(a=1.0, b=[1., 2.]), saved as ab-1. */
static char *save_ab(void)
{
    tw_auto tw_variable *a = scalar(1, NULL), *b = vector((float[]){ 1, 2 }, 2, NULL);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "a", a }, { "b", b });
    char *path = tw_checkpoint_save(checkpoint, in_directory("ab"));
    expect_no_error();
    return path;
}

static char *saved;

static int save_first(void **state)
{
    int result = make_directory(state);
    saved = save_ab();
    return result;
}

static int end(void **state)
{
    free(saved);
    return remove_directory(state);
}

static void passes(tw_load_status *(*method)(tw_load_status *), tw_load_status *status)
{
    tw_load_status *same = method(status);
    expect_no_error();
    assert_ptr_equal(same, status);
    tw_release(same);
}

static tw_load_status *consumed(tw_load_status *status)
{
    return tw_load_status_assert_consumed(status);
}

static tw_load_status *existing(tw_load_status *status)
{
    return tw_load_status_assert_existing_objects_matched(status);
}

static tw_load_status *nontrivial(tw_load_status *status)
{
    return tw_load_status_assert_nontrivial_match(status);
}

static tw_load_status *partial(tw_load_status *status)
{
    return tw_load_status_expect_partial(status);
}

static void fails(tw_load_status *(*method)(tw_load_status *), tw_load_status *status, const char *message)
{
    assert_null(method(status));
    assert_int_equal(tw_error_code(), TW_ASSERTION_ERROR);
    assert_string_equal(tw_error_message(), message);
    tw_clear_error();
}

static void restore_without_b(void)
{
    tw_auto tw_variable *a = scalar(5, NULL);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "a", a });
    tw_auto tw_load_status *status = tw_checkpoint_restore(checkpoint, saved);
    expect_no_error();
    assert_true(value_of(a) == 1);
    fails(consumed, status,
          "Unresolved object in checkpoint (root).b: attributes {\n  name: \"VARIABLE_VALUE\"\n  full_name: \"Variable\"\n"
          "  checkpoint_key: \"b/.ATTRIBUTES/VARIABLE_VALUE\"\n}\nhas_checkpoint_values {\n  value: true\n}\n");
    passes(existing, status);
    passes(nontrivial, status);
}

static void value_without_object(void **state)
{
    (void)state;
    char *text = captured(restore_without_b);
    assert_string_equal(text, WARNING_1 WARNING_2 "(root).b\n");
    free(text);
}

static void restore_and_expect_partial(void)
{
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint();
    tw_auto tw_load_status *status = tw_checkpoint_restore(checkpoint, saved);
    passes(partial, status);
}

static void expect_partial_is_quiet(void **state)
{
    (void)state;
    char *text = captured(restore_and_expect_partial);
    assert_string_equal(text, "");
    free(text);
}

static void object_without_value(void **state)
{
    (void)state;
    tw_auto tw_variable *a = scalar(5, NULL), *z = vector((float[]){ 3, 4 }, 2, NULL), *q = scalar(2, "q");
    tw_auto tw_trackable *list = tw__container_new();
    tw__container_append(list, q);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "a", a }, { "z", z }, { "l", list });
    tw_auto tw_load_status *status = tw_checkpoint_restore(checkpoint, saved);
    static const char message[] =
        "Found 2 Python objects that were not bound to checkpointed values, likely due to changes in the Python program. Showing 2 of 2 "
        "unmatched objects: [<tf.Variable 'Variable:0' shape=(2,) dtype=float32, numpy=array([3., 4.], dtype=float32)>, "
        "<tf.Variable 'q:0' shape=() dtype=float32, numpy=2.0>]";
    fails(consumed, status, message);
    fails(existing, status, message);
    passes(nontrivial, status);
    passes(partial, status);
}

static void nothing_in_common(void **state)
{
    (void)state;
    tw_auto tw_variable *z = vector((float[]){ 3, 4 }, 2, NULL);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "z", z });
    tw_auto tw_load_status *status = tw_checkpoint_read(checkpoint, saved);
    fails(
        nontrivial, status,
        "Nothing except the root object matched a checkpointed value. Typically this means that the checkpoint does not match the Python "
        "program. The following objects have no matching checkpointed value: [<tf.Variable 'Variable:0' shape=(2,) dtype=float32, "
        "numpy=array([3., 4.], dtype=float32)>]");
    passes(partial, status);
    tw_auto tw_checkpoint *empty = tw_checkpoint();
    tw_auto tw_load_status *other = tw_checkpoint_read(empty, saved);
    fails(nontrivial, other, "Nothing to load. No dependencies have been added to <Checkpoint object> yet.");
    passes(existing, other);
    passes(partial, other);
}

static void no_path(void **state)
{
    (void)state;
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint();
    tw_auto tw_load_status *status = tw_checkpoint_restore(checkpoint, NULL);
    assert_string_equal(tw_class_name(status), "InitializationOnlyStatus");
    static const char message[] = "No checkpoint specified (save_path=None); nothing is being restored.";
    fails(consumed, status, message);
    fails(existing, status, message);
    fails(nontrivial, status, message);
    passes(partial, status);
    assert_int_equal(tw_load_status_initialize_or_restore(status), TW_OK);
    assert_int_equal(tw_load_status_run_restore_ops(status), TW_ASSERTION_ERROR);
    expect_error(TW_ASSERTION_ERROR,
                 "No checkpoint specified, so no restore ops are available (save_path=None to Saver.restore).");
}

static void no_file(void **state)
{
    (void)state;
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint();
    assert_null(tw_checkpoint_restore(checkpoint, "/tmp/nope"));
    assert_string_equal(
        tw_error_message(),
        "Error when restoring from checkpoint or SavedModel at /tmp/nope: Unsuccessful TensorSliceReader constructor: Failed "
        "to find any matching files for /tmp/nope\nPlease double-check that the path is correct. You may be missing the "
        "checkpoint suffix (e.g. the '-1' in 'path/to/ckpt-1').");
    expect_error(TW_NOT_FOUND, "");
    assert_null(tw_checkpoint_read(checkpoint, "/tmp/nope"));
    expect_error(TW_NOT_FOUND, "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for /tmp/nope");
}

static void wrong_kinds(void)
{
    tw_auto tw_variable *shape = vector((float[]){ 1, 2 }, 2, NULL), *b = vector((float[]){ 7, 8 }, 2, NULL);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "a", shape }, { "b", b });
    assert_null(tw_checkpoint_restore(checkpoint, saved));
    expect_error(TW_VALUE_ERROR,
                 "Received incompatible tensor with shape () when attempting to restore variable with shape (2,) and "
                 "name Variable:0.");
    assert_true(value_of(b) == 7); /* all or nothing */
    tw_auto tw_tensor *integer = tw_tensor_int(3);
    tw_auto tw_variable *dtype = tw__variable_new(integer, NULL, true, NULL);
    tw_auto tw_checkpoint *second = tw_checkpoint_new({ "a", dtype });
    assert_null(tw_checkpoint_restore(second, saved));
    expect_error(TW_INVALID_ARGUMENT,
                 "tensor_name = a/.ATTRIBUTES/VARIABLE_VALUE; expected dtype int32 does not equal original dtype float (");
}

static void kinds_must_match(void **state)
{
    (void)state;
    free(captured(wrong_kinds));
}

static void unused_attribute(void **state)
{
    (void)state;
    tw_auto tw_variable *b = vector((float[]){ 7, 8 }, 2, NULL);
    tw_auto tw_trackable *not_a_variable = tw__container_new();
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "a", not_a_variable }, { "b", b });
    tw_auto tw_load_status *status = tw_checkpoint_restore(checkpoint, saved);
    fails(
        consumed, status,
        "Unused attributes in these objects (the attributes exist in the checkpoint but were not restored):\n(root).a (<Container "
        "object>): ['VARIABLE_VALUE']");
}

/* ---- what comes later ---- */

static void later_objects(void **state)
{
    (void)state;
    tw_auto tw_variable *a = scalar(1, NULL), *x = scalar(2, NULL), *one = scalar(3, NULL), *two = scalar(4, NULL);
    tw_auto tw_trackable *list = tw__container_new();
    tw__container_append(list, one);
    tw__container_append(list, two);
    tw_auto tw_checkpoint *inner = tw_checkpoint_new({ "x", x }, { "l", list });
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "a", a }, { "n", inner });
    char *path = tw_checkpoint_save(checkpoint, in_directory("later/ckpt"));
    expect_no_error();

    tw_auto tw_checkpoint *target = tw_checkpoint();
    tw_auto tw_load_status *status = tw_checkpoint_restore(target, path);
    char command[200];
    snprintf(command, sizeof command, "rm -r %s", in_directory("later"));
    assert_int_equal(system(command), 0); /* the files may go meanwhile */
    free(path);
    tw_auto tw_checkpoint *node = tw_checkpoint();
    assert_int_equal(tw__track(&target->trackable, "n", node), TW_OK);
    tw_auto tw_variable *late_x = scalar(0, NULL), *second_x = scalar(0, NULL), *late_a = scalar(0, NULL),
                        *late_one = scalar(0, NULL), *late_two = scalar(0, NULL);
    tw__track(&node->trackable, "x", late_x);
    assert_true(value_of(late_x) == 2);
    tw_auto tw_trackable *late_list = tw__container_new();
    tw__container_append(late_list, late_one);
    tw__track(&node->trackable, "l", late_list);
    assert_true(value_of(late_one) == 3);
    tw__container_append(late_list, late_two);
    assert_true(value_of(late_two) == 4);
    tw__track(&target->trackable, "a", late_a);
    assert_true(value_of(late_a) == 1);
    expect_no_error();
    passes(consumed, status);
    tw__track(&node->trackable, "x", second_x); /* once only */
    assert_true(value_of(second_x) == 0);
}

static void newest_wins(void **state)
{
    (void)state;
    tw_auto tw_variable *v = scalar(1, NULL);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "v", v });
    char *first = tw_checkpoint_write(checkpoint, in_directory("first"));
    tw_auto tw_tensor *two = tw_tensor_float(2);
    tw__resource_assign(v->resource, two);
    char *second = tw_checkpoint_write(checkpoint, in_directory("second"));
    tw_auto tw_checkpoint *target = tw_checkpoint();
    tw_auto tw_load_status *old = tw_checkpoint_read(target, first), *new = tw_checkpoint_read(target, second);
    tw_auto tw_variable *late = scalar(0, NULL);
    tw__track(&target->trackable, "v", late);
    expect_no_error();
    assert_true(value_of(late) == 2);
    passes(consumed, old);
    passes(consumed, new);
    free(first);
    free(second);
}

static void shape_of_late_one(void)
{
    tw_auto tw_checkpoint *target = tw_checkpoint();
    tw_auto tw_load_status *status = tw_checkpoint_restore(target, saved);
    tw_auto tw_variable *a = vector((float[]){ 1, 2 }, 2, NULL);
    assert_int_equal(tw__track(&target->trackable, "a", a), TW_VALUE_ERROR);
    expect_error(TW_VALUE_ERROR,
                 "Received incompatible tensor with shape () when attempting to restore variable with shape (2,)");
    passes(partial, status);
}

static void late_mismatch(void **state)
{
    (void)state;
    free(captured(shape_of_late_one));
}

static void restore_often(void)
{
    tw_auto tw_variable *a = scalar(5, NULL);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "a", a });
    for (int i = 0; i < 3000; i++) /* more than there are file descriptors */
        tw_release(tw_checkpoint_restore(checkpoint, saved));
    expect_no_error();
    tw_auto tw_variable *b = vector((float[]){ 0, 0 }, 2, NULL);
    tw__track(&checkpoint->trackable, "b", b);
    expect_no_error();
    assert_true(value_of(b) == 1);
}

static void many_restores(void **state)
{
    (void)state;
    free(captured(restore_often));
}

/* ---- other kinds of files ---- */

static void legacy_slots(void)
{
    tw_auto tw_variable *weight = vector((float[]){ 0, 0 }, 2, NULL);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "weight", weight });
    tw_auto tw_load_status *status = tw_checkpoint_read(checkpoint, GOLDEN("legacy"));
    expect_no_error();
    assert_null(consumed(status));
    expect_error(TW_ASSERTION_ERROR,
                 "Unresolved object in checkpoint (root).optimizer.iter: attributes {\n  name: \"VARIABLE_VALUE\"\n"
                 "  full_name: \"Adam/iter\"\n");
}

static void slots_are_named(void **state)
{
    (void)state;
    char *text = captured(legacy_slots);
    assert_non_null(strstr(text, WARNING_2 "(root).optimizer.learning_rate\n"));
    assert_non_null(strstr(text, WARNING_2 "(root).optimizer's state 'm' for (root).weight\n"));
    free(text);
}

static void by_names(void **state)
{
    (void)state;
    tw_auto tw_tensor *integer = tw_tensor_int(0);
    tw_auto tw_variable *weight = vector((float[]){ 0, 0 }, 2, "weight"),
                        *bias = tw__variable_new(integer, "scope/bias", true, NULL),
                        *late = tw__variable_new(integer, "scope/bias", true, NULL), *other = scalar(3, NULL);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "w", weight }, { "b", bias });
    tw_auto tw_load_status *status = tw_checkpoint_restore(checkpoint, GOLDEN("names"));
    expect_no_error();
    assert_string_equal(tw_class_name(status), "NameBasedSaverStatus");
    assert_true(value_of(weight) == 1 && value_of(bias) == 7);
    passes(consumed, status);
    tw__track(&checkpoint->trackable, "late", late);
    assert_true(value_of(late) == 7);
    passes(consumed, status);
    tw__track(&checkpoint->trackable, "other", other);
    fails(consumed, status,
          "Some objects had attributes which were not restored: \n    <tf.Variable 'Variable:0' shape=() dtype=float32, "
          "numpy=3.0>: ['Variable']");
    assert_int_equal(tw_load_status_run_restore_ops(status), TW_OK);
    tw_auto tw_variable *wrong = vector((float[]){ 0, 0, 0 }, 3, "weight");
    tw_auto tw_checkpoint *second = tw_checkpoint_new({ "w", wrong });
    assert_null(tw_checkpoint_restore(second, GOLDEN("names")));
    expect_error(TW_VALUE_ERROR,
                 "Received incompatible tensor with shape (2,) when attempting to restore variable with shape (3,) and "
                 "name weight.");
}

static void dead_objects(void **state)
{
    (void)state;
    tw_variable *b = vector((float[]){ 0, 0 }, 2, NULL);
    tw_auto tw_variable *a = scalar(0, NULL);
    tw_auto tw_checkpoint *checkpoint = tw_checkpoint_new({ "a", a }, { "b", b });
    tw_auto tw_load_status *status = tw_checkpoint_restore(checkpoint, saved);
    passes(consumed, status);
    tw__untrack(&checkpoint->trackable, "b");
    tw_release(b);
    assert_null(consumed(status));
    expect_error(TW_ASSERTION_ERROR, "Unresolved object in checkpoint (root).b: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_without_object),
        cmocka_unit_test(expect_partial_is_quiet),
        cmocka_unit_test(object_without_value),
        cmocka_unit_test(nothing_in_common),
        cmocka_unit_test(no_path),
        cmocka_unit_test(no_file),
        cmocka_unit_test(kinds_must_match),
        cmocka_unit_test(unused_attribute),
        cmocka_unit_test(later_objects),
        cmocka_unit_test(newest_wins),
        cmocka_unit_test(late_mismatch),
        cmocka_unit_test(many_restores),
        cmocka_unit_test(slots_are_named),
        cmocka_unit_test(by_names),
        cmocka_unit_test(dead_objects),
    };
    return cmocka_run_group_tests(tests, save_first, end);
}
