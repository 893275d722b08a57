/* tf.Graph and tf.Operation: what users see of graphs and nodes. */
#include <stdlib.h>

#include "function/library.h"
#include "rows.h"
#include "session/session.h"

/* ---- graphs ---- */

static tw_status graph_init(void *self, const void *given)
{
    struct tw_graph *graph = self;
    (void)given;
    graph->graph = tw__graph_new(NULL);
    TW_NEED(graph->graph);
    graph->graph->lasting = true;
    graph->graph->owner = graph;
    tw__graph_enter(graph->graph);
    return TW_OK;
}

static void graph_destroy(void *self)
{
    struct tw_graph *graph = self;
    if (!graph->graph)
        return;
    graph->graph->owner = NULL;
    tw__graph_leave(graph->graph);
    tw_release(graph->graph);
}

TW_CLASS(graph, "Graph|compat.v1.Graph()", .size = sizeof(struct tw_graph), .init = graph_init, .destroy = graph_destroy,
         .doc = "Operations that a program builds and a session runs.");

struct tw_graph *tw__graph_object(tw__graph *graph)
{
    if (graph->owner)
        return tw_retain(graph->owner);
    struct tw_graph *made = tw__object_new(&tw__class_graph);
    if (made) {
        made->graph = tw_retain(graph);
        graph->owner = made;
        tw__graph_enter(graph);
    }
    return made;
}

TW_METHOD(graph_enter, "Graph._enter(self: graph)", "The thread's operations become nodes of it.")
{
    return tw__default_push(args->self);
}

TW_METHOD(graph_exit, "Graph._exit(self: graph)", "Ends what enter began.")
{
    return tw__default_pop(args->self);
}

TW_METHOD(graph_finalize, "Graph.finalize(self: graph)", "From now on nothing can be added.")
{
    args->self->graph->finalized = true;
    return TW_OK;
}

TW_PROPERTY(graph_finalized, "Graph.finalized(self: graph) -> bool", "Whether nothing can be added any more.")
{
    return args->self->graph->finalized;
}

TW_METHOD(graph_unfinalize, "Graph._unsafe_unfinalize(self: graph)", "Things can be added again.")
{
    args->self->graph->finalized = false;
    return TW_OK;
}

TW_PROPERTY(graph_seed, "Graph._seed(self: graph) -> int",
            "The seed of random operations without one; a negative number: there is none.")
{
    return args->self->graph->seeded ? args->self->graph->seed : -1;
}

TW_METHOD(graph_set_seed, "Graph._set_graph_seed(self: graph, seed: int)", "Sets the seed of the graph's random operations.")
{
    args->self->graph->seeded = true;
    args->self->graph->seed = args->seed;
    return TW_OK;
}

TW_METHOD(graph_unique_name, "Graph.unique_name(self: graph, name: str, mark_as_used: bool = True) -> str",
          "The name in the present scope, with a number behind it if it is taken.\n"
          "name: the name that is wished\n"
          "mark_as_used: True: the name is taken from now on")
{
    tw__owned char *whole = tw__format("%s%s", tw__scope(), args->name ? args->name : "");
    return whole ? tw__graph_unique_name(args->self->graph, whole, args->mark_as_used) : NULL;
}

TW_METHOD(graph_get_name_scope, "Graph.get_name_scope(self: graph) -> str", "The present name scope, without its last slash.")
{
    const char *scope = tw__scope();
    size_t size = strlen(scope);
    return tw__strndup(scope, size ? size - 1 : 0);
}

/* ---- what is in it ---- */

static tw_objects operations_of(tw__node *const *nodes, size_t count)
{
    void **items = tw__alloc_array(count + 1, sizeof *items);
    tw_objects list = { items, 0 };
    for (size_t i = 0; items && i < count; i++) {
        items[i] = tw__operation_of(nodes[i]);
        if (!items[i]) {
            tw_objects_free(&list);
            return (tw_objects){ 0 };
        }
        list.count++;
    }
    return list;
}

TW_METHOD(graph_get_operations, "Graph.get_operations(self: graph) -> list<operation>",
          "All operations, in the order of their making.")
{
    tw__graph *graph = args->self->graph;
    tw__graph_settle(graph);
    return operations_of(graph->nodes, graph->node_count);
}

static bool is_text(const char *name, const char *what)
{
    if (!name)
        tw__fail(TW_TYPE_ERROR, "%s are strings (or similar), not <class 'NoneType'>.", what);
    return name != NULL;
}

static tw__node *operation_named(const tw__graph *graph, const char *name)
{
    if (!is_text(name, "Operation names"))
        return NULL;
    tw__node *node = tw__graph_find(graph, name);
    if (node)
        return node;
    if (strchr(name, ':'))
        tw__fail(TW_VALUE_ERROR, "Name '%s' appears to refer to a Tensor, not a Operation.", name);
    else
        tw__fail(TW_KEY_ERROR, "The name '%s' refers to an Operation not in the graph.", name);
    return NULL;
}

TW_METHOD(graph_get_operation_by_name, "Graph.get_operation_by_name(self: graph, name: str) -> operation",
          "The operation of that name.")
{
    tw__node *node = operation_named(args->self->graph, args->name);
    return node ? tw__operation_of(node) : NULL;
}

TW_METHOD(graph_get_tensor_by_name, "Graph.get_tensor_by_name(self: graph, name: str) -> tensor",
          "The tensor of that name, \"add:0\".")
{
    const tw__graph *graph = args->self->graph;
    if (!is_text(args->name, "Tensor names"))
        return NULL;
    const char *colon = strrchr(args->name, ':');
    if (!colon) {
        if (tw__graph_find(graph, args->name))
            tw__fail(
                TW_VALUE_ERROR,
                "The name '%s' refers to an Operation, not a Tensor. Tensor names must be of the form \"<op_name>:<output_index>\".",
                args->name);
        else
            tw__fail(
                TW_VALUE_ERROR,
                "The name '%s' looks like an (invalid) Operation name, not a Tensor. Tensor names must be of the form \"<op_name>:<output_index>\".",
                args->name);
        return NULL;
    }
    tw__owned char *own = tw__strndup(args->name, (size_t)(colon - args->name));
    char *rest = NULL;
    tw__node *node = own ? tw__graph_find(graph, own) : NULL;
    long output = strtol(colon + 1, &rest, 10);
    if (own && (!colon[1] || *rest || output < 0))
        tw__fail(
            TW_VALUE_ERROR,
            "The name '%s' looks a like a Tensor name, but is not a valid one. Tensor names must be of the form \"<op_name>:<output_index>\".",
            args->name);
    else if (own && !node)
        tw__fail(TW_KEY_ERROR,
                 "The name '%s' refers to a Tensor which does not exist. The operation, '%s', does not exist in the graph.",
                 args->name, own);
    else if (own && output >= node->output_count)
        tw__fail(TW_KEY_ERROR,
                 "The name '%s' refers to a Tensor which does not exist. The operation, '%s', exists but only has %d outputs.",
                 args->name, own, node->output_count);
    else if (own) {
        return tw__node_output(node, (int)output);
    }
    return NULL;
}

TW_METHOD(graph_variables, "Graph._variables(self: graph, collection: str) -> list<variable>",
          "The variables of a collection: \"variables\", \"trainable_variables\", \"local_variables\" …")
{
    const tw__collection *c = args->collection ? tw__graph_collection(args->self->graph, args->collection) : NULL;
    size_t count = c ? c->count : 0;
    void **items = tw__alloc_array(count + 1, sizeof *items);
    for (size_t i = 0; items && i < count; i++)
        items[i] = tw_retain(c->items[i]);
    return (tw_objects){ items, items ? (int64_t)count : 0 };
}

TW_METHOD(graph_collection_names, "Graph._collection_names(self: graph) -> value",
          "The names of the collections that hold variables.")
{
    const tw__map *collections = &args->self->graph->collections;
    tw_value list = { .kind = TW_VALUE_LIST };
    list.list.items = tw__alloc_array(collections->count + 1, sizeof *list.list.items);
    for (size_t i = 0; list.list.items && i < collections->count; i++) {
        list.list.items[i] = tw__value_str(collections->entries[i].key);
        list.list.count++;
    }
    return list;
}

static tw_status push_controls(tw__graph *graph, tw_objects operations, bool clear)
{
    tw__owned tw__node **nodes = tw__alloc_array((size_t)operations.count + 1, sizeof *nodes);
    for (int64_t i = 0; nodes && i < operations.count; i++) {
        const struct tw_operation *operation = operations.items[i];
        if (operation->graph != graph)
            return tw__fail(TW_VALUE_ERROR, "Operation %s is not an element of this graph.", operation->node->name);
        nodes[i] = operation->node;
    }
    TW_NEED(nodes);
    return tw__control_push(graph, nodes, (int)operations.count, clear);
}

TW_METHOD(graph_push_controls, "Graph._push_controls(self: graph, operations: list<operation>, clear: bool)",
          "Nodes made from now on follow these; clear: those of outer scopes do not count.")
{
    return push_controls(args->self->graph, args->operations, args->clear);
}

TW_METHOD(graph_pop_controls, "Graph._pop_controls(self: graph)", "Ends what push_controls began.")
{
    tw__control_pop(args->self->graph);
    return TW_OK;
}

TW_API(v1_push_controls, "compat.v1._push_controls(operations: list<operation>, clear: bool)",
       "The same for the graph that is being made, a function's too.")
{
    return tw__tracing ? push_controls(tw__tracing, args->operations, args->clear) : TW_OK;
}

TW_API(v1_pop_controls, "compat.v1._pop_controls()", "Ends what push_controls began.")
{
    if (tw__tracing)
        tw__control_pop(tw__tracing);
    return TW_OK;
}

TW_METHOD(graph_collect_variable, "Graph._collect(self: graph, collection: str, variable: variable)",
          "Adds a variable to a collection.")
{
    if (args->variable->graph != args->self->graph)
        return tw__fail(TW_VALUE_ERROR, "the variable %s is not of this graph", args->variable->name);
    return tw__graph_collect(args->self->graph, args->collection ? args->collection : "", args->variable);
}

TW_METHOD(graph_clear_collection, "Graph._clear_variables(self: graph, collection: str)",
          "Empties a collection of variables; the graph keeps them.")
{
    if (!args->collection || !*args->collection) /* the one that says when the graph ends */
        return tw__fail(TW_VALUE_ERROR, "Graph.clear_collection: a collection needs a name");
    tw__collection *c = tw__map_get(&args->self->graph->collections, args->collection, strlen(args->collection));
    while (c && c->count)
        tw_release(c->items[--c->count]);
    return TW_OK;
}

TW_PROPERTY(graph_version, "Graph.version(self: graph) -> int", "Counts the operations.")
{
    return (int64_t)args->self->graph->node_count;
}

/* ---- operations ---- */

static tw_status operation_init(void *self, const void *given)
{
    (void)self;
    (void)given;
    return tw__fail(TW_TYPE_ERROR, "Operation: operations are made by calling functions inside a graph");
}

static void operation_destroy(void *self)
{
    tw_release(((struct tw_operation *)self)->graph);
}

TW_CLASS(operation, "Operation|compat.v1.Operation()", .size = sizeof(struct tw_operation), .init = operation_init,
         .destroy = operation_destroy, .doc = "A node of a graph.");

struct tw_operation *tw__operation_of(tw__node *node)
{
    struct tw_operation *operation = tw__object_new(&tw__class_operation);
    if (operation) {
        if (node->unnamed)
            tw__graph_settle(node->graph);
        operation->graph = tw_retain(node->graph);
        operation->node = node;
    }
    return operation;
}

TW_PROPERTY(operation_name, "Operation.name(self: operation) -> str", "The node's name.")
{
    return tw__strdup(args->self->node->name);
}

TW_PROPERTY(operation_type, "Operation.type(self: operation) -> str", "The op's name.")
{
    return tw__strdup(args->self->node->op->name);
}

TW_PROPERTY(operation_device, "Operation.device(self: operation) -> str",
            "Where it is to run, as the program said; \"\": anywhere.")
{
    const char *device = args->self->node->device;
    return tw__strdup(device ? device : "");
}

TW_PROPERTY(operation_origin, "Operation._origin(self: operation) -> str",
            "Where in the program it was made: lines of a traceback.")
{
    const tw__origin *origin = (const tw__origin *)args->self->node->origin;
    return tw__strdup(origin ? origin->text : "");
}

TW_PROPERTY(operation_outputs, "Operation.outputs(self: operation) -> tensors", "The tensors it gives.")
{
    tw__node *node = args->self->node;
    tw_tensors list = { tw__alloc_array((size_t)node->output_count + 1, sizeof(tw_tensor *)), 0 };
    for (int i = 0; list.items && i < node->output_count; i++)
        list.items[list.count++] = tw__node_output(node, i);
    return list;
}

TW_API(tensor_consumers, "compat.v1._consumers(tensor: tensor) -> list<operation>",
       "The operations that use the tensor, in the order of their making.")
{
    const tw__node *node = args->tensor->node;
    const tw__graph *graph = node ? node->graph : NULL;
    tw__owned tw__node **users = graph ? tw__alloc_array(graph->node_count + 1, sizeof *users) : NULL;
    size_t count = 0;
    for (size_t i = (size_t)(node ? node->id + 1 : 0); users && i < graph->node_count; i++) {
        tw__node *other = graph->nodes[i];
        bool uses = false;
        for (int k = 0; k < other->input_count && !uses; k++)
            uses = other->inputs[k].node == node && other->inputs[k].output == args->tensor->node_output;
        if (uses)
            users[count++] = other;
    }
    return operations_of(users, count);
}

TW_PROPERTY(operation_colocation, "Operation._colocation(self: operation) -> str",
            "The name of the node beside which it is to run; its own, mostly.")
{
    const tw__node *node = args->self->node;
    return tw__strdup(node->colocation ? node->colocation : node->name);
}

TW_PROPERTY(operation_control_inputs, "Operation.control_inputs(self: operation) -> list<operation>",
            "The operations that it follows.")
{
    return operations_of(args->self->node->controls, (size_t)args->self->node->control_count);
}

static tw_value bytes_of(tw__text *text, tw_status status)
{
    tw_value out = { .kind = TW_VALUE_NONE };
    size_t size = text->size;
    if (status == TW_OK && !text->failed && !text->data)
        tw__text_add(text, "");
    if (status == TW_OK && !text->failed)
        out = (tw_value){ .kind = TW_VALUE_BYTES, .s = { tw__text_take(text), size } };
    else
        tw__text_free(text);
    return out;
}

TW_METHOD(graph_def, "Graph._graph_def_bytes(self: graph, add_shapes: bool = False) -> value",
          "The graph as the bytes of a GraphDef.")
{
    tw__text text = { 0 };
    tw__graph_settle(args->self->graph);
    tw_status status = tw__graphdef_write(&text, args->self->graph, args->add_shapes ? TW_GRAPH_SHAPES : 0, NULL, 0);
    return bytes_of(&text, status);
}

static const char *own_name(__attribute__((unused)) void *context, void *function)
{
    return ((tw__function *)function)->name;
}

TW_METHOD(operation_bytes, "Operation._node_def_bytes(self: operation) -> value",
          "The node as the bytes of a GraphDef of one node.")
{
    tw__text text = { 0 };
    tw__node_writer writer = { .functions = { own_name, NULL } };
    tw__graph one = *args->self->graph;
    one.nodes = &args->self->node;
    one.node_count = 1;
    tw_status status = tw__graph_write_nodes(&text, TW_GraphDef_node, &one, &writer);
    return bytes_of(&text, status);
}
