/* Requests of TensorFlow Serving's REST API from C: a model that TensorFlow wrote answers them; damaged ones and a lack of memory
 * are refused. */
#include "objects.h"

#define MODELS TW_TEST_DATA "/golden/serve"

static char *ask(tw_saved_object *model, const char *method, const char *request)
{
    return tw_saved_model_answer(model, method, request, strlen(request));
}

static void expect_answer(tw_saved_object *model, const char *method, const char *request, const char *expected)
{
    char *answer = ask(model, method, request);
    expect_no_error();
    assert_string_equal(answer, expected);
    free(answer);
}

static void test_answers(void **state)
{
    (void)state;
    tw_saved_object *model = tw_saved_model_load(MODELS "/half/1");
    expect_no_error();
    expect_answer(model, "predict", "{\"instances\": [1, 2.5]}", "{\n    \"predictions\": [2.5, 3.25\n    ]\n}");
    expect_answer(model, "predict", " {\"in\\u0070uts\" : {\"x\": [1]}, \"other\": null}",
                  "{\n    \"outputs\": [\n        2.5\n    ]\n}");
    expect_answer(model, "regress", "{\"signature_name\": \"regress\", \"examples\": [{\"x\": 1.0}]}",
                  "{\n    \"results\": [2.5]\n}");
    static const struct {
        const char *method, *request;
        tw_status code;
        const char *words;
    } wrong[] = { { "predict", "{", TW_INVALID_ARGUMENT, "JSON Parse error" },
                  { "predict", "{\"instances\": [1], \"signature_name\": \"no\"}", TW_NOT_FOUND, "has no signature 'no'" },
                  { "predict", "{\"instances\": [\"a\"]}", TW_INVALID_ARGUMENT, "not of expected type: float" },
                  { "prophesy", "{}", TW_INVALID_ARGUMENT, "the method must be predict, classify or regress" } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_null(ask(model, wrong[i].method, wrong[i].request));
        expect_error(wrong[i].code, wrong[i].words);
    }
    assert_null(tw_saved_model_answer(NULL, "predict", "{}", 2));
    assert_int_not_equal(tw_error_code(), TW_OK);
    tw_clear_error();
    tw_saved_model_close(model);
}

static void test_steps(void **state)
{
    (void)state;
    static const char text[] = "{\"instances\": [[1, 2], [3, 4]]}";
    tw_request *request = tw_request_new("predict", text, sizeof text - 1);
    expect_no_error();
    assert_string_equal(tw_request_signature(request), "serving_default");
    tw_named_tensors inputs = tw_request_inputs(request, (const char *const[]){ "x" }, TW_SPECS({ TW_INT16, TW_UNKNOWN_SHAPE }));
    expect_no_error();
    assert_true(inputs.count == 1 && tw_tensor_dtype(inputs.items[0].tensor) == TW_INT16);
    assert_true(tw_tensor_dim(inputs.items[0].tensor, 1) == 2 && tw_tensor_int_at(inputs.items[0].tensor, 3) == 4);
    char *answer = tw_request_answer(request, inputs);
    assert_string_equal(answer, "{\n    \"predictions\": [[1, 2], [3, 4]\n    ]\n}");
    free(answer);
    assert_null(tw_request_inputs(request, (const char *const[]){ "x" }, TW_SPECS({ TW_INT16, TW_UNKNOWN_SHAPE })).items);
    expect_error(TW_FAILED_PRECONDITION, "were read already");
    tw_request_free(request);
    tw_request_free(NULL);
}

static const char *const REQUESTS[] = {
    "{\"instances\": [{\"a\": [1, 2.5e-3], \"s\": \"\\ud83d\\ude00\"}, {\"a\": [-0, NaN], \"s\": {\"b64\": \"aGk=\"}}]}",
    "{\"inputs\": {\"a\": [[1, 2]], \"s\": [\"x\"]}, \"signature_name\": \"serving_default\"}",
};

/* Every text that one byte makes another of is read or refused, and so is every beginning. */
static void test_damage(void **state)
{
    (void)state;
    static const char bytes[] = "\"\\{}[]:,0-eNI \n\x01\xff";
    tw_saved_object *model = tw_saved_model_load(MODELS "/kinds/7");
    expect_no_error();
    for (size_t i = 0; i < 2; i++) {
        size_t size = strlen(REQUESTS[i]);
        for (size_t at = 0; at < size * sizeof bytes; at++) {
            char *text = strdup(REQUESTS[i]);
            text[at / sizeof bytes] = bytes[at % sizeof bytes];
            char *answer = tw_saved_model_answer(model, "predict", text, size);
            assert_true(answer || tw_error_code() != TW_OK);
            tw_clear_error();
            free(answer);
            free(text);
        }
        for (size_t shorter = 0; shorter < size; shorter++) {
            assert_null(tw_saved_model_answer(model, "predict", REQUESTS[i], shorter));
            expect_error(TW_INVALID_ARGUMENT, "JSON Parse error");
        }
    }
    tw_saved_model_close(model);
}

static void test_memory(void **state)
{
    (void)state;
    tw_saved_object *model = tw_saved_model_load(MODELS "/half/1");
    static const char *const asked[][2] = {
        { "predict", "{\"instances\": [1, 2]}" },
        { "classify", "{\"signature_name\": \"classify\", \"examples\": [{\"x\": 1.0, \"s\": \"a\"}]}" }
    };
    for (int i = 0; i < 2; i++) {
        free(ask(model, asked[i][0], asked[i][1])); /* functions are built */
        bool done = false;
        for (long n = 1; !done && n < 5000; n++) {
            tw__alloc_fail_at(n);
            char *answer = ask(model, asked[i][0], asked[i][1]);
            tw__alloc_fail_at(0);
            done = answer != NULL;
            assert_true(done || tw_error_code() == TW_RESOURCE_EXHAUSTED);
            tw_clear_error();
            free(answer);
        }
        assert_true(done);
    }
    tw_saved_model_close(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_answers), cmocka_unit_test(test_steps),
                                        cmocka_unit_test(test_damage), cmocka_unit_test(test_memory) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
