/* Ftrl: follow the regularized leader. */
#include "keras/optimizers/step.h"

static tw_status need_sign(const char *name, const char *sign, double value, bool good)
{
    tw__text text = { 0 };
    if (good)
        return TW_OK;
    tw__print_float(&text, value, TW_FLOAT64);
    tw_status status =
        tw__fail(TW_VALUE_ERROR, "`%s` needs to be %s or zero. Received: %s=%s.", name, sign, name, text.data ? text.data : "");
    tw__text_free(&text);
    return status;
}

static tw_status ftrl_settle(void *self, const void *given)
{
    (void)self;
    const tw_optimizers_ftrl_args *args = given;
    TW_TRY(need_sign("initial_accumulator_value", "positive", args->initial_accumulator_value,
                     args->initial_accumulator_value >= 0));
    TW_TRY(need_sign("learning_rate_power", "negative", args->learning_rate_power, args->learning_rate_power <= 0));
    TW_TRY(need_sign("l1_regularization_strength", "positive", args->l1_regularization_strength,
                     args->l1_regularization_strength >= 0));
    TW_TRY(need_sign("l2_regularization_strength", "positive", args->l2_regularization_strength,
                     args->l2_regularization_strength >= 0));
    TW_TRY(need_sign("l2_shrinkage_regularization_strength", "positive", args->l2_shrinkage_regularization_strength,
                     args->l2_shrinkage_regularization_strength >= 0));
    return TW_OK;
}

static tw_status ftrl_build(tw_optimizer *optimizer)
{
    tw__slot_kind kinds[] = { { "_accumulators", "accumulator",
                                ((const tw_optimizers_ftrl_args *)tw_object_config(optimizer))->initial_accumulator_value },
                              { "_linears", "linear", 0 } };
    return tw__optimizer_add_slots(optimizer, 0, 2, kinds);
}

static tw_status ftrl_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    TW_TEMPS(t);
    const tw_optimizers_ftrl_args *self = tw_object_config(optimizer);
    tw_variable *sum = optimizer->slots[0][index], *linear = optimizer->slots[1][index];
    double power = -self->learning_rate_power, l1 = self->l1_regularization_strength;
    tw_tensor *next = TW_TEMP(AddV2, V(sum), TW_TEMP(Pow, gradient, 2.0));
    tw_tensor *root = TW_TEMP(Pow, next, power);
    tw_tensor *l2 = TW_TEMP(AddV2, self->l2_regularization_strength, TW_TEMP(RealDiv, self->beta, TW_TEMP(Mul, 2.0, RATE)));
    ADD(linear, Sub, TW_TEMP(AddV2, gradient, TW_TEMP(Mul, 2 * self->l2_shrinkage_regularization_strength, V(variable))),
        TW_TEMP(Mul, TW_TEMP(RealDiv, TW_TEMP(Sub, root, TW_TEMP(Pow, V(sum), power)), RATE), V(variable)));
    tw_tensor *under = TW_TEMP(AddV2, TW_TEMP(RealDiv, root, RATE), TW_TEMP(Mul, 2.0, l2));
    tw_tensor *clipped = TW_TEMP(ClipByValue, V(linear), -l1, l1);
    ASSIGN(variable, RealDiv, TW_TEMP(Sub, clipped, V(linear)), under);
    return tw__traced_assign(&tw__op_AssignVariableOp, sum, next);
}

static const tw__optimizer_methods ftrl_methods = { .build = ftrl_build, .update = ftrl_step, .trace = ftrl_step };

TW_CLASS(optimizers_ftrl,
         "keras.optimizers.Ftrl|keras.optimizers.experimental.Ftrl(learning_rate: number = 0.001, "
         "learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1, "
         "l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0, "
         "l2_shrinkage_regularization_strength: float = 0.0, beta: float = 0.0, " TW_OPTIMIZER_ARGUMENTS
         ", name: str = Ftrl) -> optimizer",
         .parent = &tw__class_optimizer, .size = sizeof(tw_optimizer), .settle = ftrl_settle, .methods = &ftrl_methods,
         .doc = "Follow the regularized leader: weights that are seldom needed become zero.");
