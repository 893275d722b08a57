/* Variables of graphs as users see them: their operations, and their state in a session. */
#include "rows.h"
#include "session/session.h"

static struct tw_operation *operation_or_none(tw__node *node)
{
    return node ? tw__operation_of(node) : NULL;
}

TW_PROPERTY(variable_initializer, "Variable._initializer(self: variable) -> operation",
            "In a graph: the operation that gives it its first value; else None.")
{
    return operation_or_none(args->self->initializer);
}

TW_PROPERTY(variable_handle_op, "Variable._handle_op(self: variable) -> operation",
            "In a graph: the operation of the handle; else None.")
{
    return operation_or_none(args->self->handle_node);
}

TW_PROPERTY(variable_graph, "Variable._graph(self: variable) -> graph", "The graph it is in; None for one that is in no graph.")
{
    return args->self->graph ? tw__graph_object(args->self->graph) : NULL;
}

TW_PROPERTY(variable_initial_value, "Variable._first_value(self: variable) -> tensor", "In a graph: the first value; else None.")
{
    return args->self->initial ? tw__node_output(args->self->initial, args->self->initial_output) : NULL;
}

TW_PROPERTY(variable_snapshot, "Variable._snapshot(self: variable) -> tensor",
            "In a graph: what a session gives for the variable; else None.")
{
    return args->self->snapshot ? tw__node_output(args->self->snapshot, 0) : NULL;
}

TW_METHOD(variable_set_first_value, "Variable._set_first_value(self: variable, initializer: operation, initial: tensor)",
          "In a graph: another operation gives it its first value, which is that one.")
{
    if (!args->self->graph || !args->initial->node || args->initializer->node->graph != args->self->graph)
        return tw__fail(TW_VALUE_ERROR, "the variable %s and its first value must be in one graph", args->self->name);
    args->self->initializer = args->initializer->node;
    args->self->initial = args->initial->node;
    args->self->initial_output = args->initial->node_output;
    return TW_OK;
}

TW_METHOD(session_assign, "compat.v1._Session.assign(self: session, variable: variable, value: tensor)",
          "Sets the variable's value in this session.")
{
    tw__resource *resource = tw__session_resource(args->self, args->variable);
    return resource ? tw__resource_assign(resource, args->value) : tw__error_status();
}

TW_METHOD(session_read, "compat.v1._Session.read(self: session, variable: variable) -> tensor",
          "The variable's value in this session.")
{
    tw__resource *resource = tw__session_resource(args->self, args->variable);
    return resource ? tw__resource_read(resource) : NULL;
}

/* ---- the next variables ---- */

TW_API(graph_variable_collections, "compat.v1._variable_collections(names: value)",
       "Which collections the thread's next variables of graphs join: a list of names; None: the usual ones.")
{
    static _Thread_local const char **kept;
    for (size_t i = 0; kept && kept[i]; i++)
        tw__free((void *)kept[i]);
    tw__free(kept);
    tw__variable_collections = kept = NULL;
    const tw_value *names = &args->names;
    if (names->kind != TW_VALUE_LIST && names->kind != TW_VALUE_TUPLE)
        return TW_OK;
    kept = tw__alloc_array((size_t)names->list.count + 1, sizeof *kept);
    TW_NEED(kept);
    for (size_t i = 0, count = 0; i < (size_t)names->list.count; i++) {
        const tw_value *name = &names->list.items[i];
        if (name->kind == TW_VALUE_STR && !(kept[count++] = tw__strndup(name->s.data, name->s.size)))
            return TW_RESOURCE_EXHAUSTED;
    }
    tw__variable_collections = kept;
    return TW_OK;
}

TW_API(
    graph_variable_adopt,
    "compat.v1._adopt_variable(handle: operation, name: str, snapshot: tensor, initializer: operation = None, initial: tensor = None, trainable: bool = True) "
    "-> variable",
    "The variable whose nodes are in a graph already.")
{
    tw_tensor *snapshot = args->snapshot, *initial = args->initial;
    if (!snapshot->node || (initial && !initial->node)) {
        tw__fail(TW_VALUE_ERROR, "the variable %s: its values are no tensors of a graph", args->name);
        return NULL;
    }
    tw__variable_nodes nodes = { args->handle->node, args->initializer ? args->initializer->node : NULL, snapshot->node,
                                 initial ? initial->node : NULL, initial ? initial->node_output : 0 };
    tw_variable *variable = tw__object_new(&tw__class_variable);
    if (variable && tw__variable_adopt(variable, &nodes, args->name, args->trainable) == TW_OK)
        return variable;
    tw_release(variable);
    return NULL;
}
