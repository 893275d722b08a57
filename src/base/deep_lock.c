/* Recursive locks; see deep_lock.h. */
#include <time.h>

#include "base/deep_lock.h"
#include "base/pause.h"

tw__deep_lock tw__graphs_lock = TW__DEEP_LOCK;

bool tw__deep_try(tw__deep_lock *lock)
{
    tw__hold_take(&lock->guard);
    uint32_t now = atomic_load(&tw__process_generation);
    if (lock->generation != now)
        lock->depth = 0;
    bool mine = lock->depth == 0 || pthread_equal(lock->owner, pthread_self());
    if (mine) {
        lock->owner = pthread_self();
        lock->depth++;
        lock->generation = now;
    }
    tw__hold_give(&lock->guard);
    return mine;
}

void tw__deep_take(tw__deep_lock *lock)
{
    if (tw__deep_try(lock))
        return;
    void *state = tw__wait_begin();
    while (!tw__deep_try(lock))
        nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
    tw__wait_end(state);
}

void tw__deep_give(tw__deep_lock *lock)
{
    tw__hold_take(&lock->guard);
    lock->depth--;
    tw__hold_give(&lock->guard);
}

int tw__deep_leave(tw__deep_lock *lock)
{
    tw__hold_take(&lock->guard);
    int depth = lock->depth > 0 && pthread_equal(lock->owner, pthread_self()) ? lock->depth : 0;
    lock->depth -= depth;
    tw__hold_give(&lock->guard);
    return depth;
}

void tw__deep_return(tw__deep_lock *lock, int depth)
{
    for (; depth > 0; depth--)
        tw__deep_take(lock);
}

void tw__deep_hand(tw__deep_lock *lock, pthread_t to)
{
    tw__hold_take(&lock->guard);
    if (lock->depth > 0 && lock->generation == atomic_load(&tw__process_generation) && pthread_equal(lock->owner, pthread_self()))
        lock->owner = to;
    tw__hold_give(&lock->guard);
}
