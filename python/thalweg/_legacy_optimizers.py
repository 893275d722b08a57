"""keras.optimizers.legacy: the settings of these optimizers as variables, and their weights."""
import thalweg as tf

legacy = tf.keras.optimizers.legacy
_HYPERS = {"SGD": "momentum", "Adam": "beta_1 beta_2", "Adagrad": "", "RMSprop": "rho momentum", "Adadelta": "rho", "Adamax": "beta_1 beta_2",
           "Nadam": "beta_1 beta_2", "Ftrl": "learning_rate_power l1_regularization_strength l2_regularization_strength beta"}


def _hyper(name):
    return property(lambda self: self._hyper(name), lambda self, value: self._hyper(name).assign(value) and None, doc="The setting %s, a variable." % name)


def _with_lr(init):
    def __init__(self, *args, **kwargs):
        """As the class says; lr is a former name of learning_rate."""
        if "lr" in kwargs:
            import warnings
            warnings.warn("The `lr` argument is deprecated, use `learning_rate` instead.", stacklevel=2)
            kwargs["learning_rate"] = kwargs.pop("lr")
        init(self, *args, **kwargs)
    return __init__


def weights(self):
    """The step counter and all slots; nothing before the first step."""
    return self.variables()


def get_weights(self):
    """The values of its weights, in their order."""
    return [w.numpy() for w in self.variables()]


def set_weights(self, weights):
    """Sets its weights, in their order."""
    import numpy as np
    own = self.variables()
    if len(own) != len(weights):
        raise ValueError("You called `set_weights(weights)` on optimizer %s with a  weight list of length %s, but the optimizer was expecting %s weights. "
                         "Provided weights: %s..." % (self.name, len(weights), len(own), str(weights)[:50]))
    for variable, value in zip(own, weights):
        if tuple(variable.shape) != np.shape(value):
            raise ValueError("Optimizer weight shape %s not compatible with provided weight shape %s." % (tuple(variable.shape), np.shape(value)))
    for variable, value in zip(own, weights):
        variable.assign(np.asarray(value, variable.dtype.as_numpy_dtype))


def get_gradients(self, loss, params):
    """The gradients of a loss of a graph."""
    found = tf.compat.v1.gradients(loss, params)
    for gradient, variable in zip(found, params):
        if gradient is None:
            raise ValueError("Variable %s has `None` for gradient. Please make sure that all of your ops have a gradient defined (i.e. are differentiable). "
                             "Common ops without gradient: K.argmax, K.round, K.eval." % variable)
    return found


def get_updates(self, loss, params):
    """A list of the operation that takes a step, in a graph."""
    return [self.apply_gradients(zip(self.get_gradients(loss, params), params))]


def _from_config(cls, config, custom_objects=None):
    """An object of its config; `lr` is a former name of learning_rate."""
    config = dict(config)
    if "lr" in config:
        config["learning_rate"] = config.pop("lr")
    if isinstance(config.get("learning_rate"), dict):
        config["learning_rate"] = tf.keras.optimizers.schedules.deserialize(config["learning_rate"], custom_objects=custom_objects)
    return cls(**config)


def install():
    """Gives the classes what is Python's."""
    base = legacy.Optimizer
    base.weights, base.get_weights, base.set_weights = property(weights), get_weights, set_weights
    base.get_gradients, base.get_updates = get_gradients, get_updates
    base.from_config = classmethod(_from_config)
    for name, hypers in _HYPERS.items():
        made = getattr(legacy, name)
        for hyper in hypers.split():
            setattr(made, hyper, _hyper(hyper))
        made.decay = _hyper("decay")
        made.__init__ = _with_lr(made.__init__)


install()
