/* Adadelta: steps as large as the running means of earlier steps and gradients say. */
#include "keras/optimizers/step.h"

static tw_status adadelta_build(tw_optimizer *optimizer)
{
    static const tw__slot_kind kinds[] = { { "_accumulated_grads", "accumulated_grad", 0 },
                                           { "_accumulated_delta_vars", "accumulated_delta_var", 0 } };
    return tw__optimizer_add_slots(optimizer, 0, 2, kinds);
}

/* rho mean + (1 - rho) x x; takes x. */
static tw_tensor *mean_of_squares(tw_variable *mean, tw_tensor *x, double rho)
{
    if (!x)
        return NULL;
    tw_auto tw_tensor *value = x, *left = tw__float_scalar(x->dtype, 1 - rho);
    return TW_G2(AddV2, TW_G2(Mul, tw__float_scalar(value->dtype, rho), V(mean)),
                 TW_G2(Mul, TW_G2(Mul, tw_retain(left), tw_retain(value)), tw_retain(value)));
}

static tw_status adadelta_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    const tw_optimizers_adadelta_args *self = tw_object_config(optimizer);
    tw_variable *grads = optimizer->slots[0][index], *changes = optimizer->slots[1][index];
    ASSIGN(grads, mean_of_squares(grads, G, self->rho));
    tw_tensor *size = TW_G1(Sqrt, TW_G2(AddV2, V(changes), N(self->epsilon)));
    tw_auto tw_tensor *change =
        TW_G2(RealDiv, TW_G2(Mul, TW_G1(Neg, size), G), TW_G1(Sqrt, TW_G2(AddV2, V(grads), N(self->epsilon))));
    ASSIGN(changes, mean_of_squares(changes, tw_retain(change), self->rho));
    ADD(variable, TW_G2(Mul, RATE, tw_retain(change)));
    return TW_OK;
}

static const tw__optimizer_methods adadelta_methods = { .build = adadelta_build,
                                                        .update = adadelta_step,
                                                        .trace = adadelta_step };

TW_CLASS(
    optimizers_adadelta,
    "keras.optimizers.Adadelta(learning_rate: number = 0.001, rho: float = 0.95, epsilon: float = 1e-07, weight_decay: float = None, "
    "clipnorm: float = None, clipvalue: float = None, global_clipnorm: float = None, use_ema: bool = False, ema_momentum: float = 0.99, "
    "ema_overwrite_frequency: int = None, jit_compile: bool = True, name: str = Adadelta) -> optimizer",
    .parent = &tw__class_optimizer, .size = sizeof(tw_optimizer), .methods = &adadelta_methods,
    .doc = "Steps as large as the running means of earlier steps and gradients say.");
