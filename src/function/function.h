/* Graph functions: a traced body with arguments, captures and results; calling and differentiating it. */
#ifndef TW_FUNCTION_H
#define TW_FUNCTION_H

#include "eager/tape.h"
#include "exec/exec.h"

/* A function made of a graph. Its inputs are the arguments, then the captures; its outputs the results, and behind them, in the forward
 * form that the gradient needs, inner values. */
typedef struct tw__function {
    tw_object object;
    char *name;
    tw__graph *graph;
    tw__node **inputs;
    int argument_count, input_count;
    tw_tensor **captures;       /* the outside tensors of the inputs behind the arguments; references */
    tw__edge *outputs;
    int output_count;
    bool stateful;
    tw__plan *plan;             /* made at the first run */
    tw_tape *tape;              /* what was called while tracing; NULL in derived functions that can't be differentiated */
    tw_tensor **input_tensors, **output_tensors; /* of tracing: what the tape knows the inputs and outputs by */
    struct tw__function *forward, *backward; /* made when first differentiated; see gradient.c */
    int *backward_sources;      /* per input: which output of backward is its gradient, or -1 */
    int *forward_of_capture;    /* per capture of backward: output of forward (>= 0) or input -1 - i */
    tw_object *form;            /* of branches and bodies that keep what the gradient needs: how they were made (cond.c, while.c) */
    _Atomic int lock;
} tw__function;

extern const tw_class tw__function_class;

/* Traces `body` into a new function. The body gets the arguments as symbolic tensors and gives the results (new references; a NULL one
 * is refused) into *outputs, an array from tw__alloc that the function takes. Captured tensors become inputs. */
typedef tw_status (*tw__function_body)(void *context, tw_tensor *const *arguments, int argument_count, tw_tensor ***outputs,
                                       int *output_count);
tw__function *tw__function_trace(const char *name, const tw_dtype *dtypes, const tw_shape *shapes, int argument_count,
                                 tw__function_body body, void *context);
/* The same with the names of the placeholders; `names` or one of them may be NULL. */
tw__function *tw__function_trace_named(const char *name, const char *const *names, const tw_dtype *dtypes, const tw_shape *shapes,
                                       int argument_count, tw__function_body body, void *context);
/* A function of a graph that is there already: its inputs are placeholders of the graph. It has no tape, so it can't be differentiated. */
tw__function *tw__function_of_graph(const char *name, tw__graph *graph, tw__node *const *inputs, int input_count, const tw__edge *outputs,
                                    int output_count);
/* Calls it through the one door. `outputs` has room for output_count tensors. */
tw_status tw__function_call(tw__function *function, tw_tensor *const *arguments, tw_tensor **outputs);
/* The same with all inputs given, those of the captures too. */
tw_status tw__function_call_given(tw__function *function, tw_tensor *const *inputs, tw_tensor **outputs);
/* Runs it without tapes or tracing: all inputs given. */
tw_status tw__function_run(tw__function *function, tw_tensor *const *inputs, tw_tensor **outputs);
/* The same as it stands: tapes do not make it another form. */
tw_status tw__function_call_plain(tw__function *function, tw_tensor *const *inputs, tw_tensor **outputs);
/* The captures become these, in this order; they contain those it has. The others are inputs that it does not use. */
tw_status tw__function_set_captures(tw__function *function, tw_tensor *const *captures, int count);
/* Further results: the captures themselves. */
tw_status tw__function_pass_captures(tw__function *function);
/* The results' dtypes and shapes. */
tw_dtype tw__function_output_dtype(const tw__function *function, int output);
const tw_shape *tw__function_output_shape(const tw__function *function, int output);
/* Whether a gradient of a value of that dtype is passed along: numbers, and lists of tensors. */
bool tw__function_carries(tw_dtype dtype);
/* How many derivatives are being made, one of another, in this thread. */
extern _Thread_local int tw__derivation_depth;
/* Makes forward and backward. */
tw_status tw__function_differentiate(tw__function *function);

#endif
