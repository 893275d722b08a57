/* Steps that need not run are gone: by the number of steps that are left, and the same bits without the pass. */
#include "test.h"

#include "exec/internal.h"
#include "function/function.h"
#include "op/calls.h"
#include "rows.h"

typedef tw_tensor *expression(tw_tensor *x, tw_tensor *y);

static tw_status body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    assert_int_equal(count, 2);
    *outputs = tw__alloc_array(1, sizeof **outputs);
    (*outputs)[0] = (*(expression **)context)(arguments[0], arguments[1]);
    *output_count = 1;
    return tw_error_code();
}

static tw_tensor *take(const tw_op *op, tw_tensor *a, tw_tensor *b)
{
    tw_tensor *result = tw__call(op, TW_IN(a, b), b ? 2 : 1, NULL, 0);
    tw_release(a);
    tw_release(b);
    return result;
}

static tw_tensor *order(int a, int b, int c)
{
    const int32_t axes[] = { a, b, c };
    return tw_tensor_new(TW_INT32, TW_SHAPE(3), axes);
}

static tw_tensor *sizes(int a, int b)
{
    const int32_t values[] = { a, b };
    return tw_tensor_new(TW_INT32, TW_SHAPE(2), values);
}

/* x and y are [2, 3, 4]. */
static tw_tensor *constants(tw_tensor *x, tw_tensor *y)
{
    (void)y;
    tw_auto tw_tensor *ones = TW_CALL(OnesLike, x);
    tw_tensor *flat = take(&tw__op_Reshape, tw_retain(ones), sizes(4, 6));
    tw_tensor *half = take(&tw__op_RealDiv, flat, tw_tensor_float(2));
    return take(&tw__op_Mul, take(&tw__op_Reshape, tw_retain(x), sizes(4, 6)), half);
}

static tw_tensor *reshapes(tw_tensor *x, tw_tensor *y)
{
    (void)y;
    tw_tensor *once = take(&tw__op_Reshape, tw_retain(x), sizes(4, 6));
    tw_tensor *twice = take(&tw__op_Reshape, once, sizes(-1, 3));
    return take(&tw__op_Neg, take(&tw__op_Reshape, twice, sizes(8, 3)), NULL);
}

static tw_tensor *transposes(tw_tensor *x, tw_tensor *y)
{
    (void)y;
    tw_tensor *there = take(&tw__op_Transpose, tw_retain(x), order(2, 0, 1));
    tw_tensor *back = take(&tw__op_Transpose, there, order(1, 2, 0));
    return take(&tw__op_Neg, take(&tw__op_Transpose, back, order(0, 1, 2)), NULL);
}

static tw_tensor *turned(tw_tensor *x, tw_tensor *y)
{
    (void)y;
    tw_tensor *once = take(&tw__op_Transpose, tw_retain(x), order(2, 0, 1));
    return take(&tw__op_Neg, take(&tw__op_Transpose, once, order(2, 0, 1)), NULL);
}

static tw_tensor *neutral(tw_tensor *x, tw_tensor *y)
{
    (void)y;
    tw_tensor *product = take(&tw__op_Mul, tw_tensor_float(1), tw_retain(x));
    tw_tensor *quotient = take(&tw__op_RealDiv, take(&tw__op_Mul, product, tw_tensor_float(1)), tw_tensor_float(1));
    return take(&tw__op_Neg, take(&tw__op_Sub, quotient, tw_tensor_float(0)), NULL);
}

/* -0 + 0 is not -0, and x - (-0) is not x there. */
static tw_tensor *not_neutral(tw_tensor *x, tw_tensor *y)
{
    (void)y;
    return take(&tw__op_Sub, take(&tw__op_AddV2, tw_retain(x), tw_tensor_float(0)), tw_tensor_float(-0.0f));
}

static tw_tensor *cast(tw_tensor *x, tw_tensor *y)
{
    (void)y;
    tw_auto tw_tensor *same = TW_CALL(Cast, x, TW_A_TYPE("DstT", TW_FLOAT32));
    return TW_CALL(Neg, same);
}

static tw_tensor *flags(tw_tensor *x, tw_tensor *y)
{
    tw_tensor *turned_y = take(&tw__op_Transpose, tw_retain(y), order(0, 2, 1));
    return take(&tw__op_BatchMatMulV2, tw_retain(x), turned_y);
}

static tw_tensor *matrix_flags(tw_tensor *x, tw_tensor *y)
{
    tw_tensor *a = take(&tw__op_Reshape, tw_retain(x), sizes(4, 6)), *b = take(&tw__op_Reshape, tw_retain(y), sizes(4, 6));
    tw_tensor *turned_a = take(&tw__op_Transpose, a, sizes(1, 0)), *turned_b = take(&tw__op_Transpose, b, sizes(1, 0));
    tw_auto tw_tensor *both = TW_CALL(MatMul, turned_b, turned_a, TW_A_BOOL("transpose_a", true));
    tw_release(turned_b);
    tw_release(turned_a);
    return take(&tw__op_Relu, tw_retain(both), NULL);
}

static void check(expression *of, int steps, int steps_without)
{
    static const tw_dtype dtypes[] = { TW_FLOAT32, TW_FLOAT32 };
    const tw_shape shapes[] = { TW_SHAPE(2, 3, 4), TW_SHAPE(2, 3, 4) };
    float values[24];
    for (int i = 0; i < 24; i++)
        values[i] = i == 5 ? -0.0f : (float)((i * 7) % 11 - 5) * 0.3f;
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, shapes[0], values);
    tw_tensor *arguments[] = { x, x }, *results[2];
    for (int way = 0; way < 2; way++) {
        tw__exec_passes = way ? 0 : ~0u & ~(unsigned)TW_PASS_FUSE;
        tw_auto tw__function *function = tw__function_trace("f", dtypes, shapes, 2, body, &of);
        expect_no_error();
        assert_int_equal(tw__function_call(function, arguments, &results[way]), TW_OK);
        assert_int_equal(tw__plan_steps(function->plan), way ? steps_without : steps);
    }
    tw__exec_passes = ~0u;
    assert_int_equal(tw_tensor_count(results[0]), tw_tensor_count(results[1]));
    assert_memory_equal(tw_tensor_data(results[0]), tw_tensor_data(results[1]),
                        (size_t)tw_tensor_count(results[0]) * sizeof(float));
    tw_release(results[0]);
    tw_release(results[1]);
}

static void each(void **state)
{
    (void)state;
    check(constants, 2, 5);
    check(reshapes, 2, 4);
    check(transposes, 1, 4);
    check(turned, 3, 3);
    check(neutral, 1, 5);
    check(not_neutral, 2, 2);
    check(cast, 1, 2);
    check(flags, 1, 2);
    check(matrix_flags, 3, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
