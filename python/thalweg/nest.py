"""tf.nest: structures of lists, tuples, named tuples, dicts and views of dicts, with anything else as a leaf.

The members of a dict stand in the order of its keys, those of everything else in their own order. Loaded when first asked for."""
import collections.abc as _abc

from thalweg import _core

_DEPTH = 200
_VIEWS = (_abc.KeysView, _abc.ValuesView, _abc.ItemsView)


def is_nested(structure):
    """Whether this is a structure and not a leaf."""
    if isinstance(structure, (str, bytes, bytearray)):
        return False
    return isinstance(structure, (_abc.Mapping, _abc.Sequence) + _VIEWS)


def _members(structure):
    if isinstance(structure, _abc.Mapping):
        return [structure[key] for key in sorted(structure)]
    return list(structure)


def _check_depth(depth):
    if depth > _DEPTH:
        raise ValueError("tf.nest: a structure is nested deeper than %d levels, or holds itself" % _DEPTH)


def _flatten(structure, leaves, depth):
    _check_depth(depth)
    if not is_nested(structure):
        leaves.append(structure)
        return
    for member in _members(structure):
        _flatten(member, leaves, depth + 1)


def flatten(structure, expand_composites=False):
    """The leaves in order; of a leaf, a list of it."""
    leaves = []
    _flatten(structure, leaves, 0)
    return [part for leaf in leaves for part in _parts(leaf)] if expand_composites else leaves


def _parts(leaf):
    """The tensors of a ragged or sparse tensor; anything else alone."""
    parts = _core._composite_parts(leaf)
    return [leaf] if parts is None else parts


def _joined(structure, leaves):
    """Leaves of a structure, each of its tensors."""
    given, out = iter(leaves), []
    for leaf in flatten(structure):
        parts = _core._composite_parts(leaf)
        out.append(next(given) if parts is None else leaf._type_spec._from_components([next(given) for _ in parts]))
    return out


def _is_named(value):
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _like(structure, members):
    """A structure of the same type around other members, which are in the order of _members."""
    if isinstance(structure, _abc.Mapping):
        by_key = dict(zip(sorted(structure), members))
        pairs = {key: by_key[key] for key in structure}
        if type(structure).__module__ == "thalweg._containers" or type(structure) is dict:
            return pairs
        if hasattr(structure, "default_factory"):
            return type(structure)(structure.default_factory, pairs)
        return type(structure)(pairs)
    if _is_named(structure):
        return type(structure)(*members)
    if isinstance(structure, range) or isinstance(structure, _VIEWS) or type(structure).__module__ == "thalweg._containers":
        return list(members)
    return type(structure)(members)


def _pack(structure, leaves, depth):
    _check_depth(depth)
    if not is_nested(structure):
        return next(leaves)
    return _like(structure, [_pack(member, leaves, depth + 1) for member in _members(structure)])


def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """A structure like the first, with the leaves of a sequence."""
    if not is_nested(flat_sequence):
        raise TypeError("Attempted to pack value:\n  %s\ninto a structure, but found incompatible type `%s` instead." % (
            flat_sequence, type(flat_sequence)))
    if expand_composites:
        count, given = len(flatten(structure, True)), _members(flat_sequence)
        if count != len(given):
            raise ValueError("Could not pack sequence. Structure had %d atoms, but flat_sequence had %d items.  Structure: %s, "
                             "flat_sequence: %s." % (count, len(given), structure, flat_sequence))
        flat_sequence = _joined(structure, given)
    if not is_nested(structure):
        if len(flat_sequence) != 1:
            raise ValueError("The target structure is of type `%s`\n  %s\nHowever the input is a sequence (%s) of length %d.\n  %s\n"
                             "nest cannot guarantee that it is safe to map one to the other." % (
                                 type(structure), structure, type(flat_sequence), len(flat_sequence), flat_sequence))
        return _members(flat_sequence)[0]
    count, given = len(flatten(structure)), list(flat_sequence)
    if count != len(given):
        raise ValueError("Could not pack sequence. Structure had %d atoms, but flat_sequence had %d items.  Structure: %s, "
                         "flat_sequence: %s." % (count, len(given), structure, flat_sequence))
    return _pack(structure, iter(given), 0)


class _Dot:
    """Stands for a leaf in messages."""

    def __repr__(self):
        return "."


def _described(value):
    return "type=%s str=%s" % (type(value).__name__, value)


def _same_type(first, second):
    if isinstance(first, _abc.Mapping) and isinstance(second, _abc.Mapping):
        return True
    if _is_named(first) and _is_named(second):
        return type(first).__name__ == type(second).__name__ and first._fields == second._fields

    def plain(value):
        return type(value).__mro__[1] if type(value).__module__ == "thalweg._containers" else type(value)
    return plain(first) is plain(second)


def _difference(first, second, check_types, depth):
    """None, or the class of the error and what it says."""
    _check_depth(depth)
    nested = is_nested(first)
    if nested != is_nested(second):
        inner, leaf = (first, second) if nested else (second, first)
        return ValueError, 'Substructure "%s" is a sequence, while substructure "%s" is not' % (_described(inner), _described(leaf))
    if not nested:
        return None
    if check_types:
        if not _same_type(first, second):
            return TypeError, ("The two namedtuples don't have the same sequence type. First structure %s has type %s, while second structure "
                               "%s has type %s" % (_described(first), type(first).__name__, _described(second), type(second).__name__))
        if isinstance(first, _abc.Mapping) and set(first) != set(second):
            return ValueError, ("The two dictionaries don't have the same set of keys. First structure has keys %s, while second structure has "
                                "keys %s" % (_described(list(first)), _described(list(second))))
    ones, others = _members(first), _members(second)
    if len(ones) != len(others):
        return ValueError, "The two structures don't have the same number of elements. First structure: %s. Second structure: %s" % (
            _described(first), _described(second))
    for one, other in zip(ones, others):
        found = _difference(one, other, check_types, depth + 1)
        if found:
            return found
    return None


def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """Raises an error unless both are nested in the same way."""
    del expand_composites
    found = _difference(nest1, nest2, check_types, 0)
    if found:
        dot = _Dot()
        dots = [str(_pack(nest, iter(lambda: dot, None), 0)) for nest in (nest1, nest2)]
        raise found[0]("The two structures don't have the same nested structure.\n\nFirst structure: %s\n\nSecond structure: %s\n\n"
                       "More specifically: %s\nEntire first structure:\n%s\nEntire second structure:\n%s" % (
                           _described(nest1), _described(nest2), found[1], dots[0], dots[1]))


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
    leaves = [func(*group) for group in zip(*(flatten(s, expand) for s in structure))]
    return _pack(structure[0], iter(_joined(structure[0], leaves) if expand else leaves), 0)
