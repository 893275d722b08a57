/* Focal cross-entropies, in which what is predicted well counts little. */
#include "api/nn/nn.h"
#include "keras/losses/losses.h"
#include "op/array/array.h"
#include "op/calls.h"

#define P tw_retain(y_pred)
#define T tw_retain(labels)
#define N(value) tw__float_scalar(y_pred->dtype, value)

TW_API(
    binary_focal_crossentropy,
    "keras.losses.binary_focal_crossentropy|keras.metrics.binary_focal_crossentropy(y_true: tensor, y_pred: tensor, "
    "apply_class_balancing: bool = False, alpha: float = 0.25, gamma: float = 2.0, from_logits: bool = False, label_smoothing: float = 0.0, "
    "axis: int = -1) -> tensor",
    "Cross-entropy of probabilities with labels of 0 and 1, in which what is predicted well counts little.")
{
    tw_tensor *y_pred = args->y_pred;
    tw_auto tw_tensor *cast = tw__cast(args->y_true, y_pred->dtype);
    tw_auto tw_tensor *labels = cast ? tw__smooth_labels(cast, args->label_smoothing, 0.5 * args->label_smoothing) : NULL;
    tw_auto tw_tensor *p = args->from_logits ? TW_CALL(Sigmoid, y_pred) : P;
    tw_tensor *right = TW_G2(AddV2, TW_G2(Mul, T, tw_retain(p)), TW_G2(Mul, TW_G2(Sub, N(1), T), TW_G2(Sub, N(1), tw_retain(p))));
    tw_tensor *factor = TW_G2(Pow, TW_G2(Sub, N(1), right), N(args->gamma));
    tw_tensor *each = TW_G2(Mul, factor, labels ? tw__binary_losses(labels, y_pred, args->from_logits) : NULL);
    if (args->apply_class_balancing)
        each = TW_G2(Mul, TW_G2(AddV2, TW_G2(Mul, T, N(args->alpha)), TW_G2(Mul, TW_G2(Sub, N(1), T), N(1 - args->alpha))), each);
    tw_tensor *mean = each ? tw__reduce_axis(&tw__op_Mean, each, args->axis, false) : NULL;
    tw_release(each);
    return mean;
}

TW_API(
    categorical_focal_crossentropy,
    "keras.losses.categorical_focal_crossentropy|keras.metrics.categorical_focal_crossentropy(y_true: tensor, y_pred: tensor, "
    "alpha: float = 0.25, gamma: float = 2.0, from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1) -> tensor",
    "Cross-entropy of distributions in which what is predicted well counts little.")
{
    tw_tensor *y_pred = args->y_pred;
    tw_auto tw_tensor *cast = tw__cast(args->y_true, y_pred->dtype);
    tw_auto tw_tensor *labels = cast ? tw__smooth_classes(cast, args->label_smoothing) : NULL;
    tw_auto tw_tensor *given = args->from_logits ? tw__softmax_along(&tw__op_Softmax, y_pred, args->axis) : P;
    tw_auto tw_tensor *total = given ? tw__reduce_axis(&tw__op_Sum, given, args->axis, true) : NULL;
    tw_auto tw_tensor *shares = TW_G2(RealDiv, tw_retain(given), tw_retain(total)),
                      *p = shares ? tw__clip_probabilities(shares) : NULL;
    tw_tensor *entropy = TW_G2(Mul, TW_G1(Neg, T), TW_G1(Log, tw_retain(p)));
    tw_tensor *weight = TW_G2(Mul, TW_G2(Pow, TW_G2(Sub, N(1), tw_retain(p)), N(args->gamma)), N(args->alpha));
    return tw__sum_axis(TW_G2(Mul, weight, entropy), args->axis);
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

TW_CLASS(
    losses_binary_focal_crossentropy,
    "keras.losses.BinaryFocalCrossentropy(apply_class_balancing: bool = False, alpha: float = 0.25, gamma: float = 2.0, from_logits: bool = False, "
    "label_smoothing: float = 0.0, axis: int = -1, reduction: str = auto, name: str = binary_focal_crossentropy) -> loss",
    TW_LOSS_CLASS, .methods = &binary_focal_methods,
    .doc = "Binary cross-entropy in which what is predicted well counts little.");

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

TW_CLASS(
    losses_categorical_focal_crossentropy,
    "keras.losses.CategoricalFocalCrossentropy(alpha: float = 0.25, gamma: float = 2.0, from_logits: bool = False, label_smoothing: float = 0.0, "
    "axis: int = -1, reduction: str = auto, name: str = categorical_focal_crossentropy) -> loss",
    TW_LOSS_CLASS, .methods = &categorical_focal_methods,
    .doc = "Cross-entropy of distributions in which what is predicted well counts little.");
