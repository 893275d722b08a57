/* tf.experimental.numpy: products of vectors and matrices, polynomials, differences. */
#include "api/numpy/numpy.h"

#include "rows.h"

/* The sum of products over the last axis of a and an axis of b. */
static tw_tensor *contracted(tw__temps *t, tw_tensor *a, tw_tensor *b, int64_t axis)
{
    if (!a || !b)
        return NULL;
    if (a->shape.rank == 0 || b->shape.rank == 0)
        return TW_TEMP(Mul, a, b);
    tw_tensor *axes = tw__temp(t, tw_tensor_new(TW_INT32, TW_SHAPE(2, 1), (const int32_t[]){ -1, (int32_t)axis }));
    return axes ? tw__temp(t, tw_tensordot(a, b, axes)) : NULL;
}

TW_API(numpy_dot, "experimental.numpy.dot(a: tensor<common>, b: tensor<common>) -> tensor",
       "The product over the last axis of the one and the last but one of the other.")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->a, args->b };
    return tw__numpy_promote(t, x, 2) == TW_OK ? tw__keep(t, contracted(t, x[0], x[1], x[1]->shape.rank == 1 ? -1 : -2)) : NULL;
}
TW_API(numpy_inner, "experimental.numpy.inner(a: tensor<common>, b: tensor<common>) -> tensor", "The product over the last axes.")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->a, args->b };
    return tw__numpy_promote(t, x, 2) == TW_OK ? tw__keep(t, contracted(t, x[0], x[1], -1)) : NULL;
}
TW_API(numpy_vdot, "experimental.numpy.vdot(a: tensor<common>, b: tensor<common>) -> tensor",
       "The product of all elements, the first conjugate.")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->a, args->b };
    if (tw__numpy_promote(t, x, 2) != TW_OK)
        return NULL;
    tw_tensor *a = tw__dtype_is_complex(x[0]->dtype) ? TW_TEMP(Conj, x[0]) : x[0];
    return tw__keep(t, contracted(t, tw__numpy_flat(t, a), tw__numpy_flat(t, x[1]), -1));
}
TW_API(numpy_matmul, "experimental.numpy.matmul(x1: tensor<common>, x2: tensor<common>) -> tensor", "The product of matrices.")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->x1, args->x2 };
    if (tw__numpy_promote(t, x, 2) != TW_OK)
        return NULL;
    tw_tensor *made = x[1]->shape.rank == 1   ? tw_tensordot(x[0], x[1], tw__temp_int(t, 1, TW_INT32))
                      : x[0]->shape.rank == 1 ? tw__keep(t, contracted(t, x[0], x[1], -2))
                                              : tw_matmul(x[0], x[1]);
    if (!made && tw_error_code() == TW_INVALID_ARGUMENT) {
        char *why = tw__temp_memory(t, tw__format("%s", tw_error_message()));
        tw_clear_error();
        tw__fail(TW_VALUE_ERROR, "%s", why ? why : "matmul");
    }
    return made;
}
TW_API(numpy_tensordot,
       "experimental.numpy.tensordot(a: tensor<common>, b: tensor<common>, axes: tensor<int32> = None shown 2) -> tensor",
       "The product over axes (2).\n"
       "axes: how many axes are summed over, or their numbers in `a` and in `b`; None: 2")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->a, args->b };
    return tw__numpy_promote(t, x, 2) == TW_OK ? tw_tensordot(x[0], x[1], args->axes ? args->axes : tw__temp_int(t, 2, TW_INT32))
                                               : NULL;
}
TW_API(numpy_outer, "experimental.numpy.outer(a: tensor<common>, b: tensor<common>) -> tensor", "The products of all pairs.")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->a, args->b };
    if (tw__numpy_promote(t, x, 2) != TW_OK)
        return NULL;
    return TW_CALL(Mul, tw__temp_reshape(t, x[0], (const int64_t[]){ -1, 1 }, 2), tw__numpy_flat(t, x[1]));
}

TW_API(numpy_kron, "experimental.numpy.kron(a: tensor<common>, b: tensor<common>) -> tensor", "Kronecker's product.")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->a, args->b }, *sizes[2];
    if (!tw__numpy_rank_known(x[0], "kron") || !tw__numpy_rank_known(x[1], "kron") || tw__numpy_promote(t, x, 2) != TW_OK)
        return NULL;
    int rank = x[0]->shape.rank > x[1]->shape.rank ? x[0]->shape.rank : x[1]->shape.rank;
    if (2 * rank > TW_MAX_RANK)
        return TW_NUMPY_VALUE_ERROR("kron: tensors of rank %d, at most %d is supported", rank, TW_MAX_RANK / 2);
    tw_tensor *ones = tw__numpy_ints(t, 1, rank);
    for (int i = 0; i < 2; i++) { /* the axes of both by turns, ones for the other's */
        sizes[i] = tw__temp_shape(t, tw__numpy_wider(t, x[i], rank - x[i]->shape.rank, 0), TW_INT32);
        if (!sizes[i])
            return NULL;
        tw_tensor *pairs = TW_TEMP(Pack, i ? ones : sizes[i], i ? sizes[i] : ones, TW_A_INT("axis", 1));
        x[i] = TW_TEMP(Reshape, x[i], tw__numpy_flat(t, pairs));
    }
    return TW_CALL(Reshape, TW_TEMP(Mul, x[0], x[1]), TW_TEMP(Mul, sizes[0], sizes[1]));
}

TW_API(
    numpy_cross,
    "experimental.numpy.cross(a: tensor<common>, b: tensor<common>, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int = None) -> tensor",
    "The vector that is perpendicular to two.\n"
    "axisa: the dimension of the vectors in `a`\n"
    "axisb: the dimension of the vectors in `b`\n"
    "axisc: the dimension of the vectors in the result\n"
    "axis: one dimension for all three; None: they are as given")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->a, args->b }, *shape[2];
    bool all = args->axis != TW_NO_INT, flat = true;
    if (!tw__numpy_rank_known(x[0], "cross") || !tw__numpy_rank_known(x[1], "cross") || tw__numpy_promote(t, x, 2) != TW_OK)
        return NULL;
    for (int i = 0; i < 2; i++) {
        x[i] = tw__numpy_move(t, x[i], all ? args->axis : i ? args->axisb : args->axisa, -1);
        if (!x[i])
            return NULL;
        int rank = x[i]->shape.rank;
        if (x[i]->shape.dims[rank - 1] == 2) { /* the third is zero */
            int64_t margins[2 * TW_MAX_RANK] = { 0 };
            margins[2 * rank - 1] = 1;
            tw_tensor *paddings =
                tw__temp_reshape(t, tw__temp_ints(t, margins, 2 * rank, TW_INT32), (const int64_t[]){ rank, 2 }, 2);
            x[i] = TW_TEMP(Pad, x[i], paddings);
        } else {
            flat = false;
        }
        shape[i] = x[i] ? tw__temp_shape(t, x[i], TW_INT32) : NULL;
    }
    tw_tensor *common = TW_TEMP(BroadcastArgs, shape[0], shape[1]);
    tw_tensor *made = TW_TEMP(Cross, TW_TEMP(BroadcastTo, x[0], common), TW_TEMP(BroadcastTo, x[1], common));
    if (!flat)
        return tw__keep(t, tw__numpy_move(t, made, -1, all ? args->axis : args->axisc));
    return made ? tw__keep(t, tw__temp_gather(t, made, tw__temp_int(t, 2, TW_INT32), made->shape.rank - 1)) : NULL;
}
TW_API(
    numpy_trace,
    "experimental.numpy.trace(a: tensor<array>, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: dtype<numpy> = None) -> tensor",
    "The sum of a diagonal.\n"
    "offset: which diagonal: 0 the main one, positive ones above it, negative ones below\n"
    "axis1: the dimension of the rows\n"
    "axis2: the dimension of the columns")
{
    TW_TEMPS(t);
    tw_tensor *a = tw__numpy_cast(t, args->a, args->dtype);
    a = a ? tw__numpy_diagonal(t, a, args->offset, args->axis1, args->axis2) : NULL;
    return a ? tw__reduce_axis(&tw__op_Sum, a, -1, false) : NULL;
}
TW_API(
    numpy_einsum,
    "experimental.numpy.einsum(subscripts: str, *operands: tensors<common>, *, casting: str = safe, optimize: value = None) -> tensor",
    "The sum of products that a text describes.\n"
    "subscripts: the labels of the operands' dimensions, and behind `->` those of the result\n"
    "operands: the arrays\n"
    "casting: `safe`: operands of several dtypes get a common one; `no`: they must agree\n"
    "optimize: how an order is found for more than two operands: a name as for `tf.einsum`, or True")
{
    TW_TEMPS(t);
    bool safe = strcmp(args->casting, "safe") == 0;
    if (!safe && strcmp(args->casting, "no") != 0)
        return TW_NUMPY_VALUE_ERROR("Invalid casting policy: %s", args->casting);
    tw_tensors operands = args->operands;
    if (safe && !(operands.items = tw__numpy_promoted(t, operands)))
        return NULL;
    const char *optimize = args->optimize.kind == TW_VALUE_STR                        ? args->optimize.s.data
                           : args->optimize.kind == TW_VALUE_BOOL && args->optimize.b ? "optimal"
                                                                                      : "greedy";
    return tw_einsum(args->subscripts, operands, .optimize = optimize);
}

TW_API(numpy_polyval, "experimental.numpy.polyval(p: tensor<common>, x: tensor<common>) -> tensor",
       "The value of a polynomial whose coefficients begin with that of the highest power.\n"
       "p: the coefficients, the highest first")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->p, args->x };
    if (tw__numpy_promote(t, x, 2) != TW_OK)
        return NULL;
    if (x[0]->shape.rank < 0 || (x[0]->shape.rank > 0 && x[0]->shape.dims[0] < 0))
        return TW_NUMPY_VALUE_ERROR("polyval: the number of coefficients must be known");
    tw_tensor *made = TW_TEMP(ZerosLike, x[1]);
    int64_t count = x[0]->shape.rank ? x[0]->shape.dims[0] : 1;
    for (int64_t i = 0; made && i < count; i++) {
        made = TW_TEMP(AddV2, TW_TEMP(Mul, made, x[1]), x[0]->shape.rank ? tw__temp_at(t, x[0], i) : x[0]);
    }
    return made ? tw_retain(made) : NULL;
}

TW_API(numpy_diff, "experimental.numpy.diff(a: tensor<array>, n: int = 1, axis: int = -1) -> tensor",
       "Distances of neighbours, n times.\n"
       "n: how often differences are taken")
{
    TW_TEMPS(t);
    int axis;
    tw_tensor *a = args->a;
    if (a->shape.rank < 1)
        return TW_NUMPY_VALUE_ERROR("diff: `a` must have at least one dimension, got shape %s", tw__shape_text(&a->shape));
    if (args->n < 0)
        return TW_NUMPY_VALUE_ERROR("order must be non-negative but got %lld", (long long)args->n);
    if (!tw__numpy_axis(a, args->axis, "diff", &axis))
        return NULL;
    a = tw__numpy_move(t, a, axis, 0); /* that slices are those of the first axis */
    for (int64_t i = 0; a && i < args->n; i++) {
        tw_tensor *after = tw__temp_slice(t, a, 1, TW_NO_INT), *before = tw__temp_slice(t, a, 0, -1);
        a = a->dtype == TW_BOOL ? TW_TEMP(NotEqual, after, before) : TW_TEMP(Sub, after, before);
        if (a && a->shape.dims[0] == 0)
            break; /* it stays so */
    }
    return tw__keep(t, tw__numpy_move(t, a, 0, axis));
}
