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


# ---- shapes ----

class _Shape:
    """Members of tf.TensorShape."""

    def assert_has_rank(self, rank):
        """Raises an error unless the rank is this one or unknown."""
        if self.rank not in (None, rank):
            raise ValueError("Shape %s must have rank %d" % (self, rank))

    def assert_same_rank(self, other):
        """Raises an error unless the ranks are the same or one is unknown."""
        other = tf.TensorShape(other)
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            raise ValueError("Shapes %s and %s must have the same rank" % (self, other))

    def assert_is_fully_defined(self):
        """Raises an error unless all sizes are known."""
        if not self.is_fully_defined():
            raise ValueError("Shape %s is not fully defined" % self)

    def with_rank_at_least(self, rank):
        """The shape; an error if it has fewer dimensions."""
        if self.rank is not None and self.rank < rank:
            raise ValueError("Shape %s must have rank at least %d" % (self, rank))
        return self

    def with_rank_at_most(self, rank):
        """The shape; an error if it has more dimensions."""
        if self.rank is not None and self.rank > rank:
            raise ValueError("Shape %s must have rank at most %d" % (self, rank))
        return self

    def most_specific_compatible_shape(self, other):
        """The shape that says of both what is true of both."""
        other = tf.TensorShape(other)
        if self.rank is None or other.rank is None or self.rank != other.rank:
            return tf.TensorShape(None)
        return tf.TensorShape([a if a == b else None for a, b in zip(self.as_list(), other.as_list())])

    def most_specific_common_supertype(self, others):
        """The same of several shapes; None if one is no shape."""
        if any(not isinstance(other, tf.TensorShape) for other in others):
            return None
        for other in others:
            self = self.most_specific_compatible_shape(other)
        return self

    def is_subtype_of(self, other):
        """Whether whatever has this shape has the other one, too."""
        if not isinstance(other, tf.TensorShape):
            return False
        if other.rank is None:
            return True
        return self.rank == other.rank and all(b is None or a == b for a, b in zip(self.as_list(), other.as_list()))

    def as_proto(self):
        """The shape as a message."""
        from thalweg import _messages
        made = _messages.TensorShapeProto(unknown_rank=self.rank is None)
        for size in self.as_list() if self.rank is not None else ():
            made.dim.add(size=-1 if size is None else size)
        return made

    def experimental_as_proto(self):
        """The shape as a message."""
        return self.as_proto()

    @classmethod
    def experimental_from_proto(cls, proto):
        """The shape that a message tells."""
        return cls(None if proto.unknown_rank else [None if d.size < 0 else d.size for d in proto.dim])

    @classmethod
    def experimental_type_proto(cls):
        """The class of the message."""
        from thalweg import _messages
        return _messages.TensorShapeProto


class _Traced:
    """What shapes and dtypes have of the types that functions are traced for: values of theirs are no tensors."""

    def placeholder_value(self, placeholder_context):
        """There is none."""

    def to_tensors(self, value):
        """None."""
        return []

    def from_tensors(self, tensors):
        """Itself."""
        return self

    def flatten(self):
        """None."""
        return []

    def cast(self, value, cast_context):
        """The value, which must be of this type."""
        assert value == self, "Can not cast %r to type %r" % (value, self)
        return value


class _DType:
    """Members of tf.DType."""

    is_numeric = property(lambda self: not (self in (tf.string, tf.bool, tf.resource, tf.variant)), doc="Whether it is a dtype of numbers.")

    def is_subtype_of(self, other):
        """Whether it is the same dtype."""
        return self == other

    def most_specific_common_supertype(self, others):
        """The dtype, if all are the same."""
        return self if all(self == other for other in others) else None


tf._put(_Shape, tf.TensorShape)
tf._put(_DType, tf.DType)
for _type in (tf.TensorShape, tf.DType):
    tf._put(_Traced, _type)


# ---- types of values ----

class _Type:
    """Members of tf.TypeSpec."""

    def most_specific_common_supertype(self, others):
        """The type that describes whatever this and the others do; None if there is none."""
        for other in others:
            if type(other) is not type(self) or getattr(self, "dtype", None) != getattr(other, "dtype", None):
                return None
            self = self if self == other else self._with_shape(self.shape.most_specific_compatible_shape(other.shape))
        return self

    def most_specific_compatible_type(self, other):
        """The same of two types; an error if there is none."""
        found = self.most_specific_common_supertype([other])
        if found is None:
            raise ValueError("No TypeSpec is compatible with both %s and %s" % (self, other))
        return found

    def flatten(self):
        """The types of the tensors that a value is made of."""
        return [self]

    def to_tensors(self, value):
        """The tensors that a value is made of."""
        return tf.nest.flatten(value, expand_composites=True)

    def from_tensors(self, tensors):
        """A value of tensors."""
        return next(iter(tensors))

    def cast(self, value, cast_context=None):
        """The value as one of this type."""
        if not _core.is_tensor(value) and not isinstance(value, self.value_type):
            value = tf.convert_to_tensor(value, self.dtype)
        if not self.is_compatible_with(value):
            raise TypeError("%r can't be cast to %r" % (value, self))
        return value

    def placeholder_value(self, placeholder_context=None):
        """A tensor without a value: only graphs have them."""
        return tf.compat.v1.placeholder(self.dtype, self.shape)

    value_type = property(lambda self: None, doc="The type of what this describes.")

    def experimental_as_proto(self):
        """The type as a message."""
        from thalweg import _messages
        if type(self) is not TensorSpec:
            raise NotImplementedError("%s.experimental_as_proto is not supported" % type(self).__name__)
        return _messages.TensorSpecProto(shape=self.shape.as_proto(), dtype=self.dtype.as_datatype_enum, name=self.name or "")

    @classmethod
    def experimental_from_proto(cls, proto):
        """The type that a message tells."""
        if cls is not TensorSpec:
            raise NotImplementedError("%s.experimental_from_proto is not supported" % cls.__name__)
        return cls(tf.TensorShape.experimental_from_proto(proto.shape), tf.as_dtype(proto.dtype), proto.name or None)

    @classmethod
    def experimental_type_proto(cls):
        """The class of the message."""
        from thalweg import _messages
        return _messages.TensorSpecProto if cls is TensorSpec else _messages.TypeSpecProto


def _sparse_flatten(self):
    rank = self.shape.rank
    return [TensorSpec([None, rank], tf.int64), TensorSpec([None], self.dtype), TensorSpec([rank], tf.int64)]


def _ragged_flatten(self):
    shape, rank = self.shape, self.ragged_rank
    inner = [] if shape.rank is None else shape.as_list()[rank + 1:]
    rows = shape[0] if shape.rank else None
    return [TensorSpec([None, *inner] if shape.rank is not None else None, self.dtype)] + [
        TensorSpec([None if i or rows is None else rows + 1], self.row_splits_dtype) for i in range(rank)]


def _ragged_from(self, tensors):
    values, *splits = tensors
    for rows in reversed(splits):
        values = tf.RaggedTensor.from_row_splits(values, rows, validate=False)
    return values


def _from_value(cls, value):
    """What describes a value."""
    return tf.type_spec_from_value(value)


_sparse, _ragged = tf.SparseTensorSpec, tf.RaggedTensorSpec
_own = {_kind: {_name: vars(_kind)[_name] for _name in vars(_kind)} for _kind in (TensorSpec, tf.TypeSpec)}
for _name, _member in vars(_Type).items():
    for _kind in (tf.TypeSpec, TensorSpec):
        if not _name.startswith("__") and _name not in _own[_kind] and (_kind is tf.TypeSpec or _name != "value_type"):
            setattr(_kind, _name, _member)


def _no_truth(self):
    """The base's, for what stands for a tensor; tensors have their own."""
    raise tf.errors.OperatorNotAllowedInGraphError(
        "Using a symbolic `%s` as a Python `bool` is not allowed. You can attempt the following resolutions to the problem: use eager execution, or tf.cond." %
        type(self).__name__)


TensorSpec._with_shape = lambda self, shape: TensorSpec(shape, self.dtype)
_sparse._with_shape = lambda self, shape: _sparse(shape, self.dtype)
_ragged._with_shape = lambda self, shape: _ragged(shape, self.dtype, self.ragged_rank, self.row_splits_dtype)
_sparse.flatten, _ragged.flatten, _ragged.from_tensors = _sparse_flatten, _ragged_flatten, _ragged_from
_sparse.from_tensors = lambda self, tensors: tf.SparseTensor(*tensors)
_sparse.from_value = _ragged.from_value = classmethod(_from_value)
_ragged.flat_values_spec = None
tf.SparseTensor.from_value = classmethod(lambda cls, value: value if isinstance(value, tf.SparseTensor) else cls(*value))
_core.Tensor.__bool__ = _core.Tensor.__nonzero__ = _no_truth
_core.Tensor.OVERLOADABLE_OPERATORS = {"__%s__" % name for name in (
    "abs add and div eq floordiv ge getitem gt invert le lt matmul mod mul ne neg or pow radd rand rdiv rfloordiv rmatmul rmod rmul ror rpow rsub "
    "rtruediv rxor sub truediv xor").split()}
