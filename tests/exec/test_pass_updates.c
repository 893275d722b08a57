/* The optimizers' ops for all variables in one step: how many steps there are, the same bits as without the pass, and when it
 * keeps away. */
#include "traced.h"

#include "exec/internal.h"
#include "rows.h"

enum { VARIABLES = 5, ROUNDS = 3 };
static const int sizes[VARIABLES] = { 7, 40001, 64, 16384, 1 };

typedef enum kind { HAND, HAND_ADDED, DESCENT, MOMENTUM, NESTEROV, KERAS, RMSPROP, KINDS } kind;

typedef struct training {
    kind kind;
    tw_dtype dtype;
    tw_variable *weights[VARIABLES], *slots[VARIABLES], *more[VARIABLES];
    bool looks; /* the body reads a weight between the updates */
    bool twice; /* one variable is updated twice */
} training;

static tw_variable *new_variable(tw_dtype dtype, int size, int seed)
{
    tw_auto tw_tensor *values = tw_tensor_new(TW_FLOAT32, TW_SHAPE(size), NULL);
    for (int i = 0; i < size; i++)
        ((float *)values->data)[i] = (float)((i * 37 + seed) % 1001) * 0.003f + 0.01f;
    tw_auto tw_tensor *value = tw_cast(values, dtype);
    return tw_variable(value);
}

static tw_tensor *number(const training *t, double value)
{
    tw_auto tw_tensor *wide = tw_tensor_double(value);
    return tw_cast(wide, t->dtype);
}

static tw_status apply(const tw_op *op, tw_tensor **inputs, int count, bool nesterov)
{
    tw_attr attrs[] = { TW_A_BOOL("use_nesterov", nesterov) };
    int outputs = 0;
    bool has = op == &tw__op_ResourceApplyMomentum || op == &tw__op_ResourceApplyKerasMomentum;
    return tw__apply(op, inputs, count, attrs, has, NULL, &outputs);
}

static tw_status update(training *t, int i, tw_tensor *gradient)
{
    tw_auto tw_tensor *rate = number(t, 0.1), *decay = number(t, 0.9), *epsilon = number(t, 1e-3);
    tw_tensor *w = t->weights[i]->handle, *m = t->slots[i]->handle, *v = t->more[i]->handle;
    switch (t->kind) {
    case HAND:
    case HAND_ADDED: {
        tw_auto tw_tensor *change = i % 2 ? tw_multiply(gradient, rate) : tw_multiply(rate, gradient);
        tw_release(t->kind == HAND ? tw_variable_assign_sub(t->weights[i], change)
                                   : tw_variable_assign_add(t->weights[i], change));
        return tw_error_code();
    }
    case DESCENT:
        return apply(&tw__op_ResourceApplyGradientDescent, TW_IN(w, rate, gradient), 3, false);
    case KERAS:
        return apply(&tw__op_ResourceApplyKerasMomentum, TW_IN(w, m, rate, gradient, decay), 5, i % 2);
    case RMSPROP:
        return apply(&tw__op_ResourceApplyRMSProp, TW_IN(w, m, v, rate, decay, decay, epsilon, gradient), 8, false);
    default:
        return apply(&tw__op_ResourceApplyMomentum, TW_IN(w, m, rate, gradient, decay), 5, t->kind == NESTEROV);
    }
}

/* The gradient of each variable is its sine times the argument. */
static tw_status body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    training *t = context;
    tw_tensor *gradients[VARIABLES];
    (void)count;
    for (int i = 0; i < VARIABLES; i++) {
        tw_auto tw_tensor *value = tw_variable_read(t->weights[i]), *sine = tw_sin(value),
                          *factor = tw_cast(arguments[0], t->dtype);
        gradients[i] = tw_multiply(sine, factor);
    }
    tw_auto tw_tensor *seen = NULL;
    for (int i = 0; i < VARIABLES; i++) {
        TW_TRY(update(t, i, gradients[i]));
        if (t->looks && i == 2)
            seen = tw_variable_read(t->weights[1]);
    }
    if (t->twice)
        TW_TRY(update(t, 1, gradients[1]));
    for (int i = 0; i < VARIABLES; i++)
        tw_release(gradients[i]);
    tw_auto tw_tensor *last = tw_variable_read(t->weights[1]);
    return give(seen ? tw_subtract(last, seen) : tw_retain(last), outputs, output_count);
}

static int joined(const tw__plan *plan)
{
    int count = 0;
    for (int i = 0; i < plan->step_count; i++)
        count += plan->steps[i].label && strcmp(plan->steps[i].label, "Updates") == 0;
    return count;
}

static void train(training *t, bool on, int steps, tw_tensor **after)
{
    for (int i = 0; i < VARIABLES; i++) {
        t->weights[i] = new_variable(t->dtype, sizes[i], i);
        t->slots[i] = new_variable(t->dtype, sizes[i], 100 + i);
        t->more[i] = new_variable(t->dtype, sizes[i], 200 + i);
    }
    tw__exec_passes = on ? ~0u : ~(unsigned)TW_PASS_UPDATES;
    tw_auto tw__function *f = tw__function_trace("f", (tw_dtype[]){ TW_FLOAT32 }, (tw_shape[]){ TW_SCALAR }, 1, body, t);
    expect_no_error();
    tw_auto tw_tensor *x = tw_tensor_float(0.5f);
    for (int n = 0; n < ROUNDS; n++) {
        tw_tensor *y = NULL;
        assert_int_equal(tw__function_call(f, &x, &y), TW_OK);
        if (n == ROUNDS - 1)
            after[2 * VARIABLES] = y;
        else
            tw_release(y);
    }
    expect_no_error();
    assert_int_equal(joined(f->plan), on ? steps : 0);
    tw__exec_passes = ~0u;
    for (int i = 0; i < VARIABLES; i++) {
        after[i] = tw_variable_read(t->weights[i]);
        after[VARIABLES + i] = tw_variable_read(t->slots[i]);
        tw_release(t->weights[i]);
        tw_release(t->slots[i]);
        tw_release(t->more[i]);
    }
}

static void compare(training t, int steps)
{
    enum { VALUES = 2 * VARIABLES + 1 };
    tw_tensor *results[2][VALUES];
    for (int way = 0; way < 2; way++)
        train(&t, way == 0, steps, results[way]);
    for (int i = 0; i < VALUES; i++) {
        if (memcmp(results[0][i]->data, results[1][i]->data, tw_tensor_bytes(results[0][i])) != 0)
            fail_msg("kind %d: value %d differs", (int)t.kind, i);
        tw_release(results[0][i]);
        tw_release(results[1][i]);
    }
}

static void same_bits(void **state)
{
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        compare((training){ .kind = k, .dtype = TW_FLOAT32 }, 1);
        compare((training){ .kind = k, .dtype = TW_FLOAT64 }, 1);
    }
    compare((training){ .kind = KERAS, .dtype = TW_FLOAT16 }, 0);
}

/* A read that may be of the variable parts the updates; one that is updated twice is found when they run. */
static void kept_apart(void **state)
{
    (void)state;
    for (kind k = 0; k < KINDS; k++) {
        compare((training){ .kind = k, .dtype = TW_FLOAT32, .looks = true }, 2);
        compare((training){ .kind = k, .dtype = TW_FLOAT32, .twice = true }, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_bits), cmocka_unit_test(kept_apart) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
