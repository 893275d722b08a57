/* Batches: requests to the same signature that come at about the same time are computed by one call.
 *
 * The first one to come leads: it waits until there are enough rows, the time is over, or a place is free to compute in; then it
 * calls the signature for all, and hands each its rows. Only requests whose inputs have the same shapes behind the first
 * dimension go together; others are computed by themselves, and so are all of a signature whose outputs do not have a row for
 * each row. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "serve.h"

typedef struct waiting {
    tw_named_tensors inputs;
    int64_t rows;
    tw_tensors results;
    tw_status code;
    char *message;
    bool done;
    struct waiting *next;
} waiting;

struct batcher {
    batch_settings settings;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    waiting *first, **last; /* those whom the next leader takes along; the first one leads */
    int64_t rows, running;
    bool unfit; /* the signature does not give a row for a row */
};

batcher *batcher_new(const batch_settings *settings)
{
    batcher *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->settings = *settings;
    b->last = &b->first;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, &clock);
    pthread_condattr_destroy(&clock);
    return b;
}

void batcher_free(batcher *b)
{
    if (!b)
        return;
    pthread_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->changed);
    free(b);
}

/* How many rows the inputs have, all alike; 0: they are not rows. */
static int64_t rows_of(tw_named_tensors inputs)
{
    int64_t rows = 0;
    for (int64_t i = 0; i < inputs.count; i++) {
        tw_shape shape = tw_tensor_shape(inputs.items[i].tensor);
        if (shape.rank < 1 || shape.dims[0] < 1 || (i && shape.dims[0] != rows))
            return 0;
        rows = shape.dims[0];
    }
    return rows;
}

static bool go_together(tw_named_tensors a, tw_named_tensors b)
{
    for (int64_t i = 0; i < a.count; i++) {
        tw_shape x = tw_tensor_shape(a.items[i].tensor), y = tw_tensor_shape(b.items[i].tensor);
        if (x.rank != y.rank || memcmp(x.dims + 1, y.dims + 1, (size_t)(x.rank - 1) * sizeof *x.dims) != 0)
            return false;
    }
    return true;
}

/* ---- computing a batch ---- */

static tw_tensors call_joined(const served_signature *signature, const waiting *first, int64_t count)
{
    tw_tensors results = { 0 };
    int64_t inputs = first->inputs.count;
    tw_named_tensor *joined = calloc((size_t)inputs + 1, sizeof *joined);
    tw_tensor **parts = calloc((size_t)count + 1, sizeof *parts);
    bool works = joined && parts;
    for (int64_t i = 0; works && i < inputs; i++) {
        int64_t k = 0;
        for (const waiting *one = first; one; one = one->next)
            parts[k++] = one->inputs.items[i].tensor;
        joined[i] = (tw_named_tensor){ first->inputs.items[i].name, tw_concat((tw_tensors){ parts, count }, 0) };
        works = joined[i].tensor != NULL;
    }
    if (works)
        results = tw_signature_call(signature->function, (tw_named_tensors){ joined, inputs });
    for (int64_t i = 0; joined && i < inputs; i++)
        tw_release(joined[i].tensor);
    free(joined);
    free(parts);
    return results;
}

static tw_tensor *rows_from(tw_tensor *tensor, int64_t start, int64_t rows)
{
    tw_shape shape = tw_tensor_shape(tensor);
    int64_t begin[TW_MAX_RANK] = { start }, size[TW_MAX_RANK];
    for (int i = 0; i < shape.rank; i++)
        size[i] = i ? shape.dims[i] : rows;
    tw_auto tw_tensor *from = tw_tensor_new(TW_INT64, (tw_shape){ 1, { shape.rank } }, begin);
    tw_auto tw_tensor *sizes = tw_tensor_new(TW_INT64, (tw_shape){ 1, { shape.rank } }, size);
    return from && sizes ? tw_slice(tensor, from, sizes) : NULL;
}

/* Hands each its rows. False: the outputs are not rows. */
static bool divide(waiting *first, int64_t rows, tw_tensors results)
{
    for (int64_t i = 0; i < results.count; i++) {
        tw_shape shape = tw_tensor_shape(results.items[i]);
        if (shape.rank < 1 || shape.dims[0] != rows)
            return false;
    }
    int64_t start = 0;
    for (waiting *one = first; one; start += one->rows, one = one->next) {
        one->results = (tw_tensors){ calloc((size_t)results.count + 1, sizeof(tw_tensor *)), results.count };
        one->code = one->results.items ? TW_OK : TW_RESOURCE_EXHAUSTED;
        for (int64_t i = 0; one->code == TW_OK && i < results.count; i++) {
            one->results.items[i] = rows_from(results.items[i], start, one->rows);
            if (!one->results.items[i])
                one->message = tw_take_error(&one->code);
        }
    }
    return true;
}

static void call_alone(const served_signature *signature, waiting *one)
{
    one->results = tw_signature_call(signature->function, one->inputs);
    if (!one->results.items)
        one->message = tw_take_error(&one->code);
}

/* One bad request must not spoil the others': if the batch fails, each is computed by itself. True: outputs are not rows. */
static bool call_all(const served_signature *signature, waiting *first)
{
    bool unfit = false;
    int64_t count = 0, rows = 0;
    for (waiting *one = first; one; one = one->next, count++)
        rows += one->rows;
    if (count > 1) {
        tw_tensors results = call_joined(signature, first, count);
        bool fits = results.items && divide(first, rows, results);
        unfit = results.items && !fits;
        tw_tensors_free(&results);
        if (fits)
            return false;
        tw_clear_error();
    }
    for (waiting *one = first; one; one = one->next)
        call_alone(signature, one);
    return unfit;
}

/* ---- waiting ---- */

static bool is_over(const struct timespec *end)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > end->tv_sec || (now.tv_sec == end->tv_sec && now.tv_nsec >= end->tv_nsec);
}

/* Under the lock: waits for others, then for a place; takes the list. */
static waiting *lead(batcher *b)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += b->settings.timeout / 1000000;
    end.tv_nsec += b->settings.timeout % 1000000 * 1000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    while (b->settings.timeout && b->rows < b->settings.most && !is_over(&end))
        pthread_cond_timedwait(&b->changed, &b->lock, &end);
    while (b->running >= b->settings.threads)
        pthread_cond_wait(&b->changed, &b->lock);
    waiting *list = b->first;
    b->first = NULL;
    b->last = &b->first;
    b->rows = 0;
    b->running++;
    return list;
}

static void wait_in_line(const served_signature *signature, waiting *own)
{
    batcher *b = signature->batch;
    bool leads = !b->first;
    *b->last = own;
    b->last = &own->next;
    b->rows += own->rows;
    if (!leads) {
        if (b->rows >= b->settings.most)
            pthread_cond_broadcast(&b->changed);
        while (!own->done)
            pthread_cond_wait(&b->changed, &b->lock);
        return;
    }
    waiting *list = lead(b);
    pthread_mutex_unlock(&b->lock);
    bool unfit = call_all(signature, list);
    pthread_mutex_lock(&b->lock);
    b->unfit = b->unfit || unfit;
    b->running--;
    for (waiting *one = list, *next; one; one = next) {
        next = one->next; /* one that is done may be gone at once */
        one->done = true;
    }
    pthread_cond_broadcast(&b->changed);
}

tw_tensors batched_call(const served_signature *signature, tw_named_tensors inputs, tw_status *code, char **message)
{
    batcher *b = signature->batch;
    waiting own = { .inputs = inputs, .rows = b ? rows_of(inputs) : 0 };
    bool fits = own.rows && own.rows < b->settings.most;
    if (fits) {
        pthread_mutex_lock(&b->lock);
        fits = !b->unfit && (!b->first || (b->rows + own.rows <= b->settings.most && go_together(b->first->inputs, inputs)));
        if (fits)
            wait_in_line(signature, &own);
        pthread_mutex_unlock(&b->lock);
    }
    if (!fits)
        call_alone(signature, &own);
    if (own.code != TW_OK)
        tw_tensors_free(&own.results);
    *code = own.code;
    *message = own.message;
    return own.results;
}
