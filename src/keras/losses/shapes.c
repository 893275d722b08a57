/* Compositions of ops that losses and metrics share: Keras's rules for ranks that differ by one. */
#include "keras/losses/losses.h"
#include "op/array/array.h"
#include "op/calls.h"

tw_tensor *tw__mean_last(tw_tensor *x)
{
    return tw__reduce_axis(&tw__op_Mean, x, -1, false);
}

tw_tensor *tw__sum_axis(tw_tensor *x, int64_t axis)
{
    return tw__reduce_axis(&tw__op_Sum, x, axis, false);
}

tw_tensor *tw__drop_last_axis(tw_tensor *tensor)
{
    tw_shape shape = tensor->shape;
    shape.rank--;
    if (tensor->count >= 0)
        return tw__reshape(tensor, &shape);
    static const int64_t last = -1;
    return TW_CALL(Squeeze, tensor, TW_A_INTS("squeeze_dims", &last, 1));
}

static bool ends_in_one(const tw_tensor *tensor)
{
    return tensor->shape.rank > 0 && tensor->shape.dims[tensor->shape.rank - 1] == 1;
}

tw_status tw__match_ranks(tw_tensor *y_true, tw_tensor *y_pred, tw_tensor **true_out, tw_tensor **pred_out)
{
    bool known = y_pred->shape.rank >= 0 && y_true->shape.rank >= 0;
    int difference = known ? y_pred->shape.rank - y_true->shape.rank : 0;
    *pred_out = difference == 1 && ends_in_one(y_pred) ? tw__drop_last_axis(y_pred) : tw_retain(y_pred);
    *true_out = difference == -1 && ends_in_one(y_true) ? tw__drop_last_axis(y_true) : tw_retain(y_true);
    if (*pred_out && *true_out)
        return TW_OK;
    tw__set(pred_out, NULL);
    tw__set(true_out, NULL);
    return tw__error_status();
}

tw_tensor *tw__match_weights(tw_tensor *weights, const tw_tensor *values)
{
    tw_auto tw_tensor *cast = tw__cast(weights, values->dtype);
    if (!cast || cast->shape.rank <= 0 || values->shape.rank < 0)
        return tw_retain(cast);
    int difference = cast->shape.rank - values->shape.rank;
    if (difference == 1 && !ends_in_one(cast)) {
        tw__fail(TW_INVALID_ARGUMENT, "sample_weight has shape %s, the values %s: its last axis should be 1",
                 tw__shape_text(&cast->shape), tw__shape_text(&values->shape));
        return NULL;
    }
    return difference == 1 ? tw__drop_last_axis(cast) : difference == -1 ? TW_CALL(ExpandDims, cast, -1) : tw_retain(cast);
}

tw_tensor *tw__mask_weights(tw_tensor *weights, tw_tensor *mask)
{
    if (!weights || !mask)
        return tw_retain(mask);
    tw_auto tw_tensor *shaped = tw__match_weights(weights, mask);
    return TW_CALL(Mul, shaped, mask);
}
