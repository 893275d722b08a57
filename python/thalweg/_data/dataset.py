"""The methods of tf.data.Dataset. Each makes the C object of its step (a class row of src/data) and gives it the structure of its elements."""
import thalweg as tf
from thalweg import _core
from thalweg._data import structure
from thalweg._data.function import Traced
from thalweg._data.iterators import NumpyIterator, OwnedIterator

AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -1, -2
rows = None  # the types that the class rows made, by name; set when tf.data is filled


def finish(dataset, spec, exact=False):
    """Gives a new dataset its element_spec: the structure of `spec`, with the dtypes and shapes that C found."""
    dataset._element_spec = spec if exact else structure.renewed(spec, dataset._flat_types(), dataset._flat_shapes())
    return dataset


def _calls(num_parallel_calls):
    return num_parallel_calls if _core.is_tensor(num_parallel_calls) else int(num_parallel_calls)


def _determinism(deterministic):
    return "default" if deterministic is None else "true" if deterministic else "false"


def _kinds(spec):
    """What two datasets must have in common to stand behind each other."""
    return [getattr(s, "dtype", type(s)) for s in structure.flatten(spec)], repr(structure.transform(lambda s: 0, spec))


def _like(function, wrapper):
    """A wrapper that is not converted by AutoGraph but calls what is."""
    if not callable(function):
        raise ValueError("Argument `func` must be a callable. Received func=%s (of type %s)" % (function, type(function)))
    return wrapper


def _state_spec(before, after):
    """The spec that holds of a state in every round; raises if the state changes more than its shapes."""
    if repr(structure.transform(lambda s: 0, before)) != repr(structure.transform(lambda s: 0, after)):
        raise TypeError("The element structure for the new state must match the initial state. Expected %r but got %r." % (before, after))
    olds, news = structure.flatten(before), structure.flatten(after)
    for old, new in zip(olds, news):
        if isinstance(old, tf.TensorSpec) and old.dtype != new.dtype:
            raise TypeError("The element types for the new state must match the initial state. Expected <dtype: %r> but got <dtype: %r>." % (
                old.dtype.name, new.dtype.name))
    found = iter(news)

    def leaf(old):
        new = next(found)
        if not isinstance(old, tf.TensorSpec):
            return old
        if old.shape.rank is None or new.shape.rank is None or old.shape.rank != new.shape.rank:
            return tf.TensorSpec(None, old.dtype) if old.shape != new.shape else old
        return tf.TensorSpec([a if a == b else None for a, b in zip(old.shape.as_list(), new.shape.as_list())], old.dtype)
    return structure.transform(leaf, before)


def _batch_spec(spec, size):
    """The spec of a batch of what is no tensor itself; tensors' own are found by C."""
    if isinstance(spec, tf.TensorSpec) or not hasattr(spec, "_batched"):
        return spec
    batched = spec._batched()
    if isinstance(size, int) and isinstance(batched, tf.RaggedTensorSpec):
        return tf.RaggedTensorSpec([size, *batched.shape[1:]], batched.dtype, batched.ragged_rank, batched.row_splits_dtype)
    if isinstance(size, int) and isinstance(batched, tf.SparseTensorSpec):
        return tf.SparseTensorSpec([size, *batched.shape[1:]], batched.dtype)
    return batched


class Methods:
    """What is put onto the type tf.data.Dataset."""

    element_spec = property(lambda self: self._element_spec, doc="The structure of the elements, with TensorSpecs.")
    _type_spec = property(lambda self: structure.DatasetSpec(self._element_spec))

    # ---- sources ----

    @staticmethod
    def from_tensors(tensors, name=None):
        """A dataset of one element."""
        value = structure.normalize(tensors)
        return finish(rows._TensorDataset(structure.tensors_of(value)), structure.spec_of(value))

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """A dataset of the rows of tensors."""
        value = structure.normalize(tensors)
        if all(v is None for v in structure.flatten(value)):
            raise ValueError("Invalid `element`. `element` should not be empty.")
        if any(type(v).__name__ in ("RaggedTensor", "SparseTensor") for v in structure.flatten(value)):
            tensors, spec = structure.rows_of(value)
            return finish(rows._TensorSliceDataset(tensors), spec, exact=True)
        return finish(rows._TensorSliceDataset(structure.tensors_of(value)), structure.spec_of(value))

    @staticmethod
    def range(*args, output_type=None, name=None):
        """The numbers of a range."""
        if not 1 <= len(args) <= 3:
            raise ValueError("Invalid `args`. The length of `args` should be between 1 and 3 but was %d." % len(args))
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (args[0], args[1], 1) if len(args) == 2 else args
        spec = tf.TensorSpec([], tf.int64 if output_type is None else tf.as_dtype(output_type))
        if any(map(_core.is_symbolic, (start, stop, step))):
            numbers = [tf.cast(v, tf.int64) for v in (start, stop, step)]
            return structure.dataset_of_variant(tf.raw_ops.RangeDataset(start=numbers[0], stop=numbers[1], step=numbers[2], output_types=[spec.dtype],
                                                                        output_shapes=[spec.shape]), spec)
        return finish(rows._RangeDataset(start, stop, step, spec.dtype), spec)

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None):
        """Random numbers without end."""
        return finish(rows._RandomDataset(seed, bool(rerandomize_each_iteration)), tf.TensorSpec([], tf.int64))

    @staticmethod
    def counter(start=0, step=1, dtype=tf.int64, name=None):
        """Numbers that count, without end."""
        start, step = tf.convert_to_tensor(start, dtype=dtype), tf.convert_to_tensor(step, dtype=dtype)
        return tf.data.Dataset.from_tensors(0).repeat(None).scan(initial_state=start, scan_func=lambda state, _: (state + step, state))

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Elements of several datasets side by side, in the structure in which the datasets are given."""
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        if len(args) == 1:
            datasets = args[0]
        elif args:
            datasets = args
        elif datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if isinstance(datasets, list):
            raise TypeError("Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects. Python `list` is not "
                            "supported and you should use `tuple` instead.")
        leaves = structure.flatten(datasets)
        for leaf in leaves:
            if not isinstance(leaf, tf.data.Dataset):
                raise TypeError("Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects but encountered "
                                "object of type %s." % type(leaf))
        return finish(rows._ZipDataset(leaves), structure.transform(lambda d: d.element_spec, datasets), exact=True)

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """Elements of the datasets whose numbers another dataset gives."""
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if not isinstance(choice_dataset, tf.data.Dataset):
            raise TypeError("Invalid `choice_dataset`. `choice_dataset` should be a `tf.data.Dataset` but is %s." % type(choice_dataset))
        if not structure.same(choice_dataset.element_spec, tf.TensorSpec([], tf.int64)):
            raise TypeError("Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are %r." %
                            (choice_dataset.element_spec,))
        if any(_kinds(d.element_spec) != _kinds(datasets[0].element_spec) for d in datasets):
            raise TypeError("Invalid `datasets`. `datasets` must have compatible element specs.")
        return finish(rows._DirectedInterleaveDataset(choice_dataset, list(datasets), stop_on_empty_dataset), datasets[0].element_spec)

    @staticmethod
    def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False, rerandomize_each_iteration=None):
        """Elements of datasets that chance chooses."""
        datasets = list(datasets)
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if len(datasets) == 1:
            return datasets[0]
        if isinstance(weights, tf.data.Dataset):
            logits = weights.map(lambda p: tf.math.log(p, name="logits"))
            weighted = True
        else:
            weighted = False
            if weights is None:
                weights = [1.0 / len(datasets)] * len(datasets)
            length = weights.shape[0] if hasattr(weights, "shape") and len(weights.shape) else len(weights)
            if length != len(datasets):
                raise ValueError("Invalid `weights`. `weights` should have the same length as `datasets` but got `len(weights)=%s` vs. "
                                 "`len(datasets)=%d`." % (length, len(datasets)))
            if not stop_on_empty_dataset and not _core.is_symbolic(weights):
                keep = [i for i, w in enumerate(weights.numpy() if hasattr(weights, "numpy") else weights) if w > 0]
                if len(keep) < len(datasets):
                    datasets = [datasets[i] for i in keep]
                    weights = tf.gather(weights, keep) if _core.is_tensor(weights) else [weights[i] for i in keep]
            weights = tf.convert_to_tensor(weights)
            if weights.dtype not in (tf.float32, tf.float64):
                raise TypeError("Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is %s." % weights.dtype)
            fixed = tf.expand_dims(tf.math.log(weights, name="logits"), 0)
        numbers = tf.data.Dataset.random(seed=seed, rerandomize_each_iteration=rerandomize_each_iteration).batch(2)

        def pick(row, pair):
            return tf.squeeze(tf.raw_ops.StatelessMultinomial(logits=row, num_samples=1, seed=pair, output_dtype=tf.int64), axis=[0, 1])
        if weighted:
            selector = tf.data.Dataset.zip((logits, numbers)).map(lambda row, pair: pick([row], pair))
        else:
            selector = numbers.map(lambda pair: pick(fixed, pair))
        return finish(rows._DirectedInterleaveDataset(selector, datasets, stop_on_empty_dataset), datasets[0].element_spec)

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        """The names of the files that fit a pattern."""
        shuffle = True if shuffle is None else shuffle
        pattern = tf.convert_to_tensor(file_pattern, dtype=tf.string)
        found = tf.raw_ops.MatchingFiles(pattern=pattern)
        if tf.executing_eagerly() and not int(tf.size(found)):
            raise tf.errors.InvalidArgumentError(None, None, "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: %r" % (
                tf.strings.reduce_join(tf.strings.join(["No files matched pattern: ", tf.strings.reduce_join(
                    tf.reshape(pattern, [-1]), separator=", ")])).numpy(),))
        made = tf.data.Dataset.from_tensor_slices(found)
        if shuffle:
            made = made.shuffle(tf.maximum(tf.shape(found, out_type=tf.int64)[0], 1), seed=seed)
        return made

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        """The elements that a Python generator yields."""
        from thalweg._data.generator import from_generator
        return from_generator(generator, output_types, output_shapes, args, output_signature)

    # ---- steps ----

    def map(self, map_func, num_parallel_calls=None, deterministic=None, name=None):
        """What a function makes of every element."""
        f = Traced(map_func, "map", self.element_spec)
        if num_parallel_calls is None:
            return finish(rows._MapDataset(self, f.graph_function), f.output_spec)
        made = rows._ParallelMapDataset(self, f.graph_function, _calls(num_parallel_calls), _determinism(deterministic))
        return finish(made, f.output_spec)

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        """Elements stacked, batch_size at a time."""
        drop_remainder = bool(drop_remainder)
        spec = structure.transform(lambda s: _batch_spec(s, batch_size if drop_remainder else None), self.element_spec)
        if num_parallel_calls is None:
            return finish(rows._BatchDataset(self, batch_size, drop_remainder), spec)
        return finish(rows._ParallelBatchDataset(self, batch_size, _calls(num_parallel_calls), drop_remainder, _determinism(deterministic)), spec)

    def take(self, count, name=None):
        """The first elements."""
        return finish(rows._TakeDataset(self, count), self.element_spec)

    def skip(self, count, name=None):
        """The elements behind the first ones."""
        return finish(rows._SkipDataset(self, count), self.element_spec)

    def repeat(self, count=None, name=None):
        """The elements several times; without end if no count is given."""
        return finish(rows._RepeatDataset(self, -1 if count is None else count), self.element_spec)

    def shard(self, num_shards, index, name=None):
        """Every num_shards-th element, from the one at index on."""
        return finish(rows._ShardDataset(self, num_shards, index), self.element_spec)

    def apply(self, transformation_func):
        """What a function makes of the dataset."""
        made = transformation_func(self)
        if not isinstance(made, tf.data.Dataset):
            raise TypeError("`transformation_func` must return a `tf.data.Dataset` object. Got %s." % type(made))
        return made

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None, name=None):
        """The elements in an order that chance gives."""
        again = True if reshuffle_each_iteration is None else bool(reshuffle_each_iteration)
        if _core.is_tensor(seed):
            seed = int(seed)
        return finish(rows._ShuffleDataset(self, buffer_size, seed, again), self.element_spec)

    def filter(self, predicate, name=None):
        """The elements of which a predicate is true."""
        f = self._predicate(predicate, "filter")
        return finish(rows._FilterDataset(self, f.graph_function), self.element_spec)

    def take_while(self, predicate, name=None):
        """The elements before the first of which a predicate is false."""
        f = self._predicate(predicate, "take_while")
        return finish(rows._TakeWhileDataset(self, f.graph_function), self.element_spec)

    def _predicate(self, predicate, name):
        f = Traced(predicate, name, self.element_spec)
        if not (isinstance(f.output_spec, tf.TensorSpec) and f.output_spec.dtype == tf.bool and f.output_spec.shape.is_compatible_with([])):
            raise ValueError("Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor%s%r." % (
                " but its return type is" if name == "take_while" else ", but its return type is ", f.output_spec))
        return f

    def concatenate(self, dataset, name=None):
        """The elements of another dataset behind its own."""
        if _kinds(self.element_spec) != _kinds(dataset.element_spec):
            raise TypeError("Incompatible dataset elements:\n  %r vs.   %r" % (self.element_spec, dataset.element_spec))
        return finish(rows._ConcatenateDataset(self, dataset), self.element_spec)

    def flat_map(self, map_func, name=None):
        """The elements of the datasets that a function makes of elements."""
        f, like = self._datasets(map_func, "flat_map")
        return finish(rows._FlatMapDataset(self, f.graph_function, like), like.element_spec)

    def interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None, deterministic=None, name=None):
        """The elements of the datasets that a function makes of elements, of several datasets in turns."""
        cycle_length = AUTOTUNE if cycle_length is None else cycle_length
        block_length = 1 if block_length is None else block_length
        f, like = self._datasets(map_func, "interleave")
        if num_parallel_calls is None:
            return finish(rows._InterleaveDataset(self, f.graph_function, cycle_length, block_length, like), like.element_spec)
        made = rows._ParallelInterleaveDataset(self, f.graph_function, cycle_length, block_length, _calls(num_parallel_calls), like)
        return finish(made, like.element_spec)

    def _datasets(self, map_func, name):
        f = Traced(map_func, name, self.element_spec, keep=True)
        if not isinstance(f.output_spec, structure.DatasetSpec):
            raise TypeError("The `map_func` argument must return a `Dataset` object. Got %r." % (f.output_spec,))
        return f, f.value

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None):
        """Elements of different shapes stacked, smaller ones filled up."""
        from thalweg._data import padding
        shapes, values = padding.padding(self.element_spec, padded_shapes, padding_values)
        return finish(rows._PaddedBatchDataset(self, batch_size, shapes, values, bool(drop_remainder)), self.element_spec)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Elements in groups, as datasets."""
        made = rows._WindowDataset(self, size, shift, stride, bool(drop_remainder))
        return finish(made, structure.transform(structure.DatasetSpec, self.element_spec), exact=True)

    def unbatch(self, name=None):
        """The rows of elements."""
        source = self
        if any(isinstance(s, (tf.RaggedTensorSpec, tf.SparseTensorSpec)) for s in structure.flatten(self.element_spec)):
            def rows_of(*element):
                tensors, _ = structure.rows_of(element if type(self.element_spec) is tuple else element[0])
                return tuple(tensors)
            rows_of.autograph_do_not_convert = True
            source = self.map(rows_of)
        return finish(rows._UnbatchDataset(source), structure.transform(lambda s: s._row() if hasattr(s, "_row") else s, self.element_spec))

    def reduce(self, initial_state, reduce_func, name=None):
        """What is left of a state after a function of it and an element was called with every element."""
        state = structure.normalize(initial_state)
        spec = structure.spec_of(state)
        f = Traced(reduce_func, "reduce", spec, self.element_spec, unpack=False)
        relaxed = _state_spec(spec, f.output_spec)
        if not structure.same(relaxed, spec):
            f = Traced(reduce_func, "reduce", relaxed, self.element_spec, unpack=False)
        return structure.pack(relaxed, self._reduce(structure.tensors_of(state, spec), f.graph_function))

    def scan(self, initial_state, scan_func, name=None):
        """What a function makes of a state and each element: the next state, and an element."""
        state = structure.normalize(initial_state)
        spec = structure.spec_of(state)
        f = Traced(scan_func, "scan", spec, self.element_spec, unpack=False)
        if not isinstance(f.output_spec, tuple) or len(f.output_spec) != 2:
            raise TypeError("Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value but its return type "
                            "is %r." % (f.output_spec,))
        try:
            relaxed = _state_spec(spec, f.output_spec[0])
        except TypeError as error:
            raise TypeError("Invalid `scan_func`. %s" % str(error).replace(" but got", ", got")) from None
        if not structure.same(relaxed, spec):
            f = Traced(scan_func, "scan", relaxed, self.element_spec, unpack=False)
        return finish(rows._ScanDataset(self, structure.tensors_of(state, spec), f.graph_function), f.output_spec[1])

    def cache(self, filename="", name=None):
        """The elements, kept in memory or in a file once they were all there."""
        return finish(rows.CacheDataset(self, tf.convert_to_tensor(filename, dtype=tf.string)), self.element_spec)

    def prefetch(self, buffer_size, name=None):
        """The elements, made ready by a thread before they are asked for."""
        return finish(rows._PrefetchDataset(self, AUTOTUNE if buffer_size is None else buffer_size), self.element_spec)

    def enumerate(self, start=0, name=None):
        """Elements with their numbers."""
        return tf.data.Dataset.zip((tf.data.Dataset.range(start, (1 << 63) - 1), self))

    def group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None, name=None):
        """Elements grouped by a key, each group as the dataset that a function makes of it."""
        if (window_size is None) == (window_size_func is None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        if window_size_func is None:
            def window_size_func(_):
                return tf.convert_to_tensor(window_size, dtype=tf.int64)
        key = tf.TensorSpec([], tf.int64)

        def key_of(*element):
            return tf.cast(key_func(*element), tf.int64)
        keys = Traced(_like(key_func, key_of), "group_by_window", self.element_spec)
        sizes = Traced(lambda k: tf.cast(window_size_func(k), tf.int64), "group_by_window", key)
        reduced = Traced(reduce_func, "group_by_window", key, structure.DatasetSpec(self.element_spec), unpack=False, keep=True)
        if not isinstance(reduced.output_spec, structure.DatasetSpec):
            raise TypeError("Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object but its return type is %r." %
                            (reduced.output_spec,))
        made = rows._GroupByWindowDataset(self, keys.graph_function, reduced.graph_function, sizes.graph_function, reduced.value)
        return finish(made, reduced.value.element_spec)

    def bucket_by_sequence_length(self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None, padding_values=None,
                                  pad_to_bucket_boundary=False, no_padding=False, drop_remainder=False, name=None):
        """Batches of elements of similar length."""
        from thalweg._data import padding
        return padding.bucket(self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
                              pad_to_bucket_boundary, no_padding, drop_remainder)

    def unique(self, name=None):
        """The elements that did not come before."""
        for spec in structure.flatten(self.element_spec):
            if getattr(spec, "dtype", None) not in (tf.int32, tf.int64, tf.string):
                raise TypeError("`tf.data.Dataset.unique` does not support type %s -- only `tf.int32`, `tf.int64`, and `tf.string` are supported." %
                                (getattr(spec, "dtype", spec),))
        return finish(rows._UniqueDataset(self), self.element_spec)

    def ignore_errors(self, log_warning=False, name=None):
        """The elements whose making does not fail."""
        return finish(rows._IgnoreErrorsDataset(self, log_warning), self.element_spec)

    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype=tf.int64, name=None):
        """Elements of different shapes stacked as ragged tensors."""
        def spec_of(spec):
            if not isinstance(spec, tf.TensorSpec) or spec.shape.rank is None or spec.shape.is_fully_defined():
                return spec
            return tf.RaggedTensorSpec(spec.shape, spec.dtype, max(i for i, d in enumerate(spec.shape) if d is None), row_splits_dtype)
        specs = structure.transform(spec_of, self.element_spec)

        def as_variant(value, spec):
            if not isinstance(spec, tf.RaggedTensorSpec) or not _core.is_tensor(value):
                return value
            if spec.ragged_rank:
                value = tf.RaggedTensor.from_tensor(value, ragged_rank=spec.ragged_rank, row_splits_dtype=row_splits_dtype)
            return spec._tensors(value)[0]

        def as_variants(*element):
            element = element if type(specs) is tuple else element[0]
            found = iter(structure.flatten(specs))
            return structure.transform(lambda value: as_variant(value, next(found)), element)
        as_variants.autograph_do_not_convert = True
        return finish(self.map(as_variants), specs, exact=True).batch(batch_size, drop_remainder)

    def sparse_batch(self, batch_size, row_shape, name=None):
        """Elements of different shapes stacked as sparse tensors with rows of one shape."""
        shape = tf.TensorShape(row_shape)

        def as_sparse(value):
            dims = [-1 if d is None else d for d in shape.as_list()]
            fits = tf.reduce_all(tf.shape(value, tf.int64) <= tf.where(tf.constant(dims, tf.int64) < 0, tf.int64.max, tf.constant(dims, tf.int64))) \
                if value.shape.rank in (None, shape.rank) else tf.constant(False)
            text = tf.strings.format("Input element had shape ({}) that is incompatible with the row shape (%s)." % dims, tf.shape(value))
            with tf.control_dependencies([tf.debugging.Assert(fits, [text])]):
                indices = tf.where(tf.ones(tf.shape(value), tf.bool))
            return tf.SparseTensor(indices, tf.reshape(value, [-1]), tf.where(tf.constant(dims, tf.int64) < 0, tf.shape(value, tf.int64), dims))
        if isinstance(self.element_spec, tf.TensorSpec) and self.element_spec.shape.rank not in (None, shape.rank):
            raise tf.errors.InvalidArgumentError(None, None, "Input element had shape (%s) that is incompatible with the row shape (%s)." % (
                self.element_spec.shape.as_list(), shape.as_list()))
        return self.map(as_sparse).batch(batch_size)

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """The rows of batches in batches of another size, or of several in turns."""
        made = rows._RebatchDataset(self, tf.convert_to_tensor(batch_size, tf.int64), bool(drop_remainder))
        return finish(made, self.element_spec)

    def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
        """(class, element) pairs, elements left out by chance so that classes come as often as a distribution says."""
        from thalweg._data import resample
        return resample.resampled(self, class_func, target_dist, initial_dist, seed)

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        """Writes the elements into files under a path, which Dataset.load reads."""
        from thalweg._data import saved
        saved.save(self, path, compression, shard_func, checkpoint_args)

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        """Not there: what a file holds can't be told from what the dataset would give."""
        raise NotImplementedError("Dataset.snapshot is not supported; use save() once, then load()")

    @staticmethod
    def load(path, element_spec=None, compression=None, reader_func=None):
        """The dataset that Dataset.save wrote under a path."""
        from thalweg._data import saved
        return saved.load(path, element_spec, compression, reader_func)

    def options(self):
        """The options that were set."""
        from thalweg._data.options import Options
        return getattr(self, "_own_options", None) or Options()

    def with_options(self, options, name=None):
        """The same elements; the options say how TensorFlow's own runtime should work."""
        made = finish(rows._OptionsDataset(self), self.element_spec)
        made._own_options = options.merge(self.options()) if hasattr(options, "merge") else options
        return made

    def get_single_element(self, name=None):
        """The only element."""
        return structure.pack(self.element_spec, self._single_element())

    # ---- looking at it ----

    def as_numpy_iterator(self):
        """The elements with NumPy arrays."""
        if not tf.executing_eagerly():
            raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.")
        return NumpyIterator(self)

    def __iter__(self):
        if not tf.executing_eagerly() and not tf.inside_function():
            raise RuntimeError("`tf.data.Dataset` only supports Python-style iteration in eager mode or within tf.function.")
        return OwnedIterator(self)

    def __bool__(self):
        return True

    __nonzero__ = __bool__

    def __len__(self):
        if not tf.executing_eagerly():
            raise TypeError("`tf.data.Dataset` only supports `len` in eager mode. Use `tf.data.Dataset.cardinality()` instead.")
        length = int(self.cardinality())
        if length == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if length == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return length

    def __repr__(self):
        return "<%s element_spec=%r>" % (type(self).__name__, self.element_spec)

    __str__ = __repr__
