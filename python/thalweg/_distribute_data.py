"""Datasets of tf.distribute's strategies: which part of the input a replica gets."""
import collections
import enum

import thalweg as tf

_TensorPerReplica = tf.distribute._rows._PerReplica


class InputReplicationMode(enum.Enum):
    """How often a program's input function is called."""
    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputContext:
    """Which part of the input a function is to make."""

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1):
        self.num_input_pipelines, self.input_pipeline_id, self.num_replicas_in_sync = num_input_pipelines, input_pipeline_id, num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size):
        """A replica's part of a batch."""
        if global_batch_size % self.num_replicas_in_sync != 0:
            raise ValueError("The `global_batch_size` %r is not divisible by `num_replicas_in_sync` %r " % (
                global_batch_size, self.num_replicas_in_sync))
        return global_batch_size // self.num_replicas_in_sync

    def __str__(self):
        return "tf.distribute.InputContext(input pipeline id {}, total: {})".format(self.input_pipeline_id, self.num_input_pipelines)

    __repr__ = __str__


class ValueContext:
    """For which replica a function is to make a value."""

    def __init__(self, replica_id_in_sync_group=0, num_replicas_in_sync=1):
        self.replica_id_in_sync_group, self.num_replicas_in_sync = replica_id_in_sync_group, num_replicas_in_sync

    def __str__(self):
        return "tf.distribute.ValueContext(replica id {},  total replicas in sync: {})".format(
            self.replica_id_in_sync_group, self.num_replicas_in_sync)

    __repr__ = __str__


RunOptions = collections.namedtuple("RunOptions", ["experimental_enable_dynamic_batch_size", "experimental_bucketizing_dynamic_shape",
                                                   "experimental_xla_options"], defaults=(True, False, None))
InputOptions = collections.namedtuple("InputOptions", [
    "experimental_fetch_to_device", "experimental_replication_mode", "experimental_place_dataset_on_device",
    "experimental_per_replica_buffer_size"], defaults=(True, InputReplicationMode.PER_WORKER, False, 1))


def grouped(strategy, dataset):
    """Elements for one replica each, put together; what is missing in the last step has no rows."""
    count = strategy._here[0]
    if count == 1:
        return dataset
    spec = dataset.element_spec
    leaves = tf.nest.flatten(spec)
    for leaf in leaves:
        if not isinstance(leaf, tf.TensorSpec):
            raise NotImplementedError("distribute_datasets_from_function: elements of %s are not supported" % type(leaf).__name__)
    padded = any(leaf.shape.rank is None or None in leaf.shape.as_list() for leaf in leaves)
    windows = dataset.window(count, drop_remainder=not padded)

    def empty(leaf):
        return tf.zeros([] if leaf.shape.rank is None else [d or 0 for d in leaf.shape.as_list()], leaf.dtype)

    def join(*windows):
        window = tf.data.Dataset.zip(tf.nest.pack_sequence_as(spec, tf.nest.flatten(windows))) if isinstance(spec, (tuple, dict)) else windows[0]
        if padded:
            nothing = tf.data.Dataset.from_tensors(tf.nest.map_structure(empty, spec)).repeat(count)
            window = window.concatenate(nothing)
        elements = [window.skip(i).take(1).get_single_element() for i in range(count)]
        return tf.nest.map_structure(lambda *parts: _TensorPerReplica(list(parts)), *elements)
    join.autograph_do_not_convert = True
    return windows.map(join)
