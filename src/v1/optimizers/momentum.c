/* compat.v1.train.MomentumOptimizer: steps along a decaying sum of gradients. */
#include "v1/optimizers/optimizers.h"

static const tw__v1_rule momentum_rule = {
    .op = &tw__op_ResourceApplyMomentum,
    .inputs = "v s0 n0 g n1",
    .sparse_op = &tw__op_ResourceSparseApplyMomentum,
    .sparse_inputs = "v s0 n0 g i n1",
    .numbers = { "learning_rate", "momentum" },
    .number_count = 2,
    .slots = { "momentum" },
    .slot_count = 1,
    .flag = "use_nesterov",
};

static tw_status momentum_init(void *self, const void *given)
{
    tw_v1_optimizer *optimizer = self;
    const tw_v1_momentum_optimizer_args *args = given;
    TW_V1_NUMBER(0, learning_rate);
    TW_V1_NUMBER(1, momentum);
    optimizer->flag = args->use_nesterov;
    return tw__v1_optimizer_setup(optimizer, &momentum_rule, args->name, args->use_locking);
}

TW_CLASS(
    v1_momentum_optimizer,
    "compat.v1.train.MomentumOptimizer(learning_rate: number, momentum: number, use_locking: bool = False, name: str = Momentum, "
    "use_nesterov: bool = False) -> v1_optimizer",
    TW_V1_OPTIMIZER, .init = momentum_init,
    .doc = "Steps along a decaying sum of gradients.\n"
           "momentum: how much of the sum is kept at each step\n"
           "use_nesterov: True: look ahead along the momentum");
