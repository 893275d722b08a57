/* Strategies: one program that runs on several devices at once, each with its own copy of the variables and its own part of the
 * data.
 *
 *     tw_auto tw_strategy *strategy = (tw_strategy *)tw_mirrored_strategy();
 *     tw_strategy_enter(strategy);                        // variables made from here on have a copy on every device
 *     … make the model and the optimizer …
 *     tw_strategy_exit(strategy);
 *     tw_strategy_run(strategy, step, &batch);            // calls step(replica, &batch) for every replica, each in its own
 * thread
 *
 * The replicas of a run take turns, as TensorFlow's do: one runs until it ends or meets the others (tw_replica_merge,
 * tw_replica_all_reduce, an optimizer's apply_gradients), then the next one goes on. So a run gives the same numbers each time;
 * the operations themselves use all processors. */
#ifndef THALWEG_DISTRIBUTE_H
#define THALWEG_DISTRIBUTE_H

#include <thalweg/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_strategy tw_strategy;

/* What a replica does. An error ends the run: the replicas that wait for others get one, too. */
typedef tw_status tw_replica_body(int replica, void *context);
TW_API_FUNCTION tw_status tw_strategy_run(tw_strategy *strategy, tw_replica_body *body, void *context);

/* ---- in a replica ---- */
TW_API_FUNCTION int tw_replica_id(void); /* -1 outside of replicas */
/* What all replicas do together: each gives something, and when all have, `merge` runs once, in the thread that called
 * tw_strategy_run. The merge function and context of the first replica are used. */
typedef tw_status tw_replica_merge_body(void *const *given, int count, void *context);
TW_API_FUNCTION tw_status tw_replica_merge(tw_replica_merge_body *merge, void *context, void *given);
/* The sum, or the mean, of what the replicas give, for each of `count` tensors; gradients of some rows (slices) come out as such.
 * `results` are the caller's. Outside of replicas: the tensors themselves. */
TW_API_FUNCTION tw_status tw_replica_all_reduce(bool mean, tw_tensor *const *tensors, int count, tw_tensor **results);

#ifdef __cplusplus
}
#endif
#endif
