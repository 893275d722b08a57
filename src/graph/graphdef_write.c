/* A graph's nodes as NodeDefs; see graphdef.h.
 *
 * Here the order of nodes is the order of their effects; TensorFlow knows only edges. So in a graph that was traced every node
 * with effects is written with a control input from the one before it, unless it follows that one anyway. */
#include "graph/graphdef.h"

static bool is_argument(const tw__node_writer *writer, const tw__node *node)
{
    return writer->arguments && tw__pointer_map_get(writer->arguments, node, -1) >= 0;
}

/* The named output that a flat one belongs to, and its place in it. */
static const char *output_name(const tw__node *node, int output, int *place)
{
    const tw__op_signature *signature = tw__op_signature_of(node->op);
    for (int i = 0; signature && i < signature->output_count; i++) {
        const char *name = signature->outputs[i].name;
        int count = 0, first = tw__node_output_range(node, (tw_string){ name, strlen(name) }, &count);
        if (output >= first && output - first < count) {
            *place = output - first;
            return name;
        }
    }
    *place = output;
    return "output";
}

char *tw__edge_text(tw__edge edge, const tw__node_writer *writer)
{
    if (writer->function && !is_argument(writer, edge.node)) {
        int place;
        const char *name = output_name(tw__node_richest(edge.node), edge.output, &place);
        return tw__format("%s:%s:%d", edge.node->name, name, place);
    }
    if (writer->function)
        return tw__strdup(writer->argument_names[tw__pointer_map_get(writer->arguments, edge.node, 0)]);
    return edge.output ? tw__format("%s:%d", edge.node->name, edge.output) : tw__strdup(edge.node->name);
}

static bool follows(const tw__node *node, const tw__node *earlier)
{
    for (int i = 0; i < node->input_count; i++) {
        if (node->inputs[i].node == earlier)
            return true;
    }
    for (int i = 0; i < node->control_count; i++) {
        if (node->controls[i] == earlier)
            return true;
    }
    return false;
}

static void write_control(tw__text *text, const tw__node *earlier)
{
    char *name = tw__format("^%s", earlier->name);
    if (name)
        tw__proto_add_bytes(text, 3, name, strlen(name));
    text->failed |= !name;
    tw__free(name);
}

/* An attr that is no op's own; `value` is an AttrValue, and is freed. */
static void write_note(tw__text *text, const char *name, tw__text *value)
{
    tw__text pair = { 0 };
    tw__proto_add_bytes(&pair, 1, name, strlen(name));
    tw__proto_add_bytes(&pair, 2, value->data, value->size);
    tw__proto_add_bytes(text, 5, pair.data, pair.size);
    text->failed |= pair.failed || value->failed;
    tw__text_free(&pair);
    tw__text_free(value);
}

static void write_notes(tw__text *text, const tw__node *node, bool function)
{
    tw__text value = { 0 };
    if (node->gradient_type) {
        tw__proto_add_bytes(&value, 2, node->gradient_type, strlen(node->gradient_type));
        write_note(text, TW_GRADIENT_NOTE, &value);
    }
    if (function)
        return;
    if (node->colocation) {
        char *group = tw__format("loc:@%s", node->colocation);
        tw__text list = { 0 };
        if (group)
            tw__proto_add_bytes(&list, 2, group, strlen(group));
        tw__proto_add_bytes(&value, 1, list.data, list.size);
        value.failed |= list.failed || !group;
        tw__text_free(&list);
        tw__free(group);
        write_note(text, "_class", &value);
    }
    if (node->manual) {
        tw__proto_add_varint(&value, 5, 1);
        write_note(text, "_has_manual_control_dependencies", &value);
    }
}

static tw_status write_node(tw__text *text, const tw__node *base, tw__node_writer *writer)
{
    const tw__node *node = tw__node_richest(base);
    tw__proto_add_bytes(text, 1, node->name, strlen(node->name));
    tw__proto_add_bytes(text, 2, node->op->name, strlen(node->op->name));
    for (int i = 0; i < node->input_count; i++) {
        char *input = tw__edge_text(node->inputs[i], writer);
        if (!input)
            return TW_RESOURCE_EXHAUSTED;
        tw__proto_add_bytes(text, 3, input, strlen(input));
        tw__free(input);
    }
    for (int i = 0; i < node->control_count; i++) {
        if (!is_argument(writer, node->controls[i]))
            write_control(text, node->controls[i]);
    }
    if (writer->ordered && node->op->stateful) {
        if (writer->last_effect && !follows(node, writer->last_effect))
            write_control(text, writer->last_effect);
        writer->last_effect = base;
    }
    if (base->device)
        tw__proto_add_bytes(text, 4, base->device, strlen(base->device));
    for (int i = 0; i < node->attr_count - (node->op->plain != NULL); i++) { /* a guard's own attr is the last */
        if (tw__attr_message_write(text, &node->attrs[i], &writer->functions) != TW_OK) {
            tw__error_prefix("node '%s' (%s): ", node->name, node->op->name);
            return tw__error_status();
        }
    }
    write_notes(text, base, writer->function);
    return text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

tw_status tw__graph_write_nodes(tw__text *text, uint32_t number, const tw__graph *graph, tw__node_writer *writer)
{
    tw__text node = { 0 };
    tw_status status = TW_OK;
    for (size_t i = 0; status == TW_OK && i < graph->node_count; i++) {
        if (is_argument(writer, graph->nodes[i]))
            continue;
        tw__text_clear(&node);
        status = write_node(&node, graph->nodes[i], writer);
        tw__proto_add_bytes(text, number, node.data, node.size);
    }
    tw__text_free(&node);
    return status == TW_OK && text->failed ? TW_RESOURCE_EXHAUSTED : status;
}
