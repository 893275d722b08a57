"""tf.experimental.numpy: what Python adds to the rows of src/api/numpy, and what experimental_enable_numpy_behavior puts on tensors. Loaded when first asked for."""
import numpy as np

import thalweg as tf
from thalweg import _core


def result_type(*arrays_and_dtypes):
    """The dtype that NumPy gives to the operands together."""
    return _core._result_type(*arrays_and_dtypes)


def finfo(dtype):
    """The limits of a dtype of floats."""
    return np.finfo(result_type(dtype).as_numpy_dtype)


def isscalar(num):
    """Whether it is a number, not a tensor."""
    return np.isscalar(num)


# ---- functions that are more than a row ----

def _functions(rows):
    """The functions that are more than a row."""
    asarray = rows["asarray"]

    def promote_types(type1, type2):
        """The dtype that both may be cast to."""
        return np.dtype(rows["promote_types"](type1, type2).as_numpy_dtype)

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

    def arange(start, stop=None, step=1, dtype=None):
        """Numbers from start up to stop."""
        return rows["arange"](start, stop, step, dtype)

    def concatenate(arys, axis=0):
        """The tensors one behind the other; without an axis all their elements."""
        return rows["concatenate"](arys if isinstance(arys, (list, tuple)) else [arys], axis)

    def stack(arrays, axis=0):
        """The tensors along a new axis."""
        if isinstance(arrays, (list, tuple)):
            return rows["stack"](arrays, axis)
        arrays = asarray(arrays)
        return arrays if axis == 0 else rows["swapaxes"](arrays, 0, axis)

    def rest_of(row):
        def call(tup):
            return row(list(tup))  # of a tensor its rows
        call.__name__ = call.__qualname__ = row.__name__
        call.__doc__ = row.__doc__
        return call

    def experimental_enable_numpy_behavior(prefer_float32=False, dtype_conversion_mode="legacy"):
        """Operators of tensors promote dtypes as NumPy does, and tensors have methods of NumPy's arrays."""
        if dtype_conversion_mode in ("safe", "all"):
            raise NotImplementedError("experimental_enable_numpy_behavior: dtype_conversion_mode %r is not supported" % dtype_conversion_mode)
        rows["experimental_enable_numpy_behavior"](prefer_float32, dtype_conversion_mode)
        _add_methods(rows, size)
    return [promote_types, shape, ndim, size, arange, concatenate, stack, *(rest_of(rows[name]) for name in ("hstack", "vstack", "dstack")),
            experimental_enable_numpy_behavior]


# ---- random numbers ----

def _random_functions(rows):
    def seed(s):
        """The seed of random numbers."""
        try:
            s = int(s)
        except TypeError:
            raise ValueError("Argument `s` got an invalid value %s. Only integers are supported." % (s,)) from None
        tf.random.set_seed(s)

    def randn(*args):
        """Numbers of the normal distribution, of a shape."""
        return rows["standard_normal"](args)

    def rand(*size):
        """Numbers between 0 and 1, of a shape."""
        return rows["uniform"](size=size)
    return [seed, randn, rand]


# ---- tensors that behave as NumPy's arrays ----

def _add_methods(rows, size):
    """What tensors of NumPy's behaviour have."""
    def reshape(self, *newshape, **kwargs):
        """The elements in another shape: a shape, or its numbers."""
        return rows["reshape"](self, newshape[0] if len(newshape) == 1 else newshape, **kwargs)

    def transpose(self, *axes):
        """The axes in another order."""
        return rows["transpose"](self, axes[0] if len(axes) == 1 else axes or None)

    def tolist(self):
        """The elements as lists."""
        if _core.is_symbolic(self):
            raise ValueError("Symbolic Tensors do not support the tolist API.")
        return self.numpy().tolist()

    def method(name):
        row = rows[name]
        return lambda self, *args, **kwargs: row(self, *args, **kwargs)
    for name, member in dict(
            T=property(lambda self: tf.transpose(self)), ndim=property(lambda self: self.shape.ndims), data=property(lambda self: self),
            size=property(lambda self: size(self)), reshape=reshape, transpose=transpose, tolist=tolist, astype=method("asarray"), ravel=method("ravel"),
            clip=method("clip"), max=method("amax"), mean=method("mean"), min=method("amin"), __pos__=lambda self: self).items():
        setattr(_core.Tensor, name, member)


def fill(module):
    """Fills tf.experimental.numpy."""
    _core._add_numpy()
    for function in (result_type, finfo, isscalar, *_functions(dict(module.__dict__))):
        setattr(module, function.__name__, function)
    for function in _random_functions(dict(module.random.__dict__)):
        setattr(module.random, function.__name__, function)
    for name in ("bool_ complex128 complex64 float16 float32 float64 inexact int16 int32 int64 int8 int_ object_ uint16 uint32 uint64 uint8 iinfo "
                 "issubdtype").split():
        setattr(module, name, getattr(np, name))
    module.complex_, module.float_, module.string_, module.unicode_ = np.complex128, np.float64, np.bytes_, np.str_  # names that NumPy 2 has no more
    module.e, module.inf, module.pi, module.newaxis, module.ndarray = np.e, np.inf, np.pi, None, tf.Tensor
