/* Short words for steps that are a handful of ops on variables, the same eagerly and traced. A step knows `optimizer`,
 * `gradient`, which is dense, its variables, and a list of temporaries `t`. Expressions stand in Keras's order, so that the bits
 * are its own. */
#ifndef TW_OPTIMIZER_STEP_H
#define TW_OPTIMIZER_STEP_H

#include "graph/graph.h"
#include "keras/optimizers/optimizers.h"
#include "op/calls.h"

/* In a step: a number for ops of numbers alone, a variable's value, the learning rate; left to t. */
#define N(value) tw__temp(t, tw__float_scalar(gradient->dtype, value))
#define V(name) ((tw_tensor *)tw__temp(t, tw__variable_read(name)))
#define RATE tw__step_rate(t, optimizer, gradient->dtype)
/* ADD(m, Mul, V(m), 2.0): m += m * 2. Temporaries of the expression are gone when the variable changes, else it would be copied.
 */
#define ASSIGN(variable_, ...) TW_CHANGE(AssignVariableOp, variable_, __VA_ARGS__)
#define ADD(variable_, ...) TW_CHANGE(AssignAddVariableOp, variable_, __VA_ARGS__)
#define SUBTRACT(variable_, ...) TW_CHANGE(AssignSubVariableOp, variable_, __VA_ARGS__)
#define TW_CHANGE(assign_, variable_, ...)                               \
    do {                                                                 \
        size_t before_ = t->count;                                       \
        tw_auto tw_tensor *value_ = TW_CALL(__VA_ARGS__);                \
        tw__temps_back(t, before_);                                      \
        TW_TRY(tw__traced_assign(&tw__op_##assign_, variable_, value_)); \
    } while (0)

/* Arguments that all optimizers have. */
#define TW_OPTIMIZER_REST                                                                \
    "clipnorm: float = None, clipvalue: float = None, "                                  \
    "global_clipnorm: float = None, use_ema: bool = False, ema_momentum: float = 0.99, " \
    "ema_overwrite_frequency: int = None, jit_compile: bool = True"
#define TW_OPTIMIZER_ARGUMENTS "weight_decay: float = None, " TW_OPTIMIZER_REST

#endif
