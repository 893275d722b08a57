/* What Schur's form gives: Eig (eigenvalues and eigenvectors of any square matrix), MatrixSquareRoot, MatrixLogarithm. */
#include <float.h>
#include <math.h>

#include "op/array/array.h"
#include "op/linalg/linalg.h"
#include "op/linalg/schur.h"
#include "op/wording.h"
#include "rows.h"

typedef double complex number;

static const char no_convergence[] = "Eigen decomposition was not successful. The input might not be valid.";

/* Matrix number `index` in Schur's form: T, Q and room for four more matrices behind them, in memory for tw__free. */
static const char *schur_of(tw__matrix_job *job, int64_t index, number **memory)
{
    int64_t n = job->rows;
    *memory = tw__alloc_array(6 * (size_t)(n * n) + 1, sizeof **memory);
    if (!*memory)
        return tw__matrix_no_memory;
    const void *from = tw__matrix_at(job->inputs[0], index, n * n);
    bool finite = true;
    for (int64_t i = 0; i < n * n; i++) {
        (*memory)[i] = job->of == &tw__complex_matrices ? ((const number *)from)[i] : ((const double *)from)[i];
        finite &= isfinite(creal((*memory)[i])) && isfinite(cimag((*memory)[i]));
    }
    return finite && tw__schur(*memory, n, *memory + n * n) ? NULL : no_convergence;
}

/* ---- Eig ---- */

static tw_status eig_shape(tw__inference *inference)
{
    TW_TRY(tw__matrix_need(inference, 0, true));
    int64_t rows = tw__matrix_dim(inference->shapes[0], 2), columns = tw__matrix_dim(inference->shapes[0], 1);
    int64_t n = rows >= 0 ? rows : columns;
    tw__matrix_shape(inference->shapes[0], n, -2, &inference->out_shapes[0]);
    if (TW_ATTR(inference, "compute_v")->b)
        tw__matrix_shape(inference->shapes[0], n, n, &inference->out_shapes[1]);
    else
        inference->out_shapes[1] = TW_SCALAR; /* what nobody asked for, as in TensorFlow */
    return TW_OK;
}

/* The eigenvector of T for its k-th value, times Q, of length 1; its greatest element is real. */
static void vector_of(const number *t, const number *q, int64_t n, int64_t k, number *y, number *out)
{
    double scale = 0, length = 0, greatest = 0;
    number phase = 1;
    for (int64_t i = 0; i < n; i++)
        scale = fmax(scale, cabs(t[i * n + i]));
    for (int64_t i = k; i >= 0; i--) {
        number sum = i == k;
        for (int64_t j = i + 1; j <= k; j++)
            sum -= t[i * n + j] * y[j];
        number gap = i == k ? 1 : t[i * n + i] - t[k * n + k];
        y[i] = sum / (cabs(gap) > DBL_EPSILON * scale || i == k ? gap : DBL_EPSILON * (scale > 0 ? scale : 1));
    }
    for (int64_t i = 0; i < n; i++) {
        number sum = 0;
        for (int64_t j = 0; j <= k; j++)
            sum += q[i * n + j] * y[j];
        out[i * n + k] = sum;
        double size = cabs(sum);
        length = hypot(length, size);
        if (size > greatest * (1 + 1e-9)) {
            greatest = size;
            phase = conj(sum) / size;
        }
    }
    for (int64_t i = 0; i < n && length > 0; i++)
        out[i * n + k] *= phase / length;
}

static const char *eig_of(tw__matrix_job *job, int64_t index)
{
    int64_t n = job->rows;
    number *t = NULL;
    const char *failure = schur_of(job, index, &t);
    number *values = tw__matrix_at(job->outputs[0], index, n);
    bool vectors = tw__attr_find(job->op, job->attrs, "compute_v")->b;
    for (int64_t k = 0; !failure && k < n; k++) {
        values[k] = t[k * n + k];
        if (job->of == &tw__real_matrices && fabs(cimag(values[k])) <= 1e-14 * cabs(values[k]))
            values[k] = creal(values[k]);
        if (vectors)
            vector_of(t, t + n * n, n, k, t + 2 * n * n, tw__matrix_at(job->outputs[1], index, n * n));
    }
    tw__free(t);
    return failure;
}

static tw_status eig_compute(tw__kernel *kernel)
{
    tw__kernel values = *kernel;
    if (TW_ATTR(kernel, "compute_v")->b)
        return tw__matrix_each(kernel, eig_of);
    memset(kernel->outputs[1]->data, 0, tw__element_size(kernel->outputs[1]->dtype));
    values.output_count = 1;
    return tw__matrix_each(&values, eig_of);
}

/* x / (x^2 + a little), which is 0 at 0. */
static tw_tensor *safe_reciprocal(tw__temps *t, tw_tensor *x)
{
    return TW_TEMP(Mul, x, TW_TEMP(Reciprocal, TW_TEMP(AddV2, TW_TEMP(Square, x), 1e-20)));
}

static tw_status eig_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *e = g->outputs[0], *v = g->outputs[1], *de = g->output_grads[0], *dv = g->output_grads[1], *made[2];
    bool vectors = TW_ATTR(g, "compute_v")->b;
    if (!g->wanted[0] || (!de && !dv))
        return TW_OK;
    de = de ? de : TW_TEMP(ZerosLike, e);
    if (!vectors) {
        TW_TRY(TW_TEMP_ALL(made, Eig, g->inputs[0], TW_A_TYPE("Tout", e->dtype)));
        v = made[1];
    }
    tw_tensor *middle = tw__diag(t, de), *adjoint = tw__adjoint(t, v);
    if (vectors && dv) {
        tw_tensor *gaps = TW_TEMP(Sub, TW_TEMP(ExpandDims, e, -2), TW_TEMP(ExpandDims, e, -1));
        tw_tensor *f = TW_TEMP(Conj, tw__set_diag(t, safe_reciprocal(t, gaps), TW_TEMP(ZerosLike, e)));
        tw_tensor *product = tw__mm(t, v, dv, true, false);
        tw_tensor *real = TW_TEMP(Real, product, TW_A_TYPE("Tout", e->dtype == TW_COMPLEX64 ? TW_FLOAT32 : TW_FLOAT64));
        tw_tensor *part = tw__diag(t, tw__diag_part(t, tw__temp_cast(t, real, e->dtype)));
        tw_tensor *rest = TW_TEMP(Sub, product, tw__mm(t, tw__mm(t, adjoint, v, false, false), part, false, false));
        middle = TW_TEMP(AddV2, middle, TW_TEMP(Mul, f, rest));
    }
    tw_tensor *whole = tw__solve(t, adjoint, tw__mm(t, middle, adjoint, false, false), false);
    g->input_grads[0] = whole ? tw__cast(whole, g->inputs[0]->dtype) : NULL;
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(Eig, .inputs = "input: T", .outputs = "e: Tout, v: Tout",
      .attrs = "compute_v: bool = true, T: {float, double, complex64, complex128}, Tout: {complex64, complex128}",
      .shape = eig_shape, .compute = eig_compute, .gradient = eig_gradient, .words = tw__words_square,
      .one_thread = TW_ONE_THREAD_MATRIX, .doc = "The eigenvalues and eigenvectors of square matrices.");

/* ---- functions of triangular matrices ---- */

/* r with r r = t. What is between two zeros of the diagonal is no number. */
static void triangle_root(const number *t, int64_t n, number *r)
{
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = n - 1; i > j; i--)
            r[i * n + j] = 0;
        r[j * n + j] = csqrt(t[j * n + j]);
        for (int64_t i = j - 1; i >= 0; i--) {
            number sum = t[i * n + j], both = r[i * n + i] + r[j * n + j];
            for (int64_t k = i + 1; k < j; k++)
                sum -= r[i * n + k] * r[k * n + j];
            r[i * n + j] = cabs(both) > 0 ? sum / both : NAN;
        }
    }
}

/* No numbers in place of a matrix: it has no such root or logarithm, as TensorFlow says it. */
static void no_numbers(double *to, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = NAN;
}

/* to = q m q^H; m is upper triangular, room one more matrix. Real results lose their imaginary part, which is no more than an
 * error unless the function has no real value. */
static void turn_back(const number *q, const number *m, int64_t n, number *room, void *to, bool wide)
{
    double greatest = 0, imaginary = 0;
    bool finite = true;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            number sum = 0;
            for (int64_t k = 0; k <= j; k++)
                sum += q[i * n + k] * m[k * n + j];
            room[i * n + j] = sum;
        }
    }
    for (int64_t i = 0; i < n * n; i++) {
        number sum = 0;
        for (int64_t k = 0; k < n; k++)
            sum += room[i / n * n + k] * conj(q[i % n * n + k]);
        finite &= isfinite(cabs(sum));
        greatest = fmax(greatest, cabs(sum));
        imaginary = fmax(imaginary, fabs(cimag(sum)));
        if (wide)
            ((number *)to)[i] = sum;
        else
            ((double *)to)[i] = creal(sum);
    }
    if (!finite || (!wide && imaginary > 1e-7 * greatest))
        no_numbers(to, n * n * (wide ? 2 : 1));
}

static tw_status function_shape(tw__inference *inference)
{
    TW_TRY(tw__matrix_need(inference, 0, true));
    tw__matrix_square(inference->shapes[0], &inference->out_shapes[0]);
    return TW_OK;
}

/* Frees t. A matrix without Schur's form, as one that is not finite, has no root and no logarithm, which is no error. */
static const char *done(number *t, const char *failure, double *to, int64_t count)
{
    tw__free(t);
    if (failure != no_convergence)
        return failure;
    no_numbers(to, count);
    return NULL;
}

static const char *root_of(tw__matrix_job *job, int64_t index)
{
    int64_t n = job->rows;
    number *t = NULL;
    void *to = tw__matrix_at(job->outputs[0], index, n * n);
    bool wide = job->of == &tw__complex_matrices;
    const char *failure = schur_of(job, index, &t);
    if (!failure) {
        triangle_root(t, n, t + 2 * n * n);
        turn_back(t + n * n, t + 2 * n * n, n, t + 3 * n * n, to, wide);
    }
    return done(t, failure, to, n * n * (wide ? 2 : 1));
}

static tw_status root_compute(tw__kernel *kernel)
{
    return tw__matrix_each(kernel, root_of);
}

/* With S = the root, S^H X + X S^H = dS: a system for all elements of X. */
static tw_status root_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *s = g->outputs[0], *ds = g->output_grads[0];
    if (!ds || !g->wanted[0])
        return TW_OK;
    tw_tensor *one = tw__eye_like(t, s), *adjoint = tw__adjoint(t, s), *conjugate = tw__temp(t, tw__grad_conj(s));
    tw_tensor *left = TW_TEMP(Mul, TW_TEMP(ExpandDims, TW_TEMP(ExpandDims, adjoint, -1), -3),
                              TW_TEMP(ExpandDims, TW_TEMP(ExpandDims, one, -2), -4));
    tw_tensor *right = TW_TEMP(Mul, TW_TEMP(ExpandDims, TW_TEMP(ExpandDims, one, -1), -3),
                               TW_TEMP(ExpandDims, TW_TEMP(ExpandDims, conjugate, -2), -4));
    tw_tensor *shape = tw__temp_shape(t, s, TW_INT32), *batch = tw__temp_slice(t, shape, TW_NO_INT, -2);
    tw_tensor *n = tw__temp_slice(t, shape, -1, TW_NO_INT), *all = TW_TEMP(Mul, n, n);
    tw_tensor *square = tw__temp_concat(t, (tw_tensor *[]){ batch, all, all }, 3, 0);
    tw_tensor *column = tw__temp_concat(t, (tw_tensor *[]){ batch, all, tw__temp_ints(t, (int64_t[]){ 1 }, 1, TW_INT32) }, 3, 0);
    tw_tensor *system = TW_TEMP(Reshape, TW_TEMP(AddV2, left, right), square);
    tw_tensor *solved = tw__solve(t, system, TW_TEMP(Reshape, ds, column), false);
    g->input_grads[0] = TW_CALL(Reshape, solved, shape);
    return g->input_grads[0] ? TW_OK : tw__error_status();
}

TW_OP(MatrixSquareRoot, .inputs = "input: T", .outputs = "output: T", .attrs = "T: {double, float, half, complex64, complex128}",
      .shape = function_shape, .compute = root_compute, .gradient = root_gradient, .words = tw__words_square,
      .one_thread = TW_ONE_THREAD_MATRIX,
      .function = "linalg.sqrtm|matrix_square_root(input: tensor, name: str = None) -> tensor",
      .doc = "The matrix whose product with itself is the given one, of each square matrix.");

/* ---- MatrixLogarithm ---- */

/* Adds weight x (1 + place x)^-1 to the sum; x is upper triangular, y is room. */
static void add_fraction(const number *x, int64_t n, double place, double weight, number *sum, number *y)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = i; j < n; j++) { /* y (1 + place x) = x, from the left */
            number rest = x[i * n + j];
            for (int64_t k = i; k < j; k++)
                rest -= y[i * n + k] * place * x[k * n + j];
            y[i * n + j] = rest / (1 + place * x[j * n + j]);
            sum[i * n + j] += weight * y[i * n + j];
        }
    }
}

/* Roots until the matrix is near 1; there log(1 + x) is the integral of x / (1 + s x) over s from 0 to 1, by Gauss's rule. The
 * diagonal is known without it. */
static void triangle_log(const number *t, int64_t n, number *a, number *b, number *sum, number *room)
{
    static const double places[] = { 0.025446043828620738, 0.12923440720030278, 0.29707742431130142, 0.5,
                                     0.70292257568869858,  0.87076559279969722, 0.97455395617137926 };
    static const double weights[] = { 0.064742483084434847, 0.13985269574463833, 0.19091502525255947, 0.20897959183673470,
                                      0.19091502525255947,  0.13985269574463833, 0.064742483084434847 };
    double factor = 1, away = INFINITY;
    memcpy(a, t, (size_t)(n * n) * sizeof *a);
    for (int k = 0; k < 100 && away > 0.1; k++) {
        away = 0;
        for (int64_t i = 0; i < n * n; i++)
            away = fmax(away, cabs(a[i] - (i % (n + 1) == 0)));
        away *= (double)n;
        if (away <= 0.1)
            break;
        triangle_root(a, n, b);
        memcpy(a, b, (size_t)(n * n) * sizeof *a);
        factor *= 2;
    }
    for (int64_t i = 0; i < n * n; i++) {
        a[i] -= i % (n + 1) == 0;
        sum[i] = 0;
    }
    for (int k = 0; k < 7; k++)
        add_fraction(a, n, places[k], weights[k] * factor, sum, room);
    for (int64_t i = 0; i < n; i++)
        sum[i * n + i] = clog(t[i * n + i]);
}

static const char *log_of(tw__matrix_job *job, int64_t index)
{
    int64_t n = job->rows, size = n * n;
    number *t = NULL;
    void *to = tw__matrix_at(job->outputs[0], index, size);
    const char *failure = schur_of(job, index, &t);
    if (!failure) {
        triangle_log(t, n, t + 2 * size, t + 3 * size, t + 4 * size, t + 5 * size);
        turn_back(t + size, t + 4 * size, n, t + 5 * size, to, true);
    }
    return done(t, failure, to, 2 * size);
}

static tw_status log_compute(tw__kernel *kernel)
{
    return tw__matrix_each(kernel, log_of);
}

TW_OP(MatrixLogarithm, .inputs = "input: T", .outputs = "output: T", .attrs = "T: {complex64, complex128}",
      .shape = function_shape, .compute = log_compute, .no_gradient = true, .words = tw__words_square,
      .one_thread = TW_ONE_THREAD_MATRIX, .function = "linalg.logm(input: tensor, name: str = None) -> tensor",
      .doc = "The logarithm of each square complex matrix: its exponential is the matrix.");
