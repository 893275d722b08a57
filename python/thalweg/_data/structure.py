"""Elements of datasets: structures nested by tuples, named tuples and dicts. Lists are no structures: they become tensors. What they are made of and
which tensors carry them is C's (src/data/element.h); here are the walks that want Python's own values as leaves."""
import collections.abc

import thalweg as tf

rows = tf.data._rows
DatasetSpec, NoneTensorSpec, OptionalSpec = rows.DatasetSpec, rows._NoneTensorSpec, rows._OptionalSpec
spec_of, normalize, tensors_of, rows_of, pack, same, dataset_of_variant = (
    rows._structure, rows._normalized, rows._tensors, rows._rows_of, rows._pack, rows._same, rows._VariantDataset)
for _type, _value in ((DatasetSpec, lambda self: tf.data.Dataset), (NoneTensorSpec, lambda self: type(None)), (OptionalSpec, lambda self: rows._Optional)):
    _type.value_type = property(_value)
    _type.__name__ = _type.__qualname__ = _type.__name__.lstrip("_")


def is_nested(value):
    return isinstance(value, (tuple, collections.abc.Mapping))


def _rebuilt(value, members):
    """A structure like the one, around members in the order of flatten."""
    if isinstance(value, collections.abc.Mapping):
        by_key = dict(zip(sorted(value), members))
        pairs = {key: by_key[key] for key in value}
        if type(value) is dict or type(value).__module__ == "thalweg._containers":
            return pairs
        return type(value)(value.default_factory, pairs) if isinstance(value, collections.defaultdict) else type(value)(pairs)
    return type(value)(*members) if hasattr(value, "_fields") else tuple(members)


def _members(value):
    return [value[key] for key in sorted(value)] if isinstance(value, collections.abc.Mapping) else list(value)


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


def flat_specs(spec):
    """(dtype, shape) of the flat tensors."""
    return [(s.dtype, s.shape) for s in rows._flat_specs(spec)]
