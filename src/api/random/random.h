/* Seeds: the global one of tf.random.set_seed, and what follows from it for each random op. */
#ifndef TW_API_RANDOM_H
#define TW_API_RANDOM_H

#include "kernel/random/random.h"
#include "op/op.h"
#include "spec/spec.h"

/* The attrs seed and seed2 of a random op. */
typedef struct tw__seeds {
    int64_t seed, seed2;
    bool refused; /* there are none, and the program wants the same numbers in every run; an error */
    bool drawn;   /* seed2 was drawn for this one call: no other will continue its stream */
} tw__seeds;

/* TensorFlow's rule for an op's seed argument; TW_NO_INT: none was given. */
tw__seeds tw__seed_pair(int64_t op_seed);
bool tw__op_determinism(void);          /* enable_op_determinism was called, or TF_DETERMINISTIC_OPS says so */
void tw__set_global_seed(int64_t seed); /* TW_NO_INT: none */

/* Runs a random op with these seeds and its other attrs; the output, or NULL. */
tw_tensor *tw__random_call(const tw_op *op, tw_tensor *const *inputs, int input_count, tw__seeds seeds, const tw_attr *attrs,
                           int attr_count);
/* u = uniform [0, 1) of that shape; for dropout. */
tw_tensor *tw__random_uniform(tw_tensor *dims, tw_dtype dtype, tw__seeds seeds);
/* The number of an algorithm that is given by name or number (1 philox, 2 threefry, 3 auto_select, which None is too); 0 and an
 * error if there is none. */
int64_t tw__random_algorithm(const tw_value *alg);

#endif
