/* Graphs of TensorFlow 1 in the ops of TensorFlow 2, before anything is built of them.
 *
 * A GraphDef of TensorFlow 1 has variables whose tensors are references (VariableV2, Assign), and branches and loops that are
 * made of nodes which run or do not (Switch, Merge) or run several times (Enter, NextIteration, Exit). Here variables are
 * resources, and branches and loops are nodes over functions. So a message with such nodes is rewritten into one without them, in
 * steps, each a file of its own:
 *
 *     lower_old.c     ops that have later forms become those
 *     lower_refs.c    variables become VarHandleOp; every use of a reference reads the variable where it stands
 *     lower_loops.c   the nodes of a frame become the two functions of a While, inner frames first
 *     lower_conds.c   nodes between Switch and Merge become the functions of an If, outer conditions first
 *
 * The functions of the library are rewritten in the same way, each by itself, before the graph.
 *
 * They work on nodes whose inputs are numbers (below). Nodes that others can name keep their names: variables, assignments,
 * Merge, Exit. */
#ifndef TW_LOWER_H
#define TW_LOWER_H

#include "graph/graphdef.h"

enum { TW_LOW_CONTROL = -1 };

typedef struct tw__low_input {
    int32_t node, port; /* port TW_LOW_CONTROL: order only */
} tw__low_input;

typedef struct tw__low_node {
    tw_string name, op, device;
    tw__pair *attrs;
    size_t attr_count, attr_capacity;
    tw__low_input *inputs; /* data first */
    size_t input_count, input_capacity;
    int32_t instead; /* gone: who runs in its place is this node; -1: nobody. Only while `gone` */
    bool gone;
} tw__low_node;

typedef struct tw__low_graph {
    tw__graph_message *message; /* which owns new texts and functions */
    tw__low_node *nodes;
    size_t count, capacity;
    tw__map names; /* name -> index + 1 */
} tw__low_graph;

/* Rewrites a message and the functions of its library, where there is anything to rewrite. */
tw_status tw__graph_lower(tw__graph_message *message);

/* The later form of an old op, whose first outputs are the old one's; NULL: it is none. */
const char *tw__lower_fresh(tw_string op);
const char *tw__lower_older(tw_string op); /* the same, of those that lower_refs.c turns */
tw_status tw__lower_old(tw__low_graph *graph);
tw_status tw__lower_refs(tw__low_graph *graph);
tw_status tw__lower_loops(tw__low_graph *graph);
tw_status tw__lower_conds(tw__low_graph *graph, int depth);

/* ---- nodes (lower.c) ---- */
/* A new node, -1: no memory. The name is made unique if it is taken; `name` and `op` must live as long as the message. */
int32_t tw__low_add(tw__low_graph *graph, tw_string name, const char *op);
/* The same with the attrs and the device of a node, which may be of another graph. Its inputs are not copied. */
int32_t tw__low_copy(tw__low_graph *graph, const tw__low_node *node);
void tw__low_graph_free(tw__low_graph *graph);
tw_status tw__low_input_add(tw__low_node *node, tw__low_input input);
/* Data before those for order, once each. */
tw_status tw__low_order_after(tw__low_node *node, int32_t earlier);
static inline bool tw__low_is(const tw__low_node *node, const char *op)
{
    return !node->gone && tw__string_is(node->op, op);
}
/* A text that the message owns: name and ending. Without data: no memory. */
tw_string tw__low_text(tw__graph_message *message, tw_string name, const char *ending);
/* An order in which each node stands behind its inputs; inputs that `skip` says are passed over. For tw__free; NULL: an error. */
int32_t *tw__low_order(const tw__low_graph *graph, bool (*skip)(const tw__low_graph *graph, int32_t node, tw__low_input input),
                       size_t *count);
/* The same without what leads back to the beginning of a loop. */
int32_t *tw__low_order_loops(const tw__low_graph *graph, size_t *count);

/* ---- attrs ---- */
/* Takes the text, an AttrValue. */
tw_status tw__low_attr(tw__low_graph *graph, tw__low_node *node, const char *name, tw__text *value);
tw_status tw__low_attr_type(tw__low_graph *graph, tw__low_node *node, const char *name, tw_dtype dtype);
tw_status tw__low_attr_types(tw__low_graph *graph, tw__low_node *node, const char *name, const tw_dtype *dtypes, size_t count);
tw_status tw__low_attr_function(tw__low_graph *graph, tw__low_node *node, const char *name, tw_string function);
/* A scalar int32, or a vector of no elements; the attrs of a Const. */
tw_status tw__low_attr_constant(tw__low_graph *graph, tw__low_node *node, tw_dtype dtype, bool empty, int32_t value);
/* The same of int32 or int64: a scalar, or a vector. */
tw_status tw__low_attr_number(tw__low_graph *graph, tw__low_node *node, tw_dtype dtype, int64_t value);
tw_status tw__low_attr_numbers(tw__low_graph *graph, tw__low_node *node, tw_dtype dtype, const int64_t *values, size_t count);
int64_t tw__low_number(const tw__low_node *node, const char *attr); /* 0: there is none */
/* TW_DTYPE_NONE: there is none. References count as what they refer to. */
/* The attr's value; an empty one if the node does not have it, false if it can't be read. */
bool tw__low_value(const tw__low_node *node, const char *attr, tw__AttrValue *value);
tw_dtype tw__low_type(const tw__low_node *node, const char *attr);
/* The dtype of an output, by the op's row; TW_DTYPE_NONE with an error if it is not known. */
tw_dtype tw__low_output_type(const tw__low_graph *graph, tw__low_input output);
/* Which output "name:port" is, as inputs are written in functions; -1 with an error if the op has none of that name. */
int32_t tw__low_output_port(const tw__low_node *node, tw_string name, int64_t port);

/* ---- functions ---- */
/* The graph, whose arguments are its nodes _Arg, the first `argument_count` ones, as a function of the message; *name: how it is
 * called. Branches inside it are rewritten before. The graph is freed. */
tw_status tw__low_function(tw__low_graph *body, size_t argument_count, const tw__low_input *results, size_t result_count,
                           tw_string base, const char *ending, int depth, tw_string *name);
int32_t tw__low_argument(tw__low_graph *body, tw_dtype dtype); /* -1: no memory */
bool tw__low_stateful(const tw__low_graph *graph);             /* whether anything in it has effects */

#endif
