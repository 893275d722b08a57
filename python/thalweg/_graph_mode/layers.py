"""tf.compat.v1.layers: Keras's layers whose weights are variables by name (get_variable), so that scopes share them; what they compute is the
Keras layer's own. Losses of regularizers and updates of moving averages go into the graph's collections."""
import thalweg as tf
from thalweg import _core
from thalweg._graph_mode import variables as _variables

_v1 = tf.compat.v1
_keras = tf.keras.layers
_keys = _variables.GraphKeys


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
        variable = _v1.get_variable(name, shape, dtype or self.dtype or tf.float32, _initializer(initializer), constraint=constraint,
                                    trainable=bool(trainable and self.trainable))
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

    def build(self, input_shape):
        """Makes the variables."""

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

    def call(self, inputs, *args, **kwargs):
        """What a subclass computes."""
        return inputs


class _Weighted(_Scoped):
    """Layers with a kernel, or two, and a bias: `_shapes` gives the kernels' shapes by name."""

    def build(self, input_shape):
        for name, shape in self._shapes(input_shape):
            word = name.replace("_kernel", "")
            setattr(self, name, self._weight(name, shape, self._given[word + "_initializer"], self._given[word + "_regularizer"],
                                             self._given[word + "_constraint"]))
        if self.use_bias:
            self.bias = self._weight("bias", [self._outputs()], self._given["bias_initializer"], self._given["bias_regularizer"],
                                     self._given["bias_constraint"])

    def __init__(self, *args, trainable=True, **kwargs):
        words = ("depthwise", "pointwise", "bias") if self._separable else ("kernel", "bias")
        given = {w + end: kwargs.pop(w + end, None) for w in words for end in ("_initializer", "_regularizer", "_constraint")}
        given["bias_initializer"] = given["bias_initializer"] or tf.keras.initializers.Zeros()
        self.__dict__["_given"] = given
        super().__init__(*args, trainable=trainable, **kwargs)

    _separable = False


class Dense(_Weighted, _keras.Dense):
    """outputs = activation(inputs kernel + bias)"""

    def _shapes(self, shape):
        return [("kernel", [self._channels(shape), self.units])]

    def _outputs(self):
        return self.units


class _Conv(_Weighted):
    def _window(self, shape):
        """The kernel's size along the dimensions of space, and the inputs' channels."""
        sizes = list(self.kernel_size) if isinstance(self.kernel_size, (list, tuple)) else [self.kernel_size]
        return sizes * (shape.rank - 2) if len(sizes) == 1 else sizes, self._channels(shape, 1 if self.data_format == "channels_first" else -1)

    def _shapes(self, shape):
        sizes, channels = self._window(shape)
        return [("kernel", sizes + [channels, self.filters])]

    def _outputs(self):
        return self.filters


class _Transposed(_Conv):
    def _shapes(self, shape):
        sizes, channels = self._window(shape)
        return [("kernel", sizes + [self.filters, channels])]


class _SeparableConv(_Conv):
    _separable = True

    def _shapes(self, shape):
        sizes, channels = self._window(shape)
        return [("depthwise_kernel", sizes + [channels, self.depth_multiplier]),
                ("pointwise_kernel", [1] * len(sizes) + [channels * self.depth_multiplier, self.filters])]


def _chosen(training, yes, no):
    """smart_cond: by a Python value at once, by a tensor in the graph."""
    if _core.is_tensor(training):
        return tf.cond(tf.cast(training, tf.bool), yes, no)
    return yes() if training else no()


class Dropout(_Scoped, _keras.Layer):
    """Elements set to zero at random while training."""

    def __init__(self, rate=0.5, noise_shape=None, seed=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs, training=False):
        """With or without zeros."""
        return _chosen(training, lambda: tf.nn.dropout(inputs, rate=self.rate, noise_shape=self.noise_shape, seed=self.seed, name="dropout"),
                       lambda: tf.identity(inputs))


class BatchNormalization(_Scoped, _keras.Layer):
    """Inputs with mean 0 and variance 1 per channel, by the batch while training, by moving averages else."""

    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer="zeros", gamma_initializer="ones",
                 moving_mean_initializer="zeros", moving_variance_initializer="ones", beta_regularizer=None, gamma_regularizer=None,
                 beta_constraint=None, gamma_constraint=None, renorm=False, renorm_clipping=None, renorm_momentum=0.99, fused=None, trainable=True,
                 virtual_batch_size=None, adjustment=None, name=None, **kwargs):
        for word, value in (("renorm", renorm), ("virtual_batch_size", virtual_batch_size), ("adjustment", adjustment)):
            if value:
                raise NotImplementedError("tf.compat.v1.layers.BatchNormalization: %s is not supported" % word)
        super().__init__(trainable=trainable, name=name, **kwargs)
        self.axis, self.momentum, self.epsilon, self.center, self.scale, self.fused = axis, momentum, epsilon, center, scale, fused
        self.__dict__["_given"] = dict(beta=(beta_initializer, beta_regularizer, beta_constraint),
                                       gamma=(gamma_initializer, gamma_regularizer, gamma_constraint),
                                       moving_mean=(moving_mean_initializer, None, None), moving_variance=(moving_variance_initializer, None, None))

    def build(self, input_shape):
        """gamma, beta and the moving averages."""
        axis = self.axis[0] if isinstance(self.axis, (list, tuple)) else self.axis
        axis = axis + input_shape.rank if axis < 0 else axis
        size = [self._channels(input_shape, axis)]
        self.__dict__["_place"] = axis
        self.gamma = self._weight("gamma", size, *self._given["gamma"]) if self.scale else None
        self.beta = self._weight("beta", size, *self._given["beta"]) if self.center else None
        self.moving_mean = self._weight("moving_mean", size, *self._given["moving_mean"], trainable=False)
        self.moving_variance = self._weight("moving_variance", size, *self._given["moving_variance"], trainable=False)

    def _fused_of(self, inputs, training):
        size = [inputs.shape[self._place]]
        scale = self.gamma if self.scale else tf.ones(size)
        offset = self.beta if self.center else tf.zeros(size)
        form = "NHWC" if self._place == 3 else "NCHW"

        def run(is_training):
            out = tf.raw_ops.FusedBatchNormV3(x=inputs, scale=scale, offset=offset, mean=self.moving_mean, variance=self.moving_variance,
                                              epsilon=self.epsilon, exponential_avg_factor=1.0, data_format=form, is_training=is_training)
            return out[0], out[1], out[2]
        return _chosen(training, lambda: run(True), lambda: run(False))

    def _plain_of(self, inputs, training):
        axes = [i for i in range(inputs.shape.rank) if i != self._place]
        form = [inputs.shape[i] if i == self._place else 1 for i in range(inputs.shape.rank)]

        def wide(value):
            return value if value is None or self._place == inputs.shape.rank - 1 else tf.reshape(value, form)
        moments = _chosen(training, lambda: tuple(tf.nn.moments(inputs, axes)), lambda: (tf.identity(self.moving_mean), tf.identity(self.moving_variance)))
        out = tf.nn.batch_normalization(inputs, wide(moments[0]), wide(moments[1]), wide(self.beta if self.center else None),
                                        wide(self.gamma if self.scale else None), self.epsilon)
        return out, moments[0], moments[1]

    def _follow(self, variable, value, momentum):
        """variable -= (variable - value) * (1 - momentum)"""
        with tf.name_scope("AssignMovingAvg"), _v1.colocate_with(variable):
            decay = 1.0 - momentum
            return variable.assign_sub((variable - value) * decay, name="AssignSubVariableOp")

    def call(self, inputs, training=False):
        """The normalized inputs; while training, operations that change the averages are added to the collection of updates."""
        fused = self.fused if self.fused is not None else inputs.shape.rank == 4 and self._place in (1, 3)
        if self._place == 1 and inputs.shape.rank == 4:
            fused = False  # the kernel wants channels last
        outputs, mean, variance = (self._fused_of if fused else self._plain_of)(inputs, training)
        if _core.is_tensor(training) or training:
            momentum = _chosen(training, lambda: tf.constant(self.momentum), lambda: tf.constant(1.0))
            updates = [self._follow(self.moving_mean, mean, momentum), self._follow(self.moving_variance, variance, momentum)]
            if not _core.executing_eagerly():
                self.add_update([u.op for u in updates])
        return outputs


def _made(name, bases, **members):
    made = type(name, bases, dict(members, __doc__=bases[-1].__doc__))
    made.__module__ = __name__
    return made


_CLASSES = {"Layer": Layer, "Dense": Dense, "Dropout": Dropout, "BatchNormalization": BatchNormalization,
            "Flatten": _made("Flatten", (_Scoped, _keras.Flatten))}
for _rank in ("1D", "2D", "3D"):
    for _kind, _base in (("Conv%s", _Conv), ("Conv%sTranspose", _Transposed), ("SeparableConv%s", _SeparableConv), ("MaxPooling%s", _Scoped),
                         ("AveragePooling%s", _Scoped)):
        _name = _kind % _rank
        if hasattr(_keras, _name) and _name != "Conv1DTranspose":
            _CLASSES[_name] = _made(_name, (_base, getattr(_keras, _name)))

_ORDER = "data_format dilation_rate"
_AFTER = "activation use_bias kernel_initializer bias_initializer kernel_regularizer bias_regularizer activity_regularizer kernel_constraint " \
         "bias_constraint trainable"
_AFTER_SEPARABLE = "depth_multiplier activation use_bias depthwise_initializer pointwise_initializer bias_initializer depthwise_regularizer " \
                   "pointwise_regularizer bias_regularizer activity_regularizer depthwise_constraint pointwise_constraint bias_constraint trainable"
_NORMALIZATION = "axis momentum epsilon center scale beta_initializer gamma_initializer moving_mean_initializer moving_variance_initializer " \
                 "beta_regularizer gamma_regularizer beta_constraint gamma_constraint training trainable name reuse renorm renorm_clipping " \
                 "renorm_momentum fused virtual_batch_size adjustment"


def _arguments(name):
    """The names of a function's arguments behind `inputs`, in order."""
    if name == "Dense":
        return "units " + _AFTER + " name reuse"
    if name.startswith("SeparableConv"):
        return "filters kernel_size strides padding data_format dilation_rate " + _AFTER_SEPARABLE + " name reuse"
    if name.endswith("Transpose"):
        return "filters kernel_size strides padding data_format " + _AFTER + " name reuse"
    if name.startswith("Conv"):
        return "filters kernel_size strides padding data_format dilation_rate " + _AFTER + " name reuse"
    if name.endswith(("Pooling1D", "Pooling2D", "Pooling3D")):
        return "pool_size strides padding data_format name"
    return {"Dropout": "rate noise_shape seed training name", "Flatten": "name data_format", "BatchNormalization": _NORMALIZATION}[name]


def _function(name, made):
    places = _arguments(name).split()
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
    import sys
    module = _v1.layers = type(sys)(_v1.__name__ + ".layers")
    sys.modules[module.__name__] = module
    module.InputSpec = tf.keras.layers.InputSpec if hasattr(tf.keras.layers, "InputSpec") else None
    for name, made in _CLASSES.items():
        setattr(module, name, made)
        if name != "Layer":
            setattr(module, *_function(name, made))
