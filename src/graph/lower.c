/* Messages as nodes with numbered inputs, and back; see lower.h. */
#include "graph/lower.h"

#include <stdio.h>

/* ---- texts ---- */

static const char *own(tw__graph_message *message, char *text)
{
    if (!text || TW_GROW(message->owned, message->owned_capacity, message->owned_count + 1) != TW_OK) {
        tw__free(text);
        return NULL;
    }
    return message->owned[message->owned_count++] = text;
}

tw_string tw__low_text(tw__graph_message *message, tw_string name, const char *ending)
{
    size_t more = strlen(ending);
    char *text = tw__alloc(name.size + more + 1);
    if (text) {
        memcpy(text, name.size ? name.data : "", name.size);
        memcpy(text + name.size, ending, more + 1);
    }
    const char *kept = own(message, text);
    return (tw_string){ kept, kept ? name.size + more : 0 };
}

/* ---- nodes ---- */

int32_t tw__low_add(tw__low_graph *graph, tw_string name, const char *op)
{
    char ending[24];
    tw_string unique = name;
    for (int i = 1; tw__map_has(&graph->names, unique.data, unique.size); i++) {
        snprintf(ending, sizeof ending, "_%d", i);
        unique = tw__low_text(graph->message, name, ending);
        if (!unique.data)
            return -1;
    }
    if (TW_GROW(graph->nodes, graph->capacity, graph->count + 1) != TW_OK)
        return -1;
    graph->nodes[graph->count] = (tw__low_node){ .name = unique, .op = { op, strlen(op) }, .device = { "", 0 }, .instead = -1 };
    if (tw__map_put(&graph->names, unique.data, unique.size, (void *)(intptr_t)(graph->count + 1)) != TW_OK)
        return -1;
    return (int32_t)graph->count++;
}

int32_t tw__low_copy(tw__low_graph *graph, const tw__low_node *node)
{
    int32_t index = tw__low_add(graph, node->name, "");
    if (index < 0)
        return -1;
    tw__low_node *copy = &graph->nodes[index];
    copy->op = node->op;
    copy->device = node->device;
    if (TW_GROW(copy->attrs, copy->attr_capacity, node->attr_count + 1) != TW_OK)
        return -1;
    if (node->attr_count)
        memcpy(copy->attrs, node->attrs, node->attr_count * sizeof *node->attrs);
    copy->attr_count = node->attr_count;
    return index;
}

void tw__low_graph_free(tw__low_graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        tw__free(graph->nodes[i].attrs);
        tw__free(graph->nodes[i].inputs);
    }
    tw__free(graph->nodes);
    tw__map_free(&graph->names, NULL);
    *graph = (tw__low_graph){ 0 };
}

tw_status tw__low_input_add(tw__low_node *node, tw__low_input input)
{
    TW_TRY(TW_GROW(node->inputs, node->input_capacity, node->input_count + 1));
    size_t at = node->input_count++;
    for (; input.port != TW_LOW_CONTROL && at > 0 && node->inputs[at - 1].port == TW_LOW_CONTROL; at--)
        node->inputs[at] = node->inputs[at - 1];
    node->inputs[at] = input;
    return TW_OK;
}

tw_status tw__low_order_after(tw__low_node *node, int32_t earlier)
{
    for (size_t i = 0; i < node->input_count; i++) {
        if (node->inputs[i].node == earlier && node->inputs[i].port == TW_LOW_CONTROL)
            return TW_OK;
    }
    return tw__low_input_add(node, (tw__low_input){ earlier, TW_LOW_CONTROL });
}

typedef struct visit {
    int32_t node;
    size_t next;
} visit;

int32_t *tw__low_order(const tw__low_graph *graph, bool (*skip)(const tw__low_graph *graph, int32_t node, tw__low_input input),
                       size_t *count)
{
    enum { UNSEEN, OPEN, DONE };
    tw__owned uint8_t *seen = tw__alloc_array(graph->count + 1, 1);
    tw__owned visit *stack = tw__alloc_array(graph->count + 1, sizeof *stack);
    int32_t *order = tw__alloc_array(graph->count + 1, sizeof *order);
    bool good = seen && stack && order;
    *count = 0;
    for (size_t root = 0; good && root < graph->count; root++) {
        size_t depth = 0;
        if (seen[root] == UNSEEN && !graph->nodes[root].gone) {
            stack[depth++] = (visit){ (int32_t)root, 0 };
            seen[root] = OPEN;
        }
        while (good && depth > 0) {
            visit *top = &stack[depth - 1];
            const tw__low_node *node = &graph->nodes[top->node];
            if (top->next == node->input_count) {
                seen[top->node] = DONE;
                order[(*count)++] = top->node;
                depth--;
                continue;
            }
            tw__low_input input = node->inputs[top->next++];
            if (seen[input.node] == DONE || graph->nodes[input.node].gone || (skip && skip(graph, top->node, input)))
                continue;
            if (seen[input.node] == OPEN) {
                tw__fail(TW_INVALID_ARGUMENT, "node '%.*s': its input '%.*s' makes a cycle", TW_SHOWN(node->name),
                         TW_SHOWN(graph->nodes[input.node].name));
                good = false;
                continue;
            }
            seen[input.node] = OPEN;
            stack[depth++] = (visit){ input.node, 0 };
        }
    }
    if (good)
        return order;
    tw__free(order);
    return NULL;
}

/* ---- from messages and back ---- */

static tw_status input_of(const tw__low_graph *graph, const tw__reference *r, size_t base, bool function, tw__low_input *input)
{
    if (r->given) {
        *input = (tw__low_input){ r->given->output, r->control ? TW_LOW_CONTROL : 0 };
        return TW_OK;
    }
    *input = (tw__low_input){ (int32_t)base + r->node, r->control ? TW_LOW_CONTROL : (int32_t)r->port };
    if (function && !r->control)
        input->port = tw__low_output_port(&graph->nodes[input->node], r->output, r->port);
    return input->port == -1 && !r->control ? tw__error_status() : TW_OK;
}

/* Nodes behind those that are there: the arguments, whose edges are their numbers. */
static tw_status read_graph(tw__low_graph *graph, const tw__node_message *nodes, size_t count, const tw__map *arguments)
{
    tw__auto(tw__references_free) tw__references references = { 0 };
    size_t base = graph->count;
    TW_TRY(TW_GROW(graph->nodes, graph->capacity, base + count + 1));
    TW_TRY(tw__references_find(&references, nodes, count, arguments != NULL, arguments));
    for (size_t i = 0; i < count; i++) {
        tw__low_node *node = &graph->nodes[graph->count++];
        const tw__node_message *m = &nodes[i];
        *node = (tw__low_node){ .name = m->name, .op = m->op, .device = m->device, .instead = -1 };
        if (tw__map_has(&graph->names, m->name.data, m->name.size))
            return tw__fail(TW_INVALID_ARGUMENT, "node '%.*s' has the name of an argument", TW_SHOWN(m->name));
        TW_TRY(tw__map_put(&graph->names, m->name.data, m->name.size, (void *)(intptr_t)(base + i + 1)));
        TW_TRY(TW_GROW(node->attrs, node->attr_capacity, m->attr_count + 1));
        if (m->attr_count)
            memcpy(node->attrs, m->attrs, m->attr_count * sizeof *m->attrs);
        node->attr_count = m->attr_count;
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = references.first[i]; k < references.first[i + 1]; k++) {
            tw__low_input input;
            TW_TRY(input_of(graph, &references.items[k], base, arguments != NULL, &input));
            TW_TRY(tw__low_input_add(&graph->nodes[base + i], input));
        }
    }
    return TW_OK;
}

static tw_status write_input(const tw__low_graph *graph, tw__node_message *message, tw__low_input input)
{
    const tw__low_node *from = &graph->nodes[input.node];
    char ending[24] = "";
    if (input.port > 0)
        snprintf(ending, sizeof ending, ":%d", (int)input.port);
    tw_string text = input.port == TW_LOW_CONTROL ? tw__low_text(graph->message, (tw_string){ "^", 1 }, "") : from->name;
    if (input.port == TW_LOW_CONTROL && text.data) {
        tw__owned char *name = tw__strndup(from->name.data, from->name.size);
        text = name ? tw__low_text(graph->message, (tw_string){ "^", 1 }, name) : (tw_string){ NULL, 0 };
    } else if (input.port > 0) {
        text = tw__low_text(graph->message, from->name, ending);
    }
    TW_NEED(text.data);
    TW_TRY(TW_GROW(message->inputs, message->input_capacity, message->input_count + 1));
    message->inputs[message->input_count++] = text;
    return TW_OK;
}

/* Whoever runs in the place of a node that is gone; -1: nobody. */
static int32_t stand_in(const tw__low_graph *graph, int32_t node)
{
    while (node >= 0 && graph->nodes[node].gone)
        node = graph->nodes[node].instead;
    return node;
}

/* Makes messages of the nodes, which take their attrs. */
static tw_status write_graph(tw__low_graph *graph, tw__node_message **nodes, size_t *count, size_t *capacity)
{
    for (size_t i = 0; i < graph->count; i++) {
        tw__low_node *node = &graph->nodes[i];
        if (node->gone || tw__low_is(node, "_Arg"))
            continue;
        TW_TRY(TW_GROW(*nodes, *capacity, *count + 1));
        tw__node_message *message = &(*nodes)[(*count)++];
        *message = (tw__node_message){ .name = node->name,
                                       .op = node->op,
                                       .device = node->device,
                                       .attrs = node->attrs,
                                       .attr_count = node->attr_count,
                                       .attr_capacity = node->attr_capacity };
        node->attrs = NULL;
        node->attr_count = 0;
        for (size_t k = 0; k < node->input_count; k++) {
            tw__low_input input = node->inputs[k];
            bool gone = graph->nodes[input.node].gone;
            int32_t other = stand_in(graph, input.node);
            if (gone && input.port != TW_LOW_CONTROL)
                return tw__fail(TW_UNIMPLEMENTED,
                                "node '%.*s': its input '%.*s' is a part of a loop or branch that has no result there",
                                TW_SHOWN(node->name), TW_SHOWN(graph->nodes[input.node].name));
            if (other >= 0 && other != (int32_t)i)
                TW_TRY(write_input(graph, message, (tw__low_input){ other, input.port }));
        }
    }
    return TW_OK;
}

/* ---- functions ---- */

int32_t tw__low_argument(tw__low_graph *body, tw_dtype dtype)
{
    char ending[24];
    snprintf(ending, sizeof ending, "_%zu", body->count);
    tw_string name = tw__low_text(body->message, (tw_string){ "arg", 3 }, ending);
    int32_t index = name.data ? tw__low_add(body, name, "_Arg") : -1;
    return index >= 0 && tw__low_attr_type(body, &body->nodes[index], "T", dtype) == TW_OK ? index : -1;
}

bool tw__low_stateful(const tw__low_graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const tw__low_node *node = &graph->nodes[i];
        tw__owned char *name = node->gone || tw__low_is(node, "_Arg") ? NULL : tw__strndup(node->op.data, node->op.size);
        const tw_op *op = name ? tw__op_find(name) : NULL;
        if (op && op->stateful)
            return true;
    }
    return false;
}

static bool has_function(const tw__graph_message *message, tw_string name)
{
    for (size_t i = 0; i < message->function_count; i++) {
        tw_string other = message->functions[i].name;
        if (other.size == name.size && memcmp(other.data, name.data, name.size) == 0)
            return true;
    }
    return false;
}

static tw_string function_name(tw__graph_message *message, tw_string base, const char *ending)
{
    char more[64];
    tw_string name;
    size_t number = message->function_count;
    do {
        snprintf(more, sizeof more, "_%s_%zu", ending, number++);
        name = tw__low_text(message, base, more);
    } while (name.data && has_function(message, name));
    for (size_t i = 0; name.data && i < name.size; i++) {
        if (name.data[i] == '/' || name.data[i] == '.')
            ((char *)name.data)[i] = '_';
    }
    return name;
}

static tw_status fill_function(tw__low_graph *body, size_t argument_count, const tw__low_input *results, size_t result_count,
                               tw__function_message *function)
{
    tw__graph_message *message = body->message;
    for (size_t i = 0; i < argument_count; i++) {
        TW_TRY(TW_GROW(function->arguments, function->argument_capacity, function->argument_count + 1));
        function->arguments[function->argument_count++] =
            (tw__argument_message){ .name = body->nodes[i].name, .dtype = tw__low_type(&body->nodes[i], "T"), .plain = true };
    }
    for (size_t i = 0; i < result_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "_%zu", i);
        tw__node_message holder = { 0 };
        tw__argument_message result = { .name = tw__low_text(message, (tw_string){ "result", 6 }, name), .plain = true };
        result.dtype = tw__low_output_type(body, results[i]);
        tw_status status =
            result.name.data && result.dtype != TW_DTYPE_NONE ? write_input(body, &holder, results[i]) : tw__error_status();
        if (status == TW_OK)
            status = TW_GROW(function->results, function->result_capacity, function->result_count + 1);
        if (status == TW_OK)
            status = TW_GROW(function->returns, function->return_capacity, function->return_count + 1);
        if (status == TW_OK) {
            function->results[function->result_count++] = result;
            function->returns[function->return_count++] = (tw__pair){ result.name, holder.inputs[0] };
        }
        tw__free(holder.inputs);
        TW_TRY(status);
    }
    return write_graph(body, &function->nodes, &function->node_count, &function->node_capacity);
}

tw_status tw__low_function(tw__low_graph *body, size_t argument_count, const tw__low_input *results, size_t result_count,
                           tw_string base, const char *ending, int depth, tw_string *name)
{
    tw__graph_message *message = body->message;
    tw_status status = tw__lower_conds(body, depth);
    if (status == TW_OK)
        status = TW_GROW(message->functions, message->function_capacity, message->function_count + 1);
    if (status == TW_OK) {
        *name = function_name(message, base, ending);
        tw__function_message function = { .name = *name, .flat = true, .stateful = tw__low_stateful(body) };
        status = name->data ? fill_function(body, argument_count, results, result_count, &function) : TW_RESOURCE_EXHAUSTED;
        message->functions[message->function_count++] = function; /* freed with the message in any case */
    }
    return status;
}

/* ---- the whole ---- */

static bool needs(const tw__node_message *nodes, size_t count, int64_t producer)
{
    static const char *const ops[] = { "Switch",   "RefSwitch",  "Merge",    "RefMerge",  "Enter",
                                       "RefEnter", "VariableV2", "Variable", "HashTable", "MutableHashTable" };
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
            if (tw__string_is(nodes[i].op, ops[k]))
                return true;
        }
        if (tw__lower_fresh(nodes[i].op) || tw__lower_older(nodes[i].op) ||
            (producer < 24 && tw__string_is(nodes[i].op, "Placeholder")))
            return true;
    }
    return false;
}

/* All steps; then the graph is freed and its nodes stand in the place of those that it was read from. */
static tw_status lower_nodes(tw__low_graph *graph, tw__node_message **nodes, size_t *count, size_t *capacity)
{
    tw__node_message *fresh = NULL;
    size_t fresh_count = 0, fresh_capacity = 0;
    tw_status status = tw__lower_old(graph);
    if (status == TW_OK)
        status = tw__lower_refs(graph);
    if (status == TW_OK)
        status = tw__lower_loops(graph);
    if (status == TW_OK)
        status = tw__lower_conds(graph, 0);
    if (status == TW_OK)
        status = write_graph(graph, &fresh, &fresh_count, &fresh_capacity);
    if (status != TW_OK) {
        tw__node_messages_free(fresh, fresh_count);
        return status;
    }
    tw__node_messages_free(*nodes, *count);
    *nodes = fresh;
    *count = fresh_count;
    *capacity = fresh_capacity;
    return TW_OK;
}

/* The arguments of a function: nodes _Arg, and what bodies call them, "x" and "^x". */
static tw_status read_arguments(tw__low_graph *graph, const tw__function_message *function, tw__edge *edges, tw__map *names)
{
    for (size_t i = 0; i < function->argument_count; i++) {
        tw_string name = function->arguments[i].name;
        if (tw__map_has(&graph->names, name.data, name.size))
            return tw__fail(TW_INVALID_ARGUMENT, "two arguments are named '%.*s'", TW_SHOWN(name));
        int32_t made = tw__low_add(graph, name, "_Arg");
        tw__owned char *text = made < 0 ? NULL : tw__format("^%.*s", (int)name.size, name.data);
        tw_status status =
            text ? tw__low_attr_type(graph, &graph->nodes[made], "T", function->arguments[i].dtype) : TW_RESOURCE_EXHAUSTED;
        edges[i] = (tw__edge){ NULL, made };
        if (status == TW_OK)
            status = tw__map_put(names, text, name.size + 1, &edges[i]);
        if (status == TW_OK)
            status = tw__map_put(names, text + 1, name.size, &edges[i]);
        TW_TRY(status);
    }
    return TW_OK;
}

/* What a function returns goes through an Identity each, which no step takes away. */
static tw_status read_returns(tw__low_graph *graph, tw__function_message *function, const tw__map *arguments)
{
    tw__references names = { .names = graph->names };
    for (size_t i = 0; i < function->return_count; i++) {
        tw__pair *given = &function->returns[i];
        tw__reference r;
        tw__low_input input;
        TW_TRY(tw__reference_parse(&names, given->value, true, arguments, &r));
        TW_TRY(r.control ? tw__fail(TW_INVALID_ARGUMENT, "the result '%.*s' is no tensor", TW_SHOWN(given->name)) : TW_OK);
        TW_TRY(input_of(graph, &r, 0, true, &input));
        tw_dtype dtype = TW_DTYPE_NONE;
        for (size_t k = 0; k < function->result_count; k++) {
            tw_string name = function->results[k].name;
            if (name.size == given->name.size && memcmp(name.data, given->name.data, name.size) == 0)
                dtype = function->results[k].dtype;
        }
        tw_string name = tw__low_text(graph->message, given->name, "/.result");
        int32_t made = name.data ? tw__low_add(graph, name, "Identity") : -1;
        if (made < 0)
            return TW_RESOURCE_EXHAUSTED;
        names.names = graph->names;
        TW_TRY(tw__low_attr_type(graph, &graph->nodes[made], "T", dtype));
        TW_TRY(tw__low_input_add(&graph->nodes[made], input));
        given->value = graph->nodes[made].name;
    }
    return TW_OK;
}

/* By its number: the list of functions may grow meanwhile. */
static tw_status lower_function(tw__graph_message *message, size_t index)
{
    tw__function_message function = message->functions[index];
    tw__auto(tw__low_graph_free) tw__low_graph graph = { .message = message };
    tw__auto(tw__map_end) tw__map arguments = { 0 };
    tw__owned tw__edge *edges = tw__alloc_array(function.argument_count + 1, sizeof *edges);
    tw_status status = edges ? read_arguments(&graph, &function, edges, &arguments) : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK)
        status = read_graph(&graph, function.nodes, function.node_count, &arguments);
    if (status == TW_OK)
        status = read_returns(&graph, &function, &arguments);
    if (status == TW_OK)
        status = lower_nodes(&graph, &function.nodes, &function.node_count, &function.node_capacity);
    if (status == TW_OK) {
        function.flat = true;
        message->functions[index] = function;
    } else {
        tw__error_prefix("function '%.*s': ", TW_SHOWN(function.name));
    }
    return status;
}

tw_status tw__graph_lower(tw__graph_message *message)
{
    for (size_t i = 0, count = message->function_count; i < count; i++) {
        const tw__function_message *function = &message->functions[i];
        if (!function->generic && needs(function->nodes, function->node_count, TW_GRAPH_PRODUCER))
            TW_TRY(lower_function(message, i));
    }
    if (!needs(message->nodes, message->node_count, message->producer))
        return TW_OK;
    tw__auto(tw__low_graph_free) tw__low_graph graph = { .message = message };
    TW_TRY(read_graph(&graph, message->nodes, message->node_count, NULL));
    return lower_nodes(&graph, &message->nodes, &message->node_count, &message->node_capacity);
}
