/* Arithmetic of two values. Integers wrap around as TensorFlow's do; division by zero was ruled out before a loop runs. */
#include "kernel/elementwise/loops.h"

/* add, subtract, multiply */
TW_REALS(TW_BINARY_LOOP, add, a + b)
TW_SIGNED(TW_BINARY_LOOP, add, (wide)a + (wide)b)
TW_BINARY_LOOP(add, complex64, float complex, float, float complex, , a + b)
TW_BINARY_LOOP(add, complex128, double complex, double, double complex, , a + b)
TW_REALS(TW_BINARY_LOOP, subtract, a - b)
TW_SIGNED(TW_BINARY_LOOP, subtract, (wide)a - (wide)b)
TW_BINARY_LOOP(subtract, complex64, float complex, float, float complex, , a - b)
TW_BINARY_LOOP(subtract, complex128, double complex, double, double complex, , a - b)
TW_REALS(TW_BINARY_LOOP, multiply, a *b)
TW_SIGNED(TW_BINARY_LOOP, multiply, (wide)a *(wide)b)
/* The plain formula: C's product also repairs infinities, which TensorFlow's does not. */
TW_BINARY_LOOP(multiply, complex64, float complex, float, float complex, ,
               __builtin_complex(crealf(a) * crealf(b) - cimagf(a) * cimagf(b), crealf(a) * cimagf(b) + cimagf(a) * crealf(b)))
TW_BINARY_LOOP(multiply, complex128, double complex, double, double complex, ,
               __builtin_complex(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b)))

#define ALL_NUMBERS(name) TW_REAL_LOOPS(name), TW_BITS_LOOPS(name), TW_COMPLEX_LOOPS(name)
const tw__binary tw__binary_add = { .loops = { ALL_NUMBERS(add) } };
const tw__binary tw__binary_subtract = { .loops = { ALL_NUMBERS(subtract) } };
const tw__binary tw__binary_multiply = { .loops = { ALL_NUMBERS(multiply) } };

/* Division; the smallest integer by -1 wraps around instead of trapping. */
TW_REALS(TW_BINARY_LOOP, divide, a / b)
TW_SIGNED(TW_BINARY_LOOP, divide, b == -1 ? (element)(0 - (wide)a) : a / b)
TW_UNSIGNED(TW_BINARY_LOOP, divide, a / b)
TW_COMPLEXES(TW_BINARY_LOOP, divide, a / b)
TW_REALS(TW_BINARY_LOOP, floor_divide, floor(a / b))
#define FLOOR_DIVIDE (b == -1 ? (element)(0 - (wide)a) : a / b - (a % b != 0 && (a < 0) != (b < 0)))
TW_BINARY_LOOP(floor_divide, int8, int8_t, uint32_t, int8_t, , FLOOR_DIVIDE)
TW_BINARY_LOOP(floor_divide, int16, int16_t, uint32_t, int16_t, TW_SMALL, FLOOR_DIVIDE)
TW_BINARY_LOOP(floor_divide, int64, int64_t, uint64_t, int64_t, , FLOOR_DIVIDE)
/* Through double, which has vectors: the quotient of two int32 lies further from the next whole number than double rounds. */
TW_BINARY_LOOP(floor_divide, int32, int32_t, uint32_t, int32_t, TW_CLONES, (int64_t)floor((double)a / (double)b))
const tw__binary tw__binary_divide = { .loops = { TW_REAL_LOOPS(divide), TW_INTEGER_LOOPS(divide), TW_COMPLEX_LOOPS(divide) } };
const tw__binary tw__binary_floor_divide = { .loops = { TW_REAL_LOOPS(floor_divide), TW_SIGNED_LOOPS(floor_divide),
                                                        TW_UNSIGNED_LOOPS(divide) } };

static inline float floor_modulo_of_float(float a, float b)
{
    float r = fmodf(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline double floor_modulo_of_double(double a, double b)
{
    double r = fmod(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

TW_BINARY_LOOP(floor_modulo, float, float, float, float, , floor_modulo_of_float(a, b))
TW_BINARY_LOOP(floor_modulo, double, double, double, double, , floor_modulo_of_double(a, b))
TW_SIGNED(TW_BINARY_LOOP, floor_modulo, b == -1 ? 0 : a % b + (a % b != 0 && (a % b < 0) != (b < 0) ? b : 0))
TW_BINARY_LOOP(modulo, float, float, float, float, , fmodf(a, b))
TW_BINARY_LOOP(modulo, double, double, double, double, , fmod(a, b))
TW_SIGNED(TW_BINARY_LOOP, modulo, b == -1 ? 0 : a % b)
TW_UNSIGNED(TW_BINARY_LOOP, modulo, a % b)
const tw__binary tw__binary_modulo = { .loops = { TW_REAL_LOOPS(modulo), TW_INTEGER_LOOPS(modulo) }, .slow = true };
const tw__binary tw__binary_floor_modulo = {
    .loops = { TW_REAL_LOOPS(floor_modulo), TW_SIGNED_LOOPS(floor_modulo), TW_UNSIGNED_LOOPS(modulo) }, .slow = true
};

/* A value that is not a number is the result, wherever it stands. */
TW_REALS(TW_BINARY_LOOP, maximum, a < b || b != b ? b : a)
TW_INTEGERS(TW_BINARY_LOOP, maximum, a < b ? b : a)
TW_REALS(TW_BINARY_LOOP, minimum, b < a || b != b ? b : a)
TW_INTEGERS(TW_BINARY_LOOP, minimum, b < a ? b : a)
const tw__binary tw__binary_maximum = { .loops = { TW_REAL_LOOPS(maximum), TW_INTEGER_LOOPS(maximum) } };
const tw__binary tw__binary_minimum = { .loops = { TW_REAL_LOOPS(minimum), TW_INTEGER_LOOPS(minimum) } };

TW_REALS(TW_BINARY_LOOP, squared_difference, (a - b) * (a - b))
TW_SIGNED(TW_BINARY_LOOP, squared_difference, ((wide)a - (wide)b) * ((wide)a - (wide)b))
TW_COMPLEXES(TW_BINARY_LOOP, squared_difference, (a - b) * conj(a - b))
const tw__binary tw__binary_squared_difference = { .loops = { ALL_NUMBERS(squared_difference) } };

/* A zero decides, whatever the other value is. */
#define NUMBERS(name, e) TW_REALS(TW_BINARY_LOOP, name, e) TW_COMPLEXES(TW_BINARY_LOOP, name, e)
#define NUMBER_LOOPS(name) TW_REAL_LOOPS(name), TW_COMPLEX_LOOPS(name)
NUMBERS(divide_no_nan, b == 0 ? (element)0 : a / b)
NUMBERS(multiply_no_nan, b == 0 ? (element)0 : a * b)
NUMBERS(xdivy, a == 0 ? (element)0 : a / b)
const tw__binary tw__binary_divide_no_nan = { .loops = { NUMBER_LOOPS(divide_no_nan) } };
const tw__binary tw__binary_multiply_no_nan = { .loops = { NUMBER_LOOPS(multiply_no_nan) } };
const tw__binary tw__binary_xdivy = { .loops = { NUMBER_LOOPS(xdivy) } };

/* Gradients from a function's value a and the gradient b that arrives. Where that is zero these are, too, even if a is not
 * finite: tf.where(x > 0, tf.sqrt(x), 0) has gradients. */
TW_REALS(TW_BINARY_LOOP, sqrt_grad, b == 0 ? (element)0 : (element)0.5 * b / a)
TW_COMPLEXES(TW_BINARY_LOOP, sqrt_grad, b == 0 ? (element)0 : (element)0.5 * b / conj(a))
TW_REALS(TW_BINARY_LOOP, rsqrt_grad, b == 0 ? (element)0 : (element)-0.5 * b * (a * a * a))
TW_COMPLEXES(TW_BINARY_LOOP, rsqrt_grad, b == 0 ? (element)0 : (element)-0.5 * b * (conj(a) * conj(a) * conj(a)))
TW_REALS(TW_BINARY_LOOP, reciprocal_grad, b == 0 ? (element)0 : -(a * a) * b)
TW_COMPLEXES(TW_BINARY_LOOP, reciprocal_grad, b == 0 ? (element)0 : -(conj(a) * conj(a)) * b)
TW_REALS(TW_BINARY_LOOP, tanh_grad, b *(1 - a * a))
TW_COMPLEXES(TW_BINARY_LOOP, tanh_grad, b *(1 - a * a))
TW_REALS(TW_BINARY_LOOP, sigmoid_grad, b *a *(1 - a))
TW_COMPLEXES(TW_BINARY_LOOP, sigmoid_grad, b *a *(1 - a))
const tw__binary tw__binary_sqrt_grad = { .loops = { NUMBER_LOOPS(sqrt_grad) } };
const tw__binary tw__binary_rsqrt_grad = { .loops = { NUMBER_LOOPS(rsqrt_grad) } };
const tw__binary tw__binary_reciprocal_grad = { .loops = { NUMBER_LOOPS(reciprocal_grad) } };
const tw__binary tw__binary_tanh_grad = { .loops = { NUMBER_LOOPS(tanh_grad) } };
const tw__binary tw__binary_sigmoid_grad = { .loops = { NUMBER_LOOPS(sigmoid_grad) } };

/* Bits. A shift by a negative number or by more bits than there are is one by none, or by all but one. */
TW_SIGNED(TW_BINARY_LOOP, bitwise_and, a &b)
TW_SIGNED(TW_BINARY_LOOP, bitwise_or, a | b)
TW_SIGNED(TW_BINARY_LOOP, bitwise_xor, a ^ b)
#define DISTANCE ((int)(b < 1 ? 0 : b > (element)(sizeof(element) * 8 - 1) ? (element)(sizeof(element) * 8 - 1) : b))
TW_INTEGERS(TW_BINARY_LOOP, left_shift, (wide)a << DISTANCE)
TW_INTEGERS(TW_BINARY_LOOP, right_shift, a >> DISTANCE)
const tw__binary tw__binary_bitwise_and = { .loops = { TW_BITS_LOOPS(bitwise_and) } };
const tw__binary tw__binary_bitwise_or = { .loops = { TW_BITS_LOOPS(bitwise_or) } };
const tw__binary tw__binary_bitwise_xor = { .loops = { TW_BITS_LOOPS(bitwise_xor) } };
const tw__binary tw__binary_left_shift = { .loops = { TW_INTEGER_LOOPS(left_shift) } };
const tw__binary tw__binary_right_shift = { .loops = { TW_INTEGER_LOOPS(right_shift) } };
