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
        tw__put_NodeDef_input(text, name, strlen(name));
    text->failed |= !name;
    tw__free(name);
}

/* An attr that is no op's own: an entry, up to its value; where both begin. */
typedef struct note {
    size_t entry, value;
} note;

static note open_note(tw__text *text, const char *name)
{
    note made = { .entry = tw__open_NodeDef_attr(text) };
    tw__put_NodeDef_attr_key(text, name, strlen(name));
    made.value = tw__open_NodeDef_attr_value(text);
    return made;
}

static void close_note(tw__text *text, note made)
{
    tw__close(text, made.value);
    tw__close(text, made.entry);
}

static void write_notes(tw__text *text, const tw__node *node, bool function)
{
    if (node->gradient_type) {
        note made = open_note(text, TW_GRADIENT_NOTE);
        tw__put_AttrValue_s(text, node->gradient_type, strlen(node->gradient_type));
        close_note(text, made);
    }
    if (function)
        return;
    if (node->colocation) {
        note made = open_note(text, "_class");
        size_t list = tw__open_AttrValue_list(text), group = tw__open_AttrValue_ListValue_s(text);
        tw__text_format(text, "loc:@%s", node->colocation);
        tw__close(text, group);
        tw__close(text, list);
        close_note(text, made);
    }
    if (node->manual) {
        note made = open_note(text, "_has_manual_control_dependencies");
        tw__put_AttrValue_b(text, true);
        close_note(text, made);
    }
}

/* The shapes of the outputs, as the graph knows them. */
static tw_status write_shapes(tw__text *text, const tw__node *node, int count)
{
    tw_attr attr = { .name = TW_SHAPES_NOTE, .kind = TW_ATTR_SHAPES, .count = count, .shapes = node->out_shapes };
    return count ? tw__attr_message_write(text, TW_NodeDef_attr, &attr, NULL) : TW_OK;
}

static tw_status write_node(tw__text *text, const tw__node *base, tw__node_writer *writer)
{
    const tw__node *node = tw__node_richest(base);
    tw__put_NodeDef_name(text, node->name, strlen(node->name));
    tw__put_NodeDef_op(text, node->op->name, strlen(node->op->name));
    for (int i = 0; i < node->input_count; i++) {
        char *input = tw__edge_text(node->inputs[i], writer);
        if (!input)
            return TW_RESOURCE_EXHAUSTED;
        tw__put_NodeDef_input(text, input, strlen(input));
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
        tw__put_NodeDef_device(text, base->device, strlen(base->device));
    for (int i = 0; i < node->attr_count - (node->op->plain != NULL); i++) { /* a guard's own attr is the last */
        if (tw__attr_message_write(text, TW_NodeDef_attr, &node->attrs[i], &writer->functions) != TW_OK) {
            tw__error_prefix("node '%s' (%s): ", node->name, node->op->name);
            return tw__error_status();
        }
    }
    write_notes(text, base, writer->function);
    if (writer->shapes)
        TW_TRY(write_shapes(text, base, node->output_count));
    return text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}

tw_status tw__graph_write_nodes(tw__text *text, uint32_t number, const tw__graph *graph, tw__node_writer *writer)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        if (is_argument(writer, graph->nodes[i]))
            continue;
        size_t node = tw__open(text, number);
        TW_TRY(write_node(text, graph->nodes[i], writer));
        tw__close(text, node);
    }
    return text->failed ? TW_RESOURCE_EXHAUSTED : TW_OK;
}
