"""tf.keras.backend: Keras's names for functions of the library, with Keras's defaults. Loaded when one of them is first asked for."""
import numpy

import thalweg as tf
from thalweg import _core

_math, _nn, _random, _keras = tf.math, tf.nn, tf.random, tf.keras


def _counted(x):
    """Of booleans or numbers: means and the like are of floats."""
    x = tf.convert_to_tensor(x)
    return tf.cast(x, _keras.backend.floatx()) if x.dtype == tf.bool else x


def dot(x, y):
    """The product over the last axis of x and the one before the last of y."""
    if len(y.shape) <= 2 and len(x.shape) <= 2:
        return tf.matmul(x, y)
    return tf.tensordot(x, y, [[len(x.shape) - 1], [max(len(y.shape) - 2, 0)]])


def clip(x, min_value, max_value):
    """Values kept between two limits."""
    if min_value is not None and max_value is not None and max_value < min_value:
        max_value = min_value
    return tf.clip_by_value(x, float("-inf") if min_value is None else min_value, float("inf") if max_value is None else max_value)


def _around(x, padding, data_format):
    """Zeros around the places of images or volumes."""
    if data_format not in (None, "channels_first", "channels_last"):
        raise ValueError("Unknown data_format: %s" % (data_format,))
    edges = [list(pair) for pair in padding]
    return tf.pad(x, [[0, 0], [0, 0]] + edges if data_format == "channels_first" else [[0, 0]] + edges + [[0, 0]])


def cast_to_floatx(x):
    """As the dtype of `floatx`: tensors stay tensors, anything else becomes an array."""
    return tf.cast(x, _keras.backend.floatx()) if tf.is_tensor(x) else numpy.asarray(x, dtype=_keras.backend.floatx())


def _seed(seed):
    """The seed, or one that Keras draws from NumPy's generator."""
    return numpy.random.randint(10**7) if seed is None else seed


def in_train_phase(x, alt, training=None):
    """x while training, else the alternative; either may be a function. Not told, it is as the layer that is being called."""
    if training is None:
        training = _core._current_training()
    if training is None:
        training = _keras.backend.learning_phase()
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
    "round": tf.round, "maximum": tf.maximum, "minimum": tf.minimum, "equal": tf.equal, "not_equal": tf.not_equal,
    "greater": tf.greater, "greater_equal": tf.greater_equal, "less": tf.less, "less_equal": tf.less_equal, "cast": tf.cast,
    "map_fn": lambda fn, elems, name=None, dtype=None: tf.map_fn(fn, elems, dtype=dtype, name=name),
    "sigmoid": _nn.sigmoid, "tanh": _nn.tanh, "elu": _keras.activations.elu,
    "hard_sigmoid": _keras.activations.hard_sigmoid, "name_scope": tf.name_scope,
})
_OTHERS = {  # with their texts, or the functions that lend them
    "sum": (lambda x, axis=None, keepdims=False: tf.reduce_sum(x, axis, keepdims), tf.reduce_sum),
    "max": (lambda x, axis=None, keepdims=False: tf.reduce_max(x, axis, keepdims), tf.reduce_max),
    "min": (lambda x, axis=None, keepdims=False: tf.reduce_min(x, axis, keepdims), tf.reduce_min),
    "prod": (lambda x, axis=None, keepdims=False: tf.reduce_prod(x, axis, keepdims), tf.reduce_prod),
    "mean": (lambda x, axis=None, keepdims=False: tf.reduce_mean(_counted(x), axis, keepdims), tf.reduce_mean),
    "std": (lambda x, axis=None, keepdims=False: _math.reduce_std(_counted(x), axis, keepdims), _math.reduce_std),
    "var": (lambda x, axis=None, keepdims=False: _math.reduce_variance(_counted(x), axis, keepdims), _math.reduce_variance),
    "any": (lambda x, axis=None, keepdims=False: tf.reduce_any(tf.cast(x, tf.bool), axis, keepdims), tf.reduce_any),
    "all": (lambda x, axis=None, keepdims=False: tf.reduce_all(tf.cast(x, tf.bool), axis, keepdims), tf.reduce_all),
    "argmax": (lambda x, axis=-1: tf.argmax(x, axis), tf.argmax), "argmin": (lambda x, axis=-1: tf.argmin(x, axis), tf.argmin),
    "cumsum": (lambda x, axis=0: tf.cumsum(x, axis), tf.cumsum), "cumprod": (lambda x, axis=0: _math.cumprod(x, axis), _math.cumprod),
    "concatenate": (lambda tensors, axis=-1: tf.concat(tensors, axis), tf.concat), "stack": (lambda x, axis=0: tf.stack(x, axis), tf.stack),
    "expand_dims": (lambda x, axis=-1: tf.expand_dims(x, axis), tf.expand_dims), "squeeze": (lambda x, axis: tf.squeeze(x, [axis]), tf.squeeze),
    "flatten": (lambda x: tf.reshape(x, [-1]), "All elements in a row."), "repeat_elements": (lambda x, rep, axis: tf.repeat(x, rep, axis=axis), tf.repeat),
    "batch_flatten": (lambda x: tf.reshape(x, [-1, tf.reduce_prod(tf.shape(x)[1:])]), "All axes but the first become one."),
    "permute_dimensions": (lambda x, pattern: tf.transpose(x, pattern), tf.transpose),
    "repeat": (lambda x, n: tf.tile(tf.expand_dims(x, 1), [1, n, 1]), "[batch, features] n times: [batch, n, features]."),
    "temporal_padding": (lambda x, padding=(1, 1): tf.pad(x, [[0, 0], list(padding), [0, 0]]), "Zeros before and after sequences."),
    "spatial_2d_padding": (lambda x, padding=((1, 1), (1, 1)), data_format=None: _around(x, padding, data_format), "Zeros around images."),
    "spatial_3d_padding": (lambda x, padding=((1, 1), (1, 1), (1, 1)), data_format=None: _around(x, padding, data_format), "Zeros around volumes."),
    "one_hot": (lambda indices, num_classes: tf.one_hot(indices, num_classes, axis=-1), tf.one_hot),
    "int_shape": (lambda x: tuple(x.shape.as_list()) if x.shape.rank is not None else None, "The shape as a tuple."),
    "constant": (lambda value, dtype=None, shape=None, name=None: tf.constant(value, dtype or _keras.backend.floatx(), shape, name or "Const"),
                 "A constant of dtype `floatx` unless said otherwise."),
    "variable": (lambda value, dtype=None, name=None, constraint=None: tf.Variable(value, dtype=dtype or _keras.backend.floatx(), name=name, constraint=constraint),
                 "A variable of dtype `floatx` unless said otherwise."),
    "ones": (lambda shape, dtype=None, name=None: tf.ones(shape, dtype or _keras.backend.floatx()), tf.ones),
    "zeros": (lambda shape, dtype=None, name=None: tf.zeros(shape, dtype or _keras.backend.floatx()), tf.zeros),
    "zeros_like": (lambda x, dtype=None, name=None: tf.zeros_like(x, dtype=dtype), tf.zeros_like),
    "ones_like": (lambda x, dtype=None, name=None: tf.ones_like(x, dtype=dtype), tf.ones_like),
    "eye": (lambda size, dtype=None, name=None: tf.eye(size, dtype=dtype or _keras.backend.floatx()), tf.eye),
    "relu": (lambda x, alpha=0.0, max_value=None, threshold=0.0: _keras.activations.relu(x, alpha, max_value, threshold), _keras.activations.relu),
    "softmax": (lambda x, axis=-1: _nn.softmax(x, axis), _nn.softmax), "l2_normalize": (lambda x, axis=None: _math.l2_normalize(x, axis), _math.l2_normalize),
    "bias_add": (lambda x, bias, data_format=None: _nn.bias_add(x, bias, "NCHW" if data_format == "channels_first" else "NHWC"), _nn.bias_add),
    "dropout": (lambda x, level, noise_shape=None, seed=None: _nn.dropout(x, rate=level, noise_shape=noise_shape, seed=_seed(seed)), _nn.dropout),
    "random_normal": (lambda shape, mean=0.0, stddev=1.0, dtype=None, seed=None: _random.normal(shape, mean, stddev, dtype or _keras.backend.floatx(), _seed(seed)),
                      _random.normal),
    "random_uniform": (lambda shape, minval=0.0, maxval=1.0, dtype=None, seed=None: _random.uniform(shape, minval, maxval, dtype or _keras.backend.floatx(), _seed(seed)),
                       _random.uniform),
    "truncated_normal": (lambda shape, mean=0.0, stddev=1.0, dtype=None, seed=None: _random.truncated_normal(shape, mean, stddev, dtype or _keras.backend.floatx(),
                                                                                                             _seed(seed)), _random.truncated_normal),
    "update": (lambda x, new_x: x.assign(new_x), tf.Variable.assign), "update_add": (lambda x, increment: x.assign_add(increment), tf.Variable.assign_add),
    "update_sub": (lambda x, decrement: x.assign_sub(decrement), tf.Variable.assign_sub),
    "count_params": (lambda x: x.shape.num_elements(), "The number of elements."),
    "categorical_crossentropy": (lambda target, output, from_logits=False, axis=-1: _keras.losses.categorical_crossentropy(
        target, output, from_logits=from_logits, axis=axis), _keras.losses.categorical_crossentropy),
    "sparse_categorical_crossentropy": (lambda target, output, from_logits=False, axis=-1, ignore_class=None: _keras.losses.sparse_categorical_crossentropy(
        target, output, from_logits=from_logits, axis=axis, ignore_class=ignore_class), _keras.losses.sparse_categorical_crossentropy),
    "ndim": (lambda x: x.shape.rank, tf.rank), "dtype": (lambda x: x.dtype.name, "The name of the dtype."),
    "eval": (lambda x: x.numpy(), "The value as NumPy's."),
    "arange": (lambda start, stop=None, step=1, dtype="int32": tf.cast(tf.range(start, stop, step) if stop is not None else tf.range(0, start, step), dtype),
               tf.range),
    "batch_get_value": (lambda tensors: [x.numpy() for x in tensors], "The values as NumPy's."),
    "batch_set_value": (lambda tuples: [x.assign(value) for x, value in tuples] and None, "Sets variables: pairs of one and its value."),
    "is_sparse": (lambda tensor: isinstance(tensor, tf.SparseTensor), "Whether it is a SparseTensor."),
    "to_dense": (lambda tensor: tf.sparse.to_dense(tensor) if isinstance(tensor, tf.SparseTensor) else tensor, tf.sparse.to_dense),
    "pow": (lambda x, a: tf.pow(x, a), tf.pow), "reshape": (lambda x, shape: tf.reshape(x, shape), tf.reshape), "shape": (lambda x: tf.shape(x), tf.shape),
    "transpose": (lambda x: tf.transpose(x), tf.transpose), "tile": (lambda x, n: tf.tile(x, [n] if isinstance(n, int) else n), tf.tile),
    "gather": (lambda reference, indices: tf.gather(reference, indices), tf.gather),
    "reverse": (lambda x, axes: tf.reverse(x, [axes] if isinstance(axes, int) else axes), tf.reverse),
    "stop_gradient": (lambda variables: map(tf.stop_gradient, variables) if isinstance(variables, (list, tuple)) else tf.stop_gradient(variables), tf.stop_gradient),
    "softplus": (lambda x: _nn.softplus(x), _nn.softplus), "softsign": (lambda x: _nn.softsign(x), _nn.softsign),
}
for _name, (_made, _lender) in _OTHERS.items():
    _made.__name__ = _made.__qualname__ = _name
    _made.__doc__ = _lender if isinstance(_lender, str) else (_lender.__doc__ or "").split("\n")[0]  # its arguments have other names
    BACKEND[_name] = _made
