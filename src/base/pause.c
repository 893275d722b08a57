/* Waiting and stopping; see pause.h. */
#include <time.h>

#include "base/language.h"
#include "base/pause.h"

enum { PAUSE_MILLISECONDS = 50 };

tw__language_parts tw__language;
_Thread_local const _Atomic bool *tw__stop_flag;
_Thread_local bool tw__was_interrupted;

void *tw__wait_begin(void)
{
    return tw__language.wait_begin ? tw__language.wait_begin() : NULL;
}

void tw__wait_end(void *state)
{
    if (tw__language.wait_end)
        tw__language.wait_end(state);
}

void tw__mutex_take(pthread_mutex_t *mutex)
{
    if (pthread_mutex_trylock(mutex) == 0)
        return;
    void *state = tw__wait_begin();
    pthread_mutex_lock(mutex);
    tw__wait_end(state);
}

tw_status tw__interrupted(void)
{
    if (tw__stop_flag)
        return atomic_load(tw__stop_flag) ? tw__fail(TW_CANCELLED, "the result is not wanted any more") : TW_OK;
    tw_status status = tw__language.interrupted ? tw__language.interrupted() : TW_OK;
    tw__was_interrupted |= status != TW_OK;
    return status;
}

tw_status tw__pause(void)
{
    static _Thread_local int64_t last;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    int64_t milliseconds = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (milliseconds - last < PAUSE_MILLISECONDS)
        return TW_OK;
    last = milliseconds;
    return tw__interrupted();
}

/* ---- kernels ---- */

static _Thread_local char thread_mark;

void tw__stopper_begin(tw__stopper *s)
{
    atomic_init(&s->stopped, false);
    s->owner = &thread_mark;
}

bool tw__stopper_asked(tw__stopper *s)
{
    if (s->owner == &thread_mark && !atomic_load_explicit(&s->stopped, memory_order_relaxed) && tw__pause() != TW_OK)
        atomic_store(&s->stopped, true);
    return atomic_load_explicit(&s->stopped, memory_order_relaxed);
}

tw_status tw__stopper_status(tw__stopper *s)
{
    return atomic_load(&s->stopped) ? tw__error_status() : TW_OK;
}
