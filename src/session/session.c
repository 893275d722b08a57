/* Session: the state of a graph's variables, and the functions that its runs have needed so far.
 *
 * Each session has its own state of every variable. The first one that touches a variable uses the variable's own resource, so
 * that what reads variables directly (checkpoints, weights) sees its values; further sessions have resources of their own. */
#include <time.h>

#include "base/pause.h"
#include "op/queue/queue.h"
#include "rows.h"
#include "session/session.h"

enum { PREPARED_LIMIT = 512 };

struct tw_session {
    tw_object object;
    struct tw_graph *owner;
    tw__graph *graph;
    pthread_mutex_t lock;
    tw__map resources; /* container and name -> handle */
    tw__map streams;   /* name of a node whose kernel has state -> tw__kernel_stream */
    tw__map prepared;  /* feeds and fetches -> tw__prepared */
    bool ready, closed;
    bool soft;           /* nodes whose device is not there run on the processor */
    _Atomic int running; /* runs that have begun and not ended, in all threads */
};

static _Thread_local int runs_here; /* of any session in this thread: a run may call functions of the program */

static void free_prepared(void *memory)
{
    tw__prepared_free(memory);
}

static void free_resource(void *memory)
{
    tw_tensor *handle = memory;
    tw__resource *resource = (tw__resource *)tw__tensor_object(handle);
    if (resource && resource->session) { /* the variable's own: it has no value any more */
        resource->session = NULL;
        tw_release(tw__resource_take(resource));
    }
    tw_release(handle);
}

static void free_stream(void *stream)
{
    tw_release(stream);
}

/* Threads that wait for queues of the session go on, with an error. */
static void cancel_queues(struct tw_session *session)
{
    for (size_t i = 0; i < session->streams.count; i++) {
        tw__kernel_stream *stream = session->streams.entries[i].value;
        if (stream && stream->free_state == tw__queue_release)
            tw__queue_cancel(stream->state);
    }
}

static void close_session(struct tw_session *session)
{
    session->closed = true;
    tw__map_free(&session->prepared, free_prepared);
    tw__map_free(&session->streams, free_stream);
    tw__map_free(&session->resources, free_resource);
}

static void session_destroy(void *self)
{
    struct tw_session *session = self;
    close_session(session);
    tw_release(session->owner);
    tw_release(session->graph);
    if (session->ready)
        pthread_mutex_destroy(&session->lock);
}

static tw_status session_init(void *self, const void *given)
{
    struct tw_session *session = self;
    const tw_session_args *args = given;
    if (args->target && *args->target)
        return tw__fail(TW_UNIMPLEMENTED, "Session: the target '%s': sessions run in this process only", args->target);
    session->owner = args->graph ? tw_retain(args->graph) : tw__default_graph();
    TW_NEED(session->owner);
    session->graph = tw_retain(session->owner->graph);
    pthread_mutex_init(&session->lock, NULL);
    session->ready = true;
    session->soft = args->allow_soft_placement;
    return TW_OK;
}

TW_CLASS(session, "compat.v1._Session(target: str = '', graph: graph = None, allow_soft_placement: bool = False)",
         .size = sizeof(struct tw_session), .init = session_init, .destroy = session_destroy, .drop_config = true,
         .doc = "Runs parts of a graph, and holds the state of its variables.");

tw__graph *tw__session_graph(const struct tw_session *session)
{
    return session->graph;
}

tw_status tw__session_check_open(const struct tw_session *session)
{
    return session->closed ? tw__fail(TW_RUNTIME_ERROR, "Attempted to use a closed Session.") : TW_OK;
}

/* ---- state ---- */

/* The handle of that name, made if there is none; borrowed. `own` is the handle of the variable in the program, or NULL. */
static tw_tensor *handle_of(struct tw_session *session, const char *container, const char *name, tw_dtype dtype,
                            const tw_shape *shape, tw_tensor *own)
{
    tw__owned char *key = tw__format("%s/%s", container, name);
    tw_tensor *handle = key ? tw__map_get(&session->resources, key, strlen(key)) : NULL;
    if (key && !handle) {
        tw__resource *mine = own ? tw__resource_of(own) : NULL;
        if (mine && !mine->session) {
            mine->session = session;
            handle = tw_retain(own);
        } else {
            tw_auto tw__resource *resource = tw__resource_new(dtype, shape, name);
            handle = resource ? tw__tensor_of_object(TW_RESOURCE, resource) : NULL;
            if (resource && mine)
                resource->trainable = mine->trainable;
        }
        if (handle && tw__map_put(&session->resources, key, strlen(key), handle) != TW_OK) {
            free_resource(handle);
            handle = NULL;
        }
    }
    return handle;
}

tw__kernel_stream *tw__session_stream(void *of, const tw__node *node)
{
    struct tw_session *session = of;
    tw__kernel_stream *stream = tw__map_get(&session->streams, node->name, strlen(node->name));
    if (!stream && (stream = tw__kernel_stream_new(node->op)) &&
        tw__map_put(&session->streams, node->name, strlen(node->name), stream) != TW_OK) {
        tw_release(stream);
        stream = NULL;
    }
    return stream;
}

static tw_tensor *bind(void *context, const tw__node *node, tw_tensor *outside)
{
    if (!tw__node_is(node, TW_ROLE_VARIABLE))
        return tw_retain(outside);
    tw_string container = tw__attr_find(node->op, node->attrs, "container")->s,
              shared = tw__attr_find(node->op, node->attrs, "shared_name")->s;
    tw__owned char *box = tw__strndup(container.size ? container.data : "", container.size);
    tw__owned char *name = tw__strndup(shared.size ? shared.data : node->name, shared.size ? shared.size : strlen(node->name));
    tw_tensor *handle = NULL;
    if (box && name)
        handle = handle_of(context, box, name, tw__attr_find(node->op, node->attrs, "dtype")->type,
                           tw__attr_find(node->op, node->attrs, "shape")->shape, outside);
    return tw_retain(handle);
}

tw__resource *tw__session_resource(struct tw_session *session, const tw_variable *variable)
{
    if (tw__session_check_open(session) != TW_OK)
        return NULL;
    if (variable->graph != session->graph) {
        tw__fail(TW_VALUE_ERROR, "the variable %s is not of the session's graph", variable->name);
        return NULL;
    }
    tw__mutex_take(&session->lock);
    tw_tensor *handle =
        handle_of(session, "", variable->resource->name, variable->resource->dtype, &variable->resource->shape, variable->handle);
    pthread_mutex_unlock(&session->lock);
    return handle ? tw__resource_of(handle) : NULL;
}

/* ---- running ---- */

tw__prepared *tw__session_prepare(struct tw_session *session, const tw__edge *feeds, int feed_count, const tw__fetch *fetches,
                                  int fetch_count)
{
    if (tw__session_check_open(session) != TW_OK)
        return NULL;
    if (session->graph->node_count == 0) {
        tw__fail(TW_RUNTIME_ERROR, "The Session graph is empty. Add operations to the graph before calling run().");
        return NULL;
    }
    tw__auto(tw__text_free) tw__text key = { 0 };
    tw__text_bytes(&key, &feed_count, sizeof feed_count);
    for (int i = 0; i < feed_count; i++) {
        tw__text_bytes(&key, &feeds[i].node, sizeof feeds[i].node);
        tw__text_bytes(&key, &feeds[i].output, sizeof feeds[i].output);
    }
    for (int i = 0; i < fetch_count; i++) {
        tw__text_bytes(&key, &fetches[i].node, sizeof fetches[i].node);
        tw__text_bytes(&key, &fetches[i].output, sizeof fetches[i].output);
    }
    tw__prepared *prepared = NULL;
    tw__mutex_take(&session->lock);
    tw__graph_settle(session->graph);
    if (!key.failed)
        prepared = tw__map_get(&session->prepared, key.data, key.size);
    if (!prepared && !key.failed && session->prepared.count >= PREPARED_LIMIT)
        tw__fail(TW_RESOURCE_EXHAUSTED, "a session with more than %d different sets of fetches and feeds", PREPARED_LIMIT);
    else if (!prepared && !key.failed) {
        prepared = tw__prepare(session->graph, feeds, feed_count, fetches, fetch_count, session->soft, bind, session);
        if (prepared && tw__map_put(&session->prepared, key.data, key.size, prepared) != TW_OK) {
            tw__prepared_free(prepared);
            prepared = NULL;
        }
    }
    pthread_mutex_unlock(&session->lock);
    return prepared;
}

tw__prepared *tw__session_prepare_own(struct tw_session *session, const tw__edge *feeds, int feed_count, const tw__fetch *fetches,
                                      int fetch_count)
{
    pthread_mutex_lock(&session->lock);
    tw__graph_settle(session->graph);
    tw__prepared *prepared = tw__prepare(session->graph, feeds, feed_count, fetches, fetch_count, session->soft, bind, session);
    pthread_mutex_unlock(&session->lock);
    return prepared;
}

static tw_status run_prepared(const tw__prepared *prepared, tw_tensor *const *values, tw_tensor **outputs)
{
    tw__function *f = prepared->function;
    tw_tensor *few[64], **inputs = f->input_count <= 64 ? few : tw__alloc_array((size_t)f->input_count, sizeof *inputs);
    tw_tensor *few_out[32], **out = f->output_count <= 32 ? few_out : tw__alloc_array((size_t)f->output_count, sizeof *out);
    tw_status status = inputs && out ? TW_OK : TW_RESOURCE_EXHAUSTED;
    if (status == TW_OK) {
        for (int i = 0; i < prepared->feed_count; i++)
            inputs[i] = values[i];
        for (int i = 0; i < prepared->bound_count; i++)
            inputs[prepared->feed_count + i] = prepared->bound[i];
        status = tw__function_run(f, inputs, out);
        if (status != TW_OK)
            tw__error_wrap("", "");
    }
    for (int i = 0; status == TW_OK && i < f->output_count; i++) {
        if (i < prepared->fetch_count)
            outputs[i] = out[i];
        else
            tw_release(out[i]);
    }
    if (inputs != few)
        tw__free(inputs);
    if (out != few_out)
        tw__free(out);
    return status;
}

tw_status tw__session_run(struct tw_session *session, tw__prepared *prepared, tw_tensor *const *values, tw_tensor **outputs)
{
    session->running++; /* before the question: who closes the session waits for what runs */
    runs_here++;
    tw_status status = tw__session_check_open(session);
    if (status == TW_OK)
        status = run_prepared(prepared, values, outputs);
    runs_here--;
    session->running--;
    return status;
}

/* ---- rows ---- */

tw_status tw__session_fetch(const struct tw_session *session, void *object, tw__fetch *fetch)
{
    if (tw__is(object, &tw__class_operation)) {
        *fetch = (tw__fetch){ ((struct tw_operation *)object)->node, -1 };
    } else if (tw__is(object, &tw__class_variable) && ((tw_variable *)object)->snapshot) {
        *fetch = (tw__fetch){ ((tw_variable *)object)->snapshot, 0 };
    } else if (tw__is(object, &tw__tensor_class) && ((tw_tensor *)object)->node) {
        *fetch = (tw__fetch){ ((tw_tensor *)object)->node, ((tw_tensor *)object)->node_output };
    } else {
        return tw__fail(TW_TYPE_ERROR,
                        "Session.run: a %s can't be fetched: tensors, operations and variables of the session's graph can",
                        object ? tw_class_name(object) : "NULL");
    }
    if (fetch->node->graph != session->graph)
        return tw__fail(TW_VALUE_ERROR, "Session.run: '%s' is not an element of this graph.", fetch->node->name);
    return TW_OK;
}

static tw_status feed_of(const struct tw_session *session, tw_tensor *key, const tw_tensor *value, tw__edge *edge)
{
    if (!key || !key->node || key->node->graph != session->graph)
        return tw__fail(TW_TYPE_ERROR, "Cannot interpret feed_dict key as Tensor: it is not an element of this graph.");
    *edge = (tw__edge){ key->node, key->node_output };
    return tw__session_check_feed(key, value);
}

tw_status tw__session_check_feed(const tw_tensor *key, const tw_tensor *value)
{
    if (value->node || value->dtype != key->dtype)
        return tw__fail(TW_TYPE_ERROR, "Session.run: '%s:%d' is fed a %s, expected a value of dtype %s", key->node->name,
                        key->node_output, value->node ? "tensor of a graph" : tw_dtype_name(value->dtype),
                        tw_dtype_name(key->dtype));
    if (tw__shape_compatible(&key->shape, &value->shape))
        return TW_OK;
    tw__owned char *given = tw__shape_tuple(&value->shape), *own = tw__shape_tuple(&key->shape);
    tw__fail(TW_VALUE_ERROR, "Cannot feed value of shape %s for Tensor %s:%d, which has shape %s", given ? given : "",
             key->node->name, key->node_output, own ? own : "");
    return TW_VALUE_ERROR;
}

static tw_status run(struct tw_session *session, const tw_session_run_args *args, tw__fetch *fetches, tw__edge *feeds,
                     tw_tensor **outputs, int *count)
{
    for (int64_t i = 0; i < args->fetches.count; i++)
        TW_TRY(tw__session_fetch(session, args->fetches.items[i], &fetches[i]));
    for (int64_t i = 0; i < args->feeds.count; i++)
        TW_TRY(feed_of(session, args->feeds.items[i], args->values.items[i], &feeds[i]));
    tw__prepared *prepared = tw__session_prepare(session, feeds, (int)args->feeds.count, fetches, (int)args->fetches.count);
    TW_NEED(prepared);
    *count = prepared->fetch_count;
    return tw__session_run(session, prepared, args->values.items, outputs);
}

TW_METHOD(
    session_run,
    "compat.v1._Session.run(self: session, fetches: list<object>, feeds: tensors = None, values: tensors = None) -> tensors",
    "The values of the fetched tensors and variables, in order; operations are run and give nothing. `values` are fed for `feeds`.")
{
    struct tw_session *session = args->self;
    tw_tensors out = { 0 };
    if (args->feeds.count != args->values.count || args->fetches.count > INT32_MAX / 2 || args->feeds.count > INT32_MAX / 2) {
        tw__fail(TW_INVALID_ARGUMENT, "Session.run: %lld feeds with %lld values", (long long)args->feeds.count,
                 (long long)args->values.count);
        return out;
    }
    tw__owned tw__fetch *fetches = tw__alloc_array((size_t)args->fetches.count + 1, sizeof *fetches);
    tw__owned tw__edge *feeds = tw__alloc_array((size_t)args->feeds.count + 1, sizeof *feeds);
    tw_tensor **outputs = tw__alloc_array((size_t)args->fetches.count + 1, sizeof *outputs);
    int count = 0;
    if (fetches && feeds && outputs && run(session, args, fetches, feeds, outputs, &count) == TW_OK)
        out = (tw_tensors){ outputs, count };
    else
        tw__free(outputs);
    return out;
}

TW_METHOD(session_close, "compat.v1._Session.close(self: session)", "Drops the state; the session can't be used any more.")
{
    struct tw_session *session = args->self;
    tw__mutex_take(&session->lock);
    session->closed = true;
    cancel_queues(session);
    pthread_mutex_unlock(&session->lock);
    if (runs_here) /* inside of a run: what it uses goes with the session */
        return TW_OK;
    while (session->running) {
        void *language = tw__wait_begin();
        nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
        tw__wait_end(language);
        TW_TRY(tw__interrupted());
    }
    tw__mutex_take(&session->lock);
    close_session(session);
    pthread_mutex_unlock(&session->lock);
    return TW_OK;
}

TW_PROPERTY(session_graph, "compat.v1._Session.graph(self: session) -> graph", "The graph that is run.")
{
    return tw_retain(args->self->owner);
}
