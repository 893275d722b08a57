/* Matrix operations by ops, for the gradients of decompositions. See linalg.h. */
#include "op/array/array.h"
#include "op/calls.h"
#include "op/linalg/linalg.h"
#include "rows.h"

tw_tensor *tw__mm(tw_tensor *a, tw_tensor *b, bool adjoint_a, bool adjoint_b)
{
    tw_auto tw_tensor *left = a, *right = b;
    return TW_CALL(BatchMatMulV2, left, right, TW_A_BOOL("adj_x", adjoint_a), TW_A_BOOL("adj_y", adjoint_b));
}

/* The order of dimensions in which the last two have changed places, by ops where the rank is not known yet. */
static tw_tensor *turned_order(tw_tensor *a)
{
    TW_TEMPS(t);
    int64_t order[TW_MAX_RANK];
    int rank = a->shape.rank;
    for (int i = 0; i < rank; i++)
        order[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    if (rank >= 2)
        return tw__ints_tensor(order, rank, TW_INT32);
    tw_auto tw_tensor *last = TW_CALL(Sub, TW_TEMP(Rank, a), 1);
    tw_auto tw_tensor *before = TW_CALL(Sub, last, 1);
    tw_auto tw_tensor *leading = TW_CALL(Range, 0, before, 1);
    tw_auto tw_tensor *one = tw__ints_tensor((const int64_t[]){ 1 }, 1, TW_INT32), *zero = tw_tensor_int(0);
    tw_auto tw_tensor *x = TW_CALL(Reshape, last, one), *y = TW_CALL(Reshape, before, one);
    return TW_CALL(ConcatV2, leading, x, y, zero, TW_A_INT("N", 3));
}

tw_tensor *tw__adjoint(tw_tensor *a)
{
    tw_auto tw_tensor *x = a;
    tw_auto tw_tensor *order = x ? turned_order(x) : NULL;
    tw_auto tw_tensor *conjugate = order ? tw__grad_conj(x) : NULL;
    return TW_CALL(Transpose, conjugate, order);
}

tw_tensor *tw__diag(tw_tensor *diagonal)
{
    tw_auto tw_tensor *d = diagonal;
    tw_auto tw_tensor *k = tw_tensor_int(0), *any = tw_tensor_int(-1), *zero = d ? tw__grad_constant(0, d) : NULL;
    return TW_CALL(MatrixDiagV3, d, k, any, any, zero);
}

tw_tensor *tw__diag_part(tw_tensor *a)
{
    tw_auto tw_tensor *x = a;
    tw_auto tw_tensor *k = tw_tensor_int(0), *zero = x ? tw__grad_constant(0, x) : NULL;
    return TW_CALL(MatrixDiagPartV3, x, k, zero);
}

tw_tensor *tw__set_diag(tw_tensor *a, tw_tensor *diagonal)
{
    TW_TEMPS(t);
    return TW_CALL(MatrixSetDiagV3, tw__temp(t, a), tw__temp(t, diagonal), 0);
}

tw_tensor *tw__band(tw_tensor *a, int64_t lower, int64_t upper)
{
    TW_TEMPS(t);
    return TW_CALL(MatrixBandPart, tw__temp(t, a), (int64_t)lower, (int64_t)upper);
}

tw_tensor *tw__triangular(tw_tensor *a, tw_tensor *b, bool lower, bool adjoint)
{
    tw_auto tw_tensor *matrix = a, *right = b;
    if (!matrix || !right)
        return NULL;
    return TW_CALL(MatrixTriangularSolve, matrix, right, TW_A_BOOL("lower", lower), TW_A_BOOL("adjoint", adjoint));
}

tw_tensor *tw__solve(tw_tensor *a, tw_tensor *b, bool adjoint)
{
    tw_auto tw_tensor *matrix = a, *right = b;
    return TW_CALL(MatrixSolve, matrix, right, TW_A_BOOL("adjoint", adjoint));
}

tw_tensor *tw__eye_like(tw_tensor *a)
{
    tw_auto tw_tensor *diagonal = tw__diag_part(tw_retain(a));
    return tw__set_diag(diagonal ? TW_CALL(ZerosLike, a) : NULL, TW_CALL(OnesLike, diagonal));
}
