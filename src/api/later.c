/* Transposes and tensordot of tensors whose rank is known only when the graph runs: the order of the axes is computed there too.
 */
#include "api/later.h"

#include "op/calls.h"
#include "rows.h"

/* The axis as it counts from the beginning. */
static tw_tensor *from_begin(tw__temps *t, tw_tensor *rank, int64_t axis)
{
    tw_tensor *given = tw__temp_int(t, axis, TW_INT32);
    return axis < 0 ? TW_TEMP(AddV2, given, rank) : given;
}

tw_tensor *tw__swap_axes_later(tw_tensor *x, int64_t first, int64_t second)
{
    TW_TEMPS(t);
    tw_tensor *rank = TW_TEMP(Rank, x), *order = tw__temp_range(t, rank), *a = from_begin(t, rank, first),
              *b = from_begin(t, rank, second);
    /* An axis beyond the rank takes no place, and the transpose refuses an order in which one is missing. */
    tw_tensor *swapped = TW_TEMP(SelectV2, TW_TEMP(Equal, order, a), b, TW_TEMP(SelectV2, TW_TEMP(Equal, order, b), a, order));
    return TW_CALL(Transpose, x, swapped);
}

typedef struct side {
    tw_tensor *matrix, *free_sizes;
} side;

/* x as a matrix: the axes that stay, then those that are summed over, or the other way round. */
static side as_matrix(tw__temps *t, tw_tensor *x, const int64_t *axes, int64_t count, bool summed_last)
{
    tw_tensor *rank = TW_TEMP(Rank, x), *given = tw__temp_ints(t, axes, count, TW_INT32), *sizes = tw__temp_shape(t, x, TW_INT32);
    tw_tensor *summed = TW_TEMP(SelectV2, TW_TEMP(Less, given, tw__temp_int(t, 0, TW_INT32)), TW_TEMP(AddV2, given, rank), given);
    tw_tensor *each = TW_TEMP(ExpandDims, tw__temp_range(t, rank), tw__temp_int(t, 1, TW_INT32));
    tw_tensor *stays =
        TW_TEMP(All, TW_TEMP(NotEqual, each, summed, TW_A_BOOL("incompatible_shape_error", true)), tw__temp_int(t, 1, TW_INT32));
    tw_tensor *free = tw__temp_cast(t, tw__temp_reshape(t, TW_TEMP(Where, stays), (const int64_t[]){ -1 }, 1), TW_INT32);
    tw_tensor *free_sizes = tw__temp_gather(t, sizes, free, 0), *summed_sizes = tw__temp_gather(t, sizes, summed, 0);
    tw_tensor *zero = tw__temp_ints(t, (const int64_t[]){ 0 }, 1, TW_INT32);
    tw_tensor *rows = TW_TEMP(Prod, free_sizes, zero, TW_A_BOOL("keep_dims", true));
    tw_tensor *columns = TW_TEMP(Prod, summed_sizes, zero, TW_A_BOOL("keep_dims", true));
    tw_tensor *order = tw__temp_concat(t, summed_last ? TW_IN(free, summed) : TW_IN(summed, free), 2, 0);
    tw_tensor *shape = tw__temp_concat(t, summed_last ? TW_IN(rows, columns) : TW_IN(columns, rows), 2, 0);
    return (side){ TW_TEMP(Reshape, TW_TEMP(Transpose, x, order), shape), free_sizes };
}

tw_tensor *tw__tensordot_later(tw_tensor *a, tw_tensor *b, const int64_t *a_axes, const int64_t *b_axes, int64_t count)
{
    TW_TEMPS(t);
    side left = as_matrix(t, a, a_axes, count, true), right = as_matrix(t, b, b_axes, count, false);
    tw_tensor *shape = tw__temp_concat(t, TW_IN(left.free_sizes, right.free_sizes), 2, 0);
    return TW_CALL(Reshape, TW_TEMP(MatMul, left.matrix, right.matrix), shape);
}
