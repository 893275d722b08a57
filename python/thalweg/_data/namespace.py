"""Fills tf.data."""
import sys
import types

import thalweg as tf


def fill(found):
    """`found`: what the class rows gave to the module, by name."""
    data = tf.data
    data._rows = types.SimpleNamespace(**found)
    data.__dict__.update(found)
    from thalweg._data import dataset, iterators, structure
    dataset.rows = data._rows
    for name, member in vars(dataset.Methods).items():
        if name not in ("__module__", "__dict__", "__weakref__", "__doc__"):
            setattr(data.Dataset, name, member)
    data.Iterator = iterators.OwnedIterator
    data.DatasetSpec, data.IteratorSpec = structure.DatasetSpec, iterators.IteratorSpec
    data.AUTOTUNE, data.INFINITE_CARDINALITY, data.UNKNOWN_CARDINALITY = -1, -1, -2
    experimental = sys.modules["thalweg.data.experimental"] = types.ModuleType("thalweg.data.experimental")
    data.experimental = experimental
    experimental.AUTOTUNE, experimental.INFINITE_CARDINALITY, experimental.UNKNOWN_CARDINALITY = -1, -1, -2
    experimental.Optional = iterators.Optional
