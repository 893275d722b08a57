/* Adagrad: steps divided by the root of the sum of the gradient's squares so far. */
#include "keras/optimizers/step.h"

static tw_status adagrad_build(tw_optimizer *optimizer)
{
    tw__slot_kind kind = { "_accumulators", "accumulator",
                           ((const tw_optimizers_adagrad_args *)tw_object_config(optimizer))->initial_accumulator_value };
    return tw__optimizer_add_slots(optimizer, 0, 1, &kind);
}

static tw_status adagrad_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    const tw_optimizers_adagrad_args *self = tw_object_config(optimizer);
    tw_variable *sum = optimizer->slots[0][index];
    ADD(sum, Mul, gradient, gradient);
    SUBTRACT(variable, RealDiv, TW_TEMP(Mul, RATE, gradient), TW_TEMP(Sqrt, TW_TEMP(AddV2, V(sum), self->epsilon)));
    return TW_OK;
}

static const tw__optimizer_methods adagrad_methods = { .build = adagrad_build, .update = adagrad_step, .trace = adagrad_step };

TW_CLASS(optimizers_adagrad,
         "keras.optimizers.Adagrad|keras.optimizers.experimental.Adagrad(learning_rate: number = 0.001, "
         "initial_accumulator_value: float = 0.1, epsilon: float = 1e-07, " TW_OPTIMIZER_ARGUMENTS
         ", name: str = Adagrad) -> optimizer",
         .parent = &tw__class_optimizer, .size = sizeof(tw_optimizer), .methods = &adagrad_methods,
         .doc = "Steps divided by the root of the sum of the gradient's squares so far.");
