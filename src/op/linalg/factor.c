/* Factors of matrices: Cholesky, Qr, SelfAdjointEigV2, Svd, with their gradients. */
#include <math.h>

#include "op/array/array.h"
#include "op/calls.h"
#include "op/linalg/linalg.h"
#include "op/wording.h"
#include "rows.h"

#define NUMBERS "double, float, half, complex64, complex128"

static bool flag(const tw__matrix_job *job, const char *name)
{
    return tw__attr_find(job->op, job->attrs, name)->b;
}

static int64_t lesser(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Some columns, from the first on; -1: all the rest. Left to t. */
static tw_tensor *columns_of(tw__temps *t, tw_tensor *a, int64_t first, int64_t count)
{
    int64_t begin[TW_MAX_RANK] = { 0 }, size[TW_MAX_RANK];
    int rank = a->shape.rank;
    for (int i = 0; i < rank; i++)
        size[i] = -1;
    begin[rank - 1] = first;
    size[rank - 1] = count;
    return TW_TEMP(Slice, a, tw__temp_ints(t, begin, rank, TW_INT32), tw__temp_ints(t, size, rank, TW_INT32));
}

/* Gradients of what nobody used are zeros. Left to t. */
static tw_tensor *gradient_or_zeros(tw__temps *t, const tw__gradient *g, int output)
{
    return g->output_grads[output] ? g->output_grads[output] : TW_TEMP(ZerosLike, g->outputs[output]);
}

/* x + x^H, left to t. */
static tw_tensor *with_adjoint(tw__temps *t, tw_tensor *x)
{
    return TW_TEMP(AddV2, x, tw__adjoint(t, x));
}

/* ---- Cholesky ---- */

static tw_status cholesky_shape(tw__inference *inference)
{
    TW_TRY(tw__matrix_need(inference, 0, true));
    tw__matrix_square(inference->shapes[0], &inference->out_shapes[0]);
    return TW_OK;
}

static const char *cholesky_of(tw__matrix_job *job, int64_t index)
{
    int64_t n = job->rows;
    size_t bytes = (size_t)(n * n) * job->of->element;
    void *work = tw__alloc((size_t)(n + 1) * job->of->element), *out = tw__matrix_at(job->outputs[0], index, n * n);
    if (!work)
        return tw__matrix_no_memory;
    memcpy(out, tw__matrix_at(job->inputs[0], index, n * n), bytes);
    if (!job->of->cholesky(out, n, work)) { /* a lower triangle of no numbers, no error */
        for (int64_t i = 0; i < n * n; i++)
            memcpy((char *)out + (size_t)i * job->of->element, (double[]){ i % n <= i / n ? NAN : 0, 0 }, job->of->element);
    }
    tw__free(work);
    return NULL;
}

static tw_status cholesky_compute(tw__kernel *kernel)
{
    return tw__matrix_each(kernel, cholesky_of);
}

/* L^-H phi(L^H dL) L^-1, made symmetric; phi: the lower triangle with half the diagonal. */
static tw_status cholesky_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *l = g->outputs[0];
    tw_tensor *product = tw__mm(t, l, g->output_grads[0], true, false);
    tw_tensor *half = TW_TEMP(Mul, 0.5, tw__diag_part(t, product));
    tw_tensor *middle = tw__band(t, tw__set_diag(t, product, half), -1, 0);
    tw_tensor *inverse = tw__triangular(t, l, tw__eye_like(t, l), true, false);
    tw_tensor *whole = tw__mm(t, tw__mm(t, inverse, middle, true, false), inverse, false, false);
    tw__grad_set(g, 0, TW_CALL(Mul, 0.5, with_adjoint(t, whole)));
    return tw__grad_status(g);
}

TW_OP(Cholesky, .inputs = "input: T", .outputs = "output: T", .attrs = "T: {" NUMBERS "}", .shape = cholesky_shape,
      .compute = cholesky_compute, .gradient = cholesky_gradient, .words = tw__words_square, .one_thread = TW_ONE_THREAD_MATRIX,
      .function = "linalg.cholesky|compat.v1.cholesky(input: tensor, name: str = None) -> tensor",
      .doc = "The lower triangular L with L L^H = input, of each Hermitian positive definite matrix.\n"
             "returns: lower triangular matrices; NaN for a matrix that is not positive definite\n"
             "example: tf.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).numpy().tolist()  # [[2.0, 0.0], [1.0, 2.0]]");

/* ---- Qr ---- */

static tw_status qr_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    TW_TRY(tw__matrix_need(inference, 0, false));
    int64_t m = tw__matrix_dim(in, 2), n = tw__matrix_dim(in, 1);
    int64_t p = TW_ATTR(inference, "full_matrices")->b ? m : m >= 0 && n >= 0 ? lesser(m, n) : -1;
    tw__matrix_shape(in, m, p, &inference->out_shapes[0]);
    tw__matrix_shape(in, p, n, &inference->out_shapes[1]);
    return TW_OK;
}

static const char *qr_of(tw__matrix_job *job, int64_t index)
{
    int64_t m = job->rows, n = job->columns, p = tw__matrix_dim(&job->outputs[0]->shape, 1);
    size_t bytes = (size_t)(m * n) * job->of->element;
    tw__owned char *a = tw__alloc(bytes + (size_t)(3 * (m + n) + 1) * job->of->element);
    if (!a)
        return tw__matrix_no_memory;
    memcpy(a, tw__matrix_at(job->inputs[0], index, m * n), bytes);
    job->of->qr(a, m, n, tw__matrix_at(job->outputs[0], index, m * p), p, a + bytes);
    memcpy(tw__matrix_at(job->outputs[1], index, p * n), a, (size_t)(p * n) * job->of->element);
    return NULL;
}

static tw_status qr_compute(tw__kernel *kernel)
{
    return tw__matrix_each(kernel, qr_of);
}

/* x r^-H, left to t. */
static tw_tensor *over_r(tw__temps *t, tw_tensor *x, tw_tensor *r)
{
    return tw__adjoint(t, tw__triangular(t, r, tw__adjoint(t, x), false, false));
}

/* Of a matrix with no more columns than rows; left to t. */
static tw_tensor *deep_qr_gradient(tw__temps *t, tw_tensor *q, tw_tensor *r, tw_tensor *dq, tw_tensor *dr)
{
    tw_tensor *qdq = tw__mm(t, q, dq, true, false), *rdr = tw__mm(t, r, dr, false, true);
    tw_tensor *turn = TW_TEMP(AddV2, TW_TEMP(Sub, qdq, tw__adjoint(t, qdq)), TW_TEMP(Sub, rdr, tw__adjoint(t, rdr)));
    tw_tensor *inside = tw__mm(t, q, TW_TEMP(AddV2, dr, over_r(t, tw__band(t, turn, -1, 0), r)), false, false);
    tw_tensor *outside = over_r(t, TW_TEMP(Sub, dq, tw__mm(t, q, qdq, false, false)), r);
    tw_tensor *sum = TW_TEMP(AddV2, inside, outside);
    if (!tw__dtype_is_complex(q->dtype))
        return sum;
    tw_tensor *diagonal = tw__diag_part(t, TW_TEMP(Sub, rdr, tw__adjoint(t, qdq)));
    tw_tensor *real = TW_TEMP(Real, diagonal, TW_A_TYPE("Tout", q->dtype == TW_COMPLEX64 ? TW_FLOAT32 : TW_FLOAT64));
    tw_tensor *correction = tw__diag(t, TW_TEMP(Sub, diagonal, tw__temp_cast(t, real, q->dtype)));
    return TW_TEMP(AddV2, sum, over_r(t, tw__mm(t, q, correction, false, true), r));
}

static tw_status qr_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *a = g->inputs[0], *q = g->outputs[0], *r = g->outputs[1];
    int64_t m = tw__matrix_dim(&a->shape, 2), n = tw__matrix_dim(&a->shape, 1);
    if (m < 0 || n < 0)
        return TW_OP_FAIL(g, TW_UNIMPLEMENTED,
                          "the gradient needs the sizes of the matrices, which must be known while tracing; got shape %s",
                          tw__shape_text(&a->shape));
    if (m > n && TW_ATTR(g, "full_matrices")->b)
        return TW_OP_FAIL(g, TW_UNIMPLEMENTED,
                          "QrGrad not implemented when nrows > ncols and full_matrices is true. Received shape %s",
                          tw__shape_text(&a->shape));
    tw_tensor *dq = gradient_or_zeros(t, g, 0), *dr = gradient_or_zeros(t, g, 1);
    if (!dq || !dr)
        return tw__error_status();
    if (m >= n) {
        tw__grad_set(g, 0, tw_retain(deep_qr_gradient(t, q, r, dq, dr)));
        return tw__grad_status(g);
    }
    /* A wide matrix is [X, Y] = Q [U, V]. */
    tw_tensor *y = columns_of(t, a, m, -1), *u = columns_of(t, r, 0, m);
    tw_tensor *du = columns_of(t, dr, 0, m), *dv = columns_of(t, dr, m, -1);
    tw_tensor *dx = deep_qr_gradient(t, q, u, TW_TEMP(AddV2, dq, tw__mm(t, y, dv, false, true)), du);
    tw__grad_set(g, 0, TW_CALL(ConcatV2, dx, tw__mm(t, q, dv, false, false), -1, TW_A_INT("N", 2)));
    return tw__grad_status(g);
}

TW_OP(Qr, .inputs = "input: T", .outputs = "q: T, r: T", .attrs = "full_matrices: bool = false, T: {" NUMBERS "}",
      .shape = qr_shape, .compute = qr_compute, .gradient = qr_gradient, .one_thread = TW_ONE_THREAD_MATRIX,
      .doc = "Each matrix as orthogonal columns times an upper triangular matrix.");

/* ---- SelfAdjointEigV2 ---- */

static tw_status eigh_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    TW_TRY(tw__matrix_need(inference, 0, true));
    int64_t rows = tw__matrix_dim(in, 2), n = rows >= 0 ? rows : tw__matrix_dim(in, 1);
    tw__matrix_shape(in, n, -2, &inference->out_shapes[0]);
    inference->out_shapes[1] = TW_SHAPE(0);
    if (TW_ATTR(inference, "compute_v")->b)
        tw__matrix_shape(in, n, n, &inference->out_shapes[1]);
    return TW_OK;
}

/* Real numbers into matrix number `index` of an output whose elements may be complex. */
static void put_reals(tw__matrix_job *job, int output, int64_t index, const double *values, int64_t count)
{
    char *out = tw__matrix_at(job->outputs[output], index, count);
    for (int64_t i = 0; i < count; i++)
        memcpy(out + (size_t)i * job->of->element, (double[]){ values[i], 0 }, job->of->element);
}

static const char *eigh_of(tw__matrix_job *job, int64_t index)
{
    int64_t n = job->rows;
    size_t bytes = (size_t)(n * n) * job->of->element;
    bool vectors = flag(job, "compute_v");
    tw__owned char *a = tw__alloc(2 * bytes + (size_t)(4 * n + 1) * job->of->element);
    if (!a)
        return tw__matrix_no_memory;
    double *values = (double *)(a + 2 * bytes);
    memcpy(a, tw__matrix_at(job->inputs[0], index, n * n), bytes);
    bool good = job->of->eigh(a, n, values, a + bytes, (char *)values + (size_t)n * job->of->element);
    put_reals(job, 0, index, values, n);
    if (vectors)
        memcpy(tw__matrix_at(job->outputs[1], index, n * n), a + bytes, bytes);
    return good ? NULL : "Self-adjoint eigen decomposition was not successful. The input might not be valid.";
}

static tw_status eigh_compute(tw__kernel *kernel)
{
    return kernel->outputs[0]->count ? tw__matrix_each(kernel, eigh_of) : TW_OK;
}

/* x / (x x + 1e-20), left to t. */
static tw_tensor *safe_reciprocal(tw__temps *t, tw_tensor *x)
{
    return TW_TEMP(RealDiv, x, TW_TEMP(AddV2, TW_TEMP(Square, x), 1e-20));
}

/* 1 / (e[j] - e[i]) off the diagonal, 0 on it; left to t. */
static tw_tensor *gaps(tw__temps *t, tw_tensor *e)
{
    tw_tensor *difference = TW_TEMP(Sub, TW_TEMP(ExpandDims, e, -2), TW_TEMP(ExpandDims, e, -1));
    return tw__set_diag(t, safe_reciprocal(t, difference), TW_TEMP(ZerosLike, e));
}

static tw_status eigh_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    tw_tensor *made[2] = { g->outputs[0], g->outputs[1] };
    bool vectors = TW_ATTR(g, "compute_v")->b;
    if (!vectors)
        TW_TRY(TW_TEMP_ALL(made, SelfAdjointEigV2, g->inputs[0], TW_A_BOOL("compute_v", true)));
    tw_tensor *v = made[1], *middle = tw__diag(t, gradient_or_zeros(t, g, 0));
    if (vectors && g->output_grads[1])
        middle = TW_TEMP(AddV2, middle, TW_TEMP(Mul, gaps(t, made[0]), tw__mm(t, v, g->output_grads[1], true, false)));
    tw_tensor *whole = tw__mm(t, v, tw__mm(t, middle, v, false, true), false, false);
    /* Only the lower triangle of the input counts. */
    tw_tensor *lower = tw__band(t, with_adjoint(t, whole), -1, 0);
    tw__grad_set(g, 0, tw_retain(tw__set_diag(t, lower, TW_TEMP(Mul, 0.5, tw__diag_part(t, lower)))));
    return tw__grad_status(g);
}

TW_OP(SelfAdjointEigV2, .inputs = "input: T", .outputs = "e: T, v: T", .attrs = "compute_v: bool = true, T: {" NUMBERS "}",
      .shape = eigh_shape, .compute = eigh_compute, .gradient = eigh_gradient, .one_thread = TW_ONE_THREAD_MATRIX,
      .doc = "Eigenvalues, ascending, and eigenvectors of each Hermitian matrix.");

/* ---- Svd ---- */

static tw_status svd_shape(tw__inference *inference)
{
    const tw_shape *in = inference->shapes[0];
    TW_TRY(tw__matrix_need(inference, 0, false));
    int64_t m = tw__matrix_dim(in, 2), n = tw__matrix_dim(in, 1), p = m >= 0 && n >= 0 ? lesser(m, n) : -1;
    bool full = TW_ATTR(inference, "full_matrices")->b;
    tw__matrix_shape(in, p, -2, &inference->out_shapes[0]);
    inference->out_shapes[1] = inference->out_shapes[2] = TW_SHAPE(0);
    if (!TW_ATTR(inference, "compute_uv")->b)
        return TW_OK;
    tw__matrix_shape(in, m, full ? m : p, &inference->out_shapes[1]);
    tw__matrix_shape(in, n, full ? n : p, &inference->out_shapes[2]);
    return TW_OK;
}

static const char *svd_of(tw__matrix_job *job, int64_t index)
{
    int64_t m = job->rows, n = job->columns, p = lesser(m, n);
    bool vectors = flag(job, "compute_uv");
    tw__owned double *values = tw__alloc((size_t)(p + 1) * sizeof *values);
    if (!values)
        return tw__matrix_no_memory;
    int64_t u_columns = vectors ? tw__matrix_dim(&job->outputs[1]->shape, 1) : 0,
            v_columns = vectors ? tw__matrix_dim(&job->outputs[2]->shape, 1) : 0;
    bool good = job->of->svd(tw__matrix_at(job->inputs[0], index, m * n), m, n, values,
                             vectors ? tw__matrix_at(job->outputs[1], index, m * u_columns) : NULL, u_columns,
                             vectors ? tw__matrix_at(job->outputs[2], index, n * v_columns) : NULL, v_columns);
    put_reals(job, 0, index, values, p);
    return good ? NULL : tw__matrix_no_memory;
}

static tw_status svd_compute(tw__kernel *kernel)
{
    return tw__matrix_each(kernel, svd_of);
}

/* With m <= n, where V1 are the first m columns of V: U (dS + (F*U^H dU)~ S + S (F*V1^H dV1)~) V1^H and what dV has beside V1. */
static tw_tensor *wide_svd_gradient(tw__temps *t, const tw__gradient *g, int64_t m, int64_t n, tw_tensor *u, tw_tensor *v,
                                    tw_tensor *du, tw_tensor *dv)
{
    tw_tensor *s = g->outputs[0], *mat = tw__diag(t, s), *f = gaps(t, TW_TEMP(Square, s));
    tw_tensor *v1 = columns_of(t, v, 0, m), *dv1 = columns_of(t, dv, 0, m), *inverse = tw__diag(t, safe_reciprocal(t, s));
    tw_tensor *turn_u = tw__mm(t, u, du, true, false), *turn_v = tw__mm(t, v1, dv1, true, false);
    tw_tensor *sum = TW_TEMP(AddV2, tw__diag(t, gradient_or_zeros(t, g, 0)),
                             tw__mm(t, with_adjoint(t, TW_TEMP(Mul, f, turn_u)), mat, false, false));
    sum = TW_TEMP(AddV2, sum, tw__mm(t, mat, with_adjoint(t, TW_TEMP(Mul, f, turn_v)), false, false));
    tw_tensor *result = tw__mm(t, u, tw__mm(t, sum, v1, false, true), false, false);
    if (m < n) {
        tw_tensor *across = tw__adjoint(t, dv1);
        tw_tensor *rest = TW_TEMP(Sub, across, tw__mm(t, tw__mm(t, across, v1, false, false), v1, false, true));
        if (tw__matrix_dim(&v->shape, 1) > m) {
            tw_tensor *v2 = columns_of(t, v, m, -1), *dv2 = columns_of(t, dv, m, -1);
            rest = TW_TEMP(Sub, rest, tw__mm(t, tw__mm(t, v1, dv2, true, false), v2, false, true));
        }
        result = TW_TEMP(AddV2, result, tw__mm(t, tw__mm(t, u, inverse, false, false), rest, false, false));
    }
    if (tw__dtype_is_complex(s->dtype)) {
        tw_tensor *l = tw__diag(t, tw__diag_part(t, turn_v));
        tw_tensor *phase = tw__mm(t, inverse, TW_TEMP(Sub, tw__adjoint(t, l), l), false, false);
        tw_tensor *turned = tw__mm(t, u, tw__mm(t, phase, v1, false, true), false, false);
        result = TW_TEMP(AddV2, result, TW_TEMP(Mul, 0.5, turned));
    }
    return result;
}

static tw_status svd_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    int64_t m = tw__matrix_dim(&g->inputs[0]->shape, 2), n = tw__matrix_dim(&g->inputs[0]->shape, 1);
    if (!TW_ATTR(g, "compute_uv")->b) {
        tw_tensor *made[3];
        TW_TRY(TW_TEMP_ALL(made, Svd, g->inputs[0], TW_A_BOOL("compute_uv", true)));
        tw_tensor *middle = tw__mm(t, tw__diag(t, gradient_or_zeros(t, g, 0)), made[2], false, true);
        tw__grad_set(g, 0, tw_retain(tw__mm(t, made[1], middle, false, false)));
        return tw__grad_status(g);
    }
    if (m < 0 || n < 0)
        return TW_OP_FAIL(g, TW_UNIMPLEMENTED, "the gradient needs the sizes of the matrices, which must be known while tracing");
    if (TW_ATTR(g, "full_matrices")->b && (m - n > 1 || n - m > 1))
        return TW_OP_FAIL(g, TW_UNIMPLEMENTED, "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True");
    tw_tensor *u = g->outputs[1], *v = g->outputs[2], *du = gradient_or_zeros(t, g, 1), *dv = gradient_or_zeros(t, g, 2);
    if (!du || !dv)
        return tw__error_status();
    tw__grad_set(g, 0,
                 tw_retain(m > n ? tw__adjoint(t, wide_svd_gradient(t, g, n, m, v, u, dv, du))
                                 : wide_svd_gradient(t, g, m, n, u, v, du, dv)));
    return tw__grad_status(g);
}

TW_OP(Svd, .inputs = "input: T", .outputs = "s: T, u: T, v: T",
      .attrs = "compute_uv: bool = true, full_matrices: bool = false, T: {" NUMBERS "}", .shape = svd_shape,
      .compute = svd_compute, .gradient = svd_gradient, .one_thread = TW_ONE_THREAD_MATRIX,
      .doc = "Singular values, descending, and singular vectors of each matrix: input = u diag(s) v^H.");
