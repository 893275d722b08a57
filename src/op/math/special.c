/* Special functions of one argument: Dawson's and the exponential integral, Fresnel's integrals, the dilogarithm, and the
 * inverses of the error function and of the normal distribution. Series where they converge, sums and continued fractions
 * elsewhere, all in double; the inverses are found by Halley's steps. */
#include <complex.h>
#include <math.h>

#include "op/math/special.h"
#include "rows.h"

/* exp(-x^2) times the integral of exp(t^2) from 0 to x. Far from zero it is Rybicki's sum over odd n of exp(-(x - n h)^2) / n,
 * whose error falls like exp(-(pi / 2h)^2). */
static double dawson_of(double x)
{
    double a = fabs(x), sum = 0, step = 0.2;
    if (isnan(x))
        return x;
    if (a < 0.5) {
        double term = x;
        for (int k = 0; k < 40; k++) {
            sum += term;
            term *= -2 * x * x / (2 * k + 3);
        }
        return sum;
    }
    if (a > 1e4)
        return isinf(x) ? 0 : 0.5 / x;
    double middle = 2 * floor(a / step / 2) + 1; /* the odd number next to x / h */
    for (int k = -36; k <= 36; k += 2) {
        double n = middle + k, away = a - n * step;
        sum += exp(-away * away) / n;
    }
    return copysign(sum / sqrt(M_PI), x);
}

/* The integral of exp(t) / t from -infinity to x, for x that is not negative. */
static double exponential_integral_of(double x)
{
    if (isnan(x) || x < 0 || isinf(x))
        return NAN;
    double term = 1, sum = 0;
    if (x > 45) {
        sum = 1;
        for (int k = 1; k < 60 && term > 1e-18; k++) {
            double next = term * k / x;
            if (next > term)
                break;
            sum += term = next;
        }
        return exp(x - log(x)) * sum;
    }
    for (int k = 1; k < 300; k++) {
        term *= x / k;
        sum += term / k;
        if (term / k < sum * 1e-18)
            break;
    }
    return 0.57721566490153286061 + log(x) + sum;
}

/* C(x) + i S(x): the integral of exp(i pi t^2 / 2) from 0 to x. Far from zero by the continued fraction of erfc((1 - i) x
 * sqrt(pi) / 2). */
static double complex fresnel_of(double x)
{
    double a = fabs(x), angle = M_PI / 2 * a * a;
    double complex sum = 0;
    if (isnan(x))
        return x + x * _Complex_I;
    if (a < 1.6) {
        double complex term = a;
        for (int k = 0; k < 60; k++) {
            sum += term / (2 * k + 1);
            term *= _Complex_I * angle / (k + 1);
        }
    } else if (a > 1e8) {
        sum = 0.5 + 0.5 * _Complex_I;
    } else {
        double complex z = (1 - _Complex_I) * (a * sqrt(M_PI) / 2), square = z * z, tail = square;
        /* erfc(z) exp(z^2) sqrt(pi) / z = 1 / (z^2 + 1/2 / (1 + 1 / (z^2 + 3/2 / (1 + …)))) */
        for (int k = 200; k > 0; k--)
            tail = (k % 2 ? square : 1) + k / 2.0 / tail;
        double complex turned = cos(fmod(a * a / 4, 1) * 2 * M_PI) + _Complex_I * sin(fmod(a * a / 4, 1) * 2 * M_PI);
        sum = (1 + _Complex_I) / 2 * (1 - z * turned / (sqrt(M_PI) * tail));
    }
    return x < 0 ? -sum : sum;
}

/* Minus the integral of log(t) / (t - 1) from 1 to x. Near 1 it is a series of Bernoulli's numbers in log x; functional equations
 * lead there. */
static double dilogarithm_of(double x)
{
    static const double factors[] = { 0.027777777777777776,   -0.0002777777777777778,  4.72411186696901e-06,
                                      -9.185773074661964e-08, 1.8978869988971e-09,     -4.0647616451442256e-11,
                                      8.921691020456452e-13,  -1.9939295860721074e-14, 4.518980029619918e-16,
                                      -1.0356517612181247e-17 };
    if (isnan(x) || x < 0 || isinf(x))
        return NAN;
    if (x == 0)
        return M_PI * M_PI / 6;
    if (x < 0.5)
        return M_PI * M_PI / 6 - log(x) * log1p(-x) - dilogarithm_of(1 - x);
    if (x > 2)
        return -dilogarithm_of(1 / x) - 0.5 * log(x) * log(x);
    double u = -log(x), power = u * u * u, sum = u - u * u / 4;
    for (int k = 0; k < 10; k++) {
        sum += factors[k] * power;
        power *= u * u;
    }
    return sum;
}

/* x with erfc(x) = tail, for tails from 0 to 1. */
static double inverse_of_erfc(double tail)
{
    if (tail == 0)
        return INFINITY;
    double p = tail / 2, s = sqrt(-2 * log(p));
    double x = (s - (2.515517 + s * (0.802853 + s * 0.010328)) / (1 + s * (1.432788 + s * (0.189269 + s * 0.001308)))) / M_SQRT2;
    for (int k = 0; k < 4; k++) {
        double step = (erfc(x) - tail) / (-2 / sqrt(M_PI) * exp(-x * x));
        if (!isfinite(step))
            break;
        x -= step / (1 + x * step);
    }
    return x;
}

static double inverse_of_erf(double y)
{
    double a = fabs(y);
    if (!(a <= 1))
        return NAN;
    if (a > 0.5)
        return copysign(inverse_of_erfc(1 - a), y);
    double x = y * sqrt(M_PI) / 2;
    for (int k = 0; k < 5; k++) {
        double step = (erf(x) - y) / (2 / sqrt(M_PI) * exp(-x * x));
        x -= step / (1 + x * step);
    }
    return x;
}

static double normal_quantile_of(double p)
{
    if (!(p >= 0 && p <= 1))
        return NAN;
    if (p > 0.25 && p < 0.75)
        return M_SQRT2 * inverse_of_erf(2 * (p - 0.5));
    return p < 0.5 ? -M_SQRT2 * inverse_of_erfc(2 * p) : M_SQRT2 * inverse_of_erfc(2 * (1 - p));
}

TW_SPECIAL_LOOPS(dawson, dawson_of((double)a))
TW_SPECIAL_LOOPS(exponential_integral, exponential_integral_of((double)a))
TW_SPECIAL_LOOPS(fresnel_cos, creal(fresnel_of((double)a)))
TW_SPECIAL_LOOPS(fresnel_sin, cimag(fresnel_of((double)a)))
TW_SPECIAL_LOOPS(dilogarithm, dilogarithm_of((double)a))
TW_SPECIAL_LOOPS(inverse_erf, inverse_of_erf((double)a))
TW_SPECIAL_LOOPS(normal_quantile, normal_quantile_of((double)a))

/* ---- gradients ---- */

#define RIGHT_ANGLES TW_TEMP(Mul, TW_TEMP(Square, X), M_PI / 2)
TW_SPECIAL_GRADIENT(dawson, TW_TEMP(Sub, 1.0, TW_TEMP(Mul, TW_TEMP(Mul, 2.0, X), Y)))
TW_SPECIAL_GRADIENT(exponential_integral, TW_TEMP(RealDiv, TW_TEMP(Exp, X), X))
TW_SPECIAL_GRADIENT(fresnel_cos, TW_TEMP(Cos, RIGHT_ANGLES))
TW_SPECIAL_GRADIENT(fresnel_sin, TW_TEMP(Sin, RIGHT_ANGLES))
TW_SPECIAL_GRADIENT(inverse_erf, TW_TEMP(Mul, sqrt(M_PI) / 2, TW_TEMP(Exp, TW_TEMP(Square, Y))))
TW_SPECIAL_GRADIENT(normal_quantile, TW_TEMP(Mul, sqrt(2 * M_PI), TW_TEMP(Exp, TW_TEMP(Mul, TW_TEMP(Square, Y), 0.5))))

static tw_status dilogarithm_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *slope = TW_TEMP(RealDiv, TW_TEMP(Log, X), TW_TEMP(Sub, 1.0, X));
    tw_tensor *at_one = TW_TEMP(Neg, TW_TEMP(OnesLike, X));
    tw__grad_set(g, 0, TW_CALL(Mul, g->output_grads[0], TW_TEMP(SelectV2, TW_TEMP(Equal, X, 1.0), at_one, slope)));
    return tw__grad_status(g);
}

TW_OP(Dawsn, TW_SPECIAL_OP, .unary = &tw__unary_dawson, .gradient = dawson_gradient,
      .function = "math.special.dawsn(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "Dawson's integral: exp(-x^2) times the integral of exp(t^2) from 0 to x.");
TW_OP(Expint, TW_SPECIAL_OP, .unary = &tw__unary_exponential_integral, .gradient = exponential_integral_gradient,
      .function = "math.special.expint(x: tensor|ragged, name: str = None) -> tensor", .doc = "The exponential integral Ei.");
TW_OP(FresnelCos, TW_SPECIAL_OP, .unary = &tw__unary_fresnel_cos, .gradient = fresnel_cos_gradient,
      .function = "math.special.fresnel_cos(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The integral of cos(pi t^2 / 2) from 0 to x.");
TW_OP(FresnelSin, TW_SPECIAL_OP, .unary = &tw__unary_fresnel_sin, .gradient = fresnel_sin_gradient,
      .function = "math.special.fresnel_sin(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The integral of sin(pi t^2 / 2) from 0 to x.");
TW_OP(Spence, TW_SPECIAL_OP, .unary = &tw__unary_dilogarithm, .gradient = dilogarithm_gradient,
      .function = "math.special.spence(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "Spence's integral: the dilogarithm of 1 - x.");
TW_OP(Erfinv, TW_SPECIAL_OP, .unary = &tw__unary_inverse_erf, .gradient = inverse_erf_gradient,
      .function = "math.erfinv(x: tensor|ragged, name: str = None) -> tensor", .doc = "The inverse of the error function.");
TW_OP(Ndtri, TW_SPECIAL_OP, .unary = &tw__unary_normal_quantile, .gradient = normal_quantile_gradient,
      .function = "math.ndtri(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The quantile function of the normal distribution.");
