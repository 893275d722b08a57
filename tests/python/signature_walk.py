"""The signatures of everything public, as lines of text: used under TensorFlow by tests/golden/signatures.py and here by test_signatures.py."""
import functools
import inspect
import types

SKIPPED = ("compat.v2", "compat.v1.compat", "__internal__", "__operators__", "estimator", "compat.v1.estimator", "keras.dtensor", "tpu",
           "compat.v1.tpu", "compat.v1.flags", "compat.v1.app", "compat.v1.resource_loader", "tools", "raw_ops", "compat.v1.raw_ops")


def public(module, path="", seen=None):
    """(path, value) of the public members of a module and those below it; each module is visited once, compat at the end."""
    seen = set() if seen is None else seen
    seen.add(id(module))
    for name in sorted(dir(module), key=lambda n: (n == "compat", n)):
        value = None if name.startswith("_") else getattr(module, name, None)
        if not isinstance(value, types.ModuleType):
            yield path + name, value
        elif "api" in value.__name__ and id(value) not in seen and path + name not in SKIPPED:
            yield from public(value, path + name + ".", seen)


def plain(value):
    """A default in words that both sides write alike; None: it is an object of its own kind."""
    if value is None or isinstance(value, (bool, int, str, bytes)):
        return repr(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, (tuple, list)):
        parts = [plain(part) for part in value]
        return None if None in parts else "(%s)" % ", ".join(parts)
    if type(value).__name__ == "DType":
        return value.name
    return None


def described(function):
    """"(a, b=1, *, c)"; None: Python knows no signature."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    out, star = [], False
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            star = True
        elif p.kind is p.KEYWORD_ONLY and not star:
            out.append("*")
            star = True
        text = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name
        if p.default is not p.empty:
            text += "=" + (plain(p.default) or "…")
        out.append(text)
    return "(%s)" % ", ".join(out)


@functools.lru_cache(None)
def methods(kind):
    """(name, signature) of the public methods that a class has."""
    found = []
    for name in sorted(dir(kind)):
        value = None if name.startswith("_") else inspect.getattr_static(kind, name, None)
        if isinstance(value, (staticmethod, classmethod)):
            value = getattr(kind, name)
        if callable(value) and not isinstance(value, (type, property)):
            found.append((name, described(value)))
    return found


def signatures(tf):
    """{path: signature} of functions, classes and methods. A class's methods stand under the first of its paths, those of a public parent with that."""
    members = [(path, value) for path, value in public(tf) if callable(value) and not (isinstance(value, type) and issubclass(value, BaseException))]
    out, kinds = {path: described(value) for path, value in members}, {}
    for path, value in members:
        if isinstance(value, type):
            kinds.setdefault(value, path)
    for kind, path in kinds.items():
        inherited = {member for base in kind.__mro__[1:] if base in kinds for member in methods(base)}
        out.update(("%s.%s" % (path, name), text) for name, text in methods(kind) if (name, text) not in inherited)
    return {path: text for path, text in out.items() if text is not None}
