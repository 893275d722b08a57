/* The shape of a GraphDef before anything is built of it: names, references and order.
 *
 * Every name is there once, every input refers to a node that is there, and the nodes can be put in an order in which each stands
 * behind those it refers to: a depth-first walk with a stack of its own, so that neither a chain of a million nodes nor a cycle
 * does harm. Where the file's order is such an order already, it is kept. */
#include "graph/graphdef.h"

/* TensorFlow's rule for names of nodes: [A-Za-z0-9.][A-Za-z0-9_.\-/>]*, and an underscore first in what TensorFlow itself makes.
 */
static bool good_name(tw_string name)
{
    for (size_t i = 0; i < name.size; i++) {
        char c = name.data[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_';
        if (!letter && !(i > 0 && (c == '-' || c == '/' || c == '\\' || c == '>')))
            return false;
    }
    return name.size > 0;
}

/* Digits to the end of the text; -1 if it is anything else. */
static int64_t read_port(const char *text, size_t size)
{
    int64_t port = 0;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || port > INT32_MAX)
            return -1;
        port = port * 10 + (text[i] - '0');
    }
    return size && port <= INT32_MAX ? port : -1;
}

tw_status tw__reference_parse(const tw__references *references, tw_string text, bool function, const tw__map *given,
                              tw__reference *out)
{
    *out = (tw__reference){ .node = -1 };
    out->control = text.size && text.data[0] == '^';
    out->given = given ? tw__map_get(given, text.data, text.size) : NULL;
    if (out->given)
        return TW_OK;
    tw_string name = text;
    if (out->control) {
        name.data++;
        name.size--;
    }
    const char *colon = name.size ? memchr(name.data, ':', name.size) : NULL;
    if (colon && out->control)
        return tw__fail(TW_INVALID_ARGUMENT, "input '%.*s' is not the name of a node", TW_SHOWN(text));
    if (colon) {
        tw_string rest = { colon + 1, (size_t)(name.data + name.size - colon - 1) };
        name.size = (size_t)(colon - name.data);
        if (function) {
            const char *second = rest.size ? memchr(rest.data, ':', rest.size) : NULL;
            out->output = rest;
            if (second) {
                out->output.size = (size_t)(second - rest.data);
                out->port = read_port(second + 1, (size_t)(rest.data + rest.size - second - 1));
            }
        } else {
            out->port = read_port(rest.data, rest.size);
        }
        if (out->port < 0)
            return tw__fail(TW_INVALID_ARGUMENT, "input '%.*s' has no number where that of an output is expected",
                            TW_SHOWN(text));
    }
    intptr_t index = (intptr_t)tw__map_get(&references->names, name.data, name.size);
    if (!index)
        return tw__fail(TW_INVALID_ARGUMENT, "input '%.*s' refers to a node that is not there", TW_SHOWN(text));
    if (function && !colon && !out->control)
        return tw__fail(TW_INVALID_ARGUMENT, "input '%.*s' names a node, but not which of its outputs", TW_SHOWN(text));
    out->node = (int32_t)(index - 1);
    return TW_OK;
}

static tw_status read_names(tw__references *references, const tw__node_message *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tw_string name = nodes[i].name;
        if (!good_name(name))
            return tw__fail(TW_INVALID_ARGUMENT, "Node name '%.*s' is invalid", TW_SHOWN(name));
        if (tw__map_has(&references->names, name.data, name.size))
            return tw__fail(TW_INVALID_ARGUMENT, "Node name '%.*s' already exists in the Graph", TW_SHOWN(name));
        TW_TRY(tw__map_put(&references->names, name.data, name.size, (void *)(intptr_t)(i + 1)));
    }
    return TW_OK;
}

static tw_status read_inputs(tw__references *references, const tw__node_message *nodes, size_t count, bool function,
                             const tw__map *given)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++) {
        bool controls = false;
        references->first[i] = total;
        for (size_t k = 0; k < nodes[i].input_count; k++) {
            tw__reference *reference = &references->items[total++];
            if (tw__reference_parse(references, nodes[i].inputs[k], function, given, reference) != TW_OK) {
                tw__error_prefix("node '%.*s': ", TW_SHOWN(nodes[i].name));
                return tw__error_status();
            }
            if (controls && !reference->control)
                return tw__fail(TW_INVALID_ARGUMENT, "node '%.*s': input '%.*s' stands behind a control input",
                                TW_SHOWN(nodes[i].name), TW_SHOWN(nodes[i].inputs[k]));
            controls |= reference->control;
        }
    }
    references->first[count] = total;
    return TW_OK;
}

typedef struct visit {
    int32_t node;
    size_t next; /* of its inputs */
} visit;

static tw_status find_order(tw__references *references, const tw__node_message *nodes, size_t count)
{
    enum { UNSEEN, OPEN, DONE };
    tw__owned uint8_t *seen = tw__alloc_array(count + 1, 1);
    tw__owned visit *stack = tw__alloc_array(count + 1, sizeof *stack);
    TW_NEED(seen && stack);
    size_t ordered = 0;
    for (size_t root = 0; root < count; root++) {
        size_t depth = 0;
        if (seen[root] == UNSEEN) {
            stack[depth++] = (visit){ (int32_t)root, references->first[root] };
            seen[root] = OPEN;
        }
        while (depth > 0) {
            visit *top = &stack[depth - 1];
            if (top->next == references->first[top->node + 1]) {
                seen[top->node] = DONE;
                references->order[ordered++] = top->node;
                depth--;
                continue;
            }
            int32_t input = references->items[top->next++].node;
            if (input < 0 || seen[input] == DONE)
                continue;
            if (seen[input] == OPEN) {
                return tw__fail(TW_INVALID_ARGUMENT, "node '%.*s': its input '%.*s' makes a cycle",
                                TW_SHOWN(nodes[top->node].name), TW_SHOWN(nodes[input].name));
            } else {
                seen[input] = OPEN;
                stack[depth++] = (visit){ input, references->first[input] };
            }
        }
    }
    return TW_OK;
}

static tw_status find_all(tw__references *references, const tw__node_message *nodes, size_t count, bool function,
                          const tw__map *given)
{
    *references = (tw__references){ 0 };
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += nodes[i].input_count;
    references->items = tw__alloc_array(total + 1, sizeof *references->items);
    references->first = tw__alloc_array(count + 1, sizeof *references->first);
    references->order = tw__alloc_array(count + 1, sizeof *references->order);
    TW_NEED(references->items && references->first && references->order);
    TW_TRY(read_names(references, nodes, count));
    return read_inputs(references, nodes, count, function, given);
}

tw_status tw__references_read(tw__references *references, const tw__node_message *nodes, size_t count, bool function,
                              const tw__map *given)
{
    TW_TRY(find_all(references, nodes, count, function, given));
    return find_order(references, nodes, count);
}

tw_status tw__references_find(tw__references *references, const tw__node_message *nodes, size_t count, bool function,
                              const tw__map *given)
{
    return find_all(references, nodes, count, function, given);
}

void tw__references_free(tw__references *references)
{
    tw__map_free(&references->names, NULL);
    tw__free(references->items);
    tw__free(references->first);
    tw__free(references->order);
    *references = (tw__references){ 0 };
}
