/* Short words for the steps of optimizers that are ops. A step knows `optimizer`, `gradient` and its variables. */
#ifndef TW_BY_OPS_H
#define TW_BY_OPS_H

#include "keras/optimizers/optimizers.h"

/* In a step: the gradient, a number, a variable's value, as new references. */
#define G tw_retain(gradient)
#define N(value) tw__float_scalar(gradient->dtype, value)
#define V(name) tw__variable_read(name)
#define RATE tw__step_rate(optimizer, gradient->dtype)
#define ASSIGN(variable_, value_) TW_TRY(tw__traced_assign(&tw__op_AssignVariableOp, variable_, value_))
#define ADD(variable_, value_) TW_TRY(tw__traced_assign(&tw__op_AssignAddVariableOp, variable_, value_))
#define SUBTRACT(variable_, value_) TW_TRY(tw__traced_assign(&tw__op_AssignSubVariableOp, variable_, value_))

#endif
