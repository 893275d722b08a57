"""What of tf.debugging, tf.group and tf.get_static_value is about Python's values; the checks themselves are C's (src/api/debugging/debugging.c)."""
import functools

import numpy as np

import thalweg
from thalweg import _core


def _array(value):
    """Of a list whose members are not all known an array of objects."""
    if not isinstance(value, list):
        return value
    members = [_array(v) for v in value]
    try:
        array = np.array(members)
        if array.dtype == object:
            return array
    except ValueError:  # of several shapes
        pass
    array = np.empty(len(members), dtype=object)
    for i, member_value in enumerate(members):
        array[i] = member_value
    return array


def get_static_value(tensor, partial=False):
    """The value as NumPy's, if it is known without running the graph; else None. What is no tensor is its own value."""
    if isinstance(tensor, _core.Tensor):
        return tensor.numpy() if not _core.is_symbolic(tensor) else _array(thalweg._get_static_value(tensor, partial))
    return None if _core.is_tensor(tensor) else tensor


def is_numeric_tensor(tensor):
    """Whether it is a tensor of numbers."""
    return isinstance(tensor, _core.Tensor) and thalweg.debugging._is_numeric_tensor(tensor)


def assert_proper_iterable(values):
    """Raises an error unless it is a list, tuple or the like, and neither a tensor, an array nor a text."""
    if thalweg.is_tensor(values) or isinstance(values, (np.ndarray, bytes, str)):
        raise TypeError('Expected argument "values" to be a "proper" iterable.  Found: %s' % type(values))
    if not hasattr(values, "__iter__"):
        raise TypeError('Expected argument "values" to be iterable.  Found: %s' % type(values))


def group(*inputs, **kwargs):
    """An operation that runs all its inputs, which may be nested; None outside of graphs."""
    if not _core._tracing():
        return None
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    from thalweg import nest
    members = []
    for value in nest.flatten(inputs):
        if not hasattr(value, "device") and not _core.is_tensor(value) and not isinstance(value, _core.Operation):
            raise TypeError("'inputs' should be zero or more (nested) Tensors. Received '%s' with type '%s'." % (value, type(value)))
        member = getattr(value, "_as_graph_element", lambda value=value: value)()
        if _core.is_symbolic(member) or isinstance(member, _core.Operation):
            members.append(member)
    return thalweg._group(members, name or "group_deps")


def grad_pass_through(f):
    """f with the gradient of the identity."""
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        @thalweg.custom_gradient
        def passing(*inner):
            def gradient(*upstream, **variables):
                given = upstream[0] if len(upstream) == 1 else list(upstream)
                return (given, [None] * len(variables["variables"])) if variables.get("variables") is not None else given
            return f(*inner, **kwargs), gradient
        return passing(*args)
    return wrapper
