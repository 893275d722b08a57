"""IndexedSlices, the methods of variables that take them, and tf.Module's decorator: what wants a Python class or function."""
import functools

import thalweg as tf


IndexedSlices = tf.IndexedSlices


def _text(self):
    shape = "" if self.dense_shape is None else ", dense_shape=%s" % (self.dense_shape,)
    return "IndexedSlices(indices=%s, values=%s%s)" % (self.indices, self.values, shape)


IndexedSlices.__str__ = _text
IndexedSlices.__neg__ = lambda self: IndexedSlices(-self.values, self.indices, self.dense_shape)
IndexedSlices.device = property(lambda self: self.values.device)
IndexedSlices.name = property(lambda self: self.values.name)
IndexedSlices.graph = property(lambda self: self.values.graph)
IndexedSlices.op = property(lambda self: self.values.op)


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
