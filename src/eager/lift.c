/* Lifting: the value of a symbolic tensor, computed while the graph is still being traced.
 *
 * A variable that is made inside a traced function gets its first value at once; what the function computed for it stands in the graph.
 * The nodes it needs are run one by one, outside of the trace. Arguments of the function have no value yet, so nothing may depend on
 * them. */
#include "eager/eager.h"
#include "graph/graph.h"
#include "rows.h"

typedef struct lifting {
    tw__graph *graph;
    tw_tensor ***values; /* by node, then by output */
} lifting;

static tw_tensor *captured(const tw__graph *graph, const tw__node *node)
{
    for (size_t i = 0; i < graph->capture_count; i++) {
        if (graph->captures[i].inside == node)
            return graph->captures[i].outside;
    }
    return NULL;
}

static tw_status lift_node(lifting *l, const tw__node *node)
{
    tw_tensor **out = tw__alloc_array((size_t)node->output_count + 1, sizeof *out);
    if (!out)
        return TW_RESOURCE_EXHAUSTED;
    l->values[node->id] = out;
    if (node->op == &tw__op_Placeholder) {
        tw_tensor *outside = captured(l->graph, node);
        if (!outside)
            return tw__fail(TW_VALUE_ERROR,
                            "the initial value of a tf.Variable made inside a tf.function depends on the argument '%s' of the function: pass a "
                            "function that computes it, or make the variable outside",
                            node->name);
        out[0] = outside->node ? tw__lift(outside) : tw_retain(outside);
        return out[0] ? TW_OK : tw__error_status();
    }
    tw_tensor **inputs = tw__alloc_array((size_t)node->input_count + 1, sizeof *inputs);
    if (!inputs)
        return TW_RESOURCE_EXHAUSTED;
    for (int i = 0; i < node->input_count; i++)
        inputs[i] = l->values[node->inputs[i].node->id][node->inputs[i].output];
    int count = node->output_count;
    tw_status status = tw__apply(node->op, inputs, node->input_count, node->attrs, node->attr_count, out, &count);
    tw__free(inputs);
    return status;
}

static tw_status lift_all(lifting *l, const tw__node *last, bool *needed)
{
    needed[last->id] = true;
    for (int32_t i = last->id; i >= 0; i--) {
        const tw__node *node = l->graph->nodes[i];
        for (int k = 0; needed[i] && k < node->input_count; k++)
            needed[node->inputs[k].node->id] = true;
    }
    for (int32_t i = 0; i <= last->id; i++) {
        if (needed[i])
            TW_TRY(lift_node(l, l->graph->nodes[i]));
    }
    return TW_OK;
}

tw_tensor *tw__lift(tw_tensor *symbolic)
{
    if (symbolic->symbolic_value)
        return tw_retain(symbolic->symbolic_value);
    lifting l = { symbolic->node->graph, NULL };
    size_t count = (size_t)symbolic->node->id + 1;
    l.values = tw__alloc_array(count, sizeof *l.values);
    bool *needed = tw__alloc_array(count, sizeof *needed);
    tw_tensor *result = NULL;
    if (l.values && needed) {
        tw__outside outside = tw__outside_begin();
        if (lift_all(&l, symbolic->node, needed) == TW_OK)
            result = tw_retain(l.values[symbolic->node->id][symbolic->node_output]);
        tw__outside_end(outside);
    }
    for (size_t i = 0; l.values && i < count; i++) {
        for (int k = 0; l.values[i] && k < l.graph->nodes[i]->output_count; k++)
            tw_release(l.values[i][k]);
        tw__free(l.values[i]);
    }
    tw__free(l.values);
    tw__free(needed);
    return result;
}
