/* Queues as objects: waiting, putting in, taking out; see queue.h. */
#include "op/queue/queue.h"

#include <errno.h>
#include <time.h>

#include "base/pause.h"

void tw__queue_element_free(tw_tensor **element, int width)
{
    for (int i = 0; element && i < width; i++)
        tw_release(element[i]);
    tw__free(element);
}

static void queue_destroy(void *self)
{
    tw__queue *queue = self;
    for (size_t i = 0; i < queue->count; i++)
        tw__queue_element_free(queue->items[queue->first + i], queue->width);
    tw__free(queue->items);
    tw__free(queue->dtypes);
    tw__free(queue->shapes);
    tw__free(queue->name);
    if (queue->ready) {
        pthread_cond_destroy(&queue->changed);
        pthread_mutex_destroy(&queue->lock);
    }
}

const tw_class tw__queue_class = { .name = "Queue", .size = sizeof(tw__queue), .destroy = queue_destroy };

const char *tw__queue_word(const tw__queue *queue)
{
    static const char *const words[] = { "FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue", "PriorityQueue" };
    return words[queue->kind];
}

tw__queue *tw__queue_of(const tw__kernel *kernel, int input)
{
    tw_object *object = tw__tensor_object(kernel->inputs[input]);
    if (tw__is(object, &tw__queue_class))
        return (tw__queue *)object;
    TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the argument handle is no queue");
    return NULL;
}

void tw__queue_cancel(void *state)
{
    tw__queue *queue = state;
    if (!queue)
        return;
    tw__mutex_take(&queue->lock);
    queue->closed = queue->cancelled = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->lock);
}

void tw__queue_release(void *state)
{
    tw_release(state);
}

/* Lets others change the queue, whose lock is held, for a moment; fails if the thread shall not wait any more. */
static tw_status wait_change(tw__queue *queue)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    void *language = tw__wait_begin();
    pthread_cond_timedwait(&queue->changed, &queue->lock, &until);
    pthread_mutex_unlock(&queue->lock);
    tw__wait_end(language);
    tw_status status = tw__interrupted();
    tw__mutex_take(&queue->lock);
    if (status == TW_OK && queue->cancelled)
        status = tw__fail(TW_CANCELLED, "%s '%s': the session was closed", tw__queue_word(queue), queue->name);
    return status;
}

/* ---- in ---- */

static tw_status insert(tw__queue *queue, tw_tensor **element)
{
    if (queue->first && queue->first + queue->count == queue->room) {
        memmove(queue->items, queue->items + queue->first, queue->count * sizeof *queue->items);
        queue->first = 0;
    }
    TW_TRY(TW_GROW(queue->items, queue->room, queue->first + queue->count + 1));
    size_t at = queue->first + queue->count;
    if (queue->kind == TW_QUEUE_PRIORITY) { /* behind those of the same number */
        int64_t own = tw_tensor_int_at(element[0], 0);
        for (; at > queue->first && tw_tensor_int_at(queue->items[at - 1][0], 0) > own; at--)
            queue->items[at] = queue->items[at - 1];
    }
    queue->items[at] = element;
    queue->count++;
    pthread_cond_broadcast(&queue->changed);
    return TW_OK;
}

tw_status tw__queue_put(tw__queue *queue, tw_tensor **element)
{
    tw__mutex_take(&queue->lock);
    tw_status status = TW_OK;
    if (queue->closed)
        status = tw__fail(TW_CANCELLED, "%s '%s' is closed.", tw__queue_word(queue), queue->name);
    while (status == TW_OK && queue->capacity >= 0 && (int64_t)queue->count >= queue->capacity)
        status = queue->refuses ? tw__fail(TW_CANCELLED, "Enqueue operation was cancelled") : wait_change(queue);
    if (status == TW_OK)
        status = insert(queue, element);
    pthread_mutex_unlock(&queue->lock);
    if (status != TW_OK)
        tw__queue_element_free(element, queue->width);
    return status;
}

/* ---- out ---- */

static tw_tensor **remove_one(tw__queue *queue)
{
    if (queue->kind == TW_QUEUE_SHUFFLE) {
        size_t at = queue->first + tw__words_next(&queue->chance) % queue->count, last = queue->first + queue->count - 1;
        tw_tensor **taken = queue->items[at];
        queue->items[at] = queue->items[last];
        queue->count--;
        return taken;
    }
    tw_tensor **taken = queue->items[queue->first++];
    if (--queue->count == 0)
        queue->first = 0;
    return taken;
}

/* What was taken goes back to its place. */
static void put_back(tw__queue *queue, tw_tensor ***elements, int64_t count)
{
    for (int64_t i = count - 1; i >= 0; i--) {
        bool fits = TW_GROW(queue->items, queue->room, queue->first + queue->count + 1) == TW_OK;
        if (!fits) {
            tw__queue_element_free(elements[i], queue->width);
            continue;
        }
        memmove(queue->items + queue->first + 1, queue->items + queue->first, queue->count * sizeof *queue->items);
        queue->items[queue->first] = elements[i];
        queue->count++;
    }
    pthread_cond_broadcast(&queue->changed);
}

static tw_status too_few(const tw__queue *queue, int64_t wanted, int64_t there)
{
    return tw__fail(TW_OUT_OF_RANGE, "%s '%s' is closed and has insufficient elements (requested %lld, current size %lld)",
                    tw__queue_word(queue), queue->name, (long long)wanted, (long long)there);
}

static tw_status take_locked(tw__queue *queue, int64_t count, bool fewer, tw_tensor ***out, int64_t *taken)
{
    while (queue->taking)
        TW_TRY(wait_change(queue));
    queue->taking = 1;
    tw_status status = TW_OK;
    while (status == TW_OK && *taken < count) {
        int64_t spare = queue->closed ? 0 : queue->minimum;
        if ((int64_t)queue->count > spare) {
            out[(*taken)++] = remove_one(queue);
            pthread_cond_broadcast(&queue->changed);
        } else if (!queue->closed) {
            status = wait_change(queue);
        } else if (fewer && *taken) {
            break;
        } else {
            status = too_few(queue, count, *taken);
        }
    }
    queue->taking = 0;
    pthread_cond_broadcast(&queue->changed);
    return status;
}

tw_status tw__queue_take(tw__queue *queue, int64_t count, bool fewer, tw_tensor ***out, int64_t *taken)
{
    *taken = 0;
    tw__mutex_take(&queue->lock);
    tw_status status = take_locked(queue, count, fewer, out, taken);
    if (status != TW_OK) {
        put_back(queue, out, *taken);
        *taken = 0;
    }
    pthread_mutex_unlock(&queue->lock);
    return status;
}
