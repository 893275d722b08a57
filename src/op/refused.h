/* Ops that TensorFlow has by name only: their call says why it can't be. They are no rows; graphs that hold them are rewritten
 * when they are read (graph/lower.h). */
#ifndef TW_REFUSED_H
#define TW_REFUSED_H

#include "base/base.h"

bool tw__op_refused(const char *name);
/* Sets the error that a call gives, at once or in a graph. */
tw_status tw__op_refuse(const char *name, bool at_once);
/* The names, in no order; NULL behind the last. */
const char *tw__op_refused_at(int index);

#endif
