"""What of tf.TensorSpec wants Python: makers on the class, and pickling."""
import thalweg as tf
from thalweg import _core

TensorSpec = tf.TensorSpec


def _from_spec(cls, spec, name=None):
    """The same with another name."""
    return cls(spec.shape, spec.dtype, name or spec.name)


def _from_tensor(cls, tensor, name=None):
    """What describes a tensor."""
    if not isinstance(tensor, _core.Tensor):
        raise ValueError("`tensor` should be a tf.Tensor, but got type %s." % type(tensor))
    return cls(tensor.shape, tensor.dtype, name)


TensorSpec.from_spec, TensorSpec.from_tensor = classmethod(_from_spec), classmethod(_from_tensor)
TensorSpec.value_type = property(lambda self: _core.Tensor, doc="The type of what this describes.")
TensorSpec.__reduce__ = lambda self: (TensorSpec, (None if self.shape.rank is None else self.shape.as_list(), self.dtype.name, self.name))
