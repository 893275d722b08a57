/* Running ops: the thread's context, dispatch (apply.c), variables, gradient tapes. */
#ifndef TW_EAGER_H
#define TW_EAGER_H

#include "base/trackable.h"
#include "graph/scope.h"
#include "op/resource.h"
#include "spec/callable.h"

/* ---- variables (variable.c) ---- */
struct tw_variable {
    tw_trackable trackable;
    tw_tensor *handle;
    tw__resource *resource; /* borrowed from the handle */
    char *name;             /* "dense/kernel:0" */
    bool trainable;
    uint8_t synchronization, aggregation; /* places in the lists of the class's row */
    bool autocasts;                       /* inside its layer's call it is read in the dtype that the layer computes in */
    struct tw_variable *stands_for; /* of a stand-in: the variable that the function was traced with; a reference, or NULL */
    tw_callable *constraint;        /* what optimizers send the value through after a change; a reference, or NULL */
    /* Of a variable in a lasting graph (graph_variable.c). It does not hold the graph, which holds it: NULL when the graph is
     * gone. */
    struct tw__graph *graph;
    struct tw__node *handle_node, *initializer, *snapshot, *initial;
    int initial_output;
    /* Of a part of a variable of TensorFlow 1: the name of the whole, and which part, as in a checkpoint; else NULL. */
    char *slice_of, *slice;
    /* Of a variable with copies: see tw__mirror. */
    struct tw__mirror *mirror;
    struct tw_variable *next_mirrored, *previous_mirrored;
};
/* What the layer computes in whose call runs now; TW_DTYPE_NONE outside of calls. */
extern _Thread_local tw_dtype tw__autocast;
/* Makes the variable in a lasting graph: its nodes. The handle's resource stands for those that sessions have. */
tw_status tw__variable_setup_in_graph(tw_variable *variable, struct tw__graph *graph, tw_tensor *initial, const char *name,
                                      bool trainable, const tw_shape *shape);
/* The variable whose nodes are in a lasting graph already, as a MetaGraphDef says. */
typedef struct tw__variable_nodes {
    struct tw__node *handle, *initializer, *snapshot, *initial; /* all but the first may be NULL */
    int initial_output;
} tw__variable_nodes;
tw_status tw__variable_adopt(tw_variable *variable, const tw__variable_nodes *nodes, const char *name, bool trainable);
/* Between the two the first value of a variable of that whole name is made: in a lasting graph in the scope "NAME/Initializer/",
 * free of control dependencies. */
typedef struct tw__part tw__part;
tw__part tw__first_value_begin(const char *name);
tw_status tw__first_value_end(tw__part *part);
/* Which collections the thread's next variables of lasting graphs join; NULL: the usual ones. Ends in NULL. */
extern _Thread_local const char *const *tw__variable_collections;
tw_variable *tw__variable_new(tw_tensor *initial, const char *name, bool trainable, const tw_shape *shape);
/* By the words of tf.Variable's arguments, which were checked. */
void tw__variable_keep_copies(tw_variable *variable, const char *synchronization, const char *aggregation);
/* The variable gets its resource (taken; NULL after a failure) and the handle on it. */
tw_status tw__variable_hold(tw_variable *variable, tw__resource *resource, bool trainable);
/* A variable without a value that looks like another one: what the body of a function gets for a variable among the arguments. */
tw_variable *tw__variable_stand_in(tw_variable *variable);
/* The variable itself, or the one that it stands for: whose slots an optimizer keeps. */
static inline tw_variable *tw__variable_itself(tw_variable *variable)
{
    return variable->stands_for ? variable->stands_for : variable;
}
tw_tensor *tw__variable_read(tw_variable *variable); /* through dispatch, so tapes see it */
/* What was read of it, in the dtype in which a layer's call reads it now; takes the value. */
tw_tensor *tw__variable_cast(const tw_variable *variable, tw_tensor *value);
tw_dtype tw__variable_read_dtype(const tw_variable *variable); /* what tw__variable_read gives now */
/* Sets the value to what the variable's constraint makes of it, if it has one. */
tw_status tw__variable_constrain(tw_variable *variable);
/* Variables made while the thread traces: counted, and refused once the function has been called before. If the trace is one for
 * a call, a variable whose first value depends on the call's arguments gets it when the call runs. */
typedef struct tw__variable_creation {
    bool watched, refused, called;
    int64_t made, deferred;
} tw__variable_creation;
extern _Thread_local tw__variable_creation tw__variables_made;

/* The places of words in the lists of the class's row. */
enum { TW_SYNCHRONIZE_AUTO, TW_SYNCHRONIZE_NONE, TW_SYNCHRONIZE_ON_WRITE, TW_SYNCHRONIZE_ON_READ };
enum { TW_AGGREGATE_NONE, TW_AGGREGATE_SUM, TW_AGGREGATE_MEAN, TW_AGGREGATE_ONLY_FIRST };

/* ---- variables with copies ---- */
/* The copies of a variable on the devices of a strategy. The variable's own handle and resource are those of the copy whose
 * replica has its turn, outside of replicas the first one: so whoever uses a variable's handle uses the right copy. */
typedef struct tw__mirror {
    tw_object object;
    const void *strategy; /* whose; a reference */
    int count;
    tw_tensor **handles;
} tw__mirror;
/* Set by src/distribute; all but `made` are of variables with copies only. */
typedef struct tw__mirror_hooks {
    tw_status (*made)(tw_variable *variable); /* has its first value */
    void (*ended)(tw_variable *variable);
    tw_tensor *(*read)(tw_variable *variable, bool now);       /* by ops, or at once */
    tw_status (*set)(tw_variable *variable, tw_tensor *value); /* all copies, at once */
    tw_status (*update)(tw_variable *variable, const tw_op *op, tw_tensor *value);
} tw__mirror_hooks;
extern tw__mirror_hooks tw__mirror_hook;
/* The value without an op, and setting it: what files and users see, whatever copies there are. A new reference. */
tw_tensor *tw__variable_value(tw_variable *variable);
tw_status tw__variable_set(tw_variable *variable, tw_tensor *value);
/* An op that changes the variable, whose handle is input 0: of every copy, or of the replica's. */
tw_status tw__variable_apply(tw_variable *variable, const tw_op *op, tw_tensor *const *inputs, int input_count,
                             const tw_attr *attrs, int attr_count);
/* AssignVariableOp, AssignAddVariableOp or AssignSubVariableOp as a user's assign: copies change alike, or as the variable says.
 */
tw_status tw__variable_update(tw_variable *variable, const tw_op *op, tw_tensor *value);

/* ---- values of symbolic tensors (lift.c) ---- */
/* The value of a symbolic tensor that depends on no argument of the function being traced, computed now. A new reference. */
tw_tensor *tw__lift(tw_tensor *symbolic);
/* Whether that can be done; if not, *why is a sentence about it, for tw__free (NULL: there was no memory for it). `why` may be
 * NULL. */
bool tw__can_lift(const tw_tensor *symbolic, char **why);

/* ---- calls (apply.c) ---- */
/* An output that is an input itself, or another output, becomes a tensor of its own over the same memory: tapes and graphs tell
 * them apart by address. */
tw_status tw__outputs_part(tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count);

/* ---- state of eager kernels (apply.c) ---- */
/* Forgets the state of every stateful kernel, e.g. the streams of random ops. */
void tw__kernel_states_clear(void);
/* While true, a stateful kernel's state ends with the call: its attrs are known not to come again. */
extern _Thread_local bool tw__kernel_state_once;

/* ---- tapes (tape.c) ---- */
/* Records the call on every tape of the thread that watches one of its inputs; cheap when there is none. */
tw_status tw__tapes_record(const tw_op *op, tw_tensor *const *inputs, int input_count, const tw_attr *attrs, int attr_count,
                           tw_tensor *const *outputs, int output_count);
/* Takes the thread's tapes away, and gives them back: a function that is traced has tapes of its own. */
typedef struct tw__tape_stack {
    tw_tape *top;
    int count;
} tw__tape_stack;
tw__tape_stack tw__tapes_hide(void);
void tw__tapes_show(tw__tape_stack hidden);
/* Between the two calls run at once, outside of the graph that is traced, and no tape sees them: so are variables made while a
 * function is traced, their first values, and whatever else is to happen once. */
typedef struct tw__outside {
    struct tw__graph *graph;
    tw__tape_stack tapes;
} tw__outside;
tw__outside tw__outside_begin(void);
/* The same, but not outside of a lasting graph: there variables and their first values are made as nodes. */
tw__outside tw__root_begin(void);
void tw__outside_end(tw__outside outside);
/* How many tapes of the thread would record a call with these inputs. */
int tw__tapes_following(tw_tensor *const *tensors, int count);
/* A gradient function that is not the op's: of calls whose gradient users define. Objects that begin with this. */
typedef struct tw__own_gradient {
    tw_object object;
    tw_status (*run)(struct tw__own_gradient *self, tw__gradient *gradient);
} tw__own_gradient;
tw_status tw__tapes_record_own(const tw_op *op, tw_tensor *const *inputs, int input_count, tw_tensor *const *outputs,
                               int output_count, tw_object *own);
extern _Thread_local int tw__active_tapes; /* recording tapes of the thread */

#endif
