/* Optimizers whose step is a handful of ops on variables, the same eagerly and traced: RMSprop, Adagrad, Adadelta, Adamax.
 *
 * Expressions stand in Keras's order, so that the bits are its own. A step gets the gradient as dense numbers. */
#include "graph/graph.h"
#include "keras/losses/losses.h"
#include "keras/optimizers/by_ops.h"
#include "keras/optimizers/optimizers.h"
#include "op/gradient.h"

tw_tensor *tw__step_rate(tw_optimizer *optimizer, tw_dtype dtype)
{
    return tw__tracing ? tw_retain(tw__traced_rate(optimizer, dtype)) : tw__float_scalar(dtype, tw__optimizer_rate(optimizer));
}

tw_tensor *tw__step_time(tw_optimizer *optimizer, tw_dtype dtype, int ahead)
{
    if (!tw__tracing)
        return tw__float_scalar(dtype, (double)(tw__optimizer_step(optimizer) + ahead));
    tw_auto tw_tensor *count = TW_G2(AddV2, tw__variable_read(optimizer->iterations), tw_tensor_int64(ahead));
    return count ? tw__cast(count, dtype) : NULL;
}

/* ---- RMSprop ---- */

enum { VELOCITY, MOMENTUM, AVERAGE };

typedef struct rmsprop {
    tw_optimizer optimizer;
    double rho, momentum, epsilon;
    bool centered;
} rmsprop;

static tw_status rmsprop_init(void *self, const void *given)
{
    rmsprop *optimizer = self;
    const tw_optimizers_rmsprop_args *args = given;
    optimizer->rho = args->rho;
    optimizer->momentum = args->momentum;
    optimizer->epsilon = args->epsilon;
    optimizer->centered = args->centered;
    return tw__optimizer_set_rate(&optimizer->optimizer, args->learning_rate, args->learning_rate_object);
}

static tw_status rmsprop_build(tw_optimizer *optimizer)
{
    static const tw__slot_kind kinds[] = { { "_velocities", "velocity", 0 },
                                           { "_momentums", "momentum", 0 },
                                           { "_average_gradients", "average_gradient", 0 } };
    const rmsprop *self = (rmsprop *)optimizer;
    bool has[] = { true, self->momentum > 0, self->centered };
    for (int i = 0; i < 3; i++)
        TW_TRY(has[i] ? tw__optimizer_add_slots(optimizer, i, 1, &kinds[i])
                      : tw__optimizer_add_empty_list(optimizer, kinds[i].list));
    return TW_OK;
}

static tw_status rmsprop_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    const rmsprop *self = (rmsprop *)optimizer;
    double rho = self->rho;
    tw_variable *velocity = optimizer->slots[VELOCITY][index];
    ASSIGN(velocity, TW_G2(AddV2, TW_G2(Mul, N(rho), V(velocity)), TW_G2(Mul, N(1 - rho), TW_G1(Square, G))));
    tw_tensor *under = NULL;
    if (self->centered) {
        tw_variable *average = optimizer->slots[AVERAGE][index];
        ASSIGN(average, TW_G2(AddV2, TW_G2(Mul, N(rho), V(average)), TW_G2(Mul, N(1 - rho), G)));
        under = TW_G2(Sub, V(velocity), TW_G1(Square, V(average)));
    } else {
        under = V(velocity);
    }
    tw_tensor *change = TW_G2(Mul, TW_G2(Mul, RATE, G), TW_G1(Rsqrt, TW_G2(AddV2, under, N(self->epsilon))));
    if (self->momentum > 0) {
        tw_variable *momentum = optimizer->slots[MOMENTUM][index];
        ASSIGN(momentum, TW_G2(AddV2, TW_G2(Mul, N(self->momentum), V(momentum)), change));
        change = V(momentum);
    }
    ADD(variable, TW_G1(Neg, change));
    return TW_OK;
}

static const tw__optimizer_methods rmsprop_methods = { .build = rmsprop_build, .update = rmsprop_step, .trace = rmsprop_step };

TW_CLASS(
    optimizers_rmsprop,
    "keras.optimizers.RMSprop(learning_rate: number = 0.001, rho: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-07, "
    "centered: bool = False, weight_decay: float = None, clipnorm: float = None, clipvalue: float = None, global_clipnorm: float = None, "
    "use_ema: bool = False, ema_momentum: float = 0.99, ema_overwrite_frequency: int = 100, jit_compile: bool = True, name: str = RMSprop) "
    "-> optimizer",
    .parent = &tw__class_optimizer, .size = sizeof(rmsprop), .init = rmsprop_init, .methods = &rmsprop_methods,
    .doc = "Steps divided by the root of a running mean of the gradient's square.");

/* ---- Adagrad ---- */

typedef struct adagrad {
    tw_optimizer optimizer;
    double initial, epsilon;
} adagrad;

static tw_status adagrad_init(void *self, const void *given)
{
    adagrad *optimizer = self;
    const tw_optimizers_adagrad_args *args = given;
    optimizer->initial = args->initial_accumulator_value;
    optimizer->epsilon = args->epsilon;
    return tw__optimizer_set_rate(&optimizer->optimizer, args->learning_rate, args->learning_rate_object);
}

static tw_status adagrad_build(tw_optimizer *optimizer)
{
    tw__slot_kind kind = { "_accumulators", "accumulator", ((adagrad *)optimizer)->initial };
    return tw__optimizer_add_slots(optimizer, 0, 1, &kind);
}

static tw_status adagrad_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    tw_variable *sum = optimizer->slots[0][index];
    ADD(sum, TW_G2(Mul, G, G));
    SUBTRACT(variable,
             TW_G2(RealDiv, TW_G2(Mul, RATE, G), TW_G1(Sqrt, TW_G2(AddV2, V(sum), N(((adagrad *)optimizer)->epsilon)))));
    return TW_OK;
}

static const tw__optimizer_methods adagrad_methods = { .build = adagrad_build, .update = adagrad_step, .trace = adagrad_step };

TW_CLASS(
    optimizers_adagrad,
    "keras.optimizers.Adagrad(learning_rate: number = 0.001, initial_accumulator_value: float = 0.1, epsilon: float = 1e-07, "
    "weight_decay: float = None, clipnorm: float = None, clipvalue: float = None, global_clipnorm: float = None, use_ema: bool = False, "
    "ema_momentum: float = 0.99, ema_overwrite_frequency: int = None, jit_compile: bool = True, name: str = Adagrad) -> optimizer",
    .parent = &tw__class_optimizer, .size = sizeof(adagrad), .init = adagrad_init, .methods = &adagrad_methods,
    .doc = "Steps divided by the root of the sum of the gradient's squares so far.");

/* ---- Adadelta ---- */

typedef struct adadelta {
    tw_optimizer optimizer;
    double rho, epsilon;
} adadelta;

static tw_status adadelta_init(void *self, const void *given)
{
    adadelta *optimizer = self;
    const tw_optimizers_adadelta_args *args = given;
    optimizer->rho = args->rho;
    optimizer->epsilon = args->epsilon;
    return tw__optimizer_set_rate(&optimizer->optimizer, args->learning_rate, args->learning_rate_object);
}

static tw_status adadelta_build(tw_optimizer *optimizer)
{
    static const tw__slot_kind kinds[] = { { "_accumulated_grads", "accumulated_grad", 0 },
                                           { "_accumulated_delta_vars", "accumulated_delta_var", 0 } };
    return tw__optimizer_add_slots(optimizer, 0, 2, kinds);
}

/* rho mean + (1 - rho) x x; takes x. */
static tw_tensor *mean_of_squares(tw_variable *mean, tw_tensor *x, double rho)
{
    if (!x)
        return NULL;
    tw_auto tw_tensor *value = x, *left = tw__float_scalar(x->dtype, 1 - rho);
    return TW_G2(AddV2, TW_G2(Mul, tw__float_scalar(value->dtype, rho), V(mean)),
                 TW_G2(Mul, TW_G2(Mul, tw_retain(left), tw_retain(value)), tw_retain(value)));
}

static tw_status adadelta_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    const adadelta *self = (adadelta *)optimizer;
    tw_variable *grads = optimizer->slots[0][index], *changes = optimizer->slots[1][index];
    ASSIGN(grads, mean_of_squares(grads, G, self->rho));
    tw_tensor *size = TW_G1(Sqrt, TW_G2(AddV2, V(changes), N(self->epsilon)));
    tw_auto tw_tensor *change =
        TW_G2(RealDiv, TW_G2(Mul, TW_G1(Neg, size), G), TW_G1(Sqrt, TW_G2(AddV2, V(grads), N(self->epsilon))));
    ASSIGN(changes, mean_of_squares(changes, tw_retain(change), self->rho));
    ADD(variable, TW_G2(Mul, RATE, tw_retain(change)));
    return TW_OK;
}

static const tw__optimizer_methods adadelta_methods = { .build = adadelta_build,
                                                        .update = adadelta_step,
                                                        .trace = adadelta_step };

TW_CLASS(
    optimizers_adadelta,
    "keras.optimizers.Adadelta(learning_rate: number = 0.001, rho: float = 0.95, epsilon: float = 1e-07, weight_decay: float = None, "
    "clipnorm: float = None, clipvalue: float = None, global_clipnorm: float = None, use_ema: bool = False, ema_momentum: float = 0.99, "
    "ema_overwrite_frequency: int = None, jit_compile: bool = True, name: str = Adadelta) -> optimizer",
    .parent = &tw__class_optimizer, .size = sizeof(adadelta), .init = adadelta_init, .methods = &adadelta_methods,
    .doc = "Steps as large as the running means of earlier steps and gradients say.");

/* ---- Adamax ---- */

typedef struct adamax {
    tw_optimizer optimizer;
    double beta_1, beta_2, epsilon;
} adamax;

static tw_status adamax_init(void *self, const void *given)
{
    adamax *optimizer = self;
    const tw_optimizers_adamax_args *args = given;
    optimizer->beta_1 = args->beta_1;
    optimizer->beta_2 = args->beta_2;
    optimizer->epsilon = args->epsilon;
    return tw__optimizer_set_rate(&optimizer->optimizer, args->learning_rate, args->learning_rate_object);
}

static tw_status adamax_build(tw_optimizer *optimizer)
{
    static const tw__slot_kind kinds[] = { { "_m", "m", 0 }, { "_u", "u", 0 } };
    return tw__optimizer_add_slots(optimizer, 0, 2, kinds);
}

static tw_status adamax_step(tw_optimizer *optimizer, int64_t index, tw_variable *variable, tw_tensor *gradient)
{
    const adamax *self = (adamax *)optimizer;
    tw_variable *m = optimizer->slots[0][index], *u = optimizer->slots[1][index];
    ADD(m, TW_G2(Mul, TW_G2(Sub, G, V(m)), N(1 - self->beta_1)));
    ASSIGN(u, TW_G2(Maximum, TW_G2(Mul, N(self->beta_2), V(u)), TW_G1(Abs, G)));
    tw_tensor *power = TW_G2(Pow, N(self->beta_1), tw__step_time(optimizer, gradient->dtype, 1));
    tw_tensor *under = TW_G2(Mul, TW_G2(Sub, N(1), power), TW_G2(AddV2, V(u), N(self->epsilon)));
    SUBTRACT(variable, TW_G2(RealDiv, TW_G2(Mul, RATE, V(m)), under));
    return TW_OK;
}

static const tw__optimizer_methods adamax_methods = { .build = adamax_build, .update = adamax_step, .trace = adamax_step };

TW_CLASS(
    optimizers_adamax,
    "keras.optimizers.Adamax(learning_rate: number = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-07, "
    "weight_decay: float = None, clipnorm: float = None, clipvalue: float = None, global_clipnorm: float = None, use_ema: bool = False, "
    "ema_momentum: float = 0.99, ema_overwrite_frequency: int = None, jit_compile: bool = True, name: str = Adamax) -> optimizer",
    .parent = &tw__class_optimizer, .size = sizeof(adamax), .init = adamax_init, .methods = &adamax_methods,
    .doc = "Adam with the greatest gradient so far in the place of the mean square.");
