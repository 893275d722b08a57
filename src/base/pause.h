/* What a thread that waits or computes for long owes others: that they run meanwhile, and that it can be stopped.
 *
 * An embedding language may have a lock of its own (Python's). One rule keeps it from locking up with the locks of this library:
 * whoever has to wait for a lock here lets go of that one first. So it may be taken at any time, whatever is held here. Every
 * lock of the library follows it (tw__lock_take, tw__hold_take, tw__deep_take, tw__mutex_take). */
#ifndef TW_PAUSE_H
#define TW_PAUSE_H

#include "base/base.h"

/* Around whatever waits for another thread, or runs for long: others may have the embedding language's lock meanwhile. `end` gets
 * what `begin` gave. */
void *tw__wait_begin(void);
void tw__wait_end(void *state);
void tw__mutex_take(pthread_mutex_t *mutex);

/* Of a thread that works for another one: set when its work is not wanted any more. NULL: it works for itself. */
extern _Thread_local const _Atomic bool *tw__stop_flag;
extern _Thread_local bool tw__was_interrupted; /* set when tw__interrupted failed; never cleared by it */
tw_status tw__interrupted(void);               /* fails if the thread shall stop */
tw_status tw__pause(void); /* the same, some twenty times a second at most: for loops to call as often as they like */

/* A kernel that runs for long, maybe in several threads: whoever works for it asks now and then and leaves the rest undone if it
 * shall stop. Only the thread that made it is stopped by users; the others learn of it. What is there then is no result: the
 * status says so. */
typedef struct tw__stopper {
    _Atomic bool stopped;
    const void *owner; /* tells its thread */
} tw__stopper;
void tw__stopper_begin(tw__stopper *stopper);
bool tw__stopper_asked(tw__stopper *stopper); /* true: stop */
tw_status tw__stopper_status(tw__stopper *stopper);

#endif
