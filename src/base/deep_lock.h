/* Recursive locks: a thread may take one again while it holds it. For long work that is seldom done: tracing, deriving,
 * making plans.
 *
 * Who waits lets others go on (pause.h). A forked child finds such a lock free. One of zeros is free: it may stand in an object.
 */
#ifndef TW_DEEP_LOCK_H
#define TW_DEEP_LOCK_H

#include "base/base.h"

typedef struct tw__deep_lock {
    _Atomic uint32_t guard; /* tw__hold_take */
    pthread_t owner;
    int depth;
    uint32_t generation; /* of the process whose thread owns it */
} tw__deep_lock;
#define TW__DEEP_LOCK \
    {                 \
        0             \
    }
bool tw__deep_try(tw__deep_lock *lock); /* false: another thread holds it */
void tw__deep_take(tw__deep_lock *lock);
void tw__deep_give(tw__deep_lock *lock);
int tw__deep_leave(tw__deep_lock *lock);              /* gives it however often the thread took it */
void tw__deep_return(tw__deep_lock *lock, int depth); /* takes it as often again */
/* If this thread holds it, the other one does from now on: for threads that run in turns, as one. */
void tw__deep_hand(tw__deep_lock *lock, pthread_t to);

/* Held while graphs of functions are changed (derivatives give their nodes richer forms) or read to make plans. Taken after the
 * lock of tracing, and before the locks of functions and plans. */
extern tw__deep_lock tw__graphs_lock;

#endif
