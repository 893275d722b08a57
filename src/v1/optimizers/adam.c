/* compat.v1.train.AdamOptimizer. */
#include "v1/optimizers/optimizers.h"

static const tw__v1_rule adam_rule = {
    .op = &tw__op_ResourceApplyAdam,
    .inputs = "v s0 s1 x0 x1 n0 n1 n2 n3 g", /* some rows: as if the others' gradients were 0 */
    .numbers = { "learning_rate", "beta1", "beta2", "epsilon" },
    .number_count = 4,
    .slots = { "m", "v" },
    .slot_count = 2,
    .extras = { "beta1_power", "beta2_power" },
    .extra_numbers = { 1, 2 },
    .extra_count = 2,
};

static tw_status adam_init(void *self, const void *given)
{
    tw_v1_optimizer *optimizer = self;
    const tw_v1_adam_optimizer_args *args = given;
    TW_V1_NUMBER(0, learning_rate);
    tw__v1_number_plain(optimizer, 1, args->beta1);
    tw__v1_number_plain(optimizer, 2, args->beta2);
    tw__v1_number_plain(optimizer, 3, args->epsilon);
    return tw__v1_optimizer_setup(optimizer, &adam_rule, args->name, args->use_locking);
}

TW_CLASS(
    v1_adam_optimizer,
    "compat.v1.train.AdamOptimizer(learning_rate: number = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, "
    "use_locking: bool = False, name: str = Adam) -> v1_optimizer",
    TW_V1_OPTIMIZER, .init = adam_init,
    .doc = "Adam.\n"
           "beta1: how much of the mean of gradients is kept at each step\n"
           "beta2: how much of the mean of their squares is kept at each step");
