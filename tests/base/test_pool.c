/* The worker threads: every index once, the same chunks each time, calls from inside and from several threads, forks. */
#include "test.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"

typedef struct marks {
    _Atomic int *counts;
    _Atomic int64_t chunks;
    _Atomic uint64_t boundaries;
} marks;

static void mark(void *context, int64_t begin, int64_t end)
{
    marks *m = context;
    for (int64_t i = begin; i < end; i++)
        atomic_fetch_add(&m->counts[i], 1);
    atomic_fetch_add(&m->chunks, 1);
    atomic_fetch_xor(&m->boundaries, (uint64_t)begin * 0x9e3779b97f4a7c15u + (uint64_t)end);
}

static uint64_t cover(int64_t count, int64_t grain)
{
    marks m = { .counts = tw__alloc_array((size_t)count + 1, sizeof(_Atomic int)) };
    assert_non_null(m.counts);
    tw__parallel(count, grain, mark, &m);
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(m.counts[i], 1);
    assert_true(m.chunks <= count / (grain ? grain : 1) + 1);
    tw__free((void *)m.counts);
    return m.boundaries;
}

static void covers_every_index_once(void **state)
{
    (void)state;
    int64_t counts[] = { 0, 1, 2, 7, 100, 1000, 99991 }, grains[] = { 0, 1, 3, 64, 100000 };
    for (int threads = 1; threads <= 5; threads++) {
        tw__thread_count_set(threads);
        assert_int_equal(tw__thread_count(), threads);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            for (size_t g = 0; g < sizeof grains / sizeof *grains; g++)
                assert_true(cover(counts[c], grains[g]) == cover(counts[c], grains[g]));
        }
    }
}

static void nested(void *context, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++) {
        cover(100, 5);
        atomic_fetch_add((_Atomic int64_t *)context, 1);
    }
}

static void calls_from_inside_run_there(void **state)
{
    (void)state;
    _Atomic int64_t done = 0;
    tw__thread_count_set(3);
    tw__parallel(200, 1, nested, &done);
    assert_int_equal(done, 200);
}

static void *many_jobs(void *context)
{
    (void)context;
    for (int i = 0; i < 300; i++)
        cover(500, 10);
    return NULL;
}

static void several_callers(void **state)
{
    (void)state;
    pthread_t threads[4];
    tw__thread_count_set(4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, many_jobs, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void sleeping_workers_wake_up(void **state)
{
    (void)state;
    tw__thread_count_set(3);
    for (int i = 0; i < 5; i++) {
        cover(1000, 10);
        usleep(3000);
    }
}

static void a_forked_child_has_its_own(void **state)
{
    (void)state;
    tw__thread_count_set(3);
    cover(1000, 10);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        cover(1000, 10);
        _exit(7);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    cover(1000, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covers_every_index_once),
        cmocka_unit_test(calls_from_inside_run_there),
        cmocka_unit_test(several_callers),
        cmocka_unit_test(sleeping_workers_wake_up),
        cmocka_unit_test(a_forked_child_has_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
