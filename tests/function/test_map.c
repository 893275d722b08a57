/* Loops over rows, choices and second derivatives from C: at once and in functions, with gradients. */
#include <thalweg/thalweg.h>

#include "test.h"

static tw_tensor *numbers(void)
{
    return tw_tensor_new(TW_FLOAT32, TW_SHAPE(3), (float[]){ 1, 2, 3 });
}

static void need_values(tw_tensors tensors, int64_t which, const double *values, int64_t count)
{
    expect_no_error();
    assert_true(which < tensors.count);
    assert_int_equal(tw_tensor_count(tensors.items[which]), count);
    for (int64_t i = 0; i < count; i++)
        assert_true(tw_tensor_double_at(tensors.items[which], i) == values[i]);
}

/* The results of a body at once and in a function must be these; the gradient of the (summed) first one by the argument, too. */
static void need(tw_body body, const double *values, int64_t count, const double *gradient)
{
    tw_scoped();
    tw_auto tw_function *traced = tw_function_new(body, NULL);
    for (int which = 0; which < 2; which++) {
        tw_auto tw_tensor *x = numbers();
        tw_auto tw_tape *tape = tw_tape_start();
        tw_tape_watch(tape, TW_OBJECTS(x));
        tw_tensors results = { 0 };
        if (which) {
            tw_tensor *out[4];
            int made = 4;
            assert_int_equal(tw_function_call(traced, TW_TENSORS(x), out, &made), TW_OK);
            results = tw_give_((tw_tensors){ out, made });
            for (int i = 0; i < made; i++)
                tw_made(out[i]); /* tw_give retained it */
        } else {
            results = body(NULL, TW_TENSORS(x));
        }
        need_values(results, 0, values, count);
        tw_tensors found = gradient ? tw_tape_gradient(tape, TW_OBJECTS(results.items[0]), TW_OBJECTS(x)) : (tw_tensors){ 0 };
        if (gradient)
            need_values(found, 0, gradient, 3);
        tw_tensors_free(&found);
        tw_tensors_free(&results);
    }
    expect_no_error();
}

static tw_tensors square(__attribute__((unused)) void *user, tw_tensors in)
{
    return tw_give(tw_multiply(in.items[0], in.items[0]));
}

static tw_tensors map_squares(__attribute__((unused)) void *user, tw_tensors in)
{
    return tw_map(square, NULL, in, .name = "squares");
}

static tw_tensors map_known(__attribute__((unused)) void *user, tw_tensors in)
{
    return tw_map(square, NULL, in, .results = TW_SPECS({ TW_FLOAT32, TW_SCALAR }));
}

static tw_tensors sum_pair(__attribute__((unused)) void *user, tw_tensors in)
{
    return tw_give(tw_add(in.items[0], in.items[1]), in.items[0]);
}

static tw_tensors map_broadcast(__attribute__((unused)) void *user, tw_tensors in)
{
    tw_auto tw_tensor *ten = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1), (float[]){ 10 });
    return tw_map(sum_pair, NULL, TW_TENSORS(in.items[0], ten), .broadcast = true);
}

static void test_map(__attribute__((unused)) void **state)
{
    need(map_squares, (double[]){ 1, 4, 9 }, 3, (double[]){ 2, 4, 6 });
    need(map_known, (double[]){ 1, 4, 9 }, 3, (double[]){ 2, 4, 6 });
    need(map_broadcast, (double[]){ 11, 12, 13 }, 3, (double[]){ 1, 1, 1 });
}

static tw_tensors times_plus(__attribute__((unused)) void *user, tw_tensors in)
{
    tw_auto tw_tensor *product = tw_multiply(in.items[0], in.items[1]);
    return tw_give(tw_add(product, in.items[1]));
}

static tw_tensors fold_left(__attribute__((unused)) void *user, tw_tensors in)
{
    return tw_foldl(times_plus, NULL, in);
}

static tw_tensors fold_right(__attribute__((unused)) void *user, tw_tensors in)
{
    return tw_foldr(times_plus, NULL, in);
}

static tw_tensors scan_sums(__attribute__((unused)) void *user, tw_tensors in)
{
    return tw_scan(times_plus, NULL, in);
}

static tw_tensors scan_back(__attribute__((unused)) void *user, tw_tensors in)
{
    tw_auto tw_tensor *zero = tw_tensor_float(0);
    return tw_scan(times_plus, NULL, in, .initial = TW_TENSORS(zero), .reverse = true);
}

static void test_folds(__attribute__((unused)) void **state)
{
    need(fold_left, (double[]){ 15 }, 1, (double[]){ 6, 6, 5 });
    need(fold_right, (double[]){ 9 }, 1, (double[]){ 9, 4, 2 });
    need(scan_sums, (double[]){ 1, 4, 15 }, 3, (double[]){ 9, 8, 5 });
    need(scan_back, (double[]){ 9, 8, 3 }, 3, NULL);
}

static tw_tensors give_two(__attribute__((unused)) void *user, __attribute__((unused)) tw_tensors in)
{
    return tw_give(tw_tensor_float(2));
}

static tw_tensors give_three(__attribute__((unused)) void *user, __attribute__((unused)) tw_tensors in)
{
    return tw_give(tw_tensor_float(3));
}

static tw_tensors choose(void *user, tw_tensors in)
{
    tw_auto tw_tensor *sum = tw_reduce_sum(in.items[0]), *bound = tw_tensor_float(*(float *)user), *seven = tw_tensor_float(7);
    tw_auto tw_tensor *above = tw_greater(sum, bound), *below = tw_less(sum, seven);
    return tw_case(TW_TENSORS(above, below), ((tw_body[]){ give_two, give_three }), NULL, .exclusive = *(float *)user < 1);
}

static void test_case(__attribute__((unused)) void **state)
{
    tw_auto tw_tensor *x = numbers(), *big = tw_tensor_new(TW_FLOAT32, TW_SHAPE(1), (float[]){ 8 });
    float bound = 5;
    tw_tensors first = choose(&bound, TW_TENSORS(x));
    need_values(first, 0, (double[]){ 2 }, 1);
    tw_tensors_free(&first);
    bound = 100;
    tw_tensors second = choose(&bound, TW_TENSORS(x));
    need_values(second, 0, (double[]){ 3 }, 1);
    tw_tensors_free(&second);
    assert_null(choose(&bound, TW_TENSORS(big)).items);
    expect_error(TW_INVALID_ARGUMENT, "None of conditions evaluated as True");
    bound = 0;
    assert_null(choose(&bound, TW_TENSORS(x)).items);
    expect_error(TW_INVALID_ARGUMENT, "more than 1 conditions");
    tw_auto tw_function *traced = tw_function_new(choose, &bound);
    assert_null(tw_function_value(traced, TW_TENSORS(x)));
    expect_error(TW_INVALID_ARGUMENT, "more than 1 conditions");
}

static tw_tensors second(__attribute__((unused)) void *user, tw_tensors in)
{
    tw_auto tw_tensor *product = tw_multiply(in.items[0], in.items[0]), *cube = tw_multiply(product, in.items[0]);
    return tw_hessians(TW_OBJECTS(cube), TW_OBJECTS(in.items[0]));
}

static void test_hessians(__attribute__((unused)) void **state)
{
    tw_auto tw_tensor *x = numbers();
    tw_auto tw_function *traced = tw_function_new(second, NULL);
    tw_auto tw_tensor *matrix = tw_function_value(traced, TW_TENSORS(x));
    need_values(TW_TENSORS(matrix), 0, (double[]){ 6, 0, 0, 0, 12, 0, 0, 0, 18 }, 9);
    assert_null(second(NULL, TW_TENSORS(x)).items);
    expect_error(TW_RUNTIME_ERROR, "not supported when eager execution");
}

static void test_errors(__attribute__((unused)) void **state)
{
    tw_auto tw_tensor *x = numbers(), *scalar = tw_tensor_float(1), *two = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), NULL);
    assert_null(tw_map(square, NULL, TW_TENSORS(scalar)).items);
    expect_error(TW_VALUE_ERROR, "Elements in elems must be 1+ dimensional Tensors, not scalars");
    assert_null(tw_map(sum_pair, NULL, TW_TENSORS(x, two)).items);
    expect_error(TW_VALUE_ERROR, "Dimensions 3 and 2 are not compatible");
    assert_null(tw_map(NULL, NULL, TW_TENSORS(x)).items);
    expect_error(TW_INVALID_ARGUMENT, "body is NULL");
    assert_null(tw_foldl(sum_pair, NULL, TW_TENSORS(x)).items);
    expect_error(TW_VALUE_ERROR, "gave 2 tensors, expected 1");
    assert_null(tw_scan(times_plus, NULL, TW_TENSORS(NULL)).items);
    expect_error(TW_INVALID_ARGUMENT, "tw_fold: tensor 0: a tensor was expected, got NULL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map),      cmocka_unit_test(test_folds),  cmocka_unit_test(test_case),
        cmocka_unit_test(test_hessians), cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
