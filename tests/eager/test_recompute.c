/* tf.recompute_grad and tf.grad_pass_through from C: values, gradients of any order, variables, and the memory that is given up.
 */
#include <malloc.h>
#include <thalweg/gradient.h>
#include <thalweg/thalweg.h>

#include "tensor/tensor.h"
#define TW_TEST_SCOPES
#include "test.h"

static int runs, ended;

static void end(void *user)
{
    (void)user;
    ended++;
}

static tw_tensors cube(void *user, tw_tensors in)
{
    runs++;
    tw_auto tw_tensor *w = user ? tw_variable_read(user) : tw_retain(in.items[0]),
                      *square = tw_multiply(in.items[0], in.items[0]);
    return tw_give(tw_multiply(square, w));
}

static void gradients_of_any_order(void **state)
{
    (void)state;
    runs = ended = 0;
    tw_auto tw_tensor *x = tw_tensor_float(2);
    {
        tw_auto tw_tape *outer = tw_tape_start(), *tape = tw_tape_start();
        tw_tape_watch(outer, TW_OBJECTS(x));
        tw_tape_watch(tape, TW_OBJECTS(x));
        tw_tensors y = tw_recompute_grad(cube, NULL, end, TW_TENSORS(x));
        expect_no_error();
        assert_int_equal(y.count, 1);
        assert_float_equal(tw_tensor_double_at(y.items[0], 0), 8, 0);
        assert_int_equal(runs, 1);
        tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(y.items[0]), TW_OBJECTS(x));
        assert_int_equal(runs, 2);
        assert_float_equal(tw_tensor_double_at(g.items[0], 0), 12, 0);
        tw_tensors second = tw_tape_gradient(outer, TW_OBJECTS(g.items[0]), TW_OBJECTS(x));
        expect_no_error();
        assert_float_equal(tw_tensor_double_at(second.items[0], 0), 12, 0);
        tw_tensors_free(&y);
        tw_tensors_free(&g);
        tw_tensors_free(&second);
    }
    assert_int_equal(ended, 1);
}

static void gradients_of_variables(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(3), *first = tw_tensor_float(5);
    tw_auto tw_variable *w = tw_variable(first, .name = "w");
    tw_auto tw_tape *tape = tw_tape_start();
    tw_tape_watch(tape, TW_OBJECTS(x));
    tw_tensors y = tw_recompute_grad(cube, w, NULL, TW_TENSORS(x)),
               g = tw_tape_gradient(tape, TW_OBJECTS(y.items[0]), TW_OBJECTS(x, w));
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(g.items[0], 0), 30, 0);
    assert_float_equal(tw_tensor_double_at(g.items[1], 0), 9, 0);
    tw_tensors_free(&y);
    tw_tensors_free(&g);
}

static tw_tensors traced(void *user, tw_tensors in)
{
    tw_auto tw_tape *tape = tw_tape_start();
    tw_tape_watch(tape, TW_OBJECTS(in.items[0]));
    tw_tensors y = tw_recompute_grad(cube, user, NULL, in),
               g = tw_tape_gradient(tape, TW_OBJECTS(y.items[0]), TW_OBJECTS(in.items[0]));
    tw_tensors_free(&y);
    return g;
}

static void in_a_function(void **state)
{
    (void)state;
    tw_auto tw_function *f = tw_function_new(traced, NULL, .name = "traced");
    tw_auto tw_tensor *x = tw_tensor_float(2), *y = tw_function_value(f, TW_TENSORS(x));
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(y, 0), 12, 0);
}

/* ---- memory ---- */

enum { ELEMENTS = 1 << 20, STEPS = 8 };

static tw_tensors many_steps(void *user, tw_tensors in)
{
    (void)user;
    tw_tensor *x = tw_retain(in.items[0]);
    for (int i = 0; i < STEPS; i++) {
        tw_tensor *next = tw_sin(x);
        tw_release(x);
        x = next;
    }
    return tw_give(x);
}

static size_t in_use(void)
{
    tw__buffer_trim();
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* What a tape holds of the steps, in tensors of one step. */
static size_t held(tw_tensor *x, bool again)
{
    size_t before = in_use();
    tw_auto tw_tape *tape = tw_tape_start();
    tw_tape_watch(tape, TW_OBJECTS(x));
    tw_tensors y = again ? tw_recompute_grad(many_steps, NULL, NULL, TW_TENSORS(x)) : many_steps(NULL, TW_TENSORS(x));
    size_t after = in_use();
    tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(y.items[0]), TW_OBJECTS(x));
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(g.items[0], 7), 1, 0); /* cos(0), again and again */
    tw_tensors_free(&y);
    tw_tensors_free(&g);
    return (after - before) / (ELEMENTS * sizeof(float));
}

static void gives_up_memory(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(ELEMENTS), NULL);
    size_t whole = held(x, false), again = held(x, true);
    if (!TW_SANITIZED) {
        assert_in_range(whole, STEPS, 2 * STEPS); /* blocks are rounded up */
        assert_in_range(again, 0, 3);
    }
}

/* ---- the gradient of the identity ---- */

static tw_tensors rounded(void *user, tw_tensors in)
{
    (void)user;
    return tw_give(tw_round(in.items[0]));
}

static tw_tensors sum_of_two(void *user, tw_tensors in)
{
    (void)user;
    return tw_give(tw_add(in.items[0], in.items[1]));
}

static void passes_through(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(1.4f);
    tw_auto tw_tape *tape = tw_tape_start(.persistent = true);
    tw_tape_watch(tape, TW_OBJECTS(x));
    tw_tensors y = tw_grad_pass_through(rounded, NULL, TW_TENSORS(x));
    tw_auto tw_tensor *z = tw_multiply(y.items[0], y.items[0]);
    tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(z), TW_OBJECTS(x));
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(g.items[0], 0), 2, 0);
    tw_tensors two = tw_grad_pass_through(sum_of_two, NULL, TW_TENSORS(x, x));
    tw_tensors none = tw_tape_gradient(tape, TW_OBJECTS(two.items[0]), TW_OBJECTS(x));
    assert_null(none.items);
    expect_error(TW_VALUE_ERROR, "expected to return 2 gradients, but returned 1 instead.");
    tw_tensors_free(&y);
    tw_tensors_free(&g);
    tw_tensors_free(&two);
}

static tw_tensors failing(void *user, tw_tensors in)
{
    (void)user;
    (void)in;
    return TW_GIVE_FAILURE;
}

static void failures(void **state)
{
    (void)state;
    ended = 0;
    tw_auto tw_tensor *x = tw_tensor_float(1);
    tw_tensors y = tw_recompute_grad(failing, NULL, end, TW_TENSORS(x));
    assert_null(y.items);
    assert_int_equal(ended, 1);
    tw_clear_error();
    y = tw_recompute_grad(NULL, NULL, NULL, TW_TENSORS(x));
    assert_null(y.items);
    expect_error(TW_INVALID_ARGUMENT, "tw_recompute_grad");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_of_any_order), cmocka_unit_test(gradients_of_variables), cmocka_unit_test(in_a_function),
        cmocka_unit_test(gives_up_memory),        cmocka_unit_test(passes_through),         cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
