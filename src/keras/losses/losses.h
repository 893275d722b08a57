/* Losses from the inside, and small compositions of ops that losses and metrics share. */
#ifndef TW_LOSSES_H
#define TW_LOSSES_H

#include "keras/keras.h"
#include "op/calls.h"

struct tw_loss {
    tw_object object;
    char *name;
    enum { TW_MEAN_LOSS, TW_SUM_LOSS, TW_EACH_LOSS } reduction;
    /* Set by an embedding language's subclass. */
    tw_tensor *(*foreign_call)(tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred);
    /* The same for one that weighs and reduces by itself. */
    tw_tensor *(*foreign_whole)(tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight);
};

typedef struct tw__loss_methods {
    tw_tensor *(*call)(const tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred); /* one value per example */
    const char *function;                                                          /* the function it stands for */
} tw__loss_methods;

/* ---- shared compositions (losses/shapes.c) ---- */
/* The mean over the last axis, the sum over an axis (TW_NO_INT: over all); new references. */
tw_tensor *tw__mean_last(tw_tensor *x);
tw_tensor *tw__sum_axis(tw_tensor *x, int64_t axis);
tw_tensor *tw__drop_last_axis(tw_tensor *tensor); /* of size 1 */
/* Takes a last axis of size 1 off the one that has it more than the other. Sets two new references. */
tw_status tw__match_ranks(tw_tensor *y_true, tw_tensor *y_pred, tw_tensor **true_out, tw_tensor **pred_out);
/* Weights cast to the values' dtype, a last axis taken off or put on if the ranks differ by one; a new reference. */
tw_tensor *tw__match_weights(tw_tensor *weights, const tw_tensor *values);
/* Weights times a mask that is already of numbers; without weights (NULL) the mask itself. A new reference. */
tw_tensor *tw__mask_weights(tw_tensor *weights, tw_tensor *mask);
double tw__keras_epsilon(void); /* keras.backend.epsilon() */

/* In a replica of a strategy, means over examples are refused, since a replica does not know of the others'; while this is true
 * they are means over the replica's part, which the training step divides by the number of replicas. (losses/loss.c) */
extern _Thread_local bool tw__losses_of_parts;

/* The loss as training asks for it: weighted and reduced, by the loss's class or by an embedding language's. */
tw_tensor *tw__loss_of(tw_loss *loss, tw_tensor *y_true, tw_tensor *y_pred, tw_tensor *sample_weight);

/* ---- pieces of losses (losses/functions.c) ---- */
/* One cross-entropy per element; labels have the predictions' dtype. */
tw_tensor *tw__binary_losses(tw_tensor *labels, tw_tensor *y_pred, bool from_logits);
tw_tensor *tw__smooth_labels(tw_tensor *y_true, double smoothing, double extra); /* y_true (1 - smoothing) + extra */
tw_tensor *tw__smooth_classes(tw_tensor *y_true,
                              double smoothing); /* the same; extra is the smoothing over the number of classes */
tw_tensor *tw__clip_probabilities(tw_tensor *p); /* so that logarithms are finite */

/* ---- classes of losses ---- */

#define TW_LOSS_CLASS .parent = &tw__class_loss, .size = sizeof(tw_loss)
/* The methods of a class whose loss is a function without settings. */
#define TW_LOSS_CALL(name, expression)                                                       \
    static tw_tensor *name##_call(const tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred) \
    {                                                                                        \
        (void)self;                                                                          \
        return expression;                                                                   \
    }                                                                                        \
    static const tw__loss_methods name##_methods = { name##_call, #name };

#endif
