/* use_ema: moving averages of the variables that are trained, which take their places now and then, and at the end of fit. */
#include "keras/optimizers/step.h"

static tw_variable *average_of(const tw_optimizer *optimizer, const tw_variable *variable)
{
    int64_t index = optimizer->slots[TW_AVERAGES] ? tw__pointer_map_get(&optimizer->places, variable, -1) : -1;
    return index < 0 ? NULL : optimizer->slots[TW_AVERAGES][index];
}

/* Each so many steps the variables get their averages; traced, the step is not known, so it is a choice of values. */
static tw_status overwrite(tw__temps *t, tw_optimizer *optimizer, tw_variable *variable, tw_variable *average)
{
    int64_t frequency = optimizer->settings.ema_overwrite_frequency;
    if (frequency == TW_NO_INT)
        return TW_OK;
    tw_tensor *step = TW_TEMP(AddV2, V(optimizer->iterations), (int64_t)1);
    tw_tensor *due = TW_TEMP(Equal, TW_TEMP(FloorMod, step, frequency), (int64_t)0);
    TW_NEED(due);
    ASSIGN(variable, SelectV2, due, V(average), V(variable));
    return TW_OK;
}

tw_status tw__optimizer_average(tw_optimizer *optimizer, tw_tensor *const *gradients, const tw_objects *variables)
{
    if (!optimizer->slots[TW_AVERAGES] || !optimizer->settings.use_ema)
        return TW_OK;
    double momentum = optimizer->settings.ema_momentum;
    for (int64_t i = 0; i < variables->count; i++) {
        TW_TEMPS(t);
        tw_variable *variable = variables->items[i], *average = average_of(optimizer, variable);
        if (!gradients[i] || !average)
            continue;
        ASSIGN(average, AddV2, TW_TEMP(Mul, momentum, V(average)), TW_TEMP(Mul, 1 - momentum, V(variable)));
        TW_TRY(overwrite(t, optimizer, variable, average));
    }
    return TW_OK;
}

tw_status tw__optimizer_finalize(tw_optimizer *optimizer, const tw_objects *variables)
{
    optimizer = tw__optimizer_inner(optimizer);
    if (!optimizer->settings.use_ema)
        return TW_OK;
    for (int64_t i = 0; i < variables->count; i++) {
        tw_variable *variable = variables->items[i], *average = average_of(optimizer, variable);
        tw_auto tw_tensor *value = average ? tw__variable_read(average) : NULL;
        if (average)
            TW_TRY(tw__traced_assign(&tw__op_AssignVariableOp, variable, value));
    }
    return TW_OK;
}

TW_METHOD(optimizer_finalize_variable_values,
          "keras.optimizers.Optimizer.finalize_variable_values(self: optimizer, var_list: list<variable>)",
          "What fit does at its end: with use_ema the variables get their averages.\n"
          "var_list: the variables")
{
    return tw__optimizer_finalize(args->self, &args->var_list);
}
