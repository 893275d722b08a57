/* compat.v1.train.RMSPropOptimizer: gradients divided by the root of their decaying mean square. */
#include "v1/optimizers/optimizers.h"

static const tw__v1_rule rmsprop_rule = {
    .op = &tw__op_ResourceApplyRMSProp,
    .inputs = "v s0 s1 n0 n1 n2 n3 g",
    .sparse_op = &tw__op_ResourceSparseApplyRMSProp,
    .sparse_inputs = "v s0 s1 n0 n1 n2 n3 g i",
    .numbers = { "learning_rate", "decay", "momentum", "epsilon" },
    .number_count = 4,
    .slots = { "rms", "momentum" },
    .slot_count = 2,
};

static const tw__v1_rule centered_rule = {
    .op = &tw__op_ResourceApplyCenteredRMSProp,
    .inputs = "v s1 s0 s2 n0 n1 n2 n3 g",
    .sparse_op = &tw__op_ResourceSparseApplyCenteredRMSProp,
    .sparse_inputs = "v s1 s0 s2 n0 n1 n2 n3 g i",
    .numbers = { "learning_rate", "decay", "momentum", "epsilon" },
    .number_count = 4,
    .slots = { "rms", "mg", "momentum" },
    .slot_count = 3,
};

static tw_status rmsprop_init(void *self, const void *given)
{
    tw_v1_optimizer *optimizer = self;
    const tw_v1_rmsprop_optimizer_args *args = given;
    TW_V1_NUMBER(0, learning_rate);
    tw__v1_number_plain(optimizer, 1, args->decay);
    tw__v1_number_plain(optimizer, 2, args->momentum);
    tw__v1_number_plain(optimizer, 3, args->epsilon);
    optimizer->first[0] = 1;
    return tw__v1_optimizer_setup(optimizer, args->centered ? &centered_rule : &rmsprop_rule, args->name, args->use_locking);
}

TW_CLASS(
    v1_rmsprop_optimizer,
    "compat.v1.train.RMSPropOptimizer(learning_rate: number, decay: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-10, "
    "use_locking: bool = False, centered: bool = False, name: str = RMSProp) -> v1_optimizer",
    TW_V1_OPTIMIZER, .init = rmsprop_init,
    .doc = "Gradients divided by the root of their decaying mean square.\n"
           "decay: how much of the mean of squares is kept at each step\n"
           "momentum: how much of the last step is added to the next\n"
           "centered: True: subtract the squared mean of the gradients from the mean of squares");
