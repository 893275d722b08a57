/* tf.compat.v1.graph_util: parts of serialized GraphDefs, and graphs whose variables became constants. Nodes that stay are copied
 * as they are, byte by byte. */
#include "codec/message.h"
#include "graph/graphdef.h"
#include "messages.h"
#include "rows.h"

typedef struct node {
    tw_string bytes;
    tw__NodeDef def;
    bool needed;
    tw_string instead; /* the input that stands in its place; without data: it stays */
} node;

typedef struct graph {
    tw__GraphDef def;
    node *nodes;
    size_t count, capacity;
    tw__map places; /* name -> place + 1 */
} graph;

static void graph_end(graph *g)
{
    tw__free(g->nodes);
    tw__map_end(&g->places);
}

static tw_status graph_read(graph *g, const tw_value *bytes)
{
    if (bytes->kind != TW_VALUE_BYTES)
        return tw__fail(TW_TYPE_ERROR, "graph_util: a serialized GraphDef (bytes) was expected");
    if (!tw__read_GraphDef(bytes->s, &g->def))
        return tw__fail(TW_INVALID_ARGUMENT, "graph_util: the bytes are no GraphDef");
    tw__many all = g->def.node;
    node each = { 0 };
    while (tw__next_bytes(&all, &each.bytes)) {
        if (!tw__read_NodeDef(each.bytes, &each.def))
            return tw__fail(TW_INVALID_ARGUMENT, "graph_util: node %zu of the GraphDef makes no sense", g->count);
        TW_TRY(TW_GROW(g->nodes, g->capacity, g->count + 1));
        g->nodes[g->count++] = each;
        TW_TRY(tw__map_put(&g->places, each.def.name.data, each.def.name.size, (void *)(uintptr_t)g->count));
    }
    return all.failed ? tw__fail(TW_INVALID_ARGUMENT, "graph_util: the bytes are no GraphDef") : TW_OK;
}

static node *node_named(const graph *g, tw_string name)
{
    uintptr_t place = (uintptr_t)tw__map_get(&g->places, name.data, name.size);
    return place ? &g->nodes[place - 1] : NULL;
}

static bool is_op(const node *each, const char *op)
{
    return each->def.op.size == strlen(op) && memcmp(each->def.op.data, op, each->def.op.size) == 0;
}

/* The node that an input names: "^a", "a:1". */
static tw_string source_of(tw_string input)
{
    if (input.size && *input.data == '^') {
        input.data++;
        input.size--;
    }
    const char *colon = memchr(input.data, ':', input.size);
    return (tw_string){ input.data, colon ? (size_t)(colon - input.data) : input.size };
}

/* Marks the node and all that it needs. */
static tw_status need(graph *g, node *first)
{
    tw__owned size_t *waiting = NULL;
    size_t count = 0, capacity = 0;
    TW_TRY(TW_GROW(waiting, capacity, 1));
    if (!first->needed) {
        first->needed = true;
        waiting[count++] = (size_t)(first - g->nodes);
    }
    while (count) {
        tw__many inputs = g->nodes[waiting[--count]].def.input;
        tw_string input;
        while (tw__next_bytes(&inputs, &input)) {
            tw_string name = source_of(input);
            node *source = node_named(g, name);
            if (!source)
                return tw__fail(TW_KEY_ERROR, "'%.*s'", (int)name.size, name.data);
            if (!source->needed) {
                TW_TRY(TW_GROW(waiting, capacity, count + 1));
                source->needed = true;
                waiting[count++] = (size_t)(source - g->nodes);
            }
        }
    }
    return TW_OK;
}

static tw_status need_all(graph *g, const tw_value *names)
{
    if (names->kind != TW_VALUE_LIST && names->kind != TW_VALUE_TUPLE)
        return tw__fail(TW_TYPE_ERROR, "dest_nodes must be an iterable of strings");
    for (int64_t i = 0; i < names->list.count; i++) {
        const tw_value *name = &names->list.items[i];
        node *found = name->kind == TW_VALUE_STR ? node_named(g, name->s) : NULL;
        if (!found)
            return tw__fail(TW_ASSERTION_ERROR, "%.*s is not in graph", name->kind == TW_VALUE_STR ? (int)name->s.size : 0,
                            name->kind == TW_VALUE_STR ? name->s.data : "");
        TW_TRY(need(g, found));
    }
    return TW_OK;
}

/* The text with the graph's library and versions behind its nodes, unless writing those failed. */
static tw_value finish(const graph *g, tw__text *text, tw_status status)
{
    if (status != TW_OK)
        return (tw_value){ .kind = TW_VALUE_NONE };
    if (tw__has(g->def.library))
        tw__put_GraphDef_library(text, g->def.library.data, g->def.library.size);
    if (tw__has(g->def.versions))
        tw__put_GraphDef_versions(text, g->def.versions.data, g->def.versions.size);
    tw__text_bytes(text, "", 0);
    size_t size = text->size;
    return text->failed ? (tw_value){ .kind = TW_VALUE_NONE }
                        : (tw_value){ .kind = TW_VALUE_BYTES, .s = { tw__text_take(text), size } };
}

static tw_status extract(graph *g, tw__text *text, const tw_v1_extract_sub_graph_args *args)
{
    TW_TRY(graph_read(g, &args->graph_def));
    TW_TRY(need_all(g, &args->dest_nodes));
    for (size_t i = 0; i < g->count; i++) {
        if (g->nodes[i].needed)
            tw__put_GraphDef_node(text, g->nodes[i].bytes.data, g->nodes[i].bytes.size);
    }
    return TW_OK;
}

TW_API(v1_extract_sub_graph, "compat.v1.graph_util._extract_sub_graph(graph_def: value, dest_nodes: value) -> value",
       "The nodes of a serialized GraphDef that some nodes need.")
{
    tw__auto(graph_end) graph g = { 0 };
    tw__auto(tw__text_free) tw__text text = { 0 };
    return finish(&g, &text, extract(&g, &text, args));
}

/* ---- constants in the place of variables ---- */

static tw_status put_constant(tw__text *text, tw_string name, tw_tensor *value)
{
    tw_attr attrs[] = { TW_A_TYPE("dtype", value->dtype), TW_A_TENSOR("value", value) };
    size_t start = tw__open_GraphDef_node(text);
    tw__put_NodeDef_name(text, name.data, name.size);
    tw__put_NodeDef_op(text, "Const", 5);
    for (int i = 0; i < 2; i++)
        TW_TRY(tw__attr_message_write(text, TW_NodeDef_attr, &attrs[i], NULL));
    tw__close(text, start);
    return TW_OK;
}

/* The reading of a variable, which is a constant now. */
static tw_status put_identity(tw__text *text, const node *read, tw_dtype dtype)
{
    tw_attr type = TW_A_TYPE("T", dtype);
    size_t start = tw__open_GraphDef_node(text);
    tw__put_NodeDef_name(text, read->def.name.data, read->def.name.size);
    tw__put_NodeDef_op(text, "Identity", 8);
    tw__many inputs = read->def.input;
    tw_string input;
    while (tw__next_bytes(&inputs, &input))
        tw__put_NodeDef_input(text, input.data, input.size);
    if (read->def.device.size)
        tw__put_NodeDef_device(text, read->def.device.data, read->def.device.size);
    TW_TRY(tw__attr_message_write(text, TW_NodeDef_attr, &type, NULL));
    tw__close(text, start);
    return TW_OK;
}

/* The place of a name in a list; -1: it is not there. */
static int64_t place_of(const tw_value *names, tw_string name)
{
    for (int64_t i = 0; names->kind != TW_VALUE_NONE && i < names->list.count; i++) {
        const tw_value *own = &names->list.items[i];
        if (own->kind == TW_VALUE_STR && own->s.size == name.size && memcmp(own->s.data, name.data, name.size) == 0)
            return i;
    }
    return -1;
}

static tw_tensor *value_named(const tw_value *names, tw_tensors values, tw_string name)
{
    int64_t place = place_of(names, name);
    return place >= 0 && place < values.count ? values.items[place] : NULL;
}

static tw_status replace(graph *g, tw__text *text, const tw_v1_variables_to_constants_args *args)
{
    TW_TRY(graph_read(g, &args->graph_def));
    if (args->values.count && args->names.kind != TW_VALUE_LIST)
        return tw__fail(TW_TYPE_ERROR, "graph_util: the names of variables are a list");
    for (size_t i = 0; i < g->count; i++) {
        const node *each = &g->nodes[i];
        tw__many inputs = each->def.input;
        tw_string input;
        bool reads = is_op(each, "ReadVariableOp") && tw__next_bytes(&inputs, &input);
        tw_tensor *own = value_named(&args->names, args->values, each->def.name);
        tw_tensor *read = reads ? value_named(&args->names, args->values, source_of(input)) : NULL;
        if (own)
            TW_TRY(put_constant(text, each->def.name, own));
        else if (read)
            TW_TRY(put_identity(text, each, read->dtype));
        else
            tw__put_GraphDef_node(text, each->bytes.data, each->bytes.size);
    }
    return TW_OK;
}

TW_API(v1_variables_to_constants,
       "compat.v1.graph_util._variables_to_constants(graph_def: value, names: value, values: tensors) -> value",
       "A serialized GraphDef with constants in the place of the variables of these names.")
{
    tw__auto(graph_end) graph g = { 0 };
    tw__auto(tw__text_free) tw__text text = { 0 };
    return finish(&g, &text, replace(&g, &text, args));
}

/* ---- nodes that only training needs ---- */

/* Says which nodes fall away: those with one input that nothing follows by name alone. */
static void pass_over(graph *g, const tw_value *kept)
{
    for (size_t i = 0; i < g->count; i++) { /* needed: others follow it */
        tw__many inputs = g->nodes[i].def.input;
        tw_string input;
        while (tw__next_bytes(&inputs, &input)) {
            node *source = input.size && *input.data == '^' ? node_named(g, source_of(input)) : NULL;
            if (source)
                source->needed = true;
        }
    }
    for (size_t i = 0; i < g->count; i++) {
        node *each = &g->nodes[i];
        tw__many inputs = each->def.input;
        tw_string input, second;
        bool plain = tw__next_bytes(&inputs, &input) && input.size && *input.data != '^' && !tw__next_bytes(&inputs, &second);
        if (plain && (is_op(each, "CheckNumerics") || is_op(each, "Identity")) && !each->needed &&
            place_of(kept, each->def.name) < 0)
            each->instead = input;
    }
}

/* The node with other inputs. */
static void put_node(tw__text *text, const graph *g, const node *each)
{
    size_t start = tw__open_GraphDef_node(text);
    tw__put_NodeDef_name(text, each->def.name.data, each->def.name.size);
    tw__put_NodeDef_op(text, each->def.op.data, each->def.op.size);
    tw__many inputs = each->def.input, attrs = each->def.attr;
    tw_string input, attr;
    while (tw__next_bytes(&inputs, &input)) {
        const node *source = node_named(g, input);
        for (size_t steps = 0; source && source->instead.data && steps < g->count; steps++) {
            input = source->instead;
            source = node_named(g, input);
        }
        tw__put_NodeDef_input(text, input.data, input.size);
    }
    if (each->def.device.size)
        tw__put_NodeDef_device(text, each->def.device.data, each->def.device.size);
    while (tw__next_bytes(&attrs, &attr))
        tw__put_NodeDef_attr(text, attr.data, attr.size);
    tw__close(text, start);
}

static tw_status remove_needless(graph *g, tw__text *text, const tw_v1_remove_training_nodes_args *args)
{
    const tw_value *kept = &args->protected_nodes;
    TW_TRY(graph_read(g, &args->input_graph));
    if (kept->kind != TW_VALUE_LIST && kept->kind != TW_VALUE_TUPLE && kept->kind != TW_VALUE_NONE)
        return tw__fail(TW_TYPE_ERROR, "remove_training_nodes: protected_nodes is a list of names");
    pass_over(g, kept);
    for (size_t i = 0; i < g->count; i++) {
        if (!g->nodes[i].instead.data)
            put_node(text, g, &g->nodes[i]);
    }
    return TW_OK;
}

TW_API(v1_remove_training_nodes,
       "compat.v1.graph_util._remove_training_nodes(input_graph: value, protected_nodes: value = None) -> value",
       "A serialized GraphDef without CheckNumerics and needless Identity nodes.")
{
    tw__auto(graph_end) graph g = { 0 };
    tw__auto(tw__text_free) tw__text text = { 0 };
    return finish(&g, &text, remove_needless(&g, &text, args));
}
