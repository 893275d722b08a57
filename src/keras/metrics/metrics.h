/* Metrics from the inside. Mean and its kin have the variables total and count; those that count have others (confusion.c). */
#ifndef TW_METRICS_H
#define TW_METRICS_H

#include "keras/keras.h"

struct tw_metric {
    tw_layer layer;
    tw_variable *total, *count; /* references; NULL in metrics that are no means */
};

typedef struct tw__metric_methods {
    tw__layer_methods layer;
    /* One value per example, whose mean is the result. */
    tw_tensor *(*values)(const tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred);
    /* In the place of that: adds a batch to variables of its own. */
    tw_status (*update)(tw_metric *self, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight);
    tw_tensor *(*result)(tw_metric *self); /* NULL: the mean */
} tw__metric_methods;

/* A call adds a batch and gives the result: where it begins, and what it gives after an update with this status. */
size_t tw__metric_call_begins(void);
tw_tensor *tw__metric_called(tw_metric *metric, size_t since, tw_status updated);
tw_tensor *tw__metric_mean(tw_metric *metric); /* total / count */
/* Sums of values by their weights, and of the weights. Values with more axes than the weights are averaged over those first, or
 * summed. Sets new references; weight_sum may be NULL. */
tw_status tw__metric_weigh(tw_tensor *values, tw_tensor *sample_weight, bool sums, tw_tensor **weighted_sum,
                           tw_tensor **weight_sum);
tw_status tw__metric_add(tw_variable *variable, tw_tensor *value); /* a NULL value: the error is set */

/* Labels and predictions must be rows of a known number of outputs; the error names the metric. */
tw_status tw__metric_expect_rows(const char *name, const tw_shape *labels, const tw_shape *predictions);

#endif
