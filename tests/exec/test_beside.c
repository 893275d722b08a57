/* Steps side by side: which ones are put together, the same bits one after the other, errors of the first in order, and an end
 * when the embedding program wants one. */
#include <thalweg.h>

#include "base/language.h"
#include "base/pause.h"
#include "traced.h"

#include "exec/internal.h"
#include "op/calls.h"
#include "rows.h"

enum { SIZE = 60 };

typedef struct loops {
    int32_t rounds[3];
} loops;

static tw_tensors below(void *user, tw_tensors in)
{
    tw_auto tw_tensor *end = tw_tensor_int(*(const int32_t *)user);
    return tw_give(tw_less(in.items[0], end));
}

static tw_tensors go_on(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_tensor *one = tw_tensor_int(1), *half = tw_tensor_float(0.5f), *sine = tw_sin(in.items[1]);
    return tw_give(tw_add(in.items[0], one), tw_add(sine, half));
}

static tw_tensor *loop(tw_tensor *start, const int32_t *rounds)
{
    tw_auto tw_tensor *zero = tw_tensor_int(0);
    tw_tensors out = tw_while(below, go_on, (void *)rounds, TW_TENSORS(zero, start));
    tw_tensor *result = out.count == 2 ? tw_retain(out.items[1]) : NULL;
    tw_tensors_free(&out);
    return result;
}

/* Three loops; what the first one gives is used before the others begin. */
static tw_status three_loops(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const loops *l = context;
    (void)count;
    tw_auto tw_tensor *a = loop(arguments[0], &l->rounds[0]), *more = tw_negative(a);
    tw_auto tw_tensor *start = tw_exp(arguments[0]), *b = loop(start, &l->rounds[1]), *c = loop(arguments[0], &l->rounds[2]);
    tw_auto tw_tensor *sum = tw_add(more, b);
    return give(tw_add(sum, c), outputs, output_count);
}

/* Factorisations of two matrices that are values of the plan themselves, so that their memory ends with them */
static tw_status matrices(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)context, (void)count;
    tw_auto tw_tensor *a = tw_add(arguments[0], arguments[1]), *b = tw_subtract(arguments[0], arguments[1]);
    tw_auto tw_tensor *x = TW_CALL(MatrixInverse, a), *y = TW_CALL(MatrixInverse, b), *z = tw_matmul(x, y);
    tw_auto tw_tensor *w = TW_CALL(Cholesky, arguments[1]);
    return give(tw_add(z, w), outputs, output_count);
}

static int lanes_of(const tw__plan *plan)
{
    int lanes = 0;
    for (int i = 0; i < plan->step_count; i++)
        lanes += plan->steps[i].lanes;
    return lanes;
}

static void same_bits(tw__function_body body, void *context, tw_tensor *const *arguments, int count, int lanes)
{
    tw_dtype dtypes[2];
    tw_shape shapes[2];
    for (int i = 0; i < count; i++) {
        dtypes[i] = arguments[i]->dtype;
        shapes[i] = arguments[i]->shape;
    }
    tw_auto tw_tensor *expected = NULL;
    for (int way = 0; way < 3; way++) { /* without, allowed but one after the other, side by side */
        tw__exec_passes = way ? ~0u : ~(unsigned)TW_PASS_BESIDE;
        tw__inter_op_threads = way == 1;
        tw_auto tw__function *f = tw__function_trace("f", dtypes, shapes, count, body, context);
        expect_no_error();
        for (int round = 0; round < 20; round++) {
            tw_tensor *result = NULL;
            assert_int_equal(tw__function_call(f, arguments, &result), TW_OK);
            if (!expected)
                expected = tw_retain(result);
            assert_memory_equal(result->data, expected->data, tw_tensor_bytes(expected));
            tw_release(result);
        }
        assert_int_equal(lanes_of(f->plan), way ? lanes : 0);
    }
    tw__exec_passes = ~0u;
}

static tw_tensor *numbers(tw_shape shape, float diagonal)
{
    tw_tensor *out = tw_tensor_new(TW_FLOAT32, shape, NULL);
    float *values = out->data;
    for (int64_t i = 0; i < out->count; i++)
        values[i] = (float)(i % SIZE * (i / SIZE) % 17) * 0.01f;
    for (int64_t i = 0; i < out->count; i++)
        values[i] += i / SIZE == i % SIZE ? diagonal : 0;
    return out;
}

static void values(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = numbers(TW_SHAPE(8), 0.5f), *a = numbers(TW_SHAPE(SIZE, SIZE), 60),
                      *b = numbers(TW_SHAPE(SIZE, SIZE), 20);
    same_bits(three_loops, &(loops){ { 500, 100, 900 } }, &x, 1, 3);
    same_bits(three_loops, &(loops){ { 0, 1, 0 } }, &x, 1, 3);
    same_bits(matrices, NULL, TW_IN(a, b), 2, 3);
}

/* Both fail: the first is told, whichever failed first. */
static void errors(void **state)
{
    (void)state;
    tw_auto tw_tensor *zero = tw_tensor_new(TW_FLOAT32, TW_SHAPE(SIZE, SIZE), NULL), *good = numbers(TW_SHAPE(SIZE, SIZE), 60);
    tw_dtype dtypes[] = { TW_FLOAT32, TW_FLOAT32 };
    tw_shape shapes[] = { zero->shape, zero->shape };
    tw_auto tw__function *f = tw__function_trace("f", dtypes, shapes, 2, matrices, NULL);
    for (int round = 0; round < 50; round++) {
        tw_tensor *result = NULL;
        assert_int_equal(tw__function_call(f, TW_IN(zero, zero), &result), TW_INVALID_ARGUMENT);
        assert_null(result);
        expect_error(TW_INVALID_ARGUMENT, "Detected at node MatrixInverse defined at");
        assert_int_equal(tw__function_call(f, TW_IN(good, good), &result), TW_INVALID_ARGUMENT);
        expect_error(TW_INVALID_ARGUMENT, "Detected at node MatrixInverse_1 defined at");
        assert_null(result);
    }
}

static tw_status enough(void)
{
    return tw__fail(TW_ABORTED, "enough");
}

/* Loops without an end, in all threads */
static void interruption(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = numbers(TW_SHAPE(8), 0.5f);
    tw_tensor *result = NULL;
    for (int round = 0; round < 2; round++) {
        loops l = { { round ? 1 : INT32_MAX, INT32_MAX, INT32_MAX } };
        tw_auto tw__function *f = tw__function_trace("f", &x->dtype, &x->shape, 1, three_loops, &l);
        expect_no_error();
        tw__language.interrupted = enough;
        assert_int_equal(tw__function_call(f, &x, &result), TW_ABORTED);
        tw__language.interrupted = NULL;
        expect_error(TW_ABORTED, "enough");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(values), cmocka_unit_test(errors), cmocka_unit_test(interruption) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
