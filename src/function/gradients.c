/* tf.gradients: derivatives between tensors of a graph, added to the graph that is traced. */
#include "function/function.h"
#include "op/calls.h"
#include "op/slices.h"
#include "rows.h"

/* Targets with their gradients that are still to be followed. From a graph inside others the way goes on outside: the gradient of
 * what it captured is the seed of the captured tensor. */
typedef struct pending {
    tw_tensor **targets, **seeds; /* references; a seed may be NULL: ones */
    size_t count, target_capacity, seed_capacity;
} pending;

static tw_status add_pending(pending *p, tw_tensor *target, tw_tensor *seed)
{
    TW_TRY(TW_GROW(p->targets, p->target_capacity, p->count + 1));
    TW_TRY(TW_GROW(p->seeds, p->seed_capacity, p->count + 1));
    p->targets[p->count] = tw_retain(target);
    p->seeds[p->count++] = tw_retain(seed);
    return TW_OK;
}

static bool same_value(const tw_tensor *a, const tw_tensor *b)
{
    return a == b || (a->node && a->node == b->node && a->node_output == b->node_output);
}

static tw_status add_result(tw_tensor **place, tw_tensor *gradient)
{
    tw_tensor *sum = *place ? tw__gradient_add(*place, gradient) : tw_retain(gradient);
    tw_release(*place);
    *place = sum;
    return sum ? TW_OK : tw__error_status();
}

static tw_status check_objects(tw_objects objects, const char *what)
{
    for (int64_t i = 0; i < objects.count; i++) {
        if (!tw__watched_tensor(objects.items[i]))
            return tw__fail(TW_TYPE_ERROR, "gradients: %s %lld is a %s, expected a tensor or variable", what, (long long)i,
                            tw_class_name(objects.items[i]));
    }
    return TW_OK;
}

static tw__edge edge_in(const tw__graph *graph, const tw_tensor *tensor)
{
    bool inside = tensor->node && tensor->node->graph == graph;
    return inside ? (tw__edge){ tensor->node, tensor->node_output } : (tw__edge){ NULL, 0 };
}

/* Follows the pending targets of one graph. */
static tw_status through_graph(const tw_gradients_args *args, tw__graph *graph, pending *p, tw_tensor **results)
{
    size_t xs = (size_t)args->xs.count, captures = graph->capture_count, ys = p->count;
    tw__owned tw__edge *sources = tw__alloc_array(xs + captures + 1, sizeof *sources),
                       *targets = tw__alloc_array(ys + 1, sizeof *targets);
    tw__owned tw__edge *stops = tw__alloc_array((size_t)args->stop_gradients.count + captures + 1, sizeof *stops);
    tw__owned tw_tensor **seeds = tw__alloc_array(ys + 1, sizeof *seeds);
    tw__held tw_tensor **found = tw__held_new(xs + captures);
    TW_NEED(sources && targets && stops && seeds && found);
    int target_count = 0, stop_count = 0;
    for (size_t i = 0; i < ys; i++) {
        targets[target_count] = edge_in(graph, p->targets[i]);
        seeds[target_count] = p->seeds[i];
        target_count += targets[target_count].node != NULL;
    }
    for (int64_t i = 0; i < args->stop_gradients.count; i++)
        stops[stop_count++] = edge_in(graph, tw__watched_tensor(args->stop_gradients.items[i]));
    for (size_t i = 0; i < xs; i++)
        sources[i] = edge_in(graph, tw__watched_tensor(args->xs.items[i]));
    for (size_t i = 0; i < captures; i++) {
        const tw__node *inside = graph->captures[i].inside;
        if (tw__dtype_differentiable(inside->out_dtypes[0]))
            sources[xs + i] = (tw__edge){ graph->captures[i].inside, 0 };
    }
    if (target_count)
        TW_TRY(tw__derive(&(tw__derivation){ .graph = graph,
                                             .targets = targets,
                                             .seeds = seeds,
                                             .target_count = target_count,
                                             .sources = sources,
                                             .source_count = (int)(xs + captures),
                                             .stops = stops,
                                             .stop_count = stop_count },
                          found));
    for (size_t i = 0; i < xs; i++)
        if (found[i])
            TW_TRY(add_result(&results[i], found[i]));
    for (size_t i = 0; i < captures; i++) {
        tw_tensor *outside = graph->captures[i].outside;
        if (!found[xs + i])
            continue;
        for (size_t k = 0; k < xs && !outside->node; k++) {
            if (same_value(outside, tw__watched_tensor(args->xs.items[k])))
                TW_TRY(add_result(&results[k], found[xs + i]));
        }
        if (outside->node)
            TW_TRY(add_pending(p, outside, found[xs + i]));
    }
    return TW_OK;
}

static tw_status zeros_where_none(tw_objects xs, tw_tensor **results)
{
    for (int64_t i = 0; i < xs.count; i++) {
        if (results[i])
            continue;
        tw_tensor *x = tw__watched_tensor(xs.items[i]);
        tw_auto tw_tensor *value =
            x->dtype != TW_RESOURCE || !tw__is(xs.items[i], &tw__class_variable) ? tw_retain(x) : tw__variable_read(xs.items[i]);
        results[i] = value ? TW_CALL(ZerosLike, value) : NULL;
        TW_NEED(results[i]);
    }
    return TW_OK;
}

static tw_status derive(const tw_gradients_args *args, pending *p, tw_tensor **results)
{
    TW_TRY(check_objects(args->ys, "y"));
    TW_TRY(check_objects(args->xs, "x"));
    TW_TRY(check_objects(args->stop_gradients, "stop_gradients"));
    for (int64_t i = 0; i < args->ys.count; i++)
        TW_TRY(add_pending(p, tw__watched_tensor(args->ys.items[i]), args->grad_ys.count ? args->grad_ys.items[i] : NULL));
    for (tw__graph *graph = tw__tracing; graph; graph = graph->outer)
        TW_TRY(through_graph(args, graph, p, results));
    return strcmp(args->unconnected_gradients, "zero") == 0 ? zeros_where_none(args->xs, results) : TW_OK;
}

tw_tensors tw__gradients_of(const tw_gradients_args *args)
{
    tw_tensors results = { NULL, 0 };
    if (!tw__tracing) {
        tw__fail(TW_RUNTIME_ERROR, "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.");
        return results;
    }
    if (args->grad_ys.count && args->grad_ys.count != args->ys.count) {
        tw__fail(TW_VALUE_ERROR, "Length mismatch. Passed %lld grad_ys for %lld ys", (long long)args->grad_ys.count,
                 (long long)args->ys.count);
        return results;
    }
    pending p = { 0 };
    results = (tw_tensors){ tw__alloc_array((size_t)args->xs.count + 1, sizeof(tw_tensor *)), args->xs.count };
    tw__part part = tw__part_begin(args->scope, "gradients");
    tw_status status = results.items ? derive(args, &p, results.items) : tw__error_status(), named = tw__part_end(&part);
    status = status == TW_OK ? named : status;
    for (size_t i = 0; i < p.count; i++) {
        tw_release(p.targets[i]);
        tw_release(p.seeds[i]);
    }
    tw__free(p.targets);
    tw__free(p.seeds);
    if (status != TW_OK)
        tw_tensors_free(&results);
    return results;
}

TW_API(
    gradients,
    "_gradients(ys: list<object>, xs: list<object>, grad_ys: tensors = None, stop_gradients: list<object> = None, "
    "unconnected_gradients: str {none, zero} = none, scope: str = gradients) -> tensors",
    "The derivatives of the (summed) ys by each x, in the graph that is traced; NULL where they are not connected. What is in stop_gradients "
    "counts as a constant. In graphs of sessions the new nodes stand in the scope.")
{
    tw_tensors results = tw__gradients_of(args);
    for (int64_t i = 0; i < results.count; i++) {
        if (!results.items[i] || !tw__slices_of(results.items[i]))
            continue;
        tw_tensor *sliced = results.items[i];
        results.items[i] = tw__slices_dense(sliced);
        tw_release(sliced);
        if (!results.items[i]) {
            tw_tensors_free(&results);
            break;
        }
    }
    return results;
}
