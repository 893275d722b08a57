/* Calls that plans take in: the steps of what is called in the call's place, named after it; what stays a call; the same values
 * and effects in the same order with and without. */
#include "traced.h"

#include "exec/internal.h"
#include "rows.h"

typedef struct nest {
    tw__function *inner;
    tw_variable *variable;
    int calls;
} nest;

static const tw_dtype one_float[] = { TW_FLOAT32 };

/* tanh(x) * x */
static tw_status leaf(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)context, (void)count;
    tw_auto tw_tensor *tanh = tw_tanh(arguments[0]);
    return give(tw_multiply(tanh, arguments[0]), outputs, output_count);
}

/* The inner function, several times over, and a sum */
static tw_status chained(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const nest *n = context;
    (void)count;
    tw_auto tw_tensor *value = tw_retain(arguments[0]);
    for (int i = 0; i < n->calls; i++) {
        tw_tensor *next = NULL;
        TW_TRY(tw__function_call(n->inner, &value, &next));
        tw_release(value);
        value = next;
    }
    return give(tw_add(value, arguments[0]), outputs, output_count);
}

/* v = 2 v + x; the old v */
static tw_status effects(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const nest *n = context;
    (void)count;
    tw_auto tw_tensor *old = tw_variable_read(n->variable), *twice = tw_add(old, old), *now = tw_add(twice, arguments[0]);
    tw_release(tw_variable_assign(n->variable, now));
    return give(tw_retain(old), outputs, output_count);
}

static tw_status random_body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    (void)context, (void)count;
    tw_auto tw_tensor *shape = tw_tensor_new(TW_INT32, TW_SHAPE(1), (int32_t[]){ 4 });
    tw_attr attrs[] = { TW_A_INT("seed", 1), TW_A_INT("seed2", 2), TW_A_TYPE("dtype", TW_FLOAT32) };
    tw_auto tw_tensor *noise = tw__call(&tw__op_RandomUniform, TW_IN(shape), 1, attrs, 3), *sum = tw_reduce_sum(noise);
    return give(tw_add(arguments[0], sum), outputs, output_count);
}

static tw__function *trace(tw__function_body body, nest *n, int64_t size)
{
    const tw_shape shape[] = { TW_SHAPE(size) };
    tw__function *f = tw__function_trace("f", one_float, shape, 1, body, n);
    expect_no_error();
    return f;
}

static float run(tw__function *f, float value)
{
    float values[] = { value, value };
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), values);
    tw_tensor *y = NULL;
    tw__function_call(f, &x, &y);
    expect_no_error();
    float result = (float)tw_tensor_double_at(y, 1);
    tw_release(y);
    return result;
}

static int count_calls(const tw__plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->step_count; i++)
        count += tw__starts_with(plan->steps[i].op->name, "PartitionedCall") ||
                 tw__starts_with(plan->steps[i].op->name, "StatefulPartitionedCall");
    return count;
}

static void nested(void **state)
{
    (void)state;
    float results[2];
    for (int way = 0; way < 2; way++) {
        tw__exec_passes = way ? ~(unsigned)(TW_PASS_INLINE | TW_PASS_FUSE) : ~(unsigned)TW_PASS_FUSE;
        tw_auto tw__function *inner = trace(leaf, NULL, 2), *middle = trace(chained, &(nest){ inner, NULL, 2 }, 2);
        tw_auto tw__function *outer = trace(chained, &(nest){ middle, NULL, 3 }, 2);
        results[way] = run(outer, 0.75f);
        assert_int_equal(count_calls(outer->plan), way ? 3 : 0);
        assert_int_equal(tw__plan_steps(outer->plan), way ? 4 : 3 * 5 + 1);
        if (way)
            continue;
        assert_string_equal(tw__step_name(&outer->plan->steps[0]), "PartitionedCall/PartitionedCall/Tanh");
        assert_string_equal(tw__step_name(&outer->plan->steps[15]), "Add");
    }
    tw__exec_passes = ~0u;
    assert_true(results[0] == results[1]);
}

/* A function that is gone but for the plan that took it in */
static void owner(void **state)
{
    (void)state;
    tw__function *inner = trace(leaf, NULL, 2);
    tw_auto tw__function *outer = trace(chained, &(nest){ inner, NULL, 1 }, 2);
    float before = run(outer, 0.5f);
    tw_release(inner);
    assert_true(run(outer, 0.5f) == before);
}

static void side_effects(void **state)
{
    (void)state;
    float after[2], results[2];
    for (int way = 0; way < 2; way++) {
        tw__exec_passes = way ? 0 : ~0u;
        tw_auto tw_tensor *start = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), (float[]){ 1, 1 });
        tw_auto tw_variable *v = tw_variable(start);
        tw_auto tw__function *inner = trace(effects, &(nest){ .variable = v }, 2),
                             *outer = trace(chained, &(nest){ inner, NULL, 3 }, 2);
        results[way] = run(outer, 0.5f);
        assert_int_equal(count_calls(outer->plan), way ? 3 : 0);
        tw_auto tw_tensor *value = tw_variable_read(v);
        after[way] = (float)tw_tensor_double_at(value, 0);
    }
    tw__exec_passes = ~0u;
    assert_true(results[0] == results[1] && after[0] == after[1]);
    assert_float_equal(after[0], 2 * (2 * (2 * 1 + 0.5f) + 1) + 2.5f, 0);
}

/* Random numbers belong to the call, as in TensorFlow: a function has some when the program calls it, and others in each function
 * that calls it. */
static void streams(void **state)
{
    (void)state;
    tw_auto tw__function *noise = trace(random_body, NULL, 2), *alone = trace(random_body, NULL, 2);
    tw_auto tw__function *outer = trace(chained, &(nest){ noise, NULL, 1 }, 2);
    float first = run(alone, 1), second = run(alone, 1);
    assert_true(run(noise, 1) == first);
    assert_true(run(outer, 1) == first + 1 && run(outer, 1) == second + 1);
    assert_true(run(noise, 1) == second);
    assert_int_equal(count_calls(outer->plan), 1);
}

/* A function of two elements, called by one that takes any number: the call tells when it is another. Plans for two elements take
 * it in. */
static void shapes(void **state)
{
    (void)state;
    tw_auto tw__function *inner = trace(leaf, NULL, 2), *outer = trace(chained, &(nest){ inner, NULL, 2 }, -1);
    float first = run(outer, 0.25f);
    assert_int_equal(count_calls(outer->plan), 1); /* what the first call gives has two elements */
    for (int i = 0; i < 3; i++)
        assert_true(run(outer, 0.25f) == first);
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2), NULL), *three = tw_tensor_new(TW_FLOAT32, TW_SHAPE(3), NULL);
    char *text = tw__function_plan_text(outer, &x);
    assert_null(strstr(text, "  PartitionedCall  "));
    tw__free(text);
    tw_tensor *y = NULL;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(tw__function_call(outer, &three, &y), TW_INVALID_ARGUMENT);
        expect_error(TW_INVALID_ARGUMENT, "PartitionedCall");
    }
}

/* Each function calls the one before twice: as many as two to the fortieth steps, were there no end to it. */
static void too_many(void **state)
{
    (void)state;
    enum { LEVELS = 40 };
    tw__function *all[LEVELS] = { trace(leaf, NULL, 2) };
    for (int i = 1; i < LEVELS; i++)
        all[i] = trace(chained, &(nest){ all[i - 1], NULL, i < 12 ? 2 : 1 }, 2);
    tw__exec_passes &= ~(unsigned)TW_PASS_FUSE;
    run(all[LEVELS - 1], 0.01f);
    assert_true(tw__plan_steps(all[LEVELS - 1]->plan) < 30000 && count_calls(all[LEVELS - 1]->plan) > 0);
    tw__exec_passes = ~0u;
    for (int i = 0; i < LEVELS; i++)
        tw_release(all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(nested),  cmocka_unit_test(owner),  cmocka_unit_test(side_effects),
                                        cmocka_unit_test(streams), cmocka_unit_test(shapes), cmocka_unit_test(too_many) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
