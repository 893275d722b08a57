/* Graphs, by TensorBoard's routes, and for the page.
 *
 *     graphs/info, graphs/graph?run[&tag][&conceptual=true][&limit_attr_size&large_attrs_key], graphs/run_metadata?run&tag
 *     graphs/nodes?run[&tag][&conceptual=true]     {"nodes": [[name, op, device, [input, …], [[attribute, text], …], [shape, …]],
 * …], "functions": {name: nodes}, "total": n} */
#include <stdlib.h>
#include <string.h>

#include "board.h"
#include "graph.h"

enum { NODES_LIMIT = 50000, ATTR_LIMIT = 400, SHAPES_LIMIT = 16 };

/* ---- writing messages ---- */

static void write_varint(FILE *out, uint64_t value)
{
    for (; value > 127; value >>= 7)
        fputc((int)(value & 127) | 128, out);
    fputc((int)value, out);
}

void board_write_bytes(FILE *out, uint32_t number, const void *data, size_t size)
{
    write_varint(out, (uint64_t)number << 3 | 2);
    write_varint(out, size);
    fwrite(data, 1, size, out);
}

static void write_field(FILE *out, const board_field *field)
{
    if (field->data) {
        board_write_bytes(out, field->number, field->data, field->size);
    } else {
        write_varint(out, (uint64_t)field->number << 3);
        write_varint(out, field->value);
    }
}

void board_write_attr(FILE *out, const char *name, uint32_t number, const char *text, uint64_t value)
{
    char *memory = NULL, *whole = NULL;
    size_t size = 0, whole_size = 0;
    FILE *inner = open_memstream(&memory, &size);
    if (inner) {
        if (text)
            board_write_bytes(inner, number, text, strlen(text));
        else
            write_field(inner, &(board_field){ .number = number, .value = value });
        fclose(inner);
    }
    FILE *entry = open_memstream(&whole, &whole_size);
    if (entry) {
        board_write_bytes(entry, 1, name, strlen(name));
        board_write_bytes(entry, 2, memory, size);
        fclose(entry);
        board_write_bytes(out, 5, whole, whole_size);
    }
    free(memory);
    free(whole);
}

/* ---- joining the graphs of a trace ---- */

typedef void (*rewrite)(FILE *out, const board_field *field, const char *prefix);

/* A message whose fields are rewritten, as field `number` of another one. */
static void write_message(FILE *out, uint32_t number, const board_field *message, rewrite each, const char *prefix)
{
    char *memory = NULL;
    size_t size = 0;
    board_field field;
    FILE *inner = open_memstream(&memory, &size);
    if (!inner)
        return;
    for (const uint8_t *at = message->data; board_next_field(&at, message->data + message->size, &field);)
        each(inner, &field, prefix);
    fclose(inner);
    board_write_bytes(out, number, memory, size);
    free(memory);
}

static void write_prefixed(FILE *out, const board_field *field, const char *prefix, char between)
{
    char *memory = NULL;
    size_t size = 0;
    FILE *inner = open_memstream(&memory, &size);
    if (!inner)
        return;
    fprintf(inner, "%s%c", prefix, between);
    fwrite(field->data, 1, field->size, inner);
    fclose(inner);
    board_write_bytes(out, field->number, memory, size);
    free(memory);
}

static void rewrite_node(FILE *out, const board_field *field, const char *prefix)
{
    if (field->data && (field->number == 1 || field->number == 3))
        write_prefixed(out, field, prefix, '/');
    else
        write_field(out, field);
}

static void rewrite_name(FILE *out, const board_field *field, const char *prefix)
{
    field->data && field->number == 1 ? write_prefixed(out, field, prefix, '_') : write_field(out, field);
}

static void rewrite_func(FILE *out, const board_field *field, const char *prefix)
{
    field->data && field->number == 10 ? write_message(out, 10, field, rewrite_name, prefix) : write_field(out, field);
}

static void rewrite_attr(FILE *out, const board_field *field, const char *prefix)
{
    field->data && field->number == 2 ? write_message(out, 2, field, rewrite_func, prefix) : write_field(out, field);
}

/* A PartitionedCall also names a function. */
static void rewrite_call(FILE *out, const board_field *field, const char *prefix)
{
    board_field key;
    bool called = field->number == 5 && field->data && board_get_field(field->data, field->size, 1, &key) && key.size == 1 &&
                  *key.data == 'f';
    called ? write_message(out, 5, field, rewrite_attr, prefix) : rewrite_node(out, field, prefix);
}

static void rewrite_function(FILE *out, const board_field *field, const char *prefix)
{
    field->data && field->number == 1 ? write_message(out, 1, field, rewrite_name, prefix) : write_field(out, field);
}

static void write_library(FILE *out, const board_field *library, const char *prefix)
{
    board_field field;
    for (const uint8_t *at = library->data; board_next_field(&at, library->data + library->size, &field);) {
        if (field.number == 1 && field.data)
            write_message(out, 1, &field, rewrite_function, prefix);
    }
}

static void write_joined(FILE *out, FILE *library, const board_field *graph, size_t index)
{
    char prefix[32];
    board_field field, op;
    snprintf(prefix, sizeof prefix, "graph_%zu", index);
    for (const uint8_t *at = graph->data; board_next_field(&at, graph->data + graph->size, &field);) {
        if (field.number == 1 && field.data) {
            bool call =
                board_get_field(field.data, field.size, 2, &op) && op.size == 15 && memcmp(op.data, "PartitionedCall", 15) == 0;
            write_message(out, 1, &field, call ? rewrite_call : rewrite_node, prefix);
        } else if (field.number == 2 && field.data) {
            write_library(library, &field, prefix);
        } else if (field.number == 4 && index == 1) {
            write_field(out, &field);
        }
    }
}

/* RunMetadata {4 function_graphs {2 pre_optimization_graph}}: one graph as it is, several with names of their own. */
static void write_traced(FILE *out, const board_field *metadata)
{
    board_field part, graph;
    size_t count = 0;
    char *memory = NULL;
    size_t size = 0;
    FILE *library = open_memstream(&memory, &size);
    for (const uint8_t *at = metadata->data; board_next_field(&at, metadata->data + metadata->size, &part);)
        count += part.number == 4 && part.data;
    size_t index = 0;
    for (const uint8_t *at = metadata->data; library && board_next_field(&at, metadata->data + metadata->size, &part);) {
        if (part.number != 4 || !part.data)
            continue;
        graph = (board_field){ 0 };
        board_get_field(part.data, part.size, 2, &graph);
        if (count == 1)
            fwrite(graph.data, 1, graph.size, out);
        else
            write_joined(out, library, &graph, ++index);
    }
    if (library)
        fclose(library);
    if (size)
        board_write_bytes(out, 2, memory, size);
    free(memory);
}

/* ---- which graph ---- */

/* The last value of a tag with one of the plugins. */
static bool last_value(const board *b, const char *run_name, const char *tag_name, const char *const *plugins, board_value *value)
{
    const board_run *run = board_find_run(b, run_name);
    *value = (board_value){ 0 };
    for (int i = 0; plugins[i]; i++) {
        const board_tag *tag = board_find_tag(run, tag_name, plugins[i]);
        if (tag && tag->place_count && board_fetch(b, run, &tag->places[tag->place_count - 1], value))
            return true;
    }
    return false;
}

/* The bytes of the GraphDef that is asked for, for free(); NULL and a refusal: there is none. */
static uint8_t *asked_graph(const board *b, const board_request *request, board_answer *answer, size_t *size)
{
    static const char *const whole[] = { "graphs", NULL }, *const keras[] = { "graph_keras_model", NULL };
    static const char *const traced[] = { "graph_run_metadata", "graph_run_metadata_graph", NULL };
    char run[BOARD_NAME_LIMIT], tag[BOARD_NAME_LIMIT], conceptual[8], *memory = NULL;
    if (!board_parameter(request->query, "run", 0, run, sizeof run)) {
        board_refused(answer, 400, "query parameter \"run\" is required");
        return NULL;
    }
    bool tagged = board_parameter(request->query, "tag", 0, tag, sizeof tag);
    board_parameter(request->query, "conceptual", 0, conceptual, sizeof conceptual);
    bool model = strcmp(conceptual, "true") == 0;
    board_value value;
    board_field bytes;
    *size = 0;
    bool good = last_value(b, run, tagged ? tag : "__run_graph__",
                           model    ? keras
                           : tagged ? traced
                                    : whole,
                           &value) &&
                board_string(&value, 0, &bytes);
    FILE *out = good ? open_memstream(&memory, size) : NULL;
    if (out) {
        char *json = model ? board_copy(bytes.data, bytes.size) : NULL;
        if (model)
            good = json && board_keras_graph(out, json);
        else if (tagged)
            write_traced(out, &bytes);
        else
            fwrite(bytes.data, 1, bytes.size, out);
        free(json);
        fclose(out);
    }
    board_value_free(&value);
    if (!good || !memory) {
        free(memory);
        board_refused(answer, 404, "there is no such graph");
        return NULL;
    }
    return (uint8_t *)memory;
}

/* ---- routes ---- */

static void put_info(board *b, const board_request *request, board_answer *answer)
{
    FILE *out = answer->body;
    bool some = false;
    (void)request;
    fputc('{', out);
    for (size_t i = 0; i < b->run_count; i++) {
        const board_run *run = &b->runs[i];
        bool whole = board_find_tag(run, "__run_graph__", "graphs") != NULL, first = true;
        for (int pass = 0; pass < 2; pass++) { /* whether there is something, and what */
            bool any = whole;
            for (size_t k = 0; k < run->tag_count; k++) {
                const board_tag *tag = &run->tags[k];
                bool keras = board_is(tag, "graph_keras_model"), both = board_is(tag, "graph_run_metadata");
                bool op = both || board_is(tag, "graph_run_metadata_graph"),
                     profile = both || board_is(tag, "graph_tagged_run_metadata");
                if (!keras && !op && !profile)
                    continue;
                any = true;
                if (!pass)
                    continue;
                fputs(first ? "" : ",", out);
                first = false;
                board_put_string(out, tag->name);
                fputs(":{\"tag\":", out);
                board_put_string(out, tag->name);
                fprintf(out, ",\"conceptual_graph\":%s,\"op_graph\":%s,\"profile\":%s}", keras ? "true" : "false",
                        op ? "true" : "false", profile ? "true" : "false");
            }
            if (!any)
                break;
            if (pass) {
                fprintf(out, "},\"run_graph\":%s}", whole ? "true" : "false");
                break;
            }
            fputs(some ? "," : "", out);
            some = true;
            board_put_string(out, run->name);
            fputs(":{\"run\":", out);
            board_put_string(out, run->name);
            fputs(",\"tags\":{", out);
        }
    }
    fputc('}', out);
}

static void put_graph(board *b, const board_request *request, board_answer *answer)
{
    char large[256], limit_text[32], *end = "";
    bool limited = board_parameter(request->query, "limit_attr_size", 0, limit_text, sizeof limit_text);
    bool named = board_parameter(request->query, "large_attrs_key", 0, large, sizeof large);
    long limit = limited ? strtol(limit_text, &end, 10) : 0;
    if (limited && (*end || limit <= 0 || !named)) {
        board_refused(answer, 400, "limit_attr_size has to be a positive integer, with a large_attrs_key");
        return;
    }
    size_t size;
    uint8_t *graph = asked_graph(b, request, answer, &size);
    if (graph)
        board_put_graph_text(answer->body, graph, size, limit, large);
    free(graph);
}

static void put_metadata(board *b, const board_request *request, board_answer *answer)
{
    static const char *const plugins[] = { "graph_tagged_run_metadata", "graph_run_metadata", NULL };
    char run[BOARD_NAME_LIMIT], tag[BOARD_NAME_LIMIT];
    board_value value = { 0 };
    board_field bytes;
    if (!board_parameter(request->query, "tag", 0, tag, sizeof tag) ||
        !board_parameter(request->query, "run", 0, run, sizeof run))
        board_refused(answer, 400, "query parameters \"run\" and \"tag\" are required");
    else if (last_value(b, run, tag, plugins, &value) && board_string(&value, 0, &bytes))
        board_put_metadata_text(answer->body, bytes.data, bytes.size);
    else
        board_refused(answer, 404, "there is no such run metadata");
    board_value_free(&value);
}

/* ---- for the page ---- */

/* TensorShapeProto {2 dim {1 size}, 3 unknown_rank} */
static void put_shape(FILE *out, const board_field *shape)
{
    board_field dim, size;
    bool first = true, unknown = board_get_field(shape->data, shape->size, 3, &size) && size.value;
    fputs(unknown ? "\"?" : "\"[", out);
    for (const uint8_t *at = shape->data; !unknown && board_next_field(&at, shape->data + shape->size, &dim);) {
        if (dim.number != 2 || !dim.data)
            continue;
        int64_t n = board_get_field(dim.data, dim.size, 1, &size) ? (int64_t)size.value : 0;
        fputs(first ? "" : "×", out);
        first = false;
        if (n < 0)
            fputc('?', out);
        else
            fprintf(out, "%lld", (long long)n);
    }
    fputs(unknown ? "\"" : "]\"", out);
}

static void put_attr(FILE *out, const board_field *attr, bool first)
{
    board_field key = { 0 }, value = { 0 };
    char *memory = NULL;
    size_t size = 0;
    board_get_field(attr->data, attr->size, 1, &key);
    board_get_field(attr->data, attr->size, 2, &value);
    FILE *text = open_memstream(&memory, &size);
    if (text && value.size <= ATTR_LIMIT)
        board_put_attr_text(text, value.data, value.size);
    else if (text)
        fprintf(text, "%zu bytes", value.size);
    if (text)
        fclose(text);
    fputs(first ? "[" : ",[", out);
    board_put_text(out, key.data, key.size);
    fputc(',', out);
    board_put_text(out, memory, memory ? size : 0);
    fputc(']', out);
    free(memory);
}

/* The shapes of a node's outputs: its attribute _output_shapes {1 list {7 shape}}. */
static void put_shapes(FILE *out, const board_field *node)
{
    board_field attr, key, value, list, shape;
    int count = 0;
    fputc('[', out);
    for (const uint8_t *at = node->data; board_next_field(&at, node->data + node->size, &attr);) {
        if (attr.number != 5 || !attr.data || !board_get_field(attr.data, attr.size, 1, &key) || key.size != 14 ||
            memcmp(key.data, "_output_shapes", 14) != 0 || !board_get_field(attr.data, attr.size, 2, &value) ||
            !board_get_field(value.data, value.size, 1, &list))
            continue;
        for (const uint8_t *p = list.data; count < SHAPES_LIMIT && board_next_field(&p, list.data + list.size, &shape);) {
            if (shape.number == 7 && shape.data) {
                fputs(count++ ? "," : "", out);
                put_shape(out, &shape);
            }
        }
    }
    fputc(']', out);
}

static void put_node(FILE *out, const board_field *node)
{
    board_field part;
    static const uint32_t texts[] = { 1, 2, 4 };
    fputc('[', out);
    for (int i = 0; i < 3; i++) {
        part = (board_field){ 0 };
        board_get_field(node->data, node->size, texts[i], &part);
        board_put_text(out, part.data, part.size);
        fputc(',', out);
    }
    for (uint32_t number = 3; number <= 5; number += 2) {
        bool first = true;
        fputc('[', out);
        for (const uint8_t *at = node->data; board_next_field(&at, node->data + node->size, &part);) {
            if (part.number != number || !part.data)
                continue;
            if (number == 3) {
                fputs(first ? "" : ",", out);
                board_put_text(out, part.data, part.size);
            } else {
                put_attr(out, &part, first);
            }
            first = false;
        }
        fputs("],", out);
    }
    put_shapes(out, node);
    fputc(']', out);
}

static void put_nodes(FILE *out, const uint8_t *data, size_t size, uint32_t number, size_t *count)
{
    board_field node;
    bool first = true;
    fputc('[', out);
    for (const uint8_t *at = data; board_next_field(&at, data + size, &node);) {
        if (node.number != number || !node.data || ++*count > NODES_LIMIT)
            continue;
        fputs(first ? "" : ",", out);
        first = false;
        put_node(out, &node);
    }
    fputc(']', out);
}

static void put_functions(FILE *out, const uint8_t *data, size_t size, size_t *count)
{
    board_field library, function, signature, name;
    bool first = true;
    fputs(",\"functions\":{", out);
    if (board_get_field(data, size, 2, &library)) {
        for (const uint8_t *at = library.data; board_next_field(&at, library.data + library.size, &function);) {
            if (function.number != 1 || !function.data || !board_get_field(function.data, function.size, 1, &signature) ||
                !board_get_field(signature.data, signature.size, 1, &name) || !name.data)
                continue;
            fputs(first ? "" : ",", out);
            first = false;
            board_put_text(out, name.data, name.size);
            fputc(':', out);
            put_nodes(out, function.data, function.size, 3, count);
        }
    }
    fputc('}', out);
}

static void put_page_graph(board *b, const board_request *request, board_answer *answer)
{
    size_t size, count = 0;
    uint8_t *graph = asked_graph(b, request, answer, &size);
    if (graph) {
        fputs("{\"nodes\":", answer->body);
        put_nodes(answer->body, graph, size, 1, &count);
        put_functions(answer->body, graph, size, &count);
        fprintf(answer->body, ",\"total\":%zu,\"most\":%d}", count, NODES_LIMIT);
    }
    free(graph);
}

const board_route board_graph_routes[] = {
    { "graphs", "info", put_info, NULL },
    { "graphs", "graph", put_graph, "text/x-protobuf; charset=utf-8" },
    { "graphs", "run_metadata", put_metadata, "text/x-protobuf; charset=utf-8" },
    { "graphs", "nodes", put_page_graph, NULL },
    { 0 },
};
