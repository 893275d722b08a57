"""Iterators over datasets: eager ones, those of functions, and optionals."""
import sys

import thalweg as tf
from thalweg import _core
from thalweg._data import structure


def _external_state(dataset):
    """What a checkpoint does about functions that depend on more than elements, as the dataset's options say."""
    options = getattr(dataset, "_own_options", None)
    policy = options.experimental_external_state_policy if options is not None else None
    return getattr(policy, "name", policy)


class _Kind:
    """What an iterator's elements are. In one object, as attributes of the iterator that are structures would be tracked."""

    def __init__(self, spec, eager, symbolic):
        self.spec, self.eager, self.symbolic, self.taken = spec, eager, symbolic, 0


_MOST_TAKEN = 32  # elements that Python's `next` takes in one graph: a graph can't tell it where the end is


class OwnedIterator(tf.data._rows._Iterator):
    """Goes through a dataset, an element at a time. A tf.train.Checkpoint saves and restores where it stands."""

    def __init__(self, dataset=None, resource=None, element_spec=None):
        eager = dataset is not None and tf.executing_eagerly()
        super().__init__(dataset if eager else None, _external_state(dataset) if eager else None)
        self._kind = _Kind(dataset.element_spec if dataset is not None else element_spec, eager, resource)
        if dataset is not None and not eager:
            types, shapes = self._lists()
            self._kind.symbolic = tf.raw_ops.AnonymousIteratorV3(output_types=types, output_shapes=shapes)
            tf.raw_ops.MakeIterator(dataset=dataset._variant_tensor, iterator=self._kind.symbolic)

    def _lists(self):
        flat = structure.flat_specs(self._element_spec)
        return [d for d, _ in flat], [s for _, s in flat]

    element_spec = _element_spec = property(lambda self: self._kind.spec)
    _type_spec = property(lambda self: IteratorSpec(self._kind.spec))

    @property
    def _iterator_resource(self):
        return self._kind.symbolic if self._kind.symbolic is not None else self._resource

    def __iter__(self):
        return self

    def __next__(self):
        if self._kind.eager and tf.executing_eagerly():
            return _core.next_element(self)
        if tf.executing_eagerly():
            try:
                return self._next_by_op()
            except tf.errors.OutOfRangeError:
                raise StopIteration from None
        converted = sys._getframe(1).f_globals.get("__name__", "").startswith("thalweg.autograph")  # a `next` that AutoGraph has seen
        self._kind.taken += not converted
        if self._kind.taken > _MOST_TAKEN:
            raise ValueError("An unusually high number of `tf.data.Iterator.get_next()` calls was detected. This suggests that the `for elem in dataset: "
                             "...` idiom is used within tf.function with AutoGraph disabled. This idiom is only supported when AutoGraph is enabled.")
        return self._next_by_op()

    def _next_by_op(self):
        types, shapes = self._lists()
        tensors = tf.raw_ops.IteratorGetNext(iterator=self._iterator_resource, output_types=types, output_shapes=shapes)
        return structure.pack(self._element_spec, tensors if isinstance(tensors, (list, tuple)) else [tensors])

    def get_next(self):
        """The next element; OutOfRangeError at the end."""
        if self._kind.eager and tf.executing_eagerly():
            try:
                return _core.next_element(self)
            except StopIteration:
                pass  # the op says so
        return self._next_by_op()

    def get_next_as_optional(self):
        """The next element as a tf.experimental.Optional."""
        types, shapes = self._lists()
        made = tf.raw_ops.IteratorGetNextAsOptional(iterator=self._iterator_resource, output_types=types, output_shapes=shapes)
        return Optional(made, self._element_spec)


class IteratorSpec:
    """Iterators as arguments of functions."""

    value_type = OwnedIterator

    def __init__(self, element_spec):
        self._element_spec = element_spec

    element_spec = property(lambda self: self._element_spec)

    def __eq__(self, other):
        return isinstance(other, IteratorSpec) and structure.same(self._element_spec, other._element_spec)

    def __hash__(self):
        return hash(IteratorSpec)

    def __repr__(self):
        return "IteratorSpec(%r,)" % (self._element_spec,)


def _optional_text(self):
    if not tf.executing_eagerly():
        return "tf.experimental.Optional(element_spec=%r)" % (self.element_spec,)
    return "tf.experimental.Optional(%s)" % (self.get_value() if bool(self.has_value()) else "None")


Optional = tf.data._rows._Optional
Optional.__name__ = Optional.__qualname__ = "Optional"
Optional.__repr__ = _optional_text


class NumpyIterator:
    """Elements with NumPy arrays instead of tensors."""

    def __init__(self, dataset):
        for spec in structure.flatten(dataset.element_spec):
            if not isinstance(spec, (tf.TensorSpec, tf.RaggedTensorSpec, structure.NoneTensorSpec, structure.DatasetSpec)):
                raise TypeError("`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that produce values of type %s" %
                                (spec.value_type,))
        self._elements = iter(dataset)

    def __iter__(self):
        return self

    def __next__(self):
        def leaf(value):
            if value is None:
                return None
            if isinstance(value, tf.data.Dataset):
                return NumpyIterator(value)
            return value.numpy()
        return structure.transform(leaf, next(self._elements))

    def next(self):
        """The next element."""
        return self.__next__()

    def save(self):
        """Where the iterator stands, as bytes."""
        return _core_state(self._elements)

    def restore(self, state):
        """Goes back to where an iterator stood."""
        _put_state(self._elements, state)


_PARTS = ("state.index", "state.data-00000-of-00001")


def _core_state(iterator):
    """The state of an iterator: a string tensor with the files of a checkpoint of its own, as a tf.train.Example."""
    import os
    import tempfile
    state = tf.train.Example()
    with tempfile.TemporaryDirectory() as folder:
        tf.train.Checkpoint(iterator=iterator).write(os.path.join(folder, "state"))
        for name in _PARTS:
            with open(os.path.join(folder, name), "rb") as file:
                state.features.feature[name].bytes_list.value.append(file.read())
    return tf.constant(state.SerializeToString())


def _put_state(iterator, state):
    import os
    import tempfile
    try:
        parts = tf.train.Example.FromString(state.numpy() if isinstance(state, tf.Tensor) else state).features.feature
        contents = [parts[name].bytes_list.value[0] for name in _PARTS]
    except Exception:
        raise tf.errors.InvalidArgumentError(None, None, "restore: expected what save() gave, got %.100r" % (state,)) from None
    with tempfile.TemporaryDirectory() as folder:
        for name, content in zip(_PARTS, contents):
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        tf.train.Checkpoint(iterator=iterator).read(os.path.join(folder, "state")).assert_consumed()
