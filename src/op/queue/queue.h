/* Queues of TensorFlow 1: tuples of tensors that threads put in and take out, waiting for each other.
 *
 * A queue is behind a resource handle. In a graph it is the state of its node, so a session has one of its own; a session that is
 * closed ends the waiting of all threads (tw__queue_cancel). Who waits lets others run, and can be interrupted. */
#ifndef TW_QUEUE_H
#define TW_QUEUE_H

#include <pthread.h>

#include "kernel/random/random.h"
#include "op/op.h"

typedef enum tw__queue_kind { TW_QUEUE_FIFO, TW_QUEUE_PADDING, TW_QUEUE_SHUFFLE, TW_QUEUE_PRIORITY } tw__queue_kind;

typedef struct tw__queue {
    tw_object object;
    tw__queue_kind kind;
    char *name;
    int width; /* tensors of an element */
    tw_dtype *dtypes;
    tw_shape *shapes;          /* NULL: of any shapes */
    int64_t capacity, minimum; /* minimum: what a shuffling queue keeps */
    tw__words chance;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    tw_tensor ***items; /* references; the oldest at `first` */
    size_t first, count, room;
    bool closed;    /* nothing more comes in */
    bool refuses;   /* ... nor what waits for room */
    bool cancelled; /* nobody waits any more */
    int taking;     /* threads that take several: one at a time */
    bool ready;     /* lock and changed are made */
} tw__queue;

extern const tw_class tw__queue_class;
const char *tw__queue_word(const tw__queue *queue);           /* "FIFOQueue" */
tw__queue *tw__queue_of(const tw__kernel *kernel, int input); /* borrowed; NULL and an error if it is none */
void tw__queue_release(void *state);                          /* free_state of ops that make queues */
void tw__queue_cancel(void *state);
/* Waits until `count` elements can be taken, and takes them: tuples of references in `out`. With `fewer` a closed queue gives
 * what it has; *taken says how many there are. */
tw_status tw__queue_take(tw__queue *queue, int64_t count, bool fewer, tw_tensor ***out, int64_t *taken);
/* Puts one element in, which is the queue's from then on, also on failure. Waits for room. */
tw_status tw__queue_put(tw__queue *queue, tw_tensor **element);
void tw__queue_element_free(tw_tensor **element, int width);

#endif
