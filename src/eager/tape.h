/* The tape from the inside; see tape.c. */
#ifndef TW_TAPE_H
#define TW_TAPE_H

#include "eager/eager.h"

typedef struct tw__record {
    const tw_op *op;
    tw_attr *attrs;
    int attr_count, input_count, output_count;
    int64_t first; /* position of the inputs in the tape's list of tensors; the outputs follow */
} tw__record;

struct tw_tape {
    tw_object object;
    bool persistent, watch_variables, recording, paused, used;
    struct tw_tape *outer;
    tw__record *records;
    size_t record_count, record_capacity;
    tw_tensor **tensors; /* every tensor the tape holds a reference to */
    size_t tensor_count, tensor_capacity;
    tw__pointer_map numbers; /* tensor -> number */
    int64_t next_number;
};

void tw__tape_start(tw_tape *tape);
void tw__tape_stop(tw_tape *tape);
void tw__tape_reset(tw_tape *tape);
void tw__tape_free(tw_tape *tape);
tw_status tw__tape_watch(tw_tape *tape, tw_tensor *tensor);
/* results: a new reference or NULL per source. */
tw_status tw__tape_gradient(tw_tape *tape, tw_tensor *const *targets, tw_tensor *const *target_gradients, int64_t target_count,
                            tw_tensor *const *sources, int64_t source_count, tw_tensor **results);

tw_tensor *tw__gradient_add(tw_tensor *a, tw_tensor *b);
tw_tensor *tw__gradient_ones(tw_tensor *like);

#endif
