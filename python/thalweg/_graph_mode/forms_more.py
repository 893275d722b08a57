"""More forms that functions have in tf.compat.v1: arguments in another order, and some that are gone from tf."""
import thalweg as tf
from thalweg._graph_mode.forms import _module, _one_of

_v1 = tf.compat.v1


def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    """The tensor with a border."""
    return tf.pad(tensor, paddings, mode, constant_values, name)


def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """Slices of a tensor."""
    return tf.gather(params, indices, axis=batch_dims if axis is None else axis, batch_dims=batch_dims, name=name)


def gather_nd(params, indices, name=None, batch_dims=0):
    """Slices of a tensor at places of several dimensions."""
    return tf.gather_nd(params, indices, batch_dims, name)


def transpose(a, perm=None, name="transpose", conjugate=False):
    """Dimensions in another order."""
    return tf.transpose(a, perm, conjugate, name)


def boolean_mask(tensor, mask, name="boolean_mask", axis=None):
    """What a mask leaves of a tensor."""
    return tf.boolean_mask(tensor, mask, axis, name)


def length(input, name=None, unit="BYTE"):
    """The length of texts."""
    return tf.strings.length(input, unit, name)


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


def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """The function of the first condition that holds."""
    return tf.case(pred_fn_pairs, default, exclusive, strict, name)


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None,
               maximum_iterations=None, return_same_structure=False):
    """The body again and again, as long as a condition holds."""
    out = tf.while_loop(cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, maximum_iterations, name)
    return out[0] if not return_same_structure and isinstance(out, (list, tuple)) and len(out) == 1 and not hasattr(out, "_fields") else out


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True, name=None, fn_output_signature=None):
    """A function of every slice."""
    return tf.map_fn(fn, elems, parallel_iterations=parallel_iterations, back_prop=back_prop, swap_memory=swap_memory, infer_shape=infer_shape, name=name,
                     fn_output_signature=fn_output_signature or dtype)


def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True, reverse=False, name=None):
    """What a function makes of every slice and of what it made before."""
    return tf.scan(fn, elems, initializer, parallel_iterations, back_prop, swap_memory, infer_shape, reverse, name)


def gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None,
              stop_gradients=None, unconnected_gradients=tf.UnconnectedGradients.NONE):
    """The gradients of ys by xs."""
    return tf.gradients(ys, xs, grad_ys, name, gate_gradients, aggregation_method, stop_gradients, unconnected_gradients)


def hessians(ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None):
    """The second derivatives of ys by xs."""
    return tf.hessians(ys, xs, gate_gradients, aggregation_method, name)


def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None):
    """The value as a tensor."""
    return tf.convert_to_tensor(value, dtype=dtype, dtype_hint=_one_of("dtype_hint", dtype_hint, "preferred_dtype", preferred_dtype), name=name)


def _like(name):
    inner = getattr(tf, name)

    def like(tensor, dtype=None, name=None, optimize=True):
        return inner(tensor, dtype=dtype, name=name)
    like.__name__, like.__doc__ = name, inner.__doc__
    return like


def shape(input, name=None, out_type=None):
    """The shape as a tensor."""
    return tf.shape(input, out_type=out_type or tf.int32, name=name)


def size(input, name=None, out_type=None):
    """The number of elements as a tensor."""
    return tf.size(input, out_type=out_type or tf.int32, name=name)


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

def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """Vectors of length 1."""
    return tf.nn.l2_normalize(x, _one_of("axis", axis, "dim", dim), epsilon, name)


def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None):
    """The cross-entropy of independent classes, with more weight on those that are there."""
    return tf.nn.weighted_cross_entropy_with_logits(_one_of("labels", labels, "targets", targets), logits, pos_weight, name)


def in_top_k(predictions, targets, k, name=None):
    """Whether the targets are among the k best predictions."""
    return tf.math.in_top_k(targets, predictions, k, name)


def conv1d(value=None, filters=None, stride=None, padding=None, use_cudnn_on_gpu=None, data_format=None, name=None, input=None, dilations=None):
    """A convolution over one dimension."""
    return tf.nn.conv1d(_one_of("input", input, "value", value), filters, stride, padding, data_format or "NWC", dilations, name)


def conv2d_transpose(value=None, filter=None, output_shape=None, strides=None, padding="SAME", data_format="NHWC", name=None, input=None, filters=None,
                     dilations=None):
    """A transposed convolution over two dimensions."""
    return tf.nn.conv2d_transpose(_one_of("input", input, "value", value), _one_of("filters", filters, "filter", filter), output_shape, strides, padding,
                                  data_format, dilations, name)


def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None):
    """A convolution of every channel by itself."""
    return tf.nn.depthwise_conv2d(input, filter, strides, padding, data_format, _one_of("dilations", dilations, "rate", rate), name)


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, rate=None, name=None, data_format=None, dilations=None):
    """A convolution of every channel by itself, then one across channels."""
    between = depthwise_conv2d(input, depthwise_filter, strides, padding, rate, None, data_format, dilations)
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


def zero_fraction(value, name=None):
    """How many elements are zero."""
    return tf.math.zero_fraction(value, name or "zero_fraction")


def install():
    """Puts the forms into tf.compat.v1 and its modules."""
    nn, math, strings = _module("nn", tf.nn), _module("math", tf.math), _module("strings", tf.strings)
    own = [pad, gather, gather_nd, transpose, boolean_mask, cond, case, while_loop, map_fn, scan, gradients, convert_to_tensor, shape, size, where]
    if hasattr(tf, "hessians"):
        own.append(hessians)
    for function in own:
        setattr(_v1, function.__name__, function)
    for name in ("zeros_like", "ones_like"):
        setattr(_v1, name, _like(name))
    for function in (l2_normalize, weighted_cross_entropy_with_logits, conv1d, conv2d_transpose, depthwise_conv2d, separable_conv2d, fused_batch_norm,
                     relu_layer, xw_plus_b, crelu):
        setattr(nn, function.__name__, function)
    nn.in_top_k = math.in_top_k = in_top_k
    if hasattr(tf.math, "zero_fraction"):
        nn.zero_fraction = math.zero_fraction = zero_fraction
    strings.length = length
