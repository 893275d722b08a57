"""tf.autograph: Python control flow over tensors as graph operations.

`to_graph` and `to_code` convert a function; tf.function does so by `convert`. The parts: parsing, lowering (break, continue,
return), expressions, control_flow with analysis, conversion (compiles and caches), and runtime, which converted code knows as
ag__."""
import functools
import inspect

from thalweg.autograph import control, conversion, errors
from thalweg.autograph import experimental  # noqa: F401
from thalweg.autograph.calling import is_library
from thalweg.autograph.options import STANDARD, ConversionOptions
from thalweg.autograph.parsing import ConversionError

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]


def _options(recursive, features, user_requested=True):
    return ConversionOptions(recursive=recursive, user_requested=user_requested, optional_features=features)


def to_graph(entity, recursive=True, experimental_optional_features=None):
    """A function or method converted; called with tensors inside a tf.function it makes graph operations."""
    try:
        function, owner = conversion.python_function_of(entity)
        converted = conversion.converted_function(function, _options(recursive, experimental_optional_features))
    except (ValueError, AttributeError, KeyError, NameError, AssertionError) as e:
        raise ConversionError("converting %s: %s: %s" % (entity, type(e).__name__, e)) from e
    converted.autograph_info__ = {}
    return converted if owner is None else converted.__get__(owner)


def to_code(entity, recursive=True, experimental_optional_features=None):
    """The source code of what to_graph makes."""
    try:
        function, _ = conversion.python_function_of(entity)
        if not hasattr(function, "__code__"):
            raise ValueError("Cannot apply autograph to a function that doesn't expose a __code__ object. If this is a @tf.function, "
                             "try passing f.python_function instead.")
        return conversion.source_of(function, _options(recursive, experimental_optional_features))
    except (ValueError, AttributeError, KeyError, NameError, AssertionError) as e:
        raise ConversionError("converting %s: %s: %s" % (entity, type(e).__name__, e)) from e


def set_verbosity(level, alsologtostdout=False):
    """How much is told about conversions: 0 nothing, up to 10 everything."""
    control.verbosity = int(level)
    control.trace_to_standard_output = bool(alsologtostdout)


def trace(*args):
    """Prints its arguments, while a function is traced."""
    print(*args)


def convert(f, optional_features=None):
    """What tf.function traces for f: f converted, its errors told with the user's lines; f itself where it is not to be
    converted."""
    if isinstance(f, functools.partial):
        return functools.partial(convert(f.func, optional_features), *f.args, **f.keywords)
    function, owner = f, None
    if inspect.ismethod(f):
        function, owner = f.__func__, f.__self__
    elif not inspect.isfunction(f):
        call = type(f).__dict__.get("__call__")
        if not inspect.isfunction(call):
            return f
        function, owner = call, f
    if getattr(function, "autograph_do_not_convert", False) or is_library(function.__module__) or \
            conversion.origin_of(function.__code__) is not None or inspect.isgeneratorfunction(function):
        return f
    options = STANDARD if not optional_features else _options(True, optional_features, False)
    converted = control.convert_or_warn(function, options)
    if converted is None:
        return f

    @functools.wraps(function)
    def call_converted(*args, **kwargs):
        try:
            return converted(*args, **kwargs)
        except Exception as e:
            told = errors.in_user_code(e)
            if told is e:
                raise
            raise told.with_traceback(None) from None
    call_converted.autograph_info__ = {}
    return call_converted if owner is None else call_converted.__get__(owner)


def converted_method(method):
    """What a layer calls for its `call` while a function is traced: the method converted, unless conversion is off."""
    return method if control.disabled() or not inspect.ismethod(method) else convert(method)
