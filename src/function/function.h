/* Graph functions: a traced body with arguments, captures and results; calling and differentiating it. */
#ifndef TW_FUNCTION_H
#define TW_FUNCTION_H

#include <thalweg/function.h>

#include "eager/tape.h"
#include "exec/exec.h"

/* How a function is differentiated (gradient.c): by another one, from the gradients of its results and values of its graph to the
 * gradients of its inputs. */
typedef struct tw__derivative {
    tw_object object;
    struct tw__function *backward;
    int input_count;
    int targets;   /* how many outputs of the function may have gradients: its results */
    int *sources;  /* per input: the first of backward's outputs for it, or -1 */
    bool *sliced;  /* per input: its gradient is slices: values, indices and dense shape, three outputs */
    int *captures; /* per capture of backward: output of the forward form (>= 0), input -1 - i, or INT32_MIN: itself */
    struct tw__derivative *lower; /* of the function with fewer outputs, if this one is a forward form itself */
} tw__derivative;

/* A function made of a graph. Its inputs are the arguments, then the captures; its outputs the results, and behind them, in the
 * forward form that the gradient needs, inner values. */
typedef struct tw__function {
    tw_object object;
    char *name;
    tw__graph *graph;
    tw__node **inputs;
    int argument_count, input_count;
    tw_tensor **captures; /* the outside tensors of the inputs behind the arguments; references */
    tw__edge *outputs;
    int output_count;
    bool stateful;
    tw__plan *_Atomic plan;       /* made at the first run */
    struct tw__function *forward; /* made when first differentiated */
    tw__derivative *derivative;   /* likewise */
    tw__derivative *origin;       /* of a forward form: what it was made for, the last of a chain by `lower` */
    tw_object *form; /* of branches and bodies that keep what the gradient needs: how they were made (cond.c, while.c) */
    _Atomic bool differentiated; /* forward and derivative are there; they and the plan are made under tw__graphs_lock */
} tw__function;

extern const tw_class tw__function_class;

/* Traces `body` into a new function. The body gets the arguments as symbolic tensors and gives the results (new references; a
 * NULL one is refused) into *outputs, an array from tw__alloc that the function takes. Captured tensors become inputs. */
typedef tw_status (*tw__function_body)(void *context, tw_tensor *const *arguments, int argument_count, tw_tensor ***outputs,
                                       int *output_count);
tw__function *tw__function_trace(const char *name, const tw_dtype *dtypes, const tw_shape *shapes, int argument_count,
                                 tw__function_body body, void *context);
/* The same for a function that a program calls: its names begin at the root, while those of branches and bodies go on. With the
 * names of the placeholders; `names` or one of them may be NULL. */
tw__function *tw__function_trace_named(const char *name, const char *const *names, const tw_dtype *dtypes, const tw_shape *shapes,
                                       int argument_count, tw__function_body body, void *context);
/* The same with arguments that stand for variables: where handles[i] is not NULL it is the handle of a variable that the body is
 * given (tw__variable_stand_in), and uses of it are uses of the argument. `handles` may be NULL. */
tw__function *tw__function_trace_with(const char *name, const char *const *names, const tw_dtype *dtypes, const tw_shape *shapes,
                                      tw_tensor *const *handles, int argument_count, tw__function_body body, void *context);
/* For bodies of functions: every result becomes an Identity of its own, so that the graph's outputs are named Identity,
 * Identity_1, … */
tw_status tw__function_name_results(tw_tensor **results, int count);
/* A function of a graph that is there already: its inputs are placeholders of the graph. */
tw__function *tw__function_of_graph(const char *name, tw__graph *graph, tw__node *const *inputs, int input_count,
                                    const tw__edge *outputs, int output_count);
/* Calls it through dispatch. `outputs` has room for output_count tensors. */
tw_status tw__function_call(tw__function *function, tw_tensor *const *arguments, tw_tensor **outputs);
/* The same with all inputs given, those of the captures too. */
tw_status tw__function_call_given(tw__function *function, tw_tensor *const *inputs, tw_tensor **outputs);
/* Runs it without tapes or tracing: all inputs given. */
tw_status tw__function_run(tw__function *function, tw_tensor *const *inputs, tw_tensor **outputs);
/* Its errors are "node a: text"; here the text comes first, as sessions and datasets tell it, then the node. */

/* The same as it stands: tapes do not make it another form. */
tw_status tw__function_call_plain(tw__function *function, tw_tensor *const *inputs, tw_tensor **outputs);
/* The graph function behind a C program's tw_function, for arguments of such specs. A new reference; NULL: an error. */
tw__function *tw__function_concrete(void *function, const tw_spec *specs, int count);
/* Whether a run takes so long that others should go on meanwhile. */
bool tw__function_takes_long(tw__function *function);
/* Whether somebody may look at an argument's memory after a call from here: if not, it may be borrowed for the call. */
bool tw__function_keeps(tw__function *function, int argument);
/* How it runs, as text for tw__free: without arguments, or with arguments of these shapes. */
char *tw__function_plan_text(tw__function *function, tw_tensor *const *arguments);
/* The captures become these, in this order; they contain those it has. The others are inputs that it does not use. */
tw_status tw__function_set_captures(tw__function *function, tw_tensor *const *captures, int count);
/* Further results: the captures themselves. */
tw_status tw__function_pass_captures(tw__function *function);
/* The results' dtypes and shapes. */
tw_dtype tw__function_output_dtype(const tw__function *function, int output);
const tw_shape *tw__function_output_shape(const tw__function *function, int output);
/* Whether a gradient of a value of that dtype is passed along: numbers, and lists of tensors. */
bool tw__function_carries(tw_dtype dtype);
/* Makes forward and derivative. */
tw_status tw__function_differentiate(tw__function *function);
/* The derivative that serves when the outputs before `targets` have gradients; NULL if the function is no form of that kind. */
tw__derivative *tw__derivative_for(const tw__function *function, int targets);
/* One more than the last output that has a gradient. */
int tw__gradient_targets(const tw__gradient *gradient);
/* The first `count` outputs of a node that is differentiated, also those that it got since it was called; new references. */
tw_status tw__gradient_outputs(const tw__gradient *gradient, tw__node *node, int count, tw_tensor **outputs);
/* Calls backward: inputs and outputs are those of the call of the forward form, out_grads those of the first `targets` outputs.
 * Gives the gradients of the inputs: new references or NULL. */
tw_status tw__derivative_call(tw__derivative *derivative, tw_tensor *const *inputs, tw_tensor *const *outputs,
                              tw_tensor *const *out_grads, tw_tensor **in_grads);

/* Derivatives over a graph (derive.c). */
typedef struct tw__derivation {
    tw__graph *graph;
    const tw__edge *targets;
    tw_tensor *const *seeds; /* the targets' gradients; NULL, or one that is: ones */
    int target_count;
    const tw__edge *sources;
    int source_count;
    const tw__edge *stops; /* what counts as a constant */
    int stop_count;
} tw__derivation;
struct tw_gradients_args;
tw_tensors tw__gradients_of(const struct tw_gradients_args *args); /* tf.gradients with gradients as they come */
/* results: per source a new reference (slices may be among them, op/slices.h), or NULL where it is not connected. */
tw_status tw__derive(const tw__derivation *derivation, tw_tensor **results);

/* ---- functions of the embedding language as nodes (host.c) ---- */
struct tw__host_function;
/* A node that calls it, with arrays (PyFunc) or tensors (EagerPyFunc, which has a gradient); the graph holds it further. */
tw_status tw__host_in_graph(struct tw__host_function *function, bool arrays, tw_tensors inputs, const tw_dtype *dtypes,
                            int output_count, tw_tensor **outputs);

#endif
