/* Metrics that count true and false positives and negatives above thresholds: what their files share. */
#ifndef TW_CONFUSION_H
#define TW_CONFUSION_H

#include "base/temps.h"
#include "keras/metrics/metrics.h"

enum { TW_TRUE_POSITIVES, TW_TRUE_NEGATIVES, TW_FALSE_POSITIVES, TW_FALSE_NEGATIVES, TW_CONFUSIONS };

typedef struct tw__confusion {
    tw_metric metric;
    tw_variable *counts[TW_CONFUSIONS]; /* references; NULL: not counted */
    tw_tensor *thresholds;              /* [n, 1], or [n, 1, 1] if counted per label; float32 */
    tw_tensor *label_weights;           /* or NULL */
    tw_metrics_precision_args settings; /* by name; thresholds are those above */
    bool even;                          /* the thresholds are numbers 0 … n - 1, of as many from 0 to 1 at equal distances */
    bool above_first;                   /* everything lies above the first of even thresholds */
    bool one;                           /* a single number is the result */
    bool multi_label;                   /* counts [n, labels], made by the class itself when it knows how many labels there are */
} tw__confusion;

extern const char *const tw__confusion_names[TW_CONFUSIONS];

tw_status tw__confusion_settle(void *self, const void *given);
void tw__confusion_visit(void *self, tw__visitor visitor, void *context);
void tw__confusion_clear(void *self);
void tw__confusion_destroy(void *self);
/* Thresholds as given (NULL: `usual`), and a variable of as many numbers for each name that is not NULL. */
tw_status tw__confusion_make_counts(tw__confusion *self, const char *const names[TW_CONFUSIONS], const tw_shape *shape);
tw_status tw__confusion_setup(tw__confusion *self, tw_tensor *thresholds, double usual, const char *const names[TW_CONFUSIONS]);
tw_status tw__confusion_update(tw_metric *metric, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight);
/* What is counted of `a` over what is counted of `a` and `b`, 0 where that is nothing; left to t. */
tw_tensor *tw__confusion_share(tw__temps *t, const tw__confusion *self, int a, int b);

#define TW_CONFUSION_CLASS                                                                             \
    .parent = &tw__class_counting_metric, .size = sizeof(tw__confusion), .visit = tw__confusion_visit, \
    .clear = tw__confusion_clear, .destroy = tw__confusion_destroy, .settle = tw__confusion_settle, .refused = " thresholds "

#endif
