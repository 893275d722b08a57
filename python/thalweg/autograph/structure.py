"""Values of state variables as flat tensors and back: lists, tuples, dicts and named tuples with tensors, numbers, strings and
TensorArrays at their leaves. Other objects stay what they are outside the graph, and must be the same object on every path.

A TensorArray is a leaf as it is: tf.cond and tf.while_loop take them."""
import numbers

import thalweg as tf


class Leaf:
    """Where a tensor stands in a structure."""

    __slots__ = ()


class Constant:
    """Where an object that is no tensor stands."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


def is_tensor_like(value):
    """Whether a value can be a tensor in a graph."""
    return (tf.is_tensor(value) or isinstance(value, (bool, numbers.Number, str, bytes)) or
            hasattr(value, "__array__") and hasattr(value, "dtype"))


def is_tensor_array(value):
    """Whether a value is a TensorArray."""
    kind = getattr(tf, "TensorArray", None)
    return isinstance(kind, type) and isinstance(value, kind)


def _rebuild(like, values):
    if isinstance(like, tuple) and hasattr(like, "_fields"):
        return type(like)(*values)
    if isinstance(like, tuple):
        return tuple(values)
    return list(values)


def _is_mapping(value):
    return isinstance(value, dict)


def _is_sequence(value):
    return isinstance(value, (list, tuple))


def flatten(value, tensors):
    """Appends the tensors in a value to a list; its structure, with Leaf and Constant at the ends."""
    if _is_mapping(value):
        return {key: flatten(value[key], tensors) for key in value}
    if _is_sequence(value):
        return _rebuild(value, [flatten(v, tensors) for v in value])
    if is_tensor_array(value):
        tensors.append(value)
        return Leaf()
    if is_tensor_like(value):
        tensors.append(tf.convert_to_tensor(value))
        return Leaf()
    return Constant(value)


def unflatten(structure, tensors):
    """A value from its structure and an iterator of tensors."""
    if isinstance(structure, Leaf):
        return next(tensors)
    if isinstance(structure, Constant):
        return structure.value
    if _is_mapping(structure):
        return {key: unflatten(structure[key], tensors) for key in structure}
    return _rebuild(structure, [unflatten(s, tensors) for s in structure])


def has_none(value):
    """Whether a value is None, or any part of it."""
    if _is_mapping(value):
        return any(has_none(v) for v in value.values())
    if _is_sequence(value):
        return any(has_none(v) for v in value)
    return value is None


def _dots(value):
    if _is_mapping(value):
        return "{%s}" % ", ".join("%r: %s" % (k, _dots(value[k])) for k in value)
    if _is_sequence(value):
        inside = ", ".join(_dots(v) for v in value)
        if isinstance(value, tuple):
            return "(%s%s)" % (inside, "," if len(value) == 1 else "")
        return "[%s]" % inside
    return "."


def _describe(value):
    return "type=%s str=%s" % (type(value).__name__, value)


def _first_difference(a, b):
    nested_a, nested_b = _is_mapping(a) or _is_sequence(a), _is_mapping(b) or _is_sequence(b)
    if not nested_a and not nested_b:
        return None
    if nested_a != nested_b:
        kind = 'Substructure "%s" is a sequence, while substructure "%s" is not'
        return kind % ((_describe(a), _describe(b)) if nested_a else (_describe(b), _describe(a)))
    if len(a) != len(b):
        return "The two structures don't have the same number of elements. First structure: %s. Second structure: %s" % (
            _describe(a), _describe(b))
    if type(a) is not type(b):
        text = ("The two namedtuples don't have the same sequence type. First structure %s has type %s, while second structure "
                "%s "
                "has type %s")
        return text % (_describe(a), type(a).__name__, _describe(b), type(b).__name__)
    if _is_mapping(a):
        if set(a) != set(b):
            text = ("The two dictionaries don't have the same set of keys. First structure has keys %s, while second structure "
                    "has "
                    "keys %s")
            return text % (sorted(map(str, a)), sorted(map(str, b)))
        pairs = [(a[k], b[k]) for k in a]
    else:
        pairs = list(zip(a, b))
    return next((d for d in (_first_difference(x, y) for x, y in pairs) if d), None)


def difference(a, b):
    """What distinguishes the structures of two values, as a text; None if they agree."""
    found = _first_difference(a, b)
    if found is None:
        return None
    return ("The two structures don't have the same nested structure.\n\nFirst structure: %s\n\nSecond structure: %s\n\n"
            "More specifically: %s\nEntire first structure:\n%s\nEntire second structure:\n%s" % (
                _describe(a), _describe(b), found, _dots(a), _dots(b)))
