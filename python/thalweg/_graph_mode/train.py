"""tf.compat.v1.train: optimizers' methods over pairs, the global step, Saver. Steps, files and nodes are C's (src/v1)."""
import os

import thalweg as tf
from thalweg import _core, _messages, _records
from thalweg._graph_mode import partitioned as _partitioned
from thalweg._graph_mode import variables as _variables

_v1 = tf.compat.v1
_train = _v1.train
_keys = _variables.GraphKeys


# ---- optimizers ----

def _compute_gradients(self, loss, var_list=None, gate_gradients=1, aggregation_method=None, colocate_gradients_with_ops=False, grad_loss=None):
    """Pairs of the gradient of a loss and the variable it belongs to; eagerly the loss is a function."""
    del aggregation_method, colocate_gradients_with_ops  # they change how TensorFlow computes it, not what
    if gate_gradients not in (0, 1, 2):
        raise ValueError("gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH.  Not %s" % gate_gradients)
    if callable(loss):
        with tf.GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
        if var_list is None:
            var_list = tape.watched_variables()
        return list(zip(tape.gradient(value, list(var_list), grad_loss), var_list))
    if _core.executing_eagerly():
        raise RuntimeError("`loss` passed to Optimizer.compute_gradients should be a function when eager execution is enabled.")
    if var_list is None:
        var_list = _v1.trainable_variables() + _variables.get_collection(_keys.TRAINABLE_RESOURCE_VARIABLES)
    var_list = tf.nest.flatten(var_list)
    if not var_list:
        raise ValueError("No variables to optimize.")
    return list(zip(tf.gradients(loss, var_list, grad_ys=grad_loss), var_list))


def _apply_gradients(self, grads_and_vars, global_step=None, name=None):
    """Changes each variable by its gradient; in a graph, the operation that does so."""
    pairs = tuple(grads_and_vars)
    if not pairs:
        raise ValueError("No variables provided.")
    gradients, variables = [], []
    for gradient, variable in pairs:
        if not isinstance(variable, tf.Variable):
            raise TypeError("Variable must be a tf.Variable: %s" % (variable,))
        if isinstance(gradient, tf.IndexedSlices):
            gradient = _train._wrap_slices(gradient)
        elif gradient is not None:
            gradient = tf.convert_to_tensor(gradient, dtype=variable.dtype)
        gradients.append(gradient)
        variables.append(variable)
    if all(gradient is None for gradient in gradients):
        raise ValueError("No gradients provided for any variable: %s." % ([str(v) for v in variables],))
    return self._apply_gradients(gradients, variables, global_step, name)


def _minimize(self, loss, global_step=None, var_list=None, gate_gradients=1, aggregation_method=None, colocate_gradients_with_ops=False, name=None,
              grad_loss=None):
    """compute_gradients and apply_gradients."""
    pairs = self.compute_gradients(loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss)
    if all(gradient is None for gradient, _ in pairs):
        raise ValueError("No gradients provided for any variable, check your graph for ops that do not support gradients, between variables %s "
                         "and loss %s." % ([str(v) for _, v in pairs], loss))
    return self.apply_gradients(pairs, global_step, name)


# ---- the global step ----

def global_step(sess, global_step_tensor):
    """The number of steps so far."""
    return int(global_step_tensor.numpy()) if _core.executing_eagerly() else int(sess.run(global_step_tensor))


def assert_global_step(global_step_tensor):
    """TypeError unless it is a scalar of integers."""
    if not global_step_tensor.dtype.is_integer:
        raise TypeError('Existing "global_step" does not have integer type: %s' % global_step_tensor.dtype)
    if global_step_tensor.shape.ndims not in (0, None):
        raise TypeError('Existing "global_step" is not scalar: %s' % global_step_tensor.shape)


# ---- learning rates ----

def _piecewise_constant(x, boundaries, values, name=None):
    """One value up to and with each boundary, the last behind them all."""
    x = tf.convert_to_tensor(x)
    values = [tf.convert_to_tensor(v) for v in values]
    if x.dtype.is_integer and any(isinstance(boundary, float) for boundary in boundaries):
        raise ValueError("Boundaries (%s) must have the same dtype as x (%s)." % (tf.float32, x.dtype))
    if any(v.dtype != values[0].dtype for v in values):
        raise ValueError("Values must have elements all with the same dtype (%s vs %s)." % (values[0].dtype, values[-1].dtype))
    return _train._piecewise_constant(x, [tf.convert_to_tensor(b, dtype=x.dtype) for b in boundaries], values, name=name)


def _decay(name):
    inner = _piecewise_constant if name == "piecewise_constant" else getattr(_train, "_" + name)

    def decay(*args, **kwargs):
        return (lambda: inner(*args, **kwargs)) if _core.executing_eagerly() else inner(*args, **kwargs)
    decay.__name__, decay.__doc__ = name, inner.__doc__
    return decay


def cosine_decay_restarts(learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
    """A cosine that begins again and again."""
    schedule = tf.keras.optimizers.schedules.CosineDecayRestarts(learning_rate, first_decay_steps, t_mul, m_mul, alpha, name)
    return (lambda: schedule(global_step)) if _core.executing_eagerly() else schedule(global_step)


# ---- Saver ----

def _op_name(variable):
    return variable.name[:-2] if variable.name.endswith(":0") else variable.name


def _parts(value):
    """The variables of what is saved under one name."""
    return list(value) if isinstance(value, (_partitioned.PartitionedVariable, list)) else [value]


def _named_variables(var_list):
    """Pairs of a name and a variable, of what a Saver is given. Parts of a variable have the name of the whole."""
    if not isinstance(var_list, (dict, list, tuple, set, frozenset)):
        raise TypeError("Variables to save should be passed in a dict or a list. Got %s" % (var_list,))
    named = {name: _parts(value) for name, value in var_list.items()} if isinstance(var_list, dict) else {}
    for variable in () if isinstance(var_list, dict) else [part for value in var_list for part in _parts(value)]:
        if not isinstance(variable, tf.Variable):
            raise TypeError("Variable to save is not a Variable: %s" % (variable,))
        part = _partitioned.slice_info(variable)
        name = _op_name(variable) if part is None else part.full_name
        if part is None and name in named:
            raise ValueError("At least two variables have the same name: %s" % name)
        named.setdefault(name, []).append(variable)
    seen = set()
    for name in sorted(named):
        if not isinstance(name, str):
            raise TypeError("names_to_saveables must be a dict mapping string names to variables. Name is not a string: %s" % (name,))
        if "\n" in name:
            raise ValueError("Saver: the name %r has a line end in it" % name)
        for variable in named[name]:
            if not isinstance(variable, tf.Variable):
                raise TypeError("Variable to save is not a Variable: %s" % (variable,))
            if id(variable) in seen:
                raise ValueError("The same saveable will be restored with two names: %s" % name)
            seen.add(id(variable))
    return [(name, variable) for name, variables in named.items() for variable in variables]


class Saver:
    """Saves variables under their names and restores them; keeps the newest checkpoints."""

    def __init__(self, var_list=None, reshape=False, sharded=False, max_to_keep=5, keep_checkpoint_every_n_hours=10000.0, name=None,
                 restore_sequentially=False, saver_def=None, builder=None, defer_build=False, allow_empty=False, write_version=2,
                 pad_step_number=False, save_relative_paths=False, filename=None):
        del restore_sequentially  # variables are restored one after the other anyway
        for given, what in ((reshape, "reshape"), (builder, "builder")):
            if given:
                raise NotImplementedError("Saver: %s is not supported" % what)
        if write_version != 2:
            raise NotImplementedError("Saver: only checkpoints of version 2 are written")
        if defer_build and var_list:
            raise ValueError("If `var_list` is provided then build cannot be deferred. Either set defer_build=False or var_list=None.")
        if _core.executing_eagerly() and var_list is None:
            raise RuntimeError("When eager execution is enabled, `var_list` must specify a list or dict of variables to save")
        self._var_list, self._allow_empty, self._pad = var_list, allow_empty, pad_step_number
        self._relative, self._name, self._filename = save_relative_paths, name, filename
        self._max_to_keep, self._hours, self._sharded, self._def = max_to_keep, keep_checkpoint_every_n_hours, bool(sharded), None
        if saver_def is not None:
            self._take_def(saver_def, name)
            return
        self._core, self._is_empty = None, False
        if not defer_build:
            self.build()

    def build(self):
        """Makes the nodes, where that was deferred."""
        if self._core is not None or self._is_empty:
            return
        var_list = self._var_list
        if var_list is None:
            var_list = _v1.global_variables() + _variables.get_collection(_keys.SAVEABLE_OBJECTS)
        if not var_list:
            if not self._allow_empty:
                raise ValueError("No variables to save")
            self._is_empty = True
            return
        named = _named_variables(var_list)
        self._core = _train._Saver("\n".join(name for name, _ in named), [variable for _, variable in named], max_to_keep=self._max_to_keep or 0,
                                   keep_checkpoint_every_n_hours=self._hours, name=self._name, filename=self._filename, sharded=self._sharded)

    def _take_def(self, saver_def, scope):
        """A Saver whose nodes are in the graph already."""
        made = _messages.SaverDef.FromString(saver_def.SerializeToString())
        for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
            if not getattr(made, field):
                raise ValueError("Saver: saver_def has no %s" % field)
            if scope:
                setattr(made, field, scope + "/" + getattr(made, field))
        self._def, self._max_to_keep, self._hours, self._sharded = made, made.max_to_keep, made.keep_checkpoint_every_n_hours, made.sharded
        self._is_empty = False
        self._core = _train._Saver("", [], max_to_keep=made.max_to_keep, keep_checkpoint_every_n_hours=made.keep_checkpoint_every_n_hours)

    def _run(self, sess, path, saves):
        """Writes or reads the files, by the nodes of saver_def or by those that were made here."""
        if self._def is None:
            (self._core._write if saves else self._core._read)(None if sess is None else sess._core, path)
        else:
            sess.run(self._def.save_tensor_name if saves else self._def.restore_op_name, {self._def.filename_tensor_name: path})

    def _built(self, what):
        if self._core is None and not self._is_empty:
            raise RuntimeError("`build()` should be called before %s if defer_build==True" % what)
        return self._core

    def save(self, sess, save_path, global_step=None, latest_filename=None, meta_graph_suffix="meta", write_meta_graph=True, write_state=True,
             strip_default_attrs=False, save_debug_info=False):
        """Writes the variables to files that begin with save_path, which it gives back, with the step behind it."""
        core = self._built("save")
        if strip_default_attrs or save_debug_info:
            raise NotImplementedError("Saver.save: strip_default_attrs and save_debug_info are not supported")
        latest = "checkpoint" if latest_filename is None else latest_filename
        if os.path.split(latest)[0]:
            raise ValueError("'latest_filename' must not contain path components")
        save_path = os.fspath(save_path)
        path = save_path
        if global_step is not None:
            if not isinstance(global_step, int):
                global_step = _train.global_step(sess, global_step)
            path = ("%s-%08d" if self._pad else "%s-%d") % (save_path, global_step)
        elif os.path.basename(save_path) == latest:
            raise ValueError("'latest_filename' collides with 'save_path': '%s' and '%s'" % (latest, save_path))
        eager = _core.executing_eagerly() and sess is None
        if not eager and not isinstance(sess, _v1.Session.__mro__[1]):
            raise TypeError("'sess' must be a Session; %s" % (sess,))
        if core is None:
            return None
        try:
            self._run(None if eager else sess, path, True)
        except (tf.errors.FailedPreconditionError, tf.errors.NotFoundError) as e:
            parent = os.path.dirname(save_path) or "."
            if not os.path.isdir(parent):
                raise ValueError("Parent directory of %s doesn't exist, can't save." % save_path) from e
            raise
        if write_state:
            core._record(path, latest, self._relative, meta_graph_suffix)
        if write_meta_graph and not eager:
            with open("%s.%s" % (path, meta_graph_suffix), "wb") as f:
                f.write(self._meta_graph(sess.graph).SerializeToString())
        return path

    def restore(self, sess, save_path):
        """Gives the variables the values in the files that begin with save_path."""
        core = self._built("restore")
        if core is None:
            return
        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        save_path = os.fspath(save_path)
        if not _train.checkpoint_exists(save_path):
            raise ValueError("The passed save_path is not a valid checkpoint: %s" % save_path)
        try:
            self._run(sess, save_path, False)
        except tf.errors.NotFoundError as e:
            raise tf.errors.NotFoundError(None, None, _mismatch("a Variable name or other graph key that is missing", e)) from e
        except tf.errors.InvalidArgumentError as e:
            raise tf.errors.InvalidArgumentError(None, None, _mismatch("a mismatch between the current graph and the graph", e)) from e

    @property
    def last_checkpoints(self):
        """The prefixes of the checkpoints that are kept, oldest first."""
        return list(self._core.last_checkpoints) if self._core is not None else []

    def set_last_checkpoints(self, last_checkpoints):
        """What counts as kept, their times being unknown."""
        self.set_last_checkpoints_with_time([(path, float("inf")) for path in last_checkpoints])

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        """What counts as kept: pairs of prefix and time."""
        assert isinstance(last_checkpoints_with_time, list)
        self._core._forget()
        for path, when in last_checkpoints_with_time:
            self._core._remember(path, when)

    def recover_last_checkpoints(self, checkpoint_paths):
        """Those of the checkpoints that are there count as kept."""
        there = [path for path in checkpoint_paths if _train.checkpoint_exists(path)]
        self.set_last_checkpoints_with_time(list(zip(there, _train.get_checkpoint_mtimes(there))))

    def as_saver_def(self):
        """The names of its nodes."""
        if self._def is not None:
            return self._def
        scope = self._core._scope if self._core is not None else None
        made = _messages.SaverDef(max_to_keep=self._max_to_keep or 0, keep_checkpoint_every_n_hours=float(self._hours), version=2, sharded=self._sharded)
        if scope:
            made.filename_tensor_name, made.save_tensor_name = scope + "/Const:0", scope + ("/Identity:0" if self._sharded else "/control_dependency:0")
            made.restore_op_name = scope + "/restore_all"
        return made

    saver_def = property(as_saver_def)
    to_proto = as_saver_def

    def _meta_graph(self, graph):
        return export_meta_graph(graph=graph, saver_def=self.saver_def)

    def export_meta_graph(self, filename=None, collection_list=None, as_text=False, export_scope=None, clear_devices=False, clear_extraneous_savers=False,
                          strip_default_attrs=False, save_debug_info=False):
        """The default graph as a MetaGraphDef, also into a file."""
        if collection_list is not None or as_text or export_scope or strip_default_attrs or save_debug_info:
            raise NotImplementedError("Saver.export_meta_graph: only the whole graph is written, as bytes")
        del clear_devices, clear_extraneous_savers
        return export_meta_graph(filename, saver_def=self.saver_def)


def _mismatch(what, error):
    return ("Restoring from checkpoint failed. This is most likely due to %s from the checkpoint. Please ensure that you have not altered the "
            "graph expected based on the checkpoint. Original error:\n\n%s" % (what, error))


def export_meta_graph(filename=None, graph=None, saver_def=None):
    """A graph with its variables as a MetaGraphDef, also into a file."""
    graph = graph or _v1.get_default_graph()
    meta = _messages.MetaGraphDef()
    meta.meta_info_def.tensorflow_version = tf.__version__
    meta.graph_def.CopyFrom(graph.as_graph_def(add_shapes=True))
    if saver_def is not None:
        meta.saver_def.CopyFrom(saver_def)
    for key in (_keys.GLOBAL_VARIABLES, _keys.TRAINABLE_VARIABLES, _keys.LOCAL_VARIABLES, _keys.GLOBAL_STEP):
        for variable in graph.get_collection(key):
            name = _op_name(variable)
            made = _messages.VariableDef(variable_name=variable.name, initializer_name=variable.initializer.name,
                                         snapshot_name=name + "/Read/ReadVariableOp:0", is_resource=True, trainable=variable.trainable,
                                         initial_value_name=variable._first_value.name)
            meta.collection_def[key].bytes_list.value.append(made.SerializeToString())
    if filename:
        with open(filename, "wb") as f:
            f.write(meta.SerializeToString())
    return meta


def get_checkpoint_mtimes(checkpoint_prefixes):
    """When the checkpoints were written, as far as they are there."""
    found = (next(filter(os.path.exists, (prefix + ".index", prefix)), None) for prefix in checkpoint_prefixes)
    return [os.path.getmtime(path) for path in found if path is not None]


def get_checkpoint_state(checkpoint_dir, latest_filename=None):
    """What a directory's state file says, paths joined to the directory; None if there is none."""
    found = _train._checkpoint_state(os.fspath(checkpoint_dir), latest_filename)
    if found is None:
        return None
    model, every, times, preserved = found
    return _messages.CheckpointState(model_checkpoint_path=model, all_model_checkpoint_paths=every, all_model_checkpoint_timestamps=times,
                                     last_preserved_timestamp=preserved)


def summary_iterator(path):
    """The Events of an event file."""
    for data in _records.records_of(path, None, True):
        yield _messages.Event.FromString(data)


def install():
    """Fills tf.compat.v1.train."""
    optimizer = _train.Optimizer
    optimizer.GATE_NONE, optimizer.GATE_OP, optimizer.GATE_GRAPH = 0, 1, 2
    optimizer.compute_gradients, optimizer.apply_gradients, optimizer.minimize = _compute_gradients, _apply_gradients, _minimize
    for name in ("exponential_decay", "piecewise_constant", "polynomial_decay", "natural_exp_decay", "inverse_time_decay", "cosine_decay",
                 "linear_cosine_decay"):
        setattr(_train, name, _decay(name))
    _train.piecewise_constant_decay = _train.piecewise_constant
    _train.SaverDef = _messages.SaverDef
    _v1.python_io = type(tf)(_v1.__name__ + ".python_io")
    for name in ("TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"):
        setattr(_v1.io, name, getattr(_records, name))
        setattr(_v1.python_io, name, getattr(_records, name))
    for name in tf._LATER[tf.train][0][1]:
        setattr(_train, name, getattr(_messages, name))
