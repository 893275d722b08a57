/* What orders operations: tf.no_op, tf.tuple. */
#include "api/debugging/debugging.h"
#include "op/calls.h"
#include "eager/eager.h"
#include "session/session.h"
#include "rows.h"

TW_API(no_op, "no_op|compat.v1.no_op(name: str = None) -> value",
       "Nothing; in a graph an operation that others may be ordered by.")
{
    return tw__check_passed();
}

TW_API(tuple, "tuple(tensors: tensors?, control_inputs: list<object> = None, name: str = None) -> tensors",
       "The tensors, each after all of them and the control inputs were computed. Members may be None.\n"
       "tensors: tensors, some of which may be None\n"
       "control_inputs: tensors or operations that must be computed first, too")
{
    int64_t count = args->tensors.count;
    tw_tensors out = { tw__alloc_array((size_t)count + 1, sizeof(tw_tensor *)), count };
    bool lasting = tw__in_lasting(), any = false;
    tw__part part = tw__part_begin(args->name, "tuple");
    tw__node **nodes = tw__alloc_array((size_t)count + (size_t)args->control_inputs.count + 1, sizeof *nodes), *gate = NULL;
    int node_count = 0;
    for (int64_t i = 0; nodes && i < count; i++) {
        any |= args->tensors.items[i] != NULL;
        if (args->tensors.items[i] && args->tensors.items[i]->node)
            nodes[node_count++] = args->tensors.items[i]->node;
    }
    for (int64_t i = 0; nodes && i < args->control_inputs.count; i++) {
        void *object = args->control_inputs.items[i];
        tw__node *node = tw__is(object, &tw__class_operation) ? ((struct tw_operation *)object)->node
                         : tw__is(object, &tw__tensor_class)  ? ((tw_tensor *)object)->node
                                                              : NULL;
        if (node)
            nodes[node_count++] = node;
    }
    tw_status status = !out.items || !nodes ? TW_RESOURCE_EXHAUSTED : TW_OK;
    if (status == TW_OK && tw__tracing && !any)
        status = tw__fail(TW_VALUE_ERROR, "'tensors' must have at least one Tensor.");
    struct tw_operation *group = status == TW_OK && lasting ? tw__group(tw__tracing, nodes, node_count, "group_deps") : NULL;
    gate = group ? group->node : NULL;
    if (lasting && !gate)
        status = tw__error_status();
    for (int64_t i = 0; status == TW_OK && i < count; i++) {
        tw_tensor *tensor = args->tensors.items[i];
        out.items[i] = !tensor || !tw__tracing
                           ? tw_retain(tensor)
                           : tw__part_call(&part, "control_dependency", &tw__op_Identity, &tensor, 1, NULL, 0);
        if (tensor && !out.items[i])
            status = tw__error_status();
        else if (gate && out.items[i])
            status = tw__node_follow(out.items[i]->node, gate);
    }
    tw_release(group);
    tw__free(nodes);
    tw_status ended = tw__part_end(&part);
    if (status != TW_OK || ended != TW_OK)
        tw_tensors_free(&out);
    return out;
}
