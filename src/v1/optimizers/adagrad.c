/* compat.v1.train.AdagradOptimizer: steps that become smaller with the squares of past gradients. */
#include "v1/optimizers/optimizers.h"

static const tw__v1_rule adagrad_rule = {
    .op = &tw__op_ResourceApplyAdagrad,
    .inputs = "v s0 n0 g",
    .sparse_op = &tw__op_ResourceSparseApplyAdagrad,
    .sparse_inputs = "v s0 n0 g i",
    .numbers = { "learning_rate" },
    .number_count = 1,
    .slots = { "accumulator" },
    .slot_count = 1,
};

static tw_status adagrad_init(void *self, const void *given)
{
    tw_v1_optimizer *optimizer = self;
    const tw_v1_adagrad_optimizer_args *args = given;
    char text[40];
    if (!(args->initial_accumulator_value > 0))
        return tw__fail(TW_VALUE_ERROR, "initial_accumulator_value must be positive: %s",
                        tw__v1_number_text(args->initial_accumulator_value, text));
    TW_V1_NUMBER(0, learning_rate);
    optimizer->first[0] = args->initial_accumulator_value;
    return tw__v1_optimizer_setup(optimizer, &adagrad_rule, args->name, args->use_locking);
}

TW_CLASS(
    v1_adagrad_optimizer,
    "compat.v1.train.AdagradOptimizer(learning_rate: number, initial_accumulator_value: float = 0.1, use_locking: bool = False, "
    "name: str = Adagrad) -> v1_optimizer",
    TW_V1_OPTIMIZER, .init = adagrad_init,
    .doc = "Steps that become smaller with the squares of past gradients.\n"
           "initial_accumulator_value: what the sums of squares begin with");
