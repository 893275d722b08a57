"""Calls of tf.nn, tf.random and tf.quantization as texts, with their inputs: tests/golden/nn_cases.py writes what TensorFlow gives, test_nn_cases.py compares."""
import numpy as np


def values(*shape, dtype=np.float32):
    count = int(np.prod(shape))
    return (np.round(np.sin(np.arange(count) * 0.7 + 0.3) * 2, 2) + np.arange(count) % 5 / 10).astype(dtype).reshape(shape)


def i32(*numbers):
    return np.array(numbers, np.int32)


# Texts; each has its inputs, whose gradients are compared where they are floats. A text in front of which stands "known " needs known shapes.
CASES = {}


def add(text, **inputs):
    assert text not in CASES, text
    CASES[text] = inputs


x, s, v, w = values(2, 6, 5, 3), values(2, 7, 3), values(1, 4, 5, 3, 2), values(3, 2, 3, 4) / 2
w3 = values(2, 3, 2, 2, 3)
for t in ("1, 'SAME'", "[1, 2, 1, 2, 1], 'VALID'", "[1, 1, 1, 1, 1], 'SAME', data_format='NDHWC'"):
    add("tf.nn.conv3d(v, w, %s)" % t.replace("1, 'SAME'", "[1] * 5, 'SAME'") if t[0] == "1" else "tf.nn.conv3d(v, w, %s)" % t, v=v, w=w3)
add("tf.nn.conv3d_transpose(v, w, [1, 8, 5, 6, 2], [2, 1, 2])", v=values(1, 4, 5, 3, 3), w=w3)
add("tf.nn.conv3d_transpose(v, w, [1, 5, 7, 4, 2], 1, padding='VALID')", v=values(1, 4, 5, 3, 3), w=w3)
for name in ("max", "avg"):
    add("tf.nn.%s_pool3d(v, 2, 2, 'SAME')" % name, v=v)
    add("tf.nn.%s_pool3d(v, [1, 2, 3, 1, 1], [1, 1, 2, 1, 1], 'VALID')" % name, v=v)
    add("known tf.nn.%s_pool(v, [2, 1, 2], 1, 'VALID', data_format='NDHWC')" % name, v=v)
    kind = name.upper()
    add("known tf.nn.pool(x, [2, 2], '%s')" % kind, x=x)
    add("known tf.nn.pool(x, [2, 3], '%s', strides=[2, 1], padding='SAME')" % kind, x=x)
    add("known tf.nn.pool(s, [2], '%s', dilations=[2])" % kind, s=s)
    add("known tf.nn.pool(x, [2, 2], '%s', dilations=[2, 1], padding='SAME')" % kind, x=x)
    add("known tf.nn.pool(v, [2, 2, 2], '%s', strides=[1, 2, 1], padding='SAME')" % kind, v=v)
add("known tf.nn.convolution(x, w, [1, 2])", x=x, w=w)
add("known tf.nn.convolution(x, w, padding='SAME', dilations=[2, 2])", x=x, w=w)
add("known tf.nn.convolution(x, w, padding='VALID', dilations=[2, 1])", x=x, w=w)
add("known tf.nn.convolution(s, w, 2, 'SAME')", s=s, w=w[0])
add("known tf.nn.convolution(s, w, 1, 'SAME', dilations=2)", s=s, w=w[0])
add("known tf.nn.convolution(v, w, 1, 'SAME', data_format='NDHWC')", v=v, w=w3)
add("known tf.nn.convolution(x, w, [1, 1], 'SAME')", x=values(2, 3, 4, 5, 3), w=w)
add("tf.nn.conv1d_transpose(s, w, [2, 14, 3], 2)", s=values(2, 7, 4), w=w[0])
add("tf.nn.conv1d_transpose(s, w, [2, 8, 3], 1, 'VALID')", s=values(2, 7, 4), w=w[0])
add("tf.nn.conv_transpose(s, w, [2, 14, 3], 2)", s=values(2, 7, 4), w=w[0])
add("tf.nn.conv_transpose(x, w, [2, 6, 5, 3], 2)", x=values(2, 3, 3, 4), w=w)
add("tf.nn.conv_transpose(v, w, [1, 8, 5, 6, 2], [2, 1, 2])", v=values(1, 4, 5, 3, 3), w=w3)
add("tf.nn.conv_transpose(x, w, [6, 5], 2)", x=values(2, 3, 3, 4), w=w)
add("tf.nn.separable_conv2d(x, d, p, [1, 1, 1, 1], 'SAME')", x=x, d=values(3, 2, 3, 2), p=values(1, 1, 6, 4))
add("tf.nn.separable_conv2d(x, d, p, [1, 2, 2, 1], 'VALID')", x=x, d=values(3, 2, 3, 2), p=values(1, 1, 6, 4))
add("known tf.nn.separable_conv2d(x, d, p, [1, 1, 1, 1], 'VALID', dilations=[2, 2])", x=x, d=values(2, 2, 3, 2), p=values(1, 1, 6, 4))
add("tf.nn.atrous_conv2d(x, w, 2, 'SAME')", x=x, w=w)
add("tf.nn.atrous_conv2d(x, w, 2, 'VALID')", x=x, w=w)
add("tf.nn.atrous_conv2d_transpose(x, w, [2, 6, 5, 3], 2, 'SAME')", x=values(2, 6, 5, 4), w=w)
add("tf.nn.depth_to_space(x, 2)", x=values(2, 2, 3, 8))
add("tf.nn.space_to_depth(x, 2)", x=values(2, 4, 6, 3))
add("tf.compat.v1.depth_to_space(x, 2, None, 'NHWC')", x=values(2, 2, 3, 8))
add("tf.compat.v1.space_to_depth(x, 2)", x=values(2, 4, 6, 3))
add("tf.nn.sufficient_statistics(x, [0, 2])[:3]", x=x)
add("tf.nn.sufficient_statistics(x, [0], shift=0.5, keepdims=True)", x=x)
add("tf.nn.normalize_moments(12.0, m, v, None)", m=values(3), v=values(3) ** 2 + 2)
add("tf.nn.normalize_moments(12.0, m, v, 0.5)", m=values(3), v=values(3) ** 2 + 2)
add("tf.nn.batch_norm_with_global_normalization(x, m, v, b, g, 0.01, True)", x=x, m=values(3), v=values(3) ** 2, b=values(3) + 1, g=values(3) - 2)
add("tf.nn.batch_norm_with_global_normalization(x, m, v, b, g, 0.01, False)", x=x, m=values(3), v=values(3) ** 2, b=values(3) + 1, g=values(3) - 2)
add("tf.nn.depthwise_conv2d_backprop_input([2, 6, 5, 3], w, y, [1, 1, 1, 1], 'SAME')", w=values(3, 2, 3, 2), y=values(2, 6, 5, 6))
add("tf.nn.depthwise_conv2d_backprop_filter(x, [3, 2, 3, 2], y, [1, 1, 1, 1], 'SAME')", x=x, y=values(2, 6, 5, 6))
V1 = "tf.compat.v1.nn."
add(V1 + "conv2d_backprop_input([2, 6, 5, 3], w, y, [1, 1, 1, 1], 'SAME')", w=w, y=values(2, 6, 5, 4))
add(V1 + "conv2d_backprop_filter(x, [3, 2, 3, 4], y, [1, 1, 1, 1], 'SAME')", x=x, y=values(2, 6, 5, 4))
add(V1 + "conv3d_backprop_filter(v, [2, 3, 2, 2, 3], y, [1] * 5, 'SAME')", v=v, y=values(1, 4, 5, 3, 3))
add(V1 + "conv3d(v, w, [1] * 5, 'SAME')", v=v, w=w3)
add(V1 + "conv3d_transpose(v, w, [1, 8, 5, 6, 2], [2, 1, 2])", v=values(1, 4, 5, 3, 3), w=w3)
add("known " + V1 + "convolution(x, w, 'SAME', [1, 1], [2, 2])", x=x, w=w)
add("known " + V1 + "pool(x, [2, 2], 'MAX', 'SAME', None, [2, 2])", x=x)
add(V1 + "separable_conv2d(x, d, p, [1, 1, 1, 1], 'SAME')", x=x, d=values(3, 2, 3, 2), p=values(1, 1, 6, 4))
add(V1 + "sufficient_statistics(x, [0, 2], keep_dims=True)[:3]", x=x)
add(V1 + "batch_norm_with_global_normalization(x, m, v, b, g, 0.01, True)", x=x, m=values(3), v=values(3) ** 2, b=values(3) + 1, g=values(3) - 2)
add(V1 + "avg_pool2d(x, 2, 2, 'SAME')", x=x)


def flat(tf, value):
    """The tensors of a result."""
    if isinstance(value, (list, tuple)):
        return [t for item in value for t in flat(tf, item)]
    if isinstance(value, tf.SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    return [tf.convert_to_tensor(value)] if value is not None else []


def run(tf, text, inputs, how="eager"):
    """The outputs and gradients of a case as arrays; how: eager, traced, unknown."""
    text = text.removeprefix("known ")
    names = list(inputs)
    code = compile(text, text, "eval")

    def body(*given):
        outputs = flat(tf, eval(code, {"tf": tf, "np": np, "values": values, "i32": i32, **dict(zip(names, given))}))
        terms = [tf.reduce_sum(tf.cast(o, tf.float64) * tf.cast(tf.reshape(tf.range(tf.size(o)) % 7 + 1, tf.shape(o)), tf.float64)) for o in outputs if o.dtype.is_floating]
        return outputs, terms

    def whole(*given):
        floats = [t for t in given if t.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            outputs, terms = body(*given)
            total = tf.add_n(terms) if terms else None
        gradients = tape.gradient(total, floats) if terms and floats else []
        return outputs, [tf.zeros([0]) if g is None else tf.convert_to_tensor(g) for g in gradients]

    given = [tf.constant(a) for a in inputs.values()]
    if how != "eager":
        signature = [tf.TensorSpec(None if how == "unknown" else t.shape, t.dtype) for t in given]
        whole = tf.function(whole, input_signature=signature, autograph=False)
    outputs, gradients = whole(*given)
    return [t.numpy() for t in outputs], [t.numpy() for t in gradients]
