/* tf.lite's Interpreter: a model with the values of its inputs, outputs and variables. */
#ifndef TW_LITE_INTERPRETER_H
#define TW_LITE_INTERPRETER_H

#include "lite/lite.h"
#include "spec/spec.h"

/* A subgraph that is run from outside: the first one, and those of signatures. */
typedef struct tw__lite_runner {
    bool allocated;
    tw_shape *shapes;   /* by input: as it was asked for */
    tw_tensor **inputs; /* references, NULL until something was set */
    tw_tensor **outputs;
    int *variables; /* numbers of tensors that keep their values */
    tw_tensor **kept;
    int variable_count;
    tw__function *function; /* of inputs, kept values and named variables; gives outputs and these values again */
    tw_tensor **values;     /* of all tensors, if they are to be seen: references */
    tw_tensor **before;     /* the arguments of the last run */
    int before_count;
} tw__lite_runner;

struct tw_lite_interpreter {
    tw_object object;
    tw__lite_model *model;
    tw__lite_runner *runners; /* by subgraph */
    tw__lite_state state;
};

tw__lite_runner *tw__lite_runner_of(struct tw_lite_interpreter *self, int64_t subgraph); /* NULL: an error */
void tw__lite_forget(const tw__lite_subgraph *graph, tw__lite_runner *runner);           /* to be allocated again */
void tw__lite_runner_end(const tw__lite_subgraph *graph, tw__lite_runner *runner);
tw_status tw__lite_allocate(struct tw_lite_interpreter *self, int64_t subgraph);
tw_status tw__lite_invoke(struct tw_lite_interpreter *self, int64_t subgraph);
/* Makes the values of all tensors as the last run had them. */
tw_status tw__lite_look(struct tw_lite_interpreter *self, int64_t subgraph);
tw_status tw__lite_reset(struct tw_lite_interpreter *self);
/* The shape of a tensor now. */
tw_shape tw__lite_shape_now(const struct tw_lite_interpreter *self, int64_t subgraph, int64_t number);

#endif
