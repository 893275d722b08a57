"""IndexedSlices, what of variables and tf.Module wants a Python class or function."""
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


def _wraps(inner):
    """As functools.wraps, which is not loaded for this, but without the text: an import reads no texts of rows."""
    def wrapped(function):
        function.__module__, function.__name__, function.__qualname__, function.__wrapped__ = inner.__module__, inner.__name__, inner.__qualname__, inner
        return function
    return wrapped


def _clip_by_norm(inner):
    @_wraps(inner)
    def clip_by_norm(t, clip_norm, axes=None, name=None):
        """Scales a tensor down where its norm is too great.

        Args:
          t: A tensor or `tf.IndexedSlices`.
          clip_norm: The greatest norm that the result may have.
          axes: The dimensions whose elements make a norm together; None: all of them.
          name: A name for the operation.

        Returns:
          What `t` is, of the same shape and dtype.
        """
        clipped = inner(_rows(t), clip_norm, axes, name)
        return IndexedSlices(clipped, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else clipped
    return clip_by_norm


def _global_norm(inner):
    @_wraps(inner)
    def global_norm(t_list, name=None):
        """The norm of several tensors as if they were one vector.

        Args:
          t_list: Tensors and `tf.IndexedSlices`; None among them does not count.
          name: A name for the operation.

        Returns:
          A scalar tensor.
        """
        return inner([_rows(t) for t in t_list if t is not None], name)
    return global_norm


def _clip_by_global_norm(inner):
    @_wraps(inner)
    def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
        """Scales several tensors down by the same factor where the norm of all of them together is too great.

        Args:
          t_list: Tensors and `tf.IndexedSlices`; None among them stays None.
          clip_norm: The greatest norm that they may have together.
          use_norm: Their norm, if it is known; None: it is computed.
          name: A name for the operation.

        Returns:
          A list of what was given, scaled, and the norm before.
        """
        given = list(t_list)
        clipped, norm = inner([_rows(t) for t in given if t is not None], clip_norm, use_norm, name)
        rest = iter(clipped)
        out = [None if t is None else next(rest) for t in given]
        return [IndexedSlices(c, t.indices, t.dense_shape) if isinstance(t, IndexedSlices) else c for c, t in zip(out, given)], norm
    return clip_by_global_norm


tf.clip_by_norm = _clip_by_norm(tf.clip_by_norm)
tf.clip_by_global_norm = _clip_by_global_norm(tf.clip_by_global_norm)
tf.linalg.global_norm = _global_norm(tf.linalg.global_norm)


def _scatter(name, inner):
    def method(self, sparse_delta, use_locking=False, name=None):
        """Changes the rows that `tf.IndexedSlices` name by its values.

        Args:
          sparse_delta: A `tf.IndexedSlices`: which rows, and what changes them.
          use_locking: Kept for old programs; updates are always atomic.
          name: A name for the operation.

        Returns:
          The variable.
        """
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError("Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: %s" % (sparse_delta,))
        return inner(self, sparse_delta.indices, sparse_delta.values)
    method.__name__ = name
    setattr(tf.Variable, name, method)


for _name in ("update", "add", "sub", "mul", "div", "min", "max"):
    _scatter("scatter_" + _name, getattr(tf.Variable, "_scatter_" + _name))
_scatter("batch_scatter_update", tf.Variable._scatter_batch)


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
tf.Variable._unique_id = property(lambda self: "%s_%d" % (self._shared_name, id(self)))
tf.Variable.load = _load


def _as_graph_element(self):
    """What a session takes for the variable; None outside of graphs."""
    value = self.__dict__.get("_assigned_value")
    return self._snapshot if value is None else value


tf.Variable._as_graph_element = _as_graph_element


class SaveSliceInfo:
    """Which part of which tensor a variable is in a checkpoint."""

    def __init__(self, full_name=None, full_shape=None, var_offset=None, var_shape=None):
        self.full_name, self.full_shape, self.var_offset, self.var_shape = full_name, full_shape, var_offset, var_shape

    @property
    def spec(self):
        """As in a checkpoint: "8 4 0,2:0,4"."""
        return "%s %s" % (" ".join(map(str, self.full_shape)), ":".join("%d,%d" % pair for pair in zip(self.var_offset, self.var_shape)))


def _get_save_slice_info(self):
    """The SaveSliceInfo of a part of a variable, or None."""
    from thalweg._graph_mode import partitioned
    return partitioned.slice_info(self)


tf.Variable.SaveSliceInfo, tf.Variable._get_save_slice_info = SaveSliceInfo, _get_save_slice_info


def _with_name_scope(cls, method):
    """A method that runs in the module's name scope."""
    import functools

    @functools.wraps(method)
    def scoped(self, *args, **kwargs):
        with self.name_scope:
            return method(self, *args, **kwargs)
    return scoped


def _track_trackable(self, trackable, name, overwrite=False):
    """Makes an object a child of that name, for checkpoints."""
    known = self.__dict__.get(name)
    if known is not trackable:
        if known is not None and not overwrite:
            raise ValueError("Called Trackable._track_trackable() with name='%s', but a Trackable with this name is already declared as a dependency. "
                             "Names must be unique (or overwrite=True)." % name)
        setattr(self, name, trackable)
    return trackable


tf.Module.with_name_scope = classmethod(_with_name_scope)
tf.Module._track_trackable = _track_trackable
tf.Module._name_scope = property(lambda self: self.name_scope)
tf.Module._TF_MODULE_IGNORED_PROPERTIES = frozenset(("_self_unconditional_checkpoint_dependencies", "_self_unconditional_dependency_names"))
