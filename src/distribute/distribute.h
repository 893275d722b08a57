/* Strategies inside: see <thalweg/distribute.h>.
 *
 *   strategy.c  the classes, devices, the thread's scope        run.c     replicas in threads, turns, merging
 *   mirror.c    copies of variables                             reduce.c  sums and means over replicas
 *   per_replica.c  a value that differs between replicas, as arguments and results of functions
 *
 * A thread is in the scope of a strategy, or a replica of a run of it, or neither. In a replica tw__replica (src/device) is its
 * number. */
#ifndef TW_DISTRIBUTE_H
#define TW_DISTRIBUTE_H

#include <thalweg/distribute.h>
#include <thalweg/function.h>

#include "device/device.h"
#include "eager/eager.h"

struct tw_strategy {
    tw_object object;
    char **devices;    /* their whole names */
    int count;         /* replicas in this process */
    bool mirrors;      /* variables made in its scope have a copy for each device */
    int rank, workers; /* of several processes that train together, which one this is and how many there are; 0: it is alone */
};

/* How many replicas there are in all processes. */
static inline int tw__strategy_replicas(const tw_strategy *strategy)
{
    return strategy->count * (strategy->workers ? strategy->workers : 1);
}

typedef struct tw__run tw__run;

/* What the thread is in: a list, the innermost first. */
typedef struct tw__strategy_level {
    tw_strategy *strategy; /* a reference */
    struct tw__strategy_level *outer;
} tw__strategy_level;
extern _Thread_local tw__strategy_level *tw__strategy_top;
extern _Thread_local tw__run *tw__run_now; /* of which the thread is a replica, or whose merging it does; NULL */

/* The strategy whose scope, or run, the thread is in; NULL: none. */
tw_strategy *tw__strategy_now(void);
tw_status tw__strategy_push(tw_strategy *strategy);
void tw__strategy_pop(void);

tw_strategy *tw__run_strategy(void); /* that of the run, or of the scope, that the thread is in; NULL: none */

/* ---- mirror.c ---- */
void tw__mirrors_start(void); /* from now on variables are mirrored where a strategy says so */
/* Variables of the strategy use their copy of that number from now on. */
void tw__mirrors_turn(const tw_strategy *strategy, int replica);
/* A variable of its own over the memory of one copy; a new reference. */
tw_variable *tw__mirror_component(const tw_variable *variable, int number);
/* Variables that replicas of a run make: those of the same name are one. */
tw_variable *tw__run_made(tw__run *run, const char *name, int replica); /* borrowed; NULL: the first replica has made none */
tw_status tw__run_note(tw__run *run, tw_variable *variable);

/* ---- reduce.c ---- */
/* One tensor of `count`, and of those that other workers have; the mean if `mean`. A new reference; slices give slices, but for
 * several workers. The strategy may be NULL. */
tw_tensor *tw__replicas_reduce(const tw_strategy *strategy, bool mean, tw_tensor *const *values, int count);
/* The sums of what all workers have, in the place of the tensors. */
tw_status tw__workers_sum(const tw_strategy *strategy, tw_tensor **tensors, int count);
/* The type of a value of these tensors, one for each replica. A new reference. */
struct tw_per_replica_spec *tw__per_replica_spec_new(const tw_spec *parts, int count);
/* What is computed once for all replicas, where copies of variables that are summed when read are summed; outside of replicas at
 * once. A new reference for each replica. */
tw_tensor *tw__replicas_once(tw_tensor *(*compute)(void *context), void *context);

#endif
