/* What the files of tf.compat.v1.metrics share: a metric's scope, its local variables, and the pair that it gives. */
#ifndef TW_V1_METRICS_H
#define TW_V1_METRICS_H

#include "api/array/array.h"
#include "op/calls.h"
#include "v1/v1.h"

/* What all metrics are told besides their tensors. */
typedef struct tw__v1_told {
    const char *name;                  /* of the scope, or NULL */
    const tw_value *metrics, *updates; /* names of collections */
} tw__v1_told;
#define TW_V1_TOLD() ((tw__v1_told){ args->name, &args->metrics_collections, &args->updates_collections })

typedef struct tw__v1_metric {
    tw__temps temps[1];
    const tw__v1_told *told;
    tw__part part;
    bool begun, entered, functions;
} tw__v1_metric;

/* A counter: its value, and what adds to it and gives the new value. */
typedef struct tw__v1_counter {
    tw_variable *variable;
    tw_tensor *value, *update;
} tw__v1_counter;

/* Begins the row `function`; RUNTIME_ERROR in eager execution. Nodes are named one by one from now on. */
tw_status tw__v1_metric_begin(tw__v1_metric *metric, const tw__v1_told *told, const char *function);
/* Opens the variable scope of that name, or if it is NULL one of the usual name with a number; leaves it. */
tw_status tw__v1_metric_enter(tw__v1_metric *metric, const char *name, const char *usual);
tw_status tw__v1_metric_leave(tw__v1_metric *metric);
/* The pair (value, update), noted in the collections; NULL members, after a failure: none. */
tw_value tw__v1_metric_end(tw__v1_metric *metric, tw_tensor *value, tw_tensor *update);
/* The same where the update is the change of a variable itself: (value, variable, change), which a front end makes one of. */
tw_value tw__v1_metric_change(tw__v1_metric *metric, tw_tensor *value, tw_variable *variable, tw_tensor *change);

/* A local variable of zeros, borrowed from the metric. */
tw_variable *tw__v1_local(tw__v1_metric *metric, const char *name, const tw_shape *shape, tw_dtype dtype);
tw_tensor *tw__v1_read(tw__v1_metric *metric, tw_variable *variable);
/* The value after the addition, which follows `after`, if that is not NULL. */
tw_tensor *tw__v1_add(tw__v1_metric *metric, tw_variable *variable, tw_tensor *change, tw_tensor *after);
/* A counter of that name that the change is added to. */
tw__v1_counter tw__v1_count(tw__v1_metric *metric, const char *name, tw_tensor *change);

/* one / other, 0 where other is not positive. The node has that name. */
tw_tensor *tw__v1_ratio(tw__v1_metric *metric, tw_tensor *one, tw_tensor *other, const char *name);
/* The weights, in float32, for every element of the values. */
tw_tensor *tw__v1_wide(tw__temps *t, tw_tensor *weights, tw_tensor *values);
/* Both of one rank: a last dimension of 1 that only one of them has is left out. */
void tw__v1_match(tw__temps *t, tw_tensor **labels, tw_tensor **predictions);
tw_tensor *tw__v1_sum(tw__temps *t, tw_tensor *values);
tw_tensor *tw__v1_flat(tw__temps *t, tw_tensor *tensor, tw_dtype dtype); /* as a vector of that dtype */
tw_tensor *tw__v1_number(tw__temps *t, double value);                    /* of float32 */

/* Arguments that metrics have. */
#define TW_METRIC_ARGUMENTS                                                                          \
    "weights: tensor = None, metrics_collections: value = None, updates_collections: value = None, " \
    "name: str = None"

#endif
