/* Adadelta: steps as large as the running means of earlier steps and gradients say. */
#include "keras/optimizers/step.h"

static tw_status adadelta_build(tw_optimizer *optimizer)
{
    static const tw__slot_kind kinds[] = { { "_accumulated_grads", "accumulated_grad", 0 },
                                           { "_accumulated_delta_vars", "accumulated_delta_var", 0 } };
    return tw__optimizer_add_slots(optimizer, 0, 2, kinds);
}

/* mean = rho mean + (1 - rho) x x */
static tw_status follow_squares(tw_variable *mean, tw_tensor *x, double rho)
{
    TW_TEMPS(t);
    ASSIGN(mean, AddV2, TW_TEMP(Mul, rho, V(mean)), TW_TEMP(Mul, TW_TEMP(Mul, 1 - rho, x), x));
    return TW_OK;
}

static tw_status adadelta_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    const tw_optimizers_adadelta_args *self = tw_object_config(optimizer);
    tw_variable *grads = optimizer->slots[0][index], *changes = optimizer->slots[1][index];
    TW_TRY(follow_squares(grads, gradient, self->rho));
    tw_tensor *size = TW_TEMP(Sqrt, TW_TEMP(AddV2, V(changes), self->epsilon));
    tw_tensor *change =
        TW_TEMP(RealDiv, TW_TEMP(Mul, TW_TEMP(Neg, size), gradient), TW_TEMP(Sqrt, TW_TEMP(AddV2, V(grads), self->epsilon)));
    TW_TRY(follow_squares(changes, change, self->rho));
    ADD(variable, Mul, RATE, change);
    return TW_OK;
}

static const tw__optimizer_methods adadelta_methods = { .build = adadelta_build,
                                                        .update = adadelta_step,
                                                        .trace = adadelta_step };

TW_CLASS(optimizers_adadelta,
         "keras.optimizers.Adadelta|keras.optimizers.experimental.Adadelta(learning_rate: number = 0.001, "
         "rho: float = 0.95, epsilon: float = 1e-07, " TW_OPTIMIZER_ARGUMENTS ", name: str = Adadelta) -> optimizer",
         .parent = &tw__class_optimizer, .size = sizeof(tw_optimizer), .methods = &adadelta_methods,
         .doc = "Steps as large as the running means of earlier steps and gradients say.");
