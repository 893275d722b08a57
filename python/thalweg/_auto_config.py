"""Configs of layers and models of the program's own that have no get_config: the arguments that the constructor was called with, if all of them are
texts, numbers, booleans, None, or lists and dicts of such."""
from thalweg import _core, keras, nest

_plain = (str, int, float, bool, type(None))
_constructors = {}
_defaults = {keras.layers.Layer: keras.layers.Layer.get_config, keras.Model: keras.Model.get_config}


class _Given:
    """The arguments by name; None: they can't be told."""

    def __init__(self, arguments):
        self.arguments = arguments


def _read_constructor(init):
    code = getattr(init, "__code__", None)
    if code is None or type(init) is not type(_read_constructor):
        import inspect
        said = inspect.getfullargspec(init)
        return said.args[1:], said.varkw
    rest = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4)  # behind *args
    return [*code.co_varnames[1:code.co_argcount]], code.co_varnames[rest] if code.co_flags & 8 else None


def _constructor(cls):
    """The names of its positional arguments, and that of its **kwargs."""
    known = _constructors.get(cls)
    if known is None or known[0] is not cls.__init__:
        known = _constructors[cls] = cls.__init__, _read_constructor(cls.__init__)
    return known[1]


def _library_class(cls):
    return next(base for base in cls.__mro__ if base.__module__.split(".")[0] in ("thalweg", "tensorflow", "keras"))


def _instance(cls, args, kwargs):
    """A new instance, made by the base that gives it its layout: that may be a dict, or a class with slots."""
    base = cls.__base__
    while issubclass(base, _core.Object):
        base = base.__base__
    return object.__new__(cls) if base.__new__ is object.__new__ else base.__new__(cls, *args, **kwargs)


def _made(cls, *args, **kwargs):
    return _instance(_core._class_to_make(cls, args, kwargs), args, kwargs)


def _new(cls, *args, **kwargs):
    self = _instance(cls, args, kwargs)
    if cls.get_config is _get_config:
        given = dict(kwargs, **dict(zip(_constructor(cls)[0], args)))
        try:
            good = all(isinstance(value, _plain) for value in nest.flatten(given))
        except TypeError:
            good = False
        self.__dict__["_given"] = _Given(given if good else None)
    return self


_new.passes_on = _made.passes_on = True  # what the class takes, its __init__ says


def _get_config(self):
    """The arguments that would make the same layer again."""
    base = _library_class(type(self))
    config = keras.layers.Layer.get_config(self) if base is keras.layers.Layer else _defaults[base](self)
    given = self.__dict__.get("_given")
    if type(self).get_config is not _get_config or given is None or config.get("layers"):  # a constructor that connects: as Functional tells it
        return config
    if base is keras.Model:
        config = {"name": self.name, "trainable": self.trainable, "dtype": self.dtype}
    if given.arguments is None and base is keras.Model:
        _warn(self)
        return {}
    if given.arguments is None:
        raise NotImplementedError("\nLayer %s was created by passing\nnon-serializable argument values in `__init__()`,\nand therefore the layer must "
                                  "override `get_config()` in\norder to be serializable. Please implement `get_config()`.\n\nExample:\n\nclass "
                                  "CustomLayer(keras.layers.Layer):\n    def __init__(self, arg1, arg2, **kwargs):\n        super().__init__(**kwargs)\n"
                                  "        self.arg1 = arg1\n        self.arg2 = arg2\n\n    def get_config(self):\n        config = "
                                  "super().get_config()\n        config.update({\n            \"arg1\": self.arg1,\n            \"arg2\": self.arg2,\n"
                                  "        })\n        return config" % type(self).__name__)
    names, rest = _constructor(type(self))
    merged = dict(config, **given.arguments)
    return merged if rest == "kwargs" else {key: value for key, value in merged.items() if key not in config or key in names}


def _warn(model):
    import thalweg
    thalweg.get_logger().warning("Model's `__init__()` arguments contain non-serializable objects. Please implement a `get_config()` method in the "
                                 "subclassed Model for proper saving and loading. Defaulting to empty config.")


class _Signature:
    """What inspect.signature tells of such a class: its constructor's arguments, not those of __new__."""

    def __get__(self, instance, cls):
        if instance is not None:
            from thalweg import _describe
            return _describe.any_arguments()
        base = _library_class(cls)
        own = next((vars(c)["__init__"] for c in cls.__mro__[:cls.__mro__.index(base)] if "__init__" in vars(c)), None)
        if own is None:
            return base.__signature__
        import inspect
        said = inspect.signature(own)
        return said.replace(parameters=list(said.parameters.values())[1:])


_signature = _Signature()


def _subclassed(cls, **kwargs):
    super(keras.layers.Layer, cls).__init_subclass__(**kwargs)
    base = _library_class(cls)
    if base in _defaults and not cls.__module__.startswith("thalweg."):
        if cls.get_config == _defaults[base]:
            cls.get_config = _get_config
        if "__new__" not in vars(cls):
            cls.__new__ = _new
        if "__signature__" not in vars(cls):
            cls.__signature__ = _signature


keras.layers.Layer.__new__ = _made
keras.layers.Layer.__init_subclass__ = classmethod(_subclassed)
