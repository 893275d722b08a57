"""What must be a Python class: lists and dicts that tell C of their members, references as keys, a paused tape."""
from thalweg import _core


class Reference:
    """tensor.ref(): hashable, equal to another reference to the same object."""

    __slots__ = ("_wrapped", "__weakref__")

    def __init__(self, wrapped):
        self._wrapped = wrapped

    def deref(self):
        return self._wrapped

    def __eq__(self, other):
        return self._wrapped is other._wrapped if isinstance(other, Reference) else NotImplemented

    def __hash__(self):
        return id(self._wrapped)

    def __repr__(self):
        return "<Reference wrapping %r>" % (self._wrapped,)


class Paused:
    """with tape.stop_recording(): nothing inside is recorded."""

    def __init__(self, tape):
        if not tape._is_recording():
            raise ValueError("Tape is not recording.")
        self._tape = tape

    def __enter__(self):
        self._tape._pause(True)

    def __exit__(self, *exception):
        self._tape._pause(False)


class NoDependency:
    """A value that becomes an attribute as it is: no child, and no copy of a list."""

    def __init__(self, value):
        self.value = value


_core.set_no_dependency(NoDependency)


def untracked(self, value):
    """module._no_dependency(value)"""
    del self
    return NoDependency(value)


def _changing(name, base):
    method = getattr(base, name)

    def change(self, *args, **kwargs):
        result = method(self, *args, **kwargs)
        self._sync()
        return result
    change.__name__ = name
    return change


class ListWrapper(list):
    """A list assigned to a model or checkpoint: its members are children named 0, 1, …"""

    def __init__(self, values=()):
        list.__init__(self, map(wrap, values))
        self._container = _core.new_container("list")
        self._sync()

    def _sync(self):
        for i, value in enumerate(self):
            if type(value) in (list, dict):
                list.__setitem__(self, i, wrap(value))
        _core.container_set(self._container, [(str(i), v) for i, v in enumerate(self)])

    def __repr__(self):
        return "ListWrapper(%s)" % list.__repr__(self)

    def __reduce__(self):
        return list, (list(self),)

    def __copy__(self):
        return ListWrapper(self)

    def __add__(self, other):
        return list(self) + list(other)

    def __radd__(self, other):
        return list(other) + list(self)

    for _name in "append extend insert pop remove clear reverse sort __setitem__ __delitem__ __iadd__ __imul__".split():
        locals()[_name] = _changing(_name, list)
    del _name


class _DictWrapper(dict):
    """A dict assigned to a model or checkpoint: its members are children named by their keys."""

    def __init__(self, values=(), **named):
        dict.__init__(self, values, **named)
        self._container = _core.new_container("dict")
        self._sync()

    def _sync(self):
        for key, value in self.items():
            if type(value) in (list, dict):
                dict.__setitem__(self, key, wrap(value))
        _core.container_set(self._container, [(k, v) for k, v in self.items() if isinstance(k, str)])

    def __repr__(self):
        return "DictWrapper(%s)" % dict.__repr__(self)

    def __str__(self):
        return dict.__repr__(self)

    def __reduce__(self):
        return dict, (dict(self),)

    def __copy__(self):
        return _DictWrapper(self)

    for _name in "pop popitem clear update setdefault __setitem__ __delitem__ __ior__".split():
        locals()[_name] = _changing(_name, dict)
    del _name


class _TupleWrapper(tuple):
    """A tuple assigned to a model or checkpoint; it does not change, so its children don't either."""

    def __new__(cls, values):
        self = tuple.__new__(cls, map(wrap, values))
        self._container = _core.new_container("tuple")
        _core.container_set(self._container, [(str(i), v) for i, v in enumerate(self)])
        return self

    def __reduce__(self):
        return tuple, (tuple(self),)


class CallableList(list):
    """A list that was a method once: optimizer.variables and optimizer.variables()."""

    def __call__(self):
        return self


def wrap(value):
    """The wrapper of a list, dict or tuple; anything else as it is."""
    kind = type(value)
    if kind is list:
        return ListWrapper(value)
    if kind is dict:
        return _DictWrapper(value)
    if kind is tuple:
        return _TupleWrapper(value)
    return value
