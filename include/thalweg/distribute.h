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

/* Where a tensor is: the whole name of a device, for free(). */
TW_API_FUNCTION char *tw_tensor_device(const tw_tensor *tensor);

/* What a replica does. An error ends the run: the replicas that wait for others get one, too. */
typedef tw_status tw_replica_body(int replica, void *context);
TW_API_FUNCTION tw_status tw_strategy_run(tw_strategy *strategy, tw_replica_body *body, void *context);

/* The dataset with the rows of its batches dealt out: an element has the tensors of the first replica's part, then those of the
 * second's, and so on. The parts of a last, shorter batch may be empty. A new dataset; the given one stays the caller's. */
TW_API_FUNCTION struct tw_dataset *tw_strategy_distribute_dataset(tw_strategy *strategy, struct tw_dataset *dataset);
/* One value of those that the replicas gave, one for each: their sum or their mean. */
TW_API_FUNCTION tw_tensor *tw_strategy_reduce(tw_strategy *strategy, bool mean, tw_tensors values);

/* ---- in a replica ---- */
TW_API_FUNCTION int tw_replica_id(void); /* -1 outside of replicas */
/* What all replicas do together: each gives something, and when all have, `merge` runs once, in the thread that called
 * tw_strategy_run. The merge function and context of the first replica are used. */
typedef tw_status tw_replica_merge_body(void *const *given, int count, void *context);
TW_API_FUNCTION tw_status tw_replica_merge(tw_replica_merge_body *merge, void *context, void *given);
/* The sum, or the mean, of what the replicas give, for each of `count` tensors; gradients of some rows (slices) come out as such.
 * `results` are the caller's. Outside of replicas: the tensors themselves. */
TW_API_FUNCTION tw_status tw_replica_all_reduce(bool mean, tw_tensor *const *tensors, int count, tw_tensor **results);

/* What they give belongs to the open scope, if there is one; see <thalweg/base.h>. */
#ifdef TW_SCOPES
#define tw_strategy_distribute_dataset(...) TW_MADE(struct tw_dataset *, tw_strategy_distribute_dataset(__VA_ARGS__))
#define tw_strategy_reduce(...) TW_MADE(tw_tensor *, tw_strategy_reduce(__VA_ARGS__))
#endif

#ifdef __cplusplus
}
#endif
#endif
