/* The object graph as it stands in a file (TrackableObjectGraph): parsed, named and printed.
 *
 * Names and keys stay where they are in the message's bytes, which the graph keeps a copy of. Numbers of nodes are checked once
 * all nodes are there, so that everybody else may use them as indices. */
#include "codec/message.h"
#include "saving/saving.h"

/* The parts of a node; `*good` says whether they are messages. */
static tw_status parse_node(tw__saved_node *node, const tw__TrackableObjectGraph_TrackableObject *from, bool *good)
{
    tw__many children = from->children, attributes = from->attributes, slots = from->slot_variables;
    tw__RegisteredSaver saver;
    tw__BoolValue values;
    TW_TRY(TW_GROW(node->children, node->child_capacity, children.count));
    for (TW_EACH(TrackableObjectGraph_TrackableObject_ObjectReference, child, children))
        node->children[node->child_count++] =
            (tw__saved_child){ .node = tw__saved_index(child.node_id), .name = child.local_name };
    TW_TRY(TW_GROW(node->attributes, node->attribute_capacity, attributes.count));
    for (TW_EACH(TrackableObjectGraph_TrackableObject_SerializedTensor, attribute, attributes))
        node->attributes[node->attribute_count++] =
            (tw__saved_attribute){ .name = attribute.name, .full_name = attribute.full_name, .key = attribute.checkpoint_key };
    TW_TRY(TW_GROW(node->slots, node->slot_capacity, slots.count));
    for (TW_EACH(TrackableObjectGraph_TrackableObject_SlotVariableReference, slot, slots))
        node->slots[node->slot_count++] = (tw__saved_slot){ .variable = tw__saved_index(slot.original_variable_node_id),
                                                            .name = slot.slot_name,
                                                            .node = tw__saved_index(slot.slot_variable_node_id) };
    *good &= !children.failed && !attributes.failed && !slots.failed &&
             tw__read_RegisteredSaver(from->registered_saver, &saver) && tw__read_BoolValue(from->has_checkpoint_values, &values);
    if (!*good)
        return TW_OK;
    node->has_saver = tw__has(from->registered_saver);
    node->saver.name = saver.name;
    node->saver.object_name = saver.object_name;
    node->says_values = tw__has(from->has_checkpoint_values);
    node->has_values = values.value;
    return TW_OK;
}

static bool check_numbers(const tw__saved_graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        const tw__saved_node *node = &graph->nodes[i];
        for (size_t k = 0; k < node->child_count; k++) {
            if (node->children[k].node >= graph->count)
                return false;
        }
        for (size_t k = 0; k < node->slot_count; k++) {
            if (node->slots[k].variable >= graph->count || node->slots[k].node >= graph->count)
                return false;
        }
    }
    return graph->count > 0;
}

tw_status tw__saved_graph_parse(tw__saved_graph *graph, const void *data, size_t size, const char *name)
{
    *graph = (tw__saved_graph){ .size = size };
    graph->bytes = tw__alloc(size + 1);
    if (!graph->bytes)
        return TW_RESOURCE_EXHAUSTED;
    memcpy(graph->bytes, data, size);
    tw_string bytes = { graph->bytes, size };
    char *merged;
    if (!tw__message_merge(&tw__type_TrackableObjectGraph, &bytes, &merged))
        return tw__error_status();
    if (merged) {
        tw__free(graph->bytes);
        graph->bytes = merged;
        graph->size = bytes.size;
    }
    tw__TrackableObjectGraph from;
    bool good = tw__read_TrackableObjectGraph(bytes, &from);
    if (good)
        TW_TRY(TW_GROW(graph->nodes, graph->capacity, from.nodes.count));
    for (tw__TrackableObjectGraph_TrackableObject node;
         good && tw__next_message(&from.nodes, &tw__type_TrackableObjectGraph_TrackableObject, &node);) {
        graph->nodes[graph->count] = (tw__saved_node){ 0 };
        TW_TRY(parse_node(&graph->nodes[graph->count++], &node, &good));
    }
    if (!good || from.nodes.failed || !check_numbers(graph))
        return tw__fail(TW_DATA_LOSS, "%s: the tensor %s is no object graph", name, TW__GRAPH_KEY);
    return TW_OK;
}

void tw__saved_graph_free(tw__saved_graph *graph)
{
    for (size_t i = 0; i < graph->count; i++) {
        tw__free(graph->nodes[i].children);
        tw__free(graph->nodes[i].attributes);
        tw__free(graph->nodes[i].slots);
    }
    tw__free(graph->nodes);
    tw__free(graph->bytes);
    *graph = (tw__saved_graph){ 0 };
}

/* ---- names ---- */

void tw__saved_names_free(tw__saved_names *names)
{
    tw__free(names->ways);
    tw__free(names->queue);
    *names = (tw__saved_names){ 0 };
}

tw_status tw__saved_names_find(tw__saved_names *names, const tw__saved_graph *graph)
{
    *names = (tw__saved_names){ .ways = tw__alloc_array(graph->count, sizeof *names->ways) };
    names->queue = names->ways ? tw__alloc_array(graph->count, sizeof *names->queue) : NULL;
    if (!names->queue) {
        tw__saved_names_free(names);
        return TW_RESOURCE_EXHAUSTED;
    }
    size_t count = 1;
    names->ways[0].kind = TW__WAY_ROOT;
    names->queue[0] = 0;
    for (size_t next = 0; next < count; next++) {
        const tw__saved_node *node = &graph->nodes[names->queue[next]];
        for (size_t i = 0; i < node->child_count; i++) {
            struct tw__way *way = &names->ways[node->children[i].node];
            if (way->kind != TW__WAY_NONE)
                continue;
            *way = (struct tw__way){ TW__WAY_CHILD, names->queue[next], 0, node->children[i].name };
            names->queue[count++] = node->children[i].node;
        }
    }
    for (size_t i = 0; i < graph->count; i++) {
        for (size_t k = 0; k < graph->nodes[i].slot_count; k++) {
            const tw__saved_slot *slot = &graph->nodes[i].slots[k];
            struct tw__way *way = &names->ways[slot->node];
            if (way->kind == TW__WAY_NONE && names->ways[i].kind != TW__WAY_SLOT &&
                names->ways[slot->variable].kind != TW__WAY_SLOT)
                *way = (struct tw__way){ TW__WAY_SLOT, i, slot->variable, slot->name };
        }
    }
    return TW_OK;
}

void tw__saved_name_add(tw__text *text, tw__saved_names *names, size_t node)
{
    const struct tw__way *way = &names->ways[node];
    if (way->kind == TW__WAY_SLOT) {
        tw__saved_name_add(text, names, way->from);
        tw__text_add(text, "'s state '");
        tw__text_bytes(text, way->name.data, way->name.size);
        tw__text_add(text, "' for ");
        tw__saved_name_add(text, names, way->variable);
        return;
    }
    size_t depth = 0;
    for (; way->kind == TW__WAY_CHILD; way = &names->ways[way->from])
        names->queue[depth++] = (size_t)(way - names->ways);
    if (way->kind == TW__WAY_NONE)
        tw__text_format(text, "node %zu", node);
    else
        tw__text_add(text, "(root)");
    while (depth-- > 0) {
        const struct tw__way *part = &names->ways[names->queue[depth]];
        tw__text_add(text, ".");
        tw__text_bytes(text, part->name.data, part->name.size);
    }
}

/* ---- protobuf's text format ---- */

static void print_text(tw__text *text, const char *field, tw__saved_text value)
{
    if (!value.size)
        return;
    tw__text_format(text, "  %s: \"", field);
    for (size_t i = 0; i < value.size; i++) {
        unsigned char c = (unsigned char)value.data[i];
        if (c == '"' || c == '\\' || c == '\'')
            tw__text_format(text, "\\%c", c);
        else if (c == '\n')
            tw__text_add(text, "\\n");
        else if (c == '\r')
            tw__text_add(text, "\\r");
        else if (c == '\t')
            tw__text_add(text, "\\t");
        else if (c < 32 || c > 126)
            tw__text_format(text, "\\%03o", c);
        else
            tw__text_bytes(text, &c, 1);
    }
    tw__text_add(text, "\"\n");
}

static void print_number(tw__text *text, const char *field, size_t value)
{
    if (value)
        tw__text_format(text, "  %s: %zu\n", field, value);
}

void tw__saved_node_print(tw__text *text, const tw__saved_node *node)
{
    for (size_t i = 0; i < node->child_count; i++) {
        tw__text_add(text, "children {\n");
        print_number(text, "node_id", node->children[i].node);
        print_text(text, "local_name", node->children[i].name);
        tw__text_add(text, "}\n");
    }
    for (size_t i = 0; i < node->attribute_count; i++) {
        tw__text_add(text, "attributes {\n");
        print_text(text, "name", node->attributes[i].name);
        print_text(text, "full_name", node->attributes[i].full_name);
        print_text(text, "checkpoint_key", node->attributes[i].key);
        tw__text_add(text, "}\n");
    }
    for (size_t i = 0; i < node->slot_count; i++) {
        tw__text_add(text, "slot_variables {\n");
        print_number(text, "original_variable_node_id", node->slots[i].variable);
        print_text(text, "slot_name", node->slots[i].name);
        print_number(text, "slot_variable_node_id", node->slots[i].node);
        tw__text_add(text, "}\n");
    }
    if (node->has_saver) {
        tw__text_add(text, "registered_saver {\n");
        print_text(text, "name", node->saver.name);
        print_text(text, "object_name", node->saver.object_name);
        tw__text_add(text, "}\n");
    }
    if (node->says_values)
        tw__text_format(text, "has_checkpoint_values {\n%s}\n", node->has_values ? "  value: true\n" : "");
}
