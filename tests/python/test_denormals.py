"""Kernels take denormal numbers as zero and make none, eagerly and in functions, as TensorFlow's do on processors; the program around them is
not touched."""
import numpy as np
import pytest

import thalweg as tf


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("count", [1, 5, 200000])
def test_flushed(traced, count):
    product = tf.function(lambda a, b: a * b, autograph=False) if traced else lambda a, b: a * b
    small, tiny, denormal = (tf.constant(np.full(count, value, np.float32)) for value in (1e-30, 1e-10, 1e-40))
    assert not product(small, tiny).numpy().any()
    assert not product(denormal, tf.constant(2.0)).numpy().any()
    assert product(small, tf.constant(1e-7)).numpy().all()
    assert (denormal.numpy() == np.float32(1e-40)).all()
    assert (np.full(count, 1e-30, np.float32) * np.float32(1e-10)).all()


def test_variables():
    v = tf.Variable([1e-38, 1.0])

    @tf.function(autograph=False)
    def decay():
        v.assign_sub(v * 0.9)

    decay()
    np.testing.assert_array_equal(v.numpy()[0], 0)
    np.testing.assert_allclose(v.numpy()[1], 0.1, rtol=1e-6)


@pytest.mark.parametrize("traced", [False, True])
def test_optimizer(traced):
    v = tf.Variable([1.0, 1.0])
    adam = tf.keras.optimizers.Adam()

    def step():
        adam.apply_gradients([(tf.constant([1e-37, 1e-3]), v)])

    (tf.function(step, autograph=False) if traced else step)()
    momentum, velocity = (variable.numpy() for variable in adam.variables[1:])
    assert momentum[0] == 0 and velocity[0] == 0 and v.numpy()[0] == 1
    assert momentum[1] > 0 and velocity[1] > 0 and v.numpy()[1] < 1
