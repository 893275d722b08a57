"""Fills tf.experimental.numpy, its random numbers, and what experimental_enable_numpy_behavior puts on tensors: methods and operators of NumPy."""
import sys

import numpy as np

import thalweg as tf
from thalweg import _core
from thalweg._numpy import arrays, elementwise, reductions, types

_NAMES = dict(elementwise.MEMBERS, **reductions.MEMBERS, **arrays.MEMBERS)


# ---- random numbers ----

def seed(s):
    """The seed of random numbers."""
    try:
        s = int(s)
    except TypeError:
        raise ValueError("Argument `s` got an invalid value %s. Only integers are supported." % (s,)) from None
    tf.random.set_seed(s)


def _size(size):
    return () if size is None else (size,) if types.is_number(size) else size


def standard_normal(size=None):
    """Numbers of the normal distribution."""
    return tf.random.normal(_size(size), dtype=types.default_float())


def randn(*args):
    """The same, of a shape."""
    return standard_normal(args)


def uniform(low=0.0, high=1.0, size=None):
    """Numbers between low and high."""
    dtype = types.default_float()
    low, high = types.asarray(low, dtype), types.asarray(high, dtype)
    if size is None:
        size = tf.broadcast_dynamic_shape(tf.shape(low), tf.shape(high))
    return tf.random.uniform(size if _core.is_tensor(size) else _size(size), low, high, dtype)


def random(size=None):
    """Numbers between 0 and 1."""
    return uniform(size=size)


def rand(*size):
    """The same, of a shape."""
    return uniform(size=size)


def poisson(lam=1.0, size=None):
    """Numbers of Poisson's distribution."""
    return tf.random.poisson(_size(size), lam, dtype=tf.int64)


def randint(low, high=None, size=None, dtype=np.int64):
    """Whole numbers from low up to high."""
    low, high = (0, int(low)) if high is None else (int(low), high)
    wanted = types.result_type(dtype)
    if wanted not in (tf.int32, tf.int64):
        raise ValueError("Argument `dtype` got an invalid value %s. Only those convertible to (int32, int64) are supported." % (dtype,))
    return tf.random.uniform(_size(size), low, high, wanted)


_RANDOM = (seed, standard_normal, randn, uniform, random, rand, poisson, randint)


# ---- tensors that behave as NumPy's arrays ----

def _reshape(self, *newshape, **kwargs):
    """The elements in another shape: a shape, or its numbers."""
    return arrays.reshape(self, newshape[0] if len(newshape) == 1 else newshape, **kwargs)


def _transpose(self, *axes):
    """The axes in another order."""
    return arrays.transpose(self, axes[0] if len(axes) == 1 and not types.is_number(axes[0]) else axes or None)


def _tolist(self):
    """The elements as lists."""
    if _core.is_symbolic(self):
        raise ValueError("Symbolic Tensors do not support the tolist API.")
    return self.numpy().tolist()


def _operator(name, reverse, plain):
    compute = _NAMES[name]

    def call(self, other):
        if isinstance(other, (tf.RaggedTensor, tf.SparseTensor)) or types._core.is_tensor(other) and other.dtype == self.dtype and name not in (
                "matmul", "true_divide"):
            return plain(self, other)
        try:
            return compute(other, self) if reverse else compute(self, other)
        except (TypeError, ValueError) as error:
            if isinstance(other, (int, float, complex, list, tuple, np.ndarray, np.generic)) or _core.is_tensor(other):
                raise
            del error
            return NotImplemented
    call.__name__ = plain.__name__
    return call


_OPERATORS = dict(add="add", sub="subtract", mul="multiply", truediv="true_divide", floordiv="floor_divide", mod="mod", pow="power", matmul="matmul")
_COMPARED = dict(lt="less", le="less_equal", gt="greater", ge="greater_equal")


def experimental_enable_numpy_behavior(prefer_float32=False, dtype_conversion_mode="legacy"):
    """Operators of tensors promote dtypes as NumPy does, and tensors have methods of NumPy's arrays."""
    if dtype_conversion_mode not in ("off", "legacy", "safe", "all"):
        raise ValueError("The provided promotion mode %s does not exist. Make sure the provided dtype conversion mode is one of the followings: "
                         "PromoMode.NONE, PromoMode.LEGACY, PromoMode.SAFE, PromoMode.ALL." % dtype_conversion_mode)
    if dtype_conversion_mode in ("safe", "all"):
        raise NotImplementedError("experimental_enable_numpy_behavior: dtype_conversion_mode %r is not supported" % dtype_conversion_mode)
    types.settings["prefer_float32"] = bool(prefer_float32)
    if types.settings["mode"] == "legacy":
        return
    types.settings["mode"] = "legacy"
    for kind in (_core.Tensor, tf.Variable):
        for short, name in _OPERATORS.items():
            for prefix, reverse in (("__%s__", False), ("__r%s__", True)):
                setattr(kind, prefix % short, _operator(name, reverse, getattr(kind, prefix % short)))
        for short, name in _COMPARED.items():
            setattr(kind, "__%s__" % short, _operator(name, False, getattr(kind, "__%s__" % short)))
    for name, member in dict(
            T=property(lambda self: tf.transpose(self)), ndim=property(lambda self: self.shape.ndims), data=property(lambda self: self),
            size=property(lambda self: arrays.size(self)), reshape=_reshape, transpose=_transpose, tolist=_tolist,
            astype=lambda self, dtype: types.asarray(self, dtype), ravel=arrays.ravel, clip=elementwise.clip, max=reductions.amax,
            mean=reductions.mean, min=reductions.amin, __pos__=lambda self: self).items():
        setattr(_core.Tensor, name, member)


def fill(module):
    """Fills tf.experimental.numpy."""
    module.__dict__.update(_NAMES)
    for name in ("bool_ complex128 complex64 complex_ float16 float32 float64 float_ inexact int16 int32 int64 int8 int_ object_ string_ uint16 uint32 "
                 "uint64 uint8 unicode_ iinfo issubdtype").split():
        setattr(module, name, getattr(np, name))
    module.e, module.inf, module.pi, module.newaxis, module.ndarray = np.e, np.inf, np.pi, None, tf.Tensor
    module.result_type, module.promote_types = types.result_type, types.promote_types
    module.experimental_enable_numpy_behavior = experimental_enable_numpy_behavior
    module.random = sys.modules[module.__name__ + ".random"] = type(sys)(module.__name__ + ".random")
    for function in _RANDOM:
        setattr(module.random, function.__name__, function)
