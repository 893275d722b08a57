"""Values of state variables as flat tensors and back: lists, tuples, dicts and named tuples with tensors, numbers, strings and
TensorArrays at their leaves. Other objects stay what they are outside the graph, and must be the same object on every path.

A TensorArray is a leaf as it is: tf.cond and tf.while_loop take them."""
import numbers

import thalweg as tf
from thalweg import nest


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


def flatten(value, tensors):
    """Appends the tensors in a value to a list; its structure, with Leaf and Constant at the ends."""
    if isinstance(value, dict):
        members = {key: flatten(value[key], tensors) for key in sorted(value)}  # paths may make them in different orders
        return {key: members[key] for key in value}
    if isinstance(value, (list, tuple)):
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
    if isinstance(structure, dict):
        members = {key: unflatten(structure[key], tensors) for key in sorted(structure)}
        return {key: members[key] for key in structure}
    return _rebuild(structure, [unflatten(s, tensors) for s in structure])


def has_none(value):
    """Whether a value is None, or any part of it."""
    if isinstance(value, dict):
        return any(has_none(v) for v in value.values())
    if isinstance(value, (list, tuple)):
        return any(has_none(v) for v in value)
    return value is None


def difference(a, b):
    """What distinguishes the structures of two values, as a text; None if they agree."""
    try:
        nest.assert_same_structure(a, b)
    except (TypeError, ValueError) as error:
        return str(error)
    return None
