/* Name scopes of the thread; see scope.c. */
#ifndef TW_GRAPH_SCOPE_H
#define TW_GRAPH_SCOPE_H

#include "base/base.h"

/* Names of the thread's new variables stand in a scope: "mlp/dense/" in front of "kernel". */
tw_status tw__scope_push(
    const char *name); /* a scope inside the present one; NULL or "": back to the root until it is popped; "a/b/": a whole name */
void tw__scope_pop(void);
const char *tw__scope(void); /* "" or "mlp/dense/" */
/* A scope that may be opened again and again, as layers' are: the second call's nodes stand beside the first one's (in lasting
 * graphs each has its own). `root`: variables made in it are named as if it were the root, while nodes are not. */
tw_status tw__scope_open(const char *name, bool root);
const char *tw__variable_scope(void); /* the same as tw__scope but for that */

#endif
