"""The methods of tf.data.Dataset that are no rows of src/data: what is composed of others, and what Python asks of an object."""
import thalweg as tf
from thalweg import _core
from thalweg._data import structure
from thalweg._data.iterators import NumpyIterator, OwnedIterator

AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -1, -2
rows = None  # the types that the class rows made, by name; set when tf.data is filled


def finish(dataset, spec, exact=False):
    """Gives a new dataset its element_spec: the structure of `spec`, with the dtypes and shapes that C found."""
    return dataset._settle(spec, exact)


class Methods:
    """What is put onto the type tf.data.Dataset."""

    # ---- sources ----

    @staticmethod
    def range(*args, output_type=None, name=None) -> "tf.data.Dataset":
        """The numbers of a range."""
        if not 1 <= len(args) <= 3:
            raise ValueError("Invalid `args`. The length of `args` should be between 1 and 3 but was %d." % len(args))
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (args[0], args[1], 1) if len(args) == 2 else args
        spec = tf.TensorSpec([], tf.int64 if output_type is None else tf.as_dtype(output_type))
        if any(map(_core.is_symbolic, (start, stop, step))):
            numbers = [tf.cast(v, tf.int64) for v in (start, stop, step)]
            return structure.dataset_of_variant(tf.raw_ops.RangeDataset(start=numbers[0], stop=numbers[1], step=numbers[2], output_types=[spec.dtype],
                                                                        output_shapes=[spec.shape]), spec)
        return rows._RangeDataset(start, stop, step, spec.dtype)

    @staticmethod
    def zip(*args, datasets=None, name=None) -> "tf.data.Dataset":
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
        for leaf in structure.flatten(datasets):
            if not isinstance(leaf, tf.data.Dataset):
                raise TypeError("Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects but encountered "
                                "object of type %s." % type(leaf))
        return rows._zip(datasets)

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None) -> "tf.data.Dataset":
        """The elements that a Python generator yields."""
        from thalweg._data.generator import from_generator
        return from_generator(generator, output_types, output_shapes, args, output_signature)

    # ---- steps ----

    def apply(self, transformation_func):
        """What a function makes of the dataset."""
        made = transformation_func(self)
        if not isinstance(made, tf.data.Dataset):
            raise TypeError("`transformation_func` must return a `tf.data.Dataset` object. Got %s." % type(made))
        return made

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        """Writes the elements into files under a path, which Dataset.load reads."""
        from thalweg._data import saved
        saved.save(self, path, compression, shard_func, checkpoint_args)

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        """Not there: what a file holds can't be told from what the dataset would give."""
        raise NotImplementedError("Dataset.snapshot is not supported; use save() once, then load()")

    @staticmethod
    def load(path, element_spec=None, compression=None, reader_func=None) -> "tf.data.Dataset":
        """The dataset that Dataset.save wrote under a path."""
        from thalweg._data import saved
        return saved.load(path, element_spec, compression, reader_func)

    def options(self):
        """The options that were set."""
        from thalweg._data.options import Options
        return getattr(self, "_own_options", None) or Options()

    def with_options(self, options, name=None):
        """The same elements; the options say how TensorFlow's own runtime should work."""
        made = rows._OptionsDataset(self)
        made._own_options = self.options().merge(options) if hasattr(options, "merge") else options
        return made

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
        return "<%s element_spec=%r>" % (type(self).__name__ if type(self).__module__ != "thalweg.data" else self._class_name, self.element_spec)

    __str__ = __repr__
