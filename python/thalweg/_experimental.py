"""tf.experimental: optionals, rows of ragged tensors, exchange of arrays with other libraries, and settings of TensorFlow's runtime. Loaded when first
asked for."""
import contextlib

import numpy as np

import thalweg as tf
from thalweg import _core


class RowPartition:
    """How values are cut into rows."""

    def __init__(self, row_splits, internal=False):
        if not internal:
            raise ValueError("RowPartition constructor is private; please use one of the factory methods instead (e.g., RowPartition.from_row_lengths())")
        self._splits = row_splits

    @classmethod
    def _of(cls, ragged):
        return cls(ragged.row_splits, internal=True)

    @classmethod
    def _make(cls, method, argument, dtype, dtype_hint, **kwargs):
        wanted = dtype or getattr(argument, "dtype", None) or dtype_hint or tf.int64
        argument = tf.cast(argument, tf.as_dtype(wanted))
        values = kwargs.pop("values", None)
        return cls._of(getattr(tf.RaggedTensor, method)(values(argument) if values else tf.range(0), argument, **kwargs))

    @classmethod
    def from_row_lengths(cls, row_lengths, validate=True, dtype=None, dtype_hint=None):
        """By the number of values of each row."""
        return cls._make("from_row_lengths", row_lengths, dtype, dtype_hint, validate=validate, values=lambda n: tf.range(tf.reduce_sum(n)))

    @classmethod
    def from_row_splits(cls, row_splits, validate=True, dtype=None, dtype_hint=None):
        """By the places where rows begin, and where the last one ends."""
        return cls._make("from_row_splits", row_splits, dtype, dtype_hint, validate=validate, values=lambda n: tf.range(n[-1]))

    @classmethod
    def from_row_limits(cls, row_limits, validate=True, dtype=None, dtype_hint=None):
        """By the places where rows end."""
        return cls._make("from_row_limits", row_limits, dtype, dtype_hint, validate=validate, values=lambda n: tf.range(n[-1] if n.shape[0] else 0))

    @classmethod
    def from_row_starts(cls, row_starts, nvals, validate=True, dtype=None, dtype_hint=None):
        """By the places where rows begin."""
        return cls._make("from_row_starts", row_starts, dtype, dtype_hint, validate=validate, values=lambda n: tf.range(nvals))

    @classmethod
    def from_value_rowids(cls, value_rowids, nrows=None, validate=True, dtype=None, dtype_hint=None):
        """By the row of each value."""
        return cls._make("from_value_rowids", value_rowids, dtype, dtype_hint, nrows=nrows, validate=validate, values=lambda n: tf.range(tf.size(n)))

    @classmethod
    def from_uniform_row_length(cls, uniform_row_length, nvals=None, nrows=None, validate=True, dtype=None, dtype_hint=None):
        """Rows of one length."""
        if nvals is None and nrows is None:
            raise ValueError("Either (or both) of nvals and nrows must be specified")
        count = nvals if nvals is not None else uniform_row_length * nrows
        return cls._of(tf.RaggedTensor.from_uniform_row_length(tf.range(count), tf.cast(uniform_row_length, dtype or dtype_hint or tf.int64), nrows, validate))

    def _ragged(self):
        return tf.RaggedTensor.from_row_splits(tf.range(self._splits[-1]), self._splits, validate=False)

    dtype = property(lambda self: self._splits.dtype)
    static_nrows = property(lambda self: None if self._splits.shape[0] is None else self._splits.shape[0] - 1)

    @property
    def static_nvals(self):
        """The number of values, if it is known."""
        value = tf.get_static_value(self._splits)
        return None if value is None else int(value[-1])

    def row_splits(self):
        """Where rows begin, and where the last one ends."""
        return self._splits

    def row_starts(self):
        """Where rows begin."""
        return self._splits[:-1]

    def row_limits(self):
        """Where rows end."""
        return self._splits[1:]

    def row_lengths(self):
        """The number of values of each row."""
        return self._splits[1:] - self._splits[:-1]

    def value_rowids(self):
        """The row of each value."""
        return self._ragged().value_rowids()

    def nrows(self):
        """The number of rows."""
        return tf.cast(tf.shape(self._splits)[0] - 1, self.dtype)

    def nvals(self):
        """The number of values."""
        return self._splits[-1]

    def offsets_in_rows(self):
        """The place of each value in its row."""
        return tf.range(self._splits[-1]) - tf.gather(self._splits[:-1], self.value_rowids())

    def is_uniform(self):
        """Whether the rows are known to have one length."""
        return self.static_uniform_row_length is not None

    static_uniform_row_length = property(lambda self: None)

    def uniform_row_length(self):
        """The length that all rows are known to have."""
        return None

    def with_dtype(self, dtype):
        """The same with numbers of another dtype."""
        return RowPartition(tf.cast(self._splits, dtype), internal=True)

    def __repr__(self):
        return "tf.RowPartition(row_splits=%s)" % (self._splits.numpy() if tf.executing_eagerly() else self._splits)


# ---- arrays of other libraries ----

class _Capsule:
    """What NumPy takes a capsule from."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, stream=None):
        return self._capsule

    def __dlpack_device__(self):
        return 1, 0


def to_dlpack(tf_tensor):
    """The elements as a DLPack capsule."""
    value = tf.convert_to_tensor(tf_tensor)
    if value.dtype in (tf.string, tf.resource, tf.variant) or value.dtype == tf.bool:
        raise tf.errors.InvalidArgumentError(None, None, "%s is not supported by dlpack" % value.dtype.name)
    return np.array(value.numpy()).__dlpack__()


def from_dlpack(dlcapsule):
    """The tensor of a DLPack capsule; the elements are copied."""
    if type(dlcapsule).__name__ != "PyCapsule":
        raise TypeError("from_dlpack: expected a DLPack capsule, got %r" % (type(dlcapsule),))
    return tf.constant(np.from_dlpack(_Capsule(dlcapsule)))


# ---- settings ----

@contextlib.contextmanager
def async_scope():
    """Calls inside are done when they return, as outside."""
    yield


def async_clear_error():
    """Nothing: errors are raised where they happen."""


@contextlib.contextmanager
def function_executor_type(executor_type):
    """Functions run in the one way there is."""
    if executor_type is not None and not isinstance(executor_type, str):
        raise TypeError("function_executor_type: expected a text or None, got %r" % (executor_type,))
    yield


def enable_strict_mode():
    """Deprecated functions raise errors: no function here warns of deprecation."""


def __getattr__(name):
    if name == "Optional":
        return tf.data.experimental.Optional
    raise AttributeError(name)


__getattr__ = _core._getter(__getattr__, None)


EXPERIMENTAL = ("Optional", "RowPartition", "async_scope", "async_clear_error", "function_executor_type", "enable_strict_mode")


def general_dropout(x, rate, uniform_sampler, noise_shape=None, name=None):
    """x where numbers of a function of the program's are not below the rate, scaled up; else 0."""
    x = tf.convert_to_tensor(x)
    if isinstance(rate, (int, float)) and not 0 <= rate < 1:
        raise ValueError("`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate=%s" % rate)
    if not x.dtype.is_floating:
        raise ValueError("`x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype=%r" % x.dtype)
    if isinstance(rate, (int, float)) and rate == 0:
        return x
    with tf.name_scope(name or "dropout"):
        shape = tf.shape(x) if noise_shape is None else [size if size is not None else tf.shape(x)[axis] for axis, size in enumerate(noise_shape)]
        keep = uniform_sampler(shape=shape, dtype=x.dtype) >= tf.cast(rate, x.dtype)
        return tf.where(keep, x / (1 - tf.cast(rate, x.dtype)), tf.zeros([], x.dtype))


def stateless_dropout(x, rate, seed, rng_alg="auto_select", noise_shape=None, name=None):
    """As tf.nn.dropout; what is dropped follows from the seed alone."""
    return general_dropout(x, rate, lambda shape, dtype: tf.random.stateless_uniform(shape, seed, dtype=dtype, alg=rng_alg), noise_shape, name)
