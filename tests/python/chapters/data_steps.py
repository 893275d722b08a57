"""Steps of datasets beyond the usual ones: batches of other sizes, resampling, sparse and ragged elements, choices, counters."""
import numpy as np
import tensorflow as tf
from said import elements, say

Dataset = tf.data.Dataset
count = Dataset.range
lengths = count(5).map(lambda n: tf.range(n))

for size in (3, [1, 2], 20):
    say("rebatch %s" % (size,), lambda: elements(count(10).batch(4).rebatch(size)))
say("rebatch drop", lambda: elements(count(10).batch(4).rebatch(3, drop_remainder=True)))
say("rebatch spec", lambda: (count(10).batch(4).rebatch(3), count(10).batch(4).rebatch(3, drop_remainder=True).element_spec))
say("rebatch pairs", lambda: [(a.tolist(), b.tolist()) for a, b in Dataset.zip((count(5), count(5, 10))).batch(2).rebatch(3).as_numpy_iterator()])

parity = count(20).map(lambda n: tf.cast(n % 2, tf.int32))
say("resample kind", lambda: parity.rejection_resample(lambda c: c, [0.5, 0.5], seed=3).element_spec)
say("resample equal", lambda: [(int(c), int(n)) for c, n in parity.rejection_resample(lambda c: c, [0.5, 0.5], [0.5, 0.5], seed=3)])
say("resample", lambda: [int(c) for c, n in count(40).map(lambda n: tf.cast(n % 4 == 0, tf.int32)).rejection_resample(
    lambda c: c, [0.5, 0.5], [0.75, 0.25], seed=3)])

say("ragged batch", lambda: list(lengths.ragged_batch(2)))
say("ragged batch spec", lambda: (lengths.ragged_batch(2), lengths.ragged_batch(2, drop_remainder=True).element_spec))
say("ragged batch int32", lambda: lengths.ragged_batch(2, row_splits_dtype=tf.int32).element_spec)
say("ragged batch of known shapes", lambda: (list(count(3).ragged_batch(2)), count(3).ragged_batch(2).element_spec))
say("ragged batch of pairs", lambda: list(count(3).map(lambda n: (n, tf.range(n))).ragged_batch(2)))
say("ragged batch rows", lambda: list(count(4).map(lambda n: tf.ones([n, 2])).ragged_batch(2)))
say("ragged batch columns", lambda: list(count(4).map(lambda n: tf.ones([2, n])).ragged_batch(2)))
say("ragged batch applied", lambda: list(lengths.apply(tf.data.experimental.dense_to_ragged_batch(3))))
say("sparse batch", lambda: [tf.sparse.to_dense(batch).numpy().tolist() for batch in lengths.sparse_batch(2, [4])])

ragged = tf.ragged.constant([[1], [2, 3], []])
deep = tf.ragged.constant([[[1], [2, 3]], [[4]], []])
say("slices", lambda: list(Dataset.from_tensor_slices(ragged)))
say("slices spec", lambda: Dataset.from_tensor_slices(ragged))
say("slices with labels", lambda: list(Dataset.from_tensor_slices((ragged, [7, 8, 9]))))
say("slices in batches", lambda: list(Dataset.from_tensor_slices(ragged).batch(2)))
say("whole", lambda: list(Dataset.from_tensors(ragged)))
say("map", lambda: list(Dataset.from_tensor_slices(ragged).map(lambda row: row * 2)))
say("map to ragged", lambda: list(count(3).map(lambda n: tf.RaggedTensor.from_row_lengths(tf.range(n), [n]))))
say("filter", lambda: list(Dataset.from_tensor_slices(ragged).filter(lambda row: tf.size(row) > 0)))
say("unbatch", lambda: list(Dataset.from_tensors(ragged).unbatch()))
say("deep slices", lambda: list(Dataset.from_tensor_slices(deep)))
say("deep batches", lambda: list(Dataset.from_tensor_slices(deep).batch(2)))
say("deep unbatch", lambda: list(Dataset.from_tensors(deep).unbatch()))
say("numpy", lambda: [row.tolist() for row in Dataset.from_tensor_slices(ragged).as_numpy_iterator()])

sparse = tf.sparse.from_dense([[1, 0], [0, 2]])
say("sparse slices", lambda: list(Dataset.from_tensor_slices(sparse)))
say("sparse spec", lambda: (Dataset.from_tensor_slices(sparse), Dataset.from_tensors(sparse)))
say("sparse batch again", lambda: [tf.sparse.to_dense(batch).numpy().tolist() for batch in Dataset.from_tensor_slices(sparse).batch(2)])
say("sparse map", lambda: elements(count(2).map(lambda n: tf.sparse.from_dense([n, 0, 1])).map(tf.sparse.to_dense)))
say("sparse unbatch", lambda: elements(Dataset.from_tensors(sparse).unbatch().map(tf.sparse.to_dense)))


@tf.function
def total(dataset):
    """Goes through ragged rows in a graph."""
    result = 0
    for row in dataset:
        result += tf.reduce_sum(row)
    return result


say("in a function", lambda: total(Dataset.from_tensor_slices(ragged)))

low, high = count(4), count(10, 14)
say("sample", lambda: elements(Dataset.sample_from_datasets([low, high], weights=[0.5, 0.5], seed=1)))
say("sample int weights", lambda: Dataset.sample_from_datasets([low, high], weights=[1, 0.]))
say("sample few weights", lambda: Dataset.sample_from_datasets([low, high], weights=[1]))
say("choose kinds", lambda: Dataset.choose_from_datasets([low, Dataset.from_tensors("a")], count(2)))
say("windows", lambda: count(4).group_by_window(lambda n: n, lambda key, group: group))
rows = Dataset.from_generator(lambda: [[0], [1, 2, 3, 4], [5, 6, 7], [7, 8, 9, 10, 11]], tf.int64, output_shapes=[None])
say("buckets", lambda: elements(rows.bucket_by_sequence_length(lambda row: tf.shape(row)[0], [3, 6], [2, 2, 2], pad_to_bucket_boundary=True)))
say("take_while", lambda: count(3).take_while(lambda n: n))
say("scan", lambda: count(3).scan(np.int64(0), lambda state, n: (1.0, n)))
say("unique", lambda: elements(Dataset.from_tensor_slices(([1, 2], [1, 1])).unique()))
say("padding", lambda: elements(lengths.padded_batch(2, padded_shapes=5, padding_values=-1)))
say("padded", lambda: elements(lengths.padded_batch(2, padded_shapes=5, padding_values=np.int64(-1))))
say("nothing", lambda: Dataset.from_tensor_slices(None))
say("interleave", lambda: elements(count(4).apply(tf.data.experimental.parallel_interleave(lambda n: count(2), 2))))
say("devices", lambda: (elements(count(2).apply(tf.data.experimental.copy_to_device("/cpu:0"))),
                        elements(count(2).apply(tf.data.experimental.prefetch_to_device("/cpu:0")))))
say("variant", lambda: tf.data.experimental.from_variant(tf.data.experimental.to_variant(count(3)), tf.TensorSpec([], tf.int64)))
say("list", lambda: list(tf.data.experimental.from_list([(1, "a"), (2, "b")]).as_numpy_iterator()))
