/* Adamax: Adam with the greatest gradient so far in the place of the mean square. */
#include "keras/optimizers/step.h"

static tw_status adamax_build(tw_optimizer *optimizer)
{
    static const tw__slot_kind kinds[] = { { "_m", "m", 0 }, { "_u", "u", 0 } };
    return tw__optimizer_add_slots(optimizer, 0, 2, kinds);
}

static tw_status adamax_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    const tw_optimizers_adamax_args *self = tw_object_config(optimizer);
    tw_variable *m = optimizer->slots[0][index], *u = optimizer->slots[1][index];
    ADD(m, Mul, TW_TEMP(Sub, gradient, V(m)), 1 - self->beta_1);
    ASSIGN(u, Maximum, TW_TEMP(Mul, self->beta_2, V(u)), TW_TEMP(Abs, gradient));
    tw_tensor *power = TW_TEMP(Pow, self->beta_1, tw__step_time(t, optimizer, gradient->dtype, 1));
    tw_tensor *under = TW_TEMP(Mul, TW_TEMP(Sub, 1.0, power), TW_TEMP(AddV2, V(u), self->epsilon));
    SUBTRACT(variable, RealDiv, TW_TEMP(Mul, RATE, V(m)), under);
    return TW_OK;
}

static const tw__optimizer_methods adamax_methods = { .build = adamax_build, .update = adamax_step, .trace = adamax_step };

TW_CLASS(optimizers_adamax,
         "keras.optimizers.Adamax|keras.optimizers.experimental.Adamax(learning_rate: number = 0.001, "
         "beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-07, " TW_OPTIMIZER_ARGUMENTS
         ", name: str = Adamax) -> optimizer",
         .parent = &tw__class_optimizer, .size = sizeof(tw_optimizer), .methods = &adamax_methods,
         .doc = "Adam with the greatest gradient so far in the place of the mean square.");
