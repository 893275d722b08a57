/* From fetches and feeds to a function: the nodes that the fetches need, copied in their order into a graph of its own.
 *
 * Feeds become the function's arguments, whatever node gave them in the graph; what a fed tensor was computed from is not needed.
 * Handles of variables become further arguments, which the session binds to its state. As every node that is copied is needed,
 * the planner's rule that side effects happen, in program order, is just right. */
#include "rows.h"
#include "session/session.h"

typedef struct copying {
    tw__graph *graph, *copy;
    const tw__edge *feeds;
    int feed_count;
    int32_t *needed;     /* by node: how many of its outputs are asked for, 0: it is not needed */
    tw__node **copies;   /* by node */
    tw__pointer_map fed; /* node -> index of its first feed + 1 */
    tw__node **inputs;   /* of the function */
    tw_tensor **bound;
    int bound_count;
    bool soft; /* nodes whose device is not there run on the processor */
    tw__binder bind;
    void *context;
} copying;

/* Which feed the edge is, or -1. */
static int feed_of(const copying *c, tw__edge edge)
{
    if (tw__pointer_map_get(&c->fed, edge.node, 0) == 0)
        return -1;
    for (int i = 0; i < c->feed_count; i++) {
        if (c->feeds[i].node == edge.node && c->feeds[i].output == edge.output)
            return i;
    }
    return -1;
}

static void need(copying *c, const tw__node *node, int32_t output)
{
    if (c->needed[node->id] <= output)
        c->needed[node->id] = output + 1;
}

static void find_needed(copying *c, const tw__fetch *fetches, int fetch_count)
{
    for (int i = 0; i < fetch_count; i++) {
        int32_t output = fetches[i].output;
        if (output < 0 || feed_of(c, (tw__edge){ fetches[i].node, output }) < 0)
            need(c, fetches[i].node, output < 0 ? 0 : output);
    }
    for (size_t i = c->graph->node_count; i-- > 0;) {
        const tw__node *node = tw__node_form(c->graph->nodes[i], c->needed[i]);
        for (int k = 0; c->needed[i] && k < node->input_count; k++) {
            if (feed_of(c, node->inputs[k]) < 0)
                need(c, node->inputs[k].node, node->inputs[k].output);
        }
        for (int k = 0; c->needed[i] && k < node->control_count; k++) {
            if (!tw__pointer_map_get(&c->fed, node->controls[k], 0))
                need(c, node->controls[k], 0);
        }
    }
}

static tw__node *argument(copying *c, tw_dtype dtype, const tw_shape *shape, const char *name)
{
    tw_auto tw_tensor *placeholder = tw__graph_placeholder(c->copy, dtype, shape, name);
    tw__node *node = placeholder ? placeholder->node : NULL;
    return node;
}

static tw_tensor *captured_by(const tw__graph *graph, const tw__node *node)
{
    for (size_t i = 0; i < graph->capture_count; i++) {
        if (graph->captures[i].inside == node)
            return graph->captures[i].outside;
    }
    return NULL;
}

/* A node whose value the session gives. */
static tw_status copy_bound(copying *c, const tw__node *node)
{
    tw_tensor *outside = captured_by(c->graph, node);
    if (tw__node_is(node, TW_ROLE_PLACEHOLDER) && !outside)
        return tw__fail(TW_INVALID_ARGUMENT,
                        "You must feed a value for placeholder tensor '%s' with dtype %s%s%s\n\t [[{{node %s}}]]", node->name,
                        tw__dtype_text(node->out_dtypes[0]), node->out_shapes[0].rank <= 0 ? "" : " and shape ",
                        node->out_shapes[0].rank <= 0 ? "" : tw__shape_text(&node->out_shapes[0]), node->name);
    tw__node *copy = argument(c, node->out_dtypes[0], &node->out_shapes[0], node->name);
    TW_NEED(copy);
    c->copies[node->id] = c->inputs[c->feed_count + c->bound_count] = copy;
    c->bound[c->bound_count] = c->bind(c->context, node, outside);
    return c->bound[c->bound_count++] ? TW_OK : tw__error_status();
}

static tw_status copy_node(copying *c, const tw__node *node)
{
    if (tw__node_is(node, TW_ROLE_PLACEHOLDER) || tw__node_is(node, TW_ROLE_VARIABLE))
        return copy_bound(c, node);
    tw__edge few[16], *edges = node->input_count <= 16 ? few : tw__alloc_array((size_t)node->input_count, sizeof *edges);
    TW_NEED(edges);
    for (int i = 0; i < node->input_count; i++) {
        int feed = feed_of(c, node->inputs[i]);
        edges[i] = feed < 0 ? (tw__edge){ c->copies[node->inputs[i].node->id], node->inputs[i].output }
                            : (tw__edge){ c->inputs[feed], 0 };
    }
    tw__node *copy = c->copies[node->id] = tw__node_copy(node, c->copy, edges);
    if (edges != few)
        tw__free(edges);
    if (copy && node->op->free_state && !(copy->stream = tw_retain(tw__session_stream(c->context, node))))
        return tw__error_status();
    for (int i = 0; copy && i < node->control_count; i++) {
        tw__node *earlier = c->copies[node->controls[i]->id];
        if (earlier && tw__node_follow(copy, earlier) != TW_OK)
            return tw__error_status();
    }
    return copy ? TW_OK : tw__error_status();
}

static tw_status check_place(const tw__node *node, bool soft)
{
    if (tw__device_runs(node->device, soft))
        return TW_OK;
    tw__owned char *all = tw__device_list_text(", ");
    tw__fail(
        TW_INVALID_ARGUMENT,
        "Cannot assign a device for operation %s: {{node %s}} was explicitly assigned to %s but available devices are [ %s ]. "
        "Make sure the device specification refers to a valid device.%s\n\t [[%s]]",
        node->name, node->name, node->device, all ? all : "",
        strstr(node->device, ":GPU:") ? " The requested device appears to be a GPU, but CUDA is not enabled." : "", node->name);
    return TW_INVALID_ARGUMENT;
}

static tw_status copy_all(copying *c)
{
    for (int i = 0; i < c->feed_count; i++) {
        const tw__node *node = c->feeds[i].node;
        c->inputs[i] = argument(c, node->out_dtypes[c->feeds[i].output], &node->out_shapes[c->feeds[i].output], node->name);
        TW_NEED(c->inputs[i]);
    }
    for (size_t i = 0; i < c->graph->node_count; i++) {
        if (c->needed[i] && c->graph->nodes[i]->device)
            TW_TRY(check_place(c->graph->nodes[i], c->soft));
        if (c->needed[i])
            TW_TRY(copy_node(c, tw__node_form(c->graph->nodes[i], c->needed[i])));
    }
    return TW_OK;
}

/* The results: what is fetched, then values of fetched operations that have no effects but shall run all the same. */
static tw__edge *results(const copying *c, const tw__fetch *fetches, int fetch_count, int *count)
{
    tw__edge *edges = tw__alloc_array((size_t)fetch_count + 1, sizeof *edges);
    *count = 0;
    for (int pass = 0; edges && pass < 2; pass++) {
        for (int i = 0; i < fetch_count; i++) {
            tw__fetch fetch = fetches[i];
            bool operation = fetch.output < 0;
            if (operation != (pass == 1) || (operation && (!fetch.node->output_count || fetch.node->op->stateful)))
                continue;
            int feed = operation ? -1 : feed_of(c, (tw__edge){ fetch.node, fetch.output });
            edges[(*count)++] = feed >= 0 ? (tw__edge){ c->inputs[feed], 0 }
                                          : (tw__edge){ c->copies[fetch.node->id], operation ? 0 : fetch.output };
        }
    }
    return edges;
}

static tw__prepared *finish(copying *c, const tw__fetch *fetches, int fetch_count)
{
    tw__prepared *prepared = tw__alloc_zero(sizeof *prepared);
    int count = 0;
    tw__owned tw__edge *edges = prepared ? results(c, fetches, fetch_count, &count) : NULL;
    if (edges)
        prepared->function = tw__function_of_graph("session", c->copy, c->inputs, c->feed_count + c->bound_count, edges, count);
    if (!prepared || !prepared->function) {
        tw__free(prepared);
        return NULL;
    }
    for (int i = 0; i < fetch_count; i++)
        prepared->fetch_count += fetches[i].output >= 0;
    prepared->feed_count = c->feed_count;
    prepared->bound_count = c->bound_count;
    prepared->bound = c->bound;
    c->bound = NULL;
    return prepared;
}

tw__prepared *tw__prepare(tw__graph *graph, const tw__edge *feeds, int feed_count, const tw__fetch *fetches, int fetch_count,
                          bool soft, tw__binder bind, void *context)
{
    copying c = { .graph = graph, .feeds = feeds, .feed_count = feed_count, .soft = soft, .bind = bind, .context = context };
    size_t room = graph->node_count + (size_t)feed_count + 1;
    c.copy = tw__graph_new(NULL);
    c.needed = tw__alloc_array(room, sizeof *c.needed);
    c.copies = tw__alloc_array(room, sizeof *c.copies);
    c.inputs = tw__alloc_array(room, sizeof *c.inputs);
    c.bound = tw__alloc_array(room, sizeof *c.bound);
    tw_status status = c.copy && c.needed && c.copies && c.inputs && c.bound ? TW_OK : TW_RESOURCE_EXHAUSTED;
    for (int i = 0; status == TW_OK && i < feed_count; i++)
        status = tw__pointer_map_put(&c.fed, feeds[i].node, i + 1);
    tw__prepared *prepared = NULL;
    if (status == TW_OK) {
        find_needed(&c, fetches, fetch_count);
        if (copy_all(&c) == TW_OK)
            prepared = finish(&c, fetches, fetch_count);
    }
    for (int i = 0; c.bound && i < c.bound_count; i++)
        tw_release(c.bound[i]);
    tw__free(c.bound);
    tw__free(c.needed);
    tw__free(c.copies);
    tw__free(c.inputs);
    tw__pointer_map_free(&c.fed);
    tw_release(c.copy);
    return prepared;
}

void tw__prepared_free(tw__prepared *prepared)
{
    for (int i = 0; i < prepared->bound_count; i++)
        tw_release(prepared->bound[i]);
    tw__free(prepared->bound);
    tw_release(prepared->function);
    tw__free(prepared);
}
