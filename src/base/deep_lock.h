/* Locks that a thread may take again while it holds them, for what takes long and is seldom done: tracing, deriving, making plans.
 *
 * Who waits lets others go on: the hooks below let an embedding language's other threads run. A forked child finds such a lock free. */
#ifndef TW_DEEP_LOCK_H
#define TW_DEEP_LOCK_H

#include "base/base.h"

typedef struct tw__deep_lock {
    tw__lock guard;
    pthread_t owner;
    int depth;
    uint32_t generation; /* of the process whose thread owns it */
} tw__deep_lock;
#define TW__DEEP_LOCK { .guard = TW__LOCK }
bool tw__deep_try(tw__deep_lock *lock); /* false: another thread holds it */
void tw__deep_take(tw__deep_lock *lock);
void tw__deep_give(tw__deep_lock *lock);
/* If this thread holds it, the other one does from now on: for threads that run in turns, as one. */
void tw__deep_hand(tw__deep_lock *lock, pthread_t to);

/* Set by an embedding language: before a thread waits, and after it; `end` gets what `begin` gave. */
extern void *(*tw__wait_begin)(void);
extern void (*tw__wait_end)(void *state);

/* Held while graphs of functions are changed (derivatives give their nodes richer forms) or read to make plans. Taken after the lock of tracing, and
 * before the locks of functions and plans. */
extern tw__deep_lock tw__graphs_lock;

#endif
