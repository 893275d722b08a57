/* Steps around updates of variables; see updates.h. */
#include "exec/updates.h"
#include "rows.h"

bool tw__step_is_blind(const tw__plan *plan, const tw__step *step, int32_t like)
{
    if (step->gone)
        return true;
    if (step->effects)
        return false;
    for (int k = 0; k < step->input_count; k++) {
        tw_dtype dtype = plan->places[step->inputs[k]].dtype;
        if (dtype == TW_VARIANT || (dtype == TW_RESOURCE && step->op->role != TW_ROLE_READ))
            return false;
    }
    if (step->op->role != TW_ROLE_READ)
        return true;
    const tw__place *seen = &plan->places[step->outputs[0]], *own = &plan->places[like];
    return seen->dtype != own->dtype ||
           (tw__shape_known(&seen->shape) && tw__shape_known(&own->shape) && !tw__shape_equal(&seen->shape, &own->shape));
}

bool tw__update_may_sink(const tw__plan *plan, int from, int to, int32_t like)
{
    for (int at = from + 1; at < to; at++) {
        if (!tw__step_is_blind(plan, &plan->steps[at], like))
            return false;
    }
    return true;
}
