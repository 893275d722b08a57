"""Functions of tf.compat.v1 that are composed of others: control flow, and the separable convolution."""
import thalweg as tf
from thalweg._graph_mode.forms import _one_of

_v1 = tf.compat.v1


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


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, rate=None, name=None, data_format=None, dilations=None):
    """A convolution of every channel by itself, then one across channels."""
    between = _v1.nn.depthwise_conv2d(input, depthwise_filter, strides, padding, rate, None, data_format, dilations)
    return tf.nn.conv2d(between, pointwise_filter, [1, 1, 1, 1], "VALID", data_format or "NHWC", name=name or "separable_conv2d")
