/* Graphs: what tracing makes of calls of ops.
 *
 * While a thread traces into a graph, the one door (eager/apply) appends a node for every call instead of running it, and hands out symbolic
 * tensors: outputs of nodes, with a dtype and a shape that may be partial. A node's inputs are always earlier nodes, so the order of
 * nodes is an order of execution, and, since nodes stand in program order, side effects keep theirs.
 *
 * A tensor from outside (eager, or of an enclosing graph) that a node uses is *captured*: small constants become Const nodes; everything
 * else becomes a Placeholder that the caller of the graph feeds with the captured tensor. */
#ifndef TW_GRAPH_H
#define TW_GRAPH_H

#include "op/op.h"

typedef struct tw__node tw__node;
typedef struct tw__graph tw__graph;

typedef struct tw__edge {
    tw__node *node;
    int32_t output;
} tw__edge;

struct tw__node {
    tw__graph *graph; /* its owner */
    int32_t id;       /* position in the graph */
    const tw_op *op;
    char *name;
    tw_attr *attrs;   /* complete, in the row's order */
    int attr_count;
    tw__edge *inputs;
    int input_count;
    tw__node **controls; /* nodes that it follows without using their values */
    int control_count;
    int output_count;
    tw_dtype *out_dtypes;
    tw_shape *out_shapes;
    /* The same node with more inputs and outputs, for those who ask for an output that this form lacks; NULL if there is none. A loop that is
     * differentiated gets one, which keeps what its gradient needs. out_dtypes and out_shapes are long enough for the richest form. */
    tw__node *rich;
    void *outgrown[2];   /* the arrays of outputs that it had before it got a richer form, whose arrays it shares since */
    tw_object *gradient; /* what stands for the gradient of the op (a custom gradient); a reference, or NULL */
};

typedef struct tw__capture {
    tw_tensor *outside;  /* a reference */
    tw__node *inside;    /* the placeholder that stands for it */
} tw__capture;

struct tw__graph {
    tw_object object;
    char *name;             /* of the function it is traced for, or NULL */
    tw__graph *outer;       /* the graph that was traced when this one began; a reference */
    tw__node **nodes;
    size_t node_count, node_capacity;
    tw__map names;          /* name -> node */
    tw__map name_uses;      /* base name -> count */
    tw__capture *captures;
    size_t capture_count, capture_capacity;
    tw__pointer_map captured; /* outside tensor -> index */
    int users;              /* functions made of this graph; see tw__graph_leave */
    int64_t random_ops;     /* seedless random ops so far: their second seed */
};

extern const tw_class tw__graph_class;
tw__graph *tw__graph_new(tw__graph *outer);

/* Functions in a graph's nodes may hold the graph in turn (they captured something of it). Who runs the graph says so; when the last one
 * leaves, the nodes' functions are dropped, which ends such circles. */
void tw__graph_enter(tw__graph *graph);
void tw__graph_leave(tw__graph *graph);
/* Gives the node a richer form than those it has; the first inputs and outputs are those of the form before. Attrs are complete and are
 * copied, as many as the node has. Plans that were made already stay as they are. */
tw_status tw__node_enrich(tw__node *node, const tw_attr *attrs, const tw__edge *inputs, int input_count, const tw_dtype *out_dtypes,
                          const tw_shape *out_shapes, int output_count);
/* The poorest form that has so many outputs; the richest one. */
const tw__node *tw__node_form(const tw__node *node, int outputs);
#define tw__node_richest(node_) tw__node_form((node_), INT32_MAX)
/* Moves the nodes from position `first` on to the place before `node`, which uses them. */
void tw__graph_move_before(tw__graph *graph, size_t first, const tw__node *node);

/* The graph that the thread traces into, or NULL. */
extern _Thread_local tw__graph *tw__tracing;

/* Appends a node. `attrs` are complete; inputs are edges of this graph. Name NULL: after the op. */
tw__node *tw__graph_add(tw__graph *graph, const tw_op *op, const char *name, const tw__edge *inputs, int input_count, const tw_attr *attrs,
                        int attr_count, const tw_dtype *out_dtypes, const tw_shape *out_shapes, int output_count);
/* Another name, made unique if it is taken. */
tw_status tw__node_rename(tw__node *node, const char *name);
/* A control input: an earlier node of the graph that runs whenever this one does. */
tw_status tw__node_follow(tw__node *node, tw__node *earlier);
/* Output i as a symbolic tensor; a new reference. */
tw_tensor *tw__node_output(tw__node *node, int output);
tw_tensor *tw__graph_placeholder(tw__graph *graph, tw_dtype dtype, const tw_shape *shape, const char *name);
tw_tensor *tw__graph_constant(tw__graph *graph, tw_tensor *value, const char *name);
/* The tensor as one of this graph: itself, a constant, or a capture. A new reference. */
tw_tensor *tw__graph_import(tw__graph *graph, tw_tensor *tensor);
tw__node *tw__graph_find(const tw__graph *graph, const char *name);

/* The door while tracing: resolves, infers, appends, hands out symbolic outputs. */
tw_status tw__graph_apply(tw__graph *graph, const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *complete,
                          int attr_count, const tw_dtype *out_dtypes, const tw_shape *out_shapes, int output_count, tw_tensor **outputs);

#endif
