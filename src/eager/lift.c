/* Lifting: the value of a symbolic tensor, computed while the graph is still being traced.
 *
 * A variable that is made inside a traced function gets its first value at once; what the function computed for it stands in the
 * graph. The nodes it needs are run one by one, outside of the trace. Arguments of the function have no value yet, nor have
 * variables whose own first value waits for the call: what depends on them can't be lifted. */
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
    TW_NEED(out);
    l->values[node->id] = out;
    if (tw__node_is(node, TW_ROLE_PLACEHOLDER)) {
        tw_tensor *outside = captured(l->graph, node); /* tw__can_lift saw to it that there is one */
        out[0] = outside->node ? tw__lift(outside) : tw_retain(outside);
        return out[0] ? TW_OK : tw__error_status();
    }
    tw__owned tw_tensor **inputs = tw__alloc_array((size_t)node->input_count + 1, sizeof *inputs);
    TW_NEED(inputs);
    for (int i = 0; i < node->input_count; i++)
        inputs[i] = l->values[node->inputs[i].node->id][node->inputs[i].output];
    int count = node->output_count;
    return tw__apply(node->op, inputs, node->input_count, node->attrs, node->attr_count, out, &count);
}

/* Whether the graph may change the variable that the node reads, before it does so. */
static bool reads_changed(const tw__graph *graph, const tw__node *node)
{
    bool changed = false;
    for (int32_t i = 0; node->op->reads_variable && i < node->id && !changed; i++) {
        const tw__node *earlier = graph->nodes[i];
        for (int k = 0; earlier->op->stateful && !earlier->op->reads_variable && k < earlier->input_count; k++)
            changed |= earlier->inputs[k].node == node->inputs[0].node;
    }
    return changed;
}

/* The node keeps what stands above it from being lifted: an argument, a variable without a value, a read of what the graph
 * changed. */
static bool is_open(const tw__graph *graph, const tw__node *node)
{
    if (!tw__node_is(node, TW_ROLE_PLACEHOLDER))
        return reads_changed(graph, node);
    const tw_tensor *outside = captured(graph, node);
    if (!outside)
        return true;
    if (outside->node)
        return !tw__can_lift(outside, NULL);
    const tw_object *object = outside->dtype == TW_RESOURCE ? *(tw_object *const *)outside->data : NULL;
    return tw__is(object, &tw__resource_class) && !((const tw__resource *)object)->value;
}

/* "add (AddV2) <- Sum (Sum) <- x (Placeholder)" */
static char *explain(const tw_tensor *symbolic, const tw__node *open, const int32_t *user)
{
    tw__text path = { 0 };
    for (const tw__node *node = open; node;
         node = node == symbolic->node ? NULL : symbolic->node->graph->nodes[user[node->id] - 1]) {
        tw__text longer = { 0 };
        tw__text_format(&longer, "%s (%s)%s%s", node->name, node->op->name, path.size ? " <- " : "", path.size ? path.data : "");
        tw__text_free(&path);
        path = longer;
    }
    tw__owned char *way = tw__text_take(&path), *shape = tw__shape_tuple(&symbolic->shape);
    return way && shape
               ? tw__format(
                     "Unable to lift tensor <tf.Tensor '%s:%d' shape=%s dtype=%s> because it depends transitively on placeholder "
                     "<tf.Operation '%s' type=Placeholder> via at least one path, e.g.: %s",
                     symbolic->node->name, symbolic->node_output, symbolic->shape.rank < 0 ? "<unknown>" : shape,
                     tw_dtype_name(symbolic->dtype), open->name, way)
               : NULL;
}

bool tw__can_lift(const tw_tensor *symbolic, char **why)
{
    if (symbolic->symbolic_value)
        return true;
    const tw__node *last = symbolic->node, *open = NULL;
    int32_t *user =
        tw__alloc_array((size_t)last->id + 1, sizeof *user); /* by node: one that uses it, plus one; 0: it is not needed */
    if (!user) {
        tw_clear_error(); /* lifting reports it */
        return true;
    }
    user[last->id] = last->id + 1;
    for (int32_t i = last->id; i >= 0 && !open; i--) {
        const tw__node *node = last->graph->nodes[i];
        if (user[i] && is_open(last->graph, node))
            open = node->op->reads_variable ? node->inputs[0].node : node;
        for (int k = 0; user[i] && k < node->input_count; k++) {
            int32_t *of = &user[node->inputs[k].node->id];
            *of = *of ? *of : i + 1;
        }
    }
    if (open && why)
        *why = explain(symbolic, open, user);
    tw__free(user);
    return !open;
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
    tw__owned bool *needed = tw__alloc_array(count, sizeof *needed);
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
    return result;
}
