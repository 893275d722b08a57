/* What the passes that join updates of variables (pass_adam.c, pass_updates.c) ask of the steps around them. */
#ifndef TW_EXEC_UPDATES_H
#define TW_EXEC_UPDATES_H

#include "exec/internal.h"

/* The step can't see the variable that lies in a value like this one: it has no variables, or reads one that is sure to be
 * another. */
bool tw__step_is_blind(const tw__plan *plan, const tw__step *step, int32_t like);
/* Nothing between the steps sees the variable that the earlier one changes, so it may as well run where the later one stands. */
bool tw__update_may_sink(const tw__plan *plan, int from, int to, int32_t like);

#endif
