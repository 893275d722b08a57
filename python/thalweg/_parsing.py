"""tf.io.parse_example and what describes features: Python's dicts over the library's rows (src/api/example.c)."""
import collections

import thalweg as tf

def _default(feature):
    return None if feature.default_value is None else tf.convert_to_tensor(feature.default_value, feature.dtype)


class FixedLenFeature(collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"], defaults=(None,))):
    """A feature with as many values as its shape has elements."""

    def _row(self, key):
        return tf.io._ExampleFeature(key, self.dtype, tf.TensorShape(self.shape), _default(self))


class FixedLenSequenceFeature(collections.namedtuple("FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"],
                                                     defaults=(False, None))):
    """A feature with any number of rows of one shape."""

    def _row(self, key):
        return tf.io._ExampleFeature(key, self.dtype, tf.TensorShape(self.shape), _default(self), "sequence")


class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """A feature with any number of values, as a sparse tensor."""

    def _row(self, key):
        return tf.io._ExampleFeature(key, self.dtype, kind="sparse")


class RaggedFeature(collections.namedtuple("RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"])):
    """A feature with any number of values, as ragged rows."""

    def __new__(cls, dtype, value_key=None, partitions=(), row_splits_dtype=tf.int32, validate=False):
        if partitions:
            raise NotImplementedError("RaggedFeature: partitions other than the rows of the batch are not supported")
        return super().__new__(cls, dtype, value_key, tuple(partitions), row_splits_dtype, validate)

    def _row(self, key):
        return tf.io._ExampleFeature(key if self.value_key is None else self.value_key, self.dtype, kind="ragged",
                                     row_splits_dtype=self.row_splits_dtype)


class SparseFeature(collections.namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"], defaults=(False,))):
    """A sparse tensor whose indices and values are features of their own."""

    _several = property(lambda self: isinstance(self.index_key, (list, tuple)))
    _keys = property(lambda self: self.index_key if self._several else [self.index_key])

    def _parts(self):
        """The features that it is made of, by key."""
        return {**{key: VarLenFeature(tf.int64) for key in self._keys}, self.value_key: VarLenFeature(self.dtype)}

    def _value(self, parsed):
        values = parsed[self.value_key]
        indices = [values.indices[:, :-1]] + [tf.expand_dims(parsed[key].values, 1) for key in self._keys]
        shape = tf.concat([values.dense_shape[:-1], tf.cast(self.size if self._several else [self.size], tf.int64)], 0)
        made = tf.SparseTensor(tf.concat(indices, 1), values.values, shape)
        return made if self.already_sorted else tf.sparse.reorder(made)


_ORDER = {VarLenFeature: 0, FixedLenFeature: 1, FixedLenSequenceFeature: 1, RaggedFeature: 2}


def _kind(feature, key):
    for kind, place in _ORDER.items():
        if isinstance(feature, kind):
            return place
    raise ValueError("Unsupported %s %s for key '%s'" % (type(feature).__name__, feature, key))


def _check(feature, key):
    """ValueError unless the feature says what it must."""
    for name in ("index_key", "value_key") if isinstance(feature, SparseFeature) else ():
        if not getattr(feature, name):
            raise ValueError("Missing %s for SparseFeature %s." % (name, feature))
    for name, word in (("dtype", "type"), ("shape", "shape")):
        if getattr(feature, name, ()) is None:
            raise ValueError("Missing %s for feature %s. Received feature=%s." % (word, key, feature))
    if isinstance(feature, FixedLenSequenceFeature) and not feature.allow_missing:
        raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
    if isinstance(feature, FixedLenFeature):
        shape = tf.TensorShape(feature.shape)
        if shape.rank and shape[0] is None:
            raise ValueError("First dimension of shape for feature %s unknown. Consider using FixedLenSequenceFeature. Received feature=%s." % (
                key, feature))
        if not shape.is_fully_defined():
            raise ValueError("All dimensions of shape for feature %s need to be known but received %s. Received feature=%s." % (key, shape, feature))


def _parse(serialized, features, names):
    features = dict(features)
    merged = {key: feature for key, feature in features.items() if isinstance(feature, SparseFeature)}
    if merged:
        whole = {key: feature for key, feature in features.items() if key not in merged}
        for key, feature in merged.items():
            _check(feature, key)
            whole.update((part, whole.get(part, spec)) for part, spec in feature._parts().items())
        parsed = _parse(serialized, whole, names)
        return {key: merged[key]._value(parsed) if key in merged else parsed[key] for key in features}
    keys = sorted(features)
    for key in keys:
        _kind(features[key], key)
        _check(features[key], key)
    keys.sort(key=lambda key: _kind(features[key], key))
    single = serialized.shape.rank == 0
    made = iter(tf.io._parse_example(serialized, [features[key]._row(key) for key in keys], names))
    return _collected(made, features, keys, single)


def _collected(made, features, keys, single, lengths=None):
    """The values of parsed features, from their tensors; of feature lists, whose lengths are put into the dict, if that is given."""
    out = {}
    for key in keys:
        place = _kind(features[key], key)
        if place == 0:
            out[key] = tf.SparseTensor(next(made), next(made), next(made))
        elif place == 1:
            out[key] = next(made)
            if lengths is not None:
                lengths[key] = next(made)
        else:
            values, *splits = [next(made) for _ in range(2 if lengths is None else 3)]
            for row_splits in reversed(splits[1 if single else 0:]):
                values = tf.RaggedTensor.from_row_splits(values, row_splits, validate=False)
            out[key] = values
    return out


def _names(example_names):
    return None if example_names is None else tf.convert_to_tensor(example_names, tf.string)


def parse_example(serialized, features, example_names=None, name=None):
    """The features of a vector of serialized Examples: a dict of tensors, sparse tensors and ragged tensors."""
    if not features:
        raise ValueError("Missing features.")
    with tf.name_scope(name or "ParseExample"):
        return _parse(tf.convert_to_tensor(serialized, tf.string), features, _names(example_names))


def parse_single_example(serialized, features, example_names=None, name=None):
    """The features of one serialized Example: a dict of tensors and sparse tensors."""
    if not features:
        raise ValueError("Invalid argument: features cannot be None.")
    with tf.name_scope(name or "ParseSingleExample"):
        serialized = tf.convert_to_tensor(serialized, tf.string)
        if serialized.shape.rank is None:
            serialized = tf.reshape(serialized, [])
        if serialized.shape.rank != 0:
            raise ValueError("Input serialized must be a scalar")
        with tf.name_scope("ParseExample"):
            return _parse(serialized, features, _names(example_names))


def _sequence(serialized, context_features, sequence_features, names):
    if not (context_features or sequence_features):
        raise ValueError("Both `context_features` and `sequence_features` argument are None, but at least one should have values.")
    context, lists = dict(context_features or {}), dict(sequence_features or {})
    context_keys = sorted(sorted(context), key=lambda key: _kind(context[key], key))
    list_keys = sorted(sorted(lists), key=lambda key: _kind(lists[key], key))
    for key in context_keys:
        _check(context[key], key)

    def list_row(key):
        feature = lists[key]
        if isinstance(feature, FixedLenFeature):
            raise ValueError("Unsupported FixedLenFeature %s." % (feature,))
        if isinstance(feature, FixedLenSequenceFeature):
            return tf.io._ExampleFeature(key, feature.dtype, tf.TensorShape(feature.shape), kind="sequence" if feature.allow_missing else "fixed")
        return feature._row(key)
    made = iter(tf.io._parse_sequence_example(serialized, [context[key]._row(key) for key in context_keys], [list_row(key) for key in list_keys], names))
    single = serialized.shape.rank == 0
    parsed, lengths = _collected(made, context, context_keys, single), {}
    return parsed, _collected(made, lists, list_keys, single, lengths), lengths


def parse_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None):
    """The features of a vector of serialized SequenceExamples: dicts of the contexts', of the feature lists', and of the lists' lengths."""
    with tf.name_scope(name or "ParseSequenceExample"):
        return _sequence(tf.convert_to_tensor(serialized, tf.string), context_features, sequence_features, _names(example_names))


def parse_single_sequence_example(serialized, context_features=None, sequence_features=None, example_name=None, name=None):
    """The features of one serialized SequenceExample: dicts of the context's and of the feature lists'."""
    if not (context_features or sequence_features):
        raise ValueError("Both context_features and sequence_features are None, but at least one should have values.")
    with tf.name_scope(name or "ParseSingleSequenceExample"):
        serialized = tf.convert_to_tensor(serialized, tf.string)
        if serialized.shape.rank is None:
            serialized = tf.reshape(serialized, [])
        return _sequence(serialized, context_features, sequence_features, _names(example_name))[:2]


IO = {name: globals()[name] for name in ("FixedLenFeature", "FixedLenSequenceFeature", "VarLenFeature", "RaggedFeature", "SparseFeature", "parse_example",
                                         "parse_single_example", "parse_sequence_example", "parse_single_sequence_example")}
