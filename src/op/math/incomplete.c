/* The incomplete gamma and beta functions, and their derivatives.
 *
 * The lower gamma function is a power series, the upper one a continued fraction; each is used where it converges. For
 * derivatives by a the sums are computed at a + i h with an h so small that its square is nothing: the imaginary part is then h
 * times the derivative, without any cancellation. */
#include <complex.h>
#include <math.h>

#include "kernel/elementwise/loops.h"
#include "op/gradient.h"
#include "rows.h"

#define TINY_STEP 1e-30

static double log_gamma(double a)
{
    int sign;
    return lgamma_r(a, &sign);
}

static double digamma(double x)
{
    double y;
    tw__unary_run(&tw__unary_digamma, TW_FLOAT64, &x, &y, 1);
    return y;
}

/* The sum of x^n / ((a + 1) … (a + n)). */
static double complex lower_sum(double complex a, double x)
{
    double complex sum = 1, term = 1;
    for (int n = 1; n < 200000; n++) {
        term *= x / (a + n);
        sum += term;
        if (fabs(creal(term)) <= fabs(creal(sum)) * 1e-17 && fabs(cimag(term)) <= fabs(cimag(sum)) * 1e-17)
            break;
    }
    return sum;
}

/* 1 / (x + 1 - a - (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - …))), by Lentz's method. */
static double complex upper_fraction(double complex a, double x)
{
    double complex b = x + 1 - a, c = 1e300, d = 1 / b, product = d;
    for (int n = 1; n < 200000; n++) {
        double complex factor = n * (a - n);
        b += 2;
        d = 1 / (factor * d + b);
        c = b + factor / c;
        double complex change = c * d;
        product *= change;
        if (fabs(creal(change) - 1) <= 2.3e-16 && fabs(cimag(change)) <= TINY_STEP * 1e-15)
            break;
    }
    return product;
}

static bool lower_converges(double a, double x)
{
    return x <= 1 || x <= a;
}

/* Not defined, or known without a sum: 0 at x = 0, 1 at infinity. */
static bool gamma_is_plain(double a, double x, double *value)
{
    *value = isnan(a) || isnan(x) || a <= 0 || x < 0 ? NAN : x == 0 || (isinf(a) && !isinf(x)) ? 0 : 1;
    return isnan(*value) || x == 0 || isinf(x) || isinf(a);
}

static double gamma_of(double a, double x, bool upper)
{
    double value;
    if (!upper && (x == 0 || (a == INFINITY && x >= 0))) /* these come first in TensorFlow */
        return 0;
    if (gamma_is_plain(a, x, &value))
        return upper ? 1 - value : value;
    double scale = exp(a * log(x) - x - log_gamma(a));
    if (lower_converges(a, x)) {
        value = scale / a * creal(lower_sum(a, x));
        return upper ? 1 - value : value;
    }
    value = scale * creal(upper_fraction(a, x));
    return upper ? value : 1 - value;
}

/* The derivative of the lower function by a, divided by x^a exp(-x) / gamma(a). */
static double slope_of(double a, double x)
{
    if (lower_converges(a, x)) {
        double complex sum = lower_sum(a + TINY_STEP * _Complex_I, x);
        return (creal(sum) * (log(x) - digamma(a + 1)) + cimag(sum) / TINY_STEP) / a;
    }
    double complex fraction = upper_fraction(a + TINY_STEP * _Complex_I, x);
    return -(creal(fraction) * (log(x) - digamma(a)) + cimag(fraction) / TINY_STEP);
}

static double gamma_slope_of(double a, double x)
{
    double value;
    if (x == 0)
        return 0;
    if (gamma_is_plain(a, x, &value))
        return isnan(value) ? value : -0.0;
    return exp(a * log(x) - x - log_gamma(a)) * slope_of(a, x);
}

/* How a sample of the gamma distribution moves with its parameter. */
static double sample_slope_of(double a, double x)
{
    double value;
    if (gamma_is_plain(a, x, &value))
        return isnan(value) ? value : x == 0 ? 0 : -0.0;
    return -slope_of(a, x) * x;
}

#define FUNCTION(name, expression)                                     \
    TW_BINARY_LOOP(name, float, float, float, float, , expression)     \
    TW_BINARY_LOOP(name, double, double, double, double, , expression) \
    const tw__binary tw__binary_##name = { .loops = { TW_REAL_LOOPS(name) }, .slow = true };
FUNCTION(gamma_lower, gamma_of((double)a, (double)b, false))
FUNCTION(gamma_upper, gamma_of((double)a, (double)b, true))
FUNCTION(gamma_slope, gamma_slope_of((double)a, (double)b))
FUNCTION(sample_slope, sample_slope_of((double)a, (double)b))

static tw_status gamma_gradient(tw__gradient *g, bool upper)
{
    TW_TEMPS(t);
    tw_tensor *a = g->inputs[0], *x = g->inputs[1], *dz = g->output_grads[0];
    if (!dz)
        return TW_OK;
    dz = upper ? TW_TEMP(Neg, dz) : dz;
    if (g->wanted[0])
        tw__grad_set(g, 0, TW_CALL(Mul, dz, TW_TEMP(IgammaGradA, a, x)));
    if (g->wanted[1]) {
        tw_tensor *power = TW_TEMP(Mul, TW_TEMP(Sub, a, 1.0), TW_TEMP(Log, x));
        tw_tensor *density = TW_TEMP(Exp, TW_TEMP(Sub, TW_TEMP(Sub, power, x), TW_TEMP(Lgamma, a)));
        tw__grad_set(g, 1, TW_CALL(Mul, dz, density));
    }
    return tw__grad_status(g);
}

static tw_status lower_gradient(tw__gradient *g)
{
    return gamma_gradient(g, false);
}

static tw_status upper_gradient(tw__gradient *g)
{
    return gamma_gradient(g, true);
}

#define ROW .inputs = "a: T, x: T", .outputs = "z: T", .shape = tw_shape_broadcast, .compute = tw__binary_compute
TW_OP(Igamma, ROW, .attrs = "T: {bfloat16, half, float, double}", .binary = &tw__binary_gamma_lower, .gradient = lower_gradient,
      .function = "math.igamma|compat.v1.igamma(a: tensor<T>|ragged, x: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "The regularized lower incomplete gamma function.\n"
             "a: the parameter of the function, above 0\n"
             "x: where it is computed, from 0 on");
TW_OP(Igammac, ROW, .attrs = "T: {bfloat16, half, float, double}", .binary = &tw__binary_gamma_upper, .gradient = upper_gradient,
      .function = "math.igammac|compat.v1.igammac(a: tensor<T>|ragged, x: tensor<T>|ragged, name: str = None) -> tensor",
      .doc = "The regularized upper incomplete gamma function.\n"
             "a: the parameter of the function, above 0\n"
             "x: where it is computed, from 0 on");
TW_OP(IgammaGradA, ROW, .attrs = "T: {float, double}", .binary = &tw__binary_gamma_slope, .no_gradient = true,
      .doc = "The derivative of Igamma by a.");
TW_OP(RandomGammaGrad, .inputs = "alpha: T, sample: T", .outputs = "output: T", .attrs = "T: {float, double}",
      .shape = tw_shape_broadcast, .compute = tw__binary_compute, .binary = &tw__binary_sample_slope, .no_gradient = true,
      .doc = "The derivative of a sample of the gamma distribution by its parameter.");

/* ---- beta ---- */

static double beta_fraction(double a, double b, double x)
{
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
    double product = d;
    for (int m = 1; m < 20000; m++) {
        double change = 1;
        for (int odd = 0; odd < 2; odd++) {
            double factor = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                                : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
            d = 1 + factor * d;
            c = 1 + factor / c;
            d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
            c = fabs(c) < 1e-300 ? 1e-300 : c;
            product *= change = c * d;
        }
        if (fabs(change - 1) < 2.3e-16)
            break;
    }
    return product;
}

static double beta_of(double a, double b, double x)
{
    if (!(a > 0 && b > 0 && x >= 0 && x <= 1))
        return NAN;
    if (x == 0 || x == 1)
        return x;
    double scale = exp(a * log(x) + b * log1p(-x) + log_gamma(a + b) - log_gamma(a) - log_gamma(b));
    return x < (a + 1) / (a + b + 2) ? scale * beta_fraction(a, b, x) / a : 1 - scale * beta_fraction(b, a, 1 - x) / b;
}

/* All of one shape, or scalars. */
static tw_status beta_shape(tw__inference *inference)
{
    tw_shape *out = &inference->out_shapes[0];
    bool unknown = false;
    out->rank = 0;
    for (int i = 0; i < 3; i++) {
        const tw_shape *shape = inference->shapes[i];
        unknown |= shape->rank < 0;
        if (shape->rank <= 0)
            continue;
        if (out->rank > 0 && !tw__shape_compatible(out, shape))
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Shapes of a, b and x are inconsistent: %s vs. %s",
                              tw__shape_text(out), tw__shape_text(shape));
        if (out->rank <= 0 || tw__shape_known(shape))
            *out = *shape;
    }
    if (unknown && out->rank == 0)
        out->rank = -1;
    return TW_OK;
}

static tw_status beta_compute(tw__kernel *kernel)
{
    const tw_tensor *const *in = (const tw_tensor *const *)kernel->inputs;
    tw_tensor *out = kernel->outputs[0];
    for (int64_t i = 0; i < out->count; i++) {
        double given[3];
        for (int k = 0; k < 3; k++)
            given[k] = tw_tensor_double_at(in[k], in[k]->shape.rank ? i : 0);
        double value = beta_of(given[0], given[1], given[2]);
        if (out->dtype == TW_FLOAT64)
            ((double *)out->data)[i] = value;
        else
            ((float *)out->data)[i] = (float)value;
    }
    return TW_OK;
}

/* Of x alone, as in TensorFlow. */
static tw_status beta_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *a = g->inputs[0], *b = g->inputs[1], *x = g->inputs[2], *dz = g->output_grads[0];
    if (!dz || !g->wanted[2])
        return TW_OK;
    tw_tensor *log_beta =
        TW_TEMP(Sub, TW_TEMP(AddV2, TW_TEMP(Lgamma, a), TW_TEMP(Lgamma, b)), TW_TEMP(Lgamma, TW_TEMP(AddV2, a, b)));
    tw_tensor *powers =
        TW_TEMP(AddV2, TW_TEMP(Xlog1py, TW_TEMP(Sub, b, 1.0), TW_TEMP(Neg, x)), TW_TEMP(Xlogy, TW_TEMP(Sub, a, 1.0), x));
    tw__grad_set(g, 2, TW_CALL(Mul, dz, TW_TEMP(Exp, TW_TEMP(Sub, powers, log_beta))));
    return g->input_grads[2] ? TW_OK : tw__error_status();
}

TW_OP(Betainc, .inputs = "a: T, b: T, x: T", .outputs = "z: T", .attrs = "T: {float, double}", .shape = beta_shape,
      .compute = beta_compute, .gradient = beta_gradient,
      .function = "math.betainc|compat.v1.betainc(a: tensor<T>, b: tensor<T>, x: tensor<T>, name: str = None) -> tensor",
      .doc = "The regularized incomplete beta function.\n"
             "a: the first parameter, above 0\n"
             "b: the second parameter, above 0\n"
             "x: where it is computed, from 0 to 1");
