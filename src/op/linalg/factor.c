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

/* The slice [first, last) of the columns; last of -1: all the rest. Borrows a. */
static tw_tensor *columns_of(tw_tensor *a, int64_t first, int64_t count)
{
    int64_t begin[TW_MAX_RANK] = { 0 }, size[TW_MAX_RANK];
    int rank = a->shape.rank;
    for (int i = 0; i < rank; i++)
        size[i] = -1;
    begin[rank - 1] = first;
    size[rank - 1] = count;
    tw_auto tw_tensor *from = tw__ints_tensor(begin, rank, TW_INT32), *sizes = tw__ints_tensor(size, rank, TW_INT32);
    return TW_CALL(Slice, a, from, sizes);
}

/* Gradients of what nobody used are zeros. A new reference. */
static tw_tensor *gradient_or_zeros(const tw__gradient *g, int output)
{
    return g->output_grads[output] ? tw_retain(g->output_grads[output]) : TW_CALL(ZerosLike, g->outputs[output]);
}

static tw_tensor *as_dtype(tw_tensor *x, tw_dtype dtype)
{
    if (!x || x->dtype == dtype)
        return x;
    tw_tensor *cast = TW_CALL(Cast, x, TW_A_TYPE("DstT", dtype));
    tw_release(x);
    return cast;
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
    tw_auto tw_tensor *product = tw__mm(tw_retain(l), tw_retain(g->output_grads[0]), true, false);
    if (!product)
        return tw__error_status();
    tw_tensor *half = TW_CALL(Mul, 0.5, tw__temp(t, tw__diag_part(tw_retain(product))));
    tw_tensor *middle = tw__band(tw__set_diag(tw_retain(product), half), -1, 0);
    tw_auto tw_tensor *inverse = tw__triangular(tw_retain(l), tw__eye_like(l), true, false);
    tw_auto tw_tensor *whole = tw__mm(tw__mm(tw_retain(inverse), middle, true, false), tw_retain(inverse), false, false);
    tw__grad_set(g, 0, TW_CALL(Mul, 0.5, TW_TEMP(AddV2, whole, tw__temp(t, tw__adjoint(tw_retain(whole))))));
    return tw__grad_status(g);
}

TW_OP(Cholesky, .inputs = "input: T", .outputs = "output: T", .attrs = "T: {" NUMBERS "}", .shape = cholesky_shape,
      .compute = cholesky_compute, .gradient = cholesky_gradient, .words = tw__words_square, .one_thread = TW_ONE_THREAD_MATRIX,
      .function = "linalg.cholesky|compat.v1.cholesky(input: tensor, name: str = None) -> tensor",
      .doc = "The lower triangular L with L L^H = input, of each Hermitian positive definite matrix.");

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
    char *a = tw__alloc(bytes + (size_t)(3 * (m + n) + 1) * job->of->element);
    if (!a)
        return tw__matrix_no_memory;
    memcpy(a, tw__matrix_at(job->inputs[0], index, m * n), bytes);
    job->of->qr(a, m, n, tw__matrix_at(job->outputs[0], index, m * p), p, a + bytes);
    memcpy(tw__matrix_at(job->outputs[1], index, p * n), a, (size_t)(p * n) * job->of->element);
    tw__free(a);
    return NULL;
}

static tw_status qr_compute(tw__kernel *kernel)
{
    return tw__matrix_each(kernel, qr_of);
}

/* x r^-H; takes x. */
static tw_tensor *over_r(tw_tensor *x, tw_tensor *r)
{
    return tw__adjoint(tw__triangular(tw_retain(r), tw__adjoint(x), false, false));
}

/* Of a matrix with no more columns than rows. Takes dq and dr. */
static tw_tensor *deep_qr_gradient(tw_tensor *q, tw_tensor *r, tw_tensor *dq, tw_tensor *dr)
{
    TW_TEMPS(t);
    tw_auto tw_tensor *of_q = dq, *of_r = dr;
    tw_auto tw_tensor *qdq = tw__mm(tw_retain(q), tw_retain(of_q), true, false),
                      *rdr = tw__mm(tw_retain(r), tw_retain(of_r), false, true);
    if (!qdq || !rdr)
        return NULL;
    tw_tensor *turn = TW_CALL(AddV2, TW_TEMP(Sub, qdq, tw__temp(t, tw__adjoint(tw_retain(qdq)))),
                              TW_TEMP(Sub, rdr, tw__temp(t, tw__adjoint(tw_retain(rdr)))));
    tw_tensor *inside = tw__mm(tw_retain(q), TW_CALL(AddV2, of_r, tw__temp(t, over_r(tw__band(turn, -1, 0), r))), false, false);
    tw_tensor *outside = over_r(TW_CALL(Sub, of_q, tw__temp(t, tw__mm(tw_retain(q), tw_retain(qdq), false, false))), r);
    tw_tensor *sum = TW_CALL(AddV2, tw__temp(t, inside), tw__temp(t, outside));
    if (!tw__dtype_is_complex(q->dtype))
        return sum;
    tw_auto tw_tensor *diagonal = tw__diag_part(TW_CALL(Sub, rdr, tw__temp(t, tw__adjoint(tw_retain(qdq)))));
    tw_dtype part = q->dtype == TW_COMPLEX64 ? TW_FLOAT32 : TW_FLOAT64;
    tw_tensor *real = diagonal ? as_dtype(TW_CALL(Real, diagonal, TW_A_TYPE("Tout", part)), q->dtype) : NULL;
    tw_tensor *correction = tw__diag(TW_CALL(Sub, diagonal, tw__temp(t, real)));
    return TW_CALL(AddV2, tw__temp(t, sum), tw__temp(t, over_r(tw__mm(tw_retain(q), correction, false, true), r)));
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
    tw_tensor *dq = gradient_or_zeros(g, 0), *dr = gradient_or_zeros(g, 1);
    if (m >= n) {
        tw__grad_set(g, 0, dq && dr ? deep_qr_gradient(q, r, dq, dr) : NULL);
        return tw__grad_status(g);
    }
    /* A wide matrix is [X, Y] = Q [U, V]. */
    tw_auto tw_tensor *y = columns_of(a, m, -1), *u = columns_of(r, 0, m), *du = dr ? columns_of(dr, 0, m) : NULL;
    tw_auto tw_tensor *dv = dr ? columns_of(dr, m, -1) : NULL, *zero = tw_tensor_int(-1);
    tw_release(dr);
    tw_tensor *more = TW_CALL(AddV2, tw__temp(t, dq), tw__temp(t, tw__mm(tw_retain(y), tw_retain(dv), false, true)));
    tw_auto tw_tensor *dx = more && du && u ? deep_qr_gradient(q, u, more, tw_retain(du)) : NULL;
    tw_auto tw_tensor *dy = dx ? tw__mm(tw_retain(q), tw_retain(dv), false, false) : NULL;
    tw__grad_set(g, 0, TW_CALL(ConcatV2, dx, dy, zero, TW_A_INT("N", 2)));
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
    char *a = tw__alloc(2 * bytes + (size_t)(4 * n + 1) * job->of->element);
    if (!a)
        return tw__matrix_no_memory;
    double *values = (double *)(a + 2 * bytes);
    memcpy(a, tw__matrix_at(job->inputs[0], index, n * n), bytes);
    bool good = job->of->eigh(a, n, values, a + bytes, (char *)values + (size_t)n * job->of->element);
    put_reals(job, 0, index, values, n);
    if (vectors)
        memcpy(tw__matrix_at(job->outputs[1], index, n * n), a + bytes, bytes);
    tw__free(a);
    return good ? NULL : "Self-adjoint eigen decomposition was not successful. The input might not be valid.";
}

static tw_status eigh_compute(tw__kernel *kernel)
{
    return kernel->outputs[0]->count ? tw__matrix_each(kernel, eigh_of) : TW_OK;
}

/* x / (x x + 1e-20); takes x. */
static tw_tensor *safe_reciprocal(tw_tensor *x)
{
    TW_TEMPS(t);
    tw_tensor *under = TW_CALL(AddV2, TW_TEMP(Square, x), (double)1e-20);
    return TW_CALL(RealDiv, tw__temp(t, x), tw__temp(t, under));
}

/* 1 / (e[j] - e[i]) off the diagonal, 0 on it. Borrows e. */
static tw_tensor *gaps(tw_tensor *e)
{
    TW_TEMPS(t);
    tw_tensor *difference = TW_CALL(Sub, TW_TEMP(ExpandDims, e, -2), TW_TEMP(ExpandDims, e, -1));
    return tw__set_diag(safe_reciprocal(difference), TW_CALL(ZerosLike, e));
}

static tw_status eigh_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    bool vectors = TW_ATTR(g, "compute_v")->b;
    tw_tensor *made[2] = { NULL, NULL };
    int count = 2;
    if (!vectors)
        TW_TRY(
            tw__apply(&tw__op_SelfAdjointEigV2, TW_IN(g->inputs[0]), 1, TW_WITH(TW_A_BOOL("compute_v", true)), 1, made, &count));
    tw_auto tw_tensor *v = vectors ? tw_retain(g->outputs[1]) : made[1];
    tw_tensor *middle = tw__diag(gradient_or_zeros(g, 0));
    if (vectors && g->output_grads[1])
        middle = TW_CALL(AddV2, tw__temp(t, middle),
                         TW_TEMP(Mul, tw__temp(t, gaps(g->outputs[0])),
                                 tw__temp(t, tw__mm(tw_retain(v), tw_retain(g->output_grads[1]), true, false))));
    tw_release(made[0]);
    tw_auto tw_tensor *whole = tw__mm(tw_retain(v), tw__mm(middle, tw_retain(v), false, true), false, false);
    /* Only the lower triangle of the input counts. */
    tw_auto tw_tensor *lower = whole ? tw__band(TW_CALL(AddV2, whole, tw__temp(t, tw__adjoint(tw_retain(whole)))), -1, 0) : NULL;
    tw__grad_set(g, 0,
                 lower ? tw__set_diag(tw_retain(lower), TW_CALL(Mul, 0.5, tw__temp(t, tw__diag_part(tw_retain(lower))))) : NULL);
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
    double *values = tw__alloc((size_t)(p + 1) * sizeof *values);
    if (!values)
        return tw__matrix_no_memory;
    int64_t u_columns = vectors ? tw__matrix_dim(&job->outputs[1]->shape, 1) : 0,
            v_columns = vectors ? tw__matrix_dim(&job->outputs[2]->shape, 1) : 0;
    bool good = job->of->svd(tw__matrix_at(job->inputs[0], index, m * n), m, n, values,
                             vectors ? tw__matrix_at(job->outputs[1], index, m * u_columns) : NULL, u_columns,
                             vectors ? tw__matrix_at(job->outputs[2], index, n * v_columns) : NULL, v_columns);
    put_reals(job, 0, index, values, p);
    tw__free(values);
    return good ? NULL : tw__matrix_no_memory;
}

static tw_status svd_compute(tw__kernel *kernel)
{
    return tw__matrix_each(kernel, svd_of);
}

/* x + x^H; takes x. */
static tw_tensor *with_adjoint(tw_tensor *given)
{
    TW_TEMPS(t);
    tw_auto tw_tensor *x = given;
    return TW_CALL(AddV2, x, tw__temp(t, tw__adjoint(tw_retain(x))));
}

/* With m <= n, where V1 are the first m columns of V: U (dS + (F*U^H dU)~ S + S (F*V1^H dV1)~) V1^H and what dV has beside V1. */
static tw_tensor *wide_svd_gradient(const tw__gradient *g, int64_t m, int64_t n, tw_tensor *u, tw_tensor *v, tw_tensor *du,
                                    tw_tensor *dv)
{
    TW_TEMPS(t);
    tw_tensor *s = g->outputs[0];
    tw_auto tw_tensor *mat = tw__diag(tw_retain(s)), *squares = TW_CALL(Square, s), *f = squares ? gaps(squares) : NULL;
    tw_auto tw_tensor *v1 = columns_of(v, 0, m), *dv1 = columns_of(dv, 0, m);
    if (!mat || !f || !v1 || !dv1)
        return NULL;
    tw_auto tw_tensor *turn_u = tw__mm(tw_retain(u), tw_retain(du), true, false),
                      *turn_v = tw__mm(tw_retain(v1), tw_retain(dv1), true, false);
    tw_tensor *sum = TW_CALL(AddV2, tw__temp(t, tw__diag(gradient_or_zeros(g, 0))),
                             tw__temp(t, tw__mm(with_adjoint(TW_CALL(Mul, f, turn_u)), tw_retain(mat), false, false)));
    sum = TW_CALL(AddV2, tw__temp(t, sum),
                  tw__temp(t, tw__mm(tw_retain(mat), with_adjoint(TW_CALL(Mul, f, turn_v)), false, false)));
    tw_tensor *result = tw__mm(tw_retain(u), tw__mm(sum, tw_retain(v1), false, true), false, false);
    tw_auto tw_tensor *inverse = tw__diag(safe_reciprocal(tw_retain(s)));
    if (m < n) {
        tw_auto tw_tensor *across = tw__adjoint(tw_retain(dv1));
        tw_tensor *rest =
            across
                ? TW_CALL(Sub, across,
                          tw__temp(t, tw__mm(tw__mm(tw_retain(across), tw_retain(v1), false, false), tw_retain(v1), false, true)))
                : NULL;
        if (tw__matrix_dim(&v->shape, 1) > m) {
            tw_auto tw_tensor *v2 = columns_of(v, m, -1), *dv2 = columns_of(dv, m, -1);
            rest = TW_CALL(Sub, tw__temp(t, rest),
                           tw__temp(t, tw__mm(tw__mm(tw_retain(v1), tw_retain(dv2), true, false), tw_retain(v2), false, true)));
        }
        result = TW_CALL(AddV2, tw__temp(t, result),
                         tw__temp(t, tw__mm(tw__mm(tw_retain(u), tw_retain(inverse), false, false), rest, false, false)));
    }
    if (tw__dtype_is_complex(s->dtype)) {
        tw_auto tw_tensor *l = tw__diag(tw__diag_part(tw_retain(turn_v)));
        tw_tensor *phase = tw__mm(tw_retain(inverse), TW_CALL(Sub, tw__temp(t, tw__adjoint(tw_retain(l))), l), false, false);
        result = TW_CALL(AddV2, tw__temp(t, result),
                         TW_TEMP(Mul, 0.5,
                                 tw__temp(t, tw__mm(tw_retain(u), tw__mm(phase, tw_retain(v1), false, true), false, false))));
    }
    return result;
}

static tw_status svd_gradient(tw__gradient *g)
{
    int64_t m = tw__matrix_dim(&g->inputs[0]->shape, 2), n = tw__matrix_dim(&g->inputs[0]->shape, 1);
    if (!TW_ATTR(g, "compute_uv")->b) {
        tw_tensor *made[3] = { NULL, NULL, NULL };
        int count = 3;
        TW_TRY(tw__apply(&tw__op_Svd, TW_IN(g->inputs[0]), 1, TW_WITH(TW_A_BOOL("compute_uv", true)), 1, made, &count));
        tw_release(made[0]);
        tw__grad_set(g, 0, tw__mm(made[1], tw__mm(tw__diag(gradient_or_zeros(g, 0)), made[2], false, true), false, false));
        return tw__grad_status(g);
    }
    if (m < 0 || n < 0)
        return TW_OP_FAIL(g, TW_UNIMPLEMENTED, "the gradient needs the sizes of the matrices, which must be known while tracing");
    if (TW_ATTR(g, "full_matrices")->b && (m - n > 1 || n - m > 1))
        return TW_OP_FAIL(g, TW_UNIMPLEMENTED, "svd gradient is not implemented for abs(m - n) > 1 when full_matrices is True");
    tw_auto tw_tensor *du = gradient_or_zeros(g, 1), *dv = gradient_or_zeros(g, 2);
    if (!du || !dv)
        return tw__error_status();
    tw_tensor *u = g->outputs[1], *v = g->outputs[2];
    tw__grad_set(g, 0, m > n ? tw__adjoint(wide_svd_gradient(g, n, m, v, u, dv, du)) : wide_svd_gradient(g, m, n, u, v, du, dv));
    return tw__grad_status(g);
}

TW_OP(Svd, .inputs = "input: T", .outputs = "s: T, u: T, v: T",
      .attrs = "compute_uv: bool = true, full_matrices: bool = false, T: {" NUMBERS "}", .shape = svd_shape,
      .compute = svd_compute, .gradient = svd_gradient, .one_thread = TW_ONE_THREAD_MATRIX,
      .doc = "Singular values, descending, and singular vectors of each matrix: input = u diag(s) v^H.");
