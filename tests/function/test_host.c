/* C functions as operations (tw_host_function): at once, in graphs, their gradients; and printing from C. */
#include <stdio.h>
#include <thalweg/thalweg.h>

#include "op/host/host.h"
#include "scratch.h"
#include "tensor/tensor.h"
#include "test.h"

static int calls;

static tw_status square(void *user, tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count)
{
    (void)user;
    assert_true(input_count == 1 && output_count == 1);
    assert_non_null(inputs[0]->data);
    calls++;
    outputs[0] = tw_multiply(inputs[0], inputs[0]);
    return outputs[0] ? TW_OK : tw_error_code();
}

static tw_status nothing(void *user, tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count)
{
    (void)inputs;
    (void)input_count;
    (void)outputs;
    (void)output_count;
    *(int *)user += 1;
    return TW_OK;
}

static tw_status failing(void *user, tw_tensor *const *inputs, int input_count, tw_tensor **outputs, int output_count)
{
    (void)user;
    (void)inputs;
    (void)input_count;
    (void)outputs;
    (void)output_count;
    return tw__fail(TW_NOT_FOUND, "the function failed");
}

static const tw_dtype one_float[] = { TW_FLOAT32 }, one_int[] = { TW_INT32 };

static tw_tensors body(void *user, tw_tensors in)
{
    tw_tensor *y = NULL;
    if (tw_host_function(nothing, user, TW_GIVE_NOTHING, NULL, 0, NULL) != TW_OK ||
        tw_host_function(square, NULL, in, one_float, 1, &y) != TW_OK)
        return TW_GIVE_FAILURE;
    tw_auto tw_tensor *own = y;
    return tw_give(tw_add(own, in.items[0]));
}

static void at_once(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(3), *y = NULL;
    tw_auto tw_tape *tape = tw_tape_start();
    tw_tape_watch(tape, TW_OBJECTS(x));
    assert_int_equal(tw_host_function(square, NULL, TW_TENSORS(x), one_float, 1, &y), TW_OK);
    tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(y), TW_OBJECTS(x));
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(y, 0), 9, 0);
    assert_float_equal(tw_tensor_double_at(g.items[0], 0), 6, 0);
    tw_tensors_free(&g);
    tw_tensor *wrong = NULL;
    assert_int_equal(tw_host_function(square, NULL, TW_TENSORS(x), one_int, 1, &wrong), TW_INVALID_ARGUMENT);
    expect_error(TW_INVALID_ARGUMENT, "value 0 is float32, expected int32");
    assert_int_equal(tw_host_function(NULL, NULL, TW_TENSORS(x), one_float, 1, &wrong), TW_INVALID_ARGUMENT);
    expect_error(TW_INVALID_ARGUMENT, "tw_host_function");
}

static void in_a_function(void **state)
{
    (void)state;
    int effects = 0;
    calls = 0;
    tw_auto tw_function *f = tw_function_new(body, &effects, .name = "host");
    tw_auto tw_tensor *x = tw_tensor_float(3), *other = tw_tensor_float(5), *y = tw_function_value(f, TW_TENSORS(x));
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(y, 0), 12, 0);
    assert_true(calls == 1 && effects == 1);
    tw_auto tw_tape *tape = tw_tape_start();
    tw_tape_watch(tape, TW_OBJECTS(other));
    tw_auto tw_tensor *z = tw_function_value(f, TW_TENSORS(other));
    tw_tensors g = tw_tape_gradient(tape, TW_OBJECTS(z), TW_OBJECTS(other));
    expect_no_error();
    assert_true(calls == 2 && effects == 2);
    assert_float_equal(tw_tensor_double_at(z, 0), 30, 0);
    assert_float_equal(tw_tensor_double_at(g.items[0], 0), 11, 0);
    tw_tensors_free(&g);
}

static tw_tensors failing_body(void *user, tw_tensors in)
{
    (void)user;
    tw_tensor *y = NULL;
    return tw_host_function(failing, NULL, in, one_float, 1, &y) == TW_OK ? tw_give(tw_made(y)) : TW_GIVE_FAILURE;
}

static void failures(void **state)
{
    (void)state;
    tw_auto tw_function *f = tw_function_new(failing_body, NULL, .name = "failing");
    tw_auto tw_tensor *x = tw_tensor_float(3);
    assert_null(tw_function_value(f, TW_TENSORS(x)));
    expect_error(TW_NOT_FOUND, "the function failed");
    tw_tensor *y = NULL;
    int count = 1;
    tw_attr attrs[] = { TW_A_STRING("token", "c_function_99999"), TW_A_TYPES("Tout", one_float, 1) };
    assert_int_equal(tw_op_apply("EagerPyFunc", TW_TENSORS(x), attrs, 2, &y, &count), TW_INVALID_ARGUMENT);
    expect_error(TW_INVALID_ARGUMENT, "callback c_function_99999 is not found");
}

static size_t live(void)
{
    size_t count = 0;
    for (int i = 0; i < 100; i++) {
        char token[40];
        tw__host_function *found = tw__host_hold(token, (size_t)snprintf(token, sizeof token, "c_function_%d", i));
        count += found != NULL;
        tw__host_drop(found);
    }
    return count;
}

/* What is registered for a graph goes with its nodes, the gradient's too. */
static void end_with_their_graphs(void **state)
{
    in_a_function(state);
    failures(state);
    assert_int_equal(live(), 0);
    int effects = 0;
    tw_auto tw_function *f = tw_function_new(body, &effects, .name = "host");
    tw_auto tw_tensor *x = tw_tensor_float(3), *y = tw_function_value(f, TW_TENSORS(x));
    assert_non_null(y);
    assert_int_equal(live(), 2);
}

/* ---- printing ---- */

static tw_tensors printing(void *user, tw_tensors in)
{
    tw_value operation = tw_print("x is {}, twice {}", .inputs = TW_TENSORS(in.items[0], in.items[0]), .output_stream = user,
                                  .summarize = 1, .end = "!\n");
    assert_int_equal(operation.kind, TW_VALUE_OBJECT);
    tw_value_free(&operation);
    return tw_give(in.items[0]);
}

static void prints(void **state)
{
    (void)state;
    const char *path = in_scratch("out.txt");
    char stream[420], text[200] = { 0 };
    snprintf(stream, sizeof stream, "file://%s", path);
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(4), (float[]){ 1, 2, 3, 4 });
    tw_print("x is {}", .inputs = TW_TENSORS(x), .output_stream = stream);
    tw_print("alone", .output_stream = stream, .end = "");
    tw_print(", then\t{}", .inputs = TW_TENSORS(x), .output_stream = stream, .summarize = -1);
    tw_auto tw_function *f = tw_function_new(printing, stream, .name = "printing");
    tw_auto tw_tensor *y = tw_function_value(f, TW_TENSORS(x));
    expect_no_error();
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "x is [1 2 3 4]\nalone, then\t[1 2 3 4]\nx is [1 ... 4], twice [1 ... 4]!\n");
    tw_print("x", .output_stream = "nowhere");
    expect_error(TW_VALUE_ERROR, "Unsupported output stream, logging level, or file.nowhere.");
    tw_print("{} {}", .inputs = TW_TENSORS(x));
    assert_true(tw_error_code() != TW_OK);
    tw_clear_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(at_once), cmocka_unit_test(in_a_function), cmocka_unit_test(failures),
                                        cmocka_unit_test(end_with_their_graphs), cmocka_unit_test(prints) };
    return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}
