/* Variables of lasting graphs: five nodes each.
 *
 *     w                                    VarHandleOp
 *     w/Initializer/initial_value          Const, if the first value was no tensor of the graph
 *     w/IsInitialized/VarIsInitializedOp
 *     w/Assign                             AssignVariableOp: its initializer
 *     w/Read/ReadVariableOp                what a session gives when it is asked for the variable
 *
 * The variable has a handle of its own as any other, on a resource without a value. The graph knows that handle as captured by
 * the node w, so everything that uses variables works unchanged; a session feeds w with a handle on the state that it holds. */
#include "eager/eager.h"
#include "graph/graph.h"
#include "rows.h"

_Thread_local const char *const *tw__variable_collections;

static void graph_ended(tw_object *member)
{
    if (!tw__is(member, &tw__class_variable))
        return;
    tw_variable *variable = (tw_variable *)member;
    variable->graph = NULL;
    variable->handle_node = variable->initializer = variable->snapshot = variable->initial = NULL;
}

static tw__node *add(tw_variable *variable, const tw_op *op, const char *suffix, const tw__edge *inputs, int input_count,
                     const tw_attr *attrs, int attr_count, tw_dtype dtype, const tw_shape *shape, int outputs)
{
    tw__owned char *name = tw__format("%s%s", variable->resource->name, suffix);
    tw_attr complete[TW_MAX_ATTRS];
    tw_dtype in_dtypes[2], out_dtypes[1];
    int count = 0;
    for (int i = 0; i < input_count; i++)
        in_dtypes[i] = inputs[i].node->out_dtypes[inputs[i].output];
    tw__node *node = NULL;
    if (name && tw__op_resolve(op, in_dtypes, input_count, attrs, attr_count, complete, out_dtypes, outputs, &count) == TW_OK)
        node = tw__graph_add(variable->graph, op, name, inputs, input_count, complete, tw__op_signature_of(op)->attr_count,
                             &dtype, shape, count);
    return node;
}

static tw_status add_nodes(tw_variable *variable, tw_tensor *initial)
{
    tw__resource *resource = variable->resource;
    tw__graph *graph = variable->graph;
    tw_tensor *value = initial->node && initial->node->graph == graph ? tw_retain(initial) : NULL;
    const char *before = tw__colocate(tw__colocation ? tw__colocation : resource->name); /* what is said outside counts */
    if (!value) {
        tw__owned char *name = tw__format("%s/Initializer/initial_value", resource->name);
        tw_tensor *known = initial->node && initial->symbolic_value ? initial->symbolic_value : initial;
        if (name && known->node)
            tw__fail(
                TW_VALUE_ERROR,
                "the initial value of variable %s depends on a function that is being traced: pass a function that computes it",
                resource->name);
        else if (name && tw__device_push(NULL) == TW_OK) {
            value = tw__graph_constant(graph, known, name);
            tw__device_pop();
        }
    }
    if (!value) {
        tw__colocate(before);
        return tw__error_status();
    }
    tw__edge edges[2] = { { NULL, 0 }, { value->node, value->node_output } };
    variable->initial = value->node;
    variable->initial_output = value->node_output;
    tw_release(value);
    char *debug_name = tw__format("%s/", resource->name);
    if (!debug_name) {
        tw__colocate(before);
        return TW_RESOURCE_EXHAUSTED;
    }
    tw_attr attrs[] = { TW_A_STRING("shared_name", resource->name), TW_A_STRING("debug_name", debug_name),
                        TW_A_TYPE("dtype", resource->dtype), TW_A_SHAPE("shape", &resource->shape) };
    variable->handle_node = add(variable, &tw__op_VarHandleOp, "", NULL, 0, attrs, 4, TW_RESOURCE, &TW_SCALAR, 1);
    tw__free(debug_name);
    tw__colocate(before);
    TW_NEED(variable->handle_node);
    edges[0].node = variable->handle_node;
    TW_TRY(tw__graph_capture(graph, variable->handle, variable->handle_node));
    tw_attr dtype = TW_A_TYPE("dtype", resource->dtype);
    if (!add(variable, &tw__op_VarIsInitializedOp, "/IsInitialized/VarIsInitializedOp", edges, 1, NULL, 0, TW_BOOL, &TW_SCALAR,
             1))
        return tw__error_status();
    before = tw__colocate(NULL);
    variable->initializer = add(variable, &tw__op_AssignVariableOp, "/Assign", edges, 2, &dtype, 1, TW_FLOAT32, &TW_SCALAR, 0);
    tw__colocate(before);
    variable->snapshot =
        add(variable, &tw__op_ReadVariableOp, "/Read/ReadVariableOp", edges, 1, &dtype, 1, resource->dtype, &resource->shape, 1);
    return variable->initializer && variable->snapshot ? TW_OK : tw__error_status();
}

tw__part tw__first_value_begin(const char *name)
{
    tw__graph *graph = tw__in_lasting() ? tw__tracing : NULL;
    tw__owned char *unique = graph ? tw__graph_unique_name(graph, name, false) : NULL;
    tw__owned char *scope = unique ? tw__format("%s/Initializer/", unique) : NULL;
    tw__part part = { 0 };
    if (scope && tw__device_push(NULL) == TW_OK) {
        if (tw__control_push(graph, NULL, 0, true) == TW_OK) {
            part = tw__part_begin(scope, NULL);
            if (part.graph) {
                part.colocation = tw__colocate(tw__colocation ? tw__colocation : unique);
                part.beside = unique;
                unique = NULL;
            }
        } else {
            tw__device_pop();
        }
    }
    return part;
}

tw_status tw__first_value_end(tw__part *part)
{
    if (part->graph) {
        tw__control_pop(part->graph);
        tw__device_pop();
        tw__colocate(part->colocation);
        tw__free(part->beside);
    }
    return tw__part_end(part);
}

static tw_status collect(tw_variable *variable)
{
    static const char *const usual[] = { "variables", "trainable_variables", NULL }, *const others[] = { "variables", NULL };
    const char *const *names = tw__variable_collections ? tw__variable_collections : variable->trainable ? usual : others;
    tw__graph_member_ended = graph_ended;
    TW_TRY(tw__graph_collect(variable->graph, "", variable)); /* all of them, so that they know when the graph ends */
    for (; *names; names++)
        TW_TRY(tw__graph_collect(variable->graph, *names, variable));
    return TW_OK;
}

tw_status tw__variable_setup_in_graph(tw_variable *variable, tw__graph *graph, tw_tensor *initial, const char *name,
                                      bool trainable, const tw_shape *shape)
{
    const tw_shape *whole = shape && shape->rank >= 0 ? shape : &initial->shape;
    if (!tw__shape_compatible(whole, &initial->shape))
        return tw__fail(TW_VALUE_ERROR,
                        "The initial value's shape (%s) is not compatible with the explicitly supplied `shape` argument (%s).",
                        tw__shape_text(&initial->shape), tw__shape_text(whole));
    tw__owned char *unique = tw__graph_unique_name(graph, name && *name ? name : "Variable", true);
    variable->name = unique ? tw__format("%s:0", unique) : NULL;
    tw__resource *resource = variable->name ? tw__resource_new(initial->dtype, whole, unique) : NULL;
    TW_TRY(tw__variable_hold(variable, resource, trainable));
    variable->graph = graph;
    TW_TRY(tw__control_push(graph, NULL, 0, true)); /* variables belong to no scope */
    tw_status status = add_nodes(variable, initial);
    tw__control_pop(graph);
    return status == TW_OK ? collect(variable) : status;
}

tw_status tw__variable_adopt(tw_variable *variable, const tw__variable_nodes *nodes, const char *name, bool trainable)
{
    tw__node *handle = nodes->handle;
    if (!tw__node_is(handle, TW_ROLE_VARIABLE))
        return tw__fail(TW_VALUE_ERROR, "the variable %s: node '%s' is a %s, expected a VarHandleOp", name, handle->name,
                        handle->op->name);
    tw_string shared = tw__attr_find(handle->op, handle->attrs, "shared_name")->s;
    tw__owned char *key = tw__strndup(shared.size ? shared.data : handle->name, shared.size ? shared.size : strlen(handle->name));
    variable->name = tw__strdup(name);
    tw__resource *resource = key && variable->name
                                 ? tw__resource_new(tw__attr_find(handle->op, handle->attrs, "dtype")->type,
                                                    tw__attr_find(handle->op, handle->attrs, "shape")->shape, key)
                                 : NULL;
    TW_TRY(tw__variable_hold(variable, resource, trainable));
    variable->graph = handle->graph;
    variable->handle_node = handle;
    variable->initializer = nodes->initializer;
    variable->snapshot = nodes->snapshot;
    variable->initial = nodes->initial;
    variable->initial_output = nodes->initial_output;
    TW_TRY(tw__graph_capture(handle->graph, variable->handle, handle));
    tw__graph_member_ended = graph_ended;
    return tw__graph_collect(handle->graph, "", variable);
}
