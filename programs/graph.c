/* thalweg graph FILE: what is in a graph. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <thalweg.h>

#include "program.h"

static int run(int count, char **arguments)
{
    const char *path = NULL;
    bool json = false, options = true;
    for (int i = 0; i < count; i++) {
        if (options && strcmp(arguments[i], "--") == 0)
            options = false;
        else if (options && strcmp(arguments[i], "--json") == 0)
            json = true;
        else if (options && arguments[i][0] == '-' && arguments[i][1])
            return usage_error(&graph_command, "there is no option '%s'", arguments[i]);
        else if (path)
            return usage_error(&graph_command, "'%s' is one argument too many", arguments[i]);
        else
            path = arguments[i];
    }
    if (!path)
        return usage_error(&graph_command, "a file is expected");
    char *text = !json && tw_saved_model_contains(path) ? tw_saved_model_text(path) : tw_graph_file_text(path, json);
    if (!text)
        return library_error();
    fputs(text, stdout);
    free(text);
    return EXIT_WORKED;
}

const command graph_command = {
    "graph",
    "FILE [--json]",
    "Prints a graph: its nodes and functions.",
    "\n  FILE    a GraphDef, a saved_model.pb, or the directory of a SavedModel\n  --json  as JSON\n",
    run,
};
