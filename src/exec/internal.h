/* Shared inside src/exec only: plans from the inside, and how passes see them.
 *
 * A plan is a list of steps over places. A place is a value: output k of node n has place first_place[n] + k, and passes may add places.
 * A step is at first one call of an op; passes rewrite steps: they take steps away, give a step other inputs, another op or attrs, or a
 * function of their own (`run` with `data`), so that a fused chain, a product with its bias, or an update of all variables is a step
 * like any other. Shapes, dtypes and constants are asked of places, not of nodes: a plan may know more than its graph. */
#ifndef TW_EXEC_INTERNAL_H
#define TW_EXEC_INTERNAL_H

#include <pthread.h>

#include "exec/exec.h"

enum { TW_SPARE_FRAMES = 4 };

typedef struct tw__place {
    tw_dtype dtype;
    tw_shape shape;         /* as far as the plan knows it */
    tw_tensor *constant;    /* its value, where that is known; a reference */
} tw__place;

typedef struct tw__step {
    const tw__node *node;   /* the call, or the last of the calls, that it stands for: its name stands in errors and reports */
    const tw_op *op;        /* what runs: the node's at first */
    const tw_attr *attrs;   /* of the op, complete; a pass that gives others keeps them in `data` */
    /* Runs instead of the op's compute if it is set. Outputs are there already if `known`; else it makes them. It may run in several
     * threads at once. */
    tw_status (*run)(const struct tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs);
    void *data;             /* of `run` or the attrs; free_data (NULL: nobody frees it) ends it with the step */
    void (*free_data)(void *data);
    const char *label;      /* what it does, in printouts; NULL: the op's name. Lives as long as `data` */
    int32_t *inputs;        /* places */
    int32_t input_count;
    int32_t *outputs;       /* places */
    int32_t output_count;
    int32_t *dropped;       /* places whose values are not needed after this step */
    int32_t dropped_count;
    bool known;             /* shapes of all outputs are known, and the outputs are made beforehand */
    bool effects;           /* runs even if nobody needs its outputs */
    bool gone;              /* taken away; its place in the list is closed when the pass is done */
    uint32_t overwrites;    /* bit k: output 0 may be written where input k lies, if that has its size and is needed no more */
    void *state;            /* of a kernel that has some */
} tw__step;

struct tw__plan {
    tw__graph *graph;
    tw__step *steps;
    int step_count;
    tw__place *places;
    int32_t place_count;
    size_t place_capacity;
    int32_t *arguments;     /* places */
    int argument_count;
    int32_t *outputs;
    int output_count;
    int32_t *constant_places; /* those with a constant that a step or an output uses */
    int constant_count;
    int most_inputs, most_outputs;
    pthread_mutex_t lock;   /* of the spare frames and of kernels' state */
    void *spare[TW_SPARE_FRAMES];
    int spare_count;
};

/* ---- passes over the steps ---- */

/* In this order. A pass is `tw_status tw__pass_NAME(tw__plan *plan)` in a file of its own, pass_NAME.c, with a bit TW_PASS_… in exec.h. After
 * each one, steps that are `gone` or that nobody needs any more are taken out. */
#define TW_STEP_PASSES(X) X(LIKES, likes) X(ADAM, adam) X(EPILOGUE, epilogue) X(FUSE, fuse)

#define TW_DECLARE_PASS(bit, name) tw_status tw__pass_##name(tw__plan *plan);
TW_STEP_PASSES(TW_DECLARE_PASS)
#undef TW_DECLARE_PASS

/* By place: the step that makes it (-1: none, it is an argument or a constant), and how often it is read; an output of the plan counts
 * as a read. Not kept up while steps change. */
typedef struct tw__uses {
    int32_t *maker;
    int32_t *reads;
} tw__uses;
tw_status tw__uses_find(const tw__plan *plan, tw__uses *uses);
void tw__uses_free(tw__uses *uses);

void tw__step_remove(tw__step *step);
tw_status tw__step_set_inputs(tw__step *step, const int32_t *places, int count);
tw_status tw__step_set_outputs(tw__step *step, const int32_t *places, int count);
/* Gives the step a function; `data` is the step's from now on, also if what it had before must end. */
void tw__step_set_run(tw__step *step, tw_status (*run)(const tw__step *, tw_tensor *const *, tw_tensor **), void *data, void (*free_data)(void *),
                      const char *label);
int32_t tw__plan_add_place(tw__plan *plan, tw_dtype dtype, const tw_shape *shape); /* -1: no memory */
/* The number of elements of a place of known shape; -1 if it is not known. */
int64_t tw__place_count(const tw__plan *plan, int32_t place);

/* ---- passes over the nodes, while steps are found in the graph's order ---- */

typedef struct tw__draft {
    tw__plan *plan;
    int32_t *first_place;   /* by node */
    int32_t *stands_for;    /* by place: the place whose value it has */
    tw__map seen;           /* op, attrs and inputs of earlier steps -> node id + 1 */
    int64_t version;        /* counts side effects: reads on two sides of one are not the same */
} tw__draft;

/* Each may settle a node without a step: true if it did. `inputs` are places that stand for nothing else. */
bool tw__pass_forward(tw__draft *draft, const tw__node *node, const int32_t *inputs);   /* Identity and its kin */
bool tw__pass_fold(tw__draft *draft, const tw__node *node, const int32_t *inputs);      /* constants in, constants out */
bool tw__pass_share(tw__draft *draft, const tw__node *node, const int32_t *inputs);     /* the same call again */

#endif
