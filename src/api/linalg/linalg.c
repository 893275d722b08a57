/* tf.matmul and its relatives. */
#include "api/later.h"
#include "op/array/array.h"
#include "op/gradient.h"
#include "rows.h"

typedef struct options {
    bool transpose, adjoint;
} options;

static tw_status check(options of, const char *letter)
{
    if (of.transpose && of.adjoint)
        return tw__fail(
            TW_VALUE_ERROR,
            "Only one of `transpose_%s` and `adjoint_%s` can be True. Received `transpose_%s`=True, `adjoint_%s`=True.", letter,
            letter, letter, letter);
    return TW_OK;
}

static tw_tensor *product(tw_tensor *a, tw_tensor *b, options of_a, options of_b, tw_dtype output)
{
    if (check(of_a, "a") != TW_OK || check(of_b, "b") != TW_OK)
        return NULL;
    bool other_dtype = output != TW_DTYPE_NONE && (output != a->dtype || output != b->dtype);
    bool batched = other_dtype || a->shape.rank > 2 || b->shape.rank > 2 || a->shape.rank < 0 || b->shape.rank < 0;
    /* BatchMatMul knows only adjoints, MatMul only transposes: the other one is a conjugate more. */
    bool conjugate_a = batched ? of_a.transpose : of_a.adjoint, conjugate_b = batched ? of_b.transpose : of_b.adjoint;
    tw_auto tw_tensor *left = conjugate_a ? tw__grad_conj(a) : tw_retain(a);
    tw_auto tw_tensor *right = conjugate_b ? tw__grad_conj(b) : tw_retain(b);
    bool turn_a = of_a.transpose || of_a.adjoint, turn_b = of_b.transpose || of_b.adjoint;
    if (!batched && !turn_a && !turn_b) /* small products are called often: without operands in between */
        return tw__call(&tw__op_MatMul, TW_IN(left, right), 2, NULL, 0);
    if (!batched)
        return TW_CALL(MatMul, left, right, TW_A_BOOL("transpose_a", turn_a), TW_A_BOOL("transpose_b", turn_b));
    if (other_dtype)
        return TW_CALL(BatchMatMulV3, left, right, TW_A_BOOL("adj_x", turn_a), TW_A_BOOL("adj_y", turn_b),
                       TW_A_TYPE("Tout", output));
    return TW_CALL(BatchMatMulV2, left, right, TW_A_BOOL("adj_x", turn_a), TW_A_BOOL("adj_y", turn_b));
}

/* a_is_sparse and b_is_sparse are hints on speed; the product is the same. */
TW_API(
    matmul,
    "matmul|linalg.matmul(a: tensor<first>, b: tensor<first>, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False, "
    "adjoint_b: bool = False, a_is_sparse: bool = False, b_is_sparse: bool = False, output_type: dtype = None, name: str = None) -> tensor",
    "The product of matrices: the last two dimensions; those before them are a batch and are broadcast.\n"
    "a: matrices [..., M, K]\n"
    "b: matrices [..., K, N]\n"
    "adjoint_a: True: conjugate and transpose the first matrix\n"
    "adjoint_b: True: conjugate and transpose the second matrix\n"
    "a_is_sparse: kept as a hint; the product is the same\n"
    "b_is_sparse: kept as a hint; the product is the same\n"
    "returns: matrices [..., M, N]\n"
    "raises: InvalidArgumentError: the sizes do not fit\n"
    "example: tf.matmul([[1, 2], [3, 4]], [[5], [6]]).numpy().tolist()  # [[17], [39]]")
{
    return product(args->a, args->b, (options){ args->transpose_a, args->adjoint_a },
                   (options){ args->transpose_b, args->adjoint_b }, args->output_type);
}

TW_API(linalg_matvec,
       "linalg.matvec(a: tensor<T>, b: tensor<T>, transpose_a: bool = False, adjoint_a: bool = False, a_is_sparse: bool = False, "
       "b_is_sparse: bool = False, name: str = None) -> tensor",
       "The product of a matrix and a vector.\n"
       "b: vectors [..., N]\n"
       "adjoint_a: True: conjugate and transpose the matrix\n"
       "a_is_sparse: kept as a hint; the product is the same\n"
       "b_is_sparse: kept as a hint; the product is the same\n"
       "returns: vectors [..., M]\n"
       "example: tf.linalg.matvec([[1, 2], [3, 4]], [5, 6]).numpy().tolist()  # [17, 39]")
{
    tw_auto tw_tensor *column = TW_CALL(ExpandDims, args->b, -1);
    tw_auto tw_tensor *result =
        column ? product(args->a, column, (options){ args->transpose_a, args->adjoint_a }, (options){ 0 }, TW_DTYPE_NONE) : NULL;
    return TW_CALL(Squeeze, result, TW_A_INTS("squeeze_dims", (const int64_t[]){ -1 }, 1));
}

/* ---- tensordot ---- */

/* x as a matrix: the axes that stay, then those that are summed over (or the other way round); `free_dims` gets the former. */
static tw_tensor *as_matrix(tw_tensor *x, const int64_t *axes, int64_t count, bool summed_last, tw_shape *free_dims)
{
    int rank = x->shape.rank, normal, position = 0;
    bool summed[TW_MAX_RANK] = { false };
    int64_t order[TW_MAX_RANK], rows = 1, columns = 1;
    int64_t summed_axes[TW_MAX_RANK];
    for (int64_t i = 0; i < count; i++) {
        if (i >= rank || !tw__axis_normal(axes[i], rank, &normal) || summed[normal]) {
            tw__fail(TW_INVALID_ARGUMENT, "tensordot: the axes must be different and lie in [%d, %d), got %lld", -rank, rank,
                     (long long)axes[i]);
            return NULL;
        }
        summed[normal] = true;
        summed_axes[i] = normal;
        columns *= x->shape.dims[normal];
    }
    free_dims->rank = 0;
    for (int i = 0; i < rank; i++) {
        if (!summed[i]) {
            free_dims->dims[free_dims->rank++] = x->shape.dims[i];
            rows *= x->shape.dims[i];
        }
    }
    for (int64_t i = 0; !summed_last && i < count; i++)
        order[position++] = summed_axes[i];
    for (int i = 0; i < rank; i++) {
        if (!summed[i])
            order[position++] = i;
    }
    for (int64_t i = 0; summed_last && i < count; i++)
        order[position++] = summed_axes[i];
    bool in_order = true;
    for (int i = 0; i < rank; i++)
        in_order &= order[i] == i;
    tw_auto tw_tensor *permutation = tw__ints_tensor(order, rank, TW_INT32);
    tw_auto tw_tensor *turned = in_order ? tw_retain(x) : TW_CALL(Transpose, x, permutation);
    int64_t sizes[2] = { summed_last ? rows : columns, summed_last ? columns : rows };
    tw_auto tw_tensor *shape = tw__ints_tensor(sizes, 2, TW_INT64);
    return TW_CALL(Reshape, turned, shape);
}

/* The same by labels, for shapes that are not known yet: a's axes are A, B …, b's are a, b …, and those of a where they are
 * summed. */
static tw_tensor *by_labels(tw_tensor *a, tw_tensor *b, const int64_t *a_axes, const int64_t *b_axes, int64_t count)
{
    char left[TW_MAX_RANK + 1] = "", right[TW_MAX_RANK + 1] = "", out[2 * TW_MAX_RANK + 1] = "", equation[6 * TW_MAX_RANK];
    int size = 0;
    for (int i = 0; i < a->shape.rank; i++)
        left[i] = (char)('A' + i);
    for (int i = 0; i < b->shape.rank; i++)
        right[i] = (char)('a' + i);
    for (int64_t i = 0; i < count; i++) {
        int a_axis, b_axis;
        if (!tw__axis_normal(a_axes[i], a->shape.rank, &a_axis) || !tw__axis_normal(b_axes[i], b->shape.rank, &b_axis)) {
            tw__fail(TW_INVALID_ARGUMENT, "tensordot: the axes %lld and %lld don't lie in ranks %d and %d", (long long)a_axes[i],
                     (long long)b_axes[i], a->shape.rank, b->shape.rank);
            return NULL;
        }
        right[b_axis] = left[a_axis];
    }
    for (int i = 0; i < a->shape.rank; i++) {
        if (!strchr(right, left[i]))
            out[size++] = left[i];
    }
    for (int i = 0; i < b->shape.rank; i++) {
        if (right[i] >= 'a')
            out[size++] = right[i];
    }
    snprintf(equation, sizeof equation, "%s,%s->%s", left, right, out);
    return TW_CALL(Einsum, a, b, TW_A_STRING("equation", equation));
}

TW_API(tensordot, "tensordot|linalg.tensordot(a: tensor<T>, b: tensor<T>, axes: tensor<int32>, name: str = None) -> tensor",
       "Sums products over axes: a number n takes the last n axes of a and the first n of b; [[…], […]] names the axes of each.\n"
       "a: the first tensor\n"
       "b: the second tensor\n"
       "axes: how many axes are summed over, or their numbers in `a` and in `b`\n"
       "example: tf.tensordot([1, 2, 3], [4, 5, 6], 1).numpy()  # 32")
{
    int64_t given[2 * TW_MAX_RANK], a_axes[TW_MAX_RANK], b_axes[TW_MAX_RANK], count;
    if (tw__tensor_read_ints(args->axes, "axes", given, 2 * TW_MAX_RANK) != TW_OK)
        return NULL;
    bool later = args->a->shape.rank < 0 || args->b->shape.rank < 0;
    if (args->axes->shape.rank == 0) {
        count = given[0];
        int rank = later ? TW_MAX_RANK : args->a->shape.rank < args->b->shape.rank ? args->a->shape.rank : args->b->shape.rank;
        if (count < 0)
            tw__fail(TW_VALUE_ERROR, "`axes` must be at least 0. Received: %lld.", (long long)count);
        else if (count > rank)
            tw__fail(
                TW_VALUE_ERROR,
                "`axes` must not be larger than the number of dimensions of the tensors. Received %lld, vs tensor dimensions %d.",
                (long long)count, rank);
        if (count < 0 || count > rank)
            return NULL;
        for (int64_t i = 0; i < count; i++) {
            a_axes[i] = i - count;
            b_axes[i] = i;
        }
    } else {
        if (args->axes->shape.dims[0] != 2) {
            tw__fail(TW_VALUE_ERROR, "`axes` must be an integer or have length 2. Received: axes of shape %s",
                     tw__shape_text(&args->axes->shape));
            return NULL;
        }
        count = args->axes->count / 2;
        memcpy(a_axes, given, (size_t)count * sizeof *given);
        memcpy(b_axes, given + count, (size_t)count * sizeof *given);
    }
    if (later)
        return tw__tensordot_later(args->a, args->b, a_axes, b_axes, count);
    if (!tw__shape_known(&args->a->shape) || !tw__shape_known(&args->b->shape))
        return by_labels(args->a, args->b, a_axes, b_axes, count);
    tw_shape a_free, b_free;
    tw_auto tw_tensor *left = as_matrix(args->a, a_axes, count, true, &a_free);
    tw_auto tw_tensor *right = left ? as_matrix(args->b, b_axes, count, false, &b_free) : NULL;
    tw_auto tw_tensor *matrix = TW_CALL(MatMul, left, right);
    if (!matrix)
        return NULL;
    if (a_free.rank + b_free.rank > TW_MAX_RANK) {
        tw__fail(TW_UNIMPLEMENTED, "tensordot: the result would have rank %d, at most %d are supported",
                 a_free.rank + b_free.rank, TW_MAX_RANK);
        return NULL;
    }
    for (int i = 0; i < b_free.rank; i++)
        a_free.dims[a_free.rank++] = b_free.dims[i];
    tw_auto tw_tensor *shape = tw__tensor_of_shape(&a_free, TW_INT64);
    return TW_CALL(Reshape, matrix, shape);
}
