/* Parts of a session's graph as functions that are called outside of it: signatures of SavedModels of TensorFlow 1
 * (saved_model_v1.c), and what compat.v1.wrap_function prunes. They share the session's variables and tables, and hold them. */
#include "saving/saved_model.h"
#include "rows.h"
#include "session/session.h"

/* The function takes its last inputs, handles of the session, from now on by itself. */
static tw_status bind_handles(tw__prepared *prepared)
{
    tw__function *function = prepared->function;
    if (function->captures || !prepared->bound_count)
        return TW_OK;
    function->captures = tw__alloc_array((size_t)prepared->bound_count + 1, sizeof *function->captures);
    TW_NEED(function->captures);
    for (int i = 0; i < prepared->bound_count; i++) { /* tapes know a variable by its own handle */
        tw_object *object = tw__tensor_object(prepared->bound[i]);
        const tw_variable *variable = tw__is(object, &tw__resource_class) ? ((tw__resource *)object)->variable : NULL;
        function->captures[i] = tw_retain(variable ? variable->handle : prepared->bound[i]);
    }
    function->argument_count = prepared->feed_count;
    return TW_OK;
}

tw__function *tw__session_function(struct tw_session *session, const tw__edge *feeds, int feed_count, const tw__fetch *fetches,
                                   int fetch_count)
{
    /* A function of its own: what is bound in it is no longer the session's to give. */
    tw__prepared *prepared = tw__session_prepare_own(session, feeds, feed_count, fetches, fetch_count);
    tw__function *function = prepared && bind_handles(prepared) == TW_OK ? tw_retain(prepared->function) : NULL;
    if (prepared)
        tw__prepared_free(prepared);
    return function;
}

tw_variable *tw__session_variable(struct tw_session *session, tw__node *node)
{
    tw__fetch fetch = { node, 0 };
    tw_tensor *handle = NULL;
    tw__prepared *prepared = tw__session_prepare(session, NULL, 0, &fetch, 1);
    if (!prepared || tw__session_run(session, prepared, NULL, &handle) != TW_OK)
        return NULL;
    size_t size = strlen(node->name) - (tw__ends_with(node->name, TW_REF_HANDLE) ? strlen(TW_REF_HANDLE) : 0);
    tw__resource *resource = tw__resource_of(handle);
    tw_variable *variable = resource ? tw__object_new(&tw__class_variable) : NULL;
    bool trainable = resource && resource->trainable;
    if (variable && (variable->name = tw__format("%.*s:0", (int)size, node->name)) &&
        tw__variable_hold(variable, tw_retain(resource), trainable) == TW_OK) {
        tw_release(handle);
        return variable;
    }
    tw_release(variable);
    tw_release(handle);
    return NULL;
}

/* ---- rows ---- */

static tw_value specs_of(const tw_tensors *tensors)
{
    tw_value *items = tw__alloc_array((size_t)tensors->count + 1, sizeof *items);
    for (int64_t i = 0; items && i < tensors->count; i++)
        items[i] = tw__spec_value(tensors->items[i]->dtype, &tensors->items[i]->shape, tensors->items[i]->node->name);
    return items ? (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, tensors->count } } : (tw_value){ .kind = TW_VALUE_NONE };
}

TW_METHOD(session_function,
          "compat.v1._Session._function(self: session, feeds: tensors, fetches: list<object>) -> saved_concrete",
          "A function of the nodes between feeds and fetches, bound to the session's variables.")
{
    struct tw_session *session = args->self;
    if (tw__session_check_open(session) != TW_OK)
        return NULL;
    tw__owned tw__edge *feeds = tw__alloc_array((size_t)args->feeds.count + 1, sizeof *feeds);
    tw__owned tw__fetch *fetches = tw__alloc_array((size_t)args->fetches.count + 1, sizeof *fetches);
    if (!feeds || !fetches)
        return NULL;
    for (int64_t i = 0; i < args->feeds.count; i++) {
        tw_tensor *feed = args->feeds.items[i];
        if (!feed || !feed->node || feed->node->graph != tw__session_graph(session)) {
            tw__fail(TW_VALUE_ERROR, "prune: feed %lld is no tensor of the graph", (long long)i);
            return NULL;
        }
        feeds[i] = (tw__edge){ feed->node, feed->node_output };
    }
    for (int64_t i = 0; i < args->fetches.count; i++)
        if (tw__session_fetch(session, args->fetches.items[i], &fetches[i]) != TW_OK)
            return NULL;
    tw_auto tw__function *function =
        tw__session_function(session, feeds, (int)args->feeds.count, fetches, (int)args->fetches.count);
    tw_value *pair = function ? tw__alloc_array(2, sizeof *pair) : NULL;
    tw_saved_concrete *concrete = NULL;
    if (pair) {
        pair[0] = specs_of(&args->feeds);
        pair[1] = (tw_value){ .kind = TW_VALUE_DICT };
        concrete = tw__saved_concrete_new(function, (tw_value){ .kind = TW_VALUE_TUPLE, .list = { pair, 2 } },
                                          (tw_value){ .kind = TW_VALUE_NONE });
    }
    return concrete;
}

TW_METHOD(session_variables, "compat.v1._Session._variables(self: session) -> list<variable>",
          "The variables of the graph with their values in the session, in the order of the nodes.")
{
    tw__graph *graph = tw__session_graph(args->self);
    void **items = tw__alloc_array(graph->node_count + 1, sizeof *items);
    tw_objects list = { items, 0 };
    for (size_t i = 0; items && i < graph->node_count; i++) {
        tw__node *node = graph->nodes[i];
        if (!tw__node_is(node, TW_ROLE_VARIABLE))
            continue;
        if (!(items[list.count] = tw__session_variable(args->self, node))) {
            tw_objects_free(&list);
            return (tw_objects){ 0 };
        }
        list.count++;
    }
    return list;
}
