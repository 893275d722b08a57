"""Elements of datasets: structures of specs, values into flat tensors and back.

An element_spec is nested by tuples, named tuples and dicts; a leaf is a TensorSpec, or a spec of this file for what is no tensor itself but is
carried by one (or none). Lists are no structures: they become tensors. Tensors stand in the order of members, of dicts in that of keys."""
import collections.abc

import thalweg as tf
from thalweg import _core


class DatasetSpec:
    """Datasets as elements of a dataset, or as arguments of a function."""

    value_type = property(lambda self: tf.data.Dataset)

    def __init__(self, element_spec, dataset_shape=()):
        self._element_spec = element_spec
        self._shape = tf.TensorShape(dataset_shape)

    element_spec = property(lambda self: self._element_spec)

    @staticmethod
    def from_value(value):
        return DatasetSpec(value.element_spec)

    def is_compatible_with(self, other):
        return isinstance(other, DatasetSpec) and self == other or isinstance(other, tf.data.Dataset) and self == DatasetSpec.from_value(other)

    def _tensors(self, value):
        return [value._variant_tensor]

    def _value(self, tensors):
        return dataset_of_variant(next(tensors), self._element_spec)

    _count = 1
    _flat = [(tf.variant, tf.TensorShape([]))]

    def __eq__(self, other):
        return isinstance(other, DatasetSpec) and same(self._element_spec, other._element_spec)

    def __hash__(self):
        return hash(DatasetSpec)

    def __repr__(self):
        return "DatasetSpec(%r, %r)" % (self._element_spec, self._shape)


class NoneTensorSpec:
    """None as a member of an element."""

    value_type = type(None)
    _count, _flat = 0, []

    def is_compatible_with(self, other):
        return other is None or isinstance(other, NoneTensorSpec)

    def _tensors(self, value):
        return []

    def _value(self, tensors):
        return None

    def __eq__(self, other):
        return isinstance(other, NoneTensorSpec)

    def __hash__(self):
        return hash(NoneTensorSpec)

    def __repr__(self):
        return "NoneTensorSpec()"


class OptionalSpec:
    """tf.experimental.Optional: an element, or nothing."""

    _count = 1
    _flat = [(tf.variant, tf.TensorShape([]))]

    def __init__(self, element_spec):
        self._element_spec = element_spec

    def _tensors(self, value):
        return [value._variant_tensor]

    def _value(self, tensors):
        from thalweg._data.iterators import Optional
        return Optional(next(tensors), self._element_spec)

    def __eq__(self, other):
        return isinstance(other, OptionalSpec) and same(self._element_spec, other._element_spec)

    def __hash__(self):
        return hash(OptionalSpec)

    def __repr__(self):
        return "OptionalSpec(%r)" % (self._element_spec,)


class _Composite:
    """What datasets ask of the specs of values that one variant tensor carries: put onto RaggedTensorSpec and SparseTensorSpec."""

    _count = 1

    def _ragged_tensors(self, value):
        return [_ragged_variant(value, self.row_splits_dtype, False)]

    def _ragged_value(self, tensors):
        rank = self.ragged_rank
        parts = tf.raw_ops.RaggedTensorFromVariant(encoded_ragged=next(tensors), input_ragged_rank=-1, output_ragged_rank=rank, Tvalues=self.dtype,
                                                   Tsplits=self.row_splits_dtype)
        splits, values = list(parts[0]), parts[1]
        if self.shape.rank is not None:
            values.set_shape([None if rank else self.shape[0], *self.shape[rank + 1:]] if self.shape.rank > rank else None)
        return tf.RaggedTensor.from_nested_row_splits(values, splits, validate=False) if rank else values

    def _ragged_batched(self):
        return tf.RaggedTensorSpec([None, *self.shape], self.dtype, self.ragged_rank + 1, self.row_splits_dtype)

    def _ragged_row(self):
        if self.ragged_rank == 0:
            return tf.TensorSpec(self.shape[1:], self.dtype)
        return tf.RaggedTensorSpec(self.shape[1:], self.dtype, self.ragged_rank - 1, self.row_splits_dtype)

    def _sparse_tensors(self, value):
        return [tf.raw_ops.SerializeSparse(sparse_indices=value.indices, sparse_values=value.values, sparse_shape=value.dense_shape,
                                           out_type=tf.variant)]

    def _sparse_value(self, tensors):
        indices, values, shape = tf.raw_ops.DeserializeSparse(serialized_sparse=next(tensors), dtype=self.dtype)
        rank = self.shape.rank
        indices.set_shape([None, rank])
        shape.set_shape([rank])
        return tf.SparseTensor(indices, values, shape)


def _ragged_variant(value, splits_dtype, batched):
    """A ragged tensor, or a dense one of ragged rank 0, as a variant; or its rows as a vector of them."""
    ragged = type(value).__name__ == "RaggedTensor"
    return tf.raw_ops.RaggedTensorToVariant(rt_nested_splits=list(value.nested_row_splits) if ragged else [],
                                            rt_dense_values=value.flat_values if ragged else value, Tsplits=splits_dtype, batched_input=batched)


def _teach():
    ragged, sparse, own = tf.RaggedTensorSpec, tf.SparseTensorSpec, _Composite
    for spec, shape in ((ragged, tf.TensorShape([])), (sparse, tf.TensorShape([3]))):
        spec._count, spec._flat = 1, [(tf.variant, shape)]
    ragged._tensors, ragged._value, ragged._batched, ragged._row, ragged._ragged = (
        own._ragged_tensors, own._ragged_value, own._ragged_batched, own._ragged_row, True)
    sparse._tensors, sparse._value = own._sparse_tensors, own._sparse_value
    sparse._batched = lambda self: tf.SparseTensorSpec([None, *self.shape], self.dtype)
    sparse._row = lambda self: tf.SparseTensorSpec(self.shape[1:], self.dtype)


_teach()


def rows_of(value):
    """The flat tensors whose rows are the rows of a value, and the spec of a row."""
    def leaf(v):
        kind = type(v).__name__
        if kind == "RaggedTensor":
            return _ragged_variant(v, v.row_splits.dtype, True), v._type_spec._row()
        if kind == "SparseTensor":
            made = tf.raw_ops.SerializeManySparse(sparse_indices=v.indices, sparse_values=v.values, sparse_shape=v.dense_shape, out_type=tf.variant)
            return made, tf.SparseTensorSpec(v.shape[1:], v.dtype)
        return v, tf.TensorSpec(v.shape[1:] if v.shape.rank else [], v.dtype)
    pairs = [leaf(v) for v in flatten(value)]
    specs = iter([spec for _, spec in pairs])
    return [tensor for tensor, _ in pairs], transform(lambda v: next(specs), value)


def is_nested(value):
    return isinstance(value, (tuple, collections.abc.Mapping))


def _keys(value):
    try:
        return sorted(value)
    except TypeError:
        raise TypeError("the keys of a dict in an element can't be sorted: %r" % (list(value),)) from None


def _rebuilt(value, members):
    """A structure like the one, around members in the order of flatten."""
    if isinstance(value, collections.abc.Mapping):
        by_key = dict(zip(_keys(value), members))
        pairs = {key: by_key[key] for key in value}
        if type(value) is dict or type(value).__module__ == "thalweg._containers":
            return pairs
        if isinstance(value, collections.defaultdict):
            return type(value)(value.default_factory, pairs)
        return type(value)(pairs)
    if hasattr(value, "_fields"):
        return type(value)(*members)
    return tuple(members)


def _members(value):
    return [value[key] for key in _keys(value)] if isinstance(value, collections.abc.Mapping) else list(value)


def flatten(spec):
    """The leaves of a structure."""
    if not is_nested(spec):
        return [spec]
    return [leaf for member in _members(spec) for leaf in flatten(member)]


def transform(function, spec):
    """The structure with other leaves."""
    if not is_nested(spec):
        return function(spec)
    return _rebuilt(spec, [transform(function, m) for m in _members(spec)])


def same(one, other):
    """Whether two specs are equal."""
    if is_nested(one) != is_nested(other):
        return False
    if not is_nested(one):
        return one == other
    if isinstance(one, collections.abc.Mapping) != isinstance(other, collections.abc.Mapping) or len(one) != len(other):
        return False
    if isinstance(one, collections.abc.Mapping) and set(one) != set(other):
        return False
    return all(same(a, b) for a, b in zip(_members(one), _members(other)))


def spec_of(value):
    """The spec of a value whose leaves are tensors or what this file has a spec for."""
    return transform(_leaf_spec, value)


def _leaf_spec(value):
    if value is None:
        return NoneTensorSpec()
    if isinstance(value, tf.data.Dataset):
        return DatasetSpec(value.element_spec)
    if type(value).__name__ == "Optional" and hasattr(value, "_variant_tensor"):
        return OptionalSpec(value.element_spec)
    if hasattr(value, "_in_datasets") or type(value).__name__ in ("RaggedTensor", "SparseTensor"):
        return value._type_spec
    return tf.TensorSpec(value.shape, value.dtype)


def normalize(value):
    """The value with tensors where there is anything that becomes one."""
    def leaf(v):
        if v is None or isinstance(v, (tf.data.Dataset, _core.Tensor)) or type(v).__name__ in ("RaggedTensor", "SparseTensor", "Optional") or \
                hasattr(v, "_in_datasets"):  # a value of several tensors whose spec knows what this file's specs do
            return v
        return tf.convert_to_tensor(v)
    return transform(leaf, value)


def tensors_of(value, spec=None):
    """The flat tensors of a normalized value."""
    out = []
    leaves = flatten(value)
    for v, s in zip(leaves, flatten(spec_of(value) if spec is None else spec)):
        out += [v] if not hasattr(s, "_tensors") else s._tensors(v)
    return out


def flat_specs(spec):
    """(dtype, shape) of the flat tensors."""
    out = []
    for s in flatten(spec):
        out += [(s.dtype, s.shape)] if not hasattr(s, "_flat") else s._flat
    return out


def pack(spec, tensors):
    """The value of flat tensors."""
    found = iter(tensors)
    return transform(lambda s: next(found) if not hasattr(s, "_value") else s._value(found), spec)


def packer(spec):
    """What _core.next_element packs with: None, True, or a function of the list of tensors."""
    if isinstance(spec, tf.TensorSpec):
        return None
    if type(spec) is tuple and spec and all(isinstance(s, tf.TensorSpec) for s in spec):
        return True
    if isinstance(spec, dict) and type(spec) is dict and all(isinstance(s, tf.TensorSpec) for s in spec.values()):
        order, keys = _keys(spec), list(spec)
        if order == keys:
            return lambda tensors: dict(zip(keys, tensors))
    return lambda tensors: pack(spec, tensors)


def renewed(spec, dtypes, shapes):
    """The structure with the dtypes and shapes that C tells of the flat tensors."""
    found = iter(zip(shapes, dtypes))

    def leaf(s):
        if hasattr(s, "_value"):
            for _ in range(s._count):
                next(found)
            return s
        return tf.TensorSpec(*next(found))
    return transform(leaf, spec)


def encoded(spec):
    """dtypes and shapes as lists of integers, for _VariantDataset."""
    types, shapes = [], []
    for dtype, shape in flat_specs(spec):
        types.append(dtype.as_datatype_enum)
        dims = [-1] if shape.rank is None else [shape.rank] + [-1 if d is None else d for d in shape.as_list()]
        shapes += dims
    return types, shapes


def dataset_of_variant(variant, element_spec):
    """The dataset that a variant tensor holds."""
    from thalweg._data.dataset import finish, rows
    types, shapes = encoded(element_spec)
    return finish(rows._VariantDataset(variant, types, shapes), element_spec)
