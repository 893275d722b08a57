"""Checks of tf.debugging that are about Python's values or made of others (the rest is src/api/debugging.c), tf.group, tf.no_op, tf.tuple,
tf.grad_pass_through."""
import functools

import numpy as np

import thalweg
from thalweg import _core


def _eager(*tensors):
    return not any(_core.is_symbolic(t) for t in tensors)


def _name(tensor):
    """A tensor's name in messages."""
    return tensor.name if _core.is_symbolic(tensor) else ""


def _label(tensor):
    """What messages call a tensor: its name, or its shape and dtype where it has none."""
    return tensor.name if _core.is_symbolic(tensor) else "shape=%s dtype=%s" % (tensor.shape, tensor.dtype.name)


def get_static_value(tensor, partial=False):
    """The value as NumPy's, if it is known while tracing; else None."""
    if partial:
        raise NotImplementedError("tf.get_static_value: partial=True is not supported")
    if not isinstance(tensor, _core.Tensor):
        return None
    value = _core._static_value(tensor)
    return None if value is None else value.numpy()


_known = get_static_value


# ---- two tensors ----

def _node_name(tensor, number):
    """A constant that is no node yet has the name it will get."""
    return tensor.name if _core.is_symbolic(tensor) else "Const_%d:0" % number if number else "Const:0"


def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    """Raises an error unless x and y are within the tolerances."""
    x = thalweg.convert_to_tensor(x)
    try:
        y = thalweg.convert_to_tensor(y, dtype=x.dtype)
    except ValueError as e:
        raise ValueError("y: %s" % e) from None
    if not x.dtype.is_floating and not x.dtype.is_complex and (rtol is None or atol is None):
        raise ValueError("data type %s not inexact" % x.dtype.as_numpy_dtype)
    default = 10 * np.finfo(x.dtype.real_dtype.as_numpy_dtype).eps if rtol is None or atol is None else 0
    rtol = thalweg.constant(default if rtol is None else rtol, dtype=x.dtype.real_dtype)
    atol = thalweg.constant(default if atol is None else atol, dtype=x.dtype.real_dtype)
    condition = thalweg.reduce_all(thalweg.less(thalweg.abs(x - y), atol + rtol * thalweg.abs(y)))
    lead = message + ".  " if message else ""
    static = not _core._tracing() and _eager(x, y)
    return thalweg.debugging.Assert(condition, [lead, "x and y not equal to tolerance rtol = %s, atol = %s" % (rtol, atol),
                                            "x (%s) = " % (_label(x) if static else _node_name(x, 0)), x, "y (%s) = " % (_label(y) if static else _node_name(y, 1)), y],
                                    summarize=summarize)


# ---- ranks, shapes, dtypes ----

def _lead(message):
    return message + ".  " if message else ""


def assert_same_float_dtype(tensors=None, dtype=None):
    """Raises an error unless all have one dtype, a float; that dtype."""
    first = None
    for tensor in tensors or ():
        if not hasattr(tensor, "dtype"):
            continue
        if dtype is None:
            dtype, first = tensor.dtype, tensor
        elif tensor.dtype != dtype:
            shown = [_name(t) or str(t) for t in (tensor, first) if t is not None]
            raise ValueError("%s, type=<dtype: '%s'>, must be of the same type (<dtype: '%s'>)%s." % (
                shown[0], tensor.dtype.name, dtype.name, " as %s" % shown[1] if first is not None else ""))
    dtype = thalweg.float32 if dtype is None else _core.as_dtype(dtype)
    if not dtype.is_floating:
        raise ValueError("Expected floating point type, got <dtype: '%s'>." % dtype.name)
    return dtype


def is_numeric_tensor(tensor):
    """Whether it is a tensor of numbers."""
    return _core.is_tensor(tensor) and (tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_complex)


def assert_proper_iterable(values):
    """Raises an error unless it is a list, tuple or the like, and neither a tensor, an array nor a text."""
    if _core.is_tensor(values) or isinstance(values, (np.ndarray, bytes, str)):
        raise TypeError('Expected argument "values" to be a "proper" iterable.  Found: %s' % type(values))
    if not hasattr(values, "__iter__"):
        raise TypeError('Expected argument "values" to be iterable.  Found: %s' % type(values))


def _symbols(tensor, shape):
    """A specification as a list of sizes and names; the index of "..." or None."""
    if not hasattr(shape, "__iter__") and not hasattr(shape, "__getitem__"):
        raise ValueError("Tensor %s.  Specified shape must be an iterable.  An iterable has the attribute `__iter__` or `__getitem__`.  "
                         "Received specified shape: %s" % (_label(tensor), shape))
    symbols = list(shape)
    dots = [i for i, s in enumerate(symbols) if s in ("...", "*") and s == "..." or s is Ellipsis]
    if len(dots) > 1 or (dots and 0 < dots[0] < len(symbols) - 1):
        raise ValueError("Tensor %s specified shape index %d.  Symbol `...` or `*` for a variable number of unspecified dimensions is only "
                         "allowed as the first or last entry" % (_label(tensor), dots[-1]))
    return symbols, dots[0] if dots else None


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Raises an error unless the tensors have the specified shapes: numbers, names that stand for one size everywhere, "." or None for any,
    "..." for any number of dimensions at an end."""
    pairs = list(shapes.items()) if isinstance(shapes, dict) else list(shapes)
    pairs = [(thalweg.convert_to_tensor(t.deref() if hasattr(t, "deref") else t), s) for t, s in pairs]
    checked = [(tensor,) + _symbols(tensor, shape) for tensor, shape in pairs]
    for tensor, symbols, dots in checked:
        if dots is not None:
            thalweg.debugging.assert_rank_at_least(tensor, len(symbols) - 1, message)
        elif len(symbols) == 1:
            thalweg.debugging.assert_rank_in(tensor, (0, 1), message)
        else:
            thalweg.debugging.assert_rank(tensor, len(symbols), message)
    seen, nodes = {}, []
    for tensor, symbols, dots in checked:
        if dots == 0:
            places = [(i - len(symbols), i, s) for i, s in enumerate(symbols) if i]
        else:
            places = [(i, i, s) for i, s in enumerate(symbols) if i != dots]
        if tensor.shape.rank == 0:
            places = []
        for at, _, symbol in places:
            if symbol in (None, "."):
                continue
            nodes.append(_check_size(tensor, at, symbol, seen, message))
    return no_op() if _core._tracing() else None


def _check_size(tensor, at, symbol, seen, message):
    known = tensor.shape[at] if tensor.shape.rank is not None else None
    size = known if known is not None else thalweg.shape(tensor)[at]
    try:
        wanted, why = int(symbol), "Specified explicitly"
    except (TypeError, ValueError):
        if symbol not in seen:
            seen[symbol] = (size, tensor, at)
            return None
        wanted, of, axis = seen[symbol]
        why = "Specified by tensor %s dimension %d" % (_label(of), axis)
    if isinstance(size, int) and isinstance(wanted, int):
        if size != wanted:
            raise ValueError("%s%s.  Tensor %s dimension %s must have size %d.  Received size %d, shape %s" % (
                _lead(message), why, _label(tensor), at, wanted, size, tensor.shape))
        return None
    return thalweg.debugging.Assert(thalweg.equal(size, wanted), ["%s%s.  Tensor %s dimension %s must have size" % (_lead(message), why, _label(tensor), at), wanted,
                                                "Received shape: ", thalweg.shape(tensor)])


def assert_all_finite(x, message, name=None):
    """x; an error if an element is infinite or not a number."""
    return thalweg.debugging.check_numerics(x, message)


# ---- order ----

def no_op(name=None):
    """Nothing; in a graph a node that others may be ordered by."""
    return thalweg.raw_ops.NoOp() if _core._tracing() else None


def group(*inputs, **kwargs):
    """Runs all its inputs: in a function they stand in program order anyway."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: %s" % list(kwargs))
    if not _core._tracing():
        return None
    from thalweg import nest
    members = []
    for value in nest.flatten(inputs):
        if not hasattr(value, "device") and not _core.is_tensor(value) and value is not None and not isinstance(value, _core.Operation):
            raise TypeError("'inputs' should be zero or more (nested) Tensors. Received '%s' with type '%s'." % (value, type(value)))
        member = getattr(value, "_as_graph_element", lambda: value)()
        if _core.is_symbolic(member) or isinstance(member, _core.Operation):
            members.append(member)
    return no_op(name) if _core._in_function() else thalweg._group(members, name or "group_deps")


def tuple(tensors, control_inputs=None, name=None):  # pylint: disable=redefined-builtin
    """The tensors, after all of them and the control inputs were computed."""
    if _core._tracing() and not _core._in_function():
        gate = group(tensors, control_inputs or [], name=None if name is None else name + "/group_deps")
        with thalweg.control_dependencies([gate]):
            return [None if t is None else thalweg.identity(t, name=(name or "tuple") + "/control_dependency") for t in tensors]
    return [None if t is None else thalweg.identity(t) for t in tensors]


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


def member(name):
    """What tf.debugging has beside the library's own functions."""
    if name.startswith(("assert_", "enable_", "disable_")) or name == "is_numeric_tensor":
        return globals().get(name)
    return None


def members():
    """The names of all these."""
    return [name for name in globals() if member(name) is not None]
