"""Names that functions and classes have in tf.compat.v1 only, and forms whose arguments stood in another order."""
import collections
import functools

import numpy

import thalweg as tf
from thalweg import _core
from thalweg._graph_mode import scopes as _scopes

_v1 = tf.compat.v1

# What is only named otherwise and no row: "old=where it is in tf".
_RENAMED = """
manip.gather_nd=gather_nd manip.reshape=reshape manip.reverse=reverse manip.roll=roll manip.scatter_nd=scatter_nd manip.tile=tile
manip.space_to_batch_nd=space_to_batch manip.batch_to_space_nd=batch_to_space train.NewCheckpointReader=train.load_checkpoint
FixedLenFeature=io.FixedLenFeature FixedLenSequenceFeature=io.FixedLenSequenceFeature VarLenFeature=io.VarLenFeature SparseFeature=io.SparseFeature
parse_single_sequence_example=io.parse_single_sequence_example orthogonal_initializer=keras.initializers.Orthogonal OpError=errors.OpError AggregationMethod=AggregationMethod
make_ndarray=make_ndarray make_tensor_proto=make_tensor_proto initializers.orthogonal=keras.initializers.Orthogonal io.SparseFeature=io.SparseFeature
gfile.FastGFile=io.gfile.GFile gfile.GFile=io.gfile.GFile gfile.Open=io.gfile.GFile gfile.Walk=io.gfile.walk VERSION=version.VERSION
assert_proper_iterable=debugging.assert_proper_iterable sets.set_difference=sets.difference sets.set_union=sets.union sets.set_size=sets.size
sets.set_intersection=sets.intersection sparse.matmul=sparse.sparse_dense_matmul linalg.transpose=linalg.matrix_transpose
io.QueueBase=queue.QueueBase io.PaddingFIFOQueue=queue.PaddingFIFOQueue io.PriorityQueue=queue.PriorityQueue io.RandomShuffleQueue=queue.RandomShuffleQueue
"""


SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


class Dimension(int):
    """A known dimension of a shape."""
    value = property(int)

    def __new__(cls, value):
        return super().__new__(cls, value)


def dimension_value(dimension):
    """The number of a dimension, or None."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape, index):
    """A dimension of a shape."""
    return None if shape.rank is None else shape[index]


def setdiff1d(x, y, index_dtype=tf.int32, name=None):
    """The elements of x that are not in y, and where they stand."""
    return tf.raw_ops.ListDiff(x=x, y=y, out_idx=index_dtype, name=name)


def batch_gather(params, indices, name=None):
    """Elements of params by indices of their rows: all dimensions of the indices but the last are those of batches."""
    indices = tf.convert_to_tensor(indices)
    if indices.shape.rank is None:
        raise ValueError("batch_gather does not allow indices with unknown shape.")
    return tf.gather(params, indices, batch_dims=indices.shape.rank - 1, axis=indices.shape.rank - 1, name=name)


def control_flow_v2_enabled():
    """Whether conditions and loops are functions: always."""
    return True


def _one_name(new, old, name, old_name):
    if new is not None and old is not None:
        raise ValueError("Cannot specify both '%s' and '%s'." % (old_name, name))
    return old if new is None else new


def _sparse_reduction(inner):
    def reduce(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
        return inner(sp_input, axis=_one_name(axis, reduction_axes, "axis", "reduction_axes"),
                     keepdims=bool(_one_name(keepdims, keep_dims, "keepdims", "keep_dims")), output_is_sparse=True)
    reduce.__name__, reduce.__doc__ = inner.__name__ + "_sparse", inner.__doc__
    return reduce


def sparse_placeholder(dtype, shape=None, name=None):
    """A SparseTensor whose parts are fed, with a SparseTensorValue or a tuple."""
    rank = None if shape is None else (shape.get_shape().as_list()[0] if _core.is_tensor(shape) else tf.TensorShape(shape).rank)
    known = shape is not None and not _core.is_tensor(shape) and tf.TensorShape(shape).is_fully_defined()
    prefix = name + "/" if name else ""
    values = _v1.placeholder(dtype, [None], name=prefix + "values" if name else None)
    indices = _v1.placeholder(tf.int64, [None, rank], name=prefix + "indices" if name else None)
    if known:
        dense = _v1.placeholder_with_default(numpy.array(tf.TensorShape(shape).as_list(), numpy.int64), [rank], name=prefix + "shape" if name else None)
    else:
        dense = _v1.placeholder(tf.int64, [rank], name=prefix + "shape" if name else None)
    return tf.SparseTensor(indices, values, dense)


def _scatter(method, doc, given):
    def scatter(ref, indices, updates, use_locking=True, name=None):
        return getattr(ref, method)(*given(ref, indices, updates), name=name)
    scatter.__name__, scatter.__doc__ = method, doc
    setattr(_v1, method, scatter)


def is_numeric_tensor(tensor):
    """Whether it is a tensor of numbers."""
    return _core.is_tensor(tensor) and (tensor.dtype.is_floating or tensor.dtype.is_integer or tensor.dtype.is_complex)


def no_regularizer(_):
    """No loss: for get_variable in a scope with a regularizer."""
    return None


def make_template(name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None, **kwargs):
    """A function whose variables are made by its first call and shared by the others."""
    state = {}
    if create_scope_now_:
        with _v1.variable_scope(unique_name_, name_, custom_getter=custom_getter_) as scope:
            state["scope"] = scope

    def template(*args, **more):
        merged = dict(kwargs, **more)
        if "scope" in state:
            with _v1.variable_scope(state["scope"], reuse=state.get("called", False)):
                state["called"] = True
                return func_(*args, **merged)
        with _v1.variable_scope(unique_name_, name_, custom_getter=custom_getter_) as scope:
            state["scope"], state["called"] = scope, True
            return func_(*args, **merged)
    template.__name__ = name_
    return template


def op_scope(values, name, default_name=None):
    """name_scope with its arguments in another order."""
    return _scopes.name_scope(name, default_name, values)


def assert_variables_initialized(var_list=None):
    """An operation that fails unless the variables have values."""
    variables = _v1.global_variables() + _v1.local_variables() if var_list is None else var_list
    return tf.stack([tf.reduce_all(tf.equal(v, v)) for v in variables]) if variables else None


class colocate_with:
    """with colocate_with(operation): operations made inside say that they belong to that one."""

    def __init__(self, op, ignore_existing=False):
        op = getattr(op, "op", op)
        self._operation = op if isinstance(op, tf.Operation) else None

    def __enter__(self):
        if self._operation is not None:
            _v1._push_colocation(self._operation)

    def __exit__(self, *exception):
        if self._operation is not None:
            _v1._pop_colocation()


def install():
    """Puts the names into tf.compat.v1."""
    for pair in _RENAMED.split():
        old, new = pair.split("=")
        module, _, name = old.rpartition(".")
        setattr(tf._module(module, _v1) if module else _v1, name, functools.reduce(getattr, new.split("."), tf))
    for kind in ("update", "add", "sub", "mul", "div", "min", "max"):
        _scatter("scatter_" + kind, "Rows of a variable: %s." % kind, lambda ref, indices, updates: [
            tf.IndexedSlices(tf.convert_to_tensor(updates, ref.dtype), tf.convert_to_tensor(indices))])
    for kind in ("update", "add", "sub"):
        _scatter("scatter_nd_" + kind, "Parts of a variable: %s." % kind, lambda ref, indices, updates: [indices, updates])
    _v1.all_variables, _v1.initialize_variables = _v1.global_variables, _v1.variables_initializer
    for name in ("reduce_sum", "reduce_max"):
        made = _sparse_reduction(getattr(tf.sparse, name))
        setattr(_v1.sparse, name + "_sparse", made)
        setattr(_v1, "sparse_" + name + "_sparse", made)
    for name in ("QueueBase", "FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue"):
        setattr(_v1, name, getattr(tf.queue, name))
    tf._module("initializers", _v1, global_variables=_v1.global_variables_initializer, local_variables=_v1.local_variables_initializer,
               tables_initializer=_v1.tables_initializer, variables=_v1.variables_initializer)
