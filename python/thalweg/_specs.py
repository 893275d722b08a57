"""Types of values that are seldom named: slices, lists of tensors, optionals. Loaded when first asked for."""
import thalweg as tf
from thalweg._data import structure

OptionalSpec = structure.OptionalSpec
OptionalSpec.from_value = staticmethod(lambda value: OptionalSpec(value.element_spec))


class _Spec:
    """A type that is known by its settings."""

    def __eq__(self, other):
        return type(self) is type(other) and self._settings() == other._settings()

    def __hash__(self):
        return hash(repr(self))

    def __repr__(self):
        return "%s(%s)" % (type(self).__name__, ", ".join(map(repr, self._settings())))


class IndexedSlicesSpec(_Spec):
    """What describes tf.IndexedSlices."""

    value_type = property(lambda self: tf.IndexedSlices)

    def __init__(self, shape=None, dtype=tf.float32, indices_dtype=tf.int64, dense_shape_dtype=None, indices_shape=None):
        self._shape, self._dtype = tf.TensorShape(shape), tf.as_dtype(dtype)
        self._indices_dtype = tf.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else tf.as_dtype(dense_shape_dtype)
        self._indices_shape = tf.TensorShape(indices_shape).with_rank(1)

    shape, dtype = property(lambda self: self._shape), property(lambda self: self._dtype)

    def _settings(self):
        return self._shape, self._dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape

    def is_compatible_with(self, spec_or_value):
        """Whether slices, or another such type, fit."""
        other = spec_or_value
        return (isinstance(other, (tf.IndexedSlices, IndexedSlicesSpec)) and other.dtype == self._dtype and
                self._shape.is_compatible_with(other.shape if other.shape is not None else None))


class TensorArraySpec(_Spec):
    """What describes a tf.TensorArray."""

    value_type = property(lambda self: tf.TensorArray)

    def __init__(self, element_shape=None, dtype=tf.float32, dynamic_size=False, infer_shape=True):
        self._shape, self._dtype = tf.TensorShape(element_shape), tf.as_dtype(dtype)
        self._dynamic_size, self._infer_shape = dynamic_size, infer_shape

    def _settings(self):
        return self._shape, self._dtype, self._dynamic_size, self._infer_shape

    @staticmethod
    def from_value(value):
        """What describes a TensorArray."""
        if not isinstance(value, tf.TensorArray):
            raise TypeError("Expected value to be a TensorArray, but got: `%s`." % type(value))
        return TensorArraySpec(value.element_shape, value.dtype, value.dynamic_size, True)

    def is_compatible_with(self, other):
        """Whether a TensorArray, or another such type, fits."""
        other = other if isinstance(other, TensorArraySpec) else TensorArraySpec.from_value(other)
        return self._dtype == other._dtype and self._shape.is_compatible_with(other._shape) and self._dynamic_size == other._dynamic_size
