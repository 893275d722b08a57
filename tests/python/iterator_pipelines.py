"""Pipelines of every step, for tests of checkpoints of iterators: makers of datasets by name. A maker takes a folder that make_files has filled."""
import gzip
import os
import struct

import numpy as np
import thalweg as tf

D = tf.data.Dataset


def make_files(folder):
    for n in range(2):
        with open(os.path.join(folder, "lines%d.txt" % n), "w") as file:
            file.write("".join("file %d line %d\n" % (n, i) for i in range(4)))
        with gzip.open(os.path.join(folder, "lines%d.txt.gz" % n), "wt") as file:
            file.write("".join("packed %d line %d\n" % (n, i) for i in range(4)))
        for kind in ("", "GZIP", "ZLIB"):
            with tf.io.TFRecordWriter(os.path.join(folder, "records%d%s" % (n, kind)), kind) as writer:
                for i in range(4):
                    writer.write(b"record %d %d" % (n, i))
        body = b"HEAD" + b"".join(struct.pack("<I", 10 * n + i) for i in range(4)) + b"FOOT"
        with open(os.path.join(folder, "pieces%d" % n), "wb") as file:
            file.write(body)
        with gzip.open(os.path.join(folder, "pieces%d.gz" % n), "wb") as file:
            file.write(body)
        with open(os.path.join(folder, "table%d.csv" % n), "w") as file:
            file.write("a,b\n" + "".join("%d,\"x,%d\"\n" % (i, n) for i in range(4)))
    D.range(7).save(os.path.join(folder, "saved"))
    D.range(7).save(os.path.join(folder, "shards"), shard_func=lambda x: x % 3)


def _files(folder, name):
    return [os.path.join(folder, name % n) for n in range(2)]


def _slow(x):
    return tf.reduce_sum(tf.linalg.matmul(tf.ones([16, 16]), tf.ones([16, 16]))) * 0 + tf.cast(x, tf.float32)


def _failing(x):
    tf.debugging.assert_none_equal(x % 4, tf.constant(2, tf.int64))
    return x


R = D.range


def sleeping(dataset):
    """With the raw op, which no method makes."""
    made = tf.raw_ops.SleepDataset(input_dataset=tf.data.experimental.to_variant(dataset), sleep_microseconds=10, output_types=[tf.int64], output_shapes=[[]])
    return tf.data.experimental.from_variant(made, tf.TensorSpec([], tf.int64))


PIPELINES = {
    # sources
    "range": lambda f: R(3, 20, 4),
    "sleep": lambda f: sleeping(R(9).shuffle(4, seed=1)),
    "range_float": lambda f: R(5, output_type=tf.float32),
    "tensors": lambda f: D.from_tensors((tf.constant([1, 2]), "a")),
    "slices": lambda f: D.from_tensor_slices({"a": np.arange(6).reshape(3, 2), "b": ["x", "y", "z"]}),
    "slices_batch": lambda f: D.from_tensor_slices(np.arange(7)).batch(3),
    "text_lines": lambda f: tf.data.TextLineDataset(_files(f, "lines%d.txt")),
    "text_lines_gzip": lambda f: tf.data.TextLineDataset(_files(f, "lines%d.txt.gz"), "GZIP"),
    "records": lambda f: tf.data.TFRecordDataset(_files(f, "records%d")),
    "records_gzip": lambda f: tf.data.TFRecordDataset(_files(f, "records%dGZIP"), "GZIP"),
    "records_zlib": lambda f: tf.data.TFRecordDataset(_files(f, "records%dZLIB"), "ZLIB"),
    "records_parallel": lambda f: tf.data.TFRecordDataset(_files(f, "records%d"), num_parallel_reads=2),
    "pieces": lambda f: tf.data.FixedLengthRecordDataset(_files(f, "pieces%d"), 4, 4, 4),
    "pieces_gzip": lambda f: tf.data.FixedLengthRecordDataset(_files(f, "pieces%d.gz"), 4, 4, 4, compression_type="GZIP"),
    "csv": lambda f: tf.data.experimental.CsvDataset(_files(f, "table%d.csv"), [tf.int32, tf.string], header=True),
    "random": lambda f: D.random(3).take(6),
    "random_unseeded": lambda f: D.random(rerandomize_each_iteration=True).take(4),
    "load": lambda f: D.load(os.path.join(f, "saved")),
    "load_shards": lambda f: D.load(os.path.join(f, "shards"), reader_func=lambda d: d.shuffle(3, seed=1).interleave(lambda x: x, cycle_length=2)),
    "list_files": lambda f: D.list_files(os.path.join(f, "lines*"), seed=4).map(tf.strings.length),
    "counter": lambda f: D.counter(3, 2).take(5),
    # steps that keep nothing
    "map": lambda f: R(6).map(lambda x: x * x),
    "filter": lambda f: R(9).filter(lambda x: x % 3 != 1),
    "take_while": lambda f: R(9).take_while(lambda x: x < 5),
    "batch": lambda f: R(7).map(lambda x: x + 1).batch(3),
    "batch_drop": lambda f: R(7).map(lambda x: x + 1).batch(3, drop_remainder=True),
    "batch_parallel": lambda f: R(7).map(lambda x: x + 1).batch(2, num_parallel_calls=2),
    "padded": lambda f: R(1, 7).map(lambda n: tf.fill([n], n)).padded_batch(2),
    "sparse_batch": lambda f: R(1, 7).map(lambda n: tf.fill([n], n)).sparse_batch(2, [None]).map(tf.sparse.to_dense),
    "ragged_batch": lambda f: R(1, 7).map(lambda n: tf.fill([n], n)).ragged_batch(2),
    "options": lambda f: R(5).with_options(tf.data.Options()),
    "ignore_errors": lambda f: R(9).map(_failing).ignore_errors(),
    "enumerate": lambda f: R(4, 8).enumerate(),
    # parts
    "take": lambda f: R(9).take(4),
    "take_all": lambda f: R(4).take(-1),
    "skip": lambda f: R(9).skip(4),
    "shard": lambda f: R(11).shard(3, 1),
    "repeat": lambda f: R(3).repeat(3),
    "repeat_endless": lambda f: R(3).repeat().take(8),
    "assert_cardinality": lambda f: R(5).apply(tf.data.experimental.assert_cardinality(5)),
    # steps that keep elements
    "shuffle": lambda f: R(12).shuffle(5, seed=7),
    "shuffle_unseeded": lambda f: R(12).shuffle(5),
    "shuffle_once": lambda f: R(8).shuffle(3, reshuffle_each_iteration=False).repeat(2),
    "shuffle_repeat": lambda f: R(6).shuffle(4).repeat(3),
    "shuffle_large": lambda f: R(6).shuffle(100, seed=1),
    "shuffle_all": lambda f: R(6).shuffle(tf.data.UNKNOWN_CARDINALITY, seed=1),
    "shuffle_strings": lambda f: D.from_tensor_slices(["a", "bb", "", "dd\0d"]).shuffle(3),
    "shuffle_windows": lambda f: R(12).window(3).shuffle(3).flat_map(lambda w: w.batch(3)),
    "shuffle_ragged": lambda f: D.from_tensor_slices(tf.ragged.constant([[1], [2, 3], [], [4, 5, 6]])).shuffle(3),
    "shuffle_sparse": lambda f: D.from_tensor_slices(tf.sparse.from_dense(np.eye(5, dtype=np.int32))).shuffle(3),
    "cache": lambda f: R(5).map(lambda x: x + 1).cache().repeat(3),
    "cache_shuffled": lambda f: R(6).shuffle(6).cache().repeat(2),
    "cache_again": lambda f: (lambda d: d.concatenate(d.map(lambda x: x + 100)))(R(4).shuffle(4).cache()),
    "cache_then_shuffle": lambda f: R(6).cache().shuffle(4).repeat(3),
    "window": lambda f: R(10).window(4, shift=2).flat_map(lambda w: w.batch(4)),
    "window_skips": lambda f: R(20).window(2, shift=5, stride=2, drop_remainder=True).flat_map(lambda w: w.batch(2)),
    "window_of_pairs": lambda f: D.zip((R(6), R(6, 12))).window(2).flat_map(lambda a, b: D.zip((a, b))),
    "group_by_window": lambda f: R(13).group_by_window(lambda x: x % 3, lambda k, w: w.map(lambda x: x * 10 + k), 2),
    "group_by_reducer": lambda f: R(13).shuffle(5).apply(tf.data.experimental.group_by_reducer(
        lambda x: x % 4, tf.data.experimental.Reducer(lambda k: k, lambda s, x: s * 10 + x, lambda s: s))),
    "bucket": lambda f: R(1, 9).map(lambda n: tf.fill([n], n)).bucket_by_sequence_length(lambda x: tf.size(x), [3, 6], [2, 2, 2]),
    "unbatch": lambda f: R(9).batch(4).unbatch(),
    "rebatch": lambda f: R(11).batch(4).rebatch([3, 1]),
    "unique": lambda f: R(12).map(lambda x: x % 5).unique(),
    "unique_strings": lambda f: D.from_tensor_slices(["a", "b", "a", "", "b", "c", ""]).unique(),
    "scan": lambda f: R(6).scan((tf.constant(0, tf.int64), "s"), lambda s, x: ((s[0] + x, s[1] + "."), (s[0], s[1]))),
    # several datasets
    "zip": lambda f: D.zip((R(6).shuffle(3), R(6, 12))),
    "zip_same": lambda f: (lambda d: D.zip((d, d)))(R(6).shuffle(3)).repeat(2),
    "concatenate": lambda f: R(4).shuffle(2).concatenate(R(4, 8).shuffle(3)),
    "choose": lambda f: D.choose_from_datasets([R(4), R(10, 14)], D.from_tensor_slices(np.array([0, 1, 1, 0, 1, 0, 1, 0], np.int64))),
    "sample": lambda f: D.sample_from_datasets([R(5), R(10, 15)], [0.5, 0.5]),
    # datasets of datasets
    "flat_map": lambda f: R(4).flat_map(lambda x: R(x).map(lambda y: x * 10 + y)),
    "flat_map_shuffle": lambda f: R(3, 6).flat_map(lambda x: R(x).shuffle(3, seed=2).repeat(2)),
    "interleave": lambda f: R(5).interleave(lambda x: R(x, x + 3), cycle_length=3, block_length=2),
    "interleave_parallel": lambda f: R(5).interleave(lambda x: R(x, x + 3), cycle_length=3, num_parallel_calls=2),
    "interleave_autotune": lambda f: R(4).interleave(lambda x: R(x, x + 3).shuffle(2, seed=5), num_parallel_calls=tf.data.AUTOTUNE),
    "interleave_files": lambda f: D.from_tensor_slices(_files(f, "lines%d.txt")).interleave(tf.data.TextLineDataset, cycle_length=2),
    # threads
    "map_parallel": lambda f: R(9).map(_slow, num_parallel_calls=3),
    "map_autotune": lambda f: R(40).map(lambda x: x + 1, num_parallel_calls=tf.data.AUTOTUNE),
    "map_parallel_errors": lambda f: R(9).map(_failing, num_parallel_calls=2).ignore_errors(),
    "prefetch": lambda f: R(9).prefetch(3),
    "prefetch_zero": lambda f: R(5).prefetch(0),
    "prefetch_autotune": lambda f: R(9).shuffle(4).prefetch(tf.data.AUTOTUNE),
    "prefetch_shuffle_repeat": lambda f: R(5).shuffle(3).repeat(2).prefetch(4),
    # all together
    "training": lambda f: R(20).cache().shuffle(8).repeat(2).map(lambda x: (x, tf.one_hot(x, 3)), num_parallel_calls=tf.data.AUTOTUNE)
    .batch(4, drop_remainder=True).prefetch(tf.data.AUTOTUNE),
    "interleaved_records": lambda f: D.from_tensor_slices(_files(f, "records%d")).shuffle(2).interleave(
        tf.data.TFRecordDataset, cycle_length=2, num_parallel_calls=2).map(tf.strings.length, num_parallel_calls=2).shuffle(3).batch(3).prefetch(2),
}


def plain(element):
    """An element as values that can be compared and printed."""
    if isinstance(element, dict):
        return {k: plain(v) for k, v in element.items()}
    if isinstance(element, (tuple, list)):
        return [plain(v) for v in element]
    if isinstance(element, tf.RaggedTensor):
        return element.to_list()
    if isinstance(element, tf.SparseTensor):
        return tf.sparse.to_dense(element).numpy().tolist()
    return repr(np.asarray(element.numpy()).tolist())


def rest(iterator):
    return [plain(e) for e in iterator]
