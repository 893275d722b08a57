"""Calls in converted code: ag__.converted_call converts what is called, the first time, unless it is not the user's to convert.

Left alone: builtins (some have forms for tensors), classes, C functions, generators, converted functions, whatever was marked by
do_not_convert, and everything of thalweg, of the standard library, and of the packages in _LEFT_ALONE."""
import functools
import inspect
import sys

from thalweg.autograph import builtin_functions, control, conversion
from thalweg.autograph.options import STANDARD

_LEFT_ALONE = frozenset(sys.stdlib_module_names) - {"__main__", "this"} | {
    "thalweg", "tensorflow", "keras", "numpy", "scipy", "pandas", "matplotlib", "PIL", "pytest", "_pytest", "psutil", "absl",
    "wrapt"}


def is_library(module_name):
    """Whether functions of a module are left alone."""
    return (module_name or "").partition(".")[0] in _LEFT_ALONE


def _is_left_alone(function):
    return (getattr(function, "autograph_info__", False) is not False or getattr(function, "autograph_do_not_convert", False) or
            conversion.origin_of(function.__code__) is not None or inspect.isgeneratorfunction(function) or
            inspect.iscoroutinefunction(function) or is_library(function.__module__))


def _original(function):
    """The Python function and its leading arguments behind a callable, or (None, ()) if there is none to convert."""
    if inspect.isfunction(function):
        return function, ()
    if inspect.ismethod(function):
        inner, leading = _original(function.__func__)
        return inner, (function.__self__,) + leading
    if inspect.isclass(function) or inspect.isbuiltin(function):
        return None, ()
    call = type(function).__dict__.get("__call__")
    if inspect.isfunction(call) and not is_library(type(function).__module__):
        return call, (function,)
    return None, ()


def converted_call(f, args, kwargs, caller_fn_scope=None, options=None):
    """f(*args, **kwargs) with f converted."""
    if options is None:
        options = caller_fn_scope.call_options if caller_fn_scope is not None else STANDARD
    kwargs = kwargs or {}
    overload = builtin_functions.overload_of(f)
    if overload is not None:
        return overload(f, args, kwargs)
    if not options.internal_convert_user_code or control.disabled():
        return f(*args, **kwargs)
    if isinstance(f, functools.partial):
        return converted_call(f.func, f.args + tuple(args), {**f.keywords, **kwargs}, caller_fn_scope, options)
    function, leading = _original(f)
    if function is None or _is_left_alone(function):
        return f(*args, **kwargs)
    converted = control.convert_or_warn(function, options)
    if converted is None:
        return f(*args, **kwargs)
    return converted(*leading, *args, **kwargs)
