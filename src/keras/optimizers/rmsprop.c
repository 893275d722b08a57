/* RMSprop: steps divided by the root of a running mean of the gradient's square. */
#include "keras/optimizers/step.h"

enum { VELOCITY, MOMENTUM, AVERAGE };

static tw_status rmsprop_build(tw_optimizer *optimizer)
{
    static const tw__slot_kind kinds[] = { { "_velocities", "velocity", 0 },
                                           { "_momentums", "momentum", 0 },
                                           { "_average_gradients", "average_gradient", 0 } };
    const tw_optimizers_rmsprop_args *self = tw_object_config(optimizer);
    bool has[] = { true, self->momentum > 0, self->centered };
    for (int i = 0; i < 3; i++)
        TW_TRY(has[i] ? tw__optimizer_add_slots(optimizer, i, 1, &kinds[i])
                      : tw__optimizer_add_empty_list(optimizer, kinds[i].list));
    return TW_OK;
}

static tw_status rmsprop_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    const tw_optimizers_rmsprop_args *self = tw_object_config(optimizer);
    double rho = self->rho;
    TW_TEMPS(t);
    TW_TRY(self->momentum > 0 ? tw__optimizer_need_slots(optimizer, 1, "_momentums") : TW_OK);
    TW_TRY(self->centered ? tw__optimizer_need_slots(optimizer, 2, "_average_gradients") : TW_OK);
    tw_variable *velocity = optimizer->slots[VELOCITY][index];
    ASSIGN(velocity, AddV2, TW_TEMP(Mul, rho, V(velocity)), TW_TEMP(Mul, 1 - rho, TW_TEMP(Square, gradient)));
    tw_tensor *under = V(velocity);
    if (self->centered) {
        tw_variable *average = optimizer->slots[AVERAGE][index];
        ASSIGN(average, AddV2, TW_TEMP(Mul, rho, V(average)), TW_TEMP(Mul, 1 - rho, gradient));
        under = TW_TEMP(Sub, under, TW_TEMP(Square, V(average)));
    }
    tw_tensor *change = TW_TEMP(Mul, TW_TEMP(Mul, RATE, gradient), TW_TEMP(Rsqrt, TW_TEMP(AddV2, under, self->epsilon)));
    if (self->momentum > 0) {
        tw_variable *momentum = optimizer->slots[MOMENTUM][index];
        ASSIGN(momentum, AddV2, TW_TEMP(Mul, self->momentum, V(momentum)), change);
        change = V(momentum);
    }
    ADD(variable, Neg, change);
    return TW_OK;
}

static const tw__optimizer_methods rmsprop_methods = { .build = rmsprop_build, .update = rmsprop_step, .trace = rmsprop_step };

TW_CLASS(
    optimizers_rmsprop,
    "keras.optimizers.RMSprop|keras.optimizers.experimental.RMSprop(learning_rate: number = 0.001, rho: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-07, "
    "centered: bool = False, weight_decay: float = None, clipnorm: float = None, clipvalue: float = None, global_clipnorm: float = None, "
    "use_ema: bool = False, ema_momentum: float = 0.99, ema_overwrite_frequency: int = 100, jit_compile: bool = True, name: str = RMSprop) "
    "-> optimizer",
    .parent = &tw__class_optimizer, .size = sizeof(tw_optimizer), .methods = &rmsprop_methods,
    .doc = "Steps divided by the root of a running mean of the gradient's square.");
