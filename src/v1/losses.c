/* TensorFlow 1's losses: what they share, the weighting and reduction of the examples' losses. */
#include "op/calls.h"
#include "rows.h"

/* Weights are a scalar, or have the losses' rank and in each dimension their size or 1. */
static tw_status check_weights(const tw_shape *weights, const tw_shape *losses)
{
    if (weights->rank <= 0 || losses->rank < 0)
        return TW_OK;
    bool fits = weights->rank == losses->rank;
    for (int i = 0; fits && i < weights->rank; i++)
        fits = weights->dims[i] == 1 || weights->dims[i] < 0 || losses->dims[i] < 0 || weights->dims[i] == losses->dims[i];
    if (fits)
        return TW_OK;
    tw__owned char *own = tw__shape_tuple(weights), *other = tw__shape_tuple(losses);
    tw__fail(TW_VALUE_ERROR,
             "weights can not be broadcast to values. values.rank=%d. weights.rank=%d. values.shape=%s. weights.shape=%s.",
             losses->rank, weights->rank, other ? other : "", own ? own : "");
    return TW_VALUE_ERROR;
}

static tw_tensor *sum(tw_tensor *values)
{
    tw_tensor *total = values ? tw__reduce_axis(&tw__op_Sum, values, TW_NO_INT, false) : NULL;
    tw_release(values);
    return total;
}

/* By what the sum is divided, in float32; NULL with no error: by nothing. */
static tw_tensor *divisor(tw_tensor *losses, tw_tensor *weights, const char *reduction)
{
    TW_TEMPS(t);
    if (strcmp(reduction, "weighted_sum_over_batch_size") == 0)
        return tw__count_scalar(losses, TW_FLOAT32);
    tw_tensor *ones = TW_CALL(OnesLike, losses);
    if (strcmp(reduction, "weighted_mean") == 0)
        return sum(TW_CALL(Mul, tw__temp(t, ones), weights));
    tw_auto tw_tensor *present = TW_CALL(NotEqual, weights, tw__temp(t, tw_tensor_float(0)));
    tw_tensor *numbers = present ? tw__cast(present, TW_FLOAT32) : NULL;
    return sum(TW_CALL(Mul, tw__temp(t, ones), tw__temp(t, numbers)));
}

TW_API(
    v1_compute_weighted_loss,
    "compat.v1.losses._compute_weighted_loss(losses: tensor, weights: tensor<float32>, reduction: str {none, weighted_sum, "
    "weighted_sum_over_batch_size, weighted_mean, weighted_sum_by_nonzero_weights} = weighted_sum_by_nonzero_weights) -> tensor",
    "The losses times their weights, summed, and divided as the reduction says; 0 where that would be by 0.")
{
    TW_TEMPS(t);
    if (check_weights(&args->weights->shape, &args->losses->shape) != TW_OK)
        return NULL;
    tw_auto tw_tensor *losses = tw__cast(args->losses, TW_FLOAT32), *weights = tw__cast(args->weights, TW_FLOAT32);
    tw_tensor *weighted = TW_CALL(Mul, losses, weights);
    if (strcmp(args->reduction, "none") != 0) {
        weighted = sum(weighted);
        if (weighted && strcmp(args->reduction, "weighted_sum") != 0)
            weighted = TW_CALL(DivNoNan, tw__temp(t, weighted), tw__temp(t, divisor(losses, weights, args->reduction)));
    }
    tw_tensor *result = weighted ? tw__cast(weighted, args->losses->dtype) : NULL;
    tw_release(weighted);
    return result;
}
