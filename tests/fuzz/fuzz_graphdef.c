/* GraphDefs: reading, printing, building, writing what was built, planning it with all passes, and deriving it. Nothing is run
 * but what plans compute beforehand: a graph may well ask for an endless loop. */
#include <stdlib.h>
#include <string.h>

#include "function/function.h"
#include "function/library.h"
#include "fuzz/fuzz.h"

/* The graph as a function of its placeholders; what no node uses are its results. */
static void plan_and_derive(tw__graph *graph)
{
    tw__node **inputs = calloc(graph->node_count + 1, sizeof *inputs);
    tw__edge *outputs = calloc(graph->node_count + 1, sizeof *outputs);
    bool *used = calloc(graph->node_count + 1, sizeof *used);
    int input_count = 0, output_count = 0;
    for (size_t i = 0; i < graph->node_count; i++) {
        const tw__node *node = graph->nodes[i];
        if (strcmp(node->op->name, "Placeholder") == 0)
            inputs[input_count++] = graph->nodes[i];
        for (int k = 0; k < node->input_count; k++)
            used[node->inputs[k].node->id] = true;
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        if (!used[i] && graph->nodes[i]->output_count)
            outputs[output_count++] = (tw__edge){ graph->nodes[i], 0 };
    }
    tw__function *f = tw__function_of_graph("fuzzed", graph, inputs, input_count, outputs, output_count);
    if (f) {
        tw__graph_enter(graph);
        free(tw__function_plan_text(f, NULL));
        tw_clear_error();
        if (tw__function_differentiate(f) == TW_OK) {
            free(tw__function_plan_text(f->forward, NULL));
            tw_clear_error();
            free(tw__function_plan_text(f->derivative->backward, NULL));
        }
    }
    tw_clear_error();
    tw_release(f);
    free(inputs);
    free(outputs);
    free(used);
}

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
        tw_clear_error();
        if (graph)
            plan_and_derive(graph);
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
