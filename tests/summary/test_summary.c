/* tf.summary from C: a writer, a default step, conditions, functions; what was written is read again. */
#include "test.h"

#include <dirent.h>

#include <thalweg/function.h>

#include "codec/codec.h"
#include "format/record/events.h"
#include "rows.h"
#include "scratch.h"

/* The only file of the folder, whose name is in `path` then. */
static void find_file(const char *folder, char *path, size_t room)
{
    DIR *listing = opendir(folder);
    struct dirent *entry;
    *path = 0;
    while (listing && (entry = readdir(listing))) {
        if (entry->d_name[0] != '.')
            snprintf(path, room, "%s/%s", folder, entry->d_name);
    }
    if (listing)
        closedir(listing);
}

/* The steps of the events behind the first, as digits. */
static void expect_steps(const char *path, const char *steps)
{
    tw__record_reader reader;
    char got[32] = "";
    assert_int_equal(tw__record_open(&reader, path), TW_OK);
    for (int n = 0; tw__record_next(&reader); n++) {
        tw__proto proto = tw__proto_read(reader.data, reader.size);
        tw__proto_field field;
        while (n > 0 && tw__proto_next(&proto, &field)) {
            if (field.number == 2)
                snprintf(got + strlen(got), 3, "%d", (int)field.value);
        }
    }
    assert_int_equal(reader.status, TW_OK);
    tw__record_close(&reader);
    assert_string_equal(got, steps);
}

static tw_tensors traced(void *user, tw_tensors in)
{
    (void)user;
    return tw_give(tw_summary_scalar("traced", in.items[0], in.items[1]));
}

static void writes(void **state)
{
    (void)state;
    char path[600];
    const char *folder = in_scratch("log");
    tw_auto tw_summary_writer *writer = tw_summary_writer(folder);
    assert_non_null(writer);
    find_file(folder, path, sizeof path);
    assert_true(tw__ends_with(path, ".v2"));
    tw_auto tw_tensor *value = tw_tensor_float(0.5f), *one = tw_tensor_int64(1), *no = tw_tensor_bool(false);
    tw_auto tw_tensor *written = tw_summary_scalar("loss", value, one);
    assert_int_equal(tw_tensor_int_at(written, 0), 0); /* there is no writer yet */

    assert_int_equal(tw_summary_push(writer), TW_OK);
    tw_auto tw_tensor *first = tw_summary_scalar("loss", value, one);
    assert_int_equal(tw_tensor_int_at(first, 0), 1);
    assert_null(tw_summary_scalar("loss", value));
    expect_error(TW_VALUE_ERROR, "No step set.");
    assert_int_equal(tw_summary_set_step((tw_value){ .kind = TW_VALUE_INT, .i = 2 }), TW_OK);
    tw_auto tw_tensor *second = tw_summary_histogram("values", value, .buckets = 3);
    assert_non_null(second);
    assert_int_equal(tw_summary_push(.condition = no), TW_OK);
    tw_auto tw_tensor *none = tw_summary_scalar("loss", value);
    assert_int_equal(tw_tensor_int_at(none, 0), 0);
    assert_int_equal(tw_summary_pop(), TW_OK);
    tw_auto tw_function *function = tw_function_new(traced, NULL);
    tw_auto tw_tensor *three = tw_tensor_int64(3), *four = tw_tensor_int64(4);
    tw_auto tw_tensor *a = tw_function_value(function, TW_TENSORS(value, three)),
                      *b = tw_function_value(function, TW_TENSORS(value, four));
    expect_no_error();
    assert_int_equal(tw_tensor_int_at(b, 0), 1);
    assert_int_equal(tw_function_traces(function), 1);
    assert_int_equal(tw_summary_flush_default(), TW_OK);
    expect_steps(path, "1234");
    assert_int_equal(tw_summary_pop(), TW_OK);
    assert_int_equal(tw_summary_pop(), TW_RUNTIME_ERROR);
    expect_error(TW_RUNTIME_ERROR, "nothing to go back to");
    assert_int_equal(tw_summary_writer_close(writer), TW_OK);
    assert_int_equal(tw_summary_set_step((tw_value){ .kind = TW_VALUE_NONE }), TW_OK);
    assert_int_equal(tw_gfile_rmtree(folder), TW_OK);
}

static void survives_lack_of_memory(void **state)
{
    (void)state;
    const char *folder = in_scratch("few");
    tw_auto tw_tensor *value = tw_tensor_float(0.5f), *one = tw_tensor_int64(1);
    for (long n = 1; n < 80; n++) {
        tw__alloc_fail_at(n);
        tw_summary_writer *writer = tw_summary_writer(folder);
        bool pushed = writer && tw_summary_push(writer) == TW_OK;
        tw_tensor *written = pushed ? tw_summary_scalar("loss", value, one) : NULL;
        tw__alloc_fail_at(0);
        assert_true(written || tw_error_code() == TW_RESOURCE_EXHAUSTED);
        tw_clear_error();
        if (pushed)
            tw_summary_pop();
        tw_release(written);
        tw_release(writer);
    }
    assert_int_equal(tw_gfile_rmtree(folder), TW_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(writes), cmocka_unit_test(survives_lack_of_memory) };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
