"""Dataset.save and load: functions and structures for the library's steps (src/data/source/saved.c)."""
import os

import thalweg as tf
from thalweg._data import structure
from thalweg._data.dataset import AUTOTUNE, rows
from thalweg._data.function import Traced


def save(dataset, path, compression, shard_func, checkpoint_args):
    if checkpoint_args is not None:
        raise NotImplementedError("Dataset.save: checkpoint_args are not supported")
    if not tf.executing_eagerly():
        raise NotImplementedError("Dataset.save is supported in eager mode only")
    path = os.fsdecode(path)

    def shard_of(*element):
        return tf.constant(0, tf.int64) if shard_func is None else tf.cast(shard_func(*element), tf.int64)
    shard_of.autograph_do_not_convert = shard_func is None
    traced = Traced(shard_of, "save", dataset.element_spec)
    spec = tf.data._structure_bytes(dataset.element_spec)
    for _ in rows._SaveDataset(dataset, path, traced.graph_function, shard_func is not None, compression or "", spec):
        pass


def load(path, element_spec, compression, reader_func):
    path = os.fsdecode(path)
    if element_spec is None:
        element_spec = tf.data._structure_of(tf.data._saved_spec(path))
    if reader_func is None:
        def reader_func(datasets):
            return datasets.interleave(lambda shard: shard, cycle_length=os.cpu_count() or 1, num_parallel_calls=AUTOTUNE)
    shards = structure.DatasetSpec(structure.DatasetSpec(element_spec))
    return rows._LoadDataset(path, Traced(reader_func, "load", shards).graph_function, element_spec, compression or "")
