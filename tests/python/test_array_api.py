"""Array functions and indexing, called as users call them, against TensorFlow's results (array_api.json, made by tests/golden/array_api.py)."""
import json

import numpy as np
import pytest

import printed
from golden_files import golden_file
import thalweg as tf

with open(golden_file("array_api", "array_api.json")) as f:
    CASES = json.load(f)
x = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.mark.parametrize("expression,expected,error", CASES, ids=[c[0] for c in CASES])
def test_expression(expression, expected, error):
    if error:
        kind = getattr(tf.errors, error, None) or getattr(__import__("builtins"), error)
        with pytest.raises(kind):
            eval(expression, {"tf": tf, "np": np, "x": x})
    else:
        printed.check(repr(eval(expression, {"tf": tf, "np": np, "x": x})), expected)


def gradient(function, at):
    at = tf.constant(at)
    with tf.GradientTape() as tape:
        tape.watch(at)
        y = function(at)
    return tape.gradient(y, at).numpy().tolist()


def test_gradients_of_indexing():
    assert gradient(lambda t: t[1] * 3.0, [1.0, 2.0, 3.0]) == [0, 3, 0]
    assert gradient(lambda t: t[::-2] * tf.constant([1.0, 5.0]), [1.0, 2.0, 3.0]) == [5, 0, 1]
    assert gradient(lambda t: t[..., None, 1:], [[1.0, 2.0]]) == [[0, 1]]


def test_gradients_of_compositions():
    assert gradient(lambda t: tf.sort(t) * tf.constant([1.0, 2.0, 3.0]), [3.0, 1.0, 2.0]) == [3, 1, 2]
    assert gradient(lambda t: tf.repeat(t, [1, 3]), [1.0, 2.0]) == [1, 3]
    assert gradient(lambda t: tf.boolean_mask(t, [True, False]), [1.0, 2.0]) == [1, 0]
    np.testing.assert_allclose(gradient(tf.reduce_logsumexp, [1.0, 2.0, 3.0]), [0.09003057, 0.24472848, 0.66524094], rtol=1e-6)
    np.testing.assert_allclose(gradient(tf.math.reduce_variance, [1.0, 2.0, 6.0]), [-4 / 3, -2 / 3, 2], rtol=1e-6)


def test_views_share_memory_and_stay_whole():
    big = tf.reshape(tf.range(1000), [10, 100])
    row = big[3]
    del big
    assert row.numpy().tolist() == list(range(300, 400))


def test_huge_sizes_are_errors():
    for call in (lambda: tf.fill([2**31 - 1, 2**31 - 1], 1.0), lambda: tf.tile(tf.zeros([2, 2]), tf.constant([2**40, 2**40], tf.int64)),
                 lambda: tf.zeros(tf.constant([2**62], tf.int64)), lambda: tf.range(0.0, 1e18)):
        with pytest.raises((tf.errors.OpError, ValueError, IndexError, MemoryError)):
            call()


def test_gather_from_a_variable():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        y = tf.raw_ops.ResourceGather(resource=v.handle, indices=tf.constant([2, 0, 2]), dtype=tf.float32)
    assert y.numpy().tolist() == [[5, 6], [1, 2], [5, 6]]
    assert tf.convert_to_tensor(tape.gradient(y, v)).numpy().tolist() == [[1, 1], [0, 0], [2, 2]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 3 is not in \[0, 3\)"):
        tf.raw_ops.ResourceGather(resource=v.handle, indices=tf.constant([3]), dtype=tf.float32)


def test_constant():
    c = tf.raw_ops.Const(value=tf.constant([1, 2]), dtype=tf.int32)
    assert c.numpy().tolist() == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.raw_ops.Const(value=tf.constant([1, 2]), dtype=tf.float32)


def test_old_forms_without_a_kernel_in_tensorflow():
    """TensorFlow has their kernels in graphs only, or no more: the values are those of AddN and TopKV2."""
    assert tf.raw_ops.AccumulateNV2(inputs=[tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])], shape=[2]).numpy().tolist() == [4, 6]
    values, indices = tf.raw_ops.TopK(input=tf.constant([1.0, 3.0, 2.0]), k=2)
    assert values.numpy().tolist() == [3, 2] and indices.numpy().tolist() == [1, 2]
