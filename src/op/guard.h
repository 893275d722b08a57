/* What models that were loaded may not do by themselves: read files that are not theirs, write files, call functions of the
 * program.
 *
 * A row says by `touches` that its op does such things. Where a graph is built of a file that nobody said to trust, such an op is
 * replaced by a guarded copy: a row of the same name, inputs and outputs, with one attr more, the directory of the model, whose
 * kernel looks first and then either refuses or does what the op does. Nodes carry their row wherever they are copied, so
 * functions, loops, branches, datasets and sessions need not know of it. */
#ifndef TW_OP_GUARD_H
#define TW_OP_GUARD_H

#include "op/op.h"

enum { TW_READS_FILES = 1, TW_WRITES_FILES = 2, TW_CALLS_PROGRAM = 4 }; /* for tw_op.touches */

#define TW_GUARD_ATTR "_model" /* never in a GraphDef */

/* While a thread loads a model that is not trusted: its path. Graphs that are read and functions that configs name meanwhile are
 * guarded. */
extern _Thread_local const char *tw__guard_loading;
/* While a function runs that a config of such a model named: the model's path; dispatch guards what it applies. */
extern _Thread_local const char *tw__guard_calling;

/* The path as what guards compare with: absolute, without symbolic links; NULL without memory. */
char *tw__guard_path(const char *path);
/* The twin; the op itself if it touches nothing. NULL without memory. */
const tw_op *tw__op_guarded(const tw_op *op);

#endif
