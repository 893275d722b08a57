/* Losses of numbers: absolute, relative and logarithmic errors, Huber, log-cosh. */
#include "keras/losses/losses.h"
#include "op/array/array.h"
#include "op/calls.h"

/* In a loss: a number; predictions that are no floats are refused by it. */
#define N(value) tw__temp_float(t, y_pred->dtype, value)

TW_API(
    mean_absolute_error,
    "keras.losses.mean_absolute_error|keras.losses.mae|keras.losses.MAE|keras.metrics.mean_absolute_error|keras.metrics.mae|keras.metrics.MAE"
    "(y_true: tensor, y_pred: tensor) -> tensor",
    "The absolute differences, averaged over the last axis.")
{
    TW_TEMPS(t);
    tw_tensor *y_pred = args->y_pred;
    return tw__mean_last(TW_TEMP(Abs, TW_TEMP(Sub, y_pred, tw__temp_cast(t, args->y_true, y_pred->dtype))));
}

TW_API(
    mean_absolute_percentage_error,
    "keras.losses.mean_absolute_percentage_error|keras.losses.mape|keras.losses.MAPE|keras.metrics.mean_absolute_percentage_error|"
    "keras.metrics.mape|keras.metrics.MAPE(y_true: tensor, y_pred: tensor) -> tensor",
    "The absolute differences in percent of the labels, averaged over the last axis.")
{
    TW_TEMPS(t);
    tw_tensor *y_pred = args->y_pred, *labels = tw__temp_cast(t, args->y_true, y_pred->dtype);
    tw_tensor *size = TW_TEMP(Maximum, TW_TEMP(Abs, labels), N(tw__keras_epsilon()));
    tw_tensor *mean = tw__temp(t, tw__mean_last(TW_TEMP(Abs, TW_TEMP(RealDiv, TW_TEMP(Sub, labels, y_pred), size))));
    return TW_CALL(Mul, 100.0, mean);
}

TW_API(
    mean_squared_logarithmic_error,
    "keras.losses.mean_squared_logarithmic_error|keras.losses.msle|keras.losses.MSLE|keras.metrics.mean_squared_logarithmic_error|"
    "keras.metrics.msle|keras.metrics.MSLE(y_true: tensor, y_pred: tensor) -> tensor",
    "The squared differences of log(1 + x), averaged over the last axis.")
{
    TW_TEMPS(t);
    tw_tensor *y_pred = args->y_pred, *labels = tw__temp_cast(t, args->y_true, y_pred->dtype), *least = N(tw__keras_epsilon());
    tw_tensor *first = TW_TEMP(Log, TW_TEMP(AddV2, TW_TEMP(Maximum, y_pred, least), 1.0));
    tw_tensor *second = TW_TEMP(Log, TW_TEMP(AddV2, TW_TEMP(Maximum, labels, least), 1.0));
    return tw__mean_last(TW_TEMP(SquaredDifference, first, second));
}

TW_API(huber, "keras.losses.huber(y_true: tensor, y_pred: tensor, delta: float = 1.0) -> tensor",
       "Half the square of differences up to delta, straight on from there; averaged over the last axis.")
{
    TW_TEMPS(t);
    tw_tensor *y_pred = tw__temp_cast(t, args->y_pred, TW_FLOAT32), *labels = tw__temp_cast(t, args->y_true, TW_FLOAT32);
    tw_tensor *error = TW_TEMP(Sub, y_pred, labels), *size = TW_TEMP(Abs, error);
    tw_tensor *delta = tw__temp(t, tw_tensor_float((float)args->delta));
    tw_tensor *near = TW_TEMP(Mul, 0.5, TW_TEMP(Square, error));
    tw_tensor *far = TW_TEMP(Sub, TW_TEMP(Mul, delta, size), TW_TEMP(Mul, 0.5, TW_TEMP(Square, delta)));
    return tw__mean_last(TW_TEMP(SelectV2, TW_TEMP(LessEqual, size, delta), near, far));
}

TW_API(
    log_cosh,
    "keras.losses.log_cosh|keras.losses.logcosh|keras.metrics.log_cosh|keras.metrics.logcosh(y_true: tensor, y_pred: tensor) -> tensor",
    "The logarithm of the hyperbolic cosine of the differences, averaged over the last axis.")
{
    TW_TEMPS(t);
    tw_tensor *y_pred = args->y_pred, *error = TW_TEMP(Sub, y_pred, tw__temp_cast(t, args->y_true, y_pred->dtype));
    tw_tensor *soft = TW_TEMP(Softplus, TW_TEMP(Mul, N(-2), error));
    return tw__mean_last(TW_TEMP(Sub, TW_TEMP(AddV2, error, soft), (double)0.693147180559945309f));
}

/* ---- the classes ---- */

TW_LOSS_CALL(mean_absolute_error, tw_mean_absolute_error(y_true, y_pred))
TW_LOSS_CALL(mean_absolute_percentage_error, tw_mean_absolute_percentage_error(y_true, y_pred))
TW_LOSS_CALL(mean_squared_logarithmic_error, tw_mean_squared_logarithmic_error(y_true, y_pred))
TW_LOSS_CALL(log_cosh, tw_log_cosh(y_true, y_pred))

TW_CLASS(losses_mean_absolute_error,
         "keras.losses.MeanAbsoluteError(reduction: str = auto, name: str = mean_absolute_error) -> loss", TW_LOSS_CLASS,
         .methods = &mean_absolute_error_methods,
         .doc = "The absolute differences.\n"
                "example: tf.keras.losses.MeanAbsoluteError()([0.0, 1.0], [2.0, 1.0]).numpy()  # 1.0");
TW_CLASS(losses_mean_absolute_percentage_error,
         "keras.losses.MeanAbsolutePercentageError(reduction: str = auto, name: str = mean_absolute_percentage_error) -> loss",
         TW_LOSS_CLASS, .methods = &mean_absolute_percentage_error_methods,
         .doc = "The absolute differences in percent of the labels.");
TW_CLASS(losses_mean_squared_logarithmic_error,
         "keras.losses.MeanSquaredLogarithmicError(reduction: str = auto, name: str = mean_squared_logarithmic_error) -> loss",
         TW_LOSS_CLASS, .methods = &mean_squared_logarithmic_error_methods, .doc = "The squared differences of log(1 + x).");
TW_CLASS(losses_log_cosh, "keras.losses.LogCosh(reduction: str = auto, name: str = log_cosh) -> loss", TW_LOSS_CLASS,
         .methods = &log_cosh_methods, .doc = "The logarithm of the hyperbolic cosine of the differences.");

static tw_tensor *huber_call(const tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    tw_huber_args given = { .y_true = y_true,
                            .y_pred = y_pred,
                            .delta = ((const tw_losses_huber_args *)tw_object_config(self))->delta };
    return tw__impl_huber(&given);
}

static const tw__loss_methods huber_methods = { huber_call, "huber" };

TW_CLASS(losses_huber, "keras.losses.Huber(delta: float = 1.0, reduction: str = auto, name: str = huber_loss) -> loss",
         TW_LOSS_CLASS, .methods = &huber_methods,
         .doc = "Half the square of differences up to delta, straight on from there.\n"
                "example: tf.keras.losses.Huber()([0.0], [3.0]).numpy()  # 2.5");
