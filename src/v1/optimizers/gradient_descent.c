/* compat.v1.train.GradientDescentOptimizer: steps along the gradient. */
#include "v1/optimizers/optimizers.h"

static const tw__v1_rule descent_rule = {
    .op = &tw__op_ResourceApplyGradientDescent,
    .inputs = "v n0 g",
    .sparse_op = &tw__op_ResourceScatterSub,
    .sparse_repeats = true,
    .numbers = { "learning_rate" },
    .number_count = 1,
};

static tw_status descent_init(void *self, const void *given)
{
    tw_v1_optimizer *optimizer = self;
    const tw_v1_gradient_descent_optimizer_args *args = given;
    TW_V1_NUMBER(0, learning_rate);
    return tw__v1_optimizer_setup(optimizer, &descent_rule, args->name, args->use_locking);
}

TW_CLASS(
    v1_gradient_descent_optimizer,
    "compat.v1.train.GradientDescentOptimizer(learning_rate: number, use_locking: bool = False, name: str = GradientDescent) -> v1_optimizer",
    TW_V1_OPTIMIZER, .init = descent_init, .doc = "Steps along the gradient.");
