/* Control dependencies of lasting graphs: nodes made inside a scope run after the scope's nodes.
 *
 * A node one of whose inputs was itself made inside the scope follows it already, and gets no control input of its own. A scope
 * that clears hides the scopes around it. */
#include "graph/graph.h"

typedef struct tw__control_scope {
    struct tw__control_scope *outer;
    tw__node **nodes;
    int count;
    bool clear;
    int32_t first; /* the node that is made next: those from it on were made inside */
} tw__control_scope;

_Thread_local const char *tw__colocation;

const char *tw__colocate(const char *name)
{
    const char *before = tw__colocation;
    tw__colocation = name;
    return before;
}

tw_status tw__control_push(tw__graph *graph, tw__node *const *nodes, int count, bool clear)
{
    tw__control_scope *scope = tw__alloc_zero(sizeof *scope);
    tw__node **copy = tw__alloc_array((size_t)count + 1, sizeof *copy);
    if (!scope || !copy) {
        tw__free(scope);
        tw__free(copy);
        return TW_RESOURCE_EXHAUSTED;
    }
    if (count)
        memcpy(copy, nodes, (size_t)count * sizeof *copy);
    for (int i = 0; i < count; i++)
        copy[i]->manual = true;
    *scope = (tw__control_scope){ graph->controls, copy, count, clear, (int32_t)graph->node_count };
    graph->controls = scope;
    return TW_OK;
}

void tw__control_pop(tw__graph *graph)
{
    tw__control_scope *scope = graph->controls;
    if (!scope)
        return;
    graph->controls = scope->outer;
    tw__free(scope->nodes);
    tw__free(scope);
}

void tw__control_free(tw__graph *graph)
{
    while (graph->controls)
        tw__control_pop(graph);
}

static bool is_input(const tw__node *node, const tw__node *other)
{
    for (int i = 0; i < node->input_count; i++) {
        if (node->inputs[i].node == other)
            return true;
    }
    return false;
}

tw_status tw__control_apply(tw__node *node)
{
    for (const tw__control_scope *scope = node->graph->controls; scope; scope = scope->outer) {
        bool follows = false;
        for (int i = 0; i < node->input_count && !follows; i++)
            follows = node->inputs[i].node->id >= scope->first;
        for (int i = 0; i < scope->count && !follows; i++) {
            if (!is_input(node, scope->nodes[i]))
                TW_TRY(tw__node_follow(node, scope->nodes[i]));
        }
        if (scope->clear)
            break;
    }
    return TW_OK;
}
