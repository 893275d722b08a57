/* Graphs with the functions they call, in GraphDefs: reading functions when they are asked for, and writing all that are reached.
 */
#ifndef TW_LIBRARY_H
#define TW_LIBRARY_H

#include "function/function.h"
#include "graph/graphdef.h"

/* A GraphDef that was read: its nodes, to be put into graphs, and its functions, built when they are first needed (files hold
 * functions that nobody calls, with ops that are not here). An object; it keeps a copy of the bytes. */
typedef struct tw__library tw__library;
extern const tw_class tw__library_class;

tw__library *tw__library_read(const void *data, size_t size);
tw__library *tw__library_read_file(const char *path);
const tw__graph_message *tw__library_message(const tw__library *library);
/* The gradient that the message's `index`-th is, borrowed: who knows what its function captured says so before anything is built.
 */
struct tw__registered *tw__library_gradient(const tw__library *library, size_t index);
/* Drops the nodes that none of these names ("node", "node:1") need. Nothing may have been built yet. */
tw_status tw__library_keep(tw__library *library, const tw_string *names, size_t count);
/* The function of that name, borrowed from the library; NULL and NOT_FOUND if there is none. */
tw__function *tw__library_function(tw__library *library, const char *name);
/* Adds the nodes to a graph, their names behind `prefix` (with its slash; NULL: as they are). `given` as in tw__build. The build
 * is for tw__build_edge and tw__build_end. */
tw_status tw__library_add_to(tw__library *library, tw__graph *graph, const char *prefix, const tw__map *given, tw__build *build);

/* The nodes as a graph of their own. */
tw__graph *tw__graphdef_read(tw__library *library);
/* Appends a GraphDef: the nodes of `graph` (NULL: none) and a library of `functions` and all that they and the nodes call.
 * Functions of one name are told apart by numbers. */
enum {
    TW_GRAPH_TRACED = 1, /* the nodes' order is that of their effects */
    TW_GRAPH_SHAPES = 2  /* nodes tell their shapes */
};
tw_status tw__graphdef_write(tw__text *text, const tw__graph *graph, unsigned how, tw__function *const *functions,
                             int function_count);

/* The same with gradients that users define, as registered_gradients: `function` is the gradient of nodes with the op type
 * (function/registered.h). */
typedef struct tw__gradient_capture {
    tw__function *within; /* NULL: it is no value of a function */
    tw__edge edge;
    char *name, *owner; /* set by writing, for tw__free: "mul:0", and how `within` is called in the file */
} tw__gradient_capture;
typedef struct tw__written_gradient {
    tw__function *function;
    char *type;
    tw__gradient_capture *captures;
    size_t capture_count;
    char *name; /* set by writing, for tw__free: how the function is called in the file */
} tw__written_gradient;
tw_status tw__graphdef_write_all(tw__text *text, const tw__graph *graph, unsigned how, tw__function *const *functions,
                                 int function_count, tw__written_gradient *const *gradients, size_t gradient_count);

#endif
