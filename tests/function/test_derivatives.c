/* Derivatives from C: of functions without a tape, loops and branches at every order, custom gradients, Jacobians, forward
 * products. */
#include "traced.h"

#include <thalweg/thalweg.h>

#include "function/control.h"
#include "op/slices.h"
#include "rows.h"

static const tw_dtype one_float[] = { TW_FLOAT32 };
static const tw_shape scalar[] = { { .rank = 0 } };

/* ---- x⁵ by a loop, -x³ by the other branch ---- */

static tw_status below_four(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)context;
    (void)count;
    tw_auto tw_tensor *four = tw_tensor_int(4);
    return give(four ? tw_less(arguments[0], four) : NULL, outputs, output_count);
}

static tw_status times_x(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    tw_auto tw_tensor *one = tw_tensor_int(1);
    *outputs = tw__alloc_array(3, sizeof **outputs);
    if (!one || !*outputs)
        return TW_RESOURCE_EXHAUSTED;
    *output_count = count;
    (*outputs)[0] = tw_add(arguments[0], one);
    (*outputs)[1] = tw_multiply(arguments[1], context);
    return (*outputs)[0] && (*outputs)[1] ? TW_OK : tw_error_code();
}

static tw_status by_loop(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)arguments;
    (void)count;
    tw_auto tw_tensor *zero = tw_tensor_int(0);
    tw_tensor *results[2] = { NULL, NULL };
    TW_TRY(tw__while(&(tw__loop){ .cond = below_four,
                                  .body = times_x,
                                  .body_context = context,
                                  .values = (tw_tensor *[]){ zero, context },
                                  .count = 2 },
                     results));
    tw_release(results[0]);
    return give(results[1], outputs, output_count);
}

static tw_status by_hand(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)arguments;
    (void)count;
    tw_auto tw_tensor *square = tw_multiply(context, context), *cube = square ? tw_multiply(square, context) : NULL;
    return give(cube ? tw_negative(cube) : NULL, outputs, output_count);
}

static tw_status power(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)context;
    (void)count;
    tw_auto tw_tensor *zero = tw_tensor_float(0), *positive = zero ? tw_greater(arguments[0], zero) : NULL;
    if (!positive)
        return tw_error_code();
    return tw__cond(positive, by_loop, arguments[0], by_hand, arguments[0], outputs, output_count);
}

/* The derivative of that order at x; NaN after a failure. */
static double derivative(tw__function *f, tw_tensor *x, int order)
{
    if (order == 0) {
        tw_tensor *y = NULL;
        double value = tw__function_call(f, &x, &y) == TW_OK ? tw_tensor_double_at(y, 0) : NAN;
        tw_release(y);
        return value;
    }
    tw_tape *tapes[4] = { NULL };
    for (int i = 0; i < order; i++) {
        tapes[i] = tw_tape_start();
        if (tapes[i])
            tw_tape_watch(tapes[i], TW_OBJECTS(x));
    }
    tw_tensor *y = NULL;
    tw_status status = tw__function_call(f, &x, &y);
    for (int i = order; status == TW_OK && i-- > 0;) {
        tw_tensors g = tapes[i] ? tw_tape_gradient(tapes[i], TW_OBJECTS(y), TW_OBJECTS(x)) : (tw_tensors){ NULL, 0 };
        tw_release(y);
        y = g.count == 1 ? tw_retain(g.items[0]) : NULL;
        status = y ? TW_OK : TW_INTERNAL;
        tw_tensors_free(&g);
    }
    double value = status == TW_OK ? tw_tensor_double_at(y, 0) : NAN;
    tw_release(y);
    for (int i = 0; i < order; i++)
        tw_release(tapes[i]);
    return value;
}

static void expect_powers(tw__function *f)
{
    static const double factors[] = { 1, 5, 20, 60, 120 }, others[] = { -1, -3, -6, -6, 0 };
    tw_auto tw_tensor *x = tw_tensor_float(1.5f), *z = tw_tensor_float(-2);
    for (int order = 0; order < 5; order++) {
        assert_float_equal(derivative(f, x, order), factors[order] * pow(1.5, 5 - order), 1e-3);
        expect_no_error();
        if (order < 4)
            assert_float_equal(derivative(f, z, order), others[order] * pow(-2, 3 - order), 1e-3);
    }
}

static void every_order(void **state)
{
    (void)state;
    tw_auto tw__function *f = tw__function_trace("power", one_float, scalar, 1, power, NULL);
    expect_no_error();
    expect_powers(f);
}

/* A function that was not traced here has a graph, and that is enough. */
static void of_a_graph(void **state)
{
    (void)state;
    tw_auto tw__function *f = tw__function_trace("power", one_float, scalar, 1, power, NULL);
    tw_auto tw__function *same = tw__function_of_graph("same", f->graph, f->inputs, f->input_count, f->outputs, f->output_count);
    tw__graph_enter(f->graph);
    expect_powers(same);
}

static tw_status slopes(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    tw_tensor *y = NULL;
    tw_tensor *x = arguments[0];
    (void)count;
    TW_TRY(tw__function_call(context, &x, &y));
    tw_tensors first = tw_gradients(TW_OBJECTS(y), TW_OBJECTS(x));
    tw_tensors second = first.count ? tw_gradients(TW_OBJECTS(first.items[0]), TW_OBJECTS(x)) : (tw_tensors){ NULL, 0 };
    tw_tensor *result = second.count ? tw_retain(second.items[0]) : NULL;
    tw_release(y);
    tw_tensors_free(&first);
    tw_tensors_free(&second);
    return give(result, outputs, output_count);
}

static void gradients_in_a_graph(void **state)
{
    (void)state;
    tw_auto tw__function *f = tw__function_trace("power", one_float, scalar, 1, power, NULL);
    tw_auto tw__function *g = tw__function_trace("slopes", one_float, scalar, 1, slopes, f);
    expect_no_error();
    tw_auto tw_tensor *x = tw_tensor_float(1.5f);
    assert_float_equal(derivative(g, x, 0), 20 * pow(1.5, 3), 1e-3);
    assert_float_equal(derivative(g, x, 1), 60 * pow(1.5, 2), 1e-3);
    tw_tensors none = tw_gradients(TW_OBJECTS(x), TW_OBJECTS(x));
    assert_null(none.items);
    expect_error(TW_RUNTIME_ERROR, "not supported when eager execution is enabled");
}

static void failing_allocations(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(1.5f);
    int failures = 0;
    for (int n = 1; n < 20000; n += 1 + n / 8) {
        tw__buffer_trim();
        tw__alloc_fail_at(n);
        tw_auto tw__function *f = tw__function_trace("power", one_float, scalar, 1, power, NULL);
        double value = f ? derivative(f, x, 2) : NAN;
        tw__alloc_fail_at(0);
        if (tw_error_code() == TW_OK && !isnan(value))
            break;
        tw_clear_error();
        failures++;
    }
    assert_true(failures > 10);
    tw_auto tw__function *f = tw__function_trace("power", one_float, scalar, 1, power, NULL);
    assert_float_equal(derivative(f, x, 2), 20 * pow(1.5, 3), 1e-3);
}

/* ---- custom gradients ---- */

static int ended;

static void end(void *user)
{
    assert_ptr_equal(user, &ended);
    ended++;
}

static tw_status both(void *user, tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count)
{
    (void)user;
    assert_int_equal(input_count, 2);
    assert_int_equal(output_count, 2);
    outputs[0] = tw_add(inputs[0], inputs[1]);
    outputs[1] = tw_multiply(inputs[0], inputs[1]);
    return outputs[0] && outputs[1] ? TW_OK : tw_error_code();
}

/* (2 da + db x, 3 db) */
static tw_status both_back(void *user, tw_tensor *const *inputs, int input_count, tw_tensor *const *gradients, int output_count,
                           tw_tensor **made)
{
    (void)user;
    (void)input_count;
    (void)output_count;
    tw_auto tw_tensor *two = tw_tensor_float(2), *three = tw_tensor_float(3);
    tw_auto tw_tensor *a = tw_multiply(gradients[0], two), *b = tw_multiply(gradients[1], inputs[0]);
    made[0] = tw_add(a, b);
    made[1] = tw_multiply(gradients[1], three);
    return made[0] && made[1] ? TW_OK : tw_error_code();
}

static void custom_gradient(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(5), *w = tw_tensor_float(7);
    {
        tw_auto tw_tape *outer = tw_tape_start(), *tape = tw_tape_start();
        tw_tape_watch(outer, TW_OBJECTS(x));
        tw_tape_watch(tape, TW_OBJECTS(x, w));
        tw_tensor *y[2] = { NULL, NULL };
        assert_int_equal(tw_custom_gradient(TW_TENSORS(x, w), both, both_back, &ended, end, 2, y), TW_OK);
        assert_float_equal(tw_tensor_double_at(y[0], 0), 12, 0);
        tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(y[0], y[1]), TW_OBJECTS(x, w));
        expect_no_error();
        assert_float_equal(tw_tensor_double_at(g.items[0], 0), 2 + 5, 0);
        assert_float_equal(tw_tensor_double_at(g.items[1], 0), 3, 0);
        tw_tensors second = tw_tape_gradient(outer, TW_OBJECTS(g.items[0]), TW_OBJECTS(x));
        assert_float_equal(tw_tensor_double_at(second.items[0], 0), 1, 0);
        tw_tensors_free(&g);
        tw_tensors_free(&second);
        tw_release(y[0]);
        tw_release(y[1]);
    }
    assert_int_equal(ended, 1);
}

static tw_status custom_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)count;
    tw_tensor *y[2] = { NULL, NULL };
    TW_TRY(tw_custom_gradient(TW_TENSORS(arguments[0], arguments[0]), both, both_back, context, NULL, 2, y));
    tw_release(y[0]);
    return give(y[1], outputs, output_count);
}

static void custom_gradient_in_a_function(void **state)
{
    (void)state;
    tw_auto tw__function *f = tw__function_trace("custom", one_float, scalar, 1, custom_body, NULL);
    expect_no_error();
    tw_auto tw_tensor *x = tw_tensor_float(5);
    assert_float_equal(derivative(f, x, 0), 25, 0);
    assert_float_equal(derivative(f, x, 1), 5 + 3, 0);
    assert_float_equal(derivative(f, x, 2), 1, 0);
}

/* ---- Jacobians, forward products, slices ---- */

static void jacobians(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 2), (float[]){ 1, 2, 3, 4 });
    tw_auto tw_tape *tape = tw_tape_start(.persistent = true);
    tw_tape_watch(tape, TW_OBJECTS(x));
    tw_auto tw_tensor *y = tw_square(x);
    tw_tensors j = tw_tape_jacobian(tape, y, TW_OBJECTS(x));
    expect_no_error();
    assert_true(j.items[0]->shape.rank == 4 && j.items[0]->count == 16);
    for (int i = 0; i < 16; i++)
        assert_float_equal(tw_tensor_double_at(j.items[0], i), (i % 5 ? 0 : 2 * (i / 5 + 1)), 0);
    tw_auto tw_tensor *b = tw_tape_batch_jacobian(tape, y, x);
    expect_no_error();
    assert_true(b->shape.rank == 3 && b->count == 8);
    assert_float_equal(tw_tensor_double_at(b, 7), 8, 0);
    assert_float_equal(tw_tensor_double_at(b, 6), 0, 0);
    tw_tensors_free(&j);
}

static void forward_products(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(3), *t = tw_tensor_float(0.5f);
    tw_auto tw_forward_accumulator *a = tw_forward_accumulator(TW_OBJECTS(x), TW_TENSORS(t));
    assert_int_equal(tw_forward_accumulator_start(a), TW_OK);
    tw_auto tw_tensor *y = tw_square(x), *away = tw_square(t);
    assert_int_equal(tw_forward_accumulator_stop(a), TW_OK);
    tw_tensors p = tw_forward_accumulator_jvp(a, y), none = tw_forward_accumulator_jvp(a, away);
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(p.items[0], 0), 3, 0);
    assert_null(none.items[0]);
    tw_tensors_free(&p);
    tw_tensors_free(&none);
}

static void slices_are_summed(void **state)
{
    (void)state;
    tw_auto tw_tensor *table = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3, 2), (float[]){ 1, 2, 3, 4, 5, 6 });
    tw_auto tw_variable *v = tw_variable(table);
    tw_auto tw_tensor *rows = tw_tensor_new(TW_INT32, TW_SHAPE(3), (int32_t[]){ 2, 0, 2 });
    tw_auto tw_tape *tape = tw_tape_start(.persistent = true);
    tw_auto tw_tensor *y = tw_variable_sparse_read(v, rows);
    tw_tensors raw = tw__tape_gradient_of(&(tw_tape_gradient_args){
        .self = tape, .target = TW_OBJECTS(y), .sources = TW_OBJECTS(v), .unconnected_gradients = "none" });
    expect_no_error();
    assert_non_null(tw__slices_of(raw.items[0]));
    assert_int_equal(tw__slices_of(raw.items[0])->values->count, 6);
    tw_tensors dense = tw_tape_gradient(tape, TW_OBJECTS(y), TW_OBJECTS(v));
    static const float expected[] = { 1, 1, 0, 0, 2, 2 };
    for (int i = 0; i < 6; i++)
        assert_float_equal(tw_tensor_double_at(dense.items[0], i), expected[i], 0);
    tw_tensors_free(&raw);
    tw_tensors_free(&dense);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order),
        cmocka_unit_test(of_a_graph),
        cmocka_unit_test(gradients_in_a_graph),
        cmocka_unit_test(custom_gradient),
        cmocka_unit_test(custom_gradient_in_a_function),
        cmocka_unit_test(jacobians),
        cmocka_unit_test(forward_products),
        cmocka_unit_test(slices_are_summed),
        cmocka_unit_test(failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
