/* GraphDef, TensorFlow's form of graphs in files, in and out.
 *
 * Reading has two steps. A message (tw__graph_message) is the file's bytes divided into nodes, attrs and functions: pieces of the
 * bytes, nothing interpreted, so anything can be printed. Building makes nodes of a tw__graph of it: names and references are
 * checked (verify.c), ops and attrs against the table, shapes inferred anew (graphdef_build.c). What files claim but don't hold
 * (constants of one repeated value, counts of outputs) is bounded by a budget of bytes.
 *
 *     GraphDef     1 node, 2 library {1 function, 3 registered_gradients {1 function, 2 op type}}, 4 versions {1 producer, 2
 * min_consumer} NodeDef      1 name, 2 op, 3 input, 4 device, 5 attr {1 key, 2 AttrValue} FunctionDef  1 signature {1 name, 2
 * input_arg, 3 output_arg, 4 attr, 17 is_stateful, 20 control_output}, 3 node_def, 4 ret, 5 attr, 6 control_ret, 7 arg_attr {1
 * index, 2 {1 attr}}; an arg: 1 name, 3 type
 *
 * An input is "node" or "node:2" in a graph, "argument" or "node:output:0" in a function, "^node" for order only. */
#ifndef TW_GRAPHDEF_H
#define TW_GRAPHDEF_H

#include "codec/message.h"
#include "format/array/tensor_message.h"
#include "graph/graph.h"

#define TW_GRAPH_PRODUCER 1645 /* of TensorFlow 2.15 */
#define TW_GRAPH_MIN_CONSUMER 12
#define TW_GRADIENT_NOTE "_gradient_op_type" /* an attr of nodes that have a gradient of their own */
#define TW_SHAPES_NOTE "_output_shapes"      /* an attr of nodes and arguments, for who shows graphs */
#define TW_REF_HANDLE "/.ref"                /* behind the name of a variable that was a reference: its handle (lower.h) */

/* ---- messages (graphdef_parse.c): pieces of bytes that the caller keeps ---- */
typedef struct tw__pair {
    tw_string name, value;
} tw__pair;

typedef struct tw__node_message {
    tw_string name, op, device;
    tw_string *inputs;
    size_t input_count, input_capacity;
    tw__pair *attrs; /* values are AttrValues; of two with one name the later counts */
    size_t attr_count, attr_capacity;
} tw__node_message;

typedef struct tw__argument_message {
    tw_string name;
    tw_dtype dtype;
    bool plain;       /* one tensor of a fixed dtype, not a list or a type that the caller chooses */
    tw_string shapes; /* of an argument: the AttrValue of its _output_shapes, or nothing */
} tw__argument_message;

typedef struct tw__function_message {
    tw_string name;
    tw__argument_message *arguments, *results;
    size_t argument_count, argument_capacity, result_count, result_capacity;
    tw__node_message *nodes;
    size_t node_count, node_capacity;
    tw__pair *returns, *control_returns, *attrs;
    size_t return_count, return_capacity, control_return_count, control_return_capacity, attr_count, attr_capacity;
    bool stateful, generic; /* generic: it has attrs that the caller gives */
    bool flat;              /* its inputs are written as in graphs, "node:2" (lower.h) */
} tw__function_message;

typedef struct tw__graph_message {
    tw__node_message *nodes;
    size_t node_count, node_capacity;
    tw__function_message *functions;
    size_t function_count, function_capacity;
    tw__pair
        *gradients; /* registered: the op type that nodes name in TW_GRADIENT_NOTE, and the function that is their gradient */
    size_t gradient_count, gradient_capacity;
    int64_t producer, min_consumer;
    char **owned; /* texts that are not in the bytes (lower.h) */
    size_t owned_count, owned_capacity;
} tw__graph_message;

/* Sets DATA_LOSS if the bytes are no GraphDef. The message is to be freed in any case. */
tw_status tw__graph_message_read(tw__graph_message *message, const void *data, size_t size);
void tw__graph_message_free(tw__graph_message *message);
void tw__node_messages_free(tw__node_message *nodes, size_t count);
/* The op type in a node's TW_GRADIENT_NOTE; empty: the gradient is the op's. Calls note the type of call there, which says
 * nothing. */
tw_string tw__gradient_note(const tw__node_message *node);
/* The value of the attr of that name; an empty string without data if there is none. */
tw_string tw__pair_find(const tw__pair *pairs, size_t count, const char *name);
static inline bool tw__string_is(tw_string string, const char *text)
{
    return string.size == strlen(text) && memcmp(string.data, text, string.size) == 0;
}
/* For "%.*s" in messages: long names are cut. */
#define TW_SHOWN(string_) (int)((string_).size < 200 ? (string_).size : 200), ((string_).size ? (string_).data : "")

/* ---- attrs (graphdef_attr.c) ---- */
/* Where functions come from by name, and how they are called in a file. */
typedef struct tw__function_source {
    void *(*find)(void *context, tw_string name); /* borrowed; NULL with an error */
    void *context;
} tw__function_source;
typedef struct tw__function_names {
    const char *(*name)(void *context, void *function); /* NULL with an error */
    void *context;
} tw__function_names;

/* An AttrValue as an attr of that kind. Lists are in *block (tw__free), a tensor is a reference in *object (tw_release). */
tw_status tw__attr_message_read(tw_string bytes, tw_attr_kind kind, const tw__function_source *functions, size_t *budget,
                                tw_attr *attr, void **block, void **object);
/* As field 5 of a node: the pair of name and AttrValue. */
tw_status tw__attr_message_write(tw__text *text, uint32_t number, const tw_attr *attr, const tw__function_names *functions);
/* The names of the functions that an AttrValue mentions; stops at the first failure. */
tw_status tw__attr_message_functions(tw_string bytes, tw_status (*each)(void *context, tw_string name), void *context);

/* ---- references and order (verify.c) ---- */
typedef struct tw__reference {
    int32_t node; /* of the message; -1: `given` */
    const tw__edge *given;
    bool control;
    int64_t port;     /* of the node in a graph; of the named output in a function */
    tw_string output; /* in a function: the output's name */
} tw__reference;

typedef struct tw__references {
    tw__map names;        /* name -> index + 1 */
    tw__reference *items; /* all nodes' inputs, one after the other */
    size_t *first;        /* per node: of its inputs; one more at the end */
    int32_t *order;       /* nodes, each behind those it refers to */
} tw__references;

/* `given`: texts of inputs ("x", "x:0", "^x") that edges from elsewhere stand for; may be NULL. */
tw_status tw__references_read(tw__references *references, const tw__node_message *nodes, size_t count, bool function,
                              const tw__map *given);
/* The same where there may be cycles: without the order. */
tw_status tw__references_find(tw__references *references, const tw__node_message *nodes, size_t count, bool function,
                              const tw__map *given);
tw_status tw__reference_parse(const tw__references *references, tw_string text, bool function, const tw__map *given,
                              tw__reference *out);
void tw__references_free(tw__references *references);

/* ---- building and writing (graphdef_build.c, graphdef_write.c) ---- */
typedef struct tw__build tw__build;
struct tw__build {
    tw__graph *graph;
    const tw__node_message *nodes;
    size_t count;
    bool function;        /* how inputs are written */
    const char *prefix;   /* of the new nodes' names, with its slash; or NULL */
    const tw__map *given; /* text -> tw__edge *, or NULL */
    tw__function_source functions;
    size_t *budget;
    /* Told of every node with a gradient of its own, and that gradient's op type. */
    tw_status (*own_gradient)(void *context, const struct tw__build *build, tw__node *node, tw_string type);
    void *gradient_context;
    const char *guard;         /* where the model lies, if it is not trusted (op/guard.h); or NULL */
    tw__references references; /* found by tw__graph_build; for tw__build_end */
    tw__node **built;          /* per node of the message */
};
tw_status tw__graph_build(tw__build *build);
/* A reference of a built graph (a result of a function, a fetch) as an edge. */
tw_status tw__build_edge(const tw__build *build, tw_string text, tw__edge *edge);
void tw__build_end(tw__build *build);

/* Which part of a node's flat outputs the named output is; -1: the row has none of that name. */
int tw__node_output_range(const tw__node *node, tw_string name, int *count);

typedef struct tw__node_writer {
    bool function;                    /* how inputs are written */
    const tw__pointer_map *arguments; /* nodes that are arguments of the function, by number: they are not written; or NULL */
    char *const *argument_names;      /* what nodes call them; FunctionDefs allow small letters, digits and underscores only */
    bool ordered;                     /* nodes with effects follow each other by control inputs, as they do here by their order */
    bool shapes;                      /* nodes tell the shapes of their outputs, in _output_shapes */
    const tw__node *last_effect;      /* the last of them, set by writing */
    tw__function_names functions;
} tw__node_writer;
/* Appends every node as field `number`. */
tw_status tw__graph_write_nodes(tw__text *text, uint32_t number, const tw__graph *graph, tw__node_writer *writer);
/* How an edge is written; for tw__free. */
char *tw__edge_text(tw__edge edge, const tw__node_writer *writer);

/* ---- printing (text.c, text_json.c) ---- */
tw_status tw__attr_message_print(tw__text *text, tw_string bytes); /* an AttrValue */
tw_status tw__graph_message_print(tw__text *text, const tw__graph_message *message);
tw_status tw__graph_message_json(tw__text *text, const tw__graph_message *message);

#endif
