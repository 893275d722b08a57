/* Threads that prepare elements ahead of who takes them; for map and interleave with parallel calls, and for prefetch. */
#ifndef TW_DATA_PARALLEL_H
#define TW_DATA_PARALLEL_H

#include "data/data.h"

typedef struct tw__workers tw__workers;
/* Takes the element `input` and gives the one that is handed out (new references). */
typedef tw_status (*tw__work)(void *dataset, tw_tensor **input, tw_tensor **element);

/* The threads begin when the first element is asked for. The input cursor is taken, also after a failure. calls: how many
 * elements are worked on at a time, TW_AUTOTUNE: as many as there are processors. sloppy: elements are handed out as they are
 * ready. */
tw__workers *tw__workers_start(tw__dataset *dataset, tw__cursor *input, tw__work work, int64_t calls, bool sloppy);
/* One thread that keeps up to `buffer` elements of the input ready; TW_AUTOTUNE: some. */
tw__workers *tw__workers_prefetch(tw__dataset *dataset, tw__cursor *input, int64_t buffer);
tw_status tw__workers_next(tw__workers *workers, tw_tensor **element, bool *end);
/* The elements that are ready, and the input's state; the threads rest until tw__workers_resume. */
void tw__workers_state(tw__workers *workers, tw__state *state);
void tw__workers_resume(tw__state *state);
/* The threads end by themselves, when they are done with what they do. NULL is fine. */
void tw__workers_stop(tw__workers *workers);

#endif
