/* Fused chains, with broadcasts inside and reductions at their ends: one step (or the number that is left), and the bits of the
 * separate calls, over shapes that end inside of vectors, tiles and blocks. */
#include "traced.h"

#include "exec/internal.h"
#include "rows.h"

typedef struct trial {
    const tw_op *reduction;
    const int32_t *axes;
    int axis_count;
    bool keep;  /* the dimensions */
    bool again; /* the elements are used a second time */
} trial;

/* exp((x - y) * 0.5), reduced */
static tw_status body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const trial *t = context;
    (void)count;
    tw_auto tw_tensor *number = tw_tensor_double(0.5), *half = tw_cast(number, arguments[0]->dtype);
    tw_auto tw_tensor *difference = tw_subtract(arguments[0], arguments[1]);
    tw_auto tw_tensor *scaled = tw_multiply(difference, half);
    tw_auto tw_tensor *value = t->reduction == &tw__op_Prod ? tw_retain(scaled) : tw_exp(scaled);
    tw_auto tw_tensor *axes = tw_tensor_new(TW_INT32, TW_SHAPE(t->axis_count), t->axes);
    tw_attr keep[] = { TW_A_BOOL("keep_dims", t->keep) };
    tw_tensor *reduced = tw__call(t->reduction, TW_IN(value, axes), 2, keep, 1);
    if (!t->again)
        return give(reduced, outputs, output_count);
    tw_status status = give(tw_divide(value, reduced), outputs, output_count);
    tw_release(reduced);
    return status;
}

static tw_tensor *numbers(tw_dtype dtype, const tw_shape *shape, int seed)
{
    tw_auto tw_tensor *out = tw__tensor_empty(TW_FLOAT32, shape);
    uint32_t random = (uint32_t)seed;
    for (int64_t i = 0; i < out->count; i++) {
        random = random * 1664525u + 1013904223u;
        ((float *)out->data)[i] = (float)(random >> 8) * 0x1p-22f - 2;
    }
    return tw_cast(out, dtype);
}

static void compare(trial *t, tw_dtype dtype, const tw_shape *shapes, int steps)
{
    tw_tensor *arguments[] = { numbers(dtype, &shapes[0], 1), numbers(dtype, &shapes[1], 2) };
    tw_dtype dtypes[] = { dtype, dtype };
    tw_tensor *results[2] = { NULL };
    for (int way = 0; way < 2; way++) {
        tw__exec_passes = way ? ~(unsigned)TW_PASS_FUSE : ~0u;
        tw_auto tw__function *f = tw__function_trace("f", dtypes, shapes, 2, body, t);
        assert_int_equal(tw__function_call(f, arguments, &results[way]), TW_OK);
        expect_no_error();
        if (!way)
            assert_int_equal(tw__plan_steps(f->plan), steps);
    }
    tw__exec_passes = ~0u;
    assert_true(tw__shape_equal(&results[0]->shape, &results[1]->shape));
    if (memcmp(results[0]->data, results[1]->data, tw_tensor_bytes(results[0])) != 0)
        fail_msg("%s of %s %s differs", t->reduction->name, tw_dtype_name(dtype), tw__shape_text(&shapes[0]));
    for (int i = 0; i < 2; i++) {
        tw_release(results[i]);
        tw_release(arguments[i]);
    }
}

static const tw_op *const reductions[] = { &tw__op_Sum, &tw__op_Mean, &tw__op_Max,
                                           &tw__op_Min, &tw__op_Prod, &tw__op_EuclideanNorm };
enum { REDUCTIONS = sizeof reductions / sizeof *reductions };
static const int32_t first[] = { 0 }, last[] = { -1 }, both[] = { 0, 1 }, outer[] = { 0, 2 }, middle[] = { 1 };

static void matrices(void **state)
{
    (void)state;
    static const int sizes[][2] = { { 1, 5 },     { 7, 3 },    { 50, 10 },    { 64, 64 },    { 33, 1000 }, { 1000, 33 },
                                    { 300, 257 }, { 5, 5000 }, { 129, 4128 }, { 3, 100003 }, { 1, 90001 }, { 4099, 65 } };
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++) {
        const tw_shape whole = TW_SHAPE(sizes[n][0], sizes[n][1]), row = TW_SHAPE(sizes[n][1]), column = TW_SHAPE(sizes[n][0], 1),
                       one = TW_SHAPE(1);
        const tw_shape pairs[][2] = { { whole, whole }, { whole, row }, { whole, column }, { row, whole }, { whole, one } };
        for (size_t k = 0; k < REDUCTIONS * 5; k++) {
            tw_dtype dtype = (n + k) % 3 ? TW_FLOAT32 : TW_FLOAT64;
            trial t = { reductions[k % REDUCTIONS], both, 2, false, false };
            compare(&t, dtype, pairs[k / REDUCTIONS], 1);
            t = (trial){ reductions[k % REDUCTIONS], last, 1, true, true };
            compare(&t, dtype, pairs[k / REDUCTIONS], 2);
            t = (trial){ reductions[k % REDUCTIONS], last, 1, false, false };
            compare(&t, dtype, pairs[k / REDUCTIONS], 1);
            t = (trial){ reductions[k % REDUCTIONS], first, 1, true, false };
            bool apart = sizes[n][1] < 512 && sizes[n][1] > 1 && (int64_t)sizes[n][0] * sizes[n][1] >= 2 * 8 * 1024 &&
                         !((int64_t)sizes[n][0] * sizes[n][1] >= 262144 && sizes[n][1] <= 256) && t.reduction != &tw__op_Prod;
            apart |= t.reduction == &tw__op_Prod && sizes[n][1] == 257;
            compare(&t, dtype, pairs[k / REDUCTIONS], apart ? 2 : 1);
        }
    }
}

/* More dimensions: what is reduced lies between, or on both sides of, what is kept. */
static void more_dimensions(void **state)
{
    (void)state;
    const tw_shape shapes[][2] = { { TW_SHAPE(5, 70, 600), TW_SHAPE(70, 1) },
                                   { TW_SHAPE(5, 70, 600), TW_SHAPE(5, 1, 1) },
                                   { TW_SHAPE(5, 70, 600), TW_SHAPE(70, 600) },
                                   { TW_SHAPE(9, 3, 2), TW_SHAPE(1, 3, 2) },
                                   { TW_SHAPE(2, 300, 520), TW_SHAPE(1, 1, 520) } };
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
        for (int k = 0; k < REDUCTIONS; k++) {
            trial t = { reductions[k], outer, 2, true, false };
            compare(&t, TW_FLOAT32, shapes[n], 1);
            t = (trial){ reductions[k], middle, 1, true, true };
            compare(&t, TW_FLOAT32, shapes[n], 2);
        }
    }
}

/* [5, 1, 6] in [5, 7, 6] is none of the patterns: the difference is a step of its own. */
static void other_broadcasts(void **state)
{
    (void)state;
    const tw_shape shapes[] = { TW_SHAPE(5, 7, 6), TW_SHAPE(5, 1, 6) };
    trial t = { &tw__op_Sum, both, 2, false, false };
    compare(&t, TW_FLOAT32, shapes, 2);
    const tw_shape none[] = { TW_SHAPE(0, 7), TW_SHAPE(7) };
    t = (trial){ &tw__op_Mean, last, 1, false, false };
    tw_auto tw_tensor *x = numbers(TW_FLOAT32, &none[0], 1), *y = numbers(TW_FLOAT32, &none[1], 1);
    tw_auto tw__function *f = tw__function_trace("f", (tw_dtype[]){ TW_FLOAT32, TW_FLOAT32 }, none, 2, body, &t);
    tw_tensor *result = NULL;
    assert_int_equal(tw__function_call(f, TW_IN(x, y), &result), TW_OK);
    assert_int_equal(tw_tensor_count(result), 0);
    tw_release(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(matrices), cmocka_unit_test(more_dimensions),
                                        cmocka_unit_test(other_broadcasts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
