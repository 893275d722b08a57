/* compat.v1.train.AdadeltaOptimizer. */
#include "v1/optimizers/optimizers.h"

static const tw__v1_rule adadelta_rule = {
    .op = &tw__op_ResourceApplyAdadelta,
    .inputs = "v s0 s1 n0 n1 n2 g",
    .sparse_op = &tw__op_ResourceSparseApplyAdadelta,
    .sparse_inputs = "v s0 s1 n0 n1 n2 g i",
    .numbers = { "lr", "rho", "epsilon" },
    .number_count = 3,
    .slots = { "accum", "accum_update" },
    .slot_count = 2,
};

static tw_status adadelta_init(void *self, const void *given)
{
    tw_v1_optimizer *optimizer = self;
    const tw_v1_adadelta_optimizer_args *args = given;
    TW_V1_NUMBER(0, learning_rate);
    tw__v1_number_plain(optimizer, 1, args->rho);
    tw__v1_number_plain(optimizer, 2, args->epsilon);
    return tw__v1_optimizer_setup(optimizer, &adadelta_rule, args->name, args->use_locking);
}

TW_CLASS(
    v1_adadelta_optimizer,
    "compat.v1.train.AdadeltaOptimizer(learning_rate: number = 0.001, rho: float = 0.95, epsilon: float = 1e-08, use_locking: bool = False, "
    "name: str = Adadelta) -> v1_optimizer",
    TW_V1_OPTIMIZER, .init = adadelta_init,
    .doc = "Adadelta.\n"
           "rho: how much of the mean of squares is kept at each step");
