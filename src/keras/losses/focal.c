/* Focal cross-entropies, in which what is predicted well counts little. */
#include "api/nn/nn.h"
#include "keras/losses/losses.h"
#include "op/array/array.h"
#include "op/calls.h"

/* In a loss: a number; predictions that are no floats are refused by it. */
#define N(value) tw__temp_float(t, y_pred->dtype, value)

/* Arguments of all of them. */
#define FOCAL_ARGUMENTS                                                                                  \
    "alpha: float = 0.25, gamma: float = 2.0, from_logits: bool = False, label_smoothing: float = 0.0, " \
    "axis: int = -1"

TW_API(binary_focal_crossentropy,
       "keras.losses.binary_focal_crossentropy|keras.metrics.binary_focal_crossentropy(y_true: tensor, y_pred: tensor, "
       "apply_class_balancing: bool = False, " FOCAL_ARGUMENTS ") -> tensor",
       "Cross-entropy of probabilities with labels of 0 and 1, in which what is predicted well counts little.\n"
       "axis: the dimension that the mean goes over")
{
    TW_TEMPS(t);
    tw_tensor *y_pred = args->y_pred, *given = tw__temp_cast(t, args->y_true, y_pred->dtype);
    if (!given)
        return NULL;
    tw_tensor *labels = tw__temp(t, tw__smooth_labels(given, args->label_smoothing, 0.5 * args->label_smoothing));
    tw_tensor *p = args->from_logits ? TW_TEMP(Sigmoid, y_pred) : y_pred, *others = TW_TEMP(Sub, N(1), labels);
    tw_tensor *right = TW_TEMP(AddV2, TW_TEMP(Mul, labels, p), TW_TEMP(Mul, others, TW_TEMP(Sub, 1.0, p)));
    tw_tensor *factor = TW_TEMP(Pow, TW_TEMP(Sub, 1.0, right), args->gamma);
    if (!factor)
        return NULL;
    tw_tensor *each = TW_TEMP(Mul, factor, tw__temp(t, tw__binary_losses(labels, y_pred, args->from_logits)));
    if (args->apply_class_balancing)
        each = TW_TEMP(Mul, TW_TEMP(AddV2, TW_TEMP(Mul, labels, args->alpha), TW_TEMP(Mul, others, 1 - args->alpha)), each);
    return tw__reduce_axis(&tw__op_Mean, each, args->axis, false);
}

TW_API(categorical_focal_crossentropy,
       "keras.losses.categorical_focal_crossentropy|keras.metrics.categorical_focal_crossentropy(y_true: tensor, "
       "y_pred: tensor, " FOCAL_ARGUMENTS ") -> tensor",
       "Cross-entropy of distributions in which what is predicted well counts little.\n"
       "alpha: the factor of the loss")
{
    TW_TEMPS(t);
    tw_tensor *y_pred = args->y_pred, *given = tw__temp_cast(t, args->y_true, y_pred->dtype);
    tw_tensor *labels = given ? tw__temp(t, tw__smooth_classes(given, args->label_smoothing)) : NULL;
    tw_tensor *kept = tw__logits_of(y_pred, &tw__op_Softmax), *logits = kept ? kept : y_pred; /* what an activation was made of */
    tw_tensor *from = kept || args->from_logits ? tw__temp(t, tw__softmax_along(&tw__op_Softmax, logits, args->axis)) : y_pred;
    tw_tensor *shares = TW_TEMP(RealDiv, from, tw__temp(t, tw__reduce_axis(&tw__op_Sum, from, args->axis, true)));
    tw_tensor *p = shares ? tw__temp(t, tw__clip_probabilities(shares)) : NULL;
    tw_tensor *entropy = TW_TEMP(Mul, TW_TEMP(Neg, labels), TW_TEMP(Log, p));
    tw_tensor *weight = TW_TEMP(Mul, TW_TEMP(Pow, TW_TEMP(Sub, N(1), p), args->gamma), args->alpha);
    return tw__sum_axis(TW_TEMP(Mul, weight, entropy), args->axis);
}

/* ---- the classes ---- */

static tw_tensor *binary_focal_call(const tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    const tw_losses_binary_focal_crossentropy_args *made = tw_object_config(self);
    tw_binary_focal_crossentropy_args given = { .y_true = y_true,
                                                .y_pred = y_pred,
                                                .apply_class_balancing = made->apply_class_balancing,
                                                .alpha = made->alpha,
                                                .gamma = made->gamma,
                                                .from_logits = made->from_logits,
                                                .label_smoothing = made->label_smoothing,
                                                .axis = made->axis };
    return tw__impl_binary_focal_crossentropy(&given);
}

static const tw__loss_methods binary_focal_methods = { binary_focal_call, "binary_focal_crossentropy" };

TW_CLASS(losses_binary_focal_crossentropy,
         "keras.losses.BinaryFocalCrossentropy(apply_class_balancing: bool = False, " FOCAL_ARGUMENTS
         ", reduction: str = auto, name: str = binary_focal_crossentropy) -> loss",
         TW_LOSS_CLASS, .methods = &binary_focal_methods,
         .doc = "Binary cross-entropy in which what is predicted well counts little.\n"
                "axis: the dimension that the mean goes over");

static tw_tensor *categorical_focal_call(const tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    const tw_losses_categorical_focal_crossentropy_args *made = tw_object_config(self);
    tw_categorical_focal_crossentropy_args given = { .y_true = y_true,
                                                     .y_pred = y_pred,
                                                     .alpha = made->alpha,
                                                     .gamma = made->gamma,
                                                     .from_logits = made->from_logits,
                                                     .label_smoothing = made->label_smoothing,
                                                     .axis = made->axis };
    return tw__impl_categorical_focal_crossentropy(&given);
}

static const tw__loss_methods categorical_focal_methods = { categorical_focal_call, "categorical_focal_crossentropy" };

TW_CLASS(losses_categorical_focal_crossentropy,
         "keras.losses.CategoricalFocalCrossentropy(" FOCAL_ARGUMENTS
         ", reduction: str = auto, name: str = categorical_focal_crossentropy) -> loss",
         TW_LOSS_CLASS, .methods = &categorical_focal_methods,
         .doc = "Cross-entropy of distributions in which what is predicted well counts little.\n"
                "alpha: the factor of the loss");
