/* tf.compat.v1.train: the variable that counts the steps of training; a graph has one, and so has eager execution. */
#include "keras/initializers/initializers.h"
#include "session/session.h"
#include "v1/v1.h"
#include "v1/variable_scope.h"

#define NAME "global_step"

static tw__graph *graph_of(const struct tw_graph *given)
{
    return given ? given->graph : tw__graph_root(tw__tracing);
}

/* *step: borrowed; NULL: there is none. */
static tw_status find(const struct tw_graph *given, tw_variable **step)
{
    *step = NULL;
    tw__graph *graph = graph_of(given);
    if (!graph) {
        tw__variable_store *store = tw__variable_store_now();
        TW_NEED(store);
        *step = tw__map_get(&store->variables, NAME, strlen(NAME));
        return TW_OK;
    }
    const tw__collection *steps = tw__graph_collection(graph, NAME), *all = tw__graph_collection(graph, "variables");
    if (steps && steps->count > 1)
        return tw__fail(TW_RUNTIME_ERROR, "Multiple items found in collection " NAME);
    if (steps && steps->count)
        *step = (tw_variable *)steps->items[0];
    for (size_t i = 0; !*step && all && i < all->count; i++) {
        tw_variable *each = (tw_variable *)all->items[i];
        if (strcmp(each->name, NAME ":0") == 0)
            *step = each;
    }
    return TW_OK;
}

static tw_variable *make_eagerly(void)
{
    tw__variable_store *store = tw__variable_store_now();
    tw_auto tw_tensor *zero = tw_tensor_int64(0);
    tw_variable *step = store && zero ? tw__variable_new(zero, NAME, false, NULL) : NULL;
    if (step && tw__map_put(&store->variables, NAME, strlen(NAME), step) == TW_OK)
        return tw_retain(step);
    tw_release(step);
    return NULL;
}

static tw_variable *make_in_graph(void)
{
    tw_value names[] = { TW_TEXT("variables"), TW_TEXT(NAME) };
    tw_auto tw_initializer *zeros = (tw_initializer *)tw_v1_zeros_initializer();
    if (!zeros || tw__scope_push(NULL) != TW_OK)
        return NULL;
    tw_get_variable_args args;
    tw_args_default(&tw__signature_get_variable, &args);
    args.name = NAME;
    args.shape = TW_SCALAR;
    args.dtype = TW_INT64;
    args.initializer = (tw_object *)zeros;
    args.trainable = false;
    args.collections = (tw_value){ .kind = TW_VALUE_LIST, .list = { names, 2, NULL } };
    tw_variable *step = tw__impl_get_variable(&args);
    tw__scope_pop();
    return step;
}

static tw_variable *make(struct tw_graph *graph)
{
    if (!graph_of(graph))
        return make_eagerly();
    if (graph && tw__default_push(graph) != TW_OK)
        return NULL;
    tw_variable *step = make_in_graph();
    if (graph)
        tw__default_pop(graph);
    return step;
}

TW_API(v1_get_global_step, "compat.v1.train.get_global_step(graph: graph = None) -> variable",
       "The variable that counts steps; None if there is none.")
{
    tw_variable *step;
    return find(args->graph, &step) == TW_OK ? tw_retain(step) : NULL;
}

TW_API(v1_create_global_step, "compat.v1.train.create_global_step(graph: graph = None) -> variable",
       "Makes the variable that counts steps.")
{
    tw_variable *step;
    if (find(args->graph, &step) != TW_OK)
        return NULL;
    if (step)
        tw__fail(TW_VALUE_ERROR, "\"" NAME "\" already exists.");
    return step ? NULL : make(args->graph);
}

TW_API(v1_get_or_create_global_step, "compat.v1.train.get_or_create_global_step(graph: graph = None) -> variable",
       "The variable that counts steps, made if there is none.")
{
    tw_variable *step;
    if (find(args->graph, &step) != TW_OK)
        return NULL;
    return step ? tw_retain(step) : make(args->graph);
}
