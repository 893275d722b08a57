/* The planner's passes: each on a small graph, by the number of steps it leaves; then 2,000 random graphs that must give the same
 * bits run eagerly, with all passes and with none. */
#include "traced.h"

#include "op/calls.h"
#include "rows.h"

static const tw_dtype one_float[] = { TW_FLOAT32 };
static const tw_shape scalar[] = { { .rank = 0 } };

/* The number of steps, and the result for x = 3. */
static int steps_of(tw__function_body body, void *context, double expected)
{
    tw_auto tw__function *f = tw__function_trace("f", one_float, scalar, 1, body, context);
    expect_no_error();
    tw_auto tw_tensor *x = tw_tensor_float(3);
    tw_tensor *y = NULL;
    assert_int_equal(tw__function_call(f, &x, &y), TW_OK);
    assert_float_equal(tw_tensor_double_at(y, 0), expected, 1e-5);
    tw_release(y);
    return tw__plan_steps(f->plan);
}

static tw_status unused(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)context, (void)count;
    tw_release(tw_exp(arguments[0]));
    return give(tw_negative(arguments[0]), outputs, output_count);
}

static tw_status identities(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)context, (void)count;
    tw_auto tw_tensor *a = tw_identity(arguments[0]);
    tw_auto tw_tensor *b = tw_stop_gradient(a);
    return give(tw_negative(b), outputs, output_count);
}

/* What is like a value of known shape does not need the value. */
static tw_status likes(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)context, (void)count;
    tw_auto tw_tensor *a = tw_exp(arguments[0]);
    tw_auto tw_tensor *ones = TW_CALL(OnesLike, a);
    tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, a);
    tw_auto tw_tensor *sum = tw_add(ones, zeros);
    return give(tw_subtract(sum, arguments[0]), outputs, output_count);
}

static tw_status constants(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)context, (void)count;
    tw_auto tw_tensor *two = tw_tensor_float(2);
    tw_auto tw_tensor *symbolic = tw__graph_constant(tw__tracing, two, "two");
    tw_auto tw_tensor *square = tw_multiply(symbolic, symbolic);
    tw_auto tw_tensor *eight = tw_multiply(square, symbolic);
    return give(tw_add(arguments[0], eight), outputs, output_count);
}

static tw_status twice(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)context, (void)count;
    tw_auto tw_tensor *a = tw_square(arguments[0]);
    tw_auto tw_tensor *b = tw_square(arguments[0]);
    return give(tw_add(a, b), outputs, output_count);
}

/* v + (v += 1): the two reads differ */
static tw_status reads(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)count;
    tw_auto tw_tensor *a = tw_variable_read(context);
    tw_auto tw_tensor *again = tw_variable_read(context);
    tw_release(tw_variable_assign_add(context, arguments[0]));
    tw_auto tw_tensor *b = tw_variable_read(context);
    tw_auto tw_tensor *sum = tw_add(a, again);
    return give(tw_add(sum, b), outputs, output_count);
}

/* tanh(0.5 x + 0.25) + relu(x) */
static tw_status chain(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)context, (void)count;
    tw_auto tw_tensor *half = tw_tensor_float(0.5f);
    tw_auto tw_tensor *quarter = tw_tensor_float(0.25f);
    tw_auto tw_tensor *product = tw_multiply(half, arguments[0]);
    tw_auto tw_tensor *sum = tw_add(product, quarter);
    tw_auto tw_tensor *tanh = tw_tanh(sum);
    tw_auto tw_tensor *relu = tw_nn_relu(arguments[0]);
    return give(tw_add(tanh, relu), outputs, output_count);
}

static void fusion(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    static float values[MANY];
    for (int i = 0; i < MANY; i++)
        values[i] = (float)(i - 2500) * 0.01f;
    tw_shape shape = TW_SHAPE(MANY);
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, shape, values);
    tw_tensor *results[3] = { NULL }, **eager = NULL;
    int count = 0;
    for (int way = 0; way < 2; way++) {
        tw__exec_passes = way ? 0 : ~0u;
        tw_auto tw__function *f = tw__function_trace("chain", one_float, &shape, 1, chain, NULL);
        assert_int_equal(tw__function_call(f, &x, &results[way]), TW_OK);
        assert_int_equal(tw__plan_steps(f->plan), way ? 5 : 1);
    }
    tw__exec_passes = ~0u;
    assert_int_equal(chain(NULL, &x, 1, &eager, &count), TW_OK);
    results[2] = eager[0];
    tw__free(eager);
    for (int way = 1; way < 3; way++)
        assert_memory_equal(tw_tensor_data(results[0]), tw_tensor_data(results[way]), sizeof values);
    for (int way = 0; way < 3; way++)
        tw_release(results[way]);
}

static void each_pass(void **state)
{
    (void)state;
    tw__exec_passes = ~0u & ~(unsigned)TW_PASS_FUSE;
    assert_int_equal(steps_of(unused, NULL, -3), 1);
    assert_int_equal(steps_of(identities, NULL, -3), 1);
    assert_int_equal(steps_of(constants, NULL, 11), 1);
    assert_int_equal(steps_of(twice, NULL, 18), 2);
    assert_int_equal(steps_of(likes, NULL, -2), 1); /* the difference: the sum is one of constants */
    tw_auto tw_tensor *ten = tw_tensor_float(10);
    tw_auto tw_variable *v = tw_variable(ten);
    assert_int_equal(steps_of(reads, v, 10 + 10 + 13), 5); /* two reads, the assignment, two sums */
    tw__exec_passes = 0;
    assert_int_equal(steps_of(identities, NULL, -3), 3);
    assert_int_equal(steps_of(constants, NULL, 11), 3);
    assert_int_equal(steps_of(twice, NULL, 18), 3);
    assert_int_equal(steps_of(likes, NULL, -2), 5);
    tw__exec_passes = ~0u;
}

/* ---- random graphs ---- */

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

enum { POOL = 12 };

/* A value of shape [2, 3] from values of that shape. */
static tw_tensor *random_value(uint32_t *seed, tw_tensor **pool, int count, tw_variable *v)
{
    tw_tensor *a = pool[next(seed) % (uint32_t)count], *b = pool[next(seed) % (uint32_t)count];
    switch (next(seed) % 20) {
    case 0:
        return tw_add(a, b);
    case 1:
        return tw_multiply(a, b);
    case 2:
        return tw_subtract(a, b);
    case 3:
        return tw_maximum(a, b);
    case 4:
        return tw_tanh(a);
    case 5:
        return tw_identity(a);
    case 6: {
        tw_auto tw_tensor *sum = tw_reduce_sum(a, .axis = TW_INTS(1), .keepdims = true);
        return tw_add(sum, b);
    }
    case 7: {
        tw_auto tw_tensor *product = tw_matmul(a, b, .transpose_b = true); /* [2, 2] */
        return tw_matmul(product, a);
    }
    case 8: {
        tw_auto tw_tensor *t = tw_transpose(a);
        tw_auto tw_tensor *c = tw_square(t);
        return tw_transpose(c);
    }
    case 9:
        return tw_nn_softmax(a);
    case 10: {
        tw_auto tw_tensor *half = tw_tensor_float(0.5f);
        return tw_multiply(a, half);
    }
    case 11: {
        tw_auto tw_tensor *value = tw_variable_read(v);
        return tw_add(a, value);
    }
    case 12: {
        tw_auto tw_tensor *small = tw_tensor_float(0.125f);
        tw_release(tw_variable_assign_add(v, small));
        return tw_negative(a);
    }
    case 13: {                                                            /* a product, a bias, an activation */
        tw_auto tw_tensor *square = tw_matmul(a, b, .transpose_a = true); /* [3, 3] */
        tw_auto tw_tensor *product = tw_matmul(b, square);
        tw_auto tw_tensor *bias = tw_reduce_sum(a, .axis = TW_INTS(0));
        tw_auto tw_tensor *sum = TW_CALL(BiasAdd, product, bias);
        return next(seed) % 2 ? tw_nn_relu(sum) : tw_sigmoid(sum);
    }
    case 14: {                                  /* transposes before and after a product */
        tw_auto tw_tensor *t = tw_transpose(a); /* [3, 2] */
        tw_auto tw_tensor *square = tw_matmul(b, t);
        tw_auto tw_tensor *turned = tw_transpose(square);
        return tw_matmul(turned, next(seed) % 2 ? a : b);
    }
    case 15: { /* there and back */
        const int32_t flat[] = { -1 }, back[] = { 2, 3 };
        tw_auto tw_tensor *flat_shape = tw_tensor_new(TW_INT32, TW_SHAPE(1), flat);
        tw_auto tw_tensor *back_shape = tw_tensor_new(TW_INT32, TW_SHAPE(2), back);
        tw_auto tw_tensor *once = tw_reshape(a, flat_shape);
        tw_auto tw_tensor *twice_reshaped = tw_reshape(once, back_shape);
        return next(seed) % 2 ? tw_reshape(twice_reshaped, back_shape) : tw_negative(twice_reshaped);
    }
    case 16: { /* what changes nothing, or nearly */
        tw_auto tw_tensor *one = tw_tensor_float(1);
        tw_auto tw_tensor *zero = tw_tensor_float(0);
        tw_auto tw_tensor *product = tw_multiply(one, a);
        tw_auto tw_tensor *cast = tw_cast(product, TW_FLOAT32);
        return next(seed) % 2 ? tw_subtract(cast, zero) : tw_add(cast, zero);
    }
    case 17: { /* ones and zeros */
        tw_auto tw_tensor *ones = TW_CALL(OnesLike, a);
        tw_auto tw_tensor *zeros = TW_CALL(ZerosLike, b);
        tw_auto tw_tensor *sum = tw_add(ones, zeros);
        return tw_multiply(sum, next(seed) % 2 ? a : b);
    }
    case 18: { /* denormal numbers */
        tw_auto tw_tensor *small = tw_tensor_float(1e-30f);
        tw_auto tw_tensor *once = tw_multiply(a, small);
        tw_auto tw_tensor *denormal = tw_multiply(once, small);
        return tw_add(denormal, b);
    }
    default: {
        tw_auto tw_tensor *condition = tw_greater(a, b);
        return tw_where(condition, a, b);
    }
    }
}

typedef struct random_graph {
    uint32_t seed;
    tw_variable *variable;
} random_graph;

static tw_status random_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    random_graph *graph = context;
    uint32_t seed = graph->seed;
    tw_tensor *pool[POOL] = { tw_retain(arguments[0]), tw_retain(arguments[1]) };
    assert_int_equal(count, 2);
    int made = 2;
    while (made < POOL && (pool[made] = random_value(&seed, pool, made, graph->variable)))
        made++;
    tw_tensor *result = made == POOL ? tw_retain(pool[POOL - 1]) : NULL;
    for (int i = 0; i < made; i++)
        tw_release(pool[i]);
    return give(result, outputs, output_count);
}

static tw_tensor *run_traced(random_graph *graph, tw_tensor *const *arguments)
{
    static const tw_dtype dtypes[] = { TW_FLOAT32, TW_FLOAT32 };
    const tw_shape shapes[] = { TW_SHAPE(2, graph->seed % 2 ? 3 : -1), TW_SHAPE(2, 3) };
    tw_auto tw__function *f = tw__function_trace("random", dtypes, shapes, 2, random_body, graph);
    tw_tensor *result = NULL;
    if (f)
        tw__function_call(f, arguments, &result);
    expect_no_error();
    return result;
}

static void random_graphs(void **state)
{
    (void)state;
    const float a[] = { 0.5f, -1, 2, 0.25f, -0.75f, 1 }, b[] = { 1, 0.5f, -0.5f, 2, -1, 0.125f };
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 3), a);
    tw_auto tw_tensor *y = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 3), b);
    tw_auto tw_tensor *start = tw_tensor_float(1);
    tw_auto tw_variable *v = tw_variable(start);
    tw_tensor *arguments[] = { x, y };
    for (uint32_t n = 0; n < 2000; n++) {
        random_graph graph = { n * 2654435761u, v };
        tw_tensor *results[3] = { NULL }, **eager = NULL;
        float after[3];
        for (int way = 0; way < 3; way++) {
            tw_release(tw_variable_assign(v, start));
            int count = 0;
            if (way == 0) {
                assert_int_equal(random_body(&graph, arguments, 2, &eager, &count), TW_OK);
                results[0] = eager[0];
                tw__free(eager);
            } else {
                tw__exec_passes = way == 1 ? ~0u : 0;
                results[way] = run_traced(&graph, arguments);
            }
            tw_auto tw_tensor *value = tw_variable_read(v);
            after[way] = (float)tw_tensor_double_at(value, 0);
        }
        tw__exec_passes = ~0u;
        for (int way = 1; way < 3; way++) {
            assert_int_equal(tw_tensor_count(results[way]), 6);
            if (memcmp(tw_tensor_data(results[0]), tw_tensor_data(results[way]), 24) != 0 || after[0] != after[way])
                fail_msg("graph %u differs, passes %s", n, way == 1 ? "on" : "off");
        }
        for (int way = 0; way < 3; way++)
            tw_release(results[way]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_pass), cmocka_unit_test(fusion), cmocka_unit_test(random_graphs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
