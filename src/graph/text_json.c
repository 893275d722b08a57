/* A GraphDef as JSON: {"producer": …, "min_consumer": …, "nodes": […], "functions": […]}. Attrs are given as the text form prints
 * them. */
#include <thalweg/graph.h>

#include "graph/graphdef.h"

static void string_member(tw__json *json, const char *key, tw_string value)
{
    tw__json_key(json, key);
    tw__json_string(json, value.data, value.size);
}

static tw_status write_nodes(tw__json *json, const tw__node_message *nodes, size_t count)
{
    tw__json_key(json, "nodes");
    tw__json_begin(json, '[');
    for (size_t i = 0; i < count; i++) {
        const tw__node_message *node = &nodes[i];
        tw__json_begin(json, '{');
        string_member(json, "name", node->name);
        string_member(json, "op", node->op);
        string_member(json, "device", node->device);
        tw__json_key(json, "inputs");
        tw__json_begin(json, '[');
        for (size_t k = 0; k < node->input_count; k++)
            tw__json_string(json, node->inputs[k].data, node->inputs[k].size);
        tw__json_end(json, ']');
        tw__json_key(json, "attrs");
        tw__json_begin(json, '[');
        for (size_t k = 0; k < node->attr_count; k++) {
            tw__text value = { 0 };
            tw_status status = tw__attr_message_print(&value, node->attrs[k].value);
            tw__json_begin(json, '{');
            string_member(json, "name", node->attrs[k].name);
            string_member(json, "value", (tw_string){ value.data, value.size });
            tw__json_end(json, '}');
            json->text->failed |= value.failed;
            tw__text_free(&value);
            if (status != TW_OK) {
                tw__error_prefix("node '%.*s': ", TW_SHOWN(node->name));
                return status;
            }
        }
        tw__json_end(json, ']');
        tw__json_end(json, '}');
    }
    tw__json_end(json, ']');
    return TW_OK;
}

static void write_arguments(tw__json *json, const char *key, const tw__argument_message *arguments, size_t count)
{
    tw__json_key(json, key);
    tw__json_begin(json, '[');
    for (size_t i = 0; i < count; i++) {
        const char *dtype = arguments[i].plain ? tw_dtype_name(arguments[i].dtype) : "?";
        tw__json_begin(json, '{');
        string_member(json, "name", arguments[i].name);
        string_member(json, "dtype", (tw_string){ dtype, strlen(dtype) });
        tw__json_end(json, '}');
    }
    tw__json_end(json, ']');
}

static void write_pairs(tw__json *json, const char *key, const tw__pair *pairs, size_t count)
{
    tw__json_key(json, key);
    tw__json_begin(json, '[');
    for (size_t i = 0; i < count; i++) {
        tw__json_begin(json, '{');
        string_member(json, "name", pairs[i].name);
        string_member(json, "value", pairs[i].value);
        tw__json_end(json, '}');
    }
    tw__json_end(json, ']');
}

tw_status tw__graph_message_json(tw__text *text, const tw__graph_message *message)
{
    tw__json json = { .text = text };
    tw__json_begin(&json, '{');
    tw__json_key(&json, "producer");
    tw__json_integer(&json, message->producer);
    tw__json_key(&json, "min_consumer");
    tw__json_integer(&json, message->min_consumer);
    TW_TRY(write_nodes(&json, message->nodes, message->node_count));
    tw__json_key(&json, "functions");
    tw__json_begin(&json, '[');
    for (size_t i = 0; i < message->function_count; i++) {
        const tw__function_message *function = &message->functions[i];
        tw__json_begin(&json, '{');
        string_member(&json, "name", function->name);
        tw__json_key(&json, "stateful");
        tw__json_bool(&json, function->stateful);
        write_arguments(&json, "arguments", function->arguments, function->argument_count);
        write_arguments(&json, "results", function->results, function->result_count);
        TW_TRY(write_nodes(&json, function->nodes, function->node_count));
        write_pairs(&json, "returns", function->returns, function->return_count);
        write_pairs(&json, "control_returns", function->control_returns, function->control_return_count);
        tw__json_end(&json, '}');
    }
    tw__json_end(&json, ']');
    tw__json_end(&json, '}');
    tw__text_add(text, "\n");
    return text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

/* A SavedModel is told from a GraphDef by its first field, a number. */
static bool is_saved_model(tw_string bytes)
{
    tw__SavedModel model;
    return tw__read_SavedModel(bytes, &model) && model.saved_model_schema_version;
}

/* Its first graph is meant. */
static tw_string graph_of(tw_string bytes)
{
    tw__SavedModel model;
    tw__MetaGraphDef meta;
    return is_saved_model(bytes) && tw__read_SavedModel(bytes, &model) &&
                   tw__next_message(&model.meta_graphs, &tw__type_MetaGraphDef, &meta)
               ? meta.graph_def
               : bytes;
}

/* The bytes of a graph's file: a message, or for .pbtxt its text. A SavedModel's directory means the message in it. */
static char *read_graph(const char *path, size_t *size)
{
    tw__owned char *inside = tw__path_join(path, "saved_model.pb");
    char *bytes = inside ? tw__file_read_all(tw__path_exists(inside) ? inside : path, (size_t)1 << 31, size) : NULL;
    if (!bytes || !tw__ends_with(path, ".pbtxt"))
        return bytes;
    tw__text made = { 0 };
    int line = 0;
    const char *wrong = tw__message_from_text(&made, &tw__type_GraphDef, bytes, *size, &line);
    tw__free(bytes);
    *size = made.size;
    if (!wrong && !made.failed)
        return made.data ? tw__text_take(&made) : tw__strdup("");
    tw__text_free(&made);
    tw__fail(TW_DATA_LOSS, "%s: line %d: %s", path, line, wrong ? wrong : "out of memory");
    return NULL;
}

char *tw_graph_file_text(const char *path, bool json)
{
    if (!path) {
        tw__fail(TW_INVALID_ARGUMENT, "tw_graph_file_text: path is NULL");
        return NULL;
    }
    size_t size = 0;
    char *bytes = read_graph(path, &size);
    if (!bytes)
        return NULL;
    tw_string whole = { bytes, size };
    tw__owned char *merged = NULL;
    if (is_saved_model(whole) && !tw__message_merge(&tw__type_SavedModel, &whole, &merged)) {
        tw__free(bytes);
        return NULL;
    }
    tw_string graph = graph_of(whole);
    tw__graph_message message = { 0 };
    tw__text text = { 0 };
    tw_status status = tw__graph_message_read(&message, graph.data, graph.size);
    if (status == TW_OK)
        status = json ? tw__graph_message_json(&text, &message) : tw__graph_message_print(&text, &message);
    tw__graph_message_free(&message);
    tw__free(bytes);
    if (status == TW_OK)
        return tw__text_take(&text);
    tw__error_prefix("%s: ", path);
    tw__text_free(&text);
    return NULL;
}
