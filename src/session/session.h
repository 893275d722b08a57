/* Graphs that programs build, and sessions that run them.
 *
 *     tw_auto tw_graph *graph = tw_graph();
 *     tw_graph_enter(graph);                                    // ops now become nodes of it
 *     tw_auto tw_tensor *x = tw_placeholder(TW_FLOAT32, .shape = TW_SHAPE(-1, 3));
 *     tw_auto tw_tensor *y = tw_reduce_sum(x);
 *     tw_graph_exit(graph);
 *     tw_auto tw_session *session = tw_session(.graph = graph);
 *     tw_tensors results = tw_session_run(session, TW_OBJECTS(y), .feeds = TW_TENSORS(x), .values = TW_TENSORS(value));
 *
 * What users hold is a tw_graph; the graph itself (graph/graph.h) is held by it and by the tensors. Variables have one state per
 * session. For each set of fetches and feeds a session keeps a function of the nodes they need; see subgraph.c. */
#ifndef TW_SESSION_H
#define TW_SESSION_H

#include "function/function.h"

struct tw_session;

struct tw_graph {
    tw_object object;
    tw__graph *graph;
};

struct tw_operation {
    tw_object object;
    tw__graph *graph; /* a reference */
    tw__node *node;
};

struct tw_graph *tw__graph_object(tw__graph *graph); /* what users see of a lasting graph; a new reference */
struct tw_operation *tw__operation_of(tw__node *node);

/* A NoOp that follows the nodes (group.c). */
/* Those nodes with effects that were added to the graph since it had so many nodes; new memory, or NULL with the error set. */
tw__node **tw__effects_since(const tw__graph *graph, size_t since, int *count);
struct tw_operation *tw__group(tw__graph *graph, tw__node *const *nodes, int count, const char *name);

/* ---- the default graph (default.c) ---- */
struct tw_graph *tw__default_graph(void); /* the thread's; a new reference */
tw_status tw__default_push(struct tw_graph *graph);
tw_status tw__default_pop(struct tw_graph *graph);
bool tw__eager_disabled(void);

/* ---- what is run for one set of fetches and feeds (subgraph.c) ---- */
typedef struct tw__prepared {
    tw__function *function;
    tw_tensor **bound; /* values of the inputs behind the feeds: handles of the session's variables */
    int feed_count, bound_count, fetch_count;
} tw__prepared;

typedef struct tw__fetch {
    tw__node *node;
    int32_t output; /* -1: the operation itself, which gives nothing */
} tw__fetch;

/* The handle that a node of the graph stands for in the session; a new reference. */
typedef tw_tensor *(*tw__binder)(void *context, const tw__node *node, tw_tensor *outside);
/* The stream of a node in the session, which all functions go on with. Borrowed; NULL: an error. */
tw__kernel_stream *tw__session_stream(void *session, const tw__node *node);
tw__prepared *tw__prepare(tw__graph *graph, const tw__edge *feeds, int feed_count, const tw__fetch *fetches, int fetch_count,
                          bool soft, tw__binder bind, void *context);
void tw__prepared_free(tw__prepared *prepared);

/* ---- sessions (session.c) ---- */
/* The prepared form, made if there is none; it belongs to the session and lives as long. NULL: an error. */
tw__prepared *tw__session_prepare(struct tw_session *session, const tw__edge *feeds, int feed_count, const tw__fetch *fetches,
                                  int fetch_count);
/* One that belongs to the caller, for tw__prepared_free. */
tw__prepared *tw__session_prepare_own(struct tw_session *session, const tw__edge *feeds, int feed_count, const tw__fetch *fetches,
                                      int fetch_count);
/* `values` for the feeds; `outputs` has room for one tensor per fetch, NULL for operations. */
tw_status tw__session_run(struct tw_session *session, tw__prepared *prepared, tw_tensor *const *values, tw_tensor **outputs);
tw__graph *tw__session_graph(const struct tw_session *session);
tw_status tw__session_check_open(const struct tw_session *session);
/* What a fetched object means in the session's graph. */
tw_status tw__session_fetch(const struct tw_session *session, void *object, tw__fetch *fetch);
/* Whether the value may be fed for the tensor. */
tw_status tw__session_check_feed(const tw_tensor *key, const tw_tensor *value);
/* The session's state of a variable. Borrowed; NULL: an error. */
struct tw__resource *tw__session_resource(struct tw_session *session, const tw_variable *variable);

#endif
