/* What is in a SavedModel, for people and programs that look at it: as text, and the most important as JSON. */
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "graph/graphdef.h"
#include "saving/saved_model.h"
#include <thalweg/saving.h>

/* ---- text ---- */

static void print_infos(tw__text *text, const char *what, const tw__tensor_info *infos, size_t count)
{
    for (size_t i = 0; i < count; i++)
        tw__text_format(text, "    %s %.*s: %s%s, tensor %.*s\n", what, TW_SHOWN(infos[i].name), tw_dtype_name(infos[i].dtype),
                        tw__shape_text(&infos[i].shape), TW_SHOWN(infos[i].tensor));
}

static void print_objects(tw__text *text, const tw__saved_model_message *m)
{
    static const char *const kinds[] = { [TW_OBJECT_USER] = "object",
                                         [TW_OBJECT_ASSET] = "asset",
                                         [TW_OBJECT_FUNCTION] = "function",
                                         [TW_OBJECT_VARIABLE] = "variable",
                                         [TW_OBJECT_BARE] = "concrete function",
                                         [TW_OBJECT_CONSTANT] = "constant",
                                         [TW_OBJECT_RESOURCE] = "resource",
                                         [TW_OBJECT_CAPTURED] = "captured tensor" };
    for (size_t i = 0; i < m->node_count; i++) {
        const tw__object_message *node = &m->nodes[i];
        tw__text_format(text, "  %zu %s", i, kinds[node->kind] ? kinds[node->kind] : "object");
        for (size_t k = 0; k < node->child_count; k++) {
            tw_string name = { node->children[k].name.data, node->children[k].name.size };
            tw__text_format(text, "%s%.*s=%zu", k ? ", " : ": ", TW_SHOWN(name), node->children[k].node);
        }
        tw__text_add(text, "\n");
    }
}

char *tw_saved_model_text(const char *directory)
{
    tw__saved_model_message m = { 0 };
    tw__graph_message graph = { 0 };
    tw__text text = { 0 };
    tw_status status = directory ? tw__saved_model_message_read(&m, directory, NULL, 0)
                                 : tw__fail(TW_INVALID_ARGUMENT, "tw_saved_model_text: no directory");
    if (status == TW_OK) {
        tw__text_format(&text, "SavedModel of TensorFlow %.*s, tags", TW_SHOWN(m.version));
        for (size_t i = 0; i < m.tag_count; i++)
            tw__text_format(&text, " %.*s", TW_SHOWN(m.tags[i]));
        tw__text_add(&text, "\nsignatures\n");
        for (size_t i = 0; i < m.signature_count; i++) {
            tw__text_format(&text, "  %.*s (%.*s)\n", TW_SHOWN(m.signatures[i].name), TW_SHOWN(m.signatures[i].method));
            print_infos(&text, "input", m.signatures[i].inputs, m.signatures[i].input_count);
            print_infos(&text, "output", m.signatures[i].outputs, m.signatures[i].output_count);
        }
        tw__text_add(&text, "objects\n");
        print_objects(&text, &m);
        tw__text_add(&text, "graph\n");
        status = tw__graph_message_read(&graph, m.graph.data, m.graph.size);
    }
    if (status == TW_OK)
        status = tw__graph_message_print(&text, &graph);
    tw__graph_message_free(&graph);
    tw__saved_model_message_free(&m);
    if (status == TW_OK)
        return tw__text_take(&text);
    tw__text_free(&text);
    return NULL;
}

/* ---- JSON ---- */

static void json_text(tw__json *json, const char *key, tw_string text)
{
    tw__json_key(json, key);
    tw__json_string(json, text.data, text.size);
}

static void json_infos(tw__json *json, const char *key, const tw__tensor_info *infos, size_t count)
{
    tw__json_key(json, key);
    tw__json_begin(json, '[');
    for (size_t i = 0; i < count; i++) {
        tw__json_begin(json, '{');
        json_text(json, "name", infos[i].name);
        const char *dtype = tw_dtype_name(infos[i].dtype);
        json_text(json, "dtype", (tw_string){ dtype, strlen(dtype) });
        tw__json_key(json, "shape");
        if (infos[i].shape.rank < 0) {
            tw__json_null(json);
        } else {
            tw__json_begin(json, '[');
            for (int k = 0; k < infos[i].shape.rank; k++)
                tw__json_integer(json, infos[i].shape.dims[k]);
            tw__json_end(json, ']');
        }
        json_text(json, "tensor", infos[i].tensor);
        tw__json_end(json, '}');
    }
    tw__json_end(json, ']');
}

static int by_op(const void *a, const void *b)
{
    const tw_string *x = a, *y = b;
    int order = memcmp(x->data, y->data, x->size < y->size ? x->size : y->size);
    return order ? order : x->size < y->size ? -1 : x->size > y->size;
}

static tw_status json_ops(tw__json *json, const tw__graph_message *graph)
{
    size_t count = graph->node_count, at = 0;
    for (size_t i = 0; i < graph->function_count; i++)
        count += graph->functions[i].node_count;
    tw__owned tw_string *ops = tw__alloc_array(count + 1, sizeof *ops);
    TW_NEED(ops);
    for (size_t i = 0; i < graph->node_count; i++)
        ops[at++] = graph->nodes[i].op;
    for (size_t i = 0; i < graph->function_count; i++) {
        for (size_t k = 0; k < graph->functions[i].node_count; k++)
            ops[at++] = graph->functions[i].nodes[k].op;
    }
    qsort(ops, count, sizeof *ops, by_op);
    tw__json_key(json, "ops");
    tw__json_begin(json, '[');
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i; next < count && by_op(&ops[i], &ops[next]) == 0;)
            next++;
        tw__json_begin(json, '{');
        json_text(json, "op", ops[i]);
        tw__json_key(json, "count");
        tw__json_integer(json, (int64_t)(next - i));
        tw__json_end(json, '}');
    }
    tw__json_end(json, ']');
    return TW_OK;
}

static tw_status json_model(tw__json *json, const tw__saved_model_message *m)
{
    tw__auto(tw__graph_message_free) tw__graph_message graph = { 0 };
    TW_TRY(tw__graph_message_read(&graph, m->graph.data, m->graph.size));
    tw__json_begin(json, '{');
    json_text(json, "tensorflow", m->version);
    tw__json_key(json, "tags");
    tw__json_begin(json, '[');
    for (size_t i = 0; i < m->tag_count; i++)
        tw__json_string(json, m->tags[i].data, m->tags[i].size);
    tw__json_end(json, ']');
    tw__json_key(json, "signatures");
    tw__json_begin(json, '[');
    for (size_t i = 0; i < m->signature_count; i++) {
        tw__json_begin(json, '{');
        json_text(json, "name", m->signatures[i].name);
        json_text(json, "method", m->signatures[i].method);
        json_infos(json, "inputs", m->signatures[i].inputs, m->signatures[i].input_count);
        json_infos(json, "outputs", m->signatures[i].outputs, m->signatures[i].output_count);
        tw__json_end(json, '}');
    }
    tw__json_end(json, ']');
    TW_TRY(json_ops(json, &graph));
    tw__json_end(json, '}');
    return TW_OK;
}

char *tw_saved_model_json(const char *directory)
{
    tw__saved_model_message m = { 0 };
    tw__text text = { 0 };
    tw__json json = { .text = &text };
    tw_status status = directory ? tw__saved_model_message_read(&m, directory, NULL, 0)
                                 : tw__fail(TW_INVALID_ARGUMENT, "tw_saved_model_json: no directory");
    if (status == TW_OK)
        status = json_model(&json, &m);
    tw__saved_model_message_free(&m);
    if (status == TW_OK)
        return tw__text_take(&text);
    tw__text_free(&text);
    return NULL;
}
