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


def _check_dataset(value):
    if not isinstance(value, tf.data.Dataset):
        raise TypeError("a tf.data.Dataset is expected, got %r of type %s" % (value, type(value)))
    return value


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
        if any(type(v).__name__ == "RaggedTensor" for v in structure.flatten(value)):
            from thalweg._data import ragged
            return ragged.slices(value)
        return finish(rows._TensorSliceDataset(structure.tensors_of(value)), structure.spec_of(value))

    @staticmethod
    def range(*args, output_type=None, name=None):
        """The numbers of a range."""
        if not 1 <= len(args) <= 3:
            raise ValueError("Invalid `args`. The length of `args` should be between 1 and 3 but was %d." % len(args))
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (args[0], args[1], 1) if len(args) == 2 else args
        made = rows._RangeDataset(start, stop, step, tf.int64 if output_type is None else tf.as_dtype(output_type))
        return finish(made, tf.TensorSpec([], made._flat_types()[0]))

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
        spec = structure.transform(lambda s: s._batched() if hasattr(s, "_batched") else s, self.element_spec)
        drop_remainder = bool(drop_remainder)
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

    # ---- looking at it ----

    def as_numpy_iterator(self):
        """The elements with NumPy arrays."""
        if not tf.executing_eagerly():
            raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.")
        return NumpyIterator(self)

    def __iter__(self):
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
