/* Applying gradients while a function is traced: the learning rate, the step counter, clipping and decay as ops, so that every
 * call of the function sees the optimizer as it is then. The arithmetic is that of the eager step (optimizer.c): norms in double.
 */
#include <math.h>

#include "graph/graph.h"
#include "keras/optimizers/optimizers.h"
#include "op/calls.h"

tw_status tw__traced_assign(const tw_op *op, tw_variable *variable, tw_tensor *value)
{
    tw_attr dtype = TW_A_TYPE("dtype", variable->resource->dtype);
    int outputs = 0;
    TW_NEED(value);
    return tw__apply(op, TW_IN(variable->handle, value), 2, &dtype, 1, NULL, &outputs);
}

tw_tensor *tw__traced_rate(tw_optimizer *optimizer, tw_dtype dtype)
{
    if (optimizer->traced_rate && optimizer->traced_rate->dtype != dtype)
        tw__traced_end(optimizer);
    if (!optimizer->traced_rate) {
        tw_auto tw_tensor *rate = tw__variable_read(optimizer->rate);
        optimizer->traced_rate = tw__cast(rate, dtype);
    }
    return optimizer->traced_rate;
}

void tw__traced_end(tw_optimizer *optimizer)
{
    tw__set(&optimizer->traced_rate, NULL);
    tw__set(&optimizer->traced_number, NULL);
}

tw_status tw__traced_schedule(tw_optimizer *optimizer)
{
    TW_TEMPS(t);
    if (!optimizer->schedule)
        return TW_OK;
    tw_tensor *step = tw__temp(t, tw__variable_read(optimizer->iterations));
    TW_NEED(step);
    tw_tensor *rate = tw__temp(t, tw__schedule_trace(optimizer->schedule, step));
    return tw__traced_assign(&tw__op_AssignVariableOp, optimizer->rate, tw__temp_cast(t, rate, TW_FLOAT32));
}

/* ---- clipping ---- */

/* The factor is a double. */
static tw_status scale(tw__temps *t, tw_tensor **gradient, tw_tensor *factor)
{
    return tw__gradient_replace(gradient, TW_CALL(Mul, *gradient, tw__temp_cast(t, factor, (*gradient)->dtype)));
}

static tw_tensor *half_squares(tw__temps *t, tw_tensor *gradient)
{
    return tw__temp_cast(t, TW_TEMP(L2Loss, gradient), TW_FLOAT64);
}

static tw_tensor *norm_of(tw__temps *t, tw_tensor *half)
{
    return TW_TEMP(Sqrt, TW_TEMP(Mul, 2.0, half));
}

/* All by one factor: limit · min(1 / norm, 1 / limit), NaN if the norm is not finite. */
static tw_status clip_together(double limit, tw_tensor **gradients, int64_t count)
{
    TW_TEMPS(t);
    tw_tensor *total = tw__temp(t, tw_tensor_double(0));
    for (int64_t i = 0; i < count; i++) {
        if (gradients[i])
            total = TW_TEMP(AddV2, total, half_squares(t, gradients[i]));
    }
    tw_tensor *norm = norm_of(t, total);
    tw_tensor *usual = TW_TEMP(Mul, limit, TW_TEMP(Minimum, TW_TEMP(RealDiv, 1.0, norm), 1 / limit));
    tw_tensor *factor = TW_TEMP(SelectV2, TW_TEMP(IsFinite, norm), usual, tw__temp(t, tw_tensor_double(NAN)));
    for (int64_t i = 0; i < count; i++) {
        if (gradients[i])
            TW_TRY(scale(t, &gradients[i], factor));
    }
    return TW_OK;
}

tw_status tw__traced_clip(const tw_optimizer *optimizer, tw_tensor **gradients, int64_t count)
{
    TW_TEMPS(t);
    const tw_optimizer_args *limits = &optimizer->settings;
    bool each = limits->clipnorm > 0, together = !each && limits->global_clipnorm > 0;
    if (together)
        return clip_together(limits->global_clipnorm, gradients, count);
    for (int64_t i = 0; i < count; i++) {
        tw_tensor *gradient = gradients[i];
        if (gradient && each) {
            tw_tensor *norm = norm_of(t, half_squares(t, gradient));
            TW_TRY(scale(t, &gradients[i], TW_TEMP(RealDiv, limits->clipnorm, TW_TEMP(Maximum, norm, limits->clipnorm))));
        } else if (gradient) {
            TW_TRY(tw__gradient_replace(&gradients[i], TW_CALL(ClipByValue, gradient, -limits->clipvalue, limits->clipvalue)));
        }
    }
    return TW_OK;
}

tw_status tw__traced_decay(tw_optimizer *optimizer, tw_variable *variable)
{
    TW_TEMPS(t);
    tw_tensor *decayed = TW_TEMP(Mul, tw__temp(t, tw__variable_read(variable)), optimizer->settings.weight_decay);
    return tw__traced_assign(&tw__op_AssignSubVariableOp, variable,
                             TW_TEMP(Mul, decayed, tw__traced_rate(optimizer, variable->resource->dtype)));
}

/* ---- for steps that are ops, eagerly and traced alike (step.h) ---- */

tw_tensor *tw__step_rate(tw__temps *t, tw_optimizer *optimizer, tw_dtype dtype)
{
    return tw__tracing ? tw__traced_rate(optimizer, dtype) : tw__temp(t, tw__float_scalar(dtype, tw__optimizer_rate(optimizer)));
}

tw_tensor *tw__step_time(tw__temps *t, tw_optimizer *optimizer, tw_dtype dtype, int ahead)
{
    if (!tw__tracing)
        return tw__temp(t, tw__float_scalar(dtype, (double)(tw__optimizer_step(optimizer) + ahead)));
    tw_tensor *step = tw__temp(t, tw__variable_read(optimizer->iterations));
    return tw__temp_cast(t, TW_TEMP(AddV2, step, (int64_t)ahead), dtype);
}
