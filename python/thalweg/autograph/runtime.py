"""What converted code knows as ag__: undefined values, scopes, lazy logic, lists; and, from their own files, statements and
calls.

Operators look at their first operand: with a tensor, and outside eager execution, they make graph operations; otherwise they do
what Python does."""
import sys
import types

import thalweg as tf
from thalweg.autograph.options import STANDARD as STD  # noqa: F401
from thalweg.autograph.options import ConversionOptions, Feature  # noqa: F401
from thalweg.autograph.structure import is_tensor_array


class Undefined:
    """A variable without a value; anything but assigning it is an error where it is read."""

    __slots__ = ("symbol_name",)

    def __init__(self, symbol_name):
        self.symbol_name = symbol_name

    def read(self):
        """Raises what Python raises for a local variable that is read too early."""
        raise UnboundLocalError("'%s' is used before assignment" % self.symbol_name)

    def __repr__(self):
        return self.symbol_name


class UndefinedReturnValue:
    """What a function returns that has not returned yet."""


def ld(value):
    """A variable's value."""
    if isinstance(value, Undefined):
        return value.read()
    return value


def ldu(load, symbol_name):
    """The value of an attribute or item, Undefined if there is none."""
    try:
        return load()
    except (KeyError, AttributeError, NameError, IndexError):
        return Undefined(symbol_name)


class FunctionScope:
    """Surrounds the body of a converted function."""

    __slots__ = ("name", "scope_name", "options", "call_options")

    def __init__(self, function_name, scope_name, options):
        self.name = function_name
        self.scope_name = scope_name
        self.options = options
        self.call_options = options.inner()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def ret(self, value, did_return):
        """The value a function returns: None if it did not."""
        del did_return
        return None if isinstance(value, UndefinedReturnValue) else value


def with_function_scope(thunk, scope_name, options):
    """Runs the body of a converted lambda."""
    with FunctionScope("lambda_", scope_name, options) as scope:
        return thunk(scope)


def autograph_artifact(entity, extras=None):
    """Marks a function as converted."""
    try:
        entity.autograph_info__ = extras
    except AttributeError:
        pass
    return entity


def is_graph_value(value):
    """Whether a value is a tensor that has no value yet, so that what depends on it must be in the graph."""
    return tf.is_tensor(value) and not tf.executing_eagerly()


def and_(a, b):
    """a and b, both functions of no arguments."""
    left = a()
    if is_graph_value(left):
        return tf.cond(left, lambda: tf.convert_to_tensor(b()), lambda: tf.convert_to_tensor(left))
    return left and b()


def or_(a, b):
    """a or b, both functions of no arguments."""
    left = a()
    if is_graph_value(left):
        return tf.cond(left, lambda: tf.convert_to_tensor(left), lambda: tf.convert_to_tensor(b()))
    return left or b()


def not_(a):
    """not a."""
    return tf.logical_not(a) if tf.is_tensor(a) else not a


def eq(a, b):
    """a == b, elementwise for tensors."""
    return tf.equal(a, b) if tf.is_tensor(a) or tf.is_tensor(b) else a == b


def not_eq(a, b):
    """a != b, elementwise for tensors."""
    return not_(eq(a, b))


def assert_stmt(test, message):
    """assert test, message(); in a graph an assertion operation."""
    if not callable(message):
        raise ValueError("message must be a callable")
    if tf.is_tensor(test):
        return tf.debugging.Assert(test, [message()])
    assert test, message()
    return None


def new_list(values=None):
    """A list display."""
    return list(values) if values is not None else []


def list_append(target, value):
    """target.append(value), for lists and TensorArrays; the list after it."""
    if is_tensor_array(target):
        return target.write(target.size(), value)
    target.append(value)
    return target


def list_pop(target, index=None):
    """(the list, the element taken from it)."""
    return target, target.pop() if index is None else target.pop(index)


class GetItemOpts:
    """Settings of get_item."""

    def __init__(self, element_dtype=None):
        self.element_dtype = element_dtype


def get_item(target, key, opts=None):
    """target[key]."""
    del opts  # only lists of tensors held in a tensor have an element dtype; there are none here
    return target.read(key) if is_tensor_array(target) else target[key]


def set_item(target, key, value):
    """What target is after target[key] = value."""
    if is_tensor_array(target):
        return target.write(key, value)
    if tf.is_tensor(target):
        return tf.tensor_scatter_nd_update(target, [[key]], [value])
    target[key] = value
    return target


from thalweg.autograph.calling import converted_call  # noqa: E402, F401
from thalweg.autograph.statements import for_stmt, if_exp, if_stmt, while_stmt  # noqa: E402, F401

CELL = types.CellType(sys.modules[__name__])
