/* Threads that prepare elements; see parallel.h.
 *
 * Elements stand in a ring of slots, from `head` (the next one to hand out) to `tail` (the next one to fetch). A thread fetches a
 * few elements, one thread at a time, so that slots have the input's order; then it works on them and marks them ready. Work that
 * is quickly done is fetched in larger pieces. The threads share the ring with the cursor by a count: whoever leaves last frees
 * it. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/pause.h"
#include "data/parallel.h"
#include "data/state.h"

enum {
    SLOT_LIMIT = 1 << 16,
    THREAD_LIMIT = 128,
    PIECE_LIMIT = 32,
    AUTOTUNED_BUFFER = 8,
    QUICK_NANOSECONDS = 20000,
    WAIT_MILLISECONDS = 50
};

typedef enum slot_state { SLOT_BUSY, SLOT_READY, SLOT_FAILED } slot_state;

typedef struct slot {
    slot_state state;
    tw__saved_error error;
    tw_tensor **input, **element;
} slot;

struct tw__workers {
    pthread_mutex_t lock;
    pthread_cond_t ready, room;
    int references;
    uint32_t generation; /* of the process whose threads they are */
    tw__dataset *dataset;
    tw__cursor *input;
    tw__work work;
    int input_count, count;
    slot **ring;
    size_t ring_size, limit;
    uint64_t head, tail;
    int threads, piece, most; /* `piece` elements are fetched at once, at most `most` */
    int waiting;              /* threads that wait for room */
    int active;               /* threads that fetch or work */
    bool taker_waits, fetching, ended, sloppy;
    bool started, paused;
    tw__stream_set *streams; /* those of the cursor that it works for; a reference */
    tw__workers *next_paused;
    _Atomic bool cancelled;
};

static void workers_free(tw__workers *w)
{
    tw__cursor_free(w->input);
    tw_release(w->streams);
    for (size_t i = 0; w->ring && i < w->ring_size; i++) {
        slot *s = w->ring[i];
        if (!s)
            continue;
        tw__element_end(s->input, w->input_count);
        tw__element_end(s->element, w->count);
        tw__error_drop(&s->error);
        tw__free(s);
    }
    tw__free(w->ring);
    tw_release(w->dataset);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->ready);
    pthread_cond_destroy(&w->room);
    tw__free(w);
}

static slot *slot_new(int input_count, int count)
{
    slot *s = tw__alloc_zero(sizeof *s + (size_t)(input_count + count) * sizeof(tw_tensor *));
    if (s) {
        s->input = (tw_tensor **)(s + 1);
        s->element = s->input + input_count;
    }
    return s;
}

/* ---- the threads ---- */

/* Fetches up to `want` elements into slots that are the thread's; not under the lock. */
static int fetch(tw__workers *w, slot **mine, bool *failed, int want, bool *end)
{
    int got = 0;
    for (; got < want && !*end; got++) {
        slot *s = mine[got];
        tw_tensor **target = w->work ? s->input : s->element;
        tw_status status = tw__cursor_next(w->input, target, end);
        if (status == TW_OK && *end)
            break;
        failed[got] = status != TW_OK;
        if (tw__data_plain_error(status) != TW_OK)
            s->error = tw__error_take();
    }
    return got;
}

static int64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* One round of a thread, under the lock; false: there is nothing left to do. */
static bool round_of_work(tw__workers *w)
{
    while (!w->cancelled && !w->ended && (w->paused || w->fetching || w->tail - w->head >= w->limit)) {
        w->waiting++;
        pthread_cond_wait(&w->room, &w->lock);
        w->waiting--;
    }
    if (w->cancelled || w->ended)
        return false;
    slot *mine[PIECE_LIMIT];
    size_t free_slots = w->limit - (size_t)(w->tail - w->head);
    int want = free_slots < (size_t)w->piece ? (int)free_slots : w->piece;
    for (int i = 0; i < want; i++)
        mine[i] = w->ring[(w->tail + (uint64_t)i) % w->ring_size];
    w->fetching = true;
    w->active++;
    pthread_mutex_unlock(&w->lock);
    bool end = false, failed[PIECE_LIMIT] = { false };
    int64_t start = nanoseconds();
    int got = fetch(w, mine, failed, want, &end);
    pthread_mutex_lock(&w->lock);
    for (int i = 0; i < got; i++)
        mine[i]->state = failed[i] && !w->work ? SLOT_FAILED : SLOT_BUSY;
    w->tail += (uint64_t)got;
    w->fetching = false;
    w->ended |= end;
    if (w->waiting)
        pthread_cond_signal(&w->room);
    if (w->work) {
        pthread_mutex_unlock(&w->lock);
        slot_state states[PIECE_LIMIT]; /* seen when all of the piece is done */
        for (int i = 0; i < got; i++) {
            states[i] = SLOT_FAILED;
            if (failed[i])
                continue;
            if (tw__data_plain_error(w->work(w->dataset, mine[i]->input, mine[i]->element)) == TW_OK)
                states[i] = SLOT_READY;
            else
                mine[i]->error = tw__error_take();
        }
        int64_t each = got ? (nanoseconds() - start) / got : 0;
        pthread_mutex_lock(&w->lock);
        for (int i = 0; i < got; i++)
            mine[i]->state = states[i];
        w->piece = each > QUICK_NANOSECONDS || !got ? 1 : w->piece * 2 > w->most ? w->most : w->piece * 2;
        size_t most = (size_t)w->threads * (size_t)w->piece * 2;
        w->limit = most < (size_t)w->threads ? (size_t)w->threads : most > w->ring_size ? w->ring_size : most;
    } else {
        for (int i = 0; i < got; i++) {
            if (mine[i]->state == SLOT_BUSY)
                mine[i]->state = SLOT_READY;
        }
    }
    w->active--;
    if (w->taker_waits)
        pthread_cond_signal(&w->ready);
    return true;
}

static void *run(void *pointer)
{
    tw__workers *w = pointer;
    tw__stop_flag = &w->cancelled;
    tw__streams_now = w->streams;
    pthread_mutex_lock(&w->lock);
    while (round_of_work(w))
        ;
    if (w->waiting)
        pthread_cond_broadcast(&w->room);
    pthread_cond_signal(&w->ready);
    bool last = --w->references == 0;
    pthread_mutex_unlock(&w->lock);
    tw__stop_flag = NULL;
    tw__streams_now = NULL;
    if (last)
        workers_free(w);
    return NULL;
}

/* ---- beginning and ending ---- */

static tw__workers *start(tw__dataset *dataset, tw__cursor *input, tw__work work, int threads, size_t ring_size, size_t limit,
                          int most, bool sloppy)
{
    tw__workers *w = tw__alloc_zero(sizeof *w);
    if (!w) {
        tw__cursor_free(input);
        return NULL;
    }
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->ready, &attributes);
    pthread_cond_init(&w->room, NULL);
    pthread_condattr_destroy(&attributes);
    w->references = 1;
    w->dataset = tw_retain(dataset);
    w->input = input;
    w->streams = tw_retain(tw__streams_now);
    w->work = work;
    w->input_count = input->dataset->count;
    w->count = dataset->count;
    w->ring_size = ring_size;
    w->limit = limit;
    w->threads = threads;
    w->piece = 1;
    w->most = most;
    w->sloppy = sloppy;
    w->ring = tw__alloc_array(ring_size, sizeof *w->ring);
    bool good = w->ring != NULL;
    for (size_t i = 0; good && i < ring_size; i++)
        good = (w->ring[i] = slot_new(w->input_count, w->count)) != NULL;
    if (good)
        return w;
    workers_free(w);
    return NULL;
}

static tw_status launch(tw__workers *w)
{
    w->generation = atomic_load(&tw__process_generation);
    pthread_mutex_lock(&w->lock);
    for (int i = 0; i < w->threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, run, w) != 0)
            break;
        pthread_detach(thread);
        w->references++;
        w->started = true;
    }
    pthread_mutex_unlock(&w->lock);
    return w->started ? TW_OK : tw__fail(TW_RESOURCE_EXHAUSTED, "no thread could be started for a dataset");
}

/* Whether its threads are those of the process that this one was forked from. */
static bool left_behind(const tw__workers *w)
{
    return w->started && w->generation != atomic_load(&tw__process_generation);
}

static int processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > THREAD_LIMIT ? THREAD_LIMIT : (int)count;
}

tw__workers *tw__workers_start(tw__dataset *dataset, tw__cursor *input, tw__work work, int64_t calls, bool sloppy)
{
    int threads = calls < 1 ? processors() : calls > THREAD_LIMIT ? THREAD_LIMIT : (int)calls;
    return start(dataset, input, work, threads, (size_t)threads * PIECE_LIMIT * 2, (size_t)threads, PIECE_LIMIT, sloppy);
}

tw__workers *tw__workers_prefetch(tw__dataset *dataset, tw__cursor *input, int64_t buffer)
{
    size_t size = buffer < 1 ? AUTOTUNED_BUFFER : buffer > SLOT_LIMIT ? SLOT_LIMIT : (size_t)buffer;
    return start(dataset, input, NULL, 1, size, size, 1, false);
}

void tw__workers_stop(tw__workers *w)
{
    if (!w || left_behind(w)) /* a forked child does not have the threads; what they held stays so */
        return;
    pthread_mutex_lock(&w->lock);
    w->cancelled = true;
    pthread_cond_broadcast(&w->room);
    bool last = --w->references == 0;
    pthread_mutex_unlock(&w->lock);
    if (last)
        workers_free(w);
}

/* ---- taking ---- */

/* Under the lock: the slot to hand out stands at the head, or NULL. */
static slot *find_ready(tw__workers *w)
{
    for (uint64_t at = w->head; at < w->tail; at++) {
        slot **place = &w->ring[at % w->ring_size], **first = &w->ring[w->head % w->ring_size];
        if ((*place)->state != SLOT_BUSY) {
            slot *found = *place;
            *place = *first;
            *first = found;
            return found;
        }
        if (!w->sloppy)
            return NULL;
    }
    return NULL;
}

/* Waits a little, and lets the user stop. */
static tw_status wait_ready(tw__workers *w)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAIT_MILLISECONDS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    w->taker_waits = true;
    int result = pthread_cond_timedwait(&w->ready, &w->lock, &until);
    w->taker_waits = false;
    if (!result)
        return TW_OK;
    pthread_mutex_unlock(&w->lock);
    tw_status status = tw__interrupted();
    pthread_mutex_lock(&w->lock);
    return status;
}

tw_status tw__workers_next(tw__workers *w, tw_tensor **element, bool *end)
{
    if (!w->started)
        TW_TRY(launch(w));
    if (left_behind(w))
        return tw__fail(TW_FAILED_PRECONDITION, "%s: its threads are those of the process that this one was forked from",
                        tw_class_name(w->dataset));
    pthread_mutex_lock(&w->lock);
    slot *s = find_ready(w);
    tw_status status = TW_OK;
    if (!s) { /* the threads may need what this one holds */
        pthread_mutex_unlock(&w->lock);
        void *held = tw__wait_begin();
        pthread_mutex_lock(&w->lock);
        while (status == TW_OK && !(s = find_ready(w)) && !(w->ended && !w->fetching && w->head == w->tail))
            status = wait_ready(w);
        pthread_mutex_unlock(&w->lock);
        tw__wait_end(held);
        pthread_mutex_lock(&w->lock);
        s = status == TW_OK ? find_ready(w) : NULL;
    }
    *end = status == TW_OK && !s;
    if (s) {
        for (int i = 0; i < w->count; i++) {
            element[i] = s->element[i];
            s->element[i] = NULL;
        }
        if (s->state == SLOT_FAILED) {
            tw__element_end(element, w->count);
            tw__error_restore(s->error);
            s->error = (tw__saved_error){ 0 };
            status = tw__error_status();
        }
        s->state = SLOT_BUSY;
        w->head++;
        size_t used = (size_t)(w->tail - w->head);
        if (w->waiting && !w->fetching && used + (size_t)(w->piece + 1) / 2 <= w->limit)
            pthread_cond_signal(&w->room);
    }
    pthread_mutex_unlock(&w->lock);
    return status;
}

/* ---- the state ---- */

/* Waits until all threads rest. */
static tw_status pause_threads(tw__workers *w)
{
    if (left_behind(w))
        return tw__fail(TW_FAILED_PRECONDITION, "%s: its threads are those of the process that this one was forked from",
                        tw_class_name(w->dataset));
    void *held = tw__wait_begin();
    tw_status status = TW_OK;
    pthread_mutex_lock(&w->lock);
    w->paused = true;
    while (status == TW_OK && w->active)
        status = wait_ready(w);
    pthread_mutex_unlock(&w->lock);
    tw__wait_end(held);
    return status;
}

void tw__workers_resume(tw__state *state)
{
    for (tw__workers *w = state->paused; w; w = w->next_paused) {
        pthread_mutex_lock(&w->lock);
        w->paused = false;
        pthread_cond_broadcast(&w->room);
        pthread_mutex_unlock(&w->lock);
    }
    state->paused = NULL;
}

/* Before the threads begin: a ring of at least that many slots. */
static tw_status widen(tw__workers *w, size_t size)
{
    if (size <= w->ring_size)
        return TW_OK;
    slot **ring = tw__alloc_array(size, sizeof *ring);
    TW_NEED(ring);
    memcpy(ring, w->ring, w->ring_size * sizeof *ring);
    tw__free(w->ring);
    w->ring = ring;
    for (; w->ring_size < size; w->ring_size++)
        TW_NEED(ring[w->ring_size] = slot_new(w->input_count, w->count));
    return TW_OK;
}

static void error_state(tw__state *state, tw__saved_error *error)
{
    int64_t code = error->code;
    tw__auto(tw__text_free) tw__text text = { 0 };
    if (state->saving)
        tw__text_add(&text, tw__error_message_of(error));
    tw__state_int(state, "code", &code);
    tw__state_text(state, "message", &text);
    if (tw__state_good(state) && !state->saving) {
        tw__fail((tw_status)code, "%.*s", (int)text.size, text.data ? text.data : "");
        *error = tw__error_take();
    }
}

static void slot_exchange(tw__state *state, slot *s, int count)
{
    bool failed = s->state == SLOT_FAILED;
    tw__state_bool(state, "failed", &failed);
    if (!state->saving)
        s->state = failed ? SLOT_FAILED : SLOT_READY;
    if (failed) {
        error_state(state, &s->error);
        return;
    }
    for (int k = 0; k < count; k++)
        tw__state_tensor(state, "component", &s->element[k]);
}

void tw__workers_state(tw__workers *w, tw__state *state)
{
    if (state->saving && tw__state_good(state)) {
        w->next_paused = state->paused;
        state->paused = w;
        state->status = pause_threads(w);
    }
    int64_t count = (int64_t)(w->tail - w->head);
    tw__state_int(state, "buffered", &count);
    tw__state_bool(state, "input_ended", &w->ended);
    if (tw__state_good(state) && (count < 0 || count > SLOT_LIMIT + THREAD_LIMIT * PIECE_LIMIT * 2))
        tw__state_fail(state, TW_DATA_LOSS, "%lld elements are ready", (long long)count);
    if (tw__state_good(state) && !state->saving)
        state->status = widen(w, (size_t)count);
    for (int64_t i = 0; tw__state_good(state) && i < count; i++) {
        slot_exchange(state, w->ring[(w->head + (uint64_t)i) % w->ring_size], w->count);
        if (!state->saving)
            w->tail++;
    }
    if (tw__state_good(state))
        tw__state_cursor(state, "input", &w->input, w->input->dataset);
}
