/* Graphs: what tracing makes of calls of ops.
 *
 * While a thread traces into a graph, dispatch (eager/apply.c) appends a node for every call instead of running it, and hands
 * out symbolic tensors: outputs of nodes, with a dtype and a shape that may be partial. A node's inputs are always earlier nodes,
 * so the order of nodes is an order of execution, and, since nodes stand in program order, side effects keep theirs.
 *
 * A tensor from outside (eager, or of an enclosing graph) that a node uses is *captured*: small constants become Const nodes;
 * everything else becomes a Placeholder that the caller of the graph feeds with the captured tensor.
 *
 * A *lasting* graph is not traced for a function: a program builds it and a session runs parts of it (src/session). Its names are
 * exactly TensorFlow's, every value from outside becomes a constant, and it may have control dependencies and a seed. */
#ifndef TW_GRAPH_H
#define TW_GRAPH_H

#include "device/device.h"
#include "graph/scope.h"
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
    tw_attr *attrs; /* complete, in the row's order */
    int attr_count;
    tw__edge *inputs;
    int input_count;
    tw__node **controls; /* nodes that it follows without using their values */
    int control_count;
    int output_count;
    tw_dtype *_Atomic out_dtypes; /* atomic: runs of plans read them while a derivative gives the node a richer form */
    tw_shape *_Atomic out_shapes;
    /* The same node with more inputs and outputs, for those who ask for an output that this form lacks; NULL if there is none. A
     * loop that is differentiated gets one, which keeps what its gradient needs. out_dtypes and out_shapes are long enough for
     * the richest form. */
    tw__node *rich;
    void *outgrown[2];   /* the arrays of outputs that it had before it got a richer form, whose arrays it shares since */
    tw_object *gradient; /* what stands for the gradient of the op (a custom gradient); a reference, or NULL */
    char *gradient_type; /* how files call what stands for the gradient ("CustomGradient-3"); NULL: nothing does */
    tw_object *origin;   /* a tw__origin: where in the program it was made; a reference, or NULL */
    char *device;        /* where it is to run, as the program said; NULL: nowhere in particular */
    struct tw__kernel_stream
        *stream; /* of a kernel with state, shared with other copies of the node; a reference. NULL: each plan has its own */
    struct tw__host_function *host; /* the function that it calls outside of graphs (op/host/host.h), which it holds; or NULL */
    char *colocation;               /* "a": TensorFlow is to place it where the node a is; NULL: nowhere in particular */
    bool manual;                    /* others follow it because the program says so */
    int32_t scope;                  /* how many letters of the name are the scope that was open when the op was called */
    bool unnamed;                   /* while a call is being named (naming.c) */
    bool helps;  /* a constant or a read that the call made of an argument: it is named after the node that uses it */
    bool checks; /* a check of numbers that was added to another node, its input (numerics.c): it is named after that */
};

/* What a node is (op.h, tw__role). */
static inline bool tw__node_is(const tw__node *node, tw__role role)
{
    return node->op->role == role;
}
/* The value of a constant; NULL for other nodes. */
static inline tw_tensor *tw__node_constant(const tw__node *node)
{
    return tw__node_is(node, TW_ROLE_CONSTANT) ? tw__attr_find(node->op, node->attrs, "value")->tensor : NULL;
}

/* Where in the program something was made: lines as Python's tracebacks have them, the outermost first. */
typedef struct tw__origin {
    tw_object object;
    char *text;
} tw__origin;
extern const tw_class tw__origin_class;
/* Adds its lines, each between the two texts; nothing for NULL. */
void tw__origin_write(tw__text *text, const tw_object *origin, const char *before, const char *after);

/* ---- checks of every number (numerics.c) ---- */
/* How many threads want them: 0 is the usual case, and nobody looks further then. */
extern _Atomic int tw__numerics_threads;
/* Adds checks to a new node's float outputs, if the thread wants them. */
tw_status tw__numerics_trace(tw__node *node);
tw__node *tw__numerics_check_of(const tw__node *node, int output); /* NULL: there is none */
tw_status tw__numerics_settle(tw__node *check); /* the checked node has its name now: so gets the check, and its text */
/* Fails if an output of something that ran at once is not finite and the thread wants to know. */
tw_status tw__numerics_run(const char *name, tw_tensor *const *inputs, int input_count, tw_tensor *const *outputs,
                           int output_count);
tw__node *tw__node_checked(tw__node *node); /* the node itself, or the one that it checks */

/* What a kernel keeps from run to run (random numbers), where several graphs hold copies of one node. */
typedef struct tw__kernel_stream {
    tw_object object;
    _Atomic uint32_t lock; /* tw__hold_take */
    void *state;
    void (*free_state)(void *state);
} tw__kernel_stream;
tw__kernel_stream *tw__kernel_stream_new(const tw_op *op);

typedef struct tw__capture {
    tw_tensor *outside; /* a reference */
    tw__node *inside;   /* the placeholder that stands for it */
} tw__capture;

struct tw__graph {
    tw_object object;
    char *name;       /* of the function it is traced for, or NULL */
    tw__graph *outer; /* the graph that was traced when this one began; a reference */
    bool read;        /* built of a file: no graph is around it, except while it is differentiated (function/gradient.c) */
    tw__node **nodes;
    size_t node_count, node_capacity;
    tw__map names;        /* name -> node */
    tw__map name_uses;    /* base name -> count */
    tw__map layer_counts; /* of a lasting graph: Keras's names of layers -> count */
    tw__capture *captures;
    size_t capture_count, capture_capacity;
    tw__pointer_map captured; /* outside tensor -> index */
    int users;                /* functions made of this graph; see tw__graph_leave */
    uint32_t traces;          /* how many had begun, this one among them */
    int64_t random_ops;       /* seedless random ops so far: their second seed */
    bool lasting, finalized;
    bool compiled;  /* its plans are to run on a PJRT plug-in's device, as far as they can (exec/pass_compile.c) */
    size_t pending; /* one more than the place of the first read that may have no name yet; 0: there is none */
    bool seeded;
    int64_t seed;                       /* of a lasting graph, if it is seeded */
    struct tw__control_scope *controls; /* the innermost (control.c) */
    tw__map collections;                /* name -> tw__collection; holds the graph's variables */
    tw_object *variable_store;          /* what src/v1 keeps of variables by name; a reference, or NULL */
    void *owner;                        /* the object that users see, which holds this one; NULL if there is none */
};

/* Objects under a name: variables, mostly. The graph holds them; they must not hold the graph. */
typedef struct tw__collection {
    tw_object **items;
    size_t count, capacity;
} tw__collection;
tw_status tw__graph_collect(tw__graph *graph, const char *name, void *object);
const tw__collection *tw__graph_collection(const tw__graph *graph, const char *name); /* NULL: nothing was collected */
/* What is done to collected objects when the graph ends. */
extern void (*tw__graph_member_ended)(tw_object *member);

extern const tw_class tw__graph_class;
tw__graph *tw__graph_new(tw__graph *outer);

/* Functions in a graph's nodes may hold the graph in turn (they captured something of it). Who runs the graph says so; when the
 * last one leaves, the nodes' functions are dropped, which ends such circles. */
void tw__graph_enter(tw__graph *graph);
void tw__graph_leave(tw__graph *graph);
/* Gives the node a richer form than those it has; the first inputs and outputs are those of the form before. Attrs are complete
 * and are copied, as many as the node has. Plans that were made already stay as they are. */
tw_status tw__node_enrich(tw__node *node, const tw_attr *attrs, const tw__edge *inputs, int input_count,
                          const tw_dtype *out_dtypes, const tw_shape *out_shapes, int output_count);
/* The poorest form that has so many outputs; the richest one. */
const tw__node *tw__node_form(const tw__node *node, int outputs);
#define tw__node_richest(node_) tw__node_form((node_), INT32_MAX)
/* What is known of a symbolic tensor's shape besides: dimensions that it lacks are taken from a shape that is compatible with its
 * own. */
tw_status tw__symbolic_refine(tw_tensor *symbolic, const tw_shape *shape);
/* Moves the nodes from position `first` on to the place before `node`, which uses them. */
void tw__graph_move_before(tw__graph *graph, size_t first, const tw__node *node);

/* The graph that the thread traces into, or NULL. */
extern _Thread_local tw__graph *tw__tracing;

/* Appends a node. `attrs` are complete; inputs are edges of this graph. Name NULL: after the op. */
tw__node *tw__graph_add(tw__graph *graph, const tw_op *op, const char *name, const tw__edge *inputs, int input_count,
                        const tw_attr *attrs, int attr_count, const tw_dtype *out_dtypes, const tw_shape *out_shapes,
                        int output_count);
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
/* Fails: a tensor of a graph is used where that graph is not traced. */
tw_status tw__graph_out_of_scope(const tw_tensor *tensor);
/* From now on the node stands for a tensor from outside. */
tw_status tw__graph_capture(tw__graph *graph, tw_tensor *outside, tw__node *inside);
tw__node *tw__graph_find(const tw__graph *graph, const char *name);
/* A copy of a node (of that form alone) in another graph, with these inputs; controls are not copied. */
tw__node *tw__node_copy(const tw__node *node, tw__graph *graph, const tw__edge *inputs);
/* The nearest lasting graph around, the graph itself included; or NULL. */
tw__graph *tw__graph_root(tw__graph *graph);

/* Readers of partly known vectors (partial.c, tw__partial_reader): the context is an array of tensors, or of edges. */
bool tw__partial_of_tensors(const void *tensors, int input, tw_shape *shape);
bool tw__partial_of_edges(const void *edges, int input, tw_shape *shape);

/* ---- names (naming.c) ---- */
/* The name, or the name with a number that is free; marked: it is taken from now on. For tw__free. */
char *tw__graph_unique_name(tw__graph *graph, const char *name, bool marked);
/* VALUE_ERROR unless it may be the name of a scope (inner: below another) or node. */
tw_status tw__graph_check_name(const char *name, bool inner);
/* Nodes that are made between the two get their names at the end: that of the result from the call's name argument or from the
 * row, others after it. Inside each other, only the outermost ones count. `id` is the row's, or NULL; `result` the call's result
 * or NULL. */
typedef struct tw__naming {
    tw__graph *graph; /* NULL: nothing to do */
    size_t first;
    tw__graph *previous; /* in which names wait outside of this call */
} tw__naming;
tw__naming tw__naming_start(void);
tw_status tw__naming_finish(tw__naming naming, const char *id, const char *name, const tw_tensor *result);
/* What a flat input of an operation is called: "y", or "values_1" in a list. For tw__free. */
char *tw__input_name(const tw_op *op, const tw_attr *attrs, int input);
/* A call that is being named has failed at this operation: the error is about a node whose name is not in its text until the
 * call's name is known, at tw__naming_finish or, where the error is needed before, at tw__naming_explain. */
void tw__naming_failed(const tw_op *op);
void tw__naming_explain(tw__naming naming, const char *id, const char *name);
/* The shapes of the inputs do not fit: the error that is set becomes the graph's (shape_error.c). */
tw_status tw__shape_error(const tw__inference *inference, tw_tensor *const *inputs);
/* C's calls of rows, by what they give (call_row.c): `given` are arguments that are not complete yet. */
void *tw__row_pointer(const tw_signature *signature, const void *given);
void *tw__row_object(const tw_signature *signature, const void *given); /* a new one, of a class */
tw_status tw__row_status(const tw_signature *signature, const void *given);
bool tw__row_bool(const tw_signature *signature, const void *given);
int64_t tw__row_int(const tw_signature *signature, const void *given);
double tw__row_float(const tw_signature *signature, const void *given);
tw_dtype tw__row_dtype(const tw_signature *signature, const void *given);
tw_shape tw__row_shape(const tw_signature *signature, const void *given);
tw_tensors tw__row_tensors(const tw_signature *signature, const void *given);
tw_objects tw__row_objects(const tw_signature *signature, const void *given);
tw_value tw__row_value(const tw_signature *signature, const void *given);
static inline tw__naming tw__naming_begin(void)
{
    return __builtin_expect(tw__tracing != NULL, 0) ? tw__naming_start() : (tw__naming){ NULL, 0, NULL };
}
static inline tw_status tw__naming_end(tw__naming naming, const char *id, const char *name, const tw_tensor *result)
{
    return __builtin_expect(naming.graph != NULL, 0) ? tw__naming_finish(naming, id, name, result) : TW_OK;
}
/* The node needs a name now: it is part of no call that is being named. */
tw_status tw__node_name(tw__node *node, const char *name);

/* Nodes that no function of a name makes are named as operators do ("mul"), or, while this is set, as functions ("Mul"). */
extern _Thread_local bool tw__named_as_functions;
/* The graph in which names wait, from now on; gives the one before. */
tw__graph *tw__naming_wait(tw__graph *graph);
/* Names what was left without one: reads that no node used (tw__naming_finish leaves them to the node that does). */
void tw__graph_settle(tw__graph *graph);

/* ---- functions that are made of several calls (part.c) ---- */
/* In a lasting graph such a function opens a name scope, and the calls inside it have names of their own, as if a program had
 * made them one by one. Elsewhere nothing of this happens: `graph` is NULL, constants are the values themselves, and calls are
 * calls. */
struct tw__part {
    tw__graph *graph;
    tw__graph *waiting;     /* in which names waited outside */
    char *name;             /* the scope's whole name, without the last slash; empty: it has none */
    char *beside;           /* of a variable's first value: the variable's name */
    const char *colocation; /* what was said of that outside */
};
typedef struct tw__part tw__part;
static inline bool tw__in_graph(void)
{
    return __builtin_expect(tw__tracing != NULL, 0);
}
static inline bool tw__in_lasting(void)
{
    return __builtin_expect(tw__tracing != NULL, 0) && tw__tracing->lasting;
}
/* Of the name that the caller gave, or the usual one. A failure is the thread's error, and tw__part_end gives it. */
tw__part tw__part_begin(const char *given, const char *usual);
tw_status tw__part_end(tw__part *part);
/* The result, if the part ended well; else it is released. */
tw_tensor *tw__part_result(tw__part *part, tw_tensor *result);
/* The same without a scope: only that the calls inside are named one by one. */
tw__part tw__part_plain(void);
/* A constant of that name in the scope; "": of the scope's own name. Tensors of the graph stay what they are. A new reference. */
tw_tensor *tw__part_constant(const tw__part *part, tw_tensor *value, const char *name);
/* Calls the op; its node has that name in the scope, "": the scope's own, NULL: the usual one. */
tw_tensor *tw__part_call(const tw__part *part, const char *name, const tw_op *op, tw_tensor *const *inputs, int input_count,
                         const tw_attr *attrs, int attr_count);
tw_status tw__part_apply(const tw__part *part, const char *name, const tw_op *op, tw_tensor *const *inputs, int input_count,
                         const tw_attr *attrs, int attr_count, tw_tensor **outputs,
                         int *output_count); /* the same for several outputs, or none */

/* ---- control dependencies of lasting graphs (control.c) ---- */
/* Nodes made from now on follow these; NULL: those of outer scopes don't count any more. */
tw_status tw__control_push(tw__graph *graph, tw__node *const *nodes, int count, bool clear);
void tw__control_pop(tw__graph *graph);
tw_status tw__control_apply(tw__node *node);
void tw__control_free(tw__graph *graph);
/* Nodes of lasting graphs that this thread makes from now on say that they belong to the node of that name; NULL: to none. The
 * text must stay as long. Gives the name before. */
const char *tw__colocate(const char *name);
extern _Thread_local const char *tw__colocation;

/* Dispatch while tracing: resolves, infers, appends, hands out symbolic outputs. */
tw_status tw__graph_apply(tw__graph *graph, const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *complete,
                          int attr_count, const tw_dtype *out_dtypes, const tw_shape *out_shapes, int output_count,
                          tw_tensor **outputs);

#endif
