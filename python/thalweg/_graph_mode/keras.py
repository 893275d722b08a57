"""Keras in graphs: updates of metrics are operations, the session of Keras."""
import functools

import numpy

import thalweg as tf
from thalweg import _core
from thalweg._graph_mode import session as _session

_state = {"session": None}
_eager_get_value, _eager_set_value = tf.keras.backend.get_value, tf.keras.backend.set_value


def _in_lasting_graph():
    return not tf.executing_eagerly() and not tf.compat.v1._inside_function()


def _as_operation(method, name=None):
    """In a graph what changes variables gives an operation that does so when it is run."""
    @functools.wraps(method)
    def changed(self, *args, **kwargs):
        if not _in_lasting_graph():
            return method(self, *args, **kwargs)
        before = tf.compat.v1.get_default_graph().version
        method(self, *args, **kwargs)
        return tf.compat.v1._group_effects(before, name)
    return changed


def plain_session():
    """The default session, or the one that Keras keeps; nothing is initialized."""
    session = _session.get_default_session()
    if session is not None:
        return session
    kept = _state["session"]
    if kept is None or kept.graph is not tf.compat.v1.get_default_graph():
        kept = _state["session"] = _session.Session()
    return kept


def get_session(op_input_list=()):
    """The default session, or one that Keras keeps; variables without a value get their first ones."""
    v1 = tf.compat.v1
    session = plain_session()
    with session.graph.as_default():
        for variable in v1.global_variables():
            if not session.run(variable.is_initialized()):
                session.run(variable.initializer)
    return session


def set_session(session):
    """The session that Keras uses."""
    _state["session"] = session


def _get_value(x):
    """The value of a variable or tensor as NumPy's; anything else as it is."""
    if _core.is_symbolic(x) or isinstance(x, tf.Variable) and x._graph is not None:
        return x.eval(session=get_session())
    return _eager_get_value(x)


def _set_value(x, value):
    """Sets a variable, its dtype kept."""
    if x._graph is None:
        _eager_set_value(x, value)
    else:
        x.load(numpy.asarray(value, dtype=x.dtype.as_numpy_dtype), get_session())


def install():
    """Puts the methods on Keras's classes."""
    metrics, backend = tf.keras.metrics, tf.keras.backend
    classes = {base for cls in vars(metrics).values() if isinstance(cls, type) and issubclass(cls, metrics.Metric) for base in cls.__mro__}
    for cls in classes - set(tf.keras.layers.Layer.__mro__):
        for method in ("update_state", "reset_state", "reset_states"):
            if method in vars(cls):
                setattr(cls, method, _as_operation(vars(cls)[method]))
    for method in ("apply_gradients", "minimize"):
        setattr(tf.keras.optimizers.Optimizer, method, _as_operation(getattr(tf.keras.optimizers.Optimizer, method)))
    backend.get_session, backend.set_session = get_session, set_session
    backend.get_value, backend.set_value = _get_value, _set_value

    def forget():
        _state["session"] = None
        if _in_lasting_graph():
            tf.compat.v1.reset_default_graph()
    tf._forgetting.append(forget)
