/* Which nodes of a graph become steps: those that the outputs need, and those that have effects of their own. */
#include "exec/internal.h"

static void need(int32_t *needed, tw__edge edge)
{
    if (needed[edge.node->id] <= edge.output)
        needed[edge.node->id] = edge.output + 1;
}

int32_t *tw__pass_prune(const tw__graph *graph, const tw__edge *outputs, int output_count)
{
    int32_t *needed = tw__alloc_array(graph->node_count + 1, sizeof *needed);
    if (!needed)
        return NULL;
    for (int i = 0; i < output_count; i++)
        need(needed, outputs[i]);
    for (size_t i = graph->node_count; i-- > 0;) {
        const tw__node *node = graph->nodes[i];
        if (node->op->stateful && !tw__op_reads_only(node->op) && !needed[i])
            needed[i] = 1;
        node = tw__node_form(node, needed[i]);
        for (int k = 0; needed[i] && k < node->input_count; k++)
            need(needed, node->inputs[k]);
        for (int k = 0; needed[i] && k < node->control_count; k++)
            need(needed, (tw__edge){ node->controls[k], 0 });
    }
    return needed;
}
