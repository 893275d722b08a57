/* Requests of TensorFlow Serving's REST API: whatever the text is, it gives tensors or an error. What was read as int64 and
 * written as an answer is read as the same again. */
#include <stdlib.h>
#include <string.h>

#include <thalweg/saving.h>

#include "fuzz/fuzz.h"

static const char *const names[] = { "a", "s", "inputs" };
static const tw_spec specs[] = { { TW_INT64, { .rank = -1 } }, { TW_STRING, { .rank = -1 } } };

/* Reads the text as a method's request, and answers with what was read. */
static void try_method(const char *method, const uint8_t *data, size_t size)
{
    bool predicts = strcmp(method, "predict") == 0;
    tw_request *request = tw_request_new(method, (const char *)data, size);
    tw_named_tensors inputs = { 0 };
    if (request)
        inputs = predicts ? tw_request_inputs(request, names, (tw_specs){ specs, 2 })
                          : tw_request_inputs(request, names + 2, (tw_specs){ specs + 1, 1 });
    char *answer = inputs.items ? tw_request_answer(request, inputs) : NULL;
    if (answer && predicts && strncmp(answer, "{\n    \"outputs\": ", 16) == 0) {
        memcpy(answer + 6, "\"inputs\" ", 9); /* in the place of "outputs": it becomes a request */
        tw_request *again = tw_request_new(method, answer, strlen(answer));
        tw_named_tensors back = again ? tw_request_inputs(again, names, (tw_specs){ specs, 2 }) : (tw_named_tensors){ 0 };
        if (!back.items || tw_tensor_bytes(back.items[0].tensor) != tw_tensor_bytes(inputs.items[0].tensor) ||
            (tw_tensor_count(back.items[0].tensor) &&
             memcmp(tw_tensor_data(back.items[0].tensor), tw_tensor_data(inputs.items[0].tensor),
                    tw_tensor_bytes(back.items[0].tensor)) != 0))
            abort();
        tw_request_free(again);
    }
    free(answer);
    tw_request_free(request);
    tw_clear_error();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_method("predict", data, size);
    try_method("classify", data, size);
    return 0;
}

void fuzz_seeds(fuzz_add add)
{
    static const char *const texts[] = {
        "{\"inputs\": {\"a\": [[1, -2], [9223372036854775807, 0]], \"s\": [\"x\\u00e4\\n\", {\"b64\": \"aGk=\"}]}}",
        "{\"instances\": [{\"a\": 1, \"s\": \"\\ud83d\\ude00\"}, {\"a\": 2, \"s\": \"\"}], \"signature_name\": \"f\"}",
        "{\"examples\": [{\"x\": [1.5, NaN], \"y\": true, \"z\": [\"a\", {\"b64\": \"\"}]}, {}], \"context\": {\"c\": -1e3}}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        add(texts[i], strlen(texts[i]));
}
