"""tf.nest: structures of lists, tuples, named tuples, dicts and views of dicts, with anything else as a leaf.

The members of a dict stand in the order of its keys, those of everything else in their own order: python/extension/nest.c. Loaded when first
asked for."""
from thalweg import _core


class _Dot:
    """Stands for a leaf in messages."""

    def __repr__(self):
        return "."


def is_nested(seq):
    """Whether this is a structure and not a leaf."""
    return _core._nest_is_nested(seq)


def flatten(structure, expand_composites=False):
    """The leaves in order; of a leaf, a list of it."""
    return _core._nest_flatten(structure, expand_composites)


def _pack(structure, leaves):
    """The structure with these leaves: the first ones that an iterable gives."""
    return _core._nest_pack(structure, leaves)


def _is_named(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """A structure like the first, with the leaves of a sequence."""
    return _core._nest_pack_all(structure, flat_sequence, expand_composites)


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """Raises an error unless both are nested in the same way."""
    del expand_composites
    _core._nest_same(nest1, nest2, check_types, _Dot())


def map_structure(func, *structure, **kwargs):
    """The structure of what a function gives for the leaves, taken together from all structures."""
    if not callable(func):
        raise TypeError("func must be callable, got: %s" % (func,))
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError("Only valid keyword arguments are `check_types` and `expand_composites`, not: `%s`" % "`, `".join(kwargs))
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=check_types)
    return _core._nest_map(func, structure, expand)
