/* The tape from the inside; see tape.c. */
#ifndef TW_TAPE_H
#define TW_TAPE_H

#include "eager/eager.h"

typedef struct tw__record {
    const tw_op *op;
    tw_attr *attrs;
    int attr_count, input_count, output_count;
    int64_t first;  /* position of the inputs in the tape's list of tensors; the outputs follow */
    tw_object *own; /* a tw__own_gradient that stands for the op's gradient function, or NULL; a reference */
} tw__record;

/* The memory of a tape. A training loop makes a new tape for every step: what the last one had is kept by the thread and used
 * again. */
typedef struct tw__tape_memory {
    tw__record *records;
    size_t record_count, record_capacity;
    tw_tensor **tensors; /* every tensor the tape holds a reference to */
    size_t tensor_count, tensor_capacity;
    tw__pointer_map numbers; /* tensor -> number */
    int64_t next_number;
    struct tw__tape_chunk *chunks; /* of attrs; the newest first */
    tw_tensor **gradients;         /* by number, while walking back */
    bool *needed;
    size_t gradient_capacity, needed_capacity;
} tw__tape_memory;

struct tw_tape {
    tw_object object;
    bool persistent, watch_variables, recording, paused, used;
    bool only_variables; /* notes which are read, and keeps nothing else */
    struct tw_tape *outer;
    tw__tape_memory *memory; /* made when first needed */
    void **watched;          /* references: the variables that a spent tape followed */
    size_t watched_count, watched_capacity;
};

void tw__tape_start(tw_tape *tape);
void tw__tape_stop(tw_tape *tape);
void tw__tape_reset(tw_tape *tape);
void tw__tape_free(tw_tape *tape);
tw_status tw__tape_watch(tw_tape *tape, tw_tensor *tensor);
/* The memory, made if there is none yet; NULL on failure. */
tw__tape_memory *tw__tape_memory_of(tw_tape *tape);
void tw__tape_memory_reset(tw__tape_memory *memory);
void tw__tape_memory_give_back(tw__tape_memory *memory);
void *tw__tape_memory_block(tw__tape_memory *memory, size_t size); /* 16-byte aligned, stays until the reset */
/* results: a new reference or NULL per source. */
tw_status tw__tape_gradient(tw_tape *tape, tw_tensor *const *targets, tw_tensor *const *target_gradients, int64_t target_count,
                            tw_tensor *const *sources, int64_t source_count, tw_tensor **results);

/* The tensor that stands for an object in tapes and derivations: itself, or a variable's handle. NULL for anything else. */
tw_tensor *tw__watched_tensor(void *object);
/* What is differentiated: a tensor, or a variable's value, which is read as the tape looks on. A new reference; NULL, without an
 * error: it is neither. */
tw_tensor *tw__tape_target(tw_tape *tape, void *object);
void tw__tape_forget_variables(tw_tape *tape); /* those that a spent tape kept */
/* A tape that is not persistent has given its derivatives: it keeps the variables that it followed, and nothing else. */
void tw__tape_spend(tw_tape *tape);
/* tape.gradient with gradients as they come: those of gathered rows are slices (op/slices.h). */
struct tw_tape_gradient_args;
tw_tensors tw__tape_gradient_of(const struct tw_tape_gradient_args *args);
/* Calls the gradient function of an op, or the one that stands for it. Gradients that are slices of rows are made dense for it.
 */
tw_status tw__gradient_call(tw__gradient *gradient, tw_object *own);
/* ---- gradients that users define (custom_gradient.c) ---- */
typedef struct tw__custom_gradient {
    tw__own_gradient own;
    int output_count;
    /* From the outputs' gradients (none is NULL) to those of the inputs: new references or NULL. */
    tw_status (*backward)(struct tw__custom_gradient *self, tw_tensor *const *inputs, int input_count,
                          tw_tensor *const *output_gradients, tw_tensor **input_gradients);
    void (*end)(struct tw__custom_gradient *self); /* lets go of `user`; or NULL */
    void *user;
} tw__custom_gradient;
tw__custom_gradient *tw__custom_gradient_new(int output_count);
bool tw__is_custom_gradient(const tw_object *gradient);
/* A name that no other gradient of the process has in files; for tw__free. */
char *tw__gradient_type_new(void);
/* Outputs (new references) with the values of the results, whose gradient goes to the inputs as `custom` says. */
tw_status tw__custom_gradient_attach(tw__custom_gradient *custom, tw_tensor *const *results, tw_tensor *const *inputs,
                                     int input_count, tw_tensor **outputs);

tw_tensor *tw__gradient_add(tw_tensor *a, tw_tensor *b);
/* Ones of the same shape, named as TensorFlow names the seeds of tapes. */
tw_tensor *tw__gradient_ones(tw_tensor *like);
/* Zeros or ones; in graphs, few of them are a constant, of the name or the usual one. */
tw_tensor *tw__filled(tw_tensor *shape, tw_dtype dtype, bool one, const char *name, const char *usual);

/* In graphs: gradients of values that have one already, in the order in which they came. */
typedef struct tw__summand {
    int64_t number;      /* of the value */
    tw_tensor *gradient; /* a reference */
} tw__summand;
typedef struct tw__sums {
    tw__summand *items;
    size_t count, capacity;
} tw__sums;
tw_status tw__sums_add(tw__sums *sums, int64_t number, tw_tensor *gradient); /* takes the gradient */
/* Adds to the gradient of a value what there is besides, now that there won't be more of it. */
tw_status tw__sums_settle(tw__sums *sums, int64_t number, tw_tensor **gradient);
void tw__sums_free(tw__sums *sums);

#endif
