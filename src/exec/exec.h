/* Running graphs: a graph with chosen outputs becomes a plan, once; a plan runs many times.
 *
 * A plan is a list of steps in the graph's order: only nodes that an output needs or that have side effects. Every value has a
 * place in a frame; constants are there from the start, arguments are put there, and a value is dropped after its last use.
 * Attributes are complete, outputs of known shape are made straight away, and shape functions run only where shapes depend on the
 * call. */
#ifndef TW_EXEC_H
#define TW_EXEC_H

#include "graph/graph.h"

typedef struct tw__plan tw__plan;

/* The planner's passes (pass_*.c and fuse.c, inline.c, beside.c), each with its bit; all are on. Tests switch them off. */
enum {
    TW_PASS_FORWARD = 1,
    TW_PASS_FOLD = 2,
    TW_PASS_SHARE = 4,
    TW_PASS_FUSE = 8,
    TW_PASS_ADAM = 16,
    TW_PASS_EPILOGUE = 32,
    TW_PASS_LIKES = 64,
    TW_PASS_POOL = 128,
    TW_PASS_TIDY = 256,
    TW_PASS_INLINE = 512,
    TW_PASS_UPDATES = 1024,
    TW_PASS_ENTROPY = 2048,
    TW_PASS_BESIDE = 4096,
    TW_PASS_COMPILE = 8192,
    TW_PASS_ARENA = 1 << 30,     /* layout.c: values in the frame */
    TW_PASS_OVERWRITE = 1 << 29, /* … in the memory of inputs that end */
};
extern unsigned tw__exec_passes;

/* A graph to be called: its inputs are placeholders. */
typedef struct tw__body {
    tw__graph *graph;
    tw__node *const *inputs;
    int input_count;
    const tw__edge *outputs;
    int output_count;
    void *owner; /* the object that keeps all of it */
} tw__body;
/* The function in an attr of a node (what a call calls, what a While repeats), or function `index` of a list, for the planner to
 * look into; defined in function/function.c. False: the node has another role, or no function of that kind. */
bool tw__node_body(const tw__node *node, tw__role role, const char *attr, int index, tw__body *body);

/* How many steps may run at once, as the user set it; 0: as many as there are threads. Unless it is 1, some do (beside.c). */
extern _Atomic int tw__inter_op_threads;

/* `arguments` are placeholders, in the order of the values that tw__plan_run gets. */
tw__plan *tw__plan_new(tw__graph *graph, tw__node *const *arguments, int argument_count, const tw__edge *outputs,
                       int output_count);
void tw__plan_free(tw__plan *plan);
/* Values are borrowed; outputs are new references. Several threads may run one plan at once. */
tw_status tw__plan_run(tw__plan *plan, tw_tensor *const *values, tw_tensor **outputs);
int tw__plan_steps(const tw__plan *plan);
bool tw__plan_takes_long(const tw__plan *plan); /* long enough to let others run meanwhile */
/* Whether an argument's memory may still be looked at after the run: if not, it may be somebody else's. */
bool tw__plan_keeps(const tw__plan *plan, int argument);
/* The plan as text: its steps, what they join, where values lie, how many bytes they take. With `values`, the plan for arguments
 * like these. */
tw_status tw__plan_print(tw__plan *plan, const char *name, tw_tensor *const *values, tw__text *text);

/* ---- single calls on an accelerator (call_compiled.c) ---- */
/* Whether calls on such inputs may run there. */
bool tw__call_fits(const tw_op *op, tw_tensor *const *inputs, int count);
/* Runs the call there if it has a lowering; `shapes` are those of the outputs. Else `ran` stays as it was. */
tw_status tw__call_compiled(const tw__kernel *kernel, int attr_count, const tw_shape *shapes, uint32_t place, bool *ran);

/* Where the node was made that the thread's last "node a: …" error is about (a tw__origin), or NULL; as long as its graph lives.
 */
extern _Atomic bool tw__op_reports; /* the same of ops that run at once, outside of plans */
struct tw_step_event;
void tw__set_op_hook(void (*hook)(void *user, const struct tw_step_event *event)); /* NULL: nobody */
void tw__op_report(const char *name, const char *op, int64_t start); /* op may be NULL: it is another part of the program */
int64_t tw__step_clock(void);
extern _Atomic bool tw__step_reports; /* somebody wants to know of steps (hook.c) */

#endif
