/* A library from the inside: library.c, library_gradients.c. */
#ifndef TW_LIBRARY_INSIDE_H
#define TW_LIBRARY_INSIDE_H

#include "function/library.h"
#include "function/registered.h"

typedef struct tw__library_entry {
    tw__function *function; /* NULL until it is built */
    int height;             /* levels of functions from here down, itself included; 0 until it is known */
    bool open;              /* on the way to be built: to meet it again is a cycle */
} tw__library_entry;

struct tw__library {
    tw_object object;
    char *bytes;
    char *guard; /* where the model lies that it is of, if that is not trusted; or NULL */
    tw__graph_message message;
    tw__map names; /* function's name -> index + 1 */
    tw__library_entry *entries;
    size_t budget;
    tw__registered *
        *gradients; /* references: the message's, in its order, then those that nodes name although they are not there */
    size_t gradient_count, gradient_capacity, gradients_built;
    tw__map gradient_types; /* op type in the file -> index + 1 */
    size_t *wanted;         /* gradients of nodes that were built; in this order their functions are */
    size_t wanted_count, wanted_capacity;
};

/* Functions that are to be built, in a list that grows. */
typedef struct tw__called {
    tw__library *library;
    int *items; /* indices */
    size_t count, capacity;
    tw_string node; /* that calls, for errors */
} tw__called;
static inline void tw__called_end(tw__called *list)
{
    tw__free(list->items);
}

int tw__library_find(const tw__library *library, tw_string name); /* the function's index; -1 */
/* Puts a function, or those that nodes call, into the list (a tw__called); NOT_FOUND if the library lacks it. */
tw_status tw__library_add_called(void *list, tw_string name);
tw_status tw__library_find_called(tw__called *list, const tw__node_message *nodes, size_t count);
/* Builds what is in the list, and before it what that calls. */
tw_status tw__library_build_called(tw__called *list);

/* ---- library_gradients.c ---- */
tw_status tw__library_read_gradients(tw__library *library);
/* For tw__build: gives a node the gradient that the file registers for the op type. The gradient's function is built later, as
 * that may fail. */
tw_status tw__library_own_gradient(void *library, const tw__build *build, tw__node *node, tw_string type);
/* Builds the functions of the gradients of all nodes that were built. */
tw_status tw__library_build_gradients(tw__library *library);

#endif
