/* Mutexes that tf.CriticalSection locks while its functions run, also inside of graphs: MutexLock gives a variant, and the mutex
 * is free again when the variant is consumed or gone. */
#include <pthread.h>
#include <time.h>

#include "base/pause.h"
#include "op/op.h"
#include "rows.h"

typedef struct mutex {
    tw_object object;
    pthread_mutex_t guard;
    pthread_cond_t changed;
    bool ready, held;
} mutex;

typedef struct hold { /* of a mutex */
    tw_object object;
    mutex *of; /* a reference; NULL: consumed */
} hold;

static void mutex_destroy(void *self)
{
    mutex *m = self;
    if (m->ready) {
        pthread_cond_destroy(&m->changed);
        pthread_mutex_destroy(&m->guard);
    }
}

static void hold_end(void *self)
{
    hold *h = self;
    mutex *m = h->of;
    h->of = NULL;
    if (!m)
        return;
    tw__mutex_take(&m->guard);
    m->held = false;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->guard);
    tw_release(m);
}

static const tw_class mutex_class = { .name = "Mutex", .size = sizeof(mutex), .destroy = mutex_destroy };
static const tw_class hold_class = { .name = "MutexLock", .size = sizeof(hold), .destroy = hold_end };

static mutex *mutex_new(void)
{
    mutex *m = tw__object_new(&mutex_class);
    if (!m)
        return NULL;
    pthread_mutex_init(&m->guard, NULL);
    pthread_cond_init(&m->changed, NULL);
    m->ready = true;
    return m;
}

static void mutex_release(void *state)
{
    tw_release(state);
}

static tw_status make_compute(tw__kernel *kernel)
{
    tw_auto mutex *m = kernel->state && *kernel->state ? tw_retain(*kernel->state) : mutex_new();
    TW_NEED(m);
    if (kernel->state && !*kernel->state)
        *kernel->state = tw_retain(m);
    tw_tensor *handle = tw__tensor_of_object(TW_RESOURCE, m);
    return handle ? tw__output_take(kernel, 0, handle) : tw__error_status();
}

/* Waits, letting others run; fails if the thread shall not wait any more. */
static tw_status take(mutex *m)
{
    tw_status status = TW_OK;
    tw__mutex_take(&m->guard);
    while (status == TW_OK && m->held) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        void *language = tw__wait_begin();
        pthread_cond_timedwait(&m->changed, &m->guard, &until);
        pthread_mutex_unlock(&m->guard);
        tw__wait_end(language);
        status = tw__interrupted();
        tw__mutex_take(&m->guard);
    }
    m->held |= status == TW_OK;
    pthread_mutex_unlock(&m->guard);
    return status;
}

static tw_status lock_compute(tw__kernel *kernel)
{
    tw_object *object = tw__tensor_object(kernel->inputs[0]);
    if (!tw__is(object, &mutex_class))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "the argument mutex is no mutex");
    tw_auto hold *h = tw__object_new(&hold_class);
    TW_NEED(h);
    TW_TRY(take((mutex *)object));
    h->of = tw_retain(object);
    tw_tensor *variant = tw__tensor_of_object(TW_VARIANT, h);
    return variant ? tw__output_take(kernel, 0, variant) : tw__error_status();
}

static tw_status consume_compute(tw__kernel *kernel)
{
    tw_object *object = tw__tensor_object(kernel->inputs[0]);
    if (!tw__is(object, &hold_class))
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "Expected input to be a Mutex::SharedLockReleaser");
    hold_end(object);
    return TW_OK;
}

TW_OP(MutexV2, .outputs = "resource: resource", .attrs = "container: string = '', shared_name: string = ''",
      .shape = tw_shape_scalar, .compute = make_compute, .stateful = true, .makes_outputs = true, .no_gradient = true,
      .free_state = mutex_release, .doc = "A mutex.");
TW_OP(MutexLock, .inputs = "mutex: resource", .outputs = "mutex_lock: variant", .shape = tw_shape_scalar, .compute = lock_compute,
      .stateful = true, .makes_outputs = true, .no_gradient = true,
      .doc = "Waits until nobody holds the mutex, and holds it until the result is consumed or gone.");
TW_OP(ConsumeMutexLock, .inputs = "mutex_lock: variant", .shape = tw_shape_none, .compute = consume_compute, .stateful = true,
      .no_gradient = true, .doc = "Lets the mutex go.");
