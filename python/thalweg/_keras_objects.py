"""Keras's own classes and the program's by name: custom objects, their scopes, from_config; what is made of configs is made in C, which asks
here for what only Python knows."""
from _thread import _local

import thalweg as tf
from thalweg import _core

_custom, _names = {}, {}
_scopes = _local()
keras = tf.keras


class CustomObjectScope:
    """with custom_object_scope({"MyLayer": MyLayer}): names in configs mean these."""

    def __init__(self, *args):
        self.custom_objects = {}
        for objects in args:
            self.custom_objects.update(objects or {})

    def __enter__(self):
        self._outer = getattr(_scopes, "objects", {})
        _scopes.objects = {**self._outer, **self.custom_objects}
        return self

    def __exit__(self, *args):
        _scopes.objects = self._outer


def get_custom_objects():
    """The dict of names that mean the program's own objects, to be changed."""
    return _custom


def register_keras_serializable(package="Custom", name=None):
    """A decorator: configs name the class or function package>name."""
    def decorator(arg):
        if isinstance(arg, type) and not hasattr(arg, "get_config"):
            raise ValueError("Cannot register a class that does not have a get_config() method.")
        registered = "%s>%s" % (package, name if name is not None else arg.__name__)
        _custom[registered] = arg
        _names[arg] = registered
        return arg
    return decorator


def get_registered_name(obj):
    """The name under which a class or function was registered, or its own."""
    return _names.get(obj, obj.__name__)


def get_registered_object(name, custom_objects=None, module_objects=None):
    """What the name means; None if nothing."""
    for objects in (getattr(_scopes, "objects", {}), _custom, custom_objects or {}, module_objects or {}):
        if name in objects:
            return objects[name]
    return None


class FunctionInitializer(keras.initializers.Initializer):
    """A function of shape and dtype in the place of an initializer."""

    def __init__(self, function):
        super().__init__()
        self.initializer_function = function

    def __call__(self, shape, dtype=None, **kwargs):
        return self.initializer_function(tuple(shape), dtype=dtype)


# ---- what C asks for ----

def _serialize(obj):
    """The dict of an object whose class is the program's."""
    if isinstance(obj, FunctionInitializer):
        return serialize_keras_object(obj.initializer_function)
    cls = type(obj)
    module = None if cls.__module__ in ("__main__", "builtins") else cls.__module__
    entry = {"module": module, "class_name": cls.__name__, "config": obj.get_config(), "registered_name": get_registered_name(cls)}
    built = obj._build_shape() if isinstance(obj, keras.layers.Layer) else None
    if built is not None:
        entry["build_config"] = {"input_shape": built}
    return entry


def _another(layer, config):
    """A layer of the same class. from_config is told of the classes of its cells, as Keras does it in Bidirectional."""
    import inspect
    cell, make = getattr(layer, "cell", None), type(layer).from_config
    classes = {type(c).__name__: type(c) for c in ([] if cell is None else [cell, *getattr(cell, "cells", [])])}
    return make(config, custom_objects=classes) if "custom_objects" in inspect.getfullargspec(make).args else make(config)


def _make(value, kind):
    """The program's object of a dict or name; None if it is not the program's."""
    if isinstance(value, (list, tuple)):
        return None
    if isinstance(value, str):
        found = get_registered_object(value)
        return found() if isinstance(found, type) else found
    config = value["config"]
    name = value.get("registered_name")
    if isinstance(name, keras.layers.Layer):  # of that one's class
        return _another(name, config)
    if name == "function" or (name and not isinstance(config, dict)):
        return get_registered_object(name) or get_registered_object(config)
    found = (name and get_registered_object(name)) or get_registered_object(value["class_name"])
    if found is None:
        return None
    return found.from_config(config) if hasattr(found, "from_config") else found(**config)


def _code(function):
    """A function as a Lambda layer's config holds it, and its module: Keras's func_dump."""
    import codecs
    import marshal
    if not hasattr(function, "__code__"):
        raise NotImplementedError("a Lambda layer of %r has no config: it is no function" % (function,))
    text = codecs.encode(marshal.dumps(function.__code__), "base64").decode("ascii")
    closure = tuple(cell.cell_contents for cell in function.__closure__) if function.__closure__ else None
    return (text, function.__defaults__, closure), function.__module__


def _decode(value):
    """The function of what _code gave, with a config's arguments."""
    import codecs
    import functools
    import marshal
    import sys
    import types
    (text, defaults, closure), module, arguments = value
    try:
        raw = codecs.decode(text.encode("ascii"), "base64")
        code = marshal.loads(raw)
    except Exception as error:
        raise ValueError("Lambda: its function can't be read; was it written by this version of Python? %s" % error) from None
    names = dict(sys.modules[module].__dict__ if module in sys.modules else {})
    names.setdefault("tf", tf)
    cells = tuple(types.CellType(item) for item in closure) if closure else None
    made = types.FunctionType(code, names, name=code.co_name, argdefs=tuple(defaults) if defaults else None, closure=cells)
    return functools.partial(made, **arguments) if arguments else made


_core.keras_objects(_serialize, _make, _code, _decode, get_registered_object)


class _SafeMode:
    """with _SafeMode(False): configs may bring code along. None: as it is."""

    def __init__(self, mode):
        self._mode = mode

    def __enter__(self):
        self._before = keras.utils._set_safe_mode(int(self._mode)) if self._mode is not None else None

    def __exit__(self, *args):
        if self._before is not None:
            keras.utils._set_safe_mode(self._before)


# ---- from_config ----

def _from_config(cls, config, custom_objects=None):
    """An object of its config."""
    with CustomObjectScope(custom_objects):
        if cls.__module__.startswith("thalweg."):
            functional = cls.__name__ == "Model" and all(key in config for key in ("layers", "input_layers", "output_layers"))
            return keras.utils._from_config(cls.__module__[len("thalweg."):], "Functional" if functional else cls.__name__, config)
        cell = config.get("cell") if issubclass(cls, keras.layers.RNN) else None
        return cls(**({**config, "cell": keras.layers.deserialize(cell)} if isinstance(cell, dict) else config))


keras.layers.Layer.from_config = classmethod(_from_config)
for _base in (keras.initializers.Initializer, keras.constraints.Constraint, keras.regularizers.Regularizer, keras.losses.Loss, keras.metrics.Metric,
              keras.optimizers.Optimizer, keras.optimizers.schedules.LearningRateSchedule, keras.mixed_precision.Policy):
    _base.from_config = classmethod(_from_config)
del _base


def get_scaled_loss(self, loss):
    """The loss times the scale; of a function, a function that gives that."""
    return (lambda: self._get_scaled_loss(loss())) if callable(loss) else self._get_scaled_loss(loss)


def get_unscaled_gradients(self, grads):
    """The gradients of a scaled loss, divided by the scale."""
    sliced = [isinstance(g, tf.IndexedSlices) for g in grads]
    values = self._get_unscaled_gradients([g.values if s else g for g, s in zip(grads, sliced)])
    return [tf.IndexedSlices(v, g.indices, g.dense_shape) if s else v for v, g, s in zip(values, grads, sliced)]


keras.mixed_precision.LossScaleOptimizer.get_scaled_loss = get_scaled_loss
keras.mixed_precision.LossScaleOptimizer.get_unscaled_gradients = get_unscaled_gradients


def _deserialize(kind):
    def deserialize(config, custom_objects=None, use_legacy_format=False):
        """The object that a dict with class and config describes."""
        del use_legacy_format  # both forms are read
        with CustomObjectScope(custom_objects):
            own = _make(config, kind) if isinstance(config, dict) and "class_name" in config and "config" in config else None
            return keras.utils._deserialize(config, kind) if own is None else own
    return deserialize


keras.layers.deserialize = _deserialize("layer")
keras.layers.from_config = keras.layers.deserialize
_serialize_layer = keras.layers.serialize


def serialize_keras_object(obj):
    """The class and config of an object, as a dict."""
    if isinstance(obj, keras.layers.Layer) and not isinstance(obj, keras.metrics.Metric):
        return _serialize_layer(obj)
    if callable(obj) and not isinstance(obj, type) and not hasattr(obj, "get_config") and hasattr(obj, "__name__"):
        return {"module": "builtins", "class_name": "function", "config": obj.__name__, "registered_name": "function"}
    if type(obj).__module__.startswith("thalweg."):
        return keras.utils._serialize(obj, type(obj).__module__[len("thalweg."):])
    return _serialize(obj) if hasattr(obj, "get_config") else obj


def _serializer(inner, name):
    def serialize(obj, use_legacy_format=False):
        """The class and config of an object, as a dict; the legacy format has nothing else."""
        entry = inner(obj)
        return {key: entry[key] for key in ("class_name", "config")} if use_legacy_format and isinstance(entry, dict) else entry
    names = serialize.__code__.co_varnames  # each module has its own name for the first argument
    serialize.__code__ = serialize.__code__.replace(co_varnames=(name, *names[1:]))
    return serialize


def _get_activation(identifier):
    """The activation of a name; None is the linear one."""
    if identifier is None:
        return keras.activations.linear
    if isinstance(identifier, (str, dict)):
        return keras.activations.deserialize(identifier)
    if callable(identifier):
        return identifier
    raise TypeError("Could not interpret activation function identifier: %s" % (identifier,))


_ACTIVATION_LAYERS = ("ReLU", "LeakyReLU", "PReLU", "ELU", "Softmax", "ThresholdedReLU")
_FURTHER_ACTIVATIONS = ("relu6", "leaky_relu", "log_softmax", "silu")


def _deserialize_activation(name, custom_objects=None, use_legacy_format=False):
    """The activation of a name, or the object that a dict with class and config describes."""
    del use_legacy_format  # both forms are read
    if isinstance(name, dict):
        return _deserialize(None)(name, custom_objects)
    found = get_registered_object(name, custom_objects) or getattr(keras.activations, name, None) or (
        getattr(keras.layers, name)() if name in _ACTIVATION_LAYERS else getattr(tf.nn, name) if name in _FURTHER_ACTIVATIONS else None)
    if found is None or name.startswith("_") or name in ("get", "serialize", "deserialize"):
        raise ValueError("Unknown activation function '%s' cannot be deserialized." % name)
    return found


def _serialize_activation(activation, use_legacy_format=False):
    """The name of an activation function; class and config of one that is a layer."""
    name = getattr(activation, "__name__", None)
    if name and (getattr(keras.activations, name, None) is activation or (isinstance(activation, type(tf.nn.relu)) and (
            name in _FURTHER_ACTIVATIONS or hasattr(keras.activations, name)))):
        return "swish" if name == "silu" else name
    return _serializer(serialize_keras_object, "activation")(activation, use_legacy_format)


def _by_name(kind, named):
    """Deserializes dicts, and names as a function of the module knows them."""
    made = _deserialize(kind)

    def deserialize(config, custom_objects=None, use_legacy_format=False):
        """The object of a name, or that a dict with class and config describes."""
        if isinstance(config, str) and config not in (custom_objects or {}):
            return named(config)
        if kind == "optimizer" and config["class_name"].islower():  # Keras tells optimizers apart without regard to case
            return type(named(config["class_name"])).from_config(config["config"])
        return made(config, custom_objects, use_legacy_format)
    return deserialize


def _get(module, word):
    def get(identifier):
        """The object of a name or of a dict with class and config; functions, classes and objects are given back."""
        if isinstance(identifier, (str, dict)):
            return module.deserialize(identifier)
        if identifier is None or callable(identifier):
            return identifier
        raise ValueError("Could not interpret %s identifier: %s" % (word, identifier))
    return get


def _function_or(module, get):
    """Names of functions give the functions, which reduce nothing; names of classes, and dicts, give objects."""
    functions = {name: function for name, function in vars(module).items() if callable(function) and not isinstance(function, type) and name not in (
        "get", "serialize", "deserialize") and not name.startswith("_")}

    def found(identifier):
        """The function of a name, or the object of a name of a class or of a dict."""
        if identifier is None and module is keras.losses:
            return None
        if isinstance(identifier, str) and get_registered_object(identifier) is None and identifier in functions:
            return functions[identifier]
        return get(identifier)
    return found


keras.losses.get, keras.metrics.get = _function_or(keras.losses, keras.losses.get), _function_or(keras.metrics, keras.metrics.get)
keras.constraints.get = keras.constraints._get
for _module_of_kind, _kind in ((keras.losses, "loss"), (keras.metrics, "metric"), (keras.optimizers, "optimizer"), (keras.initializers, "initializer"),
                               (keras.regularizers, "regularizer"), (keras.constraints, "constraint")):
    _module_of_kind.serialize, _module_of_kind.deserialize = _serializer(serialize_keras_object, _kind), _by_name(_kind, _module_of_kind.get)
keras.constraints.get, keras.regularizers.get = _get(keras.constraints, "constraint function"), _get(keras.regularizers, "regularizer")
keras.initializers.get = _get(keras.initializers, "initializer")
keras.optimizers.schedules.serialize = _serializer(serialize_keras_object, "learning_rate_schedule")
keras.optimizers.schedules.deserialize = _deserialize("optimizers.schedule")
keras.layers.serialize = _serializer(_serialize_layer, "layer")
keras.activations.get, keras.activations.deserialize, keras.activations.serialize = _get_activation, _deserialize_activation, _serialize_activation
del _module_of_kind, _kind


def model_from_json(json_string, custom_objects=None):
    """The model of JSON text that to_json() gave, with new weights."""
    with CustomObjectScope(custom_objects):
        return keras.models._model_from_json(json_string)


def model_from_config(config, custom_objects=None):
    """The model of a dict with class and config, with new weights."""
    with CustomObjectScope(custom_objects):
        return keras.models._model_from_config(config)


_to_json = keras.Model.to_json


def _to_json_with(self, **kwargs):
    """The model's structure as JSON text, without weights; keyword arguments are json.dumps's."""
    text = _to_json(self)
    if kwargs:
        import json
        return json.dumps(json.loads(text), **kwargs)
    return text


_summary = keras.Model.summary


def _summary_with(self, line_length=None, positions=None, print_fn=None, expand_nested=False, show_trainable=False, layer_range=None):
    """Prints the layers with their shapes and numbers of parameters, or gives the lines to print_fn."""
    if layer_range is not None:
        raise NotImplementedError("summary: the argument `layer_range` is not supported")
    if print_fn is None:
        return _summary(self, line_length, positions, expand_nested, show_trainable)
    for line in self._summary_text(line_length, positions, expand_nested, show_trainable).splitlines():
        print_fn(line)
    return None


def _renamed(value, names):
    """A part of a config in which tensors ([layer, node, number, …]) come from layers of other names."""
    if isinstance(value, dict):
        return {key: _renamed(item, names) for key, item in value.items()}
    if not isinstance(value, (list, tuple)):
        return value
    if len(value) >= 3 and isinstance(value[0], str) and value[0] in names and isinstance(value[1], int):
        return [names[value[0]], *(_renamed(item, names) for item in value[1:])]
    return [_renamed(item, names) for item in value]


def clone_model(model, input_tensors=None, clone_function=None):
    """A model of the same structure with new weights."""
    if input_tensors is not None:
        raise NotImplementedError("clone_model: the argument `input_tensors` is not supported")
    config = model.get_config()
    layers = [layer for layer in model.layers if not isinstance(layer, keras.layers.InputLayer)]
    if clone_function is None:  # the library's own are made of their configs
        layers = [layer for layer in layers if type(layer).__module__.split(".")[0] not in ("thalweg", "tensorflow", "keras")]
    made = {layer.name: clone_function(layer) if clone_function else _another(layer, layer.get_config()) for layer in layers}
    for entry in config["layers"]:
        name = entry["config"]["name"]
        if name in made:  # the layer itself takes the place, whatever its class is
            entry.update(class_name="_Cloned", config={"name": name}, module=None, registered_name="_Cloned")
            entry.pop("build_config", None)
    names = {name: layer.name for name, layer in made.items() if layer.name != name}
    for part in [config, *config["layers"]] if names else ():
        part.update({key: _renamed(part[key], names) for key in ("inbound_nodes", "input_layers", "output_layers") if key in part})

    class _Cloned(keras.layers.Layer):
        @classmethod
        def from_config(cls, config):
            return made[config["name"]]
    with _SafeMode(False), CustomObjectScope({"_Cloned": _Cloned}):
        return (keras.Sequential if isinstance(model, keras.Sequential) else keras.Model).from_config(config)


keras.models.clone_model = clone_model
keras.Model.summary = _summary_with
keras.Model.to_json = _to_json_with
keras.models.model_from_json, keras.models.model_from_config = model_from_json, model_from_config
for _place in (keras.utils, tf._module("saving", keras)):
    _place.CustomObjectScope = _place.custom_object_scope = CustomObjectScope
    _place.get_custom_objects, _place.register_keras_serializable = get_custom_objects, register_keras_serializable
    _place.get_registered_name, _place.get_registered_object = get_registered_name, get_registered_object
    _place.serialize_keras_object, _place.deserialize_keras_object = serialize_keras_object, _deserialize(None)
del _place


def model_from_yaml(yaml_string, custom_objects=None):
    """Was removed from Keras."""
    raise RuntimeError("Method `model_from_yaml()` has been removed due to security risk of arbitrary code execution. Please use `Model.to_json()` and "
                       "`model_from_json()` instead.")


keras.models.model_from_yaml = model_from_yaml
