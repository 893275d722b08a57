"""Making, joining, cutting and turning arrays as NumPy does it: tf.experimental.numpy."""
import numpy as np

import thalweg as tf
from thalweg._numpy.types import asarray, default_float, dtype_of, is_number, promoted, result_type

_range = range


def _shape_of(shape):
    """A shape that is a number, too."""
    return [shape] if is_number(shape) else shape


def array(val, dtype=None, copy=True, ndmin=0):
    """The value as a tensor of at least ndmin dimensions; copy: a new one."""
    made = asarray(val, dtype)
    if copy and made is val:
        made = tf.identity(made)
    if ndmin and made.shape.rank < ndmin:
        made = tf.reshape(made, tf.concat([tf.ones([ndmin - made.shape.rank], tf.int32), tf.shape(made)], 0))
    return made


def asanyarray(a, dtype=None):
    """asarray."""
    return asarray(a, dtype)


def ascontiguousarray(a, dtype=None):
    """The value as a tensor of at least one dimension."""
    return array(a, dtype, False, 1)


def copy(a):
    """Another tensor of the same elements."""
    return array(a)


def zeros(shape, dtype=float):
    """Zeros."""
    return tf.zeros(_shape_of(shape), dtype_of(dtype) or default_float())


def ones(shape, dtype=float):
    """Ones."""
    return tf.ones(_shape_of(shape), dtype_of(dtype) or default_float())


def empty(shape, dtype=float):
    """Zeros: nothing is left undefined."""
    return zeros(shape, dtype)


def zeros_like(a, dtype=None):
    """Zeros of the shape, and the dtype unless one is given."""
    return tf.zeros_like(asarray(a), dtype=dtype_of(dtype))


def ones_like(a, dtype=None):
    """Ones, likewise."""
    return tf.ones_like(asarray(a), dtype=dtype_of(dtype))


def empty_like(a, dtype=None):
    """Zeros, likewise."""
    return zeros_like(a, dtype)


def full(shape, fill_value, dtype=None):
    """A value everywhere."""
    return tf.broadcast_to(asarray(fill_value, dtype), _shape_of(shape))


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    """A value everywhere, of the shape and dtype of another tensor."""
    if order != "K":
        raise ValueError("Non-standard orders are not supported.")
    if not subok:
        raise ValueError("subok being False is not supported.")
    if shape:
        raise ValueError("Overriding the shape is not supported.")
    a = asarray(a)
    return tf.broadcast_to(asarray(fill_value, dtype or a.dtype), tf.shape(a))


def eye(N, M=None, k=0, dtype=float):
    """Ones on a diagonal."""
    return tf.cast(tri(N, M, k, bool) ^ tri(N, M, k - 1, bool), dtype_of(dtype) or default_float())


def identity(n, dtype=float):
    """The identity matrix."""
    return eye(n, n, dtype=dtype)


def tri(N, M=None, k=0, dtype=None):
    """Ones at and below a diagonal."""
    M = N if M is None else M
    below = tf.greater_equal(tf.range(N)[:, tf.newaxis] + k, tf.range(M)[tf.newaxis, :])
    return tf.cast(below, default_float() if dtype is None else dtype_of(dtype))


def _triangle(m, k, lower):
    m = asarray(m)
    if m.shape.rank is None or m.shape.rank < 2:
        raise ValueError("Argument to %s must have rank at least 2" % ("tril" if lower else "triu"))
    shape = tf.shape(m)
    below = tri(shape[-2], shape[-1], k if lower else k - 1, bool)
    return tf.where(below if lower else tf.logical_not(below), m, tf.zeros_like(m))


def tril(m, k=0):
    """What is at and below a diagonal, zeros above."""
    return _triangle(m, k, True)


def triu(m, k=0):
    """What is at and above a diagonal, zeros below."""
    return _triangle(m, k, False)


def arange(start, stop=None, step=1, dtype=None):
    """Numbers from start up to stop."""
    if not step:
        raise ValueError("step must be non-zero.")
    dtype = dtype_of(dtype) or (result_type(start, step) if stop is None else result_type(start, step, stop))
    if stop is None:
        start, stop = 0, start
    if (step > 0 and start > stop) or (step < 0 and start < stop):
        return tf.zeros([0], dtype)
    made = dtype if dtype in (tf.int32, tf.int64, tf.float32, tf.float64) else tf.float64
    return tf.cast(tf.range(tf.cast(start, made), tf.cast(stop, made), tf.cast(step, made)), dtype)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=float, axis=0):
    """Numbers at the same distance."""
    dtype = dtype_of(dtype) if dtype else None
    start, stop = asarray(start, dtype), asarray(stop, dtype)
    if dtype is None or not dtype.is_floating:
        work = result_type(start.dtype, stop.dtype, float) if dtype is None else default_float()
        start, stop = tf.cast(start, work), tf.cast(stop, work)
    if num < 0:
        raise ValueError("Argument `num` (number of samples) must be a non-negative integer. Received num=%s" % num)
    step = tf.constant(np.nan, start.dtype)
    parts = num - 1 if endpoint else num
    if endpoint:
        made = tf.linspace(start, stop, num, axis=axis) if num else tf.zeros([0], start.dtype)
        if parts > 0:
            step = (stop - start) / tf.constant(parts, start.dtype)
    else:
        step = (stop - start) / tf.constant(max(parts, 1), start.dtype)
        made = tf.linspace(start, stop - step, num, axis=axis) if num else tf.zeros([0], start.dtype)
    made = made if dtype is None else tf.cast(made, dtype)
    return (made, step) if retstep else made


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Powers of the base whose exponents are at the same distance."""
    dtype = dtype_of(dtype) or result_type(start, stop, float)
    powers = linspace(start, stop, num, endpoint, dtype=dtype, axis=axis)
    return tf.cast(tf.pow(tf.cast(base, powers.dtype), powers), dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Numbers whose quotients are the same."""
    dtype = dtype_of(dtype) or result_type(start, stop, num, np.zeros(()))
    work = dtype if dtype.is_floating else default_float()
    start, stop = asarray(start, work), asarray(stop, work)
    negative = tf.logical_and(tf.less(start, 0), tf.less(stop, 0))
    sign = tf.where(negative, -tf.ones_like(start), tf.ones_like(start))
    logs = linspace(tf.math.log(start * sign), tf.math.log(stop * sign), num, endpoint, dtype=work, axis=axis)
    return tf.cast(tf.math.exp(logs) * sign, dtype)


def diag(v, k=0):
    """The matrix with a diagonal, or the diagonal of a matrix."""
    v = asarray(v)
    if v.shape.rank == 1:
        return tf.linalg.diag(v, k=k)
    if v.shape.rank != 2:
        raise ValueError("diag: the argument must be 1- or 2-dimensional, got shape %s" % (v.shape,))
    return diagonal(v, k)


def diagflat(v, k=0):
    """The matrix whose diagonal has all elements."""
    return diag(tf.reshape(asarray(v), [-1]), k)


def diagonal(a, offset=0, axis1=0, axis2=1):
    """A diagonal, as the last axis."""
    a = moveaxis(asarray(a), (axis1, axis2), (-2, -1))
    rows, columns = a.shape[-2], a.shape[-1]
    if rows is not None and columns is not None and (offset >= columns or offset <= -rows):
        return tf.zeros([*a.shape[:-2], 0], a.dtype)
    return tf.linalg.diag_part(a, k=offset)


def diag_indices(n, ndim=2):
    """The indices of a diagonal."""
    for name, value in (("n", n), ("ndim", ndim)):
        if value < 0:
            raise ValueError("Argument `%s` must be a non-negative integer. Received %s=%s" % (name, name, value))
    return (tf.range(n),) * ndim


def ravel(a):
    """All elements as a vector."""
    return tf.reshape(asarray(a), [-1])


def flatten(a, order="C"):
    """All elements as a vector, rows ("C") or columns ("F") first."""
    a = asarray(a)
    if order in ("C", "A", "K"):
        return tf.reshape(a, [-1])
    if order == "F":
        return tf.reshape(tf.transpose(a), [-1])
    raise ValueError("Invalid value for argument `order`: %s. Supported values are: ['C', 'F', 'A', 'K']" % order)


def reshape(a, newshape, order="C"):
    """The elements in another shape."""
    if order not in ("C", "F"):
        raise ValueError("Unsupported order argument %s" % order)
    a, newshape = asarray(a), asarray([newshape] if is_number(newshape) else newshape if len(newshape) else np.zeros(0, np.int32))
    if newshape.dtype not in (tf.int32, tf.int64):
        newshape = tf.cast(newshape, tf.int32)
    if order == "F":
        return tf.transpose(tf.reshape(tf.transpose(a), newshape[::-1]))
    return tf.reshape(a, newshape)


def expand_dims(a, axis):
    """One more dimension."""
    return tf.expand_dims(asarray(a), axis)


def squeeze(a, axis=None):
    """Without dimensions of one element."""
    return tf.squeeze(asarray(a), axis)


def transpose(a, axes=None):
    """The axes in another order."""
    return tf.transpose(asarray(a), axes)


def moveaxis(a, source, destination):
    """Some axes at other places, the others in their order."""
    a = asarray(a)
    if a.shape.rank is None:
        raise ValueError("moveaxis: the rank of `a` must be known")
    sources, targets = ([v] if is_number(v) else list(v) for v in (source, destination))
    if len(sources) != len(targets):
        raise ValueError("The lengths of source and destination must equal")
    rank = a.shape.rank
    places = {t % rank: s % rank for s, t in zip(sources, targets)}
    rest = iter([i for i in _range(rank) if i not in places.values()])
    return tf.transpose(a, [places[i] if i in places else next(rest) for i in _range(rank)])


def swapaxes(a, axis1, axis2):
    """Two axes in each other's place."""
    a = asarray(a)
    order = list(_range(a.shape.rank))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return tf.transpose(a, order)


def flip(m, axis=None):
    """The elements in reverse order along axes."""
    m = asarray(m)
    if axis is None:
        return tf.reverse(m, list(_range(m.shape.rank)))
    axis = [axis] if is_number(axis) else list(axis)
    return tf.reverse(m, [a % m.shape.rank for a in axis])


def flipud(m):
    """The rows in reverse order."""
    return flip(m, 0)


def fliplr(m):
    """The columns in reverse order."""
    return flip(m, 1)


def roll(a, shift, axis=None):
    """The elements moved along axes, round and round."""
    a = asarray(a)
    if axis is None:
        return tf.reshape(tf.roll(tf.reshape(a, [-1]), shift, 0), tf.shape(a))
    return tf.roll(a, shift, axis)


def rot90(m, k=1, axes=(0, 1)):
    """Turned by 90 degrees, k times."""
    m = asarray(m)
    first, second = (axis % m.shape.rank for axis in axes)
    k %= 4
    if k == 0:
        return m
    if k == 2:
        return flip(flip(m, first), second)
    return swapaxes(flip(m, second), first, second) if k == 1 else flip(swapaxes(m, first, second), second)


def pad(array, pad_width, mode, **kwargs):
    """With margins: of a value ("constant"), or of the elements in reverse ("reflect", "symmetric")."""
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError("Unsupported padding mode: " + mode)
    array = asarray(array)
    return tf.pad(array, asarray(pad_width, tf.int32), mode.upper(), asarray(kwargs.get("constant_values", 0), array.dtype))


def take(a, indices, axis=None, out=None, mode="clip"):
    """The elements at indices; beyond the ends the last ones ("clip") or round and round ("wrap")."""
    if out is not None:
        raise ValueError("out argument is not supported in take.")
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError("Invalid mode '%s' for take" % mode)
    if mode == "raise":
        raise ValueError("The 'raise' mode to take is not supported.")
    a, indices = asarray(a), asarray(indices)
    if axis is None:
        a, axis = tf.reshape(a, [-1]), 0
    size = tf.cast(tf.shape(a)[axis], indices.dtype)
    indices = tf.clip_by_value(indices, 0, size - 1) if mode == "clip" else tf.math.floormod(indices, size)
    return tf.gather(a, indices, axis=axis)


def take_along_axis(arr, indices, axis):
    """For each place the element at an index of its own along the axis."""
    arr, indices = asarray(arr), asarray(indices)
    if axis is None:
        return take_along_axis(tf.reshape(arr, [-1]), indices, 0)
    rank = arr.shape.rank
    if indices.shape.rank != rank:
        raise ValueError("take_along_axis: `arr` and `indices` must have the same rank, got %s and %s" % (arr.shape, indices.shape))
    axis %= rank
    sizes = [tf.shape(arr), tf.shape(indices)]
    common = tf.broadcast_dynamic_shape(*[tf.concat([s[:axis], [1], s[axis + 1:]], 0) for s in sizes])
    arr, indices = (tf.broadcast_to(v, tf.concat([common[:axis], s[axis:axis + 1], common[axis + 1:]], 0)) for v, s in zip((arr, indices), sizes))
    arr, indices = moveaxis(arr, axis, -1), moveaxis(indices, axis, -1)
    size = tf.cast(tf.shape(arr)[-1], indices.dtype)
    indices = tf.where(tf.less(indices, 0), indices + size, indices)
    return moveaxis(tf.gather(arr, indices, batch_dims=rank - 1), -1, axis)


def where(condition, x=None, y=None):
    """x where the condition is true, else y; without these, the indices where it is."""
    condition = asarray(condition, bool)
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("Both x and y must be ndarrays, or both must be None.")
    x, y = promoted(x, y)
    return tf.where(condition, x, y)


def nonzero(a):
    """The indices of what is not zero, a vector for each axis."""
    a = array(a, ndmin=1)
    if a.shape.rank is None:
        raise ValueError("nonzero: the rank of `a` must be known")
    return tf.unstack(tf.where(tf.cast(a, tf.bool)), num=a.shape.rank, axis=1)


def select(condlist, choicelist, default=0):
    """Of the first choice whose condition is true."""
    if len(condlist) != len(choicelist):
        raise ValueError("condlist must have length equal to choicelist (%d vs %d)" % (len(condlist), len(choicelist)))
    if not condlist:
        raise ValueError("condlist must be non-empty")
    *choices, made = promoted(*choicelist, default)
    for condition, choice in zip(reversed(condlist), reversed(choices)):
        made = where(condition, choice, made)
    return made


def compress(condition, a, axis=None):
    """The slices whose condition is true."""
    condition, a = asarray(condition, bool), asarray(a)
    if condition.shape.rank != 1:
        raise ValueError("condition must be a 1-d array.")
    if axis is None:
        a, axis = tf.reshape(a, [-1]), 0
    return tf.gather(a, tf.reshape(tf.where(condition), [-1]), axis=axis)


def shape(a):
    """The shape."""
    a = asarray(a)
    return a.shape if a.shape.is_fully_defined() else tf.shape(a)


def ndim(a):
    """The number of dimensions."""
    return asarray(a).shape.rank


def size(x, axis=None):
    """The number of elements."""
    if axis is not None:
        raise NotImplementedError("axis argument is not supported in the current `np.size` implementation")
    x = asarray(x)
    return np.prod(x.shape.as_list()) if x.shape.is_fully_defined() else tf.size(x)


def isscalar(num):
    """Whether it is a number, not a tensor."""
    return np.isscalar(num)


def _cut(name, axis_of):
    def call(ary, indices_or_sections, axis=None):
        ary = asarray(ary)
        axis = axis_of(ary) if axis is None else axis
        if is_number(indices_or_sections):
            if ary.shape[axis] is not None and ary.shape[axis] % indices_or_sections:
                raise ValueError("array split does not result in an equal division")
            return tf.split(ary, int(indices_or_sections), axis)
        ends = [*indices_or_sections, ary.shape[axis]]
        ends = [min(max(e if e >= 0 else e + ary.shape[axis], 0), ary.shape[axis]) for e in ends]
        begins = [0, *ends[:-1]]
        return tf.split(ary, [max(e - b, 0) for b, e in zip(begins, ends)], axis)
    if name != "split":
        def made(ary, indices_or_sections):
            return call(ary, indices_or_sections)
    else:
        def made(ary, indices_or_sections, axis=0):
            return call(ary, indices_or_sections, axis)
    made.__name__ = made.__qualname__ = name
    made.__doc__ = "numpy.%s: parts of a tensor along an axis." % name
    return made


split, vsplit, dsplit = _cut("split", None), _cut("vsplit", lambda a: 0), _cut("dsplit", lambda a: 2)
hsplit = _cut("hsplit", lambda a: 0 if a.shape.rank == 1 else 1)


def broadcast_to(array, shape):
    """Repeated up to a shape."""
    return full(shape, array)


def broadcast_arrays(*args, **kwargs):
    """The tensors in one shape."""
    if kwargs.pop("subok", False):
        raise ValueError("subok=True is not supported.")
    if kwargs:
        raise ValueError("Received unsupported arguments %s" % kwargs.keys())
    args = [asarray(a) for a in args]
    whole = tf.constant([], tf.int32)
    for a in args:
        whole = tf.broadcast_dynamic_shape(whole, tf.shape(a))
    return [tf.broadcast_to(a, whole) for a in args]


def concatenate(arys, axis=0):
    """The tensors one behind the other."""
    if not isinstance(arys, (list, tuple)):
        arys = [arys]
    if not arys:
        raise ValueError("Need at least one array to concatenate. Received empty input: %s" % (arys,))
    arys = promoted(*arys)
    if axis is None:
        return tf.concat([tf.reshape(a, [-1]) for a in arys], 0)
    return tf.concat(arys, axis)


def append(arr, values, axis=None):
    """Two tensors one behind the other."""
    return concatenate([arr, values], axis)


def stack(arrays, axis=0):
    """The tensors along a new axis."""
    if isinstance(arrays, (list, tuple)):
        return tf.stack(promoted(*arrays), axis)
    arrays = asarray(arrays)
    return arrays if axis == 0 else swapaxes(arrays, 0, axis)


def hstack(tup):
    """Side by side."""
    arrays = promoted(*[atleast_1d(a) for a in tup])
    return tf.concat(arrays, 0 if arrays[0].shape.rank == 1 else 1)


def vstack(tup):
    """One below the other."""
    return tf.concat(promoted(*[atleast_2d(a) for a in tup]), 0)


def dstack(tup):
    """One behind the other, along the third axis."""
    return tf.concat(promoted(*[atleast_3d(a) for a in tup]), 2)


def _at_least(count, widen, arys):
    made = []
    for given in arys:
        a = asarray(given)
        made.append(a if a.shape.rank >= count else tf.reshape(a, widen(a)))
    return made[0] if len(made) == 1 else made


def atleast_1d(*arys):
    """Numbers as vectors."""
    return _at_least(1, lambda a: [1], arys)


def atleast_2d(*arys):
    """Vectors as matrices of one row."""
    return _at_least(2, lambda a: tf.concat([[1] * (2 - a.shape.rank), tf.shape(a)], 0), arys)


def atleast_3d(*arys):
    """Tensors of three dimensions at least."""
    def widen(a):
        sizes = tf.shape(a)
        return [1, 1, 1] if a.shape.rank == 0 else tf.concat([[1], sizes, [1]] if a.shape.rank == 1 else [sizes, [1]], 0)
    return _at_least(3, widen, arys)


def repeat(a, repeats, axis=None):
    """Each element several times."""
    return tf.repeat(asarray(a), repeats, axis)


def tile(a, reps):
    """The whole several times."""
    a = asarray(a)
    reps = tf.reshape(asarray(reps, tf.int32), [-1])
    rank, count = a.shape.rank, reps.shape[0]
    if rank < count:
        a = tf.reshape(a, tf.concat([[1] * (count - rank), tf.shape(a)], 0))
    elif count < rank:
        reps = tf.concat([[1] * (rank - count), reps], 0)
    return tf.tile(a, reps)


def vander(x, N=None, increasing=False):
    """Powers of the elements, a column each."""
    x = asarray(x)
    if x.shape.rank != 1:
        raise ValueError("x must be a one-dimensional array")
    count = tf.shape(x)[0] if N is None else N
    if N is not None and N < 0:
        raise ValueError("N must be nonnegative")
    powers = tf.range(count) if increasing else tf.range(count)[::-1]
    return tf.pow(x[:, tf.newaxis], tf.cast(powers, x.dtype)[tf.newaxis, :])


def ix_(*args):
    """Vectors along axes of their own, so that they index a grid."""
    made = []
    for i, given in enumerate(args):
        a = asarray(given)
        if a.shape.rank != 1:
            raise ValueError("Arguments must be 1-d, got arg %d of rank %s" % (i, a.shape.rank))
        if a.dtype == tf.bool:
            a = tf.reshape(tf.where(a), [-1])
        elif not a.dtype.is_integer:
            a = tf.cast(a, tf.int64)
        made.append(tf.reshape(a, [1] * i + [-1] + [1] * (len(args) - i - 1)))
    return made


def meshgrid(*xi, **kwargs):
    """Vectors repeated along each other."""
    sparse, indexing = kwargs.pop("sparse", False), kwargs.pop("indexing", "xy")
    if sparse:
        raise ValueError("Function `meshgrid` does not support returning sparse arrays yet. Received: sparse=%s" % sparse)
    if not kwargs.pop("copy", True):
        raise ValueError("Function `meshgrid` only supports copy=True. Received: copy=False")
    return tf.meshgrid(*[asarray(x) for x in xi], indexing=indexing, **kwargs)


def finfo(dtype):
    """The limits of a dtype of floats."""
    return np.finfo(result_type(dtype).as_numpy_dtype)


MEMBERS = {f.__name__: f for f in (
    array, asarray, asanyarray, ascontiguousarray, copy, zeros, ones, empty, zeros_like, ones_like, empty_like, full, full_like, eye, identity, tri, tril,
    triu, arange, linspace, logspace, geomspace, diag, diagflat, diagonal, diag_indices, ravel, flatten, reshape, expand_dims, squeeze, transpose,
    moveaxis, swapaxes, flip, flipud, fliplr, roll, rot90, pad, take, take_along_axis, where, nonzero, select, compress, shape, ndim, size, isscalar,
    split, vsplit, dsplit, hsplit, broadcast_to, broadcast_arrays, concatenate, append, stack, hstack, vstack, dstack, atleast_1d, atleast_2d,
    atleast_3d, repeat, tile, vander, ix_, meshgrid, finfo)}
