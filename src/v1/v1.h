/* What the files of this folder share: nodes with given names. */
#ifndef TW_V1_H
#define TW_V1_H

#include "graph/graph.h"
#include "rows.h"

/* Calls the op. In a graph the node gets this name (and a number, if it is taken), unless it is NULL; *made, if asked for, is the
 * node. */
tw_status tw__v1_call(const tw_op *op, const char *name, tw_tensor *const *inputs, int count, const tw_attr *attrs,
                      int attr_count, tw_tensor **outputs, int output_count, tw__node **made);
/* In a graph a constant of that name, else the value itself; a new reference. */
tw_tensor *tw__v1_constant(tw_tensor *value, const char *name);

/* A list of one tensor, whose reference it takes; empty if there is none: what a body of a conditional gives. */
tw_tensors tw__tensors_of_one(tw_tensor *tensor);

/* ---- averages.c ---- */
/* variable = keep * variable + (1 - keep) * value, in the scope AssignMovingAvg; the value is a tensor or a variable; `keep`
 * NULL: the number. *made: the assignment, in a graph; else NULL. */
tw_status tw__v1_follow(tw_variable *variable, tw_object *value, tw_tensor *keep, double number, struct tw__node **made);

/* ---- partitioned.c: while the first value of a part of a variable is made: which part it is; else NULL ---- */
typedef struct tw__slice_of {
    tw_shape whole;
    int64_t start[TW_MAX_RANK];
    const char *text; /* "8 4 0,2:0,4" */
} tw__slice_of;
extern _Thread_local const tw__slice_of *tw__v1_slice;
/* A variable that is kept for a part of another one (a slot, an average) is that part of a whole, too. */
tw_status tw__v1_slice_like(tw_variable *kept, const tw_variable *part);

/* ---- collections.c: notes a tensor in a collection of the default graph; nothing happens in eager execution ---- */
tw_status tw__v1_collect(const char *name, tw_tensor *tensor);         /* no name: in none */
tw_status tw__v1_collect_in(const tw_value *names, tw_tensor *tensor); /* a name, several, or None */

#endif
