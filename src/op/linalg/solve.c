/* Determinants, inverses and solutions of systems: MatrixDeterminant, LogMatrixDeterminant, MatrixInverse, MatrixSolve,
 * MatrixTriangularSolve, Lu. */
#include <complex.h>
#include <math.h>
#undef I

#include "op/array/array.h"
#include "op/calls.h"
#include "op/linalg/linalg.h"
#include "op/wording.h"
#include "rows.h"

#define NUMBERS "double, float, half, complex64, complex128"

static const char not_invertible[] = "Input is not invertible.";

/* ---- elimination of one matrix ---- */

typedef struct elimination {
    void *lu;
    int64_t *order;
    int sign;
    bool regular;
} elimination;

/* LU of matrix number `index` of input 0, in memory of its own. False: no memory. */
static bool eliminate(const tw__matrix_job *job, int64_t index, elimination *e)
{
    int64_t n = job->rows;
    size_t bytes = (size_t)(n * n) * job->of->element;
    e->lu = tw__alloc(bytes + (size_t)(n + 1) * sizeof(int64_t));
    if (!e->lu)
        return false;
    e->order = (int64_t *)((char *)e->lu + bytes);
    memcpy(e->lu, tw__matrix_at(job->inputs[0], index, n * n), bytes);
    e->regular = job->of->lu(e->lu, n, e->order, &e->sign);
    return true;
}

/* ---- determinants ---- */

static tw_status determinant_shape(tw__inference *inference)
{
    TW_TRY(tw__matrix_need(inference, 0, true));
    for (int i = 0; i < inference->output_count; i++)
        tw__matrix_shape(inference->shapes[0], -2, -2, &inference->out_shapes[i]);
    return TW_OK;
}

static const char *determinant_of(tw__matrix_job *job, int64_t index)
{
    elimination e;
    double complex phase = 0;
    double log_size;
    if (!eliminate(job, index, &e))
        return tw__matrix_no_memory;
    job->of->lu_determinant(e.lu, job->rows, e.sign, &phase, &log_size);
    bool wide = job->of == &tw__complex_matrices, logarithm = job->op == &tw__op_LogMatrixDeterminant;
    double factor = logarithm ? 1 : exp(log_size);
    if (wide) {
        ((double complex *)job->outputs[0]->data)[index] = phase * factor;
        if (logarithm)
            ((double complex *)job->outputs[1]->data)[index] = log_size;
    } else {
        ((double *)job->outputs[0]->data)[index] = creal(phase) * factor;
        if (logarithm)
            ((double *)job->outputs[1]->data)[index] = log_size;
    }
    tw__free(e.lu);
    return NULL;
}

static tw_status determinant_compute(tw__kernel *kernel)
{
    return tw__matrix_each(kernel, determinant_of);
}

/* With two more dimensions, so that it goes with matrices. Takes x. */
static tw_tensor *as_matrices(tw_tensor *x)
{
    TW_TEMPS(t);
    return TW_CALL(ExpandDims, TW_TEMP(ExpandDims, tw__temp(t, x), -1), -1);
}

static tw_tensor *inverse(tw_tensor *a, bool adjoint)
{
    return TW_CALL(MatrixInverse, a, TW_A_BOOL("adjoint", adjoint));
}

static tw_status determinant_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    bool logarithm = g->op == &tw__op_LogMatrixDeterminant;
    tw_tensor *dy = g->output_grads[logarithm ? 1 : 0];
    if (!dy || !g->wanted[0])
        return TW_OK;
    tw_tensor *factor = logarithm ? tw_retain(dy) : TW_CALL(Mul, dy, g->outputs[0]);
    tw__grad_set(g, 0, TW_CALL(Mul, tw__temp(t, as_matrices(factor)), tw__temp(t, inverse(g->inputs[0], true))));
    return tw__grad_status(g);
}

TW_OP(MatrixDeterminant, .inputs = "input: T", .outputs = "output: T", .attrs = "T: {" NUMBERS "}", .shape = determinant_shape,
      .compute = determinant_compute, .gradient = determinant_gradient, .words = tw__words_square,
      .function = "linalg.det|compat.v1.matrix_determinant(input: tensor, name: str = None) -> tensor",
      .doc = "The determinant of each matrix.\n"
             "returns: a number for each matrix");

TW_OP(LogMatrixDeterminant, .inputs = "input: T", .outputs = "sign: T, log_abs_determinant: T", .attrs = "T: {" NUMBERS "}",
      .shape = determinant_shape, .compute = determinant_compute, .gradient = determinant_gradient,
      .doc = "The sign of each matrix's determinant, and the logarithm of its absolute value.");

/* ---- inverse, solution ---- */

static tw_status inverse_shape(tw__inference *inference)
{
    TW_TRY(tw__matrix_need(inference, 0, true));
    tw__matrix_square(inference->shapes[0], &inference->out_shapes[0]);
    return TW_OK;
}

/* b (n x k) becomes a^-1 b. */
static const char *solve_one(const tw__matrix_job *job, int64_t index, void *b, int64_t k, bool adjoint, const char *singular)
{
    elimination e;
    if (!eliminate(job, index, &e))
        return tw__matrix_no_memory;
    void *work = tw__alloc((size_t)(job->rows * k) * job->of->element);
    const char *failure = !e.regular ? singular : work ? NULL : tw__matrix_no_memory;
    if (!failure)
        job->of->lu_solve(e.lu, e.order, job->rows, b, k, adjoint, work);
    tw__free(work);
    tw__free(e.lu);
    return failure;
}

static const char *inverse_of(tw__matrix_job *job, int64_t index)
{
    int64_t n = job->rows;
    void *out = tw__matrix_at(job->outputs[0], index, n * n);
    memset(out, 0, (size_t)(n * n) * job->of->element);
    for (int64_t i = 0; i < n; i++) /* a complex number begins with its real part */
        *(double *)((char *)out + (size_t)(i * (n + 1)) * job->of->element) = 1;
    return solve_one(job, index, out, n, tw__attr_find(job->op, job->attrs, "adjoint")->b, not_invertible);
}

static tw_status inverse_compute(tw__kernel *kernel)
{
    return tw__matrix_each(kernel, inverse_of);
}

static tw_status inverse_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    bool adjoint = TW_ATTR(g, "adjoint")->b;
    tw_tensor *y = g->outputs[0];
    tw_tensor *inner = tw__mm(t, g->output_grads[0], y, adjoint, !adjoint);
    tw__grad_set(g, 0, TW_CALL(Neg, tw__mm(t, y, inner, !adjoint, false)));
    return tw__grad_status(g);
}

TW_OP(MatrixInverse, .inputs = "input: T", .outputs = "output: T", .attrs = "adjoint: bool = false, T: {" NUMBERS "}",
      .shape = inverse_shape, .compute = inverse_compute, .gradient = inverse_gradient, .words = tw__words_square,
      .one_thread = TW_ONE_THREAD_MATRIX,
      .function = "linalg.inv|compat.v1.matrix_inverse(input: tensor, adjoint: bool = False, "
                  "name: str = None) -> tensor",
      .doc = "The inverse of each matrix, or of its adjoint.\n"
             "raises: InvalidArgumentError: a matrix has no inverse");

static tw_status solve_shape(tw__inference *inference)
{
    const tw_shape *a = inference->shapes[0], *b = inference->shapes[1];
    if (a->rank >= 0 && b->rank >= 0 && a->rank >= 2 && a->rank != b->rank)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "All input tensors must have the same rank.");
    TW_TRY(tw__matrix_need(inference, 0, false));
    TW_TRY(tw__matrix_need(inference, 1, false));
    int64_t rows = tw__matrix_dim(a, 2), columns = tw__matrix_dim(a, 1), right = tw__matrix_dim(b, 2);
    if (rows >= 0 && columns >= 0 && rows != columns)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "First input (lhs) must be a square matrix.");
    bool match = rows < 0 || right < 0 || rows == right;
    for (int i = 0; match && a->rank >= 0 && b->rank >= 0 && i < a->rank - 2; i++)
        match = a->dims[i] < 0 || b->dims[i] < 0 || a->dims[i] == b->dims[i];
    if (!match)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "Input matrix and rhs are incompatible. %s and %s", tw__shape_text(a),
                          tw__shape_text(b));
    tw__matrix_shape(a->rank >= 0 ? a : b, columns, tw__matrix_dim(b, 1), &inference->out_shapes[0]);
    return TW_OK;
}

static const char *solution_of(tw__matrix_job *job, int64_t index)
{
    int64_t n = job->rows, k = tw__matrix_dim(&job->inputs[1]->shape, 1);
    void *out = tw__matrix_at(job->outputs[0], index, n * k);
    memcpy(out, tw__matrix_at(job->inputs[1], index, n * k), (size_t)(n * k) * job->of->element);
    return solve_one(job, index, out, k, tw__attr_find(job->op, job->attrs, "adjoint")->b, "Input matrix is not invertible.");
}

static tw_status solve_compute(tw__kernel *kernel)
{
    return kernel->outputs[0]->count ? tw__matrix_each(kernel, solution_of) : TW_OK;
}

/* -grad_b c^H, or -c grad_b^H; left to t */
static tw_tensor *matrix_gradient(tw__temps *t, tw_tensor *grad_b, tw_tensor *c, bool adjoint)
{
    return TW_TEMP(Neg, adjoint ? tw__mm(t, c, grad_b, false, true) : tw__mm(t, grad_b, c, false, true));
}

static tw_status solve_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    bool adjoint = TW_ATTR(g, "adjoint")->b;
    tw_tensor *grad_b = tw__solve(t, g->inputs[0], g->output_grads[0], !adjoint);
    tw__grad_set(g, 0, tw_retain(matrix_gradient(t, grad_b, g->outputs[0], adjoint)));
    tw__grad_set(g, 1, tw_retain(grad_b));
    return tw__grad_status(g);
}

TW_OP(MatrixSolve, .inputs = "matrix: T, rhs: T", .outputs = "output: T", .attrs = "adjoint: bool = false, T: {" NUMBERS "}",
      .shape = solve_shape, .compute = solve_compute, .gradient = solve_gradient, .one_thread = TW_ONE_THREAD_MATRIX,
      .doc = "The solution of matrix x = rhs for each matrix.");

/* ---- triangular systems, whose batches broadcast ---- */

static tw_shape leading(const tw_shape *shape)
{
    tw_shape batch = *shape;
    batch.rank = batch.rank < 2 ? -1 : batch.rank - 2;
    return batch;
}

static tw_status triangular_shape(tw__inference *inference)
{
    const tw_shape *a = inference->shapes[0], *b = inference->shapes[1];
    for (int i = 0; i < 2; i++) {
        if (inference->shapes[i]->rank >= 0 && inference->shapes[i]->rank < 2)
            return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "In[%d] ndims must be >= 2: %d", i, inference->shapes[i]->rank);
    }
    int64_t rows = tw__matrix_dim(a, 2), columns = tw__matrix_dim(a, 1), right = tw__matrix_dim(b, 2);
    if (rows >= 0 && columns >= 0 && rows != columns)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "In[0] matrices in the last dimensions must be square (%lld =/= %lld)",
                          (long long)columns, (long long)rows);
    if (rows >= 0 && right >= 0 && rows != right)
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "In[0] mismatch In[1] shape: %lld vs. %lld: %s %s", (long long)rows,
                          (long long)right, tw__shape_text(a), tw__shape_text(b));
    if (a->rank < 0 || b->rank < 0)
        return TW_OK;
    tw_shape x = leading(a), y = leading(b), *out = &inference->out_shapes[0];
    if (!tw__shape_broadcast(&x, &y, out))
        return TW_OP_FAIL(inference, TW_INVALID_ARGUMENT, "In[0] and In[1] must have compatible batch dimensions: %s vs. %s",
                          tw__shape_text(a), tw__shape_text(b));
    out->dims[out->rank++] = rows >= 0 ? rows : right;
    out->dims[out->rank++] = tw__matrix_dim(b, 1);
    return TW_OK;
}

static const char *triangular_of(tw__matrix_job *job, int64_t index)
{
    const tw_tensor *a = job->inputs[0];
    int64_t n = job->rows, k = tw__matrix_dim(&job->outputs[0]->shape, 1);
    job->of->triangular_solve(tw__matrix_at(a, index, n * n), n, tw__attr_find(job->op, job->attrs, "lower")->b,
                              tw__attr_find(job->op, job->attrs, "adjoint")->b, tw__matrix_at(job->outputs[0], index, n * k), k);
    return NULL;
}

static const char *copy_and_solve(tw__matrix_job *job, int64_t index)
{
    int64_t size = job->rows * tw__matrix_dim(&job->outputs[0]->shape, 1);
    memcpy(tw__matrix_at(job->outputs[0], index, size), tw__matrix_at(job->inputs[1], index, size),
           (size_t)size * job->of->element);
    return triangular_of(job, index);
}

/* x with the batch of `out`, and its own matrices. */
static tw_tensor *spread(tw_tensor *x, const tw_shape *out)
{
    tw_shape shape = *out;
    for (int i = 1; i <= 2; i++)
        shape.dims[shape.rank - i] = x->shape.dims[x->shape.rank - i];
    if (tw__shape_equal(&shape, &x->shape))
        return tw_retain(x);
    tw_tensor *wide = tw__tensor_empty(x->dtype, &shape);
    tw__walk walk = { 0 };
    int64_t to[TW_MAX_RANK], from[TW_MAX_RANK];
    tw__strides(&shape, to);
    tw__strides(&x->shape, from);
    for (int i = 0; i < shape.rank; i++) {
        int own = i - (shape.rank - x->shape.rank);
        tw__walk_add(&walk, shape.dims[i], to[i], own < 0 || x->shape.dims[own] == 1 ? 0 : from[own]);
    }
    if (wide && tw__copy_walk(x->dtype, wide->data, x->data, &walk) != TW_OK) {
        tw_release(wide);
        return NULL;
    }
    return wide;
}

static tw_status triangular_compute(tw__kernel *kernel)
{
    if (kernel->outputs[0]->count == 0)
        return TW_OK;
    tw_auto tw_tensor *a = spread(kernel->inputs[0], &kernel->outputs[0]->shape),
                      *b = a ? spread(kernel->inputs[1], &kernel->outputs[0]->shape) : NULL;
    if (!b)
        return tw__error_status();
    tw__kernel even = *kernel;
    even.inputs = TW_IN(a, b);
    return tw__matrix_each(&even, copy_and_solve);
}

static tw_status triangular_gradient(tw__gradient *g)
{
    TW_TEMPS(t);
    bool adjoint = TW_ATTR(g, "adjoint")->b, lower = TW_ATTR(g, "lower")->b;
    tw_tensor *grad_b = tw__triangular(t, g->inputs[0], g->output_grads[0], lower, !adjoint);
    tw_tensor *grad_a = matrix_gradient(t, grad_b, g->outputs[0], adjoint);
    tw__grad_set(g, 0, tw_retain(tw__band(t, grad_a, lower ? -1 : 0, lower ? 0 : -1)));
    tw__grad_set(g, 1, tw_retain(grad_b));
    return tw__grad_status(g);
}

TW_OP(MatrixTriangularSolve, .inputs = "matrix: T, rhs: T", .outputs = "output: T",
      .attrs = "lower: bool = true, adjoint: bool = false, T: {bfloat16, " NUMBERS "}", .shape = triangular_shape,
      .compute = triangular_compute, .gradient = triangular_gradient,
      .doc = "The solution of matrix x = rhs where only a triangle of the matrix counts.");

/* ---- Lu ---- */

static tw_status lu_shape(tw__inference *inference)
{
    TW_TRY(tw__matrix_need(inference, 0, true));
    tw__matrix_square(inference->shapes[0], &inference->out_shapes[0]);
    tw__matrix_shape(inference->shapes[0], tw__matrix_dim(&inference->out_shapes[0], 1), -2, &inference->out_shapes[1]);
    return TW_OK;
}

static const char *lu_of(tw__matrix_job *job, int64_t index)
{
    elimination e;
    int64_t n = job->rows;
    if (!eliminate(job, index, &e))
        return tw__matrix_no_memory;
    memcpy(tw__matrix_at(job->outputs[0], index, n * n), e.lu, (size_t)(n * n) * job->of->element);
    for (int64_t i = 0; i < n; i++) {
        if (job->outputs[1]->dtype == TW_INT64)
            ((int64_t *)job->outputs[1]->data)[index * n + i] = e.order[i];
        else
            ((int32_t *)job->outputs[1]->data)[index * n + i] = (int32_t)e.order[i];
    }
    tw__free(e.lu);
    return e.regular ? NULL : not_invertible;
}

static tw_status lu_compute(tw__kernel *kernel)
{
    return tw__matrix_each(kernel, lu_of);
}

TW_OP(Lu, .inputs = "input: T", .outputs = "lu: T, p: output_idx_type",
      .attrs = "T: {" NUMBERS "}, output_idx_type: {int32, int64} = int32", .shape = lu_shape, .compute = lu_compute,
      .no_gradient = true, .doc = "Triangular factors of each matrix with its rows in the order p.");
