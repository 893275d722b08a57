"""tf.compat.v1.data: datasets with the methods of TensorFlow 1, and iterators that sessions keep (src/data/iterator_graph.c)."""
import thalweg as tf
from thalweg import _core
_rows = tf.data._rows  # fills tf.data, whose parts can't be imported before
from thalweg._data import structure  # noqa: E402
from thalweg._data.dataset import finish  # noqa: E402
from thalweg._data.iterators import NumpyIterator, Optional, OwnedIterator  # noqa: E402
from thalweg._graph_mode.old_names import colocate_with  # noqa: E402

_v1 = tf.compat.v1
_one_shot, _initializable = _v1.data._one_shot, _v1.data._initializable
_VariantDataset = _rows._VariantDataset


def get_output_types(dataset_or_iterator):
    """The dtypes of an element, in its structure."""
    return structure.transform(lambda s: s.dtype, tf.data.experimental.get_structure(dataset_or_iterator))


def get_output_shapes(dataset_or_iterator):
    """The shapes of an element, in its structure."""
    return structure.transform(lambda s: s.shape, tf.data.experimental.get_structure(dataset_or_iterator))


def get_output_classes(dataset_or_iterator):
    """The classes of an element's members, in its structure."""
    return structure.transform(lambda s: tf.Tensor if isinstance(s, tf.TensorSpec) else s.value_type,
                               tf.data.experimental.get_structure(dataset_or_iterator))


def _legacy(function):
    return property(function, doc=function.__doc__)


class Iterator:
    """Goes through a dataset in sessions: whoever runs a tensor of get_next makes it step."""

    def __init__(self, iterator_resource, initializer, output_types, output_shapes, output_classes):
        self._iterator_resource, self._initializer = iterator_resource, initializer
        self._element_spec = _spec(output_types, output_shapes, output_classes)
        self._string_handle = tf.raw_ops.IteratorToStringHandle(resource_handle=iterator_resource)
        self._get_next_count = 0

    element_spec = property(lambda self: self._element_spec, doc="The structure of the elements, with TensorSpecs.")
    output_types, output_shapes, output_classes = _legacy(get_output_types), _legacy(get_output_shapes), _legacy(get_output_classes)

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None):
        """An iterator for datasets of that structure; make_initializer says over which."""
        spec = _spec(output_types, output_shapes, output_classes)
        flat = structure.flat_specs(spec)
        resource = tf.raw_ops.IteratorV2(shared_name=shared_name or "", container="", output_types=[d for d, _ in flat], output_shapes=[s for _, s in flat])
        return Iterator(resource, None, *_legacy_structure(spec))

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None, output_classes=None):
        """The iterator that a text names, which another one's string_handle gave."""
        spec = _spec(output_types, output_shapes, output_classes)
        flat = structure.flat_specs(spec)
        resource = tf.raw_ops.IteratorFromStringHandleV2(string_handle=tf.convert_to_tensor(string_handle, tf.string), output_types=[d for d, _ in flat],
                                                         output_shapes=[s for _, s in flat])
        return Iterator(resource, None, *_legacy_structure(spec))

    @property
    def initializer(self):
        """The operation that puts it at the beginning of its dataset."""
        if self._initializer is None:
            raise ValueError("The iterator does not have an initializer. This means it was likely created using "
                             "`tf.data.Dataset.make_one_shot_iterator()`. For an initializable iterator, use "
                             "`tf.data.Dataset.make_initializable_iterator()` instead.")
        return self._initializer

    def make_initializer(self, dataset, name=None):
        """An operation that puts it at the beginning of the dataset."""
        own, other = self._element_spec, dataset.element_spec
        if repr(structure.transform(lambda s: 0, own)) != repr(structure.transform(lambda s: 0, other)):
            raise TypeError("The two structures don't have the same nested structure. Iterator: %r, dataset: %r." % (own, other))
        for mine, theirs in zip(structure.flatten(own), structure.flatten(other)):
            if mine.dtype != theirs.dtype:
                raise TypeError("Expected output types %r but got dataset with output types %r." % (get_output_types(self), get_output_types(dataset)))
            if not mine.shape.is_compatible_with(theirs.shape):
                raise TypeError("Expected output shapes compatible with %r but got dataset with output shapes %r." % (
                    get_output_shapes(self), get_output_shapes(dataset)))
        with colocate_with(self._iterator_resource):
            return tf.raw_ops.MakeIterator(dataset=dataset._variant_tensor, iterator=self._iterator_resource, name=name or "make_initializer")

    def _lists(self):
        flat = structure.flat_specs(self._element_spec)
        return {"iterator": self._iterator_resource, "output_types": [d for d, _ in flat], "output_shapes": [s for _, s in flat]}

    def get_next(self, name=None):
        """Tensors that are the next element in every run."""
        self._get_next_count += 1
        if self._get_next_count == 33:
            tf.get_logger().warning("An unusually high number of `Iterator.get_next()` calls was detected. This often indicates that `Iterator.get_next()` "
                                    "is being called inside a training loop, which will cause gradual slowdown and eventual resource exhaustion.")
        with colocate_with(self._iterator_resource):
            tensors = tf.raw_ops.IteratorGetNext(**self._lists(), name=name)
        return structure.pack(self._element_spec, tensors if isinstance(tensors, (list, tuple)) else [tensors])

    def get_next_as_optional(self):
        """The next element as a tf.experimental.Optional."""
        return Optional(tf.raw_ops.IteratorGetNextAsOptional(**self._lists()), self._element_spec)

    def string_handle(self, name=None):
        """A text by which from_string_handle finds the iterator."""
        return self._string_handle if name is None else tf.raw_ops.IteratorToStringHandle(resource_handle=self._iterator_resource, name=name)


def _spec(types, shapes, classes):
    """The structure of specs that nested dtypes and shapes tell."""
    if classes is not None and any(c is not tf.Tensor for c in structure.flatten(classes)):
        raise NotImplementedError("iterators over elements that are no tensors are not supported")
    if shapes is None:
        return structure.transform(lambda t: tf.TensorSpec(None, t), types)
    if structure.is_nested(types):
        flat = iter(_flat_shapes(types, shapes))
        return structure.transform(lambda t: tf.TensorSpec(next(flat), t), types)
    return tf.TensorSpec(shapes, types)


def _flat_shapes(types, shapes):
    """The shapes in the order of the types; a list of numbers is one shape."""
    if not structure.is_nested(types):
        return [shapes]
    if isinstance(types, dict):
        return [s for key in sorted(types) for s in _flat_shapes(types[key], shapes[key])]
    return [s for t, own in zip(types, shapes) for s in _flat_shapes(t, own)]


def _legacy_structure(spec):
    return (structure.transform(lambda s: s.dtype, spec), structure.transform(lambda s: s.shape, spec), None)


def make_one_shot_iterator(dataset):
    """An iterator that goes through the dataset once in every session."""
    if _core.executing_eagerly():
        return OwnedIterator(dataset)
    with colocate_with(dataset._variant_tensor):
        return Iterator(_one_shot(dataset), None, *_legacy_structure(dataset.element_spec))


def make_initializable_iterator(dataset, shared_name=None):
    """An iterator whose initializer puts it at the beginning of the dataset."""
    if _core.executing_eagerly():
        return _initializable(dataset, shared_name)  # which says what is wrong
    with colocate_with(dataset._variant_tensor):
        resource = _initializable(dataset, shared_name)
        initializer = tf.raw_ops.MakeIterator(dataset=dataset._variant_tensor, iterator=resource)
        return Iterator(resource, initializer, *_legacy_structure(dataset.element_spec))


class DatasetV1(_VariantDataset):
    """tf.compat.v1.data.Dataset: what tf.data.Dataset does, and iterators as methods."""

    make_one_shot_iterator, make_initializable_iterator = make_one_shot_iterator, make_initializable_iterator
    output_types, output_shapes, output_classes = _legacy(get_output_types), _legacy(get_output_shapes), _legacy(get_output_classes)


class DatasetV1Adapter(DatasetV1):
    """A dataset that a method of tf.compat.v1.data.Dataset made."""


def _adapted(dataset):
    if not isinstance(dataset, tf.data.Dataset) or isinstance(dataset, DatasetV1):
        return dataset
    made = DatasetV1Adapter(dataset._variant_tensor, dataset.element_spec)
    if getattr(dataset, "_own_options", None) is not None:
        made._own_options = dataset._own_options
    return finish(made, dataset.element_spec, exact=True)


def _adapting(function):
    def method(*args, **kwargs):
        return _adapted(function(*args, **kwargs))
    method.__name__, method.__doc__ = getattr(function, "__name__", "method"), function.__doc__
    return method


def install():
    """Fills tf.compat.v1.data."""
    data, found = _v1.data, {}
    for base in reversed(tf.data.Dataset.__mro__):
        found.update(vars(base))
    for name, member in found.items():
        if name.startswith("_") or isinstance(member, property) or name in ("as_numpy_iterator", "cardinality", "get_single_element", "options"):
            continue
        function = getattr(tf.data.Dataset, name)
        if callable(function):
            setattr(DatasetV1, name, staticmethod(_adapting(function)) if isinstance(member, staticmethod) else _adapting(function))
    DatasetV1.map_with_legacy_function, DatasetV1.filter_with_legacy_function = DatasetV1.map, DatasetV1.filter
    data.Dataset, data.Iterator, data.NumpyIterator = DatasetV1, Iterator, NumpyIterator
    for name in ("TextLineDataset", "TFRecordDataset", "FixedLengthRecordDataset"):
        setattr(data, name, _adapting(getattr(tf.data, name)))
    for function in (get_output_types, get_output_shapes, get_output_classes, make_one_shot_iterator, make_initializable_iterator):
        setattr(data, function.__name__, function)
