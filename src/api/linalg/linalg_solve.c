/* tf.linalg: determinants, inverses, systems of equations, triangular factors. Old names of TensorFlow 1 stand beside the new
 * ones. */
#include "api/array/array.h"
#include "op/calls.h"
#include "op/linalg/linalg.h"
#include "rows.h"

TW_API(linalg_slogdet, "linalg.slogdet(input: tensor, name: str = None) -> tensors<LogMatrixDeterminant>",
       "The sign of each matrix's determinant, and the logarithm of its absolute value.\n"
       "returns: `sign` and `log_abs_determinant`")
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

TW_API(linalg_logdet, "linalg.logdet|compat.v1.log_matrix_determinant(matrix: tensor, name: str = None) -> tensor",
       "The logarithm of the determinant of each Hermitian positive definite matrix.")
{
    TW_TEMPS(t);
    tw_tensor *diagonal = tw__diag_part(t, TW_TEMP(Cholesky, args->matrix));
    tw_tensor *logs = TW_TEMP(Log, tw__temp(t, real_part(tw_retain(diagonal))));
    return TW_CALL(Mul, 2.0, tw__temp(t, tw__reduce_axes(&tw__op_Sum, logs, TW_INTS(-1), false)));
}

TW_API(
    linalg_solve,
    "linalg.solve|compat.v1.matrix_solve(matrix: tensor<T>, rhs: tensor<T>, adjoint: bool = False, name: str = None) -> tensor",
    "The solution x of matrix x = rhs.")
{
    return TW_CALL(MatrixSolve, args->matrix, args->rhs, TW_A_BOOL("adjoint", args->adjoint));
}

TW_API(
    linalg_triangular_solve,
    "linalg.triangular_solve|compat.v1.matrix_triangular_solve(matrix: tensor<T>, rhs: tensor<T>, lower: bool = True, adjoint: bool = False, "
    "name: str = None) -> tensor",
    "The solution x of matrix x = rhs where only a triangle of the matrix counts.\n"
    "matrix: triangular matrices [..., M, M]\n"
    "lower: True: the lower triangle counts; False: the upper\n"
    "example: tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 1.0]], [[4.0], [5.0]]).numpy().tolist()  # [[2.0], [3.0]]")
{
    return TW_CALL(MatrixTriangularSolve, args->matrix, args->rhs, TW_A_BOOL("lower", args->lower),
                   TW_A_BOOL("adjoint", args->adjoint));
}

TW_API(linalg_cholesky_solve,
       "linalg.cholesky_solve|compat.v1.cholesky_solve(chol: tensor<T>, rhs: tensor<T>, name: str = None) -> tensor",
       "The solution x of chol chol^H x = rhs.\n"
       "chol: lower triangular matrices, as `cholesky` gives them")
{
    TW_TEMPS(t);
    return tw_retain(tw__by_cholesky(t, args->chol, args->rhs));
}

TW_API(
    linalg_set_diag,
    "linalg.set_diag|compat.v1.matrix_set_diag(input: tensor<T>, diagonal: tensor<T>, name: str = set_diag, k: tensor<int32> = None shown 0, "
    "align: str = RIGHT_LEFT) -> tensor",
    "Matrices with some diagonals replaced.\n"
    "input: matrices [..., M, N]\n"
    "diagonal: the new diagonals; with several, the dimension before the last counts them\n"
    "k: which diagonal: 0 the main one, positive ones above it, negative ones below; two numbers are a band from the lower to the higher one\n"
    "align: to which end diagonals that are shorter than the others are moved: that of those above the main one, `_`, that of those below\n"
    "example: tf.linalg.set_diag([[1, 2], [3, 4]], [8, 9]).numpy().tolist()  # [[8, 2], [3, 9]]")
{
    tw_auto tw_tensor *k = args->k ? tw_retain(args->k) : tw_tensor_int(0);
    return TW_CALL(MatrixSetDiagV3, args->input, args->diagonal, k, TW_A_STRING("align", args->align));
}

/* ---- least squares ---- */

/* Cholesky's factor of a^H a or a a^H with the regularizer on its diagonal; left to t. */
static tw_tensor *gramian_factor(tw__temps *t, tw_tensor *a, bool first_kind, double regularizer)
{
    tw_tensor *square = tw__mm(t, a, a, first_kind, !first_kind);
    if (square && regularizer != 0)
        square = tw__set_diag(t, square, TW_TEMP(AddV2, tw__diag_part(t, square), regularizer));
    return TW_TEMP(Cholesky, square);
}

TW_API(
    linalg_lstsq,
    "linalg.lstsq|compat.v1.matrix_solve_ls(matrix: tensor<T>, rhs: tensor<T>, l2_regularizer: float = 0.0, fast: bool = True, name: str = None) "
    "-> tensor",
    "The x of least |matrix x - rhs|^2 + l2_regularizer |x|^2; of several the one of least |x|.\n"
    "l2_regularizer: how much the size of x counts, from 0 on\n"
    "fast: True: solve the normal equations; False: an orthogonal factorization, slower and safe where columns depend on each other")
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
    TW_TEMPS(t);
    tw_tensor *factor = gramian_factor(t, a, m >= n, args->l2_regularizer);
    return tw_retain(m >= n ? tw__by_cholesky(t, factor, tw__mm(t, a, args->rhs, true, false))
                            : tw__mm(t, a, tw__by_cholesky(t, factor, args->rhs), true, false));
}

/* ---- with the factors of lu ---- */

TW_API(linalg_lu, "linalg.lu(input: tensor, output_idx_type: dtype = int32, name: str = None) -> tensors<Lu>",
       "Triangular factors of each matrix with its rows in the order p.\n"
       "output_idx_type: the dtype of the order: int32 or int64\n"
       "returns: `lu`, both factors in one matrix, and `p`, the order of the rows")
{
    return tw__call_many(&tw__op_Lu, TW_IN(args->input), 1, TW_WITH(TW_A_TYPE("output_idx_type", args->output_idx_type)), 1, 2);
}

/* L of the two that stand in one matrix; left to t. */
static tw_tensor *lower_of(tw__temps *t, tw_tensor *lower_upper)
{
    return tw__set_diag(t, tw__band(t, lower_upper, -1, 0), TW_TEMP(OnesLike, tw__diag_part(t, lower_upper)));
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
    TW_TEMPS(t);
    tw_tensor *right = tw__temp(t, rows_in_order(args->rhs, args->perm));
    tw_tensor *inner = tw__triangular(t, lower_of(t, args->lower_upper), right, true, false);
    return tw_retain(tw__triangular(t, args->lower_upper, inner, false, false));
}

TW_API(linalg_lu_reconstruct,
       "linalg.lu_reconstruct(lower_upper: tensor, perm: tensor<int32>, validate_args: bool = False, name: str = None) -> tensor",
       "The matrix from the factors that lu gave.")
{
    TW_TEMPS(t);
    tw_tensor *product = tw__mm(t, lower_of(t, args->lower_upper), tw__band(t, args->lower_upper, 0, -1), false, false);
    tw_tensor *order = product ? tw__temp(t, inverse_order(args->perm)) : NULL;
    return order ? rows_in_order(product, order) : NULL;
}

TW_API(
    linalg_lu_matrix_inverse,
    "linalg.lu_matrix_inverse(lower_upper: tensor, perm: tensor<int32>, validate_args: bool = False, name: str = None) -> tensor",
    "The inverse of a matrix from the factors that lu gave.")
{
    TW_TEMPS(t);
    tw_tensor *eye = tw__eye_like(t, args->lower_upper);
    return eye ? tw_linalg_lu_solve(args->lower_upper, args->perm, eye) : NULL;
}
