"""Names that functions and classes have in tf.compat.v1 only, and forms whose arguments stood in another order."""
import collections

import numpy

import thalweg as tf
from thalweg import _core
from thalweg._graph_mode import scopes as _scopes

_v1 = tf.compat.v1

# What is only named otherwise: "old=where it is in tf". What tf has not, tf.compat.v1 has not either.
_RENAMED = """
angle=math.angle betainc=math.betainc ceil=math.ceil conj=math.conj cumprod=math.cumprod digamma=math.digamma div_no_nan=math.divide_no_nan
erfc=math.erfc expm1=math.expm1 floor_div=math.floordiv floormod=math.floormod igamma=math.igamma igammac=math.igammac imag=math.imag
invert_permutation=math.invert_permutation is_non_decreasing=math.is_non_decreasing is_strictly_increasing=math.is_strictly_increasing
lbeta=math.lbeta lgamma=math.lgamma lin_space=linspace logical_xor=math.logical_xor polygamma=math.polygamma real=math.real rint=math.rint
zeta=math.zeta accumulate_n=math.accumulate_n unsorted_segment_max=math.unsorted_segment_max unsorted_segment_mean=math.unsorted_segment_mean
unsorted_segment_min=math.unsorted_segment_min unsorted_segment_prod=math.unsorted_segment_prod segment_max=math.segment_max
segment_mean=math.segment_mean segment_min=math.segment_min segment_prod=math.segment_prod
unsorted_segment_sqrt_n=math.unsorted_segment_sqrt_n global_norm=linalg.global_norm trace=linalg.trace diag=linalg.tensor_diag
diag_part=linalg.tensor_diag_part matrix_inverse=linalg.inv matrix_determinant=linalg.det matrix_solve=linalg.solve cholesky=linalg.cholesky
matrix_triangular_solve=linalg.triangular_solve matrix_set_diag=linalg.set_diag qr=linalg.qr svd=linalg.svd cross=linalg.cross
cholesky_solve=linalg.cholesky_solve
self_adjoint_eig=linalg.eigh matrix_solve_ls=linalg.lstsq matrix_square_root=linalg.sqrtm log_matrix_determinant=linalg.logdet
check_numerics=debugging.check_numerics decode_base64=io.decode_base64 encode_base64=io.encode_base64 decode_compressed=io.decode_compressed
decode_json_example=io.decode_json_example parse_tensor=io.parse_tensor serialize_tensor=io.serialize_tensor matching_files=io.matching_files
FixedLenFeature=io.FixedLenFeature FixedLenSequenceFeature=io.FixedLenSequenceFeature VarLenFeature=io.VarLenFeature SparseFeature=io.SparseFeature
parse_single_sequence_example=io.parse_single_sequence_example depth_to_space=nn.depth_to_space
space_to_depth=nn.space_to_depth dynamic_partition=dynamic_partition random_crop=image.random_crop random_poisson=random.poisson
random_gamma=random.gamma unique_with_counts=unique_with_counts regex_replace=strings.regex_replace string_join=strings.join string_strip=strings.strip string_to_hash_bucket_fast=strings.to_hash_bucket_fast
string_to_hash_bucket=strings.to_hash_bucket string_to_hash_bucket_strong=strings.to_hash_bucket_strong as_string=strings.as_string
reverse_v2=reverse tensor_scatter_update=tensor_scatter_nd_update tensor_scatter_add=tensor_scatter_nd_add tensor_scatter_sub=tensor_scatter_nd_sub
where_v2=where edit_distance=edit_distance confusion_matrix=math.confusion_matrix bincount=math.bincount setdiff1d=sets.difference1d
fft=signal.fft ifft=signal.ifft fft2d=signal.fft2d ifft2d=signal.ifft2d fft3d=signal.fft3d ifft3d=signal.ifft3d
sparse_add=sparse.add sparse_reorder=sparse.reorder sparse_reset_shape=sparse.reset_shape sparse_slice=sparse.slice
sparse_softmax=sparse.softmax sparse_tensor_dense_matmul=sparse.sparse_dense_matmul sparse_tensor_to_dense=sparse.to_dense
sparse_to_indicator=sparse.to_indicator sparse_transpose=sparse.transpose sparse_reshape=sparse.reshape sparse_mask=sparse.mask
sparse_retain=sparse.retain sparse_maximum=sparse.maximum sparse_minimum=sparse.minimum sparse_fill_empty_rows=sparse.fill_empty_rows
orthogonal_initializer=keras.initializers.Orthogonal OpError=errors.OpError make_ndarray=make_ndarray make_tensor_proto=make_tensor_proto
nn.depth_to_space=nn.depth_to_space nn.atrous_conv2d=nn.atrous_conv2d nn.ctc_greedy_decoder=nn.ctc_greedy_decoder nn.lrn=nn.local_response_normalization
nn.max_pool_v2=nn.max_pool2d nn.avg_pool_v2=nn.avg_pool2d nn.convolution=nn.convolution nn.depthwise_conv2d_native=nn.depthwise_conv2d
initializers.orthogonal=keras.initializers.Orthogonal io.SparseFeature=io.SparseFeature dtypes.QUANTIZED_DTYPES=QUANTIZED_DTYPES
gfile.Copy=io.gfile.copy gfile.DeleteRecursively=io.gfile.rmtree gfile.Exists=io.gfile.exists gfile.FastGFile=io.gfile.GFile
gfile.GFile=io.gfile.GFile gfile.Open=io.gfile.GFile gfile.Glob=io.gfile.glob gfile.IsDirectory=io.gfile.isdir gfile.ListDirectory=io.gfile.listdir
gfile.MakeDirs=io.gfile.makedirs gfile.MkDir=io.gfile.mkdir gfile.Remove=io.gfile.remove gfile.Rename=io.gfile.rename gfile.Stat=io.gfile.stat
gfile.Walk=io.gfile.walk VERSION=version.VERSION GIT_VERSION=version.GIT_VERSION COMPILER_VERSION=version.COMPILER_VERSION
GRAPH_DEF_VERSION=version.GRAPH_DEF_VERSION GRAPH_DEF_VERSION_MIN_CONSUMER=version.GRAPH_DEF_VERSION_MIN_CONSUMER
GRAPH_DEF_VERSION_MIN_PRODUCER=version.GRAPH_DEF_VERSION_MIN_PRODUCER
log=math.log log1p=math.log1p log_sigmoid=math.log_sigmoid floordiv=math.floordiv mod=math.floormod is_nan=math.is_nan is_inf=math.is_inf
is_finite=math.is_finite rsqrt=math.rsqrt reciprocal=math.reciprocal erf=math.erf random_normal=random.normal random_uniform=random.uniform
truncated_normal=random.truncated_normal random_shuffle=random.shuffle matrix_band_part=linalg.band_part matrix_diag=linalg.diag
matrix_diag_part=linalg.diag_part read_file=io.read_file write_file=io.write_file unsorted_segment_sum=math.unsorted_segment_sum
segment_sum=math.segment_sum top_k=math.top_k in_top_k=math.in_top_k squared_difference=math.squared_difference assert_type=debugging.assert_type
assert_scalar=debugging.assert_scalar assert_proper_iterable=debugging.assert_proper_iterable
assert_same_float_dtype=debugging.assert_same_float_dtype
"""


def _find(path):
    value = tf
    for part in path.split("."):
        value = getattr(value, part, None)
        if value is None:
            return None
    return value


def _place(path):
    """The module of tf.compat.v1 that a name stands in, and the last part of the name."""
    import sys
    module, _, name = path.rpartition(".")
    if not module:
        return _v1, name
    own = _v1.__dict__.get(module)
    if own is None or own is getattr(tf, module, None):
        own = type(sys)(_v1.__name__ + "." + module)
        setattr(_v1, module, own)
        sys.modules[own.__name__] = own
    return own, name


SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


class AggregationMethod:
    """How gradients of one tensor are summed; all ways are one here."""
    ADD_N = DEFAULT = 0
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


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


def _scatter(kind):
    method = "scatter_" + kind

    def scatter(ref, indices, updates, use_locking=True, name=None):
        return getattr(ref, method)(tf.IndexedSlices(tf.convert_to_tensor(updates, ref.dtype), tf.convert_to_tensor(indices)), name=name)
    scatter.__name__, scatter.__doc__ = method, "Rows of a variable: %s." % kind
    return scatter


def _scatter_nd(kind):
    method = "scatter_nd_" + kind

    def scatter(ref, indices, updates, use_locking=True, name=None):
        return getattr(ref, method)(indices, updates, name=name)
    scatter.__name__, scatter.__doc__ = method, "Parts of a variable: %s." % kind
    return scatter


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


def get_seed(op_seed):
    """The two seeds of an operation that is given one seed."""
    graph = None if _core.executing_eagerly() else _v1.get_default_graph()
    seed = graph.seed if graph is not None else None
    if seed is None:
        return (None, None) if op_seed is None else (87654321, op_seed)
    return (seed, len(graph.get_operations()) if op_seed is None else op_seed)


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


_OWN = (AggregationMethod, Dimension, SparseTensorValue, dimension_value, dimension_at_index, sparse_placeholder, is_numeric_tensor, no_regularizer, make_template, op_scope,
        assert_variables_initialized, get_seed, colocate_with)


def install():
    """Puts the names into tf.compat.v1."""
    for pair in _RENAMED.split():
        old, new = pair.split("=")
        value = _find(new)
        if value is not None:
            module, name = _place(old)
            if name not in module.__dict__:
                setattr(module, name, value)
    for value in _OWN:
        setattr(_v1, value.__name__, value)
    for kind in ("update", "add", "sub", "mul", "div", "min", "max"):
        setattr(_v1, "scatter_" + kind, _scatter(kind))
    for kind in ("update", "add", "sub"):
        setattr(_v1, "scatter_nd_" + kind, _scatter_nd(kind))
    _v1.all_variables, _v1.initialize_variables = _v1.global_variables, _v1.variables_initializer
    _v1.FixedLengthRecordReader = _unsupported("FixedLengthRecordReader")
    for name in ("FIFOQueue", "RandomShuffleQueue", "PaddingFIFOQueue", "PriorityQueue", "TextLineReader", "TFRecordReader", "WholeFileReader",
                 "IdentityReader"):
        setattr(_v1, name, _unsupported(name))
    initializers, _ = _place("initializers.x")
    initializers.global_variables, initializers.local_variables = _v1.global_variables_initializer, _v1.local_variables_initializer
    initializers.tables_initializer, initializers.variables = _v1.tables_initializer, _v1.variables_initializer


def _unsupported(name):
    def make(*args, **kwargs):
        raise NotImplementedError("tf.compat.v1.%s: queues and readers are not supported; use tf.data" % name)
    make.__name__, make.__doc__ = name, "Not supported: use tf.data."
    return make
