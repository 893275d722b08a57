"""copy.deepcopy and pickle of what TensorFlow allows it for: layers, models, losses, initializers and the like by their configs and weights; objects of
subclasses by their attributes; values of several tensors and their types by their parts. Optimizers, datasets and functions are refused, as TensorFlow
refuses them. copy.copy of a model copies it whole; that of layers and metrics with variables would have to share them: it is refused, too. What a copy
shares altogether (an optimizer's variables, a dataset's steps, an iterator's place, a table) is its own shallow copy."""
import inspect
import os
import tempfile

import thalweg as tf
from thalweg import _callbacks
from thalweg import _keras_objects as _objects
from thalweg._auto_config import _get_config

keras = tf.keras


def _refuse(self, why="cannot pickle %r object"):
    raise TypeError(why % type(self).__name__)


def _own_class(cls):
    """The class of the package that a class is, or comes from."""
    return next(base for base in cls.__mro__ if base.__module__.split(".")[0] in ("thalweg", "tensorflow", "keras"))


# ---- models: as files ----

def _model_bytes(model):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        model.save(path)
        with open(path, "rb") as file:
            return file.read()


def load_model(data, classes):
    """The model of a .keras file's bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        with open(path, "wb") as file:
            file.write(data)
        return keras.models.load_model(path, custom_objects={cls.__name__: cls for cls in classes}, safe_mode=False)


def _classes_of(model):
    own = [type(model)] + [type(layer) for layer in model.submodules if isinstance(layer, keras.layers.Layer)]
    return tuple(dict.fromkeys(cls for cls in own if _own_class(cls) is not cls))


def _has_config(cls):
    return cls.get_config not in (keras.Model.get_config, _get_config)


def _reduce_model(self):
    cls = type(self)
    if isinstance(self, keras.Sequential) and not self.built:
        return by_config, (cls, self.get_config(), None, None)
    if not self.built:
        return _reduce_attributes(self)
    if cls is not _own_class(cls) and not isinstance(self, keras.Sequential) and not _has_config(cls) and not hasattr(self, "output_names"):
        _refuse(self, "cannot pickle %r object: a subclassed model that is built has no config; it would need a `get_config` of its own")
    return load_model, (_model_bytes(self), _classes_of(self))


# ---- layers, metrics, and what has only a config ----

def by_config(cls, config, shape, weights):
    """An object like the one whose config it was, with its weights."""
    if issubclass(cls, keras.losses.Loss):
        config = {name: value for name, value in config.items() if name != "fn"}  # the class says which function it is
    with _objects._SafeMode(False):  # who unpickles runs code anyway
        made = cls.from_config(config) if hasattr(cls, "from_config") else cls(**config)
    if weights is not None:
        if shape is not None:
            made.build(shape)
        made.set_weights(weights)
    return made


def by_attributes(cls, own, config, attributes, built):
    """An object of a subclass, whose own __init__ is not called."""
    made = cls.__new__(cls)
    own.__init__(made, **config)
    for name, value in attributes.items():
        setattr(made, name, value)
    if built:
        made._set_built(True)
    return made


def _reduce_attributes(self):
    cls, own, config = type(self), _own_class(type(self)), {}
    if isinstance(self, keras.Model):
        own, config = keras.Model, {"name": self.name}
    elif isinstance(self, keras.layers.Layer):
        config = {"name": self.name, "trainable": self.trainable, "dtype": self.dtype} if own is keras.layers.Layer else own.get_config(self)
    elif isinstance(self, tf.Module):
        config = {"name": self.name}
    elif hasattr(own, "get_config"):
        config = own.get_config(self)
    attributes = {name: value for name, value in self.__dict__.items() if not name.startswith(("__", "_thalweg_keeper"))}
    built = isinstance(self, keras.layers.Layer) and self.built
    if isinstance(self, keras.layers.Layer):
        held = {id(v) for value in attributes.values() for v in ([value] if isinstance(value, tf.Variable) else getattr(value, "variables", []))}
        if any(id(v) not in held for v in self.weights):
            _refuse(self, "cannot pickle %r object: it has weights that are no attributes of it")
    return by_attributes, (cls, own, config, attributes, built)


def _reduce_layer(self):
    cls = type(self)
    if cls is not _own_class(cls):
        return _reduce_attributes(self)
    shape = self._build_shape() if self.built and not isinstance(self, keras.metrics.Metric) else None
    return by_config, (cls, self.get_config(), shape, self.get_weights() if self.built or isinstance(self, keras.metrics.Metric) else None)


def history(values, epochs, attributes):
    """A History of these values."""
    made = keras.callbacks.History()
    made._set(values, epochs)
    for name, value in attributes.items():
        setattr(made, name, value)
    return made


def callback(cls, own, config, state, attributes):
    """A callback that has these arguments and has seen what the state says."""
    made = cls.__new__(cls)
    own.__init__(made, **config)
    made._restore(state)
    for name in ("model", "params"):
        if name in attributes:
            getattr(own, "_set_" + name)(made, attributes.pop(name))
    made.__dict__.update(attributes)
    return made


def _reduce_callback(self):
    rows = _callbacks.rows.values()
    own = next(base for base in type(self).__mro__ if base in rows)
    config = {name: getattr(self, name) for name in inspect.signature(own).parameters}
    if config.get("update_freq") == "epoch":
        config["update_freq"] = 0  # as the class of C's takes it
    return callback, (type(self), own, config, self._state(), _callback_attributes(self))


def _callback_attributes(self):
    attributes = {name: value for name, value in self.__dict__.items() if not name.startswith(("__", "_thalweg_keeper"))}
    for name in ("model", "params"):
        value = getattr(self, name, None)
        if value is not None:
            attributes[name] = value
    return attributes


def _reduce_history(self):
    return history, (self.history, list(self.epoch or []), _callback_attributes(self))


def ragged(values, splits):
    """The ragged tensor of these parts."""
    return tf.RaggedTensor.from_nested_row_splits(values, splits)


def device_spec(text):
    """The device that a text says."""
    return tf.DeviceSpec.from_string(text)


def reduce(self, protocol):
    """What pickle and copy ask of every object of the package."""
    del protocol
    cls = type(self)
    if cls.__reduce__ is not object.__reduce__:
        return self.__reduce__()
    if isinstance(self, keras.Model):
        return _reduce_model(self)
    if isinstance(self, keras.layers.Layer):
        return _reduce_layer(self)
    if isinstance(self, (keras.optimizers.Optimizer, tf.data.Dataset)):
        _refuse(self)
    own = _own_class(cls)
    if cls is keras.callbacks.History:
        return _reduce_history(self)
    if isinstance(self, keras.callbacks.Callback) and not isinstance(self, keras.callbacks.History):
        return _reduce_callback(self)
    if cls is not own:
        return _reduce_attributes(self)
    if hasattr(cls, "get_config"):
        return by_config, (cls, self.get_config(), None, None)
    if cls is tf.Module:
        return _reduce_attributes(self)
    if cls is tf.random.Generator:
        return tf.random.Generator.from_state, (self.state.numpy(), self.algorithm)
    if isinstance(self, tf.DeviceSpec):
        return device_spec, (self.to_string(),)
    if cls is tf.RaggedTensor:
        return ragged, (self.flat_values, self.nested_row_splits)
    if cls in _PARTS:
        return cls, _PARTS[cls](self)
    _refuse(self)


_PARTS = {
    tf.RaggedTensorSpec: lambda s: (s.shape, s.dtype, s.ragged_rank, s.row_splits_dtype),
    tf.SparseTensorSpec: lambda s: (s.shape, s.dtype),
    tf.SparseTensor: lambda s: (s.indices, s.values, s.dense_shape),
    tf.IndexedSlices: lambda s: (s.values, s.indices, s.dense_shape),
}


def shallow(self):
    """copy.copy: a model is copied whole, as Keras does; of what else has variables it would share them, which is not supported."""
    if isinstance(self, keras.layers.Layer) and not isinstance(self, keras.Model) and (self.built and self.variables) or getattr(self, "_state_var", None) is not None:
        _refuse(self, "copy.copy of a %r with variables is not supported; copy.deepcopy copies them")
    if isinstance(self, keras.Model):
        import copy
        return copy.deepcopy(self)
    if isinstance(self, (keras.optimizers.Optimizer, tf.data.Dataset, tf.data._Iterator, tf.lookup._Table, tf.lookup._Initializer)):
        return self
    made, arguments = reduce(self, 4)
    return made(*arguments)
