/* Branches and loops of the public header: eagerly and in functions, with gradients, limits, shape invariants, names and errors.
 */
#include "test.h"

#include <thalweg/thalweg.h>

#include "function/control.h"
#include "function/library.h"

typedef struct pair {
    tw_tensor *x;
    tw_variable *w;
} pair;

static tw_tensors times_w(void *user, tw_tensors in)
{
    (void)in;
    pair *p = user;
    tw_auto tw_tensor *w = tw_variable_read(p->w), *square = tw_multiply(p->x, p->x);
    return tw_give(tw_multiply(square, w));
}

static tw_tensors negated(void *user, tw_tensors in)
{
    (void)in;
    return tw_give(tw_negative(((pair *)user)->x));
}

static tw_tensors cubed(void *user, tw_tensors in)
{
    (void)in;
    pair *p = user;
    tw_auto tw_tensor *square = tw_multiply(p->x, p->x);
    return tw_give(tw_multiply(square, p->x));
}

static tw_tensors if_positive(void *user, tw_tensors in)
{
    tw_auto tw_tensor *zero = tw_tensor_float(0), *positive = tw_greater(in.items[0], zero);
    return tw_cond(positive, times_w, negated, &(pair){ in.items[0], user });
}

static tw_tensors by_number(void *user, tw_tensors in)
{
    const tw_body bodies[] = { times_w, negated, cubed };
    return tw_switch_case(in.items[1], bodies, 3, &(pair){ in.items[0], user });
}

/* value, d/dx and d/dw of the body's first result, called as it is or as a function */
static void differentiate(tw_body body, bool traced, tw_variable *w, tw_tensors in, double *value, double *dx, double *dw)
{
    tw_scoped();
    tw_auto tw_function *f = tw_function_new(body, w);
    tw_auto tw_tape *tape = tw_tape_start();
    tw_tape_watch(tape, TW_OBJECTS(in.items[0]));
    tw_tensors results = { 0 };
    if (traced)
        results = tw_give(tw_function_value(f, in));
    else
        results = body(w, in);
    expect_no_error();
    tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(results.items[0]), TW_OBJECTS(in.items[0], w));
    expect_no_error();
    *value = tw_tensor_double_at(results.items[0], 0);
    *dx = tw_tensor_double_at(g.items[0], 0);
    *dw = g.items[1] ? tw_tensor_double_at(g.items[1], 0) : 0;
    tw_tensors_free(&g);
    tw_tensors_free(&results);
}

static void branches(void **state)
{
    (void)state;
    tw_auto tw_tensor *two = tw_tensor_float(2), *three = tw_tensor_float(3), *minus = tw_tensor_float(-3);
    tw_auto tw_variable *w = tw_variable(two);
    double y, dx, dw;
    for (int traced = 0; traced < 2; traced++) {
        differentiate(if_positive, traced, w, TW_TENSORS(three), &y, &dx, &dw);
        assert_true(y == 18 && dx == 12 && dw == 9);
        differentiate(if_positive, traced, w, TW_TENSORS(minus), &y, &dx, &dw);
        assert_true(y == 3 && dx == -1 && dw == 0);
    }
}

static void cases(void **state)
{
    (void)state;
    tw_auto tw_tensor *two = tw_tensor_float(2), *three = tw_tensor_float(3);
    tw_auto tw_variable *w = tw_variable(two);
    static const double expected[][3] = { { 18, 12, 9 }, { -3, -1, 0 }, { 27, 27, 0 } };
    static const int numbers[] = { 0, 1, 2, 7, -1 }, taken[] = { 0, 1, 2, 2, 2 };
    for (int traced = 0; traced < 2; traced++) {
        for (int i = 0; i < 5; i++) {
            tw_auto tw_tensor *number = tw_tensor_int(numbers[i]);
            double y, dx, dw;
            differentiate(by_number, traced, w, TW_TENSORS(three, number), &y, &dx, &dw);
            const double *right = expected[taken[i]];
            assert_true(y == right[0] && dx == right[1] && dw == right[2]);
        }
    }
    tw_auto tw_tensor *wide = tw_tensor_int64(0);
    assert_null(tw_switch_case(wide, (tw_body[]){ cubed }, 1, &(pair){ three, w }).items);
    expect_error(TW_TYPE_ERROR, "branch_index must be an int32 scalar");
}

static tw_tensors below_three(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_tensor *three = tw_tensor_int(3);
    return tw_give(tw_less(in.items[0], three));
}

static tw_tensors forever(void *user, tw_tensors in)
{
    (void)user;
    (void)in;
    return tw_give(tw_tensor_bool(true));
}

static tw_tensors step(void *user, tw_tensors in)
{
    tw_auto tw_tensor *one = tw_tensor_int(1), *w = tw_variable_read(user);
    return tw_give(tw_add(in.items[0], one), tw_multiply(in.items[1], w));
}

static tw_tensors second(tw_tensors values)
{
    tw_tensors out = values.count == 2 ? tw_give(values.items[1]) : TW_GIVE_FAILURE;
    tw_tensors_free(&values);
    return out;
}

static tw_tensors power(void *user, tw_tensors in)
{
    tw_auto tw_tensor *zero = tw_tensor_int(0);
    return second(tw_while(below_three, step, user, TW_TENSORS(zero, in.items[0])));
}

static tw_tensors limited(void *user, tw_tensors in)
{
    tw_auto tw_tensor *zero = tw_tensor_int(0), *limit = tw_tensor_int(5);
    return second(tw_while(forever, step, user, TW_TENSORS(zero, in.items[0]), .maximum_iterations = limit, .name = "limited"));
}

static void loops(void **state)
{
    (void)state;
    tw_auto tw_tensor *two = tw_tensor_float(2), *x = tw_tensor_float(0.5f);
    tw_auto tw_variable *w = tw_variable(two);
    double y, dx, dw;
    for (int traced = 0; traced < 2; traced++) {
        differentiate(power, traced, w, TW_TENSORS(x), &y, &dx, &dw);
        assert_true(y == 4 && dx == 8 && dw == 6);
        differentiate(limited, traced, w, TW_TENSORS(x), &y, &dx, &dw);
        assert_true(y == 16 && dx == 32 && dw == 40);
    }
}

static tw_status limited_named(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    tw_tensors given = limited(context, (tw_tensors){ (tw_tensor **)arguments, count });
    *outputs = given.items;
    *output_count = (int)given.count;
    return given.items ? TW_OK : tw_error_code();
}

static void names(void **state)
{
    (void)state;
    tw_auto tw_tensor *two = tw_tensor_float(2);
    tw_auto tw_variable *w = tw_variable(two);
    tw_auto tw__function *f = tw__function_trace("f", (tw_dtype[]){ TW_FLOAT32 }, (tw_shape[]){ TW_SCALAR }, 1, limited_named, w);
    expect_no_error();
    assert_non_null(tw__graph_find(f->graph, "limited"));
    assert_null(tw__graph_find(f->graph, "while"));
}

static tw_status by_number_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    tw_tensors given = by_number(context, (tw_tensors){ (tw_tensor **)arguments, count });
    *outputs = given.items;
    *output_count = (int)given.count;
    return given.items ? TW_OK : tw_error_code();
}

/* Case and its list of functions come back out of a GraphDef. */
static void files(void **state)
{
    (void)state;
    tw_auto tw_tensor *two = tw_tensor_float(2), *three = tw_tensor_float(3);
    tw_auto tw_variable *w = tw_variable(two);
    tw_auto tw__function *f = tw__function_trace("by_number", (tw_dtype[]){ TW_FLOAT32, TW_INT32 },
                                                 (tw_shape[]){ TW_SCALAR, TW_SCALAR }, 2, by_number_body, w);
    expect_no_error();
    tw__text text = { 0 };
    assert_int_equal(tw__graphdef_write(&text, NULL, false, &f, 1), TW_OK);
    tw_auto tw__library *library = tw__library_read(text.data, text.size);
    tw__text_free(&text);
    tw__function *read = library ? tw__library_function(library, "by_number") : NULL;
    expect_no_error();
    static const double expected[] = { 18, -3, 27 };
    for (int i = 0; i < 3; i++) {
        tw_auto tw_tensor *number = tw_tensor_int(i);
        tw_tensor *result = NULL;
        assert_int_equal(tw__function_call_given(read, (tw_tensor *[]){ three, number, w->handle }, &result), TW_OK);
        assert_float_equal(tw_tensor_double_at(result, 0), expected[i], 0);
        tw_release(result);
    }
}

static tw_tensors is_short(void *user, tw_tensors in)
{
    (void)user;
    tw_auto tw_tensor *size = tw_size(in.items[0]), *ten = tw_tensor_int(10);
    return tw_give(tw_less(size, ten));
}

static tw_tensors doubled(void *user, tw_tensors in)
{
    (void)user;
    return tw_give(tw_concat(TW_TENSORS(in.items[0], in.items[0]), 0));
}

static tw_tensors grow(void *user, tw_tensors in)
{
    return tw_while(is_short, doubled, NULL, in, .shape_invariants = user);
}

static void invariants(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1), NULL);
    tw_auto tw_function *strict = tw_function_new(grow, NULL), *loose = tw_function_new(grow, &TW_SHAPE(-1));
    assert_null(tw_function_value(strict, TW_TENSORS(x)));
    expect_error(TW_VALUE_ERROR, "shape_invariants");
    tw_auto tw_tensor *y = tw_function_value(loose, TW_TENSORS(x));
    expect_no_error();
    assert_int_equal(tw_tensor_count(y), 16);
}

static tw_tensors whole(void *user, tw_tensors in)
{
    (void)user;
    (void)in;
    return tw_give(tw_tensor_int(1));
}

static tw_tensors mixed(void *user, tw_tensors in)
{
    return tw_cond(in.items[0], whole, negated, user);
}

static tw_tensors wrong_dtype(void *user, tw_tensors in)
{
    (void)in;
    return whole(user, in);
}

static tw_tensors changes(void *user, tw_tensors in)
{
    return tw_while(forever, wrong_dtype, user, in);
}

static void errors(void **state)
{
    (void)state;
    tw_auto tw_tensor *truth = tw_tensor_bool(true), *x = tw_tensor_float(1);
    pair p = { x, NULL };
    tw_auto tw_function *f = tw_function_new(mixed, &p), *g = tw_function_new(changes, &p);
    assert_null(tw_function_value(f, TW_TENSORS(truth)));
    expect_error(TW_TYPE_ERROR, "same number, type, and overall structure");
    assert_null(tw_function_value(g, TW_TENSORS(x)));
    expect_error(TW_TYPE_ERROR, "enters the loop with type <dtype: 'float32'>");
    assert_null(tw_cond(truth, NULL, negated, NULL).items);
    expect_error(TW_INVALID_ARGUMENT, "if_true is NULL");
    assert_null(tw_while(forever, NULL, NULL, TW_TENSORS(x)).items);
    expect_error(TW_INVALID_ARGUMENT, "body is NULL");
    assert_null(tw_while(forever, changes, NULL, ((tw_tensors){ 0 })).items);
    expect_error(TW_INVALID_ARGUMENT, "no values");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches), cmocka_unit_test(cases),      cmocka_unit_test(loops),  cmocka_unit_test(names),
        cmocka_unit_test(files),    cmocka_unit_test(invariants), cmocka_unit_test(errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
