/* tf.experimental.numpy: tensors made of values, of a shape or by a rule; random numbers. */
#include "api/numpy/numpy.h"

#include <math.h>

#include "api/composite.h"
#include "rows.h"

TW_API(numpy_array,
       "experimental.numpy.array(val: tensor<array>, dtype: dtype<numpy> = None, copy: bool = True, ndmin: int = 0) -> tensor",
       "The value as a tensor of at least ndmin dimensions; copy: a new one.\n"
       "ndmin: how many dimensions there are at least; new ones of length 1 stand in front")
{
    TW_TEMPS(t);
    tw_tensor *made = tw__numpy_cast(t, args->val, args->dtype);
    if (args->copy && made == args->val)
        made = TW_TEMP(Identity, made);
    if (args->ndmin > TW_MAX_RANK)
        return TW_NUMPY_VALUE_ERROR("array: ndmin is %lld, at most %d is supported", (long long)args->ndmin, TW_MAX_RANK);
    if (args->ndmin > 0 && made && tw__numpy_rank_known(made, "array"))
        made = tw__numpy_wider(t, made, (int)args->ndmin - made->shape.rank, 0);
    return made ? tw_retain(made) : NULL;
}
TW_API(numpy_asarray,
       "experimental.numpy.asarray|experimental.numpy.asanyarray(a: tensor<array>, dtype: dtype<numpy> = None) -> tensor",
       "The value as a tensor: of Python's floats float64, of its integers int64, unless a dtype is asked for.")
{
    return args->dtype == TW_DTYPE_NONE ? tw_retain(args->a) : tw__cast(args->a, args->dtype);
}
TW_API(numpy_ascontiguousarray, "experimental.numpy.ascontiguousarray(a: tensor<array>, dtype: dtype<numpy> = None) -> tensor",
       "The value as a tensor of at least one dimension.")
{
    return tw_numpy_array(args->a, .dtype = args->dtype, .copy = false, .ndmin = 1);
}
TW_API(numpy_copy, "experimental.numpy.copy(a: tensor<array>) -> tensor", "Another tensor of the same elements.")
{
    return TW_CALL(Identity, args->a);
}

/* ---- of a shape ---- */

static tw_tensor *filled(tw_tensor *shape, double value, tw_dtype dtype)
{
    TW_TEMPS(t);
    dtype = dtype == TW_DTYPE_NONE ? tw__numpy_float() : dtype;
    tw_tensor *number = tw__temp(t, tw__grad_constant(value, &(tw_tensor){ .dtype = dtype }));
    return TW_CALL(Fill, shape->shape.rank ? shape : tw__numpy_flat(t, shape), number);
}

TW_API(numpy_zeros,
       "experimental.numpy.zeros|experimental.numpy.empty(shape: tensor<int32>, dtype: dtype<numpy> = None) -> tensor",
       "Zeros: nothing is left undefined.")
{
    return filled(args->shape, 0, args->dtype);
}
TW_API(numpy_ones, "experimental.numpy.ones(shape: tensor<int32>, dtype: dtype<numpy> = None) -> tensor", "Ones.")
{
    return filled(args->shape, 1, args->dtype);
}
TW_API(numpy_zeros_like,
       "experimental.numpy.zeros_like|experimental.numpy.empty_like(a: tensor<array>, dtype: dtype<numpy> = None) -> tensor",
       "Zeros of the shape, and the dtype unless one is given.")
{
    return tw_zeros_like(args->a, .dtype = args->dtype);
}
TW_API(numpy_ones_like, "experimental.numpy.ones_like(a: tensor<array>, dtype: dtype<numpy> = None) -> tensor", "Ones, likewise.")
{
    return tw_ones_like(args->a, .dtype = args->dtype);
}
TW_API(numpy_full,
       "experimental.numpy.full(shape: tensor<int32>, fill_value: tensor<array>, dtype: dtype<numpy> = None) -> tensor",
       "A value everywhere.\n"
       "fill_value: the value; it is broadcast to the shape")
{
    TW_TEMPS(t);
    return tw__keep(t, tw__numpy_spread(t, tw__numpy_cast(t, args->fill_value, args->dtype), args->shape));
}
TW_API(
    numpy_full_like,
    "experimental.numpy.full_like(a: tensor<array>, fill_value: tensor<array>, dtype: dtype<numpy> = None, order: str = K, subok: bool = True, shape: value = None) -> tensor",
    "A value everywhere, of the shape and dtype of another tensor.\n"
    "fill_value: the value\n"
    "order: must be `K`\n"
    "subok: must be True\n"
    "shape: must be None")
{
    TW_TEMPS(t);
    if (strcmp(args->order, "K") != 0)
        return TW_NUMPY_VALUE_ERROR("Non-standard orders are not supported.");
    if (!args->subok)
        return TW_NUMPY_VALUE_ERROR("subok being False is not supported.");
    if (args->shape.kind != TW_VALUE_NONE)
        return TW_NUMPY_VALUE_ERROR("Overriding the shape is not supported.");
    tw_tensor *value = tw__temp_cast(t, args->fill_value, args->dtype == TW_DTYPE_NONE ? args->a->dtype : args->dtype);
    return TW_CALL(BroadcastTo, value, tw__temp_shape(t, args->a, TW_INT32));
}
TW_API(numpy_broadcast_to, "experimental.numpy.broadcast_to(array: tensor<array>, shape: tensor<int32>) -> tensor",
       "Repeated up to a shape.\n"
       "array: an array, or what can become one")
{
    TW_TEMPS(t);
    return tw__keep(t, tw__numpy_spread(t, args->array, args->shape));
}

/* ---- triangles ---- */

/* row + k as a column, and the columns. */
static tw_tensor *compared(tw__temps *t, const tw_op *op, tw_tensor *rows, tw_tensor *columns, int64_t k)
{
    tw_tensor *down = TW_TEMP(AddV2, tw__temp_range(t, rows), tw__temp_int(t, k, TW_INT32));
    return TW_TEMP_OP(op, TW_TEMP(ExpandDims, down, 1), tw__temp_range(t, columns));
}

static tw_tensor *matrix(const tw_op *op, int64_t rows, int64_t columns, int64_t k, tw_dtype dtype)
{
    TW_TEMPS(t);
    if (columns == TW_NO_INT)
        columns = rows;
    if (rows > INT32_MAX || columns > INT32_MAX || k != (int32_t)k)
        return TW_NUMPY_VALUE_ERROR("a matrix of %lld by %lld with diagonal %lld", (long long)rows, (long long)columns,
                                    (long long)k);
    tw_tensor *made = compared(t, op, tw__temp_int(t, rows, TW_INT32), tw__temp_int(t, columns, TW_INT32), k);
    return tw__cast(made, dtype == TW_DTYPE_NONE ? tw__numpy_float() : dtype);
}

TW_API(numpy_eye, "experimental.numpy.eye(N: int, M: int = None, k: int = 0, dtype: dtype<numpy> = None) -> tensor",
       "Ones on a diagonal.\n"
       "N: how many rows there are\n"
       "M: how many columns there are; None: as many as rows\n"
       "k: which diagonal: 0 the main one, positive ones above it, negative ones below")
{
    return matrix(&tw__op_Equal, args->N, args->M, args->k, args->dtype);
}
TW_API(numpy_identity, "experimental.numpy.identity(n: int, dtype: dtype<numpy> = None) -> tensor",
       "The identity matrix.\n"
       "n: how many rows and columns there are")
{
    return matrix(&tw__op_Equal, args->n, args->n, 0, args->dtype);
}
TW_API(numpy_tri, "experimental.numpy.tri(N: int, M: int = None, k: int = 0, dtype: dtype<numpy> = None) -> tensor",
       "Ones at and below a diagonal.\n"
       "N: how many rows there are\n"
       "M: how many columns there are; None: as many as rows\n"
       "k: which diagonal: 0 the main one, positive ones above it, negative ones below")
{
    return matrix(&tw__op_GreaterEqual, args->N, args->M, args->k, args->dtype);
}

static tw_tensor *triangle(tw_tensor *m, int64_t k, bool lower)
{
    TW_TEMPS(t);
    if (m->shape.rank < 2)
        return TW_NUMPY_VALUE_ERROR("Argument to %s must have rank at least 2", lower ? "tril" : "triu");
    tw_tensor *sizes = tw__temp_shape(t, m, TW_INT32), *rows = tw__temp_at(t, sizes, m->shape.rank - 2),
              *columns = tw__temp_at(t, sizes, m->shape.rank - 1);
    tw_tensor *kept = compared(t, lower ? &tw__op_GreaterEqual : &tw__op_LessEqual, rows, columns, k);
    return TW_CALL(SelectV2, kept, m, TW_TEMP(ZerosLike, m));
}

TW_API(numpy_tril, "experimental.numpy.tril(m: tensor<array>, k: int = 0) -> tensor",
       "What is at and below a diagonal, zeros above.\n"
       "k: which diagonal: 0 the main one, positive ones above it, negative ones below")
{
    return triangle(args->m, args->k, true);
}
TW_API(numpy_triu, "experimental.numpy.triu(m: tensor<array>, k: int = 0) -> tensor",
       "What is at and above a diagonal, zeros below.\n"
       "k: which diagonal: 0 the main one, positive ones above it, negative ones below")
{
    return triangle(args->m, args->k, false);
}

/* ---- diagonals ---- */

tw_tensor *tw__numpy_diagonal(tw__temps *t, tw_tensor *x, int64_t offset, int64_t axis1, int64_t axis2)
{
    int first, second, place = 0, rank = x->shape.rank;
    int64_t order[TW_MAX_RANK];
    if (!tw__numpy_axis(x, axis1, "diagonal", &first) || !tw__numpy_axis(x, axis2, "diagonal", &second))
        return NULL;
    if (first == second)
        return TW_NUMPY_VALUE_ERROR("diagonal: axis1 and axis2 cannot be the same");
    for (int i = 0; i < rank; i++) {
        if (i != first && i != second)
            order[place++] = i;
    }
    order[place++] = first, order[place] = second;
    x = TW_TEMP(Transpose, x, tw__temp_ints(t, order, rank, TW_INT32));
    if (!x)
        return NULL;
    int64_t rows = x->shape.dims[rank - 2], columns = x->shape.dims[rank - 1];
    if (rows >= 0 && columns >= 0 && (offset >= columns || offset <= -rows)) {
        tw_tensor *sizes =
            tw__temp_concat(t, TW_IN(tw__temp_slice(t, tw__temp_shape(t, x, TW_INT32), TW_NO_INT, -2), tw__numpy_ints(t, 0, 1)),
                            2, 0);
        return tw__temp_zeros(t, sizes, x->dtype);
    }
    return tw__temp(t, tw_linalg_diag_part(x, .k = tw__temp_int(t, offset, TW_INT32)));
}

static tw_tensor *diagonal_matrix(tw_tensor *vector, int64_t k)
{
    TW_TEMPS(t);
    return vector && k == (int32_t)k ? tw_linalg_diag(vector, .k = tw__temp_int(t, k, TW_INT32)) : NULL;
}

TW_API(numpy_diag, "experimental.numpy.diag(v: tensor<array>, k: int = 0) -> tensor",
       "The matrix with a diagonal, or the diagonal of a matrix.\n"
       "k: which diagonal: 0 the main one, positive ones above it, negative ones below")
{
    TW_TEMPS(t);
    if (args->v->shape.rank != 1 && args->v->shape.rank != 2)
        return TW_NUMPY_VALUE_ERROR("diag: the argument must be 1- or 2-dimensional, got shape %s",
                                    tw__shape_text(&args->v->shape));
    return args->v->shape.rank == 1 ? diagonal_matrix(args->v, args->k)
                                    : tw__keep(t, tw__numpy_diagonal(t, args->v, args->k, 0, 1));
}
TW_API(numpy_diagflat, "experimental.numpy.diagflat(v: tensor<array>, k: int = 0) -> tensor",
       "The matrix whose diagonal has all elements.\n"
       "k: which diagonal: 0 the main one, positive ones above it, negative ones below")
{
    TW_TEMPS(t);
    return diagonal_matrix(tw__numpy_flat(t, args->v), args->k);
}
TW_API(numpy_diagonal, "experimental.numpy.diagonal(a: tensor<array>, offset: int = 0, axis1: int = 0, axis2: int = 1) -> tensor",
       "A diagonal, as the last axis.\n"
       "offset: which diagonal: 0 the main one, positive ones above it, negative ones below\n"
       "axis1: the dimension of the rows\n"
       "axis2: the dimension of the columns")
{
    TW_TEMPS(t);
    return tw__keep(t, tw__numpy_diagonal(t, args->a, args->offset, args->axis1, args->axis2));
}
TW_API(numpy_diag_indices, "experimental.numpy.diag_indices(n: int, ndim: int = 2) -> value",
       "The indices of a diagonal.\n"
       "n: the length of the diagonal\n"
       "ndim: how many dimensions the array has")
{
    TW_TEMPS(t);
    tw_value none = { .kind = TW_VALUE_NONE };
    if (args->n < 0 || args->ndim < 0 || args->n > INT32_MAX || args->ndim > INT32_MAX) {
        bool n = args->n < 0 || args->n > INT32_MAX;
        tw__fail(TW_VALUE_ERROR, "Argument `%s` must be a non-negative integer. Received %s=%lld", n ? "n" : "ndim",
                 n ? "n" : "ndim", (long long)(n ? args->n : args->ndim));
        return none;
    }
    tw_tensor *places = tw__temp_range(t, tw__temp_int(t, args->n, TW_INT32));
    tw_value *items = places ? tw__alloc_array((size_t)args->ndim + 1, sizeof *items) : NULL;
    if (!items)
        return none;
    for (int64_t i = 0; i < args->ndim; i++)
        items[i] = TW_LEAF(tw_retain(places));
    return (tw_value){ .kind = TW_VALUE_TUPLE, .list = { items, args->ndim, NULL } };
}
TW_API(numpy_vander, "experimental.numpy.vander(x: tensor<array>, N: int = None, increasing: bool = False) -> tensor",
       "Powers of the elements, a column each.\n"
       "N: how many columns there are; None: as many as rows\n"
       "increasing: True: the powers rise from left to right")
{
    TW_TEMPS(t);
    tw_tensor *x = args->x;
    if (x->shape.rank != 1)
        return TW_NUMPY_VALUE_ERROR("x must be a one-dimensional array");
    if (args->N != TW_NO_INT && (args->N < 0 || args->N > INT32_MAX))
        return TW_NUMPY_VALUE_ERROR("N must be nonnegative");
    tw_tensor *count =
        args->N == TW_NO_INT ? tw__temp_at(t, tw__temp_shape(t, x, TW_INT32), 0) : tw__temp_int(t, args->N, TW_INT32);
    tw_tensor *powers = tw__temp_range(t, count);
    if (!args->increasing)
        powers = TW_TEMP(ReverseV2, powers, tw__numpy_ints(t, 0, 1));
    return TW_CALL(Pow, TW_TEMP(ExpandDims, x, 1), tw__numpy_cast(t, powers, x->dtype));
}

/* ---- numbers in a row ---- */

TW_API(
    numpy_arange,
    "experimental.numpy.arange(start: tensor<common>, stop: tensor<common> = None, step: tensor<common> = None, dtype: dtype<numpy> = None) -> tensor",
    "Numbers from start up to stop, by step (1).\n"
    "stop: the bound, which does not belong to the result; None: `start` is the bound, and the numbers begin with 0\n"
    "step: the distance between two numbers; None: 1\n"
    "example: tf.experimental.numpy.arange(3).numpy().tolist()  # [0, 1, 2]")
{
    TW_TEMPS(t);
    tw_tensor *x[] = { args->start, args->stop, args->step };
    if (tw__numpy_promote(t, x, 3) != TW_OK)
        return NULL;
    tw_dtype dtype = args->dtype == TW_DTYPE_NONE ? x[0]->dtype : args->dtype;
    tw_dtype made = dtype == TW_INT32 || dtype == TW_INT64 || dtype == TW_FLOAT32 ? dtype : TW_FLOAT64;
    tw_tensor *zero = tw__temp(t, tw__grad_constant(0, x[0])), *one = tw__temp(t, tw__grad_constant(1, x[0]));
    if (!x[1])
        x[1] = x[0], x[0] = zero;
    x[2] = x[2] ? x[2] : one;
    if (!x[0] || !x[1] || !x[2])
        return NULL;
    if (x[2]->data && tw_tensor_double_at(x[2], 0) == 0)
        return TW_NUMPY_VALUE_ERROR("step must be non-zero.");
    if (x[0]->data && x[1]->data && x[2]->data) { /* none of them: the op refuses that */
        double distance = tw_tensor_double_at(x[1], 0) - tw_tensor_double_at(x[0], 0);
        if (tw_tensor_double_at(x[2], 0) > 0 ? distance < 0 : distance > 0)
            return tw_tensor_new(dtype, TW_SHAPE(0), NULL);
    }
    return tw__cast(TW_TEMP(Range, tw__temp_cast(t, x[0], made), tw__temp_cast(t, x[1], made), tw__temp_cast(t, x[2], made)),
                    dtype);
}

/* Both of a dtype of floats. */
static tw_status ends_as(tw__temps *t, tw_tensor **ends, tw_dtype dtype)
{
    if (dtype == TW_DTYPE_NONE || !(tw__dtype_is_float(dtype) || tw__dtype_is_complex(dtype))) {
        dtype = tw__numpy_float();
        if (tw__dtype_is_complex(ends[0]->dtype) || tw__dtype_is_complex(ends[1]->dtype))
            dtype = dtype == TW_FLOAT32 ? TW_COMPLEX64 : TW_COMPLEX128;
    }
    ends[0] = tw__temp_cast(t, ends[0], dtype);
    ends[1] = tw__temp_cast(t, ends[1], dtype);
    return ends[0] && ends[1] ? TW_OK : tw_error_code();
}

/* num numbers from one to the other, and their distance; endpoint: the last is the end. */
static tw_tensor *spaced(tw__temps *t, tw_tensor **ends, int64_t num, bool endpoint, int64_t axis, tw_tensor **step)
{
    if (num < 0)
        return TW_NUMPY_VALUE_ERROR("Argument `num` (number of samples) must be a non-negative integer. Received num=%lld",
                                    (long long)num);
    int64_t parts = endpoint ? num - 1 : num > 1 ? num : 1;
    *step = parts > 0 ? TW_TEMP(RealDiv, TW_TEMP(Sub, ends[1], ends[0]), (double)parts)
                      : tw__temp(t, tw__grad_constant(NAN, ends[0]));
    if (num == 0)
        return tw__temp(t, tw_tensor_new(ends[0]->dtype, TW_SHAPE(0), NULL));
    tw_tensor *last = endpoint ? ends[1] : TW_TEMP(Sub, ends[1], *step);
    return last ? tw__temp(t, tw_linspace(ends[0], last, num, .axis = axis)) : NULL;
}

TW_API(
    numpy_linspace,
    "experimental.numpy.linspace(start: tensor<array>, stop: tensor<array>, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: dtype<numpy> = None, axis: int = 0) -> value",
    "Numbers at the same distance; retstep: the distance, too.\n"
    "endpoint: False: the last number does not belong to the result\n"
    "retstep: True: give the distance, too")
{
    TW_TEMPS(t);
    tw_value none = { .kind = TW_VALUE_NONE };
    tw_tensor *ends[] = { tw__numpy_cast(t, args->start, args->dtype), tw__numpy_cast(t, args->stop, args->dtype) }, *step;
    if (!ends[0] || !ends[1] || ends_as(t, ends, args->dtype) != TW_OK)
        return none;
    tw_tensor *made = tw__numpy_cast(t, spaced(t, ends, args->num, args->endpoint, args->axis, &step), args->dtype);
    if (!made)
        return none;
    return args->retstep ? tw__numpy_pair(tw_retain(made), step ? tw_retain(step) : NULL) : TW_LEAF(tw_retain(made));
}

TW_API(
    numpy_logspace,
    "experimental.numpy.logspace(start: tensor<array>, stop: tensor<array>, num: int = 50, endpoint: bool = True, base: tensor<array> = None shown 10.0, dtype: dtype<numpy> = None, axis: int = 0) -> tensor",
    "Powers of the base (10) whose exponents are at the same distance.\n"
    "start: the first exponent\n"
    "stop: the last exponent\n"
    "endpoint: False: the last number does not belong to the result\n"
    "base: the base; None: 10")
{
    TW_TEMPS(t);
    tw_tensor *ends[] = { tw__numpy_cast(t, args->start, args->dtype), tw__numpy_cast(t, args->stop, args->dtype) }, *step;
    if (!ends[0] || !ends[1] || ends_as(t, ends, args->dtype) != TW_OK)
        return NULL;
    tw_tensor *powers = tw__numpy_cast(t, spaced(t, ends, args->num, args->endpoint, args->axis, &step), args->dtype);
    if (!powers)
        return NULL;
    tw_tensor *base = args->base ? tw__temp_cast(t, args->base, powers->dtype) : tw__temp(t, tw__grad_constant(10, powers));
    return TW_CALL(Pow, base, powers);
}

TW_API(
    numpy_geomspace,
    "experimental.numpy.geomspace(start: tensor<array>, stop: tensor<array>, num: int = 50, endpoint: bool = True, dtype: dtype<numpy> = None, axis: int = 0) -> tensor",
    "Numbers whose quotients are the same.\n"
    "endpoint: False: the last number does not belong to the result")
{
    TW_TEMPS(t);
    tw_tensor *ends[] = { args->start, args->stop }, *step;
    tw__numpy_types types = { 0 };
    tw__numpy_add(&types, args->start->dtype);
    tw__numpy_add(&types, args->stop->dtype);
    tw__numpy_add(&types, tw__numpy_float());
    tw_dtype dtype = args->dtype != TW_DTYPE_NONE ? args->dtype : tw__numpy_result(&types);
    if (dtype == TW_DTYPE_NONE)
        return NULL;
    if (ends_as(t, ends, dtype) != TW_OK)
        return NULL;
    tw_tensor *negative = TW_TEMP(LogicalAnd, TW_TEMP(Less, ends[0], 0.0), TW_TEMP(Less, ends[1], 0.0));
    tw_tensor *one = TW_TEMP(OnesLike, ends[0]), *sign = TW_TEMP(SelectV2, negative, TW_TEMP(Neg, one), one);
    for (int i = 0; i < 2; i++)
        ends[i] = TW_TEMP(Log, TW_TEMP(Mul, ends[i], sign));
    tw_tensor *logs = ends[0] && ends[1] ? spaced(t, ends, args->num, args->endpoint, args->axis, &step) : NULL;
    return tw__cast(TW_TEMP(Mul, TW_TEMP(Exp, logs), sign), dtype);
}

/* ---- random numbers ---- */

/* The shape that an argument says; without one that of a number. */
static tw_tensor *size_of(tw__temps *t, tw_tensor *size)
{
    return !size ? tw__numpy_ints(t, 0, 0) : size->shape.rank == 0 ? tw__numpy_flat(t, size) : size;
}

TW_API(numpy_random_standard_normal, "experimental.numpy.random.standard_normal(size: tensor<int32> = None) -> tensor",
       "Numbers of the normal distribution.\n"
       "size: the shape of the result; None: a single number")
{
    TW_TEMPS(t);
    return tw_random_normal(size_of(t, args->size), .dtype = tw__numpy_float());
}
TW_API(
    numpy_random_uniform,
    "experimental.numpy.random.uniform(low: tensor<array> = None shown 0.0, high: tensor<array> = None shown 1.0, size: tensor<int32> = None) -> tensor",
    "Numbers between low (0) and high (1).\n"
    "low: the least number; None: 0\n"
    "high: the bound above all numbers; None: 1\n"
    "size: the shape of the result; None: that of the bounds")
{
    TW_TEMPS(t);
    tw_dtype dtype = tw__numpy_float();
    tw_tensor *low = args->low ? tw__temp_cast(t, args->low, dtype) : tw__temp_float(t, dtype, 0),
              *high = args->high ? tw__temp_cast(t, args->high, dtype) : tw__temp_float(t, dtype, 1);
    if (!low || !high)
        return NULL;
    tw_tensor *size = args->size ? size_of(t, args->size)
                                 : TW_TEMP(BroadcastArgs, tw__temp_shape(t, low, TW_INT32), tw__temp_shape(t, high, TW_INT32));
    return size ? tw_random_uniform(size, .minval = low, .maxval = high, .dtype = dtype) : NULL;
}
TW_API(numpy_random_random, "experimental.numpy.random.random(size: tensor<int32> = None) -> tensor",
       "Numbers between 0 and 1.\n"
       "size: the shape of the result; None: a single number")
{
    return tw_numpy_random_uniform(.size = args->size);
}
TW_API(numpy_random_poisson,
       "experimental.numpy.random.poisson(lam: tensor<float32> = None shown 1.0, size: tensor<int32> = None) -> tensor",
       "Numbers of Poisson's distribution of a rate (1).\n"
       "lam: the rate; None: 1\n"
       "size: how many numbers are drawn for each rate, as a shape; None: one")
{
    TW_TEMPS(t);
    return tw_random_poisson(size_of(t, args->size), args->lam ? args->lam : tw__temp_float(t, TW_FLOAT32, 1), .dtype = TW_INT64);
}
TW_API(
    numpy_random_randint,
    "experimental.numpy.random.randint(low: int, high: int = None, size: tensor<int32> = None, dtype: dtype<numpy> = int64) -> tensor",
    "Whole numbers from low up to high.\n"
    "low: the least number; without `high` the bound, and numbers begin with 0\n"
    "high: the bound above all numbers\n"
    "size: the shape of the result; None: a single number")
{
    TW_TEMPS(t);
    bool one = args->high == TW_NO_INT;
    if (args->dtype != TW_INT32 && args->dtype != TW_INT64)
        return TW_NUMPY_VALUE_ERROR(
            "Argument `dtype` got an invalid value %s. Only those convertible to (int32, int64) are supported.",
            tw_dtype_name(args->dtype));
    return tw_random_uniform(size_of(t, args->size), .minval = tw__temp_int(t, one ? 0 : args->low, args->dtype),
                             .maxval = tw__temp_int(t, one ? args->low : args->high, args->dtype), .dtype = args->dtype);
}
