"""tf.compat.v1.train.ExponentialMovingAverage: shadows of variables and tensors that follow them slowly."""
import thalweg as tf
from thalweg import _core
from thalweg._graph_mode import variables as _variables

_v1 = tf.compat.v1
_keys = _variables.GraphKeys


class ExponentialMovingAverage:
    """shadow = decay * shadow + (1 - decay) * value, by the operation that `apply` gives."""

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._decay, self._num_updates, self._zero_debias, self._name = decay, num_updates, zero_debias, name
        self._averages = {}

    name = property(lambda self: self._name)

    def _key(self, value):
        return value.ref() if hasattr(value, "ref") else id(value)

    def _shadow(self, value):
        """The variable that follows the value, and whether it begins at zero without knowing better."""
        whole = "%s/%s" % (value.op.name, self._name)
        variable = isinstance(value, tf.Variable)
        with _Root():
            if variable:
                first = value.numpy() if _core.executing_eagerly() else value.initialized_value()
            else:
                first = tf.zeros(value.shape, value.dtype)
            made = _v1.Variable(first, trainable=False, collections=[_keys.GLOBAL_VARIABLES], name=whole)
        if variable and not _core.executing_eagerly():
            _v1.add_to_collection(_keys.MOVING_AVERAGE_VARIABLES, value)
        return made, not variable

    def apply(self, var_list=None):
        """An operation that lets the shadows follow once."""
        if var_list is None:
            var_list = _v1.trainable_variables()
        for value in var_list:
            if value.dtype.base_dtype not in (tf.bfloat16, tf.float16, tf.float32, tf.float64):
                raise TypeError("The variables must be half, float, or double: %s" % value.name)
            if self._key(value) not in self._averages:
                self._averages[self._key(value)] = self._shadow(value)
        with _v1.name_scope(self._name) as scope:
            decay = tf.convert_to_tensor(self._decay, dtype=tf.float32, name="decay")
            if self._num_updates is not None:
                count = tf.cast(self._num_updates, tf.float32, name="num_updates")
                decay = tf.minimum(decay, (1.0 + count) / (10.0 + count))
            updates = []
            for value in var_list:
                shadow, debias = self._averages[self._key(value)]
                updates.append(self._follow(shadow, value, decay, debias and self._zero_debias))
            if _core.executing_eagerly():
                return None
            return tf.group(*updates, name=scope)

    def _follow(self, shadow, value, decay, debias):
        with _v1.name_scope("AssignMovingAvg"), _v1.colocate_with(shadow):
            rest = tf.cast(1.0 - decay, shadow.dtype)
            if not debias:
                return shadow.assign_sub((shadow - value) * rest)
            # What began at zero is divided by the weight of what it has seen so far.
            with _Root():
                biased = _v1.Variable(tf.zeros(shadow.shape, shadow.dtype), trainable=False, name=shadow.op.name + "/biased")
                step = _v1.Variable(tf.zeros([], shadow.dtype), trainable=False, name=shadow.op.name + "/local_step")
            moved = biased.assign_sub((biased - value) * rest)
            stepped = step.assign_add(tf.ones([], shadow.dtype))
            return shadow.assign(moved / (1.0 - tf.pow(1.0 - rest, stepped)))

    def average(self, var):
        """The shadow of a variable or tensor, or None."""
        found = self._averages.get(self._key(var))
        return None if found is None else found[0]

    def average_name(self, var):
        """The name that the shadow has, or would have."""
        found = self.average(var)
        return found.op.name if found is not None else "%s/%s" % (var.op.name, self._name)

    def variables_to_restore(self, moving_avg_variables=None):
        """A dict for a Saver: the averages' names with the variables that are to get their values."""
        if moving_avg_variables is None:
            moving_avg_variables = _v1.trainable_variables() + _v1.get_collection(_keys.MOVING_AVERAGE_VARIABLES)
        moving = {v.ref(): v for v in moving_avg_variables}
        out = {self.average_name(v): v for v in moving.values()}
        names = {v.op.name for v in moving.values()}
        for variable in _v1.global_variables():
            if variable.op.name not in names and variable.op.name not in out:
                out[variable.op.name] = variable
        return out


class _Root:
    """Outside of name scopes and control dependencies."""

    def __enter__(self):
        self._scopes = [_v1.name_scope("") if _core.executing_eagerly() else _v1.get_default_graph().name_scope(None), _v1.control_dependencies(None)]
        for scope in self._scopes:
            scope.__enter__()

    def __exit__(self, *exception):
        for scope in reversed(self._scopes):
            scope.__exit__(*exception)
