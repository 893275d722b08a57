/* The worker threads.
 *
 * One job at a time: an array of chunks, of which every thread has a share: the same places each time a job is as large, so that
 * what it touched lies in its caches. A thread that is done takes from the others' shares. Workers look out for a new job for a
 * few microseconds before they sleep on a futex, so handing over costs far less than a wake-up while work keeps coming. A call
 * that finds the pool at work for another thread, or that comes from inside a chunk, does its work itself.
 *
 * A worker enters a job by counting itself into `active` and then looking whether the job is still open; the caller closes the
 * job and then waits until `active` is zero. In sequential order one of the two sees the other, so no worker reads a job that is
 * being replaced.
 *
 * Workers start with the first job that is large enough. A forked child has none of its parent's threads and starts its own. */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/pause.h"

enum { THREADS_LIMIT = 256, SPINS = 4000, CHUNKS_PER_THREAD = 4, VECTOR = 64 };

typedef struct job {
    int64_t count, chunk;
    void (*body)(void *context, int64_t begin, int64_t end);
    void *context;
    uint64_t denormals; /* the caller's state */
} job;

static struct {
    pthread_mutex_t lock; /* held by the caller while its job runs, and to start and stop workers */
    pthread_t threads[THREADS_LIMIT];
    int started;          /* workers that run */
    bool starting_failed; /* the system gave fewer threads than asked for: don't ask again with every job */
    job job;
    uint32_t seen_at_start[THREADS_LIMIT];
    struct {
        _Alignas(64) _Atomic int64_t next; /* the share's next chunk */
        int64_t end;
    } shares[THREADS_LIMIT];
    int share_count;
    _Alignas(64) _Atomic uint32_t signal; /* changes with every job; workers sleep on it */
    _Alignas(64) _Atomic uint32_t active; /* workers inside the job; the caller sleeps on it */
    _Alignas(64) _Atomic bool open, stop;
    _Atomic int sleepers;
    _Atomic bool caller_sleeps;
} pool = { .lock = PTHREAD_MUTEX_INITIALIZER };

static _Atomic int wanted; /* threads, with the caller; 0: not yet asked for */
static _Thread_local bool inside;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static void take_chunks(int own)
{
    const job *j = &pool.job;
    for (int k = 0; k < pool.share_count; k++) {
        int share = (own + k) % pool.share_count;
        for (;;) {
            int64_t at = atomic_fetch_add_explicit(&pool.shares[share].next, 1, memory_order_relaxed);
            if (at >= pool.shares[share].end)
                break;
            int64_t begin = at * j->chunk, end = j->count - begin < j->chunk ? j->count : begin + j->chunk;
            j->body(j->context, begin, end);
        }
    }
}

static void share_out(const job *j, int shares)
{
    int64_t chunks = (j->count + j->chunk - 1) / j->chunk;
    for (int i = 0; i < shares; i++) {
        atomic_store_explicit(&pool.shares[i].next, chunks / shares * i + chunks % shares * i / shares, memory_order_relaxed);
        pool.shares[i].end = chunks / shares * (i + 1) + chunks % shares * (i + 1) / shares;
    }
    pool.share_count = shares;
}

static void wait_for_signal(uint32_t seen)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&pool.signal, memory_order_acquire) != seen)
            return;
        pause_briefly();
    }
    atomic_fetch_add(&pool.sleepers, 1);
    while (atomic_load(&pool.signal) == seen)
        futex_wait(&pool.signal, seen);
    atomic_fetch_sub(&pool.sleepers, 1);
}

static void *work(void *number)
{
    int own = (int)(uintptr_t)number;
    uint32_t seen = pool.seen_at_start[own];
    inside = true;
    for (;;) {
        wait_for_signal(seen);
        seen = atomic_load(&pool.signal);
        if (atomic_load(&pool.stop))
            return NULL;
        atomic_fetch_add(&pool.active, 1);
        if (atomic_load(&pool.open)) {
            tw__denormals_restore(pool.job.denormals);
            take_chunks(own);
        }
        if (atomic_fetch_sub(&pool.active, 1) == 1 && atomic_load(&pool.caller_sleeps))
            futex_wake(&pool.active, 1);
    }
}

static void signal_workers(void)
{
    atomic_fetch_add(&pool.signal, 1);
    if (atomic_load(&pool.sleepers))
        futex_wake(&pool.signal, THREADS_LIMIT);
}

/* Under the lock. */
static void stop_workers(void)
{
    atomic_store(&pool.stop, true);
    signal_workers();
    for (int i = 0; i < pool.started; i++)
        pthread_join(pool.threads[i], NULL);
    pool.started = 0;
    pool.starting_failed = false;
    atomic_store(&pool.stop, false);
}

static void stop_at_exit(void)
{
    if (inside) /* exit() was called from a chunk: a thread can't wait for itself */
        return;
    tw__mutex_take(&pool.lock);
    stop_workers();
    pthread_mutex_unlock(&pool.lock);
}

static void forget_in_child(void)
{
    pthread_mutex_init(&pool.lock, NULL);
    pool.started = 0;
    pool.starting_failed = false;
    atomic_store(&pool.active, 0);
    atomic_store(&pool.open, false);
    atomic_store(&pool.stop, false);
    atomic_store(&pool.sleepers, 0);
    atomic_store(&pool.caller_sleeps, false);
    inside = false;
}

static void prepare(void)
{
    static const char *const names[] = { "THALWEG_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "OMP_NUM_THREADS" };
    int count = 0;
    for (size_t i = 0; count <= 0 && i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        count = text ? atoi(text) : 0;
    }
    if (count <= 0) {
        cpu_set_t set;
        count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    }
    int none = 0;
    atomic_compare_exchange_strong(&wanted, &none, count > THREADS_LIMIT ? THREADS_LIMIT : count);
    pthread_atfork(NULL, NULL, forget_in_child);
    atexit(stop_at_exit);
}

int tw__thread_count(void)
{
    int count = atomic_load_explicit(&wanted, memory_order_relaxed);
    if (__builtin_expect(count == 0, 0)) {
        pthread_once(&once, prepare);
        count = atomic_load(&wanted);
    }
    return count;
}

void tw__thread_count_set(int count)
{
    pthread_once(&once, prepare);
    atomic_store(&wanted, count < 1 ? 1 : count > THREADS_LIMIT ? THREADS_LIMIT : count);
    if (inside)
        return;
    tw__mutex_take(&pool.lock);
    stop_workers(); /* the next job starts as many as are wanted then */
    pthread_mutex_unlock(&pool.lock);
}

/* Under the lock. Signals are the program's: workers take none. */
static void start_workers(int workers)
{
    static tw__ending ending = { .end = stop_at_exit };
    tw__at_shutdown(&ending);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.started < workers) {
        uintptr_t number = (uintptr_t)pool.started + 1; /* the caller is 0 */
        pool.seen_at_start[number] = atomic_load(&pool.signal);
        if (pthread_create(&pool.threads[pool.started], NULL, work, (void *)number) != 0) {
            pool.starting_failed = true;
            break;
        }
        pool.started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void wait_for_workers(void)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load(&pool.active) == 0)
            return;
        pause_briefly();
    }
    atomic_store(&pool.caller_sleeps, true);
    for (uint32_t active; (active = atomic_load(&pool.active)) != 0;)
        futex_wait(&pool.active, active);
    atomic_store(&pool.caller_sleeps, false);
}

void tw__parallel_watched(int64_t count, int64_t grain, void (*body)(void *context, int64_t begin, int64_t end), void *context,
                          void (*watch)(void *context))
{
    int threads;
    if (count <= 0)
        return;
    if (grain < 1)
        grain = 1;
    if (count <= grain || (threads = tw__thread_count()) < 2) {
        body(context, 0, count);
        return;
    }
    /* A few chunks for each thread, so that one that is held up leaves its share to the others. */
    int64_t chunk = count / ((int64_t)threads * CHUNKS_PER_THREAD) + 1;
    if (chunk < grain)
        chunk = grain;
    /* Elements at a chunk's end that fill no vector go through scalar code, which may round differently: there are none but at
     * the very end, so that an element's value depends on its place alone. */
    if (chunk >= VECTOR)
        chunk = (chunk + VECTOR - 1) / VECTOR * VECTOR;
    if (inside || pthread_mutex_trylock(&pool.lock) != 0) {
        for (int64_t begin = 0; begin < count; begin += chunk)
            body(context, begin, count - begin < chunk ? count : begin + chunk);
        return;
    }
    if (pool.started < threads - 1 && !pool.starting_failed)
        start_workers(threads - 1);
    pool.job = (job){ count, chunk, body, context, tw__denormals_get() };
    share_out(&pool.job, pool.started + 1);
    atomic_store(&pool.open, true);
    signal_workers();
    inside = true;
    take_chunks(0);
    if (watch)
        watch(context);
    inside = false;
    atomic_store(&pool.open, false);
    wait_for_workers();
    pthread_mutex_unlock(&pool.lock);
}

void tw__parallel(int64_t count, int64_t grain, void (*body)(void *context, int64_t begin, int64_t end), void *context)
{
    tw__parallel_watched(count, grain, body, context, NULL);
}
