/* More losses, as functions and as classes: absolute, relative and logarithmic errors, hinges, Huber, log-cosh, divergences,
 * focal losses. */
#include "api/nn/nn.h"
#include "keras/losses/losses.h"
#include "op/array/array.h"
#include "op/calls.h"

#define P tw_retain(y_pred)
#define T tw_retain(labels)
#define N(value) tw__float_scalar(y_pred->dtype, value)

/* The mean over the last axis; takes x. */
static tw_tensor *mean_last(tw_tensor *x)
{
    tw_tensor *mean = x ? tw__reduce_axis(&tw__op_Mean, x, -1, false) : NULL;
    tw_release(x);
    return mean;
}

static tw_tensor *sum_axis(tw_tensor *x, int64_t axis)
{
    tw_tensor *sum = x ? tw__reduce_axis(&tw__op_Sum, x, axis, false) : NULL;
    tw_release(x);
    return sum;
}

TW_API(
    mean_absolute_error,
    "keras.losses.mean_absolute_error|keras.losses.mae|keras.losses.MAE|keras.metrics.mean_absolute_error|keras.metrics.mae|keras.metrics.MAE"
    "(y_true: tensor, y_pred: tensor) -> tensor",
    "The absolute differences, averaged over the last axis.")
{
    tw_tensor *y_pred = args->y_pred;
    return mean_last(TW_G1(Abs, TW_G2(Sub, P, tw__cast(args->y_true, y_pred->dtype))));
}

TW_API(
    mean_absolute_percentage_error,
    "keras.losses.mean_absolute_percentage_error|keras.losses.mape|keras.losses.MAPE|keras.metrics.mean_absolute_percentage_error|"
    "keras.metrics.mape|keras.metrics.MAPE(y_true: tensor, y_pred: tensor) -> tensor",
    "The absolute differences in percent of the labels, averaged over the last axis.")
{
    tw_tensor *y_pred = args->y_pred;
    tw_auto tw_tensor *labels = tw__cast(args->y_true, y_pred->dtype);
    tw_tensor *size = TW_G2(Maximum, TW_G1(Abs, T), N(tw__keras_epsilon()));
    return TW_G2(Mul, N(100), mean_last(TW_G1(Abs, TW_G2(RealDiv, TW_G2(Sub, T, P), size))));
}

TW_API(
    mean_squared_logarithmic_error,
    "keras.losses.mean_squared_logarithmic_error|keras.losses.msle|keras.losses.MSLE|keras.metrics.mean_squared_logarithmic_error|"
    "keras.metrics.msle|keras.metrics.MSLE(y_true: tensor, y_pred: tensor) -> tensor",
    "The squared differences of log(1 + x), averaged over the last axis.")
{
    tw_tensor *y_pred = args->y_pred;
    tw_auto tw_tensor *labels = tw__cast(args->y_true, y_pred->dtype);
    tw_tensor *first = TW_G1(Log, TW_G2(AddV2, TW_G2(Maximum, P, N(tw__keras_epsilon())), N(1)));
    tw_tensor *second = TW_G1(Log, TW_G2(AddV2, TW_G2(Maximum, T, N(tw__keras_epsilon())), N(1)));
    return mean_last(TW_G2(SquaredDifference, first, second));
}

/* ---- hinges ---- */

/* Labels of 0 and 1 become -1 and 1; others stay. */
static tw_tensor *signed_labels(tw_tensor *y_true, tw_tensor *y_pred)
{
    tw_auto tw_tensor *labels = tw__cast(y_true, y_pred->dtype);
    tw_auto tw_tensor *each = TW_G2(LogicalOr, TW_G2(Equal, T, N(0)), TW_G2(Equal, T, N(1)));
    tw_auto tw_tensor *axes = each ? tw__all_axes(each) : NULL, *binary = axes ? TW_BINARY(All, each, axes) : NULL;
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
    return mean_last(hinges(args->y_true, args->y_pred));
}

TW_API(squared_hinge, "keras.losses.squared_hinge|keras.metrics.squared_hinge(y_true: tensor, y_pred: tensor) -> tensor",
       "max(1 - y_true * y_pred, 0) squared, averaged over the last axis.")
{
    return mean_last(TW_G1(Square, hinges(args->y_true, args->y_pred)));
}

TW_API(categorical_hinge, "keras.losses.categorical_hinge(y_true: tensor, y_pred: tensor) -> tensor",
       "How far the label's prediction is from being 1 above the others.")
{
    tw_tensor *y_pred = args->y_pred;
    tw_auto tw_tensor *labels = tw__cast(args->y_true, y_pred->dtype), *others = TW_G2(Mul, TW_G2(Sub, N(1), T), P);
    tw_tensor *greatest = others ? tw__reduce_axis(&tw__op_Max, others, -1, false) : NULL;
    return TW_G2(Maximum, TW_G2(AddV2, TW_G2(Sub, greatest, sum_axis(TW_G2(Mul, T, P), -1)), N(1)), N(0));
}

/* ---- others ---- */

TW_API(huber, "keras.losses.huber(y_true: tensor, y_pred: tensor, delta: float = 1.0) -> tensor",
       "Half the square of differences up to delta, straight on from there; averaged over the last axis.")
{
    tw_auto tw_tensor *y_pred = tw__cast(args->y_pred, TW_FLOAT32), *labels = y_pred ? tw__cast(args->y_true, TW_FLOAT32) : NULL;
    if (!labels)
        return NULL;
    tw_auto tw_tensor *error = TW_BINARY(Sub, y_pred, labels), *size = TW_UNARY(Abs, error);
    tw_tensor *near = TW_G2(Mul, N(0.5), TW_G1(Square, tw_retain(error)));
    tw_tensor *far = TW_G2(Sub, TW_G2(Mul, N(args->delta), tw_retain(size)), TW_G2(Mul, N(0.5), TW_G1(Square, N(args->delta))));
    return mean_last(TW_G3(SelectV2, TW_G2(LessEqual, tw_retain(size), N(args->delta)), near, far));
}

TW_API(
    log_cosh,
    "keras.losses.log_cosh|keras.losses.logcosh|keras.metrics.log_cosh|keras.metrics.logcosh(y_true: tensor, y_pred: tensor) -> tensor",
    "The logarithm of the hyperbolic cosine of the differences, averaged over the last axis.")
{
    tw_tensor *y_pred = args->y_pred;
    tw_auto tw_tensor *error = TW_G2(Sub, P, tw__cast(args->y_true, y_pred->dtype));
    tw_tensor *soft = TW_G1(Softplus, TW_G2(Mul, N(-2), tw_retain(error)));
    return mean_last(TW_G2(Sub, TW_G2(AddV2, tw_retain(error), soft), N((double)0.693147180559945309f)));
}

TW_API(
    kl_divergence,
    "keras.losses.kl_divergence|keras.losses.kullback_leibler_divergence|keras.losses.kld|keras.losses.KLD|keras.metrics.kl_divergence|"
    "keras.metrics.kullback_leibler_divergence|keras.metrics.kld|keras.metrics.KLD(y_true: tensor, y_pred: tensor) -> tensor",
    "The Kullback-Leibler divergence of predicted distributions from given ones.")
{
    tw_tensor *y_pred = args->y_pred;
    tw_auto tw_tensor *labels = TW_G3(ClipByValue, tw__cast(args->y_true, y_pred->dtype), N(tw__keras_epsilon()), N(1));
    tw_tensor *clipped = TW_G3(ClipByValue, P, N(tw__keras_epsilon()), N(1));
    return sum_axis(TW_G2(Mul, T, TW_G1(Log, TW_G2(RealDiv, T, clipped))), -1);
}

TW_API(poisson_loss, "keras.losses.poisson|keras.metrics.poisson(y_true: tensor, y_pred: tensor) -> tensor",
       "y_pred - y_true * log(y_pred), averaged over the last axis.")
{
    tw_tensor *y_pred = args->y_pred;
    tw_tensor *logs = TW_G1(Log, TW_G2(AddV2, P, N(tw__keras_epsilon())));
    return mean_last(TW_G2(Sub, P, TW_G2(Mul, tw__cast(args->y_true, y_pred->dtype), logs)));
}

TW_API(cosine_similarity, "keras.losses.cosine_similarity(y_true: tensor<T>, y_pred: tensor<T>, axis: int = -1) -> tensor",
       "Minus the cosine of the angle between labels and predictions.")
{
    tw_tensor *a = tw_math_l2_normalize(args->y_true, .axis = TW_INTS(args->axis)),
              *b = tw_math_l2_normalize(args->y_pred, .axis = TW_INTS(args->axis));
    return TW_G1(Neg, sum_axis(TW_G2(Mul, a, b), args->axis));
}

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
    tw_auto tw_tensor *p = args->from_logits ? TW_UNARY(Sigmoid, y_pred) : P;
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
    return sum_axis(TW_G2(Mul, weight, entropy), args->axis);
}

/* ---- the classes ---- */

#define CALL(name, expression)                                                               \
    static tw_tensor *name##_call(const tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred) \
    {                                                                                        \
        (void)self;                                                                          \
        return expression;                                                                   \
    }                                                                                        \
    static const tw__loss_methods name##_methods = { name##_call, #name };

CALL(mean_absolute_error, tw_mean_absolute_error(y_true, y_pred))
CALL(mean_absolute_percentage_error, tw_mean_absolute_percentage_error(y_true, y_pred))
CALL(mean_squared_logarithmic_error, tw_mean_squared_logarithmic_error(y_true, y_pred))
CALL(hinge, tw_hinge(y_true, y_pred))
CALL(squared_hinge, tw_squared_hinge(y_true, y_pred))
CALL(categorical_hinge, tw_categorical_hinge(y_true, y_pred))
CALL(poisson, tw_poisson_loss(y_true, y_pred))
CALL(log_cosh, tw_log_cosh(y_true, y_pred))
CALL(kl_divergence, tw_kl_divergence(y_true, y_pred))

#define CLASS .parent = &tw__class_loss, .size = sizeof(tw_loss)

TW_CLASS(losses_mean_absolute_error,
         "keras.losses.MeanAbsoluteError(reduction: str = auto, name: str = mean_absolute_error) -> loss", CLASS,
         .methods = &mean_absolute_error_methods, .doc = "The absolute differences.");
TW_CLASS(losses_mean_absolute_percentage_error,
         "keras.losses.MeanAbsolutePercentageError(reduction: str = auto, name: str = mean_absolute_percentage_error) -> loss",
         CLASS, .methods = &mean_absolute_percentage_error_methods, .doc = "The absolute differences in percent of the labels.");
TW_CLASS(losses_mean_squared_logarithmic_error,
         "keras.losses.MeanSquaredLogarithmicError(reduction: str = auto, name: str = mean_squared_logarithmic_error) -> loss",
         CLASS, .methods = &mean_squared_logarithmic_error_methods, .doc = "The squared differences of log(1 + x).");
TW_CLASS(losses_hinge, "keras.losses.Hinge(reduction: str = auto, name: str = hinge) -> loss", CLASS, .methods = &hinge_methods,
         .doc = "max(1 - y_true * y_pred, 0).");
TW_CLASS(losses_squared_hinge, "keras.losses.SquaredHinge(reduction: str = auto, name: str = squared_hinge) -> loss", CLASS,
         .methods = &squared_hinge_methods, .doc = "max(1 - y_true * y_pred, 0) squared.");
TW_CLASS(losses_categorical_hinge, "keras.losses.CategoricalHinge(reduction: str = auto, name: str = categorical_hinge) -> loss",
         CLASS, .methods = &categorical_hinge_methods, .doc = "How far the label's prediction is from being 1 above the others.");
TW_CLASS(losses_poisson, "keras.losses.Poisson(reduction: str = auto, name: str = poisson) -> loss", CLASS,
         .methods = &poisson_methods, .doc = "y_pred - y_true * log(y_pred).");
TW_CLASS(losses_log_cosh, "keras.losses.LogCosh(reduction: str = auto, name: str = log_cosh) -> loss", CLASS,
         .methods = &log_cosh_methods, .doc = "The logarithm of the hyperbolic cosine of the differences.");
TW_CLASS(losses_kl_divergence, "keras.losses.KLDivergence(reduction: str = auto, name: str = kl_divergence) -> loss", CLASS,
         .methods = &kl_divergence_methods, .doc = "The Kullback-Leibler divergence.");

static tw_tensor *huber_call(const tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    tw_huber_args given = { .y_true = y_true,
                            .y_pred = y_pred,
                            .delta = ((const tw_losses_huber_args *)tw_object_config(self))->delta };
    return tw__impl_huber(&given);
}

static const tw__loss_methods huber_methods = { huber_call, "huber" };

TW_CLASS(losses_huber, "keras.losses.Huber(delta: float = 1.0, reduction: str = auto, name: str = huber_loss) -> loss", CLASS,
         .methods = &huber_methods, .doc = "Half the square of differences up to delta, straight on from there.");

static tw_tensor *cosine_call(const tw_loss *self, tw_tensor *y_true, tw_tensor *y_pred)
{
    tw_auto tw_tensor *labels = tw__cast(y_true, y_pred->dtype);
    tw_cosine_similarity_args given = { .y_true = labels,
                                        .y_pred = y_pred,
                                        .axis = ((const tw_losses_cosine_similarity_args *)tw_object_config(self))->axis };
    return labels ? tw__impl_cosine_similarity(&given) : NULL;
}

static const tw__loss_methods cosine_methods = { cosine_call, "cosine_similarity" };

TW_CLASS(losses_cosine_similarity,
         "keras.losses.CosineSimilarity(axis: int = -1, reduction: str = auto, name: str = cosine_similarity) -> loss", CLASS,
         .methods = &cosine_methods, .doc = "Minus the cosine of the angle between labels and predictions.");

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
    CLASS, .methods = &binary_focal_methods, .doc = "Binary cross-entropy in which what is predicted well counts little.");

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
    CLASS, .methods = &categorical_focal_methods,
    .doc = "Cross-entropy of distributions in which what is predicted well counts little.");
