/* Locks that a forked child finds free.
 *
 * A child has only the thread that forked; a lock that another thread held would stay locked in it for ever. So a fork first takes every
 * lock that was ever used, and both processes give them back: what they guard is whole in the child. For this a thread holds at
 * most one of them, and calls nothing of the embedding language meanwhile.
 *
 * Variables have locks of their own, too many to be taken; they remember the generation of the process that took them (op/resource.c). */
#include "base/base.h"

_Atomic uint32_t tw__process_generation = 1;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static tw__lock *locks;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void take_all(void)
{
    pthread_mutex_lock(&list_lock);
    for (tw__lock *lock = locks; lock; lock = lock->next)
        pthread_mutex_lock(&lock->mutex);
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
    pthread_mutex_lock(&lock->mutex);
}

void tw__lock_give(tw__lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}
