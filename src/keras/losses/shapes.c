/* Compositions of ops that losses and metrics share: Keras's rules for ranks that differ by one. */
#include "keras/losses/losses.h"
#include "op/array/array.h"
#include "op/calls.h"

tw_tensor *tw__mean_last(tw_tensor *x)
{
    tw_tensor *mean = x ? tw__reduce_axis(&tw__op_Mean, x, -1, false) : NULL;
    tw_release(x);
    return mean;
}

tw_tensor *tw__sum_axis(tw_tensor *x, int64_t axis)
{
    tw_tensor *sum = x ? tw__reduce_axis(&tw__op_Sum, x, axis, false) : NULL;
    tw_release(x);
    return sum;
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

static tw_tensor *add_last_axis(tw_tensor *tensor)
{
    tw_auto tw_tensor *last = tw_tensor_int(-1);
    return TW_CALL(ExpandDims, tensor, last);
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
    tw_release(*pred_out);
    tw_release(*true_out);
    *pred_out = *true_out = NULL;
    return tw__error_status();
}

tw_tensor *tw__match_weights(tw_tensor *weights, const tw_tensor *values)
{
    tw_tensor *cast = tw__cast(weights, values->dtype);
    if (!cast || cast->shape.rank <= 0 || values->shape.rank < 0)
        return cast;
    tw_shape shape = cast->shape;
    int difference = shape.rank - values->shape.rank;
    if (difference == 1 && !ends_in_one(cast)) {
        tw__fail(TW_INVALID_ARGUMENT, "sample_weight has shape %s, the values %s: its last axis should be 1",
                 tw__shape_text(&shape), tw__shape_text(&values->shape));
        tw_release(cast);
        return NULL;
    }
    if (difference != 1 && difference != -1)
        return cast;
    tw_tensor *output = difference == 1 ? tw__drop_last_axis(cast) : add_last_axis(cast);
    tw_release(cast);
    return output;
}

tw_tensor *tw__mask_weights(tw_tensor *weights, tw_tensor *mask)
{
    if (!weights || !mask)
        return tw_retain(mask);
    tw_auto tw_tensor *shaped = tw__match_weights(weights, mask);
    return shaped ? TW_CALL(Mul, shaped, mask) : NULL;
}
