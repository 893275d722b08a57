/* thalweg graph FILE: what is in a graph. */
#include <stdlib.h>

#include "program.h"

static int run(const invocation *call)
{
    const char *path = call->words[0];
    bool json = given(call, "--json");
    char *text = !json && tw_saved_model_contains(path) ? tw_saved_model_text(path) : tw_graph_file_text(path, json);
    if (!text)
        return library_error();
    fputs(text, stdout);
    free(text);
    return EXIT_WORKED;
}

static const verb verbs[] = { { NULL, "FILE", 1, 1, "", run }, { .name = NULL } };
static const command_option options[] = { { "--json", 0, NULL, "as JSON", NULL }, { .name = NULL } };
const command graph_command = {
    .name = "graph",
    .summary = "Prints a graph: its nodes and functions.",
    .help = "\nFILE is a GraphDef, a saved_model.pb, or the directory of a SavedModel.\n",
    .verbs = verbs,
    .options = options,
};
