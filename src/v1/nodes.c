/* Nodes with names that the caller gives; outside of graphs, calls that run at once. */
#include "v1/v1.h"

tw_status tw__v1_call(const tw_op *op, const char *name, tw_tensor *const *inputs, int count, const tw_attr *attrs,
                      int attr_count, tw_tensor **outputs, int output_count, tw__node **made)
{
    if (!tw__tracing)
        return tw__apply(op, inputs, count, attrs, attr_count, outputs, &output_count);
    tw__graph *graph = tw__tracing;
    tw__naming naming = tw__naming_start();
    tw_status status = tw__apply(op, inputs, count, attrs, attr_count, outputs, &output_count);
    tw__node *node = status == TW_OK ? graph->nodes[graph->node_count - 1] : NULL;
    if (status == TW_OK && name)
        status = tw__node_name(node, name);
    tw_status named = tw__naming_end(naming, NULL, NULL, NULL);
    if (made)
        *made = node;
    return status == TW_OK ? named : status;
}

tw_tensor *tw__v1_constant(tw_tensor *value, const char *name)
{
    if (!value || !tw__tracing)
        return tw_retain(value);
    return tw__graph_constant(tw__tracing, value, name);
}

tw_tensors tw__tensors_of_one(tw_tensor *tensor)
{
    tw_tensors list = { tensor ? tw__alloc_array(1, sizeof(tw_tensor *)) : NULL, 0 };
    if (list.items)
        list.items[list.count++] = tensor;
    else
        tw_release(tensor);
    return list;
}
