/* The object graph of a checkpoint, which is a protobuf message: reading, naming and printing its nodes. */
#include <stdio.h>

#include "fuzz/fuzz.h"
#include "saving/saving.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tw__saved_graph graph = { 0 };
    tw__saved_names names = { 0 };
    if (tw__saved_graph_parse(&graph, data, size, "fuzz") == TW_OK && tw__saved_names_find(&names, &graph) == TW_OK) {
        for (size_t i = 0; i < graph.count && i < 50; i++) {
            tw__text text = { 0 };
            tw__saved_name_add(&text, &names, i);
            tw__saved_node_print(&text, &graph.nodes[i]);
            tw__text_free(&text);
        }
    }
    tw__saved_names_free(&names);
    tw__saved_graph_free(&graph);
    return 0;
}

void fuzz_seeds(fuzz_add add)
{
    static const char *const prefixes[] = { "saving/model", "saving/plain", "saving/sequential", "training/narrow-1" };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        char prefix[1024];
        snprintf(prefix, sizeof prefix, TW_TEST_DATA "/golden/%s", prefixes[i]);
        tw__bundle_reader *reader = tw__bundle_open(prefix);
        tw_tensor *graph = reader ? tw__bundle_read(reader, TW__GRAPH_KEY) : NULL;
        if (graph) {
            tw_string bytes = tw_tensor_string_at(graph, 0);
            add(bytes.data, bytes.size);
        }
        tw_release(graph);
        tw__bundle_close(reader);
    }
}
