"""`call` and `add_weight` of layers that are rows: what they take by position and by name is Keras's, so that `super().call(...)` of a layer that a program derives, and
a direct `layer.call(...)`, mean what they mean there. The library computes it (layer_call_named, src/keras/layers/values.c)."""
from thalweg import keras
from thalweg._auto_config import _library_class

_RECURRENT = "inputs, mask=None, training=None, initial_state=None"
_ATTENTION = "inputs, mask=None, training=None, return_attention_scores=False, use_causal_mask=False"
# What `call` of a class takes, and of those below it that are not here.
_TAKES = {
    "Layer": "inputs, *args, **kwargs", "Model": "inputs, training=None, mask=None", "AbstractRNNCell": "inputs, states",
    "AdditiveAttention": _ATTENTION, "Attention": _ATTENTION,
    "MultiHeadAttention": "query, value, key=None, attention_mask=None, return_attention_scores=False, training=None, use_causal_mask=False",
    "BatchNormalization": "inputs, training=None, mask=None", "SyncBatchNormalization": "inputs, training=None, mask=None", "TimeDistributed": "inputs, training=None, mask=None",
    "Lambda": "inputs, mask=None, training=None", "GroupNormalization": "inputs, mask=None", "Softmax": "inputs, mask=None",
    "GlobalAveragePooling1D": "inputs, mask=None", "SpectralNormalization": "inputs, training=False",
    "CategoryEncoding": "inputs, count_weights=None", "DenseFeatures": "features, cols_to_output_tensors=None, training=None",
    "RNN": _RECURRENT + ", constants=None", "SimpleRNN": _RECURRENT, "GRU": _RECURRENT, "LSTM": _RECURRENT, "ConvLSTM1D": _RECURRENT,
    "ConvLSTM2D": _RECURRENT, "ConvLSTM3D": _RECURRENT, "Bidirectional": "inputs, training=None, mask=None, initial_state=None, constants=None",
    "SimpleRNNCell": "inputs, states, training=None", "GRUCell": "inputs, states, training=None", "LSTMCell": "inputs, states, training=None",
    "_ConvLSTMCell": "inputs, states, training=None", "StackedRNNCells": "inputs, states, constants=None, training=None, **kwargs",
}
_TRAINED = "Dropout AlphaDropout GaussianDropout GaussianNoise SpatialDropout1D SpatialDropout2D SpatialDropout3D"
_TAKES.update(dict.fromkeys(_TRAINED.split(), "inputs, training=None"))
_DRAWN = "Brightness Contrast Crop Flip Height Rotation Translation Width Zoom"
_TAKES.update(("Random" + name, "inputs, training=True") for name in _DRAWN.split())
_made = {}


def _takes(kind):
    """The text for a class: its own, its nearest parent's that has one, or the inputs alone."""
    name = _library_class(kind).__name__
    return _TAKES["Model"] if name in ("Sequential", "Functional") else _TAKES.get(name, "inputs")


_Method = type((lambda self: self).__get__(0))  # types.MethodType, without the import


class _Function:
    """The function of a text, shared by the classes whose `call` takes the same."""
    __name__ = __qualname__ = "call"
    __doc__ = "What the layer computes, without what a call of it does besides."

    def __init__(self, text):
        self._row, self._signature = text, None

    @property
    def __signature__(self):
        if self._signature is None:
            self._signature = _signature(self._row)
        return self._signature

    def __get__(self, layer, kind=None):
        return self if layer is None else _Method(self, layer)

    def __call__(self, layer, *args, **kwargs):
        parameters = self.__signature__.parameters
        try:
            given = self.__signature__.bind(layer, *args, **kwargs).arguments
        except TypeError as e:
            raise TypeError("%s.call() %s" % (type(layer).__name__, e)) from None
        named = {name: value for name, value in list(given.items())[2:] if name not in ("args", "kwargs") and value is not None}
        rest = [*given.get("args", ()), *given.get("kwargs", {}).values()]
        if self._row != _TAKES["Layer"] and any(value is not None for value in rest):  # Layer's own takes all, and gives its inputs
            raise TypeError("%s.call() takes only its inputs" % type(layer).__name__)
        training = named.pop("training", None)
        if training is None and "training" in parameters:
            training = parameters["training"].default
        return layer._call(list(given.values())[1], named or None, training)


def _signature(text):
    """inspect's form of a text."""
    import inspect
    from thalweg import _describe
    usual, kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, {"*": inspect.Parameter.VAR_POSITIONAL, "**": inspect.Parameter.VAR_KEYWORD}
    out = [inspect.Parameter("self", usual)]
    for part in text.split(", "):
        word, _, default = part.partition("=")
        name = word.lstrip("*")
        out.append(inspect.Parameter(name, kinds.get(word[:len(word) - len(name)], usual),
                                     default=_describe.default_of(default) if default else inspect.Parameter.empty))
    return inspect.Signature(out)


class _OwnCall:
    """The member `call` of Layer: each class below shows its own."""
    def __get__(self, layer, kind=None):
        text = _takes(kind or type(layer))
        function = _made.get(text)
        if function is None:
            function = _made[text] = _Function(text)
        return function.__get__(layer)

    def __call__(self, layer, *args, **kwargs):
        return self.__get__(layer)(*args, **kwargs)


def _weights(inner):
    def add_weight(self, name=None, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, constraint=None, use_resource=None,
                   synchronization="AUTO", aggregation="NONE", **kwargs):
        """Makes a variable and tracks it under its name."""
        copies = [getattr(word, "name", word) for word in (synchronization, aggregation)]
        if trainable and copies[0] == "ON_READ":
            raise ValueError("Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variables. You have specified "
                             "trainable=True and synchronization=VariableSynchronization.ON_READ.")
        autocast = kwargs.pop("experimental_autocast", True)
        for word in ("collections", "caching_device", "layout"):  # one process, one memory
            kwargs.pop(word, None)
        if kwargs:
            raise TypeError("Unknown keyword argument:", next(iter(kwargs)))
        return inner(self, name, shape, dtype, initializer, regularizer, trainable is None or bool(trainable), constraint, synchronization=copies[0],
                     aggregation=copies[1], experimental_autocast=autocast)
    return add_weight


def _metric_weights(inner):
    def add_weight(self, name, shape=(), aggregation="SUM", synchronization="ON_READ", initializer=None, dtype=None):
        """Makes a variable of a metric, which training does not change."""
        return inner(self, name, shape, getattr(aggregation, "name", aggregation), getattr(synchronization, "name", synchronization), initializer, dtype)
    return add_weight


keras.layers.Layer.call = _OwnCall()
keras.layers.Layer.add_weight = keras.layers.Layer.add_variable = _weights(keras.layers.Layer.add_weight)
keras.metrics.Metric.add_weight = _metric_weights(keras.metrics.Metric.add_weight)
