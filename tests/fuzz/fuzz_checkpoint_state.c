/* The text of the `checkpoint` file. What is read must be printed so that it reads the same again. */
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tw__checkpoint_state state = { 0 }, again = { 0 };
    if (tw__checkpoint_state_parse((const char *)data, size, "fuzz", &state) == TW_OK) {
        tw__text first = { 0 }, second = { 0 };
        tw__checkpoint_state_print(&first, &state);
        if (tw__checkpoint_state_parse(first.data ? first.data : "", first.size, "again", &again) != TW_OK)
            abort();
        tw__checkpoint_state_print(&second, &again);
        if (first.size != second.size || (first.size && memcmp(first.data, second.data, first.size) != 0))
            abort();
        tw__checkpoint_state_free(&again);
        tw__text_free(&first);
        tw__text_free(&second);
    }
    tw__checkpoint_state_free(&state);
    return 0;
}

void fuzz_seeds(fuzz_add add)
{
    fuzz_seed_files(add, "checkpoint", "state_escapes.txt");
    fuzz_seed_files(add, "checkpoint", "state_manager.txt");
    fuzz_seed_files(add, "training", "checkpoint");
}
