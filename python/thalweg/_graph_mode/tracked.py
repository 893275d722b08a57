"""tf.compat.v1.keras.utils: variables by name that belong to an object (track_tf1_style_variables, get_or_create_layer)."""
import contextlib
import functools
import inspect
import threading

import thalweg as tf

_v1 = tf.compat.v1
_thread = threading.local()


def _now():
    """The store of the method that is being called, or None."""
    return getattr(_thread, "store", None)


class _Store:
    """The variables and layers of an object by their names."""

    def __init__(self):
        self.variables, self.layers, self.regularizers = {}, {}, {}

    @contextlib.contextmanager
    def scope(self):
        """get_variable looks here."""
        outer, _thread.store = _now(), self
        try:
            yield
        finally:
            _thread.store = outer

    def variable(self, create, name, arguments):
        """The variable of that name, made if there is none."""
        regularizer, shape = arguments.pop("regularizer", None), arguments.get("shape")
        found = self.variables.get(name)
        if found is None:
            with tf.init_scope():
                found = self.variables[name] = create(name, **dict(arguments, reuse=False))
            if regularizer is not None:
                self.regularizers[name] = regularizer
        elif shape is not None and not tf.TensorShape(shape).is_compatible_with(found.shape):
            raise ValueError("Trying to share variable %s, but specified shape %s and found shape %s." % (name, tf.TensorShape(shape), found.shape))
        return found


def get(create, name, **arguments):
    """What get_variable gives: of the store of a method, or as `create` makes it."""
    store = _now()
    return create(name, **arguments) if store is None else store.variable(create, name, arguments)


def track_tf1_style_variables(method):
    """Decorates a method of a layer or module: variables that get_variable and tf.compat.v1.layers make in it belong to the object, and are the same
    at each call."""
    @functools.wraps(method)
    def call(self, *args, **kwargs):
        if not isinstance(self, tf.Module):
            raise ValueError("`@tf.compat.v1.keras.utils.track_tf1_style_variables` must be applied to a method of a subclassed `tf.Module`, `tf.keras.layers.Layer`, "
                             "or `tf.keras.Model` and which takes `self` as the first argument. But, the first argument passed to the decorated method was %s, "
                             "which does not extend Module, Layer, or Model." % (self,))
        store = getattr(self, "_tf1_style_var_store", None)
        if store is None:
            store = self.__dict__["_tf1_style_var_store"] = _Store()
        known = len(store.variables), len(store.layers), set(store.regularizers)
        with store.scope():
            made = method(self, *args, **kwargs)
        if len(store.variables) != known[0]:
            self._tf1_style_variables = list(store.variables.values())
        if len(store.layers) != known[1]:
            self._tf1_style_layers = list(store.layers.values())
        for name in set(store.regularizers) - known[2] if hasattr(self, "add_loss") else ():
            self.add_loss(functools.partial(store.regularizers[name], store.variables[name]))
        return made
    del call.__wrapped__  # its source is not the method's, its arguments are
    call.__signature__ = inspect.signature(method)
    return call


def get_or_create_layer(name, create_layer_method):
    """The layer of that name of the object whose decorated method runs, made at the first call."""
    store = _now()
    if store is None:
        if tf.executing_eagerly():
            raise ValueError("Tried to call get_or_create_layer in eager mode from a method notdecorated with "
                             "@tf.compat.v1.keras.utils.track_tf1_style_variables.")
        with _v1.variable_scope(name):
            return create_layer_method()
    scope = _v1.get_variable_scope().name
    whole = scope + "/" + name if scope else name
    if whole not in store.layers:
        with tf.init_scope():
            store.layers[whole] = create_layer_method()
    return store.layers[whole]
