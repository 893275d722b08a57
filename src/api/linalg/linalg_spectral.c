/* tf.linalg: eigenvalues of any square matrix, and systems with few diagonals. */
#include "api/array/array.h"
#include "api/composite.h"
#include "op/array/array.h"
#include "op/calls.h"
#include "op/linalg/linalg.h"
#include "rows.h"

static tw_tensors eigen(tw_tensor *tensor, bool vectors)
{
    bool wide = tensor->dtype == TW_FLOAT64 || tensor->dtype == TW_COMPLEX128;
    return tw__call_many(&tw__op_Eig, TW_IN(tensor), 1,
                         TW_WITH(TW_A_BOOL("compute_v", vectors), TW_A_TYPE("Tout", wide ? TW_COMPLEX128 : TW_COMPLEX64)), 2, 2);
}

TW_API(linalg_eig, "linalg.eig|eig(tensor: tensor, name: str = None) -> tensors<tuple>",
       "Eigenvalues and eigenvectors (columns) of each square matrix, complex and in no order.\n"
       "returns: eigenvalues [..., M] and eigenvectors [..., M, M]")
{
    return eigen(args->tensor, true);
}

TW_API(linalg_eigvals, "linalg.eigvals|eigvals(tensor: tensor, name: str = None) -> tensor",
       "Eigenvalues of each square matrix, complex and in no order.")
{
    tw_tensors both = eigen(args->tensor, false);
    tw_tensor *values = both.items && both.count ? tw_retain(both.items[0]) : NULL;
    if (both.items)
        tw_tensors_free(&both);
    return values;
}

TW_API(
    linalg_banded_triangular_solve,
    "linalg.banded_triangular_solve(bands: tensor<T>, rhs: tensor<T>, lower: bool = True, adjoint: bool = False, name: str = None) "
    "-> tensor",
    "Solves systems whose matrices are triangular and have few diagonals, which are the rows of `bands`.\n"
    "bands: the diagonals as rows, [..., diagonals, M], from the upper right to the lower left one\n"
    "lower: True: the main diagonal is the first row; False: it is the last")
{
    return TW_CALL(BandedTriangularSolve, args->bands, args->rhs, TW_A_BOOL("lower", args->lower),
                   TW_A_BOOL("adjoint", args->adjoint));
}

/* ---- three diagonals ---- */

/* The three rows above, on and below the main diagonal, as one tensor; or NULL and an error. Left to t. */
static tw_tensor *compact(tw__temps *t, const tw_value *given, const char *format, const char *what)
{
    if (strcmp(format, "compact") == 0)
        return tw__temp(t, tw__value_tensor(given, TW_DTYPE_NONE, what));
    if (strcmp(format, "matrix") == 0) {
        tw_tensor *matrix = tw__temp(t, tw__value_tensor(given, TW_DTYPE_NONE, what));
        tw_tensor *range = tw__temp_ints(t, (int64_t[]){ -1, 1 }, 2, TW_INT32);
        tw_tensor *zero = matrix ? tw__temp(t, tw__grad_constant(0, matrix)) : NULL;
        return TW_TEMP(MatrixDiagPartV3, matrix, range, zero, TW_A_STRING("align", "LEFT_RIGHT"));
    }
    if ((given->kind != TW_VALUE_LIST && given->kind != TW_VALUE_TUPLE) || given->list.count != 3) {
        tw__fail(TW_VALUE_ERROR, "%s: with the format 'sequence' the diagonals are a list of three tensors", what);
        return NULL;
    }
    tw_tensor *rows[3];
    for (int i = 0; i < 3; i++) {
        if (!(rows[i] = tw__temp(t, tw__value_tensor(&given->list.items[i], TW_DTYPE_NONE, what))))
            return NULL;
    }
    int64_t length = tw__matrix_dim(&rows[1]->shape, 1);
    for (int i = 0; i < 3; i += 2) { /* those that are shorter by one get a zero where the matrix ends */
        int64_t own = tw__matrix_dim(&rows[i]->shape, 1);
        if (own < 0 || length < 0 || rows[i]->shape.rank < 1) {
            tw__fail(TW_VALUE_ERROR, "%s: the lengths of the diagonals must be known", what);
            return NULL;
        }
        if (own == length)
            continue;
        int64_t pads[2 * TW_MAX_RANK] = { 0 };
        pads[2 * rows[i]->shape.rank - (i ? 2 : 1)] = 1;
        tw_tensor *paddings = tw__temp_reshape(t, tw__temp_ints(t, pads, 2 * rows[i]->shape.rank, TW_INT32),
                                               (int64_t[]){ rows[i]->shape.rank, 2 }, 2);
        rows[i] = TW_TEMP(Pad, rows[i], paddings);
    }
    for (int i = 0; i < 3; i++)
        rows[i] = TW_TEMP(ExpandDims, rows[i], -2);
    return rows[0] && rows[1] && rows[2] ? tw__temp_concat(t, rows, 3, -2) : NULL;
}

TW_API(
    linalg_tridiagonal_matmul,
    "linalg.tridiagonal_matmul(diagonals: value, rhs: tensor, diagonals_format: str {compact, matrix, sequence} = compact, name: "
    "str = None) -> tensor",
    "Products of matrices with three diagonals and other matrices.\n"
    "diagonals: the three diagonals, in the form that `diagonals_format` says\n"
    "diagonals_format: `compact`: one tensor [..., 3, M], upper, main, lower; `sequence`: three tensors; `matrix`: whole matrices")
{
    TW_TEMPS(t);
    tw_tensor *rows[3], *all = compact(t, &args->diagonals, args->diagonals_format, "tridiagonal_matmul");
    if (!all || TW_TEMP_ALL(rows, Split, -2, all, TW_A_INT("num_split", 3)) != TW_OK)
        return NULL;
    return TW_CALL(TridiagonalMatMul, rows[0], rows[1], rows[2], args->rhs);
}

TW_API(
    linalg_tridiagonal_solve,
    "linalg.tridiagonal_solve(diagonals: value, rhs: tensor, diagonals_format: str {compact, matrix, sequence} = compact, "
    "transpose_rhs: bool = False, conjugate_rhs: bool = False, name: str = None, partial_pivoting: bool = True, "
    "perturb_singular: bool = False) -> tensor",
    "Solves systems whose matrices have three diagonals.\n"
    "diagonals: the three diagonals, in the form that `diagonals_format` says\n"
    "diagonals_format: `compact`: one tensor [..., 3, M], upper, main, lower; `sequence`: three tensors; `matrix`: whole matrices\n"
    "transpose_rhs: True: transpose the right-hand sides\n"
    "conjugate_rhs: True: conjugate the right-hand sides\n"
    "partial_pivoting: True: swap rows where that keeps the result exact\n"
    "perturb_singular: True: matrices without inverse are changed a little instead of being an error")
{
    TW_TEMPS(t);
    tw_tensor *all = compact(t, &args->diagonals, args->diagonals_format, "tridiagonal_solve"), *rhs = args->rhs;
    if (!all)
        return NULL;
    if (all->shape.rank < 0 || rhs->shape.rank < 0) {
        tw__fail(TW_VALUE_ERROR, "tridiagonal_solve: the ranks of diagonals and rhs must be known");
        return NULL;
    }
    bool vector = rhs->shape.rank == all->shape.rank - 1, adjoint = args->transpose_rhs && args->conjugate_rhs;
    if (vector)
        rhs = args->conjugate_rhs ? tw__temp(t, tw__grad_conj(rhs)) : rhs;
    else if (adjoint)
        rhs = tw__adjoint(t, rhs);
    else if (args->transpose_rhs)
        rhs = tw__adjoint(t, tw__temp(t, tw__grad_conj(rhs)));
    else if (args->conjugate_rhs)
        rhs = tw__temp(t, tw__grad_conj(rhs));
    tw_tensor *x =
        TW_TEMP(TridiagonalSolve, all, vector ? TW_TEMP(ExpandDims, rhs, -1) : rhs,
                TW_A_BOOL("partial_pivoting", args->partial_pivoting), TW_A_BOOL("perturb_singular", args->perturb_singular));
    if (!vector || !x)
        return tw_retain(x);
    return TW_CALL(Squeeze, x, TW_A_INTS("squeeze_dims", ((int64_t[]){ -1 }), 1));
}
