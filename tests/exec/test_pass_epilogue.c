/* Products and convolutions joined with their bias and activation: which steps remain, and the same bits as the separate calls.
 */
#include "test.h"

#include "exec/internal.h"
#include "function/function.h"
#include "op/calls.h"
#include "rows.h"

enum { ROWS = 37, DEPTH = 65, COLUMNS = 130 };

typedef struct form {
    bool convolution, depthwise, transposed;
    bool adds; /* AddV2 of a vector, on the left, instead of BiasAdd */
    bool no_bias;
    const tw_op *activation; /* or NULL */
    bool read_elsewhere;     /* the product is an output too */
    bool reshapes;           /* to more dimensions, the last as it was */
    bool reshapes_channels;  /* … to others */
} form;

static tw_tensor *product(const form *f, tw_tensor *x, tw_tensor *filter)
{
    if (!f->convolution)
        return TW_CALL(MatMul, x, filter, TW_A_BOOL("transpose_b", f->transposed));
    static const int64_t strides[] = { 1, 1, 1, 1 };
    tw_attr attrs[] = { TW_A_INTS("strides", strides, 4), TW_A_STRING("padding", "SAME") };
    return tw__call(f->depthwise ? &tw__op_DepthwiseConv2dNative : &tw__op_Conv2D, TW_IN(x, filter), 2, attrs, 2);
}

static tw_status body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const form *f = context;
    assert_int_equal(count, 3);
    tw_tensor *first = product(f, arguments[0], arguments[1]);
    tw_tensor *last = tw_retain(first);
    if (f->reshapes || f->reshapes_channels) {
        const int32_t sizes[] = { f->reshapes ? ROWS : 2 * ROWS, 1, f->reshapes ? COLUMNS : COLUMNS / 2 };
        tw_auto tw_tensor *shape = tw_tensor_new(TW_INT32, TW_SHAPE(3), sizes);
        tw_release(last);
        last = tw_reshape(first, shape);
    }
    if (!f->no_bias) {
        tw_tensor *sum = f->adds ? TW_CALL(AddV2, arguments[2], last) : TW_CALL(BiasAdd, last, arguments[2]);
        tw_release(last);
        last = sum;
    }
    if (f->activation) {
        tw_tensor *active = tw__call(f->activation, TW_IN(last), 1, NULL, 0);
        tw_release(last);
        last = active;
    }
    *outputs = tw__alloc_array(2, sizeof **outputs);
    (*outputs)[0] = last;
    (*outputs)[1] = tw_retain(f->read_elsewhere ? first : last);
    *output_count = 2;
    tw_release(first);
    return last ? TW_OK : tw_error_code();
}

static tw_tensor *values(tw_dtype dtype, tw_shape shape, int seed)
{
    int64_t count = 1;
    for (int i = 0; i < shape.rank; i++)
        count *= shape.dims[i];
    tw_auto tw_tensor *floats = tw_tensor_new(TW_FLOAT32, shape, NULL);
    float *data = (float *)(uintptr_t)tw_tensor_data(floats);
    for (int64_t i = 0; i < count; i++)
        data[i] = (float)((i * 7919 + seed * 31) % 2003 - 1000) * 0.0017f;
    return tw_cast(floats, dtype);
}

/* The number of steps with all passes; the label of the last of them must be this. */
static void check(tw_dtype dtype, form f, int steps, const char *label)
{
    tw_shape shapes[] = { TW_SHAPE(ROWS, DEPTH), TW_SHAPE(DEPTH, COLUMNS), TW_SHAPE(COLUMNS) };
    if (f.transposed)
        shapes[1] = TW_SHAPE(COLUMNS, DEPTH);
    if (f.convolution) {
        shapes[0] = TW_SHAPE(3, 9, 8, 6);
        shapes[1] = f.depthwise ? TW_SHAPE(3, 3, 6, 2) : TW_SHAPE(3, 3, 6, 20);
        shapes[2] = TW_SHAPE(f.depthwise ? 12 : 20);
    }
    const tw_dtype dtypes[] = { dtype, dtype, dtype };
    tw_tensor *arguments[3], *results[3][2] = { { NULL } };
    for (int i = 0; i < 3; i++)
        arguments[i] = values(dtype, shapes[i], i + 1);
    for (int way = 0; way < 2; way++) {
        tw__exec_passes = way ? 0 : ~0u;
        tw_auto tw__function *function = tw__function_trace("f", dtypes, shapes, 3, body, &f);
        expect_no_error();
        assert_int_equal(tw__function_call(function, arguments, results[way]), TW_OK);
        if (!way) {
            assert_int_equal(tw__plan_steps(function->plan), steps);
            const tw__step *last = &function->plan->steps[steps - 1];
            assert_string_equal(last->label ? last->label : last->op->name, label);
        }
    }
    tw__exec_passes = ~0u;
    tw_tensor **eager;
    int count;
    assert_int_equal(body(&f, arguments, 3, &eager, &count), TW_OK);
    for (int k = 0; k < 2; k++) {
        results[2][k] = eager[k];
        size_t bytes = (size_t)tw_tensor_count(eager[k]) * tw_dtype_size(dtype);
        assert_memory_equal(tw_tensor_data(results[0][k]), tw_tensor_data(results[1][k]), bytes);
        assert_memory_equal(tw_tensor_data(results[0][k]), tw_tensor_data(results[2][k]), bytes);
    }
    tw__free(eager);
    for (int way = 0; way < 3; way++) {
        for (int k = 0; k < 2; k++)
            tw_release(results[way][k]);
    }
    for (int i = 0; i < 3; i++)
        tw_release(arguments[i]);
}

static void products(void **state)
{
    (void)state;
    check(TW_FLOAT32, (form){ .activation = &tw__op_Relu }, 1, "MatMul BiasAdd Relu");
    check(TW_FLOAT32, (form){ .activation = &tw__op_Relu6, .adds = true, .transposed = true }, 1, "MatMul BiasAdd Relu6");
    check(TW_FLOAT32, (form){ .activation = &tw__op_Tanh }, 1, "MatMul BiasAdd Tanh");
    check(TW_FLOAT32, (form){ .activation = &tw__op_Sigmoid, .no_bias = true }, 1, "MatMul Sigmoid");
    check(TW_FLOAT64, (form){ .activation = &tw__op_Relu }, 1, "MatMul BiasAdd Relu");
    check(TW_FLOAT32, (form){ .activation = NULL }, 1, "MatMul BiasAdd");
    check(TW_FLOAT32, (form){ .activation = &tw__op_Exp }, 2, "Exp");
    check(TW_FLOAT32, (form){ .activation = &tw__op_Relu, .read_elsewhere = true }, 3, "Relu");
    check(TW_FLOAT32, (form){ .activation = &tw__op_Relu, .reshapes = true }, 1, "MatMul BiasAdd Relu");
    check(TW_FLOAT32, (form){ .adds = true, .reshapes = true }, 1, "MatMul BiasAdd");
    check(TW_FLOAT32, (form){ .activation = &tw__op_Relu, .no_bias = true, .reshapes_channels = true }, 2, "Relu");
    check(TW_FLOAT16, (form){ .activation = &tw__op_Relu }, 3, "Relu");
}

static void convolutions(void **state)
{
    (void)state;
    check(TW_FLOAT32, (form){ .convolution = true, .activation = &tw__op_Relu }, 1, "Conv2D BiasAdd Relu");
    check(TW_FLOAT32, (form){ .convolution = true, .activation = &tw__op_Elu, .adds = true }, 1, "Conv2D BiasAdd Elu");
    check(TW_FLOAT64, (form){ .convolution = true }, 1, "Conv2D BiasAdd");
    check(TW_FLOAT32, (form){ .convolution = true, .depthwise = true, .activation = &tw__op_Relu6 }, 1,
          "DepthwiseConv2dNative BiasAdd Relu6");
    check(TW_FLOAT32, (form){ .convolution = true, .activation = &tw__op_Relu, .read_elsewhere = true }, 3, "Relu");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(products), cmocka_unit_test(convolutions) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
