"""Where the batches of fit, evaluate and predict come from: arrays, datasets, Sequences and generators as flat tensors or a dataset, and the structures
of x, y and the weights."""
import collections.abc
import itertools
import random

import numpy as np

import thalweg as tf
from thalweg import _core, nest


def _is_scalars(value):
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(
        isinstance(v, (int, float, str, bytes)) or _is_scalars(v) for v in value)


def _tensor(value):
    """One array: floats are float32, as Keras takes them."""
    if _core.is_tensor(value):
        return tf.convert_to_tensor(value)
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    value = np.asarray(value)
    if value.dtype.kind == "f" and value.dtype != np.float32:
        value = value.astype(np.float32)
    return tf.convert_to_tensor(value)


def _arrays(value):
    """A structure with tensors for arrays; lists of numbers are arrays."""
    if value is None:
        return None
    if hasattr(value, "to_numpy") and hasattr(value, "columns"):
        return _tensor(value)
    if _is_scalars(value):
        return _tensor(value)
    if isinstance(value, collections.abc.Mapping):
        return {key: _arrays(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_arrays(item) for item in value) if not hasattr(value, "_make") else value._make(_arrays(v) for v in value)
    return _tensor(value)


def _leaves(value):
    return [] if value is None else [leaf for leaf in nest.flatten(value) if leaf is not None]


def _shape_only(value):
    """The structure with 0 for leaves that are there, to compare and to pack."""
    return None if value is None else nest.map_structure(lambda leaf: None if leaf is None else 0, value)


class _Batches:
    """Where batches come from: flat tensors or a dataset, how many tensors are x, y and weights, and their structures."""

    def __init__(self, x, y=None, weight=None, shuffle=False, who="fit", steps=None):
        self.dataset, self.tensors, self.steps, self.sequence, self.first = None, [], None, None, None
        if isinstance(x, _Batches):
            self.__dict__.update(x.__dict__)
            return
        if isinstance(x, tf.data.Dataset):
            _refuse(y, weight, "dataset")
            self._of_dataset(x)
        elif isinstance(x, tf.keras.utils.Sequence):
            _refuse(y, weight, "`keras.utils.Sequence`")
            self.steps, self.sequence = len(x), x
            dataset, self.first = _sequence_dataset(x, shuffle)
            self._of_dataset(dataset)
        elif isinstance(x, collections.abc.Iterator) or (hasattr(x, "__iter__") and not isinstance(x, (
                list, tuple, dict, str, bytes, np.ndarray)) and not _core.is_tensor(x) and not hasattr(x, "__array__")):
            _refuse(y, weight, "python generator")
            dataset, self.first = _generator_dataset(x)
            self._of_dataset(dataset)
        else:
            parts = [_arrays(x), _arrays(y), _arrays(weight)]
            if parts[0] is None:
                raise ValueError("%s: there is no x" % who)
            self._structures(parts)
            self.tensors = [leaf for part in parts for leaf in _leaves(part)]

    def build(self, model):
        """Calls a model without weights with the first batch: the specs of what Python code gives have no sizes."""
        if self.first is not None and not model.built:
            model(self.first[0], training=False)

    def _of_dataset(self, dataset):
        spec = dataset.element_spec
        if isinstance(spec, tuple) and not hasattr(spec, "_make"):
            if not 1 <= len(spec) <= 3:
                raise ValueError("Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, found: %s" % (spec,))
            parts = list(spec) + [None] * (3 - len(spec))
        else:
            parts = [spec, None, None]
        self._structures(parts)
        self.dataset = dataset

    def _structures(self, parts):
        self.structures = tuple(_shape_only(part) for part in parts)
        self.parts = [len(_leaves(part)) for part in parts]


def _refuse(y, weight, what):
    if y is not None:
        raise ValueError("`y` argument is not supported when using %s as input." % what)
    if weight is not None:
        raise ValueError("`sample_weight` argument is not supported when using %s as input." % what)


def _element(value):
    """A batch that Python code gave, as a tuple of structures of tensors."""
    if not isinstance(value, tuple):
        value = tuple(value) if isinstance(value, list) and 1 <= len(value) <= 3 else (value,)

    def tuples(v):
        if isinstance(v, dict):
            return {key: tuples(item) for key, item in v.items()}
        return tuple(map(tuples, v)) if isinstance(v, (list, tuple)) else v
    return tuple(tuples(_arrays(v)) for v in value if v is not None)


def _dataset_of(first, make):
    signature = nest.map_structure(lambda t: tf.TensorSpec([None] * t.shape.rank, t.dtype), first)
    return tf.data.Dataset.from_generator(make, output_signature=signature)


def _generator_dataset(x):
    iterator = iter(x)
    try:
        first = _element(next(iterator))
    except StopIteration:
        raise ValueError("Expected input data to be non-empty.") from None
    return _dataset_of(first, lambda: itertools.chain([first], map(_element, iterator))), first


def _sequence_dataset(sequence, shuffle):
    if not len(sequence):
        raise ValueError("Expected input data to be non-empty.")

    def batches():
        order = list(range(len(sequence)))
        if shuffle:
            random.shuffle(order)
        for index in order:
            yield _element(sequence[index])
    first = _element(sequence[0])
    return _dataset_of(first, batches).apply(tf.data.experimental.assert_cardinality(len(sequence))), first


class Sequence:
    """keras.utils.Sequence: batches by number."""

    def __getitem__(self, index):
        raise NotImplementedError

    def __len__(self):
        raise NotImplementedError

    def on_epoch_end(self):
        """Called after every epoch."""

    def __iter__(self):
        for index in range(len(self)):
            yield self[index]
