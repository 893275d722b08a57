/* Hinge losses: how far predictions are from being right by a margin of 1. */
#include "keras/losses/losses.h"
#include "op/array/array.h"
#include "op/calls.h"

#define P tw_retain(y_pred)
#define T tw_retain(labels)
#define N(value) tw__float_scalar(y_pred->dtype, value)

/* Labels of 0 and 1 become -1 and 1; others stay. */
static tw_tensor *signed_labels(tw_tensor *y_true, tw_tensor *y_pred)
{
    tw_auto tw_tensor *labels = tw__cast(y_true, y_pred->dtype);
    tw_auto tw_tensor *each = TW_G2(LogicalOr, TW_G2(Equal, T, N(0)), TW_G2(Equal, T, N(1)));
    tw_auto tw_tensor *axes = each ? tw__all_axes(each) : NULL, *binary = axes ? TW_CALL(All, each, axes) : NULL;
    return TW_G3(SelectV2, tw_retain(binary), TW_G2(Sub, TW_G2(Mul, N(2), T), N(1)), T);
}

/* max(1 - y_true y_pred, 0) */
static tw_tensor *hinges(tw_tensor *y_true, tw_tensor *y_pred)
{
    return TW_G2(Maximum, TW_G2(Sub, N(1), TW_G2(Mul, signed_labels(y_true, y_pred), P)), N(0));
}

TW_API(hinge, "keras.losses.hinge|keras.metrics.hinge(y_true: tensor, y_pred: tensor) -> tensor",
       "max(1 - y_true * y_pred, 0), averaged over the last axis; labels are -1 and 1, or 0 and 1.")
{
    return tw__mean_last(hinges(args->y_true, args->y_pred));
}

TW_API(squared_hinge, "keras.losses.squared_hinge|keras.metrics.squared_hinge(y_true: tensor, y_pred: tensor) -> tensor",
       "max(1 - y_true * y_pred, 0) squared, averaged over the last axis.")
{
    return tw__mean_last(TW_G1(Square, hinges(args->y_true, args->y_pred)));
}

TW_API(categorical_hinge, "keras.losses.categorical_hinge(y_true: tensor, y_pred: tensor) -> tensor",
       "How far the label's prediction is from being 1 above the others.")
{
    tw_tensor *y_pred = args->y_pred;
    tw_auto tw_tensor *labels = tw__cast(args->y_true, y_pred->dtype), *others = TW_G2(Mul, TW_G2(Sub, N(1), T), P);
    tw_tensor *greatest = others ? tw__reduce_axis(&tw__op_Max, others, -1, false) : NULL;
    return TW_G2(Maximum, TW_G2(AddV2, TW_G2(Sub, greatest, tw__sum_axis(TW_G2(Mul, T, P), -1)), N(1)), N(0));
}

TW_LOSS_CALL(hinge, tw_hinge(y_true, y_pred))
TW_LOSS_CALL(squared_hinge, tw_squared_hinge(y_true, y_pred))
TW_LOSS_CALL(categorical_hinge, tw_categorical_hinge(y_true, y_pred))

TW_CLASS(losses_hinge, "keras.losses.Hinge(reduction: str = auto, name: str = hinge) -> loss", TW_LOSS_CLASS,
         .methods = &hinge_methods, .doc = "max(1 - y_true * y_pred, 0).");
TW_CLASS(losses_squared_hinge, "keras.losses.SquaredHinge(reduction: str = auto, name: str = squared_hinge) -> loss",
         TW_LOSS_CLASS, .methods = &squared_hinge_methods, .doc = "max(1 - y_true * y_pred, 0) squared.");
TW_CLASS(losses_categorical_hinge, "keras.losses.CategoricalHinge(reduction: str = auto, name: str = categorical_hinge) -> loss",
         TW_LOSS_CLASS, .methods = &categorical_hinge_methods,
         .doc = "How far the label's prediction is from being 1 above the others.");
