"""Batches that Python code gives to fit, evaluate and predict, Sequences and generators, as datasets. Arrays and datasets are C's
(src/keras/models/nesting.c)."""
import collections.abc
import itertools
import random

import thalweg as tf
from thalweg import _core, nest

_PLAIN = (list, tuple, dict, str, bytes)


class Source:
    """Where batches come from: `x` as C takes it, the number of steps if it is known, and the Sequence."""

    def __init__(self, model, x, y=None, weight=None, shuffle=False):
        self.x, self.steps, self.sequence = x, None, None
        if isinstance(x, _PLAIN) or hasattr(x, "__array__") or _core.is_tensor(x) or isinstance(x, tf.data.Dataset):
            return
        if isinstance(x, tf.keras.utils.Sequence):
            _refuse(y, weight, "`keras.utils.Sequence`")
            self.steps, self.sequence = len(x), x
            self.x, first = _sequence_dataset(x, shuffle)
        elif hasattr(x, "__iter__") and not isinstance(x, collections.abc.Mapping):
            _refuse(y, weight, "python generator")
            self.x, first = _generator_dataset(x)
        else:
            return
        if not model.built:  # the specs of what Python code gives have no sizes
            try:
                model(first[0] if isinstance(first, tuple) else first, training=False)
            except NotImplementedError:  # it has steps of its own, and no call
                pass


def _refuse(y, weight, what):
    if y is not None:
        raise ValueError("`y` argument is not supported when using %s as input." % what)
    if weight is not None:
        raise ValueError("`sample_weight` argument is not supported when using %s as input." % what)


def _element(value):
    """A batch that Python code gave: a tuple of structures of tensors, or x alone if it is one tensor."""
    if not isinstance(value, tuple):
        value = tuple(value) if isinstance(value, list) and 1 <= len(value) <= 3 else (value,)

    def tuples(v):
        if isinstance(v, dict):
            return {key: tuples(item) for key, item in v.items()}
        return tuple(map(tuples, v)) if isinstance(v, (list, tuple)) else v
    parts = tuple(tuples(tf.keras.utils._arrays(v)) for v in value if v is not None)
    return parts[0] if len(parts) == 1 and not nest.is_nested(parts[0]) else parts


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
