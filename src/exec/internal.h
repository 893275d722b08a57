/* Shared inside src/exec only. */
#ifndef TW_EXEC_INTERNAL_H
#define TW_EXEC_INTERNAL_H

#include <pthread.h>

#include "exec/exec.h"

enum { TW_SPARE_FRAMES = 4 };

/* A place is a value: output k of node n has place first_place[n] + k. */
typedef struct tw__step {
    const tw__node *node;
    struct tw__fused *fused; /* a chain of elementwise ops that ends in the node; or NULL */
    int32_t *inputs;        /* places */
    int32_t input_count;
    int32_t first_output;   /* place of output 0; the others follow */
    int32_t *dropped;       /* places whose values are not needed after this step */
    int32_t dropped_count;
    bool known;             /* shapes of all outputs are known: the shape function need not run */
    void *state;            /* of a kernel that has some */
} tw__step;

struct tw__plan {
    tw__graph *graph;
    tw__step *steps;
    int step_count;
    int32_t place_count;
    int32_t *arguments;     /* places */
    int argument_count;
    int32_t *outputs;
    int output_count;
    tw_tensor **constants;  /* by place; NULL elsewhere */
    int32_t *constant_places; /* those that have one */
    int constant_count;
    int most_inputs, most_outputs;
    pthread_mutex_t lock;   /* of the spare frames and of kernels' state */
    void *spare[TW_SPARE_FRAMES];
    int spare_count;
};

/* What a pass sees while the steps of a plan are found, in the graph's order. */
typedef struct tw__draft {
    tw__plan *plan;
    int32_t *first_place;   /* by node */
    int32_t *stands_for;    /* by place: the place whose value it has */
    tw__map seen;           /* op, attrs and inputs of earlier steps -> node id + 1 */
    int64_t version;        /* counts side effects: reads on two sides of one are not the same */
} tw__draft;

/* Joins steps that are loops over equally many elements into the last of them (fuse.c). */
tw_status tw__pass_fuse(tw__plan *plan);
void tw__fused_run(const struct tw__fused *fused, tw_tensor *const *inputs, tw_tensor *output);

/* Each pass may settle a node without a step: true if it did. `inputs` are places that stand for nothing else. */
bool tw__pass_forward(tw__draft *draft, const tw__node *node, const int32_t *inputs);   /* Identity and its kin */
bool tw__pass_fold(tw__draft *draft, const tw__node *node, const int32_t *inputs);      /* constants in, constants out */
bool tw__pass_share(tw__draft *draft, const tw__node *node, const int32_t *inputs);     /* the same call again */

#endif
