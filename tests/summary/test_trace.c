/* Traces in summaries, and reading events back: tw_trace_…, tw_events_…; NumPy's files. */
#include <thalweg/thalweg.h>

#include "scratch.h"
#include "test.h"

static tw_tensors doubled(void *user, tw_tensors in)
{
    (void)user;
    return tw_give(tw_add(in.items[0], in.items[0]));
}

static char *first_file(void)
{
    static char path[600];
    DIR *listing = opendir(scratch);
    struct dirent *entry;
    while ((entry = readdir(listing))) {
        if (strncmp(entry->d_name, "events", 6) == 0)
            snprintf(path, sizeof path, "%s/%s", scratch, entry->d_name);
    }
    closedir(listing);
    return path;
}

static void traces(void **state)
{
    (void)state;
    assert_true(tw_trace_export("none", 0) != TW_OK);
    expect_error(TW_VALUE_ERROR, "Must enable trace");
    tw_summary_writer *writer = tw_summary_writer(scratch);
    tw_summary_push(writer);
    tw_tensor *x = tw_tensor_float(2), *step = tw_tensor_int64(3);
    tw_release(tw_summary_scalar("loss", x, .step = step, .description = "how far"));
    assert_int_equal(tw_trace_on(), TW_OK);
    assert_true(tw_trace_on() != TW_OK);
    expect_error(TW_FAILED_PRECONDITION, "already");
    tw_function *function = tw_function_new(doubled, NULL, .name = "doubled");
    for (int i = 0; i < 2; i++)
        tw_release(tw_function_value(function, TW_TENSORS(x)));
    assert_int_equal(tw_trace_export("trace", 4), TW_OK);
    tw_summary_pop();
    tw_summary_writer_close(writer);
    expect_no_error();

    tw_events *events = tw_events_open(first_file(), 0);
    tw_event_value value;
    assert_true(tw_events_next(events, &value));
    assert_string_equal(value.tag, "loss");
    assert_string_equal(value.plugin, "scalars");
    assert_string_equal(value.description, "how far");
    assert_int_equal(value.step, 3);
    assert_true(value.wall_time > 1e9);
    tw_tensor *number = tw_event_tensor(&value);
    assert_true(tw_tensor_double_at(number, 0) == 2);
    assert_true(tw_events_next(events, &value));
    assert_string_equal(value.tag, "trace");
    assert_string_equal(value.plugin, "graph_run_metadata_graph");
    tw_tensor *bytes = tw_event_tensor(&value);
    assert_int_equal(tw_tensor_dtype(bytes), TW_STRING);
    tw_string text = tw_tensor_string_at(bytes, 0);
    assert_non_null(memmem(text.data, text.size, "AddV2", 5));
    assert_false(tw_events_next(events, &value));
    expect_no_error();
    tw_events_close(events);
    void *all[] = { writer, x, step, function, number, bytes };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tw_release(all[i]);
    tw_trace_on();
    tw_trace_off();
    assert_null(tw_events_open("/nowhere/events", 0));
    tw_clear_error();
}

/* A damaged record is told; what is behind it can be read on. */
static void damaged(void **state)
{
    (void)state;
    FILE *file = fopen(first_file(), "r+b");
    fseek(file, 60, SEEK_SET);
    fputc(0xff, file);
    fclose(file);
    tw_events *events = tw_events_open(first_file(), 0);
    tw_event_value value;
    int found = 0;
    for (int tries = 0; tries < 10; tries++) {
        if (tw_events_next(events, &value)) {
            found++;
        } else if (tw_error_code() == TW_DATA_LOSS) {
            tw_clear_error();
            assert_true(tw_records_skip_damage(tw_events_records(events)) >= 0);
        } else {
            break;
        }
    }
    expect_no_error();
    assert_true(found >= 1);
    tw_events_close(events);
}

static void arrays(void **state)
{
    (void)state;
    static const tw_dtype dtypes[] = { TW_FLOAT32, TW_INT64, TW_UINT8, TW_BOOL, TW_COMPLEX128, TW_FLOAT16 };
    char path[100];
    snprintf(path, sizeof path, "%s/array.npy", scratch);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        tw_tensor *written = tw_tensor_new(dtypes[i], i % 2 ? TW_SHAPE(2, 3) : TW_SHAPE(5), NULL);
        assert_int_equal(tw_npy_write(path, written), TW_OK);
        tw_tensor *read = tw_npy_read(path);
        expect_no_error();
        assert_int_equal(tw_tensor_dtype(read), dtypes[i]);
        assert_int_equal(tw_tensor_rank(read), tw_tensor_rank(written));
        assert_memory_equal(tw_tensor_data(read), tw_tensor_data(written), tw_tensor_bytes(written));
        tw_release(written);
        tw_release(read);
    }
    tw_tensor *text = tw_tensor_string("x", 1);
    assert_true(tw_npy_write(path, text) != TW_OK);
    expect_error(TW_INVALID_ARGUMENT, "a tensor of string");
    tw_release(text);
    assert_null(tw_npy_read(NULL));
    tw_clear_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(traces), cmocka_unit_test(damaged), cmocka_unit_test(arrays) };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
