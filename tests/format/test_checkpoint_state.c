/* The `checkpoint` file: TensorFlow's own texts come back byte for byte; forms that protobuf also accepts; nonsense. */
#include "test.h"

#include <unistd.h>

#include "format/format.h"

#define GOLDEN TW_TEST_DATA "/golden/checkpoint/"

static void print_again(const char *path)
{
    tw__checkpoint_state parsed;
    tw__text text = { 0 };
    char *golden = tw__file_read_all(path, 1 << 20, NULL);
    assert_int_equal(tw__checkpoint_state_read(path, &parsed), TW_OK);
    tw__checkpoint_state_print(&text, &parsed);
    assert_string_equal(text.data, golden);
    tw__text_free(&text);
    tw__checkpoint_state_free(&parsed);
    tw__free(golden);
}

static void comes_back(void **state)
{
    (void)state;
    print_again(GOLDEN "state_manager.txt");
    print_again(GOLDEN "state_escapes.txt");
    tw__checkpoint_state parsed;
    assert_int_equal(tw__checkpoint_state_read(GOLDEN "state_escapes.txt", &parsed), TW_OK);
    assert_string_equal(parsed.model_checkpoint_path, "\xe6\xa8\xa1\xe5\x9e\x8b \"q\"\\t\t'-1");
    assert_int_equal(parsed.path_count, 1);
    assert_int_equal(parsed.timestamp_count, 0);
    assert_false(parsed.has_last_preserved);
    tw__checkpoint_state_free(&parsed);
    assert_int_equal(tw__checkpoint_state_read(GOLDEN "state_manager.txt", &parsed), TW_OK);
    char path[] = "/tmp/thalweg-state-XXXXXX";
    close(mkstemp(path));
    assert_int_equal(tw__checkpoint_state_write(path, &parsed), TW_OK);
    print_again(path);
    unlink(path);
    tw__checkpoint_state_free(&parsed);
}

static tw_status parse(const char *text, tw__checkpoint_state *parsed)
{
    return tw__checkpoint_state_parse(text, strlen(text), "the text", parsed);
}

static void accepts_what_protobuf_does(void **state)
{
    (void)state;
    tw__checkpoint_state parsed;
    assert_int_equal(
        parse("# note\nmodel_checkpoint_path:'a' \"b\\x41\\n\\101\"; all_model_checkpoint_timestamps: [1, 2.5e1, 3f],\n"
              "all_model_checkpoint_paths: []all_model_checkpoint_paths: \"x\" last_preserved_timestamp:-inf",
              &parsed),
        TW_OK);
    assert_string_equal(parsed.model_checkpoint_path, "abA\nA");
    assert_int_equal(parsed.path_count, 1);
    assert_int_equal(parsed.timestamp_count, 3);
    assert_true(parsed.all_timestamps[1] == 25);
    assert_true(parsed.last_preserved_timestamp == -__builtin_inf());
    tw__checkpoint_state_free(&parsed);
    assert_int_equal(parse("", &parsed), TW_OK);
    assert_null(parsed.model_checkpoint_path);
    tw__checkpoint_state_free(&parsed);
}

static void refuses_nonsense(void **state)
{
    (void)state;
    static const char *const broken[] = { "model_checkpoint_path \"a\"",
                                          "model_checkpoint_path: a",
                                          "model_checkpoint_path: \"a",
                                          "model_checkpoint_path: \"a\\\"",
                                          "model_checkpoint_path: \"\\400\"",
                                          "model_checkpoint_path: \"\\q\"",
                                          "model_checkpoint_path: \"a\\000b\"",
                                          "model_checkpoint_path: \"a\nb\"",
                                          "other: 1",
                                          "{",
                                          "model_checkpoint_path: \"a\" model_checkpoint_path: \"a\"",
                                          "last_preserved_timestamp: x",
                                          "all_model_checkpoint_timestamps: [1",
                                          "all_model_checkpoint_timestamps: [1,]",
                                          "\xff\xfe",
                                          "model_checkpoint_path",
                                          "model_checkpoint_path:" };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        tw__checkpoint_state parsed;
        assert_int_equal(parse(broken[i], &parsed), TW_INVALID_ARGUMENT);
        assert_non_null(strstr(tw_error_message(), "the text:"));
        tw_clear_error();
        assert_null(parsed.model_checkpoint_path);
    }
    size_t size;
    char *golden = tw__file_read_all(GOLDEN "state_manager.txt", 1 << 20, &size);
    for (size_t bit = 0; bit < 8 * size; bit++) {
        tw__checkpoint_state parsed;
        golden[bit / 8] ^= (char)(1 << bit % 8);
        (void)tw__checkpoint_state_parse(golden, size, "damaged", &parsed);
        (void)tw__checkpoint_state_free(&parsed);
        golden[bit / 8] ^= (char)(1 << bit % 8);
        (void)tw__checkpoint_state_parse(golden, bit / 8, "cut", &parsed);
        (void)tw__checkpoint_state_free(&parsed);
        tw_clear_error();
    }
    for (int n = 1; n < 30; n++) {
        tw__checkpoint_state parsed;
        tw__alloc_fail_at(n);
        tw_status status = tw__checkpoint_state_parse(golden, size, "memory", &parsed);
        tw__alloc_fail_at(0);
        assert_true(status == TW_OK || status == TW_RESOURCE_EXHAUSTED);
        tw__checkpoint_state_free(&parsed);
        tw_clear_error();
    }
    tw__free(golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back),
        cmocka_unit_test(accepts_what_protobuf_does),
        cmocka_unit_test(refuses_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
