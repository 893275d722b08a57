/* MatrixSolveLs: the x of least |matrix x - rhs|; of several the one of least |x|.
 *
 * fast: by Cholesky's factor of the Gramian, with l2_regularizer on its diagonal. Else by singular values, those near zero left
 * out; then the regularizer does not count, as in TensorFlow. */
#include <float.h>
#include <math.h>

#include "kernel/gemm/gemm.h"
#include "op/calls.h"
#include "op/linalg/linalg.h"
#include "rows.h"

static tw_status shape_of(tw__inference *inference)
{
    const tw_shape *a = inference->shapes[0], *b = inference->shapes[1];
    TW_TRY(tw__matrix_need(inference, 0, false));
    TW_TRY(tw__matrix_need(inference, 1, false));
    TW_TRY(tw__need_rank(inference, 2, 0));
    int64_t rows = tw__matrix_dim(a, 2), right = tw__matrix_dim(b, 2);
    bool match = (rows < 0 || right < 0 || rows == right) && (a->rank < 0 || b->rank < 0 || a->rank == b->rank);
    for (int i = 0; match && a->rank >= 0 && b->rank >= 0 && i < a->rank - 2; i++)
        match = a->dims[i] < 0 || b->dims[i] < 0 || a->dims[i] == b->dims[i];
    if (!match)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Input matrix and rhs are incompatible. %s and %s", tw__shape_text(a),
                          tw__shape_text(b));
    tw__matrix_shape(a->rank >= 0 ? a : b, tw__matrix_dim(a, 1), tw__matrix_dim(b, 1), &inference->out_shapes[0]);
    return TW_OK;
}

/* a^H a or a a^H, with the regularizer on its diagonal; left to t. */
static tw_tensor *gramian(tw__temps *t, tw_tensor *a, bool first_kind, tw_tensor *regularizer)
{
    tw_tensor *product = tw__mm(t, a, a, first_kind, !first_kind);
    return tw__set_diag(t, product,
                        TW_TEMP(AddV2, tw__diag_part(t, product), TW_TEMP(Cast, regularizer, TW_A_TYPE("DstT", a->dtype))));
}

/* out = v diag(1 / s) u^H b, for singular values that count. */
static const char *minimal_of(tw__matrix_job *job, int64_t index)
{
    int64_t m = job->rows, n = job->columns, k = tw__matrix_dim(&job->inputs[1]->shape, 1), p = m < n ? m : n;
    size_t element = job->of->element;
    double *values = tw__alloc((size_t)(p + 1) * sizeof *values);
    char *u = tw__alloc((size_t)((m + n) * p + 1) * element), *v = u ? u + (size_t)(m * p) * element : NULL;
    if (!values || !u || !job->of->svd(tw__matrix_at(job->inputs[0], index, m * n), m, n, values, u, p, v, p)) {
        tw__free(values);
        tw__free(u);
        return tw__matrix_no_memory;
    }
    double *out = tw__matrix_at(job->outputs[0], index, n * k);
    const double *b = tw__matrix_at(job->inputs[1], index, m * k),
                 limit = DBL_EPSILON * (double)(m > n ? m : n) * (p ? values[0] : 0);
    int parts = element == 2 * sizeof(double) ? 2 : 1; /* a complex number is two */
    memset(out, 0, (size_t)(n * k) * element);
    for (int64_t c = 0; c < p; c++) {
        for (int64_t j = 0; !(values[c] <= limit) && j < k; j++) {
            double real = 0, imaginary = 0;
            for (int64_t i = 0; i < m; i++) {
                const double *x = (const double *)u + parts * (i * p + c), *y = b + parts * (i * k + j);
                real += x[0] * y[0] + (parts == 2 ? x[1] * y[1] : 0);
                imaginary += parts == 2 ? x[0] * y[1] - x[1] * y[0] : 0;
            }
            real /= values[c];
            imaginary /= values[c];
            for (int64_t i = 0; i < n; i++) {
                const double *x = (const double *)v + parts * (i * p + c);
                double *z = out + parts * (i * k + j);
                z[0] += x[0] * real - (parts == 2 ? x[1] * imaginary : 0);
                if (parts == 2)
                    z[1] += x[0] * imaginary + x[1] * real;
            }
        }
    }
    tw__free(values);
    tw__free(u);
    return NULL;
}

static const char *regular_of(tw__matrix_job *job, int64_t index)
{
    int64_t m = job->rows, n = job->columns, k = tw__matrix_dim(&job->inputs[1]->shape, 1), p = m < n ? m : n,
            most = m > n ? m : n;
    size_t element = job->of->element, parts = element / sizeof(double);
    char *g = tw__alloc((size_t)(p * p + most * k + p + 1) * element);
    if (!g)
        return tw__matrix_no_memory;
    char *x = g + (size_t)(p * p) * element, *work = x + (size_t)(most * k) * element;
    const double *a = tw__matrix_at(job->inputs[0], index, m * n), *b = tw__matrix_at(job->inputs[1], index, m * k);
    double *out = tw__matrix_at(job->outputs[0], index, n * k), regularizer = *(const double *)job->inputs[2]->data;
    bool tall = m >= n;
    tw_dtype dtype = parts == 2 ? TW_COMPLEX128 : TW_FLOAT64;
    tw__matrix plain = { a, n, 1, false }, adjoint = { a, 1, n, parts == 2 };
    tw_status status = tw__gemm(dtype, p, p, tall ? m : n, tall ? adjoint : plain, tall ? plain : adjoint, g);
    for (int64_t i = 0; i < p; i++)
        ((double *)g)[(size_t)(i * (p + 1)) * parts] += regularizer;
    if (status == TW_OK && tall)
        status = tw__gemm(dtype, n, k, m, adjoint, (tw__matrix){ b, k, 1, false }, out);
    double *target = tall ? out : (double *)x;
    if (!tall)
        memcpy(x, b, (size_t)(m * k) * element);
    bool good = job->of->cholesky(g, p, work);
    if (good) {
        job->of->triangular_solve(g, p, true, false, target, k);
        job->of->triangular_solve(g, p, true, true, target, k);
    }
    if (status == TW_OK && good && !tall)
        status = tw__gemm(dtype, n, k, m, adjoint, (tw__matrix){ x, k, 1, false }, out);
    tw__free(g);
    if (status != TW_OK)
        return tw__matrix_no_memory;
    return good
               ? NULL
               : "Input matrix was rank deficient or ill-conditioned. Try setting fast=False or provide a larger l2_regularizer > 0.";
}

static tw_status compute(tw__kernel *kernel)
{
    if (kernel->outputs[0]->count == 0)
        return TW_OK;
    if (*(const double *)kernel->inputs[2]->data < 0)
        return TW_OP_FAIL(kernel, TW_INVALID_ARGUMENT, "l2_regularizer must be >= 0.");
    return tw__matrix_each(kernel, TW_ATTR(kernel, "fast")->b ? regular_of : minimal_of);
}

static tw_status gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *a = g->inputs[0], *b = g->inputs[1], *x = g->outputs[0], *dy = g->output_grads[0];
    int64_t m = tw__matrix_dim(&a->shape, 2), n = tw__matrix_dim(&a->shape, 1);
    if (m < 0 || n < 0)
        return TW_OP_FAIL(g, TW_UNIMPLEMENTED, "the gradient needs the sizes of the matrices, which must be known while tracing");
    tw_tensor *factor = TW_TEMP(Cholesky, gramian(t, a, m >= n, g->inputs[2]));
    if (m >= n) {
        tw_tensor *z = tw__by_cholesky(t, factor, dy), *xz = tw__mm(t, x, z, false, true);
        tw_tensor *both = TW_TEMP(AddV2, xz, tw__adjoint(t, xz));
        tw__grad_set(g, 0, TW_CALL(Sub, tw__mm(t, b, z, false, true), tw__mm(t, a, both, false, false)));
        tw__grad_set(g, 1, tw_retain(tw__mm(t, a, z, false, false)));
        return g->input_grads[0] || !g->wanted[0] ? TW_OK : tw__error_status();
    }
    tw_tensor *of_b = tw__by_cholesky(t, factor, tw__mm(t, a, dy, false, false)), *solved = tw__by_cholesky(t, factor, b);
    tw_tensor *first = tw__mm(t, of_b, tw__mm(t, solved, a, true, false), false, false);
    tw_tensor *rest = TW_TEMP(Sub, dy, tw__mm(t, a, of_b, true, false));
    tw__grad_set(g, 0, TW_CALL(Sub, tw__mm(t, solved, rest, false, true), first));
    tw__grad_set(g, 1, tw_retain(of_b));
    return g->input_grads[0] || !g->wanted[0] ? TW_OK : tw__error_status();
}

TW_OP(MatrixSolveLs, .inputs = "matrix: T, rhs: T, l2_regularizer: double", .outputs = "output: T",
      .attrs = "T: {double, float, half, complex64, complex128}, fast: bool = true", .shape = shape_of, .compute = compute,
      .gradient = gradient, .doc = "The x of least |matrix x - rhs|^2 + l2_regularizer |x|^2.");
