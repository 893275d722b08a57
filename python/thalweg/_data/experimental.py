"""What of tf.data.experimental is composed of other steps: groups that are reduced, tables, single elements, and the names of the data service, which is
not there."""
import collections
import enum
import sys

import thalweg as tf
from thalweg import _core

SHARD_HINT = -1


class Reducer:
    """How the elements of a group become one: a first state, a step, and the result."""

    def __init__(self, init_func, reduce_func, finalize_func):
        for name, function in (("init_func", init_func), ("reduce_func", reduce_func), ("finalize_func", finalize_func)):
            if not callable(function):
                raise TypeError("Reducer: `%s` must be callable, got %r" % (name, function))
        self._functions = init_func, reduce_func, finalize_func

    init_func = property(lambda self: self._functions[0])
    reduce_func = property(lambda self: self._functions[1])
    finalize_func = property(lambda self: self._functions[2])


def group_by_reducer(key_func, reducer):
    """Each group of elements with the same key as one element, in the order of the keys."""
    return lambda dataset: tf.data._rows._GroupByReducerDataset(dataset, key_func, reducer.init_func, reducer.reduce_func, reducer.finalize_func)


def at(dataset, index):
    """The element at an index."""
    count = int(dataset.cardinality())
    if count < 0:
        raise tf.errors.UnimplementedError(None, None, "Random access is not implemented for this dataset.")
    number = int(index)
    if not 0 <= number < count:
        raise tf.errors.OutOfRangeError(None, None, "Index out of range [0, %d):%d" % (count, number))
    return dataset.skip(number).take(1).get_single_element()


def get_next_as_optional(iterator):
    """The next element, or nothing at the end."""
    return iterator.get_next_as_optional()


def pad_to_cardinality(cardinality, mask_key="valid"):
    """Elements of zeros behind the others, up to a number; the mask says which are which."""
    def apply(dataset):
        count = dataset.cardinality()
        if tf.executing_eagerly() and int(count) < 0:
            raise ValueError("The dataset passed into `pad_to_cardinality` must have a known cardinality, but has cardinality %d" % int(count))
        if not isinstance(dataset.element_spec, dict):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        if mask_key in dataset.element_spec:
            raise ValueError("Mask key %r is already used in the dataset." % mask_key)
        spec = dataset.element_spec
        zeros = tf.data.Dataset.from_tensors({key: tf.zeros(s.shape, s.dtype) for key, s in spec.items()}).repeat(cardinality - count)
        return (dataset.map(lambda element: dict(element, **{mask_key: True}))
                .concatenate(zeros.map(lambda element: dict(element, **{mask_key: False}))))
    return apply


def parse_example_dataset(features, num_parallel_calls=1, deterministic=None):
    """Batches of Examples as batches of features."""
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")

    def apply(dataset):
        if dataset.element_spec.dtype != tf.string:
            raise TypeError("Expected input dataset to be a dataset of `tf.string` elements, but got %r" % (dataset.element_spec,))
        return dataset.map(lambda records: tf.io.parse_example(records, features), num_parallel_calls, deterministic)
    return apply


# ---- tables ----

def _pairs(dataset):
    keys, values = [], []
    for key, value in dataset:
        keys.append(key)
        values.append(value)
    return keys, values


class DatasetInitializer(tf.lookup.KeyValueTensorInitializer):
    """Fills a table with the pairs of a dataset."""

    def __init__(self, dataset):
        if not isinstance(dataset, tf.data.Dataset):
            raise ValueError("Invalid `dataset`. Expected a `tf.data.Dataset` object but got %s." % type(dataset))
        spec = dataset.element_spec
        if not isinstance(spec, tuple) or len(spec) != 2 or not all(isinstance(s, tf.TensorSpec) and s.shape.rank == 0 for s in spec):
            raise ValueError("Elements of a dataset used to initialize a table should be pairs of scalars, got %r" % (spec,))
        keys, values = _pairs(dataset)
        super().__init__(tf.stack(keys) if keys else tf.zeros([0], spec[0].dtype), tf.stack(values) if values else tf.zeros([0], spec[1].dtype))


def table_from_dataset(dataset=None, num_oov_buckets=0, vocab_size=None, default_value=None, hasher_spec=None, key_dtype=tf.string, name=None):
    """A table of the pairs of a dataset; keys that are not there have default_value, or one of more buckets."""
    if hasher_spec is not None:
        raise NotImplementedError("table_from_dataset: hasher_spec is not supported; buckets are found by the fast hash")
    if num_oov_buckets < 0:
        raise ValueError("`num_oov_buckets` must be greater than or equal to 0, got %s." % num_oov_buckets)
    if vocab_size is not None and vocab_size < 1:
        raise ValueError("`vocab_size` must be greater than 0, got %s." % vocab_size)
    if default_value is None and num_oov_buckets == 0:
        raise ValueError("table_from_dataset: `default_value` or `num_oov_buckets` must be given")
    if vocab_size is not None:
        dataset = dataset.take(vocab_size)
        dataset = dataset.apply(tf.data.experimental.assert_cardinality(vocab_size))
    made = DatasetInitializer(dataset)
    if num_oov_buckets:
        return tf.lookup.StaticVocabularyTable(made, num_oov_buckets)
    return tf.lookup.StaticHashTable(made, default_value)


def index_table_from_dataset(dataset=None, num_oov_buckets=0, vocab_size=None, default_value=-1, hasher_spec=None, key_dtype=tf.string, name=None):
    """A table from the elements of a dataset to their numbers."""
    return table_from_dataset(dataset.enumerate().map(lambda number, key: (key, number)), num_oov_buckets, vocab_size, default_value, hasher_spec,
                              key_dtype, name)


# ---- databases ----

class SqlDataset(tf.data.Dataset):
    """The rows that a query of an SQLite database gives."""

    def __new__(cls, driver_name, data_source_name, query, output_types):
        if driver_name != "sqlite":
            raise tf.errors.InvalidArgumentError(None, None, "The database type, %s, is not supported by SqlDataset. The set of supported databases is: "
                                                 "{'sqlite'}." % driver_name)
        kinds = tuple(tf.as_dtype(d) for d in output_types)

        def rows():
            try:
                import sqlite3
            except ImportError:
                raise tf.errors.UnimplementedError(None, None, "SqlDataset: this Python has no sqlite3") from None
            source = data_source_name.numpy().decode() if _core.is_tensor(data_source_name) else data_source_name
            database = sqlite3.connect(source)
            try:
                for row in database.execute(query.numpy().decode() if _core.is_tensor(query) else query):
                    if len(row) != len(kinds):
                        raise tf.errors.InvalidArgumentError(None, None, "The number of columns in query (%d) must match the number of elements in "
                                                             "output_types (%d)." % (len(row), len(kinds)))
                    yield tuple(_cell(value, kind) for value, kind in zip(row, kinds))
            finally:
                database.close()
        return tf.data.Dataset.from_generator(rows, output_signature=tuple(tf.TensorSpec([], d) for d in kinds))


def _cell(value, kind):
    """A value of a table, as its dtype wants it."""
    if kind == tf.string:
        return value if isinstance(value, (bytes, str)) else "" if value is None else str(value)
    if value is None:
        return kind.as_numpy_dtype(0)
    return bool(value) if kind == tf.bool else kind.as_numpy_dtype(value)


# ---- the data service ----

class ShardingPolicy(enum.IntEnum):
    """How the service would share out a dataset."""
    OFF, DYNAMIC, FILE, DATA, FILE_OR_DATA, HINT = range(6)


def _no_service(name):
    def call(*args, **kwargs):
        raise NotImplementedError("tf.data.experimental.service.%s is not supported: there is no data service; a dataset is read by its own process" % name)
    call.__name__ = call.__qualname__ = name
    call.__doc__ = "Not supported: there is no data service."
    return call


class CrossTrainerCache:
    """Which trainer reads from a cache."""

    def __init__(self, trainer_id):
        if not trainer_id:
            raise ValueError("tf.data service cross-trainer cache requires a non-empty trainer ID.")
        self.trainer_id = trainer_id


DispatcherConfig = collections.namedtuple(
    "DispatcherConfig", "port protocol work_dir fault_tolerant_mode worker_addresses job_gc_check_interval_ms job_gc_timeout_ms worker_timeout_ms "
    "worker_max_concurrent_snapshots", defaults=(0, "grpc", None, False, None, 0, 0, None, 0))
WorkerConfig = collections.namedtuple(
    "WorkerConfig", "dispatcher_address worker_address port protocol heartbeat_interval_ms dispatcher_timeout_ms data_transfer_protocol "
    "data_transfer_address", defaults=(None, 0, "grpc", None, None, None, None))


def enable_debug_mode():
    """Functions of datasets run as Python at each element: not supported."""
    raise NotImplementedError("tf.data.experimental.enable_debug_mode is not supported: functions of datasets are always traced")


def make_saveable_from_iterator(iterator, external_state_policy=None):
    """For sessions' savers: not supported; a Checkpoint saves iterators."""
    raise NotImplementedError("make_saveable_from_iterator is not supported; tf.train.Checkpoint(iterator=…) saves iterators")


class CheckpointInputPipelineHook:
    """For estimators: not supported."""

    def __init__(self, estimator, external_state_policy=None):
        raise NotImplementedError("CheckpointInputPipelineHook is not supported: there are no estimators")


def fill(module):
    """Fills tf.data.experimental."""
    for made in (Reducer, group_by_reducer, at, get_next_as_optional, pad_to_cardinality, parse_example_dataset, DatasetInitializer, table_from_dataset,
                 index_table_from_dataset, SqlDataset, enable_debug_mode, make_saveable_from_iterator, CheckpointInputPipelineHook):
        setattr(module, made.__name__, made)
    module.SHARD_HINT = SHARD_HINT
    service = module.service = sys.modules[module.__name__ + ".service"] = type(sys)(module.__name__ + ".service")
    for made in (ShardingPolicy, CrossTrainerCache, DispatcherConfig, WorkerConfig):
        setattr(service, made.__name__, made)
    for name in ("DispatchServer", "WorkerServer", "distribute", "from_dataset_id", "register_dataset"):
        setattr(service, name, _no_service(name))
