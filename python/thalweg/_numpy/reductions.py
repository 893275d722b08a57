"""Reductions, sums along axes, products of matrices of tf.experimental.numpy."""
import numpy as np

import thalweg as tf
from thalweg._numpy.elementwise import MEMBERS as _elementwise
from thalweg._numpy.types import as_axis, asarray, default_float, dtype_of, floating, promoted


def _wide(a):
    """Whole numbers of few bits, and truths, as the widest of their kind."""
    if a.dtype == tf.bool:
        return tf.cast(a, tf.int64)
    if a.dtype.is_integer and a.dtype.size < 8:
        return tf.cast(a, tf.uint64 if a.dtype.is_unsigned else tf.int64)
    return a


def _narrow_enough(dtype):
    return dtype.is_integer or dtype == tf.bool


def _reduced(compute, a, axis, dtype, keepdims, prepare):
    a = asarray(a, dtype)
    if dtype is None and _narrow_enough(a.dtype):
        a = prepare(a)
    return compute(a, axis=as_axis(axis), keepdims=bool(keepdims))


def sum(a, axis=None, dtype=None, keepdims=None):
    """The sum."""
    return _reduced(tf.reduce_sum, a, axis, dtype, keepdims, _wide)


def prod(a, axis=None, dtype=None, keepdims=None):
    """The product."""
    return _reduced(tf.reduce_prod, a, axis, dtype, keepdims, _wide)


def _no_out(out):
    if out is not None:
        raise ValueError("Setting out is not supported.")


def mean(a, axis=None, dtype=None, out=None, keepdims=None):
    """The mean."""
    _no_out(out)
    return _reduced(tf.reduce_mean, a, axis, dtype, keepdims, floating)


def _extreme(of_truths, of_numbers, a, axis, keepdims):
    a = asarray(a)
    return (of_truths if a.dtype == tf.bool else of_numbers)(a, axis=as_axis(axis), keepdims=bool(keepdims))


def amax(a, axis=None, out=None, keepdims=None):
    """The greatest element."""
    _no_out(out)
    return _extreme(tf.reduce_any, tf.reduce_max, a, axis, keepdims)


def amin(a, axis=None, out=None, keepdims=None):
    """The least element."""
    _no_out(out)
    return _extreme(tf.reduce_all, tf.reduce_min, a, axis, keepdims)


def max(a, axis=None, keepdims=None):
    """The greatest element."""
    return amax(a, axis, keepdims=keepdims)


def min(a, axis=None, keepdims=None):
    """The least element."""
    return amin(a, axis, keepdims=keepdims)


def ptp(a, axis=None, keepdims=None):
    """The distance of the greatest element from the least."""
    return amax(a, axis, keepdims=keepdims) - amin(a, axis, keepdims=keepdims)


def _count(a, axis):
    """How many elements each sum is of."""
    shape = tf.shape(a)
    return tf.reduce_prod(shape if axis is None else tf.gather(shape, tf.math.floormod(tf.reshape(axis, [-1]), tf.rank(a))))


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=None):
    """The mean of the squares of distances from the mean; ddof is taken from the number of elements."""
    _no_out(out)
    wanted = dtype_of(dtype)
    a = asarray(a)
    if not a.dtype.is_floating and not a.dtype.is_complex or wanted is not None and wanted.is_floating and wanted.size > a.dtype.size:
        a = tf.cast(a, wanted if wanted is not None and wanted.is_floating else default_float())
    axis = as_axis(axis)
    distance = a - tf.reduce_mean(a, axis=axis, keepdims=True)
    squares = tf.math.real(distance * tf.math.conj(distance)) if a.dtype.is_complex else tf.math.square(distance)
    if not ddof:
        made = tf.reduce_mean(squares, axis=axis, keepdims=bool(keepdims))
    else:
        made = tf.reduce_sum(squares, axis=axis, keepdims=bool(keepdims)) / tf.cast(_count(a, axis) - ddof, squares.dtype)
    return made if wanted is None else tf.cast(made, wanted)


def std(a, axis=None, keepdims=None):
    """The root of the variance."""
    return tf.math.sqrt(var(a, axis, keepdims=keepdims))


def _all_true(compute):
    return lambda a, axis, keepdims: compute(asarray(a, tf.bool), axis=as_axis(axis), keepdims=bool(keepdims))


def all(a, axis=None, keepdims=None):
    """Whether all elements are true."""
    return _all_true(tf.reduce_all)(a, axis, keepdims)


def any(a, axis=None, keepdims=None):
    """Whether an element is true."""
    return _all_true(tf.reduce_any)(a, axis, keepdims)


def count_nonzero(a, axis=None):
    """How many elements are not zero."""
    return tf.math.count_nonzero(asarray(a), as_axis(axis))


def _without_nan(a, value, dtype):
    a = asarray(a, dtype)
    if not a.dtype.is_floating and not a.dtype.is_complex:
        return a
    return tf.where(_elementwise["isnan"](a), tf.constant(value, a.dtype), a)


def nansum(a, axis=None, dtype=None, keepdims=False):
    """The sum of what is a number."""
    return sum(_without_nan(a, 0, dtype), axis, dtype, keepdims)


def nanprod(a, axis=None, dtype=None, keepdims=False):
    """The product of what is a number."""
    return prod(_without_nan(a, 1, dtype), axis, dtype, keepdims)


def nanmean(a, axis=None, dtype=None, keepdims=None):
    """The mean of what is a number."""
    a = asarray(a, dtype)
    if not a.dtype.is_floating and not a.dtype.is_complex:
        return mean(a, axis, dtype, keepdims=keepdims)
    there = tf.logical_not(_elementwise["isnan"](a))
    return nansum(a, axis, dtype, keepdims) / tf.reduce_sum(tf.cast(there, a.dtype), axis=as_axis(axis), keepdims=bool(keepdims))


def _along(compute, a, axis, dtype):
    a = asarray(a, dtype)
    if dtype is None and _narrow_enough(a.dtype) and a.dtype.size < 8:
        a = tf.cast(a, tf.int64)
    if axis is None:
        a, axis = tf.reshape(a, [-1]), 0
    return compute(a, axis)


def cumsum(a, axis=None, dtype=None):
    """Sums up to each element."""
    return _along(tf.math.cumsum, a, axis, dtype)


def cumprod(a, axis=None, dtype=None):
    """Products up to each element."""
    return _along(tf.math.cumprod, a, axis, dtype)


def average(a, axis=None, weights=None, returned=False):
    """The mean, with weights if there are any; returned: their sum, too."""
    if axis is not None and not isinstance(axis, int):
        raise ValueError("The `axis` parameter must be an int or None, got %r" % (axis,))
    a = floating(a)
    if weights is None:
        made = tf.reduce_mean(a, axis)
        count = tf.cast(tf.size(a) if axis is None else tf.shape(a)[axis], made.dtype)
        return (made, tf.broadcast_to(count, tf.shape(made))) if returned else made
    a, weights = promoted(a, weights)
    weights = floating(weights)
    a = tf.cast(a, weights.dtype)
    if weights.shape.rank == 1 and a.shape.rank != 1:
        if axis is None:
            raise ValueError("average: `axis` must be given if shapes of `a` and `weights` differ")
        shape = np.ones(a.shape.rank, int)
        shape[axis] = -1
        weights = tf.broadcast_to(tf.reshape(weights, shape), tf.shape(a))
    total = tf.reduce_sum(weights, axis)
    made = tf.reduce_sum(a * weights, axis) / total
    return (made, total) if returned else made


def _position(compute, a, axis):
    a = asarray(a)
    if a.dtype == tf.bool:
        a = tf.cast(a, tf.int8)
    if axis is None or a.shape.rank == 0:
        a, axis = tf.reshape(a, [-1]), 0
    return compute(a, axis)


def argmax(a, axis=None):
    """Where the greatest element is."""
    return _position(tf.argmax, a, axis)


def argmin(a, axis=None):
    """Where the least element is."""
    return _position(tf.argmin, a, axis)


def _checked_order(kind, order, allowed):
    if kind not in allowed:
        raise ValueError("Only the following sorting algorithms are supported: %s, got %r" % (", ".join(map(repr, allowed)), kind))
    if order is not None:
        raise ValueError("The `order` argument is not supported. Pass order=None")


def argsort(a, axis=-1, kind="quicksort", order=None):
    """Where the elements are, from the least on."""
    _checked_order(kind, order, ("quicksort", "stable"))
    a = asarray(a)
    if a.dtype == tf.bool:
        a = tf.cast(a, tf.int8)
    if axis is None or a.shape.rank == 0:
        a, axis = tf.reshape(a, [-1]), -1
    return tf.cast(tf.argsort(a, axis, stable=kind == "stable"), tf.int64)


def sort(a, axis=-1, kind="quicksort", order=None):
    """The elements, from the least on."""
    _checked_order(kind, order, ("quicksort",))
    a = asarray(a)
    return tf.sort(tf.reshape(a, [-1])) if axis is None else tf.sort(a, axis)


def _contracted(a, b, second):
    if a.shape.rank == 0 or b.shape.rank == 0:
        return a * b
    return tf.tensordot(a, b, axes=[[-1], [second(b)]])


def dot(a, b):
    """The product over the last axis of the one and the last but one of the other."""
    return _contracted(*promoted(a, b), lambda b: -1 if b.shape.rank == 1 else -2)


def inner(a, b):
    """The product over the last axes."""
    return _contracted(*promoted(a, b), lambda b: -1)


def vdot(a, b):
    """The product of all elements, the first conjugate."""
    a, b = (tf.reshape(v, [-1]) for v in promoted(a, b))
    return dot(tf.math.conj(a) if a.dtype.is_complex else a, b)


def matmul(x1, x2):
    """The product of matrices."""
    a, b = promoted(x1, x2)
    try:
        if b.shape.rank == 1:
            return tf.tensordot(a, b, axes=1)
        if a.shape.rank == 1:
            return tf.tensordot(a, b, axes=[[0], [-2]])
        return tf.matmul(a, b)
    except tf.errors.InvalidArgumentError as error:
        raise ValueError(str(error)) from None


def tensordot(a, b, axes=2):
    """The product over axes."""
    return tf.tensordot(*promoted(a, b), axes=axes)


def outer(a, b):
    """The products of all pairs."""
    a, b = promoted(a, b)
    return tf.reshape(a, [-1, 1]) * tf.reshape(b, [-1])


def kron(a, b):
    """Kronecker's product."""
    a, b = promoted(a, b)
    rank = np.maximum(a.shape.rank, b.shape.rank)
    shapes = [tf.concat([tf.ones([rank - v.shape.rank], tf.int32), tf.shape(v)], 0) for v in (a, b)]
    one = tf.ones([rank], tf.int32)
    left = tf.reshape(a, tf.reshape(tf.stack([shapes[0], one], 1), [-1]))
    right = tf.reshape(b, tf.reshape(tf.stack([one, shapes[1]], 1), [-1]))
    return tf.reshape(left * right, shapes[0] * shapes[1])


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The vector that is perpendicular to two."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = promoted(a, b)
    from thalweg._numpy.arrays import moveaxis
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    flat = a.shape[-1] == 2 and b.shape[-1] == 2

    def whole(v):
        return tf.pad(v, [[0, 0]] * (v.shape.rank - 1) + [[0, 1]]) if v.shape[-1] == 2 else v
    a, b = whole(a), whole(b)
    shape = tf.broadcast_dynamic_shape(tf.shape(a), tf.shape(b))
    made = tf.linalg.cross(tf.broadcast_to(a, shape), tf.broadcast_to(b, shape))
    return made[..., 2] if flat else moveaxis(made, -1, axisc)


def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    """The sum of a diagonal."""
    from thalweg._numpy.arrays import diagonal
    a = asarray(a, dtype)
    return tf.reduce_sum(diagonal(a, offset, axis1, axis2), -1)


def einsum(subscripts, *operands, **kwargs):
    """The sum of products that a text describes."""
    casting, optimize = kwargs.pop("casting", "safe"), kwargs.pop("optimize", False)
    if kwargs:
        raise ValueError("einsum: the arguments %s are not supported" % sorted(kwargs))
    if casting == "safe":
        operands = promoted(*operands)
    elif casting == "no":
        operands = [asarray(v) for v in operands]
    else:
        raise ValueError("Invalid casting policy: %s" % casting)
    return tf.einsum(subscripts, *operands, optimize={False: "greedy", True: "optimal"}.get(optimize, optimize))


def polyval(p, x):
    """The value of a polynomial whose coefficients begin with that of the highest power."""
    p, x = promoted(p, x)
    made = tf.zeros_like(x)
    for coefficient in tf.unstack(p) if p.shape.rank == 1 else [p]:
        made = made * x + coefficient
    return made


def diff(a, n=1, axis=-1):
    """Distances of neighbours, n times."""
    a = asarray(a)
    if a.shape.rank is None or a.shape.rank < 1:
        raise ValueError("diff: `a` must have at least one dimension, got shape %s" % (a.shape,))
    if axis + a.shape.rank < 0 or axis >= a.shape.rank:
        raise ValueError("axis %s is out of bounds for array of dimension %s" % (axis, a.shape.rank))
    if n < 0:
        raise ValueError("order must be non-negative but got %r" % n)
    whole = [slice(None)] * a.shape.rank
    after, before = list(whole), list(whole)
    after[axis], before[axis] = slice(1, None), slice(None, -1)
    compute = tf.not_equal if a.dtype == tf.bool else tf.subtract
    for _ in range(n):
        a = compute(a[tuple(after)], a[tuple(before)])
    return a


MEMBERS = {f.__name__: f for f in (
    sum, prod, mean, amax, amin, max, min, ptp, var, std, all, any, count_nonzero, nansum, nanprod, nanmean, cumsum, cumprod, average, argmax, argmin,
    argsort, sort, dot, inner, vdot, matmul, tensordot, outer, kron, cross, trace, einsum, polyval, diff)}
