/* TFLite files: what is read, prepared and run of them. */
#include "fuzz/fuzz.h"
#include "lite/interpreter.h"
#include "rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tw_value content = { .kind = TW_VALUE_BYTES, .s = { (const char *)data, size } };
    tw_auto tw_lite_interpreter *interpreter = tw_lite_interpreter(.model_content = content);
    if (interpreter && tw_lite_interpreter_allocate(interpreter) == TW_OK)
        (void)tw_lite_interpreter_invoke(interpreter);
    tw_clear_error();
    for (int g = 0; interpreter && g < interpreter->model->subgraph_count; g++) {
        for (int i = 0; i < interpreter->model->subgraphs[g].tensor_count; i++) {
            tw_value described = tw_lite_interpreter_describe(interpreter, i, .subgraph = g);
            tw_value_free(&described);
            tw_clear_error();
        }
    }
    if (interpreter) {
        tw_value signatures = tw_lite_interpreter_signatures(interpreter);
        tw_value_free(&signatures);
    }
    tw_clear_error();
    return 0;
}

void fuzz_seeds(fuzz_add add)
{
    fuzz_seed_files(add, "lite", "p.tflite"); /* mlp, and a few small functions */
    fuzz_seed_files(add, "lite", "n.tflite");
    fuzz_seed_files(add, "lite", "e.tflite");
}
