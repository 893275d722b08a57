/* Products of matrices, or of batches of them, of which at least one is sparse. A batch is one matrix whose blocks stand along
 * the diagonal. */
#include "api/array/array.h"
#include "api/sparse/sparse.h"
#include "op/calls.h"
#include "rows.h"

/* The row and the column of each value, and how many rows and columns there are. */
typedef struct places {
    tw_tensor *row, *column, *rows, *columns;
} places;

static places places_of(tw__temps *t, const tw_sparse_tensor *s)
{
    int rank = s->shape.rank;
    tw_tensor *row = tw__temp_column(t, s->indices, rank - 2), *column = tw__temp_column(t, s->indices, rank - 1);
    tw_tensor *rows = tw__temp_at(t, s->dense_shape, rank - 2), *columns = tw__temp_at(t, s->dense_shape, rank - 1);
    if (rank == 2)
        return (places){ row, column, rows, columns };
    tw_tensor *batch = tw__temp_column(t, s->indices, 0), *count = tw__temp_at(t, s->dense_shape, 0);
    return (places){ TW_TEMP(AddV2, TW_TEMP(Mul, batch, rows), row), TW_TEMP(AddV2, TW_TEMP(Mul, batch, columns), column),
                     TW_TEMP(Mul, count, rows), TW_TEMP(Mul, count, columns) };
}

/* Tensors of one shape side by side. */
static tw_tensor *stacked(tw__temps *t, tw_tensor *const *parts, int count, int axis)
{
    for (int i = 0; i < count; i++) {
        if (!parts[i])
            return NULL;
    }
    return tw__temp(t, tw__call(&tw__op_Pack, parts, count, TW_WITH(TW_A_INT("axis", axis)), 1));
}

static tw_tensor *times_dense(tw__temps *t, const tw_sparse_tensor *s, tw_tensor *dense)
{
    if (s->shape.rank == 2)
        return TW_TEMP(SparseTensorDenseMatMul, s->indices, s->values, s->dense_shape, dense);
    places p = places_of(t, s);
    tw_tensor *indices = stacked(t, TW_IN(p.row, p.column), 2, 1), *shape = stacked(t, TW_IN(p.rows, p.columns), 2, 0);
    tw_tensor *width = tw__temp_at(t, tw__temp_shape(t, dense, TW_INT64), 2);
    tw_tensor *tall = TW_TEMP(Reshape, dense, stacked(t, TW_IN(p.columns, width), 2, 0));
    tw_tensor *product = TW_TEMP(SparseTensorDenseMatMul, indices, s->values, shape, tall);
    tw_tensor *sizes[] = { tw__temp_at(t, s->dense_shape, 0), tw__temp_at(t, s->dense_shape, 1), width };
    return TW_TEMP(Reshape, product, stacked(t, sizes, 3, 0));
}

/* Where each of the numbers begins, if they count things that stand one behind the other. */
static tw_tensor *begins(tw__temps *t, tw_tensor *counts)
{
    return TW_TEMP(Cumsum, counts, 0, TW_A_BOOL("exclusive", true));
}

static tw_tensor *numbers(tw__temps *t, tw_tensor *like)
{
    return tw__temp_range(t, TW_TEMP(Size, like, TW_A_TYPE("out_type", TW_INT64)));
}

/* Each value of a meets the row of b that its column names; products of one place are added. */
static tw_sparse_tensor *times_sparse(tw__temps *t, const tw_sparse_tensor *a, const tw_sparse_tensor *b)
{
    int rank = a->shape.rank;
    places p = places_of(t, a), q = places_of(t, b);
    tw_tensor *counts = TW_TEMP(UnsortedSegmentSum, TW_TEMP(OnesLike, q.row), q.row, q.rows);
    tw_tensor *times = tw__temp_gather(t, counts, p.column, 0);
    tw_tensor *often = tw__temp_cast(t, times, TW_INT32), *each = numbers(t, times);
    tw_tensor *which = often && each ? tw__temp(t, tw_repeat(each, often)) : NULL;
    tw_tensor *within = TW_TEMP(Sub, numbers(t, which), tw__temp_gather(t, begins(t, times), which, 0));
    tw_tensor *first = tw__temp_gather(t, begins(t, counts), tw__temp_gather(t, p.column, which, 0), 0);
    tw_tensor *other = TW_TEMP(AddV2, first, within), *width = tw__temp_at(t, b->dense_shape, rank - 1);
    tw_tensor *place = TW_TEMP(AddV2, TW_TEMP(Mul, tw__temp_gather(t, p.row, which, 0), width),
                               tw__temp_gather(t, tw__temp_column(t, b->indices, rank - 1), other, 0));
    tw_tensor *found[2] = { NULL, NULL };
    if (TW_TEMP_ALL(found, Unique, place, TW_A_TYPE("out_idx", TW_INT64)) != TW_OK)
        return NULL;
    tw_tensor *products = TW_TEMP(Mul, tw__temp_gather(t, a->values, which, 0), tw__temp_gather(t, b->values, other, 0));
    tw_tensor *sums = TW_TEMP(UnsortedSegmentSum, products, found[1], TW_TEMP(Size, found[0], TW_A_TYPE("out_type", TW_INT64)));
    tw_tensor *row = TW_TEMP(FloorDiv, found[0], width), *column = TW_TEMP(FloorMod, found[0], width);
    tw_tensor *height = tw__temp_at(t, a->dense_shape, rank - 2);
    tw_tensor *deep[] = { rank == 3 ? TW_TEMP(FloorDiv, row, height) : NULL, rank == 3 ? TW_TEMP(FloorMod, row, height) : row,
                          column };
    tw_tensor *indices = stacked(t, deep + 3 - rank, rank, 1);
    tw_tensor *shape =
        tw__temp_concat(t,
                        TW_IN(tw__temp_slice(t, a->dense_shape, 0, rank - 1), tw__temp_slice(t, b->dense_shape, rank - 1, rank)),
                        2, 0);
    tw_sparse_tensor *made = indices && sums && shape ? tw__temp(t, tw__sparse_new(indices, sums, shape)) : NULL;
    return made ? tw_sparse_reorder(made) : NULL;
}

/* Rows and columns exchanged. */
static tw_sparse_tensor *turned(tw__temps *t, tw_sparse_tensor *s)
{
    return tw__temp(t, s->shape.rank == 2 ? tw_sparse_transpose(s) : tw_sparse_transpose(s, .perm = TW_INTS(0, 2, 1)));
}

/* An operand, turned as it is wanted: either *sparse or the result is given. */
static tw_tensor *operand(tw__temps *t, const tw_value *value, tw_dtype dtype, bool transpose, bool adjoint,
                          tw_sparse_tensor **sparse)
{
    *sparse = NULL;
    if (value->kind != TW_VALUE_OBJECT || !tw__is(value->object, &tw__class_sparse_tensor)) {
        tw_tensor *dense = tw__temp(t, tw__value_tensor(value, dtype, "sparse._matmul"));
        return dense && (transpose || adjoint) ? tw__temp(t, tw_linalg_matrix_transpose(dense, .conjugate = adjoint)) : dense;
    }
    tw_sparse_tensor *s = value->object;
    if (s->shape.rank != 2 && s->shape.rank != 3) {
        tw__fail(TW_VALUE_ERROR, "matmul: a matrix or a batch of them is expected, got rank %d", s->shape.rank);
        return NULL;
    }
    if (adjoint && tw__dtype_is_complex(s->values->dtype))
        s = tw__temp(t, tw__sparse_new(s->indices, TW_TEMP(Conj, s->values), s->dense_shape));
    if (s && (transpose || adjoint))
        s = turned(t, s);
    *sparse = s;
    return NULL;
}

static tw_dtype dtype_of(const tw_value *value)
{
    return value->kind == TW_VALUE_OBJECT && tw__is(value->object, &tw__class_sparse_tensor)
               ? ((const tw_sparse_tensor *)value->object)->values->dtype
               : TW_DTYPE_NONE;
}

TW_API(sparse_matmul,
       "sparse._matmul(a: value, b: value, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False, "
       "adjoint_b: bool = False) -> value",
       "The product of two matrices, or of two batches of them, of which at least one is sparse; it is sparse if both are.\n"
       "a: the first matrix\n"
       "b: the second matrix\n"
       "transpose_a: True: transpose the first matrix\n"
       "transpose_b: True: transpose the second matrix\n"
       "adjoint_a: True: conjugate and transpose the first matrix\n"
       "adjoint_b: True: conjugate and transpose the second matrix")
{
    TW_TEMPS(t);
    tw_value none = { .kind = TW_VALUE_NONE };
    tw_sparse_tensor *left = NULL, *right = NULL;
    tw_tensor *a = operand(t, &args->a, dtype_of(&args->b), args->transpose_a, args->adjoint_a, &left);
    tw_tensor *b = a || left ? operand(t, &args->b, dtype_of(&args->a), args->transpose_b, args->adjoint_b, &right) : NULL;
    if ((!a && !left) || (!b && !right))
        return none;
    if (!left && !right) {
        tw__fail(TW_TYPE_ERROR, "matmul: one of the operands is to be a SparseTensor");
        return none;
    }
    tw_shape one = left ? left->shape : a->shape, two = right ? right->shape : b->shape;
    if (one.rank != two.rank) {
        tw__fail(TW_VALUE_ERROR, "matmul: the operands have ranks %d and %d", one.rank, two.rank);
        return none;
    }
    int64_t inner = one.dims[one.rank - 1], other = two.dims[two.rank - 2];
    if (inner >= 0 && other >= 0 && inner != other) {
        tw__fail(TW_VALUE_ERROR, "Shapes (%lld,) and (%lld,) are incompatible", (long long)inner, (long long)other);
        return none;
    }
    if (left && right)
        return tw__value_of_object(times_sparse(t, left, right));
    if (left)
        return tw__value_of_tensor(tw_retain(times_dense(t, left, b)));
    if (!right) {
        tw__fail(TW_TYPE_ERROR, "matmul: one of the operands must be sparse");
        return none;
    }
    tw_sparse_tensor *other_way = turned(t, right);
    tw_tensor *flipped = tw__temp(t, tw_linalg_matrix_transpose(a));
    tw_tensor *product = other_way && flipped ? times_dense(t, other_way, flipped) : NULL;
    return product ? tw__value_of_tensor(tw_linalg_matrix_transpose(product)) : none;
}
