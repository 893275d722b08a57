/* Looking at what runs: a report for every step of the plans that functions run. */
#ifndef THALWEG_PROFILE_H
#define THALWEG_PROFILE_H

#include <thalweg/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One step of a plan, after it ran. Texts are borrowed for the time of the call. */
typedef struct tw_step_event {
    const char *name; /* of the node in the graph; of the last one if the step stands for several */
    const char *op;   /* what ran: the op, or the ops that ran as one */
    int64_t start;    /* nanoseconds of the monotonic clock */
    int64_t duration; /* nanoseconds */
    int64_t bytes;    /* of the inputs and outputs together */
} tw_step_event;

/* Called in the thread that ran the step; several threads may do so at once. Steps inside of a loop or a call are reported before
 * it. */
typedef void (*tw_step_hook)(void *user, const tw_step_event *event);
/* From now on `hook` gets every step that succeeds, in the whole process; NULL: nobody does, and running costs nothing more. */
TW_API_FUNCTION void tw_set_step_hook(tw_step_hook hook, void *user);

#ifdef __cplusplus
}
#endif
#endif
