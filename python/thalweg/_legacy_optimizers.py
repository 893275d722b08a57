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


def minimize(self, loss, var_list, grad_loss=None, name=None, tape=None):
    """Computes the gradients of a loss and applies them."""
    if grad_loss is not None:
        raise NotImplementedError("minimize: the argument `grad_loss` is not supported; scale the loss")
    return tf.keras.optimizers.Optimizer.minimize(self, loss, var_list, tape=tape)


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


# ---- classes of the program's own ----

def _own_hypers(self):
    return self.__dict__.setdefault("_own_hypers", {})


def _set_hyper(self, name, value):
    """Sets a setting, or says one before there are variables."""
    hypers, known = _own_hypers(self), self._hyper(name)
    before = hypers.get(name)
    if before is None and known is not None:
        known.assign(value)
    elif isinstance(before, tf.Variable) and not callable(value):
        before.assign(value)
    else:
        hypers[name] = value


def _get_hyper(self, name, dtype=None):
    """The value of a setting: its variable, a schedule, or what a function gives."""
    hypers = _own_hypers(self)
    if name not in hypers:
        value = self._hyper(name)
        if value is None:
            raise KeyError(name)
    else:
        self._create_hypers()
        value = hypers[name]
        if isinstance(value, tf.keras.optimizers.schedules.LearningRateSchedule):
            return value
        value = value() if callable(value) and not isinstance(value, tf.Variable) else value
    return value if dtype is None else tf.cast(value, dtype)


def _create_hypers(self):
    """Makes variables of the settings that are numbers, once."""
    hypers = _own_hypers(self)
    for name in sorted(hypers):
        value = hypers[name]
        if not (tf.is_tensor(value) or isinstance(value, tf.Variable) or callable(value)):
            hypers[name] = self._add_weight(name, tf.constant_initializer(float(value)))


def add_weight(self, name, shape=(), dtype=None, initializer="zeros", trainable=None, synchronization=None, aggregation=None):
    """A variable that the optimizer keeps."""
    del synchronization, aggregation  # copies of replicas get the same values
    if not (isinstance(initializer, str) or callable(initializer)):
        initializer = tf.constant_initializer(initializer)
    return self._add_weight(name, initializer, shape, dtype, bool(trainable))


def _create_all_weights(self, var_list):
    """What apply_gradients needs: the settings and the slots."""
    self._create_hypers()
    self._create_slots(var_list)


def _with_names(add, names):
    """add_slot and get_slot_names of one base: slots of the program's own have names, too."""
    def add_slot(self, var, slot_name, initializer="zeros", shape=None):
        """What the optimizer keeps for a variable under that name; made if it is not there yet."""
        own = self.__dict__.setdefault("_own_slots", [])
        if slot_name not in own:
            own.append(slot_name)
        return add(self, var, slot_name, initializer, shape)

    def get_slot_names(self):
        """The names of its slots, once they are made."""
        return names(self) + self.__dict__.get("_own_slots", [])
    return add_slot, get_slot_names


def _decayed_lr(self, var_dtype):
    """The learning rate of the next step."""
    rate = self._get_hyper("learning_rate", var_dtype)
    if isinstance(rate, tf.keras.optimizers.schedules.LearningRateSchedule):
        rate = tf.cast(rate(tf.cast(self.iterations, var_dtype)), var_dtype)
    if self._initial_decay > 0.0:
        step = tf.cast(self.iterations, var_dtype)
        rate = rate / (1.0 + tf.cast(self._initial_decay, var_dtype) * step)
    return rate


def _prepare(self, var_list):
    """What steps compute once for all variables of a device and dtype."""
    state = {}
    for device, dtype in {(v.device, v.dtype.base_dtype) for v in var_list}:
        state[(device, dtype)] = {}
        with tf.device(device):
            self._prepare_local(device, dtype, state)
    return state


def _prepare_local(self, var_device, var_dtype, apply_state):
    if "learning_rate" in _own_hypers(self) or self._hyper("learning_rate") is not None:
        apply_state[(var_device, var_dtype)]["lr_t"] = tf.identity(self._decayed_lr(var_dtype))


def _fallback_apply_state(self, var_device, var_dtype):
    state = {(var_device, var_dtype): {}}
    self._prepare_local(var_device, var_dtype, state)
    return state[(var_device, var_dtype)]


def _prepare_own(self, var_list):
    self.__dict__["_apply_state"] = self._prepare(var_list)


def _takes_state(function):
    from thalweg import _describe
    names = _describe.names_of(function)
    return names is None or "apply_state" in names


def _apply_own(self, gradient, variable):
    """One step by the class's own methods."""
    state = self.__dict__["_apply_state"]
    if isinstance(gradient, tf.IndexedSlices):
        if variable.constraint is not None:
            raise RuntimeError("Cannot use a constraint function on a sparse variable.")
        more = {"apply_state": state} if _takes_state(self._resource_apply_sparse) else {}
        return self._resource_apply_sparse_duplicate_indices(gradient.values, variable, gradient.indices, **more)
    more = {"apply_state": state} if _takes_state(self._resource_apply_dense) else {}
    return self._resource_apply_dense(gradient, variable, **more)


def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices, **kwargs):
    """Sums the rows that come more than once."""
    unique, places = tf.unique(indices)
    summed = tf.math.unsorted_segment_sum(grad, places, tf.shape(unique)[0])
    return self._resource_apply_sparse(summed, handle, unique, **kwargs)


def _resource_scatter_add(self, x, i, v):
    tf.raw_ops.ResourceScatterAdd(resource=x.handle, indices=i, updates=v)
    return x.value()


def _resource_scatter_update(self, x, i, v):
    tf.raw_ops.ResourceScatterUpdate(resource=x.handle, indices=i, updates=v)
    return x.value()


def _serialize_hyperparameter(self, hyperparameter_name):
    """A setting as configs have it."""
    hypers = _own_hypers(self)
    value = hypers[hyperparameter_name] if hyperparameter_name in hypers else self._hyper(hyperparameter_name)
    if isinstance(value, tf.keras.optimizers.schedules.LearningRateSchedule):
        return tf.keras.optimizers.schedules.serialize(value)
    if tf.is_tensor(value) or isinstance(value, tf.Variable):
        return value.numpy()
    return value() if callable(value) else value


def _hyper_first(name, other):
    """A setting of the class's own by that name, else the base's attribute."""
    def get(self):
        return self._get_hyper(name) if name in _own_hypers(self) else other.__get__(self, type(self))

    def put(self, value):
        if name in _own_hypers(self):
            self._set_hyper(name, value)
        else:
            other.__set__(self, value)
    return property(get, put, doc="The learning rate.")


def _getattr(self, name):
    hypers = self.__dict__.get("_own_hypers", {})
    if name in hypers:
        return self._get_hyper(name)
    raise AttributeError("'%s' object has no attribute '%s'" % (type(self).__name__, name))


def _with_hypers(setattr_):
    def __setattr__(self, name, value):
        """Settings are set where they are kept."""
        if name in self.__dict__.get("_own_hypers", ()):
            self._set_hyper(name, value)
        else:
            setattr_(self, name, value)
    return __setattr__


def _install_own(base):
    for function in (_set_hyper, _get_hyper, _create_hypers, add_weight, _create_all_weights, _decayed_lr, _prepare, _prepare_local, _fallback_apply_state,
                     _prepare_own, _apply_own, _resource_apply_sparse_duplicate_indices, _resource_scatter_add, _resource_scatter_update,
                     _serialize_hyperparameter):
        setattr(base, function.__name__, function)
    base.add_slot, base.get_slot_names = _with_names(base.add_slot, base.get_slot_names)
    rate = base.__mro__[1].__dict__["learning_rate"]
    base.learning_rate = base.lr = _hyper_first("learning_rate", rate)
    base._initial_decay = property(lambda self: self._first_decay(), doc="The decay that the optimizer was made with.")
    base.__getattr__, base.__setattr__ = _getattr, _with_hypers(base.__setattr__)


def install():
    """Gives the classes what is Python's."""
    base = legacy.Optimizer
    _install_own(base)
    base.weights, base.get_weights, base.set_weights = property(weights), get_weights, set_weights
    base.get_gradients, base.get_updates, base.minimize = get_gradients, get_updates, minimize
    base.from_config = classmethod(_from_config)
    for name, hypers in _HYPERS.items():
        made = getattr(legacy, name)
        for hyper in hypers.split():
            setattr(made, hyper, _hyper(hyper))
        made.decay = _hyper("decay")
        made.__init__ = _with_lr(made.__init__)


install()
