"""tf.compat.v1.layers: Keras's layers whose weights are variables by name (get_variable), so that scopes share them. What they compute is the
Keras layer's own, or C's (src/v1/layers.c). Losses of regularizers and updates of moving averages go into the graph's collections."""
import inspect

import thalweg as tf
from thalweg import _core
from thalweg._graph_mode import tracked as _tracked
from thalweg._graph_mode import variables as _variables

_v1 = tf.compat.v1
_keras = tf.keras.layers
_keys = _variables.GraphKeys
_USUAL = {"bias": "zeros", "gamma": "ones", "beta": "zeros", "moving_mean": "zeros", "moving_variance": "ones"}  # others: the scope's initializer


def _initializer(value):
    """None: the scope's, or the usual one."""
    return tf.keras.initializers.get(value) if isinstance(value, str) else value


def _words(name):
    """BatchNormalization -> batch_normalization, Conv2D -> conv2d"""
    import re
    return re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)).lower()


class _Scoped:
    """What layers of TensorFlow 1 do around a Keras layer."""

    def __init__(self, *args, _scope=None, _reuse=None, **kwargs):
        self.__dict__.update(_v1_scope=None, _v1_reuse=_reuse, _v1_built=False, _v1_updates=[])
        self.__dict__["_v1_name"] = kwargs.get("name")
        self.__dict__["_given"] = {word: kwargs.pop(word) for word in list(kwargs)
                                   if word.endswith(("_initializer", "_regularizer", "_constraint")) and word != "activity_regularizer"}
        super().__init__(*args, **kwargs)
        if _scope:
            with _v1.variable_scope(_scope) as scope:
                self.__dict__["_v1_scope"] = scope

    def _base_name(self):
        return self.__dict__["_v1_name"] or _words(type(self).__name__)

    @property
    def scope_name(self):
        """The name of the variable scope."""
        if self.__dict__["_v1_scope"] is None:
            raise ValueError("No name available for layer scope because the layer \"%s\" has not been used yet. The scope name is determined the "
                             "first time the layer instance is called. You must therefore call the layer before querying `scope_name`." % self.name)
        return self.__dict__["_v1_scope"].name

    @property
    def graph(self):
        """The default graph."""
        return _v1.get_default_graph()

    updates = property(lambda self: list(self.__dict__["_v1_updates"]))

    def _weight(self, name, shape, initializer=None, regularizer=None, constraint=None, trainable=True, dtype=None):
        graph = None if _core.executing_eagerly() else _v1.get_default_graph()
        before = 0 if graph is None else len(graph._variables(""))
        if _v1.get_variable_scope().partitioner is not None and len(shape):
            raise NotImplementedError("tf.compat.v1.layers: variables in parts are not supported; open the scope without a partitioner")
        tracked = _tracked._now() is not None  # the object that the variable belongs to has the loss
        variable = _v1.get_variable(name, shape, dtype or self.dtype or tf.float32, _initializer(initializer), constraint=constraint,
                                    regularizer=tf.keras.regularizers.get(regularizer) if tracked else None, trainable=bool(trainable and self.trainable))
        if tracked:
            return variable
        if regularizer is not None and graph is not None and len(graph._variables("")) > before:
            with tf.name_scope(variable.op.name + "/Regularizer/"):
                graph.add_to_collection(_keys.REGULARIZATION_LOSSES, tf.keras.regularizers.get(regularizer)(variable))
        return variable

    def add_weight(self, name, shape=(), dtype=None, initializer=None, regularizer=None, trainable=True, constraint=None, **others):
        """A variable by name in the layer's scope."""
        return self._weight(name, shape, initializer, regularizer, constraint, trainable, dtype)

    add_variable = add_weight

    def add_update(self, updates, inputs=None):
        """Adds operations to the graph's collection of updates."""
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            self.__dict__["_v1_updates"].append(update)
            _v1.add_to_collection(_keys.UPDATE_OPS, update)

    def _make_weight(self, name, shape, dtype, trainable):
        """The variable that the Keras layer's build wants."""
        word, given = name.replace("_kernel", ""), self.__dict__["_given"]
        return self._weight(name, shape, given.get(word + "_initializer", _USUAL.get(name)), given.get(word + "_regularizer"),
                            given.get(word + "_constraint"), trainable, dtype)

    def __call__(self, inputs, *args, scope=None, **kwargs):
        own = self.__dict__
        if own["_v1_scope"] is None:
            base = self._base_name()
            with (_v1.variable_scope(scope or base) if own["_v1_reuse"] else _v1.variable_scope(scope, default_name=base)) as made:
                own["_v1_scope"] = made
        inputs = tf.nest.map_structure(tf.convert_to_tensor, inputs)
        with _v1.variable_scope(own["_v1_scope"], reuse=True if own["_v1_built"] else own["_v1_reuse"], auxiliary_name_scope=False) as present:
            with tf.name_scope(present.original_name_scope):
                if not own["_v1_built"]:
                    self.build(tf.nest.map_structure(lambda t: t.shape, inputs))
                    self.built = own["_v1_built"] = True
                outputs = self.call(inputs, *args, **kwargs)
                activity = getattr(self, "activity_regularizer", None)
                if activity is not None and not _core.executing_eagerly():
                    with tf.name_scope("ActivityRegularizer"):
                        _v1.add_to_collection(_keys.REGULARIZATION_LOSSES, tf.keras.regularizers.get(activity)(outputs))
        return outputs

    def apply(self, inputs, *args, **kwargs):
        """Calls the layer."""
        return self(inputs, *args, **kwargs)

    def _channels(self, shape, axis=-1):
        size = None if shape.rank is None else shape[axis]
        if size is None:
            raise ValueError("The last dimension of the inputs to a %s layer should be defined. Found None. Full input shape received: "
                             "%s" % (type(self).__name__, shape))
        return int(size)


class Layer(_Scoped, _keras.Layer):
    """The base of layers that programs write themselves."""

    def __init__(self, trainable=True, name=None, dtype=None, **kwargs):
        super().__init__(trainable=trainable, name=name, dtype=dtype, **kwargs)

    def build(self, input_shape):
        """Makes the variables."""

    def call(self, inputs, *args, **kwargs):
        """What a subclass computes."""
        return inputs


class Dropout(_Scoped, _keras.Layer):
    """Elements set to zero at random while training."""

    def __init__(self, rate=0.5, noise_shape=None, seed=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs, training=False):
        """With or without zeros."""
        return _v1.layers._dropout(inputs, training, self.rate, self.noise_shape, self.seed)


class BatchNormalization(_Scoped, _keras.BatchNormalization):
    """Inputs with mean 0 and variance 1 per channel, by the batch while training, by moving averages else."""

    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, renorm=False, renorm_clipping=None, renorm_momentum=0.99,
                 fused=None, virtual_batch_size=None, adjustment=None, **kwargs):
        for word, value in (("renorm", renorm), ("virtual_batch_size", virtual_batch_size), ("adjustment", adjustment)):
            if value:
                raise NotImplementedError("tf.compat.v1.layers.BatchNormalization: %s is not supported" % word)
        super().__init__(axis, momentum, epsilon, center, scale, **kwargs)
        self.fused = fused

    def call(self, inputs, training=False):
        """The normalized inputs; while training, operations that change the averages are added to the collection of updates."""
        axis = self.axis[0] if isinstance(self.axis, (list, tuple)) else self.axis
        outputs, *updates = _v1.layers._normalize(inputs, training, self.moving_mean, self.moving_variance, getattr(self, "gamma", None),
                                                  getattr(self, "beta", None), axis, self.epsilon, self.momentum, self.fused)
        self.add_update(updates)
        return outputs


def _made(name, bases, **members):
    made = type(name, bases, dict(members, __doc__=bases[-1].__doc__))
    made.__module__ = __name__
    return made


_CLASSES = {"Layer": Layer, "Dropout": Dropout, "BatchNormalization": BatchNormalization}
for _name in ["Dense", "Flatten"] + [kind % rank for rank in ("1D", "2D", "3D") for kind in (
        "Conv%s", "Conv%sTranspose", "SeparableConv%s", "MaxPooling%s", "AveragePooling%s")]:
    if hasattr(_keras, _name) and _name != "Conv1DTranspose":
        _CLASSES[_name] = _made(_name, (_Scoped, getattr(_keras, _name)))

_FUNCTIONS = {"Dropout": "rate noise_shape seed training name", "Flatten": "name data_format",
              "BatchNormalization": "axis momentum epsilon center scale beta_initializer gamma_initializer moving_mean_initializer "
                                    "moving_variance_initializer beta_regularizer gamma_regularizer beta_constraint gamma_constraint training trainable "
                                    "name reuse renorm renorm_clipping renorm_momentum fused virtual_batch_size adjustment"}


def _arguments(name):
    """The names of a function's arguments behind `inputs`, in order: the Keras layer's without those that it got later."""
    if name in _FUNCTIONS:
        return _FUNCTIONS[name].split()
    later = {"groups", "output_padding", "kwargs"} | ({"dilation_rate"} if name.endswith("Transpose") else set())
    if name.startswith("Separable"):
        later |= {"kernel_initializer", "kernel_regularizer", "kernel_constraint"}
    words = [word for word in inspect.signature(getattr(_keras, name)).parameters if word not in later]
    return words + (["name"] if "Pooling" in name else ["trainable", "name", "reuse"])


def _function(name, made):
    places = _arguments(name)
    short = _words(name).replace("_1_d", "1d").replace("_2_d", "2d").replace("_3_d", "3d")

    def layer(inputs, *args, **kwargs):
        if len(args) > len(places):
            raise TypeError("%s() takes at most %d arguments, got %d" % (short, len(places) + 1, len(args) + 1))
        given = dict(zip(places, args))
        for word, value in kwargs.items():
            if word not in places:
                raise TypeError("%s() got an unexpected keyword argument '%s'" % (short, word))
            if word in given:
                raise TypeError("%s() got multiple values for argument '%s'" % (short, word))
            given[word] = value
        more = {"training": given.pop("training")} if "training" in given else {}
        reuse, scope = given.pop("reuse", None), given.get("name")
        if "name" in given and given["name"] is None:
            del given["name"]
        return made(_reuse=reuse, _scope=scope, **given)(inputs, **more)
    layer.__name__, layer.__doc__ = short, made.__doc__
    return short, layer


def install():
    """Fills tf.compat.v1.layers."""
    module = _v1.layers
    if hasattr(_keras, "InputSpec"):
        module.InputSpec = _keras.InputSpec
    for name, made in _CLASSES.items():
        setattr(module, name, made)
        if name != "Layer":
            setattr(module, *_function(name, made))
