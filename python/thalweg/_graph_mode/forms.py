"""The forms that functions have in tf.compat.v1: old names of arguments (keep_dims, dimension, keep_prob …) and functions that are gone from tf."""
import thalweg as tf
from thalweg import _core

_v1 = tf.compat.v1


def _one_of(name, value, old_name, old):
    """The value of an argument that has two names."""
    if old is None:
        return value
    if value is not None:
        raise ValueError("Cannot specify both '%s' and '%s'." % (old_name, name))
    return old


def _reduction(name):
    inner = getattr(tf, name)

    def reduce(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
        axis = _one_of("axis", axis, "reduction_indices", reduction_indices)
        keepdims = _one_of("keepdims", keepdims, "keep_dims", keep_dims)
        return inner(input_tensor, axis, bool(keepdims), name=name)
    reduce.__name__, reduce.__doc__ = name, inner.__doc__
    return reduce


def _arg(name):
    inner = getattr(tf, name)

    def find(input, axis=None, name=None, dimension=None, output_type=tf.int64):
        axis = _one_of("axis", axis, "dimension", dimension)
        return inner(input, 0 if axis is None else axis, output_type, name=name)
    find.__name__, find.__doc__ = name, inner.__doc__
    return find


def expand_dims(input, axis=None, name=None, dim=None):
    """A dimension of size 1 at an axis."""
    axis = _one_of("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return tf.expand_dims(input, axis, name=name)


def squeeze(input, axis=None, name=None, squeeze_dims=None):
    """Without dimensions of size 1."""
    return tf.squeeze(input, _one_of("axis", axis, "squeeze_dims", squeeze_dims), name=name)


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None):
    """The norm of vectors or matrices."""
    return tf.norm(tensor, ord, axis, bool(_one_of("keepdims", keepdims, "keep_dims", keep_dims)), name=name)


def count_nonzero(input_tensor=None, axis=None, keepdims=None, dtype=tf.int64, name=None, reduction_indices=None, keep_dims=None, input=None):
    """How many elements are not zero."""
    tensor = _one_of("input", input, "input_tensor", input_tensor)
    axis = _one_of("axis", axis, "reduction_indices", reduction_indices)
    return tf.math.count_nonzero(tensor, axis, bool(_one_of("keepdims", keepdims, "keep_dims", keep_dims)), dtype, name=name)


def _cast(name, dtype):
    def cast(x, name=name):
        return tf.cast(x, dtype, name=name)
    cast.__name__, cast.__doc__ = name, "The tensor as %s." % dtype.name
    return cast


def div(x, y, name=None):
    """x / y; of integers, rounded towards minus infinity."""
    x = tf.convert_to_tensor(x)
    y = tf.convert_to_tensor(y, dtype=x.dtype)
    return tf.math.floordiv(x, y, name=name) if x.dtype.is_integer else tf.math.divide(x, y, name=name)


# ---- tf.nn ----

def _softmax(name):
    inner = getattr(tf.nn, name)

    def softmax(logits, axis=None, name=None, dim=None):
        axis = _one_of("axis", axis, "dim", dim)
        return inner(logits, -1 if axis is None else axis, name=name)
    softmax.__name__, softmax.__doc__ = name, inner.__doc__
    return softmax


def _by_name_only(name, sentinel, labels, logits):
    if sentinel is not None:
        raise ValueError("Only call `%s` with named arguments (labels=..., logits=..., ...). Received unnamed argument: %s" % (name, sentinel))
    if labels is None or logits is None:
        raise ValueError("Both `labels` and `logits` must be provided. Received: labels=%s and logits=%s" % (labels, logits))


def softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, dim=-1, name=None, axis=None):
    """The cross-entropy of distributions; labels are constants."""
    _by_name_only("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    labels = tf.stop_gradient(tf.convert_to_tensor(labels))
    return tf.nn.softmax_cross_entropy_with_logits(labels, logits, dim if axis is None else axis, name=name)


def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None):
    """The cross-entropy of distributions."""
    axis = _one_of("axis", axis, "dim", dim)
    return tf.nn.softmax_cross_entropy_with_logits(labels, logits, -1 if axis is None else axis, name=name)


def sparse_softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """The cross-entropy of distributions with classes given by number."""
    _by_name_only("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits, name=name)


def sigmoid_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """The cross-entropy of independent classes."""
    _by_name_only("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    return tf.nn.sigmoid_cross_entropy_with_logits(labels, logits, name=name)


def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """Elements set to zero at random, the others scaled up; each is kept with keep_prob."""
    if keep_prob is None and rate is None:
        raise ValueError("`rate` must be provided. Received: rate=None")
    if keep_prob is not None and rate is not None:
        raise ValueError("Cannot specify both 'rate' and 'keep_prob'.")
    rate = 1 - keep_prob if rate is None else rate
    if not _core.is_symbolic(rate):
        return tf.nn.dropout(x, rate=rate, noise_shape=noise_shape, seed=seed, name=name)
    with _v1.name_scope(name or "dropout"):  # a rate that is fed
        x = tf.convert_to_tensor(x)
        rate = tf.cast(rate, x.dtype)
        kept = tf.random.uniform(tf.shape(x) if noise_shape is None else noise_shape, seed=seed, dtype=x.dtype) >= rate
        out = tf.where(kept, x * (1.0 / (1.0 - rate)), tf.zeros([], x.dtype))
        out.set_shape(x.shape)
        return out


def conv2d(input, filter=None, strides=None, padding=None, use_cudnn_on_gpu=True, data_format="NHWC", dilations=(1, 1, 1, 1), name=None, filters=None):
    """A convolution over two dimensions."""
    del use_cudnn_on_gpu  # there is no GPU
    return tf.nn.conv2d(input, _one_of("filters", filters, "filter", filter), strides, padding, data_format or "NHWC", list(dilations), name=name)


def max_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """The maxima of windows."""
    return tf.nn.max_pool2d(_one_of("input", input, "value", value), ksize, strides, padding, data_format, name=name)


def avg_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """The means of windows."""
    return tf.nn.avg_pool2d(_one_of("input", input, "value", value), ksize, strides, padding, data_format, name=name)


def embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None):
    """The rows of a table that ids name."""
    del partition_strategy, validate_indices  # of tables in several parts; ids are always checked
    if max_norm is not None:
        raise NotImplementedError("embedding_lookup: max_norm is not supported")
    if isinstance(params, (list, tuple)):
        if len(params) != 1:
            raise NotImplementedError("embedding_lookup: a table in several parts is not supported")
        params = params[0]
    with _v1.name_scope(name or "embedding_lookup"):
        return tf.identity(tf.gather(params, ids))


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    """Mean and variance over axes."""
    del shift  # an old hint for the arithmetic
    return tf.nn.moments(x, axes, None, bool(_one_of("keepdims", keepdims, "keep_dims", keep_dims)), name=name)


def _module(name, fallback):
    """tf.compat.v1's module of that name; what it has not itself is tf's."""
    import sys
    own = _v1.__dict__.get(name)
    if own is None or own is fallback:
        own = type(sys)(_v1.__name__ + "." + name)
        setattr(_v1, name, own)
        sys.modules[own.__name__] = own
    if "__getattr__" not in own.__dict__:
        own.__getattr__ = lambda attribute: getattr(fallback, attribute)
    return own


def _put(places, name, value):
    for place in places:
        setattr(place, name, value)


def install():
    """Puts the forms into tf.compat.v1, tf.compat.v1.math and tf.compat.v1.nn."""
    math, nn = _module("math", tf.math), _module("nn", tf.nn)
    both = (_v1, math)
    for name in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_any", "reduce_all", "reduce_logsumexp"):
        if hasattr(tf, name):
            _put(both, name, _reduction(name))
    for name in ("argmax", "argmin"):
        _put(both, name, _arg(name))
        setattr(_v1, name.replace("arg", "arg_"), getattr(_v1, name))
    for function in (expand_dims, squeeze, norm, div):
        setattr(_v1, function.__name__, function)
    _put(both, "count_nonzero", count_nonzero)
    for name in ("softmax", "log_softmax"):
        _put((nn, math), name, _softmax(name))
    for function in (softmax_cross_entropy_with_logits, softmax_cross_entropy_with_logits_v2, sparse_softmax_cross_entropy_with_logits,
                     sigmoid_cross_entropy_with_logits, dropout, conv2d, max_pool, avg_pool, embedding_lookup, moments):
        setattr(nn, function.__name__, function)
    nn.max_pool_v2, nn.xw_plus_b = tf.nn.max_pool2d, lambda x, weights, biases, name=None: tf.nn.bias_add(tf.matmul(x, weights), biases, name=name)
    for name, dtype in (("to_float", tf.float32), ("to_double", tf.float64), ("to_int32", tf.int32), ("to_int64", tf.int64),
                        ("to_bfloat16", tf.bfloat16)):
        setattr(_v1, name, _cast("To" + name[3:].capitalize(), dtype))
    for old, module, new in (("log", tf.math, "log"), ("log1p", tf.math, "log1p"), ("log_sigmoid", tf.math, "log_sigmoid"),
                             ("floordiv", tf.math, "floordiv"), ("mod", tf.math, "floormod"), ("is_nan", tf.math, "is_nan"),
                             ("is_inf", tf.math, "is_inf"), ("is_finite", tf.math, "is_finite"), ("rsqrt", tf.math, "rsqrt"),
                             ("reciprocal", tf.math, "reciprocal"), ("erf", tf.math, "erf"), ("random_normal", tf.random, "normal"),
                             ("random_uniform", tf.random, "uniform"), ("truncated_normal", tf.random, "truncated_normal"),
                             ("random_shuffle", tf.random, "shuffle"), ("matrix_band_part", tf.linalg, "band_part"),
                             ("matrix_diag", tf.linalg, "diag"), ("matrix_diag_part", tf.linalg, "diag_part"),
                             ("read_file", tf.io, "read_file"), ("write_file", tf.io, "write_file"),
                             ("unsorted_segment_sum", tf.math, "unsorted_segment_sum"), ("segment_sum", tf.math, "segment_sum"),
                             ("top_k", tf.math, "top_k"), ("in_top_k", tf.math, "in_top_k"), ("squared_difference", tf.math, "squared_difference")):
        if hasattr(module, new) and old not in _v1.__dict__:
            setattr(_v1, old, getattr(module, new))
