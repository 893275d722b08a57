/* Zeta and Polygamma: the Hurwitz zeta function, sum of (q + k)^-x over k, and the derivatives of digamma that follow from it.
 *
 * The first terms are summed; the rest is Euler's and Maclaurin's integral, half term and correction by even derivatives. */
#include <math.h>

#include "kernel/elementwise/loops.h"
#include "op/gradient.h"
#include "rows.h"

static double zeta_of(double x, double q)
{
    /* (2k)! / B(2k), B: Bernoulli's numbers */
    static const double corrections[] = { 12,
                                          -720,
                                          30240,
                                          -1209600,
                                          47900160,
                                          -1307674368000.0 / 691,
                                          74724249600,
                                          -2950130727918.1642,
                                          116467828143500.67,
                                          -4597978722407472.6,
                                          1.8152105401943546773e17,
                                          -7.1661652561756670113e18 };
    if (x == 1)
        return INFINITY;
    if (isnan(x) || x < 1)
        return NAN;
    if (q <= 0 && q == floor(q))
        return isinf(x) || fmod(x, 2) == 0 ? INFINITY : NAN;
    if (q <= 0 && x != floor(x))
        return NAN;
    if ((isinf(x) && q > 1) || q == INFINITY)
        return 0;
    double sum = pow(q, -x), a = q, term = 0;
    for (int k = 0; k < 9 || a <= 9; k++) {
        a += 1;
        term = pow(a, -x);
        sum += term;
        if (fabs(term / sum) < 1e-17)
            return sum;
    }
    double last = a, factor = 1;
    sum += term * last / (x - 1) - 0.5 * term;
    for (int i = 0, k = 0; i < 12; i++, k += 2) {
        factor *= x + k;
        term /= last;
        double change = factor * term / corrections[i];
        sum += change;
        if (fabs(change / sum) < 1e-17)
            break;
        factor *= x + k + 1;
        term /= last;
    }
    return sum;
}

static double polygamma_of(double n, double x)
{
    double digamma;
    if (n < 0 || n != floor(n))
        return NAN;
    if (n > 0)
        return (fmod(n, 2) == 0 ? -1 : 1) * tgamma(n + 1) * zeta_of(n + 1, x);
    tw__unary_run(&tw__unary_digamma, TW_FLOAT64, &x, &digamma, 1);
    return digamma;
}

TW_BINARY_LOOP(zeta, float, float, float, float, , zeta_of((double)a, (double)b))
TW_BINARY_LOOP(zeta, double, double, double, double, , zeta_of(a, b))
const tw__binary tw__binary_zeta = { .loops = { TW_REAL_LOOPS(zeta) }, .slow = true };

TW_BINARY_LOOP(polygamma, float, float, float, float, , polygamma_of((double)a, (double)b))
TW_BINARY_LOOP(polygamma, double, double, double, double, , polygamma_of(a, b))
const tw__binary tw__binary_polygamma = { .loops = { TW_REAL_LOOPS(polygamma) }, .slow = true };

/* Of q: -x * zeta(x + 1, q). Of x there is none, as in TensorFlow. */
static tw_status zeta_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *x = g->inputs[0], *q = g->inputs[1], *dz = g->output_grads[0];
    if (!g->wanted[1] || !dz)
        return TW_OK;
    tw_tensor *next = TW_TEMP(Zeta, TW_TEMP(AddV2, x, 1.0), q);
    g->input_grads[1] = tw__grad_unbroadcast(TW_CALL(Mul, dz, TW_TEMP(Mul, TW_TEMP(Neg, x), next)), q);
    return g->input_grads[1] ? TW_OK : tw__error_status();
}

TW_OP(Zeta, .inputs = "x: T, q: T", .outputs = "z: T", .attrs = "T: {float, double}", .shape = tw_shape_broadcast,
      .compute = tw__binary_compute, .binary = &tw__binary_zeta, .gradient = zeta_gradient,
      .function = "math.zeta|compat.v1.zeta(x: tensor<T>|ragged, q: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "The sum of (q + k)^-x over k = 0, 1, …\n"
             "x: the exponents, above 1\n"
             "q: what is added to each k");

static tw_status polygamma_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *n = g->inputs[0], *x = g->inputs[1], *dz = g->output_grads[0];
    if (!g->wanted[1] || !dz)
        return TW_OK;
    tw_tensor *next = TW_TEMP(Polygamma, TW_TEMP(AddV2, n, 1.0), x);
    g->input_grads[1] = tw__grad_unbroadcast(TW_CALL(Mul, dz, next), x);
    return g->input_grads[1] ? TW_OK : tw__error_status();
}

TW_OP(Polygamma, .inputs = "a: T, x: T", .outputs = "z: T", .attrs = "T: {float, double}", .shape = tw_shape_broadcast,
      .compute = tw__binary_compute, .binary = &tw__binary_polygamma, .gradient = polygamma_gradient,
      .function = "math.polygamma|compat.v1.polygamma(a: tensor<T>, x: tensor<T>, name: str = None) -> tensor",
      .doc = "The a-th derivative of digamma.\n"
             "a: which derivative: whole numbers from 0 on\n"
             "x: where it is computed");
