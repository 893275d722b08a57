/* Lion: steps by the sign of a mixture of gradient and momentum. */
#include "keras/optimizers/step.h"

static tw_status lion_settle(void *self, const void *given)
{
    (void)self;
    const tw_optimizers_lion_args *args = given;
    if (args->beta_1 <= 0 || args->beta_1 > 1)
        return tw__fail(TW_VALUE_ERROR, "`beta_1`=%g must be between ]0, 1]. Otherwise, the optimizer degenerates to SignSGD.",
                        args->beta_1);
    return TW_OK;
}

static tw_status lion_build(tw_optimizer *optimizer)
{
    static const tw__slot_kind kinds[] = { { "momentums", "m", 0 } };
    return tw__optimizer_add_slots(optimizer, 0, 1, kinds);
}

/* m beta + g (1 - beta), left to t */
static tw_tensor *mixed(tw__temps *t, tw_variable *m, tw_tensor *gradient, double beta)
{
    return TW_TEMP(AddV2, TW_TEMP(Mul, V(m), beta), TW_TEMP(Mul, gradient, TW_TEMP(Sub, N(1), N(beta))));
}

static tw_status lion_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    const tw_optimizers_lion_args *self = tw_object_config(optimizer);
    tw_variable *m = optimizer->slots[0][index];
    SUBTRACT(variable, Mul, RATE, TW_TEMP(Sign, mixed(t, m, gradient, self->beta_1)));
    return tw__traced_assign(&tw__op_AssignVariableOp, m, mixed(t, m, gradient, self->beta_2));
}

static const tw__optimizer_methods lion_methods = { .build = lion_build, .update = lion_step, .trace = lion_step };

TW_CLASS(
    optimizers_lion,
    "keras.optimizers.Lion(learning_rate: number = 0.0001, beta_1: float = 0.9, beta_2: float = 0.99, " TW_OPTIMIZER_ARGUMENTS
    ", name: str = Lion) -> optimizer",
    .parent = &tw__class_optimizer, .size = sizeof(tw_optimizer), .settle = lion_settle, .methods = &lion_methods,
    .doc = "Steps of one size along the sign of a running mean of the gradient.");
