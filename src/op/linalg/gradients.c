/* Matrix operations by ops, for the gradients of decompositions. See linalg.h. */
#include "op/array/array.h"
#include "op/calls.h"
#include "op/linalg/linalg.h"
#include "rows.h"

tw_tensor *tw__mm(tw__temps *t, tw_tensor *a, tw_tensor *b, bool adjoint_a, bool adjoint_b)
{
    return TW_TEMP(BatchMatMulV2, a, b, TW_A_BOOL("adj_x", adjoint_a), TW_A_BOOL("adj_y", adjoint_b));
}

/* The order of dimensions in which the last two have changed places, by ops where the rank is not known yet. */
static tw_tensor *turned_order(tw__temps *t, tw_tensor *a)
{
    int64_t order[TW_MAX_RANK];
    int rank = a->shape.rank;
    for (int i = 0; i < rank; i++)
        order[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    if (rank >= 2)
        return tw__temp_ints(t, order, rank, TW_INT32);
    tw_tensor *last = TW_TEMP(Sub, TW_TEMP(Rank, a), 1), *before = TW_TEMP(Sub, last, 1);
    tw_tensor *one = tw__temp_ints(t, (const int64_t[]){ 1 }, 1, TW_INT32), *leading = TW_TEMP(Range, 0, before, 1);
    return TW_TEMP(ConcatV2, leading, TW_TEMP(Reshape, last, one), TW_TEMP(Reshape, before, one), 0, TW_A_INT("N", 3));
}

tw_tensor *tw__adjoint(tw__temps *t, tw_tensor *a)
{
    return a ? TW_TEMP(Transpose, tw__temp(t, tw__grad_conj(a)), turned_order(t, a)) : NULL;
}

tw_tensor *tw__diag(tw__temps *t, tw_tensor *diagonal)
{
    return TW_TEMP(MatrixDiagV3, diagonal, 0, -1, -1, 0.0);
}

tw_tensor *tw__diag_part(tw__temps *t, tw_tensor *a)
{
    return TW_TEMP(MatrixDiagPartV3, a, 0, 0.0);
}

tw_tensor *tw__set_diag(tw__temps *t, tw_tensor *a, tw_tensor *diagonal)
{
    return TW_TEMP(MatrixSetDiagV3, a, diagonal, 0);
}

tw_tensor *tw__band(tw__temps *t, tw_tensor *a, int64_t lower, int64_t upper)
{
    return TW_TEMP(MatrixBandPart, a, lower, upper);
}

tw_tensor *tw__triangular(tw__temps *t, tw_tensor *a, tw_tensor *b, bool lower, bool adjoint)
{
    return TW_TEMP(MatrixTriangularSolve, a, b, TW_A_BOOL("lower", lower), TW_A_BOOL("adjoint", adjoint));
}

tw_tensor *tw__solve(tw__temps *t, tw_tensor *a, tw_tensor *b, bool adjoint)
{
    return TW_TEMP(MatrixSolve, a, b, TW_A_BOOL("adjoint", adjoint));
}

tw_tensor *tw__by_cholesky(tw__temps *t, tw_tensor *factor, tw_tensor *b)
{
    return tw__triangular(t, factor, tw__triangular(t, factor, b, true, false), true, true);
}

tw_tensor *tw__eye_like(tw__temps *t, tw_tensor *a)
{
    return tw__set_diag(t, TW_TEMP(ZerosLike, a), TW_TEMP(OnesLike, tw__diag_part(t, a)));
}
