/* GraphDefs: reading, printing, building, and writing what was built. */
#include "function/library.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tw__library *library = tw__library_read(data, size);
    tw__text text = { 0 };
    if (library) {
        tw__graph_message_print(&text, tw__library_message(library));
        tw__text_clear(&text);
        tw__graph_message_json(&text, tw__library_message(library));
        tw__text_clear(&text);
        tw_clear_error();
        tw__graph *graph = tw__graphdef_read(library);
        if (graph)
            tw__graphdef_write(&text, graph, true, NULL, 0);
        tw_release(graph);
    }
    tw__text_free(&text);
    tw_release(library);
    tw_clear_error();
    return 0;
}

void fuzz_seeds(fuzz_add add)
{
    fuzz_seed_files(add, "graphs", ".pb");
}
