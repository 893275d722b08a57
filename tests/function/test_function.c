/* Functions traced from C bodies: values, captures, gradients of and inside functions, nesting, errors. */
#include "traced.h"

#include "rows.h"

/* x * x + v, v from outside */
static tw_status square_plus(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    assert_int_equal(count, 1);
    assert_non_null(arguments[0]->node);
    assert_null(tw_tensor_data(arguments[0]));
    expect_error(TW_VALUE_ERROR, "the value of a symbolic tensor (float32, shape []) is not known");
    tw_auto tw_tensor *square = tw_multiply(arguments[0], arguments[0]);
    tw_auto tw_tensor *value = tw_variable_read(context);
    return give(tw_add(square, value), outputs, output_count);
}

static tw_variable *variable(float value)
{
    tw_auto tw_tensor *initial = tw_tensor_float(value);
    return tw_variable(initial);
}

static float call(tw__function *f, float x)
{
    tw_auto tw_tensor *argument = tw_tensor_float(x);
    tw_tensor *result = NULL;
    assert_int_equal(tw__function_call(f, &argument, &result), TW_OK);
    float value = (float)tw_tensor_double_at(result, 0);
    tw_release(result);
    return value;
}

static const tw_dtype one_float[] = { TW_FLOAT32 };
static const tw_shape scalar[] = { { .rank = 0 } };

static void values_and_captures(void **state)
{
    (void)state;
    tw_auto tw_variable *v = variable(10);
    tw_auto tw__function *f = tw__function_trace("f", one_float, scalar, 1, square_plus, v);
    expect_no_error();
    assert_int_equal(f->input_count, 2);
    assert_float_equal(call(f, 3), 19, 0);
    tw_auto tw_tensor *one = tw_tensor_float(1);
    tw_release(tw_variable_assign_add(v, one));
    assert_float_equal(call(f, 2), 15, 0); /* the variable is read at every call */
    for (int i = 0; i < 10; i++)
        call(f, 1);
    long before = tw__alloc_count();
    for (int i = 0; i < 100; i++)
        call(f, 1);
    assert_int_equal(tw__alloc_count(), before);
}

static void gradient_of_a_call(void **state)
{
    (void)state;
    tw_auto tw_variable *v = variable(10);
    tw_auto tw__function *f = tw__function_trace("f", one_float, scalar, 1, square_plus, v);
    tw_auto tw_tensor *x = tw_tensor_float(3);
    for (int i = 0; i < 3; i++) {
        tw_auto tw_tape *outer = tw_tape_start();
        tw_tape_watch(outer, TW_OBJECTS(x));
        tw_auto tw_tape *tape = tw_tape_start();
        tw_tape_watch(tape, TW_OBJECTS(x));
        tw_tensor *y = NULL, *z = NULL;
        assert_int_equal(tw__function_call(f, &x, &y), TW_OK);
        assert_int_equal(tw__function_call(f, &y, &z), TW_OK); /* (x² + v)² + v */
        tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(z), TW_OBJECTS(x, v));
        expect_no_error();
        assert_float_equal(tw_tensor_double_at(g.items[0], 0), 4 * 3 * 19, 1e-3);
        assert_float_equal(tw_tensor_double_at(g.items[1], 0), 2 * 19 + 1, 1e-3);
        tw_tensors second = tw_tape_gradient(outer, TW_OBJECTS(g.items[0]), TW_OBJECTS(x));
        expect_no_error();
        assert_float_equal(tw_tensor_double_at(second.items[0], 0), 12 * 9 + 4 * 10, 1e-2);
        tw_tensors_free(&g);
        tw_tensors_free(&second);
        tw_release(y);
        tw_release(z);
    }
}

/* the gradient is computed inside the function, by a tape of its own */
static tw_status slope(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)count;
    tw_auto tw_tape *tape = tw_tape_start();
    tw_tape_watch(tape, TW_OBJECTS(arguments[0]));
    tw_auto tw_tensor *value = tw_variable_read(context);
    tw_auto tw_tensor *square = tw_multiply(arguments[0], arguments[0]);
    tw_auto tw_tensor *y = tw_multiply(square, value);
    tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(y), TW_OBJECTS(arguments[0], (tw_variable *)context));
    if (!g.count || !g.items[1])
        return tw_error_code();
    tw_tensor *sum = tw_add(g.items[0], g.items[1]); /* 2 x v + x² */
    tw_tensors_free(&g);
    return give(sum, outputs, output_count);
}

static void gradient_inside(void **state)
{
    (void)state;
    tw_auto tw_variable *v = variable(10);
    tw_auto tw__function *f = tw__function_trace("slope", one_float, scalar, 1, slope, v);
    expect_no_error();
    assert_float_equal(call(f, 3), 60 + 9, 1e-4);
    /* … and differentiated once more from outside */
    tw_auto tw_tensor *x = tw_tensor_float(3);
    tw_auto tw_tape *tape = tw_tape_start();
    tw_tape_watch(tape, TW_OBJECTS(x));
    tw_tensor *y = NULL;
    assert_int_equal(tw__function_call(f, &x, &y), TW_OK);
    tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(y), TW_OBJECTS(x, v));
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(g.items[0], 0), 20 + 6, 1e-4);
    assert_float_equal(tw_tensor_double_at(g.items[1], 0), 6, 1e-4);
    tw_tensors_free(&g);
    tw_release(y);
}

typedef struct nested {
    tw__function *inner;
    tw_tensor *factor; /* of an enclosing graph or eager */
} nested;

static tw_status call_inner(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)count;
    nested *n = context;
    tw_tensor *inner = NULL;
    tw_status status = tw__function_call(n->inner, arguments, &inner);
    if (status != TW_OK)
        return status;
    tw_tensor *result = tw_multiply(inner, n->factor);
    tw_release(inner);
    return give(result, outputs, output_count);
}

static void nesting(void **state)
{
    (void)state;
    float many[40];
    for (int i = 0; i < 40; i++)
        many[i] = (float)i;
    tw_auto tw_tensor *factor = tw_tensor_new(TW_FLOAT32, TW_SHAPE(40), many); /* too large for a constant: captured */
    tw_auto tw_variable *v = variable(10);
    tw_auto tw__function *inner = tw__function_trace("inner", one_float, scalar, 1, square_plus, v);
    tw_auto tw__function *outer = tw__function_trace("outer", one_float, scalar, 1, call_inner, &(nested){ inner, factor });
    expect_no_error();
    assert_int_equal(outer->input_count, 3); /* x, the variable, the factor */
    tw_auto tw_tensor *x = tw_tensor_float(3);
    tw_auto tw_tape *tape = tw_tape_start();
    tw_tape_watch(tape, TW_OBJECTS(x, factor));
    tw_tensor *y = NULL;
    assert_int_equal(tw__function_call(outer, &x, &y), TW_OK);
    assert_float_equal(tw_tensor_double_at(y, 39), 19 * 39, 0);
    tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(y), TW_OBJECTS(x, v, factor));
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(g.items[0], 0), 6 * 780, 1e-2);
    assert_float_equal(tw_tensor_double_at(g.items[1], 0), 780, 1e-2);
    assert_float_equal(tw_tensor_double_at(g.items[2], 17), 19, 1e-4);
    tw_tensors_free(&g);
    tw_release(y);
}

static tw_tensor *kept;

static tw_status leak(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)count;
    (void)context;
    kept = tw_retain(arguments[0]);
    return give(tw_negative(arguments[0]), outputs, output_count);
}

static tw_status wrong(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)count;
    (void)context;
    tw_auto tw_tensor *vector = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3), NULL);
    return give(tw_matmul(arguments[0], vector), outputs, output_count);
}

static void errors(void **state)
{
    (void)state;
    tw_auto tw__function *f = tw__function_trace("leak", one_float, scalar, 1, leak, NULL);
    expect_no_error();
    assert_null(tw_negative(kept));
    expect_error(TW_TYPE_ERROR, "out of scope");
    tw_tensor_double_at(kept, 0);
    expect_error(TW_VALUE_ERROR, "symbolic");
    tw_release(kept);
    assert_null(tw__function_trace("wrong", one_float, scalar, 1, wrong, NULL));
    assert_int_not_equal(tw_error_code(), TW_OK);
    tw_clear_error();
    assert_null(tw__tracing);
    tw_auto tw_tensor *vector = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3), NULL);
    tw_tensor *out = NULL;
    assert_int_not_equal(tw__function_call(f, &vector, &out), TW_OK);
    expect_error(TW_INVALID_ARGUMENT, "argument 0 of function leak");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_captures),
        cmocka_unit_test(gradient_of_a_call),
        cmocka_unit_test(gradient_inside),
        cmocka_unit_test(nesting),
        cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
