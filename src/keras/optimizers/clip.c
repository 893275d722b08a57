/* Limits of gradients and decay of weights, eagerly; traced.c has the same by ops. */
#include <math.h>

#include "graph/graph.h"
#include "keras/optimizers/optimizers.h"
#include "op/calls.h"

static tw_status scale(tw_tensor **gradient, double factor)
{
    return tw__gradient_replace(gradient, TW_CALL(Mul, *gradient, factor));
}

/* Half the sum of squares; NaN and an error if it fails. */
static double half_squares(tw_tensor *gradient)
{
    tw_auto tw_tensor *half = TW_CALL(L2Loss, gradient);
    return half ? tw_tensor_double_at(half, 0) : NAN;
}

static bool is_set(double limit)
{
    return !isnan(limit) && limit > 0;
}

bool tw__optimizer_clips(const tw_optimizer *optimizer)
{
    const tw_optimizer_args *limits = &optimizer->settings;
    return is_set(limits->clipnorm) || is_set(limits->clipvalue) || is_set(limits->global_clipnorm);
}

/* Gradients are owned here and may be replaced. */
tw_status tw__optimizer_clip(const tw_optimizer *optimizer, tw_tensor **gradients, int64_t count)
{
    const tw_optimizer_args *limits = &optimizer->settings;
    double total = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!gradients[i])
            continue;
        if (is_set(limits->clipnorm)) {
            double norm = sqrt(2 * half_squares(gradients[i]));
            TW_TRY(tw_error_code());
            TW_TRY(scale(&gradients[i], limits->clipnorm / fmax(norm, limits->clipnorm)));
        } else if (is_set(limits->global_clipnorm)) {
            total += half_squares(gradients[i]);
            TW_TRY(tw_error_code());
        } else if (is_set(limits->clipvalue)) {
            TW_TRY(
                tw__gradient_replace(&gradients[i], TW_CALL(ClipByValue, gradients[i], -limits->clipvalue, limits->clipvalue)));
        }
    }
    if (is_set(limits->clipnorm) || !is_set(limits->global_clipnorm))
        return TW_OK;
    double norm = sqrt(2 * total), limit = limits->global_clipnorm;
    double factor = isfinite(norm) ? limit * fmin(1 / norm, 1 / limit) : NAN;
    for (int64_t i = 0; i < count; i++) {
        if (gradients[i])
            TW_TRY(scale(&gradients[i], factor));
    }
    return TW_OK;
}

tw_status tw__optimizer_decay(const tw_optimizer *optimizer, tw_variable *variable)
{
    tw_auto tw_tensor *value = tw__resource_read(variable->resource);
    TW_NEED(value);
    TW_TRY(scale(&value, optimizer->settings.weight_decay));
    TW_TRY(scale(&value, tw__optimizer_rate(optimizer)));
    return tw__traced_assign(&tw__op_AssignSubVariableOp, variable, value);
}
