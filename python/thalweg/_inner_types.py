"""Classes of tensorflow.python.* and tf.__internal__ that programs subclass, ask isinstance for, or register with, and that have no public name."""
import abc
import ast
import contextlib
import functools

import thalweg as tf
from thalweg import _core


class CompositeTensor(metaclass=abc.ABCMeta):
    """A value of several tensors; the base of a program's own."""

    @property
    def _type_spec(self):
        raise NotImplementedError("%s._type_spec()" % type(self).__name__)

    def _shape_invariant_to_type_spec(self, shape):
        raise NotImplementedError("%s._shape_invariant_to_type_spec" % type(self).__name__)


CompositeTensor.register(tf.SparseTensor)
CompositeTensor.register(tf.RaggedTensor)
CompositeTensor.register(tf.IndexedSlices)


def is_composite_tensor(value):
    """Whether a value is made of several tensors."""
    return isinstance(value, CompositeTensor)


class BatchableTypeSpec(tf.TypeSpec):
    """The base of types whose values can be batched."""

    def __init__(self, *args, **kwargs):
        del args, kwargs


class DenseSpec(abc.ABC):
    """Types of single tensors: what isinstance asks for."""


DenseSpec.register(tf.TensorSpec)


class BoundedTensorSpec(tf.TensorSpec):
    """A tensor's type with the least and the greatest value."""

    def __init__(self, shape, dtype, minimum, maximum, name=None):
        super().__init__(shape, dtype, name)
        import numpy
        for word, value in (("minimum", minimum), ("maximum", maximum)):
            if value is None:
                raise ValueError("`%s` can not be None." % word)
            try:
                numpy.broadcast_shapes(numpy.shape(value), tuple(self.shape))
            except ValueError as error:
                raise ValueError("`%s` %r is not compatible with shape %r." % (word, value, self.shape)) from error
        kind = self.dtype.as_numpy_dtype
        self.minimum, self.maximum = numpy.array(minimum, kind), numpy.array(maximum, kind)
        self.minimum.setflags(write=False)
        self.maximum.setflags(write=False)

    @classmethod
    def from_spec(cls, spec):
        """The same type, with the bounds of its dtype if it has none."""
        kind = tf.as_dtype(spec.dtype)
        return cls(spec.shape, kind, getattr(spec, "minimum", kind.min), getattr(spec, "maximum", kind.max), spec.name)

    def __repr__(self):
        return "BoundedTensorSpec(shape=%s, dtype=%r, name=%r, minimum=%r, maximum=%r)" % (self.shape, self.dtype, self.name, self.minimum, self.maximum)

    def __eq__(self, other):
        return isinstance(other, BoundedTensorSpec) and super().__eq__(other) and bool(
            (self.minimum == other.minimum).all() and (self.maximum == other.maximum).all())

    def __hash__(self):
        return hash((tuple(self.shape), self.dtype.name))


# ---- type specs by name ----

_NAME_TO_TYPE_SPEC, _TYPE_SPEC_TO_NAME = {}, {}


def register(name):
    """A decorator that remembers a TypeSpec by a name of the form module.Class."""
    import re
    if not isinstance(name, str):
        raise TypeError("Expected `name` to be a string; got %r" % (name,))
    if not re.match(r"^(\w+\.)+\w+$", name):
        raise ValueError("Registered name must have the form '{project_name}.{type_name}' (e.g. 'my_project.MyTypeSpec'); got %r." % name)

    def decorate(cls):
        if cls in _TYPE_SPEC_TO_NAME:
            raise ValueError("Class %s.%s has already been registered with name %s." % (cls.__module__, cls.__name__, _TYPE_SPEC_TO_NAME[cls]))
        if name in _NAME_TO_TYPE_SPEC:
            other = _NAME_TO_TYPE_SPEC[name]
            raise ValueError("Name %s has already been registered for class %s.%s." % (name, other.__module__, other.__name__))
        _TYPE_SPEC_TO_NAME[cls], _NAME_TO_TYPE_SPEC[name] = name, cls
        return cls
    return decorate


def lookup(name):
    """The TypeSpec of a name."""
    if name not in _NAME_TO_TYPE_SPEC:
        raise ValueError("No TypeSpec has been registered with name %r" % (name,))
    return _NAME_TO_TYPE_SPEC[name]


def get_name(cls):
    """The name of a TypeSpec."""
    if cls not in _TYPE_SPEC_TO_NAME:
        raise ValueError("TypeSpec %s.%s has not been registered." % (cls.__module__, cls.__name__))
    return _TYPE_SPEC_TO_NAME[cls]


# ---- what isinstance asks for ----


class DistributedVariable(abc.ABC):
    """A variable of several replicas: here each replica's is a tf.Variable, so nothing is one of these."""


class AggregatingVariable(DistributedVariable):
    """A variable of a parameter server."""


class PartitionedVariable(abc.ABC):
    """A variable in several parts: there are none, variables are whole."""


class VariableSpec(tf.TypeSpec):
    """The type of a variable."""

    def __init__(self, shape, dtype=tf.float32, trainable=True, alias_id=None):
        self._shape, self._dtype, self.trainable, self.alias_id = tf.TensorShape(shape), tf.as_dtype(dtype), trainable, alias_id

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    value_type = property(lambda self: tf.Variable)

    def _key(self):
        return (VariableSpec, str(self._shape), self._dtype.name, self.trainable, self.alias_id)

    def __eq__(self, other):
        return isinstance(other, VariableSpec) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        return "VariableSpec(shape=%s, dtype=%r, trainable=%r, alias_id=%r)" % (self._shape, self._dtype, self.trainable, self.alias_id)


class Transformer(ast.NodeTransformer):
    """The base of passes over code: AutoGraph's parts are not there for others."""

    def __init__(self, ctx):
        del ctx
        raise NotImplementedError("tensorflow.python.autograph.pyct.transformer.Base: AutoGraph's parts are not there for other programs")


class TraceType(abc.ABC):
    """What tells calls of a tf.function apart."""


class Tensor(abc.ABC):
    """What is a tensor: a base of a program's own classes, and what isinstance asks for."""


Tensor.register(tf.Tensor)
SymbolicTensor = _core.SymbolicTensor


class DenseColumn(abc.ABC):
    """A feature column of numbers: a base of a program's own, and what isinstance asks for."""


class _DenseColumn(abc.ABC):
    """The same in TensorFlow 1."""


class CategoricalColumn(abc.ABC):
    """A feature column of categories."""


class _CategoricalColumn(abc.ABC):
    """The same in TensorFlow 1."""


class StateManager(abc.ABC):
    """What would make the variables of columns; here columns make their own."""


for _name in ("NumericColumn", "BucketizedColumn", "EmbeddingColumn", "IndicatorColumn"):
    DenseColumn.register(getattr(tf.feature_column._columns, _name))
for _name in ("IdentityCategoricalColumn", "HashedCategoricalColumn", "VocabularyListCategoricalColumn", "VocabularyFileCategoricalColumn", "CrossedColumn",
              "WeightedCategoricalColumn", "BucketizedColumn"):
    CategoricalColumn.register(getattr(tf.feature_column._columns, _name))


class TrackableReference:
    """A child's name and the child."""

    def __init__(self, name, ref):
        self.name, self.ref = name, ref

    def __iter__(self):
        yield self.name
        yield self.ref

    def __repr__(self):
        return "TrackableReference(name=%s, ref=%r)" % (self.name, self.ref)

    def __eq__(self, other):
        return isinstance(other, TrackableReference) and self.name == other.name and self.ref is other.ref

    def __hash__(self):
        return hash((self.name, id(self.ref)))


class Reference:
    """Stands for an object by its identity."""

    def __init__(self, wrapped):
        self._wrapped = wrapped

    unwrapped = property(lambda self: self._wrapped)

    def deref(self):
        """The object."""
        return self._wrapped

    def __eq__(self, other):
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __hash__(self):
        return id(self._wrapped)

    def __repr__(self):
        return "<Reference wrapping %r>" % (self._wrapped,)


# ---- counters ----


class _Cell:
    def __init__(self):
        self._value = 0

    def set(self, value):
        """Another value."""
        self._value = value

    def increase_by(self, value):
        """More of it."""
        self._value += value

    add = increase_by

    def value(self):
        """The value."""
        return self._value


class _Gauge:
    """Numbers by labels, which a program counts; nobody else reads them."""

    def __init__(self, name, description, *labels):
        self._name, self._description, self._labels, self._cells = name, description, labels, {}

    def get_cell(self, *labels):
        """The number of these labels."""
        if len(labels) != len(self._labels):
            raise ValueError("The %s expects taking %d labels" % (self._name, len(self._labels)))
        return self._cells.setdefault(labels, _Cell())


BoolGauge = IntGauge = StringGauge = Counter = Sampler = _Gauge


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj):
    """What the object is given as attributes inside is not tracked."""
    before, obj._setattr_tracking = getattr(obj, "_setattr_tracking", True), False
    try:
        yield
    finally:
        obj._setattr_tracking = before


def no_automatic_dependency_tracking(method):
    """A method that sets attributes without tracking them."""
    @functools.wraps(method)
    def untracked(self, *args, **kwargs):
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)
    return untracked


def sticky_attribute_assignment(trackable, name, value):
    """The value that an object shall have as an attribute: children are found by looking at the attributes."""
    del trackable, name
    return value
