/* Functions of one value. The vector forms of libm's functions are within 1e-6 of the value and treat infinities and NaN as the
 * scalar ones do. */
#include "kernel/elementwise/functions.h"
#include "kernel/elementwise/loops.h"

#define REALS(name, e) TW_REALS(TW_UNARY_LOOP, name, e)
#define SIGNED(name, e) TW_SIGNED(TW_UNARY_LOOP, name, e)
#define COMPLEXES(name, e) TW_COMPLEXES(TW_UNARY_LOOP, name, e)
#define NUMBER_LOOPS(name) TW_REAL_LOOPS(name), TW_COMPLEX_LOOPS(name)

/* ---- cheap ones ---- */
REALS(abs, fabs(a))
SIGNED(abs, a < 0 ? (element)(0 - (wide)a) : a)
TW_UNARY_LOOP(abs, complex64, float complex, float, float, , hypotf(crealf(a), cimagf(a)))
TW_UNARY_LOOP(abs, complex128, double complex, double, double, , hypot(creal(a), cimag(a)))
const tw__unary tw__unary_abs = { .loops = { TW_REAL_LOOPS(abs), TW_SIGNED_LOOPS(abs), TW_COMPLEX_LOOPS(abs) },
                                  .gives_real = true };

REALS(negate, -a)
SIGNED(negate, 0 - (wide)a)
COMPLEXES(negate, -a)
const tw__unary tw__unary_negate = { .loops = { NUMBER_LOOPS(negate), TW_SIGNED_LOOPS(negate) } };

REALS(sign, a > 0 ? (element)1 : a < 0 ? (element)-1 : a == 0 ? (element)0 : a)
SIGNED(sign, (a > 0) - (a < 0))
COMPLEXES(sign, a == 0 ? (element)0 : a / hypot(creal(a), cimag(a)))
const tw__unary tw__unary_sign = { .loops = { NUMBER_LOOPS(sign), TW_SIGNED_LOOPS(sign) } };

REALS(square, a *a)
TW_INTEGERS(TW_UNARY_LOOP, square, (wide)a *(wide)a)
COMPLEXES(square, a *a)
const tw__unary tw__unary_square = { .loops = { NUMBER_LOOPS(square), TW_INTEGER_LOOPS(square) } };

REALS(sqrt, sqrt(a))
COMPLEXES(sqrt, sqrt(a))
const tw__unary tw__unary_sqrt = { .loops = { NUMBER_LOOPS(sqrt) } };

REALS(rsqrt, 1 / sqrt(a))
COMPLEXES(rsqrt, 1 / sqrt(a))
const tw__unary tw__unary_rsqrt = { .loops = { NUMBER_LOOPS(rsqrt) } };

REALS(reciprocal, 1 / a)
COMPLEXES(reciprocal, 1 / a)
const tw__unary tw__unary_reciprocal = { .loops = { NUMBER_LOOPS(reciprocal) } };

REALS(truncate, trunc(a))
const tw__unary tw__unary_truncate = { .loops = { TW_REAL_LOOPS(truncate) } };
REALS(floor, floor(a))
const tw__unary tw__unary_floor = { .loops = { TW_REAL_LOOPS(floor) } };
REALS(ceil, ceil(a))
const tw__unary tw__unary_ceil = { .loops = { TW_REAL_LOOPS(ceil) } };
REALS(round, rint(a)) /* halves to even */
COMPLEXES(round, rint(creal(a)) + rint(cimag(a)) * (element)_Complex_I)
SIGNED(round, a)
const tw__unary tw__unary_round = { .loops = { NUMBER_LOOPS(round), TW_SIGNED_LOOPS(round) } };

TW_INTEGERS(TW_UNARY_LOOP, invert, ~a)
const tw__unary tw__unary_invert = { .loops = { TW_INTEGER_LOOPS(invert) } };

/* ---- questions ---- */
#define QUESTION(name, e)                                           \
    TW_UNARY_LOOP(name, float, float, float, bool, TW_CLONES, e)    \
    TW_UNARY_LOOP(name, double, double, double, bool, TW_CLONES, e) \
    const tw__unary tw__unary_##name = { .loops = { TW_REAL_LOOPS(name) }, .gives_bool = true };
QUESTION(is_nan, a != a)
QUESTION(is_inf, fabs(a) == (element)INFINITY)
QUESTION(is_finite, fabs(a) < (element)INFINITY)
TW_UNARY_LOOP(logical_not, bool, uint8_t, uint8_t, bool, , a ^ 1)
const tw__unary tw__unary_logical_not = { .loops = { [TW_BOOL] = logical_not_bool }, .gives_bool = true };

/* ---- exponentials, logarithms, trigonometry ---- */
#define FUNCTION(name, real, complex_one) \
    REALS(name, real)                     \
    COMPLEXES(name, complex_one)          \
    const tw__unary tw__unary_##name = { .loops = { NUMBER_LOOPS(name) }, .slow = true };
FUNCTION(exp, exp(a), exp(a))
FUNCTION(expm1, expm1(a), exp(a) - 1)
FUNCTION(log, log(a), log(a))
FUNCTION(log1p, log1p(a), log(1 + a))
FUNCTION(sin, sin(a), sin(a))
FUNCTION(cos, cos(a), cos(a))
FUNCTION(tan, tan(a), tan(a))
FUNCTION(asin, asin(a), asin(a))
FUNCTION(acos, acos(a), acos(a))
FUNCTION(atan, atan(a), atan(a))
FUNCTION(sinh, sinh(a), sinh(a))
FUNCTION(cosh, cosh(a), cosh(a))
FUNCTION(asinh, asinh(a), asinh(a))
FUNCTION(acosh, acosh(a), acosh(a))
FUNCTION(atanh, atanh(a), atanh(a))

TW_UNARY_LOOP(tanh, float, float, float, float, TW_CLONES, TANH_OF(a))
TW_UNARY_LOOP(tanh, double, double, double, double, TW_CLONES, tanh(a))
COMPLEXES(tanh, tanh(a))
const tw__unary tw__unary_tanh = { .loops = { NUMBER_LOOPS(tanh) }, .slow = true };

static inline double sigmoid_of_double(double a)
{
    double e = exp(-fabs(a));
    return (a < 0 ? e : 1.0) / (1.0 + e);
}

TW_UNARY_LOOP(sigmoid, float, float, float, float, TW_CLONES, tw__sigmoid_of_float(a))
TW_UNARY_LOOP(sigmoid, double, double, double, double, TW_CLONES, sigmoid_of_double(a))
COMPLEXES(sigmoid, 1 / (1 + exp(-a)))
const tw__unary tw__unary_sigmoid = { .loops = { NUMBER_LOOPS(sigmoid) }, .slow = true };

REALS(erf, erf(a))
const tw__unary tw__unary_erf = { .loops = { TW_REAL_LOOPS(erf) }, .slow = true };
REALS(erfc, erfc(a))
const tw__unary tw__unary_erfc = { .loops = { TW_REAL_LOOPS(erfc) }, .slow = true };

static inline double log_of_gamma(double a)
{
    int sign;
    return lgamma_r(a, &sign);
}

TW_UNARY_LOOP(lgamma, float, float, float, float, , log_of_gamma((double)a))
TW_UNARY_LOOP(lgamma, double, double, double, double, , log_of_gamma(a))
const tw__unary tw__unary_lgamma = { .loops = { TW_REAL_LOOPS(lgamma) }, .slow = true };

/* The derivative of lgamma: mirrored for negative numbers, raised to 10 by psi(x) = psi(x + 1) - 1/x, then the asymptotic series.
 */
static double digamma_of(double a)
{
    double result = 0;
    if (a <= 0) {
        if (a == floor(a))
            return NAN;
        double fraction = a - floor(a);
        result = -M_PI / tan(M_PI * fraction);
        a = 1 - a;
    }
    for (; a < 10; a += 1)
        result -= 1 / a;
    double s = 1 / (a * a);
    double series =
        s *
        (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (5.0 / 660 - s * (691.0 / 32760 - s * (1.0 / 12)))))));
    return result + log(a) - 0.5 / a - series;
}

TW_UNARY_LOOP(digamma, float, float, float, float, , digamma_of((double)a))
TW_UNARY_LOOP(digamma, double, double, double, double, , digamma_of(a))
const tw__unary tw__unary_digamma = { .loops = { TW_REAL_LOOPS(digamma) }, .slow = true };

/* ---- parts of complex numbers ---- */
#define PART(name, e)                                                    \
    TW_UNARY_LOOP(name, complex64, float complex, float, float, , e)     \
    TW_UNARY_LOOP(name, complex128, double complex, double, double, , e) \
    const tw__unary tw__unary_##name = { .loops = { TW_COMPLEX_LOOPS(name) }, .gives_real = true };
PART(real, creal(a))
PART(imag, cimag(a))
PART(angle, carg(a))
COMPLEXES(conj, conj(a))
const tw__unary tw__unary_conj = { .loops = { TW_COMPLEX_LOOPS(conj) } };
