/* Threads that call, trace and differentiate the same functions for the first time. Run under ThreadSanitizer by `make tsan`. */
#include <thalweg/thalweg.h>

#include "test.h"

enum { ROUNDS = 12, THREADS = 4 };

static tw_tensors cube(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_tensor *square = tw_multiply(in.items[0], in.items[0]);
    return tw_give(tw_multiply(square, in.items[0]));
}

static tw_tensors positive(void *user, tw_tensors in)
{
    (void)in;
    return tw_give(tw_tanh(user));
}

static tw_tensors negative(void *user, tw_tensors in)
{
    (void)in;
    tw_auto tw_tensor *square = tw_multiply(user, user);
    return tw_give(tw_negative(square));
}

static tw_tensors below(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_tensor *limit = tw_tensor_int(3);
    return tw_give(tw_less(in.items[0], limit));
}

static tw_tensors grow(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_tensor *one = tw_tensor_int(1);
    return tw_give(tw_add(in.items[0], one), tw_multiply(in.items[1], in.items[1]));
}

/* A call, a branch and a loop: nodes that derivatives give richer forms. */
static tw_tensors whole(void *user, tw_tensors in)
{
    tw_auto tw_tensor *inner = tw_function_value(user, in), *zero = tw_tensor_float(0),
                      *is_positive = tw_greater(in.items[0], zero);
    tw_tensors branch = tw_cond(is_positive, positive, negative, in.items[0]);
    tw_auto tw_tensor *first = tw_tensor_int(0), *sum = branch.count ? tw_add(inner, branch.items[0]) : NULL;
    tw_tensors loop = { 0 };
    if (sum && first)
        loop = tw_while(below, grow, NULL, TW_TENSORS(first, in.items[0]));
    tw_tensors out = loop.count ? tw_give(tw_add(sum, loop.items[1])) : TW_GIVE_FAILURE;
    tw_tensors_free(&branch);
    tw_tensors_free(&loop);
    return out;
}

typedef struct work {
    tw_function *function;
    int order;
    double value;
    pthread_barrier_t *start;
} work;

/* The derivative of that order at 0.5; NaN after a failure. */
static void *derive(void *context)
{
    work *w = context;
    tw_auto tw_tensor *x = tw_tensor_float(0.5f);
    tw_tape *tapes[3] = { NULL };
    pthread_barrier_wait(w->start);
    for (int i = 0; i < w->order; i++) {
        tapes[i] = tw_tape_start();
        tw_tape_watch(tapes[i], TW_OBJECTS(x));
    }
    tw_tensor *y = tw_function_value(w->function, TW_TENSORS(x));
    for (int i = w->order - 1; i >= 0; i--) {
        tw_tensors gradient = y ? tw_tape_gradient(tapes[i], TW_OBJECTS(y), TW_OBJECTS(x)) : (tw_tensors){ 0 };
        tw_release(y);
        y = gradient.count == 1 ? tw_retain(gradient.items[0]) : NULL;
        tw_tensors_free(&gradient);
        tw_release(tapes[i]);
    }
    w->value = y ? tw_tensor_double_at(y, 0) : NAN;
    tw_release(y);
    tw_clear_error();
    return NULL;
}

static void test_first_calls_and_derivatives(void **state)
{
    (void)state;
    double expected[3] = { 0 };
    for (int round = 0; round < ROUNDS; round++) {
        tw_auto tw_function *inner = tw_function_new(cube, NULL, .name = "cube");
        tw_auto tw_function *f = tw_function_new(whole, inner, .name = "whole");
        pthread_barrier_t start;
        pthread_t threads[THREADS];
        work works[THREADS];
        int count = round ? THREADS : 1;
        if (!round) { /* alone, for the values */
            for (int order = 0; order < 3; order++) {
                pthread_barrier_init(&start, NULL, 1);
                works[0] = (work){ f, order, 0, &start };
                derive(&works[0]);
                expected[order] = works[0].value;
                assert_false(isnan(expected[order]));
                pthread_barrier_destroy(&start);
            }
            continue;
        }
        pthread_barrier_init(&start, NULL, (unsigned)count);
        for (int i = 0; i < count; i++) {
            works[i] = (work){ f, (i + round) % 3, 0, &start };
            assert_int_equal(pthread_create(&threads[i], NULL, derive, &works[i]), 0);
        }
        for (int i = 0; i < count; i++)
            pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&start);
        for (int i = 0; i < count; i++)
            assert_float_equal(works[i].value, expected[works[i].order], 1e-5);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_first_calls_and_derivatives) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
