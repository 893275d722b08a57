/* Applying gradients while a function is traced: the learning rate, the step counter, clipping and decay as ops, so that every
 * call of the function sees the optimizer as it is then. The arithmetic is that of the eager step (optimizer.c): norms in double.
 */
#include <math.h>

#include "graph/graph.h"
#include "keras/optimizers/optimizers.h"
#include "op/calls.h"

tw_tensor *tw__traced_read(tw_variable *variable, tw_dtype dtype)
{
    tw_tensor *value = tw__variable_read(variable), *cast = tw__cast(value, dtype);
    tw_release(value);
    return cast;
}

tw_status tw__traced_assign(const tw_op *op, tw_variable *variable, tw_tensor *value)
{
    tw_attr dtype = TW_A_TYPE("dtype", variable->resource->dtype);
    int outputs = 0;
    if (!value)
        return tw__error_status();
    tw_status status = tw__apply(op, TW_IN(variable->handle, value), 2, &dtype, 1, NULL, &outputs);
    tw_release(value);
    return status;
}

tw_tensor *tw__traced_rate(tw_optimizer *optimizer, tw_dtype dtype)
{
    if (optimizer->traced_rate && optimizer->traced_rate->dtype != dtype)
        tw__traced_end(optimizer);
    if (!optimizer->traced_rate)
        optimizer->traced_rate = tw__traced_read(optimizer->rate, dtype);
    return optimizer->traced_rate;
}

void tw__traced_end(tw_optimizer *optimizer)
{
    tw_release(optimizer->traced_rate);
    tw_release(optimizer->traced_number);
    optimizer->traced_rate = optimizer->traced_number = NULL;
}

tw_status tw__traced_schedule(tw_optimizer *optimizer)
{
    if (!optimizer->schedule)
        return TW_OK;
    tw_auto tw_tensor *step = tw__variable_read(optimizer->iterations);
    tw_auto tw_tensor *rate = step ? tw__schedule_trace(optimizer->schedule, step) : NULL;
    return tw__traced_assign(&tw__op_AssignVariableOp, optimizer->rate, tw__cast(rate, TW_FLOAT32));
}

/* ---- clipping ---- */

static tw_tensor *number(double value)
{
    return tw_tensor_double(value);
}

/* Takes the factor, a double. */
static tw_status scale(tw_tensor **gradient, tw_tensor *factor)
{
    tw_tensor *scaled = TW_G2(Mul, tw_retain(*gradient), tw__cast(factor, (*gradient)->dtype));
    tw_release(factor);
    if (!scaled)
        return tw__error_status();
    tw_release(*gradient);
    *gradient = scaled;
    return TW_OK;
}

static tw_tensor *half_squares(tw_tensor *gradient)
{
    tw_auto tw_tensor *half = TW_CALL(L2Loss, gradient);
    return tw__cast(half, TW_FLOAT64);
}

/* sqrt(2 half), taking it. */
static tw_tensor *norm_of(tw_tensor *half)
{
    return TW_G1(Sqrt, TW_G2(Mul, number(2), half));
}

static tw_status clip_value(tw_tensor **gradient, double limit)
{
    tw_auto tw_tensor *low = tw__float_scalar((*gradient)->dtype, -limit);
    tw_auto tw_tensor *high = tw__float_scalar((*gradient)->dtype, limit);
    tw_tensor *clipped = TW_CALL(ClipByValue, *gradient, low, high);
    if (!clipped)
        return tw__error_status();
    tw_release(*gradient);
    *gradient = clipped;
    return TW_OK;
}

/* All by one factor: limit · min(1 / norm, 1 / limit), NaN if the norm is not finite. */
static tw_status clip_together(double limit, tw_tensor **gradients, int64_t count)
{
    tw_tensor *total = number(0);
    for (int64_t i = 0; i < count; i++) {
        if (gradients[i])
            total = TW_G2(AddV2, total, half_squares(gradients[i]));
    }
    tw_auto tw_tensor *norm = norm_of(total);
    if (!norm)
        return tw__error_status();
    tw_auto tw_tensor *usual =
        TW_G2(Mul, number(limit), TW_G2(Minimum, TW_G2(RealDiv, number(1), tw_retain(norm)), number(1 / limit)));
    tw_auto tw_tensor *finite = TW_CALL(IsFinite, norm);
    tw_auto tw_tensor *nan = number(NAN);
    tw_auto tw_tensor *factor = usual && finite && nan ? TW_CALL(SelectV2, finite, usual, nan) : NULL;
    if (!factor)
        return tw__error_status();
    for (int64_t i = 0; i < count; i++) {
        if (gradients[i])
            TW_TRY(scale(&gradients[i], tw_retain(factor)));
    }
    return TW_OK;
}

tw_status tw__traced_clip(const tw_optimizer *optimizer, tw_tensor **gradients, int64_t count)
{
    bool each = optimizer->clip_norm > 0, together = !each && optimizer->global_clip_norm > 0;
    if (together)
        return clip_together(optimizer->global_clip_norm, gradients, count);
    for (int64_t i = 0; i < count; i++) {
        if (!gradients[i])
            continue;
        if (!each) {
            TW_TRY(clip_value(&gradients[i], optimizer->clip_value));
            continue;
        }
        tw_tensor *norm = norm_of(half_squares(gradients[i])), *limit = number(optimizer->clip_norm);
        tw_tensor *factor = TW_G2(RealDiv, limit, TW_G2(Maximum, norm, tw_retain(limit)));
        if (!factor)
            return tw__error_status();
        TW_TRY(scale(&gradients[i], factor));
    }
    return TW_OK;
}

tw_status tw__traced_decay(tw_optimizer *optimizer, tw_variable *variable)
{
    tw_dtype dtype = variable->resource->dtype;
    tw_tensor *decayed = TW_G2(Mul, tw__variable_read(variable), tw__float_scalar(dtype, optimizer->weight_decay));
    return tw__traced_assign(&tw__op_AssignSubVariableOp, variable,
                             TW_G2(Mul, decayed, tw_retain(tw__traced_rate(optimizer, dtype))));
}

/* ---- for steps that are ops, eagerly and traced alike (step.h) ---- */

tw_tensor *tw__step_rate(tw_optimizer *optimizer, tw_dtype dtype)
{
    return tw__tracing ? tw_retain(tw__traced_rate(optimizer, dtype)) : tw__float_scalar(dtype, tw__optimizer_rate(optimizer));
}

tw_tensor *tw__step_time(tw_optimizer *optimizer, tw_dtype dtype, int ahead)
{
    if (!tw__tracing)
        return tw__float_scalar(dtype, (double)(tw__optimizer_step(optimizer) + ahead));
    tw_auto tw_tensor *count = TW_G2(AddV2, tw__variable_read(optimizer->iterations), tw_tensor_int64(ahead));
    return count ? tw__cast(count, dtype) : NULL;
}

/* ---- RMSprop ---- */

/* ---- Adagrad ---- */

/* ---- Adadelta ---- */

/* ---- Adamax ---- */
