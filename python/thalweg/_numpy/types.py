"""Which dtype NumPy's rules give to operands, and operands as tensors of it."""
import numbers

import numpy as np

import thalweg as tf
from thalweg import _core

settings = {"prefer_float32": False, "mode": "off"}


def _typed(value):
    """What np.result_type wants in place of a value: of tensors the dtype alone, so that numbers of Python's are weak beside them."""
    if settings["prefer_float32"] and isinstance(value, (float, complex)) and not isinstance(value, np.generic):
        return np.complex64(value) if isinstance(value, complex) else np.float32(value)
    if isinstance(value, tf.DType):
        return value.as_numpy_dtype
    if _core.is_tensor(value):
        return value.dtype.as_numpy_dtype
    if settings["prefer_float32"] and value in (float, complex):
        return np.float32 if value is float else np.complex64
    return value


def _leaves(values):
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _leaves(value)
        else:
            yield value


def result_type(*arrays_and_dtypes):
    """The dtype that NumPy gives to the operands together."""
    return tf.as_dtype(np.result_type(*map(_plain, map(_typed, _leaves(arrays_and_dtypes)))))


def _plain(value):
    return np.dtype(value) if isinstance(value, type) else value


def promote_types(type1, type2):
    """The dtype that both may be cast to."""
    return np.promote_types(_typed(type1), _typed(type2))


def dtype_of(dtype):
    """A dtype that an argument names; None stays."""
    return None if dtype is None else result_type(dtype)


def default_float():
    """What Python's float is."""
    return result_type(float)


def _has_tensor(value):
    return any(map(_core.is_tensor, _leaves([value])))


def _stacked(value):
    """A nested list that holds tensors, as one tensor."""
    if isinstance(value, (list, tuple)):
        return tf.stack([_stacked(v) for v in value])
    return tf.convert_to_tensor(value)


def asarray(a, dtype=None):
    """The value as a tensor: of Python's floats float64, of its ints int64, unless a dtype is asked for."""
    if isinstance(a, tf.Variable):
        a = tf.convert_to_tensor(a)
    wanted = dtype_of(dtype)
    if isinstance(a, _core.Tensor):
        return a if wanted is None or wanted == a.dtype else tf.cast(a, wanted)
    if isinstance(a, (list, tuple)) and _has_tensor(a):
        whole = wanted or result_type(a)
        return _stacked(tf.nest.map_structure(lambda v: asarray(v, whole), a))
    if isinstance(a, np.ndarray) or isinstance(a, np.generic):
        made = tf.convert_to_tensor(a)
        return made if wanted is None or wanted == made.dtype else tf.cast(made, wanted)
    if isinstance(a, (str, bytes)):
        return tf.constant(a)
    array = np.asarray(a)
    if array.dtype == object:
        return tf.convert_to_tensor(a, wanted)
    if array.dtype.kind in "US":
        return tf.constant(a)
    if wanted is None:
        wanted = result_type(a) if array.size else default_float()
    made = tf.convert_to_tensor(array)
    return made if made.dtype == wanted else tf.cast(made, wanted)


def promoted(*values):
    """The operands as tensors of the dtype that NumPy gives them together."""
    dtype = result_type(*values)
    return [asarray(v, dtype) for v in values]


def floating(x):
    """A tensor; of whole numbers and truths one of floats."""
    x = asarray(x)
    return x if x.dtype.is_floating or x.dtype.is_complex else tf.cast(x, default_float())


def as_axis(axis):
    """An axis or several: a tuple of Python's, or a tensor."""
    return list(axis) if isinstance(axis, tuple) else axis


def is_number(value):
    """Whether it is a number of Python's or NumPy's."""
    return isinstance(value, (numbers.Number, np.generic))
