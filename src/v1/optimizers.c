/* TensorFlow 1's optimizers, each a rule (optimizers.h) and a row. */
#include <math.h>

#include "v1/optimizers.h"

#define NUMBER(index, field) TW_TRY(tw__v1_number_set(optimizer, index, args->field, args->field##_object, #field))

static void set_number(tw_v1_optimizer *optimizer, int index, double number)
{
    optimizer->numbers[index].number = number;
}

/* As Python prints it. */
static const char *text_of(double number, char text[40])
{
    snprintf(text, 40, number == (int64_t)number && fabs(number) < 1e15 ? "%.1f" : "%g", number);
    return text;
}

#define OPTIMIZER .parent = &tw__class_v1_optimizer, .size = sizeof(tw_v1_optimizer), .drop_config = true

/* ---- gradient descent ---- */

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
    NUMBER(0, learning_rate);
    return tw__v1_optimizer_setup(optimizer, &descent_rule, args->name, args->use_locking);
}

TW_CLASS(
    v1_gradient_descent_optimizer,
    "compat.v1.train.GradientDescentOptimizer(learning_rate: number, use_locking: bool = False, name: str = GradientDescent) -> v1_optimizer",
    OPTIMIZER, .init = descent_init, .doc = "Steps along the gradient.");

/* ---- momentum ---- */

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
    NUMBER(0, learning_rate);
    NUMBER(1, momentum);
    optimizer->flag = args->use_nesterov;
    return tw__v1_optimizer_setup(optimizer, &momentum_rule, args->name, args->use_locking);
}

TW_CLASS(
    v1_momentum_optimizer,
    "compat.v1.train.MomentumOptimizer(learning_rate: number, momentum: number, use_locking: bool = False, name: str = Momentum, "
    "use_nesterov: bool = False) -> v1_optimizer",
    OPTIMIZER, .init = momentum_init, .doc = "Steps along a decaying sum of gradients.");

/* ---- Adam ---- */

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
    NUMBER(0, learning_rate);
    set_number(optimizer, 1, args->beta1);
    set_number(optimizer, 2, args->beta2);
    set_number(optimizer, 3, args->epsilon);
    return tw__v1_optimizer_setup(optimizer, &adam_rule, args->name, args->use_locking);
}

TW_CLASS(
    v1_adam_optimizer,
    "compat.v1.train.AdamOptimizer(learning_rate: number = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-08, "
    "use_locking: bool = False, name: str = Adam) -> v1_optimizer",
    OPTIMIZER, .init = adam_init, .doc = "Adam.");

/* ---- Adagrad ---- */

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
                        text_of(args->initial_accumulator_value, text));
    NUMBER(0, learning_rate);
    optimizer->first[0] = args->initial_accumulator_value;
    return tw__v1_optimizer_setup(optimizer, &adagrad_rule, args->name, args->use_locking);
}

TW_CLASS(
    v1_adagrad_optimizer,
    "compat.v1.train.AdagradOptimizer(learning_rate: number, initial_accumulator_value: float = 0.1, use_locking: bool = False, "
    "name: str = Adagrad) -> v1_optimizer",
    OPTIMIZER, .init = adagrad_init, .doc = "Steps that become smaller with the squares of past gradients.");

/* ---- RMSProp ---- */

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
    NUMBER(0, learning_rate);
    set_number(optimizer, 1, args->decay);
    set_number(optimizer, 2, args->momentum);
    set_number(optimizer, 3, args->epsilon);
    optimizer->first[0] = 1;
    return tw__v1_optimizer_setup(optimizer, args->centered ? &centered_rule : &rmsprop_rule, args->name, args->use_locking);
}

TW_CLASS(
    v1_rmsprop_optimizer,
    "compat.v1.train.RMSPropOptimizer(learning_rate: number, decay: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-10, "
    "use_locking: bool = False, centered: bool = False, name: str = RMSProp) -> v1_optimizer",
    OPTIMIZER, .init = rmsprop_init, .doc = "Gradients divided by the root of their decaying mean square.");

/* ---- Adadelta ---- */

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
    NUMBER(0, learning_rate);
    set_number(optimizer, 1, args->rho);
    set_number(optimizer, 2, args->epsilon);
    return tw__v1_optimizer_setup(optimizer, &adadelta_rule, args->name, args->use_locking);
}

TW_CLASS(
    v1_adadelta_optimizer,
    "compat.v1.train.AdadeltaOptimizer(learning_rate: number = 0.001, rho: float = 0.95, epsilon: float = 1e-08, use_locking: bool = False, "
    "name: str = Adadelta) -> v1_optimizer",
    OPTIMIZER, .init = adadelta_init, .doc = "Adadelta.");

/* ---- Ftrl ---- */

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
    return value < 0 ? tw__fail(TW_VALUE_ERROR, "%s %s needs to be positive or zero", name, text_of(value, text)) : TW_OK;
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
                        text_of(args->learning_rate_power, text));
    NUMBER(0, learning_rate);
    set_number(optimizer, 1, args->l1_regularization_strength);
    set_number(optimizer, 2, args->l2_regularization_strength);
    set_number(optimizer, 3, args->learning_rate_power);
    optimizer->first[0] = args->initial_accumulator_value;
    return tw__v1_optimizer_setup(optimizer, &ftrl_rule, args->name, args->use_locking);
}

TW_CLASS(
    v1_ftrl_optimizer,
    "compat.v1.train.FtrlOptimizer(learning_rate: number, learning_rate_power: float = -0.5, initial_accumulator_value: float = 0.1, "
    "l1_regularization_strength: float = 0.0, l2_regularization_strength: float = 0.0, use_locking: bool = False, name: str = Ftrl) -> v1_optimizer",
    OPTIMIZER, .init = ftrl_init, .doc = "Follow the regularized leader.");
