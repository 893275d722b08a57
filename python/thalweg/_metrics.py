"""Metrics of the program's own: subclasses whose methods are Python's, and functions as metrics. What all metrics do is in C (src/keras/metrics)."""
import thalweg as tf
from thalweg import _core

_Metric = tf.keras.metrics.Metric
_FunctionType, _MethodType = type(tf._put), type(tf._put.__get__(tf))


def _converted(function):
    """The function, or what autograph makes of it while a graph is made."""
    if not _core._tracing():
        return function
    from thalweg import autograph
    return function if autograph.control.disabled() else autograph.convert(function)


def _changing(method):
    """A method that changes the metric's variables: in a session's graph it gives an operation."""
    def changed(self, *args, **kwargs):
        since = self._call_begins()
        result = _converted(method)(self, *args, **kwargs)
        return tf.compat.v1._group_effects(since) if since >= 0 and result is None else result
    for name in ("__name__", "__qualname__", "__doc__"):
        setattr(changed, name, getattr(method, name))
    changed.__dict__.update(method.__dict__, __wrapped__=method)
    return changed


def _called(self, *args, **kwargs):
    """Adds a batch and gives the result."""
    since = self._call_begins()
    self.update_state(*args, **kwargs)
    self._result_begins(since)
    try:
        result = _converted(self.result)() if isinstance(self.result, _MethodType) else self.result()
    finally:
        self._result_ends(since)
    return self._note(result) if _core.is_tensor(result) else result


def _of_subclass(cls, **kwargs):
    super(_Metric, cls).__init_subclass__(**kwargs)
    own = vars(cls)
    if "__call__" not in own:
        cls.__call__ = _called
    for name in ("update_state", "reset_state", "reset_states"):
        if isinstance(own.get(name), _FunctionType):
            setattr(cls, name, _changing(own[name]))


_Metric.__init_subclass__ = classmethod(_of_subclass)


class MeanMetricWrapper(tf.keras.metrics.MeanMetricWrapper):
    """The mean of a function of labels and predictions."""

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype)
        self._fn, self._given = (fn,), kwargs

    def update_state(self, y_true, y_pred, sample_weight=None):
        labels, predictions = self._match(y_true, y_pred)
        return self._add(_converted(self._fn[0])(labels, predictions, **self._given), sample_weight)

    def get_config(self):
        """The arguments that would make the same metric again."""
        return {**super().get_config(), "fn": self._fn[0], **self._given} if type(self) is MeanMetricWrapper else super().get_config()


MeanMetricWrapper.__module__ = "thalweg.keras.metrics"
tf.keras.metrics.MeanMetricWrapper = MeanMetricWrapper
