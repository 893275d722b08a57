/* compat.v1.train.FtrlOptimizer: follow the regularized leader. */
#include "v1/optimizers/optimizers.h"

static const tw__v1_rule ftrl_rule = {
    .op = &tw__op_ResourceApplyFtrl,
    .inputs = "v s0 s1 g n0 n1 n2 n3",
    .sparse_op = &tw__op_ResourceSparseApplyFtrl,
    .sparse_inputs = "v s0 s1 g i n0 n1 n2 n3",
    .numbers = { "learning_rate", "l1_regularization_strength", "l2_regularization_strength", "learning_rate_power" },
    .number_count = 4,
    .slots = { "accum", "linear" },
    .slot_count = 2,
};

static tw_status check_not_negative(const char *name, double value)
{
    char text[40];
    return value < 0 ? tw__fail(TW_VALUE_ERROR, "%s %s needs to be positive or zero", name, tw__v1_number_text(value, text))
                     : TW_OK;
}

static tw_status ftrl_init(void *self, const void *given)
{
    tw_v1_optimizer *optimizer = self;
    const tw_v1_ftrl_optimizer_args *args = given;
    char text[40];
    TW_TRY(check_not_negative("initial_accumulator_value", args->initial_accumulator_value));
    TW_TRY(check_not_negative("l1_regularization_strength", args->l1_regularization_strength));
    TW_TRY(check_not_negative("l2_regularization_strength", args->l2_regularization_strength));
    if (args->learning_rate_power > 0)
        return tw__fail(TW_VALUE_ERROR, "learning_rate_power %s needs to be negative or zero",
                        tw__v1_number_text(args->learning_rate_power, text));
    TW_V1_NUMBER(0, learning_rate);
    tw__v1_number_plain(optimizer, 1, args->l1_regularization_strength);
    tw__v1_number_plain(optimizer, 2, args->l2_regularization_strength);
    tw__v1_number_plain(optimizer, 3, args->learning_rate_power);
    optimizer->first[0] = args->initial_accumulator_value;
    return tw__v1_optimizer_setup(optimizer, &ftrl_rule, args->name, args->use_locking);
}

TW_CLASS(
    v1_ftrl_optimizer,
    "compat.v1.train.FtrlOptimizer(learning_rate: number, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1, "
    "l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0, use_locking: bool = False, name: str = Ftrl) -> v1_optimizer",
    TW_V1_OPTIMIZER, .init = ftrl_init,
    .doc =
        "Follow the regularized leader.\n"
        "learning_rate_power: the exponent, at most 0, by which the learning rate shrinks with the sum of squares; 0: it stays\n"
        "initial_accumulator_value: what the sums of squares begin with\n"
        "l1_regularization_strength: the factor of the sum of absolute values that pulls weights to zero\n"
        "l2_regularization_strength: the factor of the sum of squares that makes weights smaller");
