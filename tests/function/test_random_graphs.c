/* 2,000 random graphs with branches, loops, cases, nested functions, variables and several dtypes: eagerly, traced with all of
 * the planner's passes, and traced with none, the results are equal bit for bit; gradients agree. */
#include "test.h"

#include <thalweg/thalweg.h>

#include "exec/exec.h"

enum { GRAPHS = 2000, VALUES = 9, DEPTH = 2 };

typedef struct block {
    uint32_t seed;
    int depth;
    tw_variable *variable;
    tw_tensor *a, *b; /* float32 [2, 3] */
} block;

static tw_tensor *block_value(const block *k);

static uint32_t next(uint32_t *seed, uint32_t limit)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) % limit;
}

/* ---- bodies of branches, loops and functions ---- */

static tw_tensors variant(const block *k, uint32_t number)
{
    block inner = *k;
    inner.seed = k->seed * 31 + number;
    return tw_give(block_value(&inner));
}

static tw_tensors first_body(void *user, tw_tensors in)
{
    (void)in;
    return variant(user, 1);
}

static tw_tensors second_body(void *user, tw_tensors in)
{
    (void)in;
    return variant(user, 2);
}

static tw_tensors third_body(void *user, tw_tensors in)
{
    (void)in;
    return tw_give(tw_negative(((block *)user)->a));
}

static tw_tensors loop_condition(void *user, tw_tensors in)
{
    tw_auto tw_tensor *end = tw_tensor_int((int32_t)(((block *)user)->seed % 3 + 1));
    return tw_give(tw_less(in.items[0], end));
}

static tw_tensors loop_body(void *user, tw_tensors in)
{
    block inner = *(block *)user;
    inner.a = in.items[1];
    tw_auto tw_tensor *one = tw_tensor_int(1);
    return tw_give(tw_add(in.items[0], one), block_value(&inner));
}

static tw_tensors function_body(void *user, tw_tensors in)
{
    block inner = *(block *)user;
    inner.a = in.items[0];
    inner.b = in.items[1];
    return tw_give(block_value(&inner));
}

static tw_tensor *only(tw_tensors values, int place)
{
    tw_tensor *value = values.items ? tw_retain(values.items[place]) : NULL;
    tw_tensors_free(&values);
    return value;
}

/* ---- values ---- */

static tw_tensor *in_dtype(tw_tensor *a, tw_tensor *b, tw_dtype dtype, uint32_t which)
{
    tw_auto tw_tensor *scale = tw_tensor_float(dtype == TW_FLOAT64 || dtype == TW_FLOAT16 ? 1 : 7), *bounded = tw_tanh(a),
                      *other = tw_tanh(b);
    tw_auto tw_tensor *x = tw_multiply(bounded, scale), *y = tw_multiply(other, scale), *p = tw_cast(x, dtype),
                      *q = tw_cast(y, dtype);
    tw_auto tw_tensor *result = which == 0   ? tw_add(p, q)
                                : which == 1 ? tw_multiply(p, q)
                                : which == 2 ? tw_maximum(p, q)
                                             : tw_subtract(p, q);
    tw_auto tw_tensor *back = tw_cast(result, TW_FLOAT32), *small = tw_tensor_float(0.0625f);
    return tw_multiply(back, small);
}

static tw_tensor *greater_sum(tw_tensor *a, tw_tensor *b)
{
    tw_auto tw_tensor *x = tw_reduce_sum(a), *y = tw_reduce_sum(b);
    return tw_greater(x, y);
}

static tw_tensor *control(uint32_t *seed, const block *k)
{
    uint32_t which = next(seed, 4);
    block inner = *k;
    inner.depth++;
    inner.seed = *seed;
    if (which == 0) {
        tw_auto tw_tensor *truth = greater_sum(k->a, k->b);
        return only(tw_cond(truth, first_body, next(seed, 2) ? second_body : third_body, &inner), 0);
    }
    if (which == 1) {
        tw_auto tw_tensor *zero = tw_tensor_int(0), *limit = tw_tensor_int(2);
        const tw_shape invariants[] = { TW_SCALAR, TW_SHAPE(2, -1) };
        return only(tw_while(loop_condition, loop_body, &inner, TW_TENSORS(zero, k->a),
                             .maximum_iterations = next(seed, 2) ? limit : NULL, .shape_invariants = invariants),
                    1);
    }
    if (which == 2) {
        tw_auto tw_tensor *truth = greater_sum(k->b, k->a), *number = tw_cast(truth, TW_INT32),
                          *more = tw_tensor_int((int32_t)next(seed, 2));
        tw_auto tw_tensor *index = tw_add(number, more);
        return only(tw_switch_case(index, (const tw_body[]){ first_body, third_body, second_body }, 3, &inner), 0);
    }
    tw_auto tw_function *f = tw_function_new(function_body, &inner, .name = "inner");
    return tw_function_value(f, TW_TENSORS(k->a, k->b));
}

static tw_tensor *new_value(uint32_t *seed, const block *k)
{
    tw_tensor *a = k->a, *b = k->b;
    switch (next(seed, k->depth < DEPTH ? 15 : 12)) {
    case 0:
        return tw_add(a, b);
    case 1:
        return tw_subtract(a, b);
    case 2:
        return tw_multiply(a, b);
    case 3:
        return tw_tanh(a);
    case 4:
        return tw_maximum(a, b);
    case 5:
        return in_dtype(a, b, TW_FLOAT64, next(seed, 4));
    case 6:
        return in_dtype(a, b, TW_INT32, next(seed, 4));
    case 7:
        return in_dtype(a, b, TW_INT64, next(seed, 4));
    case 8: {
        tw_auto tw_tensor *mean = tw_reduce_mean(a, .axis = TW_INTS(1), .keepdims = true);
        return tw_subtract(b, mean);
    }
    case 9: {
        tw_auto tw_tensor *value = tw_variable_read(k->variable);
        return tw_add(a, value);
    }
    case 10: {
        tw_auto tw_tensor *little = tw_tensor_float(0.125f);
        tw_release(tw_variable_assign_add(k->variable, little));
        return tw_negative(b);
    }
    case 11: {
        tw_auto tw_tensor *condition = tw_greater(a, b);
        return tw_where(condition, a, b);
    }
    default:
        return control(seed, k);
    }
}

static tw_tensor *block_value(const block *k)
{
    uint32_t seed = k->seed;
    tw_tensor *pool[VALUES] = { tw_retain(k->a), tw_retain(k->b) };
    int made = 2, count = k->depth ? VALUES / 2 : VALUES;
    for (; made < count; made++) {
        block here = *k;
        here.a = pool[next(&seed, (uint32_t)made)];
        here.b = pool[next(&seed, (uint32_t)made)];
        here.seed = seed;
        pool[made] = new_value(&seed, &here);
        if (!pool[made])
            break;
    }
    tw_tensor *result = made == count ? tw_tanh(pool[made - 1]) : NULL;
    for (int i = 0; i < made; i++)
        tw_release(pool[i]);
    return result;
}

/* ---- three ways to run ---- */

static tw_tensor *run(const block *k, bool traced, tw_tensor *x, tw_tensor *y, double *slopes)
{
    tw_auto tw_tensor *start = tw_tensor_float(1);
    tw_auto tw_variable *variable = tw_variable(start);
    block own = *k;
    own.variable = variable;
    own.a = x;
    own.b = y;
    tw_auto tw_function *f =
        tw_function_new(function_body, &own,
                        .signature = TW_SPECS({ TW_FLOAT32, TW_SHAPE(2, k->seed % 2 ? 3 : -1) }, { TW_FLOAT32, TW_SHAPE(2, 3) }));
    expect_no_error();
    tw_auto tw_tape *tape = slopes ? tw_tape_start() : NULL;
    if (tape)
        tw_tape_watch(tape, TW_OBJECTS(x, y));
    tw_tensor *result = traced ? tw_function_value(f, TW_TENSORS(x, y)) : block_value(&own);
    expect_no_error();
    assert_non_null(result);
    if (!tape)
        return result;
    tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(result), TW_OBJECTS(x, y));
    expect_no_error();
    for (int i = 0; i < 12; i++)
        slopes[i] = g.items[i / 6] ? tw_tensor_double_at(g.items[i / 6], i % 6) : 0;
    tw_tensors_free(&g);
    return result;
}

static void random_graphs(void **state)
{
    (void)state;
    const float a[] = { 0.5f, -1, 2, 0.25f, -0.75f, 1 }, b[] = { 1, 0.5f, -0.5f, 2, -1, 0.125f };
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 3), a), *y = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 3), b);
    for (uint32_t n = 0; n < GRAPHS; n++) {
        block k = { .seed = n * 2654435761u + n % 2 };
        tw_auto tw_tensor *eager = run(&k, false, x, y, NULL), *fast = run(&k, true, x, y, NULL);
        unsigned passes = tw__exec_passes;
        tw__exec_passes = 0;
        tw_auto tw_tensor *plain = run(&k, true, x, y, NULL);
        tw__exec_passes = passes;
        if (memcmp(tw_tensor_data(eager), tw_tensor_data(fast), sizeof a) != 0 ||
            memcmp(tw_tensor_data(eager), tw_tensor_data(plain), sizeof a) != 0)
            fail_msg("graph %u: eagerly %g, traced %g, without passes %g", n, tw_tensor_double_at(eager, 0),
                     tw_tensor_double_at(fast, 0), tw_tensor_double_at(plain, 0));
        if (n % 4)
            continue;
        double right[12], got[12];
        tw_release(run(&k, false, x, y, right));
        tw_release(run(&k, true, x, y, got));
        for (int i = 0; i < 12; i++) {
            if (fabs(right[i] - got[i]) > 1e-4 * (1 + fabs(right[i])))
                fail_msg("graph %u: gradient %d is %g eagerly, %g traced", n, i, right[i], got[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_graphs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
