/* Reports of steps (<thalweg/profile.h>). A run asks once whether somebody wants them; nothing else is paid for when nobody does.
 */
#include <stdatomic.h>
#include <time.h>

#include <thalweg/profile.h>

#include "exec/internal.h"

_Atomic bool tw__step_reports;
static _Atomic(tw_step_hook) hook;
static _Atomic(void *) hook_user;

void tw_set_step_hook(tw_step_hook given, void *user)
{
    atomic_store(&tw__step_reports, false);
    atomic_store(&hook, NULL); /* so that a hook never gets another one's user */
    atomic_store(&hook_user, user);
    atomic_store(&hook, given);
    atomic_store(&tw__step_reports, given != NULL);
}

int64_t tw__step_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void tw__step_report(const tw__step *step, int64_t start, int64_t bytes)
{
    tw_step_event event = { tw__step_name(step), step->label ? step->label : step->op->name, start, tw__step_clock() - start,
                            bytes };
    tw_step_hook call = atomic_load(&hook);
    if (call)
        call(atomic_load(&hook_user), &event);
}

/* ---- ops that run at once ---- */

_Atomic bool tw__op_reports;
static _Atomic(tw_step_hook) op_hook;

void tw__set_op_hook(tw_step_hook given)
{
    atomic_store(&op_hook, given);
    atomic_store(&tw__op_reports, given != NULL);
}

void tw__op_report(const char *name, const char *op, int64_t start)
{
    tw_step_event event = { .name = name, .op = op, .start = start, .duration = tw__step_clock() - start };
    tw_step_hook call = atomic_load(&op_hook);
    if (call)
        call(NULL, &event);
}
