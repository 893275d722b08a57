/* Matrices of few diagonals: TridiagonalMatMul, TridiagonalSolve, BandedTriangularSolve; and CholeskyGrad. Computed in complex
 * double for complex numbers, else in double, through the same bodies. */
#include <complex.h>
#include <math.h>
#undef I

#include "kernel/kernel.h"
#include "op/array/array.h"
#include "op/linalg/linalg.h"
#include "rows.h"

typedef double complex number;
#define NUMBERS "{double, float, complex64, complex128}"

/* The inputs as complex double, and output 0 from there: these ops are small, and one body is enough. */
typedef struct bands_job {
    tw_tensor *in[4], *out;
    int64_t batches, rows, columns; /* of the right side */
} bands_job;

static void end(bands_job *j)
{
    for (int i = 0; i < 4; i++)
        tw_release(j->in[i]);
    tw_release(j->out);
}

static tw_status begin(tw__kernel *kernel, bands_job *j, int right)
{
    *j = (bands_job){ .batches = 1 };
    for (int i = 0; i < kernel->input_count; i++) {
        if (!(j->in[i] = tw__kernel_cast(kernel->op, kernel->inputs[i], TW_COMPLEX128))) {
            end(j);
            return tw__error_status();
        }
    }
    const tw_shape *shape = &kernel->inputs[right]->shape;
    j->out = tw__tensor_empty(TW_COMPLEX128, shape);
    if (!j->out) {
        end(j);
        return tw__error_status();
    }
    j->rows = shape->dims[shape->rank - 2];
    j->columns = shape->dims[shape->rank - 1];
    for (int i = 0; i < shape->rank - 2; i++)
        j->batches *= shape->dims[i];
    return TW_OK;
}

static tw_status finish(tw__kernel *kernel, bands_job *j, const char *failure)
{
    tw_tensor *out = failure ? NULL : tw__output(kernel, 0, &j->out->shape);
    if (out)
        tw__cast_run(TW_COMPLEX128, out->dtype, j->out->data, out->data, out->count, false);
    end(j);
    if (failure)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "%s", failure);
    return out ? TW_OK : tw__error_status();
}

/* Shapes: matrices of `bands` rows (-1: any) as long as the right side is high, with the same leading dimensions. */
static tw_status bands_shape(tw__inference *inference, int right, int64_t bands)
{
    const tw_shape *rhs = inference->shapes[right];
    tw_shape out = *rhs;
    TW_TRY(tw__need_rank_at_least(inference, right, 2));
    for (int i = 0; i < right; i++) {
        const tw_shape *in = inference->shapes[i];
        TW_TRY(tw__need_rank_at_least(inference, i, 2));
        if (in->rank < 0)
            continue;
        int64_t height = tw__matrix_dim(in, 2), length = tw__matrix_dim(in, 1), rows = tw__matrix_dim(rhs, 2);
        bool fits = (bands < 0 || height < 0 || height == bands) && (length < 0 || rows < 0 || length == rows);
        fits &= rhs->rank < 0 || rhs->rank == in->rank;
        for (int k = 0; fits && rhs->rank >= 0 && k < rhs->rank - 2; k++)
            fits = rhs->dims[k] < 0 || in->dims[k] < 0 || rhs->dims[k] == in->dims[k];
        if (!fits)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT,
                              "input %d is of shape %s, which does not fit a right side of shape %s", i, tw__shape_text(in),
                              tw__shape_text(rhs));
    }
    inference->out_shapes[0] = out;
    return TW_OK;
}

/* ---- TridiagonalMatMul ---- */

static tw_status multiply_shape(tw__inference *inference)
{
    return bands_shape(inference, 3, 1);
}

static tw_status multiply_compute(tw__kernel *kernel)
{
    bands_job j;
    TW_TRY(begin(kernel, &j, 3));
    int64_t m = j.rows, n = j.columns;
    for (int64_t b = 0; b < j.batches; b++) {
        const number *above = (number *)j.in[0]->data + b * m, *main = (number *)j.in[1]->data + b * m,
                     *below = (number *)j.in[2]->data + b * m, *x = (number *)j.in[3]->data + b * m * n;
        number *y = (number *)j.out->data + b * m * n;
        for (int64_t i = 0; i < m; i++) {
            for (int64_t k = 0; k < n; k++) {
                number sum = main[i] * x[i * n + k];
                sum += i + 1 < m ? above[i] * x[(i + 1) * n + k] : 0;
                sum += i > 0 ? below[i] * x[(i - 1) * n + k] : 0;
                y[i * n + k] = sum;
            }
        }
    }
    return finish(kernel, &j, NULL);
}

/* The rows of x one up (by ones above the diagonal) or one down, zeros where there is none. */
static tw_tensor *shifted(tw__temps *t, tw_tensor *x, tw_tensor *like, bool up)
{
    tw_tensor *one = TW_TEMP(OnesLike, like), *zero = TW_TEMP(ZerosLike, like);
    return TW_TEMP(TridiagonalMatMul, up ? one : zero, zero, up ? zero : one, x);
}

/* Sums of the products of rows, as a matrix of one row. */
static tw_tensor *row_products(tw__temps *t, tw_tensor *a, tw_tensor *b)
{
    tw_tensor *product = TW_TEMP(Mul, a, tw__temp(t, tw__grad_conj(b)));
    return TW_TEMP(ExpandDims, tw__temp(t, tw__reduce_axis(&tw__op_Sum, product, -1, false)), -2);
}

static tw_tensor *rolled(tw__temps *t, tw_tensor *x, int by)
{
    return TW_TEMP(Roll, tw__temp(t, tw__grad_conj(x)), by, -1);
}

static tw_status multiply_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *above = g->inputs[0], *main = g->inputs[1], *below = g->inputs[2], *x = g->inputs[3], *dy = g->output_grads[0];
    if (!dy)
        return TW_OK;
    tw__grad_set(g, 0, g->wanted[0] ? tw_retain(row_products(t, dy, shifted(t, x, main, true))) : NULL);
    tw__grad_set(g, 1, g->wanted[1] ? tw_retain(row_products(t, dy, x)) : NULL);
    tw__grad_set(g, 2, g->wanted[2] ? tw_retain(row_products(t, dy, shifted(t, x, main, false))) : NULL);
    if (g->wanted[3])
        tw__grad_set(g, 3,
                     TW_CALL(TridiagonalMatMul, rolled(t, below, -1), tw__temp(t, tw__grad_conj(main)), rolled(t, above, 1), dy));
    return tw__grad_status(g);
}

TW_OP(TridiagonalMatMul, .inputs = "superdiag: T, maindiag: T, subdiag: T, rhs: T", .outputs = "output: T",
      .attrs = "T: " NUMBERS, .shape = multiply_shape, .compute = multiply_compute, .gradient = multiply_gradient,
      .doc = "The products of matrices with three diagonals and other matrices.");

/* ---- TridiagonalSolve ---- */

static tw_status solve_shape(tw__inference *inference)
{
    return bands_shape(inference, 1, 3);
}

/* One system by elimination; with pivoting a row has up to three elements from the diagonal on. u: 3 m. */
static bool solve_one(const number *d, int64_t m, int64_t n, number *x, bool pivots, number *u)
{
    for (int64_t i = 0; i < m; i++) {
        u[3 * i] = d[m + i];
        u[3 * i + 1] = i + 1 < m ? d[i] : 0;
        u[3 * i + 2] = 0;
    }
    for (int64_t i = 0; i + 1 < m; i++) {
        number low[3] = { d[2 * m + i + 1], u[3 * (i + 1)], u[3 * (i + 1) + 1] }; /* row i + 1 from column i on */
        if (pivots && cabs(low[0]) > cabs(u[3 * i])) {
            for (int k = 0; k < 3; k++) {
                number swap = u[3 * i + k];
                u[3 * i + k] = low[k];
                low[k] = swap;
            }
            for (int64_t k = 0; k < n; k++) {
                number swap = x[i * n + k];
                x[i * n + k] = x[(i + 1) * n + k];
                x[(i + 1) * n + k] = swap;
            }
        }
        if (u[3 * i] == 0)
            return false;
        number factor = low[0] / u[3 * i];
        u[3 * (i + 1)] = low[1] - factor * u[3 * i + 1];
        u[3 * (i + 1) + 1] = low[2] - factor * u[3 * i + 2];
        for (int64_t k = 0; k < n; k++)
            x[(i + 1) * n + k] -= factor * x[i * n + k];
    }
    if (m && u[3 * (m - 1)] == 0)
        return false;
    for (int64_t i = m - 1; i >= 0; i--) {
        for (int64_t k = 0; k < n; k++) {
            number rest = x[i * n + k];
            rest -= i + 1 < m ? u[3 * i + 1] * x[(i + 1) * n + k] : 0;
            rest -= i + 2 < m ? u[3 * i + 2] * x[(i + 2) * n + k] : 0;
            x[i * n + k] = rest / u[3 * i];
        }
    }
    return true;
}

static tw_status solve_compute(tw__kernel *kernel)
{
    bands_job j;
    if (TW_ATTR(kernel, "perturb_singular")->b)
        return TW_OP_FAIL(kernel, TW_UNIMPLEMENTED, "perturb_singular is not supported");
    TW_TRY(begin(kernel, &j, 1));
    int64_t m = j.rows, n = j.columns;
    bool pivots = TW_ATTR(kernel, "partial_pivoting")->b;
    tw__owned number *u = tw__alloc_array(3 * (size_t)m + 1, sizeof *u);
    memcpy(j.out->data, j.in[1]->data, (size_t)j.out->count * sizeof(number));
    for (int64_t b = 0; u && b < j.batches; b++) {
        number *x = (number *)j.out->data + b * m * n;
        bool solved = solve_one((number *)j.in[0]->data + b * 3 * m, m, n, x, pivots, u);
        for (int64_t i = 0; !solved && i < m * n; i++) /* no numbers, no error, as in TensorFlow */
            x[i] = NAN;
    }
    if (!u) {
        end(&j);
        return tw__error_status();
    }
    return finish(kernel, &j, NULL);
}

/* dx = T^-H dy; of the diagonals minus the products of dx and x. */
static tw_status solve_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *d = g->inputs[0], *x = g->outputs[0], *dy = g->output_grads[0], *rows[3];
    if (!dy)
        return TW_OK;
    TW_TRY(TW_TEMP_ALL(rows, Split, -2, d, TW_A_INT("num_split", 3)));
    tw_tensor *turned =
        tw__temp_concat(t, (tw_tensor *[]){ rolled(t, rows[2], -1), tw__temp(t, tw__grad_conj(rows[1])), rolled(t, rows[0], 1) },
                        3, -2);
    tw_tensor *dx = TW_TEMP(TridiagonalSolve, turned, dy, TW_A_BOOL("partial_pivoting", TW_ATTR(g, "partial_pivoting")->b));
    if (g->wanted[1])
        tw__grad_set(g, 1, tw_retain(dx));
    if (g->wanted[0]) {
        tw_tensor *parts[3] = { row_products(t, dx, shifted(t, x, rows[1], true)), row_products(t, dx, x),
                                row_products(t, dx, shifted(t, x, rows[1], false)) };
        tw__grad_set(g, 0, TW_CALL(Neg, tw__temp_concat(t, parts, 3, -2)));
    }
    return tw__grad_status(g);
}

TW_OP(TridiagonalSolve, .inputs = "diagonals: T, rhs: T", .outputs = "output: T",
      .attrs = "partial_pivoting: bool = true, perturb_singular: bool = false, T: " NUMBERS, .shape = solve_shape,
      .compute = solve_compute, .gradient = solve_gradient,
      .doc = "Solves systems whose matrices have three diagonals: those above, on and below the main one.");

/* ---- BandedTriangularSolve ---- */

static tw_status banded_shape(tw__inference *inference)
{
    return bands_shape(inference, 1, -1);
}

/* Element (i, k) of the band matrix: its diagonal i - k, in the column of its row. */
static number band_at(const number *bands, int64_t count, int64_t m, int64_t i, int64_t k, bool lower)
{
    int64_t off = lower ? i - k : k - i;
    return off < 0 || off >= count ? 0 : bands[(lower ? off : count - 1 - off) * m + i];
}

static tw_status banded_compute(tw__kernel *kernel)
{
    bands_job j;
    bool lower = TW_ATTR(kernel, "lower")->b, adjoint = TW_ATTR(kernel, "adjoint")->b;
    TW_TRY(begin(kernel, &j, 1));
    int64_t m = j.rows, n = j.columns, count = tw__matrix_dim(&kernel->inputs[0]->shape, 2);
    const char *failure = NULL;
    memcpy(j.out->data, j.in[1]->data, (size_t)j.out->count * sizeof(number));
    for (int64_t b = 0; !failure && b < j.batches; b++) {
        const number *bands = (number *)j.in[0]->data + b * count * m;
        number *x = (number *)j.out->data + b * m * n;
        bool forward = lower != adjoint;
        for (int64_t s = 0; !failure && s < m; s++) {
            int64_t i = forward ? s : m - 1 - s;
            number pivot = band_at(bands, count, m, i, i, lower);
            failure = pivot == 0 ? "Input matrix is not invertible." : NULL;
            for (int64_t o = 1; !failure && o < count; o++) {
                int64_t k = forward ? i - o : i + o;
                if (k < 0 || k >= m)
                    break;
                number factor = adjoint ? conj(band_at(bands, count, m, k, i, lower)) : band_at(bands, count, m, i, k, lower);
                for (int64_t c = 0; c < n; c++)
                    x[i * n + c] -= factor * x[k * n + c];
            }
            for (int64_t c = 0; !failure && c < n; c++)
                x[i * n + c] /= adjoint ? conj(pivot) : pivot;
        }
    }
    return finish(kernel, &j, failure);
}

TW_OP(BandedTriangularSolve, .inputs = "matrix: T, rhs: T", .outputs = "output: T",
      .attrs = "lower: bool = true, adjoint: bool = false, T: {double, float, half, complex64, complex128}",
      .shape = banded_shape, .compute = banded_compute, .no_gradient = true,
      .doc = "Solves systems whose matrices are triangular and have few diagonals, which are the rows of `matrix`.");

/* ---- CholeskyGrad ---- */

/* L^-T phi(L^T dL) L^-1, made symmetric; phi: the lower triangle with half the diagonal. */
static const char *cholesky_grad_of(tw__matrix_job *job, int64_t index)
{
    int64_t n = job->rows;
    const double *l = tw__matrix_at(job->inputs[0], index, n * n), *d = tw__matrix_at(job->inputs[1], index, n * n);
    double *out = tw__matrix_at(job->outputs[0], index, n * n), *p = tw__alloc_array((size_t)(n * n) + 1, sizeof *p);
    if (!p)
        return tw__matrix_no_memory;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < n; k++) {
            p[i * n + k] = 0;
            for (int64_t r = i; k <= i && r < n; r++)
                p[i * n + k] += r >= k ? l[r * n + i] * d[r * n + k] : 0;
            p[i * n + k] *= i == k ? 0.5 : 1;
        }
    }
    for (int turn = 0; turn < 2; turn++) { /* L^T y = p, and the same of the transposed */
        for (int64_t k = 0; k < n; k++) {
            for (int64_t i = n - 1; i >= 0; i--) {
                for (int64_t r = i + 1; r < n; r++)
                    p[i * n + k] -= l[r * n + i] * p[r * n + k];
                p[i * n + k] /= l[i * n + i];
            }
        }
        for (int64_t i = 0; i < n * n; i++)
            out[i % n * n + i / n] = p[i];
        memcpy(p, out, (size_t)(n * n) * sizeof *p);
    }
    for (int64_t i = 0; i < n * n; i++)
        out[i] = 0.5 * (p[i] + p[i % n * n + i / n]);
    tw__free(p);
    return NULL;
}

static tw_status cholesky_grad_compute(tw__kernel *kernel)
{
    return tw__matrix_each(kernel, cholesky_grad_of);
}

static tw_status cholesky_grad_shape(tw__inference *inference)
{
    TW_TRY(tw__matrix_need(inference, 0, true));
    TW_TRY(tw__matrix_need(inference, 1, true));
    if (!tw__shape_compatible(inference->shapes[0], inference->shapes[1]))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Inputs L and grad must have the same shape: %s vs. %s",
                          tw__shape_text(inference->shapes[0]), tw__shape_text(inference->shapes[1]));
    return tw_shape_same(inference);
}

TW_OP(CholeskyGrad, .inputs = "l: T, grad: T", .outputs = "output: T", .attrs = "T: {half, float, double}",
      .shape = cholesky_grad_shape, .compute = cholesky_grad_compute, .no_gradient = true, .doc = "The gradient of Cholesky.");
