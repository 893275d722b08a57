/* Functions that are made of several calls, in lasting graphs: their scope, and the names of the nodes inside. See graph.h. */
#include "graph/graph.h"
#include "rows.h"

static tw__part start(void)
{
    tw__part part = { 0 };
    if (tw__in_graph()) {
        part.graph = tw__tracing;
        part.waiting = tw__naming_wait(NULL);
    }
    return part;
}

tw__part tw__part_plain(void)
{
    tw__part part = start();
    part.name = part.graph ? tw__strdup("") : NULL;
    return part;
}

tw__part tw__part_begin(const char *given, const char *usual)
{
    tw__part part = start();
    if (!part.graph)
        return part;
    const char *name = given && *given ? given : usual;
    if (tw__scope_push(name) != TW_OK)
        return part;
    const char *scope = tw__scope();
    size_t size = strlen(scope);
    part.name = tw__strndup(scope, size ? size - 1 : 0);
    if (!part.name)
        tw__scope_pop();
    return part;
}

tw_status tw__part_end(tw__part *part)
{
    if (!part->graph)
        return TW_OK;
    if (part->name && *part->name)
        tw__scope_pop();
    tw__naming_wait(part->waiting);
    tw_status status = part->name ? TW_OK : tw__error_status();
    tw__free(part->name);
    *part = (tw__part){ 0 };
    return status;
}

tw_tensor *tw__part_result(tw__part *part, tw_tensor *result)
{
    if (tw__part_end(part) == TW_OK)
        return result;
    tw_release(result);
    return NULL;
}

/* The whole name that is asked for, unique but for the scope's own; for tw__free. */
static char *whole_name(const tw__part *part, const char *name)
{
    if (!*name)
        return tw__strdup(part->name ? part->name : "");
    tw__owned char *inside = tw__format("%s%s", tw__scope(), name);
    return inside ? tw__graph_unique_name(part->graph, inside, true) : NULL;
}

tw_tensor *tw__part_constant(const tw__part *part, tw_tensor *value, const char *name)
{
    if (!value || !part->graph || value->node)
        return tw_retain(value);
    tw__owned char *whole = whole_name(part, name);
    return whole ? tw__graph_constant(part->graph, value, whole) : NULL;
}

tw_status tw__part_apply(const tw__part *part, const char *name, const tw_op *op, tw_tensor *const *inputs, int input_count,
                         const tw_attr *attrs, int attr_count, tw_tensor **outputs, int *output_count)
{
    if (!part->graph || !name)
        return tw__apply(op, inputs, input_count, attrs, attr_count, outputs, output_count);
    tw__owned char *whole = whole_name(part, name);
    tw__naming naming = tw__naming_start();
    tw_status status = whole ? tw__apply(op, inputs, input_count, attrs, attr_count, outputs, output_count) : tw__error_status();
    bool made = status == TW_OK && *output_count;
    tw__node *node = made ? tw__node_checked(outputs[0]->node) : NULL;
    if (node && node->unnamed)
        status = tw__node_name(node, whole);
    char *exact = status == TW_OK || !whole ? NULL : tw__format("%s/", whole); /* for the error that tells of it */
    tw_status named = tw__naming_end(naming, NULL, exact, made ? outputs[0] : NULL);
    tw__free(exact);
    status = status == TW_OK ? named : status;
    for (int i = 0; made && status != TW_OK && i < *output_count; i++)
        tw_release(outputs[i]);
    return status;
}

tw_tensor *tw__part_call(const tw__part *part, const char *name, const tw_op *op, tw_tensor *const *inputs, int input_count,
                         const tw_attr *attrs, int attr_count)
{
    tw_tensor *result = NULL;
    int count = 1;
    for (int i = 0; i < input_count; i++) {
        if (!inputs[i]) {
            tw__fail(TW_INVALID_ARGUMENT, "%s: input %d is NULL", op->name, i);
            return NULL;
        }
    }
    return tw__part_apply(part, name, op, inputs, input_count, attrs, attr_count, &result, &count) == TW_OK ? result : NULL;
}
