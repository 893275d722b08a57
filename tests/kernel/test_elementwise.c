/* Elementwise loops on arrays large enough for vectors, tiles and threads, against plain loops in double. */
#include "test.h"

#include <math.h>

#include "kernel/kernel.h"
#include "rows.h"

static float sample(int64_t i)
{
    uint32_t x = (uint32_t)i * 2654435761u;
    x ^= x >> 15;
    return (float)(int32_t)(x * 2246822519u) / 2147483648.0f;
}

/* ---- accuracy of the vector functions ---- */

typedef struct function {
    const char *name;
    const tw__unary *operation;
    double (*exact)(double);
    float low, high;
} function;

static double sigmoid_exact(double x)
{
    return 1 / (1 + exp(-x));
}

static double rsqrt_exact(double x)
{
    return 1 / sqrt(x);
}

static void tanh_is_tensorflows(void **state)
{
    (void)state;
    static const uint32_t pairs[][2] = {
#include "golden/tanh_bits/tanh_bits.inc"
    };
    enum { COUNT = sizeof pairs / sizeof *pairs };
    float x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++)
        memcpy(&x[i], &pairs[i][0], sizeof *x);
    tw__unary_tanh.loops[TW_FLOAT32](x, y, COUNT);
    for (int i = 0; i < COUNT; i++)
        assert_memory_equal(&y[i], &pairs[i][1], sizeof *y);
}

static void functions_are_accurate(void **state)
{
    (void)state;
    enum { COUNT = 100003 };
    static const function functions[] = {
        { "exp", &tw__unary_exp, exp, -87, 88 },
        { "expm1", &tw__unary_expm1, expm1, -20, 20 },
        { "log", &tw__unary_log, log, 1e-30f, 1e6f },
        { "log1p", &tw__unary_log1p, log1p, -0.99f, 50 },
        { "sin", &tw__unary_sin, sin, -30, 30 },
        { "cos", &tw__unary_cos, cos, -30, 30 },
        { "tan", &tw__unary_tan, tan, -1.5f, 1.5f },
        { "asin", &tw__unary_asin, asin, -1, 1 },
        { "acos", &tw__unary_acos, acos, -1, 1 },
        { "atan", &tw__unary_atan, atan, -40, 40 },
        { "sinh", &tw__unary_sinh, sinh, -20, 20 },
        { "cosh", &tw__unary_cosh, cosh, -20, 20 },
        { "asinh", &tw__unary_asinh, asinh, -50, 50 },
        { "acosh", &tw__unary_acosh, acosh, 1, 50 },
        { "atanh", &tw__unary_atanh, atanh, -0.999f, 0.999f },
        { "tanh", &tw__unary_tanh, tanh, -10, 10 },
        { "sigmoid", &tw__unary_sigmoid, sigmoid_exact, -30, 30 },
        { "erf", &tw__unary_erf, erf, -5, 5 },
        { "erfc", &tw__unary_erfc, erfc, -5, 5 },
        { "sqrt", &tw__unary_sqrt, sqrt, 0, 1e6f },
        { "rsqrt", &tw__unary_rsqrt, rsqrt_exact, 1e-3f, 1e6f },
        { "lgamma", &tw__unary_lgamma, lgamma, 0.1f, 50 },
    };
    float *x = tw__alloc(COUNT * sizeof *x), *y = tw__alloc(COUNT * sizeof *y);
    double *wide = tw__alloc(COUNT * sizeof *wide), *wide_result = tw__alloc(COUNT * sizeof *wide_result);
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        const function *fn = &functions[f];
        for (int64_t i = 0; i < COUNT; i++) {
            x[i] = fn->low + (fn->high - fn->low) * (sample(i) + 1) / 2;
            wide[i] = (double)x[i];
        }
        tw__unary_run(fn->operation, TW_FLOAT32, x, y, COUNT);
        tw__unary_run(fn->operation, TW_FLOAT64, wide, wide_result, COUNT);
        for (int64_t i = 0; i < COUNT; i++) {
            double exact = fn->exact((double)x[i]), scale = fabs(exact) + 1e-7;
            if (!(fabs((double)y[i] - exact) <= 1e-6 * scale) || !(fabs(wide_result[i] - exact) <= 2e-15 * (fabs(exact) + 0.1)))
                fail_msg("%s(%.9g) is %.9g and %.17g, expected %.17g", fn->name, (double)x[i], (double)y[i], wide_result[i],
                         exact);
        }
    }
    tw__free(x);
    tw__free(y);
    tw__free(wide);
    tw__free(wide_result);
}

static void special_values(void **state)
{
    (void)state;
    /* Long enough to come into the vector loops, and not a multiple of a vector. */
    enum { COUNT = 61 };
    const float values[] = { 0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e-40f, -1e-40f, 3e38f };
    float x[COUNT], y[COUNT];
    const struct {
        const tw__unary *operation;
        float (*exact)(float);
    } functions[] = { { &tw__unary_exp, expf },    { &tw__unary_log, logf },     { &tw__unary_tanh, tanhf },
                      { &tw__unary_erf, erff },    { &tw__unary_sin, sinf },     { &tw__unary_cos, cosf },
                      { &tw__unary_atan, atanf },  { &tw__unary_log1p, log1pf }, { &tw__unary_sqrt, sqrtf },
                      { &tw__unary_expm1, expm1f } };
    for (int i = 0; i < COUNT; i++)
        x[i] = values[i % 8];
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        tw__unary_run(functions[f].operation, TW_FLOAT32, x, y, COUNT);
        for (int i = 0; i < COUNT; i++) {
            float exact = functions[f].exact(x[i]);
            bool same = isnan(exact) ? isnan(y[i]) : y[i] == exact || fabsf(y[i] - exact) <= 1e-6f * fabsf(exact);
            if (!same || (exact == 0 && signbit(exact) != signbit(y[i])))
                fail_msg("function %zu of %g is %g, expected %g", f, (double)x[i], (double)y[i], (double)exact);
        }
    }
}

/* ---- broadcasting: every way of repeating against a plain loop ---- */

static void broadcast_case(const tw_shape *a, const tw_shape *b)
{
    tw_shape out;
    int64_t count, a_count, b_count;
    assert_true(tw__shape_broadcast(a, b, &out));
    assert_int_equal(tw__shape_count(&out, &count), TW_OK);
    assert_int_equal(tw__shape_count(a, &a_count), TW_OK);
    assert_int_equal(tw__shape_count(b, &b_count), TW_OK);
    tw_auto tw_tensor *x = tw_tensor_new(TW_FLOAT32, *a, NULL);
    tw_auto tw_tensor *y = tw_tensor_new(TW_FLOAT32, *b, NULL);
    tw_auto tw_tensor *z = tw_tensor_new(TW_FLOAT32, out, NULL);
    tw_auto tw_tensor *less = tw_tensor_new(TW_BOOL, out, NULL);
    for (int64_t i = 0; i < a_count; i++)
        ((float *)x->data)[i] = sample(i);
    for (int64_t i = 0; i < b_count; i++)
        ((float *)y->data)[i] = sample(i + 1000003);
    tw__binary_run(&tw__binary_subtract, TW_FLOAT32, x->data, a, y->data, b, z->data, &out);
    tw__binary_run(&tw__binary_less, TW_FLOAT32, x->data, a, y->data, b, less->data, &out);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, xi = 0, yi = 0, xs = 1, ys = 1;
        for (int axis = out.rank - 1; axis >= 0; axis--) {
            int64_t at = rest % out.dims[axis];
            rest /= out.dims[axis];
            int ai = axis - (out.rank - a->rank), bi = axis - (out.rank - b->rank);
            if (ai >= 0) {
                xi += a->dims[ai] == 1 ? 0 : at * xs;
                xs *= a->dims[ai];
            }
            if (bi >= 0) {
                yi += b->dims[bi] == 1 ? 0 : at * ys;
                ys *= b->dims[bi];
            }
        }
        float p = ((float *)x->data)[xi], q = ((float *)y->data)[yi];
        if (((float *)z->data)[i] != p - q || ((bool *)less->data)[i] != (p < q))
            fail_msg("%s - %s: element %lld", tw__shape_text(a), tw__shape_text(b), (long long)i);
    }
}

static void broadcasting(void **state)
{
    (void)state;
    const tw_shape shapes[] = {
        TW_SCALAR,
        TW_SHAPE(1),
        TW_SHAPE(7),
        TW_SHAPE(300),
        TW_SHAPE(5, 7),
        TW_SHAPE(5, 1),
        TW_SHAPE(1, 7),
        TW_SHAPE(40, 300),
        TW_SHAPE(40, 1),
        TW_SHAPE(3, 40, 1),
        TW_SHAPE(3, 1, 300),
        TW_SHAPE(3, 1, 1, 7),
        TW_SHAPE(2, 1, 5, 1),
        TW_SHAPE(4000, 7),
        TW_SHAPE(1000, 1),
        TW_SHAPE(100000),
        TW_SHAPE(3, 0),
        TW_SHAPE(2, 3, 5, 7),
        TW_SHAPE(1, 3, 1, 7),
        TW_SHAPE(2, 1, 2, 1, 2, 1, 2, 1),
        TW_SHAPE(2, 1, 2, 1, 2),
    };
    tw_shape out;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            if (tw__shape_broadcast(&shapes[i], &shapes[k], &out))
                broadcast_case(&shapes[i], &shapes[k]);
        }
    }
}

/* ---- the small floats and casts, on rows of every length ---- */

static void small_floats(void **state)
{
    (void)state;
    enum { COUNT = 65536 };
    uint16_t *bits = tw__alloc(COUNT * sizeof *bits), *back = tw__alloc(COUNT * sizeof *back);
    float *wide = tw__alloc(COUNT * sizeof *wide);
    for (int i = 0; i < COUNT; i++)
        bits[i] = (uint16_t)i;
    for (int k = 0; k < 2; k++) {
        tw_dtype dtype = k ? TW_BFLOAT16 : TW_FLOAT16;
        tw__small_float_read(dtype, bits, wide, COUNT);
        tw__small_float_write(dtype, wide, back, COUNT);
        for (int i = 0; i < COUNT; i++) {
            float one = k ? tw__bfloat16_to_float(bits[i]) : tw__half_to_float(bits[i]);
            assert_true(isnan(one) ? isnan(wide[i]) : one == wide[i]);
            uint16_t again = k ? tw__float_to_bfloat16(wide[i]) : tw__float_to_half(wide[i]);
            assert_true(isnan(one) || (back[i] == bits[i] && again == bits[i]));
        }
    }
    tw__free(bits);
    tw__free(back);
    tw__free(wide);
}

static void casts_of_long_rows(void **state)
{
    (void)state;
    enum { COUNT = 70001 };
    float *x = tw__alloc(COUNT * sizeof *x);
    int32_t *integers = tw__alloc(COUNT * sizeof *integers);
    uint16_t *halves = tw__alloc(COUNT * sizeof *halves);
    double *doubles = tw__alloc(COUNT * sizeof *doubles);
    for (int i = 0; i < COUNT; i++)
        x[i] = sample(i) * 4e9f;
    tw__cast_run(TW_FLOAT32, TW_INT32, x, integers, COUNT, false);
    tw__cast_run(TW_FLOAT32, TW_FLOAT16, x, halves, COUNT, false);
    tw__cast_run(TW_FLOAT16, TW_FLOAT64, halves, doubles, COUNT, false);
    for (int i = 0; i < COUNT; i++) {
        bool fits = x[i] >= -2147483648.0f && x[i] < 2147483648.0f;
        assert_int_equal(integers[i], fits ? (int32_t)x[i] : INT32_MIN);
        assert_true(doubles[i] == (double)tw__half_to_float(tw__float_to_half(x[i])));
    }
    tw__free(x);
    tw__free(integers);
    tw__free(halves);
    tw__free(doubles);
}

static void in_place(void **state)
{
    (void)state;
    enum { COUNT = 50000 };
    float *x = tw__alloc(COUNT * sizeof *x);
    for (int i = 0; i < COUNT; i++)
        x[i] = sample(i);
    const tw_shape shape = TW_SHAPE(COUNT);
    tw__binary_run(&tw__binary_add, TW_FLOAT32, x, &shape, x, &shape, x, &shape);
    for (int i = 0; i < COUNT; i++)
        assert_true(x[i] == 2 * sample(i));
    tw__free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_accurate),
        cmocka_unit_test(tanh_is_tensorflows),
        cmocka_unit_test(special_values),
        cmocka_unit_test(broadcasting),
        cmocka_unit_test(small_floats),
        cmocka_unit_test(casts_of_long_rows),
        cmocka_unit_test(in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
