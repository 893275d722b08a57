/* Plans: shapes of calls, where values lie, what a run allocates, what is kept of a frame, several threads at once. Random graphs
 * over values that do not fit into a tensor must give the same bits eagerly, without passes and with all, at the first call and
 * at later ones. */
#include <pthread.h>

#include "traced.h"

#include "exec/internal.h"
#include "op/calls.h"
#include "rows.h"

static const tw_dtype floats[] = { TW_FLOAT32, TW_FLOAT32 };

static tw_tensor *ramp(int64_t rows, int64_t columns, float step)
{
    tw_tensor *out = tw_tensor_new(TW_FLOAT32, TW_SHAPE(rows, columns), NULL);
    for (int64_t i = 0; i < rows * columns; i++)
        ((float *)out->data)[i] = (float)((i * 7) % 23 - 11) * step;
    return out;
}

/* x under another shape, from constants. */
static tw_tensor *shaped(tw_tensor *x, tw_ints sizes)
{
    tw_auto tw_tensor *target = tw_tensor_new(TW_INT64, TW_SHAPE(sizes.count), sizes.items);
    return TW_CALL(Reshape, x, target);
}

static tw_tensor *rows(tw_tensor *x, int64_t first, int64_t count, int64_t columns)
{
    tw_auto tw_tensor *begin = tw_tensor_new(TW_INT64, TW_SHAPE(2), (int64_t[]){ first, 0 });
    tw_auto tw_tensor *size = tw_tensor_new(TW_INT64, TW_SHAPE(2), (int64_t[]){ count, columns });
    return TW_CALL(Slice, x, begin, size);
}

static tw_tensor *call(tw__function *f, tw_tensor *const *arguments)
{
    tw_tensor *result = NULL;
    tw__function_call(f, arguments, &result);
    expect_no_error();
    return result;
}

/* ---- shapes ---- */

/* reshape(x, [size(x) / 2, 2]) * 2, flattened by its own shape */
static tw_status reshaping(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)context, (void)count;
    tw_auto tw_tensor *size = tw_size(arguments[0]);
    tw_auto tw_tensor *two = tw_tensor_int(2);
    tw_auto tw_tensor *half = TW_CALL(FloorDiv, size, two);
    tw_auto tw_tensor *target = TW_CALL(Pack, half, two);
    tw_auto tw_tensor *tall = TW_CALL(Reshape, arguments[0], target);
    tw_auto tw_tensor *factor = tw_tensor_float(2);
    tw_auto tw_tensor *twice = tw_multiply(tall, factor);
    tw_auto tw_tensor *shape = TW_CALL(Shape, arguments[0]);
    tw_auto tw_tensor *back = TW_CALL(Reshape, twice, shape);
    return give(tw_exp(back), outputs, output_count);
}

static void shapes(void **state)
{
    (void)state;
    const tw_shape partial[] = { TW_SHAPE(-1, 6) };
    tw_auto tw__function *f = tw__function_trace("f", floats, partial, 1, reshaping, NULL);
    expect_no_error();
    for (int round = 0; round < 40; round++) { /* more shapes than are kept; each comes twice */
        tw_auto tw_tensor *x = ramp(1 + round % 20, 6, 0.01f);
        tw_auto tw_tensor *y = call(f, &x), *again = call(f, &x), *factor = tw_tensor_float(2);
        tw_auto tw_tensor *twice = tw_multiply(x, factor), *expected = tw_exp(twice);
        assert_memory_equal(tw_tensor_data(y), tw_tensor_data(expected), tw_tensor_bytes(x));
        assert_memory_equal(tw_tensor_data(again), tw_tensor_data(expected), tw_tensor_bytes(x));
        assert_true(tw__shape_equal(&again->shape, &x->shape));
    }
    tw_auto tw_tensor *odd = ramp(3, 6, 1), *result = NULL;
    odd->shape = TW_SHAPE(18); /* not what the function takes: another plan, and no harm */
    odd->shape.rank = 1;
    assert_int_equal(tw__plan_run(f->plan, &odd, &result), TW_OK);
    assert_int_equal(result->shape.rank, 1);
    tw_release(result);
    result = NULL;
    tw_auto tw_tensor *number = tw_tensor_int(1);
    assert_int_equal(tw__plan_run(f->plan, &number, &result), TW_INVALID_ARGUMENT);
    tw_clear_error();
}

/* x + a random stream: its plans go on with one stream. */
static tw_status noisy(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)context, (void)count;
    tw_auto tw_tensor *shape = tw_tensor_new(TW_INT32, TW_SHAPE(1), (int32_t[]){ 4 });
    tw_attr attrs[] = { TW_A_INT("seed", 1), TW_A_INT("seed2", 2), TW_A_TYPE("dtype", TW_FLOAT32) };
    tw_auto tw_tensor *noise = tw__call(&tw__op_RandomUniform, TW_IN(shape), 1, attrs, 3);
    tw_auto tw_tensor *sum = tw_reduce_sum(noise);
    return give(tw_add(arguments[0], sum), outputs, output_count);
}

static void streams(void **state)
{
    (void)state;
    const tw_shape partial[] = { TW_SHAPE(-1) }, known[] = { TW_SHAPE(1) };
    tw_auto tw__function *f = tw__function_trace("f", floats, partial, 1, noisy, NULL),
                         *g = tw__function_trace("g", floats, known, 1, noisy, NULL);
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1), NULL);
    for (int i = 0; i < 4; i++) {
        tw_auto tw_tensor *a = call(f, &x), *b = call(g, &x);
        assert_memory_equal(tw_tensor_data(a), tw_tensor_data(b), sizeof(float));
    }
}

/* ---- a special plan from the inside ---- */

/* relu(tanh(x) @ w) + 1, all 16 x 16 */
static tw_status layered(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)context, (void)count;
    tw_auto tw_tensor *tanh = tw_tanh(arguments[0]);
    tw_auto tw_tensor *product = tw_matmul(tanh, arguments[1]);
    tw_auto tw_tensor *flat = shaped(product, TW_INTS(256));
    tw_auto tw_tensor *back = shaped(flat, TW_INTS(16, 16));
    tw_auto tw_tensor *second = tw_matmul(back, arguments[1]);
    tw_auto tw_tensor *third = tw_matmul(second, tanh);
    return give(tw_negative(third), outputs, output_count);
}

static void layout(void **state)
{
    (void)state;
    const tw_shape known[] = { TW_SHAPE(16, 16), TW_SHAPE(16, 16) };
    tw_auto tw__function *f = tw__function_trace("f", floats, known, 2, layered, NULL);
    tw_auto tw_tensor *x = ramp(16, 16, 0.1f), *w = ramp(16, 16, 0.01f);
    tw_tensor *arguments[] = { x, w };
    tw_auto tw_tensor *first = call(f, arguments);
    /* tanh, product and second overlap two by two, third takes the memory of product */
    assert_int_equal(f->plan->arena_bytes, 3 * 1024);
    assert_int_equal(tw__plan_steps(f->plan), 5);
    tw_release(call(f, arguments));
    long before = tw__alloc_count();
    for (int i = 0; i < 1000; i++) {
        tw_auto tw_tensor *again = call(f, arguments);
        assert_memory_equal(tw_tensor_data(again), tw_tensor_data(first), tw_tensor_bytes(first));
    }
    assert_int_equal(tw__alloc_count() - before, 0);
}

/* An op that keeps its input: the next use of the frame's memory must not change it. */
static tw_tensor *kept;
static tw_status keep_run(const tw__step *step, tw_tensor *const *inputs, tw_tensor **outputs)
{
    (void)step;
    tw__set(&kept, inputs[0]);
    memcpy(outputs[0]->data, inputs[0]->data, tw_tensor_bytes(inputs[0]));
    return TW_OK;
}

static void keeping(void **state)
{
    (void)state;
    const tw_shape known[] = { TW_SHAPE(16, 16), TW_SHAPE(16, 16) };
    tw_auto tw__function *f = tw__function_trace("f", floats, known, 2, layered, NULL);
    tw_auto tw_tensor *x = ramp(16, 16, 0.1f), *w = ramp(16, 16, 0.01f), *zero = ramp(16, 16, 0);
    tw_tensor *arguments[] = { x, w }, *zeros[] = { zero, zero };
    tw_release(call(f, arguments));
    tw__step *product = &f->plan->steps[2];
    assert_ptr_equal(product->op, &tw__op_MatMul);
    tw__step_set_run(product, keep_run, NULL, NULL, NULL); /* keeps the first product */
    tw_release(call(f, arguments));
    tw_auto tw_tensor *tanh = tw_tanh(x), *expected = tw_matmul(tanh, w), *was = tw_retain(kept);
    assert_memory_equal(tw_tensor_data(was), tw_tensor_data(expected), 1024);
    tw_release(call(f, zeros));
    assert_memory_equal(tw_tensor_data(was), tw_tensor_data(expected), 1024);
    tw__set(&kept, NULL);
}

/* The n-th allocation fails, of the plans for a shape and of runs: an error, and everything works afterwards. */
static void failing(void **state)
{
    (void)state;
    const tw_shape partial[] = { TW_SHAPE(-1, 6) };
    bool failed = true;
    for (long n = 1; failed && n < 2000; n++) {
        tw_auto tw__function *f = tw__function_trace("f", floats, partial, 1, reshaping, NULL);
        tw_auto tw_tensor *x = ramp(20, 6, 0.01f);
        tw__buffer_trim();
        failed = false;
        tw__alloc_fail_at(n);
        for (int i = 0; i < 3; i++) {
            tw_tensor *y = NULL;
            failed |= tw__function_call(f, &x, &y) != TW_OK;
            tw_release(y);
        }
        tw__alloc_fail_at(0);
        tw_clear_error();
        tw_auto tw_tensor *y = call(f, &x), *factor = tw_tensor_float(2);
        tw_auto tw_tensor *twice = tw_multiply(x, factor), *expected = tw_exp(twice);
        assert_memory_equal(tw_tensor_data(y), tw_tensor_data(expected), tw_tensor_bytes(x));
    }
    assert_false(failed);
}

/* ---- threads ---- */

typedef struct worker {
    tw__function *function;
    int rows;
    bool good;
} worker;

static void *work(void *context)
{
    worker *w = context;
    tw_auto tw_tensor *x = ramp(w->rows, 6, 0.01f), *factor = tw_tensor_float(2);
    tw_auto tw_tensor *twice = tw_multiply(x, factor), *expected = tw_exp(twice);
    w->good = true;
    for (int i = 0; i < 300 && w->good; i++) {
        tw_auto tw_tensor *own = ramp(1 + (w->rows * 31 + i) % 40, 6, 0.01f);
        tw_tensor *y = NULL, *other = NULL;
        w->good = tw__function_call(w->function, &x, &y) == TW_OK && memcmp(y->data, expected->data, tw_tensor_bytes(x)) == 0 &&
                  tw__function_call(w->function, &own, &other) == TW_OK;
        tw_release(y);
        tw_release(other);
    }
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    const tw_shape partial[] = { TW_SHAPE(-1, 6) };
    tw_auto tw__function *f = tw__function_trace("f", floats, partial, 1, reshaping, NULL);
    pthread_t ids[THREADS];
    worker workers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){ f, 50 + i, false };
        assert_int_equal(pthread_create(&ids[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        assert_true(workers[i].good);
    }
}

/* ---- random graphs ---- */

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

enum { POOL = 14, ROWS = 8, COLUMNS = 8 };

static tw_tensor *random_value(uint32_t *seed, tw_tensor **pool, int count, tw_variable *v)
{
    tw_tensor *a = pool[next(seed) % (uint32_t)count], *b = pool[next(seed) % (uint32_t)count];
    switch (next(seed) % 14) {
    case 0:
        return tw_add(a, b);
    case 1:
        return tw_multiply(a, b);
    case 2:
        return tw_tanh(a);
    case 3: {
        tw_auto tw_tensor *shape = TW_CALL(Shape, b);
        return TW_CALL(Reshape, a, shape);
    }
    case 4: {
        tw_auto tw_tensor *flat = shaped(a, TW_INTS(-1));
        tw_auto tw_tensor *square = tw_square(flat);
        return shaped(square, TW_INTS(ROWS, -1));
    }
    case 5:
        return tw_matmul(a, b);
    case 6:
        return tw_transpose(a);
    case 7: {
        tw_auto tw_tensor *sum = tw_reduce_sum(a, .axis = TW_INTS(0), .keepdims = true);
        return tw_add(sum, b);
    }
    case 8: { /* goes through a variable, which keeps it */
        tw_release(tw_variable_assign(v, a));
        tw_auto tw_tensor *value = tw_variable_read(v);
        return tw_maximum(value, b);
    }
    case 9:
        tw_release(tw_variable_assign_add(v, a));
        return tw_variable_read(v);
    case 10: { /* slices, as views */
        tw_auto tw_tensor *top = rows(a, 0, ROWS / 2, COLUMNS);
        tw_auto tw_tensor *bottom = rows(b, ROWS / 2, ROWS / 2, COLUMNS);
        return tw_concat(TW_TENSORS(top, bottom), 0);
    }
    case 11: {
        tw_auto tw_tensor *wide = tw_cast(a, TW_FLOAT64);
        tw_auto tw_tensor *half = tw_multiply(wide, wide);
        return tw_cast(half, TW_FLOAT32);
    }
    case 12:
        return tw_nn_softmax(a);
    default:
        return tw_subtract(a, b);
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
    *outputs = tw__alloc_array(3, sizeof **outputs);
    *output_count = made == POOL ? 2 : 0;
    for (int i = 0; made == POOL && i < 2; i++)
        (*outputs)[i] = tw_retain(pool[POOL - 1 - 3 * i]);
    for (int i = 0; i < made; i++)
        tw_release(pool[i]);
    return made == POOL ? TW_OK : tw_error_code();
}

static void random_graphs(void **state)
{
    (void)state;
    enum { CALLS = 3 };
    tw_auto tw_tensor *x = ramp(ROWS, COLUMNS, 0.01f), *y = ramp(ROWS, COLUMNS, 0.02f), *start = ramp(ROWS, COLUMNS, 0.005f);
    tw_auto tw_variable *v = tw_variable(start);
    tw_tensor *arguments[] = { x, y };
    for (uint32_t n = 0; n < 2000; n++) {
        random_graph graph = { n * 2654435761u, v };
        const tw_shape shapes_of[] = { n % 3 == 1 ? TW_SHAPE(ROWS, -1) : TW_SHAPE(ROWS, COLUMNS),
                                       n % 3 == 2 ? TW_UNKNOWN_SHAPE : TW_SHAPE(ROWS, COLUMNS) };
        tw_tensor *expected[CALLS][3] = { { NULL } };
        for (int way = 0; way < 3; way++) {
            tw_release(tw_variable_assign(v, start));
            tw__exec_passes = way == 1 ? 0 : ~0u;
            tw_auto tw__function *f = way ? tw__function_trace("random", floats, shapes_of, 2, random_body, &graph) : NULL;
            if (way && !f) { /* too little is known of the shapes to trace it */
                assert_int_equal(n % 3, 2);
                tw_clear_error();
                continue;
            }
            for (int i = 0; i < CALLS; i++) {
                tw_tensor *results[3] = { NULL };
                if (way) {
                    assert_int_equal(tw__function_call(f, arguments, results), TW_OK);
                } else {
                    tw_tensor **eager = NULL;
                    int count = 0;
                    assert_int_equal(random_body(&graph, arguments, 2, &eager, &count), TW_OK);
                    memcpy(results, eager, 2 * sizeof *eager);
                    tw__free(eager);
                }
                results[2] = tw_variable_read(v);
                for (int k = 0; k < 3; k++) {
                    if (!way)
                        expected[i][k] = tw_retain(results[k]);
                    else if (memcmp(results[k]->data, expected[i][k]->data, sizeof(float) * ROWS * COLUMNS) != 0)
                        fail_msg("graph %u differs in value %d of call %d, passes %s", n, k, i, way == 1 ? "off" : "on");
                    tw_release(results[k]);
                }
            }
        }
        for (int i = 0; i < CALLS; i++) {
            for (int k = 0; k < 3; k++)
                tw_release(expected[i][k]);
        }
    }
    tw__exec_passes = ~0u;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shapes),       cmocka_unit_test(streams), cmocka_unit_test(layout),
                                        cmocka_unit_test(keeping),      cmocka_unit_test(failing), cmocka_unit_test(threads),
                                        cmocka_unit_test(random_graphs) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
