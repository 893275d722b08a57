"""IndexedSlices, the methods of variables that take them, and tf.Module's decorator: what wants a Python class or function."""
import functools

import thalweg as tf


class IndexedSlices:
    """Some rows of a tensor: values[i] is the row indices[i]."""

    def __init__(self, values, indices, dense_shape=None):
        self.values = tf.convert_to_tensor(values)
        self.indices = tf.convert_to_tensor(indices)
        self.dense_shape = dense_shape if dense_shape is None else tf.convert_to_tensor(dense_shape)

    @property
    def dtype(self):
        """The dtype of the values."""
        return self.values.dtype

    @property
    def shape(self):
        """The shape of the whole, as far as it is known."""
        return tf.TensorShape(None if self.dense_shape is None else [int(n) for n in self.dense_shape])

    def __neg__(self):
        return IndexedSlices(-self.values, self.indices, self.dense_shape)


def _scatter(name):
    def method(self, sparse_delta, use_locking=False, name=None):
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError("Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: %s" % (sparse_delta,))
        return inner(self, sparse_delta.indices, sparse_delta.values)
    inner = getattr(tf.Variable, "_scatter_" + name)
    method.__name__ = "scatter_" + name
    method.__doc__ = inner.__doc__
    return method


for _name in ("update", "add", "sub", "mul", "div", "min", "max"):
    setattr(tf.Variable, "scatter_" + _name, _scatter(_name))


def _with_name_scope(cls, method):
    """A method that runs in the module's name scope."""
    @functools.wraps(method)
    def scoped(self, *args, **kwargs):
        with self.name_scope:
            return method(self, *args, **kwargs)
    return scoped


tf.Module.with_name_scope = classmethod(_with_name_scope)
tf.IndexedSlices = IndexedSlices
