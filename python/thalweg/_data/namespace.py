"""Fills tf.data."""
import sys

import thalweg as tf


def _steps(experimental):
    """Steps as functions of a dataset, for Dataset.apply."""
    def bucket_by_sequence_length(element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None, padding_values=None,
                                  pad_to_bucket_boundary=False, no_padding=False, drop_remainder=False):
        """Dataset.bucket_by_sequence_length for Dataset.apply."""
        return lambda dataset: dataset.bucket_by_sequence_length(element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
                                                                 pad_to_bucket_boundary, no_padding, drop_remainder)

    def group_by_window(key_func, reduce_func, window_size=None, window_size_func=None):
        """Dataset.group_by_window for Dataset.apply."""
        return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)

    def rejection_resample(class_func, target_dist, initial_dist=None, seed=None):
        """Dataset.rejection_resample for Dataset.apply."""
        return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)

    def snapshot(path, compression="AUTO", reader_func=None, shard_func=None):
        """Dataset.snapshot for Dataset.apply."""
        return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)

    def dense_to_ragged_batch(batch_size, drop_remainder=False, row_splits_dtype=tf.int64):
        """Dataset.ragged_batch for Dataset.apply."""
        return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)
    for function in (bucket_by_sequence_length, group_by_window, rejection_resample, snapshot, dense_to_ragged_batch):
        setattr(experimental, function.__name__, function)
    experimental.ignore_errors = lambda log_warning=False: lambda dataset: dataset.ignore_errors(log_warning)
    experimental.unique = lambda: lambda dataset: dataset.unique()
    experimental.scan = lambda initial_state, scan_func: lambda dataset: dataset.scan(initial_state, scan_func)
    experimental.take_while = lambda predicate: lambda dataset: dataset.take_while(predicate)
    experimental.unbatch = lambda: lambda dataset: dataset.unbatch()
    experimental.enumerate_dataset = lambda start=0: lambda dataset: dataset.enumerate(start)


def _choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=False) -> "tf.data.Dataset":
    """Elements of several datasets, as another one chooses. Here a dataset that has ended is passed over unless told otherwise.

    Args:
      datasets: The datasets, a list.
      choice_dataset: A dataset of int64 numbers: the index of the dataset that gives the next element.
      stop_on_empty_dataset: True: end with the first dataset that ends.

    Returns:
      A dataset.
    """
    return tf.data.Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


_choose_from_datasets.__name__ = "choose_from_datasets"


def fill(found):
    """`found`: what the class rows gave to the module, by name."""
    data = tf.data
    data.__dict__.update(found)
    from thalweg._data import dataset, iterators, structure
    dataset.rows = data._rows
    tf._put(dataset.Methods, data.Dataset)
    from thalweg._data import files, options
    for name in ("Options", "ThreadingOptions"):
        setattr(data, name, getattr(options, name))
    data.TextLineDataset, data.TFRecordDataset = files.TextLineDataset, files.TFRecordDataset
    data.FixedLengthRecordDataset = files.FixedLengthRecordDataset
    data.Iterator = iterators.OwnedIterator
    data.IteratorSpec, data.Dataset._of_variant = iterators.IteratorSpec, structure.dataset_of_variant
    _structure = structure
    data.NumpyIterator = iterators.NumpyIterator
    data.AUTOTUNE, data.INFINITE_CARDINALITY, data.UNKNOWN_CARDINALITY = -1, -1, -2
    experimental = sys.modules["thalweg.data.experimental"] = data.experimental
    experimental.AUTOTUNE, experimental.INFINITE_CARDINALITY, experimental.UNKNOWN_CARDINALITY = -1, -1, -2
    experimental.Optional = iterators.Optional
    experimental.cardinality = lambda dataset: dataset.cardinality()
    experimental.get_single_element = lambda dataset: dataset.get_single_element()
    experimental.Counter = data.Dataset.counter
    experimental.RandomDataset = data.Dataset.random
    experimental.choose_from_datasets = _choose_from_datasets
    experimental.sample_from_datasets = data.Dataset.sample_from_datasets
    experimental.CsvDataset = files.CsvDataset
    for name in ("AutoShardPolicy", "AutotuneAlgorithm", "AutotuneOptions", "DistributeOptions", "ExternalStatePolicy", "OptimizationOptions",
                 "ThreadingOptions"):
        setattr(experimental, name, getattr(options, name))

    _steps(experimental)

    def assert_cardinality(expected_cardinality):
        """Asserts the number of elements."""
        return lambda given: data._rows._AssertCardinalityDataset(given, expected_cardinality)

    def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
        """map and batch."""
        return lambda given: given.map(map_func, num_parallel_calls or num_parallel_batches).batch(batch_size, drop_remainder)

    def shuffle_and_repeat(buffer_size, count=None, seed=None):
        """shuffle and repeat."""
        return lambda given: given.shuffle(buffer_size, seed).repeat(count)
    experimental.get_structure = lambda dataset_or_iterator: dataset_or_iterator.element_spec
    experimental.dense_to_sparse_batch = lambda batch_size, row_shape: lambda given: given.sparse_batch(batch_size, row_shape)
    experimental.load = data.Dataset.load

    def save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
        """Dataset.save."""
        dataset.save(path, compression, shard_func, checkpoint_args)

    def parallel_interleave(map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None, prefetch_input_elements=None):
        """interleave with a thread per open dataset."""
        return lambda given: given.interleave(map_func, cycle_length, block_length, num_parallel_calls=cycle_length)

    def prefetch_to_device(device, buffer_size=None):
        """prefetch; the processor is the only device."""
        return lambda given: given.prefetch(buffer_size)
    experimental.copy_to_device = lambda target_device, source_device="/cpu:0": lambda given: given
    experimental.to_variant = lambda dataset: dataset._variant_tensor
    experimental.from_variant = lambda variant, structure: _structure.dataset_of_variant(variant, structure)

    def from_list(elements, name=None):
        """The members of a list."""
        if not elements:
            raise ValueError("Invalid `elements`. `elements` should not be empty.")
        parts = [structure.flatten(structure.normalize(e)) for e in elements]
        stacked = iter([tf.stack(column) for column in zip(*parts)])
        return data.Dataset.from_tensor_slices(structure.transform(lambda _: next(stacked), structure.normalize(elements[0])))

    class TFRecordWriter:
        """Writes a dataset of strings into a TFRecord file."""

        def __init__(self, filename, compression_type=None):
            self._filename, self._compression = filename, compression_type

        def write(self, dataset):
            """Writes all elements."""
            if not isinstance(dataset, data.Dataset):
                raise TypeError("Invalid `dataset.` Expected a `tf.data.Dataset` object but got %s." % type(dataset))
            if not structure.same(dataset.element_spec, tf.TensorSpec([], tf.string)):
                raise TypeError("Invalid `dataset`. Expected a`dataset` that produces scalar `tf.string` elements, but got a dataset which produces "
                                "elements with shapes %s and types %s." % (dataset.element_spec.shape, dataset.element_spec.dtype))
            with tf.io.TFRecordWriter(self._filename, self._compression) as writer:
                for record in dataset:
                    writer.write(record.numpy())

    def make_batched_features_dataset(file_pattern, batch_size, features, reader=None, label_key=None, reader_args=None, num_epochs=None, shuffle=True,
                                      shuffle_buffer_size=10000, shuffle_seed=None, prefetch_buffer_size=None, reader_num_threads=None,
                                      parser_num_threads=None, sloppy_ordering=False, drop_final_batch=False):
        """Batches of parsed Examples of files."""
        reader = reader or data.TFRecordDataset
        given = data.Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
        given = given.interleave(lambda name: reader(name, *(reader_args or ())), cycle_length=reader_num_threads or 1)
        if shuffle:
            given = given.shuffle(shuffle_buffer_size, shuffle_seed)
        if num_epochs != 1:
            given = given.repeat(num_epochs)
        given = given.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
        given = given.map(lambda records: tf.io.parse_example(records, features))
        if label_key:
            if label_key not in features:
                raise ValueError("The `label_key` provided (%r) must be one of the `features` keys: %s." % (label_key, features.keys()))
            given = given.map(lambda parsed: (parsed, parsed.pop(label_key)))
        return given.prefetch(data.AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)
    for made in (assert_cardinality, map_and_batch, shuffle_and_repeat, save, parallel_interleave, prefetch_to_device, from_list, TFRecordWriter,
                 make_batched_features_dataset):
        setattr(experimental, made.__name__, made)
    from thalweg._data import experimental as more
    more.fill(experimental)
