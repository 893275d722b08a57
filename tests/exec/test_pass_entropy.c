/* Cross-entropies and their gradients in one step: the same bits as without the pass, and when it keeps away. */
#include "traced.h"

#include "exec/internal.h"
#include "op/calls.h"
#include "rows.h"

typedef struct trial {
    const tw_op *op;
    int rows, columns;
    int factor; /* 0: a number, 1: one per row, 2: one per row that the losses tell, 3: per row, and the derivative is read again
                 */
    bool last;  /* the factor is the second side of the product */
} trial;

/* sum(losses) + sum(derivative * factors * (1, 2, 3, …)) */
static tw_status body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const trial *t = context;
    tw_tensor *given[2] = { NULL };
    int made = 2;
    (void)count;
    TW_TRY(tw__apply(t->op, arguments, 2, NULL, 0, given, &made));
    tw_auto tw_tensor *losses = given[0], *derivative = given[1], *axis = tw_tensor_int(-1);
    tw_auto tw_tensor *factors = t->factor == 2 ? TW_CALL(ExpandDims, losses, axis) : tw_retain(arguments[2]);
    tw_auto tw_tensor *gradient = t->last ? tw_multiply(derivative, factors) : tw_multiply(factors, derivative);
    tw_auto tw_tensor *more = t->factor == 3 ? tw_add(gradient, derivative) : tw_negative(gradient);
    tw_auto tw_tensor *columns = tw_reduce_sum(more, .axis = TW_INTS(1));
    return give(tw_subtract(losses, columns), outputs, output_count);
}

static bool joined(const tw__plan *plan)
{
    for (int i = 0; i < plan->step_count; i++) {
        if (plan->steps[i].label && strcmp(plan->steps[i].label, "CrossEntropy Mul") == 0)
            return true;
    }
    return false;
}

static tw_tensor *numbers(tw_dtype dtype, tw_shape shape, int seed, bool classes, int limit)
{
    tw_auto tw_tensor *out = tw_tensor_new(TW_FLOAT32, shape, NULL);
    for (int64_t i = 0; i < out->count; i++)
        ((float *)out->data)[i] = classes ? (float)((i * 7 + seed) % limit) : (float)((i * 37 + seed) % 1001) * 0.003f - 1;
    return tw_cast(out, dtype);
}

static void compare(trial t, tw_dtype dtype)
{
    bool sparse = t.op == &tw__op_SparseSoftmaxCrossEntropyWithLogits;
    const tw_shape whole = TW_SHAPE(t.rows, t.columns), row = TW_SHAPE(t.rows), column = TW_SHAPE(t.rows, 1);
    const tw_shape shapes[] = { whole, sparse ? row : whole, t.factor ? column : TW_SCALAR };
    const tw_dtype dtypes[] = { dtype, sparse ? TW_INT32 : dtype, dtype };
    tw_tensor *arguments[] = { numbers(dtype, whole, 1, false, 0), numbers(dtypes[1], shapes[1], 2, sparse, t.columns),
                               numbers(dtype, shapes[2], 3, false, 0) };
    tw_tensor *results[2];
    for (int way = 0; way < 2; way++) {
        tw__exec_passes = way ? ~(unsigned)TW_PASS_ENTROPY : ~0u;
        tw_auto tw__function *f = tw__function_trace("f", dtypes, shapes, 3, body, &t);
        expect_no_error();
        assert_int_equal(tw__function_call(f, arguments, &results[way]), TW_OK);
        assert_int_equal(joined(f->plan), !way && t.factor < 2);
    }
    tw__exec_passes = ~0u;
    assert_memory_equal(results[0]->data, results[1]->data, tw_tensor_bytes(results[0]));
    for (int i = 0; i < 3; i++)
        tw_release(arguments[i]);
    tw_release(results[0]);
    tw_release(results[1]);
}

static void same_bits(void **state)
{
    (void)state;
    static const int sizes[][2] = { { 1, 1 }, { 32, 10 }, { 300, 33 }, { 5, 3000 }, { 700, 64 } };
    for (int k = 0; k < 5 * 4 * 2 * 2; k++) {
        trial t = { k % 2 ? &tw__op_SparseSoftmaxCrossEntropyWithLogits : &tw__op_SoftmaxCrossEntropyWithLogits, sizes[k / 16][0],
                    sizes[k / 16][1], k / 2 % 4, k / 8 % 2 };
        compare(t, TW_FLOAT32);
        compare(t, TW_FLOAT64);
    }
}

/* Labels that are no classes are told as before. */
static void bad_labels(void **state)
{
    (void)state;
    trial t = { &tw__op_SparseSoftmaxCrossEntropyWithLogits, 3, 4, 0, false };
    const tw_shape shapes[] = { TW_SHAPE(3, 4), TW_SHAPE(3), TW_SCALAR };
    tw_auto tw__function *f = tw__function_trace("f", (tw_dtype[]){ TW_FLOAT32, TW_INT32, TW_FLOAT32 }, shapes, 3, body, &t);
    tw_auto tw_tensor *logits = numbers(TW_FLOAT32, shapes[0], 1, false, 0),
                      *labels = tw_tensor_new(TW_INT32, shapes[1], (int32_t[]){ 0, 4, 1 });
    tw_auto tw_tensor *factor = tw_tensor_float(1);
    tw_tensor *result = NULL;
    assert_int_equal(tw__function_call(f, TW_IN(logits, labels, factor), &result), TW_INVALID_ARGUMENT);
    expect_error(TW_INVALID_ARGUMENT, "Received a label value of 4");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_bits), cmocka_unit_test(bad_labels) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
