"""What classes of the program's own below keras.optimizers.Optimizer find in their base, beside C's methods."""
import thalweg as tf

optimizers = tf.keras.optimizers
_LEGACY = ("decay", "gradient_aggregator", "gradient_transformers")


def _with_keywords(init):
    def __init__(self, *args, **kwargs):
        """As the class says; configs also have is_legacy_optimizer."""
        kwargs.pop("is_legacy_optimizer", None)
        for name in () if isinstance(self, optimizers.legacy.Optimizer) else kwargs:
            if name in _LEGACY:
                raise ValueError("%s is deprecated in the new Keras optimizer, please check the docstring for valid arguments, or use the legacy optimizer, "
                                 "e.g., tf.keras.optimizers.legacy.%s." % (name, type(self).__name__))
        try:
            init(self, *args, **kwargs)
        except TypeError as error:
            _, known, name = str(error).partition(" got an unexpected keyword argument ")
            if not known or isinstance(self, optimizers.legacy.Optimizer):
                raise
            raise TypeError("%s is not a valid argument, kwargs should be empty  for `optimizer_experimental.Optimizer`." % name.strip("'")) from None
    return __init__


def _from_config(inner):
    def from_config(cls, config, custom_objects=None):
        """An object of its config; a schedule is a dict with class and config there."""
        if not cls.__module__.startswith("thalweg.") and isinstance(config.get("learning_rate"), dict):
            config = dict(config, learning_rate=optimizers.schedules.deserialize(config["learning_rate"], custom_objects=custom_objects))
        return inner(cls, config, custom_objects)
    return from_config


def _build_learning_rate(self, learning_rate):
    """The learning rate as a class of the program's own keeps it: a variable, or the schedule."""
    self._make_rate(learning_rate)
    return learning_rate if isinstance(learning_rate, optimizers.schedules.LearningRateSchedule) else self.learning_rate


def _get_rate(self):
    schedule = self.__dict__.get("_schedule")
    return self.learning_rate if schedule is None else schedule


def _set_rate(self, value):
    self.__dict__["_schedule"] = value if isinstance(value, optimizers.schedules.LearningRateSchedule) else None
    try:
        known = self.learning_rate
    except ValueError:
        known = None
    if value is not known and self.__dict__["_schedule"] is None:
        self._make_rate(value)


def _var_key(self, variable):
    """What stands for a variable in _index_dict."""
    return variable._unique_id


def _index_dict(self):
    trained = self._trained()
    known = self.__dict__.get("_places")
    if known is None or known[0] != len(trained) or (trained and known[1] is not trained[0]):
        known = self.__dict__["_places"] = len(trained), trained[0] if trained else None, {v._unique_id: i for i, v in enumerate(trained)}
    return known[2]


def _serialize_hyperparameter(self, hyperparameter):
    """A setting as configs have it."""
    if isinstance(hyperparameter, optimizers.schedules.LearningRateSchedule):
        return optimizers.schedules.serialize(hyperparameter)
    if isinstance(hyperparameter, tf.Variable):
        return hyperparameter.numpy()
    return hyperparameter() if callable(hyperparameter) else hyperparameter


def _minimize_loss(self, loss, variables, tape):
    return self.minimize(loss, variables, tape=tape)


def set_weights(self, weights):
    """Sets its variables, in their order."""
    if not self._built:
        raise ValueError("You are calling `set_weights()` on an optimizer that has not yet been built. Please call `optimizer.build(trainable_variables)` "
                         "to create the optimizer weights before calling `set_weights()`.")
    for variable, weight in zip(self.variables, weights):
        if variable.shape != weight.shape:
            raise ValueError("Optimizer variable %s has shape %s not compatible with provided weight shape %s."
                             % (self._var_key(variable), variable.shape, weight.shape))
        variable.assign(weight)


def save_own_variables(self, store):
    """Puts the values of its variables into a dict or group, by number."""
    for i, variable in enumerate(self.variables):
        store[str(i)] = variable.numpy()


def load_own_variables(self, store):
    """Takes the values of its variables from a dict or group."""
    if len(store.keys()) != len(self.variables):
        from thalweg import _log
        _log.logger.warning("Skipping variable loading for optimizer '%s', because it has %s variables whereas the saved optimizer has %s variables. %s",
                            self.name, len(self.variables), len(store.keys()),
                            "" if self.variables else "This is likely because the optimizer has not been called/built yet.")
        return
    for i, variable in enumerate(self.variables):
        variable.assign(store[str(i)])


def aggregate_gradients(self, grads_and_vars):
    """The pairs with gradients summed over replicas; apply_gradients does so itself."""
    pairs = [(g, v) for g, v in grads_and_vars]
    context = tf.distribute.get_replica_context()
    if context is None or context.num_replicas_in_sync == 1:
        return pairs
    places = [i for i, (g, _) in enumerate(pairs) if g is not None]
    sums = context.all_reduce("sum", [pairs[i][0] for i in places])
    for place, total in zip(places, sums):
        pairs[place] = total, pairs[place][1]
    return pairs


def install():
    """Gives the classes what is Python's."""
    base, legacy = optimizers.Optimizer, optimizers.legacy.Optimizer
    base._built = property(base._is_built, base._set_is_built, doc="Whether its variables were made.")
    base._learning_rate = property(_get_rate, _set_rate, doc="The learning rate's variable, or its schedule.")
    base._iterations = property(lambda self: self.iterations, lambda self, value: setattr(self, "iterations", value))
    base._variables = property(lambda self: self.variables)
    base._index_dict = property(_index_dict, doc="The place of each variable that build() was given, by its key.")
    for function in (_build_learning_rate, _var_key, _serialize_hyperparameter, _minimize_loss, set_weights, save_own_variables, load_own_variables,
                     aggregate_gradients):
        setattr(base, function.__name__, function)
    base.from_config = classmethod(_from_config(base.from_config.__func__))
    for name in dir(optimizers):
        made = getattr(optimizers, name)
        if isinstance(made, type) and issubclass(made, base) and not issubclass(made, legacy):
            made.__init__ = _with_keywords(made.__init__)


install()
