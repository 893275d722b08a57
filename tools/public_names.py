"""What is public in the built Python package: its modules with their members, for stubs (make_stubs.py), pages (make_docs.py) and tests."""
import importlib
import inspect
import os
import sys
import types

TOP = "thalweg"
# Whole trees that are other names for what stands elsewhere, or nobody's business.
HIDDEN = ("compat.v2", "keras.src", "keras.__internal__", "compat.v1.compat")
LISTED = ("autograph", "autograph.experimental")  # packages of several files, whose `__all__` is what is public


def package(folder):
    """The package that is built in a folder."""
    sys.path.insert(0, os.path.abspath(folder))
    return importlib.import_module(TOP)


def members(module, more=()):
    """{name: value} of a module's public members, and of those among `more` that it has; what can't be had here is left out."""
    out = {}
    for name in sorted({*dir(module), *more}):
        if name.startswith("_"):
            continue
        try:
            out[name] = getattr(module, name)
        except Exception:  # noqa: BLE001 - what is not supported says so when it is asked for
            continue
    return out


def modules(tf):
    """{path: {name: value}} of all public modules; tf itself has the path "". A module that has two paths stands under the first, compat last."""
    out, seen = {}, {}

    def visit(module, path):
        seen[id(module)] = path
        newer = sys.modules.get(TOP + path.removeprefix("compat.v1")) if path.startswith("compat.v1") else None
        found = members(module, dir(newer) if newer else ())  # names of TensorFlow 2 that TensorFlow 1 has, too, are looked up there
        out[path] = {}
        if path in LISTED:
            found = {name: value for name, value in found.items() if name in module.__all__}
        for name, value in sorted(found.items(), key=lambda entry: (entry[0] == "compat", entry[0])):
            below = path + "." + name if path else name
            if not isinstance(value, types.ModuleType):
                out[path][name] = value
            elif value.__name__.startswith(TOP + ".") and not value.__name__.startswith(TOP + "._") and below not in HIDDEN:
                if id(value) in seen:
                    out[path][name] = value  # another name of it
                else:
                    visit(value, below)
    visit(tf, "")
    return out, seen


def python_callables(found):
    """(path, function) of what is public and written in Python, each once: functions, and the methods and constructors of classes."""
    seen = set()
    for module, names in found.items():
        for name, value in names.items():
            path = module + "." + name if module else name
            inside = vars(value).items() if isinstance(value, type) else ()
            for where, function in [(path, value)] + [(path + "." + n, getattr(v, "__func__", v)) for n, v in inside if n == "__init__" or not n.startswith("_")]:
                if inspect.isfunction(function) and TOP in (function.__module__ or "") and function.__code__ not in seen:
                    seen.add(function.__code__)
                    yield where, function


def homes(found):
    """{class: the path that it is known by}: the shortest outside of compat and experimental."""
    best = {}
    for module, names in found.items():
        for name, value in names.items():
            if isinstance(value, type):
                path = module + "." + name if module else name
                order = (path.startswith("compat."), "experimental" in path, "legacy" in path, path.split(".")[-1] != value.__name__, path.count("."), path)
                if value not in best or order < best[value][0]:
                    best[value] = (order, path)
    return {value: path for value, (_, path) in best.items()}
