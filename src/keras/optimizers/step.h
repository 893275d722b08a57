/* Short words for steps that are a handful of ops on variables, the same eagerly and traced. A step knows `optimizer`,
 * `gradient`, which is dense, and its variables. Expressions stand in Keras's order, so that the bits are its own. */
#ifndef TW_OPTIMIZER_STEP_H
#define TW_OPTIMIZER_STEP_H

#include "graph/graph.h"
#include "keras/optimizers/optimizers.h"
#include "op/calls.h"

/* In a step: the gradient, a number, a variable's value, as new references. */
#define G tw_retain(gradient)
#define N(value) tw__float_scalar(gradient->dtype, value)
#define V(name) tw__variable_read(name)
#define RATE tw__step_rate(optimizer, gradient->dtype)
#define ASSIGN(variable_, value_) TW_TRY(tw__traced_assign(&tw__op_AssignVariableOp, variable_, value_))
#define ADD(variable_, value_) TW_TRY(tw__traced_assign(&tw__op_AssignAddVariableOp, variable_, value_))
#define SUBTRACT(variable_, value_) TW_TRY(tw__traced_assign(&tw__op_AssignSubVariableOp, variable_, value_))

#endif
