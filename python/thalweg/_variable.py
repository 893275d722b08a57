"""IndexedSlices, what of variables, constraints and tf.Module wants a Python class or function."""
import functools

import thalweg as tf


IndexedSlices = tf.IndexedSlices


def _text(self):
    shape = "" if self.dense_shape is None else ", dense_shape=%s" % (self.dense_shape,)
    return "IndexedSlices(indices=%s, values=%s%s)" % (self.indices, self.values, shape)


IndexedSlices.__str__ = _text
IndexedSlices.__neg__ = lambda self: IndexedSlices(-self.values, self.indices, self.dense_shape)
IndexedSlices.device = property(lambda self: self.values.device)
IndexedSlices.name = property(lambda self: self.values.name)
IndexedSlices.graph = property(lambda self: self.values.graph)
IndexedSlices.op = property(lambda self: self.values.op)


def _rows(value):
    return value.values if isinstance(value, IndexedSlices) else value


def _clip_by_norm(inner):
    @functools.wraps(inner)
    def clip_by_norm(t, clip_norm, axes=None, name=None):
        clipped = inner(_rows(t), clip_norm, axes, name)
        return IndexedSlices(clipped, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else clipped
    return clip_by_norm


def _global_norm(inner):
    @functools.wraps(inner)
    def global_norm(t_list, name=None):
        return inner([_rows(t) for t in t_list if t is not None], name)
    return global_norm


def _clip_by_global_norm(inner):
    @functools.wraps(inner)
    def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
        given = list(t_list)
        clipped, norm = inner([_rows(t) for t in given if t is not None], clip_norm, use_norm, name)
        rest = iter(clipped)
        out = [None if t is None else next(rest) for t in given]
        return [IndexedSlices(c, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else c for c, t in zip(out, given)], norm
    return clip_by_global_norm


tf.clip_by_norm = _clip_by_norm(tf.clip_by_norm)
tf.clip_by_global_norm = _clip_by_global_norm(tf.clip_by_global_norm)
tf.linalg.global_norm = _global_norm(tf.linalg.global_norm)


def _scatter(name):
    def method(self, sparse_delta, use_locking=False, name=None):
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError("Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: %s" % (sparse_delta,))
        return inner(self, sparse_delta.indices, sparse_delta.values)
    inner = getattr(tf.Variable, "_scatter_" + name)
    method.__name__ = "scatter_" + name
    method.__doc__ = inner.__doc__
    return method


for _name in ("update", "add", "sub", "mul", "div", "min", "max"):
    setattr(tf.Variable, "scatter_" + _name, _scatter(_name))


def _batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
    """Sets rows of each member of a batch."""
    if not isinstance(sparse_delta, IndexedSlices):
        raise TypeError("Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: %s" % (sparse_delta,))
    return self._scatter_batch(sparse_delta.indices, sparse_delta.values)


tf.Variable.batch_scatter_update = _batch_scatter_update


# ---- what TensorFlow's variables have and refuse outside of graphs

def _refused(error, text):
    def refuse(self, *args, **kwargs):
        raise error(text)
    return refuse


def _load(self, value, session=None):
    """Sets the value."""
    self.assign(value)


for _name, _mark, _other in (("iadd", "variable += value", "variable.assign_add(value)` to modify the variable, or `out = variable + value"),
                             ("isub", "variable -= value", "variable.assign_sub(value)` to modify the variable, or `out = variable * value"),
                             ("imul", "var *= value", "var.assign(var * value)` to modify the variable, or `out = var * value"),
                             ("idiv", "var /= value", "var.assign(var / value)` to modify the variable, or `out = var / value"),
                             ("itruediv", "var /= value", "var.assign(var / value)` to modify the variable, or `out = var / value"),
                             ("irealdiv", "var /= value", "var.assign(var / value)` to modify the variable, or `out = var / value"),
                             ("ipow", "var **= value", "var.assign(var ** value)` to modify the variable, or `out = var ** value")):
    setattr(tf.Variable, "__%s__" % _name, _refused(RuntimeError, "`%s` with `tf.Variable`s is not supported. Use `%s` if you need to get a new "
                                                    "output Tensor." % (_mark, _other)))
_EAGER = "This %s is not supported when eager execution is enabled."
tf.Variable.eval = _refused(RuntimeError, _EAGER % "operation")
tf.Variable.to_proto = _refused(RuntimeError, _EAGER % "operation")
tf.Variable.from_proto = staticmethod(_refused(NotImplementedError, ""))
tf.Variable.initialized_value = _refused(NotImplementedError, "")
tf.Variable.initial_value = property(_refused(RuntimeError, _EAGER % "property"))
tf.Variable.op = property(_refused(AttributeError, "Tensor.op is undefined when eager execution is enabled."))
tf.Variable.graph = property(_refused(AttributeError, "Tensor.graph is undefined when eager execution is enabled."))
tf.Variable._shared_name = property(lambda self: self.name.rpartition(":")[0])
tf.Variable.load = _load


# ---- keras.constraints

def _get_constraint(identifier):
    """The constraint that a name, a config or an object stands for; None stays."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        return _deserialize_constraint(identifier)
    if isinstance(identifier, str):
        return tf.keras.constraints._get(identifier)
    if callable(identifier):
        return identifier() if isinstance(identifier, type) else identifier
    raise ValueError("Could not interpret constraint function identifier: %s" % (identifier,))


def _deserialize_constraint(config, custom_objects=None, use_legacy_format=False):
    """The constraint that a config describes."""
    name = config["class_name"]
    made = (custom_objects or {}).get(name) or type(tf.keras.constraints._get(name))
    return made(**config.get("config", {}))


def _serialize_constraint(constraint, use_legacy_format=False):
    """What describes a constraint."""
    if not isinstance(constraint, tf.keras.constraints.Constraint):
        return getattr(constraint, "__name__", None)
    own = type(constraint).__module__.split(".")[0] != "thalweg"
    name, config = type(constraint).__name__, constraint.get_config()
    if use_legacy_format:
        return {"class_name": name, "config": config}
    return {"module": None if own else "keras.constraints", "class_name": name, "config": config, "registered_name": name if own else None}


tf.keras.constraints.get, tf.keras.constraints.serialize = _get_constraint, _serialize_constraint
tf.keras.constraints.deserialize = _deserialize_constraint


def _with_name_scope(cls, method):
    """A method that runs in the module's name scope."""
    @functools.wraps(method)
    def scoped(self, *args, **kwargs):
        with self.name_scope:
            return method(self, *args, **kwargs)
    return scoped


tf.Module.with_name_scope = classmethod(_with_name_scope)
