/* How far predicted distributions, rates and directions are from the given ones: Kullback-Leibler, Poisson, cosine. */
#include "keras/losses/losses.h"
#include "op/array/array.h"
#include "op/calls.h"

/* In a loss: a number; predictions that are no floats are refused by it. */
#define N(value) tw__temp_float(t, y_pred->dtype, value)

TW_API(
    kl_divergence,
    "keras.losses.kl_divergence|keras.losses.kullback_leibler_divergence|keras.losses.kld|keras.losses.KLD|keras.metrics.kl_divergence|"
    "keras.metrics.kullback_leibler_divergence|keras.metrics.kld|keras.metrics.KLD(y_true: tensor, y_pred: tensor) -> tensor",
    "The Kullback-Leibler divergence of predicted distributions from given ones.")
{
    TW_TEMPS(t);
    tw_tensor *y_pred = args->y_pred, *least = N(tw__keras_epsilon()), *most = N(1);
    tw_tensor *labels = TW_TEMP(ClipByValue, tw__temp_cast(t, args->y_true, y_pred->dtype), least, most);
    tw_tensor *clipped = TW_TEMP(ClipByValue, y_pred, least, most);
    return tw__sum_axis(TW_TEMP(Mul, labels, TW_TEMP(Log, TW_TEMP(RealDiv, labels, clipped))), -1);
}

TW_API(poisson_loss, "keras.losses.poisson|keras.metrics.poisson(y_true: tensor, y_pred: tensor) -> tensor",
       "y_pred - y_true * log(y_pred), averaged over the last axis.")
{
    TW_TEMPS(t);
    tw_tensor *y_pred = args->y_pred, *logs = TW_TEMP(Log, TW_TEMP(AddV2, y_pred, N(tw__keras_epsilon())));
    return tw__mean_last(TW_TEMP(Sub, y_pred, TW_TEMP(Mul, tw__temp_cast(t, args->y_true, y_pred->dtype), logs)));
}

TW_API(cosine_similarity, "keras.losses.cosine_similarity(y_true: tensor<T>, y_pred: tensor<T>, axis: int = -1) -> tensor",
       "Minus the cosine of the angle between labels and predictions.\n"
       "axis: the dimension of the vectors")
{
    TW_TEMPS(t);
    tw_tensor *a = tw__temp(t, tw_math_l2_normalize(args->y_true, .axis = TW_INTS(args->axis))),
              *b = tw__temp(t, tw_math_l2_normalize(args->y_pred, .axis = TW_INTS(args->axis)));
    return TW_CALL(Neg, tw__temp(t, tw__sum_axis(TW_TEMP(Mul, a, b), args->axis)));
}

TW_API(metrics_cosine, "keras.metrics._cosine_similarity(y_true: tensor<T>, y_pred: tensor<T>, axis: int = -1) -> tensor",
       "The cosine of the angle between labels and predictions: what the name `cosine_similarity` means as a metric.\n"
       "axis: the dimension of the vectors")
{
    tw_auto tw_tensor *loss = tw_cosine_similarity(args->y_true, args->y_pred, .axis = args->axis);
    return TW_CALL(Neg, loss);
}

/* ---- the classes ---- */

TW_LOSS_CALL(poisson, tw_poisson_loss(y_true, y_pred))
TW_LOSS_CALL(kl_divergence, tw_kl_divergence(y_true, y_pred))

TW_CLASS(losses_poisson, "keras.losses.Poisson(reduction: str = auto, name: str = poisson) -> loss", TW_LOSS_CLASS,
         .methods = &poisson_methods, .doc = "y_pred - y_true * log(y_pred).");
TW_CLASS(losses_kl_divergence, "keras.losses.KLDivergence(reduction: str = auto, name: str = kl_divergence) -> loss",
         TW_LOSS_CLASS, .methods = &kl_divergence_methods, .doc = "The Kullback-Leibler divergence.");

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
         "keras.losses.CosineSimilarity(axis: int = -1, reduction: str = auto, name: str = cosine_similarity) -> loss",
         TW_LOSS_CLASS, .methods = &cosine_methods,
         .doc = "Minus the cosine of the angle between labels and predictions.\n"
                "axis: the dimension of the vectors");
