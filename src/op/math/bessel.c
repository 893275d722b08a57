/* Bessel functions of orders 0 and 1: J, Y, the modified I and K, and those with their exponential growth taken out (I…e, K…e).
 *
 * J and Y are the C library's. I is its power series, whose terms are all positive, and for great arguments the asymptotic one.
 * K is a series near zero, and elsewhere the integral of exp(-x (cosh t - 1)) cosh(order t), for which the trapezoidal rule
 * converges faster than any power of the step. */
#include <math.h>

#include "op/math/special.h"
#include "rows.h"

/* I of the order 0 or 1, times exp(-|x|) if it is scaled. */
static double bessel_i(double x, int order, bool scaled)
{
    double a = fabs(x), sum = 1, term = 1;
    if (isinf(x) && !scaled)
        return NAN;
    if (isinf(x))
        return order && x < 0 ? -0.0 : 0;
    if (a < 20) {
        for (int k = 1; k < 200 && term > sum * 1e-18; k++)
            sum += term *= a * a / 4 / k / (k + order);
        sum *= (order ? a / 2 : 1) * (scaled ? exp(-a) : 1);
    } else {
        double before = INFINITY;
        for (int k = 1; k < 60; k++) {
            double odd = 2 * k - 1;
            term *= -(4.0 * order - odd * odd) / (8 * a * k);
            if (fabs(term) > before || fabs(term) < 1e-18)
                break;
            before = fabs(term);
            sum += term;
        }
        sum *= (scaled ? 1 : exp(a)) / sqrt(2 * M_PI * a);
    }
    return order && x < 0 ? -sum : sum;
}

static double bessel_k_near(double x, int order)
{
    double square = x * x / 4, term = 1, sum = 0, harmonic = 0, log_half = log(x / 2) + 0.57721566490153286061;
    if (!order) {
        for (int k = 1; k < 40; k++) {
            term *= square / k / k;
            harmonic += 1.0 / k;
            sum += term * harmonic;
        }
        return sum - log_half * bessel_i(x, 0, false);
    }
    sum = 0.5;
    for (int k = 1; k < 40; k++) {
        term *= square / k / (k + 1);
        harmonic += 1.0 / k;
        sum += term * (harmonic + 0.5 / (k + 1));
    }
    return 1 / x + log_half * bessel_i(x, 1, false) - x / 2 * sum;
}

static double bessel_k(double x, int order, bool scaled)
{
    if (isnan(x))
        return x;
    if (x <= 0)
        return INFINITY;
    if (isinf(x))
        return 0;
    if (x < 1)
        return bessel_k_near(x, order) * (scaled ? exp(x) : 1);
    double step = fmin(0.25, 0.5 / sqrt(x)), sum = 0.5;
    for (int k = 1; k < 200; k++) {
        double t = k * step, half = sinh(t / 2), power = 2 * x * half * half;
        if (power > 45)
            break;
        sum += exp(-power) * (order ? cosh(t) : 1);
    }
    return step * sum * (scaled ? 1 : exp(-x));
}

static double bessel_j(double x, int order)
{
    if (isinf(x))
        return NAN;
    return order ? j1(x) : j0(x);
}

static double bessel_y(double x, int order)
{
    if (x <= 0)
        return -INFINITY;
    if (isinf(x))
        return NAN;
    return order ? y1(x) : y0(x);
}

TW_SPECIAL_LOOPS(bessel_i0, bessel_i((double)a, 0, false))
TW_SPECIAL_LOOPS(bessel_i0e, bessel_i((double)a, 0, true))
TW_SPECIAL_LOOPS(bessel_i1, bessel_i((double)a, 1, false))
TW_SPECIAL_LOOPS(bessel_i1e, bessel_i((double)a, 1, true))
TW_SPECIAL_LOOPS(bessel_k0, bessel_k((double)a, 0, false))
TW_SPECIAL_LOOPS(bessel_k0e, bessel_k((double)a, 0, true))
TW_SPECIAL_LOOPS(bessel_k1, bessel_k((double)a, 1, false))
TW_SPECIAL_LOOPS(bessel_k1e, bessel_k((double)a, 1, true))
TW_SPECIAL_LOOPS(bessel_j0, bessel_j((double)a, 0))
TW_SPECIAL_LOOPS(bessel_j1, bessel_j((double)a, 1))
TW_SPECIAL_LOOPS(bessel_y0, bessel_y((double)a, 0))
TW_SPECIAL_LOOPS(bessel_y1, bessel_y((double)a, 1))

/* ---- gradients ---- */

/* other - y / x, and a value at zero: the limit is one half; TensorFlow says one for I1. */
static tw_tensor *less_quotient(tw__temps *t, tw_tensor *x, tw_tensor *other, tw_tensor *y, double at_zero)
{
    tw_tensor *zero = TW_TEMP(Equal, x, 0.0), *safe = TW_TEMP(SelectV2, zero, TW_TEMP(OnesLike, x), x);
    return TW_TEMP(SelectV2, zero, TW_TEMP(Mul, TW_TEMP(OnesLike, x), at_zero), TW_TEMP(Sub, other, TW_TEMP(RealDiv, y, safe)));
}

TW_SPECIAL_GRADIENT(i0, TW_TEMP(BesselI1, X))
TW_SPECIAL_GRADIENT(i0e, TW_TEMP(Sub, TW_TEMP(BesselI1e, X), TW_TEMP(Mul, TW_TEMP(Sign, X), Y)))
TW_SPECIAL_GRADIENT(i1, less_quotient(t, X, TW_TEMP(BesselI0, X), Y, 1))
TW_SPECIAL_GRADIENT(i1e, less_quotient(t, X, TW_TEMP(Sub, TW_TEMP(BesselI0e, X), TW_TEMP(Mul, TW_TEMP(Sign, X), Y)), Y, 0.5))
TW_SPECIAL_GRADIENT(k0, TW_TEMP(Neg, TW_TEMP(BesselK1, X)))
TW_SPECIAL_GRADIENT(k0e, TW_TEMP(Sub, Y, TW_TEMP(BesselK1e, X)))
TW_SPECIAL_GRADIENT(k1, TW_TEMP(Sub, TW_TEMP(Neg, TW_TEMP(BesselK0, X)), TW_TEMP(RealDiv, Y, X)))
TW_SPECIAL_GRADIENT(k1e, TW_TEMP(Sub, TW_TEMP(Sub, Y, TW_TEMP(RealDiv, Y, X)), TW_TEMP(BesselK0e, X)))
TW_SPECIAL_GRADIENT(j0, TW_TEMP(Neg, TW_TEMP(BesselJ1, X)))
TW_SPECIAL_GRADIENT(j1, less_quotient(t, X, TW_TEMP(BesselJ0, X), Y, 0.5))
TW_SPECIAL_GRADIENT(y0, TW_TEMP(Neg, TW_TEMP(BesselY1, X)))
TW_SPECIAL_GRADIENT(y1, TW_TEMP(Sub, TW_TEMP(BesselY0, X), TW_TEMP(RealDiv, Y, X)))

TW_OP(BesselI0, TW_SPECIAL_OP, .unary = &tw__unary_bessel_i0, .gradient = i0_gradient,
      .function = "math.bessel_i0|math.special.bessel_i0(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The modified Bessel function of the first kind and order 0.");
TW_OP(BesselI0e, TW_SPECIAL_OP, .unary = &tw__unary_bessel_i0e, .gradient = i0e_gradient,
      .function = "math.bessel_i0e|math.special.bessel_i0e(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "bessel_i0(x) exp(-|x|).");
TW_OP(BesselI1, TW_SPECIAL_OP, .unary = &tw__unary_bessel_i1, .gradient = i1_gradient,
      .function = "math.bessel_i1|math.special.bessel_i1(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The modified Bessel function of the first kind and order 1.");
TW_OP(BesselI1e, TW_SPECIAL_OP, .unary = &tw__unary_bessel_i1e, .gradient = i1e_gradient,
      .function = "math.bessel_i1e|math.special.bessel_i1e(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "bessel_i1(x) exp(-|x|).");
TW_OP(BesselK0, TW_SPECIAL_OP, .unary = &tw__unary_bessel_k0, .gradient = k0_gradient,
      .function = "math.special.bessel_k0(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The modified Bessel function of the second kind and order 0.");
TW_OP(BesselK0e, TW_SPECIAL_OP, .unary = &tw__unary_bessel_k0e, .gradient = k0e_gradient,
      .function = "math.special.bessel_k0e(x: tensor|ragged, name: str = None) -> tensor", .doc = "bessel_k0(x) exp(x).");
TW_OP(BesselK1, TW_SPECIAL_OP, .unary = &tw__unary_bessel_k1, .gradient = k1_gradient,
      .function = "math.special.bessel_k1(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The modified Bessel function of the second kind and order 1.");
TW_OP(BesselK1e, TW_SPECIAL_OP, .unary = &tw__unary_bessel_k1e, .gradient = k1e_gradient,
      .function = "math.special.bessel_k1e(x: tensor|ragged, name: str = None) -> tensor", .doc = "bessel_k1(x) exp(x).");
TW_OP(BesselJ0, TW_SPECIAL_OP, .unary = &tw__unary_bessel_j0, .gradient = j0_gradient,
      .function = "math.special.bessel_j0(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The Bessel function of the first kind and order 0.");
TW_OP(BesselJ1, TW_SPECIAL_OP, .unary = &tw__unary_bessel_j1, .gradient = j1_gradient,
      .function = "math.special.bessel_j1(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The Bessel function of the first kind and order 1.");
TW_OP(BesselY0, TW_SPECIAL_OP, .unary = &tw__unary_bessel_y0, .gradient = y0_gradient,
      .function = "math.special.bessel_y0(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The Bessel function of the second kind and order 0.");
TW_OP(BesselY1, TW_SPECIAL_OP, .unary = &tw__unary_bessel_y1, .gradient = y1_gradient,
      .function = "math.special.bessel_y1(x: tensor|ragged, name: str = None) -> tensor",
      .doc = "The Bessel function of the second kind and order 1.");
