"""Variables in parts: what get_variable gives with a partitioner. The parts are the library's (src/v1/partitioned.c)."""
import collections.abc
import functools

import thalweg as tf
from thalweg import _core
from thalweg._graph_mode import scopes as _scopes

_v1 = tf.compat.v1


class PartitionInfo:
    """What initializers are told of a part: the shape of the whole, and where the part begins."""

    def __init__(self, full_shape, var_offset):
        self.full_shape, self.var_offset = full_shape, var_offset

    @classmethod
    def now(cls):
        """Of the part whose first value is being made, or None."""
        text = _v1._partition_info()
        return None if text is None else cls(*_slice(text)[:2])

    def single_offset(self, shape):
        """Where the part begins along the axis that is cut."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]

    def single_slice_dim(self, shape):
        """The axis that is cut, or None."""
        axes = [i for i, (part, whole) in enumerate(zip(shape, self.full_shape)) if part != whole]
        if len(axes) > 1:
            raise ValueError("Cannot use single_slice_dim() with shape %s and full_shape %s since slice dim could be either dimension %s and %s." %
                             (shape, self.full_shape, axes[0], axes[1]))
        return axes[0] if axes else None


def _slice(text):
    """Of "8 4 0,2:0,4": the sizes of the whole, where the part begins, its sizes."""
    *sizes, extents = text.split()
    pairs = [extent.split(",") for extent in extents.split(":")]
    return [int(size) for size in sizes], [int(pair[0]) for pair in pairs], [int(pair[1]) for pair in pairs]


def slice_info(variable):
    """The SaveSliceInfo of a part, or None."""
    text = _v1._variable_slice(variable)
    if text is None:
        return None
    *words, name = text.split(" ", text.partition(",")[0].count(" ") + 1)
    return tf.Variable.SaveSliceInfo(name, *_slice(" ".join(words)))


class PartitionedVariable:
    """A variable whose parts along one axis are variables. Where a tensor is expected it is the parts one behind the other."""

    def __init__(self, name, shape, dtype, variable_list, partitions):
        if not isinstance(variable_list, (list, tuple)):
            raise TypeError("variable_list is not a list or tuple: %s" % (variable_list,))
        if not isinstance(partitions, (list, tuple)):
            raise TypeError("partitions is not a list or tuple: %s" % (partitions,))
        self._name, self._shape, self._dtype, self._partitions = name, tf.TensorShape(shape), tf.as_dtype(dtype), list(partitions)
        self._variable_list = list(variable_list)

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._dtype)
    shape = property(lambda self: self._shape)

    def get_shape(self):
        """The shape of the whole."""
        return self._shape

    def __iter__(self):
        return iter(self._variable_list)

    def __len__(self):
        return len(self._variable_list)

    def _get_variable_list(self):
        return self._variable_list

    def _get_partitions(self):
        return self._partitions

    def _axis(self):
        return next((i for i, count in enumerate(self._partitions) if count > 1), 0)

    def _concat(self):
        if len(self._variable_list) == 1:
            whole = self._variable_list[0]
        else:
            with _scopes.name_scope_of(self._name + "/ConcatPartitions/"):
                whole = tf.concat(self._variable_list, self._axis())
        with _scopes.name_scope_of(None):
            return tf.identity(whole, name=self._name)

    def as_tensor(self):
        """The parts one behind the other."""
        with tf.control_dependencies(None):
            return self._concat()

    def __tf_tensor__(self, dtype=None, name=None):
        if dtype is not None and tf.as_dtype(dtype) != self.dtype:
            raise ValueError("Incompatible type conversion requested to type '%s' for variable of type '%s'" % (tf.as_dtype(dtype).name, self.dtype.name))
        return self.as_tensor()

    def _assign(self, method, value, read_value):
        if isinstance(value, PartitionedVariable):
            value = list(value)
        elif not isinstance(value, list):
            value = tf.split(value, [part.shape[self._axis()] for part in self], axis=self._axis())
        made = [getattr(part, method)(piece) for part, piece in zip(self, value)]
        return made if read_value else [part.op for part in made]

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Gives each part its piece of the value."""
        return self._assign("assign", value, read_value)

    def assign_add(self, value, use_locking=False, name=None, read_value=True):
        """Adds to each part its piece of the value."""
        return self._assign("assign_add", value, read_value)

    def assign_sub(self, value, use_locking=False, name=None, read_value=True):
        """Subtracts from each part its piece of the value."""
        return self._assign("assign_sub", value, read_value)


# ---- making and sharing ----

def _partitions(partitioner, shape, dtype):
    if not shape.is_fully_defined():
        raise ValueError("Shape of a new partitioned variable must be fully defined, but instead was %s." % (shape,))
    if shape.rank < 1:
        raise ValueError("A partitioned Variable must have rank at least 1, shape: %s" % shape)
    parts = partitioner(shape=shape, dtype=dtype)
    if not isinstance(parts, collections.abc.Sequence):
        raise ValueError("Partitioner must return a sequence, but saw: %s" % (parts,))
    return parts


def _check_shared(name, found, shape, dtype, parts):
    if not shape.is_compatible_with(found.shape):
        raise ValueError("Trying to reuse partitioned variable %s, but specified shape %s and found shape %s." % (name, shape, found.shape))
    if dtype != found.dtype:
        raise ValueError("Trying to reuse partitioned variable %s, but specified dtype %s and found dtype %s." % (name, dtype.name, found.dtype.name))
    if parts is not None and list(parts) != found._get_partitions():
        raise ValueError("Trying to reuse partitioned variable %s, but specified partitions %s and found partitions %s." %
                         (name, parts, found._get_partitions()))


def known():
    """The partitioned variables of the default graph by their whole names; nothing is shared in eager execution."""
    return {} if _core.executing_eagerly() else _v1.get_default_graph().__dict__.setdefault("_partitioned_variables", {})


def get(name, shape, dtype, initializer, partitioner, reuse, make):
    """The variable of that name, made by make(shape, parts) or shared."""
    store = known()
    constant = _core.is_tensor(initializer)
    shape, dtype = tf.TensorShape(shape), initializer.dtype if constant else tf.as_dtype(dtype)
    if constant:
        shape = shape.merge_with(initializer.shape)
    parts = _partitions(partitioner, shape, dtype) if partitioner is not None else None
    found = store.get(name)
    if found is not None:
        if reuse is False:
            raise ValueError("Partitioned variable with name %s already exists. Did you mean to set reuse=True or reuse=tf.AUTO_REUSE in VarScope?" % name)
        _check_shared(name, found, shape, dtype, parts)
        return found
    if reuse is True:
        raise ValueError("PartitionedVariable %s does not exist, or was not created with tf.get_variable(). Did you mean to set reuse=False or "
                         "reuse=tf.AUTO_REUSE in VarScope?" % name)
    store[name] = made = PartitionedVariable(name, shape, dtype, make(shape, parts), list(parts))
    return made


def create_partitioned_variables(shape, slicing, initializer, dtype=tf.float32, trainable=True, collections=None, name=None, reuse=None):
    """A list of the parts of a variable, cut as `slicing` says."""
    if len(shape) != len(slicing):
        raise ValueError("The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: %s, slicing: %s" % (shape, slicing))
    if len(shape) < 1:
        raise ValueError("A partitioned Variable must have rank at least 1: shape: %s" % (shape,))
    from thalweg._graph_mode import variables
    with _v1.variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        return list(variables._create(scope.name, shape, dtype, initializer, reuse=scope.reuse, trainable=trainable, collections=collections,
                                      partitioner=lambda **unused: slicing))


def _in_parts(function):
    """A function of a table: a partitioned variable is the list of its parts."""
    @functools.wraps(function)
    def call(params, *args, **kwargs):
        return function(list(params) if isinstance(params, PartitionedVariable) else params, *args, **kwargs)
    return call


def install():
    """Puts everything into tf."""
    for module in (tf.nn, _v1.nn):
        for name in ("embedding_lookup", "embedding_lookup_sparse", "safe_embedding_lookup_sparse"):
            setattr(module, name, _in_parts(getattr(module, name)))
    _v1.create_partitioned_variables = create_partitioned_variables
