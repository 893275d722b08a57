/* thalweg graph FILE: what is in a graph, as text or as a picture. */
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "picture.h"
#include "program.h"
#include "saved_copy.h"

/* ---- the picture ---- */

/* The tensor that the signature gives: its first output; "" and a message: there is no such signature. */
static int find_signature(const invocation *call, const char *path, const char *key, char tensor[512])
{
    char *text = tw_saved_model_json(path);
    tw_value facts = { .kind = TW_VALUE_NONE };
    *tensor = 0;
    if (!text || tw_value_from_json(text, strlen(text), &facts) != TW_OK) {
        free(text);
        return library_error();
    }
    const tw_value *signatures = tw_value_get(&facts, "signatures");
    const char **names = calloc((size_t)signatures->list.count + 1, sizeof *names);
    for (int64_t i = 0; names && i < signatures->list.count; i++) {
        const tw_value *signature = &signatures->list.items[i], *outputs = tw_value_get(signature, "outputs");
        names[i] = tw_value_get(signature, "name")->s.data;
        if (strcmp(names[i], key) == 0 && outputs->list.count)
            snprintf(tensor, 512, "%s", tw_value_get(&outputs->list.items[0], "tensor")->s.data);
    }
    int result =
        *tensor || !given(call, "--signature") ? EXIT_WORKED : no_such(call->command, "signature", key, names, sizeof *names);
    free(names);
    tw_value_free(&facts);
    free(text);
    return result;
}

static int write_picture(const invocation *call, const drawing *d, const char *path)
{
    FILE *out = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
    if (out)
        draw_svg(d, out);
    bool bad = !out || ferror(out) || (out != stdout && fclose(out) != 0);
    if (bad)
        perror(path);
    (void)call;
    return bad ? EXIT_FAILED : EXIT_WORKED;
}

static int draw_facts(const invocation *call, const tw_value *facts, const char *function, int64_t depth)
{
    drawing d = { 0 };
    char wrong[256] = "memory ran out";
    const tw_value *functions = tw_value_get(facts, "functions");
    int64_t count = functions ? functions->list.count : 0;
    const char **names = calloc((size_t)count + 1, sizeof *names);
    bool known = !function;
    for (int64_t i = 0; names && i < count; i++) {
        names[i] = tw_value_get(&functions->list.items[i], "name")->s.data;
        known = known || strcmp(names[i], function) == 0;
    }
    int result = known ? EXIT_WORKED : no_such(call->command, "function", function, names, sizeof *names);
    if (known && (!draw_read(&d, facts, function, depth, wrong) || !draw_layout(&d))) {
        fprintf(stderr, "thalweg: %s\n", wrong);
        result = EXIT_FAILED;
    }
    if (result == EXIT_WORKED)
        result = write_picture(call, &d, value_of(call, "--svg", "-"));
    free(names);
    draw_free(&d);
    return result;
}

int draw_picture(const invocation *call, const char *path)
{
    int64_t depth;
    char tensor[512] = "";
    const char *function = value_of(call, "--function", NULL);
    if (!number_of(call, "--depth", 0, 1, &depth))
        return EXIT_USAGE;
    int result = EXIT_WORKED;
    bool saved = tw_saved_model_contains(path);
    if (given(call, "--signature") && !saved)
        return usage_error(call->command, "'%s' is no SavedModel: it has no signatures", path);
    if (saved && !function)
        result = find_signature(call, path, value_of(call, "--signature", "serving_default"), tensor);
    if (result != EXIT_WORKED)
        return result;
    char *text = tw_graph_file_text(path, true);
    tw_value facts = { .kind = TW_VALUE_NONE };
    if (!text || tw_value_from_json(text, strlen(text), &facts) != TW_OK)
        result = library_error();
    else
        result = draw_facts(call, &facts, function ? function : *tensor ? draw_signature(&facts, tensor) : NULL, depth);
    tw_value_free(&facts);
    free(text);
    return result;
}

int draw_keras(const invocation *call, const char *path)
{
    saved_copy copy;
    if (!saved_copy_make(&copy, path))
        return library_error();
    int result = draw_picture(call, copy.folder);
    saved_copy_remove(&copy);
    return result;
}

/* ---- the command ---- */

static int run(const invocation *call)
{
    const char *path = call->words[0];
    bool json = given(call, "--json");
    if (given(call, "--svg"))
        return draw_picture(call, path);
    if (given(call, "--depth") || given(call, "--function") || given(call, "--signature"))
        return usage_error(call->command, "--depth, --function and --signature are about the picture: --svg OUT is expected");
    char *text = !json && tw_saved_model_contains(path) ? tw_saved_model_text(path) : tw_graph_file_text(path, json);
    if (!text)
        return library_error();
    fputs(text, stdout);
    free(text);
    return EXIT_WORKED;
}

static const verb verbs[] = { { NULL, "FILE", 1, 1, "", run }, { .name = NULL } };
static const command_option options[] = { { "--json", 0, NULL, "as JSON", NULL },
                                          { "--svg", 0, "OUT", "as a picture, in this file; -: on the standard output", NULL },
                                          { "--depth", 0, "N",
                                            "name scopes below this are one box each (1; 0: every node is one)", NULL },
                                          { "--function", 0, "NAME", "the picture of this function", NULL },
                                          { "--signature", 0, "KEY", "of what this signature computes (serving_default)", NULL },
                                          { .name = NULL } };
const command graph_command = {
    .name = "graph",
    .summary = "Prints a graph: its nodes and functions. Draws it.",
    .help = "\nFILE is a GraphDef (.pb, or as text .pbtxt), a saved_model.pb, or the directory of a SavedModel.\n",
    .verbs = verbs,
    .options = options,
};
