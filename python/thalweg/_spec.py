"""tf.TensorSpec: the shape and dtype of a tensor, and a name. Loaded when first asked for."""
from thalweg import _core
from thalweg._structure import Spec


def _is_subshape(one, other):
    """Whether every tensor of the one shape has the other."""
    if other.rank is None:
        return True
    if one.rank != other.rank:
        return False
    return all(b is None or a == b for a, b in zip(one.as_list(), other.as_list()))


class TensorSpec(Spec):
    """The shape, the dtype and perhaps the name of tensors."""

    def __init__(self, shape, dtype="float32", name=None):
        super().__init__(shape, dtype, name)

    value_type = property(lambda self: _core.Tensor, doc="The type of what this describes.")

    @classmethod
    def from_spec(cls, spec, name=None):
        """The same with another name."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """What describes a tensor."""
        if not isinstance(tensor, _core.Tensor):
            raise ValueError("`tensor` should be a tf.Tensor, but got type %s." % type(tensor))
        return cls(tensor.shape, tensor.dtype, name)

    def is_compatible_with(self, spec_or_value):
        """Whether a tensor, or a tensor of another spec, can be one of these."""
        if not isinstance(spec_or_value, Spec) and not _core.is_tensor(spec_or_value):
            return False
        return self.dtype == spec_or_value.dtype and self.shape.is_compatible_with(spec_or_value.shape)

    def is_subtype_of(self, other):
        """Whether all that this describes the other describes too."""
        return (isinstance(other, TensorSpec) and self.dtype == other.dtype and other.name in (None, self.name)
                and _is_subshape(self.shape, other.shape))

    def most_specific_common_supertype(self, others):
        """The narrowest spec that describes what this and the others do; None if there is none."""
        shape = self.shape
        for other in others:
            if not isinstance(other, TensorSpec) or other.dtype != self.dtype or other.name != self.name:
                return None
            if shape.rank is None or shape.rank != other.shape.rank:
                shape = _core.as_shape(None)
            else:
                shape = _core.as_shape([a if a == b else None for a, b in zip(shape.as_list(), other.shape.as_list())])
        return type(self)(shape, self.dtype, self.name)

    def most_specific_compatible_type(self, other):
        """The narrowest spec that describes what both do, whatever their names."""
        made = None
        if isinstance(other, TensorSpec):
            made = TensorSpec(self.shape, self.dtype).most_specific_common_supertype([TensorSpec(other.shape, other.dtype)])
        if made is None:
            raise ValueError("No TypeSpec is compatible with both %s and %s" % (self, other))
        return TensorSpec(made.shape, made.dtype, self.name if self.name == other.name else None)

    def __eq__(self, other):
        return isinstance(other, Spec) and repr(self) == repr(other)

    __hash__ = Spec.__hash__

    def __reduce__(self):
        shape = None if self.shape.rank is None else self.shape.as_list()
        return TensorSpec, (shape, self.dtype.name, self.name)
