"""Corners of functions in TensorFlow: derivatives in a direction, ops without a gradient, shapes of unknown rank, kinds of results, special values. Makes
tests/golden/corners/corners.json for tests/python/test_corners.py.

Usage: corners.py (needs tensorflow)"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import expressions
import golden

SETUP = r"""
inf, nan = float('inf'), float('nan')
m = tf.constant([[1., 2., 0.5], [0.25, 4., 3.]])
table = tf.constant([[3., 4.], [0., 1.], [6., 8.]])
boxes = tf.constant([[0.1, 0.2, 0.7, 0.8]])
def direction(f, x):
    with tf.autodiff.ForwardAccumulator(x, tf.cos(x)) as a:
        y = f(x)
    return tf.convert_to_tensor(a.jvp(y))
def both_ways(f, x):
    with tf.autodiff.ForwardAccumulator(x, tf.cos(x)) as a:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(f(x) ** 2)
        g = tape.gradient(y, x)
    return a.jvp(g)
def unranked(f, *x):
    seen = []
    def traced(*y):
        out = f(*y)
        seen.append(str(out.shape))
        return out
    return tf.function(traced, input_signature=[tf.TensorSpec(None, y.dtype) for y in x], autograph=False)(*x), seen[-1]
def shown(*values, **k):
    import os, tempfile
    with tempfile.TemporaryDirectory() as folder:
        tf.print(*values, output_stream='file://' + os.path.join(folder, 'text'), **k)
        with open(os.path.join(folder, 'text')) as file:
            return file.read()
def kind(x):
    return type(x).__name__
def moved(alpha, draw):
    with tf.GradientTape() as tape:
        tape.watch(alpha)
        y = draw(alpha)
        z = tf.stop_gradient(y)
    slope = tf.raw_ops.RandomGammaGrad(alpha=tf.broadcast_to(alpha, tf.shape(y)), sample=z)
    return tf.reduce_max(tf.abs(tape.gradient(y, alpha) - tf.reshape(tf.reduce_sum(slope, list(range(len(y.shape) - len(alpha.shape)))), tf.shape(alpha)))) < 1e-4
"""
EXPRESSIONS = r"""
direction(lambda x: tf.math.cumulative_logsumexp(x, axis=1), m)
direction(lambda x: tf.math.cumulative_logsumexp(x, axis=1, reverse=True), m)
direction(lambda x: tf.math.reduce_euclidean_norm(x, axis=1), m)
direction(tf.math.reduce_euclidean_norm, m)
direction(lambda x: tf.norm(x, axis=0), m)
direction(lambda x: tf.math.segment_sum(x, [0, 0]), m)
direction(lambda x: tf.math.unsorted_segment_sum(x, [1, 0], 3), m)
direction(lambda x: tf.dynamic_stitch([[1], [0]], [x[:1], x[1:]]), m)
direction(lambda x: tf.scatter_nd([[2], [0]], x, [3, 3]), m)
direction(lambda x: tf.gather(x, [1, 0, 1]), m)
direction(lambda x: tf.sparse.segment_sum(x, [0, 1], [0, 0]), m)
tf.round(1e3 * both_ways(lambda x: tf.math.cumulative_logsumexp(x, axis=1), m))
both_ways(lambda x: tf.math.reduce_euclidean_norm(x, axis=1), m)
gradient(lambda x: tf.math.bincount([0, 1, 1], weights=x), tf.constant([1., 2., 3.]))
gradient(lambda x: tf.image.draw_bounding_boxes(x, boxes[tf.newaxis], m), tf.ones([1, 4, 4, 3]))
gradient(lambda x: tf.raw_ops.SparseSegmentSumGrad(grad=x, indices=[0, 1], segment_ids=[0, 1], output_dim0=2), m)
gradient(lambda x: tf.raw_ops.SparseReduceMax(input_indices=[[0, 0], [0, 1]], input_values=x, input_shape=[1, 2], reduction_axes=[1]), tf.constant([1., 2.]))
gradient(lambda x: tf.raw_ops.DeepCopy(x=x), m)
gradient(lambda x: tf.random.poisson([2], x), tf.constant([1., 2.]))
gradient(lambda x: tf.raw_ops.AudioSpectrogram(input=x, window_size=2, stride=1), tf.ones([4, 1]))
gradient(lambda x: tf.image.hsv_to_rgb(x), m)
moved(tf.constant([0.5, 2.]), lambda a: tf.random.gamma([4], a))
moved(tf.constant([[0.5], [2.]], tf.float64), lambda a: tf.random.gamma([3, 2], a, dtype=tf.float64))
moved(tf.constant([0.5, 2.]), lambda a: tf.random.stateless_gamma([4, 2], [1, 2], a))
moved(tf.constant(0.5), lambda a: tf.random.gamma([], a))
unranked(tf.reduce_sum, m)
unranked(tf.reduce_max, m)
unranked(tf.reduce_logsumexp, m)
unranked(lambda x: tf.reduce_mean(x, keepdims=True), m)
unranked(lambda x: tf.clip_by_norm(x, 2.), m)
unranked(lambda x: tf.clip_by_global_norm([x, x], 2.)[0][0], m)
unranked(lambda x: tf.linalg.global_norm([x]), m)
unranked(lambda x: tf.clip_by_value(x, 0.5, 2.), m)
unranked(lambda x: tf.nn.embedding_lookup(x, [0, 2, 0], max_norm=2.), table)
unranked(lambda i: tf.nn.embedding_lookup(table, i, max_norm=2.), tf.constant([[0, 2], [1, 0]]))
unranked(lambda x, i: tf.nn.embedding_lookup(x, i, max_norm=2.), table, tf.constant([2, 1]))
tf.nn.embedding_lookup(table, [2, 1], max_norm=2.)
unranked(lambda x: tf.transpose(x, [1, 0]), m)
unranked(lambda x: tf.pad(x, [[1, 0], [0, 1]]), m)
unranked(lambda x: tf.pad(x, [[1, 0], [0, 1]], 'SYMMETRIC'), m)
tf.function(lambda x: tf.clip_by_value(x, [0.5, 1.], [2., 3.]), input_signature=[tf.TensorSpec([None])], autograph=False)(tf.constant([0., 9.]))
[str(x.shape) for x in tf.function(lambda x: tf.split(x, [1, 2], axis=1), input_signature=[tf.TensorSpec([None, None])], autograph=False).get_concrete_function().structured_outputs]
[kind(f(tf.constant([[2., 1.], [1., 3.]]))) for f in (tf.linalg.eigh, tf.linalg.eig, tf.linalg.normalize, tf.linalg.svd, tf.linalg.qr, tf.linalg.lu)]
[kind(tf.nn.moments(m, 0)), kind(tf.nn.weighted_moments(m, 0, 1.)), kind(tf.nn.normalize_moments(2., 1., 1., 0.)), kind(tf.nn.isotonic_regression(m))]
kind(tf.nn.max_pool_with_argmax(tf.ones([1, 2, 2, 1]), 2, 2, 'SAME')), kind(tf.quantization.quantize(1., 0., 2., tf.quint8))
[kind(f([[1]], 1, 1, True, 3)) for f in (tf.random.uniform_candidate_sampler, tf.random.log_uniform_candidate_sampler, tf.random.learned_unigram_candidate_sampler)]
shown(tf.ragged.constant([[1, 2], [], [3]]), 'x', [tf.ragged.constant([[True]])])
shown(tf.ragged.constant([[[1.5], []], []]), tf.ragged.constant([['a', "it's"], ['c\\']]))
shown(tf.RaggedTensor.from_row_lengths(tf.range(30), [10, 0, 20]), tf.RaggedTensor.from_row_lengths(tf.range(10), [1] * 10), summarize=2)
shown(tf.RaggedTensor.from_row_lengths(tf.range(10), [9, 1]), tf.RaggedTensor.from_row_lengths(tf.ones([3, 2]), [1, 2]), summarize=-1)
shown(tf.sparse.from_dense([[0, 1], [2, 0]]), {'a': tf.sparse.from_dense([['', 'b']])})
shown(tf.function(lambda: tf.ragged.constant([[1], [2, 3]]))())
['a', 'b'][tf.constant(True)], list(range(tf.constant(True)))
tf.range(tf.size([4, 5, 6]), dtype=tf.float32)
tf.range(tf.constant(3.7), dtype=tf.int32)
tf.range(tf.constant(1), 5., dtype=tf.float64)
tf.range(tf.constant(1), 3.5)
[tf.reduce_mean(tf.zeros([0, 2], d), axis=0) for d in (tf.complex64, tf.complex128, tf.float32, tf.float64)]
tf.round(1e4 * tf.math.real(tf.linalg.eigvalsh(tf.constant([[4 + 1j, 2 + 1j], [3 - 1j, 5 + 2j]]))))
tf.round(1e4 * tf.abs(tf.linalg.eigh(tf.constant([[4 + 1j, 2 + 1j], [2 - 1j, 5 + 2j]]))[1]))
tf.math.igamma(tf.constant([inf, inf, -inf, -inf, 1.]), tf.constant([-1., nan, 1., 2., inf]))
tf.math.zeta(tf.constant([inf, inf, nan, 2.]), tf.constant([0., -1., inf, 0.]))
""".strip().split("\n")


def main():
    import tensorflow as tf
    answers = [expressions.answer(e, tf, SETUP) for e in EXPRESSIONS]
    with open(golden.path(__file__, "corners.json"), "w") as f:
        f.write("[\n" + ",\n".join(json.dumps(a) for a in answers) + "\n]\n")


if __name__ == "__main__":
    main()
