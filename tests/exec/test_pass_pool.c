/* The gradients of Relu and MaxPool change places: the ReluGrad that remains is the pooled image's, and the bits are the same. */
#include "test.h"

#include "exec/internal.h"
#include "function/function.h"
#include "rows.h"

typedef struct form {
    const tw_op *relu, *relu_grad;
    int64_t window, stride;
    bool read_elsewhere; /* the pool's gradient is an output too */
} form;

static tw_status body(void *context, tw_tensor *const *arguments, int count, tw_tensor ***outputs, int *output_count)
{
    const form *f = context;
    const int64_t size[] = { 1, f->window, f->window, 1 }, strides[] = { 1, f->stride, f->stride, 1 };
    const tw_attr attrs[] = { TW_A_INTS("ksize", size, 4), TW_A_INTS("strides", strides, 4), TW_A_STRING("padding", "SAME") };
    assert_int_equal(count, 2);
    tw_auto tw_tensor *x = tw__call(f->relu, TW_IN(arguments[0]), 1, NULL, 0);
    tw_auto tw_tensor *y = tw__call(&tw__op_MaxPool, TW_IN(x), 1, attrs, 3);
    tw_auto tw_tensor *dx = tw__call(&tw__op_MaxPoolGrad, TW_IN(x, y, arguments[1]), 3, attrs, 3);
    *outputs = tw__alloc_array(2, sizeof **outputs);
    (*outputs)[0] = tw__call(f->relu_grad, TW_IN(dx, x), 2, NULL, 0);
    (*outputs)[1] = tw_retain(f->read_elsewhere ? dx : y);
    *output_count = 2;
    return tw_error_code();
}

static tw_tensor *values(tw_shape shape)
{
    tw_tensor *tensor = tw_tensor_new(TW_FLOAT32, shape, NULL);
    float *data = (float *)(uintptr_t)tw_tensor_data(tensor);
    for (int64_t i = 0; i < tw_tensor_count(tensor); i++)
        data[i] = i % 97 == 0 ? NAN : i % 31 == 0 ? -0.0f : (float)((i * 7919) % 41 - 25) * 0.4f;
    return tensor;
}

/* How many elements the ReluGrad of the plan has. */
static int64_t relu_elements(const tw__plan *plan, const form *f)
{
    for (int i = 0; i < plan->step_count; i++) {
        if (plan->steps[i].op == f->relu_grad)
            return tw__place_count(plan, plan->steps[i].outputs[0]);
    }
    return -1;
}

static void check(form f)
{
    int64_t small = (9 + f.stride - 1) / f.stride;
    const tw_shape shapes[] = { TW_SHAPE(2, 9, 9, 5), TW_SHAPE(2, small, small, 5) };
    static const tw_dtype dtypes[] = { TW_FLOAT32, TW_FLOAT32 };
    tw_tensor *arguments[] = { values(shapes[0]), values(shapes[1]) }, *results[2][2];
    for (int way = 0; way < 2; way++) {
        tw__exec_passes = way ? 0 : ~0u;
        tw_auto tw__function *function = tw__function_trace("f", dtypes, shapes, 2, body, &f);
        expect_no_error();
        assert_int_equal(tw__function_call(function, arguments, results[way]), TW_OK);
        bool exchanged = !way && !f.read_elsewhere;
        assert_int_equal(relu_elements(function->plan, &f), exchanged ? 2 * small * small * 5 : 2 * 9 * 9 * 5);
    }
    tw__exec_passes = ~0u;
    for (int k = 0; k < 2; k++) {
        assert_memory_equal(tw_tensor_data(results[0][k]), tw_tensor_data(results[1][k]),
                            (size_t)tw_tensor_count(results[0][k]) * sizeof(float));
        tw_release(results[0][k]);
        tw_release(results[1][k]);
        tw_release(arguments[k]);
    }
}

static void exchanged(void **state)
{
    (void)state;
    check((form){ &tw__op_Relu, &tw__op_ReluGrad, 2, 2, false });
    check((form){ &tw__op_Relu, &tw__op_ReluGrad, 3, 2, false });
    check((form){ &tw__op_Relu6, &tw__op_Relu6Grad, 3, 2, false });
    check((form){ &tw__op_Relu, &tw__op_ReluGrad, 2, 2, true });
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(exchanged) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
