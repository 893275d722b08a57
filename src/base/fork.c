/* Locks that a forked child finds free.
 *
 * A child has only the thread that forked; a lock that another thread held would stay locked in it for ever. So a fork first
 * takes every lock that was ever used, and both processes give them back: what they guard is whole in the child. For this a
 * thread holds at most one of them, and runs no code of the embedding language meanwhile.
 *
 * Variables, functions and plans have locks of their own, too many to be taken; those remember the generation of the process that
 * took them. */
#include <sched.h>

#include "base/pause.h"

enum { SPINS = 64 };
_Atomic uint32_t tw__process_generation = 1;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static tw__lock *locks;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void take_all(void)
{
    pthread_mutex_lock(&list_lock);
    for (tw__lock *lock = locks; lock; lock = lock->next)
        tw__mutex_take(&lock->mutex);
}

static void give_all(void)
{
    for (tw__lock *lock = locks; lock; lock = lock->next)
        pthread_mutex_unlock(&lock->mutex);
    pthread_mutex_unlock(&list_lock);
}

static void give_all_in_child(void)
{
    atomic_fetch_add(&tw__process_generation, 1);
    give_all();
}

static void prepare(void)
{
    pthread_atfork(take_all, give_all, give_all_in_child);
}

void tw__lock_prepare(void)
{
    pthread_once(&once, prepare);
}

void tw__lock_take(tw__lock *lock)
{
    if (__builtin_expect(!atomic_load_explicit(&lock->known, memory_order_acquire), 0)) {
        tw__lock_prepare();
        pthread_mutex_lock(&list_lock);
        if (!atomic_load(&lock->known)) {
            lock->next = locks;
            locks = lock;
            atomic_store(&lock->known, true);
        }
        pthread_mutex_unlock(&list_lock);
    }
    tw__mutex_take(&lock->mutex);
}

void tw__lock_give(tw__lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

void tw__hold_take(_Atomic uint32_t *hold)
{
    uint32_t own = atomic_load_explicit(&tw__process_generation, memory_order_relaxed), holder = 0;
    bool waits = false;
    void *state = NULL;
    for (int spins = 0; !atomic_compare_exchange_weak_explicit(hold, &holder, own, memory_order_acquire, memory_order_relaxed);
         spins++) {
        if (holder != own) /* it is free, or a thread of the parent's held it when this process was forked off */
            continue;
        holder = 0;
        if (spins <= SPINS)
            continue;
        if (!waits)
            state = tw__wait_begin();
        waits = true;
        sched_yield();
    }
    if (waits)
        tw__wait_end(state);
}

void tw__hold_give(_Atomic uint32_t *hold)
{
    atomic_store_explicit(hold, 0, memory_order_release);
}
