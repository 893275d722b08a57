"""tf.keras.backend: Keras's names for functions of the library, with Keras's defaults. Loaded when one of them is first asked for."""
import numpy

import thalweg as tf
from thalweg import _core

_math, _nn, _random = tf.math, tf.nn, tf.random


def _reduction(function):
    def reduce(x, axis=None, keepdims=False):
        return function(x, axis=axis, keepdims=keepdims)
    reduce.__doc__ = function.__doc__
    return reduce


def _counted(function):
    """Of booleans or numbers: means and the like are of floats."""
    def reduce(x, axis=None, keepdims=False):
        x = tf.convert_to_tensor(x)
        return function(tf.cast(x, tf.float32) if x.dtype == tf.bool else x, axis=axis, keepdims=keepdims)
    reduce.__doc__ = function.__doc__
    return reduce


def concatenate(tensors, axis=-1):
    """Tensors joined along an axis."""
    return tf.concat(tensors, axis)


def expand_dims(x, axis=-1):
    """A new axis of size 1."""
    return tf.expand_dims(x, axis)


def dot(x, y):
    """The product over the last axis of x and the one before the last of y."""
    if len(y.shape) <= 2 and len(x.shape) <= 2:
        return tf.matmul(x, y)
    return tf.tensordot(x, y, [[len(x.shape) - 1], [max(len(y.shape) - 2, 0)]])


def clip(x, min_value, max_value):
    """Values kept between two limits."""
    if min_value is not None and max_value is not None and max_value < min_value:
        max_value = min_value
    low = float("-inf") if min_value is None else min_value
    high = float("inf") if max_value is None else max_value
    return tf.clip_by_value(x, low, high)


def batch_flatten(x):
    """All axes but the first become one."""
    return tf.reshape(x, [-1, tf.reduce_prod(tf.shape(x)[1:])])


def flatten(x):
    """All elements in a row."""
    return tf.reshape(x, [-1])


def permute_dimensions(x, pattern):
    """The axes in another order."""
    return tf.transpose(x, pattern)


def repeat(x, n):
    """[batch, features] n times: [batch, n, features]."""
    return tf.tile(tf.expand_dims(x, 1), [1, n, 1])


def repeat_elements(x, rep, axis):
    """Every element along an axis several times."""
    return tf.repeat(x, rep, axis=axis)


def temporal_padding(x, padding=(1, 1)):
    """Zeros before and after sequences."""
    return tf.pad(x, [[0, 0], list(padding), [0, 0]])


def spatial_2d_padding(x, padding=((1, 1), (1, 1)), data_format=None):
    """Zeros around images."""
    edges = [list(padding[0]), list(padding[1])]
    return tf.pad(x, [[0, 0], [0, 0]] + edges if data_format == "channels_first" else [[0, 0]] + edges + [[0, 0]])


def one_hot(indices, num_classes):
    """1 at the index, 0 elsewhere."""
    return tf.one_hot(indices, num_classes, axis=-1)


def cast_to_floatx(x):
    """As float32: tensors stay tensors, anything else becomes an array."""
    if tf.is_tensor(x):
        return tf.cast(x, tf.float32)
    import numpy
    return numpy.asarray(x, dtype="float32")


def int_shape(x):
    """The shape as a tuple."""
    return tuple(x.shape.as_list()) if x.shape.rank is not None else None


def constant(value, dtype=None, shape=None, name=None):
    """A constant, float32 unless said otherwise."""
    return tf.constant(value, dtype=dtype or "float32", shape=shape, name=name or "Const")


def variable(value, dtype=None, name=None, constraint=None):
    """A variable, float32 unless said otherwise."""
    return tf.Variable(value, dtype=dtype or "float32", name=name, constraint=constraint)


def ones(shape, dtype=None, name=None):
    """Ones."""
    return tf.ones(shape, dtype or "float32")


def zeros(shape, dtype=None, name=None):
    """Zeros."""
    return tf.zeros(shape, dtype or "float32")


def eye(size, dtype=None, name=None):
    """The identity matrix."""
    return tf.eye(size, dtype=dtype or "float32")


def relu(x, alpha=0.0, max_value=None, threshold=0.0):
    """tf.keras.activations.relu."""
    return tf.keras.activations.relu(x, alpha=alpha, max_value=max_value, threshold=threshold)


def softmax(x, axis=-1):
    """exp(x) / sum(exp(x)) along an axis."""
    return _nn.softmax(x, axis=axis)


def l2_normalize(x, axis=None):
    """Length 1 along an axis."""
    return _math.l2_normalize(x, axis=axis)


def bias_add(x, bias, data_format=None):
    """A bias of the channels added."""
    return _nn.bias_add(x, bias, data_format={"channels_first": "NCHW"}.get(data_format, "NHWC"))


def _seed(seed):
    """The seed, or one that Keras draws from NumPy's generator."""
    return numpy.random.randint(10**7) if seed is None else seed


def dropout(x, level, noise_shape=None, seed=None):
    """Elements become 0 with the probability `level`, the others larger."""
    return _nn.dropout(x, rate=level, noise_shape=noise_shape, seed=_seed(seed))


def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal values."""
    return _random.normal(shape, mean=mean, stddev=stddev, dtype=dtype or tf.float32, seed=_seed(seed))


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Values from an interval."""
    return _random.uniform(shape, minval=minval, maxval=maxval, dtype=dtype or tf.float32, seed=_seed(seed))


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal values not further than two deviations from the mean."""
    return _random.truncated_normal(shape, mean=mean, stddev=stddev, dtype=dtype or tf.float32, seed=_seed(seed))


def update(x, new_x):
    """Sets a variable."""
    return x.assign(new_x)


def update_add(x, increment):
    """Adds to a variable."""
    return x.assign_add(increment)


def update_sub(x, decrement):
    """Subtracts from a variable."""
    return x.assign_sub(decrement)


def count_params(x):
    """The number of elements."""
    return x.shape.num_elements()


def binary_crossentropy(target, output, from_logits=False):
    """The cross-entropy of probabilities (or logits), element by element."""
    if from_logits:
        return _nn.sigmoid_cross_entropy_with_logits(labels=target, logits=output)
    small = tf.keras.backend.epsilon()
    output = tf.clip_by_value(output, small, 1.0 - small)
    return -(target * _math.log(output + small) + (1 - target) * _math.log(1 - output + small))


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """tf.keras.losses.categorical_crossentropy."""
    return tf.keras.losses.categorical_crossentropy(target, output, from_logits=from_logits, axis=axis)


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """tf.keras.losses.sparse_categorical_crossentropy."""
    return tf.keras.losses.sparse_categorical_crossentropy(target, output, from_logits=from_logits, axis=axis)


def in_train_phase(x, alt, training=None):
    """x while training, else the alternative; either may be a function. Not told, it is as the layer that is being called."""
    if training is None:
        training = _core._current_training()
    if training is None:
        training = tf.keras.backend.learning_phase()
    if tf.is_tensor(training):
        first, second = (v if callable(v) else lambda v=v: v for v in (x, alt))
        return tf.cond(tf.cast(training, tf.bool), first, second)
    chosen = x if training else alt
    return chosen() if callable(chosen) else chosen


def in_test_phase(x, alt, training=None):
    """x while not training, else the alternative."""
    return in_train_phase(alt, x, training=training)


BACKEND = {name: value for name, value in list(globals().items()) if callable(value) and not name.startswith("_")}
BACKEND.update({
    "abs": tf.abs, "exp": tf.exp, "log": _math.log, "sqrt": tf.sqrt, "square": tf.square, "sin": tf.sin, "cos": tf.cos, "sign": tf.sign,
    "round": tf.round, "pow": tf.pow, "maximum": tf.maximum, "minimum": tf.minimum, "equal": tf.equal, "not_equal": tf.not_equal,
    "greater": tf.greater, "greater_equal": tf.greater_equal, "less": tf.less, "less_equal": tf.less_equal,
    "sum": _reduction(tf.reduce_sum), "max": _reduction(tf.reduce_max), "min": _reduction(tf.reduce_min), "prod": _reduction(tf.reduce_prod),
    "mean": _counted(tf.reduce_mean), "std": _counted(_math.reduce_std), "var": _counted(_math.reduce_variance),
    "any": lambda x, axis=None, keepdims=False: tf.reduce_any(tf.cast(x, tf.bool), axis=axis, keepdims=keepdims),
    "all": lambda x, axis=None, keepdims=False: tf.reduce_all(tf.cast(x, tf.bool), axis=axis, keepdims=keepdims),
    "argmax": lambda x, axis=-1: tf.argmax(x, axis), "argmin": lambda x, axis=-1: tf.argmin(x, axis),
    "cumsum": lambda x, axis=0: tf.cumsum(x, axis=axis), "cumprod": lambda x, axis=0: _math.cumprod(x, axis=axis),
    "cast": tf.cast, "reshape": tf.reshape, "transpose": tf.transpose, "squeeze": lambda x, axis: tf.squeeze(x, [axis]),
    "stack": lambda x, axis=0: tf.stack(x, axis=axis), "tile": tf.tile, "gather": tf.gather, "reverse": tf.reverse,
    "zeros_like": lambda x, dtype=None, name=None: tf.zeros_like(x, dtype=dtype),
    "ones_like": lambda x, dtype=None, name=None: tf.ones_like(x, dtype=dtype), "stop_gradient": tf.stop_gradient,
    "sigmoid": _nn.sigmoid, "tanh": _nn.tanh, "softplus": _nn.softplus, "softsign": _nn.softsign, "elu": tf.keras.activations.elu,
    "hard_sigmoid": tf.keras.activations.hard_sigmoid, "shape": tf.shape, "ndim": lambda x: x.shape.rank, "dtype": lambda x: x.dtype.name,
    "eval": lambda x: x.numpy(), "name_scope": tf.name_scope, "arange": lambda start, stop=None, step=1, dtype="int32": tf.cast(
        tf.range(start, stop, step) if stop is not None else tf.range(0, start, step), dtype),
    "batch_get_value": lambda tensors: [x.numpy() for x in tensors], "is_sparse": lambda x: isinstance(x, tf.SparseTensor),
    "batch_set_value": lambda pairs: [x.assign(value) for x, value in pairs] and None,
    "to_dense": lambda x: tf.sparse.to_dense(x) if isinstance(x, tf.SparseTensor) else x, "map_fn": tf.map_fn,
})
