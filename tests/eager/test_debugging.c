/* tf.debugging's checks from C: what they say. */
#include <thalweg/thalweg.h>
#include <thalweg/python.h>

#include "test.h"

static void holds(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(1), *y = tw_tensor_float(2), *rank = tw_tensor_int(0);
    tw_value given = tw_debugging_assert_less(x, y);
    assert_int_equal(given.kind, TW_VALUE_NONE);
    tw_debugging_assert_positive(x);
    tw_debugging_assert_rank(x, rank);
    tw_debugging_assert_type(x, TW_FLOAT32);
    expect_no_error();
}

static void fails(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(1), *y = tw_tensor_float(2), *rank = tw_tensor_int(1);
    tw_debugging_assert_equal(x, y, .message = "said");
    expect_error(TW_INVALID_ARGUMENT, "said\nCondition x == y did not hold.\n");
    tw_debugging_assert_negative(x);
    expect_error(TW_INVALID_ARGUMENT, "Condition x < 0 did not hold element-wise:\nx (shape=() dtype=float32) = \n['1.0']");
    tw_debugging_assert_rank(x, rank);
    expect_error(TW_VALUE_ERROR, "must have rank 1.  Received rank 0, shape ()");
    tw_debugging_assert_integer(x);
    expect_error(TW_TYPE_ERROR, "Expected \"x\" to be integer type.");
    tw_auto tw_tensor *no = tw_less(y, x);
    tw_debugging_assert(no, TW_TENSORS(x, y));
    expect_error(TW_INVALID_ARGUMENT, "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: 1.0\n2.0");
}

static tw_tensors checked(void *user, tw_tensors in)
{
    (void)user;
    tw_value operation = tw_debugging_assert_positive(in.items[0], .message = "in a graph");
    assert_int_equal(operation.kind, TW_VALUE_OBJECT);
    tw_value_free(&operation);
    return tw_give(tw_add(in.items[0], in.items[0]));
}

static void in_a_function(void **state)
{
    (void)state;
    tw_auto tw_function *f = tw_function_new(checked, NULL, .name = "checked");
    tw_auto tw_tensor *x = tw_tensor_float(1), *z = tw_tensor_float(-1), *y = tw_function_value(f, TW_TENSORS(x));
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(y, 0), 2, 0);
    assert_null(tw_function_value(f, TW_TENSORS(z)));
    expect_error(TW_INVALID_ARGUMENT, "in a graph");
}

/* ---- the rest ---- */

static void nearly_equal(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(1), *y = tw_tensor_float(1.5f), *half = tw_tensor_float(0.5f), *one = tw_tensor_int(1);
    tw_debugging_assert_near(x, x);
    tw_debugging_assert_near(x, y, .rtol = half);
    expect_no_error();
    tw_debugging_assert_near(x, y, .message = "said");
    expect_error(
        TW_INVALID_ARGUMENT,
        "said.  '\nb'x and y not equal to tolerance rtol = tf.Tensor(1.1920929e-06, shape=(), dtype=float32), atol = tf.Tensor(");
    tw_debugging_assert_near(one, one);
    expect_error(TW_VALUE_ERROR, "data type <class 'numpy.int32'> not inexact");
    tw_debugging_assert_near(x, one);
    expect_error(
        TW_VALUE_ERROR,
        "y: Tensor conversion requested dtype float32 for Tensor with dtype int32: <tf.Tensor: shape=(), dtype=int32, numpy=1>");
}

#define LIST(...)                       \
    ((tw_value){ .kind = TW_VALUE_LIST, \
                 .list = { (tw_value[]){ __VA_ARGS__ }, (int64_t)(sizeof((tw_value[]){ __VA_ARGS__ }) / sizeof(tw_value)) } })
#define TENSOR(tensor_) ((tw_value){ .kind = TW_VALUE_TENSOR, .tensor = (tensor_) })
#define INT(number_) ((tw_value){ .kind = TW_VALUE_INT, .i = (number_) })

static void shapes(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, TW_SHAPE(2, 3), NULL), *y = tw_tensor_new(TW_INT32, TW_SHAPE(3), NULL);
    assert_int_equal(tw_debugging_assert_shapes(
                         LIST(LIST(TENSOR(x), LIST(INT(2), TW_TEXT("N"))), LIST(TENSOR(y), LIST(TW_TEXT("N"))))),
                     TW_OK);
    assert_int_equal(tw_debugging_assert_shapes(LIST(LIST(TENSOR(x), LIST(TW_TEXT("*"), INT(3))))), TW_OK);
    expect_no_error();
    tw_debugging_assert_shapes(LIST(LIST(TENSOR(x), LIST(TW_TEXT("N"), TW_TEXT("N")))), .message = "said");
    expect_error(
        TW_VALUE_ERROR,
        "said.  Specified by tensor shape=(2, 3) dtype=float32 dimension 0.  Tensor shape=(2, 3) dtype=float32 dimension 1 must have "
        "size 2.  Received size 3, shape (2, 3)");
    tw_debugging_assert_shapes(LIST(LIST(TENSOR(y), LIST(INT(4)))));
    expect_error(TW_VALUE_ERROR, "Specified explicitly.  Tensor shape=(3,) dtype=int32 dimension 0 must have size 4.");
    tw_debugging_assert_shapes(LIST(INT(4)));
    expect_error(TW_TYPE_ERROR, "member 0 of shapes is no pair");
    tw_debugging_assert_shapes(LIST(LIST(TENSOR(y), INT(4))));
    expect_error(TW_VALUE_ERROR, "Specified shape must be an iterable.");
}

static void dtypes(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(1), *one = tw_tensor_int(1), *text = tw_tensor_string("a", 1);
    assert_int_equal(tw_debugging_assert_same_float_dtype(.tensors = LIST(TENSOR(x), TENSOR(x))), TW_FLOAT32);
    assert_int_equal(tw_debugging_assert_same_float_dtype(.dtype = TW_FLOAT16), TW_FLOAT16);
    tw_debugging_assert_same_float_dtype(.tensors = LIST(TENSOR(x), TENSOR(one)));
    expect_error(
        TW_VALUE_ERROR,
        "tf.Tensor(1, shape=(), dtype=int32), type=<dtype: 'int32'>, must be of the same type (<dtype: 'float32'>) as tf.Tensor(1.0");
    assert_true(tw_debugging_is_numeric_tensor(one));
    assert_false(tw_debugging_is_numeric_tensor(text));
    tw_auto tw_tensor *finite = tw_debugging_assert_all_finite(x, "bad");
    expect_no_error();
    assert_float_equal(tw_tensor_double_at(finite, 0), 1, 0);
}

static tw_tensors ordered(void *user, tw_tensors in)
{
    (void)user;
    tw_value nothing = tw_no_op(), group = tw_group(TW_OBJECTS(in.items[0], in.items[1]));
    assert_true(nothing.kind == TW_VALUE_OBJECT && group.kind == TW_VALUE_OBJECT);
    tw_value_free(&nothing);
    tw_value_free(&group);
    tw_value unknown = tw_get_static_value(in.items[0]);
    assert_int_equal(unknown.kind, TW_VALUE_NONE);
    tw_auto tw_tensor *two = tw_tensor_float(2), *stack = tw_stack(TW_TENSORS(two, in.items[0]));
    tw_value whole = tw_get_static_value(stack), parts = tw_get_static_value(stack, .partial = true);
    assert_int_equal(whole.kind, TW_VALUE_NONE);
    assert_true(parts.kind == TW_VALUE_LIST && parts.list.count == 2 && parts.list.items[1].kind == TW_VALUE_NONE);
    assert_float_equal(tw_tensor_double_at(parts.list.items[0].tensor, 0), 2, 0);
    tw_value_free(&parts);
    return tw_tuple(in, .control_inputs = TW_OBJECTS(in.items[0]));
}

static void order(void **state)
{
    (void)state;
    tw_auto tw_tensor *x = tw_tensor_float(1), *y = tw_tensor_float(2);
    assert_true(tw_no_op().kind == TW_VALUE_NONE && tw_group(TW_OBJECTS(x)).kind == TW_VALUE_NONE);
    tw_tensors same = tw_tuple(TW_TENSORS(x, y));
    assert_true(same.count == 2 && same.items[0] == x && same.items[1] == y);
    tw_tensors_free(&same);
    tw_value known = tw_get_static_value(x);
    assert_true(known.kind == TW_VALUE_TENSOR && known.tensor == x);
    tw_value_free(&known);
    tw_auto tw_function *f = tw_function_new(ordered, NULL, .name = "ordered");
    tw_tensor *outputs[2] = { NULL, NULL };
    int count = 2;
    assert_int_equal(tw_function_call(f, TW_TENSORS(x, y), outputs, &count), TW_OK);
    assert_float_equal(tw_tensor_double_at(outputs[1], 0), 2, 0);
    tw_release(outputs[0]);
    tw_release(outputs[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds),  cmocka_unit_test(fails),  cmocka_unit_test(in_a_function), cmocka_unit_test(nearly_equal),
        cmocka_unit_test(shapes), cmocka_unit_test(dtypes), cmocka_unit_test(order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
