/* Operations that stand for others: what a function did to the graph, as one thing to run. */
#include "rows.h"
#include "session/session.h"

struct tw_operation *tw__group(tw__graph *graph, tw__node *const *nodes, int count, const char *name)
{
    tw__naming naming = graph == tw__tracing ? tw__naming_begin() : (tw__naming){ NULL, 0, NULL };
    tw__node *node = tw__graph_add(graph, &tw__op_NoOp, NULL, NULL, 0, NULL, 0, NULL, NULL, 0);
    tw_status status = node ? TW_OK : tw__error_status();
    for (int i = 0; status == TW_OK && i < count; i++) {
        nodes[i]->manual = true;
        status = tw__node_follow(node, nodes[i]);
    }
    tw_status named = tw__naming_end(naming, NULL, name, NULL);
    return status == TW_OK && named == TW_OK ? tw__operation_of(node) : NULL;
}

static tw__node *node_of(void *object)
{
    if (tw__is(object, &tw__class_operation))
        return ((struct tw_operation *)object)->node;
    return tw__is(object, &tw__tensor_class) ? ((tw_tensor *)object)->node : NULL;
}

TW_API(
    group, "_group(inputs: list<object>, name: str = 'group_deps') -> value",
    "An operation that runs after all of these, tensors and operations of the graph that is built, have run; None outside of graphs.")
{
    tw_value none = { .kind = TW_VALUE_NONE };
    tw__node **nodes = tw__tracing ? tw__alloc_array((size_t)args->inputs.count + 1, sizeof *nodes) : NULL;
    int count = 0;
    for (int64_t i = 0; nodes && i < args->inputs.count; i++) {
        tw__node *node = node_of(args->inputs.items[i]);
        if (node && node->graph == tw__tracing) {
            nodes[count++] = node;
        } else if (tw__tracing->lasting && node) {
            tw__fail(TW_VALUE_ERROR, "group: %s is not an element of this graph", node->name);
            tw__free(nodes);
            return none;
        } /* else it was computed before the function runs */
    }
    struct tw_operation *operation = nodes ? tw__group(tw__tracing, nodes, count, args->name ? args->name : "group_deps") : NULL;
    tw__free(nodes);
    return operation ? (tw_value){ .kind = TW_VALUE_OBJECT, .object = operation } : none;
}

tw__node **tw__effects_since(const tw__graph *graph, size_t since, int *count)
{
    tw__node **nodes = tw__alloc_array(graph->node_count + 1, sizeof *nodes);
    *count = 0;
    for (size_t i = since; nodes && i < graph->node_count; i++) {
        tw__node *node = graph->nodes[i];
        tw__role role = node->op->role;
        bool first = role == TW_ROLE_ASSIGN && tw__ends_with(node->name, "/Assign"); /* a new variable's initializer */
        bool calls = role == TW_ROLE_CALL || role == TW_ROLE_BRANCH || role == TW_ROLE_LOOP;
        if (node->op->stateful && !first && (calls || !node->output_count))
            nodes[(*count)++] = node;
    }
    return nodes;
}

TW_API(group_effects, "compat.v1._group_effects(since: int, name: str = None) -> operation",
       "An operation that follows everything with effects that was added to the default graph since it had so many operations.")
{
    tw__graph *graph = tw__graph_root(tw__tracing);
    if (!graph) {
        tw__fail(TW_RUNTIME_ERROR, "group: there is no graph");
        return NULL;
    }
    int count = 0;
    tw__owned tw__node **nodes = tw__effects_since(graph, args->since > 0 ? (size_t)args->since : 0, &count);
    return nodes ? tw__group(graph, nodes, count, args->name ? args->name : "group_deps") : NULL;
}
