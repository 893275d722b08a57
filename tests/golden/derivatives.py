"""What is connected to what, derivatives of derivatives, and numbers of rarely used dtypes in TensorFlow: makes tests/golden/derivatives/derivatives.json for
tests/python/test_derivatives.py.

Usage: derivatives.py (needs tensorflow)"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import expressions
import golden

SETUP = r"""
z = tf.constant([3 + 4j, 0j, -1j, 2 + 0j], tf.complex64)
matrix = tf.constant([[1., 2.], [2., 4.0001]])
rows, reals = tf.ragged.constant([[1, 2], [4], [], [3, 5, 6]]), tf.ragged.constant([[1., 2], [4], [], [3, 5, 6]])
FUNCTIONS = {
    'x': tf.identity, '2x': lambda x: 2 * x, 'x + 1': lambda x: x + 1, 'x x': lambda x: x * x, 'x x x': lambda x: x * x * x, '-x': lambda x: -x,
    'x - 2x': lambda x: x - x * 2, 'x / 3': lambda x: x / 3., 'sum': tf.reduce_sum, 'mean': tf.reduce_mean, 'max': tf.reduce_max, 'prod': tf.reduce_prod,
    'matmul': lambda x: tf.matmul(tf.reshape(x, [1, -1]), tf.ones([2, 2])), 'relu': tf.nn.relu, 'leaky': tf.nn.leaky_relu, 'selu': tf.nn.selu, 'abs': tf.abs,
    'reshape': lambda x: tf.reshape(x, [2, 1]), 'concat': lambda x: tf.concat([x, x], 0), 'slice': lambda x: x[0:1], 'maximum': lambda x: tf.maximum(x, 0.),
    'where': lambda x: tf.where(x > 0, x, 2 * x), 'transpose': lambda x: tf.transpose(tf.reshape(x, [1, 2])), 'pad': lambda x: tf.pad(x, [[1, 1]]),
    'tile': lambda x: tf.tile(x, [2]), 'cumsum': tf.cumsum, 'cast': lambda x: tf.cast(x, tf.float64), 'sign': tf.sign, 'clip': lambda x: tf.clip_by_value(x, 0., 1.),
    'stack': lambda x: tf.stack([x, x]), 'unstack': lambda x: tf.unstack(x)[0], 'split': lambda x: tf.split(x, 2)[0], 'add_n': lambda x: tf.add_n([x, x]),
    'stopped': lambda x: tf.stop_gradient(x) * x, 'zeros_like': lambda x: tf.zeros_like(x) * x, 'ones_like': lambda x: tf.ones_like(x) * x,
    'reverse': lambda x: tf.reverse(x, [0]), 'sort': tf.sort, 'bias': lambda x: tf.nn.bias_add(tf.ones([2, 2]), x),
    'conv': lambda x: tf.nn.conv2d(tf.reshape(x, [1, 1, 2, 1]), tf.ones([1, 1, 1, 1]), 1, 'SAME'),
    'max_pool': lambda x: tf.nn.max_pool2d(tf.reshape(x, [1, 1, 2, 1]), 1, 1, 'SAME'), 'avg_pool': lambda x: tf.nn.avg_pool2d(tf.reshape(x, [1, 1, 2, 1]), 1, 1, 'SAME'),
    'squared_difference': lambda x: tf.math.squared_difference(x, 1.), 'expand': lambda x: tf.expand_dims(x, 0), 'broadcast': lambda x: tf.broadcast_to(x, [3, 2]),
    'einsum': lambda x: tf.einsum('i,i->', x, tf.constant([1., 2.])), 'while': lambda x: tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, 2 * y), [0, x])[1],
    'function': lambda x: tf.function(lambda y: 2 * y)(x), 'diag': tf.linalg.diag, 'scatter': lambda x: tf.scatter_nd([[1]], x[:1], [3]),
    'segments': lambda x: tf.math.unsorted_segment_sum(x, [0, 0], 1), 'roll': lambda x: tf.roll(x, 1, 0), 'exp': tf.exp, 'none': lambda x: tf.constant(1.),
}
def derive(f, x, order):
    if order == 0:
        return f(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = derive(f, x, order - 1)
    return None if y is None else tape.gradient(y, x)
def eager(name, order):
    return derive(FUNCTIONS[name], t, order)
def traced(name, order):
    return tf.function(lambda x: derive(FUNCTIONS[name], x, order), autograph=False)(t)
def both(f):
    return f(), tf.function(f, autograph=False)()
def tape_of(f, *watched, **k):
    with tf.GradientTape(**k) as tape:
        for x in watched:
            tape.watch(x)
        y = f()
    return tape, y
def watched(persistent, jacobian=False):
    tape, y = tape_of(lambda: v * 2., persistent=persistent)
    before = len(tape.watched_variables())
    tape.jacobian(y, v) if jacobian else tape.gradient(y, v)
    return before, [w is v for w in tape.watched_variables()]
def reset():
    with tf.GradientTape() as tape:
        v * 2.
        before = len(tape.watched_variables())
        tape.reset()
        return before, len(tape.watched_variables())
def again():
    tape, y = tape_of(lambda: v * 2.)
    tape.gradient(y, v)
    with tape:
        pass
    return len(tape.watched_variables())
def jvp(target):
    with tf.autodiff.ForwardAccumulator(v, tf.ones([2])) as a:
        y = v * 3.
    return a.jvp(v if target is None else y)
"""
NAMES = ["x", "2x", "x + 1", "x x", "x x x", "-x", "x - 2x", "x / 3", "sum", "mean", "max", "prod", "matmul", "relu", "leaky", "selu", "abs", "reshape", "concat",
         "slice", "maximum", "where", "transpose", "pad", "tile", "cumsum", "cast", "sign", "clip", "stack", "unstack", "split", "add_n", "stopped", "zeros_like",
         "ones_like", "reverse", "sort", "bias", "conv", "max_pool", "avg_pool", "squared_difference", "expand", "broadcast", "einsum", "while", "function", "diag",
         "scatter", "segments", "roll", "exp", "none"]
EXPRESSIONS = r"""
both(lambda: tf.truncatediv(tf.constant([7.5, -7.5, 1., 0., -1.]), [2., 2., 0., 0., 3.]))
both(lambda: tf.truncatediv(tf.constant([7, -7, 5]), [2, 2, -3]))
gradient(lambda x: tf.truncatediv(x, [2., 2.]), t)
[int(n) for n in tf.cast(tf.truncatediv(tf.cast(tf.range(-2047, 2047, 23), tf.float16), tf.constant(2.001, tf.float16)), tf.int32)]
[int(n) for n in tf.cast(tf.math.floordiv(tf.cast(tf.range(-2047, 2047, 23), tf.float16), tf.constant(2.001, tf.float16)), tf.int32)]
[int(n) for n in tf.cast(tf.math.floordiv(tf.cast(tf.range(-250, 250, 7), tf.bfloat16), tf.constant(3., tf.bfloat16)), tf.int32)]
both(lambda: tf.sign(z))
both(lambda: gradient(tf.sign, z))
both(lambda: gradient(tf.math.sign, tf.constant([1., -2., 0.])))
both(lambda: tf.linalg.matrix_rank(matrix))
both(lambda: tf.linalg.matrix_rank(matrix, tol=1e-3))
both(lambda: tf.linalg.matrix_rank(matrix, tol=100.))
both(lambda: tf.linalg.matrix_rank(matrix, tol=[0.1]))
both(lambda: tf.linalg.matrix_rank(matrix, tol=[0.1, 6.]))
both(lambda: tf.linalg.matrix_rank(tf.stack([matrix, matrix * 10]), tol=[[1.], [1e-9]]))
tf.linalg.matrix_rank(tf.stack([matrix, matrix, matrix]), tol=[1., 1., 1.])
tf.linalg.matrix_rank(tf.zeros([2, 3, 4]))
tf.linalg.matrix_rank(t)
tf.linalg.matrix_rank(tf.constant([[1, 2], [3, 4]]))
tf.linalg.matrix_rank(tf.complex(matrix, matrix))
tf.linalg.pinv(t)
tf.linalg.pinv(tf.constant([[1, 2], [3, 4]]))
both(lambda: tf.round(1e4 * tf.linalg.pinv(tf.constant([[1., 2.], [3., 4.], [5., 6.]]))))
both(lambda: tf.round(1e4 * tf.linalg.pinv(tf.constant([[1., 2.], [2., 4.1]]), rcond=0.5)))
both(lambda: tf.reduce_mean(rows))
both(lambda: tf.reduce_mean(rows, axis=0))
both(lambda: tf.reduce_mean(rows, axis=1))
both(lambda: tf.reduce_mean(reals, axis=1))
tf.reduce_mean(rows, axis=1, keepdims=True)
[tf.reduce_mean(tf.cast(rows, d), axis=1) for d in (tf.int8, tf.uint8, tf.int16, tf.int64, tf.float16)]
tf.math.reduce_variance(rows, axis=1)
tf.math.reduce_std(tf.cast(rows, tf.float64), axis=0)
tape_of(lambda: v * 1.)[0].gradient(v, v)
both(lambda: tape_of(lambda: v * 1.)[0].gradient(v, v))
tape_of(lambda: None)[0].gradient(v, v)
tape_of(lambda: None)[0].gradient([v, v], v)
tape_of(lambda: None)[0].gradient(v, [v, v])
tape_of(lambda: None)[0].gradient(v, t)
tape_of(lambda: None)[0].gradient(t, v)
tape_of(lambda: None)[0].gradient(v, v, output_gradients=tf.constant([3., 4.]))
tape_of(lambda: None)[0].gradient(v, v, unconnected_gradients='zero')
tape_of(lambda: None, watch_accessed_variables=False)[0].gradient(v, v)
tape_of(lambda: None)[0].gradient(t, t)
tape_of(lambda: None)[0].gradient([t, t], t)
tape_of(lambda: None, t)[0].gradient(t, t)
(lambda tape, y: tape.gradient([t, y], t))(*tape_of(lambda: t * 2, t))
(lambda tape, y: tape.gradient([y, v], v))(*tape_of(lambda: tf.convert_to_tensor(v)))
tape_of(lambda: None)[0].jacobian(v, v)
tape_of(lambda: None, persistent=True)[0].gradient(v, v)
watched(False), watched(True), watched(False, True)
reset(), again()
jvp(None), jvp(1)
""".strip().split("\n") + ["%s(%r, %d)" % (how, name, order) for name in NAMES for how, order in (("eager", 2), ("eager", 3), ("traced", 2))]


def main():
    import tensorflow as tf
    answers = [expressions.answer(e, tf, SETUP) for e in EXPRESSIONS]
    with open(golden.path(__file__, "derivatives.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(a) for a in answers) + "\n]\n")


if __name__ == "__main__":
    main()
