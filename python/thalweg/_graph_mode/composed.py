"""Functions of tf.compat.v1 that are composed of others: control flow, where, gather, and those of tf.nn that are gone from tf."""
import thalweg as tf
from thalweg._graph_mode.forms import _module, _one_of

_v1 = tf.compat.v1


def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """Slices of a tensor."""
    return tf.gather(params, indices, axis=batch_dims if axis is None else axis, batch_dims=batch_dims, name=name)


def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    """One of two functions, as a condition says."""
    true_fn, false_fn = _one_of("true_fn", true_fn, "fn1", fn1), _one_of("false_fn", false_fn, "fn2", fn2)
    for word, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is None:
            raise TypeError("cond(): '%s' argument required" % word)
        if not callable(function):
            raise TypeError("'%s' must be callable." % word)
    result = tf.cond(pred, true_fn, false_fn, name=name)
    return result if strict or not isinstance(result, (list, tuple)) or len(result) != 1 else result[0]


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None,
               maximum_iterations=None, return_same_structure=False):
    """The body again and again, as long as a condition holds."""
    out = tf.while_loop(cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, maximum_iterations, name)
    return out[0] if not return_same_structure and isinstance(out, (list, tuple)) and len(out) == 1 and not hasattr(out, "_fields") else out


def where(condition, x=None, y=None, name=None):
    """Where a condition holds; or x there, and y elsewhere: a condition of one dimension chooses rows."""
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    if x is None:
        return tf.where(condition, name=name)
    condition, x, y = tf.convert_to_tensor(condition), tf.convert_to_tensor(x), tf.convert_to_tensor(y)
    if condition.shape.rank == 1 and x.shape.rank is not None and x.shape.rank > 1:
        condition = tf.reshape(condition, [-1] + [1] * (x.shape.rank - 1))
    return tf.where(condition, x, y, name=name or "Select")


# ---- tf.nn ----

def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, rate=None, name=None, data_format=None, dilations=None):
    """A convolution of every channel by itself, then one across channels."""
    between = _v1.nn.depthwise_conv2d(input, depthwise_filter, strides, padding, rate, None, data_format, dilations)
    return tf.nn.conv2d(between, pointwise_filter, [1, 1, 1, 1], "VALID", data_format or "NHWC", name=name or "separable_conv2d")


def fused_batch_norm(x, scale, offset, mean=None, variance=None, epsilon=0.001, data_format="NHWC", is_training=True, name=None,
                     exponential_avg_factor=1.0):
    """Normalization of a batch: the outputs, mean and variance."""
    x, none = tf.convert_to_tensor(x), tf.constant([], tf.float32)
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise ValueError("Both `mean` and `variance` must be a 1D tensor when `is_training` is False or `exponential_avg_factor` != 1.0.")
    out = tf.raw_ops.FusedBatchNormV3(x=x, scale=tf.convert_to_tensor(scale, tf.float32), offset=tf.convert_to_tensor(offset, tf.float32),
                                      mean=none if mean is None else tf.convert_to_tensor(mean, tf.float32),
                                      variance=none if variance is None else tf.convert_to_tensor(variance, tf.float32), epsilon=epsilon,
                                      exponential_avg_factor=exponential_avg_factor, data_format=data_format, is_training=is_training, name=name)
    return out[0], out[1], out[2]


def relu_layer(x, weights, biases, name=None):
    """relu(x weights + biases)"""
    with _v1.name_scope(name, "relu_layer", [x, weights, biases]) as scope:
        return tf.nn.relu(tf.nn.bias_add(tf.matmul(x, weights), biases), name=scope)


def xw_plus_b(x, weights, biases, name=None):
    """x weights + biases"""
    with _v1.name_scope(name, "xw_plus_b", [x, weights, biases]) as scope:
        return tf.nn.bias_add(tf.matmul(x, weights), biases, name=scope)


def crelu(features, name=None, axis=-1):
    """relu of the features and of their opposites."""
    with _v1.name_scope(name, "CRelu", [features]):
        features = tf.convert_to_tensor(features)
        return tf.nn.relu(tf.concat([features, -features], axis))


def install():
    """Puts the forms into tf.compat.v1 and its modules."""
    for function in (gather, cond, while_loop, where):
        setattr(_v1, function.__name__, function)
    for function in (separable_conv2d, fused_batch_norm, relu_layer, xw_plus_b, crelu):
        setattr(_module("nn", tf.nn), function.__name__, function)
