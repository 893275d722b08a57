/* tf.linalg: determinants, inverses, systems of equations, triangular factors. Old names of TensorFlow 1 stand beside the new
 * ones. */
#include "api/array/array.h"
#include "op/calls.h"
#include "op/linalg/linalg.h"
#include "rows.h"

TW_API(linalg_slogdet, "linalg.slogdet(input: tensor, name: str = None) -> tensors<LogMatrixDeterminant>",
       "The sign of each matrix's determinant, and the logarithm of its absolute value.")
{
    return tw__call_many(&tw__op_LogMatrixDeterminant, TW_IN(args->input), 1, NULL, 0, 2);
}

/* The real part of a tensor, which may be real already. Takes x. */
static tw_tensor *real_part(tw_tensor *x)
{
    if (!x || !tw__dtype_is_complex(x->dtype))
        return x;
    tw_tensor *real = TW_CALL(Real, x, TW_A_TYPE("Tout", x->dtype == TW_COMPLEX64 ? TW_FLOAT32 : TW_FLOAT64));
    tw_release(x);
    return real;
}

TW_API(linalg_logdet, "linalg.logdet(matrix: tensor, name: str = None) -> tensor",
       "The logarithm of the determinant of each Hermitian positive definite matrix.")
{
    TW_TEMPS(t);
    tw_auto tw_tensor *logs = TW_CALL(Log, tw__temp(t, real_part(tw__diag_part(TW_CALL(Cholesky, args->matrix)))));
    return TW_CALL(Mul, 2.0, tw__temp(t, tw__reduce_axes(&tw__op_Sum, logs, TW_INTS(-1), false)));
}

TW_API(
    linalg_solve,
    "linalg.solve|compat.v1.matrix_solve(matrix: tensor<T>, rhs: tensor<T>, adjoint: bool = False, name: str = None) -> tensor",
    "The solution x of matrix x = rhs.")
{
    return tw__solve(tw_retain(args->matrix), tw_retain(args->rhs), args->adjoint);
}

TW_API(
    linalg_triangular_solve,
    "linalg.triangular_solve|compat.v1.matrix_triangular_solve(matrix: tensor<T>, rhs: tensor<T>, lower: bool = True, adjoint: bool = False, "
    "name: str = None) -> tensor",
    "The solution x of matrix x = rhs where only a triangle of the matrix counts.")
{
    return tw__triangular(tw_retain(args->matrix), tw_retain(args->rhs), args->lower, args->adjoint);
}

/* Takes rhs. */
static tw_tensor *by_factor(tw_tensor *chol, tw_tensor *rhs)
{
    return tw__triangular(tw_retain(chol), tw__triangular(tw_retain(chol), rhs, true, false), true, true);
}

TW_API(linalg_cholesky_solve,
       "linalg.cholesky_solve|compat.v1.cholesky_solve(chol: tensor<T>, rhs: tensor<T>, name: str = None) -> tensor",
       "The solution x of chol chol^H x = rhs.")
{
    return by_factor(args->chol, tw_retain(args->rhs));
}

TW_API(
    linalg_set_diag,
    "linalg.set_diag|compat.v1.matrix_set_diag(input: tensor<T>, diagonal: tensor<T>, name: str = set_diag, k: tensor<int32> = None, "
    "align: str = RIGHT_LEFT) -> tensor",
    "Matrices with some diagonals replaced.")
{
    tw_auto tw_tensor *k = args->k ? tw_retain(args->k) : tw_tensor_int(0);
    return TW_CALL(MatrixSetDiagV3, args->input, args->diagonal, k, TW_A_STRING("align", args->align));
}

/* ---- least squares ---- */

/* Cholesky's factor of a^H a or a a^H with the regularizer on its diagonal. */
static tw_tensor *gramian_factor(tw_tensor *a, bool first_kind, double regularizer)
{
    TW_TEMPS(t);
    tw_tensor *square = tw__mm(tw_retain(a), tw_retain(a), first_kind, !first_kind);
    if (square && regularizer != 0) {
        tw_tensor *diagonal = tw__diag_part(tw_retain(square));
        square = tw__set_diag(square, TW_CALL(AddV2, tw__temp(t, diagonal), (double)regularizer));
    }
    return TW_CALL(Cholesky, tw__temp(t, square));
}

TW_API(
    linalg_lstsq,
    "linalg.lstsq|compat.v1.matrix_solve_ls(matrix: tensor<T>, rhs: tensor<T>, l2_regularizer: float = 0.0, fast: bool = True, name: str = None) "
    "-> tensor",
    "The x of least |matrix x - rhs|^2 + l2_regularizer |x|^2; of several the one of least |x|.")
{
    tw_tensor *a = args->matrix;
    int64_t m = tw__matrix_dim(&a->shape, 2), n = tw__matrix_dim(&a->shape, 1);
    if (args->l2_regularizer < 0) {
        tw__fail(TW_INVALID_ARGUMENT, "lstsq: l2_regularizer must be >= 0, got %g", args->l2_regularizer);
        return NULL;
    }
    if (!args->fast || m < 0 || n < 0) {
        tw_auto tw_tensor *regularizer = tw_tensor_double(args->l2_regularizer);
        return TW_CALL(MatrixSolveLs, a, args->rhs, regularizer, TW_A_BOOL("fast", args->fast));
    }
    tw_auto tw_tensor *factor = gramian_factor(a, m >= n, args->l2_regularizer);
    if (!factor)
        return NULL;
    if (m >= n)
        return by_factor(factor, tw__mm(tw_retain(a), tw_retain(args->rhs), true, false));
    return tw__mm(tw_retain(a), by_factor(factor, tw_retain(args->rhs)), true, false);
}

/* ---- with the factors of lu ---- */

TW_API(linalg_lu, "linalg.lu(input: tensor, output_idx_type: dtype = int32, name: str = None) -> tensors<Lu>",
       "Triangular factors of each matrix with its rows in the order p.")
{
    return tw__call_many(&tw__op_Lu, TW_IN(args->input), 1, TW_WITH(TW_A_TYPE("output_idx_type", args->output_idx_type)), 1, 2);
}

/* L of the two that stand in one matrix. Borrows it. */
static tw_tensor *lower_of(tw_tensor *lower_upper)
{
    TW_TEMPS(t);
    return tw__set_diag(tw__band(tw_retain(lower_upper), -1, 0),
                        TW_CALL(OnesLike, tw__temp(t, tw__diag_part(tw_retain(lower_upper)))));
}

/* Rows of x in an order. */
static tw_tensor *rows_in_order(tw_tensor *x, tw_tensor *order)
{
    int rank = order->shape.rank;
    if (rank < 1) {
        tw__fail(TW_VALUE_ERROR, "perm has shape %s, expected at least one dimension", tw__shape_text(&order->shape));
        return NULL;
    }
    return TW_CALL(GatherV2, x, order, (int)(rank - 1), TW_A_INT("batch_dims", rank - 1));
}

/* Where each number of a permutation stands. */
static tw_tensor *inverse_order(tw_tensor *order)
{
    return order->shape.rank == 1 ? TW_CALL(InvertPermutation, order) : tw_argsort(order);
}

TW_API(
    linalg_lu_solve,
    "linalg.lu_solve(lower_upper: tensor<T>, perm: tensor<int32>, rhs: tensor<T>, validate_args: bool = False, name: str = None) -> tensor",
    "The solution of a system from the factors that lu gave.")
{
    tw_auto tw_tensor *right = rows_in_order(args->rhs, args->perm), *lower = lower_of(args->lower_upper);
    return tw__triangular(tw_retain(args->lower_upper), tw__triangular(tw_retain(lower), tw_retain(right), true, false), false,
                          false);
}

TW_API(linalg_lu_reconstruct,
       "linalg.lu_reconstruct(lower_upper: tensor, perm: tensor<int32>, validate_args: bool = False, name: str = None) -> tensor",
       "The matrix from the factors that lu gave.")
{
    tw_auto tw_tensor *product = tw__mm(lower_of(args->lower_upper), tw__band(tw_retain(args->lower_upper), 0, -1), false, false);
    tw_auto tw_tensor *order = product ? inverse_order(args->perm) : NULL;
    return order ? rows_in_order(product, order) : NULL;
}

TW_API(
    linalg_lu_matrix_inverse,
    "linalg.lu_matrix_inverse(lower_upper: tensor, perm: tensor<int32>, validate_args: bool = False, name: str = None) -> tensor",
    "The inverse of a matrix from the factors that lu gave.")
{
    tw_auto tw_tensor *eye = tw__eye_like(args->lower_upper);
    return eye ? tw_linalg_lu_solve(args->lower_upper, args->perm, eye) : NULL;
}
