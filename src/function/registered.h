/* Gradients that files register for nodes of theirs: tf.custom_gradient in SavedModels (registered.c, registered_find.c).
 *
 * A node names an op type, the library the function that is the gradient of nodes with it. The function takes the gradients of
 * all of the node's outputs, then what it captured: variables, constants, and inner values of the function that the node stands
 * in, or of one around that. It gives gradients of some of the node's inputs. What it captured and what it gives stands in the
 * SavedModel's object graph. */
#ifndef TW_REGISTERED_H
#define TW_REGISTERED_H

#include "function/function.h"
#include "graph/graphdef.h"

typedef struct tw__registered_capture {
    char *function, *tensor; /* an inner value, "mul:0" */
    tw_tensor *value;        /* or a tensor from outside; a reference */
} tw__registered_capture;

typedef struct tw__registered {
    tw_object object;
    char *type;             /* its op type in this process; in the file it may be what another one is called here */
    char *name;             /* of the function in the file; NULL: none is registered */
    tw__function *function; /* a reference; NULL until it is built */
    char *problem;          /* why there is no gradient: told to who asks for it; NULL: there is one */
    bool known;             /* what it captured and what it gives was said */
    tw__registered_capture *captures;
    size_t capture_count;
    int *sources; /* per result of the function: the node's input that it is the gradient of */
    size_t source_count;
} tw__registered;

/* What stands for the gradient of a node that was read. */
typedef struct tw__loaded_gradient {
    tw__own_gradient own;
    tw__registered *registered; /* a reference */
    int *places; /* per capture: TW_OWN_VALUE: by its name in the node's graph; or the argument that it comes in as; or TW_NOWHERE
                  */
} tw__loaded_gradient;
enum { TW_OWN_VALUE = -1, TW_NOWHERE = -2 };

tw__registered *tw__registered_new(tw_string type, tw_string name, bool named);
tw_status tw__registered_problem(tw__registered *registered, char *text); /* takes the text; the first one stays */
/* Whether it is there and can be the gradient of a node with so many inputs and outputs. */
bool tw__registered_fits(const tw__registered *registered, int input_count, int output_count);
tw__loaded_gradient *tw__loaded_gradient_new(tw__registered *registered);
/* NULL if the object is none. */
tw__loaded_gradient *tw__loaded_gradient_of(tw_object *gradient);
/* Where a capture is, for a node of that name and op type (the file's) in a function. */
int tw__registered_place(const tw__graph_message *message, const tw__function_message *function, tw_string node, tw_string type,
                         const tw__registered_capture *capture);
/* The value that a capture is for a node; a new reference, symbolic. NULL without an error: there is none of that name. */
tw_tensor *tw__loaded_value(const tw__loaded_gradient *gradient, const tw__node *node, size_t capture);
/* The same if it is a value of that graph, of a function around the node's. */
tw_tensor *tw__loaded_value_around(const tw__loaded_gradient *gradient, const tw__graph *graph, size_t capture);

#endif
