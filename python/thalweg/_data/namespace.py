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
    from thalweg._data import files, options
    for name in ("Options", "ThreadingOptions"):
        setattr(data, name, getattr(options, name))
    data.TextLineDataset, data.TFRecordDataset = files.TextLineDataset, files.TFRecordDataset
    data.FixedLengthRecordDataset = files.FixedLengthRecordDataset
    data.Iterator = iterators.OwnedIterator
    data.DatasetSpec, data.IteratorSpec = structure.DatasetSpec, iterators.IteratorSpec
    data.AUTOTUNE, data.INFINITE_CARDINALITY, data.UNKNOWN_CARDINALITY = -1, -1, -2
    experimental = sys.modules["thalweg.data.experimental"] = types.ModuleType("thalweg.data.experimental")
    data.experimental = experimental
    experimental.AUTOTUNE, experimental.INFINITE_CARDINALITY, experimental.UNKNOWN_CARDINALITY = -1, -1, -2
    experimental.Optional = iterators.Optional
    experimental.cardinality = lambda dataset: dataset.cardinality()
    experimental.get_single_element = lambda dataset: dataset.get_single_element()
    experimental.Counter = data.Dataset.counter
    experimental.RandomDataset = data.Dataset.random
    experimental.choose_from_datasets = data.Dataset.choose_from_datasets
    experimental.sample_from_datasets = data.Dataset.sample_from_datasets
    experimental.CsvDataset, experimental.make_csv_dataset = files.CsvDataset, files.make_csv_dataset
    for name in ("AutotuneOptions", "DistributeOptions", "OptimizationOptions", "ThreadingOptions"):
        setattr(experimental, name, getattr(options, name))

    def method(name):
        def transformation(*args, **kwargs):
            return lambda dataset: getattr(dataset, name)(*args, **kwargs)
        transformation.__name__ = name
        transformation.__doc__ = "Dataset.%s as a function of a dataset, for Dataset.apply." % name
        return transformation
    for name in ("ignore_errors", "unique", "scan", "take_while", "group_by_window", "bucket_by_sequence_length", "unbatch"):
        setattr(experimental, name, method(name))
    experimental.enumerate_dataset = lambda start=0: lambda dataset: dataset.enumerate(start)
    experimental.dense_to_ragged_batch = lambda *args, **kwargs: lambda dataset: dataset.ragged_batch(*args, **kwargs)

    def assert_cardinality(expected_cardinality):
        """Asserts the number of elements."""
        return lambda given: dataset.finish(data._rows._AssertCardinalityDataset(given, expected_cardinality), given.element_spec)
    experimental.assert_cardinality = assert_cardinality

    def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
        """map and batch."""
        return lambda given: given.map(map_func, num_parallel_calls or num_parallel_batches).batch(batch_size, drop_remainder)
    experimental.map_and_batch = map_and_batch

    def shuffle_and_repeat(buffer_size, count=None, seed=None):
        """shuffle and repeat."""
        return lambda given: given.shuffle(buffer_size, seed).repeat(count)
    experimental.shuffle_and_repeat = shuffle_and_repeat
    experimental.get_structure = lambda given: given.element_spec
