/* Hinge losses: how far predictions are from being right by a margin of 1. */
#include "keras/losses/losses.h"
#include "op/array/array.h"
#include "op/calls.h"

/* In a loss: a number; predictions that are no floats are refused by it. */
#define N(value) tw__temp_float(t, y_pred->dtype, value)

/* Labels of 0 and 1 become -1 and 1; others stay. */
static tw_tensor *signed_labels(tw__temps *t, tw_tensor *y_true, tw_tensor *y_pred)
{
    tw_tensor *labels = tw__temp_cast(t, y_true, y_pred->dtype);
    tw_tensor *each = TW_TEMP(LogicalOr, TW_TEMP(Equal, labels, N(0)), TW_TEMP(Equal, labels, N(1)));
    tw_tensor *binary = TW_TEMP(All, each, each ? tw__temp(t, tw__all_axes(each)) : NULL);
    return TW_TEMP(SelectV2, binary, TW_TEMP(Sub, TW_TEMP(Mul, 2.0, labels), 1.0), labels);
}

/* max(1 - y_true y_pred, 0) */
static tw_tensor *hinges(tw__temps *t, tw_tensor *y_true, tw_tensor *y_pred)
{
    return TW_TEMP(Maximum, TW_TEMP(Sub, 1.0, TW_TEMP(Mul, signed_labels(t, y_true, y_pred), y_pred)), 0.0);
}

TW_API(hinge, "keras.losses.hinge|keras.metrics.hinge(y_true: tensor, y_pred: tensor) -> tensor",
       "max(1 - y_true * y_pred, 0), averaged over the last axis; labels are -1 and 1, or 0 and 1.")
{
    TW_TEMPS(t);
    return tw__mean_last(hinges(t, args->y_true, args->y_pred));
}

TW_API(squared_hinge, "keras.losses.squared_hinge|keras.metrics.squared_hinge(y_true: tensor, y_pred: tensor) -> tensor",
       "max(1 - y_true * y_pred, 0) squared, averaged over the last axis.")
{
    TW_TEMPS(t);
    return tw__mean_last(TW_TEMP(Square, hinges(t, args->y_true, args->y_pred)));
}

TW_API(categorical_hinge, "keras.losses.categorical_hinge(y_true: tensor, y_pred: tensor) -> tensor",
       "How far the label's prediction is from being 1 above the others.")
{
    TW_TEMPS(t);
    tw_tensor *y_pred = args->y_pred, *labels = tw__temp_cast(t, args->y_true, y_pred->dtype);
    tw_tensor *others = TW_TEMP(Mul, TW_TEMP(Sub, N(1), labels), y_pred);
    tw_tensor *greatest = tw__temp(t, tw__reduce_axis(&tw__op_Max, others, -1, false));
    tw_tensor *own = tw__temp(t, tw__sum_axis(TW_TEMP(Mul, labels, y_pred), -1));
    return TW_CALL(Maximum, TW_TEMP(AddV2, TW_TEMP(Sub, greatest, own), 1.0), 0.0);
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
