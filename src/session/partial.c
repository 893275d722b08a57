/* Partial runs: a run whose feeds come, and whose fetches are taken, bit by bit.
 *
 * What the fetches need is known from the setup. Each step runs the nodes that can be computed by now and were not yet, once, as
 * TensorFlow does; values that later steps or fetches need are kept. A step is a run of the session with the kept values as
 * feeds. */
#include "rows.h"
#include "session/session.h"

struct tw_partial_run {
    tw_object object;
    struct tw_session *session;
    tw__fetch *fetches;
    bool *fetched;
    int fetch_count;
    tw__edge *feeds;
    bool *fed;
    int feed_count;
    size_t node_count;   /* of the graph, when the run was set up */
    bool *needed, *done; /* by node */
    tw__map values;      /* edge -> tensor */
};

static void release_value(void *value)
{
    tw_release(value);
}

static void partial_destroy(void *self)
{
    struct tw_partial_run *run = self;
    tw__free(run->fetches);
    tw__free(run->fetched);
    tw__free(run->feeds);
    tw__free(run->fed);
    tw__free(run->needed);
    tw__free(run->done);
    tw__map_free(&run->values, release_value);
    tw_release(run->session);
}

static tw_status partial_init(void *self, const void *given)
{
    (void)self;
    (void)given;
    return tw__fail(TW_TYPE_ERROR, "a partial run is made by Session.partial_run_setup");
}

TW_CLASS(partial_run, "compat.v1._PartialRun()", .size = sizeof(struct tw_partial_run), .init = partial_init,
         .destroy = partial_destroy, .doc = "A run whose feeds and fetches come bit by bit.");

/* ---- values ---- */

typedef struct edge_key {
    int64_t id, output;
} edge_key;

static edge_key key_of(tw__edge edge)
{
    return (edge_key){ edge.node->id, edge.output };
}

static tw_tensor *value_of(const struct tw_partial_run *run, tw__edge edge)
{
    edge_key key = key_of(edge);
    return tw__map_get(&run->values, &key, sizeof key);
}

/* Takes the value. */
static tw_status keep(struct tw_partial_run *run, tw__edge edge, tw_tensor *value)
{
    edge_key key = key_of(edge);
    tw_status status = tw__map_put(&run->values, &key, sizeof key, value);
    if (status != TW_OK)
        tw_release(value);
    return status;
}

static int place_of(const tw__edge *edges, int count, tw__edge edge)
{
    for (int i = 0; i < count; i++) {
        if (edges[i].node == edge.node && edges[i].output == edge.output)
            return i;
    }
    return -1;
}

/* ---- setup ---- */

static void find_needed(struct tw_partial_run *run, const tw__graph *graph)
{
    for (int i = 0; i < run->fetch_count; i++) {
        if (place_of(run->feeds, run->feed_count, (tw__edge){ run->fetches[i].node, run->fetches[i].output }) < 0)
            run->needed[run->fetches[i].node->id] = true;
    }
    for (size_t i = run->node_count; i-- > 0;) {
        const tw__node *node = graph->nodes[i];
        for (int k = 0; run->needed[i] && k < node->input_count; k++) {
            if (place_of(run->feeds, run->feed_count, node->inputs[k]) < 0)
                run->needed[node->inputs[k].node->id] = true;
        }
        for (int k = 0; run->needed[i] && k < node->control_count; k++)
            run->needed[node->controls[k]->id] = true;
    }
}

static tw_status setup(struct tw_partial_run *run, struct tw_session *session, tw_objects fetches, tw_tensors feeds)
{
    tw__graph *graph = tw__session_graph(session);
    if (!fetches.count)
        return tw__fail(TW_INVALID_ARGUMENT, "Must specify at least one target to fetch or execute.");
    run->session = tw_retain(session);
    run->node_count = graph->node_count;
    run->fetches = tw__alloc_array((size_t)fetches.count + 1, sizeof *run->fetches);
    run->fetched = tw__alloc_array((size_t)fetches.count + 1, sizeof *run->fetched);
    run->feeds = tw__alloc_array((size_t)feeds.count + 1, sizeof *run->feeds);
    run->fed = tw__alloc_array((size_t)feeds.count + 1, sizeof *run->fed);
    run->needed = tw__alloc_array(run->node_count + 1, sizeof *run->needed);
    run->done = tw__alloc_array(run->node_count + 1, sizeof *run->done);
    TW_NEED(run->fetches && run->fetched && run->feeds && run->fed && run->needed && run->done);
    for (int64_t i = 0; i < fetches.count; i++) {
        TW_TRY(tw__session_fetch(session, fetches.items[i], &run->fetches[i]));
        run->fetch_count++;
    }
    for (int64_t i = 0; i < feeds.count; i++) {
        const tw_tensor *key = feeds.items[i];
        if (!key->node || key->node->graph != graph)
            return tw__fail(TW_TYPE_ERROR, "partial_run_setup: a feed is not an element of this graph");
        run->feeds[run->feed_count++] = (tw__edge){ key->node, key->node_output };
    }
    find_needed(run, graph);
    return TW_OK;
}

TW_METHOD(session_partial_run_setup,
          "compat.v1._Session.partial_run_setup(self: session, fetches: list<object>, feeds: tensors = None) -> partial_run",
          "A run of which the fetches will be asked for, and the feeds given, in several steps.")
{
    if (tw__session_check_open(args->self) != TW_OK)
        return NULL;
    if (args->fetches.count > INT32_MAX / 2 || args->feeds.count > INT32_MAX / 2) {
        tw__fail(TW_INVALID_ARGUMENT, "partial_run_setup: too many fetches or feeds");
        return NULL;
    }
    struct tw_partial_run *run = tw__object_new(&tw__class_partial_run);
    if (run && setup(run, args->self, args->fetches, args->feeds) == TW_OK)
        return run;
    tw_release(run);
    return NULL;
}

/* ---- steps ---- */

/* The feeds count as fed from now on; their values are kept when nothing else stands in the way. */
static tw_status check_feeds(const struct tw_partial_run *run, tw_tensors feeds, tw_tensors values)
{
    if (feeds.count != values.count)
        return tw__fail(TW_INVALID_ARGUMENT, "partial_run: %lld feeds with %lld values", (long long)feeds.count,
                        (long long)values.count);
    for (int64_t i = 0; i < feeds.count; i++) {
        tw__edge edge = { feeds.items[i]->node, feeds.items[i]->node_output };
        int at = edge.node ? place_of(run->feeds, run->feed_count, edge) : -1;
        if (at < 0)
            return tw__fail(TW_INVALID_ARGUMENT, "The feed %s:%d was not specified in partial_run_setup.",
                            edge.node ? edge.node->name : "", edge.output);
        if (run->fed[at])
            return tw__fail(TW_INVALID_ARGUMENT, "The feed %s:%d has already been fed.", edge.node->name, edge.output);
        TW_TRY(tw__session_check_feed(feeds.items[i], values.items[i]));
    }
    return TW_OK;
}

static void mark_fed(struct tw_partial_run *run, tw_tensors feeds, bool fed)
{
    for (int64_t i = 0; i < feeds.count; i++) {
        tw__edge edge = { feeds.items[i]->node, feeds.items[i]->node_output };
        run->fed[place_of(run->feeds, run->feed_count, edge)] = fed;
    }
}

/* Which nodes can be computed from what was fed so far: of those that are needed, `ready` and what is `done` already. */
static void find_ready(const struct tw_partial_run *run, const tw__graph *graph, bool *ready)
{
    for (size_t i = 0; i < run->node_count; i++) {
        const tw__node *node = graph->nodes[i];
        ready[i] = run->needed[i] && !run->done[i] && !tw__node_is(node, TW_ROLE_PLACEHOLDER);
        for (int k = 0; ready[i] && k < node->input_count; k++) {
            tw__edge from = node->inputs[k];
            int feed = place_of(run->feeds, run->feed_count, from);
            ready[i] = feed >= 0 ? run->fed[feed] : run->done[from.node->id] || ready[from.node->id];
        }
        for (int k = 0; ready[i] && k < node->control_count; k++)
            ready[i] = run->done[node->controls[k]->id] || ready[node->controls[k]->id];
    }
}

/* The feed that a node waits for. */
static tw__edge missing_for(const struct tw_partial_run *run, tw__edge edge, int depth)
{
    int feed = place_of(run->feeds, run->feed_count, edge);
    if (feed >= 0 || depth > 10000)
        return edge;
    for (int k = edge.node->input_count; k-- > 0;) {
        tw__edge from = edge.node->inputs[k];
        int at = place_of(run->feeds, run->feed_count, from);
        if (at >= 0 ? !run->fed[at] : !run->done[from.node->id])
            return missing_for(run, from, depth + 1);
    }
    return edge;
}

/* A value that later steps or fetches want. */
static bool wanted_later(const struct tw_partial_run *run, const tw__graph *graph, const bool *ready, tw__edge edge)
{
    for (int i = 0; i < run->fetch_count; i++) {
        if (run->fetches[i].node == edge.node && run->fetches[i].output == edge.output && !run->fetched[i])
            return true;
    }
    for (size_t i = (size_t)edge.node->id + 1; i < run->node_count; i++) {
        const tw__node *node = graph->nodes[i];
        for (int k = 0; run->needed[i] && !run->done[i] && !ready[i] && k < node->input_count; k++) {
            if (node->inputs[k].node == edge.node && node->inputs[k].output == edge.output)
                return true;
        }
    }
    return false;
}

typedef struct step {
    tw__edge *feeds;
    tw_tensor **values;
    int feed_count;
    tw__fetch *fetches;
    int fetch_count, value_count;
    tw_tensor **outputs;
} step;

static tw_status add_feed(struct tw_partial_run *run, step *s, tw__edge edge)
{
    tw_tensor *value = value_of(run, edge);
    if (!value || place_of(s->feeds, s->feed_count, edge) >= 0)
        return TW_OK;
    s->feeds[s->feed_count] = edge;
    s->values[s->feed_count++] = value;
    return TW_OK;
}

/* Values first, then operations without one that were not run for their values. */
static tw_status fill_step(struct tw_partial_run *run, const tw__graph *graph, const bool *ready, step *s)
{
    size_t fetch_room = 1, feed_room = 1;
    for (size_t i = 0; i < run->node_count; i++) {
        fetch_room += ready[i] ? (size_t)graph->nodes[i]->output_count + 1 : 0;
        feed_room += ready[i] ? (size_t)graph->nodes[i]->input_count : 0;
    }
    s->feeds = tw__alloc_array(feed_room, sizeof *s->feeds);
    s->values = tw__alloc_array(feed_room, sizeof *s->values);
    s->fetches = tw__alloc_array(fetch_room, sizeof *s->fetches);
    s->outputs = tw__alloc_array(fetch_room, sizeof *s->outputs);
    TW_NEED(s->feeds && s->values && s->fetches && s->outputs);
    for (size_t i = 0; i < run->node_count; i++) {
        tw__node *node = graph->nodes[i];
        for (int k = 0; ready[i] && k < node->input_count; k++)
            TW_TRY(add_feed(run, s, node->inputs[k]));
        for (int k = 0; ready[i] && k < node->output_count; k++) {
            if (wanted_later(run, graph, ready, (tw__edge){ node, k }))
                s->fetches[s->fetch_count++] = (tw__fetch){ node, k };
        }
    }
    s->value_count = s->fetch_count;
    for (size_t i = 0; i < run->node_count; i++) {
        if (ready[i] && graph->nodes[i]->op->stateful && !tw__node_is(graph->nodes[i], TW_ROLE_VARIABLE))
            s->fetches[s->fetch_count++] = (tw__fetch){ graph->nodes[i], -1 };
    }
    return TW_OK;
}

static void end_step(step *s)
{
    tw__free(s->feeds);
    tw__free(s->values);
    tw__free(s->fetches);
    tw__free(s->outputs);
}

static tw_status run_ready(struct tw_partial_run *run, const tw__graph *graph, const bool *ready)
{
    tw__auto(end_step) step s = { 0 };
    tw_status status = fill_step(run, graph, ready, &s);
    if (status == TW_OK && s.fetch_count) {
        tw__prepared *prepared = tw__session_prepare(run->session, s.feeds, s.feed_count, s.fetches, s.fetch_count);
        status = prepared ? tw__session_run(run->session, prepared, s.values, s.outputs) : tw__error_status();
        for (int i = 0; status == TW_OK && i < s.value_count; i++) {
            tw_tensor *value = s.outputs[i];
            s.outputs[i] = NULL;
            status = keep(run, (tw__edge){ s.fetches[i].node, s.fetches[i].output }, value);
        }
        for (int i = 0; i < s.value_count; i++)
            tw_release(s.outputs[i]);
    }
    for (size_t i = 0; status == TW_OK && i < run->node_count; i++)
        run->done[i] |= ready[i];
    return status;
}

/* Where the fetch stands in the setup; it must be there, be asked for the first time, and be computable. */
static tw_status find_fetch(const struct tw_partial_run *run, tw__fetch fetch, const bool *ready, int *at)
{
    for (*at = 0; *at < run->fetch_count; ++*at) {
        if (run->fetches[*at].node == fetch.node && run->fetches[*at].output == fetch.output)
            break;
    }
    int output = fetch.output < 0 ? 0 : fetch.output;
    if (*at == run->fetch_count)
        return tw__fail(TW_INVALID_ARGUMENT, "The fetch %s:%d was not specified in partial_run_setup.", fetch.node->name, output);
    if (run->fetched[*at])
        return tw__fail(TW_INVALID_ARGUMENT, "The fetch %s:%d has already been fetched.", fetch.node->name, output);
    tw__edge edge = { fetch.node, output };
    int feed = place_of(run->feeds, run->feed_count, edge);
    if (feed >= 0 ? run->fed[feed] : ready[fetch.node->id] || run->done[fetch.node->id])
        return TW_OK;
    tw__edge missing = missing_for(run, edge, 0);
    return tw__fail(TW_INVALID_ARGUMENT, "Fetch %s:%d can't be computed from the feeds that have been fed so far.",
                    missing.node->name, missing.output);
}

static tw_status find_fetches(struct tw_partial_run *run, tw_objects fetches, const bool *ready, int *places)
{
    for (int64_t i = 0; i < fetches.count; i++) {
        tw__fetch fetch;
        TW_TRY(tw__session_fetch(run->session, fetches.items[i], &fetch));
        TW_TRY(find_fetch(run, fetch, ready, &places[i]));
    }
    return TW_OK;
}

static tw_status advance(struct tw_partial_run *run, const tw_partial_run_step_args *args, int *places, bool *ready,
                         tw_tensors *out)
{
    const tw__graph *graph = tw__session_graph(run->session);
    TW_TRY(tw__session_check_open(run->session));
    TW_TRY(check_feeds(run, args->feeds, args->values));
    mark_fed(run, args->feeds, true);
    find_ready(run, graph, ready);
    tw_status status = find_fetches(run, args->fetches, ready, places);
    for (int64_t i = 0; status == TW_OK && i < args->feeds.count; i++)
        status = keep(run, (tw__edge){ args->feeds.items[i]->node, args->feeds.items[i]->node_output },
                      tw_retain(args->values.items[i]));
    if (status != TW_OK) {
        mark_fed(run, args->feeds, false);
        return status;
    }
    TW_TRY(run_ready(run, graph, ready));
    for (int64_t i = 0; i < args->fetches.count; i++) {
        tw__fetch fetch = run->fetches[places[i]];
        run->fetched[places[i]] = true;
        if (fetch.output >= 0)
            out->items[out->count++] = tw_retain(value_of(run, (tw__edge){ fetch.node, fetch.output }));
    }
    return TW_OK;
}

TW_METHOD(
    partial_run_step,
    "compat.v1._PartialRun.step(self: partial_run, fetches: list<object>, feeds: tensors = None, values: tensors = None) -> tensors",
    "Goes on with the run: `values` are fed for `feeds`; the values of the fetched tensors, operations give nothing.")
{
    struct tw_partial_run *run = args->self;
    tw_tensors out = { tw__alloc_array((size_t)args->fetches.count + 1, sizeof(tw_tensor *)), 0 };
    int *places = tw__alloc_array((size_t)args->fetches.count + 1, sizeof *places);
    bool *ready = tw__alloc_array(run->node_count + 1, sizeof *ready);
    tw_status status = out.items && places && ready ? advance(run, args, places, ready, &out) : TW_RESOURCE_EXHAUSTED;
    tw__free(places);
    tw__free(ready);
    if (status == TW_OK)
        return out;
    for (int64_t i = 0; i < out.count; i++)
        tw_release(out.items[i]);
    tw__free(out.items);
    return (tw_tensors){ 0 };
}

TW_PROPERTY(partial_run_over, "compat.v1._PartialRun.over(self: partial_run) -> bool", "Whether everything was fed and fetched.")
{
    bool over = true;
    for (int i = 0; i < args->self->fetch_count; i++)
        over &= args->self->fetched[i];
    for (int i = 0; i < args->self->feed_count; i++)
        over &= args->self->fed[i];
    return over;
}
