/* Adam's calls joined into one step: how many steps there are, the same bits as eagerly and without the pass, and when it keeps
 * away. */
#include "test.h"

#include "exec/internal.h"
#include "function/function.h"
#include "keras/keras.h"
#include "keras/optimizers/optimizers.h"
#include "op/calls.h"
#include "rows.h"

enum { SMALL = 7, LARGE = 40000, STEPS = 5 };

typedef struct training {
    tw_optimizer *optimizer;
    tw_variable *variables[3];
    bool looks; /* the body reads a moment while the update is under way */
    tw_tensor *seen;
} training;

static float small_values[SMALL], large_values[LARGE];

static void fill(void)
{
    for (int i = 0; i < LARGE; i++)
        large_values[i] = (float)((i * 37) % 1001 - 500) * 0.003f;
    for (int i = 0; i < SMALL; i++)
        small_values[i] = (float)i * 0.25f - 1;
}

static tw_variable *new_variable(tw_dtype dtype, tw_shape shape, const float *values)
{
    tw_auto tw_tensor *floats = tw_tensor_new(TW_FLOAT32, shape, values);
    tw_auto tw_tensor *value = tw_cast(floats, dtype);
    return tw_variable(value);
}

static void start(training *t, tw_optimizer *optimizer, tw_dtype dtype)
{
    *t = (training){ .optimizer = optimizer };
    t->variables[0] = new_variable(dtype, TW_SHAPE(LARGE), large_values);
    t->variables[1] = new_variable(dtype, TW_SHAPE(SMALL), small_values);
    t->variables[2] = new_variable(dtype, TW_SCALAR, small_values);
    expect_no_error();
}

static void end(training *t)
{
    for (int i = 0; i < 3; i++)
        tw_release(t->variables[i]);
    tw_release(t->optimizer);
}

/* The gradient of each variable is sin(variable) times the argument. */
static tw_status body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    training *t = context;
    tw_tensor *gradients[3];
    (void)count;
    for (int i = 0; i < 3; i++) {
        tw_auto tw_tensor *value = tw_variable_read(t->variables[i]);
        tw_auto tw_tensor *sine = tw_sin(value);
        tw_auto tw_tensor *factor = tw_cast(arguments[0], value->dtype);
        gradients[i] = tw_multiply(sine, factor);
    }
    tw_objects variables = { (void **)t->variables, 3 };
    tw_tensors all = { gradients, 3 };
    tw_release(tw_optimizer_apply_gradients(t->optimizer, all, variables));
    for (int i = 0; i < 3; i++)
        tw_release(gradients[i]);
    tw_tensor *result = tw_variable_read(t->variables[1]);
    *outputs = tw__alloc_array(1, sizeof **outputs);
    (*outputs)[0] = result;
    *output_count = 1;
    return result ? TW_OK : tw_error_code();
}

static int joined(const tw__plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->step_count; i++)
        count += plan->steps[i].label && strcmp(plan->steps[i].label, "Adam") == 0;
    return count;
}

/* way 0: eagerly, 1: with passes, 2: without */
static void train(training *t, int way, int expected)
{
    static const tw_dtype dtypes[] = { TW_FLOAT32 };
    static const tw_shape shapes[] = { { .rank = 0 } };
    tw_objects variables = { (void **)t->variables, 3 };
    assert_int_equal(tw_optimizer_build(t->optimizer, variables), TW_OK);
    tw__exec_passes = way == 2 ? 0 : ~0u;
    tw_auto tw__function *f = way ? tw__function_trace("train", dtypes, shapes, 1, body, t) : NULL;
    expect_no_error();
    for (int n = 0; n < STEPS; n++) {
        tw_auto tw_tensor *x = tw_tensor_float(1.5f - (float)n);
        if (way) {
            tw_tensor *result = NULL;
            assert_int_equal(tw__function_call(f, &x, &result), TW_OK);
            tw_release(result);
        } else {
            tw_tensor **results;
            int count;
            assert_int_equal(body(t, &x, 1, &results, &count), TW_OK);
            tw_release(results[0]);
            tw__free(results);
        }
    }
    if (way == 1)
        assert_int_equal(joined(f->plan), expected);
    tw__exec_passes = ~0u;
}

static void expect_same(const tw_tensor *a, const tw_tensor *b)
{
    assert_int_equal(tw_tensor_count(a), tw_tensor_count(b));
    assert_memory_equal(tw_tensor_data(a), tw_tensor_data(b), (size_t)tw_tensor_count(a) * tw_dtype_size(tw_tensor_dtype(a)));
}

static tw_optimizer *new_adam(bool amsgrad, bool decays)
{
    return decays ? tw_optimizers_adam(.learning_rate = .01, .weight_decay = .1, .global_clipnorm = 2)
                  : tw_optimizers_adam(.learning_rate = .01, .amsgrad = amsgrad);
}

static void compare(tw_dtype dtype, bool amsgrad, bool decays, int expected)
{
    training ways[3];
    for (int way = 0; way < 3; way++) {
        start(&ways[way], new_adam(amsgrad, decays), dtype);
        train(&ways[way], way, expected);
    }
    for (int way = 1; way < 3; way++) {
        for (int i = 0; i < 3; i++) {
            expect_same(ways[0].variables[i]->resource->value, ways[way].variables[i]->resource->value);
            for (int k = 0; k < 2; k++)
                expect_same(ways[0].optimizer->slots[k][i]->resource->value, ways[way].optimizer->slots[k][i]->resource->value);
        }
    }
    for (int way = 0; way < 3; way++)
        end(&ways[way]);
}

static void one_step(void **state)
{
    (void)state;
    fill();
    compare(TW_FLOAT32, false, false, 1);
    compare(TW_FLOAT64, false, false, 1);
    compare(TW_FLOAT32, false, true, 1);
    compare(TW_FLOAT32, true, false, 0);
}

/* ---- a gradient that is a product ---- */

enum { DEPTH = 50, HEIGHT = 210, WIDTH = 130, WIDE = 2100 };

typedef struct dense {
    tw_optimizer *optimizer;
    tw_variable *weight;
    bool transpose_a, transpose_b, looks; /* looks: the gradient is an output too */
} dense;

static tw_tensor *many_values(tw_shape shape)
{
    tw_tensor *tensor = tw_tensor_new(TW_FLOAT32, shape, NULL);
    float *data = (float *)(uintptr_t)tw_tensor_data(tensor);
    for (int64_t i = 0; i < tw_tensor_count(tensor); i++)
        data[i] = large_values[i % LARGE];
    return tensor;
}

static tw_status dense_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    dense *d = context;
    (void)count;
    tw_auto tw_tensor *gradient = TW_CALL(MatMul, arguments[0], arguments[1], TW_A_BOOL("transpose_a", d->transpose_a),
                                          TW_A_BOOL("transpose_b", d->transpose_b));
    tw_objects variables = { (void **)&d->weight, 1 };
    tw_tensors gradients = { &gradient, 1 };
    tw_release(tw_optimizer_apply_gradients(d->optimizer, gradients, variables));
    *outputs = tw__alloc_array(1, sizeof **outputs);
    (*outputs)[0] = d->looks ? tw_retain(gradient) : tw_tensor_float(1);
    *output_count = 1;
    return tw_error_code();
}

static int products(const tw__plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->step_count; i++)
        count += plan->steps[i].op == &tw__op_MatMul;
    return count;
}

static void dense_case(int64_t width, bool transpose_a, bool transpose_b, bool looks, int expected)
{
    static const tw_dtype dtypes[] = { TW_FLOAT32, TW_FLOAT32 };
    tw_tensor *weights[2];
    const tw_shape shapes[] = { transpose_a ? TW_SHAPE(DEPTH, HEIGHT) : TW_SHAPE(HEIGHT, DEPTH),
                                transpose_b ? TW_SHAPE(width, DEPTH) : TW_SHAPE(DEPTH, width) };
    tw_auto tw_tensor *a = tw_tensor_new(TW_FLOAT32, shapes[0], large_values);
    tw_auto tw_tensor *b = many_values(shapes[1]);
    tw_auto tw_tensor *start = many_values(TW_SHAPE(HEIGHT, width));
    expect_no_error();
    for (int way = 0; way < 2; way++) {
        tw_auto tw_variable *weight = tw_variable(start);
        tw_auto tw_optimizer *optimizer = tw_optimizers_adam(.learning_rate = .01);
        dense d = { optimizer, weight, transpose_a, transpose_b, looks };
        tw_objects variables = { (void **)&d.weight, 1 };
        assert_int_equal(tw_optimizer_build(optimizer, variables), TW_OK);
        tw__exec_passes = way ? 0 : ~0u;
        tw_auto tw__function *f = tw__function_trace("dense", dtypes, shapes, 2, dense_body, &d);
        expect_no_error();
        for (int n = 0; n < 3; n++) {
            tw_tensor *result = NULL, *arguments[] = { a, b };
            assert_int_equal(tw__function_call(f, arguments, &result), TW_OK);
            tw_release(result);
        }
        if (!way) {
            assert_int_equal(joined(f->plan), 1);
            assert_int_equal(products(f->plan), expected);
        }
        weights[way] = tw_variable_read(weight);
    }
    tw__exec_passes = ~0u;
    expect_same(weights[0], weights[1]);
    tw_release(weights[0]);
    tw_release(weights[1]);
}

static void gradients_that_are_products(void **state)
{
    (void)state;
    fill();
    dense_case(WIDTH, true, false, false, 0);
    dense_case(WIDTH, false, false, false, 0);
    dense_case(WIDE, true, false, false, 0);
    dense_case(WIDTH, true, true, false, 1);
    dense_case(WIDTH, true, false, true, 1);
}

/* ---- the op ResourceApplyAdam ---- */

typedef struct with_op {
    tw_variable *variables[3], *small[3];
    bool nesterov;
} with_op;

static void apply_op(tw_variable *const *slots, tw_tensor *rate, tw_tensor *gradient, bool nesterov)
{
    const float numbers[] = { 0.81f, 0.998f, 0, 0.9f, 0.999f, 1e-4f };
    tw_tensor *inputs[10] = { slots[0]->handle, slots[1]->handle, slots[2]->handle };
    for (int i = 0; i < 6; i++)
        inputs[3 + i] = i == 2 ? tw_retain(rate) : tw_tensor_float(numbers[i]);
    inputs[9] = gradient;
    tw_attr attr = TW_A_BOOL("use_nesterov", nesterov);
    int none = 0;
    assert_int_equal(tw__apply(&tw__op_ResourceApplyAdam, inputs, 10, &attr, 1, NULL, &none), TW_OK);
    for (int i = 3; i < 9; i++)
        tw_release(inputs[i]);
}

static tw_status op_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    with_op *w = context;
    (void)count;
    tw_auto tw_tensor *product = TW_CALL(MatMul, arguments[0], arguments[1], TW_A_BOOL("transpose_a", true));
    apply_op(w->variables, arguments[2], product, w->nesterov);
    tw_auto tw_tensor *sum = tw_reduce_sum(arguments[1], .axis = TW_INTS(0));
    apply_op(w->small, arguments[2], sum, w->nesterov);
    *outputs = tw__alloc_array(1, sizeof **outputs);
    (*outputs)[0] = tw_retain(arguments[2]);
    *output_count = 1;
    return tw_error_code();
}

static void op_case(bool nesterov, int expected)
{
    static const tw_dtype dtypes[] = { TW_FLOAT32, TW_FLOAT32, TW_FLOAT32 };
    const tw_shape shapes[] = { TW_SHAPE(DEPTH, HEIGHT), TW_SHAPE(DEPTH, WIDTH), { .rank = 0 } };
    tw_auto tw_tensor *a = many_values(shapes[0]);
    tw_auto tw_tensor *b = many_values(shapes[1]);
    tw_auto tw_tensor *rate = tw_tensor_float(0.01f);
    tw_tensor *arguments[] = { a, b, rate }, *results[2][6];
    for (int way = 0; way < 2; way++) {
        with_op w = { .nesterov = nesterov };
        for (int i = 0; i < 3; i++) {
            tw_auto tw_tensor *start = many_values(TW_SHAPE(HEIGHT, WIDTH));
            tw_auto tw_tensor *square = TW_CALL(Square, start);
            w.variables[i] = tw_variable(i == 2 ? square : start);
            w.small[i] = new_variable(TW_FLOAT32, TW_SHAPE(WIDTH), large_values + 600);
        }
        tw__exec_passes = way ? 0 : ~0u;
        tw_auto tw__function *f = tw__function_trace("op", dtypes, shapes, 3, op_body, &w);
        expect_no_error();
        for (int n = 0; n < 2; n++) {
            tw_tensor *result = NULL;
            assert_int_equal(tw__function_call(f, arguments, &result), TW_OK);
            tw_release(result);
        }
        if (!way) {
            assert_int_equal(joined(f->plan), expected);
            assert_int_equal(products(f->plan), !expected);
        }
        for (int i = 0; i < 3; i++) {
            results[way][i] = tw_variable_read(w.variables[i]);
            results[way][3 + i] = tw_variable_read(w.small[i]);
            tw_release(w.variables[i]);
            tw_release(w.small[i]);
        }
    }
    tw__exec_passes = ~0u;
    for (int i = 0; i < 6; i++) {
        expect_same(results[0][i], results[1][i]);
        tw_release(results[0][i]);
        tw_release(results[1][i]);
    }
}

static void the_op(void **state)
{
    (void)state;
    fill();
    op_case(false, 1);
    op_case(true, 0);
}

/* ---- calls made by hand ---- */

typedef struct by_hand {
    tw_variable *w, *m, *v;
    bool reads_between;
} by_hand;

static tw_tensor *number(float value)
{
    return tw_tensor_float(value);
}

static void change(const tw_op *op, tw_variable *variable, tw_tensor *value)
{
    tw_attr dtype = TW_A_TYPE("dtype", TW_FLOAT32);
    int none = 0;
    assert_int_equal(tw__apply(op, TW_IN(variable->handle, value), 2, &dtype, 1, NULL, &none), TW_OK);
}

static void moment(tw_variable *variable, tw_tensor *x, float rest)
{
    tw_auto tw_tensor *old = tw_variable_read(variable);
    tw_auto tw_tensor *difference = TW_CALL(Sub, x, old);
    tw_auto tw_tensor *factor = number(rest);
    tw_auto tw_tensor *product = TW_CALL(Mul, difference, factor);
    change(&tw__op_AssignAddVariableOp, variable, product);
}

static tw_status hand_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    by_hand *t = context;
    (void)count;
    tw_tensor *g = arguments[0];
    moment(t->m, g, 0.1f);
    tw_auto tw_tensor *between = tw_variable_read(t->reads_between ? t->m : t->w);
    tw_auto tw_tensor *square = TW_CALL(Square, g);
    moment(t->v, square, 0.01f);
    tw_auto tw_tensor *m = tw_variable_read(t->m);
    tw_auto tw_tensor *v = tw_variable_read(t->v);
    tw_auto tw_tensor *alpha = number(0.5f);
    tw_auto tw_tensor *epsilon = number(1e-3f);
    tw_auto tw_tensor *over = TW_CALL(Mul, alpha, m);
    tw_auto tw_tensor *root = TW_CALL(Sqrt, v);
    tw_auto tw_tensor *under = TW_CALL(AddV2, root, epsilon);
    tw_auto tw_tensor *step = TW_CALL(RealDiv, over, under);
    change(&tw__op_AssignSubVariableOp, t->w, step);
    *outputs = tw__alloc_array(1, sizeof **outputs);
    (*outputs)[0] = t->reads_between ? tw_retain(between) : tw_variable_read(t->w);
    *output_count = 1;
    return TW_OK;
}

/* `same`: which of the three are one variable; the results must be those of the plain calls. */
static void by_hand_twice(bool same_moments, bool same_first, bool reads_between, int expected)
{
    static const tw_dtype dtypes[] = { TW_FLOAT32 };
    const tw_shape shapes[] = { TW_SHAPE(SMALL) };
    tw_tensor *results[2], *weights[2];
    fill();
    tw_auto tw_tensor *g = tw_tensor_new(TW_FLOAT32, TW_SHAPE(SMALL), large_values);
    for (int way = 0; way < 2; way++) {
        tw_auto tw_variable *w = new_variable(TW_FLOAT32, TW_SHAPE(SMALL), small_values);
        tw_auto tw_variable *m = new_variable(TW_FLOAT32, TW_SHAPE(SMALL), large_values + SMALL);
        tw_auto tw_variable *v = new_variable(TW_FLOAT32, TW_SHAPE(SMALL), large_values + 200);
        by_hand t = { w, same_first ? w : m, same_moments ? m : v, reads_between };
        tw__exec_passes = way ? 0 : ~0u;
        tw_auto tw__function *f = tw__function_trace("hand", dtypes, shapes, 1, hand_body, &t);
        for (int n = 0; n < 2; n++) {
            tw_tensor *result = NULL;
            assert_int_equal(tw__function_call(f, &g, &result), TW_OK);
            results[way] = result;
            if (n == 0)
                tw_release(result);
        }
        if (!way)
            assert_int_equal(joined(f->plan), expected);
        weights[way] = tw_variable_read(w);
        tw__exec_passes = ~0u;
    }
    expect_same(results[0], results[1]);
    expect_same(weights[0], weights[1]);
    for (int way = 0; way < 2; way++) {
        tw_release(results[way]);
        tw_release(weights[way]);
    }
}

static void calls_by_hand(void **state)
{
    (void)state;
    by_hand_twice(false, false, false, 1);
    by_hand_twice(true, false, false, 0);
    by_hand_twice(false, true, false, 1); /* joined; each run finds that it does not apply */
    by_hand_twice(false, false, true, 0); /* the first moment is read between */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(one_step), cmocka_unit_test(gradients_that_are_products),
                                        cmocka_unit_test(the_op), cmocka_unit_test(calls_by_hand) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
